"""The quantities of BCC17 Table 2, in which closed forms are written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from recbias.protocol.relevance import relevant
from recbias.protocol.splits import Split
from recbias.protocol.targets import n_all_targets

__all__ = ["SplitStatistics", "split_statistics"]


@dataclass(frozen=True)
class SplitStatistics:
    r"""The notation of BCC17 Table 2 for one split, relevance threshold and candidate set.

    Attributes
    ----------
    n_users
        :math:`|\mathcal U|`, users without test ratings included.
    n_candidates
        :math:`|\mathcal C|`.
    n_relevant
        :math:`|PR|`: relevant ratings, training and test together.
    n_relevant_test
        :math:`|PR_{test}|`.
    sigma
        Share of the ratings that is in test.
    rho
        Mean over users of :math:`|T_u\cap PR_{test}(u)|/|T_u|`.
    t
        Harmonic mean of :math:`|T_u|`.
    delta
        :math:`|PR|/(t|\mathcal U|)`.
    """

    n_users: int
    n_candidates: int
    n_relevant: int
    n_relevant_test: int
    sigma: float
    rho: float
    t: float
    delta: float


def inverse_sizes(sizes: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.float64]:
    """Return what share of each target set one item is: 0 of an empty one, as no item is in it."""
    return np.divide(1.0, sizes, out=np.zeros(len(sizes)), where=sizes > 0)


def split_statistics(
    split: Split, candidates: Literal["AI", "TI"], *, min_rating: float
) -> SplitStatistics:
    r"""Compute the quantities of BCC17 Table 2 for AN-AR target sets.

    Parameters
    ----------
    split
        One split of a dataset.
    candidates
        ``"AI"`` or ``"TI"``.
    min_rating
        Smallest rating that is relevant.

    Returns
    -------
    SplitStatistics

    See Also
    --------
    relevant_share : the same share per user, from a table of ranks.

    Notes
    -----
    :math:`\rho` is only near :math:`\sigma\delta` (Eq. 4), because users with many ratings have
    smaller target sets and more relevant items in them.

    References
    ----------
    BCC17 Table 2, Eq. 4.
    """
    train, test = split.train, split.test
    sizes = n_all_targets(split, candidates)
    hits = np.bincount(test.user[relevant(test.value, min_rating)], minlength=test.n_users)
    n_relevant_test = int(hits.sum())
    n_relevant = n_relevant_test + int(relevant(train.value, min_rating).sum())
    t = 1.0 / float(np.mean(inverse_sizes(sizes)))
    return SplitStatistics(
        n_users=test.n_users,
        n_candidates=test.n_items if candidates == "AI" else len(split.test_items),
        n_relevant=n_relevant,
        n_relevant_test=n_relevant_test,
        sigma=len(test) / (len(test) + len(train)),
        rho=float(np.mean(np.divide(hits, sizes, out=np.zeros(len(sizes)), where=sizes > 0))),
        t=t,
        delta=n_relevant / (t * test.n_users),
    )
