"""The guide: its lines, paragraphs, rules and what is counted, and the page that states them."""

from __future__ import annotations

import re
from pathlib import Path

import jupytext
import pytest

from recbias import System
from recbias.book.findings import Finding, Findings, check_findings, find, read_from, state
from recbias.book.guide import questions, rules
from recbias.book.guide.questions import DESIGNS, NOTES, QUESTIONS, advise, combinations
from recbias.book.guide.rules import RULES, basis_html, count_verdicts
from recbias.claims.judging import load_chapter
from recbias.claims.ledger import claims
from recbias.errors import ConfigError
from recbias.experiment.decisions import in_full, methods_paragraph
from recbias.experiment.options import Options
from recbias.experiment.outcomes import evaluate

ROOT = Path(__file__).parents[2]
FACTS = {"title": "A world", "n_ratings": 50_000, "n_users": 900, "n_items": 1_500}
ADVICES = [advise(codes) for codes in combinations()]
LINES = sorted({str(each.options) for each in ADVICES} - {"None"})


# -- questions ------------------------------------------------------------------------------------
@pytest.mark.parametrize("line", LINES)
def test_a_paragraph_is_its_sentences_and_its_line(line):
    options = Options.parse(line)
    assert str(options) == line
    told = questions.sentences_of(options, FACTS)
    assert " ".join([*told, f"{in_full()} `{line}`."]) == methods_paragraph(options, FACTS)


def test_sentences_stand_in_one_order_in_all_paragraphs():
    told = [questions.sentences_of(Options.parse(line), FACTS) for line in LINES]
    joined = questions._in_order(told)
    assert len(joined) == len(set(joined))
    for paragraph in told:
        places = [joined.index(sentence) for sentence in paragraph]
        assert places == sorted(places)


def test_other_lines_are_told_otherwise():
    told = {tuple(questions.sentences_of(Options.parse(line), FACTS)) for line in LINES}
    assert len(told) == len(LINES) == 27


def test_what_a_line_cannot_say_is_said_in_the_paragraph():
    html = questions.questions_html(FACTS)
    assert html.count('<q class="guide-said">') == len(questions.SAID) == 8
    assert set(questions.SAID) <= set(NOTES)
    told = {each.options.protocol.averaging.population for each in ADVICES if each.options
            and str(each.options.split) == "temporal 0.2"}  # fmt: skip
    assert told == {"tested", "runs", "groups"}
    assert DESIGNS["sized"].measures.startswith("Do not compare")


def test_a_paragraph_has_places_for_the_data_of_its_reader():
    told = questions.sentences_of(Options.parse(LINES[0]), questions.PLACES)
    assert told[0] == (
        "The data ([name]) are [number] ratings by [number] users on [number] items."
    )
    assert told[1:] == questions.sentences_of(Options.parse(LINES[0]), FACTS)[1:]


def test_every_design_note_and_option_is_of_use():
    assert {each.design for each in ADVICES} == {"", *DESIGNS}
    assert {note for each in ADVICES for note in each.notes} == set(NOTES)
    for name, axis in QUESTIONS.items():
        for one in axis.options:
            others = [
                (advise(codes), advise({**codes, name: one}))
                for codes in combinations()
                if codes[name] != one
            ]
            assert any(first != second for first, second in others), (name, one)


@pytest.mark.parametrize("name", DESIGNS)
def test_what_is_reported_beside_a_line_is_a_line(name):
    for _, changed in DESIGNS[name].beside:
        for line in (
            str(each.options) for each in map(advise, combinations()) if each.design == name
        ):
            parts = dict(part.split(": ", 1) for part in line.split("; "))
            threshold = re.search(r"rel>=\d", line)[0]
            new = dict(part.split(": ", 1) for part in changed.split("; "))
            if "lists" in new:
                rule, form, _ = f"{new['lists']} ".partition(" condensed ")
                new["lists"] = f"{rule.strip()} {threshold}{form}"
            other = Options.parse(
                "; ".join(f"{key}: {value}" for key, value in {**parts, **new}.items())
            )
            assert str(other) != line


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"times": "maybe"}, "times: 'maybe' is no answer"),
        ({"size": None}, "choose one of all, part"),
    ],
)
def test_what_is_no_answer_is_refused(change, message):
    with pytest.raises(ConfigError, match=message):
        advise({**combinations()[0], **change})


# -- rules ----------------------------------------------------------------------------------------
def cells():
    return jupytext.read(ROOT / "notebooks/guide.py").cells


def stated_by_rule(source):
    """Read from the page, by number of a rule, what it states and which basis stands below."""
    found = {}
    for cell in source:
        number = re.search(r"^\*\*(\d+)\. ", cell.source, re.MULTILINE)
        if number:
            basis = re.findall(r"^\{glue:md\}`basis_(\w+)`$", cell.source, re.MULTILINE)
            found[int(number[1])] = [check_findings(cell.source, str), *basis]
    return found


def faults_of(source):
    """List where the page and the rules differ."""
    found = stated_by_rule(source)
    wanted = {
        number: [list(rule.findings), name] for number, (name, rule) in enumerate(RULES.items(), 1)
    }
    return [number for number in wanted if found.get(number) != wanted[number]]


def test_the_page_states_what_its_rules_stand_on():
    assert faults_of(cells()) == []
    named = [name for cell in cells() if cell.cell_type == "markdown"
             for name in check_findings(cell.source, str)]  # fmt: skip
    assert sorted(named) == sorted(rules.stated())


@pytest.mark.parametrize(
    ("old", "new", "number"),
    [
        ("own/ORDER-TENTH", "own/DENSITY-MEDIAN", 5),
        ("**6. ", "**16. ", 6),
        ("`basis_even`", "`basis_likes`", 17),
    ],
)
def test_a_page_that_states_something_else_is_noticed(old, new, number):
    source = cells()
    for cell in source:
        cell.source = cell.source.replace(old, new)
    assert number in faults_of(source)


def test_rules_name_claims_and_each_has_a_line_of_both_checklists():
    known = {claim.id for claim in claims()}
    assert len(RULES) == 17
    for rule in RULES.values():
        assert set(rule.claims) <= known
        assert rule.author.endswith(".")
        assert rule.reviewer.endswith("?")
        assert set(rule.findings.values()) <= {"holds", "refuted"}
    assert rules.checklist_html("author").count("<li>") == 17


@pytest.mark.slow
def test_what_is_found_alone_is_what_its_chapter_finds():
    names = ["BCC17-C-RANGE/5", "own/POPULARITY-RANGE", "BCC17-C-ORDER", "own/ORDER-TENTH"]
    found = {
        name: each for findings in find(names, "ml-100k") for name, each in findings.found.items()
    }
    for topic in ("design alternatives", "sparsity bias"):
        results = load_chapter(
            {"design alternatives": "01_design_alternatives", "sparsity bias": "02_sparsity_bias"}[
                topic
            ],
            "ml-100k",
        )
        whole = state(topic, results).found
        for name in set(names) & set(whole):
            assert found[name] == whole[name]
    assert list(found) == names


def test_where_nothing_was_run_there_is_no_verdict():
    (findings,) = find(["own/POPULARITY-RANGE"], "ml-1m", lambda chapter, dataset: {})
    assert findings == Findings("design alternatives", {"own/POPULARITY-RANGE": Finding("")})


@pytest.mark.parametrize(
    ("name", "sets"),
    [
        ("BCC17-F8-1R/1/2", {""}),
        ("own/TRUTH-CM-REMEDIES-P", {"cm100k"}),
        ("BCC17-C-ORDER", {""}),
        ("own/WORLDS-AGREE-LEAD", {"simulations"}),
    ],
)
def test_what_a_finding_reads(name, sets):
    assert read_from(name) == sets


def test_verdicts_are_counted_of_all_recorded_data(monkeypatch):
    verdicts = {"ml-1m": "holds", "coat": "refuted", "cm100k": "open", "filmtrust": ""}
    asked = []

    def found(names, dataset, load):
        asked.append((dataset, tuple(names)))
        return [Findings("", {name: Finding(verdicts[dataset]) for name in names})]

    monkeypatch.setattr(rules, "find", found)
    monkeypatch.setattr(rules, "recorded_datasets", lambda: list(verdicts))
    monkeypatch.setattr(rules, "kept", lambda what, make: make())
    own, worlds = "own/POPULARITY-RANGE", "own/WORLDS-AGREE-LEAD"
    table = count_verdicts([own, worlds])
    assert table == {own: verdicts, worlds: {"ml-1m": "holds"}}
    assert asked[1] == ("coat", (own,)), "worlds are the same everywhere"
    home = {"BCC17-F2A": "partly"}
    text = basis_html(rules.Rule({own: "holds", worlds: "refuted"}, ("BCC17-F2A",)), table, home)
    assert re.sub("<[^>]+>", "", text) == (
        "Its first sentence holds on 1 of 3 data sets; fails on coat; open on cm100k. Its second "
        "fails in simulated worlds. Claims: BCC17-F2A (partly)."
    )
    assert 'data-claim="BCC17-F2A"' in text
    against = basis_html(rules.Rule({own: "refuted"}), table, {})
    assert "It holds on 1 of 3 data sets; fails on ml-1m; open on cm100k." in against
    untold = basis_html(rules.Rule({own: "holds"}), {own: {}}, {})
    assert "It is told by no recorded results." in untold


# -- lines run ------------------------------------------------------------------------------------
@pytest.mark.slow
@pytest.mark.parametrize(
    "line", [line for line in LINES if "temporal" not in line and "unbiased" not in line]
)
def test_a_line_can_be_measured(line, tmp_path_factory, monkeypatch):
    monkeypatch.setenv("RECBIAS_CELLS", str(tmp_path_factory.getbasetemp() / "guide-cells"))
    systems = (System("Random", "Random"), System("Popularity", "Popularity"))
    world = "world(users=300,items=1500,density=0.05,seed=4)"
    assert evaluate(Options.parse(line), world, systems) is not None
