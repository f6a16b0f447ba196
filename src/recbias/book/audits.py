"""The page "Audits": one sentence, judged on every data set by the command that readers have."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from shlex import quote
from typing import Any

import pandas as pd

from recbias.audit import audit
from recbias.audit.page import COMPARED, compared, compared_cells
from recbias.audit.rule import SHARE, rule_said
from recbias.book.html import badge, table_html
from recbias.book.systems.line_up import relevance_threshold
from recbias.data.datasets import Dataset
from recbias.data.ratings import exact
from recbias.experiment.grid import Grid
from recbias.experiment.makers import Table, maker
from recbias.experiment.results import load_result, recorded_datasets, results_dir, stored_results
from recbias.recommenders import line_up

__all__ = [
    "CHAPTER",
    "PAIRS",
    "audited",
    "audits_html",
    "commands_html",
    "everywhere",
    "kept_name",
    "sentences",
]

CHAPTER = "audits"
"""Name of the notebook, under which its results are stored."""

PAIRS: Mapping[str, Sequence[tuple[str, str]]] = dict.fromkeys(
    ("ml-1m", "ml-100k", "ml-latest-small", "filmtrust", "coat", "cm100k"),
    (("EASE", "Popularity"),),
)
"""By data set which system of `line_up("modern")` is said to beat which."""


def sentences(dataset: str, *, seed: int = 1) -> list[Grid]:
    """Give a grid for each sentence that is judged on a data set: who is said to win comes first.

    Parameters
    ----------
    dataset
        Name of a data set, or path of a table; on those that nobody published none is judged, as
        an audit takes minutes.
    seed
        Of split and training.

    Examples
    --------
    >>> (grid,) = sentences("ml-100k")
    >>> [system.name for system in grid.systems], grid.split, sentences("synthetic")
    (['EASE', 'Popularity'], 'k-fold 5', [])
    """
    grids = []
    for pair in PAIRS.get(dataset, ()):
        least = relevance_threshold(dataset)
        known = {system.name: system for system in line_up("modern", min_rating=least)}
        systems = tuple(known[name] for name in pair)
        design = {"own": f"AI-AN-AR rel>={exact(least)}"}
        grids.append(Grid(dataset, systems, design, ("P@10",), split="k-fold 5", seed=seed))
    return grids


def kept_name(grid: Grid) -> str:
    """Name the result of a sentence.

    Examples
    --------
    >>> kept_name(sentences("coat")[0])
    'ease-popularity'
    """
    words = " ".join(system.name for system in grid.systems)
    return "-".join("".join(c if c.isalnum() else " " for c in words.lower()).split())


@maker(
    CHAPTER, Table, parts=("splits", "ranking", "sampling", "aggregation"), uses={"share": SHARE}
)
def audited(
    dataset: Dataset, *, grid: Grid, workers: int = 1
) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Audit the first system of a grid against the second; claims of papers are left out.

    Parameters
    ----------
    dataset
        Loaded data set.
    grid
        Its systems, and the one design that is the reader's own.
    workers
        Processes; the results do not depend on them.

    Returns
    -------
    index : tuple of str
        ``a`` and ``b``.
    frame : DataFrame
        What :func:`recbias.audit.page.compared` gives: averages alone.
    """
    ((label, protocol),) = grid.parsed.items()
    found = audit(
        grid.dataset, *grid.systems, protocol=str(protocol),
        metric=str(grid.parsed_metrics[label][0]), split=grid.split, seed=grid.seed, ledger=False,
        workers=workers,
    )  # fmt: skip
    row = compared(found.record)
    if row["changes"] is None:
        row["changes"] = math.nan
    return ("a", "b"), pd.DataFrame([row])


def everywhere() -> dict[str, list[Table]]:
    """Read what is recorded of the page, by data set."""
    found = {}
    for name in recorded_datasets(CHAPTER):
        paths = stored_results(results_dir(name, recorded=True) / CHAPTER).values()
        stored = [load_result(path, dataset=name) for path in paths]
        found[name] = [each for each in stored if isinstance(each, Table)]
    return found


def audits_html(found: Mapping[str, Sequence[Table]]) -> str:
    """Write audits side by side, as ``recbias audit --compare`` does, and the rule below.

    Parameters
    ----------
    found
        As of `everywhere`.
    """
    rows = [
        _cells(row)
        for tables in found.values()
        for table in tables
        for row in table.frame.to_dict("records")
    ]
    return f"{table_html(COMPARED, rows, style='')}<p>{escape(rule_said('A', 'B'))}</p>"


def commands_html() -> str:
    """Write the commands that repeat what is recorded, for the first of its data sets."""
    dataset, tables = next(iter(everywhere().items()))
    grid = Grid.from_dict(tables[0].given["grid"])
    a, b = (quote(system.name) for system in grid.systems)
    (protocol,) = map(str, grid.parsed.values())
    lines = (
        f"recbias audit {dataset} --a {a} --b {b} --protocol {quote(protocol)} --no-ledger",
        f"recbias run {CHAPTER} --dataset {dataset} --record",
    )
    return f"<pre>{escape(chr(10).join(lines))}</pre>"


def _cells(row: Mapping[Any, Any]) -> list[str]:
    """Write a row as the command does, its answer as the verdicts of the book."""
    changes = None if math.isnan(row["changes"]) else row["changes"]
    cells = compared_cells({**row, "changes": changes})
    return [cells[0], badge(row["answer"]), *cells[2:]]
