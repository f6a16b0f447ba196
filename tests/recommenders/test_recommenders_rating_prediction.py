import math
from itertools import permutations

import numpy as np
import pytest
from scipy.stats import chi2

from recbias.errors import ConfigError
from recbias.recommenders import BiasedMF, SVDpp
from recbias.recommenders.rating_prediction import _shuffle_within
from recommender_tables import random_stars, small_table, table

MODELS = [BiasedMF, SVDpp]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("stars", [3.0, 0.0])
def test_more_factors_than_items_and_equal_ratings_give_numbers(model, stars):
    train = table(np.where(np.isnan(random_stars()), np.nan, stars))
    fitted = model(n_factors=40).fit(train, rng=np.random.default_rng(1))
    scores = fitted.score(np.arange(train.n_users))
    assert np.isfinite(scores[:-1, :-1]).all()
    assert np.isnan(scores[-1]).all()
    assert np.isnan(scores[:, -1]).all()


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    "stars",
    [
        np.where(np.eye(4, dtype=bool), 5.0, np.nan),
        [[1.0, 5.0, 3.0, 2.0, 5.0]],
        [[1.0], [5.0], [np.nan]],
        1e6 * np.eye(3),
    ],
    ids=["one rating per user", "one user", "one item", "a wide range"],
)
def test_extreme_tables_give_numbers(model, stars):
    train = table(stars)
    small_steps = {"learning_rate": 1e-13} if np.nanmax(stars) > 5 else {}
    fitted = model(n_factors=7, **small_steps).fit(train, rng=np.random.default_rng(1))
    rated = fitted.score(np.arange(train.n_users))[train.user, train.item]
    assert np.isfinite(rated).all()
    assert all(np.isfinite(array).all() for array in parameters_of(fitted))


@pytest.mark.parametrize("model", MODELS)
def test_divergence_names_the_step(model):
    with pytest.raises(ConfigError, match=r"(?s)has run away.*choose a learning_rate below 50"):
        model(learning_rate=50, n_epochs=50).fit(small_table(), rng=np.random.default_rng(1))


@pytest.mark.parametrize("model", MODELS)
def test_the_objective_falls_far_and_scores_are_predicted_ratings(model):
    train = small_table(n_users=30, n_items=20)
    objectives = []
    fitted = model(4, 0.02, 0.02, 200).fit(
        train, rng=np.random.default_rng(1), on_iteration=lambda _, value: objectives.append(value)
    )
    assert len(objectives) == 200
    assert objectives[-1] < 0.2 * objectives[0]
    assert objectives[-1] == pytest.approx(fitted.objective(train))
    predicted = fitted.score(np.arange(train.n_users))[train.user, train.item]
    assert np.sqrt(np.mean((predicted - train.value) ** 2)) < 0.4 * train.value.std()


def gradient(objective, parameters, width=1e-5):
    """Central differences, in the shapes of the parameters."""
    found = []
    for array in parameters:
        slopes = np.zeros_like(array)
        for place in np.ndindex(array.shape):
            kept = array[place]
            array[place] = kept + width
            up = objective()
            array[place] = kept - width
            slopes[place] = (up - objective()) / (2 * width)
            array[place] = kept
        found.append(slopes)
    return found


def parameters_of(model):
    names = ["user_bias", "item_bias", "user_factors", "item_factors"]
    if isinstance(model, SVDpp):
        names.append("implicit_factors")
    return [getattr(model, name) for name in names]


def written_out(model, train):
    """The objective of both models, rating by rating."""
    total = 0.0
    for u, i, rating in zip(train.user, train.item, train.value, strict=True):
        mine = [j for v, j in zip(train.user, train.item, strict=True) if v == u]
        profile, penalty = model.user_factors[u], 0.0
        if isinstance(model, SVDpp):
            y = model.implicit_factors[mine]
            profile = profile + y.sum(axis=0) / math.sqrt(len(mine))
            penalty = np.sum(y**2)
        bias = model.user_bias[u] + model.item_bias[i]
        error = rating - (model.mean + bias + profile @ model.item_factors[i])
        penalty += model.user_bias[u] ** 2 + model.item_bias[i] ** 2
        penalty += np.sum(model.user_factors[u] ** 2) + np.sum(model.item_factors[i] ** 2)
        total += 0.5 * (error**2 + model.regularisation * penalty)
    return total


@pytest.mark.parametrize("model", MODELS)
def test_an_epoch_of_tiny_steps_is_one_down_the_gradient(model):
    train = small_table(n_users=7, n_items=6)
    start, end = (
        model(2, step, 0.3, 1).fit(train, rng=np.random.default_rng(7)) for step in (1e-300, 1e-7)
    )
    assert start.objective(train) == pytest.approx(written_out(start, train), rel=1e-12)
    slopes = gradient(lambda: written_out(start, train), parameters_of(start))
    for before, after, slope in zip(parameters_of(start), parameters_of(end), slopes, strict=True):
        # Later steps of the epoch see parameters that moved by 1e-7 times a gradient of at most
        # about 30, with second derivatives of that order: 1e-4. Differences are better than 1e-8.
        np.testing.assert_allclose((before - after) / 1e-7, slope, atol=1e-4)


def descend(train, rng, n_factors, learning_rate, regularisation, n_epochs):
    """Stochastic descent, a line per equation, on the random stream of the model."""
    mean = train.value.mean()
    user_bias, item_bias = np.zeros(train.n_users), np.zeros(train.n_items)
    p = rng.normal(0, 0.1, (train.n_users, n_factors))
    q = rng.normal(0, 0.1, (train.n_items, n_factors))
    for _ in range(n_epochs):
        for row in rng.permutation(len(train)):
            u, i = train.user[row], train.item[row]
            error = train.value[row] - (mean + user_bias[u] + item_bias[i] + p[u] @ q[i])
            old = p[u].copy()
            user_bias[u] += learning_rate * (error - regularisation * user_bias[u])
            item_bias[i] += learning_rate * (error - regularisation * item_bias[i])
            p[u] += learning_rate * (error * q[i] - regularisation * p[u])
            q[i] += learning_rate * (error * old - regularisation * q[i])
    return mean + user_bias[:, None] + item_bias[None, :] + p @ q.T


def test_biased_mf_is_the_naive_loop():
    train = small_table()
    model = BiasedMF(3, 0.05, 0.2, 4).fit(train, rng=np.random.default_rng(7))
    predicted = descend(train, np.random.default_rng(7), 3, 0.05, 0.2, 4)
    scores = model.score(np.arange(train.n_users - 1))
    np.testing.assert_allclose(scores[:, :-1], predicted[:-1, :-1], rtol=1e-6)


def descend_with_implicit(train, rng, n_factors, learning_rate, regularisation, n_epochs):
    """SVD++ as it is published: every rating moves the y of all items that its user rated."""
    n_users, n_items = train.n_users, train.n_items
    mean = train.value.mean()
    user_bias, item_bias = np.zeros(n_users), np.zeros(n_items)
    p, q, y = (rng.normal(0, 0.1, (n, n_factors)) for n in (n_users, n_items, n_items))
    rows = [list(np.flatnonzero(train.user == u)) for u in range(n_users)]
    for _ in range(n_epochs):
        users, draws = rng.permutation(n_users), rng.random(len(train))
        for u in users:
            first = np.searchsorted(train.user, u)
            for last in reversed(range(1, len(rows[u]))):
                other = int(draws[first + last] * (last + 1))
                rows[u][last], rows[u][other] = rows[u][other], rows[u][last]
            rated = train.item[train.user == u]
            for row in rows[u]:
                i = train.item[row]
                z = y[rated].sum(axis=0) / math.sqrt(len(rated))
                error = train.value[row] - (mean + user_bias[u] + item_bias[i] + q[i] @ (p[u] + z))
                old_p, old_q = p[u].copy(), q[i].copy()
                user_bias[u] += learning_rate * (error - regularisation * user_bias[u])
                item_bias[i] += learning_rate * (error - regularisation * item_bias[i])
                p[u] += learning_rate * (error * old_q - regularisation * old_p)
                q[i] += learning_rate * (error * (old_p + z) - regularisation * old_q)
                for j in rated:
                    change = error * old_q / math.sqrt(len(rated)) - regularisation * y[j]
                    y[j] += learning_rate * change
    return user_bias, item_bias, p, q, y


@pytest.mark.parametrize(
    ("learning_rate", "regularisation"), [(0.01, 0.02), (0.05, 0.5), (0.02, 0), (0.1, 12)]
)
def test_svdpp_is_the_naive_algorithm_to_1e_10(learning_rate, regularisation):
    train = small_table(n_users=20, n_items=15)
    settings = (3, learning_rate, regularisation, 5)
    model = SVDpp(*settings).fit(train, rng=np.random.default_rng(7))
    naive = descend_with_implicit(train, np.random.default_rng(7), *settings)
    known_user, known_item = train.user_counts() > 0, train.item_counts() > 0
    known = [known_user, known_item, known_user, known_item, known_item]
    for ours, theirs, rows in zip(parameters_of(model), naive, known, strict=True):
        np.testing.assert_allclose(ours[rows], theirs[rows], rtol=0, atol=1e-10)
        assert not ours[~rows].any()
    user_bias, item_bias, p, q, y = naive
    for u in np.flatnonzero(known_user):
        rated = train.item[train.user == u]
        profile = p[u] + y[rated].sum(axis=0) / math.sqrt(len(rated))
        expected = train.value.mean() + user_bias[u] + item_bias + q @ profile
        scores = model.score(np.array([u]))[0]
        np.testing.assert_allclose(scores[known_item], expected[known_item], rtol=1e-6, atol=1e-7)


def test_shuffling_keeps_to_users_and_prefers_no_order():
    rng = np.random.default_rng(3)
    pointers, order = np.array([0, 3, 3, 4, 7]), np.arange(7)
    seen = dict.fromkeys(permutations(range(3)), 0)
    for _ in range(6000):
        _shuffle_within(pointers, rng.random(7), order)
        assert set(order[:3]) == {0, 1, 2}
        assert order[3] == 3
        assert set(order[4:]) == {4, 5, 6}
        seen[tuple(order[:3])] += 1
    statistic = sum((count - 1000) ** 2 / 1000 for count in seen.values())
    assert statistic < chi2.isf(1e-4, df=5)  # one seed in 10,000 fails by chance


def test_what_a_user_rated_speaks_for_him_whatever_he_gave():
    """Two groups rate items of their own 3 stars, and disagree about four others."""
    rng = np.random.default_rng(5)
    group = np.arange(120) % 2
    stars = np.full((120, 40), np.nan)
    for u in range(120):
        stars[u, 20 * group[u] + rng.permutation(18)[:12]] = 3.0
        stars[u, [18, 19]] = 5.0 if group[u] == 0 else 1.0
        stars[u, [38, 39]] = 1.0 if group[u] == 0 else 5.0
    stars[:4, [18, 19, 38, 39]] = np.nan
    settings = {"n_factors": 4, "learning_rate": 0.02, "n_epochs": 100}
    gaps = {}
    for model in MODELS:
        fitted = model(**settings).fit(table(stars), rng=np.random.default_rng(1))
        scores = fitted.score(np.arange(4))
        first_pair = scores[:, [18, 19]].mean(axis=1) - scores[:, [38, 39]].mean(axis=1)
        gaps[model] = np.where(group[:4] == 0, first_pair, -first_pair)
    # The true gap is 4; all that BiasedMF has of these users are ratings of 3.
    assert (gaps[SVDpp] > 1).all()
    assert (np.abs(gaps[BiasedMF]) < 1).all()
