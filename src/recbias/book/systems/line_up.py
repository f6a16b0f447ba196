"""What the page "The systems" measures, under which protocol."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from recbias.book.systems.ties import ties
from recbias.book.systems.validation import MEASURES, N_RANKINGS, chance
from recbias.claims.reference import Reference, find_reference
from recbias.claims.values import Family, Function
from recbias.data.datasets import Dataset, dataset_info, is_path, load_dataset
from recbias.data.datasets.liked import step_below_top
from recbias.data.ratings import exact
from recbias.errors import MissingData
from recbias.experiment.grid import Grid
from recbias.experiment.makers import Table
from recbias.experiment.results import load_result, results_dir
from recbias.experiment.run import Results, run
from recbias.recommenders import System

CHAPTER = "systems"
"""Name of the notebook, under which the results of the page are stored."""

LINE_UP = "mccrs20"
"""The line-up that is measured: the one with published values."""

TITLES: Mapping[str, str] = {
    "mccrs20": "Mena-Maldonado et al. 2020",
    "bcc17": "Bellogín, Castells & Cantador 2017",
    "ccm20": "Cañamares, Castells & Moffat 2020",
    "atm15": "Adamopoulos, Tuzhilin & Mountanos 2015",
    "modern": "What people run today",
    "optimal": "The best rankings for everybody",
}
"""What the line-ups stand for, in the order of their page."""


@dataclass(frozen=True)
class Setup:
    """What all measurements of the page share.

    Attributes
    ----------
    dataset
        Name of a dataset, or path of a table.
    min_rating
        The smallest rating of an item that counts as liked.
    split
        As for :class:`recbias.experiment.grid.Grid`.
    short
        Whether the page is cut down to what can be computed while the book is built.
    seed, workers
        As for :func:`recbias.experiment.run.run`.
    """

    dataset: str
    min_rating: float
    split: str
    short: bool
    seed: int
    workers: int

    @property
    def precision(self) -> str:
        """The measure by which the page orders systems."""
        return MEASURES[0]

    @property
    def protocol(self) -> str:
        """The evaluation of MCCRS20: all items are candidates, and means run over tested users."""
        return f"AI-AN-AR rel>={exact(self.min_rating)} users=tested"

    @property
    def split_words(self) -> str:
        """The split, as prose says it."""
        kind, _, number = self.split.partition(" ")
        if kind == "ready":
            rows = ", their rows in the order of the files" if number else ""
            return f"the folds that the authors published{rows}"
        if kind == "ratio":
            return f"one, with {float(number):.0%} of the ratings in test".replace("%", " %")
        return f"{number} folds" if kind == "k-fold" else self.split

    @property
    def published(self) -> Reference | None:
        """Published values for this dataset, split and protocol, if there are any."""
        name = "" if is_path(self.dataset) else dataset_info(self.dataset).name
        return find_reference(LINE_UP, name, self.split, self.protocol)

    def measure(self, name: str, systems: Iterable[System], *, split: str | None = None) -> Results:
        """Measure systems: precision and anti-precision."""
        split = split or self.split
        protocols = (self.protocol,)
        grid = Grid(
            self.dataset, tuple(systems), protocols, MEASURES, split=split, seed=self.seed,
            replicates=(),
        )  # fmt: skip
        return run(grid, workers=self.workers, name=f"{CHAPTER}/{name}")

    def chances(self) -> Table:
        """Compute what chance alone scores, with fixed rankings where they are compared."""
        n_rankings = N_RANKINGS if self.published else 0
        return chance(
            self.dataset, split=self.split, seed=self.seed, min_rating=self.min_rating,
            n_rankings=n_rankings, name=f"{CHAPTER}/chance",
        )  # fmt: skip

    def ties(self, world: str) -> Table:
        """Compute what the order of ties decides in a world, see `recbias.book.systems.ties`."""
        return ties(
            self.dataset, split=self.split, seed=self.seed, min_rating=self.min_rating,
            world=world, name=f"{CHAPTER}/ties",
        )  # fmt: skip


def choose_setup(
    dataset: str,
    *,
    min_rating: float | None = None,
    split: str | None = None,
    extent: str | None = None,
    seed: int = 1,
    workers: int = 1,
) -> Setup:
    """Choose what a page leaves open.

    Examples
    --------
    >>> setup = choose_setup("synthetic")
    >>> setup.protocol, setup.split, setup.short, setup.published
    ('AI-AN-AR rel>=4 users=tested', 'ratio 0.2', True, None)
    """
    short = is_made_here(dataset) if extent is None else extent == "short"
    if min_rating is None:
        min_rating = relevance_threshold(dataset)
    if split is None:
        split = "ratio 0.2" if short else published_split(dataset)
    return Setup(dataset, min_rating, split, short, seed, workers)


def is_made_here(dataset: str) -> bool:
    """Tell a simulated dataset, whose pages are always computed live, from all others."""
    return not is_path(dataset) and not dataset_info(dataset).files


def relevance_threshold(dataset: str | Dataset) -> float:
    """Give the relevance of MCCRS20: 4 of 5 stars, and on other scales one step from the top.

    Examples
    --------
    >>> [relevance_threshold(name) for name in ("ml-1m", "ml-latest-small", "cm100k")]
    [4.0, 4.0, 3.0]
    """
    if isinstance(dataset, str) and is_path(dataset):
        dataset = load_dataset(dataset)
    info = dataset.info if isinstance(dataset, Dataset) else dataset_info(dataset)
    scale = dataset.ratings.scale if isinstance(dataset, Dataset) else info.scale
    if info.relevant_from is not None:
        return float(info.relevant_from)
    return step_below_top(scale, dataset.ratings.value if isinstance(dataset, Dataset) else None)


def published_split(dataset: str) -> str:
    """Choose the authors' own folds where a dataset has them, else five new ones."""
    try:
        return "ready" if load_dataset(dataset).ready_folds is not None else "k-fold 5"
    except MissingData:
        path = results_dir(dataset, recorded=True) / CHAPTER / LINE_UP
        if not path.with_suffix(".json").is_file():
            raise
        stored = load_result(path, dataset=dataset)
        if not isinstance(stored, Results):
            raise
        return stored.grid.split


# -- what the page's findings compute ------------------------------------------------------------


def moved(changed: Family, own: Family) -> Family:
    """Tell by what part of itself the value of each system moves with a change in brackets."""
    by_base = {str(name).rpartition(" (")[0]: value for name, value in changed.members.items()}
    parts = {
        name: abs(by_base[name].value / value.value - 1) if value.value else math.inf
        for name, value in own.members.items()
        if name in by_base
    }
    return Family(parts, of_systems=True)


FUNCTIONS: Mapping[str, Function] = {"moved": moved}
"""What they compute that expressions cannot say: systems of two tables by other names."""
