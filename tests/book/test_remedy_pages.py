"""What the figures of chapter 4 show is what was measured, and titles say it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from recbias import Grid, Results
from recbias.book.chapters.overcoming_popularity_bias import figures, setup, uniform_tests
from recbias.book.chapters.overcoming_popularity_bias.kept import kept_grids
from recbias.recommenders import System, line_up

SIZES = {"cutoff": 10, "size": 100}


def results(name: str, systems: list[System], asked: Mapping, values: Mapping) -> Results:
    """Make results in which a value stands for each label and metric; systems differ by a tenth."""
    grid = Grid("synthetic", systems, asked["protocols"], asked["metrics"])
    rows = [
        {"system": system.name, "label": label, "metric": str(metric), "value": value}
        for place, system in enumerate(systems)
        for label, metrics in grid.parsed_metrics.items()
        for metric in metrics
        for value in [values.get((label, metric.name), 0.01) * (1 - 0.1 * place)]
    ]
    frame = pd.DataFrame(rows)
    frame = frame.assign(low=frame["value"] - 0.001, high=frame["value"] + 0.001, se=0.0005)
    return Results(
        key="0", dataset={"name": name}, grid=grid, values=frame, replicates={},
        tests=pd.DataFrame(), target_sets=pd.DataFrame(),
    )  # fmt: skip


@pytest.fixture(scope="module")
def kept() -> dict[str, Results]:
    values = {
        "kept": {("1R", "P"): 0.0638, ("head", "P"): 0.043, ("P1R", "P"): 0.0143},
        "kept_uniform": {
            ("U1R", "P"): 0.0231, ("U1R-control", "P"): 0.0172,
            ("positive U1R", "P"): 0.0153, ("positive U1R-control", "P"): 0.0099,
        },
    }  # fmt: skip
    asked = kept_grids(5, **SIZES)
    one = [system for system in line_up("bcc17") if system.name == "Popularity"]
    return {name: results("x", one, asked[name], values[name]) for name in asked}


def test_what_is_left_is_taken_apart_into_what_adds_up(kept: dict[str, Results]) -> None:
    figure = figures.causes(kept, 10)
    found = figure.rows.set_index("test")
    assert found.sum(axis=1).tolist() == pytest.approx([0.0638, 0.043, 0.0143, 0.0231, 0.0153])
    uniform = found.loc["uniform test (U1R)"]
    assert uniform["popular items are liked more often"] == pytest.approx(0.0072)
    assert uniform["training items are no rivals"] == pytest.approx(0.0059)
    assert "55% is owed to liking" in figure.title


def test_where_nothing_is_left_nothing_is_taken_apart(kept: dict[str, Results]) -> None:
    figure = figures.causes(kept, 10)
    rows = figure.rows.set_index("test")
    rows.loc["uniform test (U1R)", "popular items are liked more often"] = -0.01
    assert "leaves Popularity nothing" in replace(figure, rows=rows.reset_index()).title


@pytest.fixture(scope="module")
def both() -> dict[str, Results]:
    systems = [each for each in line_up("bcc17") if each.name in setup.FIGURE_8]
    systems.sort(key=lambda each: setup.FIGURE_8.index(each.name))
    asked = {"protocols": setup.protocols(5)[0], "metrics": setup.metrics(10, 100, 700)}
    uniform = {
        "protocols": setup.uniform_protocols(5), "metrics": setup.uniform_metrics(**SIZES)
    }  # fmt: skip
    values = {("1R", "P"): 0.06, ("head", "P"): 0.04, ("P1R", "P"): 0.014}
    return {
        "systems": results("x", systems, asked, values),
        "uniform": results("x", systems, uniform, {("U1R", "P"): 0.02}),
    }


def test_popularity_stands_over_random_under_each_test(both: dict[str, Results]) -> None:
    figure = figures.over_random(both, 10)
    found = figure.rows.set_index("label")
    assert found["value"].to_dict() == pytest.approx(
        {"1R": 6, "head": 4, "U1R": 2, "P1R": 1.4, "AR-level": 1, "UAR": 1, "AI-UAR": 1}
    )
    assert "6.0 times" in figure.title
    assert "1.4 times by P1R" in figure.title


def test_a_table_says_how_far_draws_are_apart(both: dict[str, Results]) -> None:
    uniform = both["uniform"]
    spread = uniform.values["label"].map({"U1R": 0.0004, "UAR": 0.0007})
    frame = uniform.values.assign(fold_sd=spread)
    text = uniform_tests.draws_table(dataclasses.replace(uniform, values=frame))
    assert "<th>P@10, U1R</th><th>interval</th><th>s.d. of draws</th><th>P@10, UAR</th>" in text
    cells = ("0.0200", "0.0190 to 0.0210", "0.00040", "0.0100", "0.0090 to 0.0110", "0.00070")
    assert f"<tr><td>pLSA</td><td>{'</td><td>'.join(cells)}</td></tr>" in text
    # Of a single draw nothing is known.
    undrawn = frame.assign(fold_sd=np.nan)
    alone = uniform_tests.draws_table(dataclasses.replace(uniform, values=undrawn))
    assert "0.00040" not in alone


def test_places_follow_what_was_measured(both: dict[str, Results]) -> None:
    figure = figures.places(both)
    assert list(dict.fromkeys(figure.rows["system"])) == list(setup.FIGURE_8)
    assert " ".join(figure.title.split()) == (
        "Popularity is number 2 of 5 by 1R, 2 by 1R without the head, 2 by U1R, 2 by P1R"
    )
    unmeasured = both["systems"].values
    last = (unmeasured["label"] == "P1R") & (unmeasured["system"] == "Popularity")
    values = unmeasured.assign(value=unmeasured["value"].mask(last))
    moved = {**both, "systems": dataclasses.replace(both["systems"], values=values)}
    assert figures.places(moved).title.endswith("5 by P1R")


def test_other_metrics_are_those_of_the_plain_test(both: dict[str, Results]) -> None:
    figure = figures.counted_otherwise(both["systems"])
    assert list(dict.fromkeys(figure.rows["label"])) == [
        "precision", "bpref", "infAP", "stratified recall",
    ]  # fmt: skip
    asked = both["systems"].grid.parsed_metrics["AR"]
    pools = [metric for metric in asked if metric.name == "infAP"]
    assert len(pools) == 2
    found = figure.rows.set_index(["label", "system"])["value"]
    for label, metric in (("infAP", pools[0]), ("precision", "P@10")):
        assert found[label, "pLSA"] == both["systems"]["pLSA", "AR", str(metric)].value
