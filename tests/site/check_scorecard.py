"""Use the scorecard of a built site as a reader does, in Chromium, from disk.

    python tests/site/check_scorecard.py SITE_FOLDER

Exit 1 on: a scorecard longer than four screens of 900 px at 1400 px before anything is unfolded, or
wider than its window at 390 px; a filter that shows other claims than those that fit; a cell that
cannot be reached by keyboard, or leads nowhere; a link into a fold that stays shut; a page without
scripts that lacks a claim. Needs what `offline_check.py` needs.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

SCREENS, HEIGHT = 4, 900
FACTS = ("paper", "chapter", "class")
ROWS = """() => [...document.querySelectorAll("tbody.claim-row")].map(row => ({
  id: row.id, shown: row.getBoundingClientRect().height > 0, paper: row.dataset.paper,
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


def check_filters(page: Page) -> Iterator[str]:
    """Choose every option of every filter, and every verdict on every data set."""
    options = page.evaluate(
        "Object.fromEntries([...document.querySelectorAll('.filters select')]"
        ".map(s => [s.name, [...s.options].map(o => o.value)]))"
    )
    asked = [{name: value} for name, values in options.items() for value in values]
    asked += [
        {"verdict": verdict, "dataset": dataset}
        for verdict in options["verdict"]
        for dataset in options["dataset"]
    ]
    for choice in asked:
        page.evaluate(CHOOSE, choice)
        rows = page.evaluate(ROWS)
        wanted = {row["id"] for row in rows if _fits(row, choice)}
        shown = {row["id"] for row in rows if row["shown"]}
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


def check_targets(browser: Browser, url: str) -> Iterator[str]:
    """Follow the cells of a row of either kind of card, shown and folded, to what can be seen."""
    page = browser.new_page(viewport={"width": 1400, "height": HEIGHT})
    page.goto(url)
    links = page.evaluate(LINKS)
    page.close()
    for link in links:
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


def check(site: Path) -> list[str]:
    """List what is wrong with the scorecards of all editions of a site."""
    found = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("CHROMIUM") or shutil.which("chromium"),
            args=["--no-sandbox", "--disable-gpu"],
        )
        for path in sorted(site.resolve().rglob("notebooks/scorecard.html")):
            url = path.as_uri()
            page = browser.new_page(viewport={"width": 1400, "height": HEIGHT})
            page.goto(url)
            page.wait_for_function("document.querySelector('.filters')")
            faults = [*check_rows(page), *check_keyboard(page), *check_filters(page)]
            page.close()
            faults += check_size(browser, url)
            faults += check_targets(browser, url)
            faults += check_without_scripts(browser, url)
            found += [f"{path.relative_to(site.resolve())}: {fault}" for fault in faults]
        browser.close()
    return found


def main() -> int:
    """Print the faults of the site named on the command line."""
    found = check(Path(sys.argv[1]))
    print("\n".join([*found, f"{len(found)} faults"]))
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
