"""Results that a registered function makes from a dataset: tables, and other kinds of one's own.

A sweep, a simulation, statistics of a dataset or checks of theorems are no grid, and need no code
of their own to be stored, found, verified and compared: a function is registered under a name, and
its results follow the contract of `recbias.experiment.results`.
"""

from __future__ import annotations

import inspect
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from recbias._system.places import clone_root
from recbias.data.datasets import Dataset, dataset_info, load_dataset
from recbias.errors import ConfigError, MissingData, StoreError, unknown_name
from recbias.experiment.grid import Grid, split_marks
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
from recbias.stats.resampling import rounded_replicates

__all__ = ["Made", "Maker", "Table", "maker", "run_maker"]

FloatArray = npt.NDArray[np.float64]
Uses = Callable[[Mapping[str, Any], Mapping[str, str]], Any]
Grids = Callable[[Mapping[str, Any]], Iterable[Grid]]


@dataclass(frozen=True)
class Maker:
    """A function that makes a result from a dataset and parameters, under a name that is stored.

    Attributes
    ----------
    name
        E.g. ``"systems/chance"``.
    revision
        Raised when code changes what it makes.
    kind
        The class of its results.
    function
        Called as ``function(dataset, **parameters)``; returns what the class's `of` takes.
    uses
        Called with the parameters and the content hashes of the data; returns, as JSON-able values,
        what else decides the results: keys of grids whose cells are read, revisions.
    covers
        Parameters that ``uses`` stands for: they are not part of the key themselves.
    source
        Digest of the module that defines the function, for one from outside the package.
    grids
        Called with the parameters; returns the grids whose cells are read.
    """

    name: str
    revision: int
    kind: type[Made]
    function: Callable[..., Any]
    uses: Uses | None = None
    covers: tuple[str, ...] = ()
    source: str | None = None
    grids: Grids | None = None

    def asked(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters that differ from the function's defaults, for a key."""
        defaults = {
            name: parameter.default
            for name, parameter in inspect.signature(self.function).parameters.items()
            if parameter.default is not inspect.Parameter.empty
        }
        return {
            name: same_number(value)
            for name, value in parameters.items()
            if name not in self.covers
            and (name not in defaults or not _same(value, defaults[name]))
        }


def _same(value: Any, default: Any) -> bool:
    """Tell whether a parameter is its default, written as it will be read: tuples as lists."""
    texts = [canonical_json(same_number(either)) for either in (value, default)]
    return texts[0] == texts[1]


_MAKERS: dict[str, Maker] = {}
_Function = TypeVar("_Function", bound=Callable[..., Any])


def maker(
    name: str,
    kind: type[Made],
    *,
    revision: int = 1,
    uses: Uses | None = None,
    covers: tuple[str, ...] = (),
    grids: Grids | None = None,
) -> Callable[[_Function], _Function]:
    """Register a function under a name by which its results are found and computed again.

    Parameters
    ----------
    name
        Unique, e.g. chapter and content.
    kind
        Class of the results.
    revision
        Raised when code changes what the function makes.
    uses, covers
        As of `Maker`. A function that reads the cells of grids names their keys, and so their
        results go stale with an algorithm's revision.
    grids
        As of `Maker`: pages print their options. Without ``uses`` it names their keys.

    Raises
    ------
    ConfigError
        If a function of another module has the name.
    """
    if grids is not None and uses is None:
        uses = _keys_of(grids)

    def register(function: _Function) -> _Function:
        known = _MAKERS.get(name)
        if known is not None and known.function.__module__ != function.__module__:
            raise ConfigError(f"maker {name!r} exists already, in {known.function.__module__}")
        source = None
        if function.__module__.partition(".")[0] != "recbias":
            file = inspect.getsourcefile(function)
            source = digest(Path(file).read_bytes()) if file and Path(file).is_file() else None
        _MAKERS[name] = Maker(name, revision, kind, function, uses, covers, source, grids)
        return function

    return register


def _keys_of(grids: Grids) -> Uses:
    """Let the keys of grids stand for what a function reads."""
    return lambda parameters, hashes: [grid.key_of(hashes) for grid in grids(parameters)]


def _maker(name: str) -> Maker:
    if name not in _MAKERS:
        raise unknown_name("maker of results", name, _MAKERS)
    return _MAKERS[name]


def same_number(value: Any) -> Any:
    """Make 5.0 and 5 one parameter, whether typed or read from a scale."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


@dataclass(frozen=True, eq=False, kw_only=True)
class Made(StoredResult):
    """A result that a registered function made.

    Attributes
    ----------
    maker_name
        Name of the function.
    given
        Its parameters.
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
        """Grids whose cells the function read, as far as it declares them."""
        known = _maker(self.maker_name)
        return tuple(known.grids(self.given)) if known.grids else ()

    @classmethod
    def key_of(cls, parameters: Mapping[str, Any], hashes: Mapping[str, str]) -> str:
        """Digest function, revision, parameters and data."""
        known, given = _maker(parameters["maker"]), parameters["given"]
        return digest(
            {
                "maker": known.name,
                "revision": known.revision,
                "given": known.asked(given),
                "data": dict(hashes),
                **({"uses": known.uses(given, hashes)} if known.uses else {}),
                **({"source": known.source} if known.source else {}),
            }
        )

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
        return _make(_maker(self.maker_name), dataset, self.given)


def hashes_of(world: str) -> dict[str, str]:
    """Return what grids on a registered world are found by: for the `uses` of a maker."""
    return {"observed": str(dataset_info(world).content_hash)}


def _about(dataset: Dataset | None, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Say what a result is about: the contents of the data that decide it."""
    if dataset is None:
        return simulation_record()
    marks = split_marks(dataset, parameters["split"]) if "split" in parameters else {}
    return dataset_record(dataset, {"observed": dataset.ratings.content_hash, **marks})


def _make(known: Maker, dataset: Dataset | None, parameters: Mapping[str, Any]) -> Made:
    record, arguments = _about(dataset, parameters), [] if dataset is None else [dataset]
    return known.kind.of(
        known.function(*arguments, **parameters),
        key=known.kind.key_of({"maker": known.name, "given": parameters}, record["hashes"]),
        dataset=record,
        provenance=platform_record(),
        maker_name=known.name,
        given=parameters,
    )


def run_maker(
    name: str,
    dataset: str | None,
    *,
    parameters: Mapping[str, Any],
    data_dir: Path | None = None,
    record: str | None = None,
) -> Any:
    """Make a result where the data is, or return the recorded one of the same parameters.

    A live one that an earlier run left under the same ``record`` is returned as well, if it has the
    same key: nothing that decides it has changed.

    Parameters
    ----------
    name
        Of a registered function.
    dataset
        Name of a dataset, or path of a table. None = a simulation, which belongs to no dataset: the
        function is called without one, and the result is kept under
        :data:`recbias.experiment.results.SIMULATIONS`. One that was recorded by the same code with
        the same parameters is read instead, since nothing else decides it.
    parameters
        JSON-able arguments of the function.
    data_dir
        Folder that holds datasets, besides ``RECBIAS_DATA``.
    record
        Name under which a chapter keeps the result.

    Returns
    -------
    Made
        Of the kind that the function was registered with.

    Raises
    ------
    MissingData
        If the dataset is neither at hand nor recorded.
    StoreError
        If a recorded result exists but is damaged, or was computed with other data, parameters or
        code; a simulation of other parameters or code is computed.
    """
    known = _maker(name)
    if dataset is None:
        simulation = _recorded_simulation(known, parameters, record)
        made = simulation or _make(known, None, parameters)
        if record is not None and clone_root() is not None:
            # What was only read as well: recording replaces the results of a chapter as a whole.
            made.save(results_dir(SIMULATIONS, recorded=False) / record)
        return made
    try:
        loaded = load_dataset(dataset, data_dir=data_dir)
    except MissingData as missing:
        if record is None:
            raise
        recorded = recorded_result(record, dataset, missing)
        observed = str(dataset_info(dataset).content_hash)
        hashes = {**recorded.dataset["hashes"], "observed": observed}
        if recorded.key != known.kind.key_of({"maker": name, "given": parameters}, hashes):
            raise StoreError(
                f"{results_dir(dataset, recorded=True) / record}: recorded with other parameters "
                f"than asked for\n{missing}"
            ) from missing
        return recorded
    if record is not None:
        hashes = _about(loaded, parameters)["hashes"]
        key = known.kind.key_of({"maker": name, "given": parameters}, hashes)
        live = kept_result(record, loaded.name, key)
        if isinstance(live, known.kind):
            # What the key leaves out, such as the place of a table, may be another now.
            return replace(live, given=parameters)
    made = _make(known, loaded, parameters)
    if record is not None and clone_root() is not None:
        made.save(results_dir(loaded.name, recorded=False) / record)
    return made


def _recorded_simulation(
    known: Maker, parameters: Mapping[str, Any], record: str | None
) -> Made | None:
    """Read a recorded simulation; None unless the same code made it with the same parameters."""
    if record is None or clone_root() is None:
        return None
    path = results_dir(SIMULATIONS, recorded=True) / record
    document = path.with_suffix(".json")
    key = known.kind.key_of({"maker": known.name, "given": parameters}, {})
    if not document.is_file() or read_document(document)["key"] != key:
        return None
    result = load_result(path, dataset=SIMULATIONS)
    if not isinstance(result, Made):
        raise TypeError(f"{path} is {result.kind}, expected {known.kind.kind}")
    return result


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
