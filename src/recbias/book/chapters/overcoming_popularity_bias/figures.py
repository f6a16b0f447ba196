"""What the figures about remedies and metrics show, and their titles: BCC17 Figures 6 to 9."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
import pandas as pd

from recbias.book.chapters.overcoming_popularity_bias.figure_9 import STRATIFIED
from recbias.book.chapters.overcoming_popularity_bias.setup import FIGURE_8
from recbias.book.chapters.popularity_bias.concentration import short_title
from recbias.book.chapters.popularity_bias.law import world_name
from recbias.book.html import interval_text, markdown_table
from recbias.claims.regions import defined
from recbias.data.simulation import PowerLawOptions, parse_world, power_law
from recbias.experiment.makers import Table
from recbias.experiment.results import Quantity
from recbias.experiment.run import Results
from recbias.protocol.splits import uniform_plan

_EXPONENT = 1.4
"""What BCC17 fits to MovieLens 1M."""

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


def two_tests(sigma: float, eps: float) -> pd.DataFrame:
    """Lay out how many test ratings items get by a random and by a uniform split: Fig. 6.

    Examples
    --------
    >>> ratings = two_tests(0.2, 0.2)
    >>> tested = ratings["uniform"] > 0
    >>> bool(tested.iloc[0]), bool(tested.iloc[-1]), ratings["uniform"].nunique()
    (True, False, 2)
    """
    world = cast(PowerLawOptions, parse_world(world_name(_EXPONENT, 1)))
    law = power_law(world.items, world.ratings or 0, alpha=world.alpha, offset=world.offset or 0.0)
    counts = np.maximum(np.rint(law), 1).astype(np.int64)
    plan = uniform_plan(counts, sigma, eps)
    uniform = np.zeros(len(counts), dtype=np.int64)
    uniform[plan.items] = plan.n_each
    ranks = np.arange(1, len(counts) + 1)
    return pd.DataFrame({"rank": ranks, "random": sigma * counts, "uniform": uniform})


def two_tests_title(found: pd.DataFrame) -> str:
    """Say in two lines what the most popular item has in either test."""
    first = found.iloc[0]
    times = first["random"] / first["uniform"]
    return (
        "A random split tests the most popular item with\n"
        f"{defined(times, '.0f')} times the ratings that a uniform test gives each"
    )


def _score(results: Mapping[str, Results], label: str, name: str, system: str) -> Quantity | None:
    """Find what a system has under a label, in whichever results it was measured."""
    for result in results.values():
        if label in result.grid.parsed:
            return result[system, label, str(result.metric(label, name))]
    return None


def over_random(results: Mapping[str, Results], *, system: str = "Popularity") -> pd.DataFrame:
    """Divide the precision of a system under each test by what Random is expected to have."""
    rows = []
    for label, (line, name) in _NAMES.items():
        score = _score(results, label, "P", system)
        random = _score(results, label, "rho", system)
        if score is not None and random is not None:
            by_chance = random.value or np.nan
            ratios = (value / by_chance for value in (score.value, *score.interval))
            rows.append((label, "", name, line, *ratios))
    columns = ["label", "panel", "protocol", "line", "value", "low", "high"]
    return pd.DataFrame(rows, columns=columns)


def over_random_title(found: pd.DataFrame, *, system: str = "Popularity") -> str:
    """Say in two lines how many times Random's score a system has, with and without a remedy."""
    values = found.set_index("label")["value"]
    ones = [label for label in ("head", "U1R", "P1R") if label in values]
    least = min(ones, key=lambda label: float(np.nan_to_num(values[label], nan=np.inf)))
    return (
        f"{system} has {defined(values['1R'], '.1f')} times Random's score by 1R,\n"
        f"and {defined(values[least], '.1f')} times by {least}"
    )


def draws_table(uniform: Results, labels: Sequence[str] = ("U1R", "UAR")) -> str:
    """Write what systems score in uniform tests, and how far single draws are from each other."""
    precision = {label: str(uniform.metric(label, "P")) for label in labels}
    values = uniform.values.set_index(["system", "label", "metric"])["fold_sd"]
    rows = []
    for system in uniform.systems:
        row = [system]
        for label, metric in precision.items():
            score = uniform[system, label, metric]
            spread = float(values[system, label, metric])
            row += [defined(score.value, ".4f"), interval_text(score), defined(spread, ".4f")]
        rows.append(row)
    names = [f"{name.partition('|')[0]}, {label}" for label, name in precision.items()]
    head = ["system", *(part for name in names for part in (name, "interval", "s.d. of draws"))]
    return markdown_table(head, rows)


def remedies_shown(results: Mapping[str, Results]) -> dict[str, Any]:
    """Lay out what systems score under each test, one relevant item at a time and all: Fig. 8."""
    first = next(iter(results.values()))
    rows = []
    for label, (row, _) in _NAMES.items():
        for system in first.systems:
            score = _score(results, label, "P", system)
            if score is not None:
                rows.append((row, label, _PANELS[label], system, score.value, *score.interval))
    columns = ["row", "label", "panel", "system", "value", "low", "high"]
    frame = pd.DataFrame(rows, columns=columns)
    by_1r = frame[frame["label"] == "1R"].set_index("system")["value"]
    cutoff = first.metric("1R", "P").cutoff
    return {
        "found": frame,
        "systems": list(by_1r.sort_values(ascending=False, kind="stable").index),
        "labels": {row: f"P@{cutoff}, {row}" for row in (_ONE, _ALL)},
    }


def places_title(found: pd.DataFrame, *, system: str = "Popularity") -> str:
    """Say in two lines which place a system has under each test with one relevant item."""
    ranks = found.assign(
        rank=found.groupby("label")["value"].rank(ascending=False, method="min")
    ).set_index(["label", "system"])["rank"]
    tests = [label for label in ("1R", "head", "U1R", "P1R") if (label, system) in ranks.index]
    places = [f"{int(ranks[label, system])} ({label})" for label in tests]
    n_systems = found["system"].nunique()
    return f"Place of {system} among {n_systems} systems:\n{', '.join(places)}"


def ratio_title(table: Table) -> str:
    """Say in two lines how often ratings of popular items and of others are relevant: Fig. 7."""
    top, bottom = (
        table[{"quantity": "mean ratio", "label": f"{tenth} tenth", "system": "items"}].value
        for tenth in ("top", "bottom")
    )
    return (
        f"{short_title(table.dataset['title'])}: {defined(top, '.0%')} of the ratings of popular "
        f"items\nare relevant, {defined(bottom, '.0%')} of those of unpopular ones (tenths)"
    )


_OF_UNIFORM = {"U1R": "uniform test (U1R)", "positive U1R": "U1R, every rating relevant"}
_OF_FOLDS = {"1R": "1R", "head": "1R without the head", "P1R": "percentiles (P1R)"}

RANDOM, LIKED, MISSING, TOGETHER = (
    "random ranking",
    "popular items are liked more often",
    "training items are no rivals",
    "not taken apart",
)
"""The parts of a score, in words."""


def causes_of_kept(kept: Mapping[str, Results], *, system: str = "Popularity") -> pd.DataFrame:
    """Take apart what a ranking for everybody scores, one relevant item at a time."""
    rows = {}
    for label, name in _OF_FOLDS.items():
        score, random = (_value(kept["kept"], label, what, system) for what in ("P", "rho"))
        rows[name] = {RANDOM: random, TOGETHER: score - random}
    for label, name in _OF_UNIFORM.items():
        score, random = (_value(kept["kept_uniform"], label, what, system) for what in ("P", "rho"))
        control, expected = (
            _value(kept["kept_uniform"], f"{label}-control", what, system) for what in ("P", "rho")
        )
        liked = control - expected
        rows[name] = {RANDOM: random, LIKED: liked, MISSING: score - random - liked}
    columns = [RANDOM, LIKED, MISSING, TOGETHER]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns)


def _value(results: Results, label: str, name: str, system: str) -> float:
    return results[system, label, str(results.metric(label, name))].value


def causes_title(found: pd.DataFrame) -> str:
    """Say in two lines which share of what U1R leaves above Random is owed to liking."""
    parts = found.loc[_OF_UNIFORM["U1R"]]
    left = parts[LIKED] + parts[MISSING]
    if left <= 0:
        return "A uniform test leaves Popularity nothing\nabove a random ranking"
    share: Any = parts[LIKED] / left
    return (
        f"Of what a uniform test leaves Popularity above Random,\n"
        f"{defined(share, '.0%')} is owed to liking"
    )


# -- metrics for incomplete judgments --------------------------------------------------------------


_DESIGNS = {"AI": "AI-AN-AR", "AR": "TI-AN-AR", "1R": "1R"}
_ROWS = {"bpref": "bpref", "infAP": "infAP", STRATIFIED: "stratified recall, $\\gamma$ = 1"}


def judged_shown(results: Results) -> dict[str, Any]:
    """Lay out bpref, infAP and stratified recall of the paper's systems: Fig. 9."""
    rows = []
    for row in _ROWS:
        for label, panel in _DESIGNS.items():
            metrics = _named(results, label, row)
            for system in results.among(FIGURE_8) if metrics else ():
                quantities = [results[system, label, metric] for metric in metrics]
                values = [quantity.value for quantity in quantities]
                ends = (min(values), max(values)) if len(values) > 1 else (np.nan, np.nan)
                rows.append((row, panel, system, values[0], *quantities[0].interval, *ends))
    columns = ["row", "panel", "system", "value", "low", "high", "least", "most"]
    return {
        "found": pd.DataFrame(rows, columns=columns),
        "systems": results.among(FIGURE_8),
        "labels": _ROWS,
    }


def _named(results: Results, label: str, name: str) -> list[str]:
    """List the forms of a metric under a label; of stratified recall that with gamma 1."""
    return [
        str(metric)
        for metric in results.grid.parsed_metrics[label]
        if metric.name == name and (name != STRATIFIED or dict(metric.arguments)["gamma"] == 1)
    ]


def judged_title(found: pd.DataFrame) -> str:
    """Say in two lines at which place Popularity is by each metric, all tested items ranked."""
    rows = found[found["panel"] == _DESIGNS["AR"]]
    ranks = rows.groupby("row")["value"].rank(ascending=False, method="min")
    places = rows.assign(rank=ranks).set_index(["row", "system"])["rank"]
    said = [f"{defined(places[row, 'Popularity'], '.0f')} by {row}" for row in _ROWS]
    return f"Place of Popularity among {len(FIGURE_8)} (TI-AN-AR):\n{', '.join(said)}"


def gammas_shown(results: Results, label: str = "AR") -> pd.DataFrame:
    """Lay out stratified recall of all systems over gamma, relative to the best at each."""
    rows = [
        (name, float(dict(metric.arguments)["gamma"]), results[name, label, str(metric)].value)
        for metric in results.grid.parsed_metrics[label]
        if metric.name == STRATIFIED
        for name in results.systems
    ]
    frame = pd.DataFrame(rows, columns=["line", "gamma", "value"])
    of_each = frame.groupby("gamma")["value"]
    return frame.assign(
        value=frame["value"] / of_each.transform("max").replace(0, np.nan),
        place=of_each.rank(ascending=False, method="min", na_option="bottom").astype(int),
    )


def gammas_title(found: pd.DataFrame, *, system: str = "Popularity") -> str:
    """Say in two lines at which place a system is without weights, and with the steepest ones."""
    places = found[found["line"] == system].set_index("gamma")["place"].sort_index()
    n_systems = found["line"].nunique()
    return (
        f"{system} is at place {places.iloc[0]} of {n_systems} by recall,\n"
        f"and at place {places.iloc[-1]} where hits weigh one over positives"
    )


def relations_title(
    found: Mapping[str, pd.DataFrame], *, names: Sequence[str] = ("AR", "U1R")
) -> str:
    """Say in two lines how tests agree with the first truth.

    From opposed worlds to agreeing ones.
    """
    truth, rows = next(iter(found.items()))
    lines = []
    for name in names:
        taus = rows[rows["name"] == name].sort_values("relation")["value"]
        lines.append(
            f"{name} from {defined(taus.iloc[0], '.2f')} to {defined(taus.iloc[-1], '.2f')}"
        )
    return f"$\\tau$ with true {truth}, from opposed to agreeing:\n{', '.join(lines)}"
