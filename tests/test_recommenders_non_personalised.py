import numpy as np
import scipy.stats

from recbias.recommenders import Popularity, Random
from recommender_tables import dense, small_table


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
