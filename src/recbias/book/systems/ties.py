"""What the order of ties decides: this book's rule and LibRec's, in a world made for it.

LibRec scores 0 where a model has nothing to say, and lists equal scores in the order in which the
training file first names the items. Where nearly everybody has likes, hardly anybody can tell. In a
world where a third of the users liked nothing, and popular items are liked by fewer than others,
those users are recommended what others dislike, or nothing.
"""

from __future__ import annotations

from html import escape
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pandas as pd

from recbias._system.streams import stream
from recbias.book.html import interval_text, quantity_text, table_html
from recbias.book.systems.validation import MEASURES, listed_ratings
from recbias.data.datasets import Dataset, load_dataset
from recbias.data.simulation import PreferenceOptions, parse_world
from recbias.data.simulation.popularity import rank_correlation
from recbias.errors import ConfigError
from recbias.experiment.makers import Table, maker
from recbias.experiment.reduction import N_REPLICATES
from recbias.experiment.results import Quantity
from recbias.protocol.relevance import relevant
from recbias.protocol.splits import Split
from recbias.protocol.testset import dataset_splits
from recbias.ranking import top_items
from recbias.recommenders import System, line_up
from recbias.recommenders.line_ups import file_order, tie_rules
from recbias.stats.resampling import bootstrap_weights

WORLD = "world(relation=-0.6,users=2000,items=800,density=0.011,liked=5)"
"""A third of its users have no liked rating to train on, as ratings are few and only five stars
say liking; the more popular an item, the fewer of all users like it."""

READINGS = ("this book", "LibRec")
"""Whose tie rule holds; the second also gives a score to everything."""

EVERYBODY, WITHOUT = "all", "without likes"
"""Users with a test rating, and those of them without a liked training rating."""

SHARE, ORDER = "share of users", "file order and popularity"
"""Facts about the data: how many users are `WITHOUT` likes; and the rank correlation of the place
at which the file first names an item with the item's number of training ratings."""

PAGE, MADE = "page", "world"
"""Which data a row is about: those of the page, or the world."""

_SPLIT = "ratio 0.2"
_INDEX = ("data", "system", "reading", "users", "metric")

_Row = tuple[str, str, str, str, str, float, int]
FloatArray = npt.NDArray[np.float64]


def _readings(world: str) -> list[System]:
    return [system for pair in _pairs(_options(world).liked).values() for system in pair]


def _options(world: str) -> PreferenceOptions:
    options = parse_world(world)
    if not isinstance(options, PreferenceOptions):
        raise ConfigError(f"{world} has no preferences; name a world with a relation")
    return options


def _pairs(min_rating: float) -> dict[str, tuple[System, System]]:
    """Return the systems of the line-up that have two readings: with other ties, and as run."""
    by_name = {system.name: system for system in line_up("mccrs20", min_rating=min_rating)}
    return {
        change.base: (change.system, by_name[change.base])
        for change in tie_rules(min_rating=min_rating)
    }


@maker(
    "systems",
    Table,
    parts=("splits", "ranking", "world"),
    uses={"replicates": N_REPLICATES, "systems": _readings},
)
def ties(
    dataset: Dataset, *, split: str, seed: int, min_rating: float, world: str
) -> tuple[tuple[str, ...], pd.DataFrame, FloatArray]:
    """Measure systems with both tie rules in a world.

    Parameters
    ----------
    dataset
        Ratings of the page. Only the facts about its data depend on them.
    split, seed, min_rating
        Those of the page; the seed also names the split of the world, and trains.
    world
        Name of a world with preferences. What is liked in it is said by its option `liked`.

    Returns
    -------
    index : tuple of str
        ``data``, ``system``, ``reading``, ``users`` and ``metric``.
    frame : DataFrame
        The ``value`` of each, a mean over ``n_users`` users. Both readings of a system are of one
        training. Facts about the data have no system and no reading.
    replicates : ndarray of float64
        On resampled users of the world; facts about the data do not vary.

    Raises
    ------
    ConfigError
        If the world is none with preferences.
    """
    liked = _options(world).liked
    rows = _facts(PAGE, dataset_splits(dataset, split, seed=seed), min_rating)
    (fold,) = dataset_splits(load_dataset(world), _SPLIT, seed=seed)
    rows += _facts(MADE, [fold], liked)
    drawn = [np.full(N_REPLICATES, row[5]) for row in rows]
    weights = bootstrap_weights(
        fold.test.n_users, N_REPLICATES, rng=stream(seed, "bootstrap")
    ).astype(np.float64)
    tested = fold.test.user_counts() > 0
    populations = {EVERYBODY: tested, WITHOUT: tested & ~_likes_something(fold, liked)}
    for name, pair in _pairs(liked).items():
        for reading, system in zip(READINGS, pair, strict=True):
            model = system.build().fit(fold.train, rng=stream(seed, "ties", name))
            lists = top_items(model, fold, cutoff=10, candidates="AI", seed=seed)
            for metric, hits in zip(MEASURES, _hits(lists, fold, liked), strict=True):
                for users, chosen in populations.items():
                    n = int(np.count_nonzero(chosen))
                    value = float(hits[chosen].sum()) / (10 * n)
                    rows.append((MADE, name, reading, users, metric, value, n))
                    drawn.append(
                        weights[:, chosen] @ hits[chosen] / (10 * weights[:, chosen].sum(axis=1))
                    )
    return _INDEX, pd.DataFrame(rows, columns=[*_INDEX, "value", "n_users"]), np.array(drawn)


def _facts(data: str, folds: list[Split], min_rating: float) -> list[_Row]:
    """Describe data: users without likes, and the order of the file; means over folds."""
    shares, relations, n_tested = [], [], 0
    for fold in folds:
        tested = fold.test.user_counts() > 0
        n_tested += int(np.count_nonzero(tested))
        shares.append(float(np.mean(~_likes_something(fold, min_rating)[tested])))
        order = file_order(fold.train)
        relations.append(
            rank_correlation(np.arange(float(len(order))), fold.train.item_counts()[order])
        )
    return [
        (data, "", "", WITHOUT, SHARE, float(np.mean(shares)), n_tested),
        (data, "", "", EVERYBODY, ORDER, float(np.mean(relations)), n_tested),
    ]


def _likes_something(fold: Split, min_rating: float) -> npt.NDArray[np.bool_]:
    liked = relevant(fold.train.value, min_rating)
    return np.bincount(fold.train.user[liked], minlength=fold.train.n_users) > 0


def _hits(
    lists: npt.NDArray[np.int32], fold: Split, min_rating: float
) -> tuple[FloatArray, FloatArray]:
    """Count liked and other test ratings in each user's list."""
    test = fold.test
    listed, liked = listed_ratings(lists, test), relevant(test.value, min_rating)
    of_liked, of_others = (
        np.bincount(test.user[listed & side], minlength=test.n_users).astype(np.float64)
        for side in (liked, ~liked)
    )
    return of_liked, of_others


# -- the page ----------------------------------------------------------------------------------


def _fact(table: Table, data: str, metric: str) -> float:
    users = WITHOUT if metric == SHARE else EVERYBODY
    names = {"data": data, "system": "", "reading": "", "users": users, "metric": metric}
    return table[names].value


def _quantity(table: Table, system: str, reading: str, metric: str, users: str) -> Quantity:
    names = {"data": MADE, "system": system, "reading": reading}
    return table[{**names, "users": users, "metric": metric}]


def _systems(table: Table) -> list[str]:
    return [name for name in dict.fromkeys(table.frame["system"]) if name]


def _difference(table: Table, first: tuple[str, str], second: tuple[str, str]) -> Quantity:
    """Take the anti-precision of one system and reading from that of another."""
    one, other = (_quantity(table, *names, MEASURES[1], EVERYBODY) for names in (first, second))
    return other - one


def _sign(difference: Quantity) -> int:
    """Tell on which side of 0 the whole interval lies; 0 if on both."""
    low, high = difference.interval
    return int(low > 0) - int(high < 0)


def ties_sentence(table: Table) -> str:
    """Say what the tie rule decides in the world: which values, and whether an order."""
    metric, systems = MEASURES[1], _systems(table)
    relations, shares = (
        {data: _fact(table, data, fact) for data in (PAGE, MADE)} for fact in (ORDER, SHARE)
    )
    text = (
        f"On the data of this page {_percent(shares[PAGE])} of the tested users have no liked "
        "training rating, and the place at which a sorted file first names an item has a rank "
        f"correlation of {relations[PAGE]:.2f} with its popularity. In the world of this table "
        f"these are {_percent(shares[MADE])} of the users, and {relations[MADE]:.2f}."
    )
    moves = []
    for system in systems:
        names = [(system, reading) for reading in READINGS]
        difference = _difference(table, names[0], names[1])
        if _sign(difference):
            ours, theirs = (_quantity(table, *key, metric, EVERYBODY).value for key in names)
            moves.append(
                f"{system} from {ours:.4f} to {theirs:.4f} (by {interval_text(difference)})"
            )
    if not moves:
        return f"<p>{escape(text)} There the tie rule moves {metric} of no system.</p>"
    text += f" There LibRec's rule moves {metric} of {'; '.join(moves)}."
    turned = []
    for first, second in combinations(systems, 2):
        signs = [
            _sign(_difference(table, (first, reading), (second, reading))) for reading in READINGS
        ]
        if signs[0] != signs[1]:
            fewest = [(first, "undecided", second)[1 - sign] for sign in signs]
            turned.append(f"{first} and {second} ({fewest[0]}; with LibRec's rule {fewest[1]})")
    if turned:
        text += " It also decides which of two systems has fewer disliked items: "
        text += f"{'; '.join(turned)}."
    return f"<p>{escape(text)}</p>"


def _percent(share: float) -> str:
    return f"{100 * share:.1f}\N{NO-BREAK SPACE}%"


def ties_html(table: Table) -> str:
    """Write what each system scores with either tie rule."""
    rows = []
    for system in _systems(table):
        for reading in READINGS:
            cells = [
                _quantity(table, system, reading, metric, users)
                for metric, users in (
                    (MEASURES[0], EVERYBODY),
                    (MEASURES[1], EVERYBODY),
                    (MEASURES[1], WITHOUT),
                )
            ]
            rows.append(
                [
                    f"<strong>{escape(system)}</strong>" if reading == READINGS[0] else "",
                    reading,
                    *map(quantity_text, cells),
                ]
            )
    head = ("system", "ties as in", *MEASURES, f"{MEASURES[1]}, users without likes")
    return table_html(head, rows, style="labelled")
