"""Every page is complete on small tables of every kind: the small form of `prove_tables.py`."""

from __future__ import annotations

import nbformat
import pytest
from click.testing import CliRunner

from odd_pages import PAGES, cells_run_here, check_faults, faults
from odd_tables import SCALES, SHAPES, odd_table
from recbias.cli import main

RUNS = (
    ("01_design_alternatives", "thumbs", "dense"),
    ("02_sparsity_bias", "counts", "tiny"),
    ("03_popularity_bias", "minus-ten-to-ten", "nine-at-most"),
    ("04_overcoming_popularity_bias", "no-ratings", "tiny"),
    ("05_true_false_positives", "halves", "nine-at-most"),
    ("06_concentration", "three-way", "sparse"),
    ("07_offline_options", "unit-interval", "tiny"),
    ("systems", "alike", "popular"),
    ("03_popularity_bias", "zero-one", "sparse"),
    ("02_sparsity_bias", "stars", "dense"),
)


def test_each_page_and_each_kind_of_table_is_run() -> None:
    for place, kinds in enumerate((PAGES, SCALES, SHAPES)):
        assert {run[place] for run in RUNS} == set(kinds)


def test_what_a_page_may_not_have_is_told() -> None:
    check_faults()


@pytest.mark.parametrize(("page", "scale", "shape"), RUNS)
def test_a_page_is_complete_on_an_odd_table(page, scale, shape, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("RECBIAS_CELLS", str(tmp_path / "cells"))
    monkeypatch.delenv("RECBIAS_DATA", raising=False)
    table, out = tmp_path / f"{scale}-{shape}.csv", tmp_path / "out" / f"{page}.html"
    decimal = RUNS.index((page, scale, shape)) % 2 == 1
    odd_table(scale, shape, decimal_ids=decimal).to_csv(table, index=False)
    asked = ["run", page, "--dataset", str(table), "--out", str(out), "-p", "workers", "1"]
    with cells_run_here():
        done = CliRunner().invoke(main, asked, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    notebook = nbformat.read(out.with_suffix(".ipynb"), as_version=4)
    assert not faults(notebook, out.read_text(encoding="utf-8"))
