"""Systems that could not be trained on some data: remembered, so that they are not tried again.

A chapter asks several grids about the same systems. What could not be trained for the first cannot
be trained for the next either, and would cost its training each time. It is remembered until the
process ends: with other code it may be fit.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable

from recbias.cells import Cell
from recbias.errors import Unfit
from recbias.testset import TestSet

__all__ = ["known_reason", "remember"]

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
        A cell, and what `recbias.cells.run_cell` returned; None too if it was not tried.

    Returns
    -------
    str or None
        The reason, or the one that is known.
    """
    if isinstance(reason, Unfit):
        _known[_training(cell)] = reason
    return reason or known_reason(cell)


def _training(cell: Cell) -> Hashable:
    """Take all that decides what is trained, and on what."""
    first = cell.artefacts[0]
    trained_on = TestSet.parse(first.test).trains_on
    source = cell.source_of(first)._replace(judgments=str(trained_on))
    return dataclasses.replace(cell, source=(source,), artefacts=())
