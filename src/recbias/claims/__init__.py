"""Claims of the papers and the verdicts that measurements give them.

The ledger (``data/published``) states each claim with what was published and where it was read,
what the paper asserts behind it, and the criterion of each assertion as a record: what is measured,
how it is combined, and the region that is claimed. From records and results follow *parts*, and
from these the verdict, by one rule; nobody types it.
"""

from recbias.claims.cards import (
    assertion_counts,
    scorecard_html,
    totals,
    verdict_cards,
)
from recbias.claims.checks import Check, Checks
from recbias.claims.explaining import explain_claim
from recbias.claims.findings import state
from recbias.claims.judging import (
    VERDICTS,
    Verdict,
    judge,
    judge_chapter,
    load_chapter,
    load_provenance,
    scorecard,
)
from recbias.claims.ledger import TOPICS, Claim, Erratum, claims, errata
from recbias.claims.parts import NOT_TESTABLE, Part
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
    "assertion_counts",
    "chapters",
    "claims",
    "errata",
    "explain_claim",
    "judge",
    "judge_chapter",
    "load_chapter",
    "load_provenance",
    "scorecard",
    "scorecard_html",
    "state",
    "totals",
    "verdict_cards",
]
