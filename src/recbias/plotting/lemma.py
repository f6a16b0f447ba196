"""Figures about the lemma: 1RP between its bounds, and the gap between these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import seaborn as sns
from matplotlib.figure import Figure

from recbias.experiment import Results
from recbias.plotting.style import WIDTH, detached
from recbias.results import Quantity

__all__ = ["plot_bounds", "plot_gaps"]


def plot_bounds(
    results: Results,
    panels: Mapping[str, tuple[Sequence[str], Sequence[float]]],
    *,
    systems: Sequence[str],
) -> Figure:
    """Plot 1RP between the bounds of the lemma, a column per experiment and a row per system.

    Parameters
    ----------
    results
        Values of ``P`` and of its ``lower`` and ``upper`` bound.
    panels
        Axis label of each experiment, to its protocol labels and their places on that axis.
    systems
        One row each.

    Returns
    -------
    Figure
    """
    figure, axes = plt.subplots(
        len(systems), len(panels), figsize=(WIDTH, 0.6 + 1.75 * len(systems)),
        sharex="col", sharey="row", squeeze=False,
    )  # fmt: skip
    colours = sns.color_palette("colorblind", len(systems))
    for row, system in enumerate(systems):
        for column, (axis_label, (labels, places)) in enumerate(panels.items()):
            axis = axes[row, column]
            low, value, high = (
                [results[system, label, str(results.metric(label, name))].value for label in labels]
                for name in ("lower", "P", "upper")
            )
            axis.fill_between(places, low, high, color=colours[row], alpha=0.25, linewidth=0)
            axis.plot(places, value, color=colours[row], marker="o", markersize=4)
            axis.set_xticks(list(places))
            axis.set_ylim(bottom=0)
            axis.locator_params(axis="y", nbins=4)
            if row == len(systems) - 1:
                axis.set_xlabel(axis_label)
        axes[row, 0].set_ylabel(f"1R{results.metric(labels[0], 'P')}")
        axes[row, 0].set_title(system, loc="left")
    return detached(figure)


def plot_gaps(
    results: Results,
    panels: Mapping[str, tuple[Sequence[str], Sequence[float]]],
    *,
    systems: Sequence[str],
) -> Figure:
    """Plot the width of the lemma's interval, above by itself and below relative to 1RP.

    Parameters
    ----------
    results, panels
        As for :func:`plot_bounds`; replicates have to be kept.
    systems
        One line each, with 95 % intervals.

    Returns
    -------
    Figure
    """
    figure, axes = plt.subplots(
        2, len(panels), figsize=(WIDTH, 5.0), sharex="col", sharey="row", squeeze=False
    )
    colours, marks = sns.color_palette("colorblind"), "osD^vP*X"
    for column, (axis_label, (labels, places)) in enumerate(panels.items()):
        shift = 0.012 * (max(places) - min(places))
        for number, system in enumerate(systems):
            for axis, relative in zip(axes[:, column], (False, True), strict=True):
                found = [_gap(results, system, label, relative=relative) for label in labels]
                ends = np.array([each.interval for each in found]).T
                value = np.array([each.value for each in found])
                axis.errorbar(
                    np.asarray(places) + shift * (number - (len(systems) - 1) / 2), value,
                    yerr=np.maximum([value - ends[0], ends[1] - value], 0), label=system,
                    color=colours[number], marker=marks[number % len(marks)], markersize=6,
                )  # fmt: skip
                axis.set_xticks(list(places))
        axes[1, column].set_xlabel(axis_label)
    for axis in axes[:, 0]:
        axis.set_ylim(bottom=0)
    axes[0, 0].set_ylabel("upper - lower bound")
    axes[1, 0].set_ylabel(f"the same / 1R{results.metric(labels[0], 'P')}")
    handles, names = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=2, frameon=False)
    return detached(figure)


def _gap(results: Results, system: str, label: str, *, relative: bool) -> Quantity:
    lower, value, upper = (
        results[system, label, str(results.metric(label, name))] for name in ("lower", "P", "upper")
    )
    return (upper - lower) / value if relative else upper - lower
