"""Identities hold in a second world, of half stars, and notice there what whole stars hide.

The recorded ones are made in one world of whole stars, in which a rating that is rounded, or cut to
a whole number, is what it was.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from recbias._system.places import cells_kept_in
from recbias.claims.checks import IDENTITIES, WORLD, Checks
from recbias.claims.expressions import Call, walk
from recbias.claims.judging import find_parts, load_chapter
from recbias.claims.records import Record, criteria_of
from recbias.claims.topics import chapters, find_judged
from recbias.data import datasets
from recbias.data.datasets import Content, dataset_info, register_dataset
from recbias.data.ratings import RatingScale
from recbias.data.simulation import PreferenceOptions, preference_world
from recbias.data.simulation.truth import World
from recbias.errors import ConfigError
from recbias.experiment.makers import find_maker
from recbias.experiment.results import SIMULATIONS
from recbias.protocol import relevance

HALVES = "half stars"

WITH_A_WORLD = {
    "design alternatives": "01_design_alternatives",
    "sparsity bias": "02_sparsity_bias",
    "overcoming popularity bias": "04_overcoming_popularity_bias",
    "true vs false positive disagreement": "05_true_false_positives",
    "concentration metrics": "06_concentration",
    "offline option taxonomy": "07_offline_options",
}


@dataclass(frozen=True, eq=False, repr=False)
class HalfStars(World):
    """A world in which every second pair has half a star less than in another one."""

    whole: World

    def _values(self, users: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.float64]:
        items = np.arange(self.ratings.n_items)
        return self.whole._values(users) - lessened(users[:, None], items)


def lessened(user: npt.NDArray[Any], item: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    return (user + item) % 2 / 2


def read_halves(_: Any) -> Content:
    """Make the world, with all numbers of half stars from .5 to 5 among its ratings."""
    options = PreferenceOptions(users=500, items=2200, density=0.05, relation=0.5, seed=11)
    whole = preference_world(options)
    value = whole.ratings.value - lessened(whole.ratings.user, whole.ratings.item)
    ratings = dataclasses.replace(
        whole.ratings, name=HALVES, value=value, scale=RatingScale(0.5, 5, 0.5)
    )
    return Content(ratings, truth=HalfStars(ratings, HALVES, whole))


@pytest.fixture(autouse=True)
def half_stars() -> Iterator[None]:
    """Make the world known, to these tests alone."""
    info = dataset_info(WORLD)
    register_dataset(
        dataclasses.replace(
            info,
            name=HALVES,
            title="Half stars",
            content_hash=None,
            scale=RatingScale(0.5, 5, 0.5),
            cannot_test={},
        ),
        read_halves,
    )
    yield
    del datasets.OUTSIDE[HALVES], datasets._READERS[HALVES]


def made(topic: str) -> Checks:
    """Make the identities of a chapter in the world of half stars."""
    chapters()  # imports what makes them
    maker = find_maker(f"{WITH_A_WORLD[topic]}/{IDENTITIES}")
    with pytest.MonkeyPatch.context() as patch:
        for module in modules(f"recbias.book.chapters.{topic.replace(' ', '_')}."):
            if getattr(module, "WORLD", None) == WORLD:
                patch.setattr(module, "WORLD", HALVES)
        checks = maker.make(None, {"world": HALVES} if "world" in maker._arguments else {})
    assert isinstance(checks, Checks)
    return checks


def modules(prefix: str) -> list[ModuleType]:
    return [module for name, module in sys.modules.items() if name.startswith(prefix)]


def refuted(topic: str, identities: Checks) -> set[tuple[str, str]]:
    """Judge the records that read an identity: name those that it refutes."""
    known = {(check.claim, check.name) for check in identities.rows}
    found = set()
    for claim, criterion in criteria_of(topic).items():
        for record in criterion.records:
            names = read_by(record)
            if names and {(claim, name) for name in names} <= known:
                parts, missing = find_parts(
                    [record],
                    {IDENTITIES: identities},
                    find_judged(topic),
                    lambda *_: {IDENTITIES: identities},
                    claim,
                )
                assert not missing
                if any(part.verdict == "refuted" for part in parts):
                    found |= {(claim, name) for name in names}
    return found


def read_by(record: Record) -> set[str]:
    return {
        str(node.arguments[0]).strip('"')
        for node in walk(record.expression)
        if isinstance(node, Call) and node.name == "check"
    }


def recorded(topic: str) -> Checks:
    checks = load_chapter(WITH_A_WORLD[topic], SIMULATIONS)[IDENTITIES]
    assert isinstance(checks, Checks)
    return checks


@pytest.mark.slow
@pytest.mark.parametrize("topic", WITH_A_WORLD)
def test_half_stars_refute_what_whole_stars_do(topic: str, tmp_path: Path) -> None:
    with cells_kept_in(tmp_path):
        assert refuted(topic, made(topic)) == refuted(topic, recorded(topic))


@pytest.mark.slow
@pytest.mark.parametrize("topic", sorted(set(WITH_A_WORLD) - {"offline option taxonomy"}))
def test_relevance_of_the_nearest_whole_star_is_seen(
    topic: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A twin: of whole stars it is no other relevance, so that the recorded world cannot see it.

    Chapter 7 tries its metrics on lists of its own, which is why it is not asked.
    """
    right, stars = relevance.relevant, np.arange(1.0, 6)
    assert (rounded(right)(stars, 4) == right(stars, 4)).all()
    for module in modules("recbias."):
        if getattr(module, "relevant", None) is right:
            monkeypatch.setattr(module, "relevant", rounded(right))
    with cells_kept_in(tmp_path):
        try:
            found = refuted(topic, made(topic))
        except (ConfigError, ValueError):  # counts that do not fit together stop it
            return
    assert found - refuted(topic, recorded(topic))


def rounded(right: Callable[..., npt.NDArray[np.bool_]]) -> Callable[..., npt.NDArray[np.bool_]]:
    return lambda values, min_rating: right(np.floor(values + 0.5), min_rating)
