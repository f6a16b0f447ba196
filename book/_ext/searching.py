"""What the search finds beyond the pages: ids of claims, and the sentence in which a word stands.

Sphinx would fetch each page to show where a word stands in it, which a browser refuses from disk.
So the text of all sections is a script beside the search page, and ``reading.js`` looks it up.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.domains import Domain, ObjType

from recbias.claims.ledger import claims

_NOT_PROSE = (
    nodes.section,
    nodes.title,
    nodes.literal_block,
    nodes.raw,
    nodes.comment,
    nodes.math,
    nodes.math_block,
)


class PlaceDomain(Domain):
    """Where claims and sections stand; the claims are objects, which the search finds by name."""

    name = "place"
    label = "places"
    object_types = {"claim": ObjType("claim", "claim")}  # noqa: RUF012 - as Sphinx declares it
    initial_data = {"claims": {}, "sections": {}}  # noqa: RUF012
    data_version = 1

    def note(self, docname: str, doctree: nodes.document) -> None:
        """Read a page: anchors of claims in what its cells wrote, and the text of its sections."""
        text = "".join(raw.astext() for raw in doctree.findall(nodes.raw))
        anchors = set(re.findall(r'\bid="([^"]+)"', text))
        self.data["claims"][docname] = [
            claim.id for claim in claims() if claim.id.lower() in anchors
        ]
        self.data["sections"][docname] = [
            [section["ids"][0], section[0].astext(), " ".join(prose(section))]
            for section in doctree.findall(nodes.section)
            if section.children and isinstance(section[0], nodes.title)
        ]

    def clear_doc(self, docname: str) -> None:
        """Forget a page."""
        for places in self.data.values():
            if isinstance(places, dict):
                places.pop(docname, None)

    def merge_domaindata(self, docnames: Iterable[str], otherdata: dict[str, Any]) -> None:
        """Take what another process has read."""
        for docname in docnames:
            for kind in ("claims", "sections"):
                self.data[kind][docname] = otherdata[kind][docname]

    def get_objects(self) -> Iterator[tuple[str, str, str, str, str, int]]:
        """Give name, name shown, type, page, anchor and priority of each place of a claim."""
        for docname, found in self.data["claims"].items():
            for identifier in found:
                yield identifier, identifier, "claim", docname, identifier.lower(), 1

    def get_type_name(self, type: ObjType, primary: bool = False) -> str:
        """Call a claim a claim."""
        return str(type.lname)


def prose(node: nodes.Element) -> Iterator[str]:
    """Give the words of a section that stand in none of its own sections, without code and TeX."""
    for child in node.children:
        if isinstance(child, nodes.Text):
            yield from str(child).split()
        elif not isinstance(child, _NOT_PROSE):
            yield from prose(child)


def note_places(app: Sphinx, doctree: nodes.document) -> None:
    """Tell the domain what stands on a page (event doctree-read)."""
    domain = app.env.get_domain("place")
    assert isinstance(domain, PlaceDomain)
    domain.note(app.env.docname, doctree)


def write_sections(app: Sphinx, exception: Exception | None) -> None:
    """Write the text of all sections beside the search page (event build-finished)."""
    if exception or app.builder.format != "html":
        return
    sections = app.env.get_domain("place").data["sections"]
    text = json.dumps(dict(sorted(sections.items())), ensure_ascii=False)
    Path(app.outdir, "search-text.js").write_text(f"window.searchText={text};\n", encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Register the domain and what fills it."""
    app.add_domain(PlaceDomain)
    app.connect("doctree-read", note_places)
    app.connect("build-finished", write_sections)
