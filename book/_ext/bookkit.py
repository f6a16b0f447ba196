"""Sphinx extension of the book.

1. Chapters: a page of ``notebooks/`` is the notebook that :mod:`recbias.book.notebooks` executed on
the
   edition's data set, with the line numbers of its source, and a download that reads well outside
   the book.
2. Editions: which data set this build is for, the switch to the others, and files that belong to a
   page.
3. The public address: buttons that need one are there only when ``pyproject.toml`` names one.
4. Assets: MathJax, style sheets and scripts from this repository; nothing that fetches from
   elsewhere.
5. ``{glue:figure}`` with a name ``tbl-...`` is numbered as a table; every table has its own box.
6. Findings: a sentence of a page in ``book/`` follows the verdicts of the edition's stored results.
7. The search finds the ids of claims, and says where a word stands (:mod:`searching`).
8. Pictures stand in the page, so that their text can be selected (:mod:`pictures`).
9. Each claim has a page of its own, beside the scorecard (:mod:`claimpages`).
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.environment import BuildEnvironment
from sphinx.errors import SphinxError
from sphinx.util import logging

from claimpages import edition_document
from pictures import inline_pictures
from recbias._system.places import packaged
from recbias.book.findings import Findings, resolve_findings, stored_findings
from recbias.book.notebooks import Chapter, edition_name, line_numbers, run_chapter
from recbias.book.standalone.plain_markdown import plain_notebook
from recbias.claims.reading import csv_text
from recbias.errors import RecbiasError

logger = logging.getLogger(__name__)


class ChapterError(SphinxError):
    """A chapter could not be executed; Sphinx prints the message without a traceback."""

    category = "chapter"


# -- 1. chapters -----------------------------------------------------------------------------------
def _chapter(app: Sphinx, docname: str) -> Chapter | None:
    """Give the chapter behind a page; None for prose."""
    folder, _, name = docname.rpartition("/")
    return Chapter(name, Path(app.srcdir)) if folder == "notebooks" else None


@cache
def _executed(app: Sphinx, chapter: Chapter) -> nbformat.NotebookNode:
    """Read what was executed, once for the page and its download; not to be changed."""
    try:
        done = run_chapter(chapter, app.config.bookkit_edition, shared=_parameters(), progress=True)
    except RecbiasError as error:
        raise ChapterError(str(error)) from error
    return nbformat.read(done, as_version=4)


def read_executed(app: Sphinx, docname: str, content: list[str]) -> None:
    """Replace the source of a chapter by its executed notebook (event source-read)."""
    chapter = _chapter(app, docname)
    if chapter:
        notebook = nbformat.from_dict(_executed(app, chapter))  # a copy
        notebook.metadata["source_map"] = line_numbers(chapter, notebook)
        content[0] = nbformat.writes(notebook)


def always_outdated(app: Sphinx, env: BuildEnvironment, *_: set[str]) -> list[str]:
    """Read in every build what does not depend on its page's date alone: runs and findings."""
    return [
        docname
        for docname in env.found_docs
        if _chapter(app, docname) or "{finding}" in Path(env.doc2path(docname)).read_text("utf-8")
    ]


def offer_notebook(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document
) -> None:
    """Put a notebook beside the page, for the download button."""
    chapter = _chapter(app, pagename)
    if chapter:
        target = Path(app.outdir) / "_sources" / f"{pagename}.ipynb"
        target.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(plain_notebook(_executed(app, chapter)), target)
        context["ipynb_source"] = f"{pagename}.ipynb"


# -- 2. editions -----------------------------------------------------------------------------------
def choose_edition(app: Sphinx, config: Config) -> None:
    """Read which edition this is from the environment that :mod:`recbias.book.site` sets."""
    titles = json.loads(os.environ.get("RECBIAS_EDITIONS", "{}"))
    config.bookkit_edition = os.environ.get("RECBIAS_EDITION") or config.bookkit_editions[0]
    config.bookkit_titles = titles
    if len(titles) > 1:
        config.html_title += f" · {_short(titles, _edition(config))}"


def _parameters() -> dict[str, Any]:
    """Read which parameters of the chapters this edition changes."""
    return dict(json.loads(os.environ.get("RECBIAS_PARAMETERS", "{}")))


def _edition(config: Config) -> str:
    """Name this edition as its folder is named."""
    return edition_name(config.bookkit_edition, params=_parameters())


def _short(titles: Mapping[str, str], name: str) -> str:
    """Call an edition by its title without what stands in brackets, if no other is called so."""
    short = titles[name].partition(" (")[0]
    return (
        short if sum(t.partition(" (")[0] == short for t in titles.values()) == 1 else titles[name]
    )


def _folders(titles: Mapping[str, str]) -> dict[str, str]:
    """Name the folder of each edition within the site; the first stands at its root."""
    return {name: f"on/{name}" if number else "." for number, name in enumerate(titles)}


def add_switch(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document
) -> None:
    """Give the template relative links to the same page of every edition."""
    titles: dict[str, str] = app.config.bookkit_titles
    if len(titles) < 2:
        return
    current = _edition(app.config)
    folders = _folders(titles)
    here = os.path.dirname(f"{folders[current]}/{pagename}")
    page = pagename if doctree or pagename.startswith("claims/") else app.config.root_doc
    context["edition_title"] = titles[current]
    context["edition_called"] = _short(titles, current)
    context["editions"] = [
        {
            "title": title,
            "url": Path(os.path.relpath(f"{folders[name]}/{page}.html", here)).as_posix(),
            "current": name == current,
        }
        for name, title in titles.items()
    ]


_FILE = re.compile(r'<span data-file="([^"]+)">([^<]+)</span>')


def ship_files(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document
) -> None:
    """Put what a page offers as files beside it, and link it there."""
    if "data-file=" not in context.get("body", ""):
        return
    folder = Path(app.outdir, pagename).parent
    folder.mkdir(parents=True, exist_ok=True)

    def ship(found: re.Match[str]) -> str:
        name, title = found.groups()
        made = _FILES[name](app.config.bookkit_edition)
        (folder / name).write_text(made, encoding="utf-8")
        return f'<a href="{name}" download>{title}</a>'

    context["body"] = _FILE.sub(ship, context["body"])


_FILES: dict[str, Callable[[str], str]] = {
    "claims.json": edition_document,
    "scorecard.csv": lambda edition: csv_text(json.loads(edition_document(edition))),
    "claims.schema.json": lambda _: packaged("published/claims.schema.json").read_text("utf-8"),
    "recount.py": lambda _: Path(__file__).parents[1].joinpath("recount.py").read_text("utf-8"),
}
"""What pages may offer, of an edition."""


# -- 3. the public address -------------------------------------------------------------------------
def use_address(app: Sphinx, config: Config) -> None:
    """Switch on what needs the repository's public address, if ``[project.urls]`` names it."""
    project = tomllib.loads(Path(app.srcdir, "pyproject.toml").read_text(encoding="utf-8"))
    address = project["project"].get("urls", {}).get("Repository")
    if address:
        config.html_theme_options |= {
            "repository_url": address.rstrip("/"),
            "repository_branch": "main",
            "use_repository_button": True,
            "use_edit_page_button": True,
            "use_issues_button": True,
            "launch_buttons": {
                "binderhub_url": "https://mybinder.org",
                "notebook_interface": "jupyterlab",
            },
        }


# -- 4. assets -------------------------------------------------------------------------------------
def use_own_assets(app: Sphinx, config: Config) -> None:
    """Serve this repository's files, and drop the loader of live code, which fetches from a CDN.

    Added here and not in ``_config.yml``, because Jupyter Book puts each script that it finds in a
    configured static folder on every page.
    """
    book = Path(__file__).resolve().parents[1]
    config.html_static_path += [str(book / "_vendor"), str(book / "_static")]
    app.add_css_file("recbias.css")
    app.add_css_file("systems.css")
    app.add_js_file("reading.js", loading_method="defer")
    app.add_css_file("cards.css")
    app.add_css_file("scorecard.css")
    app.add_js_file("scorecard.js", loading_method="defer")
    app.add_css_file("choices.css")
    app.add_js_file("choices.js", loading_method="defer")
    app.add_css_file("explorer.css")
    app.add_js_file("explorer.js", loading_method="defer")
    app.add_css_file("guide.css")
    app.add_js_file("guide.js", loading_method="defer")
    listeners = app.events.listeners["env-before-read-docs"]
    listeners[:] = [each for each in listeners if each.handler.__name__ != "init_thebe_core"]


def drop_templates(app: Sphinx, exception: Exception | None) -> None:
    """Remove the theme's unfilled templates, which are no pages (event build-finished)."""
    for template in Path(app.outdir, "_static").glob("*.html"):
        template.unlink()


# -- 5. tables -------------------------------------------------------------------------------------
class table_figure(nodes.figure):  # noqa: N801 - docutils names nodes in lower case
    """A figure that holds a table, numbered and called "Table n"."""


def number_tables(app: Sphinx, doctree: nodes.document) -> None:
    """Turn figures named ``tbl-...`` into tables."""
    for figure in list(doctree.findall(nodes.figure)):
        if any(name.startswith("tbl-") for name in [*figure["names"], *figure["ids"]]):
            table = table_figure("", *figure.children, **figure.attributes)
            figure.replace_self(table)
            for label in table["ids"]:  # numref resolves through this map
                doctree.ids[label] = table


def _visit_table(translator: Any, node: nodes.Element) -> None:
    translator.visit_figure(node)


def _depart_table(translator: Any, node: nodes.Element) -> None:
    translator.depart_figure(node)


_TABLE = re.compile(r"(?<!<div class=\"scrolls\">)<table\b.*?</table>", re.DOTALL)


def box_tables(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Give each table that a cell wrote a box to scroll in (event doctree-resolved).

    Those of the prose have one from the theme.
    """
    for raw in doctree.findall(nodes.raw):
        if raw["format"] == "html" and "<table" in raw.astext():
            text = _TABLE.sub(r'<div class="scrolls">\g<0></div>', raw.astext())
            raw.replace_self(nodes.raw("", text, format="html"))


_NUMBER = re.compile(r"\W*\d[\d.,%e\s+−-]*")


def label_cells(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Let tables of text stand as blocks on a phone (event doctree-resolved).

    Their cells then are one under the other, and say of which column they are. Tables of two
    columns fit as they are, but for long formulas; tables of numbers scroll.
    """
    for table in doctree.findall(nodes.table):
        titles = [cell.astext() for head in table.findall(nodes.thead) for cell in head[-1]]
        rows = [row.children for body in table.findall(nodes.tbody) for row in body]
        values = [cell.astext() for row in rows for cell in row[1:]]
        n_numbers = sum(bool(_NUMBER.match(value)) for value in values)
        has_long = any(len(formula.astext()) > 30 for formula in table.findall(nodes.math))
        if (len(titles) < 3 and not has_long) or 2 * n_numbers > len(values):
            continue
        table["classes"].append("text")
        for row in rows:
            for title, cell in zip(titles[1:], row[1:], strict=False):
                cell.insert(0, nodes.inline("", title, classes=["column"]))


def drop_roles(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document
) -> None:
    """Take roles from the bibliography that contradict each other: a list without list items."""
    if 'class="citation-list"' in context.get("body", ""):
        context["body"] = _ROLES.sub("", context["body"])


_ROLES = re.compile(r' role="(?:list|doc-biblioentry)"')


# -- 6. findings -----------------------------------------------------------------------------------
@cache
def _stored_findings(dataset: str) -> list[Findings]:
    return stored_findings(dataset)


def follow_verdicts(app: Sphinx, docname: str, content: list[str]) -> None:
    """Put the sentences that the edition's data bear out into a page (event source-read)."""
    if _chapter(app, docname) or "{finding}" not in content[0].lower():
        return
    path = app.env.doc2path(docname)
    try:
        found = _stored_findings(app.config.bookkit_edition)
        content[0] = resolve_findings(content[0], found, lambda line: f"{path}:{line + 1}")
    except RecbiasError as error:
        raise ChapterError(str(error)) from error


def setup(app: Sphinx) -> dict[str, bool]:
    """Register everything with Sphinx."""
    app.add_config_value("bookkit_editions", [], "env", list)
    app.add_config_value("bookkit_edition", "", "env", str)
    app.add_config_value("bookkit_titles", {}, "html", dict)
    visitors = (_visit_table, _depart_table)
    app.add_enumerable_node(table_figure, "table", html=visitors, latex=visitors)
    for handler in (choose_edition, use_address, use_own_assets):
        app.connect("config-inited", handler)
    app.connect("env-get-outdated", always_outdated)
    app.connect("source-read", read_executed)
    app.connect("source-read", follow_verdicts)
    app.connect("doctree-read", number_tables)
    app.setup_extension("searching")
    app.setup_extension("claimpages")
    app.connect("doctree-resolved", box_tables)
    app.connect("doctree-resolved", label_cells)
    app.connect("doctree-resolved", inline_pictures)
    app.connect("build-finished", drop_templates)
    # before the theme (500) makes its buttons
    app.connect("html-page-context", offer_notebook, priority=400)
    app.connect("html-page-context", add_switch, priority=400)
    app.connect("html-page-context", drop_roles)
    app.connect("html-page-context", ship_files, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
