"""The parts of a verdict: an estimate with its interval, and the region that a claim allows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from recbias.claims.checks import Checks
from recbias.errors import ConfigError, unknown_name
from recbias.experiment import Results
from recbias.results import Quantity, StoredResult

__all__ = [
    "NOT_TESTABLE",
    "ChapterResults",
    "Criterion",
    "NotTestable",
    "Part",
    "Superseded",
    "checked",
    "combine",
    "grid_results",
]

NOT_TESTABLE = (
    "no timestamps",
    "merged stars",
    "no negatives",
    "no unbiased part",
    "dataset not here",
    "value lost",
)
"""The only reasons for which a claim may be declared not testable."""

_ROUNDING = 1e-12

ChapterResults = Mapping[str, StoredResult]
"""A chapter's results by name, of any kind."""


@dataclass(frozen=True)
class Part:
    """One comparison that a claim makes.

    Parameters
    ----------
    name
        What is compared.
    estimate
        The measured quantity, with replicates if it is uncertain, or a number that is exact.
    least, most
        The region that the claim allows, ends included unless ``strict``.
    strict
        Whether the ends are left out.

    Examples
    --------
    >>> Part("worst deviation", 0.0, most=1e-12).verdict
    'yes'
    """

    name: str
    estimate: Quantity | float
    least: float = -math.inf
    most: float = math.inf
    strict: bool = False

    @property
    def value(self) -> float:
        """The point estimate."""
        return self.estimate.value if isinstance(self.estimate, Quantity) else float(self.estimate)

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval; of no width for an exact number."""
        if isinstance(self.estimate, Quantity):
            return self.estimate.interval
        return self.value, self.value

    @property
    def verdict(self) -> str:
        """``yes`` or ``no`` if the whole interval is inside or outside the region."""
        low, high = self.interval
        if math.isnan(low) or math.isnan(high):
            return "undecided"
        if self.strict:
            inside, outside = (
                self.least < low and high < self.most,
                (high <= self.least or low >= self.most),
            )
        else:
            inside, outside = (
                self.least <= low and high <= self.most,
                (high < self.least or low > self.most),
            )
        return "yes" if inside else "no" if outside else "undecided"

    @property
    def region(self) -> str:
        """The allowed region as a reader writes it."""
        less, more = ("<", ">") if self.strict else ("≤", "≥")
        if math.isinf(self.least):
            return f"{less} {self.most:.4g}"
        if math.isinf(self.most):
            return f"{more} {self.least:.4g}"
        return f"{self.least:.4g} to {self.most:.4g}"


class NotTestable(Exception):  # noqa: N818 - an outcome, not an error
    """Raised by a criterion that this dataset cannot decide; carries one of the closed reasons."""

    def __init__(self, reason: str) -> None:
        if reason not in NOT_TESTABLE:
            raise unknown_name("reason", reason, NOT_TESTABLE)
        super().__init__(reason)


Criterion = Callable[[ChapterResults], Sequence[Part]]


@dataclass(frozen=True)
class Superseded:
    """A criterion that was replaced after its first result; its verdict stays on the page.

    Attributes
    ----------
    criterion
        The old one.
    words
        What it asked.
    until
        Date of the change.
    reason
        Why it was replaced.
    """

    criterion: Criterion
    words: str
    until: str
    reason: str


def combine(parts: Iterable[Part]) -> str:
    """Join the verdicts of a claim's parts: the common one, or ``partly`` where they differ."""
    found = {part.verdict for part in parts}
    return found.pop() if len(found) == 1 else "partly"


def grid_results(results: ChapterResults, name: str) -> Results:
    """Return one of a chapter's results, which has to be of a grid.

    Raises
    ------
    ConfigError
        If the chapter has none of that name, or it is of another kind.
    """
    found = results.get(name)
    if not isinstance(found, Results):
        kind = "nothing" if found is None else found.kind
        raise ConfigError(f"{name!r}: {kind} is stored under this name, expected a grid's results")
    return found


def checked(claim: str, *, name: str = "checks") -> Criterion:
    """Make the criterion of a definition or theorem: no check is violated beyond rounding.

    Parameters
    ----------
    claim
        Id in the ledger.
    name
        Name of the checks among the chapter's results.
    """

    def criterion(results: ChapterResults) -> list[Part]:
        checks = results[name]
        if not isinstance(checks, Checks):
            raise ConfigError(f"{name!r}: {checks.kind} is stored under this name, expected checks")
        return [
            Part(f"{check.what} (worst of {check.n_checked:,})", check.worst, most=_ROUNDING)
            for check in checks.about(claim)
        ]

    return criterion
