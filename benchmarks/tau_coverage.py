"""How often intervals of tau and of a share of orders hold the truth, and what they decide.

``python benchmarks/tau_coverage.py [DRAWS]`` writes ``tau_coverage.csv`` and ``.svg``.
In each cell 8 to 30 systems have true values under two quantities, in orders whose tau is nearest
to 0, .5, .8, .9 or 1: b's order is a's with random swaps of neighbours. Of 30 orders of three
systems that are next to each other by b, the same share holds by b, but for exact ties: each begins
where b's order does, at random, and is right or turns two neighbours. DRAWS (200; half as many of
20 or 30 systems) samples of users are drawn, half of 300 and half of 1,000 users, each resampled
1,000 times, as the package does. A user's value is the true value of the system and noise of mean
0: a skewed level of the user, three tastes with the tails of Student's t with 5 degrees of freedom,
noise that neighbours share in groups of three, and noise of their own, both skewed (gamma, shape
.5), all larger for some users than for others. Noise of the two quantities has a correlation of .6.

Distances of neighbours, in standard errors of their difference:

clear      3
middling   1
close      .3
near ties  .01
mixed      half .1, half 4
random     exponential, mean 1.5
exact      half 0, half 2; the truth is tau-b
clear, near ties   3 by a, .01 by b

A row is a cell and a kind of interval, the first three of tau, the last two of the share: ``low``
is the share of intervals whose low end is above the ``truth``, ``high`` whose high end is below it:
that is the error of deciding for the wrong side of a threshold that the truth just reaches, and at
every other threshold there are fewer. ``right`` is the share of right decisions about a threshold
.1, .2 or .3 away from the truth, on either side (as far as there is such a value).
"""

from __future__ import annotations

import re
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import numpy.typing as npt
import pandas as pd
from interval_coverage import tau_by_signs

from recbias._system.streams import stream
from recbias.book.figures.style import use_book_style
from recbias.stats.agreement import kendall_tau, share_interval, tau_interval
from recbias.stats.resampling import bootstrap_weights, interval

HERE = Path(__file__).parent
N_SYSTEMS = (8, 12, 16, 20, 30)
DISTANCES = (
    "clear", "middling", "close", "near ties", "mixed", "random", "exact", "clear, near ties",
)  # fmt: skip
TAUS = (0.0, 0.5, 0.8, 0.9, 1.0)
SIZES, N_REPLICATES, CORRELATION = (300, 1000), 1000, 0.6
AWAY = (0.1, 0.2, 0.3)
KINDS = ("test", "resolved signs", "percentiles")
SHARES = ("share, resolved signs", "share, percentiles")
N_ORDERS = 30

FloatArray = npt.NDArray[np.float64]


def steps(distance: str, n: int, rng: np.random.Generator) -> FloatArray:
    """Draw distances of n systems to the next, in standard errors."""
    if distance == "random":
        return rng.exponential(1.5, n - 1)
    pairs = {"mixed": (0.1, 4.0), "exact": (0.0, 2.0)}
    if distance in pairs:
        return rng.choice(pairs[distance], n - 1)
    size = {"clear": 3.0, "middling": 1.0, "close": 0.3, "near ties": 0.01}
    return np.full(n - 1, size[distance])


def shuffled(n: int, tau: float, rng: np.random.Generator) -> npt.NDArray[np.intp]:
    """Swap random neighbours until as many pairs are inverted as `tau` says."""
    order = np.arange(n)
    n_left = round((1 - tau) / 2 * n * (n - 1) / 2)
    while n_left:
        place = rng.integers(n - 1)
        if order[place] < order[place + 1]:
            order[[place, place + 1]] = order[[place + 1, place]]
            n_left -= 1
    return order


def orders_of(
    best: npt.NDArray[np.intp], share: float, rng: np.random.Generator
) -> npt.NDArray[np.intp]:
    """List orders of three neighbours, of which a share is that from the best."""
    places = rng.integers(len(best) - 2, size=N_ORDERS)[:, None] + np.arange(3)
    wrong = places[round(share * N_ORDERS) :]
    turned = rng.integers(2, size=len(wrong))
    rows = np.arange(len(wrong))
    wrong[rows, turned], wrong[rows, turned + 1] = wrong[rows, turned + 1], wrong[rows, turned]
    return best[places]


def holding(values: FloatArray, orders: npt.NDArray[np.intp]) -> FloatArray:
    """Compute the share of orders that hold, along the last axis of values."""
    return (np.diff(values[..., orders], axis=-1) < 0).all(axis=-1).mean(axis=-1)


def skewed(rng: np.random.Generator, *shape: int) -> FloatArray:
    """Draw skewed noise of mean 0 and variance 1."""
    return (rng.gamma(0.5, size=shape) - 0.5) / np.sqrt(0.5)


class World:
    """Systems with true values in standard errors, and users who differ."""

    def __init__(self, n: int, distance: str, tau: float, rng: np.random.Generator) -> None:
        self.n = n
        self.tastes = rng.normal(0, 0.5, size=(3, n))
        self.groups = np.repeat(np.eye(n), 3, axis=0)[:n] * np.sqrt(0.6)
        covariance = self.tastes.T @ self.tastes + self.groups @ self.groups.T + 0.4 * np.eye(n)
        of_a, _, of_b = distance.partition(", ")
        self.values = np.zeros((2, n))
        for values, order, name in zip(
            self.values,
            (np.arange(n), shuffled(n, tau, rng)),
            (of_a, of_b or of_a),
            strict=True,
        ):
            x, y = order[:-1], order[1:]
            errors = np.sqrt(covariance[x, x] + covariance[y, y] - 2 * covariance[x, y])
            values[order[1:]] = np.cumsum(steps(name, n, rng) * errors)
        self.tau = float(kendall_tau(*self.values))
        self.orders = orders_of(np.argsort(self.values[1], kind="stable")[::-1], tau, rng)
        self.share = float(holding(self.values[1], self.orders))

    def sample(self, weights: FloatArray, rng: np.random.Generator) -> list[FloatArray]:
        """Draw users: values under both quantities and their replicates."""
        size, found = weights.shape[1], []
        level = skewed(rng, size, 1)
        larger = np.sqrt(0.5 + rng.gamma(1, 0.5, size=(size, 1)))
        own: FloatArray | float = 0.0
        share = 0.0
        for true in self.values:
            tastes = rng.standard_t(5, size=(size, 3)) / np.sqrt(5 / 3) @ self.tastes
            fresh = tastes + skewed(rng, size, self.n) @ self.groups.T
            fresh += np.sqrt(0.4) * skewed(rng, size, self.n)
            own = share * own + np.sqrt(1 - share**2) * fresh
            share = CORRELATION
            users = true / np.sqrt(size) + level + larger * own
            found.append((users.mean(axis=0), (weights @ users).T / size))
        (a, a_drawn), (b, b_drawn) = found
        return [a, b, a_drawn, b_drawn]


def study(n: int, distance: str, aim: float, n_draws: int) -> list[dict[str, object]]:
    """Rows of the table for one cell."""
    rng = stream(1, "tau coverage", f"{n} {distance} {aim}")
    world = World(n, distance, aim, rng)
    found: dict[str, list[tuple[float, float]]] = {kind: [] for kind in (*KINDS, *SHARES)}
    for size in SIZES:
        weights = bootstrap_weights(size, N_REPLICATES, rng=rng).astype(np.float64)
        for _ in range(n_draws // len(SIZES)):
            drawn = world.sample(weights, rng)
            ends = (
                tau_interval(*drawn),
                tau_by_signs(*drawn),
                interval(kendall_tau(drawn[2].T, drawn[3].T)),
                share_interval(drawn[1], drawn[3], world.orders),
                interval(holding(drawn[3].T, world.orders)),
            )
            for limits, (low, high) in zip(found.values(), ends, strict=True):
                limits.append((float(low), float(high)))
    rows = []
    for kind, limits in found.items():
        low, high = np.array(limits).T
        truth, least = (world.share, 0) if kind in SHARES else (world.tau, -1)
        above, below = low > truth + 1e-9, high < truth - 1e-9
        row: dict[str, object] = {
            "systems": n, "distances": distance, "aim": aim, "kind": kind, "truth": round(truth, 4),
            "draws": len(low), "low": above.mean(), "high": below.mean(),
            "covered": 1 - (above | below).mean(), "width": (high - low).mean(),
        }  # fmt: skip
        for away in AWAY:
            right = [low > truth - away + 1e-9] if truth - away > least else []
            right += [high < truth + away - 1e-9] if truth + away < 1 else []
            row[f"right {away}"] = np.mean(right)
        rows.append({k: round(v, 4) if isinstance(v, float) else v for k, v in row.items()})
    return rows


def overall(table: pd.DataFrame) -> pd.DataFrame:
    """Means of each kind over cells of the same distances, and the worst cell."""
    groups = table.groupby(["distances", "kind"], sort=False)
    means = groups[["covered", "width", *(f"right {away}" for away in AWAY)]].mean()
    lowest = groups["covered"].min()
    return means.assign(lowest=lowest, side=groups[["low", "high"]].max().max(axis=1))


def plot(table: pd.DataFrame) -> None:
    """Draw coverage of each cell beside the share of right decisions .2 away."""
    use_book_style()
    figure, axes = plt.subplots(1, 2, figsize=(6.4, 4.2), sharey=True)
    axes[0].axvline(0.95, color="0.6", linewidth=1, zorder=1)
    for kind, shift, colour in zip(KINDS, (-0.22, 0.0, 0.22), ("C0", "C1", "C2"), strict=True):
        rows = table[table["kind"] == kind]
        places = rows["distances"].map(DISTANCES.index) + shift
        for panel, column in zip(axes, ("covered", "right 0.2"), strict=True):
            panel.plot(rows[column], places, "o", color=colour, alpha=0.4, markersize=3.5,
                       label=kind)  # fmt: skip
    axes[0].set_yticks(range(len(DISTANCES)), DISTANCES)
    axes[0].invert_yaxis()
    axes[0].set_xlabel("share of 95 % intervals\nthat hold the true tau")
    axes[1].set_xlabel("share of right decisions about\na threshold .2 from the true tau")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3)
    file = HERE / "tau_coverage.svg"
    figure.savefig(file, metadata={"Date": None, "Creator": None})
    # A path on one line: rows of numbers look like ratings to the test that finds data sets.
    file.write_text(re.sub(r"\s*\n(?=[MLCQz\"])", " ", file.read_text(encoding="utf-8")))
    plt.close(figure)


def main() -> None:
    n_draws = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    started = time.perf_counter()
    cells = list(product(N_SYSTEMS, DISTANCES, TAUS))
    with ProcessPoolExecutor() as processes:
        studied = [
            processes.submit(study, n, distance, aim, n_draws // (1 + (n >= 20)))
            for n, distance, aim in cells
        ]
        table = pd.DataFrame([row for each in studied for row in each.result()])
    table.to_csv(HERE / "tau_coverage.csv", index=False, lineterminator="\n")
    plot(table)
    print(overall(table).round(3).to_string())
    print(f"{time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
