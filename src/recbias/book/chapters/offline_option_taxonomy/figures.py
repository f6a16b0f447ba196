"""The figures of chapter 7 about two systems: who wins under which option, and what it changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from recbias.book.chapters.offline_option_taxonomy.setup import (
    FILLS,
    KNN,
    OVERLAPS,
    READINGS,
    SIZES,
    SYSTEMS,
    cell_metrics,
    fill_name,
    ratio_name,
    stars_merged,
)
from recbias.book.figures import NARROW, Figure, differences, lines, parts
from recbias.experiment.makers import Table
from recbias.experiment.results import Quantity
from recbias.experiment.run import Results

_WINNERS = ("kNN ahead", "MF ahead")
"""What is said of a difference kNN - MF above 0, and of one below."""

_SHOWN: Mapping[str, str] = {
    KNN: "kNN",
    READINGS[0]: "MF (as printed)",
    READINGS[1]: "MF (as in RankSys)",
}
"""How each system is called in a figure."""

_LOOKS: Mapping[str, int] = {
    _SHOWN[KNN]: 0,
    "kNN, full average": 0,
    "kNN, reduced average": 3,
    **{_SHOWN[rival]: number for number, rival in enumerate(READINGS, start=1)},
}
"""Which look a line of a system has in all figures."""

_SWAPPED = READINGS[1]
"""The reading of MF with which the two systems are as close as the paper says."""

_ONCE = "MF was trained once:\nno order of it and kNN is decided"
"""What a title says instead of winners where the luck of a training is not known."""

_RATIOS = (20, 80)
_START = ("full", "nDCG@10")
_OF_START: tuple[tuple[str, str, str, str], ...] = (
    ("start", "the start: nDCG@10", *_START),
    ("B1", "B1 everybody counts", "everybody", "nDCG@10"),
    ("C1", "C1 condensed lists", "condensed", "nDCG@10"),
    ("C2", "C2 precision, P@10", "full", "P@10"),
    ("C2", "C2 first item, nDCG@1", "full", "nDCG@1"),
    ("C2", "C2 deep, nDCG@100", "full", "nDCG@100"),
    ("C2", "C2 graded gain", "full", "nDCG(exp)@10"),
    ("C2", "C2 liked from one lower", "looser", "nDCG@10"),
    ("C2C", "C2C Kendall's tau", "condensed", "tau"),
    ("C2C", "C2C RBO(0.8)", "condensed", "RBO(0.8)"),
    ("C3", "C3 weighted: ratings", "by ratings", "nDCG@10"),
    ("C3", "C3 weighted: likes", "by positives", "nDCG@10"),
    ("C3", "C3 median", "median", "nDCG@10"),
)
"""What changes one decision of the start: decision, row, label and metric."""

_GRADED = ("C2 graded gain", "C2 liked from one lower", "C2C Kendall's tau", "C2C RBO(0.8)")
"""Rows that tell apart the stars that some data have merged; of such data there are none."""


def _trained_once(systems: Results) -> bool:
    return any(each.n_seeds == 1 for each in systems.grid.systems if each.name in READINGS)


# -- all options in one picture --------------------------------------------------------------------


def configurations(results: Mapping[str, Any]) -> Figure:
    """Compare the two systems under the start and under each change of one decision."""
    once, merged = _trained_once(results["systems"]), stars_merged(results["systems"].dataset)

    def message(rows: pd.DataFrame) -> str:
        if once:
            return _ONCE
        ahead, behind = int((rows["low"] > 0).sum()), int((rows["high"] < 0).sum())
        if len(rows) in (ahead, behind):
            winner = _WINNERS[0 if ahead else 1].replace(" ", " is ")
            return f"None of these turns the winner:\n{winner} in all {len(rows)} rows"
        winners = f"kNN is ahead in {ahead} of {len(rows)} rows, MF in {behind}"
        return f"The same two systems, the same ratings:\n{winners}"

    rows = []
    for group, row, knn, mf in _compared(results):
        gap, level = knn - mf, mf.value / 100
        if level > 0 and not (merged and row in _GRADED):
            ends = (np.nan, np.nan) if once else gap.interval
            rows.append((group, row, *(number / level for number in (gap.value, *ends))))
    return Figure(
        "lead",
        pd.DataFrame(rows, columns=["group", "row", "value", "low", "high"]),
        message,
        "Each row is one decision taken otherwise; marks show by how many percent of the value of "
        "matrix factorisation nearest neighbours are ahead.",
        partial(differences, winners=_WINNERS, across="kNN − MF, % of MF", width=NARROW),
        "all-options",
    )


def _compared(results: Mapping[str, Any]) -> Iterator[tuple[str, str, Quantity, Quantity]]:
    """List what kNN and MF have, configuration by configuration."""
    start: Results = results["systems"]
    for number, (group, row, label, metric) in enumerate(_OF_START):
        if metric in start.grid.by_label.get(label, ()):
            yield group, row, start[KNN, label, metric], start[_SWAPPED, label, metric]
        for ratio in _RATIOS if number == 0 else ():
            if ratio_results := results.get(ratio_name(ratio)):
                knn, mf = (ratio_results[name, *_START] for name in (KNN, _SWAPPED))
                yield "A2", f"A2 train on {ratio} %", knn, mf


# -- split ratio -----------------------------------------------------------------------------------


def ratios(results: Mapping[str, Results], seeds: Table | None) -> Figure:
    """Follow nDCG@10 of full and condensed lists over the share of training ratings: Figs. 2, 4."""
    once = any(_trained_once(own) for _, own in _ratios(results))

    def message(rows: pd.DataFrame) -> str:
        if once:
            return _ONCE
        full, words = rows[(rows["panel"] == "full lists") & (rows["run"] == 1)], []
        for rival in READINGS:
            own = full[full["line"] == _SHOWN[rival]]
            ahead = own.loc[own["knn_ahead_by"] > 0, "at"].tolist()
            words.append(f"{_SHOWN[rival]}: {_listed(ahead, len(own))}")
        return "Full lists: where kNN surely is ahead of\n" + "\n".join(words)

    panels = {"full": "full lists", "condensed": "condensed lists"}
    rows: list[tuple[object, ...]] = []
    for ratio, own in _ratios(results):
        for label, panel in panels.items():
            for system in SYSTEMS:
                ndcg = own[system, label, "nDCG@10"]
                ahead = (own[KNN, label, "nDCG@10"] - ndcg).interval[0]
                rows.append((panel, _SHOWN[system], ratio, ndcg.value, *ndcg.interval, 1, ahead))
    if seeds is not None:
        frame = seeds.frame
        others = frame[(frame["metric"] == "nDCG@10") & (frame["seed"] > frame["seed"].min())]
        columns = ["label", "system", "ratio", "value", "seed"]
        for label, system, ratio, value, seed in others[columns].itertuples(index=False):
            rows.append((panels[label], _SHOWN[system], ratio, value, np.nan, np.nan, seed, np.nan))
    columns = ["panel", "line", "at", "value", "low", "high", "run", "knn_ahead_by"]
    return Figure(
        "ratio",
        pd.DataFrame(rows, columns=columns),
        message,
        "Two panels of nDCG@10 over the share of training ratings, for full and for condensed "
        "lists, with a line per system.",
        partial(
            lines, across="training ratings, %", up="nDCG@10", looks=_LOOKS, ticks=(10, 50, 90),
            n_columns=1, height=2.4, width=NARROW,
        ),
        "figures-2-and-4",
    )  # fmt: skip


def _ratios(results: Mapping[str, Results]) -> list[tuple[int, Results]]:
    every = {percent: results.get(ratio_name(percent)) for percent in range(10, 100, 10)}
    return [(percent, ratio_results) for percent, ratio_results in every.items() if ratio_results]


def _listed(ratios: Sequence[int], n_ratios: int) -> str:
    if not ratios or len(ratios) == n_ratios:
        return "at every ratio" if ratios else "at no ratio"
    steps = set(np.diff(ratios).tolist())
    if len(ratios) > 2 and steps == {10}:
        return f"at {ratios[0]} to {ratios[-1]} %"
    return f"at {', '.join(map(str, ratios))} %"


# -- items without a score, users without neighbours -----------------------------------------------

_FILL_WORDS: Mapping[str, str] = {
    "none": "left out",
    "random": "last, at random",
    "popularity": "last, by popularity",
    "average": "last, by mean rating",
}


def fills(results: Results, seeds: Table | None) -> Figure:
    """Follow nDCG@10 over the number of neighbours, by what becomes of NC items: Fig. 7."""

    def message(rows: pd.DataFrame) -> str:
        first = rows[rows["run"] == 1]
        best = first.loc[first.groupby("line", sort=False)["value"].idxmax()]
        peaks = dict(zip(best["line"], best["at"], strict=True))
        out, average = (peaks[_FILL_WORDS[fill]] for fill in ("none", "average"))
        unit = "neighbour" if average == 1 else "neighbours"
        mean = "the mean of merged stars" if stars_merged(results.dataset) else "mean rating"
        return f"Left out, {out} neighbours are best;\nput last by {mean}, {average} {unit}"

    rows: list[tuple[object, ...]] = [
        (_FILL_WORDS[fill], size, quantity.value, *quantity.interval, 1)
        for fill in FILLS
        for size in SIZES
        for quantity in [results[fill_name(size), fill, "nDCG@10"]]
    ]
    if seeds is not None:
        frame, sizes = seeds.frame, {fill_name(size): size for size in SIZES}
        others = frame[(frame["metric"] == "nDCG@10") & (frame["seed"] > frame["seed"].min())]
        columns = ["fill", "system", "value", "seed"]
        rows += [
            (_FILL_WORDS[fill], sizes[system], value, np.nan, np.nan, seed)
            for fill, system, value, seed in others[columns].itertuples(index=False)
        ]
    return Figure(
        "fills",
        pd.DataFrame(rows, columns=["line", "at", "value", "low", "high", "run"]),
        message,
        "nDCG@10 over the number of neighbours, with a line for each thing that may be made of "
        "items without a score.",
        partial(
            lines, across="neighbours", up="nDCG@10", log=True, ticks=(1, 3, 10, 30, 100),
            width=NARROW,
        ),
        "figure-7",
    )  # fmt: skip


def overlap(overlaps: Results) -> Figure:
    """Follow both averages of kNN over the overlap: Fig. 8."""

    def message(rows: pd.DataFrame) -> str:
        rivals = rows["line"].isin([_SHOWN[rival] for rival in READINGS])
        level = rows.loc[rivals, "value"].max()
        trained = " (trained once)" if _trained_once(overlaps) else ""
        words = [f"Where kNN is above both readings of MF{trained}:"]
        for kind in ("full", "reduced"):
            own = rows[rows["line"] == f"kNN, {kind} average"]
            own = own.dropna(subset="value").sort_values("at")
            ahead = (own["value"] > level).to_numpy()
            at = [f"{overlap:.0f}" for overlap in own["at"][ahead]]
            onward = bool(at) and ahead[ahead.argmax() :].all()
            at_some = f"at an overlap of {', '.join(at)} only"
            where = f"from an overlap of {at[0]}" if onward else at_some
            words.append(f"{kind} average: {where if at else 'never'}")
        if all(word.endswith("never") for word in words[1:]):
            return f"By neither average is kNN\nabove both readings of MF{trained}"
        return "\n".join(words)

    names = {overlap: f"{KNN} k=10 overlap={overlap}" for overlap in OVERLAPS}
    rows: list[tuple[object, ...]] = [
        (f"kNN, {label} average", overlap, precision.value, *precision.interval)
        for label in ("full", "reduced")
        for overlap, name in names.items()
        for precision in [overlaps[name, label, "P@10"]]
    ]
    for rival in READINGS:
        level = overlaps[rival, "full", "P@10"]
        rows += [
            (_SHOWN[rival], overlap, level.value, np.nan, np.nan)
            for overlap in (OVERLAPS[0], OVERLAPS[-1])
        ]
    return Figure(
        "overlap",
        pd.DataFrame(rows, columns=["line", "at", "value", "low", "high"]),
        message,
        "Both averages of P@10 of nearest neighbours beside matrix factorisation, over the least "
        "number of common items.",
        partial(
            lines, across="least number of common items", up="P@10", looks=_LOOKS,
            ticks=(1, 10, 20, 40), width=NARROW,
        ),
        "figure-8",
    )  # fmt: skip


# -- significance ----------------------------------------------------------------------------------

_CELLS: Mapping[str, str] = {
    "full": "full",
    "condensed": "condensed",
    "by ratings": "by ratings",
    "by positives": "by likes",
    "geometric": "geometric",
}

_OTHER_PERSISTENCES = ("RBP(0.5", "RBP(0.9")
"""What begins the names of cells that are counted in no record, and not shown."""


def significance(cells: Table) -> Figure:
    """Count for whom the cells of Tables 3 and 4 are significant, over splits."""
    frame = cells.frame[cells.frame["system"] == _SWAPPED]
    frame = frame[~frame["metric"].str.startswith(_OTHER_PERSISTENCES)]
    signs = np.sign(frame["value"]).where(frame["p"] < 0.05, 0)
    words = {1: _WINNERS[0], 0: "not significant", -1: _WINNERS[1]}
    shares = pd.crosstab([frame["label"], frame["metric"]], signs, normalize="index")
    listed = [(label, metric) for label, metrics in cell_metrics().items() for metric in metrics]
    shown = [cell for cell in listed if cell in shares.index]
    rows = 100 * shares.reindex(index=shown, columns=list(words), fill_value=0)
    rows = rows.rename(columns=words)
    rows.insert(0, "group", [label for label, _ in shown])
    rows.insert(1, "row", [f"{_CELLS[label]}: {metric}" for label, metric in shown])
    n_splits = int(frame["seed"].nunique())

    def message(rows: pd.DataFrame) -> str:
        if n_splits == 1:
            ahead, behind = (int((rows[words[sign]] > 0).sum()) for sign in (1, -1))
            winners = f"in {ahead} of {len(rows)} cells, MF in {behind}"
            return f"Of this one training, on this split:\nkNN is significantly ahead {winners}"
        same = int((rows[list(words.values())] == 100).any(axis="columns").sum())
        nobody = int((rows[words[0]] == 100).sum())
        told = f"{n_splits} splits give one answer in {same} of {len(rows)} cells"
        both = int(((rows[words[1]] > 0) & (rows[words[-1]] > 0)).sum())
        ends = f"{both} cells have" if both > 1 else f"{both or 'no'} cell has"
        return f"{told}\n(in {nobody}: nobody); {ends} both winners"

    return Figure(
        "significance",
        rows.reset_index(drop=True),
        message,
        "A bar for each cell of the paper's Tables 3 and 4: in which share of the splits nearest "
        "neighbours, nobody, or matrix factorisation is significantly ahead.",
        partial(
            parts, colours={words[1]: "C0", words[0]: "0.85", words[-1]: "C1"},
            across="% of the splits", most=100, width=NARROW,
        ),
        "significance",
    )  # fmt: skip
