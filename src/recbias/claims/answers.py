"""The two answers about a claim: whether it is reproduced, and whether it generalises.

Reproduced: the verdict on the data sets where it is at home (`recbias.claims.home`), by the core
parts of all of them together. Generalises: on how many of the other data sets it holds, fails, is
open. Neither says anything about the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from recbias.claims.home import NO_DATA, hangs_on_no_data, home
from recbias.claims.judging import Verdict, by_parts
from recbias.claims.ledger import Claim
from recbias.claims.parts import Part
from recbias.claims.reading import NOT_AT_HAND

FATES: Mapping[str, str] = {
    "yes": "holds",
    "partly": "fails in part",
    "no": "fails",
    "undecided": "is open",
}
"""What a verdict on another data set says of whether a claim generalises."""


@dataclass(frozen=True)
class Answers:
    """What became of a claim on all data sets with recorded results.

    Attributes
    ----------
    claim
        The claim.
    home
        The data sets at hand on which it counts as reproduced; empty if there are none. Of what
        hangs on no data all of them.
    at_home
        The verdict on each of them.
    reproduced
        The verdict on all of them together, by the core; ``not at hand`` where nobody here has the
        data.
    reason
        Why there is no decision, or what forbids "yes".
    strict
        The same by all parts alike.
    corrected
        As `reproduced`, of the corrected form; empty where no erratum has one.
    counts
        How many of the other data sets have each of :data:`FATES`; empty where the question is not
        asked.
    no_data
        Whether it hangs on no data, so that it counts once.
    """

    claim: Claim
    home: tuple[str, ...]
    reproduced: str
    reason: str = ""
    strict: str = ""
    counts: Mapping[str, int] = field(default_factory=dict, hash=False)
    no_data: bool = False
    at_home: Mapping[str, str] = field(default_factory=dict, hash=False)
    corrected: str = ""

    @property
    def where(self) -> str:
        """The data sets of the first answer, in words, with their verdicts where these differ."""
        if self.no_data or not self.home:
            return NO_DATA if self.no_data else NOT_AT_HAND
        differ = len(set(self.at_home.values())) > 1
        names = (f"{name}: {self.at_home[name]}" if differ else name for name in self.home)
        return ", ".join(names)

    @property
    def asks_elsewhere(self) -> bool:
        """Whether a claim is asked of other data: not where it is about one data set, or none."""
        return not self.no_data and self.claim.scope != "data"

    @property
    def generalises(self) -> str:
        """The second answer in words, such as ``holds on 4 of 5``.

        Examples
        --------
        >>> from recbias.claims import claims
        >>> claim = next(claim for claim in claims() if claim.id == "BCC17-C-OTHER")
        >>> Answers(claim, ("ml-1m",), "yes", counts={"holds": 4, "is open": 1}).generalises
        'holds on 4 of 5, is open on 1'
        """
        if not self.asks_elsewhere:
            return "counts once" if self.no_data else "about its own data"
        total = sum(self.counts.values())
        if not total:
            return "no other data can test it"
        told = [f"holds on {self.counts.get('holds', 0)} of {total}"]
        told += [
            f"{fate} on {self.counts[fate]}"
            for fate in FATES.values()
            if fate != "holds" and self.counts.get(fate)
        ]
        return ", ".join(told)

    def to_dict(self) -> dict[str, Any]:
        """Write the answers as JSON-able values."""
        return {
            "no data": self.no_data,
            "home": [] if self.no_data else list(self.home),
            "at home": {} if self.no_data else dict(self.at_home),
            "reproduced": self.reproduced,
            "strict": self.strict,
            "corrected": self.corrected,
            "reason": self.reason,
            "generalises": dict(self.counts),
            "where": self.where,
            "elsewhere": self.generalises,
        }


def answer(verdicts: Mapping[str, Verdict]) -> Answers:
    """Answer both questions of one claim.

    Parameters
    ----------
    verdicts
        Of the claim on all data sets with recorded results, by data set.

    Returns
    -------
    Answers
        A data set that cannot test a claim, or was not asked, does not count.
    """
    claim = next(iter(verdicts.values())).claim
    own, apart = home(claim, verdicts), hangs_on_no_data(claim)
    counts: dict[str, int] = {}
    if not apart and claim.scope != "data":
        for name, verdict in verdicts.items():
            if name not in own and verdict.verdict in FATES:
                fate = FATES[verdict.verdict]
                counts[fate] = counts.get(fate, 0) + 1
    if not own:
        return Answers(claim, own, NOT_AT_HAND, counts=counts, no_data=apart)
    together = joined([verdicts[name] for name in own])
    at_home = {name: verdicts[name].verdict for name in own}
    return Answers(
        claim,
        own,
        together.verdict,
        together.reason,
        together.strict,
        counts,
        apart,
        at_home,
        together.corrected,
    )


def joined(verdicts: Sequence[Verdict]) -> Verdict:
    """Judge a claim by what was found on several data sets together.

    A part that only some of them can test is tested by these.
    """
    tested = [verdict for verdict in verdicts if verdict.verdict in FATES]
    if not tested or len(verdicts) == 1:
        return verdicts[0]
    parts = [part for verdict in tested for part in verdict.parts]
    settled = {part.record for part in parts if not part.lacks}
    kept: list[Part] = [part for part in parts if not part.lacks or part.record not in settled]
    return by_parts(verdicts[0].claim, kept, verdicts[0].origin, verdicts[0].criterion)


def answers(scorecards: Mapping[str, Sequence[Verdict]]) -> list[Answers]:
    """Answer both questions of each claim, in the order of the ledger.

    Parameters
    ----------
    scorecards
        Verdicts on all claims by data set, as `recbias.claims.judging.scorecards` gives them, of
        all data sets that are at hand.
    """
    by_claim: dict[str, dict[str, Verdict]] = {}
    for name, verdicts in scorecards.items():
        for verdict in verdicts:
            by_claim.setdefault(verdict.claim.id, {})[name] = verdict
    return [answer(of_claim) for of_claim in by_claim.values()]
