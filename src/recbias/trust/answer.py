"""A question about ratings, the worlds that are matched to them, and the answer.

The reader's ratings bound the relation of popularity and liking (`recbias.trust.relation`). Worlds
are made that are like the data in size, density, skew and share of likes. Their relations are
spread evenly over what is compatible with the data, and in each those who like an item are so many
times as likely to rate it as those who do not, a factor up to a stated *strength*. In each world
ten systems are trained, and P@10 and antiP@10, as observed, are compared with the truth
(`recbias.trust.known_truth`). A metric is named if it was the better one in 95 % of these worlds.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self, get_args

import numpy as np

from recbias._system.streams import stream
from recbias.data.datasets.describe import gini
from recbias.data.ratings import Ratings
from recbias.data.simulation import STAR_SHARES, PreferenceOptions, preference_world
from recbias.errors import ConfigError, DataError
from recbias.protocol.relevance import relevant
from recbias.trust.known_truth import MARGIN, Better, Outcome, world_outcomes
from recbias.trust.relation import SPREAD, Relation, fit_relation

__all__ = [
    "FEWEST_WORLDS",
    "LEVEL",
    "STRENGTH",
    "Answer",
    "Shape",
    "answer_from",
    "choice_of",
    "which_metric",
]

LEVEL = 0.95
"""Share of the matched worlds in which a metric has to be the better one to be named."""

STRENGTH = 3.0
"""In matched worlds, who likes an item is at most so many times as likely to rate it as others."""

N_WORLDS = 100
"""Matched worlds, unless another number is asked for."""

FEWEST_WORLDS = 20
"""With fewer matched worlds there is no answer."""

_MOST_WORLDS = 10_000

_MOST_PAIRS = 943 * 1682
_MOST_DENSE = 0.1
_MOST_RELATED = 0.97
_LEAST_SKEW = 0.05
# The factor of typical items (the median over worlds of several relations, skews and densities) by
# the strength of choice that makes it; tests/trust/test_trust.py measures it again.
_FACTORS = {0.0: 1.0, 0.3: 1.35, 0.6: 1.9, 1.0: 2.8, 1.5: 4.3, 2.0: 5.9}


@dataclass(frozen=True)
class Shape:
    """What matched worlds have in common with the data: options of their names.

    Attributes
    ----------
    users, items
        Those of the data; of data with more pairs than MovieLens 100K both are divided by the same
        number.
    density
        At most 0.1, the most that worlds have.
    skew
        Gini coefficient of the items' expected numbers of ratings.
    liked
        The number of stars from which a world has the share of likes that is nearest to the data's.
    """

    users: int
    items: int
    density: float
    skew: float
    liked: int

    @classmethod
    def of(cls, ratings: Ratings, min_rating: float) -> Self:
        """Read the shape off ratings.

        Counts are noisy, and so more skewed than what is expected of them: a world of the observed
        skew tells by how much.
        """
        shrink = max(1.0, float(np.sqrt(ratings.n_users * ratings.n_items / _MOST_PAIRS)))
        share = float(relevant(ratings.value, min_rating).mean())
        shares = np.cumsum(STAR_SHARES[::-1])[-2::-1]  # of 2, 3, 4 and 5 stars or more
        observed = gini(ratings.item_counts())
        shape = cls(
            users=max(10, round(ratings.n_users / shrink)),
            items=max(10, round(ratings.n_items / shrink)),
            density=min(_MOST_DENSE, float(f"{ratings.density:.2g}")),
            skew=observed,
            liked=2 + int(np.argmin(np.abs(shares - share))),
        )
        noisy = gini(shape._world(0.0, 0.0, 1).ratings.item_counts())
        return dataclasses.replace(
            shape, skew=round(max(_LEAST_SKEW, min(observed, 2 * observed - noisy)), 2)
        )._possible()

    def _options(self, relation: float, choice: float, seed: int) -> PreferenceOptions:
        return PreferenceOptions(
            **dataclasses.asdict(self), relation=relation, choice=choice, seed=seed
        )

    def _world(self, relation: float, choice: float, seed: int) -> Any:
        possible = self._possible()
        return preference_world(possible._options(relation, choice, seed))

    def _possible(self) -> Self:
        """Lower the skew until a world can have it."""
        shape = self
        while True:
            try:
                preference_world(shape._options(0.0, 0.0, 1))
            except ConfigError:
                if shape.skew <= _LEAST_SKEW:
                    raise
                shape = dataclasses.replace(shape, skew=round(shape.skew - 0.02, 2))
            else:
                return shape

    def worlds(
        self,
        interval: tuple[float, float],
        n: int,
        *,
        strength: float = STRENGTH,
        seed: int = 1,
    ) -> list[str]:
        """Name worlds of this shape.

        Parameters
        ----------
        interval
            Over which their relations are spread evenly.
        n
            How many.
        strength
            Up to which factor those who like an item are likelier to rate it: drawn for each world.
        seed
            Names the draws; worlds of other seeds share nothing.

        Examples
        --------
        >>> Shape(users=300, items=400, density=0.04, skew=0.4, liked=4).worlds((0, 0.5), 1)
        ['world(relation=0.25,skew=0.4,users=300,items=400,density=0.04,choice=0.23,seed=1000)']
        """
        low, high = np.clip(interval, -_MOST_RELATED, _MOST_RELATED)
        relations = low + (high - low) * (np.arange(n) + 0.5) / n
        choices = stream(seed, "matched worlds").uniform(0, choice_of(strength), size=n)
        return [
            str(
                self._options(
                    round(float(relation), 3), round(float(choice), 2), 1000 * seed + number
                )
            )
            for number, (relation, choice) in enumerate(zip(relations, choices, strict=True))
        ]


@dataclass(frozen=True)
class Answer:
    """Which observed metric orders systems as the truth does, as far as the data can tell.

    It prints with its reasons: what was assumed, what is compatible with the data, how many matched
    worlds there were, and how often each metric was the better one in them.

    Attributes
    ----------
    about
        Name of the data set.
    relation
        What the ratings say about popularity and liking.
    strength
        Up to which factor those who like an item are likelier to rate it in the matched worlds.
    worlds
        What happened in each of them.
    """

    about: str
    relation: Relation
    strength: float
    worlds: tuple[Outcome, ...]

    @property
    def shares(self) -> Mapping[Better, float]:
        """Shares of the worlds in which P was better, antiP was, and neither by the margin."""
        winners = [world.better for world in self.worlds]
        return {better: winners.count(better) / len(winners) for better in get_args(Better)}

    @property
    def metric(self) -> Better | Literal["cannot tell"]:
        """The metric to trust: P, antiP or either; else that the data cannot tell."""
        best = max(self.shares, key=lambda better: self.shares[better])
        return best if self.shares[best] >= LEVEL else "cannot tell"

    def to_dict(self) -> dict[str, Any]:
        """Return answer and reasons as JSON-able values."""
        return {
            "about": self.about,
            "answer": self.metric,
            "shares": dict(self.shares),
            "relation": dataclasses.asdict(self.relation),
            "strength": self.strength,
            "worlds": [world.name for world in self.worlds],
        }

    def __str__(self) -> str:
        shares, relation = self.shares, self.relation
        taus = np.array([(world.tau_precision, world.tau_anti_precision) for world in self.worlds])
        rows = {
            "answer": _SAID[self.metric],
            "assumed": f"who likes an item is at most {self.strength:g} times as likely to rate it "
            f"as who does not, and items differ in that by a factor of at most {relation.spread:g}",
            "relation": f"of popularity and liking, from -1 to 1: {relation.estimate:+.2f} if "
            f"selection is the same for all items, {relation.interval[0]:+.2f} to "
            f"{relation.interval[1]:+.2f} under what was assumed",
            "worlds": f"{len(self.worlds)} like the data, with relations over that interval, such "
            f"as {self.worlds[0].name}",
            "better": f"P in {shares['P']:.0%} of them, antiP in {shares['antiP']:.0%}, neither by "
            f"{MARGIN:g} of Kendall's tau with the true order in {shares['either']:.0%}; a metric "
            f"is named from {LEVEL:.0%} on",
            "tau": "with the true order of ten systems, median over the worlds: "
            "P {:+.2f}, antiP {:+.2f}".format(*np.median(taus, axis=0)),
        }
        return "\n".join(f"{label:10} {text}" for label, text in rows.items())


_SAID: Mapping[str, str] = {
    "P": "trust P@10: it orders systems as the truth does better than antiP@10",
    "antiP": "trust antiP@10: it orders systems as the truth does better than P@10",
    "either": "either: P@10 and antiP@10 order systems as well as each other",
    "cannot tell": "cannot tell: worlds that these ratings may come from disagree about P@10 and "
    "antiP@10",
}


def which_metric(
    ratings: Ratings,
    min_rating: float,
    *,
    spread: float = SPREAD,
    strength: float = STRENGTH,
    n_worlds: int = N_WORLDS,
    seed: int = 1,
    workers: int = 1,
) -> Answer:
    """Tell which of observed P@10 and antiP@10 orders systems as the truth does.

    Parameters
    ----------
    ratings
        Observed ratings, liked and not.
    min_rating
        The smallest rating that says liking.
    spread, strength
        What is assumed about selection: by which factor items differ at most in how many times as
        likely those who like them rate them as those who do not; and how large these numbers are in
        matched worlds, at most. Both from 1.
    n_worlds
        Matched worlds. Each costs a fraction of a second at 300 users and 400 items, some seconds
        at the size of MovieLens 100K; what was found is kept in the folder of cells.
    seed
        Names all draws.
    workers
        Processes; the answer does not depend on them.

    Returns
    -------
    Answer

    Raises
    ------
    ConfigError
        If an assumption is below 1 or infinite, or there are fewer than 20 worlds, or more
        than 10,000.
    DataError
        As of `fit_relation`; or if no worlds are like the data.
    """
    if not FEWEST_WORLDS <= n_worlds <= _MOST_WORLDS:
        raise ConfigError(f"worlds {n_worlds}: expected {FEWEST_WORLDS} to {_MOST_WORLDS}")
    choice_of(strength)
    relation = fit_relation(ratings, min_rating, spread=spread, seed=seed)
    shape = Shape.of(ratings, min_rating)
    names = shape.worlds(relation.interval, n_worlds, strength=strength, seed=seed)
    return answer_from(
        ratings.name,
        relation,
        world_outcomes(names, shape.liked, workers=workers),
        strength=strength,
    )


def answer_from(
    about: str,
    relation: Relation,
    found: Sequence[Outcome | None],
    *,
    strength: float = STRENGTH,
) -> Answer:
    """Answer from the outcomes in worlds that the ratings may come from.

    Parameters
    ----------
    about
        Name of the data set.
    relation
        What its ratings say.
    found
        Outcomes; None for a world that could not be made.
    strength
        As of `which_metric`.

    Raises
    ------
    DataError
        If fewer than 20 worlds are left.
    """
    matched = tuple(outcome for outcome in found if outcome is not None)
    if len(matched) < FEWEST_WORLDS:
        raise DataError(
            f"{about}: only {len(matched)} worlds are like these ratings, expected at least "
            f"{FEWEST_WORLDS}\nask for more worlds, or give more users and items"
        )
    return Answer(about, relation, strength, matched)


def choice_of(strength: float) -> float:
    """Tell which `choice` of a world makes likes so many times as likely to be rated.

    Parameters
    ----------
    strength
        Of typical items; from 1.

    Raises
    ------
    ConfigError
        If worlds have no such strength.

    Examples
    --------
    >>> choice_of(1), round(choice_of(3), 2)
    (0.0, 1.08)
    """
    if not 1 <= strength <= _FACTORS[2.0]:
        raise ConfigError(
            f"strength {strength:g}: expected 1 to {_FACTORS[2.0]:g}, the most that worlds have"
        )
    return float(np.interp(np.log(strength), np.log(list(_FACTORS.values())), list(_FACTORS)))
