"""From results to verdicts, by one rule."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from recbias.claims.checks import Checks, load_checks
from recbias.claims.ledger import CHAPTERS, Claim, claims
from recbias.errors import unknown_name
from recbias.experiment import (
    Quantity,
    Results,
    load_results,
    result_kind,
    results_dir,
    stored_results,
)

__all__ = [
    "NOT_TESTABLE",
    "VERDICTS",
    "ChapterResults",
    "Part",
    "Verdict",
    "judge",
    "judge_chapter",
    "load_chapter",
    "scorecard",
    "verdict_table",
]

VERDICTS = ("yes", "no", "undecided", "partly", "not testable here", "not yet")

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


@dataclass(frozen=True)
class Verdict:
    """What became of a claim on one dataset."""

    claim: Claim
    verdict: str
    parts: tuple[Part, ...] = ()
    reason: str = ""
    origin: str = ""

    @property
    def measured(self) -> str:
        """The parts in words: estimate, interval, allowed region and verdict of each."""
        return "; ".join(
            f"{part.name}: {_shown(part)} ({part.region}: {part.verdict})" for part in self.parts
        )


def _shown(part: Part) -> str:
    low, high = part.interval
    if low == high == part.value:
        return f"{part.value:.4g}"
    return f"{part.value:.4g} [{low:.4g}, {high:.4g}]"


class NotTestable(Exception):  # noqa: N818 - an outcome, not an error
    """Raised by a criterion that this dataset cannot decide; carries one of the closed reasons."""

    def __init__(self, reason: str) -> None:
        if reason not in NOT_TESTABLE:
            raise unknown_name("reason", reason, NOT_TESTABLE)
        super().__init__(reason)


Criterion = Callable[[ChapterResults], Sequence[Part]]


def combine(parts: Iterable[Part]) -> str:
    """Join the verdicts of a claim's parts: the common one, or ``partly`` where they differ."""
    found = {part.verdict for part in parts}
    return found.pop() if len(found) == 1 else "partly"


def _criteria() -> dict[str, Criterion]:
    # Here, because the criteria build parts and so import this module.
    from recbias.claims import design_alternatives

    return design_alternatives.CRITERIA


def judge(claim: Claim, results: ChapterResults) -> Verdict:
    """Apply a claim's criterion to a chapter's results.

    Parameters
    ----------
    claim
        A claim of the ledger.
    results
        The chapter's results by name.

    Returns
    -------
    Verdict
        ``not yet`` if no experiment computes it so far.
    """
    criterion = _criteria().get(claim.id)
    if criterion is None or not results:
        return Verdict(claim, "not yet")
    origin = next(iter(results.values())).origin
    try:
        parts = tuple(criterion(results))
    except NotTestable as reason:
        return Verdict(claim, "not testable here", reason=str(reason), origin=origin)
    return Verdict(claim, combine(parts), parts, origin=origin)


def judge_chapter(topic: str, results: ChapterResults) -> list[Verdict]:
    """Judge all claims of one chapter.

    Parameters
    ----------
    topic
        Key of :data:`recbias.claims.CHAPTERS`.
    results
        The chapter's results by name.

    Raises
    ------
    ConfigError
        For an unknown topic.
    """
    if topic not in CHAPTERS:
        raise unknown_name("chapter topic", topic, CHAPTERS)
    return [judge(claim, results) for claim in claims() if claim.topic == topic]


def load_chapter(chapter: str, dataset: str) -> ChapterResults:
    """Load a chapter's results on one dataset: recorded ones, else those of the last live run.

    Returns
    -------
    mapping of name to Results or Checks
        Empty if the chapter was not run on that dataset.
    """
    for recorded in (True, False):
        folder = results_dir(dataset, recorded=recorded) / chapter
        origin = "recorded" if recorded else "live"
        found = {
            name: (load_checks if result_kind(path) == "checks" else load_results)(
                path, origin=origin
            )
            for name, path in stored_results(folder).items()
        }
        if found:
            return found
    return {}


def scorecard(dataset: str) -> list[Verdict]:
    """Judge every claim of the ledger on one dataset; open ones are ``not yet``."""
    by_topic = {
        topic: load_chapter(chapter, dataset) if chapter else {}
        for topic, chapter in CHAPTERS.items()
    }
    return [judge(claim, by_topic[claim.topic]) for claim in claims()]


def verdict_table(verdicts: Sequence[Verdict]) -> pd.DataFrame:
    """Lay verdicts out as a table: what the paper says, what we measure, whether it holds."""
    rows: list[dict[str, Any]] = [
        {
            "claim": verdict.claim.id,
            "where": verdict.claim.where,
            "class": verdict.claim.kind,
            "the paper says": verdict.claim.text,
            "published": verdict.claim.published,
            "we measure": verdict.measured,
            "holds?": verdict.verdict,
            "reason": verdict.reason,
            "origin": verdict.origin,
        }
        for verdict in verdicts
    ]
    return pd.DataFrame(rows)
