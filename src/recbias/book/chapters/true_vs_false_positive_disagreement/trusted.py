"""How well "which metric should I trust?" answers, and what it says of data whose truth is known.

`trust` asks it of worlds that were listed before the answer was tuned
(``data/evaluation/trust_worlds.txt``). `trust_answers` asks it of data sets, and puts what their
truth says beside the answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy  # its parts are loaded when they are first used: `stats` takes long

from recbias._system.places import packaged
from recbias.book.chapters.true_vs_false_positive_disagreement.setup import (
    CHAPTER,
    protocols,
    truth_of,
)
from recbias.data.datasets import load_dataset
from recbias.data.simulation import PreferenceOptions, parse_world
from recbias.experiment.grid import Grid
from recbias.experiment.makers import Table, contents_of, maker
from recbias.experiment.run import Results, run
from recbias.experiment.store import digest
from recbias.experiment.worlds import Seen, World, each_world
from recbias.stats.agreement import kendall_tau, tau_interval
from recbias.trust import (
    FEWEST_WORLDS,
    STRENGTH,
    Outcome,
    Relation,
    Shape,
    answer_from,
    better_metric,
    choice_of,
    compared_systems,
    fit_relation,
    revisions,
    which_metric,
    world_outcomes,
)

_LIKED = 4

TRUST: Mapping[str, Any] = {
    "shapes": [
        [300, 400, density, skew, _LIKED] for density in (0.04, 0.08) for skew in (0.4, 0.6)
    ],
    "n_worlds": 250,
    "reach": 0.97,
}
"""What the chapter asks of `trust`, whatever the data of its page."""

TRUST_ANSWERS: Mapping[str, Any] = {
    "liked": {"cm100k": 3, "coat": 4, "synthetic": 4},
    "n_worlds": 100,
    "split": "k-fold 5",
    "seed": 1,
}
"""What the chapter asks of `trust_answers`: data sets whose truth is known, wholly or in part."""

_REVISION = 2
"""Raised when code changes what is fitted to ratings, or how worlds are matched to them."""


def evaluation_worlds() -> list[str]:
    """Name the worlds of the evaluation, as they were listed before the answer was tuned.

    Examples
    --------
    >>> len(evaluation_worlds())
    480
    """
    text = packaged("evaluation/trust_worlds.txt").read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line.startswith("world(")]


class _Asked(NamedTuple):
    """What the ratings of a world say, without its truth."""

    relation: Relation
    shape: Shape


def _ask(seen: Seen) -> _Asked:
    return _Asked(fit_relation(seen.ratings, _LIKED), Shape.of(seen.ratings, _LIKED))


@maker(
    CHAPTER,
    Table,
    uses={
        "trust": _REVISION,
        "worlds": lambda: digest(evaluation_worlds()),
        "outcomes": lambda: revisions(_LIKED),
    },
)
def trust(
    *, shapes: Sequence[Sequence[float]], n_worlds: int, reach: float, workers: int = 1
) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Ask which metric to trust in worlds whose truth is known, and compare the answers with it.

    All is done as `recbias.trust.which_metric` does it but for one thing that saves time: worlds of
    like density and skew share the worlds that they are matched with. Each takes those of the
    nearest shape whose relations are compatible with its ratings; where these are fewer than 20,
    which happens at either end, the 20 nearest.

    Parameters
    ----------
    shapes
        Users, items, density, skew and stars from which an item is liked, of the matched worlds.
    n_worlds
        Matched worlds of each shape.
    reach
        Their relations are spread evenly from -`reach` to `reach`.
    workers
        Processes; the results do not depend on them.

    Returns
    -------
    index : tuple of str
        ``world``, its name.
    frame : DataFrame
        ``relation``, ``skew``, ``density``, ``choice`` of the world; what its ratings say of the
        relation, ``estimate`` and ``low`` to ``high``; ``matched`` worlds and the shares of them in
        which ``P``, ``antiP`` and ``either`` was right; the ``answer``; Kendall's tau with the
        truth, ``tau_P`` and ``tau_antiP``, and what is ``right``.
    """
    kinds = [
        Shape(int(users), int(items), density, skew, int(liked))
        for users, items, density, skew, liked in shapes
    ]
    banks = [
        kind.worlds((-reach, reach), n_worlds, seed=number)
        for number, kind in enumerate(kinds, start=1)
    ]
    names = evaluation_worlds()
    outcomes = world_outcomes(
        [*names, *(world for bank in banks for world in bank)], _LIKED, workers=workers
    )
    estimates = each_world(_ask, [World(name, 1) for name in names], workers=workers)
    rows = []
    for world, outcome, (relation, shape) in zip(names, outcomes, estimates, strict=False):
        place = min(range(len(kinds)), key=partial(_distance, kinds, shape))
        start = len(names) + place * n_worlds
        matched = _compatible(outcomes[start : start + n_worlds], relation)
        answer = answer_from(world, relation, matched)
        options = parse_world(world)
        assert isinstance(options, PreferenceOptions)
        assert outcome is not None
        rows.append(
            {
                "world": world,
                **{name: getattr(options, name) for name in _OPTIONS},
                "estimate": relation.estimate,
                "low": relation.interval[0],
                "high": relation.interval[1],
                "matched": len(answer.worlds),
                **{str(metric): share for metric, share in answer.shares.items()},
                "answer": answer.metric,
                "tau_P": outcome.tau_precision,
                "tau_antiP": outcome.tau_anti_precision,
                "right": outcome.better,
            }
        )
    return ("world",), pd.DataFrame(rows)


_OPTIONS = ("relation", "skew", "density", "choice")


def _compatible(outcomes: Sequence[Outcome | None], relation: Relation) -> list[Outcome]:
    """Select the worlds whose relation is in the interval, or the nearest ones."""
    low, high = relation.interval
    made = [outcome for outcome in outcomes if outcome is not None]
    outside = [max(low - outcome.relation, outcome.relation - high, 0.0) for outcome in made]
    n = max(FEWEST_WORLDS, outside.count(0.0))
    return [made[place] for place in np.argsort(outside, kind="stable")[:n]]


def _distance(kinds: Sequence[Shape], shape: Shape, place: int) -> float:
    """Tell how unlike two shapes are: in the log of density, and in skew."""
    kind = kinds[place]
    return abs(np.log(kind.density / shape.density)) + abs(kind.skew - shape.skew)


@maker(
    CHAPTER,
    Table,
    revision=2,
    parts=("aggregation",),
    uses={
        "trust": _REVISION,
        "outcomes": lambda liked: [revisions(min_rating) for min_rating in liked.values()],
        "contents": lambda liked: contents_of(liked),
    },
)
def trust_answers(
    *, liked: Mapping[str, float], n_worlds: int, split: str, seed: int, workers: int = 1
) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Ask which metric to trust on data sets whose truth is known, wholly or by a random sample.

    The answer sees observed ratings alone. The truth comes from the same ten systems, as the
    chapter measures it: trained on observed ratings of other pairs, tested on random judgments.

    Parameters
    ----------
    liked
        Smallest rating that says liking, by name of a data set.
    n_worlds
        Matched worlds of each.
    split
        Text of the split rule, of observed ratings and of random judgments.
    seed
        Names all draws.
    workers
        Processes; the results do not depend on them.

    Returns
    -------
    index : tuple of str
        ``dataset``.
    frame : DataFrame
        As of `trust`, without the options of worlds; ``P_low`` to ``P_high`` and ``antiP_low`` to
        ``antiP_high`` are 95 % intervals of the taus over resampled users.

    Raises
    ------
    MissingData
        If a data set is neither at hand nor made here.
    ConfigError
        If one has neither truth nor an unbiased part.
    """
    rows = []
    for name, min_rating in liked.items():
        dataset = load_dataset(name)
        answer = which_metric(
            dataset.ratings, min_rating, n_worlds=n_worlds, seed=seed, workers=workers
        )
        taus = _true_taus(name, min_rating, split=split, seed=seed, workers=workers)
        rows.append(
            {
                "dataset": name,
                "estimate": answer.relation.estimate,
                "low": answer.relation.interval[0],
                "high": answer.relation.interval[1],
                "matched": len(answer.worlds),
                **{str(metric): share for metric, share in answer.shares.items()},
                "answer": answer.metric,
                **taus,
                "right": better_metric(taus["tau_P"] - taus["tau_antiP"]),
            }
        )
    return ("dataset",), pd.DataFrame(rows)


def _true_taus(
    name: str, min_rating: float, *, split: str, seed: int, workers: int
) -> dict[str, float]:
    """Compare the orders by both observed metrics with the true one, by the grid of the chapter."""
    texts, tests = protocols(min_rating, truth=truth_of(name))
    grid = Grid(
        dataset=name,
        systems=compared_systems(min_rating),
        protocols={label: texts[label] for label in ("full", "true")},
        metrics=("P@10", "antiP@10"),
        split=split,
        seed=seed,
        tests=tests,
    )
    results = run(grid, workers=workers)
    true = _ordered(results, "true", "P@10", 1)
    taus: dict[str, float] = {}
    for metric, sign in (("P", 1), ("antiP", -1)):
        values, drawn = _ordered(results, "full", f"{metric}@10", sign)
        low, high = tau_interval(values, true[0], drawn, true[1])
        taus |= {
            f"tau_{metric}": float(kendall_tau(values, true[0])),
            f"{metric}_low": low,
            f"{metric}_high": high,
        }
    return taus


def _ordered(
    results: Results, label: str, metric: str, sign: int
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Values of all systems, larger being better, and their replicates."""
    quantities = results.of_systems(label, metric).values()
    values = np.array([sign * quantity.value for quantity in quantities])
    drawn = [quantity.replicates for quantity in quantities if quantity.replicates is not None]
    return values, sign * np.array(drawn)


# -- what follows ------------------------------------------------------------------------------


def _wilson(n_true: int, n: int) -> tuple[float, float]:
    interval = scipy.stats.binomtest(n_true, n).proportion_ci(method="wilson")
    return float(interval.low), float(interval.high)


_STRONG = 0.5


def kinds_of_worlds(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Select worlds: all of them, or by their relation or the strength of selection."""
    relation = frame["relation"]
    chosen = {
        "all": relation.notna(),
        "strong": relation.abs() >= _STRONG,
        "agreeing": relation >= _STRONG,
        "opposed": relation <= -_STRONG,
        "beyond": frame["choice"] > choice_of(STRENGTH),
    }
    return {kind: frame[mask] for kind, mask in chosen.items()}


def evaluation(table: Table) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Count ``answers`` by kind of world, and shares: ``wrong`` ones, worlds ``answered``, names.

    Shares have intervals by Wilson's formula.
    """
    counted = []
    for kind, rows in kinds_of_worlds(table.frame).items():
        if rows.empty:
            continue
        answered = rows[rows["answer"] != "cannot tell"]
        cases = {
            "wrong": answered["answer"] != answered["right"],
            "answered": rows["answer"] != "cannot tell",
            **{f"named_{name}": rows["answer"] == name for name in ("P", "antiP", "either")},
        }
        row: dict[str, Any] = {"worlds": kind, "answers": float(len(answered))}
        for name, true in cases.items():
            n, n_true = len(true), int(true.sum())
            # Of no answers none is wrong.
            ends = (n_true / n, *_wilson(n_true, n)) if n else (0.0, 0.0, 0.0)
            row |= dict(zip((name, f"{name}_low", f"{name}_high"), ends, strict=True))
        counted.append(row)
    return ("worlds",), pd.DataFrame(counted)


def likelier(table: Table) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Take the metric that is better in more matched worlds: in what ``share``, and its ``lead``.

    By the lead its tau with the truth is larger than that of the other.
    """
    frame = table.frame
    lead = np.where(frame["P"] > frame["antiP"], 1, -1) * (frame["tau_P"] - frame["tau_antiP"])
    share = frame[["P", "antiP"]].max(axis=1)
    return ("dataset",), pd.DataFrame({"dataset": frame["dataset"], "share": share, "lead": lead})
