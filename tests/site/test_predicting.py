"""Questions that are answered before one looks: the directive, its page, its errors."""

from __future__ import annotations

import io
import re
from pathlib import Path

import nbformat
import pytest
from docutils.parsers.rst import directives, roles
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace

pytestmark = pytest.mark.slow

QUESTION = """# Page

::::{predict} Is *it* $1 + 1$?
- it **is**
- it is
  not

Yes, it is.

:::{note}
A note.
:::
::::
"""


def build(folder: Path, text: str) -> tuple[str, str]:
    """Build one page; give its HTML and the warnings."""
    (folder / "index.md").write_text(text)
    told = io.StringIO()
    # Sphinx replaces directives of docutils for the whole process, in which other tests use them.
    with docutils_namespace():
        app = Sphinx(
            folder, None, folder / "out", folder / "trees", "html", status=None, warning=told,
            confoverrides={
                "extensions": ["myst_parser", "predicting"],
                "myst_enable_extensions": ["colon_fence", "dollarmath"],
            },
        )  # fmt: skip
        app.build()
    page = (folder / "out" / "index.html").read_text(encoding="utf-8")
    return page, re.sub(r"\x1b\[[\d;]*m", "", told.getvalue())


def test_question_options_and_answer_stand_on_the_page_without_a_script(tmp_path: Path) -> None:
    page, warnings = build(tmp_path, QUESTION)
    assert "ERROR" not in warnings
    assert "WARNING" not in warnings
    block = page[page.index('<div class="predict">') :]
    legend = re.search(r"<legend>(.*?)</legend>", block, re.DOTALL)
    assert legend
    assert "<em>it</em>" in legend[1]
    assert "math" in legend[1]
    labels = re.findall(r"<label>.*?</label>", block, re.DOTALL)
    assert len(labels) == 2
    assert "<strong>is</strong>" in labels[0]
    assert "it is\nnot" in labels[1]
    assert len(set(re.findall(r'type="radio" name="([^"]+)"', block))) == 1
    answer = re.search(r"<details>\s*<summary>.*?</summary>(.*?)</details>", block, re.DOTALL)
    assert answer
    assert "Yes, it is." in answer[1]
    assert "A note." in answer[1]
    assert "<p>" not in "".join(labels), "a label holds text only"


def test_each_question_is_a_group_of_its_own(tmp_path: Path) -> None:
    page, _ = build(tmp_path, QUESTION + QUESTION.partition("\n")[2])
    assert len(set(re.findall(r'type="radio" name="([^"]+)"', page))) == 2


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ("It rises.", "give a list of two or more options right below the question"),
        ("", "give a list of two or more options right below the question"),
        ("- it rises\n\nIt does.", "give a list of two or more options right below the question"),
        ("Well:\n\n- a\n- b\n\nIt does.", "give a list of two or more options right below"),
        ("- a\n- b", "there is no answer after the list of options"),
        ("- a\n- b\n\n  c\n\nIt does.", "an option is one paragraph of text"),
    ],
)
def test_what_is_incomplete_is_an_error_that_says_where(
    tmp_path: Path, body: str, error: str
) -> None:
    page, warnings = build(tmp_path, f"# Page\n\ntext\n\n::::{{predict}} Why?\n{body}\n::::\n")
    assert f"index.md:5: ERROR: predict: {error}" in warnings
    assert '<div class="predict">' not in page


def test_a_question_is_needed(tmp_path: Path) -> None:
    _, warnings = build(tmp_path, "# Page\n\n::::{predict}\n- a\n- b\n\nc\n::::\n")
    assert "index.md:3: " in warnings
    assert "1 argument(s) required" in warnings


def test_the_book_has_it_with_numbers_and_the_notebook_too(site: Path) -> None:
    page = (site / "notebooks/01_tiny.html").read_text(encoding="utf-8")
    block = page[page.index('<div class="predict">') :]
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", block))
    assert "more than 2.0? it is more it is less than that it is the same" in text
    assert "_static/predict.js" in page
    assert "_static/predict.css" in page
    notebook = nbformat.read(site / "_sources/notebooks/01_tiny.ipynb", as_version=4)
    prose = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    assert "**Predict, then look: Is $1 + 1$ more than 2.0?**\n\n- it is *more*\n" in prose
    assert "\n\n<details><summary>Look at the answer</summary>\n\nIt is **the same**, 2.0." in prose


def test_a_choice_by_keyboard_is_marked_and_shown_beside_the_answer(site: Path, browser) -> None:
    page = browser.new_page()
    page.goto((site / "notebooks/01_tiny.html").as_uri())
    page.focus(".predict input")
    page.keyboard.press("ArrowDown")
    assert page.inner_text(".predict label:has(:checked) span") == "it is less than that"
    assert "marked" in page.text_content(".predict-said")
    assert page.inner_text(".predict summary") == "Now look at the answer"
    assert not page.is_visible(".predict-chosen")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.inner_text(".predict-chosen") == "You chose: it is less than that"
    page.check(".predict label:last-of-type input")
    assert page.inner_text(".predict-chosen") == "You chose: it is the same"
    page.reload()
    assert page.locator(".predict :checked").count() == 0, "nothing is kept"
    page.close()


def test_without_scripts_the_answer_opens_and_on_paper_it_is_there(site: Path, browser) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((site / "notebooks/01_tiny.html").as_uri())
    answer = page.locator(".predict details > div")
    assert not answer.is_visible()
    page.emulate_media(media="print")
    assert answer.is_visible()
    page.emulate_media(media="screen")
    page.click(".predict summary")
    assert answer.is_visible()
    context.close()


def test_a_build_leaves_the_directives_of_docutils_as_they_were(tmp_path: Path) -> None:
    before = dict(directives._directives), dict(roles._roles)
    build(tmp_path, QUESTION)
    assert (directives._directives, roles._roles) == before
