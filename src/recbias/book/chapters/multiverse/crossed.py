"""Two systems under all combinations of options, and where the data lie among worlds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from recbias.book.chapters.multiverse.setup import CHAPTER
from recbias.data.datasets import Dataset
from recbias.errors import ConfigError
from recbias.experiment.grid import Grid
from recbias.experiment.makers import Table, maker
from recbias.multiverse import universes
from recbias.multiverse.kinds import place_of

NUMBERS = ("difference", "low", "high", "p", "effect", "n_users")

MEAN_T = "mean t"
"""The statistic of the joint test that is told."""


@maker(CHAPTER, Table)
def crossed(
    dataset: Dataset,
    *,
    options: Mapping[str, Sequence[str]],
    grids: Sequence[Grid],
    workers: int = 1,
) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Compare the two systems of each grid under all combinations of options.

    Parameters
    ----------
    dataset
        Loaded data set.
    options
        Texts by decision.
    grids
        Their systems and seeds are taken; the first system is the same in all.
    workers
        Processes; the results do not depend on them.

    Returns
    -------
    index : tuple of str
        ``first`` and ``against``, the systems, and the place of each option in its decision.
    frame : DataFrame
        ``universe``, the same for combinations that are one, ``sign``, and what
        :class:`recbias.multiverse.Universes` has; no row for what cannot be measured. Of the joint
        test ``mean_t``, where 95 of 100 null curves end (``null``) and its p (``joint``).
    """
    frames = []
    for grid in grids:
        first, other = grid.systems
        found = universes(grid.dataset, first, other, options, seeds=(grid.seed,), workers=workers)
        test = found.joint_test()
        told = test.loc[MEAN_T].to_numpy(float) if len(test) else np.full(3, np.nan)
        mean_t, null, joint = told.tolist()
        known = found.cross >= 0
        rows = found.cross[known]
        frame = found.table.iloc[rows][["sign", *NUMBERS]].reset_index(drop=True)
        places = np.argwhere(known)[:, :-1]
        frame = frame.assign(
            first=found.a, against=found.b, universe=rows, mean_t=mean_t, null=null, joint=joint,
            **{name: places[:, axis] for axis, name in enumerate(found.options)},
        )  # fmt: skip
        frames.append(frame)
    together = pd.concat(frames, ignore_index=True).astype({"sign": int})
    return ("first", "against", *options), together


@maker(CHAPTER, Table, parts=("world",))
def place(dataset: Dataset, *, min_rating: float) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Say of which kinds of worlds the data may be.

    Parameters
    ----------
    dataset
        Loaded data set.
    min_rating
        Smallest rating that is relevant.

    Returns
    -------
    index : tuple of str
        ``relation`` and ``skew`` of kinds.
    frame : DataFrame
        ``reason``; one row with empty names where data are of no kind.
    """
    try:
        found = place_of(dataset.ratings, min_rating)
        kinds, reason = found.kinds, found.reason
    except ConfigError as error:
        kinds, reason = (), str(error).partition("\n")[0]
    rows = [(*kind, "") for kind in kinds] or [("", "", reason)]
    return ("relation", "skew"), pd.DataFrame(rows, columns=["relation", "skew", "reason"])
