"""Times of all metrics of lists, beside a plain computation with pandas in the same run.

``RECBIAS_DATA=FOLDER python benchmarks/concentration.py`` measures twelve metrics of the lists of
seven systems at four cutoffs on MovieLens 1M (without the data, on a world of that size): values,
and values with intervals from 500 replicates. The lists are drawn in proportion to powers of
popularity, which costs as much to measure as lists of trained models. The goals are 2 s and 20 s.

The plain computation counts items with ``value_counts`` and writes each formula down once. Its
replicates are resampled lists, of which five are timed and the rest reckoned.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pandas as pd

from recbias.data.datasets import load_dataset
from recbias.errors import MissingData
from recbias.metrics import (
    ListView,
    influence,
    list_view,
    measure_items,
    measure_resampled,
    parse_metric,
)
from recbias.stats.resampling import (
    bootstrap_weights,
    interval,
    linear_replicates,
    normal_interval,
    weighted_sums,
)
from recbias.theory import draw_lists

CUTOFFS = (5, 10, 20, 50)
POWERS = (0.0, 0.3, 0.6, 1.0, 1.5, 2.0, 3.0)
FORMS = (
    "Gini{}", "Coverage{}", "Diversity{}", "Hoover{}", "Entropy{}", "CI{}", "CI{}|JS", "LTI(0.2){}",
    "LTI(0.5){}|percentile", "M{}",
)  # fmt: skip
OF_ITEMS = ("ARP{}", "PL{}")
N_REPLICATES, N_TIMED = 500, 5
MIN_RATING = 4.0


def views() -> list[ListView]:
    """Make the lists of seven systems."""
    try:
        train = load_dataset("ml-1m").ratings
    except MissingData:
        name = "world(relation=0.5,skew=0.65,users=6040,items=3706,density=0.0447)"
        train = load_dataset(name).ratings
    rng = np.random.default_rng(1)
    popularity = train.item_counts().astype(np.float64)
    return [
        list_view(
            draw_lists(train, popularity**power, max(CUTOFFS), rng=rng),
            train,
            min_rating=MIN_RATING,
        )
        for power in POWERS
    ]


def metrics_of(forms: tuple[str, ...]) -> list:
    return [parse_metric(form.format(f"@{cutoff}")) for cutoff in CUTOFFS for form in forms]


def values(lists: list[ListView]) -> None:
    once = np.ones((1, len(lists[0].items)), dtype=np.uint8)
    for view in lists:
        measure_resampled(view, metrics_of(FORMS), once)
        measure_items(view, metrics_of(OF_ITEMS)).mean(axis=1)


def replicates(lists: list[ListView]) -> None:
    n_users = len(lists[0].items)
    weights = bootstrap_weights(n_users, N_REPLICATES, rng=np.random.default_rng(2))
    once = np.ones((1, n_users), dtype=np.uint8)
    for view in lists:
        observed = measure_resampled(view, metrics_of(FORMS), once)[:, 0]
        moved = influence(view, metrics_of(FORMS))
        normal_interval(observed, linear_replicates(observed, moved, weights))
        of_items = measure_items(view, metrics_of(OF_ITEMS))
        interval(weighted_sums(of_items, weights).T / n_users)


def plain(view: ListView, cutoff: int, users: npt.NDArray[np.intp]) -> dict[str, float]:
    """Compute the metrics as a notebook would."""
    frame = pd.DataFrame(view.items[users, :cutoff]).melt(value_name="item", var_name="place")
    shown = frame[frame["item"] >= 0]
    counts = shown["item"].value_counts().reindex(range(view.n_items), fill_value=0)
    prior = pd.Series(view.prior)
    n, total, known = view.n_items, counts.sum(), prior.sum()
    ascending, p, q = counts.sort_values(), prior / known, counts / total
    smooth = np.log((counts + 1) / (total + n)) - np.log((prior + 1) / (known + n))
    middle, places = (p + q) / 2, (prior.rank() - 0.5) / n
    head = int(np.ceil(n / 5))
    before = set(prior.sort_values(ascending=False, kind="stable").index[:head])
    after = pd.DataFrame({"r": counts, "s": prior}).sort_values(["r", "s"], ascending=False)
    popularity = pd.Series(view.train_counts)[shown["item"]].mean()
    own = view.own_popularity
    assert own is not None
    return {
        "Gini": ((2 * np.arange(1, n + 1) - n - 1) * ascending).sum() / (n * total),
        "Coverage": (counts > 0).mean(),
        "Diversity": (counts > 0).sum(),
        "Hoover": (q - 1 / n).abs().sum() / 2,
        "Entropy": -(q[q > 0] * np.log(q[q > 0])).sum(),
        "CI": ((q - p) * smooth).sum() / 2,
        "JS": sum((x * np.log(x / middle)).fillna(0).sum() / 2 for x in (p, q)),
        "LTI": ((0.2 - p) * smooth).mean(),
        "LTI, percentile": ((0.5 - places) * smooth).mean(),
        "M": len(before ^ set(after.index[:head])) / n,
        "ARP": popularity,
        "PL": popularity / np.nanmean(own) - 1,
    }


def plain_all(lists: list[ListView], rng: np.random.Generator | None = None) -> None:
    n_users = len(lists[0].items)
    with np.errstate(divide="ignore", invalid="ignore"):
        for view in lists:
            users = np.arange(n_users) if rng is None else rng.integers(n_users, size=n_users)
            for cutoff in CUTOFFS:
                plain(view, cutoff, users)


def seconds(work: Callable[[], None]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def main() -> None:
    lists = views()
    n_users, n_items = len(lists[0].items), lists[0].n_items
    print(f"{n_users} users, {n_items} items, {len(lists)} systems, cutoffs {CUTOFFS}")
    once = np.ones((1, n_users), dtype=np.uint8)
    found = measure_resampled(lists[1], metrics_of(FORMS), once)[:, 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        beside = plain(lists[1], CUTOFFS[0], np.arange(n_users))
    np.testing.assert_allclose(found[: len(FORMS)], list(beside.values())[: len(FORMS)], rtol=1e-9)
    replicates(lists[:1])  # compiles
    for turn in range(2):
        slow = seconds(lambda: plain_all(lists))
        fast = seconds(lambda: values(lists))
        rng = np.random.default_rng(turn)
        drawn = seconds(lambda rng=rng: [plain_all(lists, rng) for _ in range(N_TIMED)])
        intervals = seconds(lambda: replicates(lists))
        reckoned = drawn / N_TIMED * N_REPLICATES
        print(f"values {fast:.2f} s (goal 2), plain {slow:.2f} s: ratio {fast / slow:.3f}; with "
              f"{N_REPLICATES} replicates {intervals:.2f} s (goal 20), plain {reckoned:.0f} s: "
              f"ratio {intervals / reckoned:.4f}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
