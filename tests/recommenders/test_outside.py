"""What a user adds from outside the package: a system, metrics, a data set, all in two workers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from recbias.data.datasets import Content, DatasetInfo, dataset_info, register_dataset
from recbias.data.simulation import make_world
from recbias.errors import ConfigError

MODULE = '''
import numpy as np
from recbias.data.datasets import Content, DatasetInfo, dataset_info, register_dataset
from recbias.metrics import Declaration, register
from recbias.recommenders import register as register_system
from recbias.data.simulation import make_world
import dataclasses


@register_system
class Newest:
    """Prefers items with a high number."""

    def fit(self, train, *, rng=None):
        self.n_items = train.n_items
        return self

    def score(self, users):
        return np.tile(np.arange(self.n_items, dtype=np.float32), (len(users), 1))


def measure_first(view, metrics):
    found = (view.rank == 1) & view.positive
    return np.array([np.bincount(view.table.user[found], minlength=view.table.n_users) > 0.0
                     for _ in metrics], dtype=float)


def measure_highest(view, metrics):
    return np.array([view.top(metric.cutoff).max(axis=1).astype(float) for metric in metrics])


def measure_most(counts, view, metrics):
    return np.tile(counts.max(axis=1), (len(metrics), 1))


for name, kind, function, interval in (
    ("First", "ranks", measure_first, "percentile"),
    ("Highest", "items", measure_highest, "percentile"),
    ("Most", "system", measure_most, "none"),
):
    register(Declaration(name, kind, "a test's", "x", "mine", "none", function,
                         cutoff="none" if kind == "ranks" else "required",
                         per=("user",), better=None, interval=interval))


def read(files):
    return Content(make_world(seed=7, n_users=120, n_items=150, n_ratings=1700).ratings)


info = dataclasses.replace(dataset_info("synthetic"), name="mine", title="Mine", content_hash=None)
register_dataset(info, read)
'''

SCRIPT = """
import outside_everything
from recbias import Grid, System, run

if __name__ == "__main__":
    grid = Grid(
        "mine",
        (System("Newest", "Newest"), System("Popularity", "Popularity")),
        {"AR": "AI-AN-AR rel>=4"},
        ("First", "Highest@1", "Most@3", "P@10"),
        split="k-fold 2",
        compare=(("AR", "First"),),
    )
    results = run(grid, workers=2)
    again = run(grid, workers=1)
    assert again.times["computed"] == 0
    assert again.values.equals(results.values)
    for metric in ("First", "Highest@1", "Most@3"):
        print(metric, results["Newest", "AR", metric].value)
    print(results.dataset["title"], len(results.tests))
"""


@pytest.mark.slow
def test_each_kind_of_addition_from_outside_in_two_workers(tmp_path: Path) -> None:
    (tmp_path / "outside_everything.py").write_text(MODULE)
    (tmp_path / "script.py").write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, "script.py"],
        cwd=tmp_path,
        env={**os.environ, "RECBIAS_CELLS": str(tmp_path / "cells"), "TQDM_DISABLE": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    first, highest, most, last = done.stdout.splitlines()
    assert 0 <= float(first.split()[1]) < 0.2
    # Nobody's list starts far from the end of the catalogue; the last item is in nearly all lists.
    assert 145 < float(highest.split()[1]) <= 149
    assert 100 < float(most.split()[1]) <= 120
    assert last == "Mine 1"


def _read(files: object) -> Content:
    return Content(make_world(seed=7, n_users=120, n_items=150, n_ratings=1700).ratings)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("coat", "data set 'coat' exists already, in recbias.data.datasets.coat: rename yours"),
        ("my.csv", "a name has no slash, suffix or brackets"),
        ("world(seed=3)", "a name has no slash, suffix or brackets"),
    ],
)
def test_names_that_would_be_something_else_are_refused(name: str, message: str) -> None:
    info = DatasetInfo(**{**vars(dataset_info("synthetic")), "name": name})
    with pytest.raises(ConfigError, match=message.replace("(", r"\(")):
        register_dataset(info, _read)
