"""The explorer of chapter 8: the curve of universes, brushed by option, in words and bars."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd

from recbias.book.chapters.multiverse.setup import DECISIONS, option_words
from recbias.book.chapters.multiverse.told import LEVEL, Options, first_of, systems_of
from recbias.book.explorer import Axis, Choice, Shown
from recbias.experiment.makers import Table

BRUSHED = ("A2", "C1", "C2")
"""Decisions of which readers choose an option; all options of the others stay."""

_ANY = "any"
_METRICS = {_ANY: "all metrics"}
PLACES = {
    "worst of all": 0,
    "worst tenth ends": 10,
    "worst quarter ends": 25,
    "middle": 50,
    "best quarter begins": 75,
    "best tenth begins": 90,
    "best of all": 100,
}
"""Places on the curve, from the worst universe of the first system, in percent of the way."""


def brushed(crossed: Table, options: Options) -> tuple[list[Axis], dict[Choice, Shown | str]]:
    """Give axes, and what is shown of the universes with the options that are chosen."""
    first, against = first_of(crossed), systems_of(crossed)
    axes = [Axis(f"{first} against", {str(n): name for n, name in enumerate(against)})]
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
            names = first, against[int(choice[0])]
            shown[choice] = _shown(
                rows, names, where, _METRICS.get(choice[-1], axes[-1].options[choice[-1]])
            )
    return axes, shown


def _shown(rows: pd.DataFrame, names: tuple[str, str], where: str, metric: str) -> Shown:
    first, against = names
    ahead = (rows["effect"].abs() * rows["sign"]).fillna(0.0)
    found = np.quantile(ahead, [place / 100 for place in PLACES.values()])
    values = {
        name: (float(value), np.nan, np.nan) for name, value in zip(PLACES, found, strict=True)
    }
    sign, sure = rows["sign"], rows["p"] < LEVEL
    counts = [int(((sign == which) & sure).sum()) for which in (1, -1)]
    note = (
        f"{first} is ahead of {against} in {int((sign > 0).sum()):,} of {len(rows):,} universes, "
        f"surely in {counts[0]:,}; {against} is ahead in {int((sign < 0).sum()):,}, surely in "
        f"{counts[1]:,}. {_verdict(*counts)}"
    )
    return Shown(
        values=values,
        metric=f"ahead in std. deviations ({metric})",
        title=f"against {against}: {where}",
        words=f"{where}, from the worst universe for {first} to the best",
        note=note,
    )


def _verdict(wins: int, loses: int) -> str:
    """Say what may be written of these universes."""
    if wins and loses:
        return "Both can be published as sure: report the options, and both."
    if wins or loses:
        return "Only one of both can be published as sure."
    return "Neither is sure anywhere."
