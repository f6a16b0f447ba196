"""The figures of chapter 2: values and orders as judgments go or target sets grow."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import Any

import pandas as pd
from matplotlib.figure import Figure as Picture

from recbias.book.chapters.sparsity_bias.densities import pairs_by_share
from recbias.book.chapters.sparsity_bias.turns import at_size, enough, ranked_pairs
from recbias.book.figures import NARROW, Figure, dots, lines, matrix, parts, ranks
from recbias.book.findings import said
from recbias.claims.quantities import slope
from recbias.claims.regions import defined
from recbias.experiment.makers import Table
from recbias.experiment.run import Results

_MARKED = ("pLSA", "Popularity", "Random")
"""Systems that stand out: a good one, the one for everybody, and chance."""

_LINE = 50
"""Characters of a line of a title in a narrow figure."""

_ALL = "median of the systems, from the least to the most"

_WITH_NUMBERS = 10
"""So many systems leave room for numbers in the cells of a matrix."""


def _kept_labels(results: Results, label: str) -> dict[int, str]:
    """Name the labels of one protocol by the percent of the test ratings that are kept."""
    grid = results.grid
    same = [name for name, protocol in grid.parsed.items() if protocol == grid.parsed[label]]
    labels: dict[int, str] = {}
    for name in (label, *same):
        labels.setdefault(100 - grid.test(name).removed, name)
    return dict(sorted(labels.items()))


def lists(results: Results, cutoff: int) -> Figure:
    """Show what is known of the items in a list: liked, rated lower, or nothing."""
    labels = _kept_labels(results, "AR")
    least = min(labels)
    metrics = [results.metric("AR", name) for name in ("P", "antiP")]
    best = results.table("AR", metrics[0])["value"].sort_values(ascending=False, kind="stable")
    rows = []
    for percent, system in product((100, least), best.index):
        liked, lower = (
            100 * results[system, labels[percent], str(metric)].value for metric in metrics
        )
        panel = "all test ratings" if percent == 100 else f"{percent} % of them"
        rows.append((panel, system, liked, lower, 100 - liked - lower))
    return Figure(
        "lists",
        pd.DataFrame(rows, columns=["panel", "system", "relevant", "rated lower", "not rated"]),
        said(
            "own/AR-TENTH", {"systems": results}, width=_LINE,
            holds="The same lists, judged by a tenth of the test ratings, keep {value} of their "
            "precision at most",
            refuted="The same lists, judged by a tenth of the test ratings: {which} keeps {value} "
            "of its precision",
            open="The same lists, judged by a tenth of the test ratings: even {which} keeps "
            "{value} of its precision",
        ),
        "Stacked bars for each system in two panels: shares of the recommended items that are "
        "known to be relevant, that the user rated as not relevant, and that the user did not "
        "rate.",
        partial(
            parts, row="system", across="% of the list", most=100, width=NARROW,
            colours={"relevant": "C0", "rated lower": "C1", "not rated": "0.85"},
            inside="relevant", a_row=0.21,
        ),
    )  # fmt: skip


def larger(results: Results, cutoff: int) -> Figure:
    """Show 1R precision as target sets grow, beside what 1/t predicts: BCC17 Fig. 4, right."""
    sizes = {
        sampled: ("sizes", str(each))
        for each in results.grid.parsed_metrics["sizes"]
        if each.name == "P" and (sampled := dict(each.given).get("t"))
    }
    rows = []
    for system in results.systems:
        smallest = results[system, *sizes[min(sizes)]].value * min(sizes)
        for size, label_and_metric in sorted(sizes.items()):
            quantity = results[system, *label_and_metric]
            rows.append((system, size, quantity.value, *quantity.interval, smallest / size))
    return Figure(
        "larger",
        pd.DataFrame(rows, columns=["system", "size", "value", "low", "high", "predicted"]),
        said(
            "BCC17-F4R/3", {"systems": results}, width=_LINE,
            holds="In larger target sets 1R precision falls as 1/t, that of {which} as t to the "
            "power {value:.2f}",
            refuted="In larger target sets 1R precision falls more slowly than 1/t: that of "
            "{which} goes as t to the power {value:.2f}",
            open="In larger target sets 1R precision falls, that of {which} as t to the power "
            "{value:.2f} ({low:.2f} to {high:.2f})",
        ),
        "1R precision of each system against the size of the target sets, both in logarithms, "
        "each beside a line that falls as 1/t from its first mark.",
        partial(
            lines, x="size", line="system", joined=False, whiskers=True, marked=_MARKED,
            across="size t of the target sets", up=f"1RP@{cutoff}", log=True, log_up=True,
            predicted="as 1/t", width=NARROW,
        ),
        f"larger-{results.dataset['name']}",
    )  # fmt: skip


def _kept(results: Results, label: str, metric: str) -> dict[int, tuple[str, str]]:
    """Find a metric of a protocol by the percent of the test ratings that are kept."""
    return {percent: (name, metric) for percent, name in _kept_labels(results, label).items()}


def halved(results: Results) -> Figure:
    """Show what half of the test ratings leave of each metric, from its slope in logarithms."""

    def message(rows: pd.DataFrame) -> str:
        left = rows.set_index("metric")["value"].sort_values(kind="stable")
        return (
            f"Half of the test ratings leave {defined(left.iloc[0], '.0f')} % of {left.index[0]},\n"
            f"and {defined(left.iloc[-1], '.0f')} % of {left.index[-1]}"
        )

    rows = []
    for label, (words, chosen) in _FOLLOWED.items():
        for metric in results.grid.parsed_metrics[label]:
            if chosen and metric.name not in chosen:
                continue
            name = words.format(str(metric).partition("|")[0])
            courses = (
                {
                    percent: results[system, *key]
                    for percent, key in _kept(results, label, str(metric)).items()
                }
                for system in results.systems
            )
            left = pd.Series([100 * 0.5 ** slope(course).value for course in courses])
            rows.append((name, _ALL, left.median(), left.min(), left.max()))
    return Figure(
        "halved",
        pd.DataFrame(rows, columns=["metric", "line", "value", "low", "high"]),
        message,
        "What half of the test ratings leave of each metric, in percent of its value: a mark for "
        "the median of all systems, and a bar from the least to the most.",
        partial(
            dots, row="metric", levels=(50, 100), width=NARROW, a_row=0.3,
            across="% that is left by half of the test ratings",
        ),
        f"halved-{results.dataset['name']}",
    )  # fmt: skip


_FOLLOWED = {"AR": ("{}", ("P",)), "liked": ("{}", ()), "all-1R": ("1R{}", ("P",))}
"""What metrics under a label are called, and which are shown; all if none is named."""


def saturation(worlds: Table) -> Figure:
    """Show what normalised metrics do as ever more pairs of a world are judged."""

    def message(rows: pd.DataFrame) -> str:
        last = rows[(rows["judged"] == rows["judged"].max()) & (rows["system"] == "Random")]
        times = (last["value"] / last["predicted"]).to_list()
        times_said = ", ".join(
            f"{metric} {x:.2f}" for metric, x in zip(last["panel"], times, strict=True)
        )
        return f"Random with everything judged, over the ratio\nof the paper: {times_said}"

    panels = []
    for name, words in {"AP": "MAP", "nDCG": "nDCG", "R": "recall"}.items():
        own = worlds.select(metric=name)
        own = own.assign(panel=words, predicted=own["positive"] / (1 - own["positive"]))
        panels.append(own[["panel", "system", "judged", "value", "low", "high", "predicted"]])
    return Figure(
        "saturation",
        pd.concat(panels, ignore_index=True),
        message,
        "MAP, nDCG and recall of four systems against the share of all pairs outside training that "
        "is judged, beside the ratio of positive to negative ratings.",
        partial(
            lines, x="judged", line="system", joined=False, whiskers=True, from_zero=True,
            across="% judged", up={"MAP": "value"}, n_columns=1, height=1.9, share_x=True,
            width=NARROW,
        ),
        "saturation",
    )  # fmt: skip


# -- how many sampled items are enough -------------------------------------------------------------


def orders(drawn: Table, cutoff: int) -> Figure:
    """Show the rank of every system over the number of sampled items."""
    size, largest = drawn.given["size"], int(drawn.frame["size"].max())
    pairs = f"{int(at_size(drawn)['sure'].sum())} pairs that all items tell apart"

    def draw(rows: pd.DataFrame, *, title: str) -> Picture:
        followed = ranked_pairs(rows[rows["size"] > min(cutoff, largest - 1)])
        # Where the largest target set is one above the cutoff, there is one size.
        limits = (cutoff, max(largest - 1, cutoff + 1))
        return ranks(
            followed,
            title=title,
            x="sampled",
            across="sampled items",
            level=size - 1,
            limits=limits,
            width=NARROW,
        )

    return Figure(
        "orders",
        drawn.frame,
        said(
            "own/NEGATIVES-TURNED",
            {"negatives": drawn},
            width=_LINE - 6,  # words as bold as these are wider than most
            holds=f"{size - 1:,} sampled items put {{value}} of {pairs} in the wrong order",
            refuted=f"{size - 1:,} sampled items put none of {pairs} in the wrong order",
            open=f"{size - 1:,} sampled items may put {{low}} to {{high}} of {pairs} in the wrong "
            "order",
        ),
        "Lines of the ranks of all systems against the number of sampled items, on a logarithmic "
        "axis.",
        draw,
        f"orders-{drawn.dataset_name}",
    )


def enough_sampled(drawn: Table) -> Figure:
    """Show how many sampled items are enough for each pair of systems."""
    size, pool = drawn.given["size"], int(drawn.frame["size"].max()) - 1

    def message(rows: pd.DataFrame) -> str:
        needed = rows.loc[rows["resolved"], "size"]
        if needed.empty:
            return "All items order no pair of systems beyond chance"
        return (
            f"{size - 1:,} sampled items are enough for {int((needed <= size).sum()):,} of "
            f"{len(needed):,} pairs,\n{int(needed.max()) - 1:,} of {pool:,} for all of them"
        )

    return Figure(
        "enough",
        enough(drawn),
        message,
        "A matrix of systems by systems; each cell has the number of sampled items that are enough "
        "for the pair.",
        partial(_draw_enough, pool=pool),
        f"enough-{drawn.dataset_name}",
    )


def _draw_enough(rows: pd.DataFrame, *, title: str, pool: int) -> Picture:
    wins = rows["a"].value_counts()
    names = sorted(set(rows["a"]) | set(rows["b"]), key=lambda name: -wins.get(name, 0))
    numbers = [str(number + 1) for number in range(len(names))]
    place = {name: f"{number}  {name}" for number, name in zip(numbers, names, strict=True)}
    cells = []
    row: Any
    for row in rows[rows["resolved"]].itertuples():
        i, j = sorted((names.index(row.a), names.index(row.b)))
        for down, across, needed in ((i, j, row.size - 1), (j, i, row.shared - 1)):
            text = _short(needed) if len(names) <= _WITH_NUMBERS else ""
            cells.append((place[names[down]], numbers[across], needed, text))
    return matrix(
        pd.DataFrame(cells, columns=["system", "other", "value", "text"]),
        title=title, row="system", column="other", names=(list(place.values()), numbers), log=True,
        scale=(10, max(pool, 100)), colours="viridis_r", key="sampled items that are enough",
        width=NARROW,
    )  # fmt: skip


def _short(number: float) -> str:
    """Write a number in at most three characters."""
    return f"{number:.0f}" if number < 1000 else f"{number / 1000:.0f}k"


# -- how many judgments are enough ----------------------------------------------------------------


def told_apart(densities: Table) -> Figure:
    """Show how many pairs of systems are told apart, by the share of the test ratings."""

    def message(rows: pd.DataFrame) -> str:
        values = rows.loc[rows["design"] == "AR", "value"]
        tenth, hundredth = (int((values < share).sum()) for share in (0.1, 0.01))
        return (
            f"All test ratings tell {int((values < 1).sum())} of {len(values)} pairs apart under "
            f"AR,\none in ten {tenth}, and one in a hundred {hundredth}"
        )

    def draw(rows: pd.DataFrame, *, title: str) -> Picture:
        return lines(
            pairs_by_share(rows), title=title, x="kept", y="pairs", log=True, height=3.2,
            across="test ratings kept, %", up="pairs told apart", points=False,
            limits={"ylim": (0, None)}, width=NARROW,
        )  # fmt: skip

    return Figure(
        "told_apart",
        densities.frame,
        message,
        "Number of pairs of systems that are told apart against the share of test ratings that is "
        "kept, a line for AR, 1R and recall each.",
        draw,
        f"densities-{densities.dataset_name}",
    )
