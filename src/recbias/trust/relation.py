r"""How popularity relates to liking, as far as observed ratings can tell.

What is wanted, the *relation*, is Spearman's correlation over items of how often an item is rated
and which share :math:`\theta_i` of all users like it. What is observed is which share :math:`s_i`
of those who rated an item like it. If a user who likes item i is :math:`G_i` times as likely to
rate it as one who does not, Bayes' rule gives

.. math:: \frac{s_i}{1 - s_i} = G_i\,\frac{\theta_i}{1 - \theta_i}.

**What is identified.** One G for all items changes all shares and no order: the relation is that of
the observed shares, however strong selection is. If G differs between items, nothing is identified,
since any :math:`\theta` goes with some G. So a bound is needed, and stated: the *spread*
:math:`\Gamma`, with :math:`G_i \le \Gamma\,G_j` for any two items. Then, but for a constant that
moves no order, :math:`\mathrm{logit}\,\theta_i = \mathrm{logit}\,s_i - \delta_i` with any
:math:`\delta_i` from 0 to :math:`\log \Gamma`.

**Noise.** An item with few ratings has a share that is mostly chance, which makes every relation
look weaker than it is. So shares are not correlated; a distribution of them is fitted instead,
:math:`\mathrm{logit}\,s_i = \alpha + \beta z_i + \sigma \varepsilon_i`, with :math:`z_i` the normal
score of the number of ratings and :math:`\varepsilon_i` standard normal, to the likes
:math:`k_i \sim \mathrm{Binomial}(n_i, s_i)`. The number of ratings is noisy too: as odd and even
users agree on it, :math:`\beta` is corrected for its reliability.

**The interval.** Pearson's correlation r of z and :math:`x - \delta` is smallest where
:math:`\delta` is :math:`\log \Gamma` for every item with :math:`z > r x^*` (:math:`x^*` is
:math:`x - \delta` standardised) and 0 for all others, and largest the other way round: the gradient
of r in :math:`\delta_i` has the sign of :math:`r x^*_i - z_i`. Both ends are found by repeating
this, and told as Spearman's correlation. They are taken over draws from the normal approximation of
the posterior of :math:`(\alpha, \beta, \log \sigma)`, and of these the 2.5 % and 97.5 % points.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy  # its parts are loaded when they are first used: `stats` takes long

from recbias._system.streams import stream
from recbias.data.ratings import Ratings, exact
from recbias.errors import ConfigError, DataError
from recbias.protocol.relevance import relevant

__all__ = ["SPREAD", "Relation", "extreme_correlations", "fit_relation"]

FloatArray = npt.NDArray[np.float64]

SPREAD = 1.5
"""The bound that is assumed unless another is given: selection depends on preference at most half
as much again for one item as for another."""

_LEAST_ITEMS = 30
_LEAST_RATINGS = 500
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(9)
_NEWTON_STEPS = 12
_GRID = 30
_POLISHING_STEPS = 3
_N_DRAWS = 100
_N_STEPS = 12
_STARTS = (-0.7, 0.0, 0.7)
_TINY = float(np.finfo(float).tiny)
# Weak priors: of normal scores on logits, and of the items' spread; both are about 1 in worlds.
_SLOPE_SD = 2.0
_LOG_SPREAD_SD = 1.0


@dataclass(frozen=True)
class Relation:
    """What observed ratings say about the relation of popularity and liking.

    Attributes
    ----------
    estimate
        The relation if selection were the same for all items.
    sampling
        Its 95 % interval, from the number of ratings alone.
    interval
        What is compatible with data and bound: the ends over all ways in which items may differ in
        selection, with the sampling error of these ends.
    spread
        The bound on how much items differ in selection, from 1.
    n_items
        Items with a rating.
    """

    estimate: float
    sampling: tuple[float, float]
    interval: tuple[float, float]
    spread: float
    n_items: int


def fit_relation(
    ratings: Ratings, min_rating: float, *, spread: float = SPREAD, seed: int = 1
) -> Relation:
    """Tell how popularity may relate to liking, given ratings and a bound on selection.

    Parameters
    ----------
    ratings
        Observed ratings, liked and not.
    min_rating
        The smallest rating that says liking.
    spread
        By which factor items differ at most in how many times as likely those who like them rate
        them as those who do not; from 1, which says that selection is the same for all items.
    seed
        Names the draws behind the intervals.

    Returns
    -------
    Relation

    Raises
    ------
    ConfigError
        If the spread is below 1 or infinite.
    DataError
        If all ratings say liking, or none does; if there are fewer than 500 ratings, or fewer than
        30 items that have one.

    See Also
    --------
    recbias.data.simulation.PreferenceOptions : worlds whose relation is set.

    Examples
    --------
    >>> from recbias.data.datasets import load_dataset
    >>> world = load_dataset("world(relation=-0.5,users=300,items=400)").ratings
    >>> relation = fit_relation(world, 4)
    >>> relation.interval[0] < -0.5 < relation.interval[1]
    True
    """
    if not (np.isfinite(spread) and spread >= 1):
        raise ConfigError(f"spread {spread:g}: expected a number from 1, e.g. {SPREAD:g}")
    is_liked = relevant(ratings.value, min_rating)
    if is_liked.all() or not is_liked.any():
        which = "all" if is_liked.any() else "none"
        raise DataError(
            f"{ratings.name}: {which} of the ratings are {exact(min_rating)} or more, so that "
            "nothing says what is liked and what is not\ngive another smallest rating that says "
            "liking, or ratings with dislikes among them"
        )
    counts = ratings.item_counts()
    n_items = int((counts > 0).sum())
    if len(ratings) < _LEAST_RATINGS or n_items < _LEAST_ITEMS:
        raise DataError(
            f"{ratings.name}: {len(ratings):,} ratings of {n_items:,} items are too few to relate "
            f"popularity to liking\nexpected at least {_LEAST_RATINGS} ratings of {_LEAST_ITEMS} "
            "items"
        )
    likes = np.bincount(ratings.item[is_liked], minlength=ratings.n_items)
    reliability = _reliability(ratings)
    scores = _normal_scores(counts)
    rated = counts > 0
    fitted, covariance = _fit(scores[rated], counts[rated], likes[rated])
    drawn = stream(seed, "relation").multivariate_normal(fitted, covariance, size=_N_DRAWS)
    alike = [_relation_of(*_latent(draw, reliability)) for draw in drawn]
    ends = np.array([_ends(draw, spread, reliability) for draw in drawn])
    return Relation(
        estimate=_relation_of(*_latent(fitted, reliability)),
        sampling=(float(np.quantile(alike, 0.025)), float(np.quantile(alike, 0.975))),
        interval=(float(np.quantile(ends[:, 0], 0.025)), float(np.quantile(ends[:, 1], 0.975))),
        spread=float(spread),
        n_items=n_items,
    )


def extreme_correlations(
    scores: FloatArray, logits: FloatArray, widest: float
) -> tuple[FloatArray, FloatArray]:
    r"""Shift values down by up to `widest` each, so that a correlation is extreme.

    Parameters
    ----------
    scores : float64 array (n,)
        What is correlated with; not shifted.
    logits : float64 array (n,)
        What is shifted.
    widest
        The largest shift, from 0.

    Returns
    -------
    lowest, highest : float64 array (n,)
        The shifted values for which Pearson's correlation is smallest, and largest, as far as
        steps from three starts find: every shift is 0 or `widest`. Of nine values some ends are
        missed by up to .03; of hundreds, what single values do is smaller than that.

    Examples
    --------
    >>> low, high = extreme_correlations(np.array([-1.0, 0, 1]), np.array([0.0, 0, 0.5]), 1.0)
    >>> low.tolist(), high.tolist()
    ([0.0, 0.0, -0.5], [-1.0, 0.0, 0.5])
    """
    z = (scores - scores.mean()) / scores.std()
    x = (logits - logits.mean()) / max(logits.std(), _TINY)
    extremes = []
    for sign in (1, -1):
        tried = [logits]
        for start in _STARTS:
            shift = widest * (sign * (z - start * x) > 0)
            for _ in range(_N_STEPS):
                tried.append(logits - shift)
                around = (tried[-1] - tried[-1].mean()) / max(tried[-1].std(), _TINY)
                renewed = widest * (sign * (z - (z * around).mean() * around) > 0)
                if (renewed == shift).all():
                    break
                shift = renewed
        extremes.append(min(tried, key=lambda shifted: sign * _correlation(z, shifted)))
    return extremes[0], extremes[1]


def _correlation(standard: FloatArray, values: FloatArray) -> float:
    """Correlate with values that have mean 0 and standard deviation 1; 0 if all are alike."""
    return float((standard * (values - values.mean())).mean() / max(values.std(), _TINY))


def _latent(fitted: FloatArray, reliability: float) -> tuple[float, float]:
    """Correct a fitted slope and spread for the noise of the counts, which weakens the slope."""
    _, slope, log_spread = fitted
    variance = slope**2 + np.exp(2 * log_spread)
    # What noise took from the slope was put into the spread.
    slope = float(np.clip(slope / np.sqrt(reliability), -np.sqrt(variance), np.sqrt(variance)))
    return slope, float(np.sqrt(max(variance - slope**2, 0.0)))


def _relation_of(slope: float, spread: float) -> float:
    """Spearman's correlation of two normal variables."""
    return float(6 / np.pi * np.arcsin(slope / np.hypot(slope, spread) / 2))


def _ends(fitted: FloatArray, factor: float, reliability: float) -> tuple[float, float]:
    """Tell the smallest and largest relation of items as they were fitted."""
    slope, spread = _latent(fitted, reliability)
    if factor == 1:
        return _relation_of(slope, spread), _relation_of(slope, spread)
    quantiles = scipy.special.ndtri((np.arange(_GRID) + 0.5) / _GRID)
    z, noise = np.repeat(quantiles, _GRID), np.tile(quantiles, _GRID)
    both = extreme_correlations(z, slope * z + spread * noise, float(np.log(factor)))
    ranks = scipy.stats.rankdata(z)
    low, high = (float(np.corrcoef(ranks, scipy.stats.rankdata(shifted))[0, 1]) for shifted in both)
    return low, high


def _normal_scores(counts: npt.NDArray[np.int64]) -> FloatArray:
    """Turn ranks into quantiles of the normal distribution; equal counts share a rank."""
    ranks = (scipy.stats.rankdata(counts) - 0.5) / len(counts)
    scores = scipy.special.ndtri(ranks)
    return np.asarray((scores - scores.mean()) / scores.std())


def _reliability(ratings: Ratings) -> float:
    """Tell how well the order of the items by counts would come out again: by odd and even users.

    Spearman and Brown's formula makes of the agreement of two halves that of the whole.
    """
    odd = ratings.user % 2 == 1
    halves = [
        np.bincount(ratings.item[rows], minlength=ratings.n_items) for rows in (odd, ~odd)
    ]  # fmt: skip
    varies = all(np.ptp(half) for half in halves)
    agreement = float(scipy.stats.spearmanr(*halves).statistic) if varies else 0.0
    if not agreement > 0:
        raise DataError(
            f"{ratings.name}: no item is more popular than another beyond chance, so that "
            "popularity relates to nothing"
        )
    return 2 * agreement / (1 + agreement)


def _fit(
    scores: FloatArray, counts: npt.NDArray[np.int64], likes: npt.NDArray[np.int64]
) -> tuple[FloatArray, FloatArray]:
    """Fit intercept, slope and log of the spread; return their mode and covariance."""
    mean = np.log((likes.sum() + 1) / (counts.sum() - likes.sum() + 1))

    def loss(parameters: FloatArray) -> float:
        return _negative_log_posterior(parameters, scores, counts, likes)

    mode = scipy.optimize.minimize(loss, np.array([mean, 0.0, 0.0]), method="BFGS").x
    # It stops where rounding hides the forward differences that it follows, at 1e-6 from the mode
    # in a direction that hangs on the processor. Steps of Newton by wider, central ones go on.
    curvature = _hessian(loss, mode)
    for _ in range(_POLISHING_STEPS):
        mode = mode - np.linalg.solve(curvature, _gradient(loss, mode))
    return mode, np.asarray(np.linalg.inv(_hessian(loss, mode)), dtype=np.float64)


def _gradient(
    function: Callable[[FloatArray], float], at: FloatArray, step: float = 1e-3
) -> FloatArray:
    """First differences of a function of a few parameters, whose error is the same everywhere."""
    steps = step * np.eye(len(at))
    return np.array([(function(at + one) - function(at - one)) / (2 * step) for one in steps])


def _hessian(
    function: Callable[[FloatArray], float], at: FloatArray, step: float = 1e-3
) -> FloatArray:
    """Second differences of a function of a few parameters."""
    n = len(at)
    steps = step * np.eye(n)
    curvature = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            values = [
                a * b * function(at + a * steps[i] + b * steps[j]) for a in (1, -1) for b in (1, -1)
            ]
            curvature[i, j] = sum(values) / (4 * step**2)
    return curvature


def _negative_log_posterior(
    parameters: FloatArray,
    scores: FloatArray,
    counts: npt.NDArray[np.int64],
    likes: npt.NDArray[np.int64],
) -> float:
    """Integrate the logit of each item out, by quadrature around its most likely value."""
    intercept, slope, log_spread = parameters
    log_spread = np.clip(log_spread, -6, 6)
    precision = np.exp(-2 * log_spread)
    centre = intercept + slope * scores
    mode = centre.copy()
    for _ in range(_NEWTON_STEPS):
        chance = scipy.special.expit(mode)
        gradient = likes - counts * chance - precision * (mode - centre)
        mode += np.clip(gradient / (counts * chance * (1 - chance) + precision), -2, 2)
    chance = scipy.special.expit(mode)
    width = 1 / np.sqrt(counts * chance * (1 - chance) + precision)
    at = mode[:, None] + width[:, None] * _NODES
    log_density = (
        likes[:, None] * at
        - counts[:, None] * np.logaddexp(0, at)
        - precision * (at - centre[:, None]) ** 2 / 2
        + _NODES**2 / 2
        + np.log(_WEIGHTS)
    )
    of_items = scipy.special.logsumexp(log_density, axis=1) + np.log(width) - log_spread
    prior = (slope / _SLOPE_SD) ** 2 / 2 + (log_spread / _LOG_SPREAD_SD) ** 2 / 2
    return float(prior - of_items.sum())
