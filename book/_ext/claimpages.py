"""A page for each claim, beside the scorecard: the same address in every build.

They are no sources of Sphinx, which would read and resolve each: they are filled into the theme
from the document of all claims, which the site ships too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from html import escape
from typing import Any

from docutils import nodes
from docutils.utils import new_document
from sphinx.application import Sphinx
from sphinx.builders.html import StandaloneHTMLBuilder

from recbias.book.claim_page import claim_html, few_words, words
from recbias.book.html import claim_link
from recbias.book.scorecard import document_text, load_document
from recbias.claims import claims
from recbias.claims.reading import address

SCORECARD = "notebooks/scorecard"
"""Only a book that has this page has pages of claims."""

_CLAIM = re.compile(r'(?<=<a class="to-claim" )data-claim="([^"]+)"')

_ID = re.compile(r"\b([A-Z]{3,6}\d\d-[A-Z0-9]+(?:-[A-Z0-9]+)*)\b")
_RUNNING = (nodes.paragraph, nodes.emphasis, nodes.strong)
"""What holds running text; a term, a title, code or a link is none."""

edition_document = cache(document_text)
"""What the site ships of an edition; judged once for all its pages."""


def make_pages(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Give the pages (event html-collect-pages), and tell the search what stands on them."""
    if SCORECARD not in app.env.found_docs:
        return
    document = load_document(app.config.bookkit_edition, edition_document)
    for claim in document["claims"]:
        name = address(claim["id"]).removesuffix(".html")
        text = words(claim)
        _index(app, name, f"Claim {claim['id']}", text)
        places = app.env.get_domain("place").data
        places["sections"][name] = [[claim["id"].lower(), claim["id"], text]]
        places["claims"][name] = [claim["id"]]
        title = escape(f"{claim['id']}: {few_words(claim['claim'])}")
        if "\\(" in (body := claim_html(claim, document)):
            app.env.get_domain("math").data["has_equations"][name] = True
        yield (
            name,
            {
                "title": title,
                "body": f'<section id="{claim["id"].lower()}"><h1>Claim {claim["id"]}</h1>'
                f"{body}</section>",
            },
            "page.html",
        )


def _index(app: Sphinx, name: str, title: str, text: str) -> None:
    """Let the search find words of a page that has no source."""
    assert isinstance(app.builder, StandaloneHTMLBuilder)
    if app.builder.indexer is None:
        return
    page = new_document(name)
    page += nodes.paragraph("", text)
    app.env.all_docs[name] = 0  # what is not there is taken out of the index
    app.env.titles[name] = nodes.title("", title)
    app.builder.indexer.feed(name, f"{name}.html", title, page)


def mark_claims(app: Sphinx, doctree: nodes.document) -> None:
    """Name claims in running text as `recbias.book.html.claim_link` does (doctree-read)."""
    for text in list(doctree.findall(nodes.Text)):
        if not isinstance(text.parent, _RUNNING) or _in_link(text):
            continue
        if not (found := _named(str(text))):
            continue
        text.parent.replace(text, found)


def _in_link(text: nodes.Text) -> bool:
    """Tell whether a text stands in a link that is written as HTML."""
    before = text.parent[: text.parent.index(text)]
    tags = [node.astext() for node in before if isinstance(node, nodes.raw)]
    return bool(tags) and tags[-1].startswith("<a ")


def _named(text: str) -> list[nodes.Node]:
    """Part a text where it names claims; nothing if it names none."""
    known, pieces = _known(), _ID.split(text)
    if not known.intersection(pieces[1::2]):
        return []
    found: list[nodes.Node] = []
    for piece in filter(None, pieces):
        if piece in known:  # the name stays a text, which the search reads
            start, end = claim_link(piece, "|").split("|")
            found += [
                nodes.raw("", start, format="html"),
                nodes.Text(piece),
                nodes.raw("", end, format="html"),
            ]
        else:
            found.append(nodes.Text(piece))
    return found


@cache
def _known() -> frozenset[str]:
    return frozenset(claim.id for claim in claims())


def link_claims(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document
) -> None:
    """Lead a claim that a page names to its own page."""
    if "data-claim=" not in context.get("body", "") or SCORECARD not in app.env.found_docs:
        return
    up = "../" * pagename.count("/")
    context["body"] = _CLAIM.sub(lambda found: f'href="{up}{address(found[1])}"', context["body"])


def make_room(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document
) -> None:
    """Give wide tables the place of the page's contents."""
    if pagename == SCORECARD or pagename.startswith("claims/"):
        context["meta"] = (context.get("meta") or {}) | {
            "html_theme.sidebar_secondary.remove": True
        }


def setup(app: Sphinx) -> dict[str, bool]:
    """Register everything with Sphinx."""
    app.connect("doctree-read", mark_claims)
    app.connect("html-collect-pages", make_pages)
    app.connect("html-page-context", link_claims, priority=400)
    app.connect("html-page-context", make_room, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
