"""The page of our own audits: its table is what the command writes, and says what is recorded."""

import math

import pytest

from recbias import Grid, System
from recbias.audit import audit, page
from recbias.book import audits
from recbias.experiment.results import recorded_datasets

WORLD = "world(users=60,items=80)"
PAIR = (System("Popularity", "Popularity"), System("Random", "Random"))


def test_recorded_audits_are_those_of_the_page_and_name_no_user_or_item() -> None:
    found = audits.everywhere()
    assert sorted(found) == sorted(audits.PAIRS)
    assert sorted(recorded_datasets(audits.CHAPTER)) == sorted(audits.PAIRS)
    for dataset, tables in found.items():
        rows = [row for table in tables for row in table.frame.to_dict("records")]
        assert sorted((row["a"], row["b"]) for row in rows) == sorted(audits.PAIRS[dataset])
        for row in rows:
            assert set(row) == ROW
            assert row["answer"] in ("holds", "does not hold", "open")


ROW = {
    "a", "b", "data", "design", "answer", "lead", "low", "high", "designs", "won", "lost",
    "changes", "warnings",
}  # fmt: skip
"""Averages over all users and designs, and words: nothing of a user or an item."""


@pytest.mark.parametrize(("changes", "said"), [(None, "–"), (math.nan, "–"), (2.0, "2"), (1, "1")])
def test_a_row_is_written_as_the_command_writes_it(changes: float | None, said: str) -> None:
    row = {
        "a": "<b>A", "b": "B", "data": "D", "design": "P@10", "answer": "does not hold",
        "lead": -0.01, "low": -0.02, "high": -0.005, "designs": 1234, "won": 0.05, "lost": 0.9,
        "changes": changes, "warnings": "",
    }  # fmt: skip
    cells = audits._cells({**row, "changes": math.nan if changes is None else changes})
    whole = None if changes is None or math.isnan(changes) else changes
    written = page.compared_cells({**row, "changes": whole})
    assert [cells[0], *cells[2:]] == [written[0], *written[2:]]
    assert cells[0].startswith("&lt;b&gt;A beats B")
    assert cells[2:] == ["-0.0100 [-0.0200, -0.0050]", "1,234", "5 %", "90 %", said, "none"]
    assert 'class="verdict does-not-hold"' in cells[1]


@pytest.mark.slow
def test_what_is_kept_is_what_the_audit_says() -> None:
    grid = Grid(WORLD, PAIR, {"own": "AI-AN-AR rel>=4"}, ("P@10",), split="k-fold 5", seed=1)
    (row,) = audits.audited(WORLD, grid=grid).frame.to_dict("records")
    told = page.compared(audit(WORLD, *PAIR, ledger=False).record)
    assert {**row, "changes": None if math.isnan(row["changes"]) else row["changes"]} == told
