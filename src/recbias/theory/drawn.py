"""What one drawn evaluation says: chances of hits, chances of the sign of a difference, bounds.

A run of 1R hits with a chance that follows from how many items of the whole pool stand above its
item. Runs that draw their samples apart are independent, and the distribution of their sums follows
from those chances. Two systems that are ranked in *one* sample depend on each other, in a way that
these chances do not tell; what holds whatever they have in common is bounded.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numba as nb
import numpy as np
import numpy.typing as npt

from recbias.errors import ConfigError

__all__ = ["chances_of_orders", "fill_hit_chances", "hit_chances", "shared_sample_bounds"]

FloatArray = npt.NDArray[np.float64]

_TAIL = 1e-20
"""Chance of a place, in units of that of the likeliest one, below which no farther one counts."""

_NEGLIGIBLE = 1e-13
"""Chance of the outcomes that a sum leaves out."""

_SURE = 1e-9
"""An order whose opposite has no larger chance than this is not summed up."""


def hit_chances(pool: int, draws: int, cutoff: int) -> FloatArray:
    r"""Compute the chance of a hit of one run, by the number of items above its own.

    The item is within the cutoff n if the n-th best of the drawn items stands below it. That one is
    the p-th best of the pool with chance
    :math:`\binom{p-1}{n-1}\binom{N-p}{d-n}/\binom{N}{d}`, and those chances follow from each other
    by ratios: all numbers of items above cost one pass.

    Parameters
    ----------
    pool
        N, items that may be drawn.
    draws
        d of them are, at most N.
    cutoff
        n, length of the list, at least 1.

    Returns
    -------
    ndarray of float64, shape (pool + 1,)
        For 0 to `pool` items above.

    Raises
    ------
    ConfigError
        If `draws` is negative or larger than `pool`, or `cutoff` is below 1.

    See Also
    --------
    recbias.theory.hypergeometric_cdf : the same one by one, for any arguments.

    References
    ----------
    BCC17 Eq. 1, over the sampling of Sec. 3.1.

    Examples
    --------
    Two of four are drawn: at cutoff 1 neither may be one of those above.

    >>> print(hit_chances(4, 2, 1).round(6))
    [1.       0.5      0.166667 0.       0.      ]
    """
    if not 0 <= draws <= pool or cutoff < 1:
        raise ConfigError(
            f"hit_chances: {draws} of {pool} drawn, cutoff {cutoff}; expected 0 to {pool} draws "
            "and a cutoff of at least 1"
        )
    chances = np.empty(pool + 1)
    fill_hit_chances(pool, draws, cutoff, chances)
    return chances


@nb.njit(cache=True, nogil=True)
def fill_hit_chances(pool: int, draws: int, cutoff: int, chances: FloatArray) -> None:
    """Fill in what `hit_chances` returns, without its checks, for compiled loops."""
    if draws < cutoff:
        chances[:] = 1.0
        return
    best, worst = cutoff - 1, pool - 1 - (draws - cutoff)
    # Up to a factor, outwards from about the mode, as far as it counts.
    middle = min(max((cutoff - 1) * pool // draws, best), worst)
    chances[middle], largest = 1.0, 1.0
    last = middle
    while last < worst and chances[last] > _TAIL * largest:
        ratio = (last + 1.0) * (pool - last - 1.0 - draws + cutoff)
        chances[last + 1] = chances[last] * (ratio / ((last + 2.0 - cutoff) * (pool - last - 1.0)))
        last += 1
        largest = max(largest, chances[last])
    first = middle
    while first > best and chances[first] > _TAIL * largest:
        ratio = (first + 1.0 - cutoff) * (pool - first)
        ratio /= float(first) * (pool - first - draws + cutoff)
        chances[first - 1] = chances[first] * ratio
        first -= 1
        largest = max(largest, chances[first])
    for place in range(last - 1, first - 1, -1):
        chances[place] += chances[place + 1]
    total = chances[first]
    for place in range(first, last + 1):
        chances[place] /= total
    chances[:first] = 1.0
    chances[last + 1 :] = 0.0


def chances_of_orders(chances: FloatArray, pairs: Sequence[tuple[int, int]]) -> FloatArray:
    r"""Compute the chances that systems have more hits than others, with samples of their own.

    Every run of either system hits independently of all others, with a chance of its own. Equal
    numbers of hits count half, as if a coin was tossed. With the difference D of the numbers and
    its characteristic function :math:`\varphi`, a product over runs,

    .. math:: P(D>0)+\tfrac12 P(D=0)=\tfrac12+\tfrac1{2m}\sum_{j=0}^{m-1}
       \operatorname{Im}\varphi(\theta_j)\cot\tfrac{\theta_j}2,\quad \theta_j=\tfrac{2j+1}{2m}\pi,

    exactly if :math:`|D|<2m` for sure, since
    :math:`\sin(k\theta)\cot(\theta/2)=1+2\sum_{i<k}\cos(i\theta)+\cos(k\theta)`.

    Parameters
    ----------
    chances : ndarray of float64, shape (n_systems, n_runs)
        Of each run to hit.
    pairs
        Numbers of systems: the first of each is the one that is to have more hits.

    Returns
    -------
    ndarray of float64, shape (len(pairs),)
        With errors below 1e-12, and below 1e-9 where an order is as good as sure: then 0 or 1.

    Notes
    -----
    m is chosen so that :math:`|D|\ge 2m` has a chance below 1e-13 by Bernstein's inequality; terms
    are left out where :math:`|\varphi(\theta)|\le\exp(-2\operatorname{Var}(D)\sin^2(\theta/2))` is
    negligible. Of hundreds of thousands of runs, a dozen or two of terms remain.

    Examples
    --------
    One run each: the first alone hits with chance .6, the other alone with .05; coins decide .35.

    >>> print(chances_of_orders(np.array([[0.75], [0.2]]), [(0, 1), (1, 0)]).round(6))
    [0.775 0.225]
    """
    means = chances.sum(axis=1)
    variances = np.einsum("sr,sr->s", chances, 1.0 - chances)
    order_chances = np.empty(len(pairs))
    for place, (a, b) in enumerate(pairs):
        lead, variance = means[a] - means[b], variances[a] + variances[b]
        if variance <= _NEGLIGIBLE:
            order_chances[place] = 0.5 + 0.5 * np.sign(np.rint(lead))
        elif lead**2 > -2 * math.log(_SURE) * (variance + abs(lead) / 3):
            order_chances[place] = lead > 0
        else:
            order_chances[place] = _chance(chances[a], chances[b], abs(lead), variance)
    return order_chances


def _chance(a: FloatArray, b: FloatArray, lead: float, variance: float) -> float:
    """Sum up the chance of one order."""
    log = math.log(2 / _NEGLIGIBLE)
    reach = lead + log / 3 + math.sqrt(log**2 / 9 + 2 * log * variance)
    m = math.ceil((min(reach, len(a)) + 1) / 2)
    sine = math.sqrt(min(math.log(2 * m / _NEGLIGIBLE) / (2 * variance), 1.0))
    n_terms = min(math.ceil(m * 2 * math.asin(sine) / math.pi), m)
    angles = np.asarray((2 * np.arange(n_terms) + 1) * (math.pi / (2 * m)), dtype=np.float64)
    product = _characteristic(a, angles) * np.conj(_characteristic(b, angles))
    return float(0.5 + (product.imag / np.tan(angles / 2)).sum() / (2 * m))


@nb.njit(cache=True, nogil=True)
def _characteristic(chances: FloatArray, angles: FloatArray) -> npt.NDArray[np.complex128]:
    """Multiply ``1 - q + q exp(i angle)`` over all chances q."""
    less, sine = np.cos(angles) - 1.0, np.sin(angles)
    real, imaginary = np.ones(len(angles)), np.zeros(len(angles))
    for q in chances:
        if q == 0.0:
            continue
        for k in range(len(angles)):
            x, y = 1.0 + q * less[k], q * sine[k]
            old_real = real[k]
            real[k] = old_real * x - imaginary[k] * y
            imaginary[k] = old_real * y + imaginary[k] * x
    return real + 1j * imaginary


def shared_sample_bounds(lead: float, most_lost: float, spread: float) -> tuple[float, float]:
    r"""Bound the chance that one system has more hits than another in shared samples.

    Parameters
    ----------
    lead
        Expected number of hits of the one minus that of the other.
    most_lost
        The largest possible expected number of runs that only the other hits: the sum over runs of
        :math:`\min(q_b, 1-q_a)`, by Fréchet.
    spread
        The largest possible standard deviation of the difference: the sum of those of both numbers.

    Returns
    -------
    low, high : float
        The chance, with ties counted half, lies between them, however the two hits of a run depend
        on each other. Runs are independent.

    Notes
    -----
    Let :math:`\lambda` and :math:`\mu` be the expected numbers of runs that only the one, and only
    the other hits. For every s > 0,
    :math:`P(D\le0)\le\prod_r E[e^{-sD_r}]\le\exp(\lambda(e^{-s}-1)+\mu(e^s-1))`, since
    :math:`1+x\le e^x`. The best s gives
    :math:`P(D\le0)\le\exp(-(\sqrt\lambda-\sqrt\mu)^2)` if :math:`\lambda>\mu`, which is largest
    for the largest :math:`\mu` at a given lead :math:`\lambda-\mu`. Where most runs are as good as
    sure, Bernstein's inequality says more, with the largest variance and steps of at most 2.

    References
    ----------
    M. Fréchet, "Généralisation du théorème des probabilités totales", Fund. Math. 25 (1935);
    H. Chernoff, "A measure of asymptotic efficiency...", Ann. Math. Statist. 23 (1952);
    S. Boucheron, G. Lugosi & P. Massart, "Concentration inequalities" (2013), Sec. 2.8.

    Examples
    --------
    Of 100 runs the one hits 50 and the other 20 on average; at most 20 are hit by the other only.

    >>> low, high = shared_sample_bounds(30.0, 20.0, 9.0)
    >>> print(round(low, 4), high)
    0.9988 1.0
    """
    if spread**2 <= _NEGLIGIBLE:
        sure = 0.5 + 0.5 * float(np.sign(round(lead)))
        return sure, sure
    lost, won = most_lost, most_lost + lead
    depth = (math.sqrt(max(won, 0.0)) - math.sqrt(max(lost, 0.0))) ** 2
    depth = max(depth, lead**2 / (2 * spread**2 + 4 * abs(lead) / 3))
    doubt = math.exp(-depth)
    if lead > 0:
        return 1.0 - doubt, 1.0
    return 0.0, doubt
