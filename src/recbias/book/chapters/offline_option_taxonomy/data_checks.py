"""How chapter 7 checks, on data, what CCM20 says of splits, of users and items without a score."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from recbias._system.memory import row_blocks
from recbias._system.streams import stream
from recbias.book.chapters.offline_option_taxonomy.setup import (
    FILLS,
    HALF,
    KNN,
    READINGS,
    SIZES,
    fill_name,
    split_of,
)
from recbias.claims.checks import Check
from recbias.data.datasets import Dataset
from recbias.data.ratings import Ratings
from recbias.errors import DataError
from recbias.experiment.grid import Grid
from recbias.experiment.reduction import read_cells
from recbias.protocol.protocol import Protocol
from recbias.protocol.splits import Split, SplitRule
from recbias.ranking.tables import RankTable
from recbias.recommenders import System

IntArray = npt.NDArray[np.int64]

_N_USERS = 40
"""Users whose neighbours are counted one by one."""


def tables_of(grid: Grid, dataset: Dataset) -> dict[tuple[str, str], RankTable]:
    """Read the ranks of each system under each label, of its first training."""
    tables: dict[tuple[str, str], RankTable] = {}
    for name, reader in read_cells(grid, dataset):
        for label in grid.parsed:
            tables.setdefault((name, label), reader.table(grid, label))
    return tables


# -- splits ----------------------------------------------------------------------------------------


def check_stars(ratings: Ratings) -> list[Check]:
    """See that data are triples of a user, an item and 1 to 5 stars (CCM20 Table 1)."""
    wrong = (ratings.value < 1) | (ratings.value > 5)
    absent = (ratings.user < 0) | (ratings.item < 0)
    return [
        Check("CCM20-T1", "triples", "ratings that are not of 1 to 5 stars, or nobody's, or of "
              "nothing", len(ratings), int((wrong | absent).sum())),
    ]  # fmt: skip


def check_splits(
    ratings: Ratings,
    seed: int,
    *,
    split: Callable[[Ratings, str, np.random.Generator], Split] | None = None,
) -> list[Check]:
    """See what each family of splits promises (CCM20 Sec. 3.2; E11)."""
    split = split or (lambda ratings, rule, rng: SplitRule.parse(rule).splits(ratings, rng=rng)[0])
    # Who has one rating cannot give one away.
    counts = np.bincount(ratings.user, minlength=ratings.n_users)
    able = ratings.take(counts[ratings.user] > 1)
    rules = ("ratio 0.5", "ratio 0.8", "leave-out 1", "uniform 0.2")
    splits = {rule: split(able, rule, stream(seed, "checks", rule)) for rule in rules}
    whole = np.sort(_pairs(able))
    astray = 0
    for sides in splits.values():
        both = np.concatenate([_pairs(sides.train), _pairs(sides.test)])
        astray += int(len(both) != len(whole) or (np.sort(both) != whole).any())
    tested = np.bincount(splits["leave-out 1"].test.user, minlength=able.n_users)
    owners = np.bincount(able.user, minlength=able.n_users) > 0
    uniform = splits["uniform 0.2"]
    of_items = np.bincount(uniform.test.item, minlength=able.n_items)
    trained = np.bincount(uniform.train.item, minlength=able.n_items)
    chosen = of_items > 0
    rng = stream(seed, "checks", "times")
    timed = replace(able, timestamp=rng.integers(1, 10**9, len(able)))
    older = 0
    for rule in ("temporal 0.2", "temporal-user 0.2"):
        cut = split(timed, rule, stream(seed, "checks", rule))
        whose = (np.zeros(len(part), np.int64) if rule == "temporal 0.2" else part.user
                 for part in (cut.train, cut.test))  # fmt: skip
        of_train, of_test = whose
        newest = np.full(able.n_users, -1, dtype=np.int64)
        np.maximum.at(newest, of_train, _times(cut.train))
        older += int((_times(cut.test) < newest[of_test]).sum())
    unnoticed = 0
    for n_out in (int(counts[counts > 0].min()), int(counts.max())):
        try:
            split(ratings, f"leave-out {n_out}", stream(seed, "checks", "leave-out"))
        except DataError:
            continue
        unnoticed += 1
    claim = "CCM20-D-A2"
    return [
        Check(claim, "temporal", "test ratings that are older than a training rating of the same "
              "cut", 2, older),
        Check(claim, "presupposed", "times that users with too few ratings went unnoticed", 2,
              unnoticed),
        Check(claim, "together", "splits in which a rating is on both sides, or on none",
              len(rules), astray),
        Check(claim, "users", "users without the number of test ratings that leave-l-out asks for",
              int(owners.sum()), int((tested[owners] != 1).sum())),
        Check(claim, "items", "tested items of the uniform split without the same number of test "
              "ratings", int(chosen.sum()), _unlike(of_items[chosen])),
        Check(claim, "items-train", "tested items of the uniform split without the same number of "
              "training ratings", int(chosen.sum()), _unlike(trained[chosen])),
    ]  # fmt: skip


def _times(ratings: Ratings) -> IntArray:
    assert ratings.timestamp is not None
    return ratings.timestamp.astype(np.int64)


def _pairs(ratings: Ratings) -> IntArray:
    return ratings.user.astype(np.int64) * ratings.n_items + ratings.item


def _unlike(counts: IntArray) -> int:
    """Count those that differ from the most frequent."""
    return int(len(counts) - np.bincount(counts).max()) if len(counts) else 0


# -- users and items without a score ---------------------------------------------------------------


def check_untrained(table: RankTable, train: Ratings) -> list[Check]:
    """See for which pairs systems are asked, and what users without training get (Sec. 3.3)."""
    trained = train.user_counts() > 0
    unlike = int((table.n_targets != train.n_items - train.user_counts()).sum())
    scored = int((table.n_scored[~trained] > 0).sum())
    return [
        Check("CCM20-D-B1", "pairs", "users whose targets are not all items without their training "
              "ratings", table.n_users, unlike),
        Check("CCM20-D-B1", "unscored-users", "users without training ratings whom nearest "
              "neighbours score", int((~trained).sum()), scored),
    ]  # fmt: skip


def check_neighbours(
    table: RankTable, train: Ratings, *, n_neighbours: int = 100, seed: int = 1
) -> list[Check]:
    """Count, for some users, which items their nearest neighbours have rated (CCM20 Sec. 3.4)."""
    shape = (train.n_users, train.n_items)
    profiles = sparse.csr_matrix((train.value, (train.user, train.item)), shape=shape)
    rated = sparse.csr_matrix((np.ones(len(train)), (train.user, train.item)), shape=shape)
    norms = np.sqrt(np.asarray(profiles.multiply(profiles).sum(axis=1)).ravel())
    able = np.flatnonzero(norms > 0)
    drawn = stream(seed, "checks", "neighbours").permutation(able)[:_N_USERS]
    wrong = looked = 0
    for user in drawn.tolist():
        near = np.asarray((profiles @ profiles[user].T).todense()).ravel() / np.where(
            norms > 0, norms * norms[user], 1
        )
        near = near.astype(np.float32)
        near[user] = 0
        order = np.argsort(-near, kind="stable")
        last = near[order[n_neighbours - 1 : n_neighbours + 1]]
        if len(last) == 2 and last[0] == last[1] > 0:
            continue  # who is the last neighbour, chance decides
        neighbours = order[:n_neighbours][near[order[:n_neighbours]] > 0]
        known = np.asarray(rated[neighbours].sum(axis=0)).ravel() > 0
        known[rated[user].indices] = False
        rows = table.user == user
        listed = table.rank[rows] > 0
        wrong += int(known.sum() != table.n_scored[user])
        wrong += int((listed != known[table.item[rows]]).sum())
        looked += 1 + int(rows.sum())
    return [
        Check("CCM20-D-B2", "neighbours", "scores for items that no neighbour has rated, or "
              "missing for others", looked, wrong),
    ]  # fmt: skip


def check_overlap_served(table: RankTable, train: Ratings, overlap: int) -> list[Check]:
    """See that a user is served if, and only if, another shares enough rated items (Sec. 4.7)."""
    shape = (train.n_users, train.n_items)
    ones = np.ones(len(train), dtype=np.int32)
    profiles = sparse.csr_matrix((ones, (train.user, train.item)), shape=shape)
    wrong = 0
    # What users share is a sparse matrix first, which is the larger one where it is not sparse.
    for users in row_blocks(train.n_users, 16 * train.n_users):
        block = np.asarray((profiles[users] @ profiles.T).todense())
        rows, first = np.arange(len(block)), users.start
        block[rows, first + rows] = 0
        near = block >= overlap
        for row in rows.tolist():
            others = np.flatnonzero(near[row])
            more = len(others) and len(
                np.setdiff1d(profiles[others].indices, profiles[first + row].indices)
            )
            served = table.n_scored[first + row] > 0
            # With ten neighbours of many, those taken may have rated nothing else.
            wrong += int(served and not len(others)) + int(bool(more) and not served
                                                          and len(others) <= 10)  # fmt: skip
    return [
        Check("CCM20-F8", "overlap", "users served without a neighbour who shares enough items, or "
              "not served though there is one", train.n_users, wrong),
    ]  # fmt: skip


def check_fills(tables: Mapping[str, RankTable], train: Ratings) -> list[Check]:
    """See that filled items stand below all others, in the order of what fills them (Sec. 4.6)."""
    none = tables["none"]
    missing = none.rank == 0
    counts = np.bincount(train.item, minlength=train.n_items).astype(np.float64)
    sums = np.bincount(train.item, train.value, minlength=train.n_items)
    means = np.where(counts > 0, sums / np.maximum(counts, 1), -np.inf)
    worth = {"random": np.zeros(train.n_items), "popularity": counts, "average": means}
    below, order = {}, {}
    for fill, by in worth.items():
        table = tables[fill]
        place = table.condensed_rank
        last = np.zeros(table.n_users, dtype=np.int64)
        np.maximum.at(last, table.user[~missing], place[~missing])
        below[fill] = int((place[missing] <= last[table.user[missing]]).sum())
        rows = np.flatnonzero(missing)
        rows = rows[np.lexsort((place[rows], table.user[rows]))]
        same = table.user[rows][1:] == table.user[rows][:-1]
        value = by[table.item[rows]]
        order[fill] = int((same & (value[1:] > value[:-1] + 1e-9)).sum())
    n = int(missing.sum())
    absent = int((none.condensed_rank[missing] > 0).sum())
    fills = [
        Check("CCM20-B12-SETUP", fill, f"items filled by {fill} above scored ones, or in another "
              "order", n, below[fill] + order[fill])
        for fill in worth
    ]  # fmt: skip
    return [
        Check("CCM20-D-B2", "below", "filled items above scored ones", n, sum(below.values())),
        Check("CCM20-D-B2", "absent", "items without a score in lists from which they are removed",
              n, absent),
        *fills,
    ]  # fmt: skip


# -- what is printed -------------------------------------------------------------------------------

_PRINTED: Mapping[str, Mapping[str, Any]] = {
    KNN: {"n_neighbours": 100, "normalised": False, "min_overlap": 1},
    READINGS[0]: {"n_factors": 50, "n_iterations": 20, "regularisation": 1, "alpha": 0.1},
}
_SWAPPED = {"n_factors": 50, "n_iterations": 20, "regularisation": 0.1, "alpha": 1}


def check_setup(min_rating: float, asked: Grid, filled: Grid) -> list[Check]:
    """Compare systems and starting configuration with what is printed (CCM20 Sec. 4)."""
    systems = {system.name: system for system in asked.systems}
    printed = sum(_differing(systems[name], wanted) for name, wanted in _PRINTED.items())
    swapped = _differing(systems[READINGS[1]], _SWAPPED)
    full = asked.parsed["full"]
    start = [
        asked.split == split_of(HALF),
        full == Protocol.parse(f"AI-AN-AR rel>={min_rating} users=trained"),
        full.averaging.population == "trained",
        full.unscored == "none",
        not full.condensed,
        full.min_rating == min_rating,
        full.averaging.statistic == "mean" and not full.averaging.weights,
        not full.average.coverage,
        {"P@10", "nDCG@10"} <= set(asked.by_label["full"]),
        ("full", "P@10") in asked.compare and ("full", "nDCG@10") in asked.compare,
    ]
    policies = {protocol.unscored for protocol in filled.parsed.values()}
    setup = [
        filled.select == "keep=50%",
        filled.split == split_of(HALF),
        policies == {"none", "random", "popularity", "average-rating"} and len(FILLS) == 4,
        all(protocol.condensed for protocol in filled.parsed.values()),
        all(protocol.averaging.population == "all" for protocol in filled.parsed.values()),
        [_neighbours(system) for system in filled.systems] == [1, 3, 10, 30, 100],
        [system.name for system in filled.systems] == [fill_name(size) for size in SIZES],
    ]
    return [
        Check("CCM20-SETUP", "systems", "parameters of kNN and MF other than printed", 7, printed),
        Check("CCM20-SETUP", "swapped", "parameters of MF other than printed with lambda and alpha "
              "swapped", 4, swapped),
        Check("CCM20-SETUP", "start", "decisions other than printed", len(start),
              start.count(False)),
        Check("CCM20-B12-SETUP", "setup", "parts of the experiment other than printed", len(setup),
              setup.count(False)),
    ]  # fmt: skip


def _differing(system: System, wanted: Mapping[str, Any]) -> int:
    model = system.build()
    return sum(getattr(model, name, None) != value for name, value in wanted.items())


def _neighbours(system: System) -> int:
    return int(getattr(system.build(), "n_neighbours", 0))


# -- facts about the data --------------------------------------------------------------------------


def facts(dataset: Dataset, min_rating: float) -> dict[str, float]:
    """Count what CCM20 says of its data: sizes, profiles, tails, likes (Sec. 2.3, 4.5, 4.6)."""
    ratings = dataset.ratings
    users, items = (
        np.bincount(ids, minlength=n)
        for ids, n in ((ratings.user, ratings.n_users), (ratings.item, ratings.n_items))
    )
    liked = ratings.value >= min_rating
    of_users, of_items = (
        np.bincount(ids[liked], minlength=n)
        for ids, n in ((ratings.user, ratings.n_users), (ratings.item, ratings.n_items))
    )
    some, known = users > 0, items > 0
    n_users, n_items = int(some.sum()), int(known.sum())
    return {
        "users": float(n_users),
        "items": float(n_items),
        "ratings": float(len(ratings)),
        "density": len(ratings) / (n_users * n_items),
        "lowest rating": float(ratings.value.min()),
        "highest rating": float(ratings.value.max()),
        "smallest profile": float(users[some].min()),
        "users up to 100": float((users[some] <= 100).mean()),
        "items up to 100": float((items[known] <= 100).mean()),
        "Gini of users": _gini(users[some]),
        "Gini of items": _gini(items[known]),
        "liked share": float(liked.mean()),
        "Pearson of users": _pearson(users[some], of_users[some]),
        "Pearson of items": _pearson(items[known], of_items[known]),
    }


def _gini(counts: IntArray) -> float:
    ordered = np.sort(counts).astype(np.float64)
    places = np.arange(1, len(ordered) + 1)
    return float((2 * places - len(ordered) - 1) @ ordered / (len(ordered) * ordered.sum()))


def _pearson(a: IntArray, b: IntArray) -> float:
    if len(a) < 2 or not a.std() or not b.std():
        return float("nan")
    return float(np.corrcoef(a, b)[0, 1])


def unscored_facts(
    tables: Mapping[tuple[str, str], RankTable], trained: Mapping[str, IntArray]
) -> dict[str, float]:
    """Count what has no score at the start, and who has no training ratings."""
    shares: dict[str, float] = {}
    for name in (KNN, *READINGS):
        table = tables[name, "full"]
        shares[f"unscored test ratings of {name}"] = float((table.rank == 0).mean())
        targets = table.n_targets.sum()
        shares[f"unscored pairs of {name}"] = float(1 - table.n_scored.sum() / targets)
    for share, counts in trained.items():
        shares[f"users without training at {share}"] = float((counts == 0).mean())
    table = tables[KNN, "full"]
    shares["condensed share"] = float((table.rank > 0).sum() / max(1, table.n_scored.sum()))
    return shares


def undefined_users(table: RankTable, min_rating: float) -> float:
    """Give the share of the users with test ratings who like none of them."""
    tested = np.bincount(table.user, minlength=table.n_users) > 0
    likes = np.bincount(table.user[table.value >= min_rating], minlength=table.n_users) > 0
    return float((tested & ~likes).sum() / max(1, tested.sum()))
