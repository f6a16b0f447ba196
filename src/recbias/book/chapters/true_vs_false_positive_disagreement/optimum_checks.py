"""What chapter 5 checks of Eqs. 1-4 of MCCRS20: scores, their factors, the split, popularity.

Scores are those of the recommenders, and counts are taken apart from them. Every check takes what
it judges as an argument.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numba as nb
import numpy as np
import numpy.typing as npt
import scipy  # its parts are loaded when they are first used: `stats` takes long

from recbias._system.streams import stream
from recbias.book.chapters.true_vs_false_positive_disagreement.pairs import item_judgments
from recbias.book.chapters.true_vs_false_positive_disagreement.small_worlds import (
    MIN_RATING,
    dense_ratings,
    small_world_checks,
)
from recbias.book.chapters.true_vs_false_positive_disagreement.variables import pairs_of
from recbias.claims.checks import Check, joined_checks
from recbias.data.ratings import Ratings
from recbias.experiment.cells import rank_split
from recbias.metrics import measure, parse_metric
from recbias.protocol.splits import Split
from recbias.protocol.targets import TargetRule
from recbias.recommenders import Algorithm, OptimalAntiPrecision, OptimalPrecision, OracleRanking
from recbias.theory import steepness

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

N_DRAWS = 999
"""Random splits with which one is compared: the smallest p is 1/1000, which no criterion passes."""

EQ2, EQ4 = "MCCRS20-EQ2", "MCCRS20-EQ4"


@dataclass(frozen=True, eq=False)
class Items:
    """The items with a training rating: how many have them, like them, and their two scores.

    Attributes
    ----------
    n_users
        All users.
    liked, disliked : ndarray of int64
        Training ratings of each item.
    f_p, f_anti : ndarray of float64
        What Eq. 2 and Eq. 4 give it.
    """

    n_users: int
    liked: IntArray
    disliked: IntArray
    f_p: FloatArray
    f_anti: FloatArray

    @property
    def rated(self) -> IntArray:
        """Training ratings of each item."""
        return self.liked + self.disliked

    @property
    def finite(self) -> npt.NDArray[np.bool_]:
        """Which items some user lacks, so that their odds are finite."""
        return self.rated < self.n_users

    @property
    def odds(self) -> FloatArray:
        """p(train|i) / (1 - p(train|i)); infinite for an item that all users have."""
        with np.errstate(divide="ignore"):
            return self.rated / (self.n_users - self.rated)

    @property
    def share(self) -> FloatArray:
        """p(rel|train, i)."""
        return self.liked / self.rated


def items_of(train: Ratings, *, min_rating: float) -> Items:
    """Count training ratings, and score the items by Eqs. 2 and 4."""
    liked, disliked = item_judgments(train, min_rating)
    known = liked + disliked > 0
    models = (OptimalPrecision(min_rating), OptimalAntiPrecision(min_rating))
    scores = (model.fit(train).score(np.array([0]))[0][known] for model in models)
    f_p, f_anti = (values.astype(np.float64) for values in scores)
    return Items(train.n_users, liked[known], disliked[known], f_p, f_anti)


def check_scores(items: Items) -> list[Check]:
    """Compare scores with counts of ratings, in exact fractions rounded once to float32.

    References
    ----------
    MCCRS20 Eqs. 2 and 4.
    """
    checks, free = [], (items.n_users - items.rated)[items.finite].tolist()
    for claim, scores, of_item in (
        (EQ2, items.f_p, items.liked), (EQ4, -items.f_anti, items.disliked),
    ):  # fmt: skip
        counts = of_item[items.finite].tolist()
        exact = [float(Fraction(*each)) for each in zip(counts, free, strict=True)]
        off = np.count_nonzero(
            np.array(exact, np.float32) != scores[items.finite].astype(np.float32)
        )
        checks.append(Check(claim, "formula", "items with another score", len(free), float(off)))
    return checks


def check_factors(items: Items) -> list[Check]:
    """Take the scores of Eqs. 2 and 4 apart, into the odds and what is relevant.

    References
    ----------
    MCCRS20 Eqs. 2 and 4.
    """
    chosen = items.finite
    odds, share = items.odds[chosen], items.share[chosen]
    f_p, f_anti = items.f_p[chosen], items.f_anti[chosen]
    order = np.argsort(items.rated[chosen], kind="stable")
    rises = np.diff(items.rated[chosen][order]) > 0
    fails = int((np.diff(odds[order])[rises] <= 0).sum())
    factors = np.maximum(np.abs(f_p / odds - share), np.abs(f_anti / odds - (share - 1)))
    n = int(chosen.sum())
    rows = [
        ("both-forms", "largest difference",
         np.abs(-odds * (1 - share) - odds * (share - 1)).max()),
        ("odds-rise", "items with no larger odds than one that fewer users have", fails),
        ("same-odds", "largest relative difference", np.abs((f_p - f_anti) / odds - 1).max()),
        ("relevance-factor", "largest difference", factors.max()),
    ]  # fmt: skip
    return [Check(EQ4, name, what, n, float(worst)) for name, what, worst in rows]


def check_apart(split: Split) -> list[Check]:
    """Count the pairs of user and item that are on both sides of a split.

    References
    ----------
    MCCRS20 Eq. 2, the steps of its derivation.
    """
    first, second = pairs_of(split.train), pairs_of(split.test)
    both = len(np.intersect1d(first, second, assume_unique=True))
    return [Check(EQ2, "both-sides", "pairs", len(second), float(both))]


def check_sides(split: Split, rng: np.random.Generator, *, min_rating: float) -> list[Check]:
    """Test whether a rating's side of the split hangs on its item, or on its being liked.

    References
    ----------
    MCCRS20 Eq. 2, the steps of its derivation.
    """
    sides = [np.array(item_judgments(part, min_rating)) for part in (split.train, split.test)]
    in_train, in_test = (counts.sum(axis=0) for counts in sides)
    rated = in_train + in_test
    share = in_test.sum() / rated.sum()
    squares = _uneven(in_test, rated, share)
    drawn = rng.multivariate_hypergeometric(
        rated, int(in_test.sum()), size=N_DRAWS, method="marginals"
    )
    p_items = (1 + np.count_nonzero(_uneven(drawn, rated, share) >= squares)) / (1 + N_DRAWS)
    liked = sides[0][0] + sides[1][0]
    several = rated > 1
    n, k, m = (counts[several].astype(np.float64) for counts in (rated, in_test, liked))
    excess = (sides[1][0][several] - m * k / n).sum()
    variance = (m * (n - m) * k * (n - k) / (n**2 * (n - 1))).sum()
    p_liked = 2 * scipy.stats.norm.sf(abs(excess) / np.sqrt(variance)) if variance > 0 else 1.0
    return [
        Check(EQ2, "item-free", "p", int((rated > 0).sum()), float(p_items)),
        Check(EQ2, "relevance-free", "p", int(several.sum()), float(p_liked)),
    ]


def _uneven(in_test: IntArray, rated: IntArray, share: float) -> FloatArray:
    chosen = rated > 0
    unevenness: FloatArray = (
        (in_test[..., chosen] - share * rated[chosen]) ** 2 / rated[chosen]
    ).sum(axis=-1)
    return unevenness


@dataclass(frozen=True, eq=False)
class FirstPlaces:
    """What stands on top of every list, and what P@1 and antiP@1 are said to be.

    Attributes
    ----------
    split
        A fold.
    items : ndarray of int, shape (n_users,)
        On top; -1 for an empty list.
    precision, anti_precision : ndarray of float64, shape (n_users,)
        As measured.
    """

    split: Split
    items: npt.NDArray[np.integer[Any]]
    precision: FloatArray
    anti_precision: FloatArray


def first_places(model: Algorithm, split: Split, *, min_rating: float, seed: int) -> FirstPlaces:
    """Rank as an experiment does, and keep the first places."""
    positions, _ = rank_split(model, split, seed=seed)
    table = positions.table(TargetRule.parse("AI-AN-AR"))
    metrics = [parse_metric("P@1"), parse_metric("antiP@1")]
    precision, anti_precision = measure(table, metrics, min_rating=min_rating)
    return FirstPlaces(split, positions.lists("AI", 1)[:, 0], precision, anti_precision)


def check_first_places(
    found: FirstPlaces, names: Sequence[tuple[str, str]], *, min_rating: float
) -> list[Check]:
    """Look every first item up in the user's ratings.

    References
    ----------
    MCCRS20 Sec. 4, the definitions beside Eqs. 1-4.
    """
    train, test = found.split.train, found.split.test
    on_top = test.item == found.items[test.user]
    liked, disliked = np.zeros((2, test.n_users))
    liked[test.user[on_top & (test.value >= min_rating)]] = 1
    disliked[test.user[on_top & (test.value < min_rating)]] = 1
    off = (
        np.count_nonzero(found.precision != liked),
        np.count_nonzero(found.anti_precision != disliked),
        np.count_nonzero(train.item == found.items[train.user]),
    )
    return [
        Check(claim, name, "users", len(found.items), float(count))
        for (claim, name), count in zip(names, off, strict=True)
        if claim
    ]


def judged_by_all(rng: np.random.Generator, n_users: int = 60, n_items: int = 15) -> Split:
    """Make a split in which every pair outside training is judged: true values are of these."""
    stars = rng.integers(1, 6, (n_users, n_items)).astype(np.float64)
    trained = rng.random(stars.shape) < 0.4
    train, test = (
        dense_ratings(np.where(side, stars, np.nan), "judged by all")
        for side in (trained, ~trained)
    )
    return Split(train, test, np.unique(test.item), 0, "judged by all")


def check_popularity(folds: Sequence[Items]) -> list[Check]:
    """Measure how the scores of Eqs. 2 and 4 go with popularity, on the least favourable fold.

    References
    ----------
    MCCRS20 Conclusion 2.
    """
    what, checks = "Spearman's correlation", []
    for items in folds:
        rated = items.rated
        spearman = [_spearman(scores, rated) for scores in (items.f_anti, items.f_p)]
        n_pairs, higher = _against(rated, items.f_anti)
        rows = [
            ("anti-precision-and-popularity", what, len(rated), spearman[0]),
            ("popular-higher", "share of pairs", n_pairs, higher / max(n_pairs, 1)),
            ("precision-and-popularity", what, len(rated), -spearman[1]),
        ]
        checks += [Check(_C2, *row) for row in rows]
    *joined, lowest = joined_checks(checks)
    return [*joined, dataclasses.replace(lowest, worst=-lowest.worst)]


def check_one_factor(items: Items) -> list[Check]:
    """Compare items by popularity alone: with one p(rel|train), their own or that of all.

    References
    ----------
    MCCRS20 Conclusion 2.
    """
    n_equal, higher = _against(items.rated, items.f_anti, at=items.share, below=1.0)
    mean, odds, rated = items.liked.sum() / items.rated.sum(), items.odds, items.rated
    odds, rated = odds[items.finite], rated[items.finite]
    (n_pairs, against_p), (_, with_anti) = (
        _against(rated, scores, ties=True) for scores in (-odds * mean, odds * (mean - 1))
    )
    return [
        Check(_C2, "popular-higher-at-equal-relevance", "share of pairs", n_equal,
              higher / max(n_equal, 1)),
        Check(_C2, "odds-alone", "pairs", n_pairs, float(against_p + with_anti)),
    ]  # fmt: skip


def check_curves(items: Items) -> list[Check]:
    """Compare shares, odds and scores of the items with what follows from their being counts.

    References
    ----------
    MCCRS20 Sec. 4.3 and Figs. 2-4.
    """
    ranks = scipy.stats.rankdata(items.share) + scipy.stats.rankdata(items.disliked / items.rated)
    first = np.unique(items.rated[items.finite], return_index=True)[1]
    odds, rated = (each[items.finite][first] for each in (items.odds, items.rated / items.n_users))
    flatter = steepness(odds[:, None], odds) < steepness(rated[:, None], rated) - _ROUNDING
    wrong_signs = (items.f_p < 0) | (items.f_anti > 0)
    n_items, n_pairs = len(ranks), len(odds) * (len(odds) - 1) // 2
    return [
        Check("MCCRS20-L", "shares-turned", "items with another place by the share of disliked "
              "ratings, turned round", n_items, float((ranks != n_items + 1).sum())),
        Check("MCCRS20-T1", "steeper-odds", "pairs of numbers of ratings with odds less steep than "
              "p(train)", n_pairs, float(flatter.sum() / 2)),
        Check("MCCRS20-F4", "signs", "items with f_P below 0 or f_antiP above", n_items,
              float(wrong_signs.sum())),
    ]  # fmt: skip


def _spearman(scores: FloatArray, rated: IntArray) -> float:
    """Correlate ranks; not a number where nothing varies."""
    if min(len(np.unique(scores)), len(np.unique(rated))) < 2:
        return float("nan")
    return float(scipy.stats.spearmanr(scores, rated).statistic)


def _against(
    rated: IntArray,
    scores: FloatArray,
    *,
    at: FloatArray | None = None,
    below: float = np.inf,
    ties: bool = False,
) -> tuple[int, int]:
    """Count pairs of items with different popularity, and those with the popular one higher."""
    marks = np.zeros(len(rated)) if at is None else at
    n_pairs, n_higher = _count_pairs(rated, scores, marks, below, ties)
    return int(n_pairs), int(n_higher)


@nb.njit(cache=True, nogil=True)
def _count_pairs(
    rated: IntArray, scores: FloatArray, marks: FloatArray, below: float, ties: bool
) -> tuple[int, int]:
    n_pairs, n_higher = 0, 0
    for a in range(len(rated)):
        if not marks[a] < below:
            continue
        for b in range(len(rated)):
            if rated[a] > rated[b] and marks[a] == marks[b]:
                n_pairs += 1
                n_higher += scores[a] > scores[b] or (ties and scores[a] == scores[b])
    return n_pairs, n_higher


def check_estimates(splits: Sequence[Split], *, restricted: bool, min_rating: float) -> list[Check]:
    """Compare the orders of Eqs. 1 and 3 as judgments of an unbiased test estimate them.

    References
    ----------
    MCCRS20 Conclusion 1; the authors' estimates, restricted and not.
    """
    checks, name = [], "restricted-estimates" if restricted else "unrestricted-estimates"
    for split in splits:
        judged = (split.test.item_counts() > 0) & (split.train.item_counts() > 0)
        one, three = (
            OracleRanking(split.test, metric, restricted, min_rating)
            .fit(split.train)
            .score(np.array([0]))[0][judged]
            for metric in ("P", "antiP")
        )
        n_pairs = len(one) * (len(one) - 1) // 2
        apart = sum(
            np.count_nonzero(np.sign(one[i + 1 :] - one[i]) != np.sign(three[i + 1 :] - three[i]))
            for i in range(len(one))
        )
        worst = float(apart if restricted else apart / max(n_pairs, 1))
        checks.append(Check("MCCRS20-C1", name, "pairs of items", n_pairs, worst))
    return joined_checks(checks)


def optimum_identities(fold: Split, judged: Split, *, min_rating: float, seed: int) -> list[Check]:
    """Make the checks of Eqs. 1-4 and of what follows from them: of worlds, and of a fold.

    Another split of the same data has a sample of the truth as its test.
    """
    items = items_of(fold.train, min_rating=min_rating)
    whole = judged_by_all(stream(seed, "checks", "judged by all"))
    oracle = OracleRanking(whole.test, "P", restricted=True)
    nothing = ("", "")
    tried = (
        (OptimalPrecision(min_rating), fold, (EQ2, "observed-precision"), nothing),
        (OptimalAntiPrecision(min_rating), fold, nothing, (EQ4, "observed-anti-precision")),
        (oracle, whole, ("MCCRS20-EQ1", "true-precision"), ("MCCRS20-EQ3", "true-anti-precision")),
    )
    first: list[Check] = []
    for model, split, *names in tried:
        least = min_rating if split is fold else MIN_RATING
        found = first_places(model.fit(split.train), split, min_rating=least, seed=seed)
        first += check_first_places(found, [*names, _TRAINED], min_rating=least)
    return [
        *small_world_checks(stream(seed, "checks", "small worlds")),
        *joined_checks(first),
        *check_scores(items),
        *check_factors(items),
        *check_apart(fold),
        *check_one_factor(items),
        *check_curves(items),
        *check_estimates([judged], restricted=True, min_rating=min_rating),
    ]


def optimum_checks(
    folds: Sequence[Split], unbiased: Sequence[Split], *, min_rating: float, seed: int
) -> list[Check]:
    """Make the checks of a split, of popularity, and of estimates, which hang on data."""
    items = [items_of(fold.train, min_rating=min_rating) for fold in folds]
    return [
        *check_sides(folds[0], stream(seed, "checks", "sides"), min_rating=min_rating),
        *check_popularity(items),
        *check_estimates(unbiased, restricted=False, min_rating=min_rating),
    ]


_C2, _ROUNDING = "MCCRS20-C2", 1e-12
_TRAINED = ("MCCRS20-EQ1", "training-items")
