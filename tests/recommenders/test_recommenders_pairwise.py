"""Samplers against the probabilities that are meant, steps against slopes and plain loops.

The random streams are fixed, so no statistical test fails by chance from run to run. Each would
raise a false alarm for one seed in a million.
"""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from recbias.errors import ConfigError, DataError
from recbias.recommenders import BPR, GBPR, WBPR, RankSGD, pairwise
from recbias.recommenders.as_published.gbpr import GBPRBatchStep
from recbias.recommenders.as_published.rank_sgd import RankSGDInOrder
from recbias.recommenders.as_published.wbpr import UnpopularNegativesSampler, WBPRUnpopularNegatives
from recbias.recommenders.pairwise import GroupSampler, TripleSampler
from recommender_tables import dense, random_stars, small_table, table

FALSE_ALARM = 1e-6
EVERY = [BPR, WBPR, GBPR, RankSGD, WBPRUnpopularNegatives, GBPRBatchStep, RankSGDInOrder]
_ = np.nan


def seeded(seed=1):
    return np.random.default_rng(seed)


def gaps():
    """A table with a user who rated all items, one without ratings, and an item without any."""
    return table(
        [
            [5, 4, _, _, _, _],
            [5, 4, 3, 2, 1, _],
            [_, _, _, 3, _, _],
            [4, _, 5, 1, 2, _],
            [_, _, _, _, _, _],
            [3, 1, _, _, 2, _],
        ]
    )


def probabilities(train, draw, negatives):
    """Return the probability of each triple, as the definitions say."""
    rated = dense(train)[1]
    counts = rated.sum(axis=0)
    chance = {}
    for u in range(train.n_users):
        others = [j for j in range(train.n_items) if counts[j] and not rated[u, j]]
        weights = {j: counts[j] if negatives == "popular" else 1 for j in others}
        for i in np.flatnonzero(rated[u]):
            for j in others:
                each = 1 / rated[u].sum() / sum(weights.values()) if draw == "users" else 1
                chance[u, i, j] = weights[j] * each
    total = sum(chance.values())
    return {triple: weight / total for triple, weight in chance.items()}


def deviation(drawn, chance):
    """Return the p-value of a chi-square test of draws against probabilities."""
    places = {outcome: place for place, outcome in enumerate(chance)}
    observed = np.zeros(len(chance))
    for outcome in drawn:
        observed[places[outcome]] += 1  # a KeyError: an impossible outcome
    return stats.chisquare(observed, len(drawn) * np.array(list(chance.values()))).pvalue


WAYS = list(itertools.product(["triples", "users"], ["uniform", "popular"]))


@pytest.mark.parametrize(("draw", "negatives"), WAYS)
def test_triples_come_with_the_probabilities_that_are_meant(draw, negatives):
    train = gaps()
    sampler = TripleSampler(train, draw=draw, negatives=negatives)
    drawn = list(zip(*(part.tolist() for part in sampler.draw(60_000, rng=seeded())), strict=True))
    for way in WAYS:
        meant = way == (draw, negatives)
        assert (deviation(drawn, probabilities(train, *way)) > FALSE_ALARM) == meant


@pytest.mark.parametrize("negatives", ["uniform", "popular"])
def test_the_other_item_of_a_rating_comes_with_its_weight(negatives):
    train = gaps()
    sampler = TripleSampler(train, negatives=negatives)
    np.testing.assert_array_equal(sampler.users, [0, 2, 3, 5])
    np.testing.assert_array_equal(sampler.rows, np.flatnonzero(train.user != 1))
    chance = probabilities(train, "users", negatives)
    for row in (0, len(train) - 1):
        u, i = int(train.user[row]), int(train.item[row])
        of_row = {j: p for (v, k, j), p in chance.items() if (v, k) == (u, i)}
        of_row = {j: p / sum(of_row.values()) for j, p in of_row.items()}
        drawn = sampler.negatives(np.full(20_000, row), rng=seeded()).tolist()
        assert deviation(drawn, of_row) > FALSE_ALARM


def test_every_set_of_others_is_equally_likely_in_a_group():
    stars = np.full((7, 2), 3.0)
    stars[6, 0] = stars[0, 1] = np.nan
    train = table(stars)
    user, item = np.full(30_000, 2, np.int32), np.zeros(30_000, np.int32)
    members, n_members = GroupSampler(train, 3).draw(user, item, rng=seeded())
    assert (n_members == 3).all()
    assert (members[:, 0] == 2).all()
    sets = list(itertools.combinations([0, 1, 3, 4, 5], 2))
    drawn = [tuple(sorted(others)) for others in members[:, 1:].tolist()]
    assert deviation(drawn, dict.fromkeys(sets, 1 / len(sets))) > FALSE_ALARM


@pytest.mark.parametrize("size", [1, 4, 6, 50])
def test_a_group_is_never_larger_than_the_raters_of_its_item(size):
    train = gaps()
    members, n_members = GroupSampler(train, size).draw(train.user, train.item, rng=seeded())
    raters = [set(train.user[train.item == i].tolist()) for i in range(train.n_items)]
    for row, (u, i) in enumerate(zip(train.user, train.item, strict=True)):
        group = members[row, : n_members[row]].tolist()
        assert group[0] == u
        assert len(set(group)) == len(group) == min(size, len(raters[i]))
        assert set(group) <= raters[i]


def uniform_ranks(weights, chosen, rng):
    """Return where each choice falls in its cumulative distribution: uniform if that is right."""
    before = np.concatenate(([0], np.cumsum(weights)[:-1]))
    return (before[chosen] + rng.random() * weights[chosen]) / np.sum(weights)


def test_the_shared_weights_are_divided_as_librec_divides_them():
    """A loop over all items, in logarithms, follows the users that were drawn."""
    stars = random_stars(3, n_users=30, n_items=150, observed=0.2)
    stars[:6, 60:90] = 3  # popular items
    stars[4, :149] = stars[5, 1:149] = 3  # rated all items, and all but one
    train = table(stars)
    rated = dense(train)[1]
    sampler = UnpopularNegativesSampler(train)
    n, rng = 4000, seeded(2)
    parts = [sampler.draw(size, rng=rng) for size in (n - 1100, 1100)]
    user, positive, negative = (np.concatenate(part) for part in zip(*parts, strict=True))
    candidates = [u for u in range(29) if u != 4]
    assert deviation(user.tolist(), dict.fromkeys(candidates, 1 / 28)) > FALSE_ALARM

    known = rated.any(axis=0)
    with np.errstate(divide="ignore"):
        log_weight = np.log(rated.sum(axis=0))
    places, other_places = [], []
    for u, i, j in zip(user, positive, negative, strict=True):
        unrated = known & ~rated[u]
        assert unrated[j]
        log_weight[unrated] -= np.logaddexp.reduce(log_weight[unrated])
        places.append(uniform_ranks(rated[u].astype(float), i, rng))
        other_places.append(uniform_ranks(np.exp(log_weight) * unrated, j, rng))
    assert stats.kstest(places, "uniform").pvalue > FALSE_ALARM
    assert stats.kstest(other_places, "uniform").pvalue > FALSE_ALARM
    expected = log_weight[sampler.items]
    found = np.log(sampler.weight)
    # 4000 divisions by sums that are right to 2**-53, times at most 1e7 where they had shrunk.
    np.testing.assert_allclose(found - found.max(), expected - expected.max(), atol=5e-6)
    assert expected.max() - expected.min() > 5  # they are far from the popularity by now


def test_the_least_popular_items_win():
    rng = seeded(5)
    stars = np.where(rng.random((300, 100)) < np.linspace(0.01, 0.6, 100), 3.0, np.nan)
    train = table(stars)
    counts = train.item_counts()
    sampler = UnpopularNegativesSampler(train)
    sampler.draw(300_000, rng=rng)
    negative = sampler.draw(10_000, rng=rng)[2]
    proper = TripleSampler(train, draw="users", negatives="popular").draw(10_000, rng=rng)[2]
    rare = np.quantile(counts[counts > 0], 0.1)
    assert np.mean(counts[negative] <= rare) > 0.5
    assert np.mean(counts[proper] <= rare) < 0.05


def sigma(x):
    return 1 / (1 + math.exp(-x))


def start(train, rng, n_factors, random_biases=False):
    """Return the parameters before training, on the random stream of the models."""
    p = rng.normal(0, 0.1, (train.n_users, n_factors))
    q = rng.normal(0, 0.1, (train.n_items, n_factors))
    b = rng.random(train.n_items) if random_biases else np.zeros(train.n_items)
    p[train.user_counts() == 0] = q[train.item_counts() == 0] = b[train.item_counts() == 0] = 0
    return p, q, b


def climb(p, q, b, triples, rate, decay, biases=True, groups=None, weight=0.0, batch=False):
    """Take the steps of BPR or GBPR, an array per line of the gradient."""
    old_p, old_q = (p.copy(), q.copy()) if batch else (p, q)
    for place, (u, i, j) in enumerate(zip(*triples, strict=True)):
        group = [u] if groups is None else groups[0][place, : groups[1][place]]
        mixed = weight * old_p[group].mean(axis=0) + (1 - weight) * old_p[u]
        pull = sigma(old_p[u] @ old_q[j] + b[j] - mixed @ old_q[i] - b[i])
        step_p, step_q = np.zeros_like(p), np.zeros_like(q)
        for w in group:
            step_p[w] += pull * weight / len(group) * old_q[i] - decay * old_p[w]
        step_p[u] += pull * ((1 - weight) * old_q[i] - old_q[j])
        step_q[i] += pull * mixed - decay * old_q[i]
        step_q[j] += -pull * old_p[u] - decay * old_q[j]
        if biases:
            b[i] += rate * (pull - decay * b[i])
            b[j] += rate * (-pull - decay * b[j])
        p += rate * step_p
        q += rate * step_q


def assert_scores(model, p, q, b):
    known = np.ix_(model.user_factors.any(axis=1), model.item_factors.any(axis=1))
    scores = model.score(np.arange(len(p)))
    # float32 rounds each score once; the two computations differ by much less.
    np.testing.assert_allclose(scores[known], (p @ q.T + b)[known], rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(
    "kind", ["BPR", "BPR with biases", "BPR by user", "WBPR", "WBPR unpopular"]
)
def test_bpr_is_the_naive_loop(kind, monkeypatch):
    monkeypatch.setattr(pairwise, "CHUNK", 70)
    train = small_table()
    common = {"n_factors": 6, "learning_rate": 0.3, "regularisation": 0.2, "n_epochs": 3}
    model, sampler = {
        "BPR": (BPR(**common), TripleSampler(train)),
        "BPR with biases": (BPR(**common, biases=True), TripleSampler(train)),
        "BPR by user": (BPR(**common, draw="users"), TripleSampler(train, draw="users")),
        "WBPR": (WBPR(**common), TripleSampler(train, draw="users", negatives="popular")),
        "WBPR unpopular": (WBPRUnpopularNegatives(**common), UnpopularNegativesSampler(train)),
    }[kind]
    model.samples_per_user = 15
    model.fit(train, rng=seeded(7))
    rng = seeded(7)
    learned = start(train, rng, 6)
    for _epoch in range(3):
        for n in (70, 70, 25):  # 11 users with ratings, 15 triples for each
            triples = sampler.draw(n, rng=rng)
            climb(*learned, triples, 0.3, 0.2, kind not in ("BPR", "BPR by user"))
    assert_scores(model, *learned)
    np.testing.assert_allclose(model.item_factors, learned[1], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("model_class", "batch"), [(GBPR, False), (GBPRBatchStep, True)])
@pytest.mark.parametrize(("weight", "size"), [(0.8, 5), (1.5, 2), (1.0, 100)])
def test_gbpr_is_the_naive_loop(model_class, batch, weight, size, monkeypatch):
    monkeypatch.setattr(pairwise, "CHUNK", 1000)
    train = small_table()
    model = model_class(
        n_factors=3, learning_rate=0.05, regularisation=0.1, n_epochs=3, samples_per_user=0
    )
    model.group_weight, model.group_size = weight, size
    model.fit(train, rng=seeded(7))
    rng = seeded(7)
    p, q, b = start(train, rng, 3, random_biases=batch)
    sampler, groups = TripleSampler(train, draw="users"), GroupSampler(train, size)
    for _epoch in range(3):
        triples = sampler.draw(len(train), rng=rng)
        members = groups.draw(*triples[:2], rng=rng)
        climb(p, q, b, triples, 0.05, 0.1, groups=members, weight=weight, batch=batch)
    assert_scores(model, p, q, b)
    np.testing.assert_allclose(model.user_factors, p, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.item_bias, b, rtol=1e-9, atol=1e-12)


def test_steps_one_by_one_lead_elsewhere_than_a_batch():
    train = small_table()
    model = GBPRBatchStep(n_epochs=1, samples_per_user=40)
    whole = model.fit(train, rng=seeded(3)).user_factors
    begun = GBPRBatchStep(n_epochs=0).fit(train, rng=seeded(3))
    sampler, groups = model.sampler(train), model.group_sampler(train)
    rng = seeded(3)
    start(train, rng, 10, random_biases=True)
    triples = sampler.draw(40 * 11, rng=rng)
    members = groups.draw(*triples[:2], rng=rng)
    p, q, b = begun.user_factors.copy(), begun.item_factors.copy(), begun.item_bias.copy()
    climb(p, q, b, triples, 0.01, 0.01, groups=members, weight=1.5, batch=False)
    assert np.abs(p - whole).max() > 1e-6


@pytest.mark.parametrize(("weight", "size"), [(0.0, 5), (0.7, 1), (1.5, 1)])
def test_gbpr_without_a_group_is_bpr(weight, size):
    train = small_table()
    common = {"n_factors": 4, "learning_rate": 0.1, "regularisation": 0.05, "n_epochs": 20}
    bpr = BPR(**common, draw="users", biases=True).fit(train, rng=seeded(4))
    gbpr = GBPR(**common, group_weight=weight, group_size=size).fit(train, rng=seeded(4))
    # 22000 steps, each rounded otherwise: errors of 2**-53 that the descent does not enlarge.
    np.testing.assert_allclose(gbpr.user_factors, bpr.user_factors, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(gbpr.item_bias, bpr.item_bias, rtol=1e-8, atol=1e-10)


ORDERS = ["random", "popularity", "reverse popularity", "number", "first appearance"]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("regularisation", [0.0, 0.3])
def test_rank_sgd_is_the_naive_loop(order, regularisation):
    stars = random_stars(levels=5)
    stars[0, :-1] = 3  # rated all items
    train = table(stars)
    rates = {"n_factors": 3, "learning_rate": 0.1, "regularisation": regularisation}
    encoding = "graded-zero>=4"
    if order == "random":
        model = RankSGD(**rates, n_epochs=3, encoding=encoding)
    else:
        model = RankSGDInOrder(**rates, n_epochs=3, encoding=encoding, order=order)
    model.fit(train, rng=seeded(7))

    rng = seeded(7)
    appeared = {}
    if order == "first appearance":
        turn, among = rng.permutation(train.n_users), rng.random(len(train))
        for row in sorted(range(len(train)), key=lambda row: (turn[train.user[row]], among[row])):
            appeared.setdefault(train.item[row], len(appeared))
    p, q, b = start(train, rng, 3)
    counts = train.item_counts()
    key = {
        "popularity": lambda i: (-counts[i], i),
        "reverse popularity": lambda i: (counts[i], i),
        "number": lambda i: i,
        "first appearance": appeared.get,
    }.get(order)
    sampler = TripleSampler(train, negatives="popular")
    rows = np.flatnonzero(train.user != 0)
    for _epoch in range(3):
        if key is None:
            passed = rng.permutation(rows)
        else:
            passed = np.array(sorted(rows, key=lambda r: (train.user[r], key(train.item[r]))))
        for row, j in zip(passed, sampler.negatives(passed, rng=rng), strict=True):
            u, i = train.user[row], train.item[row]
            error = p[u] @ (q[i] - q[j]) - max(train.value[row] - 3, 0)
            step_p = error * (q[i] - q[j]) + regularisation * p[u]
            step_i = error * p[u] + regularisation * q[i]
            step_j = -error * p[u] + regularisation * q[j]
            p[u] -= 0.1 * step_p
            q[i] -= 0.1 * step_i
            q[j] -= 0.1 * step_j
    assert (np.maximum(train.value - 3, 0) == 0).any()
    assert_scores(model, p, q, b)
    np.testing.assert_allclose(model.item_factors, q, rtol=1e-9, atol=1e-12)


def one_triple():
    """The first user rated item 1 and not item 0; the others rated both, and form groups."""
    return table([[_, 4.0], [5.0, 4.0], [5.0, 4.0]])


def term(model, x, n_factors):
    """Return what one triple adds to the objective, from its definition."""
    p, q, b = np.split(x, [3 * n_factors, 5 * n_factors])
    p, q = p.reshape(3, n_factors), q.reshape(2, n_factors)
    decay = model.regularisation / 2
    if isinstance(model, RankSGD):
        margin = p[0] @ q[1] - p[0] @ q[0]
        return -0.5 * (margin - 4) ** 2 - decay * (np.sum(p[0] ** 2) + np.sum(q**2))
    members, weight = [0], 0.0
    if isinstance(model, GBPR):
        members, weight = [0, 1, 2], model.group_weight
    preferred = weight * np.mean(p[members] @ q[1] + b[1]) + (1 - weight) * (p[0] @ q[1] + b[1])
    squares = np.sum(p[members] ** 2) + np.sum(q**2) + np.sum(b**2)
    return -np.logaddexp(0, p[0] @ q[0] + b[0] - preferred) - decay * squares


@pytest.mark.parametrize(
    "model",
    [
        BPR(biases=True),
        WBPR(),
        GBPR(group_weight=0.6),
        GBPRBatchStep(),
        RankSGD(encoding="stars"),
        WBPRUnpopularNegatives(),
        RankSGDInOrder(encoding="stars"),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_step_goes_along_the_slope_of_the_term(model):
    train = one_triple()
    model.n_factors, model.regularisation, model.learning_rate = 2, 0.3, 1e-7
    if isinstance(model, GBPR):
        model.group_size = 5
    if not isinstance(model, RankSGD):
        model.samples_per_user = 1
    n_steps = 1 if isinstance(model, RankSGD) else 3

    def parameters(n_epochs):
        model.n_epochs = n_epochs
        model.fit(train, rng=seeded(7))
        arrays = model.user_factors, model.item_factors, model.item_bias
        return np.concatenate([array.ravel() for array in arrays])

    begin, end = parameters(0), parameters(1)
    directions = 1e-5 * np.eye(len(begin))
    slope = [(term(model, begin + d, 2) - term(model, begin - d, 2)) / 2e-5 for d in directions]
    assert np.abs(slope).max() > 0.1
    # Differences of the term are off by 1e-10, of the parameters by 2**-53 / 1e-7; later steps
    # start 1e-7 further on.
    np.testing.assert_allclose((end - begin) / (n_steps * 1e-7), slope, atol=2e-6)


@pytest.mark.parametrize("model_class", [BPR, WBPR, GBPR, GBPRBatchStep])
def test_the_objective_is_the_mean_over_triples(model_class):
    train = gaps()
    model = model_class(n_factors=3, n_epochs=5, regularisation=0.2, samples_per_user=30)
    if isinstance(model, GBPR):
        model.group_size = 10  # every group is all raters
    model.fit(train, rng=seeded())
    draw = "triples" if model_class is BPR else "users"
    negatives = "popular" if model_class is WBPR else "uniform"
    p, q, b = model.user_factors, model.item_factors, model.item_bias
    mean = square = 0.0
    for (u, i, j), chance in probabilities(train, draw, negatives).items():
        group = train.user[train.item == i] if isinstance(model, GBPR) else [u]
        weight = getattr(model, "group_weight", 0.0)
        mixed = weight * p[group].mean(axis=0) + (1 - weight) * p[u]
        squares = sum(np.sum(x**2) for x in (p[group], q[i], q[j], b[i], b[j]))
        one = math.log(sigma(mixed @ q[i] + b[i] - p[u] @ q[j] - b[j])) - 0.1 * squares
        mean += chance * one
        square += chance * one**2
    error = math.sqrt((square - mean**2) / pairwise.OBJECTIVE_TRIPLES)
    threshold = stats.norm.isf(FALSE_ALARM / 2)
    assert abs(model.objective(train) - mean) < threshold * error
    assert error < 0.01 * abs(mean)


def test_the_objective_of_rank_sgd_is_the_mean_over_ratings():
    train = one_triple()
    model = RankSGD(3, 0.1, 0.2, 4, "stars").fit(train, rng=seeded())
    p, q = model.user_factors, model.item_factors
    error = p[0] @ (q[1] - q[0]) - 4
    expected = 0.5 * error**2 + 0.1 * (np.sum(p[0] ** 2) + np.sum(q**2))
    assert model.objective(train) == pytest.approx(expected, rel=1e-12)


def two_camps():
    """Half of the users rate items of the first half only; a third of each half is held back."""
    camp = np.equal.outer(np.arange(60) % 2, np.arange(40) % 2)
    held = camp & (seeded(11).random(camp.shape) < 0.33)
    stars = np.where(camp & ~held, 5.0, np.nan)
    return table(stars), camp, held


@pytest.mark.parametrize("model_class", EVERY)
def test_what_a_camp_likes_is_learned(model_class):
    train, camp, held = two_camps()
    objectives = []
    # One batch of 100 steps for each user goes too far where single steps do not.
    learning_rate = 0.005 if model_class is GBPRBatchStep else 0.05
    model = model_class(n_factors=4, learning_rate=learning_rate, n_epochs=20)
    model.fit(train, rng=seeded(), on_iteration=lambda number, value: objectives.append(value))
    scores = model.score(np.arange(60))
    assert len(objectives) == 20
    rises = -1 if isinstance(model, RankSGD) else 1
    assert rises * objectives[-1] > rises * objectives[0]
    won = [np.mean(scores[u, held[u], None] > scores[u, ~camp[u]]) for u in range(60)]
    assert np.mean(won) > 0.95


@pytest.mark.parametrize("model_class", [BPR, WBPR, GBPR, WBPRUnpopularNegatives, GBPRBatchStep])
def test_a_kept_zero_counts_as_rated(model_class):
    train = small_table(levels=5)
    users = np.arange(train.n_users)
    kept, all_of_them, liked = (
        model_class(n_epochs=2, encoding=encoding).fit(train, rng=seeded()).score(users)
        for encoding in ("graded-zero>=4", "binary-all", "graded-pos>=4")
    )
    np.testing.assert_array_equal(kept, all_of_them)
    assert not np.array_equal(kept, liked, equal_nan=True)


@pytest.mark.parametrize("model_class", EVERY)
def test_users_who_rated_every_item_are_passed_over(model_class):
    train = gaps()
    model = model_class(n_factors=3, n_epochs=3).fit(train, rng=seeded())
    begun = model_class(n_factors=3, n_epochs=0).fit(train, rng=seeded())
    moved = (model.user_factors != begun.user_factors).any(axis=1)
    in_groups = issubclass(model_class, GBPR)
    np.testing.assert_array_equal(moved, [True, in_groups, True, True, False, True])
    with pytest.raises(DataError, match="every user in 'small' has rated every item"):
        model_class().fit(table(np.full((3, 4), 5.0)))
    with pytest.raises(DataError, match="every user in 'small' has rated every item"):
        model_class().fit(table([[5.0]]))


@pytest.mark.parametrize("model_class", EVERY)
@pytest.mark.parametrize("stars", [3.0, 0.0])
def test_more_factors_than_items_and_equal_ratings_give_numbers(model_class, stars):
    train = table(np.where(np.isnan(random_stars()), np.nan, stars))
    model = model_class(n_factors=40, n_epochs=2, encoding="graded-zero>=4")
    scores = model.fit(train, rng=seeded()).score(np.arange(train.n_users))
    assert np.isfinite(scores[:-1, :-1]).all()
    assert np.isnan(scores[-1]).all()
    assert np.isnan(scores[:, -1]).all()


@pytest.mark.parametrize("model_class", EVERY)
def test_training_that_runs_away_is_refused(model_class):
    model = model_class(learning_rate=50, regularisation=1, n_epochs=50)
    with pytest.raises(ConfigError, match=r"on 'small' has run away\nchoose a smaller learning"):
        model.fit(small_table(), rng=seeded())
