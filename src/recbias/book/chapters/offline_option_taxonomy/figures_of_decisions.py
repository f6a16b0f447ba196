"""The figures of chapter 7 about many systems: what decisions reverse, and who is right."""

from __future__ import annotations

import textwrap
from functools import partial

import numpy as np
import pandas as pd

from recbias.book.chapters.offline_option_taxonomy.decisions import (
    NOISE,
    alternative_name,
)
from recbias.book.chapters.offline_option_taxonomy.truths import shares_of
from recbias.book.figures import Figure, differences, parts
from recbias.claims.quantities import over_worlds
from recbias.experiment.makers import Table

_BASE = "the default"


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
    frame = frame[~frame["decision"].isin((NOISE, "D"))]
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
            most=1.05 * float(np.nanmax([rows[differs].max(), noise, 10])),
        ),
        "reversals",
    )  # fmt: skip


_RELATIONS = {1: "popular: liked", 0: "unrelated", -1: "disliked"}


def worlds(table: Table) -> Figure:
    """Compare with the default how well each alternative agrees with the truth about pairs."""

    def message(rows: pd.DataFrame) -> str:
        wide = rows.groupby("row", sort=False)
        better = (wide["low"].max() > 0) & ~(wide["high"].min() < 0)
        names = ", ".join(str(row).partition(" ")[2] for row in better.index[better])
        if not names:
            return "No alternative is surely better in some kind of worlds\nand worse in none"
        return "Surely better in some worlds, and worse in none:\n" + textwrap.fill(names, 52)

    rows = []
    for relation, frame in table.frame.groupby("relation", sort=False):
        panel = _RELATIONS[int(np.sign(float(str(relation))))]
        wide = 100 * shares_of(frame, "agreement")
        options = frame.drop_duplicates("option")[["decision", "option"]]
        for decision, option in options.itertuples(index=False):
            if decision in ("D", _BASE):
                continue
            base = "condensed" if decision == "C2C" else _BASE
            gap = over_worlds((wide[option] - wide[base]).dropna().to_numpy(float))
            name = alternative_name(decision, option)
            rows.append((panel, decision, name, gap.value, *gap.interval))
    return Figure(
        "worlds",
        pd.DataFrame(rows, columns=["panel", "group", "row", "value", "low", "high"]),
        message,
        "Three panels, one for each relation of popularity with liking: how much better each "
        "alternative agrees with the truth about pairs of systems than the default.",
        partial(differences, winners=("agrees better", "agrees less"), across="% of pairs"),
        "worlds",
    )
