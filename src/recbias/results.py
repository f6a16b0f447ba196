"""Results: values with their uncertainty, and the one contract under which they are stored.

Whatever an experiment gives (the values of a grid, checks of theorems, a table of a sweep) is a
*stored result*: it names its kind, key, dataset, parameters and provenance, is written as a JSON
document with arrays beside it, is read back only if this code would compute it, can be computed
anew, and compared with that. A kind is a class; `register_kind` makes it known.
"""

from __future__ import annotations

import inspect
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from recbias.datasets import Dataset, dataset_info, load_dataset
from recbias.errors import ConfigError, MissingData, StoreError, unknown_name
from recbias.places import clone_root
from recbias.resampling import interval, normal_interval
from recbias.store import (
    digest,
    frame_from_json,
    frame_to_json,
    pack_replicates,
    platform_record,
    read_arrays,
    read_document,
    unpack_replicates,
    write_arrays,
    write_document,
)

__all__ = [
    "Agreement",
    "Made",
    "Maker",
    "Quantity",
    "StoredResult",
    "Table",
    "dataset_record",
    "load_result",
    "maker",
    "recorded_datasets",
    "register_kind",
    "results_dir",
    "run_maker",
    "same_number",
    "stored_results",
]

FloatArray = npt.NDArray[np.float64]

_WIDER = {"percentile": 0, "normal": 1, "none": 2}


@dataclass(frozen=True)
class Quantity:
    """A value with its replicates, on which arithmetic works: intervals of differences and ratios.

    Parameters
    ----------
    value
        The estimate on all users.
    replicates : ndarray of float64, shape (n_replicates,), optional
        The same on resampled users; replicate j of all quantities of a dataset comes from the same
        draw, so that differences are paired. None where they were not kept.
    method
        How the interval follows: from ``"percentile"`` of the replicates; the value +- 1.96 of
        their standard deviations (``"normal"``), where resampling shifts the quantity; or
        ``"none"``, where neither covers.
    limits
        The interval, where replicates were not kept.

    Examples
    --------
    >>> a, b = Quantity(0.3, np.array([0.2, 0.4])), Quantity(0.1, np.array([0.1, 0.2]))
    >>> (a - b).replicates.tolist(), round((a / b).value, 6)
    ([0.1, 0.2], 3.0)
    """

    value: float
    replicates: FloatArray | None
    method: str = "percentile"
    limits: tuple[float, float] | None = None

    def _paired(self, other: Quantity) -> tuple[FloatArray, FloatArray, str]:
        if self.replicates is None or other.replicates is None:
            raise ConfigError(
                "the replicates of this quantity were not kept, so that it cannot be combined; "
                "name its label and metric among the grid's replicates"
            )
        method = max(self.method, other.method, key=_WIDER.__getitem__)
        return self.replicates, other.replicates, method

    def __sub__(self, other: Quantity) -> Quantity:
        own, others, method = self._paired(other)
        return Quantity(self.value - other.value, own - others, method)

    def __truediv__(self, other: Quantity) -> Quantity:
        own, others, method = self._paired(other)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = own / others
        return Quantity(self.value / other.value if other.value else np.nan, ratio, method)

    @property
    def drawn(self) -> FloatArray:
        """The replicates; ConfigError where they were not kept."""
        return self._paired(self)[0]

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval; NaN where there is none."""
        if self.replicates is None:
            return self.limits or (np.nan, np.nan)
        if self.method == "none":
            return np.nan, np.nan
        if self.method == "normal":
            low, high = normal_interval(self.value, self.replicates)
        else:
            low, high = interval(self.replicates)
        return float(low), float(high)


class Agreement(NamedTuple):
    """How a stored result and a fresh one differ.

    Attributes
    ----------
    n_values
        How many numbers were compared.
    difference
        The largest difference.
    of_bound
        The same in units of what rounding on another processor may make.
    differing
        What differs by more: names of systems or of rows.
    """

    n_values: int
    difference: float
    of_bound: float
    differing: tuple[str, ...]


def dataset_record(dataset: Dataset, hashes: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Describe a dataset as every stored result does.

    Parameters
    ----------
    dataset
        The dataset.
    hashes
        Content hash of each part of the judgments that counts; that of the observed ratings if not
        given.
    """
    ratings = dataset.ratings
    return {
        "name": dataset.name,
        "title": dataset.title,
        "content_hash": ratings.content_hash,
        "hashes": dict(hashes or {"observed": ratings.content_hash}),
        "n_users": ratings.n_users,
        "n_items": ratings.n_items,
        "n_ratings": len(ratings),
        "feedback": ratings.feedback,
    }


@dataclass(frozen=True, eq=False, kw_only=True)
class StoredResult(ABC):
    """What all kinds of results share.

    Attributes
    ----------
    key
        Digest of data, parameters and revisions of the code.
    dataset
        Name, title, content hashes and size of the dataset.
    origin
        ``"live"`` (computed or reused on this machine) or ``"recorded"``.
    provenance
        Versions that took part.
    times
        Seconds and memory, which no digest covers.
    """

    kind: ClassVar[str]

    key: str
    dataset: Mapping[str, Any]
    origin: str = "live"
    provenance: Mapping[str, Any] = field(default_factory=dict)
    times: Mapping[str, Any] = field(default_factory=dict)

    @property
    @abstractmethod
    def parameters(self) -> Mapping[str, Any]:
        """What was asked for, as JSON-able values: enough to compute it again."""

    @abstractmethod
    def body(self) -> dict[str, Any]:
        """Return the results as JSON-able values."""

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return what is written beside the document; nothing by default."""
        return {}

    @classmethod
    @abstractmethod
    def key_of(cls, parameters: Mapping[str, Any], hashes: Mapping[str, str]) -> str:
        """Digest what this code would compute for these parameters on data of these hashes."""

    @classmethod
    @abstractmethod
    def restore(
        cls,
        parameters: Mapping[str, Any],
        body: Mapping[str, Any],
        arrays: Mapping[str, npt.NDArray[Any]],
        **context: Any,
    ) -> Self:
        """Build the result from what `parameters`, `body` and `arrays` gave."""

    @abstractmethod
    def recompute(
        self, *, systems: int | None = None, workers: int = 1, data_dir: Path | None = None
    ) -> StoredResult | None:
        """Compute it anew, or only some of its systems; None if it has no such part."""

    @abstractmethod
    def compare(self, fresh: StoredResult) -> Agreement:
        """Compare with a fresh result of the same kind."""

    def save(self, path: Path) -> None:
        """Write the result as ``path.json``, and arrays as ``path.parquet``, under one digest.

        Raises
        ------
        OSError
            If the folder cannot be written.
        """
        arrays = self.arrays()
        sidecar = None
        if arrays:
            sidecar = write_arrays(
                path.with_suffix(".parquet"), arrays, key=self.key, provenance={}
            )
        write_document(
            path.with_suffix(".json"),
            kind=self.kind,
            key=self.key,
            dataset=self.dataset,
            parameters=self.parameters,
            provenance=self.provenance,
            times=self.times,
            body=self.body(),
            sidecar=sidecar,
        )


_KINDS: dict[str, type[StoredResult]] = {}
_Kind = TypeVar("_Kind", bound=type[StoredResult])


def register_kind(kind: _Kind) -> _Kind:
    """Make a kind of results known to `load_result`; use it as a decorator.

    Raises
    ------
    ConfigError
        If another class has the same ``kind``.
    """
    known = _KINDS.setdefault(kind.kind, kind)
    if (known.__module__, known.__qualname__) != (kind.__module__, kind.__qualname__):
        raise ConfigError(f"kind of results {kind.kind!r} exists already, in {known.__module__}")
    _KINDS[kind.kind] = kind
    return kind


def load_result(path: Path, *, origin: str = "recorded") -> StoredResult:
    """Read a stored result of any kind, refusing one that was damaged or edited.

    Parameters
    ----------
    path
        Without suffix.
    origin
        What to call it.

    Returns
    -------
    StoredResult

    Raises
    ------
    StoreError
        If a file is absent, damaged or edited; if its kind is not known; if parameters, dataset and
        revisions of this code do not give its key.
    """
    document = path.with_suffix(".json")
    record = read_document(document)
    if record["kind"] not in _KINDS:
        raise StoreError(
            f"{document}: results of kind {record['kind']!r}, known are {', '.join(_KINDS)}\n"
            "import the module that defines the kind, or update the package"
        )
    kind = _KINDS[record["kind"]]
    expected = kind.key_of(record["parameters"], record["dataset"]["hashes"])
    if record["key"] != expected:
        raise StoreError(
            f"{document}: computed by another revision of the code, or with other parameters (key "
            f"{record['key'][:12]}, this code has {expected[:12]})\n"
            "renew it where the data is (recbias run CHAPTER --dataset NAME --record), and list "
            "what changed in CHANGELOG.md"
        )
    arrays: dict[str, npt.NDArray[Any]] = {}
    if record["sidecar"] is not None:
        arrays, _ = read_arrays(path.with_suffix(".parquet"), key=record["key"])
    return kind.restore(
        record["parameters"],
        record["body"],
        arrays,
        key=record["key"],
        dataset=record["dataset"],
        origin=origin,
        provenance=record["provenance"],
        times=record["times"],
    )


def recorded_result(record: str, dataset: str, missing: MissingData) -> StoredResult:
    """Read what stands in for a dataset that is not at hand.

    Raises
    ------
    MissingData
        The one given, if nothing is recorded for the dataset.
    """
    folder = results_dir(dataset, recorded=True)
    if not folder.is_dir():
        raise missing
    return load_result(folder / record)


def results_dir(dataset: str, *, recorded: bool) -> Path:
    """Find the folder of a dataset's results: those in the clone's ``data/recorded``, or live ones.

    Raises
    ------
    ConfigError
        Outside a clone of the project, where neither exists.
    """
    root = clone_root()
    if root is None:
        raise ConfigError("recorded and built results need a clone of the project")
    if recorded:
        return root / "data" / "recorded" / dataset
    return Path(os.environ.get("RECBIAS_RESULTS", root / "_build" / "results")) / dataset


def recorded_datasets() -> list[str]:
    """Name the datasets that have recorded results in this clone."""
    folder = results_dir("", recorded=True)
    return sorted(entry.name for entry in folder.iterdir() if entry.is_dir())


def stored_results(folder: Path) -> dict[str, Path]:
    """List the results below a folder by name, as paths without suffix."""
    return {
        file.relative_to(folder).with_suffix("").as_posix(): file.with_suffix("")
        for file in sorted(folder.rglob("*.json"))
    }


# -- results that a function makes from a dataset ------------------------------------------------


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
    """

    name: str
    revision: int
    kind: type[Made]
    function: Callable[..., Any]

    def asked(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters that differ from the function's defaults, for a key."""
        defaults = {
            name: each.default
            for name, each in inspect.signature(self.function).parameters.items()
            if each.default is not inspect.Parameter.empty
        }
        return {
            name: same_number(value)
            for name, value in parameters.items()
            if name not in defaults or value != defaults[name]
        }


_MAKERS: dict[str, Maker] = {}
_Function = TypeVar("_Function", bound=Callable[..., Any])


def maker(name: str, kind: type[Made], *, revision: int = 1) -> Callable[[_Function], _Function]:
    """Register a function under a name by which its results are found and computed again.

    Parameters
    ----------
    name
        Unique, e.g. chapter and content.
    kind
        Class of the results.
    revision
        Raised when code changes what the function makes.

    Raises
    ------
    ConfigError
        If a function of another module has the name.
    """

    def register(function: _Function) -> _Function:
        known = _MAKERS.get(name)
        if known is not None and known.function.__module__ != function.__module__:
            raise ConfigError(f"maker {name!r} exists already, in {known.function.__module__}")
        _MAKERS[name] = Maker(name, revision, kind, function)
        return function

    return register


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

    @classmethod
    def key_of(cls, parameters: Mapping[str, Any], hashes: Mapping[str, str]) -> str:
        """Digest function, revision, parameters and data."""
        known = _maker(parameters["maker"])
        return digest(
            {
                "maker": known.name,
                "revision": known.revision,
                "given": known.asked(parameters["given"]),
                "data": dict(hashes),
            }
        )

    def recompute(
        self, *, systems: int | None = None, workers: int = 1, data_dir: Path | None = None
    ) -> StoredResult | None:
        """Call the function again; it has no part that could be computed alone."""
        if systems is not None:
            return None
        dataset = load_dataset(self.dataset["name"], data_dir=data_dir)
        return _make(_maker(self.maker_name), dataset, self.given)


def _make(known: Maker, dataset: Dataset, given: Mapping[str, Any]) -> Made:
    record = dataset_record(dataset)
    parameters = {"maker": known.name, "given": given}
    return known.kind.of(
        known.function(dataset, **given),
        key=known.kind.key_of(parameters, record["hashes"]),
        dataset=record,
        provenance=platform_record(),
        maker_name=known.name,
        given=given,
    )


def run_maker(
    name: str,
    dataset: str,
    *,
    parameters: Mapping[str, Any],
    data_dir: Path | None = None,
    record: str | None = None,
) -> Any:
    """Make a result where the data is, or return the recorded one of the same parameters.

    Parameters
    ----------
    name
        Of a registered function.
    dataset
        Name of a dataset, or path of a table.
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
        If a recorded result exists but was computed with other data, parameters or code.
    """
    known = _maker(name)
    try:
        loaded = load_dataset(dataset, data_dir=data_dir)
    except MissingData as missing:
        if record is None:
            raise
        found = recorded_result(record, dataset, missing)
        hashes = {"observed": str(dataset_info(dataset).content_hash)}
        if found.key != known.kind.key_of({"maker": name, "given": parameters}, hashes):
            raise StoreError(
                f"{results_dir(dataset, recorded=True) / record}: recorded with other parameters "
                f"than asked for\n{missing}"
            ) from missing
        return found
    made = _make(known, loaded, parameters)
    if record is not None and clone_root() is not None:
        made.save(results_dir(loaded.name, recorded=False) / record)
    return made


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
            packed, scale = pack_replicates(frame["value"].to_numpy(), drawn)
            drawn = unpack_replicates(frame["value"].to_numpy(), packed, scale)
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
        found = self.select(**names)
        if len(found) != 1:
            raise ConfigError(f"{dict(names)}: {len(found)} rows of the table, expected one")
        row = int(found.index[0])
        drawn = None if self.replicates is None else self.replicates[row]
        value = float(found["value"].iloc[0])
        return Quantity(value, drawn, limits=None if drawn is not None else (value, value))

    def body(self) -> dict[str, Any]:
        """Return index and columns."""
        return {"index": list(self.index), "frame": frame_to_json(self.frame)}

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return the replicates in 16 bits."""
        if self.replicates is None:
            return {}
        packed, scale = pack_replicates(self.frame["value"].to_numpy(), self.replicates)
        return {"replicates": packed, "scale": scale}

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
            drawn = unpack_replicates(
                frame["value"].to_numpy(), arrays["replicates"], arrays["scale"]
            )
        return cls(
            index=tuple(body["index"]),
            frame=frame,
            replicates=drawn,
            maker_name=parameters["maker"],
            given=parameters["given"],
            **context,
        )

    def compare(self, fresh: StoredResult) -> Agreement:
        """Compare row by row; numbers may differ by one part in a million."""
        if not isinstance(fresh, Table) or set(fresh.index) != set(self.index):
            return Agreement(0, np.nan, np.nan, ("another table",))
        pairs = self.frame.merge(fresh.frame, on=list(self.index), how="outer", suffixes=("", "'"))
        numbers = [n for n in self.frame.select_dtypes("number").columns if n not in self.index]
        differing: dict[str, None] = {}
        largest = worst = 0.0
        for name in numbers:
            difference = (pairs[name] - pairs[f"{name}'"]).abs()
            bound = np.maximum(1e-12, 1e-6 * pairs[f"{name}'"].abs())
            same = (difference <= bound) | (pairs[name].isna() & pairs[f"{name}'"].isna())
            rows = pairs.loc[~same, list(self.index)].itertuples(index=False)
            differing.update(dict.fromkeys(" ".join(map(str, names)) for names in rows))
            largest = max(largest, float(difference.max()))
            worst = max(worst, float((difference / bound).max()))
        if len(self.frame) != len(fresh.frame):
            differing[f"{len(fresh.frame)} rows, stored {len(self.frame)}"] = None
        return Agreement(len(pairs) * len(numbers), largest, worst, tuple(differing))
