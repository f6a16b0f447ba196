"""What a model cannot score stands below the rest in the order of a policy, and is never lost."""

from __future__ import annotations

import dataclasses
import itertools
from fractions import Fraction

import numpy as np
import pytest

from explicit_lists import FixedScores, make_split
from golden import small_table
from recbias import Grid, System, run
from recbias._system.streams import stream
from recbias.data.datasets import load_dataset
from recbias.errors import ConfigError, ContractError
from recbias.experiment.cells import Artefact, grid_cells, run_cell
from recbias.experiment.reduction import Reader
from recbias.protocol.protocol import POLICIES
from recbias.protocol.targets import TargetRule, popularity_groups
from recbias.protocol.testset import TestSet, dataset_splits, kept_rows, reduced_split
from recbias.ranking import (
    deduce_scored,
    look_at_scored,
    policy_order,
    rank_once,
    rank_unscored,
)
from recbias.recommenders import algorithm
from recbias.testing import naive_list
from test_positions import found, full_orders, naive

USED = POLICIES[1:]
SEED = 3


def world(number):
    """Few stars, many gaps in the scores; users and items without training, a user without any."""
    rng = np.random.default_rng(number)
    stars = rng.integers(2, 11, (20, 30)) / 2
    fate = rng.random((20, 30))
    fate[:3] = np.maximum(fate[:3], 0.3)
    fate[:, ::6] = np.maximum(fate[:, ::6], 0.3)
    gap = np.full_like(stars, np.nan)
    split = make_split(np.where(fate < 0.3, stars, gap), np.where(fate > 0.75, stars, gap))
    scores = rng.choice([-1.0, 0.0, 0.5, 2.0, np.nan], (20, 30), p=[0.1, 0.2, 0.2, 0.2, 0.3])
    scores[3] = np.nan
    scores[4] = np.linspace(-1, 1, 30)
    return split, scores.astype(np.float32)


WORLDS = [world(number) for number in (1, 2)]


def values_of(policy, split):
    """What each item is ordered by, from the words of the policy."""
    stars: dict[int, list[Fraction]] = {item: [] for item in range(split.train.n_items)}
    for item, value in zip(split.train.item.tolist(), split.train.value.tolist(), strict=True):
        stars[item].append(Fraction(value))
    if policy == "random":
        return dict.fromkeys(stars, 0)
    if policy == "popularity":
        return {item: len(given) for item, given in stars.items()}
    return {
        item: sum(given) / len(given) if given else Fraction(-99) for item, given in stars.items()
    }


def orders_with(policy, split, scores):
    """Every user's order of all items by sorting, training included."""
    ties = full_orders(split, np.zeros(scores.shape), SEED)
    below = values_of(policy, split)
    return [
        naive_list({item: float(row[item]) for item in range(len(row))}, ties[user], below)
        for user, row in enumerate(scores)
    ]


def ranked(split, scores, policy, n_groups=10, depth=100):
    model, groups = FixedScores(scores), popularity_groups(split.train, n_groups)
    positions, _ = rank_once(model, split, groups=groups, depth=depth, seed=SEED)
    scored = look_at_scored(model, split.train)
    below = rank_unscored(scored, split, policy, groups=groups, depth=depth, seed=SEED)
    return positions.with_below(below)


@pytest.mark.parametrize(("split", "scores"), WORLDS)
@pytest.mark.parametrize("policy", USED)
class TestAgainstSorting:
    def test_every_rule(self, split, scores, policy):
        orders = orders_with(policy, split, scores)
        positions = ranked(split, scores, policy)
        assert positions.listed.all()
        for candidates in ("TI", "AI"):
            for text, options in (
                ("AN-AR", {}),
                ("AN-1R", {"runs": 4}),
                ("AN-AR +train", {"with_train": True}),
                ("AN-1R +train", {"with_train": True, "runs": 4}),
                ("AN-P1R m=5", {"runs": 4, "group": popularity_groups(split.train, 5).labels}),
            ):
                table = positions.table(TargetRule.parse(f"{candidates}-{text}"), min_rating=4)
                assert found(table) == naive(split, orders, candidates, **options), text

    def test_thinned_and_headless(self, split, scores, policy):
        orders = orders_with(policy, split, scores)
        side, groups = TestSet(removed=40, head=20), popularity_groups(split.train, 10)
        rows = kept_rows(side, len(split.test), seed=1, fold=0)
        part = ranked(split, scores, policy).take(rows).of_groups(2, 10)
        reduced = reduced_split(split, side, groups, seed=1)
        head = np.flatnonzero(groups.labels < 2).tolist()
        table = part.table(TargetRule.parse("TI-AN-AR"))
        assert found(table) == naive(reduced, orders, "TI", removed=head)

    def test_lists(self, split, scores, policy):
        orders = orders_with(policy, split, scores)
        for depth, candidates in itertools.product((1, 6, 30), ("TI", "AI")):
            lists = ranked(split, scores, policy, depth=depth).lists(candidates, depth)
            pool = range(30) if candidates == "AI" else split.test_items.tolist()
            for user, order in enumerate(orders):
                train = set(split.train.item[split.train.user == user].tolist())
                shown = [i for i in order if i in pool and i not in train]
                assert [i for i in lists[user].tolist() if i >= 0] == shown[:depth]


@pytest.mark.parametrize(("split", "scores"), WORLDS)
def test_another_policy_is_another_order(split, scores):
    for policy, other in itertools.permutations(USED, 2):
        table = ranked(split, scores, other).table(TargetRule.parse("TI-AN-AR"))
        assert found(table) != naive(split, orders_with(policy, split, scores), "TI")


def test_items_with_a_score_stay_where_they_are():
    split, scores = WORLDS[0]
    plain, _ = rank_once(FixedScores(scores), split, seed=SEED)
    before = plain.table(TargetRule.parse("TI-AN-AR")).rank
    for policy in USED:
        after = ranked(split, scores, policy).table(TargetRule.parse("TI-AN-AR")).rank
        assert (after[before > 0] == before[before > 0]).all()
        assert (after[before == 0] > 0).all()
    assert (before == 0).any()


def test_a_ranking_is_not_put_below_one_that_has_its_pairs():
    split, scores = WORLDS[0]
    positions, _ = rank_once(FixedScores(scores), split, seed=SEED)
    with pytest.raises(ContractError, match="a pair has a place in both"):
        positions.with_below(positions)
    with pytest.raises(ConfigError, match="unknown policy for what has no score 'none'"):
        policy_order("none", split.train)


# ---- which items have a score follows from counts, where they leave no doubt


def fitted(name, split, **parameters):
    return algorithm(name)(**parameters).fit(split.train, rng=np.random.default_rng(1))


def deduced(model, split):
    positions, _ = rank_once(model, split, groups=popularity_groups(split.train, 5), seed=SEED)
    return deduce_scored(positions, split, model)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("Random", {}),
        ("Popularity", {}),
        ("BiasedMF", {"n_factors": 3, "n_epochs": 2}),
        ("WeightedMF", {"n_factors": 3, "n_iterations": 2, "encoding": "binary-pos>=4"}),
        ("PLSA", {"n_topics": 3, "n_iterations": 3}),
    ],
)
@pytest.mark.parametrize("number", [0, 1])
def test_scored_pairs_are_deduced(name, parameters, number):
    split, _ = WORLDS[number]
    model, users = fitted(name, split, **parameters), np.arange(20)
    by_counts = deduced(model, split)
    assert by_counts is not None
    np.testing.assert_array_equal(by_counts(users), ~np.isnan(model.score(users)))
    seen = look_at_scored(model, split.train)(users)
    np.testing.assert_array_equal(seen, ~np.isnan(model.score(users)))


def test_nothing_is_deduced_where_counts_leave_a_doubt():
    split, scores = WORLDS[0]
    assert deduced(fitted("UserKNN", split, n_neighbours=3), split) is None
    assert deduced(FixedScores(scores), split) is None
    everything = FixedScores(np.zeros(scores.shape))
    assert deduced(everything, split) is None  # it may score what nobody rated: no promise
    model = fitted("Popularity", split)
    positions, _ = rank_once(model, split, seed=SEED)
    assert deduce_scored(positions, split, model) is not None
    for name in ("n_scored", "n_train_scored"):
        counts = getattr(positions, name).copy()
        counts[np.argmax(counts.sum(axis=1)), 0] -= 1
        doubtful = dataclasses.replace(positions, **{name: counts})
        assert deduce_scored(doubtful, split, model) is None


# ---- in an experiment

SYSTEMS = (
    System("Popularity", "Popularity"),
    System("kNN", "UserKNN", {"n_neighbours": 4}),
    System("MF", "BiasedMF", {"n_factors": 4, "n_epochs": 2}),
)
PLAIN = {"AR": "TI-AN-AR rel>=5", "1R": "TI-AN-1R rel>=5"}
FILLED = {
    f"{label} {policy}": f"{text} unscored={policy}"
    for label, text in PLAIN.items()
    for policy in USED
}


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.setenv("RECBIAS_CELLS", str(tmp_path / "cells"))
    return str(small_table(tmp_path))


def grid(table, protocols, **changes):
    metrics = {
        label: ("P@10|t=20", "rho|t=20") if "1R" in text else ("P@10", "R@60", "nDCG@60", "Gini@60")
        for label, text in protocols.items()
    }
    return Grid(table, SYSTEMS, protocols, metrics, split="k-fold 2", seed=5, **changes)


def numbers(results, labels):
    rows = results.values[results.values["label"].isin(labels)]
    return rows[["system", "label", "metric", "value", "low", "high"]].reset_index(drop=True)


def test_a_policy_added_later_gives_what_it_gives_at_once(table, tmp_path, monkeypatch):
    plain = run(grid(table, PLAIN))
    trained = []
    for system in SYSTEMS:
        kind = algorithm(system.algorithm)
        monkeypatch.setattr(kind, "fit", _noted(kind.fit, system.name, trained))
    later = run(grid(table, {**PLAIN, **FILLED}))
    # Only the model whose counts leave a doubt is trained again, once for each fold.
    assert trained == ["kNN", "kNN"]
    assert numbers(later, PLAIN).equals(numbers(plain, PLAIN))
    monkeypatch.setenv("RECBIAS_CELLS", str(tmp_path / "others"))
    at_once = run(grid(table, {**PLAIN, **FILLED}))
    assert numbers(at_once, [*PLAIN, *FILLED]).equals(numbers(later, [*PLAIN, *FILLED]))
    assert trained[2:].count("kNN") == trained[2:].count("MF") == 2
    moved = numbers(later, FILLED)["value"].to_numpy().reshape(len(SYSTEMS), len(FILLED), -1)
    assert np.unique(moved[1], axis=0).shape[0] > 1


def _noted(fit, name, trained):
    def noted(self, train, *, rng=None, **options):
        trained.append(name)
        return fit(self, train, rng=rng, **options)

    return noted


def test_a_filled_cell_equals_sorting(table):
    asked = grid(table, FILLED)
    dataset = load_dataset(table)
    split = dataset_splits(dataset, "k-fold 2", seed=5)[1]
    cells = [cell for name, cell in grid_cells(asked, dataset, None) if name == "kNN"]
    run_cell(cells[1])
    reader = Reader(cells[1])
    model = fitted("UserKNN", split, n_neighbours=4)
    scores = model.score(np.arange(split.train.n_users))
    seed = int(stream(5, "rank", 1).integers(2**63))
    ties = full_orders(split, np.zeros(scores.shape), seed)
    for policy in USED:
        below = values_of(policy, split)
        orders = [
            naive_list(dict(enumerate(row.tolist())), ties[user], below)
            for user, row in enumerate(scores)
        ]
        for label, runs in (("AR", None), ("1R", 5)):
            rows = reader.table(asked, f"{label} {policy}")
            assert found(rows) == naive(split, orders, "TI", runs=runs)


def test_a_damaged_filling_is_made_again(table):
    asked = grid(table, FILLED)
    before = run(asked)
    for _, cell in grid_cells(asked, load_dataset(table), None):
        path = cell.path(next(each for each in cell.artefacts if each.unscored))
        path.write_bytes(path.read_bytes()[:-20])
    with pytest.warns(match="was damaged, computed again"):
        after = run(asked)
    assert numbers(after, FILLED).equals(numbers(before, FILLED))


def test_default_keys_know_no_policy_and_each_policy_has_its_own(table):
    dataset = load_dataset(table)
    plain, filled = grid(table, PLAIN), grid(table, {**PLAIN, **FILLED})
    (_, before), *_ = grid_cells(plain, dataset, None)
    (_, after), *_ = grid_cells(filled, dataset, None)
    assert before.artefacts == after.artefacts[:1] == (Artefact("observed"),)
    assert before.key(before.artefacts[0]) == after.key(after.artefacts[0])
    assert [each.unscored for each in after.artefacts[1:]] == list(USED)
    assert len({after.key(each) for each in after.artefacts}) == 4
    keys = {grid(table, {"a": text}).key(dataset) for text in (PLAIN["AR"], *FILLED.values())}
    assert len(keys) == 1 + len(FILLED)


def test_samples_keep_no_place_for_what_has_no_score(table):
    with pytest.raises(ConfigError, match="keeps no place for what has no score; use AN"):
        grid(table, {"1R": "TI-NN-1R t=20 rel>=5 unscored=random"})


def test_the_worlds_have_what_policies_are_about():
    for split, scores in WORLDS:
        assert (split.train.item_counts() == 0).any()
        assert (split.train.user_counts() == 0).any()
        assert np.isnan(scores).mean() > 0.2
