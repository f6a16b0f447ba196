import warnings

import numpy as np
import pytest

from recbias.errors import ConfigError, DataError
from recbias.recommenders import PLSA, GaussianPLSA
from recbias.recommenders.topic import ratio_products, sum_of_logs
from recommender_tables import dense, random_stars, small_table, table


def objectives(model, train, seed=1):
    """Fit and return the objective after each iteration."""
    path = []
    model.fit(
        train, rng=np.random.default_rng(seed), on_iteration=lambda _, value: path.append(value)
    )
    return np.array(path)


def staircase():
    """Users with 0 to 34 ratings: profiles around multiples of the eight that a kernel takes."""
    rng = np.random.default_rng(3)
    stars = rng.uniform(1, 5, (35, 34))
    for user in range(35):
        stars[user, rng.permutation(34)[user:]] = np.nan
    return stars


def test_products_are_those_of_the_dense_matrices():
    train = table(staircase())
    rng = np.random.default_rng(1)
    users, items = rng.random((35, 5)), rng.random((34, 5))
    users[9] = 0  # its products are 0, and its ratings add nothing
    values, _ = dense(train)
    product = users @ items.T
    ratios = np.divide(values, product, out=np.zeros_like(values), where=product > 0)
    of_users, of_items = ratio_products(train, users, items)
    np.testing.assert_allclose(of_users, ratios @ items, rtol=1e-12)
    np.testing.assert_allclose(of_items, ratios.T @ users, rtol=1e-12)
    users[9] = 1
    expected = np.nansum(staircase() * np.log(users @ items.T))
    assert sum_of_logs(train, users, items) == pytest.approx(expected, rel=1e-12)


def test_sums_have_their_terms_in_the_order_of_ratings():
    """Bits of recorded results rest on this: ratings eight at a time must change none."""
    train = table(staircase())
    rng = np.random.default_rng(1)
    users, items = rng.random((35, 3)), rng.random((34, 3))
    of_users, of_items = np.zeros((35, 3)), np.zeros((34, 3))
    for u, i, r in zip(train.user, train.item, train.value, strict=True):
        p = 0.0
        for z in range(3):
            p += users[u, z] * items[i, z]
        of_users[u] += (r / p) * items[i]
        of_items[i] += (r / p) * users[u]
    found = ratio_products(train, users, items)
    np.testing.assert_array_equal(found[0], of_users)
    np.testing.assert_array_equal(found[1], of_items)


def test_the_likelihood_never_falls():
    train = small_table(n_users=30, n_items=20)
    path = objectives(PLSA(n_topics=4, n_iterations=40), train)
    assert (np.diff(path) >= -1e-9 * abs(path[0])).all()
    assert path[-1] > path[0] + 10


def test_likelihood_and_scores_are_those_of_the_definition():
    train = small_table()
    model = PLSA(n_topics=3, n_iterations=5).fit(train, rng=np.random.default_rng(1))
    values, rated = dense(train)
    p = model.topics @ model.items.T
    np.testing.assert_allclose(p[:-1].sum(axis=1), 1)
    np.testing.assert_allclose(model.items.sum(axis=0), 1)
    assert model.objective(train) == pytest.approx(np.sum(values[rated] * np.log(p[rated])))
    np.testing.assert_allclose(
        model.score(np.arange(len(p) - 1))[:, :-1], p[:-1, :-1], rtol=1e-6, atol=0
    )


def test_one_em_step_is_that_of_the_definition():
    """Posterior of each pair first, as in the book; the kernel never forms it."""
    train = small_table()
    before = PLSA(n_topics=3, n_iterations=0).fit(train, rng=np.random.default_rng(1))
    after = PLSA(n_topics=3, n_iterations=1).fit(train, rng=np.random.default_rng(1))
    values, _ = dense(train)
    joint = before.topics[:, None, :] * before.items[None, :, :]
    with np.errstate(invalid="ignore"):
        posterior = np.nan_to_num(joint / joint.sum(axis=2, keepdims=True))
    expected = values[:, :, None] * posterior
    topics, items = expected.sum(axis=1), expected.sum(axis=0)
    topics[:-1] /= topics[:-1].sum(axis=1, keepdims=True)
    np.testing.assert_allclose(after.topics, topics, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(after.items, items / items.sum(axis=0), rtol=1e-12, atol=1e-15)


def test_it_finds_the_optimum_of_scikit_learn():
    """pLSA is NMF under the Kullback-Leibler divergence, users weighted by their totals."""
    from sklearn.decomposition import NMF

    rng = np.random.default_rng(5)
    mixture = rng.dirichlet([0.2, 0.2], 60) @ rng.dirichlet(np.full(25, 0.3), 2)
    counts = rng.poisson(80 * mixture).astype(float)
    counts = counts[counts.sum(axis=1) > 0]
    stars = np.where(counts > 0, counts, np.nan)
    stars = stars[:, ~np.isnan(stars).all(axis=0)]
    counts = np.nan_to_num(stars)

    model = PLSA(n_topics=2, n_iterations=2000).fit(table(stars), rng=np.random.default_rng(1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        nmf = NMF(2, beta_loss="kullback-leibler", solver="mu", max_iter=2000, tol=0, init="random")
        nmf.set_params(random_state=1)
        w = nmf.fit_transform(counts)

    def divergence(product):
        rated = counts > 0
        logs = np.log(counts[rated] / product[rated])
        return counts[rated] @ logs - counts.sum() + product.sum()

    ours = divergence(counts.sum(axis=1, keepdims=True) * (model.topics @ model.items.T))
    theirs = divergence(w @ nmf.components_)
    assert ours == pytest.approx(theirs, rel=0.01)
    # The model has something to explain: one topic is far from both.
    alone = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    assert divergence(alone) > 1.5 * ours


def test_one_topic_is_popularity_in_stars():
    stars = random_stars()
    model = PLSA(n_topics=1, n_iterations=3).fit(table(stars), rng=np.random.default_rng(1))
    share = np.nansum(stars, axis=0) / np.nansum(stars)
    np.testing.assert_allclose(model.score(np.array([2]))[0, :-1], share[:-1], rtol=1e-6)


def test_binary_encoding_forgets_stars():
    stars = random_stars()
    ones = np.where(np.isnan(stars), np.nan, 1.0)
    users = np.arange(len(stars))

    def scores(train, encoding):
        model = PLSA(n_topics=3, n_iterations=9, encoding=encoding)
        return model.fit(train, rng=np.random.default_rng(1)).score(users)

    np.testing.assert_array_equal(scores(table(stars), "binary-all"), scores(table(ones), "stars"))
    assert not np.array_equal(
        scores(table(stars), "stars"), scores(table(ones), "stars"), equal_nan=True
    )


@pytest.mark.parametrize("form", ["graded", "binary"])
def test_zeros_that_are_kept_have_no_effect(form):
    """Nor can a user or an item be scored of whom nothing but zeros is known."""
    stars = random_stars()
    stars[4] = np.where(np.isnan(stars[4]), np.nan, 2.0)
    stars[:, 3] = np.where(np.isnan(stars[:, 3]), np.nan, 1.0)
    kept, dropped = (
        PLSA(3, 20, f"{form}-{low}>=3").fit(table(stars), rng=np.random.default_rng(1))
        for low in ("zero", "pos")
    )
    scores = kept.score(np.arange(len(stars)))
    np.testing.assert_array_equal(scores, dropped.score(np.arange(len(stars))))
    liked = np.nan_to_num(stars) >= 3
    expected = liked.any(axis=1)[:, None] & liked.any(axis=0)
    np.testing.assert_array_equal(np.isfinite(scores), expected)
    assert not expected[4].any()
    assert not expected[:, 3].any()
    assert kept.objective(table(stars)) == dropped.objective(table(stars))


def test_negative_ratings_and_nothing_but_zeros_are_refused():
    stars = random_stars()
    rows, columns = np.nonzero(~np.isnan(stars))
    stars[rows[0], columns[0]] = -1
    with pytest.raises(DataError, match=rf"user {rows[0]} rates item {columns[0]} -1 in 'small'"):
        PLSA().fit(table(stars))
    with pytest.raises(DataError, match="PLSA: every training rating in 'small' counts 0"):
        PLSA(encoding="graded-zero>=4").fit(table([[1.0, 2.0], [3.0, np.nan]]))


def test_plsa_refuses_ratings_too_large_to_add_up():
    with (
        np.errstate(all="ignore"),
        pytest.raises(ConfigError, match="'small' has run away\nscale the ratings down"),
    ):
        PLSA(2, 5).fit(table([[1e308, 1e308], [1e308, 1e308]]), rng=np.random.default_rng(1))


def standardise(stars, q):
    """Shrunken means and deviations of users, one by one."""
    known = stars[~np.isnan(stars)]
    means, deviations = np.full(len(stars), np.nan), np.full(len(stars), np.nan)
    for user, row in enumerate(stars):
        given = row[~np.isnan(row)]
        if len(given):
            mean = (given.sum() + q * known.mean()) / (len(given) + q)
            variance = (np.sum((given - mean) ** 2) + q * known.var()) / (len(given) + q)
            means[user], deviations[user] = mean, np.sqrt(variance)
    return means, deviations


def normal(v, mean, variance):
    return np.exp(-((v - mean) ** 2) / (2 * variance)) / np.sqrt(2 * np.pi * variance)


def em_step(v, topics, means, variances, centre, s):
    """One step of Gaussian pLSA, a posterior per rating, as the book writes it."""
    n_users, n_items = v.shape
    n_topics = topics.shape[1]
    posterior = np.full((n_users, n_items, n_topics), np.nan)
    for u, i in np.argwhere(~np.isnan(v)):
        joint = topics[u] * normal(v[u, i], means[i], variances[i])
        posterior[u, i] = joint / joint.sum()
    topics, means, variances = topics.copy(), means.copy(), variances.copy()
    for u in range(n_users - 1):
        topics[u] = np.nansum(posterior[u], axis=0) / np.sum(~np.isnan(v[u]))
    for i in range(n_items - 1):
        rated = ~np.isnan(v[:, i])
        for z in range(n_topics):
            share, w = posterior[rated, i, z], v[rated, i]
            mean = (share @ w + s * centre[i]) / (share.sum() + s)
            squares = share @ (w - mean) ** 2 + s * (mean - centre[i]) ** 2 + s
            means[i, z], variances[i, z] = mean, squares / (share.sum() + s)
    return topics, means, variances


@pytest.mark.parametrize("n_iterations", [1, 4])
def test_gaussian_plsa_is_the_naive_loop(n_iterations):
    stars = random_stars()
    mu, sigma = standardise(stars, 5)
    v = (stars - mu[:, None]) / sigma[:, None]
    centre = np.nanmean(v[:-1, :-1], axis=0)
    start = GaussianPLSA(3, 0).fit(table(stars), rng=np.random.default_rng(1))
    state = start.topics, start.means, start.variances
    np.testing.assert_allclose(start.means[:-1], np.repeat(centre[:, None], 3, axis=1), atol=1e-14)
    for _ in range(n_iterations):
        state = em_step(v, *state, centre, 2.0)
    model = GaussianPLSA(3, n_iterations).fit(table(stars), rng=np.random.default_rng(1))
    for found, expected in zip((model.topics, model.means, model.variances), state, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(model.user_means[:-1], mu[:-1])
    np.testing.assert_allclose(model.user_deviations[:-1], sigma[:-1])
    predicted = mu[:, None] + sigma[:, None] * (model.topics @ model.means.T)
    np.testing.assert_allclose(
        model.score(np.arange(len(stars) - 1))[:, :-1], predicted[:-1, :-1], rtol=1e-6
    )


def penalised_likelihood(v, topics, means, variances, centre, s):
    total = 0.0
    for u, i in np.argwhere(~np.isnan(v)):
        total += np.log(topics[u] @ normal(v[u, i], means[i], variances[i]))
    for i in range(len(centre)):
        gaps = (means[i] - centre[i]) ** 2
        total -= s / 2 * np.sum(np.log(variances[i]) + (gaps + 1) / variances[i])
    return total


def test_gaussian_plsa_raises_its_objective_to_a_stationary_point():
    stars = random_stars(n_users=10, n_items=7)
    train = table(stars)
    model = GaussianPLSA(2, 4000, prior_ratings=1.5)
    path = objectives(model, train)
    assert (np.diff(path) >= -1e-10 * abs(path[0])).all()
    assert path[-1] > path[0] + 0.1
    v = (stars - model.user_means[:, None]) / model.user_deviations[:, None]
    centre = np.nanmean(v[:-1, :-1], axis=0)

    def objective(means, variances):
        return penalised_likelihood(v, model.topics, means, variances, centre, 1.5)

    assert path[-1] == pytest.approx(objective(model.means, model.variances), rel=1e-12)
    step = 1e-5
    for i in range(6):
        for z in range(2):
            change = np.zeros_like(model.means)
            change[i, z] = step
            by_mean = objective(model.means + change, model.variances) - objective(
                model.means - change, model.variances
            )
            by_variance = objective(model.means, model.variances + change) - objective(
                model.means, model.variances - change
            )
            # Central differences err by step**2 and by rounding, 1e-14 / step.
            assert abs(by_mean) / (2 * step) < 1e-6
            assert abs(by_variance) / (2 * step) < 1e-6


def test_one_gaussian_topic_is_the_mean_of_the_item():
    stars = random_stars()
    model = GaussianPLSA(1, 3, smoothing=0).fit(table(stars), rng=np.random.default_rng(1))
    v = (stars - model.user_means[:, None]) / model.user_deviations[:, None]
    # Without smoothing each user's ratings have mean 0 and variance 1.
    several = np.sum(~np.isnan(v), axis=1) > 1
    np.testing.assert_allclose(np.nanmean(v[several], axis=1), 0, atol=1e-12)
    np.testing.assert_allclose(np.nanvar(v[several], axis=1), 1)
    np.testing.assert_allclose(model.means[:-1, 0], np.nanmean(v[:-1, :-1], axis=0), atol=1e-12)
    n = np.sum(~np.isnan(v[:, :-1]), axis=0)
    variances = (n * np.nanvar(v[:-1, :-1], axis=0) + 2) / (n + 2)
    np.testing.assert_allclose(model.variances[:-1, 0], variances)


@pytest.mark.parametrize("smoothing", [0.0, 5.0])
def test_gaussian_plsa_predicts_a_constant_and_keeps_lone_ratings_finite(smoothing):
    same = np.where(np.isnan(random_stars()), np.nan, 2.48)
    scores = GaussianPLSA(3, smoothing=smoothing).fit(table(same)).score(np.arange(len(same)))
    np.testing.assert_array_equal(scores[:-1, :-1], np.float32(2.48))

    # A component for each rating, a user of equal ratings, one who differs by far.
    stars = random_stars(n_users=8, n_items=6)
    stars[0] = np.where(np.isnan(stars[0]), np.nan, 3.0)
    stars[1] = np.where(np.isnan(stars[1]), np.nan, 5000.0)
    model = GaussianPLSA(20, 200, smoothing=smoothing, prior_ratings=1e-6)
    path = objectives(model, table(stars))
    assert np.isfinite(path).all()
    assert (np.diff(path) >= -1e-10 * np.abs(path).max()).all()
    assert (model.variances > 0).all()
    assert np.isfinite(model.score(np.arange(7))[:, :-1]).all()


def test_gaussian_plsa_tells_two_tastes_apart():
    """One half loves what the other hates: one topic predicts the mean, two predict the stars."""
    rng = np.random.default_rng(2)
    stars = np.where(np.arange(40)[:, None] % 2 == np.arange(20) % 2, 5.0, 1.0)
    hidden = rng.random(stars.shape) < 0.3
    train = table(np.where(hidden, np.nan, stars))

    def error(n_topics):
        model = GaussianPLSA(n_topics, 200).fit(train, rng=np.random.default_rng(1))
        return np.abs(model.score(np.arange(40)) - stars)[hidden].mean()

    assert error(1) > 1.5
    assert error(2) < 0.5
