import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from recbias.errors import ConfigError
from recbias.recommenders import (
    ImplicitALS,
    ImplicitBPR,
    ImplicitItemBM25,
    ImplicitItemCosine,
    ImplicitItemTFIDF,
    ImplicitLMF,
)
from recommender_tables import dense, random_stars, small_table, table

FACTORS = [ImplicitALS(n_factors=4), ImplicitBPR(n_factors=4), ImplicitLMF(n_factors=4)]
ITEM_ITEM = [ImplicitItemCosine(), ImplicitItemTFIDF(), ImplicitItemBM25()]
SMALL = [*FACTORS, *ITEM_ITEM]


def scores_of(model, train, seed=1):
    return model.fit(train, rng=np.random.default_rng(seed)).score(np.arange(train.n_users))


@pytest.mark.parametrize("model", SMALL)
def test_the_same_seed_gives_the_same_bits_on_more_than_a_toy(model):
    train = small_table(n_users=300, n_items=200, observed=0.2)
    np.testing.assert_array_equal(scores_of(model, train), scores_of(model, train))


@pytest.mark.parametrize("model", FACTORS)
def test_another_seed_gives_another_model(model):
    train = small_table()
    assert not np.array_equal(scores_of(model, train, 1), scores_of(model, train, 2), True)


@pytest.mark.parametrize("model", SMALL)
def test_only_which_pairs_are_rated_counts(model):
    stars = random_stars(n_users=30, n_items=20)
    ones = np.where(np.isnan(stars), np.nan, 1.0)
    np.testing.assert_array_equal(scores_of(model, table(stars)), scores_of(model, table(ones)))


def test_als_solves_its_own_equations():
    """Confidence alpha, not 1 + alpha; items were solved last. Three CG steps end near it."""
    train = small_table(n_users=30, n_items=20)
    model = ImplicitALS(n_factors=3, regularisation=0.5, alpha=3, n_iterations=200)
    model.fit(train, rng=np.random.default_rng(1))
    p, q = model.user_factors.astype(float), model.item_factors.astype(float)
    _, rated = dense(train)
    for i in range(train.n_items - 1):
        confidence = np.diag(np.where(rated[:, i], 3.0, 1.0))
        left = p.T @ confidence @ p + 0.5 * np.eye(3)
        expected = np.linalg.solve(left, 3 * p.T @ rated[:, i])
        np.testing.assert_allclose(q[i], expected, rtol=0, atol=1e-4)


def test_item_cosine_is_that_of_the_definition():
    train = small_table(n_users=30, n_items=8)
    _, rated = dense(train)
    r = rated[:, :-1].astype(float)
    norms = np.linalg.norm(r, axis=0)
    expected = r @ (r.T @ r / norms[:, None] / norms)
    scores = scores_of(ImplicitItemCosine(n_neighbours=7), train)[:-1, :-1]
    np.testing.assert_allclose(scores, np.where(expected > 0, expected, np.nan)[:-1], rtol=1e-6)


def naive_weights(model, stars):
    """Weigh each rating as the class says, with plain loops; 0 for no rating."""
    n_users, n_items = stars.shape
    counts = [sum(1 for r in row if not math.isnan(r)) for row in stars]
    totals = [sum(r for r in column if not math.isnan(r)) for column in stars.T]
    weights = np.zeros(stars.shape)
    for u in range(n_users):
        rarity = math.log(n_items) - math.log(1 + counts[u])
        for i in range(n_items):
            r = stars[u, i]
            if math.isnan(r):
                continue
            if isinstance(model, ImplicitItemCosine):
                weights[u, i] = r
            elif isinstance(model, ImplicitItemTFIDF):
                weights[u, i] = math.sqrt(r) * rarity
            else:
                length = 1 - model.b + model.b * totals[i] / (sum(totals) / n_items)
                weights[u, i] = r * (model.k1 + 1) / (model.k1 * length + r) * rarity
    if not isinstance(model, ImplicitItemBM25):
        lengths = [math.sqrt(sum(w**2 for w in column)) for column in weights.T]
        weights = weights / [length or 1.0 for length in lengths]
    return weights


@pytest.mark.parametrize("kind", [ImplicitItemCosine, ImplicitItemTFIDF, ImplicitItemBM25])
@pytest.mark.parametrize("encoding", ["stars", "binary-all"])
@pytest.mark.parametrize("k", [3, 14])
def test_item_item_scores_are_those_of_the_definition(kind, encoding, k):
    stars = random_stars(3, n_users=25, n_items=15, observed=0.3)
    counted = np.where(np.isnan(stars), np.nan, 1.0) if encoding == "binary-all" else stars
    model = kind(n_neighbours=k, encoding=encoding)
    weights = naive_weights(model, counted)
    similar = weights.T @ weights
    expected = np.full(stars.shape, np.nan)
    for j in range(15):
        order = sorted(range(15), key=lambda i: -similar[j, i])
        spoken = [i for i in order[:k] if similar[j, i] != 0]
        if len(spoken) == k < 15 and encoding == "stars":
            assert similar[j, order[k - 1]] > similar[j, order[k]] + 1e-6, "a tie: choose others"
        for u in range(25):
            for i in spoken:
                if not math.isnan(stars[u, j]):
                    expected[u, i] = np.nansum([expected[u, i], counted[u, j] * similar[j, i]])
    found = scores_of(model, table(stars))
    if encoding == "stars" or k == 14:
        # Weights are float32, their products and sums float64: relative errors of a few 2**-24.
        np.testing.assert_allclose(found, expected, rtol=1e-6)
    else:
        # Equal similarities occur; whichever is taken, their sum over all items is the same.
        np.testing.assert_allclose(np.nansum(found, 1), np.nansum(expected, 1), rtol=1e-6)


@pytest.mark.parametrize("model", ITEM_ITEM)
def test_ratings_that_count_nothing_make_nobody_similar(model):
    """Items 0 and 1 are liked, item 2 only disliked, and user 3 likes nothing."""
    stars = np.array([[5, 4, 1, *[np.nan] * 4], [4, 5, 2, *[np.nan] * 4], [5, *[np.nan] * 6]])
    stars = np.vstack([stars, [1, 1, 1, *[np.nan] * 4]])
    kept = type(model)(encoding="graded-zero>=4")
    dropped = type(model)(encoding="graded-pos>=4")
    scores = scores_of(kept, table(stars))
    np.testing.assert_array_equal(scores, scores_of(dropped, table(stars)))
    assert np.isfinite(scores[:3, :2]).all()
    assert np.isnan(scores[:, 2:]).all()
    assert np.isnan(scores[3]).all()


def test_an_item_of_users_with_all_items_but_one_has_no_tfidf():
    """Their weight is 0, and the item's length, by which its weights are divided, too."""
    stars = np.full((4, 4), np.nan)
    stars[0, :3] = stars[1, [1, 2, 3]] = 5
    stars[2, 1] = stars[3, 2] = stars[3, 3] = 4
    scores = scores_of(ImplicitItemTFIDF(), table(stars))
    assert np.isnan(scores[:, 0]).all()
    assert np.isfinite(scores[0, 1:3]).all()
    assert np.isfinite(scores[2, 1])


def test_the_share_of_popularity_is_bounded():
    with pytest.raises(ConfigError, match=r"b is 1\.5, expected a number from 0 to 1"):
        ImplicitItemBM25(b=1.5)


def naive_objective(model, train):
    """Sum over all pairs with plain loops; for BPR over the pairs that it drew."""
    values, rated = dense(train)
    p, q = model.user_factors.astype(float), model.item_factors.astype(float)
    total = 0.0
    if isinstance(model, ImplicitBPR):
        others = train.item[np.random.default_rng(0).integers(len(train), size=len(train))]
        for u, i, j in zip(train.user, train.item, others, strict=True):
            if not rated[u, j]:
                squares = p[u, :-1] @ p[u, :-1] + q[i] @ q[i] + q[j] @ q[j]
                total += math.log(1 / (1 + math.exp(-p[u] @ (q[i] - q[j]))))
                total -= model.regularisation / 2 * squares
        return total
    for u in range(train.n_users - 1):
        for i in range(train.n_items - 1):
            x, r = p[u] @ q[i], values[u, i]
            if isinstance(model, ImplicitALS):
                confidence = model.alpha * r if rated[u, i] else 1.0
                total += confidence * (rated[u, i] - x) ** 2
            else:
                total += r * x - (1 + r) * math.log(1 + math.exp(x))
    if isinstance(model, ImplicitALS):
        return total + model.regularisation * ((p**2).sum() + (q**2).sum())
    own = (np.delete(p, -2, 1) ** 2).sum() + (np.delete(q, -1, 1) ** 2).sum()
    return total - model.regularisation / 2 * own


@pytest.mark.parametrize(
    "model",
    [
        ImplicitALS(n_factors=3, alpha=2, n_iterations=3, encoding="stars"),
        ImplicitBPR(n_factors=3, regularisation=0.1, n_iterations=3),
        ImplicitLMF(n_factors=3, n_iterations=3, encoding="stars"),
    ],
)
def test_each_iteration_reports_the_objective(model):
    train = small_table(n_users=20, n_items=10)
    reports = []
    model.fit(train, rng=np.random.default_rng(1), on_iteration=lambda *x: reports.append(x))
    assert [number for number, _ in reports] == [1, 2, 3]
    assert len({objective for _, objective in reports}) == 3
    expected = naive_objective(model, train)
    assert reports[-1][1] == pytest.approx(expected, rel=1e-9)
    assert model.objective(train) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("model", FACTORS)
def test_reports_change_no_bit(model):
    train = small_table(n_users=60, n_items=40)
    silent = scores_of(model, train)
    model.fit(train, rng=np.random.default_rng(1), on_iteration=lambda *_: None)
    np.testing.assert_array_equal(model.score(np.arange(60)), silent)


def test_lmf_learns_its_objective_and_the_taste_of_groups():
    """Two groups that choose from their own half of the items, each pair with chance 1/2."""
    rng = np.random.default_rng(5)
    own = (np.arange(80)[:, None] < 40) == (np.arange(40)[None, :] < 20)
    train = table(np.where(own & (rng.random((80, 40)) < 0.5), 5.0, np.nan))
    objectives = []
    model = ImplicitLMF(n_factors=4)
    model.fit(train, rng=rng, on_iteration=lambda _, objective: objectives.append(objective))
    assert objectives[-1] > objectives[0]
    scores = model.score(np.arange(80))
    np.testing.assert_array_equal(
        scores, (model.user_factors.astype(float) @ model.item_factors.T).astype(np.float32)
    )
    # Unrated items of the own half above those of the other: half of the pairs by chance, whose
    # standard error is below 0.01 even if only one pair per user and item counted.
    unrated = own & np.isnan(np.where(dense(train)[1], 1.0, np.nan))
    above = [(scores[u, unrated[u]][:, None] > scores[u, ~own[u]]).mean() for u in range(80)]
    assert np.mean(above) > 0.9


@pytest.mark.parametrize("model", ITEM_ITEM)
def test_items_nobody_speaks_for_have_no_score(model):
    stars = np.full((4, 4), np.nan)
    stars[0, :2] = stars[1, :2] = stars[2, 2:] = stars[3, 2:] = 1
    scores = scores_of(model, table(stars))
    np.testing.assert_array_equal(np.isnan(scores), np.isnan(stars))


def test_a_step_that_destroys_the_model_is_said():
    with pytest.raises(ConfigError, match="ImplicitBPR: training on 'small' gave factors that are"):
        scores_of(ImplicitBPR(n_factors=4, learning_rate=1e30), small_table())


@pytest.mark.slow
def test_nothing_is_printed():
    """In a fresh process, where the library would advise on BLAS threads and show progress."""
    program = """
import numpy as np
from recommender_tables import small_table
from recbias.recommenders import algorithm, algorithms
for name in algorithms():
    if name.startswith("Implicit"):
        model = algorithm(name)()
        model.fit(small_table(), rng=np.random.default_rng(1)).score(np.arange(3))
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[1],
    )
    assert (done.stdout, done.stderr) == ("", "")


@pytest.mark.parametrize(
    ("kind", "other"),
    [
        (ImplicitALS, {"n_factors": 3, "regularisation": 5.0, "alpha": 3.0, "n_iterations": 2}),
        (ImplicitBPR, {"n_factors": 3, "learning_rate": 0.1, "regularisation": 1.0}),
        (ImplicitLMF, {"n_factors": 3, "learning_rate": 0.1, "regularisation": 5.0}),
        (ImplicitLMF, {"n_iterations": 2, "n_negatives": 1}),
        (ImplicitItemBM25, {"n_neighbours": 2, "k1": 5.0, "b": 0.1}),
    ],
)
def test_each_parameter_reaches_the_library(kind, other):
    train = small_table(n_users=30, n_items=20)
    usual = scores_of(kind(), train)
    for name, value in other.items():
        assert not np.array_equal(scores_of(kind(**{name: value}), train), usual, True), name
