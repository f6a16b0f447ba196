"""Which option of a prediction is right: conditions on findings, and what is refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from recbias.book.findings import Finding, Findings
from recbias.book.right_options import resolve_right
from recbias.errors import ConfigError

NAME, OTHER = "own/UNRATED-HALF", "own/NOISE-TURNED"
NOTEBOOKS = Path(__file__).parents[2] / "notebooks"


def right(*lines: str, fixed: str = "", **found: Finding) -> str:
    """Resolve a block; give the options it names."""
    known = {NAME: found.get("one"), OTHER: found.get("other")}
    stated = [Findings("offline options", {n: f for n, f in known.items() if f})]
    text = "\n".join(["before", f":::{{right}} {fixed}".strip(), *lines, ":::", "after"])
    resolved = resolve_right(text, stated, lambda line: f"line {line}")
    matched = re.fullmatch(r"before\n:::\{right\} (.+)\n:::\nafter", resolved)
    assert matched, resolved
    return matched[1]


LINES = (f"3: {NAME} below 0.4", f"2: {NAME} below 0.6", f"1: {NAME} above 0.6")


@pytest.mark.parametrize(("value", "option"), [(0.3, "3"), (0.5, "2"), (0.7, "1"), (0.4, "2")])
def test_the_first_line_that_is_met_decides(value: float, option: str) -> None:
    assert right(*LINES, one=Finding("open", value)) == option


@pytest.mark.parametrize(
    ("line", "finding", "option"),
    [
        (f"1: {NAME} holds", Finding("holds"), "1"),
        (f"1: {NAME} holds", Finding("refuted"), "open"),
        (f"1: {NAME} holds", Finding(""), "open"),
        (f"1: {NAME} above 0", Finding("", 3.0), "open"),
        (f"1: {NAME} holds or refuted", Finding("refuted"), "1"),
        (f"1: {NAME} holds or refuted", Finding("open"), "open"),
        (f"2 3: {NAME} open", Finding("open"), "2 3"),
        (f"none: {NAME} refuted", Finding("refuted"), "none"),
        (f"1: {NAME} holds above 2", Finding("holds", 3.0), "1"),
        (f"1: {NAME} holds above 2", Finding("holds", 1.0), "open"),
        (f"1: {NAME} holds below -0.5", Finding("holds", -1.0), "1"),
        (f"1: {NAME} below 2", Finding("holds", None), "open"),
        (f"4: {NAME} holds of Odds of a hit", Finding("holds", which="Odds of a hit"), "4"),
        (f"4: {NAME} holds of Odds of a hit", Finding("holds", which="Odds"), "open"),
    ],
)
def test_conditions(line: str, finding: Finding, option: str) -> None:
    assert right(line, one=finding) == option


def test_all_of_several_conditions_have_to_be_met() -> None:
    line = f"2: {NAME} holds and {OTHER} below 3"
    assert right(line, one=Finding("holds"), other=Finding("holds", 1.0)) == "2"
    assert right(line, one=Finding("holds"), other=Finding("holds", 4.0)) == "open"
    assert right(line, one=Finding("refuted"), other=Finding("holds", 1.0)) == "open"


def test_theory_needs_no_finding() -> None:
    assert right(fixed="2") == "2"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("it rises", "write 'OPTIONS: FINDING"),
        (f"1: {NAME}", "is no condition"),
        (f"1: {NAME} above many", "is no condition"),
        (f"1: {NAME} perhaps", "is no condition"),
        ("1: own/UNRATED-HALVES holds", "UNRATED-HALF"),
        ("1: BCC17-C-RANG/1 holds", "BCC17-C-RANGE"),
        (f"first: {NAME} holds", "write 'OPTIONS: FINDING"),
    ],
)
def test_what_is_no_condition_is_an_error_that_says_where(line: str, said: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(said)) as error:
        right(line)
    assert "line 2: " in str(error.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [(":::{right} two\n:::", "numbers of options"), (":::{right}\n", "not closed")],
)
def test_what_is_no_block_is_an_error(text: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        resolve_right(text, [], lambda line: f"line {line}")


def predictions() -> list[tuple[str, str]]:
    """List the predictions of the book: page and text."""
    found = []
    for path in sorted(NOTEBOOKS.glob("*.py")):
        text = re.sub(r"^# ?", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        blocks = re.findall(r"^::::\{predict\}.*?^::::$", text, re.DOTALL | re.MULTILINE)
        found += [(path.name, block) for block in blocks]
    return found


@pytest.mark.parametrize(("page", "block"), predictions())
def test_each_prediction_of_the_book_says_when_each_option_is_right(page: str, block: str) -> None:
    n_options = len(re.findall(r"^- ", block.partition("\n\n")[0], re.MULTILINE))
    (marks,) = re.findall(r"^:::\{right\}(.*?)^:::$", block, re.DOTALL | re.MULTILINE)
    if marks.strip().isdecimal():
        assert 1 <= int(marks) <= n_options
        return
    lines = marks.strip().splitlines()
    resolve_right(f":::{{right}}\n{marks.strip()}\n:::", [], str)  # each line is a condition
    named = {int(n) for line in lines for n in re.findall(r"\d+", line.partition(":")[0])}
    missing = set(range(1, n_options + 1)) - named
    # options that no verdict of the finding bears out
    known = {"What becomes of recall@10": {1, 3}, "Who gains most": {3}, "Which remedy": {1}}
    allowed = next((gone for words, gone in known.items() if words in block), set())
    assert missing == allowed, block
