"""Answer the six questions of the guide in every way, and compare what is shown.

    python tests/site/check_guide.py SITE_FOLDER

What a line has to be is told by a table of this file; its paragraph is what the package writes of
that line (`methods_paragraph`) with places for the reader's data. All combinations are clicked, at
two widths, light and dark; then the questions are answered by keyboard alone.
Without scripts every line stands in a table, with the numbers of sentences that make its paragraph.
On paper each checklist has to fit one sheet. Exit 1 on a fault. Needs what `offline_check.py`
needs.
"""

from __future__ import annotations

import itertools
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page

from chromium import check_pages
from recbias.experiment.decisions import methods_paragraph
from recbias.experiment.options import Options

PAGES = ("notebooks/guide.html", "on/*/notebooks/guide.html")
OPTIONS = {
    "dislikes": ("yes", "no"),
    "times": ("yes", "no"),
    "random": ("no", "yes"),
    "size": ("all", "part"),
    "compared": ("lists", "popularity", "stars", "values"),
    "relation": ("unknown", "agree", "unrelated", "opposed"),
}
FULL, ONE, CLASSES = "AI-AN-AR {}; metric: ", "TI-AN-1R {}; metric: ", "TI-AN-P1R m=10 {}; metric: "
LINES = (  # what is compared, dislikes, random judgments, relation; then what the line has
    ("values", "*", "*", "*", f"{ONE}P@10|t=100"),
    ("popularity", "*", "*", "*", f"split: uniform 0.2 draws=5; {ONE}P@10|t=100"),
    ("stars", "yes", "*", "*", "AI-AN-AR {} condensed; metric: AUC"),
    ("stars", "no", "*", "*", ""),
    ("lists", "*", "yes", "*", f"split: whole; test: unbiased; {FULL}P@10"),
    ("lists", "yes", "no", "opposed", f"{FULL}bpref"),
    ("lists", "yes", "no", "unrelated", f"{FULL}antiP@10"),
    ("lists", "yes", "no", "*", f"{FULL}P@10"),
    ("lists", "no", "no", "opposed", f"split: uniform 0.2 draws=5; {ONE}P@10|t=100"),
    ("lists", "no", "no", "unrelated", f"{CLASSES}P@10|t=100"),
    ("lists", "no", "no", "*", f"{FULL}P@10"),
)
"""The first that fits; an empty text where there is no design."""
SPLITS = {("yes", "all"): "temporal 0.2", ("yes", "part"): "temporal 0.2",
          ("no", "all"): "k-fold 5", ("no", "part"): "ratio 0.2"}  # fmt: skip
"""By times and size, of a line that names no split."""
SEEDS = (
    "Random and Popularity stand in the same table; what is random in training was repeated "
    "[number] times, with seeds that follow from this one."
)
LEAK = (
    "The split takes no notice of times: models learn from ratings that are newer than those they "
    "are tested on."
)
HITS = (
    "We also report antiP@10 over users with a list, bpref, P@10 of condensed lists, and which "
    "share of the first ten items is unrated."
)
MISSES = (
    "We also report P@10, bpref, antiP@10 of condensed lists, which share of the first ten items "
    "is unrated, and coverage: the share of the users who have a list."
)
ABOVE = (
    "We also report P@10 of condensed lists, antiP@10 over users with a list, P@10, and which "
    "share of the first ten items is unrated."
)
ITEMS = (
    "An item keeps a share of 0.2 of its ratings for training at least (eps); the test has ratings "
    "of [number] of all items, and says nothing of the others."
)
LIKES_ONLY = ["no", "no", "lists"]
ASSUMED = (
    "We assume that popular items are liked [more, less, as much as others], which likes alone "
    "cannot show, and report [the second test] beside it."
)
SAMPLED = "All this is of a random sample of [number] users, the same for all systems."
PLACES = {"title": "[name]", "n_ratings": "[number]", "n_users": "[number]", "n_items": "[number]"}
"""What the paragraph has in place of the reader's data."""
WIDTHS, SCHEMES = (1300, 390), ("light", "dark")
SHEET = (718, 1053)
"""Pixels: A4 within the margins of the style sheet."""

SHOWN = """
root => ({
  line: root.querySelector(".guide-line").textContent.trim(),
  seen: root.querySelector(".guide-line").checkVisibility(),
  terms: [...root.querySelectorAll(".guide-more dt")].map(each => each.textContent),
  empty: [...root.querySelectorAll(".guide-more dd")].filter(e => !e.textContent.trim()).length,
  paragraph: root.querySelector(".guide-more .guide-paragraph")?.textContent ?? "",
  wide: root.scrollWidth > root.clientWidth + 1,
})
"""
CHOOSE = """
(root, codes) => Object.entries(codes).forEach(([name, code]) =>
  root.querySelector(`input[name=guide-${name}][value=${code}]`).click())
"""


def wanted(codes: Mapping[str, str]) -> str:
    """Write the line of a combination; empty if there is none."""
    key = [codes[name] for name in ("compared", "dislikes", "random", "relation")]
    rest = next(
        line
        for *given, line in LINES
        if all(each in ("*", code) for each, code in zip(given, key, strict=True))
    )
    if not rest:
        return ""
    split = f"split: {SPLITS[codes['times'], codes['size']]}"
    users = (
        " users=tested" if "temporal" in split and "split" not in rest and FULL[:8] in rest else ""
    )
    if "antiP" in rest:  # no list is no miss, and would win
        users += " coverage=reduced"
    has_dislikes = codes["dislikes"] == "yes" or "unbiased" in rest
    *before, lists, metric = rest.format("rel>=4" if has_dislikes else "rel>=1").split("; ")
    if not before:
        before = [split]
    return "; ".join(
        [before[0], "seed: 1", *before[1:], f"lists: {lists}{users}", metric, "pairs: t"]
    )


def said(codes: Mapping[str, str], line: str) -> str:
    """Write what the paragraph says that no line does."""
    hits = line.endswith("metric: P@10; pairs: t") and "unbiased" not in line
    told = {
        SEEDS: True,
        LEAK: codes["times"] == "no" and "unbiased" not in line,
        HITS: hits and codes["dislikes"] == "yes",
        ABOVE: "bpref" in line,
        MISSES: "antiP" in line,
        ITEMS: "uniform" in line,
        SAMPLED: codes["size"] == "part",
        ASSUMED: [codes[each] for each in ("dislikes", "random", "compared")] == LIKES_ONLY,
    }
    return "".join(f"{sentence} " for sentence, applies in told.items() if applies)


def paragraph_of(line: str, facts: Mapping[str, Any], more: str = "") -> str:
    """Write the paragraph as it is read."""
    text = methods_paragraph(Options.parse(line), facts).replace("`", "")
    return text.replace("In full (", f"{more}In full (")


def check_choices(page: Page, facts: Mapping[str, Any]) -> tuple[list[str], int]:
    """Click through all combinations; give the faults and how many there are."""
    root = page.locator(".guide-questions")
    offered = root.evaluate(
        """root => [...root.querySelectorAll("fieldset")].map(set =>
          [...set.querySelectorAll("input")].map(each => [each.name, each.value]))"""
    )
    if offered != [[[f"guide-{name}", code] for code in OPTIONS[name]] for name in OPTIONS]:
        return [f"the questions are {offered}"], 0
    faults, tried = [], 0
    for values in itertools.product(*OPTIONS.values()):
        codes, tried = dict(zip(OPTIONS, values, strict=True)), tried + 1
        root.evaluate(CHOOSE, codes)
        shown = root.evaluate(SHOWN)
        name, line = " ".join(values), wanted(codes)
        if not shown["seen"] or shown["wide"]:
            faults.append(f"{name}: the answer is not seen, or wider than the page")
        if not line:
            if "no such design" not in shown["line"] or shown["paragraph"]:
                faults.append(f"{name}: no reason is given, but {shown['line']!r}")
            continue
        if shown["line"] != line:
            faults.append(f"{name}: the line is {shown['line']!r}, not {line!r}")
        if shown["paragraph"] != paragraph_of(line, facts, said(codes, line)):
            faults.append(f"{name}: another paragraph: {shown['paragraph']!r}")
        if len(shown["terms"]) != 5 or shown["empty"]:
            faults.append(f"{name}: the answer says {shown['terms']}")
    return faults, tried


def check_keyboard(page: Page) -> list[str]:
    """Answer by Tab and arrows: each group is reached, and its second option shows its line."""
    address = page.url.partition("#")[0]  # without the choice before
    page.goto("about:blank")
    page.goto(address)
    page.wait_for_selector(".guide-questions form:not([hidden])", state="attached")
    codes = {name: options[0] for name, options in OPTIONS.items()}
    faults = []
    active = "document.activeElement?.name ?? ''"
    for name, options in OPTIONS.items():
        for _ in range(200):
            page.keyboard.press("Tab")
            if page.evaluate(active) == f"guide-{name}":
                break
        else:
            return [*faults, f"{name} cannot be reached by keyboard"]
        if page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "none":
            faults.append(f"{name} does not show that it has the focus")
        page.keyboard.press("ArrowDown")
        codes[name] = options[1]
        shown = page.locator(".guide-questions").evaluate(SHOWN)["line"]
        if shown != wanted(codes):
            faults.append(f"{name} by keyboard: {shown!r}, not {wanted(codes)!r}")
    if page.locator(".guide-line").get_attribute("role") != "status":
        faults.append("a new line is not announced")
    return faults


def check_address(page: Page) -> list[str]:
    """Choose the last option of each question, open the address anew, and follow others."""
    root = page.locator(".guide-questions")
    first, last = ({name: codes[at] for name, codes in OPTIONS.items()} for at in (0, -1))
    root.evaluate(CHOOSE, last)
    address = page.url
    if address.partition("#")[2] != f"guide-questions={','.join(last.values())}":
        return [f"the address of a choice is {address!r}"]
    page.goto("about:blank")
    page.goto(address)
    shown = root.evaluate(SHOWN)["line"]
    faults = []
    if shown != wanted(last):
        faults.append(f"an address that is opened anew shows {shown!r}, not {wanted(last)!r}")
    for codes in (first, last):
        choice = ",".join(codes.values())
        page.evaluate("choice => { location.hash = choice }", f"guide-questions={choice}")
        page.wait_for_timeout(100)
        shown = root.evaluate(SHOWN)["line"]
        if shown != wanted(codes):
            faults.append(f"an address that is followed shows {shown!r}, not {wanted(codes)!r}")
    page.evaluate("choice => { location.hash = choice }", "guide-questions=yes,no")
    page.wait_for_timeout(100)
    kept = page.locator("input:checked").evaluate_all("all => all.map(each => each.value)")
    if kept != list(last.values()):
        faults.append("half an address changes the answers")
    return faults


def check_table(page: Page, facts: Mapping[str, Any]) -> list[str]:
    """Look at what stands there without scripts."""
    root = page.locator(".guide-questions")
    faults = []
    if root.locator("form").is_visible():
        faults.append("without scripts there are buttons that do nothing")
    if not root.locator("table").is_visible():
        return [*faults, "without scripts there is no table"]
    lines = root.evaluate(
        """root => [...root.querySelectorAll("td > p")].map(each =>
          [each.querySelector("code").textContent, each.lastChild.textContent])"""
    )
    sentences = root.locator(".guide-sentences li").all_text_contents()
    combinations = itertools.product(*OPTIONS.values())
    all_lines = {wanted(dict(zip(OPTIONS, values, strict=True))) for values in combinations}
    if {line for line, _ in lines} != all_lines - {""}:
        faults.append(f"the table has the lines {sorted({line for line, _ in lines})}")
    in_full = root.locator(".guide-in-full").inner_text()
    for line, numbers in lines:
        told = []
        for first, last in re.findall(r"(\d+)(?:-(\d+))?", numbers):
            told += sentences[int(first) - 1 : int(last or first)]
        if " ".join([*told, f"{in_full} {line}."]) != paragraph_of(line, facts):
            faults.append(f"the sentences {numbers} are not the paragraph of {line}")
    if "no such design" not in root.locator(".guide-none").inner_text():
        faults.append("without scripts nothing says where there is no design")
    return faults


def check_sheets(page: Page) -> list[str]:
    """Measure the checklists on paper: each starts a sheet, and fits it."""
    page.set_viewport_size({"width": SHEET[0], "height": SHEET[1]})
    page.emulate_media(media="print")
    sheets = page.evaluate(
        """() => [...document.querySelectorAll(".checklist")].map(each => {
          const section = each.closest("section");
          return {height: section.getBoundingClientRect().height, id: section.id,
                  before: getComputedStyle(section).breakBefore,
                  items: each.querySelectorAll("li").length,
                  small: parseFloat(getComputedStyle(each.querySelector("li")).fontSize) < 12};
        })"""
    )
    page.emulate_media(media="screen")
    faults = [] if len(sheets) == 2 else [f"{len(sheets)} checklists"]
    for sheet in sheets:
        if sheet["height"] > SHEET[1]:
            faults.append(f"{sheet['id']}: {sheet['height']:.0f} px do not fit a sheet")
        if sheet["before"] != "page":
            faults.append(f"{sheet['id']} does not start a sheet")
        if sheet["items"] < 17 or sheet["small"]:
            faults.append(f"{sheet['id']}: {sheet['items']} lines, or small ones")
    return faults


def check_page(browser: Browser, path: Path, facts: Mapping[str, Any]) -> tuple[list[str], int]:
    """Check a guide by click and keyboard, without scripts, and on paper."""
    faults: list[str] = []
    tried = 0
    for width, scheme in itertools.product(WIDTHS, SCHEMES):
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
        )
        page = context.new_page()
        page.goto(path.as_uri())
        if page.locator(".guide-questions").count() != 1:
            return ["no questions"], 0
        found, number = check_choices(page, facts)
        if not number:  # other questions than are asked here: what follows has nothing to click
            return found, 0
        tried += number
        found += check_keyboard(page)
        found += check_address(page)
        if (width, scheme) == (WIDTHS[0], SCHEMES[0]):
            found += check_sheets(page)
        faults += [f"{width} px, {scheme}: {fault}" for fault in found]
        context.close()
    for width in WIDTHS:
        context = browser.new_context(
            viewport={"width": width, "height": 900}, java_script_enabled=False
        )
        page = context.new_page()
        page.goto(path.as_uri())
        faults += [f"{width} px, no scripts: {fault}" for fault in check_table(page, facts)]
        context.close()
    return faults, tried


def main() -> int:
    """Check the site named on the command line."""

    def check(browser: Browser, site: Path, path: Path) -> tuple[list[str], int]:
        return check_page(browser, path, PLACES)

    return check_pages(PAGES, check, "choices")


if __name__ == "__main__":
    sys.exit(main())
