"""The parts of a verdict: an estimate with its interval, and the region that a claim allows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from recbias.claims.checks import Checks
from recbias.errors import unknown_name
from recbias.experiment import Quantity, Results

__all__ = [
    "NOT_TESTABLE",
    "ChapterResults",
    "Criterion",
    "NotTestable",
    "Part",
    "Superseded",
    "combine",
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

ChapterResults = Mapping[str, Results | Checks]
"""A chapter's results by name."""


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
