"""Evaluate an expression of the language of criteria on results that a test made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from recbias.claims.evaluation import evaluate
from recbias.claims.evidence import Evidence, View
from recbias.claims.parts import Part
from recbias.claims.records import Record
from recbias.claims.values import Estimate, Function
from recbias.experiment.results import StoredResult


def parts_of(
    text: str,
    results: Mapping[str, StoredResult],
    *,
    functions: Mapping[str, Function] | None = None,
    views: Mapping[str, View] | None = None,
    claim: str = "",
    **record: Any,
) -> list[Part]:
    """Find the parts of a record with an expression, and what else it says."""
    raw = {"finds": "{value}", "value": text, "least": 0, **record}
    evidence = Evidence(results, lambda edition: results, views=views)
    return evaluate(Record.from_dict(raw), evidence, claim, functions or {})


def value_of(
    text: str,
    results: Mapping[str, StoredResult],
    *,
    functions: Mapping[str, Function] | None = None,
    views: Mapping[str, View] | None = None,
    systems: Sequence[str] = (),
) -> Estimate:
    """Evaluate an expression that gives one number."""
    more = {"systems": list(systems)} if systems else {}
    (part,) = parts_of(text, results, functions=functions, views=views, **more)
    assert part.estimate is not None
    return part.estimate
