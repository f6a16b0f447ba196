"""What a run would do: which results are there, which cells are not, and what these will cost.

Between `planning` and its end `run` and makers answer as ever with what is kept or recorded; what
they would have to compute they note here, and give something that stands for it. So that what is
foreseen is what would happen, it is found by the code that would do it.

Costs are those of earlier work. A cell keeps what it took and how large its data was; cells of the
same system and size tell it, else all of its algorithm, by a fit over their sizes. What pages took
was measured on tables of several shapes: ``data/page_costs.csv``, see ``benchmarks/page_costs.py``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from recbias._system.places import cells_dir, clone_root
from recbias.data.datasets.describe import page_memory
from recbias.data.ratings import Ratings
from recbias.errors import RecbiasError, StoreError
from recbias.experiment.cells import Cell, cell_dataset
from recbias.experiment.untrainable import known_reason

__all__ = [
    "Cost",
    "NotComputedError",
    "PageCost",
    "Plan",
    "Size",
    "Step",
    "Waiting",
    "cost_at",
    "current_plan",
    "measured_pages",
    "page_cost",
    "planning",
    "to_compute",
]

Found = TypeVar("Found")

COSTS = "page_costs.csv"
_LOOKED_AT = 2_000
"""Kept cells whose costs are read: the newest."""
_RIDGE = 0.01
"""How strongly a fit spreads a cost over what it may grow with, where sizes do not tell."""
_ROUNDS = 20
"""How often what pages have in common and what is each one's own are found in turn."""


class Size(NamedTuple):
    """How large data are."""

    ratings: int
    users: int
    items: int

    @classmethod
    def of(cls, ratings: Ratings) -> Size:
        """Tell the size of ratings."""
        return cls(len(ratings), ratings.n_users, ratings.n_items)


class Cost(NamedTuple):
    """Seconds of processor time, and the peak memory of a process in MB."""

    seconds: float
    peak_mb: float


_NOTHING = Cost(0.0, 0.0)


def cost_at(size: Size, known: Sequence[tuple[Size, float]]) -> float:
    """Estimate a cost from what it was on other data.

    It is a sum of what depends on no size, what grows with ratings, and what with pairs of a user
    and an item, none of it negative, that is least wrong in relation to what is known. Pairs of
    items are left out: few tables tell them from the other pairs, and what they added was far off.

    Parameters
    ----------
    size
        Where it is asked for.
    known
        Sizes and what it was there; one is enough.

    Examples
    --------
    >>> known = [(Size(n, 10, 10), 5 + n / 100) for n in (100, 1_000, 10_000)]
    >>> round(cost_at(Size(5_000, 10, 10), known))
    55
    """
    terms = np.array([_time_terms(each) for each, _ in known])
    costs = np.array([max(cost, 1e-3) for _, cost in known])
    relative = terms / costs[:, None]
    scale = relative.mean(axis=0)
    shares = _least_wrong(relative / scale, 0.0, _RIDGE)
    return float(np.array(_time_terms(size)) @ (shares / scale))


def _time_terms(size: Size) -> tuple[float, float, float]:
    """Say what time may grow with; the first is what grows with nothing."""
    return 1.0, float(size.ratings), float(size.users * size.items)


def _memory_terms(size: Size) -> tuple[float, float, float]:
    # Scores of all pairs are looked at in blocks, whose size is bounded.
    return 1.0, float(size.ratings), float(size.users + size.items)


def _least_wrong(
    relative: npt.NDArray[np.float64], usual: float, weight: float
) -> npt.NDArray[np.float64]:
    """Find what makes the sum of each row 1, none of it negative, and all of it near the usual."""
    from scipy.optimize import nnls  # not above: most processes plan nothing

    n_terms = relative.shape[1]
    pull = np.full(n_terms, np.sqrt(weight))
    system = np.vstack([relative, np.diag(pull)])
    found, _ = nnls(system, np.r_[np.ones(len(relative)), usual * pull])
    return np.asarray(found)


# -- what pages cost -------------------------------------------------------------------------------


class PageCost(NamedTuple):
    """What a page takes from nothing.

    Attributes
    ----------
    cost
        The estimate.
    n_tables
        Tables that it was measured on.
    off_by
        The largest factor by which the estimate of seconds missed a table that was left out of the
        fit, of all pages; NaN where fewer than three were measured.
    measured
        Date of the latest measurement.
    """

    cost: Cost
    n_tables: int
    off_by: float
    measured: str


def page_cost(page: str, size: Size) -> PageCost | None:
    """Estimate what a page takes on a table, with no cell stored; None if it was never measured.

    Raises
    ------
    StoreError
        If the list of costs is damaged.
    """
    every = _page_rows()
    rows = every[every["page"] == page]
    if rows.empty:
        return None
    off_by = np.nan
    if len(rows) > 2:
        kept = rows[["table", *Size._fields, "seconds"]]
        ratios = [
            _like_other_pages(every[every["table"] != table], page, Size(*of), "seconds") / took
            for table, *of, took in kept.itertuples(index=False, name=None)
        ]
        off_by = float(np.exp(np.abs(np.log(ratios)).max()))
    seconds, peak_mb = (
        _like_other_pages(every, page, size, what) for what in ("seconds", "peak_mb")
    )
    # Tables that were measured have too few items for what grows with pairs of them.
    pairs_gb = page_memory(size.items, page) - page_memory(0, page)
    cost = Cost(seconds, peak_mb + 1e3 * pairs_gb)
    return PageCost(cost, len(rows), off_by, rows["date"].max())


def _like_other_pages(rows: pd.DataFrame, page: str, size: Size, what: str) -> float:
    """Estimate a cost of a page from what pages took.

    All pages look at the same scores, more or less often: how costs grow with size is learned from
    all of them, what is a page's own is a factor, and it departs from the common way as far as its
    rows say so, against which that way weighs as one of them. A few rows of a page alone do not
    tell what grows with ratings from what grows with pairs.
    """
    rows = rows[rows[what] > 0]
    if rows.empty:
        return np.nan
    terms_of = _time_terms if what == "seconds" else _memory_terms
    sizes = rows[list(Size._fields)].itertuples(index=False, name=None)
    terms = np.array([terms_of(Size(*of)) for of in sizes])
    costs, pages = rows[what].to_numpy(dtype=np.float64), rows["page"].to_numpy()
    own = pages == page
    way, level = map(np.array, _common(tuple(zip(pages, map(tuple, terms), costs, strict=True))))
    if not own.any():  # of no page of its own: that of a usual one
        return float(np.array(terms_of(size)) @ way * np.exp(np.log(level).mean()))
    way = way * level[own][0]
    departure = _least_wrong((terms * way)[own] / costs[own, None], 1.0, 1.0)
    return float(np.array(terms_of(size)) @ (way * departure))


@cache
def _common(
    rows: tuple[tuple[str, tuple[float, ...], float], ...],
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Give what costs of pages grow by with each term, and the factor of each row's page."""
    pages, terms, costs = (np.array(column) for column in zip(*rows, strict=True))
    level = np.ones(len(costs))
    for _ in range(_ROUNDS):
        relative = terms * (level / costs)[:, None]
        scale = relative.mean(axis=0)
        way = _least_wrong(relative / scale, 0.0, _RIDGE) / scale
        factors = pd.Series(np.log(costs / (terms @ way))).groupby(pages).transform("mean")
        level = np.exp(factors.to_numpy())
    return tuple(way), tuple(level)


def measured_pages() -> list[str]:
    """Name the pages whose cost was measured; errors as of `page_cost`."""
    return sorted(set(_page_rows()["page"]))


def _page_rows() -> pd.DataFrame:
    """Read what pages took; nothing outside a clone, where no page can be run."""
    columns = ["page", "table", *Size._fields, "seconds", "peak_mb", "date"]
    root = clone_root()
    if root is None:
        return pd.DataFrame(columns=columns)
    path = root / "data" / COSTS
    try:
        rows = pd.read_csv(path, dtype={"date": str})
        numbers = rows[[*Size._fields, "seconds"]]
        if list(rows) != columns or not (numbers > 0).to_numpy().all():
            raise ValueError("other columns, or numbers that are not above 0")
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise StoreError(
            f"{path}: not a list of what pages take ({error!r})\n"
            "restore it; python benchmarks/page_costs.py TABLE measures it again"
        ) from error
    return rows


# -- what cells cost -------------------------------------------------------------------------------


class _KnownCells:
    """What kept cells took, by algorithm."""

    @cached_property
    def _by_algorithm(self) -> dict[str, list[tuple[str, Size, Cost]]]:
        found: dict[str, list[tuple[str, Size, Cost]]] = {}
        paths = ((path.stat().st_mtime_ns, path) for path in cells_dir().glob("*/*.parquet"))
        for _, path in sorted(paths, reverse=True)[:_LOOKED_AT]:
            try:
                metadata = pq.read_schema(path).metadata
                kept = json.loads(metadata[b"recbias.provenance"])
                size = Size(**kept["size"])
                system = kept["cell"]["system"]
                cost = Cost(kept["processor_seconds"], kept["peak_mb"] or np.nan)
                found.setdefault(system["algorithm"], []).append((_name(system), size, cost))
            except (OSError, pa.ArrowException, ValueError, KeyError, TypeError):
                continue  # of a world, of an earlier version, or damaged: its reader will say
        return found

    def cost(self, cell: Cell) -> Cost | None:
        """Estimate what a cell takes; None if none of its algorithm is kept."""
        system = json.loads(cell.system)
        known = self._by_algorithm.get(system["algorithm"], [])
        size = Size.of(cell_dataset(cell).ratings)
        alike = [cost for name, of, cost in known if of == size and name == _name(system)]
        alike = alike or [cost for _, of, cost in known if of == size]
        if alike:
            return Cost(*(float(np.median(each)) for each in zip(*alike, strict=True)))
        if not known:
            return None
        return Cost(*(cost_at(size, [(of, cost[n]) for _, of, cost in known]) for n in (0, 1)))


def _name(system: Mapping[str, Any]) -> str:
    """Tell systems apart by algorithm and parameters."""
    return json.dumps([system["algorithm"], system["parameters"]], sort_keys=True)


def to_compute(cells: Iterable[Cell]) -> list[Cell]:
    """List the cells of which something is missing, and that are not known to be in vain."""
    return [cell for cell in cells if cell.missing() and known_reason(cell) is None]


# -- what is foreseen ------------------------------------------------------------------------------


class NotComputedError(RecbiasError):
    """Something was asked of a result that is only foreseen."""

    exit_code = 2


class Waiting:
    """Stands for a result that would be computed: it knows what was asked for, and no value.

    But for one that follows from the data alone, `made`: a page may ask by it what to run.
    """

    def __init__(self, made: Callable[[], Any] | None = None, **known: Any) -> None:
        self.__dict__.update(known, _made=made)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._now(name), name)

    def __getitem__(self, names: Any) -> Any:
        return self._now(names)[names]

    def _now(self, asked: object) -> Any:
        if self._made is None:
            raise NotComputedError(f"{asked}: not computed, as this run is only planned")
        if "_result" not in self.__dict__:
            self.__dict__["_result"] = self._made()
        return self.__dict__["_result"]


@dataclass(frozen=True)
class Step:
    """One result that is asked for.

    Attributes
    ----------
    result
        Its name on the page; that of its data where it has none.
    status
        ``"recorded"``, ``"kept"`` (an earlier run left it) or ``"compute"``.
    n_compute, n_read
        Cells to compute, and to read; those that an earlier step computes are read.
    cost
        Of the cells to compute, as far as it is known: all seconds, and the largest peak.
    n_unknown
        Cells to compute of an algorithm of which no earlier cell is kept.
    beside
        Whether systems are ranked besides, such as in worlds, which is not among these cells.
    """

    result: str
    status: str
    n_compute: int = 0
    n_read: int = 0
    cost: Cost = _NOTHING
    n_unknown: int = 0
    beside: bool = False


@dataclass
class Plan:
    """What a run would do, result by result; nothing of it is done.

    Attributes
    ----------
    steps
        In the order in which results are asked for.
    files
        Names of the artefacts that would be written, of cells.
    unforeseen
        What could not be looked into, since it needs values of results: where, and the code.
    """

    steps: list[Step] = field(default_factory=list)
    files: set[Path] = field(default_factory=set)
    unforeseen: list[str] = field(default_factory=list)
    _known: _KnownCells = field(default_factory=_KnownCells, repr=False)

    def __str__(self) -> str:
        """Lay out a line per result, and what all of it comes to."""
        names = [step.result.rpartition("/")[2] for step in self.steps]
        width = max(map(len, ["result", *names]))
        lines = [f"{'result':{width}}  from      compute  read  seconds    GB"]
        for name, step in zip(names, self.steps, strict=True):
            seconds = peak = ""
            if step.n_compute > step.n_unknown:
                seconds, peak = f"{step.cost.seconds:.0f}", f"{step.cost.peak_mb / 1e3:.1f}"
            counts = (step.n_compute, step.n_read) if step.status == "compute" else ("", "")
            more = "  ranks besides" if step.beside else ""
            lines.append(
                f"{name:{width}}  {step.status:8}  {counts[0]:>7} {counts[1]:>5} {seconds:>8}"
                f" {peak:>5}{more}".rstrip()
            )
        lines.append(f"cells      {self.n_compute:,} to compute, {self.n_read:,} to read")
        n_unknown = sum(step.n_unknown for step in self.steps)
        if n_unknown < self.n_compute:
            lines.append(
                f"estimate   {self.cost.seconds:.0f} s of processor time for cells, "
                f"{self.cost.peak_mb / 1e3:.1f} GB in the largest process, by earlier cells"
            )
        if n_unknown:
            lines.append(f"unknown    what {n_unknown:,} cells take: none of their kind is kept")
        lines += [f"unforeseen {code}, which needs values" for code in self.unforeseen]
        return "\n".join(lines)

    @property
    def n_compute(self) -> int:
        """Cells to compute."""
        return sum(step.n_compute for step in self.steps)

    @property
    def n_read(self) -> int:
        """Cells to read, once for each result that needs them."""
        return sum(step.n_read for step in self.steps)

    @property
    def cost(self) -> Cost:
        """All seconds of cells to compute, and the largest peak."""
        costs = [step.cost for step in self.steps]
        return Cost(
            sum(cost.seconds for cost in costs), max((cost.peak_mb for cost in costs), default=0.0)
        )

    def noted(self, result: str, status: str, found: Found) -> Found:
        """Add a result that is there, and give it back."""
        self.steps.append(Step(result, status))
        return found

    def note_cells(self, result: str, cells: Sequence[Cell], *, beside: bool = False) -> None:
        """Add a result that would be computed from cells."""
        cells = list(dict.fromkeys(cells))
        wanted = {
            cell: {path for path in map(cell.path, cell.missing()) if path not in self.files}
            for cell in to_compute(cells)
        }
        wanted = {cell: paths for cell, paths in wanted.items() if paths}
        costs = [self._known.cost(cell) for cell in wanted]
        known = [cost for cost in costs if cost is not None]
        self.files.update(path for paths in wanted.values() for path in paths)
        self.steps.append(
            Step(
                result,
                "compute",
                len(wanted),
                len(cells) - len(wanted),
                Cost(
                    sum(cost.seconds for cost in known),
                    max((cost.peak_mb for cost in known), default=0.0),
                ),
                len(costs) - len(known),
                beside,
            )
        )


_plan: Plan | None = None


def current_plan() -> Plan | None:
    """Give the plan that is being made, if one is: then nothing is to be computed."""
    return _plan


@contextmanager
def planning() -> Iterator[Plan]:
    """Plan instead of computing, within this block and process."""
    global _plan
    before, _plan = _plan, Plan()
    try:
        yield _plan
    finally:
        _plan = before
