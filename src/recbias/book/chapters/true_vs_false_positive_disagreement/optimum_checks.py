"""What chapter 5 checks of Eqs. 2 and 4 of MCCRS20 on data: scores, their factors, the split.

Scores are those of the recommenders, and counts are taken apart from them. Every check takes what
it judges as an argument.
"""

from __future__ import annotations

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
    dense_ratings,
    small_world_checks,
)
from recbias.claims.checks import Check, joined_checks
from recbias.data.ratings import Ratings
from recbias.experiment.cells import rank_split
from recbias.metrics import measure, parse_metric
from recbias.protocol.splits import Split
from recbias.protocol.targets import TargetRule
from recbias.recommenders import Algorithm, OptimalAntiPrecision, OptimalPrecision, OracleRanking

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
    checks = []
    for claim, scores, counts in (
        (EQ2, items.f_p, items.liked),
        (EQ4, -items.f_anti, items.disliked),
    ):
        off = sum(
            np.float32(float(Fraction(count, items.n_users - rated))) != np.float32(score)
            for score, count, rated in zip(
                scores[items.finite].tolist(),
                counts[items.finite].tolist(),
                items.rated[items.finite].tolist(),
                strict=True,
            )
        )
        checks.append(
            Check(claim, "formula", "items with another score", int(items.finite.sum()), float(off))
        )
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
        (
            "both-forms",
            "largest difference",
            np.abs(-odds * (1 - share) - odds * (share - 1)).max(),
        ),
        ("odds-rise", "items with no larger odds than one that fewer users have", fails),
        ("same-odds", "largest relative difference", np.abs((f_p - f_anti) / odds - 1).max()),
        ("relevance-factor", "largest difference", factors.max()),
    ]
    return [Check(EQ4, name, what, n, float(worst)) for name, what, worst in rows]


def check_sides(split: Split, rng: np.random.Generator, *, min_rating: float) -> list[Check]:
    """Test whether a rating's side of the split hangs on its item, or on its being liked.

    References
    ----------
    MCCRS20 Eq. 2, the steps of its derivation.
    """
    sides = [np.array(item_judgments(part, min_rating)) for part in (split.train, split.test)]
    (in_train, in_test), n_items = (counts.sum(axis=0) for counts in sides), split.test.n_items
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
    keys = [part.user.astype(np.int64) * n_items + part.item for part in (split.train, split.test)]
    both = len(np.intersect1d(keys[0], keys[1], assume_unique=True))
    return [
        Check(EQ2, "both-sides", "pairs", len(keys[1]), float(both)),
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
    claim, checks = "MCCRS20-C2", []
    for items in folds:
        rated = items.rated
        spearman = [_spearman(scores, rated) for scores in (items.f_anti, items.f_p)]
        n_pairs, higher = _against(rated, items.f_anti)
        n_equal, higher_at_equal = _against(rated, items.f_anti, at=items.share, below=1.0)
        mean, odds = items.liked.sum() / rated.sum(), items.odds[items.finite]
        finite = rated[items.finite]
        alone = sum(
            _against(finite, sign * odds * (mean - shift), ties=True)[1]
            for sign, shift in ((-1, 0.0), (1, 1.0))
        )
        rows = [
            ("anti-precision-and-popularity", "Spearman's correlation", len(rated), spearman[0]),
            ("popular-higher", "share of pairs", n_pairs, higher / max(n_pairs, 1)),
            ("popular-higher-at-equal-relevance", "share of pairs", n_equal,
             higher_at_equal / max(n_equal, 1)),
            ("precision-and-popularity", "- Spearman's correlation", len(rated), -spearman[1]),
            ("odds-alone", "pairs", n_pairs, float(alone)),
        ]  # fmt: skip
        checks += [Check(claim, name, what, n, float(worst)) for name, what, n, worst in rows]
    joined = {check.name: check for check in joined_checks(checks)}
    lowest = joined.pop("precision-and-popularity")
    what = "Spearman's correlation"
    return [
        *joined.values(),
        Check(claim, lowest.name, what, lowest.n_checked, -lowest.worst),
    ]


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


def check_estimates(splits: Sequence[Split], *, min_rating: float) -> list[Check]:
    """Compare the orders of Eqs. 1 and 3 as judgments of an unbiased test estimate them.

    References
    ----------
    MCCRS20 Conclusion 1; the authors' estimates, restricted and not.
    """
    claim, checks = "MCCRS20-C1", []
    for split in splits:
        judged = (split.test.item_counts() > 0) & (split.train.item_counts() > 0)
        for name, restricted in (("restricted-estimates", True), ("unrestricted-estimates", False)):
            one, three = (
                OracleRanking(split.test, metric, restricted, min_rating)
                .fit(split.train)
                .score(np.array([0]))[0][judged]
                for metric in ("P", "antiP")
            )
            n_pairs = len(one) * (len(one) - 1) // 2
            apart = sum(
                np.count_nonzero(
                    np.sign(one[item + 1 :] - one[item]) != np.sign(three[item + 1 :] - three[item])
                )
                for item in range(len(one))
            )
            worst = float(apart) if restricted else apart / max(n_pairs, 1)
            checks.append(Check(claim, name, "pairs of items", n_pairs, worst))
    return joined_checks(checks)


def optimum_checks(
    folds: Sequence[Split], unbiased: Sequence[Split], *, min_rating: float, seed: int
) -> list[Check]:
    """Make all checks of Eqs. 1-4 and of the conclusions that follow from them."""
    first = folds[0]
    items = [items_of(fold.train, min_rating=min_rating) for fold in folds]
    observed = [
        check_first_places(
            first_places(model.fit(first.train), first, min_rating=min_rating, seed=seed),
            names,
            min_rating=min_rating,
        )
        for model, names in (
            (OptimalPrecision(min_rating), [(EQ2, "observed-precision"), ("", ""), _TRAINED]),
            (
                OptimalAntiPrecision(min_rating),
                [("", ""), (EQ4, "observed-anti-precision"), _TRAINED],
            ),
        )
    ]
    whole = judged_by_all(stream(seed, "checks", "judged by all"))
    oracle = OracleRanking(whole.test, "P", restricted=True).fit(whole.train)
    names = [("MCCRS20-EQ1", "true-precision"), ("MCCRS20-EQ3", "true-anti-precision"), _TRAINED]
    true = check_first_places(
        first_places(oracle, whole, min_rating=4, seed=seed), names, min_rating=4
    )
    return [
        *small_world_checks(stream(seed, "checks", "small worlds")),
        *joined_checks([*observed[0], *observed[1], *true]),
        *check_scores(items[0]),
        *check_factors(items[0]),
        *check_sides(first, stream(seed, "checks", "sides"), min_rating=min_rating),
        *check_popularity(items),
        *check_estimates(unbiased, min_rating=min_rating),
    ]


_TRAINED = ("MCCRS20-EQ1", "training-items")
