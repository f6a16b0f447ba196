"""From the MyST of an executed chapter to one HTML page that fetches nothing.

Formulas become MathML, pictures and styles part of the page, what was glued stands where the text
puts it. A link to another page of the book becomes its text.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape, unescape
from pathlib import Path
from typing import Any

from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from markdown_it import MarkdownIt
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin
from myst_nb.ext.glue import GLUE_PREFIX
from nbformat import NotebookNode

from recbias.book.html import svg_description
from recbias.book.standalone.plain_markdown import formatted

_STYLES = ("sheet.css", "cards.css", "systems.css", "choices.css", "explorer.css")
_SCRIPTS = ("choices.js", "explorer.js", "scorecard.js")
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
_FENCE = re.compile(r"(?P<fence>`{3,}|:{3,})\{(?P<name>[\w:+-]+)\} ?(?P<argument>.*)$")
_ROLE = re.compile(r"\{(?P<name>[\w:-]+)\}(?P<ticks>`+)(?P<text>.+?)(?P=ticks)", re.DOTALL)
_TITLED = re.compile(r"(?P<title>.*?)\s*<(?P<target>[^<>]+)>$", re.DOTALL)
_LABEL = re.compile(r"\((?P<label>\S+)\)=\s*$")
_OPTION = re.compile(r":(?P<name>[\w-]+): ?(?P<value>.*)$")
_OF_LIST = re.compile(r"[-*+] | +\S")
_HELD = re.compile("\ue000(\\d+)\ue001")
_INNER_MATH = re.compile(r"<span class=\"math[^\"]*\">\\\((.+?)\\\)</span>", re.DOTALL)
_LINK = re.compile(r"<a\b(?P<all>[^>]*)>(?P<text>.*?)</a>", re.DOTALL)
_HREF = re.compile(r'\bhref="([^"]*)"')
_TABLE = re.compile(r"<table\b.*?</table>", re.DOTALL)
_SIZES = re.compile(r"\\[bB]igg?[lrm]?(?![a-zA-Z])")
_FOLDED = {"solution", "dropdown"}

Mime = Mapping[str, Any]


def formula_html(tex: str, *, block: bool = False) -> str:
    r"""Write a formula as MathML, or as it was typed where docutils does not know it.

    Examples
    --------
    >>> formula_html("x^2").split(">", 1)[1]
    '<msup><mi>x</mi><mn>2</mn></msup></math>'
    >>> formula_html(r"\unknown")
    '<code>\\unknown</code>'
    """
    known = _SIZES.sub("", tex).replace("{gathered}", "{aligned}").strip()
    try:
        written = tex2mathml(known, as_block=block)
    except MathError:
        return f"<code>{escape(tex)}</code>"
    return re.sub(r">\s+<", "><", str(written)).replace("\n", "")


class _Page:
    """A page while it is written: what was glued, which figures it has, what is held back."""

    def __init__(self, run: NotebookNode) -> None:
        self.glued: dict[str, Mime] = {}
        for cell in run.cells:
            for output in cell.get("outputs", []):
                if name := output.get("metadata", {}).get("scrapbook", {}).get("name"):
                    content = {kind.removeprefix(GLUE_PREFIX): d for kind, d in output.data.items()}
                    self.glued[name] = content
        prose = "\n".join(cell.source for cell in run.cells if cell.cell_type == "markdown")
        named = re.findall(r"^\s*:name: *(\S+)", prose, flags=re.MULTILINE)
        kinds = {name: "Table" if name.startswith("tbl-") else "Figure" for name in named}
        counts = {"Table": 0, "Figure": 0}
        self.numbered: dict[str, str] = {}
        for name, kind in kinds.items():
            counts[kind] += 1
            self.numbered[name] = f"{kind} {counts[kind]}"
        self._held: list[str] = []
        self._markdown = MarkdownIt("commonmark", {"html": True}).enable(["table"])
        self._markdown.use(deflist_plugin)
        self._markdown.use(
            dollarmath_plugin,
            double_inline=True,
            renderer=lambda tex, how: formula_html(tex, block=how["display_mode"]),
        )

    def markdown(self, text: str) -> str:
        """Write MyST as HTML."""
        lines, out, prose = text.splitlines(), list[str](), list[str]()
        while lines:
            line = lines.pop(0)
            opening = _FENCE.match(line)
            if opening or line.startswith("```"):
                end = opening["fence"] if opening else "```"
                body = []
                while lines and (inner := lines.pop(0)).rstrip() != end:
                    body.append(inner)
                if opening:
                    out += [self._prose(prose), self._directive(opening, body)]
                    prose = []
                else:
                    prose += [line, *body, end]
            elif label := _LABEL.match(line):
                out += [self._prose(prose), f'<span id="{escape(label["label"])}"></span>']
                prose = []
            elif not re.fullmatch(r"%.*|:::+", line):
                prose.append(line)
        return "".join([*out, self._prose(prose)])

    def _prose(self, lines: Sequence[str]) -> str:
        """Write Markdown without directives."""
        text = _ROLE.sub(lambda role: self._hold(self._role(role)), "\n".join(lines))
        html = str(self._markdown.render(text))
        while _HELD.search(html):
            html = _HELD.sub(lambda held: self._held[int(held[1])], html)
        return html

    def _hold(self, html: str) -> str:
        """Keep HTML away from what reads Markdown."""
        self._held.append(html)
        return f"\ue000{len(self._held) - 1}\ue001"

    def _inline(self, text: str) -> str:
        return re.sub(r"^<p>|</p>\s*$", "", self._prose([text]).strip())

    def _role(self, role: re.Match[str]) -> str:
        """Write a role as its value or target."""
        name, text = role["name"], role["text"]
        if name.startswith("glue"):
            key, _, form = text.rpartition(":") if name == "glue:text" else (text, "", "")
            content = self.glued.get(key or form, {})
            if name == "glue:md" and "text/markdown" in content:
                return self._inline("".join(content["text/markdown"]))
            value = "".join(content.get("text/plain", key or form))
            return escape(formatted(value, form if key else "s"))
        if name == "math":
            return formula_html(text)
        if name == "eq":
            return f"({escape(text)})"
        if name.startswith("cite"):
            return f"[{escape(text)}]"
        titled = _TITLED.match(text)
        target, title = (titled["target"], titled["title"]) if titled else (text, "")
        number = self.numbered.get(target, "")
        words = title.replace("%s", number.split(" ")[-1]) if title else number or text
        return f'<a href="#{escape(target)}">{escape(words)}</a>'

    def _directive(self, opening: re.Match[str], lines: Sequence[str]) -> str:
        """Write a directive as formula, figure, headed box or disclosure."""
        name, argument, body = opening["name"], opening["argument"], list(lines)
        options: dict[str, str] = {}
        while body and ((option := _OPTION.match(body[0].strip())) or not body[0].strip()):
            if option:
                options[option["name"]] = option["value"]
            body.pop(0)
        text = "\n".join(body)
        if name in {"bibliography", "drill", "right", "tableofcontents"}:
            return ""
        if name == "math":
            return formula_html(text, block=True)
        if name in {"code-block", "code"}:
            return f"<pre><code>{escape(text)}</code></pre>"
        if name.startswith("glue"):
            shown = self.output(self.glued.get(argument, {}), options.get("alt", ""))
            return self._figure(shown, text, options) if name == "glue:figure" else shown
        if name == "predict":
            return self._question(argument, body)
        kind, _, edge = name.partition("-")
        if edge == "end":
            return "</details>" if kind in _FOLDED else "</section>"
        titled = name in {"admonition", "dropdown"}
        label = "" if kind == "solution" else argument  # that is the name of its exercise
        head = argument if titled else ": ".join(filter(None, [kind.capitalize(), label]))
        inner = self.markdown(text)
        folded = kind in _FOLDED or "dropdown" in options.get("class", "")
        start = (
            f'<details class="box"><summary>{self._inline(head)}</summary>'
            if folded
            else f'<section class="box"><p class="head">{self._inline(head)}</p>'
        )
        end = "" if edge == "start" else "</details>" if folded else "</section>"
        return f"{start}{inner}{end}"

    def _figure(self, shown: str, caption: str, options: Mapping[str, str]) -> str:
        name = options.get("name", "")
        number = f'<span class="number">{self.numbered[name]}</span> ' if name else ""
        told = self.markdown(caption).replace("<p>", f"<p>{number}", 1)
        return (
            f'<figure id="{escape(name)}">{shown}<figcaption>{told}</figcaption></figure>'
            if name
            else f"<figure>{shown}<figcaption>{told}</figcaption></figure>"
        )

    def _question(self, question: str, body: Sequence[str]) -> str:
        """Write a question, the list of its options, and the answer behind a disclosure."""
        end = next((n for n, line in enumerate(body) if line and not _OF_LIST.match(line)), None)
        options, answer = "\n".join(body[:end]), "\n".join(body[end:] if end is not None else [])
        return (
            f'<section class="box"><p class="head">Predict, then look: {self._inline(question)}</p>'
            f"{self.markdown(options)}<details><summary>Look at the answer</summary>"
            f"{self.markdown(answer)}</details></section>"
        )

    def output(self, data: Mime, alt: str = "") -> str:
        """Write one output in the richest form that a page can show."""
        content = {
            kind: "".join(text) for kind, text in data.items() if isinstance(text, str | list)
        }
        if "text/html" in content:
            return content["text/html"]
        for kind in ("image/svg+xml", "image/png"):
            if kind in content:
                packed = content[kind]
                if kind == "image/svg+xml":
                    alt = alt or svg_description(packed)
                    packed = base64.b64encode(packed.encode()).decode()
                source = f"data:{kind};base64,{packed.strip()}"
                return f'<img src="{source}" alt="{escape(alt)}">'
        if "text/markdown" in content:
            return self.markdown(content["text/markdown"])
        text = content.get("text/plain", "")
        return f"<pre>{escape(text)}</pre>" if text else ""

    def cell(self, cell: NotebookNode) -> Iterator[str]:
        """Write a cell, as its tags ask."""
        tags = set(cell.metadata.get("tags", []))
        if "remove-cell" in tags:
            return
        if cell.cell_type == "markdown":
            yield self.markdown(cell.source)
            return
        if "remove-input" not in tags and cell.source.strip():
            code = f"<pre><code>{escape(cell.source)}</code></pre>"
            hidden = tags & {"hide-input", "hide-cell"}
            yield (
                f'<details class="code"><summary>Code</summary>{code}</details>' if hidden else code
            )
        if "remove-output" in tags:
            return
        for output in cell.get("outputs", []):
            if output.output_type == "stream":
                yield f"<pre>{escape(output.text)}</pre>"
            elif "data" in output:
                yield self.output(output.data)


def _finished(html: str) -> str:
    """Typeset formulas that cells wrote, let tables scroll, and turn links elsewhere into text."""
    html = _INNER_MATH.sub(lambda found: formula_html(unescape(found[1])), html)
    html = _TABLE.sub(r'<div class="scrolls">\g<0></div>', html)
    known = set(re.findall(r'\bid="([^"]+)"', html))

    def link(found: re.Match[str]) -> str:
        target = _HREF.search(found["all"])
        address = unescape(target[1]) if target else "#"
        leads = address.startswith(("https://", "http://", "data:")) or address[1:] in known
        return found[0] if leads else f"<span>{found['text']}</span>"

    return _LINK.sub(link, html)


def sheet_html(run: NotebookNode, styles: Path) -> str:
    """Write an executed chapter as one page."""
    page = _Page(run)
    body = _finished("\n".join(part for cell in run.cells for part in page.cell(cell)))
    heading = re.search(r"<h1[^>]*>(.*?)</h1>", body, re.DOTALL)
    title = re.sub(r"<[^>]+>", "", heading[1]) if heading else "recbias"
    style = "\n".join((styles / name).read_text(encoding="utf-8") for name in _STYLES)
    script = "\n".join((styles / name).read_text(encoding="utf-8") for name in _SCRIPTS)
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>\n{style}\n</style>\n</head>\n"
        f'<body class="sheet">\n<main class="bd-article">\n{body}\n</main>\n'
        f"<script>\n{script}\n</script>\n</body>\n</html>\n"
    )
