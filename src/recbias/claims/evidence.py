"""What a criterion reads: a chapter's results, and where its parts come from in them."""

from __future__ import annotations

import dataclasses
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt
import pandas as pd

from recbias.claims.checks import IDENTITIES, Check, Checks
from recbias.claims.expressions import Term
from recbias.claims.ledger import NEEDS
from recbias.claims.parts import ChapterResults, Reading
from recbias.errors import ConfigError, StoreError, unknown_name
from recbias.experiment.grid import Grid
from recbias.experiment.makers import Table
from recbias.experiment.results import SIMULATIONS, Quantity, StoredResult
from recbias.experiment.run import Results
from recbias.experiment.store import digest
from recbias.experiment.training_seeds import few_seeds

LEAST_POOL, LEAST_RUNS = 50, 30
"""Of fewer items to choose from, or fewer relevant ones, no ranking is judged."""

_NEED_ROOM = frozenset({"AR long", "1R long"})
"""Labels that are not measured where lists would be longer than what there is to rank."""


View = Callable[[Table], tuple[Any, ...]]
"""What a chapter derives from a table: index columns, rows and, if any, replicates of ``value``."""

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

_DRAWS = ("number", "fold", "seed")
"""Index columns that number independent draws."""

_COMPARED: Mapping[str, Callable[[Any, float], Any]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}


def _shifted(drawn: FloatArray, edition: str) -> FloatArray:
    """Turn the replicates of another data set, whose users pair with nobody's here."""
    if not edition or len(drawn) < 2:
        return drawn
    return np.roll(drawn, 1 + int(digest(edition)[:8], 16) % (len(drawn) - 1))


def _conditions(label: str, free: Sequence[str], columns: Sequence[str]) -> dict[str, str]:
    """Read the label of a term: what each column has to be."""
    by_name = "|".join(sorted(map(re.escape, columns), key=len, reverse=True))
    if re.match(rf"({by_name})(=|[<>])", label):
        parts = re.split(rf", (?=(?:{by_name})(?:=|[<>]))", label)
        matches = [re.match(rf"({by_name})=?(?=.)", part) for part in parts]
        if len({match[1] for match in matches if match}) < len(parts):
            raise ConfigError(f"[{label}]: says of one column twice what it is")
        return {m[1]: part[m.end() :] for m, part in zip(matches, parts, strict=True) if m}
    texts = label.split(", ") if len(free) > 1 else [label]
    if len(texts) > len(free):
        raise ConfigError(f"[{label}]: {len(texts)} values for {', '.join(free) or 'no column'}")
    return dict(zip(free, texts, strict=False))


def _is_meant(values: pd.Series[Any], text: str) -> pd.Series[bool]:
    """Tell which values a condition means."""
    if text == "*":
        return values.notna()
    if not pd.api.types.is_numeric_dtype(values):
        return values.astype(str) == text
    for sign, holds in _COMPARED.items():
        if text.startswith(sign):
            return holds(values, float(text.removeprefix(sign)))
    try:
        return values == float(text)
    except ValueError:
        return values != values


class NotComputed(Exception):  # noqa: N818 - an outcome, not an error
    """Raised where a criterion asks for what no results hold; carries what is missing."""


class NotTestable(Exception):  # noqa: N818 - an outcome, not an error
    """Raised where results are there and too small; carries a reason of the closed list."""


def axis_labels(grid: Grid, axis: str, like: str = "*") -> dict[int, str]:
    """Name the labels of a grid along an axis, in its order."""
    labels: dict[int, str] = {}
    preferred = [] if like == "*" else [like]
    for label in (*preferred, *grid.parsed):
        protocol = grid.parsed[label]
        if preferred and protocol != grid.parsed[like]:
            continue
        removed, sampled = grid.test(label).removed, protocol.rule.n_sampled
        if axis in ("removed", "kept"):
            labels.setdefault(removed if axis == "removed" else 100 - removed, label)
        elif not removed and sampled is not None:
            labels.setdefault(sampled + 1, label)
    return dict(sorted(labels.items()))


def axis_terms(grid: Grid, axis: str, term: Term) -> Mapping[float, Term]:
    """Follow a term along an axis."""
    if axis == "gamma":
        return _over_gamma(grid, term)
    if term.label == "*":
        labels = axis_labels(grid, axis)
        return {at: dataclasses.replace(term, label=label) for at, label in labels.items()}
    if term.label not in grid.parsed:
        raise NotComputed(f"{term.label} in {term.table}")
    if axis == "size":
        name = term.metric.partition("@")[0]
        sizes = {
            dict(m.given)["t"]: str(m)
            for m in grid.parsed_metrics[term.label]
            if m.name == name and "t" in dict(m.given)
        }
        return {at: dataclasses.replace(term, metric=sizes[at]) for at in sorted(sizes)}
    labels = axis_labels(grid, axis, term.label)
    return {at: dataclasses.replace(term, label=label) for at, label in labels.items()}


def _over_gamma(grid: Grid, term: Term) -> dict[float, Term]:
    terms = {
        float(dict(metric.arguments)["gamma"]): dataclasses.replace(term, metric=str(metric))
        for metric in grid.parsed_metrics.get(term.label, ())
        if metric.name == term.metric and "gamma" in dict(metric.arguments)
    }
    if not terms:
        raise NotComputed(f"{term} in {term.table}")
    return dict(sorted(terms.items()))


_SETS: WeakKeyDictionary[Results, dict[str, float]] = WeakKeyDictionary()


def _sets_of(table: Results) -> dict[str, float]:
    """Give the number of target sets under each label; asked of every criterion."""
    if table not in _SETS:
        sets = table.target_sets
        _SETS[table] = dict(zip(map(str, sets["label"]), map(float, sets["sets"]), strict=True))
    return _SETS[table]


_VIEWED: WeakKeyDictionary[Table, dict[View, Table]] = WeakKeyDictionary()


def _viewed(view: View, table: Table) -> Table:
    """Derive something from a table, once: many records ask for it, and each for both halves."""
    derived = _VIEWED.setdefault(table, {})
    if view not in derived:
        index, frame, *drawn = view(table)
        frame = frame.reset_index(drop=True)  # replicates are by the place of a row
        replicates = drawn[0] if drawn else None
        derived[view] = dataclasses.replace(table, index=index, frame=frame, replicates=replicates)
    return derived[view]


_MEANT: WeakKeyDictionary[Table, dict[tuple[str, str], BoolArray]] = WeakKeyDictionary()


def _meant(table: Table, column: str, text: str) -> BoolArray:
    """Tell which rows of a table a condition means, once, as `_viewed`."""
    known = _MEANT.setdefault(table, {})
    if (column, text) not in known:
        found = _is_meant(table.frame[column], text)
        known[column, text] = found.to_numpy(dtype=np.bool_, na_value=False)
    return known[column, text]


_MEASURED: WeakKeyDictionary[Table, dict[str, list[str]]] = WeakKeyDictionary()


def _measured(table: Table, metric: str) -> list[str]:
    """Name the index columns that have a metric among their values, once, as `_viewed`."""
    known = _MEASURED.setdefault(table, {})
    if metric not in known:
        known[metric] = [c for c in table.index if (table.frame[c] == metric).any()]
    return known[metric]


def _label(table: Results, label: str) -> str:
    """Name the protocol that a label means: ``*`` is the only one of its grid."""
    labels = list(table.grid.parsed)
    return labels[0] if label == "*" and len(labels) == 1 else label


class Evidence:
    """A chapter's results as criteria read them, keeping note of what was read.

    Parameters
    ----------
    results
        Results of the edition that is judged, by name.
    editions
        Gives the results of the same chapter on another data set.
    rows
        Which replicates are looked at; all by default. None = none: each value stands for itself,
        without an interval.
    views
        What the chapter derives from tables, by ``TABLE.NAME``: index columns and rows, and
        replicates if there are any.
    """

    def __init__(
        self,
        results: ChapterResults,
        editions: Callable[[str], ChapterResults] | None = None,
        rows: slice | None = slice(None),
        views: Mapping[str, View] | None = None,
    ) -> None:
        self._results, self._editions, self._rows = results, editions, rows
        self._views = views or {}
        self._read: dict[Reading, None] = {}
        self._systems: dict[tuple[Results, str], None] = {}
        self._has_drawn = False

    def afresh(self) -> Evidence:
        """Return the same without notes."""
        return self._with_rows(self._rows)

    def half(self, number: int) -> Evidence:
        """Return the same with the first (0) or second (1) half of the replicates."""
        rows = None if self._rows is None else slice(number, None, 2)
        return self._with_rows(rows)

    def exact(self) -> Evidence:
        """Return the same with values that stand for themselves: for identities between them."""
        return self._with_rows(None)

    def _with_rows(self, rows: slice | None) -> Evidence:
        return Evidence(self._results, self._editions, rows, self._views)

    @property
    def has_drawn(self) -> bool:
        """Whether replicates were read so far: what has none is the same by any half of them."""
        return self._has_drawn

    @property
    def read(self) -> tuple[Reading, ...]:
        """What was read so far, each once."""
        return tuple(self._read)

    def few_seeds(self) -> list[str]:
        """Name the systems that were read with random training and too few seeds for an order."""
        few = {table: few_seeds(table) for table in {table for table, _ in self._systems}}
        return sorted({name for table, name in self._systems if name in few[table]})

    def table(self, name: str, edition: str = "") -> Results:
        """Return one of the chapter's results, which has to be of a grid."""
        result = self.stored(name, edition)
        if not isinstance(result, Results):
            raise ConfigError(f"{name!r}: {result.kind} is stored under this name, expected a grid")
        return result

    def made(self, name: str, edition: str = "") -> Table:
        """Return a table that a function made; errors as of `table`."""
        result = self.stored(name, edition)
        if not isinstance(result, Table):
            raise ConfigError(
                f"{name!r}: {result.kind} is stored under this name, expected a table"
            )
        return result

    def stored(self, name: str, edition: str = "") -> StoredResult:
        """Return a result of any kind; NotComputed if there is none."""
        result = self._of_edition(edition).get(name)
        if result is None:
            raise NotComputed(f"{name}{f' on {edition}' if edition else ''}")
        return result

    def _of_edition(self, edition: str) -> ChapterResults:
        if not edition:
            return self._results
        try:
            return self._editions(edition) if self._editions else {}
        except StoreError as error:
            raise NotComputed(f"those of {edition} ({str(error).splitlines()[0]})") from error

    @property
    def checks(self) -> Checks:
        """The chapter's checks; errors as of `table`."""
        return self._checks("checks")

    def _checks(self, stored: str, edition: str = "") -> Checks:
        result = self.stored(stored, edition)
        if not isinstance(result, Checks):
            raise ConfigError(
                f"{stored!r}: {result.kind} is stored under this name, expected checks"
            )
        return result

    def check(self, claim: str, name: str) -> Check:
        """Return a check: of the data, or else of what holds on any, which worlds were asked once.

        NotComputed if it was made nowhere.
        """
        for stored, edition in (("checks", ""), (IDENTITIES, SIMULATIONS)):
            if stored not in self._of_edition(edition):
                continue
            for check in self._checks(stored, edition).rows:
                if (check.claim, check.name) == (claim, name):
                    self.note(stored, check.what, check.worst, edition)
                    return check
        self.stored("checks")  # if they are missing altogether, that is what is said
        raise NotComputed(f"the check {name} of {claim}")

    def statistic(self, name: str) -> float:
        """Return a number that follows from the data; NotComputed if it was not made."""
        if name not in self.checks.statistics:
            raise NotComputed(f"the statistic {name}")
        value = float(self.checks.statistics[name])
        self.note("checks", name, value)
        return value

    def quantity(self, term: Term, *, system: str = "", label: str = "") -> Quantity:
        """Return what a term names, for a system and label if it leaves them open."""
        edition = term.edition or ""
        table = self.table(term.table, edition)
        system, label = term.system or system, _label(table, label or term.label)
        if label in _NEED_ROOM - table.grid.parsed.keys():
            raise NotTestable(NEEDS["pool"])
        try:
            metric = self.metric(term, label)
            quantity = table[system, label, metric]
        except (ConfigError, KeyError) as error:
            if "(linear)" in term.metric and label in table.grid.parsed:
                raise NotTestable(NEEDS["stars"]) from error  # ratings below 0 are no gains
            raise NotComputed(f"{term.metric} of {system} under {label} in {term.table}") from error
        self.note(term.table, f"{metric} of {system} under {label}", quantity.value, edition)
        self._systems[table, system] = None
        if self._rows is None:
            return Quantity(quantity.value, np.full(2, quantity.value))
        if quantity.replicates is None:
            return quantity
        self._has_drawn, drawn = True, quantity.replicates
        drawn = _shifted(drawn, edition)
        return Quantity(quantity.value, drawn[self._rows], quantity.method, quantity.limits)

    def of_table(self, name: str, row: Mapping[str, object], edition: str = "") -> Quantity:
        """Return a row of a table that a function made, paired with what is measured."""
        table = self.made(name, edition)
        try:
            quantity = table[row]
        except ConfigError as error:
            raise NotComputed(f"{', '.join(map(str, row.values()))} in {name}") from error
        self.note(name, ", ".join(map(str, row.values())), quantity.value, edition)
        if self._rows is None or quantity.replicates is None:
            return Quantity(quantity.value, np.full(2 if self._rows is None else 1, quantity.value))
        self._has_drawn = True
        return Quantity(quantity.value, quantity.replicates[self._rows])

    def metric(self, term: Term, label: str = "") -> str:
        """Write out a term's metric as it was measured."""
        bare, bar, condition = term.metric.partition("|")
        name, _, cutoff = bare.partition("@")
        if cutoff not in ("n", "short") and (bar or cutoff):
            return term.metric
        table = self.table(term.table, term.edition or "")
        label = _label(table, label or term.label)
        if term.metric in table.grid.by_label[label]:
            return term.metric
        if not cutoff:
            return str(table.metric(label, name))
        # SR@n is any metric SR; with several gammas, SR(gamma=1)@n says which.
        measured = table.named(label, name)
        # Without a condition P@n is P@10, where P@10|judged stands beside it.
        same = [m for m in measured if str(m).partition("|")[2] == condition]
        lists = {m.cutoff: m for m in (same if bar else same or measured)}
        lengths = [length for length in lists if length is not None]
        if not lengths:
            raise ConfigError(f"no metric {name} of lists was measured under {label!r}")
        return str(lists[max(lengths) if cutoff == "n" else min(lengths)])

    def expand(self, names: Sequence[str], term: Term) -> list[str]:
        """Replace ``all`` and ``*`` patterns by the systems that are meant, in the order given."""
        table = self.stored(term.stored, term.edition or "")
        if isinstance(table, Results):
            known = list(table.systems)
        else:
            known = self.made(term.stored, term.edition or "").frame["system"].unique().tolist()
        systems: dict[str, None] = {}
        for name in names:
            pattern = "*" if name == "all" else name
            fitting = [s for s in known if s == pattern or fnmatchcase(s, pattern)]
            if not fitting:
                raise NotComputed(f"the system {name} in {term.table}")
            systems.update(dict.fromkeys(fitting))
            if isinstance(table, Results):
                self._systems.update(dict.fromkeys((table, system) for system in fitting))
        return list(systems)

    def rows(self, term: Term, system: str = "") -> Any:
        """Return what a term names in a table that a function made.

        Its label names rows: the values of the index columns in their order, or ``name=value`` of
        any columns, separated by commas. A value may be ``*`` (any), ``first``, or ``>=0.8`` and
        its like. Not among them are the column of the systems, the one that says what is measured
        if the term's metric is a value of it, and the number of independent draws.

        Returns
        -------
        Quantity, Series or dict
            A quantity; a series by the number of the draw where rows are independent draws that the
            label does not choose from; by the values of columns that it leaves open, several.
        """
        name = term.table
        table = self.made(term.stored, term.edition or "")
        if name != term.stored:
            if name not in self._views:
                raise unknown_name("table", name, self._views)
            table = _viewed(self._views[name], table)
        rows: Any = table.frame
        conditions: dict[str, str] = {}
        column = term.metric
        if column not in rows or column in table.index:
            measured = _measured(table, term.metric)
            if not measured or "value" not in rows:
                raise NotComputed(str(term))
            conditions[measured[0]], column = term.metric, "value"
        if system or term.system:
            conditions["system"] = system or str(term.system)
        free = [c for c in table.index if c not in {*conditions, "system", *_DRAWS}]
        conditions |= _conditions(term.label, free, list(rows))
        open_columns = []
        chosen = np.ones(len(rows), dtype=np.bool_)
        for where, text in conditions.items():
            if where not in rows:
                raise NotComputed(str(term))
            if where in table.index and (text == "*" or text.startswith(tuple(_COMPARED))):
                open_columns.append(where)
            if text == "first":  # of those that are left
                chosen &= (rows[where] == rows[where][chosen].iloc[0]).to_numpy()
            else:
                chosen &= _meant(table, where, text)
            if not chosen.any():
                raise NotComputed(str(term))
        rows = rows[chosen]
        draws = [c for c in _DRAWS if c in table.index and c not in conditions]
        if not open_columns:
            return self._of_rows(term, table, rows, column, draws)
        by: Any = open_columns if len(open_columns) > 1 else open_columns[0]
        return {
            key: self._of_rows(term, table, group, column, draws, key)
            for key, group in rows.groupby(by, sort=False)
        }

    def _of_rows(
        self, term: Term, table: Table, rows: pd.DataFrame, column: str,
        draws: Sequence[str], key: Any = None,
    ) -> Any:  # fmt: skip
        edition = term.edition or ""
        what = str(term) if key is None else f"{term} at {key}"
        if draws:
            (number,) = draws
            if rows[number].duplicated().any():
                raise ConfigError(f"{term}: several rows of one {number}; name more of the index")
            drawn = rows.set_index(number)[column].astype(float).sort_index()
            self.note(term.table, what, float(drawn.mean()), edition)
            return drawn
        if len(rows) != 1:
            raise ConfigError(
                f"{term}: {len(rows)} rows of the table; name more of {', '.join(table.index)}"
            )
        value = float(rows[column].iloc[0])
        self.note(term.table, what, value, edition)
        if self._rows is None:
            return Quantity(value, np.full(2, value))
        if column == "value" and table.replicates is not None:
            self._has_drawn = True
            shifted = _shifted(table.replicates[int(rows.index[0])], edition)
            return Quantity(value, shifted[self._rows])
        stem = "" if column == "value" else f"{column}_"
        if f"{stem}low" in rows:
            low, high = (float(rows[f"{stem}{end}"].iloc[0]) for end in ("low", "high"))
            cases = int(rows["cases"].iloc[0]) if "cases" in rows else None
            return Quantity(value, None, limits=(low, high), cases=cases)
        return Quantity(value, np.full(1, value))

    def require_pool(self, terms: Sequence[Term]) -> None:
        """Refuse target sets that draw on too little to mean anything."""
        for term in terms:
            result = self.stored(term.stored, term.edition or "")
            if isinstance(result, Results) and self._is_small(result, term.label):
                raise NotTestable(NEEDS["pool"])

    @staticmethod
    def _is_small(table: Results, label: str) -> bool:
        for stored_label in (label, *table.grid.parsed):
            for metric in table.grid.parsed_metrics[stored_label]:
                if metric.name == "rho" and "t" in dict(metric.given):
                    rho = table[table.systems[0], stored_label, str(metric)].value
                    runs = _sets_of(table)[stored_label]
                    # Where nothing was ranked it is 0, or no number.
                    return not (0 < rho * (LEAST_POOL + 1) <= 1 and runs >= LEAST_RUNS)
        return False

    def note(self, table: str, what: str, value: float, edition: str = "") -> None:
        """Note that a number was read."""
        self._read[Reading(edition, table, what, value)] = None


def misnamed(term: Term, editions: Iterable[ChapterResults], systems: Sequence[str] = ()) -> str:
    """Say which part of a term no results have, with the nearest name; empty if all are known.

    Parameters
    ----------
    term
        Of an expression.
    editions
        Results of a chapter on several data sets, of which one has to have it.
    systems
        Those of its record, which a term without a system goes over.
    """
    tables = [found[term.stored] for found in editions if term.stored in found]
    if not tables:
        known = sorted({name for found in editions for name in found})
        return str(unknown_name("table", term.stored, known))
    told = ""
    for table in tables:
        told = _misnamed_in(table, term, systems)
        if not told:
            break
    return told


def _misnamed_in(table: StoredResult, term: Term, systems: Sequence[str]) -> str:
    evidence = Evidence({term.stored: table})
    here = dataclasses.replace(term, edition=None)
    if isinstance(table, Results):
        labels = list(table.grid.parsed)
        try:
            steps = axis_terms(table.grid, term.axis, here) if term.axis else {0: here}
        except NotComputed:
            steps = {0: here}
        step = next(iter(steps.values()), here)
        label = _label(table, step.label)
        if label not in labels:
            return str(unknown_name("label", label, labels))
        try:
            evidence.metric(step, label)
        except (ConfigError, KeyError):
            known = map(str, table.grid.parsed_metrics[label])
            metrics = sorted({metric.partition("@")[0] for metric in known})
            return str(unknown_name("metric", term.metric.partition("@")[0], metrics))
        for name in (term.system,) if term.system else systems:
            try:
                evidence.expand((name,), here)
            except NotComputed:
                return str(unknown_name("system", name, table.systems))
    elif isinstance(table, Table) and term.table == term.stored:
        try:
            by_system = "system" in table.index and not term.system
            evidence.rows(here, systems[0] if systems and by_system else "")
        except ConfigError as error:
            return str(error)
        except NotComputed:
            index = [str(value) for name in table.index for value in table.frame[name].unique()]
            columns = [str(c) for c in table.frame if c not in table.index]
            if term.metric not in {*index, *columns}:
                return str(unknown_name("column", term.metric, [*columns, *index][:40]))
            return str(unknown_name("row", term.label, index[:40]))
    return ""
