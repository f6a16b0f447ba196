import itertools

import numpy as np
import pytest

from recbias.errors import DataError
from recbias.recommenders import UserKNN
from recbias.recommenders.neighbourhood import _nearest
from recommender_tables import dense, random_stars, small_table, table


def naive(train, n_neighbours, normalised, min_overlap, min_neighbours, regularisation):
    """Loop over users, items and other users; ratings as a dense table."""
    values, rated = dense(train)
    scores = np.full(values.shape, np.nan)
    for u in range(train.n_users):
        similarity = {}
        for v in range(train.n_users):
            norms = np.linalg.norm(values[u]) * np.linalg.norm(values[v])
            if v != u and np.sum(rated[u] & rated[v]) >= min_overlap and norms > 0:
                cosine = values[u] @ values[v] / norms
                if cosine > 0:
                    similarity[v] = cosine
        nearest = sorted(similarity, key=similarity.get, reverse=True)[:n_neighbours]
        for i in range(train.n_items):
            raters = [v for v in nearest if rated[v, i]]
            if len(raters) >= min_neighbours:
                total = sum(similarity[v] * values[v, i] for v in raters)
                weight = sum(similarity[v] for v in raters) + regularisation
                scores[u, i] = total / weight if normalised else total
    return scores


@pytest.mark.parametrize("observed", [0.15, 0.6])
def test_scores_are_those_of_the_definition(observed):
    train = small_table(seed=4, n_users=15, n_items=10, observed=observed)
    users = np.arange(train.n_users)
    for k, overlap, least, (normalised, beta) in itertools.product(
        (1, 3, 100), (1, 2, 4), (1, 2, 3), ((False, 0), (True, 0), (True, 2.5))
    ):
        model = UserKNN(k, normalised, overlap, least, beta).fit(train)
        expected = naive(train, k, normalised, overlap, least, beta)
        # Similarities are rounded to float32, scores once more.
        np.testing.assert_allclose(model.score(users), expected, rtol=3e-7, atol=0)
        assert np.isnan(expected).any()


def test_zero_ratings_count_as_evidence_and_negative_ones_are_refused():
    stars = [[2, 3, np.nan], [2, 0, 0], [0, np.nan, 0]]
    model = UserKNN(n_neighbours=5, normalised=False).fit(table(stars))
    similarity = 2 * 2 / (np.hypot(2, 3) * 2)
    np.testing.assert_allclose(
        model.score(np.arange(3)),
        [[2 * similarity, 0, 0], [2 * similarity, 3 * similarity, np.nan], [np.nan] * 3],
        rtol=1e-6,
    )
    stars[0][0] = -1
    with pytest.raises(DataError, match="UserKNN: user 0 rates item 0 -1"):
        UserKNN().fit(table(stars))


def test_a_single_user_has_no_neighbour():
    assert np.isnan(UserKNN().fit(table([[1, 2]])).score(np.array([0]))).all()


def test_fewer_neighbours_are_the_first_of_more():
    train = small_table(n_users=30, n_items=20)
    few, many = UserKNN(3).fit(train), UserKNN(12).fit(train)
    for user in range(train.n_users):
        users, similarities = many.neighbours(user)
        assert (np.diff(similarities) <= 0).all()
        np.testing.assert_array_equal(few.neighbours(user)[0], users[:3])


def test_blocks_of_users_change_no_neighbour(monkeypatch):
    train = small_table(n_users=30, n_items=20)
    whole = UserKNN(5).fit(train)
    monkeypatch.setattr("recbias.recommenders.neighbourhood._BLOCK_BYTES", 8 * 30 * 7)
    _nearest.cache_clear()
    split = UserKNN(5).fit(train)
    users = np.arange(train.n_users)
    np.testing.assert_array_equal(split.score(users), whole.score(users))


def test_equal_similarities_favour_nobody():
    """300 users with one and the same profile: the 10 chosen must not be the first or the last."""
    n_users = 300
    model = UserKNN(n_neighbours=10).fit(table(np.tile([3.0, 4.0], (n_users, 1))))
    chosen = np.concatenate([model.neighbours(user)[0] for user in range(n_users)])
    assert len(chosen) == 10 * n_users
    times = np.bincount(chosen, minlength=n_users)
    # Binomial(299, 10 / 299): 10 times each, standard deviation 3.1.
    assert times.max() < 10 + 6 * 3.1
    assert abs(chosen.mean() - 149.5) < 5 * 86.6 / np.sqrt(len(chosen))
    again = UserKNN(n_neighbours=10).fit(table(np.tile([3.0, 4.0], (n_users, 1))))
    np.testing.assert_array_equal(again.neighbours(7)[0], model.neighbours(7)[0])


def test_sums_in_another_order_are_equal_similarities():
    """Users 1 and 2 are images of each other with the items in another order."""
    rng = np.random.default_rng(2)
    left = rng.uniform(1, 5, 40)
    for _ in range(20):
        order = rng.permutation(40)
        train = table(np.vstack([np.full(40, 3.3), left, left[order]]))
        _, similarities = UserKNN().fit(train).neighbours(0)
        assert similarities[0] == similarities[1]


def test_encodings_reach_similarities_and_values():
    stars = random_stars(n_users=20, n_items=15)
    users = np.arange(20)
    ones = table(np.where(np.isnan(stars), np.nan, 1.0))
    by_encoding = UserKNN(4, encoding="binary-all").fit(table(stars)).score(users)
    np.testing.assert_array_equal(by_encoding, UserKNN(4).fit(ones).score(users))
    merged = table(np.where(stars < 4, 1.0, stars))
    by_encoding = UserKNN(4, encoding="stars<4=1").fit(table(stars)).score(users)
    np.testing.assert_array_equal(by_encoding, UserKNN(4).fit(merged).score(users))


def test_models_that_differ_in_scoring_share_their_neighbours():
    train = small_table(n_users=30, n_items=20)
    first = UserKNN(5, normalised=True, regularisation=2).fit(train)
    before = _nearest.cache_info().hits
    second = UserKNN(5, normalised=True, regularisation=3).fit(train)
    assert _nearest.cache_info().hits == before + 1
    with pytest.raises(ValueError, match="read-only"):
        second.neighbours(0)[1][0] = 2
    users = np.arange(30)
    assert not np.array_equal(first.score(users), second.score(users), equal_nan=True)


@pytest.mark.parametrize(
    "other",
    [UserKNN(6), UserKNN(5, min_overlap=6), UserKNN(5, encoding="binary-all")],
)
def test_other_neighbours_are_not_mixed_up(other):
    train = small_table(n_users=30, n_items=20)
    users = np.arange(30)
    alone = other.fit(train).score(users)
    UserKNN(5).fit(small_table(seed=1, n_users=30, n_items=20))
    mine = UserKNN(5).fit(train).score(users)
    np.testing.assert_array_equal(other.fit(train).score(users), alone)
    assert not np.array_equal(mine, alone, equal_nan=True)
