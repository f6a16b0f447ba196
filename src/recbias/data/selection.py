"""Selection: which ratings an experiment is about, before anything is split.

Users, items and their numbers stay what they are: a user who loses all ratings is a user without
ratings. Whoever averages over all users averages over them too, and an item that loses all of its
ratings can still be ranked.
"""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from recbias._system.streams import stream
from recbias.data.datasets import Dataset
from recbias.data.ratings import COUNT, Ratings
from recbias.errors import ConfigError, DataError, unknown_name

__all__ = ["REVISION", "Selection"]

REVISION = 1
"""Raised when code changes which ratings are selected, for the same text and seed."""

_FORM = (
    "[head=PERCENT%] [keep=PERCENT%] [users>=RATINGS] [items>=RATINGS], such as 'keep=50% users>=5'"
    ", or core=RATINGS for both; [rounds=NUMBER]"
)
_WORDS = re.compile(rf"(?P<name>[a-z]+)(?P<sign>>=|=)(?P<number>{COUNT})(?P<unit>%?)")
_SHARES, _COUNTS, _NUMBERS = ("head", "keep"), ("users", "items"), ("core", "rounds")


@dataclass(frozen=True)
class Selection:
    """Which ratings count at all: steps that are taken in the order of the parameters.

    Parameters
    ----------
    head
        Share of the items, those with most ratings, that lose all of theirs, in percent, 0 to 99.
        The number of items is rounded down, and of equally popular ones the first are taken.
    keep
        Share of the ratings that is kept at random, in percent, 1 to 100; rounded down.
    users, items
        Least number of ratings that a user, an item, must have. What has fewer loses them all, and
        again, until whoever has ratings has enough of them (a core, if both are given; as text
        ``core=5`` stands for ``users>=5 items>=5``).
    rounds
        How often users, and then items of what is left, are looked at; 0: until nothing changes.
        ``rounds=1`` is the usual filter in one pass, after which users can have too few again.
        Of use where both least numbers are given: of one alone a second round changes nothing.

    Raises
    ------
    ConfigError
        For a number out of range.

    See Also
    --------
    recbias.protocol.testset.TestSet : what of the judgments counts; ``removed=`` and ``head=`` act
    there on
        the test alone, here on training too.

    References
    ----------
    CCM20 Sec. 3.1 (filters), Sec. 4.6 (half of the ratings).

    Examples
    --------
    >>> selection = Selection.parse("users>=5 keep=50%")
    >>> selection.users, str(selection)
    (5, 'keep=50% users>=5')
    >>> str(Selection.parse("core=5"))
    'users>=5 items>=5'
    >>> Selection.parse("user>=5")
    Traceback (most recent call last):
    recbias.errors.ConfigError: unknown step of a selection 'user': did you mean 'users'? ...
    """

    head: int = 0
    keep: int = 100
    users: int = 0
    items: int = 0
    rounds: int = 0

    def __post_init__(self) -> None:
        for name, low, high in (("head", 0, 99), ("keep", 1, 100), ("users", 0, None)):
            self._check(name, low, high)
        self._check("items", 0, None)
        self._check("rounds", 0, None)
        # Whoever has ratings has one: the same selection has one text.
        for name in _COUNTS:
            if getattr(self, name) == 1:
                object.__setattr__(self, name, 0)
        if not (self.users and self.items):
            object.__setattr__(self, "rounds", 0)

    def _check(self, name: str, low: int, high: int | None) -> None:
        value = getattr(self, name)
        if type(value) is not int or value < low or (high is not None and value > high):
            of = "rounds" if name == "rounds" else "ratings"
            expected = f"{low} to {high} percent" if high else f"a number of {of} from {low}"
            raise ConfigError(f"selection: {name} is {value}, expected {expected}")

    @classmethod
    def parse(cls, text: str) -> Selection:
        """Read a selection as it prints; steps may stand in any order.

        Raises
        ------
        ConfigError
            If the text has another form; shows the form, or the name that was probably meant.
        """
        numbers: dict[str, int] = {}
        for word in text.split():
            match = _WORDS.fullmatch(word)
            name = re.split("[^a-zA-Z]", word)[0]
            if name not in (*_SHARES, *_COUNTS, *_NUMBERS):
                raise unknown_name("step of a selection", name, (*_SHARES, *_COUNTS, *_NUMBERS))
            form = (">=" if name in _COUNTS else "=", name in _SHARES)
            fits = match is not None and (match["sign"], bool(match["unit"])) == form
            names = _COUNTS if name == "core" else (name,)
            if match is None or not fits or numbers.keys() & set(names):
                raise ConfigError(f"cannot read selection {text!r}: expected {_FORM}")
            numbers |= dict.fromkeys(names, int(match["number"]))
        return cls(**numbers)

    def __str__(self) -> str:
        words = [
            f"head={self.head}%" if self.head else "",
            f"keep={self.keep}%" if self.keep < 100 else "",
            f"users>={self.users}" if self.users else "",
            f"items>={self.items}" if self.items else "",
            f"rounds={self.rounds}" if self.rounds else "",
        ]
        return " ".join(word for word in words if word)

    def rows(self, ratings: Ratings, *, seed: int) -> npt.NDArray[np.bool_]:
        """Tell which ratings are selected.

        Parameters
        ----------
        ratings
            All ratings.
        seed
            The experiment's seed; only ``keep`` draws from it.

        Returns
        -------
        ndarray of bool, shape (n_ratings,)

        Raises
        ------
        DataError
            If no rating is left.
        """
        selected = np.ones(len(ratings), dtype=bool)
        if self.head:
            falling = np.argsort(-ratings.item_counts(), kind="stable")
            head = falling[: ratings.n_items * self.head // 100]
            selected &= ~np.isin(ratings.item, head)
        if self.keep < 100:
            left = np.flatnonzero(selected)
            drawn = stream(seed, "select", f"keep={self.keep}%").permutation(len(left))
            selected[left[drawn[len(left) * self.keep // 100 :]]] = False
        for _ in range(self.rounds or len(ratings)):  # each but the last takes one at least
            n_before = int(selected.sum())
            for place, number, least in (
                (ratings.user, ratings.n_users, self.users),
                (ratings.item, ratings.n_items, self.items),
            ):
                selected &= np.bincount(place[selected], minlength=number)[place] >= least
            if selected.sum() == n_before:
                break
        if not selected.any():
            raise DataError(f"selection '{self}': no rating of {ratings.name} is left")
        return selected

    def of(self, dataset: Dataset, *, seed: int) -> Dataset:
        """Return a dataset with the selected ratings only; users and items stay.

        Parameters
        ----------
        dataset
            Its judgments of random items and its truth are not touched.
        seed
            The experiment's seed.

        Returns
        -------
        Dataset
            The same one if everything is selected.

        Raises
        ------
        DataError
            If no rating is left.

        Examples
        --------
        >>> from recbias.data.datasets import load_dataset
        >>> whole = load_dataset("synthetic")
        >>> half = Selection(keep=50).of(whole, seed=1)
        >>> len(half.ratings) == len(whole.ratings) // 2, half.ratings.n_users
        (True, 943)
        """
        rows = self.rows(dataset.ratings, seed=seed)
        if rows.all():
            return dataset
        folds = None if dataset.ready_folds is None else dataset.ready_folds[rows]
        order = None if dataset.row_order is None else dataset.row_order[rows]
        ratings = dataset.ratings.take(rows)
        return dataclasses.replace(dataset, ratings=ratings, ready_folds=folds, row_order=order)
