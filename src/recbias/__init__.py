"""Biases in offline recommender evaluation, measured.

The names here are what a chapter or a script of one's own needs; everything else lives in the room
that its noun names (CONTRIBUTING.md lists them). A name is imported when it is first used.
"""

from typing import TYPE_CHECKING

from recbias._system.caches import name_caches
from recbias._system.later import import_later

name_caches()  # before the libraries are imported that need them

if TYPE_CHECKING:
    from recbias.data.datasets import load_dataset
    from recbias.experiment.grid import Grid
    from recbias.experiment.measurement import Measurement, measure
    from recbias.experiment.reconciling import reconcile
    from recbias.experiment.run import Results, plan, run
    from recbias.protocol.protocol import Protocol
    from recbias.recommenders import Recommender, System, line_up

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
    "plan",
    "reconcile",
    "run",
]

__getattr__ = import_later(
    __name__,
    {
        "Grid": "recbias.experiment.grid",
        "Measurement": "recbias.experiment.measurement",
        "Protocol": "recbias.protocol.protocol",
        "Recommender": "recbias.recommenders",
        "Results": "recbias.experiment.run",
        "System": "recbias.recommenders",
        "line_up": "recbias.recommenders",
        "load_dataset": "recbias.data.datasets",
        "measure": "recbias.experiment.measurement",
        "plan": "recbias.experiment.run",
        "reconcile": "recbias.experiment.reconciling",
        "run": "recbias.experiment.run",
    },
)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
