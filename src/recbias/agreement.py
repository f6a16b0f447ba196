"""Agreement between two orderings of the same systems (or items): Kendall tau-b."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["kendall_tau"]

FloatArray = npt.NDArray[np.float64]


def _pair_signs(values: npt.ArrayLike) -> FloatArray:
    """Sign of the difference of each pair along the last axis; NaN where a value is NaN."""
    array = np.asarray(values, dtype=np.float64)
    first, second = np.triu_indices(array.shape[-1], k=1)
    return np.sign(array[..., second] - array[..., first])


def kendall_tau(a: npt.ArrayLike, b: npt.ArrayLike) -> FloatArray:
    r"""Kendall's rank correlation tau-b, for one pair of orderings or for many at once.

    :math:`(C - D) / \sqrt{(n_0 - n_1)(n_0 - n_2)}` with C concordant and D discordant pairs,
    :math:`n_0` pairs in all, :math:`n_1` and :math:`n_2` pairs tied in `a` and in `b`. All pairs
    are compared, so that bootstrap replicates of a few systems cost one array operation.

    Parameters
    ----------
    a, b : array_like of float, shape (..., n_systems)
        Values to be ordered; leading axes (e.g. replicates) broadcast against each other.

    Returns
    -------
    ndarray of float64, shape (...)
        In [-1, 1]; NaN where there are fewer than two systems, where one side is all tied, and
        where a value is NaN.

    References
    ----------
    M. G. Kendall, "The treatment of ties in ranking problems", Biometrika 33 (1945).

    Examples
    --------
    Of six pairs four are concordant, one is discordant and one is tied in `b`: 3 / sqrt(6 * 5).

    >>> print(kendall_tau([4, 3, 2, 1], [5, 5, 3, 4]).round(6))
    0.547723
    """
    signs_a, signs_b = _pair_signs(a), _pair_signs(b)
    difference = (signs_a * signs_b).sum(axis=-1)
    untied = np.square(signs_a).sum(axis=-1) * np.square(signs_b).sum(axis=-1)
    return np.divide(
        difference, np.sqrt(untied), out=np.full_like(difference, np.nan), where=untied > 0
    )
