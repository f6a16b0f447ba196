"""What follows from the counts of one pass equals sorting every target set, item by item."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from explicit_lists import FixedScores, random_split
from recbias.data.datasets import load_dataset
from recbias.errors import ConfigError
from recbias.metrics import measure, parse_metric
from recbias.protocol.splits import k_fold
from recbias.protocol.targets import ItemGroups, TargetRule, Targets, popularity_groups
from recbias.protocol.testset import TestSet, kept_rows, reduced_split
from recbias.ranking import LISTED, rank, rank_once, top_items
from recbias.recommenders import Popularity, System

NONE = np.nan


def world(number):
    """A small split and scores with ties and gaps."""
    rng = np.random.default_rng(number)
    split = random_split(rng, n_users=25, n_items=40, train=0.3, test=0.2)
    scores = rng.choice([0.0, 0.5, 1.0, 2.0, NONE], (25, 40), p=[0.2, 0.3, 0.2, 0.2, 0.1])
    return split, scores.astype(np.float32)


WORLDS = [world(number) for number in (1, 2, 3)]


def full_orders(split, scores, seed):
    """Every user's order of all scored items, training included, by sorting.

    Ties are read off a system without preferences on a split in which nobody trained on anything.
    """
    n_users, n_items = scores.shape
    blank = random_split(np.random.default_rng(0), n_users, n_items, train=0.0, test=1.0)
    flat = FixedScores(np.zeros(scores.shape))
    ties = top_items(flat, blank, cutoff=n_items, candidates="AI", seed=seed)
    orders = []
    for user in range(n_users):
        place = {item: number for number, item in enumerate(ties[user].tolist())}
        scored = [item for item in range(n_items) if not np.isnan(scores[user, item])]
        orders.append(sorted(scored, key=lambda i: (-scores[user, i], place[i])))
    return orders


def naive(split, orders, candidates, *, runs=None, group=None, with_train=False, removed=()):
    """Rank by walking down sorted lists: rows (user, item, rank, condensed), sizes, scored."""
    rows, sets = [], []
    for user in range(split.test.n_users):
        train = set(split.train.item[split.train.user == user].tolist())
        mine = split.test.user == user
        test = dict(zip(split.test.item[mine].tolist(), split.test.value[mine], strict=True))
        pool = set(range(split.test.n_items)) if candidates == "AI" else set(split.test_items)
        targets = {int(i) for i in pool} - set(removed)
        if not with_train:
            targets -= train
        liked = [item for item in sorted(test) if runs is not None and test[item] >= runs]
        for item in liked if runs is not None else [None]:
            members = targets if item is None else (targets - set(liked)) | {item}
            if group is not None:
                members = {other for other in members if group[other] == group[item]}
            shown = [other for other in orders[user] if other in members]
            condensed = [other for other in shown if other in test]
            sets.append((len(members), len(shown)))
            for each in sorted(test) if item is None else [item]:
                places = [o.index(each) + 1 if each in o else 0 for o in (shown, condensed)]
                rows.append((user, each, *places))
    return rows, sets


def found(table):
    columns = (table.user, table.item, table.rank, table.condensed_rank)
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    return rows, list(zip(table.n_targets.tolist(), table.n_scored.tolist(), strict=True))


def kept(split, scores, n_groups=10, seed=3, **options):
    groups = popularity_groups(split.train, n_groups)
    return rank_once(FixedScores(scores), split, groups=groups, seed=seed, **options)[0]


@pytest.mark.parametrize(("split", "scores"), WORLDS)
@pytest.mark.parametrize("candidates", ["AI", "TI"])
class TestAgainstSorting:
    def test_all_targets(self, split, scores, candidates):
        orders = full_orders(split, scores, 3)
        positions = kept(split, scores)
        for text, options in (
            (f"{candidates}-AN-AR", {}),
            (f"{candidates}-AN-1R", {"runs": 4}),
            (f"{candidates}-AN-AR +train", {"with_train": True}),
            (f"{candidates}-AN-1R +train", {"with_train": True, "runs": 4}),
        ):
            table = positions.table(TargetRule.parse(text), min_rating=4)
            assert found(table) == naive(split, orders, candidates, **options), text

    def test_percentiles(self, split, scores, candidates):
        orders = full_orders(split, scores, 3)
        for counted, asked in ((10, 10), (10, 5), (10, 2), (10, 1), (4, 4)):
            table = kept(split, scores, counted).table(
                TargetRule.parse(f"{candidates}-AN-P1R m={asked}"), min_rating=4
            )
            group = popularity_groups(split.train, asked).labels
            assert found(table) == naive(split, orders, candidates, runs=4, group=group)
            assert table.group.tolist() == group[table.item].tolist()

    def test_thinned_and_headless(self, split, scores, candidates):
        orders = full_orders(split, scores, 3)
        positions = kept(split, scores)
        groups = popularity_groups(split.train, 10)
        for side in (TestSet(removed=40), TestSet(head=20), TestSet(removed=40, head=20)):
            rows = kept_rows(side, len(split.test), seed=1, fold=0)
            part = positions.take(rows)
            if side.head:
                part = part.of_groups(2, 10)
            reduced = reduced_split(split, side, groups, seed=1)
            head = np.flatnonzero(groups.labels < (2 if side.head else 0)).tolist()
            for text, runs in ((f"{candidates}-AN-AR", None), (f"{candidates}-AN-1R", 4)):
                table = part.table(TargetRule.parse(text), min_rating=4)
                expected = naive(reduced, orders, candidates, runs=runs, removed=head)
                assert found(table) == expected, (side, text)

    def test_lists(self, split, scores, candidates):
        orders = full_orders(split, scores, 3)
        for depth, removed in itertools.product((1, 7, 40), (False, True)):
            positions = kept(split, scores, depth=depth)
            out = set()
            if removed:
                positions = positions.of_groups(1, 10)
                out = set(np.flatnonzero(positions.groups.labels == 0).tolist())
            if not positions.depth:
                continue
            lists = positions.lists(candidates, positions.depth)
            pool = range(40) if candidates == "AI" else split.test_items.tolist()
            for user, order in enumerate(orders):
                train = set(split.train.item[split.train.user == user].tolist())
                shown = [i for i in order if i in pool and i not in train | out]
                assert [i for i in lists[user].tolist() if i >= 0] == shown[: positions.depth]


def test_a_wrong_count_does_not_pass():
    split, scores = WORLDS[0]
    orders = full_orders(split, scores, 3)
    positions = kept(split, scores)
    positions.above[np.flatnonzero(positions.listed)[5], 3] += 1
    table = positions.table(TargetRule.parse("TI-AN-AR"))
    assert found(table) != naive(split, orders, "TI")


@pytest.fixture(scope="module")
def long_catalogue():
    """Three users, 40,000 items, scores without ties: more than a half word counts."""
    rng = np.random.default_rng(5)
    split = random_split(rng, n_users=3, n_items=40_000, train=0.001, test=0.002)
    return split, rng.permuted(np.tile(np.arange(40_000.0), (3, 1)), axis=1).astype(np.float32)


def sorted_ranks(split, scores):
    """Give the rank of each test rating among all items but the user's training items."""
    ranks = []
    for user, item in zip(split.test.user.tolist(), split.test.item.tolist(), strict=True):
        others = np.delete(scores[user], split.train.item[split.train.user == user])
        ranks.append(1 + int((others > scores[user, item]).sum()))
    return ranks


@pytest.mark.parametrize(("n_groups", "kept_as"), [(1, np.int32), (10, np.int16)])
def test_counts_are_as_wide_as_their_segments_ask(long_catalogue, n_groups, kept_as):
    split, scores = long_catalogue
    positions = kept(split, scores, n_groups)
    assert positions.above.dtype == kept_as
    table = positions.table(TargetRule.parse("AI-AN-AR"))
    assert table.rank.tolist() == sorted_ranks(split, scores)
    assert table.rank.max() > 2**15


def test_counts_that_are_too_narrow_do_not_pass(long_catalogue, monkeypatch):
    split, scores = long_catalogue
    monkeypatch.setattr("recbias.ranking.passes._count_type", lambda most: np.int16)
    table = kept(split, scores, 1).table(TargetRule.parse("AI-AN-AR"))
    assert table.rank.tolist() != sorted_ranks(split, scores)


@pytest.mark.parametrize(("split", "scores"), WORLDS)
def test_condensed_metrics_and_those_of_some_items_follow(split, scores):
    positions = kept(split, scores)
    metrics = [parse_metric(text) for text in ("P@3", "R@3", "nDCG@3", "AP")]
    tail = np.isin(split.test.item, np.flatnonzero(positions.groups.labels >= 5))
    part = reduced_split(split, TestSet(), positions.groups, seed=0)
    part = type(part)(part.train, part.test.take(tail), part.test_items, 0, "explicit")
    (fresh,) = rank(FixedScores(scores), part, [Targets(TargetRule.parse("TI-AN-AR"))], seed=3)
    derived = positions.take(tail).table(TargetRule.parse("TI-AN-AR"))
    for condensed in (False, True):
        a, b = (measure(t, metrics, min_rating=4, condensed=condensed) for t in (derived, fresh))
        np.testing.assert_array_equal(a, b)


def test_expectation_over_samples_is_what_samples_scatter_around():
    split, scores = WORLDS[1]
    expected_metric, metric = parse_metric("P@2|t=8"), parse_metric("P@2")
    for candidates in ("TI", "AI"):
        every = kept(split, scores).table(TargetRule.parse(f"{candidates}-AN-1R"), min_rating=4)
        expected = measure(every, [expected_metric], min_rating=4)[0].mean()
        rule = Targets(TargetRule.parse(f"{candidates}-NN-1R t=8"), 4.0)
        draws = np.array(
            [
                measure(_resampled(split, scores, rule, seed), [metric], min_rating=4)[0].mean()
                for seed in range(100)
            ]
        )
        # 5.25 standard errors of the mean of 100 draws: a false alarm in 1e6.
        error = draws.std(ddof=1) / np.sqrt(len(draws))
        assert abs(draws.mean() - expected) < 5.25 * error
        # The twin: one target fewer is another expectation, which the draws tell apart.
        smaller = measure(every, [parse_metric("P@2|t=7")], min_rating=4)[0].mean()
        assert abs(draws.mean() - smaller) > 5.25 * error


def _resampled(split, scores, rule, seed):
    # Distinct scores in the order of the ties of seed 3, so that another seed moves samples only.
    orders = full_orders(split, scores, 3)
    distinct = np.full(scores.shape, NONE, dtype=np.float32)
    for user, order in enumerate(orders):
        distinct[user, order] = -np.arange(len(order))
    return rank_once(FixedScores(distinct), split, sampled=[rule], seed=seed)[1][0]


@pytest.mark.data
def test_derived_ranks_on_movielens_100k_equal_sorted_lists():
    ratings = load_dataset("ml-100k").ratings
    split = k_fold(ratings, 5, rng=np.random.default_rng(1))[0]
    model = System("kNN", "UserKNN", {"n_neighbours": 50}).build().fit(split.train)
    groups = popularity_groups(split.train, 10)
    positions, _ = rank_once(model, split, groups=groups, seed=2)
    rows = kept_rows(TestSet(removed=50), len(split.test), seed=1, fold=0)
    tables = {
        "AR": positions.table(TargetRule.parse("AI-AN-AR")),
        "TI": positions.take(rows).table(TargetRule.parse("TI-AN-AR")),
        "headless": positions.of_groups(1, 10).table(TargetRule.parse("TI-AN-AR")),
        "control": positions.table(TargetRule.parse("TI-AN-1R +train"), min_rating=5),
        "P1R": positions.table(TargetRule.parse("TI-AN-P1R m=10"), min_rating=5),
    }
    scores = model.score(np.arange(ratings.n_users)).astype(np.float64)
    inside = np.isin(np.arange(ratings.n_items), split.test_items)
    lists = {code: positions.lists(code, LISTED) for code in ("AI", "TI")}
    for user in range(0, ratings.n_users, 7):
        own = scores[user]
        train = split.train.item[split.train.user == user]
        open_ = ~np.isin(np.arange(ratings.n_items), train)
        test = split.test.item[split.test.user == user]
        liked = split.test.item[(split.test.user == user) & (split.test.value >= 5)]
        not_liked = ~np.isin(np.arange(ratings.n_items), liked)
        pools = {
            "AR": open_,
            "TI": open_ & inside,
            "headless": open_ & inside & (groups.labels > 0),
            "control": inside & not_liked,
            "P1R": open_ & inside & not_liked,
        }
        for name, table in tables.items():
            mine = table.user == user
            for item, rank_ in zip(table.item[mine], table.rank[mine], strict=True):
                pool = pools[name]
                if name == "P1R":
                    pool = pool & (groups.labels == groups.labels[item])
                if np.isnan(own[item]):
                    assert rank_ == 0
                    continue
                above = int((pool & (own > own[item])).sum())
                tied = int((pool & (own == own[item])).sum())
                assert above + 1 <= rank_ <= above + max(tied, 1) + (name in ("control", "P1R"))
        assert len(test) == (tables["AR"].user == user).sum()
        for code, pool in (("AI", open_), ("TI", open_ & inside)):
            shown = lists[code][user]
            ordered = np.sort(own[pool & ~np.isnan(own)])[::-1][:LISTED]
            np.testing.assert_array_equal(own[shown[shown >= 0]], ordered)


# ---- groups and refusals


def test_popularity_groups_are_of_equal_size_and_ordered():
    split, _ = WORLDS[0]
    counts = split.train.item_counts()
    groups = popularity_groups(split.train, 7)
    assert np.ptp(np.bincount(groups.labels)) <= 1
    for left, right in itertools.combinations(range(40), 2):
        if counts[left] > counts[right]:
            assert groups.labels[left] <= groups.labels[right]


def test_any_labelling_counts():
    split, scores = WORLDS[2]
    labels = np.random.default_rng(1).integers(0, 3, 40).astype(np.int16)
    positions, _ = rank_once(FixedScores(scores), split, groups=ItemGroups(labels, 3), seed=3)
    plain, _ = rank_once(FixedScores(scores), split, seed=3)
    assert (positions.above.reshape(-1, 2, 3).sum(axis=2) == plain.above).all()
    assert found(positions.table(TargetRule.parse("AI-AN-AR"))) == found(
        plain.table(TargetRule.parse("AI-AN-AR"))
    )


def test_what_counts_cannot_answer_is_refused():
    split, scores = WORLDS[0]
    positions = kept(split, scores)
    with pytest.raises(ConfigError, match="a sample cannot be derived from counts"):
        positions.table(TargetRule.parse("TI-NN-AR N=3"))
    with pytest.raises(ConfigError, match="give min_rating"):
        positions.table(TargetRule.parse("TI-AN-1R"))
    with pytest.raises(ConfigError, match="3 item groups cannot be told from 10"):
        positions.table(TargetRule.parse("TI-AN-P1R m=3"), min_rating=4)
    with pytest.raises(ConfigError, match="lists of 101 items: 100 were kept"):
        positions.lists("AI", 101)
    with pytest.raises(ConfigError, match="not counted within item groups"):
        positions.of_groups(1, 10).table(TargetRule.parse("TI-AN-AR +train"))
    with pytest.raises(ConfigError, match="expected a range in 0 to 10"):
        positions.of_groups(3, 11)
    with pytest.raises(ConfigError, match="expected labels from 0 to 1"):
        ItemGroups(np.array([0, 2], np.int16), 2)


def test_a_model_that_scores_nothing_leaves_empty_lists():
    split, _ = WORLDS[0]
    positions = kept(split, np.full((25, 40), NONE, np.float32))
    assert not positions.listed.any()
    assert (positions.lists("TI", 10) == -1).all()
    assert (positions.table(TargetRule.parse("TI-AN-AR")).rank == 0).all()


def test_lists_agree_with_popularity_by_hand():
    split, _ = WORLDS[1]
    model = Popularity().fit(split.train)
    lists = rank_once(model, split, seed=1)[0].lists("AI", 5)
    counts = split.train.item_counts()
    for user, items in enumerate(lists.tolist()):
        train = set(split.train.item[split.train.user == user].tolist())
        best = sorted((counts[i] for i in range(40) if i not in train), reverse=True)[:5]
        assert [counts[i] for i in items] == best
