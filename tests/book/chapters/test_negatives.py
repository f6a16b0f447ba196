"""How many negatives are enough: every sample listed, runs drawn, and the metrics of the grid.

Nothing here uses the code that is tested but the table that it makes.
"""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from rank_tables import run_table, user_table
from recbias import Grid, line_up, run
from recbias.book.chapters.sparsity_bias import negatives as module
from recbias.book.chapters.sparsity_bias.negatives import (
    Runs,
    drawn_grid,
    expected_order,
    log_sizes,
    negatives,
)
from recbias.book.chapters.sparsity_bias.turns import crossings, enough
from recbias.data.datasets import load_dataset
from recbias.errors import ConfigError
from recbias.experiment.makers import Table
from recbias.theory import shared_sample_bounds

CUTOFF = 2
ONCE = np.ones((3, 4), dtype=np.uint8)
"""Weights of four users, each once: no interval has a width."""

POOLS = {0: 5, 1: 5, 2: 6, 3: 4}
"""Other items that may be drawn, by run: one run each of users 0, 1 and 3, two of user 2."""

PLACES = {
    "deep": ((0, 0), (1, 3), (2, 0), (2, 5), (3, 0)),
    "even": ((0, 2), (1, 2), (2, 1), (2, 3), (3, 2)),
    "poor": ((0, 4), (1, 3), (2, 4), (2, 5), (3, None)),
}
"""By system: user of each run, and how many of the others stand above its item; None: unlisted."""


def tables():
    found = {}
    for system, runs in PLACES.items():
        ranks = [(user, 0 if above is None else above + 1, 5.0) for user, above in runs]
        table = run_table(4, *ranks)
        sizes = np.array([POOLS[user] + 1 for user, _ in runs], dtype=np.int32)
        found[system] = [table.__class__(**{**vars(table), "n_targets": sizes})]
    return found


def listed_hits(system, size):
    """Share of all samples of each run in which its item is among the first."""
    found = []
    for user, above in PLACES[system]:
        samples = list(itertools.combinations(range(POOLS[user]), min(size - 1, POOLS[user])))
        hits = [sum(item < (above or 0) for item in drawn) < CUTOFF for drawn in samples]
        found.append(Fraction(0 if above is None else sum(hits), len(samples)))
    return found


def listed_order(a, b):
    """Go through all outcomes of all runs of both systems; ties count half."""
    total = Fraction(0)
    for outcome in itertools.product((0, 1), repeat=len(a) + len(b)):
        p = Fraction(1)
        for hit, chance in zip(outcome, (*a, *b), strict=True):
            p *= chance if hit else 1 - chance
        lead = sum(outcome[: len(a)]) - sum(outcome[len(a) :])
        total += p * (Fraction(1) if lead > 0 else Fraction(lead == 0, 2))
    return total


@pytest.fixture(scope="module")
def order() -> pd.DataFrame:
    runs = Runs.of(tables())
    return expected_order(runs, CUTOFF, range(2, runs.largest + 1), ONCE)


def test_differences_and_chances_are_those_of_all_samples_and_outcomes(order) -> None:
    assert set(order["size"]) == set(range(2, 8))
    assert len(order) == 3 * 6
    for row in order.itertuples():
        a, b = listed_hits(row.a, row.size), listed_hits(row.b, row.size)
        assert row.value == pytest.approx(float(sum(a) - sum(b)) / (CUTOFF * 5), abs=1e-15)
        assert row.wrong == pytest.approx(float(1 - listed_order(a, b)), abs=1e-12)
        assert row.low == pytest.approx(row.value, abs=1e-15)
        assert row.high == pytest.approx(row.value, abs=1e-15)


def test_the_first_of_a_pair_is_ahead_where_nothing_is_sampled(order) -> None:
    last = order[order["size"] == 7]
    assert list(zip(last["a"], last["b"], strict=True)) == [
        ("deep", "even"), ("deep", "poor"), ("even", "poor"),
    ]  # fmt: skip
    assert (last["value"] > 0).all()
    assert (last["wrong"] == 0).all()


def test_runs_that_are_counted_for_another_user_or_pool_are_seen() -> None:
    """The twins: an item that is in no list taken for the best, and pools that are mixed up."""
    listed = {**PLACES, "poor": (*PLACES["poor"][:-1], (3, 0))}
    assert listed_hits("poor", 4)[-1] == 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(PLACES, "poor", listed["poor"])
        assert listed_hits("poor", 4)[-1] == 1
    before = listed_hits("even", 4)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(POOLS, 2, 9)
        assert listed_hits("even", 4) != before


def test_tables_of_another_kind_and_no_runs_are_refused() -> None:
    with pytest.raises(ConfigError, match="one per user"):
        Runs.of({"a": [user_table(([1, 2], {1: 5.0}))]})
    with pytest.raises(ConfigError, match="no rating is relevant"):
        Runs.of({"a": [run_table(2)]})


@pytest.mark.parametrize(
    ("largest", "number"), [(3474, 40), (60, 40), (45, 40), (41, 40), (30, 40)]
)
def test_sizes_are_even_in_the_logarithm_and_never_equal(largest: int, number: int) -> None:
    sizes = np.array(log_sizes(largest, number))
    assert sizes[0] == 2
    assert sizes[-1] == largest
    assert len(sizes) == min(number, largest - 1)
    assert (np.diff(sizes) >= 1).all()
    even = np.diff(np.log(sizes))[sizes[1:] > 30]
    if largest > 1000:
        assert np.abs(even - np.log(largest / 2) / (number - 1)).max() < 0.03


# -- a world --------------------------------------------------------------------------------------
WORLD = "world(relation=-0.3,skew=0.5,users=200,items=220,density=0.08,liked=4,seed=5)"
SYSTEMS = ("Popularity", "Random", "kNN (rating prediction)", "kNN (ranking)", "MF (ranking)")


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> tuple[Grid, Table]:
    chosen = [system for system in line_up("bcc17") if system.name in SYSTEMS]
    grid = Grid(WORLD, chosen, {"runs": "TI-AN-1R rel>=4"}, ("P@5",), split="k-fold 3", seed=2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RECBIAS_CELLS", str(tmp_path_factory.mktemp("cells")))
        asked = drawn_grid(grid, "runs", cutoff=5)
        table = negatives(WORLD, grid=asked, cutoff=5, size=9)
        sizes = sorted(set(table.frame["size"]))
        metrics = [f"P@5|t={size}" for size in sizes]
        whole = Grid(WORLD, asked.systems, {"runs": "TI-AN-1R rel>=4"}, metrics,
                     split=asked.split, seed=asked.seed)  # fmt: skip
        return run(whole), table


def test_values_and_intervals_are_those_of_the_metric(made) -> None:
    """Which sums each hypergeometric distribution by itself, and averages as every metric does."""
    measured, table = made
    for row in table.frame.itertuples():
        names = [(system, "runs", f"P@5|t={row.size}") for system in (row.a, row.b)]
        difference = measured[names[0]] - measured[names[1]]
        assert row.value == pytest.approx(difference.value, abs=1e-12)
        # Replicates of a result are kept to 16 binary digits.
        bound = 2.0**-15 * max(measured[name].value for name in names) + 1e-12
        assert (row.low, row.high) == pytest.approx(difference.interval, abs=2 * bound)


def test_turns_are_where_the_metric_turns(made) -> None:
    measured, table = made
    found = crossings(table)
    assert len(found) >= 3
    assert (found["size"] > 5).all()
    for row in found.itertuples():
        before, after = (
            measured[row.a, "runs", f"P@5|t={size}"].value
            - measured[row.b, "runs", f"P@5|t={size}"].value
            for size in (row.size - 1, row.size)
        )
        assert before * after < 0
        assert row.ahead == (row.a if after > 0 else row.b)
        assert not row.low >= row.size
        assert not row.high < row.size
    # The rows beside the turns are there because bisection put them there.
    sizes = log_sizes(int(table.frame["size"].max()))
    assert not set(found["size"]) <= set(sizes)


def test_enough_is_where_the_last_chance_above_the_limit_was(made) -> None:
    _, table = made
    for most in (0.01, 0.05, 0.3):
        for row in enough(table, most).itertuples():
            own = table.select(a=row.a, b=row.b).set_index("size").sort_index()
            own = own[own.index > 5]
            for size, chances in ((row.size, own["wrong"]), (row.shared, own["wrong_most"])):
                assert (chances[chances.index >= size] <= most).all()
                below = chances[chances.index < size]
                assert below.empty or below.iloc[-1] > most
            assert row.shared >= row.size
            # Ten pairs: an interval of 99.5 % is 1.432 times as wide as one of 95 %.
            last = own.iloc[-1]
            assert row.resolved == (last["value"] - 1.432 * (last["value"] - last["low"]) > 0)
            assert np.isnan(row.turns) or row.size >= row.turns


@pytest.mark.slow
def test_evaluations_that_are_drawn_get_pairs_wrong_as_often_as_told(made) -> None:
    """2,000 evaluations, every run with a sample of its own: within Hoeffding's bound.

    False alarms of all pairs together have a chance below 1e-5.
    """
    _, table = made
    runs = module._read(Grid.from_dict(table.given["grid"]), load_dataset(WORLD))
    rng, n_drawn, size = np.random.default_rng(4), 2000, 9
    draws, above = np.minimum(size - 1, runs.pool), np.maximum(runs.above, 0)
    seen = rng.hypergeometric(above, runs.pool - above, draws, size=(n_drawn, *above.shape))
    hits = ((seen < 5) & (runs.above >= 0)).sum(axis=2)
    between = 0
    for row in _asked(table, size).itertuples():
        a, b = (hits[:, runs.systems.index(name)] for name in (row.a, row.b))
        wrong = ((a < b) + 0.5 * (a == b)).mean()
        assert abs(wrong - row.wrong) < np.sqrt(np.log(2e6) / (2 * n_drawn))
        between += 0.02 < row.wrong < 0.98
    assert between


def test_systems_that_share_samples_stay_within_the_bounds(made) -> None:
    """200 evaluations, one sample per run for all systems, of which every second one puts other
    items of the pool above; false alarms of all pairs together have a chance below 1e-5."""
    _, table = made
    runs = module._read(Grid.from_dict(table.given["grid"]), load_dataset(WORLD))
    rng, n_drawn, size = np.random.default_rng(9), 200, 9
    hits = np.zeros((len(runs.systems), n_drawn))
    for number, pool in enumerate(runs.pool):
        draws = min(size - 1, pool)
        drawn = np.argpartition(rng.random((n_drawn, pool)), draws - 1)[:, :draws]
        for system, above in enumerate(runs.above[:, number]):
            over = drawn < above if system % 2 else drawn >= pool - above
            hits[system] += (above >= 0) & (over.sum(axis=1) < 5)
    slack, told = np.sqrt(np.log(1e6) / (2 * n_drawn)), 0
    for row in _asked(table, size).itertuples():
        a, b = (hits[runs.systems.index(name)] for name in (row.a, row.b))
        wrong = ((a < b) + 0.5 * (a == b)).mean()
        assert row.wrong_least - slack <= wrong <= row.wrong_most + slack
        told += row.wrong_most < 0.1 or row.wrong_least > 0.9
    assert told >= 3


def _asked(table: Table, size: int) -> pd.DataFrame:
    found = table.frame[table.frame["size"] == size]
    assert len(found) == 10
    return found


def test_bounds_are_for_the_largest_loss_and_spread(made) -> None:
    """From chances alone, for both namings of a pair: Frechet's loss, deviations added up."""
    _, table = made
    runs = module._read(Grid.from_dict(table.given["grid"]), load_dataset(WORLD))
    turned = 0
    for row in table.frame.itertuples():
        chances = runs.chances(row.size, 5)
        a, b = (chances[runs.systems.index(name)] for name in (row.a, row.b))
        lead = float(a.sum() - b.sum())
        spread = sum(np.sqrt((q * (1 - q)).sum()) for q in (a, b))
        low, high = shared_sample_bounds(lead, float(np.minimum(b, 1 - a).sum()), spread)
        assert (1 - row.wrong_most, 1 - row.wrong_least) == pytest.approx((low, high), abs=1e-9)
        assert row.wrong_least - 1e-12 <= row.wrong <= row.wrong_most + 1e-12
        named_last = runs.systems.index(row.a) > runs.systems.index(row.b)
        turned += named_last and (low > 0 or high < 1)
    assert turned
