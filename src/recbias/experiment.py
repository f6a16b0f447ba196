"""Experiments: which systems are measured how, on which data, and what came out.

A *cell* is one system trained on one split of one dataset. Its ranks under each target-set rule are
an artefact: computed once, named by what they depend on, reused by every grid that asks for them.
A *grid* is a set of cells with the protocols and metrics to measure; its results are a small table
of values with resampled replicates, which hold no rating and may be recorded and shared.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from threadpoolctl import threadpool_limits

from recbias.aggregation import replicates, user_sums
from recbias.comparison import compare_all
from recbias.datasets import Dataset, dataset_info, load_dataset, registry
from recbias.engine import open_executor, run_all
from recbias.errors import ConfigError, MissingData, StoreError
from recbias.metrics import measure, parse_metric
from recbias.places import cells_dir, clone_root
from recbias.protocol import Protocol
from recbias.ranking import RankTable, rank
from recbias.recommenders import System
from recbias.relevance import relevant
from recbias.resampling import bootstrap_weights, interval
from recbias.splits import Split, SplitRule
from recbias.store import (
    canonical_json,
    digest,
    platform_record,
    read_arrays,
    read_document,
    write_arrays,
    write_document,
)
from recbias.streams import stream
from recbias.targets import TargetRule, Targets

__all__ = [
    "Grid",
    "Quantity",
    "Results",
    "check_key",
    "dataset_splits",
    "grid_tables",
    "load_results",
    "recorded_datasets",
    "result_kind",
    "results_dir",
    "run",
    "stored_results",
    "top_rating",
    "verify",
]

REVISION = 1
"""Raised when code changes what a cell computes; recorded results then need renewing."""

N_REPLICATES = 500
"""Resamplings of users behind every interval."""

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Quantity:
    """A value with its replicates, on which arithmetic works: intervals of differences and ratios.

    Parameters
    ----------
    value
        The estimate on all users.
    replicates : ndarray of float64, shape (n_replicates,)
        The same on resampled users; replicate j of all quantities of a dataset comes from the same
        draw, so that differences are paired.

    Examples
    --------
    >>> a, b = Quantity(0.3, np.array([0.2, 0.4])), Quantity(0.1, np.array([0.1, 0.2]))
    >>> (a - b).replicates.tolist(), round((a / b).value, 6)
    ([0.1, 0.2], 3.0)
    """

    value: float
    replicates: FloatArray

    def __sub__(self, other: Quantity) -> Quantity:
        return Quantity(self.value - other.value, self.replicates - other.replicates)

    def __truediv__(self, other: Quantity) -> Quantity:
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = self.replicates / other.replicates
        return Quantity(self.value / other.value if other.value else np.nan, ratio)

    @property
    def interval(self) -> tuple[float, float]:
        """95 % percentile interval."""
        low, high = interval(self.replicates)
        return float(low), float(high)


@dataclass(frozen=True)
class Grid:
    """Systems x protocols x metrics on the splits of one dataset.

    Parameters
    ----------
    dataset
        Name of a dataset, or path of a table of ratings.
    systems
        What is trained. Names are unique.
    protocols
        How it is evaluated: texts of :class:`~recbias.protocol.Protocol`, optionally under labels
        of your own.
    metrics
        What is measured: texts of :class:`~recbias.metrics.Metric` of kind ``ranks``, the
        same for all protocols or by label.
    split
        Text of a :class:`~recbias.splits.SplitRule`.
    seed
        Names every random stream: split, training, ties, samples, resampling.
    compare
        Pairs (label, metric) for which all pairs of systems are tested.

    Raises
    ------
    ConfigError
        For an unknown or malformed protocol, metric or split; for names that occur twice; for a
        comparison of what is not measured.

    Examples
    --------
    >>> from recbias.recommenders import line_up
    >>> grid = Grid("synthetic", line_up("bcc17")[:2], ("TI-AN-AR rel>=5",), ("P@10", "rho"))
    >>> grid == Grid.from_dict(grid.to_dict())
    True
    >>> Grid("synthetic", line_up("bcc17")[:2], ("TI-AN-AR rel>=5",), ("Q@10",))
    Traceback (most recent call last):
    recbias.errors.ConfigError: unknown metric 'Q'...
    """

    dataset: str
    systems: tuple[System, ...]
    protocols: Mapping[str, str] | Sequence[str]
    metrics: Mapping[str, Sequence[str]] | Sequence[str]
    split: str = "k-fold 5"
    seed: int = 1
    compare: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        protocols = self.protocols
        if not isinstance(protocols, Mapping):
            protocols = {text: text for text in protocols}
        protocols = {label: str(Protocol.parse(text)) for label, text in protocols.items()}
        metrics = self.metrics
        if not isinstance(metrics, Mapping):
            metrics = dict.fromkeys(protocols, metrics)
        if set(metrics) != set(protocols):
            raise ConfigError(
                f"metrics are given for {sorted(metrics)}, protocols for {sorted(protocols)}"
            )
        metrics = {
            label: tuple(str(parse_metric(text)) for text in metrics[label]) for label in protocols
        }
        names = [system.name for system in self.systems]
        if len(set(names)) < len(names) or not names:
            raise ConfigError(f"a grid needs systems with different names, got {names}")
        for label, metric in self.compare:
            if metric not in metrics.get(label, ()):
                raise ConfigError(f"cannot compare {metric} under {label!r}: it is not measured")
        object.__setattr__(self, "systems", tuple(self.systems))
        object.__setattr__(self, "protocols", protocols)
        object.__setattr__(self, "metrics", metrics)
        object.__setattr__(self, "split", str(SplitRule.parse(self.split)))
        object.__setattr__(self, "compare", tuple((str(a), str(b)) for a, b in self.compare))

    def to_dict(self) -> dict[str, Any]:
        """Write the grid as JSON-able values that :meth:`from_dict` reads."""
        return {
            "dataset": self.dataset,
            "systems": [system.to_dict() for system in self.systems],
            "protocols": dict(self.protocols),  # type: ignore[arg-type]
            "metrics": {label: list(texts) for label, texts in self.by_label.items()},
            "split": self.split,
            "seed": self.seed,
            "compare": [list(pair) for pair in self.compare],
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Grid:
        """Read what :meth:`to_dict` wrote."""
        return cls(
            **{
                **record,
                "systems": tuple(System.from_dict(system) for system in record["systems"]),
                "compare": tuple(tuple(pair) for pair in record["compare"]),
            }
        )

    @property
    def by_label(self) -> dict[str, tuple[str, ...]]:
        """Metrics of each protocol label."""
        return dict(self.metrics)  # type: ignore[arg-type]

    @cached_property
    def parsed(self) -> dict[str, Protocol]:
        """Protocols by label."""
        return {label: Protocol.parse(text) for label, text in dict(self.protocols).items()}  # type: ignore[arg-type]

    def key(self, content_hash: str) -> str:
        """Digest of all that decides the results: data, parameters and revision of the code."""
        record = {name: value for name, value in self.to_dict().items() if name != "dataset"}
        return digest({"grid": record, "dataset": content_hash, "revision": REVISION})


class _Source(NamedTuple):
    """What a worker process needs to rebuild a split."""

    dataset: str
    data_dir: str | None
    split: str
    seed: int


class _Cell(NamedTuple):
    """One system on one fold under one training seed, with the rank tables asked of it."""

    source: _Source
    content_hash: str
    system: str
    fold: int
    repeat: int
    requests: tuple[tuple[int, str, float | None], ...]

    def key(self, request: tuple[int, str, float | None]) -> str:
        system = json.loads(self.system)
        return digest(
            {
                "revision": REVISION,
                "dataset": self.content_hash,
                "split": self.source.split,
                "seed": self.source.seed,
                "fold": self.fold,
                "algorithm": system["algorithm"],
                "parameters": system["parameters"],
                "repeat": self.repeat,
                "request": list(request),
            }
        )

    def path(self, request: tuple[int, str, float | None]) -> Path:
        key = self.key(request)
        return cells_dir() / key[:2] / f"{key[2:34]}.parquet"


@dataclass(frozen=True, eq=False)
class Results:
    """What a grid gave: values with intervals, replicates and tests; no rating.

    Attributes
    ----------
    grid
        What was measured.
    key
        Digest of data, parameters and revision.
    dataset
        Name, title, content hash and size of the dataset.
    values : DataFrame
        A row per (system, label, metric): ``value``, 95 % interval ``low`` to ``high`` and standard
        error ``se`` from resampled users, ``fold_sd`` between folds (NaN for a single one), and
        ``n_users``, the users that carry the value.
    replicates : ndarray of float32, shape (len(values), n_replicates)
        The values on resampled users.
    tests : DataFrame
        A row per comparison and pair of systems: t and Wilcoxon tests, per user and, for 1R, per
        run.
    target_sets : DataFrame
        A row per label, over all folds: number of ``sets`` and the size of the ``smallest``; how
        many hold ``no_relevant`` item, have a ``short_sample`` (the pool was smaller than asked) or
        fewer targets than the largest cutoff (``below_cutoff``: P@n still divides by n).
    origin
        ``"live"`` (computed or reused on this machine) or ``"recorded"``.
    provenance
        Versions, time and memory of the computation.
    """

    grid: Grid
    key: str
    dataset: Mapping[str, Any]
    values: pd.DataFrame
    replicates: npt.NDArray[np.float32]
    tests: pd.DataFrame
    target_sets: pd.DataFrame
    origin: str
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def __getitem__(self, names: tuple[str, str, str]) -> Quantity:
        """Return one quantity by system, protocol label and metric."""
        row = self._rows.get(names)
        if row is None:
            raise ConfigError(f"not measured: {names[2]} of {names[0]} under {names[1]}")
        return Quantity(
            float(self.values["value"].iloc[row]), self.replicates[row].astype(np.float64)
        )

    @cached_property
    def _rows(self) -> dict[tuple[str, str, str], int]:
        columns = self.values[["system", "label", "metric"]].itertuples(index=False, name=None)
        return {names: row for row, names in enumerate(columns)}

    @property
    def systems(self) -> list[str]:
        """Names of the systems, in the order of the grid."""
        return [system.name for system in self.grid.systems]

    def of_systems(
        self, label: str, metric: str, systems: Sequence[str] | None = None
    ) -> dict[str, Quantity]:
        """Return one metric of several systems; of all of them by default."""
        return {name: self[name, label, metric] for name in systems or self.systems}

    def table(self, label: str, metric: str) -> pd.DataFrame:
        """Select one metric under one protocol: a row per system with value and interval."""
        rows = (self.values["label"] == label) & (self.values["metric"] == metric)
        return self.values[rows].set_index("system")[["value", "low", "high", "se"]]

    def save(self, path: Path) -> None:
        """Write the results as ``path.json`` and ``path.parquet``, with a digest over both.

        Raises
        ------
        OSError
            If the folder cannot be written.
        """
        flat = np.ascontiguousarray(self.replicates, "<f4").ravel()
        write_arrays(
            path.with_suffix(".parquet"), {"replicates": flat}, key=self.key, provenance={}
        )
        body = {
            "values": _records(self.values),
            "tests": _records(self.tests),
            "target_sets": _records(self.target_sets),
            "replicates": digest(flat.tobytes()),
        }
        context = {
            "kind": "grid",
            "revision": REVISION,
            "dataset": dict(self.dataset),
            "grid": self.grid.to_dict(),
            "provenance": dict(self.provenance),
        }
        write_document(path.with_suffix(".json"), body, key=self.key, context=context)


def load_results(path: Path, *, origin: str = "recorded") -> Results:
    """Read results that :meth:`Results.save` wrote, refusing any that were damaged or edited.

    Parameters
    ----------
    path
        Without suffix.
    origin
        What to call them.

    Returns
    -------
    Results

    Raises
    ------
    StoreError
        If a file is absent, damaged or edited, or if grid, dataset and revision of this code do not
        give its key.
    """
    record = read_document(path.with_suffix(".json"))
    body, grid = record["body"], Grid.from_dict(record["grid"])
    key = record["key"]
    check_key(path, record, grid.key(record["dataset"]["content_hash"]))
    sidecar = path.with_suffix(".parquet")
    arrays, _ = read_arrays(sidecar, key=key)
    values = pd.DataFrame(body["values"])
    flat = np.ascontiguousarray(arrays["replicates"], "<f4")
    if digest(flat.tobytes()) != body["replicates"]:
        raise StoreError(f"{sidecar}: changed after it was computed; restore it or record it again")
    return Results(
        grid=grid,
        key=key,
        dataset=record["dataset"],
        values=values.astype(dict.fromkeys(("low", "high", "se", "fold_sd"), np.float64)),
        replicates=flat.reshape(len(values), -1),
        tests=pd.DataFrame(body["tests"]),
        target_sets=pd.DataFrame(body["target_sets"]),
        origin=origin,
        provenance=record["provenance"],
    )


def check_key(path: Path, record: Mapping[str, Any], expected: str) -> None:
    """Refuse a stored result that this code would not compute.

    Raises
    ------
    StoreError
        If its key differs from the one expected of its own parameters.
    """
    if record["key"] != expected:
        raise StoreError(
            f"{path}: computed by revision {record.get('revision')} of the experiments (key "
            f"{record['key'][:12]}), this code is revision {REVISION} (key {expected[:12]})\n"
            "renew it where the data is (recbias run CHAPTER --dataset NAME --record), and list "
            "what changed in CHANGELOG.md"
        )


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


def result_kind(path: Path) -> str:
    """Tell ``"grid"`` from ``"checks"``, by a result's path without suffix."""
    return str(read_document(path.with_suffix(".json"))["kind"])


def run(
    grid: Grid,
    *,
    workers: int = 1,
    data_dir: Path | None = None,
    record: str | None = None,
) -> Results:
    """Measure a grid, computing only the cells that are not there yet.

    Where the dataset is not at hand and ``record`` names recorded results of the same key, those
    are returned instead.

    Parameters
    ----------
    grid
        What to measure.
    workers
        Local processes. The results do not depend on it, bit for bit.
    data_dir
        Folder that holds datasets, besides ``RECBIAS_DATA``.
    record
        Name under which a chapter keeps these results, e.g.
        ``"01_design_alternatives/systems"``; live results are written below ``_build/results``.

    Returns
    -------
    Results

    Raises
    ------
    MissingData
        If the dataset is neither at hand nor recorded.
    StoreError
        If recorded results exist but were computed with other data, parameters or code.
    """
    try:
        dataset = load_dataset(grid.dataset, data_dir=data_dir)
    except MissingData as missing:
        if record is None:
            raise
        return _recorded(grid, record, missing)
    results = _measure_grid(grid, dataset, workers=workers, data_dir=data_dir)
    if record is not None and clone_root() is not None:
        results.save(results_dir(dataset.name, recorded=False) / record)
    return results


def _recorded(grid: Grid, record: str, missing: MissingData) -> Results:
    folder = results_dir(grid.dataset, recorded=True)
    if not folder.is_dir():
        raise missing
    results = load_results(folder / record)
    if results.key != grid.key(str(dataset_info(grid.dataset).content_hash)):
        raise StoreError(
            f"{folder / record}: recorded with other parameters than asked for\n{missing}"
        ) from missing
    return results


def top_rating(dataset: str, *, data_dir: Path | None = None) -> float:
    """Give the strictest relevance of the papers: the top of a dataset's scale.

    A dataset of counts has no top; its entry in the registry says from where on.

    Parameters
    ----------
    dataset
        Name of a dataset, which need not be at hand, or path of a table.
    data_dir
        Folder that holds datasets, besides ``RECBIAS_DATA``.

    Returns
    -------
    float
        5 for stars; 1 for implicit feedback; 3 for the plays of Last.fm.
    """
    if dataset in registry():
        info = dataset_info(dataset)
        return info.relevant_from or info.scale.maximum
    return load_dataset(dataset, data_dir=data_dir).ratings.scale.maximum


def grid_tables(
    grid: Grid, label: str, *, data_dir: Path | None = None
) -> Iterator[tuple[str, int, int, RankTable]]:
    """Yield the rank tables behind one protocol of a grid that was run.

    Yields
    ------
    system : str
    fold : int
    repeat : int
        Number of the training seed.
    table : RankTable
    """
    dataset = load_dataset(grid.dataset, data_dir=data_dir)
    protocol = grid.parsed[label]
    for cell, system in _cells(grid, dataset, data_dir):
        yield system, cell.fold, cell.repeat, _load_table(cell, protocol)


def verify(
    dataset: str, *, systems: int | None = None, workers: int = 1, data_dir: Path | None = None
) -> pd.DataFrame:
    """Recompute a dataset's recorded results and compare.

    Parameters
    ----------
    dataset
        A dataset that is at hand.
    systems
        Recompute only so many systems of each recorded table (the first, the last, and between
        them at even distances); None = all.
    workers, data_dir
        As in :func:`run`.

    Returns
    -------
    DataFrame
        A row per recorded table: ``systems`` and ``values`` compared, the largest ``difference``,
        the largest difference in units of the allowed bound ``max(1e-9, 0.01 s.e.)``, whether it
        ``agrees``, and the ``differing`` systems.

    Raises
    ------
    MissingData
        If the dataset is not at hand, or nothing is recorded for it.
    """
    paths = stored_results(results_dir(dataset, recorded=True))
    if not paths:
        raise MissingData(f"{dataset}: no recorded results to verify")
    source = load_dataset(dataset, data_dir=data_dir)
    rows = []
    for name, path in paths.items():
        if result_kind(path) != "grid":
            continue
        recorded = load_results(path)
        chosen = recorded.grid.systems
        if systems is not None and systems < len(chosen):
            places = np.unique(np.linspace(0, len(chosen) - 1, systems).round().astype(int))
            chosen = tuple(chosen[place] for place in places)
        part = Grid.from_dict(
            {
                **recorded.grid.to_dict(),
                "systems": [system.to_dict() for system in chosen],
                "compare": [],
            }
        )
        fresh = _measure_grid(part, source, workers=workers, data_dir=data_dir)
        columns = ["system", "label", "metric"]
        pairs = fresh.values.merge(recorded.values, on=columns, suffixes=("", "_recorded"))
        difference = (pairs["value"] - pairs["value_recorded"]).abs()
        bound = np.maximum(1e-9, 0.01 * pairs["se_recorded"])
        differing = pairs.loc[~(difference <= bound), "system"].unique()
        rows.append(
            {
                "recorded": name,
                "systems": len(chosen),
                "values": len(pairs),
                "difference": float(difference.max()),
                "of bound": float((difference / bound).max()),
                "agrees": len(differing) == 0 and len(pairs) == len(fresh.values),
                "differing": ", ".join(differing),
            }
        )
    return pd.DataFrame(rows)


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Write a frame as JSON-able rows, NaN as None; numbers keep all their digits."""
    rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
    return [{str(name): value for name, value in row.items()} for row in rows]


def _cells(grid: Grid, dataset: Dataset, data_dir: Path | None) -> list[tuple[_Cell, str]]:
    """List the cells of a grid, those of one fold together so that a process can reuse its work."""
    requests = dict.fromkeys(_request(protocol) for protocol in grid.parsed.values())
    source = _Source(grid.dataset, str(data_dir) if data_dir else None, grid.split, grid.seed)
    return [
        (
            _Cell(
                source=source,
                content_hash=dataset.ratings.content_hash,
                system=canonical_json(system.to_dict()),
                fold=fold,
                repeat=repeat,
                requests=tuple(requests),
            ),
            system.name,
        )
        for fold in range(len(_splits(source)))
        for system in grid.systems
        for repeat in range(system.n_seeds)
    ]


def _request(protocol: Protocol) -> tuple[int, str, float | None]:
    return protocol.removed, str(protocol.targets.rule), protocol.targets.min_rating


@lru_cache(maxsize=2)
def _splits(source: _Source) -> list[Split]:
    data_dir = Path(source.data_dir) if source.data_dir else None
    dataset = load_dataset(source.dataset, data_dir=data_dir)
    return dataset_splits(dataset, source.split, seed=source.seed)


def dataset_splits(dataset: Dataset, split: str, *, seed: int) -> list[Split]:
    """Split a dataset as a grid with this split rule and seed does.

    Parameters
    ----------
    dataset
        Ratings, with ready folds for the rule ``"ready"``.
    split
        Text of a :class:`~recbias.splits.SplitRule`.
    seed
        The grid's seed.

    Returns
    -------
    list of Split
    """
    rule = SplitRule.parse(split)
    return rule.splits(dataset.ratings, rng=stream(seed, "split", split), ready=dataset.ready_folds)


def _evaluated_split(cell: _Cell, removed: int) -> Split:
    split = _splits(cell.source)[cell.fold]
    if removed == 0:
        return split
    rng = stream(cell.source.seed, "thin", removed, cell.fold)
    return split.thin(removed / 100, rng=rng)


def _run_cell(cell: _Cell) -> None:
    """Train a cell's system and store the rank tables that are missing."""
    missing = [request for request in cell.requests if not cell.path(request).is_file()]
    if not missing:
        return
    started = time.perf_counter()
    system = System.from_dict(json.loads(cell.system))
    split = _splits(cell.source)[cell.fold]
    seed = cell.source.seed
    # One BLAS thread: the bits of a product depend on their number, and workers share the machine.
    with threadpool_limits(1):
        identity = canonical_json({"algorithm": system.algorithm, **system.parameters})
        rng = stream(seed, "train", identity, cell.fold, cell.repeat)
        recommender = system.build().fit(split.train, rng=rng)
        tables: dict[tuple[int, str, float | None], RankTable] = {}
        for removed in dict.fromkeys(request[0] for request in missing):
            wanted = [request for request in missing if request[0] == removed]
            targets = [Targets(TargetRule.parse(text), least) for _, text, least in wanted]
            # The seed does not name the system: all systems meet the same ties and samples.
            rank_seed = int(stream(seed, "rank", cell.fold).integers(2**63))
            ranked = rank(recommender, _evaluated_split(cell, removed), targets, seed=rank_seed)
            tables.update(zip(wanted, ranked, strict=True))
    provenance = {
        **platform_record(),
        "dataset": {"name": cell.source.dataset, "content_hash": cell.content_hash},
        "split": cell.source.split,
        "seed": seed,
        "fold": cell.fold,
        "repeat": cell.repeat,
        "system": json.loads(cell.system),
        "revision": REVISION,
        "seconds": round(time.perf_counter() - started, 3),
        "peak_mb": _peak_mb(),
    }
    for request, table in tables.items():
        write_arrays(
            cell.path(request),
            {
                "rank": table.rank,
                "condensed_rank": table.condensed_rank,
                "n_targets": table.n_targets,
                "n_scored": table.n_scored,
            },
            key=cell.key(request),
            provenance={**provenance, "request": list(request)},
        )


def _peak_mb() -> int | None:
    """Peak memory of this process; None on Windows, which has no such counter."""
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (2**20 if sys.platform == "darwin" else 2**10))


def _load_table(cell: _Cell, protocol: Protocol) -> RankTable:
    request = _request(protocol)
    arrays, _ = read_arrays(cell.path(request), key=cell.key(request))
    test = _evaluated_split(cell, protocol.removed).test
    rows = np.ones(len(test), dtype=bool)
    if protocol.rule.per_run:
        rows = relevant(test.value, protocol.min_rating)
    return RankTable(
        per="run" if protocol.rule.per_run else "user",
        n_users=test.n_users,
        user=test.user[rows],
        item=test.item[rows],
        value=test.value[rows],
        **arrays,
    )


def _measured(
    table: RankTable, texts: Sequence[str], protocol: Protocol, rating_max: float
) -> FloatArray:
    """Measure metrics and expectations of one table, a row each."""
    return measure(
        table,
        [parse_metric(text) for text in texts],
        min_rating=protocol.min_rating,
        condensed=protocol.condensed,
        rating_max=rating_max,
    )


def _measure_grid(grid: Grid, dataset: Dataset, *, workers: int, data_dir: Path | None) -> Results:
    started = time.perf_counter()
    for protocol in grid.parsed.values():
        if not relevant(dataset.ratings.value, protocol.min_rating).any():
            scale = dataset.ratings.scale
            raise ConfigError(
                f"{protocol}: no rating of {dataset.name} is that high; its scale is "
                f"{scale.minimum:g} to {scale.maximum:g}"
            )
    for text in (text for texts in grid.by_label.values() for text in texts):
        cutoff = parse_metric(text).cutoff
        if cutoff is not None and cutoff > dataset.ratings.n_items:
            raise ConfigError(
                f"{text}: the cutoff is above the catalogue of {dataset.name}, "
                f"{dataset.ratings.n_items:,} items"
            )
    cells = _cells(grid, dataset, data_dir)
    missing = [cell for cell, _ in cells if not all(cell.path(r).is_file() for r in cell.requests)]
    if missing:
        with open_executor(min(workers, len(missing))) as executor:
            run_all(_run_cell, missing, executor, label=f"{dataset.name}: cells")
    weights = bootstrap_weights(
        dataset.ratings.n_users, N_REPLICATES, rng=stream(grid.seed, "bootstrap")
    )
    rows: list[dict[str, Any]] = []
    resampled: list[FloatArray] = []
    paired: dict[tuple[str, str], dict[str, FloatArray]] = {pair: {} for pair in grid.compare}
    run_users: dict[str, npt.NDArray[np.int32] | None] = {}
    target_sets: list[dict[str, Any]] = []
    for system in grid.systems:
        own = [cell for cell, name in cells if name == system.name]
        for label, protocol in grid.parsed.items():
            texts = grid.by_label[label]
            numerators, denominators, units, users = [], [], [], []
            sets: list[dict[str, int]] = []
            for fold in dict.fromkeys(cell.fold for cell in own):
                per_seed = [
                    (table, _measured(table, texts, protocol, dataset.ratings.scale.maximum))
                    for table in (_load_table(cell, protocol) for cell in own if cell.fold == fold)
                ]
                table = per_seed[0][0]
                values = np.mean([measured for _, measured in per_seed], axis=0)
                numerator, denominator = user_sums(
                    table, values, min_rating=protocol.min_rating, population=protocol.population
                )
                numerators.append(numerator)
                denominators.append(denominator)
                units.append(np.nan_to_num(values))
                users.append(table.user)
                sets.append(_describe_sets(table, protocol, texts))
            if system is grid.systems[0]:  # the target sets of all systems are the same
                counts = {name: sum(fold[name] for fold in sets) for name in sets[0]}
                smallest = min(fold["smallest"] for fold in sets)
                target_sets.append({"label": label, **counts, "smallest": smallest})
            sums, sizes = np.sum(numerators, axis=0), np.sum(denominators, axis=0)
            by_fold = np.array(
                [n.sum(axis=1) / d.sum() for n, d in zip(numerators, denominators, strict=True)]
            )
            resampled.append(replicates(sums, sizes, weights))
            for place, text in enumerate(texts):
                values = resampled[-1][place]
                low, high = interval(values)
                rows.append(
                    {
                        "system": system.name,
                        "label": label,
                        "protocol": str(protocol),
                        "metric": text,
                        "value": float(sums[place].sum() / sizes.sum()),
                        "low": float(low),
                        "high": float(high),
                        "se": float(np.std(values, ddof=1)),
                        "fold_sd": float(np.std(by_fold[:, place], ddof=1))
                        if len(by_fold) > 1
                        else np.nan,
                        "n_users": int(np.count_nonzero(sizes)),
                    }
                )
                if (label, text) in paired:
                    if protocol.rule.per_run:
                        paired[label, text][system.name] = np.concatenate(
                            [unit[place] for unit in units]
                        )
                        run_users[label] = np.concatenate(users)
                    else:
                        paired[label, text][system.name] = np.mean(
                            [unit[place] for unit in units], axis=0
                        )
                        run_users[label] = None
    return Results(
        grid=grid,
        key=grid.key(dataset.ratings.content_hash),
        dataset={
            "name": dataset.name,
            "title": dataset.title,
            "content_hash": dataset.ratings.content_hash,
            "n_users": dataset.ratings.n_users,
            "n_items": dataset.ratings.n_items,
            "n_ratings": len(dataset.ratings),
            "feedback": dataset.ratings.feedback,
        },
        values=pd.DataFrame(rows),
        replicates=np.vstack(resampled).astype(np.float32),
        tests=_tests(paired, run_users),
        target_sets=pd.DataFrame(target_sets),
        origin="live",
        provenance={
            **platform_record(),
            "seconds": round(time.perf_counter() - started, 1),
            "peak_mb": _peak_mb(),
            "cells": len(cells),
            "computed": len(missing),
        },
    )


def _describe_sets(table: RankTable, protocol: Protocol, texts: Sequence[str]) -> dict[str, int]:
    """Count the target sets of one table that are not what a reader would expect."""
    n_relevant = np.bincount(
        table.user[relevant(table.value, protocol.min_rating)], minlength=table.n_users
    )
    rated = np.bincount(table.user, minlength=table.n_users)
    sizes = rated if protocol.condensed else table.n_targets.astype(np.int64)
    asked = protocol.rule.n_sampled or 0
    own = np.ones(len(sizes), dtype=np.int64) if table.per == "run" else n_relevant
    cutoffs = [parse_metric(text).cutoff or 0 for text in texts]
    return {
        "sets": len(sizes),
        "no_relevant": 0 if table.per == "run" else int((n_relevant == 0).sum()),
        "short_sample": int((table.n_targets < asked + own).sum()) if asked else 0,
        "below_cutoff": int((sizes < max(cutoffs, default=0)).sum()),
        "smallest": int(sizes.min()) if len(sizes) else 0,
    }


def _tests(
    paired: Mapping[tuple[str, str], Mapping[str, FloatArray]],
    run_users: Mapping[str, npt.NDArray[np.int32] | None],
) -> pd.DataFrame:
    """Test all pairs of systems: per user, and per run where there are runs."""
    frames = []
    for (label, text), values in paired.items():
        user = run_users[label]
        frame = compare_all(values, user=user).assign(label=label, metric=text, unit="user")
        frames.append(frame)
        if user is not None:
            frames.append(compare_all(values).assign(label=label, metric=text, unit="run"))
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()
