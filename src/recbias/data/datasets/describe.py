"""What a data set is like: sizes, concentration, and what popularity has to do with relevance."""

from __future__ import annotations

import warnings

import numpy as np
import numpy.typing as npt

from recbias._system.memory import largest_table
from recbias._system.places import data_dirs
from recbias.data.datasets.registry import DatasetInfo, state
from recbias.data.ratings import Ratings, exact
from recbias.errors import DataWarning


def describe(ratings: Ratings, min_rating: float) -> dict[str, str]:
    """Describe ratings in short statements.

    Parameters
    ----------
    ratings : Ratings
        What to describe.
    min_rating : float
        The smallest relevant rating.

    Returns
    -------
    dict of str to str
        Statements by their label, in the order in which they are to be shown.
    """
    per_user, per_item = ratings.user_counts(), ratings.item_counts()
    size = (
        f"{ratings.n_users:,} users, {ratings.n_items:,} items, {len(ratings):,} ratings, "
        f"density {100 * ratings.density:.3g} %"
    )
    said = {
        "size": size,
        "per user": _spread(per_user),
        "per item": _spread(per_item),
        "feedback": f"{ratings.feedback}, {ratings.scale}",
        "times": _period(ratings),
        "popularity": (
            f"top 10 % of the items have {100 * top_share(per_item):.1f} % of the ratings; "
            f"Gini {gini(per_item):.3f}"
        ),
    }
    if ratings.feedback == "explicit":
        share = float((ratings.value >= min_rating).mean())
        said["relevance"] = f"{100 * share:.1f} % of the ratings are {exact(min_rating)} or more"
        said["agreement"] = _agreement_said(popularity_relevance(ratings, min_rating))
    else:
        said["relevance"] = "every observed pair counts as relevant"
        said["agreement"] = "popularity and relevance: not defined, all observed pairs are relevant"
    said["memory"] = _memory_said(ratings.n_items)
    return said


_MATRICES = {"05": 1.4, "06": 1.4, "07": 1.4, "systems": 1.4}
"""Matrices of all pairs of items that a model of a page learns in: SLIM's, in chapter 6 EASE's.

Measured as the memory that learning adds, over 8 bytes a pair, for 5,000 and 8,000 items."""
_PAGE_GB, _MUCH_GB = 0.6, 4.0
"""What a process takes without such a model, and what many machines do not have."""


def page_memory(n_items: int, page: str) -> float:
    """Estimate the GB that the largest process of a page takes, of models over pairs of items.

    A table of pairs that is larger than allowed is taken by no process: such models are left out.

    Parameters
    ----------
    n_items : int
        Items of the table.
    page : str
        Name of a chapter, such as ``"06_concentration"``.

    Returns
    -------
    float
        0 of a page without such models.

    Examples
    --------
    >>> [round(page_memory(10_000, page), 1) for page in ("02_sparsity_bias", "systems")]
    [0.0, 1.7]
    """
    matrices = next((n for start, n in _MATRICES.items() if page.startswith(start)), 0)
    table = 8 * n_items**2
    held = matrices * table if table <= largest_table() else 0
    return _PAGE_GB + held / 1e9 if matrices else 0.0


def warn_of_memory(ratings: Ratings, page: str) -> None:
    """Warn of a page that may take more memory than many machines have.

    Warns
    -----
    DataWarning
        With the estimate, and what makes it less.
    """
    estimate = page_memory(ratings.n_items, page)
    if estimate > _MUCH_GB:
        warnings.warn(
            f"{page} takes about {estimate:.2g} GB for {ratings.n_items:,} items, in each of its "
            "workers at worst; -p workers 1 runs one, and a table without rare items takes less",
            DataWarning,
            stacklevel=2,
        )


def _memory_said(n_items: int) -> str:
    slim, ease = page_memory(n_items, "05"), page_memory(n_items, "06")
    return (
        f"about {slim:.2g} GB in a worker of chapters 5, 7 and systems, {ease:.2g} in chapter 6, "
        "by pairs of items; about 1 GB in the others"
    )


def top_share(counts: npt.NDArray[np.int64], share: float = 0.1) -> float:
    """Compute the share of all ratings that the most popular items have.

    Parameters
    ----------
    counts : int array (n_items,)
        Ratings of each item; items without one count as items.
    share : float
        Share of the items, rounded up to whole items.

    Returns
    -------
    float
        Between `share` (all alike) and 1.

    Examples
    --------
    >>> top_share(np.array([1, 1, 8, 0, 0, 0, 0, 0, 0, 0]))
    0.8
    """
    n_top = int(np.ceil(share * len(counts)))
    return float(np.sort(counts)[::-1][:n_top].sum() / counts.sum())


def gini(counts: npt.NDArray[np.int64]) -> float:
    """Compute the Gini coefficient of how ratings are spread over items.

    Parameters
    ----------
    counts : int array (n_items,)
        Ratings of each item; items without one count as items.

    Returns
    -------
    float
        0 if all items have the same number, towards 1 if few have them all.

    Examples
    --------
    >>> gini(np.array([3, 3, 3])), gini(np.array([0, 0, 0, 4]))
    (0.0, 0.75)
    """
    ascending = np.sort(counts)
    n_items = len(counts)
    ranks = np.arange(1, n_items + 1)
    return float(((2 * ranks - n_items - 1) * ascending).sum() / (n_items * ascending.sum()))


def popularity_relevance(ratings: Ratings, min_rating: float) -> float:
    """Correlate the popularity of items with the share of their ratings that are relevant.

    Parameters
    ----------
    ratings : Ratings
        Explicit ratings.
    min_rating : float
        The smallest relevant rating.

    Returns
    -------
    float
        Spearman's rank correlation over the items with a rating; NaN if all have the same number,
        or the same share.
    """
    counts = ratings.item_counts()
    rated = counts > 0
    liked = np.bincount(ratings.item[ratings.value >= min_rating], minlength=ratings.n_items)
    shares = liked[rated] / counts[rated]
    if len(np.unique(counts[rated])) < 2 or len(np.unique(shares)) < 2:
        return float("nan")
    from scipy.stats import spearmanr  # not above: it takes long, and most processes need it not

    return float(spearmanr(counts[rated], shares).statistic)


def _agreement_said(correlation: float) -> str:
    if np.isnan(correlation):
        return "popularity and relevance: not defined, all items are alike in one of them"
    sense = "agree" if correlation > 0.1 else "oppose" if correlation < -0.1 else "hardly relate"
    return (
        f"popularity and relevance {sense}: rank correlation {correlation:+.2f} of the number of "
        "ratings and the share of relevant ones, over items"
    )


def _spread(counts: npt.NDArray[np.int64]) -> str:
    return f"{counts.min():,} to {counts.max():,} ratings, median {np.median(counts):g}"


def _period(ratings: Ratings) -> str:
    if ratings.timestamp is None:
        return "none"
    ends = (ratings.timestamp.min(), ratings.timestamp.max())
    first, last = (np.datetime64(int(end), "s").astype("datetime64[D]") for end in ends)
    return f"{first} to {last}"


def size_said(info: DatasetInfo) -> str:
    """Tell how large the registry says a data set is."""
    ratings = "" if info.n_ratings is None else f", {info.n_ratings:,} ratings"
    return f"{info.n_users:,} users, {info.n_items:,} items{ratings}"


def describe_entry(info: DatasetInfo) -> dict[str, str]:
    """Describe what the registry says of a data set, and where its files were searched.

    Parameters
    ----------
    info : DatasetInfo
        Its entry.

    Returns
    -------
    dict of str to str
        Lines by label, without those that have nothing to say.
    """
    rows = {
        "name": info.name,
        "title": info.title,
        "published": f"{size_said(info)}; {info.scale}",
        "address": info.address,
        "checksum": info.checksum and f"{info.checksum} ({info.checksum_source})",
        "content": info.content_hash,
        "licence": info.licence,
        "you may": info.use,
        "cite": info.citation,
        "state": state(info),
        "searched": ", ".join(map(str, data_dirs())) if info.files else None,
    }
    return {label: text for label, text in rows.items() if text}
