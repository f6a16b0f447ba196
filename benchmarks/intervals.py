"""How often 95 % intervals of metrics of lists hold what they are to hold, in simulated worlds.

``python benchmarks/intervals.py [STUDIES [SIZES]]`` draws, in each world, STUDIES (1,000) samples
of users from a population whose lists are known. What an interval is to hold is the expected value
of the metric *at that number of users*, for the same system and the same training ratings: the mean
over 20 times as many other samples. Printed is the share of studies whose interval holds it:

percentile  percentiles of 500 resamplings of users
normal      observed +- 1.96 standard deviations of them
linear      observed +- 1.96 standard deviations of as many linear replicates, from what each user
            moves (for the mean over users ARP: the same as "normal")

the first two in 50 studies a world, as resampled lists take long, and by how many standard
deviations of the metric the resampled values are shifted. ``interval_coverage_lists.csv`` keeps it.
SIZES, such as ``150x300,1000x1000``, leaves out others.

A declaration of a metric of the system says ``"normal"``, which means linear replicates, only where
that share is .93 or more in every world. ARP is a mean over users like any other: its percentiles
cover less where it hangs on the few users who are shown one of the most popular items (random
lists, steep training counts).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from recbias.metrics import ListView, influence, measure_items, measure_resampled, parse_metric
from recbias.stats.resampling import bootstrap_weights, interval, linear_replicates, normal_interval

HERE = Path(__file__).parent
DEPTH = 10
KINDS = ("percentile", "normal", "linear")
N_REPLICATES = 500
POPULATION = 20_000
SIZES = ((150, 300), (600, 9000), (1000, 1000), (1000, 4000), (6000, 4000))
"""Users of a study, items of the catalogue."""
ITEMS = [parse_metric(f"ARP@{DEPTH}")]
SYSTEM = [
    parse_metric(form.format(f"@{DEPTH}"))
    for form in (
        "Gini{}", "Coverage{}", "Diversity{}", "Hoover{}", "Entropy{}", "CI{}", "CI{}|JS",
        "LTI(0.2){}", "LTI(0.5){}|percentile", "M{}",
    )
]  # fmt: skip
N_RESAMPLED = 50
"""Studies of a world in which lists are resampled."""

Lists = npt.NDArray[np.int32]


def best(scores: npt.NDArray[np.float64]) -> Lists:
    """Keep the best items of each row, best first."""
    top = np.argpartition(-scores, DEPTH, axis=1)[:, :DEPTH]
    order = np.argsort(-np.take_along_axis(scores, top, axis=1), axis=1)
    return np.take_along_axis(top, order, axis=1).astype(np.int32)


def populations(n_items: int, rng: np.random.Generator) -> Iterator[tuple[str, Lists]]:
    """Show a population of users lists of four systems, from level to steep."""
    popularity = -np.log(np.arange(1, n_items + 1))
    taste = rng.normal(size=(20, n_items))
    blocks = [500] * (POPULATION // 500)

    def gumbel(size: int) -> npt.NDArray[np.float64]:
        return rng.gumbel(size=(size, n_items))

    yield "random", np.vstack([best(gumbel(size)) for size in blocks])
    yield "personal", np.vstack([best(popularity + gumbel(size)) for size in blocks])
    yield (
        "20 tastes",
        np.vstack(
            [
                best(3 * taste[rng.integers(20, size=size)] + popularity + gumbel(size))
                for size in blocks
            ]
        ),
    )
    yield "popular", np.vstack([best(4 * popularity + gumbel(size)) for size in blocks])


def measured(view: ListView, weights: npt.NDArray[np.integer]) -> npt.NDArray[np.float64]:
    """All metrics for every weighting: shape (n_metrics, n_rows)."""
    arp = measure_items(view, ITEMS)
    return np.vstack(
        [arp @ weights.T / weights.sum(axis=1), measure_resampled(view, SYSTEM, weights)]
    )


def study(
    lists: Lists, n_users: int, n_items: int, n_studies: int, rng: np.random.Generator
) -> list[dict[str, float]]:
    """Share of covering intervals of each kind, and shift, of each metric."""
    counts = (1000 / np.arange(1, n_items + 1)).astype(np.int64)
    once = np.ones((1, n_users), dtype=np.uint8)
    n_metrics, n_shown = len(ITEMS) + len(SYSTEM), min(N_RESAMPLED, n_studies)

    def sample() -> ListView:
        lists_drawn = lists[rng.integers(len(lists), size=n_users)]
        return ListView(lists_drawn, n_items, counts, counts)

    truth = np.hstack([measured(sample(), once) for _ in range(20 * n_studies)]).mean(axis=1)
    weights = bootstrap_weights(n_users, N_REPLICATES, rng=rng)
    observed = np.empty((n_studies, n_metrics))
    centres = np.empty((n_shown, n_metrics))
    held = np.full((len(KINDS), n_studies, n_metrics), np.nan)
    for number in range(n_studies):
        view = sample()
        observed[number] = value = measured(view, once)[:, 0]
        arp = measure_items(view, ITEMS)
        linear = linear_replicates(
            value, np.vstack([arp - arp.mean(), influence(view, SYSTEM)]), weights
        )
        found = {2: normal_interval(value, linear)}
        if number < n_shown:
            values = measured(view, weights)
            centres[number] = values.mean(axis=1)
            found |= {0: interval(values), 1: normal_interval(value, values)}
        for kind, limits in found.items():
            held[kind, number] = (limits[:, 0] <= truth) & (truth <= limits[:, 1])
    spread = observed.std(axis=0, ddof=1)
    shift = (centres - observed[:n_shown]).mean(axis=0) / np.where(spread > 0, spread, np.nan)
    return [
        dict(zip(KINDS, np.nanmean(held[:, :, place], axis=1), strict=True))
        | {"shift": float(shift[place])}
        for place in range(n_metrics)
    ]


def main() -> None:
    n_studies = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    asked = sys.argv[2].split(",") if len(sys.argv) > 2 else None
    print(f"{n_studies} studies per world; standard error of a share near .95: "
          f"{np.sqrt(0.95 * 0.05 / n_studies):.3f}")  # fmt: skip
    rows = []
    for n_users, n_items in SIZES:
        if asked and f"{n_users}x{n_items}" not in asked:
            continue
        rng = np.random.default_rng([1, n_users, n_items])
        for system, lists in populations(n_items, rng):
            of_metrics = study(lists, n_users, n_items, n_studies, rng)
            for metric, shares in zip((*ITEMS, *SYSTEM), of_metrics, strict=True):
                row = {"users": n_users, "items": n_items, "system": system, "metric": str(metric)}
                rows.append(row | {name: round(each, 3) for name, each in shares.items()})
                print(*rows[-1].values(), sep="\t", flush=True)
    table = pd.DataFrame(rows).assign(studies=n_studies)
    table.to_csv(HERE / "interval_coverage_lists.csv", index=False, lineterminator="\n")


if __name__ == "__main__":
    main()
