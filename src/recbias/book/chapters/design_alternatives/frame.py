"""What BCC17 says of its task and of its experiment: Table 1 and Sec. 3.3."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import scipy  # its parts are loaded when they are first used: `stats` takes long

from recbias.book.chapters.design_alternatives.setup import FIGURE_2
from recbias.claims.checks import Check
from recbias.errors import ConfigError
from recbias.experiment.grid import Grid
from recbias.protocol.splits import Split
from recbias.ranking.tables import RankTable

_N_ROWS_OF_TABLE_1 = 8
_N_FOLDS, _TEST_SHARE, _THRESHOLD, _RUN_SIZE = 5, 0.2, 5.0, 100
_DESIGNS = {"1R": "TI-NN-1R", "AR": "TI-AN-AR", "AI": "AI-AN-AR"}
"""The paper's designs in Fig. 2 on MovieLens, Sec. 3.3, by label of ours."""


def check_task_table(page: str, rows: Mapping[str, str]) -> list[Check]:
    """Check that a page shows Table 1: each of its eight rows, with both cells."""
    page_rows = [
        [cell.strip() for cell in line.strip().strip("|").split("|")] for line in page.split("\n")
    ]
    n_shown = sum(
        [name, *map(str.strip, cells.split("|"))] in page_rows for name, cells in rows.items()
    )
    what = "rows of Table 1 that the page does not show with both cells"
    missing = float(_N_ROWS_OF_TABLE_1 - n_shown)
    return [Check("BCC17-T1", "rows", what, _N_ROWS_OF_TABLE_1, missing)]


def check_coverage(splits: Sequence[Split]) -> list[Check]:
    """Give the smallest share of the catalogue that has a test rating in a fold (Sec. 3.3)."""
    shares = [len(np.unique(split.test.item)) / split.test.n_items for split in splits]
    what = "smallest share of the catalogue with a test rating, |C_TI|/|I| of a fold"
    return [Check("BCC17-C-TIAI", "share-tested", what, len(shares), min(shares))]


def check_cost(first: Split, *, min_rating: float, size: int) -> list[Check]:
    """Give the share of the items of larger 1R target sets that smaller ones rank (Sec. 3.3)."""
    test, train = first.test, first.train
    candidates = set(test.item.tolist())
    ranked = np.zeros(2)
    for user in range(test.n_users):
        rows = slice(test.indptr[user], test.indptr[user + 1])
        liked = test.item[rows][test.value[rows] >= min_rating].tolist()
        trained = train.item[train.indptr[user] : train.indptr[user + 1]].tolist()
        pool = len(candidates.difference(liked, trained))
        ranked += [len(liked) * (min(wanted, pool) + 1) for wanted in (size - 1, 10 * size)]
    what = f"items in all 1R target sets of {size}, over those of {10 * size + 1}"
    return [Check("BCC17-C-SIG", "ranked-items", what, test.n_users, float(ranked[0] / ranked[1]))]


def check_setup(
    splits: Sequence[Split], grid: Grid, *, min_rating: float, published: str
) -> list[Check]:
    """Compare data and experiment with the paper's frame (Sec. 3.3), as far as both are here."""
    first = splits[0]
    n_ratings = len(first.test) + len(first.train)
    sizes = {"users": first.test.n_users, "items": first.test.n_items, "ratings": n_ratings}
    counts = np.stack([np.bincount(split.test.user, minlength=sizes["users"]) for split in splits])
    totals = first.train.user_counts() + counts[0]
    off = sum(
        str(grid.parsed[label].rule).split(" ")[0] != rule if label in grid.parsed else True
        for label, rule in _DESIGNS.items()
    )
    names = {system.name for system in grid.systems}
    rows = [
        ("folds", "|folds - 5|", len(splits), abs(len(splits) - _N_FOLDS)),
        (
            "fold-sizes",
            "p-value of: test folds are as large as coins of 0.2 make them (two-sided)",
            n_ratings,
            _coins(counts.sum(axis=1)[:, None], np.array([n_ratings])),
        ),
        (
            "fold-coins",
            "p-value of: each rating comes into test by a coin of its own, by users (two-sided)",
            sizes["users"],
            _coins(counts, totals),
        ),
        ("threshold", "|smallest relevant rating - 5|", 1, abs(min_rating - _THRESHOLD)),
        ("designs", "designs that differ from TI-NN-1R, TI-AN-AR and AI-AN-AR", len(_DESIGNS), off),
        (
            "systems",
            "systems of Fig. 2 that are missing",
            len(FIGURE_2),
            sum(name not in names for name in FIGURE_2),
        ),
    ]
    for what, size in sizes.items():
        match = re.search(rf"(\d+) {what}", published)
        if match is None:
            raise ConfigError(f"BCC17-SETUP: no number of {what} in {published!r} of the ledger")
        rows.append((what, f"|{what} - {int(match[1]):,}|", size, abs(size - int(match[1]))))
    return [Check("BCC17-SETUP", name, what, n, float(worst)) for name, what, n, worst in rows]


def check_run_sizes(runs: RankTable) -> list[Check]:
    """Compare the size of target sets under 1R with the paper's (Sec. 3.3)."""
    off = int(np.abs(runs.n_targets - _RUN_SIZE).max(initial=0))
    what = "||T_u| - 100| under 1R"
    return [Check("BCC17-SETUP", "target-size", what, len(runs.n_targets), float(off))]


def _coins(counts: npt.NDArray[np.int64], totals: npt.NDArray[np.int64]) -> float:
    """Give the p-value of: each column of counts is multinomial, with 0.2 for every row."""
    rest = 1 - _TEST_SHARE * len(counts)
    cells, shares = counts, [_TEST_SHARE] * len(counts)
    if rest > 1e-9:
        cells, shares = np.vstack([counts, totals - counts.sum(axis=0)]), [*shares, rest]
    if rest < -1e-9 or (cells.sum(axis=0) != totals).any():
        return 0.0
    rated = totals > 0
    n, k = totals[rated], len(shares)
    expected = np.outer(shares, n)
    statistic = float(((cells[:, rated] - expected) ** 2 / expected).sum())
    if len(n) == 1:
        law = scipy.stats.chi2(k - 1)
    else:
        spread = 2 * (k - 1) + (sum(1 / share for share in shares) - k**2 - 2 * k + 2) / n
        law = scipy.stats.norm(len(n) * (k - 1), np.sqrt(spread.sum()))
    return float(min(1.0, 2 * min(law.cdf(statistic), law.sf(statistic))))
