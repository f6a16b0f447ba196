"""What Popularity keeps in uniform tests: Figure 7, controls, and worlds of known ratio."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import scipy.stats

from expressions_at import value_of
from recbias import Grid, run
from recbias.book.chapters import overcoming_popularity_bias as chapter
from recbias.book.chapters.overcoming_popularity_bias import constant_ratio as ratios
from recbias.book.chapters.overcoming_popularity_bias import setup
from recbias.book.chapters.overcoming_popularity_bias.kept import (
    kept_grids,
    kept_systems,
)
from recbias.book.chapters.overcoming_popularity_bias.positive_ratio import (
    positive_ratio,
    ratio_segments,
)
from recbias.claims.evidence import NotTestable
from recbias.data.datasets import Dataset, load_dataset
from recbias.experiment.makers import find_maker
from recbias.experiment.worlds import Seen
from recbias.protocol.testset import dataset_splits
from recbias.recommenders import System

WORLD = "world(relation=0.7,users=120,items=90,density=0.1,skew=0.5)"
LAW = "world(alpha=1,users=300,items=150,density=0.1)"
FALSE_ALARM = 1e-4


# -- Figure 7 ----------------------------------------------------------------------------------


def ratios_by_loops(dataset: Dataset, least: float, segments: int) -> dict[str, Any]:
    """Positive ratios of items by falling number of ratings, in plain containers."""
    stars = defaultdict(list)
    for item, value in zip(dataset.ratings.item, dataset.ratings.value, strict=True):
        stars[int(item)].append(float(value))
    order = sorted(stars, key=lambda item: (-len(stars[item]), item))
    ratio = [sum(value >= least for value in stars[item]) / len(stars[item]) for item in order]
    size, more = divmod(len(order), segments)
    ends = np.cumsum([0] + [size + (number < more) for number in range(segments)])
    found = [float(np.mean(ratio[first:end])) for first, end in pairwise(ends)]
    tenth = len(order) // 10
    return {
        "segments": found,
        "top": float(np.mean(ratio[:tenth])),
        "bottom": float(np.mean(ratio[-tenth:])),
        "of segments": scipy.stats.spearmanr(range(segments), found).statistic,
    }


def seen_ratios(dataset: Dataset, least: float, segments: int) -> tuple[dict[str, Any], Any]:
    index, frame, drawn = positive_ratio.function(
        dataset, min_rating=least, seed=1, uniform="uniform 0.05", n_segments=segments
    )
    values = frame.set_index(list(index))["value"]
    found = {
        "segments": values["ratio", :, "segments"].tolist(),
        "top": values["mean ratio", "top tenth", "items"],
        "bottom": values["mean ratio", "bottom tenth", "items"],
        "of segments": -values["rank correlation", "ratio", "segments"],
    }
    return found, drawn


def test_figure_7_is_what_loops_find():
    dataset = load_dataset(WORLD)
    found, drawn = seen_ratios(dataset, 4, 12)
    expected = ratios_by_loops(dataset, 4, 12)
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, rtol=1e-12, err_msg=name)
    assert drawn.shape[1] == 1000
    # twin: another threshold is another figure
    with pytest.raises(AssertionError):
        np.testing.assert_allclose(found["segments"], ratios_by_loops(dataset, 3, 12)["segments"])


def test_draws_over_users_spread_as_users_drawn_do():
    """Of 300 draws a standard deviation is known to 4 %; first order makes up for no more here."""
    dataset = load_dataset(WORLD)
    ratings = dataset.ratings
    _, drawn = seen_ratios(dataset, 4, 6)
    order = np.argsort(-ratings.item_counts(), kind="stable")
    rng = np.random.default_rng(5)
    found = []
    for _ in range(300):
        weight = np.bincount(rng.integers(ratings.n_users, size=ratings.n_users),
                             minlength=ratings.n_users)[ratings.user]  # fmt: skip
        counts = np.bincount(ratings.item, weight, minlength=ratings.n_items)
        liked = np.bincount(ratings.item, weight * (ratings.value >= 4), minlength=ratings.n_items)
        with np.errstate(invalid="ignore"):
            ratio = liked / counts
        found.append([np.nanmean(ratio[part]) for part in np.array_split(order, 6)])
    direct, linear = np.std(found, axis=0), drawn[:6].std(axis=1)
    assert (np.abs(linear[:4] / direct[:4] - 1) < 0.25).all()
    # twin: draws of half the width
    assert not (np.abs(linear[:4] / 2 / direct[:4] - 1) < 0.25).any()


def test_equal_ratios_have_no_order():
    dataset = load_dataset(WORLD)
    index, frame, _ = positive_ratio.function(dataset, min_rating=0, seed=1, uniform="uniform 0.05")
    values = frame.set_index(list(index))["value"]
    assert (values["ratio", :, "segments"] == 1).all()
    assert np.isnan(values["rank correlation", "ratio", "segments"])


def test_ratio_segments_are_rows_of_the_table():
    given = {"min_rating": 4, "seed": 1, "uniform": "uniform 0.05", "n_segments": 5}
    table = find_maker(f"{setup.CHAPTER}/positive_ratio")(WORLD, **given)
    shown = ratio_segments(table)
    assert shown["segment"].tolist() == [1, 2, 3, 4, 5]
    assert ((shown["low"] < shown["ratio"]) & (shown["ratio"] < shown["high"])).all()
    assert shown["ratings"].is_monotonic_decreasing
    assert table[
        {"quantity": "items", "label": "percentile", "system": "widths"}
    ].value == pytest.approx(np.count_nonzero(load_dataset(WORLD).ratings.item_counts()) / 10)


# -- rankings on data --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def kept():
    asked = kept_grids(4, cutoff=10, size=30, uniform="uniform 0.05")
    return {
        name: run(Grid(WORLD, kept_systems(4), seed=1, **{"split": "k-fold 2", **given}))
        for name, given in asked.items()
    }


def value(results, system, label, name):
    return results[system, label, str(results.metric(label, name))].value


def test_with_training_items_all_rankings_score_alike_if_every_rating_is_positive(kept):
    """Each of the ten items listed for everybody has as many test ratings as any other."""
    results = kept["kept_uniform"]
    fold = dataset_splits(load_dataset(WORLD), "uniform 0.05", seed=1)[0]
    (each,) = set(np.bincount(fold.test.item)[fold.test_items])
    for system in results.systems[1:]:
        found = value(results, system, "positive UAR-control", "P")
        assert found == pytest.approx(each / fold.test.n_users, rel=1e-12)
        assert found == pytest.approx(value(results, system, "positive UAR-control", "rho"))
    # twins: without training items in the pool, or with some ratings positive only
    for label in ("positive UAR", "UAR-control"):
        scored, random = (value(results, "Popularity", label, name) for name in ("P", "rho"))
        assert abs(scored - random) > 0.02 * random


def test_what_is_combined_is_kept(kept):
    for name, given in kept_grids(4, cutoff=10, size=30).items():
        assert set(given["replicates"]) <= {
            (label, metric) for label, metrics in given["metrics"].items() for metric in metrics
        }
        for label, metric in given["replicates"]:
            if name == "kept_uniform":
                assert kept[name]["Popularity", label, metric].drawn.std() >= 0


@pytest.fixture(scope="module")
def draws():
    given = {"min_rating": 4, "seed": 1, "cutoff": 10, "size": 30, "uniform": "uniform 0.05"}
    return find_maker(f"{setup.CHAPTER}/uniform_draws")(WORLD, **given)


def test_the_first_draw_of_a_uniform_test_is_that_of_the_grid(kept, draws):
    """Random scores the same; a ranking may break its ties otherwise."""
    assert draws.index == ("relevant", "number", "system")
    by_draw = draws.frame.set_index(["number", "system"])
    assert len(by_draw) == 10 * len(kept["kept_uniform"].systems[1:])
    first, second = (by_draw.loc[(number, "Popularity")] for number in (1, 2))
    for label in ("UAR", "UAR-control", "U1R", "U1R-control"):
        scored, random = (
            value(kept["kept_uniform"], "Popularity", f"positive {label}", name)
            for name in ("P", "rho")
        )
        assert first[f"rho {label}"] == pytest.approx(random, rel=1e-12)
        assert first[label] == pytest.approx(scored, rel=0.01)
    assert second["rho UAR"] != pytest.approx(first["rho UAR"], rel=1e-6)  # twin: another draw
    assert first["U1R"] != pytest.approx(first["U1R-control"], rel=0.02)  # twin: another pool


def test_draws_of_the_test_vary_less_than_users_drawn_again(kept, draws):
    """Users drawn again do not have each item equally often, as every draw of the test has."""
    own = draws.frame[draws.frame["system"] == "Popularity"]["U1R-control"]
    (metric,) = (
        m for m in kept["kept_uniform"].grid.by_label["positive U1R-control"] if m[0] == "P"
    )
    over_users = kept["kept_uniform"]["Popularity", "positive U1R-control", metric].drawn.std()
    assert own.std() < over_users / 2


@pytest.mark.parametrize("size", [30, 60])
def test_small_pools_of_draws_are_closed(draws, size):
    """Random hits one of as many: 51 are enough."""
    results = {"uniform_draws": dataclasses.replace(
        draws, frame=draws.frame.assign(**{"rho U1R": 1 / size})
    )}  # fmt: skip
    terms = 'U1R[all] of Popularity in {0} - "rho U1R"[all] of Popularity in {0}'
    large = f"in_standard_errors({terms.format('uniform_draws.large')})"
    own = draws.frame.loc[draws.frame["system"] == "Popularity", "U1R"] - 1 / size
    asked = {"functions": chapter.FUNCTIONS, "views": chapter.VIEWS}
    expected = abs(own.mean()) / own.sem()
    if size > 50:
        assert value_of(large, results, **asked) == pytest.approx(expected)
        return
    with pytest.raises(NotTestable, match="pool too small"):
        value_of(large, results, **asked)
    every = f"in_standard_errors({terms.format('uniform_draws')})"
    assert value_of(every, results, **asked) == pytest.approx(expected)


# -- worlds ------------------------------------------------------------------------------------

ASKED = {
    "systems": ("Popularity", "Average rating"),
    "cutoff": 10,
    "size": 50,
    "split": "ratio 0.2",
    "uniform": "uniform 0.1",
}


def test_worlds_are_measured_as_the_controls_foretell():
    """Every rating positive: UAR with training items is exact, and no ratio rises."""
    _, rows = ratios._measure("alpha", {1: LAW}, n_worlds=1, min_rating=1, **ASKED)
    assert rows["UAR-control"].to_numpy() == pytest.approx(rows["rho UAR-control"].to_numpy())
    assert rows["rise"].tolist() == [1, 1]
    assert (rows["gain"] == rows["U1R"] / rows["rho U1R"]).all()
    assert (rows["gain-control"] == rows["U1R-control"] / rows["rho U1R-control"]).all()
    assert rows.loc[0, "UAR"] > 1.05 * rows.loc[0, "rho UAR"]  # twin: without training items


def test_a_world_like_movielens_1m_has_the_values_that_were_measured_elsewhere():
    """With one positive ratio for all items; by another program 1R .0440, U1R .0118, .0100."""
    given = {"n_worlds": 1, "systems": ("Popularity",), "workers": 1}
    _, frame = ratios.constant_ratio.function(**{**ratios.CONSTANT_RATIO, **given})
    (row,) = frame.to_dict("records")
    found = [row[label] for label in ("1R", "U1R", "U1R-control")]
    assert found == pytest.approx([0.0440, 0.0118, 0.0100], abs=0.001)


def test_the_rise_is_counted_by_loops():
    dataset = load_dataset(WORLD)
    fold = dataset_splits(dataset, "uniform 0.05", seed=1)[0]
    tested = sorted({int(item) for item in fold.test.item})
    trained = dict.fromkeys(tested, 0)
    for item in fold.train.item:
        if int(item) in trained:
            trained[int(item)] += 1
    popular = sorted(tested, key=lambda item: (-trained[item], item))[: len(tested) // 10]

    def liked(items):
        stars = [v for i, v in zip(fold.test.item, fold.test.value, strict=True) if i in items]
        return sum(star >= 4 for star in stars) / len(stars)

    ranked = Seen(dataset, 1).ranked(System("Popularity", "Popularity", {}), fold)
    rise = ratios._rise(ranked, min_rating=4)["rise"]
    assert rise == pytest.approx(liked(popular) / liked(tested), rel=1e-12)
    assert rise != pytest.approx(liked(tested[:9]) / liked(tested), rel=1e-3)


def test_where_ratios_are_constant_only_the_control_is_exact():
    """Twenty worlds, a test of Student's; false alarm once in ten thousand."""
    popularity = {**ASKED, "systems": ("Popularity",)}
    _, rows = ratios._measure("alpha", {1: LAW}, n_worlds=20, min_rating=4, **popularity)
    p = {
        label: scipy.stats.ttest_1samp(rows[label] - rows[f"rho {label}"], 0).pvalue
        for label in ("U1R", "U1R-control")
    }
    assert p["U1R-control"] > FALSE_ALARM
    assert p["U1R"] < FALSE_ALARM  # twin: without training items in the pool


def test_makers_lay_out_worlds_by_kind_and_number():
    small = {"n_worlds": 2, "systems": ("Popularity",), "min_rating": 4, "cutoff": 10, "size": 50,
             "split": "ratio 0.2", "uniform": "uniform 0.1", "workers": 1}  # fmt: skip
    name = f"{setup.CHAPTER}/rising_ratio"
    table = find_maker(name)(relations=(-1.0, 1.0), **small)
    assert table.index == ("relation", "number", "system")
    assert table.frame["relation"].tolist() == [-1, -1, 1, 1]
    assert table.frame["number"].tolist() == [1, 2, 1, 2]
    gain = table.frame.groupby("relation")["gain-control"].mean()
    assert gain[-1] < 1 < gain[1]
    assert set(chapter.SIMULATIONS) >= {"constant_ratio", "rising_ratio"}
