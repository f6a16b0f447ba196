"""What functions and views of chapters compute, on planted results.

Criteria are under a lock; the functions that some of them call are held by these values instead,
so that a refactoring voids nothing and a change of what they compute is seen. ``python
tests/golden_functions.py`` renews ``golden_functions.json``: only with a reason in CHANGES.md,
since a change of a function changes criteria after their results.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from pathlib import Path

import planted
from recbias.book.findings import own_findings
from recbias.claims.evaluation import evaluate
from recbias.claims.evidence import Evidence, NotComputed, NotTestable
from recbias.claims.expressions import Call, Term, walk
from recbias.claims.ledger import TOPICS
from recbias.claims.records import Record, criteria_of
from recbias.claims.topics import Judged, find_judged
from recbias.experiment.results import SIMULATIONS

FILE = Path(__file__).with_name("golden_functions.json")
Values = list[list[float]]


def called(record: Record, judged: Judged) -> set[str]:
    """Name the functions and views of the chapter that a record's expression uses."""
    nodes = [*walk(record.expression)]
    calls = {node.name for node in nodes if isinstance(node, Call)}
    tables = {node.table for node in nodes if isinstance(node, Term)}
    return (calls & judged.functions.keys()) | (tables & judged.views.keys())


def records_of(topic: str) -> Iterator[tuple[str, str, Record]]:
    """Give all records of a topic, each with a name and the claim whose checks it reads."""
    for claim, criterion in criteria_of(topic).items():
        for place, record in enumerate(criterion.records):
            yield f"{claim} {place}", claim, record
    for name, record in own_findings(topic).items():
        yield f"own/{name}", "", record


def compute() -> dict[str, Values | str]:
    """Evaluate every record that uses a function or view, on what its topic plants."""
    found: dict[str, Values | str] = {}
    warnings.simplefilter("ignore")  # planted values are divided by 0 here and there
    for topic in TOPICS:
        judged = find_judged(topic)
        if judged is None:
            continue
        world = planted.base_world(topic)
        evidence = Evidence(
            {**world.results(), **world.results(SIMULATIONS)},
            lambda edition, world=world, judged=judged: world.load(judged.chapter, edition),
            views=judged.views,
        )
        for name, claim, record in records_of(topic):
            if not claim or not called(record, judged):  # findings of ours are not locked
                continue
            try:
                parts = evaluate(record, evidence, claim, judged.functions)
                found[name] = [[part.value, *part.interval] for part in parts]
            except (NotComputed, NotTestable) as error:
                found[name] = type(error).__name__
    return found


if __name__ == "__main__":
    FILE.write_text(json.dumps(compute(), indent=1) + "\n", encoding="utf-8")
