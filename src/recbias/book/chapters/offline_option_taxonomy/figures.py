"""What the figures of chapter 7 show, and their titles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

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
from recbias.experiment.makers import Table
from recbias.experiment.results import Quantity
from recbias.experiment.run import Results

WINNERS: tuple[str, str] = ("kNN ahead", "MF ahead")
"""What is said of a difference kNN - MF above 0, and of one below."""

SHOWN_SYSTEMS: Mapping[str, str] = {
    KNN: "kNN",
    READINGS[0]: "MF (as printed)",
    READINGS[1]: "MF (as in RankSys)",
}
"""How each system is called in a figure."""

LOOKS: Mapping[str, int] = {
    SHOWN_SYSTEMS[KNN]: 0,
    "kNN, full average": 0,
    "kNN, reduced average": 3,
    **{
        words: number
        for number, rival in enumerate(READINGS, start=1)
        for words in (SHOWN_SYSTEMS[rival], f"kNN − {SHOWN_SYSTEMS[rival]}")
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


def configurations(results: Mapping[str, Any]) -> pd.DataFrame:
    """Compare the two systems under the start and under each change of one decision."""
    rows = [
        (_PANELS[rival], *names, gap.value, *gap.interval)
        for rival in READINGS
        for names, gap in _compared(results, rival)
    ]
    return pd.DataFrame(rows, columns=["panel", "group", "row", "value", "low", "high"])


def cell_gap(cells: Table, label: str, metric: str, rival: str) -> Quantity:
    """Read kNN - MF of a cell on the first split, where each system is trained once."""
    frame = cells.frame
    rows = frame[frame["seed"] == frame["seed"].min()].set_index(["label", "metric", "system"])
    value, low, high = rows.loc[(label, metric, rival), ["value", "low", "high"]].astype(float)
    return Quantity(value, None, limits=(low, high))


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


def configurations_title(found: pd.DataFrame) -> str:
    """Count the configurations in which each system wins, over both readings of MF."""
    parts = []
    for panel, rows in found.groupby("panel", sort=False):
        ahead, behind = int((rows["low"] > 0).sum()), int((rows["high"] < 0).sum())
        parts.append(f"{panel}: kNN ahead in {ahead} of {len(rows)}, MF in {behind}")
    return "\n".join(parts)


# -- split ratio -----------------------------------------------------------------------------------


def ratio_courses(results: Mapping[str, Results], seeds: Table | None) -> pd.DataFrame:
    """Follow nDCG@10 of full and condensed lists over the share of training ratings (Figs. 2.

    4).
    """
    panels = {"full": "full lists", "condensed": "condensed lists"}
    rows = [
        (panels[label], SHOWN_SYSTEMS[system], ratio, ndcg.value, *ndcg.interval, 1)
        for ratio, ratio_results in _ratios(results)
        for label in panels
        for system in SYSTEMS
        for ndcg in [ratio_results[system, label, "nDCG@10"]]
    ]
    if seeds is not None:
        frame = seeds.frame
        others = frame[(frame["metric"] == "nDCG@10") & (frame["seed"] > frame["seed"].min())]
        rows += [
            (panels[label], SHOWN_SYSTEMS[system], ratio, value, np.nan, np.nan, seed)
            for label, system, ratio, value, seed in others[
                ["label", "system", "ratio", "value", "seed"]
            ].itertuples(index=False)
        ]
    return pd.DataFrame(rows, columns=["panel", "line", "at", "value", "low", "high", "run"])


def _ratios(results: Mapping[str, Results]) -> list[tuple[int, Results]]:
    every = {percent: results.get(ratio_name(percent)) for percent in range(10, 100, 10)}
    return [(percent, ratio_results) for percent, ratio_results in every.items() if ratio_results]


def ratio_title(results: Mapping[str, Results]) -> str:
    """Say at which ratios kNN surely has the larger nDCG@10 of full lists, by readings of MF."""
    words = []
    for rival in READINGS:
        ahead = [
            ratio for ratio, ratio_results in _ratios(results)
            if (ratio_results[KNN, *_START] - ratio_results[rival, *_START]).interval[0] > 0
        ]  # fmt: skip
        words.append(f"{SHOWN_SYSTEMS[rival]}: {_listed(ahead, len(_ratios(results)))}")
    return "Full lists: where kNN surely is ahead of\n" + "\n".join(words)


def _listed(ratios: Sequence[int], n_ratios: int) -> str:
    if not ratios or len(ratios) == n_ratios:
        return "at every ratio" if ratios else "at no ratio"
    steps = set(np.diff(ratios).tolist())
    if len(ratios) > 2 and steps == {10}:
        return f"at {ratios[0]} to {ratios[-1]} %"
    return f"at {', '.join(map(str, ratios))} %"


def unrated_courses(results: Mapping[str, Results]) -> pd.DataFrame:
    """Follow the share of the first ten without a test rating over the ratio (Fig. 3)."""
    rows = [
        (
            "",
            SHOWN_SYSTEMS[system],
            ratio,
            *(100 * (1 - share) for share in (judged.value, *reversed(judged.interval))),
        )
        for ratio, ratio_results in _ratios(results)
        for system in SYSTEMS
        for judged in [ratio_results[system, "full", "judged@10"]]
    ]
    return pd.DataFrame(rows, columns=["panel", "line", "at", "value", "low", "high"])


def unrated_title(courses: pd.DataFrame) -> str:
    """Say what share is unrated at least and at most."""
    least, most = courses["value"].min(), courses["value"].max()
    return f"Of the first ten items {least:.0f} to {most:.0f} % are unrated,\nand count as misses"


# -- where condensed items stand, and depth --------------------------------------------------------


def place_courses(depths: Table) -> pd.DataFrame:
    """Follow where in the full list the items of condensed places stand (Fig. 5)."""
    frame = depths.frame.rename(columns={"place": "at"})
    frame = frame[frame["system"].isin(SHOWN_SYSTEMS)]
    line = frame["system"].map(SHOWN_SYSTEMS)
    courses = frame.assign(panel="", line=line)
    return courses[["panel", "line", "at", "value", "low", "high"]].reset_index(drop=True)


def place_title(courses: pd.DataFrame) -> str:
    """Say where the tenth condensed item stands."""
    tenth = courses[courses["at"] == 10]
    if tenth.empty:
        return "No user's condensed list\nhas ten items"
    least, most = tenth["value"].min(), tenth["value"].max()
    if np.isnan(least):
        return "No list is known to hold ten rated items"
    return f"The tenth rated item stands at\nplace {least:.0f} to {most:.0f} of the full list"


def depth_courses(systems: Results) -> pd.DataFrame:
    """Follow kNN - MF by nDCG over its depth, for full and condensed lists (Fig. 6)."""
    panels = {"full": "full lists", "condensed": "condensed lists"}
    rows = [
        (
            panels[label],
            f"kNN − {SHOWN_SYSTEMS[rival]}",
            depth,
            gap.value,
            *gap.interval,
        )
        for label in panels
        for rival in READINGS
        for depth in DEPTHS
        if f"nDCG@{depth}" in systems.grid.by_label[label]
        for gap in [systems[KNN, label, f"nDCG@{depth}"] - systems[rival, label, f"nDCG@{depth}"]]
    ]
    return pd.DataFrame(rows, columns=["panel", "line", "at", "value", "low", "high"])


def depth_title(courses: pd.DataFrame) -> str:
    """Say against how many readings of MF the winner of full lists depends on depth."""
    full_lists = courses[courses["panel"] == "full lists"]
    turned = [
        bool((rows["low"] > 0).any() and (rows["high"] < 0).any())
        for _, rows in full_lists.groupby("line", sort=False)
    ]
    return (
        f"Full lists: depth turns the winner against\n{sum(turned)} of {len(turned)} readings of MF"
    )


# -- items without a score, users without neighbours -----------------------------------------------

_FILL_WORDS: Mapping[str, str] = {
    "none": "left out",
    "random": "last, at random",
    "popularity": "last, by popularity",
    "average": "last, by mean rating",
}


def fill_courses(fills: Results, seeds: Table | None) -> pd.DataFrame:
    """Follow nDCG@10 and coverage over the number of neighbours, by what NC items get (Fig. 7)."""
    panels = {"nDCG@10": "nDCG@10", "Served@10": "Coverage@10"}
    rows = [
        (title, _FILL_WORDS[fill], size, quantity.value, *quantity.interval, 1)
        for metric, title in panels.items()
        for fill in FILLS
        for size in SIZES
        for quantity in [fills[fill_name(size), fill, metric]]
    ]
    if seeds is not None:
        frame = seeds.frame
        sizes = {fill_name(size): size for size in SIZES}
        others = frame[frame["metric"].isin(panels) & (frame["seed"] > frame["seed"].min())]
        rows += [
            (panels[metric], _FILL_WORDS[fill], sizes[system], value, np.nan, np.nan, seed)
            for metric, fill, system, value, seed in others[
                ["metric", "fill", "system", "value", "seed"]
            ].itertuples(index=False)
        ]
    return pd.DataFrame(rows, columns=["panel", "line", "at", "value", "low", "high", "run"])


def fill_title(courses: pd.DataFrame) -> str:
    """Say at how many neighbours the curve of each policy is highest, in the first run."""
    first_run = courses[(courses["panel"] == "nDCG@10") & (courses["run"] == 1)]
    best = first_run.loc[first_run.groupby("line", sort=False)["value"].idxmax()]
    peaks = [f"{at} if {line}" for line, at in zip(best["line"], best["at"], strict=True)]
    return "Neighbours where each curve is highest:\n" + ",\n".join(
        ", ".join(peaks[n : n + 2]) for n in range(0, len(peaks), 2)
    )


def overlap_courses(overlaps: Results) -> pd.DataFrame:
    """Follow both averages of kNN, and how many users it serves, over the overlap (Fig. 8)."""
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
            ("P@10", SHOWN_SYSTEMS[rival], overlap, level.value, np.nan, np.nan)
            for overlap in (OVERLAPS[0], OVERLAPS[-1])
        ]
    rows += [
        ("users served", "kNN, full average", overlap, served.value, *served.interval)
        for overlap, name in names.items()
        for served in [overlaps[name, "full", "Served@1"]]
    ]
    return pd.DataFrame(rows, columns=["panel", "line", "at", "value", "low", "high"])


def overlap_title(courses: pd.DataFrame) -> str:
    """Say at which overlaps either average puts kNN above both readings of MF."""
    precisions = courses[courses["panel"] == "P@10"]
    level = max(
        precisions.loc[precisions["line"] == SHOWN_SYSTEMS[rival], "value"].max()
        for rival in READINGS
    )
    words = []
    for kind in ("full", "reduced"):
        line = (
            precisions[precisions["line"] == f"kNN, {kind} average"]
            .dropna(subset="value")
            .sort_values("at")
        )
        is_ahead = (line["value"] > level).to_numpy()
        at = [f"{overlap:.0f}" for overlap in line["at"][is_ahead]]
        onward = bool(at) and is_ahead[is_ahead.argmax() :].all()
        where = (
            f"from an overlap of {at[0]}" if onward else f"at an overlap of {', '.join(at)} only"
        )
        words.append(f"{kind} average: {where if at else 'never'}")
    return "\n".join(["kNN above both readings of MF", *words])


# -- aggregation and significance ------------------------------------------------------------------


def profile_courses(profiles: Table) -> pd.DataFrame:
    """Follow precision and rated share over how many ratings users have."""
    panels = {"P@10": "P@10", "judged@10": "rated among the ten"}
    frame = profiles.frame
    frame = frame[frame["metric"].isin(panels) & frame["system"].isin(SHOWN_SYSTEMS)]
    courses = frame.assign(
        panel=frame["metric"].map(panels), line=frame["system"].map(SHOWN_SYSTEMS)
    ).rename(columns={"group": "at"})
    order = courses["panel"].map(list(panels.values()).index)
    courses = courses.assign(order=order).sort_values("order", kind="stable")
    return courses[["panel", "line", "at", "value", "low", "high"]].reset_index(drop=True)


def profile_title(courses: pd.DataFrame) -> str:
    """Say how many times the precision of the lightest users that of the heaviest is."""
    precisions = courses[courses["panel"] == "P@10"].dropna(subset="value")
    if precisions.empty:
        return "Too few users for quarters of them"
    precisions = precisions.pivot_table(index="line", columns="at", values="value")
    times = precisions.iloc[:, -1] / precisions.iloc[:, 0]
    if not np.isfinite(times).all():
        return "Some system finds nothing for the quarter\nwith fewest ratings"
    return (
        f"The quarter with most ratings has {times.min():.1f} to {times.max():.1f} times\n"
        "the precision of the quarter with fewest"
    )


_CELLS: Mapping[str, str] = {
    "full": "full",
    "condensed": "condensed",
    "by ratings": "by ratings",
    "by positives": "by likes",
    "geometric": "geometric",
}


def significance(cells: Table) -> pd.DataFrame:
    """Tell which cells of Tables 3 and 4 are significant, and for whom, split by split."""
    frame = cells.frame
    signs = np.sign(frame["value"]).where(frame["p"] < 0.05, 0).astype(int)
    all_cells = [(label, metric) for label, metrics in cell_metrics().items() for metric in metrics]
    order = {cell: number for number, cell in enumerate(all_cells)}
    row_cells = list(zip(frame["label"], frame["metric"], strict=True))
    marks = pd.DataFrame(
        {
            "panel": frame["system"].map(_PANELS),
            "row": [f"{_CELLS[label]}: {metric}" for label, metric in row_cells],
            "at": frame["seed"],
            "sign": signs,
            "order": [order[cell] for cell in row_cells],
        }
    )
    marks = marks.sort_values(["order", "at"], kind="stable").drop(columns="order")
    first = marks["panel"].map(list(_PANELS.values()).index)
    return marks.assign(first=first).sort_values("first", kind="stable").drop(columns="first")


def significance_title(found: pd.DataFrame) -> str:
    """Count the cells in which each system is significantly ahead in every split."""
    parts = ["Significantly ahead in every split"]
    for panel, rows in found.groupby("panel", sort=False):
        wide = rows.groupby("row")["sign"]
        ahead, behind = int((wide.min() > 0).sum()), int((wide.max() < 0).sum())
        parts.append(f"{panel}: kNN in {ahead} of {wide.ngroups} rows, MF in {behind}")
    return "\n".join(parts)
