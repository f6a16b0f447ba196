"""The figures of chapter 7 about many systems: what decisions reverse, and who is right."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd

from recbias.book.chapters.offline_option_taxonomy.decisions import (
    NOISE,
    alternative_name,
)
from recbias.book.chapters.offline_option_taxonomy.tables import untold_by_merged, worlds_rows
from recbias.book.figures import NARROW, Figure, dots, parts
from recbias.book.findings import said
from recbias.experiment.makers import Table


def reversals(decisions: Table) -> Figure:
    """Show how many pairs of systems each alternative to the default reverses."""
    differs, both = "sign differs", "both significant"

    def message(rows: pd.DataFrame) -> str:
        more = int((rows[differs] > noise).sum())
        return (
            f"{more} of {len(rows)} alternatives turn more pairs\n"
            f"than another split does ({noise:.0f} %)"
        )

    frame = decisions.frame
    (other,) = frame[frame["decision"] == NOISE].to_dict("records")
    noise = float(100 * other["turned"] / other["pairs"])
    untold = pd.Series(untold_by_merged(decisions), frame.index)
    frame = frame[~frame["decision"].isin((NOISE, "D")) & ~untold]
    changed, names = frame["moved"] > 0, zip(frame["decision"], frame["option"], strict=True)
    rows = pd.DataFrame(
        {
            "group": frame["decision"],
            "row": [alternative_name(*name) for name in names],
            differs: (100 * frame["turned"] / frame["pairs"]).where(changed),
            both: (100 * frame["reversed"] / frame["pairs"]).where(changed),
        }
    )
    return Figure(
        "reversals",
        rows.reset_index(drop=True),
        message,
        "A bar for each alternative to the default: the share of the pairs of systems whose sign "
        "differs, and of those that are significantly reversed.",
        partial(
            parts, colours={differs: "0.8", both: "C1"}, stacked=False, missing="no effect here",
            across="% of the pairs", levels={"another split": noise},
            most=1.05 * float(np.nanmax([rows[differs].max(), noise, 10])), width=NARROW,
        ),
        "reversals",
    )  # fmt: skip


_SHOWN = (
    ("A2", "ratio 0.2"),
    ("A2", "uniform 0.2"),
    ("C1", "condensed"),
    ("C2", "P@10"),
    ("C2", "nDCG@50"),
    ("C2C", "tau"),
    ("C3", "by ratings"),
    ("C3", "median"),
)
"""The options of a figure, some for each decision that matters in worlds; a table has all."""


def worlds(table: Table) -> Figure:
    """Compare with the default how well alternatives agree with the truth about pairs."""
    results = {"worlds": table}
    condensed = said(
        "own/WORLDS-CONDENSED",
        results,
        holds="Condensed lists are nearer to the truth",
        refuted="Condensed lists are no nearer to the truth",
        open="Condensed lists may be nearer to the truth",
    )
    shown = [alternative_name(*name) for name in _SHOWN]
    rows = worlds_rows(table)

    def message(rows: pd.DataFrame) -> str:
        own = rows.loc[rows["row"] == alternative_name("C1", "condensed"), "value"]
        gains = ", ".join(f"{gain:+.0f}".replace("-", "\N{MINUS SIGN}") for gain in own)
        return f"{condensed}\n(right \N{MINUS SIGN} wrong: {gains} points)"

    return Figure(
        "worlds",
        rows[rows["row"].isin(shown)].reset_index(drop=True),
        message,
        "A row for each alternative and a mark for each relation of popularity with liking: how "
        "much better it agrees with the truth about pairs of systems than the default.",
        partial(dots, levels=(0,), across="points of (right \N{MINUS SIGN} wrong)", width=NARROW),
        "worlds",
    )
