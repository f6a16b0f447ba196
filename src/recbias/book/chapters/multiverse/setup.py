"""What chapter 8 is called, and what it crosses: two to four options of seven decisions.

The first of each is where CCM20 starts. Others are what the papers use (chapter 7 says who); what
needs other ratings, timestamps or another test is left to the reader's own multiverse.
"""

from __future__ import annotations

from collections.abc import Mapping

from recbias.book.chapters.offline_option_taxonomy.setup import KNN, READINGS, systems_of
from recbias.data.datasets import dataset_info, is_path, load_dataset
from recbias.data.ratings import exact
from recbias.experiment.grid import Grid
from recbias.recommenders import System, line_up

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
    """List the options that are crossed, by decision.

    Examples
    --------
    >>> options = options_of("ml-100k", 4)
    >>> options["C2 threshold"], [len(texts) for texts in options.values()]
    (['rel>=4', 'rel>=5', 'rel>=3'], [3, 2, 2, 3, 4, 3, 3])
    """
    if is_path(dataset):
        ratings = load_dataset(dataset).ratings
        least, most = ratings.scale.minimum, float(ratings.value.max())
    else:
        scale = dataset_info(dataset).scale
        least, most = scale.minimum, scale.maximum
    liked = [min_rating, *(r for r in (min_rating + 1, min_rating - 1) if least < r <= most)]
    return {
        "A2": ["split: ratio 0.5", *(["split: ratio 0.2", "split: ratio 0.8"] if splits else [])],
        "B1": ["users=trained", "users=relevant"],
        "B2": ["", "unscored=popularity"],
        "C1": ["AI-AN-AR", "condensed", "TI-AN-AR"],
        "C2": ["metric: nDCG@10", "metric: P@10", "metric: RBP(0.8)", "metric: nDCG@5"],
        "C2 threshold": [f"rel>={exact(rating)}" for rating in liked],
        "C3": ["", "statistic=geometric", "weights=ratings"],
    }


def option_words(decision: str, text: str) -> str:
    """Say what an option is, in few words.

    Examples
    --------
    >>> option_words("C3", ""), option_words("C2", "metric: P@10"), option_words("B2", "")
    ('plain mean', 'P@10', 'left out')
    """
    known = WORDS.get(text) or WORDS.get(f"{decision}: {text}")
    return known or text.removeprefix("metric: ").replace("rel>=", "from ")


def start_of(min_rating: float) -> str:
    """Write the universe from which changes are counted, all but its metric."""
    return f"AI-AN-AR rel>={exact(min_rating)} users=trained"


def compared(dataset: str, min_rating: float, seed: int, n_seeds: int | None) -> tuple[Grid, Grid]:
    """Name what is compared: kNN with both readings of MF, as grids at the start."""
    knn, *readings = systems_of((KNN, *READINGS), min_rating, dataset, n_seeds)
    first, second = (_grid(dataset, (knn, reading), min_rating, seed) for reading in readings)
    return first, second


def sixteen(dataset: str, min_rating: float, seed: int) -> Grid:
    """Name the systems of which all pairs are compared: those of MCCRS20, trained once."""
    return _grid(dataset, line_up("mccrs20", min_rating=min_rating), min_rating, seed)


def _grid(dataset: str, systems: tuple[System, ...], min_rating: float, seed: int) -> Grid:
    return Grid(
        dataset, systems, {"full": start_of(min_rating)}, ("nDCG@10",), split="ratio 0.5",
        seed=seed, replicates=(),
    )  # fmt: skip
