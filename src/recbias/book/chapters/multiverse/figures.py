"""The figures of chapter 8: curves, options, what turns the winner, pairs, and what worlds say."""

from __future__ import annotations

import textwrap
from functools import partial

import numpy as np
import pandas as pd

from recbias.book.chapters.multiverse.setup import option_words
from recbias.book.chapters.multiverse.told import (
    BY_COUNT,
    BY_TRUST,
    Options,
    ahead,
    along_curve,
    called,
    distinct,
    first_of,
    robust_by_effect,
    share_of,
    systems_of,
    turned,
)
from recbias.book.figures import NARROW, Figure, dots, lines, matrix
from recbias.book.findings import said
from recbias.experiment.makers import Table

_POINTS = 61
"""Places of a curve that are drawn."""
_BEATS = {
    "MULTIVERSE-KNN": "kNN beats MF in {value} of the universes",
    "MULTIVERSE-KNN-SWAPPED": "and MF (as in RankSys) in {value}",
}
"""What the title says of the records of the sentences below the figure."""
_DECISIONS = 4
"""Decisions whose options are drawn side by side."""


def _titled(text: str) -> str:
    """Break a title into lines that fit a narrow figure."""
    return "\n".join(textwrap.wrap(text.replace("%", "\N{NO-BREAK SPACE}%"), 42))


def curves(crossed: Table) -> Figure:
    """Show the universes of a comparison in the order of how far the first system is ahead."""
    first, rows = first_of(crossed), []
    for against in systems_of(crossed):
        curve = ahead(crossed, against)
        for at in np.linspace(0, 1, _POINTS):
            own = curve.iloc[round(at * (len(curve) - 1))]
            rows.append((f"against {against}", 100 * at, own["ahead"], own["low"], own["high"]))
    counted = {against: distinct(crossed, against) for against in systems_of(crossed)}
    sentences = (
        said(f"own/{name}", {"crossed": crossed}, holds=form, refuted=form, open=form)
        for name, form in _BEATS.items()
    )
    told = [sentence for sentence in sentences if sentence]

    def message(_: pd.DataFrame) -> str:
        if told:
            return ",\n".join(told)
        return "\n".join(
            _titled(f"{first} beats {against} in {(table['sign'] > 0).mean():.0%} of the universes")
            for against, table in counted.items()
        )

    return Figure(
        "curves",
        pd.DataFrame(rows, columns=["line", "at", "value", "low", "high"]),
        message,
        f"Lines of how far {first} is ahead in standard deviations of users' differences, over the "
        "universes in this order, one for each system that it is compared with, with bands of the "
        "universes' 95 % intervals.",
        partial(
            lines, points=False, level=0.0, across="percent of the universes",
            up="ahead, in std. deviations", width=NARROW,
        ),
        "multiverse-curves",
    )  # fmt: skip


def along(crossed: Table, options: Options) -> Figure:
    """Show which options the universes have, from the worst for the first system to the best.

    Decisions are those of `by_option`.
    """
    first, frames = first_of(crossed), []
    for against in systems_of(crossed):
        for decision in _differing(crossed, options):
            own = along_curve(crossed, against, options, decision)
            names = [f"{decision[:2]} {option_words(decision, str(t))}" for t in own["option"]]
            frames.append(
                own.assign(
                    panel=f"against {against}", row=names, column=[str(n + 1) for n in own["part"]],
                    value=own["share"], text=[f"{100 * share:.0f}" for share in own["share"]],
                )
            )  # fmt: skip
    columns = ["panel", "row", "column", "value", "text"]
    rows = pd.concat(frames, ignore_index=True)[columns]

    def message(rows: pd.DataFrame) -> str:
        worst, best = (rows[rows["column"] == end] for end in ("1", rows["column"].max()))
        joined = worst.merge(best, on=["panel", "row"], suffixes=("", " at best"))
        most = (joined["value"] - joined["value at best"]).abs().argmax()
        told = joined.iloc[most]
        return _titled(
            f"{told['row']}: {told['value']:.0%} of the fifth that is worst for {first}, "
            f"{told['value at best']:.0%} of the best, {told['panel']}"
        )

    return Figure(
        "along",
        rows,
        message,
        f"Cells of the percentage of each fifth of the universes, from the worst for {first} to "
        "the best, that has an option, a panel for each system that it is compared with.",
        partial(
            matrix, row="row", column="column", colours="Blues", scale=(0, 1.4), a_row=0.26,
            labels=("fifths, worst first", ""), width=NARROW,
        ),
        "multiverse-along",
    )  # fmt: skip


def _differing(crossed: Table, options: Options) -> list[str]:
    """Name the decisions whose options differ most in how often the first system wins."""
    spread = {
        decision: max(
            float(np.ptp(wins)) if len(wins) else 0.0
            for against in systems_of(crossed)
            for wins in [share_of(crossed, against, options, decision)["wins"]]
        )
        for decision in options
    }
    most = pd.Series(spread).sort_values(ascending=False, kind="stable").index[:_DECISIONS]
    return [decision for decision in options if decision in most]


def by_option(crossed: Table, options: Options) -> Figure:
    """Show in which share of its universes an option makes the first system win.

    Decisions are those whose options differ most.
    """
    first, frames = first_of(crossed), []
    for against in systems_of(crossed):
        for decision in _differing(crossed, options):
            own = share_of(crossed, against, options, decision)
            names = [f"{decision[:2]} {option_words(decision, str(t))}" for t in own["option"]]
            frames.append(
                own.assign(
                    row=names, group=decision, line=f"against {against}", value=100 * own["wins"]
                )
            )
    rows = pd.concat(frames, ignore_index=True)[["row", "group", "line", "value"]]

    def message(rows: pd.DataFrame) -> str:
        spread = rows.groupby(["line", "group"])["value"].agg(np.ptp).groupby("group").max()
        return (
            _titled(
                f"One option of {spread.idxmax()} gives {first} {spread.max():.0f} points more of "
                "the universes than another"
            )
            if spread.max() >= 0.5
            else _titled(f"No option gives {first} more universes than another")
        )

    return Figure(
        "by_option",
        rows,
        message,
        f"Dots of the percentage of the universes with an option in which {first} wins, a row for "
        "each option of the four decisions that turn most, one dot for each system that it is "
        "compared with.",
        partial(dots, levels=(50,), width=NARROW, across="percent of universes won"),
        "multiverse-options",
    )


def turning(crossed: Table, options: Options) -> Figure:
    """Show which decisions turn the winner, alone and by two, from where the paper starts.

    Each two of them stand there once.
    """
    frames = []
    for against in systems_of(crossed):
        own = turned(crossed, against, options, surely=False)
        frames.append(own.assign(panel=f"against {against}"))
    rows = pd.concat(frames, ignore_index=True)
    rows["value"] = np.where(rows["ways"] > 0, 1.0, 0.0)
    rows["text"] = rows["ways"].astype(str)

    def message(rows: pd.DataFrame) -> str:
        alone = rows["first"] == rows["second"]
        n_alone = int((rows["ways"] > 0)[alone].sum())
        n_two = int((rows["ways"] > 0)[~alone].sum())
        n, n_pairs = int(alone.sum()), int((~alone).sum())
        return (
            f"{n_alone} of {n} times one decision turns the winner,\n"
            f"{n_two} of {n_pairs} times two that are both changed"
        )

    return Figure(
        "turning",
        rows,
        message,
        "Cells of how many ways there are to turn the winner of the start by changing one decision "
        "(diagonal) or two, a panel for each system that the first is compared with.",
        partial(
            matrix, row="first", column="second", names=(list(options), list(options)),
            colours="Blues", scale=(0, 2), upright=True, width=NARROW,
        ),
        "multiverse-turning",
    )  # fmt: skip


def by_effect(pairs: Table) -> Figure:
    """Show which share of all pairs has a winner in nine of ten universes, by effect."""

    def message(rows: pd.DataFrame) -> str:
        counts = {
            line: int((own["n"] * own["value"] / 100).round().sum())
            for line, own in rows.groupby("line", sort=False)
        }
        n = int(rows["n"].sum()) // len(counts)
        return _titled(
            f"Of {n} pairs of systems {counts[BY_COUNT]} have one winner in nine of ten universes, "
            f"{counts[BY_TRUST]} by trust"
        )

    return Figure(
        "by_effect",
        robust_by_effect(pairs),
        message,
        "Dots of the percentage of pairs of systems with one winner in nine of ten universes, by "
        "the size of the effect at the start.",
        partial(
            dots, row="effect", from_zero=True, levels=(100,), width=NARROW,
            across="percent of pairs with one winner",
        ),
        "multiverse-pairs",
    )  # fmt: skip


def calibration() -> Figure:
    """Show how often what is called robust is true, in worlds kept apart."""

    def message(rows: pd.DataFrame) -> str:
        own = rows[rows["line"] == BY_TRUST].set_index("row")["value"]
        return _titled(
            f"Called robust by trust, and true: {own.min():.0f}% at least, where popular items "
            f"are {own.idxmin()}"
            if own.max() - own.min() >= 0.5
            else f"Called robust by trust, and true: {own.min():.0f}% in all kinds of worlds"
        )

    return Figure(
        "calibration",
        called(),
        message,
        "Dots of the percentage of comparisons called robust that are true, in worlds kept apart, "
        "by relation of popularity and liking and by weights.",
        partial(dots, levels=(85,), apart=True, width=NARROW, across="percent that are true"),
        "multiverse-calibration",
    )
