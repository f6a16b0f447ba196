"""The parts of a verdict: what was found for each assertion, and how they join."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from recbias.claims.ledger import NEEDS, Claim
from recbias.claims.records import Record
from recbias.experiment.results import Quantity, StoredResult

_LOST = ("dataset not here", "value lost")

BARRED = ("about practice", "a cause without a test", "presentation")
"""Reasons why nothing could decide an assertion, on any data; a core of such bars its claim."""

NOT_TESTABLE = tuple(dict.fromkeys((*NEEDS.values(), *_LOST, *BARRED)))
"""The only reasons for which a claim or a part may be declared not testable."""

PART_VERDICTS = ("holds", "refuted", "open", "not testable")
"""What may become of a part that decides."""

ChapterResults = Mapping[str, StoredResult]
"""A chapter's results by name, of any kind."""


@dataclass(frozen=True)
class Reading:
    """A number that a part was made of, by its place.

    Attributes
    ----------
    edition
        Data set of the results; empty for the edition that is judged.
    table
        Name of the results.
    what
        Metric, label and system; or the name of a check or statistic.
    value
        What stands there.
    """

    edition: str
    table: str
    what: str
    value: float


@dataclass(frozen=True)
class Part:
    """One assertion, as it was found.

    Attributes
    ----------
    record
        The criterion.
    estimate
        The measured quantity, or a number that is exact; None where nothing could be measured.
    which
        The system that it is about, where one of several was chosen or each has a part.
    halves
        The same by either half of the replicates: a verdict that they do not share hangs on the
        seed of the resampling.
    numbers
        Those behind the value that its sentence may show, by the names of `Record.numbers`.
    lacks
        Why it cannot be tested here, one of :data:`NOT_TESTABLE`.
    unsure
        Why it stays open whatever the interval says.
    read
        What it was made of.

    Examples
    --------
    >>> record = Record.from_dict({"finds": "off by {value}", "value": "check(sum)",
    ...                            "unit": "violation", "most": 0})
    >>> part = Part(record, 0.0)
    >>> part.verdict, part.sentence
    ('holds', 'off by none; claimed: none')
    """

    record: Record
    estimate: Quantity | float | None
    which: str = ""
    halves: tuple[Quantity | float, ...] = ()
    numbers: Mapping[str, float] = field(default_factory=dict, hash=False)
    lacks: str = ""
    unsure: str = ""
    read: tuple[Reading, ...] = ()

    @property
    def value(self) -> float:
        """The point estimate; NaN where nothing could be measured."""
        if isinstance(self.estimate, Quantity):
            return self.estimate.value
        return float("nan") if self.estimate is None else float(self.estimate)

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval; of no width for an exact number."""
        return _interval(self.estimate)

    @property
    def verdict(self) -> str:
        """``holds``, ``refuted`` or ``open``; ``beside`` for what decides nothing."""
        if self.lacks:
            return "not testable"
        if not self.record.decides:
            return "beside"
        if self.unsure:
            return "open"
        verdicts = {
            self.record.region.verdict(*_interval(quantity))
            for quantity in (self.estimate, *self.halves)
        }
        return verdicts.pop() if len(verdicts) == 1 else "open"

    @property
    def sentence(self) -> str:
        """What was found, and what was claimed."""
        if self.estimate is None:
            return self.record.asked
        return self.record.sentence(self.value, self.which, self._shown, self.interval)

    @property
    def finding(self) -> str:
        """What was found; empty where nothing could be measured."""
        if self.estimate is None:
            return ""
        return self.record.finding(self.value, self.which, self._shown, self.interval)

    @property
    def _shown(self) -> Mapping[str, float]:
        """Numbers that the sentence may show: those behind the value, and of how many it counts."""
        cases = self.estimate.cases if isinstance(self.estimate, Quantity) else None
        return self.numbers if cases is None else {**self.numbers, "cases": cases}


def _interval(estimate: Quantity | float | None) -> tuple[float, float]:
    """Give the ends; of what is undefined there are none, whatever its replicates are."""
    value = float("nan")
    if isinstance(estimate, Quantity):
        if not math.isnan(estimate.value):
            return estimate.interval
    elif estimate is not None:
        value = float(estimate)
    return value, value


def is_core(record: Record, claim: Claim) -> bool:
    """Tell whether a claim's message hangs on what a record asks; all do where nothing is coded."""
    return not claim.asserts or not set(record.asserts).isdisjoint(claim.core)


WEIGHTS = ("refuted", "open", "holds", "not testable", "beside")
"""Verdicts on parts, the one that a reader should see first in front."""


def weight(claim: Claim, part: Part) -> tuple[bool, int, bool]:
    """Order parts: those of the core first, among them what the data contradict."""
    anyhow = part.verdict == "holds" and not part.record.supports
    return not is_core(part.record, claim), WEIGHTS.index(part.verdict), anyhow


def of_form(parts: Iterable[Part], *, corrected: bool = False) -> list[Part]:
    """Choose the parts that decide the printed form of a claim, or the corrected one."""
    of_other_form = "corrected" if corrected else "corrects"
    return [
        part for part in parts if part.record.decides and not getattr(part.record, of_other_form)
    ]


def decide(
    parts: Iterable[Part],
    claim: Claim,
    untested: Iterable[str] = (),
    *,
    corrected: bool = False,
) -> tuple[str, str]:
    """Join the core parts of a claim to its verdict; details have no say.

    Parameters
    ----------
    parts
        All that was found, of either form.
    claim
        Says which assertions are core.
    untested
        Why core assertions that no part is about could not be tested, such as ``"other data"``.
    corrected
        Whether the corrected form is meant.

    Returns
    -------
    verdict, reason : str
        The verdict is empty where the claim has no core part at all. The reason says what forbids
        "yes", or why nothing can be tested.
    """
    core = [part for part in of_form(parts, corrected=corrected) if is_core(part.record, claim)]
    lacks = [*dict.fromkeys([*(part.lacks for part in core if part.lacks), *untested])]
    verdicts = {
        part.verdict for part in core if part.record.supports or part.verdict != "holds"
    } - {"not testable"}
    if "refuted" in verdicts:
        return ("partly" if "holds" in verdicts else "no"), ""
    if not verdicts:
        return ("not testable here" if core or lacks else ""), next(iter(lacks), "")
    if lacks:
        return "undecided", f"a core part cannot be tested here: {', '.join(lacks)}"
    return ("undecided" if "open" in verdicts else "yes"), ""


def count_details(
    parts: Iterable[Part], claim: Claim, *, corrected: bool = False
) -> dict[str, int]:
    """Count the parts that are no core by what became of them; what did not occur is left out."""
    counts = Counter(
        part.verdict
        for part in of_form(parts, corrected=corrected)
        if not is_core(part.record, claim)
    )
    return {name: counts[name] for name in PART_VERDICTS if counts[name]}


def combine(parts: Iterable[Part], *, corrected: bool = False) -> str:
    """Join all parts of a claim alike, core or not: the strict verdict, the rule before the core.

    What holds on any data does not speak for a claim. Empty where nothing could be tested.
    """
    verdicts = {
        part.verdict
        for part in of_form(parts, corrected=corrected)
        if part.record.supports or part.verdict != "holds"
    } - {"not testable"}
    if not verdicts:
        return ""
    if "refuted" in verdicts:
        return "partly" if "holds" in verdicts else "no"
    return "undecided" if "open" in verdicts else "yes"
