r"""How recommendations differ from the popularity that items had before: CI and LTI of ATM15.

Both compare how often items are recommended, :math:`r(i)`, with how popular they were in
training, the prior :math:`s(i)`: relevant training ratings. Dispersion metrics
(:mod:`recbias.metrics.concentration`) look at :math:`r` alone. In symbols :math:`S=\sum s`,
:math:`Rt=\sum r`, which is :math:`N|U|` only where all lists are full,
:math:`\tilde s=(s+1)/(S+|I|)` and :math:`\tilde r=(r+1)/(Rt+|I|)`.

The prior stays what it is when users are resampled: the lists of a system are in question, not the
ratings that it was trained on.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy.special import rel_entr

from recbias.errors import ConfigError
from recbias.metrics.arguments import named_alone, open_share
from recbias.metrics.base import Argument, Declaration, Metric, register
from recbias.metrics.concentration import Terms, sum_terms, terms_without_each
from recbias.metrics.lists import ListView

__all__ = [
    "concentration_index",
    "concentration_index_long",
    "jensen_shannon",
    "long_tail_index",
    "long_tail_index_long",
    "popularity_percentiles",
    "prior_of",
    "prior_terms",
]

FloatArray = npt.NDArray[np.float64]


def concentration_index(prior: npt.ArrayLike, counts: FloatArray) -> FloatArray:
    r"""CI of each row of counts: how far recommendations are from prior popularity.

    :math:`\frac12\sum_i (s_i/S - r_i/Rt)\ln\frac{s_i+1}{r_i+1}`, which is what the long form of the
    poster comes to: its denominators cancel.

    Parameters
    ----------
    prior : array_like of float, shape (n_items,)
        Relevant training ratings of each item.
    counts : ndarray of float64, shape (n_rows, n_items)
        In how many lists each item is.

    Returns
    -------
    ndarray of float64, shape (n_rows,)
        0 where counts are proportional to the prior; not bounded, and a little below 0 is possible,
        since only the logarithms are smoothed. NaN where the prior, or a row, is all 0.

    See Also
    --------
    concentration_index_long : as it is printed.
    jensen_shannon : the bounded form of footnote 1.

    References
    ----------
    ATM15 Sec. 3: P. Adamopoulos, A. Tuzhilin & P. Mountanos, "Measuring the concentration
    reinforcement bias of recommender systems", RecSys posters (2015).

    Examples
    --------
    >>> prior = [6, 3, 1, 0]
    >>> print(concentration_index(prior, np.array([[4.0, 3, 2, 1], [60, 30, 10, 0]])).round(8))
    [0.08857784 0.        ]
    """
    return sum_terms(_ci_terms(np.asarray(prior, dtype=np.float64)), counts)


def _ci_terms(prior: FloatArray) -> Terms:
    shares = _shares(prior)

    def terms(counts: FloatArray, total: FloatArray) -> FloatArray:
        return (shares - counts / total) * np.log((prior + 1) / (counts + 1)) / 2

    return terms


def concentration_index_long(prior: npt.ArrayLike, counts: FloatArray) -> FloatArray:
    r"""CI as the poster prints it: two halves, with smoothed shares in their logarithms.

    :math:`\sum_i \frac12\frac{s_i}{S}\ln\frac{\tilde s_i}{\tilde r_i}
    + \frac12\frac{r_i}{Rt}\ln\frac{\tilde r_i}{\tilde s_i}`

    Parameters
    ----------
    prior, counts
        As of :func:`concentration_index`.

    Returns
    -------
    ndarray of float64, shape (n_rows,)
        What the short form gives, but for rounding.

    References
    ----------
    ATM15 Sec. 3; :math:`\sum_j s(j)+1` is read :math:`\sum_j (s(j)+1)`.

    Examples
    --------
    >>> print(concentration_index_long([6, 3, 1, 0], np.array([[4.0, 3, 2, 1]])).round(8))
    [0.08857784]
    """
    prior = np.asarray(prior, dtype=np.float64)
    shares = _shares(prior)

    def terms(counts: FloatArray, total: FloatArray) -> FloatArray:
        smooth_s = (prior + 1) / (prior.sum() + len(prior))
        smooth_r = (counts + 1) / (total + len(prior))
        return 0.5 * shares * np.log(smooth_s / smooth_r) + 0.5 * counts / total * np.log(
            smooth_r / smooth_s
        )

    return sum_terms(terms, counts)


def jensen_shannon(prior: npt.ArrayLike, counts: FloatArray) -> FloatArray:
    r"""CI in the form of footnote 1: the Jensen-Shannon divergence of the two shares.

    :math:`\frac12 KL(p\,\|\,m)+\frac12 KL(q\,\|\,m)` with :math:`p=s/S`, :math:`q=r/Rt`,
    :math:`m=(p+q)/2` and :math:`0\ln 0=0`.

    Parameters
    ----------
    prior, counts
        As of :func:`concentration_index`.

    Returns
    -------
    ndarray of float64, shape (n_rows,)
        From 0, counts proportional to the prior, to ln 2, no item in common. NaN where the prior,
        or a row, is all 0.

    References
    ----------
    ATM15 Sec. 3, footnote 1; J. Lin, "Divergence measures based on the Shannon entropy", IEEE
    Trans. Inf. Theory 37 (1991).

    Examples
    --------
    >>> print(jensen_shannon([6, 3, 1, 0], np.array([[4.0, 3, 2, 1], [0, 0, 0, 9]])).round(8))
    [0.05322007 0.69314718]
    """
    return sum_terms(_js_terms(np.asarray(prior, dtype=np.float64)), counts)


def _js_terms(prior: FloatArray) -> Terms:
    shares = _shares(prior)

    def terms(counts: FloatArray, total: FloatArray) -> FloatArray:
        list_shares = counts / total
        middle = (shares + list_shares) / 2
        return np.asarray(rel_entr(shares, middle) + rel_entr(list_shares, middle), np.float64) / 2

    return terms


def long_tail_index(
    prior: npt.ArrayLike, counts: FloatArray, lam: float, *, percentile: bool = False
) -> FloatArray:
    r"""LTI of each row of counts: whether the long tail gains by being recommended.

    :math:`\frac1{|I|}\sum_i (\lambda - s_i/S)\ln\frac{\tilde r_i}{\tilde s_i}`: the algebra of the
    poster's formula. An item counts as long tail if its *share* of all prior popularity is below
    :math:`\lambda`. The poster describes :math:`\lambda` as a percentile of popularity, which that
    is not: no item of a usual catalogue has a tenth of all ratings, so that every item is long tail
    and :math:`\lambda` hardly more than a factor. The corrected form has the item's percentile
    :math:`F_i` (:func:`popularity_percentiles`) wherever the printed one has its share.

    Parameters
    ----------
    prior, counts
        As of :func:`concentration_index`.
    lam
        :math:`\lambda`, between 0 and 1.
    percentile
        Whether the corrected form is meant.

    Returns
    -------
    ndarray of float64, shape (n_rows,)
        As printed not 0 where counts are proportional to the prior but add up to another total:
        compare systems with equally many recommendations only. The corrected form of
        :math:`\lambda` = .5 has weights that add up to 0, so that the totals cancel. NaN where the
        prior, or a row, is all 0.

    See Also
    --------
    long_tail_index_long : as it is printed.

    References
    ----------
    ATM15 Sec. 3; :math:`\sum_j s(j)+1` is read :math:`\sum_j (s(j)+1)`.

    Examples
    --------
    >>> prior, counts = [6, 3, 1, 0], np.array([[4.0, 3, 2, 1], [60, 30, 10, 0]])
    >>> print(long_tail_index(prior, counts, 0.5).round(8))
    [ 0.13560171 -0.28259803]

    By percentiles the weights of the four items are -3/8, -1/8, 1/8 and 3/8:

    >>> print(long_tail_index(prior, counts, 0.5, percentile=True).round(8))
    [ 0.1091976  -0.21368237]
    """
    return sum_terms(_lti_terms(np.asarray(prior, dtype=np.float64), lam, percentile), counts)


def _lti_terms(prior: FloatArray, lam: float, percentile: bool) -> Terms:
    shares = _shares(prior)
    # With a prior of zeros both are undefined.
    places = popularity_percentiles(prior) + 0 * shares if percentile else shares
    weights = (lam - places) / len(prior)
    smooth_s = (prior + 1) / (prior.sum() + len(prior))

    def terms(counts: FloatArray, total: FloatArray) -> FloatArray:
        return weights * np.log((counts + 1) / (total + len(prior)) / smooth_s)

    return terms


def long_tail_index_long(
    prior: npt.ArrayLike, counts: FloatArray, lam: float, *, percentile: bool = False
) -> FloatArray:
    r"""LTI as the poster prints it: what the tail gains, and what popular items gain, apart.

    :math:`\frac1{|I|}\sum_i \lambda(1-\frac{s_i}{S})\ln\frac{\tilde r_i}{\tilde s_i}
    + (1-\lambda)\frac{s_i}{S}\ln\frac{\tilde s_i}{\tilde r_i}`

    Parameters
    ----------
    prior, counts, lam, percentile
        As of :func:`long_tail_index`.

    Returns
    -------
    ndarray of float64, shape (n_rows,)
        What the short form gives, but for rounding.

    References
    ----------
    ATM15 Sec. 3.

    Examples
    --------
    >>> print(long_tail_index_long([6, 3, 1, 0], np.array([[4.0, 3, 2, 1]]), 0.2).round(8))
    [0.07844121]
    """
    prior = np.asarray(prior, dtype=np.float64)
    shares = _shares(prior)
    places = popularity_percentiles(prior) + 0 * shares if percentile else shares

    def terms(counts: FloatArray, total: FloatArray) -> FloatArray:
        smooth_s = (prior + 1) / (prior.sum() + len(prior))
        smooth_r = (counts + 1) / (total + len(prior))
        gained = lam * (1 - places) * np.log(smooth_r / smooth_s)
        return (gained + (1 - lam) * places * np.log(smooth_s / smooth_r)) / len(prior)

    return sum_terms(terms, counts)


def popularity_percentiles(prior: npt.ArrayLike) -> FloatArray:
    """Say for each item what share of the catalogue is less popular; of its equals half.

    Parameters
    ----------
    prior : array_like of float, shape (n_items,)
        How popular each item was.

    Returns
    -------
    ndarray of float64, shape (n_items,)
        Between 0 and 1, on average 1/2.

    Examples
    --------
    >>> print(popularity_percentiles([6, 3, 1, 0, 0]))
    [0.9 0.7 0.5 0.2 0.2]
    """
    prior = np.asarray(prior, dtype=np.float64)
    from scipy.stats import rankdata  # not above: it takes long, and most processes need it not

    return np.asarray((rankdata(prior) - 0.5) / max(len(prior), 1), dtype=np.float64)


def _shares(prior: FloatArray) -> FloatArray:
    total = prior.sum()
    return prior / total if total > 0 else np.full(len(prior), np.nan)


def prior_of(view: ListView, metric: Metric) -> FloatArray:
    """Return the prior of lists, for a metric that needs one.

    Raises
    ------
    ConfigError
        If there is none.

    Examples
    --------
    >>> from recbias.metrics import parse_metric
    >>> prior_of(ListView(np.array([[0]]), 1, np.array([3])), parse_metric("CI@1"))
    Traceback (most recent call last):
    recbias.errors.ConfigError: metric CI@1: give the lists a prior, the relevant training ratings
    of each item
    """
    if view.prior is None:
        raise ConfigError(
            f"metric {metric}: give the lists a prior, the relevant training ratings of each item"
        )
    return view.prior.astype(np.float64)


def prior_terms(metric: Metric, view: ListView) -> Terms | None:
    """Give what each item adds to CI or LTI, in any form; None for another metric.

    Examples
    --------
    >>> from recbias.metrics import parse_metric
    >>> view = ListView(np.array([[0]]), 2, np.array([3, 1]), np.array([3, 1]))
    >>> terms = prior_terms(parse_metric("CI@1"), view)
    >>> terms(np.array([[1.0, 0.0]]), np.array([[1.0]])).round(4)
    array([[-0.0866,  0.0866]])
    """
    if metric.name not in ("CI", "LTI"):
        return None
    prior = prior_of(view, metric)
    if metric.name == "LTI":
        return _lti_terms(prior, metric.lam, bool(metric.given))
    return _js_terms(prior) if metric.given else _ci_terms(prior)


def measure_concentration_index(
    counts: FloatArray, view: ListView, metrics: Sequence[Metric]
) -> FloatArray:
    """Measure each row of counts by :func:`concentration_index` or :func:`jensen_shannon`."""
    return np.array([sum_terms(_known_terms(metric, view), counts) for metric in metrics])


def measure_long_tail_index(
    counts: FloatArray, view: ListView, metrics: Sequence[Metric]
) -> FloatArray:
    """Measure each row of counts by :func:`long_tail_index`, in either form."""
    return np.array([sum_terms(_known_terms(metric, view), counts) for metric in metrics])


def _without_each(view: ListView, metrics: Sequence[Metric]) -> FloatArray:
    return terms_without_each(view, metrics, lambda metric: _known_terms(metric, view))


def _known_terms(metric: Metric, view: ListView) -> Terms:
    terms = prior_terms(metric, view)
    assert terms is not None
    return terms


UNDEFINED = "undefined if all lists are empty, or no training rating is relevant"
_LAMBDA = (Argument("lam", open_share, "lambda, above 0 and below 1", ("0.2", "0.8")),)

_PERCENTILE = named_alone("percentile", "that lambda is a percentile of popularity")

register(
    Declaration(
        "CI",
        "system",
        "how far the shares of recommendations are from those of prior popularity",
        r"\frac12\sum_i(s_i/S-r_i/Rt)\ln\frac{s_i+1}{r_i+1}",
        "ATM15 Sec. 3",
        f"{UNDEFINED}; an item in no list and without prior adds 0",
        measure_concentration_index,
        better=None,
        interval="none",
        without_each=_without_each,
    )
)
register(
    Declaration(
        "CI",
        "system",
        "Jensen-Shannon divergence of the shares of recommendations and of prior popularity",
        r"\frac12KL(s/S\,\|\,m)+\frac12KL(r/Rt\,\|\,m),\ m=(s/S+r/Rt)/2",
        "ATM15 Sec. 3, footnote 1",
        f"{UNDEFINED}; an item in no list and without prior adds 0",
        measure_concentration_index,
        given=(named_alone("JS", "that the form is Jensen and Shannon's"),),
        better=None,
        interval="normal",
        without_each=_without_each,
    )
)
register(
    Declaration(
        "LTI",
        "system",
        "whether items gain whose share of prior popularity is below lambda, as printed",
        r"\frac1{|\mathcal I|}\sum_i(\lambda-s_i/S)\ln(\tilde r_i/\tilde s_i)",
        "ATM15 Sec. 3",
        f"{UNDEFINED}; an item in no list and without prior counts as any other",
        measure_long_tail_index,
        arguments=_LAMBDA,
        better=None,
        interval="normal",
        without_each=_without_each,
    )
)
register(
    Declaration(
        "LTI",
        "system",
        "whether items gain whose percentile of prior popularity is below lambda, as described",
        r"\frac1{|\mathcal I|}\sum_i(\lambda-F_i)\ln(\tilde r_i/\tilde s_i)",
        "ATM15 Sec. 3, corrected",
        f"{UNDEFINED}; an item in no list and without prior counts as any other",
        measure_long_tail_index,
        arguments=_LAMBDA,
        given=(_PERCENTILE,),
        better=None,
        interval="normal",
        without_each=_without_each,
    )
)
