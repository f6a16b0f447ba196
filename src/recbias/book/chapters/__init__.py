"""A folder for each chapter, named like its topic.

In each, `setup` says what the experiment is, `figures` has a function for each figure of the page,
`exercises` checks answers; where there are such, `checks` says what is tried on data, `tables` what
is shown in tables. Other modules hold what the chapter alone computes. A chapter names ``CHAPTER``
and ``FUNCTIONS``, by which `recbias.claims.topics` finds it, and ends with `import_makers`, which
collects what its notebook calls: its ``measure``.
"""

import importlib
import pkgutil
from collections.abc import Iterable
from types import SimpleNamespace

from recbias.experiment.makers import makers_of

__all__ = ["import_makers"]

_DRAWN = ("exercises", "figures")
"""How modules of a chapter begin that make no results, and need what draws and typesets."""


def import_makers(package: str, path: Iterable[str]) -> SimpleNamespace:
    """Import all modules of a chapter, and collect the makers in them by name."""
    importlib.import_module("recbias.book.predictions")  # makes results of several chapters
    for module in pkgutil.iter_modules(path):
        if not module.name.startswith(_DRAWN):
            importlib.import_module(f"{package}.{module.name}")
    return makers_of(importlib.import_module(f"{package}.setup").CHAPTER)
