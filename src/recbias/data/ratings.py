"""`Ratings`: who rated what, immutable, validated, in one canonical order.

Users and items are dense numbers from 0 in the sorted order of their labels, rows are sorted by
(user, item). Two files with the same content therefore become the same arrays, whatever their
format and the order of their lines, and everything random that is drawn over rows is drawn alike.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
import unicodedata
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.sparse

from recbias._system.memory import row_blocks
from recbias.data.marks import THOUSANDS, Thousands
from recbias.errors import ConfigError, DataError, DataWarning

Duplicates = Literal["error", "first", "last", "mean"]
Decimal = Literal[".", ","]
Missing = Literal["error", "drop"]
Where = Callable[[int], str]

_WHOLE_NUMBER = re.compile(r"([+-]?)0*([0-9]+?)(?:\.0+)?")
_NUMBER_WITH_COMMA = re.compile(r"[+-]?\d*,\d+")
_GROUPED = {
    mark: re.compile(rf"[+-]?[1-9]\d{{0,2}}(?:{signs}\d{{3}})+(?:{decimal}\d*)?")
    for mark, signs, decimal in (
        (",", ",", r"\."),
        (".", r"\.", ","),
        (" ", "[ \u00a0\u2009\u202f]", "[.,]"),
        ("'", "['\u2019]", "[.,]"),
    )
}
"""Numbers whose thousands are separated, by the sign that does it."""
_COMMA_FOR_POINT = str.maketrans(".,", ",.")
_NO_NAMES = {"null", "nan", "nat", "none", "na", "n/a", "#n/a", "<na>", "\\n"}
"""Labels that programs write where there is none."""
DROP = "leave such rows out: --missing drop"
_NO_TIME = np.iinfo(np.int64).min
_LONGEST_ID, _PLAIN_ID, _ID_SIGNS = 1000, 100, 2**28
"""Characters of an id: of any, of any of however many, and of all together, in 1 GiB."""
_CANONICAL_NUMBER = re.compile(r"0|-?[1-9][0-9]{0,18}")
_WHOLE_FLOAT = re.compile(r"(0|-?[1-9][0-9]*)\.0+")
_SHORTENED = re.compile(r"[+-]?\d+(?:\.\d+)?[eE]\+\d+")
"""As spreadsheets write long numbers; without the sign, letters and digits may be a name."""
_INT64 = np.iinfo(np.int64)


NUMBER = r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?"
"""A finite number as `exact` writes it, as a regular expression."""

COUNT = r"\d{1,18}"
"""A count, as a regular expression: one of more digits is beyond 64 bits, or beyond Python."""


def exact(value: float) -> str:
    """Write a number with as many digits as bring the same number back, and no more.

    Parameters
    ----------
    value : float
        A finite number.

    Returns
    -------
    str
        Without an exponent from 1e-5 up to 1e16, where people write none; ``float`` reads it.

    Examples
    --------
    >>> [exact(value) for value in (4.0, -0.0, 2.5, 1e6, 0.1 + 0.2, 2e300)]
    ['4', '0', '2.5', '1000000', '0.30000000000000004', '2e+300']
    """
    value = float(value) + 0.0
    if value == 0 or 1e-5 <= abs(value) < 1e16:
        return np.format_float_positional(value, trim="-")
    return np.format_float_scientific(value, trim="-")


@dataclass(frozen=True)
class RatingScale:
    """The values a rating may have: from `minimum` to `maximum` in steps of `step`.

    Parameters
    ----------
    minimum, maximum : float
        The ends, both included.
    step : float
        The distance between neighbouring values; 0 means that any value in between may occur.

    Raises
    ------
    ConfigError
        If a number is not finite, `step` is negative, or `maximum` is below `minimum`.

    Examples
    --------
    >>> print(RatingScale(0.5, 5, 0.5))
    0.5 to 5 in steps of 0.5
    """

    minimum: float
    maximum: float
    step: float

    def __post_init__(self) -> None:
        ends_fit = np.isfinite([self.minimum, self.maximum, self.step]).all()
        if not ends_fit or self.maximum < self.minimum or self.step < 0:
            raise ConfigError(
                f"rating scale {self}: expected finite numbers, maximum >= minimum, step >= 0"
            )

    def __str__(self) -> str:
        steps = f" in steps of {exact(self.step)}" if self.step else ""
        return f"{exact(self.minimum)} to {exact(self.maximum)}{steps}"

    @classmethod
    def infer(cls, values: npt.NDArray[np.float64]) -> RatingScale:
        """Read the scale off the values that occur.

        Parameters
        ----------
        values : float64 array (n,), n >= 1
            Ratings, finite.

        Returns
        -------
        RatingScale
            Smallest and largest value; the step is the smallest distance between two values if all
            others are multiples of it, else 0.

        Examples
        --------
        >>> RatingScale.infer(np.array([5.0, 0.5, 3.0, 3.5]))
        RatingScale(minimum=0.5, maximum=5.0, step=0.5)
        >>> print(RatingScale.infer(np.array([0.1, 0.2, 0.3, 0.9])))
        0.1 to 0.9 in steps of 0.1
        """
        distinct = np.sort(pd.unique(values))
        gaps = np.diff(distinct)
        step = float(gaps.min()) if len(gaps) else 0.0
        if step and not np.allclose(gaps / step, np.round(gaps / step), rtol=0, atol=1e-6):
            step = 0.0
        # A difference of decimal numbers is not the number that was meant: 0.3 - 0.2 < 0.1.
        return cls(float(distinct[0]), float(distinct[-1]), float(f"{step:.10g}"))

    def fits(self, values: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
        """Tell which values are on the scale.

        Parameters
        ----------
        values : float64 array (n,)
            Ratings.

        Returns
        -------
        bool array (n,)
            True between the ends and, when there is a step, at a whole number of steps.

        Examples
        --------
        >>> RatingScale(1, 5, 1).fits(np.array([1.0, 2.5, 6.0]))
        array([ True, False, False])
        """
        inside = (values >= self.minimum) & (values <= self.maximum)
        if self.step:
            steps = (values - self.minimum) / self.step
            inside &= np.abs(steps - np.round(steps)) < 1e-6
        return inside


@dataclass(frozen=True, eq=False, repr=False)
class Ratings:
    """The ratings of one data set: frozen columns and the vocabularies of their ids.

    Build one with `from_frame` or `recbias.data.datasets.load_dataset`; the constructor takes
    columns that are already canonical.

    Parameters
    ----------
    name : str
        Short name, e.g. ``"ml-100k"``.
    user, item : int32 array (n,)
        Dense numbers into `user_ids` and `item_ids`; rows strictly ascending by (user, item).
    value : float64 array (n,)
        Ratings; 1.0 throughout for implicit feedback.
    timestamp : int64 array (n,) or None
        Seconds since 1970, where known.
    user_ids, item_ids : array (n_users,), (n_items,)
        Labels, int64 when all are whole numbers, else text; ascending.
    scale : RatingScale
        The values that a rating may have (before any merge).
    feedback : {"explicit", "implicit"}
        Whether the values say more than that the pair was observed.
    merged_below : float, optional
        Ratings below this were merged into one value: which of them a user gave is not known.
    place : int64 array (n,), optional
        Place of each row in the file that it came from, where a split was asked to keep it
        (``ready order=file``). No part of the content.

    Raises
    ------
    DataError
        If columns differ in length, a number points outside its vocabulary, or rows are not
        strictly ascending by (user, item).

    Examples
    --------
    >>> frame = pd.DataFrame({"user_id": [7, 7, 3], "item_id": list("bab"), "rating": [4, 1, 5]})
    >>> ratings = Ratings.from_frame(frame, scale=RatingScale(1, 5, 1), name="three")
    >>> ratings
    Ratings('three': 3 explicit ratings, 2 users, 2 items)
    >>> ratings.user_ids, ratings.item_ids
    (array([3, 7]), array(['a', 'b'], dtype='<U1'))
    >>> ratings.user, ratings.item, ratings.value
    (array([0, 1, 1], dtype=int32), array([1, 0, 1], dtype=int32), array([5., 1., 4.]))
    """

    name: str
    user: npt.NDArray[np.int32]
    item: npt.NDArray[np.int32]
    value: npt.NDArray[np.float64]
    timestamp: npt.NDArray[np.int64] | None
    user_ids: npt.NDArray[Any]
    item_ids: npt.NDArray[Any]
    scale: RatingScale
    feedback: Literal["explicit", "implicit"] = "explicit"
    merged_below: float | None = None
    place: npt.NDArray[np.int64] | None = None

    def __post_init__(self) -> None:
        wanted = {"user": np.int32, "item": np.int32, "value": np.float64}
        wanted |= {"timestamp": np.int64, "place": np.int64}
        for column, dtype in wanted.items():
            values = getattr(self, column)
            if values is not None:
                self._freeze(column, np.asarray(values, dtype=dtype))
        self._freeze("user_ids", np.asarray(self.user_ids))
        self._freeze("item_ids", np.asarray(self.item_ids))
        columns = (getattr(self, column) for column in wanted)
        if len({column.shape for column in columns if column is not None}) > 1:
            raise DataError(f"{self.name}: columns of different lengths")
        for numbers, labels in ((self.user, self.user_ids), (self.item, self.item_ids)):
            if len(numbers) and not 0 <= numbers.min() <= numbers.max() < len(labels):
                raise DataError(f"{self.name}: a user or item number outside its vocabulary")
        for rows in row_blocks(len(self), 16):
            # Each block with the first row of the next one.
            if not (np.diff(self._pair_keys(slice(rows.start, rows.stop + 1))) > 0).all():
                raise DataError(f"{self.name}: rows are not strictly ascending by (user, item)")

    def _freeze(self, column: str, values: npt.NDArray[Any]) -> None:
        # A view, so that the caller's own array stays writeable.
        view = values.view()
        view.flags.writeable = False
        object.__setattr__(self, column, view)

    def _pair_keys(self, rows: slice = slice(None)) -> npt.NDArray[np.int64]:
        return self.user[rows].astype(np.int64) * self.n_items + self.item[rows]

    def __len__(self) -> int:
        return len(self.user)

    def __repr__(self) -> str:
        return (
            f"Ratings('{self.name}': {len(self)} {self.feedback} ratings, "
            f"{self.n_users} users, {self.n_items} items)"
        )

    @property
    def n_users(self) -> int:
        """Number of users in the vocabulary, those without a rating included."""
        return len(self.user_ids)

    @property
    def n_items(self) -> int:
        """Number of items in the vocabulary, those without a rating included."""
        return len(self.item_ids)

    @property
    def density(self) -> float:
        """Share of all user-item pairs that have a rating."""
        return len(self) / (self.n_users * self.n_items)

    @cached_property
    def indptr(self) -> npt.NDArray[np.int64]:
        """Row range of each user: user u has the rows ``indptr[u]:indptr[u + 1]``; int64."""
        pointers = np.concatenate(([0], np.cumsum(self.user_counts())))
        pointers.flags.writeable = False
        return pointers

    def user_counts(self) -> npt.NDArray[np.int64]:
        """Count the ratings of each user; int64 array (n_users,)."""
        return np.bincount(self.user, minlength=self.n_users).astype(np.int64)

    def item_counts(self) -> npt.NDArray[np.int64]:
        """Count the ratings of each item, its popularity; int64 array (n_items,)."""
        return np.bincount(self.item, minlength=self.n_items).astype(np.int64)

    def matrix(self) -> scipy.sparse.csr_matrix:
        """Return the values as a sparse float64 matrix (n_users, n_items), a fresh copy."""
        return scipy.sparse.csr_matrix(
            (self.value, self.item, self.indptr), shape=(self.n_users, self.n_items), copy=True
        )

    @cached_property
    def content_hash(self) -> str:
        """The sha256 of the canonical content, in hexadecimal digits.

        Over the labels as text, the dense columns, the values, the scale and the merge; neither
        over the name nor over timestamps, so that a source without times is the same data.
        """
        header = {
            "user_ids": [str(label) for label in self.user_ids.tolist()],
            "item_ids": [str(label) for label in self.item_ids.tolist()],
            "scale": [float(number) for number in dataclasses.astuple(self.scale)],
            "merged_below": None if self.merged_below is None else float(self.merged_below),
        }
        digest = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
        digest.update(self.user.astype("<i4").tobytes())
        digest.update(self.item.astype("<i4").tobytes())
        # Adding 0 turns -0.0 into 0.0: the same number, other bits.
        digest.update((self.value + 0.0).astype("<f8").tobytes())
        return digest.hexdigest()

    def take(self, rows: npt.NDArray[np.bool_] | npt.NDArray[np.integer[Any]]) -> Ratings:
        """Keep some of the rows, with the same vocabularies and name.

        Parameters
        ----------
        rows : bool array (n,) or int array
            A mask, or row numbers in any order, each at most once.

        Returns
        -------
        Ratings
            The chosen rows in canonical order.

        Raises
        ------
        DataError
            If a row is named twice.
        """
        chosen = rows if rows.dtype == np.bool_ else np.sort(rows)
        return dataclasses.replace(
            self,
            user=self.user[chosen],
            item=self.item[chosen],
            value=self.value[chosen],
            timestamp=None if self.timestamp is None else self.timestamp[chosen],
            place=None if self.place is None else self.place[chosen],
        )

    def merge_below(self, threshold: float, value: float) -> Ratings:
        """Give every rating below `threshold` the one value `value`.

        For publications that keep only the liked grades apart. Thresholds at or above `threshold`
        stay exact; anything that reads the merged stars sees `value`.

        Parameters
        ----------
        threshold : float
            The smallest rating that keeps its value.
        value : float
            What the merged ratings count, e.g. their mean; below `threshold`.

        Returns
        -------
        Ratings
            The same pairs; `merged_below` is set, `scale` is the original one.

        Raises
        ------
        ConfigError
            If `value` is not below `threshold`.

        Examples
        --------
        >>> frame = pd.DataFrame({"user_id": [1, 1, 1], "item_id": [1, 2, 3], "rating": [1, 4, 5]})
        >>> Ratings.from_frame(frame).merge_below(4, 2.48).value
        array([2.48, 4.  , 5.  ])
        """
        if not value < threshold:
            raise ConfigError(
                f"merged ratings would count {exact(value)}, expected less than the threshold "
                f"{exact(threshold)} below which ratings are merged"
            )
        return dataclasses.replace(
            self,
            value=np.where(self.value < threshold, float(value), self.value),
            merged_below=max(threshold, self.merged_below or threshold),
        )

    @classmethod
    def from_frame(
        cls,
        frame: pd.DataFrame,
        *,
        user: str = "user_id",
        item: str = "item_id",
        rating: str | None = "rating",
        timestamp: str | None = None,
        scale: RatingScale | None = None,
        name: str = "table",
        duplicates: Duplicates = "error",
        decimal: Decimal = ".",
        thousands: Thousands | None = None,
        missing: Missing = "error",
        source: str | None = None,
        first_line: int = 1,
    ) -> Ratings:
        """Check a table of ratings and bring it into canonical form.

        Parameters
        ----------
        frame : pandas.DataFrame
            One row per rating; the index is not looked at.
        user, item : str
            Columns with the labels.
        rating : str, optional
            Column with the ratings; None when there is none.
        timestamp : str, optional
            Column with times, if it is to be read: whole seconds, milliseconds, microseconds or
            nanoseconds since 1970, ISO dates (without a zone: UTC), or pandas times. Kept in
            seconds.
        scale : RatingScale, optional
            The declared scale; inferred from the values when not given.
        name : str
            Name of the data set.
        duplicates : {"error", "first", "last", "mean"}
            What several ratings of one pair mean: an error, the earliest in time (of equal times,
            and without times, the first row), the latest (the last row), or their mean (with the
            latest of their times). Of purchases the first counts where a split is by time: else a
            repeated purchase is tested as a new one.
        decimal : {".", ","}
            The decimal sign of ratings that are text.
        thousands : {",", ".", " ", "'"}, optional
            What separates the thousands of ratings that are text.
        missing : {"error", "drop"}
            What a missing id, rating or time means: an error, or that its row is left out. Missing
            are nulls, and texts that are empty or say so (see `missing_cells`).
        source : str, optional
            File that the rows come from, for messages.
        first_line : int
            Line of the file that holds the first row, for messages.

        Returns
        -------
        Ratings
            Implicit, with values 1.0, if there is no rating column, or if all ratings are equal and
            no scale with room for others was declared.

        Raises
        ------
        DataError
            If a column is missing, the table is empty, an id is missing, two labels differ only in
            blanks, leading zeros or ``.0``, a rating is no finite number or not on the declared
            scale, a time is of none of the forms above, or a pair occurs twice and `duplicates` is
            ``"error"``.
        ConfigError
            If `duplicates` is none of its four values.

        Warns
        -----
        DataWarning
            If an id is named like a missing one (``NULL``, ``NaN``), lost digits before
            (``1.5E+18``, or a float beyond 2^53), or differs from another one by what nobody sees.
            Once, with the range as dates, if times are in fractions of a second, before 1970, or
            look like dates written as numbers.
        """
        complete_rows: npt.NDArray[np.intp] | None = None

        def where(row: int) -> str:
            row = row if complete_rows is None else int(complete_rows[row])
            return f"{source}:{first_line + row}" if source else f"{name}, row {row}"

        if duplicates not in get_args(Duplicates):
            raise ConfigError(
                f"duplicates '{duplicates}': expected 'error', 'first', 'last' or 'mean'"
            )
        needed = [column for column in (user, item, rating, timestamp) if column is not None]
        absent = [column for column in needed if column not in frame.columns]
        if absent:
            raise DataError(
                f"{source or name}: no column {', '.join(map(repr, absent))}\n"
                f"columns found: {', '.join(map(str, frame.columns))}; "
                f"needed: {', '.join(needed)}\n"
                "name the columns as they are in the table"
            )
        if frame.empty:
            raise DataError(f"no ratings in {source or name}")
        if missing == "drop":
            gaps = np.logical_or.reduce([missing_cells(frame[column]) for column in needed])
            complete_rows = np.flatnonzero(~gaps)
            frame = frame.iloc[
                complete_rows
            ].infer_objects()  # whole numbers beside a null are objects
            if frame.empty:
                raise DataError(f"no ratings in {source or name}: every row has a missing value")
        users, user_ids = _vocabulary(frame[user], "user", where)
        items, item_ids = _vocabulary(frame[item], "item", where)
        values = np.ones(len(frame))
        if rating:
            values = checked_values(frame[rating], scale, where, decimal, thousands)
        times = moments = None
        if timestamp:
            times, moments = _times(frame[timestamp], source or name, where)

        keys = users.astype(np.int64)
        keys *= len(item_ids)
        keys += items
        order = _stable_order(keys, len(user_ids) * len(item_ids))
        again = _repeated(keys, order)
        if len(again) and duplicates == "error":
            at = again[np.argmin(order[again])]
            later, earlier = order[at], order[at - 1]
            raise DataError(
                f"{where(later)}: user {user_ids[users[later]]!s} rates item "
                f"{item_ids[items[later]]!s} again, first in {where(earlier)}\n"
                "say which counts: --duplicates first, --duplicates last or "
                "--duplicates mean"
            )
        if len(again) and duplicates == "mean":
            values, times = _pair_means(keys, values, times)
        elif len(again) and moments is not None:
            order = np.lexsort((moments, keys))
        # One row of each pair: a stable sort left rows alike in pair and time in their order.
        if len(again):
            order = np.delete(order, again if duplicates == "first" else again - 1)
        del keys  # and what follows one by one: of many rows each column counts

        fixed = scale is None or scale.minimum == scale.maximum
        implicit = rating is None or (fixed and values.min() == values.max())
        scale = RatingScale(1, 1, 0) if implicit else scale or RatingScale.infer(values)
        users, items = users[order], items[order]
        values = np.ones(len(order)) if implicit else values[order]
        times = None if times is None else times[order]
        del order
        return cls(
            name=name,
            user=users,
            item=items,
            value=values,
            timestamp=times,
            user_ids=user_ids,
            item_ids=item_ids,
            scale=scale,
            feedback="implicit" if implicit else "explicit",
        )


def _vocabulary(
    column: pd.Series[Any], role: str, where: Where
) -> tuple[npt.NDArray[np.int32], npt.NDArray[Any]]:
    """Return the number of each row's label in sorted order, and the sorted labels."""
    if column.dtype == object and column.map(lambda label: isinstance(label, bool)).any():
        column = column.map(label_text, na_action="ignore")  # True would be 1
    codes, uniques = pd.factorize(column)
    if codes.min() < 0:
        raise DataError(f"{where(int(np.argmin(codes)))}: the {role} id is missing\n{DROP}")
    labels = np.asarray(uniques)
    if labels.dtype.kind != "i":
        labels = _as_labels(list(labels), codes, role, where)
    order = np.argsort(labels, kind="stable")
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return rank[codes], labels[order]


def _as_labels(
    labels: list[Any], codes: npt.NDArray[np.intp], role: str, where: Where
) -> npt.NDArray[Any]:
    """Turn labels of any type into int64 or text, refusing two that mean the same."""
    texts = [label_text(label) for label in labels]
    seen: dict[str, Any] = {}
    for at, (label, text) in enumerate(zip(labels, texts, strict=True)):
        if not text:
            row = int(np.argmax(codes == at))
            raise DataError(f"{where(row)}: the {role} id is missing\n{DROP}")
        if "\0" in text:
            row = int(np.argmax(codes == at))
            raise DataError(f"{where(row)}: a zero byte in the {role} id {text!r}\nremove it")
        meaning = label_meaning(text)
        if meaning in seen:
            raise DataError(
                f"{where(int(np.argmax(codes == at)))}: {role} ids {seen[meaning]!r} and {label!r} "
                f"would become one {role}\nwrite each id in one way throughout"
            )
        seen[meaning] = label
    if doubtful := [at for at, text in enumerate(texts) if text.lower() in _NO_NAMES]:
        row = int(np.argmax(np.isin(codes, doubtful)))
        warnings.warn(
            f"{where(row)}: the {role} id {texts[codes[row]]!r} is read as a name like any other; "
            f"if it stands for none, {DROP}",
            DataWarning,
            stacklevel=4,
        )
    warn_of_cut_numbers(labels, texts, codes, role, where)
    _warn_of_unseen_differences(texts, codes, role, where)
    if all(_CANONICAL_NUMBER.fullmatch(text) for text in texts):
        numbers = [int(text) for text in texts]
        if min(numbers) >= _INT64.min and max(numbers) <= _INT64.max:
            return np.array(numbers, dtype=np.int64)
    # All take the room of the longest.
    sizes = list(map(len, texts))
    most = min(_LONGEST_ID, max(_PLAIN_ID, _ID_SIGNS // len(texts)))
    if max(sizes) > most:
        at = int(np.argmax(sizes))
        raise DataError(
            f"{where(int(np.argmax(codes == at)))}: a {role} id of {sizes[at]:,} characters, "
            f"{texts[at][:40]!r}...\n"
            f"expected at most {most:,}, as there are {len(texts):,} {role} ids; shorten it"
        )
    return np.array(texts, dtype=np.str_)


def label_text(label: Any) -> str:
    """Write a label as it is kept: without blanks around it, a whole number without ``.0``.

    Examples
    --------
    >>> label_text(" a "), label_text("7.0"), label_text(7.0), label_text("07"), label_text("7.5")
    ('a', '7', '7', '07', '7.5')
    """
    if isinstance(label, float | np.floating) and label.is_integer():
        return str(int(label))
    if isinstance(label, np.datetime64):
        label = pd.Timestamp(label)
    text = str(label).strip()
    whole = _WHOLE_FLOAT.fullmatch(text)
    return whole[1] if whole else text


def label_meaning(text: str) -> str:
    """Give what no two labels of a table may share: of a number its digits, of others the text.

    Examples
    --------
    >>> label_meaning("0107"), label_meaning("107.0"), label_meaning("-07"), label_meaning("a07")
    ('107', '107', '-7', 'a07')
    """
    whole = _WHOLE_NUMBER.fullmatch(text)
    return ("-" if whole[1] == "-" and whole[2] != "0" else "") + whole[2] if whole else text


def warn_of_cut_numbers(
    found: list[Any], texts: list[str], codes: npt.NDArray[np.intp], role: str, where: Where
) -> None:
    """Warn of ids that lost digits before they came here, several of which may be one now."""
    cut = [
        at
        for at, (label, text) in enumerate(zip(found, texts, strict=True))
        if _SHORTENED.fullmatch(text)
        or (isinstance(label, float | np.floating) and not _is_exact(label))
    ]
    if cut:
        row = int(np.argmax(np.isin(codes, cut)))
        cut_id = str(found[codes[row]])
        many = f" and {len(cut) - 1:,} more" if len(cut) > 1 else ""
        warnings.warn(
            f"{where(row)}: the {role} id {cut_id}{many} lost digits in the program that wrote it, "
            f"so that several {role}s may have become one; write ids as text or whole numbers",
            DataWarning,
            stacklevel=5,
        )


def _is_exact(number: float | np.floating[Any]) -> bool:
    """Tell whether a float is so small that whole numbers beside it are others."""
    return bool(np.abs(number) < 2.0 ** (np.finfo(type(number)).nmant + 1))


def _warn_of_unseen_differences(
    texts: list[str], codes: npt.NDArray[np.intp], role: str, where: Where
) -> None:
    """Warn of two ids that look alike: composed accents, marks without width, kinds of blanks."""
    odd = [at for at, text in enumerate(texts) if not text.isascii() or "  " in text]
    if not odd:
        return
    seen = {text: at for at, text in enumerate(texts) if text.isascii() and "  " not in text}
    alike = []
    for at in odd:
        composed = unicodedata.normalize("NFC", texts[at])
        visible = "".join(sign for sign in composed if unicodedata.category(sign) != "Cf")
        other = seen.setdefault(" ".join(visible.split()), at)
        if other != at:
            alike.append((at, other))
    if alike:
        at, other = alike[0]
        many = f"; {len(alike) - 1:,} more pairs do" if len(alike) > 1 else ""
        warnings.warn(
            f"{where(int(np.argmax(codes == at)))}: {role} ids {texts[other]!a} and "
            f"{texts[at]!a} look alike and are read as two{many}; write each id in one way",
            DataWarning,
            stacklevel=5,
        )


def _pair_means(
    keys: npt.NDArray[np.int64],
    values: npt.NDArray[np.float64],
    times: npt.NDArray[np.int64] | None,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64] | None]:
    """Give every row the mean value and the latest time of all rows with its key."""
    _, pair = np.unique(keys, return_inverse=True)
    # Summed in the order of the values, so that the bits do not depend on the order of the rows.
    ascending = np.argsort(values, kind="stable")
    sums = np.bincount(pair[ascending], weights=values[ascending])
    means = (sums / np.bincount(pair))[pair]
    if times is None:
        return means, None
    latest = np.full(pair.max() + 1, np.iinfo(np.int64).min)
    np.maximum.at(latest, pair, times)
    return means, latest[pair]


def missing_cells(column: pd.Series[Any]) -> npt.NDArray[np.bool_]:
    r"""Tell which cells hold nothing: nulls, and texts that are empty or say so, such as NULL.

    Examples
    --------
    >>> missing_cells(pd.Series(["4", " ", None, "NaN", "n/a", "0", "\\N"])).tolist()
    [False, True, True, True, True, False, True]
    """
    codes, labels = pd.factorize(column)
    nothing = [_is_nothing(label) for label in labels]
    return np.array([*nothing, True], dtype=bool)[codes]


def _is_nothing(label: object) -> bool:
    return isinstance(label, str) and label.strip().lower() in _NO_NAMES | {""}


def _numbers(
    column: pd.Series[Any], decimal: Decimal = ".", thousands: Thousands | None = None
) -> npt.NDArray[np.float64]:
    """Read numbers, NaN where there is none."""
    if pd.api.types.is_numeric_dtype(column.dtype):
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    # Each distinct text is read once: a million ratings have a handful.
    codes, texts = pd.factorize(column)
    if thousands:
        texts = pd.Index([_ungrouped(str(text).strip(), thousands) for text in texts], dtype=object)
    if decimal == ",":
        # Exchanged, so that a point, which may separate thousands, makes it no number.
        texts = pd.Index([str(text).translate(_COMMA_FOR_POINT) for text in texts], dtype=object)
    words = {str(text).strip().lower() for text in texts}
    if words and words <= {"true", "false"}:
        return np.array([str(text).strip().lower() == "true" for text in texts] + [np.nan])[codes]
    distinct = _to_numbers(texts)
    return np.append(distinct.to_numpy(dtype=np.float64, na_value=np.nan), np.nan)[codes]


def _to_numbers(texts: pd.Index[Any]) -> pd.Series[Any]:
    """Read what each text says, NaN where it is no number."""
    try:
        return pd.to_numeric(pd.Series(np.asarray(texts)), errors="coerce")
    except OverflowError:  # a whole number beyond all floats, as JSON may have
        return pd.to_numeric(pd.Series([str(text) for text in texts]), errors="coerce")


def _ungrouped(text: str, mark: Thousands) -> str:
    """Take the signs between thousands out of a number; where one stands elsewhere, it is none."""
    signs = {" ": " \u00a0\u2009\u202f", "'": "'\u2019"}.get(mark, mark)
    if not any(sign in text for sign in signs):
        return text
    return re.sub(f"[{signs}]", "", text) if _GROUPED[mark].fullmatch(text) else ""


def checked_values(
    column: pd.Series[Any],
    scale: RatingScale | None,
    where: Where,
    decimal: Decimal = ".",
    thousands: Thousands | None = None,
) -> npt.NDArray[np.float64]:
    """Read a column of ratings.

    Parameters
    ----------
    column : pandas.Series
        Numbers, or text that says numbers.
    scale : RatingScale, optional
        The declared scale.
    where : callable
        Names the place of a row, for messages.
    decimal : {".", ","}
        The decimal sign of numbers that are text.
    thousands : {",", ".", " ", "'"}, optional
        What separates their thousands.

    Returns
    -------
    float64 array (n,)
        The ratings.

    Raises
    ------
    DataError
        If one is no finite number, or not on the declared scale.

    Warns
    -----
    DataWarning
        If points may separate thousands: some numbers have one before three digits, none has one
        elsewhere, and others have none.
    """
    numbers = _numbers(column, decimal, thousands)
    bad = ~np.isfinite(numbers)
    if bad.any():
        row = int(np.argmax(bad))
        cell = str(column.iloc[row])
        hint = _number_hint(cell.strip(), _texts(column), decimal, thousands)
        raise DataError(
            f"{where(row)}: column '{column.name}' has the value {cell!r}, "
            f"expected a finite number{hint}"
        )
    if decimal == "." and not thousands and _points_may_group(_texts(column)):
        warnings.warn(
            f"column '{column.name}': numbers such as 1.234 are read with a decimal point; "
            "if it separates thousands: --thousands .",
            DataWarning,
            stacklevel=2,
        )
    # Each distinct value is looked up once: a million ratings have a handful.
    if scale is not None and not scale.fits(pd.unique(numbers)).all():
        row = int(np.argmin(scale.fits(numbers)))
        raise DataError(
            f"{where(row)}: rating {exact(numbers[row])} is not on the declared scale {scale}\n"
            "declare the scale that the table uses: --rating-scale MINIMUM MAXIMUM STEP"
        )
    return numbers


def _texts(column: pd.Series[Any]) -> list[str]:
    """List the distinct texts of a column; none of a column of numbers."""
    if pd.api.types.is_numeric_dtype(column.dtype):
        return []
    return [text.strip() for text in pd.unique(column) if isinstance(text, str)]


def _points_may_group(texts: list[str]) -> bool:
    pointed = [text for text in texts if "." in text]
    whole = any(re.fullmatch(r"[1-9]\d{0,2}", text) for text in texts)
    return bool(pointed) and whole and all(_GROUPED["."].fullmatch(text) for text in pointed)


def _number_hint(cell: str, texts: list[str], decimal: Decimal, thousands: Thousands | None) -> str:
    """Tell how a text that is no number may be meant, from it and the others of its column."""
    if _is_nothing(cell):
        return f"\n{DROP}"
    hint = " with a decimal comma and no point" if decimal == "," else ""
    if thousands:
        return f"{hint}, or with {thousands!r} before every three digits"
    for mark, word in THOUSANDS.items():
        if mark != "," and _GROUPED[mark].fullmatch(cell):
            return f"{hint}\nif this is a large number, say what separates it: --thousands {word}"
    of_comma = _NUMBER_WITH_COMMA.fullmatch(cell) or _GROUPED[","].fullmatch(cell)
    if decimal == "," or not of_comma:
        return hint
    with_comma = [text for text in texts if "," in text]
    ungrouped = any(not _GROUPED[","].fullmatch(text) for text in with_comma)
    no_decimal = any(not _NUMBER_WITH_COMMA.fullmatch(text) for text in with_comma)
    no_decimal |= any(re.fullmatch(r"[+-]?\d*\.\d+", text) for text in texts)
    if ungrouped and not no_decimal:
        return "\nif the comma is the decimal sign, say so: --decimal ,"
    if no_decimal and not ungrouped:
        return "\nif the comma separates thousands, say so: --thousands ,"
    return (
        "\nsay what the comma is: the decimal sign (--decimal ,), or what separates thousands "
        "(--thousands ,)"
    )


def time_numbers(
    column: pd.Series[Any], where: Where
) -> tuple[npt.NDArray[np.int64], Literal["number", "date"]]:
    """Read a column of times.

    Parameters
    ----------
    column : pandas.Series
        Whole numbers, text that says such, ISO dates, or pandas times.
    where : callable
        Names the place of a row, for messages.

    Returns
    -------
    numbers : int64 array (n,)
        The numbers as they are; of dates the microseconds since 1970.
    kind : {"number", "date"}
        Which of them the column holds.

    Raises
    ------
    DataError
        If a value is neither, or the column mixes both.
    """
    kind: Literal["number", "date"] = "number"
    dates = None
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        dates = _moments(column)
    elif pd.api.types.is_integer_dtype(column.dtype) and not column.hasnans:
        return column.to_numpy(dtype=np.int64), kind
    else:
        codes, texts = pd.factorize(column)
        whole = _to_numbers(texts)
        if whole.dtype == np.int64 and codes.min() >= 0:
            return whole.to_numpy()[codes], kind  # a float64 would round nanoseconds
        numbers = _numbers(column)
        if np.isnan(numbers[0]) and not pd.api.types.is_numeric_dtype(column.dtype):
            moments = _moments(pd.Series([str(text) for text in texts]))
            moments = np.where(np.isnan(numbers), np.append(moments, _NO_TIME)[codes], _NO_TIME)
            dates = moments if moments[0] != _NO_TIME else None
    if dates is not None:
        kind, bad = "date", dates == _NO_TIME
    else:
        # Beyond 2**53 a float64 no longer holds every whole number, nor is it a time of this era.
        bad = ~(np.abs(numbers) < 2.0**53) | (numbers != np.floor(numbers))
    if bad.any():
        row = int(np.argmax(bad))
        nothing = bool(missing_cells(column.iloc[[row]])[0])
        raise DataError(
            f"{where(row)}: column '{column.name}' has the value {str(column.iloc[row])!r}\n"
            "expected a time: whole seconds or milliseconds since 1970, or a date like 2026-11-20 "
            "or 2026-11-20T09:30:00, of one kind throughout\n"
            f"{f'{DROP}; or ' if nothing else ''}read no times at all: --timestamp none"
        )
    return (numbers.astype(np.int64) if dates is None else dates), kind


def _moments(column: pd.Series[Any]) -> npt.NDArray[np.int64]:
    """Read dates as microseconds since 1970, `_NO_TIME` where there is none."""
    dates = pd.to_datetime(column, format="ISO8601", utc=True, errors="coerce")
    # What a microsecond cannot hold is finer; numpy marks what is no date with this number too.
    return dates.dt.tz_localize(None).to_numpy(dtype="datetime64[us]").astype(np.int64)


def _times(
    column: pd.Series[Any], source: str, where: Where
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return seconds since 1970, and what orders times within a second.

    Numbers that may be something else than seconds are read with a warning.
    """
    numbers, kind = time_numbers(column, where)
    moments = numbers
    if kind == "date":
        return numbers // 10**6, moments
    sizes = np.abs(numbers)
    read_as = None
    unit = max((least for least in _UNITS if sizes.max() >= least), default=0)
    if unit:
        # Seconds of this era would be milliseconds of the first months of 1970.
        odd = (sizes < unit // 10) & (sizes > 0)
        if odd.any():
            row = int(np.argmax(odd))
            raise DataError(
                f"{where(row)}: column '{column.name}' has the time {numbers[row]}, others are "
                f"from {numbers.min()} to {numbers.max()}\n"
                "expected seconds since 1970 throughout, or milliseconds throughout"
            )
        read_as, per_second = _UNITS[unit]
        numbers = numbers // per_second
    elif numbers.min() < 0:
        read_as = "seconds, some before 1970"
    elif _look_like_dates(numbers):
        read_as = "seconds, though they look like dates written as YYYYMMDD"
    if read_as:
        first, last = (
            np.datetime64(int(end), "D") for end in (numbers.min() // _DAY, numbers.max() // _DAY)
        )
        warnings.warn(
            f"{source}: times in column '{column.name}' are read as {read_as}: {first} to {last}",
            DataWarning,
            stacklevel=3,
        )
    return numbers, moments


_UNITS = {
    10**11: ("milliseconds", 10**3),
    10**14: ("microseconds", 10**6),
    10**17: ("nanoseconds", 10**9),
}
"""The first number read as a unit: a day of 1973 in it, the year 5138 in the one before."""
_DAY = 86_400


def _look_like_dates(numbers: npt.NDArray[np.int64]) -> bool:
    if numbers.min() < 1900_01_01 or numbers.max() > 2100_12_31:
        return False
    month, day = numbers // 100 % 100, numbers % 100
    return bool(((month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)).all())


def _stable_order(keys: npt.NDArray[np.int64], n_keys: int) -> npt.NDArray[np.int64]:
    """Order rows by key, equal keys as they come."""
    bits = len(keys).bit_length()
    if (keys[1:] >= keys[:-1]).all():
        return np.arange(len(keys))
    if n_keys.bit_length() + bits > 63:
        return np.argsort(keys, kind="stable")
    # Several times faster than a stable sort: the row is the last digits of what is sorted.
    order = keys << bits
    for rows in row_blocks(len(order), 8):
        order[rows] |= np.arange(rows.start, rows.stop)
    order.sort()
    order &= (1 << bits) - 1
    return order


def _repeated(keys: npt.NDArray[np.int64], order: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Tell at which places of an order there is the key of the place before."""
    found = [np.empty(0, dtype=np.int64)]
    for rows in row_blocks(len(order), 8):
        part = keys[order[rows.start : rows.stop + 1]]
        found.append(np.flatnonzero(part[1:] == part[:-1]) + rows.start + 1)
    return np.concatenate(found)
