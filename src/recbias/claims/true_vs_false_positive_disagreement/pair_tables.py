"""What the page shows of pairs of items: MCCRS20 Figs. 2 to 4 and Table 1, and worlds beside them.

Frames here are what figures draw; their columns are said in each function.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from recbias.claims.ledger import claims
from recbias.claims.pages import interval_text, markdown_table
from recbias.claims.quantities import over_worlds
from recbias.claims.regions import defined
from recbias.claims.true_vs_false_positive_disagreement.pairs import (
    ALL,
    FOLDS,
    chosen_pairs,
    reading_rows,
)
from recbias.makers import Table
from recbias.theory import DIRECTIONS, OPTIMA, STEEPER_THAN

__all__ = [
    "example_items",
    "examples_table",
    "examples_title",
    "optima_title",
    "over_skew",
    "pair_shares",
    "pairs_table",
    "related_table",
    "relations_title",
    "skew_of_worlds_title",
]

_DASH = "\N{EN DASH}"
_SHOWN = {
    "odds": "odds of being rated",
    "liked": "share of liked ratings",
    "disliked": "share of disliked ratings",
    "f_P": "$f_P$",
    "f_antiP": "$f_{antiP}$",
    "P@1": "P@1",
    "antiP@1": "antiP@1",
}


# -- Fig. 2 ------------------------------------------------------------------------------------


def example_items(table: Table) -> pd.DataFrame:
    """Lay out the functions of both items in the three examples.

    Parameters
    ----------
    table
        As :func:`examples` makes it.

    Returns
    -------
    DataFrame
        A row per ``example`` (``"1"`` to ``"3"``), ``function`` (``odds``, ``liked``, ``disliked``,
        ``f_P``, ``f_antiP``) and ``item`` (``"a"``, ``"b"``), with its ``value``, and the
        ``steepness`` of the function on the two items (none of ``f_P`` and ``f_antiP``).
    """
    values = table.frame.set_index(["example", "quantity"])["value"]
    rows = [
        {
            "example": example,
            "function": function,
            "item": item,
            "value": values[example, f"{function} of {item}"],
            "steepness": values.get((example, f"steepness of {function}"), np.nan),
        }
        for example in ("1", "2", "3")
        for function in ("odds", "liked", "disliked", "f_P", "f_antiP")
        for item in "ab"
    ]
    return pd.DataFrame(rows)


def examples_title(table: Table) -> str:
    """Say in two lines on which of the examples the optima disagree."""
    frame = table.frame[table.frame["quantity"] == "disagree"]
    differ = [f"{row.example}" for row in frame.itertuples() if row.value]
    alike = [f"{row.example}" for row in frame.itertuples() if not row.value]
    return (
        f"The best rankings disagree in examples {' and '.join(differ)}, where odds are steep,\n"
        f"and agree in example {' and '.join(alike)}, where both shares are steeper"
    )


def examples_table(table: Table) -> str:
    """Write the three examples as a table: a row per quantity, a column per example.

    Values of a and b, or of the lists (a, b) and (b, a), are divided by a slash.
    """
    values = table.frame.set_index(["example", "quantity"])["value"]
    names = ("1", "2", "3")
    rows = []
    for function, words in _SHOWN.items():
        ends = ("ab", "ba") if "@" in function else ("a", "b")
        cells = [
            " / ".join(f"{values[name, f'{function} of {end}']:.3g}" for end in ends)
            for name in names
        ]
        rows.append([words, *cells])
        if function in ("odds", "liked", "disliked"):
            steep = [f"{values[name, f'steepness of {function}']:.3g}" for name in names]
            rows.append([f"steepness of the {words}", *steep])
    clause = {0.0: _DASH, 1.0: "a", 2.0: "b"}
    rows.append(["clause of the lemma", *(clause[values[name, "clause"]] for name in names)])
    said = ["disagree" if values[name, "disagree"] else "agree" for name in names]
    return markdown_table(("", *(f"example {name}" for name in names)), [*rows, ["optima", *said]])


# -- Table 1 -----------------------------------------------------------------------------------


def pair_shares(table: Table, reading: str = FOLDS) -> pd.DataFrame:
    """Lay out what share of the pairs is of each kind: MCCRS20 Table 1, whose cells are lost.

    Parameters
    ----------
    table
        As :func:`pairs` makes it.
    reading
        ``"folds"``, the mean of the training folds, or ``"all"``, all ratings.

    Returns
    -------
    DataFrame
        A row per ``direction`` and ``steeper_than``, as far as they occur, in the order of
        :data:`recbias.theory.DIRECTIONS` and :data:`recbias.theory.STEEPER_THAN`: ``share`` of all
        pairs, and of those the shares ``disagree``, ``agree`` and ``tied``, which add up to it.
    """
    rows = reading_rows(table.frame, reading)
    found = rows.pivot_table(
        index=["direction", "steeper_than"], columns="optima", values="value", aggfunc="sum",
        fill_value=0.0, sort=False,
    )  # fmt: skip
    found = found.reindex(columns=list(OPTIMA), fill_value=0.0) / rows["reading"].nunique()
    order = [(a, b) for a in DIRECTIONS for b in STEEPER_THAN if (a, b) in found.index]
    found = found.loc[order]
    found.insert(0, "share", found.sum(axis=1))
    found.columns.name = None
    return found.reset_index()


def pairs_table(table: Table) -> str:
    """Write Table 1 by both readings, the folds first, and the paper's two numbers beside them."""
    (claim,) = (each for each in claims() if each.id == "MCCRS20-T1")
    printed = {"disagree": "disagree", "both": "odds steeper than both"}
    head = ("pairs of items", "by the training folds", "of the folds", "by all ratings", "MCCRS20")
    rows = []
    for what, words in _CELLS.items():
        each = _by_reading(table, what)
        folds = [value for reading, value in each.items() if reading != ALL]
        known = printed.get(what)
        rows.append(
            [
                words,
                f"{np.mean(folds):.1%}" if folds else _NO_PAIRS,
                f"{min(folds):.1%} to {max(folds):.1%}" if folds else _NO_PAIRS,
                f"{each[ALL]:.1%}" if ALL in each else _NO_PAIRS,
                f"{float(claim.values[known]):.1%}" if known else _DASH,
            ]
        )
    return markdown_table(head, rows)


_NO_PAIRS = "no pairs"
"""What stands where every user has every item, so that no odds are finite."""


def _by_reading(table: Table, what: str) -> dict[str, float]:
    rows = table.frame[chosen_pairs(table.frame, what)]
    sums = rows.groupby("reading")["value"].sum()
    return {str(each): float(sums.get(each, 0.0)) for each in table.frame["reading"].unique()}


_CELLS: Mapping[str, str] = {
    "disagree": "**the optima disagree**",
    "agree": "the optima agree",
    "tied": "one optimum does not tell them apart",
    "both": "**odds steeper than both shares**",
    "same, both": "- liking sides with the odds (clause b)",
    "opposed, both": "- liking opposes them (clause a)",
    "equal, both | equal at an end, both": "- equal shares ([E20](#err-e20))",
    "same, disliked": "odds steeper than disliking alone, liking sides with them (clause b)",
    "opposed, liked": "odds steeper than liking alone, which opposes them (clause a)",
    "same, liked": "odds steeper than liking alone, which sides with them: agree",
    "opposed, disliked": "odds steeper than disliking alone, liking opposes them: agree",
    "same, neither | opposed, neither": "odds steeper than neither: agree",
    "as popular": "equal odds",
    "no estimate": "an item without a training rating",
}


def optima_title(table: Table) -> str:
    """Say in two lines on how many pairs the optima disagree, and why."""
    shares = {what: np.mean([value for reading, value in _by_reading(table, what).items()
                             if reading != ALL])
              for what in ("disagree", "both")}  # fmt: skip
    return (
        f"The two best rankings disagree on {shares['disagree']:.0%} of all pairs of items;\n"
        f"popularity is steeper than liking and disliking on {shares['both']:.0%}"
    )


# -- Figs. 3 and 4 -----------------------------------------------------------------------------


def relations_title(table: Table) -> str:
    """Say in two lines how the optima relate to popularity and to each other.

    Parameters
    ----------
    table
        As :func:`items` makes it.
    """
    own, other, both = (
        table[{"measure": measure, "of": of}].value
        for measure, of in (
            ("Pearson", "f_P and p(train)"),
            ("Pearson", "f_antiP and p(train)"),
            ("Spearman", "f_P and f_antiP"),
        )
    )
    return (
        f"With popularity, $f_P$ correlates by {defined(own, '.2f')} and $f_{{antiP}}$ "
        f"by {defined(other, '.2f')};\n"
        f"their rankings with each other by {defined(both, '.2f')} (Spearman)"
    )


def related_table(table: Table) -> str:
    """Write the correlations over items, Gini coefficients and lines, with 95 % intervals."""
    rows = []
    for name in table.frame.itertuples():
        if name.measure not in ("p", "count"):
            found = table[{"measure": name.measure, "of": name.of}]
            value, of = defined(found.value, ".3f"), f"{name.of}".replace("|", "\\|")
            rows.append([_MEASURES[str(name.measure)], of, value, interval_text(found, ".3f")])
    return markdown_table(("over items", "of", "value", "95 % interval over users"), rows)


_MEASURES: Mapping[str, str] = {
    "Spearman": "Spearman's correlation",
    "Pearson": "Pearson's correlation",
    "Gini": "Gini coefficient",
    "line": "share of the sorted curve that a line explains",
}


# -- worlds ------------------------------------------------------------------------------------


def over_skew(tables: Mapping[str, Table], column: str = "disagree") -> pd.DataFrame:
    """Average over the worlds of each skew.

    Parameters
    ----------
    tables
        By the name of :data:`FLATNESS`, as :func:`flatness` makes them.
    column
        ``"disagree"`` or ``"both"``.

    Returns
    -------
    DataFrame
        Rows of ``kind`` (that name), ``skew``, ``value``, and the ends ``low`` and ``high`` of its
        95 % interval over worlds (Student's t).
    """
    rows = []
    for kind, table in tables.items():
        for skew, values in table.frame.groupby("skew")[column]:
            found = over_worlds(values)
            rows.append((kind, skew, found.value, *found.interval))
    return pd.DataFrame(rows, columns=["kind", "skew", "value", "low", "high"])


def skew_of_worlds_title(found: pd.DataFrame) -> str:
    """Say in two lines at which ends of the skew the optima disagree, in independent worlds."""
    own = found[found["kind"] == "independent"].sort_values("skew")
    first, last = own.iloc[0], own.iloc[-1]
    return (
        f"The optima disagree on {first['value']:.0%} of the pairs where popularity is\n"
        f"even, and on {last['value']:.0%} at a Gini coefficient of {last['skew']:g}"
    )
