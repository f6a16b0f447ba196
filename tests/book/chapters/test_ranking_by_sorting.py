import numpy as np
import pandas as pd
import pytest

from recbias._system.streams import stream
from recbias.book.chapters.design_alternatives.ranking_by_sorting import (
    _user_secret,
    drawn_places,
    rank_by_sorting,
    sorted_items,
    tie_keys,
)
from recbias.data.ratings import Ratings
from recbias.protocol.splits import from_fold_labels
from recbias.protocol.targets import TargetRule, Targets
from recbias.ranking import rank, top_items


def test_equal_scores_are_ordered_by_tie_keys_that_never_coincide():
    keys = tie_keys(2**64 - 1, 5, 3000)
    assert len(set(keys.tolist())) == 3000
    assert keys.min() >= 0
    assert keys.max() < 2**32
    order = sorted_items(np.arange(3000), np.zeros(3000, dtype=np.float32), keys)
    assert (np.diff(keys[order]) < 0).all()


def test_tie_keys_are_those_of_plain_integers_beyond_32_bits():
    n_items, half = 2**18, 2**32 - 1
    seed = next(
        seed for seed in range(10**6) if (_user_secret(seed, 3) & half) > 2**32 - n_items // 2
    )
    secret = _user_secret(seed, 3)
    keys = []
    for item in range(n_items):
        key = (item + secret) & half
        key = ((key ^ key >> 16) * 0x85EBCA6B) & half
        key ^= secret >> 32
        key = ((key ^ key >> 13) * 0xC2B2AE35) & half
        keys.append(key ^ key >> 16)
    assert tie_keys(seed, 3, n_items).tolist() == keys


def test_a_list_that_ends_early_says_so():
    pairs = pd.DataFrame([(u, i, 5) for u in range(2) for i in range(3)])
    ratings = Ratings.from_frame(pairs.set_axis(["user_id", "item_id", "rating"], axis=1))
    split = from_fold_labels(ratings, np.array([0, 0, 1, 0, 1, 1]))[0]
    model = _Given(np.array([[2.0, 1.0, 0.0], [2.0, np.nan, np.nan]], dtype=np.float32))
    (found,) = rank_by_sorting(
        {"given": model}, split, users=np.arange(2), min_rating=4, size=2, n_sampled=2, cutoff=4,
        seed=1,
    ).values()  # fmt: skip
    assert found.lists.tolist() == [[0, 1, -1, -1], [0, -1, -1, -1]]


class _Given:
    """Returns scores that were made up; NaN where there is none."""

    def __init__(self, scores):
        self.scores = scores

    def score(self, users):
        return self.scores[users]


def test_both_ways_agree_on_ties_zeros_and_missing_scores():
    """Also where the pool is smaller than the sample, and a user has no test or training rating."""
    rng = np.random.default_rng(2)
    n_users, n_items, seed = 40, 30, 5
    user, item = np.nonzero(rng.random((n_users, n_items)) < 0.4)
    values = rng.integers(1, 6, len(user))
    pairs = pd.DataFrame({"user_id": user, "item_id": item, "rating": values})
    split = from_fold_labels(
        Ratings.from_frame(pairs), (user % 7 == 3) + rng.integers(2, size=len(user))
    )[1]
    scores = rng.choice([-1.5, -0.0, 0.0, 2.0, np.nan], (n_users, split.test.n_items))
    model = _Given(scores.astype(np.float32))
    (found,) = rank_by_sorting(
        {"given": model}, split, users=np.arange(split.test.n_users), min_rating=4, size=6,
        n_sampled=9, cutoff=4, seed=seed,
    ).values()  # fmt: skip
    rules = {"AI": "AI-AN-AR", "AR": "TI-AN-AR", "NN": "TI-NN-AR N=9"}
    rules |= {"1R": "TI-NN-1R t=6", "shared": "TI-NN-1R-shared t=6"}
    targets = [Targets(TargetRule.parse(rule), 4.0) for rule in rules.values()]
    own_seed = int(stream(seed, "rank", split.fold).integers(2**63))
    for label, table in zip(rules, rank(model, split, targets, seed=own_seed), strict=True):
        rows = found.positive if table.per == "run" else slice(None)
        assert found.ranks[label][rows].tolist() == table.rank.tolist()
        assert (table.rank == 0).any()
        assert (table.rank > 0).any()
    own_lists = top_items(model, split, cutoff=4, candidates="TI", seed=own_seed)
    assert found.lists.tolist() == own_lists.tolist()


@pytest.mark.parametrize("wanted", [3, 60, 200])
def test_draws_are_allowed_different_and_uniform(wanted):
    allowed = np.ones(150, dtype=bool)
    allowed[::5] = False
    counts = np.zeros(150)
    for seed in range(2000):
        state = int(stream(seed, "state").integers(2**64, dtype=np.uint64))
        drawn = drawn_places(state, wanted, allowed)
        assert len(set(drawn.tolist())) == len(drawn) == min(wanted, 120)
        counts[drawn] += 1
    assert not counts[~allowed].any()
    share = min(wanted, 120) / 120
    deviation = (counts[allowed] - 2000 * share) / np.sqrt(2000 * max(share * (1 - share), 1e-9))
    assert np.abs(deviation).max() < 4.5
