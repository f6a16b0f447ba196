"""An audit: recorded results are manipulated one by one, and each manipulation has to be noticed.

A small chapter (two grids, checks and a table on a made-up world) is recorded into a folder that
stands for a clone. What is edited there ends in a clear error when it is read, in "differs" when it
is computed again or held against what its chapter asks for, or stands on the list of what cannot be
detected, in `recbias.experiment.verification`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import golden_asked
import recbias.experiment.makers
from recbias import Grid, Results, System, run
from recbias._system.streams import stream
from recbias.claims import TOPICS, chapters, load_chapter, lock
from recbias.claims.checks import Check, Checks
from recbias.claims.records import criteria_of
from recbias.cli.commands import main
from recbias.errors import ConfigError, MissingData, StoreError
from recbias.experiment import verification
from recbias.experiment.asked import asked_of, read_asked
from recbias.experiment.makers import Table, find_maker, maker
from recbias.experiment.results import SIMULATIONS, load_result, results_dir
from recbias.experiment.store import digest, read_arrays, write_arrays, write_document
from recbias.experiment.verification import (
    LEFT_OUT,
    check_foundations,
    check_manifest,
    check_recorded,
    listed_datasets,
    renew_manifest,
    verify,
)

FOUNDATIONS = dict(verification._FOUNDATIONS)
"""What rooms register to be checked with results."""

WORLD = "world(users=60,items=80,density=0.1,seed=4)"
CHAPTER = "01_audit"
GRID = Grid(
    WORLD,
    (
        System("Random", "Random", n_seeds=2),
        System("Popularity", "Popularity"),
        System("ALS", "ImplicitALS", {"n_factors": 4, "n_iterations": 2}),
        System("kNN", "UserKNN", {"n_neighbours": 5}),
    ),
    {"AR": "TI-AN-AR rel>=4", "1R": "TI-NN-1R t=9 rel>=4"},
    {"AR": ("P@5", "R@5", "Coverage@5"), "1R": ("P@5",)},
    split="k-fold 2",
    compare=(("AR", "P@5"), ("1R", "P@5")),
    replicates=(("AR", "P@5"), ("AR", "R@5")),
    crossed=(("AR", "P@5"),),
)

FEW = GRID.with_systems(["Random", "Popularity"])
NO_PAIRS: dict[str, Any] = {"compare": (), "replicates": (), "crossed": ()}

# -- a recorded chapter ------------------------------------------------------------------------


@pytest.fixture(scope="module", autouse=True)
def makers() -> Iterator[None]:
    """Register what the chapter is made by, for the time of these tests."""

    @maker("audit", Checks, name="checks")
    def check(dataset: Any, *, limit: int) -> Any:
        violation = float(dataset.ratings.item_counts().max()) - limit
        rows = [
            Check("BCC17-T2", "above", "largest count above a limit", 1, violation),
            Check("BCC17-T3", "negative", "negative counts", 80, 0.0),
        ]
        return rows, {"rho": len(dataset.ratings) / (60 * 80)}

    @maker("audit", Table)
    def sweep(dataset: Any, *, sizes: list[int]) -> Any:
        counts = np.sort(dataset.ratings.item_counts())[::-1]
        shares = [counts[:size].sum() / counts.sum() for size in sizes]
        frame = pd.DataFrame({"size": sizes, "part": "head", "value": shares})
        noise = stream(1, "sweep").normal(size=(len(sizes), 40))
        return ("size", "part"), frame, frame["value"].to_numpy()[:, None] * (1 + 0.01 * noise)

    @maker("audit", Table)
    def together(dataset: Any, *, grid: Grid) -> Any:
        frame = pd.DataFrame({"n": ["systems"], "value": [float(len(grid.systems))]})
        return ("n",), frame, None

    @maker("audit", Table)
    def overtaken(dataset: Any, *, grid: Grid) -> Any:
        del grid  # is named in the record
        return ("a", "size"), pd.DataFrame({"a": ["ALS"], "size": [5], "value": [1.0]}), None

    @maker("audit", Table)
    def worlds(*, n_users: int, seeds: list[int]) -> Any:
        drawn = [float(stream(seed, "worlds").normal(size=n_users).mean()) for seed in seeds]
        return ("seed",), pd.DataFrame({"seed": seeds, "value": drawn}), None

    yield
    # Not what was known before: chapters that these tests import are imported only once.
    for name in [name for name in recbias.experiment.makers._MAKERS if name.startswith("audit/")]:
        del recbias.experiment.makers._MAKERS[name]


@pytest.fixture(autouse=True)
def nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave criteria and their lock out: the made-up chapter has none."""
    monkeypatch.setattr(verification, "_FOUNDATIONS", {})


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Record the chapter once; return the folder of recorded results and that of its cells."""
    root = tmp_path_factory.mktemp("recorded")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RECBIAS_CELLS", str(root / "cells"))
        patch.setenv("RECBIAS_RESULTS", str(root / "data" / "recorded"))
        run(GRID, name=f"{CHAPTER}/grid")
        run(FEW, name=f"{CHAPTER}/few")
        find_maker("audit/checks")(WORLD, limit=3, name=f"{CHAPTER}/checks")
        find_maker("audit/sweep")(WORLD, sizes=[1, 5], name=f"{CHAPTER}/sweep")
    renew_manifest(root / "data" / "recorded")
    write_asked(root / "data" / "recorded")
    return root / "data" / "recorded", root / "cells"


@pytest.fixture(scope="module")
def computed() -> dict[tuple[str, Any], Any]:
    """Keep what was computed anew, by grid and systems."""
    return {}


@pytest.fixture
def computed_once(computed: dict[tuple[str, Any], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Compute each grid anew only once, for tests of what the comparison finds.

    Documents are edited, and no ratings: what the same grid gives anew is the same.
    """
    anew = Results.recompute

    def recompute(stored: Results, *, systems: Any = None, **options: Any) -> Any:
        asked = digest(stored.grid.to_dict()), systems
        if asked not in computed:
            computed[asked] = anew(stored, systems=systems, **options)
        return computed[asked]

    monkeypatch.setattr(Results, "recompute", recompute)


def write_asked(folder: Path) -> None:
    """Let chapters ask for what is recorded now, as the list is derived from notebooks."""
    asked: dict[str, dict[str, dict[str, str]]] = {}
    for path in sorted(folder.glob("*/*/*.json")):
        dataset, *name = path.relative_to(folder).with_suffix("").parts
        parameters = json.loads(path.read_text())["parameters"]
        asked.setdefault(dataset, {})["/".join(name)] = asked_of(parameters)
    (folder / "asked.json").write_text(json.dumps(asked))


@pytest.fixture
def chapter(
    recorded: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Chapter:
    """Put a copy of what was recorded into a clone of its own, with the cells at hand."""
    shutil.copytree(recorded[0], tmp_path / "data" / "recorded")
    monkeypatch.setattr("recbias.experiment.results.clone_root", lambda: tmp_path)
    monkeypatch.setenv("RECBIAS_CELLS", str(recorded[1]))
    return Chapter(results_dir(WORLD, recorded=True) / CHAPTER)


@dataclass(frozen=True)
class Chapter:
    """The folder of the chapter's results, and how its files are changed."""

    folder: Path

    def edit(
        self, name: str, change: Callable[[dict[str, Any]], object], *, digested: bool
    ) -> None:
        """Change a document; a forger digests it again and lists it in the manifest."""
        path = self.folder / f"{name}.json"
        record = json.loads(path.read_text())
        change(record)
        if not digested:
            path.write_text(json.dumps(record))
            return
        del record["digest"]
        write_document(path, **record)
        self.list_again()

    def edit_arrays(
        self, name: str, change: Callable[[dict[str, Any]], object], *, digested: bool
    ) -> None:
        """Change the arrays of a document; a forger names the new file in the document too."""
        path = self.folder / f"{name}.parquet"
        key = json.loads(path.with_suffix(".json").read_text())["key"]
        arrays, _ = read_arrays(path, key=key)
        change(arrays)
        sidecar = write_arrays(path, arrays, key=key, provenance={}, level=19)
        if digested:
            self.edit(name, lambda record: record.update(sidecar=sidecar), digested=True)

    def record(self, name: str, grid: Grid) -> None:
        run(grid, name=f"{CHAPTER}/{name}")

    def make(self, name: str, of: str, **parameters: Any) -> None:
        find_maker(of)(WORLD, **parameters, name=f"{CHAPTER}/{name}")

    def remove(self, name: str) -> None:
        for path in self.folder.glob(f"{name}.*"):
            path.unlink()

    def swap(self, name: str, other: str) -> None:
        for suffix in (".json", ".parquet"):
            one, two = (self.folder / f"{each}{suffix}" for each in (name, other))
            kept = one.read_bytes()
            one.write_bytes(two.read_bytes())
            two.write_bytes(kept)

    def keep(self, name: str) -> None:
        """Keep one result alone, which makes a test of it shorter; no other is asked for."""
        for path in self.folder.glob("*.json"):
            if path.stem != name:
                self.remove(path.stem)
        write_asked(results_dir("", recorded=True))

    def list_again(self) -> None:
        renew_manifest(results_dir("", recorded=True))

    def differing(self, **options: Any) -> str:
        """Tell what verification finds."""
        found = verify(WORLD, **options)
        assert (found["agrees"] == (found["differing"].map(len) == 0)).all()
        return "\n".join(
            f"{row.recorded}: {text}" for row in found.itertuples() for text in row.differing
        )


def test_what_was_recorded_agrees_in_full_and_in_part(chapter: Chapter) -> None:
    assert set(load_chapter(CHAPTER, WORLD)) == {"grid", "few", "checks", "sweep"}
    full, part = verify(WORLD), verify(WORLD, systems=2)
    assert full["agrees"].all()
    assert part["agrees"].all()
    assert (full["difference"] == 0).all()
    n_values = full.set_index(["recorded", "about"])["values"].groupby("recorded").sum()
    # Four systems: 6 numbers of 4 metrics, replicates of all, 6 pairs under AR and twice under 1R
    # with 6 numbers, 2 corrections each, 5 counts for each of 2 labels, 3 numbers over items too.
    assert n_values[f"{CHAPTER}/grid"] == 4 * 4 * (6 + 1) + 18 * (6 + 2) + 2 * 5 + 4 * 3
    assert n_values[f"{CHAPTER}/checks"] == 2 * 3 + 1
    # Two systems have a pair that is tested, and corrections are those of all pairs.
    grid = part.set_index("recorded").loc[f"{CHAPTER}/grid"]
    assert grid["values"].sum() == 2 * 4 * (6 + 1) + 3 * 6 + 18 * 2 + 2 * 5 + 2 * 3


def test_a_table_about_all_systems_is_compared_with_all_of_them_only(
    chapter: Chapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECBIAS_RESULTS", str(chapter.folder.parents[1]))
    find_maker("audit/together")(WORLD, grid=GRID, name=f"{CHAPTER}/together")
    chapter.keep("together")
    chapter.list_again()
    chapter.edit("together", column("frame", "value", 0, lambda _: 9.0), digested=True)
    assert "together" in chapter.differing()
    found = verify(WORLD, systems=2)
    assert found["agrees"].all()
    assert found[["about", "values"]].to_numpy().tolist() == [[LEFT_OUT, 0]]


def test_results_that_are_chosen_are_compared_alone_and_with_these_systems(
    chapter: Chapter,
) -> None:
    chosen = {f"{CHAPTER}/grid": ("Popularity", "kNN"), f"{CHAPTER}/checks": None}
    found = verify(WORLD, chosen=chosen)
    assert found["agrees"].all()
    assert found["recorded"].tolist() == [f"{CHAPTER}/checks", f"{CHAPTER}/grid"]
    chapter.edit("grid", EDITS["a value"][1], digested=True)  # of Popularity
    chapter.edit("sweep", EDITS["a table"][1], digested=True)
    found = verify(WORLD, chosen=chosen)
    assert found["agrees"].tolist() == [True, False]
    others = {f"{CHAPTER}/grid": ("Random", "kNN")}
    assert verify(WORLD, chosen=others)["agrees"].all()
    # All that needs no data is checked of what was not chosen, too.
    chapter.remove("few")
    assert "few: missing" in chapter.differing(chosen={})


def test_a_table_about_als_is_left_out_of_a_sample_on_another_processor(
    chapter: Chapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECBIAS_RESULTS", str(chapter.folder.parents[1]))
    name = f"{CHAPTER}/together"
    find_maker("audit/together")(WORLD, grid=GRID, name=name)
    chapter.keep("together")
    chapter.list_again()
    assert verify(WORLD, chosen={name: None})["values"].tolist() == [1]
    chapter.edit("together", put("provenance", "blas", to=["another"]), digested=True)
    row = verify(WORLD, chosen={name: None}).iloc[0]
    assert (row["values"], row["agrees"]) == (0, True)
    why = "ALS depends on the processor, and it was recorded with another"
    assert row["about"] == f"not compared: {why}"
    assert verify(WORLD)["values"].tolist() == [1]  # in full it is compared all the same
    chapter.edit("together", column("frame", "value", 0, lambda value: value + 0.5), digested=True)
    row = verify(WORLD).iloc[0]
    assert (row["agrees"], row["about"]) == (True, f"differs, by 0.5 at most, as it may: {why}")
    # A number where none was is no matter of processors.
    chapter.edit("together", column("frame", "value", 0, lambda _: None), digested=True)
    assert not verify(WORLD)["agrees"].item()
    # The twin: nothing in it depends on the processor.
    find_maker("audit/together")(WORLD, grid=FEW, name=name)
    write_asked(results_dir("", recorded=True))
    chapter.edit("together", put("provenance", "blas", to=["another"]), digested=True)
    assert verify(WORLD, chosen={name: None})["values"].tolist() == [1]
    chapter.edit("together", column("frame", "value", 0, lambda value: value + 0.5), digested=True)
    assert not verify(WORLD)["agrees"].item()


def test_als_may_be_overtaken_elsewhere_on_another_processor(
    chapter: Chapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECBIAS_RESULTS", str(chapter.folder.parents[1]))
    find_maker("audit/overtaken")(WORLD, grid=GRID, name=f"{CHAPTER}/overtaken")
    chapter.keep("overtaken")
    chapter.list_again()
    elsewhere = column("frame", "size", 0, lambda size: size + 1)
    chapter.edit("overtaken", elsewhere, digested=True)
    assert not verify(WORLD)["agrees"].item()  # the twin: recorded on this processor
    chapter.edit("overtaken", put("provenance", "blas", to=["another"]), digested=True)
    row = verify(WORLD).iloc[0]
    assert row["agrees"]
    assert row["about"].startswith("differs, in 2 rows, 2 of them by no number, as it may: ALS ")
    # Another twin: a row of another system where that of ALS was.
    chapter.edit("overtaken", column("frame", "a", 0, lambda _: "kNN"), digested=True)
    assert verify(WORLD)["differing"].item() == ("kNN 6: value",)


# -- manipulations -----------------------------------------------------------------------------


def column(
    table: str, name: str, row: int | slice, to: Callable[[Any], Any]
) -> Callable[[dict[str, Any]], None]:
    """Change some numbers of a table in a document."""

    def change(record: dict[str, Any]) -> None:
        values = record["body"][table]["columns"][name]
        for place in range(*row.indices(len(values))) if isinstance(row, slice) else [row]:
            values[place] = to(values[place])

    return change


def both(*changes: Callable[[dict[str, Any]], None]) -> Callable[[dict[str, Any]], None]:
    return lambda record: [change(record) for change in changes] and None


def put(*path: str | int, to: Any) -> Callable[[dict[str, Any]], None]:
    """Replace an entry of a document."""

    def change(record: Any) -> None:
        for step in path[:-1]:
            record = record[step]
        record[path[-1]] = to

    return change


def swap_rows(record: dict[str, Any]) -> None:
    """Give Popularity the values of kNN, and kNN those of Popularity."""
    for values in record["body"]["values"]["columns"].values():
        values[4:8], values[12:16] = values[12:16], values[4:8]


def swap_names(record: dict[str, Any]) -> None:
    first, second = record["parameters"]["systems"][:2]
    first["name"], second["name"] = second["name"], first["name"]


def drop_tests(record: dict[str, Any]) -> None:
    for values in record["body"]["tests"]["columns"].values():
        del values[0]


def zero_checks(record: dict[str, Any]) -> None:
    for check in record["body"]["checks"]:
        check["worst"] = 0.0


ALL = slice(None)
POPULARITY, ALS = 4, 8  # their first rows of the values, under AR

EDITS: dict[str, tuple[str, Callable[[dict[str, Any]], None], str]] = {
    # what is edited: document, change, what a fresh result says of it once it is digested again
    "a value": (
        "grid", column("values", "value", POPULARITY, lambda v: v * 1.1),
        "Popularity AR TI-AN-AR rel>=4 P@5: value",
    ),
    "a value and its error": (
        "grid",
        both(
            column("values", "value", ALL, lambda v: v * 10),
            column("values", "se", ALL, lambda v: 1e6),
        ),
        "Popularity AR TI-AN-AR rel>=4 P@5: value, se",
    ),
    "an interval": (
        "grid", column("values", "low", POPULARITY, lambda v: v * 0.9),
        "Popularity AR TI-AN-AR rel>=4 P@5: low",
    ),
    "a spread": (
        "grid", column("values", "fold_sd", POPULARITY, lambda v: 0.0),
        "Popularity AR TI-AN-AR rel>=4 P@5: fold_sd",
    ),
    "the users behind a value": (
        "grid", column("values", "n_users", POPULARITY, lambda v: v + 1),
        "Popularity AR TI-AN-AR rel>=4 P@5: n_users",
    ),
    "a value without an error": (
        "grid", column("values", "value", POPULARITY + 2, lambda v: v + 1e-6),
        "Popularity AR TI-AN-AR rel>=4 Coverage@5: value",
    ),
    "an interval over users and items": (
        "grid", column("crossed", "low", 1, lambda v: v * 0.9), "crossed Popularity AR P@5: low",
    ),
    "systems in the values": (
        "grid", swap_rows, "Popularity AR TI-AN-AR rel>=4 P@5: value",
    ),
    "p values": (
        "grid", column("tests", "wilcoxon_p", ALL, lambda p: 1e-30),
        "tests Random kNN AR P@5 user: wilcoxon_p",
    ),
    "corrected p values alone": (
        "grid", column("tests", "wilcoxon_p_holm", ALL, lambda p: 1e-30),
        "tests AR P@5 user Random kNN: wilcoxon_p_holm",
    ),
    "a difference of a test": (
        "grid", column("tests", "difference", ALL, lambda d: -d - 0.1),
        "tests Random kNN AR P@5 user: difference",
    ),
    "a test that is left out": ("grid", drop_tests, "tests Random Popularity AR P@5 user: n,"),
    "a column that is left out": (
        "grid",
        lambda record: [record["body"]["tests"][part].pop("t_p") for part in ("dtypes", "columns")],
        "tests columns: t_p",
    ),
    "target sets": (
        "grid", column("target_sets", "short_sample", ALL, lambda n: n + 1),
        "target_sets AR: short_sample",
    ),
    "checks": ("checks", zero_checks, "BCC17-T2 above: worst"),
    "how much was checked": (
        "checks", put("body", "checks", 1, "n_checked", to=8000), "BCC17-T3 negative: n_checked",
    ),
    "a statistic": ("checks", put("body", "statistics", "rho", to=0.5), "statistics rho: value"),
    "a table": ("sweep", column("frame", "value", 1, lambda v: v + 1e-4), "5 head: value"),
    "feedback": (
        "grid", put("dataset", "feedback", to="implicit"),
        "dataset: feedback is recorded as 'implicit', found 'explicit'",
    ),
    "a title": ("checks", put("dataset", "title", to="MovieLens"), "dataset: title is recorded"),
    "a size": ("sweep", put("dataset", "n_ratings", to=7), "dataset: n_ratings is recorded as 7"),
    "a number of users": ("few", put("dataset", "n_users", to=7), "dataset: n_users is recorded"),
}  # fmt: skip
"""Noticed when they are read, because of the digest, and by a fresh result where it was renewed."""


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_is_refused_when_it_is_read(chapter: Chapter, name: str) -> None:
    document, change, _ = EDITS[name]
    chapter.edit(document, change, digested=False)
    with pytest.raises(StoreError, match=rf"{document}\.json: changed after it was computed"):
        load_chapter(CHAPTER, WORLD)
    with pytest.raises(StoreError, match="changed after it was computed"):
        verify(WORLD)


@pytest.mark.usefixtures("computed_once")
@pytest.mark.parametrize("name", EDITS)
def test_an_edit_that_was_digested_again_differs_from_a_fresh_result(
    chapter: Chapter, name: str
) -> None:
    document, change, says = EDITS[name]
    chapter.keep(document)
    chapter.edit(document, change, digested=True)
    assert load_chapter(CHAPTER, WORLD)
    assert says in chapter.differing()


SEEN_IN_PART = [
    "p values", "corrected p values alone", "a difference of a test", "target sets", "checks",
    "how much was checked", "a statistic", "a table", "feedback", "a title", "a size",
]  # fmt: skip


@pytest.mark.usefixtures("computed_once")
@pytest.mark.parametrize("name", SEEN_IN_PART)
def test_a_part_of_the_systems_shows_what_is_no_single_system_s(
    chapter: Chapter, name: str
) -> None:
    document, change, says = EDITS[name]
    chapter.keep(document)
    chapter.edit(document, change, digested=True)
    found = chapter.differing(systems=2)
    # The part holds Random, and ALS in the place of the last.
    assert says.replace("kNN", "ALS") in found


@pytest.mark.usefixtures("computed_once")
def test_a_part_holds_a_system_that_depends_on_the_processor(chapter: Chapter) -> None:
    names = {n: [s.name for s in GRID.sample(n).systems] for n in (1, 2, 3, 4, 9)}
    assert names[1] == ["ALS"]
    assert names[2] == ["Random", "ALS"]
    assert names[3] == ["Random", "ALS", "kNN"]
    assert names[4] == names[9] == ["Random", "Popularity", "ALS", "kNN"]
    assert GRID.sample(1).compare == ()
    assert GRID.sample(2).compare == GRID.compare
    alone = verify(WORLD, systems=1)
    assert alone["agrees"].all()
    assert alone["about"].str.contains("ALS").any()


# -- replicates --------------------------------------------------------------------------------


def shift(arrays: dict[str, Any]) -> None:
    arrays["replicates"] = (arrays["replicates"] * 1.05).astype(np.float32)


def forget(arrays: dict[str, Any]) -> None:
    rows = arrays["rows"]
    drawn = arrays["replicates"].reshape(len(rows), -1)
    arrays["rows"], arrays["replicates"] = rows[1:], drawn[1:].ravel()


def halve(arrays: dict[str, Any]) -> None:
    drawn = arrays["replicates"].reshape(len(arrays["rows"]), -1)
    arrays["replicates"] = drawn[:, ::2].ravel()


REPLICATES = {
    "edited": ("grid", shift, "Popularity AR P@5: replicates"),
    "of one value left out": ("grid", forget, "Random AR P@5: replicates"),
    "fewer": ("grid", halve, "Popularity AR P@5: replicates"),
    "of a table": ("sweep", shift, "replicates"),
}


@pytest.mark.parametrize("name", REPLICATES)
def test_edited_replicates_are_refused(chapter: Chapter, name: str) -> None:
    document, change, _ = REPLICATES[name]
    chapter.edit_arrays(document, change, digested=False)
    with pytest.raises(StoreError, match=rf"{document}\.parquet: not the file that belongs"):
        load_chapter(CHAPTER, WORLD)


@pytest.mark.usefixtures("computed_once")
@pytest.mark.parametrize("name", REPLICATES)
def test_replicates_that_were_digested_again_differ(chapter: Chapter, name: str) -> None:
    document, change, says = REPLICATES[name]
    chapter.keep(document)
    chapter.edit_arrays(document, change, digested=True)
    assert load_chapter(CHAPTER, WORLD)
    assert says in chapter.differing()


# -- keys, kinds and shapes: no digest helps ---------------------------------------------------

REFUSED = {
    "a stale key": (put("key", to="0" * 64), "computed by another revision of the code"),
    "names of systems": (swap_names, "computed by another revision of the code"),
    "a parameter": (put("parameters", "seed", to=2), "computed by another revision of the code"),
    "a hash of the data": (
        put("dataset", "hashes", "observed", to="0" * 64), "computed by another revision",
    ),
    "another data set": (put("dataset", "name", to="ml-1m"), "about ml-1m with content"),
    "another kind": (put("kind", to="riddle"), "results of kind 'riddle', known are"),
    "no tests": (lambda r: r["body"].pop("tests"), "not what results of kind 'grid' store"),
    "unequal columns": (
        lambda r: r["body"]["tests"]["columns"]["n"].pop(), "not a table",
    ),
    "an unknown parameter": (
        put("parameters", "colour", to=1), "not what results of kind 'grid' store",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_fit_the_code_is_refused_with_any_digest(chapter: Chapter, name: str) -> None:
    change, says = REFUSED[name]
    chapter.keep("grid")
    chapter.edit("grid", change, digested=True)
    with pytest.raises(StoreError, match=re.escape(says)):
        load_chapter(CHAPTER, WORLD)
    with pytest.raises(StoreError, match=re.escape(says)):
        verify(WORLD)


def test_parameters_of_another_data_set_are_refused(tmp_path: Path) -> None:
    shutil.copy(_real() / "systems" / "mccrs20.json", tmp_path / "x.json")
    Chapter(tmp_path).edit("x", put("parameters", "dataset", to="ml-100k"), digested=False)
    record = json.loads((tmp_path / "x.json").read_text())
    del record["digest"]
    write_document(tmp_path / "x.json", **record)
    with pytest.raises(StoreError, match=r"filmtrust .* asked of ml-100k, expected filmtrust"):
        load_result(tmp_path / "x", dataset="filmtrust")


def _real() -> Path:
    return Path(__file__).parents[2] / "data" / "recorded" / "filmtrust"


# -- the manifest ------------------------------------------------------------------------------


@pytest.mark.usefixtures("computed_once")
@pytest.mark.parametrize("name", ["grid", "checks", "few"])
def test_a_deleted_result_is_missed(chapter: Chapter, name: str) -> None:
    chapter.remove(name)
    with pytest.raises(StoreError, match=f"its results are missing: {name}\nrestore them"):
        load_chapter(CHAPTER, WORLD)
    assert f"{CHAPTER}/{name}: missing, yet listed in the manifest" in chapter.differing(systems=1)


def test_a_deleted_chapter_and_data_set_are_missed(chapter: Chapter) -> None:
    shutil.rmtree(chapter.folder.parent)
    with pytest.raises(StoreError, match="its results are missing: checks, few, grid, sweep"):
        load_chapter(CHAPTER, WORLD)
    assert chapter.differing().count("missing, yet listed") == 4
    assert listed_datasets() == [WORLD]


def test_a_deleted_or_damaged_manifest_is_missed(chapter: Chapter) -> None:
    manifest = results_dir("", recorded=True) / "manifest.json"
    for text in (None, "[]", "{", '{"x": {"y": {"kind": "grid"}}}', '{"x": {"y": 1}}'):
        manifest.unlink() if text is None else manifest.write_text(text)
        for read in (lambda: load_chapter(CHAPTER, WORLD), lambda: verify(WORLD), listed_datasets):
            with pytest.raises(StoreError, match=r"manifest\.json: not a list of the recorded"):
                read()


def test_what_was_loaded_is_not_taken_for_a_file_that_changed(chapter: Chapter) -> None:
    first = load_chapter(CHAPTER, WORLD)["grid"]
    assert load_chapter(CHAPTER, WORLD)["grid"] is first
    assert list(load_chapter(CHAPTER, WORLD, "grid")) == ["grid"]
    for suffix in (".json", ".parquet"):
        path = chapter.folder / f"grid{suffix}"
        was, status = path.read_bytes(), path.stat()
        path.write_bytes(was[:-9] + bytes([was[-9] ^ 1]) + was[-8:])
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        with pytest.raises(StoreError):
            load_chapter(CHAPTER, WORLD)
        path.write_bytes(was)
    assert load_chapter(CHAPTER, WORLD)["grid"] is first


@pytest.mark.usefixtures("computed_once")
def test_an_added_or_exchanged_result_differs(chapter: Chapter) -> None:
    shutil.copy(chapter.folder / "checks.json", chapter.folder / "more.json")
    chapter.swap("grid", "few")
    assert check_manifest(WORLD) == {
        f"{CHAPTER}/few": "another key and digest than the manifest lists",
        f"{CHAPTER}/grid": "another key and digest than the manifest lists",
        f"{CHAPTER}/more": "not listed in the manifest",
    }
    assert "grid: another key and digest" in chapter.differing(systems=1)


def test_the_manifest_is_renewed_by_chapter(chapter: Chapter) -> None:
    folder = results_dir("", recorded=True)
    before = (folder / "manifest.json").read_text()
    chapter.remove("few")
    renew_manifest(folder, WORLD, "02_another")
    renew_manifest(folder, "ml-1m", CHAPTER)
    assert (folder / "manifest.json").read_text() == before
    renew_manifest(folder, WORLD, CHAPTER)
    assert set(json.loads((folder / "manifest.json").read_text())[WORLD]) == {
        f"{CHAPTER}/{name}" for name in ("checks", "grid", "sweep")
    }
    assert check_manifest(WORLD) == {}


def test_the_clone_has_a_manifest_of_its_recorded_results() -> None:
    for dataset in listed_datasets():
        assert check_manifest(dataset) == {}, dataset


def test_nothing_recorded_is_no_agreement(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recbias.experiment.results.clone_root", lambda: tmp_path)
    assert load_chapter(CHAPTER, WORLD) == {}
    with pytest.raises(MissingData, match="no recorded results to verify"):
        verify(WORLD)


# -- honest results that were not asked for -----------------------------------------------------

HONEST: dict[str, tuple[Callable[[Chapter], object], str]] = {
    # what is recorded under a name, computed by this code, and what is said of it
    "another seed": (
        lambda c: c.record("grid", replace(GRID, seed=2)), "grid: .*: seed is 2, not left out",
    ),
    "another split": (
        lambda c: c.record("grid", replace(GRID, split="k-fold 3")),
        'grid: .*: split is "k-fold 3", not "k-fold 2"',
    ),
    "another metric": (
        lambda c: c.record("few", replace(
            FEW, metrics={"AR": ("P@6", "R@5"), "1R": ("P@5",)}, **NO_PAIRS
        )),
        "few: .*: .*other metrics",
    ),
    "another threshold": (
        lambda c: c.record("few", replace(
            FEW, protocols={"AR": "TI-AN-AR rel>=1", "1R": "TI-NN-1R t=9 rel>=4"}
        )),
        "few: .*: other protocols",
    ),
    "judgments removed": (
        lambda c: c.record("few", replace(FEW, tests={"AR": "observed removed=50%"})),
        "few: .*: tests is .*removed=50%.*, not left out",
    ),
    "some ratings only": (
        lambda c: c.record("few", replace(FEW, select="core=2")), "few: .*: select is ",
    ),
    "more neighbours": (
        lambda c: c.record("grid", replace(GRID, systems=(
            *GRID.systems[:3], System("kNN", "UserKNN", {"n_neighbours": 50})
        ))),
        "grid: .*: other systems",
    ),
    "fewer systems": (lambda c: c.record("grid", FEW), "grid: .*: other systems"),
    "fewer trainings": (
        lambda c: c.record("few", replace(FEW, systems=(
            System("Random", "Random"), System("Popularity", "Popularity")
        ))),
        "few: .*: other systems",
    ),
    "another limit of a check": (
        lambda c: c.make("checks", "audit/checks", limit=4), "checks: .*: limit is 4, not 3",
    ),
    "other sizes of a table": (
        lambda c: c.make("sweep", "audit/sweep", sizes=[1, 7]),
        r"sweep: .*: sizes is \[1,7\], not \[1,5\]",
    ),
    "a table of another maker": (
        lambda c: c.make("sweep", "audit/together", grid=GRID.to_dict()),
        "sweep: .*: .*maker is .audit/together., not .audit/sweep.",
    ),
    "exchanged names": (lambda c: c.swap("grid", "few"), "(?s)few: .*other sys.*grid: .*other sys"),
    "a copy under another name": (
        lambda c: shutil.copy(c.folder / "checks.json", c.folder / "more.json"),
        "more: recorded, yet no chapter asks for it",
    ),
    "a result hidden from the manifest too": (
        lambda c: c.remove("few"), "few: missing, yet its chapter asks for it",
    ),
}  # fmt: skip


@pytest.mark.usefixtures("computed_once")
@pytest.mark.parametrize("name", HONEST)
def test_an_honest_result_that_was_not_asked_for_is_noticed(
    chapter: Chapter, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECBIAS_RESULTS", str(chapter.folder.parents[1]))
    forge, says = HONEST[name]
    forge(chapter)
    chapter.list_again()
    assert check_manifest(WORLD) == {}
    assert load_chapter(CHAPTER, WORLD)  # key and digest are right
    assert re.search(says, "\n".join(": ".join(line) for line in check_recorded(WORLD).items()))
    if name in ("another limit of a check", "other sizes of a table", "exchanged names"):
        # The twin: computing it anew finds nothing.
        monkeypatch.setattr(verification, "check_asked", lambda dataset, recorded: {})
        assert chapter.differing() == ""


def test_a_simulation_of_other_worlds_is_noticed(
    chapter: Chapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = results_dir("", recorded=True)
    monkeypatch.setenv("RECBIAS_RESULTS", str(folder))

    def record(**parameters: Any) -> None:
        find_maker("audit/worlds")(**parameters, name=f"{CHAPTER}/worlds")
        renew_manifest(folder)

    record(n_users=40, seeds=[1, 2])
    write_asked(folder)
    assert verify(SIMULATIONS)["agrees"].all()
    record(n_users=60, seeds=[1, 2])
    says = "recorded with other parameters than its chapter asks for: n_users is 60, not 40"
    assert check_recorded(SIMULATIONS) == {f"{CHAPTER}/worlds": says}
    # It is honest: computed anew it agrees, and still the name is another's.
    assert verify(SIMULATIONS)["agrees"].tolist() == [False, True]
    record(n_users=40, seeds=[3, 4])
    assert "seeds is [3,4], not [1,2]" in check_recorded(SIMULATIONS)[f"{CHAPTER}/worlds"]


def test_the_number_of_workers_and_how_a_number_is_written_decide_nothing(chapter: Chapter) -> None:
    one = {"maker": "audit/checks", "given": {"limit": 3, "workers": 1, "of": {"at": [4.0]}}}
    other = {"maker": "audit/checks", "given": {"limit": 3.0, "workers": 2, "of": {"at": [4]}}}
    assert asked_of(one) == asked_of(other)
    assert asked_of(one) != asked_of({**one, "given": {**one["given"], "of": {"at": [4.5]}}})


def test_a_deleted_or_damaged_list_of_what_is_asked_for_is_missed(chapter: Chapter) -> None:
    listed = results_dir("", recorded=True) / "asked.json"
    for text in (None, "[]", "{", '{"x": {"y": 1}}', '{"x": {"y": {"z": 1}}}'):
        listed.unlink() if text is None else listed.write_text(text)
        with pytest.raises(StoreError, match=r"asked\.json: not a list of what chapters ask for"):
            verify(WORLD)


# -- the clone: what its notebooks ask for ------------------------------------------------------

RECORDED = Path(__file__).parents[2] / "data" / "recorded"


def test_every_recorded_result_of_the_clone_is_what_its_chapter_asks_for() -> None:
    assert sorted(read_asked()) == listed_datasets()
    for dataset in listed_datasets():
        assert check_recorded(dataset) == {}, dataset


@pytest.mark.slow
@pytest.mark.parametrize("dataset", golden_asked.data_sets())
def test_the_list_of_what_is_asked_for_is_that_of_the_notebooks(dataset: str) -> None:
    derived, listed = golden_asked.derive(dataset), read_asked()
    assert derived[dataset] == listed[dataset], "python tests/golden_asked.py renews the list"
    for name, asked in derived.get(SIMULATIONS, {}).items():
        assert asked == listed[SIMULATIONS][name]


@pytest.mark.slow
def test_a_notebook_that_asks_for_something_else_is_noticed() -> None:
    chapter, name = "03_popularity_bias", "03_popularity_bias/checks"
    asked = "measure.checks(dataset, min_rating=min_rating, seed=seed)"
    source = (RECORDED.parents[1] / "notebooks" / f"{chapter}.py").read_text()
    assert source.count(asked) == 1
    changed = source.replace(asked, asked.replace("=min_rating", "=0.5"))
    derived = golden_asked.derive("filmtrust", chapter, source=changed)["filmtrust"]
    listed = read_asked()["filmtrust"]
    assert [result for result in derived if derived[result] != listed[result]] == [name]
    assert derived[name]["min_rating"] == "0.5"


@pytest.mark.slow
def test_a_notebook_that_stops_is_no_list_of_what_it_asks_for() -> None:
    chapter = "02_sparsity_bias"
    source = (RECORDED.parents[1] / "notebooks" / f"{chapter}.py").read_text()
    broken = source.replace("baselines = run(", "baselines = stop(")
    with pytest.raises(RuntimeError, match=r"recorded, not asked for: \['baselines'"):
        golden_asked.derive("filmtrust", chapter, source=broken)


@pytest.fixture
def forged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Copy recorded results of the clone into a folder that stands for another one."""
    folder = tmp_path / "data" / "recorded"
    for chapter in ("07_offline_options", "03_popularity_bias", "02_sparsity_bias"):
        shutil.copytree(RECORDED / "ml-100k" / chapter, folder / "ml-100k" / chapter)
    listed = json.loads((RECORDED / "asked.json").read_text())["ml-100k"]
    kept = {name: asked for name, asked in listed.items() if name[:2] in ("02", "03", "07")}
    (folder / "asked.json").write_text(json.dumps({"ml-100k": kept}))
    renew_manifest(folder)
    monkeypatch.setattr("recbias.experiment.results.clone_root", lambda: tmp_path)
    assert check_recorded("ml-100k") == {}
    return folder


def _not_verified() -> tuple[int, str]:
    """Run the command without data."""
    done = CliRunner().invoke(main, ["verify"])
    return done.exit_code, done.stdout


def test_ratios_under_exchanged_names_are_noticed(forged: Path) -> None:
    chapters()
    assert _not_verified()[0] == 0
    pairs = [(10, 90), (20, 80), (30, 70), (40, 60)]
    for one, other in pairs:
        Chapter(forged / "ml-100k" / "07_offline_options").swap(f"ratio_{one}", f"ratio_{other}")
    renew_manifest(forged)
    assert check_manifest("ml-100k") == {}
    assert len(check_recorded("ml-100k")) == 8
    code, said = _not_verified()
    assert code == 1
    assert (
        "ratio_90: DIFFERS recorded with other parameters than its chapter asks for: "
        'split is "ratio 0.9"' in said
    )


def test_a_prediction_for_another_threshold_is_noticed(forged: Path) -> None:
    """The document that honest computing with ``min_rating=.5`` gives has these parameters."""
    chapters()
    path = forged / "ml-100k" / "03_popularity_bias" / "predicted.json"
    record = json.loads(path.read_text())
    arrays, _ = read_arrays(path.with_suffix(".parquet"), key=record["key"])
    del record["digest"]
    record["parameters"]["given"]["min_rating"] = 0.5
    record["key"] = key = Table.key_of(record["parameters"], record["dataset"]["hashes"])
    beside = path.with_suffix(".parquet")
    record["sidecar"] = write_arrays(beside, arrays, key=key, provenance={}, level=19)
    write_document(path, **record)
    renew_manifest(forged)
    assert load_result(path.with_suffix(""), dataset="ml-100k").key == record["key"]
    code, said = _not_verified()
    assert code == 1
    assert "03_popularity_bias/predicted: DIFFERS " in said
    assert "min_rating is 0.5, not 5" in said


def test_what_chapters_share_may_stand_under_either_name(forged: Path) -> None:
    """The twin: two chapters ask for the same, and exchanging it changes nothing."""
    for suffix in (".json", ".parquet"):
        shutil.copy(
            forged / "ml-100k" / "02_sparsity_bias" / f"predicted{suffix}",
            forged / "ml-100k" / "03_popularity_bias" / f"predicted{suffix}",
        )
    renew_manifest(forged)
    assert check_recorded("ml-100k") == {}


# -- fresh cells -------------------------------------------------------------------------------


class NotRankedError(Exception):
    pass


def _no_ranking(*_: Any, **__: Any) -> None:
    raise NotRankedError


def test_verification_ranks_anew_although_cells_are_there(
    chapter: Chapter, recorded: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {path: path.stat().st_mtime_ns for path in recorded[1].rglob("*")}
    monkeypatch.setattr("recbias.experiment.cells.rank_once", _no_ranking)
    run(GRID)  # the cells are there
    with pytest.raises(NotRankedError):
        verify(WORLD)
    # The twin: where cells are reused, nothing is noticed.
    monkeypatch.setattr(verification, "cells_kept_in", lambda folder: _nothing())
    assert verify(WORLD)["agrees"].all()
    assert {path: path.stat().st_mtime_ns for path in recorded[1].rglob("*")} == before
    assert os.environ["RECBIAS_CELLS"] == str(recorded[1])


class _nothing:  # noqa: N801 - a context that does nothing
    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...


def test_fresh_cells_are_kept_only_where_a_new_folder_is_named(
    chapter: Chapter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    assert verify(WORLD, systems=1, cells=tmp_path / "kept")["agrees"].all()
    assert len(list((tmp_path / "kept").rglob("*.parquet"))) > 0
    with pytest.raises(ConfigError, match="not empty, and old cells prove nothing"):
        verify(WORLD, systems=1, cells=tmp_path / "kept")
    assert verify(WORLD, systems=1)["agrees"].all()
    assert not any((tmp_path / "temporary").iterdir())


def test_a_verification_that_was_stopped_goes_on_with_its_own_cells(
    chapter: Chapter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the same code left is used; what other code left, or another file says, is refused."""
    folder = tmp_path / "cells"

    def stop(self: Results, fresh: Results) -> None:
        raise KeyboardInterrupt

    def cells() -> dict[Path, int]:
        return {path: path.stat().st_mtime_ns for path in folder.rglob("*.parquet")}

    with monkeypatch.context() as patch:
        patch.setattr(Results, "verify", stop)
        with pytest.raises(KeyboardInterrupt):
            verify(WORLD, systems=1, cells=folder)
    assert (left := cells())
    whose = folder / "verification.json"
    other = {**json.loads(whose.read_text()), "numpy": "1.0"}
    for by in (other, {**other, "numpy": np.__version__, "code": ""}):
        ours = whose.read_bytes()
        whose.write_text(json.dumps(by, sort_keys=True))
        with pytest.raises(ConfigError, match="by the same code and libraries that was stopped"):
            verify(WORLD, systems=1, cells=folder)
        whose.write_bytes(ours)
    assert verify(WORLD, systems=1, cells=folder)["agrees"].all()
    assert left.items() <= cells().items()
    assert not whose.exists()  # done: these are old cells now


def test_chapters_that_are_verified_one_by_one_share_their_cells(
    chapter: Chapter, tmp_path: Path
) -> None:
    folder = tmp_path / "cells"
    every = verify(WORLD, systems=1)
    of_chapter = {name.partition("/")[0] for name in every["recorded"]}
    found = [verify(WORLD, chapter=name, systems=1, cells=folder) for name in sorted(of_chapter)]
    assert (folder / "verification.json").exists()  # more may come
    joined = pd.concat(found, ignore_index=True)
    pd.testing.assert_frame_equal(
        *(each.sort_values("recorded", ignore_index=True) for each in (joined, every))
    )
    left = {path: path.stat().st_mtime_ns for path in folder.rglob("*.parquet")}
    assert left
    assert verify(WORLD, systems=1, cells=folder)["agrees"].all()  # the whole ends it
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*.parquet")} == left
    assert not (folder / "verification.json").exists()
    with pytest.raises(MissingData, match="no recorded results of a chapter 'no'; there are such"):
        verify(WORLD, chapter="no")


@pytest.mark.slow
def test_workers_compute_in_the_fresh_folder_too(chapter: Chapter, tmp_path: Path) -> None:
    chapter.keep("few")
    chapter.list_again()
    assert verify(WORLD, workers=2, cells=tmp_path / "kept")["agrees"].all()
    # Counts and a sample for each of 2 folds, of 2 seeds of Random and of Popularity.
    assert len(list((tmp_path / "kept").rglob("*.parquet"))) == 2 * 2 * 3


# -- bounds ------------------------------------------------------------------------------------


@pytest.mark.usefixtures("computed_once")
@pytest.mark.parametrize(
    ("row", "bounds", "agrees"),
    [
        (POPULARITY, 0.9, True), (POPULARITY, 1.1, False),
        (ALS, 1.1, True), (ALS, 29.0, True), (ALS, 31.0, False),
    ],
)  # fmt: skip
def test_values_may_differ_by_a_hundredth_of_their_error_and_of_als_by_three_tenths(
    chapter: Chapter, row: int, bounds: float, agrees: bool
) -> None:
    chapter.keep("grid")
    chapter.list_again()
    fresh = load_chapter(CHAPTER, WORLD)["grid"]
    moved = 0.01 * bounds * fresh.values["se"].iloc[row]  # type: ignore[attr-defined]
    chapter.edit("grid", column("values", "value", row, lambda v: v + moved), digested=True)
    found = verify(WORLD)
    assert found["about"].tolist()[0] == ""
    assert found["about"].tolist()[1].startswith("ALS (depends on the processor: single precision")
    assert found["agrees"].tolist() == ([True, True] if agrees else [row == ALS, row != ALS])
    share = found["of bound"].tolist()[1 if row == ALS else 0]
    assert share == pytest.approx(bounds / (30 if row == ALS else 1), rel=1e-6)


def _rows_of_replicates(arrays: dict[str, Any], row: int) -> np.ndarray:
    """Give the resampled values of a row of the values: what is written changes the arrays."""
    return arrays["replicates"].reshape(len(arrays["rows"]), -1)[arrays["rows"].tolist().index(row)]


@pytest.mark.usefixtures("computed_once")
@pytest.mark.parametrize(
    ("row", "errors", "draws", "agrees"),
    [
        (POPULARITY, 0.009, slice(None), True), (POPULARITY, 0.011, slice(None), False),
        (POPULARITY, 0.011, 0, False),
        (ALS, 0.29, slice(None), True), (ALS, 0.31, slice(None), False),
        (ALS, 1.8, 0, True), (ALS, 1.9, 0, False),
    ],
)  # fmt: skip
def test_replicates_of_als_may_differ_by_three_tenths_of_their_error_in_their_mean_square(
    chapter: Chapter, row: int, errors: float, draws: Any, agrees: bool
) -> None:
    chapter.keep("grid")
    chapter.list_again()
    error = load_chapter(CHAPTER, WORLD)["grid"].values["se"].iloc[row]  # type: ignore[attr-defined]

    def move(arrays: dict[str, Any]) -> None:
        arrays["replicates"] = arrays["replicates"].astype(np.float64)
        _rows_of_replicates(arrays, row)[draws] += errors * error

    chapter.edit_arrays("grid", move, digested=True)
    is_als = row == ALS
    assert verify(WORLD)["agrees"].tolist() == [agrees or is_als, agrees or not is_als]


@pytest.mark.usefixtures("computed_once")
@pytest.mark.parametrize("end", ["low", "high"])
@pytest.mark.parametrize(
    ("row", "errors", "agrees"),
    [
        (POPULARITY, 0.009, True), (POPULARITY, 0.011, False),
        (ALS, 0.65, True), (ALS, 0.67, False),
    ],
)  # fmt: skip
def test_ends_of_intervals_of_als_may_move_as_far_as_its_trainings_make_them(
    chapter: Chapter, end: str, row: int, errors: float, agrees: bool
) -> None:
    chapter.keep("grid")
    chapter.list_again()
    error = load_chapter(CHAPTER, WORLD)["grid"].values["se"].iloc[row]  # type: ignore[attr-defined]
    moved = column("values", end, row, lambda v: v + errors * error)
    chapter.edit("grid", moved, digested=True)
    assert verify(WORLD)["agrees"].tolist() == [agrees or row == ALS, agrees or row != ALS]


# -- what cannot be detected -------------------------------------------------------------------


def _ask_for_less(chapter: Chapter) -> None:
    chapter.remove("few")
    chapter.list_again()
    write_asked(results_dir("", recorded=True))


UNDETECTED: dict[str, tuple[Callable[[Chapter], object], str]] = {
    "times": (
        lambda c: c.edit("grid", put("times", "seconds", to=1), digested=False), "times,",
    ),
    "a version": (
        lambda c: c.edit("grid", put("provenance", "recbias", to="9.9"), digested=True),
        "versions and processor of the provenance",
    ),
    "an edit within the bound": (
        lambda c: c.edit(
            "grid", column("values", "value", POPULARITY, lambda v: v + 1e-10), digested=True
        ),
        "edits within the bound",
    ),
    "what is asked for, changed together with it": (
        _ask_for_less, "changed together with the list of what chapters ask for",
    ),
}  # fmt: skip


@pytest.mark.usefixtures("computed_once")
@pytest.mark.parametrize("name", UNDETECTED)
def test_what_cannot_be_detected_is_listed(chapter: Chapter, name: str) -> None:
    forge, listed = UNDETECTED[name]
    forge(chapter)
    assert load_chapter(CHAPTER, WORLD)
    assert chapter.differing() == ""
    assert listed in " ".join((verification.__doc__ or "").split())


def test_a_version_is_under_the_digest_all_the_same(chapter: Chapter) -> None:
    chapter.edit("grid", put("provenance", "recbias", to="9.9"), digested=False)
    with pytest.raises(StoreError, match="changed after it was computed"):
        load_chapter(CHAPTER, WORLD)


@pytest.mark.usefixtures("computed_once")
def test_in_a_part_other_systems_are_not_seen_which_is_listed(chapter: Chapter) -> None:
    chapter.edit("grid", EDITS["a value"][1], digested=True)
    assert chapter.differing(systems=2) == ""
    assert "Popularity" in chapter.differing()
    assert "what was edited of the others" in " ".join((verification.__doc__ or "").split())


# -- the command -------------------------------------------------------------------------------


def test_the_command_names_what_differs_and_ends_with_1(chapter: Chapter) -> None:
    same = CliRunner().invoke(main, ["verify", "--dataset", WORLD, "--systems", "2"])
    assert same.exit_code == 0
    assert f"{WORLD}: {CHAPTER}/grid: ALS (depends on the processor: " in same.stdout
    assert "differs" not in same.stdout.lower()
    chapter.edit("grid", EDITS["p values"][1], digested=True)
    chapter.remove("checks")
    found = CliRunner().invoke(main, ["verify", "--dataset", WORLD])
    assert found.exit_code == 1
    lines = found.stdout.splitlines()
    assert lines[0] == f"{WORLD}: {CHAPTER}/checks: DIFFERS missing, yet listed in the manifest"
    wrong = [line for line in lines if "DIFFERS tests " in line]
    assert len(wrong) == 2
    assert wrong[0].endswith("more")


def test_the_command_looks_at_the_manifest_where_the_data_is_not(
    chapter: Chapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recbias.cli.commands.state", lambda info: "fetchable")
    assert CliRunner().invoke(main, ["verify"]).exit_code == 0
    chapter.remove("checks")
    found = CliRunner().invoke(main, ["verify"])
    assert found.exit_code == 1
    assert found.stdout.splitlines() == [
        f"{WORLD}: not verified, the data set is not here",
        f"{WORLD}: {CHAPTER}/checks: DIFFERS missing, yet listed in the manifest",
    ]


# -- criteria and their lock, on which verdicts rest too -----------------------------------------


@pytest.fixture
def locked(
    chapter: Chapter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[dict[str, Any]]:
    """Lock the criteria of the clone as they are now, in a file of this test; give what is in it.

    What criteria were before is locked as it is quoted.
    """
    asked = lock._asked_of_data()
    file = tmp_path / "lock.json"
    digests: dict[str, Any] = {
        claim: [
            *(lock.criterion_digest(old.was, asked.get(claim)) for old in criterion.replaced),
            lock.criterion_digest(criterion.raw, asked.get(claim)),
        ]
        for topic in TOPICS
        for claim, criterion in criteria_of(topic).items()
    }
    file.write_text(json.dumps(digests))
    monkeypatch.setattr(lock, "lock_file", lambda: file)
    monkeypatch.setattr(verification, "_FOUNDATIONS", dict(FOUNDATIONS))
    chapter.keep("checks")
    chapter.list_again()
    _forget_locks()
    yield digests
    _forget_locks()


def _forget_locks() -> None:
    lock._locks.cache_clear()
    lock.locked_criteria.cache_clear()


def _verified() -> tuple[int, str]:
    done = CliRunner().invoke(main, ["verify", "--dataset", WORLD])
    return done.exit_code, done.stdout


CLAIM, OF = "CCM20-SUM", "criteria of offline option taxonomy"


def test_criteria_as_they_were_locked_agree(locked: dict[str, Any]) -> None:
    assert {f"criteria of {topic}" for topic in TOPICS} == set(FOUNDATIONS)
    assert check_foundations() == {}
    assert verify(WORLD)["agrees"].all()
    assert _verified()[0] == 0


def test_a_replaced_last_digest_of_the_lock_fails(locked: dict[str, Any]) -> None:
    locked[CLAIM][-1] = "0" * 64
    lock.lock_file().write_text(json.dumps(locked))
    _forget_locks()
    found = verify(WORLD)
    assert found[~found["agrees"]]["recorded"].tolist() == [OF]
    code, said = _verified()
    assert code == 1
    changed = "its criterion was changed after it was locked"
    assert said.startswith(f"{OF}: DIFFERS {CLAIM}: {changed}; ")
    assert said.count("DIFFERS") == 1  # once, and not for each data set


def test_a_criterion_that_was_changed_after_locking_fails(
    locked: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def changed(topic: str) -> Any:
        criteria = dict(criteria_of(topic))
        if CLAIM in criteria:
            first, *rest = (dict(record) for record in criteria[CLAIM].raw)
            raw = [{**first, "least": -1.0}, *rest]
            criteria[CLAIM] = replace(criteria[CLAIM], raw=raw)
        return criteria

    monkeypatch.setattr(lock, "criteria_of", changed)
    assert list(check_foundations()) == [OF]
    assert _verified()[0] == 1


def test_a_claim_that_is_not_in_the_lock_fails(locked: dict[str, Any]) -> None:
    del locked[CLAIM]
    lock.lock_file().write_text(json.dumps(locked))
    _forget_locks()
    assert check_foundations()[OF].startswith(f"{CLAIM}: its criterion is not locked; ")


def test_without_data_the_lock_is_read_as_well(
    locked: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recbias.cli.commands.state", lambda info: "fetchable")
    assert _not_verified()[0] == 0
    locked[CLAIM][-1] = "0" * 64
    lock.lock_file().write_text(json.dumps(locked))
    _forget_locks()
    code, said = _not_verified()
    assert code == 1
    assert CLAIM in said


def test_the_criteria_of_the_clone_are_those_of_its_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its twins, of a changed criterion and a replaced digest, are above."""
    monkeypatch.setattr(verification, "_FOUNDATIONS", dict(FOUNDATIONS))
    assert len(FOUNDATIONS) == len(TOPICS)
    assert check_foundations() == {}
