"""Whether claims are reproduced, and whether they generalise: two answers, not mixed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence

import pytest
from click.testing import CliRunner

from recbias.claims import claims
from recbias.claims.answers import FATES, Answers, answer, joined
from recbias.claims.home import hangs_on_no_data, home
from recbias.claims.judging import Verdict, by_parts
from recbias.claims.parts import Part
from recbias.claims.reading import NOT_AT_HAND, answer_totals
from recbias.claims.records import Record
from recbias.cli.commands import main

BY_ID = {claim.id: claim for claim in claims()}
VALUES = {"holds": 2.0, "refuted": 0.0, "open": float("nan")}
OTHERS = ("cm100k", "coat", "filmtrust", "ml-100k", "ml-1m", "ml-latest-small")


def part(found: str, number: int = 1) -> Part:
    raw = {"finds": "{value}", "value": f'check("n{number}")', "least": 1, "asserts": [number]}
    record = Record.from_dict(raw)
    if found == "not testable":
        return Part(record, None, lacks="no timestamps")
    return Part(record, VALUES[found])


def of(claim: str, found: Mapping[str, str | Sequence[str]]) -> dict[str, Verdict]:
    """Verdicts by data set: of what became of a claim's core parts, or of its first alone."""
    core = BY_ID[claim].core
    return {
        name: by_parts(
            BY_ID[claim],
            [part(f, core[n]) for n, f in enumerate([fates] if isinstance(fates, str) else fates)],
        )
        for name, fates in found.items()
    }


GENERAL = "BCC17-C-OTHER"  # at home on MovieLens 1M, and asked of other data


def test_the_claim_used_here_is_at_home_on_one_data_set_and_asked_of_others() -> None:
    claim = BY_ID[GENERAL]
    assert home(claim, OTHERS) == ("ml-1m",)
    assert (claim.scope, len(claim.core), hangs_on_no_data(claim)) == ("both", 2, False)


@pytest.mark.parametrize("at_home", ["holds", "refuted", "open", "not testable"])
@pytest.mark.parametrize("elsewhere", ["holds", "refuted", "open", "not testable"])
def test_neither_answer_says_anything_about_the_other(at_home: str, elsewhere: str) -> None:
    found = answer(of(GENERAL, dict.fromkeys(OTHERS, elsewhere) | {"ml-1m": at_home}))
    words = {"holds": "yes", "refuted": "no", "open": "undecided"}
    assert found.reproduced == words.get(at_home, "not testable here")
    fates = {"holds": "holds", "refuted": "fails", "open": "is open"}
    assert found.counts == ({fates[elsewhere]: 5} if elsewhere in fates else {})


def test_the_other_data_sets_are_counted() -> None:
    found = answer(
        of(
            GENERAL,
            {
                "ml-1m": "holds",
                "ml-100k": "holds",
                "filmtrust": "open",
                "coat": "not testable",
                "cm100k": "refuted",
                "ml-latest-small": ("holds", "refuted"),
            },
        )
    )
    assert found.generalises == "holds on 1 of 4, fails in part on 1, fails on 1, is open on 1"
    assert found.to_dict()["generalises"] == {
        "holds": 1, "is open": 1, "fails": 1, "fails in part": 1,
    }  # fmt: skip


def test_a_claim_about_one_data_set_is_judged_at_home_only() -> None:
    found = answer(of("BCC17-F2A", {"ml-1m": "holds", "coat": "refuted", "cm100k": "holds"}))
    assert BY_ID["BCC17-F2A"].scope == "data"
    assert (found.reproduced, found.counts) == ("yes", {})
    assert found.generalises == "about its own data"


def test_data_that_nobody_here_has_reproduce_nothing() -> None:
    found = answer(of("BCC17-C-DISAGREE", {"ml-1m": "holds", "coat": "refuted"}))
    assert (found.reproduced, found.where) == (NOT_AT_HAND, NOT_AT_HAND)
    assert found.generalises == "holds on 1 of 2, fails on 1"
    assert found.to_dict()["home"] == []


def test_what_hangs_on_no_data_counts_once() -> None:
    found = answer(of("BCC17-EQ1", {"ml-1m": "holds", "coat": "holds", "cm100k": "holds"}))
    assert (found.reproduced, found.where) == ("yes", "no data")
    assert (found.counts, found.generalises) == ({}, "counts once")
    broken = answer(of("BCC17-EQ1", {"ml-1m": "holds", "coat": "refuted", "cm100k": "holds"}))
    assert broken.reproduced == "partly", "a defect that one edition sees is seen"


TWO = "MCCRS20-F1-BL"  # at home on MovieLens 1M and CM100k


def pooled(found: Sequence[Sequence[str]]) -> str:
    """What the core of several data sets comes to, in plain loops: a list of fates for each."""
    n_parts = max(len(fates) for fates in found)
    kept = []
    for number in range(n_parts):
        here = [fates[number] for fates in found if number < len(fates)]
        tested = [fate for fate in here if fate != "not testable"]
        kept += tested or here[:1]
    counts = Counter(kept)
    if counts["not testable"] == len(kept):
        return "not testable here"
    if counts["refuted"]:
        return "partly" if counts["holds"] else "no"
    return "undecided" if counts["open"] or counts["not testable"] else "yes"


@pytest.mark.parametrize("one", ["holds", "refuted", "open", "not testable"])
@pytest.mark.parametrize("other", ["holds", "refuted", "open", "not testable"])
@pytest.mark.parametrize("second", ["holds", "refuted", "open", "not testable"])
def test_several_data_sets_at_home_are_judged_together(one: str, other: str, second: str) -> None:
    found = {"ml-1m": (one, second), "cm100k": (other, "not testable")}
    verdicts = of(GENERAL, found)
    testable = [found[key] for key, each in verdicts.items() if each.verdict in FATES]
    assert joined(list(verdicts.values())).verdict == pooled(testable or [["not testable"]])


def test_where_data_sets_at_home_differ_each_is_named() -> None:
    assert home(BY_ID[TWO], OTHERS) == ("cm100k", "ml-1m")
    found = answer(of(TWO, {"cm100k": "open", "ml-1m": "holds", "coat": "holds"}))
    assert found.reproduced == "undecided"
    assert found.where == "cm100k: undecided, ml-1m: yes"
    assert found.generalises == "holds on 1 of 1"
    same = answer(of(TWO, {"cm100k": "holds", "ml-1m": "holds"}))
    assert (same.reproduced, same.where) == ("yes", "cm100k, ml-1m")
    assert same.generalises == "no other data can test it"


def test_totals_count_what_hangs_on_no_data_and_what_asserts_nothing_apart() -> None:
    rows = [
        {
            "class": claim.kind,
            "counts as": claim.counts_as,
            "answers": Answers(
                claim, home(claim, OTHERS), "yes", no_data=hangs_on_no_data(claim)
            ).to_dict(),
        }
        for claim in claims()
    ]
    table = answer_totals({"claims": rows})
    assert sum(row["all"] for row in table.values()) == len(claims())
    without = sum(not claim.asserts for claim in claims())
    apart = sum(bool(claim.asserts) and hangs_on_no_data(claim) for claim in claims())
    assert table["no assertion of a paper"]["all"] == without == 7
    assert table["hangs on no data"]["all"] == apart
    rest = [c for c in claims() if c.asserts and c.kind == "empirical" and not hangs_on_no_data(c)]
    assert table["empirical"]["yes"] == len(rest)


@pytest.mark.slow
def test_the_command_prints_both_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    verdicts = [of(claim, dict.fromkeys(OTHERS, "holds")) for claim in (GENERAL, "BCC17-EQ1")]
    derived = BY_ID["ATM15-C-POP"]
    verdicts.append({name: by_parts(derived, [part("holds")]) for name in OTHERS})
    both = {name: [each[name] for each in verdicts] for name in OTHERS}
    monkeypatch.setattr("recbias.claims.writing.scorecards", lambda datasets, load: both)
    told = CliRunner().invoke(main, ["claims", "--reproduced"], catch_exceptions=False)
    both_lines, _, totals = told.output.partition("\n\n")
    assert both_lines.splitlines() == [
        "BCC17-C-OTHER      yes (ml-1m); holds on 5 of 5",
        "BCC17-EQ1          yes (no data); counts once",
        "ATM15-C-POP        yes (filmtrust, ml-100k, ml-1m, ml-latest-small); holds on 2 of 2; "
        "no assertion of a paper",
    ]
    assert [line.split()[-8] for line in totals.splitlines()[1:]] == ["1", "0", "0", "1", "1"]
    told = CliRunner().invoke(main, ["claims", "--reproduced", "--json"], catch_exceptions=False)
    found = json.loads(told.output)["claims"]
    rows = [claim["answers"] for claim in found]
    assert [(row["no data"], row["home"]) for row in rows[:2]] == [(False, ["ml-1m"]), (True, [])]
    counted = ["empirical", "theorem", "no assertion of a paper"]
    assert [claim["counts as"] for claim in found] == counted
    assert rows[0]["generalises"] == {"holds": 5}
