"""The explorer of chapter 8: universes brushed by option, in words and bars."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd

from recbias.book.chapters.multiverse.setup import DECISIONS, option_words
from recbias.book.chapters.multiverse.told import LEVEL, Options, systems_of
from recbias.book.explorer import Axis, Choice, Shown
from recbias.experiment.makers import Table

BRUSHED = ("A2", "C1", "C2")
"""Decisions of which readers choose an option; all options of the others stay."""

_ANY = "any"
_POINTS = (0, 10, 25, 50, 75, 90, 100)
"""Percent of the universes at which the curve is shown."""


def brushed(crossed: Table, options: Options) -> tuple[list[Axis], dict[Choice, Shown | str]]:
    """Give axes, and what is shown of the universes with the options that are chosen."""
    against = systems_of(crossed)
    axes = [Axis("kNN against", {str(n): name for n, name in enumerate(against)})]
    for decision in BRUSHED:
        words = {str(n): option_words(decision, t) for n, t in enumerate(options[decision])}
        axes.append(Axis(DECISIONS[decision], {_ANY: "all of them", **words}))
    shown: dict[Choice, Shown | str] = {}
    for choice in product(*(axis.options for axis in axes)):
        rows = crossed.frame[crossed.frame["against"] == against[int(choice[0])]]
        named = []
        for decision, code in zip(BRUSHED, choice[1:], strict=True):
            if code != _ANY:
                rows = rows[rows[decision] == int(code)]
                named.append(option_words(decision, options[decision][int(code)]))
        rows = rows.drop_duplicates("universe")
        where = ", ".join(named) or "all universes"
        if rows.empty:
            shown[choice] = f"No universe can be measured with {where}."
        else:
            shown[choice] = _shown(rows, against[int(choice[0])], where)
    return axes, shown


def _shown(rows: pd.DataFrame, against: str, where: str) -> Shown:
    ahead = np.quantile(rows["effect"].abs() * rows["sign"], [point / 100 for point in _POINTS])
    values = {
        f"{point} % of the way": (float(value), np.nan, np.nan)
        for point, value in zip(_POINTS, ahead, strict=True)
    }
    sign, sure = rows["sign"], rows["p"] < LEVEL
    counts = [int(((sign == which) & sure).sum()) for which in (1, -1)]
    note = (
        f"kNN is ahead of {against} in {int((sign > 0).sum())} of {len(rows)} universes, surely in "
        f"{counts[0]}; {against} is ahead in {int((sign < 0).sum())}, surely in {counts[1]}. "
        + _verdict(*counts)
    )
    return Shown(
        values=values, metric="kNN ahead, in standard deviations of users' differences",
        title=where, words=f"{where}: universes from the worst for kNN to the best", note=note,
    )  # fmt: skip


def _verdict(wins: int, loses: int) -> str:
    """Say what may be written of these universes."""
    if wins and loses:
        return "Both can be published as sure: report the options, and both."
    if wins or loses:
        return "Only one of both can be published as sure."
    return "Neither is sure anywhere."
