"""Tables of ranks from lists that a person can read."""

from collections.abc import Mapping, Sequence

import numpy as np

from recbias.ranking import RankTable


def user_table(*users: tuple[Sequence[int], Mapping[int, float]]) -> RankTable:
    """A table per user; each is (items of his list, best first; his test ratings by item)."""
    rows = []
    for user, (items, judged) in enumerate(users):
        listed = [item for item in items if item in judged]
        for item in sorted(judged):
            rank = list(items).index(item) + 1 if item in listed else 0
            condensed = listed.index(item) + 1 if item in listed else 0
            rows.append((user, item, judged[item], rank, condensed))
    lengths = [len(items) for items, _ in users]
    return _table("user", len(users), rows, lengths)


def run_table(n_users: int, *runs: tuple[int, int, float], size: int = 100) -> RankTable:
    """A table of 1R runs; each is (user, rank of the relevant item, its rating)."""
    rows = [
        (user, item, rating, rank, rank and 1) for item, (user, rank, rating) in enumerate(runs)
    ]
    return _table("run", n_users, rows, [size] * len(runs))


def _table(per, n_users, rows, sizes):
    user, item, value, rank, condensed = np.array(rows, dtype=float).reshape(-1, 5).T
    return RankTable(
        per=per,
        n_users=n_users,
        user=user.astype(np.int32),
        item=item.astype(np.int32),
        value=value,
        rank=rank.astype(np.int32),
        condensed_rank=condensed.astype(np.int32),
        n_targets=np.array(sizes, dtype=np.int32),
        n_scored=np.array(sizes, dtype=np.int32),
    )
