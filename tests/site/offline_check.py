"""Open every page of a built site from disk in Chromium, as a reader without a network would.

    python tests/site/offline_check.py SITE_FOLDER [--shots FOLDER] [--pages a.html b.html]
                                       [--draw TEXT]

Every page of every edition, but of the pages of claims every twentieth, and of other editions than
the first only those that a text draws if one is given, such as a commit, is loaded at 1400 and at
390 px, and looked at in light and then in dark; at 1400 px first as it would be on paper, of other
editions than the first the chapters. One whose article says what that of the first edition says is
loaded at 1400 px only.
Exit 1 on a fault, with everything opened that folds:

* a request to another host, a failed request, a console error, a page error;
* a formula that was not rendered; at 390 px, text below 9 px, in a figure, a formula or the prose;
* a page wider than its window, a box that cuts its content off; at 390 px, a box that scrolls
  sideways and is no table of numbers, or does not say so, or cannot be reached by keyboard;
* a finding of axe-core that it calls serious or critical. Contrast, that of links with the text
  around them too, depends on the colours and is looked at in both schemes; the rest depends on the
  layout, and is looked at in light, at 390 px in the first edition only;
* a search that finds nothing, or that does not lead to a claim by its id;
* on A4 paper: a formula, table or figure wider than the page or cut off by a box, a proof or
  solution that stays folded, code that is printed, or a chapter of more than 14 pages.

A deck of slides is no page to scroll: it is opened once at 1280 by 720, and each slide is shown.
Exit 1 too on a slide whose text is below 24 px, or in a figure below 18 px; that is higher or wider
than the window; that has more than 60 words, its title and those of a table aside, or more than one
figure; that has no notes with minutes, or a rule that asks or only names; on a deck of less than
15 or more than 20 slides; and, in the first edition, on one that is not, as paper, one sheet for
each slide. axe-core looks at each
deck of the first edition once, at its title; contrast is measured of each slide.

Contrast takes most of the time, since axe-core compares each text with all that may lie behind it.
It is measured in full on each page of the first edition at 1400 px in light. In dark, in other
editions and at 390 px it is measured of each text unlike all that passed on pages before: of
another colour or size class, or with other backgrounds or opacity of what it stands in. What that
leaves out is a text of known colours that, there only, lies on what it is no part of.

Needs `playwright`, `axe-playwright-python`, which brings axe-core along, and a Chromium
(`chromium.find_chromium` says which).
"""

from __future__ import annotations

import argparse
import re
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserContext, Page, TimeoutError, sync_playwright

from check_links import is_redirect
from chromium import draw_pages, find_chromium, launch

WIDE, NARROW = 1400, 390
View = tuple[int, tuple[str, ...]]
"""A width, and what is looked at one after the other without loading the page again."""

BOTH = ("light", "dark")
PAPER = "paper"
VIEWS: list[View] = [(WIDE, (PAPER, *BOTH)), (NARROW, BOTH)]
UNPRINTED: list[View] = [(WIDE, BOTH), (NARROW, BOTH)]
Task = tuple[View, Path]
CLAIMS, EVERY = "claims", 20
"""Folder of the pages of claims, and of how many one is opened."""
AT_ONCE = 9
"""Loads by one browser, which then is started afresh."""
IS_CHAPTER = re.compile(r"\d\d_")
MOST_SHEETS = 14
"""A4 pages of a chapter: what a class can be handed."""
A4 = 673
"""Pixels: 210 mm without margins of 16 mm."""

PATIENCE = 10_000
"""Milliseconds until what a page is to do by itself counts as not done."""

RENDERED = """
[...document.querySelectorAll('.math')].every(e => e.querySelector('mjx-container'))
"""
FITTED = """
[...document.querySelectorAll('.bd-article mjx-container')].every(
  e => !e.getBoundingClientRect().width || e.classList.contains('measured'))
"""
TOO_WIDE = "document.documentElement.scrollWidth > window.innerWidth + 1"
UNFOLD = """
document.querySelectorAll('details').forEach(e => { e.open = true });
document.querySelectorAll('.toggle-hidden').forEach(e => e.classList.remove('toggle-hidden'));
document.body.click();
"""
LEAST_PIXELS = 9
SMALL_TEXT = """
least => {
  const seen = e => e.checkVisibility({visibilityProperty: true, opacityProperty: true});
  const size = e => parseFloat(getComputedStyle(e).fontSize);
  const written = e => [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim());
  const shown = e => [...e.getClientRects()].some(box => box.width > 1 && box.height > 1);
  const words = e => e.textContent.trim().slice(0, 30);
  const small = (size, what) => size && size < least ? [`${what} of ${size.toFixed(1)} px`] : [];
  const all = selector => [...document.querySelectorAll(selector)].filter(seen);
  const figures = all('.bd-article :is(svg text, svg tspan)').flatMap(e => {
    const to = written(e) && shown(e) && e.getScreenCTM();
    if (!to || e.closest('mjx-container')) return [];
    const scale = Math.min(Math.hypot(to.a, to.b), Math.hypot(to.c, to.d));
    return small(size(e) * scale, `in the figure "${e.closest('svg').ariaLabel}", text`);
  });
  const prose = all('.bd-article :not(svg, svg *, mjx-container, mjx-container *)').flatMap(
    e => written(e) && shown(e) ? small(size(e), `text "${words(e)}"`) : []);
  const formulas = all('.bd-article mjx-container[display=true]').flatMap(
    e => shown(e) ? small(size(e), `in ${e.closest('section')?.id}, a formula`) : []);
  return [...figures, ...prose, ...formulas];
}
"""

CUT_OFF = """
hides => {
  const overflow = e => getComputedStyle(e).overflowX;
  const leaves = box => {
    const found = [];
    const walk = node => {
      if (node.nodeType === 3) {
        const range = document.createRange();
        range.selectNodeContents(node);
        if (node.data.trim()) found.push(...range.getClientRects());
      } else if (node.nodeType === 1 && node.localName !== 'mjx-assistive-mml') {
        found.push(...node.getClientRects());
        const whole = node.localName === 'mjx-container' || overflow(node) !== 'visible';
        if (!whole) node.childNodes.forEach(walk);
      }
    };
    box.childNodes.forEach(walk);
    return found.filter(rect => rect.width > 1 && rect.height > 1);
  };
  const boxes = 'body, body :has(.bd-article), .bd-article, .bd-article *';
  return [...document.querySelectorAll(boxes)].filter(box => {
    if (!(box instanceof HTMLElement) || box.closest('mjx-container')) return false;
    if (!hides.includes(overflow(box))) return false;
    if (box.clientWidth <= 1 || box.clientHeight <= 1) return false;
    if (box.scrollWidth <= box.clientWidth + 1 || !box.checkVisibility()) return false;
    const right = box.getBoundingClientRect().left + box.clientLeft + box.clientWidth;
    return leaves(box).some(rect => rect.right > right + 1);
  }).map(box => `cut off: ${box.localName}.${box.className} in ${box.closest('section')?.id}, `
    + `"${box.textContent.trim().slice(0, 30)}"`);
}
"""
"""Boxes of which a part cannot be reached; what is visually hidden has one pixel, or is MathML."""
HIDES = ["hidden", "clip"]
HIDES_ON_PAPER = [*HIDES, "auto", "scroll"]

SCROLLERS = """
[...document.querySelectorAll('.bd-article, .bd-article *')].flatMap(box => {
  const overflow = getComputedStyle(box).overflowX;
  if (!['auto', 'scroll'].includes(overflow) || box.scrollWidth <= box.clientWidth + 1) return [];
  const name = `${box.tagName.toLowerCase()}.${box.className} in ${box.closest('section')?.id}`;
  const table = box.querySelector(':scope > table');
  if (!table) return [`scrolls sideways and is no table: ${name}`];
  if (box.tabIndex !== 0 || !box.ariaLabel) return [`scrolls sideways without saying so: ${name}`];
  const cells = [...table.querySelectorAll('tbody td')].map(e => e.textContent.trim());
  const numbers = cells.filter(text => /\\d/.test(text) || text.length < 3);
  return 2 * numbers.length < cells.length ? [`a table of text scrolls sideways: ${name}`] : [];
})
"""
STILL = "*, ::before, ::after { transition: none !important; animation: none !important }"
"""Colours that are still on their way have the contrast of no state."""

REMEMBER_COLOURS = """
() => {
  const {Color} = axe.commons.color, parse = Color.prototype.parseString, known = new Map();
  Color.prototype.parseString = function (text) {
    if (!known.has(text)) known.set(text, parse.call(new Color(0, 0, 0), text));
    const {r, g, b, alpha} = known.get(text);
    return Object.assign(this, {r, g, b, alpha});
  };
}
"""
"""Has axe-core read each colour of a page once, which takes it half of its time otherwise."""

PRINTED = """
paper => {
  const outside = e => {
    const {left, right, width} = e.getBoundingClientRect();
    return width > 1 && (left < -1 || right > paper + 1);
  };
  const wide = [...document.querySelectorAll('.bd-article :is(mjx-container, table, img, svg)')]
    .filter(e => outside(e) && e.checkVisibility() && !e.parentElement.closest('mjx-container'))
    .map(e => `wider than the paper: ${e.localName} in ${e.closest('section')?.id}`);
  const proofs = '.bd-article .dropdown:not(.solution) > :not(.admonition-title)';
  const folded = [...document.querySelectorAll(proofs)]
    .filter(e => e.textContent.trim() && !e.checkVisibility({visibilityProperty: true}))
    .map(e => `folded on paper: ${e.closest('.dropdown').textContent.trim().slice(0, 40)}`);
  const code = [...document.querySelectorAll('.bd-article .cell_input')]
    .filter(e => e.checkVisibility()).map(() => 'code on paper');
  return [...wide, ...folded, ...code];
}
"""


TEXTS = """
() => {
  const chains = new Map(), known = new Map();
  const unless = (value, usual) => usual.includes(value) ? '' : value;
  const chain = e => {
    if (!e) return '';
    if (!chains.has(e)) {
      const style = getComputedStyle(e);
      const own = unless(style.backgroundColor, ['rgba(0, 0, 0, 0)'])
        + unless(style.backgroundImage, ['none']) + unless(style.opacity, ['1'])
        + unless(style.filter, ['none']) + unless(style.mixBlendMode, ['normal'])
        + unless(style.position, ['static', 'relative']);
      chains.set(e, (own && own + '<') + chain(e.parentElement));
    }
    return chains.get(e);
  };
  const colours = e => {
    const style = getComputedStyle(e), size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && parseInt(style.fontWeight) >= 700);
    const link = e.closest('a'), around = link && getComputedStyle(link.parentElement).color;
    return [style.color, style.webkitTextFillColor, style.textShadow, large, chain(e), around,
      link && getComputedStyle(link).textDecorationLine].join('|');
  };
  const kind = e => [e.localName, e.getAttribute('class'), e.matches(':disabled'),
    !!e.closest('[disabled], [aria-disabled=true], [inert], label')].join('|');
  const holds = e => e.matches('input, select, textarea, button')
    || [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim());
  const texts = [...document.body.querySelectorAll('*')].filter(e => holds(e) && e.checkVisibility(
    {visibilityProperty: true, opacityProperty: true}));
  return texts.map(e => [e, colours(e), colours(e) + '|' + kind(e)]);
}
"""
"""Each text, what its contrast follows from, and the same with what decides whether it counts."""

COLOUR_RULES = ("color-contrast", "link-in-text-block")
CONTRAST = f"""
async known => {{
  const seen = new Set(known ?? []), texts = ({TEXTS})();
  const asked = texts.filter(([e, colours, own]) => !seen.has(colours) && !seen.has(own));
  if (known && !asked.length) return {{violations: [], known: []}};
  const found = await axe.run(known ? {{include: asked.map(([e]) => e)}} : document, {{
    preload: false, selectors: false, elementRef: true, resultTypes: ['violations', 'passes'],
    runOnly: {{type: 'rule', values: {list(COLOUR_RULES)}}}}});
  const nodes = rules => rules.flatMap(each => each.nodes).map(node => node.element);
  const passed = new Set(nodes(found.passes.filter(({{id}}) => id === 'color-contrast')));
  const wrong = new Set(nodes(found.violations));
  return {{
    violations: found.violations.map(({{id, impact, nodes}}) =>
      ({{id, impact, nodes: nodes.map(({{html}}) => ({{html}}))}})),
    known: [...new Set(asked.filter(([e]) => !wrong.has(e)).map(
      ([e, colours, own]) => passed.has(e) ? colours : own))],
  }};
}}
"""
"""What has not enough contrast; and what passed, or does not count."""

_passed: set[str] = set()
"""Texts that passed on pages before, in this process."""


def start_axe(page: Page) -> None:
    """Put axe-core into a page, and stop its transitions."""
    page.add_style_tag(content=STILL)
    page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8"))
    page.evaluate(REMEMBER_COLOURS)


def contrast_findings(page: Page, *, fully: bool) -> list[str]:
    """Name texts without enough contrast: of all, or of those unlike any that passed before."""
    found = page.evaluate(CONTRAST, None if fully else sorted(_passed))
    _passed.update(found["known"])
    return _named(found["violations"])


def axe_findings(page: Page) -> list[str]:
    """Name what axe-core calls serious or critical, but for contrast."""
    # it would fetch the style sheets, which a browser refuses on disk
    options = {
        "resultTypes": ["violations"],
        "preload": False,
        "rules": {rule: {"enabled": False} for rule in COLOUR_RULES},
    }
    return _named(page.evaluate("options => axe.run(document, options)", options)["violations"])


def _named(violations: list[dict[str, Any]]) -> list[str]:
    return [
        f"axe: {each['impact']} {each['id']} at {len(each['nodes'])} places, "
        f"{each['nodes'][0]['html'][:100]}"
        for each in violations
        if each["impact"] in {"serious", "critical"}
    ]


def layout_findings(page: Page, *, narrow: bool) -> list[str]:
    """Name what is too wide, cut off, or on a phone too small: the same in each scheme."""
    found = ["wider than its window when all is opened"] if page.evaluate(TOO_WIDE) else []
    found += page.evaluate(CUT_OFF, HIDES)
    if narrow:
        found += page.evaluate(SCROLLERS) + page.evaluate(SMALL_TEXT, LEAST_PIXELS)
    return found


def check_page(
    context: BrowserContext,
    path: Path,
    view: View,
    shot: Path | None = None,
    *,
    fully: bool = True,
) -> tuple[list[str], int]:
    """Load one page; give its faults and the number of files it loads.

    What is not looked at `fully` may pass for what pages before had.
    """
    width, schemes = view
    page, faults, requests = context.new_page(), [], []
    page.on("request", lambda request: requests.append(request.url))
    page.on("requestfailed", lambda request: faults.append(f"failed request {request.url}"))
    page.on("pageerror", lambda error: faults.append(f"page error: {str(error)[:160]}"))
    page.on(
        "console",
        lambda said: faults.append(f"console: {said.text[:160]}") if said.type == "error" else None,
    )
    is_search = path.name == "search.html"
    page.goto(path.as_uri() + ("?q=recommender" if is_search else ""), wait_until="load")
    try:
        page.wait_for_function(RENDERED, timeout=PATIENCE)
    except TimeoutError:
        faults.append("a formula is not rendered")
    if is_search:
        faults += search_faults(page, path)
    if path.parent.name == SLIDES:
        page.set_viewport_size({"width": SCREEN[0], "height": SCREEN[1]})
        faults += deck_faults(page, path, fully=fully)
        page.close()
        return sorted(set(faults + elsewhere(requests))), len(requests)
    if PAPER in schemes:
        faults += [f"{PAPER}: {each}" for each in print_faults(page, path)]
    for number, scheme in enumerate(each for each in schemes if each != PAPER):
        page.emulate_media(color_scheme=scheme)
        faults += scheme_faults(page, scheme)
        if not number and page.evaluate(TOO_WIDE):
            faults.append("wider than its window")
        if shot:
            page.screenshot(path=shot.with_stem(f"{shot.stem}-{scheme}"), full_page=True)
        if not number:
            page.evaluate(UNFOLD)
            wait_for_fit(page)
            start_axe(page)
            found = layout_findings(page, narrow=width == NARROW)
            if fully or width == WIDE:
                found += axe_findings(page)
        else:
            found = []
        found += contrast_findings(page, fully=fully and width == WIDE and not number)
        faults += [f"{scheme}: {each}" for each in found]
    page.close()
    return sorted(set(faults + elsewhere(requests))), len(requests)


def elsewhere(requests: list[str]) -> list[str]:
    """Name the requests that leave this machine's files."""
    local = ("file:", "data:")
    return [f"request to {url}" for url in requests if not url.startswith(local)]


SHOWN = """
scheme => {
  const {mode, theme} = document.documentElement.dataset;
  return mode !== 'auto' || theme === scheme;
}
"""


def scheme_faults(page: Page, scheme: str) -> list[str]:
    """Wait until a page that follows the scheme of its reader does; else its colours are wrong."""
    try:
        page.wait_for_function(SHOWN, arg=scheme, timeout=PATIENCE)
    except TimeoutError:
        return ["the page does not follow the scheme of its reader"]
    return []


SLIDES, FEWEST_SLIDES, MOST_SLIDES, MOST_WORDS = "slides", 15, 20, 60
"""Folder of the decks; how many slides one has; words of a slide, those of its title aside."""
SCREEN = (1280, 720)
SLIDE_FAULTS = """
most => {
  const slide = Reveal.getCurrentSlide(), scale = Reveal.getScale(), found = [];
  if (!slide.parentElement.matches('.slides') || slide.querySelector('section')) {
    found.push('within another: a tag is left open');
  }
  const seen = e => !e.closest('aside, mjx-container, .column') && e.getClientRects().length
    && [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim());
  for (const e of [...slide.querySelectorAll('*')].filter(seen)) {
    const size = parseFloat(getComputedStyle(e).fontSize);
    const to = e.closest('svg') && e.getScreenCTM();
    const by = to ? Math.min(Math.hypot(to.a, to.b), Math.hypot(to.c, to.d)) : scale;
    const words = e.textContent.trim().slice(0, 30), least = (to ? 18 : 24) * scale - 0.3;
    if (size * by < least) found.push(`text of ${(size * by).toFixed(1)} px: ${words}`);
  }
  for (const rule of slide.matches('.rules') ? slide.querySelectorAll('li') : []) {
    const told = rule.textContent.trim();
    if (told.split(/\\s+/).length < 4 || told.endsWith('?')) found.push(`no rule: ${told}`);
  }
  const body = slide.querySelector('.body'), words = body.cloneNode(true);
  words.querySelectorAll('svg, table, mjx-assistive-mml').forEach(e => e.remove());
  const n = words.textContent.trim().split(/\\s+/).filter(Boolean).length;
  if (n > most) found.push(`${n} words`);
  if (slide.querySelectorAll('svg[role=img]').length > 1) found.push('more than one figure');
  if (slide.scrollHeight > slide.clientHeight + 1) found.push('higher than the window');
  if (slide.scrollWidth > slide.clientWidth + 1) found.push('wider than the window');
  if (!/^\\d+ min, /.test(slide.querySelector('aside.notes')?.textContent ?? '')) {
    found.push('no notes with minutes');
  }
  return found.map(each => `slide ${Reveal.getIndices().h + 1}: ${each}`);
}
"""


IN_ORDER = """
[...document.querySelectorAll('.slides > section')].map(slide => {
  const shown = slide.cloneNode(true);
  shown.querySelectorAll('aside, title, desc, style').forEach(e => e.remove());
  return [slide.className.split(' ')[0], shown.querySelector('.body')?.textContent.trim() ?? '',
    shown.textContent];
})
"""
CODE = re.compile(r"\b(?:AI|TI|AN|NN|UAR|[PU]?1RP?)\b")


def order_faults(slides: list[list[str]]) -> list[str]:
    """Name what stands in a deck before it is asked or defined, by kind, body and text of each."""
    kinds = [kind for kind, _, _ in slides]
    before = {kind: kinds.index(kind) if kind in kinds else len(kinds)
              for kind in ("predict", "codes")}  # fmt: skip
    faults = []
    if slides[0][1] or {"answer", "sentence"} & set(kinds[: before["predict"]]):
        faults.append("answers before it asks")
    if "figure" in kinds and "sentence" in kinds[: kinds.index("figure")]:
        faults.append("a sentence stands before all figures")
    for _, _, text in slides[: before["codes"]]:
        if used := CODE.search(text):
            faults.append(f"{used[0]} stands before the slide that says what it is")
            break
    defined = " ".join(text for kind, _, text in slides if kind == "codes")
    used_at_all = {code for _, _, text in slides for code in CODE.findall(text)}
    faults += [f"no slide says what {code} is" for code in ("P1R", "U1R", "UAR")
               if code in used_at_all and code not in defined]  # fmt: skip
    return faults


UNCOVERED = ".reveal :is(.backgrounds, .pause-overlay, .progress, .controls) { display: none }"
"""Layers without text, behind which axe-core can tell no colour."""


def deck_faults(page: Page, path: Path, *, fully: bool) -> list[str]:
    """Show each slide of a deck, then lay it out for paper."""
    page.wait_for_function("window.Reveal?.isReady()", timeout=PATIENCE)
    number = page.evaluate("Reveal.getTotalSlides()")
    faults = []
    if not FEWEST_SLIDES <= number <= MOST_SLIDES:
        faults.append(f"{number} slides, not {FEWEST_SLIDES} to {MOST_SLIDES}")
    if page.locator(".slides > section").count() != number:
        faults.append("slides within slides: a tag is left open")
    faults += order_faults(page.evaluate(IN_ORDER))
    start_axe(page)
    page.add_style_tag(content=UNCOVERED)
    if fully:
        faults += axe_findings(page)
    for place in range(number):
        page.evaluate("place => Reveal.slide(place, 0, 9)", place)
        faults += page.evaluate(SLIDE_FAULTS, MOST_WORDS)
        faults += contrast_findings(page, fully=False)
    if fully:
        page.goto(f"{path.as_uri()}?print-pdf", wait_until="load")
        page.wait_for_function("document.querySelectorAll('.pdf-page').length", timeout=PATIENCE)
        sheets = page.locator(".pdf-page").count()
        if sheets != number:
            faults.append(f"{sheets} sheets of {number} slides")
    return faults


def wait_for_fit(page: Page) -> None:
    """Wait until the width of each formula is known, if the page has the script for it."""
    try:
        page.wait_for_function(FITTED, timeout=3000)
    except TimeoutError:
        return  # what then is too wide is a fault of its own


def search_faults(page: Page, path: Path) -> list[str]:
    """Search for a word, and for the id of a claim if the site has any."""
    faults = []
    try:
        page.wait_for_selector("#search-results li a", timeout=5000)
    except TimeoutError:
        faults.append("the search finds nothing")
    else:
        try:
            page.wait_for_selector("#search-results .context a", timeout=5000)
        except TimeoutError:
            faults.append("the search does not say where a word stands")
    claim = re.search(r'"([A-Z0-9]+-[A-Z0-9-]+)"', _objects(path))
    if claim:
        page.goto(f"{path.as_uri()}?q={claim[1]}", wait_until="load")
        anchor = f"#search-results li a[href*='#{claim[1].lower()}']"
        try:
            page.wait_for_selector(anchor, timeout=5000)
        except TimeoutError:
            faults.append(f"the search does not lead to {claim[1]}")
    return faults


def _objects(search: Path) -> str:
    """Give the part of the search index that lists objects: the claims."""
    text = search.with_name("searchindex.js").read_text(encoding="utf-8")
    return text[text.find('"objects"') : text.find('"objnames"')]


def print_faults(page: Page, path: Path) -> list[str]:
    """Print a page, look at it as it would be on paper, and give it back as it was."""
    wait_for_fit(page)
    window = page.viewport_size
    page.set_viewport_size({"width": A4, "height": 1000})
    page.emulate_media(media="print")
    faults: list[str] = page.evaluate(PRINTED, A4)
    faults += page.evaluate(CUT_OFF, HIDES_ON_PAPER)
    if IS_CHAPTER.match(path.name):
        sheets = len(re.findall(rb"/Type\s*/Page\b", page.pdf(prefer_css_page_size=True)))
        if sheets > MOST_SHEETS:
            faults.append(f"{sheets} sheets of A4, more than {MOST_SHEETS}")
    page.emulate_media(media="screen")
    page.set_viewport_size(window)
    return faults


def check_pages(task: list[Task], site: Path, shots: Path | None) -> tuple[list[str], int]:
    """Open pages in their views; give all faults and the most files loaded."""
    lines, most = [], 0
    with sync_playwright() as playwright:
        browser = launch(playwright)
        contexts = {
            width: browser.new_context(viewport={"width": width, "height": 900})
            for width in (WIDE, NARROW)
        }
        for view, path in task:
            width, _ = view
            name = path.relative_to(site)
            stem = "_".join(name.with_suffix("").parts)
            shot = shots / f"{stem}-{width}.png" if shots else None
            fully = name.parts[0] != "on"
            faults, n_requests = check_page(contexts[width], path, view, shot, fully=fully)
            lines += [f"{name} {width}: {fault}" for fault in faults]
            most = max(most, n_requests)
        browser.close()
    return lines, most


def views_of(site: Path, pages: list[Path]) -> list[Task]:
    """List what is opened in which view: all pages in the first, in others what differs.

    Pages of the first edition come first, since what passed on them is known on the others.
    """
    asked = {page.relative_to(site) for page in pages}
    ordered = sorted(pages, key=lambda page: page.relative_to(site).parts[0] == "on")
    return [(view, page) for page in ordered for view in _views(site, page, asked)]


def _views(site: Path, page: Path, asked: set[Path]) -> list[View]:
    """Give the views of a page; on paper, other editions differ in their chapters only."""
    name = page.relative_to(site)
    if name.parts[-2:-1] == (SLIDES,):
        return UNPRINTED[:1]
    if _is_repeated(site, name, asked):
        return UNPRINTED[:1]
    return VIEWS if name.parts[0] != "on" or IS_CHAPTER.match(name.name) else UNPRINTED


def _is_repeated(site: Path, name: Path, asked: set[Path]) -> bool:
    """Tell whether the page of the first edition, which is opened too, has the same article."""
    first = Path(*name.parts[2:])
    if name.parts[0] != "on" or first not in asked:
        return False
    return _article(site / name) == _article(site / first)


def _article(path: Path) -> str:
    """Give what is between title and footer, with links as seen from the root of its edition."""
    text = path.read_text(encoding="utf-8")
    found = re.search(r"<article.*</article>", text, re.DOTALL)
    return re.sub(r"(\.\./)+", "", found[0]) if found else str(path)


def pages_of(site: Path) -> list[Path]:
    """List the pages of a site that a reader sees: those that only lead to another are left out.

    A page that is being left has no content, or the other's, when it is looked at. Where it leads
    is a link like any other. Of the pages of claims, which one template makes, some are looked at.
    """
    pages = [path for path in sorted(site.rglob("*.html")) if not is_redirect(path)]
    of_claims = [path for path in pages if path.parent.name == CLAIMS]
    left_out = {path for n, path in enumerate(of_claims) if n % EVERY}
    return [path for path in pages if path not in left_out]


def main() -> int:
    """Check the site named on the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("site", type=Path)
    parser.add_argument("--pages", nargs="*")
    parser.add_argument("--shots", type=Path)
    parser.add_argument("--draw", metavar="TEXT", help="of other editions the pages TEXT draws")
    args = parser.parse_args()
    if not find_chromium():
        sys.exit("no Chromium: install the Debian package chromium or set CHROMIUM")
    site = args.site.resolve()
    pages = [site / name for name in args.pages or ()] or pages_of(site)
    pages = draw_pages(site, pages, args.draw)
    if not pages:
        sys.exit(f"no page under {site}")
    if args.shots:
        args.shots.mkdir(parents=True, exist_ok=True)
    check = partial(check_pages, site=site, shots=args.shots)
    views = views_of(site, pages)
    tasks = [views[start : start + AT_ONCE] for start in range(0, len(views), AT_ONCE)]
    with ProcessPoolExecutor(2) as executor:
        lines, most = zip(*executor.map(check, tasks), strict=True)
    faults = [line for task in lines for line in task]
    print("\n".join(faults))
    told = f"{len(pages)} pages, loaded {len(views)} times, at most {max(most)} files each"
    print(f"{told}: {len(faults)} faults")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
