"""What rankings that treat all users alike score, beside what theory predicts: chapters 2 and 3.

The grid `baselines` measures them; the table `predicted` has what BCC17 Sections 4.1 and 5.1 expect
of them, from the first split: counts of items, sizes of target sets, and which items a ranking puts
first. No test rating of a user enters where theirs is predicted but through the counts.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from recbias.claims.combinators import Function
from recbias.claims.evidence import Evidence, NotComputed
from recbias.claims.pages import markdown_table, plain
from recbias.claims.quantities import extreme, slope, spread
from recbias.claims.records import Record, Term
from recbias.datasets import Dataset
from recbias.errors import ConfigError
from recbias.experiment import Results
from recbias.grid import component_revisions
from recbias.makers import Table, maker
from recbias.ranking import target_lists
from recbias.recommenders import System, line_up
from recbias.results import Quantity
from recbias.splits import Split
from recbias.streams import stream
from recbias.targets import candidate_items, n_all_targets
from recbias.testset import TestSet, dataset_splits
from recbias.theory import (
    FORMS,
    item_rates,
    listed_sum,
    random_sum,
    relevant_counts,
    run_bounds,
    run_depths,
    split_statistics,
)

__all__ = [
    "BASELINES",
    "FLOOR",
    "FUNCTIONS",
    "baseline_grid",
    "baselines",
    "measured_beside_predicted",
    "predicted",
    "predictions_table",
]

BASELINES = ("Random", "Popularity", "Positive count", "Average rating", "Odds of a hit")
"""Rankings that are the same for all users, up to what they have in training."""

FLOOR = ("pLSA", "MF (rating prediction)", "kNN (rating prediction)")
"""The other systems of BCC17 Fig. 2, of which Section 4.2 says that they are above Random."""

_INDEX = ("quantity", "label", "system")


def baselines(min_rating: float) -> list[System]:
    """Return the rankings of :data:`BASELINES`.

    Parameters
    ----------
    min_rating
        Smallest rating that is relevant, which two of them count.

    Returns
    -------
    list of System
        Random and Popularity are those of the line-up ``bcc17``. ``Odds of a hit`` is what Eq. 2 of
        Mena-Maldonado et al. 2020 ranks by, the best that training ratings can tell.
    """
    known = {system.name: system for system in line_up("bcc17")}
    return [
        *(known[name] for name in BASELINES[:2]),
        System(BASELINES[2], "RelevantPopularity", {"min_rating": min_rating}),
        System(BASELINES[3], "AverageRating", {}),
        System(BASELINES[4], "OptimalPrecision", {"min_rating": min_rating}),
    ]


def baseline_grid(min_rating: float, *, cutoff: int, size: int) -> dict[str, Any]:
    """Say what is measured of the rankings: protocols and metrics of a grid, by label.

    Parameters
    ----------
    min_rating
        Smallest rating that is relevant.
    cutoff
        Length of the lists.
    size
        Size of a 1R target set.

    Returns
    -------
    dict
        ``protocols``, ``metrics`` and ``tests``, arguments of :class:`recbias.Grid`. ``AR``, ``AI``
        and ``all-1R`` are those of the chapters; ``short`` and ``long`` have half and five times
        the cutoff, ``half`` has half of the test ratings, ``sampled`` has `size` - 1 sampled items
        in a user's set, ``whole`` the whole pool in a run.

    Examples
    --------
    >>> asked = baseline_grid(5, cutoff=10, size=100)
    >>> asked["metrics"]["AR sampled"], asked["metrics"]["1R long"]
    (('P@10|N=99', 'rho|N=99'), ('P@50|t=100',))
    """
    short, long = max(1, cutoff // 2), 5 * cutoff
    metrics = {
        "AR": (f"P@{cutoff}", "rho"),
        "AI": (f"P@{cutoff}",),
        "AR half": (f"P@{cutoff}", "rho"),
        "AR short": (f"P@{short}",),
        "AR long": (f"P@{long}",),
        "AR sampled": (f"P@{cutoff}|N={size - 1}", f"rho|N={size - 1}"),
        "all-1R": (*(f"{each}@{cutoff}|t={size}" for each in _OF_RUNS), f"rho|t={size}"),
        "1R short": (f"P@{short}|t={size}",),
        "1R long": (f"P@{min(long, size)}|t={size}",),
        "all-1R whole": (f"P@{cutoff}",),
    }
    rules = {label: "TI-AN-1R" if "1R" in label else "TI-AN-AR" for label in metrics}
    rules["AI"] = "AI-AN-AR"
    protocols = {label: f"{rule} rel>={min_rating:g}" for label, rule in rules.items()}
    tests = {"AR half": str(TestSet(removed=50))}
    return {"protocols": protocols, "metrics": metrics, "tests": tests}


_OF_RUNS = ("P", "lower", "upper")


# -- what is predicted -------------------------------------------------------------------------


def _revisions(given: Mapping[str, Any], hashes: Mapping[str, str]) -> dict[str, Any]:
    """Name the revisions of splits, ranks and samples, and the rankings."""
    return {
        **component_revisions(sampled=True, reduced=False),
        "systems": [system.identity() for system in baselines(given["min_rating"])],
    }


@maker("non-personalised/predicted", Table, uses=_revisions)
def predicted(
    dataset: Dataset, *, min_rating: float, split: str, cutoff: int, size: int, seed: int
) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Predict what the rankings score, on the first split, for :func:`recbias.makers.run_maker`.

    Parameters
    ----------
    dataset
        A data set.
    min_rating
        Smallest rating that is relevant.
    split
        Text of the split rule.
    cutoff
        Length of the lists.
    size
        Size of a 1R target set.
    seed
        Of the split; names the samples of the closed bounds.

    Returns
    -------
    index : tuple of str
        ``quantity``, ``label`` and ``system``.
    frame : DataFrame
        The ``value`` of each. Of a ranking: P@n by each of :data:`recbias.theory.FORMS` and the
        ``listed`` positives, :math:`avg_u` of the mean :math:`|PR(i_k)|`, under ``AR``; the closed
        ``lower`` and ``upper`` bound and the ``printed`` one under ``all-1R``. Of the ``data``: t
        and what a random ranking is expected to score. Of ``items``: how counts of training and
        test hang together. Of Popularity: how far its lists are the same for all.
    """
    fold = dataset_splits(dataset, split, seed=seed)[0]
    counts = relevant_counts(fold, min_rating=min_rating)
    rates = {form: item_rates(fold, "TI", form, min_rating=min_rating) for form in FORMS}
    depth = run_depths(fold, cutoff, min_rating=min_rating)
    asked: dict[str, Any] = {"min_rating": min_rating}
    rows: list[tuple[str, str, str, float]] = []
    for system in baselines(min_rating):
        if system.name == "Random":
            sums = [
                random_sum(fold, worth, cutoff, **asked)[0] for worth in (*rates.values(), counts)
            ]
            first, sizes = random_sum(fold, counts, cutoff, n_sampled=size - 1, **asked)
            every, _ = random_sum(fold, counts, depth, n_sampled=size - 1, **asked)
        else:
            rng = stream(seed, "train", system.stream_label(), 0)
            model = system.build().fit(fold.train, rng=rng)
            whole = np.full(fold.test.n_users, cutoff)
            lists, _ = target_lists(model, fold, whole, seed=seed, **asked)
            sums = [listed_sum(lists, worth, cutoff) for worth in (*rates.values(), counts)]
            drawn, sizes = target_lists(model, fold, depth, n_sampled=size - 1, seed=seed, **asked)
            first, every = (listed_sum(drawn, counts, each) for each in (cutoff, depth))
            if system.name == "Popularity":
                rows += _sameness(fold, lists, cutoff)
        names = (*FORMS, "listed")
        rows += [
            (name, "AR", system.name, value / cutoff)
            for name, value in zip(names, sums, strict=True)
        ]
        bounds = run_bounds(fold, first, every, sizes, cutoff, **asked)
        rows += [(name, "all-1R", system.name, value) for name, value in bounds._asdict().items()]
    rows += [*_of_data(fold, counts, min_rating, size), *_of_items(fold, counts, min_rating)]
    return _INDEX, pd.DataFrame(rows, columns=[*_INDEX, "value"])


def _of_data(
    fold: Split, counts: npt.NDArray[np.int64], min_rating: float, size: int
) -> list[tuple[str, str, str, float]]:
    """List sizes of target sets, and what theory expects of a random ranking in them."""
    found = split_statistics(fold, "TI", min_rating=min_rating)
    _, sizes = random_sum(fold, counts, 1, min_rating=min_rating, n_sampled=size - 1)
    every = item_rates(fold, "AI", FORMS[0], min_rating=min_rating)
    among_all, _ = random_sum(fold, every, 1, min_rating=min_rating, candidates="AI")
    return [
        (FORMS[0], "AI", "Random", among_all),
        ("sigma delta", "AR", "data", found.sigma * found.delta),
        ("t", "AR", "data", found.t),
        ("t", "AR sampled", "data", float(1 / np.mean(1 / sizes))),
        ("1/t", "all-1R", "data", 1 / size),
        ("positives per item", "AR", "data", float(counts.mean())),
    ]


def _of_items(
    fold: Split, counts: npt.NDArray[np.int64], min_rating: float
) -> list[tuple[str, str, str, float]]:
    """List how counts of items in training and test hang together."""
    train, test = fold.train.item_counts(), fold.test.item_counts()
    liked_in_test = np.bincount(fold.test.item[fold.test.value >= min_rating], minlength=len(train))
    liked = counts - liked_in_test
    sigma = split_statistics(fold, "TI", min_rating=min_rating).sigma
    inside = candidate_items(fold, "TI")
    expected = n_all_targets(fold, "TI").mean() / len(inside)
    rare = 1 - train[inside].max() / fold.test.n_users
    tenth = max(1, int(np.count_nonzero(train)) // 10)
    by_count = np.argsort(train, kind="stable")[::-1][: np.count_nonzero(train)]
    shares = [
        liked[rows].sum() / train[rows].sum() for rows in (by_count[:tenth], by_count[-tenth:])
    ]
    correlations = {
        "R_train and R_test": (train, test),
        "PR and R": (counts, train + test),
        "R_train and PR_test": (train, liked_in_test),
    }
    return [
        ("chance to be a target", "least", "items", rare / expected),
        *(
            ("correlation", label, "items", float(np.corrcoef(a, b)[0, 1]))
            for label, (a, b) in correlations.items()
        ),
        ("slope over its share", "PR_test on PR", "items", _slope(counts, liked_in_test) / sigma),
        ("slope over its share", "PR_train on PR", "items", _slope(counts, liked) / (1 - sigma)),
        ("liked share", "top tenth over bottom tenth", "items", _ratio(*shares)),
    ]


def _ratio(a: float, b: float) -> float:
    return float(a / b) if b else float(np.inf)


def _slope(x: npt.NDArray[np.integer], y: npt.NDArray[np.integer]) -> float:
    """Fit y on x through the origin by least squares: proportional counts have no intercept."""
    return float((x * y).sum() / (x * x).sum())


def _sameness(
    fold: Split, lists: npt.NDArray[np.int32], cutoff: int
) -> list[tuple[str, str, str, float]]:
    """List how far Popularity's lists are the same for all users, and in the order of counts."""
    train = fold.train.item_counts()
    shown = lists >= 0
    falling = np.diff(np.where(shown, train[lists], -1), axis=1)
    inside = candidate_items(fold, "TI")
    top = inside[np.argsort(train[inside], kind="stable")[::-1][:cutoff]]
    return [
        ("out of order", "lists", "Popularity", float((falling > 0).sum())),
        ("in common", "lists", "Popularity", float(np.isin(lists[shown], top).mean())),
        ("excluded", "top items", "Popularity", float(train[top].mean() / fold.test.n_users)),
    ]


# -- what criteria compute ---------------------------------------------------------------------


def _from_table(evidence: Evidence, term: Term, system: str = "") -> float:
    """Read a predicted number: a term's metric is its ``quantity``."""
    table = evidence.made(term.table, term.edition or "")
    names = dict(zip(_INDEX, (term.metric, term.label, term.system or system), strict=True))
    try:
        value = float(table[names].value)
    except ConfigError as error:
        raise NotComputed(f"{term.metric} of {term.system or system} in {term.table}") from error
    evidence.note(term.table, f"{term.metric} of {names['system']}", value, term.edition or "")
    return value


def _predicted(evidence: Evidence, record: Record) -> float:
    """Return a predicted number itself."""
    (term,) = record.of
    return _from_table(evidence, term)


def _predicted_ratio(evidence: Evidence, record: Record) -> float:
    """Divide a predicted number by another; of several others, by the largest."""
    first, *others = (_from_table(evidence, term) for term in record.of)
    return first / max(others)


def _over(evidence: Evidence, record: Record) -> dict[str, Quantity]:
    """Divide a measured quantity by its prediction, for each system."""
    measured, predicted = record.of
    names = evidence.systems(record) if record.systems else [""]
    found = {}
    for name in names:
        quantity = evidence.quantity(measured, system=name)
        number = _from_table(evidence, predicted, name)
        if not number:
            raise NotComputed(f"a prediction above 0 for {name}")
        found[name] = Quantity(quantity.value / number, quantity.drawn / number, quantity.method)
    return found


def _over_prediction(evidence: Evidence, record: Record) -> Quantity:
    """Divide a measured quantity by its prediction; of several systems the extreme."""
    return extreme(_over(evidence, record), largest=record.take == "largest")[1]


def _off_prediction(evidence: Evidence, record: Record) -> Quantity:
    """Tell how far a measured quantity is from its prediction; of several systems the farthest."""
    found = {}
    for name, ratio in _over(evidence, record).items():
        low, high = (end - 1 for end in ratio.interval)
        inner = 0.0 if low <= 0 <= high else min(abs(low), abs(high))
        outer = max(abs(low), abs(high))
        found[name] = Quantity(abs(ratio.value - 1), None, limits=(inner, outer))
    return extreme(found, largest=True)[1]


def _spread_over_prediction(evidence: Evidence, record: Record) -> Quantity:
    """Divide the largest ratio of measured to predicted by the smallest."""
    return spread(_over(evidence, record).values())


def _ratio_of_overs(evidence: Evidence, record: Record) -> Quantity:
    """Divide a measured over a predicted quantity by another such ratio."""
    first, second = (
        _over(evidence, dataclasses.replace(record, of=pair))[""]
        for pair in (record.of[:2], record.of[2:])
    )
    return first / second


def _gap_ratio(evidence: Evidence, record: Record) -> Quantity:
    """Divide the gap of the first two quantities by that of the others; the largest of systems."""
    found = {}
    for name in evidence.systems(record):
        a, b, c, d = (evidence.quantity(term, system=name) for term in record.of)
        found[name] = (a - b) / (c - d)
    return extreme(found, largest=True)[1]


def _slope_in_sizes(evidence: Evidence, record: Record) -> Quantity:
    """Fit the slope of a quantity between two sizes of target sets, in logarithms."""
    here, there, *sizes = record.of
    places = [_from_table(evidence, term) for term in sizes]
    values = [evidence.quantity(term) for term in (here, there)]
    return slope(dict(zip(places, values, strict=True)))


FUNCTIONS: Mapping[str, Function] = {
    "predicted": _predicted,
    "predicted_ratio": _predicted_ratio,
    "over_prediction": _over_prediction,
    "off_prediction": _off_prediction,
    "spread_over_prediction": _spread_over_prediction,
    "ratio_of_overs": _ratio_of_overs,
    "gap_ratio": _gap_ratio,
    "slope_in_sizes": _slope_in_sizes,
}
"""By the name that a record gives them."""


# -- what pages show ---------------------------------------------------------------------------


def measured_beside_predicted(
    results: Results, table: Table, *, runs: bool = False, names: Iterable[str] = BASELINES
) -> pd.DataFrame:
    """Set what the rankings score beside what theory predicts of it.

    Parameters
    ----------
    results
        Of the grid that `baseline_grid` describes.
    table
        Of `predicted`.
    runs
        Whether 1R is asked for, expected over all samples, instead of AR.
    names
        Rankings, in the order of the rows.

    Returns
    -------
    DataFrame
        By name of the ranking: the measured ``value`` with its 95 % interval ``low`` to ``high``
        over users; under AR the predictions of :data:`recbias.theory.FORMS`, under 1R the
        ``lower`` and ``upper`` bound in closed form, and those of the lemma, which are measured.
    """
    label = "all-1R" if runs else "AR"
    metric = str(results.metric(label, "P"))
    rows = {}
    for name in names:
        quantity = results[name, label, metric]
        low, high = quantity.interval
        rows[name] = {"value": quantity.value, "low": low, "high": high}
        for form in ("lower", "upper") if runs else FORMS:
            found = table[{"quantity": form, "label": label, "system": name}]
            rows[name][form] = found.value
        for bound in ("lower", "upper") if runs else ():
            measured = results[name, label, str(results.metric(label, bound))]
            rows[name][f"{bound}, lemma"] = measured.value
    return pd.DataFrame.from_dict(rows, orient="index")


def predictions_table(results: Results, table: Table, *, names: Iterable[str] = BASELINES) -> str:
    """Write what `measured_beside_predicted` finds under AR and under 1R as a table.

    Parameters
    ----------
    results, table, names
        As of `measured_beside_predicted`.

    Returns
    -------
    str
        Markdown; measured values with their 95 % interval over users.
    """

    def between(low: float, high: float) -> str:
        return f"{low:.4f} to {high:.4f}"

    by_users, by_runs = (
        measured_beside_predicted(results, table, runs=runs, names=names) for runs in (False, True)
    )
    rows = []
    for name, one, run in zip(
        by_users.index, by_users.to_dict("records"), by_runs.to_dict("records"), strict=True
    ):
        rows.append(
            (
                plain(str(name)),
                f"{one['value']:.4f} ({between(one['low'], one['high'])})",
                *(f"{one[form]:.4f}" for form in FORMS),
                f"{run['value']:.4f} ({between(run['low'], run['high'])})",
                between(run["lower"], run["upper"]),
                between(run["lower, lemma"], run["upper, lemma"]),
            )
        )
    head = ("ranking", "AR", "by Eq. 3", "by the odds", "1R", "closed bounds", "bounds (lemma)")
    return markdown_table(head, rows)
