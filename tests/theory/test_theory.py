"""The lemma, its corrected proof and expectations against explicit lists and enumerated samples."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explicit_lists import FixedScores, make_split, random_split
from rank_tables import run_table, user_table
from recbias.errors import ConfigError
from recbias.metrics import Metric, measure, parse_metric
from recbias.metrics.aggregation import aggregate
from recbias.protocol.targets import TargetRule, Targets
from recbias.ranking import RankTable, rank
from recbias.testing import judged_scores, naive_expectation, naive_list
from recbias.theory import (
    expected_gain,
    expected_hit,
    expected_precision,
    hypergeometric_cdf,
    hypergeometric_mean,
    lemma_bound,
    ranks_in_shared_set,
    relevant_share,
    split_statistics,
)

NONE = np.nan


def ranked(scores, split, text, seed=1, min_rating=5):
    rule = TargetRule.parse(text)
    return rank(FixedScores(scores), split, [Targets(rule, min_rating)], seed=seed)[0]


def one_user(list_text):
    """A split and scores whose full list reads like r1 x1 r2: r = relevant, x = not rated."""
    kinds = list_text.split()
    stars = [[5 if kind[0] == "r" else NONE for kind in kinds]]
    return make_split(np.full((1, len(kinds)), NONE), stars), [range(len(kinds), 0, -1)]


def expectation(name, table):
    return measure(table, [parse_metric(name)], min_rating=5)[0]


def mean(name, table):
    values = expectation(name, table)
    population = "runs" if table.per == "run" else "all"
    return aggregate(table, values[None], min_rating=5, population=population)[0]


# ---- worked values


@pytest.mark.parametrize(
    ("shown", "lower", "precision", "upper"),
    [("r1 x1 r2 x2", 0.25, 0.5, 0.5), ("x1 r1 x2 r2 x3", 0.25, 0.25, 0.25)],
)
def test_the_two_toys_of_the_lemma(shown, lower, precision, upper):
    split, scores = one_user(shown)
    table = ranked(scores, split, "AI-AN-1R")
    found = [mean(name, table) for name in ("lower@2", "P@2", "upper@2")]
    assert found == pytest.approx([lower, precision, upper], abs=1e-15)


def test_precision_of_the_first_toy():
    split, scores = one_user("r1 x1 r2 x2")
    assert mean("P@2", ranked(scores, split, "AI-AN-AR")) == 0.5


def test_rho_and_the_harmonic_mean_of_sizes():
    # Target sets of 4 and 8 items with one relevant item each.
    train = np.full((2, 8), NONE)
    train[0, :4] = 3
    test = np.full((2, 8), NONE)
    test[:, 7] = 5
    split = make_split(train, test)
    found = split_statistics(split, "AI", min_rating=5)
    assert found.rho == pytest.approx(0.1875, abs=1e-15)
    assert found.t == pytest.approx(16 / 3, abs=1e-12)
    table = ranked(np.zeros((2, 8)), split, "AI-AN-AR")
    assert expectation("rho", table).tolist() == [0.25, 0.125]


@pytest.mark.parametrize("candidates", ["AI", "TI"])
def test_table_2_by_hand(candidates):
    split = random_split(np.random.default_rng(2), n_users=9, n_items=50, train=0.2, test=0.1)
    train, test = ({}, {})
    for by_user, ratings in ((train, split.train), (test, split.test)):
        for user, item, value in zip(ratings.user, ratings.item, ratings.value, strict=True):
            by_user.setdefault(int(user), {})[int(item)] = value
    items = range(50) if candidates == "AI" else set(split.test.item.tolist())
    sizes = [len(set(items) - set(train[user])) for user in range(9)]
    liked = [sum(value >= 4 for value in test.get(user, {}).values()) for user in range(9)]
    learnt = sum(value >= 4 for user in range(9) for value in train[user].values())
    found = split_statistics(split, candidates, min_rating=4)
    t = 9 / sum(1 / size for size in sizes)
    assert (found.n_users, found.n_candidates) == (9, len(items))
    assert (found.n_relevant, found.n_relevant_test) == (sum(liked) + learnt, sum(liked))
    n_train, n_test = (sum(map(len, part.values())) for part in (train, test))
    assert found.sigma == pytest.approx(n_test / (n_train + n_test), abs=1e-15)
    shares = [hits / size for hits, size in zip(liked, sizes, strict=True)]
    assert found.rho == pytest.approx(sum(shares) / 9, abs=1e-15)
    assert (found.t, found.delta) == pytest.approx((t, (sum(liked) + learnt) / (t * 9)), abs=1e-12)


def test_rho_of_users_and_of_runs():
    table = user_table(([1, 2, 3, 4], {1: 5, 3: 5, 4: 2}), ([1, 2], {1: 3}), ([], {}))
    assert expectation("rho", table).tolist() == [0.5, 0, 0]
    runs = run_table(1, (0, 3, 5), (0, 0, 5), size=20)
    assert expectation("rho", runs).tolist() == [0.05, 0.05]


def test_precision_at_the_size_of_the_set_is_rho_for_every_system():
    rng = np.random.default_rng(3)
    split = random_split(rng, n_users=20, n_items=15, train=0.2)
    for scores in (rng.random((20, 15)), np.zeros((20, 15))):
        table = ranked(scores, split, "AI-AN-AR")
        rho = expectation("rho", table)
        for user, size in enumerate(table.n_targets):
            values = measure(table, [parse_metric(f"P@{size}")], min_rating=5)
            assert values[0, user] == pytest.approx(rho[user], abs=1e-15)


# ---- the lemma, BCC17 Eq. 2


@st.composite
def lists_of_users(draw):
    """For each user his list as booleans: relevant or not; ties and gaps come from elsewhere."""
    return draw(st.lists(st.lists(st.booleans(), min_size=1, max_size=9), min_size=1, max_size=4))


@settings(max_examples=300)
@given(lists_of_users(), st.integers(1, 6))
def test_bounds_are_those_of_the_lemma_and_hold(lists, cutoff):
    n_items = max(map(len, lists))
    train, test = np.full((2, len(lists), n_items), NONE)
    for user, kinds in enumerate(lists):
        test[user, [place for place, liked in enumerate(kinds) if liked]] = 5
        train[user, len(kinds) :] = 3
    n_relevant = sum(map(sum, lists))
    table = ranked(np.tile(-np.arange(n_items), (len(lists), 1)), make_split(train, test),
                   "AI-AN-1R")  # fmt: skip
    hits = lower = upper = 0
    for kinds in lists:
        places = [place for place, liked in enumerate(kinds) if liked]
        for place in places:
            run = [kind for other, kind in enumerate(kinds) if not kind or other == place]
            hits += run.index(True) < cutoff
        lower += sum(kinds[:cutoff])
        upper += sum(kinds[: cutoff + len(places) - 1])
    assert lower <= hits <= upper
    if n_relevant:
        expected = [number / (cutoff * n_relevant) for number in (lower, hits, upper)]
        names = (f"lower@{cutoff}", f"P@{cutoff}", f"upper@{cutoff}")
        assert [mean(name, table) for name in names] == pytest.approx(expected, abs=1e-15)
    else:
        assert len(table.rank) == 0


@pytest.mark.parametrize("n_sampled", [1, 5, 12])
def test_bounds_hold_on_shared_samples_with_ties_and_missing_scores(n_sampled):
    rng = np.random.default_rng(4)
    split = random_split(rng, n_users=60, n_items=40)
    scores = rng.choice([0, 0, 1, 2, NONE], (60, 40))
    for seed in range(20):
        table = ranked(scores, split, f"AI-NN-1R-shared t={n_sampled + 1}", seed)
        for cutoff in (1, 3, 10):
            lower, precision, upper = (
                mean(f"{name}@{cutoff}", table) for name in ("lower", "P", "upper")
            )
            assert lower <= precision + 1e-15 <= upper + 2e-15


@pytest.mark.parametrize("text", ["AI-AN-1R", "TI-NN-1R-shared t=8"])
def test_ranks_in_the_shared_set(text):
    # In the set with all relevant items: one rank per item, in the order of scores and ties.
    rng = np.random.default_rng(5)
    split = random_split(rng, n_users=50, n_items=25)
    for scores in (rng.random((50, 25)), rng.choice([0, 1, NONE], (50, 25))):
        runs = ranked(scores, split, text)
        found = ranks_in_shared_set(runs)
        if text == "AI-AN-1R":
            whole = ranked(scores, split, "AI-AN-AR")
            assert sorted(zip(runs.user, found, strict=True)) == sorted(
                zip(whole.user[whole.value == 5], whole.rank[whole.value == 5], strict=True)
            )
        for user in range(50):
            own = [(int(r), i) for i, r in enumerate(runs.rank) if runs.user[i] == user and r]
            for above, (_, row) in enumerate(sorted(own)):
                assert found[row] == runs.rank[row] + above
        assert (found[runs.rank == 0] == 0).all()


def test_the_corrected_inequality_of_the_proof_holds_and_the_printed_one_does_not():
    rng = np.random.default_rng(6)
    split = random_split(rng, n_users=200, n_items=25)
    table = ranked(rng.random((200, 25)), split, "AI-AN-1R")
    others = np.bincount(table.user, minlength=200)[table.user] - 1
    in_all, in_run = ranks_in_shared_set(table), table.rank
    assert (in_all <= in_run + others).all()
    printed = in_all >= in_run + others
    assert 0 < np.mean(printed) < 1
    # It holds for the last of a user's relevant items only.
    last = np.array([np.all(in_all[table.user == user] <= own)
                     for user, own in zip(table.user, in_all, strict=True)])  # fmt: skip
    assert (printed == last).all()


# ---- expected precision over samples


@pytest.mark.parametrize("pool", range(7))
def test_expected_hits_are_those_of_all_samples(pool):
    # Position of the relevant item, size of the set and cutoff: every combination.
    for above, size, cutoff in itertools.product(range(pool + 1), (1, 2, 3, 6, 9), (1, 2, 4)):
        samples = list(itertools.combinations(range(pool), min(size - 1, pool)))
        hits = [sum(item < above for item in sample) < cutoff for sample in samples]
        expected = Fraction(sum(hits), len(hits)) / cutoff
        table = run_table(1, (0, above + 1, 5), size=pool + 1)
        found = expectation(f"P@{cutoff}|t={size}", table)
        assert found == pytest.approx([float(expected)], abs=1e-12)


AN_1R = Targets(TargetRule.parse("AI-AN-1R"), 5)


def expected_of_runs(scores, judged, names):
    """What the metrics give, and what every sample gives on average, for one user's runs."""
    stars = np.full((1, len(scores)), NONE)
    stars[0, list(judged)] = list(judged.values())
    split = make_split(np.full((1, len(scores)), NONE), stars)
    table = rank(FixedScores([list(scores.values())]), split, [AN_1R], seed=1)[0]
    lengths = [row.tolist() for row in (table.item, table.rank)]
    wanted = []
    for item, place in zip(*lengths, strict=True):
        pool = [one for one in scores if one == item or judged.get(one, 0) < 5]
        others = iter(naive_list({one: scores[one] for one in pool if one != item}, list(scores)))
        # Ties were broken by the seed: the item stands where it was found, the others anyhow.
        shown = [item if at == place else next(others, None) for at in range(1, len(pool) + 1)]
        shown = [one for one in shown if one is not None]
        wanted.append([
            naive_expectation(
                shown, pool, item, name.name, cutoff=name.cutoff, size=name.t
            ) for name in names
        ])  # fmt: skip
    return measure(table, names, min_rating=5), np.array(wanted).reshape(-1, len(names)).T


SAMPLED = [
    parse_metric(f"{name}|t={size}")
    for name in ("P@2", "RR", "RR@1", "RR@3", "nDCG", "nDCG@3")
    for size in (1, 2, 4, 20)
]


@settings(max_examples=150)
@given(judged_scores(8))
def test_metrics_of_runs_are_the_mean_over_every_sample(case):
    scores, _, judged = case
    found, wanted = expected_of_runs(scores, judged, SAMPLED)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-13)


def test_another_size_or_cutoff_is_noticed():
    scores, judged = dict(enumerate([0.9, 0.8, 0.7, 0.6, 0.5])), {2: 5.0, 4: 5.0}
    _, wanted = expected_of_runs(scores, judged, SAMPLED)
    for size, cutoff in ((1, 0), (0, 1)):
        others = [
            Metric(one.name, one.cutoff and one.cutoff + cutoff, t=one.t + size) for one in SAMPLED
        ]
        found, _ = expected_of_runs(scores, judged, others)
        assert np.abs(found - wanted).max() > 0.05


def test_the_sum_and_the_closed_form_of_an_expected_reciprocal_rank_agree():
    """E[1/(X+1)] from the mean's own kernel, and from one probability of a larger draw.

    The relative error of either is that of `hypergeometric_cdf`: at most 60 deviations of at most
    50 from the mean, and probabilities from exp(-600) on.
    """
    rng = np.random.default_rng(3)
    pool = rng.integers(1, 10_000, 2000)
    above = (rng.random(2000) * (pool + 1)).astype(int)
    draws = (rng.random(2000) ** 2 * (pool + 1)).astype(int)
    most = draws.max()
    found = hypergeometric_mean(1 / np.arange(1.0, most + 2), pool, above, draws)
    # P(X' > 0) without cancelling: at most a of the a + 1 are left out.
    some = hypergeometric_cdf(above, pool + 1, above + 1, pool - draws)
    closed = (pool + 1) / ((draws + 1) * (above + 1)) * some
    np.testing.assert_allclose(found, closed, rtol=2**-53 * (100 + 8 * 3000 + 8 * 50 + 4 * 600))
    other = (pool + 1) / ((draws + 1) * (above + 2)) * some
    assert np.abs(found / other - 1).max() > 0.1


@pytest.mark.parametrize("above", [(0, 0), (0, 3), (1, 1), (2, 4), (3, 5)])
def test_expected_bounds_are_those_of_all_samples(above):
    # Two relevant items of one user, with so many of five others above each.
    for size, cutoff in itertools.product((2, 3, 5, 6), (1, 2, 3)):
        lower, upper = [], []
        for sample in itertools.combinations(range(5), min(size - 1, 5)):
            own = sorted(sum(item < bound for item in sample) for bound in above)
            joint = [1 + count + better for better, count in enumerate(own)]
            lower.append(sum(rank <= cutoff for rank in joint))
            upper.append(sum(rank <= cutoff + 1 for rank in joint))
        table = run_table(1, *((0, count + 1, 5) for count in above), size=6)
        for name, hits in (("lower", lower), ("upper", upper)):
            expected = Fraction(sum(hits), len(hits) * cutoff)
            found = expectation(f"{name}@{cutoff}|t={size}", table)
            assert found.sum() == pytest.approx(float(expected), abs=1e-12)


def test_expected_hits_are_the_mean_over_seeds():
    rng = np.random.default_rng(7)
    split = random_split(rng, n_users=80, n_items=40)
    scores = rng.choice([*np.arange(20) / 20, NONE], (80, 40))
    whole = ranked(scores, split, "TI-AN-1R")
    expected = expectation("P@3|t=10", whole)
    draws = np.array(
        [
            measure(ranked(scores, split, "TI-NN-1R t=10", seed), [parse_metric("P@3")],
                    min_rating=5)[0]
            for seed in range(200)
        ]
    )  # fmt: skip
    # Ties are broken anew by every seed, in the full ranking too: only untied runs have one law.
    items = split.test.item[split.test.value == 5]
    own = scores.astype(np.float32)[whole.user, items][:, None]
    tied = np.nansum(scores.astype(np.float32)[whole.user] == own, axis=1) > 1
    z = np.sum((draws.mean(axis=0) - expected)[~tied]) / np.sqrt(
        np.sum((expected * (1 / 3 - expected))[~tied]) / 200
    )
    assert np.sum(~tied) > 20
    assert abs(z) < 5


@pytest.mark.parametrize("above", [(), (0,), (0, 0), (0, 3), (1, 1, 4), (2, 4), (5, 5)])
def test_expected_precision_is_that_of_all_samples(above):
    # One user; so many of five others stand above each relevant item, and one is rated low.
    ranks = [1 + count + better for better, count in enumerate(above)]
    listed, size = np.array([*ranks, 0], np.int32), np.array([5 + len(ranks)], np.int32)
    for n_sampled, cutoff in itertools.product((1, 2, 5, 9), (1, 2, 3, 7)):
        hits = []
        for sample in itertools.combinations(range(5), min(n_sampled, 5)):
            joint = sorted([*((item, 1) for item in sample), *((count, 0) for count in above)])
            # A relevant item with `count` others above it stands right before the next of them.
            hits.append(sum(kind == 0 for _, kind in joint[:cutoff]))
        table = RankTable(
            "user", 1, np.zeros(len(listed), np.int32), np.arange(len(listed), dtype=np.int32),
            np.array([*[5.0] * len(ranks), 1.0]), listed, listed, *[size] * 2,
        )  # fmt: skip
        found = expectation(f"P@{cutoff}|N={n_sampled}", table)
        assert found == pytest.approx([sum(hits) / len(hits) / cutoff], abs=1e-12)
        share = len(ranks) / (len(ranks) + min(n_sampled, 5))
        assert expectation(f"rho|N={n_sampled}", table) == pytest.approx([share], abs=1e-15)


def test_expected_precision_is_the_mean_over_seeds_and_that_of_everything_if_all_are_drawn():
    rng = np.random.default_rng(9)
    split = random_split(rng, n_users=80, n_items=40)
    scores = rng.permuted(np.tile(np.arange(40.0), (80, 1)), axis=1)
    scores[rng.random((80, 40)) < 0.1] = NONE
    whole = ranked(scores, split, "TI-AN-AR")
    expected = expectation("P@3|N=10", whole)
    metric = [parse_metric("P@3")]
    draws = np.array(
        [
            measure(ranked(scores, split, "TI-NN-AR N=10", seed), metric, min_rating=5)[0]
            for seed in range(200)
        ]
    )
    spread = draws.std(axis=0, ddof=1) / np.sqrt(200)
    assert np.sum(spread > 0) > 20
    assert abs(np.sum(draws.mean(axis=0) - expected) / np.sqrt(np.sum(spread**2))) < 5
    np.testing.assert_allclose(draws.mean(axis=0)[spread == 0], expected[spread == 0], atol=0.02)
    np.testing.assert_allclose(expectation("P@3|N=40", whole), expectation("P@3", whole))
    np.testing.assert_allclose(expectation("rho|N=40", whole), expectation("rho", whole))


def test_the_expected_share_of_runs_is_that_of_the_sampled_set():
    table = run_table(1, (0, 3, 5), size=50)
    shares = [expectation(f"rho|t={size}", table)[0] for size in (1, 10, 50, 80)]
    assert shares == [1, 0.1, 0.02, 0.02]


def test_an_item_without_score_never_hits():
    table = run_table(1, (0, 0, 5), (0, 1, 5), size=50)
    assert expectation("P@10|t=100", table).tolist() == [0, 0.1]
    assert expectation("upper@10", table).tolist() == [0, 0.1]


# ---- what is refused


def test_expectations_of_runs_need_runs():
    table = user_table(([1], {1: 5}))
    for name in ("lower@10", "upper@10", "P@10|t=100", "lower@10|t=100", "RR|t=9"):
        with pytest.raises(ConfigError, match=r"needs a table of runs \(1R\)"):
            expectation(name, table)
    for name in ("P@10|N=100", "rho|N=100"):
        with pytest.raises(ConfigError, match="on AR target sets"):
            expectation(name, run_table(1, (0, 1, 5)))
    with pytest.raises(ConfigError, match=r"P@3\|N=9 needs a table with a set per user.*P@3\|t=10"):
        expected_precision(run_table(1, (0, 1, 5)), 3, 9, min_rating=5)
    with pytest.raises(ConfigError, match=r"lower@3 needs a table of runs"):
        lemma_bound(table, "lower", 3)
    with pytest.raises(ConfigError, match=r"P@3\|t=9 needs a table of runs"):
        expected_hit(table, "P", 3, 9)
    with pytest.raises(ConfigError, match=r"RR\|t=9 needs a table of runs"):
        expected_gain(table, "RR", None, 9)


def test_condensed_lists_have_the_expectations_of_full_ones():
    rng = np.random.default_rng(8)
    split = random_split(rng, n_users=20, n_items=15, train=0.2)
    scores = rng.random((20, 15))
    for text, names in (
        ("AI-AN-AR", ["rho", "P@2|N=5", "rho|N=5"]),
        ("AI-AN-1R", ["rho", "lower@2", "P@2|t=5", "RR|t=5", "nDCG@2|t=5"]),
    ):
        table = ranked(scores, split, text)
        metrics = [parse_metric(name) for name in names]
        full, condensed = (
            measure(table, metrics, min_rating=5, condensed=flag) for flag in (False, True)
        )
        np.testing.assert_array_equal(full, condensed)
        np.testing.assert_array_equal(full[0], relevant_share(table, min_rating=5))


def test_no_run_is_no_trouble():
    empty = np.empty(0, np.int32)
    table = RankTable("run", 2, empty, empty, np.empty(0), empty, empty, empty, empty)
    for name in ("rho", "lower@10", "upper@10", "P@10|t=100", "upper@10|t=100", "RR|t=9"):
        assert expectation(name, table).shape == (0,)
