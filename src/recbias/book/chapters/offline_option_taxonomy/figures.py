"""The figures of chapter 7 about two systems: who wins under which option, and what it changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as Picture

from recbias.book.chapters.offline_option_taxonomy.setup import (
    DEPTHS,
    FILLS,
    KNN,
    OVERLAPS,
    READINGS,
    SIZES,
    SYSTEMS,
    cell_metrics,
    fill_name,
    ratio_name,
)
from recbias.book.chapters.offline_option_taxonomy.tables import cell_gap
from recbias.book.figures import Figure, differences, dots, lines
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
    **{
        words: number
        for number, rival in enumerate(READINGS, start=1)
        for words in (_SHOWN[rival], f"kNN − {_SHOWN[rival]}")
    },
}
"""Which look a line of a system has in all figures."""

_PANELS: Mapping[str, str] = {
    READINGS[0]: "MF as printed",
    READINGS[1]: "MF as in RankSys",
}

_RATIOS = (10, 20, 40, 60, 80, 90)
_START = ("full", "nDCG@10")
_OF_START: tuple[tuple[str, str, str, str], ...] = (
    ("start", "the start: nDCG@10", *_START),
    ("B1", "B1 everybody counts", "everybody", "nDCG@10"),
    ("C1", "C1 condensed lists", "condensed", "nDCG@10"),
    ("C2", "C2 precision, P@10", "full", "P@10"),
    ("C2", "C2 first item, nDCG@1", "full", "nDCG@1"),
    ("C2", "C2 deep, nDCG@100", "full", "nDCG@100"),
    ("C2", "C2 graded gain", "full", "nDCG(exp)@10"),
    ("C2", "C2 RBP(0.8)", "full", "RBP(0.8)"),
    ("C2", "C2 liked from one lower", "looser", "nDCG@10"),
    ("C2", "C2 no liked item: out", "relevant", "nDCG@10"),
    ("C2C", "C2C Kendall's tau", "condensed", "tau"),
    ("C2C", "C2C RBO(0.8)", "condensed", "RBO(0.8)"),
    ("C3", "C3 weighted: ratings", "by ratings", "nDCG@10"),
    ("C3", "C3 weighted: likes", "by positives", "nDCG@10"),
    ("C3", "C3 geometric mean", "geometric", "nDCG@10"),
    ("C3", "C3 median", "median", "nDCG@10"),
)
"""What changes one decision of the start: decision, row, label and metric."""

_REFUSING = f"{KNN} k=10 overlap={OVERLAPS[3]}"


# -- all options in one picture --------------------------------------------------------------------


def configurations(results: Mapping[str, Any]) -> Figure:
    """Compare the two systems under the start and under each change of one decision."""

    def message(rows: pd.DataFrame) -> str:
        parts = []
        for panel, own in rows.groupby("panel", sort=False):
            ahead, behind = int((own["low"] > 0).sum()), int((own["high"] < 0).sum())
            parts.append(f"{panel}: kNN ahead in {ahead} of {len(own)}, MF in {behind}")
        return "\n".join(parts)

    rows = [
        (_PANELS[rival], *names, gap.value, *gap.interval)
        for rival in READINGS
        for names, gap in _compared(results, rival)
    ]
    return Figure(
        "lead",
        pd.DataFrame(rows, columns=["panel", "group", "row", "value", "low", "high"]),
        message,
        "Two panels, one for each reading of matrix factorisation. Each row is one decision "
        "taken otherwise; marks show by how much nearest neighbours are ahead.",
        partial(differences, winners=_WINNERS, across="kNN − MF"),
        "all-options",
    )


def _compared(results: Mapping[str, Any], rival: str) -> Iterator[tuple[tuple[str, str], Quantity]]:
    """Compare kNN with one reading of MF, configuration by configuration."""
    start: Results = results["systems"]
    for number, (group, row, label, metric) in enumerate(_OF_START):
        if label == "geometric":
            # The start averages trainings before it takes logarithms.
            if cells := results.get("cells"):
                yield (group, row), cell_gap(cells, label, metric, rival)
        elif metric in start.grid.by_label.get(label, ()):
            yield (group, row), start[KNN, label, metric] - start[rival, label, metric]
        for ratio in _RATIOS if number == 0 else ():
            if ratio_results := results.get(ratio_name(ratio)):
                gap = ratio_results[KNN, *_START] - ratio_results[rival, *_START]
                yield ("A2", f"A2 train on {ratio} %"), gap
    if overlap_results := results.get("overlaps"):
        for label in ("full", "reduced"):
            gap = (
                overlap_results[_REFUSING, label, "nDCG@10"]
                - overlap_results[rival, label, "nDCG@10"]
            )
            yield ("C4", f"C4 refusing kNN: {label}"), gap


# -- split ratio -----------------------------------------------------------------------------------


def ratios(results: Mapping[str, Results], seeds: Table | None) -> Figure:
    """Follow nDCG@10 of full and condensed lists over the share of training ratings: Figs. 2, 4."""

    def message(rows: pd.DataFrame) -> str:
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
            lines, across="training ratings, %", up={"full lists": "nDCG@10"}, looks=_LOOKS,
            ticks=(10, 50, 90),
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


def unrated(results: Mapping[str, Results]) -> Figure:
    """Follow the share of the first ten without a test rating over the ratio: Fig. 3."""

    def message(rows: pd.DataFrame) -> str:
        least, most = rows["value"].min(), rows["value"].max()
        return (
            f"Of the first ten items {least:.0f} to {most:.0f} % are unrated,\nand count as misses"
        )

    rows = []
    for ratio, own in _ratios(results):
        for system in SYSTEMS:
            judged = own[system, "full", "judged@10"]
            shares = (100 * (1 - share) for share in (judged.value, *reversed(judged.interval)))
            rows.append((_SHOWN[system], ratio, *shares))
    return Figure(
        "unrated",
        pd.DataFrame(rows, columns=["line", "at", "value", "low", "high"]),
        message,
        "The share of unrated items among the first ten, over the share of training ratings, "
        "with a line per system.",
        partial(
            lines, across="training ratings, %", up="unrated of the first ten, %", looks=_LOOKS,
            ticks=(10, 30, 50, 70, 90),
        ),
        "figure-3",
    )  # fmt: skip


# -- where condensed items stand, and depth --------------------------------------------------------


def places(depths: Table) -> Figure:
    """Follow where in the full list the items of condensed places stand: Fig. 5."""

    def message(rows: pd.DataFrame) -> str:
        tenth = rows[rows["at"] == 10]
        if tenth.empty:
            return "No user's condensed list\nhas ten items"
        least, most = tenth["value"].min(), tenth["value"].max()
        if np.isnan(least):
            return "No list is known to hold ten rated items"
        return f"The tenth rated item stands at\nplace {least:.0f} to {most:.0f} of the full list"

    frame = depths.frame.rename(columns={"place": "at"})
    frame = frame[frame["system"].isin(_SHOWN)]
    frame = frame.assign(line=frame["system"].map(_SHOWN))
    return Figure(
        "places",
        frame[["line", "at", "value", "low", "high"]].reset_index(drop=True),
        message,
        "Mean place in the full list over the place in the condensed list, with a line per system.",
        partial(
            lines, across="place in the condensed list", up="mean place in the full list",
            looks=_LOOKS, ticks=(1, 5, 10, 15, 20),
        ),
        "figure-5",
    )  # fmt: skip


def depth(systems: Results) -> Figure:
    """Follow kNN - MF by nDCG over its depth, for full and condensed lists: Fig. 6."""

    def message(rows: pd.DataFrame) -> str:
        full = rows[rows["panel"] == "full lists"]
        turned = [
            bool((own["low"] > 0).any() and (own["high"] < 0).any())
            for _, own in full.groupby("line", sort=False)
        ]
        return (
            "Full lists: depth turns the winner against\n"
            f"{sum(turned)} of {len(turned)} readings of MF"
        )

    panels = {"full": "full lists", "condensed": "condensed lists"}
    rows = [
        (panels[label], f"kNN − {_SHOWN[rival]}", at, gap.value, *gap.interval)
        for label in panels
        for rival in READINGS
        for at in DEPTHS
        if f"nDCG@{at}" in systems.grid.by_label[label]
        for gap in [systems[KNN, label, f"nDCG@{at}"] - systems[rival, label, f"nDCG@{at}"]]
    ]
    return Figure(
        "depth",
        pd.DataFrame(rows, columns=["panel", "line", "at", "value", "low", "high"]),
        message,
        "Two panels, full and condensed lists: the difference of nDCG between nearest neighbours "
        "and either reading of matrix factorisation, over depth.",
        partial(
            lines, across="depth d", up={"full lists": "difference of nDCG@d"}, looks=_LOOKS,
            level=0, log=True, ticks=(1, 10, 100),
        ),
        "figure-6",
    )  # fmt: skip


# -- items without a score, users without neighbours -----------------------------------------------

_FILL_WORDS: Mapping[str, str] = {
    "none": "left out",
    "random": "last, at random",
    "popularity": "last, by popularity",
    "average": "last, by mean rating",
}


def fills(results: Results, seeds: Table | None) -> Figure:
    """Follow nDCG@10 and coverage over the number of neighbours, by what NC items get: Fig. 7."""

    def message(rows: pd.DataFrame) -> str:
        first = rows[(rows["panel"] == "nDCG@10") & (rows["run"] == 1)]
        best = first.loc[first.groupby("line", sort=False)["value"].idxmax()]
        peaks = [f"{at} if {line}" for line, at in zip(best["line"], best["at"], strict=True)]
        return "Neighbours where each curve is highest:\n" + ",\n".join(
            ", ".join(peaks[n : n + 2]) for n in range(0, len(peaks), 2)
        )

    panels = {"nDCG@10": "nDCG@10", "Served@10": "Coverage@10"}
    rows: list[tuple[object, ...]] = [
        (title, _FILL_WORDS[fill], size, quantity.value, *quantity.interval, 1)
        for metric, title in panels.items()
        for fill in FILLS
        for size in SIZES
        for quantity in [results[fill_name(size), fill, metric]]
    ]
    if seeds is not None:
        frame, sizes = seeds.frame, {fill_name(size): size for size in SIZES}
        others = frame[frame["metric"].isin(panels) & (frame["seed"] > frame["seed"].min())]
        columns = ["metric", "fill", "system", "value", "seed"]
        rows += [
            (panels[metric], _FILL_WORDS[fill], sizes[system], value, np.nan, np.nan, seed)
            for metric, fill, system, value, seed in others[columns].itertuples(index=False)
        ]
    return Figure(
        "fills",
        pd.DataFrame(rows, columns=["panel", "line", "at", "value", "low", "high", "run"]),
        message,
        "Two panels over the number of neighbours: nDCG@10 and Coverage@10, with a line for each "
        "thing that may be made of items without a score.",
        partial(
            lines, across="neighbours", up={"nDCG@10": "mean over users"}, log=True,
            ticks=(1, 3, 10, 30, 100),
        ),
        "figure-7",
    )  # fmt: skip


def overlap(overlaps: Results) -> Figure:
    """Follow both averages of kNN, and how many users it serves, over the overlap: Fig. 8."""

    def message(rows: pd.DataFrame) -> str:
        precisions = rows[rows["panel"] == "P@10"]
        rivals = precisions["line"].isin([_SHOWN[rival] for rival in READINGS])
        level, words = precisions.loc[rivals, "value"].max(), ["kNN above both readings of MF"]
        for kind in ("full", "reduced"):
            own = precisions[precisions["line"] == f"kNN, {kind} average"]
            own = own.dropna(subset="value").sort_values("at")
            ahead = (own["value"] > level).to_numpy()
            at = [f"{overlap:.0f}" for overlap in own["at"][ahead]]
            onward = bool(at) and ahead[ahead.argmax() :].all()
            at_some = f"at an overlap of {', '.join(at)} only"
            where = f"from an overlap of {at[0]}" if onward else at_some
            words.append(f"{kind} average: {where if at else 'never'}")
        return "\n".join(words)

    names = {overlap: f"{KNN} k=10 overlap={overlap}" for overlap in OVERLAPS}
    rows: list[tuple[object, ...]] = [
        ("P@10", f"kNN, {label} average", overlap, precision.value, *precision.interval)
        for label in ("full", "reduced")
        for overlap, name in names.items()
        for precision in [overlaps[name, label, "P@10"]]
    ]
    for rival in READINGS:
        level = overlaps[rival, "full", "P@10"]
        rows += [
            ("P@10", _SHOWN[rival], overlap, level.value, np.nan, np.nan)
            for overlap in (OVERLAPS[0], OVERLAPS[-1])
        ]
    rows += [
        ("users served", "kNN, full average", overlap, served.value, *served.interval)
        for overlap, name in names.items()
        for served in [overlaps[name, "full", "Served@1"]]
    ]
    return Figure(
        "overlap",
        pd.DataFrame(rows, columns=["panel", "line", "at", "value", "low", "high"]),
        message,
        "Two panels over the least number of common items: both averages of P@10 of nearest "
        "neighbours beside matrix factorisation, and the share of users served.",
        partial(
            lines, across="least number of common items", up={"P@10": "mean over users"},
            looks=_LOOKS, ticks=(1, 10, 20, 40),
        ),
        "figure-8",
    )  # fmt: skip


# -- aggregation and significance ------------------------------------------------------------------


def profiles(table: Table) -> Figure:
    """Follow precision and rated share over how many ratings users have."""

    def message(rows: pd.DataFrame) -> str:
        precisions = rows[rows["panel"] == "P@10"].dropna(subset="value")
        if precisions.empty:
            return "Too few users for quarters of them"
        wide = precisions.pivot_table(index="line", columns="at", values="value")
        times = wide.iloc[:, -1] / wide.iloc[:, 0]
        if not np.isfinite(times).all():
            return "Some system finds nothing for the quarter\nwith fewest ratings"
        return (
            f"The quarter with most ratings has {times.min():.1f} to {times.max():.1f} times\n"
            "the precision of the quarter with fewest"
        )

    panels = {"P@10": "P@10", "judged@10": "rated among the ten"}
    frame = table.frame
    frame = frame[frame["metric"].isin(panels) & frame["system"].isin(_SHOWN)]
    frame = frame.assign(panel=frame["metric"].map(panels), line=frame["system"].map(_SHOWN))
    frame = frame.rename(columns={"group": "at"})
    order = frame["panel"].map(list(panels.values()).index)
    frame = frame.assign(order=order).sort_values("order", kind="stable")
    return Figure(
        "profiles",
        frame[["panel", "line", "at", "value", "low", "high"]].reset_index(drop=True),
        message,
        "Two panels over four quarters of the users: precision, and the share of the first ten "
        "that is rated, with a line per system.",
        partial(
            lines, across="quarter of the users, fewest ratings first", up={"P@10": "mean"},
            looks=_LOOKS, ticks=(1, 2, 3, 4),
        ),
        "profiles",
    )  # fmt: skip


_CELLS: Mapping[str, str] = {
    "full": "full",
    "condensed": "condensed",
    "by ratings": "by ratings",
    "by positives": "by likes",
    "geometric": "geometric",
}


def significance(cells: Table) -> Figure:
    """Tell which cells of Tables 3 and 4 are significant, and for whom, split by split."""

    def message(rows: pd.DataFrame) -> str:
        parts = ["Significantly ahead in every split"]
        for panel, own in rows.groupby("panel", sort=False):
            by_row = own.groupby("row")["sign"]
            ahead, behind = int((by_row.min() > 0).sum()), int((by_row.max() < 0).sum())
            parts.append(f"{panel}: kNN in {ahead} of {by_row.ngroups} rows, MF in {behind}")
        return "\n".join(parts)

    frame = cells.frame
    signs = np.sign(frame["value"]).where(frame["p"] < 0.05, 0).astype(int)
    listed = [(label, metric) for label, metrics in cell_metrics().items() for metric in metrics]
    row_cells = list(zip(frame["label"], frame["metric"], strict=True))
    marks = pd.DataFrame(
        {
            "panel": frame["system"].map(_PANELS),
            "row": [f"{_CELLS[label]}: {metric}" for label, metric in row_cells],
            "at": frame["seed"],
            "sign": signs,
            "first": frame["system"].map(list(_PANELS).index),
            "order": [listed.index(cell) for cell in row_cells],
        }
    ).sort_values(["first", "order", "at"], kind="stable", ignore_index=True)
    return Figure(
        "significance",
        marks.drop(columns=["first", "order"]),
        message,
        "Two panels, a row for each cell of the paper's Tables 3 and 4 and a column for each "
        "seed of the split; triangles tell who is significantly ahead.",
        _draw_signs,
        "significance",
    )


def _draw_signs(rows: pd.DataFrame, *, title: str) -> Picture:
    words = {1: _WINNERS[0], -1: _WINNERS[1], 0: "not significant"}
    return dots(
        rows.assign(line=rows["sign"].map(words)), title=title, value="at", marks="^vo",
        keyed=list(words.values()), hollow=words[0], apart=False, across="seed of the split",
    )  # fmt: skip
