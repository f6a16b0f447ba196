"""What compares two builds of an edition names each file that is not the same in both."""

from pathlib import Path

from check_same import differences, drawn


def test_a_changed_a_missing_and_a_new_file_are_named(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    for top in (one, other):
        (top / "sub").mkdir(parents=True)
        (top / "index.html").write_text("the same")
        (top / "sub" / "page.html").write_text("built at 10:00")
    assert differences(one, other) == []
    (other / "sub" / "page.html").write_text("built at 10:01")
    (one / "gone.html").touch()
    (other / "new.html").touch()
    assert differences(one, other) == ["gone.html", "new.html", "sub/page.html"]


def test_each_edition_is_drawn() -> None:
    times = [drawn(["a", "b", "c"], f"commit {n}") for n in range(300)]
    assert all(60 < times.count(name) < 140 for name in "abc")
