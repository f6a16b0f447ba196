"""The few exceptions of the package: what a reader meets when something is wrong.

Every message names the place, the value found, what was expected and one remedy, in at most three
lines. The command line prints the message alone and exits with code 2.
"""

from __future__ import annotations

import difflib
import errno
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Numbers of the errors of a disk that is full, a quota that is used up, a limit on files."""

_LONGEST_LINE = 2_000


def shown(text: str) -> str:
    r"""Write a text that may come from data so that a terminal shows it, and obeys nothing in it.

    Signs without a form of their own, such as those that move the cursor or turn the direction of
    writing, become escapes; of a line of more than 2,000 signs both ends are left.

    Examples
    --------
    >>> print(shown("a user\x1b[2J and \u202eanother"))
    a user\x1b[2J and \u202eanother
    >>> len(shown("user " * 10**6))
    2027
    """
    return "\n".join(map(_shown_line, text.split("\n")))


def _shown_line(line: str) -> str:
    if len(line) > _LONGEST_LINE:
        half = _LONGEST_LINE // 2
        line = f"{line[:half]} ... ({len(line):,} signs) ... {line[-half:]}"
    if line.isprintable():
        return line
    return "".join(
        sign
        if sign.isprintable() or sign == "\t" or unicodedata.category(sign) == "Zs"
        else ascii(sign)[1:-1]
        for sign in line
    )


class RecbiasError(Exception):
    """Base of all errors that a person can mend by following the message."""

    def __str__(self) -> str:
        return shown(super().__str__())


class DataError(RecbiasError):
    """Ratings that cannot be what they claim to be, or that a step has nothing to work on."""


class MissingData(DataError):  # noqa: N818 - the name says what is wrong, as KeyError's siblings do
    """Files that are not where they were looked for; the message says how to get them."""


class ConfigError(RecbiasError):
    """A name, option or parameter that has no meaning or does not fit the data."""


class TrainingError(RecbiasError):
    """No system of an experiment can be trained on its data; the message says why each cannot."""


class Unfit(str):
    """Why a model could not be trained on some ratings: decided by them and by what it is."""


class ScoreError(RecbiasError):
    """A recommender returned an infinite score, or none where it promised one."""


class ContractError(RecbiasError):
    """A recommender or metric broke the interface: shape, dtype, or a changed argument."""


class StoreError(RecbiasError):
    """A stored artefact that is damaged, or was written by another version or for another key."""


class NoSpaceError(RecbiasError):
    """A file that did not fit on the disk; nothing of it is left there."""

    exit_code = 1


class DamagedError(StoreError):
    """A file that is not what was written under its name: it can be computed again."""


class DataWarning(UserWarning):
    """Data that can be used, but probably not as its owner thinks."""


class StoreWarning(UserWarning):
    """A stored artefact that was damaged, and computed again."""


def nearest(name: str, valid: Iterable[str], *, cutoff: float = 0.6) -> str | None:
    """Find the name that was probably meant: one of the same letters, or else the most alike.

    Parameters
    ----------
    name : str
        What was typed; its case does not matter.
    valid : iterable of str
        The names that exist.
    cutoff : float
        How alike a name has to be, from 0 to 1.

    Returns
    -------
    str or None
        None if no name is alike.

    Examples
    --------
    >>> nearest("USRE", ["item", "user"]), nearest("xyz", ["item", "user"])
    ('user', None)
    """
    lowered = {candidate.lower(): candidate for candidate in valid}
    turned = [each for each in lowered if sorted(each) == sorted(name.lower())]
    near = turned or difflib.get_close_matches(name.lower(), lowered, n=1, cutoff=cutoff)
    return lowered[near[0]] if near else None


def did_you_mean(name: str, valid: Iterable[str], otherwise: str = "") -> str:
    """Write the part of a message that follows a wrong name and suggests the nearest one.

    Parameters
    ----------
    name, valid
        As of `nearest`.
    otherwise : str
        What stands there if no name is alike.

    Returns
    -------
    str

    Examples
    --------
    >>> print(f"no column 'usr'{did_you_mean('usr', ['user', 'item'])}")
    no column 'usr': did you mean 'user'?
    """
    near = nearest(name, valid)
    return otherwise if near is None else f": did you mean '{near}'?"


def unknown_name(
    kind: str, name: str, valid: Iterable[str], *, meant: str | None = None
) -> ConfigError:
    """Build the error for a name that is not known, with the nearest one that is.

    Parameters
    ----------
    kind : str
        What is being named, e.g. ``"dataset"``.
    name : str
        The name that was given.
    valid : iterable of str
        The names that exist, in the order in which they are to be shown.
    meant : str, optional
        The one that is suggested, if more is known than how names are spelled.

    Returns
    -------
    ConfigError
        Not raised here, so that the caller's ``raise`` line shows what happens.

    Examples
    --------
    >>> print(unknown_name("dataset", "ml1m", ["ml-1m", "ml-100k"]))
    unknown dataset 'ml1m': did you mean 'ml-1m'? known: ml-1m, ml-100k
    >>> print(unknown_name("metric", "nDGC", ["nDCL", "nDCG"]))
    unknown metric 'nDGC': did you mean 'nDCG'? known: nDCL, nDCG
    >>> print(unknown_name("metric", "zzz", ["P", "R"]))
    unknown metric 'zzz'; known: P, R
    """
    names = list(valid)
    hint = did_you_mean(name, names, ";") if meant is None else f": did you mean '{meant}'?"
    return ConfigError(f"unknown {kind} '{name}'{hint} known: {', '.join(names)}")


@contextmanager
def needs_the_extra(name: str, *, what: str = "this command") -> Iterator[None]:
    """Say how packages are installed that something needs beside those of the library.

    Parameters
    ----------
    name : str
        Of the extra.
    what : str
        What needs them, as the message begins.

    Raises
    ------
    ConfigError
        In place of a ModuleNotFoundError of the block.

    Examples
    --------
    >>> with needs_the_extra("book", what="plot"):
    ...     import no_such_package
    Traceback (most recent call last):
    recbias.errors.ConfigError: plot needs the package no_such_package, which is not installed
    install the extra 'book': pip install 'recbias[book]', in a clone: pip install -e '.[book]'
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"{what} needs the package {error.name}, which is not installed\n"
            f"install the extra '{name}': pip install 'recbias[{name}]', in a clone: "
            f"pip install -e '.[{name}]'"
        ) from None
