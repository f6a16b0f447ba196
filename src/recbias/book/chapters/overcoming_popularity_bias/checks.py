"""What chapter 4 checks on data, whatever results its other criteria read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from recbias.book.chapters.overcoming_popularity_bias.incomplete import incomplete_checks
from recbias.book.chapters.overcoming_popularity_bias.percentile_checks import (
    checked_grids,
    percentile_checks,
)
from recbias.book.chapters.overcoming_popularity_bias.ranked import ranked_grid, used_metrics
from recbias.book.chapters.overcoming_popularity_bias.setup import CHAPTER
from recbias.book.chapters.overcoming_popularity_bias.uniform_tests import (
    check_candidates,
    check_drawn_positives,
    check_feasible,
    check_published,
    check_quotas,
)
from recbias.claims.checks import Check, Checks
from recbias.data.datasets import Dataset
from recbias.experiment.grid import Grid
from recbias.experiment.makers import maker
from recbias.protocol.splits import KEPT_SHARE, SplitRule
from recbias.protocol.testset import dataset_splits


def _of_popularity(grid: Grid, test_share: float, kept_share: float) -> Sequence[Grid]:
    return checked_grids(grid, _rule(test_share, kept_share))


def _rule(test_share: float, kept_share: float) -> str:
    return str(SplitRule("uniform", test_share, kept_share))


@maker(
    CHAPTER,
    Checks,
    parts=("splits",),
    uses={"grid": ranked_grid, "metrics": used_metrics, "percentiles": _of_popularity},
)
def checks(
    dataset: Dataset,
    *,
    min_rating: float,
    seed: int,
    cutoff: int,
    size: int,
    grid: Grid,
    test_share: float = 0.2,
    kept_share: float = KEPT_SHARE,
) -> tuple[list[Check], Mapping[str, float]]:
    """Make all checks of the chapter.

    Parameters
    ----------
    dataset
        A data set.
    min_rating
        Smallest rating that is relevant.
    seed
        Of the uniform split; the next one names another draw of it.
    cutoff, size
        Length of the lists; size of a 1R target set.
    grid
        The grid of the chapter's systems, which was run here.
    test_share, kept_share
        Of the uniform split (sigma and eps).

    Returns
    -------
    checks : list of Check
        In the order of the claims.
    statistics : dict
        Those of `percentile_checks`.
    """
    counts = dataset.ratings.item_counts()
    rule = _rule(test_share, kept_share)
    split, again = (
        dataset_splits(dataset, rule, seed=split_seed)[0] for split_seed in (seed, seed + 1)
    )
    options: dict[str, Any] = {"min_rating": min_rating, "cutoff": cutoff, "size": size}
    shares = {"test_share": test_share, "kept_share": kept_share}
    checks = [
        *check_quotas(split, again, min_rating=min_rating, **shares),
        *check_published(counts),
        *check_feasible(counts, **shares),
        *check_drawn_positives(split, min_rating=min_rating, seed=seed),
        *check_candidates(split, **shares),
        *incomplete_checks(dataset, grid, **options),
    ]
    of_percentiles, statistics = percentile_checks(dataset, grid, split, **options)
    return [*checks, *of_percentiles], statistics
