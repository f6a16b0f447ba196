"""The ledger's closed lists, what its claims need of data, and what the papers assert."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable
from typing import Any

import pytest
import yaml

from recbias._system.places import packaged
from recbias.claims import NOT_TESTABLE, Claim, claims
from recbias.claims.ledger import NEEDS, UNCHECKED, check_core, read_claims
from recbias.claims.needs import missing_need
from recbias.data.datasets import registry
from recbias.errors import ConfigError

BY_ID = {claim.id: claim for claim in claims()}
ML_1M = ("ml-1m", "ml-1m-stars", "ml-1m-folds")


# -- closed lists ------------------------------------------------------------------------------

Entries = list[dict[str, Any]]
Asserted = dict[str, Any]
Core = dict[str, Any]


@pytest.fixture(scope="module")
def two_entries() -> tuple[Entries, Asserted, Core]:
    """Two entries of the real files, as a parser reads them."""
    ids = ["BCC17-F2A", "MCCRS20-F6-RF"]
    documents = [
        yaml.safe_load(packaged(f"published/{name}.yaml").read_text(encoding="utf-8"))
        for name in ("claims", "asserts", "core")
    ]
    entries = {entry["id"]: entry for entry in documents[0]["claims"]}
    asserted, core = ({each: document[each] for each in ids} for document in documents[1:])
    return [entries[each] for each in ids], asserted, core


def test_two_whole_entries_are_read(two_entries: tuple[Entries, Asserted, Core]) -> None:
    assert read_claims(*two_entries) == (BY_ID["BCC17-F2A"], BY_ID["MCCRS20-F6-RF"])


Change = Callable[[Entries, Asserted, Core], None]


def set_entry(name: str, value: Any) -> Change:
    def change(entries: Entries, asserted: Asserted, core: Core) -> None:
        entries[1][name] = value

    return change


def set_assertion(name: str, value: Any) -> Change:
    def change(entries: Entries, asserted: Asserted, core: Core) -> None:
        asserted["BCC17-F2A"]["asserts"][5][name] = value

    return change


def set_core(name: str, value: Any) -> Change:
    def change(entries: Entries, asserted: Asserted, core: Core) -> None:
        core["BCC17-F2A"][name] = value

    return change


def drop_core(entries: Entries, asserted: Asserted, core: Core) -> None:
    del core["BCC17-F2A"]


def rename_core(entries: Entries, asserted: Asserted, core: Core) -> None:
    core["BCC17-F2"] = core["BCC17-F2A"]


def rename_assertion(entries: Entries, asserted: Asserted, core: Core) -> None:
    asserted["BCC17-F2A"]["asserts"][9] = asserted["BCC17-F2A"]["asserts"].pop(8)


def swap_assertions(entries: Entries, asserted: Asserted, core: Core) -> None:
    rows = asserted["BCC17-F2A"]["asserts"]
    asserted["BCC17-F2A"]["asserts"] = dict(sorted(rows.items(), reverse=True))


def double_entry(entries: Entries, asserted: Asserted, core: Core) -> None:
    entries.append(entries[0])


def drop_assertions(entries: Entries, asserted: Asserted, core: Core) -> None:
    del asserted["BCC17-F2A"]


def drop_entry(entries: Entries, asserted: Asserted, core: Core) -> None:
    del entries[0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (set_entry("needs", ["negatives", "negative"]), "MCCRS20-F6-RF: unknown need 'negative': "),
        (set_entry("needs", ["no negatives"]), "MCCRS20-F6-RF: unknown need 'no negatives'"),
        (set_entry("only", ["cm100"]), "MCCRS20-F6-RF: unknown dataset 'cm100': did you mean"),
        (set_entry("class", "measured"), "MCCRS20-F6-RF: unknown class 'measured'"),
        (set_entry("chapter", "sparsity"), "MCCRS20-F6-RF: unknown chapter topic 'sparsity'"),
        (set_entry("simulation", "yes"), "MCCRS20-F6-RF: simulation is 'yes'"),
        (set_entry("pilot_seen", 1), "MCCRS20-F6-RF: pilot_seen is 1"),
        (set_entry("paper_at_hand", None), "MCCRS20-F6-RF: paper_at_hand is None"),
        (set_assertion("kind", "measured"), "BCC17-F2A #5: unknown kind of assertion 'measured'"),
        (set_assertion("unchecked", "too hard"), "BCC17-F2A #5: unknown reason 'too hard'"),
        (rename_assertion, "BCC17-F2A: assertions are numbered 1, 2, 3, 4, 5, 6, 7, 9"),
        (swap_assertions, "BCC17-F2A: assertions are numbered 8, 7"),
        (double_entry, "BCC17-F2A is there twice"),
        (drop_assertions, "asserts.yaml: BCC17-F2A of claims.yaml is missing"),
        (drop_entry, "no entry of claims.yaml is named BCC17-F2A"),
        (set_core("core", [1, 9]), "core.yaml: BCC17-F2A: it has no assertion 9"),
        (set_core("disputed", [0]), "core.yaml: BCC17-F2A: it has no assertion 0"),
        (set_core("disputed", [1]), "core.yaml: BCC17-F2A: 1 is core and disputed"),
        (set_core("core", []), "core.yaml: BCC17-F2A: none of its 8 assertions is core"),
        (set_core("scope", "wide"), "BCC17-F2A: unknown scope 'wide'"),
        (set_core("cores", [1]), "core.yaml: BCC17-F2A: unknown field 'cores'"),
        (drop_core, "core.yaml: BCC17-F2A of claims.yaml is missing"),
        (rename_core, "core.yaml: no entry of claims.yaml is named BCC17-F2"),
    ],
)
def test_what_is_not_of_a_closed_list_is_an_error_that_names_it(
    two_entries: tuple[Entries, Asserted, Core],
    change: Change,
    message: str,
) -> None:
    entries, asserted, core = copy.deepcopy(two_entries)
    change(entries, asserted, core)
    with pytest.raises(ConfigError) as error:
        read_claims(entries, asserted, core)
    assert message in str(error.value)


# -- which assertions are core -----------------------------------------------------------------


def core_file() -> Core:
    return yaml.safe_load(packaged("published/core.yaml").read_text(encoding="utf-8"))


LOCKED = packaged("published/criteria/core.lock").read_text(encoding="utf-8").strip()


def test_the_core_is_the_locked_one_and_as_the_file_says() -> None:
    check_core(core_file(), LOCKED)
    for name, entry in core_file().items():
        claim = BY_ID[name]
        assert (claim.core, claim.scope) == (tuple(entry["core"]), entry["scope"]), name
        assert claim.disputed == tuple(entry.get("disputed", ())), name


@pytest.mark.parametrize(
    ("field", "value"), [("core", [1, 3]), ("disputed", [2]), ("scope", "general")]
)
def test_any_other_core_is_refused(field: str, value: Any) -> None:
    changed = core_file()
    changed["BCC17-F2A"] = {**changed["BCC17-F2A"], field: value}
    with pytest.raises(ConfigError, match="core was changed after it was locked"):
        check_core(changed, LOCKED)


def test_an_entry_without_assertions_has_no_core_and_any_other_has_one() -> None:
    assert {claim.id for claim in claims() if not claim.core} == {
        claim.id for claim in claims() if not claim.asserts
    }


def test_needs_have_reasons_that_verdicts_may_give() -> None:
    assert set(NEEDS.values()) <= set(NOT_TESTABLE)
    reasons = set().union(*(info.cannot_test for info in registry().values()))
    # Of a world it is said that it has no people; no claim of the papers is barred for that.
    assert reasons - {"real people"} <= set(NEEDS.values())


# -- what data can test ------------------------------------------------------------------------

TESTABLE = {
    # Of another data set.
    ("BCC17-F2B", "ml-1m"): "dataset not here",
    ("BCC17-F2B", "lastfm-1k"): None,
    ("BCC17-F5R", "ml-1m"): None,  # what is printed of TREC is enough
    ("TOIS21-F9", "coat"): "dataset not here",
    ("TOIS21-F9", "cm100k"): None,
    ("MCCRS20-F6-RF", "yahoo-r3"): "dataset not here",
    ("MCCRS20-F6-RF", "cm100k"): None,
    ("MCCRS20-F5A-ML", "ml-100k"): "dataset not here",
    ("MCCRS20-F5A-ML", "ml-1m"): None,
    ("CCM20-T1", "filmtrust"): "dataset not here",
    ("CCM20-T1", "ml-1m"): None,
    ("BCC17-F2A", "mine"): None,
    # The papers' folds of MovieLens 1M have neither times nor low stars.
    ("TOIS21-TIME", "ml-1m"): "no timestamps",
    ("TOIS21-TIME", "ml-1m-stars"): None,
    ("BCC17-C-DATA", "ml-1m"): None,  # some of its records need times, others do not
    ("TOIS21-TIME", "filmtrust"): "no timestamps",
    ("TOIS21-TIME", "ml-latest-small"): None,
    ("BCC17-C-THR", "ml-1m"): None,
    ("CCM20-C-TAURBO", "ml-1m"): "merged stars",
    ("CCM20-T3", "ml-1m"): None,
    ("CCM20-T3", "ml-1m-stars"): None,
    # Plays are no dislikes.
    ("CCM20-T3", "lastfm-1k"): "no negatives",
    ("CCM20-C-CONDROSE", "lastfm-1k"): "no negatives",
    ("CCM20-F5A", "lastfm-1k"): "no negatives",
    ("TOIS21-TIME", "lastfm-1k"): "no negatives",
    ("BCC17-F9-BPLFM", "lastfm-1k"): None,
    ("BCC17-F9-BPLFM", "ml-1m"): "dataset not here",
    # Only some data have ratings of items drawn at random.
    ("MCCRS20-F6-P", "ml-1m"): "no unbiased part",
    ("MCCRS20-F6-P", "coat"): None,
    ("TOIS21-C-OPT", "netflix"): "no unbiased part",
    ("MCCRS20-C-WHICH", "synthetic"): None,
    # A simulation asks nothing of data.
    ("TOIS21-SYN", "lastfm-1k"): None,
    ("BCC17-F5C", "ml-1m"): None,
}


@pytest.mark.parametrize(("case", "reason"), TESTABLE.items(), ids=map("-".join, TESTABLE))
def test_a_data_set_tests_what_it_can(case: tuple[str, str], reason: str | None) -> None:
    claim, dataset = BY_ID[case[0]], case[1]
    info = registry().get(dataset)
    lacks = info.cannot_test if info else ()
    assert missing_need(claim, dataset, lacks) == reason
    # The twin: a claim that needs nothing is never refused.
    asks_nothing = dataclasses.replace(claim, needs=(), only=())
    assert missing_need(asks_nothing, dataset, lacks) is None


def test_a_simulation_belongs_to_no_data_set() -> None:
    simulated = [claim for claim in claims() if claim.simulation]
    assert {"BCC17-F5C", "BCC17-C-UNIF", "TOIS21-SYN"} <= {claim.id for claim in simulated}
    assert not any(claim.needs or claim.only for claim in simulated)


# -- what the papers assert --------------------------------------------------------------------


def nothing_asserted(found: tuple[Claim, ...]) -> set[str]:
    return {claim.id for claim in found if not claim.asserts}


def test_only_a_paper_that_was_read_asserts_something() -> None:
    unread = {claim.id for claim in claims() if not claim.paper_at_hand}
    assert unread == {claim.id for claim in claims() if claim.paper == "TOIS21"}
    # The poster says nothing of popularity as a system; the entry was derived.
    assert nothing_asserted(claims()) == unread | {"ATM15-C-POP"}


def test_every_reason_is_used_and_no_identity_has_one() -> None:
    rows = [row for claim in claims() for row in claim.asserts]
    assert {row.unchecked for row in rows} == {"", *UNCHECKED}
    assert not [row.text for row in rows if row.kind == "identity" and row.unchecked]
    assert not [row.text for row in rows if row.text.rstrip()[-1:] not in {".", ")"}]


@pytest.mark.parametrize(
    ("claim", "number"),
    [("BCC17-F2A", 5), ("BCC17-F2C", 5), ("BCC17-F3R", 4), ("BCC17-L1-PROOF", 3)],
    ids=["close behind", "MF over kNN", "converges", "reversed"],
)
def test_what_is_inconvenient_is_not_excused(claim: str, number: int) -> None:
    assertion = BY_ID[claim].asserts[number - 1]
    assert (assertion.number, assertion.unchecked) == (number, "")


@pytest.mark.parametrize("claim", ["BCC17-F2A", "BCC17-F2C", "BCC17-EQ-ARP", "MCCRS20-T1"])
def test_results_seen_before_the_criterion_are_confessed(claim: str) -> None:
    assert BY_ID[claim].pilot_seen


def test_claims_of_one_data_set_name_all_its_versions() -> None:
    for claim in claims():
        assert not set(ML_1M) & set(claim.only) or set(ML_1M) <= set(claim.only), claim.id
