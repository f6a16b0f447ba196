"""What chapter 4 is called, and which protocols and metrics it shares.

The grids themselves stand in the chapter, where a reader sees them.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping

from recbias.data.ratings import exact
from recbias.protocol.splits import SplitRule
from recbias.protocol.testset import TestSet

CHAPTER = "04_overcoming_popularity_bias"
"""Name of the notebook, and of the folder of its results."""

GAMMAS = (0.0, 0.5, 1.0, 2.0, 10.0, math.inf)
"""The gammas of stratified recall, from no compensation of popularity to the strongest."""

FIGURE_8 = ("pLSA", "Popularity", "MF (rating prediction)", "kNN (rating prediction)", "Random")
"""The systems of BCC17 Fig. 8, MF and kNN read as rating predictors (E25)."""


_JUDGED = ("bpref", "infAP(pool=100)", "infAP(pool=all)")
"""Metrics for incomplete judgments. The pool of infAP is not defined in BCC17; every one that a
comparison by the first 100 places can have lies between these two."""


def protocols(min_rating: float, *, n_groups: int = 10) -> tuple[dict[str, str], dict[str, str]]:
    """Name the protocols on a random split, and the side of the test under each.

    Examples
    --------
    >>> rules, tests = protocols(5)
    >>> rules["P1R"], rules["control"], tests
    ('TI-AN-P1R m=10 rel>=5', 'TI-AN-1R +train rel>=5', {'head': 'observed head=10%'})
    """
    rules = {
        "AR": "TI-AN-AR",
        "AR-level": "TI-AN-AR",
        "AI": "AI-AN-AR",
        "1R": "TI-AN-1R",
        "head": "TI-AN-1R",
        "P1R": f"TI-AN-P1R m={n_groups}",
        "control": "TI-AN-1R +train",
    }
    by_label = _asked(rules, min_rating)
    by_label["P1R-micro"] = f"{by_label['P1R']} users=runs"
    return by_label, {"head": str(TestSet(head=10))}


def uniform_protocols(min_rating: float, *, n_groups: int = 10) -> dict[str, str]:
    """Name the protocols on a uniform split, where only the items T are tested: TI is C=T.

    Examples
    --------
    >>> uniform_protocols(5)["U1R-AI"]
    'AI-AN-1R rel>=5'
    """
    rules = {
        "UAR": "TI-AN-AR",
        "AI-UAR": "AI-AN-AR",
        "U1R": "TI-AN-1R",
        "U1R-AI": "AI-AN-1R",
        "U1R-control": "TI-AN-1R +train",
        "U1R-narrow": f"TI-AN-P1R m={n_groups}",
    }
    by_label = _asked(rules, min_rating)
    by_label["U1R-narrow"] += " users=runs"
    return by_label


def _asked(rules: Mapping[str, str], min_rating: float) -> dict[str, str]:
    return {label: f"{rule} rel>={exact(min_rating)}" for label, rule in rules.items()}


def one_draw(uniform: str) -> str:
    """Write a uniform rule for one draw of its test.

    Examples
    --------
    >>> one_draw("uniform 0.1 eps=0.25 draws=5")
    'uniform 0.1 eps=0.25'
    """
    return str(dataclasses.replace(SplitRule.parse(uniform), draws=None))


def levelled_sample(n_tested: int) -> int:
    """Choose the AR sample that gives Random about what it scores among as many tested items.

    The paper takes 1,700 for 1,703 items (Sec. 6.3) and does not say why: read here as the first
    two digits.

    Examples
    --------
    >>> levelled_sample(1703), levelled_sample(783), levelled_sample(7)
    (1700, 780, 7)
    """
    unit = 10 ** max(len(str(n_tested)) - 2, 0)
    return n_tested // unit * unit


def metrics(cutoff: int, size: int, n_level: int) -> dict[str, tuple[str, ...]]:
    """Name what is measured under each label of `protocols`.

    Examples
    --------
    >>> by_label = metrics(10, 100, 1700)
    >>> by_label["AR-level"], by_label["P1R"]
    (('P@10|N=1700', 'rho|N=1700'), ('P@10|t=100', 'nDCG@10|t=100', 'RR|t=100', 'rho|t=100'))
    """
    labels = protocols(0)[0]
    level = (f"P@{cutoff}|N={n_level}", f"rho|N={n_level}")
    return {label: level if label == "AR-level" else _of(label, cutoff, size) for label in labels}


def uniform_metrics(cutoff: int, size: int) -> dict[str, tuple[str, ...]]:
    """Name what is measured under each label of `uniform_protocols`, as `metrics` does.

    Examples
    --------
    >>> uniform_metrics(10, 100)["UAR"]
    ('P@10', 'nDCG@10', 'R@10', 'AP', 'RR', 'rho')
    """
    return {label: _of(label, cutoff, size) for label in uniform_protocols(0)}


def _of(label: str, cutoff: int, size: int) -> tuple[str, ...]:
    """Name the metrics of a label; under 1R recall is a multiple of precision, and AP is RR."""
    stratified = tuple(f"SR(gamma={gamma:g})@{cutoff}" for gamma in GAMMAS)
    if _of_runs(label):
        names: tuple[str, ...] = (f"P@{cutoff}", f"nDCG@{cutoff}", "RR", "rho")
        if label == "1R":  # where bpref is 1 whatever the system
            names += ("infAP(pool=100)", *stratified)
        return tuple(f"{name}|t={size}" for name in names)
    if label.startswith("AI"):
        whole: tuple[str, ...] = (f"P@{cutoff}", f"nDCG@{cutoff}", "rho")
        return (*whole, *_JUDGED, *stratified) if label == "AI" else whole
    whole = (f"P@{cutoff}", f"nDCG@{cutoff}", f"R@{cutoff}", "AP", "RR", "rho")
    return (*whole, f"ARP@{cutoff}", *_JUDGED, *stratified) if label == "AR" else whole


def _of_runs(label: str) -> bool:
    return "1R" in label or label in ("head", "control")


def setting_metrics(cutoff: int, size: int) -> dict[str, tuple[str, ...]]:
    """Name what is measured of the parameter grid, by label.

    Examples
    --------
    >>> setting_metrics(10, 100)["U1R"], setting_metrics(10, 100)["UAR"]
    (('P@10|t=100', 'rho|t=100'), ('P@10',))
    """
    judged = ("bpref", f"SR(gamma=1)@{cutoff}")
    of_runs = f"P@{cutoff}|t={size}", f"rho|t={size}"
    return {
        label: of_runs if _of_runs(label) else (f"P@{cutoff}", *judged * (label == "AR"))
        for label in ("AR", "AI", "1R", "P1R", "UAR", "U1R")
    }


def threshold_metrics(min_rating: float, cutoff: int, size: int) -> dict[str, tuple[str, ...]]:
    """Name what is measured of the systems of Figure 8 with another relevance threshold, by label.

    Examples
    --------
    >>> threshold_metrics(4, 10, 100)["AR"]
    ('P@10', 'nDCG@10', 'nDCG(linear)@10', 'rho')
    """
    linear = [f"nDCG(linear)@{cutoff}"] if min_rating >= 0 else []
    whole = (f"P@{cutoff}", f"nDCG@{cutoff}", *linear, "rho")
    return {
        label: (f"P@{cutoff}|t={size}", f"rho|t={size}") if _of_runs(label) else whole
        for label in ("AR", "1R", "head", "P1R", "UAR", "U1R")
    }
