"""What a recommender is, and how one is named, parametrised and built.

A `Recommender` is anything with `fit` and `score`. A `System` is an algorithm together with its
parameters: a value that compares, hashes and travels as JSON, and a row of every table. The
package's own algorithms are dataclasses that derive from `Algorithm`, where their parameters are
checked once and in one way.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol, Self, TypeVar, runtime_checkable

import numpy as np
import numpy.typing as npt

from recbias.errors import ConfigError, ContractError, DataError, unknown_name
from recbias.ratings import Ratings

Parameter = str | int | float | bool
Coverage = Literal["all", "known items", "known pairs", "evidence"]

CHUNK_BYTES = 2**25
"""Bytes of float64 products held at once while scores are rounded to float32."""


@runtime_checkable
class Recommender(Protocol):
    """The contract of everything that can be evaluated.

    A class may say with an attribute `coverage` which pairs it promises a score for: ``"all"``;
    ``"known items"``, those with a training rating; ``"known pairs"``, whose user has one too; or
    ``"evidence"`` (what is assumed without the attribute), a part of the known pairs that the
    model decides.

    See Also
    --------
    recbias.testing.check_recommender : Checks a class of your own.
    """

    def fit(self, train: Ratings, *, rng: np.random.Generator | None = None) -> Self:
        """Learn from `train`, which stays as it is, and return self.

        Parameters
        ----------
        train : Ratings
            Training ratings; users and items of the vocabularies may be without any.
        rng : numpy.random.Generator, optional
            The only source of randomness; None draws a fresh one.
        """
        ...

    def score(self, users: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.float32]:
        """Score all items for some users.

        Parameters
        ----------
        users : integer array (m,)
            Dense user numbers.

        Returns
        -------
        float32 array (m, n_items)
            Larger is better; NaN where the model cannot tell, never infinite. Training items are
            scored like others: leaving them out is the evaluation's decision.
        """
        ...


class _Parameters(Mapping[str, Parameter]):
    """A mapping that cannot change, and hashes."""

    def __init__(self, items: Mapping[str, Parameter]) -> None:
        self._items = dict(items)

    def __getitem__(self, name: str) -> Parameter:
        return self._items[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return hash(tuple(sorted(self._items.items())))

    def __repr__(self) -> str:
        return repr(self._items)


@dataclass(frozen=True)
class System:
    """An algorithm with its parameters: what a row of a table stands for.

    Parameters
    ----------
    name : str
        Label in tables and figures.
    algorithm : str
        Name of the class, one of `algorithms`.
    parameters : mapping of str to str, int, float or bool
        Arguments of the class; afterwards *all* of them, defaults written out, so that a default
        that changes in a later version makes another system.
    n_seeds : int
        How many times to train with another seed where one run would leave too much to chance.

    Raises
    ------
    ConfigError
        If the algorithm or a parameter is unknown, or a value has the wrong type or is out of
        bounds.

    Examples
    --------
    >>> system = System("pLSA", "PLSA", {"n_topics": 10})
    >>> system.parameters
    {'n_topics': 10, 'n_iterations': 100, 'encoding': 'stars'}
    >>> system.build()
    PLSA(n_topics=10, n_iterations=100, encoding='stars')
    >>> system == System.from_dict(system.to_dict())
    True
    >>> System("pLSA", "PLSA", {"n_topic": 10})
    Traceback (most recent call last):
    recbias.errors.ConfigError: unknown parameter of PLSA 'n_topic': did you mean 'n_topics'? ...
    """

    name: str
    algorithm: str
    parameters: Mapping[str, Parameter] = dataclasses.field(default_factory=dict)
    n_seeds: int = 1

    def __post_init__(self) -> None:
        if isinstance(self.n_seeds, bool) or not isinstance(self.n_seeds, int) or self.n_seeds < 1:
            raise ConfigError(f"{self.name}: n_seeds is {self.n_seeds!r}, expected an integer >= 1")
        names = list(inspect.signature(algorithm(self.algorithm)).parameters)
        for name in self.parameters:
            if name not in names:
                raise unknown_name(f"parameter of {self.algorithm}", str(name), names)
        built = self.build()
        everything = {name: getattr(built, name) for name in names}
        object.__setattr__(self, "parameters", _Parameters(everything))

    def build(self) -> Recommender:
        """Return a new, unfitted recommender."""
        return algorithm(self.algorithm)(**self.parameters)

    def replace(self, name: str, **parameters: Parameter) -> System:
        """Return the system under another name, with some parameters changed.

        Parameters
        ----------
        name : str
            The new name.
        **parameters : str, int, float or bool
            The parameters that change.
        """
        return dataclasses.replace(self, name=name, parameters={**self.parameters, **parameters})

    def to_dict(self) -> dict[str, Any]:
        """Return the system as JSON-able values."""
        return {
            "name": self.name,
            "algorithm": self.algorithm,
            "parameters": dict(self.parameters),
            "n_seeds": self.n_seeds,
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> System:
        """Build the system that `to_dict` described.

        Raises
        ------
        ConfigError
            If a key is unknown or missing, besides the cases of the constructor.
        """
        keys = [field.name for field in dataclasses.fields(cls)]
        for key in record:
            if key not in keys:
                raise unknown_name("key of a system", str(key), keys)
        for key in ("name", "algorithm"):
            if key not in record:
                raise ConfigError(f"a system without '{key}': {dict(record)}")
        return cls(**record)


_ALGORITHMS: dict[str, type[Any]] = {}
_Class = TypeVar("_Class", bound=type[Any])


def register(recommender: _Class) -> _Class:
    """Make a class available to `System` under its name; use it as a decorator.

    The class keeps each argument of its constructor in an attribute of the same name.

    Parameters
    ----------
    recommender : class
        A `Recommender` whose arguments have defaults.

    Returns
    -------
    class
        The same class.

    Raises
    ------
    ConfigError
        If another class has the name already.
    """
    name = recommender.__name__
    known = _ALGORITHMS.setdefault(name, recommender)
    # A module that is loaded again, as in a notebook, defines its classes anew.
    if (known.__module__, known.__qualname__) != (recommender.__module__, recommender.__qualname__):
        raise ConfigError(f"algorithm '{name}' exists already, in {known.__module__}: rename yours")
    _ALGORITHMS[name] = recommender
    return recommender


def algorithm(name: str) -> type[Any]:
    """Look up a registered class.

    Parameters
    ----------
    name : str
        Name of the class.

    Raises
    ------
    ConfigError
        If no class has the name; the nearest one is named.

    Examples
    --------
    >>> algorithm("UserkNN")
    Traceback (most recent call last):
    recbias.errors.ConfigError: unknown algorithm 'UserkNN': did you mean 'UserKNN'? ...
    """
    if name not in _ALGORITHMS:
        raise unknown_name("algorithm", str(name), algorithms())
    return _ALGORITHMS[name]


def algorithms() -> list[str]:
    """Return the names of all registered classes, sorted."""
    return sorted(_ALGORITHMS)


def parameter(
    default: Parameter,
    *,
    minimum: float | None = None,
    above: float | None = None,
    choices: tuple[str, ...] = (),
) -> Any:
    """Declare a field of an `Algorithm`: its default, and the values that it may have.

    Parameters
    ----------
    default : str, int, float or bool
        Its type is the parameter's type.
    minimum : float, optional
        The smallest value.
    above : float, optional
        A bound that is itself not allowed.
    choices : tuple of str
        All values, where there are few.
    """
    return dataclasses.field(
        default=default, metadata={"minimum": minimum, "above": above, "choices": choices}
    )


def _checked(owner: str, field: dataclasses.Field[Any], value: Any) -> Parameter:
    """Return the value in the type of the field's default, or say what it should have been."""
    minimum, above, choices = (field.metadata[key] for key in ("minimum", "above", "choices"))
    wanted: type[Any] = type(field.default)
    kinds: dict[type[Any], tuple[Any, str]] = {
        bool: (bool | np.bool_, "True or False"),
        int: (int | np.integer, "an integer"),
        float: (int | float | np.integer | np.floating, "a finite number"),
        str: (str, "text"),
    }
    kind, expected = kinds[wanted]
    if choices:
        expected = f"one of {', '.join(map(repr, choices))}"
    if minimum is not None:
        expected += f" >= {minimum:g}"
    if above is not None:
        expected += f" > {above:g}"
    fits = (
        isinstance(value, kind)
        and (wanted is bool or not isinstance(value, bool | np.bool_))
        and (wanted is not float or math.isfinite(value))
        and (not choices or value in choices)
        and (minimum is None or value >= minimum)
        and (above is None or value > above)
    )
    if not fits:
        raise ConfigError(f"{owner}: {field.name} is {value!r}, expected {expected}")
    converted: Parameter = wanted(value)
    return converted


@dataclass(eq=False)
class Algorithm(ABC):
    """Base of the package's algorithms: parameters that are checked, and common refusals.

    A subclass is a dataclass whose fields are made with `parameter`; it fills in `_fit` and
    `_score`, and says with `coverage` for which pairs it has a score.
    """

    coverage: ClassVar[Coverage]

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = _checked(type(self).__name__, field, getattr(self, field.name))
            if field.name == "encoding":
                value = str(Encoding.parse(str(value)))
            setattr(self, field.name, value)

    def fit(self, train: Ratings, *, rng: np.random.Generator | None = None) -> Self:
        """Learn from `train`; see `Recommender.fit`.

        Raises
        ------
        DataError
            If there are no ratings.
        ConfigError
            If a parameter cannot work with these ratings.
        """
        if len(train) == 0:
            raise DataError(f"{type(self).__name__}: no training ratings in '{train.name}'")
        self._known_user = train.user_counts() > 0
        self._known_item = train.item_counts() > 0
        self._fit(train, np.random.default_rng() if rng is None else rng)
        return self

    def score(self, users: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.float32]:
        """Score all items for `users`; see `Recommender.score`.

        Raises
        ------
        ContractError
            If the model is not fitted, or `users` are not numbers of its users.
        """
        name = type(self).__name__
        if not hasattr(self, "_known_user"):
            raise ContractError(f"{name}: score before fit")
        users = np.asarray(users)
        n_users = len(self._known_user)
        if users.ndim != 1 or users.dtype.kind not in "iu":
            raise ContractError(f"{name}: users are no array of integers: {users!r}")
        if len(users) and not 0 <= users.min() <= users.max() < n_users:
            raise ContractError(f"{name}: a user outside 0..{n_users - 1} was asked for")
        scores = self._score(users.astype(np.int64))
        if self.coverage != "all":
            scores[:, ~self._known_item] = np.nan
        if self.coverage in ("known pairs", "evidence"):
            scores[~self._known_user[users]] = np.nan
        return scores

    @abstractmethod
    def _fit(self, train: Ratings, rng: np.random.Generator) -> None:
        """Learn; there is at least one rating."""

    @abstractmethod
    def _score(self, users: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        """Return a fresh block; rows and columns without training data are masked afterwards."""


_MERGE = re.compile(r"stars<([0-9.]+)=([0-9.]+)")


@dataclass(frozen=True)
class Encoding:
    """How a model reads ratings; which one it uses can matter more than the algorithm.

    Parameters
    ----------
    binary : bool
        Every rating counts 1.
    merge_below : float
        Ratings below this count `merged_value`; where a source does not tell its low ratings
        apart, this shows what hangs on the value that they are given.
    merged_value : float
        What they count.

    Examples
    --------
    >>> stars = np.array([1.0, 3.0, 4.0, 5.0])
    >>> Encoding.parse("stars<4=2").values(stars)
    array([2., 2., 4., 5.])
    >>> Encoding.parse("binary-all").values(stars)
    array([1., 1., 1., 1.])
    >>> str(Encoding.parse("stars<4.0=2.50"))
    'stars<4=2.5'
    """

    binary: bool = False
    merge_below: float = -math.inf
    merged_value: float = 0.0

    def __str__(self) -> str:
        if self.binary:
            return "binary-all"
        if self.merge_below == -math.inf:
            return "stars"
        threshold, value = (
            np.format_float_positional(number, trim="-")
            for number in (self.merge_below, self.merged_value)
        )
        return f"stars<{threshold}={value}"

    @classmethod
    def parse(cls, text: str) -> Encoding:
        """Read ``"stars"``, ``"binary-all"`` or ``"stars<THRESHOLD=VALUE"``.

        Raises
        ------
        ConfigError
            If `text` is none of these, or VALUE is not between 0 and THRESHOLD.
        """
        if text == "stars":
            return cls()
        if text == "binary-all":
            return cls(binary=True)
        expected = "expected 'stars', 'binary-all' or e.g. 'stars<4=1'"
        found = _MERGE.fullmatch(text)
        try:
            threshold, value = map(float, found.groups()) if found else (0.0, 0.0)
        except ValueError:
            threshold = value = 0.0
        if not 0 < value < threshold:
            raise ConfigError(f"encoding is {text!r}: {expected}, with 0 < value < threshold")
        return cls(merge_below=threshold, merged_value=value)

    def values(self, stars: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return what ratings count for the model.

        Parameters
        ----------
        stars : float64 array (n,)
            Ratings as given.

        Returns
        -------
        float64 array (n,)
            A new array.
        """
        if self.binary:
            return np.ones(len(stars))
        return np.where(stars < self.merge_below, self.merged_value, stars)


def encoded_values(
    model: str, encoding: str, train: Ratings, *, minimum: float = -math.inf
) -> npt.NDArray[np.float64]:
    """Return the training values of a model that may be unable to use all numbers.

    Parameters
    ----------
    model : str
        Name of the algorithm, for the message.
    encoding : str
        As for `Encoding.parse`.
    train : Ratings
        Training ratings.
    minimum : float
        The smallest value that the model can use.

    Returns
    -------
    float64 array (n,)
        One value per row of `train`.

    Raises
    ------
    DataError
        If a value is below `minimum`.
    """
    values = Encoding.parse(encoding).values(train.value)
    if values.min() < minimum:
        row = int(np.argmin(values))
        raise DataError(
            f"{model}: user {train.user_ids[train.user[row]]} rates item "
            f"{train.item_ids[train.item[row]]} {values[row]:g} in '{train.name}', "
            f"but the model needs ratings >= {minimum:g}\nuse encoding 'binary-all', or shift them"
        )
    return values


def factor_scores(
    user_factors: npt.NDArray[np.floating[Any]], item_factors: npt.NDArray[np.floating[Any]]
) -> npt.NDArray[np.float32]:
    """Return the products of user and item vectors, rounded once from float64.

    The bits of a float32 product depend on the shape of the block in which it is computed, and on
    threads; a float64 product has the same weakness nine digits further down, where rounding
    all but removes it.

    Parameters
    ----------
    user_factors : array (m, n_factors)
        Vectors of the users of a block.
    item_factors : array (n_items, n_factors)
        Vectors of all items.

    Returns
    -------
    float32 array (m, n_items)
        A new array.
    """
    rows, columns = user_factors.astype(np.float64), item_factors.astype(np.float64).T
    scores = np.empty((len(rows), columns.shape[1]), dtype=np.float32)
    step = max(1, CHUNK_BYTES // (8 * columns.shape[1]))
    for start in range(0, len(rows), step):
        scores[start : start + step] = rows[start : start + step] @ columns
    return scores


def by_item(
    train: Ratings,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.intp]]:
    """Return where each item's ratings are: the other reading direction of the sparse table.

    Parameters
    ----------
    train : Ratings
        Ratings.

    Returns
    -------
    pointers : int64 array (n_items + 1,)
        Item i has the places ``pointers[i]:pointers[i + 1]`` of `rows`.
    rows : int array (n,)
        Rows of `train`, by item and then by user.
    """
    pointers = np.concatenate(([0], np.cumsum(train.item_counts())))
    return pointers, np.argsort(train.item, kind="stable")
