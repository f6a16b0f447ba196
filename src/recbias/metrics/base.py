"""A metric is a value: it prints as the field writes it, parses back and is hashable.

What is known of a metric is its *declaration*: name, kind, arguments, meaning, edge cases, source
and the function that measures. Grammar, error messages and the row of the notation page follow from
it. ``register`` in the module that defines a metric, of this package or of a reader's own, is all
that it takes.

The text of a metric is ``NAME[(ARGUMENTS)][@CUTOFF][|KEY=VALUE]``: ``nDCG(exp)@10``, ``Gini@10``,
``P@10|t=100``. What stands behind the bar is a condition, as in a conditional expectation; with it
a name may have a second declaration. One without a value is its name: ``P@10|judged``.

There are three kinds, which :data:`KINDS` explains: of ranks, of items, of the system.
"""

from __future__ import annotations

import hashlib
import inspect
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from recbias.errors import ConfigError, ContractError, did_you_mean, nearest, unknown_name

__all__ = [
    "KINDS",
    "Argument",
    "Declaration",
    "Metric",
    "MetricName",
    "declarations",
    "metric_names",
    "parse_metric",
    "positive_integer",
    "register",
]

Kind = Literal["ranks", "items", "system"]

KINDS: Mapping[Kind, str] = {
    "ranks": "the ranks of the judged items: a value per user, or per 1R run",
    "items": "the items of the user's list: a value per user",
    "system": "the lists of all users as a whole: one value, which is no mean over users",
}
"""What a metric of each kind is made of."""

_PATTERN = re.compile(
    r"(?P<name>[^(@|]*)(?:\((?P<arguments>[^()@|]*)\) *)?"
    r"(?:@(?P<cutoff>[^|]*))?(?:\|(?P<given>.*))?"
)
_NAME = re.compile(r"[A-Za-z]\w*")


def positive_integer(text: str) -> int:
    """Read an integer of at least 1: the parser of arguments that count something.

    Raises
    ------
    ValueError
        If the text is no such integer.

    Examples
    --------
    >>> positive_integer("100")
    100
    """
    if not re.fullmatch(r"0*[1-9][0-9]*", text):
        raise ValueError(f"{text!r} is not an integer of at least 1")
    return int(text)


@dataclass(frozen=True)
class Argument:
    """One argument of a metric.

    Parameters
    ----------
    name
        As it is written in ``name=value``, and as attribute of the metric.
    parse
        From text to a hashable value that prints as text that it reads; raises ValueError or
        ConfigError for any other text.
    meaning
        What it is, for messages and documentation.
    examples
        Texts that are valid.
    default
        Text of the value that is left out when the metric prints; None = it must be given.
    keyword
        Whether it prints as ``name=value`` always, instead of by its place.
    flag
        Whether it is written by its name alone, behind the bar, which is its value; or True.
    """

    name: str
    parse: Callable[[str], Any]
    meaning: str
    examples: tuple[str, ...]
    default: str | None = None
    keyword: bool = False
    flag: bool = False

    def described(self) -> str:
        """Say what it is, as it is written, and what holds without it.

        Examples
        --------
        >>> Argument("t", positive_integer, "a size", ("100",), keyword=True).described()
        'a size, such as 100'
        """
        if self.flag:
            return self.meaning
        usual = "" if self.default is None else f"; {self.default} if it is not given"
        return f"{self.meaning}, such as {', '.join(self.examples)}{usual}"

    def read(self, metric: str, value: object) -> Any:
        """Turn text, or a value made by hand, into the value; ConfigError if it is none."""
        value = self.name if self.flag and value is True else value
        text = _printed(value)
        try:
            parsed = self.parse(text)
        except ValueError as error:
            raise ConfigError(
                f"metric {metric}: {self.name}={text}, expected {self.meaning}, "
                f"such as {self.examples[0]}"
            ) from error
        if not isinstance(value, str) and parsed != value:
            raise ConfigError(f"metric {metric}: {self.name}={value!r}, expected {self.meaning}")
        return parsed


@dataclass(frozen=True)
class Declaration:
    r"""All that is known of a metric; give it to :func:`register`.

    Parameters
    ----------
    name
        As the field writes it, ``"nDCG"``: a letter, then letters, digits or underscores.
    kind
        ``"ranks"``, ``"items"`` or ``"system"``.
    meaning
        What it is, in one line.
    formula
        In TeX, for one user, run or system.
    source
        Where it comes from.
    edge_cases
        In words: what an empty list, a short list and a user without relevant item give.
    measure
        A function defined in the module that registers the metric. It is called once with all
        metrics that share it and returns float64 of shape (n_metrics, ...), NaN = undefined:

        ======== ============================= ==================================================
        kind     arguments                     second axis
        ======== ============================= ==================================================
        ranks    ``(RankView, metrics)``       users, or runs of a 1R table
        items    ``(ListView, metrics)``       users
        system   ``(counts, ListView,          rows of `counts`, which has shape (n_rows, n_items)
                 metrics)``                    and says how many lists hold the item
        ======== ============================= ==================================================
    cutoff
        ``"required"``, ``"optional"`` or ``"none"``.
    arguments
        In the order in which they are written.
    given
        What stands behind the bar. All of it is required; the same name with other conditions is
        another declaration.
    per
        Of kind ranks: the tables that it is defined for, with a target set per ``"user"`` or per
        ``"run"``.
    better
        ``"higher"``, ``"lower"`` or None where neither is.
    interval
        How replicates of resampled users give its confidence interval, where simulated coverage
        allows one: ``"percentile"``, ``"normal"`` (observed +- 1.96 standard deviations; of
        linear replicates for kind system, :func:`recbias.metrics.influence`) or ``"none"``.
    without_each
        Of kind system, optional: a fast function ``(ListView, metrics)`` that returns the values
        without each user in turn, shape (n_metrics, n_users). Without it they are computed one by
        one.
    features
        Of kind items or system: whether it looks at the features of items, which then must be
        given.
    revision
        Raised when code changes what the metric computes; keys of stored results contain it.
    version
        For metrics defined outside the package: what else than the module's source a stored value
        depends on, such as the version of a library.
    called
        Other names that people and tools give it, in lower case with blanks between words, so that
        who types one is told this one.
    source_digest
        For metrics defined outside the package, set by :func:`register`: SHA-256 of the source file
        of `measure` as it was read then. None inside, where `revision` says so.

    Examples
    --------
    The number of relevant items among the first n, as a module of one's own would add it:

    >>> def measure_hits(view, metrics):
    ...     cutoffs = np.array([metric.cutoff for metric in metrics])[:, None]
    ...     hits = (view.rank > 0) & (view.rank <= cutoffs) & view.positive
    ...     user, size = view.table.user, view.n_units
    ...     return np.array([np.bincount(user, one, size) for one in hits], float)
    >>> hits = Declaration("Hits", "ranks", "relevant items among the first n", "h_u(n)",
    ...                    "Cremonesi et al. 2010", "0 for an empty list", measure_hits,
    ...                    per=("user",))
    >>> hits.form, hits.kind
    ('Hits@n', 'ranks')
    """

    name: str
    kind: Kind
    meaning: str
    formula: str
    source: str
    edge_cases: str
    measure: Callable[..., npt.NDArray[np.float64]]
    cutoff: Literal["required", "optional", "none"] = "required"
    arguments: tuple[Argument, ...] = ()
    given: tuple[Argument, ...] = ()
    per: tuple[Literal["user", "run"], ...] = ("user", "run")
    better: Literal["higher", "lower"] | None = "higher"
    interval: Literal["percentile", "normal", "none"] = "percentile"
    without_each: Callable[..., npt.NDArray[np.float64]] | None = None
    features: bool = False
    revision: int = 1
    version: str = ""
    called: tuple[str, ...] = ()
    source_digest: str | None = field(default=None, init=False, compare=False)

    @property
    def key(self) -> tuple[str, tuple[str, ...]]:
        """What a registered declaration is found by: its name and the names behind the bar."""
        return self.name, tuple(sorted(argument.name for argument in self.given))

    @property
    def form(self) -> str:
        """How it is written, brackets around what may be left out: ``nDCG[(gain)][@n]``."""
        names = ",".join(argument.name for argument in self.arguments)
        if names:
            required = any(argument.default is None for argument in self.arguments)
            names = f"({names})" if required else f"[({names})]"
        cutoff = {"required": "@n", "optional": "[@n]", "none": ""}[self.cutoff]
        conditions = ",".join(
            one.name if one.flag else f"{one.name}={one.name.upper()}" for one in self.given
        )
        return f"{self.name}{names}{cutoff}" + (f"|{conditions}" if conditions else "")

    @property
    def outside(self) -> bool:
        """Whether it is defined outside the package ``recbias``."""
        return self.measure.__module__.partition(".")[0] != "recbias"

    @property
    def family(self) -> str:
        """What its module says of itself in one line; the module's name if it says nothing.

        Examples
        --------
        >>> parse_metric("Served@10").declaration.family
        'How much of a list of the wanted length a user is given at all.'
        """
        module = self.measure.__module__
        return (inspect.getdoc(sys.modules.get(module)) or module).splitlines()[0]

    @property
    def example(self) -> str:
        """A text that asks for it, with every argument that has to be given.

        Examples
        --------
        >>> [one.example for one in declarations() if one.name == "RBO"]
        ['RBO(0.8)@10']
        """
        arguments = {one.name: one.examples[0] for one in self.arguments if one.default is None}
        given = {one.name: True if one.flag else one.examples[0] for one in self.given}
        cutoff = None if self.cutoff == "none" else 10
        return str(Metric(self.name, cutoff, **arguments, **given))

    def described(self) -> dict[str, str]:
        """Return all that a reader may want to know, each thing under a short label.

        Examples
        --------
        >>> parse_metric("P@10|t=100").declaration.described()["t="]
        'the size of the target set, an integer of at least 1, such as 100'
        """
        rows = {
            "form": self.form,
            "kind": f"{self.kind}: {KINDS[self.kind]}",
            "meaning": self.meaning,
            **{
                f"|{one.name}" if one.flag else f"{one.name}=": one.described()
                for one in (*self.arguments, *self.given)
            },
            "formula": self.formula,
            "edge cases": self.edge_cases,
            "better": self.better or "neither higher nor lower",
            "interval": _INTERVALS[self.interval],
            "source": self.source,
            "also called": ", ".join(self.called),
            "example": self.example,
        }
        return {label: text for label, text in rows.items() if text}


_INTERVALS = {
    "percentile": "percentiles of resampled users",
    "normal": "1.96 standard deviations of resampled users",
    "none": "none",
}
"""How a confidence interval is made, in words."""

_DECLARATIONS: dict[tuple[str, tuple[str, ...]], Declaration] = {}


def register(declaration: Declaration) -> Declaration:
    """Make a metric known: to the grammar, to messages, to everything that measures.

    Parameters
    ----------
    declaration
        A module that is loaded again may register its metrics again; the last one counts.

    Returns
    -------
    Declaration
        With ``source_digest``.

    Raises
    ------
    ConfigError
        If another module has registered that name with the same conditions, or it is no name; if
        an example or default of an argument is refused by its parser or does not print as text that
        reads back, or an argument has the name of an attribute of every metric.
    ContractError
        If `measure` is not a function of a module (a compiled or partial one cannot be traced to
        its source).

    Examples
    --------
    >>> from recbias.metrics import parse_metric
    >>> register(parse_metric("P@10").declaration).form
    'P@n'
    """
    name, measure = declaration.name, declaration.measure
    if not _NAME.fullmatch(name):
        raise ConfigError(
            f"metric {name!r}: a name is a letter, then letters, digits or underscores"
        )
    if not inspect.isfunction(measure):
        raise ContractError(
            f"metric {name}: measure is a {type(measure).__name__}; give a plain function, which "
            "may call compiled ones"
        )
    for argument in (*declaration.arguments, *declaration.given):
        _check_argument(name, argument)
    known = _DECLARATIONS.get(declaration.key)
    if known is not None and known.measure.__module__ != measure.__module__:
        raise ConfigError(
            f"metric {declaration.form} of module {measure.__module__}: {known.measure.__module__} "
            "has registered that name; choose another one"
        )
    registered = replace(declaration)
    object.__setattr__(registered, "source_digest", _source_digest(registered))
    _DECLARATIONS[registered.key] = registered
    return registered


def _check_argument(metric: str, argument: Argument) -> None:
    """Refuse an argument that a metric could not show, or whose texts would not parse back."""
    if hasattr(Metric, argument.name) or argument.name in Metric.__dataclass_fields__:
        raise ConfigError(f"metric {metric}: an argument cannot be called {argument.name}")
    for text in (*argument.examples, *(() if argument.default is None else (argument.default,))):
        value = argument.read(metric, text)
        if set(_printed(value)) & set("(),=@|") or argument.read(metric, _printed(value)) != value:
            raise ConfigError(
                f"metric {metric}: {argument.name}={text} prints as {_printed(value)}, which does "
                "not read back; give its value a __str__ that does, without any of (),=@|"
            )


def _source_digest(declaration: Declaration) -> str | None:
    if not declaration.outside:
        return None
    path = Path(declaration.measure.__code__.co_filename)
    if path.is_file():
        return hashlib.sha256(path.read_bytes()).hexdigest()
    try:  # typed into a notebook, whose cells are no files
        return hashlib.sha256(inspect.getsource(declaration.measure).encode()).hexdigest()
    except (OSError, TypeError):
        return None


def metric_names(kind: Kind | None = None) -> tuple[str, ...]:
    """List the names of all registered metrics, or of those of one kind.

    Examples
    --------
    >>> metric_names("system")
    ('Gini', 'Coverage', 'Diversity', 'Hoover', 'Entropy', 'CI', 'LTI', 'M')
    """
    return tuple(dict.fromkeys(d.name for d in declarations() if kind in (None, d.kind)))


def declarations() -> tuple[Declaration, ...]:
    """List all registered declarations, in the order of registration.

    Examples
    --------
    >>> [declaration.form for declaration in declarations() if declaration.name == "P"]
    ['P@n', 'P@n|judged', 'P@n|t=T', 'P@n|N=N', 'P@n|ties']
    """
    return tuple(_DECLARATIONS.values())


@dataclass(frozen=True, init=False, repr=False)
class Metric:
    """A metric with its cutoff and its arguments.

    Parameters
    ----------
    name
        One of :func:`metric_names`.
    cutoff
        Places of the list that count, from 1; None = the whole list, for metrics that may.
    *arguments, **named
        Arguments of the metric, as values or as text, by place or by name; conditions by name. The
        metric has an attribute of the name of each, e.g. ``gain`` of nDCG.

    Raises
    ------
    ConfigError
        If the name is unknown; if the cutoff is no integer from 1, missing where it is required or
        given where the metric has none; if an argument is unknown, missing or has no such value.

    Examples
    --------
    >>> from recbias.protocol.relevance import GainMap
    >>> str(Metric("nDCG", 10, GainMap("exp"))), str(Metric("P", 10, t=100)), str(Metric("AP"))
    ('nDCG(exp)@10', 'P@10|t=100', 'AP')
    >>> Metric("nDCG", 10, "exp").gain
    GainMap(name='exp')
    """

    name: str
    cutoff: int | None
    arguments: tuple[tuple[str, Any], ...]
    given: tuple[tuple[str, Any], ...]

    def __init__(
        self, name: str, cutoff: int | None = None, *arguments: object, **named: object
    ) -> None:
        forms = _forms(name)
        inside = {argument.name for form in forms for argument in form.arguments}
        conditions = {key: value for key, value in named.items() if key not in inside}
        taken = {key: value for key, value in named.items() if key in inside}
        if conditions and not any(set(form.key[1]) & set(conditions) for form in forms):
            taken, conditions = named, {}
        self._fill(name, cutoff, arguments, taken, conditions)

    def _fill(
        self,
        name: str,
        cutoff: int | None,
        positional: Sequence[object],
        by_name: Mapping[str, object],
        conditions: Mapping[str, object],
    ) -> None:
        forms = _forms(name)
        declaration = next(
            (form for form in forms if form.key[1] == tuple(sorted(conditions))), None
        )
        if declaration is None:
            known = [condition for form in forms for condition in form.key[1]]
            raise ConfigError(
                f"metric {name}|{','.join(conditions)}: unknown condition; "
                f"it is written {' or '.join(form.form for form in forms)}"
                f"{did_you_mean(','.join(conditions), known)}"
            )
        label = name if cutoff is None else f"{name}@{cutoff}"
        if cutoff is None:
            if declaration.cutoff == "required":
                raise ConfigError(f"metric {name}: it needs a cutoff, e.g. {name}@10")
        elif declaration.cutoff == "none":
            raise ConfigError(f"metric {label}: it has no cutoff; write {declaration.form}")
        elif not isinstance(cutoff, int) or isinstance(cutoff, bool) or cutoff < 1:
            raise ConfigError(f"metric {label}: a cutoff is an integer of at least 1")
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "cutoff", cutoff)
        object.__setattr__(
            self, "arguments", _bind(label, declaration, declaration.arguments, positional, by_name)
        )
        object.__setattr__(
            self, "given", _bind(label, declaration, declaration.given, (), conditions)
        )

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_"):
            for key, value in self.__dict__.get("arguments", ()) + self.__dict__.get("given", ()):
                if key == name:
                    return value
        raise AttributeError(f"a metric without argument {name!r}: {self.__dict__.get('name')}")

    @property
    def declaration(self) -> Declaration:
        """What is known of it."""
        return _DECLARATIONS[self.name, tuple(sorted(name for name, _ in self.given))]

    @property
    def kind(self) -> Kind:
        """``"ranks"``, ``"items"`` or ``"system"``: what it is made of."""
        return self.declaration.kind

    def identity(self) -> dict[str, str | int]:
        """Return what its values depend on beside the data, as JSON-able values for a key.

        Raises
        ------
        ContractError
            If it is defined outside the package, its source cannot be read and its declaration has
            no `version`.

        Examples
        --------
        >>> Metric("P", 10).identity()
        {'metric': 'P@10', 'revision': 1}
        """
        declaration = self.declaration
        identity: dict[str, str | int] = {"metric": str(self), "revision": declaration.revision}
        if declaration.version:
            identity["version"] = declaration.version
        if declaration.source_digest is not None:
            identity["source"] = declaration.source_digest
        elif declaration.outside and not declaration.version:
            raise ContractError(
                f"metric {self.name}: its source cannot be read, so that stored values would not "
                "notice a change; define it in a file, or declare a version"
            )
        return identity

    def __str__(self) -> str:
        declaration = self.declaration
        arguments, in_place = [], True
        for argument, (name, value) in zip(declaration.arguments, self.arguments, strict=True):
            if argument.default is not None and value == argument.parse(argument.default):
                in_place = False
                continue
            in_place &= not argument.keyword
            arguments.append(_printed(value) if in_place else f"{name}={_printed(value)}")
        conditions = ",".join(
            name if argument.flag else f"{name}={_printed(value)}"
            for argument, (name, value) in zip(declaration.given, self.given, strict=True)
        )
        return (
            self.name
            + (f"({','.join(arguments)})" if arguments else "")
            + ("" if self.cutoff is None else f"@{self.cutoff}")
            + (f"|{conditions}" if conditions else "")
        )

    def __repr__(self) -> str:
        return f"Metric({str(self)!r})"


class MetricName:
    """The name of a metric as an object, to which arguments and a cutoff are given.

    ``from recbias.metrics import P, nDCG`` gives these, for every registered metric, a reader's own
    among them. It prints as text that :func:`parse_metric` reads.

    Parameters
    ----------
    name
        One of :func:`metric_names`.
    *arguments, **named
        As of :class:`Metric`.

    Raises
    ------
    ConfigError
        As :class:`Metric` does: of a name or its arguments at once, of a missing cutoff where a
        metric is needed.

    Examples
    --------
    >>> from recbias.metrics import AP, P, nDCG
    >>> P @ 10, nDCG("exp") @ 10, P(t=100) @ 10
    (Metric('P@10'), Metric('nDCG(exp)@10'), Metric('P@10|t=100'))
    >>> P @ 10 == parse_metric("P @ 10")
    True
    >>> AP, nDCG("exp"), parse_metric(AP)
    (AP, nDCG(exp), Metric('AP'))
    >>> P @ 0
    Traceback (most recent call last):
    recbias.errors.ConfigError: metric P@0: a cutoff is an integer of at least 1
    """

    def __init__(self, name: str, *arguments: object, **named: object) -> None:
        self._name, self._arguments, self._named = name, arguments, named
        needs_cutoff = _forms(name)[0].cutoff == "required"
        if not arguments and not named:
            self._text = name
        elif needs_cutoff:
            self._text = str(self @ 1).replace("@1", "", 1)
        else:
            self._text = str(Metric(name, None, *arguments, **named))

    def __call__(self, *arguments: object, **named: object) -> MetricName:
        """Give arguments, in place of those that it has."""
        return MetricName(self._name, *arguments, **named)

    def __matmul__(self, cutoff: int) -> Metric:
        whole = int(cutoff) if isinstance(cutoff, np.integer) else cutoff
        return Metric(self._name, whole, *self._arguments, **self._named)

    def __str__(self) -> str:
        return self._text

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MetricName) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)


def parse_metric(text: str | Metric | MetricName) -> Metric:
    """Read a metric from the way it prints.

    Parameters
    ----------
    text
        ``NAME[(ARGUMENTS)][@CUTOFF][|KEY=VALUE]``; arguments by place or as ``name=value``; with
        blanks around ``@`` or without. Or a metric, or the name of one that needs no cutoff.

    Returns
    -------
    Metric
        ``str`` of it is `text`, but for arguments that have their default or could be written
        shorter.

    Raises
    ------
    ConfigError
        If it is no metric; the nearest name, or what it may take, is in the message.

    Examples
    --------
    >>> parse_metric("P@10").cutoff
    10
    >>> str(parse_metric("nDCG(gain=exp) @ 10"))
    'nDCG(exp)@10'
    >>> parse_metric("Gini@10|t=5")
    Traceback (most recent call last):
    recbias.errors.ConfigError: metric Gini|t: unknown condition; it is written Gini@n
    """
    if isinstance(text, Metric):
        return text
    if not isinstance(text, str | MetricName):
        raise ConfigError(
            f"a metric is text such as 'P@10', or P @ 10 with P of recbias.metrics, got {text!r}"
        )
    text = str(text)
    match = _PATTERN.fullmatch(text.strip())
    if match is None:
        raise _unknown(text)
    name = match["name"].rstrip()
    flags = {argument.name for form in _forms(name) for argument in form.given if argument.flag}
    cutoff = None
    if match["cutoff"] is not None:
        digits = match["cutoff"].strip()
        if not re.fullmatch(r"-?[0-9]+", digits):
            raise ConfigError(
                f"metric {text!r}: the cutoff {digits!r} is not an integer of at least 1"
            )
        cutoff = int(digits)
    positional: list[str] = []
    by_name: dict[str, str] = {}
    for part in () if match["arguments"] is None else match["arguments"].split(","):
        key, equals, value = part.strip().partition("=")
        if not equals and by_name:
            raise ConfigError(f"metric {text!r}: {key!r} stands behind a named argument; name it")
        if not equals:
            positional.append(key)
        else:
            _add_once(text, by_name, key, value)
    conditions: dict[str, str] = {}
    for part in () if match["given"] is None else match["given"].split(","):
        key, equals, value = part.strip().partition("=")
        if (not equals) != (key in flags):
            expected = "that name alone" if equals else " or ".join(["KEY=VALUE", *sorted(flags)])
            hint = did_you_mean(part, flags)
            raise ConfigError(
                f"metric {text!r}: {part!r} behind the bar, expected {expected}{hint}"
            )
        _add_once(text, conditions, key, value if equals else key)
    metric = Metric.__new__(Metric)
    metric._fill(name, cutoff, positional, by_name, conditions)
    return metric


def _add_once(text: str, arguments: dict[str, str], key: str, value: str) -> None:
    if key in arguments:
        raise ConfigError(f"metric {text!r}: {key} is given twice")
    arguments[key] = value


def _forms(name: str) -> list[Declaration]:
    forms = [declaration for declaration in _DECLARATIONS.values() if declaration.name == name]
    if not forms:
        raise _unknown(name)
    return forms


def _unknown(name: str) -> ConfigError:
    """Build the error for a name that no metric has, with the one that is called so elsewhere."""
    names = metric_names()
    called = {other: one.name for one in declarations() for other in one.called}
    plain = re.sub(r"[\W_]+", " ", name.lower()).strip()
    meant = called.get(plain)
    if meant is None and nearest(name, names) is None:
        meant = called.get(nearest(plain, called) or "")
    return unknown_name("metric", name, names, meant=meant)


def _bind(
    label: str,
    declaration: Declaration,
    arguments: Sequence[Argument],
    positional: Sequence[object],
    by_name: Mapping[str, object],
) -> tuple[tuple[str, Any], ...]:
    """Give every argument its value: by place, by name or by default."""
    form = declaration.form
    by_place = [argument for argument in arguments if not argument.keyword]
    if len(positional) > len(by_place):
        most = f"at most {len(by_place)}" if by_place else "no"
        raise ConfigError(
            f"metric {label}: it takes {most} argument by place, not {len(positional)}; "
            f"it is written {form}"
        )
    values = {argument.name: value for argument, value in zip(by_place, positional, strict=False)}
    for key, value in by_name.items():
        if key in values or key not in [argument.name for argument in arguments]:
            problem = "is given twice" if key in values else "is no argument of it"
            hint = "" if key in values else did_you_mean(key, [one.name for one in arguments])
            raise ConfigError(f"metric {label}: {key} {problem}; it is written {form}{hint}")
        values[key] = value
    bound = []
    for argument in arguments:
        if argument.name not in values and argument.default is None:
            raise ConfigError(
                f"metric {label}: {argument.name} is missing ({argument.meaning}); "
                f"it is written {form}"
            )
        value = values.get(argument.name, argument.default)
        bound.append((argument.name, argument.read(label, value)))
    return tuple(bound)


def _printed(value: object) -> str:
    if isinstance(value, float):
        return np.format_float_positional(value, trim="-")
    return str(value)
