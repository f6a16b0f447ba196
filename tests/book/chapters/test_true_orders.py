"""Orders of systems by each protocol beside the true one: which pairs, over which draws."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from expressions_at import value_of
from recbias.book.chapters import overcoming_popularity_bias as chapter
from recbias.book.chapters.overcoming_popularity_bias import figures, truth_tables
from recbias.book.chapters.overcoming_popularity_bias.true_orders import (
    INDEX,
    Values,
    _measured,
    agreement_rows,
    true_orders,
    true_orders_parameters,
)
from recbias.book.chapters.overcoming_popularity_bias.truth_tables import (
    true_order_shares,
    true_order_tables,
    true_orders_table,
)
from recbias.claims.evidence import NotComputed
from recbias.data.datasets import Dataset, dataset_info, load_dataset
from recbias.data.ratings import Ratings
from recbias.experiment.makers import Table, find_maker
from recbias.experiment.run import run
from recbias.protocol.testset import dataset_splits
from recbias.recommenders import System
from recbias.stats.agreement import kendall_tau

WORLD = "world(users=60,items=80,density=0.1,skew=0.3,seed=2)"
SYSTEMS = (
    System("Random", "Random", {}),
    System("Popularity", "Popularity", {}),
    System("Average rating", "AverageRating", {"smoothing": 1, "encoding": "stars"}),
    System("User kNN", "UserKNN", {"n_neighbours": 20, "encoding": "stars"}),
)


def asked(draws=2, **changes):
    uniform = f"uniform 0.2 draws={draws}"
    given = {"cutoff": 5, "size": 20, "seed": 3, "uniform": uniform} | changes
    return true_orders_parameters(WORLD, SYSTEMS, 4, **given)


@pytest.fixture(scope="module")
def found():
    index, frame = true_orders.function(load_dataset(WORLD), **asked())
    assert index == INDEX
    return frame.set_index(["truth", "protocol"])


@pytest.fixture(scope="module")
def measured():
    """What the grids of folds and of two uniform tests give."""
    parameters = asked()
    return [run(parameters[name]) for name in ("random", "uniform")]


def values(results, label, metric):
    return np.array([results[system.name, label, metric].value for system in SYSTEMS])


TRUE = {"P": ("true", "P@5"), "AUC": ("true", "AUC")}
OF_FOLDS = {
    "AR": ("AR", "P@5"),
    "1R": ("1R", "P@5|t=20"),
    "head": ("head", "P@5|t=20"),
    "P1R": ("P1R", "P@5|t=20"),
    "bpref": ("AR", "bpref"),
    "infAP": ("AR", "infAP(pool=100)"),
    "SR": ("AR", "SR(gamma=1)@5"),
}


@pytest.mark.parametrize("truth", TRUE)
def test_taus_are_those_of_the_values_of_the_grid(found, measured, truth):
    true = values(measured[0], *TRUE[truth])
    for protocol, names in OF_FOLDS.items():
        expected = kendall_tau(values(measured[0], *names), true)
        assert found.loc[(truth, protocol), "value"] == pytest.approx(expected, abs=1e-12)
    (other,) = set(TRUE) - {truth}
    expected = kendall_tau(values(measured[0], *TRUE[other]), true)
    assert found.loc[(truth, other), "value"] == pytest.approx(expected, abs=1e-12)
    assert (truth, truth) not in found.index


@pytest.mark.parametrize("truth", TRUE)
def test_uniform_tests_are_averaged_before_orders_are_compared(found, measured, truth):
    """Each has the truth about its own models; every user is of the population in a world."""
    for protocol, metric in (("UAR", "P@5"), ("U1R", "P@5|t=20")):
        seen = values(measured[1], protocol, metric)
        true = values(measured[1], *TRUE[truth])
        assert found.loc[(truth, protocol), "value"] == pytest.approx(kendall_tau(seen, true))
    # The twin: one draw alone has other values.
    alone = true_orders.function(load_dataset(WORLD), **asked(draws=1))[1].set_index(
        ["truth", "protocol"]
    )
    columns = ["value", "low", "high", "kept", "popularity"]
    assert (alone.loc["P", columns] != found.loc["P", columns]).loc[["UAR", "U1R"]].to_numpy().any()
    of_values = ["value", "popularity", "popularity_true"]
    assert (alone.loc[(truth, "AR"), of_values] == found.loc[(truth, "AR"), of_values]).all()


def test_replicates_are_those_of_the_grids(measured):
    """With what draws differ by in those of uniform tests, and on users alone in others."""
    for results, protocol, metric in ((measured[0], "AR", "P@5"), (measured[1], "UAR", "P@5")):
        made = _measured(results.grid, load_dataset(WORLD), 1)[protocol, metric].replicates
        for system, drawn in zip(SYSTEMS, made, strict=True):
            ends = np.quantile(drawn, [0.025, 0.975])
            expected = results[system.name, protocol, metric].limits
            np.testing.assert_allclose(ends, expected, atol=1e-12)


def test_what_is_true_is_counted_over_all_items_outside_training(tmp_path, monkeypatch):
    """Of data like Coat, by loops; a third of the items was drawn for nobody, and ranks, too."""
    monkeypatch.setenv("RECBIAS_CELLS", str(tmp_path))
    rng, (n_users, n_items) = np.random.default_rng(6), (30, 40)
    user, item = (each.ravel() for each in np.indices((n_users, n_items)))
    stars = rng.uniform(1, 5, len(user))
    every = Ratings.from_frame(pd.DataFrame({"user_id": user, "item_id": item, "rating": stars}))
    chosen = rng.random((n_users, n_items)) < 0.35
    drawn = (rng.random((n_users, n_items)) < 0.3) & (np.arange(n_items) % 3 > 0)
    rated, judged = (every.take(each[every.user, every.item]) for each in (chosen, drawn))
    data = Dataset(rated, dataset_info("coat"), "made here", unbiased=judged)
    parameters = true_orders_parameters("coat", SYSTEMS[2:3], 4, cutoff=5, size=20, seed=3)
    found = _measured(parameters["random"], data, 1)

    marks = {(u, i): v for u, i, v in zip(judged.user, judged.item, judged.value, strict=True)}
    places, pairs = [], []
    for fold in dataset_splits(data, "k-fold 5", seed=3):
        train, own = fold.train, [set() for _ in range(n_users)]
        for u, i in zip(train.user, train.item, strict=True):
            own[u].add(i)
        score = [
            (train.value[train.item == i].sum() + train.value.mean())
            / ((train.item == i).sum() + 1)
            for i in range(n_items)
        ]
        for u, trained in enumerate(own):
            known = {i: v for (whose, i), v in marks.items() if whose == u and i not in trained}
            liked = {i for i, v in known.items() if v >= 4}
            ranked = sorted(set(range(n_items)) - trained, key=lambda i: -score[i])
            if liked:
                places.append(len(liked.intersection(ranked[:5])) / 5)
                both = [score[a] > score[b] for a in liked for b in set(known) - liked]
                pairs += [np.mean(both)] if both else []
    assert found["true", "P@5"].value == pytest.approx([np.mean(places)], rel=1e-9)
    assert found["true", "AUC"].value == pytest.approx([np.mean(pairs)], rel=1e-9)
    # The twin: what is observed says something else.
    assert found["AR", "P@5"].value != pytest.approx([np.mean(places)], rel=0.05)


def test_pairs_are_counted_as_loops_count_them():
    rng = np.random.default_rng(4)
    n = 6
    value = rng.normal(size=(3, n))
    noise = 0.2 * rng.normal(size=(3, n, 400))
    by, other, true = (Values(*each) for each in zip(value, value[:, :, None] + noise, strict=True))
    compared = {("P", "AR"): (by, true), ("P", "1R"): (other, true)}
    row, beside = agreement_rows(compared, 2)
    signs = bands(by, true, other)
    seen, known = value[0], value[2]
    both = [(signs[pair, 0], signs[pair, 1]) for pair in combinations(range(n), 2)]
    resolved = {pair: signs[pair, 1] for pair in combinations(range(n), 2) if signs[pair, 1]}
    assert row["pairs"] == n * (n - 1) / 2
    assert row["resolved"] == len(resolved) == beside["resolved"] > 3
    right = [(a, b) for (a, b), sign in resolved.items() if sign * (seen[a] - seen[b]) > 0]
    assert row["right"] == len(right)
    assert 0 < len(right) < len(resolved)
    assert row["kept"] == sum(a * b > 0 for a, b in both)
    assert row["turned"] == sum(a * b < 0 for a, b in both) > 0
    sure, n_open = row["kept"] - row["turned"], row["pairs"] - row["kept"] - row["turned"]
    expected = [(sure - n_open) / row["pairs"], (sure + n_open) / row["pairs"]]
    assert [row["low"], row["high"]] == pytest.approx(expected)
    assert row["low"] - 1e-12 <= row["value"] <= row["high"] + 1e-12
    assert row["popularity"] == 1 + sum(each > seen[2] for each in seen)
    assert row["popularity_true"] == 1 + sum(each > known[2] for each in known)
    # The twin: the order turned keeps what it turned.
    turned = Values(-by.value, -by.replicates)
    changed, _ = agreement_rows(compared | {("P", "AR"): (turned, true)}, 2)
    assert (changed["kept"], changed["turned"]) == (row["turned"], row["kept"])
    assert changed["right"] == row["resolved"] - row["right"]


def test_the_family_is_that_of_the_whole_table():
    """A difference of 2.7 standard errors is sure alone, and not among those of 40 orders."""
    rng = np.random.default_rng(8)

    def two_systems(gap):
        noise = rng.normal(size=(2, 2000)) / 2**0.5
        return Values(np.array([gap, 0.0]), np.array([[gap], [0.0]]) + noise)

    by, true = two_systems(2.7), two_systems(2.7)
    others = {("P", str(number)): (two_systems(0.0), true) for number in range(40)}
    (alone,) = agreement_rows({("P", "AR"): (by, true)}, 0)
    among = agreement_rows({("P", "AR"): (by, true)} | others, 0)[0]
    assert (alone["kept"], alone["low"], alone["high"]) == (1, 1.0, 1.0)
    assert (among["kept"], among["low"], among["high"]) == (0, -1.0, 1.0)
    assert alone["value"] == among["value"] == 1


def bands(*sides):
    """Signs of all pairs whose band, simultaneous for all sides, excludes 0."""
    scaled, errors, gaps = [], {}, {}
    for number, side in enumerate(sides):
        for a, b in combinations(range(len(side.value)), 2):
            gap = side.value[a] - side.value[b]
            drawn = side.replicates[a] - side.replicates[b]
            gaps[(a, b), number], errors[(a, b), number] = gap, drawn.std(ddof=1)
            scaled.append(np.abs(drawn - gap) / drawn.std(ddof=1))
    bound = np.quantile(np.max(scaled, axis=0), 0.95)
    return {key: np.sign(gap) * (abs(gap) > bound * errors[key]) for key, gap in gaps.items()}


def test_the_key_names_grids_and_draws():
    known = find_maker("04_overcoming_popularity_bias/true_orders")
    hashes = {"observed": "x", "truth": "y"}

    def key(**changes):
        parameters = {"maker": known.name, "given": asked(**changes)}
        return known.kind.key_of(parameters, hashes)

    others = [key(draws=3), key(cutoff=4), key(size=10), key(seed=4), key(uniform="uniform 0.1")]
    assert len({key(), *others}) == 6


# ---- what the page shows and findings read

COLUMNS = ["truth", "protocol", "value", "low", "high", "pairs", "resolved", "right", "kept"]
COLUMNS += ["turned", "popularity", "popularity_true"]
EVERY = ["AR", "1R", "head", "P1R", "UAR", "U1R", "bpref", "infAP", "SR"]


def planted(name="coat", **changed):
    """A table in which each order has 5 of 10 pairs right, but for what is changed."""
    rows = []
    for truth in ("P", "AUC"):
        for protocol in (*EVERY, *({"P", "AUC"} - {truth})):
            counts = changed.get(f"{truth}_{protocol}", (0.0, 5, 4, 3))
            rows.append((truth, protocol, counts[0], -0.5, 0.5, 15, 10, *counts[1:], 3, 2))
    title = {"coat": "Coat (self-selected part)", "cm100k": "CM100k (known)"}[name]
    return Table.of(
        (INDEX, pd.DataFrame(rows, columns=COLUMNS)),
        key="", dataset={"name": name, "title": title}, maker_name="", given={},
    )  # fmt: skip


def shares(tables, truth):
    return true_order_shares(tables, truth).set_index(["panel", "protocol"])


def test_protocols_keep_their_rows_whatever_they_agree():
    tables = {"Coat": planted(AUC_bpref=(0.9, 9, 8, 0), P_AR=(-0.9, 1, 1, 9))}
    rows = ["AR", "1R", "1R without the head", "percentiles (P1R)", "uniform (UAR)"]
    rows += ["uniform (U1R)", "bpref", "infAP", "stratified recall"]
    for each in (tables, {"Coat": planted()}):
        assert true_order_shares(each)["protocol"].tolist() == rows
    own = shares(tables, "AUC").drop(columns=["label", "line"])
    assert own.loc[("Coat", "bpref")].tolist() == [90, 80, 100, 10]
    assert own.loc[("Coat", "1R")].tolist() == [50, 40, 70, 10]
    numbers = shares(tables, "P").drop(columns=["label", "line"]).loc[("Coat", "AR")]
    assert numbers.tolist() == pytest.approx([10, 10, 10, 10])
    assert len(true_order_shares({})) == 0
    assert true_orders_table({}, cutoff=10) == ""


def test_without_data_that_know_the_truth_the_figure_says_so():
    assert figures.agreement({}).title.startswith("No data")


def test_the_table_sets_protocols_and_the_truths_beside_each_other():
    tables = {"Coat": planted(AUC_bpref=(0.9, 9, 8, 0), P_AUC=(-0.25, 2, 1, 6))}
    written = true_orders_table(tables, cutoff=10)
    assert "0.50\N{NO-BREAK SPACE}to\N{NO-BREAK SPACE}0.50)" in written
    lines = written.replace("\N{NO-BREAK SPACE}", " ").split("<tr>")[1:]
    assert (
        "<th>Coat, true P@10</th><th>Coat, true AUC</th><th>place of Popularity, Coat<" in lines[0]
    )
    assert lines[7].startswith(
        "<td>bpref</td><td>0.00 (\N{MINUS SIGN}0.50 to 0.50)<br>5 of 10</td>"
    )
    assert lines[-1].startswith(
        "<td>true AUC</td><td>\N{MINUS SIGN}0.25 (\N{MINUS SIGN}0.50 to 0.50)<br>2 of 10</td>"
        "<td></td><td>3</td></tr>"
    )
    assert len(lines) == 1 + 9 + 2


def test_a_truth_that_resolves_nothing_has_no_share():
    table = planted()
    table.frame.loc[table.frame["truth"] == "P", ["resolved", "right", "kept", "turned"]] = 0
    found = shares({"Coat": table}, "P")
    assert np.isnan(found.loc[("Coat", "AR"), "value"])
    with pytest.raises(NotComputed, match=r"right\[P, AR"):
        read("right[P, AR] in true_orders.pairs", table)
    assert read("right[AUC, AR] in true_orders.pairs", table).value == 0.5


def test_the_own_data_of_a_page_take_the_place_of_recorded_ones(monkeypatch):
    recorded = {"cm100k": {"true_orders": planted("cm100k")}, "coat": {}}
    monkeypatch.setattr(truth_tables, "load_chapter", lambda _, name, only: recorded[name])
    assert list(true_order_tables({})) == ["CM100k"]
    own = planted("coat")
    assert true_order_tables({"true_orders": own})["Coat"] is own
    assert list(true_order_tables({"true_orders": own})) == ["CM100k", "Coat"]
    again = planted("cm100k")
    assert true_order_tables({"true_orders": again})["CM100k"] is again


def read(text, table):
    results = {"true_orders": table}
    return value_of(text, results, functions=chapter.FUNCTIONS, views=chapter.VIEWS)


def test_findings_read_rows_with_what_is_sure_of_them():
    table = planted(AUC_bpref=(0.6, 9, 8, 0), AUC_AR=(0.2, 6, 5, 3), AUC_P1R=(0.1, 8, 2, 1))
    right = {each: f"right[AUC, {each}] in true_orders.pairs" for each in (*EVERY, "P")}
    share = read(right["AR"], table)
    assert (share.value, share.interval) == (0.6, pytest.approx((0.5, 0.7)))
    ahead = read(f"{right['bpref']} - {right['AR']}", table)
    # Of ten pairs bpref surely has eight, and AR seven at most.
    assert (ahead.value, ahead.interval) == (pytest.approx(0.3), pytest.approx((0.1, 0.5)))
    behind = read(f"{right['AR']} - {right['bpref']}", table)
    assert behind.interval == pytest.approx((-0.5, -0.1))
    best = read(f"best({right['P1R']}, {right['bpref']}) - {right['AR']}", table)
    assert (best.value, best.interval) == (pytest.approx(0.3), pytest.approx((0.1, 0.5)))
    one = read(f"best({right['P1R']}) - {right['AR']}", table)
    assert (one.value, one.interval) == (pytest.approx(0.2), pytest.approx((-0.5, 0.4)))
    worst = read(f"worst({right['P1R']}, {right['AR']})", table)
    assert (worst.value, worst.interval) == (0.6, pytest.approx((0.2, 0.7)))
    # What shares are of can be told where all are of as many.
    assert (share.cases, ahead.cases, best.cases) == (10, 10, 10)
    other = planted()
    other.frame.loc[other.frame["protocol"] == "1R", "resolved"] = 11
    one, another = (f"right[P, {each}] in true_orders.pairs" for each in ("AR", "1R"))
    assert read(f"{one} - {another}", other).cases is None
    assert read(f"best({one}, {another})", other).cases is None
    # Of P1R's ten pairs three are sure, two of them right.
    sure = read("best(sure[AUC, P1R] in true_orders.pairs)", table)
    assert (sure.value, sure.interval) == (pytest.approx(0.3), pytest.approx((0.3, 0.3)))
    both = ", ".join(f"sure[AUC, {each}] in true_orders.pairs" for each in ("P1R", "bpref"))
    sure = read(f"best({both})", table)
    assert (sure.value, sure.cases) == (pytest.approx(0.8), 10)
    with pytest.raises(NotComputed, match="AUC, AI"):
        read("right[AUC, AI] in true_orders.pairs", table)
