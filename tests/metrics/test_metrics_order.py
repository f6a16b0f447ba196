"""AUC: worked values, a plain loop, scikit-learn, and what it may not depend on."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rank_tables import user_table
from recbias.errors import ConfigError
from recbias.metrics import measure, parse_metric
from recbias.testing import judged_scores, naive_list


def auc(table, min_rating=4, **options):
    return measure(table, [parse_metric("AUC")], min_rating=min_rating, **options)[0]


def naive_auc(items, judged, min_rating):
    """Compare every liked item with every disliked one, by its place in the list."""
    place = {item: number for number, item in enumerate(items)}
    found = []
    for liked, rating in judged.items():
        for other, stars in judged.items():
            if rating >= min_rating > stars:
                first, second = (place.get(item, len(items)) for item in (liked, other))
                found.append(1.0 if first < second else 0.5 if first == second else 0.0)
    return np.mean(found) if found else 0.5


@given(
    st.lists(judged_scores(), min_size=1, max_size=4),
    st.sampled_from([1, 2.5, 4, 5]),
    st.booleans(),
)
def test_naive_code_agrees(users, min_rating, condensed):
    lists = [(naive_list(scores, ties), judged) for scores, ties, judged in users]
    expected = [naive_auc(items, judged, min_rating) for items, judged in lists]
    found = auc(user_table(*lists), min_rating, condensed=condensed)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("items", "judged", "value"),
    [
        ([3, 1, 2], {3: 5, 1: 1, 2: 4, 7: 2}, 0.75),
        ([1, 2], {1: 1, 2: 5}, 0.0),
        ([2], {5: 5, 6: 1}, 0.5),  # neither is in the list
        ([2], {2: 1, 5: 5, 6: 1}, 0.25),
        ([1, 2], {1: 5, 2: 4}, 0.5),
        ([1, 2], {1: 3, 2: 2}, 0.5),
        ([], {}, 0.5),
    ],
)
def test_worked_values(items, judged, value):
    np.testing.assert_allclose(auc(user_table((items, judged))), [value])


def test_scikit_learn_agrees_on_what_is_listed():
    from sklearn.metrics import roc_auc_score

    rng = np.random.default_rng(3)
    users, expected = [], []
    for _ in range(100):
        items = rng.permutation(40).tolist()
        stars = rng.permutation([1, 5, *rng.integers(1, 6, 10)])
        judged = dict(zip(rng.choice(40, 12, replace=False).tolist(), stars.tolist(), strict=True))
        users.append((items, judged))
        scores = [-items.index(item) for item in judged]
        expected.append(roc_auc_score([rating >= 4 for rating in judged.values()], scores))
    found = auc(user_table(*users))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    # The twin: with relevance turned it is the rest.
    with pytest.raises(AssertionError):
        np.testing.assert_allclose(1 - found, expected, rtol=0, atol=1e-12)


@given(st.lists(judged_scores(), min_size=1, max_size=4))
def test_relevance_turned_is_the_rest(users):
    table = user_table(*((naive_list(scores, ties), judged) for scores, ties, judged in users))
    turned = dataclasses.replace(table, value=8 - table.value)
    np.testing.assert_allclose(auc(table, 4), 1 - auc(turned, 4.25), rtol=0, atol=1e-12)


def test_a_share_of_judgments_at_random_estimates_that_of_all():
    """Mean over 4,000 draws of 12 of 40 items: six standard errors, false alarm below 1e-8."""
    rng = np.random.default_rng(9)
    items, stars = rng.permutation(40).tolist(), rng.integers(1, 6, 40)
    whole = auc(user_table((items, dict(enumerate(stars.tolist())))))[0]
    draws = [rng.choice(40, 12, replace=False).tolist() for _ in range(4000)]
    draws = [draw for draw in draws if 0 < sum(stars[i] >= 4 for i in draw) < 12]
    found = auc(user_table(*((items, {i: int(stars[i]) for i in draw}) for draw in draws)))
    error = found.std() / np.sqrt(len(found))
    assert abs(found.mean() - whole) < 6 * error
    # The twin: liked items at the top are likelier to be judged, as where users choose.
    seen = np.array([1 / (3 + place) for place in np.argsort(items)]) * (stars >= 4) + 0.02
    chosen = [rng.choice(40, 12, replace=False, p=seen / seen.sum()).tolist() for _ in range(4000)]
    biased = auc(user_table(*((items, {i: int(stars[i]) for i in draw}) for draw in chosen)))
    assert abs(biased.mean() - whole) > 20 * error


def test_runs_know_of_no_disliked_item():
    from rank_tables import run_table

    with pytest.raises(ConfigError, match="AUC"):
        auc(run_table(1, (0, 1, 5)))
