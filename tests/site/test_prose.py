"""What the pages in prose say about the project is what the project is."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest
import yaml

ROOT = Path(__file__).parents[2]


def costs(page: str) -> list[tuple[int, int, int]]:
    """Read ratings, seconds and megabytes from the table of the page."""
    rows = re.findall(r"^\| ([\d,]+) ratings \|.*\| ([\d,]+) s \| ([\d.]+) GB \|$", page, re.M)
    return [
        (int(n.replace(",", "")), int(seconds.replace(",", "")), round(float(memory) * 1000))
        for n, seconds, memory in rows
    ]


def test_the_page_quotes_what_was_measured() -> None:
    page = (ROOT / "book/rerun.md").read_text(encoding="utf-8")
    measured = pd.read_csv(ROOT / "benchmarks/rerun.csv")
    quoted = costs(page)
    assert [row[0] for row in quoted] == measured["ratings"].tolist()
    for (_, seconds, memory), row in zip(quoted, measured.itertuples(), strict=True):
        assert seconds == pytest.approx(row.cpu_seconds, rel=0.05)
        assert memory == pytest.approx(row.peak_mb, rel=0.05)


def test_a_changed_table_is_noticed() -> None:
    assert costs("| 10,000 ratings | 100 users | 1,060 s | 1.2 GB |") == [(10_000, 1060, 1200)]
    assert costs("| 10,000 ratings | 100 users | a minute | 1.2 GB |") == []


def test_the_citation_is_that_of_the_repository() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    page = (ROOT / "book/bibliography.md").read_text(encoding="utf-8")
    assert f"title   = {{{cited['title']}}}" in page
    assert f"version = {{{cited['version']}}}" in page
    assert cited["authors"][0]["name"] in page
