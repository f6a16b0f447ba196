"""Use the scorecard of a built site as a reader does, in Chromium, from disk.

    python tests/site/check_scorecard.py SITE_FOLDER

Verdicts are judged here anew. Exit 1 on: a cell, value or download that is not what is judged; a
claim of a written chapter without a row; a scorecard longer than four screens of 900 px at 1400 px
before anything is unfolded, or wider than its window at 390 px; a filter that shows other claims
than those that fit; a cell that cannot be reached by keyboard, or leads nowhere; a link into a fold
that stays shut; a page without scripts that lacks a claim. Needs what `offline_check.py` needs.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
import re
import runpy
import sys
from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator
from html import unescape
from itertools import pairwise
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from chromium import launch
from recbias.book import matrix
from recbias.book.cards import lead, measured_text
from recbias.book.html import typeset
from recbias.claims.judging import Verdict, scorecards
from recbias.claims.topics import chapters

SIGNS = {
    "yes": "✓", "no": "✗", "undecided": "?", "partly": "±",
    "not testable here": "–", "not yet": "·",
}  # fmt: skip
CELLS = """() => [...document.querySelectorAll("tbody.claim-row")].map(row => ({
  id: row.id, verdicts: row.dataset.verdicts,
  numbers: [...row.querySelectorAll("td.number")].map(cell => cell.textContent),
  cells: [...row.querySelectorAll("td:has(> a)")].map(cell => { const a = cell.firstElementChild;
    return [cell.className.split(" ")[0], a.textContent, a.getAttribute("aria-label"), a.title,
      a.getAttribute("href")] }),
}))"""
COLUMNS = """() => [...document.querySelector("table.matrix").querySelectorAll(".data-set")]
  .map(e => e.textContent)"""
FILES = """() => Object.fromEntries([...document.querySelectorAll(".downloads a[download]")]
  .map(a => [a.download, a.href.split("base64,")[1]]))"""
TOTALS = """() => [...document.querySelectorAll("table")].map(table =>
  [...table.rows].map(row => [...row.cells].map(cell => cell.textContent.trim())))
  .filter(rows => rows[0][0] === "class")"""
Judge = Callable[[str], matrix.Matrix]

SCREENS, HEIGHT = 4, 900
FACTS = ("paper", "chapter", "class")
ROWS = """() => [...document.querySelectorAll("tbody.claim-row")].map(row => ({
  id: row.id, kept: !row.hidden, shown: row.checkVisibility(), paper: row.dataset.paper,
  chapter: row.dataset.chapter, class: row.dataset.class,
  verdicts: Object.fromEntries(row.dataset.verdicts.split(" ").map(pair => pair.split(":"))),
  cells: [...row.querySelectorAll("td > a")].map(e => e.parentElement.className.split(" ")[0]),
}))"""
CHOOSE = """choice => { const form = document.querySelector(".filters");
  [...form.elements].filter(e => e.name).forEach(e => { e.value = choice[e.name] || "" });
  form.dispatchEvent(new Event("change")) }"""
LINKS = """() => ["empirical", "theorem"].flatMap(kind =>
  [...document.querySelector(`tbody.claim-row[data-class=${kind}]`).querySelectorAll("td > a")]
  .map(a => a.href))"""
FOCUSED = """() => document.activeElement.getAttribute("aria-label")
  || document.activeElement.tagName"""
IN_SIGHT = """id => { const box = document.getElementById(id).getBoundingClientRect();
  return box.height > 0 && box.top < innerHeight && box.bottom > 0 }"""


def check_size(browser: Browser, url: str) -> Iterator[str]:
    """Measure the page before anything is unfolded."""
    for width in (1400, 390):
        page = browser.new_page(viewport={"width": width, "height": HEIGHT})
        page.goto(url)
        page.wait_for_function("document.querySelector('.filters')")
        tall, wide = page.evaluate(
            "[document.documentElement.scrollHeight, document.documentElement.scrollWidth]"
        )
        if width == 1400 and tall > SCREENS * HEIGHT:
            yield f"{tall / HEIGHT:.1f} screens tall, at most {SCREENS} are allowed"
        if wide > width + 1:
            yield f"{wide} px wide in a window of {width} px"
        boxes = page.evaluate(
            "[...document.querySelectorAll('table.matrix, .filters, .legend')]"
            ".filter(e => e.getBoundingClientRect().right > innerWidth + 1).length"
        )
        if boxes:
            yield f"{boxes} boxes end beyond the window of {width} px"
        page.close()


def check_rows(page: Page) -> Iterator[str]:
    """Compare the cells with the verdicts that the row names, and with their order."""
    for row in page.evaluate(ROWS):
        if row["cells"] != list(row["verdicts"].values()):
            yield f"{row['id']}: cells {row['cells']} are not {row['verdicts']}"


def check_verdicts(page: Page, path: Path, site: Path, judged: matrix.Matrix) -> Iterator[str]:
    """Compare every cell, value and download with what is judged."""
    shown = {row["id"]: row for row in page.evaluate(CELLS)}
    if (columns := page.evaluate(COLUMNS)) != list(judged):
        yield f"columns {columns} are not {list(judged)}"
    edition = next(iter(judged))
    for verdict in judged[edition]:
        if not (chapter := chapters()[verdict.claim.topic]):
            continue
        anchor, row = verdict.claim.id.lower(), shown.pop(verdict.claim.id.lower(), None)
        if row is None:
            yield f"{anchor}: has no row"
            continue
        found = {
            name: next(each.verdict for each in verdicts if each.claim.id == verdict.claim.id)
            for name, verdicts in judged.items()
        }
        codes = {name: word.replace(" ", "-") for name, word in found.items()}
        if row["verdicts"] != " ".join(f"{name}:{code}" for name, code in codes.items()):
            yield f"{anchor}: row of {row['verdicts']} where {codes} is judged"
        cells = []
        for name, word in found.items():
            label = f"{verdict.claim.id} on {name}: {word}"
            card = _card(path, site, edition, name, chapter)
            link = f"{card}#{anchor}" if card else f"#{anchor}-{name}"
            cells.append([codes[name], SIGNS[word], label, label, link])
        for cell, wanted in zip(row["cells"], cells, strict=False):
            if cell != wanted:
                yield f"{anchor}: cell {cell} where {wanted} is judged"
        if len(row["cells"]) != len(cells):
            yield f"{anchor}: {len(row['cells'])} cells"
        if row["numbers"] != _numbers(verdict):
            yield f"{anchor}: shows {row['numbers']} where {_numbers(verdict)} is measured"
    if shown:
        yield f"rows of no claim: {sorted(shown)}"
    yield from _check_files(page.evaluate(FILES), path.parent, judged)
    yield from _check_totals(page.evaluate(TOTALS), path.parent, edition)


def _card(path: Path, site: Path, edition: str, name: str, chapter: str) -> str:
    """Find the chapter in the edition of a data set, from a page; empty without one."""
    here = path.parent
    if name == edition:
        target = here / f"{chapter}.html"
    elif (site / "on" / name).is_dir():
        target = site / "on" / name / "notebooks" / f"{chapter}.html"
    elif here != site / "notebooks" and name == _main_edition(site):
        target = site / "notebooks" / f"{chapter}.html"
    else:
        return ""
    return Path(os.path.relpath(target, here)).as_posix()


def _main_edition(site: Path) -> str:
    """Tell which data set the edition at the root is on, by its scorecard's first column."""
    text = (site / "notebooks" / "scorecard.html").read_text(encoding="utf-8")
    return re.search(r'class="data-set"><span>([^<]+)', text)[1]


def _numbers(verdict: Verdict) -> list[str]:
    """Give what is published and what was measured, as text."""
    measured = [part for part in verdict.parts if part.estimate is not None]
    against = next((part for part in measured if part.record.published), None)
    part = against or lead(verdict)
    published = verdict.claim.values[against.record.published] if against else ""
    text = measured_text(part) if part and part.finding != part.record.if_none else ""
    return [unescape(re.sub(r"<[^>]+>", "", typeset(each))) for each in (published, text)]


def _check_files(files: dict[str, str], folder: Path, judged: matrix.Matrix) -> Iterator[str]:
    """Compare what can be downloaded with verdicts and parts."""
    document = json.loads((folder / "claims.json").read_text(encoding="utf-8"))
    names = [each["name"] for each in document["datasets"]]
    told = {claim["id"]: claim["verdicts"] for claim in document["claims"]}
    wanted: dict[str, dict[str, object]] = {}
    for name in names:
        for verdict in judged.get(name, ()):
            wanted.setdefault(verdict.claim.id, {})[name] = verdict.to_dict()
    if told != wanted or set(names) != set(judged):
        yield "claims.json is not what is judged"
    if list(files) != ["scorecard.csv"]:
        yield f"downloads {list(files)}"
        return
    rows = list(csv.DictReader(io.StringIO(b64decode(files["scorecard.csv"]).decode())))
    lines = [
        line
        for name in names
        for verdict in judged.get(name, ())
        if chapters()[verdict.claim.topic]
        for line in csv_lines(name, verdict)
    ]
    if len(rows) != len(lines):
        yield f"scorecard.csv: {len(rows)} lines for {len(lines)} parts"
    for row, line in zip(rows, lines, strict=False):
        for column, value in line.items():
            if not _same(row.get(column), value):
                told = f"{row['claim']} on {row['dataset']}, {column}"
                yield f"scorecard.csv: {told}: {row.get(column)!r} where {value!r} is judged"


def _check_totals(tables: list[list[list[str]]], folder: Path, edition: str) -> Iterator[str]:
    """Compare the tables of totals with what a stranger counts from the document."""
    document = json.loads((folder / "claims.json").read_text(encoding="utf-8"))
    recount = runpy.run_path(str(folder / "recount.py"))["recount"]
    counts, names = recount(document, edition), ("reproduced", "verdict", "strict")
    if len(tables) != len(names):
        yield f"{len(tables)} tables of totals"
    for name, (head, *rows) in zip(names, tables, strict=False):
        for row in rows:
            shown = dict(zip(head[1:-1], map(int, row[1:-1]), strict=True))
            wanted = {column: counts[name, row[0], column] for column in shown}
            if shown != wanted or int(row[-1]) != sum(wanted.values()):
                yield f"totals, {name}, {row[0]}: {row[1:]} where {wanted} is counted"


def csv_lines(name: str, verdict: Verdict) -> list[dict[str, str | float]]:
    """Give what lines of the CSV have to hold: one for each part, or one for a claim without."""
    claim = {"dataset": name, "claim": verdict.claim.id, "verdict": verdict.verdict}
    claim |= {"corrected": verdict.corrected, "paper": verdict.claim.paper}
    if not verdict.parts:
        return [claim | {"reason": verdict.reason, "part": "", "value": ""}]
    return [
        claim
        | {
            "part": part.verdict,
            "asserts": " ".join(str(number) for number in part.record.asserts),
            "which": part.which,
            "value": part.value,
            "low": part.interval[0],
            "high": part.interval[1],
            "unit": part.record.unit,
            "published": verdict.claim.values.get(part.record.published, ""),
            "finding": part.finding,
            "reason": part.lacks or part.unsure,
        }
        for part in verdict.parts
    ]


def _same(text: str | None, value: str | float) -> bool:
    if isinstance(value, str) or not text:
        return text == value
    return float(text) == value or (math.isnan(float(text)) and math.isnan(value))


def check_filters(page: Page, *, crossed: bool) -> Iterator[str]:
    """Choose every option of every filter, and if `crossed` every verdict on every data set."""
    options = page.evaluate(
        "Object.fromEntries([...document.querySelectorAll('.filters select')]"
        ".map(s => [s.name, [...s.options].map(o => o.value)]))"
    )
    asked = [{name: value} for name, values in options.items() for value in values]
    if crossed:
        asked += [
            {"verdict": verdict, "dataset": dataset}
            for verdict in options["verdict"]
            for dataset in options["dataset"]
        ]
    for choice in asked:
        page.evaluate(CHOOSE, choice)
        rows = page.evaluate(ROWS)
        wanted = {row["id"] for row in rows if _fits(row, choice)}
        is_seen = "shown" if any(choice.values()) else "kept"  # without a choice all may be folded
        shown = {row["id"] for row in rows if row[is_seen]}
        if shown != wanted:
            yield f"filter {choice}: shows {sorted(shown ^ wanted)} wrongly or not"
        told = page.inner_text(".filters output")
        if told != f"{len(wanted)} of {len(rows)} claims":
            yield f"filter {choice}: says {told!r} where {len(wanted)} fit"


def _fits(row: dict, choice: dict[str, str]) -> bool:
    if any(choice.get(name) and row[name] != choice[name] for name in FACTS):
        return False
    dataset, verdict = choice.get("dataset"), choice.get("verdict")
    found = [row["verdicts"][dataset]] if dataset else row["verdicts"].values()
    return not verdict or verdict in found


def check_keyboard(page: Page) -> Iterator[str]:
    """Walk from the first cell with the tabulator: the cells of a row, then the fold below it."""
    page.evaluate("document.querySelector('details.chapter').open = true")
    page.evaluate("document.querySelector('tbody.claim-row td > a').focus()")
    n_cells = page.evaluate(
        "document.querySelectorAll('tbody.claim-row')[0].querySelectorAll('td > a').length"
    )
    walked = []
    for _ in range(n_cells + 1):
        walked.append(page.evaluate(FOCUSED))
        page.keyboard.press("Tab")
    if walked[-1] != "SUMMARY" or any(" on " not in each for each in walked[:-1]):
        yield f"the tabulator leads over {walked}"
    for one, other in pairwise(walked[:-1]):
        if one == other:
            yield f"the tabulator stays at {one}"


def check_targets(browser: Browser, url: str, followed: set[str]) -> Iterator[str]:
    """Follow the cells of a row of either kind of card, shown and folded, to what can be seen.

    What was followed from another edition is not again; what is, is added.
    """
    page = browser.new_page(viewport={"width": 1400, "height": HEIGHT})
    page.goto(url)
    links = page.evaluate(LINKS)
    page.close()
    for link in links:
        if link in followed:
            continue
        followed.add(link)
        page = browser.new_page(viewport={"width": 1400, "height": HEIGHT})
        page.goto(link)
        name = link.partition("#")[2]
        page.wait_for_timeout(150)
        if not page.evaluate(f"!!document.getElementById({name!r})"):
            yield f"{link}: no such anchor"
        elif not page.evaluate(IN_SIGHT, name):
            yield f"{link}: what it names cannot be seen"
        page.close()


def check_without_scripts(browser: Browser, url: str) -> Iterator[str]:
    """See that nothing is missing where scripts do not run."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(url)
    rows, cells = (
        page.locator(name).count() for name in ("tbody.claim-row", "tbody.claim-row td > a")
    )
    hidden = page.locator("tbody.claim-row[hidden]").count()
    if not rows or cells % rows or hidden:
        yield f"without scripts: {rows} rows with {cells} cells, {hidden} hidden"
    context.close()


def judge_once(editions: Iterable[str]) -> Judge:
    """Judge all data sets of some editions, each once: no edition has a say in a verdict."""
    columns = {edition: matrix.columns(edition) for edition in editions}
    judged = scorecards(dict.fromkeys(name for names in columns.values() for name in names))
    return lambda edition: {name: judged[name] for name in columns[edition]}


def check(site: Path, judge: Judge | None = None) -> list[str]:
    """List what is wrong with the scorecards of all editions of a site."""
    found, site = [], site.resolve()
    editions = {
        path: path.parent.parent.name if path.parent.parent != site else _main_edition(site)
        for path in sorted(site.rglob("notebooks/scorecard.html"))
    }
    judge = judge or judge_once(editions.values())
    followed: set[str] = set()
    with sync_playwright() as playwright:
        browser = launch(playwright)
        for path, edition in editions.items():
            url = path.as_uri()
            page = browser.new_page(viewport={"width": 1400, "height": HEIGHT})
            page.goto(url)
            page.wait_for_function("document.querySelector('.filters')")
            faults = [*check_verdicts(page, path, site, judge(edition))]
            faults += [*check_rows(page), *check_keyboard(page)]
            # One script filters in every edition: pairs of choices are enough in the first.
            faults += check_filters(page, crossed=path == next(iter(editions)))
            page.close()
            faults += check_size(browser, url)
            faults += check_targets(browser, url, followed)
            faults += check_without_scripts(browser, url)
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
