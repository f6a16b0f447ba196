"""A name that is typed wrongly is answered by the nearest one, wherever a name is typed."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner

from recbias import Grid, Protocol, System, line_up, load_dataset
from recbias.book.notebooks import check_parameters, find_chapter
from recbias.cli.commands import main
from recbias.data.selection import Selection
from recbias.errors import RecbiasError, did_you_mean, nearest
from recbias.experiment.options import Options
from recbias.experiment.run import run
from recbias.metrics import Metric, parse_metric
from recbias.protocol.splits import SplitRule
from recbias.protocol.testset import TestSet

ROWS = [(f"u{user}", f"i{item}", 1 + (user + item) % 5) for user in range(9) for item in range(9)]
FRAME = pd.DataFrame(ROWS, columns=["user", "item", "rating"])


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand in a folder with a table and scores of another program."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RECBIAS_CELLS", str(tmp_path / "cells"))
    FRAME.to_csv("table.csv", index=False)
    FRAME.rename(columns={"rating": "score"}).to_csv("scores.csv", index=False)


MEASURE = ("measure", "table.csv", "--scores", "a=scores.csv", "--split", "ratio 0.5")
INFO = ("data", "info", "table.csv")
SPLIT = ("data", "split", "table.csv", "--out", "folds")

COMMANDS = [
    (("mesure",), "measure"),
    (("data", "lst"), "list"),
    ((*INFO, "--seprator", ";"), "--separator"),
    ((*INFO, "--duplicates", "lst"), "last"),
    ((*INFO, "--missing", "dropp"), "drop"),
    ((*INFO, "--thousands", "quot"), "quote"),
    ((*INFO, "--separator", "tabb"), "tab"),
    ((*INFO, "--encoding", "utf9"), "utf-8"),
    ((*INFO, "--user", "usr"), "user"),
    ((*INFO, "--rating", "ratng"), "rating"),
    (("data", "info", "tabel.csv"), "table.csv"),
    (("data", "info", "table.cvs"), "table.csv"),
    (("data", "info", "ml1m"), "ml-1m"),
    (("data", "fetch", "m-1ml"), "ml-1m"),
    (("trust", "synthetc"), "synthetic"),
    (("verify", "--dataset", "synthetc"), "synthetic"),
    (("claims", "--dataset", "synthetc"), "synthetic"),
    (("claims", "--explain", "BCC17-C-RTST"), "BCC17-C-RTEST"),
    ((*SPLIT, "--split", "kfold 5"), "k-fold"),
    ((*SPLIT, "--split", "uniform 0.2 esp=0.1"), "eps"),
    ((*SPLIT, "--split", "ready ordr=file"), "order"),
    ((*SPLIT, "--order", "fil"), "file"),
    ((*MEASURE, "--with", "Populrity"), "Popularity"),
    ((*MEASURE, "--metric", "ndgc@10"), "nDCG"),
    ((*MEASURE, "--metric", "precision@10"), "P"),
    ((*MEASURE, "--metric", "Recal@10"), "R"),
    ((*MEASURE, "--metric", "mean_average_precision"), "AP"),
    ((*MEASURE, "--metric", "nDCG(exq)@10"), "exp"),
    ((*MEASURE, "--metric", "nDCG(gian=exp)@10"), "gain"),
    ((*MEASURE, "--metric", "P@10|judgd"), "judged"),
    ((*MEASURE, "--metric", "P@10|tt=100"), "t"),
    ((*MEASURE, "--protocol", "TX-AN-AR rel>=4"), "TI-AN-AR rel>=4"),
    ((*MEASURE, "--protocol", "TI-NA-AR rel=4"), "TI-AN-AR rel>=4"),
    ((*MEASURE, "--protocol", "TI-AN-AR rel>=4 users=testd"), "tested"),
    ((*MEASURE, "--protocol", "TI-AN-AR rel>=4 unscored=rnadom"), "random"),
    ((*MEASURE, "--score", "scor"), "score"),
    (("measure", "table.csv", "--scores", "a=scors.csv"), "scores.csv"),
    (("metrics", "Ginni"), "Gini"),
    (("systems", "UserKMN"), "UserKNN"),
    (("systems", "bcc71"), "bcc17"),
    (("splits", "tempral 0.2"), "temporal"),
    (("protocols", "TI-AN-AR rel>4"), "TI-AN-AR rel>=4"),
]

PYTHON: list[tuple[Callable[[], Any], str]] = [
    (lambda: System("a", "Populrity"), "Popularity"),
    (lambda: System("a", "PLSA", {"n_topic": 3}), "n_topics"),
    (lambda: System("a", "PLSA", {"encoding": "stras"}), "stars"),
    (lambda: System("a", "WeightedMF", {"target": "binry"}), "binary"),
    (lambda: System.from_dict({"nme": "a", "algorithm": "PLSA"}), "name"),
    (lambda: line_up("bcc7"), "bcc17"),
    (lambda: load_dataset("ml1m"), "ml-1m"),
    (lambda: load_dataset("tabel.csv"), "table.csv"),
    (lambda: load_dataset(FRAME, user="usr"), "user"),
    (lambda: load_dataset(FRAME, duplicates="lst"), "last"),  # type: ignore[arg-type]
    (lambda: load_dataset("world(sed=3)"), "seed"),
    (lambda: Protocol.parse("TI-AN-AR rel>=4 condenced"), "TI-AN-AR rel>=4 condensed"),
    (lambda: parse_metric("ndgc@10"), "nDCG"),
    (lambda: Metric("nDCG", 10, gian="exp"), "gain"),
    (lambda: SplitRule("ratoi", 0.2), "ratio"),
    (lambda: Selection.parse("usrs>=5"), "users"),
    (lambda: TestSet.parse("unbiasd"), "unbiased"),
    (lambda: TestSet.parse("observed removd=30%"), "removed"),
    (lambda: Options.parse("splt: ratio 0.2; lists: TI-AN-AR rel>=4; metric: P@1"), "split"),
    (lambda: grid(systems="bcc7"), "bcc17"),
    (lambda: grid(systems="Popularty"), "Popularity"),
    (lambda: grid(protocols={"AR": "TI-AN-AR rel>=4"}, tests={"RA": "unbiased"}), "AR"),
    (lambda: find_chapter("popularty"), "03_popularity_bias"),
    (lambda: check_parameters(find_chapter("03_popularity_bias"), {"cutof": 5}), "cutoff"),
]


def grid(**changes: Any) -> Grid:
    asked = {"dataset": FRAME, "systems": System("Popularity", "Popularity"), "metrics": "P@1",
             "protocols": "TI-AN-AR rel>=4", "split": "ratio 0.5"}  # fmt: skip
    return Grid(**{**asked, **changes})


def suggested(message: str) -> list[str]:
    return re.findall(r"[Dd]id you mean (?:one of: )?'([^']*)'", message)


@pytest.mark.parametrize(("words", "meant"), COMMANDS, ids=lambda value: str(value)[-45:])
def test_a_slip_on_the_command_line_is_answered_by_what_was_meant(
    words: tuple[str, ...], meant: str
) -> None:
    ended = CliRunner().invoke(main, words)
    assert ended.exit_code == 2
    lines = [line for line in ended.stderr.splitlines() if not line.startswith("recbias: read ")]
    assert len(lines) <= 3
    assert suggested("\n".join(lines)) == [meant]
    assert not Path("folds").exists()


@pytest.mark.parametrize(("typed", "meant"), PYTHON, ids=[str(n) for n in range(len(PYTHON))])
def test_a_slip_in_python_is_answered_by_what_was_meant(
    typed: Callable[[], Any], meant: str
) -> None:
    with pytest.raises(RecbiasError) as caught:
        typed()
    assert suggested(str(caught.value)) == [meant]
    assert len(str(caught.value).splitlines()) <= 3


def test_a_value_that_was_not_measured_is_answered_by_one_that_was() -> None:
    results = run(grid())
    for names, meant in (
        (("Popularty", "TI-AN-AR rel>=4", "P@1"), "Popularity"),
        (("Popularity", "TI-NA-AR rel>=4", "P@1"), "TI-AN-AR rel>=4"),
        (("Popularity", "TI-AN-AR rel>=4", "R@1"), "P@1"),
    ):
        with pytest.raises(RecbiasError, match=re.escape(f"did you mean '{meant}'?")):
            results[names]


def test_what_is_like_nothing_gets_the_list_alone() -> None:
    """The twin: where no name is alike, nothing is suggested, and the message is as it was."""
    for words, told in (
        ((*INFO, "--duplicates", "zzz"), "'zzz' is not one of 'error', 'first', 'last', 'mean'.\n"),
        ((*INFO, "--user", "zzz"), "no column 'zzz' for the user\ncolumns found: user, item"),
        (("data", "info", "zzz.csv"), "no file zzz.csv\ngive the path"),
        ((*MEASURE, "--metric", "zzz"), "unknown metric 'zzz'; known: P, R"),
        ((*SPLIT, "--split", "ratio x"), "'x' is no number\nexpected something like 'ratio 0.2'"),
    ):
        message = CliRunner().invoke(main, words).stderr
        assert told in message
        assert suggested(message) == []


def test_a_line_up_and_a_design_are_said_to_be_what_they_are() -> None:
    with pytest.raises(RecbiasError, match=r"name of a line-up\nwrite line_up\('bcc17'\)"):
        grid(systems="bcc17")
    with pytest.raises(RecbiasError, match=r"write 'TI-AN-1R', and the split 'uniform 0.2'"):
        Protocol.parse("U1R rel>=4")
    with pytest.raises(RecbiasError, match=r"expected texts by label, such as {'TI-AN-AR rel>=4'"):
        grid(tests="unbiased")


def test_the_nearest_name_has_the_same_letters_or_most_of_them() -> None:
    assert nearest("nDGC", ["nDCL", "nDCG"]) == "nDCG"
    assert nearest("NDCG", ["nDCL", "nDCG"]) == "nDCG"
    assert nearest("x", ["xy"], cutoff=0.9) is None
    assert nearest("x", ()) is None
    assert did_you_mean("zzz", ["a"], ";") == ";"


def test_a_scheduler_that_is_none_is_refused_before_anything_runs(tmp_path: Path) -> None:
    asked = ["run", "02_sparsity_bias", "--out", str(tmp_path / "page.html"), "--scheduler"]
    (tmp_path / "other.json").write_text("hello")
    for name in ("none.json", "other.json"):
        ended = CliRunner().invoke(main, [*asked, str(tmp_path / name)])
        assert ended.exit_code == 2
        assert f"{name}: no file of a scheduler" in ended.stderr
    assert not list(tmp_path.glob("page*"))
