"""What the page of the systems takes from docstrings, and that every class has it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html.parser import HTMLParser

import pytest
from docutils.utils import SystemMessage

from recbias.errors import ConfigError
from recbias.recommenders import algorithm, algorithms, line_up
from recbias.recommenders.base import Algorithm, parameter, register
from recbias.recommenders.descriptions import (
    NOTES,
    catalogue_html,
    describe,
    description_html,
    line_up_html,
    to_html,
)
from recbias.recommenders.line_ups import line_up_names, line_up_sources

OWN = [name for name in algorithms() if algorithm(name).__module__.startswith("recbias.")]


class Balance(HTMLParser):
    """Reads HTML and keeps what is open and all text."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        assert tag == "br"

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def read(html):
    page = Balance()
    page.feed(html)
    page.close()
    assert page.open == []
    return "".join(page.text)


@pytest.mark.parametrize("name", OWN)
def test_every_class_says_what_the_page_needs(name):
    found = describe(name)
    assert found.summary.endswith(".")
    assert tuple(found.notes)[: len(NOTES)] == NOTES
    assert all(found.notes[title] for title in NOTES)
    assert found.model or found.module.startswith("non_personalised")
    for argument in found.arguments:
        assert argument.text, f"{name} does not say what {argument.name} is"
        assert getattr(algorithm(name)(), argument.name) == argument.default


@pytest.mark.parametrize("name", OWN)
def test_no_markup_is_left_in_an_entry(name):
    text = read(description_html(describe(name)))
    outside = re.sub(r"\\\(.*?\\\)|\\\[.*?\\\]", "", text, flags=re.DOTALL)
    assert not re.search(r"`|(?<!\w)\*\*\w|:math:|={4,}|^\.\. ", outside, re.MULTILINE)


@pytest.mark.parametrize("name", OWN)
def test_summaries_and_arguments_are_single_paragraphs(name):
    found = describe(name)
    for text in (found.summary, *(argument.text for argument in found.arguments)):
        assert re.fullmatch(
            r"<p>((?!<(p|[uod]l|div|blockquote)\b).)*</p>", to_html(text), re.DOTALL
        )


def test_the_catalogue_has_each_class_once_and_stand_ins_last():
    page = catalogue_html()
    ids = re.findall(r'id="class-(\w+)"', page)
    assert sorted(ids) == sorted(name.lower() for name in OWN)
    stand_ins = [describe(name).as_published for name in OWN]
    last = [describe(name).as_published for name in sorted(OWN, key=lambda n: ids.index(n.lower()))]
    assert last == sorted(stand_ins)
    read(page)


@pytest.mark.parametrize("name", line_up_names())
def test_a_line_up_has_a_row_per_system_with_class_parameters_and_reason(name):
    html = line_up_html(name)
    rows = html.split("<tr>")[2:]
    systems = line_up(name)
    assert len(rows) == len(systems)
    for row, system in zip(rows, systems, strict=True):
        assert f'href="classes.html#class-{system.algorithm.lower()}"' in row
        text = read(f"<table><tr>{row.partition('</tr>')[0]}</tr></table>")
        assert text.startswith(system.name)
        for key, value in system.parameters.items():
            assert f"{key}={value!r}" in text
        words = re.sub(r"[`*]", "", line_up_sources(name)[system.name])
        assert words in text


@dataclass(eq=False)
class _Documented(Algorithm):
    r"""Score nothing.

    Minimises :math:`a < b`; see ``code`` & `Other`. Not **2**3.

    Parameters
    ----------
    size, depth : int
        How much of :math:`x`,
        in two lines.
    kind : {"a", "b"}
        Which.

    Notes
    -----
    Before all.

    **Defaults.** Mine.

    **Complexity.** :math:`O(1)`.

    **Non-computable.** None,
    really.

    References
    ----------
    Somebody, 1999.
    """

    size: int = parameter(3)
    depth: int = parameter(4)
    kind: str = parameter("a", choices=("a", "b"))


def test_a_docstring_is_taken_apart(monkeypatch):
    monkeypatch.setattr("recbias.recommenders.base._ALGORITHMS", {})
    register(_Documented)
    found = describe("_Documented")
    assert found.summary == "Score nothing."
    assert found.model.startswith("Minimises")
    assert [(each.name, each.default, each.text) for each in found.arguments] == [
        ("size", 3, "How much of :math:`x`, in two lines."),
        ("depth", 4, "How much of :math:`x`, in two lines."),
        ("kind", "a", "Which."),
    ]
    assert dict(found.notes) == {
        "": "Before all.",
        "Defaults": "Mine.",
        "Complexity": ":math:`O(1)`.",
        "Non-computable": "None,\nreally.",
    }
    assert found.references == "Somebody, 1999."
    with pytest.raises(ConfigError, match="unknown algorithm"):
        describe("Documented")


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("a < b & c", "<p>a &lt; b &amp; c</p>"),
        ("P@10, https://example.org", "<p>P&#64;10, https://example.org</p>"),
        ("`A <https://example.org>`__",
         '<p><a class="reference external" href="https://example.org">A</a></p>'),
        ("``x < 1``", "<p><code>x &lt; 1</code></p>"),
        ("**Bold** and *slanted*, 2**24 or 2**-24.",
         "<p><strong>Bold</strong> and <em>slanted</em>, 2**24 or 2**-24.</p>"),
        ("One.\n\nTwo.", "<p>One.</p>\n<p>Two.</p>"),
        ("- one\n  more\n- two",
         '<ul class="simple">\n<li>one\nmore</li>\n<li>two</li>\n</ul>'),
        ("1. one\n2. two",
         '<ol class="arabic simple">\n<li>one</li>\n<li>two</li>\n</ol>'),
        (".. math::\n    a\n    b",
         '<div class="math notranslate nohighlight">\n'
         "\\begin{equation*}\na\nb\n\\end{equation*}\n</div>"),
        (":math:`\\tfrac12\na`",
         '<p><span class="math notranslate nohighlight">\\(\\tfrac12\na\\)</span></p>'),
    ],
)  # fmt: skip
def test_markup_becomes_html(text, html):
    assert to_html(text) == html


def test_a_table_becomes_a_table():
    table = "====  =====\na     b\n====  =====\nx     one\n      more\ny     two\n====  ====="
    html = to_html(table)
    assert html.startswith('<div class="scrolls"><table class="numbers">')
    assert read(html).split() == ["a", "b", "x", "one", "more", "y", "two"]
    assert re.findall(r"<(t[hd])\b[^>]*>(.*?)</t[hd]>", html, re.DOTALL) == [
        ("th", "a"), ("th", "b"), ("td", "x"), ("td", "one\nmore"), ("td", "y"), ("td", "two"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    ["``x", "`x", "*x", "x_", ":nope:`x`", ".. nope::", "C. x", "- a\nb", "== ==\na  b",
     ".. include:: /etc/hostname", ".. raw:: html\n\n    <br>"],
)  # fmt: skip
def test_malformed_markup_is_refused_and_nothing_is_read_or_passed_through(text, capsys):
    with pytest.raises(SystemMessage):
        to_html(text)
    assert capsys.readouterr() == ("", "")


def test_a_line_up_is_shown_with_the_threshold_that_it_is_measured_with():
    assert "graded-zero&gt;=4" in line_up_html("mccrs20")
    html = line_up_html("mccrs20", min_rating=3)
    assert "graded-zero&gt;=3" in html
    assert "graded-zero&gt;=4" not in html
