"""All pairs of sixteen systems: who wins in which share of the universes, and by how much."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from recbias.book.chapters.multiverse.setup import CHAPTER
from recbias.data.datasets import Dataset
from recbias.errors import DataError
from recbias.experiment.grid import Grid
from recbias.experiment.makers import Table, maker
from recbias.experiment.options import Options
from recbias.experiment.outcomes import evaluate
from recbias.multiverse.agreement import tried_signs
from recbias.multiverse.kinds import place_of
from recbias.multiverse.weights import weigh


@maker(CHAPTER, Table, parts=("world",))
def pairs(
    dataset: Dataset,
    *,
    options: Mapping[str, Sequence[str]],
    min_rating: float,
    start: str,
    truth: str = "",
    grid: Grid,
    workers: int = 1,
) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Compare all pairs of systems under all combinations of options.

    Parameters
    ----------
    dataset
        Loaded data set.
    options
        Texts by decision.
    min_rating
        Smallest rating that is relevant.
    start
        Options of the evaluation whose effect and p are told, and of what no decision sets.
    truth
        Options whose winner is the true one: the very systems of the start, by judgments that no
        universe sees. Empty where there are none.
    grid
        Its dataset, systems and seed are taken.
    workers
        Processes; the results do not depend on them.

    Returns
    -------
    index : tuple of str
        ``a`` and ``b``; without systems that cannot be trained on the data.
    frame : DataFrame
        ``effect`` and ``p`` at the start; ``wins`` and ``loses``, shares of the combinations, and
        ``trusted wins`` and ``trusted loses``, of their weight. ``true``: 1 where `a` is truly
        better, -1 where it is worse, with ``true p`` over users; NaN where nobody knows.
    """
    # First of all together, which trains the systems side by side.
    first = evaluate(Options.parse(start), grid.dataset, grid.systems, workers=workers)
    at_start, left_out = first.pairs, first.results.left_out
    systems = [system for system in grid.systems if system.name not in left_out]
    tried = tried_signs(grid.dataset, systems, options, grid.seed, start=start, workers=workers)
    known = ~np.isnan(tried.signs[0])
    kinds = place_of(dataset.ratings, min_rating).kinds
    weights = weigh(options, min_rating, kinds) if kinds else None
    weights = np.ones(known.shape) if weights is None else weights
    if not weights[known].any():
        raise DataError(f"{dataset.name}: no universe that is measured has a weight")
    rows = []
    for (a, b), signs in zip(tried.pairs, tried.signs, strict=True):
        shares = [
            float(np.average(signs[known] == sign, weights=by[known]))
            for by in (np.ones(known.shape), weights)
            for sign in (1, -1)
        ]
        rows.append((a, b, *shares))
    columns = ["a", "b", "wins", "loses", "trusted wins", "trusted loses"]
    frame = pd.DataFrame(rows, columns=columns)
    frame = frame.merge(at_start[["a", "b", "effect", "p"]], on=["a", "b"])
    if not truth:
        return ("a", "b"), frame.assign(true=np.nan, **{"true p": np.nan})
    by_truth = evaluate(Options.parse(truth), grid.dataset, systems, workers=workers).pairs
    by_truth = by_truth.assign(true=np.sign(by_truth["difference"])).rename(columns={"p": "true p"})
    return ("a", "b"), frame.merge(by_truth[["a", "b", "true", "true p"]], on=["a", "b"])
