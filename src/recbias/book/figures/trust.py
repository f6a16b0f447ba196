"""Figures about which metric to trust: what is said beside what came, and where it is said."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from recbias.book.figures.style import FONT_SIZE, WIDTH, detached


def plot_calibration(found: pd.DataFrame, *, level: float, title: str) -> Figure:
    """Plot how often something came true against how often it was said to."""
    figure, axis = plt.subplots(figsize=(WIDTH, 4.4))
    colour = sns.color_palette("colorblind")[0]
    axis.axvspan(level, 1.03, color="0.9", zorder=0)
    axis.annotate("named", (level, 0.02), xytext=(-4, 0), textcoords="offset points", ha="right")
    axis.plot([0, 1], [0, 1], color="0.4", linestyle="--", linewidth=1.2, zorder=1)
    below, above = found["came"] - found["low"], found["high"] - found["came"]
    axis.errorbar(
        found["share"], found["came"], yerr=np.clip([below, above], 0, None),
        fmt="o-", color=colour, linewidth=2, capsize=4,
    )  # fmt: skip
    for row in found.to_dict("records"):
        last = row["share"] > 0.9
        axis.annotate(
            f"{row['n']:,.0f}", (row["share"], row["came"]), xytext=(2, -22) if last else (8, -14),
            textcoords="offset points", ha="center" if last else "left",
        )  # fmt: skip
    axis.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03))
    axis.set_xlabel("share of the matched worlds in which it is so")
    axis.set_ylabel("share of the cases in which it was so")
    for side in (axis.xaxis, axis.yaxis):
        side.set_major_formatter(PercentFormatter(1))
    figure.suptitle(title, fontsize=FONT_SIZE, fontweight="bold")
    return detached(figure)


def plot_answers(rows: pd.DataFrame, *, title: str) -> Figure:
    """Plot which answers are given in worlds of each relation, as stacked bars."""
    edges = np.linspace(-1, 1, 11)
    place = np.clip(np.digitize(rows["relation"], edges) - 1, 0, len(edges) - 2)
    told = rows["answer"].where(
        (rows["answer"] == rows["right"]) | (rows["answer"] == "cannot tell"), "wrong"
    )
    palette = sns.color_palette("colorblind")
    kinds = {
        "antiP": ("antiP, rightly", palette[1]),
        "either": ("either, rightly", palette[2]),
        "P": ("P, rightly", palette[0]),
        "wrong": ("a wrong answer", "black"),
        "cannot tell": ("cannot tell", "0.85"),
    }
    figure, axis = plt.subplots(figsize=(WIDTH, 4.2))
    base = np.zeros(len(edges) - 1)
    n_worlds = np.maximum(np.bincount(place, minlength=len(base)), 1)
    for kind, (label, colour) in kinds.items():
        if not (told == kind).any():
            continue
        share = np.bincount(place[told == kind], minlength=len(base)) / n_worlds
        axis.bar(edges[:-1] + 0.1, share, width=0.18, bottom=base, color=colour, label=label)
        base += share
    axis.set(xlim=(-1, 1), ylim=(0, 1), ylabel="share of the worlds")
    axis.set_xlabel("relation of popularity and liking")
    axis.yaxis.set_major_formatter(PercentFormatter(1))
    axis.grid(visible=False, axis="x")
    figure.legend(loc="outside lower center", ncols=2)
    figure.suptitle(title, fontsize=FONT_SIZE, fontweight="bold")
    return detached(figure)
