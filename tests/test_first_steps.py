"""What a new user types first: mistakes get an answer, tables come in any form, results print."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import golden
from recbias import Grid, Protocol, System, line_up, load_dataset, run
from recbias.errors import ConfigError, DataError
from recbias.experiment.results import SHOWN, values_text
from recbias.experiment.run import Results

AR = "TI-AN-AR rel>=4"
PAIR = (System("Popularity", "Popularity"), System("Random", "Random"))


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return golden.small_table(tmp_path_factory.mktemp("first"))


@pytest.fixture(scope="module", autouse=True)
def own_cells(tmp_path_factory: pytest.TempPathFactory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RECBIAS_CELLS", str(tmp_path_factory.mktemp("cells")))
        yield


def small(**changes: object) -> Grid:
    asked = {"dataset": "synthetic", "systems": PAIR, "protocols": (AR,), "metrics": ("P@10",)}
    return Grid(**{**asked, **changes})  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"systems": ("Popularity",)}, r"such as System\('Popularity', 'Popularity'\), or a line"),
        ({"systems": "Popularty"}, "unknown algorithm 'Popularty': did you mean 'Popularity'"),
        ({"systems": ()}, r"systems: got none, expected one or more"),
        ({"systems": None}, "systems: got NoneType None"),
        ({"protocols": ()}, r"protocols: got \(\), expected one or more, such as \('TI-AN-AR"),
        ({"protocols": None}, "protocols: got None"),
        ({"protocols": (4,)}, "protocols: got 4, expected text such as 'TI-AN-AR rel>=4'"),
        ({"protocols": {"AR": 4}}, "protocols: got 4, expected text"),
        ({"protocols": ("TI-NA-AR rel>=4",)}, "did you mean 'TI-AN-AR rel>=4'"),
        ({"metrics": ()}, r"metrics: got \(\), expected one or more, such as \('P@10',\)"),
        ({"metrics": {AR: ()}}, "metrics under 'TI-AN-AR rel>=4': got ()"),
        ({"metrics": (10,)}, "metrics: got 10, expected text such as 'P@10'"),
        ({"metrics": ("ndcg@10",)}, "unknown metric 'ndcg': did you mean 'nDCG'"),
        ({"split": 5}, "split is 5: expected text, such as 'k-fold 5'"),
        ({"dataset": 3}, "data set is int 3: expected the name of a data set, the path of a tab"),
    ],
)
def test_a_mistake_in_a_grid_is_named_with_what_to_write(changes, message) -> None:
    with pytest.raises(ConfigError, match=message):
        small(**changes)


@pytest.mark.parametrize("min_rating", ["3", None, True, float("nan"), float("inf"), [3]])
@pytest.mark.parametrize("name", ["bcc17", "mccrs20"])
def test_the_threshold_of_a_line_up_is_a_number(name: str, min_rating: object) -> None:
    with pytest.raises(ConfigError, match="expected a finite number, such as line_up"):
        line_up(name, min_rating=min_rating)  # type: ignore[arg-type]
    line_up(name, min_rating=np.float32(3))  # type: ignore[arg-type]


def test_other_things_where_a_grid_or_a_name_is_asked_for() -> None:
    with pytest.raises(ConfigError, match="run: expected a Grid, got str 'synthetic'"):
        run("synthetic")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="unknown line-up"):
        line_up(["bcc17"])  # type: ignore[arg-type]


def test_one_text_stands_for_a_tuple_of_it() -> None:
    assert small(protocols=AR, metrics="P@10", systems=PAIR[0]) == small(systems=PAIR[:1])
    assert small(protocols=Protocol.parse(AR)) == small()


@pytest.mark.parametrize(
    ("slip", "meant"),
    [
        ("TI-AN-AR rel=4", "TI-AN-AR rel>=4"),
        ("TI-AN-AR rel>4", "TI-AN-AR rel>=4"),
        ("TI-AN-AR rel >= 4", "TI-AN-AR rel>=4"),
        ("TI-AN-AR rel\N{GREATER-THAN OR EQUAL TO}4", "TI-AN-AR rel>=4"),
        ("TI-AN-AR >=4", "TI-AN-AR rel>=4"),
        ("TI-AN-AR min_rating>=-4", "TI-AN-AR rel>=-4"),
        ("ti-an-ar rel>=4", "TI-AN-AR rel>=4"),
        ("TI AN AR rel>=4", "TI-AN-AR rel>=4"),
        ("TI_NA_AR rel>=4", "TI-AN-AR rel>=4"),
        ("TI-NN-1R rel>=4 t=100", "TI-NN-1R t=100 rel>=4"),
        ("TI-NN-1R T = 100 rel>=4", "TI-NN-1R t=100 rel>=4"),
        ("TI-NN-1R-shard t=9 rel>=4", "TI-NN-1R-shared t=9 rel>=4"),
        ("TI-AN-AR condensed rel>=4", "TI-AN-AR rel>=4 condensed"),
        ("TI-AN-AR rel>=4 condenced", "TI-AN-AR rel>=4 condensed"),
        ("TI-AN-AR rel>=4 unscore=popularity", "TI-AN-AR rel>=4 unscored=popularity"),
    ],
)
def test_a_slip_in_a_protocol_is_answered_by_what_was_meant(slip: str, meant: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Protocol.parse(slip)
    assert str(caught.value).endswith(f"\ndid you mean '{meant}'?")
    assert str(Protocol.parse(meant)) == meant


@given(st.text(alphabet="TIANR1PsharedtNm=>0-9. +relcondnuw_", max_size=40))
def test_any_text_is_a_protocol_or_refused_by_the_package(text: str) -> None:
    try:
        Protocol.parse(text)
    except ConfigError as error:
        _, _, meant = str(error).partition("\ndid you mean '")
        if meant:
            assert str(Protocol.parse(meant.removesuffix("'?"))) == meant.removesuffix("'?")


# --------------------------------------------------------------------------------------- tables


def test_a_path_and_a_data_frame_are_tables_like_a_file(table: Path) -> None:
    frame = pd.read_csv(table)
    shuffled = frame.sample(frac=1, random_state=1).set_axis(range(7, 7 + len(frame)))
    renamed = shuffled.rename(columns={"user_id": "userId", "item_id": "Movie", "rating": "stars"})
    before = renamed.copy()
    named, from_path, from_frame = (
        run(small(dataset=each)) for each in (str(table), table, renamed)
    )
    for other in (from_path, from_frame):
        assert other.key == named.key
        pd.testing.assert_frame_equal(other.values, named.values)
    pd.testing.assert_frame_equal(renamed, before)
    assert repr(from_path).startswith(f"{table.name}; ")
    assert repr(from_frame).startswith("DataFrame; ")
    assert from_frame.times["computed"] == 0  # its cells are those of the same ratings
    # From its stored form it is found again.
    assert Grid.from_dict(from_frame.grid.to_dict()) == from_frame.grid
    assert small(dataset=frame) == small(dataset=frame.copy())


def test_a_data_frame_is_described_like_a_file_and_refused_like_one(table: Path) -> None:
    frame = pd.read_csv(table)
    found, of_file = load_dataset(frame), load_dataset(table)
    assert found.ratings.content_hash == of_file.ratings.content_hash
    assert found.understood[1:] == of_file.understood[1:]
    renamed = frame.rename(columns={"user_id": "who"})
    assert load_dataset(renamed, user="who").ratings.n_users == of_file.ratings.n_users
    with pytest.raises(DataError, match=r"no user column found.*\nrename them: frame.rename"):
        small(dataset=renamed)
    with pytest.raises(DataError, match="DataFrame, row 1: user 1 rates item 2 again"):
        small(dataset=pd.DataFrame({"user": [1, 1], "item": [2, 2], "rating": [3, 4]}))
    times = frame.assign(timestamp=np.arange(len(frame)) * 1000 + 10**9)
    assert load_dataset(small(dataset=times).dataset).ratings.timestamp is not None
    pairs = frame[["user_id", "item_id"]]
    assert load_dataset(small(dataset=pairs, protocols="TI-AN-AR rel>=1").dataset).understood[
        2
    ] == ("implicit feedback: there is no rating column")


# -------------------------------------------------------------------------------------- printing


def test_printed_results_show_names_values_and_intervals_in_80_columns(table: Path) -> None:
    results = run(small(dataset=table, protocols=(AR, "TI-NN-1R t=20 rel>=4")))
    head, names, *rows = str(results).splitlines()
    assert head == f"{results.dataset['title']}; k-fold 5, seed 1; live"
    assert names.split("  ")[0] == "system"
    assert len(rows) == len(results.values) == 4
    for row, (_, value) in zip(rows, results.values.iterrows(), strict=True):
        assert row.split() == [
            value["system"], *value["label"].split(), "P@10", f"{value['value']:.4f}",
            f"{value['low']:.4f}", "to", f"{value['high']:.4f}",
        ]  # fmt: skip
    assert max(map(len, str(results).splitlines())) <= 80
    assert isinstance(results, Results)
    assert repr(results) == str(results)


@given(
    st.lists(
        st.tuples(st.text("abc, -", max_size=90), st.text("xyz", max_size=90), st.floats()),
        max_size=5,
    )
)
def test_no_name_and_no_number_of_a_usual_size_passes_80_columns(rows) -> None:
    small_enough = [(*names, value if abs(value) < 1e6 else np.nan) for *names, value in rows]
    frame = pd.DataFrame(small_enough, columns=["system", "label", "value"])
    text = values_text("a" * 100, frame.assign(metric="P@10", low=frame.value, high=frame.value))
    assert all(len(line) <= 80 for line in text.splitlines())


def test_of_thousands_of_values_the_first_are_printed() -> None:
    row = {"system": "a", "label": "b", "metric": "P@1", "value": 1.0, "low": np.nan, "high": 0.0}
    lines = values_text("", pd.DataFrame([row] * (SHOWN + 1500))).splitlines()
    assert len(lines) == SHOWN + 3
    assert lines[-1] == "and 1,500 more: they are in .values, a DataFrame"
    assert lines[2].endswith("1.0000")


# --------------------------------------------------------------------------------------- scripts

SCRIPT = """
from recbias import Grid, line_up, run
{guard}
grid = Grid({table!r}, line_up("bcc17")[:2], "TI-AN-AR rel>=4", "P@10", split="k-fold 2")
results = run(grid, workers=2)
print(results)
"""


def done(folder: Path, table: Path, guard: str) -> subprocess.CompletedProcess[str]:
    (folder / "mine.py").write_text(SCRIPT.format(guard=guard, table=str(table)))
    environment = {**os.environ, "RECBIAS_CELLS": str(folder / "cells"), "TQDM_DISABLE": "1"}
    environment["PYTHON_COLORS"] = "0"
    return subprocess.run(
        [sys.executable, "mine.py"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("guard", "reason"),
    [
        ("", "ConfigError: mine.py starts worker processes, each of which runs it again from"),
        ("__name__ != '__main__'", "ConfigError: a worker process ended by itself: what starts"),
    ],
)
def test_a_script_without_guard_is_told_about_it_once(
    guard: str, reason: str, table: Path, tmp_path: Path
) -> None:
    ended = done(tmp_path, table, guard)
    assert ended.returncode == 1
    assert reason in ended.stderr
    assert 'if __name__ == "__main__":' in ended.stderr
    assert ended.stderr.count("Traceback") == 1
    assert ended.stdout == ""
