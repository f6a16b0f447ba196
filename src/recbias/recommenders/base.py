"""What a recommender is, and how one is named, parametrised and built.

A `Recommender` is anything with `fit` and `score`. A `System` is an algorithm together with its
parameters: a value that compares, hashes and travels as JSON, and a row of every table. The
package's own algorithms are dataclasses that derive from `Algorithm`, where their parameters are
checked once and in one way.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import inspect
import json
import math
import multiprocessing
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol, Self, TypeVar, runtime_checkable

import numpy as np
import numpy.typing as npt
from tqdm import tqdm

from recbias._system.memory import LARGEST_TABLE, largest_table, row_blocks
from recbias.data.ratings import NUMBER, Ratings, RatingScale, exact
from recbias.errors import ConfigError, ContractError, DataError, did_you_mean, unknown_name
from recbias.recommenders.definitions import defining_file, session_source

Parameter = str | int | float | bool
Coverage = Literal["all", "known items", "known pairs", "evidence"]
Trend = Literal["falls", "rises", "noisy"]
OnIteration = Callable[[int, float], None]

CHUNK_BYTES = 2**25
"""Bytes of float64 products held at once while scores are rounded to float32."""

PROGRESS_DELAY = 3.0
"""Seconds of training after which a progress bar appears."""

_LARGEST = 1e15
"""A larger parameter means that training has run away; products of smaller ones fit float32."""


@runtime_checkable
class Recommender(Protocol):
    """The contract of everything that can be evaluated.

    A class may say with an attribute `coverage` which pairs it promises a score for: ``"all"``;
    ``"known items"``, those with a training rating; ``"known pairs"``, whose user has one too; or
    ``"evidence"`` (what is assumed without the attribute), a part of the known pairs that the
    model decides.

    With an attribute `deterministic` that is True it may say that its scores do not depend on `rng`
    for the parameters it was built with. Without it they are taken to, so that comparisons train it
    under several seeds (see `with_seeds`).

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


@functools.cache
def argument_names(of: type[Any]) -> list[str]:
    """Name the arguments of a class, without ``*args`` and ``**kwargs``, which have no names."""
    known = inspect.signature(of).parameters.values()
    return [
        argument.name
        for argument in known
        if argument.kind not in (argument.VAR_POSITIONAL, argument.VAR_KEYWORD)
    ]


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
        names = argument_names(algorithm(self.algorithm))  # type: ignore[arg-type]
        for name in self.parameters:
            if name not in names:
                raise unknown_name(f"parameter of {self.algorithm}", str(name), names)
        built = self.build()
        for name in names:
            if not hasattr(built, name):
                raise ContractError(
                    f"{self.algorithm}: keeps no attribute {name!r}\nits __init__ has to keep each "
                    f"argument under its name: self.{name} = {name}"
                )
        everything = {name: getattr(built, name) for name in names}
        object.__setattr__(self, "parameters", _Parameters(everything))

    def build(self) -> Recommender:
        """Return a new, unfitted recommender."""
        return algorithm(self.algorithm)(**self.parameters)

    @property
    def random_training(self) -> bool:
        """Whether another training seed may give other scores.

        So it is unless the class says that it is `deterministic`, see `Recommender`.

        Examples
        --------
        >>> System("pLSA", "PLSA").random_training, System("kNN", "UserKNN").random_training
        (True, False)
        """
        return not getattr(self.build(), "deterministic", False)

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

    def identity(self) -> dict[str, Any]:
        """Return what decides the scores of the system, besides data and seed, as JSON-able values.

        Parameters that have their defaults are left out, so that one that is added to a class later
        moves no identity. That the meaning of those left out stays is what a class's `revision`
        stands for; a class from outside the package is known by its source. What a class lists in
        `not_in_identity` is never in it.

        Returns
        -------
        dict
            ``algorithm``, ``revision`` and ``parameters``; for a class from outside the package
            also ``source`` (see `source_digest`), and ``version`` if the class declares one.

        Raises
        ------
        ContractError
            If the class is from outside and has neither source nor version.

        Examples
        --------
        >>> System("pLSA", "PLSA", {"n_topics": 10, "n_iterations": 100}).identity()
        {'algorithm': 'PLSA', 'revision': 1, 'parameters': {'n_topics': 10}}
        """
        defined = algorithm(self.algorithm)
        defaults = {
            name: known.default for name, known in inspect.signature(defined).parameters.items()
        }
        unused = getattr(defined, "not_in_identity", ())
        identity: dict[str, Any] = {
            "algorithm": self.algorithm,
            "revision": int(getattr(defined, "revision", 1)),
            # A number of another type is another value: to a class from outside it may matter.
            "parameters": {
                name: value
                for name, value in self.parameters.items()
                if name not in unused
                and (type(value) is not type(defaults[name]) or value != defaults[name])
            },
        }
        source, version = source_digest(self.algorithm), declared_version(self.algorithm)
        if source is not None:
            identity["source"] = source
        if version is not None:
            identity["version"] = version
        return identity

    @property
    def depends_on_processor(self) -> str:
        """Why its scores are known to differ between processors; empty for most systems."""
        return str(getattr(algorithm(self.algorithm), "depends_on_processor", ""))

    def stream_label(self) -> str:
        """Name the random stream that the system is trained with.

        All parameters are in it, but those that were added to a class later and have their default:
        adding one gives no system other random numbers.

        Returns
        -------
        str
            JSON.
        """
        fields = getattr(algorithm(self.algorithm), "__dataclass_fields__", {})
        added = {name: f.default for name, f in fields.items() if f.metadata.get("added", False)}
        unused = getattr(algorithm(self.algorithm), "not_in_identity", ())
        parameters = {
            name: value
            for name, value in self.parameters.items()
            if name not in unused and (name not in added or value != added[name])
        }
        return json.dumps(
            {"algorithm": self.algorithm, **parameters},
            sort_keys=True,
            separators=(",", ":"),
            allow_nan=False,
        )

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
_SOURCES: dict[str, str] = {}
_UNLISTED: set[str] = set()
_Class = TypeVar("_Class", bound=type[Any])


def register(recommender: _Class) -> _Class:
    """Make a class available to `System` under its name; use it as a decorator.

    The class keeps each argument of its constructor in an attribute of the same name. Of a class
    from outside the package, the file that defines it is read here: its digest tells the scores of
    one state of the code from those of another. A class that calls code of other files, which may
    change as well, says with an attribute `version` (text) in which state it is.

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
    _SOURCES.pop(name, None)
    if not is_own(recommender) and (source := defining_file(recommender)) is not None:
        _SOURCES[name] = hashlib.sha256(source).hexdigest()
    return recommender


def adopt(recommender: type[Any], name: str, source: str | None, *, listed: bool = True) -> None:
    """Make a class known that another process has registered, with the digest of its source.

    Parameters
    ----------
    recommender : class
        The same class, imported or rebuilt here.
    name, source : str, str or None
        As they are in the other process.
    listed : bool
        Whether `algorithms` names it.
    """
    _ALGORITHMS[name] = recommender
    if not listed:
        _UNLISTED.add(name)
    _SOURCES.pop(name, None)
    if source is not None:
        _SOURCES[name] = source


def is_own(recommender: type[Any]) -> bool:
    """Tell whether a class is one of the package's."""
    return recommender.__module__.partition(".")[0] == __name__.partition(".")[0]


def source_digest(name: str) -> str | None:
    """Return the SHA-256 of the file that defines a class from outside the package.

    Parameters
    ----------
    name : str
        Name of a registered class.

    Returns
    -------
    str or None
        As the file was when the class was registered; of a class that was typed into a session, of
        the text of the class and of all that it names there, as it is now, where Python keeps it.
        None for the package's own classes, and where there is no source but a declared version.

    Raises
    ------
    ConfigError
        If no class has the name.
    ContractError
        If there is neither a source nor a declared version.

    Examples
    --------
    >>> print(source_digest("Popularity"))
    None
    """
    defined, version = algorithm(name), declared_version(name)
    if is_own(defined) or name in _SOURCES:
        return _SOURCES.get(name)
    source = session_source(defined)
    if source is None and version is None:
        raise ContractError(
            f"{name}: its source was not found, so that results of different states of its code "
            "could not be told apart\ndefine it in a file, or give the class an attribute such as "
            "version = '1', to be changed whenever the code changes"
        )
    return None if source is None else hashlib.sha256(source).hexdigest()


def declared_version(name: str) -> str | None:
    """Return the attribute `version` of a class from outside the package.

    Parameters
    ----------
    name : str
        Name of a registered class.

    Returns
    -------
    str or None
        None without the attribute, and for the package's own classes, which have a `revision`.

    Raises
    ------
    ConfigError
        If no class has the name.
    ContractError
        If the attribute is no text.
    """
    defined = algorithm(name)
    version = None if is_own(defined) else getattr(defined, "version", None)
    if version is not None and not isinstance(version, str):
        raise ContractError(
            f"{name}: version is {version!r}, expected text, such as version = {str(version)!r}"
        )
    return version


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
    """Return the names of all registered classes, sorted; without those that train nothing."""
    return sorted(_ALGORITHMS.keys() - _UNLISTED)


def parameter(
    default: Parameter,
    *,
    minimum: float | None = None,
    above: float | None = None,
    choices: tuple[str, ...] = (),
    added: bool = False,
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
    added : bool
        Whether the parameter came to a class that had results already: with its default it must
        change nothing, and the random numbers of training do not know it.
    """
    metadata = {"minimum": minimum, "above": above, "choices": choices, "added": added}
    return dataclasses.field(default=default, metadata=metadata)


ENCODINGS = (
    "'stars', 'binary-all', e.g. 'stars<4=1' with 0 < value < threshold, or 'graded-zero>=4', "
    "'graded-pos>=4', 'binary-zero>=4', 'binary-pos>=4'"
)
"""What the text of an `Encoding` may be."""

_KINDS: dict[type[Any], tuple[Any, str]] = {
    bool: (bool | np.bool_, "True or False"),
    int: (int | np.integer, "an integer"),
    float: (int | float | np.integer | np.floating, "a finite number"),
    str: (str, "text"),
}
"""What a parameter may be, and what that is called, by the type of its default."""


def expected(field: dataclasses.Field[Any]) -> str:
    """Say which values a field may have that `parameter` made; empty for any other field.

    Examples
    --------
    >>> [expected(field) for field in dataclasses.fields(algorithm("PLSA"))]
    ['an integer >= 1', 'an integer >= 0', 'text']
    """
    if "minimum" not in field.metadata:
        return ""
    minimum, above, choices = (field.metadata[key] for key in ("minimum", "above", "choices"))
    _, said = _KINDS[type(field.default)]
    if choices:
        said = f"one of {', '.join(map(repr, choices))}"
    if minimum is not None:
        said += f" >= {minimum:g}"
    return said if above is None else f"{said} > {above:g}"


def _checked(owner: str, field: dataclasses.Field[Any], value: Any) -> Parameter:
    """Return the value in the type of the field's default, or say what it should have been."""
    minimum, above, choices = (field.metadata[key] for key in ("minimum", "above", "choices"))
    wanted: type[Any] = type(field.default)
    kind, _ = _KINDS[wanted]
    fits = (
        isinstance(value, kind)
        and (wanted is bool or not isinstance(value, bool | np.bool_))
        and (wanted is not float or math.isfinite(value))
        and (not choices or value in choices)
        and (minimum is None or value >= minimum)
        and (above is None or value > above)
    )
    if not fits:
        hint = did_you_mean(str(value), choices, ",") if choices else ","
        raise ConfigError(f"{owner}: {field.name} is {value!r}{hint} expected {expected(field)}")
    converted: Parameter = wanted(value)
    return converted


@dataclass(eq=False)
class Algorithm(ABC):
    """Base of the package's algorithms: parameters that are checked, and common refusals.

    A subclass is a dataclass whose fields are made with `parameter`; it fills in `_fit` and
    `_score`, and says with `coverage` for which pairs it has a score. Where it has a field
    `encoding`, `_fit` gets ratings whose values are already what they count for the model, without
    those that the encoding drops; "training rating" then means one that is left.

    `minimum_value` is the smallest value that the model can use; lower ones are refused.

    A model that learns in iterations runs its loop over `_iterations` and fills in `_objective`;
    `objective_trend` says whether theory has the objective fall or rise in every iteration.
    `breaks_ties_by_number` admits that scores depend on how users or items are numbered where
    similarities tie, as in a library's model. `deterministic` says that scores do not depend on
    `rng`: of such a model one training seed is enough.

    `revision` is raised when code changes what the class computes, or the default of a parameter
    changes: stored scores are known by it. A new parameter whose default changes nothing is no
    reason.

    `depends_on_processor` says why scores of a class are known to differ between processors by more
    than the last digits; recorded values of such systems are compared more widely, and apart.
    """

    coverage: ClassVar[Coverage]
    minimum_value: ClassVar[float] = -math.inf
    objective_trend: ClassVar[Trend] = "noisy"
    breaks_ties_by_number: ClassVar[bool] = False
    deterministic: ClassVar[bool] = False
    revision: ClassVar[int] = 1
    depends_on_processor: ClassVar[str] = ""

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = _checked(type(self).__name__, field, getattr(self, field.name))
            if field.name == "encoding":
                value = str(Encoding.parse(str(value)))
            setattr(self, field.name, value)

    def fit(
        self,
        train: Ratings,
        *,
        rng: np.random.Generator | None = None,
        on_iteration: OnIteration | None = None,
    ) -> Self:
        """Learn from `train`; see `Recommender.fit`.

        Parameters
        ----------
        train : Ratings
            Training ratings.
        rng : numpy.random.Generator, optional
            The only source of randomness; None draws a fresh one.
        on_iteration : callable, optional
            Called after each iteration of a model that has some, with its number, from 1, and the
            `objective`, which is computed for this purpose only.

        Raises
        ------
        DataError
            If there are no ratings, or one has a value that the model cannot use.
        ConfigError
            If a parameter cannot work with these ratings.
        """
        encoded = self._encoded(train)
        self._known_user = encoded.user_counts() > 0
        self._known_item = encoded.item_counts() > 0
        self.__dict__["_on_iteration"] = on_iteration
        try:
            self._fit(encoded, np.random.default_rng() if rng is None else rng)
        finally:
            del self.__dict__["_on_iteration"]
        return self

    def objective(self, train: Ratings) -> float:
        """Return what training minimises or maximises, on ratings; the class says in symbols what.

        Parameters
        ----------
        train : Ratings
            Ratings with the vocabularies of those that the model was fitted on.

        Raises
        ------
        ContractError
            If the model is not fitted, or has no objective.
        """
        if not hasattr(self, "_known_user"):
            raise ContractError(f"{type(self).__name__}: objective before fit")
        return self._objective(self._encoded(train))

    def _encoded(self, train: Ratings) -> Ratings:
        """Return what the model reads, or refuse it."""
        name = type(self).__name__
        if len(train) == 0:
            raise DataError(f"{name}: no training ratings in '{train.name}'")
        encoded = ratings_read(self, train)
        if len(encoded) == 0:
            raise DataError(
                f"{name}: its encoding leaves no training ratings in '{train.name}': {self}"
                "\nchoose a lower threshold, or an encoding that keeps all ratings"
            )
        if encoded.value.min() < self.minimum_value:
            row = int(np.argmin(encoded.value))
            raise DataError(
                f"{name}: user {encoded.user_ids[encoded.user[row]]} rates item "
                f"{encoded.item_ids[encoded.item[row]]} {exact(encoded.value[row])} in "
                f"'{train.name}', but the model needs ratings >= {self.minimum_value:g}"
                "\nuse encoding 'binary-all', or shift them"
            )
        return encoded

    def _iterations(self, n_iterations: int, train: Ratings) -> Iterator[int]:
        """Count iterations from 1, with a progress bar if they last, and report each objective."""
        bar = tqdm(
            range(1, n_iterations + 1),
            desc=f"{type(self).__name__} on {train.name}",
            delay=PROGRESS_DELAY,
            leave=False,
            # Nothing where no terminal is, nor from one of many processes.
            disable=True if multiprocessing.parent_process() else None,
        )
        report: OnIteration | None = self.__dict__["_on_iteration"]
        for number in bar:
            yield number
            if report is not None:
                report(number, self._objective(train))

    def _objective(self, train: Ratings) -> float:
        """Return the objective on encoded ratings."""
        raise ContractError(f"{type(self).__name__} has no objective")

    def refuse_runaway(
        self, train: Ratings, remedy: str, *learned: npt.NDArray[np.floating[Any]]
    ) -> None:
        """Refuse parameters that are no numbers, or that no computation can use any more.

        Parameters
        ----------
        train : Ratings
            What the model is fitted on, for the message.
        remedy : str
            What to do about it.
        *learned : float arrays
            Parameters of the model.

        Raises
        ------
        ConfigError
            If a value is NaN, or beyond 1e15.
        """
        ends = [end for array in learned if array.size for end in (array.min(), array.max())]
        if not (np.abs(ends) < _LARGEST).all():
            raise ConfigError(
                f"{type(self).__name__}: training on '{train.name}' has run away\n{remedy}"
            )

    def refuse_pairs(self, train: Ratings, pair_bytes: int, remedy: str = "") -> None:
        """Refuse more items than a table of all pairs of them may have.

        Parameters
        ----------
        train : Ratings
            What the model is to be fitted on.
        pair_bytes : int
            What it takes for a pair.
        remedy : str
            What to do about it, besides what always helps.

        Raises
        ------
        ConfigError
            If it is more than 1 GiB, or what ``RECBIAS_LARGEST_TABLE`` allows.
        """
        needed, allowed = pair_bytes * train.n_items**2, largest_table()
        if needed > allowed:
            raise ConfigError(
                f"{type(self).__name__}: {train.n_items:,} items need a table of "
                f"{needed / 2**30:.2g} GiB for all pairs of them, more than {allowed / 2**30:.2g}"
                f"\n{remedy}leave out rare items, or set {LARGEST_TABLE} to the GiB that a process "
                "may take for it"
            )

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


_MERGED = re.compile(rf"stars<({NUMBER})=({NUMBER})")
_FROM = re.compile(rf"(graded|binary)-(zero|pos)>=({NUMBER})")


@dataclass(frozen=True)
class Encoding:
    """How a model reads ratings; which one it uses can matter more than the algorithm.

    ==================  ==========================================================================
    text                what a rating r counts
    ==================  ==========================================================================
    ``stars``           r
    ``stars<4=2``       r, but 2 if r < 4: where a source does not tell its low ratings apart, this
                        shows what depends on the value that they are given
    ``binary-all``      1
    ``binary-pos>=4``   1 if r >= 4; other ratings are dropped, as if never given
    ``binary-zero>=4``  1 if r >= 4; other ratings count 0 and stay, as observed zeros
    ``graded-pos>=4``   r - 3 if r >= 4; other ratings are dropped
    ``graded-zero>=4``  r - 3 if r >= 4; other ratings count 0 and stay
    ==================  ==========================================================================

    Parameters
    ----------
    kind : str
        The text without its numbers.
    threshold : float
        The smallest rating that keeps its value, or that is liked; not for ``"stars"`` and
        ``"binary-all"``.
    merged_value : float
        What ratings below the threshold count, for ``"stars"`` with a threshold.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"user_id": 1, "item_id": range(4), "rating": [1.0, 3, 4, 5]})
    >>> train = Ratings.from_frame(frame)
    >>> for text in ("stars<4=2", "binary-pos>=4", "graded-zero>=4"):
    ...     print(Encoding.parse(text).encode(train).value)
    [2. 2. 4. 5.]
    [1. 1.]
    [0. 0. 1. 2.]
    >>> str(Encoding.parse("stars<4.0=2.50"))
    'stars<4=2.5'
    """

    kind: str = "stars"
    threshold: float = -math.inf
    merged_value: float = 0.0

    def __str__(self) -> str:
        if self.kind == "stars" and self.threshold > -math.inf:
            return f"stars<{exact(self.threshold)}={exact(self.merged_value)}"
        if self.kind in ("stars", "binary-all"):
            return self.kind
        return f"{self.kind}>={exact(self.threshold)}"

    @classmethod
    def parse(cls, text: str) -> Encoding:
        """Read one of the forms above.

        Raises
        ------
        ConfigError
            If `text` is none of them, or a merged value is not between 0 and its threshold.
        """
        if text in ("stars", "binary-all"):
            return cls(text)
        try:
            if match := _MERGED.fullmatch(text):
                threshold, value = map(float, match.groups())
                if 0 < value < threshold:
                    return cls("stars", threshold, value)
            elif match := _FROM.fullmatch(text):
                return cls(f"{match[1]}-{match[2]}", float(match[3]))
        except ValueError:
            pass
        kinds = ("stars", "binary-all", "graded-zero", "graded-pos", "binary-zero", "binary-pos")
        hint = did_you_mean(text.partition(">")[0], kinds) if text not in kinds else ""
        raise ConfigError(f"encoding is {text!r}: expected {ENCODINGS}{hint}")

    def encode(self, train: Ratings) -> Ratings:
        """Return what a model reads instead of `train`: `train` itself for ``"stars"``.

        Parameters
        ----------
        train : Ratings
            Ratings as given.

        Returns
        -------
        Ratings
            Over the same vocabularies, other values, and perhaps fewer rows.
        """
        stars = train.value
        if self.kind == "stars":
            if self.threshold == -math.inf:
                return train
            values = np.where(stars < self.threshold, self.merged_value, stars)
        elif self.kind == "binary-all":
            values = np.ones(len(train))
        else:
            gains = stars - self.threshold + 1 if self.kind.startswith("graded") else 1.0
            values = np.where(stars >= self.threshold, gains, 0.0)
        ends = (float(values.min()), float(values.max())) if len(values) else (0.0, 0.0)
        encoded = dataclasses.replace(train, value=values, scale=RatingScale(*ends, 0))
        return encoded.take(values > 0) if self.kind.endswith("pos") else encoded


# Models that differ in other parameters share what they read, and with it what they derived from
# it. Ratings cannot change, so that they are as good a key as any value.
@functools.lru_cache(maxsize=4)
def _encode(train: Ratings, encoding: str) -> Ratings:
    return Encoding.parse(encoding).encode(train)


def ratings_read(recommender: Recommender, train: Ratings) -> Ratings:
    """Return the ratings that `coverage` speaks of: without those that an encoding drops.

    Parameters
    ----------
    recommender : Recommender
        An `Algorithm` may have an encoding; any other recommender reads all ratings.
    train : Ratings
        What it is fitted on.
    """
    encoding = getattr(recommender, "encoding", "stars")
    return _encode(train, encoding) if isinstance(recommender, Algorithm) else train


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
    for some in row_blocks(len(rows), 8 * columns.shape[1], CHUNK_BYTES):
        scores[some] = rows[some] @ columns
    return scores


def rated_products(
    train: Ratings,
    user_factors: npt.NDArray[np.float64],
    item_factors: npt.NDArray[np.float64],
) -> npt.NDArray[np.float64]:
    """Return the product of the two vectors of each rated pair, a block of pairs at a time.

    Parameters
    ----------
    train : Ratings
        Says which pairs are rated.
    user_factors, item_factors : float64 array (n_users, n_factors), (n_items, n_factors)
        The vectors.

    Returns
    -------
    float64 array (n,)
        One value per row of `train`.
    """
    products = np.empty(len(train))
    for rows in row_blocks(len(train), 8 * user_factors.shape[1], CHUNK_BYTES):
        users, items = user_factors[train.user[rows]], item_factors[train.item[rows]]
        products[rows] = np.einsum("rf,rf->r", users, items)
    return products


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
