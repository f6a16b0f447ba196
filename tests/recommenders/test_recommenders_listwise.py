import math

import numpy as np
import pytest

from recbias.errors import DataError
from recbias.recommenders import ListRankMF
from recbias.recommenders.as_published.list_rank_mf import ListRankMFSkippingZeros
from recommender_tables import random_stars, small_table, table

MODELS = [ListRankMF, ListRankMFSkippingZeros]


def distributions(train, p, q):
    """Yield for each user his items, their ratings, y, pi and g, one number after the other."""
    largest = max(train.value.max(), 0) or 1
    for u in range(train.n_users):
        mine = train.user == u
        items, ratings = train.item[mine], train.value[mine]
        g = [1 / (1 + math.exp(-sum(p[u] * q[i]))) for i in items]
        above = sum(math.exp(rating / largest) for rating in ratings)
        below = sum(math.exp(value) for value in g)
        y = [math.exp(rating / largest) / above for rating in ratings]
        yield u, items, ratings, y, [math.exp(value) / below for value in g], g


def naive_loss(train, p, q, regularisation, skipping=False):
    total = 0.5 * regularisation * (np.sum(p**2) + np.sum(q**2))
    for _, _, ratings, y, pi, _ in distributions(train, p, q):
        for rating, wanted, got in zip(ratings, y, pi, strict=True):
            if rating > 0 or not skipping:
                total -= wanted * math.log(got)
    return total


def start_and_step(model, train, step, **parameters):
    """Return the factors before and after an iteration whose first step is taken."""
    fitted = [
        model(learning_rate=step / 2, n_iterations=n, **parameters).fit(
            train, rng=np.random.default_rng(7)
        )
        for n in (0, 1)
    ]
    return [(m.user_factors, m.item_factors) for m in fitted]


@pytest.mark.parametrize("encoding", ["stars", "graded-zero>=4"])
def test_the_step_goes_down_the_gradient(encoding):
    stars = small_table(n_users=7, n_items=6)
    model = ListRankMF(regularisation=0.3, encoding=encoding, n_iterations=3)
    model.fit(stars, rng=np.random.default_rng(1))
    train = model._encoded(stars)
    p, q = model.user_factors, model.item_factors
    expected = naive_loss(train, p, q, 0.3)
    assert model.objective(stars) == pytest.approx(expected, rel=1e-12)

    (p, q), moved = start_and_step(
        ListRankMF, stars, 1e-4, regularisation=0.3, encoding=encoding, n_factors=2
    )
    for side, after in zip((p, q), moved, strict=True):
        for place in np.ndindex(side.shape):
            kept = side[place]
            side[place] = kept + 1e-5
            up = naive_loss(train, p, q, 0.3)
            side[place] = kept - 1e-5
            slope = (up - naive_loss(train, p, q, 0.3)) / 2e-5
            side[place] = kept
            # Rounding: the loss, some 10, over 2e-5; and the factors, below 1, over the step.
            assert (kept - after[place]) / 1e-4 == pytest.approx(slope, abs=1e-9)


def test_zeros_are_passed_over_but_stay_in_the_totals():
    stars = small_table(n_users=9, n_items=8)
    parameters = {"regularisation": 0.3, "encoding": "graded-zero>=4", "n_factors": 2}
    model = ListRankMFSkippingZeros(**parameters, n_iterations=3)
    model.fit(stars, rng=np.random.default_rng(1))
    train = model._encoded(stars)
    assert (train.value == 0).mean() > 0.3
    expected = naive_loss(train, model.user_factors, model.item_factors, 0.3, skipping=True)
    assert model.objective(stars) == pytest.approx(expected, rel=1e-12)

    (p, q), moved = start_and_step(ListRankMFSkippingZeros, stars, 1e-3, **parameters)
    of_p, of_q = 0.3 * p, 0.3 * q
    for u, items, ratings, y, pi, g in distributions(train, p, q):
        for i, rating, wanted, got, output in zip(items, ratings, y, pi, g, strict=True):
            if rating > 0:
                of_p[u] += (got - wanted) * output * (1 - output) * q[i]
                of_q[i] += (got - wanted) * output * (1 - output) * p[u]
    np.testing.assert_allclose(moved[0], p - 1e-3 * of_p, rtol=0, atol=1e-14)
    np.testing.assert_allclose(moved[1], q - 1e-3 * of_q, rtol=0, atol=1e-14)


def test_without_zeros_nothing_is_passed_over():
    train = small_table()
    losses = []
    for model in MODELS:
        fitted = model(encoding="stars", regularisation=0.001, n_iterations=2000)
        losses.append(fitted.fit(train, rng=np.random.default_rng(1)).objective(train))
    # Two starts end in the same minimum, or in two that are as good.
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(("learning_rate", "least"), [(1e-6, 4), (1.0, 4), (1e12, 1)])
def test_the_objective_falls_whatever_the_first_step(model, learning_rate, least):
    """From 1e12 the first step that lowers the objective ends where outputs are all but 0 or 1, and
    next to nothing is left of the gradient: how many more follow hangs on the last bits, which
    differ between processors."""
    train = small_table(n_users=30, n_items=20)
    given = {"learning_rate": learning_rate, "regularisation": 0.01}
    start = model(**given, n_iterations=0).fit(train, rng=np.random.default_rng(1))
    objectives = [start.objective(train)]
    model(**given, n_iterations=60).fit(
        train, rng=np.random.default_rng(1), on_iteration=lambda _, value: objectives.append(value)
    )
    assert len(objectives) > least
    assert (np.diff(objectives) < 0).all()


def test_at_convergence_no_direction_lowers_the_loss():
    train = small_table(n_users=8, n_items=6)
    model = ListRankMF(2, 1.0, 0.01, 20000).fit(train, rng=np.random.default_rng(2))
    p, q = model.user_factors, model.item_factors
    best = naive_loss(train, p, q, 0.01)
    rng = np.random.default_rng(3)
    for _ in range(50):
        dp, dq = (rng.normal(size=side.shape) for side in (p, q))
        up = naive_loss(train, p + 1e-4 * dp, q + 1e-4 * dq, 0.01)
        down = naive_loss(train, p - 1e-4 * dp, q - 1e-4 * dq, 0.01)
        assert abs(up - down) / 2e-4 < 1e-5 * best


def test_rated_items_come_out_in_the_order_of_their_ratings():
    train = small_table(n_users=15, n_items=8)
    model = ListRankMF(n_factors=6, regularisation=1e-5, n_iterations=3000)
    scores = model.fit(train, rng=np.random.default_rng(1)).score(np.arange(train.n_users))
    concordant = pairs = 0
    for u in range(train.n_users):
        mine = np.flatnonzero(train.user == u)
        for a in mine:
            for b in mine[mine > a]:
                order = scores[u, train.item[a]] - scores[u, train.item[b]]
                concordant += order * (train.value[a] - train.value[b]) > 0
                pairs += 1
    assert concordant / pairs > 0.9


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    "stars",
    [
        np.where(np.eye(4, dtype=bool), 5.0, np.nan),
        [[1.0, 5.0, 3.0, 4.0, 5.0]],
        [[1.0], [5.0], [np.nan]],
        np.where(np.isnan(random_stars()), np.nan, 4.0),
        1e300 * np.eye(3),
    ],
    ids=["one rating per user", "one user", "one item", "equal ratings", "a wide range"],
)
@pytest.mark.parametrize("regularisation", [0.06, 0.0])
def test_extreme_tables_give_numbers(model, stars, regularisation):
    train = table(stars)
    fitted = model(n_factors=40, regularisation=regularisation, encoding="stars").fit(
        train, rng=np.random.default_rng(1)
    )
    rated = fitted.score(np.arange(train.n_users))[train.user, train.item]
    assert np.isfinite(rated).all()
    assert np.isfinite(fitted.user_factors).all()
    assert np.isfinite(fitted.item_factors).all()


def test_ratings_of_zero_only_are_a_list_without_preferences():
    train = table(np.where(np.isnan(random_stars()), np.nan, 0.0))
    fitted = ListRankMF().fit(train, rng=np.random.default_rng(1))
    assert np.isfinite(fitted.score(np.array([0]))[0, :-1]).all()
    with pytest.raises(DataError, match="every training rating in 'small' counts 0"):
        ListRankMFSkippingZeros().fit(train, rng=np.random.default_rng(1))


@pytest.mark.parametrize("model", MODELS)
def test_a_penalty_that_outweighs_the_ratings_still_leaves_scores(model):
    train = small_table()
    fitted = model(regularisation=5, n_iterations=3000).fit(train, rng=np.random.default_rng(1))
    assert np.abs(fitted.user_factors).max() < 1e-3
    scores = fitted.score(np.arange(train.n_users))[:-1, :-1]
    assert (np.abs(scores) > 0).all()


@pytest.mark.parametrize("model", MODELS)
def test_negative_ratings_are_refused(model):
    stars = random_stars()
    stars[0, 0] = -2
    with pytest.raises(DataError, match="the model needs ratings >= 0"):
        model(encoding="stars").fit(table(stars))


def test_scores_are_products_and_unknown_rows_are_missing():
    train = small_table()
    model = ListRankMF().fit(train, rng=np.random.default_rng(1))
    scores = model.score(np.arange(train.n_users))
    product = model.user_factors @ model.item_factors.T
    np.testing.assert_allclose(scores[:-1, :-1], product[:-1, :-1], rtol=1e-6)
    assert np.isnan(scores[-1]).all()
    assert np.isnan(scores[:, -1]).all()
    assert not model.user_factors[-1].any()
    assert not model.item_factors[-1].any()


def test_librecs_vectors_start_between_0_and_1():
    train = small_table(n_users=300, n_items=200)
    starts = []
    for model in MODELS:
        fitted = model(n_iterations=0).fit(train, rng=np.random.default_rng(1))
        starts.append(np.concatenate([fitted.user_factors[:-1], fitted.item_factors[:-1]]))
    published, skipping = starts
    assert ((skipping >= 0) & (skipping < 1)).all()
    # 2,490 numbers: means within five standard errors, 0.1 and 0.29 over the root of 2,490.
    assert abs(published.mean()) < 0.01
    assert abs(skipping.mean() - 0.5) < 0.03
    assert 0.08 < published.std() < 0.12
