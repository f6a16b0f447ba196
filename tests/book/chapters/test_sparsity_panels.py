"""What the figures of chapter 2 show, against values worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from chapter_grids import sparsity_protocols
from expressions_at import value_of
from recbias import Grid, Results, line_up
from recbias.book.chapters import sparsity_bias as chapter
from recbias.book.chapters.sparsity_bias import figures
from recbias.book.chapters.sparsity_bias.densities import pairs_by_share
from recbias.book.chapters.sparsity_bias.tables import closest_pair, densities_table
from recbias.book.findings import own_findings
from recbias.claims.evidence import NotComputed
from recbias.claims.records import criteria_of
from recbias.experiment.makers import Table
from recbias.experiment.results import Quantity

SYSTEMS = [each for each in line_up("bcc17") if each.name in ("Random", "Popularity", "pLSA")]
REMOVED = (0, 50, 90)
RANDOM, POPULARITY, PLSA = 0.01, 0.04, 0.1
WHOLE = {"Random": RANDOM, "Popularity": POPULARITY, "pLSA": PLSA}


def course(label: str, whole: float, kept: float) -> dict[str, float]:
    """Plant precision in proportion, recall as the root of the share, and 1R that stays."""
    return {
        "P@10": whole * kept if label == "AR" else whole,
        "antiP@10": 2 * whole * kept,
        "R@10": whole * kept**0.5,
    }


@pytest.fixture
def results() -> Results:
    asked, tests = sparsity_protocols(4, removed=REMOVED)
    metrics = {
        label: ("P@10|t=100", "P@10|t=400")
        if label == "sizes"
        else ("P@10|t=100",)
        if label.startswith("all-1R")
        else ("R@10",)
        if label.startswith("liked")
        else ("P@10", "antiP@10")
        for label in asked
    }
    grid = Grid("synthetic", SYSTEMS, asked, metrics, tests=tests)
    rows, replicates = [], {}
    for system in SYSTEMS:
        for label, protocol in grid.parsed.items():
            kept = 1 - grid.test(label).removed / 100
            planted = course(label.split(" ")[0], WHOLE[system.name], kept)
            for metric in grid.by_label[label]:
                size = 400 if metric.endswith("=400") else 100
                value = planted[metric.partition("|")[0]] * (100 / size) ** 0.5
                replicates[len(rows)] = np.array([0.9, 1.0, 1.1]) * value
                names = {"system": system.name, "label": label, "metric": metric}
                numbers = {"value": value, "low": 0.9 * value, "high": 1.1 * value, "se": 0.0}
                rows.append({**names, "protocol": str(protocol), **numbers})
    return Results(
        key="0", dataset={"name": "x"}, grid=grid, values=pd.DataFrame(rows),
        replicates=replicates, tests=pd.DataFrame(), target_sets=pd.DataFrame(),
    )  # fmt: skip


def made(index: tuple[str, ...], frame: pd.DataFrame) -> Table:
    about = {"key": "0", "dataset": {"name": "x"}, "maker_name": "x", "given": {}}
    return Table(index=index, frame=frame, **about)


def test_larger_sets_stand_beside_a_fall_as_one_over_t(results):
    figure = figures.larger(results, 10)
    rows = figure.rows.set_index(["system", "size"])
    assert rows.loc[("Random", 400), "predicted"] == pytest.approx(RANDOM / 4)
    assert rows.loc[("Random", 400), "value"] == pytest.approx(RANDOM / 2)


def test_parts_of_a_list_are_those_known_and_the_rest(results):
    figure = figures.lists(results, 10)
    shares = figure.rows
    whole = shares[["relevant", "rated lower", "not rated"]].sum(axis=1)
    assert whole.to_numpy() == pytest.approx(np.full(len(shares), 100))
    assert shares["system"].tolist() == ["pLSA", "Popularity", "Random"] * 2
    assert shares["panel"].tolist() == ["all test ratings"] * 3 + ["10 % of them"] * 3
    assert shares["not rated"].iloc[0] == pytest.approx(100 * (1 - 3 * PLSA))
    assert "The same lists, judged by a tenth of the test ratings" in figure.title.replace(
        "\n", " "
    )


def test_half_of_the_ratings_leave_half_of_what_is_in_proportion_and_all_of_what_stays(results):
    figure = figures.halved(results)
    found = figure.rows.set_index("metric")["value"]
    assert found.to_dict() == pytest.approx(
        {"P@10": 50, "R@10": 100 * 0.5**0.5, "1RP@10": 100}, abs=1e-6
    )
    title = "Half of the test ratings leave 50 % of P@10,\nand 100 % of 1RP@10"
    assert figure.title == title


def densities() -> Table:
    """Plant three pairs: 1R needs less for two of them, and one is told apart by neither."""
    rows = [
        ("AR", "a", "b", 0.2, 0.1, 0.3),
        ("AR", "a", "c", 0.05, 0.04, 0.06),
        ("AR", "b", "c", 1.0, 0.5, 1.0),
        ("1R", "b", "a", 0.1, 0.05, 0.15),
        ("1R", "a", "c", 0.01, 0.005, 0.02),
        ("1R", "b", "c", 0.4, 0.3, 0.5),
    ]
    columns = ["design", "first", "second", "value", "low", "high"]
    return made(("design", "first", "second"), pd.DataFrame(rows, columns=columns))


def test_pairs_are_told_apart_from_their_share_on():
    curves = pairs_by_share(densities().frame)
    own = curves[curves["line"].str.contains("AR")].set_index("kept")
    assert own.iloc[-1][["pairs", "low", "high"]].tolist() == [2, 2, 3]
    assert own.iloc[0]["pairs"] == 0
    assert (own["low"] <= own["pairs"]).all()
    assert (own["pairs"] <= own["high"]).all()
    first, second = figures.told_apart(densities()).title.split("\n")
    assert first == "All test ratings tell 2 of 3 pairs apart under AR,"
    assert second == "one in ten 1, and one in a hundred 0"


def test_the_pairs_that_need_most_judgements_come_first():
    rows = densities_table(densities(), 2).splitlines()
    assert rows[0] == "| ahead | behind | precision, AR | precision, 1R |"
    assert rows[2:] == [
        "| b | c | not by all | 40 % (30 to 50) |",
        "| a | b | 20 % (10 to 30) | 10 % (5 to 15), reversed |",
    ]


def test_a_paper_is_told_what_its_closest_pair_needs():
    table = densities()
    assert closest_pair(table) == (
        "These test ratings are not expected to tell one pair of systems apart; the closest of all "
        "others, a and b, takes 20 % of them."
    )
    rows = table.frame
    ends = "a and c, is expected to take 5 % of these test ratings."
    assert closest_pair(replace(table, frame=rows[rows["value"] < 0.2])).endswith(ends)
    none = replace(table, frame=rows.assign(value=1.0))
    assert closest_pair(none) == "These test ratings are expected to tell no two systems apart."


def found(text: str, table: Table | None = None) -> tuple[float, tuple[float, float]]:
    quantity = value_of(text, {"densities": table or densities()}, views=chapter.VIEWS)
    assert isinstance(quantity, Quantity)
    return quantity.value, quantity.interval


def test_the_median_pair_has_the_median_share_and_ends():
    assert found(own_findings("sparsity bias")["DENSITY-MEDIAN"].value) == (0.2, (0.1, 0.3))


def test_pairs_that_need_fewer_judgements_are_counted_whoever_leads():
    fewer = own_findings("sparsity bias")["DENSITY-RUNS"].value
    assert found(fewer) == (1.0, (0.5, 1.0))
    more = fewer.replace("AR", "?").replace("1R", "AR").replace("?", "1R")
    assert found(more) == (0.0, (0.0, 0.5))
    none = densities()
    none.frame["value"] = 1.0
    with pytest.raises(NotComputed):
        found(fewer, none)


def test_pairs_that_would_be_lost_with_one_judgement_in_a_hundred():
    (record,) = (
        r for r in criteria_of("sparsity bias")["BCC17-C-ORDER"].records if "densities" in r.value
    )
    assert found(record.value) == (2.0, (2.0, 3.0))
    rows = densities()
    rows.frame.loc[rows.frame["design"] == "AR", "low"] = 0.005
    assert found(record.value, rows) == (2.0, (0.0, 3.0))


def test_saturation_is_shown_beside_the_ratio_of_two_counts():
    rows = [
        (judged, "Random", metric, value, value, value, 0.2)
        for metric, value in (("AP", 0.25), ("nDCG", 0.5), ("R", 0.1))
        for judged in (5, 100)
    ]
    columns = ["judged", "system", "metric", "value", "low", "high", "positive"]
    table = made(("judged", "system", "metric"), pd.DataFrame(rows, columns=columns))
    figure = figures.saturation(table)
    assert figure.rows["predicted"].to_numpy() == pytest.approx(np.full(6, 0.25))
    assert figure.title.endswith("MAP 1.00, nDCG 2.00, recall 0.40")
