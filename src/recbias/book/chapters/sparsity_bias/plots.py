"""Figures about sparse judgements: values and orders as judgements go or target sets grow."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import numpy.typing as npt
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullFormatter

from recbias.book.figures.style import FONT_SIZE, SHORT, WIDTH, detached, row_height, wrapped


def plot_list_shares(shares: pd.DataFrame, *, title: str) -> Figure:
    """Plot what is known of the items in the lists of each system.

    A panel per share of the test.
    """
    panels = list(shares.groupby("kept", sort=False))
    systems = wrapped(list(panels[0][1]["system"]))
    figure, axes = plt.subplots(
        1, len(panels), figsize=(WIDTH, 1.5 + row_height(systems) * len(systems)), sharey=True
    )
    blue, orange = sns.color_palette("colorblind")[:2]
    colours = {"relevant": blue, "rated lower": orange, "not rated": "0.85"}
    places = np.arange(len(systems))
    for axis, (percent, rows) in zip(axes, panels, strict=True):
        left = np.zeros(len(systems))
        for name, colour in colours.items():
            axis.barh(places, 100 * rows[name], left=left, color=colour, height=0.75, label=name)
            left += 100 * rows[name].to_numpy()
        axis.set(
            title="all test ratings" if percent == 100 else f"{percent} % of them", xlim=(0, 100)
        )
        axis.set_xticks([0, 50, 100])
        axis.set_xlabel("% of the list")
        axis.grid(visible=False, axis="y")
    axes[0].set_yticks(places, systems)
    axes[0].invert_yaxis()
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    figure.suptitle(title, fontsize=FONT_SIZE, fontweight="bold")
    return detached(figure)


def plot_metric_slopes(slopes: pd.DataFrame, *, title: str) -> Figure:
    """Plot how steeply metrics go with the share of the test ratings kept, a row per metric."""
    names = list(dict.fromkeys(slopes["metric"]))
    figure, axis = plt.subplots(figsize=(WIDTH, 1.4 + 0.5 * len(names)))
    systems = list(dict.fromkeys(slopes["system"]))
    offsets = dict(zip(systems, np.linspace(-0.3, 0.3, len(systems)), strict=True))
    for row, name in enumerate(names):
        of_metric = slopes[slopes["metric"] == name].dropna()
        heights = [row + offsets[system] for system in of_metric["system"]]
        errors = np.array(
            [of_metric["slope"] - of_metric["low"], of_metric["high"] - of_metric["slope"]]
        )
        axis.errorbar(
            of_metric["slope"], heights, xerr=np.maximum(errors, 0), fmt=".", markersize=6,
            elinewidth=1.0, color=sns.color_palette("colorblind", 10)[row % 10],
        )  # fmt: skip
    for place in (0, 1):
        axis.axvline(place, color="0.25", linewidth=1.2, zorder=1)
    axis.set_yticks(range(len(names)), names)
    axis.set_ylim(len(names) - 0.5, -0.5)
    axis.grid(visible=False, axis="y")
    axis.set_xlabel("slope (0: stays as it is, 1: in proportion)")
    figure.suptitle(title, fontsize=FONT_SIZE, fontweight="bold")
    return detached(figure)


def plot_predictions(found: pd.DataFrame, *, title: str) -> Figure:
    """Plot measured over predicted precision, a row per ranking and a mark per prediction."""
    systems = list(dict.fromkeys(found["system"]))
    figure, axis = plt.subplots(figsize=(WIDTH, 1.9 + 0.42 * len(systems)))
    colours = sns.color_palette("colorblind")
    for number, (form, rows) in enumerate(found.groupby("form", sort=False)):
        places = np.arange(len(systems)) + 0.3 * (number - 0.5)
        errors = np.array([rows["value"] - rows["low"], rows["high"] - rows["value"]])
        axis.errorbar(
            rows["value"], places, xerr=np.maximum(errors, 0), fmt="os"[number], markersize=7,
            elinewidth=1.4, color=colours[number], label=f"predicted by {form}",
        )  # fmt: skip
    axis.axvline(1, color="0.25", linewidth=1.2, zorder=1)
    axis.set_yticks(range(len(systems)), systems)
    axis.set_ylim(len(systems) - 0.5, -0.5)
    axis.grid(visible=False, axis="y")
    axis.set_xlabel("measured precision / predicted precision")
    figure.legend(loc="outside lower center", ncols=2, frameon=False)
    figure.suptitle(title, fontsize=FONT_SIZE, fontweight="bold")
    return detached(figure)


def plot_told_apart(curves: pd.DataFrame, *, title: str) -> Figure:
    """Plot how many pairs of systems are told apart, against the share of judgements there is."""
    figure, axis = plt.subplots(figsize=(WIDTH, 3.9))
    colours = sns.color_palette("colorblind")
    for number, (design, rows) in enumerate(curves.groupby("design", sort=False)):
        axis.fill_between(
            rows["kept"], rows["low"], rows["high"], color=colours[number], alpha=0.2, linewidth=0
        )
        axis.plot(
            rows["kept"], rows["pairs"], color=colours[number], linewidth=2,
            linestyle=("-", "--", "-.", ":")[number % 4], label=design,
        )  # fmt: skip
    axis.set(xscale="log", xlabel="test ratings kept, %", ylabel="pairs told apart")
    axis.xaxis.set_major_formatter(SHORT)
    axis.xaxis.set_minor_formatter(NullFormatter())
    axis.set_ylim(bottom=0)
    figure.legend(loc="outside lower center", ncols=2, frameon=False)
    figure.suptitle(title, fontsize=FONT_SIZE, fontweight="bold")
    return detached(figure)


def plot_courses(
    panels: Mapping[str, pd.DataFrame],
    *,
    across: Sequence[str],
    up: str,
    marked: Sequence[str],
    title: str,
    logs: Sequence[str] = (),
) -> Figure:
    """Plot a quantity of each system along an axis, beside what theory predicts: a panel each."""
    figure, axes = plt.subplots(1, len(panels), figsize=(WIDTH, 4.7), squeeze=False)
    for axis, (name, frame), below in zip(axes[0], panels.items(), across, strict=True):
        for system, rows in frame.groupby("system", sort=False):
            _draw_course(axis, rows, **_look(str(system), marked))
        axis.set(title=name, xlabel=below)
        if name in logs:
            _scale_logs(axis, sorted(set(frame["place"])))
            continue
        axis.set_ylim(bottom=0)
        axis.set_xlim(0, 1.06 * frame["place"].max())
        axis.locator_params(axis="both", nbins=4)
        axis.yaxis.set_major_formatter(SHORT)
    axes[0, 0].set_ylabel(up)
    systems = next(iter(panels.values()))["system"].unique()
    handles = [_handle(name, marked) for name in marked if name in systems]
    if set(systems) - set(marked):
        handles.append(_handle(_OTHERS, marked))
    handles.append(Line2D([], [], color="0.25", linewidth=1.2, label="predicted"))
    figure.legend(handles=handles, loc="outside lower center", ncols=2, frameon=False)
    figure.suptitle(title, fontsize=FONT_SIZE, fontweight="bold")
    return detached(figure)


_OTHERS = "all others"
_COLOURS = (0, 1, 2, 3, 4, 5, 7, 9)
_MARKS = "osD^vP*X"


def _look(system: str, marked: Sequence[str]) -> dict[str, Any]:
    """Give a system its colour and mark; those that are not marked share one."""
    if system not in marked:
        return {"color": "0.6", "marker": ".", "zorder": 2}
    number = list(marked).index(system) % len(_COLOURS)
    colour = sns.color_palette("colorblind", 10)[_COLOURS[number]]
    return {"color": colour, "marker": _MARKS[number], "zorder": 3}


def _handle(name: str, marked: Sequence[str]) -> Line2D:
    return Line2D([], [], linestyle="none", label=name, **_look(name, marked))


def _draw_course(axis: Axes, rows: pd.DataFrame, **look: Any) -> None:
    """Draw the values of one system with their intervals, and the line of its predictions."""
    rows = rows.sort_values("place")
    errors = np.array([rows["value"] - rows["low"], rows["high"] - rows["value"]])
    axis.errorbar(
        rows["place"], rows["value"], yerr=np.maximum(errors, 0), linestyle="none",
        markersize=5, elinewidth=1.2, **look,
    )  # fmt: skip
    axis.plot(rows["place"], rows["predicted"], color=look["color"], linewidth=1.2, zorder=1)


_APART = 2
"""Places of an axis in logarithms are written if one is so many times the other."""


def _scale_logs(axis: Axes, places: Sequence[float]) -> None:
    """Put both axes in logarithms, with the ends and the middle of the places written."""
    axis.set(xscale="log", yscale="log")
    middle = min(places, key=lambda place: abs(np.log(place**2 / (places[0] * places[-1]))))
    apart = min(middle / places[0], places[-1] / middle) >= _APART
    written = [places[0], *([middle] if apart else []), places[-1]]
    axis.set_xticks(written, [f"{place:g}" for place in written])
    axis.xaxis.set_minor_formatter(NullFormatter())
    axis.yaxis.set_minor_formatter(NullFormatter())
    axis.yaxis.set_major_formatter(SHORT)


_WITH_NUMBERS = 10
"""So many systems leave room for numbers in the cells of a matrix."""


def plot_orders(order: pd.DataFrame, *, cutoff: int, marked: int, title: str) -> Figure:
    """Plot the rank of every system against the number of sampled items."""
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
    for size, pairs in order.groupby("size"):
        if len(pairs) < n_pairs:
            continue  # a size at which single pairs turn
        behind = dict.fromkeys(names, 1.0)
        for a, b, value in zip(pairs["a"], pairs["b"], pairs["value"], strict=True):
            behind[b] += 0.5 + 0.5 * np.sign(value)
            behind[a] += 0.5 - 0.5 * np.sign(value)
        rows[size] = behind
    return pd.DataFrame.from_dict(rows, orient="index")


def plot_enough(found: pd.DataFrame, *, pool: int, title: str) -> Figure:
    """Plot how many sampled items are enough for each pair of systems, as a matrix."""
    wins = found["a"].value_counts()
    names = sorted(set(found["a"]) | set(found["b"]), key=lambda name: -wins.get(name, 0))
    place = {name: number for number, name in enumerate(names)}
    needed = np.full((len(names), len(names)), np.nan)
    row: Any
    for row in found[found["resolved"]].itertuples():
        i, j = sorted((place[row.a], place[row.b]))
        needed[i, j], needed[j, i] = row.size - 1, row.shared - 1
    labels = [f"{number}  {name}" for number, name in enumerate(names, start=1)]
    ticks = wrapped(labels)
    figure, axis = plt.subplots(figsize=(WIDTH, 1.5 + max(0.36, row_height(ticks)) * len(names)))
    image = axis.imshow(needed, norm=LogNorm(10, max(pool, 100)), cmap="viridis_r", aspect="auto")
    axis.set_xticks(range(len(names)), [str(number + 1) for number in range(len(names))])
    axis.set_yticks(range(len(names)), ticks)
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
