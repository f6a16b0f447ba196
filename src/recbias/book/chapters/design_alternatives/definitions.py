"""How chapter 1 checks definitions of BCC17 Sections 2-3: notation, target sets, relevance.

Target sets are rebuilt here from the ratings. Every check takes what it judges as an argument.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy  # its parts are loaded when they are first used: `stats` takes long

from recbias._system.streams import stream
from recbias.book.chapters.design_alternatives.ranking_by_sorting import LABELS, RankedTwice
from recbias.claims.checks import Check, joined_checks
from recbias.data.ratings import Ratings
from recbias.errors import ConfigError
from recbias.metrics import measure, parse_metric
from recbias.protocol.splits import Split, from_fold_labels
from recbias.protocol.targets import all_targets, candidate_items, non_relevant_targets
from recbias.ranking.tables import RankTable
from recbias.theory import SplitStatistics, split_statistics

Code = Literal["AI", "TI"]
CODES: tuple[Code, ...] = ("AI", "TI")
Mask = npt.NDArray[np.bool_]


class _UserItems(NamedTuple):
    """Whether each item is in the user's training, in their test, relevant in their test."""

    user: int
    trained: Mask
    tested: Mask
    relevant: Mask


def _user_items(
    split: Split, users: npt.NDArray[np.int64], min_rating: float
) -> Iterator[_UserItems]:
    train, test = split.train, split.test
    for user in users.tolist():
        masks = np.zeros((3, test.n_items), dtype=bool)
        rows = slice(test.indptr[user], test.indptr[user + 1])
        masks[0][train.item[train.indptr[user] : train.indptr[user + 1]]] = True
        masks[1][test.item[rows]] = True
        masks[2][test.item[rows][test.value[rows] >= min_rating]] = True
        yield _UserItems(user, *masks)


def _candidates(split: Split) -> dict[Code, Mask]:
    """Tell for each item whether it is a candidate: the catalogue, and what anybody has in test."""
    anybody = np.zeros(split.test.n_items, dtype=bool)
    anybody[split.test.item] = True
    return {"AI": np.ones_like(anybody), "TI": anybody}


def check_notation(found: SplitStatistics, split: Split, min_rating: float) -> list[Check]:
    """Compare sigma, rho, t and delta under TI with their definitions in Table 2, user by user."""
    n_users = split.test.n_users
    candidates = _candidates(split)["TI"]
    sizes, shares = [], []
    for of_user in _user_items(split, np.arange(n_users), min_rating):
        targets = candidates & ~of_user.trained
        sizes.append(int(targets.sum()))
        shares.append(int((targets & of_user.relevant).sum()) / sizes[-1])
    t = n_users / sum(1 / size for size in sizes)
    n_test, n_train = len(split.test.value), len(split.train.value)
    n_relevant = sum(int((part.value >= min_rating).sum()) for part in (split.train, split.test))
    defined = {
        "sigma": n_test / (n_test + n_train),
        "rho": sum(shares) / n_users,
        "t": t,
        "delta": n_relevant / (t * n_users),
    }
    return [
        Check(
            "BCC17-T2",
            name,
            f"relative deviation of {name} from its definition",
            n_users,
            abs(float(getattr(found, name)) / value - 1),
        )
        for name, value in defined.items()
    ]


def equal_sizes() -> tuple[SplitStatistics, int]:
    """Make users whose target sets hold 7 items each; return the notation, and that size."""
    cells = [
        (user, (4 * user + step) % 10, 5, int(step < 3)) for user in range(20) for step in range(4)
    ]
    frame = pd.DataFrame(cells, columns=["user_id", "item_id", "rating", "fold"])
    frame = frame.sort_values(["user_id", "item_id"])
    ratings = Ratings.from_frame(frame[["user_id", "item_id", "rating"]], name="equal sizes")
    split = from_fold_labels(ratings, frame["fold"].to_numpy())[0]
    return split_statistics(split, "AI", min_rating=5), 7


def check_equal_sizes(found: SplitStatistics, size: int) -> list[Check]:
    """Check that t is the common size of target sets that are equally large (Table 2)."""
    what = "|t - |T_u|| where all target sets are equally large"
    return [Check("BCC17-T2", "equal-sizes", what, found.n_users, abs(found.t - size))]


def check_places(ranked: Sequence[RankedTwice]) -> list[Check]:
    """Compare every stored rank with the place of the item in its sorted target set (Table 2)."""
    what = f"|stored rank - place in the sorted target set|, {', '.join(LABELS)}"
    return joined_checks(
        Check("BCC17-T2", "place", what, len(sorted_places), largest(sorted_places - stored))
        for rankings in ranked
        for label in LABELS
        for sorted_places, stored in [places(rankings, label)]
    )


def places(each: RankedTwice, label: str) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return ranks by sorting and as stored, row by row; of runs the relevant rows."""
    sorted_ranks, table = each.found, each.stored[label]
    rows = (
        sorted_ranks.positive if table.per == "run" else np.ones(len(sorted_ranks.item), dtype=bool)
    )
    if not np.array_equal(sorted_ranks.item[rows], table.item):
        raise ConfigError(f"{each.system}, {label}: stored ranks are of other ratings than sorted")
    return sorted_ranks.ranks[label][rows], table.rank.astype(np.int64)


def largest(values: npt.ArrayLike) -> float:
    """Return the largest absolute value, 0 of none."""
    return float(np.max(np.abs(np.asarray(values, dtype=float)), initial=0.0))


class PackageSets(NamedTuple):
    """The package's candidates by code, target sets and non-relevant items by code and user."""

    candidates: Callable[[Code], npt.NDArray[np.int32]]
    targets: Callable[[Code, int], npt.NDArray[np.int32]]
    others: Callable[[Code, int], npt.NDArray[np.int32]]

    @classmethod
    def of(cls, split: Split, min_rating: float) -> PackageSets:
        """Bind the functions of `recbias.protocol.targets` to a split."""
        return cls(
            lambda code: candidate_items(split, code),
            lambda code, user: all_targets(split, code, user),
            lambda code, user: non_relevant_targets(split, code, user, min_rating=min_rating),
        )


def check_candidates(
    sets: PackageSets, split: Split, users: npt.NDArray[np.int64], min_rating: float
) -> list[Check]:
    """Compare candidates, target sets and their non-relevant items with Table 3 and Sec. 3."""
    candidates = _candidates(split)
    n_items = split.test.n_items

    def mask(items: npt.NDArray[np.int32]) -> Mask:
        flags = np.zeros(n_items, dtype=bool)
        flags[items] = True
        return flags

    names = ("ar", "an", "rest", "inside", "rated-low", "unrated")
    wrong = dict.fromkeys(names, 0)
    for of_user in _user_items(split, users, min_rating):
        for code in CODES:
            targets, others = (
                mask(sets.targets(code, of_user.user)),
                mask(sets.others(code, of_user.user)),
            )
            free = candidates[code] & ~of_user.trained
            misplaced = {
                "ar": of_user.relevant & ~targets,
                "an": (free & ~of_user.relevant) ^ others,
                "rest": (targets & ~of_user.relevant) ^ others,
                "inside": others & (~candidates[code] | of_user.trained | of_user.relevant),
                "rated-low": free & of_user.tested & ~of_user.relevant & ~others,
                "unrated": free & ~of_user.tested & ~others,
            }
            for name, items in misplaced.items():
                wrong[name] += int(items.sum())
    n_sets = len(users) * len(CODES)

    def count(claim: str, name: str, what: str) -> Check:
        return Check(claim, name, what, n_sets, float(wrong[name]))

    differing = {
        code: float((mask(sets.candidates(code)) ^ candidates[code]).sum()) for code in CODES
    }
    return [
        Check(
            "BCC17-T3",
            "ai",
            "items of the catalogue missing in C under AI",
            n_items,
            differing["AI"],
        ),
        Check(
            "BCC17-T3",
            "ti",
            "items in which C under TI differs from the union of all R_test(u)",
            n_items,
            differing["TI"],
        ),
        count("BCC17-T3", "ar", "test positives missing in T_u under AR"),
        count("BCC17-T3", "an", "items in which N_u differs from C - PR_test(u) - R_train(u)"),
        count("BCC17-T3", "rest", "items in which N_u differs from T_u - PR_test(u)"),
        count("BCC17-T3", "inside", "items of N_u outside C, in PR_test(u) or in R_train(u)"),
        count("BCC17-D-RELV", "rated-low", "test items rated low that N_u does not hold"),
        count("BCC17-D-RELV", "unrated", "unrated candidates that N_u does not hold"),
    ]


class _Sizes(NamedTuple):
    """By user: relevant test items, what may be sampled for a run (TI), targets under AN."""

    relevant: npt.NDArray[np.int64]
    pool: npt.NDArray[np.int64]
    targets: dict[Code, npt.NDArray[np.int64]]

    @classmethod
    def of(cls, split: Split, users: npt.NDArray[np.int64], min_rating: float) -> _Sizes:
        candidates = _candidates(split)
        rows = [
            (
                of_user.relevant.sum(),
                (candidates["TI"] & ~of_user.trained & ~of_user.relevant).sum(),
                *((candidates[code] & ~of_user.trained).sum() for code in CODES),
            )
            for of_user in _user_items(split, users, min_rating)
        ]
        relevant, pool, *targets = np.array(rows, dtype=np.int64).T
        return cls(relevant, pool, dict(zip(CODES, targets, strict=True)))


def check_set_sizes(
    tables: Mapping[str, RankTable],
    split: Split,
    users: npt.NDArray[np.int64],
    *,
    min_rating: float,
    n_sampled: int,
) -> list[Check]:
    """Compare the sizes of stored AR target sets with Table 3 and Sec. 3."""
    sizes = _Sizes.of(split, users, min_rating)
    full = {code: tables[label].n_targets[users] for code, label in (("AI", "AI"), ("TI", "AR"))}
    off = [full[code] - sizes.targets[code] for code in CODES]
    sampled = tables["NN"].n_targets[users] - sizes.relevant
    wrong = largest(sampled - np.minimum(n_sampled, sizes.pool))
    n_sets = len(users)
    return [
        Check(
            "BCC17-T3", "set-size", "||T_u| - |C - R_train(u)|| under AN", 2 * n_sets, largest(off)
        ),
        Check("BCC17-T3", "sample-size", "||N_u| - min(N, pool)| under AR-NN", n_sets, wrong),
    ]


def check_mixed(split: Split, users: npt.NDArray[np.int64], min_rating: float) -> list[Check]:
    """Count the AR target sets of one kind of items (Sec. 3.1)."""
    sizes = _Sizes.of(split, users, min_rating)
    one_kind = [(sizes.relevant == 0) | (sizes.targets[code] <= sizes.relevant) for code in CODES]
    what = "AR target sets without a relevant or without a non-relevant item"
    return [Check("BCC17-D-RELV", "mixed", what, 2 * len(users), float(np.sum(one_kind)))]


def check_runs(
    tables: Mapping[str, RankTable],
    split: Split,
    users: npt.NDArray[np.int64],
    *,
    min_rating: float,
    size: int,
) -> list[Check]:
    """Compare stored runs with Table 3 and Eq. 1: one for each test positive, of one size."""
    test, sizes = split.test, _Sizes.of(split, users, min_rating)
    relevant = np.isin(test.user, users) & (test.value >= min_rating)
    positives = set(zip(test.user[relevant].tolist(), test.item[relevant].tolist(), strict=True))
    pool = np.zeros(test.n_users, dtype=np.int64)
    pool[users] = sizes.pool
    checks = []
    for label in ("1R", "shared"):
        table = tables[label]
        stored = Counter(zip(table.user.tolist(), table.item.tolist(), strict=True))
        odd = sum(stored[pair] != 1 for pair in positives) + len(stored.keys() - positives)
        per_user = np.bincount(table.user, minlength=test.n_users)[users]
        n_runs, sampled = len(table.item), table.n_targets - 1
        wrong = largest(sampled - np.minimum(size - 1, pool[table.user]))
        rows = [
            (
                "BCC17-T3",
                "one-per-run",
                "test positives without one run of their own, and runs of others",
                odd,
            ),
            ("BCC17-T3", "run-size", "||N_u^r| - min(t - 1, pool)| under 1R-NN", wrong),
            (
                "BCC17-EQ1",
                "runs-per-user",
                "|runs - |PR_test(u)|| of a user",
                largest(per_user - sizes.relevant),
            ),
            (
                "BCC17-D-RELV",
                "mixed-runs",
                "1R target sets without a non-relevant item",
                (sampled < 1).sum(),
            ),
        ]
        checks += [Check(claim, name, what, n_runs, float(x)) for claim, name, what, x in rows]
    return joined_checks(checks)


def check_sampling(ranked: Sequence[RankedTwice], *, size: int, seed: int) -> list[Check]:
    """Check that runs sample uniformly: places among a sample follow from those in the whole pool.

    References
    ----------
    BCC17 Sec. 3.1, Table 3 (NN).
    """
    p_values, n_checked = [], 0
    for rankings in ranked:
        sorted_ranks, table = rankings.found, rankings.stored["1R"]
        listed = (table.rank > 0) & (sorted_ranks.pool[sorted_ranks.positive] > 0)
        pool, above = (
            sorted_ranks.pool[sorted_ranks.positive][listed],
            sorted_ranks.above[sorted_ranks.positive][listed],
        )
        law = scipy.stats.hypergeom(pool, above, np.minimum(size - 1, pool))
        counted = table.rank[listed].astype(np.int64) - 1
        share = stream(seed, "checks", "sampling", rankings.system).random(len(counted))
        uniform = law.cdf(counted - 1) + share * law.pmf(counted)
        n_classes = max(2, min(20, len(counted) // 10))
        classes = np.minimum((uniform * n_classes).astype(int), n_classes - 1)
        p_values.append(_chi_square(np.bincount(classes, minlength=n_classes), len(counted)))
        n_checked += len(counted)
    p = min(1.0, len(p_values) * min(p_values))
    what = "p-value of: a sample is drawn uniformly from the pool (chi-square over runs)"
    return [Check("BCC17-T3", "sampled-uniformly", what, n_checked, p)]


def _chi_square(counts: npt.NDArray[np.int64], n: int) -> float:
    expected = n / len(counts)
    statistic = float(((counts - expected) ** 2).sum()) / expected if n else 0.0
    return float(scipy.stats.chi2.sf(statistic, len(counts) - 1))


def hits_in_lists(each: RankedTwice) -> npt.NDArray[np.int64]:
    """Count each user's relevant test items in their sorted list, by membership in sets."""
    sorted_ranks = each.found
    positives: dict[int, set[int]] = {user: set() for user in sorted_ranks.users.tolist()}
    for user, item in zip(
        sorted_ranks.user[sorted_ranks.positive],
        sorted_ranks.item[sorted_ranks.positive],
        strict=True,
    ):
        positives[int(user)].add(int(item))
    counts = [
        len(p & set(row))
        for p, row in zip(positives.values(), sorted_ranks.lists.tolist(), strict=True)
    ]
    return np.array(counts, dtype=np.int64)


def check_relevance(
    ranked: Sequence[RankedTwice], *, min_rating: float, cutoff: int
) -> list[Check]:
    """Check that what counts as a hit is what its user rated so in test, and nothing else.

    References
    ----------
    BCC17 Sec. 3.
    """
    checks = []
    for rankings in ranked:
        (values,) = measure(
            rankings.stored["AR"], [parse_metric(f"P@{cutoff}")], min_rating=min_rating
        )
        users = rankings.found.users
        apart = values[users] * cutoff - hits_in_lists(rankings)
        what = "|hits measured - relevant test items in the sorted list| of a user"
        checks.append(Check("BCC17-D-RELV", "hits", what, len(users), largest(apart)))
    return joined_checks(checks)
