"""The contract of recommenders, checked: which promises a class keeps, and all that it breaks.

What is here shares no code with the fast paths that rely on the contract.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from recbias.data.ratings import Ratings, RatingScale
from recbias.errors import ContractError, RecbiasError
from recbias.recommenders.base import argument_names, ratings_read

__all__ = ["check_recommender"]

_NO_SCORE = "no pair has a score"


def check_recommender(recommender: Any, *, seed: int = 1) -> None:
    """Check that a recommender keeps the contract on which every evaluation relies.

    It is fitted a few times on a small table of ratings that leaves one user and one item without
    any. Checked are: `fit` returns the recommender and changes neither its argument nor NumPy's
    global random state; equal seeds give equal scores; `score` changes no number that it was asked
    for and returns a fresh float32 block of one row per user and one column per item, also for one
    user, for none and for users in any order; no score is infinite; a score is missing (NaN) just
    where the class's `coverage` says so (where an `Algorithm` has an encoding, a training rating is
    one that it keeps); scores do not depend on the block in which they are asked for; two seeds
    agree in every score where the class says that it is `deterministic`; where they agree,
    renumbering the users or the items changes nothing but the rows or the columns (not asked of a
    class whose `breaks_ties_by_number` is True); where the class's `objective_trend` says that the
    objective falls or rises in every iteration, it does; and on tables at the edge of what ratings
    can be (a single rating, a single user or item, all values alike, nothing liked, nothing
    unrated) it either scores as promised or raises a `RecbiasError` or ValueError. A class keeps
    each argument in an attribute of its name.

    All that can still be checked after a broken promise is checked too.

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
        If a promise is broken; the message names every one that is, with what `fit` or `score`
        raised where they do not come to an end. Also if nothing new can be made of what is given,
        as of an object.

    See Also
    --------
    recbias.recommenders.Recommender : The contract in words.

    Examples
    --------
    >>> from recbias.recommenders import Popularity
    >>> check_recommender(Popularity)
    >>> class Silent:
    ...     def fit(self, train, *, rng=None):
    ...         self.n_items = train.n_items
    ...     def score(self, users):
    ...         return np.zeros((len(users), self.n_items))
    >>> check_recommender(Silent)
    Traceback (most recent call last):
    ...
    recbias.errors.ContractError: Silent: breaks 3 promises
    - fit is not self: it returned None
    - scores are float64, expected float32
    - coverage 'evidence', but a pair without training data has a score
    """
    broken = _Broken(recommender)
    train, pristine = _ratings_with_gaps(seed), _ratings_with_gaps(seed)
    users = np.arange(train.n_users)
    global_state = _global_random_state()
    model = broken.fitted(train, 1)
    scores = broken.scored(model, train, users)
    if train.content_hash != pristine.content_hash:
        broken.add("fit changed the training ratings")
        train = pristine
    if _global_random_state() != global_state:
        broken.add("it drew from NumPy's global random state instead of rng")
    if model is None or scores is None:
        broken.report()
        return
    if np.isinf(scores).any():
        broken.add("a score is infinite")
    with broken.step("its coverage"):
        read, coverage = ratings_read(model, train), getattr(model, "coverage", "evidence")
        _check_coverage(scores, read, coverage, broken.promise)
    first_scores = scores.copy()
    _check_blocks(broken, model, train, scores)
    _check_numbering(broken, train, first_scores, seed)
    _check_objective(broken, train)
    for name, edge in _edge_tables().items():
        _check_edge(broken, name, edge)
    broken.report()


class _Broken:
    """What one recommender was found to break; calls its methods and notes what goes wrong."""

    def __init__(self, recommender: Any) -> None:
        self.found: dict[str, None] = {}
        self.make: Callable[[], Any] = getattr(recommender, "build", recommender)
        if not callable(self.make):
            raise ContractError(
                f"check_recommender: got {recommender!r:.80}, expected what makes a new "
                "recommender: its class, a System, or a function without arguments, as "
                "lambda: Mine(damping=50)"
            )
        self.label = getattr(recommender, "name", None) or getattr(recommender, "__name__", "")
        made = None
        with self.step("making it without arguments"):
            made = self.make()
            if self.label in ("", "<lambda>"):
                self.label = type(made).__name__
        lacks = [verb for verb in ("fit", "score") if not callable(getattr(made, verb, None))]
        if made is not None and lacks:
            self.found.update((f"it has no method {verb}", None) for verb in lacks)
        if self.found:
            self.report()
        if isinstance(recommender, type):
            for name in argument_names(recommender):
                self.promise(hasattr(made, name), f"its argument {name!r} is kept in no attribute")

    def add(self, broken: str) -> None:
        """Note a broken promise, once."""
        self.found[broken] = None

    def promise(self, kept: Any, broken: str) -> None:
        """Note a promise unless it is kept."""
        if not bool(kept):
            self.add(broken)

    @contextmanager
    def step(self, what: str) -> Iterator[None]:
        """Note what is raised as a promise that was broken by it."""
        try:
            yield
        except (Exception, SystemExit) as error:
            about = str(error).partition("\n")[0]
            self.add(f"{what} raised {type(error).__name__}{about and ': '}{about}")

    def fitted(self, train: Ratings, seed: int, model: Any = None) -> Any:
        """Fit a new recommender, or the one given; None if that fails."""
        with self.step("fit(train, rng=...)"):
            model = self.make() if model is None else model
            returned = model.fit(train, rng=np.random.default_rng(seed))
            if returned is not model:
                self.add(f"fit is not self: it returned {_named(returned)}")
            return model
        return None

    def scored(
        self, model: Any, train: Ratings, users: npt.NDArray[Any], what: str = "score(users)"
    ) -> npt.NDArray[np.float32] | None:
        """Score some users; None if the result is no block of their scores."""
        if model is None:
            return None
        with self.step(what):
            copy_of_users = users.copy()
            scores = model.score(copy_of_users)
            self.promise(
                np.array_equal(copy_of_users, users), "score changed the numbers of users it got"
            )
            if not isinstance(scores, np.ndarray):
                self.add(f"scores are {_named(scores)}, not an array")
                return None
            if scores.dtype != np.float32:
                self.add(f"scores are {scores.dtype}, expected float32")
            expected = (len(users), train.n_items)
            if scores.shape != expected:
                self.add(f"scores have shape {scores.shape}, expected {expected}")
                return None
            # As it is where that is right: whether it is the recommender's own block is asked later
            return scores.astype(np.float32, copy=False)
        return None

    def report(self) -> None:
        """Raise the error that names all broken promises, if there are some."""
        if len(self.found) == 1:
            raise ContractError(f"{self.label}: {next(iter(self.found))}")
        if self.found:
            lines = "".join(f"\n- {promise}" for promise in self.found)
            raise ContractError(f"{self.label}: breaks {len(self.found)} promises{lines}")


def _named(value: Any) -> str:
    return "None" if value is None else f"a {type(value).__name__}"


def _check_blocks(
    broken: _Broken, model: Any, train: Ratings, scores: npt.NDArray[np.float32]
) -> None:
    """Ask for the same scores in other blocks, from a model that was fitted before."""
    users, first_scores = np.arange(train.n_users), scores.copy()

    def same(users_asked: npt.NDArray[Any], tolerance: float, otherwise: str) -> None:
        again = broken.scored(model, train, users_asked)
        if again is not None:
            broken.promise(_same(again, first_scores[users_asked], tolerance), otherwise)

    with broken.step("writing into the block that score returned"):
        scores[:] = -1
    same(users, 0, "writing into a block changed later scores")
    with broken.step("score of no users"):
        shape = np.shape(model.score(users[:0]))
        broken.promise(shape == (0, train.n_items), "no users gave no empty block")
    single = [broken.scored(model, train, users[user : user + 1]) for user in users]
    rows = [row for row in single if row is not None]
    if len(rows) == len(single):
        equal = _same(np.concatenate(rows), first_scores, 1e-5)
        broken.promise(equal, "scores depend on the block in which they are asked for")
    same(users[::-3], 1e-5, "rows do not follow the order of users")
    again = broken.scored(broken.fitted(train, 1), train, users)
    if again is not None:
        broken.promise(_same(again, first_scores, 0), "equal seeds gave different scores")
    if broken.fitted(train, 1, model) is not None:
        same(users, 0, "fitting again gave different scores: state was left over")


def _check_numbering(
    broken: _Broken, train: Ratings, first_scores: npt.NDArray[np.float32], seed: int
) -> None:
    """Train under another seed, and on the same ratings under other numbers."""
    users = np.arange(train.n_users)
    model = broken.fitted(train, 2)
    other = broken.scored(model, train, users)
    same_for_all_seeds = other is not None and _same(other, first_scores, 0)
    broken.promise(
        same_for_all_seeds or other is None or not getattr(model, "deterministic", False),
        "it says that it is deterministic, but two seeds gave different scores",
    )
    if not same_for_all_seeds or getattr(model, "breaks_ties_by_number", False):
        return
    rng = np.random.default_rng(seed)
    number = rng.permutation(train.n_users)
    numbered = _renumber(train, number, np.arange(train.n_items))
    scores = broken.scored(broken.fitted(numbered, 1), numbered, number)
    if scores is not None:
        broken.promise(_same(scores, first_scores, 1e-4), "scores depend on how users are numbered")
    number = rng.permutation(train.n_items)
    numbered = _renumber(train, users, number)
    scores = broken.scored(broken.fitted(numbered, 1), numbered, users)
    if scores is not None:
        equal = _same(scores[:, number], first_scores, 1e-4)
        broken.promise(equal, "scores depend on how items are numbered")


def _check_objective(broken: _Broken, train: Ratings) -> None:
    """Watch an objective that theory has fall or rise."""
    model = broken.make()
    trend = getattr(model, "objective_trend", "noisy")
    if trend == "noisy":
        return
    objectives: list[float] = []
    with broken.step("fit(train, rng=..., on_iteration=...)"):
        model.fit(
            train,
            rng=np.random.default_rng(1),
            on_iteration=lambda _, objective: objectives.append(objective),
        )
        broken.promise(objectives, "an objective has a trend, but no iteration reported it")
    # Rounding: each of the sums behind an objective has fewer than 1e5 terms here.
    slack = 1e-10 * np.abs(objectives).max(initial=0.0)
    steps = np.diff(objectives) * (1 if trend == "rises" else -1)
    broken.promise((steps >= -slack).all(), f"the objective, which {trend}, went the other way")


def _check_edge(broken: _Broken, name: str, edge: Ratings) -> None:
    """Fit a table at the edge of what ratings can be: scores as promised, or an error that says."""
    with broken.step(f"with {name}, fit or score"):
        try:
            model = broken.make()
            model.fit(edge, rng=np.random.default_rng(1))
            scores = np.asarray(model.score(np.arange(edge.n_users)), dtype=np.float32)
        except (RecbiasError, ValueError):
            return
        if scores.shape != (edge.n_users, edge.n_items):
            broken.add(f"with {name}, scores have shape {scores.shape}")
            return
        broken.promise(not np.isinf(scores).any(), f"with {name}, a score is infinite")

        def promise_at_edge(kept: Any, said: str) -> None:
            known = said == _NO_SCORE or said in broken.found
            broken.promise(bool(kept) or known, f"with {name}: {said}")

        coverage = getattr(model, "coverage", "evidence")
        _check_coverage(scores, ratings_read(model, edge), coverage, promise_at_edge)


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
    if coverage not in computable:
        promise(False, f"coverage {coverage!r} is none of {', '.join(computable)}")
        return
    has_score = ~np.isnan(scores)
    extra = has_score & ~computable[coverage]
    promise(not extra.any(), f"coverage {coverage!r}, but a pair without training data has a score")
    missing = computable[coverage] & ~has_score
    promise(not missing.any(), f"coverage {coverage!r}, but a pair that it includes has no score")
    promise(has_score.any(), _NO_SCORE)
