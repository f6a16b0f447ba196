import numpy as np
import pytest
from scipy import stats
from scipy.special import kl_div, psi

from recbias.errors import ConfigError, DataError
from recbias.recommenders import PNMF, PoissonFactorisation
from recbias.recommenders.as_published.poisson_factorisation import UntrainedPoissonFactorisation
from recommender_tables import dense, random_stars, small_table, table

PRIORS = {
    "user_shape": 0.4,
    "user_rate_shape": 0.5,
    "user_rate_mean": 2.0,
    "item_shape": 0.2,
    "item_rate_shape": 0.7,
    "item_rate_mean": 1.5,
}


def objectives(model, train, seed=1):
    """Fit and return the objective after each iteration."""
    path = []
    model.fit(
        train, rng=np.random.default_rng(seed), on_iteration=lambda _, value: path.append(value)
    )
    return np.array(path)


def poisson_model(n_iterations, train, n_factors=3, **priors):
    model = PoissonFactorisation(n_factors, n_iterations, **(priors or PRIORS))
    return model.fit(train, rng=np.random.default_rng(1))


def responsibilities(model):
    """Return phi (n_users, n_items, n_factors), explicitly."""
    users = psi(model.user_shapes) - np.log(model.user_rates)
    items = psi(model.item_shapes) - np.log(model.item_rates)
    phi = np.exp(users[:, None, :] + items[None, :, :])
    return phi / phi.sum(axis=2, keepdims=True)


@pytest.mark.parametrize("sweeps_before", [0, 1, 5])
def test_a_sweep_of_poisson_factorisation_is_that_of_the_publication(sweeps_before):
    """Algorithm 1 of the publication, with loops over dense pairs; the last of each is unknown."""
    train = small_table()
    values, _ = dense(train)
    a, a1, b1, c, c1, d1 = PRIORS.values()
    before, after = (poisson_model(n, train) for n in (sweeps_before, sweeps_before + 1))
    phi = responsibilities(before)
    n_users, n_items, n_factors = phi.shape
    theta = before.user_shapes / before.user_rates
    beta = before.item_shapes / before.item_rates

    for u in range(n_users - 1):
        activity = a1 / b1 + sum(theta[u])
        for k in range(n_factors):
            shape = a + sum(values[u, i] * phi[u, i, k] for i in range(n_items - 1))
            rate = (a1 + n_factors * a) / activity + sum(beta[i, k] for i in range(n_items - 1))
            assert after.user_shapes[u, k] == pytest.approx(shape, rel=1e-12)
            assert after.user_rates[u, k] == pytest.approx(rate, rel=1e-12)
        theta[u] = after.user_shapes[u] / after.user_rates[u]
        assert after.activity_rates[u] == pytest.approx(a1 / b1 + sum(theta[u]), rel=1e-12)
    np.testing.assert_allclose(
        after.user_factors[:-1], (after.user_shapes / after.user_rates)[:-1], rtol=1e-14
    )
    for i in range(n_items - 1):
        popularity = c1 / d1 + sum(beta[i])
        for k in range(n_factors):
            shape = c + sum(values[u, i] * phi[u, i, k] for u in range(n_users - 1))
            rate = (c1 + n_factors * c) / popularity + sum(theta[u, k] for u in range(n_users - 1))
            assert after.item_shapes[i, k] == pytest.approx(shape, rel=1e-12)
            assert after.item_rates[i, k] == pytest.approx(rate, rel=1e-12)
    expected = (after.user_shapes / after.user_rates) @ (after.item_shapes / after.item_rates).T
    scores = after.score(np.arange(n_users))
    np.testing.assert_allclose(scores[:-1, :-1], expected[:-1, :-1], rtol=1e-6)
    assert np.isnan(scores[-1]).all()
    assert np.isnan(scores[:, -1]).all()


def test_the_evidence_bound_is_that_of_explicit_responsibilities():
    train = small_table()
    model = poisson_model(2, train)
    values, _ = dense(train)
    values = values[:-1, :-1]
    phi = responsibilities(model)[:-1, :-1]
    a, a1, b1, c, c1, d1 = PRIORS.values()
    log_theta = (psi(model.user_shapes) - np.log(model.user_rates))[:-1]
    log_beta = (psi(model.item_shapes) - np.log(model.item_rates))[:-1]
    bound = -np.sum(model.user_factors[:-1] @ model.item_factors[:-1].T)
    logs = log_theta[:, None, :] + log_beta[None, :, :] - np.log(phi)
    bound += np.sum(values[:, :, None] * phi * logs)
    # The logarithm of r!, from its integral, also for r that are no counts.
    bound -= sum(
        np.log(stats.gamma(1).expect(lambda x, r=r: x**r, epsabs=1e-12)) for r in values[values > 0]
    )
    sides = (
        (model.user_shapes, model.user_rates, model.activity_rates, a, a1, b1),
        (model.item_shapes, model.item_rates, model.popularity_rates, c, c1, d1),
    )
    for shapes, rates, hyper_rates, shape, hyper_shape, hyper_mean in sides:
        for row in range(len(shapes) - 1):
            s, r = hyper_shape + 3 * shape, hyper_rates[row]
            rate, log_rate = s / r, psi(s) - np.log(r)
            # The average of a gamma's log density over another needs E x and E ln x alone.
            bound += stats.gamma(s, scale=1 / r).entropy()
            p = hyper_shape / hyper_mean
            bound += stats.gamma(hyper_shape, scale=1 / p).logpdf(1.0) + p
            bound += (hyper_shape - 1) * log_rate - p * rate
            for k in range(3):
                s, r = shapes[row, k], rates[row, k]
                bound += stats.gamma(s, scale=1 / r).entropy()
                bound += stats.gamma(shape).logpdf(1.0) + 1 + shape * log_rate
                bound += (shape - 1) * (psi(s) - np.log(r)) - rate * s / r
    # The integrals above are good to 1e-8.
    assert model.objective(train) == pytest.approx(bound, rel=1e-7)


def test_the_evidence_bound_is_an_average_over_the_posterior():
    """With one factor no counts are hidden: draw all gammas, and average log p - log q."""
    train = table([[3.0, np.nan, 1.0], [2.0, 4.0, np.nan]])
    values, _ = dense(train)
    model = poisson_model(3, train, n_factors=1)
    a, a1, b1, c, c1, d1 = PRIORS.values()
    rng = np.random.default_rng(1)
    n = 40_000

    def draw(shapes, rates):
        posterior = stats.gamma(np.broadcast_to(shapes, rates.shape), scale=1 / rates)
        x = posterior.rvs((n, len(rates)), random_state=rng)
        return x, posterior.logpdf(x).sum(axis=1)

    theta, q1 = draw(model.user_shapes[:, 0], model.user_rates[:, 0])
    beta, q2 = draw(model.item_shapes[:, 0], model.item_rates[:, 0])
    xi, q3 = draw(a1 + a, model.activity_rates)
    eta, q4 = draw(c1 + c, model.popularity_rates)
    product = theta[:, :, None] * beta[:, None, :]
    log_p = stats.poisson(product).logpmf(values).sum(axis=(1, 2))
    log_p += stats.gamma(a, scale=1 / xi).logpdf(theta).sum(axis=1)
    log_p += stats.gamma(c, scale=1 / eta).logpdf(beta).sum(axis=1)
    log_p += stats.gamma(a1, scale=b1 / a1).logpdf(xi).sum(axis=1)
    log_p += stats.gamma(c1, scale=d1 / c1).logpdf(eta).sum(axis=1)
    terms = log_p - q1 - q2 - q3 - q4
    error = terms.std() / np.sqrt(n)
    assert error < 0.02
    # False alarm: 6e-5 for another seed.
    assert abs(model.objective(train) - terms.mean()) < 4 * error


@pytest.mark.parametrize("priors", [{}, PRIORS, {"user_shape": 0.01, "item_shape": 0.01}])
@pytest.mark.parametrize("encoding", ["stars", "graded-zero>=4"])
def test_the_evidence_bound_never_falls(priors, encoding):
    train = small_table(n_users=30, n_items=20)
    path = objectives(PoissonFactorisation(5, 60, encoding=encoding, **priors), train)
    assert np.isfinite(path).all()
    # Sums of fewer than 1e4 terms, each exact to about 1e-16 of the largest.
    assert (np.diff(path) >= -1e-11 * np.abs(path).max()).all()
    assert path[-1] > path[0] + 10


def test_small_shapes_do_not_underflow():
    """A factor that nobody uses has E ln near -100 on both sides, and no fraction becomes 0 / 0."""
    train = small_table(n_users=30, n_items=20)
    model = PoissonFactorisation(25, 300, user_shape=0.01, item_shape=0.01)
    model.fit(train, rng=np.random.default_rng(1))
    assert model.user_shapes[:-1].min() < 0.011
    scores = model.score(np.arange(29))[:, :-1]
    assert (scores > 0).all()


def projective_step(x, w):
    """One step with dense matrices, a sum per element."""
    estimate = x @ w @ w.T
    new = np.zeros_like(w)
    for i in range(w.shape[0]):
        for k in range(w.shape[1]):
            up = down = 0.0
            for u in range(x.shape[0]):
                for j in range(x.shape[1]):
                    # Derivatives of the estimate of (u, j) by w[i, k].
                    slope = x[u, i] * w[j, k] + (j == i) * (x[u] @ w[:, k])
                    down += slope
                    if x[u, j] > 0:
                        up += x[u, j] / estimate[u, j] * slope
            new[i, k] = w[i, k] * np.sqrt(up / down) if down > 0 else 0
    return new


@pytest.mark.parametrize("steps_before", [0, 1, 6])
def test_a_step_of_pnmf_is_that_of_dense_matrices(steps_before):
    train = small_table()
    x, _ = dense(train)
    before, after = (
        PNMF(3, steps).fit(train, rng=np.random.default_rng(1))
        for steps in (steps_before, steps_before + 1)
    )
    w = projective_step(x, before.item_factors)
    np.testing.assert_allclose(after.item_factors, w, rtol=1e-10, atol=1e-15)
    np.testing.assert_allclose(
        after.score(np.arange(11))[:, :-1], (x @ w @ w.T)[:-1, :-1], rtol=1e-6
    )


def divergence(x, w):
    return kl_div(x, x @ w @ w.T).sum()


def test_the_divergence_is_that_of_all_pairs_and_never_rises():
    train = small_table(n_users=30, n_items=20)
    x, _ = dense(train)
    model = PNMF(4, 150)
    path = objectives(model, train)
    assert path[-1] == pytest.approx(divergence(x, model.item_factors), rel=1e-10)
    assert (np.diff(path) <= 1e-11 * path[0]).all()
    assert path[-1] < 0.9 * path[1]


def test_each_element_steps_against_its_slope():
    train = small_table(n_users=8, n_items=6)
    x, _ = dense(train)
    for steps in (1, 5):
        before, after = (
            PNMF(2, n).fit(train, rng=np.random.default_rng(2)).item_factors[:-1]
            for n in (steps, steps + 1)
        )
        rated = x[:, :-1]
        for at in np.ndindex(before.shape):
            change = np.zeros_like(before)
            change[at] = 1e-6
            slope = divergence(rated, before + change) - divergence(rated, before - change)
            # Beyond the differences' own error, a factor grows just where that lowers the sum.
            if abs(slope) / 2e-6 > 1e-5:
                assert (after[at] - before[at]) * slope < 0


def test_multiples_of_ratings_give_multiples_of_scores():
    stars = random_stars()
    users = np.arange(len(stars) - 1)
    one, seven = (
        PNMF(3, 30).fit(table(factor * stars), rng=np.random.default_rng(1)).score(users)
        for factor in (1, 7)
    )
    np.testing.assert_allclose(seven, 7 * one, rtol=1e-6)


def test_pnmf_on_the_pattern_counts_also_what_others_count_zero():
    """LibRec reads no values: all ratings, disliked or not, are the same to it."""
    stars = random_stars()
    ones = np.where(np.isnan(stars), np.nan, 1.0)
    pattern, by_hand = (
        PNMF(3, 26, encoding).fit(table(given), rng=np.random.default_rng(1)).score(np.arange(11))
        for encoding, given in (("binary-all", stars), ("stars", ones))
    )
    np.testing.assert_array_equal(pattern, by_hand)


@pytest.mark.parametrize("model", [PoissonFactorisation, PNMF])
def test_zeros_that_are_kept_have_no_effect(model):
    stars = random_stars()
    stars[4] = np.where(np.isnan(stars[4]), np.nan, 2.0)
    stars[:, 3] = np.where(np.isnan(stars[:, 3]), np.nan, 1.0)
    kept, dropped = (
        model(n_factors=3, n_iterations=20, encoding=f"graded-{low}>=3").fit(
            table(stars), rng=np.random.default_rng(1)
        )
        for low in ("zero", "pos")
    )
    scores = kept.score(np.arange(len(stars)))
    np.testing.assert_array_equal(scores, dropped.score(np.arange(len(stars))))
    liked = np.nan_to_num(stars) >= 3
    expected = liked.any(axis=1)[:, None] & liked.any(axis=0)
    np.testing.assert_array_equal(np.isfinite(scores), expected)
    assert not expected[4].any()
    assert not expected[:, 3].any()
    assert kept.objective(table(stars)) == pytest.approx(dropped.objective(table(stars)), rel=1e-12)


@pytest.mark.parametrize("model", [PoissonFactorisation, PNMF])
def test_tables_at_the_edge_give_numbers_or_a_message(model):
    equal = np.where(np.isnan(random_stars()), np.nan, 3.0)
    for stars in (equal, np.array([[5.0, np.nan]]), np.full((2, 3), 4.0)):
        fitted = model(n_factors=40).fit(table(stars), rng=np.random.default_rng(1))
        known = ~np.isnan(stars)
        scores = fitted.score(np.arange(len(stars)))
        expected = known.any(axis=1)[:, None] & known.any(axis=0)
        np.testing.assert_array_equal(np.isfinite(scores), expected)
        assert (np.nanmax(scores[known.any(axis=1)], axis=1) > 0).all()
    with pytest.raises(DataError, match=f"{model.__name__}: every training rating in 'small'"):
        model(encoding="binary-zero>=4").fit(table([[1.0, 3.0]]))
    with pytest.raises(DataError, match="user 0 rates item 1 -1 in 'small'"):
        model().fit(table([[1.0, -1.0]]))
    with (
        np.errstate(all="ignore"),
        pytest.raises(ConfigError, match=f"{model.__name__}: training on 'small' has run away"),
    ):
        model().fit(table([[1e307, 1e307], [1e307, np.nan]]), rng=np.random.default_rng(1))


@pytest.mark.parametrize("model", [PoissonFactorisation, PNMF])
def test_planted_groups_are_found(model):
    """Two groups of users at home in one half of the items each, and 30 % of it hidden."""
    rng = np.random.default_rng(4)
    home = np.arange(60)[:, None] % 2 == np.arange(30) % 2
    rated = (home & (rng.random(home.shape) < 0.7)) | (rng.random(home.shape) < 0.05)
    fitted = model(n_factors=2).fit(
        table(np.where(rated, 4.0, np.nan)), rng=np.random.default_rng(1)
    )
    scores = fitted.score(np.arange(60))
    for user in range(60):
        others = scores[user, ~home[user] & ~rated[user]]
        assert scores[user, home[user] & ~rated[user]].min() > others.max()


def test_the_untrained_ranking_is_a_matter_of_its_seed_alone():
    first, second = small_table(0), small_table(1)
    users = np.arange(first.n_users - 1)

    def scores(train, rng_seed=1, **parameters):
        model = UntrainedPoissonFactorisation(**parameters)
        return model.fit(train, rng=np.random.default_rng(rng_seed)).score(users)

    kept = scores(first)
    np.testing.assert_array_equal(scores(second, 2), kept)
    assert np.isnan(kept[:, -1]).all()
    assert np.isfinite(kept[:, :-1]).all()
    assert not np.array_equal(scores(first, seed=2), kept, equal_nan=True)
    assert not np.array_equal(scores(first, n_factors=3), kept, equal_nan=True)


def test_the_untrained_ranking_is_almost_the_same_for_everybody():
    model = UntrainedPoissonFactorisation().fit(small_table(n_users=300, n_items=200))
    for factors in (model.user_factors, model.item_factors):
        # Means of gammas with shape 0.3 to 0.31 and rate 1 to 1.1.
        assert 0.3 / 1.1 <= factors.min() < factors.max() <= 0.31
    scores = model.score(np.arange(299))[:, :-1]
    places = scores.argsort(axis=1).argsort(axis=1)
    agreement = np.corrcoef(places)
    assert 0.9 < agreement.min() < 0.999
