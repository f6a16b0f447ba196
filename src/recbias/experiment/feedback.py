"""The feedback loop: recommendations become ratings, from which the next ones are learned.

A world knows what every user would rate every item, and starts with the ratings that it observed.
In each round a system is trained on all that was observed so far, lists the first items of every
user, and some of these are observed too. Everything that can be asked of such a course follows from
its lists and from which of their places were observed; the course is an artefact like a cell, named
by a digest of what decides it and kept beside the cells.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd
from threadpoolctl import threadpool_limits

from recbias._system.places import cells_dir
from recbias._system.streams import stream
from recbias.data.datasets import Dataset, load_dataset
from recbias.data.ratings import Ratings
from recbias.data.simulation import REVISION as WORLD_REVISION
from recbias.errors import ConfigError, unknown_name
from recbias.experiment.engine import Workers, at_most, open_executor, run_all
from recbias.experiment.grid import component_revisions
from recbias.experiment.store import digest, platform_record, read_arrays, write_arrays
from recbias.metrics.concentration import entropy, gini, hoover
from recbias.metrics.prior import concentration_index, jensen_shannon, long_tail_index
from recbias.metrics.reinforcement import reinforcement
from recbias.protocol.relevance import relevant
from recbias.protocol.splits import Split
from recbias.ranking import rank_once
from recbias.recommenders import System

__all__ = [
    "REVISION",
    "Choice",
    "Course",
    "Loop",
    "choice_chances",
    "follow",
    "measure_loops",
    "measure_rounds",
]

REVISION = 1
"""Raised when code changes which items are listed or observed, for the same seed."""

Choice = Literal["even", "attentive"]
"""Which of the recommended items are observed, see `choice_chances`."""


@dataclass(frozen=True)
class Loop:
    """One system in one world, whose recommendations are observed in one way.

    Parameters
    ----------
    world
        Name of a world, such as ``"world(users=500,items=800)"``, or of any data set whose truth is
        known.
    system
        What is trained in every round. It is trained once per round, whatever its `n_seeds`.
    choice
        ``"even"`` or ``"attentive"``.
    n_rounds
        How often recommendations become observations, at least 1; there are lists before the first
        of them and after each.
    cutoff
        Length of the lists, at least 1.
    share
        How likely an item of an average place is to be observed, from 0 to 1.
    seed
        Names training, ties and what is observed.

    Raises
    ------
    ConfigError
        If the choice is unknown, a number is out of its range, or the seed is no integer from 0.

    Examples
    --------
    >>> from recbias.recommenders import line_up
    >>> Loop("world(users=40)", line_up("atm15", min_rating=4)[1], "even").n_rounds
    8
    """

    world: str
    system: System
    choice: Choice
    n_rounds: int = 8
    cutoff: int = 10
    share: float = 0.3
    seed: int = 1

    def __post_init__(self) -> None:
        if self.choice not in get_args(Choice):
            raise unknown_name("choice model", self.choice, get_args(Choice))
        for name, least in (("n_rounds", 1), ("cutoff", 1), ("seed", 0)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise ConfigError(
                    f"feedback loop: {name} is {value!r}, expected an integer from {least}"
                )
        if not 0 <= self.share <= 1:
            raise ConfigError(
                f"feedback loop: share is {self.share!r}, expected a number from 0 to 1"
            )

    def key(self, dataset: Dataset) -> str:
        """Digest all that decides the course: the world, the system, what is observed, the code."""
        return digest(
            {
                "feedback": REVISION,
                "world": [dataset.ratings.content_hash, dataset.truth and dataset.truth.identity],
                "revisions": {
                    **component_revisions(sampled=False, reduced=False),
                    "world": WORLD_REVISION,
                },
                "system": self.system.identity(),
                "asked": [self.choice, self.n_rounds, self.cutoff, self.share, self.seed],
            }
        )


@dataclass(frozen=True, eq=False)
class Course:
    """What was listed in each round, and what of it was observed then.

    Attributes
    ----------
    lists : int32 array (n_rounds + 1, n_users, cutoff)
        Dense items, best first; -1 behind the end of a list with fewer computable items.
    observed : bool array (n_rounds, n_users, cutoff)
        Which places became ratings. The last lists are not acted on.
    """

    lists: npt.NDArray[np.int32]
    observed: npt.NDArray[np.bool_]


def choice_chances(
    choice: Choice, stars: npt.NDArray[np.floating[Any]], *, share: float, most: float
) -> npt.NDArray[np.float64]:
    r"""Tell how likely each place of a list is to be observed.

    *even*: :math:`p = share`, wherever an item stands and whatever the user thinks of it.
    *attentive*: users look at the first places more, and take what they will like:
    :math:`p_{uk} = \min\bigl(1,\ share \cdot \frac{w_k}{\bar w} \cdot \frac{r_{uk}}{r_{max}}\bigr)`
    with :math:`w_k = 1/\log_2(1 + k)` at place k, :math:`\bar w` their mean over the places, and
    :math:`r_{uk}` the true rating.

    Parameters
    ----------
    choice
        The model.
    stars : float array (n_users, cutoff)
        True ratings of the listed items.
    share
        How likely an item of an average place is, if it has the largest rating.
    most
        The largest rating of the scale.

    Returns
    -------
    float64 array (n_users, cutoff)
        From 0 to 1.

    References
    ----------
    The discount of the places is that of DCG: K. Järvelin and J. Kekäläinen, ACM TOIS 20(4), 2002.

    Examples
    --------
    >>> stars = np.array([[5.0, 5.0, 1.0]])
    >>> choice_chances("even", stars, share=0.3, most=5)
    array([[0.3, 0.3, 0.3]])
    >>> choice_chances("attentive", stars, share=0.3, most=5).round(3)
    array([[0.422, 0.266, 0.042]])
    """
    if choice == "even":
        return np.full(stars.shape, share, dtype=np.float64)
    weight = 1 / np.log2(np.arange(2, stars.shape[1] + 2))
    return np.minimum(1.0, share * (weight / weight.mean()) * (stars / most))


def follow(loop: Loop) -> Course:
    """Go through the rounds of a loop, or read the course that was kept.

    Training and ties of a round have streams of their own, and what is observed is drawn for each
    place of each user's list, the same for all systems and choices: two courses differ by what is
    listed, and by nothing else.

    Parameters
    ----------
    loop
        What is asked.

    Returns
    -------
    Course
        Kept in the folder of cells.

    Raises
    ------
    ConfigError
        If the truth of the data is not known.
    DamagedError
        If the kept course is damaged.
    """
    dataset = _world(loop.world)
    key = loop.key(dataset)
    path = cells_dir() / "courses" / key[:2] / f"{key[2:34]}.parquet"
    if not path.is_file():
        course = _go(loop, dataset)
        # Rows of artefacts have two axes at most: rounds and users are one.
        arrays = {name: values.reshape(-1, loop.cutoff) for name, values in vars(course).items()}
        write_arrays(path, arrays, key=key, provenance={**platform_record(), "loop": str(loop)})
    arrays, _ = read_arrays(path, key=key)
    n_users = dataset.ratings.n_users
    return Course(**{name: v.reshape(-1, n_users, loop.cutoff) for name, v in arrays.items()})


@lru_cache(maxsize=2)
def _world(name: str) -> Dataset:
    return load_dataset(name)


@lru_cache(maxsize=2)
def _stars(name: str) -> npt.NDArray[np.float32]:
    """Tell the true ratings of all pairs of a world: loops are followed in small ones.

    Raises
    ------
    ConfigError
        If the truth of the data is not known.
    """
    dataset = _world(name)
    if dataset.truth is None:
        raise ConfigError(f"the truth of {dataset.name} is not known; give the name of a world")
    return dataset.truth.true_rating(np.arange(dataset.ratings.n_users))


def _go(loop: Loop, dataset: Dataset) -> Course:
    stars, ratings = _stars(loop.world), dataset.ratings
    lists, observed = [], []
    for number in range(loop.n_rounds + 1):
        shown = _lists(loop, ratings, number)
        lists.append(shown)
        if number == loop.n_rounds:
            break
        true = np.take_along_axis(stars, np.maximum(shown, 0), axis=1).astype(np.float64)
        chances = choice_chances(
            loop.choice, true, share=loop.share, most=float(ratings.scale.maximum)
        )
        draws = stream(loop.seed, "feedback", number).random(shown.shape)
        taken = (shown >= 0) & (draws < chances)
        observed.append(taken)
        ratings = _joined(ratings, np.nonzero(taken)[0], shown[taken], true[taken])
    return Course(np.stack(lists), np.stack(observed))


def _lists(loop: Loop, ratings: Ratings, number: int) -> npt.NDArray[np.int32]:
    """Train on all that was observed, and list for each user what they have not rated."""
    nobody = np.zeros(0, dtype=np.int32)
    test = dataclasses.replace(ratings, user=nobody, item=nobody, value=np.zeros(0), timestamp=None)
    split = Split(ratings, test, nobody, 0, f"feedback {number}")
    # One BLAS thread: the bits of a product depend on their number.
    with threadpool_limits(1):
        rng = stream(loop.seed, "train", loop.system.stream_label(), number)
        model = loop.system.build().fit(ratings, rng=rng)
        seed = int(stream(loop.seed, "rank", number).integers(2**63))
        positions, _ = rank_once(model, split, depth=loop.cutoff, seed=seed)
    return positions.lists("AI", loop.cutoff)


def _joined(
    ratings: Ratings,
    user: npt.NDArray[np.integer[Any]],
    item: npt.NDArray[np.int32],
    value: npt.NDArray[np.float64],
) -> Ratings:
    """Add ratings of pairs that are new."""
    users = np.concatenate([ratings.user, user]).astype(np.int32)
    items = np.concatenate([ratings.item, item])
    order = np.lexsort((items, users))
    values = np.concatenate([ratings.value, value])[order]
    return dataclasses.replace(
        ratings, user=users[order], item=items[order], value=values, timestamp=None
    )


def measure_rounds(loop: Loop, *, min_rating: float, lam: float = 0.8) -> pd.DataFrame:
    r"""Measure the lists of every round of a loop, against what was observed before them.

    Parameters
    ----------
    loop
        It is followed, unless its course was kept.
    min_rating
        The smallest rating that says liking: positive ratings are the prior popularity s of an
        item.
    lam
        The lambda of LTI, above 0 and below 1.

    Returns
    -------
    DataFrame
        A row per ``round``, from 0, named by the index. ``CI``, ``CI_JS``, ``LTI``, ``M`` and
        ``LTI_percentile`` compare lists with the positive ratings observed before the round,
        ``CI_initial`` with those of the beginning. ``Gini``, ``Hoover``, ``Entropy`` and
        ``Diversity`` are of the lists alone. ``ARP`` is the mean number of ratings that a listed
        item had, ``P`` the share of all places with an item that its user truly likes, and
        ``Gini_ratings`` the Gini coefficient of the number of ratings of items before the round.
        NaN where a metric is undefined.

    Raises
    ------
    ConfigError
        As `follow`; if `lam` is not between 0 and 1.

    Examples
    --------
    >>> import tempfile
    >>> from recbias._system.places import cells_kept_in
    >>> from recbias.recommenders import line_up
    >>> popular = Loop("world(users=40,items=60)", line_up("atm15", min_rating=4)[1], "even",
    ...                n_rounds=2)
    >>> with tempfile.TemporaryDirectory() as folder, cells_kept_in(folder):
    ...     rounds = measure_rounds(popular, min_rating=4)
    >>> list(rounds.index), bool(rounds["ARP"].is_monotonic_increasing)
    ([0, 1, 2], True)
    """
    course, dataset = follow(loop), _world(loop.world)
    ratings, stars = dataset.ratings, _stars(loop.world)
    n_items = ratings.n_items
    positive = relevant(ratings.value, min_rating)
    initial = np.bincount(ratings.item[positive], minlength=n_items).astype(np.float64)
    prior, seen = initial.copy(), np.bincount(ratings.item, minlength=n_items).astype(np.float64)
    rows = []
    for number, shown in enumerate(course.lists):
        counts = np.bincount(shown[shown >= 0], minlength=n_items).astype(np.float64)
        liked = np.take_along_axis(stars, np.maximum(shown, 0), axis=1) >= min_rating
        one = counts[None, :]
        values = {
            "CI": concentration_index(prior, one),
            "CI_initial": concentration_index(initial, one),
            "CI_JS": jensen_shannon(prior, one),
            "LTI": long_tail_index(prior, one, lam),
            "LTI_percentile": long_tail_index(prior, one, lam, percentile=True),
            "M": reinforcement(prior, one),
            "Gini": gini(one),
            "Hoover": hoover(one),
            "Entropy": entropy(one),
        }
        total = counts.sum()
        rows.append(
            {
                **{name: float(value[0]) for name, value in values.items()},
                "Diversity": float(np.count_nonzero(counts)),
                "ARP": float(counts @ seen / total) if total else np.nan,
                "P": float((liked & (shown >= 0)).mean()),
                "Gini_ratings": float(gini(seen[None, :])[0]),
            }
        )
        if number < loop.n_rounds:
            taken = course.observed[number]
            seen += np.bincount(shown[taken], minlength=n_items)
            prior += np.bincount(shown[taken & liked], minlength=n_items)
    return pd.DataFrame(rows).rename_axis("round")


def measure_loops(
    loops: Sequence[Loop], *, min_rating: float, lam: float = 0.8, workers: Workers = 1
) -> list[pd.DataFrame]:
    """Measure the lists of every round of many loops.

    Parameters
    ----------
    loops
        Each is followed, unless its course was kept.
    min_rating, lam
        As of `measure_rounds`.
    workers
        Local processes, or a cluster. The results do not depend on it.

    Returns
    -------
    list of DataFrame
        As of `measure_rounds`, in the order of the loops.

    Raises
    ------
    ConfigError
        As `measure_rounds`.
    """
    work = partial(measure_rounds, min_rating=min_rating, lam=lam)
    with open_executor(at_most(workers, len(loops))) as executor:
        return run_all(work, loops, executor, label="loops")
