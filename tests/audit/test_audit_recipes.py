"""Recipes: train with another library in folds of `recbias data split`, write scores, audit."""

import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy.sparse import csr_matrix
from threadpoolctl import threadpool_limits

from recbias.audit import audit
from recbias.cli.entry import main

N_USERS, N_ITEMS = 60, 50
FEW = {"C1": ("AI-AN-AR", "condensed"), "C2": ("metric: P@10", "metric: nDCG@10")}
LISTS = {"C2": ("metric: P@10", "metric: nDCG@10")}


def implicit_scores(matrix):
    from implicit.als import AlternatingLeastSquares

    with threadpool_limits(1, "blas"):  # else implicit warns, in a process without workers
        model = AlternatingLeastSquares(factors=4, iterations=3, random_state=1, num_threads=1)
        model.fit(matrix, show_progress=False)
    return model.user_factors @ model.item_factors.T


def scikit_learn_scores(matrix):
    from sklearn.decomposition import TruncatedSVD

    model = TruncatedSVD(n_components=4, random_state=1)
    return model.fit_transform(matrix) @ model.components_


LIBRARIES = {"implicit": implicit_scores, "scikit-learn": scikit_learn_scores}


@pytest.fixture(scope="module")
def folds(tmp_path_factory):
    """A table with names of its own, its folds, and in each the scores and lists of libraries."""
    folder = tmp_path_factory.mktemp("recipes")
    rng = np.random.default_rng(11)
    rows = [
        (
            f"reader {u}",
            f"book={i}",
            int(np.clip(round(rng.normal(4.2 if alike else 2.5, 1)), 1, 5)),
        )
        for u in range(N_USERS)
        for i in rng.choice(N_ITEMS, 16, replace=False)
        for alike in [u % 2 == i % 2]
    ]
    table = folder / "loans.csv"
    pd.DataFrame(rows, columns=["user_id", "item_id", "rating"]).to_csv(table, index=False)
    split = CliRunner().invoke(
        main, ["data", "split", str(table), "--split", "ratio 0.25", "--out", str(folder / "folds")]
    )
    assert split.exit_code == 0, split.output
    for fold in sorted((folder / "folds").glob("fold-*")):
        train = pd.read_csv(fold / "train.csv")
        users, user = np.unique(train["user_id"], return_inverse=True)
        items, item = np.unique(train["item_id"], return_inverse=True)
        liked = (train["rating"] >= 4).to_numpy(np.float32)
        matrix = csr_matrix((liked, (user, item)), (len(users), len(items)))
        seen = np.zeros(matrix.shape, dtype=bool)
        seen[user, item] = True
        for name, scores_of in LIBRARIES.items():
            scores = scores_of(matrix)
            pairs = [(u, i, scores[a, b]) for a, u in enumerate(users) for b, i in enumerate(items)]
            frame = pd.DataFrame(pairs, columns=["user_id", "item_id", "score"])
            frame.to_csv(fold / f"{name}.csv", index=False)
            ranked = np.argsort(np.where(seen, np.inf, -scores), axis=1, kind="stable")
            lines = [
                f"{u.replace(' ', '_')} Q0 {items[b]} {rank} {scores[a, b]:.9g} {name}"
                for a, u in enumerate(users)
                for rank, b in enumerate(ranked[a, : (~seen[a]).sum()][:20], start=1)
            ]
            (fold / f"{name}.trec").write_text("\n".join(lines) + "\n")
    return table, folder / "folds"


def by_hand(table, folds, name):
    """P@10 over all users, from the files alone."""
    ratings = pd.read_csv(table)
    train = pd.read_csv(folds / "fold-1" / "train.csv")
    scores = pd.read_csv(folds / "fold-1" / f"{name}.csv")
    known = set(zip(train["user_id"], train["item_id"], strict=True))
    liked = ratings[ratings["rating"] >= 4]
    tested = set(zip(liked["user_id"], liked["item_id"], strict=True)) - known
    free = [pair not in known for pair in zip(scores["user_id"], scores["item_id"], strict=True)]
    first = scores[free].sort_values("score", ascending=False).groupby("user_id").head(10)
    hits = sum(pair in tested for pair in zip(first["user_id"], first["item_id"], strict=True))
    return hits / (10 * ratings["user_id"].nunique())


@pytest.mark.slow
def test_scores_of_libraries_are_audited_as_they_are(folds):
    table, folder = folds
    a, b = (f"{name}={folder}/fold-{{fold}}/{name}.csv" for name in LIBRARIES)
    found = audit(str(table), a, b, split="ratio 0.25", options=FEW)
    values = found.record["designs"][0]["values"]
    for name in LIBRARIES:
        assert values[name][0] == pytest.approx(by_hand(table, folder, name), abs=1e-12)
    said = next(s for s in found.record["signals"] if s["name"] == "tuning on the test")
    assert said["evidence"].startswith("1 set of scores from elsewhere was measured")


@pytest.mark.slow
def test_runs_in_the_format_of_trec_are_lists(folds, tmp_path):
    """Names with blanks cannot stand in a run, so that the table has underscores as the run has."""
    table, folder = folds
    plain = tmp_path / "plain.csv"
    frame = pd.read_csv(table)
    frame.assign(user_id=frame["user_id"].str.replace(" ", "_")).to_csv(plain, index=False)
    split = CliRunner().invoke(
        main, ["data", "split", str(plain), "--split", "ratio 0.25", "--out", str(tmp_path / "s")]
    )
    assert split.exit_code == 0, split.output
    same = pd.read_csv(tmp_path / "s" / "fold-1" / "train.csv")["item_id"].tolist()
    assert same == pd.read_csv(folder / "fold-1" / "train.csv")["item_id"].tolist()
    for name in LIBRARIES:
        run = (folder / "fold-1" / f"{name}.trec").read_text()
        (tmp_path / "s" / "fold-1" / f"{name}.trec").write_text(run)
    a, b = (f"{name}={tmp_path}/s/fold-{{fold}}/{name}.trec" for name in LIBRARIES)
    found = audit(str(plain), a, b, split="ratio 0.25", options=LISTS)
    assert found.record["samples"]["rows"] == []
    for name in LIBRARIES:
        value = found.record["designs"][0]["values"][name][0]
        assert value == pytest.approx(by_hand(table, folder, name), abs=1e-12)


SLOW = """
import os
import time
from pathlib import Path

time.sleep(1)
Path("started").mkdir(exist_ok=True)
Path("started", str(os.getpid())).touch()

class Newest:
    deterministic = True

    def fit(self, train, *, rng=None):
        self.n_items = train.n_items
        return self

    def score(self, users):
        import numpy as np
        return np.tile(np.arange(self.n_items, dtype=np.float32), (len(users), 1))
"""


SCRIPT = """
from pathlib import Path
from recbias.audit import audit

if __name__ == "__main__":
    few = {"C2": ("metric: P@10", "metric: nDCG@10")}
    found = audit("world(users=40,items=60)", "mine=shop.models:Newest", "Random",
                  split="ratio 0.5", options=few, workers=2)
    found.save(Path("audit.html"))
"""


@pytest.mark.slow
def test_a_class_that_is_slow_to_import_from_the_folder_of_the_command(tmp_path):
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "models.py").write_text(SLOW)
    (tmp_path / "elsewhere").mkdir()
    script = tmp_path / "elsewhere" / "judge.py"  # so that the class is not beside the program
    script.write_text(SCRIPT)
    found = subprocess.run(
        [sys.executable, script], cwd=tmp_path, capture_output=True, text=True,
        env={**os.environ, "RECBIAS_CELLS": str(tmp_path / "cells")},
    )  # fmt: skip
    assert found.returncode == 0, found.stderr
    record = json.loads((tmp_path / "audit.json").read_text())
    assert record["sentence"]["a"] == "mine"
    assert len(list((tmp_path / "started").iterdir())) <= 3, "each run started workers of its own"
