"""The document of all claims: its schema, and that strangers count our totals from it."""

from __future__ import annotations

import copy
import json
import re
import runpy
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator, ValidationError
from recount import recount

from recbias._system.places import packaged
from recbias.book import scorecard
from recbias.book.signs import outcome
from recbias.claims import chapters, claims, judge, kept, load_chapter
from recbias.claims.letters import letter, papers
from recbias.claims.reading import SCHEMA, answer_totals
from recbias.claims.writing import build
from recbias.cli.entry import main
from recbias.errors import ConfigError
from recbias.experiment.results import recorded_datasets

ROOT = Path(__file__).parents[2]
DECLARED = json.loads(packaged("published/claims.schema.json").read_text(encoding="utf-8"))
Change = Callable[[dict[str, Any]], object]
Counts = Counter[tuple[str, str, str]]


@pytest.fixture(scope="module")
def printed() -> str:
    """What the command prints of all data sets; judged once."""
    return CliRunner().invoke(main, ["claims", "--json"], catch_exceptions=False).stdout


@pytest.fixture(scope="module")
def of_few_claims() -> str:
    """The document of four claims, two of a paper: what letters say does not take all verdicts."""
    names = ("MCCRS20-F1-BL", "MCCRS20-F1-TR", "BCC17-SETUP", "BCC17-C-RTEST")
    few = [claim for claim in claims() if claim.id in names]
    assert len(few) == len(names)
    load = cache(load_chapter)
    verdicts = {
        name: [judge(claim, load(chapters()[claim.topic], name), load) for claim in few]
        for name in recorded_datasets()
    }
    return json.dumps(build(verdicts))


@pytest.fixture
def few(of_few_claims: str) -> dict[str, Any]:
    return json.loads(of_few_claims)


@pytest.fixture
def document(printed: str) -> dict[str, Any]:
    return json.loads(printed)


# -- the schema ----------------------------------------------------------------------------------


def undescribed(schema: object, path: str = "") -> Iterator[str]:
    """Name fields that are not described, and objects that say nothing of unknown ones."""
    if isinstance(schema, dict):
        for name, field in schema.get("properties", {}).items():
            if (
                isinstance(field, dict)
                and not field.get("description", "").endswith(".")
                and ("const" not in field)
            ):
                yield f"{path}/{name}: is not described"
        if isinstance(schema.get("properties"), dict) and "additionalProperties" not in schema:
            yield f"{path}: says nothing of other fields"
        for name, each in schema.items():
            yield from undescribed(each, f"{path}/{name}")


def test_every_field_is_described() -> None:
    Draft202012Validator.check_schema(DECLARED)
    assert DECLARED["properties"]["schema"]["const"] == SCHEMA
    assert DECLARED["$id"].endswith(f":{SCHEMA}")
    assert list(undescribed(DECLARED)) == []


def test_a_field_that_is_not_described_is_seen() -> None:
    broken = copy.deepcopy(DECLARED)
    del broken["$defs"]["part"]["properties"]["unit"]["description"]
    del broken["$defs"]["claim"]["additionalProperties"]
    assert list(undescribed(broken)) == [
        "/$defs/claim: says nothing of other fields",
        "/$defs/part/unit: is not described",
    ]


@pytest.mark.slow
def test_what_the_command_prints_fits_the_schema(document: dict[str, Any]) -> None:
    Draft202012Validator(DECLARED).validate(document)
    assert [each["name"] for each in document["datasets"]] == recorded_datasets()
    ids = [claim["id"] for claim in document["claims"]]
    ids += [each["id"] for claim in document["claims"] for each in claim["assertions"]]
    assert len(ids) == len(set(ids))


def change_part(**fields: object) -> Change:
    return lambda document: document["claims"][0]["verdicts"]["ml-1m"]["parts"][0].update(fields)


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        lambda document: document.pop("schema"),
        lambda document: document.update(schema=2),
        lambda document: document["claims"][0].pop("criterion"),
        lambda document: document["claims"][0].update(more=1),
        lambda document: document["claims"][0]["verdicts"]["ml-1m"].update(verdict="maybe"),
        lambda document: document["claims"][0]["answers"].update(reproduced="perhaps"),
        change_part(value="infinite"),
        change_part(interval=[0.5]),
        change_part(verdict="yes"),
    ],
)
def test_what_does_not_fit_the_schema_is_refused(document: dict[str, Any], change: Change) -> None:
    change(document)
    with pytest.raises(ValidationError):
        Draft202012Validator(DECLARED).validate(document)


@pytest.mark.slow
def test_it_is_json_that_any_reader_takes(printed: str) -> None:
    """As it was until November 2026 it had NaN, which few readers know."""

    def refuse(name: str) -> None:
        raise ValueError(f"{name} is no JSON")

    json.loads(printed, parse_constant=refuse)
    with pytest.raises(ValueError, match="NaN is no JSON"):
        json.loads('{"value": NaN}', parse_constant=refuse)


# -- recounting ----------------------------------------------------------------------------------


def test_the_script_is_plain_and_short() -> None:
    source = (ROOT / "book/recount.py").read_text(encoding="utf-8")
    modules = re.findall(r"^(?:import|from) (\w+)", source, re.MULTILINE)
    assert modules == ["json", "sys", "collections"]
    code = source.partition("def recount")[2].splitlines()
    assert len([line for line in code if line.strip()]) <= 32


def printed_totals(text: str) -> Counts:
    """Read the table at the end of what the command prints."""
    head, *rows = text.strip().rpartition("\n\n")[2].splitlines()
    table, *columns, _ = re.split(r"  +", head)
    found: Counts = Counter()
    for row in rows:
        name, *cells, total = re.split(r"  +", row)
        assert int(total) == sum(map(int, cells))
        found.update({(table, name, c): int(n) for c, n in zip(columns, cells, strict=True)})
    return +found


def shown_totals(document: dict[str, Any], dataset: str) -> Counts:
    """Read all totals that the page of the scorecard shows."""
    document["datasets"].sort(key=lambda each: each["name"] != dataset)
    found: Counts = Counter()
    page = scorecard.all_totals_html(document)
    tables = re.findall(r"<table.*?</table>", page, re.DOTALL)
    names = ("reproduced", "by all parts", "criteria", "written", "verdict", "strict")
    for table, text in zip(names, tables, strict=False):
        _, *columns, _ = re.findall(r"<th>(.*?)</th>", text)
        for row in re.findall(r"<tr>(<td>.*?)</tr>", text):
            name, *cells, total = re.findall(r"<td>(.*?)</td>", row)
            assert int(total) == sum(map(int, cells))
            pairs = zip(columns, cells, strict=True)
            found.update({(table, name, column): int(n) for column, n in pairs})
    for row in re.findall(r"<tr>(<td>.*?)</tr>", tables[-1]):
        title, _, n_claims, _, *standings = (
            re.sub("<[^>]+>", "", cell) for cell in re.findall(r"<td>(.*?)</td>", row)
        )
        n_claims, _, n_apart = n_claims.partition("; apart: ")
        found["claims", _topic(title), "all"] = int(n_claims)
        found["apart", _topic(title), "all"] = int(n_apart.partition(" ")[0] or 0)
        for word, n in zip(("judged", "open", "not checkable"), standings, strict=True):
            found["assertions", _topic(title), word] = int(n)
    return +found


def shown_outcomes(document: dict[str, Any]) -> Counts:
    """Read the bars of papers, and the counts beside chapters, joined as they are to outcomes."""
    found: Counts = Counter()
    for paper, bar in re.findall(
        r'<li data-paper="(\w+)">(.*?)</li>', scorecard.bars_html(document)
    ):
        for name, n in re.findall(r'data-n="(\w+)" style="flex-grow: (\d+)"', bar):
            found[paper, name] = int(n)
    folds = r'id="chapter-.*?<strong>([^<]+)</strong>(.*?)</summary>'
    for title, told in re.findall(folds, scorecard.rows_html(document)):
        for name, n in re.findall(r'data-n="(\w+)"[^>]*>.*?class="n">(\d+)<', told):
            found[_topic(title), name] = int(n)
    return +found


def _topic(title: str) -> str:
    """Give the topic that the title of a chapter stands for, its number left off."""
    words = title.partition(". ")[2] or title
    return f"{words[0].lower()}{words[1:]}"


def told_of(text: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(kept, "document", lambda *datasets, judged=None: text)
    return CliRunner().invoke(main, ["claims", "--reproduced"], catch_exceptions=False).stdout


@pytest.mark.slow
def test_strangers_count_what_the_command_prints_and_the_page_shows(
    document: dict[str, Any], printed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (path := tmp_path / "claims.json").write_text(printed, encoding="utf-8")
    command = [sys.executable, str(ROOT / "book/recount.py"), str(path), "ml-1m"]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    counts: Counts = Counter()
    for table, row, column, n in (line.split("\t") for line in lines):
        counts[table, row, column] = int(n)
    in_command = printed_totals(told_of(printed, monkeypatch))
    classes = {row for _, row, _ in in_command}
    assert len(classes) == 5
    assert sum(in_command.values()) == len(document["claims"])
    assert in_command == {
        key: n for key, n in counts.items() if key[0] == "reproduced" and key[1] in classes
    }
    by_outcome: Counts = Counter()
    for (table, row, column), n in counts.items():
        if table == "reproduced" and row not in classes:
            by_outcome[row, outcome(column)] += n
    assert shown_outcomes(document) == by_outcome
    rest = {key: n for key, n in counts.items() if key[0] != "reproduced" or key[1] in classes}
    assert shown_totals(document, "ml-1m") == rest


@pytest.mark.parametrize(
    ("arguments", "document", "told"),
    [
        ([], None, "usage: python recount.py claims.json DATASET"),
        (["ml-1m"], [{"id": "BCC17-F2A"}], "A document of one data set has no totals"),
        (["ml-2m"], [{"answers": {}}], "No data set 'ml-2m' in the document; it has ml-1m."),
    ],
)
def test_the_script_says_what_it_needs(
    tmp_path: Path, arguments: list[str], document: object, told: str
) -> None:
    (path := tmp_path / "claims.json").write_text(
        json.dumps({"datasets": [{"name": "ml-1m"}], "claims": document}), encoding="utf-8"
    )
    command = [sys.executable, str(ROOT / "book/recount.py"), str(path), *arguments]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (1, "")
    assert ran.stderr.startswith(told)


def drop_claim(document: dict[str, Any]) -> None:
    document["claims"].pop()


def turn(document: dict[str, Any]) -> None:
    answers = (claim["answers"] for claim in document["claims"] if claim["class"] == "empirical")
    next(each for each in answers if each["reproduced"] == "yes")["reproduced"] = "no"


@pytest.mark.slow
@pytest.mark.parametrize("damage", [drop_claim, turn])
def test_a_broken_document_counts_otherwise(
    document: dict[str, Any], printed: str, damage: Change, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = printed_totals(told_of(printed, monkeypatch))
    shown = shown_totals(document, "ml-1m")
    damage(document)
    counts = recount(document, "ml-1m")
    assert any(counts[key] != n for key, n in told.items())
    assert any(counts[key] != n for key, n in shown.items())


@pytest.mark.slow
def test_the_page_counts_from_the_document_that_the_site_ships(
    printed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A document that says otherwise changes the totals of the page, and is what is shipped."""
    broken = json.loads(printed)
    turn(broken)
    monkeypatch.setattr(kept, "document", lambda *datasets, judged=None: json.dumps(broken))
    notebook = ROOT / "notebooks/scorecard.py"
    names = runpy.run_path(str(notebook))
    assert sorted(names["document"]["claims"], key=str) == sorted(broken["claims"], key=str)
    assert json.loads(scorecard.document_text("ml-1m")) == broken
    shown = re.findall(r"^HTML\(.*\)$", notebook.read_text("utf-8"), re.MULTILINE)
    (cell,) = (each for each in shown if "all_totals" in each)
    page = eval(cell, names).data  # noqa: S307 - a line of the notebook
    yes, no = re.findall(r"<td>empirical</td><td>(\d+)</td><td>(\d+)</td>", page)[0]
    before = answer_totals(json.loads(printed))["empirical"]
    assert (int(yes), int(no)) == (before["yes"] - 1, before["no"] + 1)
    assert all("document" in each or "files_html" in each for each in shown)


# -- letters to the authors ----------------------------------------------------------------------

_NUMBER = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")


def numbers(text: str) -> set[str]:
    return {each.rstrip(",") for each in _NUMBER.findall(text)}


def texts_of(value: Any) -> Iterator[str]:
    """Every text and number of a part of the document, numbers as a letter writes them."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield key
            yield from texts_of(each)
    elif isinstance(value, list):
        for each in value:
            yield from texts_of(each)
    elif isinstance(value, float | int) and not isinstance(value, bool):
        yield f"{value:.4g}" if abs(value) < 1000 else f"{value:.0f}"
        yield str(value)
    elif isinstance(value, str):
        yield value


def strange_numbers(letter: str, document: dict[str, Any], paper: str) -> dict[str, set[str]]:
    """Find numbers of a letter that the record of that claim, or of the errata, does not have."""
    blocks = re.split(r"^##+ ", letter, flags=re.M)
    claims = {claim["id"]: claim for claim in document["claims"]}
    errata = [each for each in document["errata"] if each["paper"] == paper]
    strange = {}
    for block in blocks[1:]:
        name = "errata" if block.startswith("What may be") else block.partition(",")[0]
        record = errata if name == "errata" else claims.get(name)
        if record is not None:
            known = numbers(" ".join(texts_of(record))) | {"95"}
            if more := numbers(block) - known:
                strange[name] = more
    return strange


OWN = {"BCC17-L1-PROOF", "CCM20-EQ-RED", "ATM15-LTI-SCALE"}
"""Entries that say what an erratum says, and no claim of the authors."""


def faults(text: str, document: dict[str, Any]) -> list[str]:
    """Name words of a letter that nobody outside understands, and numbers under a wrong name."""
    broken = (
        r"\$[xXy]\$|; claimed:|value lost|counts once|not at hand, on|\| none \||no data needed|"
        r"\b[01] (?:systems are|of the \d+ systems)|(?:raises|has) \S*(?: \S+)* -\d|"
        r"by -\S+ towards|That is \d+ standard errors|more than 100 %|: about its own data"
    )
    told = re.findall(broken, text)
    told += sorted(name for name in OWN if f"### {name}," in text)
    for claim in document["claims"]:
        block = text.partition(f"\n### {claim['id']}, ")[2].partition("\n### ")[0]
        parts = [
            [
                (p["record"], p["verdict"], p["found"], p["value"])
                for p in of["parts"]
                if p["decides"]
            ]
            for of in claim["verdicts"].values()
        ]
        measured = [each for each in parts if each]
        if "(the same on all our data)" in block and any(e != measured[0] for e in measured):
            told.append(f"{claim['id']}: values differ between data sets")
    return told


def test_broken_words_and_errata_among_claims_are_found(few: dict[str, Any]) -> None:
    text = letter(few, "BCC17")
    assert faults(text, few) == []
    assert faults(text + "\n| $x$ rows; claimed: none | none |", few) != []
    assert faults(text + "\n### BCC17-L1-PROOF, Sec. 3.4", few) == ["BCC17-L1-PROOF"]
    named = text.replace("what we find (ml-1m)", "what we find (the same on all our data)")
    assert "BCC17-SETUP: values differ between data sets" in faults(named, few)


@pytest.mark.parametrize("paper", ["BCC17", "MCCRS20"])
def test_numbers_of_a_letter_are_of_the_records_of_its_claims(
    few: dict[str, Any], paper: str
) -> None:
    text = letter(few, paper)
    assert strange_numbers(text, few, paper) == {}
    names = {claim["id"] for claim in few["claims"] if claim["paper"] == paper}
    assert {name for name in names if f"--explain {name}\n" in text} == names
    broken = text.replace("published | ours", "published 7654321 | ours")
    assert {"7654321"} in strange_numbers(broken, few, paper).values()


@pytest.mark.slow
def test_a_published_value_stands_beside_its_own_quantity_and_data(
    document: dict[str, Any],
) -> None:
    claims = {claim["id"]: claim["verdicts"] for claim in document["claims"]}
    beside = {
        (claim, data): [part["published"] for part in of["parts"] if part["published"]]
        for claim, verdicts in claims.items()
        for data, of in verdicts.items()
    }
    assert beside["MCCRS20-F1-BR", "ml-1m"][0] == "0.733"
    assert beside["MCCRS20-F1-BL", "ml-1m"][0] == "0.617"
    assert beside["MCCRS20-F5A-CM", "cm100k"][0] == "0.65"
    for claim in ("MCCRS20-F1-BL", "MCCRS20-F1-BR", "MCCRS20-F1-TR", "BCC17-F5R"):
        assert not beside[claim, "cm100k"]  # what is printed is of MovieLens 1M
    for claim in ("MCCRS20-C-UNRATED", "MCCRS20-C-FLIP", "MCCRS20-C-BOUND", "MCCRS20-C2"):
        assert not beside[claim, "ml-1m"]  # ranks and levels beside counts and differences
    for claim in ("BCC17-EQ4", "BCC17-F1", "CCM20-T1"):
        assert not beside[claim, "ml-1m"]  # words about a figure or a table


@pytest.mark.slow
def test_every_number_of_a_letter_is_of_the_record_of_its_claim(document: dict[str, Any]) -> None:
    assert papers(document) == ("BCC17", "MCCRS20", "CCM20", "ATM15")
    for paper in papers(document):
        text = letter(document, paper)
        assert strange_numbers(text, document, paper) == {}
        claims = [c for c in document["claims"] if c["paper"] == paper and c["assertions"]]
        claims = [c for c in claims if c["id"] not in OWN]
        for claim in claims:
            assert text.count(f"\n### {claim['id']}, {claim['where']}\n") == 1
            assert f"--explain {claim['id']}\n" in text
        errata = [each["id"] for each in document["errata"] if each["paper"] == paper]
        assert sorted(re.findall(r"^- \*\*(E\d+)\*\*", text, flags=re.M)) == errata
        rows = [
            line for line in text.splitlines() if re.match(r"\| (hangs|theor|empir|defin)", line)
        ]
        assert sum(int(cell) for row in rows for cell in row.split("|")[2:-1]) == len(claims)
        listed = {c["id"]: c["claim"].replace("|", "\\|") for c in claims}
        listed = {i: words for i, words in listed.items() if f"| {i} |" in text}
        unlike = {c["id"] for c in claims if c["answers"]["reproduced"] != "yes"}
        assert set(listed) == unlike - YES_ON_THEIR_OWN
        assert all(f" | {words} | " in text for words in listed.values())
        assert "counts once" not in text
        assert "value lost" not in text
        # Of what is to be exact no rounding is shown.
        assert not re.search(r"\| none \||\| exact \|.*e-1\d", text)
        # The twin: a number that no record has, in a claim and in an erratum.
        assert faults(text, document) == []
        broken = text.replace("published | ours", "published 7654321 | ours")
        broken = broken.replace("Evidence:", "Evidence: 7654321,")
        found = strange_numbers(broken, document, paper)
        assert found["errata"] == {"7654321"}
        assert len(found) > len(claims) / 2


YES_ON_THEIR_OWN = {"BCC17-SETUP", "BCC17-C-COV", "MCCRS20-F1-TR"}
"""Claims that other data than those of the published result refute."""


def test_a_letter_has_the_verdict_on_the_data_of_the_published_result(few: dict[str, Any]) -> None:
    assert {c["answers"]["reproduced"] for c in few["claims"] if c["id"] in YES_ON_THEIR_OWN} == {
        "partly"
    }
    for paper in ("BCC17", "MCCRS20"):
        text = letter(few, paper)
        assert not [name for name in YES_ON_THEIR_OWN if f"| {name} |" in text]
        assert "(cm100k)" not in text.partition("### MCCRS20-F1-BL")[0]
        assert "suspected* is not shown" not in text
    # The twin: what these data refute is listed, with nothing of others.
    claim = next(each for each in few["claims"] if each["id"] == "BCC17-SETUP")
    claim["verdicts"]["ml-1m"]["verdict"] = "no"
    rows = [row for row in letter(few, "BCC17").splitlines() if row.startswith("| BCC17-SETUP |")]
    assert [row.split(" | ")[3] for row in rows] == ["no"]


def test_a_verdict_by_some_of_its_main_parts_says_so(few: dict[str, Any]) -> None:
    assert "main parts not tested" not in letter(few, "BCC17")
    claim = next(each for each in few["claims"] if each["id"] == "BCC17-C-RTEST")
    part = next(p for p in claim["verdicts"]["ml-1m"]["parts"] if p["decides"] and p["core"])
    part["verdict"], part["reason"] = "not testable", "merged stars"
    assert "1 main part" in (told := letter(few, "BCC17")) or "main parts not tested" in told


def test_a_changed_record_changes_the_letter(few: dict[str, Any]) -> None:
    before = letter(few, "MCCRS20")
    claim = next(each for each in few["claims"] if each["id"] == "MCCRS20-F1-BL")
    erratum = next(each for each in few["errata"] if each["id"] == "E20")
    part = claim["verdicts"]["ml-1m"]["parts"][0]
    claim["answers"]["reproduced"], part["value"], part["published"] = "no", 0.1234321, ".9191"
    claim["verdicts"]["ml-1m"]["would decide"] = "What would decide it: more users."
    erratum["status"] = "dropped"
    after = letter(few, "MCCRS20")
    assert "0.1234" in after
    assert ".9191" in after
    assert "more users" in after
    assert "(*dropped*)" in after
    assert "## Claims that do not hold by their criterion\n\n### MCCRS20-F1-BL" in after
    unlike = set(after.splitlines()) ^ set(before.splitlines())
    assert len(unlike) < 20  # a dozen of these are the table of counts, which gets a column


def test_a_letter_is_about_a_paper_that_was_read() -> None:
    told = CliRunner().invoke(main, ["claims", "--paper", "MCCRS20"])
    assert told.exit_code == 2
    assert "--paper and --letter go together" in told.output
    told = CliRunner().invoke(main, ["claims", "--letter", "--paper", "CCM20", "--json"])
    assert told.exit_code == 2


def test_a_letter_about_another_paper_is_refused(few: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="TOIS21"):
        letter(few, "TOIS21")
    for claim in few["claims"]:
        claim.pop("answers")
    with pytest.raises(ConfigError, match="leave out --dataset"):
        letter(few, "MCCRS20")
