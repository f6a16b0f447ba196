"""Conventions: what toolkits do differently under one name, and which of it explains a number.

A convention changes what a list, a gain or an average is, and never the metric: each is a change of
`JudgedLists`, of a gain, a discount or a divisor, after which `measure_judged` measures as always.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from recbias.data.ratings import exact
from recbias.errors import ConfigError, unknown_name
from recbias.metrics.base import declarations, parse_metric
from recbias.metrics.lists import JudgedLists, RankView
from recbias.metrics.measuring import measure
from recbias.metrics.positive import measure_judged
from recbias.ranking import RankTable
from recbias.ranking.tables import Ties

__all__ = ["QUESTIONS", "Question", "Reconciled", "RunAndJudgments", "reconcile_values"]

FloatArray = npt.NDArray[np.float64]
Choices = tuple[tuple[str, str], ...]
"""A choice for each question that a metric has, in the order of `QUESTIONS`."""

NAMES = ("P", "R", "HR", "RR", "AP", "nDCG")
_FLOAT32 = 2e-7
"""No value is compared more closely: toolkits on torch compute in 32 bits."""
_SHOWN = 5
"""Explanations that are written out; of more the number."""

Run = Mapping[Any, Mapping[Any, float]]


@dataclass(frozen=True)
class Question:
    """What a toolkit has to decide, and how the toolkits at hand have.

    Attributes
    ----------
    name : str
        What a table calls it.
    choices : mapping of str to str
        In words, by short name; the first is that of this package and, but for ties, of trec_eval
        with ``-c``, of divisors the first that a metric has. Empty of grades, which the judgments
        have.
    metrics : tuple of str
        Those that it changes.
    example : tuple
        A metric, a run and judgments of four items at most, on which all its choices differ.
    """

    name: str
    choices: Mapping[str, str]
    metrics: tuple[str, ...]
    example: tuple[str, Run, Run]


_LISTED = {"u": {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}}

QUESTIONS = {
    question.name: question
    for question in (
        Question(
            "ties",
            {
                "file": "equal scores as the file orders them",
                "id down": "equal scores by falling item id (trec_eval)",
                "id up": "equal scores by rising item id",
                "expected": "the mean over all orders of equal scores",
            },
            NAMES,
            ("RR", {"u": {"c": 2.0, "a": 1.0, "d": 1.0, "b": 1.0}}, {"u": {"d": 1}}),
        ),
        Question(
            "unjudged",
            {
                "kept": "unjudged items keep their places",
                "removed": "unjudged items removed first (condensed lists)",
            },
            NAMES,
            ("P@2", _LISTED, {"u": {"b": 1, "c": 1, "d": 0}}),
        ),
        Question(
            "relevant",
            {},
            NAMES,
            ("P@2", _LISTED, {"u": {"a": 1, "b": 2, "c": 2}}),
        ),
        Question(
            "gain",
            {
                "linear": "gain = grade",
                "exponential": "gain = 2^grade - 1",
                "binary": "gain = 1 if relevant",
            },
            ("nDCG",),
            ("nDCG@4", _LISTED, {"u": {"a": 1, "b": 3, "c": 2}}),
        ),
        Question(
            "discount",
            {
                "rank + 1": "discount log(rank + 1)",
                "base 2": "discount log2(rank), none before rank 2",
                "base e": "discount ln(rank), none before rank 3",
            },
            ("nDCG",),
            ("nDCG@4", _LISTED, {"u": {"b": 1, "d": 1}}),
        ),
        Question(
            "ideal",
            {
                "judged": "ideal list of all relevant items, cut at k",
                "uncut": "ideal list of all relevant items, not cut",
                "listed": "ideal list of the relevant items that the list holds anywhere",
                "top": "ideal list of the relevant items among the first k",
                "full": "ideal list of k items of the top grade, however few are relevant",
            },
            ("nDCG",),
            (
                "nDCG@2",
                {
                    "u": {"a": 2.0, "b": 1.0},
                    "v": {"a": 1.0},
                    "w": {"a": 3.0, "b": 2.0, "c": 1.0},
                },
                {"u": {"b": 1, "c": 1, "d": 1}, "v": {"a": 1}, "w": {"a": 1, "c": 1}},
            ),
        ),
        Question(
            "divisor",
            {
                "k": "divided by k",
                "length": "divided by min(k, length of the list)",
                "relevant": "divided by all relevant items",
                "capped": "divided by min(k, relevant items)",
                "fitting": "divided by min(k, relevant items, length of the list)",
                "retrieved": "divided by the relevant items among the first k",
                "any": "1 for any hit",
                "recall": "hits divided by the relevant items",
                "hits": "the number of hits",
            },
            ("P", "R", "HR", "AP"),
            (
                "AP@2",
                {
                    "u": {"b": 1.0},
                    "v": {"a": 2.0, "b": 1.0},
                    "w": {"a": 2.0, "b": 1.0},
                },
                {"u": {"b": 1, "c": 1, "d": 1}, "v": {"a": 1}, "w": {"a": 1}},
            ),
        ),
        Question(
            "cut",
            {"k": "cut at k", "list": "not cut: the whole list"},
            ("RR", "AP"),
            ("RR@2", _LISTED, {"u": {"c": 1}}),
        ),
        Question(
            "missing",
            {
                "0": "users with judgments but no list count 0",
                "out": "users with judgments but no list left out",
            },
            NAMES,
            ("P@2", _LISTED, {"u": {"a": 1}, "v": {"a": 1}}),
        ),
        Question(
            "none relevant",
            {
                "0": "users without a relevant item count 0",
                "out": "users without a relevant item left out",
                "1": "users without a relevant item count 1",
            },
            NAMES,
            (
                "R@2",
                {**_LISTED, "v": {"a": 1.0}},
                {"u": {"a": 1, "d": 1}, "v": {"a": 0}},
            ),
        ),
        Question(
            "not judged",
            {
                "out": "users with a list but no judgments left out",
                "in": "users with a list but no judgments count as without a relevant item",
            },
            NAMES,
            ("P@2", {**_LISTED, "v": {"a": 1.0}}, {"u": {"a": 1}}),
        ),
        Question(
            "mean",
            {
                "users": "mean over users",
                "pooled": "hits of all users divided by the sum of their divisors",
            },
            ("P", "R"),
            ("R@2", {**_LISTED, "v": {"d": 1.0}}, {"u": {"a": 1, "c": 1, "d": 1}, "v": {"d": 1}}),
        ),
    )
}
"""What toolkits decide differently, by name."""

_DIVISORS = {
    "P": ("k", "length", "capped"),
    "R": ("relevant", "capped"),
    "HR": ("any", "recall", "hits"),
    "AP": ("relevant", "capped", "fitting", "retrieved", "k"),
}
"""The first is ours."""
_OF_ALL = ("ties", "unjudged", "relevant", "missing", "none relevant", "not judged")
"""Questions that a toolkit can be expected to answer alike for all metrics."""

_DISCOUNTS = {
    "rank + 1": lambda rank: np.log2(rank + 1),
    "base 2": lambda rank: np.log2(np.maximum(rank, 2)),
    "base e": lambda rank: np.log(np.maximum(rank, math.e)),
}


@dataclass(frozen=True, eq=False)
class RunAndJudgments:
    """Lists of users beside judgments, as files have them, before any convention.

    Attributes
    ----------
    user, item : ndarray of int64, shape (n_rows,)
        Of the run, in the order of the file, within a user by rank where it has ranks.
    score : ndarray of int64 or float64, shape (n_rows,)
        What orders the items of a user, larger first; equal ones are ties.
    judged_user, judged_item : ndarray of int64, shape (n_judgments,)
        Each pair once.
    grade : ndarray of float64, shape (n_judgments,)
    user_ids, item_ids : ndarray of str
        Labels of users and items, of the run and of the judgments alike.
    """

    user: npt.NDArray[np.int64]
    item: npt.NDArray[np.int64]
    score: npt.NDArray[Any]
    judged_user: npt.NDArray[np.int64]
    judged_item: npt.NDArray[np.int64]
    grade: FloatArray
    user_ids: npt.NDArray[np.str_]
    item_ids: npt.NDArray[np.str_]

    @classmethod
    def of(cls, run: Run, judgments: Run) -> RunAndJudgments:
        """Take dictionaries ``{user: {item: score}}`` and ``{user: {item: grade}}``.

        Examples
        --------
        >>> both = RunAndJudgments.of({"u": {"b": 2, "a": 1}}, {"u": {"b": 1}, "v": {"a": 0}})
        >>> both.user_ids.tolist(), both.item_ids.tolist(), both.grades
        (['u', 'v'], ['a', 'b'], [0.0, 1.0])
        """
        rows = [[(str(u), str(i), of[i]) for u, of in each.items() for i in of]
                for each in (run, judgments)]  # fmt: skip
        users, items = (sorted({row[at] for part in rows for row in part}) for at in (0, 1))
        (user, item), (judged_user, judged_item) = (
            (
                np.array([users.index(row[0]) for row in part], dtype=np.int64),
                np.array([items.index(row[1]) for row in part], dtype=np.int64),
            )
            for part in rows
        )
        score, grade = (np.array([row[2] for row in part], dtype=np.float64) for part in rows)
        labels = np.array(users, dtype=str), np.array(items, dtype=str)
        return cls(user, item, score, judged_user, judged_item, grade, *labels)

    @property
    def n_users(self) -> int:
        """Users with a list or judgments."""
        return len(self.user_ids)

    @cached_property
    def length(self) -> npt.NDArray[np.int64]:
        """Items in the list of each user."""
        return np.bincount(self.user, minlength=self.n_users)

    @cached_property
    def is_judged(self) -> npt.NDArray[np.bool_]:
        """Which users have judgments."""
        return np.bincount(self.judged_user, minlength=self.n_users) > 0

    @property
    def grades(self) -> list[float]:
        """All grades that there are, rising."""
        return [float(grade) for grade in np.unique(self.grade)]

    @cached_property
    def has_ties(self) -> bool:
        """Whether two items of a user have equal scores."""
        return bool(pd.DataFrame({"user": self.user, "score": self.score}).duplicated().any())

    def table(self, ties: str) -> RankTable:
        """Rank every judged item, with ties as `QUESTIONS` has them; expected ones as the file."""
        n_items = len(self.item_ids)
        label = np.argsort(np.argsort(self.item_ids, kind="stable"), kind="stable")[self.item]
        tie = {"id down": -label, "id up": label}.get(ties, np.arange(len(self.user)))
        rows = np.lexsort((tie, -self.score, self.user))
        owner, score = self.user[rows], self.score[rows]
        start = np.searchsorted(owner, owner)
        starts = (np.diff(owner, prepend=-1) != 0) | (np.diff(score, prepend=0) != 0)
        group = np.cumsum(starts) - 1
        first = np.flatnonzero(starts)
        above = (first - start[first])[group]
        size = np.diff(np.append(first, len(owner)))[group]
        pair = owner * n_items + self.item[rows]
        by_pair = np.argsort(pair)
        order = np.lexsort((self.judged_item, self.judged_user))
        user, item = self.judged_user[order], self.judged_item[order]
        wanted = user * n_items + item
        at = np.searchsorted(pair[by_pair], wanted)
        listed = np.zeros(len(wanted), dtype=bool)
        inside = at < len(pair)
        listed[inside] = pair[by_pair][at[inside]] == wanted[inside]
        place = by_pair[np.where(listed, at, 0)]
        rank = np.where(listed, place - start[place] + 1, 0)
        condensed = np.zeros_like(rank)
        by_rank = np.flatnonzero(listed)[np.lexsort((rank[listed], user[listed]))]
        condensed[by_rank] = 1 + np.arange(len(by_rank))
        condensed[by_rank] -= np.searchsorted(user[by_rank], user[by_rank])
        as_int = np.int32
        return RankTable(
            "user", self.n_users, user.astype(as_int), item.astype(as_int), self.grade[order],
            rank.astype(as_int), condensed.astype(as_int), self.length.astype(as_int),
            self.length.astype(as_int),
            ties=Ties.of(
                user.astype(as_int), np.where(listed, above[place], 0).astype(as_int),
                np.where(listed, size[place], 0).astype(as_int), listed, None,
            ),
        )  # fmt: skip


# -- names and numbers -----------------------------------------------------------------------------

_CALLED = {"recip rank": "RR", "ndcg": "nDCG", "hits": "HR"} | {
    called: one.name for one in declarations() for called in (*one.called, one.name.lower())
    if one.name in NAMES
}  # fmt: skip
_NAME = re.compile(r"(?P<name>[A-Za-z][A-Za-z_ ]*?)(_cut)?[ @_.]*(?P<k>[0-9]+)?")


def metric_of(text: str) -> tuple[str, int | None]:
    """Read a metric as toolkits write it: its name here, and its cutoff.

    Raises
    ------
    ConfigError
        If it is none of `NAMES`, or has no cutoff where it needs one.

    Examples
    --------
    >>> metric_of("ndcg_cut_10"), metric_of("MAP"), metric_of("Precision@5")
    (('nDCG', 10), ('AP', None), ('P', 5))
    """
    match = _NAME.fullmatch(text.strip())
    plain = re.sub(r"[\W_]+", " ", match["name"].lower()).strip() if match else text
    if plain not in _CALLED:
        raise unknown_name("metric to reconcile", text, [f"{name}@10" for name in NAMES])
    name, cutoff = _CALLED[plain], match["k"] if match else None
    label = name if cutoff is None else f"{name}@{cutoff}"
    return name, parse_metric(label).cutoff


def closeness(text: str) -> float:
    """Say how far a value may be from a printed one: half a unit of its last digit, and float32.

    Raises
    ------
    ConfigError
        If it is no finite number.

    Examples
    --------
    >>> round(closeness(".3121"), 9), closeness("0.31214999999999998")
    (5.02e-05, 2e-07)
    """
    try:
        number = Decimal(str(text).strip())
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite():
        raise ConfigError(f"value {text!r}: expected a finite number such as 0.3121")
    exponent = int(number.as_tuple().exponent)
    return _FLOAT32 + (0.5 * 10.0**exponent if exponent > -9 else 0.0)


# -- all ways to compute a metric ------------------------------------------------------------------


class _Way(NamedTuple):
    """One way to compute a metric, before it is averaged."""

    choices: dict[str, str]
    values: FloatArray
    divisors: FloatArray
    has_relevant: npt.NDArray[np.bool_]


def _kept(lists: JudgedLists, keep: npt.NDArray[np.bool_]) -> JudgedLists:
    """Take rows away, which leaves the order of all others."""
    owner = np.repeat(np.arange(len(lists.n_listed)), np.diff(lists.first))
    size = np.bincount(owner[keep], minlength=len(lists.n_listed))
    listed = np.bincount(owner[keep & (lists.rank > 0)], minlength=len(lists.n_listed))
    first = np.concatenate([[0], np.cumsum(size)])
    return JudgedLists(first, listed, lists.rank[keep], lists.positive[keep])


def _cut(lists: JudgedLists, cutoff: int | None) -> JudgedLists:
    """Take what stands below the cutoff off the lists; it stays judged."""
    if cutoff is None:
        return lists
    rank = np.where(lists.rank > cutoff, 0, lists.rank).astype(np.int32)
    owner = np.repeat(np.arange(len(lists.n_listed)), np.diff(lists.first))
    return replace(
        lists, rank=rank, n_listed=np.bincount(owner[rank > 0], minlength=len(lists.n_listed))
    )


def _padded(
    lists: JudgedLists, gains: Sequence[FloatArray], cutoff: int
) -> tuple[JudgedLists, list[FloatArray]]:
    """Give each user `cutoff` more items of the top gain, none of them in the list."""
    ends = np.repeat(lists.first[1:], cutoff)
    more = JudgedLists(
        lists.first + cutoff * np.arange(len(lists.first)),
        lists.n_listed,
        np.insert(lists.rank, ends, 0),
        np.insert(lists.positive, ends, True),
    )
    return more, [np.insert(gain, ends, gain.max(initial=0.0)) for gain in gains]


def _ways(both: RunAndJudgments, name: str, cutoff: int | None) -> Iterator[_Way]:
    """Compute a metric in every way that does not concern its average."""
    ties = list(QUESTIONS["ties"].choices) if both.has_ties else ["file"]
    for tie, removed in itertools.product(ties, (False, True)):
        if tie == "expected" and name == "AP":
            continue
        table = both.table(tie)
        judged_length = np.bincount(table.user[table.rank > 0], minlength=both.n_users)
        length = judged_length if removed else both.length
        for grade in both.grades:
            view = RankView(table, grade, removed)
            relevant = np.bincount(table.user[view.positive], minlength=both.n_users)
            common = {"ties": tie, "unjudged": "removed" if removed else "kept"}
            common["relevant"] = exact(grade)
            made = _of_expected if tie == "expected" else _of_lists
            for choices, values, divisors in made(view, name, cutoff, relevant, length):
                yield _Way(common | choices, values, divisors, relevant > 0)


_Made = tuple[dict[str, str], FloatArray, FloatArray]


def _of_expected(
    view: RankView,
    name: str,
    cutoff: int | None,
    relevant: npt.NDArray[np.int64],
    length: npt.NDArray[np.int64],
) -> Iterator[_Made]:
    """Compute what has a closed form over all orders of equals: usual discounts and ideal lists."""
    one, label = np.ones(len(relevant)), "" if cutoff is None else f"@{cutoff}"
    maps = {"linear": "linear", "binary": "binary"} | (
        {"exponential": "ranksys"} if view.min_rating == 1 else {}
    )
    gains = maps if name == "nDCG" else {"": ""}
    for gain, gain_map in gains.items():
        if gain == "linear" and view.min_rating < 0:
            continue
        text = f"{name}({gain_map}){label}|ties" if gain else f"{name}{label}|ties"
        (value,) = measure(
            view.table, [parse_metric(text)], min_rating=view.min_rating, condensed=view.condensed
        )
        if gain:
            yield {"gain": gain, "discount": "rank + 1", "ideal": "judged"}, value, one
        elif name == "RR":
            yield {"cut": "k"}, value, one
        elif name == "HR":
            yield {"divisor": "any"}, value, one
        else:
            divisor = np.full(len(relevant), cutoff) if name == "P" else relevant
            yield from _divided(name, cutoff, value * divisor, relevant, length)


def _divided(
    name: str,
    cutoff: int | None,
    hits: FloatArray,
    relevant: npt.NDArray[np.int64],
    length: npt.NDArray[np.int64],
) -> Iterator[_Made]:
    """Divide the hits of P and R by all that they are divided by."""
    assert cutoff is not None
    by = {
        "k": np.full(len(relevant), cutoff),
        "length": np.minimum(cutoff, length),
        "relevant": relevant,
        "capped": np.minimum(cutoff, relevant),
    }
    for choice in _DIVISORS[name]:
        divisor = by[choice].astype(np.float64)
        value = np.divide(hits, divisor, out=np.zeros(len(hits)), where=divisor > 0)
        yield {"divisor": choice}, value, divisor


def _of_lists(
    view: RankView,
    name: str,
    cutoff: int | None,
    relevant: npt.NDArray[np.int64],
    length: npt.NDArray[np.int64],
) -> Iterator[_Made]:
    lists, one = view.lists, np.ones(len(relevant))
    if name in ("P", "R"):
        (precision,) = measure_judged(lists, ["P"], [cutoff])
        yield from _divided(name, cutoff, precision * (cutoff or 0), relevant, length)
    elif name == "HR":
        any_hit, share = measure_judged(lists, ["HR", "R"], [cutoff, cutoff])
        yield {"divisor": "any"}, any_hit, one
        yield {"divisor": "recall"}, share, one
        yield {"divisor": "hits"}, share * relevant, one
    elif name in ("RR", "AP"):
        for cut, at in {"k": cutoff, "list": None}.items():
            if cut == "list" and cutoff is None:
                continue
            if name == "RR":
                yield {"cut": cut}, measure_judged(lists, ["RR"], [at])[0], one
                continue
            top = _cut(lists, at)
            (over_all,) = measure_judged(top, ["AP"], [None])
            (found,) = measure_judged(_kept(top, top.rank > 0), ["AP"], [None])
            yield {"divisor": "relevant", "cut": cut}, over_all, one
            yield {"divisor": "retrieved", "cut": cut}, found, one
            if cutoff is not None:
                capped = np.minimum(cutoff, relevant)
                fitting = np.minimum(capped, length)
                for choice, by in {"capped": capped, "fitting": fitting}.items():
                    value = over_all * relevant / np.maximum(by, 1)
                    yield {"divisor": choice, "cut": cut}, value, one
                yield {"divisor": "k", "cut": cut}, over_all * relevant / cutoff, one
    else:
        yield from _of_gains(view, cutoff)


def _of_gains(view: RankView, cutoff: int | None) -> Iterator[_Made]:
    lists, grade = view.lists, np.maximum(view.ratings, 0.0)
    gains = {
        "linear": grade * view.lists.positive,
        "exponential": (np.exp2(grade) - 1) * view.lists.positive,
        "binary": view.lists.positive.astype(np.float64),
    }
    for ideal in QUESTIONS["ideal"].choices:
        changed, of, at = lists, list(gains.values()), cutoff
        if cutoff is None and ideal in ("uncut", "top", "full"):
            continue
        if ideal == "uncut":
            changed, at = _cut(lists, cutoff), None
        elif ideal in ("listed", "top"):
            keep = _cut(lists, cutoff if ideal == "top" else None).rank > 0
            changed, of = _kept(lists, keep), [gain[keep] for gain in of]
        elif ideal == "full" and cutoff is not None:
            changed, of = _padded(lists, of, cutoff)
        for discount, function in _DISCOUNTS.items():
            values = measure_judged(
                changed, ["nDCG"] * len(of), [at] * len(of), of, range(len(of)), discount=function
            )
            for gain, value in zip(gains, values, strict=True):
                choices = {"gain": gain, "discount": discount, "ideal": ideal}
                yield choices, value, np.ones(len(value))


def _averages(
    both: RunAndJudgments, name: str, way: _Way
) -> Iterator[tuple[dict[str, str], FloatArray, float]]:
    """Average in every way: the choices, the values of users (NaN = left out) and their mean."""
    missing = both.is_judged & (both.length == 0)
    strangers = ~both.is_judged
    barren = ~way.has_relevant
    base = np.where(np.isnan(way.values), 0.0, way.values)
    pools = ("users", "pooled") if name in ("P", "R") else ("users",)
    for absent, none, strange in itertools.product(
        ("0", "out") if missing.any() else ("0",),
        ("0", "out", "1") if barren.any() else ("0",),
        ("out", "in") if strangers.any() else ("out",),
    ):
        out = missing if absent == "out" else np.zeros_like(missing)
        if strange == "out":
            out = out | strangers
        if none == "out":
            out = out | barren
        values = np.where(barren & (none == "1"), 1.0, base)
        values[missing & ~barren] = 0.0
        values[out] = np.nan
        if out.all():
            continue
        for pool in pools:
            weights = way.divisors[~out] if pool == "pooled" else np.ones((~out).sum())
            if (pool == "pooled" and none == "1") or not weights.sum() > 0:
                continue
            mean = float(np.average(values[~out], weights=weights))
            choices = way.choices | {
                "missing": absent, "none relevant": none, "not judged": strange,
            }  # fmt: skip
            yield choices | ({"mean": pool} if name in ("P", "R") else {}), values, mean


# -- which of them it is ---------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Reconciled:
    """A metric in every way, and which of them give the number at hand.

    Attributes
    ----------
    metric : str
        As it was asked for.
    ours : dict of str to str
        The choice of this package for every question that the metric has.
    values : dict of Choices to float
        Its mean in every way.
    theirs : str
        The number at hand as it is written; empty if there is none.
    explained : tuple of Choices
        What gives it, the fewest departures from `ours` first. A way of which some departures alone
        do as well is not among them; where `ours` does, one of which any changes nothing alone.
    users_known : bool
        Whether values of users were compared, not the mean alone.
    alone : tuple of Choices
        The simplest way to give the number by itself, if that is simpler than what it shares with
        other numbers; else none.
    of_users : dict of Choices to int
        Of ways that give the mean a digest of the values of users: equal where all users have one
        value to six decimals.
    """

    metric: str
    ours: dict[str, str]
    values: dict[Choices, float]
    theirs: str
    explained: tuple[Choices, ...]
    users_known: bool = False
    alone: tuple[Choices, ...] = ()
    of_users: dict[Choices, int] = field(default_factory=dict)

    @property
    def value(self) -> float:
        """What this package says."""
        return self.values[tuple(self.ours.items())]

    def explain(self, number: str) -> Reconciled:
        """Find what gives another mean, written as text.

        Raises
        ------
        ConfigError
            If it is no number.
        """
        found = _matching(self.values, number)
        explained = _fewest(found, self.ours)
        return replace(
            self, theirs=number, explained=explained, users_known=False, alone=(), of_users={}
        )

    def single(self) -> pd.DataFrame:
        """List the value under each convention changed alone.

        Returns
        -------
        DataFrame
            ``metric``, ``question``, ``choice``, ``meaning``, ``value`` and ``difference`` from
            ours, which is the first row.
        """
        ties = f"as recbias, {in_words('ties', self.ours['ties'])}"
        first = ties if self._has_ties else "as recbias and trec_eval -c"
        rows = [(self.metric, "", "", first, self.value, 0.0)]
        for choices, value in self.values.items():
            if len(changed := departures(choices, self.ours)) == 1:
                (question, choice), = changed  # fmt: skip
                meaning = in_words(question, choice)
                rows.append(
                    (self.metric, question, choice, meaning, value, value - self.value)
                )  # fmt: skip
        columns = ["metric", "question", "choice", "meaning", "value", "difference"]
        table = pd.DataFrame(rows, columns=columns)
        order = ["", *QUESTIONS]
        return table.sort_values("question", key=lambda q: q.map(order.index), kind="stable")

    def sentence(self) -> str:
        """Say which conventions give the number, what else does, and what would tell them apart."""
        said = f"their {self.metric} = {self.theirs}"
        if not self.explained:
            given = Decimal(self.theirs)
            nearest = min(self.values.values(), key=lambda value: abs(value - float(given)))
            told = (
                f"{said} is none of ours: of {len(self.values):,} ways to compute it the nearest "
                f"gives {nearest:.6g}"
            )
            if _matching(self.values, hundredth := format(given.scaleb(-2), "f")):
                told += f"\n  is it a percentage? {hundredth} fits; write that"
            elif self._has_ties:
                told += (
                    "\n  scores are equal in the run: a sort that is not stable, as of ranx from "
                    "16 items on, orders them in none of these ways"
                )
            return told
        first, *others = self.explained
        also = [] if self.users_known else self._fits_as_well()
        fits = f"fits to its digits, where recbias says {self.value:.6g}" if also else "is"
        lines = [f"{said} {fits}: {self._told(first)}"]
        lines += [f"  or: {self._told(other)}" for other in others[: _SHOWN - 1]]
        if more := others[_SHOWN - 1 :]:
            lines.append(f"  or {len(more)} other way{'s' * (len(more) > 1)}")
        if also:
            lines.append(
                f"  other values fit as well ({len(also)}), such as {also[0]:.6g}: give more "
                f"digits; if there are none, write {Decimal(self.theirs):.10f}"
            )
        changed = {name for way in self.explained for name, _ in departures(way, self.ours)}
        rest = [
            in_words(name, choice)
            for name, choice in self.ours.items()
            if name not in changed and self._matters(name)
        ]
        if rest:
            lines.append(f"  the rest as here: {'; '.join(rest)}")
        if others:
            lines.append(f"  told apart by: {self._apart()}")
        for way in self.alone:
            lines.append(
                f"  by itself it would rather be: {self._told(way)}; then the numbers do not agree "
                "on ties, on what is relevant or on who is averaged"
            )
        return "\n".join(lines)

    @property
    def _has_ties(self) -> bool:
        """Whether the run has equal scores, of which ways to order them were tried."""
        return any(dict(way)["ties"] != self.ours["ties"] for way in self.values)

    def _apart(self) -> str:
        """Say what tells the ways apart that give the number."""
        unlike = {self.of_users.get(way, 0) for way in self.explained}
        if self.users_known or (len(unlike) == 1 and self.of_users):
            return "other lists: of these each user has the same value"
        some = ", some of them by other lists alone" if len(unlike) < len(self.explained) else ""
        return f"the values of users instead of their mean{some if self.of_users else ''}"

    def _fits_as_well(self) -> list[float]:
        """List other values that fit the number to its digits, the farthest from the first first.

        Values that lie closer to one another than single precision count as one.
        """
        first = self.values[self.explained[0]]
        fits = {self.values[way] for way in _matching(self.values, self.theirs)}
        apart = {round(value, 6): value for value in fits if abs(value - first) > _FLOAT32}
        return sorted(apart.values(), key=lambda value: -abs(value - first))

    def _told(self, choices: Choices) -> str:
        """Write what it departs in."""
        changed = departures(choices, self.ours)
        return "; ".join(in_words(*pair) for pair in changed) or "what recbias says"

    def _matters(self, question: str) -> bool:
        """Tell whether its choices differ on these files, each changed alone."""
        return any(
            abs(value - self.value) > _FLOAT32
            for choices, value in self.values.items()
            if [name for name, _ in departures(choices, self.ours)] == [question]
        )


def departures(choices: Choices, ours: Mapping[str, str]) -> Choices:
    """Give the choices that are not ours."""
    return tuple((name, choice) for name, choice in choices if ours[name] != choice)


def in_words(question: str, choice: str) -> str:
    """Say what a choice is.

    Examples
    --------
    >>> in_words("relevant", "4"), in_words("cut", "list")
    ('relevant from grade 4', 'not cut: the whole list')
    """
    if question == "relevant":
        return f"relevant from grade {choice}"
    return QUESTIONS[question].choices[choice]


def reconcile_values(
    both: RunAndJudgments,
    metrics: Sequence[str],
    theirs: Mapping[str, str | Mapping[str, str]] | None = None,
) -> list[Reconciled]:
    """Compute metrics in all ways that toolkits do, and find those that give numbers at hand.

    Parameters
    ----------
    both
        A run and judgments.
    metrics
        Such as ``"nDCG@10"``; what a toolkit calls them will do.
    theirs
        By metric the mean, or the value of every user, as text: its digits say how exact it is.

    Returns
    -------
    list of Reconciled
        One for each metric. Where ways are shared by all metrics that have numbers (ties,
        thresholds, who is averaged), these stand in `Reconciled.explained`, and no others.

    Raises
    ------
    ConfigError
        If a metric or a user is not known, a value is no number, or no grade is above 0.

    Examples
    --------
    >>> both = RunAndJudgments.of({"u": {"a": 2, "b": 1}}, {"u": {"b": 1, "c": 1}})
    >>> (found,) = reconcile_values(both, ["MAP@3"], {"MAP@3": "0.5"})
    >>> found.value
    0.25
    >>> [departures(way, found.ours) for way in found.explained]
    [(('divisor', 'retrieved'),), (('unjudged', 'removed'),)]
    """
    parsed = [metric_of(text) for text in metrics]
    positive = [grade for grade in both.grades if grade > 0]
    if not positive:
        raise ConfigError("judgments: no grade is above 0, so that nothing is relevant")
    theirs = theirs or {}
    first, matches = [], []
    for text, (metric, cutoff) in zip(metrics, parsed, strict=True):
        ours = {
            name: next(iter(question.choices), exact(positive[0]))
            for name, question in QUESTIONS.items()
            if metric in question.metrics
        }
        if metric in _DIVISORS:
            ours["divisor"] = _DIVISORS[metric][0]
        number = theirs.get(text)
        if isinstance(number, Mapping) and (strange := set(number) - set(both.user_ids.tolist())):
            raise ConfigError(
                f"{text}: user {min(strange)!r} is in neither the run nor the judgments\n"
                "write the ids of users as they are there"
            )
        values: dict[Choices, float] = {}
        by_users: dict[Choices, int] = {}
        found: list[Choices] = []
        for way in _ways(both, metric, cutoff):
            for choices, of_users, mean in _averages(both, metric, way):
                key = tuple((name, choices[name]) for name in ours if name in choices)
                values[key] = mean
                if isinstance(number, str) and abs(mean - float(number)) <= closeness(number):
                    by_users[key] = hash((of_users.round(6) + 0.0).tobytes())
                if isinstance(number, Mapping) and _gives(number, both, of_users, choices):
                    found.append(key)
        if isinstance(number, str):
            found = list(by_users)
        first.append(Reconciled(text, ours, values, _written(number), (), of_users=by_users))
        matches.append(found)
    kept = _shared(first, matches)
    return [
        replace(
            one,
            explained=(explained := _fewest(shared, one.ours)),
            users_known=isinstance(theirs.get(one.metric), Mapping),
            alone=_simpler(_fewest(found, one.ours), explained, one.ours),
        )
        for one, shared, found in zip(first, kept, matches, strict=True)
    ]


def _simpler(
    ways: Sequence[Choices], than: Sequence[Choices], ours: Mapping[str, str]
) -> tuple[Choices, ...]:
    """Give the first way if it has fewer departures than the first of the others."""
    fewer = ways and than and len(departures(ways[0], ours)) < len(departures(than[0], ours))
    return (ways[0],) if fewer else ()


def _written(number: str | Mapping[str, str] | None) -> str:
    """Write the number at hand, of users their mean."""
    if isinstance(number, Mapping):
        return f"{np.mean([float(text) for text in number.values()]):.6g}"
    return "" if number is None else number


def _matching(values: Mapping[Choices, float], number: str) -> list[Choices]:
    """List the ways that give a mean."""
    bound, target = closeness(number), float(number)
    return [way for way, value in values.items() if abs(value - target) <= bound]


def _gives(
    number: Mapping[str, str],
    both: RunAndJudgments,
    values: FloatArray,
    choices: Mapping[str, str],
) -> bool:
    """Tell whether the users that count, and no others, have the given values."""
    counted = np.flatnonzero(~np.isnan(values))
    users = both.user_ids[counted].tolist()
    if choices.get("mean") == "pooled" or set(number) != set(users):
        return False
    return all(
        abs(value - float(number[user])) <= closeness(number[user])
        for user, value in zip(users, values[counted].tolist(), strict=True)
    )


def _shared(
    reconciled: Sequence[Reconciled], matches: Sequence[list[Choices]]
) -> list[list[Choices]]:
    """Keep, of all metrics with a number, the ways that one answer to `_OF_ALL` explains."""
    asked = [at for at, one in enumerate(reconciled) if one.theirs]
    costs: list[dict[Choices, int]] = []
    for at in asked:
        cost: dict[Choices, int] = {}
        for way in matches[at]:
            shared = tuple(pair for pair in way if pair[0] in _OF_ALL)
            own = len(departures(way, reconciled[at].ours))
            cost[shared] = min(own, cost.get(shared, own))
        costs.append(cost)
    common = set(costs[0]).intersection(*costs[1:]) if costs else set()
    if len(asked) < 2 or not common:
        return list(matches)
    best = min(sum(cost[shared] for cost in costs) for shared in common)
    common = {s for s in common if sum(cost[s] for cost in costs) == best}
    return [
        [way for way in found if tuple(pair for pair in way if pair[0] in _OF_ALL) in common]
        for found in matches
    ]


def _fewest(found: Sequence[Choices], ours: Mapping[str, str]) -> tuple[Choices, ...]:
    """Order ways by how many departures they have; leave out those of which a part does as well.

    Beside no departure at all, which is a part of each, stand those that make up for one another.
    """
    kept: list[tuple[set[tuple[str, str]], Choices]] = []
    for way in sorted(found, key=lambda way: len(departures(way, ours))):
        changed = set(departures(way, ours))
        if not any(known <= changed for known, _ in kept if known):
            kept.append((changed, way))
    as_here = any(not changed for changed, _ in kept)
    return tuple(way for changed, way in kept if not (as_here and len(changed) == 1))
