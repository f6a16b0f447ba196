"""The explorer: every state holds what was measured, by the chapter too, and by naive lists."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import kendalltau

from explicit_lists import FixedScores, naive_sets, random_split
from recbias import Grid, System, run
from recbias.book.chapters.design_alternatives import setup
from recbias.book.chapters.design_alternatives.designs import every_design
from recbias.book.explorer import Axis, Shown, State, explorer_html, from_results
from recbias.errors import ConfigError
from recbias.experiment.results import load_result, results_dir
from recbias.experiment.run import Results
from recbias.metrics import measure, parse_metric
from recbias.metrics.aggregation import aggregate
from recbias.protocol.protocol import Protocol
from recbias.ranking import rank
from recbias.testing import naive_list, naive_measure

RECORDED = f"*/{setup.CHAPTER}/explorer.json"
DATASETS = sorted(
    path.parts[-3] for path in (Path(__file__).parents[2] / "data" / "recorded").glob(RECORDED)
)

# -- the component -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RECBIAS_CELLS", str(tmp_path_factory.mktemp("cells")))
        return run(
            Grid(
                "world(users=60,items=80,density=0.1,seed=4)",
                (
                    System("Random", "Random"),
                    System("<b>Popularity</b>", "Popularity"),
                    System("kNN", "UserKNN", {"n_neighbours": 5}),
                ),
                {"AR": "TI-AN-AR rel>=4", "1R": "TI-NN-1R t=9 rel>=4"},
                {"AR": ("P@5", "rho"), "1R": ("P@5",)},
                split="k-fold 2",
                replicates=(),
            )
        )


AXES = (
    Axis("sets", {"AR": "one per user", "1R": "one per relevant item"}),
    Axis("cutoff", {"5": "5", "9": "9"}),
)


def states() -> dict[tuple[str, ...], State | str]:
    return {
        ("AR", "5"): State("AR", "P@5", "all", "all of them", "TI-AN-AR", expected="rho"),
        ("1R", "5"): State("1R", "P@5", "runs", "one <each>", "TI-NN-1R", ceiling=0.2),
        ("AR", "9"): "Not measured.",
        ("1R", "9"): "Not measured.",
    }


def written(results: Results, states: dict[tuple[str, ...], State | str]) -> str:
    shown = from_results(results, states)
    return explorer_html(shown, AXES, start=("AR", "5"), name="some", source=results)


def embedded(html: str) -> dict:
    (text,) = re.findall(r'<script type="application/json">(.*?)</script>', html)
    return json.loads(text)


def test_states_hold_what_was_measured_to_the_last_digit(results: Results) -> None:
    html = written(results, states())
    document = embedded(html)
    assert document["systems"] == results.systems
    assert set(document["states"]) == {"AR|5", "1R|5", "AR|9", "1R|9"}
    assert document["states"]["AR|9"] == {"why": "Not measured."}
    for label in ("AR", "1R"):
        state, table = document["states"][f"{label}|5"], results.table(label, "P@5")
        assert state["values"] == table["value"].tolist()
        assert state["low"] == table["low"].tolist()
        assert state["high"] == table["high"].tolist()
        tau = kendalltau(table["value"], results.table("AR", "P@5")["value"]).statistic
        assert state["tau"] == pytest.approx(tau, abs=1e-12)
    assert document["states"]["AR|5"]["expected"] == results["Random", "AR", "rho"].value
    assert document["states"]["1R|5"]["ceiling"] == 0.2


def test_without_scripts_the_tables_stand_there_and_the_controls_do_not(results: Results) -> None:
    html = written(results, states())
    assert '<form class="explorer-controls" hidden>' in html
    assert '<details class="explorer-numbers" open>' in html
    table = html[html.index("<table") : html.index("</table>")]
    for name in results.systems:
        for label in ("AR", "1R"):
            assert f"<td>{results[name, label, 'P@5'].value:.4f}</td>" in table
    assert "<p>Not measured.</p>" in html
    assert "<b>Popularity" not in html.replace("\\u003c", ""), "names are text"
    assert html.count("</script>") == 1


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (lambda s: s.pop(("1R", "9")), "each combination needs a state, and no other: 1R 9"),
        (lambda s: s.update({("XR", "5"): "No."}), "and no other: XR 5"),
        (lambda s: s.update({("AR", "5"): "No."}), "nothing is shown at the start, AR 5"),
        (
            lambda s: s.update({("AR", "5"): State("AR", "P@7", "", "w", "")}),
            "not measured: P@7 of Random",
        ),
    ],
)
def test_states_that_do_not_fit_are_refused(results: Results, change, error: str) -> None:
    wrong = states()
    change(wrong)
    with pytest.raises(ConfigError, match=error):
        written(results, wrong)


def test_rows_of_ones_own_and_a_slider(results: Results) -> None:
    axis = Axis("rounds", {"1": "1", "2": "2"}, slider=True)
    shown = {
        (code,): Shown(
            {"x": (sign * 0.5, math.nan, math.nan), "y": (0.1, 0.0, 0.2)}, "lead", code, "w"
        )
        for code, sign in (("1", 1), ("2", -1))
    }
    html = explorer_html(
        shown, [axis], start=("1",), compared=("2",), against="at the end", name="s",
        source=results, digits=2,
    )  # fmt: skip
    document = embedded(html)
    assert document["states"]["2"]["values"] == [-0.5, 0.1]
    assert document["states"]["1"]["low"] == [None, 0.0]
    assert [document["states"][code]["tau"] for code in "12"] == [-1, 1]
    assert html.count("<table") == 1
    assert "<td>-0.50</td>" in html
    assert "Kendall&#x27;s tau with the order at the end" in html
    with pytest.raises(ConfigError, match="only the last axis may be a slider"):
        explorer_html(
            {(a, b): shown[a,] for a in "12" for b in "12"},
            [axis, axis], start=("1", "1"), name="s", source=results,
        )  # fmt: skip
    shown["2",] = Shown({"x": (0.5, 0.4, 0.6)}, "lead", "2", "w")
    with pytest.raises(ConfigError, match="2 has other rows"):
        explorer_html(shown, [axis], start=("1",), name="s", source=results)


# -- chapter 1 ---------------------------------------------------------------------------------

MEASURED = {
    "TI-AN-AR": "AR", "AI-AN-AR": "AI", "R_test": "R_test", "TI-NN-AR": "NN", "TI-NN-1R": "1R",
}  # fmt: skip
"""Designs that the chapter measures elsewhere, by their label in the explorer."""


def recorded(dataset: str, name: str) -> Results:
    path = results_dir(dataset, recorded=True) / setup.CHAPTER / name
    found = load_result(path, dataset=dataset)
    assert isinstance(found, Results)
    return found


def disagreements(explored: Results, measured: Results) -> list[tuple[str, str, str]]:
    """List what differs, in any digit, where both hold the same design."""
    different = []
    for label, other in MEASURED.items():
        assert explored.grid.parsed[label] == measured.grid.parsed[other]
        for metric in ("P@10", *(["rho"] if label != "R_test" else [])):
            for system in measured.systems:
                own, elsewhere = explored[system, label, metric], measured[system, other, metric]
                if own.value != elsewhere.value:
                    different.append((system, label, metric))
                # Intervals from replicates that were kept are rounded to 16 binary digits.
                elif not np.allclose(own.interval, elsewhere.interval, rtol=2.0**-14, atol=0):
                    different.append((system, label, f"interval of {metric}"))
    return different


@pytest.mark.parametrize("dataset", DATASETS)
def test_what_the_chapter_measures_is_the_same_number_in_the_explorer(dataset: str) -> None:
    explored, measured = recorded(dataset, "explorer"), recorded(dataset, "systems")
    assert explored.systems == measured.systems
    assert disagreements(explored, measured) == []
    values = explored.values.copy()
    row = (values["system"] == "pLSA") & (values["label"] == "TI-NN-AR")
    values.loc[row & (values["metric"] == "P@10"), "value"] *= 1 + 1e-15
    broken = dataclasses.replace(explored, values=values)
    assert disagreements(broken, measured) == [("pLSA", "TI-NN-AR", "P@10")]


@pytest.mark.parametrize("dataset", DATASETS)
def test_the_recorded_file_is_small(dataset: str) -> None:
    recorded(dataset, "explorer")
    path = results_dir(dataset, recorded=True) / setup.CHAPTER / "explorer"
    assert path.with_suffix(".json").stat().st_size < 60_000
    assert not path.with_suffix(".parquet").exists()


def naive_value(split, scores, title: str, cutoff: int, n_sampled: int | None) -> float:
    """Average P@n over users or runs, and over all samples, by walking down every list."""
    candidates, _, relevant = title.split("-")
    values = []

    def shown(user: int, members: set[int]) -> list[int]:
        return naive_list({item: scores[user, item] for item in members}, range(len(scores[0])))

    for user in range(split.test.n_users):
        _, judged, pool = naive_sets(split, candidates, user, 4)
        liked = {item for item, value in judged.items() if value >= 4}
        for own in [liked] if relevant == "AR" else [{item} for item in sorted(liked)]:
            size = len(pool) if n_sampled is None else min(n_sampled, len(pool))
            found = [
                naive_measure(
                    shown(user, own | set(drawn)), judged, "P", cutoff=cutoff, min_rating=4
                )
                for drawn in combinations(sorted(pool), size)
            ]
            values.append(float(sum(found) / len(found)))
    return float(np.mean(values))


def test_derived_designs_agree_with_naive_lists() -> None:
    rng = np.random.default_rng(3)
    split = random_split(rng, 12, 10, train=0.25, test=0.35)
    scores = rng.permuted(np.tile(np.arange(10.0), (12, 1)), axis=1)
    scores[rng.random(scores.shape) < 0.1] = np.nan
    designs = every_design(4, size=4, n_sampled=3, cutoff=2, n_items=10)
    n_others = {"AR": 3, "1R": 3}
    for title in ("TI-AN-AR", "AI-AN-AR", "TI-AN-1R", "AI-AN-1R", "AI-NN-AR", "AI-NN-1R"):
        protocol = Protocol.parse(designs.protocols[title])
        asked = [parse_metric(text) for text in designs.metrics[title] if text.startswith("P")]
        (table,) = rank(FixedScores(scores), split, [protocol.targets], seed=1)
        found = aggregate(
            table,
            measure(table, asked, min_rating=4),
            min_rating=4,
            population=protocol.averaging.population,
        )
        for metric, value in zip(asked, found, strict=True):
            sampled = n_others[title[-2:]] if "-NN-" in title else None
            expected = naive_value(split, scores, title, metric.cutoff, sampled)
            assert value == pytest.approx(expected, abs=1e-12), (title, str(metric))
            assert value != pytest.approx(naive_value(split, scores, title, 3, sampled))


def test_a_ceiling_is_never_exceeded_and_a_line_drawn_only_where_it_is_right() -> None:
    designs = every_design(4, size=10, n_sampled=30, cutoff=7, n_items=15)
    assert [*designs.axes[-1].options] == ["1", "5", "7", "10"]
    assert designs.start == ("TI", "AR", "AN", "7")
    for (candidates, relevant, others, cutoff), state in designs.states.items():
        if isinstance(state, str):
            assert candidates == "R_test"
            assert (relevant, others) != ("AR", "AN")
            continue
        assert state.ceiling == (1 / int(cutoff) if relevant == "1R" else None)
        assert (state.expected is None) == (candidates == "R_test")
        Protocol.parse(state.code)
    short = every_design(4, size=4, n_sampled=30, cutoff=7, n_items=15)
    assert short.states["TI", "1R", "NN", "5"].expected is None
    assert short.states["TI", "1R", "NN", "1"].expected == "rho"


def test_the_notebook_shows_it() -> None:
    assert "ml-1m" in DATASETS
    root = Path(__file__).parents[2]
    text = (root / "notebooks" / "01_design_alternatives.py").read_text(encoding="utf-8")
    assert 'name="explorer"' in text
    assert "from_results(explored, designs.states)" in text
