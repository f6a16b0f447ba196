"""Every page is complete on small tables of every kind: the small form of `prove_tables.py`."""

from __future__ import annotations

import nbformat
import pandas as pd
import pytest
from click.testing import CliRunner

from odd_pages import PAGES, REFUSALS, cells_run_here, check_faults, faults
from odd_tables import SCALES, SHAPES, odd_table
from recbias.book.rerun import check_data
from recbias.cli.commands import main
from recbias.errors import ConfigError

RUNS = (
    ("01_design_alternatives", "thumbs", "dense"),
    ("02_sparsity_bias", "counts", "tiny"),
    ("03_popularity_bias", "minus-ten-to-ten", "nine-at-most"),
    ("04_overcoming_popularity_bias", "no-ratings", "tiny"),
    ("05_true_false_positives", "halves", "nine-at-most"),
    ("06_concentration", "three-way", "sparse"),
    ("07_offline_options", "unit-interval", "tiny"),
    ("08_multiverse", "halves", "dense"),
    ("systems", "alike", "popular"),
    ("03_popularity_bias", "zero-one", "sparse"),
    ("02_sparsity_bias", "stars", "dense"),
)


def test_each_page_and_each_kind_of_table_is_run() -> None:
    for place, kinds in enumerate((PAGES, SCALES, SHAPES)):
        assert {run[place] for run in RUNS} == set(kinds)


def test_what_a_page_may_not_have_is_told() -> None:
    check_faults()


@pytest.mark.slow
@pytest.mark.parametrize(("page", "scale", "shape"), RUNS)
def test_a_page_is_complete_on_an_odd_table(page, scale, shape, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("RECBIAS_CELLS", str(tmp_path / "cells"))
    monkeypatch.delenv("RECBIAS_DATA", raising=False)
    table, out = tmp_path / f"{scale}-{shape}.csv", tmp_path / "out" / f"{page}.html"
    decimal = RUNS.index((page, scale, shape)) % 2 == 1
    odd_table(scale, shape, decimal_ids=decimal).to_csv(table, index=False)
    asked = ["run", page, "--dataset", str(table), "--out", str(out), "-p", "workers", "1"]
    if page[:2] not in ("07", "08"):  # two folds instead of five take half the time
        asked += ["-p", "split", "k-fold 2"]
    with cells_run_here():
        done = CliRunner().invoke(main, asked, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    notebook = nbformat.read(out.with_suffix(".ipynb"), as_version=4)
    assert not faults(notebook, out.read_text(encoding="utf-8"))


def _pairs(n_users: int, n_items: int, *, likes: int = 2) -> pd.DataFrame:
    """Let everybody rate everything, a few of the items with 5."""
    pairs = [(u, i, 5.0 if (u + i) % n_items < likes else 2.0)
             for u in range(n_users) for i in range(n_items)]  # fmt: skip
    return pd.DataFrame(pairs, columns=["user_id", "item_id", "rating"])


REFUSED = {
    "one user or item": (_pairs(1, 60), {}, None),
    "no user with two ratings": (_pairs(60, 60).query("user_id == item_id"), {}, None),
    "fewer items than the lists are long": (_pairs(40, 4), {}, {"cutoff": 4}),
    "fewer than ten test ratings in a fold": (_pairs(2, 20), {}, {"split": "k-fold 2"}),
    "nothing relevant in the test": (
        _pairs(2, 60, likes=1).assign(timestamp=lambda table: table["rating"] == 2),
        {"split": "temporal 0.5", "min_rating": 5.0},
        {"split": "k-fold 5", "min_rating": 5.0},
    ),
    "nothing to rank but relevant items": (_pairs(30, 20), {"min_rating": 2.0}, {}),
    "larger samples than there are": (_pairs(30, 20), {"size": 100}, {}),
}


@pytest.mark.filterwarnings("ignore:split 'temporal")  # two times only
@pytest.mark.parametrize("reason", REFUSED)
def test_what_is_refused_is_refused_for_the_reason_and_its_advice_works(reason, tmp_path) -> None:
    frame, asked, advised = REFUSED[reason]
    table = tmp_path / "few.csv"
    frame.astype(float).to_csv(table, index=False)
    page = {"cutoff": 10, "split": "k-fold 5", "seed": 1, "size": None}
    with pytest.raises(ConfigError, match=REFUSALS[reason]) as caught:
        check_data({"dataset": str(table), **asked}, page)
    assert len(str(caught.value).splitlines()) <= 3
    if advised is not None:
        check_data({"dataset": str(table), **advised}, page)


def test_pages_without_a_cutoff_refuse_what_is_shorter_than_their_lists(tmp_path) -> None:
    table = tmp_path / "nine.csv"
    _pairs(40, 9).to_csv(table, index=False)
    with pytest.raises(ConfigError, match="has 9 items, and this page looks at the first 10"):
        check_data({"dataset": str(table)}, {"workers": 1, "seed": 1, "n_seeds": None})
    check_data({"dataset": str(table)}, {"seed": 1})  # a page that trains nothing


def test_every_reason_to_refuse_is_tried_or_old() -> None:
    old = {"a threshold that no rating reaches", "a split that the table cannot have"}
    assert REFUSED.keys() | old == REFUSALS.keys()
