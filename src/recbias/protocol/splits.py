"""Splits: which ratings a system may learn from, and which it is tested on.

Everything random is drawn over rows in canonical order, so that the same seed gives the same split
whatever the order of lines in a file. Train and test keep the vocabularies of the whole.
"""

from __future__ import annotations

import dataclasses
import math
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from recbias.data.ratings import Ratings, exact
from recbias.errors import ConfigError, DataError, DataWarning, did_you_mean, unknown_name

REVISION = 1
"""Raised when code changes which ratings a rule sends to the test, for the same seed."""

KEPT_SHARE = 0.2
"""Least share of an item's ratings that a uniform test leaves to training (BCC17's eps)."""


@dataclass(frozen=True, eq=False, repr=False)
class Split:
    """Training and test ratings over the same users and items.

    Parameters
    ----------
    train, test : Ratings
        No pair is in both, and each is in one of them, but for what is newer than a window of
        `rolling`; the vocabularies are those of the data set. With ``order=file`` they know the
        `place` of each row in the files.
    test_items : int32 array, ascending
        Items with any test rating: the candidates of the target sets TI. Where test ratings were
        taken out afterwards, still those of the original.
    fold : int
        Number of the split within its rule, from 0.
    rule : str
        The rule as text, e.g. ``"k-fold 5"``.
    """

    train: Ratings
    test: Ratings
    test_items: npt.NDArray[np.int32]
    fold: int
    rule: str

    def __repr__(self) -> str:
        return (
            f"Split({self.rule}, fold {self.fold}: {len(self.train)} train, {len(self.test)} test)"
        )


def ratio(ratings: Ratings, test_share: float = 0.2, *, rng: np.random.Generator) -> Split:
    """Send each rating to the test set on its own with probability `test_share`.

    The sizes are random, and a user may lose all their training ratings.

    Parameters
    ----------
    ratings : Ratings
        What to split.
    test_share : float
        Probability, above 0 and below 1.
    rng : numpy.random.Generator
        Draws one number per rating.

    Returns
    -------
    Split
        The only fold of this rule.

    Raises
    ------
    ConfigError
        If `test_share` is outside (0, 1).
    DataError
        If no training or no test rating results.

    References
    ----------
    The split of BCC17, MCCRS20 and CCM20, who speak of folds: k folds by coin flips are `k_fold`.
    """
    rule = SplitRule("ratio", test_share)
    return _split(ratings, rng.random(len(ratings)) < test_share, rule)


def k_fold(ratings: Ratings, n_folds: int = 5, *, rng: np.random.Generator) -> list[Split]:
    """Give each rating a uniform fold label; each fold is the test set once.

    Parameters
    ----------
    ratings : Ratings
        What to split.
    n_folds : int
        Number of folds, at least 2.
    rng : numpy.random.Generator
        Draws one label per rating; folds differ a little in size.

    Returns
    -------
    list of Split
        `n_folds` splits, whose test sets together are all ratings.

    Raises
    ------
    ConfigError
        If `n_folds` is below 2.
    DataError
        If a fold is empty.
    """
    rule = SplitRule("k-fold", n_folds)
    return _folds(ratings, rng.integers(n_folds, size=len(ratings)), n_folds, rule)


def leave_out(ratings: Ratings, n_out: int = 1, *, rng: np.random.Generator) -> Split:
    """Send exactly `n_out` random ratings of every user to the test set.

    Parameters
    ----------
    ratings : Ratings
        What to split; users without a rating are passed over.
    n_out : int
        Ratings per user in the test set, at least 1.
    rng : numpy.random.Generator
        Draws one number per rating.

    Returns
    -------
    Split
        The only fold of this rule.

    Raises
    ------
    ConfigError
        If `n_out` is below 1.
    DataError
        If a user has no more than `n_out` ratings.
    """
    rule = SplitRule("leave-out", n_out)
    counts = ratings.user_counts()
    small = np.flatnonzero((counts > 0) & (counts <= n_out))
    if len(small):
        raise DataError(
            f"{_too_few(rule, ratings, small, n_out)}\n"
            "use a split that takes any number, e.g. --split 'ratio 0.2'"
        )
    place = _drawn_places(ratings.user, counts, rng)
    return _split(ratings, place < n_out, rule)


@dataclass(frozen=True, eq=False)
class UniformPlan:
    """Which items a uniform test takes ratings from, and how many from each.

    Parameters
    ----------
    items : int32 array, ascending
        The items T.
    n_each, least_count : int
        Test ratings of every one of them (eta); ratings of the least popular of them.
    largest_share : fractions.Fraction
        See `largest_test_share`.
    """

    items: npt.NDArray[np.int32]
    n_each: int
    least_count: int
    largest_share: Fraction


def largest_test_share(counts: npt.NDArray[np.int64], kept_share: float = KEPT_SHARE) -> Fraction:
    """Compute the largest test share for which `uniform_plan` finds items.

    Parameters
    ----------
    counts, kept_share
        As of `uniform_plan`.

    Returns
    -------
    fractions.Fraction
        0 if no item can spare one; ``1 - kept_share`` if all are equally popular, less otherwise.

    Examples
    --------
    >>> largest_test_share(np.array([10, 8, 5, 4, 2, 1]))
    Fraction(32, 75)
    """
    return max(_prefix_shares(counts, kept_share), default=Fraction(0))


def uniform_plan(
    counts: npt.NDArray[np.int64], test_share: float = 0.2, kept_share: float = KEPT_SHARE
) -> UniformPlan:
    """Choose items, and a number of test ratings that each of them can spare.

    With items by descending count c_1 >= c_2 >= ..., T is the first zeta items,

        zeta = max{k : (1 - kept_share) c_k k / sum(c) >= test_share},
        eta = floor((1 - kept_share) c_zeta).

    The left side is not monotone in k: the last k counts, for the largest T. Equally popular items
    are in T together, as it grows with k among them. All is computed in exact arithmetic, shares
    being read as the decimal numbers that they print as. What can spare no rating is not in T.

    Parameters
    ----------
    counts : int array (n_items,)
        Ratings per item.
    test_share : float
        Share of all ratings that is to be tested (sigma); the floor takes zeta / sum(c) at most.
    kept_share : float
        Least share of an item's ratings that stays in training (eps), above 0 and below 1.

    Returns
    -------
    UniformPlan

    Raises
    ------
    ConfigError
        If a share is outside (0, 1).
    DataError
        If no k satisfies the inequality; names the largest test share that one does.

    References
    ----------
    BCC17 Section 6.2, which prints eta unrounded.

    Examples
    --------
    >>> plan = uniform_plan(np.array([10, 8, 5, 4, 2, 1]), 0.42)  # k=3 fails, k=4 does not
    >>> plan.items.tolist(), plan.n_each, float(plan.largest_share)
    ([0, 1, 2, 3], 3, 0.4266666666666667)
    """
    rule = SplitRule("uniform", test_share, kept_share)
    sigma, shares = Fraction(str(test_share)), _prefix_shares(counts, kept_share)
    largest = max(shares, default=Fraction(0))
    if sigma > largest:
        rounded = math.floor(largest * 10**4) / 10**4  # rounded down, so that it can be asked for
        raise DataError(
            f"split '{rule}': no set of items can give so many test ratings, equally many each, "
            f"and keep {100 * kept_share:g}% of its own\n"
            f"the largest feasible share of these {counts.sum()} ratings is {rounded}"
        )
    last = max(place for place, share in enumerate(shares) if share >= sigma)
    least = int(np.sort(counts)[::-1][last])
    n_each = math.floor((1 - Fraction(str(kept_share))) * least)
    return UniformPlan(np.flatnonzero(counts >= least).astype(np.int32), n_each, least, largest)


def _prefix_shares(counts: npt.NDArray[np.int64], kept_share: float) -> list[Fraction]:
    """List what share of the ratings the first k items can test, equally many each, for each k."""
    spared, total = 1 - Fraction(str(kept_share)), int(counts.sum())
    falling = np.sort(counts)[::-1].tolist()
    return [spared * c * k / total for k, c in enumerate(falling, start=1) if spared * c >= 1]


def uniform(
    ratings: Ratings,
    test_share: float = 0.2,
    kept_share: float = KEPT_SHARE,
    *,
    rng: np.random.Generator,
) -> Split:
    """Send equally many random ratings of each item of a set T to the test, none of others.

    Parameters
    ----------
    ratings : Ratings
        What to split.
    test_share, kept_share : float
        Decide T and the number of ratings, see `uniform_plan`.
    rng : numpy.random.Generator
        Draws one number per rating.

    Returns
    -------
    Split
        The only fold: up to ``kept_share=0.5`` T's last item has no ratings for a second test. A
        rule with ``draws=`` takes several, each drawn anew.

    Raises
    ------
    ConfigError, DataError
        As `uniform_plan`.

    References
    ----------
    BCC17 Section 6.2, the split behind UAR and U1R.
    """
    counts = ratings.item_counts()
    plan = uniform_plan(counts, test_share, kept_share)
    place = _drawn_places(ratings.item, counts, rng)
    in_test = (place < plan.n_each) & np.isin(ratings.item, plan.items)
    return _split(ratings, in_test, SplitRule("uniform", test_share, kept_share))


def temporal(ratings: Ratings, test_share: float = 0.2) -> Split:
    """Cut all ratings at one moment: the oldest train, the newest test.

    With n ratings, the moment is the time of the (n - ceil(test_share n) + 1)-th oldest. Every
    rating of that very moment goes to the test set, so that neither the order of lines in a file
    nor that of ids decides between equal times; the test set may therefore be larger than asked.

    Parameters
    ----------
    ratings : Ratings
        What to split; needs timestamps.
    test_share : float
        Share of the ratings in the test set, above 0 and below 1, read as the decimal number that
        it prints as.

    Returns
    -------
    Split
        The only fold of this rule.

    Raises
    ------
    ConfigError
        If `test_share` is outside (0, 1), or there are no timestamps.
    DataError
        If the cut falls on the oldest time, which leaves nothing to train on.
    """
    rule = SplitRule("temporal", test_share)
    times = _times(ratings, rule)
    return _split(ratings, times >= _cut(np.sort(times), Fraction(str(test_share))), rule)


def temporal_at(ratings: Ratings, moment: int | str) -> Split:
    """Cut all ratings at a given moment: what is older trains, that moment and later tests.

    Parameters
    ----------
    ratings : Ratings
        What to split; needs timestamps.
    moment : int or str
        Seconds since 1970, or a date in UTC: ``"2003-01-01"``, the midnight with which that day
        begins, or ``"2003-01-01T09:30:00"``, with or without a ``Z`` behind it.

    Returns
    -------
    Split
        The only fold of this rule.

    Raises
    ------
    ConfigError
        If `moment` is neither, or there are no timestamps.
    DataError
        If no rating is older, or none is as new; says from when to when there are ratings.

    Notes
    -----
    What `temporal` cuts by a share, at a moment that is the same for every table.
    """
    rule = SplitRule.parse(f"temporal-at {moment}")
    times = _times(ratings, rule)
    in_test = times >= int(rule.size or 0)
    if len(ratings) and (in_test.all() or not in_test.any()):
        first, last = (_moment_text(int(end)) for end in (times.min(), times.max()))
        problem = "no rating is older than that" if in_test.all() else "no rating is as new as that"
        raise DataError(
            f"split '{rule}' of {ratings.name}: {problem}\n"
            f"its {len(ratings):,} ratings are from {first} to {last}; cut in between"
        )
    return _split(ratings, in_test, rule)


def rolling(ratings: Ratings, n_windows: int = 3, window_share: float = 0.1) -> list[Split]:
    """Test on consecutive windows of time, the last ones, each after all that is older.

    The windows hold `window_share` of the ratings each, and the last one ends with the newest
    rating. Of window k, what is older than it trains and what is newer is not used. The windows
    are cut as by `temporal`: the j-th from the end begins where a test share of j `window_share`
    would. So ratings of one moment are in one window, and the last fold is `temporal`'s of one
    window.

    Parameters
    ----------
    ratings : Ratings
        What to split; needs timestamps.
    n_windows : int
        Number of windows, at least 1.
    window_share : float
        Share of the ratings in each, read as the decimal number that it prints as; all windows
        together less than 1.

    Returns
    -------
    list of Split
        One for each window, the oldest first; each trains on all that the one before trained and
        tested on.

    Raises
    ------
    ConfigError
        If the windows are no number of such shares, or there are no timestamps.
    DataError
        If a window is empty, as all of it has the time of the next one, or nothing is older than
        the first.
    """
    rule = SplitRule("rolling", n_windows, window=window_share)
    times = _times(ratings, rule)
    ordered, share = np.sort(times), Fraction(str(window_share))
    starts = [_cut(ordered, share * left) for left in range(n_windows, 0, -1)]
    ends = [*starts[1:], math.inf]
    return [
        _split(ratings, (times >= start) & (times < end), rule, fold, in_train=times < start)
        for fold, (start, end) in enumerate(zip(starts, ends, strict=True))
    ]


def temporal_per_user(ratings: Ratings, test_share: float = 0.2) -> Split:
    """Cut the ratings of each user at a moment of their own: the oldest train, the newest test.

    Of a user's n ratings the newest ceil(test_share n) test, and with them every rating as old as
    the oldest of these. A user whose ratings all have one time has no training ratings then.

    Parameters
    ----------
    ratings : Ratings
        What to split; needs timestamps.
    test_share : float
        Share of each user's ratings in the test set, above 0 and below 1, read as the decimal
        number that it prints as.

    Returns
    -------
    Split
        The only fold of this rule.

    Raises
    ------
    ConfigError
        If `test_share` is outside (0, 1), or there are no timestamps.
    DataError
        If no user has two times, which leaves nothing to train on.
    """
    rule = SplitRule("temporal-user", test_share)
    times = _times(ratings, rule)
    counts = ratings.user_counts()
    rated = np.flatnonzero(counts)
    oldest_first = np.lexsort((times, ratings.user))
    cut_row = ratings.indptr[1:] - _ceil_share(test_share, counts)
    cuts = np.zeros(ratings.n_users, dtype=np.int64)
    cuts[rated] = times[oldest_first[cut_row[rated]]]
    return _split(ratings, times >= cuts[ratings.user], rule)


def leave_last(ratings: Ratings, n_out: int = 1) -> Split:
    """Send the last `n_out` ratings of every user to the test set.

    Ties are treated as by `temporal_per_user`: with these go all ratings as old as the oldest of
    them, so that nobody tests fewer, some may test more, and a user whose ratings all have one
    time has no training ratings.

    Parameters
    ----------
    ratings : Ratings
        What to split; needs timestamps. Users without a rating are passed over.
    n_out : int
        Ratings per user in the test set, at least 1.

    Returns
    -------
    Split
        The only fold of this rule.

    Raises
    ------
    ConfigError
        If `n_out` is below 1, or there are no timestamps.
    DataError
        If a user has no more than `n_out` ratings, or no user has an older one than these.
    """
    rule = SplitRule("leave-last", n_out)
    times = _times(ratings, rule)
    counts = ratings.user_counts()
    small = np.flatnonzero((counts > 0) & (counts <= n_out))
    if len(small):
        raise DataError(
            f"{_too_few(rule, ratings, small, n_out)}\n"
            f"leave them out, as by --select 'users>={n_out + 1}' or select= of a grid, or use a "
            "split that takes any number, e.g. --split 'temporal-user 0.2'"
        )
    rated = np.flatnonzero(counts)
    oldest_first = np.lexsort((times, ratings.user))
    cuts = np.zeros(ratings.n_users, dtype=np.int64)
    cuts[rated] = times[oldest_first[ratings.indptr[1:][rated] - n_out]]
    return _split(ratings, times >= cuts[ratings.user], rule)


def from_fold_labels(ratings: Ratings, labels: npt.NDArray[np.integer[Any]]) -> list[Split]:
    """Use folds that came with the data; each is the test set once.

    Parameters
    ----------
    ratings : Ratings
        What to split.
    labels : int array (n,)
        Fold of each row, from 0.

    Returns
    -------
    list of Split
        One per fold, in the order of the labels.

    Raises
    ------
    ConfigError
        If the labels do not fit the rows, or one is negative.
    DataError
        If a fold between 0 and the largest is empty, or holds everything.
    """
    if labels.shape != (len(ratings),) or labels.min() < 0:
        raise ConfigError(
            f"fold labels of shape {labels.shape} for {len(ratings)} ratings: "
            "expected one label per rating, from 0"
        )
    rule = SplitRule("ready", order=None if ratings.place is None else "file")
    return _folds(ratings, labels, int(labels.max()) + 1, rule)


@dataclass(frozen=True)
class SplitRule:
    """A split rule as a value that prints and parses back.

    Parameters
    ----------
    kind : str
        ``"ratio"``, ``"k-fold"``, ``"leave-out"``, ``"temporal"``, ``"temporal-at"``,
        ``"temporal-user"``, ``"leave-last"``, ``"rolling"``, ``"uniform"`` (equally many ratings
        of each item that is tested), ``"ready"`` (the folds that came with the data) or
        ``"whole"`` (all judgments of a part that is not trained on).
    size : float or int, optional
        Test share, number of folds or windows, ratings per user, or of ``"temporal-at"`` the
        moment in seconds since 1970, which prints as a date in UTC from 1973 on and below as the
        number; None for ``"ready"`` and ``"whole"``.
    kept : float, optional
        Of ``"uniform"``: least share of an item's ratings that stays in training; None is 0.2.
    order : {"file"}, optional
        Of ``"ready"``: the training ratings know the order of their rows in the files, and systems
        that list in that order follow it (`recbias.recommenders.as_published.file_order`). Without
        it rows are sorted by user, then by item. Nothing else changes.
    window : float, optional
        Of ``"rolling"``: share of the ratings in each window.
    draws : int, optional
        Of ``"uniform"``: folds, each of them a draw of its own; None is 1.

    Raises
    ------
    ConfigError
        If `kind` is unknown, or `size`, `kept`, `order`, `window` or `draws` does not fit it.

    See Also
    --------
    ratio, k_fold, leave_out, temporal, temporal_at, temporal_per_user, leave_last, rolling,
    uniform, from_fold_labels

    Examples
    --------
    >>> SplitRule.parse("k-fold 5")
    SplitRule(kind='k-fold', size=5, kept=None, order=None, window=None, draws=None)
    >>> str(SplitRule("temporal-user", 0.2))
    'temporal-user 0.2'
    >>> str(SplitRule("uniform", 0.2)), str(SplitRule("uniform", 0.2, kept=0.1))
    ('uniform 0.2', 'uniform 0.2 eps=0.1')
    >>> SplitRule.parse("uniform 0.2 draws=5").draws, str(SplitRule("uniform", 0.2, draws=1))
    (5, 'uniform 0.2')
    >>> str(SplitRule("ready", order="file"))
    'ready order=file'
    >>> SplitRule.parse("temporal-at 2003-01-01").size, str(SplitRule("temporal-at", 1041413400))
    (1041379200, 'temporal-at 2003-01-01T09:30:00Z')
    >>> str(SplitRule("rolling", 3, window=0.1))
    'rolling 3 0.1'
    """

    kind: str
    size: float | None = None
    kept: float | None = None
    order: str | None = None
    window: float | None = None
    draws: int | None = None

    def __post_init__(self) -> None:
        # One text for one rule.
        if self.kind == "uniform" and self.kept == KEPT_SHARE:
            object.__setattr__(self, "kept", None)
        if self.kind == "uniform" and self.draws == 1:
            object.__setattr__(self, "draws", None)
        if self.kind not in _EXPECTED:
            raise unknown_name("split rule", self.kind, _EXPECTED)
        expected = _EXPECTED[self.kind]
        kept_fits = self.kept is None or (self.kind == "uniform" and _is_share(self.kept))
        window_fits = _is_share(self.window) if self.kind == "rolling" else self.window is None
        draws_fit = self.draws is None or (self.kind == "uniform" and _is_whole(self.draws, 1))
        if not (expected.fits(self.size) and kept_fits and window_fits and draws_fit):
            raise ConfigError(f"split rule '{self}': expected something like '{expected.example}'")
        if self.window is not None and Fraction(str(self.window)) * int(self.size or 0) >= 1:
            raise ConfigError(
                f"split rule '{self}': {self.size} windows of {self.window} of the ratings leave "
                f"nothing to train on\ntake fewer or smaller ones, as '{expected.example}'"
            )
        if self.order not in (None, "file") or (self.order and self.kind != "ready"):
            raise ConfigError(
                f"split rule '{self}': expected 'ready order=file', as only folds that came with "
                "the data know the order of their rows"
            )

    def __str__(self) -> str:
        size = "" if self.size is None else f" {self.size}"
        if self.kind == "temporal-at" and isinstance(self.size, int):
            size = f" {_moment_text(self.size)}"
        window = "" if self.window is None else f" {self.window}"
        eps = "" if self.kept is None else f" eps={self.kept}"
        order = "" if self.order is None else f" order={self.order}"
        draws = "" if self.draws is None else f" draws={self.draws}"
        return self.kind + size + window + eps + order + draws

    @property
    def reads_times(self) -> bool:
        """Whether the times of the ratings decide which of them are tested."""
        return self.kind in _BY_TIME

    @property
    def meaning(self) -> str:
        """What the rule does, as a sentence without its full stop.

        Examples
        --------
        >>> SplitRule.parse("leave-out 2").meaning
        'Of each user 2 random ratings are the test'
        """
        size = "" if self.size is None else exact(self.size)
        if self.kind == "temporal-at":
            size = str(self).removeprefix("temporal-at ")
        words = _EXPECTED[self.kind].meaning.format(size=size, window=self.window)
        if self.kept is not None:
            words += f", where {exact(self.kept)} of an item's ratings stay in training at least"
        if self.draws is not None:
            words += f", in each of {self.draws} draws that know nothing of each other"
        return words + (", their rows in the order of the files" if self.order else "")

    @property
    def form(self) -> str:
        """How rules of its kind are written, brackets around what may be left out."""
        return _EXPECTED[self.kind].form

    @property
    def folds_are_draws(self) -> bool:
        """Whether each fold is a test of its own that was drawn anew, not a part of one whole.

        A rating is in none, one or several of such tests. How much their results differ says how
        much the draw decides, which resampling users does not know.
        """
        return self.kind == "uniform"

    @property
    def is_drawn(self) -> bool:
        """Whether another seed gives another split."""
        return _EXPECTED[self.kind].is_drawn

    @classmethod
    def parse(cls, text: str) -> SplitRule:
        """Read a rule from its printed form.

        Parameters
        ----------
        text : str
            E.g. ``"ratio 0.2"``.

        Returns
        -------
        SplitRule
            The rule whose `str` is `text`.

        Raises
        ------
        ConfigError
            If the kind is unknown, or a number or date is missing, none, or out of range.
        """
        kind, _, rest = text.strip().partition(" ")
        rest, ordered, order = f" {rest}".partition(" order=")
        rest, in_order = rest.strip(), order if ordered else None
        if not rest:
            return cls(kind, order=in_order)
        if kind == "temporal-at":
            return cls(kind, _moment(rest, text), order=in_order)
        given = dict(_OPTIONS.findall(rest))
        size = rest if len(given) < len(_OPTIONS.findall(rest)) else _OPTIONS.sub("", rest)
        window = None
        if (kind == "rolling" or kind not in _EXPECTED) and size.split()[1:]:
            size, window = size.split(maxsplit=1)
        try:
            number = int(size) if size.strip().isdecimal() else float(size)
            kept = float(given["eps"]) if "eps" in given else None
            draws = int(given["draws"]) if "draws" in given else None
            rolled = None if window is None else float(window)
            return cls(kind, number, kept, in_order, rolled, draws)
        except ValueError:
            expected = _EXPECTED.get(kind)
            words = re.findall(r"(\w+)=", rest)
            hints = [did_you_mean(word, ("eps", "draws", "order")) for word in words]
            remedy = f"\nexpected something like '{expected.example}'" if expected else ""
            raise ConfigError(
                f"split rule '{text}': '{rest}' is no number{''.join(hints[:1])}{remedy}"
            ) from None

    def splits(
        self,
        ratings: Ratings,
        *,
        rng: np.random.Generator,
        ready: npt.NDArray[np.integer[Any]] | None = None,
        row_order: npt.NDArray[np.integer[Any]] | None = None,
    ) -> list[Split]:
        """Split the ratings by this rule.

        Parameters
        ----------
        ratings : Ratings
            What to split.
        rng : numpy.random.Generator
            Source of random numbers; rules that read times and ``"ready"`` draw none.
        ready : int array (n,), optional
            Fold labels that came with the data.
        row_order : int array (n,), optional
            Place of each row in the files, for ``order=file``; no two alike.

        Returns
        -------
        list of Split
            One per fold; a single one for rules without folds.

        Raises
        ------
        ConfigError
            As the function of that rule; if the splits have more than 10^9 rows, which take 16 GB;
            if the rule is ``"ready"`` and `ready` is None; if it asks
            for the order of rows and `row_order` is None or no order of them; or if it is
            ``"whole"``, which needs a part of its own for training.
        """
        n_splits = int(self.size or 1) if self.kind in ("k-fold", "rolling") else self.draws or 1
        if n_splits > 1 and n_splits * len(ratings) > _MOST_ROWS:
            raise ConfigError(
                f"split rule '{self}' of {len(ratings):,} ratings: {n_splits:,} splits of them "
                f"have more than {_MOST_ROWS:,} rows\n"
                f"take fewer, as '{_EXPECTED[self.kind].example}'"
            )
        match self.kind, self.size:
            case "ratio", float(share):
                return [ratio(ratings, share, rng=rng)]
            case "k-fold", int(n_folds):
                return k_fold(ratings, n_folds, rng=rng)
            case "leave-out", int(n_out):
                return [leave_out(ratings, n_out, rng=rng)]
            case "temporal", float(share):
                return [temporal(ratings, share)]
            case "temporal-at", int(moment):
                return [temporal_at(ratings, moment)]
            case "temporal-user", float(share):
                return [temporal_per_user(ratings, share)]
            case "leave-last", int(n_out):
                return [leave_last(ratings, n_out)]
            case "rolling", int(n_windows):
                return rolling(ratings, n_windows, self.window or 0)
            case "uniform", float(share):
                kept = self.kept or KEPT_SHARE
                drawn = [uniform(ratings, share, kept, rng=rng) for _ in range(self.draws or 1)]
                return [
                    dataclasses.replace(split, fold=fold, rule=str(self))
                    for fold, split in enumerate(drawn)
                ]
        if self.kind == "whole":
            raise ConfigError(
                f"split rule 'whole' leaves nothing of {ratings.name} to train on\n"
                "use it for a test side that is not trained on, such as 'unbiased'"
            )
        if ready is None:
            raise ConfigError(
                f"split rule 'ready': {ratings.name} came without folds\nuse e.g. 'k-fold 5'"
            )
        if self.order:
            if row_order is None:
                raise ConfigError(
                    f"split rule '{self}': the folds of {ratings.name} came without an order of "
                    "rows\nuse 'ready'"
                )
            if row_order.shape != (len(ratings),) or len(np.unique(row_order)) < len(ratings):
                raise ConfigError(
                    f"places of rows of shape {row_order.shape} for {len(ratings)} ratings: "
                    "expected one place per rating, each once"
                )
            ratings = dataclasses.replace(ratings, place=row_order.astype(np.int64))
        return from_fold_labels(ratings, ready)


def warn_of_other_share(splits: Sequence[Split]) -> None:
    """Warn if a split tests another share of the ratings than was asked.

    Parameters
    ----------
    splits : sequence of Split
        Of one rule.

    Warns
    -----
    DataWarning
        If the share that a fold tests is more than a tenth of the asked one away from it, and
        farther than a whole number of ratings, or of ratings drawn one by one, can be; says both,
        and why.
    """
    rule = SplitRule.parse(splits[0].rule)
    asked_share = 1 / rule.size if rule.kind == "k-fold" and rule.size else rule.size
    if rule.kind in ("leave-out", "ready", "whole", "temporal-at") or asked_share is None:
        return
    n_ratings = len(splits[-1].test) + len(splits[-1].train)  # what a window leaves out is newer
    if rule.kind == "leave-last":
        asked_share *= np.count_nonzero(_rated(splits[0])) / n_ratings
    if rule.window is not None:
        asked_share = rule.window
    by_chance = (
        4 * math.sqrt(asked_share * (1 - asked_share) / n_ratings) if rule.kind in _DRAWN else 0
    )
    far = max(
        (len(split.test) / n_ratings for split in splits), key=lambda got: abs(got - asked_share)
    )
    if abs(far - asked_share) <= max(0.1 * asked_share, by_chance, 1 / n_ratings):
        return
    warnings.warn(
        f"split '{rule}' of {splits[0].train.name}: asked to test {_percent(asked_share)}, "
        f"it tests {_percent(far)}"
        f"{f' in one of {len(splits)} folds' if splits[1:] and not rule.folds_are_draws else ''}: "
        f"{_why(rule, splits[0])}",
        DataWarning,
        stacklevel=2,
    )


def _too_few(rule: SplitRule, ratings: Ratings, small: npt.NDArray[np.intp], n_out: int) -> str:
    """Say how many users a rule would leave without a training rating, and who is one of them."""
    who = f"{len(small):,} users have" if len(small) > 1 else "1 user has"
    return (
        f"split '{rule}': {who} no more than {n_out} rating{'s' * (n_out != 1)}, "
        f"e.g. user {ratings.user_ids[small[0]]!s}"
    )


_DRAWN = ("ratio", "k-fold")
"""Rules that draw for each rating on its own, so that their sizes are a matter of chance."""


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def _why(rule: SplitRule, split: Split) -> str:
    """Tell why a split tests another share than asked."""
    if rule.kind in _DRAWN:
        return "each rating is drawn on its own, and there are few"
    if rule.kind == "uniform":
        return "each tested item gives equally many ratings, a whole number of them"
    if rule.kind in ("leave-last", "rolling"):
        return "ratings of one time are not parted, and many have that of a cut"
    counts = _rated(split)
    whole = np.array([counts.sum()]) if rule.kind == "temporal" else counts
    beyond = len(split.test) - int(_ceil_share(float(rule.size or 0), whole).sum())
    if beyond:
        return f"ratings of one time are not parted, and {beyond:,} have that of the cut too"
    return "of each user a whole number of ratings is tested, one at least, and many have few"


def _rated(split: Split) -> npt.NDArray[np.int64]:
    """Count the ratings of each user on both sides."""
    return split.train.user_counts() + split.test.user_counts()


_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9]{2}:[0-9]{2}:[0-9]{2}Z?)?")
_DATED = range(10**8, 253_402_300_800)
"""Seconds that print as a date, from 1973 to 9999: smaller numbers may count something else."""


def _moment(moment: str, rule: str) -> int:
    """Read seconds since 1970, or a date in UTC."""
    if re.fullmatch("-?[0-9]+", moment):
        return int(moment)
    try:
        if not _DATE.fullmatch(moment):
            raise ValueError
        return int(datetime.fromisoformat(moment.removesuffix("Z")).replace(tzinfo=UTC).timestamp())
    except ValueError:
        raise ConfigError(
            f"split rule '{rule}': '{moment}' is no moment\n"
            "expected a date in UTC, as 2003-01-01 or 2003-01-01T09:30:00, or whole seconds since "
            "1970"
        ) from None


def _moment_text(moment: int) -> str:
    """Write a moment as the shortest date that says it, or as its number."""
    if moment not in _DATED:
        return str(moment)
    return f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%dT%H:%M:%SZ}".removesuffix("T00:00:00Z")


def _is_share(size: float | None) -> bool:
    return isinstance(size, float) and 0 < size < 1


def _is_whole(size: float | None, least: int) -> bool:
    return isinstance(size, int) and not isinstance(size, bool) and size >= least


def _is_moment(size: float | None) -> bool:
    return isinstance(size, int) and not isinstance(size, bool) and abs(size) < 2**63


class _Expected(NamedTuple):
    """What is known of a kind of rule.

    `example` is a rule, `form` how it is written, `meaning` a sentence with ``{size}``
    and perhaps ``{window}`` in it;
    `is_drawn` says whether it depends on the seed.
    """

    fits: Callable[[float | None], bool]
    example: str
    form: str
    meaning: str
    is_drawn: bool = True


_EXPECTED = {
    "ratio": _Expected(
        _is_share,
        "ratio 0.2",
        "ratio SHARE",
        "Each rating goes to the test with probability {size}",
    ),
    "k-fold": _Expected(
        lambda size: _is_whole(size, 2),
        "k-fold 5",
        "k-fold N",
        "Ratings are split into {size} random folds, each of which is the test once",
    ),
    "leave-out": _Expected(
        lambda size: _is_whole(size, 1),
        "leave-out 1",
        "leave-out N",
        "Of each user {size} random ratings are the test",
    ),
    "temporal": _Expected(
        _is_share,
        "temporal 0.2",
        "temporal SHARE",
        "The last ratings are the test, a share of {size} of all",
        is_drawn=False,
    ),
    "temporal-at": _Expected(
        _is_moment,
        "temporal-at 2003-01-01",
        "temporal-at DATE|SECONDS",
        "The ratings from {size} (UTC) on are the test, what is older is trained on",
        is_drawn=False,
    ),
    "temporal-user": _Expected(
        _is_share,
        "temporal-user 0.2",
        "temporal-user SHARE",
        "The last ratings of each user are the test, a share of {size}",
        is_drawn=False,
    ),
    "leave-last": _Expected(
        lambda size: _is_whole(size, 1),
        "leave-last 1",
        "leave-last N",
        "The last ratings of each user are the test, {size} or as many as share a time",
        is_drawn=False,
    ),
    "rolling": _Expected(
        lambda size: _is_whole(size, 1),
        "rolling 3 0.1",
        "rolling N SHARE",
        "The last ratings are cut into {size} windows of time, a share of {window} each, and each "
        "is the test of what is older",
        is_drawn=False,
    ),
    "uniform": _Expected(
        _is_share,
        "uniform 0.2",
        "uniform SHARE [eps=SHARE] [draws=N]",
        "Of each tested item equally many ratings are the test, a share of {size} of all",
    ),
    "ready": _Expected(
        lambda size: size is None,
        "ready",
        "ready [order=file]",
        "The folds that came with the data are the split",
        is_drawn=False,
    ),
    "whole": _Expected(
        lambda size: size is None,
        "whole",
        "whole",
        "All observed ratings are trained on, and judgments beside them are the test",
        is_drawn=False,
    ),
}


_MOST_ROWS = 10**9
"""Of all splits that a rule makes of some ratings: they take 16 bytes each, or more."""

_OPTIONS = re.compile(r"\s(eps|draws)=(\S+)")
"""What may stand behind the share of a uniform rule."""

_BY_TIME = ("temporal", "temporal-at", "temporal-user", "leave-last", "rolling")


def split_rules() -> tuple[SplitRule, ...]:
    """List an example of each kind of split rule; it says how it is written and what it does.

    Examples
    --------
    >>> for rule in split_rules()[:2]:
    ...     print(f"{rule.form}; {rule}: {rule.meaning}")
    ratio SHARE; ratio 0.2: Each rating goes to the test with probability 0.2
    k-fold N; k-fold 5: Ratings are split into 5 random folds, each of which is the test once
    """
    return tuple(SplitRule.parse(kind.example) for kind in _EXPECTED.values())


def _split(
    ratings: Ratings,
    in_test: npt.NDArray[np.bool_],
    rule: SplitRule,
    fold: int = 0,
    in_train: npt.NDArray[np.bool_] | None = None,
) -> Split:
    in_train = ~in_test if in_train is None else in_train
    for part, size in (("test", in_test.sum()), ("training", in_train.sum())):
        if not size:
            raise DataError(
                f"split '{rule}' of {len(ratings)} ratings: fold {fold} has no {part} rating\n"
                "use more ratings or other sizes"
            )
    test = ratings.take(in_test)
    return Split(ratings.take(in_train), test, np.unique(test.item), fold, str(rule))


def _folds(
    ratings: Ratings, labels: npt.NDArray[np.integer[Any]], n_folds: int, rule: SplitRule
) -> list[Split]:
    return [_split(ratings, labels == fold, rule, fold) for fold in range(n_folds)]


def _drawn_places(
    group: npt.NDArray[np.int32], counts: npt.NDArray[np.int64], rng: np.random.Generator
) -> npt.NDArray[np.int64]:
    """Shuffle the rows of each group, and tell the place of each row in its own, from 0."""
    shuffled = np.lexsort((rng.random(len(group)), group))
    place = np.empty(len(group), dtype=np.int64)
    place[shuffled] = np.arange(len(group)) - (np.cumsum(counts) - counts)[group[shuffled]]
    return place


def _times(ratings: Ratings, rule: SplitRule) -> npt.NDArray[np.int64]:
    if ratings.timestamp is None:
        raise ConfigError(
            f"split '{rule}': {ratings.name} has no timestamps\n"
            "use a split that needs none, e.g. 'ratio 0.2'"
        )
    return ratings.timestamp


def _cut(ordered: npt.NDArray[np.int64], test_share: Fraction) -> int:
    """Give the time from which on ratings are the newest share of all, given sorted times."""
    return int(ordered[len(ordered) - math.ceil(test_share * len(ordered))])


def _ceil_share(share: float, counts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    # In exact arithmetic: 0.07 * 100 is 7.000000000000001 in floats, and would give 8.
    fraction = Fraction(str(share))
    return -(-counts * fraction.numerator // fraction.denominator)
