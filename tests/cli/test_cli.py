"""The command line: messages without traceback, exit codes, nothing written."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner, Result

from recbias.book.notebooks import BuildError, find_chapter
from recbias.claims import claims as book_claims
from recbias.cli.commands import main
from recbias.cli.table_options import read_parameters
from recbias.data.datasets import load_dataset
from recbias.data.ratings import Ratings
from recbias.data.selection import Selection
from recbias.errors import ConfigError, DataWarning
from recbias.protocol.leakage import leakage
from recbias.protocol.testset import dataset_splits


def call(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


@pytest.fixture(autouse=True)
def no_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Look for data sets in an empty folder, whatever this machine has."""
    monkeypatch.setenv("RECBIAS_DATA", str(tmp_path))
    for module in ("_system.places", "book.notebooks"):
        monkeypatch.setattr(f"recbias.{module}.clone_root", lambda: None)
    # All that keep what they read: nothing there would be kept for the tests that follow.
    readers = (*(f"claims.{name}" for name in ("ledger", "records", "lock", "reference")),)
    for module in ("_system.places", "book.findings", *readers):
        monkeypatch.setattr(
            f"recbias.{module}.packaged", lambda name: Path(__file__).parents[2] / "data" / name
        )


def test_data_list_says_what_is_here(tmp_path: Path) -> None:
    (tmp_path / "ml-100k").mkdir()
    (tmp_path / "ml-100k/u.data").touch()
    lines = call("data", "list").output.splitlines()
    states = {line.split()[0]: line[17:27].strip() for line in lines}
    assert states["ml-100k"] == "present"
    assert states["ml-1m"] == "fetchable"
    assert states["netflix"] == "by hand"
    assert states["synthetic"] == "made here"


def test_data_dir_comes_before_the_environment(tmp_path: Path) -> None:
    other = tmp_path / "other"
    (other / "coat").mkdir(parents=True)
    (other / "coat/train.ascii").touch()
    output = call("data", "info", "coat", "--data-dir", str(other)).output
    assert "state      partial" in output
    assert f"searched   {other}, {tmp_path}" in output


def test_data_info_of_absent_data_says_how_to_get_them_and_what_they_test() -> None:
    result = call("data", "info", "yahoo-r3")
    assert result.exit_code == 0
    for part in (
        *("state      by hand", "missing    it cannot be fetched: sign the agreement"),
        *("you may    What your agreement says", "cannot     no timestamps"),
        "can test   chapter 1, design alternatives: 23 of 24 claims; not 1, about other data",
    ):
        assert part in result.output


def test_data_info_of_a_data_set_without_files() -> None:
    output = call("data", "info", "synthetic").output
    assert "size       943 users, 1,682 items, 99,958 ratings, density 6.3 %" in output
    assert "agreement  popularity and relevance agree" in output
    assert "made here" in output
    assert "searched" not in output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["data", "info", "ml1m"], "recbias: unknown dataset 'ml1m': did you mean 'ml-1m'?"),
        (["run", "01_x", "--dataset", "synthetic"], "recbias: chapters and the book need a clone"),
        (["book"], "recbias: chapters and the book need a clone"),
    ],
)
def test_errors_are_messages(arguments: list[str], message: str) -> None:
    result = call(*arguments)
    assert result.exit_code == 2
    assert result.stderr.startswith(message)
    assert "Traceback" not in result.output
    assert len(result.stderr.splitlines()) <= 3


def test_the_exit_code_is_the_error_s(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise BuildError("a chapter stopped")

    monkeypatch.setattr("recbias.book.site.build_site", fail)
    result = call("book")
    assert (result.exit_code, result.stderr) == (1, "recbias: a chapter stopped\n")


def test_debug_shows_where() -> None:
    result = call("--debug", "data", "info", "ml1m")
    assert isinstance(result.exception, ConfigError)


# ---------------------------------------------------------------------------- tables and splits


def odd_table(folder: Path) -> Path:
    """Write a table with odd names, half stars, ids that are text, and times in milliseconds."""
    rows = [
        f"anna{user};{1_500_000_000_000 + 1000 * (user + 7 * item)};böok {item};"
        f"{((user + 2 * item) % 10 + 1) / 2}"
        for user in range(6)
        for item in range(9)
        if (user + item) % 3
    ]
    path = folder / "odd.csv.gz"
    path.write_bytes(gzip.compress("\r\n".join(["who;moment;what;liking", *rows]).encode()))
    return path


NAMED = ("--user", "who", "--item", "what", "--rating", "liking", "--timestamp", "moment")


def test_data_info_of_a_table_says_what_was_understood(tmp_path: Path) -> None:
    path = odd_table(tmp_path)
    refused = call("data", "info", str(path))
    assert refused.exit_code == 2
    assert f"recbias data info {path} --user NAME --item NAME --keep" in refused.stderr
    result = call("data", "info", str(path), *NAMED)
    assert result.exit_code == 0
    assert result.stderr == (
        f"recbias: warning: {path}: times in column 'moment' are read as milliseconds: "
        "2017-07-14 to 2017-07-14\n"
    )
    lines = result.stdout.splitlines()
    assert lines[0] == "name       odd.csv.gz"
    assert lines[2:6] == [
        "read as    text packed by gzip separated by ';', with a header",
        "read as    user 'who', item 'what', rating 'liking', timestamp 'moment'",
        "read as    ratings 0.5 to 5 in steps of 0.5 (inferred)",
        "read as    each pair once",
    ]
    assert lines[6] == "size       6 users, 9 items, 36 ratings, density 66.7 %"
    assert (
        "cannot     no unbiased part: Which ratings are missing depends on what they would be."
        in lines
    )


def test_kept_options_serve_every_command(tmp_path: Path) -> None:
    path = odd_table(tmp_path)
    scale = ("--rating-scale", "0.5", "5.5", "0.5")
    assert call("data", "info", str(path), *NAMED, *scale, "--keep").exit_code == 0
    again = call("data", "info", str(path), "--duplicates", "last", "--keep")
    assert "read as    ratings 0.5 to 5.5 in steps of 0.5 (declared)" in again.stdout
    with pytest.warns(DataWarning, match="milliseconds"):
        assert load_dataset(path).ratings.scale.maximum == 5.5


def test_options_are_not_kept_for_a_named_data_set() -> None:
    result = call("data", "info", "synthetic", "--keep")
    assert (result.exit_code, result.stderr) == (
        2,
        "recbias: --keep: synthetic is read as published; give the path of a table\n",
    )


def test_many_and_long_columns_are_named_in_a_line(tmp_path: Path) -> None:
    path = tmp_path / "broad.csv"
    names = ["user", "item", "rating", "x" * 70_000, *(f"c{n}" for n in range(30))]
    row = ",".join("1" for _ in names)
    path.write_text(f"{','.join(names)}\n{row}\n")
    output = call("data", "info", str(path)).output
    (line,) = (each for each in output.splitlines() if "columns not read" in each)
    assert f"columns not read: {'x' * 37}..., c0, c1," in line
    assert line.endswith("c18 and 11 more")


def test_what_may_be_ratings_under_another_name_is_offered(tmp_path: Path) -> None:
    path = tmp_path / "plays.csv"
    path.write_text("user,item,plays\n" + "".join(f"u{n % 4},i{n},{n}\n" for n in range(1, 20)))
    offered = "columns not read: plays; --rating NAME takes one of them as the rating\n"
    assert offered in call("data", "info", str(path)).output
    taken = call("data", "info", str(path), "--rating", "plays").output
    assert "rating 'plays'" in taken
    assert "not read" not in taken


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["run", "01", "--foo"], "No such option '--foo'"),
        (["data", "info"], "Missing argument 'NAME|FILE'"),
        (["nope"], "No such command 'nope'"),
        (["run", "01_design_alternatives"], "Missing option '--dataset'"),
        (["trust", "synthetic", "--worlds", "3"], "Invalid value for '--worlds'"),
    ],
)
def test_a_command_typed_wrongly_takes_two_lines(words: list[str], told: str) -> None:
    ended = call(*words)
    assert ended.exit_code == 2
    assert ended.stdout == ""
    first, second = ended.stderr.splitlines()
    assert first.startswith(f"recbias: {told}")
    assert second.startswith("see: ")
    assert second.endswith(" --help")


def test_a_table_without_ratings_cannot_test_what_needs_dislikes(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text("Listener\tSong\n" + "".join(f"u{n % 4}\ts{n}\n" for n in range(20)))
    output = call("data", "info", str(path)).output
    assert "read as    implicit feedback: there is no rating column" in output
    assert "relevance  every observed pair counts as relevant" in output
    told = "can test   chapter 1, design alternatives: 22 of 24 claims; not 1, for lack of dislikes"
    assert f"{told} ('no negatives'); not 1, about other data ('dataset not here')\n" in output
    named = call("data", "info", str(path), "--claims").output
    assert f"{told} ('no negatives'): BCC17-C-RTEST; not 1" in named
    assert "BCC17" not in output


def test_the_lines_on_chapters_add_up_to_the_claims_of_the_book() -> None:
    lines = [
        line for line in call("data", "info", "yahoo-r3").output.splitlines()
        if line.startswith("can test")
    ]  # fmt: skip
    assert len(lines) == 7
    counted = 0
    for line in lines:
        can, of = map(int, re.findall(r"(\d+) of (\d+) claims", line)[0])
        assert can + sum(map(int, re.findall(r"not (\d+), ", line))) == of
        counted += of + sum(map(int, re.findall(r"(\d+) more in simulated", line)))
    assert counted == sum(bool(claim.asserts) for claim in book_claims())
    apart = [int(n) for n in re.findall(r"apart, (\d+) with no assertion", "\n".join(lines))]
    assert counted + sum(apart) == len(book_claims())
    named = call("data", "info", "yahoo-r3", "--claims").output
    assert "apart, 1 with no assertion of a paper: ATM15-C-POP" in named


def test_every_command_says_how_a_table_was_read(tmp_path: Path) -> None:
    """Zeros, rows left out, columns that are not read: as `data info` says, where warnings go."""
    path = tmp_path / "t.csv"
    cells = [f"{u},{i},{(u * i) % 6},x" for u in range(9) for i in range(9)]
    path.write_text("\n".join(["user,item,rating,note", *cells, "0,1,5,x", "3,3,,x"]) + "\n")
    told = ("--duplicates", "last", "--missing", "drop")
    info = call("data", "info", str(path), *told)
    lines = [line.removeprefix("read as    ") for line in info.stdout.splitlines()
             if line.startswith("read as")]  # fmt: skip
    zeros = 100 * sum(cell.split(",")[2] == "0" for cell in cells if cell[:4] != "0,1,") / 81
    assert f"0, which {zeros:.3g} % have, is read as the lowest rating, not as none" in info.stdout
    assert {"columns not read: note", "the last row of a pair counts (1 rows left out)"} < {*lines}
    assert any("missing" in line for line in lines)
    out = tmp_path / "folds"
    split = call("data", "split", str(path), *told, "--out", str(out))
    for fold in out.glob("fold-*"):
        pairs = pd.read_csv(fold / "test.csv")[["user_id", "item_id"]].drop_duplicates()
        pairs.assign(score=pairs.index).to_csv(fold / "scores.csv", index=False)
    measured = call("measure", str(path), *told, "--scores", f"x={out}")
    claimed = call("claims", "--dataset", str(path), *told)
    for done in (split, measured, claimed):
        assert f"recbias: read {path}: {'; '.join(lines)}\n" in done.stderr
        assert "recbias: read" not in done.stdout


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("1", "01_design_alternatives"),
        ("03", "03_popularity_bias"),
        ("chapter 7", "07_offline_options"),
        ("popularity", "03_popularity_bias"),
        ("offline", "07_offline_options"),
        ("Systems", "systems"),
        ("o3_popularity_bias", "03_popularity_bias"),
    ],
)
def test_a_chapter_that_is_meant_is_named_and_found_by_that_name(typed: str, meant: str) -> None:
    root = Path(__file__).parents[2]
    with pytest.raises(ConfigError, match="did you mean") as refused:
        find_chapter(typed, root)
    (name,) = re.findall(r"did you mean '(.*)'\?", str(refused.value))
    assert name == meant
    assert find_chapter(name, root).name == meant


def test_the_split_that_an_error_advises_is_an_option_of_every_command_that_splits(
    tmp_path: Path,
) -> None:
    """Who has one rating cannot give one away; what is advised instead is taken literally."""
    path = tmp_path / "t.csv"
    cells = [f"{u},{i},{1 + (u + i) % 5}\n" for u in range(12) for i in range(9 if u else 1)]
    path.write_text(f"user,item,rating\n{''.join(cells)}")
    out = str(tmp_path / "folds")
    refused = call("data", "split", str(path), "--split", "leave-out 1", "--out", out)
    (advice,) = re.findall(r"--split '(.*)'", refused.stderr)
    assert call("data", "split", str(path), "--split", advice, "--out", out).exit_code == 0
    for command in ("run", "book", "measure"):
        assert "--split" in call(command, "--help").output
    assert read_parameters([], None, advice) == {"split": advice}
    with pytest.raises(ConfigError, match="split is given twice"):
        read_parameters([("split", "k-fold 2")], None, advice)


def triples(ratings: Ratings) -> set[tuple[int, int, float]]:
    users, items = ratings.user_ids[ratings.user], ratings.item_ids[ratings.item]
    return set(zip(users.tolist(), items.tolist(), ratings.value.tolist(), strict=True))


def test_splits_are_those_of_the_experiments(tmp_path: Path) -> None:
    out = tmp_path / "splits"
    result = call(
        "data", "split", "synthetic", "--split", "k-fold 3", "--seed", "4", "--out", str(out)
    )
    assert result.exit_code == 0
    dataset = load_dataset("synthetic")
    for split in dataset_splits(dataset, "k-fold 3", seed=4):
        fold = out / f"fold-{split.fold + 1}"
        for part, ratings in (("train", split.train), ("test", split.test)):
            read = load_dataset(fold / f"{part}.csv", scale=ratings.scale).ratings
            assert len(read) == len(ratings)
            assert triples(read) == triples(ratings)
    record = json.loads((out / "split.json").read_text())
    assert (record["rule"], record["seed"]) == ("k-fold 3", 4)
    assert record["content_hash"] == dataset.ratings.content_hash


@pytest.fixture(name="timed")
def a_table_with_times(tmp_path: Path) -> str:
    path = tmp_path / "timed.csv"
    rows = [
        f"{user},{item},{1 + (user + item) % 5},{1041379200 + 86400 * (7 * item + user)}\n"
        for user in range(12)
        for item in range(3 if user == 5 else 9)
    ]
    path.write_text(f"user,item,rating,time\n{''.join(rows)}")
    return str(path)


@pytest.mark.parametrize("rule", ["temporal-at 2003-02-01", "leave-last 2", "rolling 2 0.2"])
def test_splits_of_a_selection_are_those_of_the_experiments(
    rule: str, timed: str, tmp_path: Path
) -> None:
    out = tmp_path / "splits"
    ended = call("data", "split", timed, "--split", rule, "--select", "core=5", "--out", str(out))
    assert ended.exit_code == 0
    selected = Selection.parse("core=5").of(load_dataset(timed), seed=1)
    splits = dataset_splits(selected, rule, seed=1)
    assert not splits[0].train.user_counts()[5]
    assert len(selected.ratings) == 11 * 9
    for split in splits:
        for part, ratings in (("train", split.train), ("test", split.test)):
            path = out / f"fold-{split.fold + 1}" / f"{part}.csv"
            assert triples(load_dataset(path, scale=ratings.scale).ratings) == triples(ratings)
    record = json.loads((out / "split.json").read_text())
    assert (record["rule"], record["select"]) == (rule, "users>=5 items>=5")


def test_scores_of_a_selection_are_measured_on_it(timed: str, tmp_path: Path) -> None:
    folder = tmp_path / "splits"
    arguments = ("--split", "leave-last 2", "--select", "core=5")
    assert call("data", "split", timed, *arguments, "--out", str(folder)).exit_code == 0
    pd.DataFrame(
        [(user, item, (item * 5 + user) % 9) for user in range(12) for item in range(9)],
        columns=["user_id", "item_id", "score"],
    ).to_csv(folder / "fold-1" / "scores.csv", index=False)

    def measured(*options: str) -> pd.DataFrame:
        ended = call("measure", timed, "--scores", str(folder), "--protocol",
                     "AI-AN-AR rel>=3 users=trained", "--metric", "P@1", *options,
                     "--out", str(tmp_path / "values.csv"))  # fmt: skip
        assert ended.exit_code == 0, ended.stderr
        return pd.read_csv(tmp_path / "values.csv")

    selected = Selection.parse("core=5").of(load_dataset(timed), seed=1)
    (split,) = dataset_splits(selected, "leave-last 2", seed=1)
    users = split.train.user_ids[split.test.user].tolist()
    items = split.train.item_ids[split.test.item].tolist()
    liked = {
        (int(user), int(item))
        for user, item, stars in zip(users, items, split.test.value.tolist(), strict=True)
        if stars >= 3
    }
    hits = [
        (user, max((7, 8), key=lambda item, user=user: (item * 5 + user) % 9)) in liked
        for user in range(12)
        if user != 5
    ]
    for options in ((), ("--select", "users>=5 items>=5")):  # that of the folds, or said again
        (row,) = measured(*options).to_dict("records")
        assert row["value"] == pytest.approx(sum(hits) / 11)
        assert row["n_users"] == 11
    refused = call("measure", timed, "--scores", str(folder), "--select", "")
    assert refused.exit_code == 2  # all ratings are another split than the folds


@pytest.mark.parametrize(
    ("select", "message"),
    [
        ("core=50", "no rating of timed is left"),
        ("cor=5", "unknown step of a selection 'cor': did you mean 'core'?"),
        ("core>=5", "cannot read selection 'core>=5'"),
    ],
)
def test_a_selection_that_cannot_be_made_writes_nothing(
    select: str, message: str, timed: str, tmp_path: Path
) -> None:
    out = tmp_path / "splits"
    ended = call("data", "split", timed, "--select", select, "--out", str(out))
    assert (ended.exit_code, out.exists()) == (2, False)
    assert message in ended.stderr


def test_info_says_how_much_of_the_future_models_see(timed: str, tmp_path: Path) -> None:
    asked = ("--split", "temporal-at 2003-02-01", "--split", "ratio 0.5")
    ended = call("data", "info", timed, *asked)
    assert ended.exit_code == 0
    _, *lines = (line[11:] for line in ended.stdout.splitlines() if line.startswith("leak "))
    said = dict(line.split(": ", 1) for line in lines)
    assert list(said) == [
        *("ratio 0.2, k-fold 5", "leave-out 1", "uniform 0.2", "temporal-user 0.2"),
        *("leave-last 1", "temporal 0.2", "rolling 3 0.1", "temporal-at 2003-02-01", "ratio 0.5"),
    ]
    for rule in ("temporal 0.2", "rolling 3 0.1", "temporal-at 2003-02-01"):
        assert said[rule].startswith("no test rating is older than a training rating")
    dataset = load_dataset(timed)
    for rule in ("leave-last 1", "uniform 0.2"):
        assert said[rule] == str(leakage(dataset_splits(dataset, rule, seed=1)))
    assert " 0 % than one of the same user" in said["leave-last 1"]
    short = tmp_path / "short.csv"
    short.write_text("user,item,rating,time\n1,1,5,1\n1,2,4,2\n2,1,3,3\n")
    rows = call("data", "info", str(short)).stdout
    assert "leave-last 1 of users>=2: no test rating is older" in rows
    short.write_text("user,item,rating,time\n1,1,5,1\n1,2,4,1\n2,1,3,1\n")
    rows = call("data", "info", str(short)).stdout
    assert "temporal 0.2: not possible here, fold 0 has no training rating" in rows


def test_info_without_times_says_that_it_cannot_be_told(timed: str) -> None:
    ended = call("data", "info", timed, "--timestamp", "none")
    (line,) = (line for line in ended.stdout.splitlines() if line.startswith("leak "))
    assert "without times it cannot be told" in line
    for rule, message in (
        ("temporal-at 2013-01-01", "no rating is as new as that"),
        ("rolin 3 0.1", "did you mean 'rolling'"),
        ("ready", "came without folds"),
    ):
        ended = call("data", "info", timed, "--split", rule)
        assert (ended.exit_code, ended.stdout) == (2, "")
        assert message in ended.stderr


def test_info_is_about_what_is_selected(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    lines = [f"{u},{i},{1 + (u + i) % 5},{u * i}" for u in range(9) for i in range(u + 1)]
    table.write_text("user,item,rating,time\n" + "\n".join(lines) + "\n")
    selected = call("data", "info", str(table), "--select", "users>=5").stdout
    assert "users>=5; all below is about these ratings" in selected
    assert "35 ratings" in selected  # of those with five to nine
    assert "45 ratings" in call("data", "info", str(table)).stdout
    refused = call("data", "info", str(table), "--select", "users>=50")
    assert (refused.exit_code, refused.stdout) == (2, "")


def test_splits_are_written_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "splits"
    table = tmp_path / "t.csv"
    table.write_text("user,item,rating\n" + "".join(f"{n % 5},{n},{n % 4}\n" for n in range(40)))
    arguments = ("data", "split", str(table), "--split", "ratio 0.5", "--out", str(out))

    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device", str(out))

    with monkeypatch.context() as patched:
        patched.setattr("pandas.DataFrame.to_csv", fail)
        full = call(*arguments)
    assert full.exit_code == 2
    assert "No space left on device" in full.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.csv"]
    assert call(*arguments).exit_code == 0
    before = sorted(out.rglob("*"))
    again = call(*arguments)
    assert again.exit_code == 2
    assert again.stderr == (
        f"recbias: {out} is there already\nname a new folder, or remove it first\n"
    )
    assert sorted(out.rglob("*")) == before


@pytest.mark.parametrize(
    ("text", "rule", "message"),
    [
        ("user,item,rating\n1,1,5\n", "k-fold 5", "split 'k-fold 5' of 1 ratings: fold 0 has no"),
        ("user,item,rating\n1,1,5\n1,2,4\n", "temporal 0.2", "has no timestamps"),
        ("user,item,rating\n1,1,5\n1,2,4\n", "ready", "came without folds"),
        ("user,item,rating\n1,1,5\n1,2,4\n", "kfold 5", "unknown split rule 'kfold'"),
    ],
)
def test_a_split_that_cannot_be_made_names_the_step(
    text: str, rule: str, message: str, tmp_path: Path
) -> None:
    table = tmp_path / "t.csv"
    table.write_text(text)
    out = tmp_path / "out"
    result = call("data", "split", str(table), "--split", rule, "--out", str(out))
    assert result.exit_code == 2
    assert message in result.stderr
    assert not out.exists()


def test_verify_lists_every_result_and_ends_with_1_if_one_differs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    row = {"recorded": "01_x/systems", "about": "", "values": 9, "difference": 1e-12,
           "of bound": 0.001, "agrees": True, "differing": ()}  # fmt: skip
    apart = {**row, "about": "ALS (why)", "values": 3}
    left_out = {**row, "recorded": "01_x/all", "about": "not compared", "values": 0}
    checks = {**row, "recorded": "01_x/checks", "agrees": False, "differing": tuple("abcdefg")}
    for rows, code in (([row, apart, left_out], 0), ([row, apart, left_out, checks], 1)):
        found = pd.DataFrame(rows)
        monkeypatch.setattr("recbias.experiment.verification.check_foundations", dict)
        monkeypatch.setattr(
            "recbias.experiment.verification.verify", lambda *_, found=found, **__: found
        )
        result = call("verify", "--dataset", "synthetic")
        assert result.exit_code == code
        lines = result.stdout.splitlines()
        assert lines[:2] == [
            f"synthetic: {title}, largest difference 1e-12 (0.001 of the bound): agrees"
            for title in ("01_x/systems: 9 values", "01_x/systems: ALS (why): 3 values")
        ]
        assert lines[2] == "synthetic: 01_x/all: not compared"
        ends = [line.endswith("DIFFERS a; b; c; d; e; and 2 more") for line in lines[3:-1]]
        assert ends == [True] * code
        told = f"{3 + code} comparisons of {12 + 9 * code} values: 2 agree, {code} differ"
        assert lines[-1] == f"{told}, 1 not held"


def test_a_chapter_to_verify_is_of_a_data_set(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []

    def record(name: str, *, chapter: str | None, **_: object) -> pd.DataFrame:
        asked.append((name, chapter))
        return pd.DataFrame()

    monkeypatch.setattr("recbias.experiment.verification.verify", record)
    monkeypatch.setattr("recbias.experiment.verification.check_foundations", dict)
    for options in ((), ("--dataset", "synthetic", "--sample", "abc")):
        result = call("verify", "--chapter", "audits", *options)
        assert result.exit_code != 0
        assert "give --dataset with it, and no --sample" in result.output
    assert asked == []
    assert call("verify", "--chapter", "audits", "--dataset", "synthetic").exit_code == 0
    assert asked == [("synthetic", "audits")]


@pytest.mark.parametrize(
    ("options", "made"),
    [
        ((), ["synthetic", "simulations"]),
        (("--systems", "2"), ["synthetic"]),
        (("--systems", "2", "--dataset", "simulations"), ["simulations"]),
    ],
)
def test_a_sample_leaves_simulations_out_unless_they_are_named(
    options: tuple[str, ...], made: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def record(name: str, **_: object) -> pd.DataFrame:
        asked.append(name)
        return pd.DataFrame()

    listed = ["synthetic", "simulations"]
    monkeypatch.setattr("recbias.experiment.verification.listed_datasets", lambda: listed)
    monkeypatch.setattr("recbias.experiment.verification.check_recorded", lambda name: {})
    monkeypatch.setattr("recbias.experiment.verification.check_foundations", dict)
    monkeypatch.setattr("recbias.experiment.verification.verify", record)
    result = call("verify", *options)
    assert result.exit_code == 0
    assert asked == made
    left_out = "simulations: not verified, simulations are made anew without --systems"
    assert (left_out in result.stdout) == ("simulations" not in made)
