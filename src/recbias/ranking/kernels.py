"""The compiled loops of ranking: keys, counts, lists, ties, samples.

All in one file, because compiled functions call none of another file: numba's cache of the caller
would not notice that the other file has changed. Arrays are copied into arrays by loops: compiling
``a[:n] = b`` takes three seconds.

**Layout.** Items are renumbered twice. A *place* has the candidates TI first, in the order of item
numbers; samples are drawn by place, so that AI and TI are prefixes. A *spot* has the items of one
segment together: item groups inside TI, then the same groups outside, so that counts by group are
plain loops over stretches of a row of keys.
"""

from __future__ import annotations

from typing import Any

import numba as nb
import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

ABSENT = np.int64(np.iinfo(np.int64).min)
PER_USER, PER_RUN, SHARED = range(3)


@nb.njit(cache=True, inline="always")
def mix(state: np.uint64) -> np.uint64:
    """Scramble 64 bits (the finaliser of splitmix64): a bijection without visible pattern."""
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))


@nb.njit(cache=True, inline="always")
def user_secret(seed: np.uint64, user: int) -> np.uint64:
    """Give every user a stream of their own under a seed."""
    return mix(seed ^ mix(np.uint64(user) + np.uint64(0x9E3779B97F4A7C15)))


@nb.njit(cache=True, nogil=True)
def key_row(bits: Array, user: int, tie_seed: np.uint64, keys: Array) -> bool:
    """Fill one int64 key per item, NaN as absent; return whether a score is infinite.

    For a fixed user the tie half is a bijection of the item number, so no two keys are equal.
    """
    secret = user_secret(tie_seed, user)
    first, second = np.uint32(secret), np.uint32(secret >> np.uint64(32))
    infinite = 0
    for item in range(len(bits)):
        score = bits[item]
        magnitude = np.int32(score & np.int32(0x7FFFFFFF))
        infinite += magnitude == np.int32(0x7F800000)
        # Negative floats order backwards as integers; 0.0 and -0.0 are the same score.
        high = np.int32(score ^ np.int32((score >> np.int32(31)) & np.int32(0x7FFFFFFF)))
        high = np.int32(0) if magnitude == np.int32(0) else high
        tie = np.uint32(np.uint32(item) + first)
        tie = np.uint32(np.uint32(tie ^ np.uint32(tie >> np.uint32(16))) * np.uint32(0x85EBCA6B))
        tie = np.uint32(tie ^ second)
        tie = np.uint32(np.uint32(tie ^ np.uint32(tie >> np.uint32(13))) * np.uint32(0xC2B2AE35))
        tie = np.uint32(tie ^ np.uint32(tie >> np.uint32(16)))
        key = (np.int64(high) << np.int64(32)) | np.int64(tie)
        keys[item] = ABSENT if magnitude > np.int32(0x7F800000) else key
    return infinite > 0


@nb.njit(cache=True, nogil=True)
def fill_keys(
    bits: Array,
    first_user: int,
    item_at: Array,
    tie_seed: np.uint64,
    train_indptr: Array,
    train_spot: Array,
    keys: Array,
    train_keys: Array,
) -> int:
    """Fill the keys of a block by spot, training items absent; theirs go to `train_keys`.

    There is one for each training rating of the block's users. Returns -1, or the first row with an
    infinite score.
    """
    n_rows, n_items = bits.shape
    by_item = np.empty(n_items, dtype=np.int64)
    base = train_indptr[first_user]
    for row in range(n_rows):
        user = first_user + row
        if key_row(bits[row], user, tie_seed, by_item):
            return row
        for spot in range(n_items):
            keys[row, spot] = by_item[item_at[spot]]
        for entry in range(train_indptr[user], train_indptr[user + 1]):
            train_keys[entry - base] = keys[row, train_spot[entry]]
            keys[row, train_spot[entry]] = ABSENT
    return -1


@nb.njit(cache=True, nogil=True)
def count_above(keys: Array, key: Any) -> int:
    """Count the keys that are larger."""
    # This plain form compiles to SIMD compares; iterating over the array itself is 7 times slower.
    above = 0
    for place in range(keys.shape[0]):
        if keys[place] > key:
            above += 1
    return above


@nb.njit(cache=True, nogil=True)
def count_block(
    keys: Array,
    first_user: int,
    bounds: Array,
    n_inside: int,
    test_indptr: Array,
    test_spot: Array,
    train_indptr: Array,
    train_spot: Array,
    train_keys: Array,
    listed: Array,
    above: Array,
    train_above: Array,
    n_scored: Array,
    n_train_scored: Array,
) -> None:
    """Count what is above each test rating with a score.

    Targets by segment, and the user's own training items inside and outside TI.
    """
    own_train = np.empty((2, keys.shape[1]), dtype=np.int64)
    n_own = np.zeros(2, dtype=np.int64)
    base = train_indptr[first_user]
    for row in range(len(keys)):
        user = first_user + row
        user_keys = keys[row]
        n_own[:] = 0
        for entry in range(train_indptr[user], train_indptr[user + 1]):
            key = train_keys[entry - base]
            if key != ABSENT:
                side = 1 if train_spot[entry] >= n_inside else 0
                own_train[side, n_own[side]] = key
                n_own[side] += 1
        for side in range(2):
            n_train_scored[user, side] = n_own[side]
        for segment in range(len(bounds) - 1):
            stretch = user_keys[bounds[segment] : bounds[segment + 1]]
            n_scored[user, segment] = count_above(stretch, ABSENT)
        for entry in range(test_indptr[user], test_indptr[user + 1]):
            key = user_keys[test_spot[entry]]
            if key == ABSENT:
                continue
            listed[entry] = True
            for segment in range(len(bounds) - 1):
                stretch = user_keys[bounds[segment] : bounds[segment + 1]]
                above[entry, segment] = count_above(stretch, key)
            for side in range(2):
                train_above[entry, side] = count_above(own_train[side, : n_own[side]], key)


@nb.njit(cache=True, nogil=True)
def order_rows(indptr: Array, listed: Array, above: Array, order: Array) -> None:
    """Order the rows of each user: those in the list by what is above them, then the others."""
    largest = np.iinfo(np.int64).max
    for user in range(len(indptr) - 1):
        begin, end = indptr[user], indptr[user + 1]
        keys = np.empty(end - begin, dtype=np.int64)
        for row in range(begin, end):
            keys[row - begin] = above[row] if listed[row] else largest
        if end - begin < 32:
            for place in range(end - begin):
                slot = place
                while slot > 0 and keys[order[begin + slot - 1] - begin] > keys[place]:
                    order[begin + slot] = order[begin + slot - 1]
                    slot -= 1
                order[begin + slot] = begin + place
        else:
            places = np.argsort(keys, kind="mergesort")
            for place in range(end - begin):
                order[begin + place] = begin + places[place]


@nb.njit(cache=True, nogil=True)
def count_rows_above(
    indptr: Array,
    order: Array,
    listed: Array,
    positive: Array,
    group: Array,
    n_groups: int,
    judged: Array,
    positives: Array,
) -> None:
    """Count the user's own test ratings above each listed one, all and positive, in its group."""
    seen = np.empty((2, n_groups), dtype=np.int64)
    for user in range(len(indptr) - 1):
        seen[:] = 0
        for place in range(indptr[user], indptr[user + 1]):
            row = order[place]
            if not listed[row]:
                break
            row_group = group[row]
            judged[row] = seen[0, row_group]
            positives[row] = seen[1, row_group]
            seen[0, row_group] += 1
            seen[1, row_group] += positive[row]


@nb.njit(cache=True, nogil=True)
def sift_down(best: Array, spots: Array, size: Any) -> None:
    """Let the root of a heap, smallest key on top, sink to its place."""
    key, spot = best[0], spots[0]
    node, child = np.uint32(0), np.uint32(1)
    while child < size:
        child += np.uint32(child + 1 < size and best[child + np.uint32(1)] < best[child])
        if best[child] >= key:
            break
        best[node], spots[node] = best[child], spots[child]
        node = child
        child = np.uint32(2) * node + np.uint32(1)
    best[node], spots[node] = key, spot


@nb.njit(cache=True, nogil=True)
def safe_floor(stretch: Array, depth: int, sample: Array) -> np.int64:
    """Find a key that at least `depth` keys reach, and not many more, from a few of them.

    Most keys then need no place in a heap that they would leave again.
    """
    n_sampled = len(sample)
    if len(stretch) < 4 * n_sampled:
        return ABSENT
    for number in range(n_sampled):
        key = stretch[number * len(stretch) // n_sampled]
        slot = number
        while slot > 0 and sample[slot - 1] < key:
            sample[slot] = sample[slot - 1]
            slot -= 1
        sample[slot] = key
    place = depth * n_sampled // len(stretch) + 2
    while place < n_sampled:
        if count_above(stretch, sample[place]) >= depth:
            return sample[place]
        place += 1 + place // 2
    return ABSENT


@nb.njit(cache=True, nogil=True)
def top_spots(
    keys: Array, begin: int, end: int, depth: int, floor: np.int64, best: Array, spots: Array
) -> int:
    """Find the spots of the largest keys above a floor, largest first; return how many there are.

    `best` and `spots` have room for all keys: those above the floor are gathered there, the first
    `depth` of them made a heap, the worst on top, and the others held against it.
    """
    n_above = 0
    for spot in range(begin, end):
        best[n_above], spots[n_above] = keys[spot], spot
        n_above += keys[spot] > floor
    size = np.uint32(min(n_above, depth))
    for leaf in range(1, size):
        key, spot = best[leaf], spots[leaf]
        node = np.uint32(leaf)
        while node > 0 and best[(node - np.uint32(1)) >> np.uint32(1)] > key:
            parent = (node - np.uint32(1)) >> np.uint32(1)
            best[node], spots[node] = best[parent], spots[parent]
            node = parent
        best[node], spots[node] = key, spot
    for other in range(size, n_above):
        if best[other] > best[0]:
            best[0], spots[0] = best[other], spots[other]
            sift_down(best, spots, size)
    left = size
    while left > 1:
        left -= np.uint32(1)
        key, spot = best[0], spots[0]
        best[0], spots[0] = best[left], spots[left]
        best[left], spots[left] = key, spot
        sift_down(best, spots, left)
    return min(n_above, depth)


@nb.njit(cache=True, nogil=True)
def list_block(
    keys: Array, item_at: Array, n_inside: int, depth: int, lists: Array, lengths: Array
) -> None:
    """Fill the lists of a block of users.

    A list holds the best `depth` items of all candidates, and behind them, where some of those are
    outside TI, further items of TI until it has `depth` of them.
    """
    inner, outer, inner_spots, outer_spots = np.empty((4, keys.shape[1] + 1), dtype=np.int64)
    sample = np.empty(64, dtype=np.int64)
    for row in range(len(keys)):
        user_keys = keys[row]
        floor = safe_floor(user_keys[:n_inside], depth, sample)
        n_inner = top_spots(user_keys, 0, n_inside, depth, floor, inner, inner_spots)
        # Below `depth` items of TI none outside is among the best of all.
        floor = inner[depth - 1] if n_inner == depth else ABSENT
        n_outer = top_spots(user_keys, n_inside, len(user_keys), depth, floor, outer, outer_spots)
        length, first, second = 0, 0, 0
        while first < n_inner or (length < depth and second < n_outer):
            from_outer = second < n_outer and length < depth
            if from_outer and (first == n_inner or outer[second] > inner[first]):
                lists[row, length] = item_at[outer_spots[second]]
                second += 1
            else:
                lists[row, length] = item_at[inner_spots[first]]
                first += 1
            length += 1
        lengths[row] = length


@nb.njit(cache=True, nogil=True)
def tie_block(
    scores: Array,
    first_user: int,
    inside: Array,
    train_indptr: Array,
    train_item: Array,
    test_indptr: Array,
    test_item: Array,
    counts: Array,
) -> None:
    """Count larger and equal scores for the test ratings of a block of users, inside TI and in all.

    Training items do not count; a missing score is neither larger nor equal.
    """
    left_out = np.zeros(scores.shape[1], dtype=np.bool_)
    for row in range(len(scores)):
        user = first_user + row
        for entry in range(train_indptr[user], train_indptr[user + 1]):
            left_out[train_item[entry]] = True
        for entry in range(test_indptr[user], test_indptr[user + 1]):
            score = scores[row, test_item[entry]]
            if np.isnan(score):
                continue
            for item in range(scores.shape[1]):
                other = scores[row, item]
                if left_out[item] or not other >= score:
                    continue
                is_tied = np.int64(other == score)
                counts[entry, 2 + is_tied] += 1
                if inside[item]:
                    counts[entry, is_tied] += 1
        for entry in range(train_indptr[user], train_indptr[user + 1]):
            left_out[train_item[entry]] = False


@nb.njit(cache=True, nogil=True)
def draw(state: np.uint64, bound: int) -> tuple[Any, Any]:
    """Advance the stream and draw below `bound` without bias (Lemire 2019)."""
    limit = np.uint64(bound)
    while True:
        state += np.uint64(0x9E3779B97F4A7C15)
        product = (mix(state) >> np.uint64(32)) * limit
        rest = product & np.uint64(0xFFFFFFFF)
        # The threshold is below the bound: only where the rest is too, it is worth a division.
        if rest >= limit or rest >= (np.uint64(0x100000000) - limit) % limit:
            return state, np.int64(product >> np.uint64(32))


@nb.njit(cache=True, nogil=True)
def sample(
    state: np.uint64,
    size: int,
    n_candidates: int,
    n_pool: int,
    mark: Array,
    stamp: int,
    pool: Array,
    drawn: Array,
) -> None:
    """Draw `size` of the `n_pool` places whose mark is not -1, without replacement.

    Rejection while the pool is large beside the sample and the candidates, else a partial shuffle
    of the pool. Both give every subset the same probability.
    """
    if 2 * size > n_pool or 4 * n_pool < n_candidates:
        filled = 0
        for place in range(n_candidates):
            if mark[place] >= 0:
                pool[filled] = place
                filled += 1
        for number in range(size):
            state, offset = draw(state, n_pool - number)
            drawn[number] = pool[number + offset]
            pool[number + offset] = pool[number]
        return
    number = 0
    while number < size:
        state, place = draw(state, n_candidates)
        if mark[place] >= 0 and mark[place] != stamp:
            mark[place] = stamp
            drawn[number] = place
            number += 1


@nb.njit(cache=True, nogil=True)
def nth_smallest(values: Array, n: int) -> Any:
    """Find the number that `n` others come before (Hoare 1961), whose order is lost.

    Compiling numpy's partition takes nine seconds, more than all else here.
    """
    low, high = 0, len(values) - 1
    while low < high:
        pivot = values[(low + high) // 2]
        left, right = low, high
        while left <= right:
            while values[left] < pivot:
                left += 1
            while values[right] > pivot:
                right -= 1
            if left <= right:
                values[left], values[right] = values[right], values[left]
                left += 1
                right -= 1
        # What lies between the two stretches equals the pivot.
        low, high = (left, high) if n > right else (low, right)
        if low > n:
            break
    return values[n]


@nb.njit(cache=True, nogil=True)
def sample_by_weight(
    state: np.uint64,
    size: int,
    n_candidates: int,
    mark: Array,
    stamp: int,
    cumulative: Array,
    drawn: Array,
) -> None:
    """Draw `size` places whose mark is not -1, one by one in proportion to the weight of the rest.

    Weights are the steps of `cumulative`; what has none is drawn once nothing else is left, each
    place with equal chance. Rejection while it does not take long, then the places with the largest
    ``log(u) / weight`` (Efraimidis & Spirakis 2006): both draw the next place in proportion to the
    weights of what is left, whatever was drawn before, so that changing over does no harm.
    """
    number, tries, total = 0, 0, cumulative[n_candidates - 1]
    while number < size and tries < 8 * size and total > 0:
        state, point = draw(state, total)
        place = np.searchsorted(cumulative[:n_candidates], point, side="right")
        tries += 1
        if mark[place] >= 0 and mark[place] != stamp:
            mark[place] = stamp
            drawn[number] = place
            number += 1
    if number == size:
        return
    keys = np.empty(n_candidates)
    rest = np.empty(n_candidates, dtype=np.int64)
    n_rest = 0
    for place in range(n_candidates):
        state += np.uint64(0x9E3779B97F4A7C15)
        if mark[place] < 0 or mark[place] == stamp:
            continue
        uniform = (np.float64(mix(state) >> np.uint64(11)) + 0.5) / 9007199254740992.0
        weight = np.float64(cumulative[place] - (cumulative[place - 1] if place > 0 else 0))
        keys[n_rest] = np.log(uniform) / (weight if weight > 0 else 1e-30)
        rest[n_rest] = place
        n_rest += 1
    first = n_rest - (size - number)
    least = nth_smallest(keys[:n_rest].copy(), first)
    for place in range(n_rest):
        if number < size and keys[place] >= least:
            drawn[number] = rest[place]
            number += 1


@nb.njit(cache=True, nogil=True)
def sample_block(
    keys: Array,
    first_user: int,
    sample_seed: np.uint64,
    train_indptr: Array,
    train_place: Array,
    test_indptr: Array,
    test_place: Array,
    test_items: Array,
    spot_of: Array,
    kind: int,
    wanted: int,
    n_candidates: int,
    cumulative: Array,
    positive: Array,
    rank: Array,
    condensed: Array,
    n_targets: Array,
    n_scored: Array,
) -> None:
    """Sample the non-relevant targets of a block of users and rank their test ratings among them.

    All subsets have the same chance, or places weigh by the steps of `cumulative` if it has any.
    A run's stream depends on seed, user and relevant item only; a user's on seed and user.
    """
    n_items = keys.shape[1]
    mark = np.zeros(n_items, dtype=np.int64)
    judged = np.zeros(n_items, dtype=np.bool_)
    pool = np.empty(n_items, dtype=np.int64)
    drawn = np.empty(n_items, dtype=np.int64)
    stamp = 0
    for row in range(len(keys)):
        user = first_user + row
        begin, end = test_indptr[user], test_indptr[user + 1]
        n_pool = n_candidates
        n_positive = 0
        for entry in range(train_indptr[user], train_indptr[user + 1]):
            mark[train_place[entry]] = -1
            n_pool -= train_place[entry] < n_candidates
        for entry in range(begin, end):
            judged[test_place[entry]] = True
            if positive[entry]:
                n_positive += 1
                mark[test_place[entry]] = -1
                n_pool -= test_place[entry] < n_candidates
        size = min(wanted, n_pool)
        secret = user_secret(sample_seed, user)
        if kind != PER_RUN and (n_positive > 0 or kind == PER_USER):
            stamp += 1
            if len(cumulative):
                sample_by_weight(secret, size, n_candidates, mark, stamp, cumulative, drawn)
            else:
                sample(secret, size, n_candidates, n_pool, mark, stamp, pool, drawn)
        if kind == PER_USER:
            rank_among_sample(
                keys[row], user, begin, end, drawn[:size], judged, test_place, spot_of,
                positive, rank, condensed, n_targets, n_scored,
            )  # fmt: skip
        else:
            for entry in range(begin, end):
                if not positive[entry]:
                    continue
                if kind == PER_RUN:
                    stamp += 1
                    run = np.uint64(test_items[entry]) + np.uint64(1)
                    state = mix(secret + run * np.uint64(0xD1342543DE82EF95))
                    if len(cumulative):
                        sample_by_weight(state, size, n_candidates, mark, stamp, cumulative, drawn)
                    else:
                        sample(state, size, n_candidates, n_pool, mark, stamp, pool, drawn)
                key = keys[row, spot_of[test_place[entry]]]
                above = above_judged = scored = 0
                for place in drawn[:size]:
                    other = keys[row, spot_of[place]]
                    scored += other != ABSENT
                    if other > key:
                        above += 1
                        above_judged += judged[place]
                n_targets[entry] = size + 1
                n_scored[entry] = scored + (key != ABSENT)
                if key != ABSENT:
                    rank[entry] = 1 + above
                    condensed[entry] = 1 + above_judged
        for entry in range(train_indptr[user], train_indptr[user + 1]):
            mark[train_place[entry]] = 0
        for entry in range(begin, end):
            mark[test_place[entry]] = 0
            judged[test_place[entry]] = False


@nb.njit(cache=True, nogil=True)
def rank_among_sample(
    keys: Array,
    user: int,
    begin: int,
    end: int,
    drawn: Array,
    judged: Array,
    test_place: Array,
    spot_of: Array,
    positive: Array,
    rank: Array,
    condensed: Array,
    n_targets: Array,
    n_scored: Array,
) -> None:
    """Rank the listed test ratings of one user among their sample and relevant items (AR-NN)."""
    sampled = np.zeros(len(keys), dtype=np.bool_)
    members = np.empty(len(drawn) + end - begin, dtype=np.int64)
    n_members = 0
    for place in drawn:
        sampled[place] = True
        members[n_members] = place
        n_members += 1
    for entry in range(begin, end):
        if positive[entry]:
            members[n_members] = test_place[entry]
            n_members += 1
    n_targets[user] = n_members
    # Side by side, the judged ones first, so that counting them needs no look at places.
    member_keys = np.empty(n_members, dtype=np.int64)
    n_judged, other = 0, n_members
    for place in members[:n_members]:
        key = keys[spot_of[place]]
        n_scored[user] += key != ABSENT
        if judged[place]:
            member_keys[n_judged] = key
            n_judged += 1
        else:
            other -= 1
            member_keys[other] = key
    for entry in range(begin, end):
        key = keys[spot_of[test_place[entry]]]
        if key == ABSENT or not (positive[entry] or sampled[test_place[entry]]):
            continue
        condensed[entry] = 1 + count_above(member_keys[:n_judged], key)
        rank[entry] = condensed[entry] + count_above(member_keys[n_judged:], key)


@nb.njit(cache=True, nogil=True)
def find_listed(
    lists: Array,
    train_indptr: Array,
    train_item: Array,
    test_indptr: Array,
    test_item: Array,
    candidate: Array,
    rank: Array,
    condensed: Array,
    n_scored: Array,
) -> tuple[int, int, int]:
    """Rank the test ratings by lists; return user, item and kind of what must not be in a list.

    Kinds are 0 for an item that does not exist, 1 for one that is there twice, 2 for a training
    item, and -1 if nothing is wrong.
    """
    n_items = len(candidate)
    in_train, in_list, in_test = np.full((3, n_items), -1)
    row = np.empty(n_items, dtype=np.int64)
    for user in range(len(lists)):
        in_train[train_item[train_indptr[user] : train_indptr[user + 1]]] = user
        for entry in range(test_indptr[user], test_indptr[user + 1]):
            in_test[test_item[entry]] = user
            row[test_item[entry]] = entry
        place = judged = 0
        for item in lists[user]:
            if item < 0:
                continue
            if item >= n_items:
                return user, item, 0
            if in_list[item] == user:
                return user, item, 1
            if in_train[item] == user:
                return user, item, 2
            in_list[item] = user
            if not candidate[item]:
                continue
            place += 1
            if in_test[item] == user:
                judged += 1
                rank[row[item]] = place
                condensed[row[item]] = judged
        n_scored[user] = place
    return -1, -1, -1
