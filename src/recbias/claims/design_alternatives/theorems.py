"""How chapter 1 checks definitions and theorems of BCC17 Sections 2-3 on the data itself.

Target sets and lists are rebuilt user by user from sets of items, and compared with the package's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from recbias.aggregation import aggregate
from recbias.claims.checks import Check, Checks
from recbias.claims.design_alternatives.setup import CHAPTER, protocols
from recbias.claims.ledger import claims
from recbias.datasets import Dataset
from recbias.experiment import grid_tables
from recbias.grid import Grid
from recbias.makers import maker
from recbias.metrics import measure, parse_metric
from recbias.protocol import Protocol
from recbias.ranking import RankTable, rank, top_items
from recbias.ratings import Ratings
from recbias.recommenders import System
from recbias.splits import Split, SplitRule, from_fold_labels
from recbias.streams import stream
from recbias.targets import (
    TargetRule,
    Targets,
    all_targets,
    candidate_items,
    non_relevant_targets,
)
from recbias.testset import dataset_splits
from recbias.theory import lemma_bound, split_statistics

__all__ = ["theorem_checks"]

_ROUNDING = 1e-12
AI: Literal["AI"] = "AI"
TI: Literal["TI"] = "TI"


class _Oracle:
    """Scores every test item by its rating, all others 0: the best ranking there is."""

    def __init__(self, split: Split) -> None:
        self._test = split.test

    def fit(self, train: Ratings, *, rng: np.random.Generator | None = None) -> _Oracle:
        return self

    def score(self, users: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.float32]:
        scores = np.zeros((len(users), self._test.n_items), dtype=np.float32)
        for row, user in enumerate(users):
            own = slice(self._test.indptr[user], self._test.indptr[user + 1])
            scores[row, self._test.item[own]] = self._test.value[own]
        return scores


def _keys_of_grids(given: Mapping[str, Any], hashes: Mapping[str, str]) -> list[str]:
    """Name the grids whose cells are checked: they go stale with what ranked those."""
    return [Grid.from_dict(grid).key_of(hashes) for grid in given["grids"]]


@maker(f"{CHAPTER}/checks", Checks, uses=_keys_of_grids, covers=("grids",))
def theorem_checks(
    dataset: Dataset,
    *,
    seed: int,
    split: str,
    min_rating: float,
    size: int,
    cutoff: int,
    n_sampled: int,
    grids: Sequence[Mapping[str, Any]],
) -> tuple[list[Check], dict[str, float]]:
    """Check the definitions and theorems of the chapter on a dataset.

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
    cutoff
        Length of the lists.
    n_sampled
        Sampled items of the AR-NN target sets.
    grids
        Grids that were run here, as dicts: the lemma is checked on all their shared runs, the rest
        on the first fold.

    Returns
    -------
    checks : list of Check
        Target sets and lists are rebuilt here user by user from sets of items, apart from the
        package's counting.
    statistics : dict
        The notation of Table 2 on the first fold, as ``"rho[TI]"``.
    """
    splits = dataset_splits(dataset, split, seed=seed)
    first = splits[0]
    popular = System("Popularity", "Popularity").build().fit(first.train)
    names = protocols(min_rating, size=size, n_sampled=n_sampled)
    asked = {label: Protocol.parse(text) for label, text in names.items()}
    tables = dict(
        zip(
            asked,
            rank(popular, first, [protocol.targets for protocol in asked.values()], seed=seed),
            strict=True,
        )
    )
    lists = top_items(popular, first, cutoff=cutoff, candidates="TI", seed=seed)
    least_ti = min(len(candidate_items(part, "TI")) for part in splits) / dataset.ratings.n_items
    checks = [
        *_check_records(min_rating, size, len(splits), split),
        *_check_notation(first, min_rating),
        *_check_target_sets(first, tables, min_rating, n_sampled),
        *_check_toy(),
        *_check_precision(first, tables, lists, min_rating, cutoff),
        *_check_ceiling(first, seed, min_rating, size, cutoff),
        Check("BCC17-C-TIAI", "0.9 - smallest |C_TI|/|I| of a fold", len(splits), 0.9 - least_ti),
        *_check_one_relevant(tables["1R"], min_rating, cutoff, dataset.ratings.scale.maximum),
        _check_lemma([Grid.from_dict(grid) for grid in grids], cutoff),
        *_check_proof(seed),
    ]
    statistics = {
        f"{name}[{code}]": float(value)
        for code in (TI, AI)
        for name, value in vars(split_statistics(first, code, min_rating=min_rating)).items()
    }
    return checks, statistics


def _check_lemma(grids: Sequence[Grid], cutoff: int) -> Check:
    """Check the bounds user by user, on every shared run of every system, fold and seed."""
    worst, n_checked = -np.inf, 0
    for grid in grids:
        for label, protocol in grid.parsed.items():
            if protocol.rule.relevant != "1R-shared":
                continue
            for *_, table in grid_tables(grid, label):
                hits = ((table.rank > 0) & (table.rank <= cutoff)) / cutoff
                sums = [
                    np.bincount(table.user, weights=values, minlength=table.n_users)
                    for values in (
                        lemma_bound(table, "lower", cutoff),
                        hits,
                        lemma_bound(table, "upper", cutoff),
                    )
                ]
                worst = max(worst, *(float((a - b).max()) for a, b in pairwise(sums)))
                n_checked += table.n_users
    return Check(
        "BCC17-L1", "bounds of the lemma, per user of every shared run", n_checked, worst, _ROUNDING
    )


def _violations(claim: str, what: str, outcomes: Sequence[bool]) -> Check:
    return Check(claim, what, len(outcomes), float(len(outcomes) - sum(outcomes)))


def _check_records(min_rating: float, size: int, n_folds: int, split: str) -> list[Check]:
    rows = next(claim for claim in claims() if claim.id == "BCC17-T1").values
    frame = [SplitRule.parse(split).kind == "k-fold", n_folds == 5, min_rating == 5, size == 100]
    return [
        Check("BCC17-T1", "rows of Table 1 missing on the page", 8, float(8 - len(rows))),
        _violations("BCC17-SETUP", "settings that differ from the paper's", frame),
    ]


def _user_positives(split: Split, min_rating: float) -> list[set[int]]:
    test = split.test
    return [
        {
            int(item)
            for item, value in zip(test.item[rows], test.value[rows], strict=True)
            if value >= min_rating
        }
        for rows in map(slice, test.indptr[:-1], test.indptr[1:])
    ]


def _check_notation(split: Split, min_rating: float) -> list[Check]:
    positives = _user_positives(split, min_rating)
    sizes = [len(all_targets(split, "TI", user)) for user in range(split.test.n_users)]
    found = split_statistics(split, "TI", min_rating=min_rating)
    t = len(sizes) / sum(1 / size for size in sizes)
    rho = sum(len(p) / size for p, size in zip(positives, sizes, strict=True)) / len(sizes)
    n_relevant = sum(map(len, positives)) + sum(1 for v in split.train.value if v >= min_rating)
    delta = n_relevant / (t * len(sizes))
    deviations = [abs(found.t / t - 1), abs(found.rho / rho - 1), abs(found.delta / delta - 1)]
    what = "relative deviation of t, rho and delta from their definitions"
    return [Check("BCC17-T2", what, len(sizes), max(deviations), _ROUNDING)]


def _check_target_sets(
    split: Split, tables: Mapping[str, RankTable], min_rating: float, n_sampled: int
) -> list[Check]:
    train, test = split.train, split.test
    positives = _user_positives(split, min_rating)
    rated_in_test = {int(item) for item in test.item}
    outcomes = [set(map(int, candidate_items(split, "TI"))) == rated_in_test]
    for user, relevant_items in enumerate(positives):
        trained = set(map(int, train.item[train.indptr[user] : train.indptr[user + 1]]))
        for label, code, candidates in (
            ("AR", TI, rated_in_test),
            ("AI", AI, set(range(test.n_items))),
        ):
            targets = set(map(int, all_targets(split, code, user)))
            others = set(map(int, non_relevant_targets(split, code, user, min_rating=min_rating)))
            outcomes += [
                targets == others | relevant_items,
                not others & (relevant_items | trained),
                others <= candidates,
                tables[label].n_targets[user] == len(candidates - trained),
            ]
        pool = len(rated_in_test - trained - relevant_items)
        outcomes.append(tables["NN"].n_targets[user] == min(n_sampled, pool) + len(relevant_items))
    return [_violations("BCC17-T3", "target sets that break Table 3", outcomes)]


def _toy() -> Split:
    """Build a matrix that fits the caption of Fig. 1: item a in nobody's test, d and e in u's."""
    cells = [
        *(("u", item, 5, 0) for item in "de"),
        *(("v", item, rating, 0) for item, rating in (("b", 5), ("c", 3))),
        *(("v", item, 5, 1) for item in "a"),
        *(("u", item, 4, 1) for item in "f"),
    ]
    frame = pd.DataFrame(cells, columns=["user_id", "item_id", "rating", "fold"])
    ratings = Ratings.from_frame(frame, name="Fig. 1")
    folds = frame.sort_values(["user_id", "item_id"])["fold"].to_numpy()
    return from_fold_labels(ratings, folds)[0]


def _check_toy() -> list[Check]:
    split = _toy()
    ids = split.test.item_ids
    user = list(split.test.user_ids).index("u")

    def names(items: npt.NDArray[np.int32]) -> str:
        return "".join(ids[items])

    popular = System("Popularity", "Popularity").build().fit(split.train)
    tables = rank(
        popular,
        split,
        [
            Targets(TargetRule.parse("TI-AN-AR")),
            Targets(TargetRule.parse("TI-NN-1R t=2"), 5.0),
        ],
        seed=1,
    )
    every, runs = (table.item[table.user == user] for table in tables)
    outcomes = [
        names(every) == "de",
        names(runs) == "de" and tables[1].per == "run",
        names(non_relevant_targets(split, "TI", user, min_rating=5)) == "bc",
        names(non_relevant_targets(split, "AI", user, min_rating=5)) == "abc",
        bool((tables[1].n_targets[tables[1].user == user] == 2).all()),
    ]
    return [_violations("BCC17-F1", "sets of the toy that differ from the caption", outcomes)]


def _check_precision(
    split: Split,
    tables: Mapping[str, RankTable],
    lists: npt.NDArray[np.int32],
    min_rating: float,
    cutoff: int,
) -> list[Check]:
    positives = _user_positives(split, min_rating)
    metric = parse_metric(f"P@{cutoff}")
    per_user = measure(tables["AR"], [metric], min_rating=min_rating)
    by_hand = [
        len(relevant_items & set(map(int, items))) / cutoff
        for relevant_items, items in zip(positives, lists, strict=True)
    ]
    worst_user = float(np.max(np.abs(per_user[0] - by_hand)))
    mean = aggregate(tables["AR"], per_user, min_rating=min_rating, population="all")[0]
    runs = tables["1R"]
    per_run = measure(runs, [metric], min_rating=min_rating)
    micro = aggregate(runs, per_run, min_rating=min_rating, population="runs")[0]
    hits = sum(1 for place in runs.rank if 1 <= place <= cutoff)
    counted = hits / (cutoff * sum(map(len, positives)))
    n_users, n_runs = len(positives), len(runs.rank)
    listed = "hits in a list that are not relevant test items, per user"
    return [
        Check("BCC17-D-RELV", listed, n_users, worst_user, _ROUNDING),
        Check(
            "BCC17-EQ-ARP",
            "|P - mean over all users of hits/n|",
            n_users,
            abs(float(mean) - sum(by_hand) / n_users),
            _ROUNDING,
        ),
        Check("BCC17-EQ1", "|1RP - hits/(n |PR_test|)|", n_runs, abs(micro - counted), _ROUNDING),
    ]


def _check_ceiling(
    split: Split, seed: int, min_rating: float, size: int, cutoff: int
) -> list[Check]:
    rule = Targets(TargetRule.parse(f"TI-NN-1R t={size}"), min_rating)
    (runs,) = rank(_Oracle(split), split, [rule], seed=seed)
    values = measure(runs, [parse_metric(f"P@{cutoff}")], min_rating=min_rating)
    value = aggregate(runs, values, min_rating=min_rating, population="runs")[0]
    deviation = abs(float(value) - 1 / cutoff)
    return [
        Check("BCC17-C-MAX1R", "|1RP of an oracle - 1/n|", len(runs.rank), deviation, _ROUNDING)
    ]


def _check_one_relevant(
    runs: RankTable, min_rating: float, cutoff: int, rating_max: float
) -> list[Check]:
    texts = ("AP", "RR", f"nDCG@{cutoff}", f"nDCG(exp)@{cutoff}")
    ap, rr, binary, graded = measure(
        runs, [parse_metric(text) for text in texts], min_rating=min_rating, rating_max=rating_max
    )
    return [
        Check("BCC17-C-1RRED", "|AP - RR| per run", len(ap), float(np.abs(ap - rr).max())),
        Check(
            "BCC17-C-1RRED",
            "|nDCG of graded - of binary gains| per run",
            len(ap),
            float(np.abs(graded - binary).max()),
            _ROUNDING,
        ),
    ]


def _check_proof(seed: int, n_instances: int = 3000) -> list[Check]:
    """Try both forms of the rank inequality on random target sets, ranked by sorting."""
    rng = stream(seed, "proof")
    corrected, printed = [], []
    for _ in range(n_instances):
        n_relevant, n_others = int(rng.integers(1, 8)), int(rng.integers(1, 30))
        keys = rng.permutation(n_relevant + n_others)
        positives, others = keys[:n_relevant], keys[n_relevant:]
        for key in positives:
            own = 1 + int((others > key).sum())
            shared = own + int((positives > key).sum())
            corrected.append(shared <= own + n_relevant - 1)
            if n_relevant > 1:
                printed.append(own < shared + n_relevant - 1)
    return [
        _violations("BCC17-L1-PROOF", "corrected inequality broken", corrected),
        _violations("BCC17-L1-PROOF", "printed inequality true although |PR| > 1", printed),
    ]
