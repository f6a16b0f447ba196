"""What each algorithm computes on a small table: the guard of `Algorithm.revision`.

``python tests/golden_algorithms.py`` renews ``golden_algorithms.json``. Do so together with a
raised `revision` of the class that changed, or after adding a class or an optional parameter.
"""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from golden import digits
from recbias.recommenders import System, algorithm, algorithms
from recommender_tables import small_table

FILE = Path(__file__).with_name("golden_algorithms.json")

LEFT_OUT = ("ImplicitALS",)
"""It calls BLAS in float32, whose kernels differ between processors (see tests/golden.py)."""


def summary(scores: np.ndarray) -> dict[str, float]:
    """Reduce scores to numbers that any change moves, and that no processor does.

    Scores are float32. Where another processor rounds the last bit of any of n of them the other
    way, these numbers move by at most 6e-8 of the root mean square, and typically by that over the
    root of n: nine digits hold.
    """
    found = scores[~np.isnan(scores)].astype(np.float64)
    weights = np.random.default_rng(9).random(scores.shape)[~np.isnan(scores)]
    size = np.sqrt(np.mean(found**2))
    return {
        "computable": len(found),
        "size": digits(size),
        "mean": digits(np.mean(found)),
        "weighted": digits(np.mean(found * weights)),
    }


def row(name: str) -> dict[str, Any]:
    """Train one class with its defaults, and describe it."""
    train = small_table(seed=3, n_users=40, n_items=30, levels=5)
    with threadpool_limits(1):
        model = algorithm(name)().fit(train, rng=np.random.default_rng(1))
        scores = model.score(np.arange(train.n_users))
    return {
        "revision": System(name, name).identity()["revision"],
        "parameters": {
            parameter: known.default
            for parameter, known in inspect.signature(algorithm(name)).parameters.items()
        },
        "scores": summary(scores),
    }


def names() -> list[str]:
    """List the package's own classes: tests register others."""
    return [
        name
        for name in algorithms()
        if algorithm(name).__module__.startswith("recbias.") and name not in LEFT_OUT
    ]


def complaint(name: str, found: dict[str, Any], recorded: dict[str, Any] | None) -> str | None:
    """Say what is wrong with a class, if something is."""
    if recorded is None:
        return f"{name}: not recorded"
    if found["revision"] != recorded["revision"]:
        return f"{name}: revision {found['revision']}, recorded is {recorded['revision']}"
    for parameter, default in recorded["parameters"].items():
        if parameter not in found["parameters"]:
            return f"{name}: parameter {parameter} is gone, revision is not raised"
        if found["parameters"][parameter] != default:
            return f"{name}: another default of {parameter}, revision is not raised"
    size = recorded["scores"]["size"]
    for number, value in recorded["scores"].items():
        ours = found["scores"][number]
        if not abs(ours - value) <= (0 if number == "computable" else 1e-8 * size):
            return f"{name}: other scores ({number} {value:.9g} became {ours:.9g})"
    return None


def main() -> None:
    """Renew the file."""
    rows = {name: row(name) for name in names()}
    FILE.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
