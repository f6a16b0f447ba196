"""Names of worlds: ``world(relation=-0.5,skew=0.7)`` says all that decides it, and prints back.

A world is one of three kinds. It has *preferences*, unless the name has ``alpha`` (popularity by a
power law) or ``counts`` (those of a real data set), which make it free of preferences.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from recbias.errors import ConfigError, unknown_name

_WORLD = re.compile(r"world\((.*)\)", re.DOTALL)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)
_WHOLE = re.compile(r"\d{1,18}")
_SIZES = (10, 10_000_000)
_LARGEST_SEED = 10**15

STAR_SHARES = (0.061, 0.114, 0.271, 0.342, 0.212)
"""Expected shares of one to five stars among the observed ratings: those of MovieLens 100K."""

_ML_1M = (56_174, 107_557, 261_197, 348_971, 226_310)

STARS: Mapping[str, tuple[float, ...]] = {
    "ml-100k": STAR_SHARES,
    "ml-1m": tuple(n_each / sum(_ML_1M) for n_each in _ML_1M),
}
"""Shares of one to five stars by data set; of MovieLens 1M as its publisher's file has them."""


def _number(
    least: float, most: float, *, above: bool = False, default: Any = dataclasses.MISSING
) -> Any:  # so that fields are declared with the types of their values
    """Declare an option that is a number from `least`, or above it, to `most`."""
    return field(default=default, metadata={"least": least, "most": most, "above": above})


@dataclass(frozen=True, kw_only=True)
class WorldOptions:
    """What all kinds of worlds share: options that print as a name, in the order of the fields.

    Options that equal their default are left out.

    Raises
    ------
    ConfigError
        If an option is out of its range; the message names it.
    """

    def __post_init__(self) -> None:
        for option in dataclasses.fields(self):
            value = getattr(self, option.name)
            if "least" in option.metadata and value is not None:
                object.__setattr__(self, option.name, self._checked(option, value))

    @staticmethod
    def _checked(option: dataclasses.Field[Any], value: Any) -> Any:
        least, most = option.metadata["least"], option.metadata["most"]
        is_whole = option.type.startswith("int")
        fits = isinstance(value, int if is_whole else int | float) and not isinstance(value, bool)
        if fits and least <= value <= most and not (option.metadata["above"] and value == least):
            # Adding 0 turns -0.0 into 0.0: one world, one name.
            return value if is_whole else float(value) + 0.0
        kind = "a whole number" if is_whole else "a number"
        start = "above" if option.metadata["above"] else "from"
        raise ConfigError(
            f"world(...): {option.name} is {value!r}, expected {kind} {start} {least:g} to {most:g}"
        )

    def __str__(self) -> str:
        options = [
            f"{option.name}={_text(value)}"
            for option in dataclasses.fields(self)
            if (value := getattr(self, option.name)) != option.default
        ]
        return f"world({','.join(options)})"


@dataclass(frozen=True, kw_only=True)
class PreferenceOptions(WorldOptions):
    """Options of a world with preferences; see `recbias.data.simulation.preference_world`.

    Parameters
    ----------
    relation : float
        Spearman correlation over items, from -1 to 1, of the expected number of ratings and the
        true share of users who like the item.
    skew : float
        Gini coefficient of the expected numbers of ratings of the items, from 0.
    users, items : int
        Size; the defaults are those of MovieLens 100K.
    density : float
        Expected share of all pairs that are observed, at most 0.1.
    liked : int
        The smallest number of stars that says liking, from 2 to 5.
    choice : float
        How much more likely users rate what they will like, from 0 to 2, as a factor of what
        `make_world` does. With 0 they choose blindly: what is rated follows from how active the
        user and how popular the item is, and from nothing else.
    seed : int
        Other seeds give other worlds.

    Examples
    --------
    >>> print(PreferenceOptions(skew=0.7, relation=-0.5, seed=1))
    world(relation=-0.5,skew=0.7)
    """

    relation: float = _number(-1, 1, default=0.8)
    skew: float = _number(0, 1, default=0.65)
    users: int = _number(*_SIZES, default=943)
    items: int = _number(*_SIZES, default=1682)
    density: float = _number(0, 0.1, above=True, default=0.063)
    liked: int = _number(2, 5, default=4)
    choice: float = _number(0, 2, default=1)
    seed: int = _number(0, _LARGEST_SEED, default=1)


@dataclass(frozen=True, kw_only=True)
class PowerLawOptions(WorldOptions):
    """Options of a world without preferences; see `recbias.data.simulation.power_law_world`.

    Parameters
    ----------
    alpha : float
        Exponent of the power law, from 0 (all items alike) to 10.
    offset : float, optional
        Ranks that are added before the power; by default 317 for 3,706 items and in proportion,
        which fits MovieLens 1M at exponent 1.4.
    least : float
        Ratings that every item has before the power law shares out the rest.
    users, items, density, seed
        As in `PreferenceOptions`; the density may be anything up to 1.
    ratings : int, optional
        How many ratings there are, neither more nor less, whatever the density; none = as many as
        the density gives, up to what rounding the items one by one brings.
    stars : str
        The data set whose shares of one to five stars are drawn from, a name of
        `recbias.data.simulation.STARS`.

    Examples
    --------
    >>> print(PowerLawOptions(alpha=1.4, users=500))
    world(alpha=1.4,users=500)
    """

    alpha: float = _number(0, 10)
    offset: float | None = _number(0, 1e9, default=None)
    least: float = _number(0, 1e9, default=0.0)
    users: int = _number(*_SIZES, default=943)
    items: int = _number(*_SIZES, default=1682)
    density: float = _number(0, 1, above=True, default=0.063)
    seed: int = _number(0, _LARGEST_SEED, default=1)
    ratings: int | None = _number(1, 10**12, default=None)
    stars: str = "ml-100k"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.stars not in STARS:
            raise unknown_name("data set with known shares of stars", self.stars, STARS)
        n_ratings, pairs = self.ratings, self.users * self.items
        if n_ratings is not None and not self.items <= n_ratings <= pairs:
            raise ConfigError(
                f"world(...): ratings is {n_ratings}, expected one for each item at least and "
                f"one for each pair at most, {self.items} to {pairs}"
            )
        mean = self.density * self.users if n_ratings is None else n_ratings / self.items
        if self.least > mean:
            raise ConfigError(
                f"world(...): least is {self.least:g}, expected at most the mean of the items, "
                f"{mean:g} ratings"
            )


@dataclass(frozen=True, kw_only=True)
class CountOptions(WorldOptions):
    """Options of a world with the counts of a data set; see `recbias.data.simulation.count_world`.

    Parameters
    ----------
    counts : str
        Name of the data set.
    seed : int
        As in `PreferenceOptions`.

    Examples
    --------
    >>> print(CountOptions(counts="ml-1m", seed=3))
    world(counts=ml-1m,seed=3)
    """

    counts: str
    seed: int = _number(0, _LARGEST_SEED, default=1)


def is_world(name: str) -> bool:
    """Tell whether a text means to be the name of a world, right or wrong.

    Parameters
    ----------
    name : str
        Any text, e.g. a path.

    Returns
    -------
    bool
        True if it starts with ``world(`` and is not the path of a table.

    Examples
    --------
    >>> is_world("world(skew=0.7)"), is_world("world(skew=0.7"), is_world("world(1).csv")
    (True, True, False)
    """
    return name.startswith("world(") and not any(part in name for part in (").", "/", "\\"))


def parse_world(name: str) -> PreferenceOptions | PowerLawOptions | CountOptions:
    """Read the name of a world.

    Parameters
    ----------
    name : str
        ``"world(OPTION=VALUE,...)"``: options in any order, those with a default may be absent,
        blanks do not matter.

    Returns
    -------
    PreferenceOptions, PowerLawOptions or CountOptions
        What it says; printed, it is the name again, in one fixed form.

    Raises
    ------
    ConfigError
        If it has no such form, or an option is unknown, doubled, out of range, or of another kind
        of world.

    Examples
    --------
    >>> print(parse_world("world( seed=3, skew=0.70, liked=4 )"))
    world(skew=0.7,seed=3)
    >>> parse_world("world(counts=ml-1m)")
    CountOptions(counts='ml-1m', seed=1)
    """
    match = _WORLD.fullmatch(name.strip())
    if match is None:
        raise ConfigError(
            f"'{name}' is no world: expected world(OPTION=VALUE,...), e.g. "
            "world(relation=-0.5,skew=0.7,seed=3)"
        )
    values: dict[str, str] = {}
    for part in filter(None, map(str.strip, match[1].split(","))):
        option, equals, value = (text.strip() for text in part.partition("="))
        if not (option and equals and value):
            raise ConfigError(f"{name}: '{part}' is no option, expected OPTION=VALUE")
        if option in values:
            raise ConfigError(f"{name}: the option {option} is there twice; give it once")
        values[option] = value
    kind: type[PreferenceOptions] | type[PowerLawOptions] | type[CountOptions]
    if "counts" in values:
        kind, said = CountOptions, "option of a world with counts"
    elif "alpha" in values:
        kind, said = PowerLawOptions, "option of a world with alpha"
    else:
        kind, said = PreferenceOptions, "option of a world"
    declared = {option.name: option for option in dataclasses.fields(kind)}
    for option in values:
        if option not in declared:
            raise ConfigError(f"{name}: {unknown_name(said, option, declared)}")
    return kind(**_read(values, declared))


def _read(
    values: Mapping[str, str], declared: Mapping[str, dataclasses.Field[Any]]
) -> dict[str, Any]:
    """Turn texts into numbers where numbers are declared; wrong ones stay texts, to be refused."""
    read: dict[str, Any] = dict(values)
    for option, value in values.items():
        if declared[option].type.startswith("int") and _WHOLE.fullmatch(value):
            read[option] = int(value)
        elif declared[option].type.startswith("float") and _NUMBER.fullmatch(value):
            read[option] = float(value)
    return read


def _text(value: object) -> str:
    """Print a number with as many digits as bring the same number back, and no more."""
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)
