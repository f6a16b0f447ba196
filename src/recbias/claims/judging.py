"""From results to verdicts, by one rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from recbias.claims.ledger import Claim, claims
from recbias.claims.needs import missing_need
from recbias.claims.parts import ChapterResults, NotTestable, Part, Superseded, combine
from recbias.claims.topics import Judged, chapters, find_judged
from recbias.datasets import dataset_info
from recbias.errors import StoreError
from recbias.results import StoredResult, load_result, results_dir, stored_results
from recbias.verification import missing_results

__all__ = [
    "VERDICTS",
    "Verdict",
    "judge",
    "judge_chapter",
    "load_chapter",
    "load_provenance",
    "scorecard",
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
    return _judge(claim, results, find_judged(claim.topic))


def _judge(claim: Claim, results: ChapterResults, judged: Judged | None) -> Verdict:
    if judged is None:
        return Verdict(claim, "not yet")
    if not results:
        return Verdict(claim, "not yet", reason="its chapter was not run on this dataset")
    first = next(iter(results.values()))
    if reason := missing_need(claim, first.dataset["name"], ()):
        return Verdict(claim, "not testable here", reason=reason, origin=first.origin)
    criterion = judged.criteria.get(claim.id)
    if criterion is None:
        return Verdict(claim, "not yet")
    try:
        parts = tuple(criterion(results))
    except NotTestable as lack:
        return Verdict(claim, "not testable here", reason=str(lack), origin=first.origin)
    replaced = judged.superseded.get(claim.id, ())
    earlier = tuple((combine(old.criterion(results)), old) for old in replaced)
    return Verdict(claim, combine(parts), parts, origin=first.origin, earlier=earlier)


def judge_chapter(topic: str, results: ChapterResults) -> list[Verdict]:
    """Judge all claims of one chapter.

    Parameters
    ----------
    topic
        One of :data:`recbias.claims.TOPICS`.
    results
        The chapter's results by name.

    Raises
    ------
    ConfigError
        For an unknown topic.
    """
    judged = find_judged(topic)
    return [_judge(claim, results, judged) for claim in claims() if claim.topic == topic]


def load_chapter(chapter: str, dataset: str) -> dict[str, StoredResult]:
    """Load a chapter's results on one dataset: recorded ones, else those of the last live run.

    Parameters
    ----------
    chapter
        Name of its notebook.
    dataset
        Name of the dataset.

    Returns
    -------
    dict of str to StoredResult
        Results of every kind by name; empty if the chapter was not run on that dataset.

    Raises
    ------
    StoreError
        If recorded results are missing that the manifest lists; see also
        :func:`recbias.results.load_result`.
    """
    chapters()  # importing them makes known what their results were made by
    if missing := missing_results(dataset, chapter):
        raise StoreError(
            f"{results_dir(dataset, recorded=True) / chapter}: its results are missing: "
            f"{', '.join(missing)}\nrestore them, or record them again where the data is: "
            f"recbias run {chapter} --dataset {dataset} --record"
        )
    for recorded in (True, False):
        folder = results_dir(dataset, recorded=recorded) / chapter
        origin = "recorded" if recorded else "live"
        found = {
            name: load_result(path, origin=origin, dataset=dataset)
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
        for topic, chapter in chapters().items()
    }
    if not any(by_topic.values()):
        dataset_info(dataset)  # a name that nobody knows is an error, not an empty scorecard
    judged = {topic: find_judged(topic) for topic in by_topic}
    return [_judge(claim, by_topic[claim.topic], judged[claim.topic]) for claim in claims()]


def load_provenance(dataset: str) -> dict[str, Any]:
    """Collect by topic how each stored result of a dataset arose: versions, key, time, memory."""
    return {
        topic: {
            name: {"key": each.key, "origin": each.origin, **each.provenance, **each.times}
            for name, each in load_chapter(chapter, dataset).items()
        }
        for topic, chapter in chapters().items()
        if chapter
    }
