"""Every check of chapter 7 accepts the package's metrics and rejects broken ones, its twins."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from chapter_grids import fill_grid, overlap_grid, start_grid
from recbias import Grid
from recbias.book.chapters.offline_option_taxonomy import (
    average_checks,
    checks,
    data_checks,
    list_checks,
    plain,
)
from recbias.book.chapters.offline_option_taxonomy.average_checks import average_users
from recbias.book.chapters.offline_option_taxonomy.plain import Session, measured
from recbias.claims.checks import Check
from recbias.data.datasets import load_dataset
from recbias.experiment import makers
from recbias.experiment.decisions import CHOICES, DECISIONS
from recbias.experiment.options import options_of
from recbias.protocol.relevance import GainMap
from recbias.protocol.splits import Split, SplitRule
from recbias.protocol.testset import dataset_splits
from recbias.recommenders.base import ratings_read
from recbias.stats.comparison import paired_t, sign_test, subsampled_tests, wilcoxon
from recbias.stats.risk import geo_risk, standardised, t_risk, u_risk

NONE = 1e-9
ROUNDED = {"CCM20-D-RISK", "CCM20-D-STD", "CCM20-D-RBO"}
"""Claims with worked values of six digits."""

AS_PRINTED = {("CCM20-EQ-RED", "printed"), ("CCM20-EQ-RED", "weighted")}
"""What does not hold."""


@pytest.fixture(scope="module")
def sessions() -> list[Session]:
    return list(plain.random_sessions(150, np.random.default_rng(5)))


def fails(found: Sequence[Check]) -> set[str]:
    return {
        each.name
        for each in found
        if each.worst > (1e-6 if each.claim in ROUNDED else NONE)
        and (each.claim, each.name) not in AS_PRINTED
    }


# -- worked values ---------------------------------------------------------------------------------

WORKED = Session((9, 1, 2, 0), {0: 5, 1: 4, 2: 2, 3: 3})


def test_plain_formulas_have_the_worked_values() -> None:
    listed, ratings, condensed = WORKED.listed, WORKED.ratings, WORKED.condensed
    assert condensed == (1, 2, 0)
    assert plain.plain_ndcg(listed, ratings, 3, "binary") == pytest.approx(0.386853, abs=5e-7)
    assert plain.plain_ndcg(listed, ratings, 3, "exp") == pytest.approx(0.235054, abs=5e-7)
    assert plain.plain_ndcg(condensed, ratings, 3, "binary") == pytest.approx(0.919721, abs=5e-7)
    assert plain.plain_ndcg(condensed, ratings, 3, "exp") == pytest.approx(0.723397, abs=5e-7)
    assert plain.plain_persistent(listed, ratings, 0.5, "binary") == pytest.approx(0.3125)
    assert plain.plain_persistent(listed, ratings, 0.8, "binary") == pytest.approx(0.2624)
    assert plain.plain_residual(listed, ratings, 0.5) == pytest.approx(0.5625)
    assert plain.plain_residual(listed, ratings, 0.8) == pytest.approx(0.6096)
    assert plain.plain_residual(condensed, ratings, 0.8) == pytest.approx(0.512)
    assert plain.plain_precision(listed, ratings, 5) == pytest.approx(0.4)
    order = Session((0, 1, 2, 3), {0: 5, 1: 5, 2: 3, 3: 4})
    assert plain.plain_tau(order.condensed, order.ratings) == pytest.approx(0.547723, abs=5e-7)
    four = Session((1, 2, 0, 3), {0: 5, 1: 4, 2: 1, 3: 2})
    for phi, truncated, value in ((0.5, True, 0.270833), (0.5, False, 0.333333),
                                  (0.9, True, 0.1719), (0.9, False, 0.828)):  # fmt: skip
        found = plain.plain_overlap(four.condensed, four.ratings, phi, truncated=truncated)
        assert found == pytest.approx(value, abs=5e-7)


# -- lists -----------------------------------------------------------------------------------------


def as_rated(sessions: Sequence[Session], *metrics: str, condensed: bool = False) -> Any:
    """Count what nobody rated as if it had five stars."""
    rated = [Session(each.listed, {**dict.fromkeys(each.listed, 5), **each.ratings})
             for each in sessions]  # fmt: skip
    return measured(rated, *metrics, condensed=condensed)


def of_full_lists(sessions: Sequence[Session], *metrics: str, condensed: bool = False) -> Any:
    """Condense nothing."""
    return measured(sessions, *metrics)


def by_length(sessions: Sequence[Session], *metrics: str, condensed: bool = False) -> Any:
    """Divide by the length of the list, not by d."""
    lengths = np.array([max(1, min(5, len(each.listed))) for each in sessions])
    return measured(sessions, *metrics, condensed=condensed) * 5 / lengths


def plain_sums(sessions: Sequence[Session], *metrics: str, condensed: bool = False) -> Any:
    """Add up likes instead of nDCG, and call what is undefined 0."""
    found = measured(sessions, *metrics, condensed=condensed)
    hits = measured(sessions, "P@5", condensed=condensed)[0]
    return np.array([
        hits if name.startswith("nDCG") else row for name, row in zip(metrics, found, strict=True)
    ])  # fmt: skip


def discounted(sessions: Sequence[Session], *metrics: str, condensed: bool = False) -> Any:
    """Discount precision by rank."""
    found = measured(sessions, *metrics, condensed=condensed)
    rr = np.nan_to_num(measured(sessions, "RR", condensed=condensed)[0])
    return np.array([
        row * rr if name.startswith("P@") else row
        for name, row in zip(metrics, found, strict=True)
    ])  # fmt: skip


def upside_down(sessions: Sequence[Session], *metrics: str, condensed: bool = False) -> Any:
    """Measure lists from their end."""
    turned = [Session(each.listed[::-1], each.ratings) for each in sessions]
    return measured(turned, *metrics, condensed=condensed)


def with_other_phi(sessions: Sequence[Session], *metrics: str, condensed: bool = False) -> Any:
    names = [text.replace("0.5", "X").replace("0.9", "0.5").replace("X", "0.9") for text in metrics]
    return measured(sessions, *names, condensed=condensed)


def counts_users(sessions: Sequence[Session], *metrics: str, condensed: bool = False) -> Any:
    """Ask of all depths whether there is a list at all."""
    return measured(sessions, *("Served@1" for _ in metrics), condensed=condensed)


def never_undefined(sessions: Sequence[Session], *metrics: str, condensed: bool = False) -> Any:
    return np.nan_to_num(measured(sessions, *metrics, condensed=condensed))


def all_of_tau(sessions: Sequence[Session], *metrics: str, condensed: bool = False) -> Any:
    return measured(sessions, *("tau" for _ in metrics), condensed=condensed)


def all_of_ndcg(sessions: Sequence[Session], *metrics: str, condensed: bool = False) -> Any:
    return measured(sessions, *("nDCG(exp)" for _ in metrics), condensed=condensed)


def half_of_it(sessions: Sequence[Session], *metrics: str, condensed: bool = False) -> Any:
    return measured(sessions, *metrics, condensed=condensed) / 2


OF_LISTS: Sequence[tuple[Callable[..., list[Check]], Any, set[str]]] = [
    (list_checks.check_gains, as_rated, {"unrated"}),
    (list_checks.check_coverage, counts_users, {"formula", "finer"}),
    (list_checks.check_coverage, half_of_it, {"formula", "user-coverage"}),
    (list_checks.check_short_lists, by_length, {"padded", "filled-up"}),
    (list_checks.check_condensed, of_full_lists, {"kept"}),
    (list_checks.check_condensed, half_of_it, {"residual"}),
    (list_checks.check_condensed, upside_down, {"order"}),
    (list_checks.check_top_heavy, plain_sums, {"ndcg", "ideal", "undefined"}),
    (list_checks.check_top_heavy, discounted, {"precision"}),
    (list_checks.check_top_heavy, never_undefined, {"ideal", "undefined", "remedies"}),
    (list_checks.check_overlap, upside_down, {"formula", "ideal"}),
    (list_checks.check_overlap, with_other_phi, {"formula", "pinned", "persistence"}),
    (list_checks.check_overlap, half_of_it, {"ties", "permuted", "ideal"}),
]


@pytest.mark.parametrize(
    "check", dict.fromkeys(check for check, _, _ in OF_LISTS), ids=lambda check: check.__name__
)
def test_checks_of_lists_accept_the_metrics(check: Any, sessions: list[Session]) -> None:
    assert fails(check(sessions)) == set()


@pytest.mark.parametrize(("check", "broken", "names"), OF_LISTS)
def test_checks_of_lists_reject(
    check: Any, broken: Any, names: set[str], sessions: list[Session]
) -> None:
    assert names <= fails(check(sessions, measure=broken))


def test_each_check_of_lists_has_been_seen_to_fail(sessions: list[Session]) -> None:
    seen: dict[str, set[str]] = {}
    for check, _, names in OF_LISTS:
        seen.setdefault(check.__name__, set()).update(names)
    seen["check_gains"] |= {"g1", "g2", "err", "span", "alike"}  # below
    for check in dict.fromkeys(check for check, _, _ in OF_LISTS):
        assert {each.name for each in check(sessions)} == seen[check.__name__]


def test_gain_maps_are_told_apart(sessions: list[Session]) -> None:
    other = {"binary": "steps", "exp": "err", "err": "exp"}
    found = list_checks.check_gains(sessions, gain=lambda name: GainMap.parse(other[name]))
    assert fails(found) == {"g1", "g2", "err", "span"}

    def apart(sessions: Sequence[Session], *metrics: str, condensed: bool = False) -> Any:
        return measured(sessions, *metrics, condensed=condensed) * (1 + ("(err)" in metrics[0]))

    assert fails(list_checks.check_gains(sessions, measure=apart)) == {"alike"}


def test_checks_of_orders_and_of_persistence() -> None:
    assert fails(list_checks.check_order_metrics()) == set()
    assert "tau" in fails(list_checks.check_order_metrics(measure=all_of_ndcg))
    assert "top-weighted" in fails(list_checks.check_order_metrics(measure=all_of_tau))
    assert "ndcg" in fails(list_checks.check_order_metrics(measure=half_of_it))
    assert fails(list_checks.check_persistence()) == set()
    flat = list_checks.check_persistence(depth=lambda phi: 3.0)
    assert fails(flat) == {"depth", "example", "further"}
    assert fails(list_checks.check_persistence(measure=with_other_phi)) == {"head"}


# -- averages --------------------------------------------------------------------------------------


def only_served(sessions: Sequence[Session], metric: str = "P@5", **averaging: Any) -> float:
    return average_users(sessions, metric, **{**averaging, "coverage": "reduced"})


def never_reduced(sessions: Sequence[Session], metric: str = "P@5", **averaging: Any) -> float:
    return average_users(sessions, metric, **{**averaging, "coverage": ""})


def by_likes(sessions: Sequence[Session], metric: str = "P@5", **averaging: Any) -> float:
    return average_users(sessions, metric, **{**averaging, "weights": "relevant"})


def unweighted(sessions: Sequence[Session], metric: str = "P@5", **averaging: Any) -> float:
    return average_users(sessions, metric, **{**averaging, "weights": ""})


def geometric_always(sessions: Sequence[Session], metric: str = "P@5", **averaging: Any) -> float:
    return average_users(sessions, metric, **{"statistic": "geometric(0.01)"})


def arithmetic(sessions: Sequence[Session], metric: str = "P@5", **averaging: Any) -> float:
    return average_users(sessions, metric)


OF_AVERAGES: Sequence[tuple[Callable[..., list[Check]], Any, set[str]]] = [
    (average_checks.check_reduced, only_served, {"mended"}),
    (average_checks.check_reduced, never_reduced, {"mended", "factor"}),
    (average_checks.check_unserved, never_reduced, {"reduced"}),
    (average_checks.check_unserved, only_served, {"full"}),
    (average_checks.check_weights, by_likes, {"weights", "influence"}),
    (average_checks.check_weights, unweighted, {"weights"}),
    (average_checks.check_geometric, arithmetic, {"formula", "zero"}),
    (average_checks.check_geometric, geometric_always, {"formula", "alike", "zero"}),
]


@pytest.mark.parametrize(
    "check", dict.fromkeys(check for check, _, _ in OF_AVERAGES), ids=lambda check: check.__name__
)
def test_checks_of_averages_accept_the_averages(check: Any, sessions: list[Session]) -> None:
    assert fails(check(sessions)) == set()


@pytest.mark.parametrize(("check", "broken", "names"), OF_AVERAGES)
def test_checks_of_averages_reject(
    check: Any, broken: Any, names: set[str], sessions: list[Session]
) -> None:
    assert names <= fails(check(sessions, average=broken))


def test_the_printed_conversion_and_that_of_weighted_means_do_not_hold(
    sessions: list[Session],
) -> None:
    found = {each.name: each.worst for each in average_checks.check_reduced(sessions)}
    assert found["printed"] > 1e-3
    assert found["weighted"] > 1e-4
    even = [Session(each.listed, dict.fromkeys(range(5), 5)) for each in sessions]
    found = {each.name: each.worst for each in average_checks.check_reduced(even)}
    assert found["weighted"] < NONE  # whoever has as many ratings weighs as much


def test_users_who_stay_without_a_list_are_noticed(sessions: list[Session]) -> None:
    def empty(sessions: Sequence[Session], metric: str = "P@5", **averaging: Any) -> float:
        if metric == "Served@1":
            sessions = [Session((), each.ratings) for each in sessions]
        return average_users(sessions, metric, **averaging)

    assert "filled" in fails(average_checks.check_unserved(sessions, average=empty))


def test_checks_of_risk_reject_other_definitions() -> None:
    assert fails(average_checks.check_risk()) == set()
    plain_risk = average_checks.check_risk(u=lambda x, b, alpha: u_risk(x, b, alpha=0))
    assert fails(plain_risk) == {"u-risk", "losses"}
    n = 4
    population = average_checks.check_risk(
        t=lambda x, b, alpha: t_risk(x, b, alpha=alpha) * np.sqrt(n / (n - 1))
    )
    assert fails(population) == {"t-risk"}
    turned = average_checks.check_risk(geo=lambda v, alpha: geo_risk(v[::-1], alpha=alpha))
    assert fails(turned) == {"geo-risk"}


def test_checks_of_standardised_scores_reject_others() -> None:
    assert fails(average_checks.check_standardised()) == set()
    assert fails(average_checks.check_standardised(standardise=lambda pool: pool)) == {
        "pinned",
        "tied",
    }
    assert standardised(np.array([[0.4], [0.4]])).tolist() == [[0.5], [0.5]]


def test_checks_of_tests_reject_one_sided_ones() -> None:
    rng = np.random.default_rng
    assert fails(average_checks.check_tests(rng(3))) == set()
    halves = average_checks.check_tests(
        rng(3),
        t=lambda a, b: float(paired_t(a, b).p_value) / 2,
        ranks=lambda a, b: wilcoxon(a, b) / 2,
        sign=lambda a, b: sign_test(a, b) / 2,
    )
    assert fails(halves) == {"t", "wilcoxon", "sign"}


def test_checks_of_subsamples_reject_what_is_no_share_of_tests() -> None:
    assert fails(average_checks.check_subsamples()) == set()
    turn = iter(range(100))

    def other(a: Any, b: Any, *, size: int, n_samples: int, rng: Any) -> float:
        return 1 - subsampled_tests(
            a, b, size=size, n_samples=n_samples, rng=np.random.default_rng(next(turn))
        )

    assert fails(average_checks.check_subsamples(share=other)) == {"share", "larger", "draws"}


# -- data ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def dataset() -> Any:
    return load_dataset("synthetic")


def test_splits_that_break_their_promise_are_noticed(dataset: Any) -> None:
    ratings = dataset.ratings
    found = data_checks.check_splits(ratings, 1)
    assert fails(found) == {"items-train"}  # E11: what is alike is the test

    def leaky(ratings: Any, rule: str, rng: Any) -> Split:
        split = SplitRule.parse(rule).splits(ratings, rng=rng)[0]
        return dataclasses.replace(split, train=ratings)

    def uneven(ratings: Any, rule: str, rng: Any) -> Split:
        return SplitRule.parse("ratio 0.5").splits(ratings, rng=rng)[0]

    assert "together" in fails(data_checks.check_splits(ratings, 1, split=leaky))
    assert {"users", "items", "temporal", "presupposed"} <= fails(
        data_checks.check_splits(ratings, 1, split=uneven)
    )


def test_stars_out_of_range_are_noticed(dataset: Any) -> None:
    assert fails(data_checks.check_stars(dataset.ratings)) == set()
    tenths = dataclasses.replace(
        dataset.ratings,
        value=dataset.ratings.value * 2,
        scale=dataclasses.replace(dataset.ratings.scale, maximum=10, step=2, minimum=2),
    )
    assert fails(data_checks.check_stars(tenths)) == {"triples"}


@pytest.mark.parametrize("values", [(0, 1), (-1, 1), (-1, 0, 1)])
def test_neighbours_may_have_rated_0_or_less(tmp_path: Path, values: tuple[int, ...]) -> None:
    rng = np.random.default_rng(1)
    users, items = np.nonzero(rng.random((30, 40)) < 0.15)
    frame = pd.DataFrame(
        {"user_id": users, "item_id": items, "rating": rng.choice(values, len(users))}
    )
    table = str(tmp_path / "own.csv")
    frame.to_csv(table, index=False)
    own = load_dataset(table)
    start = start_grid(table, 1, seed=1)
    knn = dataclasses.replace(
        checks._bare(start, {"full": str(start.parsed["full"])}), systems=start.systems[:1]
    )
    ranks = data_checks.tables_of(knn, own)["User kNN", "full"]
    (split,) = dataset_splits(own, knn.split, seed=1)
    read = ratings_read(knn.systems[0].build(), split.train)
    assert fails(data_checks.check_neighbours(ranks, read)) == set()
    holes = dataclasses.replace(ranks, rank=np.where(ranks.rank % 7 == 1, 0, ranks.rank))
    assert fails(data_checks.check_neighbours(holes, read))


def test_neighbours_and_fills_are_counted_one_by_one(dataset: Any) -> None:
    grid = start_grid("synthetic", 4, seed=1)
    (split,) = dataset_splits(dataset, grid.split, seed=1)
    knn = dataclasses.replace(
        grid,
        systems=grid.systems[:1],
        protocols={"full": str(grid.parsed["full"])},
        metrics=("P@10",),
        compare=(),
        replicates=(),
    )
    table = data_checks.tables_of(knn, dataset)["User kNN", "full"]
    assert fails(data_checks.check_neighbours(table, split.train)) == set()
    assert fails(data_checks.check_neighbours(table, split.train, n_neighbours=90))
    holes = dataclasses.replace(table, rank=np.where(table.rank % 7 == 1, 0, table.rank))
    assert fails(data_checks.check_neighbours(holes, split.train))
    assert fails(data_checks.check_untrained(table, split.train)) == set()
    emptied = split.train.take(split.train.user > 3)
    assert fails(data_checks.check_untrained(table, emptied)) == {"pairs", "unscored-users"}


def test_users_without_neighbours_are_counted_one_by_one(dataset: Any) -> None:
    overlaps = overlap_grid("synthetic", 4, seed=1)
    (split,) = dataset_splits(dataset, overlaps.split, seed=1)
    asked = dataclasses.replace(
        overlaps,
        systems=tuple(each for each in overlaps.systems if each.name.endswith("overlap=40")),
        protocols={"full": str(overlaps.parsed["full"])},
        metrics=("P@10",),
        replicates=(),
    )
    (table,) = data_checks.tables_of(asked, dataset).values()
    assert fails(data_checks.check_overlap_served(table, split.train, 40)) == set()
    assert fails(data_checks.check_overlap_served(table, split.train, 60)) == {"overlap"}
    none = dataclasses.replace(table, n_scored=np.zeros_like(table.n_scored))
    assert fails(data_checks.check_overlap_served(none, split.train, 40)) == {"overlap"}


def test_fills_in_another_order_are_noticed(dataset: Any) -> None:
    fills = fill_grid("synthetic", 4, seed=1)
    asked = dataclasses.replace(fills, systems=fills.systems[:1], metrics=("P@10",), replicates=())
    found = data_checks.tables_of(asked, dataset)
    tables = {label: found["User kNN k=1", label] for label in fills.parsed}
    kept = chapter_kept(fills, dataset)
    assert fails(data_checks.check_fills(tables, kept)) == set()
    swapped = {**tables, "popularity": tables["average"], "average": tables["popularity"]}
    assert fails(data_checks.check_fills(swapped, kept)) == {"popularity", "average"}
    first = dataclasses.replace(
        tables["random"], condensed_rank=tables["random"].condensed_rank.max()
        - tables["random"].condensed_rank,
    )  # fmt: skip
    assert {"below", "random"} <= fails(data_checks.check_fills({**tables, "random": first}, kept))
    listed = dataclasses.replace(tables["none"], condensed_rank=tables["random"].condensed_rank)
    assert "absent" in fails(data_checks.check_fills({**tables, "none": listed}, kept))


def chapter_kept(fills: Grid, dataset: Any) -> Any:
    from recbias.data.selection import Selection

    kept = Selection.parse(fills.select).of(dataset, seed=fills.seed)
    return dataset_splits(kept, fills.split, seed=fills.seed)[0].train


def test_another_setup_is_noticed() -> None:
    start, fills = (make("synthetic", 4, seed=1) for make in (start_grid, fill_grid))
    assert fails(data_checks.check_setup(4, start, fills)) == set()
    crossed = dict(zip(("MF", "MF (as in RankSys)"), start.systems[:0:-1], strict=True))
    systems = (start.systems[0], *(dataclasses.replace(each, name=name)
                                   for name, each in crossed.items()))  # fmt: skip
    other = dataclasses.replace(start, systems=systems, split="ratio 0.8")
    assert fails(data_checks.check_setup(4, other, fills)) == {
        "systems", "swapped", "start",
    }  # fmt: skip
    whole = dataclasses.replace(fills, select="", systems=fills.systems[:3])
    assert fails(data_checks.check_setup(4, start, whole)) == {"setup"}


def test_facts_are_those_that_a_loop_counts(dataset: Any) -> None:
    found = data_checks.facts(dataset, 4)
    counts: dict[int, int] = {}
    likes: dict[int, int] = {}
    for user, value in zip(
        dataset.ratings.user.tolist(), dataset.ratings.value.tolist(), strict=True
    ):
        counts[user] = counts.get(user, 0) + 1
        likes[user] = likes.get(user, 0) + (value >= 4)
    assert found["users"] == len(counts)
    assert found["users up to 100"] == sum(n <= 100 for n in counts.values()) / len(counts)
    assert found["smallest profile"] == min(counts.values())
    pairs = np.array([(counts[user], likes[user]) for user in counts], float)
    assert found["Pearson of users"] == pytest.approx(np.corrcoef(pairs.T)[0, 1])
    gini = sum(abs(a - b) for a in counts.values() for b in counts.values()) / (
        2 * len(counts) * sum(counts.values())
    )
    assert found["Gini of users"] == pytest.approx(gini)


def test_options_that_cannot_be_said_or_are_printed_otherwise_are_noticed() -> None:
    assert fails(checks.check_said()) == set()
    found = {each.claim for each in checks.check_said(CHOICES[:-1] * 2) if each.worst}
    assert found == {f"CCM20-D-{decision}" for decision in DECISIONS}
    only = [each for each in CHOICES if each.decision != "B2"]
    assert {each.claim for each in checks.check_said(only) if each.worst} == {"CCM20-D-B2"}
    grids = [make("synthetic", 4, seed=1) for make in (start_grid, fill_grid)]
    assert fails(checks.check_printed(grids)) == set()
    for old, new in (("seed: 1", "seed: 2"), ("ratio 0.5", "ratio 0.6"), ("rel>=4", "rel>=5"),
                     ("P@10", "P@5"), ("keep=50%", "keep=60%")):  # fmt: skip

        def other(grid: Grid, old: str = old, new: str = new) -> dict[tuple[str, str], str]:
            return {
                names: str(options).replace(old, new) for names, options in options_of(grid).items()
            }

        assert fails(checks.check_printed(grids, other)) == {"repeats"}


@pytest.mark.slow
def test_all_checks_are_made_on_synthetic_data() -> None:
    grids = {
        name: make("synthetic", 4, seed=1)
        for name, make in (("grid", start_grid), ("fills", fill_grid),
                           ("overlaps", overlap_grid))
    }  # fmt: skip
    made: Any = makers.find_maker("07_offline_options/checks")(
        "synthetic", min_rating=4, ratios=[10, 50], **grids
    )
    assert fails(made.rows) == set()
    assert fails(makers.find_maker("07_offline_options/identities")().rows) == {"items-train"}
    assert made.statistics["unscored test ratings of User kNN"] < 0.05
