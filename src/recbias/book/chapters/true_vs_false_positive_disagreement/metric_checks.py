"""How chapter 5 checks the definitions of its metrics, and what follows from them (MCCRS20 Sec. 3).

What is compared is counted in the lists of the systems, by set operations; metrics are the
package's. Every check takes what it judges as an argument.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from recbias.book.chapters.design_alternatives.definitions import largest
from recbias.book.chapters.true_vs_false_positive_disagreement.listed import (
    BINARY,
    Counted,
    Listed,
    Measured,
    count_lists,
    measure_lists,
    rank_table,
)
from recbias.claims.checks import Check, joined_checks
from recbias.data.ratings import Ratings
from recbias.metrics import measure, parse_metric
from recbias.ranking.tables import RankTable

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


def check_anti(found: Measured, counted: Counted, better: Mapping[str, str | None]) -> list[Check]:
    """Compare antiP and fallout with what was counted, and with flipped relevance.

    References
    ----------
    MCCRS20 Sec. 3, definitions of anti-precision and fallout.
    """
    n_users, cutoff = counted.loss.shape
    judged, in_list = counted.liked + counted.disliked, counted.disliked > 0
    negative, every = counted.all_disliked > 0, np.ones(n_users, dtype=bool)
    sums, full = (judged + counted.unjudged).clip(1), found.full
    shares = [full["P"] - counted.liked / sums, full["antiP"] - counted.disliked / sums]
    rows = [
        (_ANTI, "fraction", "|antiP of judged items - FP/(TP + FP)|", judged > 0,
         full["antiP|judged"] - counted.disliked / judged.clip(1)),
        (_ANTI, "flipped", "|antiP - P of flipped relevance|", every,
         full["antiP"] - found.turned["P"]),
        (_ANTI, "unjudged", "|P - TP/(TP + FP + U)| and the like of antiP",
         counted.listed == cutoff, np.array(shares)),
        (_FALLOUT, "fraction", "|fallout - FP/(FP + TN)|", negative,
         full["fallout"] - counted.disliked / counted.all_disliked.clip(1)),
        (_FALLOUT, "flipped", "|fallout - R of flipped relevance|", negative,
         full["fallout"] - found.turned["R"]),
    ]  # fmt: skip
    checks = [
        Check(claim, name, what, int(users.sum()), largest(apart[..., users]))
        for claim, name, what, users, apart in rows
    ]
    for claim, metric in ((_ANTI, "antiP"), (_FALLOUT, "fallout")):
        stays = found.without_one[metric][in_list] >= full[metric][in_list]
        wrong = int(stays.sum()) if better[metric] == "lower" else n_users
        what = "lists whose value does not fall when a disliked item leaves them"
        checks.append(Check(claim, "orientation", what, int(in_list.sum()), wrong))
    return checks


def check_complement(found: Measured, counted: Counted) -> list[Check]:
    """Compare P + antiP with 1, where everything is judged and where not.

    References
    ----------
    MCCRS20 Sec. 3; the authors' code divides condensed precision by tp + fp.
    """
    precision, anti = (found.condensed[name] for name in ("P|judged", "antiP|judged"))
    known = counted.tested & ~np.isnan(precision)
    adds_up = np.abs(found.full["P"] + found.full["antiP"] - 1) < _ROUNDING
    unlike = (adds_up != counted.all_judged)[counted.tested]
    slope = _slope(anti[known], precision[known])
    rows = [
        ("complement", "|P + antiP - 1| in condensed lists, divided by their judged items",
         known, largest((precision + anti - 1)[known])),
        ("slope", "|1 + slope of P on antiP over users| in condensed lists", known, abs(1 + slope)),
        ("premise", "full lists where P + antiP = 1 and all are judged do not go together",
         counted.tested, int(unlike.sum())),
    ]  # fmt: skip
    return [
        Check(_COMPLEMENT, name, what, int(users.sum()), worst) for name, what, users, worst in rows
    ]


def check_judged(found: Measured, counted: Counted) -> list[Check]:
    """Tell how many lists have nothing judged, or something that is not, and what P + antiP lacks.

    References
    ----------
    MCCRS20 Sec. 3.
    """
    tested, n_tested = counted.tested, int(counted.tested.sum())
    by_n = found.condensed["P"] + found.condensed["antiP"]
    rows = [
        (_FALLOUT, "without-dislikes", "share of tested users without disliked test item",
         float(np.mean(counted.all_disliked[tested] == 0))),
        (_COMPLEMENT, "divided-by-n", "1 - (P + antiP) in condensed lists, divided by n",
         largest((1 - by_n)[tested])),
        (_COMPLEMENT, "empty", "empty condensed lists",
         int(np.isnan(found.condensed["P|judged"][tested]).sum())),
        (_COMPLEMENT, "not-judged", "share of full lists with an unjudged item",
         float(np.mean(~counted.all_judged[tested]))),
    ]  # fmt: skip
    return [Check(claim, name, what, n_tested, worst) for claim, name, what, worst in rows]


def _slope(x: FloatArray, y: FloatArray) -> float:
    """Fit a line by least squares; not a number if all `x` are equal."""
    centred = x - x.mean() if len(x) else x
    squares = float(np.sum(centred**2))
    return float(np.sum(centred * y) / squares) if squares else np.nan


def positive_only(listed: Sequence[Listed], *, cutoff: int, min_rating: float) -> FloatArray:
    """Measure condensed lists where only liked items are known, by system, metric and user."""
    return np.array([_binary(listing.liked, cutoff, min_rating) for listing in listed])


def _binary(table: RankTable, cutoff: int, min_rating: float) -> FloatArray:
    names = [parse_metric(f"{name}@{cutoff}") for name in BINARY]
    return measure(table, names, min_rating=min_rating, condensed=True)


def check_positive_only(
    listed: Sequence[Listed], found: FloatArray, *, cutoff: int, min_rating: float
) -> list[Check]:
    """Compare systems by condensed lists where only liked items are known, user by user.

    References
    ----------
    MCCRS20 Sec. 3.
    """
    first, scored = listed[0].table, _scored_by_all(listed)
    liked = first.value >= min_rating
    some = np.bincount(first.user[liked], minlength=first.n_users) > 0
    both = np.array([_binary(listing.table, cutoff, min_rating) for listing in listed])
    n_liked = int(some.sum())
    without = float(np.mean(~scored[liked])) if liked.any() else float("nan")
    rows = [
        ("positive-only", f"{_SPREAD}; liked items known", n_liked, _spread(found[..., some])),
        ("with-dislikes", f"{_SPREAD}; all judged items known", n_liked, _spread(both[..., some])),
        ("without-score", "share of liked test items without a score", int(liked.sum()), without),
    ]
    return [Check(_POSITIVE, *row) for row in rows]


def check_covered(listed: Sequence[Listed], found: FloatArray, *, min_rating: float) -> list[Check]:
    """Compare systems in the same way, of users whose liked items all have a score by every system.

    References
    ----------
    MCCRS20 Sec. 3.
    """
    first, scored = listed[0].table, _scored_by_all(listed)
    liked = first.value >= min_rating
    n_liked, n_missing = (
        np.bincount(first.user[rows], minlength=first.n_users) for rows in (liked, liked & ~scored)
    )
    users = (n_liked > 0) & (n_missing == 0)
    what = f"{_SPREAD}; liked items known and scored"
    return [
        Check(_POSITIVE, "with-coverage", what, int(users.sum()), _spread(found[..., users])),
    ]


_SPREAD = f"largest - smallest value over the systems, of {', '.join(BINARY)}"


def _scored_by_all(listed: Sequence[Listed]) -> npt.NDArray[np.bool_]:
    return np.asarray(np.all([listing.table.rank > 0 for listing in listed], axis=0))


def _spread(values: FloatArray) -> float:
    return largest(values.max(axis=0) - values.min(axis=0))


class Session(NamedTuple):
    """Plays of a listening session in their order; whether each was skipped."""

    skipped: tuple[bool, ...]


def sessions(n_sessions: int, rng: np.random.Generator) -> list[Session]:
    """Draw sessions of 1 to 30 plays, each with a share of skips of its own."""
    return [
        Session(tuple((rng.random(rng.integers(1, 31)) < share).tolist()))
        for share in rng.random(n_sessions)
    ]


def check_skips(log: Sequence[Session]) -> list[Check]:
    """Read a skip as dislike, and compare anti-precision with skipped plays over all plays.

    References
    ----------
    MCCRS20 Sec. 3.
    """
    table = rank_table([[float(not skipped) for skipped in session.skipped] for session in log])
    plays = [len(session.skipped) for session in log]
    rate = np.array([sum(session.skipped) for session in log]) / plays
    lengths = sorted(set(plays))
    texts = [f"antiP@{max(lengths)}|judged", *(f"antiP@{length}" for length in lengths)]
    whole, *of_length = measure(table, [parse_metric(text) for text in texts], min_rating=1)
    apart = [whole - rate] + [
        np.where(np.array(plays) == length, values - rate, 0.0)
        for length, values in zip(lengths, of_length, strict=True)
    ]
    what = "|antiP of the plays of a session - skipped plays/plays|"
    return [Check("MCCRS20-C-SKIP", "skip-rate", what, len(log), largest(apart))]


def worst_order(test: Ratings, *, cutoff: int, min_rating: float) -> FloatArray:
    """Sum the discounted losses of each user's worst list: the largest first."""
    loss = np.maximum(min_rating - test.value, 0.0)
    order = np.lexsort((-loss, test.user))
    user = test.user[order]
    place = np.arange(len(user)) - np.searchsorted(user, user)
    listed = place < cutoff
    worth = loss[order][listed] / np.log2(place[listed] + 2)
    return np.bincount(user[listed], worth, minlength=test.n_users).astype(np.float64)


def check_losses(found: Measured, counted: Counted, worst: FloatArray) -> list[Check]:
    """Compare nDCL and antiRR of full lists with losses summed place by place.

    References
    ----------
    TOIS21, the authors' code.
    """
    negative = counted.all_disliked > 0
    places = np.arange(1, counted.loss.shape[1] + 1)
    ndcl = (counted.loss / np.log2(places + 1)).sum(axis=1)[negative] / worst[negative]
    is_bad = counted.loss > 0
    first = np.where(is_bad.any(axis=1), 1 / (is_bad.argmax(axis=1) + 1), 0.0)[negative]
    rows = [
        ("worst-order", "|nDCL - loss of the list/loss of its worst order|",
         found.full["nDCL"][negative] - ndcl),
        ("first-disliked", "|antiRR - 1/place of the first disliked item|",
         found.full["antiRR"][negative] - first),
    ]  # fmt: skip
    n_users = int(negative.sum())
    return [Check(_LOSS, name, what, n_users, largest(apart)) for name, what, apart in rows]


_LISTED = (None, 5, 1, None, 2, 4, 3, None, 4, 1)
_ELSEWHERE = (5, 5, 5, 4, 4, 3, 3, 3, 3, 2, 2, 1, 1)
_RANKS = ((2, 3), (5, 1), (1, 5), (4, 2))


def spreadsheet() -> dict[str, float]:
    """Measure the worked example of the authors: a list of ten, and four lists of six.

    Examples
    --------
    >>> {name: round(value, 4) for name, value in spreadsheet().items()}
    {'nDCL': 0.3234, 'nDCG': 0.2946, 'MRR': 0.4875, 'antiMRR': 0.5083}
    """
    ten = rank_table([_LISTED], elsewhere=_ELSEWHERE)
    graded = [parse_metric(text) for text in ("nDCL@10", "nDCG(steps)@10")]
    loss, gain = measure(ten, graded, min_rating=4)[:, 0]
    four = rank_table(
        [[{good: 5.0, bad: 1.0}.get(place) for place in range(1, 7)] for good, bad in _RANKS]
    )
    ranks = [parse_metric(text) for text in ("RR", "antiRR")]
    first, first_bad = measure(four, ranks, min_rating=4).mean(axis=1)
    found = {"nDCL": loss, "nDCG": gain, "MRR": first, "antiMRR": first_bad}
    return {name: float(value) for name, value in found.items()}


_PRINTED = {
    "toy-ndcl": ("nDCL", 0.32339),
    "toy-ndcg": ("nDCG", 0.29456),
    "toy-rr": ("MRR", 0.4875),
    "toy-antirr": ("antiMRR", 0.50833),
}
"""What the authors' spreadsheet toy_examples.xlsx shows (github.com/elikary/tois2021)."""


def check_spreadsheet(found: Mapping[str, float]) -> list[Check]:
    """Compare the worked example with the values of the authors' spreadsheet."""
    return [
        Check(_LOSS, name, f"|{metric} - published value|", 1, abs(found[metric] - printed))
        for name, (metric, printed) in _PRINTED.items()
    ]


_ANTI, _FALLOUT, _COMPLEMENT, _POSITIVE, _LOSS = (
    "MCCRS20-D-ANTIP",
    "MCCRS20-D-FALL",
    "MCCRS20-C-COMPL",
    "MCCRS20-C-CONDPOS",
    "TOIS21-D-NDCL",
)
_ROUNDING = 1e-9


def check_systems(
    listed: Sequence[Listed], test: Ratings, *, min_rating: float, cutoff: int
) -> list[Check]:
    """Make the checks of what holds for any lists, of all systems together."""
    better = {
        name: parse_metric(f"{name}@{cutoff}").declaration.better for name in ("antiP", "fallout")
    }
    worst = worst_order(test, cutoff=cutoff, min_rating=min_rating)
    checks: list[Check] = []
    for measured, counted in _each(listed, test, min_rating, cutoff):
        checks += check_anti(measured, counted, better)
        checks += check_complement(measured, counted)
        checks += check_losses(measured, counted, worst)
    liked = positive_only(listed, cutoff=cutoff, min_rating=min_rating)
    return [*_over_systems(checks), *check_covered(listed, liked, min_rating=min_rating)]


def check_lists(
    listed: Sequence[Listed], test: Ratings, *, min_rating: float, cutoff: int
) -> list[Check]:
    """Make the checks of what hangs on who lists and judges what, of all systems together."""
    each = _each(listed, test, min_rating, cutoff)
    checks = [check for of_system in each for check in check_judged(*of_system)]
    liked = positive_only(listed, cutoff=cutoff, min_rating=min_rating)
    return [
        *_over_systems(checks),
        *check_positive_only(listed, liked, cutoff=cutoff, min_rating=min_rating),
    ]


def _each(
    listed: Sequence[Listed], test: Ratings, min_rating: float, cutoff: int
) -> Iterator[tuple[Measured, Counted]]:
    for listing in listed:
        measured = measure_lists(listing.table, min_rating=min_rating, cutoff=cutoff)
        yield measured, count_lists(listing.lists, test, min_rating)


def _over_systems(checks: Sequence[Check]) -> list[Check]:
    """Join them: exceptions are added up, a share is averaged, and else the worst stands."""
    merged = []
    for joined in joined_checks(checks):
        alike = (each for each in checks if (each.claim, each.name) == (joined.claim, joined.name))
        values = [each.worst for each in alike]
        worst = {"not-judged": float(np.mean(values))} | dict.fromkeys(_COUNTED, sum(values))
        merged.append(dataclasses.replace(joined, worst=worst.get(joined.name, joined.worst)))
    return merged


_COUNTED = ("orientation", "premise", "empty")
