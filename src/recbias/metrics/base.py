"""A metric is a value: it prints as the field writes it, parses back and is hashable."""

from __future__ import annotations

import re
from dataclasses import dataclass

from recbias.errors import ConfigError, unknown_name
from recbias.relevance import GainMap

__all__ = ["METRIC_NAMES", "Metric", "parse_metric"]

METRIC_NAMES = ("P", "R", "nDCG", "AP", "RR", "antiP")
_CUTOFF_REQUIRED = ("P", "R", "antiP")
_BINARY = GainMap("binary")
_PATTERN = re.compile(r"(?P<name>[^(@]*)(?:\((?P<gain>[^()@]*)\))?(?:@(?P<cutoff>.*))?")


@dataclass(frozen=True)
class Metric:
    """A metric, its cutoff and, for nDCG, its gain map.

    Parameters
    ----------
    name
        ``"P"``, ``"R"``, ``"nDCG"``, ``"AP"``, ``"RR"`` or ``"antiP"``.
    cutoff
        Places of the list that count, from 1; None = the whole list, not for P, R and antiP.
    gain
        Gain map of nDCG; binary for the others, which look at relevance only.

    Raises
    ------
    ConfigError
        If the name is unknown, the cutoff is no integer from 1 or missing where it is required, or
        a gain map other than binary is given to another metric than nDCG.

    See Also
    --------
    parse_metric : from text.
    recbias.metrics.positive : definitions of P, R, RR, AP and nDCG.
    recbias.metrics.false_positive : definition of antiP.

    Examples
    --------
    >>> str(Metric("nDCG", 10, GainMap("exp"))), str(Metric("AP"))
    ('nDCG(exp)@10', 'AP')
    """

    name: str
    cutoff: int | None = None
    gain: GainMap = _BINARY

    def __post_init__(self) -> None:
        if self.name not in METRIC_NAMES:
            raise unknown_name("metric", self.name, METRIC_NAMES)
        if self.gain != _BINARY and self.name != "nDCG":
            raise ConfigError(
                f"metric {self.name}({self.gain}): {self.name} looks at relevance only; "
                "a gain map belongs to nDCG"
            )
        if self.cutoff is None:
            if self.name in _CUTOFF_REQUIRED:
                raise ConfigError(f"metric {self.name}: it needs a cutoff, e.g. {self.name}@10")
        elif not isinstance(self.cutoff, int) or isinstance(self.cutoff, bool) or self.cutoff < 1:
            raise ConfigError(
                f"metric {self.name}@{self.cutoff}: a cutoff is an integer of at least 1"
            )

    def __str__(self) -> str:
        gain = "" if self.gain == _BINARY else f"({self.gain})"
        cutoff = "" if self.cutoff is None else f"@{self.cutoff}"
        return f"{self.name}{gain}{cutoff}"


def parse_metric(text: str) -> Metric:
    """Read a metric from the way it prints.

    Parameters
    ----------
    text
        ``NAME@CUTOFF``, ``NAME`` for AP, RR and nDCG of the whole list, ``nDCG(GAIN)@CUTOFF``.

    Returns
    -------
    Metric
        ``str`` of it is `text`, but for a gain map that is binary anyway.

    Raises
    ------
    ConfigError
        If the text is no metric; the nearest name, or what a cutoff may be, is in the message.

    Examples
    --------
    >>> parse_metric("P@10")
    Metric(name='P', cutoff=10, gain=GainMap(name='binary'))
    >>> str(parse_metric("nDCG(exp)@10"))
    'nDCG(exp)@10'
    """
    match = _PATTERN.fullmatch(text.strip())
    if match is None or match["name"] not in METRIC_NAMES:
        raise unknown_name("metric", text if match is None else match["name"], METRIC_NAMES)
    cutoff = None
    if match["cutoff"] is not None:
        if not re.fullmatch(r"-?[0-9]+", match["cutoff"]):
            raise ConfigError(
                f"metric {text!r}: the cutoff {match['cutoff']!r} is not an integer of at least 1"
            )
        cutoff = int(match["cutoff"])
    gain = _BINARY if match["gain"] is None else GainMap.parse(match["gain"])
    return Metric(match["name"], cutoff, gain)
