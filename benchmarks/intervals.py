"""How often 95 % intervals of metrics of lists hold what they are to hold, in simulated worlds.

``python benchmarks/intervals.py [STUDIES]`` draws, in each world, STUDIES (1,000) samples of users
from a population whose lists are known. What an interval is to hold is the expected value of the
metric *at that number of users*, for the same system and the same training ratings: the mean over
20 times as many other samples. Printed is the share of studies whose interval holds it:

percentile  percentiles of 500 resamplings of users
normal      observed +- 1.96 standard deviations of them
linear      observed +- 1.96 standard deviations of as many linear replicates, from what each user
            moves (for the mean over users ARP: the same as "normal")

and by how many standard deviations of the metric the resampled values are shifted. A declaration
of a metric of the system says ``"normal"``, which means linear replicates, only where that share is
.93 or more in every world. ARP is a mean over users like any other: its percentiles cover less
where it hangs on the few users who are shown one of the most popular items (random lists, steep
training counts).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from recbias.metrics import ListView, influence, measure_items, measure_resampled, parse_metric
from recbias.resampling import bootstrap_weights, interval, linear_replicates, normal_interval

DEPTH = 10
KINDS = ("percentile", "normal", "linear")
N_REPLICATES = 500
POPULATION = 20_000
SIZES = ((150, 300), (600, 9000), (1000, 1000), (1000, 4000), (6000, 4000))
"""Users of a study, items of the catalogue."""
METRICS = {name: parse_metric(f"{name}@{DEPTH}") for name in ("ARP", "Gini", "Coverage")}

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
    arp = measure_items(view, [METRICS["ARP"]])[0]
    system = measure_resampled(view, [METRICS["Gini"], METRICS["Coverage"]], weights)
    return np.vstack([weights @ arp / weights.sum(axis=1), system])


def study(
    lists: Lists, n_users: int, n_items: int, n_studies: int, rng: np.random.Generator
) -> dict[str, list[float]]:
    """Share of covering intervals of each kind, and shift, of each metric."""
    counts = (1000 / np.arange(1, n_items + 1)).astype(np.int64)
    once = np.ones((1, n_users), dtype=np.uint8)

    def sample() -> ListView:
        return ListView(lists[rng.integers(len(lists), size=n_users)], n_items, counts)

    truth = np.hstack([measured(sample(), once) for _ in range(20 * n_studies)]).mean(axis=1)
    weights = bootstrap_weights(n_users, N_REPLICATES, rng=rng)
    observed, centres = np.empty((2, n_studies, len(METRICS)))
    held = np.empty((len(KINDS), n_studies, len(METRICS)), dtype=bool)
    for number in range(n_studies):
        view = sample()
        value, values = measured(view, once)[:, 0], measured(view, weights)
        observed[number], centres[number] = value, values.mean(axis=1)
        moved = influence(view, [METRICS["Gini"], METRICS["Coverage"]])
        linear = np.vstack([values[:1], linear_replicates(value[1:], moved, weights)])
        found = interval(values), normal_interval(value, values), normal_interval(value, linear)
        for kind, limits in enumerate(found):
            held[kind, number] = (limits[:, 0] <= truth) & (truth <= limits[:, 1])
    shift = (centres - observed).mean(axis=0) / observed.std(axis=0, ddof=1)
    return {
        name: [*held[:, :, column].mean(axis=1).tolist(), float(shift[column])]
        for column, name in enumerate(METRICS)
    }


def main() -> None:
    n_studies = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    rng = np.random.default_rng(1)
    print(f"{n_studies} studies per world; standard error of a share near .95: "
          f"{np.sqrt(0.95 * 0.05 / n_studies):.3f}")  # fmt: skip
    print(f"{'users':>6}{'items':>6} {'system':12}{'metric':10}"
          + "".join(f"{kind:>12}" for kind in KINDS) + f"{'shift':>8}")  # fmt: skip
    for n_users, n_items in SIZES:
        for system, lists in populations(n_items, rng):
            for name, (*shares, shift) in study(lists, n_users, n_items, n_studies, rng).items():
                print(f"{n_users:6}{n_items:6} {system:12}{name:10}"
                      + "".join(f"{share:12.3f}" for share in shares) + f"{shift:8.1f}",
                      flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
