"""Uniform tests in several draws: results are means, intervals hold what draws differ by."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from recbias import Grid, run
from recbias.data.datasets import load_dataset
from recbias.experiment import reduction
from recbias.protocol.splits import SplitRule
from recbias.protocol.testset import dataset_splits

LIKED, CUTOFF, SIZE = 5, 3, 6
N_USERS, N_ITEMS = 120, 14

PROTOCOLS = {"UAR": f"TI-AN-AR rel>={LIKED}", "U1R": f"TI-AN-1R rel>={LIKED}"}
METRICS = {"UAR": (f"P@{CUTOFF}",), "U1R": (f"P@{CUTOFF}|t={SIZE}",)}
RULE = "uniform 0.38"


class ListedFirst:
    """Lists the same items first, whatever it is trained on."""

    def fit(self, train, *, rng):
        self.n_items = train.n_items
        return self

    def score(self, users):
        return np.tile(np.arange(self.n_items, 0, -1, dtype=np.float32), (len(users), 1))


class DrawnOrder:
    """Lists the same items first for everybody, in an order that is drawn in training."""

    def fit(self, train, *, rng):
        self.order = rng.permutation(train.n_items).astype(np.float32)
        return self

    def score(self, users):
        return np.tile(self.order, (len(users), 1))


@pytest.fixture(scope="module")
def ratings():
    """Rate half of all pairs; items are liked by one in ten to nine in ten of their users."""
    rng = np.random.default_rng(4)
    user, item = np.nonzero(rng.random((N_USERS, N_ITEMS)) < np.linspace(0.3, 0.8, N_ITEMS))
    liked = rng.random(len(user)) < np.linspace(0.1, 0.9, N_ITEMS)[rng.permutation(N_ITEMS)][item]
    stars = np.where(liked, 5.0, 1.0)
    return pd.DataFrame({"user_id": user, "item_id": item, "rating": stars})


@pytest.fixture(scope="module", autouse=True)
def cells(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("RECBIAS_CELLS", str(tmp_path_factory.mktemp("cells")))
        yield


def measured(ratings, systems, *, draws, seed=1, **more):
    split = str(SplitRule("uniform", 0.38, draws=draws))
    return run(Grid(ratings, systems, PROTOCOLS, METRICS, split=split, seed=seed, **more))


def hits_by_loops(split):
    """Count by loops what ListedFirst has: liked items in the first places, and such runs."""
    tested = set(split.test_items.tolist())
    hits, total, runs = 0, 0.0, 0
    for user in range(split.test.n_users):
        own = set(split.train.item[split.train.user == user].tolist())
        pool = sorted(tested - own)
        rows = split.test.user == user
        liked = split.test.item[rows & (split.test.value >= LIKED)].tolist()
        hits += len(set(pool[:CUTOFF]) & set(liked))
        others = [item for item in pool if item not in liked]
        for item in liked:
            better = sum(other < item for other in others)
            drawn = min(SIZE - 1, len(others))
            # Of so many rivals that are drawn, fewer than CUTOFF stand above.
            total += sum(
                math.comb(better, k) * math.comb(len(others) - better, drawn - k)
                for k in range(min(CUTOFF, drawn + 1))
            ) / math.comb(len(others), drawn)
            runs += 1
    return hits / CUTOFF / split.test.n_users, total / CUTOFF, runs


def test_a_result_is_the_mean_over_the_draws(ratings):
    results = measured(ratings, (ListedFirst,), draws=4)
    (name,) = results.systems
    folds = dataset_splits(load_dataset(ratings), "uniform 0.38 draws=4", seed=1)
    assert len(folds) == 4
    of_users, of_runs, n_runs = map(np.array, zip(*map(hits_by_loops, folds), strict=True))
    values = results.values.set_index("label")
    assert values.loc["UAR", "value"] == pytest.approx(of_users.mean(), abs=1e-12)
    assert values.loc["UAR", "fold_sd"] == pytest.approx(of_users.std(ddof=1), abs=1e-12)
    assert values.loc["U1R", "value"] == pytest.approx(of_runs.sum() / n_runs.sum(), abs=1e-12)
    # The twin: one draw is another number.
    alone = measured(ratings, (ListedFirst,), draws=1)
    assert alone[name, "UAR", "P@3"].value != results[name, "UAR", "P@3"].value
    assert np.isnan(alone.values["fold_sd"]).all()


def test_every_system_is_moved_by_the_same_draws(ratings, monkeypatch):
    """What replicates have beyond those over users alone is what draws have beyond their mean."""
    systems = (DrawnOrder, ListedFirst)
    results = measured(ratings, systems, draws=5)
    weights = reduction.resampled_draws(results.grid.split, 5, results.grid.seed)
    monkeypatch.setattr("recbias.experiment.run.resampled_draws", lambda *_: None)
    of_users = measured(ratings, systems, draws=5)
    assert (results.values["value"] == of_users.values["value"]).all()
    for row, spread in results.values["fold_sd"].items():
        beyond = results.replicates[row] - of_users.replicates[row]
        deviations, *_ = np.linalg.lstsq(weights, beyond, rcond=None)
        np.testing.assert_allclose(weights @ deviations, beyond, atol=1e-4)  # kept to 16 digits
        assert np.std(deviations, ddof=1) == pytest.approx(spread, rel=1e-2)
    widths = [(each.values["high"] - each.values["low"]).mean() for each in (results, of_users)]
    assert widths[0] > 1.2 * widths[1]


def test_folds_of_one_whole_and_a_single_draw_are_no_draws():
    for split, n_folds in (("k-fold 5", 5), ("ready", 5), ("rolling 3 0.1", 3), (RULE, 1)):
        assert reduction.resampled_draws(split, n_folds, 1) is None
    # Each of folds that are held out has a uniform test of its own.
    assert reduction.resampled_draws(RULE, 5, 1).shape == (reduction.N_REPLICATES, 5)


def covered(ratings, *, draws, n_studies):
    """Say how often the interval of a study holds the mean of all single draws, by label."""
    singles = measured(ratings, (DrawnOrder,), draws=400, seed=900)
    truth = singles.values.set_index("label")["value"]
    inside = []
    for seed in range(n_studies):
        values = measured(ratings, (DrawnOrder,), draws=draws, seed=seed).values.set_index("label")
        inside.append((values["low"] <= truth) & (truth <= values["high"]))
    return pd.DataFrame(inside).mean()


@pytest.mark.slow
def test_intervals_cover_the_mean_of_independent_draws(ratings):
    """At the stated rate at least: the users' own chance is in them as well."""
    n_studies = 100
    tolerance = 3 * np.sqrt(0.95 * 0.05 / n_studies)
    found = covered(ratings, draws=5, n_studies=n_studies)
    assert (found > 0.95 - tolerance).all()
    # What was recorded before: one draw, and users alone.
    alone = covered(ratings, draws=1, n_studies=n_studies)
    assert (alone < 0.95 - tolerance).all()
