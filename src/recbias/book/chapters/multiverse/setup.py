"""What chapter 8 is called, and what it crosses: two to four options of seven decisions.

The first of each is where CCM20 starts. Others are what the papers use (chapter 7 says who); what
needs other ratings, timestamps or another test is left to the reader's own multiverse.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from recbias.book.chapters.offline_option_taxonomy.setup import KNN, READINGS, systems_of
from recbias.book.chapters.offline_option_taxonomy.truths import held_of, true_options
from recbias.book.chapters.true_vs_false_positive_disagreement.setup import truth_of
from recbias.data.datasets import dataset_info, is_path, load_dataset
from recbias.data.datasets.liked import told_apart
from recbias.data.ratings import exact
from recbias.errors import ConfigError, unknown_name
from recbias.experiment.grid import Grid
from recbias.experiment.options import Options
from recbias.experiment.training_seeds import training_seeds
from recbias.metrics import parse_metric
from recbias.recommenders import System, line_up, with_seeds

CHAPTER = "08_multiverse"
"""Name of the notebook, and of the folder of its results."""

DECISIONS: Mapping[str, str] = {
    "A2": "how ratings are split",
    "B1": "whose lists count",
    "B2": "what has no score",
    "C1": "what is ranked",
    "C2": "metric",
    "C2 threshold": "what is liked",
    "C3": "how users are averaged",
}
"""What is decided, in words."""

WORDS: Mapping[str, str] = {
    "split: ratio 0.5": "train on half",
    "split: ratio 0.2": "train on four fifths",
    "split: ratio 0.8": "train on a fifth",
    "users=trained": "users with training ratings",
    "users=relevant": "users with likes in the test",
    "B2: ": "left out",
    "unscored=popularity": "put last by popularity",
    "AI-AN-AR": "all items",
    "TI-AN-AR": "items with a test rating",
    "condensed": "what the user rated",
    "statistic=geometric": "geometric mean",
    "weights=ratings": "weighted by ratings",
    "C3: ": "plain mean",
}
"""What options are called in figures and tables."""


def options_of(dataset: str, min_rating: float, *, splits: bool = True) -> dict[str, list[str]]:
    """List the options that are crossed, by decision; each threshold lets other ratings in.

    Examples
    --------
    >>> options = options_of("ml-100k", 4)
    >>> options["C2 threshold"], [len(texts) for texts in options.values()]
    (['rel>=4', 'rel>=5', 'rel>=3'], [3, 2, 2, 3, 4, 3, 3])
    >>> options_of("ml-1m", 4)["C2 threshold"]  # stars 1 to 3 are one value
    ['rel>=4', 'rel>=5']
    """
    asked, values = _thresholds(dataset, min_rating)
    liked = told_apart(asked, values)
    return {
        "A2": ["split: ratio 0.5", *(["split: ratio 0.2", "split: ratio 0.8"] if splits else [])],
        "B1": ["users=trained", "users=relevant"],
        "B2": ["", "unscored=popularity"],
        "C1": ["AI-AN-AR", "condensed", "TI-AN-AR"],
        "C2": ["metric: nDCG@10", "metric: P@10", "metric: RBP(0.8)", "metric: nDCG@5"],
        "C2 threshold": [f"rel>={exact(rating)}" for rating in liked],
        "C3": ["", "statistic=geometric", "weights=ratings"],
    }


def alike(dataset: str, min_rating: float) -> dict[float, float]:
    """Tell which thresholds are left out, and by which option the same ratings are liked.

    Examples
    --------
    >>> alike("ml-1m", 4), alike("ml-100k", 4)
    ({3: 4}, {})
    """
    asked, values = _thresholds(dataset, min_rating)
    kept = told_apart(asked, values)
    return {
        out: next(one for one in kept if len(told_apart([one, out], values)) == 1)
        for out in asked
        if out not in kept
    }


def _thresholds(dataset: str, usual: float) -> tuple[list[float], npt.NDArray[np.float64]]:
    """Give what is usual and steps from it, and the values that occur."""
    least, values = _occurring(dataset)
    others = (r for r in (usual + 1, usual - 1) if least < r <= values.max())
    return [usual, *others], values


def _occurring(dataset: str) -> tuple[float, npt.NDArray[np.float64]]:
    """Give the least of the scale and the values that occur; known data need not be there."""
    if is_path(dataset):
        ratings = load_dataset(dataset).ratings
        return ratings.scale.minimum, np.unique(ratings.value)
    info = dataset_info(dataset)
    scale = info.scale
    step = scale.step or 1.0  # of a scale without steps no two thresholds are alike
    n_steps = round((scale.maximum - scale.minimum) / step)
    values = scale.minimum + step * np.arange(n_steps + 1, dtype=np.float64)
    if info.merged_below is not None:
        values = np.append(scale.minimum, values[values >= info.merged_below])
    return scale.minimum, values


def option_words(decision: str, text: str) -> str:
    """Say what an option is, in few words.

    Examples
    --------
    >>> option_words("C3", ""), option_words("C2", "metric: P@10"), option_words("B2", "")
    ('plain mean', 'P@10', 'left out')
    """
    known = WORDS.get(text) or WORDS.get(f"{decision}: {text}")
    return known or text.removeprefix("metric: ").replace("rel>=", "liked from ")


def start_of(min_rating: float) -> str:
    """Write the universe from which changes are counted, all but its metric."""
    return f"AI-AN-AR rel>={exact(min_rating)} users=trained"


def compared(
    dataset: str,
    min_rating: float,
    seed: int,
    n_seeds: int | None,
    *,
    a: str | None = None,
    b: str | None = None,
) -> list[Grid]:
    """Name what is compared, as grids at the start: `a`, or kNN, with `b`, or both readings of MF.

    Examples
    --------
    >>> [[system.name for system in grid.systems] for grid in compared("ml-1m", 4, 1, None)]
    [['User kNN', 'MF'], ['User kNN', 'MF (as in RankSys)']]
    >>> compared("ml-1m", 4, 1, None, a="SLIM", b="User knn")
    Traceback (most recent call last):
    ...
    recbias.errors.ConfigError: unknown system 'User knn': did you mean 'User kNN'? known: Random...
    """
    first = a or KNN
    grids = []
    for other in (b,) if b else READINGS:
        if other == first:
            if b:
                raise ConfigError(f"a and b: both are {first!r}; name two systems")
            continue
        pair = tuple(_system(name, min_rating, dataset, n_seeds) for name in (first, other))
        grids.append(_grid(dataset, pair, min_rating, seed))
    return grids


def _system(name: str, min_rating: float, dataset: str, n_seeds: int | None) -> System:
    """Find a system of the papers by its name; those of CCM20 come first."""
    papers = {line: line_up(line, min_rating=min_rating) for line in ("ccm20", "mccrs20")}
    if name in {system.name for system in papers["ccm20"]}:
        return systems_of((name,), min_rating, dataset, n_seeds)[0]
    others = {system.name: system for system in papers["mccrs20"]}
    if name not in others:
        known = [system.name for of_paper in papers.values() for system in of_paper]
        raise unknown_name("system", name, list(dict.fromkeys(known)))
    times = training_seeds(dataset) if n_seeds is None else n_seeds
    return with_seeds((others[name],), times)[0]


def pairs_asked(dataset: str, min_rating: float, seed: int) -> dict[str, Any]:
    """Say what `pairs` is asked for: the systems of MCCRS20, trained once on one split.

    Examples
    --------
    >>> asked = pairs_asked("cm100k", 4, 1)
    >>> print(asked["start"].partition("; lists")[0])
    split: ratio 0.5; seed: 1; test: observed held=5
    >>> print(asked["truth"].partition("test: ")[2].partition("; metric")[0])
    unbiased train=observed held=5; lists: TI-AN-AR rel>=4 condensed users=relevant
    >>> pairs_asked("ml-1m", 4, 1)["truth"]
    ''
    """
    test, source = held_of(dataset), truth_of(dataset)
    start = Options.parse(
        f"split: ratio 0.5; seed: {seed}; test: {test}; lists: {start_of(min_rating)}; "
        "metric: nDCG@10"
    )
    asked = true_options(start, dataset if source == "unbiased" else "")
    truth = str(replace(asked, metric=parse_metric("P@10"))) if source else ""
    systems = line_up("mccrs20", min_rating=min_rating)
    return {
        "options": options_of(dataset, min_rating, splits=False),
        "min_rating": min_rating,
        "start": str(start),
        "truth": truth,
        "grid": _grid(dataset, systems, min_rating, seed),
    }


def _grid(dataset: str, systems: tuple[System, ...], min_rating: float, seed: int) -> Grid:
    return Grid(
        dataset, systems, {"full": start_of(min_rating)}, ("nDCG@10",), split="ratio 0.5",
        seed=seed, replicates=(),
    )  # fmt: skip
