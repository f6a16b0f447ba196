"""The figures of chapter 5 about judgments: how many it takes, and which metric to trust."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise, product

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as Picture

from recbias.book.chapters.popularity_bias.concentration import short_title
from recbias.book.chapters.true_vs_false_positive_disagreement.judgment_tables import (
    METRICS,
    needed,
)
from recbias.book.chapters.true_vs_false_positive_disagreement.judgments import TARGETS
from recbias.book.chapters.true_vs_false_positive_disagreement.trusted import kinds_of_worlds
from recbias.book.figures import NARROW, Figure, dots, lines, parts
from recbias.data.datasets import dataset_info
from recbias.experiment.makers import Table

_COURSE = ["panel", "line", "at", "value", "low", "high", "least", "most"]
_OVER_JUDGMENTS = partial(
    lines, points=False, log=True, across="judgments per user", share_y=True, height=3.3,
    width=NARROW,
)  # fmt: skip


def _joined(rows: Sequence[pd.DataFrame], *more: str) -> pd.DataFrame:
    """Put rows together; where nothing is at hand there are only columns."""
    columns = [*_COURSE, *more]
    return pd.concat(rows, ignore_index=True)[columns] if rows else pd.DataFrame(columns=columns)


_NEEDED = ("needed", "fewest", "most_needed")
"""How many judgments an order takes, and its interval."""


def judged_orders(tables: Mapping[str, Table], cutoff: int) -> Figure:
    """Follow the expected tau with the true order over the number of judgments."""
    target = TARGETS[-1]

    def message(rows: pd.DataFrame) -> str:
        if rows.empty:
            return "No data with random judgments are at hand"
        own = rows[rows["line"] == rows["line"].iloc[0]]
        (hits, range_of_hits), (misses, range_of_misses) = (
            (f"{one['needed']:.0f}", f"({one['fewest']:.0f} to {one['most_needed']:.0f})")
            for one in (panel.iloc[0] for _, panel in own.groupby("panel", sort=False))
        )
        return (
            f"{own['line'].iloc[0]}, for $\\tau$ = {target:g}: {hits} judgments per user\n"
            f"{range_of_hits} by P, {misses} {range_of_misses} by antiP"
        )

    rows = [
        table.select(metric=metric, quantity="truth").assign(
            panel=f"{metric}@{cutoff}",
            line=name,
            **dict(zip(_NEEDED, needed(table, metric, target), strict=True)),
        )
        for name, table in tables.items()
        for metric in METRICS
    ]
    return Figure(
        "judgments",
        _joined(rows, *_NEEDED),
        message,
        "Expected Kendall tau with the true order over the number of random judgments per user, "
        "a panel for precision and one for anti-precision, with bands and bounds.",
        partial(
            _OVER_JUDGMENTS, level=target, bounds="bounds without a model",
            up={f"P@{cutoff}": "expected $\\tau$ with the truth"},
        ),
        "judgments",
    )  # fmt: skip


_MIXED = {"alone": "random judgments alone", "mixed": "with the observed ratings"}


def mixed_orders(tables: Mapping[str, Table], cutoff: int) -> Figure:
    """Follow tau with the order of other judgments, with and without observed ratings."""

    def message(rows: pd.DataFrame) -> str:
        words = []
        for panel, own in rows.dropna(subset="ahead").groupby("panel", sort=False):
            metric = str(panel).partition("@")[0]
            helped = own.loc[own["ahead"] < 0, "at"]
            if helped.empty:
                words.append(f"harm {metric}")
            elif len(helped) == len(own):
                words.append(f"help {metric}")
            else:
                words.append(f"help {metric} up to {helped.max():.0f} judgments")
        told = ",\n".join(words)
        return f"Observed ratings {told}"

    rows = []
    for table, metric in product(list(tables.values())[:1], METRICS):
        ahead = table.select(metric=metric, quantity="ahead").set_index("at")["value"]
        for quantity, words in _MIXED.items():
            course = table.select(metric=metric, quantity=quantity)
            course = course[course["at"] > 0].sort_values("at")
            alone = course["at"].map(ahead) if quantity == "alone" else np.nan
            rows.append(course.assign(panel=f"{metric}@{cutoff}", line=words, ahead=alone))
    return Figure(
        "mixed",
        _joined(rows, "ahead"),
        message,
        "Kendall tau with the order by other random judgments, of random judgments alone and of "
        "random judgments together with observed ratings, a panel for each metric.",
        partial(_OVER_JUDGMENTS, up={f"P@{cutoff}": "$\\tau$ with other judgments"}),
        "judgments-mixed",
    )


# -- which metric to trust -------------------------------------------------------------------------


_COMPATIBLE, _TRUE = "what the ratings allow", "the truth"


def compatible(answers: Table, points: Table, ranges: Table) -> Figure:
    """Show which relations ratings allow, beside the true one and the answer where it is known."""

    def message(rows: pd.DataFrame) -> str:
        both = rows.pivot_table(index="row", columns="line", values=["value", "low", "high"])
        both = both.dropna()
        true = both["value", _TRUE]
        outside = int((~true.between(both["low", _COMPATIBLE], both["high", _COMPATIBLE])).sum())
        lies = "lies" if outside == 1 else "lie"
        return f"{outside} of {len(both)} true relations {lies} outside what\nthe ratings allow"

    rows = []
    for own in answers.frame.to_dict("records"):
        row = f"{short_title(dataset_info(own['dataset']).title)}: {own['answer']}"
        true = points.select(dataset=own["dataset"], quantity="relation").iloc[0]
        rows.append((row, _COMPATIBLE, (own["low"] + own["high"]) / 2, own["low"], own["high"]))
        rows.append((row, _TRUE, true["value"], true["low"], true["high"]))
    for own in ranges.select(quantity="relation").to_dict("records"):
        row = short_title(dataset_info(own["dataset"]).title)
        rows.append((row, _COMPATIBLE, (own["low"] + own["high"]) / 2, own["low"], own["high"]))
    return Figure(
        "compatible",
        pd.DataFrame(rows, columns=["row", "line", "value", "low", "high"]),
        message,
        "Intervals of the relation of popularity and liking that the ratings of data sets allow, "
        "with the true one where it is known.",
        partial(
            dots, keyed=(_COMPATIBLE, _TRUE), marks="|D", levels=(0,), width=NARROW,
            across="liked less (\N{MINUS SIGN}), more (+)",
        ),
        "relations-allowed",
    )  # fmt: skip


_ANSWERS = {
    "antiP, rightly": "C1",
    "either, rightly": "C2",
    "P, rightly": "C0",
    "a wrong answer": "black",
    "cannot tell": "0.85",
}
"""What may be told of a world, and its colour."""


def answers(trust: Table) -> Figure:
    """Show which answers are given in worlds of each relation."""

    def message(rows: pd.DataFrame) -> str:
        kinds = kinds_of_worlds(rows)
        anti, hits = (
            float((kinds[kind]["answer"] == name).mean())
            for kind, name in (("opposed", "antiP"), ("agreeing", "P"))
        )
        return (
            f"Popular items liked less: it names antiP in {anti:.0%},\n"
            f"liked more: it names P in {hits:.0%} of the worlds"
        ).replace("%", " %")

    return Figure(
        "answers",
        trust.frame,
        message,
        "Stacked bars over the relation of popularity and liking: in what share of the worlds "
        "antiP or P is named, rightly or wrongly, and in what share the command cannot tell.",
        _draw_answers,
        "answers",
    )


def _draw_answers(rows: pd.DataFrame, *, title: str) -> Picture:
    """Draw the shares of the answers in ten equal parts of the relation."""
    edges = np.linspace(-1, 1, 11)
    place = np.clip(np.digitize(rows["relation"], edges) - 1, 0, len(edges) - 2)
    right = rows["answer"] == rows["right"]
    told = (rows["answer"] + ", rightly").where(right, "a wrong answer")
    told = told.where(rows["answer"] != "cannot tell", "cannot tell")
    names = [
        f"{low:.1f} to {high:.1f}".replace("-", "\N{MINUS SIGN}") for low, high in pairwise(edges)
    ]
    shares = pd.crosstab(place, told, normalize="index").reindex(range(len(names)))
    colours = {name: colour for name, colour in _ANSWERS.items() if name in shares}
    return parts(
        shares.assign(row=names), title=title, colours=colours, most=1,
        across="share of the worlds", down="relation of popularity and liking", width=NARROW,
    )  # fmt: skip
