"""What the observed ratings of a data set are of is said once, and quoted by pages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from recbias.book import choosing
from recbias.data.datasets import registry

ROOT = Path(__file__).resolve().parents[2]
CHAPTERS = ("04_overcoming_popularity_bias", "05_true_false_positives")


def text_of(chapter: str) -> str:
    return (ROOT / f"notebooks/{chapter}.py").read_text(encoding="utf-8")


def other_words(text: str) -> list[str]:
    """Find sentences that say of CM100k, or of its songs, what users chose."""
    prose = " ".join(line.removeprefix("#").strip() for line in text.splitlines())
    sentences = re.split(r"(?<=[.:]) ", prose)
    said = re.compile(r"what users (chose|choose)|(users|people) (chose|choose|knew)")
    about = re.compile("CM100k|songs|observed")
    return [each for each in sentences if said.search(each) and about.search(each)]


def test_every_data_set_with_random_judgments_says_what_is_observed():
    for name, info in registry().items():
        has_part = "no unbiased part" not in info.cannot_test and bool(info.files)
        assert bool(info.observed) == has_part, name
    assert choosing.observed_items()["observed_cm100k"] == registry()["cm100k"].observed


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_chapters_quote_the_record(chapter):
    text = text_of(chapter)
    assert "{glue:text}`observed_cm100k`" in text
    assert "choosing.observed_items()" in text
    assert not [each for each in other_words(text) if "{glue:text}`observed" not in each]


def test_words_of_their_own_are_found():
    """The twins: what chapters 5 and 4 said before."""
    for before in (
        "# - Judged by what users chose to rate, systems with more observed hits have more misses.",
        "# of items that users chose (Coat) or users knew (CM100k).",
    ):
        assert other_words(before)
