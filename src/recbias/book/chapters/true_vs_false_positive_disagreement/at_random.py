"""Worlds in which users rate at random: what few judgments alone do to P and antiP.

Sec. 3 of MCCRS20 expects that the two would only agree less clearly, and never come to contradict
each other, if judgments were missing at random. Of a world with preferences a share of *all* pairs
is judged, drawn uniformly for each user. Systems are trained on four fifths of these judgments and
tested on the others, as everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from tqdm import tqdm

from recbias.book.chapters.true_vs_false_positive_disagreement.setup import CHAPTER
from recbias.book.chapters.true_vs_false_positive_disagreement.worlds import SYSTEMS, systems_of_map
from recbias.data.ratings import exact
from recbias.data.simulation import PreferenceOptions
from recbias.experiment.grid import Grid
from recbias.experiment.makers import Table, maker
from recbias.experiment.run import run
from recbias.stats.agreement import kendall_tau

AT_RANDOM: Mapping[str, Any] = {
    "shares": (0.02, 0.05, 0.1, 0.5),
    "relation": 0.6,
    "skew": 0.5,
    "n_worlds": 6,
    "size": (300, 400),
    "min_rating": 4,
    "split": "ratio 0.2",
    "systems": SYSTEMS,
}
"""What the chapter asks of `at_random`, whatever the data of its page: the shares of the
ledger's proposal, in worlds whose popularity relates to liking as that of CM100k does."""

_METRICS = ("P@10", "antiP@10")
_INDEX = ("share", "number")


def _grid(
    number: int = 1,
    *,
    shares: Sequence[float],
    relation: float,
    skew: float,
    size: Sequence[int],
    min_rating: float,
    split: str,
    systems: Sequence[str],
) -> Grid:
    """Ask for all shares of one world; what is judged of it is trained on, too."""
    options = PreferenceOptions(
        relation=relation, skew=skew, users=size[0], items=size[1], liked=int(min_rating),
        seed=number,
    )  # fmt: skip
    labels = {f"{share:g}": max(2, round(share * size[1])) for share in shares}
    return Grid(
        str(options),
        tuple(systems_of_map(systems, min_rating)),
        dict.fromkeys(labels, f"AI-AN-AR rel>={exact(min_rating)} users=tested"),
        _METRICS,
        split=split,
        seed=number,
        tests={label: f"truth sample={n} train=same" for label, n in labels.items()},
        replicates=(),
    )


@maker(CHAPTER, Table, parts=("world",), uses={"grid": _grid})
def at_random(
    *,
    shares: Sequence[float],
    relation: float,
    skew: float,
    n_worlds: int,
    size: Sequence[int],
    min_rating: float,
    split: str,
    systems: Sequence[str],
) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Order systems where judgments are missing at random.

    Parameters
    ----------
    shares
        Shares of all pairs that are judged.
    relation, skew
        Of popularity with liking, and how unevenly items would be rated by choice. Here it tells
        only how many users like an item.
    n_worlds
        Independent worlds: those of seeds 1, 2, ...
    size
        Numbers of users and items.
    min_rating
        Smallest rating that says liking.
    split
        Text of the split rule of the judgments.
    systems
        Names of systems of the line-up ``mccrs20``; each is trained once in each world.

    Returns
    -------
    index : tuple of str
        ``share`` and ``number``.
    frame : DataFrame
        The ``value`` of each: Kendall's tau between the orders of the systems by P and antiP.
    """
    rows = []
    for number in tqdm(range(1, n_worlds + 1), desc="worlds"):
        results = run(
            _grid(
                number, shares=shares, relation=relation, skew=skew, size=size,
                min_rating=min_rating, split=split, systems=systems,
            )
        )  # fmt: skip
        for share in shares:
            orders = [
                [results[system, f"{share:g}", metric].value for system in results.systems]
                for metric in _METRICS
            ]
            rows.append((share, number, float(kendall_tau(*orders))))
    return _INDEX, pd.DataFrame(rows, columns=[*_INDEX, "value"])
