"""Each warning of an audit: it fires where its fault was planted, and not where none was."""

import numpy as np
import pandas as pd
import pytest

from recbias import System, load_dataset, run
from recbias.audit import auditing, comparison, signals
from recbias.audit.comparison import CHANCE, Case, Comparison, Difference, asked, lead
from recbias.audit.design import own_design
from recbias.protocol.testset import dataset_splits
from recbias.recommenders import FromScores, as_system

N_USERS, N_ITEMS = 80, 60


@pytest.fixture(scope="module")
def table():
    """Ratings in time: tastes of two groups of users for two groups of items."""
    rng = np.random.default_rng(5)
    rows = []
    for user in range(N_USERS):
        for item in rng.choice(N_ITEMS, 24, replace=False):
            alike = user % 2 == item % 2
            rating = int(np.clip(round(rng.normal(4.4 if alike else 2.2, 0.8)), 1, 5))
            rows.append((user, item, rating, int(rng.integers(10**6))))
    return pd.DataFrame(rows, columns=["user_id", "item_id", "rating", "timestamp"])


@pytest.fixture(scope="module")
def loaded(table):
    return load_dataset(table)


def own_difference(table, pair, design):
    case = Case("own", str(design.protocol), str(design.measured))
    return lead(run(asked(table, pair, design, case, (case.metric,))), pair, case.metric)


def test_the_future_is_seen_in_random_splits_and_not_in_a_cut(loaded):
    fires = {
        rule: signals.timed(loaded, dataset_splits(loaded, rule, seed=1)).fires
        for rule in ("ratio 0.2", "temporal 0.2")
    }
    assert fires == {"ratio 0.2": True, "temporal 0.2": False}


def scores_of(table, *, knows_test):
    """Scores by group, which is taste; who knows the test puts what was rated there on top."""
    loaded = load_dataset(table)
    (split,) = dataset_splits(loaded, "ratio 0.2", seed=1)
    tested = set(zip(split.test.user.tolist(), split.test.item.tolist(), strict=True))
    ids, items = loaded.ratings.user_ids, loaded.ratings.item_ids
    rng = np.random.default_rng(7)
    rows = [
        (ids[u], items[i], rng.random() + (int(ids[u]) % 2 == int(items[i]) % 2)
         + (9 if knows_test and (u, i) in tested else 0))
        for u in range(len(ids)) for i in range(len(items))
    ]  # fmt: skip
    return FromScores(pd.DataFrame(rows, columns=["user_id", "item_id", "score"]))


def hidden(table, first):
    """What an audit of it against Popularity finds that accuracy hides, and what is warned of."""
    loaded = load_dataset(table)
    pair = as_system(first), System("Popularity", "Popularity")
    asks = Comparison(table, pair, own_design(loaded, split="ratio 0.2"))
    splits = dataset_splits(loaded, "ratio 0.2", seed=1)
    found, said = auditing._said_of_data(lambda: comparison.hidden(asks, splits))
    return found, said, asks, splits


@pytest.mark.parametrize("knows_test", [False, True])
def test_who_knows_the_test_is_seen(table, knows_test):
    found, _, asks, splits = hidden(table, scores_of(table, knows_test=knows_test))
    told = signals.seen(found["lists"], asks.depth, splits, asks.pair, 4)
    assert told.fires == knows_test


@pytest.mark.parametrize("least", [4, 5])
def test_who_knows_what_will_be_liked_is_seen_although_dislikes_are_last(table, least):
    """Found by a reader, with few likes among test ratings: a third of the places was filled."""
    (split,) = dataset_splits(load_dataset(table), "ratio 0.2", seed=1)
    test = split.test
    n_liked, n_rated = (
        np.minimum(np.bincount(test.user[good], minlength=test.n_users), 10).mean()
        for good in (test.value >= least, test.value > 0)
    )
    possible = {"judged@10": {CHANCE: 0.0}, "antiP@10": {CHANCE: 0.0}}
    for name, likes, dislikes in (
        ("knows", n_liked, 0), ("half", n_liked / 2, 0), ("any", n_liked / 2, n_rated / 5),
    ):  # fmt: skip
        possible["judged@10"][name] = (likes + dislikes) / 10
        possible["antiP@10"][name] = dislikes / 10
    fires = {
        name: signals.seen(possible, 10, [split], [System(name, "Popularity")], least).fires
        for name in ("knows", "half", "any")
    }
    assert fires == {"knows": True, "half": False, "any": False}


def test_lists_that_end_early_are_seen(table):
    loaded = load_dataset(table)
    (split,) = dataset_splits(loaded, "ratio 0.2", seed=1)
    rng = np.random.default_rng(1)
    trained = set(zip(split.train.user.tolist(), split.train.item.tolist(), strict=True))
    fires = {}
    for length in (4, 30):
        rows = [
            (loaded.ratings.user_ids[u], loaded.ratings.item_ids[i], rank)
            for u in range(N_USERS)
            for rank, i in enumerate(
                [i for i in rng.permutation(N_ITEMS) if (u, i) not in trained][:length], start=1
            )
        ]
        lists = FromScores(pd.DataFrame(rows, columns=["user_id", "item_id", "rank"]))
        found, said, asks, _ = hidden(table, lists)
        fires[length] = signals.short(found["lists"], asks.depth, said, asks.pair).fires
    assert fires == {4: True, 30: False}


def test_a_lead_that_is_popularity_alone_is_seen():
    own = Difference(0.1, 0.05, 0.15, 0.001, 80, "paired t")
    nothing, something = ({"lead": own._replace(low=low)._asdict()} for low in (-0.01, 0.01))
    assert signals.popular(own, nothing).fires
    assert not signals.popular(own, something).fires
    assert not signals.popular(own, {"reason": "too few items"}).fires


def test_users_that_are_left_out_are_seen(table, loaded):
    fires = {}
    for words in ("", " users=trained<19"):
        design = own_design(loaded, f"AI-AN-AR rel>=4{words}", split="ratio 0.2")
        pair = System("Popularity", "Popularity"), System("Random", "Random")
        case = Case("own", str(design.protocol), str(design.measured))
        results = run(asked(table, pair, design, case, (case.metric,)))
        splits = dataset_splits(loaded, "ratio 0.2", seed=1)
        fires[words] = signals.dropped(results, design, splits).fires
    assert fires == {"": False, " users=trained<19": True}


def test_ties_that_decide_are_seen(table, loaded):
    """Scores of one bit leave whole groups equal; the order that is drawn decides between two."""
    design = own_design(loaded, "AI-AN-AR rel>=4", "P@1", "ratio 0.2")
    rng = np.random.default_rng(2)
    frames = {
        name: [(u, i, noise * rng.random() + (u % 2 == i % 2)) for u in range(N_USERS)
               for i in range(N_ITEMS)]
        for name, noise in (("one", 1.0), ("two", 9.0), ("flat", 0.0), ("flat too", 0.0))
    }  # fmt: skip
    pairs = [as_system(FromScores(pd.DataFrame(rows, columns=["user_id", "item_id", "score"])))
             .replace(name) for name, rows in frames.items()]  # fmt: skip
    fine, flat = tuple(pairs[:2]), tuple(pairs[2:])
    sure = signals.tied(Comparison(table, fine, design), own_difference(table, fine, design))
    drawn = Difference(0.05, 0.01, 0.09, 0.02, 80, "paired t")  # what the order made of equal ones
    tied = signals.tied(Comparison(table, flat, design), drawn)
    assert not sure.fires
    assert tied.fires
    assert sure.told
    places = (System("kNN", "CoRatedItemKNNInFileOrder"), System("Random", "Random"))
    lead = own_difference(table, places, design)
    found = signals.tied(Comparison(table, places, design), lead)
    assert found.fires or not found.told  # it hands on places, which never tie
    assert "kNN scores by places" in found.evidence


def test_a_baseline_with_bad_settings_is_seen(table, loaded):
    design = own_design(loaded, "AI-AN-AR rel>=4", split="ratio 0.2")
    first = System("Random", "Random")
    fires = {}
    for name, n_neighbours in (("bad", 1), ("good", 40)):
        rival = System(name, "UserKNN", {"n_neighbours": n_neighbours, "encoding": "binary-pos>=4"})
        own = own_difference(table, (first, rival), design)
        fires[name] = signals.untuned(Comparison(table, (first, rival), design), own).fires
    assert fires["bad"]
    assert not fires["good"]


def test_settings_around_a_system_change_one_number_at_a_time():
    system = System("kNN", "UserKNN", {"n_neighbours": 20})
    others = signals.variations(system)
    assert {other.parameters["n_neighbours"] for other in others} >= {5, 80}
    for other in others:
        changed = {k for k, v in other.parameters.items() if v != system.parameters.get(k)}
        assert len(changed - (other.parameters.keys() - system.parameters.keys())) <= 1
    assert signals.variations(System("mine", "FromScores")) == []


def test_folds_that_were_asked_often_are_seen(table, loaded, monkeypatch, tmp_path):
    monkeypatch.setenv("RECBIAS_CELLS", str(tmp_path / "cells"))
    design = own_design(loaded, "AI-AN-AR rel>=4", split="ratio 0.2")
    case = Case("own", str(design.protocol), "P@10")
    system = System("kNN", "UserKNN", {"n_neighbours": 3})
    settings = [System(f"{n}", "UserKNN", {"n_neighbours": n}) for n in range(4, 15)]
    run(asked(table, settings[:9], design, case, ("P@10",)))
    pair = system, System("Random", "Random")
    few = signals.asked_often(Comparison(table, pair, design))
    run(asked(table, (system, *settings), design, case, ("P@10",)))
    many = signals.asked_often(Comparison(table, pair, design))
    assert (few.fires, many.fires) == (False, True), (few, many)
    assert many.evidence.startswith("12 settings")  # its own is one, asked for before or not
    rival = System("rival", "UserKNN", {"n_neighbours": 4})
    around = {other.parameters["n_neighbours"] for other in signals.variations(rival)} | {4}
    told = signals.asked_often(Comparison(table, (system, rival), design)).evidence
    assert told.startswith(f"{12 - len(around & set(range(4, 15)))} settings")  # not the audit's
