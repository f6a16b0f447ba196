"""What chapter 4 checks: definitions and identities once, in a world; what hangs on data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from recbias.book.chapters.overcoming_popularity_bias.incomplete import (
    incomplete_checks,
    incomplete_identities,
)
from recbias.book.chapters.overcoming_popularity_bias.percentile_checks import (
    checked_grids,
    n_percentiles,
    percentile_checks,
    percentile_identities,
)
from recbias.book.chapters.overcoming_popularity_bias.ranked import ranked_grid, used_metrics
from recbias.book.chapters.overcoming_popularity_bias.setup import CHAPTER, metrics, protocols
from recbias.book.chapters.overcoming_popularity_bias.uniform_tests import (
    SHARE,
    check_candidates,
    check_drawn_positives,
    check_feasible,
    check_largest_share,
    check_places,
    check_published,
    check_quotas,
    check_shares,
)
from recbias.claims.checks import SEED, WORLD, Check, Checks
from recbias.data.datasets import Dataset, load_dataset
from recbias.experiment.grid import Grid
from recbias.experiment.makers import maker
from recbias.protocol.splits import KEPT_SHARE, SplitRule
from recbias.protocol.testset import dataset_splits
from recbias.recommenders import line_up

_SYSTEMS = ("Random", "Popularity", "kNN (ranking)", "Item cosine (implicit)")
"""Systems whose lists are looked at in a world: by chance, for all, and two with gaps."""

_OPTIONS: Mapping[str, Any] = {"min_rating": 5, "cutoff": 10, "size": 100}
_SHARES: Mapping[str, Any] = {"test_share": SHARE, "kept_share": SHARE}


# -- what holds on any data ------------------------------------------------------------------------


def _in_world() -> Grid:
    """Ask for the chapter's protocols, of few systems."""
    labelled, tests = protocols(_OPTIONS["min_rating"])
    systems = tuple(system for system in line_up("bcc17") if system.name in _SYSTEMS)
    measured = metrics(_OPTIONS["cutoff"], _OPTIONS["size"], _OPTIONS["size"])
    return Grid(WORLD, systems, labelled, measured, seed=SEED, tests=tests)


def _rule(test_share: float, kept_share: float) -> str:
    return str(SplitRule("uniform", test_share, kept_share))


@maker(
    CHAPTER,
    Checks,
    parts=("splits",),
    uses={
        "grid": lambda: ranked_grid(_in_world()),
        "metrics": used_metrics(_OPTIONS["cutoff"], _OPTIONS["size"]),
        "percentiles": lambda: checked_grids(_in_world(), _rule(**_SHARES)),
    },
)
def identities() -> tuple[list[Check], dict[str, float]]:
    """Check the definitions and identities of the chapter in a world, in the order of claims."""
    grid, dataset = _in_world(), load_dataset(WORLD)
    split, again = (
        dataset_splits(dataset, _rule(**_SHARES), seed=seed)[0] for seed in (SEED, SEED + 1)
    )
    checks = [
        *check_quotas(split, again, **_SHARES),
        *check_largest_share(dataset.ratings.item_counts(), SHARE),
        *check_drawn_positives(split, min_rating=_OPTIONS["min_rating"], seed=SEED),
        *check_candidates(split, **_SHARES),
        *incomplete_identities(dataset, grid, **_OPTIONS),
        *percentile_identities(dataset, grid, split, **_OPTIONS),
    ]
    return checks, {}


# -- what hangs on data ----------------------------------------------------------------------------


@maker(
    CHAPTER,
    Checks,
    revision=2,
    parts=("splits", "thinning"),
    metrics=("bpref",),
    uses={"grid": ranked_grid, "percentiles": n_percentiles},
)
def checks(
    dataset: Dataset,
    *,
    min_rating: float,
    seed: int,
    cutoff: int,
    size: int,
    grid: Grid,
    test_share: float = SHARE,
    kept_share: float = KEPT_SHARE,
) -> tuple[list[Check], Mapping[str, float]]:
    """Make the checks that hang on data.

    Parameters
    ----------
    dataset
        A data set.
    min_rating
        Smallest rating that is relevant.
    seed
        Of the uniform split.
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
    split = dataset_splits(dataset, _rule(test_share, kept_share), seed=seed)[0]
    shares = {"test_share": test_share, "kept_share": kept_share}
    of_percentiles, statistics = percentile_checks(
        dataset, grid, min_rating=min_rating, cutoff=cutoff
    )
    checks = [
        *check_shares(split, test_share=test_share, min_rating=min_rating),
        *check_published(counts),
        *check_feasible(counts, **shares),
        *check_places(split, **shares),
        *incomplete_checks(dataset, grid, min_rating=min_rating, cutoff=cutoff, size=size),
        *of_percentiles,
    ]
    return checks, statistics
