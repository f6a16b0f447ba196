"""What data info tells of ratings, against plain sums."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recbias._system.memory import LARGEST_TABLE
from recbias.data.datasets.describe import (
    describe,
    gini,
    popularity_relevance,
    top_share,
    warn_of_memory,
)
from recbias.data.ratings import Ratings
from recbias.errors import DataWarning

COUNTS = st.lists(st.integers(0, 50), min_size=1, max_size=30).filter(any)


@given(COUNTS)
def test_gini_is_half_the_relative_mean_difference(counts: list[int]) -> None:
    differences = sum(abs(one - other) for one in counts for other in counts)
    expected = Fraction(differences, 2 * len(counts) * sum(counts))
    assert gini(np.array(counts)) == pytest.approx(float(expected), abs=1e-12)


@given(COUNTS)
def test_top_share_takes_whole_items_from_the_top(counts: list[int]) -> None:
    top = sorted(counts)[-math.ceil(len(counts) / 10) :]
    assert top_share(np.array(counts)) == pytest.approx(sum(top) / sum(counts), abs=1e-12)


def world(liked: dict[int, tuple[int, int]]) -> Ratings:
    """Items with so many ratings, of which so many are a 5, the others a 1."""
    rows = [
        (user, item, 5 if user < good else 1)
        for item, (count, good) in liked.items()
        for user in range(count)
    ]
    return Ratings.from_frame(pd.DataFrame(rows, columns=["user_id", "item_id", "rating"]))


def test_popularity_agrees_opposes_or_says_nothing() -> None:
    agree = world({0: (2, 0), 1: (4, 2), 2: (8, 6)})
    oppose = world({0: (2, 2), 1: (4, 2), 2: (8, 1)})
    alike = world({0: (4, 1), 1: (4, 2)})
    assert popularity_relevance(agree, 5) == pytest.approx(1)
    assert popularity_relevance(oppose, 5) == pytest.approx(-1)
    assert math.isnan(popularity_relevance(alike, 5))
    assert "relevance agree" in describe(agree, 5)["agreement"]
    assert "relevance oppose" in describe(oppose, 5)["agreement"]
    assert "not defined" in describe(alike, 5)["agreement"]


def test_pages_that_learn_over_pairs_of_items_say_what_they_take(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    few, many = (
        Ratings.from_frame(
            pd.DataFrame({"user": 1, "item": range(n)}), user="user", item="item", rating=None
        )
        for n in (2_000, 20_000)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for page in ("05_true_false_positives", "06_concentration", "systems"):
            warn_of_memory(few, page)
            warn_of_memory(many, page)  # such models are left out there
    assert "about 0.6 GB in a worker of chapters 5, 7" in describe(many, 1)["memory"]
    monkeypatch.setenv(LARGEST_TABLE, "4")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_memory(many, "01_design_alternatives")
    for page in ("systems", "06_concentration"):  # 1.4 * 8 bytes * 4e8 pairs and a page's .6 GB
        with pytest.warns(DataWarning, match=rf"{page} takes about 5\.1 GB for 20,000 items"):
            warn_of_memory(many, page)
    told = describe(many, 1)["memory"]
    assert "about 5.1 GB in a worker of chapters 5, 7 and systems, 5.1 in chapter 6" in told
