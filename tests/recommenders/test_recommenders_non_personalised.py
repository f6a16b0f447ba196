import dataclasses
import itertools
from fractions import Fraction

import numpy as np
import pytest
import scipy.stats

from recbias.data.ratings import Ratings
from recbias.errors import ConfigError, DataError
from recbias.recommenders import (
    AverageRating,
    OptimalAntiPrecision,
    OptimalPrecision,
    OracleRanking,
    Popularity,
    Random,
    RelevantPopularity,
)
from recommender_tables import dense, random_stars, small_table, table


def fitted(seed=0, n_users=400, n_items=300):
    train = small_table(n_users=n_users, n_items=n_items, observed=0.02)
    return Random().fit(train, rng=np.random.default_rng(seed))


def test_random_scores_are_uniform_and_independent():
    scores = fitted().score(np.arange(400)).astype(float)
    assert scores.min() >= 0
    assert scores.max() < 1
    assert scipy.stats.kstest(scores.ravel(), "uniform").pvalue > 1e-3
    # Correlations of neighbouring users, items, and of the two models: 5 standard errors.
    bound = 5 / np.sqrt(scores.size - 400)
    for left, right in (
        (scores[1:], scores[:-1]),
        (scores[:, 1:], scores[:, :-1]),
        (scores, fitted(1).score(np.arange(400))),
        (scores[:300, :300], scores[:300, :300].T + np.eye(300) * 99),
    ):
        inside = np.abs(right) <= 1
        assert abs(np.corrcoef(left[inside], right[inside])[0, 1]) < bound * 1.3


def test_random_ranks_each_item_first_equally_often():
    first = fitted(2, n_users=6000, n_items=20).score(np.arange(6000)).argmax(axis=1)
    assert scipy.stats.chisquare(np.bincount(first, minlength=20)).pvalue > 1e-3


def test_random_numbers_belong_to_the_pair():
    model = fitted()
    whole = model.score(np.arange(400))
    np.testing.assert_array_equal(model.score(np.array([7, 3, 7])), whole[[7, 3, 7]])


def test_popularity_counts_ratings():
    train = small_table()
    _, rated = dense(train)
    scores = Popularity().fit(train).score(np.array([0, train.n_users - 1]))
    counts = np.where(rated.any(axis=0), rated.sum(axis=0), np.nan)
    np.testing.assert_array_equal(scores, [counts, counts])
    assert np.isnan(scores[:, -1]).all()


def item_scores(model, train):
    """Return the scores of the first user, having checked that all users have the same."""
    scores = model.fit(train).score(np.arange(train.n_users))
    np.testing.assert_array_equal(scores, np.tile(scores[0], (train.n_users, 1)))
    return scores[0]


def stars_of_items(train):
    """Return the exact ratings of each item, with plain loops."""
    found = [[] for _ in range(train.n_items)]
    for item, value in zip(train.item.tolist(), train.value.tolist(), strict=True):
        found[item].append(Fraction(value))
    return found


def expected(numbers):
    """Round exact numbers as scores are; None = not computable."""
    return np.array([np.nan if x is None else float(x) for x in numbers]).astype(np.float32)


HALF_STARS = random_stars(n_users=30, n_items=20, observed=0.4, levels=10)


def test_relevant_popularity_counts_likes():
    train = table(HALF_STARS)
    likes = [sum(r >= 3 for r in stars) if stars else None for stars in stars_of_items(train)]
    scores = item_scores(RelevantPopularity(min_rating=3.0), train)
    np.testing.assert_array_equal(scores, expected(likes))


COUNTED = {
    "stars": lambda r: r,
    "graded-zero>=4": lambda r: max(r - 3, 0) if r >= 4 else 0,
    "binary-zero>=4": lambda r: int(r >= 4),
}


@pytest.mark.parametrize("smoothing_in", ["ratings", "mean item counts"])
@pytest.mark.parametrize("encoding", COUNTED)
@pytest.mark.parametrize("smoothing", [0, 1, 2.5])
def test_the_average_is_that_of_the_definition(smoothing, encoding, smoothing_in):
    train = table(HALF_STARS)
    items = [[Fraction(COUNTED[encoding](r)) for r in stars] for stars in stars_of_items(train)]
    n_rated = sum(1 for values in items if values)
    mean = sum(map(sum, items)) / Fraction(len(train))
    mu = Fraction(smoothing) * (Fraction(len(train), n_rated) if smoothing_in[0] == "m" else 1)
    smoothed = [(sum(v) + mu * mean) / (len(v) + mu) if v else None for v in items]
    scores = item_scores(AverageRating(smoothing, smoothing_in, encoding), train)
    # Sums of half stars are exact; mean, product, sum and quotient round to 2**-53 each, which may
    # move the rounding to 2**-24 by one step.
    np.testing.assert_allclose(scores, expected(smoothed), rtol=2.0**-23)


def test_no_smoothing_and_much_of_it():
    train = table(HALF_STARS)
    plain = item_scores(AverageRating(0), train)
    np.testing.assert_allclose(plain[:-1], np.nanmean(HALF_STARS[:, :-1], axis=0), rtol=2.0**-23)
    same = item_scores(AverageRating(1e12), train)[:-1]
    np.testing.assert_allclose(same, np.nanmean(HALF_STARS), rtol=2.0**-23)


def test_a_dropped_rating_counts_neither_in_sum_nor_number():
    train = table(HALF_STARS)
    scores = item_scores(AverageRating(0, encoding="graded-pos>=4"), train)
    liked = [[r - 3 for r in stars if r >= 4] for stars in stars_of_items(train)]
    means = [sum(r) / len(r) if r else None for r in liked]
    np.testing.assert_array_equal(scores, expected(means))


@pytest.mark.parametrize("model", [OptimalPrecision(3.0), OptimalAntiPrecision(3.0)])
def test_observed_optima_are_odds_times_relevance(model):
    stars = HALF_STARS.copy()
    stars[:, 0] = np.where(np.arange(30) % 2, 1, 5)
    train = table(stars)
    m = train.n_users
    scores = []
    for ratings in stars_of_items(train):
        if not ratings:
            scores.append(None)
            continue
        n, likes = len(ratings), sum(r >= 3 for r in ratings)
        share = Fraction(likes, n) - (isinstance(model, OptimalAntiPrecision))
        # An item that all have has infinite odds, and no user to whom it could be recommended.
        odds = Fraction(n, m - n) if n < m else Fraction(n)
        scores.append(odds * share)
    assert scores[0] == (15 if isinstance(model, OptimalPrecision) else -15)
    np.testing.assert_array_equal(item_scores(model, train), expected(scores))


@pytest.mark.parametrize("metric", ["P", "antiP"])
@pytest.mark.parametrize("restricted", [False, True])
def test_the_oracle_is_that_of_the_definition(metric, restricted):
    train = table(HALF_STARS)
    judged = random_stars(5, n_users=30, n_items=20, observed=0.15)
    judged[~np.isnan(HALF_STARS)] = np.nan
    judged[:, 3] = np.nan
    test = table(judged)
    scores = []
    for own, others in zip(stars_of_items(train), stars_of_items(test), strict=True):
        likes = sum(r >= 4 for r in others)
        gain = likes if metric == "P" else likes - len(others)
        per = max(len(others), 1) if restricted else train.n_users - len(own)
        scores.append(Fraction(gain, per) if own else None)
    assert scores[3] == 0
    found = item_scores(OracleRanking(test, metric, restricted=restricted), train)
    np.testing.assert_array_equal(found, expected(scores))


def test_an_oracle_of_other_items_is_refused():
    train = table(HALF_STARS)
    test = dataclasses.replace(train, item_ids=np.arange(1, 21))
    with pytest.raises(DataError, match="number their users or items differently"):
        OracleRanking(test).fit(train)
    with pytest.raises(ConfigError, match="metric is 'R', expected one of 'P', 'antiP'"):
        OracleRanking(train, "R")


# A world of six items and all 4**6 users: each item is in one of four states, training, liked
# test, disliked test or unknown rating, and each combination occurs once. What a user has of one
# item then says nothing about another, which is what the optimum presumes.
LIKED, DISLIKED, TRAIN, NOTHING = range(4)
SLOTS = np.array(
    [
        [TRAIN, TRAIN, TRAIN, LIKED],
        [TRAIN, TRAIN, LIKED, DISLIKED],
        [TRAIN, LIKED, NOTHING, NOTHING],
        [TRAIN, LIKED, LIKED, DISLIKED],
        [TRAIN, TRAIN, DISLIKED, NOTHING],
        [TRAIN, LIKED, DISLIKED, DISLIKED],
    ]
)
STATES = SLOTS[np.arange(6), np.array(list(itertools.product(range(4), repeat=6)))]


def world(judged_as):
    """Return training and test ratings, the former with these values in turn for each item."""
    stars = np.where(STATES == TRAIN, judged_as, np.nan)
    test = np.select([STATES == LIKED, STATES == DISLIKED], [5.0, 1.0], np.nan)
    return table(stars), table(test)


def share_in_top(order, wanted, n):
    """Return the share of the first n places, training items left out, with the wanted state."""
    states = STATES[:, order]
    listed = states != TRAIN
    counted = listed & (np.cumsum(listed, axis=1) <= n)
    return Fraction(int(((states == wanted) & counted).sum()), n * len(states))


def order_of(model, train):
    return np.argsort(-item_scores(model, train), kind="stable")


@pytest.mark.parametrize(("metric", "wanted"), [("P", LIKED), ("antiP", DISLIKED)])
def test_no_order_of_the_items_beats_the_oracle(metric, wanted):
    train, test = world(3.0)
    oracle = order_of(OracleRanking(test, metric), train)
    best, worst = (max, min) if metric == "P" else (min, max)
    for n in (1, 2, 4):
        values = [share_in_top(order, wanted, n) for order in itertools.permutations(range(6))]
        found = share_in_top(oracle, wanted, n)
        assert found == best(values)
        assert found != worst(values)
        # Neither popularity nor the restricted form is optimal here: what is tested can fail.
        for other in (Popularity(), OracleRanking(test, metric, restricted=True)):
            if n < 4:
                assert share_in_top(order_of(other, train), wanted, n) != found


@pytest.mark.parametrize(
    ("model", "wanted"), [(OptimalPrecision(), LIKED), (OptimalAntiPrecision(), DISLIKED)]
)
def test_training_ratings_find_the_optimum_where_test_ratings_come_about_alike(model, wanted):
    """Item i has as many liked and disliked ratings in training as in the test, 4**5 of each."""
    slots = np.array(
        [
            [LIKED, NOTHING, NOTHING, NOTHING],
            [LIKED, LIKED, DISLIKED, NOTHING],
            [LIKED, DISLIKED, DISLIKED, NOTHING],
            [DISLIKED, NOTHING, NOTHING, NOTHING],
        ]
    )
    # Twice the slots: a rating is a training rating in one half of the cases.
    cases = np.array(list(itertools.product(range(8), repeat=4)))
    kind = slots[np.arange(4), cases // 2]
    in_train = (cases % 2 == 0) & (kind != NOTHING)
    stars = np.where(kind == LIKED, 5.0, 1.0)
    order = order_of(model, table(np.where(in_train, stars, np.nan)))

    def share(order, n):
        listed = ~in_train[:, order]
        counted = listed & (np.cumsum(listed, axis=1) <= n)
        return int(((kind[:, order] == wanted) & counted).sum())

    best = max if wanted == LIKED else min
    for n in (1, 2):
        values = [share(order, n) for order in itertools.permutations(range(4))]
        assert share(order, n) == best(values) != share(order[::-1], n)


def test_items_that_all_have_get_a_finite_score():
    train = table([[5.0, 4.0], [1.0, np.nan]])
    for model in (OptimalPrecision(), OptimalAntiPrecision(), OracleRanking(train)):
        assert np.isfinite(item_scores(model, train)).all()


@pytest.mark.parametrize("model", [RelevantPopularity(), AverageRating(), OptimalPrecision()])
def test_nothing_to_learn_from_is_refused(model):
    empty: Ratings = table([[1.0, 2.0]]).take(np.array([], dtype=int))
    with pytest.raises(DataError, match="no training ratings"):
        model.fit(empty)
