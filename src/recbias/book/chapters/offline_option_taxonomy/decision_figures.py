"""What the figures of chapter 7 show of many systems: what decisions reverse, and who is right."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping

import numpy as np
import pandas as pd

from recbias.book.chapters.offline_option_taxonomy.decisions import NOISE
from recbias.book.chapters.offline_option_taxonomy.truths import shares_of
from recbias.claims.quantities import over_worlds
from recbias.experiment.makers import Table

_BASE = "the default"


def alternative_name(decision: str, option: str) -> str:
    """Name an alternative in few characters, as figures and tables do.

    Examples
    --------
    >>> alternative_name("A2", "ratio 0.2"), alternative_name("the default", "the default")
    ('A2 train on 80 %', 'the default')
    """
    if decision in (NOISE, option):
        return option
    return f"{decision} {_NAMES.get(option, option)}"


_NAMES: Mapping[str, str] = {
    "ratio 0.2": "train on 80 %",
    "ratio 0.8": "train on 20 %",
    "leave-out 1": "one test rating each",
    "uniform 0.2": "uniform over items",
    "temporal-user 0.2": "newest of each user",
    "temporal 0.2": "newest of all",
    "users>=50": "users from 50",
    "items>=10": "items from 10",
    "head=5%": "without the head",
    "filled, average-rating": "filled, mean rating",
}
"""How an alternative is called where its text is no words."""


def reversal_bars(decisions: Table) -> pd.DataFrame:
    """Lay out how many pairs of systems each alternative to the default reverses."""
    frame = decisions.frame
    frame = frame[~frame["decision"].isin((NOISE, "D"))]
    changed = frame["moved"] > 0
    names = zip(frame["decision"], frame["option"], strict=True)
    return pd.DataFrame(
        {
            "group": frame["decision"],
            "row": [alternative_name(*name) for name in names],
            "value": (100 * frame["reversed"] / frame["pairs"]).where(changed),
            "raw": (100 * frame["turned"] / frame["pairs"]).where(changed),
        }
    ).reset_index(drop=True)


def reversal_noise(decisions: Table) -> float:
    """Read what percentage of the pairs have another sign in another split."""
    (row,) = decisions.frame[decisions.frame["decision"] == NOISE].to_dict("records")
    return float(100 * row["turned"] / row["pairs"])


def reversal_title(bars: pd.DataFrame, noise: float) -> str:
    """Count the alternatives that turn more signs than another split does."""
    more = int((bars["raw"] > noise).sum())
    noise_text = f"than another split does ({noise:.0f} %)"
    return f"{more} of {len(bars)} alternatives turn more pairs\n{noise_text}"


_RELATIONS: Mapping[int, str] = {1: "popular: liked", 0: "unrelated", -1: "disliked"}


def world_shares(worlds: Table) -> pd.DataFrame:
    """Compare with the default how well each alternative agrees with the truth about pairs."""
    rows = []
    for relation, frame in worlds.frame.groupby("relation", sort=False):
        panel = _RELATIONS[int(np.sign(float(str(relation))))]
        wide = 100 * shares_of(frame, "agreement")
        options = frame.drop_duplicates("option")[["decision", "option"]]
        for decision, option in options.itertuples(index=False):
            if decision in ("D", _BASE):
                continue
            base = "condensed" if decision == "C2C" else _BASE
            gap = over_worlds((wide[option] - wide[base]).dropna().to_numpy(float))
            rows.append(
                (panel, decision, alternative_name(decision, option), gap.value, *gap.interval)
            )
    return pd.DataFrame(rows, columns=["panel", "group", "row", "value", "low", "high"])


def world_title(shares: pd.DataFrame) -> str:
    """Name the alternatives that are surely better in some kind of worlds, and worse in none."""
    wide = shares.groupby("row", sort=False)
    better = (wide["low"].max() > 0) & ~(wide["high"].min() < 0)
    names = ", ".join(str(row).partition(" ")[2] for row in better.index[better])
    if not names:
        return "No alternative is surely better in some kind of worlds\nand worse in none"
    return "Surely better in some worlds, and worse in none:\n" + textwrap.fill(names, 52)
