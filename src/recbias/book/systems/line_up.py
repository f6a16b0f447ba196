"""What the page "The systems" measures, under which protocol, and what its own findings compute."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from recbias.book.systems.validation import FIXED, MEASURES, N_RANKINGS, RANDOM
from recbias.claims.combinators import Function
from recbias.claims.evidence import Evidence, NotComputed
from recbias.claims.records import Record, Term
from recbias.claims.reference import Reference, find_reference
from recbias.data.datasets import Dataset, dataset_info, is_path, load_dataset
from recbias.data.datasets.liked import step_below_top
from recbias.data.ratings import exact
from recbias.errors import MissingData
from recbias.experiment.grid import Grid
from recbias.experiment.makers import Table, run_maker
from recbias.experiment.results import Quantity, load_result, results_dir
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
        return run(grid, workers=self.workers, record=f"{CHAPTER}/{name}")

    def chances(self) -> Table:
        """Compute what chance alone scores, with fixed rankings where they are compared."""
        return self._made("chance", n_rankings=N_RANKINGS if self.published else 0)

    def ties(self, world: str) -> Table:
        """Compute what the order of ties decides in a world, see `recbias.book.systems.ties`."""
        return self._made("ties", world=world)

    def _made(self, name: str, **parameters: str | int) -> Table:
        shared = {"split": self.split, "seed": self.seed, "min_rating": self.min_rating}
        label = f"{CHAPTER}/{name}"
        made = run_maker(label, self.dataset, parameters={**shared, **parameters}, record=label)
        if not isinstance(made, Table):
            raise TypeError(f"{label} is {made.kind}, expected a table")
        return made


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


def _quantities(evidence: Evidence, term: Term) -> dict[str, Quantity]:
    """Give what all systems of a term's table score, under the one protocol that it has."""
    table = evidence.table(term.table)
    (label,) = table.grid.by_label
    return {name: table[name, label, term.metric] for name in table.systems}


def _over(first: Quantity, second: Quantity) -> Quantity:
    """Divide a value by another; the limits are those of both ends at their worst."""
    (low, high), (least, most) = first.interval, second.interval
    if not least > 0:
        raise NotComputed("a value above 0 to divide by")
    return Quantity(first.value / second.value, None, limits=(low / most, high / least))


def gap_over_gap(evidence: Evidence, record: Record) -> Quantity:
    """Compare how far apart the systems of two tables are, leaving out those that are chance."""
    gaps = []
    for term in record.of:
        by_system = _quantities(evidence, term)
        modelled = [quantity for name, quantity in by_system.items() if name not in (RANDOM, FIXED)]
        if not modelled:
            raise NotComputed(f"a system that is not chance in {term.table}")
        gaps.append(_over(max(modelled, key=_value), min(modelled, key=_value)))
    return _over(*gaps)


def _value(quantity: Quantity) -> float:
    return quantity.value


def ratio_of_systems(evidence: Evidence, record: Record) -> Quantity:
    """Divide what a system scores by what another one does."""
    return _over(*_named(evidence, record))


def ratio_of_ratios(evidence: Evidence, record: Record) -> Quantity:
    """Compare by what factor two measures change from a system to another."""
    first, second, third, fourth = _named(evidence, record)
    return _over(_over(first, second), _over(third, fourth))


def _named(evidence: Evidence, record: Record) -> list[Quantity]:
    quantities = []
    for term in record.of:
        by_system = _quantities(evidence, term)
        if term.system not in by_system:
            raise NotComputed(f"the system {term.system} in {term.table}")
        quantities.append(by_system[term.system])
    return quantities


def largest_change(evidence: Evidence, record: Record) -> float:
    """Find the largest relative change by other ties, where nothing else can differ."""
    changed, unchanged = (_quantities(evidence, term) for term in record.of)
    suffix = " (other ties)"
    pairs = [
        (changed[system.name].value, unchanged[name].value)
        for system in evidence.table(record.of[0].table).grid.systems
        if system.name.endswith(suffix) and not system.random_training
        if (name := system.name.removesuffix(suffix)) in unchanged
    ]
    if not pairs:
        raise NotComputed("a system under both rules of ties")
    return max(abs(one / other - 1) if other else math.inf for one, other in pairs)


FUNCTIONS: Mapping[str, Function] = {
    "gap_over_gap": gap_over_gap,
    "largest_change": largest_change,
    "ratio_of_ratios": ratio_of_ratios,
    "ratio_of_systems": ratio_of_systems,
}
"""What the records of ``data/findings/systems.yaml`` compute, by name."""
