"""Questions to results that no grid foresaw: against scipy, plain loops, and grids that foresaw."""

import dataclasses
import math
import shutil
import sys
from itertools import combinations, permutations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import golden
from recbias import Grid, System, run
from recbias._system.streams import stream
from recbias.claims.quantities import order_tau
from recbias.data.datasets import load_dataset
from recbias.errors import ConfigError, MissingData, StoreError
from recbias.experiment.results import load_result
from recbias.experiment.run import grid_tables
from recbias.metrics import parse_metric
from recbias.stats.resampling import bootstrap_weights

SYSTEMS = (
    System("Random", "Random", n_seeds=2),
    System("Popularity", "Popularity"),
    System("kNN", "UserKNN", {"n_neighbours": 10, "min_overlap": 4}),
    System("Item cosine", "ImplicitItemCosine"),
)
NAMES = [system.name for system in SYSTEMS]
PROTOCOLS = {
    "AR": "TI-AN-AR rel>=5",
    "1R": "TI-NN-1R t=20 rel>=5",
    "relevant": "TI-AN-AR rel>=5 users=relevant",
    "weights": "TI-AN-AR rel>=5 weights=ratings",
    "reduced": "TI-AN-AR rel>=5 condensed coverage=reduced",
    "geometric": "TI-AN-AR rel>=5 statistic=geometric(0.01)",
    "median": "TI-AN-AR rel>=3 users=relevant statistic=median",
    "groups": "TI-AN-P1R m=10 rel>=5 users=groups",
}
METRICS = {
    **dict.fromkeys(PROTOCOLS, ("P@10",)),
    "AR": ("P@10", "nDCG@10", "antiP@10", "ARP@10", "Gini@10"),
    "1R": ("rho", "P@10"),
    "median": ("nDCG",),
}
PLAIN = (("AR", "P@10"), ("AR", "nDCG@10"), ("1R", "P@10"), ("relevant", "P@10"))


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory):
    patch = pytest.MonkeyPatch()
    folder = tmp_path_factory.mktemp("report")
    patch.setenv("RECBIAS_CELLS", str(folder / "cells"))
    patch.delenv("RECBIAS_DATA", raising=False)
    yield folder
    patch.undo()


@pytest.fixture(scope="module")
def grid(folder):
    table = str(golden.small_table(folder))
    return Grid(table, SYSTEMS, PROTOCOLS, METRICS, split="k-fold 3", seed=5)


@pytest.fixture(scope="module")
def results(grid):
    return run(grid)


@pytest.fixture(scope="module")
def bare(grid):
    """Hold the same without replicates."""
    return run(dataclasses.replace(grid, replicates=()))


@pytest.fixture(scope="module")
def users(results):
    return results.per_user()


def column(users, system, label, metric):
    rows = (users["system"] == system) & (users["label"] == label) & (users["metric"] == metric)
    return users.loc[rows, "value"].to_numpy()


# -- differences -------------------------------------------------------------------------------


def test_a_difference_is_bit_for_bit_the_one_of_a_grid_that_foresaw_it(grid, results):
    foreseen = run(dataclasses.replace(grid, compare=PLAIN))
    rows = foreseen.tests[foreseen.tests["unit"] == "user"].set_index(["label", "metric", "a", "b"])
    for label, metric in PLAIN:
        for a, b in combinations(NAMES[1:], 2):
            row = rows.loc[(label, metric, a, b)]
            for test, p in (("t", "t_p"), ("wilcoxon", "wilcoxon_p")):
                asked = results.difference(a, b, metric, label, test=test)
                assert asked == foreseen.difference(a, b, metric, label, test=test)
                expected = (*row[["difference", "low", "high"]], row[p], row["n"])
                given = (asked.difference, asked.low, asked.high, asked.p, asked.n_users)
                assert given == expected
                turned = foreseen.difference(b, a, metric, label, test=test)
                assert turned == results.difference(b, a, metric, label, test=test)
                assert (turned.difference, turned.low) == (-asked.difference, -asked.high)
    other = run(dataclasses.replace(grid, seed=6))
    assert other.difference("kNN", "Random", "P@10", "AR") != results.difference(
        "kNN", "Random", "P@10", "AR"
    )


@pytest.mark.parametrize(("label", "metric"), PLAIN)
def test_tests_are_those_of_scipy_on_the_values_of_users(results, users, label, metric):
    for a, b in permutations(NAMES[1:], 2):
        x, y = (column(users, name, label, metric) for name in (a, b))
        x, y = x[~np.isnan(x)], y[~np.isnan(y)]
        asked = results.difference(a, b, metric, label)
        expected = stats.ttest_rel(x, y)
        assert (asked.n_users, asked.test) == (len(x), "paired t")
        assert asked.difference == pytest.approx((x - y).mean(), abs=1e-12)
        assert asked.p == pytest.approx(expected.pvalue, rel=1e-9)
        ends = expected.confidence_interval()
        assert (asked.low, asked.high) == pytest.approx((ends.low, ends.high), abs=1e-12)
        gap = np.round(x - y, 12)
        signs = stats.wilcoxon(gap[gap != 0], method="asymptotic", correction=False)
        if (gap != 0).sum() > 50:  # else its distribution is counted
            asked = results.difference(a, b, metric, label, test="wilcoxon")
            assert asked.p == pytest.approx(signs.pvalue, rel=1e-9)
        asked = results.difference(a, b, metric, label, test="sign")
        expected = stats.binomtest(int((gap > 0).sum()), int((gap != 0).sum())).pvalue
        assert asked.p == pytest.approx(expected, rel=1e-9)
        assert asked.of_values == results[a, label, metric].value - results[b, label, metric].value


def test_weights_are_those_of_the_average(results, users, grid):
    split = load_dataset(grid.dataset).ratings
    weights = np.bincount(split.user, minlength=split.n_users)  # each rating is tested once
    x, y = (column(users, name, "weights", "P@10") for name in ("kNN", "Popularity"))
    known = ~np.isnan(x)
    gap, weights = (x - y)[known], weights[known]
    mean = (weights * gap).sum() / weights.sum()
    n = len(gap)
    error = math.sqrt(n / (n - 1) * (weights**2 * (gap - mean) ** 2).sum()) / weights.sum()
    asked = results.difference("kNN", "Popularity", "P@10", "weights")
    assert asked.difference == pytest.approx(mean, abs=1e-12)
    assert asked.difference == pytest.approx(asked.of_values, abs=1e-12)
    assert asked.p == pytest.approx(2 * stats.t.sf(abs(mean) / error, n - 1), rel=1e-9)
    assert asked.high - asked.low == pytest.approx(2 * stats.t.ppf(0.975, n - 1) * error)


def test_users_count_whom_both_systems_serve(results, users):
    x, y = (column(users, name, "reduced", "P@10") for name in ("kNN", "Popularity"))
    both = ~np.isnan(x) & ~np.isnan(y)
    asked = results.difference("kNN", "Popularity", "P@10", "reduced")
    assert asked.n_users == both.sum() < (~np.isnan(y)).sum()


def test_metrics_of_listed_items_are_tested_over_who_has_a_list(results, users):
    x, y = (column(users, name, "AR", "ARP@10") for name in ("Item cosine", "Popularity"))
    asked = results.difference("Item cosine", "Popularity", "ARP@10", "AR")
    assert asked.n_users == len(x) == 120
    assert asked.p == pytest.approx(stats.ttest_rel(x, y).pvalue, rel=1e-9)
    assert np.isnan(column(users, "kNN", "AR", "ARP@10")).any()
    fewer = results.difference("kNN", "Popularity", "ARP@10", "AR")
    assert fewer.n_users == (~np.isnan(column(users, "kNN", "AR", "ARP@10"))).sum()


def test_a_geometric_mean_is_tested_in_logarithms(results, users):
    x, y = (column(users, name, "geometric", "P@10") for name in ("kNN", "Popularity"))
    assert math.exp(np.log(x + 0.01).mean()) - 0.01 == pytest.approx(
        results["kNN", "geometric", "P@10"].value, abs=1e-12
    )
    asked = results.difference("kNN", "Popularity", "P@10", "geometric")
    expected = stats.ttest_rel(np.log(x + 0.01), np.log(y + 0.01)).pvalue
    assert (asked.test, asked.difference) == ("paired t of logarithms", asked.of_values)
    assert asked.p == pytest.approx(expected, rel=1e-9)
    gap = results["kNN", "geometric", "P@10"] - results["Popularity", "geometric", "P@10"]
    assert (asked.low, asked.high) == gap.interval


def test_an_interval_from_replicates_is_that_of_users_drawn_in_a_loop(results, users, folder, grid):
    """Where the data is gone, means over users are left as replicates; here they are a loop."""
    x, y = (column(users, name, "AR", "P@10").tolist() for name in ("kNN", "Popularity"))
    weights = bootstrap_weights(len(x), 1000, rng=stream(5, "bootstrap"))
    drawn = []
    for counts in weights.tolist():
        total = 0.0
        for times, one, other in zip(counts, x, y, strict=True):
            total += times * (one - other)
        drawn.append(total / len(x))
    gone = dataclasses.replace(grid, dataset=str(folder / "gone.csv"))
    asked = dataclasses.replace(results, grid=gone).difference("kNN", "Popularity", "P@10", "AR")
    assert asked.test == "resampled users"
    assert (asked.low, asked.high) == pytest.approx(np.quantile(drawn, [0.025, 0.975]), abs=2e-5)
    t = (np.mean(x) - np.mean(y)) / np.std(drawn, ddof=1)
    assert asked.p == pytest.approx(2 * stats.t.sf(abs(t), len(x) - 1), rel=2e-3)


@pytest.mark.parametrize(
    ("label", "metric"), [("AR", "Gini@10"), ("median", "nDCG"), ("groups", "P@10")]
)
def test_what_no_user_has_comes_from_replicates_kept_or_not(results, bare, label, metric):
    asked = results.difference("kNN", "Popularity", metric, label)
    assert asked == bare.difference("kNN", "Popularity", metric, label)
    assert asked.test == "resampled users"
    gap = results["kNN", label, metric] - results["Popularity", label, metric]
    assert (asked.difference, (asked.low, asked.high)) == (gap.value, gap.interval)
    t = gap.value / np.std(gap.drawn, ddof=1)
    expected = 2 * stats.t.sf(abs(t), asked.n_users - 1)
    assert asked.p == pytest.approx(expected, rel=1e-9, abs=1e-300)
    with pytest.raises(ConfigError, match="no mean over users"):
        results.difference("kNN", "Popularity", metric, label, test="wilcoxon")


def test_a_difference_prints_in_one_line(results, grid):
    asked = results.difference("kNN", "Popularity", "P@10", "AR")
    text = (
        f"P@10 under AR: kNN - Popularity = {asked.difference:+.4f} "
        f"[{asked.low:.4f}, {asked.high:.4f}], "
    )
    assert repr(asked).startswith(text)
    assert repr(asked).endswith("(paired t, 120 users)")
    assert "; of the averages: " in repr(results.difference("kNN", "Popularity", "P@10", "1R"))
    one = run(dataclasses.replace(grid, protocols={"AR": PROTOCOLS["AR"]}, metrics=("P@10",)))
    assert repr(one.difference("kNN", "Popularity")) == repr(asked).replace(" under AR", "")


def test_a_value_prints_in_one_line(results):
    low, high = results["kNN", "AR", "P@10"].interval
    value = results["kNN", "AR", "P@10"].value
    assert repr(results["kNN", "AR", "P@10"]) == f"{value:.4f} [{low:.4f}, {high:.4f}]"


# -- users -------------------------------------------------------------------------------------


def test_values_of_users_are_those_of_a_loop_over_ranks(grid, users):
    for label, system in (("AR", "Random"), ("1R", "kNN"), ("relevant", "Popularity")):
        of_user = {}
        for name, fold, repeat, table in grid_tables(grid, label):
            if name != system:
                continue
            hits = {}
            for row in range(len(table.user)):
                user, rank = int(table.user[row]), int(table.rank[row])
                hit = 0.1 if 0 < rank <= 10 and table.value[row] >= 5 else 0.0
                if label == "1R":
                    of_user.setdefault(user, {}).setdefault((fold, row), {})[repeat] = hit
                elif label == "AR" or table.value[row] >= 5:
                    hits[user] = hits.get(user, 0.0) + hit
            if label == "AR":
                hits = {user: hits.get(user, 0.0) for user in range(table.n_users)}
            for user, value in hits.items():
                of_user.setdefault(user, {}).setdefault(fold, {})[repeat] = value
        found = column(users, system, label, "P@10")
        for user, value in enumerate(found):
            means = [np.mean(list(seeds.values())) for seeds in of_user.get(user, {}).values()]
            assert value == pytest.approx(
                np.mean(means) if means else np.nan, abs=1e-12, nan_ok=True
            )
        assert np.isnan(found).any() == (label != "AR")


def test_users_are_named_and_where_all_weigh_alike_their_mean_is_the_value(results, users, grid):
    assert list(users) == ["system", "label", "metric", "user_id", "value"]
    ids = load_dataset(grid.dataset).ratings.user_ids.tolist()
    n_columns = sum(len(set(metrics) - {"Gini@10"}) for metrics in METRICS.values())
    assert users["user_id"].tolist() == ids * n_columns * len(SYSTEMS)
    for name, metric in ((name, metric) for name in NAMES for metric in ("P@10", "antiP@10")):
        value = results[name, "AR", metric].value
        assert column(users, name, "AR", metric).mean() == pytest.approx(value, abs=1e-12)
    some = results.per_user(["P@10"], ["AR", "1R"], systems=["kNN"])
    assert len(some) == 2 * len(ids)
    np.testing.assert_array_equal(
        column(some, "kNN", "1R", "P@10"), column(users, "kNN", "1R", "P@10")
    )


def test_cells_that_are_gone_are_computed_again(grid, results, tmp_path, monkeypatch):
    asked = results.difference("kNN", "Popularity", "P@10", "AR")
    monkeypatch.setenv("RECBIAS_CELLS", str(tmp_path))
    assert results.difference("kNN", "Popularity", "P@10", "AR") == asked
    assert len(list(tmp_path.rglob("*.parquet"))) == 2 * 3


# -- tau ---------------------------------------------------------------------------------------


def test_tau_is_that_of_scipy_and_of_the_claims(results, bare):
    sides = [[results[name, label, "P@10"] for name in NAMES] for label in ("AR", "weights")]
    asked = results.tau("AR", "weights", "P@10")
    values = [[quantity.value for quantity in side] for side in sides]
    expected = stats.kendalltau(*values)
    assert (asked.tau, asked.p) == pytest.approx((expected.statistic, expected.pvalue), abs=1e-12)
    claimed = order_tau(*sides)
    assert (asked.tau, asked.low, asked.high) == (claimed.value, *claimed.interval)
    assert bare.tau("AR", "weights", "P@10") == asked
    assert repr(asked) == (
        f"P@10 under AR against P@10 under weights: tau = {asked.tau:+.4f} "
        f"[{asked.low:.4f}, {asked.high:.4f}], p = {asked.p:.4f} (4 systems)".replace("= 0.", "= .")
    )


def test_tau_of_two_metrics_puts_the_best_first(results):
    less = results.tau("AR", metric="P@10", other_metric="antiP@10")
    values = {metric: [results[name, "AR", metric].value for name in NAMES]
              for metric in ("P@10", "antiP@10")}  # fmt: skip
    against = stats.kendalltau(values["P@10"], values["antiP@10"]).statistic
    assert less.tau == pytest.approx(-against, abs=1e-12)
    assert not math.isnan(less.low)
    whole = results.tau("AR", metric="P@10", other_metric="Gini@10")
    assert math.isnan(whole.low)
    assert "(no interval)" in repr(whole)


def test_tau_of_other_results_is_of_the_systems_in_both(grid, results):
    other = run(dataclasses.replace(grid, seed=6, systems=SYSTEMS[1:]))
    asked = results.tau("AR", other, "P@10")
    values = [[side[name, "AR", "P@10"].value for name in NAMES[1:]] for side in (results, other)]
    assert asked.n_systems == 3
    assert asked.tau == pytest.approx(stats.kendalltau(*values).statistic)
    assert "seed 6" in repr(asked)
    few = run(dataclasses.replace(grid, systems=SYSTEMS[:1]))
    with pytest.raises(ConfigError, match="1 systems in common; an order takes two"):
        results.tau("AR", few, "P@10")


# -- what is not there -------------------------------------------------------------------------


@pytest.fixture
def away(grid, folder, tmp_path):
    """Store results, read them, and put the table away; with and without replicates."""
    table = shutil.copy(grid.dataset, tmp_path / "small.csv")
    there = dataclasses.replace(grid, dataset=str(table), compare=(("relevant", "P@10"),))
    restored = []
    for name, replicates in (("kept", None), ("bare", ())):
        run(dataclasses.replace(there, replicates=replicates)).save(tmp_path / name)
        restored.append(load_result(tmp_path / name))
    Path(table).unlink()
    return restored


def test_results_without_their_data_answer_from_what_was_kept(results, away):
    kept, bare = away
    asked = kept.difference("kNN", "Popularity", "P@10", "AR")
    assert asked.test == "resampled users"
    expected = results.difference("kNN", "Popularity", "P@10", "AR")
    assert asked.difference == pytest.approx(expected.difference, abs=1e-12)
    assert asked.high - asked.low == pytest.approx(expected.high - expected.low, rel=0.2)
    assert kept.tau("AR", "1R", "P@10") == results.tau("AR", "1R", "P@10")
    for side in away:  # it was foreseen
        foreseen = side.difference("kNN", "Popularity", "P@10", "relevant")
        assert foreseen == results.difference("kNN", "Popularity", "P@10", "relevant")
        assert side.to_latex("P@10", "relevant") == results.to_latex("P@10", "relevant")
    questions = [
        lambda: bare.difference("kNN", "Popularity", "P@10", "AR"),
        lambda: bare.difference("kNN", "Popularity", "Gini@10", "AR"),
        lambda: kept.difference("kNN", "Popularity", "P@10", "AR", test="wilcoxon"),
        lambda: bare.tau("AR", "1R", "P@10"),
        lambda: bare.to_markdown(),
    ]
    for question in questions:
        with pytest.raises(MissingData, match=r"data is absent(.|\n)*compare=") as told:
            question()
        assert len(str(told.value).splitlines()) <= 3
    with pytest.raises(MissingData):
        kept.per_user("P@10", "AR")
    assert "†" not in bare.to_markdown(test=None)


def test_other_data_than_the_results_are_of_is_refused(grid, tmp_path):
    table = Path(shutil.copy(grid.dataset, tmp_path / "small.csv"))
    results = run(dataclasses.replace(grid, dataset=str(table)))
    lines = table.read_text().splitlines()
    table.write_text("\n".join(lines[:-1]) + "\n")
    with pytest.raises(StoreError, match=r"changed since.*run the grid again"):
        results.difference("kNN", "Popularity", "P@10", "AR")
    with pytest.raises(StoreError, match="changed since"):
        results.per_user("P@10", "AR")


@pytest.mark.parametrize(
    ("question", "message"),
    [
        (lambda r: r.difference("knn", "Random", "P@10", "AR"), "system 'knn': did you mean 'kNN'"),
        (lambda r: r.difference("kNN", "kNN", "P@10", "AR"), "compared with itself"),
        (lambda r: r.difference("kNN", "Random", "P@1", "AR"), "'P@1': did you mean 'P@10'"),
        (lambda r: r.difference("kNN", "Random", "P@10", "ar"), "'ar': did you mean 'AR'"),
        (lambda r: r.difference("kNN", "Random", "P@10"), "label: name one of 8: AR, 1R"),
        (lambda r: r.difference("kNN", "Random", label="1R"), "name one of 2: rho, P@10"),
        (lambda r: r.difference("kNN", "Random", "P@10", "AR", test="z"), "unknown test 'z'"),
        (lambda r: r.tau("AR", "AR", "P@10"), "compared with itself"),
        (lambda r: r.tau("AR", "1r", "P@10"), "did you mean '1R'"),
        (lambda r: r.tau("AR", "1R", "nDCG@10"), "unknown metric under '1R' 'nDCG@10'"),
        (lambda r: r.per_user("Gini@10", "AR"), "no user has a value"),
        (lambda r: r.per_user("P@10", "AR", systems=["kN"]), "did you mean 'kNN'"),
        (lambda r: r.to_latex(baseline="Radom"), "did you mean 'Random'"),
        (lambda r: r.to_latex(level=5), "level=5: expected a number between 0 and 1"),
        (lambda r: r.to_latex(digits=-1), "digits=-1: expected a whole number"),
        (lambda r: r.plot("Gini", "AR"), "did you mean 'Gini@10'"),
        (lambda r: r.plot(systems=["Popular"]), "did you mean 'Popularity'"),
    ],
)
def test_a_question_that_makes_no_sense_is_refused(results, question, message):
    with pytest.raises(ConfigError) as told:
        question(results)
    assert message in str(told.value)
    assert len(str(told.value).splitlines()) <= 3


def test_a_metric_is_known_however_it_is_written(results):
    asked = results.difference("kNN", "Random", "nDCG@10", "AR")
    for written in (" nDCG@10", parse_metric("nDCG@10")):
        assert asked == results.difference("kNN", "Random", written, "AR")


def test_who_was_left_out_is_said(grid, results):
    few = dataclasses.replace(results, left_out={"EASE": "it takes more memory than there is"})
    with pytest.raises(ConfigError, match="EASE is left out: it takes more memory"):
        few.difference("EASE", "kNN", "P@10", "AR")


# -- the picture -------------------------------------------------------------------------------


def test_the_picture_shows_all_systems_the_best_on_top(results):
    figure = results.plot("P@10", ["AR", "1R"])
    axes = figure.axes
    assert [axis.get_title() for axis in axes] == ["AR", "1R"]
    values = results.table("AR", "P@10")["value"]
    names = [text.get_text() for text in axes[0].get_yticklabels()]
    assert names == values.sort_values(ascending=False).index.tolist()
    dots = axes[0].lines[0].get_xdata()
    np.testing.assert_array_equal(dots, values.loc[names])
    bottom, top = axes[0].get_ylim()
    assert bottom > top  # the first name is on top
    assert axes[0].get_xlabel() == "P@10"
    less = results.plot("antiP@10", "AR").axes[0]
    assert less.get_xlabel() == "antiP@10 (less is better)"
    assert less.lines[0].get_xdata().tolist() == sorted(results.table("AR", "antiP@10")["value"])


def test_no_names_overlap_however_many_and_long(results):
    names = [f"A $system$ with a name that is long, variant {n}" for n in range(20)]
    rows = results.values[results.values["system"] == "kNN"]
    many = dataclasses.replace(
        results,
        grid=dataclasses.replace(
            results.grid, systems=[System(name, "Popularity") for name in names]
        ),
        values=pd.concat([rows.assign(system=name) for name in names], ignore_index=True),
        replicates={},
    )
    figure = many.plot("P@10", label=["AR", "1R"])
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in figure.axes[0].get_yticklabels()]
    assert len(boxes) == 20
    assert not any(a.overlaps(b) for a, b in combinations(boxes, 2))
    assert min(box.x0 for box in boxes) >= 0
    figure.set_size_inches(4, 4)  # the twin: too small a figure is noticed
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in figure.axes[0].get_yticklabels()]
    assert any(a.overlaps(b) for a, b in combinations(boxes, 2))


def test_without_matplotlib_it_is_said_what_to_install(results, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ConfigError, match=r"plot needs(.|\n)*pip install 'recbias\[book\]'"):
        results.plot()


def test_a_name_alone_is_no_value(results):
    with pytest.raises(ConfigError, match=r"expected results\[system, label, metric\]"):
        results["kNN"]


def test_what_was_selected_is_printed(grid):
    selected = run(dataclasses.replace(grid, select="keep=80%"))
    assert "keep=80%; k-fold 3, seed 5" in repr(selected).splitlines()[0]


@pytest.mark.parametrize(("label", "metric"), [("AR", "ARP@10"), ("reduced", "P@10")])
def test_a_user_counts_once_in_however_many_folds(results, label, metric):
    table = results.per_user(metric, label).pivot(index="user_id", columns="system", values="value")
    for a, b in combinations(["kNN", "Popularity", "Item cosine"], 2):
        both = table[[a, b]].dropna()
        asked = results.difference(a, b, metric, label)
        by_scipy = stats.ttest_rel(both[a], both[b])
        assert asked.n_users == len(both)
        assert asked.difference == pytest.approx((both[a] - both[b]).mean(), rel=1e-9, abs=1e-12)
        assert asked.p == pytest.approx(by_scipy.pvalue, rel=1e-6)


@pytest.mark.parametrize("names", [3, [], ()])
def test_what_names_nothing_is_refused(results, names):
    for asked in ({"metric": names}, {"label": names}, {"systems": names}):
        (what,) = asked
        for call in (results.per_user, results.plot):
            with pytest.raises(ConfigError, match=f"{what}: got"):
                call(**asked)
    assert set(results.per_user("P@10", "AR", systems="kNN")["system"]) == {"kNN"}


def test_results_are_saved_under_a_path_as_text(results, tmp_path):
    results.save(str(tmp_path / "kept"))
    assert (tmp_path / "kept.json").is_file()
