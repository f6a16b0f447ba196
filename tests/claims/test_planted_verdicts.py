"""The criteria give the verdicts of a table that was written apart from them."""

from collections import defaultdict

import pytest

import planted
from mutants import AUDIT, Mutant, audited, criteria, equivalent, killer, mutants_of
from planted import Row, fault, rows, topic_of, verdict_of
from recbias.claims.expressions import Call, Operation, Term, walk
from recbias.claims.records import Record

BY_CLAIM: dict[str, list[Row]] = defaultdict(list)
for each in rows():
    BY_CLAIM[each.claim].append(each)


def asked_of(claim: str) -> set[str]:
    """What has to work for its verdicts: functions, operators and axes, and the topic's world."""
    nodes = [node for record in criteria()[claim].records for node in walk(record.expression)]
    return {
        topic_of(claim),
        *(f"{node.name}(...)" for node in nodes if isinstance(node, Call)),
        *(node.operator for node in nodes if isinstance(node, Operation)),
        *(f"along {node.axis}" for node in nodes if isinstance(node, Term) and node.axis),
    }


def telling(claim: str) -> list[Row]:
    """Choose of the rows about a part, or about the claim, the first of each verdict."""
    rows = reversed(BY_CLAIM[claim])
    return list({(row.part, row.part_verdict or row.claim_verdict): row for row in rows}.values())


def covering() -> list[str]:
    """Choose claims that together ask for everything, those first that ask most by few rows."""
    asked = {claim: asked_of(claim) for claim in BY_CLAIM}
    open_, chosen = set().union(*asked.values()), []
    while open_:
        chosen.append(max(asked, key=lambda claim: len(asked[claim] & open_) / len(telling(claim))))
        open_ -= asked[chosen[-1]]
    return chosen


COVERING = covering()


def faults(rows: list[Row]) -> list[str]:
    """Say which rows are not met."""
    found = [fault(row, verdict_of(row, criteria()[row.claim])) for row in rows]
    return [each for each in found if each]


@pytest.mark.slow
@pytest.mark.parametrize("claim", BY_CLAIM)
def test_a_criterion_gives_the_verdicts_of_the_table(claim: str) -> None:
    assert faults(BY_CLAIM[claim]) == []


@pytest.mark.parametrize("claim", COVERING)
def test_all_that_criteria_ask_for_gives_each_verdict_once(claim: str) -> None:
    """What a change waits for: of the table above some rows, in which every function is called."""
    assert faults(telling(claim)) == []


def seen(claim: str, record: Record) -> set[str]:
    """Verdicts that the table asks of a record."""
    about = (row for row in BY_CLAIM[claim] if row.is_about(record, row.turn))
    return {row.part_verdict for row in about}


@pytest.mark.parametrize("claim", criteria())
def test_every_record_is_tried_on_both_sides(claim: str) -> None:
    """What stands beside a verdict is tried with two values; a check with sound and broken data."""
    wanted = {"holds", "refuted"}
    for record in criteria()[claim].records:
        found = seen(claim, record)
        enough = wanted <= found if record.decides else len(found) > 1
        assert enough, f"{claim}: rows about {record.finds!r} ask for {sorted(found)} only"


def test_every_row_is_about_a_record() -> None:
    for row in rows():
        known = criteria()[row.claim].records
        assert not row.part or any(row.is_about(record, row.turn) for record in known), str(row)


@pytest.mark.parametrize("name", [name for name in AUDIT if AUDIT[name]])
def test_the_mutants_of_the_audit_die(name: str) -> None:
    for mutant in audited(name):
        assert killer(mutant), str(mutant)


def test_a_mutant_that_is_the_criterion_survives() -> None:
    """Else a table that is wrong would count as one that kills."""
    criterion = criteria()["BCC17-C-RTEST"]
    changed = {**criterion.raw[0], "least": 1.3 - 1e-9}
    assert killer(Mutant("BCC17-C-RTEST", 0, "almost the same", (changed,))) == ""


def test_an_equivalent_mutant_is_excluded_for_a_reason_only() -> None:
    found = {m.what: equivalent(m) for m in mutants_of(criteria()["BCC17-C-OTHER"]) if not m.place}
    assert found["least 0.8 -> 0.75"] == "no value that it can take lies between the two ends"
    assert found["terms exchanged"].startswith("the same, whatever the order")
    assert found["least 0.8 -> 0.56"] == found["AP[AR] -> R[AR]"] == found["removed"] == ""


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("P[AR] of plsa = 0.1", "no such value: P.AR. of plsa"),
        ("Q[AR] of pLSA = 0.1", "no such value: Q.AR. of pLSA"),
        ("P[AR] of pLSA = about 0.1", "no value: about 0.1"),
        ("p[AR per run] of pLSA and Random = 0.1", "no such test"),
    ],
)
def test_a_row_that_changes_nothing_is_refused(change: str, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        planted.base_world("design alternatives").changed(change, "BCC17-F2A")


def test_a_wrong_row_is_told() -> None:
    row = Row("BCC17-F2A", "pLSA scores", "P[AR] of pLSA = 0.2", "holds", "yes")
    told = fault(row, verdict_of(row, criteria()["BCC17-F2A"]))
    assert told.startswith("BCC17-F2A: pLSA scores: P[AR] of pLSA = 0.2: the claim is 'partly'")


def test_what_a_function_makes_is_planted_and_changed() -> None:
    text = {
        "data set": "ml-1m",
        "error": "0.01",
        "sets": {"ten": []},
        "values": {},
        "editions": {"ml-100k": []},
        "statistics": {"n_users": "100"},
        "made": {
            "worlds": {
                "on": "simulations",
                "index": ["skew", "system"],
                "columns": ["value", "low"],
                "drawn": "true",
                "rows": {"0.5, Random": ["0.1", "0.05"], "1, Random": ["0.2", "0.1"]},
            },
            "near": {"index": ["a"], "columns": ["value"], "rows": {"x": ["3"]}},
        },
    }
    base = planted.World("design alternatives", text, {})
    changed = base.changed(
        "value[0.5, Random] in worlds = 0.3; statistic n_users = 7; "
        "value[x] in near on ml-100k = 4",
        "BCC17-F2A",
    )
    for world, values in ((base, (0.1, 100, 3)), (changed, (0.3, 7, 4))):
        made = world.results("simulations")["worlds"]
        own = world.results()
        assert set(world.results("simulations")) == {"worlds"}
        assert made[{"skew": 0.5, "system": "Random"}].value == values[0]
        assert made[{"skew": 0.5, "system": "Random"}].replicates.std() > 0
        assert made.frame["low"].tolist() == [0.05, 0.1]
        assert own["checks"].statistics == {"n_users": values[1]}
        assert own["near"].frame["value"].tolist() == [3]
        assert "worlds" not in own
        assert world.results("ml-100k")["near"].frame["value"].tolist() == [values[2]]
    with pytest.raises(AssertionError, match="no such value"):
        base.changed("value[0.7, Random] in worlds = 0.3", "BCC17-F2A")
