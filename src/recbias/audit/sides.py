"""What stands on either side of "A beats B": scores in a folder, a class, a system by its name."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path
from typing import Any

from recbias.errors import ConfigError, did_you_mean
from recbias.recommenders import System, as_system
from recbias.recommenders.base import algorithms
from recbias.recommenders.elsewhere import FromScores, split_record
from recbias.recommenders.line_ups import line_up, line_up_names, systems_called

__all__ = ["folds_of", "is_scores", "is_whole", "side"]


def side(text: str, *, min_rating: float = 4.0) -> System:
    """Read one side: ``[NAME=]PATH`` of scores, ``[NAME=]MODULE:CLASS``, or the name of a system.

    Parameters
    ----------
    text
        What was given.
    min_rating
        From which rating an item is liked, which systems of line-ups learn from.

    Raises
    ------
    ConfigError
        If it is none of these; says what was tried. If scores or a class of the reader's own are
        called as a system of the package is.
    MissingData
        If a folder has no scores of folds.

    Examples
    --------
    >>> side("Popularity").name, side("kNN=UserKNN").name
    ('Popularity', 'kNN')
    """
    called, what = _parted(text)
    if not what or (called is not None and not called):
        raise ConfigError(f"{text!r}: expected [NAME=]PATH, [NAME=]MODULE:CLASS or a system's name")
    if _is_path(what):
        found = as_system(FromScores(what))
    elif ":" in what:
        imported = _imported(what)
        try:
            found = as_system(imported)
        except ConfigError as error:
            raise ConfigError(f"{what}: {error}") from None
    elif what in algorithms():
        found = System(what, what)
    else:
        found = _of_line_ups(what, min_rating)
    if called is None:
        return found
    if (_is_path(what) or ":" in what) and (called in algorithms() or systems_called(called)):
        raise ConfigError(
            f"{text}: {called} is a system of the package, and this is another one\n"
            f"name yours so that they are told apart, as in '{called} (mine)={what}'"
        )
    return found.replace(called)


_CLASS = re.compile(r"[^\W\d][\w.]*:[^\W\d][\w.]*")


def _parted(text: str) -> tuple[str | None, str]:
    """Part ``NAME=REST``; a path may have a ``=`` of its own, as ``runs/lr=0.1``."""
    called, equals, rest = text.partition("=")
    if not equals or Path(text).exists() or "/" in called:
        return None, text
    return called, rest


def _is_path(what: str) -> bool:
    path = Path(what)
    if path.exists() or "{fold}" in what or "/" in what:
        return True
    return bool(path.suffix) and not _CLASS.fullmatch(what)


def _imported(what: str) -> object:
    module, _, name = what.partition(":")
    here = str(Path.cwd())
    if here not in sys.path:  # as `python -m` has it, and a script beside the class
        sys.path.insert(0, here)
    try:
        found: object = importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"{what}: no module {error.name}\ngive the command in the folder that has it"
        ) from None
    except Exception as error:  # whatever the module does as it is imported
        raise ConfigError(
            f"{what}: module {module} cannot be imported: {type(error).__name__}: {error}"
        ) from error
    for part in name.split("."):
        if not hasattr(found, part):
            raise ConfigError(f"{what}: module {module} has no {name}")
        found = getattr(found, part)
    return found


def _of_line_ups(name: str, min_rating: float) -> System:
    found = systems_called(name, min_rating=min_rating)
    if found:
        return next(iter(found.values()))
    known = dict.fromkeys(each.name for line in line_up_names() for each in line_up(line))
    meant = did_you_mean(name, [*algorithms(), *known])
    raise ConfigError(
        f"{name}: neither a file or folder of scores, nor MODULE:CLASS, nor a system{meant}\n"
        "recbias systems lists what there is"
    )


def is_scores(system: System) -> bool:
    """Tell whether a system's scores were computed elsewhere, so that it cannot be trained."""
    return system.algorithm == FromScores.__name__


def is_whole(system: System) -> bool:
    """Tell whether a system has a score for every item, rather than a list that was cut off."""
    built = system.build() if is_scores(system) else None
    return not (isinstance(built, FromScores) and built.is_list)


def folds_of(*texts: str | None) -> dict[str, Any]:
    """Read what ``recbias data split`` says of the folds that sides of scores belong to."""
    paths = [_parted(text)[1] for text in texts if text]
    records = (split_record(path) for path in paths if _is_path(path))
    return next(filter(None, records), {})
