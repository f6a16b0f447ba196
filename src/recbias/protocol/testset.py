"""The side of the test: which judgments count, and what of them is left out.

A dataset may have three kinds of judgments: those that users chose to give (``observed``), those of
items drawn at random (``unbiased``), and in a simulated world the true rating of every pair
(``truth``). What is trained on follows from what is tested on, so that this choice makes the split:

=========== ============================================= =======================================
part        test                                          training
=========== ============================================= =======================================
observed    a fold of the observed ratings                the other observed ratings
unbiased    a fold of the unbiased ratings                the observed ratings of other pairs
truth       true ratings of all pairs outside training,   as for observed
            or of a random sample of items per user
=========== ============================================= =======================================

With ``train=same`` unbiased ratings, or a sample of the truth, are tested *and* trained on, fold by
fold: what an evaluation would be if users had rated at random. With ``train=observed`` the split is
that of the observed ratings, and all unbiased ratings of pairs outside its training are tested: the
truth about the very systems that the observed test judges, as ``truth`` is in a simulated world.

That is sound only if what was observed is another rating than what was drawn. Where users rated
items that were drawn, and the observed ratings are those of items that they knew, training takes
away the very judgments that would speak for popular items. With ``held=5`` a fifth of the judgments
of random items, known or not, is held out *before* observed ratings are split, each fifth in turn:
``observed held=5`` is the split of what remains, ``unbiased train=observed held=5`` the truth about
the same systems, on what was held out.
"""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np
import numpy.typing as npt

from recbias._system.streams import stream
from recbias.data.datasets import Dataset
from recbias.data.ratings import COUNT, Ratings
from recbias.data.simulation import Truth
from recbias.errors import ConfigError, DataError, did_you_mean, unknown_name
from recbias.protocol.splits import Split, SplitRule
from recbias.protocol.targets import ItemGroups

__all__ = ["REVISION", "Part", "TestSet", "dataset_splits", "kept_rows", "reduced_split"]

Part = Literal["observed", "unbiased", "truth"]

REVISION = 1
"""Raised when code changes which test ratings are taken out at random, or sampled from truth."""

_TOKENS = re.compile(rf"(?P<name>removed|head|sample|held)=(?P<number>{COUNT})(?P<unit>%?)")
_COUNTED = ("sample", "held")
_OTHERS = ("items", "train")
_ITEMS = re.compile(rf"(?P<first>{COUNT})-(?P<last>{COUNT})/(?P<groups>{COUNT})")
_TRAINED_ITEMS = re.compile(rf"trained(?P<sign>>=|<)(?P<least>{COUNT})")


@dataclass(frozen=True)
class TestSet:
    """Which judgments count, what was removed at random, which head of items is out.

    Parameters
    ----------
    part
        ``"observed"``, ``"unbiased"`` or ``"truth"``.
    removed
        Share of the test ratings that is taken out at random, in percent. Training, candidates and
        users stay; the rating counts as never given (BCC17 Fig. 3 and 4).
    head
        Share of the items, the most popular in training, that leave test *and* candidates, in
        percent; their training ratings stay (BCC17 Sec. 6, after Cremonesi et al. 2010).
    sample
        Of ``"truth"``: judgments per user, of items drawn uniformly; None = all items.
    items
        Whose judgments count: popularity groups, as ``"6-10/10"`` for the less popular half, the
        first group being the most popular one; or items with so many training ratings, as
        ``"trained<5"`` for cold items, ``"trained>=5"`` for warm ones. All items stay targets:
        ratings of the others count as never given.
    train
        ``"same"`` to train on the other judgments of the part instead of on observed ratings; of
        ``"unbiased"`` and of samples of ``"truth"``. ``"observed"`` to train on what the observed
        part trains on, whatever unbiased ratings there are of its pairs; of ``"unbiased"``.
    held
        Folds of the unbiased judgments, each of which is held out in turn before the observed
        ratings are split; of ``"observed"``, and of ``"unbiased"`` with ``train="observed"``.

    Raises
    ------
    ConfigError
        For an unknown part, shares outside 0 to 99, a sample of anything but truth, groups of
        items that there are not, training on the same part where that is said already, or says
        everything, or folds held out where no observed ratings are split.

    Examples
    --------
    >>> test = TestSet.parse("observed removed=30% head=10%")
    >>> test.removed, test.head, str(test)
    (30, 10, 'observed removed=30% head=10%')
    >>> str(TestSet("truth", sample=50))
    'truth sample=50'
    >>> str(TestSet("unbiased", train="same"))
    'unbiased train=same'
    >>> TestSet.parse("items=trained<5").items
    'trained<5'
    >>> TestSet.parse("unbiased train=observed").trains_on == TestSet("observed").trains_on
    True
    >>> TestSet.parse("unbiased train=observed held=5").trains_on
    'observed held=5'
    """

    __test__: ClassVar[bool] = False  # no class of tests, whatever its name says

    part: Part = "observed"
    removed: int = 0
    head: int = 0
    sample: int | None = None
    items: str = ""
    train: Literal["", "same", "observed"] = ""
    held: int | None = None

    def __post_init__(self) -> None:
        if self.part not in get_args(Part):
            raise unknown_name("part of the judgments", str(self.part), get_args(Part))
        for name in ("removed", "head"):
            if type(getattr(self, name)) is not int or not 0 <= getattr(self, name) <= 99:
                raise ConfigError(f"{name}={getattr(self, name)}%: expected 0 to 99 percent")
        if self.sample is not None and (
            self.part != "truth" or type(self.sample) is not int or self.sample < 1
        ):
            raise ConfigError(
                f"sample={self.sample}: a number of judgments per user, from 1, of truth only"
            )
        if self.train not in ("", "same", "observed"):
            raise unknown_name("training ratings", str(self.train), ("same", "observed"))
        if self.train == "same" and (
            self.part == "observed" or (self.part, self.sample) == ("truth", None)
        ):
            raise ConfigError(
                f"train=same of {self.part!r}: expected 'unbiased', or 'truth' with a sample, "
                "whose other judgments can be trained on"
            )
        if self.train == "observed" and self.part != "unbiased":
            raise ConfigError(
                f"train=observed of {self.part!r}, which trains on observed ratings anyway: "
                "expected 'unbiased'"
            )
        splits_observed = self.part == "observed" or self.train == "observed"
        if self.held is not None and (
            not splits_observed or type(self.held) is not int or self.held < 2
        ):
            raise ConfigError(
                f"held={self.held}: a number of folds, from 2, of 'observed', or of 'unbiased' "
                "with train=observed"
            )
        cold = _TRAINED_ITEMS.fullmatch(self.items)
        if cold is not None and int(cold["least"]) > 0:
            object.__setattr__(self, "items", f"trained{cold['sign']}{int(cold['least'])}")
        elif self.items:
            match = _ITEMS.fullmatch(self.items)
            if match is None or not 1 <= int(match[1]) <= int(match[2]) <= int(match[3]):
                raise ConfigError(
                    f"items={self.items}: expected groups by popularity, as 6-10/10 for the less "
                    "popular half, or a number of training ratings from 1, as trained<5"
                )
            object.__setattr__(self, "items", "-".join(str(int(match[n])) for n in (1, 2)))
            object.__setattr__(self, "items", f"{self.items}/{int(match[3])}")

    @classmethod
    def parse(cls, text: str) -> TestSet:
        """Read a test side as it prints; the part ``observed`` may be left out.

        Raises
        ------
        ConfigError
            If the text has another form; shows the form.
        """
        words = text.split()
        part = "observed"
        if words and "=" not in words[0]:
            part = words.pop(0)
        numbers: dict[str, int | str] = {}
        for word in words:
            name, _, value = word.partition("=")
            if name in _OTHERS and name not in numbers:
                numbers[name] = value or "none"
                continue
            match = _TOKENS.fullmatch(word)
            if (
                match is None
                or match["name"] in numbers
                or bool(match["unit"]) == (match["name"] in _COUNTED)
            ):
                known = [field.name for field in dataclasses.fields(cls)[1:]]
                hint = "" if name in known else did_you_mean(name, known).replace(": ", "\n", 1)
                raise ConfigError(
                    f"cannot read test side {text!r}: expected PART [removed=PERCENT%] "
                    "[head=PERCENT%] [sample=JUDGMENTS] [items=FIRST-LAST/GROUPS|trained<RATINGS] "
                    f"[train=same|observed] [held=FOLDS], such as 'observed removed=30%'{hint}"
                )
            numbers[match["name"]] = int(match["number"])
        return cls(part, **numbers)  # type: ignore[arg-type]

    def __str__(self) -> str:
        tokens = [
            self.part,
            f"removed={self.removed}%" if self.removed else "",
            f"head={self.head}%" if self.head else "",
            f"sample={self.sample}" if self.sample is not None else "",
            f"items={self.items}" if self.items else "",
            f"train={self.train}" if self.train else "",
            f"held={self.held}" if self.held is not None else "",
        ]
        return " ".join(token for token in tokens if token)

    @property
    def trains_on(self) -> str:
        """Which split of the data it is trained on: truth shares that of the observed ratings."""
        if self.train == "same":
            return str(self.judgments)
        if self.held is not None:
            return str(TestSet(held=self.held))
        return self.part if self.part == "unbiased" and not self.train else "observed"

    @property
    def judgments(self) -> TestSet:
        """The same judgments before any are taken out: what a pass over the scores counts."""
        return TestSet(self.part, sample=self.sample, train=self.train, held=self.held)

    @property
    def item_groups(self) -> tuple[int, int, int]:
        """First group, the one behind the last, and how many there are; (0, 1, 1) is any."""
        match = _ITEMS.fullmatch(self.items)
        return (0, 1, 1) if match is None else (int(match[1]) - 1, int(match[2]), int(match[3]))

    def counted_items(self, groups: ItemGroups, train: Ratings) -> npt.NDArray[np.bool_]:
        """Tell whose judgments count.

        Parameters
        ----------
        groups
            Groups of items, the most popular first.
        train
            Training ratings, by whose number items are cold or warm.

        Returns
        -------
        ndarray of bool, shape (n_items,)

        Raises
        ------
        ConfigError
            If the groups that count are no unions of these.
        """
        cold = _TRAINED_ITEMS.fullmatch(self.items)
        if cold is not None:
            counts, least = train.item_counts(), int(cold["least"])
            return counts >= least if cold["sign"] == ">=" else counts < least
        first, end, n_groups = self.item_groups
        labels = groups.merged(n_groups).labels
        return (labels >= first) & (labels < end)

    def n_head_groups(self, n_groups: int) -> int:
        """Tell how many of so many equal groups of items the head is.

        Raises
        ------
        ConfigError
            If the head is no whole number of groups.
        """
        if self.head * n_groups % 100:
            raise ConfigError(
                f"head={self.head}% is no whole number of {n_groups} groups of items: count by "
                "more groups, as 'popularity 100'"
            )
        return self.head * n_groups // 100


def dataset_splits(
    dataset: Dataset, split: str, *, seed: int, judgments: TestSet | None = None
) -> list[Split]:
    """Split a dataset as an experiment with this split rule, seed and test side does.

    Parameters
    ----------
    dataset
        Ratings, with ready folds for the rule ``"ready"``.
    split
        Text of a :class:`~recbias.protocol.splits.SplitRule`.
    seed
        The experiment's seed.
    judgments
        Whose part (and sample) is tested; the observed one by default. What it removes is not
        removed here, see `kept_rows`.

    Returns
    -------
    list of Split
        Where the unbiased part is tested, pairs that were also observed leave training, never the
        test, which would no longer be random without them. With ``train=observed`` it is the other
        way round: the observed ratings are split, and what they train on leaves the test, which
        then is random among all pairs outside training. Where a part is tested and trained on, its
        judgments alone are split. With ``held=K`` there are the splits of the rule for each of K
        folds of the unbiased ratings, held out first: observed ratings that are among these are
        neither trained on nor part of the observed test.

    Raises
    ------
    ConfigError
        If the dataset lacks the part, or the rule does not fit it; with ``train=observed``, if the
        observed ratings are a part of the unbiased ones and no fold of these is held out.
    DataError
        If a fold is left without training or test ratings.
    """
    test = judgments or TestSet()
    rule = SplitRule.parse(split)
    if test.train == "same":
        judged = (
            _drawn(dataset)
            if test.sample is None
            else _known_truth(dataset).sample(test.sample, rng=stream(seed, "truth"))
        )
        return rule.splits(judged, rng=stream(seed, "split", split, test.trains_on))
    if test.trains_on == "unbiased":
        tests = [_drawn(dataset)]
        if rule.kind != "whole":
            drawn = rule.splits(tests[0], rng=stream(seed, "split", split, "unbiased"))
            tests = [drawn_split.test for drawn_split in drawn]
        return [
            _train_elsewhere(dataset.ratings, judged, fold, str(rule))
            for fold, judged in enumerate(tests)
        ]
    if test.held is not None:
        return _held_out(dataset, rule, test, seed)
    folds = rule.splits(
        dataset.ratings,
        rng=stream(seed, "split", split),
        ready=dataset.ready_folds,
        row_order=dataset.row_order,
    )
    if test.part == "observed":
        return folds
    return [_outside_training(dataset, fold, test, seed) for fold in folds]


def kept_rows(test: TestSet, n_rows: int, *, seed: int, fold: int) -> npt.NDArray[np.bool_]:
    """Draw which test ratings stay after a share was taken out at random, each on its own.

    Where one or more are expected to stay, one does.

    Parameters
    ----------
    test
        Its ``removed`` counts.
    n_rows
        Test ratings of the fold.
    seed, fold
        Name the draw; it is the same for all systems.

    Returns
    -------
    ndarray of bool, shape (n_rows,)

    Raises
    ------
    DataError
        If none is left, and less than one was expected.

    References
    ----------
    BCC17 Fig. 3 left, Fig. 4.
    """
    if not test.removed:
        return np.ones(n_rows, dtype=bool)
    drawn = stream(seed, "thin", test.removed, fold).random(n_rows)
    stays: npt.NDArray[np.bool_] = drawn >= test.removed / 100
    if not stays.any() and n_rows * (100 - test.removed) >= 100:
        stays[np.argmax(drawn)] = True
    if not stays.any():
        raise DataError(
            f"removing {test.removed}% leaves none of {n_rows} test ratings\nremove a smaller share"
        )
    return stays


def _drawn(dataset: Dataset) -> Ratings:
    """Return the unbiased part of a dataset; ConfigError if it has none."""
    if dataset.unbiased is None:
        raise ConfigError(f"{dataset.name} has no unbiased part; test on its observed ratings")
    return dataset.unbiased


def _known_truth(dataset: Dataset) -> Truth:
    """Return the truth of a dataset; ConfigError if it is not known."""
    if dataset.truth is None:
        raise ConfigError(f"the truth of {dataset.name} is not known; test on its observed ratings")
    return dataset.truth


def _train_elsewhere(observed: Ratings, judged: Ratings, fold: int, rule: str) -> Split:
    """Train on the observed ratings of pairs that are not in the test."""
    train = observed.take(~_in(observed, judged))
    if not len(train):
        raise DataError(f"{observed.name}: no observed rating is outside test fold {fold}")
    return Split(train, judged, np.unique(judged.item), fold, rule)


def _outside_training(dataset: Dataset, fold: Split, test: TestSet, seed: int) -> Split:
    """Test on what is known of pairs outside training: the truth, or unbiased ratings."""
    train = fold.train
    if test.part == "truth":
        rng = stream(seed, "truth", fold.fold)
        every = _known_truth(dataset).sample(test.sample or train.n_items, rng=rng)
    else:
        every = _drawn(dataset)
        if _in(dataset.ratings, every).all():
            raise ConfigError(
                f"{dataset.name}: its observed ratings are among the unbiased ones, so that "
                "training takes away judgments of what users know\n"
                "hold out a fold of them first, as 'unbiased train=observed held=5'"
            )
    judged = every.take(~_in(every, train))
    if not len(judged):
        raise DataError(f"{dataset.name}: fold {fold.fold} has no judgment outside training")
    return Split(train, judged, np.unique(judged.item), fold.fold, fold.rule)


def _in(ratings: Ratings, others: Ratings) -> npt.NDArray[np.bool_]:
    """Tell for each rating whether its pair has one among others."""
    n_items = np.int64(ratings.n_items)
    is_among: npt.NDArray[np.bool_] = np.isin(
        ratings.user * n_items + ratings.item, others.user * n_items + others.item
    )
    return is_among


def _held_out(dataset: Dataset, rule: SplitRule, test: TestSet, seed: int) -> list[Split]:
    """Hold out each fold of the unbiased ratings in turn, and split what then is observed."""
    observed, drawn, n_folds = dataset.ratings, _drawn(dataset), test.held or 1
    # Otherwise a pair that was observed and drawn has two ratings, and the one does not tell
    # whether there is the other.
    is_part = bool(_in(observed, drawn).all())
    labels = stream(seed, "held", n_folds).integers(n_folds, size=len(drawn))
    splits: list[Split] = []
    for number in range(n_folds):
        held = drawn.take(labels == number)
        rest = observed.take(~_in(observed, held)) if is_part else observed
        for split in rule.splits(rest, rng=stream(seed, "split", str(rule), n_folds, number)):
            fold = dataclasses.replace(split, fold=len(splits))
            if test.part == "unbiased":
                judged = held.take(~_in(held, fold.train))
                if is_part:
                    rng = stream(seed, "held", n_folds, fold.fold)
                    judged = judged.take(_evenly_judged(judged, dataset, rest, fold, n_folds, rng))
                fold = dataclasses.replace(fold, test=judged, test_items=np.unique(judged.item))
            splits.append(fold)
    return splits


def _evenly_judged(
    judged: Ratings,
    dataset: Dataset,
    rest: Ratings,
    fold: Split,
    n_folds: int,
    rng: np.random.Generator,
) -> npt.NDArray[np.bool_]:
    """Draw which held-out judgments stay, so that all pairs outside training are equally likely.

    Any pair is held out with the same probability, but what a user knows may be in training
    instead. Of the known pairs outside training more are held out, by one over the share of them
    that is outside, and so the held-out ones stay with the probability of that share: one less how
    much of the catalogue the user judged in other folds, times how much of the item's ratings
    became training.
    """
    drawn = _drawn(dataset)
    elsewhere = (1 - 1 / n_folds) * drawn.user_counts() / drawn.n_items
    trained = fold.train.item_counts() / np.maximum(rest.item_counts(), 1)
    outside = 1 - elsewhere[judged.user] * trained[judged.item]
    stays: npt.NDArray[np.bool_] = ~_in(judged, dataset.ratings) | (
        rng.random(len(judged)) < outside
    )
    return stays


def reduced_split(split: Split, test: TestSet, groups: ItemGroups, *, seed: int) -> Split:
    """Take out of a split what a test side removes, for samples, which have to be drawn anew.

    Parameters
    ----------
    split
        Split with all its test ratings.
    test
        What is removed.
    groups
        Groups of items, the most popular first, which tell the head.
    seed
        As in `kept_rows`.

    Returns
    -------
    Split
        Fewer test ratings; its ``test_items`` lack the head, and nothing else.
    """
    rows = kept_rows(test, len(split.test), seed=seed, fold=split.fold)
    rows &= test.counted_items(groups, split.train)[split.test.item]
    items = split.test_items
    if test.head:
        outside = groups.labels >= test.n_head_groups(groups.n_groups)
        rows &= outside[split.test.item]
        items = items[outside[items]]
    return dataclasses.replace(split, test=split.test.take(rows), test_items=items)
