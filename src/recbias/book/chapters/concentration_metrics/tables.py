"""Tables of chapter 6, as its page shows them."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

import numpy as np
import pandas as pd

from recbias.book.chapters.concentration_metrics.alike import ALIKE, tau_matrix
from recbias.book.chapters.concentration_metrics.loop import before_and_after
from recbias.book.chapters.concentration_metrics.references import chance_values, gini_of_curve
from recbias.book.chapters.concentration_metrics.setup import LAMBDA, metrics, plain_name
from recbias.book.html import markdown_table, plain, table_html
from recbias.claims.regions import defined
from recbias.experiment.makers import Table
from recbias.experiment.run import Results
from recbias.metrics.concentration import gini
from recbias.metrics.prior import popularity_percentiles

_MINUS = "\N{MINUS SIGN}"

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
    "random": "lists at random",
    "in proportion": "lists in proportion to the prior",
    "sampling alone": "places in proportion to the prior",
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
    """Write the values of systems and of chance, behind a click."""
    rows = [
        (
            f"<em>{CHANCE[str(name)]}</em>" if name in CHANCE else escape(str(name)),
            *(
                "–" if np.isnan(row[metric]) else f"{row[metric]:{form}}".replace("-", _MINUS)
                for metric, form in SHOWN.items()
            ),
        )
        for name, row in values.iterrows()
    ]
    table = table_html(("", *SHOWN), rows)
    return f"<details><summary>All values, beside what chance gives</summary>{table}</details>"


def alike_details(found: Results, lengths: Results | None, explained: Table, cutoff: int) -> str:
    """Write behind a click which metrics order alike at each length, and what explains LTI."""
    tables = (
        (
            "Metrics with a tau above .9 at some length n of the lists",
            _lengths(found, lengths, cutoff),
        ),
        (
            "What share of the differences of LTI (R2) three statistics explain",
            _explained(explained),
        ),
    )
    return "".join(
        f"<details><summary>{title}</summary>{table}</details>" for title, table in tables
    )


def _lengths(found: Results, lengths: Results | None, cutoff: int) -> str:
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
        (f"{a}, {b}", *(defined(tau, ".2f") for tau in row))
        for (a, b), row in zip(alike.index, alike.to_numpy(), strict=True)
    ]
    return table_html(("metrics", *(f"n = {length}" for length in taus.columns)), rows)


def _explained(explained: Table) -> str:
    frame = explained.frame
    mean = frame.groupby(["by", "form", "cutoff"], sort=False)["value"].mean()
    lengths = list(dict.fromkeys(frame["cutoff"]))
    rows = [
        (by, form, *(defined(mean[by, form, length], ".3f") for length in lengths))
        for form in dict.fromkeys(frame["form"])
        for by in dict.fromkeys(frame["by"])
    ]
    return table_html(("explained by", "form of LTI", *(f"n = {n}" for n in lengths)), rows)


def popular_of(evenness: pd.DataFrame, measured: Results, cutoff: int) -> str:
    """Say of the lists that are more uneven than ratings which hold the popular items."""
    value = evenness.set_index("row")["value"]
    level = value[evenness.loc[evenness["line"] == "ratings", "row"].item()]
    sides: dict[str, list[str]] = {"with": [], "without": [], "perhaps with": []}
    for name in value[value > level].index:
        low, high = measured[name, "full", f"PL@{cutoff}"].interval
        side = "with" if low > 0 else "without" if high <= 0 else "perhaps with"
        sides[side].append(name)
    told = [f"{side} a lift: {', '.join(names)}" for side, names in sides.items() if names]
    return f"More uneven {'; '.join(told)}." if told else "Here no lists are more uneven."


def to_write(values: pd.DataFrame, curves: Table, cutoff: int) -> str:
    """Write what a paper should say of the lists of a system: BPR, or the first there is."""
    name = "BPR" if "BPR" in values.index else str(values.index[0])
    shown = values.reindex([name, "random"])
    own, by_chance = (defined(value, ".2f") for value in shown["Gini"].tolist())
    lift = defined(shown["PL"].tolist()[0], ".2f")
    ratings = defined(gini_of_curve(curves, "prior"), ".2f")
    return (
        f"> The lists of {cutoff} items of {plain(name)} have a Gini coefficient of {own} over all "
        f"items of the catalogue, the positive training ratings one of {ratings}, and lists at "
        f"random one of {by_chance}. Their popularity lift (PL) is {lift} (mean popularity of what "
        "is listed over that of what users rated in training, less 1; 0: no lift). Values are "
        "means over folds."
    )


def loop_table(loop: Table) -> str:
    """Write how uneven lists and ratings were before a loop with even choice, and after it."""
    found = before_and_after(loop, "even")
    rows = [
        (
            plain(str(system)),
            *(
                f"{row[name, 'before']:.2f} → {row[name, 'after']:.2f}"
                for name in ("lists", "ratings", "liked")
            ),
        )
        for system, row in found.iterrows()
    ]
    table = markdown_table(("", "Gini of the lists", "Gini of the ratings", "truly liked"), rows)
    rising = [
        plain(str(name)) for name in found.index[found["liked", "after"] > found["liked", "before"]]
    ]
    if not rising or len(rising) == len(found):
        return table
    return (
        f"{table}\n\nThe share that is truly liked rises with {' and '.join(rising)}, and with no "
        "other; why, we do not know."
    )


def after_table(prior: list[int], *lists: list[int]) -> str:
    r"""Compute how uneven ratings are after some lists were rated as often as they were shown.

    Examples
    --------
    >>> after_table([6, 3, 1, 0], [4, 3, 2, 1]).splitlines()[-1]
    '| 4,\xa03,\xa02,\xa01 | 0.25 | 10,\xa06,\xa03,\xa01 | 0.375 |'
    """

    def uneven(counts: list[int]) -> str:
        return f"{gini(np.array([counts], dtype=np.float64))[0]:g}"

    def written(counts: list[int]) -> str:
        return ",\N{NO-BREAK SPACE}".join(map(str, counts))

    rows = [("*none*", "", written(prior), uneven(prior))]
    for listed in lists:
        after = [s + r for s, r in zip(prior, listed, strict=True)]
        rows.append((written(listed), uneven(listed), written(after), uneven(after)))
    return markdown_table(("listed", "Gini", "ratings afterwards", "their Gini"), rows)


def _three(value: float) -> str:
    return f"{value:.3f}".replace("-", _MINUS)


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
        (chr(65 + i), f"{s[i]:.0f}", f"{r[i]:.0f}", *(_three(term) for term in terms[i]))
        for i in range(n)
    ]
    added = (_three(term) for term in terms[:, 1:].sum(axis=0))
    sums = ("*sum*", f"{s.sum():.0f}", f"{r.sum():.0f}", "", *added)
    head = ("item", "$s$", "$r$", r"$\ln(r'/s')$", "CI", f"LTI({LAMBDA:g})")
    return markdown_table((*head, r"LTI\|percentile"), [*rows, sums]).replace("|  |", "| |")
