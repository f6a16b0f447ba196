"""What Popularity keeps of its advantage where tests do not favour it: BCC17 Sections 6.2 and 6.3.

Rankings that are the same for everybody are measured exactly, nothing being sampled: under the
designs of Section 3, under each remedy, and in controls that tell what its rest is made of. Two
things differ between popular items and others in a uniform test: more of their ratings may be
positive, which is what the paper names; and more users have them in training, so that fewer target
sets hold them (E05). `+train` leaves a user's training items in the pool and so takes the second
away; calling every rating positive takes the first away.
"""

from __future__ import annotations

from typing import Any

from recbias.book.non_personalised import baselines
from recbias.data.ratings import exact
from recbias.protocol.testset import TestSet
from recbias.recommenders import System

POSITIVE = "positive "
"""What a label begins with whose protocol calls every rating positive."""

KEPT = ("kept", "kept_uniform")
"""Names of the results: on folds, and on a uniform split."""

_WIDE = 2
"""Percentiles of about as many items as a uniform test of MovieLens 1M has: half the catalogue."""

_ON_FOLDS = {
    "AR": "TI-AN-AR",
    "1R": "TI-AN-1R",
    "head": "TI-AN-1R",
    "P1R": "TI-AN-P1R m=10",
    "P1R-wide": f"TI-AN-P1R m={_WIDE}",
}
_UNIFORM = {
    "UAR": "TI-AN-AR",
    "UAR-control": "TI-AN-AR +train",
    "U1R": "TI-AN-1R",
    "U1R-control": "TI-AN-1R +train",
}
_ALSO_POSITIVE = ("AR", "1R", "P1R", *_UNIFORM)


def kept_systems(min_rating: float) -> list[System]:
    """Return the rankings that are measured: :func:`recbias.book.non_personalised.baselines`."""
    return baselines(min_rating)


def kept_grids(
    min_rating: float,
    *,
    cutoff: int,
    size: int,
    uniform: str = "uniform 0.2",
    lowest: float = 0.0,
) -> dict[str, dict[str, Any]]:
    """Say what is measured of the rankings: by name of the results, arguments of a grid.

    Examples
    --------
    >>> grids = kept_grids(5, cutoff=10, size=100)
    >>> grids["kept_uniform"]["protocols"]["positive U1R-control"]
    'TI-AN-1R +train rel>=0'
    >>> grids["kept"]["metrics"]["P1R-wide"], grids["kept"]["tests"]
    (('P@10|t=100', 'rho|t=100'), {'head': 'observed head=10%'})
    """
    narrow = {"U1R-narrow": "TI-AN-P1R m=10"}
    grids: dict[str, dict[str, Any]] = {}
    combined: dict[str, tuple[str, ...]] = {
        KEPT[0]: ("1R", "P1R", "P1R-wide", "positive AR", "positive 1R", "positive P1R"),
        KEPT[1]: ("U1R", "U1R-control", "U1R-narrow", *(POSITIVE + label for label in _UNIFORM)),
    }
    for name, rules in zip(KEPT, (_ON_FOLDS, _UNIFORM | narrow), strict=True):
        protocols = {label: f"{rule} rel>={exact(min_rating)}" for label, rule in rules.items()}
        if "U1R-narrow" in protocols:
            protocols["U1R-narrow"] += " users=runs"
        protocols |= {
            POSITIVE + label: f"{rule} rel>={exact(lowest)}"
            for label, rule in rules.items()
            if label in _ALSO_POSITIVE
        }
        conditions = {label: "" if "AR" in label else f"|t={size}" for label in protocols}
        metrics = {label: (f"P@{cutoff}{t}", f"rho{t}") for label, t in conditions.items()}
        tests = {"head": str(TestSet(head=10))} if "head" in protocols else {}
        grids[name] = {
            "protocols": protocols,
            "metrics": metrics,
            "tests": tests,
            "replicates": tuple(
                (label, text) for label in combined[name] for text in metrics[label]
            ),
        }
    grids["kept_uniform"]["split"] = uniform
    return grids
