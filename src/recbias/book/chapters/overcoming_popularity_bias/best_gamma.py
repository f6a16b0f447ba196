"""Which gamma of stratified recall orders systems best, over how popularity relates to liking.

From the table of `worlds`: for each world Kendall's tau between the order of the systems by
stratified recall at a gamma and the true one. Worlds with the same seed differ in their skew alone,
so that they are averaged first, and intervals are over seeds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import pandas as pd

from recbias.book.chapters.overcoming_popularity_bias.setup import GAMMAS
from recbias.book.html import markdown_table
from recbias.claims.evidence import NotComputed
from recbias.claims.quantities import over_worlds
from recbias.experiment.makers import Table


def _taus(table: Table, truth: str) -> pd.DataFrame:
    """Average tau over skews: a row per relation and seed, a column per gamma."""
    frame = table.frame[table.frame["choice"] == 1]
    columns = {f"gamma {gamma:g}, {truth}": gamma for gamma in GAMMAS}
    if frame.empty or not set(columns) <= set(frame):
        raise NotComputed(f"tau by gamma with {truth}")
    return frame.groupby(["relation", "number"])[list(columns)].mean().rename(columns=columns)


def _by_relation(taus: pd.DataFrame) -> Iterator[tuple[float, pd.DataFrame]]:
    relations = taus.index.get_level_values("relation")
    for relation in sorted(set(relations)):
        yield float(relation), taus[relations == relation]


def relation_name(relation: float) -> str:
    """Name a kind of worlds by how popularity relates to liking in it.

    Examples
    --------
    >>> relation_name(-0.5), relation_name(0), relation_name(1)
    ('relation -0.5', 'relation 0', 'relation +1')
    """
    return f"relation {relation:+g}" if relation else "relation 0"


def gamma_courses(table: Table, truth: str) -> pd.DataFrame:
    """Follow over gamma how far the order of the systems agrees with the true one."""
    rows = [
        (relation, relation_name(relation), gamma, mean.value, *mean.interval)
        for relation, taus in _by_relation(_taus(table, truth))
        for gamma in GAMMAS
        for mean in [over_worlds(taus[gamma])]
    ]
    return pd.DataFrame(rows, columns=["relation", "line", "gamma", "value", "low", "high"])


def best_gammas(table: Table, truth: str) -> pd.DataFrame:
    """Name the best gamma of each relation, and those that may be as good."""
    rows = []
    for relation, taus in _by_relation(_taus(table, truth)):
        means = taus.mean()
        best = max(GAMMAS, key=means.__getitem__)
        alike = [
            gamma
            for gamma in GAMMAS
            if gamma == best or over_worlds(taus[best] - taus[gamma]).interval[0] <= 0
        ]
        rows.append((relation, best, means[best], min(alike), max(alike)))
    return pd.DataFrame(rows, columns=["relation", "best", "tau", "least", "most"]).astype(float)


def best_gammas_table(worlds: Table, laws: Table) -> str:
    """Set the best gammas beside the one that the chances of the worlds follow most closely."""
    by_truth = {
        truth: best_gammas(worlds, truth).set_index("relation") for truth in ("P@10", "AUC")
    }
    exponents = laws.frame.groupby("relation")["exponent"].mean()
    rows = []
    for relation in sorted({*by_truth["P@10"].index, *exponents.index}):
        cells = [f"{relation:+g}" if relation else "0"]
        for best in by_truth.values():
            known = relation in best.index
            cells.append(_best_cell(best.loc[relation]) if known else "\N{EN DASH}")
        exponent = exponents.get(relation)
        cells.append("\N{EN DASH}" if exponent is None else f"{exponent:.2f}")
        cells.append("\N{EN DASH}" if exponent is None else law_gamma(exponent))
        rows.append(cells)
    head = (
        "relation",
        "best by true P@10",
        "best by true AUC",
        "exponent of $p_i$",
        "its $\\gamma$",
    )
    return markdown_table(head, rows)


def _best_cell(row: pd.Series[float]) -> str:
    best, least, most = (gamma_text(row[name]) for name in ("best", "least", "most"))
    return best if least == most else f"{best} ({least} to {most})"


def gamma_text(gamma: float) -> str:
    """Write a gamma.

    Examples
    --------
    >>> gamma_text(0.5), gamma_text(float("inf"))
    ('0.5', '∞')
    """
    return "\N{INFINITY}" if math.isinf(gamma) else f"{gamma:g}"


def law_gamma(exponent: float) -> str:
    """Write the gamma whose weights have an exponent: e / (1 - e).

    Examples
    --------
    >>> law_gamma(0.5), law_gamma(0.75), law_gamma(1.2)
    ('1', '3', 'none')
    """
    return "none" if exponent > 1 else gamma_text(round(exponent / (1 - exponent), 1))
