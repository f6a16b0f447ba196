r"""How far evaluation overrates Popularity, where it is known who likes what.

Under a design, Popularity scores so many times what a random ranking does: its *observed* factor.
By the true ratings of all pairs its lists hold so many times the liked items of random ones: its
*true* factor. The observed over the true one is how far the design overrates it. `relation_map`
looks at worlds in which popularity relates to liking in every way, from opposed to agreeing, and is
spread evenly or piled up. `points` places data sets among them for which an unbiased sample of
ratings, or the truth, is at hand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import pandas as pd

from recbias._system.streams import stream
from recbias.book.chapters.popularity_bias.setup import CHAPTER
from recbias.claims.quantities import over_worlds
from recbias.data.datasets.describe import gini
from recbias.data.ratings import Ratings, exact
from recbias.errors import ConfigError
from recbias.experiment.makers import Table, contents_of, maker
from recbias.experiment.worlds import Ranked, Seen, World, WorldGrid, each_world, run_worlds
from recbias.metrics import measure, parse_metric
from recbias.protocol.protocol import Protocol
from recbias.protocol.splits import Split
from recbias.recommenders import System

LIKING = "By true liking"
"""A ranking of items by the share of all users who like them, which only the truth can tell."""

METRICS: Mapping[str, tuple[str, ...]] = {
    "TI-AN-1R": ("P@10|t=100", "rho|t=100"),
    "TI-AN-AR": ("P@10", "rho"),
}
"""Precision, and what a random ranking is expected to have, under 1R and AR."""

_CUTOFF = 10
_OBSERVED = {"1R": METRICS["TI-AN-1R"], "AR": METRICS["TI-AN-AR"]}

RELATION_MAP: Mapping[str, Any] = {
    "relations": (-1.0, -0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0),
    "skews": (0.2, 0.35, 0.5, 0.65, 0.8),
    "n_worlds": 4,
    "min_rating": 4,
    "split": "ratio 0.2",
}
"""What the chapter asks of `relation_map`, whatever the data of its page."""

AT_SKEW = 0.65
"""The skew of the map that is nearest to that of MovieLens."""

POINTS: Mapping[str, Any] = {
    "liked": {"cm100k": 3, "coat": 4, "synthetic": 4},
    "split": "ratio 0.2",
    "seed": 1,
    "n_resamples": 500,
}
"""What the chapter asks of `points`: data sets, with the smallest rating that says liking."""

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class _ByLiking:
    """Scores items alike for all users, whatever it is fitted on."""

    liking: FloatArray

    def fit(self, train: Ratings, *, rng: np.random.Generator | None = None) -> Self:
        return self

    def score(self, users: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.float32]:
        return np.tile(self.liking.astype(np.float32), (len(users), 1))


def _popularity() -> System:
    return System("Popularity", "Popularity", {})


@maker(
    CHAPTER,
    Table,
    parts=("splits", "ranking", "world", "aggregation"),
    metrics=[text for texts in METRICS.values() for text in texts],
    uses={"system": _popularity},
)
def relation_map(
    *,
    relations: Sequence[float],
    skews: Sequence[float],
    n_worlds: int,
    min_rating: float,
    split: str,
    workers: int = 1,
) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Measure Popularity as designs see it, and as the truth has it, over kinds of worlds.

    Parameters
    ----------
    relations, skews
        Of :class:`recbias.data.simulation.PreferenceOptions`; worlds are of the size of MovieLens
        100K.
    n_worlds
        How many independent worlds of each kind: those of seeds 1, 2, ...
    min_rating
        Smallest rating that says liking.
    split
        Text of the split rule; of several folds the first is used.
    workers
        Processes; the results do not depend on them.

    Returns
    -------
    index : tuple of str
        ``relation``, ``skew``, ``number`` and ``system``: Popularity, and :data:`LIKING`.
    frame : DataFrame
        A column for each metric of :data:`METRICS`; ``true``, the share of the listed items that
        their users like; and ``chance``, that of random lists.
    """
    worlds = [
        World(
            f"world(relation={relation:g},skew={skew:g},liked={exact(min_rating)},seed={number})",
            number,
            {"relation": float(relation), "skew": float(skew), "number": number},
        )
        for relation in relations
        for skew in skews
        for number in range(1, n_worlds + 1)
    ]
    (rows,) = run_worlds(map_grid(worlds, min_rating, split), workers=workers)
    return ("relation", "skew", "number", "system"), rows


def map_grid(worlds: Sequence[World], min_rating: float, split: str) -> WorldGrid:
    """Ask what designs see of Popularity, and what the truth has."""
    liked = f"rel>={exact(min_rating)}"
    return WorldGrid(
        worlds,
        [_popularity(), (LIKING, partial(_by_liking, min_rating=min_rating))],
        {**{rule: f"{rule} {liked}" for rule in METRICS}, "true": f"AI-AN-AR {liked}"},
        {
            **{text: (rule, text) for rule, texts in METRICS.items() for text in texts},
            "true": ("true", f"P@{_CUTOFF}"),
            "chance": ("true", "rho"),
        },
        split=split,
        tests={"true": "truth"},
    )


def _by_liking(seen: Seen, fold: Split, *, min_rating: float) -> _ByLiking:
    return _ByLiking(seen.liked(min_rating).mean(axis=0))


def overrated(rows: pd.DataFrame, design: str = "1R") -> pd.DataFrame:
    """Compute how far a design overrates what was measured, row by row.

    Examples
    --------
    >>> row = {"P@10|t=100": 0.05, "rho|t=100": 0.01, "true": 0.4, "chance": 0.2}
    >>> overrated(pd.DataFrame([row])).round(3).iloc[0].to_dict()
    {'observed': 5.0, 'true': 2.0, 'overrated': 2.5}
    """
    precision, random = _OBSERVED[design]
    observed, true = rows[precision] / rows[random], rows["true"] / rows["chance"]
    return pd.DataFrame({"observed": observed, "true": true, "overrated": observed / true})


def mapped(table: Table, design: str = "1R") -> pd.DataFrame:
    """Lay out the map: how far a design overrates Popularity in each kind of world."""
    frame = table.frame.join(overrated(table.frame, design).add_prefix("factor_"))
    precision, _ = _OBSERVED[design]
    rows = []
    for (relation, skew), worlds in frame.groupby(["relation", "skew"], sort=True):
        popular, liking = (
            worlds[worlds["system"] == system].set_index("number")
            for system in ("Popularity", LIKING)
        )
        overrating = over_worlds(popular["factor_overrated"])
        above = popular[precision] > liking[precision]
        turned = (above & (popular["true"] < liking["true"])).mean()
        factors = (popular["factor_observed"].mean(), popular["factor_true"].mean())
        rows.append((relation, skew, *factors, overrating.value, *overrating.interval, turned))
    columns = ["relation", "skew", "observed", "true", "overrated", "low", "high", "reversed"]
    return pd.DataFrame(rows, columns=columns).astype(float)


def map_view(table: Table) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Lay out the map under each design."""
    ends = {"low": "overrated_low", "high": "overrated_high"}
    frames = [mapped(table, design).assign(design=design) for design in _OBSERVED]
    return ("design", "relation", "skew"), pd.concat(frames).rename(columns=ends)


# -- data sets on the map --------------------------------------------------------------------------


@maker(
    CHAPTER,
    Table,
    parts=("splits", "ranking", "world", "aggregation"),
    metrics=[text for texts in METRICS.values() for text in texts],
    uses={"system": _popularity, "contents": lambda liked: contents_of(liked)},
)
def points(
    *, liked: Mapping[str, float], split: str, seed: int, n_resamples: int
) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Place data sets on the map for which more is known than what users chose to rate.

    About several data sets, the result belongs to none of them, and is kept with simulations.
    Popularity learns from observed ratings. True liking is that of all pairs in a world; else that
    of the unbiased sample, whose pairs stand for all that are not in training.

    Parameters
    ----------
    liked
        Smallest rating that says liking, by name of a data set.
    split
        Text of the split rule of the observed ratings; of several folds the first is used.
    seed
        Names split, ties and resamples.
    n_resamples
        Bootstrap samples of the users.

    Returns
    -------
    index : tuple of str
        ``dataset`` and ``quantity``: ``skew`` (Gini coefficient of the items' observed ratings),
        ``relation`` (Spearman's correlation over items of these and of the share who like them,
        over the root of that share's reliability, which is 1 for a world), ``observed`` under 1R,
        ``true`` and ``overrated`` as of `overrated`.
    frame : DataFrame
        ``value``, with its 95 % interval over users, ``low`` to ``high``.

    Raises
    ------
    MissingData
        If a data set is neither at hand nor made here.
    ConfigError
        If one has neither truth nor an unbiased part.
    """
    worlds = [
        World(name, seed, {"dataset": name, "min_rating": least}) for name, least in liked.items()
    ]
    places = each_world(partial(_place, split=split, n_resamples=n_resamples), worlds)
    columns = ["dataset", "quantity", "value", "low", "high"]
    rows = [row for of_dataset in places for row in of_dataset]
    return ("dataset", "quantity"), pd.DataFrame(rows, columns=columns)


def _place(seen: Seen, *, split: str, n_resamples: int) -> list[tuple[Any, ...]]:
    """Measure one data set, on all of its users and on resampled ones."""
    name = seen.labels["dataset"]
    known = _Known.of(seen.ranked(_popularity(), seen.fold(split), depth=_CUTOFF))
    rng, n_users = stream(seen.seed, "points", name), len(known.judged)
    drawn = rng.multinomial(n_users, np.full(n_users, 1 / n_users), size=n_resamples)
    resampled = known.quantities(drawn.astype(np.float64))
    rows = []
    for quantity, (value,) in known.quantities(np.ones((1, n_users))).items():
        low, high = np.percentile(resampled[quantity], [2.5, 97.5])
        rows.append((name, quantity, float(value), float(low), float(high)))
    return rows


class _Known(NamedTuple):
    """What is known of a data set, by user, so that users can be weighted.

    `judged` and `liked` say which pairs the truth or the unbiased sample knows, and which of these
    are liked, as 0 or 1. The others are sums for each user: of the `pairs` that Popularity lists,
    those that are known and those that are liked, and the same of all that are not in training; of
    what `runs` are expected to give Popularity, and a random ranking.
    """

    counts: npt.NDArray[np.int64]
    judged: FloatArray
    liked: FloatArray
    pairs: list[FloatArray]
    runs: tuple[FloatArray, FloatArray]
    is_whole: bool

    @classmethod
    def of(cls, ranked: Ranked) -> _Known:
        seen, fold, min_rating = ranked.seen, ranked.fold, ranked.seen.labels["min_rating"]
        dataset, ratings = seen.dataset, seen.ratings
        judged, liked = (np.zeros((ratings.n_users, ratings.n_items)) for _ in range(2))
        if dataset.truth is not None:
            judged[:], liked[:] = 1, seen.liked(min_rating)
        elif dataset.unbiased is not None:
            part = dataset.unbiased
            judged[part.user, part.item] = 1
            liked[part.user, part.item] = part.value >= min_rating
        else:
            raise ConfigError(f"{dataset.name} has neither truth nor an unbiased part")
        listed, others = np.zeros_like(judged), np.ones_like(judged)
        others[fold.train.user, fold.train.item] = 0
        lists = ranked.positions.lists("AI", _CUTOFF)
        users, places = np.nonzero(lists >= 0)
        listed[users, lists[users, places]] = 1
        sums = [
            (chosen * known).sum(axis=1) for chosen in (listed, others) for known in (judged, liked)
        ]
        whole = dataset.truth is not None
        runs = _of_users(ranked, min_rating)
        return cls(ratings.item_counts(), judged, liked, sums, runs, whole)

    def quantities(self, weights: FloatArray) -> dict[str, FloatArray]:
        """Compute all quantities for weightings of the users, float64 (n, n_users)."""
        n = len(weights)
        listed, listed_liked, others, others_liked = (weights @ sums for sums in self.pairs)
        true = (listed_liked / listed) / (others_liked / others)
        hits, chances = (weights @ sums for sums in self.runs)
        observed = hits / chances
        return {
            "skew": np.full(n, gini(self.counts)),
            "relation": self._relation(weights),
            "observed": observed,
            "true": true,
            "overrated": observed / true,
        }

    def _relation(self, weights: FloatArray) -> FloatArray:
        if self.is_whole:  # the world's own, whoever is drawn from its users
            (liking,) = self._liking(np.ones((1, len(self.judged))))
            return np.full(len(weights), _spearman(self.counts, liking))
        # Users in two halves: how far the shares of one half agree with those of the other.
        odd = np.arange(len(self.judged)) % 2
        every = (self._liking(weights * part) for part in (np.ones_like(odd), odd, 1 - odd))
        correlations = []
        for liking, one, other in zip(*every, strict=True):
            agreement = _spearman(one, other)
            reliability = max(2 * agreement / (1 + agreement), np.finfo(float).tiny)
            correlations.append(_spearman(self.counts, liking) / np.sqrt(reliability))
        return np.array(correlations)

    def _liking(self, weights: FloatArray) -> FloatArray:
        """Compute the share who like each item; NaN where nobody was asked."""
        n_judged = weights @ self.judged
        return np.divide(
            weights @ self.liked, n_judged, out=np.full_like(n_judged, np.nan), where=n_judged > 0
        )


def _of_users(ranked: Ranked, min_rating: float) -> tuple[FloatArray, FloatArray]:
    """Sum over the runs of each user what Popularity and a random ranking are expected to score."""
    protocol = Protocol.parse(f"TI-AN-1R rel>={exact(min_rating)}")
    table = ranked.positions.table(protocol.rule, min_rating=min_rating)
    metrics = [parse_metric(text) for text in METRICS["TI-AN-1R"]]
    values = measure(table, metrics, min_rating=min_rating)
    hits, chances = (np.bincount(table.user, scores, minlength=table.n_users) for scores in values)
    return hits.astype(np.float64), chances.astype(np.float64)


def _spearman(first: npt.ArrayLike, second: npt.ArrayLike) -> float:
    """Correlate ranks where both are known."""
    both = pd.DataFrame({"a": np.asarray(first), "b": np.asarray(second)}).dropna().rank()
    return float(both["a"].corr(both["b"]))
