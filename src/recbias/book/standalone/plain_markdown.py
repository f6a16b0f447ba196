"""Plain Markdown from the MyST of an executed chapter, so that its notebook reads well anywhere.

Roles become their text or value, directives headed quotes, links within the book their text; labels
and the marks of sentences that follow verdicts go. What is no MyST stays.
"""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Mapping

import nbformat
from myst_nb.ext.glue import GLUE_PREFIX
from nbformat import NotebookNode

Mime = Mapping[str, str]

_FENCE = re.compile(r"(?P<fence>`{3,}|:{3,})\{(?P<name>[\w:+-]+)\} ?(?P<argument>.*)$")
_ROLE = re.compile(r"\{(?P<name>[\w:-]+)\}(?P<ticks>`+)(?P<text>.+?)(?P=ticks)", re.DOTALL)
_TITLED = re.compile(r"(?P<title>.*?)\s*<[^<>]+>$", re.DOTALL)
_INNER_LINK = re.compile(r"(?<!!)\[([^\[\]]+)\]\((?![a-z]+:)[^()]*\)")
_ASIDE = re.compile(r"\s*\(\[[^\[\]]+\]\((?![a-z]+:)[^()]*\)\)")
"""A link within the book, alone in parentheses: it leads nowhere here."""
_ERRATUM = re.compile(r"\[(E\d+)\]\(#err-[^()]*\)")
_ESCAPED_DOT = re.compile(r"(?<=[^\W\d])\\\.(?=\w)")
_NAMED = re.compile(r"^:name: ((?:fig|tbl)-\S+)\n\n", re.MULTILINE)
_NUMBER = re.compile(r"\{numref\}`([^`<>]+)`")
_OF_LIST = re.compile(r"[-*+] | +\S")
_FINDING = re.compile(r'<span class="finding"[^>]*>(.*?)</span>', re.DOTALL)
_DROPPED = {"bibliography", "drill", "exercise-end", "right", "solution-end", "tableofcontents"}


def plain_notebook(notebook: NotebookNode) -> NotebookNode:
    """Rewrite the Markdown cells of an executed notebook."""
    notebook = numbered(notebook)
    glued: dict[str, Mime] = {}
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            name = output.get("metadata", {}).get("scrapbook", {}).get("name")
            if name:
                output["data"] = {
                    kind.removeprefix(GLUE_PREFIX): data for kind, data in output.data.items()
                }
                glued[name] = output["data"]
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = plain_markdown(cell.source, glued)
    return notebook


def numbered(notebook: NotebookNode) -> NotebookNode:
    """Give the figures of a notebook numbers, in their captions and where they are referred to."""
    notebook = nbformat.from_dict(notebook)
    prose = [cell for cell in notebook.cells if cell.cell_type == "markdown"]
    names = [name for cell in prose for name in _NAMED.findall(cell.source)]
    numbers = {name: f"Figure {n}" for n, name in enumerate(dict.fromkeys(names), start=1)}
    for cell in prose:
        cell.source = _NUMBER.sub(
            lambda role: numbers.get(role[1], "a figure of another page"), cell.source
        )
        cell.source = _NAMED.sub(lambda name: f"{name[0]}{numbers[name[1]]}: ", cell.source)
    return notebook


def plain_markdown(text: str, glued: Mapping[str, Mime]) -> str:
    """Rewrite MyST as plain Markdown.

    Examples
    --------
    >>> glued = {"p": {"text/plain": "0.1"}}
    >>> plain_markdown("See {doc}`the notes <notes>`: {glue:text}`p:.2f`, {math}`x^2`.", glued)
    'See the notes: 0.10, $x^2$.'
    """
    lines = _FINDING.sub(r"\1", text).splitlines()
    out: list[str] = []
    prose: list[str] = []

    def flush() -> None:
        if prose:  # a role or a link may run over several lines
            text = _ERRATUM.sub(r"erratum \1", _ASIDE.sub("", "\n".join(prose)))
            text = _ROLE.sub(lambda role: _role(role, glued), text)
            out.append(_ESCAPED_DOT.sub(".", _INNER_LINK.sub(r"\1", text)))
            prose.clear()

    while lines:
        line = lines.pop(0)
        opening = _FENCE.match(line)
        if opening or line.startswith("```"):
            flush()
            end = opening["fence"] if opening else "```"
            body = []
            while lines and (inner := lines.pop(0)).rstrip() != end:
                body.append(inner)
            if opening:
                out += _directive(opening["name"], opening["argument"], body, glued)
            else:
                out += [line, *body, end]
        elif not re.fullmatch(r"\(\S+\)=|%.*|:::+", line):
            prose.append(line)
    flush()
    return "\n".join(out)


def _directive(name: str, argument: str, body: list[str], glued: Mapping[str, Mime]) -> list[str]:
    """Write a directive as formula, caption or headed quote."""
    while body and (re.match(r":[\w-]+:", body[0]) or not body[0].strip()):
        body = body[1:]
    if name in _DROPPED:
        return []
    if name == "math":
        return ["$$", *body, "$$"]
    if name in {"code-block", "code"}:
        return [f"```{argument}", *body, "```"]
    if name == "glue:md":
        return plain_markdown(_content(argument, "text/markdown", glued), glued).splitlines()
    inner = plain_markdown("\n".join(body), glued).splitlines()
    if name == "predict":
        return _question(plain_markdown(argument, glued), inner)
    if name in {"glue", "glue:any", "glue:figure", "figure", "image"}:
        return [f"*{line}*" if line.strip() else "" for line in inner]
    kind = {"seealso": "See also, in the book"}.get(name, name.removesuffix("-start").capitalize())
    if name in {"admonition", "dropdown"}:
        kind, argument = argument, ""
    if name.startswith("solution"):
        argument = ""  # the label of its exercise
    head = f"> **{kind}{': ' + argument if argument else ''}**"
    return [head, *[">", *[f"> {line}".rstrip() for line in inner]]] if inner else [head]


def _question(question: str, inner: list[str]) -> list[str]:
    """Write a question, the list of its options, and the answer behind a disclosure."""
    end = next((n for n, line in enumerate(inner) if line and not _OF_LIST.match(line)), len(inner))
    options, answer = ("\n".join(part).strip().splitlines() for part in (inner[:end], inner[end:]))
    asked = [f"**Predict, then look: {question}**", "", *options, ""]
    if not answer:  # as students get it
        return asked
    unfold = "<details><summary>Look at the answer</summary>"
    return [*asked, unfold, "", *answer, "", "</details>"]


def _role(role: re.Match[str], glued: Mapping[str, Mime]) -> str:
    """Write a role as its text, value or target."""
    name, text = role["name"], role["text"]
    if name == "glue:text":
        key, _, form = text.rpartition(":")
        value = _content(key or form, "text/plain", glued)
        return formatted(value, form if key else "s")
    if name == "glue:md":
        return plain_markdown(_content(text.partition(":")[0], "text/markdown", glued), glued)
    if name.startswith("glue"):
        return _content(text, "text/plain", glued)
    if name == "math":
        return f"${text}$"
    if name.startswith("cite"):
        return f"[{text}]"
    if name == "eq":
        return f"({text})"
    titled = _TITLED.match(text)
    return titled["title"] if titled else text


def _content(key: str, kind: str, glued: Mapping[str, Mime]) -> str:
    """Give what was glued, or the key itself where another page glued it."""
    return "".join(glued.get(key, {}).get(kind, key))


def formatted(text: str, form: str) -> str:
    """Format what was glued as the book does: by myst_nb, whose own function takes long to load.

    Examples
    --------
    >>> formatted("'0.125'", ".2f"), formatted("0.125", "s"), formatted("three", "")
    ('0.12', '0.125', 'three')
    """
    try:
        value = literal_eval(text)  # a string without its quotes
    except (SyntaxError, ValueError):
        value = text
    kinds = {"": str, "s": str, **dict.fromkeys("bcdoxX", int), **dict.fromkeys("eEfFgGn%", float)}
    kind = kinds.get(form[-1:])
    return format(kind(value) if kind else value, form)
