"""What the page of chapter 7 shows beside verdicts, counted by hand: figures, titles, tables."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import shown
from recbias.book import findings
from recbias.book.chapters.offline_option_taxonomy import (
    figures,
    figures_of_decisions,
    tables,
    truths,
)
from recbias.book.chapters.offline_option_taxonomy.plain import Session, measured
from recbias.book.chapters.offline_option_taxonomy.setup import (
    FILLS,
    KNN,
    OVERLAPS,
    READINGS,
)
from recbias.book.figures import differences
from recbias.claims.regions import Region
from recbias.experiment.decisions import CHOICES, DECISIONS
from recbias.experiment.makers import Table
from recbias.experiment.options import Options
from recbias.experiment.results import Quantity

MF, RS = READINGS
REFUSING = f"{KNN} k=10 overlap=20"


def quantity(value: float, spread: float = 0.01) -> Quantity:
    """Make a quantity whose interval is its value minus and plus about twice a spread."""
    steps = np.random.default_rng(1).normal(size=400)
    return Quantity(value, value + spread * (steps - steps.mean()) * (1 + value), "percentile")


class Shown(dict[tuple[str, str, str], Quantity]):
    """Results as far as figures read them."""

    n_seeds = 5
    dataset: Mapping[str, str] = {"title": "A world"}

    @property
    def grid(self) -> Any:
        by_label: dict[str, tuple[str, ...]] = {}
        for label, metric in dict.fromkeys(names[1:] for names in self):
            by_label[label] = (*by_label.get(label, ()), metric)
        mf = [SimpleNamespace(name=name, n_seeds=self.n_seeds) for name in READINGS]
        return SimpleNamespace(by_label=by_label, systems=mf)


def results_of(values: dict[tuple[str, str], tuple[float, float, float]]) -> Shown:
    """Give kNN and both readings of MF values, by label and metric."""
    names = (KNN, MF, RS)
    return Shown(
        {
            (name, *cell): quantity(value)
            for cell, own in values.items()
            for name, value in zip(names, own, strict=True)
        }
    )


_CELLS = {
    "full": ("nDCG@10", "P@10", "nDCG@1", "nDCG@100", "nDCG(exp)@10", "RBP(0.8)"),
    "condensed": ("nDCG@10", "tau", "RBO(0.8)"),
    **dict.fromkeys(
        ("everybody", "relevant", "by ratings", "by positives", "geometric", "median"),
        ("nDCG@10",),
    ),
}
CELLS = pd.DataFrame(
    [
        (seed, "geometric", metric, name, 0.5, value, value - 0.1, value + 0.1)
        for seed, shift in ((2, 9.0), (1, 0.0))
        for metric in ("P@10", "nDCG@10")
        for name, value in ((MF, 0.3 + shift), (RS, 0.05 + shift))
    ],
    columns=["seed", "label", "metric", "system", "knn", "value", "low", "high"],
)
"""Geometric means of two splits, of which the first is shown."""
START = {(label, metric): (0.5, 0.3, 0.5) for label, own in _CELLS.items() for metric in own}


def made(index: tuple[str, ...], rows: list[tuple[Any, ...]], *values: str) -> Any:
    """Make a table of rows."""
    return SimpleNamespace(frame=pd.DataFrame(rows, columns=[*index, *values]), dataset=None)


def untold(name: str, results: Any, **forms: str) -> str:
    """Stand in for what records say, which are judged on whole results."""
    return name


# -- all options in one picture --------------------------------------------------------------------


def test_each_configuration_is_compared_in_percent_of_its_value() -> None:
    start = START | {("full", "nDCG@10"): (0.5, 0.3, 0.8), ("condensed", "tau"): (0.1, 0.1, 0.0)}
    figure = figures.configurations({"systems": results_of(start)})
    found = figure.rows.set_index("row")
    assert found.loc["the start: nDCG@10", "value"] == pytest.approx(100 * (0.5 - 0.8) / 0.8)
    assert (found["low"] <= found["value"]).all()
    assert (found["value"] <= found["high"]).all()
    assert "C2 liked from one lower" not in found.index  # not measured here
    assert "C2C Kendall's tau" not in found.index  # MF has nothing to be a percent of
    assert len(found) == 11
    assert figure.title.endswith("kNN is ahead in 0 of 11 rows, MF in 1")


def test_what_merged_stars_cannot_tell_is_left_out() -> None:
    given = results_of(START | {("condensed", "tau"): (0.1, 0.1, 0.9)})
    kept = figures.configurations({"systems": given})
    given.dataset = {"title": "MovieLens (stars 1-3 merged)"}
    fewer = figures.configurations({"systems": given})
    gone = [row for row in kept.rows["row"] if row not in fewer.rows["row"].tolist()]
    assert gone == ["C2 graded gain", "C2C Kendall's tau", "C2C RBO(0.8)"]
    n = len(kept.rows)
    assert kept.title.endswith(f"kNN is ahead in 0 of {n} rows, MF in 1")
    assert fewer.title.endswith(f"kNN is ahead in 0 of {n - 3} rows, MF in 0")


@pytest.mark.parametrize(
    ("start", "others", "told"),
    [
        (0, {"A2": (1, -1), "C3": (1, 0)}, "How ratings are split (A2) can make either win; "
         "how users are averaged (C3) can make kNN win."),
        (1, {"B1": (1, 0), "C1": (-1,)}, "kNN is ahead at the start; what is ranked (C1) "
         "can make MF win."),
        (1, {"B1": (1, 1)}, "None of these alone: kNN is ahead, whichever is taken."),
        (-1, {"B1": (-1, 0)}, "None of these alone: MF is ahead, or nobody is for certain, "
         "whichever is taken."),
        (0, {"B1": (0,)}, "None of these alone: nobody is ahead, whichever is taken."),
    ],
)  # fmt: skip
def test_the_decisions_that_turn_the_winner_are_named(
    start: int, others: dict[str, tuple[int, ...]], told: str
) -> None:
    rows = [("start", start), *((group, sign) for group in others for sign in others[group])]
    frame = pd.DataFrame(rows, columns=["group", "sign"])
    frame = frame.assign(low=frame["sign"] - 0.5, high=frame["sign"] + 0.5)
    assert tables.deciding(frame) == told


@pytest.mark.parametrize(("mf", "winner"), [(0.3, "kNN"), (0.8, "MF")])
def test_a_winner_that_no_decision_turns_is_told(mf: float, winner: str) -> None:
    start = dict.fromkeys(START, (0.5, 0.3, mf))
    title = figures.configurations({"systems": results_of(start)}).title
    assert title == f"None of these turns the winner:\n{winner} is ahead in all 12 rows"


def test_ratios_stand_where_they_were_measured() -> None:
    given = {
        "systems": results_of(START | {("looser", "nDCG@10"): (0.5, 0.3, 0.5)}),
        "ratio_20": results_of({("full", "nDCG@10"): (0.3, 0.1, 0.2)}),
        "ratio_30": results_of({("full", "nDCG@10"): (0.3, 0.1, 0.1)}),
    }
    found = figures.configurations(given).rows
    assert found["row"].tolist()[:3] == [
        "the start: nDCG@10",
        "A2 train on 20 %",
        "B1 everybody counts",
    ]
    assert found["value"][1] == pytest.approx(50)
    assert "C2 liked from one lower" in found["row"].tolist()
    assert found["row"].is_unique


def test_nobody_is_ahead_of_what_was_trained_once() -> None:
    once = results_of(START | {("full", "nDCG@10"): (0.5, 0.3, 0.8)})
    once.n_seeds = 1
    figure = figures.configurations({"systems": once})
    assert figure.rows[["low", "high"]].isna().all(axis=None)
    given = ratios({20: (0.4, 0.3, 0.1)})
    given["ratio_20"].n_seeds = 1
    for title in (figure.title, figures.ratios(given, None).title):
        assert title.startswith("MF was trained once")
    assert tables.deciding(figure.rows).startswith("That is open here: MF was trained once")


# -- lines -----------------------------------------------------------------------------------------


def ratios(ahead: dict[int, tuple[float, float, float]]) -> dict[str, Any]:
    return {
        f"ratio_{ratio}": results_of(
            {
                ("full", "nDCG@10"): values, ("condensed", "nDCG@10"): values,
                ("full", "judged@10"): (0.25, 0.5, 0.75),
            }
        )
        for ratio, values in ahead.items()
    }  # fmt: skip


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({10: 0.4, 20: 0.4}, "at every ratio"),
        ({10: 0.2, 20: 0.2}, "at no ratio"),
        ({10: 0.4, 20: 0.4, 30: 0.4, 40: 0.2}, "at 10 to 30 %"),
        ({10: 0.4, 20: 0.2, 50: 0.4}, "at 10, 50 %"),
    ],
)
def test_the_title_tells_the_ratios_at_which_knn_is_ahead(
    values: dict[int, float], told: str
) -> None:
    given = ratios({ratio: (value, 0.3, 0.1) for ratio, value in values.items()})
    lines = figures.ratios(given, None).title.splitlines()
    assert lines[1:] == [f"MF (as printed): {told}", "MF (as in RankSys): at every ratio"]


def test_the_title_leaves_out_ratios_at_which_the_interval_leaves_it_open() -> None:
    given = ratios({20: (0.31, 0.3, 0.1), 80: (0.4, 0.3, 0.1)})
    given["ratio_20"][MF, "full", "nDCG@10"] = quantity(0.3, 0.05)
    gap = given["ratio_20"][KNN, "full", "nDCG@10"] - given["ratio_20"][MF, "full", "nDCG@10"]
    assert gap.interval[0] < 0 < gap.value
    assert "MF (as printed): at 80 %" in figures.ratios(given, None).title


def test_other_seeds_are_runs_of_their_own() -> None:
    given = ratios({20: (0.4, 0.3, 0.1)})
    rows = [
        (seed, 20, label, metric, KNN, seed / 10)
        for seed in (1, 2, 3)
        for label in ("full", "condensed")
        for metric in ("P@10", "nDCG@10")
    ]
    seeds = made(("seed", "ratio", "label", "metric", "system"), rows, "value")
    found = figures.ratios(given, seeds).rows
    own = found[(found["panel"] == "full lists") & (found["line"] == "kNN")]
    assert own[["run", "value"]].to_numpy().tolist() == [[1, 0.4], [2, 0.2], [3, 0.3]]
    assert own["low"].notna().tolist() == [True, False, False]
    assert len(figures.ratios(given, None).rows) == 6


def test_the_best_number_of_neighbours_is_told_for_each_policy() -> None:
    sizes = {1: f"{KNN} k=1", 3: f"{KNN} k=3", 10: f"{KNN} k=10", 30: f"{KNN} k=30", 100: KNN}
    best = dict(zip(FILLS, (100, 30, 10, 1), strict=True))
    fills = Shown(
        {
            (name, fill, metric): quantity(0.9 if size == best[fill] else 0.5)
            for size, name in sizes.items()
            for fill in FILLS
            for metric in ("nDCG@10",)
        }
    )
    rows = [(2, "none", "nDCG@10", KNN, 0.2), (1, "none", "nDCG@10", KNN, 0.9)]
    seeds = made(("seed", "fill", "metric", "system"), rows, "value")
    figure = figures.fills(fills, seeds)  # type: ignore[arg-type]
    found = figure.rows
    assert (found["run"] == 2).sum() == 1
    assert figure.title.splitlines() == [
        "Left out, 100 neighbours are best;",
        "put last by mean rating, 1 neighbour",
    ]


def test_the_overlap_from_which_an_average_puts_knn_first() -> None:
    values = dict(zip(OVERLAPS, (0.2, 0.25, 0.35, 0.4, 0.5), strict=True))
    overlaps = Shown({(name, "full", "P@10"): quantity(0.3) for name in (MF, RS)})
    for each, reduced in values.items():
        name = f"{KNN} k=10 overlap={each}"
        overlaps[name, "reduced", "P@10"] = quantity(reduced)
        overlaps[name, "full", "P@10"] = quantity(0.3 - each / 1000)
    figure = figures.overlap(overlaps)  # type: ignore[arg-type]
    found = figure.rows
    told = figure.title
    assert told.endswith("\nfull average: never\nreduced average: from an overlap of 10")
    assert "trained once" not in told
    overlaps.n_seeds = 1
    once = figures.overlap(overlaps).title  # type: ignore[arg-type]
    assert once.startswith("Where kNN is above both readings of MF (trained once):\n")
    moved = (found["at"] == OVERLAPS[0]) & found["line"].str.startswith("kNN")
    other = found.assign(value=found["value"].where(~moved, found["value"] + 0.3))
    told = replace(figure, rows=other).title
    assert "full average: at an overlap of 1 only\n" in told
    assert told.endswith("reduced average: at an overlap of 1, 10, 20, 40 only")
    never = found.assign(value=found["value"].where(~found["line"].str.startswith("kNN"), 0.1))
    assert replace(figure, rows=never).title.startswith("By neither average is kNN")


# -- significance, reversals, worlds ---------------------------------------------------------------


def test_a_cell_is_for_whom_it_is_significant() -> None:
    signs = {
        ("P@10", 1): (-0.1, 0.01), ("P@10", 2): (-0.1, 0.05), ("nDCG@10", 1): (0.1, 0.049),
        ("nDCG@10", 2): (0.1, 0.01), ("RBP(0.5)", 1): (0.1, 0.01), ("RBP(0.8)", 1): (0, np.nan),
    }  # fmt: skip
    rows = [
        (seed, "full", metric, name, value if name == RS else 9.0, p)
        for (metric, seed), (value, p) in signs.items()
        for name in READINGS
    ]
    table = made(("seed", "label", "metric", "system"), rows, "value", "p")
    figure = figures.significance(table)
    found = figure.rows.set_index("row")
    sides = found[["kNN ahead", "not significant", "MF ahead"]]
    assert sides.index.tolist() == ["full: P@10", "full: nDCG@10", "full: RBP(0.8)"]
    assert sides.to_numpy().tolist() == [[0, 50, 50], [100, 0, 0], [0, 100, 0]]
    told = "2 splits give one answer in 2 of 3 cells\n(in 1: nobody)"
    assert figure.title == f"{told}; no cell has both winners"
    for n_both, ends in ((1, "1 cell has"), (2, "2 cells have")):
        mixed = figure.rows.copy()
        mixed.loc[: n_both - 1, ["kNN ahead", "not significant", "MF ahead"]] = (50, 0, 50)
        assert replace(figure, rows=mixed).title.endswith(f"; {ends} both winners")
    one = made(("seed", "label", "metric", "system"), [row for row in rows if row[0] == 1],
               "value", "p")  # fmt: skip
    told = figures.significance(one).title
    assert told.startswith("Of this one training, on this split:\n")
    assert told.endswith("in 1 of 3 cells, MF in 1")


def test_the_title_of_worlds_turns_with_the_record_of_its_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = shown.recorded("07_offline_options")["worlds"]
    topic, record = "offline option taxonomy", "WORLDS-CONDENSED"
    own = dict(findings.own_findings(topic))
    titles = set()
    for end in (-1e9, 1e9):
        moved = {**own, record: replace(own[record], region=Region(above=end))}
        monkeypatch.setattr(findings, "own_findings", defaultdict(dict, {topic: moved}).__getitem__)
        titles.add(figures_of_decisions.worlds(table).title)
    assert len(titles) == 2


def test_gains_are_told_for_each_kind_of_worlds_as_the_figure_has_them() -> None:
    table = shown.recorded("07_offline_options")["worlds"]
    told = tables.gains(table, "C1 condensed").replace("\N{MINUS SIGN}", "-").split(", ")
    rows = figures_of_decisions.worlds(table).rows
    own = rows.loc[rows["row"] == "C1 condensed", ["line", "value"]]
    assert [int(words.split()[0]) for words in told] == own["value"].round().astype(int).tolist()
    ends = [line.removeprefix("popular: ") for line in own["line"]]
    assert [end in words for end, words in zip(ends, told, strict=True)] == [True, False, True]


def decisions() -> Any:
    rows = [
        ("noise", "another split", 91, 80, 80, 0, 3, 2, 0.01, 0.25, 0.05),
        ("A2", "ratio 0.2", 91, 80, 70, 5, 9, 10, 0.2, 0.5, 0.3),
        ("B2", "filled, average-rating", 91, 80, 80, 0, 0, 0, 0.0, 0.0, 0.0),
        ("C2", "P@10", 91, 80, 80, 0, 3, 1, 0.01, 0.5, 0.1),
        ("C2", "nDCG@5", 91, 80, 80, 0, 0, 0, 0.0, 0.0, 0.1),
        ("D", "sign", 91, 80, 70, 0, 0, 10, 0.0, 0.0, 0.0),
    ]
    return made(
        ("decision", "option"), rows, "pairs", "resolved", "resolved_other", "reversed", "turned",
        "significance", "survives", "effect", "moved",
    )  # fmt: skip


def test_options_that_merged_stars_cannot_tell_are_not_counted() -> None:
    """On merged stars a lower threshold that moves nothing is the same evaluation."""
    given = decisions()
    for option, moved in (("liked from 3", 0.0), ("liked from 5", 0.1), ("nDCG(exp)@10", 0.1)):
        row = {**given.frame.iloc[3], "option": option, "moved": moved, "turned": 9}
        given.frame.loc[len(given.frame)] = row
    assert figures_of_decisions.reversals(given).title.startswith("3 of 7 alternatives")
    given.dataset = {"title": "MovieLens 1M (stars 1-3 merged)"}
    figure = figures_of_decisions.reversals(given)
    assert figure.title.startswith("2 of 5 alternatives")
    assert figure.rows["row"].tolist()[-1] == "C2 liked from 5"
    told = [line for line in tables.reversals_table(given).splitlines() if "merged" in line]
    assert [line.split(" | ")[0] for line in told] == ["| C2 liked from 3", "| C2 nDCG(exp)@10"]


def test_bars_are_shares_of_the_pairs_and_none_where_nothing_moved() -> None:
    figure = figures_of_decisions.reversals(decisions())
    bars = figure.rows
    assert bars["row"].tolist() == ["A2 train on 80 %", "B2 filled, mean rating", "C2 P@10",
                                    "C2 nDCG@5"]  # fmt: skip
    np.testing.assert_allclose(bars["both significant"], [500 / 91, np.nan, 0.0, 0.0])
    np.testing.assert_allclose(bars["sign differs"], [900 / 91, np.nan, 300 / 91, 0.0])
    assert figure.title == "1 of 4 alternatives turn more pairs\nthan another split does (3 %)"
    assert tables.turning_most(decisions(), "turned") == "A2 train on 80 %"


def test_the_table_of_decisions_has_a_dash_where_no_sign_turned() -> None:
    lines = tables.reversals_table(decisions()).splitlines()
    assert lines[2] == "| another split | 80 | 3 | 0 | 2 | 0.0100; 0.25 |"
    assert lines[4] == "| B2 filled, mean rating | 80 | 0 | 0 | 0 | no effect here |"
    assert lines[6] == "| C2 nDCG@5 | 80 | 0 | 0 | 0 | \N{EN DASH} |"
    assert len(lines) == 8


def test_alternatives_are_compared_with_the_default_of_their_world(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(figures_of_decisions, "said", untold)
    rows = [
        (relation, seed, decision, option, 50, right + 4, 4)
        for relation in (0.6, -0.6)
        for seed in (1, 2, 3)
        for decision, option, right in (
            ("the default", "the default", 20 + seed),
            ("C1", "condensed", 30 + seed + (relation > 0) * seed / 100),
            ("D", "sign", 10),
            ("C2", "P@10", 15 + (40 * (relation < 0))),
            ("C2C", "tau", 33 + seed + (relation > 0) * seed / 100),
        )
    ]
    names = ("relation", "seed", "decision", "option")
    worlds = made(names, rows, "resolved", "right", "wrong")
    figure = figures_of_decisions.worlds(worlds)
    found = figure.rows
    assert found["line"].unique().tolist() == ["popular: liked more", "popular: liked less"]
    assert found["row"].unique().tolist() == ["C1 condensed", "C2 P@10", "C2C tau"]
    own = found.set_index(["line", "row"])
    assert own.loc[("popular: liked less", "C1 condensed"), "value"] == pytest.approx(20.0)
    assert own.loc[("popular: liked more", "C2 P@10"), "value"] == pytest.approx(-14.0)
    assert own.loc[("popular: liked less", "C2C tau"), "value"] == pytest.approx(
        6.0
    )  # beside condensed lists
    wrong = made(names, [(*row[:-1], 6 if row[3] == "condensed" else 4) for row in rows],
                 "resolved", "right", "wrong")  # fmt: skip
    less = figures_of_decisions.worlds(wrong).rows.set_index(["line", "row"])["value"]
    assert less["popular: liked less", "C1 condensed"] == pytest.approx(16.0)
    assert less["popular: liked less", "C2C tau"] == pytest.approx(10.0)
    text = tables.worlds_table(worlds).splitlines()
    assert text[0] == "|  | popular: liked more | popular: liked less |"
    assert text[2].startswith("| C1 condensed | 20 (")


def worlds_of(right: dict[tuple[str, str], tuple[float, ...]]) -> Table:
    """Worlds of two kinds, of whose 50 resolved pairs an option is right about so many, and wrong
    about two, but for the geometric mean."""
    rows = [
        (relation, seed, decision, option, 50, numbers[place], 15 if "geometric" in option else 2)
        for place, (relation, seed) in enumerate(((0.6, 1), (0.6, 2), (-0.6, 1), (-0.6, 2)))
        for (decision, option), numbers in right.items()
    ]
    names = ("relation", "seed", "decision", "option")
    return made(names, rows, "resolved", "right", "wrong")


RIGHT = {
    ("the default", "the default"): (20, 22, 21, 20),
    ("A2", "ratio 0.2"): (30, 31, 30, 32),
    ("A2", "uniform 0.2"): (40, 42, 40, 43),
    ("B2", "filled, random"): (20, 22, 21, 20),
    ("C1", "condensed"): (50, 50, 50, 50),
    ("C2", "P@10"): (22, 21, 20, 22),
    ("C2", "AP"): (10, 9, 10, 11),
    ("C3", "median"): (0, 1, 0, 2),
    ("C3", "geometric mean"): (21, 23, 22, 21),
    ("C2", "RR"): (24, 20, 20, 21),
    ("D", "sign"): (18, 20, 19, 18),
}


def test_the_commonest_option_is_held_against_all_rivals_of_its_decision() -> None:
    found = truths.compare_with_rivals(worlds_of(RIGHT)).set_index(["decision", "rival"])
    assert sorted(found.index) == sorted(
        [("A2", "uniform 0.2"), ("A2", "the default"), ("C2", "AP"), ("C2", "RR"),
         ("C2", "the default"), ("C3", "median"), ("C3", "geometric mean")]
    )  # fmt: skip
    row = found.loc[("A2", "uniform 0.2")]
    gaps = np.array([10, 11, 10, 11]) / 50
    half = stats.t.ppf(1 - 0.025 / 7, 3) * gaps.std(ddof=1) / 2  # of seven rivals together
    assert row["value"] == pytest.approx(-gaps.mean())
    assert (row["low"], row["high"]) == pytest.approx((-gaps.mean() - half, -gaps.mean() + half))
    assert (row["right"], row["wrong"]) == pytest.approx((123 / 200, 2 / 50))
    lines = tables.commonest_table(worlds_of(RIGHT)).splitlines()[2:]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert cells[0] == [
        "A2 train on 80 %", "2 of 4", "62\N{NO-BREAK SPACE}% / 4\N{NO-BREAK SPACE}%",
        "less: random halves<br>better: uniform over items",
    ]  # fmt: skip
    assert [row[3] for row in cells[1:]] == [
        "less: AP<br>open: RR; nDCG@10", "less: median; geometric mean",
    ]  # fmt: skip


def test_the_commonest_options_are_those_that_most_papers_took() -> None:
    named = {each.decision for each in CHOICES}
    for decision in named - {"C2C"}:  # which is about condensed lists alone
        used = {each.text: len(each.used) for each in CHOICES if each.decision == decision}
        commonest = [text for text, n in used.items() if n == max(used.values())]
        told = [text for _, text in filter(None, [truths.COMMONEST.get(decision)])]
        assert told == (commonest if len(commonest) == 1 else []), decision


# -- tables ----------------------------------------------------------------------------------------


def test_cells_are_bold_where_they_are_significant() -> None:
    frame = pd.DataFrame(
        [
            {"knn": 0.5, **{f"{name}{end}": value for name in READINGS for end, value in (
                ("", 0.4), (" gap", gap), (" p", p))}}
            for gap, p in ((0.1, 0.049), (-0.1, 0.05))
        ],
        index=pd.MultiIndex.from_tuples([("full", "P@10"), ("full", "nDCG@10")]),
    )  # fmt: skip
    lines = tables.cells_table(frame).splitlines()
    assert lines[2].startswith("| *full lists:* P@10 | 0.5000 | **+0.1000** (0.049) |")
    assert lines[3].startswith("| nDCG@10 | 0.5000 | −0.1000 (0.05) |")


def test_who_is_refused_is_told_or_nobody() -> None:
    rows = [
        (overlap, name, 10, refused, 5.25, tests, 0.5, mf, gain)
        for name in READINGS
        for overlap, refused, tests, mf, gain in (
            (20, 4, 2.0, 0.1, -0.02), (1, 0, np.nan, np.nan, 0.0),
        )
    ]  # fmt: skip
    refused = made(
        ("overlap", "system"), rows, "n_served", "n_refused", "tests_served", "tests_refused",
        "mf_served", "mf_refused", "gain",
    )  # fmt: skip
    lines = tables.refused_table(refused).splitlines()
    assert lines[2] == "| 1 | 10 / 0 | 5.2 / – | 0.500 / – | +0.0000 |"
    assert lines[3] == "| 20 | 10 / 4 | 5.2 / 2.0 | 0.500 / 0.100 | −0.0200 |"


def test_averages_are_bold_where_the_interval_is_without_0() -> None:
    values = {
        (label, metric): (0.5, 0.3, 0.5)
        for label in ("full", "by ratings", "by positives", "geometric", "median")
        for metric in ("P@10", "nDCG@10")
    }
    cells: Any = SimpleNamespace(frame=CELLS)
    lines = tables.averages_table(results_of(values), cells).splitlines()  # type: ignore[arg-type]
    row = "| geometric mean | 0.5000 | **+0.3000** | +0.0500 | 0.5000 | **+0.3000** | +0.0500 |"
    assert lines[5] == row  # of the cells, not of the start
    assert lines[2].startswith("| mean over users | 0.5000 | **+0.2000** | +0.0000 | 0.5000 |")
    assert len(lines) == 7


def test_the_taxonomy_names_every_decision_once_and_every_option() -> None:
    lines = tables.options_table().splitlines()[2:]
    assert len(lines) == len(DECISIONS) + len(CHOICES)
    for code, question in DECISIONS.items():
        assert lines.count(f"| **{code}** | **{question}** |  |") == 1


def test_the_paragraph_on_methods_is_quoted_without_the_line() -> None:
    options = Options.parse("split: ratio 0.5; lists: AI-AN-AR rel>=4; metric: nDCG(exp)@10")
    facts = {"title": "A world", "n_ratings": 1000, "n_users": 10, "n_items": 20}
    text = tables.methods_quote(options, facts)
    assert text.startswith("> The data (A world) are 1,000 ratings")
    assert "\n" not in text
    assert "split:" not in text
    assert text.endswith(".")


def test_truths_are_told_where_there_are_unbiased_judgments() -> None:
    assert tables.truths_details(None) == ""
    rows = [("the default", "the default", 70, 50, 2, 60), ("C1", "condensed", 70, 61, 1, 66)]
    found = made(("decision", "option"), rows, "resolved", "right", "wrong", "signs")
    lines = tables.truths_details(found).splitlines()[2:]
    assert lines[2:4] == [
        "| the default | 70 | 50 | 2 | 60 |",
        "| C1 condensed | 70 | 61 | 1 | 66 |",
    ]
    assert lines[4] == ""
    assert lines[5].startswith("*Told apart: ")


def test_the_table_of_judgments_is_that_of_the_records() -> None:
    lines = tables.held_table(shown.recorded("07_offline_options")).splitlines()[2:]
    told = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert told == [
        ["CM100k", "37 / 17 of 82", "36 / 3 of 82"],
        ["Coat", "17 / 3 of 35", "23 / 0 of 35"],
    ]
    assert tables.held_table({}).count("–") == 8


def test_the_case_by_hand_is_counted_rightly() -> None:
    text = (shown.NOTEBOOKS / "07_offline_options.py").read_text(encoding="utf-8")
    rated = {"Ann": {0: 5, 1: 4}, "Bob": {1: 5, 2: 2, 3: 4}}
    lists = {}
    for system in "XY":
        row = next(line for line in text.splitlines() if line.startswith(f"# | {system} |"))
        cells = [cell.split() for cell in row.strip("#| ").split("|")[1:]]
        lists[system] = [
            Session(tuple("ABCD".index(item) for item in cell), rated[user])
            for user, cell in zip(rated, cells, strict=True)
        ]

    def precision(system: str, depth: int = 2, **how: Any) -> float:
        weights = how.pop("weights", (1, 1))
        values = measured(lists[system], f"P@{depth}", **how).ravel()
        return float(np.average(values, weights=weights))

    def of_five(system: str) -> float:
        hits = [[each.ratings.get(i, 0) == 5 for i in each.listed[:2]] for each in lists[system]]
        return float(np.mean(hits))

    for words, value in {
        "start: P@2": precision,
        "C1: rank only": lambda s: precision(s, condensed=True),
        "C2: look at the first": lambda s: precision(s, 1),
        "C2: only five stars": of_five,
        "C3: a user weighs": lambda s: precision(s, weights=(2, 3)),
        "C4: users without": precision,
    }.items():
        row = next(line for line in text.splitlines() if line.startswith(f"# | {words}"))
        x, y = (value(system) for system in "XY")
        assert row.endswith(f"| {x:.2f} | {y:.2f} | {'X' if x > y else 'Y'} |")


def test_who_wins_is_told_by_the_interval() -> None:
    found = pd.DataFrame(
        [
            ("C1", "sure", 0.2, 0.1, 0.3), ("C1", "lost", -0.2, -0.3, -0.1),
            ("C2", "touches", 0.2, 0.0, 0.3), ("C2", "open", -0.1, -0.3, 0.1),
        ],
        columns=["group", "row", "value", "low", "high"],
    )  # fmt: skip
    picture = differences(found, title="", winners=("kNN ahead", "MF ahead"), across="x")
    (axis,) = picture.axes
    marked = {
        container.lines[0].get_marker(): list(container.lines[0].get_xdata())
        for container in axis.containers
    }
    assert marked == {"o": [0.2], "s": [-0.2], "D": [0.2, -0.1]}
    parted = [line.get_ydata()[0] for line in axis.lines if line.get_color() == "0.7"]
    assert parted == [1.5]
