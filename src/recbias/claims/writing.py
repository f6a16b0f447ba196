"""Claims, assertions and verdicts as one document that others can read, cite and recount."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import version
from typing import Any

from recbias.claims.answers import Answers, answers
from recbias.claims.assertions import assertion_standing
from recbias.claims.explaining import in_words
from recbias.claims.judging import Verdict, load_chapter, load_provenance, scorecards
from recbias.claims.ledger import Claim, errata
from recbias.claims.lock import digest_in_force, locked_criteria
from recbias.claims.parts import ChapterResults, is_core
from recbias.claims.reading import SCHEMA, address, jsonable
from recbias.claims.records import Record
from recbias.claims.topics import chapters
from recbias.data.datasets import is_path, own_table
from recbias.experiment.results import SIMULATIONS, recorded_datasets

Judged = Mapping[str, Sequence[Verdict]]
"""Verdicts on claims by data set."""


def write(datasets: Sequence[str] = (), judged: Judged | None = None) -> str:
    """Judge all claims and write the document, as JSON.

    Parameters
    ----------
    datasets
        Names of data sets or paths of tables; all that have recorded results if empty.
    judged
        Verdicts on these, where they are at hand.

    Returns
    -------
    str
        As ``data/published/claims.schema.json`` says; the same for equal results.

    Raises
    ------
    ConfigError
        As `recbias.claims.judging.scorecard`.
    StoreError
        As `recbias.claims.judging.load_chapter`.
    """
    load = cache(load_chapter)
    names = list(datasets) or recorded_datasets()
    if judged is None or not set(names) <= set(judged):
        judged = scorecards(names, load)
    made = build({name: judged[name] for name in names})
    for entry, name in zip(made["datasets"], names, strict=True):
        entry["content_hash"] = _content_hash(name, load)
    made["results"] = {
        called(name)[0]: load_provenance(name, load) for name in (*names, SIMULATIONS)
    }
    return json.dumps(made, indent=1, ensure_ascii=False, allow_nan=False)


def build(verdicts: Judged) -> dict[str, Any]:
    """Build the document of verdicts, without what its results are and how they arose.

    Whether claims are reproduced and generalise is told if all data sets with recorded results are
    among these.
    """
    recorded = recorded_datasets()
    told: dict[str, Answers] = {}
    if set(recorded) <= set(verdicts):
        told = {
            each.claim.id: each for each in answers({name: verdicts[name] for name in recorded})
        }
    by_claim: dict[str, dict[str, Verdict]] = {}
    for name, of_dataset in verdicts.items():
        for verdict in of_dataset:
            by_claim.setdefault(verdict.claim.id, {})[called(name)[0]] = verdict
    return {
        "schema": SCHEMA,
        "recbias": version("recbias"),
        "datasets": [
            {"name": called(name)[0], "title": called(name)[1], "recorded": name in recorded}
            for name in verdicts
        ],
        "claims": [
            _claim(next(iter(found.values())).claim, told.get(claim), found)
            for claim, found in by_claim.items()
        ],
        "errata": [
            {"id": each.id, "paper": each.paper, "where": each.where, "what": each.what}
            | {"status": each.status, "evidence": each.evidence}
            for each in errata()
        ],
    }


def called(dataset: str) -> tuple[str, str]:
    """Name a data set, and title it: of a table by its content, and by its file."""
    if is_path(dataset):
        table = own_table(dataset)
        return table.name, table.title
    return dataset, dataset


def _content_hash(dataset: str, load: Any) -> str:
    for chapter in chapters().values():
        results: ChapterResults = load(chapter, dataset) if chapter else {}
        for result in results.values():
            return str(result.dataset["content_hash"])
    return ""


def _claim(claim: Claim, told: Answers | None, verdicts: Mapping[str, Verdict]) -> dict[str, Any]:
    criterion = locked_criteria(claim.topic).get(claim.id)
    records = criterion.records if criterion else ()
    elsewhere = criterion.elsewhere if criterion else {}
    return {
        "id": claim.id,
        "address": address(claim.id),
        "paper": claim.paper,
        "where": claim.where,
        "claim": claim.text,
        "chapter": claim.topic,
        "page": chapters()[claim.topic],
        "class": claim.kind,
        "counts as": claim.counts_as,
        "scope": claim.scope,
        "published": claim.published,
        "settings": claim.settings,
        "note": claim.note,
        "core": list(claim.core),
        "disputed": list(claim.disputed),
        "pilot seen": claim.pilot_seen,
        "criterion": digest_in_force(claim.id) if criterion else None,
        "records": [_record(record, number, claim) for number, record in enumerate(records, 1)],
        "errata": sorted(
            {name for each in records for name in (each.corrects, each.corrected)} - {""}
        ),
        "earlier": [
            {
                "criterion": old.words,
                "until": old.until,
                "why": old.why,
                "verdicts": {name: list(pair) for name, pair in old.verdicts.items()},
            }
            for old in (criterion.replaced if criterion else ())
        ],
        "assertions": [
            {
                "id": f"{claim.id} #{assertion.number}",
                "text": assertion.text,
                "kind": assertion.kind,
                "standing": assertion_standing(claim, assertion.number),
                "unchecked": assertion.unchecked,
                "judged under": elsewhere.get(assertion.number, ""),
            }
            for assertion in claim.asserts
        ],
        **({"answers": told.to_dict()} if told else {}),
        "verdicts": {name: verdict.to_dict(name) for name, verdict in verdicts.items()},
    }


def _record(record: Record, number: int, claim: Claim) -> dict[str, Any]:
    """Write what is asked for one assertion, apart from any data."""
    region = record.region
    return {
        "number": number,
        "asks": record.asked,
        "measures": in_words(record.expression),
        "region": [
            jsonable(max(region.least, region.above)),
            jsonable(min(region.most, region.below)),
        ],
        "unit": record.unit,
        "asserts": list(record.asserts),
        "difference": record.is_difference,
        "decides": record.decides,
        "core": record.decides and is_core(record, claim),
        "corrects": record.corrects,
        "corrected": record.corrected,
        "needs": list(record.needs),
    }
