"""Names of a package that are imported when they are first asked for.

Who imports one light module of a room should not wait for all that its public names stand on.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Any


def import_later(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Make the ``__getattr__`` of a package (PEP 562).

    Parameters
    ----------
    package
        Its ``__name__``.
    homes
        By public name the module that has it. Modules and folders of the package are found too,
        as they were while importing it imported them all.

    Returns
    -------
    callable
        Imports what is asked for by name, and leaves it in the package; AttributeError if it has
        no such name.

    Examples
    --------
    >>> find = import_later("recbias", {"Protocol": "recbias.protocol.protocol"})
    >>> find("Protocol").__name__, find("errors").__name__
    ('Protocol', 'recbias.errors')
    """

    def find(name: str) -> Any:
        if name in homes:
            found = getattr(importlib.import_module(homes[name]), name)
        elif not name.startswith("__") and find_spec(f"{package}.{name}") is not None:
            found = importlib.import_module(f"{package}.{name}")
        else:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        setattr(sys.modules[package], name, found)
        return found

    return find
