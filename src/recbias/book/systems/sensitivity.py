"""How far a system moves with its parameters: one of them changed at a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pandas as pd

from recbias.experiment.run import Results
from recbias.recommenders import System
from recbias.recommenders.line_ups import Variation, sensitivity_variations


def chosen_variations(name: str, *, short: bool = False) -> dict[str, Variation]:
    """Select the variations of a line-up that are measured.

    Examples
    --------
    >>> len(chosen_variations("mccrs20")) > len(chosen_variations("mccrs20", short=True))
    True
    """
    ways = sensitivity_variations(name)
    if not short:
        return dict(ways)
    first: dict[tuple[str, str], str] = {}
    for label, way in ways.items():
        first.setdefault((way.base, way.parameter), label)
    return {label: ways[label] for label in first.values()}


def values_of_variations(
    results: Results, systems: Iterable[System], ways: Mapping[str, Variation], *, metric: str
) -> pd.DataFrame:
    """Lay out what every variation scores, and where that would put its system in the line-up."""
    (label,) = results.grid.by_label
    names = results.among(system.name for system in systems)
    table = results.table(label, metric)
    line_up_values = table["value"].loc[names]
    entries = [(name, "", "", name) for name in names]
    entries += [(way.base, way.parameter, f"{way.value}", name) for name, way in ways.items()]
    rows = []
    for system, parameter, setting, name in entries:
        if not {system, name} <= set(results.systems):
            continue
        value, low, high = table.loc[name, ["value", "low", "high"]]
        rank = 1 + int((line_up_values.drop(system) > value).sum())
        rows.append((system, parameter, setting, value, low, high, rank))
    columns = ["system", "parameter", "setting", "value", "low", "high", "rank"]
    return pd.DataFrame(rows, columns=columns)


def spans(values: pd.DataFrame, systems: Iterable[System]) -> pd.DataFrame:
    """Reduce :func:`values_of_variations` to the ends of each system's range."""
    rows = {}
    for system in systems:
        group = values[values["system"] == system.name]
        if group.empty:
            continue
        unvaried = group[group["parameter"] == ""].iloc[0]
        moves = (group["value"] - unvaried["value"]).abs()
        settings = group[group["parameter"] != ""].groupby("parameter", sort=False)["setting"]
        rows[system.name] = {
            "least": group["value"].min(),
            "own": unvaried["value"],
            "most": group["value"].max(),
            "best": int(group["rank"].min()),
            "rank": int(unvaried["rank"]),
            "worst": int(group["rank"].max()),
            "moved": "; ".join(
                f"{name} {system.parameters[str(name)]} → {', '.join(others)}"
                for name, others in settings
            ),
            "strongest": group["parameter"].loc[moves.idxmax()] if moves.max() > 0 else "",
        }
    table = pd.DataFrame.from_dict(rows, orient="index")
    return table.sort_values("own", ascending=False, kind="stable")
