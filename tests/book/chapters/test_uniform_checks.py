"""Checks of uniform tests accept sound input and reject broken twins; expectations are met."""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from recbias.book.chapters.overcoming_popularity_bias import (
    setup,
    uniform_tests,
)
from recbias.book.chapters.overcoming_popularity_bias.uniform_rankings import uniform_predicted
from recbias.claims.records import Record, criteria_of
from recbias.data.datasets import Dataset, dataset_info, load_dataset
from recbias.data.ratings import Ratings
from recbias.data.simulation import make_world
from recbias.errors import DataError
from recbias.experiment.makers import find_maker
from recbias.experiment.worlds import Seen
from recbias.protocol.splits import Split, uniform, uniform_plan
from recbias.protocol.testset import dataset_splits
from recbias.theory import positive_ratios, uniform_bounds, uniform_rates

SHARES = {"test_share": 0.2, "kept_share": 0.2}
LIKED = 4.0
WORLD = make_world(seed=3, n_users=200, n_items=120, n_ratings=2400)


def draw(seed: int, ratings: Ratings = WORLD.ratings) -> Split:
    return uniform(ratings, 0.2, rng=np.random.default_rng(seed))


@pytest.fixture(scope="module")
def sound() -> SimpleNamespace:
    return SimpleNamespace(
        split=draw(1), again=draw(2), counts=WORLD.ratings.item_counts(), given=SHARES, seed=1
    )


def with_test(split: Split, moved: np.ndarray) -> Split:
    """The split with other rows of all ratings in the test."""
    test = WORLD.ratings.take(moved)
    return dataclasses.replace(
        split, train=WORLD.ratings.take(~moved), test=test, test_items=np.unique(test.item)
    )


def rows_in_test(split: Split) -> np.ndarray:
    return np.isin(WORLD.ratings._pair_keys(), split.test._pair_keys())


def quotas(inputs, split=None, again=None, **shares):
    """D-UAR."""
    split, given = split or inputs.split, {**inputs.given, **shares}
    return [
        *uniform_tests.check_quotas(split, again or inputs.again, **given),
        *shares_of(inputs, split, given["test_share"], claim="BCC17-D-UAR"),
    ]


def shares_of(inputs, split, test_share=0.2, *, claim):
    found = uniform_tests.check_shares(split, test_share=test_share, min_rating=LIKED)
    return [check for check in found if check.claim == claim]


def published(inputs, counts=None):
    """V-ZETA."""
    return uniform_tests.check_published(inputs.counts if counts is None else counts)


def feasible(inputs, counts=None):
    """C-UARFEAS."""
    counts, kept_share = inputs.counts if counts is None else counts, inputs.given["kept_share"]
    return [
        *uniform_tests.check_feasible(counts, **inputs.given),
        *uniform_tests.check_largest_share(counts, kept_share),
    ]


def positives(inputs, split=None):
    """EQ-UAR."""
    split = split or inputs.split
    return [
        *uniform_tests.check_drawn_positives(split, min_rating=LIKED, seed=inputs.seed),
        *shares_of(inputs, split, claim="BCC17-EQ-UAR"),
    ]


def candidates(inputs, split=None):
    """C-U1RTI."""
    split = split or inputs.split
    return [
        *uniform_tests.check_candidates(split, **inputs.given),
        *uniform_tests.check_places(split, **inputs.given),
    ]


CHECKS = {
    "BCC17-D-UAR": quotas,
    "BCC17-V-ZETA": published,
    "BCC17-C-UARFEAS": feasible,
    "BCC17-EQ-UAR": positives,
    "BCC17-C-U1RTI": candidates,
}


def said(record: Record, worst: float) -> bool:
    return record.region.verdict(worst, worst) == "holds"


def verdicts(rows) -> dict[str, bool]:
    """By name, whether a check lies in the region of its criterion."""
    found = {(row.claim, row.name): row for row in rows}
    criteria = criteria_of("overcoming popularity bias")
    return {
        record.check: said(record, found[claim, record.check].worst)
        for claim in {row.claim for row in rows}
        for record in criteria[claim].records
        if record.check and record.decides
    }


# ---------------------------------------------------------------------------- twins


def one_more(inputs) -> Split:
    """A tested item gives one rating more."""
    rows = rows_in_test(inputs.split)
    rows[np.flatnonzero(~rows & np.isin(WORLD.ratings.item, inputs.split.test_items))[0]] = True
    return with_test(inputs.split, rows)


def half_quota(inputs) -> Split:
    """Every tested item gives half of its quota."""
    rows, seen = rows_in_test(inputs.split), np.zeros(WORLD.ratings.n_items, dtype=int)
    n_each = uniform_plan(inputs.counts, 0.2).n_each
    for row in np.flatnonzero(rows):
        seen[WORLD.ratings.item[row]] += 1
        rows[row] = seen[WORLD.ratings.item[row]] <= n_each // 2
    return with_test(inputs.split, rows)


def fewer_items(inputs) -> Split:
    """The more popular half of T is tested alone."""
    tested = inputs.split.test_items
    kept = tested[np.argsort(-inputs.counts[tested], kind="stable")][: len(tested) // 2]
    return with_test(inputs.split, rows_in_test(inputs.split) & np.isin(WORLD.ratings.item, kept))


def without_training(inputs) -> Split:
    """The last item of T keeps nothing for training."""
    tested = inputs.split.test_items
    last = tested[np.argmin(inputs.counts[tested])]
    return with_test(inputs.split, rows_in_test(inputs.split) | (WORLD.ratings.item == last))


def stray_item(inputs) -> Split:
    """An item outside T is tested."""
    outside = np.setdiff1d(np.flatnonzero(inputs.counts), inputs.split.test_items)
    rows = rows_in_test(inputs.split)
    rows[np.flatnonzero(WORLD.ratings.item == outside[0])[0]] = True
    return with_test(inputs.split, rows)


def proportional(inputs) -> Split:
    """A fifth of each item's ratings is tested: a random split."""
    return with_test(inputs.split, np.random.default_rng(5).random(len(WORLD.ratings)) < 0.2)


def likes_first(inputs) -> Split:
    """Items give their highest ratings."""
    ratings, n_each = WORLD.ratings, uniform_plan(inputs.counts, 0.2).n_each
    rows = np.zeros(len(ratings), dtype=bool)
    for item in inputs.split.test_items:
        own = np.flatnonzero(ratings.item == item)
        rows[own[np.argsort(-ratings.value[own], kind="stable")][:n_each]] = True
    return with_test(inputs.split, rows)


def likes_of_popular(inputs, sign: int = 1) -> Split:
    """The more popular half of T gives its highest ratings, the other its lowest, or reversed."""
    ratings, n_each = WORLD.ratings, uniform_plan(inputs.counts, 0.2).n_each
    middle = np.median(inputs.counts[inputs.split.test_items])
    rows = np.zeros(len(ratings), dtype=bool)
    for item in inputs.split.test_items:
        own = np.flatnonzero(ratings.item == item)
        lowest = sign if inputs.counts[item] <= middle else -sign
        rows[own[np.argsort(lowest * ratings.value[own], kind="stable")][:n_each]] = True
    return with_test(inputs.split, rows)


EQUAL = np.full(50, 20)


@pytest.mark.parametrize("claim", CHECKS)
def test_what_is_so_by_construction_holds(claim: str, sound: SimpleNamespace) -> None:
    """Of a small world; what only data can tell is left out."""
    of_data = {"at-or-below", "customary", "pool", "equally-popular", "too-many"}
    of_data |= {"items", "disjoint"} | ({"quota", "spared"} if claim == "BCC17-V-ZETA" else set())
    found = verdicts(CHECKS[claim](sound))
    assert {name for name, holds in found.items() if not holds} <= of_data
    assert len(found) >= 3


@pytest.mark.parametrize(
    ("claim", "name", "broken"),
    [
        ("BCC17-D-UAR", "quota", lambda i: quotas(i, one_more(i))),
        ("BCC17-D-UAR", "quota", lambda i: quotas(i, stray_item(i))),
        ("BCC17-D-UAR", "off-share", lambda i: quotas(i, half_quota(i))),
        ("BCC17-D-UAR", "off-share", lambda i: quotas(i, test_share=0.1)),
        ("BCC17-D-UAR", "spared", lambda i: quotas(i, without_training(i))),
        ("BCC17-D-UAR", "spared", lambda i: quotas(i, kept_share=0.5)),
        ("BCC17-D-UAR", "prefix", lambda i: quotas(i, fewer_items(i))),
        ("BCC17-D-UAR", "prefix", lambda i: quotas(i, half_quota(i))),
        ("BCC17-D-UAR", "prefix", lambda i: quotas(i, stray_item(i))),
        ("BCC17-D-UAR", "larger", lambda i: quotas(i, fewer_items(i))),
        ("BCC17-D-UAR", "per-training", lambda i: quotas(i, proportional(i))),
        ("BCC17-D-UAR", "exact", lambda i: quotas(i, again=proportional(i))),
        ("BCC17-V-ZETA", "disjoint", lambda i: published(i, EQUAL)),
        ("BCC17-V-ZETA", "items", lambda i: published(i, np.full(1704, 147))),
        ("BCC17-V-ZETA", "spared", lambda i: published(i, np.full(1703, 150))),
        ("BCC17-V-ZETA", "too-many", lambda i: published(i, np.full(1703, 147))),
        ("BCC17-V-ZETA", "quota", lambda i: published(i, np.full(1703, 149))),
        ("BCC17-C-UARFEAS", "covered", lambda i: feasible(i, EQUAL)),
        ("BCC17-C-UARFEAS", "attainable", lambda i: feasible(i, EQUAL)),
        ("BCC17-C-UARFEAS", "gini", lambda i: feasible(i, EQUAL)),
        ("BCC17-C-UARFEAS", "pool", lambda i: feasible(i, EQUAL)),
        ("BCC17-EQ-UAR", "per-positive", lambda i: positives(i, proportional(i))),
        ("BCC17-EQ-UAR", "drawn", lambda i: positives(i, likes_first(i))),
        ("BCC17-EQ-UAR", "given-ratio", lambda i: positives(i, likes_of_popular(i))),
        ("BCC17-EQ-UAR", "given-ratio", lambda i: positives(i, likes_of_popular(i, -1))),
        ("BCC17-C-U1RTI", "candidates", lambda i: candidates(i, proportional(i))),
        ("BCC17-C-U1RTI", "candidates", lambda i: candidates(i, fewer_items(i))),
        ("BCC17-C-U1RTI", "of-all-ratings", lambda i: candidates(i, stray_item(i))),
    ],
)
def test_a_broken_twin_is_refused(claim, name, broken, sound: SimpleNamespace) -> None:
    assert not verdicts(broken(sound))[name]


def test_standard_errors_are_those_of_hypergeometric_draws(sound: SimpleNamespace) -> None:
    """Of what a line in the ratio leaves of an item's ratings; twin: errors of binomial draws."""
    split, tested = sound.split, sound.split.test_items
    likes, drawn = ([int((side.value[side.item == i] >= LIKED).sum()) for i in tested]
                    for side in (WORLD.ratings, split.test))  # fmt: skip
    n_all, n_each = sound.counts[tested], uniform_plan(sound.counts, 0.2).n_each
    ratio = np.array(likes) / n_all
    rest = n_all - np.polyval(np.polyfit(ratio, n_all, 1), ratio)
    (found,) = (row.worst for row in positives(sound) if row.name == "given-ratio")
    for law, right in (
        (scipy.stats.hypergeom(n_all, likes, n_each), True),
        (scipy.stats.binom(n_each, ratio), False),
    ):
        error = np.sqrt(rest**2 @ law.var())
        expected = abs(rest @ (drawn - law.mean())) / error
        assert (found == pytest.approx(expected, rel=1e-9)) == right


def test_numbers_of_movielens_1m_hold() -> None:
    """1,703 items, the last with 147 ratings: all holds that can; 117.6 < 118 (E09)."""
    found = verdicts(uniform_tests.check_published(np.full(1703, 147)))
    assert found == {
        "items": True, "spared": True, "too-many": False, "quota": True, "disjoint": False,
    }  # fmt: skip
    assert verdicts(uniform_tests.check_published(np.full(1703, 148)))["too-many"]


def test_of_what_is_not_feasible_nothing_is_published() -> None:
    assert uniform_tests.check_published(np.array([9] + [1] * 50)) == []


@pytest.mark.parametrize("off", [1 - 1e-9, 1 + 1e-9])
def test_another_largest_share_of_equally_popular_items_is_noticed(off, sound, monkeypatch) -> None:
    right = uniform_tests.largest_test_share
    assert verdicts(feasible(sound))["equally-popular-spared"]
    monkeypatch.setattr(
        uniform_tests, "largest_test_share", lambda *given: right(*given) * Fraction(off)
    )
    assert not verdicts(feasible(sound))["equally-popular-spared"]


def test_a_wrong_largest_share_is_noticed(sound, monkeypatch) -> None:
    right = uniform_plan(sound.counts, 0.2).largest_share
    assert uniform_tests._wrong_at_the_end(sound.counts, right, 0.2) == 0
    for wrong in (right * Fraction(99, 100), right * Fraction(101, 100)):
        assert uniform_tests._wrong_at_the_end(sound.counts, wrong, 0.2) == 2

    def never(*_: object) -> None:
        raise DataError("none")

    monkeypatch.setattr(uniform_tests, "uniform_plan", never)
    assert uniform_tests._wrong_at_the_end(sound.counts, right, 0.2) == 1


def test_a_share_near_one_and_a_customary_one_are_told() -> None:
    """Nearly all ratings can be tested where items spare nearly all of theirs."""
    (near,) = (
        row
        for row in uniform_tests.check_largest_share(np.full(60, 1000), 0.001)
        if row.name == "near-one"
    )
    assert near.worst == 1
    found = {
        row.name: row.worst
        for row in uniform_tests.check_feasible(
            np.array([100] + [1] * 500), test_share=0.01, kept_share=0.2
        )
    }
    assert found["customary"] == pytest.approx(80 / 600)
    assert found["pool"] == 0


def test_popularity_puts_others_first_where_training_is_all_that_counts() -> None:
    """Both items of T keep one rating each; of the two others one has two, and one has one."""
    rows = [(user, item) for item, n in enumerate([5, 5, 2, 1]) for user in range(n)]
    frame = pd.DataFrame(rows, columns=["user_id", "item_id"]).assign(rating=5)
    ratings = Ratings.from_frame(frame)
    split = uniform(ratings, 0.5, rng=np.random.default_rng(1))
    found = {
        row.name: row.worst
        for check in (uniform_tests.check_candidates, uniform_tests.check_places)
        for row in check(split, test_share=0.5, kept_share=0.2)
    }
    assert found["at-or-below"] == 1.0  # one training rating each, and outside there is one with 2
    assert found["pairs"] == 1.0
    assert found["of-all-ratings"] == 0
    kept = uniform(ratings, 0.3, 0.4, rng=np.random.default_rng(1))
    given = {"test_share": 0.3, "kept_share": 0.4}
    assert len(kept.test_items) == 2
    found = {row.name: row.worst for row in uniform_tests.check_places(kept, **given)}
    # Two training ratings each, as many as one of those outside, which may come first.
    assert (found["at-or-below"], found["pairs"]) == (1.0, 0.5)


# ---------------------------------------------------------------------------- expectations


def test_items_are_liked_in_the_test_as_their_ratio_says() -> None:
    """Over 400 draws, within 5 standard errors: a false alarm in 1 of 10,000 runs or fewer."""
    first, draws = draw(0), [draw(seed) for seed in range(400)]
    rates = uniform_rates(first, "odds", min_rating=LIKED)
    tested = first.test_items
    lacking = first.test.n_users - first.train.item_counts()[tested]
    liked = np.array([uniform_tests._liked(each.test, LIKED)[tested] for each in draws])
    error = liked.std(axis=0) / np.sqrt(len(draws)) + 1e-9
    assert (np.abs(liked.mean(axis=0) - rates[tested] * lacking) < 5 * error).all()


def test_positives_of_a_uniform_test_are_not_a_fixed_share_of_all() -> None:
    """The factor |R| / |PR| of the printed bounds takes them for one (E06)."""
    popular = np.argsort(-WORLD.ratings.item_counts(), kind="stable")[:10]
    stars = np.where(np.isin(WORLD.ratings.item, popular), 5, 1)
    frame = {"user_id": WORLD.ratings.user, "item_id": WORLD.ratings.item, "rating": stars}
    ratings = Ratings.from_frame(pd.DataFrame(frame))
    split = draw(1, ratings)
    n_each = uniform_plan(ratings.item_counts(), 0.2).n_each
    n_liked = int((split.test.value >= LIKED).sum())
    assert n_liked == 10 * n_each == split.test.item_counts() @ positive_ratios(split, min_rating=5)
    assert n_liked < 0.8 * 0.2 * int((stars == 5).sum())
    sizes = np.full(split.test.n_users, 50)
    bounds = uniform_bounds(split, 1.0, 2.0, sizes, 10, min_rating=LIKED)
    share = len(split.test) / len(ratings)
    mended = share * int((stars == 5).sum()) / n_liked
    assert bounds.lower / bounds.printed_lower == pytest.approx(mended)
    assert bounds.upper == pytest.approx(2 * bounds.lower)
    printed = len(ratings) / (10 * int((stars == 5).sum())) / 50
    assert bounds.printed_lower == pytest.approx(printed)


def test_expectations_are_means_over_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = Dataset(WORLD.ratings, dataset_info("synthetic"), "made here", truth=WORLD)
    rule = "uniform 0.2 draws=3"

    def predicted() -> pd.Series:
        index, frame = uniform_predicted.function(
            dataset, min_rating=LIKED, split=rule, cutoff=3, size=20, seed=1
        )
        return frame.set_index(list(index))["value"]

    found, alone = predicted(), []
    for fold in dataset_splits(dataset, rule, seed=1):
        monkeypatch.setattr(Seen, "folds", lambda *_, fold=fold: [fold])
        alone.append(predicted())
    assert len(alone) == 3
    expected = pd.concat(alone, axis=1).mean(axis=1)
    pd.testing.assert_series_equal(found, expected, check_names=False)
    assert (alone[0] != found).any()  # the twin: one draw has other numbers


def test_expectations_are_those_of_plain_loops() -> None:
    dataset = Dataset(WORLD.ratings, dataset_info("synthetic"), "made here", truth=WORLD)
    given = {"min_rating": LIKED, "split": "uniform 0.2", "cutoff": 3, "size": 20, "seed": 1}
    index, frame = uniform_predicted.function(dataset, **given)
    found = frame.set_index(list(index))["value"]
    split = dataset_splits(dataset, "uniform 0.2", seed=1)[0]
    train = [set(split.train.item[split.train.user == u]) for u in range(split.train.n_users)]
    inside = set(split.test_items.tolist())
    sizes = [len(inside - own) for own in train]
    assert found["1/t", "UAR", "data"] == pytest.approx(np.mean([1 / size for size in sizes]))
    assert found["one over size", "UAR", "data"] == 1 / len(inside)
    assert found["one over size", "AI-UAR", "data"] == 1 / WORLD.ratings.n_items
    ratios = positive_ratios(split, min_rating=LIKED)
    scale = len(split.test) * np.mean([1 / size for size in sizes]) / split.test.n_users
    by_chance = [np.mean([ratios[item] for item in inside - own]) for own in train]
    assert found["printed", "AR", "Random"] == pytest.approx(scale * np.mean(by_chance))
    popularity = split.train.item_counts()
    listed = found["printed", "AR", "Popularity"] / scale

    def of_ties(choose, own):  # each place holds one of the items with its count
        targets = inside - own
        top = sorted(popularity[list(targets)])[-3:]
        return np.mean([choose(ratios[i] for i in targets if popularity[i] == n) for n in top])

    low, high = (np.mean([of_ties(choose, own) for own in train]) for choose in (min, max))
    assert low - 1e-12 <= listed <= high + 1e-12
    for name in ("Random", "Popularity"):
        bounds = [found[bound, "all-1R", name] for bound in ("printed lower", "printed upper")]
        mended = [found[bound, "all-1R", name] for bound in ("lower", "upper")]
        assert 0 < bounds[0] < bounds[1]
        assert mended[0] / bounds[0] == pytest.approx(mended[1] / bounds[1])
    n_liked = int((WORLD.ratings.value >= LIKED).sum())
    share = len(split.test) / len(WORLD.ratings) * n_liked
    assert mended[0] / bounds[0] == pytest.approx(share / (split.test.item_counts() @ ratios))


# ---------------------------------------------------------------------------- what the page shows


def test_what_data_allow_stands_side_by_side() -> None:
    table = find_maker(f"{setup.CHAPTER}/uniform_plans")("synthetic")
    counts = table.frame.set_index(["share", "what"])["value"]
    plan = uniform_plan(load_dataset("synthetic").ratings.item_counts(), 0.2)
    assert counts[0.2, "items"] == len(plan.items)
    assert counts[0.2, "ratings each"] == plan.n_each
    assert counts[0.2, "least count"] == plan.least_count
    n_ratings = len(load_dataset("synthetic").ratings)
    assert counts[0.2, "share tested"] == len(plan.items) * plan.n_each / n_ratings
    text = uniform_tests.uniform_table({"A world": table})
    assert f"| A world | 0.27 | {len(plan.items)} (32%) | {plan.n_each} |" in text
    none = dataclasses.replace(table, frame=table.frame[table.frame["share"] != 0.2])
    assert "\N{EN DASH}" in uniform_tests.uniform_table({"A world": none})
