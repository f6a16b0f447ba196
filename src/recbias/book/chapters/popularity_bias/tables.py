"""What the figures and tables of chapter 3 show of simulated worlds, and the titles of figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import numpy as np
import pandas as pd

from recbias.book.chapters.popularity_bias.concentration import (
    STEPS,
    share_of_most_popular,
    short_title,
)
from recbias.book.chapters.popularity_bias.law import world_name
from recbias.book.chapters.popularity_bias.pure_skew import DATA, RANDOM, SHARE, WORLD
from recbias.book.chapters.popularity_bias.relation_map import mapped
from recbias.book.html import markdown_table, plain
from recbias.claims.ledger import claims
from recbias.claims.quantities import over_worlds
from recbias.claims.regions import defined
from recbias.data.datasets import dataset_info
from recbias.data.simulation import PowerLawOptions, parse_world, power_law
from recbias.experiment.makers import Table
from recbias.experiment.run import Results


def law_curves(alphas: Sequence[float]) -> pd.DataFrame:
    """Cumulate the counts that a power law gives to items, by its exponent.

    Examples
    --------
    >>> found = law_curves([0, 2])
    >>> list(found.columns), round(float(found.loc[0.5, "exponent 0"]), 6)
    (['exponent 0', 'exponent 2'], 0.5)
    """
    shares = np.linspace(0, 1, STEPS + 1)
    curves = {}
    for alpha in alphas:
        world = cast(PowerLawOptions, parse_world(world_name(alpha, 1)))
        law = power_law(world.items, 1.0, alpha=alpha, offset=world.offset or 0.0)
        curves[f"exponent {alpha:g}"] = share_of_most_popular(law, shares)
    return pd.DataFrame(curves, index=pd.Index(shares, name="share of items"))


def laws_title(laws: Table) -> str:
    """Say in two lines between which Gini coefficients the exponents reach."""
    ginis = laws.frame.groupby("alpha")["gini"].mean()
    low, high = (ginis.loc[alpha] for alpha in (ginis.index.min(), ginis.index.max()))
    return (
        f"From exponent {ginis.index.min():g} to {ginis.index.max():g} the counts of items go\n"
        f"from a Gini coefficient of {low:.2f} to {high:.2f}"
    )


def fits_table(table: Table) -> str:
    """List the constants of the power law that fit the counts of a data set, by way of fitting."""
    rows = [
        (row["fit"], f"{row['alpha']:.2f}", f"{row['c1']:.0f}", f"{row['c2']:.0f}",
         defined(row["explained"], ".1%"))
        for row in table.frame.to_dict("records")
    ]  # fmt: skip
    head = ("fit", r"$\alpha$", "$c_1$", "$c_2$", "variance of the counts explained")
    return markdown_table(head, rows)


def over_exponents(table: Table, column: str, systems: Sequence[str]) -> pd.DataFrame:
    """Average a column over the worlds of each exponent, system by system."""
    rows = []
    for system in systems:
        of_system = table.select(system=system)
        for alpha, values in of_system.groupby("alpha")[column]:
            mean = over_worlds(values)
            rows.append((system, alpha, mean.value, *mean.interval))
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
    """Set precision of Popularity under 1R, the lemma's bounds and the closed form side by side."""
    of_runs = metric.removeprefix("P")
    columns = {metric: "value", f"lower{of_runs}": "lower", f"upper{of_runs}": "upper"}
    means = skew.select(system="Popularity").groupby("alpha")[list(columns)].mean()
    closed = laws.frame.groupby("alpha")[["closed_lower", "closed_whole"]].mean()
    closed.columns = ["closed", "whole"]
    return means.rename(columns=columns).join(closed).reset_index()


def bounds_title(found: pd.DataFrame) -> str:
    """Say in two lines by how much the closed form misses, read over the whole ranking."""
    ratio = found["whole"] / found["value"]
    return (
        "The closed lower bound over the whole ranking is\n"
        f"{ratio.min():.2f} to {ratio.max():.2f} times what it bounds"
    )


def rankings_title(found: pd.DataFrame, metric: str) -> str:
    """Say in two lines which ranking for everybody comes first.

    And how far Popularity is from it.
    """
    values = {str(name): float(value) for name, value in found["value"].items()}
    best, second = sorted(values, key=lambda name: -values[name])[:2]
    if best == "Popularity":
        return f"Popularity has the highest {metric} of them,\n{second} the next"
    if not values[best] > 0:
        return f"No ranking has a {metric}\nabove 0"
    share = values["Popularity"] / values[best]
    return f"{best} has the highest {metric},\nPopularity {share:.0%} of it"


# -- the part of a score that is skew ----------------------------------------------------------


def skew_bars(table: Table, names: Mapping[str, str]) -> pd.DataFrame:
    """Lay out what Popularity scores on ratings and without taste, beside a random ranking."""
    rows = []
    for label, name in names.items():
        for quantity, what in _BARS.items():
            score = table[{"design": label, "quantity": quantity}]
            rows.append((name, what, score.value, *score.interval))
    return pd.DataFrame(rows, columns=["design", "what", "value", "low", "high"])


_BARS = {
    DATA: "Popularity, real ratings",
    WORLD: "Popularity, same counts but no taste",
    RANDOM: "random ranking",
}


def skew_quoted(table: Table) -> dict[str, str]:
    """Write what Popularity scores among all tested items, on the ratings and without taste."""
    return {
        name: defined(table[{"design": "AR", "quantity": quantity}].value, ".3f")
        for name, quantity in (("data", DATA), ("skew", WORLD))
    }


def shares_beside(tables: Mapping[str, Table], names: Mapping[str, str]) -> pd.DataFrame:
    """Lay out by data set and design what share of Popularity's score is there without taste."""
    rows = []
    for title, table in tables.items():
        for label, name in names.items():
            share = table[{"design": label, "quantity": SHARE}]
            rows.append((short_title(title), name, share.value, *share.interval))
    return pd.DataFrame(rows, columns=["data", "design", "value", "low", "high"])


def shares_title(found: pd.DataFrame) -> str:
    """Say in two lines between which shares data sets and designs lie."""
    low, high = found["value"].min(), found["value"].max()
    return (
        f"Without taste Popularity keeps {defined(low, '.0%')} to {defined(high, '.0%')}\n"
        "of its score, by data and design"
    )


def floor_table(results: Results, table: Table) -> str:
    """Set every system beside what the counts alone give Popularity, under AR and 1R."""
    labels = {"AR": "AR", "all-1R": "1R"}
    floors = {
        label: table[{"design": name, "quantity": WORLD}].value for label, name in labels.items()
    }
    values = {label: results.of_systems(label, results.metric(label, "P")) for label in labels}
    order = sorted(results.systems, key=lambda name: -values["AR"][name].value)
    rows = []
    for name in order:
        cells = []
        for label, floor in floors.items():
            value = values[label][name].value
            factor = value / floor if floor else np.nan
            cells += [defined(value, ".4f"), defined(factor, ".2f")]
        rows.append((plain(name), *cells))
    head = (
        "system",
        *(f"{name}{what}" for name in labels.values() for what in ("", ", over skew")),
    )
    return markdown_table(head, rows)


# -- the map ---------------------------------------------------------------------------------------


def overrated_map(table: Table) -> pd.DataFrame:
    """Lay out how far 1R overrates Popularity, as a power of two, by ``relation`` and ``skew``."""
    cells = mapped(table)
    return cells.assign(value=np.log2(cells["overrated"]))


def data_on_map(table: Table) -> pd.DataFrame:
    """Lay out where data sets are on the map: ``name``, ``skew`` and ``relation``."""
    wide = table.frame.pivot_table(
        index="dataset", columns="quantity", values="value", sort=False
    ).reset_index()
    names = [short_title(dataset_info(name).title) for name in wide["dataset"]]
    return wide.assign(name=names)


def map_title(found: pd.DataFrame) -> str:
    """Say in two lines how far Popularity is overrated at most, and in what share of the kinds."""
    most, share = found["overrated"].max(), (found["overrated"] > 1).mean()
    return (
        f"1R overrates Popularity up to {most:.0f} times,\n"
        f"and in {share:.0%} of the fields of this map"
    )
