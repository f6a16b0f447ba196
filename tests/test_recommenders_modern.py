import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from recbias.errors import ConfigError
from recbias.recommenders import ImplicitALS, ImplicitBPR, ImplicitItemCosine
from recommender_tables import dense, random_stars, small_table, table

SMALL = [ImplicitALS(n_factors=4), ImplicitBPR(n_factors=4), ImplicitItemCosine()]


def scores_of(model, train, seed=1):
    return model.fit(train, rng=np.random.default_rng(seed)).score(np.arange(train.n_users))


@pytest.mark.parametrize("model", SMALL)
def test_the_same_seed_gives_the_same_bits_on_more_than_a_toy(model):
    train = small_table(n_users=300, n_items=200, observed=0.2)
    np.testing.assert_array_equal(scores_of(model, train), scores_of(model, train))


@pytest.mark.parametrize("model", SMALL[:2])
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


def test_items_nobody_speaks_for_have_no_score():
    stars = np.full((4, 4), np.nan)
    stars[0, :2] = stars[1, :2] = stars[2, 2:] = stars[3, 2:] = 1
    scores = scores_of(ImplicitItemCosine(), table(stars))
    np.testing.assert_array_equal(np.isnan(scores), np.isnan(stars))


def test_a_step_that_destroys_the_model_is_said():
    with pytest.raises(ConfigError, match="ImplicitBPR: training on 'small' gave factors that are"):
        scores_of(ImplicitBPR(n_factors=4, learning_rate=1e30), small_table())


def test_nothing_is_printed():
    """In a fresh process, where the library would advise on BLAS threads and show progress."""
    program = """
import numpy as np
from recommender_tables import small_table
from recbias.recommenders import ImplicitALS, ImplicitBPR, ImplicitItemCosine
for model in (ImplicitALS(4), ImplicitBPR(4), ImplicitItemCosine()):
    model.fit(small_table(), rng=np.random.default_rng(1)).score(np.arange(3))
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parent,
    )
    assert (done.stdout, done.stderr) == ("", "")
