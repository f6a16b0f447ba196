"""Target sets: which items are ranked for a user, the choice that the papers vary.

option     code         meaning
========== ============ ==============================================================
candidates ``AI``       every item of the catalogue
..         ``TI``       every item with any test rating, of whatever user and value
relevant   ``AR``       one target set per user, with all relevant test items
..         ``1R``       one target set per relevant test item (a *run*), with that item only
..         ``P1R``      as 1R, within the popularity percentile of that item
others     ``AN``       every candidate that is neither in training nor relevant in test
..         ``NN``       a sample of those, of fixed size: all subsets have the same chance
..         ``drawn=``   with NN: how else; ``popularity`` draws by the number of training ratings
..         ``+train``   with AN: the user's own training items stay in, as a control
========== ============ ==============================================================
=======
A target-set rule joins three options (BCC17 Sec. 3.1, Table 3), whose codes :data:`CODES` explains:
candidates, others and relevant items. With ``+train``, behind AN, the user's own training items
stay in, as a control.

Test items that the user rated below the threshold count as non-relevant, like unrated ones
(BCC17 Sec. 3): they may be ranked, and a sample may draw them.

A sample is another question than all items, and its order of systems another one, however often it
is drawn (chapter 2). Drawn by popularity it is further away: a system is asked to tell the relevant
item from popular ones, so that one that lists what is popular loses, and one that avoids it gains,
whatever users like. No closed form undoes it here, as ``P@10|t=100`` does for equal chances.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from recbias.data.ratings import COUNT, Ratings
from recbias.errors import ConfigError, unknown_name
from recbias.protocol.relevance import relevant
from recbias.protocol.splits import Split

__all__ = [
    "CODES",
    "ItemGroups",
    "TargetRule",
    "Targets",
    "all_targets",
    "candidate_items",
    "n_all_targets",
    "non_relevant_targets",
    "popularity_groups",
    "read_groups",
]

CODES: Mapping[str, Mapping[str, str]] = {
    "candidates": {
        "AI": "every item of the catalogue",
        "TI": "every item with any test rating, of whatever user and value",
    },
    "others": {
        "AN": "every candidate that is neither in training nor relevant in test",
        "NN": "a sample of those, of fixed size; with drawn=popularity, by training ratings",
    },
    "relevant": {
        "AR": "one target set per user, with all relevant test items",
        "1R": "one target set per relevant test item (a run), with that item only",
        "1R-shared": "as 1R, with one sample for all runs of a user",
        "P1R": "as 1R, within the popularity percentile of that item",
    },
}
"""What each code of a target-set rule means, by option, in the order in which they are written."""

_PATTERN = re.compile(
    r"(?P<candidates>AI|TI)-(?P<others>AN|NN)-(?P<relevant>AR|1R-shared|1R|P1R)"
    rf"(?: (?P<size>[tNm])=(?P<number>{COUNT}))?(?: drawn=(?P<drawn>\S+))?(?P<train> \+train)?"
)
DRAWN = ("uniform", "popularity")
"""How the items of a sample may be drawn."""
MOST_GROUPS = 1000
"""So many numbers per test rating are kept at most."""

_GROUPS = re.compile(r"popularity (?P<number>[1-9]\d*)")


@dataclass(frozen=True)
class TargetRule:
    """How target sets are formed: candidates x non-relevant x relevant items.

    Parameters
    ----------
    candidates
        ``"AI"`` or ``"TI"``.
    others
        ``"AN"`` (all non-relevant candidates) or ``"NN"`` (a sample of them).
    relevant
        ``"AR"``, ``"1R"`` (a sample of its own for every run), ``"1R-shared"`` (one sample per
        user, used by all runs of that user, as the lemma of BCC17 Sec. 3.4 presumes) or ``"P1R"``
        (a run holds items of the relevant item's popularity percentile only).
    n_sampled
        Number of sampled non-relevant items; given for ``NN`` only. A pool that holds fewer is
        used whole.
    n_groups
        Number of popularity percentiles; given for ``P1R`` only.
    with_train
        Leave the user's own training items in the target sets: the control of erratum E05.
    drawn
        How a sample is drawn, without replacement: ``"uniform"``, or one item after the other in
        proportion to its number of training ratings (``"popularity"``). Items without any come
        last then, with equal chance.

    Raises
    ------
    ConfigError
        For an unknown code, a sample size without ``NN``, ``NN`` without a positive size, ``P1R``
        without a number of percentiles or sampled, training items left in a sample or percentile,
        a way of drawing without ``NN``.

    See Also
    --------
    recbias.protocol.protocol.Protocol : a rule together with relevance and population.

    References
    ----------
    BCC17 Sec. 3.1 and Table 3.

    Examples
    --------
    >>> rule = TargetRule.parse("TI-NN-1R t=100")
    >>> rule.n_sampled, str(rule)
    (99, 'TI-NN-1R t=100')
    >>> str(TargetRule("TI", "NN", "AR", 1700))
    'TI-NN-AR N=1700'
    >>> TargetRule.parse("TI-NN-1R t=100 drawn=popularity").drawn
    'popularity'
    """

    candidates: Literal["AI", "TI"]
    others: Literal["AN", "NN"]
    relevant: Literal["AR", "1R", "1R-shared", "P1R"]
    n_sampled: int | None = None
    n_groups: int | None = None
    with_train: bool = False
    drawn: Literal["uniform", "popularity"] = "uniform"

    def __post_init__(self) -> None:
        for option, valid in CODES.items():
            value = getattr(self, option)
            if value not in valid:
                raise ConfigError(f"unknown target-set option {value!r}: one of {', '.join(valid)}")
        if self.others == "AN" and self.n_sampled is not None:
            raise ConfigError("AN ranks all non-relevant items: give no sample size, or use NN")
        if self.others == "NN" and (self.n_sampled is None or self.n_sampled < 1):
            raise ConfigError(
                f"NN needs a sample size of at least 1, got {self.n_sampled}: "
                "write 'TI-NN-1R t=100' or 'TI-NN-AR N=1700'"
            )
        if self.others == "AN" and self.relevant == "1R-shared":
            raise ConfigError("with AN all runs share the same items already: write AN-1R")
        if (self.relevant == "P1R") != (self.n_groups is not None and self.n_groups >= 1):
            raise ConfigError(
                f"P1R, and it alone, needs a number of percentiles, got {self.n_groups}: "
                "write 'TI-AN-P1R m=10'"
            )
        if self.relevant == "P1R" and self.others == "NN":
            raise ConfigError("P1R is known in expectation: write AN-P1R, and P@10|t=100")
        if self.drawn not in DRAWN:
            raise unknown_name("way to draw a sample", self.drawn, DRAWN)
        if self.drawn != "uniform" and self.others == "AN":
            raise ConfigError(f"AN ranks all non-relevant items: drawn={self.drawn} is for NN")
        if self.with_train and (self.others == "NN" or self.relevant == "P1R"):
            raise ConfigError("+train leaves training items in a whole pool: write AN-AR or AN-1R")

    @classmethod
    def parse(cls, text: str) -> TargetRule:
        """Read a rule as it prints, e.g. ``"TI-AN-AR"`` or ``"TI-NN-1R t=100"``."""
        match = _PATTERN.fullmatch(text.strip())
        if uniform := re.search(r"\bU(1R|AR)\b", text):
            raise ConfigError(
                f"cannot read target-set rule {text!r}: U{uniform[1]} is {uniform[1]} on a test "
                f"with equally many ratings of each item\n"
                f"write 'TI-AN-{uniform[1]}', and the split 'uniform 0.2'"
            )
        if match is None:
            raise ConfigError(
                f"cannot read target-set rule {text!r}: expected candidates-others-relevant, "
                "such as 'TI-AN-AR', 'TI-NN-AR N=1700', 'TI-NN-1R t=100', 'TI-NN-1R-shared t=100' "
                "or 'TI-AN-P1R m=10'"
            )
        unit = {"AR": "N", "P1R": "m"}.get(match["relevant"], "t")
        if match["size"] not in (None, unit):
            raise ConfigError(
                f"{text!r}: 1R states the size of a target set, t=; AR the sample size, N=; "
                "P1R the number of percentiles, m="
            )
        number = None if match["number"] is None else int(match["number"])
        return cls(
            match["candidates"],  # type: ignore[arg-type]
            match["others"],  # type: ignore[arg-type]
            match["relevant"],  # type: ignore[arg-type]
            None if number is None or unit == "m" else number - (unit == "t"),
            number if unit == "m" else None,
            match["train"] is not None,
            match["drawn"] or "uniform",  # type: ignore[arg-type]
        )

    @property
    def per_run(self) -> bool:
        """Whether each relevant test item has a target set of its own."""
        return self.relevant != "AR"

    @property
    def needs_relevance(self) -> bool:
        """Whether the target sets change with the relevance threshold."""
        return self.per_run or self.others == "NN"

    def __str__(self) -> str:
        size = ""
        if self.n_sampled is not None:
            size = f" t={self.n_sampled + 1}" if self.per_run else f" N={self.n_sampled}"
        elif self.n_groups is not None:
            size = f" m={self.n_groups}"
        drawn = "" if self.drawn == "uniform" else f" drawn={self.drawn}"
        train = " +train" if self.with_train else ""
        return f"{self.candidates}-{self.others}-{self.relevant}{size}{drawn}{train}"


class Targets(NamedTuple):
    """A rule with the threshold it needs: what :func:`recbias.ranking.rank` is asked for.

    ``min_rating`` is None for ``AN-AR``, whose target sets hold every test item and serve every
    threshold.
    """

    rule: TargetRule
    min_rating: float | None = None


@dataclass(frozen=True, eq=False)
class ItemGroups:
    """A label for every item, by which a pass over the scores counts.

    Parameters
    ----------
    labels : ndarray of int16, shape (n_items,)
        Group of each item, from 0.
    n_groups
        How many groups there are; some may be empty.

    Raises
    ------
    ConfigError
        If a label is outside 0 to ``n_groups - 1``.

    See Also
    --------
    popularity_groups
    """

    labels: npt.NDArray[np.int16]
    n_groups: int

    def __post_init__(self) -> None:
        if len(self.labels) and not 0 <= self.labels.min() <= self.labels.max() < self.n_groups:
            raise ConfigError(f"item groups: expected labels from 0 to {self.n_groups - 1}")

    def merged(self, n_groups: int) -> ItemGroups:
        """Join neighbouring groups into fewer.

        Parameters
        ----------
        n_groups
            A divisor of the number of groups.

        Raises
        ------
        ConfigError
            If it is none: the counts that were kept cannot tell, and ranking has to be repeated
            with other groups.

        Examples
        --------
        >>> ItemGroups(np.array([0, 1, 2, 3], np.int16), 4).merged(2).labels.tolist()
        [0, 0, 1, 1]
        """
        if n_groups < 1 or self.n_groups % n_groups:
            raise ConfigError(
                f"{n_groups} item groups cannot be told from {self.n_groups} that were counted: "
                f"rank with groups 'popularity {n_groups}'"
            )
        step = self.n_groups // n_groups
        return ItemGroups((self.labels // step).astype(np.int16), n_groups)

    def segments(self, inside: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
        """Return each item's segment: its group inside a set of items, or behind them outside."""
        outside = np.ones(len(self.labels), dtype=np.int64)
        outside[inside] = 0
        return self.labels + self.n_groups * outside


def popularity_groups(train: Ratings, n_groups: int) -> ItemGroups:
    """Cut the items into groups of equal number by training popularity.

    Parameters
    ----------
    train
        Training ratings; all count, liked or not.
    n_groups
        Number of groups. Group 0 holds the most popular items.

    Returns
    -------
    ItemGroups
        Equally popular items are in the order of their numbers, so that groups differ by one item
        at most.

    References
    ----------
    BCC17 Sec. 6.1.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"user_id": [1, 2, 1], "item_id": ["b", "b", "a"], "rating": 1.0})
    >>> popularity_groups(Ratings.from_frame(frame), 2).labels.tolist()
    [1, 0]
    """
    n_items = train.n_items
    order = np.argsort(-train.item_counts(), kind="stable")
    labels = np.empty(n_items, dtype=np.int16)
    labels[order] = np.arange(n_items) * n_groups // max(n_items, 1)
    return ItemGroups(labels, n_groups)


def read_groups(text: str) -> int:
    """Read how items are grouped: the number in ``"popularity 10"``.

    Raises
    ------
    ConfigError
        For any other text.
    """
    match = _GROUPS.fullmatch(text.strip())
    if match is None or int(match["number"]) > MOST_GROUPS:
        raise ConfigError(
            f"item groups {text!r}: expected a number of groups up to {MOST_GROUPS}, as "
            "'popularity 10'"
        )
    return int(match["number"])


def candidate_items(split: Split, candidates: Literal["AI", "TI"]) -> npt.NDArray[np.int32]:
    """Candidate set C of the split: the whole catalogue (AI) or the items with a test rating (TI).

    Parameters
    ----------
    split
        Its ``test_items`` are TI; a thinned split keeps those of the full test set.
    candidates
        ``"AI"`` or ``"TI"``.

    Returns
    -------
    ndarray of int32, sorted

    References
    ----------
    BCC17 Sec. 3.1.
    """
    if candidates == "AI":
        return np.arange(split.train.n_items, dtype=np.int32)
    return split.test_items


def n_all_targets(split: Split, candidates: Literal["AI", "TI"]) -> npt.NDArray[np.int64]:
    """Size of every user's AN-AR target set, users without test ratings included.

    Parameters
    ----------
    split
        Split of a dataset.
    candidates
        ``"AI"`` or ``"TI"``.

    Returns
    -------
    ndarray of int64, shape (n_users,)
        The number of candidates outside the user's training items.

    References
    ----------
    BCC17 Table 2.
    """
    is_candidate = np.zeros(split.train.n_items, dtype=bool)
    is_candidate[candidate_items(split, candidates)] = True
    taken = np.concatenate([[0], np.cumsum(is_candidate[split.train.item])])
    return int(is_candidate.sum()) - np.diff(taken[split.train.indptr])


def all_targets(split: Split, candidates: Literal["AI", "TI"], user: int) -> npt.NDArray[np.int32]:
    """Items of one user's AN-AR target set: every candidate that is not in training.

    Parameters
    ----------
    split
        Split of a dataset.
    candidates
        ``"AI"`` or ``"TI"``.
    user
        Dense user number.

    Returns
    -------
    ndarray of int32, sorted

    References
    ----------
    BCC17 Sec. 3.1.
    """
    train = split.train
    rows = slice(train.indptr[user], train.indptr[user + 1])
    return np.setdiff1d(candidate_items(split, candidates), train.item[rows], assume_unique=True)


def non_relevant_targets(
    split: Split, candidates: Literal["AI", "TI"], user: int, *, min_rating: float
) -> npt.NDArray[np.int32]:
    """Pool N_u of one user: candidates neither in training nor relevant in test.

    Parameters
    ----------
    split
        Split of a dataset.
    candidates
        ``"AI"`` or ``"TI"``.
    user
        Dense user number.
    min_rating
        Smallest rating that is relevant.

    Returns
    -------
    ndarray of int32, sorted
        Test items rated below ``min_rating`` belong to it.

    References
    ----------
    BCC17 Sec. 3.1.
    """
    test = split.test
    rows = slice(test.indptr[user], test.indptr[user + 1])
    positives = test.item[rows][relevant(test.value[rows], min_rating)]
    return np.setdiff1d(all_targets(split, candidates, user), positives, assume_unique=True)
