"""What the page of chapter 6 shows beside verdicts: ranks, taus, chance, curves, loops, tables."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pandas as pd
import pytest

import shown
from chapter_grids import concentration_protocols
from expressions_at import value_of
from recbias import Grid, run
from recbias._system.places import cells_kept_in
from recbias.book import findings
from recbias.book.chapters.concentration_metrics import (
    FUNCTIONS,
    alike,
    courses,
    figures,
    orders,
    references,
    setup,
    tables,
)
from recbias.book.chapters.concentration_metrics.loop import (
    CHOICES,
    INDEX,
    STARTS,
    before_and_after,
    foretold,
    ratings_by_round,
)
from recbias.book.chapters.concentration_metrics.orders import listing, rank_rows
from recbias.book.explorer import explorer_html
from recbias.book.findings import said
from recbias.claims.evidence import NotComputed
from recbias.claims.expressions import Term
from recbias.data.datasets import load_dataset
from recbias.data.simulation import PreferenceOptions
from recbias.experiment.feedback import Loop, measure_rounds
from recbias.experiment.makers import Table, find_maker
from recbias.experiment.results import Quantity
from recbias.experiment.run import Results
from recbias.metrics.prior import long_tail_index
from recbias.protocol.testset import dataset_splits
from recbias.recommenders import line_up

WORLD = "world(users=60,items=80)"
CUTOFF = 5
LISTED = ("Random", "Popularity", "AR", "WBPR")


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Results]:
    systems = [each for each in setup.line_up_of(WORLD, 4, 1) if each.name in LISTED]
    metrics = {"full": setup.metrics(CUTOFF)}
    grid = Grid(
        WORLD, tuple(systems), concentration_protocols(4), metrics, split="k-fold 2", seed=1,
        replicates=setup.combined(metrics),
    )  # fmt: skip
    with cells_kept_in(tmp_path_factory.mktemp("cells")):
        yield run(grid)


def made(name: str, results: Results, **given: Any) -> Table:
    asked = {"min_rating": 4, "grid": results.grid.to_dict(), **given}
    found = find_maker(f"06_concentration/{name}")(WORLD, **asked)
    assert isinstance(found, Table)
    return found


# -- ranks and taus --------------------------------------------------------------------------------


def test_ranks_are_those_of_values_sorted_by_hand(measured: Results) -> None:
    texts = {"Gini": f"Gini@{CUTOFF}", "CI": f"CI@{CUTOFF}"}
    found = rank_rows(measured, texts, systems=LISTED)
    for name, text in texts.items():
        values = {each: measured[each, "full", text].value for each in LISTED}
        for row in found[found["metric"] == name].itertuples():
            below = [other for other in LISTED if values[other] < values[str(row.system)]]
            assert row.rank == 1 + len(below)


def test_tau_of_metrics_is_that_of_all_pairs_of_systems(measured: Results) -> None:
    found = alike.tau_matrix(measured, CUTOFF).set_index(["a", "b"])
    assert len(found) == math.comb(len(alike.OTHERS), 2)
    assert (found["low"] <= found["tau"] + 1e-12).all()
    assert (found["tau"] <= found["high"] + 1e-12).all()
    values = {
        name: [measured[each, "full", text].value for each in measured.systems]
        for name, text in (("Gini", f"Gini@{CUTOFF}"), ("CI", f"CI@{CUTOFF}"),
                           ("Hoover", f"Hoover@{CUTOFF}"), ("ARP", f"ARP@{CUTOFF}"))
    }  # fmt: skip

    def tau(a: str, b: str) -> float:
        signs = [
            np.sign(values[a][i] - values[a][j]) * np.sign(values[b][i] - values[b][j])
            for i, j in combinations(range(len(measured.systems)), 2)
        ]
        return float(np.mean(signs))

    assert found.loc[("Gini", "Hoover"), "tau"] == pytest.approx(tau("Gini", "Hoover"))
    assert found.loc[("Gini", "ARP"), "tau"] == pytest.approx(tau("Gini", "ARP"))
    # Least first by Gini, most first by CI.
    assert found.loc[("Gini", "CI"), "tau"] == pytest.approx(-tau("Gini", "CI"))


def test_without_folds_and_intervals_nothing_is_resolved(
    measured: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(*_: Any) -> Any:
        raise NotComputed("several folds")

    monkeypatch.setattr(alike, "systems_signs", unknown)
    found = alike.tau_matrix(measured, CUTOFF)
    assert set(found["low"]) == {-1.0}
    assert set(found["high"]) == {1.0}


def emptied(results: Results, system: str) -> Results:
    """Let a system list nothing: what is measured of lists has no value."""
    values = results.values.copy()
    own = (values["system"] == system) & (values["metric"] == f"CI@{CUTOFF}")
    values.loc[own, "value"] = np.nan
    return cast(
        Results,
        SimpleNamespace(values=values, among=results.among, systems=results.systems),
    )


def test_a_system_that_lists_nothing_is_not_compared(measured: Results) -> None:
    assert listing(measured, ("AR", "Random", "no such system")) == ["AR", "Random"]
    assert listing(emptied(measured, "AR"), ("AR", "Random")) == ["Random"]


def test_pairs_of_what_lists_nothing_are_not_counted() -> None:
    def quantity(term: Term, *, system: str) -> Quantity:
        return Quantity(math.nan if system == "AR" else 1.0, None)

    scope = SimpleNamespace(
        systems=lambda _: ["AR", "BPR"], evidence=SimpleNamespace(quantity=quantity)
    )
    for function in ("order", "place"):
        with pytest.raises(NotComputed, match="CI@n of AR"):
            FUNCTIONS[function](scope, Term("CI@n", "full"))


def test_a_pair_that_a_metric_ties_is_neither_opposed_nor_alike(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = {
        "x": (list("abc"), np.array([3.0, 2.0, 2.0]), np.array([1, 1, 0])),
        "y": (list("abc"), np.array([1.0, 2.0, 3.0]), np.array([-1, 0, -1])),
    }
    monkeypatch.setattr(orders, "_signs", lambda scope, term: found[term.metric])

    def ask(text: str) -> tuple[float, tuple[float, float]]:
        return seen(text, {})

    assert ask("count(order(x[full]) * order(y[full]) < 0)") == (2.0, (1.0, 3.0))
    assert ask("count(order(x[full]) * order(y[full]) > 0)") == (0.0, (0.0, 2.0))
    tau, ends = ask("mean(order(x[full]) * order(y[full]))")
    assert (tau, *ends) == pytest.approx((-2 / 3, -1, 1 / 3))
    # By y, c may have as little as a, of whom b has more.
    assert ask("count(place(x[full]) <= 2)") == (2.0, (2.0, 2.0))
    assert ask("count(place(y[full]) <= 2)") == (2.0, (2.0, 3.0))
    assert ask("count(place(x[full]) <= 2 and place(y[full]) <= 2)") == (1.0, (1.0, 2.0))


def test_metrics_are_one_above_nine_tenths_and_not_at_it(
    measured: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    taus = pd.DataFrame(
        {
            "a": ["Gini", "Gini", "CI"],
            "b": ["CI", "M", "M"],
            "tau": [0.9, 0.97, 0.95],
            "low": [0.8, 0.95, 0.9],
            "high": [0.95, 1.0, 0.97],
        }
    )
    monkeypatch.setattr(alike, "tau_matrix", lambda *_, **__: taus)
    counted = seen("count(metric_taus(Gini[full]) > 0.9)", {"systems": measured})
    assert counted == (2.0, (1.0, 3.0))


def seen(text: str, results: Any) -> tuple[float, tuple[float, float]]:
    """Evaluate an expression; over all systems, where there is a grid."""
    systems = ["all"] if "systems" in results else []
    found = value_of(text, results, functions=FUNCTIONS, systems=systems)
    assert isinstance(found, Quantity)
    return found.value, found.interval


def test_orders_of_records_are_those_of_the_matrix_of_the_page(measured: Results) -> None:
    matrix = alike.tau_matrix(measured, CUTOFF).set_index(["a", "b"])
    for one, other, sign in (("Gini", "ARP", 1), ("Gini", "CI", -1), ("CI", "Diversity", 1)):
        tau, ends = seen(
            f"mean(order({one}@n[full]) * order({other}@n[full]))", {"systems": measured}
        )
        row = matrix.loc[tuple(n for n in alike.OTHERS if n in (one, other))]
        assert sign * tau == pytest.approx(row["tau"])
        assert sorted(sign * end for end in ends) == pytest.approx([row["low"], row["high"]])


def test_a_value_by_folds_has_the_interval_of_student(measured: Results) -> None:
    metric = f"CI@{CUTOFF}"
    (row,) = measured.values[
        (measured.values["system"] == "Popularity") & (measured.values["metric"] == metric)
    ].to_dict("records")
    value, (low, high) = seen(
        "known(by_folds(CI@n[full] of Popularity) / 0.5)", {"systems": measured}
    )
    half = 12.7062047 * row["fold_sd"] / math.sqrt(2)
    assert (value, low, high) == pytest.approx(
        (row["value"] / 0.5, (row["value"] - half) / 0.5, (row["value"] + half) / 0.5)
    )
    with pytest.raises(NotComputed, match=r"^by_folds"):
        seen("known(by_folds(CI@n[full] of Popularity) / 0)", {"systems": measured})


# -- what explains LTI -----------------------------------------------------------------------------


def plain_statistics(lists: Any, prior: list[int]) -> tuple[float, float, float]:
    """LTI, mean logarithm and entropy of the counts of lists, item by item."""
    counts = [int((lists == item).sum()) for item in range(len(prior))]
    before, after, n = sum(prior), sum(counts), len(prior)
    lti = 0.0
    for s, r in zip(prior, counts, strict=True):
        ratio = math.log((r + 1) / (after + n) / ((s + 1) / (before + n)))
        lti += (setup.LAMBDA - s / before) * ratio / n
    logarithm = sum(math.log(r + 1) for r in counts) / n
    entropy = -sum(r / after * math.log(r / after) for r in counts if r)
    return lti, logarithm, entropy


def test_what_is_explained_is_a_squared_correlation_over_systems(measured: Results) -> None:
    given = {"cutoffs": [CUTOFF], "grid": measured.grid.to_dict()}
    found = find_maker("06_concentration/explained")(WORLD, **given)
    assert isinstance(found, Table)
    of = found.frame.set_index(["form", "by", "fold"])["value"].sort_index()
    dataset, grid = load_dataset(WORLD), references._first_seeds(measured.grid, LISTED)
    for fold, split in enumerate(dataset_splits(dataset, "k-fold 2", seed=1)):
        liked = split.train.item[split.train.value >= 4]
        prior = [int((liked == item).sum()) for item in range(split.train.n_items)]
        rows = [
            plain_statistics(lists, prior)
            for _, place, lists in references._lists(grid, dataset, CUTOFF)
            if place == fold
        ]
        lti, logarithm, entropy = np.array(rows).T
        assert of["printed", "log count", fold] == pytest.approx(
            np.corrcoef(lti, logarithm)[0, 1] ** 2
        )
        assert of["printed", "entropy", fold] == pytest.approx(np.corrcoef(lti, entropy)[0, 1] ** 2)
    text = tables.alike_details(measured, None, found, CUTOFF)
    assert text.count("<tr>") >= 1 + 1 + 6
    assert text.count(f"n = {CUTOFF}") == 2


def test_in_a_large_catalogue_lti_is_the_mean_logarithm_and_its_percentile_form_is_not() -> None:
    rng = np.random.default_rng(2)
    prior = np.floor(40_000 / np.arange(4, 3004) ** 1.1)
    lean = [0.2, 0.6, 1.0, 1.4, 1.8]
    counts = np.array([rng.multinomial(9000, prior**p / (prior**p).sum()) for p in lean], float)
    logarithm = np.log1p(counts).mean(axis=1)
    printed = long_tail_index(prior, counts, setup.LAMBDA)
    assert np.corrcoef(printed, logarithm)[0, 1] ** 2 > 0.9999
    # lambda is a factor, but for what the few popular items add
    assert np.allclose(long_tail_index(prior, counts, 0.4), printed / 2, atol=2e-3)
    half = long_tail_index(prior, counts, 0.5, percentile=True)
    assert np.corrcoef(half, logarithm)[0, 1] ** 2 < 0.9
    # lists that lean to the head, and to the tail, have more of it than those in proportion
    assert half.argmin() == 2


def test_what_lists_nothing_explains_nothing() -> None:
    line = pd.Series([1.0, 2.0, math.nan, 4.0])
    assert alike._squared(line, 2 * line + 1) == pytest.approx(1.0)
    assert math.isnan(alike._squared(line, pd.Series([3.0, 3.0, 1.0, 3.0])))
    assert math.isnan(alike._squared(line[:1], line[:1]))


# -- chance and curves -----------------------------------------------------------------------------


def test_chance_fills_as_many_places_as_the_random_recommender(measured: Results) -> None:
    found = made("references", measured, metrics=list(setup.of_chance(CUTOFF)))
    values = references.chance_values(found)
    assert list(values.index) == ["random", "in proportion", "sampling alone"]
    # Random of the line-up is one draw of the same kind.
    for name in ("Gini", "CI", "LTI"):
        text = {setup.plain_name(each): each for each in setup.metrics(CUTOFF)}[name]
        drawn = found.frame[
            (found.frame["reference"] == "random") & (found.frame["metric"] == name)
        ]
        own = measured["Random", "full", text].value
        assert abs(own - values.loc["random", name]) < 6 * drawn["spread"].max()
    # What is drawn in proportion is nearer to the prior than what is drawn at random.
    assert values.loc["sampling alone", "CI"] < values.loc["random", "CI"]
    frame = tables.values_frame(measured, found, CUTOFF)
    assert list(frame.index[-3:]) == list(values.index)
    assert set(frame.index) >= set(LISTED)
    text = tables.values_table(frame)
    assert "<em>lists at random</em></td><td>–" in text
    assert "nan" not in text
    written = tables.to_write(frame, made("lorenz", measured, cutoff=CUTOFF), CUTOFF)
    for value in (frame.loc["Random", "Gini"], values.loc["random", "Gini"]):
        assert f"one of {value:.2f}" in written or f"coefficient of {value:.2f}" in written


def test_chance_fills_lists_as_long_as_those_of_all_users(
    measured: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the first item in them, whose number is 0."""
    seen: list[Any] = []
    known = references.by_chance

    def by_chance(*given: Any, **named: Any) -> pd.DataFrame:
        seen.append(named["lengths"])
        return known(*given, **named)

    monkeypatch.setattr(references, "by_chance", by_chance)
    made("references", measured, metrics=[f"Gini@{CUTOFF}"])
    assert len(seen) == 2
    assert all((lengths == CUTOFF).all() for lengths in seen)


def test_reference_is_read_and_its_absence_is_told() -> None:
    frame = pd.DataFrame(
        {"reference": ["random"] * 3, "metric": ["CI"] * 3, "fold": [0, 1, 2],
         "value": [0.1, 0.2, 0.3]}
    )  # fmt: skip

    def ask(metric: str, label: str, frame: pd.DataFrame = frame) -> tuple[float, Any]:
        table = table_of(("reference", "metric", "fold"), frame)
        return seen(f"known(mean({metric}[{label}] in references))", {"references": table})

    assert ask("CI", "random")[0] == pytest.approx(0.2)
    assert ask("CI", "random")[1][1] == pytest.approx(0.2 + 4.302653 * 0.1 / math.sqrt(3))
    with pytest.raises(NotComputed, match="Gini"):
        ask("Gini", "random")
    with pytest.raises(NotComputed, match="in proportion"):
        ask("CI", "in proportion")
    with pytest.raises(NotComputed, match=r"^mean"):
        ask("CI", "random", frame[:1])
    with pytest.raises(NotComputed, match=r"^mean"):
        ask("CI", "random", frame.assign(value=[0.1, math.nan, 0.3]))


def table_of(index: tuple[str, ...], frame: pd.DataFrame) -> Table:
    return Table(index=index, frame=frame, key="", dataset={"name": "x"}, maker_name="", given={})


def test_lorenz_curves_enclose_gini(measured: Results) -> None:
    curves = made("lorenz", measured, cutoff=CUTOFF).frame.set_index("share")
    assert list(curves.columns) == ["AR", "prior", "WBPR"]
    assert (curves.iloc[0] == 0).all()
    assert np.allclose(curves.iloc[-1], 1)
    assert (np.diff(curves.to_numpy(), axis=0) >= -1e-12).all()
    assert (np.diff(curves.to_numpy(), n=2, axis=0) >= -1e-9).all()  # it bends upwards


def test_whose_lists_are_more_uneven_than_ratings_is_counted(measured: Results) -> None:
    curves = made("lorenz", measured, cutoff=CUTOFF)
    figure = figures.evenness(measured, curves, CUTOFF)
    rows = figure.rows.set_index("row")["value"]
    assert rows["AR"] == measured["AR", "full", f"Gini@{CUTOFF}"].value
    split = dataset_splits(load_dataset(WORLD), "k-fold 2", seed=1)[0]
    liked = np.bincount(split.train.item[split.train.value >= 4], minlength=split.train.n_items)
    apart = np.abs(liked[:, None] - liked[None, :]).sum() / (2 * len(liked) * liked.sum())
    assert rows["ratings"] == pytest.approx(apart, abs=2e-3)
    for level, words in ((0, "2 of 2"), (rows["AR"], "0 of 2")):
        moved = figure.rows.assign(value=[
            level if name == "ratings" else value
            for name, value in zip(figure.rows["row"], figure.rows["value"], strict=True)
        ])  # fmt: skip
        if level or rows["WBPR"] <= rows["AR"]:
            assert replace(figure, rows=moved).title.startswith(words)
    lifts = {name: measured[name, "full", f"PL@{CUTOFF}"].interval for name in ("AR", "WBPR")}
    flat = figure.rows.assign(
        value=[0.0 if row == "ratings" else 1.0 for row in figure.rows["row"]]
    )
    told = tables.popular_of(flat, measured, CUTOFF)
    sides = {name: "with" if low > 0 else "without" for name, (low, high) in lifts.items()}
    assert all(low > 0 or high <= 0 for low, high in lifts.values())
    for name, side in sides.items():
        (part,) = (part for part in told.split("; ") if name in re.split(r"[ ,.]+", part))
        assert f"{side} a lift" in part
    even = flat.assign(value=1.0)
    assert tables.popular_of(even, measured, CUTOFF) == "Here no lists are more uneven."
    nothing = Table(**{**vars(curves), "frame": curves.frame.drop(columns="prior")})
    assert math.isnan(references.gini_of_curve(nothing, "prior"))


def test_a_lorenz_curve_is_read_between_items() -> None:
    counts = np.array([[4.0, 0, 0, 4]])
    share = np.array([0, 0.25, 0.5, 0.625, 0.75, 1])
    assert np.allclose(references._at(share, counts), [0, 0, 0, 0.25, 0.5, 1])


# -- the loop --------------------------------------------------------------------------------------

END = {"AR": 0.9, "BPR": 0.5, "WBPR": 0.7}


def a_loop() -> Table:
    """Two worlds, both choices, three systems, rounds 0 and 1; other rounds' order than sorted."""
    rng = np.random.default_rng(4)
    rows = [
        {
            **dict(zip(INDEX, (choice, system, number, turn), strict=True)),
            **{name: float(rng.random()) for name in STARTS},
            "Gini_ratings": END[system] - 0.1 * (turn == 0) + 0.01 * number,
        }
        for number in (1, 2)
        for choice in CHOICES
        for system in ("WBPR", "AR", "BPR")
        for turn in (0, 1)
    ]
    return table_of(INDEX, pd.DataFrame(rows))


def test_rounds_are_means_over_worlds_and_their_sentences_follow_the_numbers() -> None:
    table = a_loop()
    frame = table.frame
    shown = courses.courses(table)
    assert set(shown) == set(itertools.product(*(axis.options for axis in courses.axes(table))))
    for (choice, name, number), state in shown.items():
        column = {"ratings": "Gini_ratings", "lists": "Gini", "liked": "P"}[name]
        for system, (value, low, high) in state.values.items():
            own = [
                row[column]
                for _, row in frame.iterrows()
                if (row["choice"], row["system"], row["round"]) == (choice, system, int(number))
            ]
            assert value == pytest.approx(sum(own) / 2)
            assert low <= value <= high
    told = shown["even", "ratings", "1"]
    assert told.words == (
        "after one round, where each listed item is rated with the same probability: Gini of the "
        "ratings"
    )
    assert told.note == "Ratings have become more uneven with AR, BPR and WBPR."
    assert told.expected == pytest.approx(sum(END.values()) / 3 - 0.1 + 0.015)
    note = "All are equal: nothing has been recommended yet."
    assert shown["even", "ratings", "0"].note == note
    assert shown["even", "liked", "0"].note == "Nothing has been recommended yet."

    is_ar = (frame["system"] == "AR") & (frame["round"] == 1)
    is_bpr = (frame["system"] == "BPR") & (frame["round"] == 1) & (frame["number"] == 1)
    frame.loc[is_ar, "Gini_ratings"] -= 0.3
    frame.loc[is_bpr, "Gini_ratings"] -= 0.2
    assert courses.courses(table)["even", "ratings", "1"].note == (
        "Ratings have become more uneven with WBPR. They have become more even with AR. "
        "It is neither, surely, with BPR."
    )


def test_orders_are_compared_with_those_of_the_first_lists() -> None:
    table = a_loop()
    page = explorer_html(
        courses.courses(table),
        courses.axes(table),
        start=("even", "ratings", "1"),
        compared=courses.FIRST_LISTS,
        name="rounds",
        source=table,
        digits=3,
    )
    assert "Kendall&#x27;s tau with the order under round 0, Gini of the lists" in page
    assert page.count('type="range" min="0" max="1"') == 1
    assert courses.START[-1] == "8"


def spearman(x: list[float], y: list[float]) -> float:
    def of(values: list[float]) -> list[int]:
        return [sorted(values).index(value) for value in values]

    a, b = of(x), of(y)
    n = len(a)
    return 1 - 6 * sum((i - j) ** 2 for i, j in zip(a, b, strict=True)) / (n * (n**2 - 1))


def test_what_is_foretold_is_a_rank_correlation_in_each_world() -> None:
    loop = a_loop()
    found = foretold(loop, "even").set_index("metric")
    frame = loop.frame.set_index(list(INDEX))
    for start in ("CI", "Gini", "P"):
        each = [
            spearman(
                [frame.loc[("even", system, number, 0), start] for system in END],
                [frame.loc[("even", system, number, 1), "Gini_ratings"] for system in END],
            )
            for number in (1, 2)
        ]
        assert found.loc[start, "value"] == pytest.approx(np.mean(each))
    figure = figures.foretelling(loop)
    assert f"{found.loc['Gini', 'value']:.2f} for Gini" in figure.title
    assert len(figure.rows) <= 24 / 2


def test_ratings_by_round_are_means_over_worlds_and_lines_follow_their_direction() -> None:
    loop = a_loop()
    rows = ratings_by_round(loop, "attentive")
    assert rows.loc[rows["system"] == "AR", "value"].tolist() == pytest.approx([0.815, 0.915])
    ends = before_and_after(loop, "even")["ratings"]
    assert ends.loc["AR"].tolist() == pytest.approx([0.815, 0.915])
    assert list(ends.index) == ["AR", "WBPR", "BPR"]
    told = tables.loop_table(loop).splitlines()
    assert "| AR |" in told[2]
    liked = {line.split(" | ")[0].strip("| "): line.rsplit("|", 2)[1].split(" → ")
             for line in told[2 : 2 + len(ends)]}  # fmt: skip
    rising = [name for name, (before, after) in liked.items() if float(after) > float(before)]
    assert (f"rises with {' and '.join(rising)}, and with no other" in told[-1]) == (
        0 < len(rising) < len(liked)
    )
    fallen = rows.assign(
        value=[
            -value if name == "AR" else value
            for name, value in zip(rows["system"], rows["value"], strict=True)
        ]
    )
    drawn = {}
    for turned in (rows, fallen):
        axis = replace(figures.rounds(loop), rows=turned).picture().axes[0]
        assert [text.get_text() for text in axis.texts].count("AR") == 1
        drawn[turned["value"].min() < 0] = {
            name: line.lines[0].get_linestyle()
            for line, name in zip(*axis.get_legend_handles_labels(), strict=True)
        }
    assert drawn[False]["AR"] == drawn[False]["BPR"] == drawn[True]["BPR"] != drawn[True]["AR"]


def test_the_title_of_the_loop_and_its_sentence_read_one_record(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loop = shown.recorded("06_concentration", "filmtrust")["loop"]
    record = findings.own_findings("concentration metrics")["LOOP-UNEVEN"]
    told = {"loop": loop}
    words = said("own/LOOP-UNEVEN", told).split()
    assert figures.rounds(loop).title.split() == [*words, "(simulated)"]
    other = {"LOOP-UNEVEN": replace(record, finds="now {value} of {cases}")}
    topic = "concentration metrics"
    monkeypatch.setattr(findings, "own_findings", lambda t: other if t == topic else {})
    assert figures.rounds(loop).title == "Now 5 of 7 (simulated)"
    stated = findings.state("concentration metrics", told, [])
    assert stated.found["own/LOOP-UNEVEN"].whole == "Now 5 of 7."


def test_even_lists_cannot_make_ratings_more_uneven() -> None:
    """The bound of the chapter, and that it is reached where both order the items alike."""

    def uneven(counts: Any) -> float:
        return float(np.abs(counts[:, None] - counts).sum() / (2 * len(counts) * counts.sum()))

    rng = np.random.default_rng(6)
    for _ in range(50):
        ratings, listed = rng.pareto(1.2, (2, 12)) * 5
        bound = (ratings.sum() * uneven(ratings) + listed.sum() * uneven(listed)) / (
            ratings.sum() + listed.sum()
        )
        assert uneven(ratings + listed) <= bound + 1e-12
        assert uneven(np.sort(ratings) + np.sort(listed)) == pytest.approx(bound)


def test_taus_are_written_short_and_framed_where_they_are_sure() -> None:
    pairs = [("a", "b", 1.0, 0.91), ("a", "c", -0.96, 0.9), ("b", "c", -0.04, 0.0)]
    rows = pd.DataFrame([*pairs, ("a", "d", -0.35, 0)], columns=["a", "b", "tau", "low"])
    axis = replace(shown.figures("06")["alike"], rows=rows).picture().axes[0]
    assert {text.get_text() for text in axis.texts} == {"1", "-1", "0", "-.3"}
    assert sum(patch.get_linewidth() == 2 for patch in axis.patches) == 1


def test_records_read_the_loop_and_say_what_is_not_there() -> None:
    def ask(text: str) -> tuple[float, Any]:
        return seen(text, {"loop": a_loop()})

    change = "mean({0}[even, 1] of {1} in loop - {0}[even, 0] of {1} in loop)".format
    moved, ends = ask(change("Gini_ratings", "BPR"))
    assert (moved, *ends) == pytest.approx((0.1, 0.1, 0.1))
    foretells = (
        "mean(rank_correlation({}[choice=even, system=*, round=0] in loop, "
        "Gini_ratings[choice=even, system=*, round=1] in loop))"
    ).format
    found = foretold(a_loop(), "even").set_index("metric")
    for start in ("Gini", "CI", "P"):
        value, limits = ask(foretells(start))
        row = found.loc[start]
        assert (value, *limits) == pytest.approx((row["value"], row["low"], row["high"]))
    with pytest.raises(NotComputed, match="of EASE"):
        ask(change("Gini", "EASE"))
    with pytest.raises(NotComputed, match="Reach"):
        ask(foretells("Reach"))


def test_a_small_loop_is_that_of_its_courses(tmp_path: Any) -> None:
    asked = {"n_worlds": 1, "size": (30, 40), "density": 0.1, "n_rounds": 1, "cutoff": 3,
             "share": 0.5, "min_rating": 4, "workers": 1}  # fmt: skip
    with cells_kept_in(tmp_path):
        found = find_maker("06_concentration/loop")(**asked)
        assert isinstance(found, Table)
        assert len(found.frame) == 2 * len(setup.SEVEN) * 2
        (popular,) = [each for each in line_up("atm15", min_rating=4) if each.name == "AR"]
        world = str(PreferenceOptions(users=30, items=40, density=0.1, liked=4, seed=1))
        own = measure_rounds(
            Loop(world, popular, "even", 1, 3, 0.5, seed=1), min_rating=4, lam=setup.LAMBDA
        )
    rows = found.select(choice="even", system="AR", number=1).set_index("round")
    for name in own.columns:
        assert rows[name].tolist() == pytest.approx(own[name].tolist(), nan_ok=True), name


# -- worked example --------------------------------------------------------------------------------


def test_the_example_adds_up_to_the_worked_values() -> None:
    lines = tables.example_table([6, 3, 1, 0], [4, 3, 2, 1]).splitlines()
    assert [len(line.split("|")) for line in lines[2:-1]] == [9] * 4
    total = [float(cell) for cell in lines[-1].split("|")[5:8]]
    assert total == pytest.approx([0.08857784, 0.19276222, 0.1664], abs=6e-4)
    ci = [float(line.split("|")[5]) for line in lines[2:-1]]
    assert sum(ci) == pytest.approx(total[0], abs=2.1e-3)
