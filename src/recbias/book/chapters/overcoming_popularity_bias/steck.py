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
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from recbias._system.streams import stream
from recbias.book.chapters.overcoming_popularity_bias.best_gamma import relation_name
from recbias.book.chapters.overcoming_popularity_bias.setup import CHAPTER, GAMMAS
from recbias.claims.quantities import over_worlds
from recbias.data.datasets import load_dataset
from recbias.data.ratings import Ratings
from recbias.data.simulation import REVISION, PreferenceOptions, PreferenceWorld
from recbias.experiment.engine import open_executor, run_all
from recbias.experiment.grid import component_revisions
from recbias.experiment.makers import Table, maker
from recbias.metrics import parse_metric
from recbias.metrics.incomplete import observation_weights, stratified_sums, stratified_weights
from recbias.protocol.splits import SplitRule
from recbias.protocol.targets import TargetRule
from recbias.ranking import Positions, rank_once
from recbias.theory import relevant_counts
from recbias.trust import compared_systems

STECK: Mapping[str, Any] = {
    "relations": (-1.0, -0.6, -0.3, 0.0, 0.3, 0.6, 1.0),
    "skew": 0.5,
    "n_worlds": 6,
    "size": (500, 1200),
    "min_rating": 4,
    "test_share": 0.2,
    "workers": 2,
}
"""What the chapter asks of `steck`, whatever the data of its page."""

INDEX = ("relation", "number", "system")

_CUTOFF = 10
_RULE = "AI-AN-AR"

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]


def _revisions(parameters: Mapping[str, Any], hashes: Mapping[str, str]) -> dict[str, Any]:
    """Name the revisions of worlds, splits, systems, ranks and the metric."""
    return {
        **component_revisions(sampled=False, reduced=False),
        "world": REVISION,
        "metric": parse_metric(f"SR(gamma=1)@{_CUTOFF}").identity(),
        "systems": [
            {"name": system.name, **system.identity()}
            for system in compared_systems(parameters["min_rating"])
        ],
    }


class Observed(NamedTuple):
    """What was observed in a world in which an item is rated by chances of its own alone.

    Attributes
    ----------
    ratings
        The ratings that were drawn.
    liked : ndarray of bool, shape (n_users, n_items)
        Who likes what, rated or not.
    chances : ndarray of float64, shape (n_items,)
        How likely a user who likes the item is to rate it; NaN where nobody likes it.
    """

    ratings: Ratings
    liked: BoolArray
    chances: FloatArray


def observed_by_item(world: PreferenceWorld, min_rating: float, *, seed: int) -> Observed:
    """Draw ratings anew, so that all users who like an item are as likely to rate it.

    Examples
    --------
    >>> from recbias.data.simulation import make_world
    >>> world = make_world(n_users=40, n_items=60, n_ratings=200, seed=3)
    >>> seen = observed_by_item(world, 4, seed=1)
    >>> expected = np.nansum(seen.chances * seen.liked.sum(axis=0))
    >>> chances = world.propensity(np.arange(40)).astype(float)
    >>> bool(np.isclose(expected, chances[seen.liked].sum()))
    True
    """
    users = np.arange(world.ratings.n_users)
    stars, chances = world.true_rating(users), world.propensity(users).astype(np.float64)
    liked = stars >= min_rating
    of_liked, of_others = (_mean_where(chances, rows) for rows in (liked, ~liked))
    drawn = stream(seed, "observed by item").random(liked.shape)
    user, item = np.nonzero(drawn < np.where(liked, of_liked, of_others))
    ratings = dataclasses.replace(
        world.ratings,
        user=user.astype(np.int32),
        item=item.astype(np.int32),
        value=stars[user, item].astype(np.float64),
        timestamp=None,
    )
    return Observed(ratings, liked, of_liked)


def _mean_where(values: FloatArray, rows: BoolArray) -> FloatArray:
    """Average each column over the rows that count; NaN where none does."""
    number = rows.sum(axis=0)
    total = np.where(rows, values, 0).sum(axis=0)
    return np.divide(total, number, out=np.full(len(number), np.nan), where=number > 0)


@maker(f"{CHAPTER}/steck", Table, uses=_revisions, covers=("workers",))
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
    tasks = [(float(relation), n + 1) for relation in relations for n in range(n_worlds)]
    work = partial(
        _in_world, skew=skew, size=(size[0], size[1]), min_rating=min_rating, test_share=test_share
    )
    with open_executor(workers) as executor:
        by_world = run_all(work, tasks, executor, label="worlds")
    return INDEX, pd.DataFrame([row for rows in by_world for row in rows])


def _in_world(
    task: tuple[float, int],
    *,
    skew: float,
    size: tuple[int, int],
    min_rating: float,
    test_share: float,
) -> list[dict[str, Any]]:
    relation, number = task
    options = PreferenceOptions(
        relation=relation, skew=skew, seed=number, users=size[0], items=size[1],
        liked=int(min_rating),
    )  # fmt: skip
    world = load_dataset(str(options)).truth
    assert isinstance(world, PreferenceWorld)
    seen = observed_by_item(world, min_rating, seed=number)
    rule = SplitRule("ratio", test_share)
    (fold,) = rule.splits(seen.ratings, rng=stream(number, "split", str(rule)))
    is_open = np.ones_like(seen.liked)
    is_open[fold.train.user, fold.train.item] = False
    wanted = seen.liked & is_open
    counts = relevant_counts(fold, min_rating=min_rating)
    right = observation_weights(np.nan_to_num(seen.chances, nan=1.0), test_share)
    rows = []
    for system in compared_systems(min_rating):
        rng = stream(number, "train", system.stream_label(), 0)
        model = system.build().fit(fold.train, rng=rng)
        positions, _ = rank_once(model, fold, depth=_CUTOFF, seed=number)
        table = positions.table(TargetRule.parse(_RULE))
        listed = _listed(positions, wanted.shape)
        hits, total = stratified_sums(table, right, _CUTOFF, min_rating=min_rating).sum(axis=1)
        printed = {
            f"gamma {gamma:g}": _mean_ratio(
                *stratified_sums(
                    table,
                    stratified_weights(np.maximum(counts, 1), gamma),
                    _CUTOFF,
                    min_rating=min_rating,
                )
            )
            for gamma in GAMMAS
        }
        rows.append(
            {
                "relation": relation,
                "number": number,
                "system": system.name,
                "recall": float((wanted & listed).sum() / wanted.sum()),
                "weighted": float(hits / total),
                "se": _standard_error(wanted, listed, right, test_share),
                "mean recall": _mean_ratio((wanted & listed).sum(axis=1), wanted.sum(axis=1)),
                **printed,
                "exponent": _exponent(seen),
            }
        )
    return rows


def _listed(positions: Positions, shape: tuple[int, ...]) -> BoolArray:
    """Mark the pairs of a user and an item of their list."""
    lists = positions.lists("AI", _CUTOFF)
    listed = np.zeros(shape, dtype=bool)
    users, places = np.nonzero(lists >= 0)
    listed[users, lists[users, places]] = True
    return listed


def _mean_ratio(parts: npt.ArrayLike, wholes: npt.ArrayLike) -> float:
    """Average a ratio over the users who have one."""
    parts, wholes = (np.asarray(values, dtype=np.float64) for values in (parts, wholes))
    return float((parts[wholes > 0] / wholes[wholes > 0]).mean())


def _standard_error(
    wanted: BoolArray, listed: BoolArray, weights: FloatArray, test_share: float
) -> float:
    """Compute that of weighted recall given training: each wanted pair is in test or is not."""
    chances = test_share / weights  # how likely a liked pair outside training is to be in test
    recall = (wanted & listed).sum() / wanted.sum()
    away = np.where(wanted, listed - recall, 0.0)
    variance = (away**2 * (chances * (1 - chances) * weights**2)).sum()
    return float(np.sqrt(variance) / (test_share * wanted.sum()))


def _exponent(seen: Observed) -> float:
    """Fit the chance that a liking user rates an item as a power of its expected positives."""
    number = seen.liked.sum(axis=0)
    some = number > 0
    expected = seen.chances[some] * number[some]
    slope, _ = np.polyfit(np.log(expected), np.log(seen.chances[some]), 1, w=np.sqrt(expected))
    return float(slope)


# -- what follows ----------------------------------------------------------------------------------


def steck_errors(table: Table, *, by: Literal["relation", "system"] = "relation") -> pd.DataFrame:
    """Lay out how far the printed form is from true recall, over gamma."""
    frame, rows = table.frame, []
    for name in dict.fromkeys(frame[by]):
        line_rows = frame[frame[by] == name]
        line = relation_name(float(name)) if by == "relation" else str(name)
        for gamma in GAMMAS:
            error = line_rows[f"gamma {gamma:g}"] / line_rows["mean recall"] - 1
            mean = over_worlds(error.groupby(line_rows["number"]).mean())
            rows.append((line, gamma, mean.value, *mean.interval))
    return pd.DataFrame(rows, columns=["line", "gamma", "value", "low", "high"])
