"""Tables of a reader's own: names that never meet, pages that show no folder, early refusals."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import nbformat
import pytest

from recbias.book import scorecard
from recbias.book.claim_page import claim_html
from recbias.book.notebooks import edition_name, run_chapter
from recbias.book.rerun import check_data, check_out
from recbias.book.site import _check, edition_titles
from recbias.claims import judging
from recbias.claims.answers import answer
from recbias.claims.checks import Check, Checks
from recbias.claims.reading import csv_text
from recbias.claims.writing import build
from recbias.data.datasets import TableOptions, is_path, load_dataset, own_table, registry
from recbias.errors import ConfigError, DataError, MissingData, RecbiasError
from recbias.experiment.results import results_dir
from test_chapters import Kernels, kernels, write_chapter

__all__ = ["kernels"]  # a fixture

ROWS = "".join(f"u{n % 5},i{n % 7},{1 + n % 5}\n" for n in range(35))


def write_table(path: Path, rows: str = ROWS) -> Path:
    """Write a table of 35 ratings with a header."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"user,item,rating\n{rows}")
    return path


def kept_apart(names: Sequence[str]) -> bool:
    """Tell whether names of editions are all different, and none is that of a data set."""
    return len(set(names)) == len(names) and not set(names) & set(registry())


def test_tables_of_one_name_and_one_named_like_a_data_set_never_meet(tmp_path: Path) -> None:
    tables = [
        write_table(tmp_path / "a" / "set.csv"),
        write_table(tmp_path / "b" / "set.csv", ROWS.replace("u1", "u9")),
        write_table(tmp_path / "ml-1m.csv"),
        write_table(tmp_path / "set.csv.gz.csv"),
        write_table(tmp_path / "worse ..%2f<b>.csv"),
    ]
    names = [edition_name(str(table)) for table in tables]
    names.append(edition_name(str(tables[0]), TableOptions(duplicates="last")))
    assert kept_apart(names)
    # By their stems, as it was before, two of them would share a page, and one has that of ml-1m.
    assert not kept_apart([table.stem for table in tables])
    assert not any(map(is_path, names))
    assert all(
        results_dir(str(t), recorded=False).name == n for t, n in zip(tables, names, strict=False)
    )
    moved = write_table(tmp_path / "c" / "set.csv")
    assert edition_name(str(moved)) == names[0], "the same table in another folder"
    titles = edition_titles({name: str(table) for name, table in zip(names, tables, strict=False)})
    assert list(titles.values()) == [
        "a/set.csv", "b/set.csv", "ml-1m.csv", "set.csv.gz.csv", "worse ..%2f<b>.csv",
    ]  # fmt: skip


def test_a_table_is_found_by_what_pages_call_it_and_read_as_was_said(tmp_path: Path) -> None:
    table = write_table(tmp_path / "set.csv", ROWS + "u0,i0,5\n")
    with pytest.raises(DataError, match=r"u0"):
        load_dataset(table)
    own = own_table(table, TableOptions(duplicates="last"))
    with own.handed_on() as called:
        assert called == "set.csv"
        loaded = load_dataset("set.csv")
        assert (len(loaded.ratings), loaded.name, loaded.title) == (35, own.name, "set.csv")
    with pytest.raises(MissingData, match=r"no file set\.csv"):
        load_dataset("set.csv")
    bare = tmp_path / "ratings"
    table.rename(bare)
    with own_table(bare).handed_on() as called:
        assert called == "./ratings"
        assert is_path(called)


def test_of_two_tables_the_outer_one_comes_back_and_what_is_said_last_counts(
    tmp_path: Path,
) -> None:
    table, other = write_table(tmp_path / "set.csv"), write_table(tmp_path / "other.csv")
    with own_table(table, TableOptions(duplicates="last")).handed_on() as called:
        assert own_table(called).options.duplicates == "last"
        assert own_table(called, TableOptions(duplicates="mean")).options.duplicates == "mean"
        with own_table(other).handed_on() as inner:
            assert own_table(inner).path == other
        assert own_table(called).path == table


def test_a_table_is_found_from_where_a_kernel_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = write_table(tmp_path / "set.csv")
    (tmp_path / "clone").mkdir()
    monkeypatch.chdir(tmp_path)
    with own_table("set.csv").handed_on() as called:
        monkeypatch.chdir(tmp_path / "clone")
        assert own_table(called).path == table
        assert len(load_dataset(called).ratings) == 35


def test_a_table_that_changed_has_another_name_at_once(tmp_path: Path) -> None:
    """Also with as many bytes as before."""
    table = write_table(tmp_path / "set.csv")
    before, status = own_table(table).name, table.stat()
    write_table(table, ROWS.replace("u1", "u9"))
    os.utime(table, ns=(status.st_atime_ns, status.st_mtime_ns + 1000))
    assert table.stat().st_size == status.st_size
    assert own_table(table).name != before


def test_the_page_of_a_table_shows_no_folder(tmp_path: Path, kernels: Kernels) -> None:
    chapter = write_chapter(tmp_path / "clone", "1")
    table = write_table(tmp_path / "secret place" / 'it"s <b>.csv')
    run = run_chapter(chapter, str(table), options=TableOptions(duplicates="last"))
    assert "secret place" not in run.read_text()
    source = nbformat.read(run, as_version=4).cells[1].source
    assert source.startswith('dataset: str = "it\\"s <b>.csv"\n')
    handed = json.loads(kernels.environment[0]["RECBIAS_TABLE"])
    assert handed["options"] == {"duplicates": "last"}
    run_chapter(chapter, str(table))
    assert len(kernels.parameters) == 2, "read otherwise, it is another edition"


@pytest.mark.parametrize(
    ("rows", "asked", "options", "message"),
    [
        ("u,i,x\n", {}, None, "set.csv:2: .*'x'"),
        ("", {}, None, "no ratings"),
        (ROWS, {"min_rating": "99"}, None, "no rating of set.csv is above 5.0"),
        (ROWS, {"split": "k-fld 5"}, None, "did you mean 'k-fold'"),
        (ROWS, {"split": "temporal 0.2"}, None, "time"),
        (ROWS, {}, TableOptions(user="who"), "no column 'who'"),
        (ROWS + "u0,i0,5\n", {}, None, "u0"),
    ],
)
def test_what_cannot_be_computed_is_refused_before_a_kernel_starts_and_leaves_nothing(
    tmp_path: Path,
    kernels: Kernels,
    rows: str,
    asked: dict[str, object],
    options: TableOptions | None,
    message: str,
) -> None:
    chapter = write_chapter(tmp_path / "clone", "1")
    text = chapter.source.read_text().replace(
        "n_sampled:", 'min_rating: float | None = None\nsplit: str = "k-fold 5"\nn_sampled:'
    )
    chapter.source.write_text(text)
    table = write_table(tmp_path / "set.csv", rows)
    with pytest.raises(RecbiasError, match=message) as caught:
        run_chapter(chapter, str(table), asked, options=options)
    assert getattr(caught.value, "exit_code", 2) == 2
    assert not kernels.parameters
    assert not (tmp_path / "clone" / "_build").exists()
    with pytest.raises(RecbiasError, match=message):
        _check([chapter], [str(table)], asked, options)
    run_chapter(chapter, str(write_table(table)), {"min_rating": "5"})
    assert len(kernels.parameters) == 1, "the same, where nothing is wrong with it"


def test_what_a_page_asks_by_default_is_held_against_the_data_too(tmp_path: Path) -> None:
    table = str(write_table(tmp_path / "set.csv"))
    check_data({"dataset": table}, {"split": "k-fold 5", "seed": 1})
    with pytest.raises(RecbiasError, match="time"):
        check_data({"dataset": table}, {"split": "temporal 0.2", "seed": 1})
    check_data({"dataset": "ml-100k", "min_rating": 5.0}, {"min_rating": None})
    with pytest.raises(ConfigError, match="no rating of ml-100k is above 5"):
        check_data({"dataset": "ml-100k", "min_rating": 6.0}, {"min_rating": None})


def test_parameters_of_a_site_change_the_chapters_that_have_them(
    tmp_path: Path, kernels: Kernels
) -> None:
    chapter = write_chapter(tmp_path, "1")
    table = str(write_table(tmp_path / "set.csv"))
    _check([chapter], [table], {"n_sampled": "7"}, None)
    with pytest.raises(ConfigError, match="did you mean 'n_sampled'"):
        _check([chapter], [table], {"n_sample": "7"}, None)
    with pytest.raises(ConfigError, match="ml-1m has recorded results"):
        _check([chapter], ["ml-1m"], {"n_sampled": "7"}, None)
    run = run_chapter(chapter, table, shared={"n_sampled": "7", "another": "8"})
    assert kernels.parameters == [{"dataset": "set.csv", "n_sampled": 7}]
    name = edition_name(table, params={"n_sampled": "7", "another": "8"})
    assert run.parent == tmp_path / "_build" / "reruns" / name
    assert kernels.environment[0]["RECBIAS_RESULTS"] == str(run.parent / "results")


@pytest.mark.parametrize(
    ("out", "message"),
    [
        (".", r"is a folder\nname a file in it"),
        ("page.pdf", "ends in .html or .ipynb"),
        ("page", "ends in .html or .ipynb"),
        ("table.csv/page.html", "table.csv is a file"),
    ],
)
def test_where_no_page_can_go_is_told_before_the_run(
    tmp_path: Path, out: str, message: str
) -> None:
    write_table(tmp_path / "table.csv")
    with pytest.raises(ConfigError, match=message):
        check_out(tmp_path / out)
    check_out(tmp_path / "new" / "folder" / "page.html")
    assert not (tmp_path / "new").exists()


def test_a_folder_that_cannot_be_written_is_told_before_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(os, "access", lambda path, _: asked.append(str(path)))
    with pytest.raises(ConfigError, match="nothing can be written in"):
        check_out(tmp_path / "new" / "page.html")
    assert asked == [str(tmp_path)]


def test_the_scorecard_calls_a_table_by_its_file_and_escapes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECBIAS_RESULTS", str(tmp_path / "results"))
    table = write_table(tmp_path / "far" / "<b>mine.csv")
    with own_table(table).handed_on() as called:
        judged = {called: judging.scorecard(called)}
        document = build(judged)
        for claim, verdict in zip(document["claims"], judged[called], strict=True):
            claim["answers"] = answer({called: verdict}).to_dict()
        page = scorecard.rows_html(document) + scorecard.all_totals_html(document)
        page += "".join(claim_html(claim, document) for claim in document["claims"])
        assert csv_text(document).splitlines()[1].startswith("<b>mine.csv,")
    assert "&lt;b&gt;mine.csv" in page
    assert "<b>mine" not in page
    assert str(tmp_path) not in page


def test_what_a_small_table_does_not_give_is_stored_and_read() -> None:
    context = {"key": "k", "dataset": {}, "maker_name": "x", "given": {}}
    worst = (0.5, float("nan"), float("inf"))
    rows = [Check("BCC17-L1", f"n{n}", "a bound", 1, each) for n, each in enumerate(worst)]
    made = Checks.of((rows, {"found": 2.0, "lost": float("nan")}), **context)
    body = json.loads(json.dumps(made.body(), allow_nan=False))
    context = {"key": "k", "dataset": {}}
    read = Checks.restore({"maker": "x", "given": {}}, body, {}, **context)
    assert str([check.worst for check in read.rows]) == "[0.5, nan, inf]"
    assert read.statistics == {"found": 2.0}


def recbias(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run the command line as a person would, from another folder."""
    command = [sys.executable, "-c", "from recbias.cli.commands import main; main()", *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_commands_from_another_folder_refuse_and_explain(tmp_path: Path) -> None:
    table = write_table(tmp_path / "my ratings.csv")
    for arguments, said in (
        (["run", "systems", "--dataset", table.name, "--min-rating", "99"], "is above 5.0"),
        (["book", table.name, "--item", "thing"], "no column 'thing'"),
        (["run", "systems", "--dataset", table.name, "--out", "."], "is a folder"),
    ):
        done = recbias(*arguments, cwd=tmp_path)
        assert done.returncode == 2
        assert said in done.stderr
        assert "Traceback" not in done.stderr
    done = recbias("claims", "--dataset", table.name, cwd=tmp_path)
    assert done.returncode == 0
    assert "its chapter was not run on this dataset" in done.stdout
    assert os.listdir(tmp_path) == [table.name]
