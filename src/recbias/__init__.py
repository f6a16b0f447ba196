"""Biases in offline recommender evaluation, measured.

The names here are what a chapter or a script of one's own needs; everything else lives in the
module that its noun names.
"""

from recbias.caches import name_caches

name_caches()  # before the libraries are imported that need them

from recbias.datasets import load_dataset  # noqa: E402
from recbias.experiment import Results, run  # noqa: E402
from recbias.grid import Grid  # noqa: E402
from recbias.protocol import Protocol  # noqa: E402
from recbias.recommenders import Recommender, System, line_up  # noqa: E402

__all__ = ["Grid", "Protocol", "Recommender", "Results", "System", "line_up", "load_dataset", "run"]
