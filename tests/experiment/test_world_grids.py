"""Grids of worlds: kept, resumed and distributed as cells; judged by observation, sample, truth."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
import pytest

from recbias._system.places import cells_dir, cells_kept_in
from recbias.data.datasets import load_dataset
from recbias.data.ratings import Ratings
from recbias.errors import ConfigError, StoreWarning
from recbias.experiment import worlds as worlds_module
from recbias.experiment.store import digest, read_arrays
from recbias.experiment.worlds import Ranked, Seen, World, WorldGrid, each_world, run_worlds
from recbias.metrics import parse_metric
from recbias.metrics.aggregation import aggregate
from recbias.protocol.splits import Split
from recbias.protocol.targets import TargetRule
from recbias.protocol.testset import TestSet, dataset_splits, kept_rows
from recbias.ranking import rank
from recbias.recommenders import System, line_up

POPULAR = System("Popularity", "Popularity", {})
RANDOM = System("Random", "Random", {})
DRAWN = next(system for system in line_up("bcc17") if system.name == "pLSA")


def named(number: int) -> World:
    name = f"world(relation=0.5,skew=0.4,users=60,items=40,density=0.1,seed={number})"
    return World(name, number, {"relation": 0.5, "number": number})


def asked(n_worlds: int = 3, **changed: Any) -> WorldGrid:
    given: dict[str, Any] = {
        "worlds": [named(number) for number in range(1, n_worlds + 1)],
        "systems": [POPULAR, RANDOM, replace(DRAWN, n_seeds=2)],
        "protocols": {
            "seen": "AI-AN-AR rel>=4 users=tested",
            "runs": "TI-AN-1R rel>=4",
            "sample": "AI-AN-AR rel>=4 users=tested",
            "true": "AI-AN-AR rel>=4",
        },
        "columns": {
            "P@5": ("seen", "P@5"),
            "P@5|t=20": ("runs", "P@5|t=20"),
            "sampled P@5": ("sample", "P@5"),
            "true P@5": ("true", "P@5"),
        },
        "tests": {"sample": "truth sample=8", "true": "truth"},
        "n_seeds": None,
        **changed,
    }
    return WorldGrid(**given)


def digest_of(table: pd.DataFrame) -> str:
    return digest([list(table), table.to_dict("list")])


def kept() -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in cells_dir().rglob("*.parquet")}


@pytest.fixture(autouse=True)
def _own_cells(tmp_path: Path) -> Iterator[None]:
    with cells_kept_in(tmp_path / "cells"):
        yield


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> str:
    with cells_kept_in(tmp_path_factory.mktemp("expected")):
        return digest_of(run_worlds(asked())[0])


# -- kept, resumed, distributed ----------------------------------------------------------------


def test_labels_of_worlds_are_columns_and_systems_are_rows() -> None:
    (table,) = run_worlds(asked(2))
    assert list(table) == ["relation", "number", "system", *asked().columns]
    assert table["number"].tolist() == [1, 1, 1, 2, 2, 2]
    assert table["system"].tolist() == ["Popularity", "Random", "pLSA"] * 2
    assert not table.isna().any().any()


@pytest.mark.slow
def test_any_number_of_workers_gives_the_same_bits(expected: str) -> None:
    assert digest_of(run_worlds(asked(), workers=2)[0]) == expected


_PROGRAM = """
import sys
from test_world_grids import asked, digest_of, run_worlds
if __name__ == "__main__":
    print(digest_of(run_worlds(asked(), workers=int(sys.argv[1]))[0]))
"""


@pytest.mark.slow
def test_killed_runs_go_on_with_the_cells_that_are_missing(
    expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The whole group is killed after another few of the nine cells, then again."""
    program = tmp_path / "program.py"
    program.write_text(_PROGRAM)
    here = str(Path(__file__).parent)
    path = os.pathsep.join([here, *filter(None, [os.environ.get("PYTHONPATH")])])
    cells = tmp_path / "killed"
    environment = {**os.environ, "PYTHONPATH": path, "RECBIAS_CELLS": str(cells)}

    def start(workers: int) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, str(program), str(workers)], env=environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip

    n_kills = 0
    with cells_kept_in(cells):
        for wanted, workers in ((2, 1), (5, 2)):
            before = kept()
            process = start(workers)
            while len(kept()) < wanted and process.poll() is None:
                time.sleep(0.001)
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            n_kills += process.returncode == -signal.SIGKILL
            assert before.items() <= kept().items(), "a finished cell was computed again"
        before = kept()
        assert 2 <= len(before) < 9
        output, _ = start(1).communicate()
        assert output.strip() == expected
        assert before.items() <= kept().items(), "a finished cell was computed again"
        assert len(kept()) == 9
    assert n_kills == 2


def test_no_cell_is_computed_twice(expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    trained: list[tuple[int, str]] = []
    train = Seen.trained

    def counted(self: Seen, system: Any, fold: Split, repeat: int) -> Any:
        trained.append((self.seed, worlds_module._name_of(system)))
        return train(self, system, fold, repeat)

    monkeypatch.setattr(Seen, "trained", counted)
    few = asked(2, systems=[RANDOM, POPULAR])
    run_worlds(few)
    assert sorted(trained) == [(n, name) for n in (1, 2) for name in ("Popularity", "Random")]
    one, other, part = run_worlds(asked(), asked(), few)
    assert digest_of(one) == digest_of(other) == expected
    assert trained.count((1, "Random")) == trained.count((1, "Popularity")) == 1
    assert trained.count((3, "Random")) == 1
    assert trained.count((1, "pLSA")) == 2  # its two seeds
    assert part["system"].tolist() == ["Random", "Popularity"] * 2
    n_trained, before = len(trained), kept()
    run_worlds(asked(), few, workers=2)
    assert len(trained) == n_trained
    assert kept() == before


def test_a_world_of_several_grids_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def counted(name: str) -> Any:
        made.append(name)
        return load_dataset(name)

    monkeypatch.setattr(worlds_module, "load_dataset", counted)
    run_worlds(asked(2), asked(2, split="ratio 0.4"))
    assert made == [named(1).source, named(2).source]


def test_a_damaged_cell_is_computed_again(expected: str) -> None:
    run_worlds(asked())
    path = next(cells_dir().rglob("*.parquet"))
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(bytes(content))
    with pytest.warns(StoreWarning, match="was damaged"):
        assert digest_of(run_worlds(asked())[0]) == expected
    assert digest_of(run_worlds(asked())[0]) == expected


def test_values_of_several_seeds_are_their_mean() -> None:
    (table,) = run_worlds(asked(1))
    (cell,) = (cell for cell in asked(1).cells() if cell.system.name == "pLSA")
    values, provenance = read_arrays(cell.path, key=cell.key)
    assert len(values["P@5"]) == 2
    assert values["P@5"][0] != values["P@5"][1]
    row = table[table["system"] == "pLSA"].iloc[0]
    assert row["P@5"] == values["P@5"].mean()
    assert provenance["cell"]["labels"] == {"relation": 0.5, "number": 1}


@pytest.mark.parametrize(
    "changed",
    [
        {"split": "ratio 0.3"},
        {"tests": {"sample": "truth sample=9", "true": "truth"}},
        {"groups": "popularity 2"},
        {"columns": {**asked().columns, "P@5": ("seen", "P@4")}},
        {"n_seeds": 3},
        {"protocols": {**asked().protocols, "true": "AI-AN-AR rel>=5"}},
        {"worlds": [replace(named(1), seed=2)]},
        {"worlds": [named(2)]},
    ],
)
def test_what_decides_values_is_in_their_key(changed: dict[str, Any]) -> None:
    keys = {cell.key for cell in asked(1).cells()}
    assert len(keys) == 3
    assert keys.isdisjoint(cell.key for cell in asked(**{"n_worlds": 1, **changed}).cells())


def test_columns_come_in_the_order_that_is_asked_for() -> None:
    columns = dict(asked().columns)
    (first,) = run_worlds(asked(1))
    before = kept()
    (turned,) = run_worlds(asked(1, columns=dict(reversed(columns.items()))))
    assert list(turned)[3:] == list(first)[3:][::-1]
    assert (turned[list(columns)].to_numpy() == first[list(columns)].to_numpy()).all()
    assert kept() == before


def test_worlds_that_cannot_be_made_are_left_out_where_that_is_asked() -> None:
    impossible = World("world(relation=0.5,skew=0,users=60,items=40)", 9, {"relation": 0.5})
    grid = asked(worlds=[impossible, named(1)], systems=[POPULAR])
    with pytest.raises(ConfigError, match="relation"):
        run_worlds(grid)
    (table,) = run_worlds(grid, only_possible=True)
    assert digest_of(table) == digest_of(run_worlds(asked(1, systems=[POPULAR]))[0])


def test_labels_are_in_no_key() -> None:
    other = replace(named(1), labels={"what": "ever"})
    assert [c.key for c in asked(worlds=[other]).cells()] == [c.key for c in asked(1).cells()]


# -- what is measured --------------------------------------------------------------------------


@dataclass(frozen=True)
class Fixed:
    """Scores every item as given, for all users alike."""

    scores: np.ndarray[Any, Any]

    def fit(self, train: Ratings, *, rng: np.random.Generator | None = None) -> Self:
        return self

    def score(self, users: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        return np.tile(self.scores.astype(np.float32), (len(users), 1))


def _fixed(seen: Seen, fold: Split, scores: np.ndarray[Any, Any]) -> Fixed:
    return Fixed(scores)


SCORES = np.random.default_rng(3).permutation(40).astype(float)
FIXED = ("fixed", partial(_fixed, scores=SCORES))


def test_truth_by_lists_is_the_truth_by_ranks() -> None:
    """Over tested users, who are all of them, every pair gets a rank."""
    columns = {f"{by} {m}": (by, m) for by in ("lists", "ranks") for m in ("P@5", "antiP@7", "rho")}
    protocols = {"lists": "AI-AN-AR rel>=4", "ranks": "AI-AN-AR rel>=4 users=tested"}
    grid = asked(
        1, systems=[FIXED, RANDOM], protocols=protocols, columns=columns,
        tests=dict.fromkeys(protocols, "truth"),
    )  # fmt: skip
    (table,) = run_worlds(grid)
    for metric in ("P@5", "antiP@7", "rho"):
        assert table[f"lists {metric}"].to_numpy() == pytest.approx(
            table[f"ranks {metric}"].to_numpy(), rel=1e-12
        )
    fold = dataset_splits(load_dataset(str(named(1).source)), "ratio 0.2", seed=1)[0]
    liked = Seen(load_dataset(str(named(1).source)), 1).liked(4)
    seen = [set(fold.train.item[fold.train.user == user].tolist()) for user in range(60)]
    by_hand = []
    for user in range(60):
        best = sorted(set(range(40)) - seen[user], key=lambda item: -SCORES[item])[:5]
        by_hand.append(sum(bool(liked[user, item]) for item in best) / 5)
    assert table["lists P@5"][0] == pytest.approx(np.mean(by_hand), rel=1e-12)
    assert table["lists P@5"][1] != pytest.approx(np.mean(by_hand), rel=1e-3)


def test_samples_of_the_truth_and_thinned_tests_are_those_of_grids() -> None:
    grid = asked(
        1, systems=[FIXED],
        protocols={"sample": "AI-AN-AR rel>=4 users=tested", "thin": "TI-AN-AR rel>=4"},
        columns={"sample": ("sample", "nDCG@5"), "thin": ("thin", "P@5")},
        tests={"sample": "truth sample=8", "thin": "removed=40%"},
    )  # fmt: skip
    (table,) = run_worlds(grid)
    dataset = load_dataset(str(named(1).source))
    sampled = TestSet("truth", sample=8)
    judged = dataset_splits(dataset, "ratio 0.2", seed=1, judgments=sampled)[0]
    fold = dataset_splits(dataset, "ratio 0.2", seed=1)[0]
    stays = kept_rows(TestSet(removed=40), len(fold.test), seed=1, fold=0)
    thinned = replace(fold, test=fold.test.take(stays))

    def value(split: Split, rule: str, metric: str, population: str) -> float:
        targets = worlds_module.Grid(
            "synthetic", POPULAR, f"{rule} rel>=4", metric
        ).parsed[f"{rule} rel>=4"].targets  # fmt: skip
        (table,) = rank(Fixed(SCORES), split, [targets], seed=1)
        values = worlds_module.measure(table, [parse_metric(metric)], min_rating=4, rating_max=5)
        return float(aggregate(table, values, min_rating=4, population=population)[0])

    assert table["sample"][0] == pytest.approx(value(judged, "AI-AN-AR", "nDCG@5", "tested"))
    assert table["thin"][0] == pytest.approx(value(thinned, "TI-AN-AR", "P@5", "all"))
    assert table["thin"][0] != pytest.approx(value(fold, "TI-AN-AR", "P@5", "all"), rel=1e-3)


def test_ties_samples_and_percentiles_are_measured() -> None:
    grid = asked(
        1, systems=[POPULAR], groups="popularity 4",
        protocols={
            "ties": "AI-AN-AR rel>=4", "drawn": "TI-NN-1R t=20 rel>=4",
            "P1R": "TI-AN-P1R m=4 rel>=4",
            "median": "AI-AN-AR rel>=4 users=relevant statistic=median",
            "warm": "AI-AN-AR rel>=4 users=trained>=3",
        },
        columns={
            "ties": ("ties", "P@5|ties"), "drawn": ("drawn", "P@5"), "P1R": ("P1R", "P@5|t=8"),
            "median": ("median", "AP"), "warm": ("warm", "P@5"),
        },
        tests={},
    )  # fmt: skip
    (table,) = run_worlds(grid)
    assert table[list(grid.columns)].gt(0).all().all()


def _more(ranked: Ranked, factor: float = 1.0) -> dict[str, float]:
    lists = ranked.positions.lists("AI", 3)
    return {"first": factor * float(lists[0, 0]), "n": float(len(ranked.fold.test))}


def test_measures_of_ones_own_are_columns() -> None:
    grid = asked(1, systems=[FIXED], own=partial(_more, factor=2.0), depth=3)
    (table,) = run_worlds(grid)
    assert list(table)[-2:] == ["first", "n"]
    fold = dataset_splits(load_dataset(str(named(1).source)), "ratio 0.2", seed=1)[0]
    open_to_first = set(range(40)) - set(fold.train.item[fold.train.user == 0].tolist())
    assert table["first"][0] == 2 * max(open_to_first, key=lambda item: SCORES[item])
    assert table["n"][0] == len(fold.test)
    (other,) = run_worlds(replace(grid, own=partial(_more, factor=3.0)))
    assert other["first"][0] == 1.5 * table["first"][0]
    with pytest.raises(ConfigError, match="measured twice: n"):
        run_worlds(replace(grid, columns={**grid.columns, "n": ("seen", "P@5")}))


def _made(seed: int, n_items: int) -> Ratings:
    return load_dataset(f"world(alpha=1,users=30,items={n_items},seed={seed})").ratings


def test_worlds_are_made_by_functions_too() -> None:
    grid = asked(worlds=[World(partial(_made, 5, n_items=20), 5, {"kind": "made"})],
                 protocols={"seen": "AI-AN-AR rel>=4"}, columns={"P": ("seen", "P@5")},
                 tests={}, systems=[POPULAR])  # fmt: skip
    (table,) = run_worlds(grid)
    name = "world(alpha=1,users=30,items=20,seed=5)"
    (of_name,) = run_worlds(replace(grid, worlds=[World(name, 5, {"kind": "named"})]))
    assert table["kind"][0] == "made"
    assert table["P"][0] == of_name["P"][0]
    others = [replace(grid, worlds=[World(partial(_made, 5, n_items=n), 5)]) for n in (20, 21)]
    assert len({cell.key for other in others for cell in other.cells()}) == 2


def _size(seen: Seen, least: int) -> tuple[int, int]:
    return seen.labels["number"], int((seen.ratings.user_counts() >= least).sum())


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_worlds_are_looked_at_in_their_order(workers: int) -> None:
    found = each_world(partial(_size, least=1), [named(n) for n in (3, 1, 2)], workers=workers)
    assert [number for number, _ in found] == [3, 1, 2]
    assert all(size > 50 for _, size in found)


def test_what_is_ranked_in_place_is_what_a_cell_is() -> None:
    (table,) = run_worlds(asked(1))
    seen = Seen(load_dataset(str(named(1).source)), 1)
    for system in (POPULAR, RANDOM):
        positions = seen.ranked(system, seen.fold("ratio 0.2"), depth=5).positions
        ranks = positions.table(TargetRule.parse("AI-AN-AR"))
        values = worlds_module.measure(ranks, [parse_metric("P@5")], min_rating=4)
        value = float(aggregate(ranks, values, min_rating=4, population="tested")[0])
        assert value == table.loc[table["system"] == system.name, "P@5"].iloc[0]


# -- refused -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"systems": []}, "systems with different names, got"),
        ({"systems": [POPULAR, POPULAR]}, "systems with different names"),
        ({"columns": {"P": ("other", "P@5")}}, "asked under 'other', which is no protocol"),
        ({"tests": {"true": "truth sample=5 train=same"}}, "systems learn what was observed"),
        ({"columns": {"G": ("true", "Gini@5")}, "protocols": {"true": "AI-AN-AR rel>=4"},
          "tests": {}}, "Gini@5 under 'true': worlds measure ranks"),
        ({"protocols": {**asked().protocols, "seen": "AI-AN-AR rel>=4 unscored=last"}},
         "what has no score has no place"),
        ({"protocols": {**asked().protocols, "seen": "TI-NN-AR N=9 rel>=4"},
          "tests": {"seen": "removed=20%"}}, "samples are drawn of whole test sides"),
        ({"columns": {"P": ("seen", "Q@5")}}, "unknown metric 'Q'"),
    ],
)  # fmt: skip
def test_grids_that_cannot_be_measured_are_refused(changed: dict[str, Any], said: str) -> None:
    columns = {label: (label, "P@5") for label in asked().protocols}
    with pytest.raises(ConfigError, match=said):
        asked(**{"columns": columns, **changed})


def test_a_world_without_truth_is_refused_when_the_truth_is_asked_for() -> None:
    grid = asked(worlds=[World(partial(_made, 5, n_items=20), 5)], systems=[POPULAR])
    with pytest.raises(ConfigError, match=r"the truth of .* is not known"):
        run_worlds(grid)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (lambda seen, fold: Fixed(SCORES), "expected a function at the level of its module"),
        (partial(_fixed, scores=object()), "is given object: expected numbers"),
        (len, "len: write it in a module, whose text is kept"),
    ],
)
def test_code_that_no_key_can_name_is_refused(code: Callable[..., Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        asked(systems=[("own", code)]).cells()
