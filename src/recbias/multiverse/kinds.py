"""Kinds of worlds in which options are put to the test, fixed before any result of theirs.

A *kind* is a range of relations (of popularity and liking) and one of skews (of popularity). In
each there are worlds to learn from and, of other seeds, worlds that are kept apart. All systems of
`compared` are compared with each other in a world, under options drawn for it: crossing all
options everywhere would say little more and cost a hundred times as much.

**True** is the sign of the difference of P@10 over all pairs outside training (of nDCG@10: beside
it), of systems trained on four fifths of what is observed, mean of two splits of other seeds than
those of universes, so that no luck of training is shared. It is *sure* if users tell the two apart
in both. An option is *right* where its universe has the true sign, half
right where it has a tie.

A comparison is called **robust** if the winner has `ROBUST` of the weight of its universes. The
word is used of data of some kinds only if, in each of these kinds, of what is called so in worlds
kept apart at least `TRUE` are true, and in all of them `FEWEST` comparisons or more were called so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from recbias._system.streams import stream
from recbias.data.ratings import Ratings
from recbias.errors import DataError
from recbias.recommenders import System
from recbias.trust import Shape, compared_systems, fit_relation

__all__ = ["FEWEST", "KINDS", "ROBUST", "TRUE", "Kind", "Place", "compared", "drawn", "place_of"]

ROBUST = 0.9
TRUE = 0.85
FEWEST = 20

N_WORLDS, N_APART = 12, 6
_FIRST_SEEDS = {False: 810_000, True: 820_000}
_CHOICES = (0, 0.5, 1)  # how much likelier users rate what they like: not at all, to threefold
_RELATIONS = {"against": (-0.9, -0.3), "none": (-0.3, 0.3), "with": (0.3, 0.9)}
_TOLD = {
    "against": "popular items liked less",
    "none": "popular items liked as much",
    "with": "popular items liked more",
}
_SKEWS = {"mild": (0.3, 0.475), "strong": (0.475, 0.65)}
_BEYOND = 0.1

UNKNOWN: Mapping[str, Sequence[str]] = {
    "A2": ("split: leave-out 1", "split: temporal 0.2", "split: temporal-user 0.2"),
}
"""What cannot be tried: worlds have no time, and users with a single rating."""


class Kind(NamedTuple):
    """Worlds whose relation and skew lie in a range."""

    relation: str
    skew: str

    def __str__(self) -> str:
        return f"{_TOLD[self.relation]}, {self.skew} skew"

    def worlds(self, *, apart: bool = False) -> dict[str, int]:
        """Name the worlds, with their seeds: those to learn from, or those kept apart.

        Relations are spread evenly, skews and choices are not in their order.

        Examples
        --------
        >>> list(KINDS[0].worlds(apart=True))[0]
        'world(relation=-0.850,skew=0.315,users=300,items=400,density=0.06,choice=0,seed=820000)'
        """
        n = N_APART if apart else N_WORLDS
        first = _FIRST_SEEDS[apart] + 100 * KINDS.index(self)
        (low, high), (mild, strong) = _RELATIONS[self.relation], _SKEWS[self.skew]
        places = (np.arange(n) + 0.5) / n
        skews = places[np.arange(n) * 5 % n]
        return {
            f"world(relation={low + (high - low) * place:.3f},"
            f"skew={mild + (strong - mild) * skew:.3f},users=300,items=400,density=0.06,"
            f"choice={_CHOICES[number % 3]:g},seed={first + number})": first + number
            for number, (place, skew) in enumerate(zip(places, skews, strict=True))
        }


KINDS = tuple(Kind(relation, skew) for relation in _RELATIONS for skew in _SKEWS)


def compared(min_rating: float) -> tuple[System, ...]:
    """Name the systems, all pairs of which are compared: five of four families.

    Parameters
    ----------
    min_rating
        The smallest rating that says liking.
    """
    names = "Popularity", "User kNN (ranking)", "MF (ranking)", "MF (rating prediction)", "EASE"
    by_name = {system.name: system for system in compared_systems(min_rating)}
    return tuple(by_name[name] for name in names)


def drawn(options: Mapping[str, Sequence[str]], seed: int) -> dict[str, tuple[str, ...]]:
    """Draw two options of each decision, of those that worlds have.

    Paired tests are left out: they do not turn a sign.

    Examples
    --------
    >>> drawn({"B1": ("", "users=tested", "users=relevant"), "D": ("pairs: t",)}, 1)
    {'B1': ('users=tested', 'users=relevant')}
    """
    rng = stream(seed, "multiverse", "options")
    chosen = {}
    for decision, texts in options.items():
        known = [text for text in texts if text not in UNKNOWN.get(decision, ())]
        if decision != "D":
            places = sorted(rng.permutation(len(known))[:2].tolist())
            chosen[decision] = tuple(known[place] for place in places)
    return chosen


class Place(NamedTuple):
    """Where data lie among the worlds: kinds that they may be of, or why there are none."""

    kinds: tuple[Kind, ...]
    reason: str = ""


def place_of(ratings: Ratings, min_rating: float) -> Place:
    """Tell of which kinds data may be, as far as their ratings say.

    Their relation is only bounded (:func:`recbias.trust.fit_relation`), so that they may be of
    several kinds. What cannot be told is who rates what: in all worlds selection is of the form
    that is assumed there.

    Parameters
    ----------
    ratings
        Observed ratings, liked and not.
    min_rating
        The smallest rating that says liking.
    """
    try:
        relation, skew = fit_relation(ratings, min_rating), Shape.of(ratings, min_rating).skew
    except DataError as error:
        return Place((), str(error).partition("\n")[0])
    (least, middle), (_, most) = _SKEWS.values()
    if not least - _BEYOND <= skew <= most + _BEYOND:
        reason = f"the skew of popularity is {skew:.2f}, and that of worlds {least:g} to {most:g}"
        return Place((), reason)
    low, high = relation.interval
    nearest = "mild" if skew < middle else "strong"
    kinds = (
        kind
        for kind in KINDS
        for first, last in [_RELATIONS[kind.relation]]
        if kind.skew == nearest and first < high and low < last
    )
    found = tuple(kinds)
    beyond = f"popularity and liking relate by {low:.2f} to {high:.2f}, more than in any world"
    return Place(found, "" if found else beyond)
