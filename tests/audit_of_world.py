"""One audit that tests of several files look at."""

from functools import cache

import recbias.claims.short  # noqa: F401  # what audits ask of claims
from recbias import System
from recbias.audit import Audit, audit

WORLD = "world(users=60,items=80)"
FEW = {
    "A2": ("split: ratio 0.5", "split: ratio 0.2"),
    "C1": ("AI-AN-AR", "condensed"),
    "C2": ("metric: P@10", "metric: nDCG@10"),
}
PAIR = (System("Popularity", "Popularity"), System("Random", "Random"))


@cache
def audited_world() -> Audit:
    return audit(WORLD, *PAIR, split="ratio 0.5", options=FEW)
