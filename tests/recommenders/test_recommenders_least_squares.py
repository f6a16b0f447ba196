import warnings

import numpy as np
import pytest
import scipy.sparse
from threadpoolctl import threadpool_limits

from recbias.errors import ConfigError, DataError
from recbias.recommenders import WRMF, WeightedMF
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


ZEROS = "graded-zero>=4"


def wrmf_confidence(stars, alpha):
    """Confidence of all pairs under `ZEROS`, and which are rated; NaN = no rating."""
    counted = np.where(stars >= 4, stars - 3, 0)
    rated = ~np.isnan(stars)
    return np.where(rated, 1 + np.log(1 + 10**alpha * counted), 1), rated


@pytest.mark.parametrize("n_factors", [1, 3, 30])
def test_wrmf_solves_for_users_and_then_items(n_factors):
    stars = random_stars(n_users=25, n_items=14)
    confidence, rated = wrmf_confidence(stars, 1.5)
    q = np.random.default_rng(1).normal(0, 0.1, (14, n_factors))
    q[-1] = 0
    p = np.zeros((25, n_factors))
    penalty = 0.7 * np.eye(n_factors)
    for _ in range(3):
        for u in range(24):
            left = q.T @ np.diag(confidence[u]) @ q + penalty
            p[u] = np.linalg.solve(left, q.T @ (confidence[u] * rated[u]))
        for i in range(13):
            left = p.T @ np.diag(confidence[:, i]) @ p + penalty
            q[i] = np.linalg.solve(left, p.T @ (confidence[:, i] * rated[:, i]))
    model = WRMF(n_factors, 0.7, 1.5, 3, ZEROS).fit(table(stars), rng=np.random.default_rng(1))
    np.testing.assert_allclose(model.user_factors, p, rtol=1e-8, atol=1e-11)
    np.testing.assert_allclose(model.item_factors, q, rtol=1e-8, atol=1e-11)


def wrmf_loss(stars, alpha, regularisation, p, q):
    confidence, rated = wrmf_confidence(stars, alpha)
    penalty = regularisation * (np.sum(p**2) + np.sum(q**2))
    return np.sum(confidence * (rated - p @ q.T) ** 2) + penalty


def test_wrmf_lowers_its_objective_in_every_iteration():
    stars = random_stars(n_users=25, n_items=14)
    seen = []

    def look(number, objective):
        loss = wrmf_loss(stars, 4, 0.3, model.user_factors, model.item_factors)
        assert objective == pytest.approx(loss, rel=1e-12)
        seen.append((number, objective))

    model = WRMF(4, 0.3, 4, 15, ZEROS)
    model.fit(table(stars), rng=np.random.default_rng(2), on_iteration=look)
    numbers, objectives = zip(*seen, strict=True)
    assert numbers == tuple(range(1, 16))
    assert (np.diff(objectives) <= 1e-12 * objectives[0]).all()  # rounding of 350 terms
    assert objectives[-1] < 0.95 * objectives[0]


@pytest.mark.parametrize("target", ["rating", "binary"])
def test_weighted_mf_lowers_its_objective_in_every_iteration(target):
    seen = []
    WeightedMF(4, 0.3, 1.5, 15, target).fit(
        small_table(n_users=25, n_items=14),
        rng=np.random.default_rng(2),
        on_iteration=lambda _, objective: seen.append(objective),
    )
    assert len(seen) == 15
    assert (np.diff(seen) <= 1e-12 * seen[0]).all()


def test_wrmf_is_what_implicit_makes_of_its_confidence():
    """The library takes confidences as they are; from the same start it goes the same way."""
    stars = random_stars(n_users=40, n_items=25, observed=0.3)
    confidence, rated = wrmf_confidence(stars, 4)
    start = np.random.default_rng(1).normal(0, 0.1, (25, 3))
    start[-1] = 0
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        from implicit.cpu.als import AlternatingLeastSquares

        theirs = AlternatingLeastSquares(
            factors=3, regularization=0.5, alpha=1, iterations=4, use_cg=False, num_threads=1
        )
        theirs.item_factors = start.astype(np.float32)
        pairs = scipy.sparse.csr_matrix(np.where(rated, confidence, 0), dtype=np.float32)
        theirs.fit(pairs, show_progress=False)
    ours = WRMF(3, 0.5, 4, 4, ZEROS).fit(table(stars), rng=np.random.default_rng(1))
    left = ours.item_factors.T @ ours.item_factors + 0.5 * np.eye(3)
    # Eight solutions in single precision, of equations in which confidences up to 12 worsen the
    # condition at most as much.
    tolerance = 8 * np.finfo(np.float32).eps * 12 * np.linalg.cond(left)
    assert tolerance < 1e-3
    np.testing.assert_allclose(theirs.user_factors, ours.user_factors, atol=tolerance)
    np.testing.assert_allclose(theirs.item_factors, ours.item_factors, atol=tolerance)


@pytest.mark.parametrize(("model", "axis"), [(WRMF(4, 0.3), 0), (WeightedMF(4, 0.3), 1)])
def test_renumbering_the_side_that_is_not_drawn_changes_no_score(model, axis):
    """WRMF draws the items' vectors, WeightedMF the users'."""
    stars = random_stars(n_users=20, n_items=15)
    number = np.random.default_rng(3).permutation(stars.shape[axis])
    users = np.arange(20)
    scores = model.fit(table(stars), rng=np.random.default_rng(1)).score(users)
    shuffled = table(np.take(stars, number, axis))
    again = model.fit(shuffled, rng=np.random.default_rng(1)).score(users)
    np.testing.assert_allclose(again, np.take(scores, number, axis), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("alpha", [-2.0, 4.0, 400.0])
@pytest.mark.parametrize("stars", [4.5, 1.0])
def test_wrmf_fits_equal_ratings_with_more_factors_than_items(alpha, stars):
    """1 star is not liked: all ratings count 0. Ten to the 400 is no float."""
    train = table(np.where(np.isnan(random_stars()), np.nan, stars))
    model = WRMF(40, 1e-6, alpha, encoding=ZEROS).fit(train, rng=np.random.default_rng(1))
    scores = model.score(np.arange(train.n_users))
    assert np.isnan(scores[-1]).all()
    assert np.isnan(scores[:, -1]).all()
    # With almost no penalty, 40 factors fit every pair.
    np.testing.assert_allclose(scores[:-1, :-1], dense(train)[1][:-1, :-1], atol=1e-3)


@pytest.mark.parametrize("n_factors", [1, 7])
@pytest.mark.parametrize(("rating", "confidence"), [(0.0, 1.0), (2.0, 1 + np.log(20001))])
def test_a_single_rating_has_a_closed_form(n_factors, rating, confidence):
    """The best product z minimises c (1 - z)^2 + 2 lambda z."""
    stars = np.full((3, 2), np.nan)
    stars[1, 0] = rating
    model = WRMF(n_factors, 0.5, n_iterations=500)
    scores = model.fit(table(stars), rng=np.random.default_rng(1)).score(np.arange(3))
    assert scores[1, 0] == pytest.approx(1 - 0.5 / confidence)
    assert np.isnan(scores).sum() == 5


def test_wrmf_refuses_what_it_cannot_solve():
    train = small_table(n_users=6, n_items=4)
    with pytest.raises(ConfigError, match=r"WRMF: .*\n.*1e-300 is too small for 20"):
        WRMF(20, 1e-300).fit(train, rng=np.random.default_rng(1))
    with pytest.raises(DataError, match="WRMF: user 0 rates item 0 -2 in 'small'"):
        WRMF().fit(table([[-2.0, 3.0]]))
