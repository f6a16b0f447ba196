"""Which test is nearest to the truth in each kind of worlds, for the explorer.

Everything is read from the table of `worlds`: what each test has there, with its interval over
worlds, and from `best_protocols`, who is ahead of all others. Nothing is drawn.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import product
from typing import Any

import pandas as pd

from recbias.book.chapters.overcoming_popularity_bias.best import LIKES_ONLY, best_protocols
from recbias.book.chapters.overcoming_popularity_bias.worlds import (
    PROTOCOLS,
    TRUTHS,
    WORLDS,
    column,
)
from recbias.book.explorer import Axis, Choice, Shown
from recbias.claims.quantities import over_worlds
from recbias.experiment.makers import Table

READINGS = dict(zip(TRUTHS, ("by the first ten", "by all items"), strict=True))
"""What the truth is read as, in words."""

_CODES = dict(zip(("ten", "all"), TRUTHS, strict=True))

START: Choice = ("ten", f"{WORLDS['at_skew']:g}", "0")
"""What is shown first, and with what orders of tests are compared: nothing is related."""

AGAINST = f"of tests {READINGS[_CODES[START[0]]]} at skew {START[1]} and relation {START[2]}"
"""That combination in words."""


def axes(worlds: Table) -> tuple[Axis, ...]:
    """List what readers choose: how the truth is read, and the kind of worlds."""
    frame = _usual(worlds)
    relations, skews = (sorted(frame[name].unique()) for name in ("relation", "skew"))
    return (
        Axis("truth", {code: READINGS[truth] for code, truth in _CODES.items()}),
        Axis("skew: ratings piled up on few items", {f"{each:g}": f"{each:g}" for each in skews}),
        Axis(
            "relation: popular items are liked less (\N{MINUS SIGN}1) or more (1)",
            {f"{each:g}": _signed(each) for each in relations},
            slider=True,
        ),
    )


def nearest(worlds: Table) -> dict[Choice, Shown]:
    """Give what is shown for each choice: a row for each test, and which of them is nearest."""
    frame = _usual(worlds)
    shown: dict[Choice, Shown] = {}
    for code, truth in _CODES.items():
        every, likes = (
            best_protocols(worlds, truth, names=names).to_dict("records")
            for names in (tuple(PROTOCOLS), LIKES_ONLY)
        )
        for of_all, of_likes in zip(every, likes, strict=True):
            relation, skew = of_all["relation"], of_all["skew"]
            rows = frame[(frame["relation"] == relation) & (frame["skew"] == skew)]
            means = {name: over_worlds(list(rows[column(name, truth)])) for name in PROTOCOLS}
            shown[code, f"{skew:g}", f"{relation:g}"] = Shown(
                values={name: (mean.value, *mean.interval) for name, mean in means.items()},
                metric="\N{GREEK SMALL LETTER TAU} with the truth",
                title=_signed(relation),
                words=f"{_related(relation)}, at skew {skew:g}; truth {READINGS[truth]}",
                note=f"{_note(of_all, len(PROTOCOLS))} With likes alone: "
                f"{_note(of_likes, len(LIKES_ONLY))}",
            )
    return {codes: shown[codes] for codes in product(*(axis.options for axis in axes(worlds)))}


def _usual(worlds: Table) -> pd.DataFrame:
    """Take the worlds in which users choose as they usually do, as `best_protocols` does."""
    return worlds.frame[worlds.frame["choice"] == 1]


def _note(region: Mapping[Hashable, Any], n_names: int) -> str:
    """Say which test is nearest, how sure that is, and whether it is near at all."""
    others = region["others"]
    if not others:
        text = f"{region['best']} is surely nearest to the truth."
    else:
        among = "any other" if len(others) == n_names - 1 else _listed(others)
        text = f"{region['best']} is nearest, and cannot be told apart from {among}."
    return text + (" A coin may do as well." if region["low"] <= 0 else "")


def _related(relation: float) -> str:
    if relation == 0:
        return "popular items are liked as much as others (relation 0)"
    more = "more" if relation > 0 else "less"
    return f"popular items are liked {more} (relation {_signed(relation)})"


def _signed(number: float) -> str:
    return f"{number:g}".replace("-", "\N{MINUS SIGN}")


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
