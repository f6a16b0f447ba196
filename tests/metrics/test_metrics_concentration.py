"""CI, LTI, M, Hoover, entropy, Lorenz curves and popularity lift: loops and worked values."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from recbias.data.ratings import Ratings
from recbias.errors import ConfigError, ContractError
from recbias.metrics import (
    ListView,
    declarations,
    influence,
    item_counts,
    list_view,
    measure_items,
    measure_resampled,
    parse_metric,
)
from recbias.metrics.concentration import entropy, gini, hoover, lorenz
from recbias.metrics.measuring import _one_by_one
from recbias.metrics.prior import (
    _lti_terms,
    concentration_index,
    concentration_index_long,
    jensen_shannon,
    long_tail_index,
    long_tail_index_long,
    popularity_percentiles,
)
from recbias.metrics.reinforcement import reinforcement

NEW = [
    parse_metric(text)
    for text in (
        "CI@3", "CI@3|JS", "LTI(0.2)@3", "LTI(0.7)@3|percentile", "M@3", "M(head=0.5)@3",
        "Hoover@3", "Entropy@3", "Diversity@3", "CI@1", "M@1", "Hoover@2",
    )
]  # fmt: skip


def rows(*counts):
    return np.array(counts, dtype=np.float64)


def popularity(least=2, most=12):
    """Priors and counts of so many items, zeros among them, neither all 0."""
    numbers = st.integers(0, 40) | st.just(0) | st.integers(0, 10**6)
    return st.integers(least, most).flatmap(
        lambda n: st.tuples(
            st.lists(numbers, min_size=n, max_size=n).filter(any),
            st.lists(numbers, min_size=n, max_size=n).filter(any),
        )
    )


# ---- worked values, formulas.md section 10


def test_worked_values_of_ci_and_lti():
    prior, counts = [6, 3, 1, 0], rows([4, 3, 2, 1], [10, 0, 0, 0], [60, 30, 10, 0])
    expected = {
        "CI": [0.08857784, 0.33299853, 0],
        "JS": [0.05322007, 0.16389659, 0],
        0.2: [0.07844121, -0.02786983],
        0.5: [0.13560171, -0.14992906, -0.28259803],
        0.8: [0.19276222, -0.27198830],
    }
    for name, values in expected.items():
        found = {
            "CI": lambda _: concentration_index(prior, counts),
            "JS": lambda _: jensen_shannon(prior, counts),
        }.get(name, lambda lam: long_tail_index(prior, counts, lam))(name)
        np.testing.assert_allclose(found[: len(values)], values, rtol=0, atol=1e-8)
    assert concentration_index(prior, counts)[2] == 0
    below = concentration_index([1, 3], rows([27, 73]))
    np.testing.assert_allclose(below, -0.00278713, rtol=0, atol=1e-8)


def test_other_smoothing_would_be_noticed():
    """With denominators that add one altogether, not per item, LTI differs where totals differ."""
    prior, counts = np.array([6.0, 3, 1, 0]), np.array([60.0, 30, 10, 0])
    wrong = [
        (0.5 - s / 10) * math.log((r + 1) / 101 / ((s + 1) / 11)) / 4
        for s, r in zip(prior, counts, strict=True)
    ]
    assert abs(sum(wrong) - -0.28259803) > 0.01


def test_worked_values_of_m_and_of_dispersion():
    assert reinforcement([9, 5, 4, 2, 1], rows([3, 10, 1, 1, 0]))[0] == pytest.approx(
        0.4, abs=1e-15
    )
    counts = rows([4, 3, 2, 1, 0])
    np.testing.assert_allclose(gini(counts) * 5 / 4, 0.5, rtol=1e-15)
    np.testing.assert_allclose(hoover(counts), 0.3, rtol=1e-15)
    np.testing.assert_allclose(lorenz(counts), [[0, 0, 0.1, 0.3, 0.6, 1]], rtol=1e-15)
    np.testing.assert_allclose(entropy(rows([5, 5, 0], [7, 0, 0])), [math.log(2), 0], atol=1e-15)


def test_percentiles_count_what_is_less_popular_and_half_of_equals():
    prior = [6, 3, 1, 0, 0]
    by_hand = [
        sum((other < one) + (other == one) / 2 for other in prior) / len(prior) for one in prior
    ]
    np.testing.assert_allclose(popularity_percentiles(prior), by_hand, rtol=1e-15)


@pytest.mark.parametrize(
    ("percentile", "rewarded"), [(False, [2, 3, 4]), (True, [4])], ids=["printed", "described"]
)
def test_the_printed_lambda_is_a_threshold_of_shares(percentile, rewarded):
    """Of the shares .60, .25, .10, .05 and 0 three are below .2; of the percentiles only .1 is."""
    terms = _lti_terms(np.array([60.0, 25, 10, 5, 0]), 0.2, percentile)
    total, base = rows([50]), np.full((1, 5), 10.0)
    gains = [
        (terms(base + np.eye(5)[[item]], total) - terms(base, total)).sum() for item in range(5)
    ]
    assert [item for item in range(5) if gains[item] > 0] == rewarded
    assert min(map(abs, gains)) > 1e-4


# ---- laws


@given(popularity(), st.sampled_from([0.05, 0.2, 0.5, 0.9]))
def test_long_and_short_forms_are_equal(case, lam):
    prior, counts = case[0], rows(case[1])
    short, long = concentration_index(prior, counts), concentration_index_long(prior, counts)
    np.testing.assert_allclose(short, long, rtol=0, atol=1e-12)
    for percentile in (False, True):
        short = long_tail_index(prior, counts, lam, percentile=percentile)
        long = long_tail_index_long(prior, counts, lam, percentile=percentile)
        np.testing.assert_allclose(short, long, rtol=0, atol=1e-12)


@given(popularity(), st.randoms(use_true_random=False))
def test_names_of_items_mean_nothing(case, random):
    prior, counts = np.array(case[0]), np.array(case[1], dtype=float)
    order = list(range(len(prior)))
    random.shuffle(order)
    for measure in (
        concentration_index,
        jensen_shannon,
        lambda s, r: long_tail_index(s, r, 0.3),
        lambda s, r: long_tail_index(s, r, 0.3, percentile=True),
        lambda _, r: gini(r),
        lambda _, r: hoover(r),
        lambda _, r: entropy(r),
        lambda _, r: lorenz(r)[0],
    ):
        np.testing.assert_allclose(
            measure(prior, counts[None]), measure(prior[order], counts[None, order]), atol=1e-12
        )
    if len(set(prior)) == len(prior):  # ties at the border go by the item's number
        again = reinforcement(prior[order], counts[None, order])
        np.testing.assert_allclose(reinforcement(prior, counts[None]), again, atol=1e-15)


@given(popularity())
def test_dispersion_ignores_who_was_popular_and_the_others_do_not(case):
    prior, counts = np.array(case[0]), np.sort(np.array(case[1], dtype=float))[::-1]
    prior = np.sort(prior)[::-1]
    turned = counts[::-1]
    for measure in (gini, hoover, entropy, lambda r: lorenz(r)[0]):
        np.testing.assert_allclose(measure(counts[None]), measure(turned[None]), atol=1e-12)
    # Counts in the order of the prior are nearest to it, those turned round furthest.
    assert concentration_index(prior, counts[None]) <= concentration_index(prior, turned[None])
    assume(counts[0] > counts[-1] and prior[0] > prior[-1])
    for percentile in (False, True):
        near, far = (
            long_tail_index(prior, each[None], 0.5, percentile=percentile)
            for each in (counts, turned)
        )
        assert near < far


@given(popularity(), st.integers(1, 1000))
def test_proportional_lists_change_nothing(case, factor):
    prior = np.array(case[0], dtype=float)
    counts = factor * prior[None]
    assert concentration_index(prior, counts)[0] == 0
    assert jensen_shannon(prior, counts)[0] == pytest.approx(0, abs=1e-15)
    assert reinforcement(prior, counts)[0] == 0
    assert long_tail_index(prior, prior[None], 0.3)[0] == pytest.approx(0, abs=1e-12)


@given(popularity(), st.integers(1, 5))
def test_items_that_nobody_knows_add_nothing_to_what_looks_at_shares(case, n_more):
    prior, counts = case[0], case[1]
    more, shown = prior + [0] * n_more, rows(counts + [0] * n_more)
    for measure in (concentration_index, jensen_shannon, lambda _, r: entropy(r)):
        np.testing.assert_allclose(measure(more, shown), measure(prior, rows(counts)), atol=1e-12)
    longer = lorenz(shown)[0]
    assert (longer[: n_more + 1] == 0).all()
    np.testing.assert_allclose(longer[n_more:], lorenz(rows(counts))[0], atol=1e-15)


@given(popularity())
def test_ranges(case):
    prior, counts = case[0], rows(case[1])
    n_items = len(prior)
    assert -1e-15 <= jensen_shannon(prior, counts)[0] <= math.log(2) + 1e-15
    assert -1e-15 <= entropy(counts)[0] <= math.log(n_items) + 1e-12
    assert -1e-15 <= hoover(counts)[0] <= 1 - 1 / n_items + 1e-12
    # Gini is never below Hoover's index, a triangle under the Lorenz curve's complement.
    assert hoover(counts)[0] <= gini(counts)[0] + 1e-12
    curve = lorenz(counts)[0]
    area = (curve[1:] + curve[:-1]).sum() / (2 * n_items)
    assert gini(counts)[0] == pytest.approx(1 - 2 * area, abs=1e-12)
    furthest = (np.linspace(0, 1, n_items + 1) - curve).max()
    assert hoover(counts)[0] == pytest.approx(furthest, abs=1e-12)
    head = math.ceil(Fraction(1, 5) * n_items)
    assert 0 <= reinforcement(prior, counts)[0] <= 2 * min(head, n_items - head) / n_items + 1e-15


@given(popularity(), st.lists(st.sampled_from([0.1, 0.2, 0.5, 0.75]), unique=True, max_size=3))
def test_m_is_the_share_that_changes_class(case, cuts):
    prior, counts = case
    n_items, cuts = len(prior), sorted(cuts)

    def classes(key):
        order = sorted(range(n_items), key=key)
        ends = [math.ceil(Fraction(str(cut)) * n_items) for cut in cuts] + [n_items]
        return {
            item: next(c for c, end in enumerate(ends) if place < end)
            for place, item in enumerate(order)
        }

    before = classes(lambda item: (-prior[item], item))
    after = classes(lambda item: (-counts[item], -prior[item], item))
    total = Fraction(1)
    for one in set(before.values()):
        own = [item for item in before if before[item] == one]
        pi = Fraction(len(own), n_items)
        total -= pi * Fraction(sum(after[item] == one for item in own), len(own))
    assert reinforcement(prior, rows(counts), cuts)[0] == pytest.approx(float(total), abs=1e-15)


def test_ties_at_the_border_go_by_prior_then_number():
    assert reinforcement([1, 5, 3, 3, 0], rows([2, 2, 2, 2, 2]))[0] == 0
    assert reinforcement([0, 3, 3, 1, 1], rows([0, 0, 2, 1, 1]))[0] == 0.4
    # A tie in the counts that went to the item of the smaller number would move two items.
    assert reinforcement([1, 5, 3, 3, 0], rows([2, 1, 1, 1, 1]))[0] == 0.4


# ---- lists


def plain(metric, lists, prior, weights):
    """Measure by loops over users and items, a formula per metric, as it is printed."""
    n_items = len(prior)
    counts = [0] * n_items
    for one, weight in zip(lists, weights, strict=True):
        for item in one[: metric.cutoff]:
            counts[item] += weight
    total, known = sum(counts), sum(prior)
    if metric.name == "Diversity":
        return sum(count > 0 for count in counts)
    if not total or (metric.name in ("CI", "LTI", "M") and not known):
        return math.nan
    value = 0.0
    for s, r in zip(prior, counts, strict=True):
        q = r / total
        if metric.name == "Hoover":
            value += abs(q - 1 / n_items) / 2
        elif metric.name == "Entropy":
            value -= q * math.log(q) if q else 0
        elif metric.name != "M":
            p = s / known
            log_ratio = math.log((r + 1) / (total + n_items)) - math.log(
                (s + 1) / (known + n_items)
            )
            if metric.name == "LTI":
                less = sum((each < s) + (each == s) / 2 for each in prior) / n_items
                place = less if metric.given else p
                value += metric.lam * (1 - place) * log_ratio / n_items
                value -= (1 - metric.lam) * place * log_ratio / n_items
            elif metric.given:
                middle = (p + q) / 2
                value += sum(x * math.log(x / middle) / 2 for x in (p, q) if x)
            else:
                value += (q - p) * log_ratio / 2
    if metric.name == "M":
        size = math.ceil(Fraction(str(metric.head)) * n_items)
        before = set(sorted(range(n_items), key=lambda i: (-prior[i], i))[:size])
        after = set(sorted(range(n_items), key=lambda i: (-counts[i], -prior[i], i))[:size])
        value = len(before ^ after) / n_items
    return value


@st.composite
def shown(draw):
    n_items = draw(st.integers(1, 7))
    prior = draw(st.lists(st.integers(0, 30), min_size=n_items, max_size=n_items))
    order = st.permutations(range(n_items))
    lists = draw(st.lists(st.tuples(order, st.integers(0, n_items)), min_size=1, max_size=6))
    lists = [list(items[:length]) for items, length in lists]
    weights = draw(st.lists(st.integers(0, 3), min_size=len(lists), max_size=len(lists)))
    return lists, prior, weights


def view_of(lists, prior):
    items = np.full((len(lists), len(prior)), -1, dtype=np.int32)
    for user, one in enumerate(lists):
        items[user, : len(one)] = one
    return ListView(items, len(prior), np.array(prior) + 1, np.array(prior, dtype=np.int64))


@given(shown())
def test_plain_loops_agree(case):
    lists, prior, weights = case
    found = measure_resampled(view_of(lists, prior), NEW, np.array([weights]))[:, 0]
    expected = [plain(metric, lists, prior, weights) for metric in NEW]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


@given(shown())
def test_values_without_each_user_are_those_of_the_other_lists(case):
    lists, prior, _ = case
    view = view_of(lists, prior)
    for metric in NEW:
        fast = metric.declaration.without_each(view, [metric])
        np.testing.assert_allclose(fast, _one_by_one(view, metric), rtol=0, atol=1e-12)


def test_influence_on_many_lists_of_different_lengths():
    """Heads are larger than lists here, and one list holds more than the head."""
    rng = np.random.default_rng(7)
    items = np.array([rng.permutation(40)[:9] for _ in range(60)], dtype=np.int32)
    for user, length in enumerate(rng.integers(0, 10, 60)):
        items[user, length:] = -1
    view = ListView(items, 40, np.arange(40), rng.integers(0, 9, 40))
    metrics = [
        parse_metric(text)
        for text in ("CI@9", "LTI(0.2)@9", "M@9", "M(head=0.05)@9", "Entropy@4", "Hoover@9")
    ]
    found = influence(view, metrics)
    everybody = measure_resampled(view, metrics, np.ones((1, 60), int))[:, 0]
    for user in range(60):
        weights = np.ones((1, 60), int)
        weights[0, user] = 0
        moved = 59 * (everybody - measure_resampled(view, metrics, weights)[:, 0])
        shift = moved - found[:, user]
        if user == 0:
            expected = shift  # the mean of what all users move
        np.testing.assert_allclose(shift, expected, rtol=0, atol=1e-10)
    assert (found[2] != 0).any()


def test_a_whole_head_may_leave_with_one_list():
    view = view_of([[0, 1, 2, 3], [0, 1, 2, 3], [4, 5, 6, 7], [4, 5, 6, 7]], range(8, 0, -1))
    metric = parse_metric("M(head=0.5)@4")
    assert metric.declaration.without_each(view, [metric]).tolist() == [[1, 1, 0, 0]]


def test_the_prior_stays_when_users_are_resampled():
    """Twice every user: the counts double, the prior does not, and smoothing tells."""
    view = view_of([[0, 1], [0, 2]], [6, 3, 1, 0])
    once, twice = measure_resampled(view, [parse_metric("CI@2")], np.array([[1, 1], [2, 2]]))[0]
    assert once == pytest.approx(concentration_index([6, 3, 1, 0], rows([2, 1, 1, 0]))[0])
    assert twice == pytest.approx(concentration_index([6, 3, 1, 0], rows([4, 2, 2, 0]))[0])
    assert once != twice


def test_what_has_no_value():
    metrics = [metric for metric in NEW if metric.name != "Diversity"]
    once = np.ones((1, 1), int)
    empty = ListView(np.full((1, 3), -1, np.int32), 4, np.ones(4), np.array([1, 1, 0, 0]))
    assert np.isnan(measure_resampled(empty, metrics, once)).all()
    unliked = ListView(np.array([[0, 1, 2]], np.int32), 4, np.ones(4), np.zeros(4, int))
    found = measure_resampled(unliked, metrics, once)[:, 0]
    needs_prior = [metric.name in ("CI", "LTI", "M") for metric in metrics]
    assert np.isnan(found).tolist() == needs_prior
    assert np.isnan(lorenz(rows([0, 0]))).all()
    assert measure_resampled(empty, [parse_metric("Diversity@3")], once).tolist() == [[0]]


def test_a_missing_or_wrong_prior_is_refused():
    lists, counts = np.array([[0, 1]], np.int32), np.array([2, 1])
    view = ListView(lists, 2, counts)
    for text in ("CI@2", "CI@2|JS", "LTI(0.5)@2", "LTI(0.5)@2|percentile", "M@2"):
        with pytest.raises(ConfigError, match="give the lists a prior, the relevant training"):
            measure_resampled(view, [parse_metric(text)], np.ones((1, 1), int))
        with pytest.raises(ConfigError, match="give the lists a prior"):
            influence(ListView(lists, 2, counts), [parse_metric(text)])
    with pytest.raises(ConfigError, match=r"PL@2: give the lists the own popularity"):
        measure_items(view, [parse_metric("PL@2")])
    for prior in (np.array([1, 1, 1]), np.array([1, -1])):
        with pytest.raises(ContractError, match=r"priors have shape .*, expected \(2,\)"):
            ListView(lists, 2, counts, prior)
    with pytest.raises(ContractError, match=r"own popularity has shape \(2,\), expected \(1,\)"):
        ListView(lists, 2, counts, counts, np.ones(2))


@pytest.mark.parametrize("lam", ["0", "1", "1.5", "-0.1", "nan", "many"])
def test_a_lambda_is_between_0_and_1(lam):
    with pytest.raises(ConfigError, match="expected lambda, above 0 and below 1"):
        parse_metric(f"LTI({lam})@10")
    with pytest.raises(ConfigError, match="expected share of the items that is head"):
        parse_metric(f"M(head={lam})@10")


def test_what_lists_know_of_training_is_counted():
    frame = pd.DataFrame(
        {
            "user_id": ["a", "a", "a", "b", "b", "c"],
            "item_id": ["x", "y", "z", "x", "y", "x"],
            "rating": [5.0, 4.0, 1.0, 3.5, 4.0, 5.0],
        }
    )
    train = Ratings.from_frame(frame)
    lists = np.array([[2, 1], [2, -1], [-1, -1]], np.int32)
    view = list_view(lists, train, min_rating=4)
    assert view.train_counts.tolist() == [3, 2, 1]
    assert view.prior.tolist() == [2, 2, 0]
    assert view.own_popularity.tolist() == [2, 2.5, 3]
    fewer = list_view(lists, train.take(train.user != 2), min_rating=4)
    np.testing.assert_array_equal(fewer.own_popularity, [5 / 3, 2, np.nan])
    # Lists of 1.5 and 1 on average, profiles of 2.5.
    found = measure_items(view, [parse_metric("PL@2")])[0]
    np.testing.assert_allclose(found, [-0.4, -0.6, np.nan], rtol=1e-15)
    assert item_counts(view, 2).tolist() == [[0, 1, 2]]


def test_a_head_of_a_whole_number_of_items_has_no_more():
    """As floats .07 * 100 is a little more than 7."""
    prior = np.arange(100.0, 0.0, -1.0)
    counts = prior.copy()
    counts[[6, 7]] = counts[[7, 6]]  # the seventh and the eighth change places
    assert reinforcement(prior, counts[None], (0.07,)).tolist() == [0.02]
    assert reinforcement(prior, counts[None], (0.08,)).tolist() == [0.0]


def test_who_rated_nothing_in_training_has_no_part_in_what_is_usual():
    lists, counts = np.array([[2, 0], [1, -1], [0, 1]], np.int32), np.array([5, 1, 10])
    own_popularity = np.array([6.0, np.nan, 4.0])
    lift = [parse_metric("PL@2")]
    view = ListView(lists, 3, counts, own_popularity=own_popularity)
    assert measure_items(view, lift)[0].tolist() == [7.5 / 5 - 1, 1 / 5 - 1, 3 / 5 - 1]
    nobody = ListView(lists, 3, counts, own_popularity=np.full(3, np.nan))
    assert np.isnan(measure_items(nobody, lift)).all()


def test_every_metric_of_the_system_is_fast_or_small():
    """Without a way of its own, 6,000 users would be left out one by one."""
    assert [d.form for d in declarations() if d.kind == "system" and d.without_each is None] == []
