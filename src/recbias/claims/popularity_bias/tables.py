"""What the figures and tables of chapter 3 show of simulated worlds, and the titles of figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
import pandas as pd

from recbias.claims.ledger import claims
from recbias.claims.popularity_bias.concentration import STEPS, share_of_most_popular
from recbias.claims.popularity_bias.law import world_name
from recbias.claims.quantities import over_worlds
from recbias.makers import Table
from recbias.simulation import PowerLawOptions, parse_world, power_law

__all__ = [
    "bounds_over_exponents",
    "bounds_title",
    "exponents_title",
    "law_curves",
    "laws_title",
    "over_exponents",
    "published_at_zero",
    "rankings_title",
]


def law_curves(alphas: Sequence[float]) -> pd.DataFrame:
    """Cumulate the counts that a power law gives to items, by its exponent.

    Parameters
    ----------
    alphas
        Exponents.

    Returns
    -------
    DataFrame
        A column for each; the index is the share of the items, most popular first.

    Examples
    --------
    >>> found = law_curves([0, 2])
    >>> list(found.columns), round(float(found.loc[0.5, "exponent 0"]), 6)
    (['exponent 0', 'exponent 2'], 0.5)
    """
    shares = np.linspace(0, 1, STEPS + 1)
    found = {}
    for alpha in alphas:
        world = cast(PowerLawOptions, parse_world(world_name(alpha, 1)))
        law = power_law(world.items, 1.0, alpha=alpha, offset=world.offset or 0.0)
        found[f"exponent {alpha:g}"] = share_of_most_popular(law, shares)
    return pd.DataFrame(found, index=pd.Index(shares, name="share of items"))


def laws_title(laws: Table) -> str:
    """Say in two lines between which Gini coefficients the exponents reach."""
    ginis = laws.frame.groupby("alpha")["gini"].mean()
    low, high = (ginis.loc[alpha] for alpha in (ginis.index.min(), ginis.index.max()))
    return (
        f"From exponent {ginis.index.min():g} to {ginis.index.max():g} the counts of items go\n"
        f"from a Gini coefficient of {low:.2f} to {high:.2f}"
    )


def over_exponents(table: Table, column: str, systems: Sequence[str]) -> pd.DataFrame:
    """Average a column over the worlds of each exponent, system by system.

    Parameters
    ----------
    table
        With index columns ``alpha``, ``number`` and ``system``.
    column
        What is averaged.
    systems
        In this order.

    Returns
    -------
    DataFrame
        Rows of ``system``, ``alpha``, ``value``, and the ends ``low`` and ``high`` of its 95 %
        interval over worlds (Student's t).
    """
    rows = []
    for system in systems:
        own = table.select(system=system)
        for alpha, values in own.groupby("alpha")[column]:
            found = over_worlds(values)
            rows.append((system, alpha, found.value, *found.interval))
    return pd.DataFrame(rows, columns=["system", "alpha", "value", "low", "high"])


def exponents_title(found: pd.DataFrame, metric: str) -> str:
    """Say in two lines what Popularity scores at either end, and Random beside it."""
    at = found.set_index(["system", "alpha"])["value"]
    first, last = (float(end) for end in (found["alpha"].min(), found["alpha"].max()))
    ends = [at["Popularity", alpha] for alpha in (first, last)]
    return (
        f"Without taste, {metric} of Popularity goes from {ends[0]:.4f} to {ends[1]:.3f}\n"
        f"with the skew; that of Random is {at['Random', first]:.4f} at first"
    )


def published_at_zero() -> dict[tuple[str, float], float]:
    """Give the two values of Fig. 5 (centre) that the paper prints, by system and exponent.

    Examples
    --------
    >>> sorted(published_at_zero())
    [('Popularity', 0.0), ('Random', 0.0)]
    """
    (claim,) = (claim for claim in claims() if claim.id == "BCC17-C-UNIF")
    names = {"Popularity": "Pop", "Random": "Random"}
    return {(system, 0.0): float(claim.values[name]) for system, name in names.items()}


def bounds_over_exponents(skew: Table, laws: Table, metric: str) -> pd.DataFrame:
    """Set precision of Popularity under 1R, the lemma's bounds and the closed form side by side.

    Parameters
    ----------
    skew, laws
        Of simulated worlds.
    metric
        Such as ``"P@10|t=100"``.

    Returns
    -------
    DataFrame
        A row per ``alpha``, means over worlds: ``value``, ``lower`` and ``upper`` of the lemma, and
        ``closed``, the lower bound of the closed form.
    """
    of_runs = metric.removeprefix("P")
    columns = {metric: "value", f"lower{of_runs}": "lower", f"upper{of_runs}": "upper"}
    own = skew.select(system="Popularity").groupby("alpha")[list(columns)].mean()
    closed = laws.frame.groupby("alpha")["closed_lower"].mean()
    return own.rename(columns=columns).assign(closed=closed).reset_index()


def bounds_title(found: pd.DataFrame) -> str:
    """Say in two lines by how much the closed form misses."""
    ratio = found["closed"] / found["value"]
    return (
        "The lower bound in closed form is above what it bounds:\n"
        if (ratio > 1).all()
        else "The lower bound in closed form against what it bounds:\n"
    ) + f"{ratio.min():.2f} to {ratio.max():.2f} times as large"


def rankings_title(found: pd.DataFrame, metric: str) -> str:
    """Say in two lines which ranking for everybody comes first, and how far Popularity is from it.

    Parameters
    ----------
    found
        As :func:`recbias.claims.non_personalised.measured_beside_predicted` gives it.
    metric
        What is shown.
    """
    best = str(found["value"].idxmax())
    if best == "Popularity":
        second = str(found["value"].drop(best).idxmax())
        return f"Popularity has the highest {metric} of them,\n{second} the next"
    ratio = found.loc["Popularity", "value"] / found.loc[best, "value"]
    return f"{best} has the highest {metric},\nPopularity {ratio:.0%} of it"
