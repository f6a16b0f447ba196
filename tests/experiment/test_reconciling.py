"""A run and qrels from files, the numbers of another toolkit, and what the command says of them."""

from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

import recbias
from recbias.cli.commands import main
from recbias.errors import ConfigError, DataError, MissingData
from recbias.experiment.reconciling import read_theirs
from recbias.metrics.conventions import departures

RUN = {
    "ann": {"a": 4, "b": 3, "c": 2, "d": 1},
    "bob": {"a": 3, "c": 3, "e": 1},
    "cat": {"f": 2, "a": 1},
}
QRELS = {"ann": {"b": 2, "d": 1, "f": 1}, "bob": {"c": 1, "e": 0}, "dan": {"a": 1}}


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    run = "".join(
        f"{user} Q0 {item} {rank} {score} x\n"
        for user, of in RUN.items()
        for rank, (item, score) in enumerate(of.items(), 1)
    )
    qrels = "".join(f"{user} 0 {i} {g}\n" for user, of in QRELS.items() for i, g in of.items())
    (tmp_path / "run.trec").write_text(run)
    (tmp_path / "qrels.txt").write_text(qrels)
    return tmp_path / "run.trec", tmp_path / "qrels.txt"


def called(files: tuple[Path, Path], *more: str):
    arguments = ["reconcile", "--run", str(files[0]), "--qrels", str(files[1]), *more]
    return CliRunner().invoke(main, arguments, catch_exceptions=False)


def test_what_it_calls_as_here_is_what_measure_says(files):
    metrics = ["P@2", "R@2", "HR@2", "RR", "AP@2", "nDCG@2"]
    here = recbias.measure(*files, [m.replace("nDCG", "nDCG(linear)") for m in metrics])
    for found, value in zip(
        recbias.reconcile(*files, metrics=metrics), here.values["value"], strict=True
    ):
        assert found.value == pytest.approx(value, abs=1e-12)
    (of_tables,) = recbias.reconcile(RUN, QRELS, metrics=["P@2"])
    assert of_tables.values == recbias.reconcile(*files, metrics=["P@2"])[0].values


def test_the_command_explains_prints_and_writes(files, tmp_path):
    theirs = tmp_path / "theirs.csv"
    theirs.write_text("metric,value\nP@2,0.5\nMRR,0.5\nrecall_2,0.6666667\n")
    out = tmp_path / "table.csv"
    answer = called(files, "--theirs", str(theirs), "--out", str(out))
    assert answer.exit_code == 0
    assert "their MRR = 0.5 is: users with judgments but no list left out" in answer.stdout
    table = pd.read_csv(out, keep_default_na=False)
    assert list(table["metric"].unique()) == ["P@2", "MRR", "recall_2"]
    assert table.groupby("metric")["difference"].apply(lambda of: (of == 0).any()).all()

    theirs.write_text("metric,value\nP@2,0.4999\n")
    answer = called(files, "--theirs", str(theirs))
    assert answer.exit_code == 3
    assert "their P@2 = 0.4999 is none of ours" in answer.stdout


def test_values_of_users_are_read_and_explained(files, tmp_path):
    theirs = tmp_path / "theirs.csv"
    theirs.write_text("metric,user,value\nP@2,ann,0.5\nP@2,bob,0.5\n")
    (found,) = recbias.reconcile(*files, theirs)
    ways = [set(departures(way, found.ours)) for way in found.explained]
    assert ways[0] == {("missing", "out")}
    assert found.users_known


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("metric,value\n", "no row"),
        ("metric,mean\nP@2,1\n", "no column value; found: metric, mean"),
        ("metric,value\nP@2,1\nP@2,1\n", "line 3: P@2 is there twice"),
        ("metric,value\nP@2,1\nR@2,high\n", "line 3: value 'high': expected a finite number"),
        ('metric,value\n"P@2,1\n', "no CSV file"),
    ],
)
def test_bad_numbers_are_refused_with_their_line(tmp_path, text, problem):
    file = tmp_path / "theirs.csv"
    file.write_text(text)
    with pytest.raises(DataError, match=problem) as caught:
        read_theirs(file)
    assert "metric,value" in str(caught.value)


def test_other_mistakes_are_answered(files, tmp_path):
    with pytest.raises(MissingData, match="metric and value"):
        read_theirs(tmp_path / "none.csv")
    with pytest.raises(DataError, match="write the ids of users alike"):
        recbias.reconcile({"zoe": {"a": 1}}, QRELS)
    with pytest.raises(DataError, match="twice"):
        recbias.reconcile(pd.DataFrame({"user_id": [1, 1], "item_id": [2, 2], "score": [1, 2]}),
                          {1: {2: 1}})  # fmt: skip
    with pytest.raises(ConfigError, match="finite number"):
        recbias.reconcile(RUN, QRELS, {"P@2": float("nan")})
    answer = called(files, "--metric", "nDCG@")
    assert answer.exit_code == 2 or "nDCG" in answer.stdout
    assert called(files, "--out", str(tmp_path)).exit_code == 2
