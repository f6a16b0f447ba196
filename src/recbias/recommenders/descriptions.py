"""What the docstring of a registered class says, in parts that a page can lay out.

Links lead from the pages of a chapter's folder to two others there: the classes and the line-ups.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from docutils import nodes
from docutils.core import publish_parts
from docutils.writers.html5_polyglot import HTMLTranslator, Writer

from recbias.recommenders.base import (
    ENCODINGS,
    Parameter,
    System,
    algorithm,
    algorithms,
    expected,
    is_own,
)
from recbias.recommenders.line_ups import line_up, line_up_names, line_up_sources

__all__ = [
    "NOTES",
    "Argument",
    "Description",
    "catalogue_html",
    "class_html",
    "describe",
    "description_html",
    "families",
    "line_up_html",
    "systems_html",
    "to_html",
    "to_text",
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

_CLASSES_PAGE, _LINE_UPS_PAGE = "classes.html", "line_ups.html"

_SECTION = re.compile(r"^(?P<title>[A-Z][A-Za-z ]+)\n-{3,}$", re.MULTILINE)
_ARGUMENT = re.compile(r"^(?P<names>\w+(?:, \w+)*) : (?P<kind>.+)$")
_NOTE = re.compile(r"^\*\*(?P<title>[^*]+?)\.?\*\*\s*", re.MULTILINE)
_DOCUTILS = {
    "_disable_config": True,
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "doctitle_xform": False,
    "embed_stylesheet": False,
    "halt_level": 1,
    "warning_stream": False,
    "table_style": "numbers",
    "math_output": "MathJax -",  # in place of an address: the page loads it
}


@dataclass(frozen=True)
class Argument:
    """One parameter of a class.

    Attributes
    ----------
    name, kind
        As the docstring has them.
    default
        What holds if it is not given.
    expected
        Which values it may have; empty where the class does not declare that.
    text
        What it does, with the docstring's markup.
    """

    name: str
    kind: str
    default: Parameter
    expected: str
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

    @property
    def family(self) -> str:
        """What the module, or the package of modules, that it is in says of itself in one line."""
        package = algorithm(self.name).__module__
        if self.as_published:
            package = package.rpartition(".")[0]
        return (inspect.getdoc(sys.modules.get(package)) or package).splitlines()[0]

    def described(self) -> dict[str, str]:
        """Return all that a reader may want to know as plain text, under short labels.

        Examples
        --------
        >>> rows = describe("PLSA").described()
        >>> rows["n_topics="]
        'default 50; an integer >= 1. Number of topics z.'
        """
        settings = {
            f"{one.name}=": "; ".join(filter(None, (f"default {one.default!r}", one.expected)))
            + f". {one.text}"
            for one in self.arguments
        }
        rows = {
            "system": self.name,
            "meaning": self.summary,
            "family": self.family,
            "model": self.model,
            **settings,
            **{title.lower() or "notes": text for title, text in self.notes.items()},
            "coverage": COVERAGE.get(self.coverage, self.coverage),
            "in line-ups": "; ".join(
                f"{name} ({', '.join(systems)})" for name, systems in _uses(self.name).items()
            ),
            "references": self.references,
            "example": f"System({self.name!r}, {self.name!r})",
        }
        return {label: to_text(text) for label, text in rows.items() if text}


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
    >>> entry = describe("UserKNN")
    >>> entry.module, entry.coverage, entry.arguments[0].name, entry.arguments[0].default
    ('neighbourhood', 'evidence', 'n_neighbours', 100)
    """
    defined = algorithm(name)
    text = inspect.cleandoc(defined.__doc__ or "")
    head, *rest = _SECTION.split(text)
    sections = {title: body.strip() for title, body in zip(rest[::2], rest[1::2], strict=True)}
    summary, _, model = head.strip().partition("\n\n")
    return Description(
        name=name,
        module=defined.__module__.removeprefix("recbias.recommenders."),
        summary=" ".join(summary.split()),
        model=model.strip(),
        arguments=tuple(_arguments(defined, sections.get("Parameters", ""))),
        notes=_notes(sections.get("Notes", "")),
        references=sections.get("References", ""),
        coverage=str(getattr(defined, "coverage", "evidence")),
    )


def _arguments(defined: type, section: str) -> Sequence[Argument]:
    """Join what the section Parameters says with the defaults of the signature."""
    limits = {
        name: ENCODINGS if name == "encoding" else expected(field)
        for name, field in getattr(defined, "__dataclass_fields__", {}).items()
    }
    documented: dict[str, tuple[str, list[str]]] = {}
    last: list[str] = []
    for line in section.splitlines():
        head = _ARGUMENT.match(line)
        if head:
            last = []
            documented |= dict.fromkeys(head["names"].split(", "), (head["kind"], last))
        else:
            last.append(line.strip())
    return [
        Argument(
            name,
            documented.get(name, (type(field.default).__name__, []))[0],
            field.default,
            limits.get(name, ""),
            " ".join(documented.get(name, ("", []))[1]).strip(),
        )
        for name, field in inspect.signature(defined).parameters.items()
    ]


def _notes(section: str) -> dict[str, str]:
    """Cut the section Notes at its bold titles; what precedes them has the title ``""``."""
    pieces = _NOTE.split(section)
    pairs = zip(pieces[1::2], pieces[2::2], strict=True)
    notes = {title: text.strip() for title, text in pairs}
    return {**({"": pieces[0].strip()} if pieces[0].strip() else {}), **notes}


def to_html(text: str, *, inline: bool = False) -> str:
    r"""Turn a docstring's markup into HTML whose formulas MathJax typesets.

    Parameters
    ----------
    text : str
        reStructuredText; single backticks are for code.
    inline : bool
        Whether a single paragraph goes without its tags.

    Returns
    -------
    str

    Raises
    ------
    docutils.utils.SystemMessage
        If the markup is malformed.

    Examples
    --------
    >>> print(to_html("Divide by :math:`n < 3`, see `UserKNN`."))
    <p>Divide by <span class="math notranslate nohighlight">\(n &lt; 3\)</span>, see
    <code>UserKNN</code>.</p>
    """
    source = f".. default-role:: code\n\n{text}"
    writer = Writer()
    writer.translator_class = _Translator
    parts = publish_parts(source, writer=writer, settings_overrides={**_DOCUTILS, "inline": inline})
    return str(parts["body"]).strip()


def to_text(text: str) -> str:
    """Turn a docstring's markup into text for a terminal; formulas stay as TeX.

    Parameters
    ----------
    text : str
        reStructuredText.

    Returns
    -------
    str
        Its lines, without roles, directives and backticks.

    Examples
    --------
    >>> print(to_text("Divide by :math:`n < 3`, see `UserKNN` and ``line_up``."))
    Divide by n < 3, see UserKNN and line_up.
    """
    bare = re.sub(r"(?m)^\.\. \w+::\s*", "", text)
    return re.sub(r"(?::[\w:]+:)?(`+)~?(.+?)\1", r"\2", bare, flags=re.DOTALL)


class _Translator(HTMLTranslator):
    """Writes HTML as docutils does, with the page's tables, code, formulas and lone paragraphs."""

    def _is_bare(self, node: nodes.paragraph) -> bool:
        return len(node.parent) == 1 and (self.settings.inline or node.parent is not self.document)

    def visit_paragraph(self, node: nodes.paragraph) -> None:
        if not self._is_bare(node):
            super().visit_paragraph(node)

    def depart_paragraph(self, node: nodes.paragraph) -> None:
        if not self._is_bare(node):
            super().depart_paragraph(node)

    def visit_reference(self, node: nodes.reference) -> None:
        if "name" in node:  # plain text is no link: P@10 looks like an address
            super().visit_reference(node)

    def depart_reference(self, node: nodes.reference) -> None:
        if "name" in node:
            super().depart_reference(node)

    def visit_literal(self, node: nodes.literal) -> None:
        node["classes"] = ["code"]
        super().visit_literal(node)

    def visit_math(self, node: nodes.math) -> None:
        node["classes"] = ["notranslate", "nohighlight"]
        super().visit_math(node)

    def visit_table(self, node: nodes.table) -> None:
        self.body.append('<div class="scrolls">')
        super().visit_table(node)

    def depart_table(self, node: nodes.table) -> None:
        super().depart_table(node)
        self.body.append("</div>")


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
    head = f"<strong>{found.name}</strong> {to_html(found.summary, inline=True)}"
    place = f"class-{found.name.lower()}"  # within, since a browser opens what holds a target
    rows = "".join(
        f"<tr><td><code>{argument.name}</code></td><td><code>{escape(repr(argument.default))}"
        f"</code></td><td>{to_html(argument.text, inline=True)}</td></tr>"
        for argument in found.arguments
    )
    table = (
        '<div class="scrolls"><table class="stacks"><thead><tr><th>parameter</th><th>default</th>'
        f"<th>what it does</th></tr></thead><tbody>{rows}</tbody></table></div>"
    )
    notes = {**found.notes, "Coverage": COVERAGE[found.coverage]}
    notes["References"] = found.references
    return (
        f'<details class="system"><summary>{head}</summary><div id="{place}">'
        f"{to_html(found.model)}{table if rows else '<p>No parameters.</p>'}"
        + "".join(_titled(title, text) for title, text in notes.items() if text)
        + f"{_uses_html(found.name)}</div></details>"
    )


def catalogue_html() -> str:
    """Write all registered classes as entries that unfold, by module.

    Returns
    -------
    str
        HTML; above each group stands what its module says of itself, and what stood in for cited
        models comes last. Classes that are not the package's own are left out.
    """
    written = []
    for family, descriptions in families().items():
        entries = [description_html(one) for one in descriptions if is_own(algorithm(one.name))]
        if entries:
            head = to_html(family, inline=True)
            written.append(f'<p class="group"><strong>{head}</strong></p>{"".join(entries)}')
    return "".join(written)


def families() -> dict[str, list[Description]]:
    """Sort all registered classes by family.

    Returns
    -------
    dict of str to list of Description
        By what the module of the family says of itself in one line, or by its name if it says
        nothing. What stood in for cited models comes after the models, and last what is from
        outside the package.

    Examples
    --------
    >>> {family: len(models) for family, models in families().items() if "Topic" in family}
    {'Topic models: users as mixtures of distributions over items or over ratings.': 2}
    """
    ordered = sorted(
        map(describe, algorithms()),
        key=lambda one: (not is_own(algorithm(one.name)), one.as_published, one.module),
    )
    groups: dict[str, list[Description]] = {}
    for description in ordered:
        groups.setdefault(description.family, []).append(description)
    return groups


def _titled(title: str, text: str) -> str:
    return to_html(f"**{title}.** {text}" if title else text)


def _uses_html(name: str) -> str:
    """Say under which names line-ups have a class; empty if none has it."""
    uses = [
        f'<a href="{_LINE_UPS_PAGE}#line-up-{line_up_name}">{line_up_name}</a> '
        f"({escape(', '.join(systems))})"
        for line_up_name, systems in _uses(name).items()
    ]
    return f"<p><strong>In line-ups.</strong> {'; '.join(uses)}</p>" if uses else ""


def _uses(name: str) -> dict[str, list[str]]:
    """List the names that a class has in each line-up that has it."""
    uses = {
        line_up_name: [system.name for system in line_up(line_up_name) if system.algorithm == name]
        for line_up_name in line_up_names()
    }
    return {line_up_name: systems for line_up_name, systems in uses.items() if systems}


def line_up_html(name: str, *, min_rating: float = 4.0) -> str:
    """Write a line-up as a table: system, class with all parameters, and why these.

    Parameters
    ----------
    name : str
        As for `line_up`.
    min_rating : float
        As for `line_up`.

    Returns
    -------
    str
        HTML; the class links to its entry, see `description_html`.
    """
    return systems_html(line_up(name, min_rating=min_rating), line_up_sources(name))


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
        f"{_parameters_html(system)}</td><td>{to_html(sources[system.name], inline=True)}</td></tr>"
        for system in systems
    )
    head = "".join(f"<th>{title}</th>" for title in ("system", "class, parameters", "why"))
    return (
        f'<div class="scrolls"><table class="stacks"><thead><tr>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def class_html(system: System) -> str:
    """Write a system's class as a link to its entry, see `description_html`."""
    return f'<a href="{_CLASSES_PAGE}#class-{system.algorithm.lower()}">{system.algorithm}</a>'


def _parameters_html(system: System) -> str:
    """Write all parameters of a system, and its number of seeds if it has more than one."""
    settings = [f"{name}={value!r}" for name, value in system.parameters.items()]
    texts = [f"<code>{escape(text, quote=False)}</code>" for text in settings]
    if system.n_seeds > 1:
        texts.append(f"mean of {system.n_seeds} seeds")
    return f"<br/>{', '.join(texts)}" if texts else ""
