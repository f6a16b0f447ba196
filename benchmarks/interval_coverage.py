"""How often 95 % intervals hold the truth: values, differences, ratios, tau, shares of settings.

``python benchmarks/interval_coverage.py [DRAWS]`` writes ``interval_coverage.csv`` and ``.svg``.
In each of 20 worlds models are trained once; items, models and the split are then fixed. The truth
is the value over 50,000 users. From these, DRAWS (1,000) samples of users are drawn, half of 300,
half of 1,000, with replacement, so that the truth has no error of its own; each sample is resampled
1,000 times. A user's values do not change with who else is drawn: they are computed once.

Ten systems: Random, Popularity, average rating, pLSA, EASE, and five that are nearly Popularity.
They serve some users, up to a tenth who gain a hit and a tenth who lose one, by another system, so
that P differs from Popularity's by 0 (an exact tie, which resampling breaks), .25, .5, 1 and 2
standard errors of a sample of 1,000.

Kinds of quantities, all with percentile intervals unless said otherwise:

P, 1RP, nDCG   of each system; P@10 and nDCG@10 over users, 1RP@10 (expected over samples of 100)
               over runs
difference     of P or 1RP to Popularity; "near tie": of the five that are nearly Popularity
ratio          of P to Popularity's; of 1RP to P
gap            upper - lower bound of the lemma on 1RP
tau, resolved signs  between the orders of the ten systems by P and by 1RP: whatever the pairs
               allow whose signs are resolved together; `tau_coverage.py` has the package's test
share          of 30 orders of three or four systems, most of them near ties, that hold, by resolved
               signs
... percentiles  the same two by percentiles, for comparison

A row of the table is a kind in a world at a size: share of intervals that hold the truth, over
draws and quantities; its standard error, between draws; the quantity with the lowest share. Where
nobody of a sample is hit by Random, a ratio has no value and its interval does not hold the truth.
"""

from __future__ import annotations

import re
import sys
import time
from itertools import combinations, product
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import numpy.typing as npt
import pandas as pd

from recbias._system.streams import stream
from recbias.book.figures.style import use_book_style
from recbias.data.simulation import parse_world, power_law_world, preference_world
from recbias.metrics import measure, parse_metric
from recbias.metrics.aggregation import Averaging, contributions
from recbias.protocol.splits import Split, SplitRule
from recbias.protocol.targets import TargetRule
from recbias.ranking import rank_once
from recbias.recommenders import System
from recbias.stats.agreement import kendall_tau, resolved_signs, share_interval
from recbias.stats.resampling import bootstrap_weights, interval

HERE = Path(__file__).parent
N_USERS, SIZES, N_REPLICATES, N_TOGETHER = 50_000, (300, 1000), 1000, 25
WORLDS = [
    f"world(relation={relation},skew={skew},users={N_USERS},items=200,density={density})"
    for relation, skew, density in product((-0.5, 0.0, 0.5, 0.8), (0.4, 0.65), (0.05, 0.1))
] + [
    f"world(alpha={alpha},users={N_USERS},items=200,density={density})"
    for alpha, density in product((0.7, 1.4), (0.05, 0.1))
]
SYSTEMS = (
    System("Random", "Random"),
    System("Popularity", "Popularity"),
    System("average rating", "AverageRating"),
    System("pLSA", "PLSA", {"n_topics": 8, "n_iterations": 10}),
    System("EASE", "EASE", {"regularisation": 500.0}),
)
AWAY = (0.0, 0.25, 0.5, 1.0, 2.0)
"""Differences of the near ties, in standard errors of 1,000 users."""

NAMES = [system.name for system in SYSTEMS] + [f"near tie {each}" for each in AWAY]
RANDOM, POPULARITY, *OTHERS = range(len(SYSTEMS))
FAMILY = [POPULARITY, *range(len(SYSTEMS), len(NAMES))]
OF_USERS = [parse_metric(text) for text in ("P@10", "nDCG@10")]
OF_RUNS = [parse_metric(f"{name}@10|t=100") for name in ("P", "lower", "upper")]
P, NDCG, RUN_P, LOWER, UPPER = range(5)
MIN_RATING = 4.0
SMOOTH = ("P", "1RP", "nDCG", "difference", "near tie", "ratio", "gap")
AIM = (0.935, 0.965)

FloatArray = npt.NDArray[np.float64]


def make_split(name: str) -> Split:
    """Make a world and keep a fifth of its ratings for testing."""
    options = parse_world(name)
    make = power_law_world if "alpha" in name else preference_world
    ratings = make(options).ratings  # type: ignore[arg-type]
    return SplitRule.parse("ratio 0.2").splits(ratings, rng=stream(1, "split", name))[0]


def values_of(system: System, split: Split) -> tuple[FloatArray, FloatArray]:
    """Measure what each user adds to five sums, shape (5, n_users), and to the number of runs."""
    model = system.build().fit(split.train, rng=stream(1, "training", system.name))
    positions, _ = rank_once(model, split, depth=10, seed=1)
    found = []
    for rule, metrics in (("TI-AN-AR", OF_USERS), ("TI-AN-1R", OF_RUNS)):
        table = positions.table(TargetRule.parse(rule), min_rating=MIN_RATING)
        values = measure(table, metrics, min_rating=MIN_RATING, rating_max=5.0)
        found.append(contributions(table, values, Averaging(), min_rating=MIN_RATING))
    return np.vstack([found[0][:-1], found[1][:-1]]), found[1][-1]


def near_ties(sums: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Serve some users otherwise than by Popularity: shape (5 systems, 5 sums, n_users).

    With m users who lose a hit (or gain one) and m + x who gain one (or lose), P moves by x in
    units of sqrt((2 m + x) N / 1000) standard errors of a sample of 1,000 from N users.
    """
    hits = np.rint(10 * sums[:, P])
    gains = hits - hits[POPULARITY]
    n_fewer = np.minimum((gains == 1).sum(axis=1), (gains == -1).sum(axis=1))
    other = int(np.argmax(n_fewer))
    found = []
    for away in AWAY:
        order = rng.permutation(N_USERS)
        direction = rng.choice([-1, 1])
        more, fewer = (order[gains[other, order] == sign] for sign in (direction, -direction))
        square = away**2 * N_USERS / 1000
        size = min(len(fewer), N_USERS // 10)
        while size + (extra := _surplus(size, square)) > len(more):
            size -= 1
        mixed = sums[POPULARITY].copy()
        users = np.concatenate([fewer[:size], more[: size + extra]])
        mixed[:, users] = sums[other][:, users]
        found.append(mixed)
    return np.array(found)


def _surplus(size: int, square: float) -> int:
    """Solve x^2 = square (2 size + x)."""
    return round((square + np.sqrt(square**2 + 8 * size * square)) / 2)


def smooth_quantities(values: FloatArray) -> tuple[list[str], list[str], FloatArray]:
    """Kinds, names and values of all smooth quantities, from the means of shape (..., 10, 5)."""
    p, run_p = values[..., P], values[..., RUN_P]
    others = [place for place in range(len(NAMES)) if place != POPULARITY]
    kinds, names, found = [], [], []

    def add(kind: str, what: str, places: list[int], numbers: FloatArray) -> None:
        kinds.extend([kind] * len(places))
        names.extend(f"{what} {NAMES[place]}" for place in places)
        found.append(numbers)

    everybody, nearly = list(range(len(NAMES))), FAMILY[1:]
    add("P", "P of", everybody, p)
    add("1RP", "1RP of", everybody, run_p)
    add("nDCG", "nDCG of", everybody, values[..., NDCG])
    for what, each in (("P", p), ("1RP", run_p)):
        for kind, places in (("difference", [RANDOM, *OTHERS]), ("near tie", nearly)):
            add(kind, f"{what} to Popularity:", places, each[..., places] - each[..., [POPULARITY]])
    with np.errstate(divide="ignore", invalid="ignore"):
        add("ratio", "P to Popularity:", others, p[..., others] / p[..., [POPULARITY]])
        add("ratio", "1RP to P:", everybody, run_p / p)
    add("gap", "gap of", everybody, values[..., UPPER] - values[..., LOWER])
    return kinds, names, np.concatenate(found, axis=-1)


def orders_of(rng: np.random.Generator) -> npt.NDArray[np.intp]:
    """Thirty chains of four systems, around each pair of near ties in either direction or both."""
    chains = []
    for x, y in combinations(FAMILY, 2):
        first, second = rng.permutation([x, y])
        chains += [(OTHERS[-1], first, second, RANDOM), (OTHERS[-2], first, second, RANDOM)]
    return np.array(chains)


def tau_by_signs(
    a: FloatArray, b: FloatArray, a_drawn: FloatArray, b_drawn: FloatArray
) -> tuple[float, float]:
    """Let tau be whatever the pairs that are resolved together allow."""
    first, second = np.triu_indices(len(a), k=1)
    values, drawn = np.concatenate([a, b]), np.concatenate([a_drawn, b_drawn])
    rows, others = (np.concatenate([pair, pair + len(a)]) for pair in (first, second))
    signs = resolved_signs(values[rows] - values[others], drawn[rows] - drawn[others])
    products = signs[: len(first)] * signs[len(first) :]
    total, n_open = int(products.sum()), int((products == 0).sum())
    return (total - n_open) / len(first), (total + n_open) / len(first)


def study(name: str, n_draws: int) -> list[dict[str, object]]:
    """Rows of the table for one world."""
    rng = stream(1, "coverage", name)
    split = make_split(name)
    per_system = [values_of(system, split) for system in SYSTEMS]
    sums = np.array([values for values, _ in per_system])
    runs = per_system[0][1]
    sums = np.concatenate([sums, near_ties(sums, rng)])
    # A user is a row: the sums of all systems, the number of runs, and the one that is themselves.
    users = np.column_stack([sums.reshape(-1, N_USERS).T, runs, np.ones(N_USERS)])

    def means(totals: FloatArray) -> FloatArray:
        """From sums over users, shape (..., 52), to shape (..., 10, 5)."""
        values = totals[..., :-2].reshape(*totals.shape[:-1], len(NAMES), 5).copy()
        values[..., RUN_P:] /= totals[..., -2, None, None]
        values[..., :RUN_P] /= totals[..., -1, None, None]
        return values

    # Rounded, so that the exact tie is one: P moves in tenths.
    truth = means(np.round(users.sum(axis=0), 6))
    orders = orders_of(rng)
    kinds, names, true_values = smooth_quantities(truth)
    true_tau = kendall_tau(truth[:, P], truth[:, RUN_P])
    true_share = (np.diff(truth[orders, P], axis=-1) < 0).all(axis=-1).mean()
    truths = {"tau": round(float(true_tau), 4), "share": round(float(true_share), 4)}
    rows = []
    for size in SIZES:
        held: dict[str, list[npt.NDArray[np.bool_]]] = {}
        widths: dict[str, list[FloatArray]] = {}
        weights = bootstrap_weights(size, N_REPLICATES, rng=rng).astype(np.float64)
        for _ in range(n_draws // len(SIZES) // N_TOGETHER):
            drawn = users[rng.integers(N_USERS, size=(N_TOGETHER, size))]
            observed = means(drawn.sum(axis=1))
            replicates = means(np.matmul(weights, drawn))
            limits = interval(np.moveaxis(smooth_quantities(replicates)[2], 1, -1))
            covers = (limits[..., 0] <= true_values) & (true_values <= limits[..., 1])
            for kind in SMOOTH:
                own = np.array([each == kind for each in kinds])
                held.setdefault(kind, []).append(covers[:, own])
            tau_drawn = kendall_tau(replicates[..., P], replicates[..., RUN_P])
            steps = np.diff(replicates[..., orders, P], axis=-1)
            share_drawn = (steps < 0).all(axis=-1).mean(axis=-1)
            by_signs = [
                (
                    tau_by_signs(now[:, P], now[:, RUN_P], then[..., P].T, then[..., RUN_P].T),
                    share_interval(now[:, P], then[..., P].T, orders),
                )
                for now, then in zip(observed, replicates, strict=True)
            ]
            for kind, true, limits in (
                ("tau, resolved signs", true_tau, np.array([tau for tau, _ in by_signs])),
                ("share", true_share, np.array([share for _, share in by_signs])),
                ("tau, percentiles", true_tau, interval(tau_drawn)),
                ("share, percentiles", true_share, interval(share_drawn)),
            ):
                inside = (limits[:, :1] <= true + 1e-9) & (true - 1e-9 <= limits[:, 1:])
                held.setdefault(kind, []).append(inside)
                widths.setdefault(kind, []).append(np.diff(limits, axis=1))
        for kind in held:
            of_kind = [each for each, own in zip(names, kinds, strict=True) if own == kind]
            rows.append(
                {
                    "world": name.replace(f"users={N_USERS},items=200,", ""),
                    "users": size,
                    "kind": kind,
                    **summary(np.concatenate(held[kind]), of_kind),
                    "truth": truths.get(kind.partition(",")[0], ""),
                    "width": np.round(np.mean(widths[kind]), 4) if kind in widths else "",
                }
            )
    return rows


def summary(held: npt.NDArray[np.bool_], names: list[str]) -> dict[str, object]:
    """Reduce what held the truth, shape (draws, quantities), to shares."""
    by_draw, by_quantity = held.mean(axis=1), held.mean(axis=0)
    return {
        "draws": len(held),
        "quantities": held.shape[1],
        "covered": round(by_draw.mean(), 4),
        "se": round(by_draw.std(ddof=1) / np.sqrt(len(held)), 4),
        "lowest": round(by_quantity.min(), 4),
        "lowest of": names[int(np.argmin(by_quantity))] if names else "",
    }


def overall(table: pd.DataFrame) -> pd.DataFrame:
    """Mean of each kind over worlds and sizes, its standard error, and the lowest world."""
    groups = table.groupby("kind", sort=False)
    return pd.DataFrame(
        {
            "covered": groups["covered"].mean(),
            "se": groups["se"].agg(lambda each: np.sqrt((each**2).sum()) / len(each)),
            "lowest world": groups["covered"].min(),
            "highest world": groups["covered"].max(),
            "lowest quantity": groups["lowest"].min(),
        }
    )


def plot(table: pd.DataFrame) -> None:
    """Draw each world and size as a point, and the mean of the kind, beside the aim."""
    use_book_style()
    kinds = list(dict.fromkeys(table["kind"]))
    figure, axes = plt.subplots(figsize=(6.4, 5.2))
    axes.axvspan(*AIM, color="0.9", zorder=0)
    axes.axvline(0.95, color="0.6", linewidth=1, zorder=1)
    for size, shift, colour in zip(SIZES, (-0.15, 0.15), ("C0", "C1"), strict=True):
        rows = table[table["users"] == size]
        places = rows["kind"].map(kinds.index)
        axes.plot(rows["covered"], places + shift, "o", color=colour, alpha=0.45, markersize=4,
                  label=f"one world, samples of {size:,} users")  # fmt: skip
    means = overall(table)["covered"]
    axes.plot(means, [kinds.index(kind) for kind in means.index], "k|", markersize=16,
              markeredgewidth=2, label="mean of all worlds")  # fmt: skip
    axes.set_yticks(range(len(kinds)), kinds)
    axes.invert_yaxis()
    axes.set_xlabel("share of 95 % intervals that hold the truth")
    figure.legend(loc="outside upper center", ncols=1)
    file = HERE / "interval_coverage.svg"
    figure.savefig(file, metadata={"Date": None, "Creator": None})
    # A path on one line: rows of numbers look like ratings to the test that finds data sets.
    file.write_text(re.sub(r"\s*\n(?=[MLCQz\"])", " ", file.read_text(encoding="utf-8")))
    plt.close(figure)


def main() -> None:
    n_draws = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    started, rows = (time.perf_counter(), time.process_time()), []
    for name in WORLDS:
        rows += study(name, n_draws)
        print(f"{name}: {time.perf_counter() - started[0]:.0f} s", flush=True)
    table = pd.DataFrame(rows)
    table.to_csv(HERE / "interval_coverage.csv", index=False, lineterminator="\n")
    plot(table)
    print(overall(table).round(4).to_string())
    print(f"{time.perf_counter() - started[0]:.0f} s, {time.process_time() - started[1]:.0f} s of "
          f"one core; {len(WORLDS)} worlds")  # fmt: skip


if __name__ == "__main__":
    main()
