"""Systems that could not be trained on some data: remembered, so that they are not tried again.

A chapter asks several grids about the same systems. What could not be trained for the first cannot
be trained for the next either, and would cost its training each time. It is remembered until the
process ends: with other code it may be fit.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Sequence
from itertools import islice

from recbias.data.datasets import Dataset
from recbias.errors import TrainingError, Unfit
from recbias.experiment.cells import Cell
from recbias.experiment.grid import Grid
from recbias.protocol.testset import TestSet

__all__ = ["known_reason", "remember", "systems_left_out"]

_known: dict[Hashable, Unfit] = {}


def known_reason(cell: Cell) -> str | None:
    """Tell why a system cannot be trained as a cell asks, where this process has found out.

    Parameters
    ----------
    cell
        Its artefacts play no part but for the ratings that they let it train on.
    """
    return _known.get(_training(cell))


def remember(cell: Cell, reason: str | None) -> str | None:
    """Keep why training failed; what failed later, with a trained system, depends on more.

    Parameters
    ----------
    cell, reason
        A cell, and what `recbias.experiment.cells.run_cell` returned; None too if it was not tried.

    Returns
    -------
    str or None
        The reason, or the one that is known.
    """
    if isinstance(reason, Unfit):
        _known[_training(cell)] = reason
    return reason or known_reason(cell)


def systems_left_out(
    grid: Grid, dataset: Dataset, names: Sequence[str], reasons: Sequence[str | None]
) -> dict[str, str]:
    """Tell why systems of a grid cannot be trained.

    Parameters
    ----------
    grid, dataset
        What was asked for.
    names, reasons
        Of the system of each cell, and why it cannot be trained; None if it can.

    Returns
    -------
    dict of str to str
        The reason of the first cell of each, in the order of the grid.

    Raises
    ------
    TrainingError
        If none can be trained.
    """
    reason_of: dict[str, str] = {}
    for name, reason in zip(names, reasons, strict=True):
        if reason is not None:
            reason_of.setdefault(name, reason)
    left_out = {
        system.name: reason_of[system.name] for system in grid.systems if system.name in reason_of
    }
    if len(left_out) == len(grid.systems):
        examples = "\n".join(f"{name}: {reason}" for name, reason in islice(left_out.items(), 2))
        raise TrainingError(
            f"{dataset.title}: none of {len(left_out)} systems can be trained on it\n{examples}"
        )
    return left_out


def _training(cell: Cell) -> Hashable:
    """Take all that decides what is trained, and on what."""
    first = cell.artefacts[0]
    trained_on = TestSet.parse(first.test).trains_on
    source = cell.source_of(first)._replace(judgments=str(trained_on))
    return dataclasses.replace(cell, source=(source,), artefacts=())
