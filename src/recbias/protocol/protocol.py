"""A protocol: how the judgments of a test are used, in one record that prints and parses back."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

from recbias.data.ratings import COUNT, NUMBER, exact
from recbias.errors import ConfigError, nearest, unknown_name
from recbias.protocol.averaging import Averaging
from recbias.protocol.targets import CODES, TargetRule, Targets

__all__ = ["Protocol"]

_PATTERN = re.compile(
    rf"(?P<rule>\S+(?: [tNm]={COUNT})?(?: drawn=\S+)?(?: \+train)?)"
    rf" rel>=(?P<min_rating>{NUMBER})"
    r"(?P<condensed> condensed)?(?P<options>(?: [a-z]+=\S+)*)"
)

POLICIES = ("none", "random", "popularity", "average-rating")
"""What may be made of items without a score."""


@dataclass(frozen=True)
class Protocol:
    """Target sets, relevance, list form and averaging of one evaluation.

    Parameters
    ----------
    rule
        How target sets are formed.
    min_rating
        Smallest rating that is relevant, in the unit of the ratings.
    condensed
        Rank only the items that the user rated in test, which turns the target set into
        ``R_test(u)`` (BCC17 Sec. 3.1; MCCRS20 calls such rankings condensed).
    average
        Over whom values are averaged, how much each weighs, and by which statistic. An empty
        population stands for the papers' habit: all users under AR (BCC17 Sec. 3.2), runs under 1R
        (BCC17 Eq. 1), percentiles under P1R (BCC17 Sec. 6.1).
    unscored
        What is made of targets that a system has no score for: one of
        `POLICIES`. By default they are absent; else they stand below all
        others, in the order that the policy names. ``"last"``, one score below all others, leaves
        them in the order of ties, which is that of ``"random"``.

    Raises
    ------
    ConfigError
        For a population that the rule does not have, a threshold that is no finite number, or an
        unknown policy.

    See Also
    --------
    recbias.protocol.testset.TestSet : which judgments count.

    Examples
    --------
    >>> protocol = Protocol.parse("TI-NN-1R t=100 rel>=5")
    >>> protocol.averaging.population, str(protocol)
    ('runs', 'TI-NN-1R t=100 rel>=5')
    >>> str(Protocol(TargetRule("TI", "AN", "AR"), 4, condensed=True, average=Averaging("tested")))
    'TI-AN-AR rel>=4 condensed users=tested'
    >>> str(Protocol(TargetRule("TI", "AN", "AR"), 5, unscored="popularity"))
    'TI-AN-AR rel>=5 unscored=popularity'
    """

    rule: TargetRule
    min_rating: float
    condensed: bool = False
    average: Averaging = dataclasses.field(default_factory=Averaging)
    unscored: str = "none"

    def __post_init__(self) -> None:
        # Adding 0 turns -0.0 into 0.0: equal protocols print alike.
        object.__setattr__(self, "min_rating", float(self.min_rating) + 0.0)
        if not math.isfinite(self.min_rating):
            raise ConfigError(f"rel>={self.min_rating}: expected a finite number")
        if self.unscored not in (*POLICIES, "last"):
            known = (*POLICIES, "last")
            raise unknown_name("policy for what has no score", self.unscored, known)
        if self.average.population == self._habit and not self.average.trained:
            object.__setattr__(self, "average", dataclasses.replace(self.average, population=""))
        population = self.averaging.population
        if population == "runs" and not self.rule.per_run:
            raise ConfigError(f"{self.rule} has no runs: its population is all, tested or relevant")
        if population == "tested" and self.rule.per_run:
            raise ConfigError(
                f"{self.rule}: runs do not know users whose test ratings are all non-relevant; "
                "use runs, relevant or all"
            )
        if self.average.coverage and self.rule.per_run:
            raise ConfigError(
                f"{self.rule}: coverage={self.average.coverage} leaves out users without a list, "
                "of target sets per user (AR)"
            )
        if population == "groups" and self.rule.n_groups is None:
            raise ConfigError(f"{self.rule} has no item groups: its population is not groups")

    @property
    def _habit(self) -> str:
        if self.rule.n_groups is not None:
            return "groups"
        return "runs" if self.rule.per_run else "all"

    @property
    def averaging(self) -> Averaging:
        """How values are averaged, the habit written out."""
        if self.average.population:
            return self.average
        return dataclasses.replace(self.average, population=self._habit)

    @classmethod
    def parse(cls, text: str) -> Protocol:
        """Read a protocol as it prints; what has the form ``NAME=VALUE`` may stand in any order.

        Raises
        ------
        ConfigError
            If the text has another form; shows the form, and the protocol that was probably meant.

        Examples
        --------
        >>> Protocol.parse("TI-NA-AR rel=4")
        Traceback (most recent call last):
        ...
        recbias.errors.ConfigError: cannot read protocol 'TI-NA-AR rel=4': expected RULE ...
        did you mean 'TI-AN-AR rel>=4'?
        """
        try:
            return cls._read(text)
        except ConfigError as error:
            meant = _repaired(text) if isinstance(text, str) else text
            if meant == text or "did you mean" in str(error):
                raise
            try:
                protocol = cls._read(meant)
            except ConfigError:
                raise error from None
            raise ConfigError(f"{error}\ndid you mean '{protocol}'?") from None

    @classmethod
    def _read(cls, text: str) -> Protocol:
        if not isinstance(text, str):
            raise ConfigError(
                f"a protocol is text such as 'TI-AN-AR rel>=4', got {type(text).__name__} {text!r}"
            )
        match = _PATTERN.fullmatch(text.strip())
        if match is None:
            raise ConfigError(
                f"cannot read protocol {text!r}: expected RULE rel>=RATING [condensed] "
                "[unscored=POLICY] [users=POPULATION] [weights=WEIGHTS] [statistic=STATISTIC] "
                "[coverage=reduced], "
                "such as 'TI-NN-1R t=100 rel>=5'"
            )
        options = match["options"].split()
        policies = [option for option in options if option.startswith("unscored=")]
        if len(policies) > 1:
            raise ConfigError(f"protocol {text!r}: unscored is given twice")
        return cls(
            TargetRule.parse(match["rule"]),
            float(match["min_rating"]),
            match["condensed"] is not None,
            Averaging.parse(" ".join(option for option in options if option not in policies)),
            policies[0].removeprefix("unscored=") if policies else "none",
        )

    @property
    def targets(self) -> Targets:
        """What :func:`recbias.ranking.rank` is asked for: the threshold only where it matters."""
        return Targets(self.rule, self.min_rating if self.rule.needs_relevance else None)

    def __str__(self) -> str:
        parts = [
            f"{self.rule} rel>={exact(self.min_rating)}",
            "condensed" if self.condensed else "",
            "" if self.unscored == "none" else f"unscored={self.unscored}",
            str(self.average),
        ]
        return " ".join(part for part in parts if part)


_WORDS = ("condensed", "+train", "drawn", "unscored", "users", "weights", "statistic", "coverage")
_THRESHOLD = re.compile(r"(?:rel|relevant|min_rating)? *(?:>=|=>|>|=|\u2265) *(?=-?[\d.])")
_SPACES = re.compile(r" *= *")


def _repaired(text: str) -> str:
    """Write a protocol with slips as it was probably meant: other signs, case, order or letters."""
    rest, _, threshold = text.strip().rpartition("rel")
    if not rest:  # no rel: what looks like a comparison is one
        rest, threshold = text.strip(), ""
    head, *options = _SPACES.sub("=", rest).split() or [""]
    tail = _THRESHOLD.sub("rel>=", f"rel{threshold}", count=1).split() if threshold else []
    codes = re.split("[-_./]", head, maxsplit=2)
    if len(codes) < 3 and len(options) >= 2:  # blanks between the codes
        codes, options = [head, *options[:2]], options[2:]
    rule = "-".join(
        _nearest(code, known) for code, known in zip(codes, CODES.values(), strict=False)
    )
    words = [
        _THRESHOLD.sub("rel>=", word, count=1) if not threshold and ">" in word else _word(word)
        for word in (*options, *tail)
    ]
    sizes = [word for word in words if re.fullmatch(f"[tNm]={COUNT}", word)]
    levels = [word for word in words if word.startswith("rel>=")]
    sizes += [word for word in words if word.startswith("drawn=")]
    others = [word for word in words if word not in (*sizes, *levels)]
    # In the order in which they print.
    placed = sorted(others, key=lambda word: (word != "+train", word != "condensed"))
    train = [word for word in placed if word == "+train"]
    return " ".join([rule, *sizes, *train, *levels, *placed[len(train) :]])


def _word(word: str) -> str:
    """Give the option that a word is nearest to; a size is ``t``, ``N`` or ``m``."""
    if word.startswith("rel"):
        return word
    name, equals, value = word.partition("=")
    if equals and len(name) == 1:
        return f"{'N' if name.upper() == 'N' else name.lower()}={value}"
    return _nearest(name, _WORDS) + equals + value


def _nearest(code: str, known: Iterable[str]) -> str:
    """Give the name that was probably meant, or the code itself if none is like it."""
    return nearest(code, known, cutoff=0.5) or code
