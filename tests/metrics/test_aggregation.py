"""Aggregation: named populations worked out by hand, weights and statistics by plain loops."""

import dataclasses
import math
from pathlib import Path
from statistics import geometric_mean, median

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rank_tables import run_table, user_table
from recbias.errors import ConfigError, ContractError
from recbias.metrics import measure, parse_metric
from recbias.metrics.aggregation import (
    POPULATIONS,
    Averaging,
    aggregate,
    contributions,
    finish,
    replicates,
    units,
    user_sums,
)
from recbias.ranking import RankTable
from recbias.stats.resampling import bootstrap_weights, weighted_medians, weighted_sums


def average(table, *names, population, min_rating=4):
    metrics = [parse_metric(name) for name in names]
    values = measure(table, metrics, min_rating=min_rating)
    return aggregate(table, values, min_rating=min_rating, population=population).tolist()


USERS = user_table(
    ([1, 2], {1: 5, 9: 5}),  # P@2 .5, R@2 .5
    ([3, 4], {3: 4}),  # P@2 .5, R@2 1
    ([5, 6], {6: 2}),  # nothing relevant: antiP@2 .5
    ([7], {}),  # nothing in test
)


@pytest.mark.parametrize(
    ("population", "expected"),
    [
        ("all", [1 / 4, 1.5 / 4, 0.5 / 4]),
        ("tested", [1 / 3, 1.5 / 3, 0.5 / 3]),
        ("relevant", [1 / 2, 1.5 / 2, 0]),
    ],
)
def test_the_population_decides_the_mean(population, expected):
    """Undefined recall counts as 0 or its user is left out; NaN never drops a user silently."""
    found = average(USERS, "P@2", "R@2", "antiP@2", population=population)
    assert found == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize(("population", "size"), [("all", 4), ("tested", 3), ("relevant", 2)])
def test_the_denominator_is_the_size_of_the_population(population, size):
    values = measure(USERS, [parse_metric("RR")], min_rating=4)
    _, denominator = user_sums(USERS, values, min_rating=4, population=population)
    assert denominator.sum() == size


def test_the_threshold_decides_who_has_a_relevant_item():
    assert average(USERS, "P@2", population="relevant", min_rating=5) == [0.5]
    assert average(USERS, "P@2", population="relevant", min_rating=2) == [0.5]
    assert average(USERS, "P@2", population="all", min_rating=2) == [1.5 / 4]


def test_full_value_is_coverage_times_reduced_value():
    """formulas.md section 6, E19: 3 of 4 users with .4, .2, .6: reduced .4, full .3."""
    table = user_table(*[([1], {1: 5})] * 3, ([1], {}))
    values = np.array([[0.4, 0.2, 0.6, np.nan]])
    assert aggregate(table, values, min_rating=4, population="tested") == pytest.approx(0.4)
    assert aggregate(table, values, min_rating=4, population="all") == pytest.approx(0.3)


# ---- runs ----

RUNS = run_table(4, (0, 1, 5), (0, 7, 5), (0, 2, 4), (2, 3, 5))


def test_runs_are_a_micro_average():
    """BCC17 Eq. 1: two of user 0's three runs and none of user 2's one hit at 2."""
    assert average(RUNS, "P@2", population="runs") == [2 / 4 / 2]
    assert average(RUNS, "P@2", population="relevant") == pytest.approx([(2 / 3 + 0) / 2 / 2])
    assert average(RUNS, "P@2", population="all") == pytest.approx([(2 / 3 + 0) / 4 / 2])


def test_micro_average_over_popularity_groups():
    """formulas.md section 1.5: 8 of 10 runs and 1 of 2 hit at 10: micro .075."""
    ranks = [1] * 8 + [11] * 2 + [10, 11]
    table = run_table(12, *[(user, rank, 5) for user, rank in enumerate(ranks)])
    assert average(table, "P@10", population="runs") == [pytest.approx(0.075, abs=1e-15)]


def test_runs_keep_the_number_of_runs_of_each_user():
    values = measure(RUNS, [parse_metric("R@2"), parse_metric("RR")], min_rating=4)
    numerator, denominator = user_sums(RUNS, values, min_rating=4, population="runs")
    assert denominator.tolist() == [3, 0, 1, 0]
    expected = [[2, 0, 0, 0], [1 + 1 / 7 + 1 / 2, 0, 1 / 3, 0]]
    np.testing.assert_allclose(numerator, expected, rtol=1e-15)


@pytest.mark.parametrize("population", ["all", "relevant", "runs"])
def test_no_runs_at_all(population):
    metrics = [parse_metric("P@2")]
    table = run_table(3)
    values = measure(table, metrics, min_rating=4)
    found = aggregate(table, values, min_rating=4, population=population)
    np.testing.assert_array_equal(found, [0.0 if population == "all" else np.nan])


@pytest.mark.parametrize(
    ("table", "population", "message"),
    [
        (USERS, "runs", "one target set per user"),
        (RUNS, "tested", "table of runs"),
        (USERS, "relevent", r"unknown population 'relevent': did you mean 'relevant'"),
    ],
)
def test_populations_that_a_table_does_not_know_are_refused(table, population, message):
    values = measure(table, [parse_metric("P@2")], min_rating=4)
    with pytest.raises(ConfigError, match=message):
        aggregate(table, values, min_rating=4, population=population)


# ---- averaging as a value ----

averagings = st.builds(
    Averaging,
    st.sampled_from(["", "all", "tested", "relevant"]),
    st.sampled_from(["", "ratings", "relevant"]),
    st.sampled_from(["mean", "median", "geometric", "geometric(0.01)", "geometric(2)"]),
) | st.sampled_from([Averaging("runs"), Averaging("groups"), Averaging("runs", statistic="median")])


@given(averagings)
def test_every_averaging_parses_back(averaging):
    assert Averaging.parse(str(averaging)) == averaging


def test_an_averaging_prints_what_is_not_habit():
    text = "users=tested weights=ratings statistic=median"
    averaging = Averaging.parse(text)
    assert averaging == Averaging("tested", "ratings", "median")
    assert str(averaging) == text
    assert Averaging.parse("statistic=median users=tested weights=ratings") == averaging
    assert str(Averaging.parse("")) == ""
    assert str(Averaging("all", statistic="geometric(1e-5)")) == "users=all statistic=geometric"
    assert Averaging(statistic="geometric(0.010)") == Averaging(statistic="geometric(0.01)")
    assert Averaging(statistic="geometric").epsilon == 1e-5
    assert Averaging().epsilon is None


@pytest.mark.parametrize("per", ["user", "run"])
def test_an_empty_population_is_the_habit(per):
    assert Averaging().resolved(per).population == {"user": "all", "run": "runs"}[per]
    assert Averaging("relevant").resolved(per) == Averaging("relevant")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("users=relevent", "unknown population 'relevent': did you mean 'relevant'"),
        ("weights=rating", "unknown weights of users 'rating': did you mean 'ratings'"),
        ("statistic=medium", "unknown statistic 'medium': did you mean 'median'"),
        ("statistic=geometric(0)", r"geometric\(0\): expected a number above 0"),
        ("statistic=geometric(x)", r"geometric\(x\): expected a number above 0"),
        ("statistic=geometric()", "expected a number above 0"),
        ("user=all", "unknown option of averaging 'user': did you mean 'users'"),
        ("users=all users=tested", "users is given twice"),
        ("users=", "users has no value"),
        ("users=runs weights=relevant", "users of runs weigh as many .* give no weights"),
        ("users=groups weights=relevant", "users of groups weigh as many"),
        ("users=groups statistic=median", "groups have a mean only"),
    ],
)
def test_what_is_no_averaging_is_refused(text, message):
    with pytest.raises(ConfigError, match=message):
        Averaging.parse(text)


# ---- weights and statistics, by plain loops ----


def plain(values, weights, statistic):
    """The statistic of values repeated as often as their weight says; None if there are none."""
    repeated = [
        value for value, weight in zip(values, weights, strict=True) for _ in range(int(weight))
    ]
    if not repeated:
        return math.nan
    if statistic == "mean":
        return math.fsum(repeated) / len(repeated)
    if statistic == "median":
        return median(repeated)
    epsilon = {"geometric": 1e-5, "geometric(0.01)": 0.01}[statistic]
    return geometric_mean([value + epsilon for value in repeated]) - epsilon


STATISTICS = ("mean", "median", "geometric", "geometric(0.01)")


def random_users(rng, n_users):
    """A table and values of users with 0 to 4 test ratings, undefined without a liked one."""
    judged = [
        dict(enumerate(rng.integers(1, 6, rng.integers(0, 5)).tolist())) for _ in range(n_users)
    ]
    table = user_table(*[(range(9), one) for one in judged])
    liked = np.array([sum(rating >= 4 for rating in one.values()) for one in judged])
    values = rng.choice([0, 0.1, 0.2, 0.25, 0.7, 1], (2, n_users))
    values[1, liked == 0] = np.nan
    return table, values, np.array([len(one) for one in judged]), liked


@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("weights", ["", "ratings", "relevant"])
@pytest.mark.parametrize("population", ["all", "tested", "relevant"])
def test_statistics_of_users_are_those_of_repeated_values(population, weights, statistic):
    rng = np.random.default_rng(11)
    for n_users in (1, 2, 9, 30):
        table, values, rated, liked = random_users(rng, n_users)
        member = {"all": rated >= 0, "tested": rated > 0, "relevant": liked > 0}[population]
        weight = {"": member, "ratings": member * rated, "relevant": member * liked}[weights]
        found = aggregate(
            table, values, min_rating=4, population=population, weights=weights,
            statistic=statistic,
        )  # fmt: skip
        expected = [plain(np.nan_to_num(row), weight, statistic) for row in values]
        np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("population", ["all", "relevant", "runs"])
def test_statistics_of_runs(population, statistic):
    rng = np.random.default_rng(12)
    user = np.sort(rng.integers(0, 12, 40))
    table = run_table(14, *[(int(one), int(rng.integers(0, 9)), 5) for one in user])
    values = rng.choice([0, 0.1, 0.5], (3, 40))
    of_user = [values[:, user == one] for one in range(14)]
    for row in range(3):
        if population == "runs":
            expected = plain(values[row], np.ones(40), statistic)
        else:
            some = [one[row] for one in of_user if population == "all" or one.shape[1]]
            means = [math.fsum(one) / len(one) if len(one) else 0.0 for one in some]
            expected = plain(means, np.ones(len(means)), statistic)
        found = aggregate(table, values, min_rating=4, population=population, statistic=statistic)
        assert found[row] == pytest.approx(expected, rel=1e-12)
    if population == "relevant":
        weighted = aggregate(table, values, min_rating=4, population=population, weights="relevant")
        micro = aggregate(table, values, min_rating=4, population="runs")
        np.testing.assert_allclose(weighted, micro, rtol=1e-14)


def test_worked_values_of_weights_and_geometric_mean():
    """formulas.md section 6: weights 1, 1, 8 give .54; geometric means of 0, .1, .4."""
    table = user_table(([], {1: 5}), ([], {1: 5}), ([], dict.fromkeys(range(8), 5)))
    values = np.array([[0.2, 0.4, 0.6], [0, 0.1, 0.4]])
    weighted = aggregate(table, values, min_rating=4, weights="ratings")
    assert weighted[0] == pytest.approx(0.54, abs=1e-15)
    geometric = [
        aggregate(table, values, min_rating=4, statistic=text)[1]
        for text in ("geometric", "geometric(0.01)")
    ]
    assert geometric == pytest.approx([0.00735837, 0.06668766], abs=5e-9)


@pytest.mark.parametrize(
    ("table", "population"), [(USERS, ""), (USERS, "relevant"), (RUNS, "runs")]
)
def test_the_mean_has_the_bits_of_its_two_sums(table, population):
    """Recorded numbers: one path or the other, the same additions in the same order."""
    rng = np.random.default_rng(13)
    values = rng.random((5, table.n_users if table.per == "user" else len(table.user)))
    numerator, denominator = user_sums(table, values, min_rating=4, population=population or "all")
    columns = contributions(table, values, Averaging(population), min_rating=4)
    np.testing.assert_array_equal(columns, [*numerator, denominator])
    found = aggregate(table, values, min_rating=4, population=population)
    np.testing.assert_array_equal(found, numerator.sum(axis=1) / denominator.sum())
    one_by_one = [float(row.sum() / denominator.sum()) for row in numerator]
    np.testing.assert_array_equal(found, one_by_one)
    weights = bootstrap_weights(table.n_users, 7, rng=rng)
    again = finish(weighted_sums(columns, weights), Averaging(population), 5).T
    np.testing.assert_array_equal(again, replicates(numerator, denominator, weights))


@pytest.mark.parametrize("statistic", ["mean", "geometric"])
def test_folds_are_combined_by_adding_columns(statistic):
    rng = np.random.default_rng(14)
    folds = [random_users(rng, 20)[:2] for _ in range(3)]
    averaging = Averaging("tested", "ratings", statistic)
    columns = sum(contributions(*fold, averaging, min_rating=4) for fold in folds)
    joined = [units(*fold, averaging, min_rating=4) for fold in folds]
    for row, found in enumerate(finish(columns.sum(axis=1), averaging, 2)):
        values = np.concatenate([one[0][row] for one in joined])
        weights = np.concatenate([one[1] for one in joined])
        assert found == pytest.approx(plain(values, weights, statistic), rel=1e-12)


@pytest.mark.parametrize("statistic", STATISTICS)
def test_replicates_are_the_statistic_of_the_repeated_users(statistic):
    rng = np.random.default_rng(15)
    table, values, rated, _ = random_users(rng, 25)
    averaging = Averaging("tested", "ratings", statistic)
    weights = bootstrap_weights(25, 30, rng=rng)
    if statistic == "median":
        found = weighted_medians(*units(table, values, averaging, min_rating=4), weights).T
    else:
        columns = contributions(table, values, averaging, min_rating=4)
        found = finish(weighted_sums(columns, weights), averaging, 2)
    for row, weight in zip(found, weights, strict=True):
        expected = [plain(np.nan_to_num(one), weight * rated, statistic) for one in values]
        np.testing.assert_allclose(row, expected, rtol=1e-12)


def test_users_without_a_list_are_left_out_or_count_as_zero():
    table = user_table(*[(range(3), {1: 5})] * 3, (range(3), {}))
    values = np.array([[0.3, np.nan, 0.6, 0.9], [0.1, 0.1, 0.1, np.nan]])
    for population, skipped, zero in (
        ("all", [0.6, 0.1], [1.8 / 4, 0.3 / 4]),
        ("tested", [0.45, 0.1], [0.3, 0.1]),
    ):
        averaging = Averaging(population)
        left = contributions(table, values, averaging, min_rating=4, skip_undefined=True)
        assert len(left) == 4
        np.testing.assert_allclose(finish(left.sum(axis=1), averaging, 2), skipped, rtol=1e-14)
        every = contributions(table, values, averaging, min_rating=4)
        np.testing.assert_allclose(finish(every.sum(axis=1), averaging, 2), zero, rtol=1e-14)
        some = units(table, values, averaging, min_rating=4, skip_undefined=True)
        medians = weighted_medians(*some, np.ones((1, 4), int))[:, 0]
        np.testing.assert_allclose(medians, skipped, rtol=1e-14)
    geometric = Averaging("tested", statistic="geometric(0.1)")
    left = contributions(table, values, geometric, min_rating=4, skip_undefined=True)
    expected = [geometric_mean([0.4, 0.7]) - 0.1, 0.1]
    np.testing.assert_allclose(finish(left.sum(axis=1), geometric, 2), expected, rtol=1e-13)


# ---- groups (P1R) ----


def test_the_mean_over_popularity_groups():
    """formulas.md section 1.5: 8 of 10 runs and 1 of 2 hit at 10: .065 where micro is .075."""
    ranks = [1] * 8 + [11] * 2 + [10, 11]
    table = run_table(12, *[(user, rank, 5) for user, rank in enumerate(ranks)])
    values = measure(table, [parse_metric("P@10"), parse_metric("R@10")], min_rating=4)
    group = np.repeat([0, 1], [10, 2])
    for n_groups in (2, 5):
        found = aggregate(
            table, values, min_rating=4, population="groups", group=group, n_groups=n_groups
        )
        np.testing.assert_allclose(found, [0.065, 0.65], rtol=1e-14)


def test_groups_by_a_loop_with_replicates_and_runs_in_no_group():
    rng = np.random.default_rng(16)
    user = np.sort(rng.integers(0, 9, 50))
    table = run_table(10, *[(int(one), 1, 5) for one in user])
    values, group = rng.random((3, 50)), rng.integers(-1, 6, 50)
    group[group == 2] = 3
    weights = np.vstack([np.ones(10, int), bootstrap_weights(10, 40, rng=rng)])
    weights[1] = 0
    weights[2] = np.arange(10) == user[np.flatnonzero(group >= 0)[0]]
    columns = contributions(
        table, values, Averaging("groups"), min_rating=4, group=group, n_groups=6
    )
    assert columns.shape == (6 * 4, 10)
    found = finish(weighted_sums(columns, weights), Averaging("groups"), 3, 6)
    for row, weighting in zip(found, weights, strict=True):
        for metric, value in enumerate(row):
            means = []
            for one in range(6):
                runs = [run for run in range(50) if group[run] == one and weighting[user[run]]]
                if runs:
                    total = math.fsum(weighting[user[run]] * values[metric, run] for run in runs)
                    means.append(total / sum(weighting[user[run]] for run in runs))
            expected = math.fsum(means) / len(means) if means else math.nan
            assert value == pytest.approx(expected, rel=1e-13, nan_ok=True)


def test_one_group_is_the_micro_average():
    values = np.random.default_rng(17).random((2, len(RUNS.user)))
    group = np.zeros(len(RUNS.user), int)
    found = aggregate(RUNS, values, min_rating=4, population="groups", group=group)
    np.testing.assert_allclose(
        found, aggregate(RUNS, values, min_rating=4, population="runs"), rtol=1e-15
    )


# ---- what is refused ----


def test_averagings_that_a_table_does_not_know_are_refused():
    values, per_run = np.zeros((1, 4)), np.zeros((1, 4))
    group = np.zeros(4, int)

    def columns(table, averaging, **options):
        return contributions(table, values, averaging, min_rating=4, **options)

    with pytest.raises(ConfigError, match="a median is no function of sums; use units"):
        columns(USERS, Averaging(statistic="median"))
    with pytest.raises(ConfigError, match="population 'groups': the table has one target set per"):
        columns(USERS, Averaging("groups"), group=group)
    with pytest.raises(ConfigError, match="give the group of each run"):
        columns(RUNS, Averaging("groups"))
    for wrong in (group[:3], group + 1, group - 2):
        with pytest.raises(ContractError, match=r"expected \(4,\), each from -1 to 0"):
            columns(RUNS, Averaging("groups"), group=wrong)
    with pytest.raises(ConfigError, match="holds relevant test ratings only; use weights=relevant"):
        columns(RUNS, Averaging("all", "ratings"))
    with pytest.raises(ConfigError, match="users of runs weigh as many"):
        columns(RUNS, Averaging(weights="relevant"))
    with pytest.raises(ConfigError, match="have no undefined values to skip"):
        columns(RUNS, Averaging(), skip_undefined=True)
    with pytest.raises(ConfigError, match="population 'runs': the table has one target set per"):
        units(USERS, per_run, Averaging("runs"), min_rating=4)
    for call in (units, lambda *args, **more: user_sums(*args[:2], population="groups", **more)):
        with pytest.raises(ConfigError, match="population 'groups': not one ratio"):
            call(RUNS, per_run, Averaging("groups"), min_rating=4)


@pytest.mark.parametrize("statistic", STATISTICS)
def test_nobody_at_all_has_no_statistic(statistic):
    empty = user_table(([1], {}), ([2], {}))
    found = aggregate(
        empty, np.zeros((1, 2)), min_rating=4, population="tested", statistic=statistic
    )
    assert np.isnan(found).all()


def test_the_page_names_every_population():
    page = (Path(__file__).parents[2] / "book" / "notation.md").read_text()
    for name in POPULATIONS:
        assert f"| `{name}` |" in page


def _three_lists(**changes):
    """Users 0 to 3: two judged items, one judged item without a score, nobody's list, no test."""
    user = np.array([0, 0, 1, 2], np.int32)
    rank, condensed = np.array([2, 5, 0, 0], np.int32), np.array([1, 2, 0, 0], np.int32)
    nine, scored = np.full(4, 9, np.int32), np.array([9, 4, 0, 3], np.int32)
    table = RankTable("user", 4, user, np.arange(4, dtype=np.int32), np.full(4, 5.0), rank,
                      condensed, nine, scored)  # fmt: skip
    return dataclasses.replace(table, **changes)


VALUES = np.array([[0.6, 0.0, 0.0, 0.0]])


@pytest.mark.parametrize(
    ("condensed", "statistic", "expected"),
    [
        (False, "mean", 0.2),  # users 0, 1 and 3 have a list
        (True, "mean", 0.6),  # user 0 alone has a condensed one
        (False, "median", 0.0),
        (True, "median", 0.6),
    ],
)
def test_a_reduced_average_leaves_out_who_has_no_list(condensed, statistic, expected):
    found = aggregate(_three_lists(), VALUES, min_rating=4, statistic=statistic,
                      coverage="reduced", condensed=condensed)  # fmt: skip
    assert found == pytest.approx([expected], abs=1e-15)


@given(
    values=st.lists(st.floats(0, 1), min_size=4, max_size=4),
    scored=st.lists(st.integers(0, 3), min_size=4, max_size=4),
)
def test_a_full_mean_is_the_reduced_one_times_the_share_that_is_served(values, scored):
    table = _three_lists(n_scored=np.array(scored, np.int32))
    served = table.n_scored > 0
    given_values = np.array([values]) * served  # who has no list has nothing
    full, reduced = (
        aggregate(table, given_values, min_rating=4, coverage=coverage)[0]
        for coverage in ("full", "reduced")
    )
    if not served.any():
        assert np.isnan(reduced)
        return
    assert full == pytest.approx(served.mean() * reduced, abs=1e-12)
    # As CCM20 prints it, the other way round, it fails wherever the two differ.
    if 0 < served.mean() < 1 and full > 1e-6:
        assert reduced != pytest.approx(served.mean() * full, abs=1e-12)


def test_trained_users_are_those_with_training_ratings():
    trained = np.array([True, False, False, True])
    found = aggregate(_three_lists(trained=trained), VALUES, min_rating=4, population="trained")
    assert found == pytest.approx([0.3], abs=1e-15)
    counts = np.array([5, 0, 4, 9])
    enough = Averaging("all", trained=">=5")
    _, weights, users = units(_three_lists(trained=counts), VALUES, enough, min_rating=4)
    assert users.tolist() == [0, 3]
    assert weights.tolist() == [1, 1]
    with pytest.raises(ConfigError, match="does not know who has training ratings"):
        aggregate(_three_lists(), VALUES, min_rating=4, population="trained")
