"""The source of classes from outside the package, by which their results are told apart."""

from __future__ import annotations

import ast
import hashlib
import inspect
import linecache
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import cloudpickle

from recbias.errors import ContractError

__all__ = ["defining_file", "refuse_edited", "session_source"]


def defining_file(defined: type[Any]) -> bytes | None:
    """Read the file that defines a class.

    Parameters
    ----------
    defined : class
        Any.

    Returns
    -------
    bytes or None
        None where there is no such file, as in a notebook, or it cannot be read.
    """
    file = getattr(sys.modules.get(defined.__module__), "__file__", None)
    try:
        return None if file is None else Path(file).read_bytes()
    except OSError:
        return None


def session_source(defined: type[Any]) -> bytes | None:
    """Collect the text of a class that was typed into a session, and all that it names there.

    Parameters
    ----------
    defined : class
        Such as one of a notebook's cell.

    Returns
    -------
    bytes or None
        The text of the class, of its bases, and of every class and function of the session that
        they name, in turn; of other values that they name a digest. None where Python does not keep
        the text of the class.

    See Also
    --------
    recbias.recommenders.base.source_digest : Reads the whole file of a class that has one.
    """
    parts: dict[str, bytes] = {}
    for definition in _reached(defined):
        text = _text(definition)
        if text is None:
            return None
        parts[f"{definition.__module__}.{definition.__qualname__}"] = text.encode()
        for name, value in _named_globals(definition):
            if not isinstance(value, type | FunctionType | ModuleType):
                parts[name] = _digest(value)
    return b"\0".join(part for name in sorted(parts) for part in (name.encode(), parts[name]))


def refuse_edited(defined: type[Any]) -> None:
    """Refuse a class whose file is no longer the one that it was imported from.

    The file's digest would stand for code that did not run. Compared are the class, and every class
    and function of its module that it names, with what the file has now.

    Parameters
    ----------
    defined : class
        One that a file defines.

    Raises
    ------
    ContractError
        If the file has another code for one of them, or none.
    """
    content = defining_file(defined)
    if content is None:
        return
    try:
        waiting = [compile(content, "file", "exec", dont_inherit=True)]
    except (SyntaxError, ValueError):
        waiting = []
    now: list[CodeType] = []
    while waiting:
        inner = [constant for constant in waiting.pop().co_consts if isinstance(constant, CodeType)]
        waiting += inner
        now += inner
    for definition in _reached(defined):
        for code in _codes(definition):
            # What a decorator, such as that of a dataclass, made stands in no file.
            if not code.co_filename.startswith("<") and code not in now:
                raise ContractError(
                    f"{defined.__name__}: the file that defines it has changed since it was "
                    "imported\nimport it again: restart the session, or importlib.reload its module"
                )


def _reached(defined: type[Any]) -> Iterator[Any]:
    """Yield a class, its bases, and the classes and functions of its module that they name."""
    waiting: list[Any] = [defined]
    seen: list[Any] = []
    while waiting:
        definition = waiting.pop()
        if definition in seen or definition.__module__ != defined.__module__:
            continue
        seen.append(definition)
        yield definition
        values = (value for _, value in _named_globals(definition))
        waiting += [value for value in values if isinstance(value, type | FunctionType)]
        waiting += definition.__bases__ if isinstance(definition, type) else ()


def _text(defined: Any) -> str | None:
    """Return the text of a function or class, or of the cell that it stands in."""
    if isinstance(defined, FunctionType):
        try:
            return inspect.getsource(defined)
        except (OSError, TypeError):
            return None
    # Python looks for the file of a class's module, which a session does not have; that of a
    # function it knows.
    codes = list(_codes(defined))
    if not codes:  # all that it says are its bases and some values
        bases = ", ".join(base.__qualname__ for base in defined.__bases__)
        values = {name: value for name, value in vars(defined).items() if name[:2] != "__"}
        said = (f"    {name} = {_digest(value).hex()}\n" for name, value in values.items())
        return f"class {defined.__name__}({bases}):\n{''.join(said)}"
    for code in codes:
        lines = linecache.getlines(code.co_filename)
        if code.co_filename.startswith("<string") or not lines:
            continue
        text = "".join(lines)
        try:
            nodes = list(ast.walk(ast.parse(text)))
        except SyntaxError:
            return text
        for node in nodes:
            if isinstance(node, ast.ClassDef) and node.name == defined.__name__:
                first = min([node.lineno, *(part.lineno for part in node.decorator_list)])
                return "".join(lines[first - 1 : node.end_lineno])
    return None


def _codes(defined: Any) -> Iterator[CodeType]:
    """Yield the compiled functions of a class, or of a function."""
    for member in vars(defined).values() if isinstance(defined, type) else (defined,):
        plain = member.fget if isinstance(member, property) else member
        plain = getattr(plain, "__func__", plain)  # of class and static methods
        plain = inspect.unwrap(plain) if callable(plain) else plain
        if isinstance(plain, FunctionType):
            yield plain.__code__


def _named_globals(defined: Any) -> Iterator[tuple[str, Any]]:
    """Yield the globals of a session that the code of a class or function names."""
    module = sys.modules.get(defined.__module__)
    space: Mapping[str, Any] = vars(module) if module else {}  # a console's is kept nowhere
    waiting = list(_codes(defined))
    while waiting:
        code = waiting.pop()
        waiting += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
        yield from ((name, space[name]) for name in code.co_names if name in space)


def _digest(value: Any) -> bytes:
    try:
        return hashlib.sha256(cloudpickle.dumps(value)).digest()
    except Exception:
        return repr(type(value)).encode()
