"""Sentences that follow verdicts: blocks, the parts that they name, the forms that fit."""

from __future__ import annotations

import dataclasses
import json
import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import jupytext
import numpy as np
import pytest
from hatchling.builders.wheel import WheelBuilder
from IPython.core.interactiveshell import InteractiveShell

from recbias.book import findings
from recbias.book.findings import (
    Finding,
    Findings,
    check_findings,
    find_findings,
    own_findings,
    resolve_findings,
    said,
    state,
    stored_findings,
)
from recbias.book.notebooks import list_chapters
from recbias.claims import judge_chapter, judging, load_chapter
from recbias.claims.parts import Part, combine
from recbias.claims.records import Record, criteria_of
from recbias.claims.topics import find_page
from recbias.errors import ConfigError
from recbias.experiment.results import Quantity, recorded_datasets

TOPIC = "design alternatives"
CHAPTER = "01_design_alternatives"
ROOT = Path(__file__).parents[2]


def where(line: int) -> str:
    return f"page.md:{line + 1}"


def resolved(text: str, **found: Finding) -> str:
    """Resolve a text in which A, B, ... stand for assertions of two claims."""
    text = whole(text)
    names = {"A": "BCC17-F2A/1", "B": "BCC17-F2A/4", "C": "BCC17-F2A", "D": "BCC17-C-RANGE/1"}
    for short, name in names.items():
        text = re.sub(rf"\}} {short}$", f"}} {name}", text, flags=re.MULTILINE)
    stated = Findings(TOPIC, {names[short]: each for short, each in found.items()})
    return resolve_findings(text, [stated], where)


def whole(text: str) -> str:
    """Write a dash for the forms that blocks lack, to keep the blocks of tests short."""

    def complete(block: re.Match[str]) -> str:
        name, margin = block["name"], re.sub(r"\S", " ", block["margin"])
        known = ("holds", "refuted", "open")
        if name == "C" or ("/" not in name and len(name) > 1):
            known = ("yes", "no", "partly", "undecided")
        lacking = [v for v in known if not re.search(rf"^\s*{v}:", block["body"], re.MULTILINE)]
        dashes = "".join(f"{margin}{verdict}: -\n" for verdict in lacking)
        return f"{block['opening']}\n{block['body']}{dashes}{margin}:::"

    return re.sub(
        r"(?m)^(?P<opening>(?P<margin> *(?:[-*] )?):::\{finding\} (?P<name>\S+))\n"
        r"(?P<body>(?:(?! *:::$).+\n)+) *:::$",
        complete,
        text,
    )


def marked(name: str, verdict: str, text: str) -> str:
    return f'<span class="finding" data-part="{name}" data-verdict="{verdict}">{text}</span>'


HOLDS, REFUTED, OPEN = (Finding(verdict, 2.5) for verdict in ("holds", "refuted", "open"))

BLOCK = """Before
:::{finding} A
holds: It holds at {value}
  and *more*.

refuted: It is refuted.
:::
after."""
BLOCK = BLOCK.replace("\n\nrefuted", "\nrefuted").replace("refuted.\n", "refuted.\nopen: -\n")


# -- blocks --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("form", "told"),
    [
        ("It is {value} ({low} to {high}).", "It is 0.5 (no interval)."),
        (
            "($x_{low}$ = {value}, {low:.2f} to {high:.2f}; so)",
            "($x_{low}$ = 0.5, no interval; so)",
        ),
        ("It is open ({low} to {high} of {cases} pairs).", "It is open (no interval)."),
        ("Not sure: {low} to {high} times.", "Not sure: an unknown number times."),
    ],
)
@pytest.mark.parametrize("ends", [(None, None), (0.1, None), (None, 0.9)])
def test_an_interval_that_is_not_known_has_no_ends(form, told, ends):
    assert Finding("open", 0.5, *ends).fill(form) == told
    assert "0.10 to 0.90" in Finding("open", 0.5, 0.1, 0.9).fill(form.replace(":.2f", ""))


def test_the_form_that_fits_stands_in_the_running_text():
    expected = marked("BCC17-F2A/1", "holds", "It holds at 2.5 and *more*.")
    assert resolved(BLOCK, A=HOLDS) == f"Before\n{expected}\nafter."
    expected = marked("BCC17-F2A/1", "refuted", "It is refuted.")
    assert resolved(BLOCK, A=REFUTED) == f"Before\n{expected}\nafter."


@pytest.mark.parametrize("finding", [OPEN, Finding("")])
def test_without_a_form_or_a_verdict_nothing_is_said(finding):
    assert resolved(BLOCK, A=finding) == "Before\nafter."


def test_what_no_results_hold_is_left_out():
    assert resolved(BLOCK) == "Before\nafter."


def test_claims_have_verdicts_of_their_own():
    text = ":::{finding} C\npartly: In part.\nno: No.\n:::"
    assert resolved(text, C=Finding("partly")) == marked("BCC17-F2A", "partly", "In part.")
    assert resolved(text, C=Finding("yes")) == ""


@pytest.mark.parametrize(
    ("opening", "closing"),
    [
        ("::::{predict} Which?\n- a\n- b\n", "::::"),
        (":::::{tip}\n::::{note}", "::::\n:::::"),
        ("````{admonition} Why\n:class: dropdown\n", "````"),
        ("```{glue:figure} f\n:name: fig-f\n", "```"),
        ("~~~text\ncode\n~~~\n", "End."),
    ],
)
def test_blocks_stand_inside_directives_and_behind_code(opening, closing):
    text = resolved(f"{opening}\n{BLOCK}\n{closing}", A=REFUTED)
    sentence = marked("BCC17-F2A/1", "refuted", "It is refuted.")
    assert text == f"{opening}\nBefore\n{sentence}\nafter.\n{closing}"


@pytest.mark.parametrize("fence", ["```", "~~~", "````text", "```{code-block} md", "```{math}"])
def test_code_is_left_alone(fence):
    end = re.match("[`~]+", fence)[0]
    text = f"{fence}\n:::{{finding}} no such\n:::\n{end}"
    assert resolved(text) == text
    assert resolved(f"{text}\n{BLOCK}") == f"{text}\nBefore\nafter."


def test_a_list_item_of_which_nothing_is_left_goes():
    text = (
        "- :::{finding} A\n  holds: It *is*,\n    and so.\n  :::\n  Why is that?\n"
        "- :::{finding} B\n  holds: It is too.\n  :::\n1. Last."
    )
    a, b = marked("BCC17-F2A/1", "holds", "It *is*, and so."), "It is too."
    b = marked("BCC17-F2A/4", "holds", b)
    assert resolved(text, A=HOLDS, B=HOLDS) == f"- {a}\n  Why is that?\n- {b}\n1. Last."
    assert resolved(text, A=HOLDS, B=OPEN) == f"- {a}\n  Why is that?\n1. Last."
    assert resolved(text, B=HOLDS) == f"- Why is that?\n- {b}\n1. Last."


def test_a_second_sentence_takes_the_place_of_the_first_in_its_item():
    text = "* :::{finding} A\n  holds: One.\n  :::\n  :::{finding} B\n  holds: Two.\n  :::\n\nEnd."
    assert resolved(text, B=HOLDS) == f"* {marked('BCC17-F2A/4', 'holds', 'Two.')}\n\nEnd."
    assert resolved(text) == "\nEnd."


@pytest.mark.parametrize(
    ("name", "body", "line", "message"),
    [
        ("BCC17-F2Z/1", "holds: x\n:::", 2, "unknown claim 'BCC17-F2Z': did you mean"),
        ("BCC17-F2A/8", "holds: x\n:::", 2, "no part of BCC17-F2A judges its assertion 8"),
        ("BCC17-F2A/99", "holds: x\n:::", 2, "judged are 1, 2, 3, 4, 5, 6, 7"),
        ("BCC17-F2A/x", "holds: x\n:::", 2, "no part of BCC17-F2A judges its assertion x"),
        ("BCC17-F8-1R/1/4", "holds: x\n:::", 2, "BCC17-F8-1R/1 has the parts 1, 2, 3; '4' is none"),
        ("BCC17-F8-1R/1/0", "holds: x\n:::", 2, "BCC17-F8-1R/1 has the parts 1, 2, 3; '0' is none"),
        ("BCC17-F8-1R/1/", "holds: x\n:::", 2, "BCC17-F8-1R/1 has the parts 1, 2, 3; '' is none"),
        ("BCC17-F8-1R/2/1", "holds: x\n:::", 2, "BCC17-F8-1R/2 is one part; '1' is none"),
        ("own/NONE", "holds: x\n:::", 2, "unknown finding of this book 'NONE'"),
        ("", "holds: x\n:::", 2, "unknown claim ''"),
        ("A", "hold: x\n:::", 2, "unknown verdict 'hold': did you mean 'holds'"),
        ("A", "yes: x\n:::", 2, "unknown verdict 'yes'"),
        ("C", "holds: x\n:::", 2, "unknown verdict 'holds'.*known: yes, no, partly, undecided"),
        ("C", ":::", 2, "it has no form for yes, no, partly, undecided; write one for each"),
        ("A", "holds: x\nrefuted: y\n:::", 2, "it has no form for open; .*: 'open: -'"),
        ("A", "holds: x\nopen: z\n:::", 2, "it has no form for refuted"),
        ("C", "yes: x\nno: y\npartly: z\n:::", 2, "it has no form for undecided"),
        ("A", "holds: x\n  y\nrefuted: x y\nopen: -\n:::", 2, "the same for holds and for refuted"),
        ("C", "no: x\nyes: x\npartly: -\nundecided: -\n:::", 2, "the same for yes and for no"),
        ("A", "holds:\n:::", 2, "holds has no sentence"),
        ("A", "holds: x", 2, "is not closed with :::"),
        ("A", "holds: x\n::::", 4, "'::::' is no form"),
        ("A", "holds: x\nand more\n:::", 4, "'and more' is no form; write 'verdict: sentence'"),
        ("A", "holds: x\n\nrefuted: y\n:::", 4, "a blank line"),
        ("A", "holds: x\nholds: y\n:::", 4, "holds is there twice"),
        ("A", "holds: <span>x</span>\n:::", 2, "holds no <span>"),
        ("A", "holds: {vale} x\n:::", 2, "unknown placeholder 'vale': did you mean 'value'"),
        ("A", "holds: {value:.2q} x\n:::", 2, "format"),
    ],
)
def test_what_is_wrong_with_a_block_is_told_with_its_line(name, body, line, message):
    name = {"A": "BCC17-F2A/1", "C": "BCC17-F2A"}.get(name, name)
    text = f"Before.\n:::{{finding}} {name}\n{body}"
    with pytest.raises(ConfigError, match=f"^page.md:{line}: .*{message}"):
        check_findings(text, where)


@pytest.mark.parametrize("where_to", ["{}", "- {}", "1. {}", "::::{{note}}\n{}\n::::"])
def test_a_dash_says_nothing_on_purpose(where_to):
    block = ":::{finding} A\nholds: -\nrefuted: -\nopen: Nobody knows.\n:::"
    text = where_to.format(
        block.replace("\n", "\n" + re.sub(r"\S", " ", where_to.partition("{")[0]))
    )
    text = text if "note" not in where_to else where_to.format(block)
    assert "finding" not in resolved(text, A=HOLDS)
    assert "finding" not in resolved(text, A=REFUTED)
    assert marked("BCC17-F2A/1", "open", "Nobody knows.") in resolved(text, A=OPEN)


@pytest.mark.parametrize(
    "line",
    [
        "::{finding} BCC17-F2A/1",
        ":::{Finding} BCC17-F2A/1",
        "::: {finding} BCC17-F2A/1",
        ":::{ finding } BCC17-F2A/1",
        "> :::{finding} BCC17-F2A/1",
        ": :::{finding} BCC17-F2A/1",
        "| a | :::{finding} BCC17-F2A/1 |",
        "So it is: :::{finding} BCC17-F2A/1",
        "{finding}`BCC17-F2A/1`",
        "```{FINDING} BCC17-F2A/1",
        "~~~{finding} BCC17-F2A/1",
    ],
)
def test_a_block_that_is_written_wrongly_does_not_stay_as_text(line):
    text = f"Before.\n\n{line}\nholds: It holds.\nrefuted: No.\nopen: -\n:::"
    with pytest.raises(ConfigError, match=r"^page.md:3: .* opens no block"):
        check_findings(text, where)
    with pytest.raises(ConfigError, match=r"^page.md:3: "):
        resolve_findings(text, [], where)


def test_code_may_speak_of_blocks():
    text = (
        f"{BLOCK.replace('} A', '} BCC17-F2A/1')}\nWrite ``:::{{finding}} NAME`` or `{{finding}}`."
    )
    assert check_findings(text, where) == ["BCC17-F2A/1"]


def test_an_assertion_that_another_claim_judges_is_named_there():
    criteria = criteria_of(TOPIC)
    claim, number, other = next(
        (claim, number, other)
        for claim, criterion in criteria.items()
        for number, other in criterion.elsewhere.items()
        if any(record.asserts for record in criterion.records if record.decides)
    )
    with pytest.raises(ConfigError, match=f"assertion {number}: {other} judges it"):
        check_findings(f":::{{finding}} {claim}/{number}\nholds: x\n:::", where)


def test_a_claim_that_nothing_judges_so_far_has_no_verdict_to_follow(monkeypatch):
    monkeypatch.setattr(findings, "_records", lambda claim: [])
    with pytest.raises(ConfigError, match="no record judges BCC17-F2A so far"):
        check_findings(":::{finding} BCC17-F2A\nyes: x\n:::", where)


def test_a_topic_that_nobody_states_is_an_error():
    with pytest.raises(
        ConfigError, match=r"page.md:2: .*\n.* state\('design alternatives', results\)"
    ):
        resolve_findings(BLOCK.replace("} A", "} BCC17-F2A/1"), [], where)


# -- values --------------------------------------------------------------------------------------


def test_values_are_written_in_the_unit_of_the_record():
    found = Finding("holds", 0.935, 0.9, 0.97, "kNN [a_b]", "percent")
    form = "{which}: {value} ({low} to {high}) {value:.2f} {value:.0%}"
    assert found.fill(form) == r"kNN \[a\_b\]: 93.5 % (90 % to 97 %) 0.94 94 %"
    assert Finding("holds", None, unit="factor").fill("{value} {low:.2f}") == "undefined undefined"


def few_record() -> Record:
    """A record that holds from 0 on."""
    return Record.from_dict({"finds": "{value}", "value": "statistic(n)", "least": 0})


def test_a_share_of_few_cases_can_be_told_by_their_number():
    few = Finding("holds", 27 / 28, 25 / 28, 1.0, unit="percent", cases=28)
    form = "{value:cases} of {cases} ({low:cases} to {high:cases}), {value}"
    assert few.fill(form) == "27 of 28 (25 to 28), 96.4 %"
    fewer = dataclasses.replace(few, value=-6 / 37, low=-11 / 37, high=-1 / 37, cases=37)
    assert fewer.fill("{value:cases} ({low:cases} to {high:cases})") == (
        "\N{MINUS SIGN}6 (\N{MINUS SIGN}11 to \N{MINUS SIGN}1)"
    )
    assert Finding("holds", 0.5).fill("{value:cases} of {cases}") == "undefined of undefined"
    assert Finding("open", 0.5).fill("{value} ({low:.2f} to {high:+.2f})") == "0.5 (no interval)"
    undefined = Part(few_record(), Quantity(np.nan, np.array([np.inf, np.inf])))
    assert undefined.verdict == "open"
    part = Part(few_record(), Quantity(0.75, None, limits=(0.5, 1.0), cases=4))
    assert findings._of_parts([part]).cases == 4


def test_a_part_of_an_assertion_is_stated_by_its_place(edition):
    _, verdicts, stated = edition
    several = 0
    for verdict in verdicts:
        for number in sorted({n for part in verdict.parts for n in part.record.asserts}):
            records = [
                record
                for record in criteria_of(TOPIC)[verdict.claim.id].records
                if number in record.asserts and record.decides and not record.corrects
            ]
            for place, record in enumerate(records, start=1):
                own = [part.verdict for part in verdict.parts if part.record == record]
                decided = [v for v in ("refuted", "open", "holds") if v in own]
                found = stated.found[f"{verdict.claim.id}/{number}/{place}"]
                assert found.verdict == (decided[0] if decided else "")
                several += len(records) > 1
    assert several > 20


def test_formulas_and_roles_are_no_placeholders():
    form = "{value}`x` $T_{low}$ {glue:text}`value` {math}`a_{high}`"
    assert Finding("holds", 1.0, 2.0, 3.0).fill(form) == form


# -- what is handed over ---------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["ml-1m", "ml-100k", "cm100k"])
def edition(request) -> tuple[dict, list, Findings]:
    results = load_chapter(CHAPTER, request.param)
    verdicts = judge_chapter(TOPIC, results)
    return results, verdicts, state(TOPIC, results, verdicts)


def test_every_part_that_has_a_verdict_can_be_stated(edition):
    results, verdicts, stated = edition
    assert stated == state(TOPIC, results), "judged by itself if need be"
    for verdict in verdicts:
        claim = verdict.claim.id
        known = verdict.verdict in ("yes", "no", "partly", "undecided")
        assert stated.found[claim].verdict == (verdict.verdict if known else "")
        numbers = {n for part in verdict.parts for n in part.record.asserts}
        for number in numbers:
            parts = [
                part
                for part in verdict.parts
                if number in part.record.asserts
                and not part.record.corrects
                and part.record.decides
            ]
            joined = combine(
                dataclasses.replace(p, record=dataclasses.replace(p.record, supports=True))
                for p in parts
            )
            expected = {
                "yes": "holds", "no": "refuted", "partly": "refuted", "undecided": "open", "": "",
            }[joined]  # fmt: skip
            found = stated.found.get(f"{claim}/{number}", Finding(""))
            assert found.verdict == expected, f"{claim}/{number}"
            if expected:
                first = next(part for part in parts if part.verdict == expected)
                assert (found.value, found.which) == (first.value, first.which)
                assert found.unit == first.record.unit


def test_the_value_is_that_of_a_part_which_decides():
    results = load_chapter(CHAPTER, "ml-100k")
    (verdict,) = [v for v in judge_chapter(TOPIC, results) if v.claim.id == "BCC17-C-SIG"]
    assert {part.verdict for part in verdict.parts[:3]} == {"holds", "refuted"}
    found = state(TOPIC, results, [verdict]).found["BCC17-C-SIG/1"]
    assert (found.verdict, found.value) == (
        "refuted",
        next(part.value for part in verdict.parts if part.verdict == "refuted"),
    )


def test_an_assertion_of_which_some_results_are_missing_has_no_verdict():
    results = dict(load_chapter(CHAPTER, "ml-1m"))
    whole = state(TOPIC, results).found
    del results["checks"]
    found = state(TOPIC, results).found
    assert whole["BCC17-C-TIAI/2"].verdict
    assert found["BCC17-C-TIAI/2"].verdict == ""
    assert found["BCC17-C-TIAI/1"] == whole["BCC17-C-TIAI/1"], "its parts are there"
    assert found["BCC17-C-TIAI"].verdict == "", "the claim needs both"
    assert state(TOPIC, {}).found["BCC17-F2A"].verdict == ""


@pytest.mark.parametrize(
    ("lacking", "value", "verdict"),
    [
        ({"needs": ["unbiased"]}, 2.0, ""),
        ({"needs": ["unbiased"]}, 0.0, "refuted"),
        ({"only": ["yahoo-r3"]}, 2.0, "holds"),
    ],
)
def test_what_only_some_parts_can_test_is_said_to_be_refuted_and_never_to_hold(
    lacking, value, verdict
):
    here = {"finds": "{value}", "value": "statistic(n)", "least": 1}
    parts = [
        Part(Record.from_dict(here), value),
        Part(Record.from_dict({**here, **lacking}), None, lacks="dataset not here"),
    ]
    assert findings._of_parts(parts).verdict == verdict


def test_a_notebook_shows_nothing_and_keeps_what_was_found(edition, monkeypatch):
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])  # the shell has its own
    stated = edition[2]
    shell = InteractiveShell.instance()
    data, metadata = shell.display_formatter.format(stated)
    assert data == {"text/plain": ""}
    output = json.loads(json.dumps({"data": data, "metadata": metadata}, allow_nan=False))
    assert list(find_findings([{"output_type": "stream"}, output])) == [stated]


# -- findings of this book -------------------------------------------------------------------------

OWN = """
REORDER:
  finds: tau of the orders by test ratings only and among all tested items is {value}
  value: tau(P[R_test], P[AR])
  systems: all
  below: 0.5
LACKS:
  finds: "{value} on other data"
  value: P[R_test] of pLSA / P[AR] of pLSA
  least: 1
  only: [lastfm-1k]
MISSING:
  finds: "{value} of nobody"
  value: P[AR] of Nobody
  least: 1
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Findings of this book in a folder of their own."""
    folder = tmp_path / "findings"
    folder.mkdir()
    (folder / "design_alternatives.yaml").write_text(OWN, encoding="utf-8")
    monkeypatch.setattr(findings, "packaged", lambda name: tmp_path / name)
    caches = (findings.own_findings, findings._own_topics, findings._written)
    for each in caches:
        each.cache_clear()
    yield folder
    for each in caches:
        each.cache_clear()


def test_a_finding_of_this_book_is_stated_like_a_part(own):
    text = whole(":::{finding} own/REORDER\nholds: Tau is {value:.2f}.\n:::")
    results = load_chapter(CHAPTER, "ml-1m")
    verdicts = judge_chapter(TOPIC, results)
    stated = state(TOPIC, results, verdicts)
    found = stated.found["own/REORDER"]
    assert found.verdict == "holds"
    assert -1 <= found.low <= found.value <= found.high < 0.5
    sentence = marked("own/REORDER", "holds", f"Tau is {found.value:.2f}.")
    assert resolve_findings(text, [stated], where) == sentence
    assert [stated.found[f"own/{name}"].verdict for name in ("LACKS", "MISSING")] == ["", ""]
    without = state(TOPIC, results, verdicts[:0]).found
    assert set(without) == {"own/REORDER", "own/LACKS", "own/MISSING"}, "no claim has them"
    with pytest.raises(ConfigError, match="did you mean 'REORDER'"):
        check_findings(text.replace("REORDER", "RE-ORDER"), where)


def test_a_block_without_forms_says_what_its_record_says(own):
    results = load_chapter(CHAPTER, "ml-1m")
    block, title = ":::{finding} own/REORDER\n:::", "own/REORDER"

    def told():
        for each in (findings.own_findings, findings._own_topics, findings._written):
            each.cache_clear()
        stated = state(TOPIC, results, [])
        return resolve_findings(block, [stated], where), said(title, results), stated

    page, headline, stated = told()
    found = stated.found[title]
    what = "Tau of the orders by test ratings only"
    sentence = f"{what} and among all tested items is {found.value:.4g}"
    assert found.low == found.high, "all pairs are told apart, so that there are no ends to tell"
    assert page == marked(title, "holds", f"{sentence}.")
    assert headline == sentence
    assert said(title, results, width=40).splitlines()[0] == what
    # Page and title read one record: who changes it changes both.
    file = own / "design_alternatives.yaml"
    file.write_text(OWN.replace("tau of the orders", "likeness of the orders"))
    page, headline, _ = told()
    assert "Likeness of the orders" in page
    assert headline.startswith("Likeness of the orders")
    # Nothing is said of what the results do not hold.
    assert said("own/MISSING", results) == said("own/REORDER", {}) == ""
    assert resolve_findings(":::{finding} own/MISSING\n:::", [stated], where) == ""
    with pytest.raises(ConfigError, match="name an assertion: BCC17-F2A/1"):
        said("BCC17-F2A", results)


def test_a_title_in_words_of_its_own_turns_with_its_record(own):
    results = load_chapter(CHAPTER, "ml-1m")
    title, forms = (
        "own/REORDER",
        {"holds": "Yes, {value:.2f}", "refuted": "No", "open": "Who knows"},
    )
    block = "\n".join([":::{finding} " + title, "holds: yes.", "refuted: no.", "open: -", ":::"])

    def told():
        for each in (findings.own_findings, findings._own_topics, findings._written):
            each.cache_clear()
        stated = state(TOPIC, results, [])
        return said(title, results, **forms), resolve_findings(block, [stated], where)

    value = state(TOPIC, results, []).found[title].value
    assert told() == (f"Yes, {value:.2f}", marked(title, "holds", "yes."))
    (own / "design_alternatives.yaml").write_text(OWN.replace("below: 0.5", "above: 0.5"))
    assert told() == ("No", marked(title, "refuted", "no."))
    assert said("own/MISSING", results, **forms) == ""


def test_a_table_has_every_finding_that_the_data_tell(own):
    stated = state(TOPIC, load_chapter(CHAPTER, "ml-1m"), [])
    table = findings.findings_table(stated)
    assert table.startswith("<details><summary>All 1 findings of this chapter")
    assert '<td><span class="verdict holds">holds</span></td><td>Tau of the orders' in table
    assert "</td><td>less than 0.5</td></tr>" in table
    assert findings.findings_table(state(TOPIC, {}, [])) == ""


@pytest.mark.slow
def test_a_topic_without_claims_has_findings(own):
    (own / "systems.yaml").write_text(
        "ONE:\n  finds: the first is {value} of the second\n"
        "  value: P[rel>=4] of a in x / P[rel>=4] of b in x\n  unit: factor\n  above: 1\n"
    )
    assert list(own_findings("systems")) == ["ONE"]
    assert find_page("systems").chapter == "systems"
    assert state("systems", load_chapter("systems", "ml-1m")).found["own/ONE"].verdict == ""
    assert "systems" in [each.topic for each in stored_findings("ml-100k")]
    assert check_findings(whole(":::{finding} own/ONE\nholds: x\n:::"), where) == ["own/ONE"]


def test_a_name_belongs_to_one_topic(own):
    (own / "systems.yaml").write_text(OWN)
    with pytest.raises(ConfigError, match="own/REORDER is a finding of design alternatives and"):
        check_findings(":::{finding} own/REORDER\nholds: x\n:::", where)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("  asserts: [1]\n", "REORDER: asserts belong to claims"),
        ("  decides: false\n", "REORDER: decides belong to claims"),
        ("  corrects: E01\n", "corrects belong to claims"),
        ("  leest: 1\n", "REORDER: unknown field of a record 'leest'"),
    ],
)
def test_what_belongs_to_claims_is_refused(own, change, message):
    changed = OWN.replace("  below: 0.5\n", f"  below: 0.5\n{change}")
    (own / "design_alternatives.yaml").write_text(changed)
    with pytest.raises(ConfigError, match=f"design_alternatives.yaml: .*{message}"):
        own_findings(TOPIC)


def test_a_check_belongs_to_a_claim(own):
    (own / "x.yaml").write_text(
        "A:\n  finds: '{value}'\n  value: check(n)\n  most: 0\n  unit: violation\n"
    )
    with pytest.raises(ConfigError, match=r"x.yaml: A: a check belongs to a claim"):
        own_findings("x")


# -- all pages -------------------------------------------------------------------------------------


def texts() -> Iterator[tuple[Path, str]]:
    """Give the Markdown of every chapter and page of the book."""
    for chapter in list_chapters(ROOT):
        for cell in jupytext.read(chapter.source, fmt="py:percent").cells:
            if cell.cell_type == "markdown":
                yield chapter.source, cell.source
    for page in sorted((ROOT / "book").glob("*.md")):
        yield page, page.read_text(encoding="utf-8")


loaded = cache(load_chapter)
"""Each page's sentences read what other data sets gave: all of them read the same files."""


@cache
def stated_on(dataset: str) -> list[Findings]:
    with pytest.MonkeyPatch.context() as patch:
        for module in (findings, judging):
            patch.setattr(module, "load_chapter", loaded)
        return stored_findings(dataset)


@pytest.mark.slow
@pytest.mark.parametrize("dataset", recorded_datasets())
def test_all_blocks_of_all_pages_resolve(dataset):
    for path, text in texts():
        resolved = resolve_findings(text, stated_on(dataset), lambda line: f"{path}: {line}")  # noqa: B023
        assert not re.search(r"^\s*(?:[-*] )?:{3,}\{finding\}", resolved, re.MULTILINE), path


def never_said(pages: Iterable[tuple[Path, str]], datasets: Iterable[str]) -> list[str]:
    """List the blocks that say nothing on any of some data sets."""
    silent: dict[str, None] = {}
    said: set[str] = set()
    for path, text in pages:
        for block in re.split(r"^(?=[ \t]*(?:[-*] )?:{3,}\{finding\})", text, flags=re.MULTILINE)[
            1:
        ]:
            end = re.match(r"\s*(?:[-*] )?(:+)", block)[1]
            lines = block.splitlines()
            length = next(n for n, line in enumerate(lines) if line.strip() == end)
            block = "\n".join(lines[: length + 1])
            silent[f"{path.name}: {block}"] = None
            for dataset in datasets:
                if resolve_findings(block, stated_on(dataset), str).strip():
                    said.add(f"{path.name}: {block}")
                    break
    return [block for block in silent if block not in said]


@pytest.mark.slow
def test_every_block_says_something_on_some_data():
    assert never_said(texts(), recorded_datasets()) == []
    dead = whole(":::{finding} BCC17-F2B/1\nholds: On Last.fm, which nobody has here.\n:::")
    page = ROOT / "x.md"
    assert never_said([(page, f"a\n{dead}\nb")], ["ml-1m"]) == [f"x.md: {dead}"]


def test_findings_travel_with_the_package(tmp_path):
    """`packaged` finds them beside the code of a wheel, as it does the criteria."""
    builder = WheelBuilder(str(ROOT))
    files = {each.distribution_path for each in builder.recurse_included_files()}
    own = {path.name for path in (ROOT / "data" / "findings").iterdir()}
    assert own == {Path(f).name for f in files if f.startswith("recbias/_data/findings/")}
    assert "recbias/_data/published/criteria/design_alternatives.yaml" in files
