"""Which metrics of concentration order systems alike, and what LTI says that entropy does not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pandas as pd

from recbias.book.chapters.concentration_metrics.orders import (
    SHOWN_LESS,
    listing,
    systems_signs,
    tau_of_signs,
)
from recbias.book.chapters.concentration_metrics.setup import CHAPTER, LAMBDA, plain_name
from recbias.claims.evaluation import Scope
from recbias.claims.evidence import NotComputed
from recbias.claims.expressions import Term
from recbias.claims.functions import in_scope, of_orders
from recbias.claims.values import Family
from recbias.data.datasets import Dataset
from recbias.experiment.cells import grid_cells, run_cell
from recbias.experiment.grid import Grid
from recbias.experiment.makers import Table, maker
from recbias.experiment.reduction import Reader
from recbias.experiment.results import Quantity
from recbias.experiment.run import Results
from recbias.metrics import parse_metric
from recbias.metrics.lists import item_counts, list_view
from recbias.metrics.measuring import measure_system
from recbias.protocol.testset import dataset_splits

FloatArray = npt.NDArray[np.float64]

ALIKE = 0.9
"""Two metrics are one where all of the interval of their tau lies above this."""

EXPLAINED: Mapping[str, str] = {
    "log count": "the mean logarithm of one more than an item's count",
    "entropy": "the entropy of the counts",
    "coverage": "the share of items that are in a list",
}
"""What LTI is explained by over systems, and what it is."""

OTHERS = ("Gini", "Hoover", "Entropy", "Diversity", "ARP", "PL", "M", "CI", "CI|JS", "LTI",
          "LTI|percentile")  # fmt: skip
"""Metrics of concentration in the order in which they are compared, by name and condition."""


def _asked(results: Results, label: str, cutoff: int) -> Iterator[tuple[str, str]]:
    """Give the metrics of concentration of lists of a length, by a name without length."""
    for metric in results.grid.parsed_metrics[label]:
        name = plain_name(str(metric))
        if metric.cutoff == cutoff and name in OTHERS:
            yield name, str(metric)


def tau_matrix(found: Results, cutoff: int, *, systems: Sequence[str] = ()) -> pd.DataFrame:
    """Compare the orders of systems by all pairs of metrics of concentration."""
    names = listing(found, systems or found.systems)
    signs: dict[str, tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]] = {}
    metrics = dict(_asked(found, "full", cutoff))
    for name in OTHERS:
        if name in metrics:
            turned = -1 if name in SHOWN_LESS else 1
            values = np.array([found[system, "full", metrics[name]].value for system in names])
            first, second = np.triu_indices(len(values), k=1)
            try:
                _, resolved = systems_signs(found, "full", metrics[name], names)
            except NotComputed:  # one split, and a metric without interval: all is open
                resolved = np.zeros(len(first), dtype=np.int64)
            order = np.sign(values[first] - values[second]).astype(np.int64)
            signs[name] = (turned * order, turned * resolved)
    rows = []
    for a, b in combinations(signs, 2):
        tau, (low, high) = tau_of_signs(*signs[a], *signs[b])
        rows.append((a, b, tau, low, high))
    return pd.DataFrame(rows, columns=["a", "b", "tau", "low", "high"])


@of_orders
@in_scope
def metric_taus(scope: Scope, term: Term) -> Family:
    """Compare the orders of systems by all pairs of metrics of lists as long as those of a term."""
    table = scope.evidence.table(term.table, term.edition or "")
    cutoff = parse_metric(scope.evidence.metric(term)).cutoff or 0
    taus = tau_matrix(table, cutoff, systems=scope.systems(term))
    scope.evidence.note(term.table, "pairs of metrics", float(len(taus)))
    return Family(
        {
            (a, b): Quantity(tau, None, limits=(low, high))
            for a, b, tau, low, high in taus.itertuples(index=False)
        }
    )


# -- what LTI says ---------------------------------------------------------------------------------


@maker(CHAPTER, Table)
def explained(
    dataset: Dataset, *, cutoffs: Sequence[int], grid: Grid
) -> tuple[tuple[str, ...], pd.DataFrame]:
    r"""Tell how much of LTI, over the systems of a fold, plain statistics of the counts explain.

    With counts r of n items, :math:`LTI_\lambda = \lambda \cdot \text{mean} \ln(r_i + 1)` plus what
    is the same for all systems, but for the items' shares of the prior, which are small.

    Parameters
    ----------
    dataset
        Loaded data set.
    cutoffs
        Lengths of lists.
    grid
        The grid of the chapter's systems, which was run here; first training seeds.

    Returns
    -------
    index : tuple of str
        ``form`` of LTI (``printed`` or ``percentile``), ``cutoff``, ``by`` and ``fold``.
    frame : DataFrame
        ``value``: R2, the squared correlation over the systems.
    """
    splits = dataset_splits(dataset, grid.split, seed=grid.seed)
    min_rating = float(grid.parsed["full"].min_rating or 0)
    statistics: dict[tuple[int, int], list[dict[str, float]]] = {}
    for _, cell in grid_cells(grid, dataset, None):
        if cell.repeat:
            continue
        run_cell(cell)
        lists = Reader(cell).positions(grid, "full").lists("AI", max(cutoffs))
        view = list_view(lists, splits[cell.fold].train, min_rating=min_rating)
        for cutoff in cutoffs:
            counts = item_counts(view, cutoff)
            metrics = [parse_metric(text) for text in _texts(cutoff)]
            (lti,), (percentile,), (entropy,), (coverage,) = measure_system(counts, view, metrics)
            statistics.setdefault((cell.fold, cutoff), []).append(
                {
                    "printed": lti,
                    "percentile": percentile,
                    "entropy": entropy,
                    "coverage": coverage,
                    "log count": float(np.log1p(counts).mean()),
                }
            )
    rows = [
        (form, cutoff, by, fold, _squared(frame[form], frame[by]))
        for (fold, cutoff), by_system in sorted(statistics.items())
        for frame in [pd.DataFrame(by_system)]
        for form in ("printed", "percentile")
        for by in EXPLAINED
    ]
    index = ("form", "cutoff", "by", "fold")
    return index, pd.DataFrame(rows, columns=[*index, "value"])


def _texts(cutoff: int) -> tuple[str, ...]:
    lti = f"LTI({LAMBDA:g})@{cutoff}"
    return (lti, f"{lti}|percentile", f"Entropy@{cutoff}", f"Coverage@{cutoff}")


def _squared(one: pd.Series[float], other: pd.Series[float]) -> float:
    """Square the correlation over the systems that list anything."""
    both = np.array([one, other], dtype=np.float64)
    both = both[:, ~np.isnan(both).any(axis=0)]
    if both.shape[1] < 2 or not (both.std(axis=1) > 0).all():
        return float("nan")
    return float(np.asarray(np.corrcoef(both))[0, 1] ** 2)
