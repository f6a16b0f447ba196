"""Observed orders of systems beside the true ones: which agree, which metric is right, and why not.

True values are judged by ratings of items drawn at random, or by a sample of the truth of a world.
What is published of them was measured with other programs; where our tau misses it, each system in
turn is left out, which shows whose values the difference hangs on.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import NamedTuple

import numpy as np
import pandas as pd

from recbias.book.chapters.true_vs_false_positive_disagreement.setup import CHAPTER
from recbias.book.html import table_html
from recbias.claims.checks import Check
from recbias.claims.expressions import Term
from recbias.claims.judging import load_chapter
from recbias.claims.ledger import claims
from recbias.claims.quantities import order_tau
from recbias.experiment.results import Quantity
from recbias.experiment.run import Results
from recbias.protocol.testset import TestSet
from recbias.stats.agreement import kendall_tau

FAR = 0.15
"""By how much a tau may miss a published one before the systems responsible are asked for."""


MOST_DRAWN = 50
"""Items of each user that are rated at random in a world, at most."""


class _Published(NamedTuple):
    """A published tau: data sets that it is about, two terms, claim and name of its value."""

    words: str
    datasets: tuple[str, ...]
    x: str
    y: str
    claim: str
    value: str


_ML_1M = ("ml-1m", "ml-1m-folds")
_CM100K = ("cm100k",)
_PUBLISHED = (
    _Published("observed P and antiP", _ML_1M, "P[full]", "antiP[full]", "MCCRS20-F1-BL", "tau"),
    _Published(
        "observed R and fallout", _ML_1M, "R[full]", "fallout[full]", "MCCRS20-F1-BR", "tau"
    ),
    _Published(
        "condensed R and fallout", _ML_1M, "R[condensed]", "fallout[condensed]", "MCCRS20-F1-TR",
        "tau",
    ),
    _Published(
        "observed P and antiP", _CM100K, "P[full]", "antiP[full]", "MCCRS20-F5A-CM", "tau P-antiP"
    ),
    _Published(
        "true P and antiP", _CM100K, "P[true]", "antiP[true]", "MCCRS20-F5B-CM", "tau P-antiP"
    ),
    _Published("observed and true P", _CM100K, "P[full]", "P[true]", "MCCRS20-F6-P", "CM100k tau"),
    _Published(
        "observed and true antiP", _CM100K, "antiP[full]", "antiP[true]", "MCCRS20-F6-antiP",
        "CM100k tau",
    ),
    _Published(
        "observed R and fallout", _CM100K, "R[full]", "fallout[full]", "MCCRS20-F5A-CM",
        "tau recall-fallout",
    ),
    _Published(
        "true R and fallout", _CM100K, "R[true]", "fallout[true]", "MCCRS20-F5B-CM",
        "tau recall-fallout",
    ),
    _Published("observed and true R", _CM100K, "R[full]", "R[true]", "MCCRS20-F6-RF", "recall"),
    _Published(
        "observed and true fallout", _CM100K, "fallout[full]", "fallout[true]", "MCCRS20-F6-RF",
        "fallout",
    ),
)  # fmt: skip


def drawn_side(truth: str) -> str:
    """Say which side of the test is drawn at random, of pairs that are judged in training as well.

    Examples
    --------
    >>> drawn_side("unbiased"), drawn_side("truth sample=168")
    ('unbiased train=same', 'truth sample=50 train=same')
    """
    judged = TestSet.parse(truth)
    if judged.sample is not None:
        judged = dataclasses.replace(judged, sample=min(judged.sample, MOST_DRAWN))
    return str(dataclasses.replace(judged, train="same"))


# -- what is published ----------------------------------------------------------------------------


def _pair(results: Results, published: _Published) -> tuple[list[Quantity], list[Quantity]]:
    quantities = []
    for text in (published.x, published.y):
        term = Term.parse(text)
        metric = next(
            name
            for name in results.grid.by_label[term.label]
            if name.startswith(f"{term.metric}@") and "|" not in name
        )
        quantities.append([results[system, term.label, metric] for system in results.systems])
    return quantities[0], quantities[1]


def _asked(results: Results) -> dict[_Published, float]:
    """Give what is published about the data of some results, and measured in them."""
    values = {claim.id: claim.values for claim in claims()}
    return {
        entry: float(values[entry.claim][entry.value])
        for entry in _PUBLISHED
        if results.dataset["name"] in entry.datasets
        and {Term.parse(text).label for text in (entry.x, entry.y)} <= set(results.grid.parsed)
    }


def taus_beside(results: Results) -> pd.DataFrame:
    """Set the taus that are published of a data set beside ours."""
    rows = []
    for entry, published in _asked(results).items():
        tau = order_tau(*_pair(results, entry))
        rows.append((entry.words, published, tau.value, *tau.interval, tau.value - published))
    return pd.DataFrame(rows, columns=["tau", "published", "value", "low", "high", "off"])


def left_out(results: Results, tau: str) -> pd.DataFrame:
    """Compute a published tau without each of the systems."""
    ((entry, published),) = ((e, p) for e, p in _asked(results).items() if e.words == tau)
    values = np.array([[one.value for one in side] for side in _pair(results, entry)])
    rows = []
    for place, system in enumerate(results.systems):
        left = float(kendall_tau(*np.delete(values, place, axis=1)))
        rows.append((system, left, left - published))
    table = pd.DataFrame(rows, columns=["without", "left", "off"])
    return table.sort_values("off", key=abs, kind="stable", ignore_index=True)


def left_out_sentence(results: Results) -> str:
    """Say which taus miss the published ones, and on which systems that hangs."""
    beside = taus_beside(results)
    if beside.empty:
        return "No tau is published of these data."
    far = beside[beside["off"].abs() > FAR]
    words = [f"{len(beside) - len(far)} of {len(beside)} published taus are met within {FAR}"]
    for row in far.to_dict("records"):
        taus = left_out(results, row["tau"])
        guilty = taus.loc[taus["off"].abs() <= FAR, "without"].tolist()
        why = f"met without {' or without '.join(guilty)}"
        if not guilty:
            why = f"no system alone is responsible; {taus['without'][0]} moves it nearest"
        values = _signed(f"{row['value']:.2f} instead of {row['published']:.2f}")
        words.append(f"that of {row['tau']} is {values}, and {why}")
    return "; ".join(words) + "."


def left_out_table(results: Results) -> str:
    """Set published taus beside ours, and behind a click those without one system."""
    lines = []
    for row in taus_beside(results).to_dict("records"):
        published, value, low, high = (
            _signed(f"{row[name]:.2f}") for name in ("published", "value", "low", "high")
        )
        taus = left_out(results, row["tau"])
        moved = _without(taus, row["off"])
        lines.append((row["tau"], published, value, f"{low} to {high}", moved))
    head = ("tau of", "published", "ours", "95 % interval", "ours without one system")
    told = f"<p>{left_out_sentence(results)}</p>"
    if not lines:
        return told
    return f"{told}<details><summary>Each tau</summary>{table_html(head, lines)}</details>"


def _signed(number: str) -> str:
    return number.replace("-", "\N{MINUS SIGN}")


def _without(taus: pd.DataFrame, off: float) -> str:
    """Write the taus without one system: both ends, or all of them where the whole is far `off`."""
    ends = taus.loc[[taus["left"].idxmin(), taus["left"].idxmax()]]
    cells = []
    for row in (taus if abs(off) > FAR else ends).to_dict("records"):
        text = f"{_signed(format(row['left'], '.2f'))} without {row['without']}"
        cells.append(f"<b>{text}</b>" if abs(off) > FAR >= abs(row["off"]) else text)
    return ", ".join(cells)


# -- which of two is right ------------------------------------------------------------------------


class PairOfItems(NamedTuple):
    """Two systems that show one item each to everybody, as exact values of a world have them.

    Of each item, ``seen`` is the share of the users with a test rating of it, and ``liked`` that of
    the users who like it; of the ratings the same share says so.
    """

    seen: tuple[Fraction, Fraction]
    liked: tuple[Fraction, Fraction]

    @property
    def true(self) -> dict[str, tuple[Fraction, Fraction]]:
        """P@1 and antiP@1 by what users like."""
        a, b = self.liked
        return {"P": (a, b), "antiP": (1 - a, 1 - b)}

    @property
    def observed(self) -> dict[str, tuple[Fraction, Fraction]]:
        """P@1 and antiP@1 by what they rated."""
        first, second = (
            (seen * liked, seen * (1 - liked))
            for seen, liked in zip(self.seen, self.liked, strict=True)
        )
        return {"P": (first[0], second[0]), "antiP": (first[1], second[1])}


def check_which(pairs: Sequence[PairOfItems] | None = None) -> list[Check]:
    """Try in exact worlds what Sec. 4.3.3 infers about two metrics of which one is right.

    References
    ----------
    MCCRS20, Sec. 4.3.3.
    """
    if pairs is None:
        fifths = [Fraction(number, 5) for number in range(1, 5)]
        pairs = [PairOfItems((a, b), (c, d)) for a, b, c, d in product(fifths, repeat=4) if c != d]
    unlike, odd, right = 0, 0, {"P": 0, "antiP": 0}
    for pair in pairs:
        observed, true = pair.observed, pair.true
        signs = {name: (_sign(observed[name]), _sign(true[name])) for name in right}
        as_orders = {name: seen == real != 0 for name, (seen, real) in signs.items()}
        as_taus = {
            name: bool(kendall_tau(_floats(observed[name]), _floats(true[name])) == 1)
            for name in right
        }
        unlike += as_orders != as_taus
        contradict = signs["P"][0] * signs["antiP"][0] == 1
        agree = signs["P"][1] * signs["antiP"][1] == -1
        if contradict and agree:
            # By taus: from the signs that are compared above it follows that one is right.
            odd += sum(as_taus.values()) != 1
            for name, is_right in as_orders.items():
                right[name] += is_right
    return [
        Check("MCCRS20-C-WHICH", name, f"pairs in which {what}", len(pairs), worst)
        for name, what, worst in (
            ("right-is-the-true-order", "the two differ", unlike),
            ("one-is-right", "both are right, or none", odd),
            ("either-is-possible", "P, or antiP, is right", min(right.values())),
        )
    ]


def _floats(values: tuple[Fraction, Fraction]) -> list[float]:
    return [float(value) for value in values]


def _sign(values: tuple[Fraction, Fraction]) -> int:
    first, second = values
    return (first > second) - (first < second)


# -- which results are shown -----------------------------------------------------------------------

_KNOWN = "cm100k"


def with_truth(own: Results) -> Results:
    """Choose results that have true values: those of a page, else the recorded ones of CM100k."""
    return own if "true" in own.grid.parsed else _of_cm100k(own)


def first_shown(own: Results) -> Results:
    """Choose what the first screen shows, which speaks of CM100k: that, else what there is."""
    return own if own.dataset["name"] == _KNOWN else _of_cm100k(own)


def _of_cm100k(results: Results) -> Results:
    recorded = load_chapter(CHAPTER, _KNOWN, "systems").get("systems")
    return recorded if isinstance(recorded, Results) else results
