"""Short random lists and the formulas of CCM20 in plain loops, against which metrics are tried."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log2

import numpy as np
import numpy.typing as npt

from recbias.metrics import measure, parse_metric
from recbias.ranking.tables import RankTable

STARS = (1, 2, 3, 4, 5)

_N_ITEMS = 20


@dataclass(frozen=True)
class Session:
    """A user: the list that a system returns, best first, and the test ratings by item."""

    listed: tuple[int, ...]
    ratings: Mapping[int, int]

    @property
    def condensed(self) -> tuple[int, ...]:
        """The list without items that have no test rating."""
        return tuple(item for item in self.listed if item in self.ratings)


def random_sessions(n: int, rng: np.random.Generator, *, length: int = 12) -> Iterator[Session]:
    """Draw users with lists of 0 to `length` of 20 items, and 0 to 8 test ratings."""
    for _ in range(n):
        listed = rng.permutation(_N_ITEMS)[: rng.integers(length + 1)]
        rated = rng.permutation(_N_ITEMS)[: rng.integers(9)]
        stars = rng.integers(1, 6, len(rated))
        yield Session(
            tuple(listed.tolist()), dict(zip(rated.tolist(), stars.tolist(), strict=True))
        )


def table_of(sessions: Sequence[Session]) -> RankTable:
    """Write users as the table of ranks that metrics are measured from."""
    rows = [
        (user, item, stars, _place(session.listed, item), _place(session.condensed, item))
        for user, session in enumerate(sessions)
        for item, stars in sorted(session.ratings.items())
    ]
    user, item, value, rank, condensed = (
        np.array([row[place] for row in rows]) for place in range(5)
    ) if rows else (np.empty(0),) * 5  # fmt: skip
    lengths = np.array([len(session.listed) for session in sessions], dtype=np.int32)
    return RankTable(
        "user",
        len(sessions),
        user.astype(np.int32),
        item.astype(np.int32),
        value.astype(np.float64),
        rank.astype(np.int32),
        condensed.astype(np.int32),
        np.full(len(sessions), _N_ITEMS, dtype=np.int32),
        lengths,
    )


def _place(items: Sequence[int], item: int) -> int:
    return items.index(item) + 1 if item in items else 0


def measured(
    sessions: Sequence[Session], *metrics: str, condensed: bool = False
) -> npt.NDArray[np.float64]:
    """Measure users by the package's metrics, with likes of 4 stars or more.

    Examples
    --------
    The list x, b, c, a; test ratings of a, b, c and d, which is not returned.

    >>> user = Session((9, 1, 2, 0), {0: 5, 1: 4, 2: 2, 3: 3})
    >>> print(measured([user], "nDCG@3", "nDCG(exp)@3", "RBP(0.5)").round(6).ravel())
    [0.386853 0.235054 0.3125  ]
    """
    return measure(
        table_of(sessions),
        [parse_metric(text) for text in metrics],
        min_rating=4,
        condensed=condensed,
        rating_max=5,
    )


# -- formulas --------------------------------------------------------------------------------------


def binary(stars: int) -> float:
    """Map stars to gains by the g1 of CCM20."""
    return 1.0 if stars >= 4 else 0.0


def graded(stars: int) -> float:
    """Map stars to gains by the g2 of CCM20."""
    return (2 ** (stars - 1) - 1) / (2**4 - 1)


def err_style(stars: int) -> float:
    """Map stars to gains by the other map of CCM20, whose top is below 1."""
    return float((2 ** (stars - 1) - 1) / 2**4)


GAINS = {"binary": binary, "exp": graded, "err": err_style}


def plain_precision(listed: Sequence[int], ratings: Mapping[int, int], depth: int) -> float:
    """Divide the likes among the first places by their number."""
    hits = 0
    for item in listed[:depth]:
        if item in ratings and ratings[item] >= 4:
            hits += 1
    return hits / depth


def plain_ndcg(listed: Sequence[int], ratings: Mapping[int, int], depth: int, gain: str) -> float:
    """Divide discounted gain by that of the best possible list; NaN if nothing has a gain."""
    worth = GAINS[gain]
    total, best = 0.0, 0.0
    for place, item in enumerate(listed[:depth], start=1):
        if item in ratings:
            total += worth(ratings[item]) / log2(place + 1)
    ideal = sorted((worth(stars) for stars in ratings.values()), reverse=True)
    for place, value in enumerate(ideal[:depth], start=1):
        best += value / log2(place + 1)
    return total / best if best else float("nan")


def plain_persistent(
    listed: Sequence[int], ratings: Mapping[int, int], phi: float, gain: str
) -> float:
    """Sum gains, discounted by persistence."""
    total = 0.0
    for place, item in enumerate(listed):
        if item in ratings:
            total += GAINS[gain](ratings[item]) * phi**place
    return (1 - phi) * total


def plain_residual(listed: Sequence[int], ratings: Mapping[int, int], phi: float) -> float:
    """Tell by how much rank-biased precision could rise."""
    total = phi ** len(listed)
    for place, item in enumerate(listed):
        if item not in ratings:
            total += (1 - phi) * phi**place
    return float(total)


def plain_tau(condensed: Sequence[int], ratings: Mapping[int, int]) -> float:
    """Compute Kendall's tau-b of a list and its ratings; NaN if one of both has no order."""
    agree = differ = ties = pairs = 0
    for first in range(len(condensed)):
        for second in range(first + 1, len(condensed)):
            a, b = ratings[condensed[first]], ratings[condensed[second]]
            pairs += 1
            agree += a > b
            differ += a < b
            ties += a == b
    if pairs == ties:
        return float("nan")
    return float((agree - differ) / (pairs * (pairs - ties)) ** 0.5)


def plain_overlap(
    condensed: Sequence[int], ratings: Mapping[int, int], phi: float, *, truncated: bool = False
) -> float:
    """Compute the overlap of a list with its ideal order, ties in the order of the list."""
    if not condensed:
        return float("nan")
    ideal = sorted(condensed, key=lambda item: (-ratings[item], condensed.index(item)))
    total = 0.0
    for depth in range(1, len(condensed) + 1):
        common = len(set(condensed[:depth]) & set(ideal[:depth]))
        total += (1 - phi) * phi ** (depth - 1) * common / depth
    return total if truncated else total + phi ** len(condensed)
