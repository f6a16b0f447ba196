"""What rankings that treat all users alike score, beside what theory predicts: chapters 2 and 3.

`baseline_grid` measures them; :mod:`recbias.book.predictions` makes the table of what BCC17
Sections 4.1 and 5.1 expect of them. Here both are compared: for criteria, and on pages.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import pandas as pd

from recbias.book.html import markdown_table, plain
from recbias.claims.regions import defined
from recbias.data.ratings import exact
from recbias.experiment.makers import Table
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
