"""Lists as LibRec makes them, against a plain loop over the items of a file."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from recbias import Grid, System, run
from recbias.cli.commands import main
from recbias.data import datasets
from recbias.data.datasets import Content, dataset_info, load_dataset
from recbias.data.ratings import Ratings, RatingScale
from recbias.data.simulation import make_world
from recbias.errors import ConfigError
from recbias.experiment.grid import split_marks
from recbias.protocol.splits import Split
from recbias.ranking import top_items
from recbias.recommenders import algorithm, line_up
from recbias.recommenders.as_published import file_order as module
from recbias.recommenders.as_published.file_order import file_order
from recbias.recommenders.line_ups import tie_rules
from recommender_tables import random_stars, table

PAIRS = {
    change.base: (change.system, system)
    for change in tie_rules()
    for system in line_up("mccrs20")
    if system.name == change.base
}
UNLIKING, STRANGER = 5, -1


def ratings(seed=0, placed=False):
    """Make few whole stars, so that many scores tie; one user has no likes, one has no ratings."""
    stars = random_stars(seed, n_users=30, n_items=25, observed=0.4, levels=5)
    stars[UNLIKING] = np.where(np.isnan(stars[UNLIKING]), np.nan, np.minimum(stars[UNLIKING], 3))
    train = table(stars)
    if placed:
        place = np.random.default_rng(seed).permutation(3 * len(train))[: len(train)]
        train = dataclasses.replace(train, place=place)
    return train


def fitted(system, train):
    small = {"n_topics": 3, "n_neighbours": 4, "shrinkage": 1.0, "l1": 0.3}
    fitting = {name: value for name, value in small.items() if name in system.parameters}
    model = system.replace("small", **fitting).build()
    return model.fit(train, rng=np.random.default_rng(7))


def named_by_file(train):
    """Number items as a reader of the file does who meets them row by row."""
    numbers = {}
    place = train.user if train.place is None else train.place
    for _, item in sorted(zip(place.tolist(), train.item.tolist(), strict=True)):
        numbers.setdefault(item, len(numbers))
    return list(numbers)


def kept_by_loop(scores, items, size=10):
    """Go through items; a full list takes one only for a smaller score, the last such to come."""
    kept = []
    for item in items:
        score = 0.0 if np.isnan(scores[item]) else scores[item]
        if len(kept) < size:
            kept.append((score, item))
            continue
        least = min(score for score, _ in kept)
        if score > least:
            last = max(place for place, (score, _) in enumerate(kept) if score == least)
            del kept[last]
            kept.append((score, item))
    # Python's sort is stable, but what came late with a higher score is behind: by number, too.
    places = {item: place for place, item in enumerate(items)}
    return [item for _, item in sorted(kept, key=lambda pair: (-pair[0], places[pair[1]]))]


def kept_by_heap(scores, items, size=10):
    """Do the same with a binary heap of scores only, the root of which gives way."""

    def key(item):
        return 0.0 if np.isnan(scores[item]) else scores[item]

    heap = []

    def rise(place, item):
        while place and key(item) < key(heap[(place - 1) // 2]):
            heap[place] = heap[(place - 1) // 2]
            place = (place - 1) // 2
        heap[place] = item

    def sink(item):
        place = 0
        while 2 * place + 1 < len(heap):
            child = 2 * place + 1
            if child + 1 < len(heap) and key(heap[child]) > key(heap[child + 1]):
                child += 1
            if key(item) <= key(heap[child]):
                break
            heap[place] = heap[child]
            place = child
        heap[place] = item

    for item in items:
        if len(heap) == size:
            if not key(item) > key(heap[0]):
                continue
            last = heap.pop()
            if heap:
                sink(last)
        heap.append(item)
        rise(len(heap) - 1, item)
    return heap


def check_lists(name, seed=0, placed=False):
    """Compare the first ten of each user with the loop's, over the scores of the plain class."""
    train = ratings(seed, placed)
    plain, listed = (fitted(system, train) for system in PAIRS[name])
    users = np.arange(train.n_users)
    scores, places = plain.score(users), listed.score(users)
    numbered = named_by_file(train)
    known = train.user_counts() > 0
    for user in users[known]:
        own = set(train.item[train.user == user].tolist())
        items = [item for item in numbered if item not in own]
        shown = sorted(items, key=lambda item: -places[user, item])[:10]
        assert shown == kept_by_loop(scores[user], items)
        heap = kept_by_heap(scores[user], items)
        worth = np.nan_to_num(scores[user])
        assert sorted(worth[shown]) == sorted(worth[heap])
    found = ~np.isnan(places)
    assert not found[:, train.item_counts() == 0].any()
    assert found[np.ix_(known, train.item_counts() > 0)].all()
    assert found[STRANGER].any() == (listed.coverage == "known items")
    for row in places[known]:
        row = row[~np.isnan(row)]
        assert len(set(row.tolist())) == len(row)


@pytest.mark.parametrize("placed", [False, True])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", PAIRS)
def test_lists_are_those_of_a_loop_over_the_file(name, seed, placed):
    check_lists(name, seed, placed)


@pytest.mark.parametrize("name", PAIRS)
def test_the_order_of_rows_changes_lists_and_no_score(name):
    plain, listed = PAIRS[name]
    train, placed = ratings(), ratings(placed=True)
    users = np.arange(train.n_users)
    before, after = (fitted(plain, each).score(users) for each in (train, placed))
    np.testing.assert_array_equal(before, after)
    before, after = (fitted(listed, each).score(users) for each in (train, placed))
    assert not np.array_equal(before, after, equal_nan=True)


def places_with(change):
    original = module.places_from_the_end
    return lambda scores, order: change(original, scores, order)


BROKEN = {
    "the last of equal items wins": lambda places, scores, order: places(scores, order[::-1]),
    "by number": lambda places, scores, order: places(scores, np.sort(order)),
    "scores as they are": lambda places, scores, order: scores,
    "what has no score is left out": lambda places, scores, order: np.where(
        np.isnan(scores), np.float32(np.nan), places(scores, order)
    ),
    "turned round": lambda places, scores, order: places(-scores, order),
    "two of a kind": lambda places, scores, order: np.ceil(places(scores, order) / 2),
}


@pytest.mark.parametrize("change", BROKEN)
def test_the_loop_notices_other_lists(monkeypatch, change):
    monkeypatch.setattr(module, "places_from_the_end", places_with(BROKEN[change]))
    with pytest.raises(AssertionError):
        check_lists("User kNN")


@pytest.mark.parametrize("name", ["pLSA", "User kNN"])
def test_who_liked_nothing_is_listed_the_beginning_of_the_file(name):
    train = ratings()
    plain, listed = (fitted(system, train) for system in PAIRS[name])
    assert np.isnan(plain.score(np.array([UNLIKING]))).all()
    (places,) = listed.score(np.array([UNLIKING]))
    order = sorted(np.flatnonzero(~np.isnan(places)), key=lambda item: -places[item])
    assert order == named_by_file(train)
    assert file_order(train).tolist() == order


def test_the_heap_of_the_toolkit_keeps_the_first_of_a_list_of_ties():
    items = list(np.random.default_rng(1).permutation(40))
    ties = np.zeros(40)
    assert sorted(kept_by_heap(ties, items)) == sorted(kept_by_loop(ties, items))
    assert kept_by_loop(ties, items) == items[:10]


def test_another_order_of_the_file_makes_another_list():
    """Users in another order name items in another order; what models score does not change."""
    train = ratings()
    turn = np.arange(train.n_users)[::-1]
    user = turn[train.user].astype(np.int32)
    order = np.lexsort((train.item, user))
    turned = dataclasses.replace(
        train, user=user[order], item=train.item[order], value=train.value[order]
    )

    def both(system):
        users = np.arange(train.n_users)
        return fitted(system, train).score(users), fitted(system, turned).score(turn)

    for name in ("User kNN", "SLIM", "Popularity"):
        plain, listed = PAIRS[name]
        np.testing.assert_allclose(*both(plain), rtol=1e-5)
        assert not np.array_equal(*both(listed), equal_nan=True)


def test_a_world_s_file_names_popular_items_early():
    train = make_world(n_users=300, n_items=200, n_ratings=4000).ratings
    order = file_order(train)
    counts = train.item_counts()[order]
    assert counts[:50].mean() > 2 * counts[-50:].mean()
    assert sorted(order.tolist()) == np.flatnonzero(train.item_counts()).tolist()


def test_the_tie_rule_of_the_evaluation_has_nothing_left_to_do():
    train = ratings()
    nothing = train.take(np.zeros(len(train), dtype=bool))
    split = Split(train, nothing, np.array([], dtype=np.int32), 0, "made up")

    def lists(system, seed):
        return top_items(fitted(system, train), split, cutoff=10, candidates="AI", seed=seed)

    for name, (plain, listed) in PAIRS.items():
        np.testing.assert_array_equal(lists(listed, 1), lists(listed, 2))
        if name in ("Popularity", "Average rating", "SLIM"):  # others rarely tie in a small table
            assert not np.array_equal(lists(plain, 1), lists(plain, 2))


def test_float32_tells_the_places_apart(monkeypatch):
    last = np.arange(module.MOST_ITEMS - 3, module.MOST_ITEMS + 2)
    distinct = np.unique(last.astype(np.float32))
    assert len(distinct) == len(last) - 1  # the one beyond does not fit
    train = ratings()
    monkeypatch.setattr(module, "MOST_ITEMS", 24)
    model = algorithm("PopularityInFileOrder")()
    assert model.fit(train)
    monkeypatch.setattr(module, "MOST_ITEMS", 23)
    with pytest.raises(ConfigError, match="'small' has 24 rated items, and scores can tell 23"):
        model.fit(train)


def test_what_an_encoding_drops_is_not_in_the_file():
    train = ratings()
    model = algorithm("PLSAInFileOrder")(encoding="binary-pos>=4", n_iterations=1)
    scores = model.fit(train, rng=np.random.default_rng(1)).score(np.array([UNLIKING]))
    assert np.isnan(scores).all()


LINES = ("2 d", "1 f", "3 e", "3 b", "1 c", "4 c", "4 d", "1 a", "2 a", "3 f", "4 e", "2 b")
"""Every item twice, in the order of a file: user and item, two folds of six lines each."""


@pytest.fixture
def folds(monkeypatch):
    """A data set that came as two folds, under the name ``toy``."""
    frame = pd.DataFrame([line.split() for line in LINES], columns=["user_id", "item_id"])
    known = Ratings.from_frame(frame.assign(rating=5), scale=RatingScale(1, 5, 1), name="toy")
    users, items = known.user_ids[known.user].tolist(), known.item_ids[known.item].tolist()
    pairs = [f"{user} {item}" for user, item in zip(users, items, strict=True)]
    place = np.array([LINES.index(pair) for pair in pairs])
    content = Content(known, (place >= 6).astype(np.int8), row_order=place)
    info = dataclasses.replace(
        dataset_info("synthetic"), name="toy", title="Toy", content_hash=None, files=()
    )
    monkeypatch.setitem(datasets.OUTSIDE, "toy", info)
    monkeypatch.setitem(datasets._READERS, "toy", lambda files: content)
    return LINES[6:], LINES[:6]  # the training lines of either


def first_item(lines, user):
    """Go through the training lines: the most frequent item that the user has not, first named."""
    items = [line.split()[1] for line in lines]
    own = {line.split()[1] for line in lines if line.split()[0] == user}
    rest = [item for item in dict.fromkeys(items) if item not in own]
    return max(rest, key=items.count)  # the first of equal ones


def test_folds_are_measured_in_the_order_of_their_files(folds, tmp_path, monkeypatch):
    monkeypatch.setenv("RECBIAS_CELLS", str(tmp_path))
    systems = (System("listed", "PopularityInFileOrder"), System("plain", "Popularity"))
    plain, ordered = (
        Grid("toy", systems, ("AI-AN-AR rel>=4",), ("P@1",), split=split)
        for split in ("ready", "ready order=file")
    )
    hits, n = 0, 0
    for train, test in zip(folds, folds[::-1], strict=True):
        for user in sorted({line.split()[0] for line in LINES}):
            hits += f"{user} {first_item(train, user)}" in test
            n += 1
    before, after = run(plain, workers=1), run(ordered, workers=1)
    assert after.times["computed"], "the cells of the other order are not taken for these"
    at = "AI-AN-AR rel>=4", "P@1"
    assert after["listed", *at].value == pytest.approx(hits / n)
    assert before["listed", *at].value != after["listed", *at].value
    assert before["plain", *at].value == after["plain", *at].value
    toy = load_dataset("toy")
    assert split_marks(toy, "ready").keys() < split_marks(toy, "ready order=file").keys()


def test_commands_read_and_write_folds_in_the_order_of_their_files(folds, tmp_path):
    out = tmp_path / "out"
    asked = ["data", "split", "toy", "--out", str(out), "--order", "file", "--split"]
    refused = CliRunner().invoke(main, [*asked, "k-fold 2"])
    assert (refused.exit_code, out.exists()) == (2, False)
    assert "expected 'ready order=file'" in refused.output
    written = CliRunner().invoke(main, [*asked, "ready"])
    assert written.exit_code == 0, written.output
    for number, train in enumerate(folds, start=1):
        frame = pd.read_csv(out / f"fold-{number}/train.csv", dtype=str)
        assert (frame["user_id"] + " " + frame["item_id"]).tolist() == list(train)
    assert json.loads((out / "split.json").read_text())["rule"] == "ready order=file"
