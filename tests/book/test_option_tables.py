"""Tables of chapter 7: cells, splits, fills, depths, refused users, profiles, decisions, truths."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from chapter_grids import fill_grid, overlap_grid, ratio_grid, start_grid
from expressions_at import value_of
from recbias import Grid, run
from recbias.book.chapters import offline_option_taxonomy as chapter
from recbias.book.chapters.offline_option_taxonomy import decisions, splits, truths
from recbias.book.chapters.offline_option_taxonomy.users import (
    Users,
    compare_users,
    each_seed,
    measure_users,
)
from recbias.claims.evidence import NotComputed, NotTestable
from recbias.claims.parts import Part
from recbias.claims.records import Record
from recbias.data.datasets import load_dataset
from recbias.errors import ConfigError
from recbias.experiment import makers
from recbias.experiment.cells import grid_cells
from recbias.experiment.makers import Table
from recbias.experiment.options import Options
from recbias.experiment.outcomes import Outcome, evaluate
from recbias.experiment.reduction import Reader
from recbias.experiment.results import Quantity
from recbias.protocol.testset import dataset_splits
from recbias.ranking import depth_map

DATA = "synthetic"


@pytest.fixture(scope="module")
def start() -> Grid:
    return start_grid(DATA, 4, seed=1)


def make(name: str, **parameters: Any) -> Table:
    made = makers.find_maker(f"07_offline_options/{name}")(DATA, **parameters)
    assert isinstance(made, Table)
    return made


# -- tests over users ------------------------------------------------------------------------------


def test_a_weighted_difference_has_the_error_that_resampling_finds() -> None:
    rng = np.random.default_rng(2)
    weights = rng.integers(1, 30, 400).astype(float)
    a, b = rng.random(400) + weights / 100, rng.random(400)
    found = compare_users(Users(a, weights, 0.0), Users(b, weights, 0.0))
    assert found.value == pytest.approx(((a - b) * weights).sum() / weights.sum())
    drawn = rng.integers(0, 400, (4000, 400))
    means = ((a - b) * weights)[drawn].sum(axis=1) / weights[drawn].sum(axis=1)
    assert (found.high - found.low) / 2 == pytest.approx(1.966 * means.std(), rel=0.05)


def test_unweighted_and_geometric_differences_are_tested_as_scipy_does() -> None:
    rng = np.random.default_rng(3)
    a, b = rng.random(60), rng.random(60) + 0.1
    even = np.ones(60)
    found = compare_users(Users(a, even, a.mean()), Users(b, even, b.mean()))
    assert found.p == pytest.approx(stats.ttest_rel(a, b).pvalue)
    low, high = stats.ttest_rel(a, b).confidence_interval()
    assert (found.low, found.high) == pytest.approx((low, high))
    x, y = np.log(a + 1e-5), np.log(b + 1e-5)
    means = [float(np.exp(each.mean()) - 1e-5) for each in (x, y)]
    logs = compare_users(Users(x, even, means[0]), Users(y, even, means[1]), geometric=True)
    assert logs.p == pytest.approx(stats.ttest_rel(x, y).pvalue)
    assert logs.value == pytest.approx(means[0] - means[1])
    assert logs.low < logs.value < logs.high


def test_users_who_are_not_counted_do_not_count() -> None:
    nobody = np.array([0.3, np.nan, 0.1, 0.5])
    weights = np.array([1.0, 0.0, 1.0, 1.0])
    other = np.array([0.1, np.nan, 0.2, 0.2])
    found = compare_users(Users(nobody, weights, 0.3), Users(other, weights, 0.2))
    assert found.value == pytest.approx((0.2 - 0.1 + 0.3) / 3)
    assert found.p == pytest.approx(stats.ttest_rel([0.3, 0.1, 0.5], [0.1, 0.2, 0.2]).pvalue)


def test_users_average_to_what_the_grid_gives(start: Grid) -> None:
    labels = ("full", "by ratings", "geometric")
    grid = Grid(
        DATA,
        tuple(each for each in start.systems if each.name == "User kNN"),
        {label: str(start.parsed[label]) for label in labels},
        ("P@10", "nDCG@10"),
        split=start.split,
    )
    ((name, users),) = measure_users(grid, load_dataset(DATA))
    results = run(grid)
    for (label, metric), found in users.items():
        assert found.value == pytest.approx(results[name, label, metric].value, rel=1e-12)
        if label != "geometric":
            mean = np.nansum(found.values * found.weights) / found.weights.sum()
            assert mean == pytest.approx(found.value, rel=1e-12)


# -- cells and ratios ------------------------------------------------------------------------------


def test_cells_are_what_the_start_measures(start: Grid) -> None:
    cells = make("cells", seeds=[1], grid=start.to_dict()).frame.set_index(
        ["seed", "label", "metric", "system"]
    )
    results = run(start)
    for (seed, label, metric, system), row in cells.iterrows():
        assert seed == 1
        assert row["knn"] == pytest.approx(results["User kNN", label, metric].value, rel=1e-9)
        if label != "geometric":
            assert row["value"] == pytest.approx(row["knn"] - row["mf"], abs=1e-12)
        assert row["low"] <= row["value"] <= row["high"]
        assert system in ("MF", "MF (as in RankSys)")
    tests = results.tests
    one = tests[
        (tests["label"] == "full") & (tests["metric"] == "P@10") & (tests["a"] == "User kNN")
    ]
    p = dict(zip(one["b"], one["t_p"], strict=True))
    assert cells.loc[(1, "full", "P@10", "MF"), "p"] == pytest.approx(p["MF"], rel=1e-6)


@pytest.mark.slow
def test_ratios_are_the_splits_that_they_name(start: Grid) -> None:
    given = {"seeds": [1], "ratios": [20, 80], "grid": start.to_dict()}
    found = make("seeds", **given)
    ratings = load_dataset(DATA).ratings
    for ratio in (20, 80):
        grid = ratio_grid(DATA, 4, ratio, seed=1, n_seeds=1)
        (split,) = dataset_splits(load_dataset(DATA), grid.split, seed=1)
        assert len(split.train) / len(ratings) == pytest.approx(ratio / 100, abs=0.01)
        results = run(grid)
        for system in results.systems:
            names = {"seed": 1, "ratio": ratio, "label": "condensed", "metric": "nDCG@10"}
            value = found[{**names, "system": system}].value
            assert value == pytest.approx(results[system, "condensed", "nDCG@10"].value, rel=1e-12)


@pytest.mark.parametrize(
    ("n", "total", "limits"),
    [(10, 10, (10, 10)), (9, 10, (9, 10)), (8, 10, (0, 10)), (2, 10, (0, 10)), (1, 10, (0, 1)),
     (0, 10, (0, 0)), (1, 1, (0, 10)), (0, 1, (0, 10))],
)  # fmt: skip
def test_noise_is_not_a_finding(n: int, total: int, limits: tuple[int, int]) -> None:
    counted = Quantity(n, None, limits=(n, n), cases=total)
    assert splits.of_splits(counted).interval == limits


@pytest.mark.parametrize(
    ("total", "said"),
    [(1, "In 1 of 1 splits P@10"), (4, "In 1 of 4 splits P@10"), (10, "In 1 of 10 splits P@10")],
)
def test_as_many_splits_are_told_as_there_are(total: int, said: str) -> None:
    finds = "In {value} of {cases} splits P@10 tells them apart"
    record = Record.from_dict(
        {
            "finds": finds,
            "value": "of_splits(count(p[full, P@10] of MF in cells < 0.05))",
            "unit": "count",
            "least": 9,
        }
    )
    part = Part(record, splits.of_splits(Quantity(1, None, limits=(1, 1), cases=total)))
    assert part.finding.startswith(said)
    assert part.sentence.startswith(said)
    assert part.verdict == ("refuted" if total == 10 else "open")


# -- fills -----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_steps_are_tested_over_users_whose_splits_were_averaged() -> None:
    fills = fill_grid(DATA, 4, seed=1)
    steps = make("fill_steps", seeds=[1, 2], grid=fills.to_dict()).frame
    values = make("fill_seeds", seeds=[1, 2], grid=fills.to_dict()).frame
    assert sorted(set(values["seed"])) == [1, 2]
    start = "split: ratio 0.5; data: keep=50%; lists: AI-AN-AR rel>=4 condensed"
    few, more = (next(s for s in fills.systems if s.name == f"User kNN k={k}") for k in (1, 3))
    outcomes = []
    for seed in (1, 2):
        options = Options.parse(f"{start} unscored=popularity; metric: nDCG@10; seed: {seed}")
        outcomes.append(evaluate(options, DATA, (few, more)))
    own = steps[(steps["fill"] == "popularity") & (steps["metric"] == "nDCG@10")].set_index("step")
    means = [each.values["User kNN k=3"] - each.values["User kNN k=1"] for each in outcomes]
    assert own.loc["1 to 3", "value"] == pytest.approx(np.mean(means), rel=1e-9)
    for _, family in steps.groupby(["fill", "metric"]):
        ordered = family.sort_values("p")
        wanted = np.minimum(1, np.maximum.accumulate(ordered["p"] * np.arange(4, 0, -1)))
        np.testing.assert_allclose(ordered["p_holm"], wanted, rtol=1e-9, atol=0)
    assert own["low"].lt(own["value"]).all()
    assert own["value"].lt(own["high"]).all()


# -- depths, refused users, profiles ---------------------------------------------------------------


def test_depths_are_those_of_the_depth_map(start: Grid) -> None:
    table = make("depths", grid=start.to_dict())
    grid = Grid(DATA, start.systems[:1], {"full": str(start.parsed["full"])}, ("P@10",),
                split=start.split)  # fmt: skip
    ((name, cell),) = grid_cells(grid, load_dataset(DATA), None)
    ranks, n_users = depth_map(Reader(cell).table(grid, "full"), 20)
    own = table.frame[table.frame["system"] == name]
    np.testing.assert_allclose(own["value"], ranks[: len(own)])
    assert own["n"].tolist() == n_users[: len(own)].tolist()


def test_refused_users_are_counted_one_by_one() -> None:
    overlaps = overlap_grid(DATA, 4, seed=1)
    found = make("refused", grid=overlaps.to_dict()).frame.set_index(["overlap", "system"])
    row = found.loc[(40, "MF")]
    dataset = load_dataset(DATA)
    (split,) = dataset_splits(dataset, "ratio 0.5", seed=1)
    tests = np.bincount(split.test.user, minlength=dataset.ratings.n_users)
    grid = Grid(
        DATA,
        tuple(each for each in overlaps.systems if each.name.endswith(("=40", "overlap=1"))),
        {"full": str(overlaps.parsed["full"])},
        ("Served@1", "P@10"),
        split="ratio 0.5",
    )
    (_, lenient), (_, users) = measure_users(grid, dataset)
    served = users["full", "Served@1"].values
    assert row["n_served"] == np.nansum(served)
    assert row["n_refused"] == (served == 0).sum() > 0
    assert row["tests_gap"] == pytest.approx(tests[served == 1].mean() - tests[served == 0].mean())
    assert row["tests_low"] < row["tests_gap"] < row["tests_high"]
    assert row["value"] == pytest.approx(row["mf_served"] - row["mf_refused"])
    everybody = (row["n_served"] * row["mf_served"] + row["n_refused"] * row["mf_refused"]) / len(
        served
    )
    results = run(overlap_grid(DATA, 4, seed=1, n_seeds=1))
    assert everybody == pytest.approx(results["MF", "full", "P@10"].value)
    assert found.loc[(1, "MF"), "gain"] == 0
    more = users["full", "P@10"].values - lenient["full", "P@10"].values
    assert row["gain"] == pytest.approx(more[served == 1].mean())
    assert row["gain"] > np.nanmean(more)  # which counts what is lost by those who are refused


def test_profiles_are_quarters_of_the_users(start: Grid) -> None:
    found = make("profiles", grid=start.to_dict()).frame
    own = found[(found["system"] == "MF") & (found["metric"] == "tests")].set_index("group")
    dataset = load_dataset(DATA)
    (split,) = dataset_splits(dataset, "ratio 0.5", seed=1)
    assert own["n"].sum() == (split.train.user_counts() > 0).sum()
    assert own["n"].max() - own["n"].min() <= 1
    assert own["value"].is_monotonic_increasing
    whole = (own["value"] * own["n"]).sum()
    assert whole == pytest.approx(len(split.test))


# -- decisions and truths --------------------------------------------------------------------------


def outcome(differences: Mapping[tuple[str, str], float], p: float | list[float]) -> Outcome:
    """Give differences and their p after Holm; before it, all are below the level."""
    rows = [
        {"a": a, "b": b, "n": 9, "difference": d, "effect": 2 * d}
        for (a, b), d in differences.items()
    ]
    frame = pd.DataFrame(rows)
    frame["p_holm"] = p
    frame["p"] = frame["p_holm"] / 100
    options = Options.parse("split: ratio 0.5; lists: AI-AN-AR rel>=4; metric: P@10")
    return Outcome(options, None, frame)  # type: ignore[arg-type]


PAIRS = [("A", "B"), ("A", "C"), ("B", "C")]


def test_reversals_are_counted_by_hand() -> None:
    base = outcome(dict(zip(PAIRS, (0.3, 0.1, -0.02), strict=True)), [0.001, 0.01, 0.4])
    other = outcome(dict(zip(PAIRS, (-0.2, -0.01, -0.3), strict=True)), [0.04, 0.6, 0.001])
    found = decisions.compare_outcomes(base, other)
    assert found == {
        "pairs": 3, "resolved": 2, "resolved_other": 2, "reversed": 1, "possible": 3, "turned": 2,
        "significance": 2, "survives": 0.3, "effect": 0.6, "moved": pytest.approx(0.5),
    }  # fmt: skip
    same = decisions.compare_outcomes(base, base)
    assert same["reversed"] == same["turned"] == same["moved"] == same["survives"] == 0
    assert same["possible"] == 1  # what nothing resolves may be the other way round


def test_what_is_right_is_counted_by_hand() -> None:
    truth = outcome(dict(zip(PAIRS, (0.3, 0.1, -0.2), strict=True)), [0.001, 0.2, 0.01])
    found = outcome(dict(zip(PAIRS, (0.1, -0.3, 0.2), strict=True)), [0.3, 0.001, 0.01])
    assert truths.compare_with_truth(found, truth) == {
        "resolved": 2, "right": 0, "wrong": 1, "signs": 1,
    }  # fmt: skip
    assert truths.compare_with_truth(truth, truth)["right"] == 2


def test_alternatives_take_one_decision_each() -> None:
    found = decisions.alternatives(4, 1, other_ratings=(5, 3))
    assert len({str(each.options) for each in found}) == len(found)
    assert {each.decision for each in found} == {
        "noise", "A1", "A2", "B1", "B2", "C1", "C2", "C2C", "C3", "C4", "D",
    }  # fmt: skip
    for each in found:
        ours, theirs = (str(options).split("; ") for options in (each.options, each.base))
        # Options as they print: one part differs, or one more stands there.
        assert len(set(ours) ^ set(theirs)) <= 2
        assert Options.parse(str(each.options)) == each.options
    assert len({str(each.base) for each in found}) == 2
    noise = [each for each in found if each.decision == "noise"]
    assert [(each.options.seed, each.base.seed) for each in noise] == [(2, 1)]


@pytest.mark.slow
def test_decisions_count_pairs_of_two_outcomes() -> None:
    systems = decisions.fourteen(4)[:3]
    grid = Grid(DATA, systems, "AI-AN-AR rel>=4", "P@10").to_dict()
    given = {"min_rating": 4, "other_ratings": [], "timed": False, "splits": True, "grid": grid}
    found = make("decisions", **given).frame.set_index("option")
    base, other = (
        evaluate(Options.parse(text), DATA, systems)
        for text in (
            "split: ratio 0.5; lists: AI-AN-AR rel>=4 users=trained; metric: nDCG@10",
            found.loc["ratio 0.8", "options"],
        )
    )
    wanted = decisions.compare_outcomes(base, other)
    assert found.loc["ratio 0.8", list(wanted)].to_dict() == pytest.approx(wanted)
    assert found.loc["by ratings", "moved"] > 0
    assert found.loc["wilcoxon", "moved"] == 0
    # Orders of test ratings are compared with condensed lists, not with the first default.
    lists = "split: ratio 0.5; lists: AI-AN-AR rel>=4 condensed users=trained; metric: nDCG@10"
    condensed = evaluate(Options.parse(lists), DATA, systems)
    tau = evaluate(Options.parse(found.loc["tau", "options"]), DATA, systems)
    wanted = decisions.compare_outcomes(condensed, tau)
    assert found.loc["tau", list(wanted)].to_dict() == pytest.approx(wanted)
    assert wanted["moved"] != pytest.approx(decisions.compare_outcomes(base, tau)["moved"])
    assert found["pairs"].eq(3).all()


# -- what criteria read ----------------------------------------------------------------------------


TEN = tuple(range(1, 11))


INDEX = {
    "cells": ("seed", "label", "metric", "system"),
    "decisions": ("decision", "option"),
    "depths": ("system", "place"),
    "fill_steps": ("fill", "metric", "step"),
    "profiles": ("group", "system", "metric"),
    "refused": ("overlap", "system"),
    "seeds": ("seed", "ratio", "label", "metric", "system"),
    "truths": ("decision", "option"),
    "worlds": ("relation", "seed", "decision", "option"),
}
"""Of the tables that the chapter makes."""


def read(text: str, seeds_of: tuple[int, ...] = TEN, **tables: pd.DataFrame) -> Quantity:
    made = {
        table: Table(
            index=INDEX[table], frame=frame, maker_name="x", given={"seeds": list(seeds_of)},
            key="", dataset={}, provenance={}, times={},
        )
        for table, frame in tables.items()
    }  # fmt: skip
    found = value_of(text, made, functions=chapter.FUNCTIONS, views=chapter.VIEWS)
    assert isinstance(found, Quantity)
    return found


def test_shares_that_are_right_and_wrong_know_of_how_many_pairs():
    rows = [("C1", "condensed", 8.0, 6.0, 1.0), ("D", "none", 0.0, 0.0, 0.0)]
    frame = pd.DataFrame(rows, columns=["decision", "option", "resolved", "right", "wrong"])
    found = read("right[C1, condensed] in truths.shares", truths=frame)
    assert (found.value, found.cases, found.interval) == (0.75, 8, (0.75, 0.75))
    assert read("wrong[C1, condensed] in truths.shares", truths=frame).value == 0.125
    with pytest.raises(NotComputed):
        read("right[D, none] in truths.shares", truths=frame)
    # The twin: a quotient of counts does not know of how many, and its sentence cannot say.
    parted = "right[C1, condensed] in truths / resolved[C1, condensed] in truths"
    assert read(parted, truths=frame).cases is None


def cells(p: Callable[[int], float], value: Callable[[int], float], n: int = 10) -> pd.DataFrame:
    rows = [
        (seed, "full", "P@10", "MF", value(seed), value(seed) - 0.1, value(seed) + 0.1, p(seed))
        for seed in range(1, n + 1)
    ]
    names = ["seed", "label", "metric", "system", "value", "low", "high", "p"]
    return pd.DataFrame(rows, columns=names)


def test_rivals_that_surely_agree_better_are_counted_and_those_that_may() -> None:
    options = {
        ("the default", "the default"): (20, 22, 21), ("A2", "ratio 0.2"): (30, 32, 30),
        ("A2", "uniform 0.2"): (41, 42, 43), ("C2", "P@10"): (22, 22, 21), ("C2", "AP"): (9, 40, 9),
        ("C3", "median"): (0, 1, 0),
    }  # fmt: skip
    rows = [
        (0.6, seed, *names, 50, right[seed] + 3, 3)
        for names, right in options.items()
        for seed in range(3)
    ]
    columns = ["relation", "seed", "decision", "option", "resolved", "right", "wrong"]
    worlds = pd.DataFrame(rows, columns=columns)
    found = read("count(surely(value[*, *] in worlds.rivals < 0))", worlds=worlds)
    # Surely the uniform split; perhaps AP, and nDCG beside P; neither random halves nor the others.
    assert (found.value, found.interval, found.cases) == (1.0, (1.0, 3.0), 5)


def test_cells_are_read_at_the_first_seed_or_counted_over_all() -> None:
    frame = cells(lambda seed: 0.01 if seed < 10 else 0.9, lambda seed: seed / 100)
    shuffled = frame.sample(frac=1, random_state=1)
    assert read("known(p[full, P@10] of MF in cells.first)", cells=shuffled).value == 0.01
    significant, other = (
        read(f"of_splits(count(p[full, P@10] of MF in cells {holds}))", cells=frame)
        for holds in ("< 0.05", ">= 0.05")
    )
    assert (significant.value, significant.interval) == (9, (9, 10))
    assert (other.value, other.interval) == (1, (0, 1))
    won, lost = (
        read(f"count(winner[*, P@10] of MF in cells.first {wins})", cells=frame)
        for wins in ("> 0", "< 0")
    )
    assert (won.value, lost.value) == (1, 0)
    with pytest.raises(NotComputed):
        read('p[full, P@10] of "MF (as in RankSys)" in cells.first', cells=frame)
    with pytest.raises(NotComputed, match=r"p\[full, P@10\] of MF in cells.first"):
        read("known(p[full, P@10] of MF in cells.first)", cells=frame.assign(p=np.nan))
    assert (
        read("count(winner[*, P@10] of MF in cells.first > 0)", cells=frame.assign(p=1)).value == 0
    )


def test_powers_of_ten_between_two_p_have_an_end() -> None:
    frame = pd.concat(
        [
            cells(lambda seed: 0.01, lambda seed: 1),
            cells(lambda seed: 0, lambda seed: 1).assign(label="graded"),
        ]
    )
    a, b = (
        f"largest(p[{label}, P@10] of MF in cells.first, 1e-300)" for label in ("full", "graded")
    )
    assert read(f"log10({a} / {b})", cells=frame).value == pytest.approx(298)


def test_a_gap_is_that_of_the_first_split_with_the_interval_of_its_test() -> None:
    rows = [(2, 0.9, 0.8, 1.0, 0.01), (1, -0.1, -0.25, 0.05, 0.2)]
    frame = pd.DataFrame(
        [(seed, "geometric", "P@10", "MF", *found) for seed, *found in rows],
        columns=["seed", "label", "metric", "system", "value", "low", "high", "p"],
    )
    found = read("value[geometric, P@10] of MF in cells.first", cells=frame)
    assert (found.value, found.interval) == (-0.1, (-0.25, 0.05))


PEAK = "peak[full, nDCG@10] of MF in seeds.peaks"
NEAR = f"of_splits(count({PEAK} >= 30 and {PEAK} <= 60))"


def test_peaks_near_a_half_are_counted() -> None:
    rows = [
        (seed, ratio, "full", "nDCG@10", "MF", -abs(ratio - (50 if seed < 10 else 70)))
        for seed in range(1, 11)
        for ratio in range(10, 100, 10)
    ]
    names = ["seed", "ratio", "label", "metric", "system", "value"]
    frame = pd.DataFrame(rows, columns=names)
    found = read(NEAR, seeds=frame)
    assert (found.value, found.interval) == (9, (9, 10))
    few = frame[frame["ratio"].isin([20, 50, 80])]
    with pytest.raises(NotComputed):
        read(NEAR, seeds=few)


@pytest.mark.parametrize(("ratio", "n"), [(20, 0), (30, 10), (60, 10), (70, 0)])
def test_a_peak_near_a_half_is_from_30_to_60_percent(ratio: int, n: int) -> None:
    rows = [
        (seed, each, "full", "nDCG@10", "MF", -abs(each - ratio))
        for seed in TEN
        for each in range(10, 100, 10)
    ]
    names = ["seed", "ratio", "label", "metric", "system", "value"]
    found = read(NEAR, seeds=pd.DataFrame(rows, columns=names))
    assert found.value == n


def steps(values: list[float], p: list[float]) -> pd.DataFrame:
    rows = [
        ("popularity", "nDCG@10", name, v, v - 0.02, v + 0.02, each, each, 900)
        for name, v, each in zip(
            ("1 to 3", "3 to 10", "10 to 30", "30 to 100"), values, p, strict=True
        )
    ]
    names = ["fill", "metric", "step", "value", "low", "high", "p", "p_holm", "n"]
    return pd.DataFrame(rows, columns=names)


def test_steps_down_are_counted_only_where_they_are_sure() -> None:
    frame = steps([0.2, -0.1, -0.01, 0.3], [0.001, 0.01, 0.2, 0.001])
    found = read("falls[popularity, nDCG@10] in fill_steps.falling", fill_steps=frame)
    assert (found.value, found.interval) == (1, (1, 2))
    nine = read("falls[popularity, nDCG@10] in fill_steps.falling", TEN[:9], fill_steps=frame)
    assert (nine.value, nine.interval) == (1, (0, 4))  # another split may fall otherwise
    least = read("smallest(nDCG@10[popularity, *] in fill_steps)", fill_steps=frame)
    assert least.value == -0.1
    assert least.interval[0] < -0.12
    assert least.interval[1] == pytest.approx(-0.1 + 0.02 * 2.4977 / 1.95996, abs=1e-4)


def test_depths_profiles_and_refused_users_are_read_by_name() -> None:
    depths = pd.DataFrame(
        [("MF", 10, 160.0, 150.0, 170.0), ("User kNN", 10, 80.0, 75.0, 85.0)],
        columns=["system", "place", "value", "low", "high"],
    )
    ratio = read(
        'independent(value[10] of MF in depths / value[10] of "User kNN" in depths)', depths=depths
    )
    assert ratio.value == 2
    assert 1.8 < ratio.interval[0] < 1.84
    assert 2.16 < ratio.interval[1] < 2.2
    profiles = pd.DataFrame(
        [(group, system, "P@10", value, value - 0.03, value + 0.03)
         for group, system, value in ((4, "MF", 0.5), (1, "MF", 0.2), (4, "User kNN", 0.7),
                                      (1, "User kNN", 0.1))],
        columns=["group", "system", "metric", "value", "low", "high"],
    )  # fmt: skip
    knn, mf = (
        f'P@10[4] of "{name}" in profiles - (P@10[1] of "{name}" in profiles)'
        for name in ("User kNN", "MF")
    )
    shift = read(f"known(independent({knn} - ({mf})))", profiles=profiles)
    assert shift.value == pytest.approx(0.3)
    assert shift.interval == pytest.approx((0.24, 0.36))
    gap = read(f"known(independent({knn}))", profiles=profiles)
    assert gap.value == pytest.approx(0.6)
    refused = pd.DataFrame(
        [(40, "MF", 0.1, 0.05, 0.15)],
        columns=["overlap", "system", "gain", "gain_low", "gain_high"],
    )
    found = read("known(gain[40] of MF in refused, pool)", refused=refused)
    assert (found.value, found.interval) == (0.1, (0.05, 0.15))
    with pytest.raises(NotTestable):
        read("known(gain[40] of MF in refused, pool)", refused=refused.assign(gain=np.nan))
    tests = refused.assign(tests_gap=7.0, tests_low=5.0, tests_high=9.0)
    found = read("known(value[40] of MF in refused.tests, pool)", refused=tests)
    assert (found.value, found.interval) == (7, (5, 9))
    with pytest.raises(ConfigError, match="unknown need 'pol'"):
        read("known(gain[40] of MF in refused, pol)", refused=refused)
    with pytest.raises(NotComputed):
        read(f"known(independent({knn}))", profiles=profiles.assign(value=np.nan))


def test_pairs_that_an_option_has_right_are_a_share_of_those_that_truth_resolves() -> None:
    rows = [("C1", "condensed", 70, 61, 1, 66), ("C2", "P@10", 0, 0, 0, 0)]
    names = ["decision", "option", "resolved", "right", "wrong", "signs"]
    truths = pd.DataFrame(rows, columns=names)
    share = "right[{0}] in truths / resolved[{0}] in truths"
    found = read(share.format("C1, condensed"), truths=truths)
    assert found.value == pytest.approx(61 / 70)
    assert found.interval == (found.value, found.value)
    assert np.isnan(read(share.format("C2, P@10"), truths=truths).value)
    for term in ("right[C3, median] in truths", "left[C1, condensed] in truths"):
        with pytest.raises(NotComputed):
            read(term, truths=truths)


def test_noise_is_not_what_reverses_most() -> None:
    rows = [("noise", "another split", 40, 50), ("C1", "condensed", 7, 20), ("C2", "P@10", 9, 30)]
    frame = pd.DataFrame(rows, columns=["decision", "option", "reversed", "possible"])
    found = read("largest(reversed[*, *] in decisions.alternatives)", decisions=frame)
    assert (found.value, found.interval) == (9, (9, 9))
    own = read("reversals[C1, condensed] in decisions.alternatives", decisions=frame)
    assert (own.value, own.interval) == (7, (7, 20))
    assert read("reversed[noise, another split] in decisions", decisions=frame).value == 40


def test_agreement_in_worlds_is_told_beside_the_default() -> None:
    rows = [
        (relation, seed, option, 50, right + 2, 2)
        for relation in (0.6, -0.6)
        for seed in (1, 2, 3)
        for option, right in (("the default", 20 + seed), ("condensed", 30 + 2 * seed))
    ]
    frame = pd.DataFrame(rows, columns=["relation", "seed", "option", "resolved", "right", "wrong"])
    shares = [f"share[{name}] in worlds.agreement" for name in ("condensed", "the default")]
    found = read(f"mean({shares[0]} - {shares[1]})", worlds=frame)
    assert found.value == pytest.approx((11 + 12 + 13) / 150)


def test_a_grid_of_another_split_trains_as_often_as_it_is_asked(start: Grid) -> None:
    thrice = dataclasses.replace(
        start, systems=tuple(dataclasses.replace(each, n_seeds=3) for each in start.systems)
    )
    for asked, wanted in (({}, 1), ({"n_training": 2}, 2), ({"n_training": None}, 3)):
        for grid in each_seed(thrice, (1, 2), **asked):
            assert {each.n_seeds for each in grid.systems} == {wanted}, asked


@pytest.mark.slow
def test_a_selection_that_leaves_nothing_has_no_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decisions, "_SELECTIONS", ("users>=5000",))
    monkeypatch.setattr(decisions, "_SPLITS", ("ratio 0.2",))
    systems = decisions.fourteen(4)[:2]
    grid = Grid(DATA, systems, "AI-AN-AR rel>=4", "P@10").to_dict()
    given = {"min_rating": 4, "other_ratings": [], "timed": False, "splits": True, "grid": grid}
    options = make("decisions", **given).frame["option"].tolist()
    assert "users>=5000" not in options
    assert "ratio 0.2" in options
