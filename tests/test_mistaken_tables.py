"""What a person gives for a table and is none, or not the one that was meant, is named as that."""

from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from recbias.cli import main
from recbias.datasets import TableOptions, load_dataset, own_table
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


@pytest.mark.parametrize("number", ["nan", "inf"])
def test_a_threshold_that_is_no_number_is_refused(tmp_path: Path, number: str) -> None:
    table = tmp_path / "own.csv"
    table.write_text(ROWS, encoding="utf-8")
    done = CliRunner().invoke(main, ["data", "info", str(table), "--min-rating", number])
    assert done.exit_code == 2
    assert f"--min-rating {number}: expected a finite number" in done.output
