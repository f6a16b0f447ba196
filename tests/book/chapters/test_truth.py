"""Which design orders systems as the truth does: an oracle in plain loops, and tables made by hand.

Nothing here uses the code that is tested, nor what it is made of, but for the world and its split.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from functools import partial

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from expressions_at import parts_of
from recbias._system.places import cells_kept_in
from recbias.book.chapters.design_alternatives import VIEWS, figures
from recbias.book.chapters.design_alternatives import truth as module
from recbias.book.chapters.design_alternatives.setup import CHAPTER, protocols
from recbias.book.chapters.design_alternatives.truth import DESIGNS, SIMULATION
from recbias.claims import load_chapter
from recbias.claims.evidence import NotComputed
from recbias.data.datasets import load_dataset
from recbias.errors import ConfigError
from recbias.experiment import worlds
from recbias.experiment.makers import Table, find_maker
from recbias.experiment.results import SIMULATIONS
from recbias.experiment.worlds import World, WorldGrid, run_worlds
from recbias.protocol.testset import dataset_splits

WORLD = "world(relation=0.3,skew=0.4,users=60,items=40,density=0.1,seed=4)"
CUTOFF, LIKED = 3, 4


class Fixed:
    """A system whose scores are all different, some missing, and known to the oracle."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.scores = rng.permuted(np.tile(np.arange(40.0), (60, 1)), axis=1).astype(np.float32)
        self.scores[rng.random((60, 40)) < 0.1] = np.nan
        self.scores[5:15, 2:] = np.nan  # lists that end early

    def score(self, users):
        return self.scores[users]


def fixed(seed, seen, fold) -> Fixed:
    return Fixed(seed)


def naive(system: Fixed, dataset, fold) -> dict[str, float]:
    """Measure by every design, with samples that take everything, and by the truth."""
    users, items = range(60), range(40)
    train = {(int(u), int(i)) for u, i in zip(fold.train.user, fold.train.item, strict=True)}
    rows = zip(fold.test.user, fold.test.item, fold.test.value, strict=True)
    test = {(int(u), int(i)): float(stars) for u, i, stars in rows}
    tested = {i for _, i in test}
    stars = dataset.truth.true_rating(np.arange(60))

    def ranked(u: int, targets) -> list[int]:
        scored = [i for i in targets if (u, i) not in train and system.scores[u, i] >= 0]
        return sorted(scored, key=lambda i: -system.scores[u, i])

    def liked(u: int, i: int) -> bool:
        return test.get((u, i), 0) >= LIKED

    found = dict.fromkeys(("AI", "AR", "R_test", "truth"), 0.0)
    runs = []
    for u in users:
        everything = ranked(u, items)
        for label, targets in (
            ("AI", everything),
            ("AR", [i for i in everything if i in tested]),
            ("R_test", [i for i in everything if (u, i) in test]),
        ):
            found[label] += sum(liked(u, i) for i in targets[:CUTOFF]) / CUTOFF / 60
        found["truth"] += sum(stars[u, i] >= LIKED for i in everything[:CUTOFF]) / CUTOFF / 60
        mine = [i for i in items if liked(u, i)]
        for one in mine:
            run = ranked(u, [i for i in tested if i == one or i not in mine])
            runs.append(one in run[:CUTOFF])
    found["NN"] = found["AR"]
    found["1R"] = sum(runs) / len(runs) / CUTOFF
    return found


@pytest.fixture(autouse=True)
def _own_cells(tmp_path):
    with cells_kept_in(tmp_path / "cells"):
        yield


@pytest.fixture(scope="module")
def world():
    return load_dataset(WORLD)


@pytest.fixture(scope="module")
def fold(world):
    return dataset_splits(world, "ratio 0.4", seed=7)[0]


def grid_of(seeds, fold, **changed) -> WorldGrid:
    """Ask for the designs of the chapter, with samples that take everything."""
    tested = np.unique(fold.test.item)
    pool = 0
    for user in range(60):
        own = fold.train.item[fold.train.user == user]
        relevant = (fold.test.user == user) & (fold.test.value >= LIKED)
        pool = max(pool, len(np.setdiff1d(tested, own)) - int(relevant.sum()))
    asked = protocols(LIKED, size=pool + 1, n_sampled=pool)
    systems = [(f"system {seed}", partial(fixed, seed)) for seed in seeds]
    grid = module.design_grid([World(WORLD, 7)], systems, asked, split="ratio 0.4", cutoff=CUTOFF)
    return dataclasses.replace(grid, **changed)


def values_of(grid) -> list[dict[str, float]]:
    return run_worlds(grid)[0].set_index("system").to_dict("records")


def test_designs_and_truth_are_those_of_plain_loops(world, fold):
    for seed, found in enumerate(values_of(grid_of(range(5), fold))):
        expected = naive(Fixed(seed), world, fold)
        assert found == pytest.approx(expected)
        assert len(set(expected.values())) >= 4, "designs that no oracle could tell apart"


@pytest.mark.parametrize(
    "broken",
    [
        lambda lists, liked: np.take_along_axis(liked, np.maximum(lists, 0), 1).mean(),
        lambda lists, liked: np.take_along_axis(liked, lists, 1)[lists >= 0].mean(),
        lambda lists, liked: hits_of(lists[:, :-1], liked).mean(),
        lambda lists, liked: hits_of(lists, ~liked).mean(),
    ],
    ids=["ends of lists are hits of item 0", "divided by what is listed", "shorter", "disliked"],
)
def test_the_oracle_notices_another_true_precision(world, fold, monkeypatch, broken):
    def broken_value(metric, positions, fold, liked):
        return float(broken(positions.lists("AI", metric.cutoff), liked))

    monkeypatch.setattr(worlds, "_true_value", broken_value)
    (found,), expected = values_of(grid_of([1], fold)), naive(Fixed(1), world, fold)
    assert found["truth"] != pytest.approx(expected["truth"])


def hits_of(lists, liked):
    return np.take_along_axis(liked, np.maximum(lists, 0), 1) & (lists >= 0)


def test_where_everything_is_observed_ranking_everything_is_the_truth(fold):
    """With all pairs judged there is nothing to guess: ranking them is true precision itself."""
    labels = ("AI", "AR", "R_test", "truth")
    grid = grid_of(range(6), fold)
    grid = dataclasses.replace(
        grid,
        protocols={label: grid.protocols[label] for label in labels},
        columns={label: grid.columns[label] for label in labels},
        tests=dict.fromkeys(labels, "truth"),
    )
    rows = []
    for seed, found in enumerate(values_of(grid)):
        assert found["AR"] == pytest.approx(found["truth"])
        rows += [("all", 1, label, f"system {seed}", value) for label, value in found.items()]
    agreed = module.agreement_with_truth(table_of(rows)).set_index("design")
    assert agreed["tau"].to_dict() == {"AI": 1, "AR": 1, "R_test": 1}
    assert agreed["wrong"].to_dict() == {"AI": 0, "AR": 0, "R_test": 0}


def test_worlds_without_preferences_are_refused():
    with pytest.raises(ConfigError, match="has no preferences"):
        module.truth(**{**SIMULATION, "worlds": {"flat": "world(alpha=1)"}, "n_worlds": 1})


# -- what follows from a table ------------------------------------------------------------------


def table_of(rows) -> Table:
    frame = pd.DataFrame(rows, columns=["world", "number", "design", "system", "value"])
    return Table.of(
        (("world", "number", "design", "system"), frame),
        key="",
        dataset={"name": SIMULATIONS},
        maker_name="",
        given={"worlds": dict.fromkeys(frame["world"].unique(), "world(relation=0.5)")},
    )


ORDERS = {
    # By world: the true order of four systems from the best, and the one that a design sees.
    ("likes", 1): ("abcd", "abcd"),
    ("likes", 2): ("abcd", "bacd"),
    ("hates", 1): ("abcd", "dcba"),
    ("hates", 2): ("dcba", "dbca"),
}


@pytest.fixture(scope="module")
def made() -> Table:
    rows = []
    for (kind, number), (true, seen) in ORDERS.items():
        for design, order in (("AR", seen), ("truth", true), ("R_test", true)):
            rows += [(kind, number, design, name, 9 - order.index(name)) for name in "bdac"]
    return table_of(rows)


def test_tau_and_wrong_pairs_are_those_of_plain_loops(made):
    found = module.agreement_with_truth(made).set_index(["world", "number", "design"])
    for (kind, number), (true, seen) in ORDERS.items():
        pairs = list(itertools.combinations("abcd", 2))
        wrong = sum(
            (true.index(a) < true.index(b)) != (seen.index(a) < seen.index(b)) for a, b in pairs
        )
        row = found.loc[kind, number, "AR"]
        assert row["wrong"] == pytest.approx(wrong / 6)
        assert row["tau"] == pytest.approx(1 - 2 * wrong / 6)
        assert found.loc[kind, number, "R_test"].tolist() == [1, 0]


def test_places_gained_are_counted_from_the_true_rank(made):
    gained = module.places_gained(made, ["AR", "R_test"])
    assert gained.columns.tolist() == [(d, w) for d in ("AR", "R_test") for w in ("likes", "hates")]
    assert (gained["R_test"] == 0).all().all()
    assert gained["AR", "likes"].to_dict() == {"b": 0.5, "d": 0, "a": -0.5, "c": 0}
    # First world: from 1st to 4th and back; second: b and c change their places.
    assert gained["AR", "hates"].to_dict() == {"b": 0, "d": 1.5, "a": -1.5, "c": 0}


def test_places_are_written_with_their_sign(made):
    head, _, *rows = module.places_table(made, ["likes", "hates"], ["AR"]).splitlines()
    assert [cell.strip() for cell in head.strip("|").split("|")] == [
        "system",
        "all tested items, popularity likes",
        "all tested items, popularity hates",
    ]
    assert [[cell.strip() for cell in row.strip("|").split("|")] for row in rows] == [
        ["b", "+0.5", "+0.0"],
        ["d", "+0.0", "+1.5"],
        ["a", "\N{MINUS SIGN}0.5", "\N{MINUS SIGN}1.5"],
        ["c", "+0.0", "+0.0"],
    ]


def test_the_mean_over_worlds_has_the_interval_of_student(made):
    values = np.array([0.1, 0.4, 0.2, 0.3])
    found = module.over_worlds(values)
    expected = scipy.stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert found.interval == pytest.approx((expected.low, expected.high))
    by_kind = module.truth_by_kind(made).set_index(["world", "design"])
    assert by_kind.loc[("likes", "AR"), ["relation", "tau", "wrong"]].tolist() == pytest.approx(
        [0.5, 5 / 6, 1 / 12]
    )
    with pytest.raises(ConfigError, match="1 world: an interval over worlds needs two"):
        module.over_worlds([0.5])


def finding(made: Table, text: str, **more):
    (part,) = parts_of(text, {"truth": made}, views=VIEWS, **more)
    return part


def test_findings_read_worlds_of_no_edition(made):
    tau = "mean(tau[{}, choice by liking, {}] in truth.agreement on simulations)".format
    one = finding(made, tau("likes", "AR"))
    assert one.value == pytest.approx(5 / 6)
    assert one.interval == module.over_worlds([1, 2 / 3]).interval
    assert {(r.edition, r.table) for r in one.read} == {(SIMULATIONS, "truth.agreement")}
    any_kind = "{}(mean(tau[*, *, AR] in truth.agreement))".format
    least = finding(made, any_kind("smallest"))
    assert (least.value, least.which) == (pytest.approx((-1 + 2 / 3) / 2), "")
    assert finding(made, any_kind("largest")).value == one.value
    hated = "tau[hates, choice by liking, {}] in truth.agreement".format
    lead = finding(made, f"mean({hated('R_test')} - {hated('AR')})")
    assert lead.value == pytest.approx((2 + 1 / 3) / 2)
    assert lead.interval == pytest.approx(module.over_worlds([2, 1 / 3]).interval)
    places = finding(made, "mean(lost[hates, choice by liking, AR] of d in truth.places)")
    assert places.value == -1.5
    assert places.interval == pytest.approx(module.over_worlds([-3, 0]).interval)
    wrong = finding(made, "mean(wrong[hates, choice by liking, AR] in truth.agreement)")
    assert wrong.value == pytest.approx((1 + 1 / 6) / 2)


@pytest.mark.parametrize(
    ("term", "missing"),
    [
        ("tau[likes, choice by liking, ZZ] in truth.agreement", "ZZ"),
        ("tau[nobody, choice by liking, AR] in truth.agreement", "nobody"),
        ("tau[likes, blind choice, AR] in truth.agreement", "blind choice"),
        ("lost[likes, choice by liking, AR] of nobody in truth.places", "nobody"),
        ("rho[likes, choice by liking, AR] in truth.agreement", "rho"),
        ("tau[likes, choice by liking, AR] in elsewhere", "elsewhere"),
    ],
)
def test_findings_ask_for_what_there_is(made, term, missing):
    with pytest.raises(NotComputed, match=missing):
        finding(made, f"mean({term})")


# -- what is recorded ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def recorded() -> Table:
    return load_chapter(CHAPTER, SIMULATIONS)["truth"]


def test_the_page_reads_what_is_recorded(recorded):
    found = find_maker(f"{CHAPTER}/truth")(**SIMULATION, name=f"{CHAPTER}/truth")
    assert (found.key, found.origin) == (recorded.key, "recorded")
    n_systems = recorded.frame["system"].nunique()
    assert len(found.frame) == (
        len(SIMULATION["worlds"]) * SIMULATION["n_worlds"] * (len(DESIGNS) + 1) * n_systems
    )


def test_worlds_of_the_recorded_table_are_made_again(recorded, monkeypatch):
    """One system in two worlds, by the whole path; `recbias verify` makes all of them."""
    given = {**SIMULATION, "worlds": {"opposes": SIMULATION["worlds"]["opposes"]}, "n_worlds": 2}
    (popular,) = (system for system in module._systems("bcc17") if system.name == "Popularity")
    monkeypatch.setattr(module, "_systems", lambda _: [popular])
    _, found = module.truth.function(**given)
    rows = recorded.select(world="opposes", system="Popularity")
    rows = rows[rows["number"] <= 2].reset_index(drop=True)
    pd.testing.assert_frame_equal(found, rows, rtol=1e-12)


def test_the_title_states_the_worst_cases(recorded):
    found = module.truth_by_kind(recorded)
    least = {name: found.loc[found["design"] == name, "tau"].min() for name in DESIGNS}
    best = max(least, key=least.get)
    title = figures.true_orders(recorded).title
    assert title.lower().startswith(DESIGNS[best])
    numbers = [least.pop(best), max(least.values())]
    assert re.findall(r"-?\d\.\d\d", title.replace("\N{MINUS SIGN}", "-")) == [
        f"{number:.2f}" for number in numbers
    ]


def test_the_figure_has_a_line_for_each_design_and_a_panel_for_each_choice(recorded):
    picture = figures.true_orders(recorded).picture()
    choices = module.truth_by_kind(recorded)["choice"].unique()
    assert [axis.get_title() for axis in picture.axes] == list(choices)
    (legend,) = picture.legends
    assert [text.get_text() for text in legend.get_texts()] == list(DESIGNS.values())
