"""ILD and miscalibration: plain loops over sets, scipy, worked values, laws, refusals."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recbias.data.features import ItemFeatures
from recbias.data.ratings import Ratings
from recbias.errors import ConfigError, ContractError
from recbias.metrics import ListView, list_view, measure_items, parse_metric

METRICS = [
    parse_metric(f"{name}@{cutoff}")
    for name in ("ILD", "ILD(jaccard)", "Miscalibration", "Miscalibration(alpha=0.3)")
    for cutoff in (1, 2, 5)
]
N_FEATURES = 4


def features_of(sets):
    names = tuple(f"g{number}" for number in range(N_FEATURES))
    sizes = [len(one) for one in sets]
    index = [feature for one in sets for feature in sorted(one)]
    return ItemFeatures(names, np.cumsum([0, *sizes]), np.array(index, dtype=np.int32))


def ratings_of(rows, n_items):
    """Ratings whose users and items are those of the numbers, all of them."""
    frame = pd.DataFrame(rows, columns=["user_id", "item_id", "rating"])
    every = [(user, item, 1.0) for user in range(4) for item in range(n_items)]
    rest = pd.DataFrame(every, columns=["user_id", "item_id", "rating"])
    table = Ratings.from_frame(pd.concat([frame, rest]).drop_duplicates(["user_id", "item_id"]))
    return table


def naive_diversity(items, sets, distance):
    apart = []
    described = [sets[item] for item in items if sets[item]]
    for at, one in enumerate(described):
        for other in described[:at]:
            size = math.sqrt(len(one) * len(other)) if distance == "cosine" else len(one | other)
            apart.append(1 - len(one & other) / size)
    return sum(apart) / len(apart) if apart else math.nan


def naive_distribution(items, sets):
    described = [sets[item] for item in items if sets[item]]
    share = dict.fromkeys(range(N_FEATURES), 0.0)
    for one in described:
        for feature in one:
            share[feature] += 1 / len(one) / len(described)
    return share if described else None


def naive_miscalibration(items, liked, sets, alpha):
    wanted, shown = naive_distribution(liked, sets), naive_distribution(items, sets)
    if wanted is None or shown is None:
        return math.nan
    return sum(
        p * math.log(p / ((1 - alpha) * shown[feature] + alpha * p))
        for feature, p in wanted.items()
        if p
    )


def naive(metric, items, liked, sets):
    if metric.name == "ILD":
        return naive_diversity(items[: metric.cutoff], sets, metric.distance)
    return naive_miscalibration(items[: metric.cutoff], liked, sets, metric.alpha)


def measured(lists, sets, rows):
    items = np.full((4, 6), -1, np.int32)
    for user, one in enumerate(lists):
        items[user, : len(one)] = one
    view = list_view(items, ratings_of(rows, len(sets)), min_rating=4, features=features_of(sets))
    return measure_items(view, METRICS)


@st.composite
def cases(draw):
    n_items = draw(st.integers(6, 9))
    feature_sets = st.sets(st.integers(0, N_FEATURES - 1), max_size=3)
    sets = draw(st.lists(feature_sets, min_size=n_items, max_size=n_items))
    order = st.permutations(range(n_items))
    lists = [draw(order)[: draw(st.integers(0, 6))] for _ in range(4)]
    stars = st.tuples(
        st.integers(0, 3), st.integers(0, n_items - 1), st.sampled_from([1.0, 4.0, 5.0])
    )
    rows = draw(st.lists(stars, max_size=20, unique_by=lambda row: row[:2]))
    return lists, sets, rows


@given(cases())
def test_plain_loops_over_sets_agree(case):
    lists, sets, rows = case
    values = measured(lists, sets, rows)
    for user, items in enumerate(lists):
        liked = [item for owner, item, rating in rows if owner == user and rating >= 4]
        plain = [naive(metric, items, liked, sets) for metric in METRICS]
        np.testing.assert_allclose(values[:, user], plain, rtol=0, atol=1e-12)


def test_a_broken_profile_is_seen_by_the_loops():
    """The twin: with all ratings for liked ones the loops disagree."""
    lists, sets = [[0, 1], [], [], []], [{0}, {1}, {2}, {0}, {1}, {3}]
    rows = [(0, 0, 5.0), (0, 2, 1.0)]
    values = measured(lists, sets, rows)[METRICS.index(parse_metric("Miscalibration@2")), 0]
    assert values == pytest.approx(naive_miscalibration([0, 1], [0], sets, 0.01), abs=1e-12)
    assert values != pytest.approx(naive_miscalibration([0, 1], [0, 2], sets, 0.01), abs=0.1)


def test_scipy_agrees():
    from scipy.spatial.distance import pdist
    from scipy.stats import entropy

    rng = np.random.default_rng(5)
    has = rng.random((40, N_FEATURES)) < 0.5
    has[np.arange(40), rng.integers(0, N_FEATURES, 40)] = True  # none without a feature
    features = features_of([set(np.flatnonzero(row).tolist()) for row in has])
    items = np.array([rng.permutation(40)[:10] for _ in range(30)], np.int32)
    rows = [(user, item, 5.0) for user in range(30) for item in rng.permutation(40)[:9]]
    rows += [(user, item, 1.0) for user in range(30) for item in range(40)]
    frame = pd.DataFrame(rows, columns=["user_id", "item_id", "rating"])
    train = Ratings.from_frame(frame.drop_duplicates(["user_id", "item_id"]))
    view = list_view(items, train, min_rating=4, features=features)
    texts = "ILD@10", "ILD(jaccard)@10", "Miscalibration@10"
    cosine, jaccard, divergence = measure_items(view, [parse_metric(text) for text in texts])
    shares = has / has.sum(axis=1, keepdims=True)
    for user in range(30):
        described = has[items[user]]
        assert cosine[user] == pytest.approx(pdist(described.astype(float), "cosine").mean())
        assert jaccard[user] == pytest.approx(pdist(described, "jaccard").mean(), abs=1e-12)
        liked = train.item[(train.user == user) & (train.value >= 4)]
        wanted, shown = shares[liked].mean(axis=0), shares[items[user]].mean(axis=0)
        theirs = entropy(wanted, 0.99 * shown + 0.01 * wanted)
        assert divergence[user] == pytest.approx(theirs, abs=1e-12)
        # The twin: the two distributions in each other's place are another divergence.
        assert abs(divergence[user] - entropy(shown, 0.99 * wanted + 0.01 * shown)) > 1e-6


def test_lists_that_are_alike_have_no_diversity_and_a_perfect_one_no_miscalibration():
    sets = [{0, 1}, {0, 1}, {2}, {3}, set(), {0, 1}]
    rows = [(0, 0, 5.0), (0, 1, 4.0), (1, 2, 5.0), (1, 3, 5.0), (2, 4, 5.0)]
    values = measured([[0, 1, 5], [2, 3], [2, 3], [4, 2]], sets, rows)
    by_metric = dict(zip(map(str, METRICS), values.tolist(), strict=True))
    undefined = math.nan
    same, apart = [0, 1, 1, undefined], [0, 0, undefined, undefined]
    for name in ("ILD@5", "ILD(jaccard)@5"):
        assert by_metric[name] == pytest.approx(same, abs=1e-15, nan_ok=True)
    assert by_metric["Miscalibration@5"] == pytest.approx(apart, abs=1e-15, nan_ok=True)


def test_nothing_in_common_is_the_logarithm_of_alpha():
    sets = [{0}, {1}, {1}, {2}, {2}, {2}]
    values = measured([[1, 2], [], [], []], sets, [(0, 0, 5.0)])
    by_metric = dict(zip(map(str, METRICS), values[:, 0].tolist(), strict=True))
    assert by_metric["Miscalibration@2"] == pytest.approx(math.log(100), abs=1e-12)
    expected = pytest.approx(math.log(1 / 0.3), abs=1e-12)
    assert by_metric["Miscalibration(alpha=0.3)@2"] == expected


@pytest.mark.slow
@given(cases(), st.randoms(use_true_random=False))
def test_the_order_of_a_list_does_not_matter(case, random):
    lists, sets, rows = case
    whole = [row for row, metric in enumerate(METRICS) if metric.cutoff == 5]
    short = [items[:5] for items in lists]
    shuffled = [random.sample(items, len(items)) for items in short]
    once, again = (measured(some, sets, rows)[whole] for some in (short, shuffled))
    np.testing.assert_allclose(once, again, rtol=0, atol=1e-12)


def test_what_is_missing_or_does_not_fit_is_named():
    items, counts = np.zeros((2, 1), np.int32), np.zeros(3, int)
    bare = ListView(items, 3, counts)
    for text in ("ILD@1", "Miscalibration@1"):
        with pytest.raises(ConfigError, match=rf"metric {text}: give the lists the features"):
            measure_items(bare, [parse_metric(text)])
    features = features_of([{0}, {1}, set()])
    with pytest.raises(ConfigError, match="Miscalibration@1: give the lists the profiles"):
        measure_items(
            ListView(items, 3, counts, features=features), [parse_metric("Miscalibration@1")]
        )
    with pytest.raises(ContractError, match="features of 3 items, expected those of 4"):
        ListView(items, 4, np.zeros(4, int), features=features)
    import scipy.sparse

    for profile in (np.full((2, 3), 0.25), -np.full((2, 4), 0.25)):
        with pytest.raises(ContractError, match=r"profiles have shape .* expected \(2, 4\)"):
            ListView(items, 3, counts, features=features, profiles=scipy.sparse.csr_matrix(profile))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ILD(euclid)@10", "distance=euclid, expected cosine or jaccard"),
        ("ILD", "ILD: it needs a cutoff"),
        ("Miscalibration(alpha=0)@10", "alpha=0, expected how much of the user is mixed in"),
        ("calibration@10", "did you mean 'Miscalibration'"),
        ("novelty@10", "did you mean 'Novelty'"),
    ],
)
def test_what_is_no_such_metric_is_refused(text, message):
    with pytest.raises(ConfigError, match=message):
        parse_metric(text)
