"""How often systems with random training are trained where a page reads an order of systems."""

from __future__ import annotations

from recbias.data.datasets import dataset_info, is_path
from recbias.experiment.run import Results

__all__ = ["ORDER_SEEDS", "few_seeds", "training_seeds"]

ORDER_SEEDS = 5
"""Training seeds in each fold from which on an order of systems is read."""


def training_seeds(dataset: str) -> int:
    """Choose how often a page trains each system with random training, in each fold.

    Parameters
    ----------
    dataset
        Name of a dataset, which need not be at hand, or path of a table.

    Returns
    -------
    int
        :data:`ORDER_SEEDS` on published data. On a simulated world and on a reader's own table 1,
        to keep them quick; parts that hang on an order are open there (see :func:`few_seeds`).

    Raises
    ------
    ConfigError
        If there is no such dataset.

    See Also
    --------
    recbias.recommenders.with_seeds : Gives systems their seeds.

    Examples
    --------
    >>> training_seeds("ml-1m"), training_seeds("synthetic"), training_seeds("mine.csv")
    (5, 1, 1)
    """
    published = not is_path(dataset) and bool(dataset_info(dataset).files)
    return ORDER_SEEDS if published else 1


def few_seeds(results: Results) -> frozenset[str]:
    """Name the systems whose training was drawn too seldom to read an order from.

    Parameters
    ----------
    results
        Of a grid, measured or recorded.

    Returns
    -------
    frozenset of str
        Those with random training and fewer than :data:`ORDER_SEEDS` seeds. A part that compares
        one of them with another system is open.

    Raises
    ------
    ConfigError
        If the class of a system is not registered.

    See Also
    --------
    recbias.recommenders.System.random_training : What random training is.
    """
    return frozenset(
        system.name
        for system in results.grid.systems
        if system.random_training and system.n_seeds < ORDER_SEEDS
    )
