"""Statistical laws of samples, ties and random rankings.

Every law may be off by at most five standard errors, or has a p-value above that of five: with
about 110 laws, correct code would fail for 6 in 100,000 choices of the seeds.
They are fixed, so that a run that passes once passes always.
"""

import itertools

import numpy as np
import pytest
from scipy import stats

from explicit_lists import FixedScores, make_split
from recbias.metrics import measure, parse_metric
from recbias.protocol.targets import TargetRule, Targets
from recbias.ranking import rank, top_items
from recbias.recommenders import System

P_OF_FIVE = 2 * stats.norm.sf(5)
NONE = np.nan


def targets(text, min_rating=5):
    rule = TargetRule.parse(text)
    return Targets(rule, min_rating if rule.needs_relevance else None)


def stars(n_users, n_items, choices):
    """Dense ratings: `choices` are pairs (items of each user, their value)."""
    values = np.full((n_users, n_items), NONE)
    for items, value in choices:
        values[np.arange(n_users)[:, None], items] = value
    return values


def users_apart(rng, n_users, n_items, *, n_train, n_liked, n_disliked):
    """Users with as many ratings each, of random items."""
    order = rng.permuted(np.tile(np.arange(n_items), (n_users, 1)), axis=1)
    train, liked, disliked, _ = np.split(order, np.cumsum([n_train, n_liked, n_disliked]), axis=1)
    return make_split(
        stars(n_users, n_items, [(train, 3)]),
        stars(n_users, n_items, [(liked, 5), (disliked, 2)]),
    )


def users_alike(n_users, n_items, *, n_train=0, n_liked=1, n_disliked=0):
    """Users who all trained on the first items, like the next ones, dislike those after them."""
    items = np.tile(np.arange(n_items), (n_users, 1))
    train, liked, disliked, _ = np.split(items, np.cumsum([n_train, n_liked, n_disliked]), axis=1)
    return make_split(
        stars(n_users, n_items, [(train, 3)]),
        stars(n_users, n_items, [(liked, 5), (disliked, 2)]),
    )


def check_mean(values, mean, variance):
    """Independent values have these means and variances."""
    z = np.sum(values - mean) / np.sqrt(np.sum(np.broadcast_to(variance, np.shape(values))))
    assert abs(z) < 5


def check_hypergeometric(values, pool, marked, size):
    """Independent values count the marked items among `size` that are drawn from a pool."""
    counts = np.arange(np.max(size) + 1)
    pool, marked = (np.broadcast_to(number, values.shape)[:, None] for number in (pool, marked))
    chances = stats.hypergeom.pmf(counts, pool, marked, size)
    mean = chances @ counts
    second, fourth = (
        np.sum(chances * (counts - mean[:, None]) ** power, axis=1) for power in (2, 4)
    )
    check_mean(values, mean, second)
    check_mean((values - mean) ** 2, second, fourth - second**2)


def membership(split, target, seed):
    """Whether each target set (rows) holds each item: seen by systems that score nothing else."""
    columns = []
    for item in range(split.test.n_items):
        scores = np.full((split.test.n_users, split.test.n_items), NONE)
        scores[:, item] = 0
        columns.append(rank(FixedScores(scores), split, [target], seed=seed)[0].n_scored)
    return np.array(columns, dtype=bool).T


# ---- samples


SIZES = {
    "rejection": (60, 10, 20),
    "large pool": (2000, 20, 99),
    "sample above half of the pool": (60, 10, 30),
    "pool below a quarter of the candidates": (200, 160, 10),
}


@pytest.mark.parametrize("candidates", ["AI", "TI"])
@pytest.mark.parametrize("case", SIZES)
def test_a_sampled_rank_is_hypergeometric(case, candidates):
    n_items, n_train, n_sampled = SIZES[case]
    n_users = 4000 if n_items < 1000 else 800
    rng = np.random.default_rng(21)
    split = users_apart(rng, n_users, n_items, n_train=n_train, n_liked=1, n_disliked=8)
    scores = rng.random((n_users, n_items), dtype=np.float32)
    asked = [targets(f"{candidates}-AN-1R"), targets(f"{candidates}-NN-1R t={n_sampled + 1}")]
    every, some = rank(FixedScores(scores), split, asked, seed=22)
    assert (some.n_targets == n_sampled + 1).all()
    assert (some.n_targets == some.n_scored).all()
    pool = every.n_targets - 1
    check_hypergeometric(some.rank - 1, pool, every.rank - 1, n_sampled)
    check_hypergeometric(some.condensed_rank - 1, pool, every.condensed_rank - 1, n_sampled)


@pytest.mark.parametrize("text", ["AI-NN-1R t=", "AI-NN-1R-shared t=", "AI-NN-AR N="])
@pytest.mark.parametrize(
    ("n_items", "n_train", "n_sampled"), [(40, 6, 12), (40, 6, 24), (60, 50, 4)]
)
def test_every_set_of_items_is_as_likely_to_be_drawn(text, n_items, n_train, n_sampled):
    n_users = 2500
    split = users_alike(n_users, n_items, n_train=n_train, n_disliked=3)
    size = n_sampled + ("1R" in text)
    pool = np.delete(np.arange(n_items), np.arange(n_train + 1))
    inside = membership(split, targets(f"{text}{size}"), seed=23)
    assert inside[:, n_train].all()  # the relevant item
    assert not inside[:, :n_train].any()
    drawn = inside[:, pool].astype(np.int64)
    assert (drawn.sum(axis=1) == n_sampled).all()
    single = n_sampled / len(pool)
    deviation = np.sum((drawn.sum(axis=0) - n_users * single) ** 2)
    # Indicators of one sample are correlated by -1/(pool - 1).
    statistic = deviation / (n_users * single * (1 - single)) * (len(pool) - 1) / len(pool)
    assert stats.chi2.sf(statistic, len(pool) - 1) > P_OF_FIVE
    both = (drawn.T @ drawn)[np.triu_indices(len(pool), 1)]
    double = single * (n_sampled - 1) / (len(pool) - 1)
    tails = np.minimum(
        stats.binom.cdf(both, n_users, double), stats.binom.sf(both - 1, n_users, double)
    )
    assert 2 * tails.min() * len(both) > P_OF_FIVE
    # Users draw on their own.
    common = np.sum(drawn[::2] & drawn[1::2], axis=1)
    check_hypergeometric(common, len(pool), n_sampled, n_sampled)


def test_runs_of_a_user_draw_on_their_own_unless_they_share():
    split = users_alike(3000, 40, n_train=5, n_liked=2, n_disliked=3)
    pool = slice(7, 40)
    own = membership(split, targets("AI-NN-1R t=13"), seed=24)
    common = np.sum(own[::2, pool] & own[1::2, pool], axis=1)
    check_hypergeometric(common, 33, 12, 12)
    shared = membership(split, targets("AI-NN-1R-shared t=13"), seed=24)
    assert (shared[::2, pool] == shared[1::2, pool]).all()
    assert shared[:, pool].sum() == 12 * 6000
    other_seed = membership(split, targets("AI-NN-1R-shared t=13"), seed=25)
    check_hypergeometric(np.sum(shared & other_seed, axis=1)[::2] - 1, 33, 12, 12)


@pytest.mark.parametrize("text", ["AI-NN-1R t=10", "TI-NN-1R-shared t=10", "TI-NN-AR N=9"])
def test_every_system_meets_the_same_samples(text):
    # Read off once by what is scored at all, and once by which item, lifted to the top by systems
    # that otherwise score at random, pushes the relevant item to rank 2.
    rng = np.random.default_rng(26)
    split = users_apart(rng, 60, 30, n_train=6, n_liked=1, n_disliked=4)
    positive = split.test.value == 5
    liked = split.test.user[positive], split.test.item[positive]
    by_scored = membership(split, targets(text), seed=27)
    by_rank = np.zeros_like(by_scored)
    for item in range(30):
        scores = rng.random((60, 30), dtype=np.float32)
        scores[liked] = 2
        scores[:, item] = 3
        (table,) = rank(FixedScores(scores), split, [targets(text)], seed=27)
        by_rank[:, item] = table.rank[table.value == 5] == 2
    by_rank[liked] = True
    assert (by_rank == by_scored).all()
    assert (by_rank.sum(axis=1) == 10).all()


# ---- samples by popularity

POOL = {
    "drawn again if taken": ((9, 5, 3, 2, 1, 1), 0, 3),
    "mostly taken by training": ((9, 5, 3, 2, 1, 1), 1, 3),
    "some never rated": ((4, 2, 1, 0, 0, 0), 0, 4),
    "none rated": ((0, 0, 0, 0, 0, 0), 0, 2),
}


def popular_split(weights, n_train, n_users):
    """Users who like item 0, then others whose training ratings make the weights of the next.

    Users have rated the last item in training, if any, which makes it by far the most popular one.
    """
    n_others, n_items = max(weights), 1 + len(weights) + n_train
    train = np.full((n_users + n_others, n_items), NONE)
    for item, weight in enumerate(weights, start=1):
        train[n_users : n_users + weight, item] = 3
    train[:n_users, n_items - n_train :] = 3
    test = np.full_like(train, NONE)
    test[:n_users, 0] = 5
    return make_split(train, test)


def set_chances(weights, size):
    """Chance of each set that is drawn one by one: the sum over the orders in which it may be."""
    chances = dict.fromkeys(itertools.combinations(range(len(weights)), size), 0.0)
    for order in itertools.permutations(range(len(weights)), size):
        left, chance = list(range(len(weights))), 1.0
        for item in order:
            total = sum(weights[other] for other in left)
            chance *= weights[item] / total if total else 1 / len(left)
            left.remove(item)
        chances[tuple(sorted(order))] += chance
    return chances


def law_of_sets(inside, chances):
    """P-value of the sets (rows) under chances; 0 if one is there that cannot be."""
    seen = dict.fromkeys(chances, 0)
    for row in inside:
        seen[tuple(np.flatnonzero(row).tolist())] += 1
    counts, expected = np.array([*seen.values()]), np.array([*chances.values()]) * len(inside)
    if counts[expected == 0].any():
        return 0.0
    likely = expected >= 5  # the rest is one cell
    cells = [np.append(part[likely], part[~likely].sum()) for part in (counts, expected)]
    kept = cells[1] > 0
    return stats.chisquare(cells[0][kept], cells[1][kept]).pvalue


@pytest.mark.parametrize("text", ["AI-NN-1R t=", "AI-NN-1R-shared t=", "AI-NN-AR N="])
@pytest.mark.parametrize("case", POOL)
def test_a_popular_item_is_drawn_in_proportion_to_its_ratings(text, case):
    weights, n_train, n_sampled = POOL[case]
    n_users = 4000
    split = popular_split(weights, n_train, n_users)
    counts = split.train.item_counts().tolist()
    assert counts == [0, *weights, *[n_users] * n_train]
    size = n_sampled + ("1R" in text)
    inside, uniform = (
        membership(split, targets(f"{text}{size}{drawn}"), seed=28)[:n_users]
        for drawn in (" drawn=popularity", "")
    )
    assert inside[:, 0].all()  # the relevant item
    assert not inside[:, len(weights) + 1 :].any()  # that of training
    chances = set_chances(weights, n_sampled)
    pool = slice(1, len(weights) + 1)
    assert law_of_sets(inside[:, pool], chances) > P_OF_FIVE
    # The twin: sets that are all alike likely fail, but where all weights are equal.
    assert (law_of_sets(uniform[:, pool], chances) > P_OF_FIVE) == (case == "none rated")


def test_a_pool_that_is_too_small_is_taken_whole_however_it_is_drawn():
    split = popular_split((4, 2, 0, 1), 0, 50)
    for text in ("AI-NN-1R t=5", "AI-NN-AR N=4"):
        asked = [targets(f"{text}{drawn}") for drawn in ("", " drawn=popularity")]
        scores = np.random.default_rng(29).random((54, 5), dtype=np.float32)
        uniform, popular = rank(FixedScores(scores), split, asked, seed=30)
        assert (uniform.rank == popular.rank).all()
        assert (popular.n_targets[:50] == 5).all()


# ---- ties


def test_a_system_without_preferences_shows_every_order_alike():
    n_users, n_items = 4000, 12
    split = users_alike(n_users, n_items)
    flat = FixedScores(np.ones((n_users, n_items)))
    lists = top_items(flat, split, cutoff=n_items, candidates="AI", seed=31)
    place = np.argsort(lists, axis=1)
    counts = np.array([np.bincount(place[:, item], minlength=n_items) for item in range(n_items)])
    # Indicators of one permutation are correlated: hence n_items - 1 where cells would say n_items.
    statistic = np.sum((counts - n_users / n_items) ** 2) * (n_items - 1) / n_users
    assert stats.chi2.sf(statistic, (n_items - 1) ** 2) > P_OF_FIVE
    pairs = list(itertools.combinations(range(n_items), 2))
    before = np.array([np.sum(place[:, left] < place[:, right]) for left, right in pairs])
    tails = stats.binom.sf(np.maximum(before, n_users - before) - 1, n_users, 0.5)
    assert 2 * tails.min() * len(pairs) > P_OF_FIVE
    # Orders of neighbouring users, and of one user under two seeds, are unrelated (Spearman).
    other = np.argsort(top_items(flat, split, cutoff=n_items, candidates="AI", seed=32), axis=1)
    for left, right in ((place[::2], place[1::2]), (place, other)):
        centred = np.sum((left - 5.5) * (right - 5.5), axis=1) / (n_items * (n_items**2 - 1) / 12)
        check_mean(centred, 0, 1 / (n_items - 1))


# ---- random rankings (RELIABILITY 2.4): r of t targets are relevant, rho = r / t


@pytest.mark.parametrize("system", ["Random", "constant"])
@pytest.mark.parametrize("candidates", ["AI", "TI"])
def test_a_random_ranking_scores_what_chance_gives(system, candidates):
    rng = np.random.default_rng(41)
    n_users, n_items = 3000, 60
    fate = rng.random((n_users, n_items)) + 0.3 * rng.random((n_users, 1))
    rated = np.where(rng.random(fate.shape) < 0.5, 5.0, 2.0)
    untested = np.arange(n_items) < 15
    split = make_split(
        np.where(fate < 0.3, rated, NONE), np.where((fate > 1) & ~untested, rated, NONE)
    )
    recommender = FixedScores(np.full((n_users, n_items), 7))
    if system == "Random":
        recommender = System("Random", "Random", {}).build()
    recommender.fit(split.train, rng=np.random.default_rng(42))
    (table,) = rank(recommender, split, [targets(f"{candidates}-AN-AR")], seed=43)
    t = table.n_targets.astype(float)
    r = np.bincount(table.user[table.value == 5], minlength=n_users)
    rho = r / t
    assert t.min() >= 20
    assert len(set(t)) > 5
    texts = ["P@1", "P@5", "P@20", "R@5", "nDCG@5"]
    values = measure(table, [parse_metric(text) for text in texts], min_rating=5)
    for cutoff, precision in zip((1, 5, 20), values, strict=False):
        check_mean(precision, rho, rho * (1 - rho) * (t - cutoff) / ((t - 1) * cutoff))
    some = r > 0
    check_mean(values[3, some] * r[some], 5 * rho[some],
               5 * (rho * (1 - rho) * (t - 5) / (t - 1))[some])  # fmt: skip
    discount = np.cumsum(1 / np.log2(np.arange(2, 7)))
    ndcg = rho[some] * discount[-1] / discount[np.minimum(r[some], 5) - 1]
    check_mean(values[4, some], ndcg, np.var(values[4, some] - ndcg))
    # Hits in the condensed list: r of the user's test ratings are relevant, cut after one.
    judged = np.bincount(table.user, minlength=n_users)
    (first,) = measure(table, [parse_metric("P@1")], min_rating=5, condensed=True)
    share = np.divide(r, judged, out=np.zeros(n_users), where=judged > 0)
    check_mean(first, share, share * (1 - share))


@pytest.mark.parametrize("system", ["Random", "constant"])
def test_a_random_ranking_hits_among_sampled_items_as_chance_says(system):
    n_users, n_items = 6000, 50
    split = users_apart(
        np.random.default_rng(44), n_users, n_items, n_train=5, n_liked=1, n_disliked=4
    )
    recommender = FixedScores(np.zeros((n_users, n_items)))
    if system == "Random":
        recommender = System("Random", "Random", {}).build()
    recommender.fit(split.train, rng=np.random.default_rng(45))
    (table,) = rank(recommender, split, [targets("TI-NN-1R t=20")], seed=46)
    values = measure(table, [parse_metric("P@1"), parse_metric("P@10")], min_rating=5)
    for cutoff, precision in zip((1, 10), values, strict=True):
        hit = cutoff / 20
        check_mean(precision * cutoff, hit, hit * (1 - hit))
    counts = np.bincount(table.rank, minlength=21)[1:]
    assert stats.chisquare(counts).pvalue > P_OF_FIVE
