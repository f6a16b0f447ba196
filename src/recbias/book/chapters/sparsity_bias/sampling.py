"""How many negatives: the order of systems at each number of sampled items, for the explorer.

All of it is read from the table of `negatives`: leads over Random with their intervals, and what
`turns` finds of pairs. Nothing is drawn.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from recbias.book.chapters.sparsity_bias.turns import MOST_WRONG, at_size
from recbias.book.explorer import Axis, Choice, Shown
from recbias.data.ratings import exact
from recbias.experiment.makers import Table

_REFERENCE = "Random"
_NAMED = 3
"""So many pairs are named; of more there is a number."""


def sampled(drawn: Table, *, min_rating: float) -> tuple[Axis, dict[Choice, Shown | str], Choice]:
    """Say what is shown at each number of sampled items.

    Returns
    -------
    axis : Axis
        Numbers of sampled items: those at which all pairs are compared, beyond the cutoff.
    shown : dict of tuple of str to Shown
        1RP of each system above that of Random, and how pairs stand.
    start : tuple of str
        The number that the page uses; the last one is where nothing is sampled.
    """
    frame, cutoff = drawn.frame, drawn.given["cutoff"]
    n_pairs = len(frame[["a", "b"]].drop_duplicates())
    by_size = {int(str(size)): rows for size, rows in frame.groupby("size")}
    largest = max(by_size)
    sizes = [
        size
        for size, rows in by_size.items()
        if len(rows) == n_pairs and (size > cutoff or size == largest)
    ]
    words = {size: f"{size - 1:,}" for size in sizes}
    words[largest] = f"all {largest - 1:,}"
    axis = Axis("sampled items", {str(size - 1): words[size] for size in sizes}, slider=True)
    start = min(drawn.given["size"], largest)
    shown: dict[Choice, Shown | str] = {
        (str(size - 1),): Shown(
            values=_leads(by_size[size]),
            metric=f"1RP@{cutoff} above Random's",
            title=words[size],
            words=_words(size, largest),
            code=f"TI-AN-1R rel>={exact(min_rating)}"
            if size == largest
            else f"TI-NN-1R t={size} rel>={exact(min_rating)}",
            note=_note(at_size(drawn, size), nothing_sampled=size == largest) + _easy(size, cutoff),
        )
        for size in sizes
    }
    return axis, shown, (str((start if start in sizes else sizes[0]) - 1),)


def _words(size: int, largest: int) -> str:
    if size == largest:
        return "each relevant item among all others that the user has not rated"
    return f"each relevant item among {size - 1:,} sampled others"


def _leads(rows: pd.DataFrame) -> dict[str, tuple[float, float, float]]:
    """Give what each system has above Random, with the interval of that difference."""
    pairs = {
        (row["a"], row["b"]): (float(row["value"]), float(row["low"]), float(row["high"]))
        for row in rows.to_dict("records")
    }
    leads = {}
    for name in sorted({*rows["a"], *rows["b"]}):
        if (name, _REFERENCE) in pairs:
            leads[name] = pairs[name, _REFERENCE]
        elif (_REFERENCE, name) in pairs:
            value, low, high = pairs[_REFERENCE, name]
            leads[name] = (-value, -high, -low)
        else:
            leads[name] = (0.0, np.nan, np.nan)
    return leads


def _note(pairs: pd.DataFrame, *, nothing_sampled: bool) -> str:
    """Write how pairs stand, and what one evaluation may find."""
    sure = pairs[pairs["sure"]]
    if sure.empty:
        return "All items order no pair of systems beyond chance, so that none can be turned round."
    if nothing_sampled:
        return (
            f"This is the order that the others are held against: {len(sure)} of "
            f"{_counted(len(pairs), 'pair')} of systems {_are(len(sure))} beyond chance."
        )
    turned, n_open = sure[sure["order"] < 0], int((sure["order"] == 0).sum())
    named = "; ".join(f"{row.b} before {row.a}" for row in turned.head(_NAMED).itertuples())
    named = f" ({named}{'; and others' if len(turned) > _NAMED else ''})" if named else ""
    maybe = f", and {n_open} {'more ' if len(turned) else ''}may be" if n_open else ""
    wrong = int((sure["wrong"] > MOST_WRONG).sum()) or "none"
    return (
        f"Of the {_counted(len(sure), 'pair')} that all items order beyond chance, "
        f"{len(turned) or 'none'} {'is' if len(turned) < 2 else 'are'} surely the other way "
        f"round{named}{maybe}. One evaluation, with a sample of its own for every run, has {wrong} "
        "of them in the wrong order with a chance above 5 %."
    )


def _easy(size: int, cutoff: int) -> str:
    """Warn where a list holds most of what is ranked."""
    if not cutoff < size < 2 * cutoff:
        return ""
    return (
        f" A list of {cutoff} holds most of the {size} items that are ranked here: even a random "
        f"ranking hits in {cutoff} of {size} runs."
    )


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _are(number: int) -> str:
    return "is" if number == 1 else "are"
