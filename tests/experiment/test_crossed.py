"""Resampling users and items: against loops over ratings, and where items are random effects."""

import json

import numpy as np
import pytest

import golden
from recbias import Grid, System, load_dataset, run
from recbias._system.streams import stream
from recbias.errors import ConfigError
from recbias.experiment.reduction import _each_rating
from recbias.experiment.results import load_result
from recbias.experiment.run import grid_tables
from recbias.metrics import measure, parse_metric
from recbias.protocol.targets import TargetRule, Targets
from recbias.protocol.testset import dataset_splits
from recbias.ranking import rank
from recbias.recommenders import Popularity
from recbias.stats.resampling import bootstrap_weights, crossed_sums, interval

FEW = (System("Random", "Random", n_seeds=2), System("kNN", "UserKNN", {"n_neighbours": 20}))
ASKED = {
    "AR": "TI-AN-AR rel>=5",
    "own": "TI-AN-AR rel>=4 condensed users=relevant",
    "NN": "TI-NN-AR N=20 rel>=5 users=tested",
    "1R": "TI-NN-1R t=20 rel>=5",
}
METRICS = {
    "AR": ("P@10", "nDCG@10"),
    "own": ("P@3", "antiP@3"),
    "NN": ("P@5",),
    "1R": ("rho", "RR", "P@10"),
}
CROSSED = (
    ("own", "antiP@3"), ("AR", "P@10"), ("own", "P@3"), ("NN", "P@5"), ("1R", "P@10"), ("1R", "RR"),
)  # fmt: skip


@pytest.fixture(autouse=True)
def own_folders(tmp_path, monkeypatch):
    monkeypatch.setenv("RECBIAS_CELLS", str(tmp_path / "cells"))
    monkeypatch.setenv("RECBIAS_RESULTS", str(tmp_path / "results"))
    monkeypatch.delenv("RECBIAS_DATA", raising=False)


def small(table, **changes):
    arguments = {
        "dataset": table,
        "systems": FEW,
        "protocols": ASKED,
        "metrics": METRICS,
        "split": "k-fold 3",
        "seed": 5,
        "crossed": CROSSED,
    }
    return Grid(**{**arguments, **changes})


def of_rating(label, metric, value, rank, condensed_rank):
    """What one test rating adds, written down again."""
    relevant = value >= (4 if label == "own" else 5)
    place = condensed_rank if label == "own" else rank
    if metric == "RR":
        return 1 / place if place else 0.0
    cutoff = int(metric.partition("@")[2])
    counts = relevant != metric.startswith("antiP")
    return 1 / cutoff if counts and 1 <= place <= cutoff else 0.0


def naive_replicates(tables, label, metric, n_users, by_user, by_item):
    """Numerator and denominator in loops over folds, seeds, users and ratings."""
    numerator, denominator = 0.0, 0.0
    for table in tables:
        for user in range(n_users):
            rows = np.flatnonzero(table.user == user)
            own = table.value[rows]
            inside = {"AR": True, "own": (own >= 4).any(), "NN": len(own) > 0, "1R": False}[label]
            if inside:
                denominator = denominator + by_user[user]
            for row in rows:
                of_pair = by_user[user] * by_item[table.item[row]]
                if label == "1R":
                    denominator = denominator + of_pair
                if inside or label == "1R":
                    each = table.value[row], table.rank[row], table.condensed_rank[row]
                    numerator = numerator + of_rating(label, metric, *each) * of_pair
    return numerator / denominator


def test_intervals_over_users_and_items_are_those_of_loops(tmp_path):
    grid = small(str(golden.small_table(tmp_path)))
    results = run(grid)
    found = results.crossed.set_index(["system", "label", "metric"])
    assert set(found.index) == {(name, *pair) for name in results.systems for pair in CROSSED}
    n_users, n_items = (results.dataset[size] for size in ("n_users", "n_items"))
    by_user = bootstrap_weights(n_users, 1000, rng=stream(5, "bootstrap")).T.astype(float)
    by_item = bootstrap_weights(n_items, 1000, rng=stream(5, "bootstrap", "items")).T.astype(float)
    for label, metric in CROSSED:
        tables = {}
        for system, _, _, table in grid_tables(grid, label):
            tables.setdefault(system, []).append(table)
        for system in results.systems:
            drawn = naive_replicates(tables[system], label, metric, n_users, by_user, by_item)
            row = found.loc[(system, label, metric)]
            expected = [*np.quantile(drawn, [0.025, 0.975]), np.std(drawn, ddof=1)]
            np.testing.assert_allclose(row.to_numpy(dtype=float), expected, rtol=1e-10, atol=1e-15)
            assert row["low"] <= results[system, label, metric].value <= row["high"]


def test_items_come_from_a_stream_of_their_own_and_move_nothing_else(tmp_path):
    table = str(golden.small_table(tmp_path))
    without, with_items = run(small(table, crossed=())), run(small(table))
    assert without.values.equals(with_items.values)
    assert without.crossed.empty
    assert without.key != with_items.key
    with_items.save(tmp_path / "kept")
    assert load_result(tmp_path / "kept").crossed.equals(with_items.crossed)


def test_a_grid_without_them_has_the_key_that_it_had():
    plain = small("synthetic", crossed=())
    assert "crossed" not in plain.to_dict()
    asked = small("synthetic")
    again = Grid.from_dict(json.loads(json.dumps(asked.to_dict())))
    assert again.crossed == CROSSED
    hashes = {"observed": "0" * 64}
    assert again.key_of(hashes) == asked.key_of(hashes) != plain.key_of(hashes)


@pytest.mark.parametrize(
    ("protocol", "metric", "message"),
    [
        ("TI-AN-AR rel>=5", "nDCG@10", "nDCG@10 .*: resampling items needs a sum over test rat"),
        ("TI-AN-AR rel>=5", "R@10", "only P and antiP"),
        ("TI-AN-AR rel>=5", "P@10|judged", r"P@10\|judged under .*: resampling items needs a sum"),
        ("TI-AN-AR rel>=5", "antiP@10|judged", "only P and antiP"),
        ("TI-AN-AR rel>=5", "P@10|N=20", "only P and antiP"),
        ("TI-AN-AR rel>=5", "Gini@10", "Gini@10 under 'here': resampling items"),
        ("TI-AN-AR rel>=5 weights=relevant", "P@10", "plain means over users .AR. or runs"),
        ("TI-AN-AR rel>=5 statistic=median", "P@10", "plain means"),
        ("TI-AN-1R rel>=5 users=all", "P@10", "plain means"),
        ("TI-AN-P1R m=5 rel>=5", "P@10", "plain means"),
        ("TI-AN-AR rel>=5", "P@20", "cannot resample the items of P@20 under 'here': it is not"),
    ],
)
def test_what_is_no_mean_over_test_ratings_is_refused(protocol, metric, message):
    with pytest.raises(ConfigError, match=message):
        Grid(
            "synthetic",
            (System("R", "Random"),),
            {"here": protocol},
            {"here": ("P@10", *({metric} - {"P@10", "P@20"}))},
            crossed=(("here", metric),),
        )


@pytest.mark.parametrize(
    ("metric", "is_sum"),
    [("P@5", True), ("P@5|ties", True), ("P@5|judged", False), ("P@5|N=20", False)],
)
def test_what_is_refused_is_no_sum_over_test_ratings(metric, is_sum):
    dataset = load_dataset("world(users=90,items=120)")
    (split,) = dataset_splits(dataset, "ratio 0.3", seed=5)
    model = Popularity().fit(split.train)  # with ties
    targets = [Targets(TargetRule("TI", "AN", "AR"), 4)]
    (table,) = rank(model, split, targets, seed=1, ties=True)
    parsed = [parse_metric(metric)]
    (of_users,) = measure(table, parsed, min_rating=4)
    (of_ratings,) = measure(_each_rating(table, condensed=False), parsed, min_rating=4)
    sums = np.bincount(table.user, np.nan_to_num(of_ratings), table.n_users)
    assert np.allclose(sums, np.nan_to_num(of_users), atol=1e-12) == is_sum
    assert of_users.any()


def random_effects(rng, n_users=120, n_items=100):
    """Values that are a share of the user times one of the item: .5 * .5 in expectation."""
    shares = np.outer(rng.beta(20, 20, n_users), rng.beta(2, 2, n_items))
    user, item = np.nonzero(rng.random(shares.shape) < 0.15)
    return user, item, shares[user, item]


def test_the_interval_over_users_and_items_covers_where_items_are_random():
    """A right coverage passes but for five standard errors of 400 studies: 1 in 1.7 million.

    Drawing from 100 items takes 1 / 100 off the variance, .001 off the coverage: not noticed.
    """
    rng = np.random.default_rng(60)
    by_both, by_users = [], []
    users = np.ascontiguousarray(bootstrap_weights(120, 500, rng=rng).T)
    items = np.ascontiguousarray(bootstrap_weights(100, 500, rng=rng).T)
    for _ in range(400):
        user, item, values = random_effects(rng)
        for covered, weights in ((by_both, items), (by_users, np.ones_like(items))):
            total = crossed_sums(user, item, values, users, weights)
            size = crossed_sums(user, item, np.ones(len(user)), users, weights)
            low, high = interval(total / size)
            covered.append(low <= 0.25 <= high)
    assert abs(np.mean(by_both) - 0.95) < 5 * np.sqrt(0.95 * 0.05 / 400)
    assert np.mean(by_users) < 0.7
