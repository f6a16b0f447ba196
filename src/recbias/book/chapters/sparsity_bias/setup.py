"""What chapter 2 measures: target sets with ever fewer test ratings, and larger target sets.

The paper's Section 4. The grid itself stands in the chapter, where a reader sees it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from recbias.book.chapters.design_alternatives.setup import REMOVED

CHAPTER = "02_sparsity_bias"
"""Name of the notebook, and of the folder of its results."""


def removed_label(label: str, removed: int) -> str:
    """Name the label under which less of the test is left.

    Examples
    --------
    >>> removed_label("AR", 30), removed_label("AR", 0)
    ('AR removed 30%', 'AR')
    """
    return f"{label} removed {removed}%" if removed else label


def metrics(
    cutoff: int,
    size: int,
    sizes: Iterable[int],
    *,
    removed: Iterable[int] = REMOVED,
) -> dict[str, tuple[str, ...]]:
    """Name what is measured under each label of `protocols`.

    Examples
    --------
    >>> by_label = metrics(10, 100, (100, 400), removed=(0, 30))
    >>> by_label["all-1R removed 30%"]
    ('P@10|t=100', 'nDCG@10|t=100', 'RR|t=100')
    >>> by_label["sizes"][:2]
    ('P@10|t=100', 'P@10|t=400')
    """
    precision = f"P@{cutoff}"
    of_runs = (precision, f"nDCG@{cutoff}", "RR")
    short_and_long = dict.fromkeys((f"nDCG@{-(-cutoff // 5)}", f"nDCG@{cutoff}"))
    measured = {
        "AR": (precision, f"antiP@{cutoff}", f"R@{cutoff}", "RR", "rho"),
        "liked": (f"R@{cutoff}", "AP", "nDCG", *short_and_long, "RR"),
        "all-1R": tuple(f"{name}|t={size}" for name in of_runs),
    }
    shares = tuple(removed)
    by_label = {removed_label(rule, share): measured[rule] for rule in measured for share in shares}
    return {
        **by_label,
        "sizes": tuple(f"{name}|t={set_size}" for name in of_runs for set_size in sizes),
    }


def combined(measured: Mapping[str, Iterable[str]]) -> tuple[tuple[str, str], ...]:
    """List what criteria, figures and tables combine: slopes, ratios, orders.

    Examples
    --------
    >>> combined({"AR": ("P@10", "antiP@10"), "liked": ("R@10",)})
    (('AR', 'P@10'), ('liked', 'R@10'))
    """
    return tuple(
        (label, metric)
        for label, texts in measured.items()
        for metric in texts
        if not metric.startswith("antiP")
    )
