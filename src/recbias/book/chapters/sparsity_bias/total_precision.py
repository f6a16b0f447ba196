"""The precision of a whole target set: what it is, and what it takes to be that (BCC17 Sec. 4.2).

Ranks are the experiment's; sizes of target sets are counted here, from the split.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from recbias.book.chapters.design_alternatives.definitions import largest
from recbias.claims.checks import Check, joined_checks
from recbias.metrics import measure, parse_metric
from recbias.metrics.aggregation import aggregate
from recbias.protocol.splits import Split
from recbias.ranking.tables import RankTable

_CLAIM = "BCC17-C-TOTALP"

FloatArray = npt.NDArray[np.float64]


class Returned(NamedTuple):
    """What a system returns by a policy: its ranks under AR, and under 1R with the whole pool."""

    system: str
    policy: str
    ar: RankTable
    runs: RankTable


def set_sizes(split: Split) -> FloatArray:
    """Count each user's targets under TI: items with a test rating, without those of training."""
    inside = np.zeros(split.train.n_items, dtype=bool)
    inside[split.test.item] = True
    taken = np.bincount(split.train.user, inside[split.train.item], minlength=split.train.n_users)
    return inside.sum() - taken


class _Sets(NamedTuple):
    """Sizes counted by hand: of each user's target set, and of that of each run."""

    users: FloatArray
    runs: FloatArray

    @classmethod
    def of(cls, split: Split, min_rating: float) -> _Sets:
        users, judged = set_sizes(split), split.test
        owner = judged.user[judged.value >= min_rating]
        n_relevant = np.bincount(owner, minlength=judged.n_users)
        return cls(users, (users - n_relevant + 1)[owner])


def _totals(
    ranks: Returned, sets: _Sets, min_rating: float, *, turned: bool
) -> tuple[float, float]:
    """Count what is relevant among all places: a mean over users, and one over runs."""
    totals = []
    for table in (ranks.ar, ranks.runs):
        rank = table.rank.astype(np.int64)
        if turned:
            of_row = table.n_targets if table.per == "run" else table.n_targets[table.user]
            rank = np.where(rank > 0, of_row + 1 - rank, 0)
        sizes = sets.runs if table.per == "run" else sets.users[table.user]
        hit = (table.value >= min_rating) & (rank >= 1) & (rank <= sizes)
        totals.append(float(np.sum(hit / sizes)))
    return totals[0] / ranks.ar.n_users, totals[1] / len(sets.runs)


def _measured(table: RankTable, metric: str, min_rating: float) -> float:
    values = measure(table, [parse_metric(metric)], min_rating=min_rating)
    population = "runs" if table.per == "run" else "all"
    return float(aggregate(table, values, min_rating=min_rating, population=population)[0])


def check_total_precision(
    returned: Sequence[Returned], split: Split, *, min_rating: float, size: int
) -> list[Check]:
    """Compare the precision of whole target sets with rho, with chance, and with each other.

    References
    ----------
    BCC17 Sec. 4.2.
    """
    sets = _Sets.of(split, min_rating)
    n_users, n_runs = split.test.n_users, len(sets.runs)
    # The whole of a sampled set is looked at where no pool is too small for the sample.
    whole = int(sets.runs.min(initial=size))
    checks, of_users, of_runs, short = [], [], [], [0.0]
    for ranks in returned:
        total, total_of_runs = _totals(ranks, sets, min_rating, turned=False)
        rho = _measured(ranks.ar, "rho", min_rating)
        if ranks.policy == "none":
            short.append((rho - total) / rho if rho else 0.0)
            continue
        turned, turned_of_runs = _totals(ranks, sets, min_rating, turned=True)
        of_users += [total, turned]
        of_runs += [total_of_runs, turned_of_runs]
        apart = [
            total_of_runs - float(np.mean(1 / sets.runs)),
            _measured(ranks.runs, f"P@{whole}|t={whole}", min_rating) - 1 / whole,
        ]
        lacking = np.sum(ranks.ar.n_scored < sets.users) + np.sum(ranks.runs.n_scored < sets.runs)
        what = "precision of the whole target set"
        checks += [
            Check(_CLAIM, "ar", f"|{what} - rho| under AR", n_users, abs(total - rho)),
            Check(_CLAIM, "1r", f"|{what} - that of chance| under 1R", n_runs, largest(apart)),
            Check(
                _CLAIM, "complete", "target sets that lack an item", n_users + n_runs, int(lacking)
            ),
        ]
    spread = max(np.ptp(of_users), np.ptp(of_runs))
    what = "largest - smallest precision of the whole target set"
    checks += [
        Check(_CLAIM, "rankings", what, 2 * len(of_users), float(spread)),
        Check(
            _CLAIM,
            "short",
            "(rho - precision of the whole target set)/rho without a policy",
            len(short) - 1,
            max(short),
        ),
    ]
    return joined_checks(checks)


def check_shortfall(
    returned: Sequence[Returned],
    scored: Mapping[str, npt.NDArray[np.bool_]],
    split: Split,
    *,
    min_rating: float,
) -> list[Check]:
    """Compare, user by user, what total precision lacks with the relevant items without a score.

    References
    ----------
    BCC17 Sec. 4.2: systems have to return every item of their target sets.
    """
    sizes, judged = set_sizes(split), split.test
    relevant = judged.value >= min_rating
    checks = []
    for ranks in returned:
        if ranks.policy != "none" or ranks.system not in scored:
            continue
        (rho,) = measure(ranks.ar, [parse_metric("rho")], min_rating=min_rating)
        hits = relevant & (ranks.ar.rank > 0) & (ranks.ar.rank <= sizes[judged.user])
        without = relevant & ~scored[ranks.system]
        counted = np.bincount(judged.user, hits.astype(float) + without, judged.n_users)
        # Nobody has relevant items in a target set without any.
        apart = rho - counted / np.maximum(sizes, 1)
        what = "|rho - precision of the whole target set - share of relevant items without a score|"
        checks.append(Check(_CLAIM, "shortfall", what, judged.n_users, largest(apart)))
    return joined_checks(checks)
