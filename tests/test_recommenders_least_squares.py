import numpy as np
import pytest

from recbias.errors import ConfigError, DataError
from recbias.recommenders import WeightedMF
from recbias.recommenders.modern import ImplicitALS
from recommender_tables import dense, random_stars, small_table, table


def weighted_loss(train, alpha, target, regularisation, p, q):
    """Sum over all pairs, one by one as the objective is written."""
    values, rated = dense(train)
    wanted = rated.astype(float) if target == "binary" else values
    total = regularisation * (np.sum(p**2) + np.sum(q**2))
    for u in range(train.n_users):
        for i in range(train.n_items):
            confidence = 1 + alpha * values[u, i] if rated[u, i] else 1
            total += confidence * (wanted[u, i] - p[u] @ q[i]) ** 2
    return total


@pytest.mark.parametrize("target", ["rating", "binary"])
@pytest.mark.parametrize("n_factors", [1, 3, 30])
def test_users_solve_the_normal_equations(target, n_factors):
    train = small_table(n_users=25, n_items=14)
    model = WeightedMF(
        n_factors=n_factors, regularisation=0.7, alpha=2, n_iterations=3, target=target
    ).fit(train, rng=np.random.default_rng(1))
    q = model.item_factors
    values, rated = dense(train)
    for u in range(train.n_users):
        confidence = np.diag(np.where(rated[u], 1 + 2 * values[u], 1))
        wanted = rated[u] * (values[u] if target == "rating" else 1)
        left = q.T @ confidence @ q + 0.7 * np.eye(n_factors)
        expected = np.linalg.solve(left, q.T @ confidence @ wanted)
        np.testing.assert_allclose(model.user_factors[u], expected, rtol=1e-8, atol=1e-11)
    product = model.user_factors @ q.T
    np.testing.assert_allclose(
        model.score(np.arange(24))[:, :-1], product[:24, :-1], rtol=1e-6, atol=1e-7
    )


@pytest.mark.parametrize("target", ["rating", "binary"])
def test_the_loss_is_the_objective_and_never_rises(target):
    train = small_table(n_users=25, n_items=14)
    losses = []
    for rounds in range(1, 15):
        model = WeightedMF(4, 0.3, 1.5, rounds, target).fit(train, rng=np.random.default_rng(2))
        factors = model.user_factors, model.item_factors
        losses.append(model.objective(train))
        assert losses[-1] == pytest.approx(weighted_loss(train, 1.5, target, 0.3, *factors))
    assert (np.diff(losses) <= 1e-9 * losses[0]).all()
    assert losses[-1] < losses[0]


def test_at_convergence_no_direction_lowers_the_loss():
    train = small_table(n_users=8, n_items=6)
    model = WeightedMF(2, 0.5, 1, 3000).fit(train, rng=np.random.default_rng(2))
    p, q = model.user_factors, model.item_factors
    best = weighted_loss(train, 1, "rating", 0.5, p, q)
    rng = np.random.default_rng(3)
    for _ in range(50):
        dp, dq = rng.normal(size=p.shape), rng.normal(size=q.shape)
        step = 1e-4
        up = weighted_loss(train, 1, "rating", 0.5, p + step * dp, q + step * dq)
        down = weighted_loss(train, 1, "rating", 0.5, p - step * dp, q - step * dq)
        assert abs(up - down) / (2 * step) < 1e-4 * best


def test_binary_target_reaches_the_loss_of_implicit():
    """With ratings of 1 the confidences 1 + 1 here and 2 there are the same."""
    train = table(np.where(np.isnan(random_stars(n_users=40, n_items=25)), np.nan, 1.0))
    ours = WeightedMF(3, 0.1, 1, 60, "binary").fit(train, rng=np.random.default_rng(1))
    theirs = ImplicitALS(3, 0.1, alpha=2, n_iterations=60).fit(train, rng=np.random.default_rng(1))
    loss = weighted_loss(train, 1, "binary", 0.1, theirs.user_factors, theirs.item_factors)
    assert ours.objective(train) == pytest.approx(loss, rel=0.02)


def test_weighted_mf_refuses_what_it_cannot_solve():
    train = small_table(n_users=6, n_items=4)
    with pytest.raises(ConfigError, match="regularisation 1e-300 is too small for 20 factors"):
        WeightedMF(n_factors=20, regularisation=1e-300).fit(train, rng=np.random.default_rng(1))
    stars = random_stars()
    stars[0, 0] = -2
    with pytest.raises(DataError, match="user 0 rates item 0 -2 in 'small'"):
        WeightedMF().fit(table(stars))


@pytest.mark.parametrize("stars", [3.0, 0.0])
def test_more_factors_than_items_and_equal_ratings_give_numbers(stars):
    train = table(np.where(np.isnan(random_stars()), np.nan, stars))
    scores = (
        WeightedMF(n_factors=40)
        .fit(train, rng=np.random.default_rng(1))
        .score(np.arange(train.n_users))
    )
    assert np.isfinite(scores[:-1, :-1]).all()
    assert np.isnan(scores[-1]).all()
    assert np.isnan(scores[:, -1]).all()


def test_merged_stars_change_the_model_and_encoding_names_them():
    stars = random_stars(levels=5)
    merged = np.where(stars < 4, 2.0, stars)
    users = np.arange(len(stars))
    rng = np.random.default_rng
    by_encoding = WeightedMF(3, encoding="stars<4=2").fit(table(stars), rng=rng(1)).score(users)
    by_hand = WeightedMF(3).fit(table(merged), rng=rng(1)).score(users)
    np.testing.assert_array_equal(by_encoding, by_hand)
    as_given = WeightedMF(3).fit(table(stars), rng=rng(1)).score(users)
    assert np.nanmax(np.abs(as_given - by_hand)) > 0.01
