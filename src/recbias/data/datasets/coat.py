"""Coat: ratings of coats that users picked themselves, and of coats drawn at random.

References
----------
T. Schnabel et al. Recommendations as Treatments: Debiasing Learning and Evaluation. ICML 2016.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from recbias.data.datasets.content import Content
from recbias.data.datasets.tables import read_text
from recbias.data.ratings import Ratings, RatingScale
from recbias.errors import DataError


def read(files: Sequence[Path]) -> Content:
    """Read ``train.ascii`` and ``test.ascii``: matrices of users by coats, 0 where there is none.

    Users and coats are numbered from 1, by line and column. The random part has all its cells,
    those that are in both files too: without them it would no longer be random, as users like what
    they pick. A split by it takes them out of training instead.

    Parameters
    ----------
    files : sequence of Path
        The two files, train first.

    Returns
    -------
    Content
        `ratings` is the self-selected part, ``train.ascii``; `unbiased` the other, all of it.

    Raises
    ------
    DataError
        If the files differ in shape or a number is not from 0 to 5.
    """
    picked, drawn = (_read_matrix(path) for path in files)
    if picked.shape != drawn.shape:
        raise DataError(
            f"{files[0]} has {picked.shape[0]} x {picked.shape[1]} cells, {files[1]} "
            f"{drawn.shape[0]} x {drawn.shape[1]}\nexpected matrices of one shape"
        )
    both = (picked > 0) & (drawn > 0)
    cells = np.where(picked > 0, picked, drawn)
    users, items = np.nonzero(cells)
    every = Ratings.from_frame(
        pd.DataFrame({"user_id": users + 1, "item_id": items + 1, "rating": cells[users, items]}),
        scale=RatingScale(1, 5, 1),
        name="coat",
    )
    of_drawn = drawn[users, items]
    unbiased = dataclasses.replace(every, value=np.where(of_drawn > 0, of_drawn, every.value))
    unbiased = unbiased.take(of_drawn > 0)
    note = (
        f"the self-selected part; the random part has {len(unbiased):,} ratings, "
        f"{int(both.sum())} of them of cells that are in both files: they leave training, never "
        "the test"
    )
    return Content(every.take(picked[users, items] > 0), unbiased=unbiased, notes=(note,))


def _read_matrix(path: Path) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    with path.open("rb") as file:
        columns = [str(column) for column in range(len(file.readline().split()))]
    frame = read_text(path, " ", columns, columns)
    matrix = frame.apply(pd.to_numeric, errors="coerce").to_numpy(dtype=np.float64)
    wrong = ~np.isin(matrix, range(6))
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise DataError(
            f"{path}:{row + 1}: column {column + 1} has the value "
            f"{frame.iloc[row, column]!r}, expected 0 to 5"
        )
    return matrix
