"""Which options agree with the truth, where it is known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from recbias.book.chapters.offline_option_taxonomy.decisions import (
    LEVEL,
    NOISE,
    alternatives,
    decisions_asked,
    fourteen,
)
from recbias.book.chapters.offline_option_taxonomy.setup import CHAPTER
from recbias.book.chapters.true_vs_false_positive_disagreement.setup import truth_of
from recbias.claims.quantities import one_of, over_worlds
from recbias.data.datasets import Dataset
from recbias.data.ratings import exact
from recbias.data.simulation import PreferenceOptions
from recbias.errors import DataError
from recbias.experiment.grid import Grid
from recbias.experiment.makers import Table, maker
from recbias.experiment.options import Options
from recbias.experiment.outcomes import Outcome, evaluate
from recbias.experiment.worlds import Seen, World, each_world

WORLDS: Mapping[str, Any] = {
    "relations": (0.6, 0.0, -0.6),
    "seeds": (1, 2, 3, 4),
    "size": (500, 800),
    "density": 0.03,
    "min_rating": 4,
}
"""What the chapter asks of `worlds`, whatever the data of its page."""

_HELD: Mapping[str, int] = {"cm100k": 5}
"""Folds of the random judgments, where observed ratings are among them."""


_DEFAULT = "the default"

COMMONEST: Mapping[str, tuple[str, str]] = {
    "A2": ("ratio 0.2", "split: k-fold 5"),  # of five folds each trains on four fifths
    "C2": ("P@10", "metric: P@10"),
    "C3": (_DEFAULT, ""),
}
"""By decision, the option that more of the four papers took than any other, as worlds and as
:data:`recbias.experiment.decisions.CHOICES` have it. In all other decisions several were taken
equally often, or worlds have no other."""


def held_of(dataset: str) -> str:
    """Name the judgments that options are tested on where unbiased ones tell the truth.

    Examples
    --------
    >>> held_of("cm100k"), held_of("coat")
    ('observed held=5', 'observed')
    """
    return f"observed held={_HELD[dataset]}" if dataset in _HELD else "observed"


def true_options(base: Options, dataset: str) -> Options:
    """Ask for the truth about the very systems that some options compare.

    Examples
    --------
    >>> base = alternatives(4, 1)[0].base
    >>> print(true_options(base, "coat").test, "|", true_options(base, "").test)
    unbiased train=observed | truth
    """
    parts = {
        "split": str(base.split),
        "seed": str(base.seed),
        "lists": f"AI-AN-AR rel>={exact(base.protocol.min_rating)} users=trained",
        "metric": "nDCG@10",
        "test": "truth",
    }
    if dataset:
        held = f" held={_HELD[dataset]}" if dataset in _HELD else ""
        parts["test"] = f"unbiased train=observed{held}"
        parts["lists"] = f"TI-AN-AR rel>={exact(base.protocol.min_rating)} condensed users=relevant"
    return Options.parse("; ".join(f"{name}: {text}" for name, text in parts.items()))


def compare_with_truth(outcome: Outcome, truth: Outcome) -> dict[str, float]:
    """Count the pairs of systems that an outcome has right."""
    joined = outcome.pairs.merge(truth.pairs, on=["a", "b"], suffixes=("", "_true"))
    known = joined["p_holm_true"].to_numpy(float) < LEVEL
    sign = np.sign(joined["difference"].to_numpy(float))
    true = np.sign(joined["difference_true"].to_numpy(float))
    significant = joined["p_holm"].to_numpy(float) < LEVEL
    return {
        "resolved": float(known.sum()),
        "right": float((known & significant & (sign == true)).sum()),
        "wrong": float((known & significant & (sign == -true)).sum()),
        "signs": float((known & (sign == true)).sum()),
    }


def _rows(
    dataset: str, min_rating: float, systems: Sequence[Any], *, seed: int, test: str, truth: str,
    timed: bool,
) -> Iterator[dict[str, Any]]:  # fmt: skip
    """Compare every option with the truth about the systems of its split."""
    true: dict[str, Outcome] = {}
    for decision, name, options in _named(min_rating, seed, timed=timed, test=test):
        of_split = true_options(options, truth)
        try:
            outcome = evaluate(options, dataset, systems)
        except DataError:  # too few ratings for that
            continue
        if str(of_split) not in true:
            true[str(of_split)] = evaluate(of_split, dataset, systems)
        counts = compare_with_truth(outcome, true[str(of_split)])
        yield {"decision": decision, "option": name, "options": str(options), **counts}


def _named(
    min_rating: float, seed: int, *, timed: bool, test: str
) -> list[tuple[str, str, Options]]:
    """List the decisions of `alternatives` with their options, after the default."""
    candidates = alternatives(min_rating, seed, timed=timed, test=test)
    others = [
        (alternative.decision, alternative.name, alternative.options)
        for alternative in candidates
        if alternative.decision != NOISE
    ]
    return [(_DEFAULT, _DEFAULT, candidates[0].base), *others]


def _grids(grid: Grid, min_rating: float, timed: bool) -> list[Grid]:
    choices = _named(min_rating, grid.seed, timed=timed, test=held_of(grid.dataset))
    options = [chosen for _, _, chosen in choices]
    truths = [true_options(chosen, grid.dataset) for chosen in options]
    return [chosen.grid(grid.dataset, grid.systems) for chosen in dict.fromkeys(options + truths)]


def _used(grid: Grid, min_rating: float, timed: bool) -> list[Grid]:
    """List the cells of all options, and of one truth: it goes stale with those of other splits."""
    candidates = alternatives(min_rating, grid.seed, timed=timed, test=held_of(grid.dataset))
    options = [
        *(alternative.options for alternative in candidates),
        true_options(candidates[0].base, grid.dataset),
    ]
    return [chosen.grid(grid.dataset, grid.systems) for chosen in options]


@maker(CHAPTER, Table, revision=2, uses=_used, grids=_grids)
def truths(
    dataset: Dataset, *, min_rating: float, timed: bool, grid: Grid
) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Tell which options agree with unbiased judgments.

    Parameters
    ----------
    dataset
        Loaded data set with unbiased judgments.
    min_rating
        Smallest rating that is relevant.
    timed
        Whether the data have times.
    grid
        Its dataset, systems and seed are taken.

    Returns
    -------
    index : tuple of str
        ``decision`` and ``option``.
    frame : DataFrame
        ``options``, the text, and the columns of :func:`compare_with_truth`.
    """
    rows = _rows(
        grid.dataset, min_rating, grid.systems, seed=grid.seed, timed=timed,
        test=held_of(grid.dataset), truth=grid.dataset,
    )  # fmt: skip
    return ("decision", "option"), pd.DataFrame(list(rows))


def truths_asked(dataset: str, min_rating: float, *, seed: int) -> dict[str, Any]:
    """Say what `truths` is asked for; empty for data without unbiased judgments.

    Examples
    --------
    >>> truths_asked("ml-1m", 4, seed=1), truths_asked("coat", 4, seed=1)["timed"]
    ({}, False)
    """
    if truth_of(dataset) != "unbiased":
        return {}
    parameters = decisions_asked(dataset, min_rating, seed=seed)
    return {name: parameters[name] for name in ("min_rating", "timed", "grid")}


@maker(
    CHAPTER,
    Table,
    revision=2,
    parts=("splits", "ranking", "world"),
    systems=fourteen,
    uses={
        "options": lambda min_rating: [str(each.options) for each in alternatives(min_rating, 1)]
    },
)
def worlds(
    *,
    relations: Sequence[float],
    seeds: Sequence[int],
    size: Sequence[int],
    density: float,
    min_rating: float,
    workers: int = 1,
) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Tell which options agree with the truth, in worlds like MovieLens.

    Parameters
    ----------
    relations
        Of popularity with liking, from -1 (opposed) to 1.
    seeds
        Of the worlds of each relation, and of their splits.
    size, density
        Numbers of users and items, and the share of all pairs that are observed.
    min_rating
        Smallest rating that says liking.
    workers
        Processes; the results do not depend on them.

    Returns
    -------
    index : tuple of str
        ``relation``, ``seed``, ``decision`` and ``option``.
    frame : DataFrame
        ``options``, the text, and the columns of :func:`compare_with_truth`.
    """
    alike = PreferenceOptions(users=size[0], items=size[1], density=density, liked=int(min_rating))
    made = [
        World(
            str(replace(alike, relation=relation, seed=seed)),
            seed,
            {"relation": relation, "seed": seed},
        )
        for relation in relations
        for seed in seeds
    ]
    frames = each_world(partial(_options_right, min_rating), made, workers=workers)
    index = ("relation", "seed", "decision", "option")
    return index, pd.concat(frames, ignore_index=True)


def _options_right(min_rating: float, seen: Seen) -> pd.DataFrame:
    rows = _rows(
        seen.dataset.name, min_rating, fourteen(min_rating), seed=seen.seed, test="observed",
        truth="", timed=False,
    )  # fmt: skip
    return pd.DataFrame(list(rows)).assign(**seen.labels)


def shares_of(frame: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Give the share of the pairs that the truth resolves, world by world."""
    counts = frame["right"] - frame["wrong"] if metric == "agreement" else frame[metric]
    shares = frame.assign(share=counts / frame["resolved"])
    return shares.pivot(index=["relation", "seed"], columns="option", values="share")


def compare_with_rivals(worlds: Table) -> pd.DataFrame:
    """Compare how well the commonest option of a decision and its rivals agree with the truth.

    The intervals of all rivals are right together, as rivals that surely agree better are picked.
    """
    frame = worlds.frame
    right, wrong, shares = (shares_of(frame, name) for name in ("right", "wrong", "agreement"))
    options = frame.drop_duplicates("option")[["decision", "option"]]
    pairs = []
    for decision, (option, _) in COMMONEST.items():
        names = options["option"][options["decision"] == decision].tolist()
        rivals = [*(other for other in names if other != option), *{_DEFAULT} - {option}]
        pairs += [(decision, option, rival) for rival in rivals]
    rows = []
    for decision, option, rival in pairs:
        gap = over_worlds((shares[option] - shares[rival]).dropna().to_numpy(float))
        means = float(right[option].mean()), float(wrong[option].mean())
        interval = one_of(gap, len(pairs)).interval
        rows.append((decision, option, rival, *means, gap.value, *interval))
    columns = ["decision", "option", "rival", "right", "wrong", "value", "low", "high"]
    return pd.DataFrame(rows, columns=columns)


def right_and_wrong(truths: Table) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Give the shares of the pairs that judgments resolve about which an option is right, or wrong.

    Judgments that resolve no pair have none.
    """
    rows = truths.frame[truths.frame["resolved"] > 0]
    shares = {name: rows[name] / rows["resolved"] for name in ("right", "wrong")}
    limits = {f"{name}_{end}": shares[name] for name in shares for end in ("low", "high")}
    index = ("decision", "option")
    return index, rows[[*index]].assign(**shares, **limits, cases=rows["resolved"])


def agreement(worlds: Table) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Give the share of the pairs about which an option is right, less wrong, in each world."""
    by_world = shares_of(worlds.frame, "agreement").reset_index(drop=True)
    shares = by_world.rename_axis(index="number").melt(value_name="share", ignore_index=False)
    return ("number", "option"), shares.reset_index()


def rivals(worlds: Table) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Hold the commonest options against their rivals, as `compare_with_rivals`."""
    return ("decision", "rival"), compare_with_rivals(worlds)
