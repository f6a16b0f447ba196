"""One audit that tests of several files look at."""

import pytest

import recbias.claims.short  # noqa: F401  # what audits ask of claims
from recbias import System
from recbias.audit import audit

WORLD = "world(users=60,items=80)"
FEW = {
    "A2": ("split: ratio 0.5", "split: ratio 0.2"),
    "C1": ("AI-AN-AR", "condensed"),
    "C2": ("metric: P@10", "metric: nDCG@10"),
}
PAIR = (System("Popularity", "Popularity"), System("Random", "Random"))


@pytest.fixture(scope="session")
def audited():
    return audit(WORLD, *PAIR, split="ratio 0.5", options=FEW)
