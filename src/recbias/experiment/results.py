"""Results: values with their uncertainty, and the one contract under which they are stored.

Whatever an experiment gives (the values of a grid, checks of theorems, a table of a sweep) is a
*stored result*: it names its kind, key, dataset, parameters and provenance, is written as a JSON
document with arrays beside it, is read back only if this code would compute it, can be computed
anew, and compared with that. A kind is a class; `register_kind` makes it known.

Key and digest guard against accidents: stale files, damage, an edit by hand. They are no proof of
origin, since whoever edits a file can digest it again; that its numbers are what the code computes
is shown by computing them again: see `recbias.experiment.verification`.
"""

from __future__ import annotations

import importlib
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from recbias._system.places import clone_root, live_results, need_clone, recorded_results
from recbias.data.datasets import Dataset, is_path, own_table, registry
from recbias.data.simulation import is_world
from recbias.errors import ConfigError, MissingData, StoreError
from recbias.experiment.store import read_arrays, read_document, write_arrays, write_document
from recbias.stats.resampling import interval, normal_interval

__all__ = [
    "SIMULATIONS",
    "Agreement",
    "Quantity",
    "StoredResult",
    "dataset_record",
    "kept_result",
    "load_result",
    "recorded_datasets",
    "recorded_result",
    "register_kind",
    "results_dir",
    "simulation_record",
    "stored_results",
    "value_text",
    "values_text",
]

FloatArray = npt.NDArray[np.float64]

SIMULATIONS = "simulations"
"""Stands for the dataset of results that are about none: of simulations."""

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
    df
        Degrees of freedom, where the limits are those of Student's t; None where they are not.
    cases
        How many cases the value is a share of, such as pairs of systems; None where it is no share,
        or of nothing that is counted.

    Examples
    --------
    >>> a, b = Quantity(0.3, np.array([0.2, 0.4])), Quantity(0.1, np.array([0.1, 0.2]))
    >>> (a - b).replicates.tolist(), round((a / b).value, 6)
    ([0.1, 0.2], 3.0)
    >>> a
    0.3000 [0.2050, 0.3950]
    """

    value: float
    replicates: FloatArray | None
    method: str = "percentile"
    limits: tuple[float, float] | None = None
    df: int | None = None
    cases: int | None = None

    def __repr__(self) -> str:
        """Write value and interval in one line, without the replicates."""
        return value_text(self.value, *self.interval)

    def _paired(self, other: Quantity) -> tuple[FloatArray, FloatArray, str]:
        if self.replicates is None or other.replicates is None:
            raise ConfigError(
                "the replicates of this quantity were not kept, so that it cannot be combined; "
                "name its label and metric among the grid's replicates"
            )
        method = max(self.method, other.method, key=_WIDER.__getitem__)
        return self.replicates, other.replicates, method

    def __sub__(self, other: Quantity) -> Quantity:
        replicates, others, method = self._paired(other)
        with np.errstate(invalid="ignore"):  # of two infinite ones
            difference = replicates - others
        return Quantity(self.value - other.value, difference, method)

    def __truediv__(self, other: Quantity) -> Quantity:
        replicates, others, method = self._paired(other)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = replicates / others
        return Quantity(self.value / other.value if other.value else np.nan, ratio, method)

    @property
    def drawn(self) -> FloatArray:
        """The replicates; ConfigError where they were not kept."""
        return self._paired(self)[0]

    @cached_property  # verdicts, weights and sentences ask for it in turn
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


def value_text(
    value: float, low: float | None = None, high: float | None = None, *, signed: bool = False
) -> str:
    """Write a value, and its 95 % interval if ends are given, with digits that tell it from 0.

    Examples
    --------
    >>> value_text(0.25, 0.2, 0.3), value_text(0.000123, 0.0001, 0.0002, signed=True)
    ('0.2500 [0.2000, 0.3000]', '+0.00012 [0.00010, 0.00020]')
    >>> value_text(12.5, float("nan"), float("nan")), value_text(float("nan"))
    ('12.5000 (no interval)', 'undefined')
    """
    small = 0 < abs(value) < 1e-3
    decimals = min(1 - math.floor(math.log10(abs(value))), 12) if small else 4
    text = "undefined" if math.isnan(value) else f"{value:{'+' if signed else ''}.{decimals}f}"
    if low is None or high is None:
        return text
    if math.isnan(low) or math.isnan(high):
        return f"{text} (no interval)"
    return f"{text} [{low:.{decimals}f}, {high:.{decimals}f}]"


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
        What differs by more: names of rows, with the columns.
    about
        What was compared, if not all of the result, and why apart.
    apart
        What was compared apart, because it is known to differ by more.
    unmeasured
        Of `differing` what differs by no number: rows that only one has, texts, flags, integers.
    """

    n_values: int
    difference: float
    of_bound: float
    differing: tuple[str, ...]
    about: str = ""
    apart: tuple[Agreement, ...] = ()
    unmeasured: tuple[str, ...] = ()


def simulation_record() -> dict[str, Any]:
    """Describe what results of a simulation are about, in place of a dataset."""
    nothing = dict.fromkeys(("n_users", "n_items", "n_ratings"), 0)
    about = {"name": SIMULATIONS, "title": "Simulations", "content_hash": "", "hashes": {}}
    return {**about, **nothing, "feedback": "explicit"}


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
    known = dataset.name in registry() or is_world(dataset.name)
    return {
        **({} if known else {"lacks": sorted(dataset.info.cannot_test)}),
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
    def dataset_name(self) -> str:
        """By which the dataset is loaded again."""
        return str(self.dataset["name"])

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
        self,
        *,
        systems: int | Sequence[str] | None = None,
        workers: int = 1,
        data_dir: Path | None = None,
    ) -> StoredResult:
        """Compute it anew, or only so many of its systems, or these, where it has some."""

    @abstractmethod
    def verify(self, fresh: StoredResult) -> Agreement:
        """Compare with what `recompute` gave: everything in body and arrays that it has.

        What may differ, and by how much, follows from the fresh result alone.
        """

    def save(self, path: str | Path) -> None:
        """Write the result as ``path.json``, and arrays as ``path.parquet``, under one digest.

        Raises
        ------
        OSError
            If the folder cannot be written.
        """
        path = Path(path)
        arrays = self.arrays()
        sidecar = None
        if arrays:
            sidecar = write_arrays(
                path.with_suffix(".parquet"), arrays, key=self.key, provenance={}, level=19
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
        if sidecar is None:
            path.with_suffix(".parquet").unlink(missing_ok=True)  # of an earlier result


_KINDS: dict[str, type[StoredResult]] = {}
_HOMES = {"grid": "recbias.experiment.run", "table": "recbias.experiment.makers"}
"""The modules of this room that make a kind known, for who has imported neither."""
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


def load_result(
    path: Path, *, origin: str = "recorded", dataset: str | None = None
) -> StoredResult:
    """Read a stored result of any kind, refusing one that was damaged or edited.

    Parameters
    ----------
    path
        Without suffix.
    origin
        What to call it.
    dataset
        Name of the data set that it has to be about; any if not given.

    Returns
    -------
    StoredResult

    Raises
    ------
    StoreError
        If a file is absent, damaged or edited; if its kind is not known; if parameters, dataset and
        revisions of this code do not give its key; if it is about another data set, or another
        content of it than the registry has; if it is not what its kind stores.
    """
    document = path.with_suffix(".json")
    record = read_document(document)
    if record["kind"] in _HOMES.keys() - _KINDS.keys():
        importlib.import_module(_HOMES[record["kind"]])
    if record["kind"] not in _KINDS:
        raise StoreError(
            f"{document}: results of kind {record['kind']!r}, known are {', '.join(_KINDS)}\n"
            "import the module that defines the kind, or update the package"
        )
    try:
        return _restored(path, record, origin, dataset)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise StoreError(
            f"{document}: not what results of kind {record['kind']!r} store ({error!r})\n"
            "restore it, or record it again where the data is: "
            "recbias run CHAPTER --dataset NAME --record"
        ) from error


def _restored(
    path: Path, record: Mapping[str, Any], origin: str, dataset: str | None
) -> StoredResult:
    document = path.with_suffix(".json")
    if dataset is not None and not is_path(dataset):
        _check_dataset(document, record, dataset)
    kind = _KINDS[record["kind"]]
    expected = kind.key_of(record["parameters"], record["dataset"]["hashes"])
    if record["key"] != expected:
        raise StoreError(
            f"{document}: computed by another revision of the code, or with other parameters (key "
            f"{record['key'][:12]}, this code has {expected[:12]})\n"
            "renew it where the data is (recbias run CHAPTER --dataset NAME --record), and list "
            "what changed in data/published/CHANGES.md"
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


def _check_dataset(document: Path, record: Mapping[str, Any], name: str) -> None:
    """Refuse results of another data set, or parameters that name another."""
    dataset, info = record["dataset"], registry().get(name)
    known = info.content_hash if info is not None else None
    asked_name = name if info is None else record["parameters"].get("dataset", name)
    wrong = known is not None and dataset["content_hash"] != known
    if dataset["name"] != name or asked_name != name or wrong:
        raise StoreError(
            f"{document}: about {dataset['name']} with content {dataset['content_hash'][:12]}"
            f"{'' if asked_name == name else f', asked of {asked_name}'}, "
            f"expected {name}{f' with {known[:12]}' if known else ''}\nput back what belongs there"
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
    return load_result(folder / record, dataset=dataset)


_page = ""


def begin_page(name: str) -> None:
    """Say which page of the book this process computes: what it measures is kept under it."""
    global _page
    _page = name


def kept_as(name: str) -> str | None:
    """Give the name under which a result is kept.

    Parameters
    ----------
    name
        Short, for one of the page that is computed (`begin_page`); with its page, as
        ``"01_design_alternatives/systems"``, for one of that page.

    Returns
    -------
    str or None
        Page and name; None where the name is empty, or short and no page was begun: then nothing is
        kept.
    """
    if "/" in name:
        return name
    return f"{_page}/{name}" if _page and name else None


def kept_result(record: str, dataset: str, key: str) -> StoredResult | None:
    """Read a live result that an earlier run left, if nothing that decides it has changed since.

    Parameters
    ----------
    record
        Name under which a chapter keeps it.
    dataset
        Name of the data set.
    key
        That of the result that is asked for.

    Returns
    -------
    StoredResult or None
        None outside a clone, and if there is none, one of another key, one that is damaged, or one
        older than a file of the package: its author may not have raised a revision yet.
    """
    if clone_root() is None:
        return None
    path = results_dir(dataset, recorded=False) / record
    document = path.with_suffix(".json")
    try:
        if read_document(document)["key"] != key or document.stat().st_mtime_ns < _newest_code():
            return None
        return load_result(path, origin="live", dataset=dataset)
    except StoreError:
        return None


def _newest_code() -> int:
    """Tell when the package was changed last, in nanoseconds."""
    return max(path.stat().st_mtime_ns for path in Path(__file__).parent.rglob("*.py"))


def results_dir(dataset: str, *, recorded: bool) -> Path:
    """Find the folder of a dataset's results: those in the clone's ``data/recorded``, or live ones.

    Raises
    ------
    ConfigError
        Outside a clone of the project, where neither exists.
    MissingData
        If a table is named that is not there: its content decides where its results are.
    """
    root = clone_root()
    if root is None:
        raise need_clone("recorded and built results need")
    if is_path(dataset):
        dataset = own_table(dataset).name
    if recorded:
        return recorded_results(root) / dataset
    return live_results(root) / dataset


def recorded_datasets(chapter: str = "", *, simulations: bool = False) -> list[str]:
    """Name the datasets that have recorded results in this clone, sorted.

    Parameters
    ----------
    chapter
        Name of a notebook whose results they are; any by default.
    simulations
        Whether :data:`SIMULATIONS` counts as one, if results of simulations are recorded.
    """
    folder = results_dir("", recorded=True)
    names = sorted(entry.name for entry in folder.iterdir() if (entry / chapter).is_dir())
    return [name for name in names if simulations or name != SIMULATIONS]


def stored_results(folder: Path) -> dict[str, Path]:
    """List the results below a folder by name, as paths without suffix."""
    return {
        file.relative_to(folder).with_suffix("").as_posix(): file.with_suffix("")
        for file in sorted(folder.rglob("*.json"))
    }


SHOWN = 400
"""Rows of values that are printed; a chapter has thousands."""

_WIDTH = 80


def values_text(about: str, values: pd.DataFrame) -> str:
    """Lay values out for a terminal: no line has more than 80 characters.

    Parameters
    ----------
    about
        The first line.
    values
        Columns ``system``, ``label``, ``metric``, ``value``, ``low`` and ``high``.

    Returns
    -------
    str
        A row for each value, with its 95 % interval if it has one. Where names are too long for
        the line, the longest lose their middle.

    Examples
    --------
    >>> row = {"system": "kNN", "label": "TI-AN-AR rel>=4", "metric": "P@10"}
    >>> values = pd.DataFrame([{**row, "value": 0.25, "low": 0.2, "high": 0.3}])
    >>> print(values_text("my.csv", values))
    my.csv
    system  design           metric   value  95 % interval
    kNN     TI-AN-AR rel>=4  P@10    0.2500  0.2000 to 0.3000
    """
    shown = values.head(SHOWN)
    columns = [
        ["system", *map(str, shown["system"])],
        ["design", *map(str, shown["label"])],
        ["metric", *map(str, shown["metric"])],
        ["value", *(f"{value:.4f}" for value in shown["value"])],
        [
            "95 % interval",
            *(
                f"{low:.4f} to {high:.4f}" if low == low else ""
                for low, high in zip(shown["low"], shown["high"], strict=True)
            ),
        ],
    ]
    widths = [max(map(len, column)) for column in columns]
    while (excess := sum(widths) + 2 * (len(widths) - 1) - _WIDTH) > 0:
        longest = int(np.argmax(widths[:3]))
        widths[longest] -= min(excess, max(1, widths[longest] - sorted(widths[:3])[1]))
    lines = [about if len(about) <= _WIDTH else f"{about[: _WIDTH - 3]}..."]
    for row in zip(*columns, strict=True):
        cells = [_fitted(text, width) for text, width in zip(row, widths, strict=True)]
        cells[3] = cells[3].strip().rjust(widths[3])
        lines.append("  ".join(cells).rstrip())
    if len(values) > SHOWN:
        lines.append(f"and {len(values) - SHOWN:,} more: they are in .values, a DataFrame")
    return "\n".join(lines)


def _fitted(text: str, width: int) -> str:
    """Pad a text to a width, or leave its middle out."""
    if len(text) > width:
        end = max(width - 2, 0) // 2
        text = f"{text[: width - 2 - end]}..{text[len(text) - end :]}"
    return text.ljust(width)
