import warnings

import numpy as np
import pytest

from recbias.errors import DataError
from recbias.recommenders import PLSA
from recommender_tables import dense, random_stars, small_table, table


def test_the_likelihood_never_falls():
    train = small_table(n_users=30, n_items=20)
    path = [
        PLSA(n_topics=4, n_iterations=steps)
        .fit(train, rng=np.random.default_rng(1))
        .log_likelihood(train)
        for steps in range(40)
    ]
    assert (np.diff(path) >= -1e-9 * abs(path[0])).all()
    assert path[-1] > path[0] + 10


def test_likelihood_and_scores_are_those_of_the_definition():
    train = small_table()
    model = PLSA(n_topics=3, n_iterations=5).fit(train, rng=np.random.default_rng(1))
    values, rated = dense(train)
    p = model.topics @ model.items.T
    np.testing.assert_allclose(p[:-1].sum(axis=1), 1)
    np.testing.assert_allclose(model.items.sum(axis=0), 1)
    assert model.log_likelihood(train) == pytest.approx(np.sum(values[rated] * np.log(p[rated])))
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


def test_ratings_of_zero_weigh_nothing_and_negative_ones_are_refused():
    stars = random_stars()
    rows, columns = np.nonzero(~np.isnan(stars))
    stars[rows[0], columns[0]] = 0
    scores = PLSA(n_topics=3).fit(table(stars), rng=np.random.default_rng(1)).score(np.arange(11))
    assert np.isfinite(scores[:, :-1]).all()
    stars[rows[0], columns[0]] = -1
    with pytest.raises(DataError, match=rf"user {rows[0]} rates item {columns[0]} -1 in 'small'"):
        PLSA().fit(table(stars))
