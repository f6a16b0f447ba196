"""Universes equal evaluation one by one, and an oracle in plain loops."""

from __future__ import annotations

import itertools
from weakref import WeakSet

import numpy as np
import pandas as pd
import pytest
from plain_universes import universe

from recbias import Grid, System, line_up, load_dataset, run
from recbias._system.streams import stream
from recbias.experiment.decisions import CHOICES
from recbias.experiment.options import Options
from recbias.experiment.outcomes import evaluate
from recbias.multiverse import default_options, measuring, universes
from recbias.protocol.testset import dataset_splits
from recbias.recommenders import with_seeds
from unequal_users import ratings_of_unequal_users

WIDE = {
    "A1": ("", "data: keep=70%", "data: head=10%"),
    "A2": ("split: ratio 0.5", "split: k-fold 3", "split: uniform 0.2 draws=3",
           "test: observed removed=30%", "split: leave-out 1"),
    "B1": ("", "users=tested", "users=relevant", "users=trained", "users=relevant,trained>=5"),
    "B2": ("", "unscored=last", "unscored=popularity", "unscored=average-rating"),
    "C1": ("AI-AN-AR", "condensed", "TI-AN-AR", "AI-AN-AR +train", "TI-NN-AR N=20",
           "AI-AN-1R", "TI-NN-1R t=10", "TI-AN-P1R m=5"),
    "C2": ("metric: nDCG@5", "metric: P@5", "metric: RBP(0.8)", "metric: antiP@5", "metric: RR",
           "metric: AUC", "metric: AP", "metric: bpref"),
    "C2 threshold": ("rel>=4", "rel>=5", "rel>=3.5"),
    "C2 gain": ("gain: binary", "gain: linear", "gain: exp", "gain: err"),
    "C3": ("", "statistic=geometric", "weights=ratings", "weights=relevant", "statistic=median"),
    "C4": ("", "coverage=reduced"),
    "D": ("pairs: t", "pairs: wilcoxon", "pairs: sign", "pairs: bootstrap"),
}  # fmt: skip
"""More than anybody would cross, so that every path is met."""


@pytest.fixture(scope="module", autouse=True)
def cells(tmp_path_factory):
    patch = pytest.MonkeyPatch()
    patch.setenv("RECBIAS_CELLS", str(tmp_path_factory.mktemp("cells")))
    yield
    patch.undo()


def few_of(options, rng, most):
    """Some options of each decision, so that not all is measured for a few universes."""
    return {
        decision: tuple(texts[place] for place in sorted(rng.permutation(len(texts))[:n]))
        for decision, texts in options.items()
        for n in [1 + int(rng.integers(most))]
    }


def worst_difference(found, dataset, systems, rows):
    """Compare rows of a multiverse with the same options evaluated alone."""
    worst = 0.0
    for row in found.table.iloc[rows].itertuples():
        options = Options.parse(row.options)
        assert str(options) == row.options
        alone = evaluate(options, dataset, systems).pairs.iloc[0]
        assert (alone["a"], alone["b"], alone["n"]) == (row.a, row.b, row.n_users)
        for name in ("difference", "effect", "p"):
            ours, theirs = getattr(row, name), alone[name]
            if not (np.isnan(ours) and np.isnan(theirs)):
                worst = max(worst, abs(ours - theirs))
        assert row.sign == np.sign(row.difference) * (-1 if "antiP" in row.options else 1)
    return worst


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return ratings_of_unequal_users(60)


SYSTEMS = with_seeds(
    [
        System("kNN", "UserKNN", {"n_neighbours": 10, "min_overlap": 6}),
        System("MF", "WeightedMF", {"n_factors": 4, "n_iterations": 2}),
    ],
    2,
)


pytestmark = pytest.mark.filterwarnings("ignore::recbias.errors.DataWarning")  # of uniform tests


@pytest.mark.parametrize("seed", range(2))
def test_universes_equal_evaluation_one_by_one(table, seed):
    rng = np.random.default_rng(seed)
    found = universes(table, *SYSTEMS, few_of(WIDE, rng, 2), n_flips=3, seeds=(1, 4))
    rows = rng.permutation(len(found.table))[:8]
    assert worst_difference(found, table, SYSTEMS, rows) < 1e-12


@pytest.mark.parametrize("split", ["ratio 0.5", "k-fold 3", "uniform 0.2 draws=3"])
def test_standard_errors_are_those_of_an_experiment(table, split):
    """Draws of a split are resampled too, folds are not."""
    label, metric = "AI-AN-AR rel>=4", "P@5"
    grid = Grid(table, SYSTEMS, label, metric, split=split, replicates=None)
    results = run(grid)
    a, b = (results[system.name, label, metric] for system in SYSTEMS)
    found = universes(table, *SYSTEMS, {"A2": (f"split: {split}",), "C2": (f"metric: {metric}",)},
                      n_flips=3).table.iloc[0]  # fmt: skip
    # An experiment keeps its replicates in single precision.
    assert found["se"] == pytest.approx(float(np.std((a - b).drawn, ddof=1)), rel=1e-5)
    assert (found["low"], found["high"]) == pytest.approx((a - b).interval, rel=1e-4, abs=1e-5)


@pytest.mark.slow
def test_300_universes_equal_evaluation_one_by_one(table):
    rng = np.random.default_rng(42)
    compared, worst = 0, 0.0
    while compared < 300:
        found = universes(table, *SYSTEMS, few_of(WIDE, rng, 3), n_flips=3)
        rows = rng.permutation(len(found.table))[:50]
        worst = max(worst, worst_difference(found, table, SYSTEMS, rows))
        compared += len(rows)
    assert worst < 1e-12


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize("name", ["ml-100k", "filmtrust", "coat"])
def test_100_universes_of_a_dataset_equal_evaluation_one_by_one(name):
    dataset = load_dataset(name)
    by_name = {system.name: system for system in line_up("ccm20")}
    systems = by_name["User kNN"], by_name["MF"]
    rng = np.random.default_rng(7)
    options = {**default_options(dataset), "A1": ("", "data: keep=50%"),
               "A2": ("split: ratio 0.5", "split: leave-out 1"),
               "C3": ("", "statistic=geometric", "weights=ratings", "statistic=median"),
               "D": ("pairs: t", "pairs: wilcoxon", "pairs: bootstrap")}  # fmt: skip
    found = universes(name, *systems, few_of(options, rng, 3), n_flips=3)
    rows = rng.permutation(len(found.table))[:100]
    assert worst_difference(found, name, systems, rows) < 1e-12


def test_a_broken_evaluation_is_noticed(table, monkeypatch):
    """The twin: users that only one system serves are tested as if both did."""
    options = {"C2": ("metric: P@5", "metric: RR"), "C4": ("coverage=reduced",)}
    found = universes(table, *SYSTEMS, options, n_flips=3)
    assert worst_difference(found, table, SYSTEMS, range(len(found.table))) < 1e-12
    right = measuring.paired_tests
    monkeypatch.setattr(
        measuring, "paired_tests",
        lambda values, others, weights, *rest, **named: right(
            values[:, 1:], others[:, 1:], weights[:, 1:], *rest, **named),
    )  # fmt: skip
    broken = universes(table, *SYSTEMS, options, n_flips=3)
    assert worst_difference(broken, table, SYSTEMS, range(len(found.table))) > 1e-6


# -- the oracle ------------------------------------------------------------------------------------


class _Scores:
    """Scores that were drawn, without ties; some pairs and some users have none."""

    seed = 0

    def fit(self, train, *, rng):
        self.table = scores_of(train.n_users, train.n_items, self.seed)
        return self

    def score(self, users):
        return self.table[users]


class First(_Scores):
    seed = 11


class Second(_Scores):
    seed = 12


def scores_of(n_users, n_items, seed):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n_users, n_items)).astype(np.float32)
    scores[rng.random(scores.shape) < 0.1] = np.nan
    scores[rng.random(n_users) < 0.1] = np.nan
    return scores


ORACLE = {
    "C1": {"AI-AN-AR": {"candidates": "AI", "condensed": False},
           "TI-AN-AR": {"candidates": "TI", "condensed": False},
           "condensed": {"candidates": "AI", "condensed": True}},
    "C2": {f"metric: {name}": {"metric": name}
           for name in ("P@5", "antiP@5", "R@5", "RR", "AP", "nDCG@5", "RBP(0.8)")},
    "gain": {f"gain: {name}": {"gain": name} for name in ("binary", "linear", "exp")},
    "rel": {"rel>=4": {"threshold": 4}, "rel>=5": {"threshold": 5}},
    "B1": {f"users={name}": {"users": name} for name in ("all", "tested", "relevant", "trained")},
    "C3": {"": {"weights": "", "geometric": False},
           "weights=ratings": {"weights": "ratings", "geometric": False},
           "weights=relevant statistic=geometric": {"weights": "relevant", "geometric": True},
           "statistic=geometric": {"weights": "", "geometric": True}},
    "C4": {"": {"reduced": False}, "coverage=reduced": {"reduced": True}},
}  # fmt: skip


@pytest.fixture(scope="module")
def against_oracle(table):
    """All universes of the oracle's options, and what each of these options means."""
    options = {decision: tuple(texts) for decision, texts in ORACLE.items()}
    return universes(table, First(), Second(), options, n_flips=4), options


def compared_with_oracle(table, found, options, n):
    """Draw combinations, work them out in plain loops, and give the worst differences."""
    (split,) = dataset_splits(load_dataset(table), "ratio 0.5", seed=1)
    size = split.train.n_users, split.train.n_items
    both = [scores_of(*size, seed).astype(np.float64) for seed in (First.seed, Second.seed)]
    draw = stream(1, "bootstrap")
    weights = [np.bincount(draw.integers(size[0], size=size[0]), minlength=size[0])
               for _ in range(1000)]  # fmt: skip
    swapped = stream(1, "multiverse", "flips").integers(0, 2, (4, size[0]), dtype=np.int8)
    signs = [np.ones(size[0]), *(2.0 * swapped - 1)]
    rng = np.random.default_rng(3)
    worst = dict.fromkeys(("difference", "se", "low", "high", "n_users", "p", "t"), 0.0)
    for _ in range(n):
        place = tuple(int(rng.integers(len(texts))) for texts in options.values())
        words = dict(itertools.chain.from_iterable(
            ORACLE[decision][texts[at]].items()
            for (decision, texts), at in zip(options.items(), place, strict=True)))  # fmt: skip
        row = found.cross[(*place, 0)]
        expected = universe(split, both, words, weights, signs)
        ours = found.table.iloc[row]
        better = -1 if "antiP" in words["metric"] else 1
        t = found._t[found._measured[row]]
        for name in worst:
            gap = (np.abs(better * np.array(expected["t"]) - t).max() if name == "t"
                   else abs(expected[name] - ours[name]))  # fmt: skip
            worst[name] = max(worst[name], float(gap))
    return worst


def is_equal(worst):
    exact = {name: gap for name, gap in worst.items() if name != "t"}
    return max(exact.values()) < 1e-12 and worst["t"] < 1e-4  # t is kept in single precision


def test_five_universes_equal_plain_loops(table, against_oracle):
    found, options = against_oracle
    assert is_equal(compared_with_oracle(table, found, options, 5))


@pytest.mark.slow
def test_50_universes_equal_plain_loops(table, against_oracle):
    found, options = against_oracle
    assert is_equal(compared_with_oracle(table, found, options, 50))


@pytest.mark.parametrize("column", ["difference", "se", "low", "n_users", "p"])
def test_the_oracle_notices_a_small_change(table, against_oracle, column):
    found, options = against_oracle
    before = found.table[column].copy()
    try:
        found.table[column] = before + (1 if column == "n_users" else 1e-9)
        assert not is_equal(compared_with_oracle(table, found, options, 1))
    finally:
        found.table[column] = before


def test_texts_of_the_table_of_decisions_are_taken(table):
    texts = {"B1": [c.text for c in CHOICES if c.decision == "B1" and "1R" not in c.text],
             "C2": ["metric: P@5"]}  # fmt: skip
    found = universes(table, *SYSTEMS, texts, n_flips=3)
    assert [row.rpartition(";")[0].rpartition("rel>=4")[2] for row in found.table["options"]] == [
        "; metric: P@5",
        *(f" users={name}; metric: P@5" for name in ("tested", "relevant", "trained")),
    ]


def test_a_worker_holds_the_counts_of_one_fold_at_a_time(monkeypatch):
    """All folds of both systems at once took a gigabyte of a million ratings."""
    alive, n_alive = WeakSet(), []

    class Counted(measuring.Reader):
        def __init__(self, cell):
            super().__init__(cell)
            alive.add(self)
            n_alive.append(len(alive))

    monkeypatch.setattr(measuring, "Reader", Counted)
    pair = System("Random", "Random"), System("Popularity", "Popularity")
    start = "split: k-fold 3; lists: AI-AN-AR rel>=4; metric: P@5"
    options = {"C1": ("AI-AN-AR", "condensed")}
    universes("world(users=30,items=40)", *pair, options, start=start, n_flips=5)
    assert len(n_alive) == 6
    assert max(n_alive) <= 2  # that of the fold before goes when the next is there
