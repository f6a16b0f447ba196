import pytest

from recbias.claims.ledger import TOPICS
from recbias.claims.lock import check_locks, criterion_digest, lock_file, renewed_locks
from recbias.claims.records import ClaimCriterion, Record, Replaced, criteria_of, read_criteria
from recbias.errors import ConfigError

RECORD = {"finds": "{value}", "value": "check(n)", "most": 0}
RECORD_TEXT = "{finds: '{value}', value: check(n), most: 0}"
OTHER = {**RECORD, "most": 0.1}


def criterion(*records, replaced=()):
    return ClaimCriterion("A", tuple(map(Record.from_dict, records)), {}, replaced, records)


def quoted(was, **change):
    return Replaced(**{"until": "2026-11-21", "why": "too lax", "was": was,
                       "verdicts": {"ml-1m": ("yes", "no")}, **change})  # fmt: skip


def test_every_criterion_of_the_ledger_is_locked():
    import json

    locks = json.loads(lock_file().read_text())
    criteria = {claim: each for topic in TOPICS for claim, each in criteria_of(topic).items()}
    check_locks(criteria, locks)
    assert set(locks) == set(criteria), "a lock without its criterion"
    assert renewed_locks(criteria, locks) == locks, "recbias claims --lock would change the file"


def test_a_criterion_is_locked_before_its_first_result():
    with pytest.raises(ConfigError, match="A: its criterion is not locked"):
        check_locks({"A": criterion(RECORD)}, {})
    assert renewed_locks({"A": criterion(RECORD)}, {}) == {"A": [criterion_digest([RECORD])]}


@pytest.mark.parametrize(
    "change",
    [
        {"most": 1e-9},
        {"value": "check(m)"},
        {"asserts": [1]},
        {"decides": False},
        {"needs": ["stars"]},
    ],
)
def test_a_changed_criterion_fails_until_the_old_one_is_quoted(change):
    locks, changed = {"A": [criterion_digest([RECORD])]}, {**RECORD, **change}
    check_locks({"A": criterion(RECORD)}, locks)
    with pytest.raises(ConfigError, match="changed after it was locked"):
        check_locks({"A": criterion(changed)}, locks)
    with pytest.raises(ConfigError, match="quote each word for word"):
        renewed_locks({"A": criterion(changed)}, locks)
    renewed = renewed_locks({"A": criterion(changed, replaced=(quoted([RECORD]),))}, locks)
    assert renewed["A"] == [criterion_digest([RECORD]), criterion_digest([changed])]


def test_a_reworded_sentence_is_the_same_criterion():
    reworded = {**RECORD, "finds": "off by {value}", "unit": "violation"}
    check_locks({"A": criterion(reworded)}, {"A": [criterion_digest([RECORD])]})


def test_what_is_quoted_has_to_be_what_was_locked_with_reason_and_verdicts():
    locks = {"A": [criterion_digest([RECORD]), criterion_digest([OTHER])]}
    check_locks({"A": criterion(OTHER, replaced=(quoted([RECORD]),))}, locks)
    with pytest.raises(ConfigError, match="quotes others"):
        check_locks({"A": criterion(OTHER, replaced=(quoted([{**RECORD, "most": 0.2}]),))}, locks)
    with pytest.raises(ConfigError, match="quotes others"):
        check_locks({"A": criterion(OTHER)}, locks)
    for lack in ({"why": " "}, {"verdicts": {}}):
        with pytest.raises(ConfigError, match="lacks reason or verdicts"):
            check_locks({"A": criterion(OTHER, replaced=(quoted([RECORD], **lack),))}, locks)


def test_words_of_an_older_criterion_are_quoted_too():
    locks = {"A": [criterion_digest("at most 0"), criterion_digest([RECORD])]}
    check_locks({"A": criterion(RECORD, replaced=(quoted("at most 0"),))}, locks)
    with pytest.raises(ConfigError, match="quotes others"):
        check_locks({"A": criterion(RECORD, replaced=(quoted("at most 1"),))}, locks)
    assert quoted("at most 0").words == "at most 0"
    assert quoted([RECORD]).words == "$x$; claimed: at most 0"


def test_other_needs_of_data_are_another_criterion():
    other = criterion_digest([RECORD], {"needs": ("negatives",), "only": ()})
    assert other != criterion_digest([RECORD])
    quote = {"parts": [RECORD], "needs": ["negatives"]}
    assert criterion_digest(quote) == other
    text = f"A-1: {{parts: [{RECORD_TEXT}], replaced: [{{until: 1, why: so, verdicts: {{}}, was: "
    text += f"{{parts: [{RECORD_TEXT}], needs: [negatives]}}}}]}}"
    (old,) = read_criteria(text, "x.yaml")["A-1"].replaced
    assert criterion_digest(old.was) == other
    assert old.words == "$x$; claimed: at most 0"
