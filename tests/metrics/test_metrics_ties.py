"""Expectations over ties: the mean over all orders of equals, one by one, and over many seeds."""

import dataclasses
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explicit_lists import FixedScores, make_split, naive_sets, random_split
from rank_tables import user_table
from recbias.errors import ConfigError
from recbias.metrics import measure, parse_metric
from recbias.protocol.targets import TargetRule, Targets
from recbias.ranking import Ties, rank
from recbias.testing import naive_measure

NONE = np.nan
CUTOFFS = (1, 2, 3, 6)
TEXTS = [
    *(f"{name}@{n}|ties" for name in ("P", "R", "HR", "RR", "nDCG", "nDCG(exp)") for n in CUTOFFS),
    *("RR|ties", "nDCG|ties", "nDCG(linear)|ties"),
]
GAINS = {
    "binary": lambda rating: float(rating >= 4),
    "exp": lambda rating: (2 ** (rating - 1) - 1) / 15,
    "linear": lambda rating: rating if rating >= 4 else 0.0,
}
METRICS = [parse_metric(text) for text in TEXTS]


def every_order(scores):
    """List the items with a score in each order in which equals may stand."""
    groups = [
        [item for item, score in scores.items() if score == level]
        for level in sorted(set(scores.values()), reverse=True)
    ]
    for orders in itertools.product(*(itertools.permutations(group) for group in groups)):
        yield [item for order in orders for item in order]


def naive_mean(scores, judged, metric):
    gain = GAINS[metric.gain.name] if metric.name == "nDCG" else None
    return np.mean(
        [
            float(
                naive_measure(
                    items, judged, metric.name, cutoff=metric.cutoff, min_rating=4, gain=gain
                )
            )
            for items in every_order(scores)
        ]
    )


@st.composite
def cases(draw):
    n_users, n_items = draw(st.integers(1, 2)), draw(st.integers(1, 6))

    def array(elements):
        size = n_users * n_items
        values = draw(st.lists(elements, min_size=size, max_size=size))
        return np.array(values).reshape(n_users, n_items)

    fate = array(st.sampled_from(["nothing", "train", "test", "test"]))
    stars = array(st.sampled_from([1.0, 3.0, 4.0, 5.0]))
    split = make_split(
        np.where(fate == "train", stars, NONE), np.where(fate == "test", stars, NONE)
    )
    return split, array(st.sampled_from([-1.0, -0.0, 0.0, 2.5, NONE])).astype(np.float32)


def shown(split, scores, candidates, user):
    """Scores of what may be listed for a user, and their test ratings."""
    train, judged, _ = naive_sets(split, candidates, user, 4)
    items = range(split.test.n_items) if candidates == "AI" else split.test_items.tolist()
    of_user = {item: float(scores[user, item]) for item in items if item not in train}
    return {item: score for item, score in of_user.items() if not np.isnan(score)}, judged


@settings(max_examples=60)
@given(cases(), st.sampled_from(["AI", "TI"]), st.booleans())
def test_the_mean_over_all_orders_of_equals(case, candidates, condensed):
    split, scores = case
    rules = [Targets(TargetRule.parse(f"{candidates}-AN-AR"))]
    rules.append(Targets(TargetRule.parse(f"{candidates}-AN-1R"), 4))
    of_users, of_runs = rank(FixedScores(scores), split, rules, seed=1, ties=True)
    options = {"min_rating": 4, "rating_max": 5, "condensed": condensed}
    by_user, by_run = (measure(table, METRICS, **options) for table in (of_users, of_runs))
    for user in range(split.test.n_users):
        listed, judged = shown(split, scores, candidates, user)
        if condensed:
            listed = {item: score for item, score in listed.items() if item in judged}
        plain = [naive_mean(listed, judged, metric) for metric in METRICS]
        np.testing.assert_allclose(by_user[:, user], plain, rtol=0, atol=1e-12)
        liked = {item for item, rating in judged.items() if rating >= 4}
        for run in np.flatnonzero(of_runs.user == user):
            item = int(of_runs.item[run])
            alone = {i: score for i, score in listed.items() if i not in liked - {item}}
            binary = [m for m in METRICS if m.name != "nDCG" or m.gain.name == "binary"]
            plain = [naive_mean(alone, {item: 5.0}, metric) for metric in binary]
            rows = [METRICS.index(metric) for metric in binary]
            np.testing.assert_allclose(by_run[rows, run], plain, rtol=0, atol=1e-12)


def test_a_group_that_is_counted_wrong_is_seen():
    """The twin of the mean over all orders."""
    split = make_split(np.full((1, 3), NONE), np.array([[5.0, 1.0, NONE]]))
    rule, scores = Targets(TargetRule.parse("AI-AN-AR")), np.ones((1, 3), np.float32)
    (table,) = rank(FixedScores(scores), split, [rule], seed=1, ties=True)
    listed, judged = shown(split, scores, "AI", 0)
    plain = [naive_mean(listed, judged, metric) for metric in METRICS]
    wrong = dataclasses.replace(table.ties, size=table.ties.size + 1)
    for ties, fits in ((table.ties, True), (wrong, False)):
        known = dataclasses.replace(table, ties=ties)
        values = measure(known, METRICS, min_rating=4, rating_max=5)[:, 0]
        assert np.allclose(values, plain, rtol=0, atol=1e-12) == fits


def test_many_seeds_have_the_expectation_as_their_mean():
    """Of 400 seeds, within five standard errors; the twin is the value of a single seed."""
    rng = np.random.default_rng(4)
    split = random_split(rng, n_users=40, n_items=30)
    scores = FixedScores(rng.integers(0, 4, (40, 30)).astype(np.float32))
    asked = [Targets(TargetRule.parse("TI-AN-AR"))]
    plain = [parse_metric(text) for text in ("P@5", "R@5", "HR@5", "RR", "nDCG@5")]
    tied = [parse_metric(f"{metric}|ties") for metric in plain]
    (table,) = rank(scores, split, asked, seed=1, ties=True)
    expected = np.nanmean(measure(table, tied, min_rating=4), axis=1)
    drawn = np.array(
        [
            np.nanmean(measure(rank(scores, split, asked, seed=s)[0], plain, min_rating=4), axis=1)
            for s in range(400)
        ]
    )
    error = drawn.std(axis=0, ddof=1) / 20
    assert (np.abs(drawn.mean(axis=0) - expected) < 5 * error).all()
    assert (np.abs(drawn[0] - expected) > 5 * error).any()


def test_without_equal_scores_there_is_one_order():
    rng = np.random.default_rng(6)
    split = random_split(rng, n_users=30, n_items=25)
    scores = FixedScores(rng.permuted(np.tile(np.arange(25.0), (30, 1)), axis=1))
    for text in ("AI-AN-AR", "TI-AN-1R"):
        (table,) = rank(scores, split, [Targets(TargetRule.parse(text), 4)], seed=1, ties=True)
        for condensed in (False, True):
            pair = [
                [parse_metric(text.replace("|ties", end)) for text in TEXTS]
                for end in ("", "|ties")
            ]
            once, mean = (
                measure(table, some, min_rating=4, rating_max=5, condensed=condensed)
                for some in pair
            )
            np.testing.assert_allclose(mean, once, rtol=0, atol=1e-12)


def test_a_table_that_does_not_know_ties_is_refused():
    table = user_table(([1, 2], {1: 5}))
    for text in ("P@1|ties", "RR|ties"):
        with pytest.raises(
            ConfigError, match=r"given \|ties: the table does not know which scores"
        ):
            measure(table, [parse_metric(text)], min_rating=4)
    one = np.ones(1, np.int32)
    known = dataclasses.replace(table, ties=Ties(one, 2 * one, one, one))
    assert measure(known, [parse_metric("P@1|ties")], min_rating=4).tolist() == [[0.5]]


def test_what_is_put_behind_a_list_ties_with_nothing():
    one = np.ones(2, np.int32)
    table = user_table(([1, 2], {1: 5, 7: 4}))
    table = dataclasses.replace(table, ties=Ties(*([np.array([1, 0], np.int32)] * 4)))
    longer = table.with_rest(table.rank == 0, best_first=True)
    assert longer.ties.first.tolist() == [1, 3]
    assert longer.ties.size.tolist() == one.tolist()
    assert longer.ties.condensed_first.tolist() == [1, 2]
