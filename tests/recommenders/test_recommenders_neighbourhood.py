import dataclasses
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from recbias.errors import ConfigError, DataError
from recbias.recommenders import CoRatedItemKNN, CoRatedUserKNN, System, UserKNN
from recbias.recommenders.base import by_item
from recbias.recommenders.neighbourhood import (
    _evidence,
    _Lanes,
    _sorted_neighbours,
    co_rated_similarities,
)
from recbias.testing import check_recommender
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
    monkeypatch.setattr("recbias._system.memory.BLOCK_BYTES", 8 * 30 * 7)
    _sorted_neighbours.cache_clear()
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


def test_sums_that_are_kept_are_those_of_a_single_scoring(monkeypatch):
    train = small_table(n_users=30, n_items=20)
    users = np.array([7, 0, 29, 7])
    for settings in ({}, {"normalised": True, "min_neighbours": 2, "regularisation": 1.0}):
        model = UserKNN(4, **settings).fit(train)
        kept = model.score(users)
        assert _evidence(train, 4, 1) is not None
        monkeypatch.setattr("recbias.recommenders.neighbourhood._LARGEST_EVIDENCE_BYTES", 0)
        _evidence.cache_clear()
        assert _evidence(train, 4, 1) is None
        np.testing.assert_array_equal(model.score(users), kept)
        monkeypatch.undo()
        _evidence.cache_clear()


def test_lists_of_one_length_serve_all_numbers_of_neighbours():
    train = small_table(n_users=30, n_items=20)
    UserKNN(12).fit(train)
    before = _sorted_neighbours.cache_info().hits
    few = UserKNN(3).fit(train)
    assert _sorted_neighbours.cache_info().hits == before + 1
    assert {len(few.neighbours(user)[0]) for user in range(train.n_users)} <= {0, 1, 2, 3}


def test_models_that_differ_in_scoring_share_their_neighbours():
    train = small_table(n_users=30, n_items=20)
    first = UserKNN(5, normalised=True, regularisation=2).fit(train)
    before = _sorted_neighbours.cache_info().hits
    second = UserKNN(5, normalised=True, regularisation=3).fit(train)
    assert _sorted_neighbours.cache_info().hits == before + 1
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


def naive_similarity(x, y, similarity, shrinkage):
    """Compare two lists of the values on the common columns, in fractions; 0 = none."""
    n = len(x)
    x, y = [Fraction(float(v)) for v in x], [Fraction(float(v)) for v in y]
    if similarity == "pearson" and n:
        x, y = [v - sum(x) / n for v in x], [v - sum(y) / n for v in y]
    left, right = sum(v * v for v in x), sum(v * v for v in y)
    if left == 0 or right == 0:
        return 0.0
    product = float(sum(v * w for v, w in zip(x, y, strict=True)))
    return product / math.sqrt(left * right) * n / (n + shrinkage)


def naive_similarities(values, rated, similarity, shrinkage):
    """Compare the rows of a dense table."""
    n_rows, n_columns = values.shape
    found = np.zeros((n_rows, n_rows))
    for a, b in itertools.permutations(range(n_rows), 2):
        common = [c for c in range(n_columns) if rated[a, c] and rated[b, c]]
        x, y = [values[a, c] for c in common], [values[b, c] for c in common]
        found[a, b] = naive_similarity(x, y, similarity, shrinkage)
    return found


def naive_sum(similarities, evidence, n_neighbours, of_all):
    """Sum the similarities of the nearest that are evidence; places of lists stand for rows."""
    near = [v for v in range(len(similarities)) if similarities[v] != 0]
    if not of_all:
        near = [v for v in near if evidence[v]]
    near = sorted(near, key=lambda v: -similarities[v])[:n_neighbours]
    counted = [similarities[v] for v in near if evidence[v]]
    return math.fsum(counted) if counted else math.nan


def naive_user_knn(values, rated, n_neighbours, similarity, shrinkage, choose_among):
    near = naive_similarities(values, rated, similarity, shrinkage)
    of_all = choose_among == "all users"
    return [
        [naive_sum(near[u], rated[:, i], n_neighbours, of_all) for i in range(values.shape[1])]
        for u in range(values.shape[0])
    ]


def naive_item_knn(values, rated, n_neighbours, similarity, shrinkage, choose_among):
    near = naive_similarities(values.T, rated.T, similarity, shrinkage)
    of_all = choose_among == "all items"
    return [
        [naive_sum(near[i], rated[u], n_neighbours, of_all) for i in range(values.shape[1])]
        for u in range(values.shape[0])
    ]


def graded(stars):
    """Recode as "graded-zero>=4" does: NaN stays."""
    return np.where(np.isnan(stars), np.nan, np.where(stars >= 4, stars - 3, 0.0))


# The second has stored zeros and, with them, equal similarities: so it fits a choice among those
# that count only, where ties change no sum.
TABLES = {
    "stars": ("stars", random_stars(seed=5, n_users=14, n_items=11, observed=0.7)),
    "graded": (
        "graded-zero>=4",
        random_stars(seed=6, n_users=14, n_items=11, observed=0.6, levels=5),
    ),
}
MODELS = {
    (CoRatedUserKNN, "raters"): naive_user_knn,
    (CoRatedUserKNN, "all users"): naive_user_knn,
    (CoRatedItemKNN, "profile"): naive_item_knn,
    (CoRatedItemKNN, "all items"): naive_item_knn,
}
NARROW = [(CoRatedUserKNN, "raters"), (CoRatedItemKNN, "profile")]
CO_RATED = pytest.mark.parametrize(("model", "among"), MODELS)


def assert_close(found, expected, n_terms):
    """Each similarity is rounded to float32, and so is their sum: by 2^-24 of at most 1 and n."""
    np.testing.assert_allclose(found, expected, rtol=0, atol=2**-24 * 2 * n_terms)


@CO_RATED
@pytest.mark.parametrize("similarity", ["cosine", "pearson"])
@pytest.mark.parametrize("name", TABLES)
def test_co_rated_scores_are_those_of_the_definition(model, among, similarity, name):
    encoding, stars = TABLES[name]
    read = graded(stars) if name == "graded" else stars
    values, rated = np.nan_to_num(read), ~np.isnan(read)
    users = np.arange(len(stars))
    for k, shrinkage in itertools.product((1, 3, 100), (0.0, 2.5)):
        if name == "graded" and among.startswith("all") and k < 100:
            continue
        rule = (k, similarity, shrinkage, among)
        found = model(*rule, encoding=encoding).fit(table(stars)).score(users)
        expected = MODELS[model, among](values, rated, *rule)
        assert_close(found, expected, max(values.shape))


def test_tables_hold_what_they_are_meant_to_test():
    """Zeros beside likes, negative and missing similarities; no ties where they would matter."""
    _, stars = TABLES["graded"]
    assert (graded(stars) == 0).sum() > 10
    assert (graded(stars) > 0).sum() > 10
    for name, similarity in itertools.product(TABLES, ("cosine", "pearson")):
        read = graded(TABLES[name][1]) if name == "graded" else TABLES[name][1]
        near = naive_similarities(np.nan_to_num(read), ~np.isnan(read), similarity, 2.5)
        assert (near < 0).any() == (similarity == "pearson")
        ties = [np.count_nonzero(row) - len(set(row[row != 0])) for row in near]
        assert any(ties) == (name == "graded")
        # The last user has no ratings; others have nothing in common either.
        some_missing = np.count_nonzero(near[:-1, :-1], axis=1) < len(near) - 2
        assert some_missing.any() or name == "stars"


def test_evidence_is_a_rater_with_a_common_item():
    train = small_table(seed=3, n_users=25, n_items=20, observed=0.08)
    _, rated = dense(train)
    users = np.arange(train.n_users)
    common_item = (rated.astype(int) @ rated.T > 0) & ~np.eye(train.n_users, dtype=bool)
    expected = common_item.astype(int) @ rated > 0
    found = ~np.isnan(CoRatedUserKNN().fit(train).score(users))
    np.testing.assert_array_equal(found, expected)
    common_user = (rated.T.astype(int) @ rated > 0) & ~np.eye(train.n_items, dtype=bool)
    expected = rated.astype(int) @ common_user > 0
    found = ~np.isnan(CoRatedItemKNN().fit(train).score(users))
    np.testing.assert_array_equal(found, expected)
    assert 0.1 < expected.mean() < 0.9


@CO_RATED
@pytest.mark.parametrize("similarity", ["cosine", "pearson"])
def test_co_rated_models_keep_the_contract_in_every_mode(model, among, similarity):
    rule = {"similarity": similarity, "choose_among": among, "n_neighbours": 4}
    check_recommender(System("knn", model.__name__, rule))


@pytest.mark.parametrize(("model", "among"), NARROW)
@pytest.mark.parametrize("similarity", ["cosine", "pearson"])
def test_ties_and_numbering_change_no_bit(model, among, similarity):
    """Whole stars: many similarities are equal, and which of them counts must not show."""
    stars = random_stars(seed=8, n_users=60, n_items=30, levels=5)
    rng = np.random.default_rng(1)
    rows, columns = rng.permutation(60), rng.permutation(30)
    rule = (5, similarity, 10.0, among)
    found = model(*rule).fit(table(stars)).score(np.arange(60))
    turned = model(*rule).fit(table(stars[rows][:, columns])).score(np.arange(60))
    np.testing.assert_array_equal(turned, found[rows][:, columns])


@pytest.mark.parametrize(
    ("model", "narrow", "wide"),
    [(CoRatedUserKNN, "raters", "all users"), (CoRatedItemKNN, "profile", "all items")],
)
def test_with_neighbours_for_all_it_does_not_matter_whom_they_are_chosen_among(model, narrow, wide):
    train = small_table(seed=2, n_users=40, n_items=30)
    users = np.arange(40)
    for similarity in ("cosine", "pearson"):
        first = model(40, similarity, 5.0, narrow).fit(train).score(users)
        np.testing.assert_array_equal(
            model(40, similarity, 5.0, wide).fit(train).score(users), first
        )
        fewer = model(3, similarity, 5.0, narrow).fit(train).score(users)
        assert not np.array_equal(fewer, first, equal_nan=True)


@CO_RATED
def test_blocks_and_lanes_change_no_bit(model, among, monkeypatch):
    train = small_table(n_users=37, n_items=41)
    users = np.arange(37)[::-1]
    rule = (4, "cosine", 10.0, among)
    whole = model(*rule).fit(train).score(users)
    monkeypatch.setattr("recbias.recommenders.neighbourhood._LANES", 5)
    monkeypatch.setattr("recbias._system.memory.BLOCK_BYTES", 8 * 41 * 6)
    np.testing.assert_array_equal(model(*rule).fit(train).score(users), whole)


def test_the_nearest_of_a_list_are_found_whatever_ties():
    """Quarters add up exactly; lanes of few distinct, negative and missing similarities."""
    rng = np.random.default_rng(4)
    for _ in range(200):
        n_members, n_lanes, n_lists = rng.integers(1, 40), rng.integers(1, 20), rng.integers(1, 6)
        block = (rng.integers(-4, 5, (n_lanes, n_members)) / 4).astype(np.float32)
        lists = [
            rng.choice(n_members, rng.integers(0, n_members + 1), replace=False)
            for _ in range(n_lists)
        ]
        pointers = np.concatenate(([0], np.cumsum([len(members) for members in lists])))
        members = np.concatenate(lists).astype(np.int32)
        wanted = rng.integers(0, n_lists, 3)
        k = int(rng.integers(1, 12))
        found = _Lanes.of(block).sums_of_nearest(wanted, pointers, members, k)
        for row, number in zip(found, wanted, strict=True):
            for lane in range(n_lanes):
                similar = [block[lane, m] for m in lists[number] if block[lane, m] != 0]
                top = sorted(similar, reverse=True)[:k]
                np.testing.assert_equal(row[lane], np.float32(sum(top)) if top else np.nan)


def test_more_users_than_two_bytes_count():
    """All have item 0, 30 have item 1 too: two common items count 2/3, a single one 1/2."""
    n_users = 70_000
    stars = np.full((n_users, 2), np.nan)
    stars[:, 0] = 3
    stars[n_users - 1 :: -2_400, 1] = 3
    model = CoRatedUserKNN(n_neighbours=20, shrinkage=1).fit(table(stars))
    expected = [[20 * 2 / 3, 20 * 2 / 3], [20 / 2, 20 / 2]]
    assert_close(model.score(np.array([n_users - 1, 2])), expected, 20)


def similarities(*given, **chosen):
    """All blocks of rows in one matrix."""
    return np.concatenate([*co_rated_similarities(*given, **chosen)])


def test_binary_values_leave_the_number_of_common_items_only():
    train = small_table(seed=7, n_users=30, n_items=20, observed=0.15)
    _, rated = dense(train)
    common = rated.astype(int) @ rated.T
    np.fill_diagonal(common, 0)
    ones = np.ones(len(train))
    plain = similarities(train.indptr, train.item, ones, train.n_items)
    np.testing.assert_array_equal(plain, common > 0)
    shrunk = similarities(train.indptr, train.item, ones, train.n_items, shrinkage=4)
    np.testing.assert_array_equal(shrunk, (common / (common + 4)).astype(np.float32))
    assert 0 < (common > 0).mean() < 1


def test_pearson_of_full_rows_is_that_of_numpy():
    values = np.random.default_rng(1).uniform(1, 5, (8, 12))
    full = (12 * np.arange(9), np.tile(np.arange(12), 8), values.ravel())
    found = similarities(*full, 12, "pearson")
    assert_close(found, np.corrcoef(values) - np.eye(8), 1)
    np.testing.assert_array_equal(found, found.T)
    far = similarities(*full[:2], values.ravel() + 1000, 12, "pearson")
    # Squares of 1e3 instead of 1 lose six of sixteen digits.
    np.testing.assert_allclose(far, found, atol=1e-7)


def test_items_are_compared_through_the_other_direction():
    train = small_table(seed=9, n_users=20, n_items=15)
    pointers, rows = by_item(train)
    columns = (pointers, train.user[rows], train.value[rows])
    found = similarities(*columns, train.n_users, "cosine", 3.0)
    values, rated = dense(train)
    assert_close(found, naive_similarities(values.T, rated.T, "cosine", 3.0), 1)


@pytest.mark.parametrize("value", [3.3, 0.1, 1e3 / 7])
def test_pearson_has_nothing_to_say_of_one_item_or_of_equal_values(value):
    """Sums of equal numbers that are no binary fractions leave a variance of about 1e-16."""
    for n in (2, 3, 7, 50):
        values = np.vstack([np.full(n, value), np.arange(1.0, n + 1)])
        full = (n * np.arange(3), np.tile(np.arange(n), 2), values.ravel())
        assert not similarities(*full, n, "pearson").any()
    single = (np.array([0, 2, 4]), np.array([0, 1, 1, 2]), np.array([1.0, 2.0, 3.0, 5.0]))
    assert not similarities(*single, 3, "pearson").any()


def test_a_stored_zero_is_a_rating():
    """Users 0 and 1 agree on one like and one dislike: two common items, not one."""
    stars = [[5, 1, np.nan, np.nan], [4, 2, 3, np.nan], [1, 2, np.nan, 5]]
    model = CoRatedUserKNN(shrinkage=2, encoding="graded-zero>=4").fit(table(stars))
    # Whom user 1 disliked counts as much as whom he likes; user 2 has no norm over the common ones.
    half = 2 / (2 + 2)
    np.testing.assert_array_equal(
        model.score(np.arange(3)),
        [[half, half, half, np.nan], [half, half, np.nan, np.nan], [np.nan] * 4],
    )
    dropped = CoRatedUserKNN(shrinkage=2, encoding="graded-pos>=4").fit(table(stars))
    third = np.float32(1 / (1 + 2))
    np.testing.assert_array_equal(dropped.score(np.array([0])), [[third] + [np.nan] * 3])


def test_values_of_the_neighbours_do_not_count():
    rows = [[2.0, 3.0, np.nan], [4.0, 6.0, 1.0], [2.0, 3.0, 5.0]]
    score = CoRatedUserKNN(shrinkage=0).fit(table(rows)).score(np.array([0]))
    np.testing.assert_array_equal(score, [[2, 2, 2]])


@CO_RATED
def test_nothing_liked_leaves_nothing_to_compare(model, among):
    """All ratings count 0: no pair has a score, and none is made up."""
    disliked = table([[1, 2, np.nan], [1, 1, 3]])
    rule = {"choose_among": among, "encoding": "graded-zero>=4"}
    assert np.isnan(model(**rule).fit(disliked).score(np.arange(2))).all()


def test_equally_similar_users_of_all_favour_nobody():
    """300 users share two items; one of his own shows whose neighbour a user is."""
    n_users = 300
    stars = np.full((n_users, n_users + 2), np.nan)
    stars[:, :2] = 3.0
    np.fill_diagonal(stars[:, 2:], 3.0)
    model = CoRatedUserKNN(n_neighbours=10, choose_among="all users").fit(table(stars))
    user, chosen = np.nonzero(~np.isnan(model.score(np.arange(n_users))[:, 2:]))
    assert (user != chosen).all()
    np.testing.assert_array_equal(np.bincount(user), 10)
    # Binomial(299, 10 / 299): 10 times each, standard deviation 3.1. Of random choices, 3 in 10,000
    # would have one of 300 users beyond six of them, and 1 in 10^6 the mean beyond its five.
    times = np.bincount(chosen, minlength=n_users)
    assert times.max() < 10 + 6 * 3.1
    assert abs(chosen.mean() - 149.5) < 5 * 86.6 / np.sqrt(len(chosen))


def test_a_table_of_items_that_does_not_fit_is_refused(monkeypatch):
    train = small_table(n_users=20, n_items=15)
    monkeypatch.setenv("RECBIAS_LARGEST_TABLE", f"{6 * 15**2 / 2**30:.20f}")
    CoRatedItemKNN().fit(train)
    wider = dataclasses.replace(train, item_ids=np.arange(16))
    with pytest.raises(ConfigError, match=r"16 items .*\nset choose_among='all items'"):
        CoRatedItemKNN().fit(wider)
    CoRatedItemKNN(choose_among="all items").fit(wider)
