"""What other toolkits say of small lists: recomputed where they are here, and explained."""

import csv
import importlib.util
import json
import math
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
HERE = ("pytrec_eval", "ir_measures", "scikit-learn", "implicit")
"""Toolkits of the environment for tests; ranx runs in a process of its own, as it compiles."""
NONE_OF_OURS = {
    ("RecPack", "tied"): "its order of equal scores is neither that of the file nor of ids",
    ("scikit-learn", "ignore_ties=True"): "likewise",
    (
        "scikit-learn",
        "average_precision_score",
    ): "it ranks what no list holds, by one score",
}
"""Recorded values that no convention gives: toolkit, part of the list or call, why."""


def loaded(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "benchmarks" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def toolkits() -> ModuleType:
    return loaded("toolkits")


@pytest.fixture(scope="module")
def page() -> Iterator[ModuleType]:
    module = loaded("toolkits_page")
    yield module
    module.ways.cache_clear()


def differing(name: str, values: list, recorded: list[dict[str, str]]) -> list[str]:
    """Name the recorded rows of a toolkit that are not what it says now."""
    kept = [row for row in recorded if row["toolkit"] == name]
    assert kept
    said = {(each, call): (metric, value) for each, call, metric, value in values}
    told = []
    for row in kept:
        metric, value = said.pop((row["list"], row["call"]))
        if metric != row["metric"] or not math.isclose(
            value, float(row["value"]), rel_tol=0, abs_tol=1e-9
        ):
            told.append(f"{row['list']} {row['call']}")
    return [*told, *map(str, said)]


@pytest.mark.parametrize("name", HERE)
def test_recorded_values_are_what_the_toolkit_says(toolkits, page, name):
    values, recorded = toolkits.values_of(name), page.recorded()
    assert differing(name, values, recorded) == []
    broken = [row | {"value": "0.1"} if row["toolkit"] == name else row for row in recorded]
    assert len(differing(name, values, broken)) == len(values)


@pytest.mark.slow
def test_recorded_values_are_what_ranx_says(page):
    code = "import json, toolkits; print(json.dumps(toolkits.values_of('ranx')))"
    answer = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        cwd=ROOT / "benchmarks",
        capture_output=True,
        text=True,
        check=True,
    )
    assert differing("ranx", json.loads(answer.stdout.splitlines()[-1]), page.recorded()) == []


def test_ten_toolkits_are_recorded_with_version_and_date(toolkits, page):
    recorded = page.recorded()
    assert {row["toolkit"] for row in recorded} == set(toolkits.TOOLKITS)
    assert all(row["version"] and row["date"] and row["value"] for row in recorded)
    for name in set(toolkits.TOOLKITS) - {*HERE, "ranx"}:
        pinned = (ROOT / "benchmarks" / "toolkits" / f"{name.lower()}.txt").read_text()
        (version,) = {row["version"] for row in recorded if row["toolkit"] == name}
        assert f"{toolkits.TOOLKITS[name][1]}=={version}\n" in pinned


@pytest.mark.slow
def test_every_recorded_value_is_explained_but_those_named_and_the_page_has_them(page):
    unexplained = [row for row in page.recorded() if page.convention(row) == "none of ours"]
    for row in unexplained:
        names = [
            part
            for toolkit, part in NONE_OF_OURS
            if toolkit == row["toolkit"] and (part in row["call"] or part == row["list"])
        ]
        assert names, row
    text = page.PAGE.read_text(encoding="utf-8")
    assert page.page(text) == text
    assert page.page(text.replace("0.6405", "0.6406")) == text  # the twin: a typed number goes
    with pytest.raises(ValueError, match="values plain"):
        page.page(text.replace("% begin values plain", ""))


@pytest.mark.slow
def test_what_sets_two_item_knns_apart_is_computed_again_and_nothing_is_typed(page):
    made = loaded("item_knn")
    text = made.FILE.read_text(encoding="utf-8").splitlines()
    recorded = [row for row in csv.DictReader(text) if row["dataset"] == "synthetic"]
    again = [
        dict(zip(made.FIELDS, map(str, row), strict=True)) for row in made.rows_of("synthetic")
    ]
    for row, kept in zip(again, recorded, strict=True):
        assert float(row.pop("value")) == pytest.approx(float(kept.pop("value")), abs=2e-6), row
        assert row | {"date": kept["date"]} == kept
    # The plain rule, for one user: of what the user likes the most similar, not of all items.
    train, _ = made.halves("synthetic")
    near, liked = made.cosines(train), np.flatnonzero(train[0])
    plain = [sum(sorted(near[i, liked], reverse=True)[: made.NEIGHBOURS]) for i in range(len(near))]
    listed = next(iter(made.lists(train, "profile")))
    best = sorted(set(range(len(near))) - set(liked), key=lambda i: -plain[i])[: made.K]
    assert [plain[i] for i in listed] == pytest.approx([plain[i] for i in best], rel=1e-6)
    kept_only = next(iter(made.lists(train, "kept")))
    assert [plain[i] for i in kept_only] != pytest.approx([plain[i] for i in best], rel=1e-6)
