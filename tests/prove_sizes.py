"""How often tests reject what is true, and intervals miss it: ``python tests/prove_sizes.py``.

The differences of two systems on 500 users, of the synthetic world and then of a recorded result,
whose data has to be at hand, get random signs: that is the null of all four paired tests, of those
in which users weigh by their ratings, and, as exchanged systems, of those of medians. In 10,000
such samples each may reject at .05 in at most .06; sign and signed-rank tests are held against
their exact size, which is computed by counting all patterns of signs. Of users drawn with
replacement, the intervals of means and weighted means must cover the value of all users in 93.5 to
96.5 %, those of medians in 93.5 % at least.

A twin of each must fail: a test that takes every user twice, and intervals of half the width.
"""

from __future__ import annotations

import math
import sys
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from recbias._system.streams import stream
from recbias.book.chapters.offline_option_taxonomy.setup import CHAPTER, KNN, READINGS
from recbias.book.chapters.offline_option_taxonomy.users import measure_users
from recbias.data.datasets import load_dataset
from recbias.errors import MissingData
from recbias.experiment.results import load_result, results_dir
from recbias.experiment.run import Results
from recbias.metrics import measure, parse_metric
from recbias.metrics.aggregation import weighted_units
from recbias.protocol.targets import TargetRule, Targets
from recbias.protocol.testset import dataset_splits
from recbias.ranking import rank
from recbias.recommenders import System
from recbias.stats.comparison import bootstrap_test, paired_t, resampled_tests, sign_test, wilcoxon
from recbias.stats.resampling import bootstrap_weights, interval, weighted_medians, weighted_sums

LEVEL, LARGEST, N_USERS, N_SAMPLES, N_DRAWS = 0.05, 0.06, 500, 10_000, 1000
N_INTERVALS = 3000
COVERED = {"mean": (0.935, 0.965), "weighted mean": (0.935, 0.965), "median": (0.935, 1.0)}

RECORDED = ("ml-100k", f"{CHAPTER}/systems", "full", "nDCG@10", (KNN, READINGS[1]))
"""A recorded grid, and two of its systems under a protocol."""

FloatArray = npt.NDArray[np.float64]
Values = tuple[FloatArray, FloatArray]
"""Of two systems, a row each, and the numbers of test ratings, by user."""


def recorded_values() -> Values:
    """Measure a recorded result user by user, and see that the users come to what is recorded."""
    name, result, label, metric, systems = RECORDED
    dataset = load_dataset(name)
    stored = load_result(results_dir(name, recorded=True) / result, dataset=name)
    assert isinstance(stored, Results)
    grid = replace(
        stored.grid,
        systems=tuple(each for each in stored.grid.systems if each.name in systems),
        protocols={label: stored.grid.protocols[label]},
        metrics={label: (metric,)},
        compare=(),
        replicates=(),
    )
    measured = dict(measure_users(grid, dataset, workers=2))
    for system in systems:
        found = measured[system][label, metric].value
        told = stored[system, label, metric].value
        if abs(found - told) > 1e-9:
            raise SystemExit(f"{name}, {system}: {found}, but {told} is recorded")
    values = np.array([measured[system][label, metric].values for system in systems])
    n_ratings = dataset_splits(dataset, grid.split, seed=grid.seed)[0].test.user_counts()
    counted = ~np.isnan(values).any(axis=0) & (n_ratings > 0)
    return values[:, counted], n_ratings[counted].astype(np.float64)


def world_values() -> Values:
    """Measure nDCG of two systems on the tested users of the synthetic world."""
    split = dataset_splits(load_dataset("synthetic"), "ratio 0.5", seed=1)[0]
    found = []
    for name in ("Popularity", "ImplicitItemCosine"):
        model = System(name, name).build().fit(split.train, rng=stream(1, name))
        table = rank(model, split, [Targets(TargetRule.parse("TI-AN-AR"), None)], seed=1)[0]
        values = measure(table, [parse_metric("nDCG@50")], min_rating=4, condensed=False)[0]
        found.append(np.nan_to_num(values))
    tested = split.test.user_counts() > 0
    return np.array(found)[:, tested], split.test.user_counts()[tested].astype(np.float64)


def exact_sign_size(n_nonzero: int) -> float:
    """Add up the chances of the numbers of wins that the sign test rejects at."""
    chance = [math.comb(n_nonzero, wins) / 2**n_nonzero for wins in range(n_nonzero + 1)]
    tail = np.cumsum(chance)
    rejected = [
        min(1.0, 2 * tail[min(wins, n_nonzero - wins)]) <= LEVEL for wins in range(n_nonzero + 1)
    ]
    return float(np.dot(chance, rejected))


def exact_rank_size(differences: FloatArray) -> float:
    """Count the sums of signed ranks over all patterns of signs, which the normal curve rejects."""
    sizes = np.sort(np.abs(differences[differences != 0]))
    doubled = np.array([round(2 * (np.flatnonzero(sizes == s) + 1).mean()) for s in sizes])
    chance = np.zeros(int(doubled.sum()) + 1)
    chance[0] = 1.0
    for each in doubled:
        moved = np.concatenate([np.zeros(each), chance[: len(chance) - each]])
        chance = (chance + moved) / 2
    sums = np.arange(len(chance)) / 2
    middle = (sums * chance).sum()
    spread = math.sqrt((doubled.astype(float) ** 2).sum() / 16)
    z = np.abs(sums - middle) / spread
    p = np.array([math.erfc(each / math.sqrt(2)) for each in z])
    return float(chance[p <= LEVEL].sum())


def sizes(differences: FloatArray, *, times: int = 1) -> dict[str, float]:
    """Share of samples with random signs in which each test rejects; `times` repeats the users."""
    rng = stream(1, "signs")
    signs = rng.choice([-1.0, 1.0], size=(N_SAMPLES, len(differences)))
    drawn = np.tile(signs * differences, (1, times))
    nothing = np.zeros_like(drawn)
    weights = bootstrap_weights(drawn.shape[1], N_DRAWS, rng=stream(1, "draws"))
    p_values = {
        "t": paired_t(drawn, nothing).p_value,
        "wilcoxon": wilcoxon(drawn, nothing),
        "sign": sign_test(drawn, nothing),
    }
    if times == 1:
        p_values["bootstrap"] = bootstrap_test(drawn, nothing, weights)
    return {name: float((p <= LEVEL).mean()) for name, p in p_values.items()}


def sizes_of_statistics(
    values: FloatArray, weight: FloatArray, *, times: int = 1
) -> dict[str, float]:
    """Share of samples with random signs in which tests of weighted means and medians reject."""
    kept = stream(1, "signs").choice([True, False], size=(N_SAMPLES, values.shape[1]))
    kept, values, weight = (np.tile(each, times) for each in (kept, values, weight))
    n_users = values.shape[1]
    signed = np.where(kept, 1.0, -1.0) * (values[0] - values[1])
    units = weighted_units(signed, np.broadcast_to(weight, signed.shape))
    weights = bootstrap_weights(n_users, N_DRAWS, rng=stream(1, "draws"))
    everybody = np.concatenate([np.ones((1, n_users), dtype=np.uint8), weights])
    ones, user = np.ones(n_users), np.arange(n_users)
    rejected = np.zeros(2)
    for own in kept:
        exchanged = np.where(own, values, values[::-1])
        gap = np.subtract(*weighted_medians(exchanged, ones, user, everybody))
        rejected += np.array(resampled_tests(float(gap[0]), gap[1:], n_users)[1:]) <= LEVEL
    return {
        "weighted t": float((paired_t(units, np.zeros_like(units)).p_value <= LEVEL).mean()),
        "weighted bootstrap": float(
            (bootstrap_test(units, np.zeros_like(units), weights) <= LEVEL).mean()
        ),
        "median by its error": float(rejected[0] / N_SAMPLES),
        "median by shares": float(rejected[1] / N_SAMPLES),
    }


def covered(values: FloatArray, weight: FloatArray) -> dict[tuple[float, str], float]:
    """Share of samples of users whose interval, or half of it, holds the value of all users."""
    truth = {
        "mean": values.mean(),
        "weighted mean": (weight * values).sum() / weight.sum(),
        "median": np.median(values),
    }
    weights = bootstrap_weights(N_USERS, N_DRAWS, rng=stream(1, "resampled"))
    rng, user = stream(1, "users"), np.arange(N_USERS)
    hits = {(width, name): 0 for width in (1.0, 0.5) for name in truth}
    for _ in range(N_INTERVALS):
        sample = rng.integers(len(values), size=N_USERS)
        own, own_weight = values[sample], weight[sample]
        sums = weighted_sums(np.array([own, own_weight * own, own_weight]), weights)
        ones = np.ones(N_USERS)
        replicates = {
            "mean": sums[:, 0] / N_USERS,
            "weighted mean": sums[:, 1] / sums[:, 2],
            "median": weighted_medians(own[None], ones, user, weights)[0],
        }
        for name, drawn in replicates.items():
            low, high = interval(drawn)
            away, half = abs(truth[name] - (low + high) / 2), (high - low) / 2
            for width in (1.0, 0.5):
                # Sums of equal numbers in another order differ in their last digits.
                hits[width, name] += away <= width * half + 1e-12
    return {key: found / N_INTERVALS for key, found in hits.items()}


def prove(values: FloatArray, n_ratings: FloatArray) -> bool:
    """Print every share with its bound; false if one is outside, or a twin passes."""
    differences = (values[0] - values[1])[:N_USERS]
    n_nonzero = int((differences != 0).sum())
    failed = False
    exact = {"sign": exact_sign_size(n_nonzero), "wilcoxon": exact_rank_size(differences)}
    for name, share in sizes(differences).items():
        near = True
        if name in exact:
            error = math.sqrt(exact[name] * (1 - exact[name]) / N_SAMPLES)
            near = abs(share - exact[name]) < 4 * error
        failed |= share > LARGEST or not near
        print(f"{name}: rejects {share:.4f}", f"(exact {exact[name]:.4f})" if name in exact else "")
    both, weight = values[:, :N_USERS], n_ratings[:N_USERS]
    for name, share in sizes_of_statistics(both, weight).items():
        print(f"{name}: rejects {share:.4f}")
        failed |= share > LARGEST
    for name, share in sizes_of_statistics(both, weight, times=2).items():
        print(f"twin, users twice, {name}: rejects {share:.4f}")
        failed |= share <= LARGEST
    for name, share in sizes(differences, times=2).items():
        print(f"twin, users twice, {name}: rejects {share:.4f}")
        failed |= share <= LARGEST
    for (width, name), share in covered(values[1], n_ratings).items():
        low, high = COVERED[name]
        if width == 1.0:
            print(f"{name}: covered {share:.4f}, expected {low} to {high}")
            failed |= not low <= share <= high
        else:
            print(f"twin, half the width, {name}: covered {share:.4f}")
            failed |= share >= low
    print("FAILED" if failed else "passed", f"({n_nonzero} of {len(differences)} differ)")
    return not failed


def main() -> int:
    """Draw from a world, and from what is recorded; 1 if anything fails, or its data is away."""
    print("differences in the synthetic world")
    passed = prove(*world_values())
    try:
        recorded = recorded_values()
    except MissingData as missing:
        print(f"not proved of recorded results: {missing}")
        return 1
    print(f"differences of {' and '.join(RECORDED[-1])} as recorded on {RECORDED[0]}")
    passed &= prove(*recorded)
    print("passed" if passed else "FAILED", f"of the synthetic world, and of {RECORDED[0]}")
    return int(not passed)


if __name__ == "__main__":
    sys.exit(main())
