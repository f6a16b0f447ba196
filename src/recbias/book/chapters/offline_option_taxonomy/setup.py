"""What chapter 7 is called, which two systems the paper compares, and under which options.

The paper starts from one configuration and changes one decision at a time. What it starts from is
printed: random halves, users with training ratings, what has no score left out, full lists of ten,
ratings of 4 or more, a plain mean with zeros, a paired t test over users. The parameters of its
matrix factorisation are in doubt (E12), so that it is here in both readings.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from recbias.book.choosing import left_out_metrics, measurable
from recbias.book.systems.line_up import is_made_here
from recbias.data.datasets import is_path, load_dataset
from recbias.data.ratings import exact
from recbias.experiment.training_seeds import training_seeds
from recbias.recommenders import Encoding, System, line_up, with_seeds

CHAPTER = "07_offline_options"
"""Name of the notebook, and of the folder of its results."""

KNN = "User kNN"
"""The nearest neighbours of the paper: cosine, 100 of them."""

READINGS: tuple[str, str] = ("MF", "MF (as in RankSys)")
"""The matrix factorisation with the parameters as printed, and with the two swapped (E12)."""

SYSTEMS: tuple[str, ...] = (KNN, *READINGS)

HALF = 50
"""The share of the ratings that the paper trains on, where it varies nothing, in percent."""

DEPTHS: tuple[int, ...] = (1, 2, 3, 5, 10, 20, 50, 100)
"""Depths of nDCG."""

PERSISTENCES: tuple[float, ...] = (0.5, 0.8, 0.9)
"""The phi of RBP and RBO, which the paper does not print."""

SEEDS: tuple[int, ...] = tuple(range(1, 11))
"""Seeds of the splits over which claims are judged that depend on one split."""

RATIOS: tuple[int, ...] = tuple(range(10, 100, 10))
"""Shares of the ratings that are trained on, in percent."""

FILLS: Mapping[str, str] = {
    "none": "",
    "random": " unscored=random",
    "popularity": " unscored=popularity",
    "average": " unscored=average-rating",
}
"""What is made of items without a score (B2), as the paper names it."""

SIZES: tuple[int, ...] = (1, 3, 10, 30, 100)
"""Numbers of neighbours in the experiment on items without a score."""

OVERLAPS: tuple[int, ...] = (1, 5, 10, 20, 40)
"""Least numbers of common items in the experiment on users without neighbours."""

LABELS = (
    "full",
    "condensed",
    "everybody",
    "relevant",
    "looser",
    "by ratings",
    "by positives",
    "geometric",
    "median",
)
"""What the paper's starting configuration, and one change of it each, are called."""

PLACES = 20
"""Places of condensed lists of which it is told where they stand in the full one."""


def stars_merged(dataset: Mapping[str, Any] | None) -> bool:
    """Tell by its record whether the lowest stars of a data set are one value."""
    return dataset is not None and "merged" in dataset["title"]


def seeds_of(dataset: str) -> tuple[int, ...]:
    """Choose the seeds of the splits: one while the book is built, else ten.

    Examples
    --------
    >>> seeds_of("synthetic"), len(seeds_of("ml-1m"))
    ((1,), 10)
    """
    return SEEDS[:1] if is_made_here(dataset) else SEEDS


def ratio_name(ratio: int) -> str:
    """Name the results of a split, and the split itself in a label.

    Examples
    --------
    >>> ratio_name(20)
    'ratio_20'
    """
    return f"ratio_{ratio}"


def split_of(ratio: int) -> str:
    """Write the split that trains on a share of the ratings; its rule names that of the test.

    Examples
    --------
    >>> split_of(20), split_of(50)
    ('ratio 0.8', 'ratio 0.5')
    """
    return f"ratio {(100 - ratio) / 100:g}"


def systems_of(
    names: tuple[str, ...], min_rating: float, dataset: str, n_seeds: int | None = None
) -> tuple[System, ...]:
    """Take systems of the paper, trained as often as the order of systems asks.

    Examples
    --------
    >>> [(system.name, system.n_seeds) for system in systems_of(SYSTEMS, 4, "ml-1m")]
    [('User kNN', 1), ('MF', 5), ('MF (as in RankSys)', 5)]
    """
    known = {system.name: system for system in line_up("ccm20", min_rating=min_rating)}
    n_seeds = training_seeds(dataset) if n_seeds is None else n_seeds
    chosen = [known[name] for name in names]
    if below_zero(dataset):
        likes = str(Encoding("binary-zero", min_rating))
        chosen = [
            replace(system, parameters={**system.parameters, "encoding": likes})
            if system.parameters["encoding"] == "stars"
            else system
            for system in chosen
        ]
    return tuple(with_seeds(chosen, n_seeds))


def below_zero(dataset: str) -> bool:
    """Tell whether a reader's table has ratings below 0, which none of the systems can read.

    Examples
    --------
    >>> below_zero("ml-1m")
    False
    """
    return is_path(dataset) and bool(load_dataset(dataset).ratings.value.min() < 0)


def table_notes(dataset: str, min_rating: float) -> str:
    """Say what is otherwise on a reader's table than in the paper, as its ratings ask for it."""
    said = []
    if below_zero(dataset):
        said.append(
            "Some ratings are **below 0**, which none of the two systems can read: for them a "
            f"rating of {exact(min_rating)} or more counts 1, and any other 0."
        )
    all_metrics = (metric for metrics in start_metrics().values() for metric in metrics)
    said.append(left_out_metrics(dataset, all_metrics, min_rating=min_rating))
    return " ".join(filter(None, said))


# -- the start, and what is measured there ---------------------------------------------------------


def cell_metrics() -> dict[str, tuple[str, ...]]:
    """Name the cells of Tables 3 and 4, by protocol.

    Examples
    --------
    >>> cell_metrics()["by ratings"], len(cell_metrics()["full"])
    (('P@10', 'nDCG@10'), 9)
    """
    both = ("P@10", "nDCG@10")
    gains = tuple(f"RBP({phi:g}{gain})" for gain in ("", ",exp") for phi in PERSISTENCES)
    return {
        "full": (*both, "nDCG(exp)@10", *gains),
        "condensed": (*both, "nDCG(exp)@10", *gains),
        "by ratings": both,
        "by positives": both,
        "geometric": both,
    }


def cells_of(measured: Collection[str], label: str) -> tuple[str, ...]:
    """Name the cells of Tables 3 and 4 under a label that are among what is measured.

    Examples
    --------
    >>> cells_of(["nDCG@10", "P@10", "nDCG@5"], "by ratings")
    ('P@10', 'nDCG@10')
    """
    return tuple(metric for metric in cell_metrics()[label] if metric in measured)


def start_metrics() -> dict[str, tuple[str, ...]]:
    """Name all that is measured at the start, by protocol.

    Examples
    --------
    >>> start_metrics()["median"], start_metrics()["condensed"][-1]
    (('P@10', 'nDCG@10'), 'RBO(0.9,truncated)')
    """
    both = ("P@10", "nDCG@10")
    cells = cell_metrics()
    depths = tuple(f"nDCG@{depth}" for depth in DEPTHS if depth != 10)
    orders = tuple(f"RBO({phi:g}{form})" for form in ("", ",truncated") for phi in PERSISTENCES)
    residuals = tuple(f"RBPresidual({phi:g})" for phi in PERSISTENCES)
    return {
        **dict.fromkeys(LABELS, both),
        **cells,
        "full": (
            *cells["full"], *depths, *residuals, "nDCG(err)@10", "judged@10", "Served@1",
            "Served@10",
        ),
        "condensed": (*cells["condensed"], *depths, "Served@1", "Served@10", "tau", *orders),
    }  # fmt: skip


def combined(measured: Mapping[str, tuple[str, ...]]) -> tuple[tuple[str, str], ...]:
    """List what criteria, figures and tables combine, so that its replicates are kept: all.

    Examples
    --------
    >>> combined({"full": ("P@10",)})
    (('full', 'P@10'),)
    """
    return tuple((label, metric) for label, metrics in measured.items() for metric in metrics)


def metrics_of(dataset: str, min_rating: float) -> dict[str, tuple[str, ...]]:
    """Name what is measured at the start of it that a data set can have, by protocol.

    Examples
    --------
    >>> metrics_of("synthetic", 4)["geometric"]
    ('P@10', 'nDCG@10')
    """
    return {
        label: measurable(dataset, texts, min_rating=min_rating)
        for label, texts in start_metrics().items()
    }


def compared(measured: Mapping[str, tuple[str, ...]]) -> tuple[tuple[str, str], ...]:
    """List by what all pairs of systems are tested: the cells of Tables 3 and 4.

    Examples
    --------
    >>> compared({"full": ("P@10", "nDCG@5"), "condensed": ("P@10",)})
    (('full', 'P@10'), ('condensed', 'P@10'))
    """
    return combined({label: cells_of(measured[label], label) for label in ("full", "condensed")})


# -- items without a score, users without neighbours -----------------------------------------------


def fill_name(size: int) -> str:
    """Name the system with a number of neighbours.

    Examples
    --------
    >>> fill_name(3), fill_name(100)
    ('User kNN k=3', 'User kNN')
    """
    return KNN if size == 100 else f"{KNN} k={size}"
