import dataclasses

import numpy as np
import pytest

from recbias.errors import DataError
from recbias.recommenders import ElementwiseALS, Encoding, WeightedMF
from recommender_tables import dense, random_stars, small_table, table

ZEROS = "graded-zero>=4"
WEIGHTINGS = ["popularity", "uniform", "both"]


def weights_of_all_pairs(train, model):
    """Write the weight of each pair into a dense array, and say which are rated."""
    values, rated = dense(Encoding.parse(model.encoding).encode(train))
    counts = rated.sum(axis=0)
    powers = np.where(counts > 0, counts.astype(float) ** model.popularity_exponent, 0)
    missing = model.overall_weight * powers / powers.sum()
    if model.weighting == "uniform":
        missing = np.ones(train.n_items)
    of_rated = np.ones_like(values) if model.weighting == "popularity" else 1 + values
    return np.where(rated, of_rated, missing), rated


def naive_objective(train, model, p, q):
    weight, rated = weights_of_all_pairs(train, model)
    total = model.regularisation * (np.sum(p**2) + np.sum(q**2))
    for u in range(train.n_users):
        for i in range(train.n_items):
            total += weight[u, i] * (rated[u, i] - p[u] @ q[i]) ** 2
    return total


def descend(train, model, p, q):
    """Improve one number after the other, each by the formula for the best value of one number."""
    weight, rated = weights_of_all_pairs(train, model)
    for weights, target, fixed, improved in ((weight, rated, q, p), (weight.T, rated.T, p, q)):
        for row in range(len(improved)):
            if not target[row].any():
                continue
            for f in range(p.shape[1]):
                others = fixed @ improved[row] - improved[row, f] * fixed[:, f]
                pull = np.sum(weights[row] * (target[row] - others) * fixed[:, f])
                bend = np.sum(weights[row] * fixed[:, f] ** 2) + model.regularisation
                improved[row, f] = pull / bend


@pytest.mark.parametrize("weighting", WEIGHTINGS)
@pytest.mark.parametrize(("n_factors", "encoding"), [(1, "stars"), (5, ZEROS), (30, "stars")])
def test_training_is_the_naive_descent(weighting, n_factors, encoding):
    train = small_table(n_users=20, n_items=33)
    model = ElementwiseALS(n_factors, 0.3, 4, 0.7, weighting, 3, encoding)
    rng = np.random.default_rng(5)
    p = rng.normal(0, 0.1, (train.n_users, n_factors))
    q = rng.normal(0, 0.1, (train.n_items, n_factors))
    p[-1] = q[-1] = 0
    for _ in range(3):
        descend(train, model, p, q)
    model.fit(train, rng=np.random.default_rng(5))
    np.testing.assert_allclose(model.user_factors, p, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.item_factors, q, rtol=1e-9, atol=1e-12)
    scores = model.score(np.arange(train.n_users - 1))
    np.testing.assert_allclose(scores[:, :-1], (p @ q.T)[:-1, :-1], rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_the_objective_is_the_sum_over_all_pairs_and_never_rises(weighting):
    train = small_table(n_users=25, n_items=14)
    seen = []

    def look(number, objective):
        factors = model.user_factors, model.item_factors
        assert objective == pytest.approx(naive_objective(train, model, *factors), rel=1e-12)
        seen.append((number, objective))

    model = ElementwiseALS(4, 0.3, 6, 0.5, weighting, 40, ZEROS)
    model.fit(train, rng=np.random.default_rng(2), on_iteration=look)
    numbers, objectives = zip(*seen, strict=True)
    assert numbers == tuple(range(1, 41))
    # Rounding of a sum of 25 x 14 terms.
    assert (np.diff(objectives) <= 1e-12 * objectives[0]).all()
    assert objectives[-1] < 0.95 * objectives[0]
    assert model.objective(train) == objectives[-1]


def slopes(train, model, p, q, factor=None):
    """Differentiate the objective by central differences, by all numbers or those of a factor."""
    step = 1e-3  # exact for a parabola, which the objective is along each coordinate
    found = []
    for array in (p, q):
        for place in np.ndindex(array.shape):
            if factor is not None and (array is p or place[1] != factor):
                continue
            kept = array[place]
            array[place] = kept + step
            up = naive_objective(train, model, p, q)
            array[place] = kept - step
            found.append((up - naive_objective(train, model, p, q)) / (2 * step))
            array[place] = kept
    return np.array(found)


@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_a_step_ends_where_its_coordinate_is_flat(weighting):
    train = small_table(n_users=9, n_items=7)
    model = ElementwiseALS(3, 0.3, 3, 0.5, weighting, 1).fit(train, rng=np.random.default_rng(2))
    p, q = model.user_factors.copy(), model.item_factors.copy()
    # The items' last numbers were the last to move, each while nothing that it depends on did.
    last = slopes(train, model, p, q, factor=2)[:-1]
    first = slopes(train, model, p, q, factor=0)[:-1]
    assert np.abs(first).max() > 0.01
    # Rounding: 63 terms of size 6 at most, divided by the step.
    assert np.abs(last).max() < 1e-9


@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_at_the_fixed_point_all_slopes_vanish(weighting):
    train = small_table(n_users=9, n_items=7)
    model = ElementwiseALS(2, 0.5, 3, 0.5, weighting, 3000)
    model.fit(train, rng=np.random.default_rng(2))
    assert np.abs(model.user_factors).max() > 0.1
    found = slopes(train, model, model.user_factors.copy(), model.item_factors.copy())
    assert np.abs(found).max() < 1e-8


@pytest.mark.parametrize("encoding", ["stars", ZEROS])
def test_uniform_weights_lead_where_solving_for_vectors_leads(encoding):
    train = small_table(n_users=30, n_items=20, observed=0.3)
    number_by_number = ElementwiseALS(
        2, 0.5, weighting="uniform", n_iterations=3000, encoding=encoding
    )
    by_vector = WeightedMF(2, 0.5, 1, 3000, "binary", encoding)
    for model in (number_by_number, by_vector):
        model.fit(train, rng=np.random.default_rng(1))
    loss = number_by_number.objective(train)
    assert loss == pytest.approx(by_vector.objective(train), rel=1e-9)
    users = np.arange(30)
    np.testing.assert_allclose(number_by_number.score(users), by_vector.score(users), atol=1e-5)
    early = ElementwiseALS(2, 0.5, weighting="uniform", n_iterations=2, encoding=encoding)
    assert early.fit(train, rng=np.random.default_rng(1)).objective(train) > loss * 1.001


def test_popularity_weights_without_their_exponent_are_uniform():
    """With an exponent of 0 and as much weight as items with ratings, each has 1."""
    train = small_table(n_items=9)
    nothing_liked = dataclasses.replace(train, value=np.ones(len(train)))
    popular = ElementwiseALS(3, 0.1, 8, 0, "popularity", 20, ZEROS)
    uniform = ElementwiseALS(3, 0.1, 128, 0.4, "uniform", 20, ZEROS)
    scores = [
        model.fit(nothing_liked, rng=np.random.default_rng(1)).score(np.arange(12))
        for model in (popular, uniform)
    ]
    np.testing.assert_allclose(*scores, rtol=1e-6)


def test_what_is_missing_from_popular_items_pulls_them_down():
    """Items 0 and 1 have the same raters but for the many others of item 0."""
    stars = np.full((40, 6), np.nan)
    stars[:10, :2] = stars[10:30, 0] = stars[:30, 2:4] = stars[30:, 4:] = 5.0
    train = table(stars)
    ratio = {}
    for exponent in (0.0, 1.0):
        model = ElementwiseALS(2, 0.1, 3, exponent, "popularity", 100)
        scores = model.fit(train, rng=np.random.default_rng(1)).score(np.arange(40))
        ratio[exponent] = np.abs(scores[30:, 0]).mean() / np.abs(scores[30:, 1]).mean()
    assert ratio[1.0] < ratio[0.0]


class Start:
    """Stands in for a generator whose first two draws are known."""

    def __init__(self, *arrays):
        self.arrays = list(arrays)

    def normal(self, loc, scale, size):
        drawn = self.arrays.pop(0)
        assert (loc, scale, size) == (0, 0.1, drawn.shape)
        return drawn.copy()


@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_renumbered_users_and_items_get_the_same_scores(weighting):
    stars = random_stars(n_users=20, n_items=15)
    rng = np.random.default_rng(4)
    p, q = rng.normal(0, 0.1, (20, 4)), rng.normal(0, 0.1, (15, 4))
    users, items = rng.permutation(20), rng.permutation(15)
    model = ElementwiseALS(4, 0.2, 3, 0.5, weighting, 5)
    scores = model.fit(table(stars), rng=Start(p, q)).score(np.arange(20))
    shuffled = table(stars[users][:, items])
    again = model.fit(shuffled, rng=Start(p[users], q[items])).score(np.arange(20))
    np.testing.assert_allclose(again, scores[users][:, items], rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("weighting", WEIGHTINGS)
@pytest.mark.parametrize("stars", [4.5, 1.0])
def test_more_factors_than_items_and_equal_ratings_give_numbers(weighting, stars):
    """1 star is not liked: all ratings count 0."""
    train = table(np.where(np.isnan(random_stars()), np.nan, stars))
    model = ElementwiseALS(40, 1e-6, 2, weighting=weighting, encoding=ZEROS)
    scores = model.fit(train, rng=np.random.default_rng(1)).score(np.arange(train.n_users))
    assert np.isnan(scores[-1]).all()
    assert np.isnan(scores[:, -1]).all()
    # With almost no penalty, 40 factors fit every pair.
    rated = dense(train)[1][:-1, :-1]
    np.testing.assert_allclose(scores[:-1, :-1], rated, atol=1e-2)


@pytest.mark.parametrize("n_factors", [1, 7])
def test_a_single_rating_has_a_closed_form(n_factors):
    """The best product z minimises w (1 - z)^2 + 2 lambda z; here w = 1 + 4."""
    stars = np.full((3, 2), np.nan)
    stars[1, 0] = 4
    model = ElementwiseALS(n_factors, 0.5, weighting="uniform", n_iterations=500)
    scores = model.fit(table(stars), rng=np.random.default_rng(1)).score(np.arange(3))
    assert scores[1, 0] == pytest.approx(1 - 0.5 / 5)
    assert np.isnan(scores).sum() == 5
    assert not model.user_factors[[0, 2]].any()


@pytest.mark.parametrize("weighting", ["popularity", "both"])
def test_a_pair_may_weigh_more_without_its_rating_than_with_it(weighting):
    """Each step is still to the minimum, and the objective falls."""
    train, objectives = small_table(), []
    model = ElementwiseALS(3, 0.1, 1e4, weighting=weighting, n_iterations=30)
    model.fit(train, rng=np.random.default_rng(1), on_iteration=lambda _, x: objectives.append(x))
    assert np.isfinite(model.score(np.arange(train.n_users))[:-1, :-1]).all()
    assert (np.diff(objectives) <= 1e-9 * objectives[0]).all()
    assert objectives[-1] < objectives[0]


def test_ratings_below_zero_are_refused():
    with pytest.raises(DataError, match="user 0 rates item 0 -2 in 'small'"):
        ElementwiseALS().fit(table([[-2.0, 3.0]]))
