"""What theory expects of rankings that treat all users alike, on a data set: a table.

Everything follows from counts of items, sizes of target sets, and which items a ranking puts first.
Each value comes with replicates on the resampled users of the grids, so that what is measured and
what is predicted are compared on the same users: both count the same ratings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.sparse import csr_array

from recbias._system.streams import stream
from recbias.book.non_personalised import INDEX, baselines
from recbias.data.datasets import Dataset
from recbias.data.ratings import Ratings
from recbias.experiment.makers import Table, maker
from recbias.experiment.reduction import N_REPLICATES
from recbias.protocol.splits import Split
from recbias.protocol.targets import candidate_items, n_all_targets
from recbias.protocol.testset import dataset_splits
from recbias.ranking import target_lists
from recbias.stats.resampling import bootstrap_weights
from recbias.theory import (
    FORMS,
    item_rates,
    random_sum,
    relevant_counts,
    run_bounds,
    run_depths,
    split_statistics,
)
from recbias.theory.notation import inverse_sizes

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Candidates = Literal["AI", "TI"]
Found = dict[tuple[str, str, str], tuple[float, FloatArray]]


@maker(
    "non-personalised",
    Table,
    parts=("splits", "ranking", "sampling"),
    uses={"systems": baselines},
)
def predicted(
    dataset: Dataset, *, min_rating: float, split: str, cutoff: int, size: int, seed: int
) -> tuple[tuple[str, ...], pd.DataFrame, FloatArray]:
    """Predict what the rankings score, on the first split.

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
        Of the split; names the samples of the closed bounds, and the resampled users.

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
    replicates : ndarray
        On resampled users, to the first order in how often each of them is drawn; numbers of
        ``items`` and of lists stay what they are.
    """
    fold = dataset_splits(dataset, split, seed=seed)[0]
    people = _People(fold, min_rating, seed)
    depth = run_depths(fold, cutoff, min_rating=min_rating)
    predictions: Found = {}
    for system in baselines(min_rating):
        name = system.name
        if name == "Random":
            whole = people.at_random(cutoff)
            first, every = (people.at_random(length, size - 1) for length in (cutoff, depth))
            among_all = people.at_random(cutoff, candidates="AI")
            predictions[FORMS[0], "AI", name] = people.precision(among_all, FORMS[0], cutoff)
        else:
            rng = stream(seed, "train", system.stream_label(), 0)
            model = system.build().fit(fold.train, rng=rng)
            options: dict[str, Any] = {"min_rating": min_rating, "seed": seed}
            lists, sizes = target_lists(model, fold, np.full(fold.test.n_users, cutoff), **options)
            whole = _Listing.of_lists(lists, cutoff, sizes, people.n_items)
            drawn, sizes = target_lists(model, fold, depth, n_sampled=size - 1, **options)
            first, every = (
                _Listing.of_lists(drawn, length, sizes, people.n_items)
                for length in (cutoff, depth)
            )
            if name == "Popularity":
                predictions |= people.fixed(_sameness(fold, lists, cutoff))
        for form in FORMS:
            predictions[form, "AR", name] = people.precision(whole, form, cutoff)
        predictions["listed", "AR", name] = people.listed(whole, cutoff)
        for bound, value in people.bounds(first, every, cutoff).items():
            predictions[bound, "all-1R", name] = value
    predictions |= people.of_data(size)
    predictions |= people.fixed(_of_items(fold, people.counts, min_rating))
    predictions |= people.fixed({("1/t", "all-1R", "data"): 1 / size})
    frame = pd.DataFrame(
        [(*names, value) for names, (value, _) in predictions.items()], columns=[*INDEX, "value"]
    )
    return INDEX, frame, np.array([drawn for _, drawn in predictions.values()])


@dataclass(frozen=True)
class _Listing:
    """How much of each user's first places each item takes: 0, 1, or a chance between.

    Attributes
    ----------
    of_items
        Gives, for what items are worth, the sum over each user's places.
    by_item
        How often each item is listed, over all users.
    sizes
        Of each user's target set.
    candidates
        Among which items the sets are.
    """

    of_items: Any
    by_item: FloatArray
    sizes: IntArray
    candidates: Candidates = "TI"

    @classmethod
    def of_lists(
        cls, lists: npt.NDArray[np.int32], depth: int | IntArray, sizes: IntArray, n_items: int
    ) -> _Listing:
        """Take lists, each down to a depth."""
        counted = (np.arange(lists.shape[1]) < np.reshape(depth, (-1, 1))) & (lists >= 0)
        by_item = np.bincount(lists[counted], minlength=n_items).astype(np.float64)
        return cls(lambda worth: np.where(counted, worth[lists], 0.0).sum(axis=1), by_item, sizes)


class _People:
    """What predictions take from the users of a split, and how each of them moves it.

    All are products of sums over users, so that to the first order a replicate is the value plus
    the sum of what each user adds, as often as they are drawn more than once.
    """

    def __init__(self, fold: Split, min_rating: float, seed: int) -> None:
        self.fold, self.min_rating = fold, min_rating
        train, test = fold.train, fold.test
        self.n_users, self.n_items = test.n_users, test.n_items
        weights = bootstrap_weights(self.n_users, N_REPLICATES, rng=stream(seed, "bootstrap"))
        self._excess = weights.astype(np.float64) - 1
        self.counts = relevant_counts(fold, min_rating=min_rating)
        chosen = [part.value >= min_rating for part in (train, test)]
        self._liked_in_test = self._pairs(test, chosen[1])
        self._liked = self._pairs(train, chosen[0]) + self._liked_in_test
        every = [np.ones(len(part), dtype=bool) for part in (train, test)]
        self._trained = self._pairs(train, every[0])
        self._rated = self._trained + self._pairs(test, every[1])
        statistics = split_statistics(fold, "TI", min_rating=min_rating)
        self._sigma, self._delta = statistics.sigma, statistics.delta
        n_test, n_all = np.diff(test.indptr), self._rated.sum(axis=1)
        # Each is the relative change of a sum, or a ratio of sums, for one more of a user.
        self._more_sigma = n_test / n_test.sum() - n_all / n_all.sum()
        self._more_liked = self._liked.sum(axis=1) / max(self.counts.sum(), 1)

    def _pairs(self, part: Ratings, rows: npt.NDArray[np.bool_]) -> Any:
        """Mark rated pairs in a sparse table."""
        ones = np.ones(np.count_nonzero(rows))
        shape = (self.n_users, self.n_items)
        return csr_array((ones, (part.user[rows], part.item[rows])), shape=shape)

    def _moved(self, value: float, relative: FloatArray) -> tuple[float, FloatArray]:
        """Give a value with its replicates, from the relative change by one more of each user."""
        return value, value * (1 + self._excess @ relative)

    def fixed(self, numbers: Mapping[tuple[str, str, str], float]) -> Found:
        """Give numbers that resampling leaves alone."""
        return {names: (value, np.full(N_REPLICATES, value)) for names, value in numbers.items()}

    def at_random(
        self, depth: int | IntArray, n_sampled: int | None = None, candidates: Candidates = "TI"
    ) -> _Listing:
        """List what a random ranking is expected to list, over samples and orders."""
        options: dict[str, Any] = {
            "min_rating": self.min_rating, "n_sampled": n_sampled, "candidates": candidates,
        }  # fmt: skip
        _, sizes = random_sum(self.fold, self.counts, depth, **options)
        inside = np.zeros(self.n_items)
        inside[candidate_items(self.fold, candidates)] = 1.0
        pools = n_all_targets(self.fold, candidates) - self._liked_in_test.sum(axis=1)
        drawn = sizes - self._liked_in_test.sum(axis=1)
        place = np.minimum(depth, sizes) / np.maximum(sizes, 1)
        chance = place * drawn / np.maximum(pools, 1)

        def of_items(worth: FloatArray) -> FloatArray:
            others = (inside * worth).sum() - self._trained @ (inside * worth)
            return np.asarray(chance * others + (place - chance) * (self._liked_in_test @ worth))

        by_item = inside * (chance.sum() - self._trained.T @ chance)
        by_item += self._liked_in_test.T @ (place - chance)
        return _Listing(of_items, by_item, sizes, candidates)

    def _more_t(self, sizes: IntArray) -> FloatArray:
        """Relative change of 1/t, a mean over users, where their number stays."""
        inverse = inverse_sizes(sizes)
        return np.asarray(inverse / inverse.sum())

    def _more_listed(self, listing: _Listing) -> tuple[float, FloatArray]:
        """Sum the positives that are listed; one more user lists items, and likes items."""
        counts = self.counts.astype(np.float64)
        total = float(listing.by_item @ counts)
        more = listing.of_items(counts) + self._liked @ listing.by_item
        return total, more / max(total, 1e-300)

    def listed(self, listing: _Listing, cutoff: int) -> tuple[float, FloatArray]:
        """Count the positives per place."""
        total, more = self._more_listed(listing)
        return self._moved(total / (self.n_users * cutoff), more)

    def precision(self, listing: _Listing, form: str, cutoff: int) -> tuple[float, FloatArray]:
        """Predict P@n by a form of the rates."""
        rates = item_rates(self.fold, listing.candidates, form, min_rating=self.min_rating)
        value = float(listing.by_item @ rates) / (self.n_users * cutoff)
        if form == FORMS[0]:
            more = self._more_listed(listing)[1] + self._more_t(listing.sizes) + self._more_sigma
            return self._moved(value, more)
        rated = np.asarray(self._rated.sum(axis=0))
        lacking = np.maximum(self.n_users - (1 - self._sigma) * rated, 1)
        per_like = listing.by_item * self._sigma / lacking
        per_rating = per_like * self.counts / lacking
        more = listing.of_items(rates) + self._liked @ per_like
        # One more user is one more who lacks an item, unless they rated it; their number stays.
        more = more + (1 - self._sigma) * (self._rated @ per_rating)
        total = value * self.n_users * cutoff
        sigma = self._more_sigma * (1 - self._sigma * (per_rating @ rated) / max(total, 1e-300))
        return self._moved(value, more / max(total, 1e-300) + sigma)

    def bounds(
        self, first: _Listing, every: _Listing, cutoff: int
    ) -> dict[str, tuple[float, FloatArray]]:
        """Compute the closed bounds of 1RP@n."""
        sums = [self._more_listed(listing) for listing in (first, every)]
        (low, low_more), (high, high_more) = sums
        bounds = run_bounds(
            self.fold, low / self.n_users, high / self.n_users, first.sizes, cutoff,
            min_rating=self.min_rating,
        )  # fmt: skip
        rest = self._more_t(first.sizes) - self._more_liked
        moves = {"lower": low_more, "upper": high_more, "printed": low_more}
        return {
            name: self._moved(value, moves[name] + rest) for name, value in bounds._asdict().items()
        }

    def of_data(self, size: int) -> Found:
        """Give sizes of target sets, and what theory expects of a random ranking in them."""
        whole = n_all_targets(self.fold, "TI")
        sampled = self.at_random(1, size - 1).sizes
        per_item = float(self.counts.mean())
        more = self._more_sigma + self._more_liked + self._more_t(whole)
        return {
            ("sigma delta", "AR", "data"): self._moved(self._sigma * self._delta, more),
            ("positives per item", "AR", "data"): self._moved(per_item, self._more_liked),
            **{
                ("t", label, "data"): self._moved(
                    float(1 / np.mean(inverse_sizes(sizes))), -self._more_t(sizes)
                )
                for label, sizes in (("AR", whole), ("AR sampled", sampled))
            },
        }


def _of_items(
    fold: Split, counts: npt.NDArray[np.int64], min_rating: float
) -> dict[tuple[str, str, str], float]:
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
    slope = "slope over its share"
    return {
        ("chance to be a target", "least", "items"): rare / expected,
        **{
            ("correlation", label, "items"): _correlation(a, b)
            for label, (a, b) in correlations.items()
        },
        (slope, "PR_test on PR", "items"): _slope(counts, liked_in_test) / sigma,
        (slope, "PR_train on PR", "items"): _slope(counts, liked) / (1 - sigma),
        ("liked share", "top tenth over bottom tenth", "items"): _ratio(*shares),
    }


def _correlation(a: npt.NDArray[np.integer], b: npt.NDArray[np.integer]) -> float:
    """Correlate two counts; NaN where one of them is the same for all."""
    return float(np.corrcoef(a, b)[0, 1]) if np.ptp(a) and np.ptp(b) else np.nan


def _ratio(a: float, b: float) -> float:
    return float(a / b) if b else float(np.nan)


def _slope(x: npt.NDArray[np.integer], y: npt.NDArray[np.integer]) -> float:
    """Fit y on x through the origin by least squares: proportional counts have no intercept."""
    return _ratio((x * y).sum(), (x * x).sum())


def _sameness(
    fold: Split, lists: npt.NDArray[np.int32], cutoff: int
) -> dict[tuple[str, str, str], float]:
    """List how far Popularity's lists are the same for all users, and in the order of counts."""
    train = fold.train.item_counts()
    filled = lists >= 0
    falling = np.diff(np.where(filled, train[lists], -1), axis=1)
    inside = candidate_items(fold, "TI")
    top = inside[np.argsort(train[inside], kind="stable")[::-1][:cutoff]]
    return {
        ("out of order", "lists", "Popularity"): float((falling > 0).sum()),
        ("in common", "lists", "Popularity"): _ratio(
            np.isin(lists[filled], top).sum(), filled.sum()
        ),
        ("excluded", "top items", "Popularity"): float(train[top].mean() / fold.test.n_users),
    }
