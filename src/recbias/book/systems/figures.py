"""The figures of the page on systems: what a name and its parameters decide."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pandas as pd
from matplotlib.figure import Figure as Picture

from recbias.book.figures import NARROW, Figure, bars, dots
from recbias.book.html import number_word
from recbias.book.systems.readings import factor_text
from recbias.book.systems.sensitivity import spans
from recbias.book.systems.validation import MEASURES
from recbias.experiment.run import Results
from recbias.recommenders import System


def one_name(named: Results) -> Figure:
    """Show what the readings of one name score, the best on top, each with its value."""
    (label,) = named.grid.by_label
    metric, *others = MEASURES

    def message(rows: pd.DataFrame) -> str:
        least, most = rows["value"].min(), rows["value"].max()
        apart = f"a factor of {factor_text(most, least)}" if least else "and one never hits"
        return (
            f'{number_word(len(rows)).capitalize()} algorithms called "user kNN, cosine":\n'
            f"{metric} from {least:.3g} to {most:.3g}, {apart}"
        )

    table = named.table(label, metric)[["value", "low", "high"]]
    for other in others:
        beside = named.table(label, other)[["value", "low", "high"]]
        table = table.join(beside.add_prefix(f"{other} "))
    table = table.sort_values("value", ascending=False, kind="stable")
    return Figure(
        "one_name",
        table.reset_index(names="system"),
        message,
        'Bars of precision with 95 percent intervals, one for each reading of "user kNN, cosine", '
        "the best on top.",
        partial(bars, row="system", across=metric, numbers=".4f", width=NARROW),
        f"one-name-{named.dataset['name']}",
    )


def sensitivity(
    single: Results, values: pd.DataFrame, systems: Sequence[System], *, metric: str
) -> Figure:
    """Show how far each system's value and its rank move with its parameters."""

    def message(rows: pd.DataFrame) -> str:
        moved = spans(rows, systems)
        ends = list(zip(map(str, moved.index), moved["best"], moved["worst"], strict=True))
        widest, best, worst = max(ends, key=lambda row: row[2] - row[1])
        if best == worst:
            return "No parameter that was moved\nchanges the rank of a system"
        return f"One parameter moves {widest}\nbetween rank {best} and rank {worst} of {len(moved)}"

    return Figure(
        "sensitivity",
        values,
        message,
        "For each system of the line-up the range of its precision and of its rank as one "
        "parameter at a time is changed.",
        partial(_draw_ranges, systems=systems, metric=metric),
        f"sensitivity-{single.dataset['name']}",
    )


def _draw_ranges(
    rows: pd.DataFrame, *, title: str, systems: Sequence[System], metric: str
) -> Picture:
    """Draw each system at its own parameters, and how far it moves."""
    moved = spans(rows, systems).rename_axis("system").reset_index()
    columns = {metric: ("own", "least", "most"), "rank in the line-up": ("rank", "best", "worst")}
    panels = [
        moved[["system", *names]].set_axis(["system", "value", "low", "high"], axis=1)
        for names in columns.values()
    ]
    both = pd.concat(panels, keys=list(columns), names=["panel"]).reset_index("panel")
    return dots(both.reset_index(drop=True), title=title, row="system", share_x=False)
