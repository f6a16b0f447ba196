"""What chapter 1 measures: systems, protocols and their labels, and what follows from its grids.

The paper's Sections 2 and 3. The grids themselves stand in the chapter, where a reader sees them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise, product
from typing import NoReturn

import pandas as pd

from recbias.book.choosing import full_pool, largest_pool
from recbias.claims.checks import Checks
from recbias.claims.evidence import NotComputed, axis_labels
from recbias.claims.quantities import order_tau, share_of_orders
from recbias.data.datasets import is_path, load_dataset
from recbias.data.ratings import exact
from recbias.errors import MissingData
from recbias.experiment.results import Quantity, load_result, results_dir
from recbias.experiment.run import Results
from recbias.protocol.targets import candidate_items
from recbias.protocol.testset import dataset_splits
from recbias.recommenders import bcc17_grid, merged_star_variants

CHAPTER = "01_design_alternatives"
"""Name of the notebook, and of the folder of its results."""

FIGURE_2 = ("pLSA", "Popularity", "MF (rating prediction)", "kNN (rating prediction)", "Random")
"""The systems of BCC17 Fig. 2 in its order, MF and kNN read as rating predictors (E25)."""

REMOVED = (0, 30, 60, 90)
"""Percent of the test ratings removed in BCC17 Fig. 3, left."""

READINGS = {
    "rating prediction": ("mf-rating", "knn-rating"),
    "ranking": ("mf-ranking", "knn-ranking"),
}
"""Parts of the parameter grid that hold the MF and the kNN settings, by reading (E25)."""

BESIDE = ("Random", "Popularity", "pLSA")
"""Systems that the parameter grid is set beside."""

LEMMA_SYSTEMS = ("pLSA", "Popularity", "kNN (rating prediction)", "kNN (ranking)")
"""Systems of the Fig. 3 experiment: the paper's two, kNN in both readings, and Popularity."""


def protocols(min_rating: float, *, size: int = 100, n_sampled: int = 1000) -> dict[str, str]:
    """Name the protocols of the chapter."""
    relevance = f"rel>={exact(min_rating)}"
    return {
        "AR": f"TI-AN-AR {relevance}",
        "AI": f"AI-AN-AR {relevance}",
        "R_test": f"TI-AN-AR {relevance} condensed",
        "NN": f"TI-NN-AR N={n_sampled} {relevance}",
        "1R": f"TI-NN-1R t={size} {relevance}",
        "shared": f"TI-NN-1R-shared t={size} {relevance}",
        "all-1R": f"TI-AN-1R {relevance}",
    }


def combined(cutoff: int, size: int) -> tuple[tuple[str, str], ...]:
    """List what the chapter's criteria and tables combine: differences, ratios, orders."""
    precision = f"P@{cutoff}"
    return (
        *(("AR", metric) for metric in (precision, f"R@{cutoff}", f"nDCG@{cutoff}", "AP", "RR")),
        *((label, precision) for label in ("AI", "R_test", "NN")),
        *((label, "rho") for label in ("AR", "AI", "NN")),
        *(("1R", metric) for metric in (precision, f"nDCG@{cutoff}", "RR", "rho")),
        *(("shared", metric) for metric in (precision, f"lower@{cutoff}", f"upper@{cutoff}")),
        ("all-1R", f"P@{cutoff}|t={size}"),
    )


def largest_sample(dataset: str, size: int, *, min_rating: float, split: str, seed: int) -> int:
    """Choose the largest sample of the chapter: the paper's 1000, if the data has so many items."""
    try:
        folds = dataset_splits(load_dataset(dataset), split, seed=seed)
        n_tested = len(candidate_items(folds[0], "TI"))
    except MissingData:
        path = results_dir(dataset, recorded=True) / CHAPTER / "checks"
        if not path.with_suffix(".json").is_file():
            raise
        checks = load_result(path, dataset=dataset)
        if not isinstance(checks, Checks):
            raise
        n_tested = int(checks.statistics["n_candidates[TI]"])
    usual = min(10 * size, int(0.8 * n_tested))
    if not is_path(dataset):
        return usual
    full = max(1, full_pool(folds[0], min_rating=min_rating))
    return min(usual, full, largest_pool(folds, min_rating=min_rating))


def target_sizes(smallest: int, largest: int) -> tuple[int, ...]:
    """Space four sizes of target sets evenly, as BCC17 Fig. 3 does; fewer where they coincide.

    Examples
    --------
    >>> target_sizes(100, 1000)
    (100, 400, 700, 1000)
    """
    sizes = (max(2, smallest + step * (largest - smallest) // 3) for step in range(4))
    return tuple(dict.fromkeys(sizes))


def reading_settings(reading: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Name the settings of MF and of kNN in one reading, a key of :data:`READINGS`."""
    mf, knn = (tuple(system.name for system in bcc17_grid(part)) for part in READINGS[reading])
    return mf, knn


def setting_families() -> dict[str, tuple[str, ...]]:
    """Name the settings of the parameter grid by family, reading and, where there is one, damping.

    Examples
    --------
    >>> len(setting_families()["kNN rating, damping 1"])
    24
    """
    families: dict[str, list[str]] = {}
    for reading in READINGS:
        word = "rating" if reading == "rating prediction" else reading
        for family, names in zip(("MF", "kNN"), reading_settings(reading), strict=True):
            for name in names:
                damped = re.search(r"^kNN norm .*reg=(\d+)", name)
                title = f"{family} {word}" + (f", damping {damped[1]}" if damped else "")
                families.setdefault(title, []).append(name)
    return {title: tuple(names) for title, names in families.items()}


def lemma_panels(results: Results) -> dict[str, tuple[list[str], list[int]]]:
    """Name the two axes of Fig. 3 with their labels and places, for its figures."""
    axes = {"test ratings removed (%)": "removed", "size of the target set": "size"}
    labels = {title: axis_labels(results.grid, axis) for title, axis in axes.items()}
    return {title: (list(by_place.values()), list(by_place)) for title, by_place in labels.items()}


def grid_share(results: Results, label: str, reading: str) -> Quantity:
    """Share of a parameter grid in which the order of Fig. 2 holds."""
    chain = [("pLSA",), ("Popularity",), *reading_settings(reading), ("Random",)]
    chain = [tuple(results.among(place)) or _not_measured(place) for place in chain]
    names = [name for place in chain for name in place]
    return share_of_orders(results.of_systems(label, results.metric(label, "P"), names), chain)


def _not_measured(place: Sequence[str]) -> NoReturn:
    raise NotComputed(f"{place[0]}{' and its like' if len(place) > 1 else ''}")


def tau_between(results: Results, first: tuple[str, str], second: tuple[str, str]) -> Quantity:
    """Compute Kendall's tau between two orders of all systems, each by label and metric."""
    a, b = (list(results.of_systems(*names).values()) for names in (first, second))
    return order_tau(a, b)


def nearest_setting(results: Results, label: str, reading: str) -> tuple[str, str, int]:
    """Find the pair of settings whose order is nearest to the published one."""
    measured = results.of_systems(label, results.metric(label, "P"))
    values = {name: quantity.value for name, quantity in measured.items()}

    def closeness(pair: tuple[str, str]) -> tuple[int, float]:
        order = ("pLSA", "Popularity", *pair, "Random")
        steps = [values[a] - values[b] for a, b in pairwise(order)]
        return sum(step > 0 for step in steps), min(steps)

    all_mf, all_knn = map(results.among, reading_settings(reading))
    mf, knn = max(product(all_mf, all_knn), key=closeness)
    return mf, knn, closeness((mf, knn))[0]


def star_sensitivity(results: Results, stars: Results) -> pd.DataFrame:
    """Lay out how AR precision moves with the value that stars below 4 are given."""
    counted = (1, 2, 3)
    metric = str(results.metric("AR", "P"))
    variants = {
        system.name: [variant.name for variant in merged_star_variants([system], counted)]
        for system in results.grid.systems
    }
    readers = [
        name for name, merged in variants.items() if merged and set(merged) <= set(stars.systems)
    ]
    rows = {}
    for name in (*readers, *results.among(stars.among(("Popularity", "Random")))):
        names = variants[name] if name in readers else [name] * len(counted)
        rows[name] = [
            *(stars[variant, "AR", metric].value for variant in names),
            results[name, "AR", metric].value,
        ]
    columns = [*map(str, counted), "as in this edition"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns)
