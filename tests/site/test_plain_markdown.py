"""Plain Markdown from MyST, for the notebooks that readers download."""

from __future__ import annotations

import re

import nbformat
import pytest

from recbias.book.standalone.plain_markdown import formatted, plain_markdown, plain_notebook

GLUED = {
    "share": {"text/plain": "0.1234"},
    "name": {"text/plain": "'Popularity'"},
    "row": {"text/markdown": "a *b* {math}`c`", "text/plain": "x"},
}


@pytest.mark.parametrize(
    ("myst", "plain"),
    [
        ("{glue:text}`share:.1%` of {glue:text}`name`", "12.3% of Popularity"),
        ("{glue:}`share` and {glue:md}`row`", "0.1234 and a *b* $c$"),
        ("{glue:text}`other.py::key:s`", "other.py::key"),
        ("{cite:t}`BCC17`, {eq}`eq-2`, {math}`x^2`", "[BCC17], (eq-2), $x^2$"),
        (
            "{term}`target set`, {term}`sets\nof targets <target set>`",
            "target set, sets\nof targets",
        ),
        ("{numref}`fig-1`, {ref}`here <label>`", "fig-1, here"),
        (
            "[E01](#err-e01), [page](../a.md), [DOI](https://doi.org/1)",
            "erratum E01, page, [DOI](https://doi.org/1)",
        ),
        ("(a-label)=\n## Title\n% a comment\ntext", "## Title\ntext"),
        ("```{math}\n:label: eq-1\n\nx\n```", "$$\nx\n$$"),
        ("```{note}\nmind {math}`x`\n```", "> **Note**\n>\n> mind $x$"),
        (
            "````{admonition} Proof\n:class: dropdown\n\na\n```python\n1\n```\n````",
            "> **Proof**\n>\n> a\n> ```python\n> 1\n> ```",
        ),
        (
            "```{exercise-start} Try\n:label: e\n```\nDo it.\n```{exercise-end}\n```",
            "> **Exercise: Try**\nDo it.",
        ),
        ("```{solution} e\n2\n```", "> **Solution**\n>\n> 2"),
        ("```{glue:figure} f\n:name: fig-f\n\nA line.\n```", "*A line.*"),
        ("```{glue:md} row\n:format: myst\n```", "a *b* $c$"),
        (":::{tip}\nt\n:::", "> **Tip**\n>\n> t"),
        (
            "a\n::::{predict} Is {math}`x` 2?\n- yes, it\n  is\n\n* no\n\n"
            "It is {glue:text}`share`.\n\n:::{note}\nb\n:::\n::::\nc",
            "a\n**Predict, then look: Is $x$ 2?**\n\n- yes, it\n  is\n\n* no\n\n"
            "<details><summary>Look at the answer</summary>\n\n"
            "It is 0.1234.\n\n> **Note**\n>\n> b\n\n</details>\nc",
        ),
        ("```python\nx = '{math}`y`'\n```", "```python\nx = '{math}`y`'\n```"),
        (
            'a <span class="finding" data-part="A/1" data-verdict="open">b\n{math}`c`</span> d',
            "a b\n$c$ d",
        ),
        ("so ([why](#dev-a)), and\n([by\nhand](#sec-b)).", "so, and."),
        (
            "seen ([why](https://a.b)) on Last\\.fm, 1\\.",
            "seen ([why](https://a.b)) on Last.fm, 1\\.",
        ),
        ("```{seealso}\nb\n```", "> **See also, in the book**\n>\n> b"),
        ("no MyST: <span>a</span>", "no MyST: <span>a</span>"),
        ("no MyST: $\\{a\\}$ `{b}` {c}", "no MyST: $\\{a\\}$ `{b}` {c}"),
    ],
)
def test_myst_becomes_markdown(myst: str, plain: str) -> None:
    assert plain_markdown(myst, GLUED) == plain


def test_what_was_glued_out_of_sight_is_shown() -> None:
    output = nbformat.v4.new_output(
        "display_data",
        data={"application/papermill.record/text/plain": "0.5"},
        metadata={"scrapbook": {"name": "half", "mime_prefix": "application/papermill.record/"}},
    )
    notebook = nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_markdown_cell("{glue:text}`half:.2f`"),
            nbformat.v4.new_code_cell("glue()", outputs=[output]),
        ]
    )
    prose, code = plain_notebook(notebook).cells
    assert prose.source == "0.50"
    assert code.outputs[0].data == {"text/plain": "0.5"}
    assert "{glue" in notebook.cells[0].source, "the original is left alone"


def test_figures_have_numbers_where_they_are_shown_and_named() -> None:
    figure = "```{glue:figure} %s\n:name: fig-%s\n\nA line.\n```"
    texts = ["{numref}`fig-b` and {numref}`fig-c`", figure % ("a", "a"), figure % ("b", "b")]
    cells = [nbformat.v4.new_markdown_cell(text) for text in texts]
    plain = plain_notebook(nbformat.v4.new_notebook(cells=cells))
    assert [cell.source for cell in plain.cells] == [
        "Figure 2 and a figure of another page", "*Figure 1: A line.*", "*Figure 2: A line.*",
    ]  # fmt: skip


@pytest.mark.parametrize("form", ["", "s", ">6s", "d", ".2f", ".1%", "+.3g", ".3", "q"])
@pytest.mark.parametrize("text", ["0.1254", "'0.1254'", "3", "'three'", "three", "-1e-3"])
def test_formats_what_was_glued_as_the_book_does(text, form):
    from myst_nb.core.variables import format_plain_text

    try:
        wanted = format_plain_text(text, form)
    except ValueError as error:
        with pytest.raises(ValueError, match=re.escape(str(error))):
            formatted(text, form)
    else:
        assert formatted(text, form) == wanted
