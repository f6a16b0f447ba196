"""How many ratings items are to have: power laws, and how far they can be skewed."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from recbias.data.simulation.noise import on_grid
from recbias.errors import ConfigError

_SKEW_ALPHA = 5
_STEPS = 1024
_FLATTEST, _STEEPEST = 14 * _STEPS, -8 * _STEPS
_SKEW_REACHED = 1e-3
_MOST_OF_USERS = 0.6
_MOST_OF_PAIRS = 0.8


def power_law(
    n_ranks: int, total: float, *, alpha: float, offset: float, least: float = 0.0
) -> npt.NDArray[np.float64]:
    r"""Share a total over ranks by a shifted power law.

    :math:`c_k = c_1 + \beta (c_2 + k)^{-\alpha}` for :math:`k = 1, 2, \dots`, where :math:`\beta`
    makes the sum right.

    Parameters
    ----------
    n_ranks : int
        Number of ranks.
    total : float
        Sum of all values, e.g. the number of ratings.
    alpha : float
        Exponent; 0 gives equal values.
    offset : float
        :math:`c_2`, in ranks: the larger, the flatter the head.
    least : float
        :math:`c_1`, what every rank has.

    Returns
    -------
    float64 array (n_ranks,)
        Values in descending order, not rounded.

    References
    ----------
    BCC17, simulated popularity distributions.

    Examples
    --------
    >>> power_law(3, 22, alpha=1, offset=0)
    array([12.,  6.,  4.])
    >>> power_law(3, 25, alpha=1, offset=0, least=1)
    array([13.,  7.,  5.])
    """
    shape = (offset + np.arange(1.0, n_ranks + 1)) ** -alpha
    return least + (total - least * n_ranks) * shape / shape.sum()


def whole_power_law(
    n_ranks: int, total: int, *, most: int, alpha: float, offset: float, least: float = 0.0
) -> npt.NDArray[np.int64]:
    r"""Share whole ratings over ranks by a shifted power law, so that none is lost to its limits.

    :math:`\min(m, \max(1, c_1 + \beta (c_2 + k)^{-\alpha}))`, where :math:`\beta` makes the sum
    right after what is below 1 or above m was cut; then all are rounded down, and those that lost
    most by it get 1 back, the first of equal ones first, until the sum is right again.

    Parameters
    ----------
    n_ranks : int
        Number of ranks.
    total : int
        Sum of all values, from one for each rank to `most` for each.
    most : int
        m, the largest value: the number of users.
    alpha, offset, least
        As in `power_law`.

    Returns
    -------
    int64 array (n_ranks,)
        In descending order; each within 1 of the law before rounding.

    Raises
    ------
    ConfigError
        If no such values have the sum.

    References
    ----------
    BCC17, simulated popularity distributions; limits and rounding are not printed there.

    Examples
    --------
    Without limits the first would have 12 ratings; here 8 users can give 8, and others get more.

    >>> whole_power_law(3, 22, most=8, alpha=1, offset=0)
    array([8, 8, 6])
    >>> whole_power_law(3, 22, most=20, alpha=1, offset=0)
    array([12,  6,  4])
    """
    if not n_ranks * max(1.0, least) <= total <= n_ranks * most:
        raise ConfigError(
            f"{total} ratings of {n_ranks} items: expected {max(1.0, least):g} to {most} for each"
        )
    shape = (offset + np.arange(1.0, n_ranks + 1)) ** -alpha

    def law(scale: float) -> npt.NDArray[np.float64]:
        return np.clip(least + scale * shape, 1, most)

    low, high = 0.0, most / float(shape.min())
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if law(middle).sum() <= total else (low, middle)
    # Powers may differ in their last bits between machines; a grid forgets them before rounding.
    exact = on_grid(law(low), 2**16)
    counts = np.floor(exact)
    missing = int(total - counts.sum())
    counts[np.argsort(counts - exact, kind="stable")[:missing]] += 1
    return counts.astype(np.int64)


def counts_of_skew(
    skew: float, total: float, n_items: int, of_user: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    r"""Share a total over items so that the shares have a given Gini coefficient.

    :math:`\min(0.6\,n, \beta (c + k)^{-5})` for :math:`k = 1, 2, \dots`, where n is the number of
    users, :math:`\beta` makes the sum right and c the skew; c is a power of two with an exponent on
    a grid.

    Parameters
    ----------
    skew : float
        Gini coefficient, from 0.
    total : float
        Sum of all counts, at most 0.6 of the pairs.
    n_items : int
        Number of items.
    of_user : float64 array (n_users,)
        Expected numbers of ratings of the users, any order; their sum is `total`.

    Returns
    -------
    float64 array (n_items,)
        In descending order; `skew` is reached to 1e-3.

    Raises
    ------
    ConfigError
        If not even chances of 0.8 for each pair could give both users and the most popular items
        their numbers; the message has the largest skew for which they do.

    Examples
    --------
    >>> from recbias.data.datasets.describe import gini
    >>> counts = counts_of_skew(0.5, 120.0, 20, np.full(30, 4.0))
    >>> round(gini(counts), 2), round(float(counts.sum()), 6), len(counts)
    (0.5, 120.0, 20)
    """
    if skew == 0:
        return np.full(n_items, total / n_items)

    def counts(exponent: int) -> npt.NDArray[np.float64]:
        offset = n_items * 2.0 ** (exponent / _STEPS)
        return _capped(offset, total, n_items, _MOST_OF_USERS * len(of_user))

    steep, flat = _STEEPEST, _FLATTEST
    while flat - steep > 1:
        middle = (flat + steep) // 2
        steep, flat = (steep, middle) if _gini(counts(middle)) <= skew else (middle, flat)
    nearest = min(counts(steep), counts(flat), key=lambda of_item: abs(_gini(of_item) - skew))
    if abs(_gini(nearest) - skew) <= _SKEW_REACHED and _has_room(nearest, of_user):
        return nearest
    steep, flat = _STEEPEST, _FLATTEST
    while flat - steep > 1:
        middle = (flat + steep) // 2
        steep, flat = (steep, middle) if _has_room(counts(middle), of_user) else (middle, flat)
    largest = np.floor(100 * _gini(counts(flat))) / 100
    raise ConfigError(
        f"world(...): skew is {skew:g}, expected 0 to {largest:g} for {len(of_user)} users, "
        f"{n_items} items and {total:.0f} ratings"
    )


def rank_correlation(
    first: npt.NDArray[np.float64], second: npt.NDArray[np.float64] | npt.NDArray[np.int64]
) -> float:
    """Compute Spearman's rank correlation in integers, so that it is the same on every machine.

    Parameters
    ----------
    first, second : array (n,)
        Values; equal ones share the mean of their ranks.

    Returns
    -------
    float
        From -1 to 1; 0 if all values of one are equal.

    Examples
    --------
    >>> rank_correlation(np.array([1.0, 2.0, 3.0]), np.array([5, 9, 7]))
    0.5
    """
    from scipy.stats import rankdata  # not above: it takes long, and most processes need it not

    x, y = ((2 * rankdata(values)).astype(np.int64) for values in (first, second))
    n, sum_x, sum_y = len(x), int(x.sum()), int(y.sum())
    together = n * int((x * y).sum()) - sum_x * sum_y
    spread = (n * int((x * x).sum()) - sum_x**2) * (n * int((y * y).sum()) - sum_y**2)
    return float(together / np.sqrt(float(spread))) if spread else 0.0


def _gini(descending: npt.NDArray[np.float64]) -> float:
    """Compute the Gini coefficient of counts in descending order."""
    n_items = len(descending)
    shares = np.cumsum(descending) / descending.sum()
    return float((2 * shares.sum() - n_items - 1) / n_items)


def _capped(offset: float, total: float, n_items: int, most: float) -> npt.NDArray[np.float64]:
    """Share a total by a power law in which no item has more than `most`."""
    shape = (offset + np.arange(1.0, n_items + 1)) ** -_SKEW_ALPHA
    rest = np.cumsum(shape[::-1])[::-1]
    # With the first k items at the cap, the others share what is left; the smallest k that fits.
    scale = (total - most * np.arange(n_items)) / rest
    n_capped = int(np.argmax(scale * shape <= most))
    return np.minimum(most, scale[n_capped] * shape)


def _has_room(of_item: npt.NDArray[np.float64], of_user: npt.NDArray[np.float64]) -> bool:
    """Tell whether chances up to 0.8 can add up to both: the condition of Gale and Ryser."""
    ascending = np.sort(of_user)
    sums = np.concatenate(([0.0], np.cumsum(ascending)))
    # What users can give to the k most popular items: all that they have, or 0.8 for each.
    most = _MOST_OF_PAIRS * np.arange(1, len(of_item) + 1)
    small = np.searchsorted(ascending, most)
    room = sums[small] + (len(of_user) - small) * most
    return bool((np.cumsum(of_item) <= room * (1 + 1e-9)).all())
