"""Checks for recommenders and metrics that anyone may run on their own.

What is here shares no code with the fast paths that it checks.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from recbias.recommenders.contract import check_recommender as check_recommender

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy


def naive_list(
    scores: Mapping[int, float],
    ties: Sequence[int],
    unscored: Mapping[int, float | Fraction] | None = None,
) -> list[int]:
    """Sort items by score, largest first; equal scores in the order of `ties`, NaN left out.

    Parameters
    ----------
    scores : mapping of item to float
        NaN = not computable.
    ties : sequence of int
        All items, those first that win a tie.
    unscored : mapping of item to number, optional
        By what items that are not computable are put below all others, largest first.

    Returns
    -------
    list of int
        The list that a user is shown.

    Examples
    --------
    >>> naive_list({1: 0.5, 2: 0.7, 3: 0.5, 4: math.nan}, ties=[3, 1, 2, 4])
    [2, 3, 1]
    >>> naive_list({1: math.nan, 2: -0.7, 3: math.nan}, ties=[1, 2, 3], unscored={1: 4, 3: 9})
    [2, 3, 1]
    """
    listed = [item for item in scores if not math.isnan(scores[item])]
    listed.sort(key=lambda item: (-scores[item], ties.index(item)))
    if unscored is None:
        return listed
    below = [item for item in scores if math.isnan(scores[item])]
    return listed + sorted(below, key=lambda item: (-unscored[item], ties.index(item)))


def naive_measure(
    items: Sequence[int],
    judged: Mapping[int, float],
    metric_name: str,
    *,
    cutoff: int | None,
    min_rating: float,
    gain: Callable[[float], float] | None = None,
) -> Fraction | float:
    """Measure one list of one user by walking down it, in exact fractions where they exist.

    Parameters
    ----------
    items : sequence of int
        The list, best first, of distinct items. For the condensed list pass those that are judged.
    judged : mapping of item to rating
        All test ratings of the user, also of items that are not in the list.
    metric_name
        ``"P"``, ``"R"``, ``"nDCG"``, ``"AP"`` or ``"RR"``; one of these behind ``"anti"``;
        ``"HR"``, ``"AP|capped"``, ``"fallout"``, ``"nDCL"``, ``"judged"``, ``"P|judged"`` or
        ``"antiP|judged"``.
    cutoff : int or None
        Places that count; None = all (not for P, antiP and judged, which divide by it).
    min_rating : float
        The smallest relevant rating.
    gain : callable of rating to gain, optional
        For nDCG; 1 for relevant and 0 for other ratings by default. Of nDCL it is the loss, by
        default the distance below the threshold.

    Returns
    -------
    Fraction or float
        NaN where the metric is undefined.

    Examples
    --------
    Three relevant items at places 2, 4 and 6 of a list of six.

    >>> judged = {1: 1, 2: 5, 4: 5, 5: 1, 6: 5}
    >>> naive_measure([1, 2, 3, 4, 5, 6], judged, "AP", cutoff=None, min_rating=4)
    Fraction(1, 2)
    """
    top = list(items) if cutoff is None else list(items)[:cutoff]
    liked = {item for item, rating in judged.items() if rating >= min_rating}
    if metric_name.endswith("|judged"):
        known = [item for item in top if item in judged]
        good = [item for item in known if (item in liked) == (metric_name == "P|judged")]
        return Fraction(len(good), len(known)) if known else math.nan
    if metric_name == "judged" and cutoff is not None:
        return Fraction(len([item for item in top if item in judged]), cutoff)
    if metric_name == "fallout":
        bad = set(judged) - liked
        return Fraction(len(bad.intersection(top)), len(bad)) if bad else Fraction(0)
    if metric_name == "nDCL":
        gain = gain or (lambda rating: max(min_rating - rating, 0.0))
    elif metric_name.startswith("anti"):
        # The metric of somebody who likes what this user is known not to like.
        turned = {item: float(item not in liked) for item in judged}
        metric_name = metric_name.removeprefix("anti")
        return naive_measure(items, turned, metric_name, cutoff=cutoff, min_rating=1)
    if metric_name in ("nDCG", "nDCL"):
        worth = gain or (lambda rating: float(rating >= min_rating))
        found = [worth(judged[item]) if item in judged else 0.0 for item in top]
        best = sorted((worth(rating) for rating in judged.values()), reverse=True)
        ideal = _naive_dcg(best if cutoff is None else best[:cutoff])
        return _naive_dcg(found) / ideal if ideal else math.nan
    if metric_name in ("P", "judged"):
        if cutoff is None:
            raise ValueError(f"{metric_name} divides by its cutoff: give one")
        return Fraction(len(liked.intersection(top)), cutoff)
    if not liked:
        return math.nan
    if metric_name == "R":
        return Fraction(len(liked.intersection(top)), len(liked))
    if metric_name == "HR":
        return Fraction(any(item in liked for item in top))
    places = [place for place, item in enumerate(top, start=1) if item in liked]
    if metric_name == "RR":
        return Fraction(1, places[0]) if places else Fraction(0)
    room = len(liked) if cutoff is None or metric_name == "AP" else min(len(liked), cutoff)
    return (
        sum(
            (Fraction(len(liked.intersection(top[:place])), place) for place in places), Fraction(0)
        )
        / room
    )


def _naive_dcg(gains: Sequence[float]) -> float:
    return math.fsum(gain / math.log2(place + 1) for place, gain in enumerate(gains, start=1))


def naive_preference(
    items: Sequence[int], judged: Mapping[int, float], *, min_rating: float
) -> Fraction | float:
    """Measure bpref of one list by comparing every relevant item with those above it.

    Parameters
    ----------
    items, judged, min_rating
        As in `naive_measure`.

    Returns
    -------
    Fraction or float
        NaN without relevant item.

    Examples
    --------
    >>> naive_preference([1, 2, 4, 5], {1: 1, 2: 5, 4: 5, 6: 1}, min_rating=4)
    Fraction(1, 2)
    """
    liked = {item for item, rating in judged.items() if rating >= min_rating}
    if not liked:
        return math.nan
    disliked = set(judged) - liked
    total = Fraction(0)
    for place, item in enumerate(items):
        if item not in liked:
            continue
        worse_above = sorted(disliked.intersection(items[:place]))[: len(liked)]
        total += 1
        if worse_above:
            total -= Fraction(len(worse_above), min(len(disliked), len(liked)))
    return total / len(liked)


def naive_inferred(
    items: Sequence[int], judged: Mapping[int, float], pool: Iterable[int], *, min_rating: float
) -> Fraction | float:
    """Measure infAP of one list by looking at what stands above every relevant item.

    Parameters
    ----------
    items, judged, min_rating
        As in `naive_measure`.
    pool : iterable of int
        Items that are pooled, whether they are judged or not; judged ones are in any case.

    Returns
    -------
    Fraction or float
        NaN without relevant item. Epsilon is 1/100000.

    Examples
    --------
    Relevant, non-relevant, relevant.

    >>> float(naive_inferred([1, 2, 3], {1: 5, 2: 1, 3: 5}, [], min_rating=4))
    0.8333333333333334
    """
    liked = {item for item, rating in judged.items() if rating >= min_rating}
    if not liked:
        return math.nan
    pooled, epsilon, total = {*pool, *judged}, Fraction(1, 100_000), Fraction(0)
    for place, item in enumerate(items):
        if item not in liked:
            continue
        above = items[:place]
        known = [each for each in above if each in judged]
        good = [each for each in known if each in liked]
        precision = (len(good) + epsilon) / (len(known) + 2 * epsilon)
        share = Fraction(len(pooled.intersection(above)), place) if place else Fraction(0)
        total += Fraction(1, place + 1) + Fraction(place, place + 1) * share * precision
    return total / len(liked)


def naive_stratified(
    items: Sequence[int],
    judged: Mapping[int, float],
    counts: Sequence[int],
    gamma: float,
    *,
    cutoff: int,
    min_rating: float,
) -> float:
    """Measure stratified recall of one list by adding up weights.

    Parameters
    ----------
    items, judged, cutoff, min_rating
        As in `naive_measure`.
    counts : sequence of int
        How many ratings of each item are relevant.
    gamma : float
        0 to infinity.

    Returns
    -------
    float
        NaN without relevant item.

    Examples
    --------
    >>> round(naive_stratified([2], {0: 5, 1: 5, 2: 5}, [100, 25, 4], 1, cutoff=1, min_rating=4), 6)
    0.625
    """
    power = 1.0 if gamma == math.inf else gamma / (1.0 + gamma)
    liked = [item for item, rating in judged.items() if rating >= min_rating]
    total = math.fsum(1.0 / counts[item] ** power for item in liked)
    hits = [item for item in liked if item in list(items)[:cutoff]]
    return math.fsum(1.0 / counts[item] ** power for item in hits) / total if liked else math.nan


def naive_expectation(
    items: Sequence[int],
    targets: Sequence[int],
    relevant: int,
    metric_name: str,
    *,
    cutoff: int | None,
    size: int,
) -> float:
    """Measure a 1R run on every sample that could be drawn for it, and take the mean.

    Parameters
    ----------
    items : sequence of int
        The list of the whole pool, best first.
    targets : sequence of int
        The whole pool, items without a place in the list and the relevant one included.
    relevant : int
        The relevant item.
    metric_name : {"P", "R", "nDCG", "AP", "RR"}
        Which metric.
    cutoff : int or None
        As in `naive_measure`.
    size : int
        T: the relevant item is joined with T - 1 others, or with all if there are fewer.

    Returns
    -------
    float

    Examples
    --------
    Two of three others are drawn; the one that stands above is among them with probability 2/3.

    >>> round(naive_expectation([7, 1, 2, 3], [1, 2, 3, 7], 1, "RR", cutoff=None, size=3), 6)
    0.666667
    """
    others = [item for item in targets if item != relevant]
    values = []
    for sample in itertools.combinations(others, min(size - 1, len(others))):
        shown = [item for item in items if item == relevant or item in sample]
        values.append(
            naive_measure(shown, {relevant: 5.0}, metric_name, cutoff=cutoff, min_rating=5)
        )
    return math.fsum(values) / len(values)


def judged_scores(
    max_items: int = 12,
) -> SearchStrategy[tuple[dict[int, float], list[int], dict[int, float]]]:
    """Generate small cases with ties, unjudged items and items without score (for Hypothesis).

    Parameters
    ----------
    max_items : int
        Largest catalogue.

    Returns
    -------
    SearchStrategy
        Of triples: a score for each item (few distinct values, some NaN), a permutation of the
        items that resolves ties, and ratings from 0.5 to 5 in half stars of some of the items.
    """
    from hypothesis import strategies as st  # a test extra: the package runs without it

    score = st.sampled_from([-1.0, 0.0, 0.25, 0.5, 2.0, math.nan])
    rating = st.integers(1, 10).map(lambda half_stars: half_stars / 2)

    def cases(n_items: int) -> Any:
        return st.tuples(
            st.lists(score, min_size=n_items, max_size=n_items).map(
                lambda scores: dict(enumerate(scores))
            ),
            st.permutations(range(n_items)),
            st.dictionaries(st.integers(0, n_items - 1), rating, max_size=n_items),
        )

    return st.integers(1, max_items).flatmap(cases)
