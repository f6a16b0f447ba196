"""Biases in offline recommender evaluation, measured.

The names here are what a chapter or a script of one's own needs; everything else lives in the room
that its noun names (CONTRIBUTING.md lists them).
"""

from recbias._system.caches import name_caches

name_caches()  # before the libraries are imported that need them

from recbias.data.datasets import load_dataset  # noqa: E402
from recbias.experiment.grid import Grid  # noqa: E402
from recbias.experiment.measurement import Measurement, measure  # noqa: E402
from recbias.experiment.run import Results, run  # noqa: E402
from recbias.protocol.protocol import Protocol  # noqa: E402
from recbias.recommenders import Recommender, System, line_up  # noqa: E402

__all__ = [
    "Grid",
    "Measurement",
    "Protocol",
    "Recommender",
    "Results",
    "System",
    "line_up",
    "load_dataset",
    "measure",
    "run",
]
