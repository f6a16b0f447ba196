"""Options of decisions, crossed: which universes that makes, and what cannot be combined.

Most decisions act on ranks that are there; few on what is trained. Both sides are crossed apart, as
their product is large, and a combination is known by three numbers: its branch (what is trained on
which split), its design (all that follows from ranks, in canonical form) and its paired test.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
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
_NAMED = (*_TRAINED, "test", "metric", "gain", "pairs")
_OF_LISTS = ("unscored", "users", "weights", "statistic", "coverage")
_LISTS = ("rule", "rel", "condensed", *_OF_LISTS)

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
    reasons: dict[str, int] = {}
    sets = {decision: [_parts(text) for text in of] for decision, of in texts.items()}
    touched = {decision: {part for parts in of for part in parts} for decision, of in sets.items()}
    outer = [decision for decision, parts in touched.items() if parts <= {*_TRAINED}]
    tests = [decision for decision in texts if touched[decision] <= {"pairs"} != set()]
    tests = [decision for decision in tests if decision not in outer]
    inner = [decision for decision in texts if decision not in (*outer, *tests)]

    trained = [
        (_merged(base, chosen, reasons), {part for _, parts in chosen for part in parts})
        for chosen in _combined(sets, outer)
    ]
    pairs = [_merged(base, chosen, reasons) for chosen in _combined(sets, tests)]
    refuse = _Refusals(dataset, name, systems)
    designs: dict[Options, int] = {}
    branches: dict[Branch, int] = {}
    own_pairs: dict[str, int] = {}
    # What a combination within adds to what is trained or tested: nothing, but for mixed texts.
    of_design = np.empty(_n(sets, inner), dtype=np.int64)
    added: dict[tuple[str | None, ...], int] = {}
    of_added = np.empty(len(of_design), dtype=np.int64)
    for place, chosen in enumerate(_combined(sets, inner)):
        merged = _merged(base, chosen, reasons)
        own = {part: value for _, parts in chosen for part, value in parts.items()}
        extra = tuple(own.get(part) for part in (*_TRAINED, "pairs"))
        of_added[place] = added.setdefault(extra, len(added))
        of_design[place] = (
            merged if isinstance(merged, int) else _design(merged, designs, reasons, refuse)
        )
    shape = len(trained), len(pairs), len(added), len(seeds)
    of_branch, of_pairs = np.empty(shape, np.int64), np.empty(shape, np.int64)
    for place in product(*map(range, shape)):
        (branch, set_before), pair, extra = (
            trained[place[0]], pairs[place[1]], list(added)[place[2]]
        )  # fmt: skip
        more = dict(zip((*_TRAINED, "pairs"), extra, strict=True))
        clash = next((p for p in _TRAINED if more[p] is not None and p in set_before), None)
        if more["pairs"] is not None and tests:
            clash = "pairs"
        if isinstance(branch, int) or isinstance(pair, int) or clash:
            bad = [each for each in (branch, pair) if isinstance(each, int)]
            of_branch[place] = bad[0] if bad else _reason(reasons, f"two decisions set {clash}")
            continue
        known = {part: value for part, value in more.items() if value is not None}
        both = {**branch, "pairs": pair.get("pairs", "t"), **known}
        of_branch[place], of_pairs[place] = _trained(
            both, seeds[place[3]], branches, own_pairs
        )
    code = _codes(of_branch, of_pairs, of_design, of_added, len(designs), len(own_pairs))
    order = [*outer, *tests, *inner]
    code = code.reshape([len(texts[decision]) for decision in order] + [len(seeds)])
    code = code.transpose([order.index(decision) for decision in texts] + [len(order)])
    return Crossing(
        texts, tuple(seeds), list(branches), list(designs), list(own_pairs),
        np.ascontiguousarray(code), list(reasons),
    )  # fmt: skip


def view_of(options: Options) -> str:
    """Name what is measured before users are averaged: target sets, relevance and form of lists."""
    protocol = options.protocol
    return str(dataclasses.replace(protocol, average=type(protocol.average)()))


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
    return _parts(
        "; ".join(f"{name}: {value}" for name, value in {
            "data": options.select, "split": options.split, "test": options.test,
            "metric": options.metric, "gain": options.gain, "pairs": options.pairs,
        }.items() if str(value))
    ) | _parts(str(options.protocol))  # fmt: skip


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
            words = [word for word in (value if colon else piece).split()]
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


def _combined(
    sets: Mapping[str, Sequence[Parts]], decisions: Sequence[str]
) -> Iterator[list[tuple[str, Parts]]]:
    """Yield one text of each decision, the last decision fastest."""
    for chosen in product(*(sets[decision] for decision in decisions)):
        yield list(zip(decisions, chosen, strict=True))


def _n(sets: Mapping[str, Sequence[Parts]], decisions: Sequence[str]) -> int:
    return int(np.prod([len(sets[decision]) for decision in decisions], dtype=np.int64))


def _merged(
    base: Parts, chosen: Sequence[tuple[str, Parts]], reasons: dict[str, int]
) -> Parts | int:
    """Put what decisions set in place of the start; a reason if two of them set the same."""
    merged, by = dict(base), {}
    for decision, parts in chosen:
        for part, value in parts.items():
            if part in by:
                return _reason(reasons, f"{by[part]} and {decision} both set {part}")
            by[part], merged[part] = decision, value
    return merged


def _reason(reasons: dict[str, int], text: str) -> int:
    return -1 - reasons.setdefault(text, len(reasons))


@lru_cache(maxsize=2**14)
def _protocol(text: str) -> Protocol | str:
    try:
        return Protocol.parse(text)
    except ConfigError as error:
        return str(error).partition("\n")[0]


_metric = lru_cache(maxsize=2**10)(parse_metric)


def _design(
    parts: Parts, designs: dict[Options, int], reasons: dict[str, int], refuse: _Refusals
) -> int:
    protocol = _protocol(" ".join(parts[name] for name in _LISTS if name in parts))
    if isinstance(protocol, str):
        return _reason(reasons, protocol)
    try:
        options = Options(
            protocol, _metric(parts["metric"]), parts.get("gain", ""),
            test=TestSet.parse(parts.get("test", "")),
        ).canonical(refuse.dataset.ratings.scale)  # fmt: skip
    except ConfigError as error:
        return _reason(reasons, str(error).partition("\n")[0])
    if options not in designs:
        if reason := refuse.reason(options):
            return _reason(reasons, reason)
        designs[options] = len(designs)
    return designs[options]


class _Refusals:
    """Says why a design cannot be measured, or has no winner, before anything is trained."""

    def __init__(self, dataset: Dataset, name: str, systems: tuple[System, ...]) -> None:
        self.dataset, self._of = dataset, (name, systems)
        self._known: dict[tuple[str, str, str], str] = {}

    def reason(self, options: Options) -> str:
        """Give the reason; empty if there is none."""
        metric = options.measured
        key = view_of(options), str(metric), str(options.test)
        if key not in self._known:
            self._known[key] = self._look(Protocol.parse(key[0]), metric, options)
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


def _trained(
    parts: Parts, seed: int, branches: dict[Branch, int], pairs: dict[str, int]
) -> tuple[int, int]:
    """Number what is trained, and the paired test."""
    select, split = Selection.parse(parts.get("data", "")), SplitRule.parse(parts["split"])
    branch = Branch(str(select), str(split), seed)
    return (
        branches.setdefault(branch, len(branches)),
        pairs.setdefault(parts["pairs"], len(pairs)),
    )


def _codes(
    of_branch: npt.NDArray[np.int64],
    of_pairs: npt.NDArray[np.int64],
    of_design: npt.NDArray[np.int64],
    of_added: npt.NDArray[np.int64],
    n_designs: int,
    n_pairs: int,
) -> npt.NDArray[np.int64]:
    """Number the combinations, by what is trained, paired test, design and seed."""
    branch, pair = of_branch[:, :, of_added], of_pairs[:, :, of_added]
    design = np.broadcast_to(of_design[None, None, :, None], branch.shape)
    code = (branch * n_designs + design) * n_pairs + pair
    return np.where(design < 0, design, np.where(branch < 0, branch, code))
