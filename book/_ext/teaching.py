"""Sphinx extension: tables for who teaches, made of the chapters, and links to their slides.

    ```{chapter-parts}
    ```

lists for each chapter what readers can do after it, what they need, and the minutes of its parts;

    ```{chapter-minutes}
    ```

lists only their sums. Minutes are counted, not judged: 200 words a minute, and so many for each
figure, prediction and exercise.
"""

from __future__ import annotations

import math
import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective

__all__ = ["MINUTES", "WORDS", "parts_of", "setup", "told_of"]

WORDS = 200
"""That are read in a minute."""
MINUTES = {"figure": 1.5, "predict": 2.0, "exercise_node": 8.0, "exercise_enumerable_node": 8.0}
"""That each of these takes beside its words."""
EXERCISES = "Exercises"
_LEFT_OUT = re.compile(r"Verdicts|What we had to decide|On your data")
"""Sections that nobody reads in class."""
_CHAPTER = re.compile(r"notebooks/\d\d_")


class chapter_table(nodes.General, nodes.Element):  # noqa: N801 - docutils names nodes so
    """Where a table of all chapters is to stand; ``whole`` if with the parts of each."""


class ChapterTable(SphinxDirective):
    """Ask for the table of the chapters."""

    def run(self) -> list[nodes.Node]:
        """Build the node."""
        return [chapter_table("", whole=self.name == "chapter-parts")]


def parts_of(chapter: nodes.section) -> list[tuple[str, int]]:
    """List the parts of a chapter, each with its minutes, rounded up."""
    lead = nodes.Element()
    lead.children = [node for node in chapter.children[1:] if not isinstance(node, nodes.section)]
    found = [("lead", _minutes(lead))]
    for section in chapter.children:
        if isinstance(section, nodes.section) and not _LEFT_OUT.match(section[0].astext()):
            found.append((section[0].astext(), _minutes(section)))
    return [(title, math.ceil(minutes)) for title, minutes in found]


def _minutes(part: nodes.Element) -> float:
    words, more = 0, 0.0
    for node in part.findall():
        name = type(node).__name__
        more += MINUTES.get(name, 0.0)
        if isinstance(node, nodes.paragraph) and not _is_hidden(node):
            words += len(node.astext().split())
    return words / WORDS + more


def _is_hidden(node: nodes.Node) -> bool:
    """Tell whether a text is behind a click, or a solution."""
    while (node := node.parent) is not None:
        classes = node.get("classes", ()) if isinstance(node, nodes.Element) else ()
        if "dropdown" in classes or "solution" in type(node).__name__:
            return True
    return False


def read_chapter(app: Sphinx, doctree: nodes.document) -> None:
    """Keep what the tables say of a chapter (doctree-read)."""
    docname = app.env.docname
    if not _CHAPTER.match(docname):
        return
    (chapter,) = (node for node in doctree.children if isinstance(node, nodes.section))
    told = [n for n in chapter.findall(nodes.paragraph) if n.astext().startswith("After this")]
    text = re.sub(r"\s+", " ", told[0].astext()) if told else ""
    aims, _, needs = text.partition(" About ")
    told_of(app.env)[docname] = {
        "aims": aims.partition(" you can ")[2].rstrip("."),
        "needs": needs.partition("; ")[2].rstrip("."),
        "parts": parts_of(chapter),
        "exercises": [
            node.astext()
            for node in chapter.findall()
            if type(node).__name__ == "exercise_subtitle"
        ],
    }


def told_of(env: BuildEnvironment) -> dict[str, Any]:
    """Give by chapter what was kept: aims, needs, parts with minutes, names of exercises."""
    if not hasattr(env, "chapter_parts"):
        env.chapter_parts = {}  # type: ignore[attr-defined]
    kept: dict[str, Any] = env.chapter_parts  # type: ignore[attr-defined]
    return kept


def forget(app: Sphinx, env: BuildEnvironment, docname: str) -> None:
    """Drop a chapter that is read anew (env-purge-doc)."""
    told_of(env).pop(docname, None)


def merge(app: Sphinx, env: BuildEnvironment, docnames: set[str], other: BuildEnvironment) -> None:
    """Take what another process read (env-merge-info)."""
    told_of(env).update({name: told_of(other)[name] for name in docnames & set(told_of(other))})


def fill_tables(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Write the tables (doctree-resolved)."""
    for place in list(doctree.findall(chapter_table)):
        chapters = sorted(told_of(app.env).items())
        made = _whole if place["whole"] else _sums
        place.replace_self(made(app, docname, chapters))


def _link(app: Sphinx, docname: str, target: str, text: str) -> nodes.paragraph:
    link = nodes.reference("", text, internal=True)
    link["refuri"] = app.builder.get_relative_uri(docname, target)
    return nodes.paragraph("", "", link)


def _slides(docname: str, target: str) -> nodes.paragraph:
    up = "../" * docname.count("/")
    link = nodes.reference("", "slides", internal=True)
    link["refuri"] = f"{up}slides/{target.rpartition('/')[2]}.html"
    return nodes.paragraph("", "", link)


def _sums(app: Sphinx, docname: str, chapters: list[tuple[str, Any]]) -> list[nodes.Node]:
    rows = []
    for number, (name, kept) in enumerate(chapters, start=1):
        exercises = sum(minutes for title, minutes in kept["parts"] if title == EXERCISES)
        whole = sum(minutes for _, minutes in kept["parts"])
        title = f"{number}. {app.env.titles[name].astext()}"
        rows.append([
            _link(app, docname, name, title), _text(f"{whole - exercises} min"),
            _text(f"{exercises} min"), _slides(docname, name),
        ])  # fmt: skip
    return [_table(["chapter", "reading", "exercises", "slides"], rows)]


def _whole(app: Sphinx, docname: str, chapters: list[tuple[str, Any]]) -> list[nodes.Node]:
    written: list[nodes.Node] = []
    for number, (name, kept) in enumerate(chapters, start=1):
        title = f"{number}. {app.env.titles[name].astext()}"
        head = _link(app, docname, name, title)
        aims = nodes.bullet_list()
        for aim in kept["aims"].split(";"):
            text = re.sub(r"^and ", "", aim.strip())
            aims += nodes.list_item("", nodes.paragraph("", text))
        needs = re.sub(r"^(?:all )?you need is |^you need to know |^you need ", "", kept["needs"])
        parts = "; ".join(f"{part}, {minutes} min" for part, minutes in kept["parts"])
        written += [
            nodes.paragraph("", "", nodes.strong("", "", *head.children)),
            aims,
            nodes.paragraph("", f"Needs: {needs or 'the chapters before'}."),
            nodes.paragraph("", f"Parts: {parts}."),
        ]
    return written


def _text(text: str) -> nodes.paragraph:
    return nodes.paragraph("", text)


def _table(titles: list[str], rows: list[list[nodes.paragraph]]) -> nodes.table:
    group = nodes.tgroup(cols=len(titles))
    group += [nodes.colspec(colwidth=1) for _ in titles]
    head = nodes.row("", *(nodes.entry("", _text(title)) for title in titles))
    body = [nodes.row("", *(nodes.entry("", cell) for cell in row)) for row in rows]
    group += [nodes.thead("", head), nodes.tbody("", *body)]
    return nodes.table("", group)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register everything with Sphinx."""
    app.add_node(chapter_table)
    app.add_directive("chapter-parts", ChapterTable)
    app.add_directive("chapter-minutes", ChapterTable)
    app.connect("doctree-read", read_chapter)
    app.connect("env-purge-doc", forget)
    app.connect("env-merge-info", merge)
    app.connect("doctree-resolved", fill_tables, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
