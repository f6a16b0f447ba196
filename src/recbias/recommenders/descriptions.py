"""What the docstring of a registered class says, in parts that a page can lay out."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from recbias.recommenders.base import Parameter, System, algorithm, algorithms
from recbias.recommenders.line_ups import line_up, line_up_sources

__all__ = [
    "NOTES",
    "Argument",
    "Description",
    "catalogue_html",
    "class_html",
    "describe",
    "description_html",
    "line_up_html",
    "systems_html",
    "to_html",
]

NOTES = ("Defaults", "Complexity", "Non-computable")
"""The paragraphs that the Notes of every registered class begin with, in this order."""

COVERAGE = {
    "all": "Promises a score for every pair.",
    "known items": "Promises a score for every item with a training rating.",
    "known pairs": "Promises a score wherever user and item have training ratings.",
    "evidence": "Promises a score for a part of the pairs only, which the model decides.",
}
"""What a class promises with its `coverage`, in words."""

_SECTION = re.compile(r"^(?P<title>[A-Z][A-Za-z ]+)\n-{3,}$", re.MULTILINE)
_ARGUMENT = re.compile(r"^(?P<names>\w+(?:, \w+)*) : (?P<kind>.+)$")
_NOTE = re.compile(r"^\*\*(?P<title>[^*]+?)\.?\*\*\s*", re.MULTILINE)
_MARKUP = re.compile(
    r":math:`(?P<math>[^`]+)`|``(?P<code>[^`]+)``|`(?P<name>[^`]+)`"
    r"|(?<!\w)\*\*(?P<bold>[^*]+)\*\*|(?<![\w*])\*(?P<italic>[^*\s][^*]*)\*"
)
_RULE = re.compile(r"=+(?: +=+)+")
_ITEM = re.compile(r"[-*] |\d+\. ")


@dataclass(frozen=True)
class Argument:
    """One parameter of a class.

    Attributes
    ----------
    name, kind
        As the docstring has them.
    default
        What holds if it is not given.
    text
        What it does, with the docstring's markup.
    """

    name: str
    kind: str
    default: Parameter
    text: str


@dataclass(frozen=True)
class Description:
    """A registered class as its docstring tells it; texts keep the docstring's markup.

    Attributes
    ----------
    name
        Name of the class.
    module
        Where it is, below ``recbias.recommenders``.
    summary
        First line.
    model
        Model and objective: everything up to the first section.
    arguments
        Its parameters.
    notes
        Paragraphs of the Notes by title, those of :data:`NOTES` among them.
    references
        The section References.
    coverage
        For which pairs it promises a score.
    """

    name: str
    module: str
    summary: str
    model: str
    arguments: tuple[Argument, ...]
    notes: Mapping[str, str]
    references: str
    coverage: str

    @property
    def as_published(self) -> bool:
        """Whether it is what a toolkit computed, not the cited model."""
        return self.module.startswith("as_published.")


def describe(name: str) -> Description:
    """Take the docstring of a registered class apart.

    Parameters
    ----------
    name : str
        Name of the class, one of `algorithms`.

    Returns
    -------
    Description

    Raises
    ------
    ConfigError
        If no class has the name.

    Examples
    --------
    >>> found = describe("UserKNN")
    >>> found.module, found.coverage, found.arguments[0].name, found.arguments[0].default
    ('neighbourhood', 'evidence', 'n_neighbours', 100)
    """
    found = algorithm(name)
    text = inspect.cleandoc(found.__doc__ or "")
    head, *rest = _SECTION.split(text)
    sections = {title: body.strip() for title, body in zip(rest[::2], rest[1::2], strict=True)}
    summary, _, model = head.strip().partition("\n\n")
    return Description(
        name=name,
        module=found.__module__.removeprefix("recbias.recommenders."),
        summary=" ".join(summary.split()),
        model=model.strip(),
        arguments=tuple(_arguments(found, sections.get("Parameters", ""))),
        notes=_notes(sections.get("Notes", "")),
        references=sections.get("References", ""),
        coverage=str(getattr(found, "coverage", "evidence")),
    )


def _arguments(found: type, section: str) -> Sequence[Argument]:
    """Join what the section Parameters says with the defaults of the signature."""
    told: dict[str, tuple[str, list[str]]] = {}
    last: list[str] = []
    for line in section.splitlines():
        head = _ARGUMENT.match(line)
        if head:
            last = []
            told |= dict.fromkeys(head["names"].split(", "), (head["kind"], last))
        else:
            last.append(line.strip())
    return [
        Argument(
            name,
            told.get(name, (type(field.default).__name__, []))[0],
            field.default,
            " ".join(told.get(name, ("", []))[1]).strip(),
        )
        for name, field in inspect.signature(found).parameters.items()
    ]


def _notes(section: str) -> dict[str, str]:
    """Cut the section Notes at its bold titles; what precedes them has the title ``""``."""
    pieces = _NOTE.split(section)
    named = zip(pieces[1::2], pieces[2::2], strict=True)
    found = {title: text.strip() for title, text in named}
    return {**({"": pieces[0].strip()} if pieces[0].strip() else {}), **found}


def to_html(text: str) -> str:
    r"""Turn a docstring's markup into HTML whose formulas MathJax typesets.

    Parameters
    ----------
    text : str
        Paragraphs and lists with ``:math:`` roles, double and single backticks, bold and italic.

    Returns
    -------
    str

    Examples
    --------
    >>> print(to_html("Divide by :math:`n < 3`, see `UserKNN`."))
    <p>Divide by <span class="math notranslate nohighlight">\(n &lt; 3\)</span>, see
    <code>UserKNN</code>.</p>
    """
    return "".join(_block(block) for block in re.split(r"\n\s*\n", text.strip()) if block)


def _block(block: str) -> str:
    lines = [line.strip() for line in block.splitlines()]
    if _RULE.fullmatch(lines[0]):
        return _table(block.splitlines())
    if lines[0] == ".. math::":
        return _formula(" ".join(lines[1:]), displayed=True)
    if _ITEM.match(lines[0]):
        items: list[str] = []
        for line in lines:
            if head := _ITEM.match(line):
                items.append(line[head.end() :])
            else:
                items[-1] += f" {line}"
        return f"<ul>{''.join(f'<li>{_inline(item)}</li>' for item in items)}</ul>"
    return f"<p>{_inline(chr(10).join(lines))}</p>"


def _table(lines: Sequence[str]) -> str:
    """Write a table between rules of `=`; a line with an empty first cell continues a row."""
    starts = [found.start() for found in re.finditer("=+", lines[0])]
    rules = [number for number, line in enumerate(lines) if _RULE.fullmatch(line.strip())]
    rows: list[list[str]] = []
    for number, line in enumerate(lines):
        cells = [line[a:b].strip() for a, b in zip(starts, [*starts[1:], None], strict=True)]
        if number in rules:
            continue
        if rows and not cells[0]:
            rows[-1] = [f"{one} {more}".strip() for one, more in zip(rows[-1], cells, strict=True)]
        else:
            rows.append(cells)
    n_heads = rules[1] - 1 if len(rules) > 2 else 0
    written = [
        "<tr>" + "".join(f"<{tag}>{_inline(cell)}</{tag}>" for cell in cells) + "</tr>"
        for tag, cells in zip(["th"] * n_heads + ["td"] * len(rows), rows, strict=False)
    ]
    head = f"<thead>{''.join(written[:n_heads])}</thead>" if n_heads else ""
    body = f"<tbody>{''.join(written[n_heads:])}</tbody>"
    return f'<div class="scrolls"><table class="numbers">{head}{body}</table></div>'


def _inline(text: str) -> str:
    pieces, end = [], 0
    for found in _MARKUP.finditer(text):
        pieces += [escape(text[end : found.start()], quote=False), _marked(found)]
        end = found.end()
    return "".join([*pieces, escape(text[end:], quote=False)])


def _marked(found: re.Match[str]) -> str:
    if found["math"]:
        return _formula(found["math"])
    if found["bold"]:
        return f"<strong>{_inline(found['bold'])}</strong>"
    if found["italic"]:
        return f"<em>{_inline(found['italic'])}</em>"
    return f"<code>{escape(found['code'] or found['name'], quote=False)}</code>"


def _formula(text: str, *, displayed: bool = False) -> str:
    kind, (start, end) = ("div", ("\\[", "\\]")) if displayed else ("span", ("\\(", "\\)"))
    formula = escape(" ".join(text.split()), quote=False)
    return f'<{kind} class="math notranslate nohighlight">{start}{formula}{end}</{kind}>'


def description_html(found: Description) -> str:
    """Write a class as an entry that unfolds: model, objective, parameters, notes, references.

    Parameters
    ----------
    found : Description
        As `describe` gives it.

    Returns
    -------
    str
        HTML.
    """
    head = f"<strong>{found.name}</strong> {_inline(found.summary)}"
    rows = "".join(
        f"<tr><td><code>{argument.name}</code></td><td><code>{escape(repr(argument.default))}"
        f"</code></td><td>{_inline(argument.text)}</td></tr>"
        for argument in found.arguments
    )
    table = (
        '<div class="scrolls"><table><thead><tr><th>parameter</th><th>default</th>'
        f"<th>what it does</th></tr></thead><tbody>{rows}</tbody></table></div>"
    )
    notes = {**found.notes, "Coverage": COVERAGE[found.coverage]}
    notes["References"] = found.references
    return (
        f'<details class="system" id="class-{found.name.lower()}"><summary>{head}</summary>'
        f"{to_html(found.model)}{table if rows else '<p>No parameters.</p>'}"
        + "".join(_titled(title, text) for title, text in notes.items() if text)
        + "</details>"
    )


def catalogue_html() -> str:
    """Write all registered classes as entries that unfold, by module.

    Returns
    -------
    str
        HTML; above each group stands what its module says of itself, and what stood in for cited
        models comes last. Classes that are not the package's own are left out.
    """
    found = [describe(name) for name in algorithms() if _is_own(name)]
    groups: dict[str, list[str]] = {}
    for each in sorted(found, key=lambda each: (each.as_published, each.module)):
        package = each.module.partition(".")[0]
        groups.setdefault(package, []).append(description_html(each))
    written = []
    for package, entries in groups.items():
        title = inspect.getdoc(importlib.import_module(f"recbias.recommenders.{package}"))
        head = (title or package).splitlines()[0]
        written.append(f'<p class="group"><strong>{_inline(head)}</strong></p>{"".join(entries)}')
    return "".join(written)


def _is_own(name: str) -> bool:
    return algorithm(name).__module__.startswith("recbias.recommenders.")


def _titled(title: str, text: str) -> str:
    return to_html(f"**{title}.** {text}" if title else text)


def line_up_html(name: str) -> str:
    """Write a line-up as a table: system, class with all parameters, and why these.

    Parameters
    ----------
    name : str
        As for `line_up`.

    Returns
    -------
    str
        HTML; the class links to its entry, see `description_html`.
    """
    return systems_html(line_up(name), line_up_sources(name))


def systems_html(systems: Iterable[System], sources: Mapping[str, str]) -> str:
    """Write systems as a table: name, class with all parameters, and where they come from.

    Parameters
    ----------
    systems : iterable of System
        A row each.
    sources : mapping of str to str
        Prose by the name of the system.

    Returns
    -------
    str
        HTML.
    """
    rows = "".join(
        f"<tr><td><strong>{escape(system.name)}</strong></td><td>{class_html(system)}"
        f"{_parameters_html(system)}</td><td>{_inline(sources[system.name])}</td></tr>"
        for system in systems
    )
    head = "".join(f"<th>{title}</th>" for title in ("system", "class, parameters", "why"))
    return (
        f'<div class="scrolls"><table class="stacks"><thead><tr>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def class_html(system: System) -> str:
    """Write a system's class as a link to its entry, see `description_html`."""
    return f'<a href="#class-{system.algorithm.lower()}">{system.algorithm}</a>'


def _parameters_html(system: System) -> str:
    """Write all parameters of a system, and its number of seeds if it has more than one."""
    given = [f"{name}={value!r}" for name, value in system.parameters.items()]
    texts = [f"<code>{escape(text, quote=False)}</code>" for text in given]
    if system.n_seeds > 1:
        texts.append(f"mean of {system.n_seeds} seeds")
    return f"<br/>{', '.join(texts)}" if texts else ""
