"""bpref, infAP and stratified recall against trec_eval, naive code, and the laws that they obey."""

import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import golden
from rank_tables import run_table, user_table
from recbias import Grid, run
from recbias.data.datasets import load_dataset
from recbias.errors import ConfigError
from recbias.experiment.run import grid_tables
from recbias.metrics import incomplete, measure, parse_metric
from recbias.metrics.incomplete import (
    INFAP_EPSILON,
    binary_preference,
    inferred_average_precision,
    observation_weights,
    stratified_sums,
    stratified_weights,
)
from recbias.protocol.relevance import relevant
from recbias.protocol.testset import dataset_splits
from recbias.ranking import RankTable
from recbias.recommenders import System
from recbias.testing import (
    judged_scores,
    naive_inferred,
    naive_list,
    naive_preference,
    naive_stratified,
)
from recbias.theory import relevant_counts

MIN_RATING = 4
GAMMAS = (0, 0.5, 1, 2.5, math.inf)
POOLS = (0, 1, 3, 100, "all")


def values(table, *texts, **options):
    return measure(table, [parse_metric(text) for text in texts], min_rating=MIN_RATING, **options)


# ---- worked values

WORKED = [1, 2, 3, 4, 5, 6], {1: 1, 2: 5, 4: 5, 5: 1, 6: 5}
"""N R U R N R: judged non-relevant, relevant, unjudged."""
NOTE = (2, 3, 4, 5, 9, 10)
"""The relevant items of a note in trec_eval, N R R R R with 4 non-relevant and 6 relevant ones."""


@pytest.mark.parametrize(
    ("items", "judged", "metric", "expected"),
    [
        (*WORKED, "bpref", 1 / 3),
        ([1, 2, 3, 4, 5], {1: 1, 6: 1, 7: 1, 8: 1} | dict.fromkeys(NOTE, 5), "bpref", 0.5),
        ([1, 2, 3, 4], {1: 1, 2: 1, 3: 1, 4: 5}, "bpref", 0),
        ([1, 2], {2: 5, 3: 5}, "bpref", 0.5),
        (*WORKED, "infAP(pool=0)", 0.500002),
        ([1, 2, 3, 4, 5, 6], WORKED[1], "infAP(pool=3)", 0.569446),
        ([1, 2, 3], {1: 5, 2: 1, 3: 5}, "infAP(pool=100)", 0.833333),
        ([1, 9, 2, 3], {1: 5, 2: 1, 3: 5}, "infAP(pool=all)", 0.8125),
        ([0], {0: 5, 1: 5, 2: 5}, "SR(gamma=1)@1", 0.125),
        ([2], {0: 5, 1: 5, 2: 5}, "SR(gamma=1)@1", 0.625),
        ([0], {0: 5, 1: 5, 2: 5}, "SR(gamma=inf)@1", 0.033333),
        ([2], {0: 5, 1: 5, 2: 5}, "SR(gamma=inf)@1", 0.833333),
    ],
)  # fmt: skip
def test_worked_values(items, judged, metric, expected):
    counts = np.array([100, 25, 4, *[1] * 8])
    found = values(user_table((items, judged)), metric, relevant_counts=counts)
    assert found[0, 0] == pytest.approx(expected, abs=2e-6)


def test_a_hundred_places_are_a_hundred():
    """With relevant items at ranks 50 and 102, by hand; a pool of 99 gives .745191."""
    table = user_table((range(120), {49: 5, 101: 5}))
    first = (1 + 49 / 2) / 50  # nothing above is judged
    second = (1 + 100 * (1 + 1e-5) / (1 + 2e-5)) / 102
    assert values(table, "infAP(pool=100)")[0, 0] == pytest.approx((first + second) / 2, abs=1e-12)


# ---- trec_eval


@pytest.fixture(scope="module")
def runs():
    """1,000 lists of up to 14 of 24 items, some judged or pooled; trec_eval's values of them."""
    import pytrec_eval

    rng = np.random.default_rng(11)
    lists, pools, judgements, submitted = [], [], {}, {}
    for number in range(1000):
        items = rng.permutation(24)[: rng.integers(1, 15)].tolist()
        rated = rng.permutation(24)[: rng.integers(1, 13)]
        liking = rng.choice([0.25, 0.5, 0.8])
        judged = {int(i): 5 if rng.random() < liking else 1 for i in rated}
        pool = set(judged) | set(np.flatnonzero(rng.random(24) < rng.choice([0, 0.4, 1])).tolist())
        lists.append((items, judged))
        pools.append(pool)
        judgements[f"u{number:05}"] = {
            f"i{item:02}": {5: 1, 1: 0}.get(judged.get(item), -1) for item in pool
        }
        submitted[f"u{number:05}"] = {
            f"i{item:02}": float(len(items) - place) for place, item in enumerate(items)
        }
    evaluator = pytrec_eval.RelevanceEvaluator(judgements, {"bpref", "infAP"})
    found = evaluator.evaluate(submitted)
    theirs = {
        name: np.array([found[user][name] for user in sorted(found)]) for name in ("bpref", "infAP")
    }
    liked = [{i for i, rating in judged.items() if rating == 5} for _, judged in lists]
    return SimpleNamespace(
        lists=lists,
        pools=pools,
        judgements=judgements,
        submitted=submitted,
        theirs=theirs,
        liked=liked,
        undefined=np.array([not one for one in liked]),
    )


def test_the_random_runs_hold_all_cases(runs):
    cases = zip(runs.lists, runs.pools, runs.liked, strict=True)
    shares = np.mean(
        [
            (
                bool(liked) and not liked <= set(items),
                bool(pool.intersection(items) - set(judged)),
                bool(set(items) - pool),
                len(judged) - len(liked) < len(liked),
                not liked,
            )
            for (items, judged), pool, liked in cases
        ],
        axis=0,
    )
    assert (shares[:4] >= 0.1).all()
    assert shares[4] > 0.01


def pooled_above(items, judged, pool):
    ranks = [rank for rank, item in enumerate(items, start=1) if item in judged]
    counts = [len(pool.intersection(items[: rank - 1])) for rank in ranks]
    return np.array(ranks, np.int32), np.array(counts, np.int64)


def test_trec_eval_agrees_on_runs_with_a_relevant_item(runs):
    found = values(user_table(*runs.lists), "bpref")[0]
    some = ~runs.undefined
    np.testing.assert_allclose(found[some], runs.theirs["bpref"][some], rtol=0, atol=1e-9)
    inferred = []
    for (items, judged), pool, liked in zip(runs.lists, runs.pools, runs.liked, strict=True):
        if liked:
            ranks, above = pooled_above(items, judged, pool)
            positive = np.array([items[rank - 1] in liked for rank in ranks], bool)
            inferred.append(inferred_average_precision(ranks, positive, above, len(liked)))
    np.testing.assert_allclose(inferred, runs.theirs["infAP"][some], rtol=0, atol=1e-9)


def test_runs_without_a_relevant_item_are_undefined_here_and_0_there(runs):
    found = values(user_table(*runs.lists), "bpref", "infAP(pool=all)", "SR(gamma=1)@5",
                   relevant_counts=np.full(24, 3))  # fmt: skip
    assert all(np.isnan(row).tolist() == runs.undefined.tolist() for row in found)
    assert not any(runs.theirs[name][runs.undefined].any() for name in runs.theirs)


def test_pools_of_places_are_trec_eval_s_too(runs):
    import pytrec_eval

    depth, some = 4, ~runs.undefined
    pooled = {}
    for number, (items, judged) in enumerate(runs.lists):
        grades = {f"i{item:02}": int(rating == 5) for item, rating in judged.items()}
        pooled[f"u{number:05}"] = {f"i{item:02}": -1 for item in items[:depth]} | grades
    theirs = pytrec_eval.RelevanceEvaluator(pooled, {"infAP"}).evaluate(runs.submitted)
    theirs = np.array([theirs[user]["infAP"] for user in sorted(theirs)])
    found = values(user_table(*runs.lists), f"infAP(pool={depth})")[0]
    np.testing.assert_allclose(found[some], theirs[some], rtol=0, atol=1e-9)


# ---- naive code


@given(st.lists(judged_scores(), min_size=1, max_size=3), st.integers(1, 13))
def test_naive_code_agrees(users, cutoff):
    lists = [(naive_list(scores, ties), judged) for scores, ties, judged in users]
    counts = np.arange(12) ** 2 + 1
    texts = [f"infAP(pool={pool})" for pool in POOLS]
    texts += [f"SR(gamma={gamma})@{cutoff}" for gamma in GAMMAS]
    table = user_table(*lists)
    for condensed in (False, True):
        found = values(table, "bpref", *texts, condensed=condensed, relevant_counts=counts)
        for user, (items, judged) in enumerate(lists):
            shown = [item for item in items if item in judged] if condensed else items
            expected = [naive_preference(shown, judged, min_rating=MIN_RATING)]
            for pool in POOLS:
                pooled = shown if pool == "all" else shown[:pool]
                expected.append(naive_inferred(shown, judged, pooled, min_rating=MIN_RATING))
            for gamma in GAMMAS:
                expected.append(
                    naive_stratified(
                        shown, judged, counts, gamma, cutoff=cutoff, min_rating=MIN_RATING
                    )
                )
            np.testing.assert_allclose(
                found[:, user], np.array(expected, float), rtol=0, atol=1e-12
            )


# ---- laws

cases = judged_scores().map(lambda case: (naive_list(case[0], case[1]), case[2]))


@given(cases, st.integers(0, 12))
def test_unjudged_items_do_not_move_bpref(case, place):
    items, judged = case
    longer = [*items[:place], 99, *items[place:]]
    before, after = (values(user_table((one, judged)), "bpref")[0, 0] for one in (items, longer))
    assert before == after or (math.isnan(before) and math.isnan(after))
    assert math.isnan(before) or 0 <= before <= 1


@given(cases)
def test_without_dislikes_bpref_is_the_share_that_is_returned(case):
    items, judged = case
    liked = {item: 5.0 for item, rating in judged.items() if rating >= MIN_RATING}
    table = user_table((items, liked))
    assert values(table, "bpref")[0, 0] == pytest.approx(
        values(table, "R@99")[0, 0], abs=1e-12, nan_ok=True
    )


@given(cases)
def test_infap_grows_with_the_pool_and_is_ap_where_all_is_judged(case):
    items, judged = case
    found = values(user_table(case), "AP", *(f"infAP(pool={pool})" for pool in POOLS))[:, 0]
    if not math.isnan(found[0]):
        # Of a share within [0, 1], epsilon / (1 + 2 epsilon) is the most that epsilon shifts.
        assert abs(found[1] - found[0]) <= INFAP_EPSILON
        assert (np.diff(found[1:]) >= 0).all()
        assert found[-1] <= 1
    everything = judged | {item: 1.0 for item in items if item not in judged}
    ap, *inferred = values(
        user_table((items, everything)), "AP", *(f"infAP(pool={pool})" for pool in POOLS)
    )[:, 0]
    np.testing.assert_allclose(inferred, ap, rtol=0, atol=INFAP_EPSILON)


@given(cases, st.lists(st.permutations(range(12)), max_size=3), st.integers(0, 5))
def test_a_union_pool_lies_between_the_own_places_and_everything(case, others, depth):
    items, judged = case
    pool = {*items[:depth], *(item for other in others for item in other[:depth])}
    inside = naive_inferred(items, judged, pool, min_rating=MIN_RATING)
    low, high = values(user_table(case), f"infAP(pool={depth})", "infAP(pool=all)")[:, 0]
    assert math.isnan(inside) or low - 1e-12 <= inside <= high + 1e-12


@given(cases, st.integers(1, 13), st.integers(2, 50), st.sampled_from(GAMMAS))
def test_stratified_recall_is_recall_without_weights(case, cutoff, factor, gamma):
    table, counts = user_table(case), np.arange(12) ** 2 + 1
    of_gamma = f"SR(gamma={gamma})@{cutoff}"
    recall, zero, weighed = values(
        table, f"R@{cutoff}", f"SR(gamma=0)@{cutoff}", of_gamma, relevant_counts=counts
    )[:, 0]
    alike = values(table, of_gamma, relevant_counts=np.full(12, factor))[0, 0]
    scaled = values(table, of_gamma, relevant_counts=factor * counts)[0, 0]
    for left, right in ((zero, recall), (alike, recall), (scaled, weighed)):
        assert left == pytest.approx(right, abs=1e-12, nan_ok=True)


def test_gamma_goes_from_no_weights_to_one_over_the_count():
    counts = np.array([1, 4, 100])
    assert stratified_weights(counts, 0).tolist() == [1, 1, 1]
    np.testing.assert_allclose(stratified_weights(counts, np.inf), 1 / counts, rtol=1e-15)
    near = [stratified_weights(counts, gamma) for gamma in (1e3, 1e6, 1e9)]
    apart = [np.abs(one - 1 / counts).max() for one in near]
    assert apart == sorted(apart, reverse=True)
    assert apart[-1] < 1e-9
    assert stratified_weights([0, 1], 1).tolist() == [np.inf, 1]


def test_sums_of_weights_have_the_stratified_recall_of_users_as_their_ratio():
    """Of the liked items one user has one at the cutoff, one beyond it, and one nowhere."""
    table = user_table(([4, 9, 0, 1], {0: 5, 1: 5, 2: 5, 4: 1}), ([3, 0], {0: 5, 3: 5}))
    counts = np.array([9, 4, 1, 16, 2])
    hits, total = stratified_sums(table, stratified_weights(counts, math.inf), 3, min_rating=4)
    assert hits == pytest.approx([1 / 9, 1 / 9 + 1 / 16])
    assert total == pytest.approx([1 / 9 + 1 / 4 + 1, 1 / 9 + 1 / 16])
    (found,) = values(table, "SR(gamma=inf)@3", relevant_counts=counts)
    assert hits / total == pytest.approx(found)


# ---- runs

RUNS = run_table(3, (0, 1, 5), (0, 4, 4), (0, 0, 5), (2, 3, 4.5), (2, 2, 5), size=8)
COUNTS = np.array([7, 3, 40, 12, 2])


def test_of_a_run_bpref_is_coverage_and_infap_is_half_rr():
    bpref, rr, everything, none = values(RUNS, "bpref", "RR", "infAP(pool=all)", "infAP(pool=0)")
    assert bpref.tolist() == [1, 1, 0, 1, 1]
    np.testing.assert_allclose(everything, np.where(bpref > 0, (1 + rr) / 2, 0), rtol=1e-15)
    np.testing.assert_allclose(none, rr, rtol=1e-15)


@pytest.mark.parametrize("gamma", GAMMAS)
def test_runs_of_a_user_have_the_stratified_recall_of_their_hits(gamma):
    (found,) = values(RUNS, f"SR(gamma={gamma})@3", relevant_counts=COUNTS)
    hits = {0: [(0, 1), (1, 0), (2, 0)], 2: [(3, 1), (4, 1)]}
    for user, own in hits.items():
        weights = stratified_weights(COUNTS[[item for item, _ in own]], gamma)
        expected = weights @ [hit for _, hit in own] / weights.sum()
        assert found[RUNS.user == user].mean() == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("size", [1, 2, 4, 8, 30])
def test_runs_are_expected_over_all_samples(size):
    texts = ["infAP(pool=all)", "infAP(pool=2)", "SR(gamma=1)@2"]
    found = values(RUNS, *(f"{text}|t={size}" for text in texts), relevant_counts=COUNTS)
    weigh = values(RUNS, "SR(gamma=1)@99", relevant_counts=COUNTS)[0]
    for row, rank in enumerate(RUNS.rank.tolist()):
        others = [0] * (rank - 1) + [1] * (8 - rank) if rank else [1] * 7
        expected = [[], [], []]
        for drawn in itertools.combinations(others, min(size - 1, 7)):
            items = [place for place, below in enumerate(drawn) if not below]
            shown = [*items, 99] if rank else []
            for place, pool in enumerate((shown, shown[:2])):
                expected[place].append(naive_inferred(shown, {99: 5}, pool, min_rating=4))
            expected[2].append(weigh[row] * (0 < len(shown) <= 2))
        np.testing.assert_allclose(found[:, row], np.mean(np.array(expected, float), axis=1),
                                   rtol=0, atol=1e-12)  # fmt: skip


# ---- what is refused


def test_stratified_recall_needs_counts_that_fit():
    table = user_table(([1], {1: 5}))
    metric = "SR(gamma=1)@5"
    with pytest.raises(ConfigError, match="SR: give relevant_counts"):
        values(table, metric)
    with pytest.raises(ConfigError, match="a relevant item has none"):
        values(user_table(([1], {0: 5, 1: 5})), metric, relevant_counts=np.array([3, 0]))
    with pytest.raises(ConfigError, match="it goes from 0 to inf"):
        stratified_weights([1], -1)
    with pytest.raises(ConfigError, match="it goes from 0 to inf"):
        stratified_weights([1], math.nan)
    with pytest.raises(ConfigError, match="a set per user"):
        stratified_sums(RUNS, np.ones(5), 3, min_rating=4)
    with pytest.raises(ConfigError, match="needs a table of runs"):
        values(table, "SR(gamma=1)@5|t=3", relevant_counts=np.ones(2, int))


@pytest.mark.parametrize(
    ("chances", "share"), [([0.0], 0.5), ([0.5, 1.1], 0.5), ([0.5], 0), ([0.5], 2)]
)
def test_observation_weights_take_probabilities(chances, share):
    with pytest.raises(ConfigError, match="above 0 and at most 1"):
        observation_weights(chances, share)


def test_runs_that_depend_on_each_other_are_not_resampled_by_item():
    systems = (System("Popularity", "Popularity"),)
    asked = {"1R": "TI-AN-1R rel>=4"}, {"1R": ("SR(gamma=1)@10", "P@10")}
    Grid("synthetic", systems, *asked, crossed=(("1R", "P@10"),))
    with pytest.raises(ConfigError, match="every metric from ranks but SR"):
        Grid("synthetic", systems, *asked, crossed=(("1R", "SR(gamma=1)@10"),))


# ---- in a grid, and in a world


def test_a_grid_counts_likes_in_training_and_test(tmp_path, monkeypatch):
    monkeypatch.setenv("RECBIAS_CELLS", str(tmp_path / "cells"))
    grid = Grid(
        str(golden.small_table(tmp_path)),
        (System("Popularity", "Popularity"),),
        {"AR": "TI-AN-AR rel>=4 users=relevant", "head": "TI-AN-AR rel>=5 users=relevant"},
        ("SR(gamma=1)@10", "bpref", "infAP(pool=10)"),
        split="k-fold 3",
        tests={"head": "head=10%"},
    )
    found = run(grid)
    dataset = load_dataset(grid.dataset)
    for label, least in (("AR", 4), ("head", 5)):
        likes = np.bincount(
            dataset.ratings.item[relevant(dataset.ratings.value, least)],
            minlength=dataset.ratings.n_items,
        )
        splits = dataset_splits(dataset, grid.split, seed=grid.seed)
        assert all((relevant_counts(s, min_rating=least) == likes).all() for s in splits)
        tables = [table for each in grid_tables(grid, label) for table in [each[-1]]]
        metrics = [parse_metric(text) for text in grid.by_label[label]]
        by_fold = [
            np.nanmean(measure(t, metrics, min_rating=least, relevant_counts=likes), axis=1)
            for t in tables
        ]
        users = [np.sum(np.bincount(t.user[t.value >= least], minlength=t.n_users) > 0)
                 for t in tables]  # fmt: skip
        expected = np.average(by_fold, axis=0, weights=users)
        shown = [found["Popularity", label, str(metric)].value for metric in metrics]
        np.testing.assert_allclose(shown, expected, rtol=1e-12)


def world_recall(rng, weigh):
    """Return |z| of recall by weighed test ratings against true recall outside training.

    Items that are liked more are observed more; 10 items are shown, in an order that prefers the
    observed ones.
    """
    n_users, n_items, cutoff, share = 3_000, 40, 10, 0.2
    liking = np.linspace(0.6, 0.05, n_items)
    chances = 0.05 + 0.9 * liking
    likes = rng.random((n_users, n_items)) < liking
    seen = likes & (rng.random(likes.shape) < chances)
    test = seen & (rng.random(likes.shape) < share)
    outside = likes & ~(seen & ~test)
    taste = np.where(seen & ~test, -np.inf, chances + rng.normal(0, 0.3, likes.shape))
    rank = np.argsort(np.argsort(-taste, axis=1), axis=1).astype(np.int32) + 1
    user, item = (each.astype(np.int32) for each in np.nonzero(test))
    sizes = np.full(n_users, n_items, np.int32)
    table = RankTable("user", n_users, user, item, np.full(len(user), 5.0), rank[test],
                      rank[test], sizes, sizes)  # fmt: skip
    top, total = stratified_sums(table, weigh(chances, share), cutoff, min_rating=4)
    true = outside[rank <= cutoff].sum() / outside.sum()
    residual = top - true * total
    return abs(residual.sum()) / (np.sqrt(n_users) * residual.std())


def test_steck_s_weights_give_true_recall_outside_training():
    """|z| > 4 has a chance of 6e-5; recall without weights is 6 or more off."""
    assert world_recall(np.random.default_rng(2), observation_weights) < 4
    assert world_recall(np.random.default_rng(2), lambda p, share: np.ones_like(p)) > 5


# ---- what BCC17 prints


def test_the_printed_forms_differ_where_they_were_corrected():
    """E07: a cap. E08: the item itself is not above itself, and rank 1 has a value."""
    positive = np.array([False, False, False, True])
    assert binary_preference(positive, 1, 3) == 0
    ranks = np.array([1, 2], np.int32)
    found = inferred_average_precision(ranks, np.array([True, True]), np.array([0, 1]), 2)
    assert found == pytest.approx((1 + (1 + (1 + 1e-5) / (1 + 2e-5)) / 2) / 2, abs=1e-15)
    assert incomplete.INFAP_EPSILON == 1e-5
