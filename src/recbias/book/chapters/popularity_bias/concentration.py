"""How ratings and positives concentrate on items in a data set, beside others and TREC.

BCC17 Sec. 5.2 and 5.3: Fig. 5 right, and what the text says of its data.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from recbias._system.streams import stream
from recbias.book.chapters.popularity_bias.setup import CHAPTER
from recbias.book.chapters.popularity_bias.trec import Marginals, forced_gini
from recbias.book.html import markdown_table, plain
from recbias.claims.checks import Check
from recbias.claims.judging import load_chapter
from recbias.claims.ledger import claims
from recbias.claims.regions import defined
from recbias.data.datasets import Dataset, registry
from recbias.data.datasets.describe import gini, top_share
from recbias.data.ratings import Ratings
from recbias.experiment.makers import Table, maker
from recbias.protocol.relevance import relevant

Counts = npt.NDArray[np.int64]

STEPS = 100
"""A cumulative curve has so many steps."""

MOST_USERS = 10_000
"""Of so many users all pairs are compared; of more, those of a sample."""

_YEARS = (2000, 2003)
_MONTHS = {"first": (2000, 4), "last": (2003, 2)}
"""When the ratings of MovieLens 1M were entered, as BCC17 Sec. 5.3 prints it."""


def trec_marginals() -> Marginals:
    """Read from the ledger what BCC17 prints of TREC's judgments (Sec. 5.2).

    Examples
    --------
    >>> trec_marginals().total
    149811
    """
    (claim,) = (claim for claim in claims() if claim.id == "BCC17-F5R")
    return Marginals.parse(claim.values["TREC"])


def positives_per_item(ratings: Ratings, min_rating: float) -> Counts:
    """Count the positive ratings of each item that has one."""
    liked = ratings.item[relevant(ratings.value, min_rating)]
    counts = np.bincount(liked, minlength=ratings.n_items)
    return counts[counts > 0]


def share_of_most_popular(counts: npt.NDArray[Any], shares: npt.NDArray[np.float64]) -> list[float]:
    """Compute what share of all counts the most popular items have: a cumulative curve.

    Examples
    --------
    >>> share_of_most_popular(np.array([1, 2, 5]), np.array([0, 1 / 3, 0.5, 1]))
    [0.0, 0.625, 0.75, 1.0]
    """
    reached = np.concatenate(([0], np.cumsum(np.sort(counts)[::-1]))) / counts.sum()
    places = np.linspace(0, 1, len(reached))
    return [float(share) for share in np.interp(shares, places, reached)]


def smallest_half(counts: Counts) -> float:
    """Compute the smallest share of the items that has half of all counts, or more.

    Examples
    --------
    >>> smallest_half(np.array([1, 1, 2, 4]))
    0.25
    """
    reached = np.cumsum(np.sort(counts)[::-1])
    return float((np.searchsorted(2 * reached, reached[-1]) + 1) / len(counts))


@maker(CHAPTER, Table)
def concentration(dataset: Dataset, *, min_rating: float) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Describe how ratings and positives concentrate on items.

    Parameters
    ----------
    dataset
        A data set.
    min_rating
        Smallest rating that is relevant.

    Returns
    -------
    index : tuple of str
        ``counts`` (``"ratings"``, over items with one, or ``"positives"``, over items with one of
        these) and ``what``: ``"Gini"``; ``"top 10 %"``, the share of the tenth of the items that
        has most; ``"half"``, the smallest share of the items that has half; ``"items"``; and
        ``"curve 0"`` to ``"curve 100"``, the share of the so many percent that have most.
    frame : DataFrame
        The ``value`` of each.
    """
    ratings = dataset.ratings
    rated = ratings.item_counts()
    counts_of = {
        "ratings": rated[rated > 0],
        "positives": positives_per_item(ratings, min_rating),
    }
    rows = [
        (name, what, value)
        for name, counts in counts_of.items()
        for what, value in _described(counts).items()
    ]
    return ("counts", "what"), pd.DataFrame(rows, columns=["counts", "what", "value"])


def _described(counts: Counts) -> dict[str, float]:
    shares = np.linspace(0, 1, STEPS + 1)
    curve = zip(shares, share_of_most_popular(counts, shares), strict=True)
    return {
        "Gini": gini(counts),
        "top 10 %": top_share(counts),
        "half": smallest_half(counts),
        "items": float(len(counts)),
        **{f"curve {round(100 * share)}": reached for share, reached in curve},
    }


def check_concentration(ratings: Ratings, *, min_rating: float) -> list[Check]:
    """Measure what BCC17 Fig. 5 right says of positives per item, beside TREC (BCC17-F5R)."""
    counts = positives_per_item(ratings, min_rating)
    coefficient, most = gini(counts), forced_gini(trec_marginals())[1]
    pleased = float(counts.max() / ratings.n_users)
    rows = (
        (
            "gini",
            "Gini coefficient of the positives per item that has one",
            len(counts),
            coefficient,
        ),
        (
            "half",
            "smallest share of the items with positives that has half of them",
            len(counts),
            smallest_half(counts),
        ),
        ("against-trec", "the same Gini over the largest of TREC", len(counts), coefficient / most),
        ("top-item", "share of the users that like the most liked item", ratings.n_users, pleased),
    )
    return [Check("BCC17-F5R", *row) for row in rows]


def check_trec(known: Marginals) -> list[Check]:
    """Tell how far from uniform the numbers that BCC17 prints of TREC let it be (BCC17-F5R)."""
    what, most = "largest Gini that the marginals of TREC allow", forced_gini(known)[1]
    return [Check("BCC17-F5R", "trec", what, known.n_items, most)]


def check_collection(ratings: Ratings, *, min_rating: float, seed: int) -> list[Check]:
    """Measure what BCC17 Sec. 5.3 says of how its data came about (BCC17-C-DATA)."""
    fewest = int(ratings.user_counts().min())
    share, n_pairs = overlapping_pairs(ratings, min_rating=min_rating, seed=seed)
    rows: list[tuple[str, str, int, float]] = [
        ("fewest", "fewest ratings of a user", ratings.n_users, float(fewest)),
        ("overlap", "share of the pairs of users who like an item both", n_pairs, share),
    ]
    if ratings.timestamp is not None:
        when = [
            dt.datetime.fromtimestamp(int(seconds), dt.UTC)
            for seconds in (ratings.timestamp.min(), ratings.timestamp.max())
        ]
        first, last = (12 * date.year + date.month for date in when)
        outside = max(_YEARS[0] - when[0].year, when[1].year - _YEARS[1], 0)
        months = {name: 12 * year + month for name, (year, month) in _MONTHS.items()}
        rows += [
            ("years", "years by which ratings exceed 2000 to 2003", 2, float(outside)),
            ("first", "|months from April 2000|", 1, float(abs(first - months["first"]))),
            ("last", "|months from February 2003|", 1, float(abs(last - months["last"]))),
        ]
    return [Check("BCC17-C-DATA", *row) for row in rows]


def overlapping_pairs(ratings: Ratings, *, min_rating: float, seed: int) -> tuple[float, int]:
    """Count the pairs of users who both like some item."""
    users = np.arange(ratings.n_users)
    if len(users) > MOST_USERS:
        users = stream(seed, "overlap").choice(users, MOST_USERS, replace=False)
    matrix = ratings.matrix().tocsr()
    matrix.data = relevant(matrix.data, min_rating).astype(np.int32)
    matrix.eliminate_zeros()
    liked = matrix[users]
    n_pairs = len(users) * (len(users) - 1) // 2
    met = 0
    for start in range(0, len(users), 500):  # a block of the products of all pairs at a time
        block = (liked[start : start + 500] @ liked.T).tocsr()
        rows, columns = block.nonzero()
        met += int((columns > rows + start).sum())
    return met / n_pairs if n_pairs else np.nan, n_pairs


# -- what the chapter shows --------------------------------------------------------------------


def data_sets_beside(own: Table) -> dict[str, Table]:
    """Collect a table of the data of a page with those of all other data sets that have results."""
    tables = {own.dataset["title"]: own}
    chapter, _, table = own.maker_name.partition("/")
    for name, info in registry().items():
        if name == own.dataset["name"] or "real people" in info.cannot_test:
            continue
        other = load_chapter(chapter, name, table).get(table)
        if isinstance(other, Table):
            tables[other.dataset["title"]] = other
    return tables


def concentration_table(tables: Mapping[str, Table]) -> str:
    """Write the Gini coefficients and head shares of data sets side by side, TREC last."""
    rows = []
    for title, table in tables.items():
        cells = [plain(title), f"{table.given['min_rating']:g}"]
        for counts in ("ratings", "positives"):
            spread, top = (_value(table, counts, what) for what in ("Gini", "top 10 %"))
            cells += [defined(spread, ".2f"), defined(top, ".0%")]
        rows.append([*cells, defined(_value(table, "positives", "half"), ".0%")])
    low, high = forced_gini(trec_marginals())
    dash = "\N{EN DASH}"
    rows.append(
        ["*TREC, from what is printed*", dash, dash, dash, f"{low:.3f} to {high:.3f}", *[dash] * 2]
    )
    columns = ("Gini", "top 10 %")
    of_each = (f"{counts}: {what}" for counts in ("ratings", "positives") for what in columns)
    head = ("data", "relevant from", *of_each, "items with half of the positives")
    return markdown_table(head, rows)


def short_title(title: str) -> str:
    """Leave out what stands in brackets."""
    return title.partition(" (")[0]


def _value(table: Table, counts: str, what: str) -> float:
    return table[{"counts": counts, "what": what}].value
