"""Judgments that are held out before observed ratings are split: are they an unbiased truth?

The world is made as CM100k is: users rate items drawn at random, and observed are the ratings of
those that they knew. What they like of all other items is known here, so that estimates of true
precision can be compared with it. More is judged than there, which makes what is wrong stand out.
"""

from __future__ import annotations

import functools

import numpy as np
import pandas as pd
import pytest

from recbias.book.chapters.overcoming_popularity_bias.true_orders import (
    true_orders,
    true_orders_parameters,
)
from recbias.data.datasets import Dataset, dataset_info
from recbias.data.ratings import Ratings
from recbias.errors import ConfigError
from recbias.experiment.cells import grid_cells
from recbias.experiment.grid import Grid, judgments_hash
from recbias.protocol.testset import TestSet, dataset_splits
from recbias.recommenders import System

N_USERS, N_ITEMS, JUDGED, FOLDS, SURE = 700, 300, 0.5, 5, 4.0
"""Estimates may be 4 standard errors off: of 30 that are looked at, one is by chance in 500."""

RULES = ["ratio 0.2", "uniform 0.2"]
OBSERVED, TRUTH = (
    TestSet.parse(text) for text in ("observed held=5", "unbiased train=observed held=5")
)


@functools.cache
def world():
    """Give data whose observed ratings are among those drawn, what is known, and what is liked."""
    rng = np.random.default_rng(11)
    share = np.clip(0.9 * np.arange(1, N_ITEMS + 1) ** -0.4, 0.05, 1)
    knows = rng.random((N_USERS, N_ITEMS)) < share
    likes = rng.random((N_USERS, N_ITEMS)) < 0.2 + 0.5 * share
    drawn = rng.random((N_USERS, N_ITEMS)) < JUDGED
    user, item = np.nonzero(drawn)
    frame = pd.DataFrame({"user_id": user, "item_id": item, "rating": 1.0 + 4 * likes[user, item]})
    every = Ratings.from_frame(frame)
    assert (every.user_ids.astype(int) == np.arange(N_USERS)).all()
    assert (every.item_ids.astype(int) == np.arange(N_ITEMS)).all()
    observed = every.take(knows[every.user, every.item])
    data = Dataset(observed, dataset_info("cm100k"), "made here", unbiased=every)
    return data, knows, likes


@functools.cache
def splits(rule):
    """Split twice: the folds of the observed side, and those of the truth about them."""
    data, *_ = world()
    return [dataset_splits(data, rule, seed=3, judgments=side) for side in (OBSERVED, TRUTH)]


def marked(ratings):
    found = np.zeros((N_USERS, N_ITEMS), dtype=bool)
    found[ratings.user, ratings.item] = True
    return found


def unjudged(data, train):
    """Take all random judgments outside training, as if nothing had to be held out."""
    return marked(data.unbiased) & ~marked(train)


@pytest.mark.parametrize("rule", [*RULES, "k-fold 2"])
def test_what_is_held_out_is_neither_trained_on_nor_in_the_observed_test(rule):
    data, *_ = world()
    every, known = marked(data.unbiased), marked(data.ratings)
    taken, n_splits = np.zeros_like(every, dtype=int), 2 if rule == "k-fold 2" else 1
    for number, (observed, true) in enumerate(zip(*splits(rule), strict=True)):
        train, test, held = map(marked, (observed.train, observed.test, true.test))
        assert (marked(true.train) == train).all()
        assert (held <= every).all()
        assert not (held & (train | test)).any()
        assert ((train | test) <= known).all()
        assert (observed.fold, true.fold) == (number, number)
        assert (true.test_items == np.flatnonzero(held.any(axis=0))).all()
        taken += known & ~train & ~test
        taken += held & ~known
    assert number == n_splits * FOLDS - 1
    assert (taken[known] == n_splits).all()  # each judgment is held out once for each split
    assert (taken[every & ~known] == n_splits).all()
    assert not taken[~every].any()


@pytest.mark.parametrize("rule", RULES)
def test_known_and_unknown_pairs_outside_training_are_equally_likely_to_be_judged(rule):
    data, knows, _ = world()
    rated, counts, all_known = marked(data.ratings), np.zeros((2, 2)), 0
    for observed, true in zip(*splits(rule), strict=True):
        outside, held = ~marked(observed.train), marked(true.test)
        counts += [
            [(held & outside & kind).sum(), (outside & kind).sum()] for kind in (knows, ~knows)
        ]
        all_known += (rated & outside & ~marked(observed.test)).sum()
    assert abs(far(*counts)) < SURE
    # The twin: with all that was held out, what is known has too many judgments.
    assert far([all_known, counts[0, 1]], counts[1]) > 2 * SURE


def far(first, second):
    """Tell by how many standard errors a share is larger than another."""
    (a, n), (b, m) = first, second
    both = (a + b) / (n + m)
    return (a / n - b / m) / (both * (1 - both) * (1 / n + 1 / m)) ** 0.5


SYSTEMS = {
    "popular first": lambda train, rng: train.sum(axis=0) + 0.5 * rng.random(N_ITEMS),
    "unpopular first": lambda train, rng: -train.sum(axis=0) + 0.5 * rng.random(N_ITEMS),
    "random": lambda train, rng: rng.random((N_USERS, N_ITEMS)),
}


def precision_off(system, rule, judge=None):
    """Tell by how many standard errors over users the estimated P@10 is off, and the true one.

    With what is judged taken from `judge` where it is given, at the rate of all judgments.
    """
    data, _, likes = world()
    rng = np.random.default_rng(2)
    off, true = [], []
    for observed, own in zip(*splits(rule), strict=True):
        train = marked(observed.train)
        judged, rate = marked(own.test), JUDGED / FOLDS
        if judge is not None:
            judged, rate = judge(data, observed.train), JUDGED
        scores = np.where(train, -np.inf, SYSTEMS[system](train, rng))
        first = np.argsort(-scores, axis=1)[:, :10]
        liked, known = (np.take_along_axis(each, first, axis=1) for each in (likes, judged))
        true.append(liked.mean())
        off.append((liked & known).mean(axis=1) / rate - liked.mean(axis=1))
    per_user = np.mean(off, axis=0)
    return per_user.mean() / (per_user.std(ddof=1) / N_USERS**0.5), float(np.mean(true))


@pytest.mark.parametrize("rule", RULES)
def test_the_precision_of_systems_is_estimated_without_bias(rule):
    true = {}
    for system in SYSTEMS:
        off, true[system] = precision_off(system, rule)
        assert abs(off) < SURE, system
    assert true["popular first"] > true["random"] + 0.1 > true["unpopular first"] + 0.1
    # The twin: all judgments outside training, of which popular items have lost most.
    assert precision_off("popular first", rule, unjudged)[0] < -2 * SURE


def test_data_whose_observed_ratings_are_drawn_ones_have_to_hold_some_out():
    data, *_ = world()
    asked = TestSet("unbiased", train="observed")
    with pytest.raises(ConfigError, match="among the unbiased ones") as refused:
        dataset_splits(data, "k-fold 5", seed=1, judgments=asked)
    assert "unbiased train=observed held=5" in str(refused.value)


def test_both_sides_are_artefacts_of_one_training_and_named_by_both_parts():
    data, *_ = world()
    grid = Grid(
        "cm100k",
        (System("Popularity", "Popularity"),),
        dict.fromkeys(("AR", "head", "true", "plain"), "AI-AN-AR rel>=3"),
        ("P@5",),
        split="ratio 0.2",
        tests={"AR": str(OBSERVED), "head": f"observed head=10% held={FOLDS}", "true": str(TRUTH)},
    )
    cells = [cell for _, cell in grid_cells(grid, data, None)]
    asked = [[each.test for each in cell.artefacts] for cell in cells]
    assert asked == [[str(OBSERVED), str(TRUTH)]] * FOLDS + [["observed"]]
    assert len({cell.key(each) for cell in cells for each in cell.artefacts}) == 2 * FOLDS + 1
    # Which observed ratings are split depends on what is drawn: the twin is the plain side.
    assert judgments_hash(data, OBSERVED) == judgments_hash(data, TRUTH)
    assert judgments_hash(data, OBSERVED) != judgments_hash(data, TestSet())


def test_the_true_order_of_systems_is_found_where_observed_ratings_are_drawn_ones():
    """What many know is liked more: Popularity is first in truth, and by AR."""
    data, *_ = world()
    systems = [
        System("Popularity", "Popularity"),
        System("Random", "Random"),
        System("Average rating", "AverageRating", {"smoothing": 1, "encoding": "stars"}),
    ]
    asked = true_orders_parameters("cm100k", systems, 3, cutoff=10, size=20, seed=3)
    _, frame = true_orders.function(data, **asked)
    found = frame.set_index(["truth", "protocol"])
    assert (found["popularity_true"] == found.loc[("P", "AR"), "popularity_true"]).all()
    assert found.loc[("P", "AR"), ["popularity_true", "resolved", "right"]].tolist() == [1, 3, 3]
