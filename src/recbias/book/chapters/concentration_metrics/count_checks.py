"""What the poster says of its formulas, tried on counts: identities, limits and counterexamples.

Each check takes the counts on which it is tried, and what it checks as a function, so that a test
can hand over a broken one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import scipy  # its parts are loaded when they are first used: some take long

from recbias.book.chapters.concentration_metrics.counts import (
    HEAD,
    Counts,
    classes_by,
    exchange_ends,
    plain_ci,
    plain_divergence,
    plain_gini,
    plain_lti,
    plain_reinforcement,
    shares,
    some_items,
    tilted,
)
from recbias.book.chapters.concentration_metrics.setup import LAMBDA
from recbias.claims.checks import Check
from recbias.errors import ConfigError
from recbias.metrics import concentration, parse_metric, prior, reinforcement
from recbias.metrics.lists import ListView, item_counts

FloatArray = npt.NDArray[np.float64]
Index = Callable[[Counts], float]

CUTS = (0.1, 0.3, 0.6)
"""Borders of four classes."""

LAMBDAS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)

_ALIKE = 1e-12
_STEPS = 20


def ci(counts: Counts) -> float:
    """Measure CI as the package does."""
    return float(prior.concentration_index(counts.prior, counts.shown[None])[0])


def js(counts: Counts) -> float:
    """Measure the Jensen-Shannon form as the package does."""
    return float(prior.jensen_shannon(counts.prior, counts.shown[None])[0])


def lti(counts: Counts, lam: float = LAMBDA, *, percentile: bool = False) -> float:
    """Measure LTI as the package does."""
    values = prior.long_tail_index(counts.prior, counts.shown[None], lam, percentile=percentile)
    return float(values[0])


def m(counts: Counts, cuts: Sequence[float] = (HEAD,)) -> float:
    """Measure M as the package does."""
    return float(reinforcement.reinforcement(counts.prior, counts.shown[None], cuts)[0])


def _worst(values: Iterable[float]) -> tuple[int, float]:
    """Count values and name the largest; no number if one is none."""
    numbers = list(values)
    return len(numbers), float(np.max(numbers)) if numbers else math.nan


def _count(failures: Iterable[bool]) -> tuple[int, float]:
    outcomes = list(failures)
    return len(outcomes), float(sum(outcomes)) if outcomes else math.nan


# -- popularity reinforcement ----------------------------------------------------------------------


def check_reinforcement(
    instances: Sequence[Counts], measure: Callable[..., float] = m
) -> list[Check]:
    """Compare M with its formula, with what it is said to be, and for several classes."""
    formula = _worst(abs(measure(counts) - plain_reinforcement(counts)) for counts in instances)
    moved = [_moved(counts) for counts in instances]
    as_said = _worst(
        abs(measure(counts) - share) for counts, share in zip(instances, moved, strict=True)
    )
    twice = _worst(
        abs(measure(counts) - 2 * share) for counts, share in zip(instances, moved, strict=True)
    )
    many = _worst(
        abs(measure(counts, CUTS) - plain_reinforcement(counts, CUTS)) for counts in instances
    )
    heads = _count(_head_is_wrong(counts) for counts in instances)
    claim = "ATM15-M"
    return [
        Check(claim, "formula", "M minus 1 - sum of pi rho", *formula),
        Check(claim, "moved", "M minus the share of items that enter the head", *as_said),
        Check(claim, "twice-moved", "M minus twice that share", *twice),
        Check(claim, "head", "heads that are not the most popular fifth", *heads),
        Check(claim, "categories", "M of four classes minus its formula", *many),
    ]


def _moved(counts: Counts) -> float:
    before = classes_by(counts.prior, counts.prior, (HEAD,))
    after = classes_by(counts.shown, counts.prior, (HEAD,))
    entered = [one == 1 and other == 0 for one, other in zip(before, after, strict=True)]
    return sum(entered) / len(entered)


def _head_is_wrong(counts: Counts) -> bool:
    head = [one == 0 for one in classes_by(counts.prior, counts.prior, (HEAD,))]
    inside, outside = counts.prior[head], counts.prior[~np.array(head)]
    wrong = len(outside) > 0 and inside.min() < outside.max()
    return bool(wrong) or sum(head) != math.ceil(round(HEAD * len(head), 9))


def check_limits_of_m(
    instances: Sequence[Counts], measure: Callable[..., float] = m, index: Index = ci
) -> list[Check]:
    """Move the border of M's classes, and exchange what items of one class were recommended."""
    one, other = _two_of_three()
    turned = [
        math.copysign(1, measure(one, (a,)) - measure(other, (a,)))
        == math.copysign(1, measure(one, (b,)) - measure(other, (b,)))
        for a, b in ((0.1, 0.3),)
    ]
    large = [counts for counts in instances if len(counts.prior) >= 10]
    exchanged = [(counts, _within_classes(counts)) for counts in large]
    noticed = [pair for pair in exchanged if abs(index(pair[0]) - index(pair[1])) > _ALIKE]
    alike = _worst(abs(measure(a) - measure(b)) for a, b in noticed)
    claim = "ATM15-M-LIM"
    return [
        Check(claim, "border", "orders of two systems that a moved border keeps", *_count(turned)),
        Check(claim, "alike", "change of M within classes, where CI changes", *alike),
    ]


def _two_of_three() -> tuple[Counts, Counts]:
    """Make ten items, and two systems: one exchanges items 1 and 2, the other items 3 and 4."""
    before = np.arange(10.0, 0, -1)
    first, second = before.copy(), before.copy()
    first[[0, 1]] = before[[1, 0]]
    second[[2, 3]] = before[[3, 2]]
    return tuple(Counts(before, shown, int(shown.sum())) for shown in (first, second))  # type: ignore[return-value]


def _within_classes(counts: Counts) -> Counts:
    """Exchange the most and the least recommended item of the tail, which keeps all classes."""
    after = np.array(classes_by(counts.shown, counts.prior, (HEAD,)))
    before = np.array(classes_by(counts.prior, counts.prior, (HEAD,)))
    tail = np.flatnonzero((after == 1) & (before == 1))
    shown = counts.shown.copy()
    if len(tail) > 1:
        most, least = tail[np.argmax(shown[tail])], tail[np.argmin(shown[tail])]
        # The border may hang on a tie, which prior popularity breaks.
        if shown[most] < counts.shown[after == 0].min():
            shown[[most, least]] = shown[[least, most]]
    return counts._replace(shown=shown)


# -- CI --------------------------------------------------------------------------------------------


def check_index(instances: Sequence[Counts], index: Index = ci) -> list[Check]:
    """Compare CI with the printed formula, with other readings of it, and with divergences."""
    full = [counts for counts in instances if counts.full]
    formula = _worst(abs(index(counts) - plain_ci(counts)) for counts in instances)
    places = _worst(abs(index(counts) - plain_ci(counts, places=counts.places)) for counts in full)
    divergence = _worst(abs(index(counts) - plain_divergence(counts)) for counts in instances)
    jeffreys = _worst(
        abs(index(counts) - _half_jeffreys(counts)) for counts in map(_large, instances)
    )
    mirrored = _worst(
        abs(index(counts) - index(Counts(counts.shown, counts.prior, int(counts.prior.sum()))))
        for counts in instances
    )
    large = [counts for counts in instances if len(counts.prior) >= 10]
    moved = [pair for pair in ((counts, _within_classes(counts)) for counts in large)
             if not _same_counts(*pair)]  # fmt: skip
    unseen = _count(abs(index(a) - index(b)) <= _ALIKE for a, b in moved)
    claim = "ATM15-CI"
    return [
        Check(claim, "formula", "CI minus the printed sum over items", *formula),
        Check(claim, "places", "CI of full lists minus the sum with N|U|", *places),
        Check(claim, "divergence", "CI minus the Jensen-Shannon divergence", *divergence),
        Check(claim, "jeffreys", "CI of large counts minus half a Jeffreys divergence", *jeffreys),
        Check(claim, "mirrored", "CI minus CI with prior and lists exchanged", *mirrored),
        Check(claim, "within-class", "exchanges within a class that CI does not notice", *unseen),
    ]


def _same_counts(a: Counts, b: Counts) -> bool:
    """Tell whether two items that exchanged their recommendations are one and the same to CI."""
    key = [
        sorted(zip(counts.prior.tolist(), counts.shown.tolist(), strict=True)) for counts in (a, b)
    ]
    return key[0] == key[1]


def _large(counts: Counts) -> Counts:
    """Make all counts positive, and so large that adding one changes nothing."""
    prior_, shown = (counts.prior + 1) * 1e12, (counts.shown + 1) * 1e12
    return Counts(prior_, shown, int(shown.sum()))


def _half_jeffreys(counts: Counts) -> float:
    p, q = shares(counts.prior), shares(counts.shown)
    return float(((p - q) * np.log(p / q)).sum() / 2)


def check_divergence(instances: Sequence[Counts], index: Index = js) -> list[Check]:
    """Compare the form of the footnote with its formula; it has no smoothing, nor needs any."""
    formula = _worst(abs(index(counts) - plain_divergence(counts)) for counts in instances)
    scaled = [
        Counts(counts.prior * 7, counts.shown * 3, int(counts.shown.sum() * 3))
        for counts in instances
    ]
    unsmoothed = _worst(
        abs(index(one) - index(other)) for one, other in zip(instances, scaled, strict=True)
    )
    beyond = _worst(max(index(counts) - math.log(2), -index(counts)) for counts in instances)
    claim = "ATM15-CI-FN"
    return [
        Check(claim, "formula", "CI_JS minus the Jensen-Shannon divergence", *formula),
        Check(claim, "unsmoothed", "change of CI_JS if counts are multiplied", *unsmoothed),
        Check(claim, "bounds", "distance of CI_JS from 0 to ln 2", *beyond),
    ]


def check_proportional(
    instances: Sequence[Counts], path_from: FloatArray, index: Index = ci
) -> list[Check]:
    """Recommend in proportion, nearly so, and further and further from it."""
    proportional = _worst(
        abs(index(Counts(counts.prior, factor * counts.prior, int(factor * counts.prior.sum()))))
        for counts in instances
        for factor in (0.5, 1, 2, 10)
    )
    small = list(_small_cases())
    converse = _count(index(counts) <= _ALIKE for counts in small)
    scaled = [
        Counts(counts.prior * 1e9, counts.shown * 1e9, int(counts.shown.sum() * 1e9))
        for counts in small
    ]
    unsmoothed = _count(index(counts) <= _ALIKE for counts in scaled)
    zero, positive = "ATM15-CI-ZERO", "ATM15-CI-POS"
    even = np.full(len(path_from), 1.0)
    one = np.zeros(len(path_from))
    one[np.argmax(path_from)] = 1.0
    steps = [_falls(path_from, end, index) for end in (even, one)]
    alike = _count(
        index(Counts(counts.prior, factor * counts.prior, 0)) > _ALIKE
        for counts in instances
        for factor in (0.5, 1, 2, 10)
    )
    return [
        Check(zero, "proportional", "CI of lists in proportion to the prior", *proportional),
        Check(zero, "converse", "lists out of proportion with a CI of 0 or less", *converse),
        Check(zero, "unsmoothed", "the same if counts are large", *unsmoothed),
        Check(positive, "deviates", "lists in proportion with a positive CI", *alike),
        Check(positive, "to-even", "steps towards an even spread at which CI falls", *steps[0]),
        Check(positive, "to-one", "steps towards the most popular item at which CI falls",
              *steps[1]),
    ]  # fmt: skip


def _small_cases() -> Iterable[Counts]:
    """List counts of two items, out of proportion."""
    for s in ((1, 3), (2, 5), (1, 1), (3, 1)):
        for a in range(0, 40):
            for b in range(0, 100, 3):
                if a + b and a * s[1] != b * s[0]:
                    yield Counts(np.array(s, float), np.array([a, b], float), a + b)


def _falls(before: FloatArray, end: FloatArray, index: Index) -> tuple[int, float]:
    """Go from proportional lists to others in steps; count those at which CI falls."""
    total = before.sum()
    course = [
        index(Counts(before, ((1 - t) * shares(before) + t * shares(end)) * total, int(total)))
        for t in np.linspace(0, 1, _STEPS + 1)
    ]
    return _count(later < earlier for earlier, later in pairwise(course))


# -- LTI -------------------------------------------------------------------------------------------


def check_long_tail(
    instances: Sequence[Counts], of_data: Sequence[Counts], index: Callable[..., float] = lti
) -> list[Check]:
    """Compare LTI with the printed formula, and see what lowers it."""
    every = [(counts, lam) for counts in instances for lam in LAMBDAS]
    formula = _worst(abs(index(counts, lam) - plain_lti(counts, lam)) for counts, lam in every)
    places = _worst(
        abs(index(counts, lam) - plain_lti(counts, lam, places=counts.places))
        for counts, lam in every
        if counts.full
    )
    taken = _count(_is_taken(lam) for lam in ("0", "1", "-0.1", "1.5", "nan"))
    claim, scale = "ATM15-LTI", "ATM15-LTI-SCALE"
    lowered = [
        _share_lowered(of_data, index),
        _share_lowered(of_data, lambda counts, lam: index(counts, lam, percentile=True)),
    ]
    six = np.array([6.0, 3, 1, 0])
    pinned = abs(index(Counts(six, 10 * six, 100), 0.5) + 0.28259803)
    return [
        Check(claim, "formula", "LTI minus the printed mean over items", *formula),
        Check(claim, "places", "LTI of full lists minus the mean with N|U|", *places),
        Check(claim, "ends", "values outside 0 to 1 that are taken for lambda", *taken),
        Check(claim, "lowered", "head items whose more frequent recommendation lowers LTI",
              *lowered[0]),
        Check(claim, "lowered-percentile", "the same with a percentile in place of a share",
              *lowered[1]),
        Check(scale, "smoothing", "LTI minus the mean with one added to each count", *formula),
        Check(scale, "pinned", "LTI of ten times the prior minus its worked value", 1, pinned),
    ]  # fmt: skip


def check_raised(
    of_data: Sequence[Counts], rng: np.random.Generator, index: Callable[..., float] = lti
) -> list[Check]:
    """See how many exchanges of a head item for one of the tail raise LTI."""
    raised = [gain > 0 for counts in of_data for gain in _exchanges(counts, index, rng)]
    share = float(np.mean(raised)) if raised else math.nan
    what = "exchanges of a head item for one of the tail that raise LTI"
    return [Check("ATM15-LTI", "raised", what, len(raised), share)]


def _is_taken(lam: str) -> bool:
    try:
        parse_metric(f"LTI({lam})@10")
    except ConfigError:
        return False
    return True


_N_EXCHANGES = 200


def _exchanges(
    counts: Counts, index: Callable[..., float], rng: np.random.Generator
) -> Iterable[float]:
    """Take a listed item of the head, put one of the tail in its place, and see what LTI gains."""
    head = np.array(classes_by(counts.prior, counts.prior, (HEAD,))) == 0
    listed, tail = np.flatnonzero(head & (counts.shown > 0)), np.flatnonzero(~head)
    before = index(counts, LAMBDA)
    if not len(listed) or not len(tail):
        return
    weights = shares(counts.shown[listed])
    for _ in range(_N_EXCHANGES):
        shown = counts.shown.copy()
        shown[rng.choice(listed, p=weights)] -= 1
        shown[rng.choice(tail)] += 1
        yield index(counts._replace(shown=shown), LAMBDA) - before


def _share_lowered(
    of_data: Sequence[Counts], index: Callable[[Counts, float], float]
) -> tuple[int, float]:
    """Tell which share of the head's items lower LTI by being recommended more often."""
    signs = [
        weight < -_ZERO
        for counts in map(some_items, of_data)
        for weight, place in zip(
            _weights(counts, LAMBDA, index),
            classes_by(counts.prior, counts.prior, (HEAD,)),
            strict=True,
        )
        if place == 0
    ]
    return len(signs), float(np.mean(signs)) if signs else math.nan


def check_lambda(of_data: Sequence[Counts], index: Callable[..., float] = lti) -> list[Check]:
    """See which items lambda rewards, and whether they are those below a percentile."""
    wrong, beyond, mended, n = 0, 0, 0, 0
    for counts in map(some_items, of_data):
        shown_share, place = shares(counts.prior), _percentiles(counts.prior)
        for lam in LAMBDAS:
            # Without weight an item is neither: its share, or percentile, is lambda.
            rewarded = _weights(counts, lam, index) > _ZERO
            wrong += int((rewarded != (shown_share < lam - _ZERO)).sum())
            beyond += int((rewarded & (place > lam + _ZERO)).sum())
            other = _weights(counts, lam, lambda c, x: index(c, x, percentile=True)) > _ZERO
            mended += int((other & (place > lam + _ZERO)).sum())
            n += len(rewarded)
    claim = "ATM15-LTI-LAM"
    return [
        Check(claim, "share", "items rewarded otherwise than by their share", n, float(wrong)),
        Check(claim, "percentile", "rewarded items above the percentile", n, float(beyond)),
        Check(claim, "percentile-mended", "the same with a percentile", n, float(mended)),
    ]


_ZERO = 1e-9
"""What a weight is off by through rounding, at most."""


def _weights(counts: Counts, lam: float, index: Callable[[Counts, float], float]) -> FloatArray:
    r"""Find what LTI multiplies the log of each item's smoothed share by, from its values alone.

    n LTI is :math:`\sum_i w_i \ln(r_i + 1) - W \ln(Rt + n)` and what does not depend on lists, W
    the sum of the weights. If each item has one recommendation, but item i has three, that is more
    by :math:`D_i = w_i \ln 2 - W \ln\frac{n+1}{n}`; W follows from the sum of these.
    """
    n_items = len(counts.prior)
    ones = np.ones(n_items)
    base = index(counts._replace(shown=ones), lam)
    more = np.empty(n_items)
    for item in range(n_items):
        shown = ones.copy()
        shown[item] = 3
        more[item] = n_items * (index(counts._replace(shown=shown), lam) - base)
    grown = math.log((n_items + 1) / n_items)
    whole = more.sum() / (math.log(2) - n_items * grown)
    return np.asarray((more + whole * grown) / math.log(2))


def _percentiles(values: FloatArray) -> FloatArray:
    """Give the share of the items that are less popular, of equals half."""
    return np.array([((values < one).sum() + (values == one).sum() / 2) / len(values)
                     for one in values])  # fmt: skip


# -- dispersion, and both together -----------------------------------------------------------------


def check_dispersion(instances: Sequence[Counts], scores: FloatArray) -> list[Check]:
    """Compare coverage, diversity, Gini, Hoover and the Lorenz curve with what they are."""
    rows = [(counts.shown, counts.shown[None]) for counts in instances]
    gini = _worst(abs(float(concentration.gini(row)[0]) - plain_gini(one)) for one, row in rows)
    hoover = _worst(
        abs(float(concentration.hoover(row)[0]) - 0.5 * np.abs(shares(one) - 1 / len(one)).sum())
        for one, row in rows
    )
    curves = [concentration.lorenz(row)[0] for _, row in rows]
    area = _worst(
        abs(float(concentration.gini(row)[0]) - _area(curve))
        for (_, row), curve in zip(rows, curves, strict=True)
    )
    furthest = _worst(
        abs(float(concentration.hoover(row)[0]) - float(_gap(curve).max()))
        for (_, row), curve in zip(rows, curves, strict=True)
    )
    claim = "ATM15-D-DISP"
    return [
        Check(claim, "gini", "Gini minus the mean distance of all pairs", *gini),
        Check(claim, "hoover", "Hoover minus half the distances from equality", *hoover),
        Check(claim, "area", "Gini minus the area above the Lorenz curve", *area),
        Check(claim, "furthest", "Hoover minus the largest gap above the Lorenz curve", *furthest),
        *_of_scores(scores),
    ]


def _gap(curve: FloatArray) -> FloatArray:
    return np.asarray(np.linspace(0, 1, len(curve)) - curve)


def _area(curve: FloatArray) -> float:
    gap = _gap(curve)
    return float((gap[1:] + gap[:-1]).sum() / (len(curve) - 1))


def _of_scores(scores: FloatArray) -> list[Check]:
    """List all items that have a score: coverage and diversity, counted as sets."""
    n_users, n_items = scores.shape
    items = np.full((n_users, n_items), -1, dtype=np.int32)
    for user, row in enumerate(scores):
        known = np.flatnonzero(~np.isnan(row))
        items[user, : len(known)] = known[np.argsort(-row[known], kind="stable")]
    view = ListView(items, n_items, np.zeros(n_items, dtype=np.int64))
    off = {"Coverage": 0.0, "Diversity": 0.0}
    for cutoff in (n_items, 3):
        listed = {int(item) for row in items for item in row[:cutoff] if item >= 0}
        counts = item_counts(view, cutoff)
        for name, expected in (("Coverage", len(listed) / n_items), ("Diversity", len(listed))):
            metric = parse_metric(f"{name}@{cutoff}")
            value = metric.declaration.measure(counts, view, [metric])[0, 0]
            off[name] = max(off[name], abs(float(value) - expected))
    scored = np.count_nonzero(~np.isnan(scores).all(axis=0)) / n_items
    metric = parse_metric(f"Coverage@{n_items}")
    whole = metric.declaration.measure(item_counts(view, n_items), view, [metric])[0, 0]
    claim = "ATM15-D-DISP"
    return [
        Check(claim, "coverage", "coverage of whole lists minus the share of items with a score",
              1, abs(float(whole) - scored)),
        Check(claim, "diversity", "diversity minus the number of distinct items", 2,
              max(off.values())),
    ]  # fmt: skip


def check_prior(
    of_data: Sequence[Counts],
    index: Index = ci,
    tail: Callable[[Counts], float] = lti,
    moved: Callable[[Counts], float] = m,
) -> list[Check]:
    """Exchange what popular and unpopular items were recommended, and see what notices it."""
    pairs = [(counts, exchange_ends(counts)) for counts in of_data]
    rows = [(a.shown[None], b.shown[None]) for a, b in pairs]
    same = _worst(
        abs(float(measure(a)[0]) - float(measure(b)[0]))
        for a, b in rows
        for measure in (concentration.gini, concentration.hoover, _diversity)
    )
    curves = _worst(
        float(np.abs(concentration.lorenz(a)[0] - concentration.lorenz(b)[0]).max())
        for a, b in rows
    )
    covered = _worst(abs(_diversity(a)[0] - _diversity(b)[0]) / a.shape[1] for a, b in rows)
    blind = _count(
        abs(measure(a) - measure(b)) <= _ALIKE for a, b in pairs for measure in (index, tail, moved)
    )
    claim = "ATM15-C-PRIOR"
    return [
        Check(claim, "dispersion", "change of Gini, Hoover or diversity", *same),
        Check(claim, "curve", "change of the Lorenz curve", *curves),
        Check(claim, "coverage", "change of coverage", *covered),
        Check(claim, "blind", "exchanges that CI, LTI or M do not notice", *blind),
    ]


def _diversity(rows: FloatArray) -> FloatArray:
    return np.asarray((rows > 0).sum(axis=1), dtype=np.float64)


def check_together(
    path_from: FloatArray, index: Index = ci, tail: Callable[[Counts], float] = lti
) -> list[Check]:
    """Move lists as far towards the head as towards the tail, by CI: LTI has to tell them apart."""
    total = path_from.sum()
    missed = []
    for power in (0.2, 0.4, 0.6, 0.8):
        to_tail = Counts(path_from, tilted(path_from, power), int(total))
        wanted = index(to_tail)

        def short(other: float, wanted: float = wanted) -> float:
            return index(Counts(path_from, tilted(path_from, other), int(total))) - wanted

        top = 2.0
        while short(top) < 0 and top < 64:
            top *= 2
        if short(top) < 0:
            continue
        power_up = scipy.optimize.brentq(short, 1.0, top, xtol=1e-12)
        to_head = Counts(path_from, tilted(path_from, power_up), int(total))
        missed.append(not tail(to_head) < 0 < tail(to_tail))
    return [
        Check("ATM15-C-JOINT", "direction", "pairs of equal CI whose direction LTI misses",
              *_count(missed)),
    ]  # fmt: skip
