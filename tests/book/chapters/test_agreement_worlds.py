"""Worlds of chapter 5: what is measured in them, against loops that share no code with it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from expressions_at import value_of
from recbias import Grid, run
from recbias._system.places import cells_kept_in
from recbias._system.streams import stream
from recbias.book.chapters import true_vs_false_positive_disagreement as chapter
from recbias.book.chapters.true_vs_false_positive_disagreement import points, setup, worlds
from recbias.claims.evidence import NotComputed
from recbias.data.datasets import Dataset, load_dataset
from recbias.errors import ConfigError
from recbias.experiment.makers import Table, find_maker
from recbias.experiment.results import Quantity
from recbias.experiment.worlds import World, run_worlds
from recbias.protocol.splits import Split
from recbias.protocol.testset import dataset_splits
from recbias.recommenders import System
from recbias.trust import fit_relation

SMALL = "world(relation=0.5,skew=0.4,users=50,items=60,density=0.1)"
FEW = ("Popularity", "SVD++", "WRMF", "RankSGD")


@pytest.fixture(autouse=True)
def _own_cells(tmp_path: Path) -> Iterator[None]:
    with cells_kept_in(tmp_path / "cells"):
        yield


def two_splits(dataset: Dataset) -> tuple[Split, Split]:
    found = [
        dataset_splits(dataset, "ratio 0.2", seed=1, judgments=judgments)[0]
        for judgments in (None, worlds.truth_sample(60, 0.5))
    ]
    return found[0], found[1]


def systems_in(
    name: str, systems: list[System], *, judged: float = 0.5, seed: int = 1
) -> pd.DataFrame:
    grid = worlds.grid_of(
        [World(name, seed)], systems, min_rating=4, split="ratio 0.2",
        judged=worlds.truth_sample(60, judged),
    )  # fmt: skip
    (rows,) = run_worlds(grid)
    return rows.set_index("system")


def lists_of(system: System, fold: Split) -> list[list[int]]:
    """The first fifty of each user, best first, from scores without ties."""
    model = system.build().fit(fold.train, rng=stream(1, "train", system.stream_label(), 0))
    seen = set(zip(fold.train.user.tolist(), fold.train.item.tolist(), strict=True))
    lists = []
    for user, scores in enumerate(model.score(np.arange(fold.train.n_users))):
        known = [item for item, score in enumerate(scores) if not np.isnan(score)]
        assert len({scores[item] for item in known}) == len(known), "ties have several orders"
        order = sorted(known, key=lambda item: -scores[item])
        lists.append([item for item in order if (user, item) not in seen][:50])
    return lists


def by_loops(lists: list[list[int]], test: Split) -> dict[str, float]:
    """P, antiP, R and fallout at 10, and P and antiP at 50, over users with a judgment."""
    judged: dict[int, dict[int, float]] = {}
    for user, item, value in zip(test.test.user, test.test.item, test.test.value, strict=True):
        judged.setdefault(int(user), {})[int(item)] = float(value)
    found: dict[str, list[float]] = {}
    for user, stars in judged.items():
        for cutoff in (10, 50):
            listed = [stars[item] for item in lists[user][:cutoff] if item in stars]
            good, bad = sum(star >= 4 for star in listed), sum(star < 4 for star in listed)
            every = sum(star >= 4 for star in stars.values())
            others = len(stars) - every
            values = {"P": good / cutoff, "antiP": bad / cutoff}
            values |= {"R": good / every if every else 0, "fallout": bad / others if others else 0}
            for name, value in values.items():
                found.setdefault(f"{name}@{cutoff}", []).append(value)
    return {name: float(np.mean(values)) for name, values in found.items()}


@pytest.mark.slow
@pytest.mark.parametrize("name", [pytest.param("SVD++", marks=pytest.mark.slow), "RankSGD"])
def test_what_is_measured_in_a_world_is_what_loops_count(name: str) -> None:
    dataset = load_dataset(SMALL)
    (system,) = worlds.systems_of_map([name], 4)
    measured = systems_in(SMALL, [system]).loc[name]
    fold, sampled = two_splits(dataset)
    lists = lists_of(system, fold)
    observed, true = by_loops(lists, fold), by_loops(lists, sampled)
    for text in ("P@10", "antiP@10", "P@50", "antiP@50", "R@10", "fallout@10"):
        assert measured[text] == pytest.approx(observed[text], abs=1e-12), text
    for text in ("P@10", "antiP@10"):
        assert measured[f"true {text}"] == pytest.approx(true[text], abs=1e-12), text
    assert dataset.truth is not None
    stars = dataset.truth.true_rating(np.arange(50))
    likes = [stars[user, item] >= 4 for user, each in enumerate(lists) for item in each[:10]]
    assert measured[worlds.LIKED] == pytest.approx(sum(likes) / 500, abs=1e-12)
    assert measured[worlds.DISLIKED] == pytest.approx((len(likes) - sum(likes)) / 500, abs=1e-12)

    # The twin: lists that begin one place later are told from these by every value.
    late = [each[1:] for each in lists]
    other = by_loops(late, fold)
    assert all(abs(other[text] - measured[text]) > 1e-6 for text in ("P@10", "R@10", "fallout@10"))


@pytest.mark.slow
def test_lists_that_are_judged_entirely_leave_nothing_to_find() -> None:
    """The trap of C5: with the whole truth antiP is 1 - P, and tau -1 by identity."""
    systems = worlds.systems_of_map(FEW, 4)
    whole = systems_in(SMALL, systems, judged=1.0)
    np.testing.assert_allclose(whole["true P@10"], whole[worlds.LIKED], atol=1e-12)
    np.testing.assert_allclose(whole["true antiP@10"], whole[worlds.DISLIKED], atol=1e-12)
    sample = systems_in(SMALL, systems)
    assert (sample["true antiP@10"] < whole["true antiP@10"] - 0.1).all()
    # Who has no training rating gets no list from most systems: a tenth of the users of this world.
    listed = whole["true P@10"] + whole["true antiP@10"]
    assert listed["Popularity"] == pytest.approx(1)
    assert listed.drop("Popularity").to_numpy() == pytest.approx(0.9)


def test_systems_are_averaged_over_their_seeds() -> None:
    dataset = load_dataset(SMALL)
    (system,) = worlds.systems_of_map(["Random"], 4)
    assert system.n_seeds == 10
    one = systems_in(SMALL, [dataclasses.replace(system, n_seeds=1)])
    ten = systems_in(SMALL, [system])
    assert not np.allclose(one["P@50"], ten["P@50"])
    # Fifty places of some 55 open items: ten lists are near what they are expected to hold.
    fold, _ = two_splits(dataset)
    open_items = 60 - np.bincount(fold.train.user, minlength=50)
    liked = np.bincount(fold.test.user, fold.test.value >= 4, minlength=50)
    expected = (liked * np.minimum(50, open_items) / open_items).sum() / 50
    n_tested = len(set(fold.test.user))
    assert ten["P@50"].item() == pytest.approx(expected / n_tested, rel=0.05)


def test_a_data_set_without_truth_is_refused() -> None:
    blind = dataclasses.replace(load_dataset(SMALL), truth=None)
    with pytest.raises(ConfigError, match="neither truth nor an unbiased part"):
        points._truth(blind, 0.1)
    with pytest.raises(ConfigError, match="no system 'kNN' in mccrs20"):
        worlds.systems_of_map(["kNN"], 4)


def small(**changed: Any) -> Table:
    asked = {**chapter.SIMULATIONS["worlds"], "relations": [-0.5, 0, 0.5], "skews": [0, 0.4],
             "choices": [0.5], "at_skew": 0.4, "n_worlds": 2, "size": [50, 60], "systems": FEW,
             "workers": 1, "judged": 0.5}  # fmt: skip
    made: Table = find_maker(f"{setup.CHAPTER}/worlds")(**(asked | changed))
    return made


def test_kinds_of_worlds_and_their_taus() -> None:
    table = small()
    kinds = table.frame[list(worlds.INDEX)].itertuples(index=False, name=None)
    expected = [(0, 0, 1), (-0.5, 0.4, 1), (0, 0.4, 1), (0.5, 0.4, 1)]
    expected += [(-0.5, 0.4, 0.5), (0, 0.4, 0.5), (0.5, 0.4, 0.5)]
    assert list(kinds) == [(*kind, number) for kind in expected for number in (1, 2)]

    name = "world(relation=-0.5,skew=0.4,users=50,items=60,choice=0.5,seed=2)"
    systems = worlds.systems_of_map(FEW, 4)
    found = systems_in(name, systems, seed=2)
    (row,) = table.select(relation=-0.5, choice=0.5, number=2).to_dict("records")
    for quantity, sides in worlds.QUANTITIES.items():
        tau = scipy.stats.kendalltau(*(found[side] for side in sides)).statistic
        assert row[quantity] == pytest.approx(tau, nan_ok=True), quantity


def test_a_map_of_means_over_worlds() -> None:
    table = small(relations=[0.5], skews=[0.4], choices=[])
    found = worlds.agreement_map(table, "P")
    assert found[["relation", "skew"]].to_numpy().tolist() == [[0.5, 0.4]]
    assert found["value"].item() == pytest.approx(table.frame["P"].mean())
    assert found["low"].item() <= found["value"].item() <= found["high"].item()
    for quantity, choice in (("P", 2.0), ("R", 1.0)):
        with pytest.raises(NotComputed):
            worlds.agreement_map(table, quantity, choice=choice)


def of_worlds(text: str, rows: dict[tuple[float, float, float, int], float]) -> Quantity:
    """Evaluate an expression over a table of worlds with one column, ``true``."""
    frame = pd.DataFrame([(*kind, value) for kind, value in rows.items()])
    frame.columns = pd.Index([*worlds.INDEX, "true"])
    frame = frame.assign(**{name: np.nan for name in worlds.QUANTITIES if name != "true"})
    table = Table.of(
        (worlds.INDEX, frame), key="", dataset={"name": "simulations"}, provenance={},
        maker_name=f"{setup.CHAPTER}/worlds", given={},
    )  # fmt: skip
    found = value_of(text, {"worlds": table}, views=chapter.VIEWS)
    assert isinstance(found, Quantity)
    return found


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("*", [-0.6, 0, 0.5]),
        ("0.5", [0.5]),
        (">0", [0.5]),
        (">=0", [0, 0.5]),
        ("<0", [-0.6]),
        ("<=0", [-0.6, 0]),
        ("<=-0.6", [-0.6]),
    ],
)
def test_which_worlds_a_label_means(text: str, meant: list[float]) -> None:
    rows = {(at, 0.2, 1.0, number): at for at in (-0.6, 0, 0.5) for number in (1, 2)}
    means = f"mean(true[{text}, 0.2, 1] in worlds)"
    assert of_worlds(f"smallest({means})", rows).value == meant[0]
    assert of_worlds(f"largest({means})", rows).value == meant[-1]
    assert of_worlds(f"count({means} < 1)", rows).cases == len(meant)


SKEWS = "largest(size(mean(differences(true[>0] in worlds.over_relations))))"


def test_skews_are_compared_after_averaging_over_relations() -> None:
    """Relations that move against each other cancel; worlds of one number are paired."""
    rows = {}
    for number, shift in ((1, 0.0), (2, 0.5)):
        rows[-0.5, 0.2, 1, number] = -0.6 + shift
        rows[0.5, 0.2, 1, number] = -0.2 + shift
        rows[-0.5, 0.8, 1, number] = -0.1 + shift
        rows[0.5, 0.8, 1, number] = -0.4 + shift
        rows[0.5, 0.8, 0, number] = 0.9
        rows[0, 0, 1, number] = 0.9
    found = of_worlds(SKEWS, rows)
    assert found.value == pytest.approx(0.15)
    assert found.interval == pytest.approx((0.15, 0.15))

    # The twin: unpaired worlds would leave the shift between them in the interval.
    rows[-0.5, 0.8, 1, 2] -= 0.5
    rows[0.5, 0.8, 1, 2] -= 0.5
    low, high = of_worlds(SKEWS, rows).interval
    assert high - low > 0.5


def test_of_several_skews_those_count_that_differ_most() -> None:
    levels = {0.2: 0.1, 0.5: -0.3, 0.8: 0.2}
    rows = {(0.5, skew, 1.0, n): level for skew, level in levels.items() for n in (1, 2)}
    assert of_worlds(SKEWS, rows).value == pytest.approx(0.5)


def test_the_extreme_kind_is_the_one_that_is_asked_for() -> None:
    rows = {(0.5, 0.2, 1, n): -0.3 for n in (1, 2)} | {(0.5, 0.8, 1, n): 0.1 for n in (1, 2)}
    for take, value in (("smallest", -0.3), ("largest", 0.1)):
        found = of_worlds(f"{take}(mean(true[>0, *, 1] in worlds))", rows)
        assert found.value == pytest.approx(value)
    for term in ("true[<0, *, 1] in worlds", "unheard[*, *, 1] in worlds"):
        with pytest.raises(NotComputed):
            of_worlds(f"largest(mean({term}))", rows)


def test_kinds_are_counted_where_every_mean_is_above_zero_beyond_noise() -> None:
    """Surely, possibly and not: thirds of the kinds; a second term below 0 takes them away."""
    rows = {}
    for number, shift in ((1, 0.0), (2, 0.1), (3, 0.2)):
        rows[0.5, 0.2, 1, number] = 0.4 + shift
        rows[0.0, 0.2, 1, number] = -0.1 + shift
        rows[-0.5, 0.2, 1, number] = -0.6 + shift
    mean = "mean(true[*, *, *] in worlds)"
    shares = of_worlds(f"share(surely({mean} > 0))", rows)
    assert (shares.value, shares.interval) == (1 / 3, (1 / 3, 2 / 3))
    for least, share in ((0, 1 / 3), (0.6, 0)):
        found = of_worlds(f"share(surely({mean} > 0 and {mean} - {least} > 0))", rows)
        assert found.value == share


@pytest.mark.slow
def test_points_compare_the_orders_that_a_grid_gives() -> None:
    """By folds of the published kind, and a sample of the truth; ends hold the value."""
    asked = {"liked": {SMALL: 4}, "judged": 0.5, "systems": FEW, "seed": 1, "n_resamples": 20}
    table = find_maker(f"{setup.CHAPTER}/points")(**asked)
    found = table.frame.set_index("quantity")
    assert found.index.tolist() == ["skew", "relation", "observed", "true", "P", "antiP"]
    assert ((found["low"] <= found["value"]) & (found["value"] <= found["high"])).all()
    counts = np.sort(load_dataset(SMALL).ratings.item_counts())
    shares = (2 * np.arange(1, 61) - 61) @ counts / (60 * counts.sum())
    assert found.loc["skew", "value"] == pytest.approx(shares)

    grid = Grid(
        SMALL, worlds.systems_of_map(FEW, 4),
        dict.fromkeys(("full", "true"), "AI-AN-AR rel>=4 users=tested"),
        ("P@10", "antiP@10"), split="k-fold 5", seed=1, tests={"true": "truth sample=30"},
    )  # fmt: skip
    results = run(grid)
    orders = {
        (label, metric): [results[name, label, metric].value for name in FEW]
        for label in ("full", "true")
        for metric in ("P@10", "antiP@10")
    }
    for name, one, other in (
        ("observed", ("full", "P@10"), ("full", "antiP@10")),
        ("true", ("true", "P@10"), ("true", "antiP@10")),
        ("P", ("full", "P@10"), ("true", "P@10")),
        ("antiP", ("full", "antiP@10"), ("true", "antiP@10")),
    ):
        tau = scipy.stats.kendalltau(orders[one], orders[other]).statistic
        assert found.loc[name, "value"] == pytest.approx(tau), name


def test_a_bar_is_what_the_ratings_leave_open() -> None:
    name = SMALL.replace("users=50", "users=150")
    table = find_maker(f"{setup.CHAPTER}/bars")(liked={name: 4})
    relation, skew = table.select(quantity="relation"), table.select(quantity="skew")
    expected = fit_relation(load_dataset(name).ratings, 4)
    assert relation[["low", "high"]].to_numpy().tolist() == [list(expected.interval)]
    assert relation["value"].isna().all()
    assert skew["low"].item() == skew["value"].item() == skew["high"].item()


def test_systems_of_a_few_worlds_are_shown_by_their_means() -> None:
    asked = {**chapter.SIMULATIONS["roles"], "relations": [0.5], "skew": 0.4, "n_worlds": 2,
             "size": [50, 60], "systems": FEW, "judged": 0.5, "workers": 1}  # fmt: skip
    made = find_maker(f"{setup.CHAPTER}/roles")(**asked)
    assert made.frame["system"].tolist() == list(FEW)
    both = [
        systems_in(
            f"world(relation=0.5,skew=0.4,users=50,items=60,seed={seed})",
            worlds.systems_of_map(FEW, 4), seed=seed,
        )
        for seed in (1, 2)
    ]  # fmt: skip
    own = made.frame.set_index("system")[both[0].columns]
    pd.testing.assert_frame_equal(own, (both[0] + both[1]) / 2)
