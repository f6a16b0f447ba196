"""Claims of the papers and the verdicts that measurements give them.

The ledger (``data/published``) states each claim with what was published and where it was read,
what the paper asserts behind it, and the criterion of each assertion as a record: what is measured,
and the region that is claimed. From records and results follow *parts*, and
from these the verdict, by one rule; nobody types it.

`records` and `regions` say what is claimed, in the language that `expressions` reads; `evaluation`
measures it on `evidence`, by `values`, `functions` and `quantities`; `Region.verdict` and
`Part.verdict` (`parts`) decide what holds, is refuted or open; `judging` joins the core parts to
the verdict of a claim, and all alike to the strict one; `deciding` says what would decide what is
open; `home` and `answers` ask whether a claim is reproduced, and whether it generalises; `lock`
keeps criteria as they were before their first result. `topics` finds the folders of chapters,
`needs` says which data can test what; `short` asks claims in a short form, for audits. `writing`
joins all to a document, `reading` is what it says, and `kept` finds it again where nothing changed.
A name is imported when it is first used. Begin with `regions.Region.verdict`.
"""

from typing import TYPE_CHECKING

from recbias._system.later import import_later

if TYPE_CHECKING:
    from recbias.claims.checks import Check, Checks
    from recbias.claims.explaining import explain_claim
    from recbias.claims.judging import (
        Verdict,
        judge,
        judge_chapter,
        load_chapter,
        load_provenance,
        scorecard,
    )
    from recbias.claims.ledger import TOPICS, Claim, Erratum, claims, errata
    from recbias.claims.parts import NOT_TESTABLE, Part
    from recbias.claims.reading import VERDICTS
    from recbias.claims.topics import chapters

__all__ = [
    "NOT_TESTABLE",
    "TOPICS",
    "VERDICTS",
    "Check",
    "Checks",
    "Claim",
    "Erratum",
    "Part",
    "Verdict",
    "chapters",
    "claims",
    "errata",
    "explain_claim",
    "judge",
    "judge_chapter",
    "load_chapter",
    "load_provenance",
    "scorecard",
]

__getattr__ = import_later(
    __name__,
    {
        "Check": "recbias.claims.checks",
        "Checks": "recbias.claims.checks",
        "Claim": "recbias.claims.ledger",
        "Erratum": "recbias.claims.ledger",
        "NOT_TESTABLE": "recbias.claims.parts",
        "Part": "recbias.claims.parts",
        "TOPICS": "recbias.claims.ledger",
        "VERDICTS": "recbias.claims.reading",
        "Verdict": "recbias.claims.judging",
        "chapters": "recbias.claims.topics",
        "claims": "recbias.claims.ledger",
        "errata": "recbias.claims.ledger",
        "explain_claim": "recbias.claims.explaining",
        "judge": "recbias.claims.judging",
        "judge_chapter": "recbias.claims.judging",
        "load_chapter": "recbias.claims.judging",
        "load_provenance": "recbias.claims.judging",
        "scorecard": "recbias.claims.judging",
    },
)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
