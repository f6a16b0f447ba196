"""Cells: one system trained on one split of one dataset, and what is kept of it.

A cell is trained and scored once. One pass over its scores leaves an artefact from which every
table of ranks follows that takes all non-relevant items; each sampled design that is asked for is
an artefact of its own. An artefact is named by a digest of what decides its content, reused by
every grid that asks for it, and written whole or not at all.
"""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from recbias._system.places import cells_dir
from recbias._system.streams import stream
from recbias.data.datasets import Dataset
from recbias.data.ratings import Ratings, exact
from recbias.errors import ConfigError, DamagedError, DataError, ScoreError, StoreError, Unfit
from recbias.experiment.engine import Workers, at_most, open_executor, peak_mb, run_all
from recbias.experiment.folds import (
    Source,
    grid_source,
    reduced_splits,
    source_dataset,
    source_groups,
    source_relevant_counts,
    source_sizes,
    source_splits,
)
from recbias.experiment.grid import Grid, Outside, component_revisions, non_defaults
from recbias.experiment.store import (
    canonical_json,
    digest,
    platform_record,
    read_arrays,
    thread_libraries,
    write_arrays,
)
from recbias.protocol.protocol import Protocol
from recbias.protocol.relevance import relevant
from recbias.protocol.splits import Split
from recbias.protocol.targets import TargetRule, Targets
from recbias.protocol.testset import TestSet, kept_rows
from recbias.ranking import (
    Positions,
    RankTable,
    deduce_scored,
    look_at_scored,
    rank_once,
    rank_unscored,
    tie_counts,
)
from recbias.ranking.unscored import Scored
from recbias.recommenders import Algorithm, Recommender, System

__all__ = [
    "Artefact",
    "Cell",
    "artefact_of",
    "artefacts_of",
    "artefacts_to_train",
    "cell_dataset",
    "cell_relevant_counts",
    "cell_split",
    "grid_cells",
    "load_positions",
    "load_table",
    "load_ties",
    "one_thread",
    "path_of",
    "rank_seed",
    "rank_split",
    "reduce_positions",
    "run_cell",
    "run_missing",
    "ties_of",
]


@dataclass(frozen=True)
class Artefact:
    """What is kept of one pass: the counts behind all AN rules, or the table of one sample.

    Counts may be of what the system has no score for, in the order of a policy; they stand below.

    Parameters
    ----------
    test
        Text of the test side: of its judgments for counts, all of it for a sample.
    rule
        Text of a sampled rule; empty for counts.
    min_rating
        Threshold of a sampled rule.
    groups
        Number of popularity groups by which is counted; 10 for a sample, which has none.
    unscored
        Policy by which items without a score are counted among themselves; empty for scored ones.
    ties
        Whether it is what scores more and as much as each test rating, instead of an order.
    """

    test: str
    rule: str = ""
    min_rating: float | None = None
    groups: int = 10
    unscored: str = ""
    ties: bool = False

    def __str__(self) -> str:
        if self.ties:
            return f"ties, {self.test}"
        if self.min_rating is None:
            below = f"unscored={self.unscored}, " if self.unscored else ""
            return f"{below}counts by {self.groups} groups, {self.test}"
        return f"{self.rule} rel>={exact(self.min_rating)}, {self.test}"


@dataclass(frozen=True)
class Cell:
    """One system on one fold under one training seed, with the artefacts asked of it.

    Parameters
    ----------
    source
        Where its splits come from, one for each kind of judgments asked for, by their text.
    system
        The system as JSON.
    identity
        What decides its scores, as JSON: :meth:`recbias.recommenders.System.identity`.
    outside
        What a worker process loads first: modules and classes from outside the package.
    fold, repeat
        Number of the fold, and of the training seed.
    artefacts
        What is asked of it; all are trained on the same ratings.
    """

    source: tuple[Source, ...]
    system: str
    identity: str
    outside: Outside
    fold: int
    repeat: int
    artefacts: tuple[Artefact, ...]

    def source_of(self, artefact: Artefact) -> Source:
        """Return the source of the split that an artefact is about."""
        judgments = _judgments(artefact.test)
        return next(source for source in self.source if source.judgments == judgments)

    def key(self, artefact: Artefact) -> str:
        """Digest all that decides an artefact's content; defaults are left out."""
        source, test = self.source_of(artefact), TestSet.parse(artefact.test)
        differing = {name: v for name, v in non_defaults(artefact).items() if name != "test"}
        if str(test) != str(TestSet()):
            differing["test"] = str(test)
        return digest(
            {
                **json.loads(self.identity),
                "data": source.data_hash,
                **({"marks": source.marks} if source.marks else {}),
                **({"select": source.select} if source.select else {}),
                "split": source.split,
                "seed": source.seed,
                "fold": self.fold,
                **({"repeat": self.repeat} if self.repeat else {}),
                **differing,
                "revisions": component_revisions(
                    sampled=bool(artefact.rule),
                    reduced=test != TestSet(),
                    filled=bool(artefact.unscored),
                    selected=bool(source.select),
                ),
            }
        )

    def path(self, artefact: Artefact) -> Path:
        """Tell where an artefact is kept."""
        return path_of(self.key(artefact))

    def missing(self) -> list[Artefact]:
        """List the artefacts that are not there."""
        return [artefact for artefact in self.artefacts if not self.path(artefact).is_file()]


def path_of(key: str) -> Path:
    """Tell where the artefact of a key is kept."""
    return cells_dir() / key[:2] / f"{key[2:34]}.parquet"


@lru_cache(maxsize=256)
def _judgments(test: str) -> str:
    return str(TestSet.parse(test).judgments)


def artefact_of(grid: Grid, label: str) -> Artefact:
    """Tell which artefact holds the ranks of scored items that are asked for under a label."""
    return artefacts_of(grid, label)[0]


def artefacts_of(grid: Grid, label: str) -> tuple[Artefact, ...]:
    """Tell which artefacts answer what is asked under a label of a grid, from the top down."""
    protocol, test = grid.parsed[label], grid.test(label)
    if protocol.rule.others == "NN":
        return (Artefact(str(test), str(protocol.rule), protocol.min_rating),)
    counts = Artefact(str(test.judgments), groups=grid.n_groups)
    if protocol.unscored == "none":
        return (counts,)
    # What is last has one score: it is in the order of ties, which is the random one.
    policy = "random" if protocol.unscored == "last" else protocol.unscored
    return counts, dataclasses.replace(counts, unscored=policy)


def ties_of(grid: Grid, label: str) -> Artefact | None:
    """Tell which artefact holds the ties that metrics under a label ask for; None if none does."""
    asked = any("ties" in dict(metric.given) for metric in grid.parsed_metrics[label])
    return Artefact(str(grid.test(label).judgments), ties=True) if asked else None


def grid_cells(grid: Grid, dataset: Dataset, data_dir: Path | None) -> list[tuple[str, Cell]]:
    """List the cells of a grid with the names of their systems.

    Those of one fold come together, so that a process can reuse its work; a system that is tested
    on judgments with different training ratings has a cell for each.
    """
    wanted = dict.fromkeys(
        artefact
        for label in grid.parsed
        for artefact in (*artefacts_of(grid, label), ties_of(grid, label))
        if artefact is not None
    )
    by_training: dict[str, list[Artefact]] = {}
    for artefact in wanted:
        by_training.setdefault(TestSet.parse(artefact.test).trains_on, []).append(artefact)
    cells: list[tuple[str, Cell]] = []
    outside = grid.outside
    identities = {system.name: canonical_json(system.identity()) for system in grid.systems}
    for artefacts in by_training.values():
        judged = dict.fromkeys(
            str(TestSet.parse(artefact.test).judgments) for artefact in artefacts
        )
        sources = tuple(grid_source(grid, dataset, data_dir, text) for text in judged)
        n_folds = len(source_splits(sources[0]))
        n_cells = len(cells) + n_folds * sum(system.n_seeds for system in grid.systems)
        if n_cells > _MOST_CELLS:
            raise ConfigError(
                f"a grid of {n_cells:,} cells: expected at most {_MOST_CELLS:,}\n"
                "take fewer folds or systems; what grids have in common is computed once"
            )
        cells += [
            (
                system.name,
                Cell(
                    source=sources,
                    system=canonical_json(system.to_dict()),
                    identity=identities[system.name],
                    outside=outside,
                    fold=fold,
                    repeat=repeat,
                    artefacts=tuple(artefacts),
                ),
            )
            for fold in range(n_folds)
            for system in grid.systems
            for repeat in range(system.n_seeds)
        ]
    return cells


def cell_dataset(cell: Cell) -> Dataset:
    """Return the dataset of a cell, whose content was compared."""
    return source_dataset(cell.source[0])


def cell_split(cell: Cell, artefact: Artefact) -> Split:
    """Return the split that an artefact of a cell is about, before anything is removed."""
    return source_splits(cell.source_of(artefact))[cell.fold]


def cell_relevant_counts(
    cell: Cell, artefact: Artefact, min_rating: float
) -> npt.NDArray[np.int64]:
    """Count relevant ratings of each item in the split that an artefact is about: |PR(i)|."""
    return source_relevant_counts(cell.source_of(artefact), cell.fold, min_rating)


def one_thread() -> AbstractContextManager[Any]:
    """Keep linear algebra to one thread.

    The bits of a product depend on their number, and workers share the machine.
    """
    return thread_libraries().limit(limits=1)


def run_cell(cell: Cell) -> str | None:
    """Train a cell's system and store the artefacts that are missing.

    Returns
    -------
    str or None
        Why the system cannot be trained on these ratings, if it cannot. Nothing is written then.
    """
    missing = cell.missing()
    if not missing:
        return None
    cell.outside.load()
    started, used = time.perf_counter(), time.process_time()
    system = System.from_dict(json.loads(cell.system))
    if canonical_json(system.identity()) != cell.identity:
        raise StoreError(
            f"{system.name}: the code of its class changed while an experiment ran; nothing "
            "was written, run it again"
        )
    first = cell.source_of(missing[0])
    arrays = _deduced(cell, system, missing)
    if to_train := [artefact for artefact in missing if artefact not in arrays]:
        train = source_splits(first)[cell.fold].train
        with one_thread():
            rng = stream(first.seed, "train", system.stream_label(), cell.fold, cell.repeat)
            recommender = system.build()
            # A model may be unfit for the data; scores from elsewhere are for their owner to mend.
            is_model = isinstance(recommender, Algorithm)
            fitted = (ConfigError, DataError, MemoryError) if is_model else ()
            ranked = (ScoreError,) if is_model else ()
            if hasattr(recommender, "at_fold"):
                recommender.at_fold(cell.fold, len(source_splits(first)))
            try:
                recommender = recommender.fit(train, rng=rng)
            except fitted as error:
                return Unfit(str(error).partition("\n")[0] or "it takes more memory than there is")
            for judgments in dict.fromkeys(
                cell.source_of(artefact).judgments for artefact in to_train
            ):
                of_judgments = [
                    artefact
                    for artefact in to_train
                    if cell.source_of(artefact).judgments == judgments
                ]
                try:
                    arrays.update(_ranked(cell, recommender, of_judgments))
                except ranked as error:
                    return str(error).partition("\n")[0]
    provenance = {
        **platform_record(),
        "cell": {
            "dataset": first.dataset,
            "split": first.split,
            "seed": first.seed,
            "fold": cell.fold,
            "repeat": cell.repeat,
            "system": json.loads(cell.system),
        },
        "size": _size(source_dataset(first).ratings),
        "seconds": round(time.perf_counter() - started, 3),
        "processor_seconds": round(time.process_time() - used, 3),
        "peak_mb": peak_mb(),
    }
    for artefact, columns in arrays.items():
        write_arrays(
            cell.path(artefact),
            columns,
            key=cell.key(artefact),
            provenance={**provenance, "artefact": str(artefact)},
        )
    return None


def _size(ratings: Ratings) -> dict[str, int]:
    """Tell how large the data of a cell are, by which others' costs are estimated."""
    return {"ratings": len(ratings), "users": ratings.n_users, "items": ratings.n_items}


def run_missing(cells: Iterable[Cell], *, workers: Workers = 1, label: str) -> list[str]:
    """Run the cells of which something is missing; return why systems could not be trained."""
    missing = [cell for cell in cells if cell.missing()]
    reusable = not any(part for cell in missing for part in cell.outside)
    with open_executor(at_most(workers, len(missing)), kept=reusable) as executor:
        reasons = run_all(run_cell, missing, executor, label=label)
    return [reason for reason in reasons if reason]


def rank_split(
    model: Recommender,
    split: Split,
    targets: Sequence[Targets] = (),
    *,
    depth: int = 1,
    seed: int,
) -> tuple[Positions, list[RankTable]]:
    """Rank a fitted model as cells are ranked, for worked examples and checks; nothing is kept.

    Parameters
    ----------
    model
        Fitted on ``split.train``.
    split
        Its test ratings are ranked.
    targets
        Rules with the threshold that each needs, sampled or not.
    depth
        Length to which lists are kept.
    seed
        Names the order of ties, and the samples.

    Returns
    -------
    positions : Positions
    tables : list of RankTable
        One per entry of ``targets``.
    """
    sampled = [target for target in targets if target.rule.others == "NN"]
    with one_thread():
        positions, drawn = rank_once(model, split, sampled=sampled, depth=depth, seed=seed)
    samples = iter(drawn)
    return positions, [
        next(samples)
        if target.rule.others == "NN"
        else positions.table(target.rule, min_rating=target.min_rating)
        for target in targets
    ]


def _ranked(
    cell: Cell, recommender: Any, artefacts: list[Artefact]
) -> dict[Artefact, dict[str, np.ndarray[Any, Any]]]:
    """Rank what is asked of one kind of judgments, in as few passes over the scores as it takes."""
    source = cell.source_of(artefacts[0])
    split = source_splits(source)[cell.fold]
    seed = rank_seed(cell.source[0].seed, cell.fold)
    counted = [
        artefact
        for artefact in artefacts
        if not (artefact.rule or artefact.unscored or artefact.ties)
    ]
    arrays: dict[Artefact, dict[str, np.ndarray[Any, Any]]] = {}
    passes: dict[str, list[Artefact]] = {source.judgments: []} if counted else {}
    for artefact in artefacts:
        if artefact.rule:
            passes.setdefault(artefact.test, []).append(artefact)
    for test, sampled in passes.items():
        reduced = split if test == source.judgments else reduced_splits(source, cell.fold, test)
        targets = [
            Targets(TargetRule.parse(artefact.rule), artefact.min_rating) for artefact in sampled
        ]
        of_counts = counted if test == source.judgments else []
        n_groups = of_counts[0].groups if of_counts else 1
        positions, tables = rank_once(
            recommender,
            reduced,
            groups=source_groups(source, cell.fold, n_groups),
            sampled=targets,
            seed=seed,
        )
        arrays.update(zip(sampled, map(_table_arrays, tables), strict=True))
        arrays.update((artefact, _position_arrays(positions)) for artefact in of_counts)
    for artefact in artefacts:
        if artefact.ties:
            arrays[artefact] = {"ties": tie_counts(recommender, split)}
    if below := [artefact for artefact in artefacts if artefact.unscored]:
        scored = look_at_scored(recommender, split.train)
        arrays.update(_ranked_below(cell, scored, below))
    return arrays


def rank_seed(seed: int, fold: int) -> int:
    """Return the seed of ties and samples of a fold: it names no system, so that all meet them."""
    return int(stream(seed, "rank", fold).integers(2**63))


def _ranked_below(
    cell: Cell, scored: Scored, artefacts: Iterable[Artefact]
) -> dict[Artefact, dict[str, np.ndarray[Any, Any]]]:
    """Rank what has no score by each policy that is asked for."""
    arrays = {}
    for artefact in artefacts:
        groups = source_groups(cell.source_of(artefact), cell.fold, artefact.groups)
        split, seed = cell_split(cell, artefact), rank_seed(cell.source[0].seed, cell.fold)
        below = rank_unscored(scored, split, artefact.unscored, groups=groups, seed=seed)
        arrays[artefact] = _position_arrays(below)
    return arrays


def _deduced(
    cell: Cell, system: System, missing: Iterable[Artefact]
) -> dict[Artefact, dict[str, np.ndarray[Any, Any]]]:
    """Rank what has no score where stored counts show what that is, without training."""
    arrays: dict[Artefact, dict[str, np.ndarray[Any, Any]]] = {}
    for artefact in missing:
        counts = dataclasses.replace(artefact, unscored="")
        if not artefact.unscored or not cell.path(counts).is_file():
            continue
        try:
            positions = load_positions(cell, counts)
        except DamagedError:
            continue
        scored = deduce_scored(positions, cell_split(cell, artefact), system.build())
        if scored is not None:
            arrays |= _ranked_below(cell, scored, [artefact])
    return arrays


def _table_arrays(table: RankTable) -> dict[str, np.ndarray[Any, Any]]:
    names = ("rank", "condensed_rank", "n_targets", "n_scored")
    return {name: getattr(table, name) for name in names}


_MOST_CELLS = 10**6
_OFTEN = ("listed", "above", "n_scored")
_KEPT = (*_OFTEN, "train_above", "n_train_scored", "list_items")


def _position_arrays(positions: Positions) -> dict[str, np.ndarray[Any, Any]]:
    small = np.int16 if len(positions.groups.labels) < 2**15 else np.int32
    arrays = {name: getattr(positions, name) for name in _KEPT}
    for name in ("n_scored", "n_train_scored", "list_items"):
        arrays[name] = arrays[name].astype(small)
    lengths = np.diff(positions.list_starts).astype(np.int16)
    return {**arrays, "list_lengths": lengths, "depth": np.array([positions.depth])}


def load_positions(cell: Cell, artefact: Artefact, *, whole: bool = True) -> Positions:
    """Read the counts of a cell.

    Parameters
    ----------
    cell, artefact
        What is read.
    whole
        Whether lists and counts of training items are wanted too, which most questions never ask
        for; without them lists are empty, and rules with training items are refused.

    Raises
    ------
    StoreError
        If the artefact is missing, damaged, or does not fit the data.
    """
    split = source_splits(cell.source_of(artefact))[cell.fold]
    groups = source_groups(cell.source_of(artefact), cell.fold, artefact.groups)
    n_targets, n_train = source_sizes(cell.source_of(artefact), cell.fold, artefact.groups)
    key = cell.key(artefact)
    arrays, _ = read_arrays(path_of(key), key=key, names=None if whole else _OFTEN)
    _check_length(cell, artefact, len(arrays["listed"]), len(split.test))
    nothing = np.zeros(split.test.n_users, dtype=np.int64)
    lengths = arrays.pop("list_lengths", nothing).astype(np.int64)
    depth = int(arrays.pop("depth", nothing)[0])
    for name in ("n_scored", "n_train_scored", "list_items"):
        arrays[name] = arrays.get(name, nothing[:0]).astype(np.int32)
    return Positions(
        n_users=split.test.n_users,
        user=split.test.user,
        item=split.test.item,
        value=split.test.value,
        groups=groups,
        test_items=split.test_items,
        n_targets=n_targets,
        n_train=n_train,
        train_above=arrays.pop("train_above", None),
        list_starts=np.concatenate([[0], np.cumsum(lengths)]),
        depth=depth,
        **arrays,
    )


def load_ties(cell: Cell, artefact: Artefact) -> npt.NDArray[np.int32]:
    """Read what scores more and as much as each test rating.

    Raises
    ------
    StoreError
        If the artefact is missing, damaged, or does not fit the data.
    """
    key = cell.key(artefact)
    arrays, _ = read_arrays(path_of(key), key=key)
    _check_length(cell, artefact, len(arrays["ties"]), len(cell_split(cell, artefact).test))
    return arrays["ties"]


def reduce_positions(positions: Positions, split: Split, test: TestSet, *, seed: int) -> Positions:
    """Take out of the counts of a split what a test side removes."""
    if test.removed:
        rows = kept_rows(test, len(positions.user), seed=seed, fold=split.fold)
        positions = positions.take(rows)
    if test.items:
        counted = test.counted_items(positions.groups, split.train)
        positions = positions.take(counted[positions.item])
    if test.head:
        n_groups = positions.groups.n_groups
        positions = positions.of_groups(test.n_head_groups(n_groups), n_groups)
    return positions


def load_table(cell: Cell, artefact: Artefact, protocol: Protocol) -> RankTable:
    """Read the table of one sampled design.

    Raises
    ------
    StoreError
        If the artefact is missing, damaged, or does not fit the data.
    """
    if not artefact.rule:
        raise ConfigError(f"{artefact}: no sample; derive tables from its positions")
    split = reduced_splits(cell.source_of(artefact), cell.fold, artefact.test)
    key = cell.key(artefact)
    arrays: dict[str, Any] = read_arrays(path_of(key), key=key)[0]
    judged = split.test
    rows = np.ones(len(judged), dtype=bool)
    if protocol.rule.per_run:
        rows = relevant(judged.value, protocol.min_rating)
    _check_length(cell, artefact, len(arrays["rank"]), int(rows.sum()))
    return RankTable(
        per="run" if protocol.rule.per_run else "user",
        n_users=judged.n_users,
        user=judged.user[rows],
        item=judged.item[rows],
        value=judged.value[rows],
        **arrays,
    )


def _check_length(cell: Cell, artefact: Artefact, count: int, expected: int) -> None:
    if count != expected:
        raise DamagedError(
            f"{cell.path(artefact)}: {count} test ratings, expected {expected}; delete it and rerun"
        )


def artefacts_to_train(cells: Iterable[Cell]) -> list[str]:
    """Name what has to be trained for again, although other artefacts of the cells are there."""
    again: dict[str, None] = {}
    for cell in cells:
        missing = cell.missing()
        if missing and len(missing) < len(cell.artefacts):
            again.update(dict.fromkeys(map(str, missing)))
    return list(again)
