"""Claims of the papers and the verdicts that measurements give them.

The ledger (``data/published/claims.yaml``) states each claim with what was published and where it
was read. A chapter's module holds the criterion of each of its claims: a function from results to
*parts*, each an estimate with its interval and the region that the claim allows. The verdict
follows from the parts by one rule; nobody types it.
"""

from recbias.claims.checks import Check, Checks
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
from recbias.claims.showing import scorecard_html, totals, verdict_cards
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
    "judge",
    "judge_chapter",
    "load_chapter",
    "load_provenance",
    "scorecard",
    "scorecard_html",
    "totals",
    "verdict_cards",
]
