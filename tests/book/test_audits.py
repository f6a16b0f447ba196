"""The page of our own audits: its table is what the command writes, and says what is recorded."""

import math
from dataclasses import replace
from inspect import signature
from types import SimpleNamespace
from typing import Any

import pytest

from recbias import Grid, System, load_dataset
from recbias.audit import audit, page
from recbias.audit.design import own_design
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


def test_what_is_kept_is_what_an_audit_with_the_defaults_of_the_command_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The maker asks for what the command's defaults are, and keeps one row of the record."""
    record = {
        "sentence": {"a": "Popularity", "b": "Random", "answer": "open", "design": "P@10"},
        "data": {"title": "A world"},
        "own": {"lead": {"lead": 0.1, "low": 0.0, "high": 0.2, "p": 0.5, "n_users": 60}},
        "multiverse": {"universes": 4, "changes": None,
                       "shares": {"decisions": {"wins": 0.5, "loses": 0.25}}},
        "signals": [{"name": "ties decide", "fires": True}, {"name": "x", "fires": False}],
        "users": {"of": "nobody's business"},
    }  # fmt: skip
    asked: list[tuple[Any, Any]] = []

    def judge(*given: Any, **named: Any) -> SimpleNamespace:
        asked.append((given, named))
        return SimpleNamespace(record=record)

    monkeypatch.setattr(audits, "audit", judge)
    grid = Grid(WORLD, PAIR, {"own": "AI-AN-AR rel>=4"}, ("P@10",), split="k-fold 5", seed=1)
    (row,) = audits.audited(WORLD, grid=grid).frame.to_dict("records")
    ((given, named),) = asked
    assert given == (grid.dataset, *grid.systems)
    defaults = {name: each.default for name, each in signature(audit).parameters.items()}
    design = own_design(load_dataset(WORLD))
    assert named.pop("protocol") == str(design.protocol)
    assert not named.pop("ledger")
    assert named == {name: defaults[name] for name in named}
    assert math.isnan(row.pop("changes"))
    told = page.compared(record)
    assert told.pop("changes") is None
    assert row == told
    assert row["warnings"] == "ties decide"


@pytest.mark.parametrize("column", sorted(ROW - {"a", "b"}))
def test_a_record_that_says_something_else_is_not_what_is_computed(column: str) -> None:
    """What is computed anew is here what stands in the record: the least that a change may be."""
    (fresh,) = audits.everywhere()["coat"]
    assert not fresh.verify(fresh).differing
    before = fresh.frame[column].iloc[0]
    if isinstance(before, str):
        changed: Any = f"{before}."
    else:
        changed = before * 1.00001 if isinstance(before, float) else before + 1
    edited = replace(fresh, frame=fresh.frame.assign(**{column: [changed]}))
    assert edited.verify(fresh).differing
