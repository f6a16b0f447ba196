"""Biases in offline recommender evaluation, measured.

The names here are what a chapter or a script of one's own needs; everything else lives in the
module that its noun names.
"""

from recbias.datasets import load_dataset
from recbias.experiment import Results, run
from recbias.grid import Grid
from recbias.protocol import Protocol
from recbias.recommenders import Recommender, System, line_up

__all__ = ["Grid", "Protocol", "Recommender", "Results", "System", "line_up", "load_dataset", "run"]
