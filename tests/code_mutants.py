"""Mutants of functions: one operator, number or term of their source is another."""

from __future__ import annotations

import ast
import copy
import inspect
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import CodeType, FunctionType, ModuleType

_COMPARED = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
_COMBINED = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
_NAMED = {
    "min": "max",
    "max": "min",
    "any": "all",
    "all": "any",
    "minimum": "maximum",
    "maximum": "minimum",
}


@dataclass(frozen=True)
class CodeMutant:
    """A function with one change.

    Attributes
    ----------
    function
        What is changed, in place.
    what
        Where and how.
    line
        The line of the source where it is.
    code
        Its code after the change.
    """

    function: FunctionType
    what: str
    line: str
    code: CodeType

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """Let everything that calls the function call the mutant."""
        own = self.function.__code__
        self.function.__code__ = self.code
        try:
            yield
        finally:
            self.function.__code__ = own


def functions_of(module: ModuleType) -> dict[str, FunctionType]:
    """Name the functions and methods that a module defines."""
    found = {}
    for name, value in vars(module).items():
        holders = vars(value).items() if inspect.isclass(value) else [("", value)]
        for own, member in holders:
            function = inspect.unwrap(getattr(member, "__func__", member))
            if (
                isinstance(function, FunctionType)
                and function.__name__ == (own or name)  # by no second name, as of a loop
                and function.__module__ == module.__name__
                and function.__code__.co_filename == module.__file__  # made by no decorator
            ):
                found[f"{name}.{own}".rstrip(".")] = function
    return found


def code_mutants(name: str, function: FunctionType) -> Iterator[CodeMutant]:
    """Make the mutants of a function, site by site."""
    source = _dedented(function)
    tree = ast.parse(source)
    (definition,) = tree.body
    assert isinstance(definition, ast.FunctionDef)
    definition.decorator_list = []
    if ast.get_docstring(definition):
        definition.body = definition.body[1:]
    sites = [node for part in definition.body for node in ast.walk(part)]
    spared = {id(inner) for node in sites for part in _spared(node) for inner in ast.walk(part)}
    for place, node in enumerate(sites):
        for what, change in _changes(node) if id(node) not in spared else ():
            other = copy.deepcopy(tree)
            (changed,) = other.body
            assert isinstance(changed, ast.FunctionDef)
            target = [each for part in changed.body for each in ast.walk(part)][place]
            before = ast.unparse(target)
            change(target)
            code = _code(other, definition.name)
            if code.co_freevars == function.__code__.co_freevars:
                number = function.__code__.co_firstlineno + node.lineno - 1
                line = source.splitlines()[node.lineno - 1].strip()
                yield CodeMutant(function, f"{name}, {number}, {before}: {what}", line, code)


def why_same(mutant: CodeMutant, known: Mapping[tuple[str, str, str], str]) -> str:
    """Say why a mutant decides nothing, by its function, line and change; empty if it may."""
    name, _, changed = mutant.what.split(", ", 2)
    return next(
        (
            why
            for (function, line, change), why in known.items()
            if name.endswith(function) and line in mutant.line and changed.startswith(change)
        ),
        "",
    )


def _spared(node: ast.AST) -> list[ast.AST]:
    """Give what decides nothing: numbers in a sentence, guards of lengths, types of variables."""
    if isinstance(node, ast.AnnAssign):
        return [node.annotation]
    guards = isinstance(node, ast.keyword) and node.arg == "strict"
    return [node] if guards or isinstance(node, ast.JoinedStr) else []


def _dedented(function: FunctionType) -> str:
    lines = inspect.getsource(function).splitlines()
    margin = len(lines[0]) - len(lines[0].lstrip())
    return "\n".join(line[margin:] for line in lines)


def _code(tree: ast.Module, name: str) -> CodeType:
    compiled = compile(ast.fix_missing_locations(tree), "<mutant>", "exec", dont_inherit=True)
    (found,) = (
        each for each in compiled.co_consts if isinstance(each, CodeType) and each.co_name == name
    )
    return found


def _changes(node: ast.AST) -> Iterator[tuple[str, object]]:
    """Yield what may be changed at a node, and the function that does it to a copy."""
    if isinstance(node, ast.Compare):
        for place, operator in enumerate(node.ops):
            for other in _COMPARED[type(operator)]:
                yield f"-> {other.__name__}", _set_operator(place, other())
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
        for step in (1, -1):
            yield f"{step:+d}", _set("value", node.value + step)
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield "negated", _set("value", not node.value)
    elif isinstance(node, ast.BinOp):
        if other := _COMBINED.get(type(node.op)):
            yield f"-> {other.__name__}", _set("op", other())
        if isinstance(node.op, ast.Add | ast.Sub | ast.BitAnd | ast.BitOr):
            yield "second term dropped", _become("left")
    elif isinstance(node, ast.BoolOp):
        other = ast.Or if isinstance(node.op, ast.And) else ast.And
        yield f"-> {other.__name__}", _set("op", other())
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.Invert | ast.USub):
        yield f"without {type(node.op).__name__}", _become("operand")
    elif isinstance(node, ast.Name) and node.id in _NAMED:
        yield f"-> {_NAMED[node.id]}", _set("id", _NAMED[node.id])
    elif isinstance(node, ast.Attribute) and node.attr in _NAMED:
        yield f"-> {_NAMED[node.attr]}", _set("attr", _NAMED[node.attr])
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "abs":
        yield "without abs", _become_argument


def _set(field: str, value: object):
    return lambda node: setattr(node, field, value)


def _set_operator(place: int, operator: ast.cmpop):
    return lambda node: node.ops.__setitem__(place, operator)


def _become(field: str):
    """Put a part of a node in its place: the copy takes on the part's class and fields."""
    return lambda node: _take(node, getattr(node, field))


def _become_argument(node: ast.Call) -> None:
    _take(node, node.args[0])


def _take(node: ast.AST, part: ast.AST) -> None:
    fields = vars(part).copy()
    vars(node).clear()
    node.__class__ = type(part)
    vars(node).update(fields)
