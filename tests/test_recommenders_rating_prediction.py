import numpy as np
import pytest

from recbias.errors import ConfigError
from recbias.recommenders import BiasedMF
from recommender_tables import random_stars, small_table, table


@pytest.mark.parametrize("stars", [3.0, 0.0])
def test_more_factors_than_items_and_equal_ratings_give_numbers(stars):
    train = table(np.where(np.isnan(random_stars()), np.nan, stars))
    scores = (
        BiasedMF(n_factors=40)
        .fit(train, rng=np.random.default_rng(1))
        .score(np.arange(train.n_users))
    )
    assert np.isfinite(scores[:-1, :-1]).all()
    assert np.isnan(scores[-1]).all()
    assert np.isnan(scores[:, -1]).all()


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


def test_biased_mf_steps_down_the_gradient_of_its_objective():
    train = table([[4.0, np.nan], [np.nan, 1.0]])
    start = BiasedMF(2, n_epochs=0).fit(train, rng=np.random.default_rng(7))
    end = BiasedMF(2, 1e-3, 0.3, 1).fit(train, rng=np.random.default_rng(7))

    def parameters(model):
        biases = np.concatenate([model.user_bias, model.item_bias])
        return np.concatenate([biases, model.user_factors.ravel(), model.item_factors.ravel()])

    def objective(x):
        # The two ratings share no parameter, so one epoch is one step down the whole objective.
        p, q = x[4:8].reshape(2, 2), x[8:].reshape(2, 2)
        error = np.diag(train.value) - train.value.mean() - x[:2, None] - x[None, 2:4] - p @ q.T
        return 0.5 * (np.sum(np.diag(error) ** 2) + 0.3 * np.sum(x**2))

    x = parameters(start)
    directions = 1e-5 * np.eye(len(x))
    gradient = [(objective(x + d) - objective(x - d)) / 2e-5 for d in directions]
    np.testing.assert_allclose((x - parameters(end)) / 1e-3, gradient, atol=1e-8)


def test_biased_mf_says_when_it_diverges():
    with pytest.raises(ConfigError, match="learning_rate 50 diverged in epoch"):
        BiasedMF(learning_rate=50, n_epochs=50).fit(small_table(), rng=np.random.default_rng(1))
