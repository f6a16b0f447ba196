"""What chapter 6 is called, which systems the poster compares, and what is measured of them.

The poster states neither split, threshold, encoding, N nor lambda. One configuration is chosen
before any result is known: lists of ten items, ratings of 4 or more are liked (of FilmTrust, whose
scale ends at 4, of 3 or more), five folds, and a lambda of 0.8: the tail is the 80 % of the items
that the poster's head of 20 % leaves.
"""

from __future__ import annotations

from collections.abc import Mapping

from recbias.book.systems.line_up import is_made_here
from recbias.data.datasets import is_path, load_dataset
from recbias.experiment.training_seeds import training_seeds
from recbias.recommenders import System, line_up, with_seeds

CHAPTER = "06_concentration"
"""Name of the notebook, and of the folder of its results."""

SEVEN: tuple[str, ...] = ("AR", "Item kNN", "User kNN", "RankSGD", "LRMF", "BPR", "WBPR")
"""The systems of the poster, as the line-up ``atm15`` names them."""

DATASETS: tuple[str, ...] = ("ml-100k", "ml-1m", "ml-latest-small", "filmtrust")
"""The data sets of the poster."""

LAMBDA = 0.8
"""The lambda of LTI, as printed and as a percentile."""

CUTOFFS: tuple[int, ...] = (5, 10, 20, 50)
"""Lengths of lists at which metrics are compared with each other."""

_ADDED: tuple[tuple[str, str], ...] = (
    ("mccrs20", "Average rating"),
    ("modern", "Relevant popularity"),
    ("modern", "Item cosine (implicit)"),
    ("modern", "Item BM25 (implicit)"),
    ("modern", "EASE"),
    ("bcc17", "kNN (ranking)"),
    ("mccrs20", "BPoissMF"),
)
"""Line-up and name of what is measured beside the line-up of the poster, so that metrics can be
compared over 16 systems; none has random training, so that orders need no further seeds."""

_DISPERSION = ("Gini", "Hoover", "Entropy", "Diversity", "Coverage")


def split_of(dataset: str) -> str:
    """Choose the split where a page is given none.

    Examples
    --------
    >>> split_of("synthetic"), split_of("ml-1m"), split_of("mine.csv")
    ('k-fold 2', 'k-fold 5', 'k-fold 5')
    """
    return "k-fold 2" if is_made_here(dataset) else "k-fold 5"


def line_up_of(dataset: str, min_rating: float, n_seeds: int | None = None) -> tuple[System, ...]:
    """List 16 systems: those of the poster, both ends, Random and Popularity, and seven others.

    Examples
    --------
    >>> systems = line_up_of("filmtrust", 3)
    >>> len(systems), [(system.name, system.n_seeds) for system in systems][5:7]
    (16, [('RankSGD', 5), ('LRMF', 5)])
    """
    if n_seeds is None:
        n_seeds = training_seeds(dataset)
    known = {
        (label, system.name): system
        for label in dict(_ADDED)
        for system in line_up(label, min_rating=min_rating)
    }
    of_poster = line_up("atm15", min_rating=min_rating)
    return tuple(with_seeds((*of_poster, *(known[key] for key in _ADDED)), n_seeds))


def metrics(cutoff: int, *, lam: float = LAMBDA) -> tuple[str, ...]:
    """Name all that is measured of lists of a length.

    Examples
    --------
    >>> metrics(10)[-2:]
    ('LTI(0.8)@10', 'LTI(0.8)@10|percentile')
    """
    return (
        f"P@{cutoff}",
        f"nDCG@{cutoff}",
        *(f"{name}@{cutoff}" for name in _DISPERSION),
        f"ARP@{cutoff}",
        f"PL@{cutoff}",
        f"M@{cutoff}",
        f"CI@{cutoff}",
        f"CI@{cutoff}|JS",
        f"LTI({lam:g})@{cutoff}",
        f"LTI({lam:g})@{cutoff}|percentile",
    )


def lengths_of(dataset: str) -> tuple[int, ...]:
    """List the lengths of :data:`CUTOFFS` that lists of a reader's table can have, one at least.

    Examples
    --------
    >>> lengths_of("ml-100k")
    (5, 10, 20, 50)
    """
    most = load_dataset(dataset).ratings.n_items if is_path(dataset) else max(CUTOFFS)
    return tuple(length for length in CUTOFFS if length <= most) or (most,)


def lengths_note(dataset: str) -> str:
    """Say which lengths of lists are left out, as Markdown; empty if none is."""
    longer = [f"{length}" for length in CUTOFFS if length not in lengths_of(dataset)]
    if not longer:
        return ""
    return f"*Not here: n = {' and '.join(longer)}, more than these data have items.*"


def other_lengths(dataset: str, cutoff: int) -> tuple[str, ...]:
    """Name what is measured of lists of the other lengths, of :func:`lengths_of`.

    Examples
    --------
    >>> len(other_lengths("ml-100k", 10)), other_lengths("ml-100k", 10)[:2]
    (42, ('P@5', 'nDCG@5'))
    """
    others = (length for length in lengths_of(dataset) if length != cutoff)
    return tuple(name for length in others for name in metrics(length))


LAMBDAS: tuple[float, ...] = tuple(round(0.1 * step, 1) for step in range(1, 10))
"""The lambdas whose orders of systems are compared."""


def of_lambdas(cutoff: int) -> tuple[str, ...]:
    """Name LTI of lists of a length with each lambda, as printed and with percentiles.

    Examples
    --------
    >>> len(of_lambdas(10)), of_lambdas(10)[:2]
    (18, ('LTI(0.1)@10', 'LTI(0.1)@10|percentile'))
    """
    return tuple(f"LTI({lam:g})@{cutoff}{form}" for lam in LAMBDAS for form in ("", "|percentile"))


def ends_of_lambdas(cutoff: int) -> tuple[str, ...]:
    """Name LTI with the smallest and the largest lambda, which are compared.

    Examples
    --------
    >>> ends_of_lambdas(10)[::2]
    ('LTI(0.1)@10', 'LTI(0.9)@10')
    """
    return of_lambdas(cutoff)[:2] + of_lambdas(cutoff)[-2:]


def of_chance(cutoff: int) -> tuple[str, ...]:
    """Name what is measured of the lists that chance makes: the metrics of counts.

    Examples
    --------
    >>> of_chance(10)[:2], of_chance(10)[-1]
    (('Gini@10', 'Hoover@10'), 'LTI(0.8)@10|percentile')
    """
    per_user = ("P", "nDCG", "ARP", "PL")
    return tuple(text for text in metrics(cutoff) if plain_name(text) not in per_user)


def plain_name(metric: str) -> str:
    """Take length and arguments from the text of a metric.

    Examples
    --------
    >>> plain_name("LTI(0.8)@10|percentile"), plain_name("Gini@10")
    ('LTI|percentile', 'Gini')
    """
    name, bar, condition = metric.partition("|")
    return name.partition("@")[0].partition("(")[0] + bar + condition


def combined(measured: Mapping[str, tuple[str, ...]]) -> tuple[tuple[str, str], ...]:
    """List what criteria, figures and tables combine, so that its replicates are kept: all.

    Examples
    --------
    >>> combined({"full": ("P@10", "CI@10")})
    (('full', 'P@10'), ('full', 'CI@10'))
    """
    return tuple((label, metric) for label, texts in measured.items() for metric in texts)
