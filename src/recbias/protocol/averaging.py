"""Over whom values are averaged, how much each weighs, and by which statistic, as a value."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from recbias.data.ratings import COUNT
from recbias.errors import ConfigError, unknown_name

__all__ = ["COVERAGES", "EPSILON", "POPULATIONS", "STATISTICS", "WEIGHTS", "Averaging"]

POPULATIONS = ("all", "tested", "relevant", "trained", "runs", "groups")
WEIGHTS = ("", "ratings", "relevant")
STATISTICS = ("mean", "median", "geometric")
COVERAGES = ("full", "reduced")
EPSILON = 1e-5
"""What a geometric mean adds to each value by default, so that one 0 does not make it 0. CCM20 does
not give its value; this is the floor of trec_eval's ``gm_map``."""

_OPTIONS = {
    "users": "population",
    "weights": "weights",
    "statistic": "statistic",
    "coverage": "coverage",
}
_TRAINED = re.compile(rf"(?P<sign>>=|<)(?P<least>{COUNT})")
_GEOMETRIC = re.compile(r"geometric(?:\((?P<epsilon>[^()]*)\))?")


@dataclass(frozen=True)
class Averaging:
    r"""Over whom values are averaged, how much each weighs, and by which statistic.

    Parameters
    ----------
    population
        ``"all"``, ``"tested"``, ``"relevant"``, ``"trained"``, ``"runs"`` or ``"groups"``, as in
        the table of :mod:`recbias.metrics.aggregation`.
        Empty stands for the papers' habit: all users under AR (BCC17 Sec. 3.2), runs under 1R
        (BCC17 Eq. 1).
    weights
        Empty: all alike. ``"ratings"``: a user weighs as many as they have test ratings, here and
        in ``"relevant"``: relevant ones.
    statistic
        ``"mean"``, ``"median"``, or ``"geometric"``: :math:`\exp(\sum w\ln(v+\epsilon)/\sum
        w)-\epsilon`, with :math:`\epsilon = 10^{-5}` or what is given, ``"geometric(0.01)"``.

    coverage
        Empty: the full average, where a user without a list counts as 0. ``"reduced"``: users
        without a list are left out (a "forgiving" average). ``"full"`` is read as empty. A full
        plain mean is the reduced one times the share of users that have a list.
    trained
        Of the population only users with so many training ratings: ``">=5"`` (warm users) or
        ``"<5"`` (cold ones). It prints behind the population, ``users=relevant,trained>=5``, and
        alone where that is all users, ``users=trained<1``; ``users=trained`` is ``trained>=1``.

    Raises
    ------
    ConfigError
        For an unknown word; for weights of ``"runs"`` and ``"groups"``, which count every relevant
        rating already; for another statistic than the mean of ``"groups"``; if epsilon is not above
        0; if runs or groups are to be reduced, or groups to be of some users; for a number of
        training ratings that all users have, or none.

    References
    ----------
    CCM20 Sec. 3.3 (users without training ratings), Sec. 3.8 (weights, geometric mean), Sec. 3.9
    (full and reduced averages); BCC17 Sec. 3.1-3.2, Eq. 1 (populations), Sec. 5 (P1R).

    Examples
    --------
    >>> str(Averaging("tested", "ratings", "geometric(0.010)"))
    'users=tested weights=ratings statistic=geometric(0.01)'
    >>> Averaging.parse("weights=relevant").resolved("user").population
    'all'
    >>> str(Averaging())
    ''
    >>> cold = Averaging.parse("users=tested,trained<5")
    >>> cold.population, cold.trained, str(Averaging.parse("users=trained>=1"))
    ('tested', '<5', 'users=trained')
    """

    population: str = ""
    weights: str = ""
    statistic: str = "mean"
    coverage: str = ""
    trained: str = ""

    def __post_init__(self) -> None:
        if self.population and self.population not in POPULATIONS:
            raise unknown_name("population", self.population, POPULATIONS)
        if self.weights not in WEIGHTS:
            raise unknown_name("weights of users", self.weights, WEIGHTS[1:])
        geometric = _GEOMETRIC.fullmatch(self.statistic)
        if geometric is not None:
            text = geometric["epsilon"]
            suffix = "" if text is None or _epsilon(text) == EPSILON else f"({_plain(text)})"
            object.__setattr__(self, "statistic", f"geometric{suffix}")
        elif self.statistic not in STATISTICS:
            raise unknown_name("statistic", self.statistic, STATISTICS)
        if self.coverage == "full":
            object.__setattr__(self, "coverage", "")
        if self.coverage not in ("", "reduced"):
            raise unknown_name("coverage", self.coverage, COVERAGES)
        if self.population in ("runs", "groups") and self.coverage:
            raise ConfigError(
                f"coverage={self.coverage} of {self.population}: it leaves out users without a "
                "list; average over users"
            )
        if self.population in ("runs", "groups") and self.weights:
            raise ConfigError(
                f"weights={self.weights}: users of {self.population} weigh as many as they have "
                "relevant ratings already; give no weights, or average over users"
            )
        if self.trained:
            self._settle_trained()
        if self.population == "groups" and self.statistic != "mean":
            raise ConfigError(
                f"statistic={self.statistic}: groups have a mean only; average over runs or users"
            )

    def _settle_trained(self) -> None:
        """Check how many training ratings users have, and write what is alike as one."""
        match = _TRAINED.fullmatch(self.trained)
        if match is None or int(match["least"]) == 0:
            raise ConfigError(
                f"users=trained{self.trained}: expected a number of training ratings from 1, such "
                "as trained>=5 or trained<5"
            )
        if self.population == "groups":
            raise ConfigError(
                f"users=groups,trained{self.trained}: groups are of all runs; average over runs, "
                f"as users=runs,trained{self.trained}"
            )
        trained, population = f"{match['sign']}{int(match['least'])}", self.population or "all"
        if population == "trained" and match["sign"] == "<":
            raise ConfigError(
                f"users=trained,trained{trained}: give one of both; users from 1 to fewer than "
                f"{match['least']} training ratings are no population of their own"
            )
        if population == "trained":
            population = "all"
        if (population, trained) == ("all", ">=1"):
            population, trained = "trained", ""
        object.__setattr__(self, "population", population)
        object.__setattr__(self, "trained", trained)

    @classmethod
    def parse(cls, text: str) -> Averaging:
        """Read an averaging as it prints; options may stand in any order.

        Raises
        ------
        ConfigError
            If an option is unknown, has no such value or is given twice.
        """
        options: dict[str, str] = {}
        for part in text.split():
            name, _, value = part.partition("=")
            if name not in _OPTIONS:
                raise unknown_name("option of averaging", name, _OPTIONS)
            if not value or _OPTIONS[name] in options:
                problem = "is given twice" if value else "has no value"
                raise ConfigError(f"averaging {text!r}: {name} {problem}")
            options[_OPTIONS[name]] = value
        population, comma, condition = options.get("population", "").partition(",")
        if not comma and re.match("trained *[<>=]", population):
            population, condition = "", population
        if comma or condition:
            if not condition.startswith("trained"):
                raise ConfigError(
                    f"averaging {text!r}: behind a population stands how many training ratings its "
                    f"users have, as in users={population},trained>=5"
                )
            options |= {"population": population, "trained": condition.removeprefix("trained")}
            if condition == "trained":
                options["trained"] = ">=1"
        return cls(**options)

    def __str__(self) -> str:
        options = {name: getattr(self, field) for name, field in _OPTIONS.items()}
        if self.trained:
            start = "" if self.population == "all" else f"{self.population},"
            options["users"] = f"{start}trained{self.trained}"
        return " ".join(
            f"{name}={value}" for name, value in options.items() if value not in ("", "mean")
        )

    def resolved(self, per: Literal["user", "run"]) -> Averaging:
        """Write out the habit, for tables with a target set per user or per run."""
        if self.population:
            return self
        return replace(self, population="runs" if per == "run" else "all")

    def has_trained(self, n_trained: npt.NDArray[np.integer]) -> npt.NDArray[np.bool_]:
        """Tell who has the training ratings that are asked for, from the number of each user."""
        match = _TRAINED.fullmatch(self.trained)
        if match is None:
            return np.ones(len(n_trained), dtype=bool)
        least = int(match["least"])
        return n_trained >= least if match["sign"] == ">=" else n_trained < least

    @property
    def asks_for_training(self) -> bool:
        """Whether training ratings decide who is averaged over."""
        return self.population == "trained" or bool(self.trained)

    @property
    def is_plain(self) -> bool:
        """Whether it is a mean that leaves nobody out and in which all members weigh alike."""
        return self.statistic == "mean" and not self.weights and not self.coverage

    @property
    def epsilon(self) -> float | None:
        """What a geometric mean adds to each value; None for other statistics."""
        match = _GEOMETRIC.fullmatch(self.statistic)
        if match is None:
            return None
        return EPSILON if match["epsilon"] is None else float(match["epsilon"])


def _epsilon(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = np.nan
    if not 0 < value < np.inf:
        raise ConfigError(f"statistic=geometric({text}): expected a number above 0, such as 1e-5")
    return value


def _plain(text: str) -> str:
    return np.format_float_positional(_epsilon(text), trim="-")
