"""What would decide what is open: users, seeds or judgments, from the interval at hand.

The width of an interval that resamples users falls with the root of their number. If the estimate
stays where it is, the number that puts the whole interval on one side of the criterion follows.
That is a guess from one sample: with so many users about half of all samples decide.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from recbias.claims.expressions import Call, walk
from recbias.claims.ledger import Claim
from recbias.claims.parts import Part
from recbias.claims.quantities import FAR
from recbias.claims.regions import Region
from recbias.experiment.results import SIMULATIONS, Quantity
from recbias.experiment.training_seeds import ORDER_SEEDS

AT_THRESHOLD = 1000.0
"""An estimate for which more is needed lies at the threshold, as far as these data can tell."""

USERS, JUDGMENTS = "users", "judgments of items drawn at random"
WORLDS, DRAWS = "simulated worlds", "random splits or samples"

_COUNTING = frozenset(
    {
        "above",
        "count",
        "distinct",
        "flips",
        "opposed",
        "reversed",
        "share",
        "share_of_orders",
        "tau",
    }
)
"""What is made of cases that are resolved or not, so that its interval does not fall smoothly."""

_LACKING = {
    "no timestamps": "data with timestamps",
    "merged stars": "data whose stars are not merged",
    "no negatives": "data with signs of dislike",
    "no unbiased part": "ratings of items drawn at random",
    "pool too small": "more judgments, as too few rated items stand to be ranked",
    "dataset not here": "the data set that it names, which is not to be had",
}
"""What would let a part be tested, by the reason why it cannot be."""

_LOST = "the printed value is lost"


@dataclass(frozen=True)
class Wanted:
    """What a part waits for.

    Attributes
    ----------
    what
        :data:`USERS`, :data:`JUDGMENTS`, :data:`WORLDS` or :data:`DRAWS`, or in words what else;
        empty where it cannot be told.
    factor
        How many times as many; NaN where that is no question.
    why
        Why it cannot be told.
    """

    what: str
    factor: float = math.nan
    why: str = ""

    def __str__(self) -> str:
        """Write it as the end of a sentence."""
        if not self.what:
            return f"cannot be told: {self.why}"
        return self.what if math.isnan(self.factor) else f"about {_times(self.factor)} {self.what}"


def _times(factor: float) -> str:
    """Write a factor, rounded up to two digits.

    Examples
    --------
    >>> _times(1.301), _times(4.0), _times(123.4)
    ('1.4 times as many', '4 times as many', '130 times as many')
    """
    unit = 10.0 ** (math.floor(math.log10(factor)) - 1)
    return f"{round(math.ceil(factor / unit - 1e-9) * unit, 6):g} times as many"


def factor_needed(value: float, low: float, high: float, region: Region) -> float:
    """Tell how many times as many users put an interval on one side, if the estimate stays.

    Infinite where the estimate lies at an end of the region.

    Examples
    --------
    >>> factor_needed(2.0, 0.0, 4.0, Region(above=1.0))
    4.0
    >>> factor_needed(0.0, -1.0, 4.0, Region(above=1.0))
    16.0
    >>> factor_needed(1.0, 0.0, 4.0, Region(above=1.0))
    inf
    """
    least, most = max(region.least, region.above), min(region.most, region.below)
    if value < least:
        sides = [(high - value, least - value)]
    elif value > most:
        sides = [(value - low, value - most)]
    else:
        sides = [(value - low, value - least), (high - value, most - value)]
    return max(_squared(width, room) for width, room in sides)


def _squared(width: float, room: float) -> float:
    if math.isinf(room):
        return 0.0
    return (max(width, 0.0) / room) ** 2 if room > 0 else math.inf


def wanted(part: Part, claim: Claim) -> list[Wanted]:
    """Say what would decide a part that is open or not testable; nothing for any other."""
    if part.verdict == "not testable":
        return [_lacking(part.lacks)]
    if part.verdict != "open":
        return []
    found = []
    if part.unsure:
        names = part.unsure.partition(": ")[2]
        found.append(
            Wanted(
                f"{ORDER_SEEDS} training seeds in each fold" + (f", of {names}" if names else "")
            )
        )
    quantities = [_as_quantity(each) for each in (part.estimate, *part.halves)]
    verdicts = {part.record.region.verdict(*each.interval) for each in quantities}
    if not part.unsure or verdicts not in ({"holds"}, {"refuted"}):
        found.append(_more(quantities, part, claim))
    return found


def _as_quantity(estimate: Quantity | float | None) -> Quantity:
    """Make a quantity of an exact number, whose interval has no width; undefined of nothing."""
    if isinstance(estimate, Quantity):
        return estimate
    value = math.nan if estimate is None else float(estimate)
    return Quantity(value, None, limits=(value, value))


def _lacking(reason: str) -> Wanted:
    return Wanted(_LACKING[reason]) if reason in _LACKING else Wanted("", why=_LOST)


def _more(quantities: list[Quantity], part: Part, claim: Claim) -> Wanted:
    """Tell how many more of what an interval is made of; the halves have to agree as well."""
    estimate = quantities[0]
    if math.isnan(estimate.value):
        return Wanted("", why="its value is undefined on these data")
    if any(math.isnan(end) for each in quantities for end in each.interval):
        return Wanted("", why="its value has no interval")
    if _counts(part):
        return Wanted("", why="more users would decide more of the cases, one way or the other")
    if _misses(part):
        factor = max(_to_show(each) for each in quantities)
    else:
        factor = max(
            factor_needed(each.value, *_unclipped(each), part.record.region) for each in quantities
        )
    if factor > AT_THRESHOLD:
        return Wanted("", why="the estimate lies at the threshold")
    if factor <= 1:
        return Wanted("", why="it hangs on the seed of the resampling")
    return Wanted(_unit(part, claim), factor)


def _counts(part: Part) -> bool:
    """Tell whether a part's value is made of cases that are resolved or not."""
    record = part.record
    if isinstance(part.estimate, Quantity) and part.estimate.cases is not None:
        return True
    return any(isinstance(n, Call) and n.name in _COUNTING for n in walk(record.expression))


def _misses(part: Part) -> bool:
    """Tell whether a part's value is a distance in standard errors, open where these are large."""
    node = part.record.expression
    return isinstance(node, Call) and node.name == "misses"


def _to_show(quantity: Quantity) -> float:
    """Tell how many times as many users make `FAR` standard errors as small as is asked for."""
    low, high = quantity.interval
    return (high / FAR) ** 2 if high > low else 1.0


def _unclipped(quantity: Quantity) -> tuple[float, float]:
    """Give the ends; of a size, whose interval is cut at 0, as if it went on below."""
    low, high = quantity.interval
    if low == 0 < quantity.value:
        low = min(low, 2 * quantity.value - high)
    return low, high


def _unit(part: Part, claim: Claim) -> str:
    """Say of what more would narrow a part's interval."""
    if claim.simulation or {reading.edition for reading in part.read} == {SIMULATIONS}:
        return WORLDS
    if isinstance(part.estimate, Quantity) and part.estimate.df is not None:
        return DRAWS
    return JUDGMENTS if "unbiased" in (*claim.needs, *part.record.needs) else USERS


def what_decides(parts: Iterable[Part], claim: Claim, untested: Iterable[str] = ()) -> str:
    """Say in a sentence what would decide parts of a claim; empty where all are decided.

    Parameters
    ----------
    parts
        Those that have to be decided: of the core.
    claim
        The claim.
    untested
        Why core assertions that no part is about could not be tested.
    """
    all_wanted = [each for part in parts for each in wanted(part, claim)]
    all_wanted += [_lacking(reason) for reason in untested]
    most: dict[tuple[str, str], Wanted] = {}
    for each in all_wanted:
        known = most.setdefault((each.what, each.why), each)
        if each.factor > known.factor:
            most[each.what, each.why] = each
    told = [str(each) for each in most.values() if each.what]
    doubtful = [each.why for each in most.values() if not each.what]
    sentences = [f"What would decide it: {', and '.join(told)}."] if told else []
    if doubtful:
        whose = "of a part it" if told else "what would decide it"
        text = f"{whose} cannot be told: {', and '.join(doubtful)}."
        sentences.append(text[0].upper() + text[1:])
    return " ".join(sentences)
