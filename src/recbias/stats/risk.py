r"""Risk: what a mean hides of how a system treats single users, against a baseline or many systems.

Two systems of the same mean are not alike if one fails some users badly. Risk measures weigh losses
against a baseline more than gains; standardised values tell what a user's value is worth among the
values that other systems reach on this user, so that easy users do not decide a mean.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import special

from recbias.errors import ConfigError

__all__ = ["geo_risk", "standardised", "t_risk", "u_risk", "z_risk"]

FloatArray = npt.NDArray[np.float64]


def u_risk(values: npt.ArrayLike, baseline: npt.ArrayLike, *, alpha: float = 1.0) -> FloatArray:
    r"""Average the differences to a baseline, with losses weighing :math:`1+\alpha` times.

    :math:`\frac1n\sum_u\delta_u` with :math:`\delta_u = x_u-b_u` where a user gains, and
    :math:`(1+\alpha)(x_u-b_u)` where they lose.

    Parameters
    ----------
    values, baseline : array_like of float, shape (..., n)
        Values of a system and of the baseline on the same n users.
    alpha
        Aversion to losses, at least 0; 0 gives the difference of the means.

    Returns
    -------
    ndarray of float64, shape (...)
        Positive where gains outweigh the weighted losses.

    Raises
    ------
    ConfigError
        If shapes differ, there is no user, a value is NaN, or `alpha` is negative.

    References
    ----------
    L. Wang, P. Bennett & K. Collins-Thompson, "Robust ranking models via risk-sensitive
    optimization", SIGIR 2012; CCM20 Sec. 3.8.

    Examples
    --------
    >>> x, b = [0.5, 0.2, 0.9, 0.4], [0.4, 0.4, 0.6, 0.4]
    >>> print(u_risk(x, b, alpha=0).round(6), u_risk(x, b, alpha=5).round(6))
    0.05 -0.2
    """
    return _weighted_differences(values, baseline, alpha).mean(axis=-1)


def t_risk(values: npt.ArrayLike, baseline: npt.ArrayLike, *, alpha: float = 1.0) -> FloatArray:
    r"""Divide :func:`u_risk` by its standard error: beyond about 2 the risk is no accident.

    :math:`U/(s/\sqrt n)`, with s the standard deviation of the weighted differences, denominator
    n - 1: at :math:`\alpha=0` it is the statistic of the paired t test. (Some tools divide by n.)

    Parameters
    ----------
    values, baseline, alpha
        As of :func:`u_risk`; at least two users.

    Returns
    -------
    ndarray of float64, shape (...)
        0 where all differences are 0; NaN where they are equal and not 0.

    Raises
    ------
    ConfigError
        As of :func:`u_risk`.

    References
    ----------
    B. T. Dinçer, C. Macdonald & I. Ounis, "Hypothesis testing for the risk-sensitive evaluation of
    retrieval systems", SIGIR 2014, Eq. 8; CCM20 Sec. 3.8.

    Examples
    --------
    >>> x, b = [0.5, 0.2, 0.9, 0.4], [0.4, 0.4, 0.6, 0.4]
    >>> print(t_risk(x, b, alpha=0).round(6), t_risk(x, b, alpha=5).round(6))
    0.480384 -0.589768
    """
    weighted = _weighted_differences(values, baseline, alpha)
    n = weighted.shape[-1]
    if n < 2:
        raise ConfigError("risk: one user has no standard error; give at least two")
    mean = weighted.mean(axis=-1)
    error = weighted.std(axis=-1, ddof=1) / np.sqrt(n)
    # Equal differences leave a spread of rounding errors in the mean, which is none.
    error = np.where(np.ptp(weighted, axis=-1) == 0, 0.0, error)
    unknown = np.where(mean == 0, 0.0, np.nan)
    return np.divide(mean, error, out=unknown, where=error > 0)


def z_risk(values: npt.ArrayLike, *, alpha: float = 1.0) -> FloatArray:
    r"""Sum how far each system is from what it is expected to reach on each user.

    From the totals of system i, :math:`S_i`, of user u, :math:`T_u`, and N of all, system i is
    expected to reach :math:`e=S_iT_u/N`; summed are :math:`z=(x-e)/\sqrt e`, negative ones
    :math:`1+\alpha` times.

    Parameters
    ----------
    values : array_like of float, shape (n_systems, n_users)
        None negative. Users whom no system serves are left out, since nothing is expected of them.
    alpha
        Aversion to losses, at least 0.

    Returns
    -------
    ndarray of float64, shape (n_systems,)
        NaN for a system whose values are all 0.

    Raises
    ------
    ConfigError
        If `values` are no table of that shape, with a value that is negative or NaN, or `alpha` is
        negative.

    References
    ----------
    B. T. Dinçer, C. Macdonald & I. Ounis, "Risk-sensitive evaluation and learning to rank using
    multiple baselines", SIGIR 2016, Eqs. 3-5.

    Examples
    --------
    >>> table = np.array([[0.5, 0.2, 0.9, 0.4], [0.4, 0.4, 0.6, 0.4], [0.3, 0.3, 0.6, 0.1]])
    >>> z_risk(table, alpha=0).round(4)
    array([-0.0511,  0.0921, -0.045 ])
    """
    table, _ = _systems_by_users(values)
    return _z_sums(table, _aversion(alpha))


def geo_risk(values: npt.ArrayLike, *, alpha: float = 1.0) -> FloatArray:
    r"""Combine a system's mean with its risk: :math:`\sqrt{(S_i/n)\,\Phi(Z_i/n)}`.

    Parameters
    ----------
    values, alpha
        As of :func:`z_risk`, whose result is :math:`Z_i`; n counts the users that are not left out.

    Returns
    -------
    ndarray of float64, shape (n_systems,)
        0 for a system whose values are all 0; higher is better.

    Raises
    ------
    ConfigError
        As of :func:`z_risk`.

    References
    ----------
    Dinçer, Macdonald & Ounis 2016, Eq. 7; CCM20 Sec. 3.8.

    Examples
    --------
    >>> table = np.array([[0.5, 0.2, 0.9, 0.4], [0.4, 0.4, 0.6, 0.4], [0.3, 0.3, 0.6, 0.1]])
    >>> geo_risk(table, alpha=1).round(6)
    array([0.484386, 0.469203, 0.389808])
    """
    table, n_users = _systems_by_users(values)
    if n_users == 0:
        return np.zeros(len(table))
    mean = table.mean(axis=1)
    chance = special.ndtr(_z_sums(table, _aversion(alpha)) / n_users)
    return np.sqrt(np.where(mean > 0, mean * chance, 0.0))


def standardised(values: npt.ArrayLike, reference: npt.ArrayLike | None = None) -> FloatArray:
    r"""Say of each value which share of systems like the reference ones would stay below it.

    :math:`\Phi((x-\mu_u)/\sigma_u)` with mean and standard deviation, denominator n - 1, of the
    reference systems on user u.

    Parameters
    ----------
    values : array_like of float, shape (..., n_systems, n_users)
        What to standardise.
    reference : array_like of float, shape (n_reference, n_users), optional
        Values of at least two reference systems; `values` themselves without it.

    Returns
    -------
    ndarray of float64, shape of `values`
        In [0, 1]; 1/2 on users on whom all reference systems have the same value.

    Raises
    ------
    ConfigError
        If there are fewer than two reference systems, users differ, or a value is NaN.

    References
    ----------
    W. Webber, A. Moffat & J. Zobel, "Score standardization for inter-collection comparison of
    retrieval systems", SIGIR 2008; CCM20 Sec. 3.8.

    Examples
    --------
    >>> standardised([[0.1], [0.2], [0.3], [0.4]])[3].round(6)
    array([0.877361])
    """
    scores = np.asarray(values, dtype=np.float64)
    known = scores if reference is None else np.asarray(reference, dtype=np.float64)
    if known.ndim != 2 or len(known) < 2:
        raise ConfigError(
            f"reference systems: shape {known.shape}, expected (at least 2 systems, users)"
        )
    if scores.shape[-1:] != known.shape[-1:]:
        raise ConfigError(
            f"values of {scores.shape[-1]} users against references on {known.shape[-1]}; give the "
            "same users in one order"
        )
    _require_defined(scores, known)
    spread = known.std(axis=0, ddof=1)
    spread = np.where(np.ptp(known, axis=0) == 0, 0.0, spread)
    away = scores - known.mean(axis=0)
    z = np.divide(away, spread, out=np.zeros_like(away), where=spread > 0)
    return special.ndtr(z)


def _weighted_differences(
    values: npt.ArrayLike, baseline: npt.ArrayLike, alpha: float
) -> FloatArray:
    scores, base = np.asarray(values, dtype=np.float64), np.asarray(baseline, dtype=np.float64)
    if scores.shape != base.shape or scores.ndim == 0 or scores.shape[-1] == 0:
        raise ConfigError(
            f"risk: values of shape {scores.shape} against a baseline of {base.shape}; give the "
            "same users in one order"
        )
    _require_defined(scores, base)
    difference = scores - base
    return np.where(difference < 0, (1 + _aversion(alpha)) * difference, difference)


def _systems_by_users(values: npt.ArrayLike) -> tuple[FloatArray, int]:
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2:
        raise ConfigError(f"risk: shape {table.shape}, expected (systems, users)")
    _require_defined(table)
    if (table < 0).any():
        raise ConfigError(
            f"risk: a value of {table.min()}; what is expected of a system is a share of positive "
            "totals, so that no value may be negative"
        )
    served = table[:, table.sum(axis=0) > 0]
    return served, served.shape[1]


def _z_sums(table: FloatArray, alpha: float) -> FloatArray:
    of_systems, of_users = table.sum(axis=1, keepdims=True), table.sum(axis=0, keepdims=True)
    total = table.sum()
    if total == 0:
        return np.full(len(table), np.nan)
    expected = of_systems * of_users / total
    z = np.divide(
        table - expected, np.sqrt(expected), out=np.full_like(table, np.nan), where=expected > 0
    )
    return np.where(z < 0, (1 + alpha) * z, z).sum(axis=1)


def _aversion(alpha: float) -> float:
    if not 0 <= alpha < np.inf:
        raise ConfigError(f"alpha {alpha}: the aversion to losses is a number of at least 0")
    return alpha


def _require_defined(*arrays: FloatArray) -> None:
    if undefined := sum(int(np.isnan(one).sum()) for one in arrays):
        raise ConfigError(
            f"risk: {undefined} values are undefined (NaN); choose the users of a population "
            "first, e.g. those with a relevant test item"
        )
