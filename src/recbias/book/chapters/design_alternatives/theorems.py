"""How chapter 1 checks the equations and the lemma of BCC17 Sections 3.2-3.4 in a world.

For Popularity and pLSA on the first fold, trained for it, every target set is sorted by itself
(`ranking_by_sorting`), and what follows from those ranks by hand is compared with what the
experiment stored and measured. Every check takes what it judges as an argument.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from itertools import takewhile
from typing import Any

import numpy as np
import numpy.typing as npt

from recbias._system.streams import stream
from recbias.book.chapters.design_alternatives.definitions import (
    PackageSets,
    check_candidates,
    check_equal_sizes,
    check_mixed,
    check_notation,
    check_places,
    check_relevance,
    check_runs,
    check_sampling,
    check_set_sizes,
    equal_sizes,
    hits_in_lists,
    largest,
    places,
)
from recbias.book.chapters.design_alternatives.frame import (
    check_cost,
    check_coverage,
    check_run_sizes,
    check_setup,
    check_task_table,
)
from recbias.book.chapters.design_alternatives.proof import (
    check_proof,
    instances_of,
    random_instances,
)
from recbias.book.chapters.design_alternatives.ranking_by_sorting import (
    LABELS,
    RankedTwice,
    SortedRanks,
    rank_by_sorting,
    train_as_experiment,
)
from recbias.book.chapters.design_alternatives.setup import CHAPTER, protocols
from recbias.book.chapters.design_alternatives.toy import check_toy, toy_sets
from recbias.book.pages import task_table
from recbias.claims.checks import SEED, WORLD, Check, Checks, joined_checks
from recbias.claims.ledger import claims
from recbias.data.datasets import Dataset, load_dataset
from recbias.data.ratings import Ratings
from recbias.errors import ConfigError
from recbias.experiment.cells import rank_split
from recbias.experiment.grid import Grid
from recbias.experiment.makers import maker
from recbias.experiment.run import grid_tables, run
from recbias.metrics import measure, parse_metric
from recbias.metrics.aggregation import aggregate
from recbias.protocol.splits import Split
from recbias.protocol.targets import TargetRule, Targets
from recbias.protocol.testset import dataset_splits
from recbias.ranking.tables import RankTable
from recbias.recommenders import System, line_up
from recbias.theory import ranks_in_shared_set, split_statistics

RANKED_SYSTEMS = ("Popularity", "pLSA")
"""Systems that are trained and ranked a second time: one with many equal scores, one with few."""

MOST_USERS = 2000
"""So many users are ranked a second time; of more, a sample."""


class _Oracle:
    """Scores every test item by its rating, all others 0: the best ranking there is."""

    def __init__(self, split: Split) -> None:
        self._test = split.test

    def fit(self, train: Ratings, *, rng: np.random.Generator | None = None) -> _Oracle:
        return self

    def score(self, users: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.float32]:
        scores = np.zeros((len(users), self._test.n_items), dtype=np.float32)
        for row, user in enumerate(users):
            of_user = slice(self._test.indptr[user], self._test.indptr[user + 1])
            scores[row, self._test.item[of_user]] = self._test.value[of_user]
        return scores


# -- what holds on any data ------------------------------------------------------------------------


_MIN_RATING, _SIZE, _CUTOFF, _N_SAMPLED = 5, 100, 10, 1000


def _in_world() -> Grid:
    """Ask for the ranks of the systems that are ranked twice, in all designs of the chapter."""
    return Grid(
        WORLD,
        tuple(system for system in line_up("bcc17") if system.name in RANKED_SYSTEMS),
        protocols(_MIN_RATING, size=_SIZE, n_sampled=_N_SAMPLED),
        (f"P@{_CUTOFF}",),
        seed=SEED,
    )


@maker(CHAPTER, Checks, uses=_in_world)
def identities() -> tuple[list[Check], dict[str, float]]:
    """Check the definitions and theorems of the chapter in a world, on small sets and by hand.

    On the first fold, and there on at most `MOST_USERS` users, where nothing else is said.
    """
    grid, dataset = _in_world(), load_dataset(WORLD)
    run(grid, workers=1)
    first = dataset_splits(dataset, grid.split, seed=SEED)[0]
    users = _chosen_users(first.test.n_users, SEED)
    ranked = rank_twice(
        grid, first, users=users, min_rating=_MIN_RATING, size=_SIZE, n_sampled=_N_SAMPLED,
        cutoff=_CUTOFF,
    )  # fmt: skip
    (table,) = (claim.values for claim in claims() if claim.id == "BCC17-T1")
    sets = PackageSets.of(first, _MIN_RATING)
    stored = [
        check
        for rankings in ranked
        for check in (
            *check_set_sizes(
                rankings.stored, first, users, min_rating=_MIN_RATING, n_sampled=_N_SAMPLED
            ),
            *check_runs(rankings.stored, first, users, min_rating=_MIN_RATING, size=_SIZE),
        )
    ]
    threshold = _several_grades(first, _MIN_RATING)
    proofs = [
        *random_instances(SEED),
        *(i for rankings in ranked for i in instances_of(rankings.found)),
    ]
    checks = [
        *check_task_table(task_table(), table),
        *check_notation(split_statistics(first, "TI", min_rating=_MIN_RATING), first, _MIN_RATING),
        *check_equal_sizes(*equal_sizes()),
        *check_places(ranked),
        *check_candidates(sets, first, users, _MIN_RATING),
        *joined_checks(stored),
        *check_sampling(ranked, size=_SIZE, seed=SEED),
        *check_toy(toy_sets()),
        *check_relevance(ranked, min_rating=_MIN_RATING, cutoff=_CUTOFF),
        *check_ar_precision(
            ranked, n_users=first.test.n_users, min_rating=_MIN_RATING, cutoff=_CUTOFF
        ),
        *check_1r_precision(ranked, min_rating=_MIN_RATING, cutoff=_CUTOFF),
        *check_run_sizes(ranked[0].stored["1R"]),
        *check_ceiling(oracle_runs(first, _MIN_RATING, _SIZE, SEED), _MIN_RATING, _CUTOFF),
        *check_lemma(ranked, min_rating=_MIN_RATING, cutoff=_CUTOFF),
        *check_proof(proofs, _CUTOFF),
        *_check_metrics_of_runs(ranked, _MIN_RATING),
        *_check_graded_runs(first, threshold, _SIZE, _CUTOFF, dataset.ratings.scale.maximum, SEED),
        *check_ar_grades(ranked, threshold=threshold, cutoff=_CUTOFF),
    ]
    return checks, {}


# -- what hangs on data ----------------------------------------------------------------------------


@maker(CHAPTER, Checks, revision=3)
def checks(
    dataset: Dataset,
    *,
    seed: int,
    split: str,
    min_rating: float,
    size: int,
    grid: Grid,
) -> tuple[list[Check], dict[str, float]]:
    """Compare data and experiment with the paper's, and count what the chapter says of them.

    Parameters
    ----------
    dataset
        Loaded dataset.
    seed, split
        Those of the chapter's grids.
    min_rating
        Smallest rating that is relevant.
    size
        Size of a 1R target set.
    grid
        The chapter's grid of systems.

    Returns
    -------
    checks : list of Check
        On the first fold, where nothing else is said.
    statistics : dict
        The notation of Table 2 on the first fold, as ``"rho[TI]"``.
    """
    splits = dataset_splits(dataset, split, seed=seed)
    first = splits[0]
    (published,) = (claim.values["ML-1M"] for claim in claims() if claim.id == "BCC17-SETUP")
    checks = [
        *check_setup(splits, grid, min_rating=min_rating, published=published),
        *check_coverage(splits),
        *check_cost(first, min_rating=min_rating, size=size),
        *check_mixed(first, _chosen_users(first.test.n_users, seed), min_rating),
    ]
    statistics = {
        f"{name}[{code}]": float(value)
        for code in ("TI", "AI")
        for name, value in vars(split_statistics(first, code, min_rating=min_rating)).items()
    }
    return checks, statistics


# -- what is looked at -----------------------------------------------------------------------------


def _chosen_users(n_users: int, seed: int) -> npt.NDArray[np.int64]:
    if n_users <= MOST_USERS:
        return np.arange(n_users)
    drawn = stream(seed, "checks", "users").choice(n_users, MOST_USERS, replace=False)
    return np.sort(drawn)


def rank_twice(
    grid: Grid,
    first: Split,
    *,
    users: npt.NDArray[np.int64],
    min_rating: float,
    size: int,
    n_sampled: int,
    cutoff: int,
) -> list[RankedTwice]:
    """Train `RANKED_SYSTEMS`, rank by sorting, and read what the experiment stored of them."""
    systems = {system.name: system for system in grid.systems}
    names = [name for name in RANKED_SYSTEMS if name in systems]
    missing = [] if names else list(RANKED_SYSTEMS)
    missing += [label for label in LABELS if label not in grid.parsed]
    if missing:
        raise ConfigError(
            f"checks on {grid.dataset}: the grid lacks {', '.join(missing)}; give that of the "
            "chapter's systems"
        )
    by_sorting = rank_by_sorting(
        {name: train_as_experiment(systems[name], first, seed=grid.seed) for name in names},
        first,
        users=users,
        min_rating=min_rating,
        size=size,
        n_sampled=n_sampled,
        cutoff=cutoff,
        seed=grid.seed,
    )
    stored: dict[str, dict[str, RankTable]] = {name: {} for name in names}
    for label in LABELS:
        tables = grid_tables(grid.with_systems(names), label)
        for name, _, repeat, table in takewhile(lambda entry: entry[1] == first.fold, tables):
            if repeat == 0:  # the seed that is trained here
                stored[name][label] = _of_users(table, users)
    return [RankedTwice(name, by_sorting[name], stored[name]) for name in names]


def _of_users(table: RankTable, users: npt.NDArray[np.int64]) -> RankTable:
    """Keep the rows of some users; the others count as users without test ratings."""
    rows = np.isin(table.user, users)
    names = ["user", "item", "value", "rank", "condensed_rank"]
    names += ["n_targets", "n_scored"] if table.per == "run" else []
    return dataclasses.replace(table, **{name: getattr(table, name)[rows] for name in names})


def _check_ranks(claim: str, ranked: Sequence[RankedTwice], label: str) -> list[Check]:
    what = f"|stored rank - place in the sorted target set| under {label}"
    return [
        Check(claim, "ranks", what, len(sorted_places), largest(sorted_places - stored))
        for rankings in ranked
        for sorted_places, stored in [places(rankings, label)]
    ]


def _measured(table: RankTable, metric: str, min_rating: float, population: str) -> float:
    metrics = [parse_metric(metric)]
    values = measure(table, metrics, min_rating=min_rating)
    return float(aggregate(table, values, min_rating=min_rating, population=population)[0])


def check_ar_precision(
    ranked: Sequence[RankedTwice], *, n_users: int, min_rating: float, cutoff: int
) -> list[Check]:
    """Compare P with the mean over all users of hits / n, counted in sorted lists.

    References
    ----------
    BCC17 Sec. 3.2.
    """
    checks = _check_ranks("BCC17-EQ-ARP", ranked, "AR")
    for rankings in ranked:
        table = rankings.stored["AR"]
        value = _measured(table, f"P@{cutoff}", min_rating, "all")
        by_hand = sum(hits_in_lists(rankings).tolist()) / (cutoff * n_users)
        what = "|P - mean over all users of hits/n in the sorted list|"
        checks.append(Check("BCC17-EQ-ARP", "mean", what, n_users, abs(value - by_hand)))
    return joined_checks(checks)


def check_1r_precision(
    ranked: Sequence[RankedTwice], *, min_rating: float, cutoff: int
) -> list[Check]:
    """Compare 1RP with the hits of all sorted runs over n times their number (Eq. 1)."""
    checks = _check_ranks("BCC17-EQ1", ranked, "1R")
    for rankings in ranked:
        value = _measured(rankings.stored["1R"], f"P@{cutoff}", min_rating, "runs")
        ranks = rankings.found.ranks["1R"][rankings.found.positive].tolist()
        by_hand = sum(1 <= place <= cutoff for place in ranks) / (cutoff * len(ranks))
        what = "|1RP - hits of sorted runs/(n |PR_test|)|"
        checks.append(Check("BCC17-EQ1", "mean", what, len(ranks), abs(value - by_hand)))
    return joined_checks(checks)


def oracle_runs(split: Split, min_rating: float, size: int, seed: int) -> RankTable:
    """Rank the runs of a split by the test ratings themselves."""
    rule = Targets(TargetRule.parse(f"TI-NN-1R t={size}"), min_rating)
    _, (runs,) = rank_split(_Oracle(split), split, [rule], seed=seed)
    return runs


def check_ceiling(runs: RankTable, min_rating: float, cutoff: int) -> list[Check]:
    """Check that the best ranking reaches 1/n under 1R (Sec. 3.2), whose runs are given."""
    value = _measured(runs, f"P@{cutoff}", min_rating, "runs")
    what = "|1RP of an oracle - 1/n|"
    return [Check("BCC17-C-MAX1R", "oracle", what, len(runs.rank), abs(value - 1 / cutoff))]


def check_lemma(ranked: Sequence[RankedTwice], *, min_rating: float, cutoff: int) -> list[Check]:
    """Check the lemma user by user: stored runs against hits in the sorted joint list (Eq. 2).

    References
    ----------
    BCC17 Sec. 3.4, Eq. 2.
    """
    checks = _check_ranks("BCC17-L1", ranked, "shared")
    for rankings in ranked:
        table, positive = rankings.stored["shared"], rankings.found.positive
        joint = rankings.found.joint[positive]
        n_relevant = np.bincount(table.user, minlength=table.n_users)[table.user]

        def per_user(hits: npt.NDArray[np.bool_], table: RankTable = table) -> npt.NDArray[Any]:
            return np.bincount(table.user, weights=hits / cutoff, minlength=table.n_users)

        listed = joint > 0
        low = per_user(listed & (joint <= cutoff))
        high = per_user(listed & (joint <= cutoff + n_relevant - 1))
        runs = per_user((table.rank > 0) & (table.rank <= cutoff))
        n_users, n_runs = len(np.unique(table.user)), len(joint)
        derived = ranks_in_shared_set(table)
        # Runs of equal rank may be derived in either order: compared is each user's set of ranks.
        order, joint_order = np.lexsort((derived, table.user)), np.lexsort((joint, table.user))
        apart = largest(derived[order] - joint[joint_order])
        checks += [
            Check("BCC17-L1", "lower", "lower bound - 1RP, per user", n_users, _most(low - runs)),
            Check("BCC17-L1", "upper", "1RP - upper bound, per user", n_users, _most(runs - high)),
            Check("BCC17-L1", "joint-ranks", "|derived - sorted rank in T_u|", n_runs, apart),
            Check(
                "BCC17-C-THETA",
                "upper",
                "hits of runs - |PR_test(u)| times the hits in the top n of T_u, over n",
                n_users,
                _most(runs - np.bincount(table.user, minlength=table.n_users) * low),
            ),
        ]
        for name, hits in (("lower", low), ("upper", high)):
            value = _measured(table, f"{name}@{cutoff}", min_rating, "runs")
            what = f"|{name} bound measured - by hand from joint lists|"
            deviation = abs(value - float(hits.sum()) / n_runs)
            checks.append(Check("BCC17-L1", f"{name}-value", what, n_runs, deviation))
    return joined_checks(checks)


def _most(values: npt.ArrayLike) -> float:
    return float(np.max(np.asarray(values, dtype=float)))


def check_one_relevant(
    ap: npt.NDArray[np.float64], rr: npt.NDArray[np.float64], places: npt.NDArray[np.int64]
) -> list[Check]:
    """Compare AP and RR of runs with their definitions on sorted lists, and with each other.

    References
    ----------
    BCC17 Sec. 6.3.
    """
    lists = [[place] if place else [] for place in places.tolist()]
    precisions = [_average_precision(ranks, 1) for ranks in lists]
    reciprocals = [1 / min(ranks) if ranks else 0.0 for ranks in lists]
    rows = [
        ("ap-is-rr", "|AP - RR| of a run", ap - rr),
        ("ap", "|AP measured - by its definition on the sorted run|", ap - precisions),
        ("rr", "|RR measured - 1/k, k the place in the sorted run|", rr - reciprocals),
    ]
    return [
        Check("BCC17-C-1RRED", name, what, len(ap), largest(apart)) for name, what, apart in rows
    ]


def _check_metrics_of_runs(ranked: Sequence[RankedTwice], min_rating: float) -> list[Check]:
    metrics = [parse_metric(text) for text in ("AP", "RR")]
    checks = []
    for rankings in ranked:
        ap, rr = measure(rankings.stored["1R"], metrics, min_rating=min_rating)
        checks += check_one_relevant(ap, rr, places(rankings, "1R")[0])
    return joined_checks(checks)


def _average_precision(ranks: Sequence[int], n_relevant: int) -> float:
    """Average the precision at the rank of each relevant item; 0 for those not in the list."""
    return sum(j / rank for j, rank in enumerate(sorted(ranks), 1)) / n_relevant


def _several_grades(split: Split, min_rating: float) -> float:
    """Lower a threshold, where needed, to the second largest rating of the test."""
    grades = np.unique(split.test.value)
    return min(min_rating, float(grades[-2:][0]))


def _check_graded_runs(
    split: Split, threshold: float, size: int, cutoff: int, rating_max: float, seed: int
) -> list[Check]:
    popular = train_as_experiment(System("Popularity", "Popularity"), split, seed=seed)
    rule = Targets(TargetRule.parse(f"TI-NN-1R t={size}"), threshold)
    _, (runs,) = rank_split(popular, split, [rule], seed=seed)
    # On a scale that ends at 1 there is no exponential gain.
    gains = ["", f"({_by_grade(threshold)})", *(["(exp)"] if rating_max > 1 else [])]
    binary, *graded = _ndcg(runs, threshold, cutoff, *gains, rating_max=rating_max)
    return check_run_grades(binary, graded, runs, cutoff=cutoff)


def _by_grade(threshold: float) -> str:
    """Name the gains by grade: ratings, as in the paper; where one may be 0 or below, from 1 up."""
    return "linear" if threshold > 0 else "steps"


def check_run_grades(
    binary: npt.NDArray[np.float64],
    graded: Sequence[npt.NDArray[np.float64]],
    runs: RankTable,
    *,
    cutoff: int,
) -> list[Check]:
    """Check that the grade of the only relevant item cannot move nDCG.

    References
    ----------
    BCC17 Sec. 6.3.
    """
    by_hand = [1 / math.log2(1 + n) if 1 <= n <= cutoff else 0.0 for n in runs.rank.tolist()]
    n_grades = float(len(np.unique(runs.value)))
    moved = largest([values - binary for values in graded])
    rows = [
        ("grades", "grades of relevant items", n_grades),
        ("ndcg-of-runs", "|nDCG with linear or exponential gains - binary| of a run", moved),
        ("ndcg", "|nDCG of a run - 1/log2(1 + k) within n|", largest(binary - by_hand)),
    ]
    return [Check("BCC17-C-1RRED", name, what, len(binary), worst) for name, what, worst in rows]


def check_ar_grades(ranked: Sequence[RankedTwice], *, threshold: float, cutoff: int) -> list[Check]:
    """Measure how far grades move nDCG under AR, and check its definition there.

    References
    ----------
    BCC17 Sec. 6.3, Fig. 8: gains are the ratings from the threshold on.
    """
    gain = _by_grade(threshold)
    less = 0.0 if gain == "linear" else threshold - 1
    checks = []
    for rankings in ranked:
        binary, graded = _ndcg(rankings.stored["AR"], threshold, cutoff, "", f"({gain})")
        sorted_ranks = rankings.found
        users = sorted_ranks.users[
            np.isin(sorted_ranks.users, sorted_ranks.user[sorted_ranks.value >= threshold])
        ]
        expected = [
            _ndcg_of(sorted_ranks, user, threshold, cutoff, less) for user in users.tolist()
        ]
        rows = [
            (
                "grades-under-ar",
                f"largest |nDCG with {gain} - with binary gains| of a user under AR",
                graded[users] - binary[users],
            ),
            (
                "ndcg-under-ar",
                f"|nDCG with {gain} gains - by its definition on the sorted list| under AR",
                graded[users] - expected,
            ),
        ]
        checks += [
            Check("BCC17-C-1RRED", name, what, len(users), largest(apart))
            for name, what, apart in rows
        ]
    return joined_checks(checks)


def _ndcg(
    table: RankTable, threshold: float, cutoff: int, *gains: str, rating_max: float | None = None
) -> npt.NDArray[np.float64]:
    metrics = [parse_metric(f"nDCG{gain}@{cutoff}") for gain in gains]
    return measure(table, metrics, min_rating=threshold, rating_max=rating_max)


def _ndcg_of(
    sorted_ranks: SortedRanks, user: int, threshold: float, cutoff: int, less: float
) -> float:
    """Compute nDCG of a user who has relevant items, from places in the sorted AR list."""
    rows = slice(*np.searchsorted(sorted_ranks.user, [user, user + 1]))
    pairs = zip(
        sorted_ranks.value[rows].tolist(), sorted_ranks.ranks["AR"][rows].tolist(), strict=True
    )
    gains = [(value - less, place) for value, place in pairs if value >= threshold]
    best = sorted((value for value, _ in gains), reverse=True)[:cutoff]
    ideal = sum(value / math.log2(1 + place) for place, value in enumerate(best, 1))
    return sum(v / math.log2(1 + place) for v, place in gains if 1 <= place <= cutoff) / ideal
