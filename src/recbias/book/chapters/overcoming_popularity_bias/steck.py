r"""Whether weights undo which liked items are rated, where it is known how likely that is.

Steck (2011) weighs relevant test items so that what is observed of them says how many of *all*
relevant items a list holds. With :math:`p_i` the probability that a user who likes item i rates it,
and a share :math:`\sigma` of the ratings in test, the right weight is
:math:`(1-(1-\sigma)p_i)/p_i`, and the sums are over all users. What BCC17 prints has
:math:`|PR(i)|^{-\gamma/(\gamma+1)}` in its place, and a mean over users. In a world both can be
compared with recall among all liked items outside training.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from recbias._system.streams import stream
from recbias.book.chapters.overcoming_popularity_bias.setup import CHAPTER, GAMMAS
from recbias.data.datasets import Dataset, load_dataset
from recbias.data.ratings import exact
from recbias.data.simulation import PreferenceOptions, PreferenceWorld
from recbias.experiment.makers import Table, maker
from recbias.experiment.worlds import Ranked, World, WorldGrid, run_worlds
from recbias.metrics import parse_metric
from recbias.metrics.incomplete import observation_weights, stratified_sums
from recbias.protocol.splits import SplitRule
from recbias.protocol.targets import TargetRule
from recbias.trust import compared_systems

STECK: Mapping[str, Any] = {
    "relations": (-1.0, -0.6, -0.3, 0.0, 0.3, 0.6, 1.0),
    "skew": 0.5,
    "n_worlds": 6,
    "size": (500, 1200),
    "min_rating": 4,
    "test_share": 0.2,
}
"""What the chapter asks of `steck`, whatever the data of its page."""

INDEX = ("relation", "number", "system")

_CUTOFF = 10
_RULE = "AI-AN-AR"

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]


def observed_by_item(name: str, min_rating: float, *, seed: int) -> Dataset:
    """Draw ratings of a world anew, so that all users who like an item are as likely to rate it.

    Examples
    --------
    >>> seen = observed_by_item("world(users=40,items=60,density=0.1,seed=3)", 4, seed=1)
    >>> liked = seen.truth.true_rating(np.arange(40)) >= 4
    >>> expected = np.nansum(chances_of(seen.truth, liked) * liked.sum(axis=0))
    >>> chances = seen.truth.propensity(np.arange(40)).astype(float)
    >>> bool(np.isclose(expected, chances[liked].sum()))
    True
    """
    world = load_dataset(name)
    assert isinstance(world.truth, PreferenceWorld)
    stars = world.truth.true_rating(np.arange(world.ratings.n_users))
    liked = stars >= min_rating
    of_liked, of_others = (chances_of(world.truth, rows) for rows in (liked, ~liked))
    drawn = stream(seed, "observed by item").random(liked.shape)
    user, item = np.nonzero(drawn < np.where(liked, of_liked, of_others))
    ratings = dataclasses.replace(
        world.ratings,
        user=user.astype(np.int32),
        item=item.astype(np.int32),
        value=stars[user, item].astype(np.float64),
        timestamp=None,
    )
    return dataclasses.replace(world, ratings=ratings)


def chances_of(world: PreferenceWorld, rows: BoolArray) -> FloatArray:
    """Tell how likely each item is to be rated in a world, averaged over some users by item.

    NaN where there is none. Of those who like it, it is how likely they are to rate it here.
    """
    chances = world.propensity(np.arange(len(rows))).astype(np.float64)
    total, number = np.where(rows, chances, 0).sum(axis=0), rows.sum(axis=0)
    return np.divide(total, number, out=np.full(len(number), np.nan), where=number > 0)


@maker(
    CHAPTER,
    Table,
    parts=("splits", "ranking", "world"),
    systems=compared_systems,
    uses={"metric": parse_metric(f"SR(gamma=1)@{_CUTOFF}")},
)
def steck(
    *,
    relations: Sequence[float],
    skew: float,
    n_worlds: int,
    size: Sequence[int],
    min_rating: float,
    test_share: float,
    workers: int = 1,
) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Compare recall among all liked items with what weights make of the observed ones.

    Parameters
    ----------
    relations, skew
        Of :class:`recbias.data.simulation.PreferenceOptions`.
    n_worlds
        How many independent worlds of each relation: those of seeds 1, 2, ...
    size
        Numbers of users and items.
    min_rating
        Smallest rating that says liking.
    test_share
        How likely a rating is to be in test.
    workers
        Processes; the results do not depend on them.

    Returns
    -------
    index : tuple of str
        ``relation``, ``number`` of the world and ``system``, one of
        :func:`recbias.trust.compared_systems`, trained on the observed ratings.
    frame : DataFrame
        ``recall`` at 10 among all liked items outside training, over the pairs of all users;
        ``weighted``, the same by Steck's weights from the test ratings, and its standard error
        ``se`` given the training ratings; ``mean recall``, a mean over users; ``gamma 0`` and so on
        to ``gamma inf``, stratified recall as BCC17 prints it; and ``exponent``, of the number of
        observed positives in the law that fits the chances of the world best.
    """
    worlds = []
    for relation, number in product(map(float, relations), range(1, n_worlds + 1)):
        options = PreferenceOptions(
            relation=relation, skew=skew, seed=number, users=size[0], items=size[1],
            liked=int(min_rating),
        )  # fmt: skip
        source = partial(observed_by_item, str(options), min_rating, seed=number)
        worlds.append(World(source, number, {"relation": relation, "number": number}))
    printed = {f"gamma {gamma:g}": f"SR(gamma={gamma:g})@{_CUTOFF}" for gamma in GAMMAS}
    grid = WorldGrid(
        worlds,
        compared_systems(min_rating),
        {_RULE: f"{_RULE} rel>={exact(min_rating)} users=relevant"},
        {name: (_RULE, metric) for name, metric in printed.items()},
        split=str(SplitRule("ratio", test_share)),
        own=partial(_recalls, min_rating=min_rating, test_share=test_share),
        depth=_CUTOFF,
    )
    (rows,) = run_worlds(grid, workers=workers)
    return INDEX, rows[[*INDEX, "recall", "weighted", "se", "mean recall", *printed, "exponent"]]


def _recalls(ranked: Ranked, *, min_rating: float, test_share: float) -> dict[str, float]:
    """Measure recall among all liked items, and what the right weights make of the observed."""
    fold, truth = ranked.fold, ranked.seen.dataset.truth
    assert isinstance(truth, PreferenceWorld)
    liked = ranked.seen.liked(min_rating)
    chances = chances_of(truth, liked)
    wanted = liked.copy()
    wanted[fold.train.user, fold.train.item] = False
    right = observation_weights(np.nan_to_num(chances, nan=1.0), test_share)
    table = ranked.positions.table(TargetRule.parse(_RULE))
    hits, total = stratified_sums(table, right, _CUTOFF, min_rating=min_rating).sum(axis=1)
    listed = _listed(ranked)
    of_user, found = wanted.sum(axis=1), (wanted & listed).sum(axis=1)
    return {
        "recall": float(found.sum() / of_user.sum()),
        "weighted": float(hits / total),
        "se": _standard_error(wanted, listed, right, test_share),
        "mean recall": float((found[of_user > 0] / of_user[of_user > 0]).mean()),
        "exponent": _exponent(liked, chances),
    }


def _listed(ranked: Ranked) -> BoolArray:
    """Mark the pairs of a user and an item of their list."""
    lists = ranked.positions.lists("AI", _CUTOFF)
    listed = np.zeros((ranked.seen.ratings.n_users, ranked.seen.ratings.n_items), dtype=bool)
    users, places = np.nonzero(lists >= 0)
    listed[users, lists[users, places]] = True
    return listed


def _standard_error(
    wanted: BoolArray, listed: BoolArray, weights: FloatArray, test_share: float
) -> float:
    """Compute that of weighted recall given training: each wanted pair is in test or is not."""
    chances = test_share / weights  # how likely a liked pair outside training is to be in test
    recall = (wanted & listed).sum() / wanted.sum()
    away = np.where(wanted, listed - recall, 0.0)
    variance = (away**2 * (chances * (1 - chances) * weights**2)).sum()
    return float(np.sqrt(variance) / (test_share * wanted.sum()))


def _exponent(liked: BoolArray, chances: FloatArray) -> float:
    """Fit the chance that a liking user rates an item as a power of its expected positives."""
    number = liked.sum(axis=0)
    some = number > 0
    expected = chances[some] * number[some]
    slope, _ = np.polyfit(np.log(expected), np.log(chances[some]), 1, w=np.sqrt(expected))
    return float(slope)
