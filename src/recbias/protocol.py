"""A protocol: every choice of an offline evaluation, in one record that prints and parses back."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import numpy as np

from recbias.aggregation import POPULATIONS
from recbias.errors import ConfigError, unknown_name
from recbias.targets import TargetRule, Targets

__all__ = ["Protocol"]

_PATTERN = re.compile(
    r"(?P<rule>\S+(?: [tNm]=\d+)?(?: \+train)?) rel>=(?P<min_rating>-?\d+(?:\.\d+)?)"
    r"(?P<condensed> condensed)?(?: users=(?P<population>\S+))?"
)


@dataclass(frozen=True)
class Protocol:
    """Target sets, relevance, list form and population of one evaluation.

    Parameters
    ----------
    rule
        How target sets are formed.
    min_rating
        Smallest rating that is relevant, in the unit of the ratings.
    condensed
        Rank only the items that the user rated in test, which turns the target set into
        ``R_test(u)`` (BCC17 Sec. 3.1; MCCRS20 calls such rankings condensed).
    population
        Over what the mean runs: ``"all"`` users, ``"tested"`` users, users with a ``"relevant"``
        test item, or ``"runs"``. Empty stands for the papers' habit: all users under AR (BCC17
        Sec. 3.2), runs under 1R (BCC17 Eq. 1).

    Raises
    ------
    ConfigError
        For an unknown population, ``"runs"`` without runs, or a threshold that is no finite number.

    Examples
    --------
    >>> protocol = Protocol.parse("TI-NN-1R t=100 rel>=5")
    >>> protocol.population, str(protocol)
    ('runs', 'TI-NN-1R t=100 rel>=5')
    >>> str(Protocol(TargetRule("TI", "AN", "AR"), 4, condensed=True, population="tested"))
    'TI-AN-AR rel>=4 condensed users=tested'
    """

    rule: TargetRule
    min_rating: float
    condensed: bool = False
    population: str = ""

    def __post_init__(self) -> None:
        default = "runs" if self.rule.per_run else "all"
        object.__setattr__(self, "population", self.population or default)
        # Adding 0 turns -0.0 into 0.0: equal protocols print alike.
        object.__setattr__(self, "min_rating", float(self.min_rating) + 0.0)
        if not math.isfinite(self.min_rating):
            raise ConfigError(f"rel>={self.min_rating}: expected a finite number")
        if self.population not in POPULATIONS:
            raise unknown_name("population", self.population, POPULATIONS)
        if self.population == "runs" and not self.rule.per_run:
            raise ConfigError(f"{self.rule} has no runs: its population is all, tested or relevant")

    @classmethod
    def parse(cls, text: str) -> Protocol:
        """Read a protocol as it prints.

        Raises
        ------
        ConfigError
            If the text has another form; shows the form.
        """
        match = _PATTERN.fullmatch(text.strip())
        if match is None:
            raise ConfigError(
                f"cannot read protocol {text!r}: expected RULE rel>=RATING [condensed] "
                "[users=POPULATION], such as 'TI-NN-1R t=100 rel>=5'"
            )
        return cls(
            TargetRule.parse(match["rule"]),
            float(match["min_rating"]),
            match["condensed"] is not None,
            match["population"] or "",
        )

    @property
    def targets(self) -> Targets:
        """What :func:`recbias.ranking.rank` is asked for: the threshold only where it matters."""
        return Targets(self.rule, self.min_rating if self.rule.needs_relevance else None)

    def __str__(self) -> str:
        default = "runs" if self.rule.per_run else "all"
        parts = [
            f"{self.rule} rel>={np.format_float_positional(self.min_rating, trim='-')}",
            "condensed" if self.condensed else "",
            "" if self.population == default else f"users={self.population}",
        ]
        return " ".join(part for part in parts if part)
