"""What a uniform test takes from a data set: its items, its quota, and what follows for the claims.

BCC17 Sec. 6.2. What is checked is computed here apart from :mod:`recbias.protocol.splits`, from
counts in whole numbers, so that a wrong split does not confirm itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from html import escape
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from recbias._system.streams import stream
from recbias.book.chapters.overcoming_popularity_bias.setup import CHAPTER
from recbias.book.chapters.popularity_bias.concentration import short_title
from recbias.book.html import interval_text, markdown_table, plain, table_html
from recbias.claims.checks import Check
from recbias.claims.regions import defined
from recbias.data.datasets import Dataset
from recbias.data.datasets.describe import gini
from recbias.data.ratings import Ratings
from recbias.errors import DataError
from recbias.experiment.makers import Table, maker
from recbias.experiment.run import Results
from recbias.protocol.relevance import relevant
from recbias.protocol.splits import KEPT_SHARE, Split, largest_test_share, uniform_plan
from recbias.protocol.targets import candidate_items

Counts = npt.NDArray[np.int64]

SHARE = 0.2
"""Test share and share that is kept in the paper (sigma = eps = .2)."""

RUN = 100
"""Size of its 1R target sets."""

PRINTED = 118
"""Its quota of MovieLens 1M."""

_PLANNED = (0.05, 0.1, 0.15, 0.2, 0.25)
_N_DRAWS = 1999


def last_prefix(counts: Counts, test_share: float, kept_share: float) -> tuple[int, int]:
    """Find zeta and eta by comparing whole numbers, for all k at once.

    References
    ----------
    BCC17 Sec. 6.2.

    Examples
    --------
    >>> last_prefix(np.array([10, 8, 5, 4, 2, 1]), 0.42, 0.2)
    (4, 3)
    """
    fitting = np.flatnonzero(_satisfied(counts, test_share, kept_share))
    if not len(fitting):
        return 0, 0
    eps = Fraction(str(kept_share))
    least = int(np.sort(counts)[::-1][fitting[-1]])
    eta = (eps.denominator - eps.numerator) * least // eps.denominator
    return int(fitting[-1]) + 1, eta


def _satisfied(counts: Counts, test_share: float, kept_share: float) -> npt.NDArray[np.bool_]:
    """Tell for each k whether the first k items satisfy the inequality, and can spare a rating."""
    sigma, eps = Fraction(str(test_share)), Fraction(str(kept_share))
    spared = (eps.denominator - eps.numerator) * np.sort(counts)[::-1].astype(object)
    places = np.arange(1, len(counts) + 1).astype(object)
    wanted = sigma.numerator * int(counts.sum()) * eps.denominator
    satisfied = (spared * places * sigma.denominator >= wanted) & (spared >= eps.denominator)
    return satisfied.astype(bool)


def check_quotas(
    split: Split, again: Split, *, test_share: float, kept_share: float
) -> list[Check]:
    """Check a uniform split against its definition (BCC17-D-UAR)."""
    quotas = split.test.item_counts()
    counts = split.train.item_counts() + quotas
    tested = np.flatnonzero(quotas)
    eta = _quota(quotas)
    zeta, expected = last_prefix(counts, test_share, kept_share)
    eps = Fraction(str(kept_share))
    beyond_spared = eps.denominator * quotas[tested]
    beyond_spared -= (eps.denominator - eps.numerator) * counts[tested]
    by_count = np.sort(counts)[::-1]
    beyond = (1 - kept_share) * by_count * np.arange(1, len(counts) + 1) / counts.sum()
    outside = np.delete(counts, tested)
    # Items that are tested in place of more popular ones, the number of items, and the quota.
    off = int((counts[tested] < outside.max(initial=0)).sum())
    off += abs(len(tested) - zeta) + abs(eta - expected)
    uneven = float(((quotas != eta) & (quotas > 0)).sum())
    moved = float((quotas != again.test.item_counts()).sum())
    larger = float(beyond[len(tested) :].max(initial=0.0)) / test_share
    rows: tuple[tuple[str, str, int, float], ...] = (
        ("quota", "items with another number of test ratings than 0 and the quota", len(counts),
         uneven),
        ("spared", "test ratings beyond (1 - eps) |R(i)| of an item", len(tested),
         float(beyond_spared.max()) / eps.denominator),
        ("prefix", "items and ratings by which T and eta are others", len(counts), float(off)),
        ("larger", "share of the ratings that a larger T can test, over sigma",
         len(counts) - len(tested), larger),
        ("exact", "items with another number of test ratings in another draw", len(counts), moved),
    )  # fmt: skip
    return [Check("BCC17-D-UAR", *row) for row in rows]


def check_shares(split: Split, *, test_share: float, min_rating: float) -> list[Check]:
    """Measure what a uniform split comes to on data (BCC17-D-UAR, BCC17-EQ-UAR)."""
    quotas, liked = split.test.item_counts(), _liked(split.test, min_rating)
    trained, tested = split.train.item_counts(), np.flatnonzero(quotas)
    counts, n_tested = trained + quotas, len(tested)
    off = abs(_quota(quotas) - test_share * counts.sum() / n_tested)
    per_training = _tenths(liked, trained, counts, tested)
    all_liked = liked + _liked(split.train, min_rating)
    what, where = "relevant test ratings for each", "most over least popular tenth of T"
    return [
        Check("BCC17-D-UAR", "off-share", "|eta - sigma |R| / |T||", 1, off),
        Check("BCC17-D-UAR", "per-training", f"{what} in training, {where}", n_tested,
              per_training),
        Check("BCC17-EQ-UAR", "per-positive", f"{what} relevant rating, {where}", n_tested,
              _tenths(liked, all_liked, counts, tested)),
    ]  # fmt: skip


def _quota(quotas: Counts) -> int:
    """Give the number of test ratings that most tested items have."""
    return int(np.bincount(quotas[quotas > 0]).argmax())


def _liked(ratings: Ratings, min_rating: float) -> Counts:
    """Count the relevant ratings of each item."""
    rows = relevant(ratings.value, min_rating)
    return np.bincount(ratings.item[rows], minlength=ratings.n_items).astype(np.int64)


def _tenths(a: Counts, b: Counts, counts: Counts, tested: npt.NDArray[np.intp]) -> float:
    """Divide a by b in the most and in the least popular tenth of T, and the one by the other."""
    ordered = tested[np.argsort(-counts[tested], kind="stable")]
    n = max(1, len(ordered) // 10)
    (top_a, top_b), (low_a, low_b) = (
        (a[rows].sum(), b[rows].sum()) for rows in (ordered[:n], ordered[-n:])
    )
    below = top_b * low_a
    return float(top_a * low_b / below) if below else float("nan")


def check_published(counts: Counts) -> list[Check]:
    """Compute what BCC17 prints of MovieLens 1M, with sigma = eps = .2 (BCC17-V-ZETA)."""
    try:
        plan = uniform_plan(counts, SHARE, SHARE)
    except DataError:
        return []
    spared = (1 - SHARE) * plan.least_count
    rows: tuple[tuple[str, str, float], ...] = (
        ("items", "|T|", float(len(plan.items))),
        ("spared", "(1 - eps) |R(i)| of the last item of T", spared),
        ("too-many", f"{PRINTED} less that", PRINTED - spared),
        ("quota", "eta in whole ratings", float(plan.n_each)),
        (
            "disjoint",
            "tests of eta ratings that the last item fills",
            plan.least_count // plan.n_each,
        ),
    )
    return [Check("BCC17-V-ZETA", name, what, 1, float(value)) for name, what, value in rows]


def check_feasible(counts: Counts, *, test_share: float, kept_share: float) -> list[Check]:
    """Measure how far counts of items restrict a uniform test (BCC17-C-UARFEAS)."""
    plan = uniform_plan(counts, test_share, kept_share)
    customary = float(largest_test_share(counts, SHARE))
    pool = len(uniform_plan(counts, SHARE, SHARE).items) if customary >= SHARE else 0
    rated = int(np.count_nonzero(counts))
    rows: tuple[tuple[str, str, float], ...] = (
        ("covered", "|T| over the items with a rating", len(plan.items) / rated),
        ("attainable", "largest feasible sigma over 1 - eps",
         float(plan.largest_share) / (1 - kept_share)),
        ("gini", "Gini coefficient of the ratings per item", gini(counts[counts > 0])),
        ("customary", "largest feasible sigma with eps = .2", customary),
        ("pool", "|T| with sigma = eps = .2", float(pool)),
    )  # fmt: skip
    return [Check("BCC17-C-UARFEAS", name, what, rated, value) for name, what, value in rows]


def check_largest_share(counts: Counts, kept_share: float) -> list[Check]:
    """Check where a uniform test ends to be feasible (BCC17-C-UARFEAS)."""
    wrong = _wrong_at_the_end(counts, largest_test_share(counts, kept_share), kept_share)
    near_one = float(_satisfied(counts, 0.99, kept_share).sum())
    equal = float(largest_test_share(np.full(RUN, RUN), kept_share))
    rows: tuple[tuple[str, str, int, float], ...] = (
        ("beyond", "wrong answers at the largest feasible sigma and next to it", 4, float(wrong)),
        ("near-one", "prefixes that satisfy the inequality at sigma = .99", len(counts), near_one),
        ("equally-popular", "largest feasible sigma of equally popular items", 1, equal),
        ("equally-popular-spared", "the same over 1 - eps", 1, equal / (1 - kept_share)),
    )
    return [Check("BCC17-C-UARFEAS", *row) for row in rows]


def _wrong_at_the_end(counts: Counts, largest: Fraction, kept_share: float) -> int:
    """Count the wrong answers of the split, and of whole numbers, on both sides of a share."""
    steps = 10**6
    last = largest.numerator * steps // largest.denominator
    wrong = 0
    for step, feasible in ((last, True), (last + 1, False)):
        share = step / steps
        wrong += bool(_satisfied(counts, share, kept_share).any()) != feasible
        try:
            uniform_plan(counts, share, kept_share)
        except DataError:
            wrong += feasible
        else:
            wrong += not feasible
    return wrong


def check_drawn_positives(split: Split, *, min_rating: float, seed: int) -> list[Check]:
    """Check what the relevant test ratings of the items of T follow from (BCC17-EQ-UAR)."""
    quotas, test_liked = split.test.item_counts(), _liked(split.test, min_rating)
    tested = np.flatnonzero(quotas)
    liked = test_liked + _liked(split.train, min_rating)
    counts = split.train.item_counts() + quotas
    n_all, n_liked, n_drawn = counts[tested], liked[tested], quotas[tested]
    ratio = n_liked / n_all
    mean = n_drawn * ratio
    deviation = np.sqrt(mean * (1 - ratio) * (n_all - n_drawn) / np.maximum(n_all - 1, 1))
    varies = deviation > 0
    scores = (test_liked[tested][varies] - mean[varies]) / deviation[varies]
    rng = stream(seed, "checks", "drawn")
    draws = rng.hypergeometric(
        n_liked[varies], (n_all - n_liked)[varies], n_drawn[varies], (_N_DRAWS, varies.sum())
    )
    simulated = np.square((draws - mean[varies]) / deviation[varies]).sum(axis=1)
    p = (1 + int((simulated >= np.square(scores).sum()).sum())) / (1 + _N_DRAWS)
    rest = _residuals(n_all, ratio)
    spread = float(np.sqrt(np.square(rest * deviation).sum()))
    along = abs(float(rest @ (test_liked[tested] - mean))) / spread if spread else 0.0
    drawn, along_what = (
        "p of the relevant test ratings as draws of eta",
        ("|correlation of relevant test ratings and ratings, given their ratio|, in s.e."),
    )
    return [
        Check("BCC17-EQ-UAR", "drawn", drawn, int(varies.sum()), p),
        Check("BCC17-EQ-UAR", "given-ratio", along_what, len(tested), along),
    ]


def _residuals(
    values: npt.NDArray[Any], regressor: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Take out of values what a line in another quantity explains."""
    centred, other = values - values.mean(), regressor - regressor.mean()
    total = float(other @ other)
    slope = float(other @ centred) / total if total else 0.0
    return np.asarray(centred - slope * other, dtype=np.float64)


def check_candidates(split: Split, *, test_share: float, kept_share: float) -> list[Check]:
    """Check which items U1R samples, and that those tested have most ratings (BCC17-C-U1RTI)."""
    counts, inside, _ = _prefix(split, test_share, kept_share)
    differ = float(len(np.setxor1d(inside, candidate_items(split, "TI"))))
    tested = split.test.item_counts() > 0
    below = float((counts[tested] <= counts[~tested].max(initial=-1)).sum())
    return [
        Check("BCC17-C-U1RTI", "candidates", "items that are in T or candidates, and not both",
              len(counts), differ),
        Check("BCC17-C-U1RTI", "of-all-ratings", "items of T with no more ratings than one outside",
              int(tested.sum()), below),
    ]  # fmt: skip


def check_places(split: Split, *, test_share: float, kept_share: float) -> list[Check]:
    """Tell where Popularity, which counts training, places items outside T (BCC17-C-U1RTI)."""
    _, inside, outside = _prefix(split, test_share, kept_share)
    trained = split.train.item_counts()
    others = np.sort(trained[outside])
    below = float((trained[inside] <= others.max(initial=-1)).mean())
    at_or_above = len(others) - np.searchsorted(others, trained[inside], side="left")
    pairs = max(len(inside) * len(outside), 1)
    return [
        Check("BCC17-C-U1RTI", "at-or-below",
              "share of T with no more training ratings than an item outside", len(inside), below),
        Check("BCC17-C-U1RTI", "pairs",
              "share of the pairs of an item of T and one outside in which that is so", pairs,
              float(at_or_above.sum() / pairs)),
    ]  # fmt: skip


def _prefix(split: Split, test_share: float, kept_share: float) -> tuple[Counts, Counts, Counts]:
    """Count all ratings of items, and tell which are in T and which are not, by their counts."""
    counts = split.train.item_counts() + split.test.item_counts()
    zeta, _ = last_prefix(counts, test_share, kept_share)
    ordered = np.argsort(-counts, kind="stable")
    return counts, ordered[:zeta], ordered[zeta:]


# -- what data allow ---------------------------------------------------------------------------


@maker(CHAPTER, Table, parts=("splits",))
def uniform_plans(
    dataset: Dataset, *, test_share: float = SHARE, kept_share: float = KEPT_SHARE
) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Tell what uniform tests of several sizes take from a data set.

    Parameters
    ----------
    dataset
        A data set; its observed ratings count.
    test_share
        A share (sigma) that is in the table whatever else is.
    kept_share
        Least share of an item's ratings that stays in training (eps).

    Returns
    -------
    index : tuple of str
        ``share`` that is asked for (sigma) and ``what``: ``"items"`` of T, ``"share of items"``,
        ``"ratings each"``, ``"share tested"``, which the floor makes smaller, and ``"least count"``
        of an item's ratings. A share for which there is no T has no rows. Of 1, that is of all
        ratings, ``"feasible"`` is the largest share for which there is one.
    frame : DataFrame
        The ``value`` of each.

    Raises
    ------
    DataError
        If `test_share` is not feasible; names the largest share that is.
    """
    counts = dataset.ratings.item_counts()
    uniform_plan(counts, test_share, kept_share)
    largest = float(largest_test_share(counts, kept_share))
    rows: list[tuple[float, str, float]] = [(1.0, "feasible", largest)]
    for share in sorted({planned for planned in _PLANNED if planned <= largest} | {test_share}):
        plan = uniform_plan(counts, share, kept_share)
        numbers = {
            "items": len(plan.items),
            "share of items": len(plan.items) / np.count_nonzero(counts),
            "ratings each": plan.n_each,
            "share tested": len(plan.items) * plan.n_each / counts.sum(),
            "least count": plan.least_count,
        }
        rows += [(share, what, float(value)) for what, value in numbers.items()]
    return ("share", "what"), pd.DataFrame(rows, columns=["share", "what", "value"])


def tested_items(table: Table, test_share: float) -> int:
    """Tell how many items a uniform test of a share tests."""
    return int(table[{"share": test_share, "what": "items"}].value)


def items_sentence(table: Table, test_share: float, kept_share: float) -> str:
    """Say for a methods section of which items a uniform test is, and what they keep."""
    share, each = (
        table[{"share": test_share, "what": what}].value
        for what in ("share of items", "ratings each")
    )
    return (
        f"An item keeps a share of {kept_share:g} of its ratings for training at least (eps); the "
        f"test has {each:,.0f} ratings of each of {tested_items(table, test_share):,} items, "
        f"{share:.0%} of all, and says nothing of the others."
    )


def uniform_table(tables: Mapping[str, Table], share: float = SHARE) -> str:
    """Write what data sets allow side by side."""
    rows = []
    for title, table in tables.items():
        values = table.frame.set_index(["share", "what"])["value"]
        largest = f"{np.floor(values[1.0, 'feasible'] * 1e2) / 1e2:.2f}"
        if (share, "items") not in values.index:
            rows.append([plain(short_title(title)), largest, *["\N{EN DASH}"] * 2])
            continue
        at = values[share]
        rows.append(
            [
                plain(short_title(title)),
                largest,
                f"{defined(at['items'], ',.0f')} ({defined(at['share of items'], '.0%')})",
                defined(at["ratings each"], ",.0f"),
            ]
        )
    head = ("data", "largest σ", f"items of T at σ = {share:g}", "test ratings each")
    return markdown_table(head, rows)


def draws_table(uniform: Results, labels: Sequence[str] = ("U1R", "UAR")) -> str:
    """Write behind a click what systems score in uniform tests, and how far draws are apart."""
    precision = {label: str(uniform.metric(label, "P")) for label in labels}
    values = uniform.values.set_index(["system", "label", "metric"])["fold_sd"]
    rows = []
    for system in uniform.systems:
        row = [escape(system)]
        for label, metric in precision.items():
            score = uniform[system, label, metric]
            spread = float(values[system, label, metric])
            row += [defined(score.value, ".4f"), interval_text(score), defined(spread, ".5f")]
        rows.append(row)
    names = [f"{name.partition('|')[0]}, {label}" for label, name in precision.items()]
    head = ["system", *(part for name in names for part in (name, "interval", "s.d. of draws"))]
    return (
        "<details><summary>How much it hangs on the draw: means with 95 % intervals over users and "
        f"draws</summary>{table_html(head, rows)}</details>"
    )
