"""Figures about the number of sampled negatives: orders by size, and how many are enough."""

from __future__ import annotations

import math
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import numpy.typing as npt
import pandas as pd
import seaborn as sns
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from recbias.plotting.style import FONT_SIZE, SHORT, WIDTH, detached, row_height, wrapped

__all__ = ["plot_enough", "plot_orders"]

_WITH_NUMBERS = 10
"""So many systems leave room for numbers in the cells of a matrix."""


def plot_orders(order: pd.DataFrame, *, cutoff: int, marked: int, title: str) -> Figure:
    """Plot the rank of every system against the number of sampled items.

    Parameters
    ----------
    order
        A row per pair ``a``, ``b`` and ``size`` of target sets with the expected difference
        ``value``; as :func:`recbias.claims.sparsity_bias.negatives.negatives` has it.
    cutoff
        Sizes up to it order nothing and are left out.
    marked
        A size that gets a line.
    title
        The message.

    Returns
    -------
    Figure
        A line per system; those stand out that change their rank most. Systems that are equal
        share the middle of their ranks.
    """
    ranks = _ranks(order[order["size"] > min(cutoff, order["size"].max() - 1)])
    names = list(ranks.columns[np.argsort(ranks.iloc[-1].to_numpy(), kind="stable")])
    labels = wrapped(names)
    height = 1.3 + row_height(labels) * len(names)
    figure, axis = plt.subplots(figsize=(WIDTH, max(height, 3.0)))
    spans = (ranks.max() - ranks.min()).sort_values(ascending=False, kind="stable")
    loud = [name for name in spans.index[:3] if spans[name] > 0]
    colours = dict(zip(loud, sns.color_palette("colorblind"), strict=False))
    for name in names:
        colour, width = colours.get(name, "0.6"), 2.6 if name in colours else 1.3
        axis.plot(ranks.index - 1, ranks[name], color=colour, linewidth=width,
                  zorder=3 if name in colours else 2)  # fmt: skip
    axis.axvline(marked - 1, color="black", linestyle="--", linewidth=1.2)
    axis.set_xscale("log")
    axis.xaxis.set_major_formatter(SHORT)
    axis.xaxis.set_minor_formatter(NullFormatter())
    # Where the largest target set is one above the cutoff, there is one size.
    axis.set(xlim=(cutoff, max(ranks.index[-1] - 1, cutoff + 1)), xlabel="sampled items")
    axis.set_ylim(len(names) + 0.5, 0.5)
    axis.set_yticks(ranks.iloc[-1][names].to_numpy(), labels)
    axis.yaxis.tick_right()
    for tick, name in zip(axis.get_yticklabels(), names, strict=True):
        tick.set_color(colours.get(name, "black"))
    axis.grid(visible=False, axis="y")
    figure.suptitle(title, fontsize=FONT_SIZE, fontweight="bold")
    return detached(figure)


def _ranks(order: pd.DataFrame) -> pd.DataFrame:
    """Rank the systems at every size at which all pairs are compared."""
    names = pd.unique(order[["a", "b"]].to_numpy().ravel())
    n_pairs = len(names) * (len(names) - 1) // 2
    rows = {}
    for size, own in order.groupby("size"):
        if len(own) < n_pairs:
            continue  # a size at which single pairs turn
        behind = dict.fromkeys(names, 1.0)
        for a, b, value in zip(own["a"], own["b"], own["value"], strict=True):
            behind[b] += 0.5 + 0.5 * np.sign(value)
            behind[a] += 0.5 - 0.5 * np.sign(value)
        rows[size] = behind
    return pd.DataFrame.from_dict(rows, orient="index")


def plot_enough(found: pd.DataFrame, *, pool: int, title: str) -> Figure:
    """Plot how many sampled items are enough for each pair of systems, as a matrix.

    Parameters
    ----------
    found
        As :func:`recbias.claims.sparsity_bias.turns.enough` gives it.
    pool
        Items that may be sampled.
    title
        The message.

    Returns
    -------
    Figure
        Above the diagonal with samples of each system's own, below it with shared ones. Rows and
        columns are in the order that all items give. White: no number of samples is enough, or the
        pair is not resolved.
    """
    wins = found["a"].value_counts()
    names = sorted(set(found["a"]) | set(found["b"]), key=lambda name: -wins.get(name, 0))
    place = {name: number for number, name in enumerate(names)}
    needed = np.full((len(names), len(names)), np.nan)
    row: Any
    for row in found[found["resolved"]].itertuples():
        i, j = sorted((place[row.a], place[row.b]))
        needed[i, j], needed[j, i] = row.size - 1, row.shared - 1
    labels = [f"{number}  {name}" for number, name in enumerate(names, start=1)]
    shown = wrapped(labels)
    figure, axis = plt.subplots(figsize=(WIDTH, 1.5 + max(0.36, row_height(shown)) * len(names)))
    image = axis.imshow(needed, norm=LogNorm(10, max(pool, 100)), cmap="viridis_r", aspect="auto")
    axis.set_xticks(range(len(names)), [str(number + 1) for number in range(len(names))])
    axis.set_yticks(range(len(names)), shown)
    axis.grid(visible=False)
    axis.plot([-0.5, len(names) - 0.5], [-0.5, len(names) - 0.5], color="0.5", linewidth=1)
    if len(names) <= _WITH_NUMBERS:
        _write_numbers(axis, needed, image)
    colours = figure.colorbar(image, ax=axis, location="bottom", fraction=0.06, pad=0.03)
    colours.ax.xaxis.set_major_formatter(SHORT)
    colours.ax.xaxis.set_minor_formatter(NullFormatter())
    colours.set_label("sampled items that are enough")
    figure.suptitle(title, fontsize=FONT_SIZE, fontweight="bold")
    return detached(figure)


def _write_numbers(axis: plt.Axes, needed: npt.NDArray[np.float64], image: object) -> None:
    for (i, j), number in np.ndenumerate(needed):
        if not math.isnan(number):
            red, green, blue, _ = image.cmap(image.norm(number))  # type: ignore[attr-defined]
            light = 0.299 * red + 0.587 * green + 0.114 * blue > 0.5
            axis.text(j, i, _short(number), ha="center", va="center",
                      color="black" if light else "white")  # fmt: skip


def _short(number: float) -> str:
    """Write a number in at most four characters."""
    if number < 1000:
        return f"{number:.0f}"
    return f"{number / 1000:.1f}k" if number < 9950 else f"{number / 1000:.0f}k"
