"""Scores and lists that were computed elsewhere: the same numbers as the class that made them."""

from __future__ import annotations

import json
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import golden
from recbias import Grid, load_dataset, run
from recbias.cli.commands import main
from recbias.errors import (
    ConfigError,
    ContractError,
    DataError,
    DataWarning,
    MissingData,
    RecbiasError,
)
from recbias.metrics import measure, parse_metric
from recbias.protocol.protocol import Protocol
from recbias.protocol.testset import dataset_splits
from recbias.ranking import RankTable, rank, top_items
from recbias.recommenders import FromScores, System, algorithms, as_system, base

AI, TI, SAMPLED = "AI-AN-AR rel>=4", "TI-AN-AR rel>=4", "TI-NN-1R t=20 rel>=4"
METRICS = ("P@10", "nDCG@10", "R@5")


class Tastes:
    """Scores without ties that no other pair has, and none for every seventh item."""

    deterministic = True

    def fit(self, train, *, rng=None):
        self.scores = np.random.default_rng(7).random((train.n_users, train.n_items))
        self.scores += 0.02 * train.item_counts()
        self.scores[:, ::7] = np.nan
        return self

    def score(self, users):
        return self.scores[users].astype(np.float32)


@pytest.fixture(scope="module", autouse=True)
def own_cells(tmp_path_factory: pytest.TempPathFactory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RECBIAS_CELLS", str(tmp_path_factory.mktemp("cells")))
        patch.setattr(base, "_ALGORITHMS", dict(base._ALGORITHMS))
        patch.setattr(base, "_SOURCES", dict(base._SOURCES))
        yield


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return golden.small_table(tmp_path_factory.mktemp("elsewhere"))


@pytest.fixture(scope="module")
def folds(table: Path) -> Path:
    """Split as the command does, and let another program leave scores and runs in each fold."""
    out = table.parent / "splits"
    ended = CliRunner().invoke(
        main, ["data", "split", str(table), "--split", "k-fold 2", "--seed", "3", "--out", str(out)]
    )
    assert ended.exit_code == 0, ended.output
    for split in dataset_splits(load_dataset(table), "k-fold 2", seed=3):
        train, users = split.train, np.arange(split.train.n_users)
        model = Tastes().fit(train)
        scores = model.score(users)
        user, item = np.nonzero(~np.isnan(scores))
        frame = pd.DataFrame(
            {
                "user_id": train.user_ids[user],
                "item_id": train.item_ids[item],
                "score": scores[user, item],
            }
        ).sample(frac=1, random_state=1)
        folder = out / f"fold-{split.fold + 1}"
        frame.to_csv(folder / "scores.csv", index=False)
        frame.to_parquet(folder / "own.parquet")
        lists = top_items(model, split, cutoff=20, candidates="AI", seed=1)
        rows = [
            f"{train.user_ids[user]} Q0 {train.item_ids[item]} {place + 1} {20 - place} mine"
            for user in users
            for place, item in enumerate(lists[user])
        ]
        (folder / "lists.trec").write_text("\n".join(rows) + "\n")
        ranked = pd.DataFrame(
            [line.split() for line in rows], columns=["userId", "q", "itemId", "Rank", "x", "y"]
        )
        ranked[["userId", "itemId", "Rank"]].to_csv(folder / "ranked.tsv", sep="\t", index=False)
    return out


def grid(table: Path, *systems: object, **changes: object) -> Grid:
    asked = {"protocols": (AI, TI, SAMPLED), "metrics": METRICS, "split": "k-fold 2", "seed": 3}
    return Grid(str(table), systems, **{**asked, **changes})  # type: ignore[arg-type]


def test_class_scores_and_lists_give_the_same_numbers(table: Path, folds: Path) -> None:
    systems = (
        as_system(Tastes),
        as_system(FromScores(folds)),
        as_system(FromScores(folds / "fold-{fold}/own.parquet")),
        as_system(FromScores(folds / "fold-{fold}/lists.trec")),
        as_system(FromScores(f"{folds}/fold-{{fold}}/ranked.tsv")),
    )
    assert [each.name for each in systems] == ["Tastes", "splits", "own", "lists", "ranked"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # lists end above what samples look at
        results = run(grid(table, *systems))
    numbers = {
        name: rows.set_index(["label", "metric"])[["value", "low", "high"]]
        for name, rows in results.values.groupby("system")
    }
    for name in ("splits", "own"):
        pd.testing.assert_frame_equal(numbers[name], numbers["Tastes"])
    for name in ("lists", "ranked"):
        # Lists of all items determine what looks at their first ten, and samples never.
        pd.testing.assert_frame_equal(numbers[name].loc[[AI]], numbers["Tastes"].loc[[AI]])
        assert not numbers[name].loc[[SAMPLED]].equals(numbers["Tastes"].loc[[SAMPLED]])
    assert numbers["Tastes"]["value"].min() > 0


def test_metrics_that_look_further_down_than_lists_go_are_warned_of(
    table: Path, folds: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing else would show that their values are too low."""
    for file in ("lists.trec", "ranked.tsv"):
        lists = as_system(FromScores(f"{folds}/fold-{{fold}}/{file}"))
        for metric in ("nDCG@21", "AP"):
            asked = grid(table, lists, protocols=(AI,), metrics=(metric,))
            with pytest.warns(
                DataWarning, match="under AI-AN-AR rel>=4, metrics look below its last"
            ):
                run(asked)
        # a warning would be an error here
        run(grid(table, lists, protocols=(AI,), metrics=("nDCG@20",)))
        for below in (SAMPLED, "AI-AN-AR rel>=4 condensed"):
            with pytest.warns(DataWarning, match=r"missing: P@5 [\d,]+ \(of [\d,]+ users\)"):
                run(grid(table, lists, protocols=(below,), metrics=("P@5",)))
    run(grid(table, FromScores(folds), metrics=("nDCG@21",)))
    asked = [str(table), "--scores", f"{folds}/fold-{{fold}}/lists.trec", "--metric", "P@30"]
    ended = CliRunner().invoke(main, ["measure", *asked])
    assert ended.exit_code == 0, ended.output
    assert (
        "recbias: warning: lists: under AI-AN-AR rel>=4, metrics look below its last item, where"
        in ended.stderr
    )


@pytest.mark.parametrize("candidates", ["AI", "TI"])
def test_a_table_from_lists_is_that_of_the_scores(candidates, table: Path) -> None:
    metrics = [parse_metric(text) for text in METRICS]
    for split in dataset_splits(load_dataset(table), "k-fold 2", seed=3):
        model = Tastes().fit(split.train)
        targets = Protocol.parse(f"{candidates}-AN-AR rel>=4").targets
        (whole,) = rank(model, split, [targets], seed=1)
        lists = top_items(model, split, cutoff=split.train.n_items, candidates="AI", seed=1)
        found = RankTable.from_lists(lists, split, candidates=candidates)
        for name, expected in vars(whole).items():
            np.testing.assert_array_equal(getattr(found, name), expected, err_msg=name)
        short = RankTable.from_lists(lists[:, :10], split)
        if candidates == "AI":
            np.testing.assert_array_equal(
                measure(short, metrics, min_rating=4), measure(whole, metrics, min_rating=4)
            )


def test_lists_that_do_not_fit_are_refused_with_user_and_item(table: Path) -> None:
    split = dataset_splits(load_dataset(table), "k-fold 2", seed=3)[0]
    lists = np.full((split.train.n_users, 3), -1)
    RankTable.from_lists(lists, split)
    user, item = split.train.user[0], split.train.item[0]
    tested = split.test.item[split.test.user == user][0]
    name = f"the list of user {split.train.user_ids[user]}: item "
    for row, message in (
        ([item, -1, -1], f"{name}{split.train.item_ids[item]} is a training item"),
        ([split.train.n_items, -1, -1], f"{name}{split.train.n_items} is no item of the data"),
        ([tested] * 3, f"{name}{split.test.item_ids[tested]} is there twice"),
    ):
        lists[user] = row
        with pytest.raises(ContractError, match=message):
            RankTable.from_lists(lists, split)
    for wrong in (lists[1:], lists.astype(float), lists[:, 0]):
        with pytest.raises(ContractError, match="expected integers"):
            RankTable.from_lists(wrong, split)


def test_results_are_known_by_the_content_of_the_files(
    table: Path, folds: Path, tmp_path: Path
) -> None:
    asked = grid(table, FromScores(folds), protocols=(AI,))
    first = run(asked)
    moved = tmp_path / "moved"
    shutil.copytree(folds, moved)
    same = grid(table, as_system(FromScores(moved)).replace("splits"), protocols=(AI,))
    again = run(same)
    assert (again.key, again.times["computed"]) == (first.key, 0)
    scores = pd.read_csv(moved / "fold-2/scores.csv")
    scores.assign(score=-scores["score"]).to_csv(moved / "fold-2/scores.csv", index=False)
    with pytest.raises(RecbiasError, match="the files changed since they were named"):
        run(other_sample(same))
    other = run(grid(table, FromScores(moved), protocols=(AI,)))
    assert other.key != first.key
    assert other["moved", AI, "P@10"].value < first["splits", AI, "P@10"].value


def other_sample(asked: Grid) -> Grid:
    """Ask for another sample, so that the same scores are read again."""
    return Grid(asked.dataset, asked.systems, "TI-NN-1R t=31 rel>=4", "P@10", "k-fold 2", seed=3)


def test_data_frames_are_scores_too(table: Path, folds: Path) -> None:
    frames = [pd.read_csv(folds / f"fold-{number}/scores.csv") for number in (1, 2)]
    own = as_system(FromScores(frames)).replace("splits")
    found, expected = (run(grid(table, each)).values for each in (own, FromScores(folds)))
    pd.testing.assert_frame_equal(found, expected)
    with pytest.raises(ConfigError, match="expected a path, a DataFrame, or a list"):
        FromScores([1])
    for some in (frames[:1], [*frames, frames[0]]):
        with pytest.raises(DataError, match=f"scores of {len(some)} folds?, but the split has 2"):
            run(grid(table, FromScores(some)))


def test_files_that_changed_places_are_other_scores(folds: Path, tmp_path: Path) -> None:
    """Each would be measured on the fold of the other."""
    turned = tmp_path / "turned"
    turned.mkdir()
    for number in (1, 2):
        shutil.copy(folds / f"fold-{number}/scores.csv", turned / f"fold-{3 - number}.csv")
    assert FromScores(turned).digest != FromScores(folds).digest
    (turned / "fold-1.csv").rename(turned / "first.csv")
    (turned / "fold-2.csv").rename(turned / "fold-1.csv")
    (turned / "first.csv").rename(turned / "fold-2.csv")
    assert FromScores(turned).digest == FromScores(folds).digest


def test_a_split_of_one_fold_is_compared_too(table: Path, tmp_path: Path) -> None:
    asked = ["--split", "ratio 0.3", "--seed", "3", "--out", str(tmp_path / "one")]
    ended = CliRunner().invoke(main, ["data", "split", str(table), *asked])
    assert ended.exit_code == 0, ended.output
    scores = FromScores(tmp_path / "one/fold-1/test.csv")
    for seed, fits in ((3, True), (4, False)):
        (split,) = dataset_splits(load_dataset(table), "ratio 0.3", seed=seed)
        if fits:
            scores.fit(split.train)
        else:
            with pytest.raises(DataError, match="fold 1 is of another split or other data"):
                scores.fit(split.train)


def test_whole_numbers_that_a_table_kept_as_floats_are_the_same_ids(
    table: Path, folds: Path, tmp_path: Path
) -> None:
    """As pandas makes them of a column that once had a gap."""
    split, _ = dataset_splits(load_dataset(table), "k-fold 2", seed=3)
    frame = pd.read_csv(folds / "fold-1/scores.csv")
    frame.astype({"user_id": float, "item_id": float}).to_parquet(tmp_path / "floats.parquet")
    frame.to_parquet(tmp_path / "whole.parquet")
    found, expected = (
        FromScores(tmp_path / f"{name}.parquet").fit(split.train).score(np.arange(5))
        for name in ("floats", "whole")
    )
    np.testing.assert_array_equal(found, expected)


def test_a_run_is_in_the_order_of_its_scores_and_equal_ones_of_their_ranks(
    table: Path, tmp_path: Path
) -> None:
    split, _ = dataset_splits(load_dataset(table), "k-fold 2", seed=3)
    train = split.train
    free = np.setdiff1d(np.arange(train.n_items), train.item[train.user == 0])[:4]
    places = (("3", "1"), ("1", "1"), ("2", "1"), ("9", "2"))
    rows = [
        f"{train.user_ids[0]} Q0 {train.item_ids[item]} {place} {score} mine"
        for item, (place, score) in zip(free, places, strict=True)
    ]
    (tmp_path / "ties.trec").write_text("\n".join(rows))
    scores = FromScores(tmp_path / "ties.trec").fit(train).score(np.array([0]))[0]
    assert np.argsort(-scores)[:4].tolist() == free[[3, 1, 2, 0]].tolist()


def broken(edit: Callable[[Path], None], folds: Path, tmp_path: Path) -> Path:
    copy = tmp_path / "broken"
    shutil.copytree(folds, copy)
    edit(copy)
    return copy


def add(name: str, line: str) -> Callable[[Path], None]:
    def edit(copy: Path) -> None:
        file = copy / "fold-2" / name
        file.write_text(file.read_text().replace("\n", f"\n{line}\n", 1))

    return edit


def trained(copy: Path) -> None:
    own = pd.read_csv(copy / "fold-2/train.csv").iloc[5]
    line = f"{own['user_id']:.0f} Q0 {own['item_id']:.0f} 21 0.5 mine"
    (copy / "fold-2/lists.trec").write_text((copy / "fold-2/lists.trec").read_text() + line + "\n")


def trained_alone(copy: Path) -> None:
    pairs = pd.read_csv(copy / "fold-2/train.csv")[["user_id", "item_id"]]
    pairs.assign(score=range(len(pairs))).to_csv(copy / "fold-2/scores.csv", index=False)


def other_split(copy: Path) -> None:
    record = json.loads((copy / "split.json").read_text())
    (copy / "split.json").write_text(json.dumps({**record, "train": record["train"][::-1]}))


@pytest.mark.parametrize(
    ("name", "edit", "message"),
    [
        ("scores.csv", add("scores.csv", "9999,1,0.5"), r"csv:2: fold 2, user 9999, item 1: the d"),
        ("scores.csv", add("scores.csv", "1,x,0.5"), "user 1, item x: the data have no such item"),
        ("scores.csv", add("scores.csv", "1,1,"), "user 1, item 1: '' is no finite number"),
        ("scores.csv", add("scores.csv", "1,1,inf"), "user 1, item 1: 'inf' is no finite"),
        (
            "scores.csv",
            add("scores.csv", "1,2,1\n1,2,1"),
            r"csv:\d+: fold 2, user 1, item 2: the",
        ),
        (
            "lists.trec",
            add("lists.trec", "1 Q0 150000 1 1 mine"),
            r"trec:2: fold 2, user 1, item 150",
        ),
        ("lists.trec", add("lists.trec", "1 1"), "trec:2: too few fields for user Q0"),
        ("scores.csv", add("scores.csv", "1,,0.5"), r"csv:2: no item in column 'item_id'"),
        ("scores.csv", trained_alone, r"csv:2: fold 2, user .* the user has the item in training"),
        ("lists.trec", trained, "a list with an item of the user's training ratings"),
        ("scores.csv", other_split, "is of another split or other data than is measured"),
        (
            "scores.csv",
            lambda copy: (copy / "split.json").write_text("x"),
            "not as recbias data",
        ),
        (
            "scores.csv",
            lambda copy: (copy / "fold-2/scores.csv").unlink(),
            "scores of 1 fold, but the split has",
        ),
        (
            "scores.csv",
            lambda copy: (copy / "fold-2/scores.csv").write_text("user,item\n1,2\n"),
            "no column score or rank; found: user, item",
        ),
    ],
)
def test_scores_that_do_not_fit_are_refused_with_their_place(
    name: str,
    edit: Callable[[Path], None],
    message: str,
    table: Path,
    folds: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("RECBIAS_CELLS", str(tmp_path / "cells"))  # what is kept is not read again
    copy = broken(edit, folds, tmp_path)
    with pytest.raises(RecbiasError, match=message):
        run(grid(table, FromScores(copy / "fold-{fold}" / name)))


def test_the_class_is_in_no_list_of_algorithms_but_found_by_its_name(folds: Path) -> None:
    assert "FromScores" not in algorithms()
    system = as_system(FromScores(folds))
    assert System.from_dict(system.to_dict()) == system
    assert "path" not in system.identity()["parameters"]
    with pytest.raises(MissingData, match="no file or folder nowhere"):
        FromScores("nowhere")


def test_the_command_measures_files_from_another_folder(
    table: Path, folds: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    asked = ["measure", str(table), "--with", "Popularity", "--out", "values.csv"]
    asked += ["--scores", f"mine={folds}", "--scores", f"{folds}/fold-{{fold}}/lists.trec"]
    ended = CliRunner().invoke(main, asked)
    assert ended.exit_code == 0, ended.output
    assert "k-fold 2, seed 3" in ended.stdout.splitlines()[0]
    values = pd.read_csv("values.csv")
    assert values["system"].unique().tolist() == ["mine", "lists", "Popularity"]
    by_name = values.set_index(["system", "metric"])["value"]
    assert by_name["mine"].tolist() == by_name["lists"].tolist()
    expected = run(grid(table, Tastes, protocols=(AI,)))
    assert by_name["mine", "P@10"] == expected["Tastes", AI, "P@10"].value
    for wrong, message in (
        (["--seed", "4"], "is of another split"),
        (["--seed", "0"], "is of another split"),
        (["--split", "k-fold 3"], "scores of 2 folds, but the split has 3"),
        (["--metric", "p@10"], "unknown metric 'p': did you mean 'P'"),
        (["--with", "Popularty"], "did you mean 'Popularity'"),
        (["--out", "no/where.csv"], "expected a file in a folder that is there"),
        (["--metric", "ILD@5"], "it looks at features of items; give a table of these"),
        (["--metric", "ILD@5", "--features", "none.csv"], "no file none.csv"),
    ):
        ended = CliRunner().invoke(main, [*asked, *wrong])
        assert ended.exit_code == 2
        assert message in ended.output


def test_the_command_measures_by_features_of_items(
    table: Path, folds: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    items = pd.read_csv(table)[["item_id"]].drop_duplicates()[3:]
    items.assign(genres=[["a|b", "b", "c"][at % 3] for at in range(len(items))]).to_csv("items.csv")
    asked = ["measure", str(table), "--scores", str(folds), "--out", "values.csv"]
    asked += ["--features", "items.csv", "--metric", "ILD@10", "--metric", "Miscalibration@10"]
    ended = CliRunner().invoke(main, asked)
    assert ended.exit_code == 0, ended.output
    assert ended.stderr.count("items have no feature") == 1
    values = pd.read_csv("values.csv").set_index("metric")["value"]
    assert 0 < values["ILD@10"] < 1
    assert values["Miscalibration@10"] > 0


def test_the_command_reads_the_table_as_it_is_told_to(
    table: Path, folds: Path, tmp_path: Path
) -> None:
    """The same values, below the name of the file."""
    frame = pd.read_csv(table)
    frame.columns = ["who", "what", *frame.columns[2:]]
    frame.to_csv(tmp_path / "odd.csv", index=False)
    asked = ["--scores", f"mine={folds}", "--metric", "P@10"]
    plain = CliRunner().invoke(main, ["measure", str(table), *asked])
    told = ["--user", "who", "--item", "what", "--rating-scale", "1", "5", "1"]
    ended = CliRunner().invoke(main, ["measure", str(tmp_path / "odd.csv"), *told, *asked])
    assert ended.exit_code == 0, ended.output
    first, *rows = ended.stdout.splitlines()
    assert first.startswith("odd.csv; k-fold 2, seed 3")
    assert rows == plain.stdout.splitlines()[1:]


def test_the_command_measures_folds_of_a_table_that_is_read_as_its_owner_says(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    told = ["--rating-scale", "0", "8", "0.5"]
    for asked in (
        ["data", "split", str(table), *told, "--split", "k-fold 2", "--out", "splits"],
        ["measure", str(table), *told, "--scores", "mine=splits", "--workers", "2"],
    ):
        ended = CliRunner().invoke(main, asked)
        assert ended.exit_code == 0, ended.output
        for test in Path("splits").glob("fold-*/test.csv"):
            scores = pd.read_csv(test).rename(columns={"rating": "score"})
            scores = scores[["user_id", "item_id", "score"]]
            scores.to_csv(test.with_name("scores.csv"), index=False)
    assert f"{table.name}; k-fold 2, seed 1" in ended.output
    # Read in another way, the same file has other folds.
    ended = CliRunner().invoke(main, ["measure", str(table), "--scores", "mine=splits"])
    assert ended.exit_code == 2
    assert "is of another split or other data" in ended.output


def test_the_threshold_of_large_ratings_is_asked_for_with_all_its_digits(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    frame = pd.read_csv(table)
    frame.assign(rating=1_234_567 * frame["rating"].astype(int)).to_csv("large.csv", index=False)
    for asked in (
        ["data", "split", "large.csv", "--split", "ratio 0.3", "--out", "splits"],
        ["measure", "large.csv", "--scores", "splits/fold-1/test.csv", "--out", "values.csv"],
    ):
        ended = CliRunner().invoke(main, asked)
        assert ended.exit_code == 0, ended.output
    assert set(pd.read_csv("values.csv")["protocol"]) == {f"AI-AN-AR rel>={4 * 1_234_567}"}
