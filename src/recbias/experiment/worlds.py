"""Worlds as an axis: systems x protocols x judgments, over worlds whose truth is known.

A world stands where a fold stands in other grids: what was observed in it is split once, each
system is trained and ranked on that split, and judged by what was observed, by a random sample of
the truth, or by all of it. Relation, skew, size and number of a world are columns of the table.

A *cell* is one system in one world. What is kept of it are its values, not its ranks: judged by the
truth every pair has a rank, and those of a thousand worlds would fill a disk that their values do
not. A cell is found by a digest of all that decides it, computed once, and shared by all grids that
ask for the same; whoever was stopped goes on with the cells that are missing. A worker makes a
world once, and does all that is missing there.
"""

from __future__ import annotations

import dataclasses
import inspect
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from recbias._system.streams import stream
from recbias.data.datasets import Dataset, dataset_info, load_dataset
from recbias.data.ratings import Ratings
from recbias.data.simulation import REVISION as WORLD_REVISION
from recbias.data.simulation import CountOptions, is_world, parse_world
from recbias.errors import ConfigError, DamagedError, StoreWarning
from recbias.experiment.cells import one_thread, path_of, rank_split, reduce_positions
from recbias.experiment.engine import Workers, at_most, open_executor, peak_mb, run_all
from recbias.experiment.grid import Grid, component_revisions
from recbias.experiment.reduction import contributed, n_averaged_groups
from recbias.experiment.store import digest, platform_record, read_arrays, write_arrays
from recbias.metrics import Metric, aggregation, measure, parse_metric
from recbias.metrics.aggregation import finish
from recbias.protocol.averaging import Averaging
from recbias.protocol.splits import Split
from recbias.protocol.targets import popularity_groups
from recbias.protocol.testset import TestSet, dataset_splits
from recbias.ranking import Positions, RankTable, rank_once, score_blocks, target_lists, tie_counts
from recbias.recommenders import Recommender, System
from recbias.stats.resampling import weighted_medians
from recbias.theory import relevant_counts

__all__ = ["Ranked", "Seen", "World", "WorldGrid", "each_world", "run_worlds"]

REVISION = 1
"""Raised when code changes what a cell of a world holds, for the same revisions of its parts."""

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
Builder = Callable[["Seen", Split], Recommender]
AnySystem = System | tuple[str, Builder]
"""A system, or a name and a function that makes a ranking of what is seen and a fold."""

_Answer = TypeVar("_Answer")


@dataclass(frozen=True)
class World:
    """One world, and what tables call it.

    Parameters
    ----------
    source
        Name of a world, or of any data set; or a function at module level, alone or as a
        `functools.partial`, that makes the `Dataset`, or the `Ratings` that there are.
    seed
        Names the split, training, ties and samples in this world.
    labels
        A column each, such as ``{"relation": 0.5, "skew": 0.65, "number": 3}``.
    """

    source: str | Callable[[], Dataset | Ratings]
    seed: int
    labels: Mapping[str, Any] = field(default_factory=dict)

    def load(self) -> Dataset:
        """Make it, or read it."""
        if isinstance(self.source, str):
            return load_dataset(self.source)
        made = self.source()
        return made if isinstance(made, Dataset) else _dataset_of(made)

    @cached_property
    def identity(self) -> str:
        """A digest of all that decides its content and draws; nothing is made for it."""
        if not isinstance(self.source, str):
            content: Any = _code_identity(self.source)
        elif is_world(self.source):
            options = parse_world(self.source)
            content = [str(options)]
            if isinstance(options, CountOptions):
                content.append(dataset_info(options.counts).content_hash)
        else:
            content = dataset_info(self.source).content_hash
        return digest({"world": content, "revision": WORLD_REVISION, "seed": self.seed})


class Seen:
    """Data as a process has them: made once, split once in each way that is asked for.

    Parameters
    ----------
    dataset : Dataset
        Observed ratings, and the truth of a world.
    seed : int
        Names all draws: split, training, ties and samples.
    labels : Mapping
        What tables call the world.
    """

    def __init__(
        self, dataset: Dataset, seed: int, labels: Mapping[str, Any] | None = None
    ) -> None:
        self.dataset, self.seed, self.labels = dataset, seed, dict(labels or {})
        self._folds: dict[tuple[str, str], list[Split]] = {}

    @property
    def ratings(self) -> Ratings:
        """What was observed."""
        return self.dataset.ratings

    def folds(self, split: str, judgments: str = "observed") -> list[Split]:
        """Return all folds of a split rule, tested on some kind of judgments."""
        if (split, judgments) not in self._folds:
            test = TestSet.parse(judgments)
            self._folds[split, judgments] = dataset_splits(
                self.dataset, split, seed=self.seed, judgments=test
            )
        return self._folds[split, judgments]

    def fold(self, split: str, judgments: str = "observed") -> Split:
        """Return the first of them, the one that a world has."""
        return self.folds(split, judgments)[0]

    def liked(self, min_rating: float) -> BoolArray:
        """Tell who truly likes what, shape (n_users, n_items).

        Raises
        ------
        ConfigError
            If the truth is not known.
        """
        return self._stars >= min_rating

    @cached_property
    def _stars(self) -> npt.NDArray[np.float32]:
        if self.dataset.truth is None:
            raise ConfigError(f"the truth of {self.dataset.name} is not known; name a world")
        return self.dataset.truth.true_rating(np.arange(self.ratings.n_users))

    def ranked(self, system: AnySystem, fold: Split, *, depth: int = 1, repeat: int = 0) -> Ranked:
        """Train a system on a fold and rank it as a cell of a world is; nothing is kept.

        Parameters
        ----------
        system
            As of `WorldGrid`.
        fold
            Of these data. A world has one, so that its number names no stream.
        depth
            Length of the lists.
        repeat
            Number of the training seed.
        """
        with one_thread():
            model = self.trained(system, fold, repeat)
        positions, _ = rank_split(model, fold, depth=depth, seed=self.seed)
        return Ranked(self, fold, _name_of(system), model, positions)

    def trained(self, system: AnySystem, fold: Split, repeat: int) -> Recommender:
        """Train a system, or make the ranking that stands for one."""
        if isinstance(system, System):
            rng = stream(self.seed, "train", system.stream_label(), repeat)
            return system.build().fit(fold.train, rng=rng)
        return system[1](self, fold)


class Ranked(NamedTuple):
    """One system on one fold, for measures that are no metrics.

    Attributes
    ----------
    seen : Seen
        The data.
    fold : Split
        Of what was observed.
    system : str
        Name of the system.
    model : Recommender
        Fitted on the fold.
    positions : Positions
        Where the test ratings stand, and the lists, to the depth that was asked for.
    """

    seen: Seen
    fold: Split
    system: str
    model: Recommender
    positions: Positions

    def target_lists(
        self, depth: npt.NDArray[np.int64], *, min_rating: float, n_sampled: int | None = None
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
        """Return the first items of each user's target set, and the sizes of the sets.

        As :func:`recbias.ranking.target_lists` does, by the draws of the world.
        """
        return target_lists(
            self.model, self.fold, depth, min_rating=min_rating, n_sampled=n_sampled,
            seed=self.seen.seed,
        )  # fmt: skip

    def score_blocks(self) -> Iterator[tuple[int, npt.NDArray[np.float32]]]:
        """Stream the scores of all users, as :func:`recbias.ranking.score_blocks` does."""
        return score_blocks(self.model, self.fold.train)


Measure = Callable[[Ranked], Mapping[str, float]]


@dataclass(frozen=True)
class WorldGrid:
    """Systems x protocols x judgments on worlds.

    Parameters
    ----------
    worlds
        Each is split, ranked and judged on its own.
    systems
        What is trained. Beside `System` there may be pairs of a name and a function at module level
        that makes a ranking of what is ``seen`` and its fold: the truth may decide it.
    protocols
        How it is evaluated, by label: texts of :class:`~recbias.protocol.protocol.Protocol`.
    columns
        What is measured, by the name of its column: a label, and a metric from ranks.
    split
        Text of a split rule, of which the first fold is used.
    tests
        Texts of :class:`~recbias.protocol.testset.TestSet` by label, where other judgments than all
        observed ones count: ``"truth"``, ``"truth sample=80"``, ``"observed removed=30%"``.
    groups
        How items are grouped where target sets or test sides speak of popularity.
    own
        A function at module level that measures more of what is ranked: values by column.
    depth
        Length of the lists that `own` may look at.
    n_seeds
        How often each system is trained in a world, of which there are many; None = as often as it
        says itself.

    Raises
    ------
    ConfigError
        As :class:`~recbias.experiment.grid.Grid`; for what is trained on anything but observed
        ratings, metrics of lists or of a system as a whole, policies for what has no score, and
        samples of a test side that something is taken out of.

    Examples
    --------
    >>> from recbias.recommenders import line_up
    >>> grid = WorldGrid(
    ...     [World("world(users=60,items=40,density=0.1)", 1, {"number": 1})],
    ...     line_up("bcc17")[:1],
    ...     {"seen": "AI-AN-AR rel>=4", "true": "AI-AN-AR rel>=4"},
    ...     {"P": ("seen", "P@5"), "true P": ("true", "P@5")},
    ...     tests={"true": "truth"},
    ... )
    >>> import tempfile
    >>> from recbias._system.places import cells_kept_in
    >>> with tempfile.TemporaryDirectory() as folder, cells_kept_in(folder):
    ...     (table,) = run_worlds(grid)
    >>> list(table), bool(table["P"][0] < table["true P"][0])
    (['number', 'system', 'P', 'true P'], True)
    """

    worlds: Sequence[World]
    systems: Sequence[AnySystem]
    protocols: Mapping[str, str]
    columns: Mapping[str, tuple[str, str]]
    split: str = "ratio 0.2"
    tests: Mapping[str, str] = field(default_factory=dict)
    groups: str = "popularity 1"
    own: Measure | None = None
    depth: int = 1
    n_seeds: int | None = 1

    def __post_init__(self) -> None:
        names = [_name_of(system) for system in self.systems]
        if len(set(names)) < len(names) or not names:
            raise ConfigError(f"a grid of worlds needs systems with different names, got {names}")
        for label, protocol in self.asked.parsed.items():
            test = self.asked.test(label)
            if test.trains_on != "observed":
                raise ConfigError(f"{label!r}: in worlds systems learn what was observed; '{test}'")
            if protocol.unscored != "none":
                raise ConfigError(f"{label!r}: in worlds what has no score has no place")
            if protocol.rule.others == "NN" and test != test.judgments:
                raise ConfigError(f"{label!r}: samples are drawn of whole test sides, not '{test}'")
            for metric in self.asked.parsed_metrics[label]:
                if metric.kind != "ranks":
                    raise ConfigError(f"{metric} under {label!r}: worlds measure ranks; use own=")

    @cached_property
    def asked(self) -> Grid:
        """What is measured, as a grid."""
        systems = tuple(system for system in self.systems if isinstance(system, System))
        metrics: dict[str, list[str]] = {label: [] for label in self.protocols}
        for label, metric in self.columns.values():
            if label not in metrics:
                raise ConfigError(f"{metric} is asked under {label!r}, which is no protocol here")
            text = str(parse_metric(metric))
            if text not in metrics[label]:
                metrics[label].append(text)
        return Grid(
            "synthetic", systems or (System("Random", "Random", {}),), self.protocols, metrics,
            split=self.split, tests=self.tests, groups=self.groups,
        )  # fmt: skip

    @cached_property
    def _decides(self) -> dict[str, Any]:
        """Name all but system and world that decides a cell."""
        asked = self.asked
        metrics = {metric for metrics in asked.parsed_metrics.values() for metric in metrics}
        return {
            "columns": {name: list(place) for name, place in self.columns.items()},
            "protocols": asked.protocols,
            "tests": asked.tests,
            "split": asked.split,
            "groups": asked.groups,
            "metrics": [metric.identity() for metric in sorted(metrics, key=str)],
            "own": None if self.own is None else [_code_identity(self.own), self.depth],
            "revisions": {
                **component_revisions(
                    sampled=any(p.rule.others == "NN" for p in asked.parsed.values()),
                    reduced=bool(asked.tests),
                ),
                "aggregation": aggregation.REVISION,
                "worlds": REVISION,
            },
        }

    def cells(self) -> list[_Cell]:
        """List the cells, world by world."""
        alike = dataclasses.replace(self, worlds=())  # it travels with every cell
        trained = [self._as_trained(system) for system in self.systems]
        systems = [(system, _system_identity(system)) for system in trained]
        return [
            _Cell(
                world,
                system,
                alike,
                digest({**self._decides, "world": world.identity, "system": identity}),
            )
            for world in self.worlds
            for system, identity in systems
        ]

    def _as_trained(self, system: AnySystem) -> AnySystem:
        if self.n_seeds is None or not isinstance(system, System):
            return system
        return dataclasses.replace(system, n_seeds=self.n_seeds)


class _Cell(NamedTuple):
    """One system in one world: what is asked, and the key of its values."""

    world: World
    system: AnySystem
    grid: WorldGrid
    key: str

    @property
    def path(self) -> Path:
        return path_of(self.key)

    def kept(self) -> dict[str, float] | None:
        """Read the values, means over training seeds; None if they are not there, or damaged."""
        if not self.path.is_file():
            return None
        try:
            values, _ = read_arrays(self.path, key=self.key)
        except DamagedError:
            self.path.unlink(missing_ok=True)
            warnings.warn(f"{self.path}: was damaged, computed again", StoreWarning, stacklevel=3)
            return None
        return {name: float(np.mean(of_seeds)) for name, of_seeds in values.items()}


def run_worlds(
    *grids: WorldGrid, workers: Workers = 1, only_possible: bool = False
) -> list[pd.DataFrame]:
    """Measure grids on their worlds, computing only the cells that are not there yet.

    Parameters
    ----------
    *grids
        What to measure. A world that several of them have is made once.
    workers
        Local processes, or a cluster. The results do not depend on it, bit for bit.
    only_possible
        Leave worlds out that cannot be made, such as one whose relation cannot be reached.

    Returns
    -------
    list of DataFrame
        One for each grid: a row per world and system, in this order, with the labels of the world,
        ``system``, the columns of the grid and those of its `own`; of a system with several
        training seeds the means over them.

    Raises
    ------
    ConfigError, DataError
        If a world cannot be made or split, or a system not be trained in it.

    Warns
    -----
    StoreWarning
        If a kept cell was damaged; it is computed again.
    """
    cells = [grid.cells() for grid in grids]
    kept = {cell.key: cell.kept() for of_grid in cells for cell in of_grid}
    missing: dict[str, dict[str, _Cell]] = {}
    for cell in (cell for of_grid in cells for cell in of_grid):
        if kept[cell.key] is None:
            missing.setdefault(cell.world.identity, {})[cell.key] = cell
    tasks = [tuple(of_world.values()) for of_world in missing.values()]
    reusable = not any(part for grid in grids for part in grid.asked.outside)
    with open_executor(at_most(workers, len(tasks)), kept=reusable) as executor:
        work = partial(_measure_world, only_possible=only_possible)
        for measured in run_all(work, tasks, executor, label="worlds"):
            kept |= measured
    return [
        pd.DataFrame(
            [
                {
                    **cell.world.labels,
                    "system": _name_of(cell.system),
                    **dict.fromkeys(cell.grid.columns),  # in this order, whoever asked first
                    **(kept[cell.key] or {}),
                }
                for cell in of_grid
                if kept[cell.key] is not None
            ]
        )
        for of_grid in cells
    ]


def each_world(
    look: Callable[[Seen], _Answer], worlds: Sequence[World], *, workers: Workers = 1
) -> list[_Answer]:
    """Look at worlds in which nothing is trained that would have to be kept.

    Parameters
    ----------
    look
        A function at module level, or a `functools.partial` of one.
    worlds
        Each is made once.
    workers
        Local processes, or a cluster. The results do not depend on it.

    Returns
    -------
    list
        What the function returned, in the order of the worlds.
    """
    with open_executor(at_most(workers, len(worlds)), kept=True) as executor:
        return run_all(partial(_look_at, look), worlds, executor, label="worlds")


def _look_at(look: Callable[[Seen], _Answer], world: World) -> _Answer:
    return look(_see(world))


def _see(world: World) -> Seen:
    return Seen(world.load(), world.seed, world.labels)


# -- cells -----------------------------------------------------------------------------------------


def _measure_world(
    cells: Sequence[_Cell], *, only_possible: bool = False
) -> dict[str, dict[str, float]]:
    """Make a world, and measure and keep its cells one by one; return their values by key."""
    try:
        seen = _see(cells[0].world)
    except ConfigError:
        if only_possible:
            return {}
        raise
    return {cell.key: _measure_cell(seen, cell) for cell in cells}


def _measure_cell(seen: Seen, cell: _Cell) -> dict[str, float]:
    started, used = time.perf_counter(), time.process_time()
    grid, system = cell.grid, cell.system
    grid.asked.outside.load()
    per_seed = []
    for repeat in range(system.n_seeds if isinstance(system, System) else 1):
        with one_thread():
            fold = seen.fold(grid.split)
            model = seen.trained(system, fold, repeat)
            per_seed.append(_values(seen, fold, cell, model))
    values = {name: np.array([of_seed[name] for of_seed in per_seed]) for name in per_seed[0]}
    write_arrays(
        cell.path,
        values,
        key=cell.key,
        provenance={
            **platform_record(),
            "cell": {
                "world": seen.dataset.name,
                "labels": seen.labels,
                "seed": seen.seed,
                "system": _name_of(system),
            },
            "seconds": round(time.perf_counter() - started, 3),
            "processor_seconds": round(time.process_time() - used, 3),
            "peak_mb": peak_mb(),
        },
    )
    return {name: float(np.mean(of_seeds)) for name, of_seeds in values.items()}


def _values(seen: Seen, fold: Split, cell: _Cell, model: Recommender) -> dict[str, float]:
    """Measure what is asked for by column: one pass for each kind of judgments."""
    grid, asked = cell.grid, cell.grid.asked
    of_lists = {
        label: [m for m in asked.parsed_metrics[label] if _follows_from_lists(asked, label, m)]
        for label in asked.parsed
    }
    depth = max(
        [grid.depth, *(m.cutoff or 1 for metrics in of_lists.values() for m in metrics)]
    )  # fmt: skip
    ranks_of: dict[str, list[str]] = {"observed": []}
    for label, every in asked.parsed_metrics.items():
        if len(every) > len(of_lists[label]):
            ranks_of.setdefault(str(asked.test(label).judgments), []).append(label)
    by_place: dict[tuple[str, str], float] = {}
    observed: Positions | None = None
    for judgments, labels in ranks_of.items():
        split = seen.fold(grid.split, judgments)
        sampled = [label for label in labels if asked.parsed[label].rule.others == "NN"]
        positions, tables = rank_once(
            model,
            split,
            groups=popularity_groups(split.train, asked.n_groups),
            sampled=[asked.parsed[label].targets for label in sampled],
            depth=depth if observed is None else 1,
            seed=seen.seed,
        )
        observed = observed or positions
        given = [dict(m.given) for label in labels for m in asked.parsed_metrics[label]]
        if any("ties" in conditions for conditions in given):
            positions = dataclasses.replace(positions, ties=tie_counts(model, split))
        drawn = dict(zip(sampled, tables, strict=True))
        for label in labels:
            metrics = [m for m in asked.parsed_metrics[label] if m not in of_lists[label]]
            table = drawn.get(label)
            if table is None:
                table = _table(seen, asked, label, positions, split)
            means = _averages(asked, label, metrics, table, split)
            by_place |= {(label, str(m)): v for m, v in zip(metrics, means.tolist(), strict=True)}
    assert observed is not None
    for label, metrics in of_lists.items():
        if metrics:
            liked = seen.liked(asked.parsed[label].min_rating)
            by_place |= {
                (label, str(metric)): _true_value(metric, observed, fold, liked)
                for metric in metrics
            }
    columns = {
        name: by_place[label, str(parse_metric(metric))]
        for name, (label, metric) in grid.columns.items()
    }
    if grid.own is None:
        return columns
    ranked = Ranked(seen, fold, _name_of(cell.system), model, observed)
    more = {name: float(value) for name, value in grid.own(ranked).items()}
    if twice := columns.keys() & more.keys():
        raise ConfigError(f"columns measured twice: {', '.join(sorted(twice))}")
    return {**columns, **more}


def _table(seen: Seen, asked: Grid, label: str, positions: Positions, split: Split) -> RankTable:
    """Rank under a label, on its side of the test."""
    protocol = asked.parsed[label]
    part = reduce_positions(positions, split, asked.test(label), seed=seen.seed)
    return part.table(protocol.rule, min_rating=protocol.targets.min_rating)


def _averages(
    asked: Grid, label: str, metrics: Sequence[Metric], table: RankTable, split: Split
) -> FloatArray:
    """Average metrics over the population of a label, as grids do."""
    protocol = asked.parsed[label]
    if protocol.averaging.asks_for_training:
        table = dataclasses.replace(table, trained=split.train.user_counts())
    values = measure(
        table,
        metrics,
        min_rating=protocol.min_rating,
        condensed=protocol.condensed,
        rating_max=split.test.scale.maximum,
        relevant_counts=relevant_counts(split, min_rating=protocol.min_rating),
    )
    columns, medians = contributed(table, values, None, protocol)
    if medians:
        return weighted_medians(*medians[0], np.ones((1, table.n_users), dtype=np.uint8))[:, 0]
    sums = columns[0].sum(axis=1)
    return finish(sums, protocol.averaging, len(metrics), n_averaged_groups(protocol))


# -- the truth about all pairs ---------------------------------------------------------------------


def _follows_from_lists(asked: Grid, label: str, metric: Metric) -> bool:
    """Tell whether lists, or the pairs outside training, say it, so that no pair needs a rank."""
    protocol, test = asked.parsed[label], asked.test(label)
    if test != TestSet("truth") or str(protocol.rule) != "AI-AN-AR" or protocol.condensed:
        return False
    of_list = metric.name in ("P", "antiP") and metric.cutoff is not None
    said = (of_list or str(metric) == "rho") and not metric.given
    return said and protocol.averaging in (Averaging(), Averaging("all"))


def _true_value(metric: Metric, positions: Positions, fold: Split, liked: BoolArray) -> float:
    """Compute P@n, antiP@n or rho by the truth about all pairs outside training."""
    if metric.name == "rho":
        is_open = np.ones(liked.shape, dtype=bool)
        is_open[fold.train.user, fold.train.item] = False
        return float(((liked & is_open).sum(axis=1) / is_open.sum(axis=1)).mean())
    assert metric.cutoff is not None
    lists = positions.lists("AI", metric.cutoff)
    wanted = liked if metric.name == "P" else ~liked
    hits = np.take_along_axis(wanted, np.maximum(lists, 0), axis=1) & (lists >= 0)
    return float(hits.mean())


# -- identities ------------------------------------------------------------------------------------


def _name_of(system: AnySystem) -> str:
    return system.name if isinstance(system, System) else system[0]


def _system_identity(system: AnySystem) -> Any:
    if isinstance(system, System):
        return {"name": system.name, "n_seeds": system.n_seeds, **system.identity()}
    return {"name": system[0], "built": _code_identity(system[1])}


def _code_identity(code: Callable[..., Any]) -> Any:
    """Name all that decides what a function gives: the text of its module, and what it is given."""
    given: list[Any] = []
    while isinstance(code, partial):
        given.append([_plain(code.args), _plain(code.keywords)])
        code = code.func
    if code.__qualname__ != code.__name__ or code.__name__ == "<lambda>":
        raise ConfigError(f"{code.__qualname__}: expected a function at the level of its module")
    try:
        source = _module_digest(code.__module__)
    except (OSError, TypeError) as error:
        raise ConfigError(f"{code.__name__}: write it in a module, whose text is kept") from error
    return [code.__module__, code.__name__, source, *given]


@lru_cache(maxsize=64)
def _module_digest(name: str) -> str:
    return digest(inspect.getsource(sys.modules[name]).encode())


def _plain(value: Any) -> Any:
    """Write what a function is given so that equal texts say equal things."""
    match value:
        case Ratings():
            return {"ratings": value.content_hash}
        case System():
            return _system_identity(value)
        case Mapping():
            return {str(name): _plain(each) for name, each in value.items()}
        case str() | None:
            return value
        case bool() | int() | float():
            return value
        case list() | tuple():
            return [_plain(each) for each in value]
        case np.ndarray():
            return {"array": digest(np.ascontiguousarray(value).tobytes()), "as": str(value.dtype)}
    raise ConfigError(
        f"a function of a grid of worlds is given {type(value).__name__}: expected numbers, texts, "
        "arrays, ratings, systems, or lists and mappings of them"
    )


def _dataset_of(ratings: Ratings) -> Dataset:
    """Make a data set of ratings that a function made."""
    info = dataset_info("synthetic")
    return Dataset(
        ratings,
        dataclasses.replace(info, name=ratings.name, title=ratings.name),
        f"made here: {ratings.name}",
    )
