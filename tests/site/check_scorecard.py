"""Use the scorecard of a built site as a reader does, in Chromium, from disk.

    python tests/site/check_scorecard.py SITE_FOLDER

Verdicts are judged here anew. Exit 1 on: a document, table, row or total that is not what is
judged; a claim of a written chapter without a row or a page; a scorecard longer than four screens
of 900 px at 1400 px before anything is unfolded, wider than its window at 390 px, or that takes
more than a second to be painted; a filter that shows other claims than those that fit, or totals
and bars that do not count what is shown; a claim that cannot be reached by keyboard, or from the
index in two clicks; a link into a fold that stays shut, or to a paper whose totals are out of
sight, or to an outcome that leaves other rows; rows that are folded on paper; a page without
scripts that lacks a claim. Needs what `offline_check.py` needs.
"""

from __future__ import annotations

import json
import re
import runpy
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import unescape
from itertools import product
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, TimeoutError, sync_playwright

from chromium import launch
from recbias.book.html import typeset
from recbias.book.scorecard import value_text
from recbias.claims.reading import csv_text
from recbias.claims.writing import write

SCREENS, HEIGHT, WIDE, NARROW = 4, 900, 1400, 390
TOTALS = ("reproduced", "by all parts", "criteria", "written", "verdict", "strict")
SECOND = 1000
"""Milliseconds."""
SIGNS = {"yes": "✓", "no": "✗", "undecided": "?", "partly": "±"}
BESIDES = {
    "partly": "a part fails",
    "no": "a part fails",
    "undecided": "a part is open",
    "not testable here": "a part is untestable",
}
OTHER, OTHER_SIGN = "untestable", "–"
OUTCOMES = ("yes", "partly", "no", "undecided", OTHER)
ASKED = {
    "BCC17-F2C": "does popularity still win under 1R?",
    "MCCRS20-F1-BL": "is the headline of Mena-Maldonado et al. true on MovieLens?",
}
"""What a reader wants to know, by the claim that answers it."""

Document = Mapping[str, Any]
Judge = Callable[[Sequence[str]], Document]

ROWS = """() => [...document.querySelectorAll("tr.claim-row")].map(row => ({
  id: row.id, kept: !row.hidden, shown: row.checkVisibility(), ...row.dataset,
  text: `${row.textContent} ${row.dataset.authors}`.toLowerCase(),
  link: row.querySelector("a.to-claim")?.getAttribute("href"),
  cells: Object.fromEntries([...row.querySelectorAll("td[data-head]")].map(
    cell => [cell.dataset.head, cell.textContent.trim()])),
  strip: row.querySelector(".strip")?.ariaLabel ?? "",
  signs: [...row.querySelectorAll(".strip .sign")].map(e => e.textContent).join(""),
}))"""
COUNTS = """() => ({
  totals: Object.fromEntries([...document.querySelectorAll(".totals [data-n]")].map(
    e => [e.dataset.n, Number(e.textContent)])),
  bars: Object.fromEntries([...document.querySelectorAll(".bars li")].map(bar => [bar.dataset.paper,
    Object.fromEntries([...bar.querySelectorAll(".bar [data-n]:not([hidden])")].map(
      e => [e.dataset.n, [Number(e.textContent.slice(2)), Number(e.style.flexGrow), e.title]]))])),
  all: Object.fromEntries([...document.querySelectorAll(".bars li")].map(bar => [
    bar.dataset.paper, Number(bar.querySelector("[data-n=all]").textContent)])),
  folds: Object.fromEntries([...document.querySelectorAll("details.chapter[id]")].map(fold => [
    fold.id, Object.fromEntries([...fold.querySelectorAll(".counts [data-n]:not([hidden])")].map(
      e => [e.dataset.n, Number(e.querySelector(".n").textContent)]))])),
  told: document.querySelector(".filters output").textContent,
})"""
TABLES = """() => [...document.querySelectorAll("table")].map(table =>
  [...table.rows].map(row => [...row.cells].map(cell => cell.textContent.trim())))
  .filter(rows => rows[0][0] === "class")"""
EDITION = "() => document.querySelector('.strip.names').firstElementChild.textContent"
CHOOSE = """choice => { const form = document.querySelector(".filters");
  [...form.elements].filter(e => e.name).forEach(e => { e.value = choice[e.name] || "" });
  form.dispatchEvent(new Event("input")) }"""
FOCUSED = """() => { const e = document.activeElement; return e.name || e.textContent.trim() }"""
IN_SIGHT = """selector => { const box = document.querySelector(selector).getBoundingClientRect();
  return box.height > 0 && box.top < innerHeight && box.bottom > 0 }"""
PAINTED = """() => { const fold = document.querySelector("details.chapter summary");
  const paint = performance.getEntriesByName("first-contentful-paint")[0];
  return fold?.checkVisibility() && paint ? paint.startTime : Infinity }"""


def outcome(verdict: str) -> str:
    """Tell what a verdict counts as in bars."""
    return verdict if verdict in SIGNS else OTHER


def plain(text: str) -> str:
    """Give what a reader sees of a sentence, formulas apart."""
    return unescape(re.sub(r"<[^>]+>", "", typeset(text)))


# -- what the page says ------------------------------------------------------------------------


def check_rows(page: Page, path: Path, document: Document) -> Iterator[str]:
    """Compare every row with the document, and find the page of its claim."""
    shown = {row["id"]: row for row in page.evaluate(ROWS)}
    for claim in document["claims"]:
        if not claim["page"]:
            continue
        name, answers = claim["id"], claim["answers"]
        row = shown.pop(name.lower(), None)
        if row is None:
            yield f"{name}: has no row"
            continue
        wanted = {"paper": claim["paper"], "chapter": claim["chapter"], "class": _group(claim)}
        wanted["verdict"] = outcome(answers["reproduced"])
        if found := {key: row[key] for key in wanted if row[key] != wanted[key]}:
            yield f"{name}: is filed under {found}, not {wanted}"
        sign = SIGNS.get(answers["reproduced"], OTHER_SIGN)
        said = f"{sign} {answers['reproduced']}"
        if answers["reproduced"] == "yes" and answers["strict"] in BESIDES:
            said += f" {BESIDES[answers['strict']]}"
        if (mended := answers["corrected"]) and mended != answers["reproduced"]:
            said += f" corrected: {SIGNS.get(mended, OTHER_SIGN)} {mended}"
        if row["cells"]["reproduced"] != said:
            yield f"{name}: shows {row['cells']['reproduced']!r}, not {said}"
        if not row["cells"]["by data set"].endswith(answers["elsewhere"]):
            yield f"{name}: shows {row['cells']['by data set']!r}, not {answers['elsewhere']}"
        if not answers["no data"]:
            yield from _check_strip(row, claim, document)
        values, published = {""}, {""}
        for verdict in claim["verdicts"].values():
            values |= {plain(value_text(claim, part)) for part in verdict["parts"]}
            published |= {plain(part["published"]) for part in verdict["parts"]}
        if row["cells"]["measured"] not in values or row["cells"]["published"] not in published:
            yield f"{name}: shows {row['cells']}, which is neither measured nor published"
        yield from _check_claim_page(path, row["link"], claim)
    if shown:
        yield f"rows of no claim: {sorted(shown)}"


def _check_strip(row: Mapping[str, Any], claim: Document, document: Document) -> Iterator[str]:
    titles = {each["title"]: each["name"] for each in document["datasets"]}
    words = "yes|no|undecided|partly|not testable here|not yet"
    said = dict(re.findall(rf"([\w.+=-]+) ({words})(?:, |$)", row["strip"]))
    found = {title: claim["verdicts"][name]["verdict"] for title, name in titles.items()}
    if said != found:
        yield f"{claim['id']}: by data set {said} where {found} is judged"
    signs = "".join(SIGNS.get(verdict, OTHER_SIGN) for verdict in said.values())
    if row["signs"] != signs:
        yield f"{claim['id']}: signs {row['signs']!r} where {signs!r} is judged"


def _check_claim_page(path: Path, link: str | None, claim: Document) -> Iterator[str]:
    """See that the page of a claim is there, and says what became of it."""
    target = path.parent / (link or "none")
    if link != f"../{claim['address']}" or not target.is_file():
        yield f"{claim['id']}: leads to {link}, which is no page of it"
        return
    page = target.read_text(encoding="utf-8")
    for part, said in (
        (rf'<section id="{claim["id"].lower()}">\s*<h1>(.*?)</h1>', (claim["id"],)),
        (
            r'<dl class="answers">(.*?)</dl>',
            (f" {claim['answers']['reproduced']}", claim["answers"]["elsewhere"]),
        ),
    ):
        found = re.search(part, page, re.DOTALL)
        text = unescape(re.sub(r"<[^>]+>", "", found[1])) if found else ""
        yield from (
            f"{claim['address']}: does not say {each!r}" for each in said if each not in text
        )


def _group(claim: Document) -> str:
    if not claim["assertions"]:
        return "no assertion of a paper"
    return "hangs on no data" if claim["answers"]["no data"] else str(claim["class"])


def check_files(folder: Path, document: Document, judge: Judge) -> Iterator[str]:
    """Compare what the site ships with what is judged."""
    if document != judge(sorted(each["name"] for each in document["datasets"])):
        yield "claims.json is not what is judged"
    if (folder / "scorecard.csv").read_text(encoding="utf-8") != csv_text(document):
        yield "scorecard.csv is not what claims.json says"


def check_totals(page: Page, folder: Path, document: Document, edition: str) -> Iterator[str]:
    """Compare sentence, bars, folds and tables with what a stranger counts from the document."""
    recounted: Counter[tuple[str, str, str]] = runpy.run_path(str(folder / "recount.py"))[
        "recount"
    ](document, edition)
    shown = page.evaluate(COUNTS)
    joined: dict[str, Counter[str]] = {}
    for (table, row, column), n in recounted.items():
        if table == "reproduced":
            joined.setdefault(row, Counter())[outcome(column)] += n
    wanted = joined["empirical"]
    if shown["totals"] != {name: wanted[name] for name in OUTCOMES} | {"all": wanted.total()}:
        yield f"totals {shown['totals']} where {dict(wanted)} is counted"
    for paper, bar in shown["bars"].items():
        yield from _check_bar(paper, bar, joined[paper])
        if shown["all"][paper] != joined[paper].total():
            yield f"bar of {paper}: of {shown['all'][paper]} claims"
    chapters = {claim["page"]: claim["chapter"] for claim in document["claims"]}
    for fold, counts in shown["folds"].items():
        if counts != joined[chapters[fold.removeprefix("chapter-")]]:
            yield f"{fold} shows {counts}"
    names, tables = TOTALS, page.evaluate(TABLES)
    if len(tables) != len(names):
        yield f"{len(tables)} tables of totals"
    for name, (head, *rows) in zip(names, tables, strict=False):
        for row in rows:
            cells = dict(zip(head[1:-1], map(int, row[1:-1]), strict=True))
            counted = {column: recounted[name, row[0], column] for column in cells}
            if cells != counted or int(row[-1]) != sum(counted.values()):
                yield f"totals, {name}, {row[0]}: {row[1:]} where {counted} is counted"


def _check_bar(
    paper: str, bar: Mapping[str, tuple[int, int, str]], counts: Mapping[str, int]
) -> Iterator[str]:
    if {name: n for name, (n, *_) in bar.items()} != {k: n for k, n in counts.items() if n}:
        yield f"bar of {paper}: {bar} where {dict(counts)} is counted"
    for n, grows, title in bar.values():
        if grows != n or not title.startswith(f"{n} "):
            yield f"bar of {paper}: {n} is drawn as {grows} and called {title!r}"


# -- how it is used ----------------------------------------------------------------------------


def check_filters(page: Page, *, crossed: bool) -> Iterator[str]:
    """Choose every option of every filter, and if `crossed` every verdict in every paper."""
    options = page.evaluate(
        "Object.fromEntries([...document.querySelectorAll('.filters select')]"
        ".map(s => [s.name, [...s.options].map(o => o.value)]))"
    )
    asked = [{name: value} for name, values in options.items() for value in values]
    asked += [
        {"text": text}
        for text in ("popularity", "BCC17-F", "1r PRECISION", "Mena-Maldonado", "no such words")
    ]
    if crossed:
        pairs = product(options["verdict"], options["paper"])
        asked += [{"verdict": verdict, "paper": paper} for verdict, paper in pairs]
        asked += [{"class": name, "text": "popularity"} for name in options["class"]]
    for choice in asked:
        page.evaluate(CHOOSE, choice)
        rows = page.evaluate(ROWS)
        fitting = [row for row in rows if _fits(row, choice)]
        wanted = {row["id"] for row in fitting}
        is_seen = "shown" if any(choice.values()) else "kept"  # without a choice all may be folded
        shown = {row["id"] for row in rows if row[is_seen]}
        if shown != wanted:
            yield f"filter {choice}: shows {sorted(shown ^ wanted)} wrongly or not"
        counts = page.evaluate(COUNTS)
        counting = [r for r in fitting if r["class"] == (choice.get("class") or "empirical")]
        others = len(fitting) - len(counting)
        told = f"{len(wanted)} of {len(rows)} claims" if wanted else "no claim fits"
        if others:
            told += f", {others} of other classes"
        if counts["told"] != told:
            yield f"filter {choice}: says {counts['told']!r} where {told!r} fit"
        own = Counter(row["verdict"] for row in counting)
        if counts["totals"] != {name: own[name] for name in OUTCOMES} | {"all": own.total()}:
            yield f"filter {choice}: totals {counts['totals']} where {dict(own)} are shown"
        for paper, bar in counts["bars"].items():
            of_paper = Counter(row["verdict"] for row in counting if row["paper"] == paper)
            yield from (f"filter {choice}: {fault}" for fault in _check_bar(paper, bar, of_paper))
            if counts["all"][paper] != of_paper.total():
                yield f"filter {choice}: bar of {paper} of {counts['all'][paper]} claims"
    page.evaluate(CHOOSE, {})


def _fits(row: Mapping[str, str], choice: Mapping[str, str]) -> bool:
    facts = {name: value for name, value in choice.items() if name != "text" and value}
    words = choice.get("text", "").lower().split()
    return all(row[name] == value for name, value in facts.items()) and all(
        word in row["text"] for word in words
    )


def check_keyboard(page: Page) -> Iterator[str]:
    """Walk with the tabulator from the filters into the first fold, and to a claim's page."""
    page.evaluate("document.querySelectorAll('details.chapter').forEach(e => { e.open = false })")
    page.evaluate("document.querySelector('.filters input').focus()")
    walked = []
    for _ in range(6):
        walked.append(page.evaluate(FOCUSED))
        page.keyboard.press("Tab")
    if walked[:5] != ["text", "paper", "chapter", "class", "verdict"]:
        yield f"the tabulator leads over {walked}"
    page.evaluate("document.querySelector('details.chapter summary').focus()")
    page.keyboard.press("Enter")
    first = page.evaluate(
        "document.querySelector('details.chapter tr.claim-row a.to-claim').textContent"
    )
    for _ in range(3):
        page.keyboard.press("Tab")
        if page.evaluate(FOCUSED) == first:
            break
    else:
        yield f"the tabulator does not lead to {first} but to {page.evaluate(FOCUSED)!r}"
        return
    page.keyboard.press("Enter")
    try:
        page.wait_for_url(f"**/claims/{first}.html")
    except TimeoutError:
        yield f"{first} leads to {page.url}"


def check_size(browser: Browser, url: str) -> Iterator[str]:
    """Measure the page before anything is unfolded, and when it is painted."""
    for width in (WIDE, NARROW):
        page = browser.new_page(viewport={"width": width, "height": HEIGHT})
        times = []
        for _ in range(3):  # the first has to start the browser's processes, too
            page.goto(url)
            page.wait_for_function("document.querySelector('.filters')")
            times.append(page.evaluate(PAINTED))
        if min(times) > SECOND:
            yield f"it is painted after {min(times):.0f} ms at {width} px"
        tall, wide = page.evaluate(
            "[document.documentElement.scrollHeight, document.documentElement.scrollWidth]"
        )
        if width == WIDE and tall > SCREENS * HEIGHT:
            yield f"{tall / HEIGHT:.1f} screens tall, at most {SCREENS} are allowed"
        page.evaluate(
            "document.querySelectorAll('details.chapter').forEach(e => { e.open = true })"
        )
        boxes = page.evaluate(
            "[...document.querySelectorAll('table.claims, .filters, .legend, .bars')]"
            ".filter(e => e.getBoundingClientRect().right > innerWidth + 1).length"
        )
        if wide > width + 1 or boxes:
            yield f"{wide} px wide in a window of {width} px, {boxes} boxes end beyond it"
        page.close()


def check_folds(browser: Browser, url: str, rows: Sequence[str]) -> Iterator[str]:
    """Follow links into folds, and print."""
    page = browser.new_page(viewport={"width": WIDE, "height": HEIGHT})
    for row in rows:
        page.goto("about:blank")
        page.goto(f"{url}#{row}")
        page.wait_for_timeout(150)
        if not page.evaluate(IN_SIGHT, f"[id='{row}']"):
            yield f"#{row}: what it names cannot be seen"
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    folded = [row["id"] for row in page.evaluate(ROWS) if not row["shown"]]
    if folded:
        yield f"on paper {len(folded)} rows are folded"
    page.close()


def check_papers(browser: Browser, url: str) -> Iterator[str]:
    """Follow the links of bars: the totals of that paper are in sight, under its authors' names."""
    page = browser.new_page()
    page.goto(url)
    papers = page.evaluate("[...document.querySelectorAll('.bars li')].map(e => e.dataset.paper)")
    told = page.evaluate("[...document.querySelectorAll('[name=paper] option')].map(e => e.text)")
    if papers and not all(" " in words for words in told[1:]):
        yield f"the menu of papers has {told}"
    page.close()
    for width, paper in product((WIDE, NARROW), papers):
        page = browser.new_page(viewport={"width": width, "height": HEIGHT})
        page.goto(f"{url}#paper-{paper}")
        page.wait_for_timeout(150)
        counts = page.evaluate(COUNTS)
        if not page.evaluate(IN_SIGHT, ".totals"):
            yield f"#paper-{paper}: its totals are out of sight at {width} px"
        if counts["totals"]["all"] != counts["all"][paper]:
            yield f"#paper-{paper}: totals of {counts['totals']['all']} claims"
        page.close()


def check_outcomes(browser: Browser, url: str) -> Iterator[str]:
    """Follow the links of the totals: the rows of that outcome are left, and no others."""
    page = browser.new_page()
    page.goto(url)
    wanted = page.evaluate(COUNTS)["totals"]
    page.close()
    for name in filter(wanted.get, OUTCOMES):
        page = browser.new_page()
        page.goto(f"{url}#verdict-{name}")
        page.wait_for_timeout(150)
        n_left = page.locator("tr.claim-row:not([hidden])").count()
        if n_left != wanted[name]:
            yield f"#verdict-{name}: {n_left} rows are left of {wanted[name]}"
        page.close()


def check_answers(browser: Browser, index: Path) -> Iterator[str]:
    """Ask what a reader wants to know: two clicks from the index, at both widths."""
    for width, (claim, question) in product((WIDE, NARROW), ASKED.items()):
        page = browser.new_page(viewport={"width": width, "height": HEIGHT})
        page.goto(index.as_uri())
        link = page.locator(f"a.to-claim[href$='/{claim}.html']")
        if link.count():
            link.first.click()
            page.wait_for_url(f"**/claims/{claim}.html")
            if not page.evaluate(IN_SIGHT, ".answers .outcome"):
                yield f"{question} The answer is out of sight at {width} px"
        else:
            yield f"{question} The index does not lead to {claim}"
        page.close()


def check_without_scripts(browser: Browser, url: str, n_claims: int) -> Iterator[str]:
    """See that nothing is missing where scripts do not run."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(url)
    rows = page.locator("tr.claim-row").count()
    hidden = page.locator("tr.claim-row[hidden]").count()
    links = page.locator("tr.claim-row a.to-claim[href]").count()
    bars = page.locator(".bars .bar .sign:not([hidden])").count()
    if (rows, hidden, links) != (n_claims, 0, n_claims) or not bars:
        yield f"without scripts: {rows} rows, {hidden} hidden, {links} links, {bars} parts of bars"
    context.close()


def check_verdicts(page: Page, path: Path, judge: Judge) -> Iterator[str]:
    """Compare all that a scorecard says with what is judged."""
    document = json.loads((path.parent / "claims.json").read_text(encoding="utf-8"))
    titles = {each["title"]: each["name"] for each in document["datasets"]}
    edition = titles[page.evaluate(EDITION)]
    yield from check_files(path.parent, document, judge)
    yield from check_rows(page, path, document)
    yield from check_totals(page, path.parent, document, edition)


def judge_anew(datasets: Sequence[str]) -> Document:
    """Judge all claims on data sets; no edition has a say in a verdict."""
    document: Document = json.loads(write(datasets))
    return document


def check(site: Path, judge: Judge = judge_anew) -> list[str]:
    """List what is wrong with the scorecards of all editions of a site."""
    found, site = [], site.resolve()
    judged: dict[tuple[str, ...], Document] = {}

    def judge_once(datasets: Sequence[str]) -> Document:
        key = tuple(datasets)
        if key not in judged:
            judged[key] = judge(datasets)
        return judged[key]

    paths = sorted(site.rglob("notebooks/scorecard.html"))
    with sync_playwright() as playwright:
        browser = launch(playwright)
        for path in paths:
            url = path.as_uri()
            page = browser.new_page(viewport={"width": WIDE, "height": HEIGHT})
            page.goto(url)
            page.wait_for_function("document.querySelector('.filters')")
            rows = page.evaluate(ROWS)
            faults = [*check_verdicts(page, path, judge_once)]
            # One script filters in every edition: pairs of choices are enough in the first.
            faults += check_filters(page, crossed=path == paths[0])
            faults += check_keyboard(page)
            page.close()
            faults += check_size(browser, url)
            faults += check_folds(browser, url, [rows[0]["id"], rows[-1]["id"]])
            faults += check_papers(browser, url)
            faults += check_outcomes(browser, url)
            faults += check_without_scripts(browser, url, len(rows))
            index = path.with_name("index.html")
            if index.is_file():
                faults += check_answers(browser, index)
            found += [f"{path.relative_to(site)}: {fault}" for fault in faults]
        browser.close()
    return found


def main() -> int:
    """Print the faults of the site named on the command line."""
    found = check(Path(sys.argv[1]))
    print("\n".join([*found, f"{len(found)} faults"]))
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
