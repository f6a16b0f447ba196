"""Move through the loop of chapter 6, round by round, and compare what is shown.

    python tests/site/check_rounds.py SITE_FOLDER

Every choice is made at two widths, light and dark; means over worlds, their order and who is named
in the sentences are computed here from the recorded rounds. Then the slider is moved by keyboard
alone, an address is opened anew, and the tables are read without scripts. Exit 1 on a fault. Needs
what `offline_check.py` needs.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
from playwright.sync_api import Browser, Locator, Page
from scipy import stats

from chromium import check_pages
from recbias.claims import load_chapter

PAGES = ("notebooks/06_concentration.html", "on/*/notebooks/06_concentration.html")
CHOICES = ("even", "attentive")
COLUMNS = {"ratings": "Gini_ratings", "lists": "Gini", "liked": "P"}
SAYS = {
    "ratings": ("have become more uneven with ", "have become more even with "),
    "lists": ("are learned from with ", "They are more even with "),
    "liked": ("More is liked than of the first lists with ", "Less is liked than of the first lists"
              " with "),
}  # fmt: skip
START = ("even", "ratings", "8")
WIDTHS, SCHEMES = (1300, 390), ("light", "dark")
HALF = 5.001e-4
"""Numbers are shown with three decimals."""

CHOOSE = """(root, codes) => codes.forEach((code, n) => {
  const set = root.querySelectorAll("fieldset")[n];
  const slider = set.querySelector("[type=range]");
  if (!slider) return set.querySelector(`[value=${code}]`).click();
  slider.value = code;
  slider.dispatchEvent(new Event("input", { bubbles: true }));
})"""
SHOWN = """root => ({
  rows: [...root.querySelectorAll(".explorer-bars li")].map(row => [
    row.querySelector(".explorer-name").textContent,
    Number(row.querySelector(".explorer-value").textContent),
    row.querySelector(".explorer-bar").getBoundingClientRect().width]),
  note: root.querySelector(".explorer-note")?.textContent ?? "",
  ordered: root.querySelector(".explorer-said").textContent.includes("First is"),
  ranked: [...root.querySelectorAll(".explorer-rank, .explorer-moved")].some(e => e.textContent),
  round: root.querySelector("output").textContent,
  line: root.querySelector(".explorer-bars").classList.contains("has-expected"),
  seen: root.querySelector(".explorer-bars").checkVisibility(),
  wide: document.documentElement.scrollWidth > innerWidth + 1,
})"""


def rounds() -> pd.DataFrame:
    """Read the recorded rounds of all worlds."""
    frame: pd.DataFrame = load_chapter("06_concentration", "simulations")["loop"].frame
    return frame


def drawn(frame: pd.DataFrame, choice: str, column: str, number: int) -> dict[str, list[float]]:
    """Give the values of all worlds by recommender."""
    own = frame[(frame["choice"] == choice) & (frame["round"] == number)].sort_values("number")
    return {str(name): list(rows[column]) for name, rows in own.groupby("system")}


def check_choice(shown: dict[str, Any], frame: pd.DataFrame, codes: tuple[str, ...]) -> list[str]:
    """Compare one choice with the recorded rounds."""
    choice, name, number = codes[0], codes[1], int(codes[2])
    now = drawn(frame, choice, COLUMNS[name], number)
    wanted = {system: sum(values) / len(values) for system, values in now.items()}
    rows = {system: value for system, value, _ in shown["rows"]}
    if set(rows) != set(wanted) or not shown["seen"]:
        return [f"rows {sorted(rows)}"]
    faults = [f"{each}: {rows[each]}" for each in rows if abs(rows[each] - wanted[each]) > HALF]
    order = [wanted[system] for system in rows]
    if order != sorted(order, reverse=True):
        faults.append("the order is not that of the values")
    equal = len(set(wanted.values())) == 1
    if shown["ordered"] == equal or shown["ranked"] == equal:
        faults.append("an order of equal values, or none of others")
    per_unit = max(bar for *_, bar in shown["rows"]) / max(wanted.values())
    if any(abs(bar - per_unit * wanted[system]) > 1 for system, _, bar in shown["rows"]):
        faults.append("bars are not as long as their values")
    if shown["wide"] or shown["round"] != str(number) or shown["line"] != (name == "ratings"):
        faults.append(f"wider than the page, or without its round or line: {shown}")
    against = drawn(
        frame, choice, "Gini_ratings" if name == "lists" else COLUMNS[name],
        number if name == "lists" else 0,
    )  # fmt: skip
    if number or name == "lists":
        faults += _check_note(shown["note"], now, against, SAYS[name])
    return faults


def _check_note(
    note: str, now: dict[str, list[float]], then: dict[str, list[float]], says: tuple[str, str]
) -> Iterator[str]:
    """See that the sentences name who is surely above, and who is surely below."""
    surely: dict[str, list[str]] = {words: [] for words in says}
    for system, values in now.items():
        differences = [a - b for a, b in zip(values, then[system], strict=True)]
        found = stats.ttest_1samp(differences, 0)
        if found.pvalue < 0.05:
            surely[says[int(found.statistic < 0)]].append(system)
    for words, names in surely.items():
        told = note.partition(words)[2].partition(".")[0].replace(" and ", ", ").split(", ")
        if sorted(filter(None, told)) != sorted(names):
            yield f"{words.strip()} {told}, not {names}"


def check_keyboard(page: Page, root: Locator) -> list[str]:
    """Reach the slider by the tabulator and move it; its address then opens the same choice."""
    faults = []
    page.evaluate("document.activeElement.blur()")
    for _ in range(400):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.closest('#rounds') && document.activeElement.type"
                         " === 'range'"):  # fmt: skip
            break
    else:
        return ["the slider cannot be reached by keyboard"]
    if page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "none":
        faults.append("the slider does not show that it has the focus")
    for key, number in (("Home", "0"), ("ArrowRight", "1"), ("End", "8"), ("ArrowLeft", "7")):
        page.keyboard.press(key)
        told = page.evaluate("document.activeElement.getAttribute('aria-valuetext')")
        if (root.evaluate(SHOWN)["round"], told) != (number, number):
            faults.append(f"{key} leads to round {told}, not {number}")
    if root.locator(".explorer-said").get_attribute("role") != "status":
        faults.append("a new round is not announced")
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    shown = root.evaluate(SHOWN)["round"]
    if not address.endswith(",7") or shown != "7":
        faults.append(f"{address.partition('#')[2]!r} opens round {shown}")
    return faults


def check_tables(root: Locator, frame: pd.DataFrame) -> list[str]:
    """Read the tables: one for each choice, a column for each round."""
    tables = root.evaluate(
        """root => [...root.querySelectorAll("table")].map(table =>
          [...table.tBodies[0].rows].map(row => [...row.cells].map(cell => cell.textContent)))"""
    )
    found = sorted((name, *map(float, cells)) for table in tables for name, *cells in table)
    wanted = []
    for choice, column in itertools.product(CHOICES, COLUMNS.values()):
        by_round = [drawn(frame, choice, column, number) for number in range(9)]
        wanted += [
            (name, *(round(sum(each[name]) / len(each[name]), 3) for each in by_round))
            for name in by_round[0]
        ]
    same = len(found) == len(wanted) and all(
        one[0] == other[0]
        and all(abs(a - b) < 2 * HALF for a, b in zip(one[1:], other[1:], strict=True))
        for one, other in zip(found, sorted(wanted), strict=True)
    )
    hidden = [] if root.locator("table").first.is_visible() else ["there is no table"]
    return hidden if same else [*hidden, "the tables have other numbers"]


def check_page(browser: Browser, path: Path) -> tuple[list[str], int]:
    """Check the rounds of a page, with scripts and without."""
    faults: list[str] = []
    tried, frame = 0, rounds()
    numbers = [str(number) for number in sorted(frame["round"].unique())]
    for width, scheme in itertools.product(WIDTHS, SCHEMES):
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
        )
        page = context.new_page()
        page.goto(path.as_uri())
        root = page.locator("#rounds")
        if root.count() != 1:
            return ["no rounds"], 0
        found = [f"at first: {fault}" for fault in check_choice(root.evaluate(SHOWN), frame, START)]
        for codes in itertools.product(CHOICES, COLUMNS, numbers):
            root.evaluate(CHOOSE, codes)
            tried += 1
            found += [
                f"{' '.join(codes)}: {fault}"
                for fault in check_choice(root.evaluate(SHOWN), frame, codes)
            ]
        found += check_keyboard(page, root)
        faults += [f"{width} px, {scheme}: {fault}" for fault in found]
        context.close()
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(path.as_uri())
    root = page.locator("#rounds")
    if root.locator("form").is_visible():
        faults.append("without scripts there are buttons that do nothing")
    faults += [f"no scripts: {fault}" for fault in check_tables(root, frame)]
    context.close()
    return faults, tried


def main() -> int:
    """Check the site named on the command line."""

    def check(browser: Browser, site: Path, path: Path) -> tuple[list[str], int]:
        return check_page(browser, path)

    return check_pages(PAGES, check, "choices")


if __name__ == "__main__":
    sys.exit(main())
