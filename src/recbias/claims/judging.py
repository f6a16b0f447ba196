"""From results to verdicts, by one rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from recbias.claims import design_alternatives, validation
from recbias.claims.checks import Compute, load_checks, recompute_checks
from recbias.claims.ledger import CHAPTERS, Claim, claims
from recbias.claims.parts import (
    ChapterResults,
    Criterion,
    NotTestable,
    Part,
    Superseded,
    combine,
)
from recbias.datasets import dataset_info
from recbias.errors import unknown_name
from recbias.experiment import load_results, result_kind, results_dir, stored_results

__all__ = [
    "CHECKS",
    "CRITERIA",
    "VERDICTS",
    "Verdict",
    "judge",
    "judge_chapter",
    "load_chapter",
    "load_provenance",
    "scorecard",
    "verify_checks",
]

VERDICTS = ("yes", "no", "undecided", "partly", "not testable here", "not yet")


@dataclass(frozen=True)
class Verdict:
    """What became of a claim on one dataset.

    Attributes
    ----------
    claim
        The claim.
    verdict
        One of :data:`VERDICTS`.
    parts
        What was compared; empty where nothing was.
    reason
        Why there is no decision.
    origin
        ``"live"`` or ``"recorded"``.
    earlier
        Verdicts under criteria that were replaced after their first result.
    """

    claim: Claim
    verdict: str
    parts: tuple[Part, ...] = ()
    reason: str = ""
    origin: str = ""
    earlier: tuple[tuple[str, Superseded], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Write the verdict as JSON-able values."""
        return {
            "id": self.claim.id,
            "chapter": self.claim.topic,
            "class": self.claim.kind,
            "published": self.claim.published,
            "criterion": self.claim.criterion,
            "measured": [
                {
                    "part": part.name,
                    "value": part.value,
                    "interval": list(part.interval),
                    "claimed": part.region,
                    "verdict": part.verdict,
                }
                for part in self.parts
            ],
            "verdict": self.verdict,
            "reason": self.reason,
            "origin": self.origin,
            "earlier": [
                {"verdict": verdict, "criterion": old.words, "until": old.until, "why": old.reason}
                for verdict, old in self.earlier
            ],
        }


CRITERIA: Mapping[str, Criterion] = {**design_alternatives.CRITERIA}
"""Criteria of all chapters by claim."""

SUPERSEDED: Mapping[str, Sequence[Superseded]] = {**design_alternatives.SUPERSEDED}
"""Criteria that were replaced after their first result, by claim."""

CHECKS: Mapping[str, Compute] = {
    "01_design_alternatives": design_alternatives.theorem_checks,
    "systems": validation.chance,
}
"""What computes the checks and statistics of each chapter or page."""


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
    criterion = CRITERIA.get(claim.id)
    if criterion is None:
        return Verdict(claim, "not yet")
    if not results:
        return Verdict(claim, "not yet", reason="its chapter was not run on this dataset")
    origin = next(iter(results.values())).origin
    try:
        parts = tuple(criterion(results))
    except NotTestable as reason:
        return Verdict(claim, "not testable here", reason=str(reason), origin=origin)
    earlier = tuple((combine(old.criterion(results)), old) for old in SUPERSEDED.get(claim.id, ()))
    return Verdict(claim, combine(parts), parts, origin=origin, earlier=earlier)


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
    """Judge every claim of the ledger on one dataset; open ones are ``not yet``.

    Raises
    ------
    ConfigError
        If there are no results on the dataset and no dataset has that name.
    """
    by_topic = {
        topic: load_chapter(chapter, dataset) if chapter else {}
        for topic, chapter in CHAPTERS.items()
    }
    if not any(by_topic.values()):
        dataset_info(dataset)  # a name that nobody knows is an error, not an empty scorecard
    return [judge(claim, by_topic[claim.topic]) for claim in claims()]


def load_provenance(dataset: str) -> dict[str, Any]:
    """Collect by topic how each stored result of a dataset arose: versions, key, time, memory."""
    return {
        topic: {
            name: {"key": result.key, "origin": result.origin, **result.provenance}
            for name, result in load_chapter(chapter, dataset).items()
        }
        for topic, chapter in CHAPTERS.items()
        if chapter
    }


def verify_checks(dataset: str) -> dict[str, str]:
    """Recompute the recorded checks of a dataset.

    Returns
    -------
    dict
        What differs by record, empty text where nothing does.
    """
    stored = stored_results(results_dir(dataset, recorded=True))
    return {
        name: recompute_checks(CHECKS[name.split("/")[0]], path)
        for name, path in stored.items()
        if result_kind(path) == "checks"
    }
