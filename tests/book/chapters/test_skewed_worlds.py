"""Simulations of popularity bias: what they measure, against loops that share no code with them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from functools import partial
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from expressions_at import value_of
from recbias._system.places import cells_kept_in
from recbias.book.chapters.popularity_bias import (
    VIEWS,
    few_liked,
    law,
    pure_skew,
    relation_map,
    setup,
    skew,
)
from recbias.claims.evidence import NotComputed
from recbias.data.datasets import load_dataset
from recbias.data.ratings import Ratings
from recbias.errors import ConfigError
from recbias.experiment import worlds
from recbias.experiment.makers import Table, find_maker
from recbias.experiment.results import Quantity
from recbias.experiment.worlds import Seen, World, WorldGrid, run_worlds
from recbias.metrics import measure, parse_metric
from recbias.protocol.splits import Split
from recbias.protocol.targets import TargetRule
from recbias.protocol.testset import dataset_splits
from recbias.recommenders import System

SMALL = "world(relation=0.5,users=60,items=40,density=0.1,skew=0.4)"
FALSE_ALARM = 1e-4
POPULAR = System("Popularity", "Popularity", {})


@pytest.fixture(autouse=True)
def _own_cells(tmp_path: Path) -> Iterator[None]:
    with cells_kept_in(tmp_path / "cells"):
        yield


def fold_of(name: str, seed: int = 1) -> Split:
    return dataset_splits(load_dataset(name), "ratio 0.2", seed=seed)[0]


def rated(fold: Split) -> tuple[list[set[int]], list[dict[int, float]]]:
    """Training items and test ratings of each user, in plain containers."""
    train: list[set[int]] = [set() for _ in range(fold.train.n_users)]
    test: list[dict[int, float]] = [{} for _ in range(fold.train.n_users)]
    for user, item in zip(fold.train.user, fold.train.item, strict=True):
        train[user].add(int(item))
    for user, item, value in zip(fold.test.user, fold.test.item, fold.test.value, strict=True):
        test[user][int(item)] = float(value)
    return train, test


def fixed(seen: Seen, fold: Split, score: np.ndarray) -> Any:
    return relation_map._ByLiking(score)


def fixed_at(score: np.ndarray) -> tuple[str, Any]:
    return "fixed", partial(fixed, score=score)


def value_in(world: World, system: Any, rule: str, metric: str) -> float:
    grid = WorldGrid([world], [system], {rule: f"{rule} rel>=4"}, {metric: (rule, metric)})
    (rows,) = run_worlds(grid)
    return float(rows[metric].iloc[0])


def runs_by_enumeration(
    fold: Split, score: np.ndarray, least: float, cutoff: int, size: int
) -> float:
    """1RP of scores without ties: every relevant item among all samples of the others."""
    train, test = rated(fold)
    tested = {int(item) for item in fold.test.item}
    values = []
    for user, stars in enumerate(test):
        liked = {item for item, value in stars.items() if value >= least}
        pool = sorted(tested - train[user] - liked)
        drawn = min(size - 1, len(pool))
        for item in liked:
            above = sum(score[other] > score[item] for other in pool)
            ways = sum(
                comb(above, x) * comb(len(pool) - above, drawn - x)
                for x in range(min(cutoff - 1, above, drawn) + 1)
                if drawn - x <= len(pool) - above
            )
            values.append(ways / comb(len(pool), drawn) / cutoff)
    return float(np.mean(values))


# ------------------------------------------------------------------------------- counts by a law


def test_worlds_are_of_the_size_of_movielens_1m() -> None:
    ratings = load_dataset(law.world_name(2, 3)).ratings
    assert (len(ratings), ratings.n_users, ratings.n_items) == (1_000_209, 6040, 3706)
    assert law.world_name(2, 3).count("seed=3") == 1


@pytest.mark.slow
def test_what_is_looked_at_before_ranking() -> None:
    found = law.laws(**{**law.LAWS, "alphas": [0, 2], "n_worlds": 1}).frame
    assert found["off_total"].tolist() == found["absent"].tolist() == [0, 0]
    assert (found["off_law"] < 1).all()
    flat, steep = found["relation"]
    assert flat < 0 < steep
    assert found["closed_lower"].lt(found["closed_upper"]).all()
    assert found["closed_lower"].lt(found["closed_whole"]).all()
    # From the law itself: what the less popular half has, and the first item over the middle one.
    for alpha, tail, steep in zip((0, 2), found["tail"], found["steep"], strict=True):
        shape = (317 + np.arange(1, 3707)) ** -float(alpha)
        assert tail == pytest.approx(shape[1853:].sum() / shape.sum(), rel=0.01)
        assert steep == pytest.approx(shape[0] / shape[1852], rel=0.02)


@pytest.mark.parametrize("alpha", [0, 1, 3])
def test_counts_alone_predict_popularity_where_nobody_prefers_anything(alpha: int) -> None:
    """The prediction and what is measured, over worlds; in a world with preferences they differ."""

    def gaps(name: str) -> list[float]:
        found = []
        for seed in range(1, 13):
            fold = fold_of(f"{name},seed={seed})", seed)
            measured = value_in(
                World(f"{name},seed={seed})", seed), POPULAR, "TI-AN-1R", "P@5|t=30"
            )
            found.append(law.counted(fold, min_rating=4, cutoff=5, size=30) / measured - 1)
        return found

    assert scipy.stats.ttest_1samp(gaps(f"world(alpha={alpha},users=300,items=200"), 0).pvalue > (
        FALSE_ALARM
    )
    if alpha == 1:
        liking = gaps("world(relation=0.9,users=300,items=200")
        assert scipy.stats.ttest_1samp(liking, 0).pvalue < FALSE_ALARM


@pytest.mark.slow
def test_a_law_is_found_again() -> None:
    source = load_dataset("world(alpha=1.4,users=6040,items=3706,ratings=1000209)")
    found = law.fitted.function(source)[1].set_index("fit")
    assert found.loc["least squares, c1 from 0", "alpha"] == pytest.approx(1.4, abs=0.01)
    assert found.loc["least squares, alpha 1.4", "c2"] == pytest.approx(317, abs=1)
    assert (found["explained"] > 0.9999).all()
    other = load_dataset("world(alpha=2,users=6040,items=3706,ratings=1000209)")
    assert law.fitted.function(other)[1]["alpha"].iloc[0] == pytest.approx(2, abs=0.01)


# --------------------------------------------------------------------------- systems over the skew


def test_expectations_over_samples_are_those_of_all_samples() -> None:
    name = "world(alpha=2,users=40,items=30,density=0.2)"
    fold = fold_of(name)
    score = np.random.default_rng(3).permutation(30).astype(float)
    found = value_in(World(name, 1), fixed_at(score), "TI-AN-1R", "P@3|t=8")
    assert found == pytest.approx(runs_by_enumeration(fold, score, 4, 3, 8), rel=1e-12)
    other = score.max() - score
    assert found != pytest.approx(runs_by_enumeration(fold, other, 4, 3, 8), rel=1e-3)


def test_a_table_over_the_skew_has_trained_systems_in_few_worlds_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    small = "world(alpha={:g},users=200,items=150,seed={})"
    monkeypatch.setattr(skew, "world_name", small.format)
    given = {**skew.SKEW, "alphas": [0, 2], "n_worlds": 3, "n_trained": 1,
             "trained": ["pLSA"], "workers": 1}  # fmt: skip
    found = find_maker(f"{setup.CHAPTER}/skew")(**given).frame
    assert found.groupby("system").size().to_dict() == {"Popularity": 6, "Random": 6, "pLSA": 2}
    means = found.groupby(["alpha", "system"])["P@10|t=100"].mean()
    assert means[0, "Popularity"] < means[0, "Random"] < means[2, "Popularity"]


def test_twins_have_the_same_counts_and_other_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Ratings] = []
    train = Seen.trained

    def keep(self: Seen, *given: Any) -> Any:
        seen.append(self.ratings)
        return train(self, *given)

    monkeypatch.setattr(Seen, "trained", keep)
    given = {**skew.TWINS, "world": "world(users=120,items=90)", "n_worlds": 2,
             "systems": ["Popularity"], "workers": 1}  # fmt: skip
    found = find_maker(f"{setup.CHAPTER}/twins")(**given)
    assert found.frame["kind"].tolist() == ["preferences", "no preferences"] * 2
    for own, twin in (seen[:2], seen[2:]):
        for counts in ("user_counts", "item_counts"):
            assert (getattr(own, counts)() == getattr(twin, counts)()).all()
        assert (own.item != twin.item).any()
    assert (seen[0].user_counts() != seen[2].user_counts()).any()


def test_few_liked_items_make_popularity_nearly_the_best() -> None:
    found = find_maker(f"{setup.CHAPTER}/few_liked")(**{**few_liked.FEW_LIKED, "n_worlds": 2})
    means = found.frame.groupby(["kind", "system"])["P@10"].mean()
    reached = means.xs("Popularity", level="system") / means.xs(few_liked.IDEAL, level="system")
    assert reached["few"] > reached["few of many"] > 0.5 > reached["even"]
    # All that users like of the first kind, a fifth of it in the test: nobody has more than ten.
    assert means["few", few_liked.IDEAL] == pytest.approx(
        0.2 * (8 * 0.95 + 192 * 0.001) / 10, rel=0.05
    )
    # Evenly spread there are as many liked pairs.
    few, even = (means[kind, few_liked.IDEAL] for kind in ("few", "even"))
    assert even == pytest.approx(few, rel=0.05)


# ------------------------------------------------------------------- what criteria compute of them


def table(index: tuple[str, ...], rows: list[tuple[Any, ...]], columns: list[str]) -> Table:
    frame = pd.DataFrame(rows, columns=[*index, *columns])
    return Table(key="", dataset={"name": "simulations"}, maker_name="", given={}, index=index,
                 frame=frame)  # fmt: skip


WORLDS = table(
    ("alpha", "number", "system"),
    [
        (0.0, 1, "A", 1.0, 5.0), (0.0, 2, "A", 2.0, 4.0), (0.0, 3, "A", 3.0, 0.0),
        (1.0, 1, "A", 4.0, 6.0), (1.0, 2, "A", 4.0, 6.0), (1.0, 3, "A", 7.0, 3.0),
        (2.0, 1, "A", 8.0, 7.0), (2.0, 2, "A", 9.0, 9.0), (2.0, 3, "A", 7.0, 1.0),
        (0.0, 1, "B", 2.0, 5.0), (0.0, 2, "B", 2.0, 4.0),
        (1.0, 1, "B", 5.0, 5.0), (1.0, 2, "B", 8.0, 4.0),
        (2.0, 1, "B", 4.0, 5.0), (2.0, 2, "B", 3.0, 4.0),
    ],
    ["x", "y"],
)  # fmt: skip


def computed(text: str) -> Any:
    return value_of(text, {"t": WORLDS})


def test_means_over_worlds_have_the_interval_of_student() -> None:
    found = computed("mean(x[0] of A in t)")
    assert found.value == 2
    expected = scipy.stats.t.interval(0.95, 2, 2, 1 / np.sqrt(3))
    assert found.interval == pytest.approx(expected)
    assert computed("largest(mean(x[*] of A in t))").value == 8
    assert computed("smallest(mean(x[>=1] of A in t))").value == 5


def test_terms_are_combined_world_by_world_for_the_worlds_that_both_have() -> None:
    difference = computed("mean(x[1] of A in t - x[1] of B in t)")
    assert difference.value == np.mean([4 - 5, 4 - 8])
    expected = scipy.stats.t.interval(0.95, 1, -2.5, np.std([-1, -4], ddof=1) / np.sqrt(2))
    assert difference.interval == pytest.approx(expected)
    assert computed("mean(x[2] of A in t / x[2] of B in t)").value == np.mean([8 / 4, 9 / 3])
    apart = computed("largest(size(mean(x[*] of B in t / x[*] of A in t - 1)))")
    assert apart.value == pytest.approx(np.mean([5 / 4 - 1, 8 / 4 - 1]))


def test_rises_growth_and_courses_follow_the_kinds() -> None:
    rise = "smallest(mean(known(rises(x[*] of {} in t))))".format
    assert computed(rise("A")).value == pytest.approx((4 + 5 + 0) / 3)
    assert computed(rise("B")).value == np.mean([4 - 5, 3 - 8])
    growth = computed("mean(last(x[*] of A in t) / first(x[*] of A in t))")
    assert growth.value == np.mean([8, 9 / 2, 7 / 3])


@pytest.mark.parametrize(
    ("function", "by_hand"),
    [("correlation", scipy.stats.pearsonr), ("rank_correlation", scipy.stats.spearmanr)],
)
def test_courses_are_correlated_in_each_world(function: str, by_hand: Any) -> None:
    course = computed(f"mean({function}(x[*] of A in t, y[*] of A in t))")
    x = [[1, 4, 8], [2, 4, 9], [3, 7, 7]]
    y = [[5, 6, 7], [4, 6, 9], [0, 3, 1]]
    values = [by_hand(a, b)[0] for a, b in zip(x, y, strict=True)]
    assert course.value == pytest.approx(np.mean(values))
    expected = scipy.stats.t.interval(0.95, 2, course.value, scipy.stats.sem(values))
    assert course.interval == pytest.approx(expected)


def test_every_world_counts() -> None:
    assert computed("largest(x[0] of A in t)") == 3
    assert computed("smallest(x[*] of A in t - y[*] of A in t)") == -4
    assert computed("largest(x[*] of A in t - y[*] of A in t)") == 6


def test_one_world_has_no_interval() -> None:
    alone = table(("alpha", "number"), [(0.0, 1, 2.5)], ["x"])
    found = value_of("mean(x[0] in t)", {"t": alone})
    assert isinstance(found, Quantity)
    assert found.value == 2.5
    assert np.isnan(found.interval).all()
    with pytest.raises(NotComputed, match=r"^mean"):
        value_of("known(mean(x[0] in t))", {"t": alone})


@pytest.mark.parametrize("term", ["x[3] of A in t", "x[0] of C in t", "z[0] of A in t"])
def test_what_no_world_has_is_not_computed(term: str) -> None:
    with pytest.raises(NotComputed):
        computed(f"mean({term})")


def test_the_map_is_read_by_design_relation_and_skew() -> None:
    rows = [
        (relation, 0.65, number, system, *seen, true, 0.25)
        for relation in (-1.0, 1.0)
        for number, seen, true in (
            (1, (0.04, 0.01, 0.3, 0.1), 0.5), (2, (0.06, 0.01, 0.5, 0.1), 0.5)
        )
        for system in ("Popularity", relation_map.LIKING)
    ]  # fmt: skip
    columns = [
        *(name for names in relation_map.METRICS.values() for name in names),
        "true",
        "chance",
    ]
    made = table(("relation", "skew", "number", "system"), rows, columns)

    def read(term: str) -> Any:
        return value_of(f"{term} in relation_map.mapped", {"relation_map": made}, views=VIEWS)

    assert read("observed[1R, -1, 0.65]").value == pytest.approx(5)
    assert read("observed[AR, -1, 0.65]").value == pytest.approx(4)
    assert read("true[1R, 1, 0.65]").value == pytest.approx(2)
    assert read("true[1R, 1, 0.65]").interval == pytest.approx((2, 2))
    over = read("overrated[1R, 1, 0.65]")
    assert over.value == pytest.approx(2.5)
    assert over.interval == pytest.approx(
        scipy.stats.t.interval(0.95, 1, 2.5, np.std([2, 3], ddof=1) / np.sqrt(2))
    )
    with pytest.raises(NotComputed, match="1R, 0, 0"):
        read("observed[1R, 0, 0.65]")


# ------------------------------------------------------------------------------- counts of a data


def test_pure_skew_is_nothing_but_the_ratio_of_two_means() -> None:
    dataset = load_dataset("world(relation=0.6,users=150,items=100,density=0.08)")
    given = {"min_rating": 4, "split": "k-fold 3", "cutoff": 2, "size": 20, "n_sampled": 30,
             "seed": 1, "n_worlds": 3}  # fmt: skip
    found = find_maker(f"{setup.CHAPTER}/pure_skew")(dataset.name, **given)
    shares = pure_skew.skew_shares(found).set_index("design")
    assert (shares["share"] == shares[pure_skew.WORLD] / shares[pure_skew.DATA]).all()
    assert ((shares["low"] < shares["share"]) & (shares["share"] < shares["high"])).all()
    # The score on the data, by loops over all folds; of items that tie any is as likely.
    hits, users = 0.0, 0
    for fold in dataset_splits(dataset, "k-fold 3", seed=1):
        counts = fold.train.item_counts()
        for stars in rated(fold)[1]:
            free = 2
            for count in sorted({int(counts[item]) for item in stars}, reverse=True):
                tied = [value >= 4 for item, value in stars.items() if counts[item] == count]
                listed = 0 if count == 0 else min(free, len(tied))
                hits, free = hits + listed * float(np.mean(tied)), free - listed
            users += 1
    assert shares.loc["R_test", pure_skew.DATA] == pytest.approx(hits / users / 2, rel=0.03)
    assert shares.loc["R_test", pure_skew.RANDOM] != pytest.approx(hits / users / 2, rel=0.03)
    with pytest.raises(ConfigError, match="an interval over worlds needs two at least"):
        find_maker(f"{setup.CHAPTER}/pure_skew")(dataset.name, **{**given, "n_worlds": 1})


def test_pure_skew_has_the_interval_of_student_over_worlds_of_their_own() -> None:
    """Worlds one by one; a thousand replicates leave their spread open by a few percent."""
    dataset = load_dataset("world(relation=0.6,users=150,items=100,density=0.08)")
    given = {"min_rating": 4, "split": "k-fold 3", "cutoff": 2, "size": 20, "n_sampled": 30,
             "seed": 1, "n_worlds": 4}  # fmt: skip
    found = find_maker(f"{setup.CHAPTER}/pure_skew")(dataset.name, **given)
    values = []
    for number in range(1, 5):
        world = pure_skew._twin(dataset.ratings, number)
        assert (world.item_counts() == dataset.ratings.item_counts()).all()
        seen = Seen(dataclasses.replace(dataset, ratings=world), number)
        ranked = seen.ranked(POPULAR, seen.fold("k-fold 3"))
        table = ranked.positions.table(TargetRule.parse("TI-AN-AR"))
        measured = measure(table, [parse_metric("P@2")], min_rating=4)
        values.append(float(measured.mean()))
    assert len(set(values)) == 4
    of_worlds = found[{"design": "AR", "quantity": pure_skew.WORLD}]
    assert of_worlds.value == pytest.approx(np.mean(values))
    half = scipy.stats.t.ppf(0.975, 3) * np.std(values, ddof=1) / 2
    low, high = of_worlds.interval
    assert (high - low) / 2 == pytest.approx(half, rel=0.1)


def test_data_without_preferences_are_pure_skew() -> None:
    """On a world that is free of preferences the share is 1; where liking agrees, below it."""
    given = {"min_rating": 4, "split": "k-fold 5", "cutoff": 10, "size": 100, "n_sampled": 100,
             "seed": 1, "n_worlds": 4}  # fmt: skip
    name = f"{setup.CHAPTER}/pure_skew"
    free, liking = (
        pure_skew.skew_shares(find_maker(name)(world, **given)).set_index("design").loc["1R"]
        for world in ("world(alpha=2,users=500,items=400)", "world(relation=0.9,choice=0)")
    )
    assert free["low"] < 1 < free["high"]
    assert liking["high"] < 0.95


# ------------------------------------------------------------------------------------------ the map


def by_loops(fold: Split, liked: np.ndarray, score: np.ndarray, cutoff: int) -> tuple[float, float]:
    """True precision of fixed scores without ties, and that of random lists, user by user."""
    train, _ = rated(fold)
    known = {int(item) for item in fold.train.item}
    listed, chances = [], []
    for user, own in enumerate(train):
        others = [item for item in range(len(score)) if item not in own]
        best = sorted(known & set(others) if known else others, key=lambda item: -score[item])
        del best[cutoff:]
        listed.append(sum(bool(liked[user, item]) for item in best) / cutoff)
        chances.append(np.mean([liked[user, item] for item in others]))
    return float(np.mean(listed)), float(np.mean(chances))


def test_the_map_measures_what_loops_do() -> None:
    dataset = load_dataset(SMALL)
    fold = dataset_splits(dataset, "ratio 0.2", seed=1)[0]
    liked = np.asarray(dataset.truth.true_rating(np.arange(60)) >= 4)  # type: ignore[union-attr]
    score = np.random.default_rng(5).permutation(40).astype(float)
    score[fold.train.item_counts() == 0] -= 100  # whom nobody rated comes last in both
    grid = relation_map.map_grid([World(SMALL, 1)], 4, "ratio 0.2")
    (rows,) = run_worlds(dataclasses.replace(grid, systems=[fixed_at(score)]))
    found = rows.iloc[0]
    true, chance = by_loops(fold, liked, score, 10)
    assert found["true"] == pytest.approx(true, rel=1e-12)
    assert found["chance"] == pytest.approx(chance, rel=1e-12)
    expected = runs_by_enumeration(fold, score, 4, 10, 100)
    assert found["P@10|t=100"] == pytest.approx(expected, rel=1e-12)
    assert by_loops(fold, ~liked, score, 10)[0] != pytest.approx(true, rel=1e-3)


def test_cells_of_the_map_are_means_over_worlds() -> None:
    rows = []
    for number, (seen, true) in enumerate([(0.04, 0.3), (0.06, 0.2)], start=1):
        for system, least in (("Popularity", 0.0), (relation_map.LIKING, 0.25)):
            observed = seen if system == "Popularity" else 0.05
            rows.append((0.0, 0.5, number, system, observed, 0.01, 0.1, 0.05, true + least, 0.2))
    columns = ["P@10|t=100", "rho|t=100", "P@10", "rho", "true", "chance"]
    made = table(("relation", "skew", "number", "system"), rows, columns)
    (cell,) = relation_map.mapped(made).to_dict("records")
    assert cell["observed"] == pytest.approx(5)
    assert cell["true"] == pytest.approx(1.25)
    assert cell["overrated"] == pytest.approx(np.mean([4 / 1.5, 6 / 1]))
    assert cell["reversed"] == 0.5
    (other,) = relation_map.mapped(made, "AR").to_dict("records")
    assert other["overrated"] == pytest.approx(np.mean([2 / 1.5, 2 / 1]))


def test_points_of_a_world_and_of_a_sample_of_it_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    """A random part of what is true places a data set where the whole truth does."""
    world = load_dataset("world(users=400,items=200,relation=0.6)")
    sampled = dataclasses.replace(
        world,
        truth=None,
        unbiased=world.truth.sample(60, rng=np.random.default_rng(2)),  # type: ignore[union-attr]
    )
    blind = dataclasses.replace(world, truth=None)
    found = {}
    for name, dataset in (("whole", world), ("sampled", sampled)):
        monkeypatch.setattr(worlds, "load_dataset", lambda _, own=dataset: own)
        given = {"liked": {"synthetic": 4}, "split": "ratio 0.2", "seed": 1, "n_resamples": 200}
        made = find_maker(f"{setup.CHAPTER}/points")(**given)
        found[name] = made.frame.set_index("quantity")
    whole, part = found["whole"], found["sampled"]
    for quantity in ("relation", "true", "overrated"):
        width = part.loc[quantity, "high"] - part.loc[quantity, "low"]
        assert abs(part.loc[quantity, "value"] - whole.loc[quantity, "value"]) < width
    assert whole.loc["skew", "value"] == part.loc["skew", "value"]
    monkeypatch.setattr(worlds, "load_dataset", lambda _: blind)
    with pytest.raises(ConfigError, match="neither truth nor an unbiased part"):
        find_maker(f"{setup.CHAPTER}/points")(**given)
