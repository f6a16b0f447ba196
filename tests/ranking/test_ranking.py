"""Ranks against sorted lists, item by item, and what may not change them.

Samples are not predicted: which items a target set holds is read off `n_scored` of systems that
score a single item. Nor is the order of ties, which a system without preferences shows. From both,
sorting predicts every rank of every other system.
"""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explicit_lists import (
    FixedScores,
    found_ranks,
    make_split,
    naive_ranks,
    naive_sets,
    random_split,
)
from recbias.errors import ConfigError, ContractError, ScoreError
from recbias.protocol.targets import TargetRule, Targets
from recbias.ranking import block_size, passes, rank, score_blocks, top_items
from recbias.recommenders import Popularity
from recbias.testing import naive_list

NONE = np.nan
SCORES = [-3e38, -1.5, -1e-45, -0.0, 0.0, 1e-45, 0.25, 1.5, 3e38, math.nan]


def targets(text, min_rating=None):
    return Targets(TargetRule.parse(text), min_rating)


def ranked(scores, split, text, min_rating=None, seed=1):
    return rank(FixedScores(scores), split, [targets(text, min_rating)], seed=seed)[0]


def tie_order(split, seed):
    """The list of a system without preferences, for each user; training items follow."""
    n_users, n_items = split.test.n_users, split.test.n_items
    flat = FixedScores(np.zeros((n_users, n_items)))
    lists = top_items(flat, split, cutoff=n_items, candidates="AI", seed=seed).tolist()
    return [[*items, *sorted(set(range(n_items)) - set(items))] for items in lists]


def drawn_sets(split, asked, seed):
    """For each of some sampling rules the sampled items of each target set.

    Those are in a set whose score is counted when they alone have one.
    """
    n_users, n_items = split.test.n_users, split.test.n_items
    held = [[] for _ in asked]
    for item in range(n_items):
        scores = np.full((n_users, n_items), NONE)
        scores[:, item] = 1
        for held_by_item, table in zip(
            held, rank(FixedScores(scores), split, asked, seed=seed), strict=True
        ):
            held_by_item.append(table.n_scored)
    drawn = []
    for (rule, min_rating), held_by_item in zip(asked, held, strict=True):
        members = [set(np.flatnonzero(row).tolist()) for row in np.array(held_by_item).T]
        owners = range(n_users)
        if rule.per_run:
            owners = split.test.user[split.test.value >= min_rating].tolist()
        pools = [naive_sets(split, rule.candidates, user, min_rating)[2] for user in owners]
        drawn.append([found & pool for found, pool in zip(members, pools, strict=True)])
    return drawn


def largest_pool(split, candidates, min_rating):
    users = range(split.test.n_users)
    return max(len(naive_sets(split, candidates, user, min_rating)[2]) for user in users)


# ---- against sorting


@st.composite
def cases(draw):
    """A split, scores of two systems with many ties, a threshold and a seed."""
    n_users, n_items = draw(st.integers(1, 3)), draw(st.integers(1, 7))

    def array(elements):
        size = n_users * n_items
        values = draw(st.lists(elements, min_size=size, max_size=size))
        return np.array(values).reshape(n_users, n_items)

    fate = array(st.sampled_from(["nothing", "train", "test", "test"]))
    stars = array(st.integers(1, 5)).astype(float)
    split = make_split(
        np.where(fate == "train", stars, NONE),
        np.where(fate == "test", stars, NONE),
        also_candidates=draw(st.sets(st.integers(0, n_items - 1), max_size=2)),
    )
    systems = [array(st.sampled_from(SCORES)), array(st.sampled_from([0.0, -0.0, 1.0, math.nan]))]
    return split, systems, draw(st.integers(1, 5)), draw(st.integers(0, 2**31))


@pytest.mark.slow
@settings(max_examples=400)
@given(cases(), st.data())
def test_sorting_gives_the_same_ranks(case, data):
    split, systems, min_rating, seed = case
    expected_from, sampling = {}, []
    for candidates in ("AI", "TI"):
        expected_from[targets(f"{candidates}-AN-AR")] = None
        expected_from[targets(f"{candidates}-AN-1R", min_rating)] = None
        largest = largest_pool(split, candidates, min_rating)
        if largest:
            size = data.draw(st.integers(1, largest))
            for text in (f"NN-AR N={size}", f"NN-1R t={size + 1}", f"NN-1R-shared t={size + 1}"):
                sampling.append(targets(f"{candidates}-{text}", min_rating))
                sampling.append(targets(f"{candidates}-{text} drawn=popularity", min_rating))
    expected_from.update(zip(sampling, drawn_sets(split, sampling, seed), strict=True))
    ties = tie_order(split, seed)
    for scores in systems:
        tables = rank(FixedScores(scores), split, list(expected_from), seed=seed)
        for (target, drawn), table in zip(expected_from.items(), tables, strict=True):
            rule = target.rule
            expected = naive_ranks(
                scores.astype(np.float32),
                ties,
                split,
                rule.candidates,
                per_run=rule.per_run,
                min_rating=min_rating,
                drawn=drawn,
            )
            assert found_ranks(table) == expected, rule
            assert table.per == ("run" if rule.per_run else "user")


@given(cases())
def test_sorting_gives_the_same_lists(case):
    split, systems, min_rating, seed = case
    ties = tie_order(split, seed)
    for scores in systems:
        for candidates in {"AI", "TI"} if len(split.test_items) else {"AI"}:
            cutoff = split.test.n_items if candidates == "AI" else len(split.test_items)
            lists = top_items(
                FixedScores(scores), split, cutoff=cutoff, candidates=candidates, seed=seed
            )
            for user, found in enumerate(lists.tolist()):
                train, _, _ = naive_sets(split, candidates, user, min_rating)
                items = range(split.test.n_items) if candidates == "AI" else split.test_items
                open_scores = {int(i): float(scores[user][i]) for i in items if int(i) not in train}
                expected = naive_list(open_scores, ties[user])
                assert found == expected + [-1] * (cutoff - len(expected))


def test_a_sample_as_large_as_every_pool_ranks_all():
    rng = np.random.default_rng(8)
    split = random_split(rng, n_users=30, n_items=20)
    scores = rng.choice([0.0, 0.5, 1.0, NONE], (30, 20))
    largest = largest_pool(split, "TI", 4)
    whole = found_ranks(ranked(scores, split, "TI-AN-1R", 4))
    assert found_ranks(ranked(scores, split, f"TI-NN-1R t={largest + 1}", 4)) == whole
    assert found_ranks(ranked(scores, split, f"TI-NN-1R-shared t={largest + 1}", 4)) == whole
    all_items = ranked(scores, split, "TI-AN-AR")
    sample = ranked(scores, split, f"TI-NN-AR N={largest}", 4)
    assert found_ranks(sample) == found_ranks(all_items)


def test_two_tied_items_have_one_order_everywhere():
    # The one condition under which the lemma of BCC17 Sec. 3.4 and paired comparisons hold, here
    # without any reference order: the first of the two in one table is the first in all.
    rng = np.random.default_rng(9)
    split = random_split(rng, n_users=40, n_items=25)
    pairs = {
        (user, *couple)
        for user in range(40)
        for rated in [split.test.item[split.test.user == user].tolist()]
        for couple in itertools.pairwise(rated)
    }
    rules = [targets("AI-AN-AR"), targets("TI-AN-AR"), targets("TI-NN-AR N=6", 1)]
    rules += [targets("TI-AN-1R", 1), targets("TI-NN-1R-shared t=7", 1)]
    first = {}
    for scores in (np.zeros((40, 25)), np.tile(rng.integers(2, size=25), (40, 1))):
        lists = top_items(FixedScores(scores), split, cutoff=25, candidates="AI", seed=4).tolist()
        for table in rank(FixedScores(scores), split, rules, seed=4):
            rows = zip(table.user.tolist(), table.item.tolist(), strict=True)
            place = dict(zip(rows, range(len(table.rank)), strict=True))
            for user, left, right in pairs:
                if scores[user, left] != scores[user, right]:
                    continue
                earlier = lists[user].index(left) < lists[user].index(right)
                assert first.setdefault((user, left, right), earlier) == earlier
                one, other = place[user, left], place[user, right]
                for ranks in (table.rank, table.condensed_rank):
                    difference = int(ranks[other]) - int(ranks[one])
                    if table.per == "user":
                        assert (difference > 0) == earlier
                    else:  # Nothing but each other is between them: equal, unless sampled items are
                        assert difference == 0 or (difference > 0) == earlier
    assert len(first) == len(pairs)


def test_every_nan_is_not_computable_whatever_its_bits():
    nans = np.array([0x7FC00000, 0xFFC00000, 0x7F800001, 0xFFFFFFFF], np.uint32).view(np.float32)
    split = make_split(train=np.full((1, 6), NONE), test=[[5, 5, 5, 5, 5, 5]])
    table = ranked([[*nans, 1, 2]], split, "TI-AN-AR")
    assert table.rank.tolist() == [0, 0, 0, 0, 2, 1]
    assert table.condensed_rank.tolist() == [0, 0, 0, 0, 2, 1]
    assert (table.n_targets.tolist(), table.n_scored.tolist()) == ([6], [2])


def test_neighbouring_floats_are_told_apart():
    one = np.float32(1)
    scores = np.array([[one, np.nextafter(one, np.float32(2)), -one, np.nextafter(-one, one)]])
    split = make_split(train=np.full((1, 4), NONE), test=[[5, 5, 5, 5]])
    for seed in range(20):
        assert ranked(scores, split, "TI-AN-AR", seed=seed).rank.tolist() == [2, 1, 4, 3]


def test_users_and_items_without_any_rating_are_no_trouble():
    train = np.full((3, 4), NONE)
    test = train.copy()
    train[1], test[2, 1] = 3, 5
    split = make_split(train, test)
    table = ranked(np.zeros((3, 4)), split, "AI-AN-AR")
    assert (table.user.tolist(), table.item.tolist()) == ([2], [1])
    assert table.n_targets.tolist() == [4, 0, 4]
    assert ranked(np.zeros((3, 4)), split, "TI-NN-AR N=1", 5).n_targets.tolist() == [1, 0, 1]


# ---- refusals


@pytest.mark.parametrize("infinite", [math.inf, -math.inf])
@pytest.mark.parametrize("place", [(0, 3), (2, 0), (1, 1)])
def test_an_infinite_score_is_refused_with_its_user_and_item(infinite, place):
    split = random_split(np.random.default_rng(1), n_users=3, n_items=4)
    scores = np.zeros((3, 4))
    scores[place] = infinite
    message = f"FixedScores: infinite score for user {place[0]}, item {place[1]};"
    with pytest.raises(ScoreError, match=message):
        ranked(scores, split, "TI-AN-AR")
    with pytest.raises(ScoreError, match=message):
        top_items(FixedScores(scores), split, cutoff=1, candidates="AI", seed=1)


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (np.zeros((3, 4)), r"returned float64 \(3, 4\), expected float32 \(3, 4\)"),
        (np.zeros((3, 5), np.float32), r"returned float32 \(3, 5\), expected float32 \(3, 4\)"),
        (np.zeros((2, 4), np.float32), r"returned float32 \(2, 4\), expected float32 \(3, 4\)"),
        (np.zeros(12, np.float32), r"returned float32 \(12,\), expected float32 \(3, 4\)"),
        ([[0.0] * 4] * 3, r"returned list , expected float32 \(3, 4\)"),
    ],
)
def test_scores_of_another_form_are_refused(scores, message):
    split = random_split(np.random.default_rng(1), n_users=3, n_items=4)

    class Wrong(FixedScores):
        def score(self, users):
            return scores

    with pytest.raises(ContractError, match=f"Wrong.score {message}"):
        rank(Wrong([]), split, [targets("TI-AN-AR")], seed=1)
    with pytest.raises(ContractError, match=message):
        top_items(Wrong(scores), split, cutoff=1, candidates="AI", seed=1)


@pytest.mark.parametrize("text", ["TI-AN-1R", "AI-NN-AR N=2", "TI-NN-1R t=2"])
def test_a_rule_that_depends_on_relevance_needs_a_threshold(text):
    split = random_split(np.random.default_rng(1), n_users=3, n_items=4)
    with pytest.raises(ConfigError, match="depend on relevance; give min_rating"):
        ranked(np.zeros((3, 4)), split, text)


def test_a_sample_larger_than_every_pool_is_refused_with_the_largest_pool():
    # User 0: items 1 to 4 are open, 2 are relevant. User 1: all five are open, 4 are relevant.
    split = make_split(
        train=[[3, NONE, NONE, NONE, NONE], [NONE] * 5],
        test=[[NONE, 5, 5, 1, NONE], [5, 5, 5, 5, NONE]],
    )
    scores = np.zeros((2, 5))
    assert ranked(scores, split, "AI-NN-1R t=3", 5).n_targets.tolist() == [3, 3, 2, 2, 2, 2]
    for text in ("AI-NN-1R t=4", "AI-NN-AR N=3"):
        with pytest.raises(ConfigError, match="no user has more than 2 to sample from"):
            ranked(scores, split, text, 5)


@pytest.mark.parametrize("cutoff", [0, -1, 5])
def test_lists_of_impossible_length_are_refused(cutoff):
    split = random_split(np.random.default_rng(1), n_users=3, n_items=4)
    with pytest.raises(ConfigError, match=f"cutoff {cutoff}: expected 1 to 4, the candidate items"):
        top_items(FixedScores(np.zeros((3, 4))), split, cutoff=cutoff, candidates="AI", seed=1)


# ---- what may not change a rank


@pytest.fixture(scope="module")
def world():
    rng = np.random.default_rng(11)
    split = random_split(rng, n_users=150, n_items=60)
    return split, np.round(rng.normal(size=(150, 60)), 1)


EVERY_KIND = [
    targets("AI-AN-AR"),
    targets("TI-AN-AR"),
    targets("AI-AN-1R", 4),
    targets("TI-NN-AR N=20", 4),
    targets("AI-NN-1R t=20", 4),
    targets("TI-NN-1R t=20", 5),
    targets("TI-NN-1R-shared t=20", 5),
    targets("AI-NN-1R t=20 drawn=popularity", 4),
    targets("TI-NN-AR N=20 drawn=popularity", 4),
]


def all_ranks(world, asked=EVERY_KIND, seed=3):
    split, scores = world
    tables = rank(FixedScores(scores), split, asked, seed=seed)
    return dict(zip(asked, map(found_ranks, tables), strict=True))


def test_ranks_do_not_depend_on_what_else_is_asked(world):
    together = all_ranks(world)
    assert all_ranks(world, EVERY_KIND[::-1]) == together
    for target in EVERY_KIND:
        assert all_ranks(world, [target]) == {target: together[target]}


@pytest.mark.parametrize("block_bytes", [1, 60 * 4 * 7, 60 * 4 * 149])
def test_ranks_do_not_depend_on_blocks(world, block_bytes, monkeypatch):
    split, scores = world
    together = all_ranks(world)
    lists = top_items(FixedScores(scores), split, cutoff=9, candidates="TI", seed=3)
    monkeypatch.setattr(passes, "BLOCK_BYTES", block_bytes)
    monkeypatch.setattr(passes, "SMALLEST_BLOCK", 1)
    monkeypatch.setattr("recbias._system.memory.BLOCK_BYTES", block_bytes)
    assert block_size(60) == max(1, block_bytes // 240)
    assert all_ranks(world) == together
    again = top_items(FixedScores(scores), split, cutoff=9, candidates="TI", seed=3)
    assert (again == lists).all()


def test_ranks_do_not_depend_on_how_scores_lie_in_memory(world):
    split, scores = world

    class Columns(FixedScores):
        def score(self, users):
            return np.asfortranarray(self.scores[users])

    found = rank(Columns(scores), split, EVERY_KIND, seed=3)
    assert [found_ranks(table) for table in found] == list(all_ranks(world).values())


def test_a_monotone_transformation_of_the_scores_changes_nothing(world):
    split, scores = world
    assert all_ranks((split, np.exp(scores) - 3)) == all_ranks(world)


def test_seeds_are_obeyed_and_differ(world):
    assert all_ranks(world) == all_ranks(world)
    other = all_ranks(world, seed=4)
    assert all(other[target] != found for target, found in all_ranks(world).items())


def test_without_ties_and_samples_the_seed_changes_nothing(world):
    split, _ = world
    scores = np.random.default_rng(1).permuted(np.tile(np.arange(60), (150, 1)), axis=1)
    counted = EVERY_KIND[:3]
    assert all_ranks((split, scores), counted, 3) == all_ranks((split, scores), counted, 4)


def test_the_global_random_state_is_left_alone(world):
    before = repr(np.random.get_state(legacy=False))  # noqa: NPY002 - to see that it stays
    all_ranks(world)
    assert repr(np.random.get_state(legacy=False)) == before  # noqa: NPY002


# ---- blocks


@pytest.mark.parametrize(
    ("n_items", "users"),
    [(0, 262144), (1, 262144), (3706, 70), (4096, 64), (100_000, 64), (2**20, 64), (10**8, 1)],
)
def test_a_block_has_a_size_that_depends_on_the_catalogue_alone(n_items, users):
    assert block_size(n_items) == users
    assert users == 1 or users * 4 * n_items <= 2**28


@pytest.mark.parametrize(
    ("coverage", "refused"),
    [
        ("all", "user 0, item 0"),
        ("known items", "user 1, item 1"),
        ("known pairs", "user 1, item 1"),
    ],
)
def test_a_missing_score_that_was_promised_is_refused(coverage, refused):
    stars = [[np.nan, np.nan, np.nan], [np.nan, 5, 4], [np.nan, 3, 5]]
    train = make_split(np.full((3, 3), np.nan), stars).test
    recommender = FixedScores(np.full((3, 3), np.nan))
    recommender.coverage = coverage
    if coverage == "known items":
        recommender.scores[0] = 1
    with pytest.raises(ScoreError, match=f"no score for {refused}, which its coverage promises"):
        list(score_blocks(recommender, train))


def test_blocks_cover_every_user_once(monkeypatch):
    monkeypatch.setattr(passes, "BLOCK_BYTES", 4 * 5 * 4)
    monkeypatch.setattr(passes, "SMALLEST_BLOCK", 1)
    scores = np.arange(50, dtype=np.float32).reshape(10, 5)
    train = make_split(np.full((10, 5), np.nan), np.full((10, 5), 5.0)).test
    blocks = list(score_blocks(FixedScores(scores), train))
    assert [(first, len(block)) for first, block in blocks] == [(0, 4), (4, 4), (8, 2)]
    assert (np.concatenate([block for _, block in blocks]) == scores).all()


def test_a_promise_holds_for_the_ratings_that_an_encoding_keeps():
    class Liked(Popularity):
        encoding = "binary-pos>=4"

    train = make_split(np.full((2, 3), np.nan), [[5, 1, np.nan], [4, np.nan, 2]]).test
    ((_, scores),) = score_blocks(Liked().fit(train), train)
    np.testing.assert_array_equal(scores, [[2, np.nan, np.nan]] * 2)
