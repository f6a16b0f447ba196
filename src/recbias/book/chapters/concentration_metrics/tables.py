"""Tables of chapter 6, as its page shows them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from recbias.book.chapters.concentration_metrics.alike import ALIKE, tau_matrix
from recbias.book.chapters.concentration_metrics.loop import CHOICES, ENDS, STARTS, foretold
from recbias.book.chapters.concentration_metrics.references import chance_values
from recbias.book.chapters.concentration_metrics.setup import LAMBDA, metrics, plain_name
from recbias.book.html import markdown_table, plain
from recbias.claims.regions import defined
from recbias.experiment.makers import Table
from recbias.experiment.run import Results
from recbias.metrics.prior import popularity_percentiles

SHOWN: Mapping[str, str] = {
    "P": ".3f",
    "Gini": ".3f",
    "Diversity": ".0f",
    "PL": ".2f",
    "M": ".3f",
    "CI": ".3f",
    "CI|JS": ".3f",
    "LTI": ".3f",
    "LTI|percentile": ".3f",
}
"""Columns of the table of values, by name without length, with their format."""

CHANCE: Mapping[str, str] = {
    "random": "*lists at random*",
    "in proportion": "*lists in proportion to the prior*",
    "sampling alone": "*places in proportion to the prior*",
}
"""How each reference is called in a table."""


def values_frame(found: Results, references: Table, cutoff: int) -> pd.DataFrame:
    """Put the values of all systems over those that chance gives."""
    texts = {plain_name(text): text for text in metrics(cutoff)}
    rows = {
        system: {name: found[system, "full", texts[name]].value for name in SHOWN}
        for system in found.systems
    }
    measured = pd.DataFrame.from_dict(rows, orient="index")
    both = pd.concat([measured, chance_values(references).reindex(columns=list(SHOWN))])
    return both.rename_axis("system")


def values_table(values: pd.DataFrame) -> str:
    """Write the values of systems and of chance."""
    rows = [
        (
            CHANCE.get(str(name), plain(str(name))),
            *(
                "–" if np.isnan(row[metric]) else f"{row[metric]:{form}}"
                for metric, form in SHOWN.items()
            ),
        )
        for name, row in values.iterrows()
    ]
    return markdown_table(("", *(plain(metric) for metric in SHOWN)), rows)


def lengths_table(found: Results, lengths: Results | None, cutoff: int) -> str:
    """Write which metrics order the systems nearly alike, for each length of the lists."""
    measured = {cutoff: found}
    if lengths is not None:
        parsed = lengths.grid.parsed_metrics["full"]
        measured |= {metric.cutoff: lengths for metric in parsed if metric.cutoff is not None}
    taus = pd.DataFrame(
        {
            length: tau_matrix(measured[length], length).set_index(["a", "b"])["tau"]
            for length in sorted(measured)
        }
    )
    alike = taus[(taus > ALIKE).any(axis=1)]
    rows = [
        (f"{plain(a)}, {plain(b)}", *(defined(tau, ".2f") for tau in row))
        for (a, b), row in zip(alike.index, alike.to_numpy(), strict=True)
    ]
    return markdown_table(("metrics", *(f"n = {length}" for length in taus.columns)), rows)


def explained_table(explained: Table) -> str:
    """Write what plain statistics explain of either form of LTI, at each length of lists."""
    frame = explained.frame
    mean = frame.groupby(["by", "form", "cutoff"], sort=False)["value"].mean()
    lengths = list(dict.fromkeys(frame["cutoff"]))
    rows = [
        (by, form, *(defined(mean[by, form, length], ".3f") for length in lengths))
        for form in dict.fromkeys(frame["form"])
        for by in dict.fromkeys(frame["by"])
    ]
    return markdown_table(("explained by", "form of LTI", *(f"n = {n}" for n in lengths)), rows)


def foretold_table(loop: Table) -> str:
    """Write how well each metric of the first lists foretells where the loop ends."""
    words = {"Gini": "Gini", "CI_initial": "CI, from the start", "P": "truly liked"}
    cells: dict[tuple[str, str, str], str] = {}
    for choice in CHOICES:
        correlations = foretold(loop, choice)
        halves = (correlations["high"] - correlations["low"]) / 2
        columns = (correlations["start"], correlations["end"], correlations["value"], halves)
        for start, end, value, half in zip(*columns, strict=True):
            cells[start, choice, end] = f"{value:.2f}\u00a0±\u00a0{half:.2f}"
    rows = [
        (
            plain(start.replace("_", "|")),
            *(cells[start, choice, end] for choice in CHOICES for end in ENDS),
        )
        for start in STARTS
    ]
    head = [f"{choice}: {words[end]}" for choice in CHOICES for end in ENDS]
    return markdown_table(("first lists", *head), rows)


def example_table(prior: list[int], shown: list[int]) -> str:
    r"""Compute CI and LTI of a few items, term by term.

    Examples
    --------
    >>> print(example_table([6, 3, 1, 0], [4, 3, 2, 1]).splitlines()[-1])
    | *sum* | 10 | 10 | | 0.089 | 0.193 | 0.166 |
    """
    s, r = np.array(prior, dtype=np.float64), np.array(shown, dtype=np.float64)
    n = len(s)
    ratio = np.log((r + 1) / (r.sum() + n)) - np.log((s + 1) / (s.sum() + n))
    index = 0.5 * (r / r.sum() - s / s.sum()) * ratio
    tail = (LAMBDA - s / s.sum()) * ratio / n
    mended = (LAMBDA - popularity_percentiles(s)) * ratio / n
    terms = np.stack([ratio, index, tail, mended], axis=1)
    rows = [
        (chr(65 + i), f"{s[i]:.0f}", f"{r[i]:.0f}", *(f"{term:.3f}" for term in terms[i]))
        for i in range(n)
    ]
    added = (f"{term:.3f}" for term in terms[:, 1:].sum(axis=0))
    sums = ("*sum*", f"{s.sum():.0f}", f"{r.sum():.0f}", "", *added)
    head = ("item", "$s$", "$r$", r"$\ln(r'/s')$", "CI", f"LTI({LAMBDA:g})")
    return markdown_table((*head, r"LTI\|percentile"), [*rows, sums]).replace("|  |", "| |")
