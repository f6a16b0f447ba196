"""Checks of what MCCRS20 ran pass on sound inputs, and find what is wrong in broken ones."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from recbias import line_up
from recbias.book.chapters.true_vs_false_positive_disagreement.paper_setup import (
    check_folds,
    check_line_up,
    check_remainder,
    check_sampled,
    check_sizes,
    check_thresholds,
    uniform_p,
)
from recbias.book.systems.line_up import relevance_threshold
from recbias.data.ratings import Ratings, RatingScale
from recbias.protocol.splits import k_fold

N_USERS, N_ITEMS = 60, 50
SCALE = RatingScale(1, 4, 1)


def worst(checks):
    return {check.name: check.worst for check in checks}


def some_ratings(chosen):
    """Ratings of the pairs that a matrix of users and items marks."""
    user, item = np.nonzero(chosen)
    frame = pd.DataFrame({"user_id": user, "item_id": item, "rating": 1.0 + (user + item) % 4})
    return Ratings.from_frame(frame, scale=SCALE)


@pytest.fixture
def judged():
    """Ten of fifty items for each user, drawn uniformly."""
    orders = np.random.default_rng(1).random((N_USERS, N_ITEMS)).argsort(axis=1)
    return some_ratings(orders < 10)


def folds_of(ratings):
    return k_fold(ratings, 5, rng=np.random.default_rng(2))


def yahoo(given, drawn):
    return SimpleNamespace(name="yahoo-r3", ratings=given, unbiased=drawn)


def test_the_sizes_of_a_data_set_are_compared_with_the_table(judged):
    given = judged.take(np.arange(len(judged)) < 100)
    found = worst(check_sizes(yahoo(given, judged.take(np.arange(len(judged)) >= 100))))
    assert found["users"] == 5400 - N_USERS
    assert found["items"] == 1000 - N_ITEMS
    assert found["ratings"] == 183179 - 10 * N_USERS
    assert found["chosen"] == 129179 - 100
    again = worst(check_sizes(yahoo(given, judged)))
    assert again["ratings"] == found["ratings"], "a pair in both parts counts once"
    assert (again["ten"], again["per-user"]) == (0, 10)
    fewer = worst(check_sizes(yahoo(given, judged.take(np.arange(len(judged)) > 0))))
    assert fewer["ten"] == 1
    assert check_sizes(SimpleNamespace(name="filmtrust")) == []


def test_uneven_draws_are_improbable(judged):
    """A false alarm once in a thousand seeds; this one is fixed."""
    assert uniform_p(judged) > 1e-3
    rng = np.random.default_rng(3)
    popular = rng.random((N_USERS, N_ITEMS)) * np.linspace(1, 3, N_ITEMS)
    assert uniform_p(some_ratings(popular.argsort(axis=1).argsort(axis=1) >= N_ITEMS - 10)) < 1e-4


def test_p_of_uniform_draws_is_uniform():
    """Of 400 samples about a twentieth has p below .05: 5 s.d. are .054."""
    rng = np.random.default_rng(4)
    found = [uniform_p(some_ratings(rng.random((40, 30)).argsort(axis=1) < 8)) for _ in range(400)]
    assert abs(np.mean(np.array(found) < 0.05) - 0.05) < 0.054
    assert abs(np.mean(found) - 0.5) < 5 * np.sqrt(1 / 12 / 400)


def test_the_line_up_is_that_of_the_paper():
    sound = list(line_up("mccrs20"))
    assert set(worst(check_line_up(sound)).values()) == {0}
    by_name = {system.name: place for place, system in enumerate(sound)}

    def found(name, **changed):
        systems = list(sound)
        place = by_name[name]
        if changed:
            parameters = {**systems[place].parameters, **changed}
            systems[place] = dataclasses.replace(systems[place], parameters=parameters)
        else:
            del systems[place]
        return worst(check_line_up(systems))

    assert found("WRMF", alpha=1) == {"filters": 0, "parameters": 1, "references": 0}
    assert found("GBPR") == {"filters": 1, "parameters": 2, "references": 0}
    assert found("Popularity") == {"filters": 0, "parameters": 0, "references": 1}
    assert found("Average rating", smoothing=2)["references"] == 1


def test_every_rating_is_tested_once(judged):
    folds = folds_of(judged)
    sound = worst(check_folds(folds, len(judged)))
    assert (sound["folds"], sound["partition"]) == (0, 0)
    assert sound["test-share"] == max(abs(len(fold.test) / 600 - 0.2) for fold in folds)
    assert worst(check_folds(folds[:4], len(judged)))["folds"] == 1
    assert worst(check_folds(folds[:4], len(judged)))["partition"] == len(folds[4].test)
    twice = [*folds[:4], folds[0]]
    assert worst(check_folds(twice, len(judged)))["partition"] == len(folds[4].test) + len(
        folds[0].test
    )
    halves = k_fold(judged, 2, rng=np.random.default_rng(2))
    assert worst(check_folds(halves, len(judged)))["test-share"] == max(
        abs(len(fold.test) / 600 - 0.2) for fold in halves
    )


def test_thresholds_are_those_of_the_paper():
    used = {name: relevance_threshold(name) for name in ("ml-1m", "yahoo-r3", "cm100k")}
    assert worst(check_thresholds(used)) == {"thresholds": 0}
    assert worst(check_thresholds({**used, "cm100k": 4.0})) == {"thresholds": 1}


def test_training_is_what_is_known_outside_the_test(judged):
    known = judged.take(np.random.default_rng(5).random(len(judged)) < 0.3)
    folds = []
    for fold in folds_of(judged):
        tested = fold.test.user.astype(int) * N_ITEMS + fold.test.item
        outside = ~np.isin(known.user.astype(int) * N_ITEMS + known.item, tested)
        folds.append(dataclasses.replace(fold, train=known.take(outside)))
    sound = worst(check_remainder(known, judged, folds))
    assert sound["remainder"] == 0
    assert sound["judged-share"] == max(abs(len(fold.test) / 600 - 0.2) for fold in folds)
    leaking = [dataclasses.replace(folds[0], train=known), *folds[1:]]
    assert worst(check_remainder(known, judged, leaking))["remainder"] == len(known) - len(
        folds[0].train
    )
    short = [
        dataclasses.replace(folds[0], train=folds[0].train.take(np.arange(1, len(folds[0].train)))),
        *folds[1:],
    ]
    assert worst(check_remainder(known, judged, short))["remainder"] == 1


def test_draws_scale_precision_and_not_recall():
    """Precision of a draw is the share of drawn pairs of that of all; 5 s.d. of a mean are .01."""
    found = worst(check_sampled())
    assert found["sampled-precision"] == pytest.approx(0.2, abs=0.01)
    assert found["sampled-over-judged"] == pytest.approx(1, abs=0.01)
    assert found["sampled-recall"] == pytest.approx(1, abs=0.05)
    # Recall is met within its error, and precision is not.
    assert found["recall-misses"] < 3 < 100 < found["precision-misses"]
    half = worst(check_sampled(share=0.5, n_draws=50))
    assert half["sampled-precision"] == pytest.approx(0.5, abs=0.02)
    assert half["recall-misses"] < 3 < 100 < half["precision-misses"]
