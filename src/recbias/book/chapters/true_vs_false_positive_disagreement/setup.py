"""What chapter 5 is called, and which protocols and metrics it shares.

The grid itself stands in the chapter, where a reader sees it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping

from recbias._system.streams import stream
from recbias.data.datasets import Dataset, dataset_info, is_path, load_dataset
from recbias.data.ratings import Ratings, exact
from recbias.experiment.grid import Grid

CHAPTER = "05_true_false_positives"
"""Name of the notebook, and of the folder of its results."""


def protocols(min_rating: float, *, truth: str = "") -> tuple[dict[str, str], dict[str, str]]:
    """Name the protocols of the chapter and the side of the test under each.

    Examples
    --------
    >>> protocols(4)[0]["condensed"]
    'AI-AN-AR rel>=4 condensed users=tested'
    >>> protocols(3, truth="unbiased")[1]
    {'true': 'unbiased'}
    """
    full = f"AI-AN-AR rel>={exact(min_rating)}"
    texts = {"full": f"{full} users=tested", "condensed": f"{full} condensed users=tested"}
    if not truth:
        return texts, {}
    return {**texts, "true": texts["full"]}, {"true": truth}


def truth_of(dataset: str) -> str:
    """Choose where true values come from, as `protocols` takes it.

    Examples
    --------
    >>> truth_of("cm100k"), truth_of("ml-1m"), truth_of("mine.csv")
    ('unbiased', '', '')
    >>> truth_of("world(relation=0.5)")
    'truth sample=168'
    """
    if is_path(dataset):
        return ""
    info = dataset_info(dataset)
    if "real people" in info.cannot_test and info.n_items:
        return f"truth sample={info.n_items // 10}"
    return "" if "no unbiased part" in info.cannot_test or not info.files else "unbiased"


def drawn_judgments(dataset: Dataset, *, seed: int) -> Ratings | None:
    """Give judgments of items that were drawn at random: of people, or of a world's users.

    Examples
    --------
    >>> world = load_dataset("synthetic")
    >>> judgments = drawn_judgments(world, seed=1)
    >>> len(judgments) == world.ratings.n_users * (world.ratings.n_items // 10)
    True
    """
    if dataset.unbiased is not None or dataset.truth is None:
        return dataset.unbiased
    asked = max(1, dataset.ratings.n_items // 10)
    return dataset.truth.sample(asked, rng=stream(seed, "truth"))


def has_times(dataset: str) -> bool:
    """Tell whether ratings of a dataset can be split by time.

    Examples
    --------
    >>> has_times("ml-100k"), has_times("cm100k")
    (True, False)
    """
    if is_path(dataset):
        return load_dataset(dataset).ratings.timestamp is not None
    return "no timestamps" not in dataset_info(dataset).cannot_test


def metrics(cutoff: int, labels: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Name what is measured under each label of `protocols`.

    Examples
    --------
    >>> asked = metrics(10, ["full", "condensed"])
    >>> asked["full"][:2], asked["condensed"][-2:]
    (('P@10', 'antiP@10'), ('P@10|judged', 'antiP@10|judged'))
    """
    shared = tuple(f"{name}@{cutoff}" for name in _SHARED)
    authors = (f"P@{cutoff}|judged", f"antiP@{cutoff}|judged")
    return {label: shared + authors * (label == "condensed") for label in labels}


_SHARED = ("P", "antiP", "R", "fallout", "judged", "nDCG(steps)", "nDCL", "RR", "antiRR")
"""What is measured under every label: what is liked, what is not, and what is known at all.

Gains and losses are steps above and below the threshold, as in the code of TOIS21."""


def compared(cutoff: int) -> tuple[tuple[str, str], ...]:
    """Name by what all pairs of systems are tested: precision, full and as the authors condense.

    Examples
    --------
    >>> compared(10)
    (('full', 'P@10'), ('condensed', 'P@10|judged'))
    """
    return (("full", f"P@{cutoff}"), ("condensed", f"P@{cutoff}|judged"))


def over_time(grid: Grid) -> Grid:
    """Ask for the full lists of a grid, with the last fifth of all ratings as the test.

    Examples
    --------
    >>> from recbias.recommenders import line_up
    >>> asked = protocols(4)[0]
    >>> grid = Grid("ml-100k", line_up("mccrs20"), asked, metrics(10, asked), split="k-fold 5")
    >>> later = over_time(grid)
    >>> later.split, list(later.by_label)
    ('temporal 0.2', ['full'])
    """
    full = {"full": grid.by_label["full"]}
    return dataclasses.replace(
        grid,
        protocols={"full": str(grid.parsed["full"])},
        metrics=full,
        split="temporal 0.2",
        tests={},
        compare=(),
        replicates=combined(full),
    )


def combined(measured: Mapping[str, Iterable[str]]) -> tuple[tuple[str, str], ...]:
    """List what criteria, figures and tables combine, so that its replicates are kept: all.

    Examples
    --------
    >>> combined({"full": ("P@10", "antiP@10")})
    (('full', 'P@10'), ('full', 'antiP@10'))
    """
    return tuple((label, metric) for label, of_label in measured.items() for metric in of_label)
