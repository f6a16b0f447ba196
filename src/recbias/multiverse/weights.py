"""What universes weigh, by how often their options were right in worlds like the data.

The expected share of right comparisons of a combination is that of all combinations in worlds of
the kinds that the data may be of, plus the effects of its options there, plus those of its pairs of
options in all worlds. Each effect is shrunk by what chance alone would make of it: of m with
standard error s over worlds there remains m max(0, 1 - s²/m²); that of an option is so shrunk
twice, in all worlds towards 0 and in those of the kinds towards all. An option that worlds do not
have, or a decision of another name, has the effect 0. With an expected share p a combination weighs
max(0, 2 p - 1): who is no better than a coin has no say. Where nobody has a say, or data lie
nowhere among the worlds, combinations weigh alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from recbias._system.places import packaged
from recbias.data.datasets import Dataset
from recbias.data.datasets.liked import step_below_top
from recbias.multiverse.agreement import Option, named
from recbias.multiverse.kinds import FEWEST, KINDS, ROBUST, TRUE, Kind, Place, place_of
from recbias.multiverse.universes import Universes

__all__ = ["Called", "Trusted", "called_robust", "learned", "summed", "trusted", "weigh"]

FloatArray = npt.NDArray[np.float64]
Pair = tuple[str, str, str, str]
Sums = tuple[float, ...]

_KEY = ["relation", "skew", "first decision", "first", "second decision", "second"]
_SUMS = ["worlds", "share", "share squared", "compared", "effect", "effect squared"]


def learned() -> pd.DataFrame:
    """Read what was measured in the worlds to learn from: sums over worlds by kind."""
    path = packaged("evaluation/multiverse_trust.csv")
    table = pd.read_csv(path, keep_default_na=False, dtype=dict.fromkeys(_KEY, str))
    return table.set_index(_KEY)


def summed(of_worlds: Sequence[tuple[Kind, pd.DataFrame]]) -> pd.DataFrame:
    """Sum what :func:`recbias.multiverse.agreement.effects` gives over worlds, by kind."""
    rows = []
    for kind, table in of_worlds:
        for first, second, share, effect in table.itertuples(index=False):
            known, compared = share == share, effect == effect  # not NaN
            key = *kind, *(first or ("", "")), *(second or ("", ""))
            sums = [known, share, share**2, compared, effect, effect**2]
            rows.append((*key, *(0.0 if number != number else float(number) for number in sums)))
    table = pd.DataFrame(rows, columns=_KEY + _SUMS)
    return table.groupby(_KEY, sort=True).sum()


def weigh(
    options: Mapping[str, Sequence[str]], usual: float, kinds: Sequence[Kind],
    sums: pd.DataFrame | None = None,
) -> FloatArray | None:  # fmt: skip
    """Give weights of combinations, one axis for each decision; none if nobody has a say.

    Parameters
    ----------
    options
        Texts by decision.
    usual
        Threshold from which others are steps.
    kinds
        That the data may be of; worlds of other kinds alone if there are none.
    sums
        Of `summed`; by default what was learned.
    """
    sums = learned() if sums is None else sums
    in_kinds = np.array([not kinds or key[:2] in kinds for key in sums.index], dtype=bool)
    everywhere, near = (
        {key: tuple(row) for key, row in zip(by.index, by.to_numpy(), strict=True)}
        for by in (table.groupby(level=_KEY[2:]).sum() for table in (sums, sums[in_kinds]))
    )
    nothing = (0.0,) * len(_SUMS)
    at_all = near.get(("", "", "", ""), nothing)
    expected = np.full([len(texts) for texts in options.values()], at_all[1] / max(at_all[0], 1))
    names = {
        decision: [named(decision, text, usual) for text in texts]
        for decision, texts in options.items()
    }
    for axis, of_axis in enumerate(names.values()):
        found = []
        for option in of_axis:
            key = *option, "", ""
            mean, error = _mean(everywhere.get(key, nothing))
            own, own_error = _mean(near.get(key, nothing))
            found.append(_shrunk(mean, error) + _shrunk(own - mean, own_error))
        expected += _along(np.array(found), (axis,), expected.ndim)
    for (axis, of_axis), (other, of_other) in combinations(enumerate(names.values()), 2):
        both = [
            [_shrunk(*_mean(_of_pair(everywhere, x, y) or nothing)) for y in of_other]
            for x in of_axis
        ]
        expected += _along(np.array(both), (axis, other), expected.ndim)
    weights = np.clip(2 * expected - 1, 0, 1)
    return weights if weights.any() else None


def _of_pair(sums: Mapping[Pair, Sums], x: Option, y: Option) -> Sums | None:
    """Find what is known of two options, whichever decision was named first."""
    return sums.get((*x, *y)) or sums.get((*y, *x))


def _mean(sums: Sequence[float]) -> tuple[float, float]:
    """Give the mean effect over worlds and its standard error; infinite for fewer than three."""
    n, total, squares = sums[3:]
    if n < 3:
        return (total / n if n else 0.0), np.inf
    mean = total / n
    return mean, float(np.sqrt(max(squares / n - mean**2, 0) / (n - 1)))


def _shrunk(mean: float, error: float) -> float:
    """Take off a mean what chance makes of it.

    Examples
    --------
    >>> _shrunk(0.5, 0.25), _shrunk(0.2, 0.3), _shrunk(0.0, 0.0)
    (0.375, 0.0, 0.0)
    """
    return mean * max(0.0, 1 - (error / mean) ** 2) if mean else 0.0


def _along(values: FloatArray, axes: Sequence[int], n_axes: int) -> FloatArray:
    """Lay values out along some axes of a crossed table."""
    return np.expand_dims(values, [axis for axis in range(n_axes) if axis not in axes])


class Called(NamedTuple):
    """Comparisons of worlds kept apart: how many were called robust, and how many of them right."""

    n: int
    right: int

    @property
    def share(self) -> float:
        """Share that is true; NaN of none."""
        return self.right / self.n if self.n else float("nan")


def called_robust(apart: pd.DataFrame, kinds: Sequence[Kind], weights: str = "trust") -> Called:
    """Count what was called robust in worlds kept apart; where nobody is better, not rightly.

    Parameters
    ----------
    apart
        Comparisons: ``relation``, ``skew``, the true sign ``P``, and by weights the share in which
        the first system ``wins`` and the one in which it ``loses``.
    kinds
        Of which worlds.
    weights
        ``trust``, ``other kinds`` (learned in worlds of other kinds alone) or ``alike``.
    """
    own = apart[pd.MultiIndex.from_frame(apart[["relation", "skew"]]).isin(list(kinds))]
    called = np.where(
        own[f"wins, {weights}"] >= ROBUST, 1, np.where(own[f"loses, {weights}"] >= ROBUST, -1, 0)
    )
    some = called != 0
    return Called(int(some.sum()), int((called == own["P"])[some].sum()))


def kept_apart() -> pd.DataFrame:
    """Read what came out in the worlds kept apart."""
    return pd.read_csv(packaged("evaluation/multiverse_apart.csv"))


def may_say(place: Place, apart: pd.DataFrame) -> bool:
    """Tell whether the word *robust* is used of data that lie somewhere among the worlds."""
    of_kinds = [called_robust(apart, [kind]) for kind in place.kinds]
    enough = sum(called.n for called in of_kinds) >= FEWEST
    return enough and all(called.share >= TRUE for called in of_kinds if called.n)


class Trusted(NamedTuple):
    """What universes say together, weighed by what is known of the truth.

    Attributes
    ----------
    place
        Where the data lie among the worlds.
    weights
        Of combinations, laid out as `Universes.cross`.
    shares
        As of `Universes.shares`.
    called
        Comparisons in worlds kept apart of these kinds.
    says
        ``"a"`` or ``"b"``, of whom it is robust that they win; ``"neither"`` where the word is used
        and not deserved; ``"unknown"`` where it is not used.
    """

    place: Place
    weights: FloatArray
    shares: pd.DataFrame
    called: Called
    says: str

    def __str__(self) -> str:
        wins, loses = self.shares.loc["weights", ["wins", "loses"]]
        kinds = "; ".join(map(str, self.place.kinds))
        where = f"like worlds with {kinds}" if kinds else f"like no worlds: {self.place.reason}"
        alike = " (combinations weigh alike)" if np.ptp(self.weights) == 0 else ""
        called = (
            f"of {self.called.n} comparisons with {ROBUST:.0%} of the weight on one side, in "
            f"worlds kept apart, {self.called.right} were true"
        )
        return (
            f"data       {where}\nby trust   wins {wins:.0%}, loses {loses:.0%}{alike}\n"
            f"robust     {_SAID[self.says]}: {called}"
        )


_SAID: Mapping[str, str] = {
    "a": "the first wins",
    "b": "the second wins",
    "neither": "neither",
    "unknown": "not a word to use here",
}


def trusted(found: Universes, dataset: Dataset, min_rating: float | None = None) -> Trusted:
    """Weigh universes by how often such options were right in worlds like the data.

    It knows how ratings came about in these worlds, and not how they did in the data: if users
    choose what to rate in another way, the weights mislead, and nothing in the data tells. Worlds
    have 300 users and 400 items; size and density of the data do not count.

    Parameters
    ----------
    found
        Universes of the data.
    dataset
        Loaded data set.
    min_rating
        The smallest rating that says liking; by default a step below the top of the scale.
    """
    ratings = dataset.ratings
    usual = step_below_top(ratings.scale, ratings.value) if min_rating is None else min_rating
    place, apart = place_of(ratings, usual), kept_apart()
    weights = weigh(found.options, usual, place.kinds) if place.kinds else None
    if weights is None or not weights[(found.cross >= 0).any(axis=-1)].any():
        weights = np.ones(found.cross.shape[:-1])
    shares = found.shares(weights[..., None])
    says = "unknown"
    if may_say(place, apart):
        row = shares.loc["weights"]
        says = "a" if row["wins"] >= ROBUST else "b" if row["loses"] >= ROBUST else "neither"
    return Trusted(place, weights, shares, called_robust(apart, place.kinds or KINDS), says)
