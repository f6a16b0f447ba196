"""A document of claims to show: all of chapter 1, on every data set with recorded results."""

from __future__ import annotations

import copy
from functools import cache
from typing import Any

from recbias.claims import load_chapter
from recbias.claims.judging import judge_chapter
from recbias.claims.writing import build
from recbias.experiment.results import recorded_datasets

TOPIC, CHAPTER = "design alternatives", "01_design_alternatives"


@cache
def _document() -> dict[str, Any]:
    names = sorted(recorded_datasets(), key=lambda name: (name != "ml-1m", name))
    return build({name: judge_chapter(TOPIC, load_chapter(CHAPTER, name)) for name in names})


def document() -> dict[str, Any]:
    """Give a document that a test may change; MovieLens 1M comes first, as in its edition."""
    return copy.deepcopy(_document())


def claim(document: dict[str, Any], name: str) -> dict[str, Any]:
    """Find a claim of a document."""
    return next(each for each in document["claims"] if each["id"] == name)
