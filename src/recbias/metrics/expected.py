"""What theory expects, as metrics: measured from the ranks beside what it bounds or predicts.

The closed forms are those of :mod:`recbias.theory`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from recbias.metrics.base import Argument, Declaration, Metric, positive_integer, register
from recbias.metrics.lists import RankView
from recbias.theory import (
    expected_gain,
    expected_hit,
    expected_precision,
    lemma_bound,
    relevant_share,
)

__all__ = [
    "OF_SAMPLES",
    "SAMPLE_SIZE",
    "measure_bound",
    "measure_expected_gain",
    "measure_expected_hit",
    "measure_expected_precision",
    "measure_rho",
    "measure_sampled_rho",
]

FloatArray = npt.NDArray[np.float64]


def measure_rho(view: RankView, metrics: Sequence[Metric]) -> FloatArray:
    """Measure ``rho`` by :func:`recbias.theory.relevant_share`, a row for each of `metrics`."""
    share = relevant_share(view.table, min_rating=view.min_rating)
    return np.tile(share, (len(metrics), 1))


def measure_sampled_rho(view: RankView, metrics: Sequence[Metric]) -> FloatArray:
    """Measure ``rho`` given ``|t=T`` or ``|N=N`` by :func:`recbias.theory.relevant_share`."""
    sampled = (one.t - 1 if "t" in dict(one.given) else one.N for one in metrics)
    rows = [relevant_share(view.table, min_rating=view.min_rating, n_sampled=n) for n in sampled]
    return np.array(rows)


def measure_expected_precision(view: RankView, metrics: Sequence[Metric]) -> FloatArray:
    """Measure ``P@n|N=N`` by :func:`recbias.theory.expected_precision`, a row for each."""
    rows = [
        expected_precision(view.table, one.cutoff, one.N, min_rating=view.min_rating)  # type: ignore[arg-type]
        for one in metrics
    ]
    return np.array(rows)


def measure_bound(view: RankView, metrics: Sequence[Metric]) -> FloatArray:
    """Measure ``lower`` and ``upper`` by :func:`recbias.theory.lemma_bound`, a row for each."""
    return np.array([lemma_bound(view.table, one.name, one.cutoff) for one in metrics])  # type: ignore[arg-type]


def measure_expected_hit(view: RankView, metrics: Sequence[Metric]) -> FloatArray:
    """Measure what is given ``|t=T`` by :func:`recbias.theory.expected_hit`, a row for each."""
    return np.array([expected_hit(view.table, one.name, one.cutoff, one.t) for one in metrics])  # type: ignore[arg-type]


def measure_expected_gain(view: RankView, metrics: Sequence[Metric]) -> FloatArray:
    """Measure ``RR|t=T`` and ``nDCG|t=T`` by :func:`recbias.theory.expected_gain`, a row each."""
    return np.array([expected_gain(view.table, one.name, one.cutoff, one.t) for one in metrics])  # type: ignore[arg-type]


_FULL_SETS = "computed from full ranks, for condensed lists too"
OF_SAMPLES = f"0 for an item that is not in the list; a pool below T-1 is taken whole; {_FULL_SETS}"
"""Edge cases of what is expected over samples of runs."""
SAMPLE_SIZE = (
    Argument(
        "t", positive_integer, "the size of the target set, an integer of at least 1", ("100",)
    ),
)
"""The condition ``|t=T``."""
_N_SAMPLED = (
    Argument(
        "N", positive_integer, "the number of sampled items, an integer of at least 1", ("1000",)
    ),
)

register(
    Declaration(
        "rho",
        "ranks",
        "share of relevant items in the target set: the expected P@n of a random ranking",
        r"|T_u\cap PR_{test}(u)|/|T_u|",
        "BCC17 Eqs. 4 and 5",
        f"0 for an empty target set; {_FULL_SETS}",
        measure_rho,
        cutoff="none",
        better=None,
    )
)
register(
    Declaration(
        "rho",
        "ranks",
        "rho of sets with T-1 sampled non-relevant items; tables of AN-1R only",
        r"1/\min(T,|T_u^r|)",
        "BCC17 Eqs. 4 and 5, Sec. 3.1",
        f"0 for an empty target set; a pool below T-1 is taken whole; {_FULL_SETS}",
        measure_sampled_rho,
        given=SAMPLE_SIZE,
        cutoff="none",
        per=("run",),
        better=None,
    )
)
register(
    Declaration(
        "rho",
        "ranks",
        "rho of sets with N sampled non-relevant items; tables of AN-AR only",
        r"|PR_{test}(u)|/(|PR_{test}(u)|+\min(N,|N_u|))",
        "BCC17 Eqs. 4 and 5, Sec. 3.1",
        f"0 for an empty target set; a pool below N is taken whole; {_FULL_SETS}",
        measure_sampled_rho,
        given=_N_SAMPLED,
        cutoff="none",
        per=("user",),
        better=None,
    )
)
for _bound, _depth in (("lower", "n"), ("upper", r"n+|PR_{test}(u)|-1")):
    register(
        Declaration(
            _bound,
            "ranks",
            f"{_bound} bound of 1RP@n in the lemma; tables of 1R-shared or AN-1R only",
            rf"[\tau(i_r,N_u\cup PR_{{test}}(u))\le {_depth}]/n",
            "BCC17 Eq. 2, Sec. 3.4",
            f"0 for an item that is not in the list; {_FULL_SETS}",
            measure_bound,
            per=("run",),
            better=None,
        )
    )
    register(
        Declaration(
            _bound,
            "ranks",
            f"the {_bound} bound, expected over all samples of T-1 items; tables of AN-1R only",
            rf"P(\tau(i_r,N_u\cup PR_{{test}}(u))\le {_depth})/n",
            "BCC17 Eq. 2, Sec. 3.1",
            OF_SAMPLES,
            measure_expected_hit,
            given=SAMPLE_SIZE,
            per=("run",),
            better=None,
        )
    )
register(
    Declaration(
        "P",
        "ranks",
        "1RP@n, expected over all samples of T-1 non-relevant items; tables of AN-1R only",
        r"P(\tau(i_r,T_u^r)\le n)/n",
        "BCC17 Eq. 1, Sec. 3.1",
        OF_SAMPLES,
        measure_expected_hit,
        given=SAMPLE_SIZE,
        per=("run",),
    )
)
register(
    Declaration(
        "P",
        "ranks",
        "P@n, expected over all samples of N non-relevant items; tables of AN-AR only",
        r"\frac1n\sum_i P(\tau(i,PR_{test}(u)\cup N_u)\le n)",
        "BCC17 Sec. 3.1",
        f"0 for an item that is not in the list; a pool below N is taken whole; {_FULL_SETS}",
        measure_expected_precision,
        given=_N_SAMPLED,
        per=("user",),
    )
)
for _name, _of_rank in (("RR", r"1/\tau(i_r,T_u^r)"), ("nDCG", r"1/\log_2(\tau(i_r,T_u^r)+1)")):
    register(
        Declaration(
            _name,
            "ranks",
            f"{_name} of 1R runs, expected over all samples of T-1 non-relevant items; tables of "
            "AN-1R only",
            rf"E[{_of_rank}\,[\tau(i_r,T_u^r)\le n]]",
            "BCC17 Sec. 3.1",
            OF_SAMPLES,
            measure_expected_gain,
            cutoff="optional",
            given=SAMPLE_SIZE,
            per=("run",),
        )
    )
