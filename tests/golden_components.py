"""What each component between a table and its values gives: the guards of their revisions.

``python tests/golden_components.py`` renews ``golden_components.json``. Do so together with a
raised revision of the component that changed. Metrics, algorithms and worlds have their own files.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from explicit_lists import FixedScores
from recbias import ranking
from recbias._system.places import cells_kept_in
from recbias.data.datasets import Dataset, dataset_info
from recbias.data.simulation import make_world
from recbias.experiment import worlds
from recbias.experiment.reduction import N_REPLICATES
from recbias.experiment.store import digest
from recbias.metrics import aggregation, measure, parse_metric
from recbias.protocol import splits, testset
from recbias.protocol.protocol import POLICIES
from recbias.protocol.splits import SplitRule
from recbias.protocol.targets import TargetRule, Targets, popularity_groups
from recbias.protocol.testset import TestSet, dataset_splits, kept_rows, reduced_split
from recbias.ranking import kernels, passes, unscored
from recbias.recommenders import System
from recbias.stats import comparison, resampling

FILE = Path(__file__).with_name("golden_components.json")
WORLD = make_world(seed=7, n_users=60, n_items=80, n_ratings=480)
DATASET = Dataset(WORLD.ratings, dataset_info("synthetic"), "made here", truth=WORLD)
RULES = ("ratio 0.3", "k-fold 3", "leave-out 1", "uniform 0.3")

REVISIONS: dict[str, tuple[Any, str]] = {
    "splits": (splits, "REVISION"),
    "thinning": (testset, "REVISION"),
    "ranking": (ranking, "REVISION"),
    "sampling": (ranking, "SAMPLING_REVISION"),
    "unscored": (ranking, "UNSCORED_REVISION"),
    "aggregation": (aggregation, "REVISION"),
    "worlds": (worlds, "REVISION"),
}


def _bits(*arrays: Any) -> str:
    return digest(b"|".join(np.ascontiguousarray(array).tobytes() for array in arrays))[:16]


def _scores() -> np.ndarray:
    scores = np.random.default_rng(4).integers(0, 9, (60, 80)).astype(np.float32)
    scores[::7, ::5] = np.nan
    return scores


def _splits() -> dict[str, str]:
    active = WORLD.ratings.take(WORLD.ratings.user_counts()[WORLD.ratings.user] > 1)
    found = {}
    for text in RULES:
        folds = SplitRule.parse(text).splits(active, rng=np.random.default_rng(5))
        found[text] = _bits(*(part for fold in folds for part in (fold.test.user, fold.test.item)))
    return found


def _thinning() -> dict[str, str]:
    truth = dataset_splits(DATASET, "k-fold 3", seed=2, judgments=TestSet("truth", sample=6))
    drawn = Dataset(WORLD.ratings, DATASET.info, "made here", unbiased=WORLD.sample(4, rng=_rng(3)))
    unbiased = dataset_splits(drawn, "whole", seed=2, judgments=TestSet("unbiased"))
    outside = TestSet("unbiased", train="observed")
    beside = dataset_splits(drawn, "k-fold 3", seed=2, judgments=outside)
    side = TestSet(removed=20, head=20, items="2-5/5")
    reduced = reduced_split(_fold(), side, popularity_groups(_fold().train, 5), seed=2)
    return {
        "removed": _bits(kept_rows(TestSet(removed=40), 500, seed=2, fold=1)),
        "truth": _bits(*(fold.test.value for fold in truth), *(fold.test.item for fold in truth)),
        "unbiased": _bits(unbiased[0].train.item, unbiased[0].test.item),
        "outside": _bits(*(fold.test.item for fold in beside), beside[0].train.item),
        "reduced": _bits(reduced.test.item, reduced.test_items),
    }


def _rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def _fold() -> splits.Split:
    """A split that no component decides: every third rating is tested."""
    rows = np.arange(len(WORLD.ratings)) % 3 == 0
    test = WORLD.ratings.take(rows)
    return splits.Split(WORLD.ratings.take(~rows), test, np.unique(test.item), 0, "every third")


def _ranking() -> dict[str, str]:
    fold = _fold()
    groups = popularity_groups(fold.train, 5)
    kept, _ = passes.rank_once(FixedScores(_scores()), fold, groups=groups, depth=20, seed=3)
    tables = [
        kept.table(TargetRule.parse(text), min_rating=4)
        for text in ("AI-AN-AR", "TI-AN-1R", "TI-AN-P1R m=5", "TI-AN-1R +train")
    ]
    part = kept.of_groups(1, 5)
    return {
        "part": _bits(part.above, part.n_targets, part.list_items, part.test_items),
        "counts": _bits(kept.above, kept.train_above, kept.n_scored, kept.listed),
        "lists": _bits(kept.list_items, kept.list_starts),
        "tables": _bits(
            *(part for t in tables for part in (t.rank, t.condensed_rank, t.n_targets))
        ),
    }


def _sampling() -> dict[str, str]:
    # Scores without ties, so that the samples alone decide.
    scores = np.random.default_rng(6).permuted(np.tile(np.arange(80), (60, 1)), axis=1)
    texts = (
        "TI-NN-AR N=20",
        "TI-NN-1R t=15",
        "AI-NN-1R-shared t=15",
        "TI-NN-1R t=15 drawn=popularity",
    )
    rules = [Targets(TargetRule.parse(text), 4.0) for text in texts]
    tables = passes.rank_once(FixedScores(scores), _fold(), sampled=rules, seed=3)[1]
    return {
        text: _bits(table.rank, table.condensed_rank, table.n_targets)
        for text, table in zip(texts, tables, strict=True)
    }


def _unscored() -> dict[str, str]:
    fold, model = _fold(), FixedScores(_scores())
    groups = popularity_groups(fold.train, 5)
    kept, _ = passes.rank_once(model, fold, groups=groups, depth=20, seed=3)
    scored = ranking.look_at_scored(model, fold.train)
    found = {}
    for policy in POLICIES[1:]:
        below = ranking.rank_unscored(scored, fold, policy, groups=groups, depth=20, seed=3)
        joined = kept.with_below(below)
        table = joined.table(TargetRule.parse("TI-AN-1R +train"), min_rating=4)
        counts = (joined.above, joined.n_scored, joined.list_items, joined.list_starts)
        found[policy] = _bits(*(each.astype(np.int32) for each in counts), table.rank)
    return found


def _aggregation() -> dict[str, str]:
    fold = _fold()
    kept, _ = passes.rank_once(FixedScores(_scores()), fold, depth=10, seed=3)
    metrics = [parse_metric("P@5"), parse_metric("R@5")]
    found = {"bootstrap": _bits(resampling.bootstrap_weights(50, 20, rng=_rng(8)))}
    for rule, texts in (
        ("TI-AN-AR", ("", "users=relevant", "weights=ratings", "statistic=geometric(0.01)")),
        ("TI-AN-1R", ("", "users=all")),
    ):
        table = kept.table(TargetRule.parse(rule), min_rating=4)
        values = measure(table, metrics, min_rating=4)
        weights = resampling.bootstrap_weights(table.n_users, 5, rng=_rng(9))
        for text in texts:
            averaging = aggregation.Averaging.parse(text).resolved(table.per)
            columns = aggregation.contributions(table, values, averaging, min_rating=4)
            sums = np.vstack([columns.sum(axis=1), resampling.weighted_sums(columns, weights)])
            found[f"{rule} {text}".strip()] = _digits(aggregation.finish(sums, averaging, 2))
    users = np.arange(40) // 2
    tests = comparison.compare_all({"a": _rng(1).random(40), "b": _rng(2).random(40)}, user=users)
    found["tests"] = _digits(tests[["difference", "low", "high", "t_p", "wilcoxon_p"]].to_numpy())
    pairs = np.arange(40) // 2, np.arange(40) % 7 - 1, _rng(3).random(40)
    drawn = [resampling.bootstrap_weights(n, 5, rng=_rng(n)).T for n in (20, 6)]
    found["crossed"] = _digits(resampling.crossed_sums(*pairs, *drawn))
    found["resamplings"] = str(N_REPLICATES)
    found["intervals"] = _digits(resampling.interval(_rng(4).random((2, 50))))
    return found


def _dataset() -> Dataset:
    return DATASET


def _worlds() -> dict[str, str]:
    grid = worlds.WorldGrid(
        [worlds.World(_dataset, 3)],
        [System(name, name, {}) for name in ("Popularity", "Random")],
        dict.fromkeys(("seen", "drawn", "true"), "AI-AN-AR rel>=4"),
        {label: (label, "P@5") for label in ("seen", "drawn", "true")} | {"rho": ("true", "rho")},
        tests={"drawn": "truth sample=9", "true": "truth"},
        n_seeds=2,
    )
    with tempfile.TemporaryDirectory() as folder, cells_kept_in(Path(folder)):
        (table,) = worlds.run_worlds(grid)
    return {name: _digits(table[name]) for name in grid.columns}


def _digits(numbers: Any) -> str:
    """Nine digits of each: fewer than processors differ in, more than any change hides."""
    return _bits(np.array([f"{number:.8e}" for number in np.ravel(numbers)]))


_COMPUTE: dict[str, Callable[[], dict[str, str]]] = {
    "splits": _splits,
    "thinning": _thinning,
    "ranking": _ranking,
    "sampling": _sampling,
    "unscored": _unscored,
    "aggregation": _aggregation,
    "worlds": _worlds,
}


def rows() -> dict[str, dict[str, Any]]:
    """Compute the digests of all components."""
    return {
        name: {"revision": getattr(*REVISIONS[name]), "digests": compute()}
        for name, compute in _COMPUTE.items()
    }


def complaint(found: dict[str, Any], recorded: dict[str, Any] | None) -> str | None:
    """Say what is wrong with a component, if something is."""
    if recorded is None:
        return "not recorded"
    if found["revision"] != recorded["revision"]:
        return (
            f"revision {found['revision']}, recorded is {recorded['revision']}: renew the digests"
        )
    changed = [
        name for name in recorded["digests"] if found["digests"][name] != recorded["digests"][name]
    ]
    return f"{', '.join(changed)} changed: raise its revision" if changed else None


# ---- one way to break each, and what may change with it


def _break_splits(patch: Any) -> None:
    original = splits._folds
    patch.setattr(splits, "_folds", lambda r, labels, n, rule: original(r, labels[::-1], n, rule))


def _break_thinning(patch: Any) -> None:
    original = testset.stream
    patch.setattr(testset, "stream", lambda seed, *labels: original(seed + 1, *labels))


def _break_ranking(patch: Any) -> None:
    original = kernels.list_block

    def broken(keys: Any, item_at: Any, *more: Any) -> None:
        original(keys, item_at[::-1].copy(), *more)

    patch.setattr(passes, "list_block", broken)


def _break_sampling(patch: Any) -> None:
    original = passes._seeds
    patch.setattr(passes, "_seeds", lambda seed: (original(seed)[0], np.uint64(1)))


def _break_unscored(patch: Any) -> None:
    original = unscored.policy_order
    patch.setattr(unscored, "policy_order", lambda policy, train: -original(policy, train))


def _break_aggregation(patch: Any) -> None:
    original = aggregation.finish
    patch.setattr(aggregation, "finish", lambda sums, *more: 2 * original(sums, *more))


def _break_worlds(patch: Any) -> None:
    original = worlds.stream
    patch.setattr(worlds, "stream", lambda seed, *labels: original(seed + 1, *labels))


BREAKS: dict[str, Callable[[Any], None]] = {
    "splits": _break_splits,
    "thinning": _break_thinning,
    "ranking": _break_ranking,
    "sampling": _break_sampling,
    "unscored": _break_unscored,
    "aggregation": _break_aggregation,
    "worlds": _break_worlds,
}
FOLLOWS = {
    "splits": ("splits", "thinning", "worlds"),
    "thinning": ("thinning", "worlds"),
    "ranking": ("ranking", "unscored", "worlds"),
    "sampling": ("sampling",),
    "unscored": ("unscored",),
    "aggregation": ("aggregation",),
    "worlds": ("worlds",),
}


def main() -> None:
    """Renew the file."""
    FILE.write_text(json.dumps(rows(), indent=1) + "\n")


if __name__ == "__main__":
    main()
