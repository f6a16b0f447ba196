"""Check that no page of a built site shows what was meant for the machine, or shows nothing.

    python tests/site/leaks.py SITE_FOLDER

Read are outputs, prose, alt texts, the texts of figures, and what explorers hold ready; not source.
Exit 1 on the repr of an object, on a value that is missing and shows as ``nan``, ``None``, dots or
``undefined to undefined``, on a cell that ends with a value and shows none, and on a page of the
table of contents that is missing or empty in an edition. `leaks` reads one page, of the site or of
`recbias run`; `silent_cells` one executed notebook.
"""

from __future__ import annotations

import ast
import base64
import json
import re
import sys
from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from check_findings import ROOT, editions
from recbias.book.site import empty_pages

_BLOCKS = {
    "address", "article", "aside", "blockquote", "body", "br", "caption", "dd", "details", "div",
    "dl", "dt", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6",
    "header", "hr", "label", "li", "main", "nav", "ol", "option", "p", "pre", "section", "summary",
    "table", "tbody", "td", "text", "tfoot", "th", "thead", "title", "tr", "ul", "button", "select",
}  # fmt: skip
_VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "wbr"}
_UNREAD = {"style", "template", "math", "noscript"}
_SHOWN = ("alt", "title", "aria-label", "placeholder")
_BEFORE, _AFTER = (
    r"(?:^|(?<=[\s(\[{,;:|/~±<>≤≥+–—−\"“-])|(?<=[ =]=))",
    r"(?=$|[\s)\]},;:.=|/%±–—\"”-])",
)
_KINDS: dict[str, re.Pattern[str]] = {
    kind: re.compile("|".join(patterns))
    for kind, patterns in {
        "repr of an object": (
            r"\bobject at\b",
            r"\bat 0x[0-9a-f]{4,}",
            r"<(?:class|function|module|bound method|built-in|generator|Axes|Figure)\b",
            r"<[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+[ :>]",
            r"<[A-Z]\w*(?:\.\w+)*[:(][^>]*>",
            r"<[A-Za-z_]\w* object>",
            r"\bFigure\(\d+x\d+\)",
            r"\bnp\.\w+\([^)]",
            r"\barray\(\[",
            r"\bdtype[:=]",
        ),
        "missing number": (
            rf"{_BEFORE}[+−-]?(?:nan|NaN|NAN|NaT|inf){_AFTER}",
            r"<NA>",
        ),
        "interval without ends": (r"\bundefined to (?!the\b)", r"[\d%] to undefined\b"),
        "count of nothing": (r"\bundefined of undefined\b",),
        # Within a sentence no English word has a capital; at its start one that is English follows.
        "None": (
            r"^\s*None\W*$",
            r"(?<=[a-z] )None\b(?! of )",
            r"(?<=[,;:=(|/]) ?None\b(?! [a-z])",
            r"\bNone[)\]},;=|]",
        ),
        "dots for a value": (
            r"^\s*(?:\.\.\.|…)\s*$",
            r"(?<=[a-z%] )(?:\.\.\.|…)",
            r"[,;:(=] ?(?:\.\.\.|…)(?=[,;:)]? [a-z]{2}|\)|$)",
        ),
        "gap in a sentence": (
            r"\w ?, ,",
            r"(?<!\w)\( ?(?:to)? ?\)",
            r"\{(?:value|which|low|high|cases)\b[^}]*\}",
        ),
    }.items()
}


class _Texts(HTMLParser):
    """Collects what a page shows: a text for each block, and one for each attribute that speaks."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._open: list[tuple[str, str]] = []  # each with how it is read: "", "output", "unread"
        self._words: list[str] = []

    def _flush(self) -> None:
        text = re.sub(r"\s+", " ", "".join(self._words)).strip()
        if text:
            self.texts.append(text)
        self._words = []

    @property
    def _how(self) -> str:
        return self._open[-1][1] if self._open else ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = {name: value or "" for name, value in attrs}
        classes, how = named.get("class", "").split(), self._how
        if how != "unread":
            self.texts += [named[name] for name in _SHOWN if named.get(name)]
            if named.get("src", "").startswith("data:image/svg+xml;base64,"):
                self.texts += svg_texts(base64.b64decode(named["src"].partition(",")[2]).decode())
        if tag in _BLOCKS:
            self._flush()
        if tag in _VOID:
            return
        if "cell_output" in classes:
            how = "output"
        source = how != "output" and (tag in ("code", "kbd", "samp") or "highlight" in classes)
        if (
            source
            or tag in _UNREAD
            or (tag == "script" and named.get("type") != "application/json")
            or "cell_input" in classes
            or any(name.startswith(("math", "katex")) for name in classes)
        ):
            self._words.append("\N{OBJECT REPLACEMENT CHARACTER}")  # something stands here
            how = "unread"
        elif tag == "script":
            how = "json"
        self._open.append((tag, how))

    def handle_endtag(self, tag: str) -> None:
        if tag in _BLOCKS:
            self._flush()
        while any(each == tag for each, _ in self._open):
            if self._open.pop()[0] == tag:
                return

    def handle_data(self, data: str) -> None:
        if self._how == "json":
            self.texts += _strings(json.loads(data))
        elif self._how != "unread":
            self._words.append(data)

    def handle_comment(self, data: str) -> None:
        if any(tag == "svg" for tag, _ in self._open):
            self.texts.append(data.strip())

    def close(self) -> None:
        super().close()
        self._flush()


def _strings(found: Any) -> Iterator[str]:
    """List the texts of a JSON value; numbers that are none count as text."""
    if isinstance(found, str):
        yield found
    elif isinstance(found, float) and found - found != 0:
        yield str(found)
    elif isinstance(found, dict):
        for each in found.values():
            yield from _strings(each)
    elif isinstance(found, list):
        for each in found:
            yield from _strings(each)


def svg_texts(svg: str) -> list[str]:
    """List the texts of a figure: of drawn letters, Matplotlib says in comments what they spell."""
    found = re.findall(r"<!--(.*?)-->|<text[^>]*>([^<]*)", svg, re.DOTALL)
    return [text.strip() for pair in found for text in pair if text]


def text_leaks(text: str) -> list[str]:
    """List what is wrong with one text, each with what stands around it."""
    found = []
    for kind, pattern in _KINDS.items():
        for hit in pattern.finditer(text):
            around = text[max(hit.start() - 40, 0) : hit.end() + 40].strip()
            if (
                kind == "gap in a sentence"
                and hit[0] == "()"
                and hit.start()
                and text[hit.start() - 1].isalnum()
            ):
                continue  # the name of a function
            found.append(f"{kind}: {around}")
    return found


def leaks(html: str) -> list[str]:
    """List what a page shows that was not meant for readers.

    Parameters
    ----------
    html : str
        A page of the site, or one that `recbias run` wrote.

    Returns
    -------
    list of str
        For each leak its kind, and the words around it.
    """
    reader = _Texts()
    reader.feed(html)
    reader.close()
    return [fault for text in reader.texts for fault in text_leaks(text)]


def _value_of(source: str) -> str:
    """Give the expression that a cell ends with; empty if it ends with something else."""
    body = ast.parse(re.sub(r"(?m)^\s*[%!].*$", "", source)).body
    if not body or not isinstance(body[-1], ast.Expr) or source.rstrip().endswith(";"):
        return ""
    return ast.unparse(body[-1])


def silent_cells(notebook: Mapping[str, Any]) -> list[str]:
    """List the cells of an executed notebook that end with a value and show none.

    Parameters
    ----------
    notebook : mapping
        As the file of Jupyter holds it. Cells whose output is not to be shown are passed over.

    Returns
    -------
    list of str
        What stands at the end of each.
    """
    found = []
    for cell in notebook["cells"]:
        tags = set(cell["metadata"].get("tags", ()))
        if cell["cell_type"] != "code" or tags & {"remove-output", "remove-cell"}:
            continue
        value = _value_of("".join(cell["source"]))
        shown = [
            "".join(text)
            for output in cell["outputs"]
            for kind, text in output.get("data", {}).items()
            if kind != "text/plain" or len(output["data"]) == 1
        ]
        if value and not any(_shows(text) for text in shown):
            found.append(f"no result of {value}")
    return found


def _shows(text: str) -> bool:
    """Tell whether there is something to see."""
    return "<img" in text or "<svg" in text or bool(re.sub(r"<[^>]*>", "", text).strip())


def faults(site: Path, root: Path = ROOT) -> list[str]:
    """List what pages of a site leak, the cells without their result, and pages without text."""
    found = []
    for dataset, folder in editions(site).items():
        found += [f"{dataset}, {page}: missing or empty" for page in empty_pages(folder, root)]
        for path in sorted(folder.rglob("*.html")):
            page = path.relative_to(folder)
            if page.parts[0] != "on":
                told = leaks(path.read_text(encoding="utf-8"))
                found += [f"{dataset}, {page}: {each}" for each in told]
        for path in sorted((folder / "_sources").rglob("*.ipynb")):
            told = silent_cells(json.loads(path.read_text(encoding="utf-8")))
            found += [f"{dataset}, {path.stem}: {each}" for each in told]
    for path in sorted(site.rglob("*.svg")):
        told = [each for text in svg_texts(path.read_text("utf-8")) for each in text_leaks(text)]
        found += [f"{path.relative_to(site)}: {each}" for each in told]
    return found


def main() -> int:
    """Print the faults of the site named on the command line."""
    found = faults(Path(sys.argv[1]).resolve())
    print("\n".join([*found, f"{len(found)} leaks"]))
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
