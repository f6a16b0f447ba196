"""The figures of chapter 4: what remedies leave of popularity bias, and what they do to orders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import cast

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as Picture

from recbias.book.chapters.overcoming_popularity_bias.best import best_protocols, over_relations
from recbias.book.chapters.overcoming_popularity_bias.best_gamma import gamma_courses, gamma_text
from recbias.book.chapters.overcoming_popularity_bias.figure_9 import STRATIFIED
from recbias.book.chapters.overcoming_popularity_bias.positive_ratio import ratio_segments
from recbias.book.chapters.overcoming_popularity_bias.setup import FIGURE_8
from recbias.book.chapters.overcoming_popularity_bias.steck import steck_errors
from recbias.book.chapters.overcoming_popularity_bias.truth_tables import true_order_shares
from recbias.book.chapters.overcoming_popularity_bias.worlds import PROTOCOLS, TRUTHS
from recbias.book.chapters.popularity_bias.concentration import short_title
from recbias.book.chapters.popularity_bias.law import world_name
from recbias.book.figures import Figure, bars, dots, lines, matrix, parts
from recbias.book.figures.panels import COLOURS
from recbias.claims.regions import defined
from recbias.data.simulation import PowerLawOptions, parse_world, power_law
from recbias.experiment.makers import Table
from recbias.experiment.results import Quantity
from recbias.experiment.run import Results
from recbias.protocol.splits import uniform_plan

_EXPONENT = 1.4
"""What BCC17 fits to MovieLens 1M."""

_SYSTEM = "Popularity"
"""The system whose places and values messages tell."""

_ONE, _ALL = "one relevant item at a time", "all relevant items"

_NAMES = {
    "1R": (_ONE, "1R"),
    "head": (_ONE, "1R without the head"),
    "U1R": (_ONE, "uniform test (U1R)"),
    "P1R": (_ONE, "percentiles (P1R)"),
    "AR-level": (_ALL, "AR, sampled"),
    "UAR": (_ALL, "uniform test (UAR)"),
    "AI-UAR": (_ALL, "uniform, whole catalogue (AI-UAR)"),
}
"""By label what is ranked at once, and what a test is called."""

_PANELS = {
    "1R": "1R",
    "head": "1R without\nthe head",
    "U1R": "uniform\n(U1R)",
    "P1R": "percentiles\n(P1R)",
    "AR-level": "AR,\nsampled",
    "UAR": "uniform\n(UAR)",
    "AI-UAR": "whole catalogue\n(AI-UAR)",
}

_OVER_GAMMA = partial(
    lines, x="gamma", even=True, across="$\\gamma$: how much less a popular item counts", height=3.4
)


def two_tests(sigma: float, eps: float) -> Figure:
    """Show how many test ratings items get by a random and by a uniform split: Fig. 6."""
    tenths, both = "10 percentiles", "uniform test"

    def message(rows: pd.DataFrame) -> str:
        first = rows[(rows["panel"] == both) & (rows["rank"] == 1)].set_index("line")["value"]
        times = float(first["random"] / first["uniform"])
        return (
            "A random split tests the most popular item with\n"
            f"{defined(times, '.0f')} times the ratings that a uniform test gives each"
        )

    world = cast(PowerLawOptions, parse_world(world_name(_EXPONENT, 1)))
    law = power_law(world.items, world.ratings or 0, alpha=world.alpha, offset=world.offset or 0.0)
    counts = np.maximum(np.rint(law), 1).astype(np.int64)
    plan = uniform_plan(counts, sigma, eps)
    uniform = np.zeros(len(counts))
    uniform[plan.items] = plan.n_each
    ranks = np.arange(1, len(counts) + 1)
    rows = [
        pd.DataFrame({"panel": panel, "line": line, "rank": ranks, "value": values})
        for panel, line, values in (
            (tenths, "random", sigma * counts),
            (both, "random", sigma * counts),
            (both, "uniform", uniform),
        )
    ]
    return Figure(
        "two_tests",
        pd.concat(rows, ignore_index=True),
        message,
        "Test ratings of items by popularity, under a random split falling steeply; left cut by "
        "vertical lines into ten percentiles, right beside a uniform test, the same for the "
        "first items and zero for others.",
        partial(
            lines, x="rank", points=False, share_y=True, limits={"ylim": (0, None)}, height=3.2,
            across="items, most popular first", up="test ratings of an item",
            cuts={tenths: np.linspace(0, len(counts), 11).tolist()},
        ),
    )  # fmt: skip


def _score(results: Mapping[str, Results], label: str, name: str, system: str) -> Quantity | None:
    """Find what a system has under a label, in whichever results it was measured."""
    for result in results.values():
        if label in result.grid.parsed:
            return result[system, label, str(result.metric(label, name))]
    return None


def over_random(results: Mapping[str, Results], cutoff: int) -> Figure:
    """Show the precision of Popularity under each test over what Random is expected to have."""

    def message(rows: pd.DataFrame) -> str:
        values = rows.set_index("label")["value"]
        ones = [label for label in ("head", "U1R", "P1R") if label in values]
        least = min(ones, key=lambda label: float(np.nan_to_num(values[label], nan=np.inf)))
        return (
            f"{_SYSTEM} has {defined(values['1R'], '.1f')} times Random's score by 1R,\n"
            f"and {defined(values[least], '.1f')} times by {least}"
        )

    rows = []
    for label, (line, name) in _NAMES.items():
        score = _score(results, label, "P", _SYSTEM)
        random = _score(results, label, "rho", _SYSTEM)
        if score is not None and random is not None:
            by_chance = random.value or np.nan
            ratios = (value / by_chance for value in (score.value, *score.interval))
            rows.append((label, name, line, *ratios))
    return Figure(
        "over_random",
        pd.DataFrame(rows, columns=["label", "protocol", "line", "value", "low", "high"]),
        message,
        "Precision of Popularity over that of a random ranking, a row for each test, those with "
        "one relevant item at a time first.",
        partial(
            dots, row="protocol", levels=(1,), log=True, across=f"P@{cutoff} over that of Random"
        ),
        "popularity-over-random",
    )


def remedies(results: Mapping[str, Results]) -> Figure:
    """Show what systems score under each test, one relevant item at a time and all: Fig. 8."""

    def message(rows: pd.DataFrame) -> str:
        ranks = rows.groupby("label")["value"].rank(ascending=False, method="min")
        at = rows.assign(rank=ranks).set_index(["label", "system"])["rank"]
        tests = [label for label in ("1R", "head", "U1R", "P1R") if (label, _SYSTEM) in at.index]
        places = [f"{int(at[label, _SYSTEM])} ({label})" for label in tests]
        n_systems = rows["system"].nunique()
        return f"Place of {_SYSTEM} among {n_systems} systems:\n{', '.join(places)}"

    first = next(iter(results.values()))
    by_1r = {name: _score(results, "1R", "P", name) for name in first.systems}
    order = sorted(by_1r, key=lambda name: -(score.value if (score := by_1r[name]) else 0.0))
    rows = []
    for label, (stripe, _) in _NAMES.items():
        for system in order:
            score = _score(results, label, "P", system)
            if score is not None:
                rows.append((stripe, label, _PANELS[label], system, score.value, *score.interval))
    cutoff = first.metric("1R", "P").cutoff
    return Figure(
        "remedies",
        pd.DataFrame(rows, columns=["stripe", "label", "panel", "system", "value", "low", "high"]),
        message,
        "Bars of the precision of all systems, four panels of tests with one relevant item at a "
        "time and three with all relevant items.",
        partial(
            bars, row="system", coloured_by="stripe", pale=("Popularity", "Random"),
            across={stripe: f"P@{cutoff}, {stripe}" for stripe in (_ONE, _ALL)},
        ),
        "figure-8",
    )  # fmt: skip


def positive_ratios(table: Table) -> Figure:
    """Show what share of the ratings of items says liking, by popularity: Fig. 7."""

    def message(rows: pd.DataFrame) -> str:
        top, bottom = rows["tenth"].iloc[0], rows["tenth"].iloc[-1]
        return (
            f"{short_title(table.dataset['title'])}: {defined(top, '.0%')} of the ratings of "
            f"popular items\nare relevant, {defined(bottom, '.0%')} of those of unpopular ones "
            "(tenths)"
        )

    rows = ratio_segments(table).assign(tenth=np.nan)
    for place, tenth in ((0, "top tenth"), (len(rows) - 1, "bottom tenth")):
        mean = table[{"quantity": "mean ratio", "label": tenth, "system": "items"}]
        rows.loc[place, "tenth"] = mean.value
    return Figure(
        "positive_ratio",
        rows,
        message,
        "Share of the ratings of items that are relevant, over segments of items from the most "
        "to the least popular.",
        partial(
            lines, x="segment", y="ratio", limits={"ylim": (0, None)},
            across="segments of items, most popular first", up="share of relevant ratings",
        ),
        "figure-7",
    )  # fmt: skip


_OF_UNIFORM = {"U1R": "uniform test (U1R)", "positive U1R": "U1R, every rating relevant"}
_OF_FOLDS = {"1R": "1R", "head": "1R without the head", "P1R": "percentiles (P1R)"}

_RANDOM, _LIKED, _MISSING, _TOGETHER = (
    "random ranking",
    "popular items are liked more often",
    "training items are no rivals",
    "not taken apart",
)
"""The parts of a score, in words."""


def causes(kept: Mapping[str, Results], cutoff: int) -> Figure:
    """Take apart what a ranking for everybody scores, one relevant item at a time."""

    def message(rows: pd.DataFrame) -> str:
        own = rows[rows["test"] == _OF_UNIFORM["U1R"]]
        liked, missing = (float(own[part].iloc[0]) for part in (_LIKED, _MISSING))
        left = liked + missing
        if left <= 0:
            return "A uniform test leaves Popularity nothing\nabove a random ranking"
        return (
            "Of what a uniform test leaves Popularity above Random,\n"
            f"{defined(liked / left, '.0%')} is owed to liking"
        )

    rows = {}
    for label, name in _OF_FOLDS.items():
        score, random = (_value(kept["kept"], label, what) for what in ("P", "rho"))
        rows[name] = {_RANDOM: random, _TOGETHER: score - random}
    for label, name in _OF_UNIFORM.items():
        uniform = kept["kept_uniform"]
        score, random = (_value(uniform, label, what) for what in ("P", "rho"))
        control, expected = (_value(uniform, f"{label}-control", what) for what in ("P", "rho"))
        liked = control - expected
        rows[name] = {_RANDOM: random, _LIKED: liked, _MISSING: score - random - liked}
    columns = [_RANDOM, _LIKED, _MISSING, _TOGETHER]
    frame = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
    return Figure(
        "kept",
        frame.rename_axis("test").reset_index(),
        message,
        "Stacked bars of the precision of Popularity in tests with one relevant item: what a "
        "random ranking has, and what liking and missing training items add in uniform tests.",
        partial(
            parts, row="test", across=f"P@{cutoff} of Popularity", numbers=".4f",
            colours=dict(zip(columns, ("0.75", "C0", "C1", "C2"), strict=True)),
        ),
        "what-is-left",
    )  # fmt: skip


def _value(results: Results, label: str, name: str) -> float:
    return results[_SYSTEM, label, str(results.metric(label, name))].value


# -- metrics for incomplete judgments --------------------------------------------------------------


_DESIGNS = {"AI": "AI-AN-AR", "AR": "TI-AN-AR", "1R": "1R"}
_STRIPES = {"bpref": "bpref", "infAP": "infAP", STRATIFIED: "stratified recall, $\\gamma$ = 1"}


def judged(results: Results) -> Figure:
    """Show bpref, infAP and stratified recall of the paper's systems: Fig. 9."""

    def message(rows: pd.DataFrame) -> str:
        own = rows[rows["panel"] == _DESIGNS["AR"]]
        ranks = own.groupby("stripe")["value"].rank(ascending=False, method="min")
        places = own.assign(rank=ranks).set_index(["stripe", "system"])["rank"]
        said = [f"{defined(places[row, _SYSTEM], '.0f')} by {row}" for row in _STRIPES]
        return f"Place of {_SYSTEM} among {len(FIGURE_8)} (TI-AN-AR):\n{', '.join(said)}"

    rows = []
    for stripe in _STRIPES:
        for label, panel in _DESIGNS.items():
            metrics = _named(results, label, stripe)
            for system in results.among(FIGURE_8) if metrics else ():
                quantities = [results[system, label, metric] for metric in metrics]
                values = [quantity.value for quantity in quantities]
                ends = (min(values), max(values)) if len(values) > 1 else (np.nan, np.nan)
                rows.append((stripe, panel, system, values[0], *quantities[0].interval, *ends))
    columns = ["stripe", "panel", "system", "value", "low", "high", "least", "most"]
    return Figure(
        "judged",
        pd.DataFrame(rows, columns=columns),
        message,
        "Bars of bpref, infAP and stratified recall of five systems, for the whole catalogue, "
        "all tested items and one relevant item at a time.",
        partial(
            bars, row="system", coloured_by="stripe", pale=("Popularity", "Random"),
            across=_STRIPES, share_x=False,
        ),
        "figure-9",
    )  # fmt: skip


def _named(results: Results, label: str, name: str) -> list[str]:
    """List the forms of a metric under a label; of stratified recall that with gamma 1."""
    return [
        str(metric)
        for metric in results.grid.parsed_metrics[label]
        if metric.name == name and (name != STRATIFIED or dict(metric.arguments)["gamma"] == 1)
    ]


def gammas(results: Results, cutoff: int, *, label: str = "AR") -> Figure:
    """Show stratified recall of all systems over gamma, relative to the best at each."""

    def message(rows: pd.DataFrame) -> str:
        places = rows[rows["line"] == _SYSTEM].set_index("gamma")["place"].sort_index()
        n_systems = rows["line"].nunique()
        return (
            f"{_SYSTEM} is at place {places.iloc[0]} of {n_systems} by recall,\n"
            f"and at place {places.iloc[-1]} where hits weigh one over positives"
        )

    rows = [
        (name, float(dict(metric.arguments)["gamma"]), results[name, label, str(metric)].value)
        for metric in results.grid.parsed_metrics[label]
        if metric.name == STRATIFIED
        for name in results.systems
    ]
    frame = pd.DataFrame(rows, columns=["line", "gamma", "value"])
    of_each = frame.groupby("gamma")["value"]
    frame = frame.assign(
        value=frame["value"] / of_each.transform("max").replace(0, np.nan),
        place=of_each.rank(ascending=False, method="min", na_option="bottom").astype(int),
    )
    return Figure(
        "gammas",
        frame,
        message,
        "A line for each system over gamma, from zero to infinity.",
        partial(_OVER_GAMMA, marked=FIGURE_8, up=f"recall@{cutoff} / best"),
        "gammas",
    )


# -- the truth -------------------------------------------------------------------------------------


def true_orders(tables: Mapping[str, Table], cutoff: int) -> Figure:
    """Show how many of the pairs of systems that a truth resolves each test has right."""

    def message(rows: pd.DataFrame) -> str:
        if rows.empty:
            return "No data with judgments of random items are at hand"
        sides: tuple[list[str], list[str]] = ([], [])
        for panel, of_panel in rows.groupby("panel", sort=False):
            by_names: dict[tuple[int, str], list[str]] = {}
            for truth, own in of_panel.groupby("line", sort=False):
                (plain,) = own[own["label"] == "AR"].to_dict("records")
                ahead, behind = own["low"] > plain["high"], own["high"] < plain["low"]
                for side, apart in enumerate((ahead, behind)):
                    if names := own.loc[apart, "label"].tolist():
                        by_names.setdefault((side, ", ".join(names)), []).append(str(truth))
            for (side, joined), truths in by_names.items():
                sides[side].append(f"{joined} on {panel} ({' and '.join(truths)})")
        first, second = (", ".join(side) or "none" for side in sides)
        return f"Surely ahead of AR: {first};\nsurely behind: {second}"

    return Figure(
        "agreement",
        true_order_shares(tables, cutoff=cutoff),
        message,
        "Share of the pairs of systems that each test has in their true order, a row for each "
        "test and a panel for each dataset, with two readings of the truth.",
        partial(dots, row="protocol", levels=(50,), across="pairs of systems in the true order, %"),
        "true-orders",
    )


def winners(worlds: Table) -> Figure:
    """Show which test is the best in which worlds, and how sure that is."""

    def message(rows: pd.DataFrame) -> str:
        words = []
        for panel, own in rows.groupby("panel", sort=False):
            counts = own["best"][own["others"] == ""].value_counts()
            leading = f"{counts.index[0]} {counts.iloc[0]}" if len(counts) else "none"
            plain = not len(counts) or counts.index[0] == "AR"
            words.append(f"{panel}: {leading}" + ("" if plain else f", AR {counts.get('AR', 0)}"))
        n_kinds = len(rows) // rows["panel"].nunique()
        return f"Surely best, of {n_kinds} kinds of worlds, " + ";\n".join(words)

    panels = [best_protocols(worlds, truth).assign(panel=f"by true {truth}") for truth in TRUTHS]
    rows = pd.concat(panels, ignore_index=True)
    return Figure(
        "winners",
        rows.assign(others=rows["others"].map(", ".join)),
        message,
        "Two maps over the relation of popularity and liking and the skew of popularity, with "
        "the name of the test that orders systems most nearly as the truth does in each field.",
        _draw_winners,
        "which-test",
    )


def _draw_winners(rows: pd.DataFrame, *, title: str) -> Picture:
    """Write into each kind of worlds its best test, with how many may be as good."""
    n_others = [len(others.split(", ")) if others else 0 for others in rows["others"]]
    words = [f"{name} +{n}" if n else name for name, n in zip(rows["best"], n_others, strict=True)]
    skews, relations = (sorted(rows[name].unique()) for name in ("skew", "relation"))
    cells = rows.assign(value=rows["best"], text=words, sure=[not n for n in n_others])
    cells = cells.assign(**{name: rows[name].map("{:g}".format) for name in ("skew", "relation")})
    return matrix(
        cells, title=title, row="skew", column="relation", a_row=0.42,
        names=([f"{skew:g}" for skew in reversed(skews)], [f"{each:g}" for each in relations]),
        colours=dict(zip(PROTOCOLS, COLOURS, strict=False)),
        labels=("relation of popularity and liking", "skew"),
    )  # fmt: skip


def over_relation(worlds: Table, *, told: Sequence[str] = ("AR", "U1R")) -> Figure:
    """Show how well each test orders systems over the relation of popularity and liking."""

    def message(rows: pd.DataFrame) -> str:
        own, words = rows[rows["panel"] == f"by true {TRUTHS[0]}"], []
        for name in told:
            taus = own[own["name"] == name].sort_values("relation")["value"]
            ends = (defined(taus.iloc[0], ".2f"), defined(taus.iloc[-1], ".2f"))
            words.append(f"{name} from {ends[0]} to {ends[1]}")
        return f"$\\tau$ with true {TRUTHS[0]}, from opposed to agreeing:\n{', '.join(words)}"

    panels = [over_relations(worlds, truth).assign(panel=f"by true {truth}") for truth in TRUTHS]
    return Figure(
        "relations",
        pd.concat(panels, ignore_index=True),
        message,
        "Kendall's tau of several tests with the truth over the relation of popularity and "
        "liking, a panel for each reading of the truth.",
        partial(
            lines, x="relation", line="name", whiskers=True, share_y=True, level=0,
            ticks=(-1, 0, 1), marked=("AR", "U1R", "P1R", "bpref", "SR"), keys_abreast=3,
            up="$\\tau$ with the truth", across="relation of popularity and liking", height=3.2,
        ),
        "tests-over-relations",
    )  # fmt: skip


def weights(table: Table) -> Figure:
    """Show how far stratified recall is from true recall, over gamma."""

    def message(rows: pd.DataFrame) -> str:
        values = rows["value"][rows["gamma"] == 1]
        return (
            "Weights by popularity do not give true recall:\n"
            f"with $\\gamma$ = 1 they are {values.min():+.0%} to {values.max():+.0%} off"
        )

    return Figure(
        "steck",
        steck_errors(table),
        message,
        "How far stratified recall is from true recall over gamma, a line for each relation of "
        "popularity and liking.",
        partial(_OVER_GAMMA, whiskers=True, up="printed / true recall - 1"),
        "stratified-recall-and-truth",
    )


def best_gamma(worlds: Table) -> Figure:
    """Show how well stratified recall orders systems, over gamma, by relation."""

    def message(rows: pd.DataFrame) -> str:
        best = rows.loc[rows.groupby("relation")["value"].idxmax()].set_index("relation")
        opposed, agreeing = (
            f"{gamma_text(row['gamma'])} ($\\tau$ = {defined(row['value'], '.2f')})"
            for row in (best.iloc[0], best.iloc[-1])
        )
        return (
            f"The best $\\gamma$ where popularity opposes liking is {opposed},\n"
            f"where it agrees {agreeing}"
        )

    return Figure(
        "best_gamma",
        gamma_courses(worlds, "P@10"),
        message,
        "Kendall's tau between the order of systems by stratified recall and by true precision, "
        "over gamma, a line for each relation of popularity and liking.",
        partial(_OVER_GAMMA, whiskers=True, up="$\\tau$ with true P@10"),
        "best-gammas",
    )
