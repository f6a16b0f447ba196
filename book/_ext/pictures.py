"""Pictures in the page itself: an SVG that is linked as an image has no text that can be selected.

What Matplotlib writes is made to share a page with others: identifiers are this picture's own,
the style that it sets for everything becomes one of its root, and what the page says of the
image, or else what the picture says of itself, becomes the name under which assistive technology
announces it.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx

from recbias.book.html import svg_description

_SVG = "http://www.w3.org/2000/svg"
_XLINK = "http://www.w3.org/1999/xlink"
_LINE_ENDS = "stroke-linejoin: round; stroke-linecap: butt"
_REFERENCE = re.compile(r"url\(#([^)]+)\)")


def inline_svg(text: str, label: str, prefix: str) -> str:
    """Write an SVG file as an element of a page.

    Parameters
    ----------
    text : str
        Content of the file.
    label : str
        What the picture shows, for who cannot see it; hidden from assistive technology if empty.
    prefix : str
        Of identifiers; no other picture of the page may have it.

    Returns
    -------
    str
        HTML.

    Examples
    --------
    >>> path = '<g id="axes"/><path id="p" clip-path="url(#p)"/>'
    >>> file = f'<svg xmlns="http://www.w3.org/2000/svg">{path}</svg>'
    >>> print(inline_svg(file, "A path", "one-"))
    <svg ... role="img" aria-label="A path" ...><g /><path id="one-p" clip-path="url(#one-p)" />...
    """
    ET.register_namespace("", _SVG)
    ET.register_namespace("xlink", _XLINK)
    root = ET.fromstring(text)
    link = f"{{{_XLINK}}}href"
    used: set[str] = set()
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in {f"{{{_SVG}}}metadata", f"{{{_SVG}}}style"}:
                parent.remove(child)
    for element in root.iter():
        for name, value in element.attrib.items():
            if name == link and value.startswith("#"):
                used.add(value[1:])
                element.set(name, f"#{prefix}{value[1:]}")
            elif found := _REFERENCE.findall(value):
                used |= set(found)
                element.set(name, _REFERENCE.sub(rf"url(#{prefix}\1)", value))
    for element in root.iter():
        if (identifier := element.get("id")) in used:
            element.set("id", f"{prefix}{identifier}")
        else:  # the groups of Matplotlib, to which nothing refers
            element.attrib.pop("id", None)
    root.attrib.pop("version", None)
    root.attrib |= {"role": "img", "aria-label": label} if label else {"aria-hidden": "true"}
    root.set("style", _LINE_ENDS)
    return ET.tostring(root, encoding="unicode").replace("\n", "")


def inline_pictures(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Put each SVG of a page into it (event doctree-resolved)."""
    if app.builder.format != "html":
        return
    pictures = [each for each in doctree.findall(nodes.image) if each["uri"].endswith(".svg")]
    for number, image in enumerate(pictures, start=1):
        text = Path(app.srcdir, image["uri"]).read_text(encoding="utf-8")
        label = image.get("alt") or svg_description(text)
        svg = inline_svg(text, label, f"picture-{number}-")
        image.replace_self(nodes.raw("", svg, format="html"))
