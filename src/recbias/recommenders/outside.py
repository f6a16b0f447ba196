"""Systems of a reader's own: a class or an object becomes a system, and reaches other processes."""

from __future__ import annotations

import functools
import importlib
import inspect
import math
import sys
from typing import Any

import cloudpickle
import numpy as np

from recbias.errors import ConfigError, ContractError
from recbias.recommenders.base import (
    System,
    adopt,
    algorithm,
    algorithms,
    argument_names,
    is_own,
    register,
    source_digest,
)
from recbias.recommenders.definitions import refuse_edited

__all__ = ["Carried", "as_system", "carried"]


def as_system(given: Any) -> System:
    """Make a system of a class or an object with `fit` and `score`.

    A class from outside the package is registered on the way, so that it needs no decorator. Of an
    object the class and the arguments count, which it keeps in attributes of the same names; what
    it learned or was given afterwards does not, since every cell trains a new one.

    Parameters
    ----------
    given : System, class or object
        A class whose arguments have defaults, or an object of any class.

    Returns
    -------
    System
        Named after the class, with those arguments that differ from their defaults.

    Raises
    ------
    ConfigError
        If it is none of these, or another class has its name.
    ContractError
        If `fit` or `score` is missing, a class has an argument without default, or an argument is
        not kept, or is neither text nor a finite number, True, False or None.

    Examples
    --------
    >>> from recbias.recommenders import UserKNN
    >>> as_system(UserKNN(n_neighbours=7)).name
    'UserKNN(n_neighbours=7)'
    >>> as_system(UserKNN) == System("UserKNN", "UserKNN")
    True
    """
    if isinstance(given, System):
        return given
    defined = given if isinstance(given, type) else type(given)
    name = defined.__name__
    lacks = [verb for verb in ("fit", "score") if not callable(getattr(defined, verb, None))]
    if len(lacks) == 2:
        raise ConfigError(
            f"systems: got {type(given).__name__} {given!r}, expected systems such as those of "
            "line_up('bcc17'), or a class or object with fit and score"
        )
    if lacks:
        raise ContractError(f"{name}: has no method {lacks[0]}, which every recommender has")
    known = inspect.signature(defined).parameters
    arguments = argument_names(defined)
    if isinstance(given, type):
        if needed := [
            argument for argument in arguments if known[argument].default is inspect.Parameter.empty
        ]:
            raise ContractError(
                f"{name}: its argument {needed[0]!r} has no default\n"
                f"give it one, or put an object into the grid: {name}({needed[0]}=...)"
            )
        given = given()
    parameters = {argument: _kept(given, argument) for argument in arguments}
    if not is_own(defined):
        if name not in algorithms() or algorithm(name) is not defined:
            refuse_edited(defined)
            register(defined)
    elif algorithm(name) is not defined:
        raise ConfigError(f"{name}: write System(name, algorithm, parameters) for this class")
    defaults = {argument: known[argument].default for argument in arguments}
    changed = ", ".join(
        f"{argument}={value}"
        for argument, value in parameters.items()
        if type(value) is not type(defaults[argument]) or value != defaults[argument]
    )
    plain = f"{name}({changed})" if changed else name
    return System(getattr(given, "system_name", plain), name, parameters)


def _kept(built: Any, argument: str) -> Any:
    """Return the argument that an object was made with."""
    name = type(built).__name__
    if not hasattr(built, argument):
        raise ContractError(
            f"{name}: keeps no attribute {argument!r}\nits __init__ has to keep each argument "
            f"under its name: self.{argument} = {argument}"
        )
    value = getattr(built, argument)
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float) and not math.isfinite(value):
        raise ContractError(f"{name}: {argument} is {value!r}, expected a finite number")
    if not isinstance(value, str | int | float | bool | None):
        raise ContractError(
            f"{name}: {argument} is {type(value).__name__}, but arguments are text, numbers, True, "
            "False or None\nwhat else a recommender needs, its fit makes or reads"
        )
    return value


class Carried:
    """A class from outside the package, on its way to another process.

    Where the class can be imported there, its module's name travels; one of a script or a notebook
    travels itself, when it is sent and not before.

    Parameters
    ----------
    name : str
        Its name among the algorithms.
    defined : class or bytes
        The class, or what was sent of it.
    source : str, optional
        Its digest where it was sent from.
    """

    def __init__(self, name: str, defined: type[Any] | bytes, source: str | None) -> None:
        self.name, self.defined, self.source = name, defined, source

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Carried) and other._identity == self._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    @property
    def _identity(self) -> tuple[str, str | None]:
        return self.name, self.source

    def __reduce__(self) -> tuple[Any, ...]:
        sent = self.defined if isinstance(self.defined, bytes) else _packed(self.defined)
        return Carried, (self.name, sent, self.source)

    def load(self) -> None:
        """Make the class known to this process, if it is another one than where it was found."""
        if not isinstance(self.defined, bytes):
            return
        defined = _unpacked(self.defined)
        if not _is_imported(defined):
            adopt(defined, self.name, self.source)
            return
        if self.name not in algorithms() or algorithm(self.name) is not defined:
            register(defined)
        if source_digest(self.name) != self.source:  # imported here before its file changed
            importlib.reload(sys.modules[defined.__module__])
            _unpacked.cache_clear()
            register(_unpacked(self.defined))


def carried(name: str) -> Carried | None:
    """Return what other processes need to know of an algorithm; None of the package's own.

    Parameters
    ----------
    name : str
        Name of a registered class.

    Raises
    ------
    ConfigError
        If no class has the name.
    ContractError
        If the class has neither source nor version.
    """
    defined = algorithm(name)
    return None if is_own(defined) else Carried(name, defined, source_digest(name))


def _packed(defined: type[Any]) -> bytes:
    """Write a class down: by the place where it is imported from, or else with all its code."""
    try:
        return cloudpickle.dumps(defined)
    except Exception as error:
        raise ContractError(
            f"{defined.__name__}: something that its code names cannot reach another process "
            f"({type(error).__name__}: {error})\n"
            "put the class into a module of its own and import it, or use workers=1"
        ) from error


def _is_imported(defined: type[Any]) -> bool:
    """Tell a class that came by the name of its module from one that came with its code."""
    imported: Any = sys.modules.get(defined.__module__)
    for name in defined.__qualname__.split("."):
        imported = getattr(imported, name, None)
    return imported is defined and defined.__module__ != "__main__"


@functools.lru_cache(maxsize=64)
def _unpacked(sent: bytes) -> Any:
    return cloudpickle.loads(sent)
