"""The feedback loop against a twin of plain loops, its laws, and how its courses are kept."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recbias._system.places import cells_dir, cells_kept_in
from recbias._system.streams import stream
from recbias.data.datasets import load_dataset
from recbias.data.ratings import Ratings, RatingScale
from recbias.errors import ConfigError, DamagedError
from recbias.experiment import feedback
from recbias.experiment.feedback import (
    Choice,
    Course,
    Loop,
    choice_chances,
    follow,
    measure_loops,
    measure_rounds,
)
from recbias.experiment.store import digest
from recbias.recommenders import System

WORLD = "world(users=30,items=40,density=0.1)"
QUICK = System(
    "BPR",
    "BPR",
    {
        "n_factors": 3,
        "learning_rate": 0.05,
        "regularisation": 0.01,
        "n_epochs": 5,
        "draw": "users",
        "encoding": "binary-all",
    },
)
NEAR = System(
    "kNN",
    "CoRatedUserKNN",
    {
        "n_neighbours": 1,
        "similarity": "pearson",
        "shrinkage": 0,
        "choose_among": "raters",
    },
)
POPULAR = System("Popularity", "Popularity", {})


@pytest.fixture(autouse=True)
def _own_cells(tmp_path: Path) -> Iterator[None]:
    with cells_kept_in(tmp_path / "cells"):
        yield


def asked(system: System = QUICK, choice: Choice = "even", **changed: Any) -> Loop:
    given = {"n_rounds": 3, "cutoff": 4, "share": 0.5, **changed}
    return Loop(WORLD, system, choice, **given)


# -- a twin of plain loops ---------------------------------------------------------------------


def twin(loop: Loop, min_rating: float) -> list[dict[str, float]]:
    """Go through the rounds with a dictionary of ratings; only training and draws are shared."""
    world = load_dataset(loop.world)
    n_users, n_items = world.ratings.n_users, world.ratings.n_items
    assert world.truth is not None
    truth = world.truth.true_rating(np.arange(n_users)).astype(float).tolist()
    known = {
        (int(user), int(item)): float(value)
        for user, item, value in zip(
            world.ratings.user, world.ratings.item, world.ratings.value, strict=True
        )
    }
    before = [sum(1 for (_, i), v in known.items() if i == item and v >= min_rating)
              for item in range(n_items)]  # fmt: skip
    rows = []
    for number in range(loop.n_rounds + 1):
        pairs = sorted(known)
        train = Ratings(
            name="twin",
            user=np.array([user for user, _ in pairs], np.int32),
            item=np.array([item for _, item in pairs], np.int32),
            value=np.array([known[pair] for pair in pairs]),
            timestamp=None,
            user_ids=np.arange(n_users),
            item_ids=np.arange(n_items),
            scale=RatingScale(1, 5, 1),
        )
        rng = stream(loop.seed, "train", loop.system.stream_label(), number)
        scores = loop.system.build().fit(train, rng=rng).score(np.arange(n_users))
        draws = stream(loop.seed, "feedback", number).random((n_users, loop.cutoff))
        counts, hits, new, popularity = [0] * n_items, 0, {}, 0
        for user in range(n_users):
            candidates = [
                (-float(scores[user, item]), item)
                for item in range(n_items)
                if (user, item) not in known and not math.isnan(scores[user, item])
            ]
            for place, (_, item) in enumerate(sorted(candidates)[: loop.cutoff]):
                star = truth[user][item]
                counts[item] += 1
                hits += star >= min_rating
                popularity += sum(1 for _, other in known if other == item)
                chance = loop.share
                if loop.choice == "attentive":
                    weights = [1 / math.log2(2 + k) for k in range(loop.cutoff)]
                    chance *= weights[place] * loop.cutoff / sum(weights) * star / 5
                if draws[user, place] < min(1, chance):
                    new[user, item] = star
        prior = [sum(1 for (_, i), v in known.items() if i == item and v >= min_rating)
                 for item in range(n_items)]  # fmt: skip
        rated = [sum(1 for _, i in known if i == item) for item in range(n_items)]
        rows.append(
            {
                "CI": plain_ci(prior, counts),
                "CI_initial": plain_ci(before, counts),
                "LTI": plain_lti(prior, counts, 0.8),
                "Gini": plain_gini(counts),
                "Diversity": sum(1 for count in counts if count),
                "ARP": popularity / sum(counts),
                "P": hits / (n_users * loop.cutoff),
                "Gini_ratings": plain_gini(rated),
            }
        )
        known.update(new)
    return rows


def plain_ci(prior: list[int], counts: list[int]) -> float:
    total, shown, n = sum(prior), sum(counts), len(prior)
    value = 0.0
    for s, r in zip(prior, counts, strict=True):
        a, b = (s + 1) / (total + n), (r + 1) / (shown + n)
        value += s / total * math.log(a / b) / 2 + r / shown * math.log(b / a) / 2
    return value


def plain_lti(prior: list[int], counts: list[int], lam: float) -> float:
    total, shown, n = sum(prior), sum(counts), len(prior)
    value = 0.0
    for s, r in zip(prior, counts, strict=True):
        a, b = (s + 1) / (total + n), (r + 1) / (shown + n)
        value += lam * (1 - s / total) * math.log(b / a)
        value += (1 - lam) * s / total * math.log(a / b)
    return value / n


def plain_gini(counts: list[int]) -> float:
    apart = sum(abs(one - other) for one in counts for other in counts)
    return apart / (2 * len(counts) * sum(counts))


@pytest.mark.parametrize("choice", ["even", "attentive"])
@pytest.mark.parametrize("cutoff", [4, 38])
def test_rounds_are_those_of_plain_loops(cutoff: int, choice: Choice) -> None:
    loop = asked(choice=choice, cutoff=cutoff)
    # Of 40 items users have rated more than two, so that their lists of 38 end early.
    assert cutoff == 4 or (follow(loop).lists < 0).any(axis=2).mean() > 0.5
    found, expected = measure_rounds(loop, min_rating=4), pd.DataFrame(twin(loop, 4))
    np.testing.assert_allclose(found[expected.columns], expected, rtol=1e-12, atol=1e-14)


def test_the_twin_tells_when_nothing_is_learned_from_what_was_observed() -> None:
    other = twin(dataclasses.replace(asked(), share=0.0), 4)
    found = measure_rounds(asked(), min_rating=4)
    assert found["Gini"][0] == pytest.approx(other[0]["Gini"])
    assert not np.allclose(found["Gini"], pd.DataFrame(other)["Gini"])


# -- laws --------------------------------------------------------------------------------------


@pytest.mark.parametrize("choice", ["even", "attentive"])
def test_nothing_is_listed_that_its_user_has_rated(choice: Choice) -> None:
    course, ratings = follow(asked(choice=choice)), load_dataset(WORLD).ratings
    known = set(zip(ratings.user.tolist(), ratings.item.tolist(), strict=True))
    for shown, taken in zip(course.lists, [*course.observed, None], strict=True):
        pairs = {(user, item) for user, row in enumerate(shown.tolist()) for item in row}
        assert not pairs & known
        if taken is not None:
            users, places = np.nonzero(taken)
            known |= set(zip(users.tolist(), shown[users, places].tolist(), strict=True))


def test_a_share_of_0_observes_nothing_and_of_1_everything() -> None:
    nothing, everything = (follow(asked(share=share)) for share in (0.0, 1.0))
    assert not nothing.observed.any()
    assert (everything.observed == (everything.lists[:-1] >= 0)).all()


def test_no_empty_place_is_observed() -> None:
    course = follow(asked(NEAR, share=1.0))
    assert (course.lists[:-1] < 0).any()
    assert not course.observed[course.lists[:-1] < 0].any()


def test_two_systems_meet_the_same_draws() -> None:
    one, other = (follow(asked(system)) for system in (QUICK, POPULAR))
    both = (one.lists[0] >= 0) & (other.lists[0] >= 0)  # BPR lists nothing for who rated nothing
    assert both.mean() > 0.5
    assert (one.observed[0] == other.observed[0])[both].all()
    assert (one.lists[0] != other.lists[0]).any()


@given(
    stars=st.lists(st.integers(1, 5), min_size=2, max_size=12),
    share=st.floats(0, 1),
    place=st.integers(0, 11),
)
def test_attention_falls_over_places_and_rises_with_liking(
    stars: list[int], share: float, place: int
) -> None:
    same = choice_chances(
        "attentive", np.full((1, len(stars)), float(stars[0])), share=share, most=5
    )
    assert (np.diff(same[0]) <= 0).all()
    chances = choice_chances("attentive", np.array([stars], float), share=share, most=5)[0]
    assert ((chances >= 0) & (chances <= 1)).all()
    better = list(stars)
    better[place % len(stars)] = 5
    liked = choice_chances("attentive", np.array([better], float), share=share, most=5)[0]
    assert (liked >= chances).all()


def test_on_average_over_places_the_best_rating_is_observed_as_often_as_asked() -> None:
    chances = choice_chances("attentive", np.full((1, 10), 5.0), share=0.3, most=5)
    assert chances.mean() == pytest.approx(0.3)
    # 1 / log2(2) over the mean of 1 / log2(1 + k), k = 1..10, which is 4.543559 / 10
    assert chances[0, 0] == pytest.approx(0.3 / 0.4543559, rel=1e-6)


# -- what is kept ------------------------------------------------------------------------------


@pytest.mark.slow
def test_any_number_of_workers_gives_the_same_courses(tmp_path: Path) -> None:
    loops = [asked(system, choice) for system in (QUICK, NEAR) for choice in ("even", "attentive")]
    alone = [follow(loop) for loop in loops]
    rounds = measure_loops(loops, min_rating=4, lam=0.5)
    with cells_kept_in(tmp_path / "others"):
        measured = measure_loops(loops, min_rating=4, lam=0.5, workers=2)
        assert len(list(tmp_path.rglob("others/courses/*/*"))) == len(loops)
        together = [follow(loop) for loop in loops]
    for loop, one, other in zip(loops, rounds, measured, strict=True):
        pd.testing.assert_frame_equal(one, other, check_exact=True)
        pd.testing.assert_frame_equal(one, measure_rounds(loop, min_rating=4, lam=0.5))
    for one, other in zip(alone, together, strict=True):
        assert (one.lists == other.lists).all()
        assert (one.observed == other.observed).all()


def test_a_course_is_kept_and_not_followed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    first = follow(asked())
    monkeypatch.setattr(feedback, "_go", lambda *_: pytest.fail("it was followed again"))
    again = follow(asked())
    assert isinstance(again, Course)
    assert (first.lists == again.lists).all()
    assert again.observed.shape == (3, 30, 4)


def test_all_that_decides_a_course_is_in_its_key() -> None:
    dataset = load_dataset(WORLD)
    changed = [
        {"choice": "attentive"},
        {"n_rounds": 4},
        {"cutoff": 5},
        {"share": 0.4},
        {"seed": 2},
        {"system": NEAR},
    ]
    keys = {asked().key(dataset)}
    keys |= {dataclasses.replace(asked(), **change).key(dataset) for change in changed}
    keys.add(asked().key(load_dataset(WORLD.replace("40", "41"))))
    assert len(keys) == len(changed) + 2
    often = dataclasses.replace(QUICK, n_seeds=5)
    assert dataclasses.replace(asked(), system=often).key(dataset) in keys


def test_a_damaged_course_is_refused() -> None:
    follow(asked())
    (path,) = (cells_dir() / "courses").rglob("*.parquet")
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(DamagedError, match="delete it and rerun"):
        follow(asked())


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"choice": "evn"}, "unknown choice model 'evn'.*even"),
        ({"n_rounds": 0}, "n_rounds is 0, expected an integer from 1"),
        ({"cutoff": 1.5}, "cutoff is 1.5, expected an integer from 1"),
        ({"seed": True}, "seed is True, expected an integer from 0"),
        ({"share": 1.1}, "share is 1.1, expected a number from 0 to 1"),
        ({"share": float("nan")}, "share is nan, expected a number from 0 to 1"),
    ],
)
def test_what_cannot_be_asked_is_refused(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        asked(**changed)


def test_data_without_truth_are_refused(tmp_path: Path) -> None:
    table = tmp_path / "mine.csv"
    table.write_text("user,item,rating\n1,2,3\n1,3,4\n2,2,5\n")
    with pytest.raises(ConfigError, match=r"truth of .* is not known; give the name of a world"):
        follow(dataclasses.replace(asked(), world=str(table)))
    assert not cells_dir().exists()


def test_what_is_listed_and_observed_changes_with_the_revision_only() -> None:
    """Popularity computes in whole numbers, so that its course is the same on every machine."""
    courses = [follow(asked(POPULAR, choice)) for choice in ("even", "attentive")]
    content = b"".join(
        values.astype(dtype).tobytes()
        for course in courses
        for values, dtype in ((course.lists, "<i4"), (course.observed, "u1"))
    )
    assert (feedback.REVISION, digest(content)[:16]) == (1, "3ba4964883c25fc5"), (
        "other items are listed or observed: raise feedback.REVISION and renew this digest"
    )
