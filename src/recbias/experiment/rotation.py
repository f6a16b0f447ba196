"""Which recorded results a change has computed anew: a sample that rotates with the commit.

All results of all data sets take longer than a change can wait, and a sample that never changes
leaves most of them out for ever. So each commit draws some, from its hash: another machine draws
the same, and no one chooses. What a result takes is listed in ``data/recorded/costs.json``, in
seconds of one processor, or estimated from another data set by their numbers of ratings. What takes
too long for any sample is computed by `make prove` alone (`beyond_samples` names it).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import NamedTuple

from recbias.data.datasets import registry
from recbias.errors import StoreError
from recbias.experiment.results import SIMULATIONS, results_dir, stored_results
from recbias.experiment.store import digest, read_document

__all__ = ["SECONDS", "Drawn", "beyond_samples", "draw_sample"]

COSTS = "costs.json"

SECONDS = 180
"""What the results of a sample may take together, one after the other."""

_SYSTEMS = 2
"""Systems of a grid that costs are about, and that are drawn unless one of them takes too long."""


class Drawn(NamedTuple):
    """A result that is to be computed anew.

    Attributes
    ----------
    dataset
        Name of a data set, or of the simulations.
    result
        Name of the result.
    systems
        Those of its systems that are drawn; None where it is computed as a whole.
    seconds
        What that is expected to take.
    """

    dataset: str
    result: str
    systems: tuple[str, ...] | None
    seconds: float

    def __str__(self) -> str:
        of_grid = f", {' and '.join(self.systems)}" if self.systems else ""
        return f"{self.dataset}: {self.result}{of_grid} (about {self.seconds:.0f} s)"


class _Known(NamedTuple):
    """A result that may be drawn: its systems, if it is a grid, and how many of them."""

    dataset: str
    result: str
    systems: tuple[str, ...] | None
    n_systems: int
    seconds: float


def draw_sample(
    commit: str, datasets: Iterable[str], *, seconds: float = SECONDS
) -> tuple[Drawn, ...]:
    """Draw recorded results, and systems of grids, by a commit.

    All have an order by chance, from the digest of commit and name; from the first on each is taken
    that fits into the time that is left. Little fits where much was taken, so that what takes long
    comes sooner, by the root of its seconds: else short results would push long ones out.

    Parameters
    ----------
    commit
        Hash of a commit, or any text.
    datasets
        Names of the data sets at hand; results of others are not drawn.
    seconds
        What the sample may take.

    Returns
    -------
    tuple of Drawn
        By data set and name of the result.

    Raises
    ------
    StoreError
        If the list of costs is missing or damaged, or a recorded result is.
    """
    fitting = [known for known in _known_results(datasets) if known.seconds <= seconds]
    drawn, left = [], seconds
    for known in sorted(fitting, key=lambda known: _turn(commit, known)):
        if known.seconds > left:
            continue
        left -= known.seconds
        systems = known.systems
        if systems is not None:
            by_commit = sorted(systems, key=lambda name: digest([commit, *known[:2], name]))
            chosen = set(by_commit[: known.n_systems])
            systems = tuple(name for name in systems if name in chosen)
        drawn.append(Drawn(known.dataset, known.result, systems, known.seconds))
    return tuple(sorted(drawn, key=lambda each: each[:2]))


def _turn(commit: str, known: _Known) -> float:
    """Wait an exponential time, so that of two results each is first as often as it weighs."""
    uniform = (int(digest([commit, *known[:2]])[:13], 16) + 1) / 16**13
    return -math.log(uniform) / math.sqrt(max(1.0, known.seconds))


def beyond_samples(datasets: Iterable[str], *, seconds: float = SECONDS) -> tuple[str, ...]:
    """Name the results that take too long for any sample, as ``dataset/result``; errors as above.

    Parameters
    ----------
    datasets, seconds
        As of `draw_sample`.
    """
    return tuple(
        f"{known.dataset}/{known.result}"
        for known in _known_results(datasets)
        if known.seconds > seconds
    )


def _known_results(datasets: Iterable[str]) -> list[_Known]:
    """List what may be drawn of data sets, with what it takes."""
    costs = _read_costs()
    known = []
    for dataset in datasets:
        for result, path in stored_results(results_dir(dataset, recorded=True)).items():
            document = read_document(path.with_suffix(".json"))
            seconds, n_systems = _cost(dataset, result, costs), _SYSTEMS
            systems = None
            if document["kind"] == "grid":
                systems = tuple(system["name"] for system in document["parameters"]["systems"])
                if seconds > SECONDS:  # a system alone takes half of it
                    seconds, n_systems = seconds / _SYSTEMS, 1
            known.append(_Known(dataset, result, systems, n_systems, seconds))
    return known


def _cost(dataset: str, result: str, costs: dict[str, dict[str, float]]) -> float:
    """Tell what a result takes, by the data set of the nearest size for which it is listed."""
    if result in costs.get(dataset, {}):
        return costs[dataset][result]
    sizes = {name: info.n_ratings or 1 for name, info in registry().items()}
    size = sizes.get(dataset, 1)
    listed = [
        (max(size, sizes[other]) / min(size, sizes[other]), costs[other][result], sizes[other])
        for other in costs
        if other != SIMULATIONS and other in sizes and result in costs[other]
    ]
    if not listed or dataset == SIMULATIONS:
        return SECONDS  # alone in a sample, until somebody lists what it takes
    _, seconds, other_size = min(listed)
    return round(seconds * size / other_size, 1)


def _read_costs() -> dict[str, dict[str, float]]:
    path = results_dir("", recorded=True) / COSTS
    try:
        listed = json.loads(path.read_text(encoding="utf-8"))
        return {
            dataset: {result: float(seconds) for result, seconds in results.items()}
            for dataset, results in listed.items()
        }
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise StoreError(
            f"{path}: not a list of what results take ({error!r})\n"
            "restore it; python tests/measure_costs.py DATASET ... measures it again"
        ) from error
