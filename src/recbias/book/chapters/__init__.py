"""A folder for each chapter, named like its topic.

In each, `setup` says what the experiment is, `figures` has a function for each figure of the page,
`exercises` checks answers; where there are such, `checks` says what is tried on data, `tables` what
is shown in tables. Other modules hold what the chapter alone computes. A chapter names ``CHAPTER``
and ``FUNCTIONS``, by which `recbias.claims.topics` finds it, and ends with `import_makers`.
"""

import importlib
import pkgutil
from collections.abc import Iterable

__all__ = ["import_makers"]

_DRAWN = ("exercises", "figures", "plots")
"""Modules of a chapter that make no results, and need what draws and typesets."""


def import_makers(package: str, path: Iterable[str]) -> None:
    """Import all modules of a chapter, and so register the makers in them."""
    importlib.import_module("recbias.book.predictions")  # makes results of several chapters
    for module in pkgutil.iter_modules(path):
        if module.name not in _DRAWN:
            importlib.import_module(f"{package}.{module.name}")
