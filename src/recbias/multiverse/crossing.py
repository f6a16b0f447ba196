"""Options of decisions, crossed: which universes that makes, and what cannot be combined.

A combination is known by three numbers: its branch (what is trained on which split), its design
(all that follows from ranks, in canonical form) and its paired test. Each is found from the
decisions that bear on it alone, as the product of all is large.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from recbias.data.datasets import Dataset
from recbias.data.datasets.liked import step_below_top
from recbias.data.ratings import exact
from recbias.data.selection import Selection
from recbias.errors import ConfigError, unknown_name
from recbias.experiment.decisions import START
from recbias.experiment.options import PAIRED_TESTS, Options
from recbias.experiment.run import check_data
from recbias.metrics import Metric, parse_metric
from recbias.protocol.averaging import Averaging
from recbias.protocol.protocol import Protocol
from recbias.protocol.relevance import GainMap
from recbias.protocol.splits import SplitRule
from recbias.protocol.targets import TargetRule
from recbias.protocol.testset import TestSet
from recbias.recommenders import System

__all__ = ["Branch", "Crossing", "cross", "view_of"]

_TRAINED = ("data", "split")
_TESTED = ("pairs",)
_NAMED = (*_TRAINED, *_TESTED, "test", "metric", "gain")
_OF_LISTS = ("unscored", "users", "weights", "statistic", "coverage")
_LISTS = ("rule", "rel", "condensed", *_OF_LISTS)
_OF_DESIGN = ("test", "metric", "gain", *_LISTS)

Parts = dict[str, str]
"""What a text sets, by name: parts of options, and words of its lists."""


class Branch(NamedTuple):
    """What is trained: all universes of a branch are read from the same cells."""

    select: str
    split: str
    seed: int


@dataclasses.dataclass(frozen=True, eq=False)
class Crossing:
    """All combinations, and the universes that they are.

    Attributes
    ----------
    options
        Texts by decision.
    seeds
        They are crossed too.
    branches, designs, pairs
        What a universe is one of each of. Designs have the split, seed and test of `START`.
    code
        By decision, and seed at last: ``(branch * n_designs + design) * n_pairs + pair``, or
        ``-1 - r`` where `reasons` says at r why there is none.
    reasons
        Why there is no universe.
    """

    options: dict[str, tuple[str, ...]]
    seeds: tuple[int, ...]
    branches: list[Branch]
    designs: list[Options]
    pairs: list[str]
    code: npt.NDArray[np.int64]
    reasons: list[str]


def cross(
    options: Mapping[str, Sequence[str]],
    start: str | None,
    seeds: Sequence[int],
    dataset: Dataset,
    name: str,
    systems: tuple[System, ...],
) -> Crossing:
    """Cross the options of all decisions."""
    texts = _checked(options)
    base = _start(start, dataset)
    sets = {
        decision: [_parts(text) for text in of_decision] for decision, of_decision in texts.items()
    }
    reasons: dict[str, int] = {}
    trained: dict[tuple[str, str], int] = {}
    tests: dict[str, int] = {}
    designs: dict[Options, int] = {}
    refuse = _Refusals(dataset, name, systems)

    def number_trained(parts: Parts) -> int:
        selection, split = Selection.parse(parts.get("data", "")), SplitRule.parse(parts["split"])
        return trained.setdefault((str(selection), str(split)), len(trained))

    def number_test(parts: Parts) -> int:
        return tests.setdefault(parts["pairs"], len(tests))

    def number_design(parts: Parts) -> int:
        options = _design(parts, refuse)
        if isinstance(options, str):
            return -1 - reasons.setdefault(options, len(reasons))
        return designs.setdefault(options, len(designs))

    branch, test, design = (
        _numbered(sets, base, names, number, reasons)[..., None]
        for names, number in (
            (_TRAINED, number_trained),
            (_TESTED, number_test),
            (_OF_DESIGN, number_design),
        )
    )
    seeded = np.where(branch < 0, branch, branch * len(seeds) + np.arange(len(seeds)))
    code = (seeded * len(designs) + design) * len(tests) + test
    for refused in (test, seeded, design):
        code = np.where(refused < 0, refused, code)
    shape = *map(len, texts.values()), len(seeds)
    code = np.broadcast_to(code, shape)
    branches = [Branch(*both, seed) for both in trained for seed in seeds]
    return Crossing(texts, tuple(seeds), branches, list(designs), list(tests), code, list(reasons))


def _numbered(
    sets: Mapping[str, Sequence[Parts]],
    base: Parts,
    names: Sequence[str],
    number: Callable[[Parts], int],
    reasons: dict[str, int],
) -> npt.NDArray[np.int64]:
    """Give numbers to what is set of some parts; decisions that set none have an axis of 1."""
    sides = {
        decision: [{part: each[part] for part in names if part in each} for each in of_decision]
        for decision, of_decision in sets.items()
    }
    sides = {decision: of if any(of) else [{}] for decision, of in sides.items()}
    numbers = []
    for chosen in product(*sides.values()):
        merged, by = dict(base), dict[str, str]()
        twice = ""
        for decision, parts in zip(sides, chosen, strict=True):
            for part in parts:
                twice = f"{by[part]} and {decision} both set {part}" if part in by else twice
                by[part] = decision
            merged |= parts
        numbers.append(-1 - reasons.setdefault(twice, len(reasons)) if twice else number(merged))
    return np.array(numbers, dtype=np.int64).reshape([len(of) for of in sides.values()])


@lru_cache(maxsize=2**14)
def view_of(protocol: Protocol) -> Protocol:
    """Give what is measured before users are averaged: target sets, relevance, form of lists."""
    return dataclasses.replace(protocol, average=Averaging())


def _checked(options: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    if not isinstance(options, Mapping) or not options:
        raise ConfigError(
            f"options: got {options!r}, expected texts by decision, such as "
            '{"C1": ("AI-AN-AR", "condensed"), "C2": ("metric: P@10", "metric: nDCG@10")}'
        )
    texts = {}
    for decision, of_decision in options.items():
        if isinstance(of_decision, str) or not of_decision:
            raise ConfigError(f"options of {decision}: got {of_decision!r}, expected some texts")
        texts[str(decision)] = tuple(of_decision)
        if len(set(of_decision)) < len(of_decision):
            raise ConfigError(f"options of {decision}: each once, got {', '.join(of_decision)}")
    return texts


def _start(start: str | None, dataset: Dataset) -> Parts:
    """Give the parts of what no decision sets."""
    if start is None:
        usual = exact(step_below_top(dataset.ratings.scale, dataset.ratings.value))
        start = START.replace("rel>=4", f"rel>={usual}")
    options = Options.parse(start)
    known = [part for part in str(options).split("; ") if part.partition(":")[0] in _NAMED]
    return {**_parts("; ".join(known)), **_parts(str(options.protocol))}


def _parts(text: str) -> Parts:
    """Read what a text sets: parts of options, or words of a protocol.

    What a whole protocol, as of the table of decisions, has in common with `START` sets nothing.
    """
    if not isinstance(text, str):
        raise ConfigError(f"an option is text, got {type(text).__name__} {text!r}")
    parts: Parts = {}
    for piece in filter(None, map(str.strip, text.split(";"))):
        name, colon, value = (side.strip() for side in piece.partition(":"))
        if colon and name in _NAMED:
            read = {name: value}
        elif colon and name != "lists":
            known = (*_NAMED, "lists")
            if name == "seed":
                raise ConfigError(f"option {text!r}: a seed is no option; give seeds=(1, 2)")
            raise unknown_name("part of options", name, known)
        else:
            usual = set(START.partition("lists: ")[2].partition(";")[0].split())
            words = (value if colon else piece).split()
            read = _words([word for word in words if not (colon and word in usual)])
        if again := parts.keys() & read.keys():
            raise ConfigError(f"option {text!r}: {min(again)} is set twice")
        parts |= read
    for name, value in parts.items():
        _READ[name](value)  # says what was probably meant
    return parts


def _paired_test(text: str) -> None:
    if text not in PAIRED_TESTS:
        raise unknown_name("paired test", text, PAIRED_TESTS)


_READ: dict[str, Callable[[str], object]] = {
    "data": Selection.parse,
    "split": SplitRule.parse,
    "test": TestSet.parse,
    "metric": parse_metric,
    "gain": GainMap.parse,
    "pairs": _paired_test,
    "rule": TargetRule.parse,
    "rel": lambda word: Protocol.parse(f"AI-AN-AR {word}"),
    "condensed": str,
    "unscored": lambda word: Protocol.parse(f"AI-AN-AR rel>=1 {word}"),
    **dict.fromkeys(_OF_LISTS[1:], Averaging.parse),
}


def _words(words: Sequence[str]) -> Parts:
    parts: Parts = {}
    for word in words:
        name = word.partition("=")[0]
        if word == "condensed":
            parts["condensed"] = word
        elif word.startswith("rel>="):
            parts["rel"] = word
        elif name in _OF_LISTS:
            parts[name] = word
        else:
            parts["rule"] = f"{parts['rule']} {word}" if "rule" in parts else word
    return parts


@lru_cache(maxsize=2**14)
def _protocol(text: str) -> Protocol | str:
    try:
        return Protocol.parse(text)
    except ConfigError as error:
        return str(error).partition("\n")[0]


_metric = lru_cache(maxsize=2**10)(parse_metric)


def _design(parts: Parts, refuse: _Refusals) -> Options | str:
    """Give a design in canonical form, or why it cannot be."""
    protocol = _protocol(" ".join(parts[name] for name in _LISTS if name in parts))
    if isinstance(protocol, str):
        return protocol
    try:
        options = Options(
            protocol,
            _metric(parts["metric"]),
            parts.get("gain", ""),
            test=TestSet.parse(parts.get("test", "")),
        ).canonical(refuse.dataset.ratings.scale)
    except ConfigError as error:  # two gain maps
        return str(error).partition("\n")[0]
    return refuse.reason(options) or options


class _Refusals:
    """Says why a design cannot be measured, or has no winner, before anything is trained."""

    def __init__(self, dataset: Dataset, name: str, systems: tuple[System, ...]) -> None:
        self.dataset, self._of = dataset, (name, systems)
        self._known: dict[tuple[Protocol, Metric, TestSet], str] = {}

    def reason(self, options: Options) -> str:
        """Give the reason; empty if there is none."""
        key = view_of(options.protocol), options.measured, options.test
        if key not in self._known:
            self._known[key] = self._look(key[0], key[1], options)
        return self._known[key]

    def _look(self, view: Protocol, metric: Metric, options: Options) -> str:
        if metric.declaration.better is None:
            return f"{metric}: neither higher nor lower is better, so that nobody wins"
        if metric.kind != "ranks":
            return f"{metric}: it is not measured from ranks, user by user"
        ratings = self.dataset.ratings
        try:
            dataclasses.replace(options, protocol=view).grid(*self._of)
            check_data(view, [metric], ratings, self.dataset.title)
            if gain := getattr(metric, "gain", None):
                gain.gains(
                    np.unique(ratings.value), min_rating=view.min_rating,
                    rating_max=ratings.scale.maximum,
                )  # fmt: skip
        except ConfigError as error:
            return str(error).partition("\n")[0].removeprefix("'options': ")
        return ""
