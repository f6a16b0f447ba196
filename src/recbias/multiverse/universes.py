"""All universes of one comparison: a row for each, and what they say together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from recbias.data.datasets import load_dataset
from recbias.errors import ConfigError
from recbias.experiment.engine import Workers
from recbias.experiment.grid import Grid
from recbias.multiverse.crossing import Crossing, cross
from recbias.multiverse.defaults import default_options
from recbias.multiverse.measuring import COLUMNS
from recbias.multiverse.running import measure_all
from recbias.multiverse.summary import (
    balanced_weights,
    full_part,
    joint_test,
    nearest_flips,
    rounded_signs,
    shapley,
)

__all__ = ["LEVEL", "N_FLIPS", "Universes", "universes"]

LEVEL = 0.05
"""A system wins surely where the universe's own paired test says so at this level."""

N_FLIPS = 499
"""Null curves of the joint test: with the observed one 500, so that p can be .05 exactly."""

_SHARES = ("wins", "surely wins", "ties", "loses", "surely loses")


@dataclass(frozen=True, eq=False, repr=False)
class Universes:
    """What two systems' comparison gives under all combinations of options.

    Attributes
    ----------
    a, b : str
        Names of the systems.
    options : dict of str to tuple of str
        Texts by decision, as they were crossed.
    seeds : tuple of int
    table : DataFrame
        A row per universe, those with the same canonical form being one: ``options`` in that form;
        ``a``, ``b``; ``difference`` of the values (a - b), its standard error ``se`` and 95 %
        interval ``low`` to ``high`` from resampled users, the same in all universes of a seed;
        ``p`` of the paired test, over ``n_users`` that both serve; ``effect``, how many standard
        deviations of users' differences that is; ``sign``: 1 where `a` is better, -1 where it is
        worse (a metric says whether more is), 0 for a tie.
    cross : ndarray of int64, one axis for each decision, seeds last
        Row of the universe that a combination is; below 0 there is none, and ``refused`` says why.
    refused : DataFrame
        ``reason``, number of ``combinations``.
    """

    a: str
    b: str
    options: dict[str, tuple[str, ...]]
    seeds: tuple[int, ...]
    table: pd.DataFrame
    cross: npt.NDArray[np.int64]
    refused: pd.DataFrame
    _t: npt.NDArray[np.float32] = field(repr=False)
    _measured: npt.NDArray[np.int64] = field(repr=False)

    def __repr__(self) -> str:
        shares = self.shares().loc["universes"]
        said = ", ".join(f"{name} {shares[name]:.0%}" for name in _SHARES)
        try:
            flips = self.flips()
            least = f"{int(flips['changes'].iloc[0])} changed" if len(flips) else "nothing turns it"
        except ConfigError as error:  # there is no winner to start from
            least = str(error)
        return (
            f"{self.a} against {self.b}: {len(self.table):,} universes\n{said}\n"
            f"fewest options that turn the winner: {least}"
        )

    @cached_property
    def signs(self) -> npt.NDArray[np.int8]:
        """Sign of each combination, as `cross` lays them out; 0 also where there is none."""
        return self._spread(self.table["sign"].to_numpy(np.int8))

    def _spread(self, of_rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Lay values of rows out by combination; 0 where there is none."""
        return np.append(of_rows, of_rows.dtype.type(0))[np.where(self.cross < 0, -1, self.cross)]

    @cached_property
    def _distinct(self) -> tuple[npt.NDArray[np.intp], ...]:
        """Tell which options of each axis are other universes than those before: `rel>=4.0`."""
        places = []
        for axis, size in enumerate(self.cross.shape):
            seen: dict[bytes, int] = {}
            for place in range(size):
                seen.setdefault(np.take(self.cross, place, axis).tobytes(), place)
            places.append(np.array(list(seen.values())))
        return tuple(places)

    @cached_property
    def balanced(self) -> npt.NDArray[np.float64]:
        """Weight of each combination where the options of each decision weigh alike.

        Those that are the same in all universes are one option: the first of them has its weight.
        """
        weights, distinct = np.zeros(self.cross.shape), np.ix_(*self._distinct)
        weights[distinct] = balanced_weights(self.cross[distinct] >= 0)
        return weights

    def won(self, decision: str, option: str) -> float | None:
        """Tell how often `a` wins under an option, of all its universes, weighed as `balanced`.

        None where an option has no universe.
        """
        axis = [*self.options].index(decision)
        place = self.options[decision].index(option)
        alike = np.take(self.cross, place, axis)
        first = next(at for at in self._distinct[axis]
                     if np.array_equal(np.take(self.cross, at, axis), alike))  # fmt: skip
        weights = np.take(self.balanced, first, axis)
        if not weights.sum() > 0:
            return None
        return float(weights[np.take(self.signs, place, axis) > 0].sum() / weights.sum())

    def _of_rows(self, weights: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Add up weights of combinations by universe."""
        known = self.cross >= 0
        weighed = np.broadcast_to(np.asarray(weights, dtype=np.float64), self.cross.shape)[known]
        if not (weighed >= 0).all() or not weighed.sum() > 0:
            raise ConfigError("weights: expected numbers from 0, some above it")
        sums = np.bincount(self.cross[known], weighed, minlength=len(self.table))
        return sums.astype(np.float64)

    def shares(self, weights: npt.ArrayLike | None = None) -> pd.DataFrame:
        """Tell in which share of the universes which system wins.

        Parameters
        ----------
        weights : array_like of float, optional
            What each combination weighs, laid out as (or broadcast to) `cross`; those of a universe
            add up.

        Returns
        -------
        DataFrame
            A row where universes weigh alike (``universes``), one where the options of each
            decision do (``decisions``; those that are the same in all universes are one option), as
            far as combinations that are missing allow, and one for ``weights``. Columns ``wins``,
            ``surely wins`` (p of the universe's own test below `LEVEL`), ``ties``, ``loses``,
            ``surely loses``.

        Raises
        ------
        ConfigError
            If a weight is below 0, or none is above it.
        """
        rows = {"universes": np.ones(len(self.table)), "decisions": self._of_rows(self.balanced)}
        if weights is not None:
            rows["weights"] = self._of_rows(weights)
        sign, sure = self.table["sign"].to_numpy(), (self.table["p"] < LEVEL).to_numpy()
        of = (sign > 0, (sign > 0) & sure, sign == 0, sign < 0, (sign < 0) & sure)
        shares = {
            name: [float(np.average(each, weights=weighed)) for each in of]
            for name, weighed in rows.items()
        }
        return pd.DataFrame.from_dict(shares, orient="index", columns=list(_SHARES))

    def curve(self) -> pd.DataFrame:
        """Give the specification curve: universes by how far `a` is ahead, and their options.

        Returns
        -------
        DataFrame
            The rows of `table` by ``effect``, as far as `a` is better, behind them a column of
            truth values for each option, ``"C1: condensed"``: whether a combination with that
            option is this universe.
        """
        used = {}
        for axis, (decision, texts) in enumerate(self.options.items()):
            by_option = np.moveaxis(self.cross, axis, 0)
            for text, rows in zip(texts, by_option, strict=True):
                has = np.zeros(len(self.table), dtype=bool)
                has[rows[rows >= 0]] = True
                used[f"{decision}: {text or 'none'}"] = has
        table = pd.concat([self.table, pd.DataFrame(used, index=self.table.index)], axis=1)
        ahead = self.table["effect"].abs() * self.table["sign"]
        return table.iloc[np.argsort(ahead.to_numpy(), kind="stable")]

    def joint_test(self, weights: npt.ArrayLike | None = None) -> pd.DataFrame:
        """Test the whole curve against those of systems that users could not tell apart.

        Both systems are swapped at random users, the same in all universes, which keeps what these
        have in common. Universes that differ in their paired test alone count once, and medians,
        which are no sums over users, not at all.

        Parameters
        ----------
        weights : array_like of float, optional
            As of `shares`.

        Returns
        -------
        DataFrame
            By statistic: ``value``, ``null``, which 95 of 100 null curves stay within, and ``p``.
            ``mean t`` is the test; counts of wins have ties, so that theirs errs less often than
            said.

        References
        ----------
        U. Simonsohn, J. Simmons & L. Nelson, "Specification curve analysis", Nature Human Behaviour
        4 (2020).
        """
        weigh = np.ones(len(self.table)) if weights is None else self._of_rows(weights)
        of_measured = np.bincount(self._measured, weigh, minlength=len(self._t))
        n_users = np.zeros(len(self._t), dtype=np.int64)
        n_users[self._measured] = self.table["n_users"].to_numpy()
        rows = ~np.isnan(self._t[:, 0]) & (of_measured > 0)
        tests = joint_test(self._t[rows], n_users[rows], of_measured[rows]) if rows.any() else []
        return pd.DataFrame(tests, columns=["statistic", "value", "null", "p"]).set_index(
            "statistic"
        )

    def importance(self) -> pd.DataFrame:
        """Share out among decisions what turns the sign of the difference: Shapley effects.

        Of the largest part of the options, roughly, of which there are all combinations; options
        that are the same in all universes take part once.

        Returns
        -------
        DataFrame
            By decision: ``options`` that take part, ``effect``, the mean over seeds, and ``low``
            and ``high``, the smallest and the largest of a seed. The effects of decisions add up
            to 1, or are all 0 if nothing turns the sign. With several seeds a row ``seed`` tells
            how much a seed decides beside all decisions.

        References
        ----------
        A. Owen, "Sobol' indices and Shapley value", SIAM/ASA J. Uncertain. Quantif. 2 (2014).
        """
        distinct = np.ix_(*self._distinct)
        full = full_part(self.cross[distinct] >= 0)
        signs = self.signs[distinct][np.ix_(*full)]
        decisions = list(self.options)
        if not signs.size:
            return pd.DataFrame(columns=["options", "effect", "low", "high"])
        effects = np.array([shapley(signs[..., seed]) for seed in range(signs.shape[-1])])
        columns = {
            "options": [len(places) for places in full[:-1]],
            "effect": effects.mean(axis=0),
            "low": effects.min(axis=0),
            "high": effects.max(axis=0),
        }
        frame = pd.DataFrame(columns, index=pd.Index(decisions, name="decision"))
        if len(self.seeds) > 1:
            beside = float(shapley(signs)[-1])
            frame.loc["seed"] = [signs.shape[-1], beside, np.nan, np.nan]
        return frame.astype({"options": int})

    def flips(
        self,
        start: Mapping[str, str] | None = None,
        *,
        surely: bool | Literal["turned"] = False,
    ) -> pd.DataFrame:
        """Find the fewest options that have to be changed to turn the winner, in all ways.

        Parameters
        ----------
        start
            Option by decision from which changes are counted; the first of each that is not named.
            The first seed is kept.
        surely
            Whether both have to be sure, by the universes' own paired tests; ``"turned"``: only the
            one where the winner is another, by its test and by its interval.

        Returns
        -------
        DataFrame
            ``changes``, their number; ``changed``, the options that take the place of others;
            ``universe``, the row of `table`. A universe that several combinations are is there
            once. Empty if nothing turns the winner.

        Raises
        ------
        ConfigError
            For an unknown decision or option; if there is no universe at the start, or no winner.
        """
        place = []
        chosen = dict(start or {})
        for decision, texts in self.options.items():
            text = chosen.pop(decision, texts[0])
            if text not in texts:
                raise ConfigError(f"{decision}: no option {text!r}; there is {', '.join(texts)}")
            place.append(texts.index(text))
        if chosen:
            raise ConfigError(f"no decision {min(chosen)!r}; there is {', '.join(self.options)}")
        sign = self.table["sign"].to_numpy(np.int8)
        if surely:
            sign = sign * (self.table["p"] < LEVEL).to_numpy(np.int8)
        signs, rows = self._spread(sign)[..., 0], self.cross[..., 0]
        if surely == "turned":
            clear = (self.table["low"] * self.table["high"] > 0).to_numpy(np.int8)
            signs = self._spread(sign * clear)[..., 0]
            signs[tuple(place)] = self.signs[..., 0][tuple(place)]
        if not signs[tuple(place)]:
            row = int(rows[tuple(place)])
            why = "nobody wins" if row >= 0 else "there is no such universe"
            raise ConfigError(f"flips: {why} where changes are counted from; give another start")
        found: dict[int, tuple[int, str, int]] = {}
        for other in nearest_flips(signs, tuple(place)):
            changed = [
                f"{decision}: {texts[at] or 'none'}"
                for (decision, texts), at, before in zip(
                    self.options.items(), other, place, strict=True
                )
                if at != before
            ]
            row = int(rows[tuple(other)])
            found.setdefault(row, (len(changed), "; ".join(changed), row))
        return pd.DataFrame(list(found.values()), columns=["changes", "changed", "universe"])


def universes(
    dataset: Any,
    a: Any,
    b: Any,
    options: Mapping[str, Sequence[str]] | None = None,
    *,
    start: str | None = None,
    seeds: Sequence[int] = (1,),
    n_flips: int = N_FLIPS,
    workers: Workers = 1,
    data_dir: Path | None = None,
) -> Universes:
    """Compare two systems under all combinations of the options of an evaluation.

    Each split is trained and scored once per system; everything else is read from stored ranks.

    Parameters
    ----------
    dataset
        As of :class:`~recbias.experiment.grid.Grid`.
    a, b
        Systems, as of a grid.
    options
        Texts by decision, whose names are free. A text has parts of
        :class:`~recbias.experiment.options.Options` (``"split: ratio 0.2"``, ``"metric: P@10"``)
        or words of a protocol (``"condensed"``, ``"users=tested"``, ``"TI-NN-1R t=100"``); the
        texts of `recbias.experiment.decisions.decisions_table` are taken too. What a text does not
        name stays as at the start. By default
        :func:`~recbias.multiverse.defaults.default_options`.
    start
        Options of what no decision sets; by default those of the table of decisions, with the
        threshold of `default_options`.
    seeds
        Of splits, training, ties and samples; they are crossed with everything, and no option.
    n_flips
        Null curves of the joint test.
    workers
        Local processes. The results do not depend on it, bit for bit.
    data_dir
        Folder that holds datasets, besides ``RECBIAS_DATA``.

    Returns
    -------
    Universes

    Raises
    ------
    ConfigError
        If an option cannot be read, or no combination can be measured. What cannot be combined, or
        not on these data, is no error: `Universes.refused` lists it.
    MissingData
        If the dataset is not at hand.

    See Also
    --------
    recbias.experiment.outcomes.evaluate : one universe; differences, p and users are the same.

    References
    ----------
    CCM20 Sec. 3 and 5; S. Steegen et al., "Increasing transparency through a multiverse analysis",
    Perspect. Psychol. Sci. 11 (2016).

    Examples
    --------
    >>> from recbias.recommenders import line_up
    >>> popular, mean = line_up("ccm20")[1:3]
    >>> found = universes("world(users=60,items=80)", popular, mean, {
    ...     "C1": ("AI-AN-AR", "condensed"),
    ...     "C2": ("metric: P@5", "metric: AUC", "metric: Gini@5"),
    ...     "B1": ("", "users=tested"),
    ... })
    >>> print(found.refused.to_string(index=False))
                                                            reason  combinations
    Gini@5: neither higher nor lower is better, so that nobody wins             4
    >>> len(found.table), found.cross.shape  # AUC is the same in full and condensed lists
    (6, (2, 3, 2, 1))
    >>> print(found.table["options"][0])
    split: ratio 0.5; seed: 1; lists: AI-AN-AR rel>=4; metric: P@5; pairs: t
    >>> found
    Popularity against Average rating: 6 universes
    wins 67%, surely wins 33%, ties 0%, loses 33%, surely loses 0%
    fewest options that turn the winner: 1 changed
    >>> found.flips()["changed"].tolist()
    ['C1: condensed']
    >>> print(found.importance()["effect"].to_dict())  # both only together
    {'C1': 0.5, 'C2': 0.5, 'B1': 0.0}
    """
    loaded = load_dataset(dataset, data_dir=data_dir)
    asked = Grid(dataset, (a, b), "AI-AN-AR rel>=1", "P@10")
    texts = default_options(loaded) if options is None else options
    seeds = tuple(seeds)
    if not seeds or len(set(seeds)) < len(seeds) or not all(type(seed) is int for seed in seeds):
        raise ConfigError(f"seeds={seeds!r}: expected different integers, one at least")
    if type(n_flips) is not int or n_flips < 1:
        raise ConfigError(f"n_flips={n_flips!r}: expected an integer of 1 or more")
    crossing = cross(texts, start, seeds, loaded, asked.dataset, asked.systems)
    codes = np.unique(crossing.code[crossing.code >= 0])
    if not len(codes):
        raise _nothing(crossing.reasons)
    wanted, at = np.unique(codes // len(crossing.pairs), return_inverse=True)
    numbers, t, refused = measure_all(asked, loaded, crossing, wanted, n_flips, workers, data_dir)
    if len(refused) == len(wanted):
        raise _nothing(refused.values())
    return _assembled(asked, crossing, codes, wanted, at, numbers, t, refused)


def _nothing(reasons: Iterable[str]) -> ConfigError:
    listed = "\n".join(list(dict.fromkeys(reasons))[:3])
    return ConfigError(f"options: no combination can be measured\n{listed}")


def _assembled(
    asked: Grid,
    crossing: Crossing,
    codes: npt.NDArray[np.int64],
    wanted: npt.NDArray[np.int64],
    at: npt.NDArray[np.int64],
    numbers: npt.NDArray[np.float64],
    t: npt.NDArray[np.float32],
    refused: dict[int, str],
) -> Universes:
    """Lay out what was measured, and count what was refused."""
    reasons = list(dict.fromkeys([*crossing.reasons, *refused.values()]))
    of_row = np.zeros(len(wanted), dtype=np.int64)
    of_row[list(refused)] = [-1 - reasons.index(reason) for reason in refused.values()]
    of_code = of_row[at]
    kept = of_code == 0
    of_code[kept] = np.arange(kept.sum())
    cross_rows = crossing.code.copy()
    known = crossing.code >= 0
    cross_rows[known] = of_code[np.searchsorted(codes, crossing.code[known])]
    measured = at[kept]
    pair = codes[kept] % len(crossing.pairs)
    better = np.array([
        1 if design.metric.declaration.better == "higher" else -1 for design in crossing.designs
    ])[wanted % len(crossing.designs)]  # fmt: skip
    found = numbers[measured]
    table = pd.DataFrame(
        {
            "options": _texts(crossing, wanted, measured, pair),
            "a": asked.systems[0].name,
            "b": asked.systems[1].name,
            **{name: found[:, place] for place, name in enumerate(COLUMNS)},
            "p": found[np.arange(len(found)), len(COLUMNS) + pair],
            "sign": (rounded_signs(found[:, 0]) * better[measured]).astype(np.int8),
        }
    ).astype({"n_users": int})
    counts = np.bincount(-1 - cross_rows[cross_rows < 0], minlength=len(reasons))
    refusals = pd.DataFrame({"reason": reasons, "combinations": counts})
    refusals = refusals[refusals["combinations"] > 0].reset_index(drop=True)
    return Universes(
        asked.systems[0].name, asked.systems[1].name, crossing.options, crossing.seeds, table,
        cross_rows, refusals, t * better[:, None].astype(np.float32), measured,
    )  # fmt: skip


def _texts(
    crossing: Crossing,
    wanted: npt.NDArray[np.int64],
    measured: npt.NDArray[np.int64],
    pair: npt.NDArray[np.int64],
) -> list[str]:
    """Write universes in canonical form, as :class:`~recbias.experiment.options.Options` print."""
    heads = [
        f"{f'data: {select}; ' if select else ''}split: {split}; seed: {seed}"
        for select, split, seed in crossing.branches
    ]
    inner = [
        str(design).partition("; seed: 1; ")[2].rpartition("; pairs: ")[0]
        for design in crossing.designs
    ]
    n_designs = len(crossing.designs)
    return [
        f"{heads[code // n_designs]}; {inner[code % n_designs]}; pairs: {crossing.pairs[of_pair]}"
        for code, of_pair in zip(wanted[measured].tolist(), pair.tolist(), strict=True)
    ]
