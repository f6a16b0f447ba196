"""Audit a small world, and leave its report: ``python audited.py OUT.html``."""

import sys
from pathlib import Path

from recbias import System
from recbias.audit import audit

FEW = {"C1": ("AI-AN-AR", "condensed"), "C2": ("metric: P@10", "metric: antiP@10")}
PAIR = System("Popularity", "Popularity"), System("Average rating", "AverageRating")

if __name__ == "__main__":
    found = audit("world(users=60,items=80)", *PAIR, split="ratio 0.5", options=FEW)
    found.save(Path(sys.argv[1]))
