"""Planted results: a world whose values a person chose, and the verdicts that it must give.

``planted_verdicts/TOPIC.yaml`` holds a world in which everything holds that can, and by claim and
part what is changed in it, with the verdict that must follow. Here that text becomes real results,
without data or training. Which grids a topic plants says ``planted_grids.py``; the world lists
their values in rows, ``metric[label]``, with the metric's whole text where a label has several of
its name.

What a function makes is planted under ``made``, by the name under which the chapter keeps it: its
``index`` columns, its ``columns`` of values, and by the index of a row, joined by commas, what
stands there; ``on: simulations`` for a simulation, ``drawn: true`` where ``value`` has replicates.

A change is one of these; several are separated by ``;``:

* ``P[AR] of pLSA = 0.08``: a value, by the place that records use (``in lemma``, ``on ml-100k``);
* ``P[AR] of pLSA = 1.25 P[AR] of Popularity``: a multiple of another value, of the same system
  if none is named, draw by draw;
* ``... +- 0.002``: with this standard error, apart from all others; 0 for none;
* ``... tail 0.04 at 0.07``: this share of every second draw lies there;
* ``p[1R per run] of pLSA and Random = 0.002``: of a paired test;
* ``spread of P[full] = 0.3``: the standard deviation of the paired differences of all pairs;
* ``different in P[full] = 40``: how many of all pairs differ significantly;
* ``value[0.5, AR, Popularity] in worlds = 0.3``: a column of what was made, by its row's index;
* ``statistic NAME = 3``: a number that follows from the data;
* ``check NAME = 0.1``: what was found for a check of the claim, at first the first value of its
  first verdict; a claim that needs other data than the world's names a ``data set`` last;
* ``seeds of pLSA = 1``, ``data set = filmtrust``, ``feedback = implicit``.

``of all of SET`` changes each system of a set of the world, ``of each of SET`` one in turn: a row
each. Then ``{which}`` in the beginning of a part's sentence is the system whose turn it is.
"""

from __future__ import annotations

import copy
import dataclasses
import re
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from itertools import combinations
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd
import yaml
from scipy import stats

from planted_grids import PLANTED, PlantedGrid
from recbias import Grid, Results
from recbias.claims import Check, Checks, Verdict, claims, judge, judging
from recbias.claims.records import ClaimCriterion, Record
from recbias.claims.regions import written
from recbias.claims.topics import find_judged
from recbias.experiment.makers import Table
from recbias.experiment.results import SIMULATIONS, StoredResult
from recbias.recommenders import with_seeds

FOLDER = Path(__file__).with_name("planted_verdicts")
N_DRAWS = 1000
N_TESTED = 1000
_TESTED = ("label", "metric", "unit", "a", "b")

_Place = tuple[str, str, str, str, str]
"""Edition, table, system, label, metric without cutoff."""

_TERM = (
    r"(?P<metric>[\w@|=().][\w@|=(). -]*)\[(?P<label>[^\]]+)\](?: of (?P<system>.+?))?"
    r"(?: in (?P<table>\w+))?(?: on (?P<edition>[\w-]+))?"
)
_NUMBER = r"-?\d*\.?\d+(?:e-?\d+)?"
_VALUE = re.compile(
    rf"(?P<number>{_NUMBER})(?: (?P<other>[\w@|=().]+\[.+?))?"
    rf"(?: \+- (?P<error>{_NUMBER}))?(?: tail (?P<share>{_NUMBER}) at (?P<tail>{_NUMBER}))?"
)


@dataclass(frozen=True)
class Drawn:
    """A value with its replicates."""

    value: float
    draws: np.ndarray

    @cached_property
    def spread(self) -> float:
        """Standard deviation of the replicates."""
        return float(self.draws.std())


@cache
def _noise(name: str) -> np.ndarray:
    """Draws of mean 0 and standard deviation 1, over all and over every second one."""
    halves = np.random.default_rng(zlib.crc32(name.encode())).standard_normal((2, N_DRAWS // 2))
    halves -= halves.mean(axis=1, keepdims=True)
    return (halves / halves.std(axis=1, keepdims=True)).T.ravel()


@cache
def topic_of(claim: str) -> str:
    """The topic of a claim."""
    (topic,) = (each.topic for each in claims() if each.id == claim)
    return topic


@cache
def _planted(topic: str) -> dict[str, PlantedGrid]:
    return PLANTED[topic]()


@cache
def _grid(topic: str, dataset: str, table: str, few: tuple[str, ...]) -> Grid:
    """A grid of a chapter; `few` have one training seed."""
    planted = _planted(topic)[table]
    seeded = [
        dataclasses.replace(each, n_seeds=1) if each.name in few else each
        for each in with_seeds(planted.systems, 5)
    ]
    return Grid(dataset, tuple(seeded), planted.protocols, planted.metrics, **planted.options)


@cache
def _names(topic: str, table: str) -> tuple[list[tuple[str, str, str]], pd.DataFrame]:
    """Systems, labels and metrics of a table, in the order of its rows."""
    grid = _grid(topic, "ml-1m", table, ())
    names = [
        (system.name, label, metric)
        for system in grid.systems
        for label, metrics in grid.by_label.items()
        for metric in metrics
    ]
    return names, pd.DataFrame(names, columns=["system", "label", "metric"])


@cache
def measured(topic: str, table: str) -> dict[str, list[str]]:
    """Metrics of a grid by label, each by its name if no other under the label has it.

    Nothing for what is no grid, but made by a function.
    """
    found: dict[str, list[str]] = {}
    if table not in _planted(topic):
        return found
    for label, metrics in _grid(topic, "ml-1m", table, ()).parsed_metrics.items():
        names = [metric.name for metric in metrics]
        found[label] = [
            name if names.count(name) == 1 else str(metric)
            for name, metric in zip(names, metrics, strict=True)
        ]
    return found


def grid_of(topic: str, table: str) -> Grid:
    """A grid that is planted."""
    return _grid(topic, "ml-1m", table, ())


def _metric(grid: Grid, label: str, name: str) -> str:
    (found,) = (metric for metric in grid.parsed_metrics[label] if metric.name == name)
    return str(found)


def _number(text: str) -> float | int | str:
    """What an index column holds: a number where the text is one."""
    if not re.fullmatch(_NUMBER, text):
        return text
    return float(text) if "." in text else int(text)


class _Planted(Mapping[str, StoredResult]):
    """Results by name, each planted when it is first read: a claim reads few of them."""

    def __init__(self, makers: Mapping[str, Callable[[], StoredResult]]) -> None:
        self._makers = makers
        self._made: dict[str, StoredResult] = {}

    def __getitem__(self, name: str) -> StoredResult:
        if name not in self._made:
            self._made[name] = self._makers[name]()
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)


class World:
    """Values by place, p-values, checks, and what the data are; changes give another world."""

    def __init__(self, topic: str, text: Mapping, checks: Mapping) -> None:
        self.topic, self._made = topic, text.get("made", {})
        self.sets: dict[str, list[str]] = text["sets"]
        self._error = float(text["error"])
        self._facts = {"data set": text["data set"], "feedback": "explicit"}
        self._values: dict[_Place, Drawn] = {}
        self._p: dict[tuple[str, str, frozenset[str]], float] = {}
        self._tested = {
            f"{kind} of {term}" if kind == "spread" else f"{kind} in {term}": float(value)
            for term, values in text.get("tested", {}).items()
            for kind, value in zip(("spread", "different"), values, strict=True)
        }
        self._few: frozenset[str] = frozenset()
        self._base: World | None = None
        self._touched: frozenset[tuple[str, str]] = frozenset()
        self._found: dict[str, Mapping[str, StoredResult]] = {}
        for table, planted in text["values"].items():
            place = "" if table == "systems" else f" in {table}"
            assert table in _planted(topic), f"no grid is planted as {table}"
            for term, row in planted["rows"].items():
                for system, value in zip(self.sets[planted["of"]], row, strict=True):
                    self._plant(f"{term} of {system}{place}", value, new=True)
        for asked, p in text.get("p", {}).items():
            for pair in combinations(self.sets["five"], 2):
                self._p[(*asked.split(" per "), frozenset(pair))] = float(p)
        self._checks = {
            (claim, name): float(next(iter(sides.values()))[0])
            for claim, found in checks.items()
            for name, sides in found.items()
        }
        self._statistics = {name: float(each) for name, each in text.get("statistics", {}).items()}
        for table, planted in self._made.items():
            if "on" not in planted:
                self._plant_made(table, planted)
        own = dict(self._values)
        for edition in text["editions"]:
            self._values |= {(edition, *place[1:]): drawn for place, drawn in own.items()}
        for edition, changes in text["editions"].items():
            for change in changes:
                self._plant(*change.split(" = "), edition=edition)
        for table, planted in self._made.items():
            if "on" in planted:
                assert planted["on"] == SIMULATIONS, planted["on"]
                self._plant_made(table, planted)

    def _plant_made(self, table: str, planted: Mapping) -> None:
        where = f" in {table}" + (f" on {planted['on']}" if "on" in planted else "")
        for row, values in planted["rows"].items():
            for column, value in zip(planted["columns"], values, strict=True):
                self._plant(f"{column}[{row}]{where}", value, new=True)

    def changed(self, changes: str, claim: str) -> World:
        """The world after some changes; `claim` is the one whose checks are meant."""
        other = copy.copy(self)
        other._base, other._touched, other._found = self, frozenset(), {}
        for name in ("_facts", "_values", "_p", "_tested", "_checks", "_statistics"):
            setattr(other, name, dict(getattr(self, name)))
        for change in changes.split(";"):
            what, value = change.strip().split(" = ")
            if what in self._facts:
                other._facts[what] = value
            elif what in self._tested:
                other._tested[what] = float(value)
            elif found := re.fullmatch(r"seeds of (.+)", what):
                assert value == "1", change
                other._few = other._few | {found[1]}
            elif found := re.fullmatch(r"check ([\w-]+)", what):
                other._checks[claim, found[1]] = float(value)
            elif found := re.fullmatch(r"statistic (.+)", what):
                assert found[1] in self._statistics, f"no such statistic: {change}"
                other._statistics[found[1]] = float(value)
            elif found := re.fullmatch(r"p\[(\S+) per (\w+)\] of (.+) and (.+)", what):
                key = (found[1], found[2], frozenset(found.groups()[2:]))
                assert key in self._p, f"no such test: {change}"
                other._p[key] = float(value)
            else:
                other._plant(what, value)
        return other

    def _plant(self, what: str, value: str, edition: str = "", *, new: bool = False) -> None:
        term, given = re.fullmatch(_TERM, what), _VALUE.fullmatch(value)
        assert term, f"no quantity: {what}"
        assert given, f"no value: {value}"
        table = term["table"] or "systems"
        edition = edition or term["edition"] or self._made.get(table, {}).get("on", "")
        names = [term["system"] or ""]
        if names[0].startswith("all of "):
            names = self.sets[names[0].removeprefix("all of ")]
        for system in names:
            place = (edition, table, system, term["label"], term["metric"])
            assert new or place in self._values, f"no such value: {what}"
            self._values[place] = self._drawn(place, given)
            self._touched |= {place[:2]}

    def _drawn(self, place: _Place, given: re.Match[str]) -> Drawn:
        number, noise = float(given["number"]), _noise(" ".join(place))
        if given["other"]:
            term = re.fullmatch(_TERM, given["other"])
            assert term, f"no value: {given['other']}"
            source = (
                term["edition"] or place[0],
                term["table"] or place[1],
                term["system"] or place[2],
                term["label"],
                term["metric"],
            )
            other = self._values[source]
            value, draws = number * other.value, number * other.draws
            if given["error"]:
                draws = draws + float(given["error"]) * noise
        else:
            value = number
            error = self._error * value if given["error"] is None else float(given["error"])
            draws = value + error * noise
        if given["share"]:
            draws = draws.copy()
            draws[1 : 1 + 2 * round(float(given["share"]) * N_DRAWS / 2) : 2] = float(given["tail"])
        return Drawn(value, draws)

    @property
    def data_set(self) -> str:
        """Name of the edition that is judged."""
        return self._facts["data set"]

    def load(self, name: str, dataset: str) -> Mapping[str, StoredResult]:
        """Stand in for what loads a chapter's results on another data set."""
        judged = find_judged(self.topic)
        assert judged is not None
        assert name == judged.chapter
        return self.results(dataset) if any(place[0] == dataset for place in self._values) else {}

    def results(self, edition: str = "") -> Mapping[str, StoredResult]:
        """Results of an edition; of the one that is judged if none is named."""
        if edition not in self._found:
            self._found[edition] = self._of_edition(edition)
        return self._found[edition]

    def _of_edition(self, edition: str) -> Mapping[str, StoredResult]:
        record = {"name": edition or self.data_set, "feedback": "explicit"}
        if not edition:
            record["feedback"] = self._facts["feedback"]
        made = {
            name: partial(self._made_table, edition, name, record)
            for name, planted in self._made.items()
            if (edition == SIMULATIONS) == ("on" in planted)
        }
        if edition == SIMULATIONS:
            return _Planted(made)
        rows = [Check(*key, " ".join(key), 1, worst) for key, worst in self._checks.items()]
        checks = Checks(
            key="planted",
            dataset=record,
            maker_name="",
            given={},
            rows=tuple(rows),
            statistics=self._statistics,
        )
        tables = {
            name: partial(self._table, edition, name, record) for name in _planted(self.topic)
        }
        return _Planted({"checks": lambda: checks, **tables, **made})

    def _made_table(self, edition: str, name: str, record: Mapping[str, str]) -> StoredResult:
        if self._base is not None and self._same(edition, name):
            return self._base.results(edition)[name]
        planted = self._made[name]
        rows, draws = [], []
        for row in planted["rows"]:
            found = {
                column: self._values[edition, name, "", row, column]
                for column in planted["columns"]
            }
            index = [_number(text) for text in row.split(", ", len(planted["index"]) - 1)]
            rows.append([*index, *(each.value for each in found.values())])
            if "drawn" in planted:
                draws.append(found["value"].draws)
        return Table(
            key="planted",
            dataset=record,
            maker_name="",
            given=planted.get("given", {}),
            index=tuple(planted["index"]),
            frame=pd.DataFrame(rows, columns=[*planted["index"], *planted["columns"]]),
            replicates=np.array(draws) if draws else None,
        )

    def _same(self, edition: str, table: str) -> bool:
        """Whether nothing was changed that a table shows."""
        if self._base is None or (edition == "" and self._facts != self._base._facts):
            return False
        tested = (self._p, self._tested), (self._base._p, self._base._tested)
        if self._few or (table == "systems" and tested[0] != tested[1]):
            return False
        return (edition, table) not in self._touched

    def _table(self, edition: str, table: str, record: Mapping[str, str]) -> StoredResult:
        if self._base is not None and self._same(edition, table):
            return self._base.results(edition)[table]
        grid = _grid(self.topic, record["name"], table, tuple(sorted(self._few)))
        kept = None if grid.replicates is None else set(grid.replicates)
        names, frame = _names(self.topic, table)
        short = {
            (label, metric): name
            for label, known in measured(self.topic, table).items()
            for metric, name in zip(grid.by_label[label], known, strict=True)
        }
        values, draws = np.full(len(names), np.nan), {}
        spread = np.full(len(names), np.nan)  # between the five folds of the split
        for row, (system, label, metric) in enumerate(names):
            name = short[label, metric]
            if drawn := self._values.get((edition, table, system, label, name)):
                values[row] = drawn.value
                spread[row] = drawn.spread * np.sqrt(5)
                if kept is None or (label, metric) in kept:
                    draws[row] = drawn.draws
        tests = [
            (label, _metric(grid, label, "P"), unit, *sorted(pair), p)
            for (label, unit, pair), p in self._p.items()
            if table == "systems"
        ]
        return Results(
            key="planted",
            dataset=record,
            grid=grid,
            values=frame.assign(value=values, low=np.nan, high=np.nan, fold_sd=spread),
            replicates=draws,
            tests=pd.concat(
                [
                    pd.DataFrame(
                        tests, columns=["label", "metric", "unit", "a", "b", "wilcoxon_p"]
                    ),
                    *(self._all_pairs(grid) if table == "systems" else ()),
                ]
            ),
            target_sets=pd.DataFrame({"label": list(grid.parsed), "sets": N_TESTED}),
        )

    def _all_pairs(self, grid: Grid) -> Iterator[pd.DataFrame]:
        """Tests of all pairs over 1,000 users, as wide as their spread and so many significant."""
        pairs = list(combinations([system.name for system in grid.systems], 2))
        for name, spread in self._tested.items():
            if not name.startswith("spread of "):
                continue
            term = name.removeprefix("spread of ")
            metric, label = term.removesuffix("]").split("[")
            texts = [str(each) for each in grid.parsed_metrics[label]]
            half = spread * stats.t.ppf(0.975, N_TESTED - 1) / np.sqrt(N_TESTED)
            n_different = int(self._tested[f"different in {term}"])
            yield pd.DataFrame(pairs, columns=["a", "b"]).assign(
                label=label,
                metric=metric if metric in texts else _metric(grid, label, metric),
                unit="user",
                n=N_TESTED,
                difference=0.0,
                low=-half,
                high=half,
                wilcoxon_p_holm=[0.04 if n < n_different else 0.06 for n in range(len(pairs))],
            )


@dataclass(frozen=True)
class Row:
    """What a part must come to in a changed world.

    Attributes
    ----------
    claim
        Id.
    part
        Beginning of the part's sentence; empty where the row is about the claim alone.
    changes
        Of the base world; empty for the base world itself.
    part_verdict
        ``holds``, ``refuted``, ``open``, ``not testable: REASON``, or ``beside VALUE`` for what
        decides nothing.
    claim_verdict
        Of the claim by all its parts alike, core or not; empty where the row says nothing about it.
    corrected
        Of its corrected form, likewise.
    turn
        The system whose turn it is.
    """

    claim: str
    part: str
    changes: str
    part_verdict: str
    claim_verdict: str = ""
    corrected: str = ""
    turn: str = ""

    def __str__(self) -> str:
        return f"{self.claim}: {self.part}: {self.changes or 'as it stands'}"

    def is_about(self, record: Record, which: str = "{which}") -> bool:
        """Whether a record makes the part, of a system where one has a part of its own."""
        if self.part.startswith("check "):
            return self.part == f"check {record.check}"
        return bool(self.part) and any(
            record.finds.replace("{which}", name).startswith(self.part)
            for name in ("{which}", which)
        )


class _EachKeyOnce(getattr(yaml, "CBaseLoader", yaml.BaseLoader)):  # in C: ten times faster
    """Reads every value as text, and refuses a row that stands twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict:
        names = [self.construct_object(key, deep=True) for key, _ in node.value]
        twice = {name for name in names if names.count(name) > 1}
        assert not twice, f"{twice} stand twice"
        return super().construct_mapping(node, deep)


@cache
def _text(topic: str) -> dict:
    file = FOLDER / f"{topic.replace(' ', '_')}.yaml"
    return yaml.load(file.read_text(encoding="utf-8"), _EachKeyOnce)  # noqa: S506


@cache
def base_world(topic: str) -> World:
    """The world of a topic."""
    return World(topic, _text(topic)["world"], _text(topic)["checks"])


@cache
def world_of(changes: str, claim: str) -> World:
    """The world after the changes of a row."""
    base = base_world(topic_of(claim))
    return base.changed(changes, claim) if changes else base


@cache
def rows() -> tuple[Row, ...]:
    """All rows of all topics, those with ``of each of`` one by one."""
    found = [
        row
        for topic in PLANTED
        for claim, parts in _text(topic)["verdicts"].items()
        for part, table in parts.items()
        for changes, verdicts in table.items()
        for row in _expanded(claim, part, changes, [v.strip() for v in verdicts.split(";")])
    ]
    found += [
        Row(claim, f"check {name}", f"{where}check {name} = {worst}", verdict)
        for topic in PLANTED
        for claim, checks in _text(topic)["checks"].items()
        for name, sides in checks.items()
        for where in [f"data set = {sides['data set']}; " if "data set" in sides else ""]
        for verdict, values in sides.items()
        if verdict != "data set"
        for worst in values
    ]
    return tuple(found)


def _expanded(claim: str, part: str, changes: str, verdicts: Sequence[str]) -> Iterator[Row]:
    sets = base_world(topic_of(claim)).sets
    part, changes = (
        "" if part == "the claim" else part,
        "" if changes == "as it stands" else changes,
    )
    if not part:
        verdicts = ["", *verdicts]
    turns = re.search(r"each of (\w+)", changes)
    if not turns:
        names = {name for members in sets.values() for name in members}
        named = [name for name in names if part.startswith(f"For {name}, ")]
        yield Row(claim, part, changes, *(*verdicts, "", "")[:3], turn="".join(named))
        return
    for system in sets[turns[1]]:
        own, changed = part.replace("{which}", system), changes.replace(turns[0], system)
        yield Row(claim, own, changed, *verdicts, turn=system)


_dataset_info = cache(judging.dataset_info)  # which reads the registry anew each time


def verdict_of(row: Row, criterion: ClaimCriterion) -> Verdict:
    """Judge the world of a row as a chapter is judged, by a criterion as if it were locked.

    A row that says nothing about its claim is judged by the records that it is about alone.
    """
    if not row.claim_verdict:
        own = tuple(each for each in criterion.records if row.is_about(each, row.turn))
        criterion = dataclasses.replace(criterion, records=own or criterion.records)
    world = world_of(row.changes, row.claim)
    (claim,) = (each for each in claims() if each.id == row.claim)
    with (
        mock.patch.object(judging, "locked_criteria", return_value={row.claim: criterion}),
        mock.patch.object(judging, "load_chapter", world.load),
        mock.patch.object(judging, "dataset_info", _dataset_info),
    ):
        return judge(claim, world.results())


def fault(row: Row, verdict: Verdict) -> str:
    """Say what is not as a row expects; empty if all is."""
    if row.claim_verdict and row.claim_verdict != verdict.strict:
        return f"{row}: the claim is {verdict.strict!r}, expected {row.claim_verdict!r}"
    if row.corrected and row.corrected != verdict.strict_corrected:
        return f"{row}: corrected, it is {verdict.strict_corrected!r}, expected {row.corrected!r}"
    return fault_of_part(row, verdict)


def fault_of_part(row: Row, verdict: Verdict) -> str:
    """Say the same about the part alone."""
    if not row.part:
        return ""
    meant = [part for part in verdict.parts if row.is_about(part.record, part.which)]
    if not meant:
        found = [part.record.finds for part in verdict.parts]
        return f"{row}: no part begins so; there are {found} ({verdict.verdict}, {verdict.reason})"
    if len({part.record for part in meant}) > 1:
        return f"{row}: {len(meant)} parts begin so"
    for part in meant:
        if part.lacks:
            found = f"not testable: {part.lacks}"
        elif part.record.decides:
            found = part.verdict
        else:
            found = f"beside {written(part.value, part.record.unit)}"
        if found != row.part_verdict:
            told = f"{part.sentence} {part.interval} is {found!r}"
            return f"{row}: {told}, expected {row.part_verdict!r}"
    return ""
