r"""How chapter 4 checks metrics for incomplete judgments: BCC17 Sec. 7, as printed and as cited.

What is compared is counted here in the ranks of each system, apart from `recbias.metrics`;
every check takes what it judges as an argument. |d100_u| of the printed infAP, which the paper
leaves open, is read as the number of items above the rank: everything is pooled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import scipy  # its parts are loaded when they are first used: `stats` takes long

from recbias.book.chapters.design_alternatives.definitions import largest
from recbias.book.chapters.overcoming_popularity_bias.ranked import (
    CONDENSED,
    LIMIT,
    Above,
    Ranked,
    Values,
    measured_values,
    ranked_systems,
)
from recbias.claims.checks import Check
from recbias.data.datasets import Dataset
from recbias.experiment.grid import Grid
from recbias.metrics import measure, parse_metric
from recbias.metrics.incomplete import INFAP_EPSILON, stratified_weights
from recbias.protocol.testset import dataset_splits
from recbias.theory import expected_hit, hypergeometric_mean

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
GAP = 0.2
"""Share of all scores that is taken away."""

GAMMAS = (0, 0.5, 1, 2, 10, np.inf)
"""From no correction to the strongest."""

_ROUNDING = 1e-12
_BPREF, _INFAP, _SR, _ALL_POSITIVE, _RUNS, _COVERAGE = (
    "BCC17-EQ-BPREF",
    "BCC17-EQ-INFAP",
    "BCC17-EQ-STRAT",
    "BCC17-F9-BPLFM",
    "BCC17-C-BP1R",
    "BCC17-C-COV",
)


def _preference(above: Above, *, capped: bool) -> FloatArray:
    bound = np.minimum(above.n_relevant, above.n_others)[above.user]
    most = above.n_relevant[above.user] if capped else above.others
    return above.mean(1 - np.minimum(above.others, most) / np.maximum(bound, 1))


def check_preference(
    ranked: Sequence[Ranked],
    found: Sequence[Values],
    non_relevant: IntArray,
) -> list[Check]:
    """Compare bpref with the cited form and with the printed one, which has no cap (E07).

    References
    ----------
    BCC17 Sec. 7; Buckley & Voorhees, SIGIR 2004.
    """
    apart, printed, smallest = [], [], []
    for ranks, values in zip(ranked, found, strict=True):
        above = ranks.above
        as_printed = _preference(above, capped=False)
        apart.append(_apart(values["bpref"], _preference(above, capped=True)))
        printed.append(_apart(as_printed, values["bpref"]))
        smallest.append(float(np.nanmin(as_printed, initial=1.0)))
    others = ranked[0].above.n_others
    n_values = _n_values(found, "bpref")
    return [
        Check(_BPREF, "printed", "|printed form - bpref|", n_values, largest(printed)),
        Check(_BPREF, "smallest", "smallest value by the printed form", n_values, min(smallest)),
        Check(_BPREF, "capped", "|bpref - counted value|", n_values, largest(apart)),
        Check(
            _BPREF,
            "negatives",
            "users whose judged non-relevant items are others",
            len(others),
            int((others != non_relevant).sum()),
        ),
    ]


def _inferred(above: Above, *, itself: int = 0) -> FloatArray:
    relevant = above.relevant + itself
    share = (relevant + INFAP_EPSILON) / (relevant + above.others + 2 * INFAP_EPSILON)
    return np.where(above.rank == 1, 1.0, (1 + (above.rank - 1) * share) / above.rank)


def check_inferred(ranked: Sequence[Ranked], found: Sequence[Values]) -> list[Check]:
    """Compare infAP with the cited form and with the printed one (E08).

    References
    ----------
    BCC17 Sec. 7; Yilmaz & Aslam, CIKM 2006.
    """
    apart, printed, itself, judged, pooled, first = [], [], [], [], [], []
    n_values = _n_values(found, "infAP(pool=all)")
    for ranks, values in zip(ranked, found, strict=True):
        above = ranks.above
        whole = values["infAP(pool=all)"]
        apart.append(_apart(whole, above.mean(_inferred(above))))
        itself.append(_apart(whole, above.mean(_inferred(above, itself=1))))
        share = (above.relevant + 1) / (above.relevant + 1 + above.others)
        terms = (1 + (above.rank - 1) * share) / above.rank
        printed.append(_apart(whole, above.mean(np.where(above.rank > 1, terms, np.nan))))
        first.append(np.sum(above.rank == 1))
        judged.append(_apart(*(values[f"condensed {text}"] for text in CONDENSED)))
        pooled.append(np.nanmean(whole - values["infAP(pool=100)"]))
    return [
        Check(_INFAP, "printed", "|printed form - infAP|", n_values, largest(printed)),
        Check(_INFAP, "first-rank", "relevant items at rank 1", n_values, int(max(first))),
        Check(_INFAP, "itself", "infAP, an item above itself - infAP", n_values, largest(itself)),
        Check(_INFAP, "counted", "|infAP - counted value|", n_values, largest(apart)),
        Check(_INFAP, "all-judged", "|infAP - AP| of judged items", n_values, largest(judged)),
        Check(_INFAP, "pool", "infAP with all pooled - 100 places", n_values, largest(pooled)),
    ]


def check_stratified(
    ranked: Sequence[Ranked],
    found: Sequence[Values],
    likes: IntArray,
    weights: Mapping[float, FloatArray],
    *,
    cutoff: int,
) -> list[Check]:
    """Compare stratified recall with weights that are added up item by item.

    References
    ----------
    BCC17 Sec. 7; Steck, RecSys 2011.
    """
    ratio, recall, linear = [], [], []
    n_values = _n_values(found, "SR(gamma=1)@n")
    penalty = np.maximum(likes, 1).astype(np.float64)
    for ranks, values in zip(ranked, found, strict=True):
        counted = _shares(ranks, 1 / np.sqrt(penalty), cutoff)
        ratio.append(_apart(values["SR(gamma=1)@n"], counted))
        recall.append(_apart(values["SR(gamma=0)@n"], values["R@n"]))
        counted = _shares(ranks, 1 / penalty, cutoff)
        linear += [_apart(values[text], counted) for text in ("SR(gamma=inf)@n", LIMIT)]
    tested = ranked[0].joint.item[ranked[0].liked]
    head = np.isin(tested, np.argsort(-likes, kind="stable")[: -(-len(likes) // 10)])
    held = [
        float(item_weights[tested[head]].sum() / item_weights[tested].sum())
        for item_weights in weights.values()
    ]
    falls = [before - after for before, after in pairwise(held)]
    return [
        Check(_SR, "ratio", "|SR - ratio of weights|", n_values, largest(ratio)),
        Check(_SR, "recall", "|SR with gamma 0 - R|", n_values, largest(recall)),
        Check(_SR, "linear", "|SR with gamma infinite - ratio of 1/|PR(i)||", n_values,
              largest(linear)),
        Check(_SR, "aggressive", "weight that the head loses from gamma to gamma", len(falls),
              min(falls)),
    ]  # fmt: skip


def _shares(ranks: Ranked, weights: FloatArray, cutoff: int) -> FloatArray:
    table, liked = ranks.joint, ranks.liked
    top = liked & (table.rank >= 1) & (table.rank <= cutoff)
    hit, total = np.zeros(table.n_users), np.zeros(table.n_users)
    np.add.at(hit, table.user[top], weights[table.item[top]])
    np.add.at(total, table.user[liked], weights[table.item[liked]])
    return np.divide(hit, total, out=np.full(table.n_users, np.nan), where=total > 0)


def check_scored_runs(ranked: Sequence[Ranked], bpref: Sequence[FloatArray]) -> list[Check]:
    """Check that bpref of a 1R run whose item has a score is 1 (BCC17 Sec. 7)."""
    scored = np.concatenate([ranks.runs.rank > 0 for ranks in ranked])
    off = np.abs(np.concatenate(bpref) - 1)[scored]
    return [Check(_RUNS, "scored-runs", "|bpref - 1| of runs with a score", len(off), largest(off))]


def check_judged_runs(ranked: Sequence[Ranked], bpref: Sequence[FloatArray]) -> list[Check]:
    """Tell how many 1R runs have another bpref, and what it would be with what is judged there."""
    # With one relevant item the cap is 1: any judged non-relevant item above it takes all.
    means = [float(np.mean(ranks.above.others == 0)) for ranks in ranked]
    other = np.abs(np.concatenate(bpref) - 1) > _ROUNDING
    return [
        Check(_RUNS, "kept", "largest - smallest mean bpref of runs", len(other),
              max(means) - min(means)),
        Check(_RUNS, "all-runs", "share of runs whose bpref is not 1", len(other),
              float(np.mean(other))),
    ]  # fmt: skip


def gap_losses(each: Ranked, *, cutoff: int, size: int) -> tuple[float, float]:
    r"""Tell what share of its precision a system is expected to lose without a fifth of its scores.

    References
    ----------
    BCC17 Sec. 3.1 on gaps in coverage.
    """
    stays = 1 - GAP
    above = each.above
    hits = stays * scipy.stats.binom.cdf(cutoff - 1, above.rank - 1, stays)
    n_hits = np.sum(above.rank <= cutoff)
    joint = float(hits.sum() / n_hits) if n_hits else np.nan
    pool = each.runs.n_targets.astype(np.int64) - 1
    before = np.maximum(each.runs.rank.astype(np.int64) - 1, 0)
    draws = np.minimum(size - 1, pool)
    worth = stays * scipy.stats.binom.cdf(cutoff - 1, np.arange(size), stays)
    hit = np.where(each.runs.rank > 0, hypergeometric_mean(worth, pool, before, draws), 0.0)
    whole = cutoff * expected_hit(each.runs, "P", cutoff, size)
    return 1 - joint, 1 - float(hit.sum() / whole.sum()) if whole.any() else np.nan


def check_coverage(ranked: Sequence[Ranked], found: Sequence[Values]) -> list[Check]:
    """Check what a missing score does to bpref and to 1R (BCC17 Sec. 3.1 and 7)."""
    apart, missed = [], []
    complete = np.ones(ranked[0].joint.n_users, dtype=bool)
    for ranks, values in zip(ranked, found, strict=True):
        share = ranks.above.mean(np.ones(len(ranks.above.rank)))
        apart.append(_apart(values["positive bpref"], share))
        in_runs = values["runs P@n|t=T"][ranks.runs.rank == 0]
        missed.append(max(largest(values["missed bpref"]), largest(in_runs)))
        complete &= share == 1
    spread = np.array([values["positive bpref"][complete] for values in found])
    n_values, what = _n_values(found, "positive bpref"), "|bpref - share with a score|"
    return [
        Check(_ALL_POSITIVE, "coverage", what, n_values, largest(apart)),
        Check(_ALL_POSITIVE, "explained", "largest - smallest bpref over systems",
              int(complete.sum()), largest(np.ptp(spread, axis=0))),
        Check(_COVERAGE, "coverage", what, n_values, largest(apart)),
        Check(_COVERAGE, "missed", "what an item without a score adds", len(missed), max(missed)),
    ]  # fmt: skip


def check_gaps(ranked: Sequence[Ranked], losses: Sequence[tuple[float, float]]) -> list[Check]:
    """Tell who has scores missing, and what a fifth of them costs (BCC17 Sec. 3.1 and 7)."""
    scored = [
        len(ranks.above.rank) / max(ranks.above.n_relevant.sum(), 1)
        for ranks in ranked
        if ranks.system.algorithm in ("Random", "Popularity")
    ]
    filtering = [ranks.joint for ranks in ranked if ranks.personalised]
    missing = [1 - table.n_scored.sum() / max(table.n_targets.sum(), 1) for table in filtering]
    more = [runs - joint for joint, runs in losses]
    return [
        Check(_ALL_POSITIVE, "baselines", "smallest share with a score", len(scored),
              min(scored, default=np.nan)),
        Check(_COVERAGE, "gaps", "smallest loss in 1R - loss in AR", len(more), min(more)),
        Check(_COVERAGE, "median-gaps", "median loss in 1R - loss in AR", len(more),
              float(np.median(more))),
        Check(_COVERAGE, "with-gaps", "share of systems with pairs without a score", len(missing),
              float(np.mean(np.array(missing) > 0))),
        Check(_COVERAGE, "median-missing", "median share of pairs without a score", len(missing),
              float(np.median(missing))),
    ]  # fmt: skip


def _apart(left: FloatArray, right: FloatArray) -> float:
    """Give the largest difference of users who have both values; infinite if none has."""
    both = ~np.isnan(left) & ~np.isnan(right)
    return largest((left - right)[both]) if both.any() else np.inf


def _n_values(values_of_systems: Sequence[Values], name: str) -> int:
    return int(sum(np.sum(~np.isnan(values[name])) for values in values_of_systems))


def incomplete_identities(
    dataset: Dataset, grid: Grid, *, min_rating: float, cutoff: int, size: int
) -> list[Check]:
    """Check metrics for incomplete judgments against what is counted in the ranks of systems."""
    ranked = list(ranked_systems(grid, dataset, min_rating))
    ratings, test = dataset.ratings, dataset_splits(dataset, grid.split, seed=grid.seed)[0].test
    likes = np.bincount(ratings.item[ratings.value >= min_rating], minlength=ratings.n_items)
    non_relevant = np.bincount(test.user[test.value < min_rating], minlength=test.n_users)
    values = [measured_values(ranks, likes, cutoff=cutoff, size=size) for ranks in ranked]
    weights = {gamma: stratified_weights(likes, gamma) for gamma in GAMMAS}
    return [
        *check_preference(ranked, values, non_relevant),
        *check_inferred(ranked, values),
        *check_stratified(ranked, values, likes, weights, cutoff=cutoff),
        *check_scored_runs(ranked, [each["runs bpref"] for each in values]),
        *check_coverage(ranked, values),
    ]


def incomplete_checks(
    dataset: Dataset, grid: Grid, *, min_rating: float, cutoff: int, size: int
) -> list[Check]:
    """Tell on data what judgments of runs and missing scores come to."""
    ranked = list(ranked_systems(grid, dataset, min_rating))
    metrics = [parse_metric("bpref")]
    bpref = [measure(each.runs, metrics, min_rating=min_rating)[0] for each in ranked]
    losses = [
        gap_losses(each, cutoff=cutoff, size=size)
        for each in ranked
        if each.system.algorithm != "Random"
    ]
    return [*check_judged_runs(ranked, bpref), *check_gaps(ranked, losses)]
