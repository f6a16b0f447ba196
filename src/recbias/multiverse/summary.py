"""What many universes say together: shares, null curve, importance of decisions, nearest flips.

Crossed options are arrays with an axis for each decision. Nothing here knows what they stand for.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

__all__ = [
    "JOINT",
    "balanced_weights",
    "full_part",
    "joint_test",
    "nearest_flips",
    "rounded_signs",
    "shapley",
]

FloatArray = npt.NDArray[np.float64]

JOINT = ("mean t", "wins - losses", "sure wins - sure losses")
"""Statistics of the joint test. Only the first has next to no ties: the others err less often."""

_ROWS = 4096
_TIE = 1e-12
_SINGLE = 1e-5  # t is in single precision: what it adds to a t of about 1 by rounding, and more


def rounded_signs(differences: FloatArray) -> FloatArray:
    """Tell who is ahead: 0 also where sums of the same values in another order differ by rounding.

    Examples
    --------
    >>> rounded_signs(np.array([(0.1 + 0.2 + 0.3) - (0.3 + 0.2 + 0.1), -0.1])).tolist()
    [0.0, -1.0]
    """
    return np.where(np.abs(differences) < _TIE, 0.0, np.sign(differences))


def shapley(values: npt.ArrayLike) -> FloatArray:
    r"""Share out the variance of a crossed table among its axes: Shapley effects, exact.

    :math:`\phi_i=\sum_{T\ni i}V_T/|T|` over sets of axes, where :math:`V_T` is what T adds to the
    variance beyond all of its parts (functional ANOVA). Interactions are divided alike among those
    who take part, and the effects add up to 1.

    Parameters
    ----------
    values : array_like of float, shape (n_1, ..., n_k)
        Of all combinations, which weigh alike.

    Returns
    -------
    ndarray of float64, shape (k,)
        0 everywhere if all values are equal.

    References
    ----------
    A. Owen, "Sobol' indices and Shapley value", SIAM/ASA J. Uncertain. Quantif. 2 (2014).

    Examples
    --------
    The first axis alone decides; then both only together.

    >>> print(shapley([[1, 1], [-1, -1]]), shapley([[1, -1], [-1, 1]]))
    [1. 0.] [0.5 0.5]
    """
    table = np.asarray(values, dtype=np.float64)
    n_axes = table.ndim
    explained = np.empty((2,) * n_axes)

    def visit(means: FloatArray, kept: tuple[int, ...], following: int) -> None:
        """Average over one more axis, each set of axes once."""
        explained[kept] = means.var()
        for axis in range(following, n_axes):
            visit(
                means.mean(axis=axis, keepdims=True),
                (*kept[:axis], 0, *kept[axis + 1 :]),
                axis + 1,
            )

    visit(table, (1,) * n_axes, 0)
    total = float(explained[(1,) * n_axes])
    if not total > 1e-12 * max(float(np.square(table).mean()), 1e-300):
        return np.zeros(n_axes)
    for axis in range(n_axes):
        with_axis, without = np.moveaxis(explained, axis, 0)[::-1]
        with_axis -= without
    explained[explained < 1e-12 * total] = 0.0  # rounding errors
    size = np.indices(explained.shape).sum(axis=0)
    shared = explained / np.maximum(size, 1)
    effects = [np.moveaxis(shared, axis, 0)[1].sum() for axis in range(n_axes)]
    return np.array(effects) / total


def full_part(known: npt.NDArray[np.bool_]) -> tuple[npt.NDArray[np.intp], ...]:
    """Choose options whose combinations are all known, leaving out what misses most, one by one.

    Parameters
    ----------
    known : ndarray of bool, shape (n_1, ..., n_k)
        Which combinations there are.

    Returns
    -------
    tuple of ndarray of int
        Places that are left on each axis; all empty if nothing is.

    Examples
    --------
    >>> [axis.tolist() for axis in full_part(np.array([[True, True, False], [True, True, True]]))]
    [[0, 1], [0, 1]]
    """
    left = [np.arange(size) for size in known.shape]
    while known.size and not known.all():
        axes = range(known.ndim)
        shares = [known.mean(axis=tuple(other for other in axes if other != axis)) for axis in axes]
        axis = int(np.argmin([share.min() for share in shares]))
        worst = len(shares[axis]) - 1 - int(np.argmin(shares[axis][::-1]))
        left[axis] = np.delete(left[axis], worst)
        known = np.delete(known, worst, axis=axis)
    return tuple(of_axis if known.size else of_axis[:0] for of_axis in left)


def balanced_weights(known: npt.NDArray[np.bool_], n_rounds: int = 100) -> FloatArray:
    """Weigh combinations so that the options of each axis have the same weight in all.

    Where some combinations are missing, weights are raked: scaled axis by axis, until nothing
    changes or the rounds are over.

    Parameters
    ----------
    known : ndarray of bool, shape (n_1, ..., n_k)
        Which combinations there are; one at least.
    n_rounds
        Enough of them for what is not impossible; then the last axis is balanced, others nearly.

    Returns
    -------
    ndarray of float64, same shape
        They add up to 1; an option without combinations has none.

    Examples
    --------
    >>> print(balanced_weights(np.array([[True, True], [True, True]])))
    [[0.25 0.25]
     [0.25 0.25]]
    >>> balanced_weights(np.array([[True, True, False], [False, True, True]])).sum(axis=1).round(2)
    array([0.5, 0.5])
    """
    weights = known / known.sum()
    for _ in range(n_rounds):
        worst = 0.0
        for axis in range(known.ndim):
            others = tuple(other for other in range(known.ndim) if other != axis)
            sums = weights.sum(axis=others, keepdims=True)
            target = (sums > 0) / np.count_nonzero(sums)
            worst = max(worst, float(np.abs(sums - target).max()))
            weights = weights * np.divide(target, sums, out=np.zeros_like(sums), where=sums > 0)
        if worst < 1e-9:
            break
    return weights


def joint_test(
    t: npt.NDArray[np.floating],
    n_users: npt.NDArray[np.integer],
    weights: npt.ArrayLike | None = None,
) -> list[tuple[str, float, float, float]]:
    """Compare a curve with those under the null hypothesis, of systems that users cannot tell.

    Parameters
    ----------
    t : ndarray of float, shape (n_universes, 1 + n_flips)
        Of users' differences, positive where the first system is better: as observed, then with the
        systems swapped at random users, the same in all universes.
    n_users : ndarray of int, shape (n_universes,)
        Whom t is over.
    weights : array_like of float, shape (n_universes,), optional
        What a universe weighs; all alike by default.

    Returns
    -------
    list of tuple
        For each of `JOINT` its name, its value, how far from 0 the null curves reach in 95 of 100,
        and p: the share of curves, the observed one among them, that lie as far from 0.

    Notes
    -----
    Exact where both systems are exchangeable user by user. Where only their means are equal it is
    right for many users, as the statistic is studentised.

    References
    ----------
    U. Simonsohn, J. Simmons & L. Nelson, "Specification curve analysis", Nature Human Behaviour 4
    (2020).

    Examples
    --------
    >>> curves = np.array([[4.0, 1, -1], [3.0, -1, 1]])
    >>> joint_test(curves, np.array([50, 50]))[0]
    ('mean t', 3.5, 0.0, 0.3333333333333333)
    """
    weigh = np.ones(len(t)) if weights is None else np.asarray(weights, dtype=np.float64)
    sums = np.zeros((len(JOINT), t.shape[1]))
    slack = np.full(len(JOINT), _SINGLE * weigh.sum())
    for first in range(0, len(t), _ROWS):
        some = slice(first, first + _ROWS)
        of_some = t[some].astype(np.float64)
        signs = np.sign(of_some) * (np.abs(of_some) > _SINGLE)
        slack[0] += _SINGLE * (weigh[some] @ np.abs(of_some[:, 0]))
        sure = signs * (np.abs(of_some) > stdtrit(n_users[some] - 1, 0.975)[:, None])
        sums += [weigh[some] @ statistic for statistic in (of_some, signs, sure)]
    sums /= weigh.sum()
    far = np.abs(sums)
    # Rounding must not part what is equally far: curves that differ in users who add nothing.
    p_values = (far >= far[:, :1] - (slack / weigh.sum())[:, None]).mean(axis=1)
    reach = np.quantile(far[:, 1:], 0.95, axis=1) if t.shape[1] > 1 else np.full(len(JOINT), np.nan)
    return [
        (name, float(value), float(end), float(p))
        for name, value, end, p in zip(JOINT, sums[:, 0], reach, p_values, strict=True)
    ]


def nearest_flips(signs: npt.NDArray[np.integer], start: tuple[int, ...]) -> npt.NDArray[np.intp]:
    """Find the combinations that turn the sign with the fewest changes.

    Parameters
    ----------
    signs : ndarray of int, shape (n_1, ..., n_k)
        1 or -1; 0 = neither, or no such combination.
    start
        Where changes are counted from; its sign is not 0.

    Returns
    -------
    ndarray of int, shape (n_flips, k)
        All of the smallest number of changes; none if the sign is the same everywhere.

    Examples
    --------
    >>> nearest_flips(np.array([[1, 1], [1, -1]]), (0, 0)).tolist()
    [[1, 1]]
    """
    against = signs == -signs[start]
    if not against.any():
        return np.empty((0, signs.ndim), dtype=np.intp)
    changes = np.zeros(signs.shape, dtype=np.int8)
    for axis, place in enumerate(start):
        shape = [1] * signs.ndim
        shape[axis] = -1
        changes += (np.arange(signs.shape[axis]) != place).reshape(shape)
    return np.argwhere(against & (changes == changes[against].min()))
