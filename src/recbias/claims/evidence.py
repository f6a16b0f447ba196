"""What a criterion reads: a chapter's results, and where its parts come from in them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase

import numpy as np

from recbias.claims.checks import Check, Checks
from recbias.claims.parts import ChapterResults, Reading
from recbias.claims.records import Record, Term
from recbias.claims.seeds import few_seeds
from recbias.errors import ConfigError, StoreError
from recbias.experiment import Results
from recbias.grid import Grid
from recbias.makers import Table
from recbias.results import Quantity, StoredResult
from recbias.store import digest

__all__ = ["Evidence", "NotComputed", "axis_labels"]


class NotComputed(Exception):  # noqa: N818 - an outcome, not an error
    """Raised where a criterion asks for what no results hold; carries what is missing."""


def axis_labels(grid: Grid, axis: str) -> dict[int, str]:
    """Name the labels of a grid along an axis, in its order.

    Parameters
    ----------
    grid
        With labels that differ in the share of removed test ratings, in the size of 1R target
        sets, or both.
    axis
        ``"removed"`` (percent of the test ratings) or ``"size"`` (of the target sets, with all test
        ratings).

    Returns
    -------
    dict of int to str
        The first label of each value, ascending.
    """
    found: dict[int, str] = {}
    for label, protocol in grid.parsed.items():
        removed, sampled = grid.test(label).removed, protocol.rule.n_sampled
        if axis == "removed":
            found.setdefault(removed, label)
        elif not removed and sampled is not None:
            found.setdefault(sampled + 1, label)
    return dict(sorted(found.items()))


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
    """

    def __init__(
        self,
        results: ChapterResults,
        editions: Callable[[str], ChapterResults] | None = None,
        rows: slice | None = slice(None),
    ) -> None:
        self._results, self._editions, self._rows = results, editions, rows
        self._read: dict[Reading, None] = {}
        self._systems: dict[tuple[Results, str], None] = {}

    def afresh(self) -> Evidence:
        """Return the same without notes."""
        return Evidence(self._results, self._editions, self._rows)

    def half(self, number: int) -> Evidence:
        """Return the same with the first (0) or second (1) half of the replicates."""
        rows = None if self._rows is None else slice(number, None, 2)
        return Evidence(self._results, self._editions, rows)

    def exact(self) -> Evidence:
        """Return the same with values that stand for themselves: for identities between them."""
        return Evidence(self._results, self._editions, None)

    @property
    def read(self) -> tuple[Reading, ...]:
        """What was read so far, each once."""
        return tuple(self._read)

    def few_seeds(self) -> list[str]:
        """Name the systems that were read with random training and too few seeds for an order."""
        return sorted({name for table, name in self._systems if name in few_seeds(table)})

    def table(self, name: str, edition: str = "") -> Results:
        """Return one of the chapter's results, which has to be of a grid.

        Raises
        ------
        NotComputed
            If there is none of that name.
        ConfigError
            If it is of another kind.
        """
        found = self._stored(name, edition)
        if not isinstance(found, Results):
            raise ConfigError(f"{name!r}: {found.kind} is stored under this name, expected a grid")
        return found

    def made(self, name: str, edition: str = "") -> Table:
        """Return a table that a function made; errors as of `table`."""
        found = self._stored(name, edition)
        if not isinstance(found, Table):
            raise ConfigError(f"{name!r}: {found.kind} is stored under this name, expected a table")
        return found

    def _stored(self, name: str, edition: str = "") -> StoredResult:
        found = self._of_edition(edition).get(name)
        if found is None:
            raise NotComputed(f"{name}{f' on {edition}' if edition else ''}")
        return found

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
        found = self._stored("checks")
        if not isinstance(found, Checks):
            raise ConfigError(f"'checks': {found.kind} is stored under this name, expected checks")
        return found

    def check(self, claim: str, name: str) -> Check:
        """Return a check; NotComputed if it was not made."""
        checks = self.checks
        try:
            found = checks[claim, name]
        except ConfigError as error:
            raise NotComputed(f"the check {name} of {claim}") from error
        self.note("checks", found.what, found.worst)
        return found

    def statistic(self, name: str) -> float:
        """Return a number that follows from the data; NotComputed if it was not made."""
        if name not in self.checks.statistics:
            raise NotComputed(f"the statistic {name}")
        value = float(self.checks.statistics[name])
        self.note("checks", name, value)
        return value

    def quantity(self, term: Term, *, system: str = "", label: str = "") -> Quantity:
        """Return what a term names, for a system and label if it leaves them open.

        Raises
        ------
        NotComputed
            If it was not measured.
        """
        edition = term.edition or ""
        table = self.table(term.table, edition)
        system, label = term.system or system, label or term.label
        try:
            metric = self.metric(term, label)
            found = table[system, label, metric]
        except (ConfigError, KeyError) as error:
            raise NotComputed(f"{term.metric} of {system} under {label} in {term.table}") from error
        self.note(term.table, f"{metric} of {system} under {label}", found.value, edition)
        self._systems[table, system] = None
        if self._rows is None:
            return Quantity(found.value, np.full(2, found.value))
        if found.replicates is None:
            return found
        drawn = found.replicates
        if edition:  # another dataset's users: its replicates pair with nobody's here
            drawn = np.roll(drawn, 1 + int(digest(edition)[:8], 16) % (len(drawn) - 1))
        return Quantity(found.value, drawn[self._rows], found.method, found.limits)

    def metric(self, term: Term, label: str = "") -> str:
        """Write out a term's metric as it was measured."""
        if "@" in term.metric or "|" in term.metric:
            return term.metric
        table = self.table(term.table, term.edition or "")
        return str(table.metric(label or term.label, term.metric))

    def systems(self, record: Record) -> list[str]:
        """Name the systems that a record goes over, in its order."""
        found = self.expand(record.systems, record.of[0])
        return [name for name in found if name not in record.but]

    def expand(self, names: Sequence[str], term: Term) -> list[str]:
        """Replace ``all`` and ``*`` patterns by the systems that are meant, in the order given.

        Raises
        ------
        NotComputed
            If one of the names fits no system of the term's table.
        """
        table = self.table(term.table, term.edition or "")
        found: dict[str, None] = {}
        for name in names:
            pattern = "*" if name == "all" else name
            fitting = [s for s in table.systems if s == pattern or fnmatchcase(s, pattern)]
            if not fitting:
                raise NotComputed(f"the system {name} in {term.table}")
            found.update(dict.fromkeys(fitting))
            self._systems.update(dict.fromkeys((table, each) for each in fitting))
        return list(found)

    def note(self, table: str, what: str, value: float, edition: str = "") -> None:
        """Note that a number was read."""
        self._read[Reading(edition, table, what, value)] = None
