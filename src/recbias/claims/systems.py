"""What the page "The systems" measures, and under which protocol."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from recbias.claims.validation import MEASURES
from recbias.datasets import dataset_info, is_path, load_dataset, top_rating
from recbias.errors import MissingData
from recbias.experiment import Results, run
from recbias.grid import Grid
from recbias.recommenders import System
from recbias.results import load_result, results_dir

__all__ = [
    "LINE_UP",
    "TITLES",
    "is_made_here",
    "liked_from",
    "measure",
    "published_split",
]

LINE_UP = "mccrs20"
"""The line-up that is measured: the one with published values."""

TITLES: Mapping[str, str] = {
    "mccrs20": "Mena-Maldonado et al. 2020",
    "bcc17": "Bellogín, Castells & Cantador 2017",
    "ccm20": "Cañamares, Castells & Moffat 2020",
    "atm15": "Adamopoulos, Tuzhilin & Mountanos 2015",
    "modern": "What people run today",
}
"""What the line-ups stand for, in the order of the page."""


def is_made_here(dataset: str) -> bool:
    """Tell a simulated dataset, whose pages are always computed live, from all others."""
    return not is_path(dataset) and not dataset_info(dataset).files


def liked_from(dataset: str) -> float:
    """Give the relevance of MCCRS20: 4 of 5 stars, and on other scales one step from the top.

    Parameters
    ----------
    dataset
        Name of a dataset, which need not be at hand, or path of a table.

    Returns
    -------
    float
        The top of the scale minus 1. Where that is no rating, or the data are counts, what
        :func:`recbias.datasets.top_rating` gives.

    Examples
    --------
    >>> liked_from("ml-1m"), liked_from("ml-latest-small"), liked_from("cm100k")
    (4.0, 4.0, 3.0)
    """
    top = top_rating(dataset)
    if not is_path(dataset):
        info = dataset_info(dataset)
        counts, minimum = info.relevant_from is not None, info.scale.minimum
    else:
        counts, minimum = False, load_dataset(dataset).ratings.scale.minimum
    return float(top if counts or top - 1 <= minimum else top - 1)


def published_split(dataset: str) -> str:
    """Choose the authors' own folds where a dataset has them, else five new ones.

    Parameters
    ----------
    dataset
        Name of a dataset, or path of a table. Where the data is not at hand, the recorded results
        of the line-up tell.

    Returns
    -------
    str
        ``"ready"`` or ``"k-fold 5"``.

    Raises
    ------
    MissingData
        If the dataset is neither at hand nor recorded.
    """
    try:
        return "ready" if load_dataset(dataset).ready_folds is not None else "k-fold 5"
    except MissingData:
        path = results_dir(dataset, recorded=True) / "systems" / LINE_UP
        if not path.with_suffix(".json").is_file():
            raise
        stored = load_result(path, dataset=dataset)
        if not isinstance(stored, Results):
            raise
        return stored.grid.split


def measure(
    name: str,
    systems: Iterable[System],
    *,
    dataset: str,
    protocol: str,
    split: str,
    seed: int,
    workers: int,
) -> Results:
    """Measure systems as the whole page does: precision and anti-precision, under one protocol.

    Parameters
    ----------
    name
        Under which the results are kept, among those of the page.
    systems
        What is measured.
    dataset, protocol, split, seed
        As for :class:`recbias.grid.Grid`. No replicates are kept: the page compares single values.
    workers
        As for :func:`recbias.experiment.run`.
    """
    grid = Grid(
        dataset, tuple(systems), (protocol,), MEASURES, split=split, seed=seed, replicates=()
    )
    return run(grid, workers=workers, record=f"systems/{name}")
