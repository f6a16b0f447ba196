"""Results that a decorated function makes from a dataset: tables, and other kinds of one's own.

A sweep, a simulation, statistics of a dataset or checks of theorems are no grid, and need no code
of their own to be stored, found, verified and compared. A function under `maker` is called as
before, with the name of a dataset; it loads that, names, runs and keeps what it makes, and its
results follow the contract of `recbias.experiment.results`.
"""

from __future__ import annotations

import functools
import inspect
import time
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from recbias import ranking
from recbias._system.places import clone_root
from recbias.data import simulation
from recbias.data.datasets import Dataset, dataset_info, load_dataset, registry
from recbias.errors import ConfigError, MissingData, StoreError, unknown_name
from recbias.experiment import feedback
from recbias.experiment.cells import grid_cells
from recbias.experiment.engine import peak_mb
from recbias.experiment.grid import Grid, split_marks
from recbias.experiment.planning import Plan, Waiting, current_plan
from recbias.experiment.reproduction import (
    agreement,
    compare_arrays,
    compare_frames,
    relative_bound,
)
from recbias.experiment.results import (
    SIMULATIONS,
    Agreement,
    Quantity,
    StoredResult,
    dataset_record,
    kept_as,
    kept_result,
    load_result,
    recorded_result,
    register_kind,
    results_dir,
    simulation_record,
)
from recbias.experiment.store import (
    canonical_json,
    digest,
    frame_from_json,
    frame_to_json,
    platform_record,
    read_document,
)
from recbias.metrics import Metric, aggregation, parse_metric
from recbias.protocol import splits, testset
from recbias.recommenders import System
from recbias.stats.resampling import rounded_replicates

__all__ = ["Made", "Maker", "Table", "contents_of", "find_maker", "maker", "makers_of"]

FloatArray = npt.NDArray[np.float64]
_Made = TypeVar("_Made", bound="Made")

_REVISIONS: Mapping[str, tuple[Any, str]] = {
    "splits": (splits, "REVISION"),
    "ranking": (ranking, "REVISION"),
    "sampling": (ranking, "SAMPLING_REVISION"),
    "thinning": (testset, "REVISION"),
    "testset": (testset, "REVISION"),
    "aggregation": (aggregation, "REVISION"),
    "world": (simulation, "REVISION"),
    "feedback": (feedback, "REVISION"),
}
"""Parts of the package that a function may use without a grid, and where their revisions are."""


_GRIDS = (Grid, Sequence[Grid], "Grid", "Sequence[Grid]")
"""Annotations of parameters that are grids, and are stored as records of these."""


@dataclass(frozen=True)
class Maker(Generic[_Made]):
    """A function that makes a result from a dataset and parameters, under a name that is stored.

    Called with the dataset and the parameters, it returns the result. What is made is found again
    by a key: name, revision, the parameters that differ from their defaults, the data, and what
    else the decorator declares. Of a parameter that is a `Grid` the key of the grid counts, so that
    results go stale with an algorithm's revision; ``workers`` never counts.

    Attributes
    ----------
    name
        Chapter and function, e.g. ``"systems/chance"``.
    kind
        The class of its results.
    function
        Called as ``function(dataset, **parameters)``, or without a dataset where it has no first
        parameter of that name: a simulation. Returns what the class's `of` takes.
    revision, parts, metrics, systems, uses, grids
        As of `maker`.
    source
        Digest of the module that defines the function, for one from outside the package.
    """

    name: str
    kind: type[_Made]
    function: Callable[..., Any]
    revision: int = 1
    parts: tuple[str, ...] = ()
    metrics: Any = None
    systems: Any = None
    uses: Any = None
    grids: Any = None
    source: str | None = None

    def __post_init__(self) -> None:
        # Signature, docstring and source of the function, for a reader who asks, and for doctest.
        for name in functools.WRAPPER_ASSIGNMENTS:
            self.__dict__[name] = getattr(self.function, name, None)
        self.__dict__["__wrapped__"] = self.function

    def __call__(
        self,
        dataset: str | None = None,
        *,
        name: str = "",
        workers: int = 1,
        data_dir: Path | None = None,
        **parameters: Any,
    ) -> _Made:
        """Make the result where the data is, or return the recorded one of the same parameters.

        On a page of the book it is kept under the name of the page and that of the function. A live
        one that an earlier run left there is returned, if it has the same key: nothing that decides
        it has changed.

        Parameters
        ----------
        dataset
            Name of a dataset, or path of a table; not for a simulation, which belongs to no dataset
            and is kept under :data:`recbias.experiment.results.SIMULATIONS`. One that was recorded
            by the same code with the same parameters is read instead, since nothing else decides
            it.
        name
            Under which a page keeps the result, if not under that of the function; see
            :func:`recbias.experiment.results.kept_as`.
        workers
            Processes, where the function uses any. The results do not depend on it.
        data_dir
            Folder that holds datasets, besides ``RECBIAS_DATA``.
        **parameters
            Arguments of the function: JSON-able, or grids.

        Raises
        ------
        ConfigError
            For a parameter that the function lacks, or one that is missing.
        MissingData
            If the dataset is neither at hand nor recorded.
        StoreError
            If a recorded result exists but is damaged, or was computed with other data, parameters
            or code; a simulation of other parameters or code is computed.
        """
        self._check(dataset, parameters)
        given = {each: _written(value) for each, value in parameters.items()}
        record = kept_as(name or self.name.rpartition("/")[2])
        return self.find(dataset, given, record, workers=workers, data_dir=data_dir)

    def find(
        self,
        dataset: str | None,
        given: Mapping[str, Any],
        record: str | None,
        *,
        workers: int,
        data_dir: Path | None,
    ) -> _Made:
        """Read what is kept under a name, if nothing that decides it has changed, or make it."""
        plan, result = current_plan(), record or self.name
        if dataset is None:
            recorded = self._recorded_simulation(given, record)
            if plan is not None:
                return (
                    plan.noted(result, "recorded", recorded)
                    if recorded
                    else self._plan(plan, result, None, given, data_dir)
                )
            made = recorded or self.make(None, given, workers)
            if record is not None and clone_root() is not None:
                # What was only read as well: recording replaces results of a chapter as a whole.
                made.save(results_dir(SIMULATIONS, recorded=False) / record)
            return made
        try:
            loaded = load_dataset(dataset, data_dir=data_dir)
        except MissingData as missing:
            if record is None:
                raise
            found = self._recorded(dataset, given, record, missing)
            return found if plan is None else plan.noted(result, "recorded", found)
        if record is not None:
            key = self.key(given, _about(loaded, given)["hashes"])
            live = kept_result(record, loaded.name, key)
            if isinstance(live, self.kind):
                # What the key leaves out, such as the place of a table, may be another now.
                live = replace(live, given=given)
                return live if plan is None else plan.noted(result, "kept", live)
        if plan is not None:
            return self._plan(plan, result, loaded, given, data_dir)
        made = self.make(loaded, given, workers)
        if record is not None and clone_root() is not None:
            made.save(results_dir(loaded.name, recorded=False) / record)
        return made

    def _plan(
        self,
        plan: Plan,
        result: str,
        dataset: Dataset | None,
        given: Mapping[str, Any],
        data_dir: Path | None,
    ) -> Any:
        """Note what the function would be called for; what it ranks itself is not counted."""
        about = _about(dataset, given)
        beside = bool({"ranking", "world", "feedback"} & {*self.parts})
        if dataset is None:  # whatever grids it has are of worlds
            plan.note_cells(result, [], beside=True)
            return Waiting(given=given, dataset=about)
        grids = self.grids_read(given)
        cells = [cell for grid in grids for _, cell in grid_cells(grid, dataset, data_dir)]
        plan.note_cells(result, cells, beside=beside)
        of_data_alone = not (grids or beside or "workers" in self._arguments)
        made = functools.partial(self.make, dataset, given) if of_data_alone else None
        return Waiting(made, given=given, dataset=about)

    def make(self, dataset: Dataset | None, given: Mapping[str, Any], workers: int = 1) -> _Made:
        """Call the function, whatever was made before."""
        arguments = {name: value for name, value in self._read(given).items() if name != "workers"}
        if "workers" in self._arguments:
            arguments["workers"] = workers
        about = _about(dataset, given)
        started, used = time.perf_counter(), time.process_time()
        content = self.function(*([] if dataset is None else [dataset]), **arguments)
        return self.kind.of(
            content,
            key=self.key(given, about["hashes"]),
            dataset=about,
            provenance=platform_record(),
            times={
                "seconds": round(time.perf_counter() - started, 1),
                "processor_seconds": round(time.process_time() - used, 1),
                "peak_mb": peak_mb(),
            },
            maker_name=self.name,
            given=given,
        )

    def key(self, given: Mapping[str, Any], hashes: Mapping[str, str]) -> str:
        """Digest function, revision, parameters and data, and what else decides the result."""
        uses = self._stands_on(given, hashes)
        return digest(
            {
                "maker": self.name,
                "revision": self.revision,
                "given": self.asked(given),
                "data": dict(hashes),
                **({} if uses is None else {"uses": uses}),
                **({"source": self.source} if self.source else {}),
            }
        )

    def asked(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters that differ from the function's defaults, for a key."""
        return {
            name: same_number(value)
            for name, value in given.items()
            if name not in self._defaults or not _same(value, self._defaults[name])
            if name != "workers" and name not in self._grid_arguments
        }

    def printed_grids(self, given: Mapping[str, Any]) -> tuple[Grid, ...]:
        """List the grids whose options a page prints."""
        return () if self.grids is None else tuple(self._called(self.grids, given))

    def grids_read(self, given: Mapping[str, Any]) -> list[Grid]:
        """List the grids that decide the result, so that their cells may be read."""
        found: list[Grid] = []

        def note(grid: Grid) -> str:
            found.append(grid)
            return ""

        self._stands_on(given, {}, note)
        return found

    def _stands_on(
        self,
        given: Mapping[str, Any],
        hashes: Mapping[str, str],
        of_grid: Callable[[Grid], str] | None = None,
    ) -> Any:
        """Write, as JSON-able values, what decides the result beside parameters and data."""

        def key_of(grid: Grid) -> str:
            return grid.key_of(hashes or hashes_of(grid.dataset))

        of_grid = of_grid or key_of
        written = functools.partial(self._identified, given=given, of_grid=of_grid)
        named: dict[str, Any] = {}
        for part in self.parts:
            module, attribute = _REVISIONS[part]
            named[part] = getattr(module, attribute)
        if self.metrics is not None:
            texts = self._called(self.metrics, given)
            named["metrics"] = [parse_metric(text).identity() for text in texts]
        if self.systems is not None:
            systems = self._called(self.systems, given)
            named["systems"] = [{"name": each.name, **each.identity()} for each in systems]
        if isinstance(self.uses, Mapping):
            return named | written(self.uses)
        if self.uses is not None or self.grids is not None:
            return written(self.grids if self.uses is None else self.uses)
        known = self._read(given)
        if named:
            return named | {name: written(known[name]) for name in self._grid_arguments}
        keys = [written(known[name]) for name in self._grid_arguments]
        return [key for each in keys for key in ([each] if isinstance(each, str) else each)] or None

    def _identified(
        self, value: Any, given: Mapping[str, Any], of_grid: Callable[[Grid], str]
    ) -> Any:
        """Write what stands for a value: keys of grids, identities of systems and metrics."""
        if isinstance(value, Grid):
            return of_grid(value)
        if isinstance(value, System | Metric):
            return value.identity()
        if callable(value):
            return self._identified(self._called(value, given), given, of_grid)
        if isinstance(value, Mapping):
            return {name: self._identified(each, given, of_grid) for name, each in value.items()}
        if isinstance(value, Iterable) and not isinstance(value, str):
            return [self._identified(each, given, of_grid) for each in value]
        return value

    def _called(self, declared: Any, given: Mapping[str, Any]) -> Any:
        """Call what is declared as a function with those of the parameters that it names."""
        if not callable(declared):
            return declared
        known = {**self._defaults, **self._read(given)}
        named = inspect.signature(declared).parameters
        return declared(**{name: value for name, value in known.items() if name in named})

    def _read(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Make grids of their records."""
        return {
            name: _grid_of(value) if name in self._grid_arguments else value
            for name, value in given.items()
        }

    def _check(self, dataset: str | None, parameters: Mapping[str, Any]) -> None:
        """Refuse a call that the function could not answer, before anything is loaded."""
        if self._of_data and dataset is None:
            raise ConfigError(f"{self.name}: give the name of a dataset, or the path of a table")
        if dataset is not None and not self._of_data:
            raise ConfigError(f"{self.name} is a simulation, of no dataset; leave out {dataset!r}")
        for name in parameters:
            if name not in self._arguments and not self._takes_any:
                known = [each for each in self._arguments if each != "workers"]
                raise unknown_name(f"parameter of {self.name}", name, known)
        absent = [
            each
            for each in self._arguments
            if each not in parameters and each not in self._defaults and each != "workers"
        ]
        if absent:
            missing = ", ".join(f"{each}=" for each in absent)
            raise ConfigError(f"{self.name}: give {missing} as well")

    @cached_property
    def _signature(self) -> Mapping[str, inspect.Parameter]:
        return inspect.signature(self.function).parameters

    @property
    def _of_data(self) -> bool:
        """Tell a function of a dataset from a simulation."""
        return next(iter(self._signature), "") == "dataset"

    @property
    def _takes_any(self) -> bool:
        return any(each.kind is each.VAR_KEYWORD for each in self._signature.values())

    @cached_property
    def _arguments(self) -> list[str]:
        """Name the parameters, without the dataset."""
        named = (each for each in self._signature.values() if each.kind is not each.VAR_KEYWORD)
        return [each.name for each in named][self._of_data :]

    @cached_property
    def _defaults(self) -> dict[str, Any]:
        given = (each for each in self._signature.values() if each.default is not each.empty)
        return {each.name: each.default for each in given}

    @cached_property
    def _grid_arguments(self) -> list[str]:
        return [name for name in self._arguments if self._signature[name].annotation in _GRIDS]

    def _recorded_simulation(self, given: Mapping[str, Any], record: str | None) -> _Made | None:
        """Read a recorded simulation; None unless the same code made it with these parameters."""
        if record is None or clone_root() is None:
            return None
        path = results_dir(SIMULATIONS, recorded=True) / record
        document = path.with_suffix(".json")
        if not document.is_file() or read_document(document)["key"] != self.key(given, {}):
            return None
        result = load_result(path, dataset=SIMULATIONS)
        if not isinstance(result, self.kind):
            raise TypeError(f"{path} is {result.kind}, expected {self.kind.kind}")
        return result

    def _recorded(
        self, dataset: str, given: Mapping[str, Any], record: str, missing: MissingData
    ) -> _Made:
        """Read what is recorded of a dataset that is not at hand."""
        recorded = recorded_result(record, dataset, missing)
        observed = str(dataset_info(dataset).content_hash)
        hashes = {**recorded.dataset["hashes"], "observed": observed}
        if not isinstance(recorded, self.kind) or recorded.key != self.key(given, hashes):
            raise StoreError(
                f"{results_dir(dataset, recorded=True) / record}: recorded with other parameters "
                f"than asked for\n{missing}"
            ) from missing
        return recorded


def contents_of(datasets: Iterable[str]) -> dict[str, str | None]:
    """Name the contents of datasets, for a key of what is about several and kept with none."""
    return {name: dataset_info(name).content_hash for name in datasets}


def _written(value: Any) -> Any:
    """Write grids among parameters as records, as they are stored."""
    if isinstance(value, Grid):
        return value.to_dict()
    if isinstance(value, list | tuple) and any(isinstance(each, Grid) for each in value):
        return [_written(each) for each in value]
    return value


def _grid_of(value: Any) -> Any:
    """Read a grid, or several."""
    if isinstance(value, Mapping):
        return Grid.from_dict(value)
    return value if isinstance(value, Grid) else [_grid_of(each) for each in value]


def _same(value: Any, default: Any) -> bool:
    """Tell whether a parameter is its default, written as it will be read: tuples as lists."""
    texts = [canonical_json(same_number(either)) for either in (value, default)]
    return texts[0] == texts[1]


def same_number(value: Any) -> Any:
    """Make 5.0 and 5 one parameter, whether typed or read from a scale."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


_MAKERS: dict[str, Maker[Any]] = {}


def maker(
    chapter: str,
    kind: type[_Made],
    *,
    name: str = "",
    revision: int = 1,
    parts: Sequence[str] = (),
    metrics: Any = None,
    systems: Any = None,
    uses: Any = None,
    grids: Any = None,
) -> Callable[[Callable[..., Any]], Maker[_Made]]:
    """Make a function into a `Maker`: it names, keys, runs and keeps its results itself.

    What is declared here goes into the key of the results. A declaration may be a function of some
    of the parameters, which it names as the decorated one does; a parameter that is a `Grid`, or a
    sequence of such by its annotation, needs no declaration.

    Parameters
    ----------
    chapter
        Page that the results belong to; with the name of the function it is their name.
    kind
        Class of the results.
    name
        Instead of that of the function, of which several makers are made.
    revision
        Raised when code changes what the function makes.
    parts
        Parts of the package whose revision decides the results: ``"splits"``, ``"ranking"``,
        ``"sampling"``, ``"thinning"``, ``"testset"``, ``"aggregation"``, ``"world"``,
        ``"feedback"``.
    metrics, systems
        Texts of metrics and systems that the function measures without a grid.
    uses
        What else decides the results: JSON-able values, where grids stand for their keys, and
        systems and metrics for their identities. If it is not by name it stands alone.
    grids
        Grids whose cells are read, and whose options a page prints.

    Raises
    ------
    ConfigError
        If a function of another module has the name; for a part that does not exist; if what is
        used stands beside others and has no name.
    """
    for part in parts:
        if part not in _REVISIONS:
            raise unknown_name("part with a revision", part, _REVISIONS)
    alone = uses is not None and not isinstance(uses, Mapping)
    if alone and (parts or metrics is not None or systems is not None):
        raise ConfigError("what a maker uses stands beside parts, metrics, systems by name only")

    def register(function: Callable[..., Any]) -> Maker[_Made]:
        stored = f"{chapter}/{name or function.__name__}"
        known = _MAKERS.get(stored)
        if known is not None and known.function.__module__ != function.__module__:
            raise ConfigError(f"maker {stored!r} exists already, in {known.function.__module__}")
        source = None
        if function.__module__.partition(".")[0] != "recbias":
            file = inspect.getsourcefile(function)
            source = digest(Path(file).read_bytes()) if file and Path(file).is_file() else None
        made = Maker(
            stored, kind, function, revision, tuple(parts), metrics, systems, uses, grids, source
        )
        _MAKERS[stored] = made
        return made

    return register


def find_maker(name: str) -> Maker[Any]:
    """Find a maker by chapter and function.

    Raises
    ------
    ConfigError
        If there is none, or its module is not imported yet.
    """
    if name not in _MAKERS:
        raise unknown_name("maker of results", name, _MAKERS)
    return _MAKERS[name]


def makers_of(chapter: str) -> SimpleNamespace:
    """Collect the makers of a chapter that are imported, by the names of their functions."""
    known = ((name.rpartition("/"), made) for name, made in _MAKERS.items())
    return SimpleNamespace(**{name: made for (of, _, name), made in known if of == chapter})


@dataclass(frozen=True, eq=False, kw_only=True)
class Made(StoredResult):
    """A result that a registered function made.

    Attributes
    ----------
    maker_name
        Name of the function.
    given
        Its parameters, grids as records.
    """

    maker_name: str
    given: Mapping[str, Any]

    @classmethod
    @abstractmethod
    def of(cls, content: Any, **context: Any) -> Self:
        """Build the result from what the function returned."""

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Name of the function and its parameters."""
        return {"maker": self.maker_name, "given": dict(self.given)}

    @property
    def grids(self) -> tuple[Grid, ...]:
        """Grids whose cells the function read, as far as it declares them to be printed."""
        return find_maker(self.maker_name).printed_grids(self.given)

    @classmethod
    def key_of(cls, parameters: Mapping[str, Any], hashes: Mapping[str, str]) -> str:
        """Digest function, revision, parameters and data."""
        return find_maker(parameters["maker"]).key(parameters["given"], hashes)

    def recompute(
        self,
        *,
        systems: int | Sequence[str] | None = None,
        workers: int = 1,
        data_dir: Path | None = None,
    ) -> StoredResult:
        """Call the function again, as a whole: it has no part that could be computed alone."""
        dataset = None
        if self.dataset_name != SIMULATIONS:
            dataset = load_dataset(self.dataset_name, data_dir=data_dir)
        return find_maker(self.maker_name).make(dataset, self.given, workers)


def hashes_of(world: str) -> dict[str, str]:
    """Return what a grid of a simulation is found by: a registered world, or its parameters."""
    return {"observed": str(dataset_info(world).content_hash)} if world in registry() else {}


def _about(dataset: Dataset | None, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Say what a result is about: the contents of the data that decide it."""
    if dataset is None:
        return simulation_record()
    marks = split_marks(dataset, parameters["split"]) if "split" in parameters else {}
    return dataset_record(dataset, {"observed": dataset.ratings.content_hash, **marks})


@register_kind
@dataclass(frozen=True, eq=False, kw_only=True)
class Table(Made):
    """A table with free index columns: what a sweep, a simulation or a set of statistics gives.

    Attributes
    ----------
    index
        Columns that name a row.
    frame : DataFrame
        Index columns and columns of values.
    replicates : ndarray of float64, shape (n_rows, n_replicates), optional
        The column ``value`` on resampled users.
    """

    kind: ClassVar[str] = "table"

    index: tuple[str, ...]
    frame: pd.DataFrame
    replicates: FloatArray | None = None

    @classmethod
    def of(cls, content: Any, **context: Any) -> Self:
        """Build the table.

        Parameters
        ----------
        content : tuple
            Names of the index columns, the frame, and optionally replicates of its ``value``.
        **context
            As of the class.

        Raises
        ------
        ConfigError
            If an index column is missing, or two rows have one name.
        """
        index, frame, *more = content
        if absent := [name for name in index if name not in frame.columns]:
            raise ConfigError(f"a table without its index columns {absent}")
        if frame.duplicated(list(index)).any():
            twice = frame[frame.duplicated(list(index))].iloc[0][list(index)].to_dict()
            raise ConfigError(f"a table with two rows of the name {twice}")
        drawn = more[0] if more else None
        if drawn is not None:
            drawn = rounded_replicates(drawn).astype(np.float64)
        return cls(index=tuple(index), frame=frame, replicates=drawn, **context)

    def select(self, **names: Any) -> pd.DataFrame:
        """Return the rows whose index columns have some values."""
        rows = np.ones(len(self.frame), dtype=bool)
        for name, value in names.items():
            if name not in self.index:
                raise unknown_name("index column", name, self.index)
            rows &= (self.frame[name] == value).to_numpy()
        return self.frame[rows]

    def __getitem__(self, names: Mapping[str, Any]) -> Quantity:
        """Return the ``value`` of one row as a quantity, by its index columns."""
        place = self._places.get(tuple(map(names.get, self.index)))
        if place is None or len(names) != len(self.index):
            rows = self.select(**names)
            if len(rows) != 1:
                raise ConfigError(f"{dict(names)}: {len(rows)} rows of the table, expected one")
        else:
            rows = self.frame.iloc[place : place + 1]
        row = int(rows.index[0])
        drawn = None if self.replicates is None else self.replicates[row]
        value = float(rows["value"].iloc[0])
        return Quantity(value, drawn, limits=None if drawn is not None else (value, value))

    @cached_property
    def _places(self) -> dict[tuple[Any, ...], int]:
        """Find rows by all index columns; empty where two have one name, which `select` tells."""
        names = list(self.frame[list(self.index)].itertuples(index=False, name=None))
        places = {name: place for place, name in enumerate(names)}
        return places if len(places) == len(names) else {}

    def body(self) -> dict[str, Any]:
        """Return index and columns."""
        return {"index": list(self.index), "frame": frame_to_json(self.frame)}

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return the replicates."""
        if self.replicates is None:
            return {}
        return {"replicates": rounded_replicates(self.replicates).ravel()}

    @classmethod
    def restore(
        cls,
        parameters: Mapping[str, Any],
        body: Mapping[str, Any],
        arrays: Mapping[str, npt.NDArray[Any]],
        **context: Any,
    ) -> Self:
        """Build the table from its document."""
        frame = frame_from_json(body["frame"])
        drawn = None
        if arrays:
            drawn = arrays["replicates"].reshape(len(frame), -1).astype(np.float64)
        return cls(
            index=tuple(body["index"]),
            frame=frame,
            replicates=drawn,
            maker_name=parameters["maker"],
            given=parameters["given"],
            **context,
        )

    def verify(self, fresh: StoredResult) -> Agreement:
        """Compare row by row: numbers up to one part in a million, all else as it is written."""
        if not isinstance(fresh, Table) or fresh.index != self.index:
            return Agreement(0, np.nan, np.nan, ("another table",))
        bound = relative_bound(1e-6, 1e-12)
        lines = [compare_frames(self.frame, fresh.frame, bound, index=self.index)]
        if not (self.replicates is None and fresh.replicates is None):
            drawn = 0.0 if fresh.replicates is None else np.abs(fresh.replicates)
            # Twice what rounding to 16 digits may make of numbers that differ in their last bits.
            limits = np.fmax(1e-12, 2.0**-15 * drawn)
            both = self.replicates, fresh.replicates
            lines.append(compare_arrays((), "replicates", *both, limits))
        return agreement(pd.concat(lines, ignore_index=True))
