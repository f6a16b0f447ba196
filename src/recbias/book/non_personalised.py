"""What rankings that treat all users alike score, beside what theory predicts: chapters 2 and 3.

The chapters measure them; :mod:`recbias.book.predictions` makes the table of what BCC17
Sections 4.1 and 5.1 expect of them. Here both are compared: for criteria, and on pages.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import pandas as pd

from recbias.book.html import markdown_table, plain
from recbias.claims.regions import defined
from recbias.experiment.makers import Table
from recbias.experiment.run import Results
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


def baseline_metrics(cutoff: int, size: int) -> dict[str, tuple[str, ...]]:
    """Name what is measured of the rankings, by label of a protocol.

    Examples
    --------
    >>> baseline_metrics(10, 100)["all-1R"]
    ('P@10|t=100', 'lower@10|t=100', 'upper@10|t=100', 'rho|t=100')
    """
    of_runs = tuple(f"{name}@{cutoff}|t={size}" for name in ("P", "lower", "upper"))
    return {
        "AR": (f"P@{cutoff}", "rho"),
        "all-1R": (*of_runs, f"rho|t={size}"),
        "all-1R whole": (f"P@{cutoff}",),
    }


def floor_metrics(cutoff: int, size: int, n_items: float = math.inf) -> dict[str, tuple[str, ...]]:
    """Name what is measured where the systems of :data:`FLOOR` are among them.

    Lists of five times the length are left out where there are not so many items.

    Examples
    --------
    >>> metrics = floor_metrics(10, 100)
    >>> metrics["AR sampled"], metrics["1R long"], "AR long" in floor_metrics(10, 100, n_items=40)
    (('P@10|N=99',), ('P@50|t=100',), False)
    """
    precision, short, long = f"P@{cutoff}", f"P@{max(1, cutoff // 2)}", 5 * cutoff
    metrics = {
        **baseline_metrics(cutoff, size),
        "AI": (precision,),
        "AR half": (precision, "rho"),
        "AR short": (short,),
        "AR long": (f"P@{long}",),
        "AR sampled": (f"{precision}|N={size - 1}",),
        "1R short": (f"{short}|t={size}",),
        "1R long": (f"P@{long}|t={size}",),
    }
    room = {"AR long": n_items, "1R long": min(size, n_items)}
    return {label: names for label, names in metrics.items() if long <= room.get(label, long)}


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
