"""Checks of what MCCRS20 ran, Sections 5.1 and 5.2: sizes of data, line-up, folds, thresholds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import scipy  # its parts are loaded when they are first used: `stats` takes long

from recbias._system.streams import stream
from recbias.book.chapters.true_vs_false_positive_disagreement.variables import pairs_of
from recbias.book.systems.line_up import relevance_threshold
from recbias.claims.checks import Check
from recbias.data.datasets import Dataset
from recbias.data.ratings import Ratings
from recbias.protocol.splits import Split
from recbias.protocol.testset import TestSet, dataset_splits
from recbias.recommenders import System, line_up

_SIZES: Mapping[str, tuple[int, int, int]] = {
    "ml-1m": (6040, 3706, 1000209),
    "ml-1m-stars": (6040, 3706, 1000209),
    "ml-1m-folds": (6040, 3706, 1000209),
    "yahoo-r3": (5400, 1000, 183179),
    "cm100k": (1054, 1084, 103584),
}
"""Users, items and ratings in Table 2."""

_CHOSEN: Mapping[str, int] = {"yahoo-r3": 129179, "cm100k": 11594}
"""Of the ratings, those that users chose to give: the training file, and the familiar tracks."""

_THRESHOLDS: Mapping[str, float] = {"ml-1m": 4, "yahoo-r3": 4, "cm100k": 3}
"""Smallest relevant rating, Section 5.2."""

CONFIGURED: Mapping[str, Mapping[str, float | str]] = {
    "User kNN": {"similarity": "cosine", "n_neighbours": 20, "shrinkage": 10},
    "Item kNN": {"similarity": "cosine", "n_neighbours": 50, "shrinkage": 10},
    "pLSA": {"n_topics": 10, "n_iterations": 100},
    "WRMF": {"n_factors": 20, "n_iterations": 20, "regularisation": 0.01, "alpha": 4},
    "SVD++": {"n_factors": 20, "n_epochs": 100},
    "SLIM": {"l1": 1, "l2": 5, "n_iterations": 40},
    "RankSGD": {"n_factors": 10, "n_epochs": 30},
    "ListRankMF": {"n_factors": 5},
    "GBPR": {"n_factors": 10, "group_weight": 1.5},
    "WBPR": {"n_factors": 128, "n_epochs": 20},
    "BPoissMF": {"n_factors": 10},
    "PNMF": {"n_factors": 10, "n_iterations": 25 + 1},
    "eALS": {"n_factors": 200},
}
"""The thirteen filters with the parameters that the authors' configuration files give them.

LibRec's loop does one iteration of PNMF more than it is told.
"""

_REFERENCES = ("Popularity", "Average rating", "Random")

FloatArray = npt.NDArray[np.float64]


def check_sizes(dataset: Dataset) -> list[Check]:
    """Compare a data set of the paper with Table 2; nothing for any other."""
    if dataset.name not in _SIZES:
        return []
    ratings, drawn = dataset.ratings, dataset.unbiased
    pairs = [pairs_of(part) for part in (ratings, drawn) if part]
    n_pairs = len(np.unique(np.concatenate(pairs)))
    sizes = (ratings.n_users, ratings.n_items, n_pairs)
    names = ("users", "items", "ratings")
    checks = [
        _check(name, f"|{name} - {printed:,}|", abs(count - printed))
        for name, count, printed in zip(names, sizes, _SIZES[dataset.name], strict=True)
    ]
    if dataset.name in _CHOSEN:
        printed = _CHOSEN[dataset.name]
        checks.append(_check("chosen", f"|chosen - {printed:,}|", abs(len(ratings) - printed)))
    if drawn is not None:
        counts = drawn.user_counts()
        checks += [
            _check(
                "ten", "users without ten ratings", int(np.count_nonzero(counts[counts > 0] != 10))
            ),
            _check("per-user", "mean number of ratings", len(drawn) / np.count_nonzero(counts)),
            _check("uniform", "p of as uneven counts of items", uniform_p(drawn)),
        ]
    return checks


def _check(name: str, what: str, worst: float) -> Check:
    return Check("MCCRS20-T2", name, what, 1, float(worst))


def uniform_p(drawn: Ratings) -> float:
    """Give the probability of counts of items as uneven, if users are shown uniform draws."""
    shares = drawn.user_counts() / drawn.n_items
    variance = float((shares * (1 - shares)).sum()) * drawn.n_items / (drawn.n_items - 1)
    squares = float(((drawn.item_counts() - shares.sum()) ** 2).sum()) / variance
    return float(scipy.stats.chi2.sf(squares, drawn.n_items - 1))


def check_line_up(systems: Sequence[System]) -> list[Check]:
    """Compare a line-up with the paper's list of systems and the authors' configuration."""
    parameters_of = {system.name: system.parameters for system in systems}
    differing = [
        (name, parameter)
        for name, configured in CONFIGURED.items()
        for parameter, value in configured.items()
        if parameters_of.get(name, {}).get(parameter) != value
    ]
    missing = [name for name in CONFIGURED if name not in parameters_of]
    lost = [name for name in _REFERENCES if name not in parameters_of]
    smoothed = parameters_of.get("Average rating", {}).get("smoothing") == 1
    n_parameters = sum(map(len, CONFIGURED.values()))
    return [
        Check(_SETUP, "filters", "filters that are missing", len(CONFIGURED), len(missing)),
        Check(_SETUP, "parameters", "parameters that differ", n_parameters, len(differing)),
        Check(_SETUP, "references", "references that are missing or differ", 3,
              len(lost) + (not smoothed)),
    ]  # fmt: skip


def check_folds(splits: Sequence[Split], n_ratings: int) -> list[Check]:
    """Compare folds with five of which each tests a fifth, and count ratings not tested once."""
    tests = [pairs_of(fold.test) for fold in splits]
    shares = np.array([len(test) / n_ratings for test in tests])
    together, times = np.unique(np.concatenate(tests), return_counts=True)
    astray = n_ratings - len(together) + np.count_nonzero(times > 1)
    return [
        Check(_SETUP, "folds", "|folds - 5|", 1, abs(len(splits) - 5)),
        Check(_SETUP, "test-share", "|share - .2|", len(splits), float(np.abs(shares - 0.2).max())),
        Check(_SETUP, "partition", "ratings not tested once", n_ratings, int(astray)),
    ]


def check_thresholds(used: Mapping[str, float]) -> list[Check]:
    """Compare thresholds of relevance by data set with those of Section 5.2."""
    other = [name for name, value in _THRESHOLDS.items() if used[name] != value]
    return [Check(_SETUP, "thresholds", "other thresholds", len(_THRESHOLDS), len(other))]


def check_remainder(observed: Ratings, judged: Ratings, splits: Sequence[Split]) -> list[Check]:
    """Check the folds of true values.

    Tests are a fifth of all judgments, training the remainder.
    """
    chosen, astray, shares = pairs_of(observed), 0, []
    for fold in splits:
        test, train = pairs_of(fold.test), pairs_of(fold.train)
        remainder = np.setdiff1d(chosen, test)
        astray += len(np.setxor1d(train, remainder))
        shares.append(abs(len(test) / len(judged) - 0.2))
    return [
        Check(_SETUP, "remainder", "pairs in both or in neither", len(chosen), astray),
        Check(_SETUP, "judged-share", "|share - .2|", len(splits), max(shares)),
    ]


def check_sampled(
    *, share: float = 0.2, n_users: int = 200, n_items: int = 200, n_draws: int = 300, seed: int = 1
) -> list[Check]:
    """Tell what uniform draws of judgments make of precision and recall of one ranking."""
    rng = stream(seed, "sampled judgments", n_users, n_items)
    liking = np.linspace(0.9, 0.1, n_items)
    liked = rng.random((n_users, n_items)) < liking  # columns are in the order of the ranking
    values: list[FloatArray] = []
    for _ in range(n_draws):
        judged = rng.random(liked.shape) < share
        values.append(_first_ten(liked & judged, judged))
    whole, drawn = _first_ten(liked, np.ones_like(liked)), np.mean(values, axis=0)
    errors = np.std(values, axis=0, ddof=1) / np.sqrt(n_draws)
    checks = []
    for number, name in enumerate(("precision", "over-judged", "recall")):
        what = "mean of draws over the value with all judgments"
        value = float(drawn[number] / whole[number])
        checks.append(Check(_SETUP, f"sampled-{name}", what, n_draws, value))
        if name != "over-judged":
            what = "standard errors between the mean of draws and the value with all judgments"
            misses = float(abs(drawn[number] - whole[number]) / errors[number])
            checks.append(Check(_SETUP, f"{name}-misses", what, n_draws, misses))
    return checks


def _first_ten(liked: npt.NDArray[np.bool_], judged: npt.NDArray[np.bool_]) -> FloatArray:
    """Measure P, P over the judged share, and R of the first ten columns, as means over users."""
    hits, known = liked[:, :10].sum(axis=1), judged[:, :10].sum(axis=1)
    recall = hits / np.maximum(liked.sum(axis=1), 1)
    return np.array([hits.mean() / 10, hits.sum() / max(known.sum(), 1), recall.mean()])


_SETUP = "MCCRS20-SETUP"


def set_up_checks() -> list[Check]:
    """Check what of the set-up of the paper is no matter of data."""
    return [
        *check_line_up(line_up("mccrs20")),
        *check_thresholds({name: relevance_threshold(name) for name in _THRESHOLDS}),
        *check_sampled(),
    ]


def paper_checks(dataset: Dataset, *, split: str, seed: int) -> list[Check]:
    """Check sizes and folds of the paper on a data set: MCCRS20-T2 and MCCRS20-SETUP."""
    return [
        *check_sizes(dataset),
        *check_folds(dataset_splits(dataset, split, seed=seed), len(dataset.ratings)),
        *_of_all_judgments(dataset, split, seed),
    ]


def _of_all_judgments(dataset: Dataset, split: str, seed: int) -> Iterable[Check]:
    """Check the folds of true values, where the known ratings are among all judgments."""
    if dataset.name != "cm100k" or dataset.unbiased is None:
        return []
    folds = dataset_splits(dataset, split, seed=seed, judgments=TestSet.parse("unbiased"))
    return check_remainder(dataset.ratings, dataset.unbiased, folds)
