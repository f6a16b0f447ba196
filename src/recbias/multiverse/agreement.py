"""How often universes agree with the truth, by option and pair of options.

In a world two options of each decision are crossed, for all pairs of some systems. The *effect* of
an option is by how much more often it is right than the other one, all else being equal and over
combinations that both have, as far as it lies from the mean of all options of its decision: with k
options, of which two were drawn at random, half the difference times 2 (k - 1) / k, on average over
draws. That of a pair of options is the same of differences of differences. A world is one
observation, as its comparisons have ratings and systems in common.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from recbias.errors import ConfigError
from recbias.multiverse.kinds import UNKNOWN
from recbias.multiverse.summary import rounded_signs
from recbias.multiverse.universes import LEVEL, Universes, universes
from recbias.recommenders import System

__all__ = ["Option", "Tried", "Truth", "effects", "named", "tried_signs", "true_signs"]

FloatArray = npt.NDArray[np.float64]
Option = tuple[str, str]
"""A decision and one of its options, thresholds as steps from the usual one."""

TRUTHS = {"P": "metric: P@10", "nDCG": "metric: nDCG@10"}


class Truth(NamedTuple):
    """Which of two systems is better: 1 the first, by P and by nDCG; and whether that is sure."""

    a: str
    b: str
    p: int
    ndcg: int
    sure: bool


class Tried(NamedTuple):
    """Signs of all pairs of systems under crossed options; NaN where there is no universe."""

    options: dict[str, tuple[str, ...]]
    pairs: list[tuple[str, str]]
    signs: FloatArray


def true_signs(
    dataset: Any, systems: Sequence[System], test: str, lists: str, seeds: Sequence[int],
    **how: Any,
) -> list[Truth]:  # fmt: skip
    """Tell who is better, by all pairs outside training; of those listed, universes see few.

    Parameters
    ----------
    dataset
        As of a grid.
    systems
        All pairs of which are compared.
    test, lists
        Parts of options: ``"truth"``, ``"AI-AN-AR rel>=4"``.
    seeds
        Of splits, over which differences are averaged; sure is what is in each of them.
    **how
        As of `universes`.
    """
    start = f"split: ratio 0.2; test: {test}; lists: {lists}; metric: P@10"
    truths = []
    for a, b in combinations(systems, 2):
        found = universes(
            dataset, a, b, {"C2": tuple(TRUTHS.values())}, start=start, seeds=seeds, n_flips=1,
            **how,
        )  # fmt: skip
        if len(found.refused):  # the truth of one split is not that of all
            raise ConfigError(f"truth: {found.refused['reason'].iloc[0]}")
        table = found.table
        of_seeds = found.cross.reshape(len(TRUTHS), len(seeds))
        difference = table["difference"].to_numpy()[of_seeds].mean(axis=1)
        p, sign = table["p"].to_numpy()[of_seeds[0]], rounded_signs(difference)
        alike = (table["sign"].to_numpy()[of_seeds[0]] == sign[0]).all()
        by_p, by_ndcg = sign.astype(int).tolist()
        truths.append(Truth(a.name, b.name, by_p, by_ndcg, bool(alike and (p < LEVEL).all())))
    return truths


def tried_signs(
    dataset: Any, systems: Sequence[System], options: Mapping[str, Sequence[str]], seed: int,
    **how: Any,
) -> Tried:  # fmt: skip
    """Tell who wins where; a pair's difference is that of both differences from the first system.

    Parameters
    ----------
    dataset, systems
        As of `true_signs`.
    options
        As of `universes`.
    seed
        Of splits and all that is drawn.
    **how
        As of `universes`.
    """
    first, *others = systems
    ahead = {first.name: np.zeros(())}
    for system in others:
        found = universes(dataset, system, first, options, seeds=(seed,), n_flips=1, **how)
        ahead[system.name] = _ahead(found)
    pairs = [(a.name, b.name) for a, b in combinations(systems, 2)]
    gaps = np.stack(np.broadcast_arrays(*(ahead[a] - ahead[b] for a, b in pairs)))
    if len(pairs) > 1:  # a combination that one of them refuses is known for nobody
        gaps = np.where(np.isnan(gaps).any(axis=0), np.nan, gaps)
    texts = {name: tuple(of_decision) for name, of_decision in options.items()}
    return Tried(texts, pairs, rounded_signs(gaps))


def _ahead(found: Universes) -> FloatArray:
    """Lay out by how much the first system is better; NaN where there is no universe."""
    better = found.table["difference"].abs().to_numpy() * found.table["sign"].to_numpy()
    return np.append(better, np.nan)[np.where(found.cross < 0, -1, found.cross)][..., 0]


def right(tried: Tried, truths: Sequence[int]) -> FloatArray:
    """Tell which share of the comparisons each combination has right, half of a tie.

    Examples
    --------
    >>> tried = Tried({"C2": ("x", "y")}, [("a", "b"), ("a", "c")], np.array([[1.0, -1], [1, 0]]))
    >>> right(tried, [1, 1]).tolist()
    [1.0, 0.25]
    """
    true = np.array(truths, dtype=np.float64).reshape(-1, *[1] * (tried.signs.ndim - 1))
    known = (true != 0).ravel()
    return np.asarray(((1 + true * tried.signs) / 2)[known].mean(axis=0))


def named(decision: str, text: str, usual: float) -> Option:
    """Name an option the same way whatever the scale: thresholds as steps from the usual one.

    Examples
    --------
    >>> named("C2 threshold", "rel>=3", 4), named("C1", "condensed", 4)
    (('C2 threshold', '-1'), ('C1', 'condensed'))
    """
    if decision == "C2 threshold" and text.startswith("rel>="):
        return decision, f"{float(text.removeprefix('rel>=')) - usual:+g}"
    return decision, text


def effects(
    tried: Tried, shares: FloatArray, known: Mapping[str, Sequence[str]], usual: float
) -> pd.DataFrame:
    """Give shares and effects of options and pairs of options in one world.

    Parameters
    ----------
    tried
        Two options of each decision, crossed.
    shares
        Of `right`.
    known
        All options that there are, by decision: from how many two were drawn.
    usual
        The threshold of liking from which others are steps.

    Returns
    -------
    DataFrame
        ``first`` and ``second`` (none of single options, and neither of all), the ``share`` that is
        right, and the ``effect``: NaN where an option that is compared has no universe.
    """
    axes = list(tried.options)
    scale = {}
    for decision, texts in known.items():
        k = len([text for text in texts if text not in UNKNOWN.get(decision, ())])
        scale[decision] = 2 * (k - 1) / k
    rows: list[tuple[Option | None, Option | None, float, float]] = []

    def add(decisions: Sequence[str]) -> None:
        places = [axes.index(decision) for decision in decisions]
        flat = np.moveaxis(shares, places, range(len(places)))
        flat = flat.reshape(*flat.shape[: len(places)], -1)
        factor = float(np.prod([scale[decision] for decision in decisions])) / 2 ** len(places)
        contrast = flat
        for _ in places:
            contrast = contrast[1] - contrast[0]
        effect = float(np.nanmean(contrast)) * factor if (~np.isnan(contrast)).any() else np.nan
        for at in product((0, 1), repeat=len(places)):
            of = flat[at]
            sign = np.prod([1 if place else -1 for place in at])
            first, second, *_ = (
                *(
                    named(decision, tried.options[decision][place], usual)
                    for decision, place in zip(decisions, at, strict=True)
                ),
                None,
                None,
            )
            share = float(np.nanmean(of)) if (~np.isnan(of)).any() else np.nan
            rows.append((first, second, share, sign * effect))

    for size in range(3):
        for decisions in combinations(axes, size):
            add(decisions)
    return pd.DataFrame(rows, columns=["first", "second", "share", "effect"])
