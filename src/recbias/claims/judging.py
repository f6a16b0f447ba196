"""From results to verdicts, by one rule."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any

from recbias._system.places import is_recording
from recbias.claims.assertions import barred_core, core_standing, untested_core
from recbias.claims.deciding import wanted, what_decides
from recbias.claims.evaluation import evaluate
from recbias.claims.evidence import Evidence, NotComputed, NotTestable
from recbias.claims.home import printed_beside
from recbias.claims.ledger import TOPICS, Claim, claims
from recbias.claims.lock import locked_criteria
from recbias.claims.needs import missing_need
from recbias.claims.parts import (
    ChapterResults,
    Part,
    combine,
    count_details,
    decide,
    is_core,
    of_form,
    weight,
)
from recbias.claims.reading import jsonable
from recbias.claims.records import ClaimCriterion, Record
from recbias.claims.topics import Judged, chapters, find_judged
from recbias.data.datasets import dataset_info, is_path
from recbias.errors import ConfigError, StoreError
from recbias.experiment.documents import digest
from recbias.experiment.results import (
    SIMULATIONS,
    StoredResult,
    load_result,
    results_dir,
    stored_results,
)
from recbias.experiment.verification import missing_results, register_foundation

for _topic in TOPICS:  # a verdict rests on its criterion as much as on results
    register_foundation(f"criteria of {_topic}", partial(locked_criteria, _topic))


@dataclass(frozen=True)
class Verdict:
    """What became of a claim on one dataset.

    Attributes
    ----------
    claim
        The claim.
    verdict
        One of :data:`VERDICTS`: of the claim as it is printed, by its core parts.
    parts
        What was found for each assertion; empty where nothing was.
    reason
        Why there is no decision, or what forbids "yes".
    origin
        ``"live"`` or ``"recorded"``.
    corrected
        The verdict of the corrected form, where an erratum has one; else empty.
    strict, strict_corrected
        The same by all parts alike, core or not.
    criterion
        How it is judged; None where nothing judges it so far.
    """

    claim: Claim
    verdict: str
    parts: tuple[Part, ...] = ()
    reason: str = ""
    origin: str = ""
    corrected: str = ""
    strict: str = ""
    strict_corrected: str = ""
    criterion: ClaimCriterion | None = None

    @property
    def details(self) -> dict[str, int]:
        """How many parts of the printed form that are no core hold, are refuted, and so on."""
        return count_details(self.parts, self.claim)

    @property
    def details_corrected(self) -> dict[str, int]:
        """The same of the corrected form; empty where there is none."""
        return count_details(self.parts, self.claim, corrected=True) if self.corrected else {}

    @property
    def core(self) -> tuple[Part, ...]:
        """The parts of the printed form that decide the verdict."""
        return tuple(p for p in of_form(self.parts) if is_core(p.record, self.claim))

    @property
    def lead(self) -> Part | None:
        """The part that readers are told first: of the core, a refuted one, or an open one."""
        decisive = (
            part
            for part in self.parts
            if part.record.decides and part.estimate is not None and not part.record.corrects
        )
        return min(decisive, key=partial(weight, self.claim), default=None)

    @property
    def would_decide(self) -> str:
        """What would decide the claim as it is printed, where it is undecided; else empty."""
        if self.verdict != "undecided":
            return ""
        return what_decides(self.core, self.claim, untested_core(self.claim))

    def to_dict(self, dataset: str) -> dict[str, Any]:
        """Write the verdict on a data set as JSON-able values, without the claim that it is on."""
        records = self.criterion.records if self.criterion else ()
        numbers = {record: number for number, record in enumerate(records, 1)}
        return {
            "verdict": self.verdict,
            "strict": self.strict,
            "reason": self.reason,
            "details": self.details,
            "corrected": self.corrected,
            "strict corrected": self.strict_corrected,
            "details corrected": self.details_corrected,
            "would decide": self.would_decide,
            "origin": self.origin,
            "lead": next((n for n, part in enumerate(self.parts, 1) if part is self.lead), None),
            "parts": [
                {
                    "number": number,
                    "record": numbers.get(part.record),
                    "verdict": part.verdict,
                    "finding": part.sentence,
                    "found": part.finding,
                    "says": part.record.says,
                    "claimed": part.record.region.words(part.record.unit),
                    "published": printed_beside(self.claim, part.record.published, dataset),
                    "asserts": list(part.record.asserts),
                    "decides": part.record.decides,
                    "core": part.record.decides and is_core(part.record, self.claim),
                    "which": part.which,
                    "measured": part.estimate is not None,
                    "value": jsonable(part.value),
                    "interval": [jsonable(end) for end in part.interval],
                    "unit": part.record.unit,
                    "reason": part.lacks or part.unsure,
                    "would decide": [str(each) for each in wanted(part, self.claim)],
                }
                for number, part in enumerate(self.parts, 1)
            ],
        }


def judge(
    claim: Claim,
    results: ChapterResults,
    load: Callable[[str, str], ChapterResults] | None = None,
) -> Verdict:
    """Apply a claim's criterion to a chapter's results.

    Parameters
    ----------
    claim
        A claim of the ledger.
    results
        The chapter's results by name.
    load
        Gives the results of a chapter on another data set, or of its simulations; `load_chapter` by
        default. Who judges many claims hands over one that remembers.

    Returns
    -------
    Verdict
        ``not yet`` if no experiment computes it so far, or what it reads is missing.

    Raises
    ------
    ConfigError
        If its criterion is another than the locked one.
    """
    return _judge(claim, results, find_judged(claim.topic), load or cache(load_chapter))


def _judge(
    claim: Claim,
    results: ChapterResults,
    judged: Judged | None,
    load: Callable[[str, str], ChapterResults],
) -> Verdict:
    def undecided(word: str, reason: str = "", **found: Any) -> Verdict:
        return Verdict(claim, word, reason=reason, strict=word, **found)

    if judged is None:
        return undecided("not yet")
    criterion = locked_criteria(claim.topic).get(claim.id)
    if claim.simulation:
        results = load(judged.chapter, SIMULATIONS)
    if not results:
        return undecided("not yet", "its chapter was not run on this dataset")
    first = next(iter(results.values()))
    origin = first.origin
    if reason := missing_need(claim, first.dataset["name"], _lacks(first.dataset)):
        return undecided("not testable here", reason, origin=origin)
    if criterion is None:
        return undecided("not yet")
    parts, missing = find_parts(criterion.records, results, judged, load, claim.id)
    if missing:
        reason = f"its results are missing: {', '.join(dict.fromkeys(missing))}"
        return undecided("not yet", reason, parts=tuple(parts), origin=origin, criterion=criterion)
    return by_parts(claim, parts, origin, criterion)


def by_parts(
    claim: Claim, parts: Sequence[Part], origin: str = "", criterion: ClaimCriterion | None = None
) -> Verdict:
    """Join the parts of a claim to its verdicts: by its core and strict, printed and corrected."""
    untested = untested_core(claim)
    word, reason = decide(parts, claim, untested)
    if not word and (barred := barred_core(claim)):
        word, reason = "not testable here", barred
    if not word:
        where = (f"{n} ({why})" for n, why in core_standing(claim).items())
        word, reason = "not yet", f"no part is about its core assertions: {', '.join(where)}"
    corrected = strict_corrected = ""
    if any(part.record.corrects for part in parts):
        corrected = decide(parts, claim, untested, corrected=True)[0] or word
        strict_corrected = combine(parts, corrected=True)
    return Verdict(
        claim,
        word,
        tuple(parts),
        reason,
        origin,
        corrected,
        strict=combine(parts) or "not testable here",
        strict_corrected=strict_corrected,
        criterion=criterion,
    )


def find_parts(
    records: Iterable[Record],
    results: ChapterResults,
    judged: Judged,
    load: Callable[[str, str], ChapterResults],
    claim: str = "",
) -> tuple[list[Part], list[str]]:
    """Find what records ask for in a chapter's results."""
    dataset = next(iter(results.values())).dataset
    lacks = _lacks(dataset)
    evidence = Evidence(results, partial(load, judged.chapter), views=judged.views)
    parts: list[Part] = []
    missing: list[str] = []
    for record in records:
        if lack := missing_need(record, dataset["name"], lacks):
            parts.append(Part(record, None, lacks=lack))
            continue
        try:
            if "pool" in record.needs:
                evidence.require_pool(record.terms)
            parts += evaluate(record, evidence, claim, judged.functions)
        except NotTestable as barred:
            parts.append(Part(record, None, lacks=str(barred)))
        except NotComputed as absent:
            missing.append(str(absent))
    return parts, missing


def _lacks(dataset: Mapping[str, Any]) -> set[str]:
    """Tell what a dataset lacks, by the registry or, for a table of one's own, by its record."""
    name = dataset["name"]
    if "lacks" in dataset:  # a table of one's own, which no registry knows
        known = set(dataset["lacks"])
    else:
        known = set() if is_path(name) or name == SIMULATIONS else _registered(name)
    return known | ({"no negatives"} if dataset.get("feedback") == "implicit" else set())


def _registered(name: str) -> set[str]:
    try:
        return set(dataset_info(name).cannot_test)
    except ConfigError:  # results of a table that is called by its file
        return set()


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
        For an unknown topic; if a criterion is another than the locked one.
    """
    judged, load = find_judged(topic), cache(load_chapter)
    return [_judge(claim, results, judged, load) for claim in claims() if claim.topic == topic]


def load_chapter(chapter: str, dataset: str, only: str = "") -> dict[str, StoredResult]:
    """Load a chapter's results on one dataset: recorded ones, else those of the last live run.

    Parameters
    ----------
    chapter
        Name of its notebook.
    dataset
        Name of the dataset, or path of a table.
    only
        Name of the one result that is wanted; all if empty.

    Returns
    -------
    dict of str to StoredResult
        Results of every kind by name; empty if the chapter was not run on that dataset.

    Raises
    ------
    StoreError
        If recorded results are missing that the manifest lists; see also
        :func:`recbias.experiment.results.load_result`. Not while results are recorded: what is
        stale or lost then is absent, or could never be renewed on a page that shows it.
    """
    chapters()  # importing them makes known what their results were made by
    recorded, live = (_paths(chapter, dataset, origin) for origin in ("recorded", "live"))
    if is_recording():
        found = _usable(recorded, dataset, "recorded") | _usable(live, dataset, "live")
        return {name: result for name, result in found.items() if only in ("", name)}
    if missing := missing_results(dataset, chapter):
        raise StoreError(
            f"{results_dir(dataset, recorded=True) / chapter}: its results are missing: "
            f"{', '.join(missing)}\nrestore them, or record them again where the data is: "
            f"recbias run {chapter} --dataset {dataset} --record"
        )
    load = _load_recorded if recorded else _load_live
    return {
        name: load(path, dataset) for name, path in (recorded or live).items() if only in ("", name)
    }


def _load_live(path: Path, dataset: str) -> StoredResult:
    return load_result(path, origin="live", dataset=dataset)


def _load_recorded(path: Path, dataset: str) -> StoredResult:
    """Load a recorded result, or find it where it was loaded before: all sentences of a page ask.

    What is given is what the files hold now, and what this code would compute now.
    """
    files = (path.with_suffix(suffix) for suffix in (".json", ".parquet"))
    result = _loaded(
        path, dataset, tuple(digest(file.read_bytes()) for file in files if file.is_file())
    )
    if result.key != result.key_of(result.parameters, result.dataset["hashes"]):
        return load_result(path, dataset=dataset)  # which says what is wrong
    return result


@lru_cache(maxsize=256)
def _loaded(path: Path, dataset: str, content: tuple[str, ...]) -> StoredResult:
    """Load a recorded result, once for each `content` of its files."""
    return load_result(path, dataset=dataset)


def _paths(chapter: str, dataset: str, origin: str) -> dict[str, Path]:
    return stored_results(results_dir(dataset, recorded=origin == "recorded") / chapter)


def _usable(paths: Mapping[str, Path], dataset: str, origin: str) -> dict[str, StoredResult]:
    """Load a chapter's results but those that are stale or damaged."""
    usable: dict[str, StoredResult] = {}
    for name, path in paths.items():
        with suppress(StoreError):
            usable[name] = load_result(path, origin=origin, dataset=dataset)
    return usable


def scorecard(dataset: str) -> list[Verdict]:
    """Judge every claim of the ledger on one dataset; open ones are ``not yet``.

    Raises
    ------
    ConfigError
        If there are no results on the dataset and no dataset has that name.
    """
    return scorecards([dataset])[dataset]


def scorecards(
    datasets: Iterable[str], load: Callable[[str, str], ChapterResults] | None = None
) -> dict[str, list[Verdict]]:
    """Judge every claim on each dataset, as `scorecard`; claims about simulated worlds but once."""
    load = load or cache(load_chapter)
    judged = {topic: find_judged(topic) for topic in chapters()}

    @cache
    def judge_simulated(claim: Claim) -> Verdict:
        return _judge(claim, {}, judged[claim.topic], load)

    def judge_all(dataset: str) -> list[Verdict]:
        by_topic = {
            topic: load(chapter, dataset) if chapter else {}
            for topic, chapter in chapters().items()
        }
        if not any(by_topic.values()) and not is_path(dataset):
            dataset_info(dataset)  # a name that nobody knows is an error, not an empty scorecard
        return [
            judge_simulated(claim)
            if claim.simulation
            else _judge(claim, by_topic[claim.topic], judged[claim.topic], load)
            for claim in claims()
        ]

    return {dataset: judge_all(dataset) for dataset in datasets}


def load_provenance(
    dataset: str, load: Callable[[str, str], ChapterResults] | None = None
) -> dict[str, Any]:
    """Collect by topic how each stored result of a dataset arose: versions, key, time, memory."""
    load = load or load_chapter
    return {
        topic: {
            name: {"key": result.key, "origin": result.origin, **result.provenance, **result.times}
            for name, result in load(chapter, dataset).items()
        }
        for topic, chapter in chapters().items()
        if chapter
    }
