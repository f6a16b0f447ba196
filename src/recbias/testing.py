"""Checks for recommenders and metrics that anyone may run on their own.

What is here shares no code with the fast paths that it checks.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from recbias.errors import ContractError, RecbiasError
from recbias.ratings import Ratings, RatingScale
from recbias.recommenders.base import ratings_read

_NO_SCORE = "no pair has a score"

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy


def check_recommender(recommender: Any, *, seed: int = 1) -> None:
    """Check that a recommender keeps the contract on which every evaluation relies.

    It is fitted a few times on a small table of ratings that leaves one user and one item without
    any. Checked are: `fit` returns the recommender and changes neither its argument nor NumPy's
    global random state; equal seeds give equal scores; `score` returns a fresh float32 block of
    one row per user and one column per item, also for one user, for none and for users in any
    order; no score is infinite; a score is missing (NaN) just where the class's `coverage` says
    so (where an `Algorithm` has an encoding, a training rating is one that it keeps); scores do not
    depend on the block in which they are asked for; two seeds agree in every score where the class
    says that it is `deterministic`; where they agree, renumbering the users or the items changes
    nothing but the rows or the columns (not asked of a class whose `breaks_ties_by_number` is
    True); where the class's `objective_trend` says that the objective falls or rises in every
    iteration, it does; and on tables at the edge of what ratings can be (a single rating, a single
    user or item, all values alike, nothing liked, nothing unrated) it either scores as promised or
    raises a `RecbiasError` or ValueError.

    Parameters
    ----------
    recommender : System or callable
        A `recbias.recommenders.System`, or anything that returns a new, unfitted recommender when
        called without arguments, such as its class.
    seed : int
        Decides the table of ratings.

    Raises
    ------
    ContractError
        At the first promise that is broken; the message says which.

    See Also
    --------
    recbias.recommenders.Recommender : The contract in words.

    Examples
    --------
    >>> from recbias.recommenders import Popularity
    >>> check_recommender(Popularity)
    """
    make: Callable[[], Any] = getattr(recommender, "build", recommender)
    label = getattr(recommender, "name", None) or type(make()).__name__

    def promise(kept: Any, broken: str) -> None:
        if not bool(kept):
            raise ContractError(f"{label}: {broken}")

    def fitted(train: Ratings, fit_seed: int) -> Any:
        model = make()
        promise(model.fit(train, rng=np.random.default_rng(fit_seed)) is model, "fit is not self")
        return model

    train = _ratings_with_gaps(seed)
    before = dataclasses.replace(
        train, user=train.user.copy(), item=train.item.copy(), value=train.value.copy()
    )
    global_state = _global_random_state()
    model = fitted(train, 1)
    users = np.arange(train.n_users)
    scores = model.score(users)

    promise(train.content_hash == before.content_hash, "fit changed the training ratings")
    same_state = _global_random_state() == global_state
    promise(same_state, "it drew from NumPy's global random state instead of rng")
    promise(isinstance(scores, np.ndarray), f"scores are a {type(scores).__name__}, not an array")
    promise(scores.dtype == np.float32, f"scores are {scores.dtype}, expected float32")
    expected = (train.n_users, train.n_items)
    promise(scores.shape == expected, f"scores have shape {scores.shape}, expected {expected}")
    promise(not np.isinf(scores).any(), "a score is infinite")
    _check_coverage(
        scores, ratings_read(model, train), getattr(model, "coverage", "evidence"), promise
    )

    kept = scores.copy()
    scores[:] = -1
    promise(_same(model.score(users), kept, 0), "writing into a block changed later scores")
    promise(model.score(users[:0]).shape == (0, train.n_items), "no users gave no empty block")
    single = np.concatenate([model.score(users[user : user + 1]) for user in users])
    promise(_same(single, kept, 1e-5), "scores depend on the block in which they are asked for")
    some = users[::-3]
    promise(_same(model.score(some), kept[some], 1e-5), "rows do not follow the order of users")

    promise(_same(fitted(train, 1).score(users), kept, 0), "equal seeds gave different scores")
    again = model.fit(train, rng=np.random.default_rng(1)).score(users)
    promise(_same(again, kept, 0), "fitting again gave different scores: state was left over")
    same_for_all_seeds = _same(fitted(train, 2).score(users), kept, 0)
    promise(
        same_for_all_seeds or not getattr(model, "deterministic", False),
        "it says that it is deterministic, but two seeds gave different scores",
    )
    any_numbering = not getattr(model, "breaks_ties_by_number", False)
    if any_numbering and same_for_all_seeds:
        rng = np.random.default_rng(seed)
        number = rng.permutation(train.n_users)
        renumbered = fitted(_renumber(train, number, np.arange(train.n_items)), 1).score(number)
        promise(_same(renumbered, kept, 1e-4), "scores depend on how users are numbered")
        number = rng.permutation(train.n_items)
        renumbered = fitted(_renumber(train, users, number), 1).score(users)[:, number]
        promise(_same(renumbered, kept, 1e-4), "scores depend on how items are numbered")
    trend = getattr(model, "objective_trend", "noisy")
    if trend != "noisy":
        objectives: list[float] = []
        make().fit(
            train,
            rng=np.random.default_rng(1),
            on_iteration=lambda _, objective: objectives.append(objective),
        )
        promise(objectives, "an objective has a trend, but no iteration reported it")
        # Rounding: each of the sums behind an objective has fewer than 1e5 terms here.
        slack = 1e-10 * np.abs(objectives).max()
        steps = np.diff(objectives) * (1 if trend == "rises" else -1)
        promise((steps >= -slack).all(), f"the objective, which {trend}, went the other way")
    for name, edge in _edge_tables().items():
        try:
            at_edge = fitted(edge, 1)
            scores = at_edge.score(np.arange(edge.n_users))
        except (RecbiasError, ValueError):
            continue
        expected = (edge.n_users, edge.n_items)
        promise(scores.shape == expected, f"with {name}, scores have shape {scores.shape}")
        promise(not np.isinf(scores).any(), f"with {name}, a score is infinite")

        def promise_at_edge(kept: Any, broken: str, name: str = name) -> None:
            promise(bool(kept) or broken == _NO_SCORE, f"with {name}: {broken}")

        coverage = getattr(at_edge, "coverage", "evidence")
        _check_coverage(scores, ratings_read(at_edge, edge), coverage, promise_at_edge)


def _ratings_with_gaps(seed: int) -> Ratings:
    """Make 40 x 30 ratings with no two alike, none for the last user and none for item 11."""
    rng = np.random.default_rng(seed)
    n_users, n_items = 40, 30
    taste = rng.normal(size=(n_users, 2)) @ rng.normal(size=(2, n_items))
    observed = rng.random((n_users, n_items)) < 0.35
    observed[:, 0] = observed[0] = True
    observed[-1] = observed[:, 11] = False
    user, item = np.nonzero(observed)
    # Values on no grid: equal similarities, and with them arbitrary choices, do not occur.
    value = np.clip(3 + taste[observed] + rng.normal(scale=0.3, size=len(user)), 1, 5)
    value += rng.uniform(-0.4, 0.4, size=len(user))
    return Ratings(
        name="check",
        user=user.astype(np.int32),
        item=item.astype(np.int32),
        value=value,
        timestamp=None,
        user_ids=np.arange(n_users),
        item_ids=np.arange(n_items),
        scale=RatingScale(0.5, 5.5, 0),
    )


def _global_random_state() -> str:
    return repr(np.random.get_state(legacy=False))  # noqa: NPY002 - to see that it stays


def _renumber(
    train: Ratings, users: npt.NDArray[np.int64], items: npt.NDArray[np.int64]
) -> Ratings:
    """Give user u the number ``users[u]`` and item i the number ``items[i]``."""
    user, item = users[train.user].astype(np.int32), items[train.item].astype(np.int32)
    order = np.lexsort((item, user))
    return dataclasses.replace(train, user=user[order], item=item[order], value=train.value[order])


def _edge_tables() -> dict[str, Ratings]:
    """Make tables that a model may find too small or too plain."""

    def make(name: str, stars: list[list[float]]) -> Ratings:
        array = np.array(stars)
        user, item = np.nonzero(~np.isnan(array))
        return Ratings(
            name=name,
            user=user.astype(np.int32),
            item=item.astype(np.int32),
            value=array[user, item],
            timestamp=None,
            user_ids=np.arange(array.shape[0]),
            item_ids=np.arange(array.shape[1]),
            scale=RatingScale(1, 5, 1),
        )

    gap = math.nan
    tables = {
        "a single rating": [[5.0, gap, gap], [gap, gap, gap]],
        "a single user": [[5.0, 3.0, 4.0, gap]],
        "a single item": [[5.0], [3.0], [gap]],
        "all ratings alike": [[4.0, 4.0, gap], [gap, 4.0, 4.0], [4.0, gap, gap]],
        "nothing liked": [[1.0, 2.0, gap], [gap, 1.0, 2.0], [2.0, gap, gap]],
        "nothing unrated": [[5.0, 3.0, 4.0], [1.0, 4.0, 5.0], [4.0, 2.0, 3.0]],
    }
    return {name: make(name, stars) for name, stars in tables.items()}


def _same(left: npt.NDArray[Any], right: npt.NDArray[Any], tolerance: float) -> bool:
    return left.shape == right.shape and np.allclose(
        left, right, rtol=tolerance, atol=tolerance, equal_nan=True
    )


def _check_coverage(
    scores: npt.NDArray[Any],
    train: Ratings,
    coverage: str,
    promise: Callable[[Any, str], None],
) -> None:
    """Compare where scores are missing with what the class says about it."""
    known_user = (train.user_counts() > 0)[:, None]
    known_item = (train.item_counts() > 0)[None, :]
    computable = {
        "all": np.ones(scores.shape, dtype=bool),
        "known items": np.broadcast_to(known_item, scores.shape),
        "known pairs": known_user & known_item,
        "evidence": known_user & known_item & ~np.isnan(scores),
    }
    promise(coverage in computable, f"coverage {coverage!r} is none of {', '.join(computable)}")
    found = ~np.isnan(scores)
    extra = found & ~computable[coverage]
    promise(not extra.any(), f"coverage {coverage!r}, but a pair without training data has a score")
    missing = computable[coverage] & ~found
    promise(not missing.any(), f"coverage {coverage!r}, but a pair that it includes has no score")
    promise(found.any(), _NO_SCORE)


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
        ``"fallout"``, ``"nDCL"``, ``"judged"``, ``"P|judged"`` or ``"antiP|judged"``.
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
    places = [place for place, item in enumerate(top, start=1) if item in liked]
    if metric_name == "RR":
        return Fraction(1, places[0]) if places else Fraction(0)
    return sum(
        (Fraction(len(liked.intersection(top[:place])), place) for place in places), Fraction(0)
    ) / len(liked)


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
