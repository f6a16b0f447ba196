"""What the search finds beyond the pages: claims, definitions, and the sentence of a word.

Sphinx would fetch each page to show where a word stands in it, which a browser refuses from disk.
So the text of all sections is a script beside the search page, and ``reading.js`` looks it up.
Beside it stands what is defined: terms of glossaries, metrics, and symbols, which are found by the
names of their letters.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.domains import Domain, ObjType

from recbias.claims.ledger import claims

_NOT_PROSE = (
    nodes.section,
    nodes.title,
    nodes.literal_block,
    nodes.raw,
    nodes.comment,
    nodes.math_block,
)
_LETTERS = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "eta": "η",
    "theta": "θ", "lambda": "λ", "mu": "μ", "pi": "π", "rho": "ρ", "sigma": "σ", "tau": "τ",
    "phi": "φ", "chi": "χ", "omega": "ω",
}  # fmt: skip
_SHORT = 24
"""Formulas of so many characters are read as words of a sentence; longer ones are left out."""
_SYMBOLS, _METRIC = "sec-symbols", "metric-"
"""The section whose table says what symbols mean; how labels of metrics begin."""


class PlaceDomain(Domain):
    """Where claims and sections stand; the claims are objects, which the search finds by name."""

    name = "place"
    label = "places"
    object_types = {"claim": ObjType("claim", "claim")}  # noqa: RUF012 - as Sphinx declares it
    initial_data = {"claims": {}, "sections": {}, "terms": {}}  # noqa: RUF012
    data_version = 2

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
        self.data["terms"][docname] = [*defined_terms(doctree), *defined_symbols(doctree)]

    def clear_doc(self, docname: str) -> None:
        """Forget a page."""
        for places in self.data.values():
            if isinstance(places, dict):
                places.pop(docname, None)

    def merge_domaindata(self, docnames: Iterable[str], otherdata: dict[str, Any]) -> None:
        """Take what another process has read."""
        for docname in docnames:
            for kind in ("claims", "sections", "terms"):
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
    """Give the words of a section that stand in none of its own sections, without code.

    Of formulas there are short ones, as one reads them.
    """
    for child in node.children:
        if isinstance(child, nodes.Text):
            yield from str(child).split()
        elif isinstance(child, nodes.math):
            words = spoken(child.astext())
            yield from words.split() if len(words) <= _SHORT else ()
        elif not isinstance(child, _NOT_PROSE):
            yield from prose(child)


def sentence(node: nodes.Element) -> str:
    """Join the words of a node as they are printed, without blanks before stops."""
    return re.sub(r" (?=[.,;:)])", "", " ".join(prose(node)))


def spoken(tex: str) -> str:
    r"""Write a formula in plain characters.

    Examples
    --------
    >>> spoken(r"\rho = \operatorname{avg}_u\, \rho_u"), spoken(r"\mathcal{C}_{test}")
    ('ρ = avg_u ρ_u', 'C_test')
    """
    text = re.sub(r"\\(?:mathcal|mathbb|mathrm|operatorname|text)\s*\{?(\w+)\}?", r"\1", tex)
    text = re.sub(r"\\([a-z]+)", lambda found: _LETTERS.get(found[1], " "), text)
    return " ".join(re.sub(r"[{}]", "", re.sub(r"\\.", " ", text)).split())


def defined_terms(doctree: nodes.document) -> Iterator[list[Any]]:
    """Give what glossaries and sections on metrics define: names, anchor and definition."""
    for glossary in doctree.findall(addnodes.glossary):
        for item in glossary.findall(nodes.definition_list_item):
            terms = [child for child in item.children if isinstance(child, nodes.term)]
            text = sentence(item.children[-1])
            yield [[term.astext() for term in terms], terms[0]["ids"][0], text]
    for section in doctree.findall(nodes.section):
        if any(label.startswith(_METRIC) for label in section["ids"]):
            text = sentence(section)
            yield [[section[0].astext()], section["ids"][0], text]


def defined_symbols(doctree: nodes.document) -> Iterator[list[Any]]:
    """Give what stands in the section on symbols, by their letters and the names of these."""
    for section in doctree.findall(nodes.section):
        if _SYMBOLS not in section["ids"]:
            continue
        pairs = [row.children[:2] for body in section.findall(nodes.tbody) for row in body]
        pairs += [(item[-1], item[-1]) for item in section.findall(nodes.definition_list_item)]
        for symbol, meaning in pairs:
            formula = next(iter(symbol.findall(nodes.math)), None)
            if formula is None:
                continue
            names = [spoken(each) for each in re.split(r"[,;]\\", formula.astext().split("=")[0])]
            term = meaning.parent[0].astext() if symbol is meaning else ""
            read = [name for each in names for name in (each, _by_letters(each))]
            yield [
                [*filter(None, [term]), *dict.fromkeys(read)],
                _SYMBOLS,
                sentence(meaning),
            ]


def _by_letters(symbol: str) -> str:
    """Write a symbol by the names of its letters."""
    for name, letter in _LETTERS.items():
        symbol = symbol.replace(letter, name)
    return symbol


def note_places(app: Sphinx, doctree: nodes.document) -> None:
    """Tell the domain what stands on a page (event doctree-read)."""
    domain = app.env.get_domain("place")
    assert isinstance(domain, PlaceDomain)
    domain.note(app.env.docname, doctree)


def write_sections(app: Sphinx, exception: Exception | None) -> None:
    """Write the text of all sections beside the search page (event build-finished)."""
    if exception or app.builder.format != "html":
        return
    data = app.env.get_domain("place").data
    terms = [
        [names, docname, anchor, text]
        for docname, defined in sorted(data["terms"].items())
        for names, anchor, text in defined
    ]
    shipped = {
        "searchText": dict(sorted(data["sections"].items())),
        "searchTerms": terms,
        "searchLetters": _LETTERS,
    }
    text = "".join(
        f"window.{name}={json.dumps(value, ensure_ascii=False)};\n"
        for name, value in shipped.items()
    )
    Path(app.outdir, "search-text.js").write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Register the domain and what fills it."""
    app.add_domain(PlaceDomain)
    app.connect("doctree-read", note_places)
    app.connect("build-finished", write_sections)
