"""How positives concentrate on items: curves, TREC's marginals, and the checks of chapter 3."""

from __future__ import annotations

import datetime as dt
from itertools import combinations, combinations_with_replacement

import numpy as np
import pandas as pd
import pytest

from recbias.book.chapters.popularity_bias import concentration
from recbias.book.chapters.popularity_bias.concentration import (
    check_collection,
    check_concentration,
    check_trec,
    overlapping_pairs,
    positives_per_item,
    share_of_most_popular,
    smallest_half,
    trec_marginals,
)
from recbias.book.chapters.popularity_bias.trec import Marginals, forced_gini
from recbias.data.ratings import Ratings
from recbias.errors import ConfigError

PRINTED = "129277 docs, 149811 positives, 87.2% of docs relevant once, max 25"


def gini_by_pairs(counts: tuple[int, ...]) -> float:
    """The coefficient as the mean difference of all pairs over twice the mean."""
    differences = sum(abs(a - b) for a in counts for b in counts)
    return differences / (2 * len(counts) * sum(counts))


def every_counts(known: Marginals) -> list[tuple[int, ...]]:
    """All counts that fit, one by one."""
    return [
        counts
        for counts in combinations_with_replacement(range(1, known.most + 1), known.n_items)
        if sum(counts) == known.total
        and max(counts) == known.most
        and known.n_once[0] <= counts.count(1) <= known.n_once[1]
    ]


@pytest.mark.parametrize("n_items", [2, 3, 5, 7])
@pytest.mark.parametrize("most", [3, 4, 6])
def test_forced_gini_is_that_of_the_extreme_ones_of_all_counts(n_items: int, most: int) -> None:
    tried = 0
    for total in range(n_items, most * n_items + 1):
        for fewest, largest in combinations(range(n_items + 1), 2):
            known = Marginals(n_items, total, (fewest, largest), most)
            fitting = every_counts(known)
            if {counts.count(1) for counts in fitting} != set(range(fewest, largest + 1)):
                continue
            found = [gini_by_pairs(counts) for counts in fitting]
            assert forced_gini(known) == pytest.approx((min(found), max(found)))
            tried += 1
    assert tried or n_items == 2


def test_counts_that_do_not_fit_are_refused() -> None:
    for known in (
        Marginals(3, 10, (1, 1), 4),
        Marginals(3, 4, (1, 1), 3),
        Marginals(3, 3, (3, 3), 3),
    ):
        assert not every_counts(known)
        with pytest.raises(ConfigError, match="no counts fit"):
            forced_gini(known)


def test_printed_marginals_are_read_with_what_rounding_leaves_open() -> None:
    known = Marginals.parse(PRINTED)
    assert known == trec_marginals()
    shares = [100 * n_once / known.n_items for n_once in known.n_once]
    assert 87.15 <= shares[0] < shares[1] <= 87.25
    beyond = [100 * n_once / known.n_items for n_once in (known.n_once[0] - 1, known.n_once[1] + 1)]
    assert beyond[0] < 87.15
    assert beyond[1] > 87.25
    with pytest.raises(ConfigError, match="no number of share, max"):
        Marginals.parse("129277 docs, 149811 positives")


def test_trec_is_nearly_flat_and_the_curves_lie_in_a_narrow_band() -> None:
    low, high = forced_gini(trec_marginals())
    assert 0.1215 < low < 0.1225 < high < 0.1235  # as issue and ledger have it: .122 to .123
    flat = trec_marginals().flattest(trec_marginals().n_once[1])
    steep = trec_marginals().steepest(trec_marginals().n_once[1])
    for counts in (flat, steep):
        assert (len(counts), counts.sum(), counts.max()) == (129277, 149811, 25)
        assert (np.diff(counts) <= 0).all()


def test_curve_and_half_by_counting() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        counts = rng.integers(1, 40, rng.integers(1, 30))
        ordered = sorted(counts.tolist(), reverse=True)
        n = len(ordered)
        places = np.arange(n + 1) / n
        found = share_of_most_popular(counts, places)
        assert found == pytest.approx([sum(ordered[:k]) / sum(ordered) for k in range(n + 1)])
        fewest = next(k for k in range(1, n + 1) if 2 * sum(ordered[:k]) >= sum(ordered))
        assert smallest_half(counts) == fewest / n


def ratings(rows: list[tuple[int, int, float]], times: list[int] | None = None) -> Ratings:
    frame = pd.DataFrame(rows, columns=["user_id", "item_id", "rating"])
    if times:
        frame["time"] = times
    return Ratings.from_frame(frame, timestamp="time" if times else None)


ROWS = [(1, 1, 5.0), (1, 2, 5.0), (2, 1, 5.0), (2, 3, 2.0), (3, 3, 5.0), (3, 1, 1.0), (4, 2, 4.0)]


def test_positives_count_where_there_are_some() -> None:
    assert sorted(positives_per_item(ratings(ROWS), 5)) == [1, 1, 2]
    assert sorted(positives_per_item(ratings(ROWS), 4)) == [1, 2, 2]
    assert sorted(positives_per_item(ratings([*ROWS, (4, 4, 1.0)]), 4)) == [1, 2, 2]


@pytest.mark.parametrize("min_rating", [4.0, 5.0])
def test_pairs_that_like_one_item_both(min_rating: float) -> None:
    rng = np.random.default_rng(5)
    pairs = rng.permutation(60 * 40)[:150]
    rows = [(int(p) // 40, int(p) % 40, float(rng.integers(1, 6))) for p in pairs]
    rows += [(user, 99, 1.0) for user in range(60)]
    liked = {
        user: {i for u, i, value in rows if u == user and value >= min_rating} for user in range(60)
    }
    met = sum(bool(liked[a] & liked[b]) for a, b in combinations(range(60), 2))
    share, n_pairs = overlapping_pairs(ratings(rows), min_rating=min_rating, seed=1)
    assert (share, n_pairs) == (met / n_pairs, 60 * 59 // 2)


def test_pairs_are_counted_once_in_every_block_of_users() -> None:
    """More users than are compared at a time; all but one like the first item."""
    rows = [(user, 0, 5.0 if user else 1.0) for user in range(1200)]
    share, n_pairs = overlapping_pairs(ratings(rows), min_rating=5, seed=1)
    assert n_pairs == 1200 * 1199 // 2
    assert share == (1199 * 1198 // 2) / n_pairs


def test_of_many_users_a_sample_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(concentration, "MOST_USERS", 3)
    share, n_pairs = overlapping_pairs(ratings(ROWS), min_rating=5, seed=1)
    assert n_pairs == 3
    assert share in (0.0, 1 / 3)


def months(*dates: tuple[int, int, int]) -> list[int]:
    return [int(dt.datetime(*date, tzinfo=dt.UTC).timestamp()) for date in dates]


def test_what_is_said_of_the_collection_is_measured_and_broken_input_is_noticed() -> None:
    times = months((2000, 4, 25), (2003, 2, 28), *[(2001, 5, 1)] * 5)
    found = {
        check.name: check.worst
        for check in check_collection(ratings(ROWS, times), min_rating=5, seed=1)
    }
    assert found == {"fewest": 1, "overlap": 1 / 6, "years": 0, "first": 0, "last": 0}
    for broken, name, worst in (
        (months((2000, 3, 31), (2003, 2, 28), *[(2001, 5, 1)] * 5), "first", 1),
        (months((2000, 4, 25), (2003, 3, 1), *[(2001, 5, 1)] * 5), "last", 1),
        (months((1998, 4, 25), (2003, 2, 28), *[(2001, 5, 1)] * 5), "years", 2),
        (months((2000, 4, 25), (2004, 2, 28), *[(2001, 5, 1)] * 5), "years", 1),
    ):
        checks = check_collection(ratings(ROWS, broken), min_rating=5, seed=1)
        assert {check.name: check.worst for check in checks}[name] == worst
    untimed = check_collection(ratings(ROWS), min_rating=5, seed=1)
    assert [check.name for check in untimed] == ["fewest", "overlap"]


def test_flat_positives_are_noticed() -> None:
    steep = [(user, item, 5.0) for item in range(20) for user in range(1 + 60 // (1 + item) ** 2)]
    flat = [(user, item, 5.0) for item in range(20) for user in range(12)]
    of = {
        name: {
            check.name: check.worst
            for check in check_concentration(ratings([*rows, (0, 20, 1.0)]), min_rating=5)
        }
        for name, rows in (("steep", steep), ("flat", flat))
    }
    assert of["steep"]["gini"] > 0.5
    assert of["steep"]["half"] <= 0.2
    (trec,) = check_trec(trec_marginals())
    assert trec.worst == forced_gini(trec_marginals())[1]
    assert check_trec(Marginals(4, 12, (3, 3), 9))[0].worst > 0.2  # one has nearly all
    assert of["steep"]["against-trec"] == pytest.approx(of["steep"]["gini"] / trec.worst)
    assert of["flat"]["gini"] == of["flat"]["against-trec"] == 0
    assert of["flat"]["half"] == 0.5
    assert of["flat"]["top-item"] == 1  # all 12 users like every item but the last
