"""What 1R gives a random ranking is 1/t exactly, and each way to miss it is noticed."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from recbias.book.chapters.sparsity_bias.every_rank import check_every_rank, every_rank
from recbias.ranking.tables import RankTable

SIZES, CUTOFFS = (20, 40), (5, 10)


@pytest.fixture(scope="module")
def table() -> RankTable:
    return every_rank(60)


def test_every_rank_occurs_once_among_all_items(table: RankTable) -> None:
    assert sorted(table.rank.tolist()) == list(range(1, 61))
    assert set(table.n_targets.tolist()) == {60}


def test_the_mean_over_all_ranks_is_one_over_t(table: RankTable) -> None:
    (check,) = check_every_rank(table, SIZES, CUTOFFS)
    assert check.n_checked == 240
    assert check.worst <= 1e-13


@pytest.mark.parametrize("metric", ["P@{n}|t={less}", "RR|t={t}"])
def test_other_samples_and_metrics_are_noticed(table: RankTable, metric: str) -> None:
    """Two sampled items less of a hundred are 2 % more precision."""

    class Less(str):
        def format(self, *, n: int, t: int) -> str:  # type: ignore[override]
            return str.format(self, n=n, t=t, less=t - 2)

    (check,) = check_every_rank(table, (50,), (10,), metric=Less(metric))
    assert check.worst > 0.02


def test_ranks_that_are_missing_or_counted_from_another_place_are_noticed(
    table: RankTable,
) -> None:
    for ranks in (np.minimum(table.rank + 1, 60), np.maximum(table.rank - 1, 1)):
        broken = dataclasses.replace(table, rank=ranks)
        (check,) = check_every_rank(broken, SIZES, CUTOFFS)
        assert check.worst > 1e-3
