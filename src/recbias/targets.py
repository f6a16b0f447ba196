"""Target sets: which items are ranked for a user, the choice that the papers vary.

A target-set rule joins three options (BCC17 Sec. 3.1, Table 3):

========== ============ ==============================================================
option     code         meaning
========== ============ ==============================================================
candidates ``AI``       every item of the catalogue
..         ``TI``       every item with any test rating, of whatever user and value
relevant   ``AR``       one target set per user, with all relevant test items
..         ``1R``       one target set per relevant test item (a *run*), with that item only
others     ``AN``       every candidate that is neither in training nor relevant in test
..         ``NN``       a sample of those, of fixed size
========== ============ ==============================================================

Test items that the user rated below the threshold count as non-relevant, like unrated ones
(BCC17 Sec. 3): they may be ranked, and a sample may draw them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from recbias.errors import ConfigError
from recbias.relevance import relevant
from recbias.splits import Split

__all__ = [
    "TargetRule",
    "Targets",
    "all_targets",
    "candidate_items",
    "n_all_targets",
    "non_relevant_targets",
]

_PATTERN = re.compile(
    r"(?P<candidates>AI|TI)-(?P<others>AN|NN)-(?P<relevant>AR|1R-shared|1R)"
    r"(?: (?P<size>[tN])=(?P<number>\d+))?"
)


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
        ``"AR"``, ``"1R"`` (an own sample for every run) or ``"1R-shared"`` (one sample per user,
        used by all runs of that user, as the lemma of BCC17 Sec. 3.4 presumes).
    n_sampled
        Number of sampled non-relevant items; given for ``NN`` only. A pool that holds fewer is
        used whole.

    Raises
    ------
    ConfigError
        For an unknown code, a sample size without ``NN``, or ``NN`` without a positive size.

    See Also
    --------
    recbias.protocol.Protocol : a rule together with relevance and population.

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
    """

    candidates: Literal["AI", "TI"]
    others: Literal["AN", "NN"]
    relevant: Literal["AR", "1R", "1R-shared"]
    n_sampled: int | None = None

    def __post_init__(self) -> None:
        for value, valid in (
            (self.candidates, ("AI", "TI")),
            (self.others, ("AN", "NN")),
            (self.relevant, ("AR", "1R", "1R-shared")),
        ):
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

    @classmethod
    def parse(cls, text: str) -> TargetRule:
        """Read a rule as it prints, e.g. ``"TI-AN-AR"`` or ``"TI-NN-1R t=100"``."""
        match = _PATTERN.fullmatch(text.strip())
        if match is None:
            raise ConfigError(
                f"cannot read target-set rule {text!r}: expected candidates-others-relevant, "
                "such as 'TI-AN-AR', 'TI-NN-AR N=1700', 'TI-NN-1R t=100' or 'TI-NN-1R-shared t=100'"
            )
        per_run = match["relevant"] != "AR"
        if match["size"] is not None and (match["size"] == "t") != per_run:
            raise ConfigError(
                f"{text!r}: 1R states the size of a target set, t=; AR the sample size, N="
            )
        number = None if match["number"] is None else int(match["number"]) - per_run
        return cls(match["candidates"], match["others"], match["relevant"], number)  # type: ignore[arg-type]

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
        return f"{self.candidates}-{self.others}-{self.relevant}{size}"


class Targets(NamedTuple):
    """A rule with the threshold it needs: what :func:`recbias.ranking.rank` is asked for.

    ``min_rating`` is None for ``AN-AR``, whose target sets hold every test item and serve every
    threshold.
    """

    rule: TargetRule
    min_rating: float | None = None


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
