"""What each component between a table and its values gives: the guards of their revisions.

``python tests/golden_components.py`` renews ``golden_components.json``. Do so together with a
raised revision of the component that changed. Metrics, algorithms and worlds have their own files.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from explicit_lists import FixedScores
from recbias import aggregation, ranking, splits, testset
from recbias.datasets import Dataset, dataset_info
from recbias.ranking import kernels, passes
from recbias.resampling import bootstrap_weights
from recbias.simulation import make_world
from recbias.splits import SplitRule
from recbias.store import digest
from recbias.targets import TargetRule, Targets, popularity_groups
from recbias.testset import TestSet, dataset_splits, kept_rows

FILE = Path(__file__).with_name("golden_components.json")
WORLD = make_world(seed=7, n_users=60, n_items=80, n_ratings=480)
DATASET = Dataset(WORLD.ratings, dataset_info("synthetic"), "made here", truth=WORLD)
RULES = ("ratio 0.3", "k-fold 3", "leave-out 1")

REVISIONS: dict[str, tuple[Any, str]] = {
    "splits": (splits, "REVISION"),
    "thinning": (testset, "REVISION"),
    "ranking": (ranking, "REVISION"),
    "sampling": (ranking, "SAMPLING_REVISION"),
    "aggregation": (aggregation, "REVISION"),
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
    every = dataset_splits(DATASET, "k-fold 3", seed=2, judgments=TestSet("truth", sample=6))
    return {
        "removed": _bits(kept_rows(TestSet(removed=40), 500, seed=2, fold=1)),
        "truth": _bits(*(fold.test.value for fold in every), *(fold.test.item for fold in every)),
    }


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
    return {
        "counts": _bits(kept.above, kept.train_above, kept.n_scored, kept.listed),
        "lists": _bits(kept.list_items, kept.list_starts),
        "tables": _bits(
            *(part for t in tables for part in (t.rank, t.condensed_rank, t.n_targets))
        ),
    }


def _sampling() -> dict[str, str]:
    # Scores without ties, so that the samples alone decide.
    scores = np.random.default_rng(6).permuted(np.tile(np.arange(80), (60, 1)), axis=1)
    texts = ("TI-NN-AR N=20", "TI-NN-1R t=15", "AI-NN-1R-shared t=15")
    rules = [Targets(TargetRule.parse(text), 4.0) for text in texts]
    tables = passes.rank_once(FixedScores(scores), _fold(), sampled=rules, seed=3)[1]
    return {
        text: _bits(table.rank, table.n_targets) for text, table in zip(texts, tables, strict=True)
    }


def _aggregation() -> dict[str, str]:
    return {"bootstrap": _bits(bootstrap_weights(50, 20, rng=np.random.default_rng(8)))}


_COMPUTE: dict[str, Callable[[], dict[str, str]]] = {
    "splits": _splits,
    "thinning": _thinning,
    "ranking": _ranking,
    "sampling": _sampling,
    "aggregation": _aggregation,
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


def _break_aggregation(patch: Any) -> None:
    def other(n_users: int, n: int, *, rng: np.random.Generator) -> np.ndarray:
        return rng.integers(2, size=(n, n_users)).astype(np.uint8)

    patch.setitem(globals(), "bootstrap_weights", other)


BREAKS: dict[str, Callable[[Any], None]] = {
    "splits": _break_splits,
    "thinning": _break_thinning,
    "ranking": _break_ranking,
    "sampling": _break_sampling,
    "aggregation": _break_aggregation,
}
FOLLOWS = {
    "splits": ("splits", "thinning"),
    "thinning": ("thinning",),
    "ranking": ("ranking",),
    "sampling": ("sampling",),
    "aggregation": ("aggregation",),
}


def main() -> None:
    """Renew the file."""
    FILE.write_text(json.dumps(rows(), indent=1) + "\n")


if __name__ == "__main__":
    main()
