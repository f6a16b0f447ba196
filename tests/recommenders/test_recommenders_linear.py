import tracemalloc

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from recbias.errors import ConfigError
from recbias.recommenders import EASE, SLIM, AssociationRules
from recbias.recommenders.as_published.slim import SLIMPenaltyByPopularity
from recbias.recommenders.linear import item_products, most_similar, sparse_regressions
from recbias.testing import check_recommender
from recommender_tables import dense, random_stars, small_table, table

GRADED = "graded-zero>=4"


def graded(stars):
    """Values and pattern of the ratings that the encoding makes of stars; zeros stay."""
    values, rated = dense(table(stars))
    return np.where(values >= 4, values - 3, 0), rated


def naive_scores(values, rated, weights):
    """Loop over users, items and profiles; no score where all weights are 0."""
    scores = np.full(values.shape, np.nan)
    for u in range(values.shape[0]):
        for i in range(values.shape[1]):
            terms = [
                values[u, j] * weights[j, i]
                for j in range(values.shape[1])
                if rated[u, j] and weights[j, i] != 0
            ]
            if terms:
                scores[u, i] = sum(terms)
    return scores


@pytest.mark.parametrize("model", [AssociationRules, EASE, SLIM, SLIMPenaltyByPopularity])
def test_the_contract_holds(model):
    check_recommender(model)


@pytest.mark.parametrize("measure", ["confidence", "lift"])
@pytest.mark.parametrize("encoding", ["stars", GRADED])
def test_rules_are_counted(measure, encoding):
    stars = random_stars(seed=3, observed=0.3)
    values, rated = dense(table(stars)) if encoding == "stars" else graded(stars)
    n_users, n_items = rated.shape
    rules = np.zeros((n_items, n_items))
    for j in range(n_items):
        for i in range(n_items):
            together = sum(rated[u, i] and rated[u, j] for u in range(n_users))
            if i != j and together:
                rules[j, i] = together / rated[:, j].sum()
                if measure == "lift":
                    rules[j, i] /= rated[:, i].sum() / rated.any(axis=1).sum()
    model = AssociationRules(measure, encoding=encoding).fit(table(stars))
    np.testing.assert_allclose(model.weights, rules, rtol=1e-14)
    expected = naive_scores(values, rated, rules)
    assert np.isnan(expected[:-1, :-1]).any()
    np.testing.assert_allclose(model.score(np.arange(n_users)), expected, rtol=1e-7)


def test_products_of_columns():
    train = small_table(n_users=30, n_items=20)
    values, rated = dense(train)
    np.testing.assert_allclose(item_products(train), values.T @ values, rtol=1e-13)
    together = item_products(train, np.ones(len(train)))
    np.testing.assert_array_equal(together, rated.T.astype(float) @ rated)


# ------------------------------------------------------------------------------------ EASE


def test_ease_learns_in_the_memory_of_one_matrix():
    """Four of 20,000 items each would be 13 GB; rows of C are B_ij = -P_ij / P_jj all the same."""
    rng = np.random.default_rng(1)
    stars = np.where(rng.random((60, 900)) < 0.1, 5.0, 0.0)
    ratings = table(stars)
    EASE().fit(ratings)  # what is compiled and imported is no matter here
    tracemalloc.start()
    model = EASE(regularisation=2).fit(ratings)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.5 * model.weights.nbytes
    values, _ = dense(ratings)
    liked = (values >= 4).astype(float)
    inverse = np.linalg.inv(liked.T @ liked + 2 * np.eye(liked.shape[1]))
    expected = -inverse / inverse.diagonal()
    np.fill_diagonal(expected, 0)
    np.testing.assert_allclose(model.weights, expected, atol=1e-10)


def test_ease_is_the_ridge_regression_on_the_other_items():
    stars = random_stars(seed=5, n_users=25, n_items=12)
    values, rated = dense(table(stars))
    expected = np.zeros((12, 12))
    for j in range(12):
        others = [i for i in range(12) if i != j]
        x = values[:, others]
        expected[others, j] = np.linalg.solve(x.T @ x + 3 * np.eye(11), x.T @ values[:, j])
    model = EASE(regularisation=3, encoding="stars").fit(table(stars))
    # The last item has no ratings, so that no weight leads to it or from it.
    np.testing.assert_allclose(model.weights, expected, atol=1e-12)
    scores = naive_scores(values, rated, model.weights)
    np.testing.assert_allclose(model.score(np.arange(25)), scores, rtol=1e-5, atol=1e-6)


def test_items_that_nothing_connects_have_no_score():
    stars = np.full((6, 6), np.nan)
    stars[:3, :3] = [[5, 4, np.nan], [np.nan, 4, 5], [5, 4, 5]]
    stars[3:, 3:] = [[4, 4, np.nan], [np.nan, 5, 5], [4, np.nan, 5]]
    scores = EASE(regularisation=1).fit(table(stars)).score(np.arange(6))
    connected = np.kron(np.eye(2, dtype=bool), np.ones((3, 3), dtype=bool))
    np.testing.assert_array_equal(np.isnan(scores), ~connected)


def test_a_singular_matrix_is_refused():
    with pytest.raises(ConfigError, match=r"EASE: regularisation 1e-300 is too small on 'small'"):
        EASE(regularisation=1e-300).fit(table([[5.0, 5.0]]))


# ------------------------------------------------------------------------------------ SLIM


def by_general_optimiser(values, l1, l2, allowed):
    """Minimise each column's objective within bounds; l1 and l2 per predictor."""
    n_items = values.shape[1]
    weights = np.zeros((n_items, n_items))
    for j in range(n_items):

        def objective(w, j=j):
            rest = values[:, j] - values @ w
            value = rest @ rest / 2 + l1 @ w + l2 @ w**2 / 2
            return value, -values.T @ rest + l1 + l2 * w

        bounds = [(0, None if allowed[j, i] and i != j else 0) for i in range(n_items)]
        options = {"ftol": 1e-16, "gtol": 1e-10, "maxiter": 5000, "maxfun": 50000}
        start = np.zeros(n_items)
        found = minimize(objective, start, jac=True, bounds=bounds, options=options)
        weights[:, j] = found.x
    return weights


@pytest.mark.parametrize(("l1", "l2"), [(0.0, 1.0), (1.0, 0.5), (5.0, 2.0), (20.0, 0.1)])
def test_slim_agrees_with_a_general_optimiser(l1, l2):
    train = small_table(seed=1, n_users=40, n_items=9)
    values, rated = dense(train)
    everything = np.ones((9, 9), dtype=bool)
    expected = by_general_optimiser(values, np.full(9, l1), np.full(9, l2), everything)
    model = SLIM(l1=l1, l2=l2, tolerance=1e-11, encoding="stars").fit(train)
    assert 0 < model.weights.nnz < 56
    np.testing.assert_allclose(model.weights.toarray(), expected, atol=1e-6)
    scores = naive_scores(values, rated, model.weights.toarray())
    np.testing.assert_allclose(model.score(np.arange(40)), scores, rtol=1e-6)


def test_slim_agrees_with_scikit_learn_s_elastic_net():
    linear_model = pytest.importorskip("sklearn.linear_model")
    train = small_table(seed=2, n_users=60, n_items=30, observed=0.3)
    l1, l2, n_users = 3.0, 4.0, 60
    model = SLIM(l1=l1, l2=l2, tolerance=1e-11, encoding="stars").fit(train)
    net = linear_model.ElasticNet(
        alpha=(l1 + l2) / n_users,
        l1_ratio=l1 / (l1 + l2),
        positive=True,
        fit_intercept=False,
        tol=1e-14,
        max_iter=100_000,
    )
    values, _ = dense(train)
    for j in range(30):
        others = values.copy()
        others[:, j] = 0
        np.testing.assert_allclose(
            model.weights[:, [j]].toarray()[:, 0], net.fit(others, values[:, j]).coef_, atol=1e-6
        )


@st.composite
def problems(draw):
    n_users, n_items = draw(st.integers(1, 8)), draw(st.integers(1, 7))
    value = st.sampled_from([np.nan, np.nan, 0.0, 1.0, 2.0])
    stars = draw(st.lists(value, min_size=n_users * n_items, max_size=n_users * n_items))
    penalty = st.sampled_from([0.0, 0.5, 1.0, 3.0])
    return np.array(stars).reshape(n_users, n_items), draw(penalty), draw(penalty) + 0.1


@given(problems(), st.booleans())
@settings(max_examples=150, deadline=None)
def test_no_single_weight_can_be_improved(problem, signed):
    stars, l1, l2 = problem
    x = np.nan_to_num(stars)
    gram = x.T @ x
    n_items = len(gram)
    ones, tolerance = np.ones(n_items), 1e-10
    rounds = sparse_regressions(gram, l1 * ones, l2 * ones, signed=signed, tolerance=tolerance)
    weights = np.zeros((n_items, n_items))
    for found in rounds:
        weights = found.toarray()
    assert (np.diag(weights) == 0).all()
    assert signed or (weights >= 0).all()
    pull = gram - gram @ weights - l2 * weights
    # What a step may leave, times the curvature, is what the optimality condition may miss.
    slack = 2 * tolerance * (np.diag(gram)[:, None] + l2) + 1e-12
    off = ~np.eye(n_items, dtype=bool)
    used = weights != 0
    np.testing.assert_array_less(np.abs(pull - l1 * np.sign(weights))[used & off], slack.max())
    unused = np.abs(pull) if signed else pull
    assert (unused - l1 <= slack)[~used & off].all()


def test_more_weights_than_are_taken_in_at_once():
    """150 items of which each needs nearly all others: several rounds, each of them better."""
    rng = np.random.default_rng(6)
    values = rng.uniform(0.5, 1.5, (400, 150)) * (rng.random((400, 150)) < 0.5)
    train = table(np.where(values > 0, values, np.nan))
    model, objectives = SLIM(l1=0.01, l2=1000, tolerance=1e-9, encoding="stars"), []
    model.fit(train, on_iteration=lambda number, value: objectives.append((number, value)))
    gram = values.T @ values
    weights = model.weights.toarray()
    assert (weights > 0).sum(axis=0).max() > 120
    pull = gram - gram @ weights - 1000 * weights - 0.01
    np.fill_diagonal(pull, -1)
    bound = 2e-9 * (gram.max() + 1000)
    assert np.abs(pull[weights > 0]).max() < bound
    assert pull[weights == 0].max() < bound
    # Without the conditions: what is reported is the definition, and it falls.
    rest = values - values @ weights
    expected = np.sum(rest**2) / 2 + 1000 * np.sum(weights**2) / 2 + 0.01 * weights.sum()
    assert [number for number, _ in objectives] == list(range(1, len(objectives) + 1))
    assert objectives[-1][1] == pytest.approx(expected, rel=1e-12)
    assert model.objective(train) == pytest.approx(expected, rel=1e-12)
    falls = np.diff([value for _, value in objectives])
    assert len(falls) >= 2
    assert (falls <= 1e-12 * expected).all()
    assert falls[0] < -1e-4 * expected
    once = SLIM(l1=0.01, l2=1000, n_iterations=1, encoding="stars").fit(train)
    assert once.objective(train) == pytest.approx(objectives[0][1], rel=1e-6)
    assert model.finished
    assert not once.finished


def test_only_the_nearest_items_are_candidates():
    train = small_table(seed=7, n_users=40, n_items=12)
    values, _ = dense(train)
    gram = values.T @ values
    allowed = np.zeros((12, 12), dtype=bool)
    for j in range(11):
        cosine = {i: gram[i, j] / np.sqrt(gram[i, i] * gram[j, j]) for i in range(11) if i != j}
        allowed[j, sorted(cosine, key=cosine.get)[-3:]] = True
    expected = by_general_optimiser(values, np.ones(12), np.full(12, 2.0), allowed)
    model = SLIM(l1=1, l2=2, n_neighbours=3, tolerance=1e-11, encoding="stars").fit(train)
    np.testing.assert_allclose(model.weights.toarray(), expected, atol=1e-6)
    assert model.weights.nnz <= 33
    everything = SLIM(l1=1, l2=2, tolerance=1e-11, encoding="stars").fit(train)
    many = SLIM(l1=1, l2=2, n_neighbours=50, tolerance=1e-11, encoding="stars").fit(train)
    np.testing.assert_allclose(
        many.weights.toarray(), everything.weights.toarray(), rtol=0, atol=1e-8
    )


def test_ties_for_the_last_place_are_all_in():
    similarity = np.array(
        [[1, 0.5, 0.5, 0.2], [0.5, 1, 0, 0], [0.5, 0, 1, 0.1], [0.2, 0, 0.1, 1]], dtype=np.float32
    )
    found = most_similar([similarity[:3], similarity[3:]], 4, 1)
    expected = [[0, 1, 1, 0], [1, 0, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0]]
    np.testing.assert_array_equal(found, np.array(expected, dtype=bool))
    np.testing.assert_array_equal(
        most_similar([similarity], 4, 9), (similarity > 0) & ~np.eye(4, dtype=bool)
    )


def test_zeros_are_evidence_without_weight_of_their_own():
    """User 2 dislikes a: the others' weights from a to b give him a score for b, which is 0."""
    stars = [[5, 5, np.nan], [5, 5, np.nan], [1, np.nan, np.nan], [np.nan, np.nan, 2]]
    model = SLIM(l1=0.1, l2=0.1, encoding=GRADED).fit(table(stars))
    scores = model.score(np.arange(4))
    assert scores[2, 1] == 0
    assert np.isnan(scores[2, 0])
    assert np.isnan(scores[3]).all()
    assert np.isnan(scores[:, 2]).all()


def test_without_penalties_weights_stay_finite():
    """Equal columns have many solutions; each of them reproduces the profiles."""
    stars = np.array([[5, 5, 4], [4, 4, 1], [3, 3, 5.0]])
    model = SLIM(l1=0, l2=0, encoding="stars").fit(table(stars))
    np.testing.assert_allclose(model.score(np.arange(3))[:, :2], stars[:, :2], atol=1e-3)


def test_penalties_that_leave_nothing_leave_no_score():
    model = SLIM(l1=1e6).fit(small_table())
    assert model.weights.nnz == 0
    assert np.isnan(model.score(np.arange(12))).all()


@pytest.mark.parametrize(
    "model",
    [AssociationRules(), EASE(encoding="stars"), SLIM(), SLIMPenaltyByPopularity(l1=0.01)],
    ids=lambda model: type(model).__name__,
)
def test_blocks_change_no_bit(model):
    train = small_table(n_users=50, n_items=300)
    model.fit(train)
    whole = model.score(np.arange(50))
    parts = [model.score(np.array([user])) for user in range(50)]
    np.testing.assert_array_equal(np.concatenate(parts), whole)


# ------------------------------------------------------------------------------------ as published


def naive_published(values, rated, n_neighbours, shrinkage, l1, l2):
    """Go round the weights many times, each by what the raters of its predictor give on average."""
    n_users, n_items = values.shape
    weights = np.zeros((n_items, n_items))
    for j in range(n_items):
        similarity = {}
        for i in range(n_items):
            both = rated[:, i] & rated[:, j]
            norms = np.linalg.norm(values[both, i]) * np.linalg.norm(values[both, j])
            if i != j and norms > 0 and values[both, i] @ values[both, j] > 0:
                cosine = values[both, i] @ values[both, j] / norms
                similarity[i] = cosine * both.sum() / (both.sum() + shrinkage)
        near = sorted(similarity, key=similarity.get)[-n_neighbours:]
        for _ in range(1000):
            for i in near:
                raters = [u for u in range(n_users) if values[u, i] != 0]
                gradient = curvature = 0.0
                for u in raters:
                    rest = values[u, j] - values[u] @ weights[:, j] + values[u, i] * weights[i, j]
                    gradient += values[u, i] * rest / len(raters)
                    curvature += values[u, i] ** 2 / len(raters)
                size = max(abs(gradient) - l1, 0)
                weights[i, j] = np.sign(gradient) * size / (l2 + curvature)
    return weights


def test_penalties_by_popularity_are_averages_over_raters():
    rng = np.random.default_rng(8)
    stars = rng.uniform(2.5, 6.0, (15, 6))
    stars[rng.random(stars.shape) > 0.7] = np.nan
    values, rated = graded(stars)
    expected = naive_published(values, rated, 4, 10.0, 0.05, 0.05)
    assert (expected < 0).any()
    model = SLIMPenaltyByPopularity(l1=0.05, l2=0.05, n_neighbours=4).fit(table(stars))
    np.testing.assert_allclose(model.weights.toarray(), expected, atol=1e-8)
    scores = np.nan_to_num(naive_scores(values, rated, model.weights.toarray()))
    np.testing.assert_allclose(model.score(np.arange(15)), scores, rtol=1e-6)
    assert (scores == 0).any()
    counts = (values != 0).sum(axis=0)
    rest = values - values @ expected
    penalty = counts @ (0.05 * np.abs(expected) + 0.05 / 2 * expected**2)
    objective = np.sum(rest**2) / 2 + penalty.sum()
    assert model.objective(table(stars)) == pytest.approx(objective, rel=1e-9)


def test_a_share_of_the_profile_counts():
    """Sums of scores, 5 standard deviations wide: a false alarm in one of 1.7 million seeds."""
    train = small_table(seed=9, n_users=200, n_items=40)
    values, _ = dense(train)
    settings_ = {"l1": 0.05, "l2": 0.5, "encoding": "stars"}
    users = np.arange(199)
    whole = SLIMPenaltyByPopularity(**settings_).fit(train)
    none = SLIMPenaltyByPopularity(**settings_, profile_share=0).fit(train)
    assert (none.score(users)[:, :-1] == 0).all()
    share = 0.4
    model = SLIMPenaltyByPopularity(**settings_, profile_share=share)
    partial = model.fit(train, rng=np.random.default_rng(1))
    np.testing.assert_array_equal(partial.weights.toarray(), whole.weights.toarray())
    terms = values * np.asarray(whole.weights.sum(axis=1)).ravel()
    deviation = np.sqrt(share * (1 - share) * np.sum(terms**2))
    total = partial.score(users)[:, :-1].sum(dtype=float)
    assert abs(total - share * terms.sum()) < 5 * deviation
    before = partial.score(users)
    again = model.fit(train, rng=np.random.default_rng(2)).score(users)
    assert not np.array_equal(again, before, equal_nan=True)
    with pytest.raises(ConfigError, match=r"profile_share is 1.5, expected a number from 0 to 1"):
        SLIMPenaltyByPopularity(profile_share=1.5)


def test_sparse_weights_are_stored_as_such():
    model = SLIM().fit(small_table())
    assert isinstance(model.weights, scipy.sparse.csr_array)
    assert not any(
        isinstance(value, np.ndarray) and value.ndim > 1 for value in vars(model).values()
    )
