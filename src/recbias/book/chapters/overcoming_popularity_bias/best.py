"""Which protocol is to be trusted in which worlds, and how sure that is.

The best of several is picked by what was found in a few worlds of a kind, so that its lead is
flattered by chance. What can be said is which protocols may be the best: all but those that another
one is ahead of by more than chance allows. Where one is left, it is surely the best. How often that
is so is counted over all kinds of worlds and by both readings of the truth, so that all of these
comparisons are one family: with a chance of 95 % none of them leaves out what is truly best.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import stdtrit  # quantiles of Student's t; `scipy.stats` takes long to load

from recbias.book.chapters.overcoming_popularity_bias.worlds import PROTOCOLS, TRUTHS, column
from recbias.book.html import markdown_table
from recbias.claims.quantities import over_worlds
from recbias.errors import ConfigError
from recbias.experiment.makers import Table

_MISS = 0.05


def possibly_best(values: npt.ArrayLike, n_decisions: int = 1) -> npt.NDArray[np.bool_]:
    r"""Tell which of several may have the largest mean, judging by a few worlds.

    Of `n_decisions` of that kind all are right together with a chance of 95 %.

    References
    ----------
    J. C. Hsu, "Simultaneous confidence intervals for all distances from the best", Annals of
    Statistics 9 (1981), with Bonferroni's bound in place of Dunnett's quantile, which supposes one
    variance.

    Examples
    --------
    The second is behind in each world, by about as much; the third wins and loses.

    >>> possibly_best([[0.5, 0.2, 0.4], [0.6, 0.3, 0.7], [0.7, 0.5, 0.5]]).tolist()
    [True, False, True]
    """
    rows = np.asarray(values, dtype=np.float64)
    if rows.ndim != 2 or len(rows) < 2 or not np.isfinite(rows).all():
        raise ConfigError(
            f"values of shape {rows.shape}: expected numbers for two worlds or more, and a column "
            "for each of those that are compared"
        )
    n_worlds, n_names = rows.shape
    ahead = rows[:, :, None] - rows[:, None, :]  # by how much the first is ahead of the second
    error = ahead.std(axis=0, ddof=1) / np.sqrt(n_worlds)
    n_rivals = max(n_names - 1, 1) * n_decisions
    most = float(stdtrit(n_worlds - 1, 1 - _MISS / n_rivals))
    beaten: npt.NDArray[np.bool_] = (ahead.mean(axis=0) > most * error + 1e-12).any(axis=0)
    return ~beaten


def best_protocols(
    table: Table,
    truth: str,
    *,
    names: Sequence[str] = tuple(PROTOCOLS),
    by: Sequence[str] = ("relation", "skew"),
    **where: float,
) -> pd.DataFrame:
    """Name the best protocol in each region of the worlds, and those that may be as good.

    All regions, by both readings of the truth, are told apart together.
    """
    frame, rows = table.frame, []
    for name, value in {"choice": 1.0, **where}.items():
        frame = frame[frame[name] == value]
    if frame.empty:
        raise ConfigError(f"no worlds with {where or 'a choice of 1'} in the table")
    columns = [column(name, truth) for name in names]
    regions = frame.groupby(list(by), sort=True)
    n_decisions = len(regions) * len(TRUTHS)
    for region, group in regions:
        values = group.groupby("number")[columns].mean().to_numpy()
        order = np.argsort(-values.mean(axis=0), kind="stable")
        may = possibly_best(values, n_decisions)
        mean = over_worlds(values[:, order[0]])
        ranked = [names[place] for place in order]
        others = tuple(names[place] for place in order[1:] if may[place])
        rows.append((*region, ranked[0], mean.value, *mean.interval, ranked[1], others))
    return pd.DataFrame(rows, columns=[*by, "best", "tau", "low", "high", "second", "others"])


def over_relations(
    table: Table, truth: str, *, names: Sequence[str] = tuple(PROTOCOLS), choice: float = 1.0
) -> pd.DataFrame:
    """Average the agreement with the truth over skews, for each relation."""
    frame = table.frame[table.frame["choice"] == choice]
    rows = []
    for name in names:
        for relation, group in frame.groupby("relation", sort=True):
            mean = over_worlds(group.groupby("number")[column(name, truth)].mean().to_numpy())
            rows.append((name, relation, mean.value, *mean.interval))
    return pd.DataFrame(rows, columns=["name", "relation", "value", "low", "high"])


LIKES_ONLY = tuple(name for name in PROTOCOLS if name not in ("bpref", "infAP"))
"""What can be measured where nobody says what they dislike: bpref and infAP need that."""


def best_table(best: Mapping[str, pd.DataFrame]) -> str:
    """Write as a table in Markdown which protocol is the best at each relation.

    And how sure it is.
    """
    head = ["relation"]
    for truth in best:
        head += [f"best by true {truth}, its tau", "may be as good"]
    rows = []
    for regions in zip(*(frame.to_dict("records") for frame in best.values()), strict=True):
        cells = [f"{regions[0]['relation']:g}"]
        for row in regions:
            numbers = f"{row['tau']:.2f} ({row['low']:.2f} to {row['high']:.2f})"
            cells += [f"**{row['best']}** {numbers}", ", ".join(row["others"]) or "none"]
        rows.append([cell.replace("-", "\N{MINUS SIGN}") for cell in cells])
    return markdown_table(head, rows)


_AMONG: Mapping[str, Sequence[str]] = {"all": tuple(PROTOCOLS), "likes": LIKES_ONLY}


def best_of_kinds(table: Table) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Tell in which kinds of worlds a protocol is the best, 1; ends say so surely, and possibly.

    All skews of a relation together have no skew.
    """
    index, rows = ("among", "truth", "protocol", "relation", "skew"), []
    regions = (("relation", "skew"), ("relation",))
    for truth, (among, names), by in product(TRUTHS, _AMONG.items(), regions):
        if not {column(name, truth) for name in names} <= set(table.frame):
            continue
        for region in best_protocols(table, truth, names=names, by=by).to_dict("records"):
            for name in names:
                is_best, others = name == region["best"], region["others"]
                ends = is_best and not others, is_best or name in others
                kind = region["relation"], region.get("skew", np.nan)
                rows.append((among, truth, name, *kind, *map(float, (is_best, *ends))))
    return index, pd.DataFrame(rows, columns=[*index, "best", "best_low", "best_high"])
