"""Samples of recorded results: drawn by the commit alone, and in the end everything is drawn."""

from __future__ import annotations

import json
from collections import Counter
from hashlib import sha1
from pathlib import Path

import pytest
from click.testing import CliRunner

from recbias.cli.commands import main
from recbias.errors import StoreError
from recbias.experiment import rotation
from recbias.experiment.results import results_dir
from recbias.experiment.rotation import SECONDS, Drawn, beyond_samples, draw_sample
from recbias.experiment.verification import listed_datasets

MONTH = 300
"""Commits, at ten a day."""


def commits(n: int) -> list[str]:
    """Name commits that never were."""
    return [sha1(str(number).encode()).hexdigest() for number in range(n)]


@pytest.fixture(scope="module")
def known() -> list[rotation._Known]:
    """Read the documents of all results once."""
    return rotation._known_results(listed_datasets())


def samples(n_commits: int, known: list[rotation._Known]) -> list[tuple[Drawn, ...]]:
    """Draw a sample of known results for each commit."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rotation, "_known_results", lambda datasets: known)
        return [draw_sample(commit, ()) for commit in commits(n_commits)]


@pytest.fixture(scope="module")
def drawn(known: list[rotation._Known]) -> list[tuple[Drawn, ...]]:
    """Draw a sample for each commit of two months."""
    return samples(2 * MONTH, known)


def all_results() -> set[tuple[str, str]]:
    """Name everything that is recorded, without the code that draws."""
    folder = results_dir("", recorded=True)
    paths = (path.relative_to(folder).with_suffix("") for path in folder.glob("*/*/*.json"))
    return {(path.parts[0], "/".join(path.parts[1:])) for path in paths}


@pytest.mark.slow
def test_a_sample_takes_no_longer_than_it_may(drawn: list[tuple[Drawn, ...]]) -> None:
    for sample in drawn:
        assert 0 < sum(each.seconds for each in sample) <= SECONDS + 1e-9
        names = [each[:2] for each in sample]
        assert len(set(names)) == len(names)
        assert names == sorted(names)


@pytest.mark.slow
def test_within_two_months_all_that_fits_is_drawn_and_within_one_nearly_all(
    drawn: list[tuple[Drawn, ...]],
) -> None:
    beyond = {tuple(name.split("/", 1)) for name in beyond_samples(listed_datasets())}
    fitting = all_results() - beyond
    assert {each[:2] for sample in drawn for each in sample} == fitting
    for month in (drawn[:MONTH], drawn[MONTH:]):
        missed = fitting - {each[:2] for sample in month for each in sample}
        assert len(missed) <= len(fitting) / 100, missed
        assert {each.dataset for sample in month for each in sample} == set(listed_datasets())


def test_all_systems_of_chapter_1_are_drawn_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    result = "01_design_alternatives/systems"
    known = [one for one in rotation._known_results(["ml-100k"]) if one.result == result]
    monkeypatch.setattr(rotation, "_known_results", lambda datasets: known)
    path = results_dir("ml-100k", recorded=True) / f"{result}.json"
    names = [system["name"] for system in json.loads(path.read_text())["parameters"]["systems"]]
    n_commits, share = 10 * MONTH, 2 / len(names)
    systems = Counter(
        name
        for commit in commits(n_commits)
        for each in draw_sample(commit, ["ml-100k"])
        for name in each.systems or ()
    )
    assert {"Popularity", "pLSA"} < set(names) == set(systems)
    error = (n_commits * share * (1 - share)) ** 0.5
    assert all(abs(n - n_commits * share) < 4 * error for n in systems.values()), systems


def test_of_a_grid_two_systems_are_drawn_in_its_order(known: list[rotation._Known]) -> None:
    drawn = samples(60, known)
    grids = [each for sample in drawn for each in sample if each.systems is not None]
    assert {len(each.systems or ()) for each in grids} <= {1, 2}
    for each in grids[:50]:
        path = results_dir(each.dataset, recorded=True) / f"{each.result}.json"
        record = json.loads(path.read_text())
        names = [system["name"] for system in record["parameters"]["systems"]]
        assert [name for name in names if name in (each.systems or ())] == list(each.systems or ())
    others = (each for sample in drawn for each in sample if each.systems is None)
    assert any(each.dataset == "simulations" for each in others)


def test_a_commit_draws_the_same_everywhere_and_another_something_else() -> None:
    first, second = commits(2)
    datasets = ["filmtrust", "coat", "simulations"]
    assert draw_sample(first, datasets) == draw_sample(first, reversed(datasets))
    assert draw_sample(first, datasets) != draw_sample(second, datasets)
    assert {each.dataset for each in draw_sample(first, ["coat"])} == {"coat"}
    assert draw_sample(first, []) == ()


# -- what results take ---------------------------------------------------------------------------


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder that stands for a clone: a grid and a table of two data sets each."""
    folder = tmp_path / "data" / "recorded"
    grid = {"kind": "grid", "parameters": {"systems": [{"name": name} for name in "abc"]}}
    table = {"kind": "table", "parameters": {}}
    for dataset in ("ml-100k", "ml-1m", "simulations"):
        for name, document in (("grid", grid), ("table", table)):
            path = folder / dataset / "01_x" / f"{name}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(document))
    monkeypatch.setattr("recbias.experiment.results.clone_root", lambda: tmp_path)
    monkeypatch.setattr(rotation, "read_document", lambda path: json.loads(path.read_text()))
    return folder


def listed_costs(clone: Path, **costs: dict[str, float]) -> None:
    (clone / "costs.json").write_text(json.dumps(costs))


def test_what_is_not_listed_is_estimated_from_another_data_set(clone: Path) -> None:
    listed_costs(clone, **{"ml-100k": {"01_x/grid": 5.0, "01_x/table": 7.0}})
    (grid, table) = draw_sample("a", ["ml-1m"])
    ratio = 1_000_209 / 100_000
    assert grid.seconds == pytest.approx(5 * ratio, abs=0.1)
    assert table.seconds == pytest.approx(7 * ratio, abs=0.1)
    # Nothing tells what a simulation takes: it is drawn alone.
    assert [each.seconds for each in draw_sample("a", ["simulations"])] == [SECONDS]


def test_where_two_systems_take_too_long_one_is_drawn(clone: Path) -> None:
    listed_costs(clone, **{"ml-1m": {"01_x/grid": 1.5 * SECONDS, "01_x/table": 1.5 * SECONDS}})
    (alone,) = draw_sample("a", ["ml-1m"])
    assert alone.result == "01_x/grid"
    assert alone.systems is not None
    assert len(alone.systems) == 1
    assert str(alone) == f"ml-1m: 01_x/grid, {alone.systems[0]} (about 135 s)"
    assert beyond_samples(["ml-1m"]) == ("ml-1m/01_x/table",)


def test_a_damaged_list_of_costs_is_refused(clone: Path) -> None:
    for text in (None, "[]", "{", '{"x": {"y": "z"}}', '{"x": 1}'):
        (clone / "costs.json").unlink(missing_ok=True)
        if text is not None:
            (clone / "costs.json").write_text(text)
        with pytest.raises(StoreError, match=r"costs\.json: not a list of what results take"):
            draw_sample("a", ["ml-1m"])


# -- the command ---------------------------------------------------------------------------------


def test_the_command_verifies_what_it_has_drawn_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import pandas as pd

    asked: dict[str, dict[str, tuple[str, ...] | None]] = {}

    def record(name: str, *, chosen: dict[str, tuple[str, ...] | None], **_: object) -> object:
        asked[name] = chosen
        return pd.DataFrame()

    monkeypatch.setattr("recbias.experiment.verification.check_foundations", dict)
    monkeypatch.setattr("recbias.experiment.verification.verify", record)
    commit = commits(1)[0]
    done = CliRunner().invoke(main, ["verify", "--sample", commit])
    assert done.exit_code == 0
    (here,) = asked  # without data
    sample = draw_sample(commit, ["simulations"])
    assert here == "simulations"
    assert asked[here] == {each.result: each.systems for each in sample}
    for each in sample:
        assert f"drawn: {each}\n" in done.stdout
    assert "simulations/" not in done.stdout or "make prove" in done.stdout
    assert "ml-100k: not verified, the data set is not here" in done.stdout


def test_a_sample_draws_systems_itself() -> None:
    done = CliRunner().invoke(main, ["verify", "--sample", "a", "--systems", "2"])
    assert done.exit_code == 2
    assert "--sample draws systems too: give it without --systems" in done.stderr
