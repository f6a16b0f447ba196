"""Who rates what at random, when it is known how much each user and each item is rated."""

from __future__ import annotations

import numba as nb
import numpy as np
import numpy.typing as npt

from recbias.data.simulation.noise import hashed, shuffled
from recbias.errors import ConfigError

_EXCHANGES = 10
_MOST_TRIES = 10_000


def match_at_random(
    of_user: npt.NDArray[np.int64], of_item: npt.NDArray[np.int64], key: np.uint64
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Draw pairs, each at most once, such that every user and item has as many as it should.

    The places of users and of items are matched at random. Pairs that come twice exchange their
    items with other pairs until none is left; then random pairs exchange their items, ten times as
    often as there are pairs, which forgets where the repeated ones were. Where that finds none, it
    is tried with the pairs that lack.

    Parameters
    ----------
    of_user : int64 array (n_users,)
        Pairs of each user.
    of_item : int64 array (n_items,)
        Pairs of each item; the same sum.
    key : uint64
        Other keys give other pairs.

    Returns
    -------
    user, item : int64 array (n,)
        The pairs, ascending by user, then item.

    Raises
    ------
    ConfigError
        If the sums differ, or no such pairs were found, as when an item should have more pairs
        than there are users.

    References
    ----------
    A. R. Rao, R. Jana and S. Bandyopadhyay. 1996. A Markov chain Monte Carlo method for generating
    random (0, 1)-matrices with given marginals. Sankhya A 58(2).

    Examples
    --------
    >>> user, item = match_at_random(np.array([2, 1, 2]), np.array([3, 2]), np.uint64(7))
    >>> user.tolist(), item.tolist()
    ([0, 0, 1, 2, 2], [0, 1, 0, 0, 1])
    """
    n, n_users, n_items = int(of_user.sum()), len(of_user), len(of_item)
    if n != of_item.sum():
        raise ConfigError(f"users have {n} ratings in all, items {of_item.sum()}: expected as many")
    numbers = _matched(of_user, of_item, key)
    if numbers is None and of_user.max() <= n_items and of_item.max() <= n_users:
        # Where nearly all pairs are there, the few that lack are matched in their place.
        lacking = _matched(n_items - of_user, n_users - of_item, key)
        numbers = None if lacking is None else np.delete(np.arange(n_users * n_items), lacking)
    if numbers is None:
        raise ConfigError(
            "no pairs were found in which users and items have the numbers of ratings asked for"
        )
    return numbers // n_items, numbers % n_items


def _matched(
    of_user: npt.NDArray[np.int64], of_item: npt.NDArray[np.int64], key: np.uint64
) -> npt.NDArray[np.int64] | None:
    """Draw the pairs and number them, ascending; None if none were found."""
    n, n_items = int(of_user.sum()), len(of_item)
    user = np.repeat(np.arange(len(of_user)), of_user)
    item = np.repeat(np.arange(n_items), of_item)[shuffled(n, key)]
    start = hashed(np.array([n], dtype=np.uint64), key)[0]
    if not _exchange(user, item, len(of_user), n_items, start, _EXCHANGES * n, _MOST_TRIES):
        return None
    return np.sort(user * n_items + item)


@nb.njit(cache=True, nogil=True)
def _exchange(
    user: npt.NDArray[np.int64],
    item: npt.NDArray[np.int64],
    n_users: int,
    n_items: int,
    start: np.uint64,
    n_steps: int,
    most_tries: int,
) -> bool:
    """Make the pairs differ, then shuffle them by exchanges of items; False if they cannot."""
    n = len(user)
    # One bit for each pair of the world: is it present? Pairs that are again present wait.
    present = np.zeros((n_users * n_items + 7) // 8, dtype=np.uint8)
    waits = np.zeros(n, dtype=np.bool_)
    waiting = np.zeros(n, dtype=np.int64)
    n_waiting = 0
    for row in range(n):
        pair = user[row] * n_items + item[row]
        bit = np.uint8(1 << (pair & 7))
        if present[pair >> 3] & bit:
            waits[row] = True
            waiting[n_waiting] = row
            n_waiting += 1
        present[pair >> 3] |= bit
    state = np.uint64(start)
    tries, step = 0, 0
    while n_waiting or step < n_steps:
        # The next 64 bits of SplitMix64: high and low half choose the two rows.
        state += np.uint64(0x9E3779B97F4A7C15)
        bits = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        bits = bits ^ (bits >> np.uint64(31))
        other = np.int64((bits & np.uint64(0xFFFFFFFF)) % np.uint64(n))
        mine = np.int64((bits >> np.uint64(32)) % np.uint64(n))
        if n_waiting:
            mine = waiting[n_waiting - 1]
            tries += 1
            if tries > most_tries + 100 * n:
                return False
        else:
            step += 1
        my_pair = user[mine] * n_items + item[mine]
        my_bit = np.uint8(1 << (my_pair & 7))
        if waits[mine] and not present[my_pair >> 3] & my_bit:
            # Its double was exchanged meanwhile.
            present[my_pair >> 3] |= my_bit
            waits[mine] = False
            n_waiting -= 1
            tries = 0
            continue
        if waits[other] or user[mine] == user[other] or item[mine] == item[other]:
            continue
        new, crossed = user[mine] * n_items + item[other], user[other] * n_items + item[mine]
        new_bit, crossed_bit = np.uint8(1 << (new & 7)), np.uint8(1 << (crossed & 7))
        new_fits = not present[new >> 3] & new_bit
        crossed_fits = not present[crossed >> 3] & crossed_bit
        # One that waits may leave waiting to the other; else dense worlds would get stuck.
        if not (new_fits or crossed_fits) or not (waits[mine] or (new_fits and crossed_fits)):
            continue
        old = user[other] * n_items + item[other]
        present[old >> 3] &= np.uint8(255 - (1 << (old & 7)))
        if not waits[mine]:
            present[my_pair >> 3] &= np.uint8(255 - (1 << (my_pair & 7)))
        present[new >> 3] |= new_bit
        present[crossed >> 3] |= crossed_bit
        item[mine], item[other] = item[other], item[mine]
        if n_waiting:
            waits[mine], waits[other] = not new_fits, not crossed_fits
            if not crossed_fits:
                waiting[n_waiting - 1] = other
            if new_fits and crossed_fits:
                n_waiting -= 1
                tries = 0
    return True
