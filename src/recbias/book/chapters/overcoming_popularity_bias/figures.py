"""The figures of chapter 4: what remedies leave of popularity bias, and what they do to orders."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from functools import partial

import numpy as np
import pandas as pd

from recbias.book.chapters.overcoming_popularity_bias.best import over_relations
from recbias.book.chapters.overcoming_popularity_bias.figure_9 import STRATIFIED
from recbias.book.chapters.overcoming_popularity_bias.nearest import READINGS
from recbias.book.chapters.overcoming_popularity_bias.positive_ratio import ratio_segments
from recbias.book.chapters.overcoming_popularity_bias.setup import FIGURE_8
from recbias.book.chapters.overcoming_popularity_bias.truth_tables import true_order_shares
from recbias.book.chapters.overcoming_popularity_bias.worlds import TRUTHS
from recbias.book.chapters.popularity_bias.concentration import short_title
from recbias.book.figures import NARROW, Figure, dots, lines, parts, ranks
from recbias.book.findings import said
from recbias.claims.regions import defined
from recbias.experiment.makers import Table
from recbias.experiment.results import Quantity
from recbias.experiment.run import Results

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

_OVER_RELATIONS = partial(
    lines, x="relation", line="name", whiskers=True, level=0, ticks=(-1, 0, 1), share_y=True,
    up="$\\tau$ with the truth", across="popular items are liked less (\N{MINUS SIGN}1), more (1)",
    height=3.2, width=NARROW,
)  # fmt: skip
_LINE = 44
"""Characters of a title that fit a narrow figure."""


def nearer(worlds: Table) -> Figure:
    """Hold a uniform test against a plain one: which orders systems more as the truth does."""
    results = {"worlds": worlds}
    names = {"AR": "plain test (AR)", "U1R": "uniform test (U1R)", "bpref": "bpref (dislikes)"}
    less = "Where popular items are liked less,"
    opposed = said(
        "own/UNIFORM-OPPOSED",
        results,
        holds=f"{less} a uniform test is nearer to the truth than a plain one;",
        refuted=f"{less} a uniform test is no nearer to the truth than a plain one;",
        open=f"{less} neither a uniform nor a plain test is seen to be nearer to the truth;",
    )
    agreeing = said(
        "own/UNIFORM-AGREE",
        results,
        holds="where they are liked more, the plain one is",
        refuted="where they are liked more, the plain one is not",
        open="where they are liked more, neither is seen to be",
    )
    rows = over_relations(worlds, TRUTHS[0], names=tuple(names))
    return Figure(
        "nearer",
        rows.assign(name=rows["name"].map(names)),
        textwrap.fill(f"{opposed} {agreeing}", _LINE),
        f"Kendall's tau of a uniform test, of a plain one and of bpref with the order by true "
        f"{TRUTHS[0]}, over the relation of popularity and liking.",
        partial(
            _OVER_RELATIONS,
            keys_abreast=2,
            looks=dict(zip(names.values(), (0, 1, 4), strict=True)),  # as in the later figure
        ),
        "uniform-and-plain",
    )


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
            dots, row="protocol", levels=(1,), log=True, width=NARROW,
            across=f"P@{cutoff} over that of Random",
        ),
        "popularity-over-random",
    )  # fmt: skip


def places(results: Mapping[str, Results]) -> Figure:
    """Follow the places of the paper's five systems from test to test: Fig. 8."""
    tests = {"1R": "1R", "head": "1R without\nthe head", "U1R": "U1R", "P1R": "P1R"}
    rows = [
        (test.replace("\n", " "), test, system, score.value)
        for label, test in tests.items()
        for system in next(iter(results.values())).among(FIGURE_8)
        if (score := _score(results, label, "P", system)) is not None
    ]
    return _of_places(rows, "places", "four tests with one relevant item at a time", "figure-8")


def counted_otherwise(results: Results) -> Figure:
    """Follow the places of the paper's five systems from metric to metric: Fig. 9."""
    metrics = {"P": "precision", "bpref": "bpref", "infAP": "infAP"}
    metrics[STRATIFIED] = "stratified\nrecall"
    rows = [
        (words.replace("\n", " "), words, system, results[system, "AR", metric].value)
        for name, words in metrics.items()
        for metric in [_named(results, name)]
        for system in results.among(FIGURE_8)
    ]
    return _of_places(rows, "counted_otherwise", "four metrics of one test", "figure-9")


def _named(results: Results, name: str) -> str:
    """Choose a metric of the plain test: the smallest pool of infAP, gamma 1."""
    return next(
        str(metric)
        for metric in results.grid.parsed_metrics["AR"]
        if metric.name == name and (name != STRATIFIED or dict(metric.arguments)["gamma"] == 1)
    )


def _of_places(rows: list[tuple[str, str, str, float]], name: str, over: str, file: str) -> Figure:
    def message(rows: pd.DataFrame) -> str:
        own = rows[rows["system"] == _SYSTEM]
        told = [f"{rank:.0f} by {label}" for label, rank in own[["label", "rank"]].to_numpy()]
        told[0] = told[0].replace(" by", f" of {rows['system'].nunique()} by", 1)
        return textwrap.fill(f"{_SYSTEM} is number {', '.join(told)}", _LINE)

    frame = pd.DataFrame(rows, columns=["label", "test", "system", "value"])
    by_test = frame.groupby("label", sort=False)["value"]
    return Figure(
        name,
        frame.assign(rank=by_test.rank(ascending=False, method="min", na_option="bottom")),
        message,
        f"Places of five systems, joined from one to the next of {over}.",
        partial(ranks, x="test", marked=(_SYSTEM,), width=NARROW),
        file,
    )


def positive_ratios(table: Table) -> Figure:
    """Show what share of the ratings of items says liking, by popularity: Fig. 7."""

    def message(rows: pd.DataFrame) -> str:
        top, bottom = rows["tenth"].iloc[0], rows["tenth"].iloc[-1]
        told = (
            f"{short_title(table.dataset['title'])}: a popular item has {defined(top, '.0%')} "
            f"relevant ratings on average, an unpopular one {defined(bottom, '.0%')}"
        )
        return textwrap.fill(told, _LINE)

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
            lines, x="segment", y="ratio", limits={"ylim": (0, None)}, width=NARROW,
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
            "Of what a uniform test leaves Popularity,\n"
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
            parts, row="test", across=f"P@{cutoff} of Popularity", numbers=".3f", width=NARROW,
            colours=dict(zip(columns, ("0.75", "C0", "C1", "C2"), strict=True)),
        ),
        "what-is-left",
    )  # fmt: skip


def _value(results: Results, label: str, name: str) -> float:
    return results[_SYSTEM, label, str(results.metric(label, name))].value


# -- the truth -------------------------------------------------------------------------------------


def agreement(tables: Mapping[str, Table]) -> Figure:
    """Show how many of the pairs of systems that the truth resolves each test has right."""
    words = [
        said(
            f"own/TRUTH-{key}-BPREF-AUC",
            tables,
            holds=f"more pairs right on {name}",
            refuted=f"fewer pairs right on {name}",
            open=f"a lead on {name} that is open",
        )
        for key, name in (("COAT", "Coat"), ("CM", "CM100k"))
    ]
    told = "No data with judgments of random items are at hand"
    if found := [each for each in words if each]:
        told = f"Against AR bpref has {' and '.join(found)}"
    return Figure(
        "agreement",
        true_order_shares(tables),
        textwrap.fill(told, _LINE),
        "Share of the pairs of systems that each test has in the order by true AUC, a row for each "
        "test and a panel for each dataset.",
        partial(
            dots, row="protocol", levels=(50,), across="pairs in the true order, %", width=NARROW
        ),
        "true-orders",
    )


def relations(worlds: Table) -> Figure:
    """Show how well four tests order systems over the relation of popularity and liking."""
    results, names = {"worlds": worlds}, ("bpref", "P1R", "U1R", "AR")
    in_worlds = said(
        "own/WORLDS-BPREF-AUC",
        results,
        holds="By all items bpref is nearest in {value:cases} of {cases} kinds of worlds;",
        refuted="By all items bpref is nearest in {value:cases} of {cases} kinds of worlds;",
        open="By all items bpref may be nearest in {low:cases} to {high:cases} kinds of worlds;",
    )
    ten = "by the first ten, where popular is liked most,"
    by_ten = said(
        "own/WORLDS-AGREE-BPREF",
        results,
        holds=f"{ten} it is behind AR",
        refuted=f"{ten} it is not always behind AR",
        open=f"{ten} it cannot be told from AR",
    )
    panels = [
        over_relations(worlds, truth, names=names).assign(panel=READINGS[truth]) for truth in TRUTHS
    ]
    return Figure(
        "relations",
        pd.concat(panels, ignore_index=True),
        textwrap.fill(f"{in_worlds} {by_ten}", _LINE),
        "Kendall's tau of four tests with the truth over the relation of popularity and liking, a "
        "panel for each reading of the truth.",
        partial(
            _OVER_RELATIONS, keys_abreast=4, across="relation to liking",
            looks={"AR": 0, "U1R": 1, "bpref": 4, "P1R": 7},  # two as in the first figure
        ),
        "tests-over-relations",
    )  # fmt: skip
