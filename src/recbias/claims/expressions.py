"""The language of criteria: what is measured, as an expression over tables of results.

An expression is made of terms, numbers, ``+ - * /``, comparisons and calls. A term names a number
by its place: ``P[AR] of pLSA in grid on ml-100k`` is column ``P``, row ``AR``, system ``pLSA`` of
the table ``grid`` in the results on ML-100K; what is left out is the line-up of the chapter, the
edition that is judged, and all systems that the record goes over. Names of several words stand in
quotes. Expressions are read by a grammar, and nothing in them is ever executed; an expression
prints as it parses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from lark import Lark, Token, Transformer
from lark.exceptions import LarkError, UnexpectedInput

from recbias.errors import ConfigError

AXES = ("removed", "kept", "size", "gamma")
"""What a quantity is followed along: percent of the test ratings that are removed, or kept; size of
the target sets; gamma of stratified recall."""

LETTERS = ("a", "b", "c", "d", "e", "f")
"""Names of an expression's terms in sentences, in their order."""

EXTREMES = ("largest", "smallest")
"""Functions that choose one of several."""

LONGEST, DEEPEST, MOST_SIGNS = 2000, 40, 100
"""Of an expression, in characters, in nested parentheses and in operators."""

_GRAMMAR = r"""
?start: choice
?choice: either | either WHERE either -> joined
?either: both | either OR both -> joined
?both: comparison | both AND comparison -> joined
?comparison: sum | sum COMPARED sum -> joined
?sum: product | sum (PLUS | MINUS) product -> joined
?product: signed | product TIMES signed -> joined
?signed: atom | MINUS signed -> negative
?atom: NUMBER -> number
    | term
    | QUOTED -> text
    | call
    | "(" choice ")"
call: NAME "(" [argument ("," argument)*] ")"
?argument: choice | NAME -> name
term: column ROW ["of" system] ["in" TABLE] ["on" EDITION] ["along" NAME]
column: COLUMN | QUOTED
system: SYSTEM | QUOTED

WHERE: "where"
OR: "or"
AND: "and"
COMPARED: "<=" | ">=" | "<" | ">"
MINUS: "-"
PLUS: "+"
TIMES: "*" | "/"
NUMBER: /\d+(\.\d+)?(e[+-]?\d+)?/
ROW: /\[[^\[\]]+\]/
COLUMN.2: /[A-Za-z]\w*(\([^\[\]()\s]*\))?(@\w+)?(\|[^\[\]\s]+)?(?=\[)/
NAME: /[A-Za-z_]\w*/
SYSTEM: /[A-Za-z]\w*/
TABLE: /[A-Za-z]\w*(\.[A-Za-z]\w*)?/
EDITION: /[A-Za-z0-9][\w-]*(\.\w[\w-]*)*/
QUOTED: /"[^"]*"/
%import common.WS
%ignore WS
"""


@dataclass(frozen=True)
class Term:
    """A measured quantity, by its place in the results of a chapter.

    Attributes
    ----------
    metric
        Column of a table. Of a grid a name such as ``"P"``, whatever its cutoff, or a whole text
        such as ``"P@10"``; where a label has a metric with several cutoffs, ``"nDCG@n"`` is the
        longest and ``"nDCG@short"`` the shortest; ``"SR(gamma=1)@n"`` chooses among several
        arguments first.
    label
        Of the protocol, for a grid; ``*`` is its only one. For another table the values of its
        index in their order, or ``name=value``, separated by commas; ``*`` is any, ``>=0.8`` those
        from there on.
    system
        None for the systems that a record goes over. ``*`` stands for any letters.
    table
        Name of the results; after a dot, of what the chapter derives from them: ``worlds.best``.
    edition
        Data set of the results; None for the edition that is judged.
    axis
        What the quantity is followed along, one of :data:`AXES`: the labels of this label's
        protocol, or of all protocols for ``"*"``; along ``size`` and ``gamma``, what is measured
        under this label given the size of target sets, or with each gamma.

    Examples
    --------
    >>> term = parse('P[AR] of "MF (ranking)" in grid on ml-100k')
    >>> term.system, term.table, term.edition
    ('MF (ranking)', 'grid', 'ml-100k')
    >>> str(term)
    'P[AR] of "MF (ranking)" in grid on ml-100k'
    """

    metric: str
    label: str
    system: str | None = None
    table: str = "systems"
    edition: str | None = None
    axis: str | None = None

    @property
    def stored(self) -> str:
        """Name of the stored results, without what is derived from them."""
        return self.table.partition(".")[0]

    @classmethod
    def parse(cls, text: str) -> Term:
        """Read a term; ConfigError if it is none."""
        node = parse(text)
        if not isinstance(node, Term):
            raise ConfigError(f"{text!r} is more than a term")
        return node

    def __str__(self) -> str:
        column = self.metric if _PLAIN_COLUMN.fullmatch(self.metric) else f'"{self.metric}"'
        text = f"{column}[{self.label}]"
        if self.system is not None:
            text += f" of {_name(self.system)}"
        if self.table != "systems":
            text += f" in {self.table}"
        if self.edition:
            text += f" on {self.edition}"
        return text + (f" along {self.axis}" if self.axis else "")


@dataclass(frozen=True)
class Number:
    """A number that is written out."""

    value: float

    def __str__(self) -> str:
        return f"{self.value:.12g}"


@dataclass(frozen=True)
class Text:
    """A name among the arguments of a function."""

    value: str

    def __str__(self) -> str:
        return _name(self.value)


@dataclass(frozen=True)
class Call:
    """A function of expressions."""

    name: str
    arguments: tuple[Expression, ...]

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.arguments))})"


@dataclass(frozen=True)
class Operation:
    """Two expressions joined by an operator."""

    operator: str
    left: Expression
    right: Expression

    def __str__(self) -> str:
        own = BINDING[self.operator]
        sides = []
        for side, is_right in ((self.left, False), (self.right, True)):
            other = BINDING[side.operator] if isinstance(side, Operation) else 9
            loose = other < own or (other == own and (is_right or own == BINDING["<"]))
            sides.append(f"({side})" if loose else str(side))
        return f"{sides[0]} {self.operator} {sides[1]}"


Expression = Term | Number | Text | Call | Operation
"""A node of the tree that an expression is read into."""

BINDING: Mapping[str, int] = {
    "where": 0,
    "or": 1,
    "and": 2,
    **dict.fromkeys(("<", "<=", ">", ">="), 3),
    **dict.fromkeys(("+", "-"), 4),
    **dict.fromkeys(("*", "/"), 5),
}
"""How tightly each operator binds."""

_PLAIN_COLUMN = re.compile(r"[A-Za-z]\w*(\([^\[\]()\s]*\))?(@\w+)?(\|[^\[\]\s]+)?")
_PLAIN_NAME = re.compile(r"[A-Za-z]\w*")


def _name(text: str) -> str:
    return text if _PLAIN_NAME.fullmatch(text) else f'"{text}"'


class _Reader(Transformer[Token, Expression]):
    """Turn what the grammar found into nodes."""

    def number(self, tokens: list[Token]) -> Expression:
        return Number(float(tokens[0]))

    def negative(self, nodes: list[Expression]) -> Expression:
        _, node = nodes
        return Number(-node.value) if isinstance(node, Number) else Operation("-", Number(0), node)

    def text(self, tokens: list[Token]) -> Expression:
        return Text(tokens[0][1:-1])

    def name(self, tokens: list[Token]) -> Expression:
        return Text(str(tokens[0]))

    def column(self, tokens: list[Token]) -> str:
        return tokens[0].strip('"')

    system = column

    def term(self, parts: list[str | None]) -> Expression:
        column, row, system, table, edition, axis = parts
        if axis is not None and axis not in AXES:
            raise ConfigError(f"unknown axis '{axis}'; known: {', '.join(AXES)}")
        return Term(
            str(column),
            str(row)[1:-1],
            None if system is None else str(system),
            "systems" if table is None else str(table),
            None if edition is None else str(edition),
            None if axis is None else str(axis),
        )

    def call(self, nodes: list[Expression | None]) -> Expression:
        name, *arguments = nodes
        return Call(str(name), tuple(node for node in arguments if node is not None))

    def joined(self, nodes: list[Expression]) -> Expression:
        left, operator, right = nodes
        return Operation(str(operator), left, right)


@cache
def _grammar() -> Lark:
    return Lark(_GRAMMAR, parser="lalr", maybe_placeholders=True)


@cache
def parse(text: str) -> Expression:
    """Read an expression.

    Raises
    ------
    ConfigError
        If it is none, with the place; if it is longer than :data:`LONGEST`, nested deeper than
        :data:`DEEPEST`, or has more operators than :data:`MOST_SIGNS`.

    Examples
    --------
    >>> print(parse("smallest(P[AR] of pLSA - (P[AR]))"))
    smallest(P[AR] of pLSA - P[AR])
    >>> parse("P under AR")
    Traceback (most recent call last):
    recbias.errors.ConfigError: 'P under AR' is no expression at 'under AR': ...
    """
    if not _is_small(text):
        raise ConfigError(
            f"{text[:40]!r}...: an expression has at most {LONGEST} characters, {MOST_SIGNS} "
            f"operators, and {DEEPEST} parentheses within each other"
        )
    try:
        return _Reader().transform(_grammar().parse(text))
    except UnexpectedInput as error:
        place = error.pos_in_stream if error.pos_in_stream is not None else len(text)
        rest = text[place : place + 20] or "its end"
        raise ConfigError(
            f"{text!r} is no expression at {rest!r}: write a term as column[row] of SYSTEM in "
            'TABLE on DATASET, names of several words in "quotes", and functions as name(...)'
        ) from error
    except LarkError as error:
        cause = error.__context__
        raise ConfigError(f"{text!r}: {cause or error}") from error


def _is_small(text: str) -> bool:
    """Tell whether an expression is short and flat enough to be read by recursion."""
    bare = re.sub(r'\[[^\[\]]*\]|"[^"]*"', "", text)  # labels and names have signs of their own
    depth = deepest = 0
    for letter in bare:
        depth += (letter == "(") - (letter == ")")
        deepest = max(deepest, depth)
    n_signs = len(re.findall(r"[-+*/<>]|\b(?:and|or|where)\b", bare))
    return len(text) <= LONGEST and deepest <= DEEPEST and n_signs <= MOST_SIGNS


def walk(node: Expression) -> Iterator[Expression]:
    """Go through a tree from left to right, each node before its parts."""
    yield node
    if isinstance(node, Operation):
        yield from walk(node.left)
        yield from walk(node.right)
    elif isinstance(node, Call):
        for argument in node.arguments:
            yield from walk(argument)


def terms_of(node: Expression) -> tuple[Term, ...]:
    """Name the terms of an expression in their order, each once."""
    return tuple(dict.fromkeys(part for part in walk(node) if isinstance(part, Term)))
