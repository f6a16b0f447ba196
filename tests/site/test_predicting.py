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
    block = page[page.index('<div class="predict"') :]
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
        ("- a\n- b\n\nIt does.\n\n:::{right} 3\n:::", "right is 3, of 2 options"),
    ],
)
def test_what_is_incomplete_is_an_error_that_says_where(
    tmp_path: Path, body: str, error: str
) -> None:
    page, warnings = build(tmp_path, f"# Page\n\ntext\n\n::::{{predict}} Why?\n{body}\n::::\n")
    assert f"index.md:5: ERROR: predict: {error}" in warnings
    assert '<div class="predict"' not in page


def test_a_question_is_needed(tmp_path: Path) -> None:
    _, warnings = build(tmp_path, "# Page\n\n::::{predict}\n- a\n- b\n\nc\n::::\n")
    assert "index.md:3: " in warnings
    assert "1 argument(s) required" in warnings


def test_the_book_has_it_with_numbers_and_the_notebook_too(site: Path) -> None:
    page = (site / "notebooks/01_tiny.html").read_text(encoding="utf-8")
    block = page[page.index('<div class="predict"') :]
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
    assert page.inner_text(".predict-count").startswith("You have not predicted anything")
    page.focus(".predict input")
    page.keyboard.press("ArrowDown")
    assert page.inner_text(".predict label:has(:checked) span") == "it is less than that"
    assert "marked" in page.text_content(".predict-said")
    assert page.inner_text(".predict summary") == "Now look at the answer"
    assert not page.is_visible(".predict-chosen")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    (right,) = RIGHT.findall((site / "notebooks/01_tiny.html").read_text("utf-8"))
    options = ["it is more", "it is less than that", "it is the same"]
    told = f"“it is less than that”; right is “{options[int(right) - 1]}”."
    assert page.inner_text(".predict-chosen") == f"Not so. You predicted {told}"
    assert page.text_content(".predict-said") == page.text_content(".predict-chosen")
    assert page.locator(".predict label.is-right").inner_text().startswith(options[int(right) - 1])
    assert page.locator(".predict input:enabled").count() == 0, "what counts came before the look"
    assert page.inner_text(".predict-count strong") == "You predicted 0 of 1 right."
    assert page.locator(".predict-count a").first.get_attribute("href").startswith("#")
    page.close()


RIGHT = re.compile(r'data-right="(\d)"')


def test_a_prediction_is_kept_over_a_reload_and_can_be_forgotten(site: Path, browser) -> None:
    address = (site / "notebooks/01_tiny.html").as_uri()
    (right,) = RIGHT.findall((site / "notebooks/01_tiny.html").read_text("utf-8"))
    context = browser.new_context()
    page = context.new_page()
    page.goto(address)
    page.locator(".predict label").nth(int(right) - 1).click()
    page.reload()
    assert page.locator(".predict input").nth(int(right) - 1).is_checked()
    assert page.locator(".predict-chosen").count() == 0, "not looked at yet"
    page.click(".predict summary")
    assert page.inner_text(".predict-chosen").startswith("Right. You predicted")
    page.reload()
    assert page.inner_text(".predict-count strong") == "You predicted 1 of 1 right."
    page.click(".predict-count button")
    assert page.locator(".predict input:checked").count() == 0
    assert page.locator(".predict input:enabled").count() == 3
    kept = page.evaluate("Object.keys(localStorage)")  # the theme keeps its colours there
    assert not [key for key in kept if key.startswith("recbias/")]
    page.close()
    context.close()


def test_who_looks_first_has_predicted_nothing(site: Path, browser) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto((site / "notebooks/01_tiny.html").as_uri())
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.locator(".predict-chosen").count() == 0, "a printer does not look"
    page.click(".predict summary")
    assert "before you predicted" in page.inner_text(".predict-chosen")
    assert page.inner_text(".predict-count strong").startswith("You have not predicted")
    assert "before a prediction: 1." in page.inner_text(".predict-count")
    context.close()


@pytest.mark.parametrize(
    "broken",
    [
        "Object.defineProperty(window, 'localStorage', {get() { throw new Error('no') }})",
        "Storage.prototype.getItem = () => '{'",
        "Storage.prototype.setItem = () => { throw new Error('full') }",
    ],
)
def test_where_the_browser_keeps_nothing_the_visit_is_counted(
    site: Path, browser, broken: str
) -> None:
    context = browser.new_context()
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(error.stack or str(error)))
    page.add_init_script(broken)
    page.goto((site / "notebooks/01_tiny.html").as_uri())
    page.locator(".predict label").first.click()
    page.click(".predict summary")
    assert " of 1 right." in page.inner_text(".predict-count strong")
    assert "keeps nothing" in page.inner_text(".predict-count")
    assert not [error for error in errors if "predict.js" in error], "the theme's are its own"
    context.close()


@pytest.mark.parametrize(
    ("right", "said"),
    [
        ("open", "These data leave it open; this one does not count."),
        ("none", "No option is right on these data; none counts."),
        ("1 2", "Right. You predicted"),
        ("2", "Not so. You predicted “a”; right is “b”."),
        ("2 3", "right is “b”, or “c”."),
        ("", "You predicted “a”."),
    ],
)
def test_every_kind_of_answer_is_said(tmp_path: Path, browser, right: str, said: str) -> None:
    mark = f":::{{right}} {right}\n:::\n" if right else ""
    text = f"# Page\n\n::::{{predict}} Why?\n- a\n- b\n- c\n\nSo.\n\n{mark}::::\n"
    _, warnings = build(tmp_path, text)
    assert "ERROR" not in warnings
    folder = tmp_path / "out" / "_static"
    static = Path(__file__).parents[2] / "book" / "_static"
    for name in ("predict.js", "predict.css"):
        (folder / name).write_text((static / name).read_text("utf-8"))
    context = browser.new_context()
    page = context.new_page()
    page.goto((tmp_path / "out" / "index.html").as_uri())
    page.locator(".predict label").first.click()
    page.click(".predict summary")
    assert said in page.inner_text(".predict-chosen")
    counts = right[:1].isdecimal()
    assert page.locator(".predict-count").count() == bool(right)
    if right:
        assert (" of 1 right" in page.inner_text(".predict-count")) == counts
    context.close()


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
