"""What a person gives for a table and is none, or not the one that was meant, is named as that."""

from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from recbias.cli.commands import main
from recbias.data.datasets import TableOptions, load_dataset, own_table
from recbias.errors import ConfigError, DataError, DataWarning

ROWS = "user_id,item_id,rating\n1,1,3\n1,2,4\n2,1,5\n"


def test_a_folder_and_a_link_to_itself_are_named_as_that(tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "loop.csv").symlink_to(tmp_path / "loop.csv")
    with pytest.raises(DataError, match="this is a folder, not a table"):
        load_dataset(tmp_path / "folder.csv")
    with pytest.raises(DataError, match="a link that leads to no file, or back to itself"):
        load_dataset(tmp_path / "loop.csv")


def test_a_decimal_comma_is_named(tmp_path: Path) -> None:
    table = tmp_path / "commas.csv"
    table.write_text("user_id;item_id;rating\n1;1;3,5\n1;2;4,0\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"commas.csv:2: .*'3,5'(.|\n)*say so: --decimal ,"):
        load_dataset(table)


@pytest.mark.parametrize(
    "text",
    [
        "user_id;item_id;rating\n1;1;3,5\n1;2;,5\n2;1;-4\n",
        "1 1 3,5\n1 2 ,5\n2 1 -4\n",
        'user_id,item_id,rating\n1,1,"3,5"\n1,2,",5"\n2,1,-4\n',
        "1\t1\t3,5\t7\n1\t2\t,5\t8\n2\t1\t-4\t9\n",
        "ann|x|3,5\nann|y|,5\nbob|x|-4\n",
    ],
)
def test_decimal_commas_are_read_where_they_are_promised(tmp_path: Path, text: str) -> None:
    table = tmp_path / "commas.csv"
    table.write_text(text, encoding="utf-8")
    # Without the option none is read as these numbers: it is refused, or has other columns.
    try:
        plain = load_dataset(table).ratings.value.tolist()
    except DataError:
        plain = []
    assert plain != [3.5, 0.5, -4]
    loaded = load_dataset(table, decimal=",")
    assert loaded.ratings.value.tolist() == [3.5, 0.5, -4]
    assert loaded.understood[0].endswith("with decimal commas")


def test_the_decimal_sign_is_kept_and_part_of_the_name(tmp_path: Path) -> None:
    table = tmp_path / "commas.csv"
    table.write_text("user_id;item_id;rating\n1;1;3,5\n1;2;4,0\n", encoding="utf-8")
    other = own_table(table).name
    done = CliRunner().invoke(main, ["data", "info", str(table), "--decimal", ",", "--keep"])
    assert done.exit_code == 0, done.output
    assert load_dataset(str(table)).ratings.value.tolist() == [3.5, 4]
    assert own_table(table).name == own_table(table, TableOptions(decimal=",")).name != other
    assert CliRunner().invoke(main, ["data", "info", str(table), "--decimal", "x"]).exit_code == 2
    with pytest.raises(ConfigError, match=r"decimal sign ';': expected '\.' or ','"):
        load_dataset(table, decimal=";")  # type: ignore[arg-type]


def test_a_frame_of_texts_with_decimal_commas_is_read() -> None:
    frame = pd.DataFrame({"user": [1, 1], "item": [1, 2], "rating": ["3,5", "4"]})
    assert load_dataset(frame, decimal=",").ratings.value.tolist() == [3.5, 4]
    with pytest.raises(DataError, match="--decimal ,"):
        load_dataset(frame)


@pytest.mark.parametrize("name", ["NULL", "NaN", "None"])
def test_an_id_that_is_named_like_none_is_warned_of(tmp_path: Path, name: str) -> None:
    table = tmp_path / "names.csv"
    table.write_text(ROWS.replace("2,1,5", f"{name},1,5"), encoding="utf-8")
    with pytest.warns(DataWarning, match=rf"names.csv:4: the user id '{name}' is read as a name"):
        assert len(load_dataset(table).ratings) == 3


WIDE = pd.DataFrame(
    {f"film {n}": [n % 5 + 1.0, None, 3.0 if n % 3 else None] for n in range(12)},
    index=pd.Index(["ann", "bob", "cho"], name="viewer"),
)


def _melted(
    message: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[tuple[str, str], float]:
    """Run the line that a message gives; return the ratings of what it wrote."""
    line = message.splitlines()[1].removeprefix("in pandas: ")
    monkeypatch.chdir(folder)
    exec(line, {"pd": pd})  # noqa: S102 - what a reader would do
    ratings = load_dataset("ratings_long.csv").ratings
    users, items = ratings.user_ids[ratings.user], ratings.item_ids[ratings.item]
    pairs = zip(map(str, users), map(str, items), strict=True)
    return dict(zip(pairs, ratings.value.tolist(), strict=True))


@pytest.mark.parametrize("form", ["csv", "semicolons", "unnamed", "indexed", "column"])
def test_a_matrix_is_named_and_the_line_of_the_message_makes_a_list_of_it(
    tmp_path: Path, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tmp_path / ("wide.parquet" if form in ("indexed", "column") else "wide.csv")
    match form:
        case "csv":
            WIDE.to_csv(table)
        case "semicolons":
            WIDE.to_csv(table, sep=";")
        case "unnamed":
            WIDE.rename_axis(None).to_csv(table)
        case "indexed":
            WIDE.to_parquet(table)
        case _:
            WIDE.reset_index().to_parquet(table)
    with pytest.raises(DataError, match="a matrix with a row for each user") as refused:
        load_dataset(table)
    expected = {
        (str(user), str(item)): float(value)  # type: ignore[arg-type]
        for (user, item), value in WIDE.stack().dropna().items()  # type: ignore[misc]
    }
    assert _melted(str(refused.value), tmp_path, monkeypatch) == expected


def test_of_a_matrix_of_numbers_alone_zeros_are_gaps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tmp_path / "wide.txt"
    table.write_text("5 0 0 0 0 0 0 0 0 3\n0 0 0 0 4 0 0 0 0 0\n", encoding="utf-8")
    with pytest.raises(DataError, match="a matrix with a row for each user") as refused:
        load_dataset(table)
    found = _melted(str(refused.value), tmp_path, monkeypatch)
    assert found == {("0", "0"): 5, ("0", "9"): 3, ("1", "4"): 4}


@pytest.mark.parametrize(
    "text",
    [
        "who,what,liking,moment,year\n1,7,4,9,1999\n",
        "who,what,liking,moment,title\n1,7,,9,Up\n",
        "user_id,a,b,c,d,e,f,g,h,i,j,k\n1,2,3,4,5,6,7,8,9,1,2,Up\n",
    ],
)
def test_a_list_with_columns_of_other_names_is_no_matrix(tmp_path: Path, text: str) -> None:
    table = tmp_path / "list.csv"
    table.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=r"no (user|item) column found; columns found: "):
        load_dataset(table)


def test_a_header_longer_than_the_sample_is_read_whole(tmp_path: Path) -> None:
    names = [f"a column with a long name, {n}" for n in range(5000)]
    table = tmp_path / "long.csv"
    frame = pd.DataFrame([[1] * 5000, [2] * 5000], columns=names)
    frame.insert(0, "user", [1, 2])
    frame["item"], frame["rating"] = [1, 2], [3, 4]
    frame.to_csv(table, index=False)
    assert len(table.read_bytes().split(b"\n")[0]) > 1 << 17
    assert load_dataset(table).ratings.value.tolist() == [3, 4]
    frame.drop(columns="item").to_csv(table, index=False)
    with pytest.raises(DataError, match="a matrix with a row for each user") as refused:
        load_dataset(table)
    assert len(str(refused.value)) < 1000


def test_true_and_false_are_read_as_in_parquet(tmp_path: Path) -> None:
    frame = pd.DataFrame({"user": [1, 1, 2], "item": [1, 2, 1], "rating": [True, False, True]})
    frame.to_parquet(tmp_path / "own.parquet")
    frame.to_csv(tmp_path / "own.csv", index=False)
    read = [load_dataset(tmp_path / f"own.{kind}").ratings for kind in ("csv", "parquet")]
    assert read[0].value.tolist() == [1, 0, 1]
    assert read[0].content_hash == read[1].content_hash
    mixed = (tmp_path / "own.csv").read_text().replace("False", "4")
    (tmp_path / "mixed.csv").write_text(mixed)
    with pytest.raises(DataError, match=r"mixed.csv:2: .*'True'"):
        load_dataset(tmp_path / "mixed.csv")


@pytest.mark.parametrize("number", ["nan", "inf"])
@pytest.mark.parametrize("command", [["data", "info"], ["trust"]])
def test_a_threshold_that_is_no_number_is_refused(
    tmp_path: Path, number: str, command: list[str]
) -> None:
    table = tmp_path / "own.csv"
    table.write_text(ROWS, encoding="utf-8")
    done = CliRunner().invoke(main, [*command, str(table), "--min-rating", number])
    assert done.exit_code == 2
    assert f"--min-rating {number}: expected a finite number" in done.output


@pytest.mark.parametrize(("kind", "remedy"), [("folder", "path of a table in it"), ("file", "./a")])
def test_what_is_here_under_a_name_that_is_no_data_set_is_named(
    kind: str, remedy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match=r"^unknown dataset 'a'; known: [^\n]*$"):
        load_dataset("a")
    (tmp_path / "a").mkdir() if kind == "folder" else (tmp_path / "a").touch()
    said = rf"unknown dataset 'a'.*\na is a {kind} here: .*{remedy}"
    with pytest.raises(ConfigError, match=said):
        load_dataset("a")
