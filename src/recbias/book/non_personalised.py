"""What rankings that treat all users alike score, beside what theory predicts: chapters 2 and 3.

`baseline_grid` measures them; :mod:`recbias.book.predictions` makes the table of what BCC17
Sections 4.1 and 5.1 expect of them. Here both are compared: for criteria, and on pages.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from recbias.book.html import markdown_table, plain
from recbias.claims.combinators import Function
from recbias.claims.evidence import Evidence
from recbias.claims.quantities import deviation, extreme, slope, spread
from recbias.claims.records import Record, Term
from recbias.claims.regions import defined
from recbias.data.ratings import exact
from recbias.experiment.makers import Table
from recbias.experiment.results import Quantity
from recbias.experiment.run import Results
from recbias.protocol.testset import TestSet
from recbias.recommenders import System, line_up
from recbias.theory import FORMS

BASELINES = ("Random", "Popularity", "Positive count", "Average rating", "Odds of a hit")
"""Rankings that are the same for all users, up to what they have in training."""

FLOOR = ("pLSA", "MF (rating prediction)", "kNN (rating prediction)")
"""The other systems of BCC17 Fig. 2, of which Section 4.2 says that they are above Random."""

INDEX = ("quantity", "label", "system")
"""What names a row of the predictions."""


def baselines(min_rating: float, *, floor: bool = False) -> list[System]:
    """Return the rankings of :data:`BASELINES`."""
    known = {system.name: system for system in line_up("bcc17")}
    return [
        *(known[name] for name in BASELINES[:2]),
        System(BASELINES[2], "RelevantPopularity", {"min_rating": min_rating}),
        System(BASELINES[3], "AverageRating", {}),
        System(BASELINES[4], "OptimalPrecision", {"min_rating": min_rating}),
        *(known[name] for name in FLOOR if floor),
    ]


def baseline_grid(
    min_rating: float,
    *,
    cutoff: int,
    size: int,
    floor: bool = False,
    n_items: float = math.inf,
) -> dict[str, Any]:
    """Say what is measured of the rankings: protocols and metrics of a grid, by label.

    Examples
    --------
    >>> list(baseline_grid(5, cutoff=10, size=100)["metrics"])
    ['AR', 'all-1R', 'all-1R whole']
    >>> grid = baseline_grid(5, cutoff=10, size=100, floor=True)
    >>> grid["metrics"]["AR sampled"], grid["metrics"]["1R long"], grid["tests"]
    (('P@10|N=99',), ('P@50|t=100',), {'AR half': 'observed removed=50%'})
    """
    precision, short, long = f"P@{cutoff}", f"P@{max(1, cutoff // 2)}", 5 * cutoff
    metrics: dict[str, tuple[str, ...]] = {
        "AR": (precision, "rho"),
        "all-1R": (*(f"{name}@{cutoff}|t={size}" for name in _OF_RUNS), f"rho|t={size}"),
        "all-1R whole": (precision,),
    }
    if floor:
        metrics |= {
            "AI": (precision,),
            "AR half": (precision, "rho"),
            "AR short": (short,),
            "AR long": (f"P@{long}",),
            "AR sampled": (f"{precision}|N={size - 1}",),
            "1R short": (f"{short}|t={size}",),
            "1R long": (f"P@{long}|t={size}",),
        }
        room = {"AR long": n_items, "1R long": min(size, n_items)}
        metrics = {
            label: names for label, names in metrics.items() if long <= room.get(label, long)
        }
    rules = {label: "TI-AN-1R" if "1R" in label else "TI-AN-AR" for label in metrics}
    rules |= {"AI": "AI-AN-AR"} if floor else {}
    protocols = {label: f"{rule} rel>={exact(min_rating)}" for label, rule in rules.items()}
    tests = {"AR half": str(TestSet(removed=50))} if floor else {}
    return {"protocols": protocols, "metrics": metrics, "tests": tests}


_OF_RUNS = ("P", "lower", "upper")


# -- what criteria compute ---------------------------------------------------------------------


def _from_table(evidence: Evidence, term: Term, system: str = "") -> Quantity:
    """Read what is predicted: a term's metric is its ``quantity``."""
    names = dict(zip(INDEX, (term.metric, term.label, term.system or system), strict=True))
    return evidence.of_table(term.table, names, term.edition or "")


def _predicted(evidence: Evidence, record: Record) -> Quantity:
    """Return a predicted quantity itself."""
    (term,) = record.of
    return _from_table(evidence, term)


def _predicted_ratio(evidence: Evidence, record: Record) -> Quantity:
    """Divide a predicted quantity by another; by several others, of which the largest counts."""
    first, *others = (_from_table(evidence, term) for term in record.of)
    ratios = {str(place): first / other for place, other in enumerate(others)}
    return extreme(ratios, largest=False)[1]


def _over(evidence: Evidence, record: Record) -> dict[str, Quantity]:
    """Divide a measured quantity by its prediction, for each system."""
    measured, predicted = record.of
    names = evidence.systems(record) if record.systems else [""]
    ratios = {}
    for name in names:
        quantity = evidence.quantity(measured, system=name)
        ratios[name] = quantity / _from_table(evidence, predicted, name)
    return ratios


def _over_prediction(evidence: Evidence, record: Record) -> Quantity:
    """Divide a measured quantity by its prediction; of several systems the extreme."""
    return extreme(_over(evidence, record), largest=record.take == "largest")[1]


def _off_prediction(evidence: Evidence, record: Record) -> Quantity:
    """Tell how far a measured quantity is from its prediction; of several systems the farthest."""
    one = Quantity(1.0, np.ones(1))
    deviations = {name: deviation(ratio, one) for name, ratio in _over(evidence, record).items()}
    return extreme(deviations, largest=True)[1]


def _spread_over_prediction(evidence: Evidence, record: Record) -> Quantity:
    """Divide the largest ratio of measured to predicted by the smallest."""
    return spread(_over(evidence, record).values())


def _ratio_of_overs(evidence: Evidence, record: Record) -> Quantity:
    """Divide a measured over a predicted quantity by another such ratio."""
    first, second = (
        _over(evidence, dataclasses.replace(record, of=pair))[""]
        for pair in (record.of[:2], record.of[2:])
    )
    return first / second


def _gap_ratio(evidence: Evidence, record: Record) -> Quantity:
    """Divide the gap of the first two quantities by that of the others; the largest of systems."""
    ratios = {}
    for name in evidence.systems(record):
        a, b, c, d = (evidence.quantity(term, system=name) for term in record.of)
        ratios[name] = (a - b) / (c - d)
    return extreme(ratios, largest=True)[1]


def _slope_in_sizes(evidence: Evidence, record: Record) -> Quantity:
    """Fit the slope of a quantity between two sizes of target sets, in logarithms."""
    first, second, *sizes = record.of
    places = [_from_table(evidence, term).value for term in sizes]
    values = [evidence.quantity(term) for term in (first, second)]
    return slope(dict(zip(places, values, strict=True)))


FUNCTIONS: Mapping[str, Function] = {
    "predicted": _predicted,
    "predicted_ratio": _predicted_ratio,
    "over_prediction": _over_prediction,
    "off_prediction": _off_prediction,
    "spread_over_prediction": _spread_over_prediction,
    "ratio_of_overs": _ratio_of_overs,
    "gap_ratio": _gap_ratio,
    "slope_in_sizes": _slope_in_sizes,
}
"""By the name that a record gives them."""


# -- what pages show ---------------------------------------------------------------------------


def measured_beside_predicted(
    results: Results, table: Table, *, runs: bool = False, names: Iterable[str] = BASELINES
) -> pd.DataFrame:
    """Set what the rankings score beside what theory predicts of it."""
    label = "all-1R" if runs else "AR"
    metric = str(results.metric(label, "P"))
    rows = {}
    for name in names:
        quantity = results[name, label, metric]
        low, high = quantity.interval
        rows[name] = {"value": quantity.value, "low": low, "high": high}
        for form in ("lower", "upper") if runs else FORMS:
            prediction = table[{"quantity": form, "label": label, "system": name}]
            rows[name][form] = prediction.value
        for bound in ("lower", "upper") if runs else ():
            measured = results[name, label, str(results.metric(label, bound))]
            rows[name][f"{bound}, lemma"] = measured.value
    return pd.DataFrame.from_dict(rows, orient="index")


def predictions_table(results: Results, table: Table, *, names: Iterable[str] = BASELINES) -> str:
    """Write what `measured_beside_predicted` finds under AR and under 1R as a table."""

    def between(low: float, high: float) -> str:
        if math.isnan(low) or math.isnan(high):
            return "undefined"
        return f"{low:.4f} to {high:.4f}"

    by_users, by_runs = (
        measured_beside_predicted(results, table, runs=runs, names=names) for runs in (False, True)
    )
    rows = []
    for name, one, run in zip(
        by_users.index, by_users.to_dict("records"), by_runs.to_dict("records"), strict=True
    ):
        rows.append(
            (
                plain(str(name)),
                f"{defined(one['value'], '.4f')} ({between(one['low'], one['high'])})",
                *(defined(one[form], ".4f") for form in FORMS),
                f"{defined(run['value'], '.4f')} ({between(run['low'], run['high'])})",
                between(run["lower"], run["upper"]),
                between(run["lower, lemma"], run["upper, lemma"]),
            )
        )
    head = ("ranking", "AR", "by Eq. 3", "by the odds", "1R", "closed bounds", "bounds (lemma)")
    return markdown_table(head, rows)
