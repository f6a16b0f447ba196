"""The committed study of coverage: what the page of deviations says of it, and that it is whole."""

from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).parents[1]
SMOOTH = ["P", "1RP", "nDCG", "difference", "near tie", "ratio"]


@pytest.fixture(scope="module")
def table():
    return pd.read_csv(ROOT / "benchmarks" / "interval_coverage.csv")


def said_by(table):
    """Sentences of the page, with numbers from the table."""
    means = 100 * table.groupby("kind")["covered"].mean()
    worlds = 100 * table.groupby(["kind", "world"])["covered"].mean()
    gap = 100 * table[(table["kind"] == "gap") & (table["users"] == 300)]["covered"].mean()
    tau, share = "tau, percentiles", "share, percentiles"
    return [
        f"covered in {means[SMOOTH].min():.1f} % to {means[SMOOTH].max():.1f} % of the samples",
        f"less than {worlds[SMOOTH].min():.1f} % or more than {worlds[SMOOTH].max():.1f} %",
        f"gap of the lemma is covered in {means['gap']:.1f} %, in samples of 300 users in "
        f"{gap:.1f} %",
        f"tau in {means[tau]:.1f} % and the share in {means[share]:.1f} %",
        f"the worst world in {worlds[tau].min():.1f} % and {worlds[share].min():.1f} %",
    ]


def unsaid(table):
    page = " ".join((ROOT / "book" / "deviations.md").read_text().split())
    return [sentence for sentence in said_by(table) if sentence not in page]


def test_the_page_says_what_was_measured(table):
    assert unsaid(table) == []
    assert len(unsaid(table.assign(covered=table["covered"] - 0.002))) == 5


def test_the_study_is_as_large_as_the_page_says(table):
    draws = table.groupby(["world", "kind"])["draws"].sum()
    assert (draws == 1000).all()
    assert table["world"].nunique() == 20
    assert set(table["users"]) == {300, 1000}


def test_resolved_signs_cover_and_values_do(table):
    means = table.groupby("kind")["covered"].mean()
    assert means[SMOOTH].between(0.935, 0.965).all()
    assert (means[["tau", "share"]] >= 0.935).all()
