"""Which items stand at the top of a target set, down to another depth for every user.

Tables of ranks know the test ratings only, and lists of a pass have one length. A bound that looks
at the first n + |PR_test(u)| - 1 items needs the items themselves, of samples too.
"""

from __future__ import annotations

from typing import Any

import numba as nb
import numpy as np
import numpy.typing as npt

from recbias._system.streams import stream
from recbias.errors import ConfigError
from recbias.protocol.relevance import relevant
from recbias.protocol.splits import Split
from recbias.protocol.targets import candidate_items
from recbias.ranking.kernels import draw, sample, user_secret
from recbias.ranking.passes import score_blocks
from recbias.recommenders.base import Recommender

__all__ = ["target_lists"]

Array = Any


def target_lists(
    recommender: Recommender,
    split: Split,
    depth: npt.NDArray[np.int64],
    *,
    min_rating: float,
    n_sampled: int | None = None,
    seed: int,
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    r"""List the first items of :math:`T_u=N_u\cup PR_{test}(u)` among the tested items (TI).

    Parameters
    ----------
    recommender
        Fitted on ``split.train``.
    split
        Its test ratings make :math:`PR_{test}(u)`.
    depth : ndarray of int64, shape (n_users,)
        How many items of each user's set are listed.
    min_rating
        Smallest rating that is relevant.
    n_sampled
        Items that are drawn as :math:`N_u`; a pool that holds fewer is taken whole, as all are by
        default.
    seed
        Names the samples and what breaks ties. Every system meets the same samples; they are not
        those of a table of ranks of the same seed.

    Returns
    -------
    lists : ndarray of int32, shape (n_users, largest depth)
        Items, best first; -1 behind the end of a list, and for items without a score.
    sizes : ndarray of int64, shape (n_users,)
        :math:`|T_u|`, items without a score included.

    Raises
    ------
    ConfigError
        If `depth` has another shape.
    ScoreError, ContractError
        As :func:`recbias.ranking.score_blocks` does.

    See Also
    --------
    recbias.ranking.top_items : lists of one length, of all candidates, with the tie keys of ranks.

    References
    ----------
    BCC17 Sec. 3.4.

    Examples
    --------
    >>> import pandas as pd
    >>> from recbias.data.ratings import Ratings
    >>> from recbias.recommenders import System
    >>> from recbias.protocol.splits import from_fold_labels
    >>> ratings = Ratings.from_frame(pd.DataFrame({
    ...     "user_id": [1, 1, 2, 2, 3, 3],
    ...     "item_id": [1, 2, 1, 3, 1, 2],
    ...     "rating": [5, 4, 3, 5, 5, 4],
    ... }))
    >>> split = from_fold_labels(ratings, np.array([1, 0, 1, 0, 0, 1]))[0]
    >>> popular = System("Popularity", "Popularity", {}).build().fit(split.train)
    >>> lists, sizes = target_lists(popular, split, np.full(3, 2), min_rating=4, seed=1)
    >>> lists.tolist(), sizes.tolist()
    ([[1, -1], [1, -1], [0, -1]], [2, 2, 2])
    """
    train, test = split.train, split.test
    if np.shape(depth) != (test.n_users,):
        raise ConfigError(f"depth has shape {np.shape(depth)}, expected ({test.n_users},)")
    candidates = candidate_items(split, "TI").astype(np.int64)
    place = np.full(test.n_items, -1, dtype=np.int64)
    place[candidates] = np.arange(len(candidates))
    lists = np.full((test.n_users, int(depth.max(initial=0))), -1, dtype=np.int32)
    sizes = np.zeros(test.n_users, dtype=np.int64)
    secret = stream(seed, "target lists").integers(2**64, dtype=np.uint64)
    positive = relevant(test.value, min_rating)
    wanted = len(candidates) if n_sampled is None else n_sampled
    for first, scores in score_blocks(recommender, train):
        _fill(
            scores, first, secret, candidates, place, train.indptr, train.item, test.indptr,
            test.item, positive, wanted, np.asarray(depth, np.int64), lists, sizes,
        )  # fmt: skip
    return lists, sizes


@nb.njit(cache=True, nogil=True)
def _fill(
    scores: Array,
    first_user: int,
    seed: np.uint64,
    candidates: Array,
    place: Array,
    train_indptr: Array,
    train_item: Array,
    test_indptr: Array,
    test_item: Array,
    positive: Array,
    wanted: int,
    depths: Array,
    lists: Array,
    sizes: Array,
) -> None:
    """Fill the rows of a block: each member of a set is inserted where its score puts it."""
    n_candidates = len(candidates)
    mark = np.zeros(n_candidates, dtype=np.int64)
    pool = np.empty(n_candidates, dtype=np.int64)
    drawn = np.empty(n_candidates, dtype=np.int64)
    tie = np.empty(lists.shape[1], dtype=np.int64)
    for row in range(len(scores)):
        user = first_user + row
        mark[:] = 0
        n_pool = n_candidates
        for entry in range(train_indptr[user], train_indptr[user + 1]):
            at = place[train_item[entry]]
            if at >= 0:
                mark[at] = -1
                n_pool -= 1
        for entry in range(test_indptr[user], test_indptr[user + 1]):
            if positive[entry]:
                mark[place[test_item[entry]]] = -1
                n_pool -= 1
        members = min(wanted, n_pool)
        if members < n_pool:
            state = user_secret(seed, user)
            sample(state, members, n_candidates, n_pool, mark, 1, pool, drawn)
        else:
            members = 0
            for at in range(n_candidates):
                if mark[at] == 0:
                    drawn[members] = at
                    members += 1
        for entry in range(test_indptr[user], test_indptr[user + 1]):
            if positive[entry]:
                drawn[members] = place[test_item[entry]]
                members += 1
        sizes[user] = members
        depth, length = depths[user], 0
        state = user_secret(seed ^ np.uint64(0x9E3779B97F4A7C15), user)
        for at in drawn[:members]:
            item = candidates[at]
            score = scores[row, item]
            last = scores[row, lists[user, depth - 1]] if 0 < depth == length else -np.inf
            if depth == 0 or np.isnan(score) or score < last:
                continue
            state, key = draw(state, 2147483647)
            spot = length
            while spot > 0:
                other = scores[row, lists[user, spot - 1]]
                if other > score or (other == score and tie[spot - 1] >= key):
                    break
                spot -= 1
            if spot >= depth:
                continue
            length = min(length + 1, depth)
            for behind in range(length - 1, spot, -1):
                lists[user, behind] = lists[user, behind - 1]
                tie[behind] = tie[behind - 1]
            lists[user, spot] = item
            tie[spot] = key
