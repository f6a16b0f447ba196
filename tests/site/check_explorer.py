"""Click through every combination of every explorer, and compare what is seen with the results.

    python tests/site/check_explorer.py SITE_FOLDER

Results are those of the key that the page names: recorded ones, or those of the last live run.
What a combination stands for is told by its buttons and by a table of this file, not by the page's
data. Order, numbers, lengths of bars and tau are computed here anew, by other code than the page's.
Exit 1 on a difference, there or in the plain tables that stand there without scripts; on a
combination without bars, unless there is no such design; on an explorer that the keyboard does not
move, or whose address does not bring a choice back. Needs what `offline_check.py` needs.
"""

from __future__ import annotations

import itertools
import json
import re
import sys
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

import pandas as pd
from playwright.sync_api import Browser, Locator
from scipy.stats import kendalltau, norm, t

from chromium import check_pages
from recbias.claims import load_chapter
from recbias.experiment.makers import Table
from recbias.experiment.run import Results

CHAPTERS = (
    "01_design_alternatives",
    "02_sparsity_bias",
    "04_overcoming_popularity_bias",
    "08_multiverse",
)
PAGES = tuple(f"{where}notebooks/{name}.html" for name in CHAPTERS for where in ("", "on/*/"))
HALF = 5.0001e-5
"""Numbers are shown with four decimals."""
START = ("TI", "AR", "AN", "10")
"""What is shown first, and what orders are compared with."""
BUTTONS = (
    {
        "AI": "all items of the catalogue",
        "TI": "items that anybody rated in test",
        "R_test": "the user's own test ratings alone",
    },
    {"AR": "all relevant items of a user in one list", "1R": "one relevant item per run"},
    {"AN": "all of them", "NN": "a sample of them"},
)
"""The buttons of all groups but the last, which has the cutoffs."""
NO_DESIGN = {
    ("R_test", "AR", "NN"): "with a sample of others (NN)",
    ("R_test", "1R", "NN"): "with a sample of others (NN)",
    ("R_test", "1R", "AN"): "with one relevant item per run (1R)",
}
"""Combinations that may stay without bars, and what their reason has to say."""
KEYS = {"expected": "a random ranking, expected", "ceiling": "no system can exceed 1/n"}
"""Lines, and what the key calls them."""


class Design:
    """What the buttons of a combination stand for, and what was measured of it."""

    def __init__(self, codes: tuple[str, ...], results: Results) -> None:
        self.candidates, self.relevant, self.others, cutoff = codes
        self.cutoff, self.results, self.own = int(cutoff), results, codes[0] == "R_test"
        self.label = "R_test" if self.own else f"{codes[0]}-{codes[2]}-{codes[1]}"
        protocols = results.grid.protocols
        self.relevance = re.search(r"rel>=\S+", protocols["TI-AN-AR"])[0]
        self.size = {
            "AR": re.search(r"N=(\d+)", protocols["TI-NN-AR"])[1],
            "1R": re.search(r"t=(\d+)", protocols["TI-NN-1R"])[1],
        }[self.relevant]
        self.sample = f"{'N' if self.relevant == 'AR' else 't'}={self.size}"
        self.sampled = self.others == "NN"
        # Samples from the whole catalogue are expected over all samples of the whole pool.
        self.given = f"|{self.sample}" if self.sampled and self.candidates == "AI" else ""
        self.metric = f"P@{self.cutoff}{self.given}"

    @property
    def code(self) -> str:
        if self.own:
            return f"TI-AN-AR {self.relevance} condensed"
        return " ".join([self.label, *([self.sample] if self.sampled else []), self.relevance])

    @property
    def measured(self) -> str:
        """The protocol whose results hold it."""
        return f"AI-AN-{self.relevant} {self.relevance}" if self.given else self.code

    @property
    def title(self) -> str:
        return "test ratings" if self.own else self.label

    @property
    def words(self) -> str:
        rest = "all other candidates"
        if self.own:
            rest = "the others that they rated low"
        elif self.sampled:
            rest = f"{int(self.size) - (self.relevant == '1R'):,} sampled others"
            rest += ", expected over all samples" if self.given else ""
        return f"{BUTTONS[0][self.candidates]}; {BUTTONS[1][self.relevant]}; {rest}"

    @cached_property
    def values(self) -> dict[str, float]:
        return {
            name: self.results[name, self.label, self.metric].value for name in self.results.systems
        }

    @property
    def lines(self) -> dict[str, float | None]:
        """What a random ranking is expected to have, and what no system can exceed."""
        short = self.relevant == "1R" and self.sampled and self.cutoff > int(self.size)
        expected = None
        if not self.own and not short:
            expected = self.results["Random", self.label, f"rho{self.given}"].value
        return {
            "expected": expected,
            "ceiling": 1 / self.cutoff if self.relevant == "1R" else None,
        }

    @cached_property
    def tau(self) -> float:
        start = Design(START, self.results).values
        return kendalltau(list(self.values.values()), list(start.values())).statistic


def results_of(document: dict, chapter: str) -> Results | Table:
    """Find the results that a page says it draws."""
    for found in load_chapter(chapter, document["dataset"]).values():
        if found.key == document["key"]:
            return found
    raise SystemExit(f"no results of {document['dataset']} have the key {document['key'][:12]}")


def check_state(explorer: Locator, design: Design) -> list[str]:
    """Compare what one combination shows with the results; give the faults."""
    shown = explorer.evaluate(
        """root => ({
          rows: [...root.querySelectorAll(".explorer-bars li")].map(row => ({
            name: row.querySelector(".explorer-name").textContent,
            value: Number(row.querySelector(".explorer-value").textContent),
            bar: row.querySelector(".explorer-bar").getBoundingClientRect().width,
            from: row.querySelector(".explorer-bar").getBoundingClientRect().left,
            track: row.querySelector(".explorer-track").getBoundingClientRect().width,
            lines: Object.fromEntries(["expected", "ceiling"].map(line => {
              const box = row.querySelector(`.explorer-track .explorer-${line}`);
              return [line, box.offsetParent ? box.getBoundingClientRect().left : null];
            })),
          })),
          said: [...root.querySelectorAll(".explorer-said p")].map(line => line.textContent),
          tau: root.querySelector(".explorer-tau")?.textContent,
          key: [...root.querySelectorAll(".explorer-key li")].map(line => line.textContent),
          drawn: root.querySelector(".explorer-bars").getBoundingClientRect().height > 0,
        })"""
    )
    if not shown["drawn"]:
        return ["no bars are drawn"]
    faults, values = [], design.values
    rows = {row["name"]: row for row in shown["rows"]}
    if set(rows) != set(values):
        return [f"systems {sorted(rows)}"]
    if design.results.grid.protocols[design.label] != design.measured:
        faults.append(f"the results are not of {design.measured}")
    order = [values[row["name"]] for row in shown["rows"]]
    if order != sorted(order, reverse=True):
        faults.append("the order is not that of the values")
    longest = max(rows.values(), key=lambda row: row["bar"])
    per_unit = longest["bar"] / values[longest["name"]]
    for name, row in rows.items():
        if abs(row["value"] - values[name]) > HALF:
            faults.append(f"{name}: {row['value']} for {values[name]:.6f}")
        if abs(row["bar"] - per_unit * values[name]) > 1:
            faults.append(f"{name}: a bar of {row['bar']:.1f} px")
    if abs(float(shown["tau"]) - design.tau) > 0.0051:
        faults.append(f"tau {shown['tau']} for {design.tau:.4f}")
    for line, number in design.lines.items():
        faults += [f"{line}: {fault}" for fault in _check_line(shown, line, number, per_unit)]
    return faults + _check_words(shown["said"], design)


def _check_line(shown: dict, line: str, number: float | None, per_unit: float) -> list[str]:
    """Look for a line in every row, and for its number in the key."""
    seen = [row["lines"][line] for row in shown["rows"]]
    key = "".join(each for each in shown["key"] if each.startswith(f"{KEYS[line]}: "))
    if number is None:
        return ["a line for nothing"] if key or any(each is not None for each in seen) else []
    faults, told = [], re.fullmatch(r".*: ([\d.]+)(, beyond the end of the scale)?", key)
    if not told or abs(float(told[1]) - number) > HALF:
        return [f"{number:.4f} is not in the key"]
    beyond = per_unit * number > shown["rows"][0]["track"] + 1
    if bool(told[2]) != beyond:
        faults.append(f"wrongly said to be {'within' if beyond else 'beyond'} the scale")
    for row, left in zip(shown["rows"], seen, strict=True):
        if (left is None) != beyond:
            faults.append(f"{row['name']}: {'a line' if beyond else 'no line'} is drawn")
        elif left is not None and abs(left - row["from"] - per_unit * number) > 2.5:
            faults.append(f"a line at {left:.1f} px of {row['name']}")
    return faults


def _check_words(said: list[str], design: Design) -> list[str]:
    """Compare the sentences above the bars."""
    faults, best = [], max(design.values, key=lambda name: design.values[name])
    if said[0] != f"{design.words[0].upper()}{design.words[1:]}.":
        faults.append(f"the words are {said[0]!r}")
    start = f"TI-AN-AR, P@{START[-1]}"
    wanted = f"{design.code}, P@{design.cutoff}. First is {best}, with "
    if not said[1].startswith(wanted) or f" with the order under {start}: " not in said[1]:
        faults.append(f"the protocol, the first or the start is wrongly named: {said[1]!r}")
    elif abs(float(said[1].removeprefix(wanted).partition(". ")[0]) - design.values[best]) > HALF:
        faults.append(f"the first has another value: {said[1]!r}")
    return faults


def check_tables(explorer: Locator, results: Results) -> list[str]:
    """Compare the plain tables, one for each cutoff, with the results."""
    tables = explorer.evaluate(
        """root => [...root.querySelectorAll("table")].map(table => ({
          metric: table.closest("details").querySelector("summary").textContent,
          rows: [...table.rows].map(row => [...row.cells].map(cell => cell.textContent)),
        }))"""
    )
    faults, cutoffs = [], cutoffs_of(results)
    order = [START[-1], *(cutoff for cutoff in cutoffs if cutoff != START[-1])]
    names = [f"Table of all numbers, P@{order[0]} first", *(f"P@{cutoff}" for cutoff in order[1:])]
    if [table["metric"] for table in tables] != names:
        return [f"plain tables of {[table['metric'] for table in tables]}"]
    for table, cutoff in zip(tables, order, strict=True):
        designs = {
            design.title: design
            for codes in itertools.product(*BUTTONS)
            if codes not in NO_DESIGN
            for design in [Design((*codes, cutoff), results)]
        }
        head, *rows = table["rows"]
        if sorted(head[1:]) != sorted(designs) or head[1] != Design(START, results).title:
            faults.append(f"plain table of P@{cutoff}: columns {head[1:]}")
            continue
        shown = {row[0]: dict(zip(head[1:], row[1:], strict=True)) for row in rows}
        heads = tuple(KEYS.values())
        tau = f"Kendall's tau with the order under TI-AN-AR, P@{START[-1]}"
        if list(shown) != [*results.systems, *heads, tau]:
            faults.append(f"plain table of P@{cutoff}: rows {list(shown)}")
            continue
        for title, design in designs.items():
            wanted = {name: (number, HALF) for name, number in design.values.items()}
            wanted |= {heads[0]: (design.lines["expected"], HALF), tau: (design.tau, 0.0051)}
            wanted |= {heads[1]: (design.lines["ceiling"], HALF)}
            for name, (number, half) in wanted.items():
                text = shown[name][title]
                if (number is None) != (text == "") or (text and abs(float(text) - number) > half):
                    faults.append(f"plain table of P@{cutoff}: {text!r} for {name}, {title}")
    return faults


def cutoffs_of(results: Results) -> list[str]:
    """List the cutoffs that were measured."""
    metrics = results.grid.by_label["TI-AN-AR"]
    return [metric.removeprefix("P@") for metric in metrics if metric.startswith("P@")]


def check_explorer(explorer: Locator, results: Results) -> tuple[list[str], int]:
    """Try every combination, with both kinds of scale; give the faults and how many there are."""
    faults = []
    groups = explorer.evaluate(
        """root => [...root.querySelectorAll("fieldset")].map(set =>
          Object.fromEntries([...set.querySelectorAll("input[type=radio]")].map(input =>
            [input.value, input.closest("label").innerText.trim()]))
        ).filter(values => Object.keys(values).length)"""
    )
    wanted = [
        {code: words if code == "R_test" else f"{code}: {words}" for code, words in group.items()}
        for group in BUTTONS
    ]
    wanted.append({cutoff: cutoff for cutoff in cutoffs_of(results)})
    if groups != wanted:
        return [f"the buttons are {groups}"], 0
    combinations = list(itertools.product(*wanted))
    chosen = explorer.evaluate(
        'root => [...root.querySelectorAll("[type=radio]:checked")].map(input => input.value)'
    )
    if tuple(chosen) != START:
        faults.append(f"what is shown first is {' '.join(chosen)}")
    for one_scale, codes in itertools.product((True, False), combinations):
        explorer.evaluate(
            """(root, [one, codes]) => {
              const box = root.querySelector("[name=one-scale]");
              if (box.checked !== one) box.click();
              const sets = [...root.querySelectorAll("fieldset")];
              codes.forEach((code, n) => [...sets[n].querySelectorAll("input")]
                .find(input => input.value === code).click());
            }""",
            [one_scale, codes],
        )
        name = " ".join(codes)
        if reason := NO_DESIGN.get(codes[:-1]):
            told = explorer.locator(".explorer-said").inner_text()
            drawn = explorer.locator(".explorer-bars").is_visible()
            if drawn or reason not in told:
                faults.append(f"{name}: no reason is given")
        else:
            found = check_state(explorer, Design(codes, results))
            faults += [f"{name}: {fault}" for fault in found]
    return faults, len(combinations)


# -- chapter 2: how many sampled items -----------------------------------------------------------


class Sampled:
    """What the table of chapter 2 has at a number of sampled items, worked out here."""

    def __init__(self, table: Table, number: int) -> None:
        frame, self.number = table.frame, number
        self.last = frame[frame["size"] == frame["size"].max()]
        self.own = frame[frame["size"] == number + 1]
        self.cutoff = table.given["cutoff"]
        self.nothing_sampled = number + 1 == frame["size"].max()

    @staticmethod
    def leads(rows: pd.DataFrame) -> dict[str, float]:
        """Give what each system has above Random."""
        found = {"Random": 0.0}
        for row in rows.itertuples():
            if "Random" in (row.a, row.b):
                name, sign = (row.a, 1) if row.b == "Random" else (row.b, -1)
                found[name] = sign * row.value
        return found

    @cached_property
    def values(self) -> dict[str, float]:
        return self.leads(self.own)

    @property
    def tau(self) -> float:
        among_all = self.leads(self.last)
        return kendalltau(list(self.values.values()), [among_all[n] for n in self.values]).statistic

    @property
    def counted(self) -> list[int]:
        """Count the pairs that all items order, those surely in reverse, and those perhaps."""
        factor = norm.isf(0.025 / len(self.last)) / norm.isf(0.025)

        def surely(row: pd.Series) -> int:
            low, high = (
                row["value"] + factor * (row[end] - row["value"]) for end in ("low", "high")
            )
            return int(low > 0) - int(high < 0)

        sure = self.last.set_index(["a", "b"]).apply(surely, axis=1) > 0
        order = self.own.set_index(["a", "b"]).apply(surely, axis=1)[sure]
        return [int(sure.sum()), int((order < 0).sum()), int((order == 0).sum())]


def numbers_of(table: Table) -> list[int]:
    """List the numbers of sampled items at which all pairs are compared, beyond the cutoff."""
    counts = table.frame.groupby("size").size()
    whole = counts[counts == counts.iloc[-1]].index
    return [int(size) - 1 for size in whole if size > table.given["cutoff"] or size == whole[-1]]


def check_sampled(explorer: Locator, table: Table) -> tuple[list[str], int]:
    """Move the slider over all its places; give the faults and how many places there are."""
    slider, faults, numbers = explorer.locator("input[type=range]"), [], numbers_of(table)
    codes = [code for code, _ in json.loads(slider.get_attribute("data-options"))]
    if codes != [str(number) for number in numbers]:
        return [f"the numbers are {codes}"], 0
    chosen = numbers[int(slider.input_value())]
    if table.given["size"] - 1 in numbers and chosen != table.given["size"] - 1:
        faults.append(f"what is shown first is {chosen}")
    for place, number in enumerate(numbers):
        slider.evaluate(
            """(node, place) => {
              node.value = place;
              node.dispatchEvent(new Event("input", {bubbles: true}));
            }""",
            place,
        )
        wanted = Sampled(table, number)
        faults += [f"{number} sampled: {fault}" for fault in _check_sampled(explorer, wanted)]
    return faults, len(numbers)


def _check_sampled(explorer: Locator, wanted: Sampled) -> list[str]:
    shown = explorer.evaluate(
        """root => ({
          rows: [...root.querySelectorAll(".explorer-bars li")].map(row => ({
            name: row.querySelector(".explorer-name").textContent,
            value: Number(row.querySelector(".explorer-value").textContent.replace("\u2212", "-")),
            bar: row.querySelector(".explorer-bar").getBoundingClientRect().width,
          })),
          said: root.querySelector(".explorer-said").textContent,
          tau: root.querySelector(".explorer-tau").textContent,
          told: root.querySelector("output").textContent,
        })"""
    )
    rows = {row["name"]: row for row in shown["rows"]}
    if set(rows) != set(wanted.values):
        return [f"systems {sorted(rows)}"]
    faults, values = [], wanted.values
    order = [values[name] for name in rows]
    if order != sorted(order, reverse=True):
        faults.append("the order is not that of the values")
    longest = max(rows.values(), key=lambda row: row["bar"])
    per_unit = longest["bar"] / (abs(values[longest["name"]]) or 1)
    for name, row in rows.items():
        if abs(row["value"] - values[name]) > HALF:
            faults.append(f"{name}: {row['value']} for {values[name]:.6f}")
        if abs(row["bar"] - per_unit * abs(values[name])) > 1:
            faults.append(f"{name}: a bar of {row['bar']:.1f} px")
    if shown["tau"] != "not defined" and abs(float(shown["tau"]) - wanted.tau) > 0.0051:
        faults.append(f"tau {shown['tau']} for {wanted.tau:.4f}")
    if f"{wanted.number:,}" not in shown["told"]:
        faults.append(f"the slider is said to be at {shown['told']}")
    sure, turned, perhaps = wanted.counted
    if sure and not wanted.nothing_sampled:
        told = re.search(r"Of the (\d+) pairs? .*?, (none|\d+) (?:is|are) surely", shown["said"])
        maybe = re.search(r"and (\d+) (?:more )?may be\.", shown["said"])
        found = [told[1], told[2], maybe[1] if maybe else "none"] if told else []
        if found != [str(number or "none") for number in (sure, turned, perhaps)]:
            faults.append(f"pairs {found} for {sure}, {turned}, {perhaps}")
    return faults


def check_sampled_table(explorer: Locator, table: Table) -> list[str]:
    """Compare the plain table, a column for each number of sampled items, with the results."""
    rows = explorer.locator("table").first.evaluate(
        "table => [...table.rows].map(row => [...row.cells].map(cell => cell.textContent))"
    )
    shown = {row[0]: row[1:] for row in rows[1:]}
    faults, numbers = [], numbers_of(table)
    if len(rows[0]) != len(numbers) + 1:
        return [f"plain table: {len(rows[0]) - 1} columns for {len(numbers)} numbers"]
    for place, number in enumerate(numbers):
        for name, value in Sampled(table, number).values.items():
            if abs(float(shown[name][place]) - value) > HALF:
                faults.append(f"plain table: {shown[name][place]} for {name}, {number} sampled")
    return faults


# -- chapter 4: which test is nearest to the truth -----------------------------------------------

TESTS = ("AR", "1R", "head", "P1R", "UAR", "U1R", "bpref", "infAP", "SR")
NEED_DISLIKES = ("bpref", "infAP")
TRUTHS = {"ten": "P@10", "all": "AUC"}
READ_BY = {"ten": "by the first ten", "all": "by all items"}
FIRST = ("ten", "0.5", "0")
"""What is shown first, and what orders of tests are compared with."""
HALF_OF_TWO = 5.001e-3
"""Numbers are shown with two decimals."""


class Kind:
    """What the worlds of chapter 4 have for a choice, worked out here."""

    def __init__(self, table: Table, codes: tuple[str, ...]) -> None:
        frame = table.frame
        frame = frame[(frame["choice"] == 1) & (frame["skew"] == float(codes[1]))]
        frame = frame[frame["relation"] == float(codes[2])].sort_values("number")
        self.worlds = {name: frame[f"{name}, {TRUTHS[codes[0]]}"].to_numpy() for name in TESTS}
        self.codes, self.n_worlds = codes, len(frame)
        kinds = table.frame[table.frame["choice"] == 1]
        self.n_decisions = len(TRUTHS) * len(kinds[["relation", "skew"]].drop_duplicates())

    @cached_property
    def values(self) -> dict[str, float]:
        return {name: float(values.mean()) for name, values in self.worlds.items()}

    def half(self, name: str) -> float:
        """Give half of the 95 % interval."""
        error = self.worlds[name].std(ddof=1) / self.n_worlds**0.5
        return float(t.ppf(0.975, self.n_worlds - 1) * error)

    def sentence(self, names: tuple[str, ...]) -> tuple[set[str], set[str], bool]:
        """Name who may be said to be nearest, who else cannot be told apart, and if it is near."""
        level = 0.05 / (len(names) - 1) / self.n_decisions
        least = t.ppf(1 - level, self.n_worlds - 1) / self.n_worlds**0.5

        def is_ahead(one: str, other: str) -> bool:
            differences = self.worlds[one] - self.worlds[other]
            return bool(differences.mean() > least * differences.std(ddof=1) + 1e-9)

        behind = {other for other in names if any(is_ahead(name, other) for name in names)}
        most = max(self.values[name] for name in names)
        first = {name for name in names if self.values[name] > most - 1e-9}
        coin = all(self.values[name] - self.half(name) <= 0 for name in first)
        return first, set(names) - behind, coin


def check_kinds(explorer: Locator, table: Table) -> tuple[list[str], int]:
    """Try every kind of worlds by both truths; give the faults and how many there are."""
    choices = choices_of(table)
    chosen = explorer.evaluate(
        """root => [...root.querySelectorAll("[type=radio]:checked")].map(input => input.value)"""
    )
    told = explorer.locator("output").inner_text()
    faults = [] if (*chosen, told) == FIRST else [f"what is shown first is {chosen}, {told}"]
    relations = list(dict.fromkeys(codes[-1] for codes in choices))
    for codes in choices:
        explorer.evaluate(
            """(root, [buttons, place]) => {
              buttons.forEach((code, n) => [...root.querySelectorAll("fieldset")[n]
                .querySelectorAll("input")].find(input => input.value === code).click());
              const slider = root.querySelector("input[type=range]");
              slider.value = place;
              slider.dispatchEvent(new Event("input", {bubbles: true}));
            }""",
            [codes[:-1], relations.index(codes[-1])],
        )
        found = _check_kind(explorer, Kind(table, codes), Kind(table, FIRST))
        faults += [f"{' '.join(codes)}: {fault}" for fault in found]
    return faults, len(choices)


def choices_of(table: Table) -> list[tuple[str, ...]]:
    """List truths, skews and relations, as the address writes them."""
    frame = table.frame[table.frame["choice"] == 1]
    skews, relations = (sorted(set(frame[name])) for name in ("skew", "relation"))
    numbers = ([f"{number:g}" for number in each] for each in (skews, relations))
    return list(itertools.product(TRUTHS, *numbers))


def _check_kind(explorer: Locator, kind: Kind, first: Kind) -> list[str]:
    shown = explorer.evaluate(
        """root => ({
          rows: [...root.querySelectorAll(".explorer-bars li")].map(row => ({
            name: row.querySelector(".explorer-name").textContent,
            value: Number(row.querySelector(".explorer-value").textContent.replace("\u2212", "-")),
            bar: row.querySelector(".explorer-bar").getBoundingClientRect().width,
          })),
          words: root.querySelector(".explorer-said p").textContent.replaceAll("\u2212", "-"),
          note: root.querySelector(".explorer-note").textContent,
          tau: root.querySelector(".explorer-tau").textContent,
        })"""
    )
    rows, values, faults = {row["name"]: row for row in shown["rows"]}, kind.values, []
    if set(rows) != set(TESTS):
        return [f"tests {sorted(rows)}"]
    order = [values[name] for name in rows]
    if any(b > a + 1e-9 for a, b in itertools.pairwise(order)):
        faults.append("the order is not that of the values")
    longest = max(rows.values(), key=lambda row: row["bar"])
    per_unit = longest["bar"] / abs(values[longest["name"]])
    for name, row in rows.items():
        if abs(row["value"] - values[name]) > HALF_OF_TWO:
            faults.append(f"{name}: {row['value']} for {values[name]:.4f}")
        if abs(row["bar"] - per_unit * abs(values[name])) > 1:
            faults.append(f"{name}: a bar of {row['bar']:.1f} px")
    tau = kendalltau(*([each.values[name] for name in TESTS] for each in (kind, first))).statistic
    if abs(float(shown["tau"]) - tau) > 0.0051:
        faults.append(f"tau {shown['tau']} for {tau:.4f}")
    truth, skew, relation = kind.codes
    if not shown["words"].endswith(
        f"(relation {relation}), at skew {skew}; truth {READ_BY[truth]}."
    ) or ("less" in shown["words"], "more" in shown["words"]) != (
        float(relation) < 0,
        float(relation) > 0,
    ):
        faults.append(f"the words are {shown['words']!r}")
    likes = tuple(name for name in TESTS if name not in NEED_DISLIKES)
    for note, names in zip(shown["note"].split(" With likes alone: "), (TESTS, likes), strict=True):
        faults += _check_nearest(note, names, kind)
    return faults


def _check_nearest(note: str, names: tuple[str, ...], kind: Kind) -> list[str]:
    """Compare who is said to be nearest, and told apart from whom, with tests of pairs."""
    first, possible, coin = kind.sentence(names)
    told = re.fullmatch(
        r"(\S+) is (?:surely nearest to the truth|nearest, and cannot be told apart from (.*?))\."
        r"( A coin may do as well\.)?",
        note,
    )
    if not told:
        return [f"nothing is said of who is nearest: {note!r}"]
    others = set((told[2] or "").replace(" and ", ", ").split(", ")) - {""}
    others = set(names) - {told[1]} if others == {"any other"} else others
    if told[1] not in first or others | {told[1]} != possible or bool(told[3]) != coin:
        return [f"{note!r}, but nearest may be {sorted(possible)}, first {sorted(first)}"]
    return []


def check_kind_tables(explorer: Locator, table: Table) -> list[str]:
    """Compare the plain tables, a column for each relation, with the worlds."""
    tables = explorer.evaluate(
        """root => [...root.querySelectorAll("table")].map(table => ({
          title: table.closest("details").querySelector("summary").textContent,
          rows: [...table.tBodies[0].rows].map(row =>
            [...row.cells].map(cell => cell.textContent.replaceAll("\u2212", "-"))),
        }))"""
    )
    choices, faults = choices_of(table), []
    groups = list(dict.fromkeys(codes[:-1] for codes in choices))
    groups.sort(key=lambda codes: codes != FIRST[:-1])
    names = [f"{READ_BY[truth]}, {skew}" for truth, skew in groups]
    names[0] = f"Table of all numbers, {names[0]} first"
    if [each["title"] for each in tables] != names:
        return [f"plain tables of {[each['title'] for each in tables]}"]
    for found, codes in zip(tables, groups, strict=True):
        kinds = [Kind(table, each) for each in choices if each[:-1] == codes]
        wanted = [[name, *(kind.values[name] for kind in kinds)] for name in TESTS]
        for (name, *cells), (own, *values) in zip(found["rows"], wanted, strict=True):
            wrong = len(cells) != len(values) or any(
                abs(float(cell) - value) > HALF_OF_TWO
                for cell, value in zip(cells, values, strict=True)
            )
            if name != own or wrong:
                faults.append(f"plain table of {found['title']}: {cells} for {name}")
    return faults


# -- chapter 8: the curve of universes ------------------------------------------------------------

BRUSHED = ("A2", "C1", "C2")
QUANTILES = (0, 0.1, 0.25, 0.5, 0.75, 0.9, 1)
HALF_OF_THREE = 5.001e-4
"""Numbers are shown with three decimals."""


class Brushed:
    """What the universes with some options say, worked out here."""

    def __init__(self, table: Table, codes: tuple[str, ...]) -> None:
        frame = table.frame
        self.against = list(dict.fromkeys(frame["against"]))[int(codes[0])]
        chosen = frame["against"] == self.against
        for name, code in zip(BRUSHED, codes[1:], strict=True):
            if code != "any":
                chosen &= frame[name] == int(code)
        rows = {row.universe: row for row in frame[chosen].itertuples()}.values()
        ahead = sorted(row.sign * abs(row.effect) for row in rows)
        self.places = [self.between(ahead, share) for share in QUANTILES] if ahead else []
        self.counts = [len(rows)] + [
            sum(row.sign == sign and (row.p < 0.05 or not surely) for row in rows)
            for sign in (1, -1)
            for surely in (False, True)
        ]

    @staticmethod
    def between(ahead: list[float], share: float) -> float:
        """Give the value at a share of the way, between two of them in proportion."""
        at = share * (len(ahead) - 1)
        low = int(at)
        high = min(low + 1, len(ahead) - 1)
        return ahead[low] + (at - low) * (ahead[high] - ahead[low])


def brushes_of(table: Table) -> list[tuple[str, ...]]:
    """List all choices, as the address writes them."""
    frame = table.frame
    of_systems = [str(number) for number in range(frame["against"].nunique())]
    of_options = (["any", *map(str, range(frame[name].max() + 1))] for name in BRUSHED)
    return list(itertools.product(of_systems, *of_options))


def check_universes(explorer: Locator, table: Table) -> tuple[list[str], int]:
    """Try every brush; give the faults and how many there are."""
    faults, choices = [], brushes_of(table)
    for codes in choices:
        explorer.evaluate(
            """(root, codes) => codes.forEach((code, n) =>
              [...root.querySelectorAll("fieldset")[n].querySelectorAll("input")]
                .find(input => input.value === code).click())""",
            codes,
        )
        found = _check_brush(explorer, Brushed(table, codes))
        faults += [f"{' '.join(codes)}: {fault}" for fault in found]
    return faults, len(choices)


def _check_brush(explorer: Locator, wanted: Brushed) -> list[str]:
    shown = explorer.evaluate(
        """root => ({
          values: [...root.querySelectorAll(".explorer-bars li .explorer-value")].map(
            value => Number(value.textContent.replace("\u2212", "-"))),
          bars: [...root.querySelectorAll(".explorer-bars li .explorer-bar")].map(
            bar => bar.getBoundingClientRect().width),
          ranks: [...root.querySelectorAll(".explorer-rank, .explorer-moved")].map(
            each => each.textContent).join(""),
          drawn: root.querySelector(".explorer-bars").getBoundingClientRect().height > 0,
          said: root.querySelector(".explorer-said").textContent,
          note: root.querySelector(".explorer-note")?.textContent ?? "",
        })"""
    )
    if not wanted.places:
        return [] if not shown["drawn"] and "No universe" in shown["said"] else ["bars of nothing"]
    if not shown["drawn"] or len(shown["values"]) != len(wanted.places):
        return ["no bars are drawn"]
    faults = []
    longest = max(range(len(wanted.places)), key=lambda place: shown["bars"][place])
    per_unit = shown["bars"][longest] / (abs(wanted.places[longest]) or 1)
    for value, bar, own in zip(shown["values"], shown["bars"], wanted.places, strict=True):
        if abs(value - own) > HALF_OF_THREE:
            faults.append(f"{value} for {own:.5f}")
        if abs(bar - per_unit * abs(own)) > 1:
            faults.append(f"a bar of {bar:.1f} px for {own:.5f}")
    if shown["ranks"] or "Kendall" in shown["said"]:
        faults.append("places on a curve are ranked")
    told = re.fullmatch(
        r".* is ahead of (.*) in ([\d,]+) of ([\d,]+) universes, surely in ([\d,]+); (.*) is ahead "
        r"in ([\d,]+), surely in ([\d,]+)\. (.*)", shown["note"],
    )  # fmt: skip
    if not told:
        return [*faults, f"nothing is said of who wins: {shown['note']!r}"]
    numbers = [int(told[place].replace(",", "")) for place in (3, 2, 4, 6, 7)]
    if numbers != wanted.counts or {told[1], told[5]} != {wanted.against}:
        faults.append(f"{numbers} against {told[1]} for {wanted.counts} against {wanted.against}")
    sure = (wanted.counts[2] > 0) + (wanted.counts[4] > 0)
    if not told[8].startswith(("Neither is sure", "Only one of both", "Both can be")[sure]):
        faults.append(f"the verdict is {told[8]!r}")
    return faults


def check_universe_tables(explorer: Locator, table: Table) -> list[str]:
    """Compare the plain tables, one for each metric, with the universes."""
    tables = explorer.evaluate(
        """root => [...root.querySelectorAll("table")].map(table =>
          [...table.tBodies[0].rows].map(row => [...row.cells].slice(1).map(cell =>
            Number(cell.textContent.replaceAll("\u2212", "-")))))"""
    )
    faults, choices = [], brushes_of(table)
    metrics = list(dict.fromkeys(codes[-1] for codes in choices))
    if len(tables) != len(metrics):
        return [f"{len(tables)} plain tables for {len(metrics)} metrics"]
    for found, metric in zip(tables, metrics, strict=True):
        wanted = [Brushed(table, codes).places for codes in choices if codes[-1] == metric]
        columns = [list(column) for column in zip(*found, strict=True)]
        own = list(filter(None, wanted))
        if len(columns) != len(own) or any(
            abs(a - b) > HALF_OF_THREE
            for column, places in zip(columns, own, strict=True)
            for a, b in zip(column, places, strict=True)
        ):
            faults.append(f"plain table of metric {metric} has other numbers")
    return faults


# -- all explorers -------------------------------------------------------------------------------


def check_use(browser: Browser, path: Path) -> list[str]:
    """Choose with the keyboard, narrow and wide, light and dark; reload, and find it again."""
    faults = []
    for width, scheme in ((1300, "light"), (390, "dark")):
        context = browser.new_context(
            reduced_motion="reduce", color_scheme=scheme, viewport={"width": width, "height": 900}
        )
        page, asked = context.new_page(), []
        page.on("request", lambda request, asked=asked: asked.append(request.url))
        page.goto(path.as_uri())
        for number in range(page.locator(".explorer").count()):
            explorer = page.locator(".explorer").nth(number)
            control = explorer.locator("input[type=radio]:checked, input[type=range]").first
            said, keys = explorer.locator(".explorer-said"), ("ArrowRight", "ArrowLeft")
            before = said.inner_text()
            for key in keys:  # where a slider ends, it can only go back
                control.focus()
                page.keyboard.press(key)
                if (after := said.inner_text()) != before:
                    break
            if after == before and control.get_attribute("max") != "0":
                faults.append(f"{width} px: the keyboard moves nothing")
            page.reload()
            if said.inner_text() != after:
                faults.append(f"{width} px: {page.url.partition('#')[2]} brings nothing back")
        if (wide := page.evaluate("document.documentElement.scrollWidth")) > width:
            faults.append(f"{width} px: the page is {wide} px wide")
        faults += [f"asks for {url}" for url in asked if not url.startswith(("file:", "data:"))]
        context.close()
    return faults


def check_page(browser: Browser, path: Path, chapter: str) -> tuple[list[str], int]:
    """Check the explorers of a page, with scripts and without."""
    context = browser.new_context(reduced_motion="reduce", viewport={"width": 1400, "height": 900})
    page, faults, tried = context.new_page(), [], 0
    page.goto(path.as_uri())
    explorers = page.locator(".explorer").all()
    if not explorers:
        faults.append("no explorer")
    for explorer in explorers:
        results = _drawn_by(explorer, chapter)
        found, number = _checks_of(explorer, results)[0](explorer, results)
        faults, tried = faults + found, tried + number
    context.close()
    faults += check_use(browser, path)
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(path.as_uri())
    for explorer in page.locator(".explorer").all():
        if explorer.locator("form").is_visible():
            faults.append("without scripts there are buttons that do nothing")
        if not explorer.locator("table").first.is_visible():
            faults.append("without scripts there is no table")
        results = _drawn_by(explorer, chapter)
        faults += _checks_of(explorer, results)[1](explorer, results)
    context.close()
    return faults, tried


def _checks_of(explorer: Locator, results: Results | Table) -> tuple[Callable, Callable]:
    """Find what checks an explorer, and its plain tables."""
    if isinstance(results, Results):
        return check_explorer, check_tables
    if explorer.get_attribute("id") == "truth":
        return check_kinds, check_kind_tables
    if explorer.get_attribute("id") == "universes":
        return check_universes, check_universe_tables
    return check_sampled, check_sampled_table


def _drawn_by(explorer: Locator, chapter: str) -> Results | Table:
    return results_of(json.loads(explorer.locator("script").text_content()), chapter)


def main() -> int:
    """Check the site named on the command line."""

    def check(browser: Browser, site: Path, path: Path) -> tuple[list[str], int]:
        return check_page(browser, path, path.stem)

    return check_pages(PAGES, check, "combinations")


if __name__ == "__main__":
    sys.exit(main())
