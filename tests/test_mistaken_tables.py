"""What a person gives for a table and is none, or not the one that was meant, is named as that."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from recbias.cli import main
from recbias.datasets import load_dataset
from recbias.errors import DataError, DataWarning

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
    with pytest.raises(DataError, match=r"commas.csv:2: .*'3,5'.*a point instead of a comma"):
        load_dataset(table)


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
