"""What universes say together: against enumeration, brute force and simulation."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np
import pandas as pd
import pytest

from recbias import System
from recbias.errors import ConfigError
from recbias.experiment.options import Options
from recbias.multiverse import measuring, universes
from recbias.multiverse.summary import (
    balanced_weights,
    full_part,
    joint_test,
    nearest_flips,
    shapley,
)


@pytest.fixture(scope="module", autouse=True)
def cells(tmp_path_factory):
    patch = pytest.MonkeyPatch()
    patch.setenv("RECBIAS_CELLS", str(tmp_path_factory.mktemp("cells")))
    yield
    patch.undo()


# -- importance ------------------------------------------------------------------------------------


def enumerated_shapley(values):
    """What an axis adds to the explained variance, in the mean of all orders of the axes."""
    n_axes, total = values.ndim, values.var()

    def explained(axes):
        groups = {}
        for place in np.ndindex(values.shape):
            groups.setdefault(tuple(place[axis] for axis in axes), []).append(values[place])
        means = [np.mean(group) for group in groups.values()]
        return (
            sum(
                len(group) * (mean - values.mean()) ** 2
                for group, mean in zip(groups.values(), means, strict=True)
            )
            / values.size
        )

    effects = np.zeros(n_axes)
    orders = list(itertools.permutations(range(n_axes)))
    for order in orders:
        for number, axis in enumerate(order):
            before, after = sorted(order[:number]), sorted(order[: number + 1])
            effects[axis] += explained(after) - explained(before)
    return effects / len(orders) / total


@pytest.mark.parametrize("shape", [(3,), (2, 3), (2, 2, 3), (3, 1, 2, 2), (2, 2, 2, 2)])
def test_shapley_effects_equal_enumeration(shape):
    rng = np.random.default_rng(len(shape))
    for _ in range(5):
        values = np.where(rng.random(shape) < 0.4, -1.0, 1.0)
        values[(0,) * len(shape)] = -values[(-1,) * len(shape)]  # not all alike
        expected = enumerated_shapley(values)
        np.testing.assert_allclose(shapley(values), expected, atol=1e-12)
        np.testing.assert_allclose(shapley(values).sum(), 1.0)
        broken = shapley(np.moveaxis(values, 0, -1))  # the twin: axes in another order
        if len(shape) > 1 and np.ptp(expected) > 0.1:
            assert not np.allclose(broken, expected)


def test_what_turns_no_sign_has_no_effect():
    assert shapley(np.ones((2, 3))).tolist() == [0.0, 0.0]
    assert shapley(np.full((3, 3), 0.1)).tolist() == [0.0, 0.0]


def test_the_full_part_has_no_holes_and_loses_what_misses_most():
    known = np.ones((3, 4, 2), dtype=bool)
    known[1] = False
    known[2, 3, 0] = False
    assert [axis.tolist() for axis in full_part(known)] == [[0, 2], [0, 1, 2], [0, 1]]
    assert all(len(axis) == 0 for axis in full_part(np.zeros((2, 2), dtype=bool)))


def test_balanced_weights_give_options_of_a_decision_the_same():
    rng = np.random.default_rng(5)
    known = rng.random((4, 3, 5)) < 0.8
    weights = balanced_weights(known)
    for axis in range(3):
        sums = weights.sum(axis=tuple(other for other in range(3) if other != axis))
        np.testing.assert_allclose(sums, 1 / known.shape[axis], atol=1e-8)
    assert (weights[~known] == 0).all()
    plain = known / known.sum()  # the twin: what is there counts alike
    assert np.ptp(plain.sum(axis=(1, 2))) > 0.01


# -- flips -----------------------------------------------------------------------------------------


def brute_flips(signs, start):
    """Try all sets of changes, the small ones first."""
    for n_changes in range(1, signs.ndim + 1):
        found = set()
        for axes in itertools.combinations(range(signs.ndim), n_changes):
            others = [[p for p in range(signs.shape[axis]) if p != start[axis]] for axis in axes]
            for places in itertools.product(*others):
                other = list(start)
                for axis, place in zip(axes, places, strict=True):
                    other[axis] = place
                if signs[tuple(other)] == -signs[start]:
                    found.add(tuple(other))
        if found:
            return found
    return set()


def test_the_nearest_flips_equal_brute_force():
    rng = np.random.default_rng(6)
    sizes = set()
    for _ in range(200):
        shape = tuple(rng.integers(1, 4, size=4))
        signs = rng.choice([1, 0, -1], p=[0.8, 0.1, 0.1], size=shape).astype(np.int8)
        start = tuple(int(rng.integers(n)) for n in shape)
        signs[start] = 1
        expected = brute_flips(signs, start)
        assert {tuple(place) for place in nearest_flips(signs, start).tolist()} == expected
        sizes |= {sum(p != s for p, s in zip(place, start, strict=True)) for place in expected}
        broken = np.abs(signs)  # the twin: a loss that counts as a win
        assert not len(nearest_flips(broken, start))
    assert sizes >= {1, 2, 3}


# -- the null curve --------------------------------------------------------------------------------


def rejected(draw, n_studies, *, n_users, n_flips, seed, level=0.05):
    """Share of studies in which the joint test of a curve of 200 universes rejects.

    Universes share what users have in common, as the options of one evaluation do.
    """
    rng = np.random.default_rng(seed)
    mixing = rng.normal(size=(200, 12)) * 0.5 + np.linspace(0.5, 1.5, 12)
    hits, per_study = np.zeros(3), np.full(200, n_users)
    for _ in range(n_studies):
        units = mixing @ draw(rng, (12, n_users))
        signs = np.ones((1 + n_flips, n_users), np.float32)
        signs[1:] -= 2 * rng.integers(0, 2, (n_flips, n_users), dtype=np.int8)
        t = measuring.studentised(units, per_study, signs)
        hits += [p <= level for *_, p in joint_test(t, per_study)]
    return hits / n_studies


def symmetric(rng, shape):
    """Differences of exchangeable systems: few users have any, some have large ones."""
    return (
        rng.choice([-1, 1], shape[1]) * np.abs(rng.standard_t(4, shape)) * (rng.random(shape) < 0.4)
    )


def equal_means(rng, shape):
    """Differences with mean 0 that are not symmetric: many small losses and few large wins."""
    return rng.exponential(size=shape) - 1


def better(rng, shape):
    return symmetric(rng, shape) + 0.15


def test_the_joint_test_rejects_rarely_under_the_null_and_often_otherwise():
    found = rejected(symmetric, 300, n_users=60, n_flips=99, seed=1)
    assert 0.02 < found[0] < 0.085
    assert (found[1:] <= 0.085).all()
    assert rejected(better, 50, n_users=60, n_flips=99, seed=1)[0] > 0.5


def test_a_null_curve_that_swaps_universes_apart_errs_too_often():
    """The twin: signs of its own for each universe forget what universes have in common."""
    rng = np.random.default_rng(2)
    hits = 0
    for _ in range(60):
        units = rng.normal(size=60) + 0.3 * rng.normal(size=(200, 60))
        n = np.full(200, 60)
        t = np.concatenate([
            measuring.studentised(one[None], n[:1], np.concatenate([
                np.ones((1, 60)), rng.choice([-1, 1], (99, 60))]).astype(np.float32))
            for one in units
        ])  # fmt: skip
        hits += joint_test(t, n)[0][-1] <= 0.05
    assert hits / 60 > 0.4


def exact_p(units):
    """In double precision, over all ways to swap the systems at whom they differ."""
    differing = units[:, (units != 0).any(axis=0)]
    n_users, curves = units.shape[1], []
    for signs in itertools.product((1, -1), repeat=differing.shape[1]):
        swapped = np.zeros_like(units)
        swapped[:, : differing.shape[1]] = differing * signs
        spread = swapped.std(axis=1, ddof=1)
        curves.append(abs((swapped.mean(axis=1) / spread * math.sqrt(n_users)).mean()))
    return np.mean(np.array(curves) >= curves[0] - 1e-9)


def test_curves_that_are_equally_far_are_not_parted_by_rounding():
    """Where four of a hundred users differ there are 16 curves, and few of them can be farther."""
    rng = np.random.default_rng(0)
    per_universe, worst = np.full(50, 100), 0.0
    for _ in range(5):
        units = np.zeros((50, 100))
        units[:, rng.choice(100, 4, replace=False)] = rng.choice([0.1, 0.2, 0.63, 1 / 3], (50, 4))
        t = measuring.studentised(units, per_universe, measuring.signs_of(100, 499, 3))
        t[:, 0] *= np.float32(1 + 3e-7)  # as some processors round, where others do not
        p = joint_test(t, per_universe)[0][-1]
        worst = max(worst, abs(p - exact_p(units)))
        # The twin: whatever is less by a bit is less.
        curves = np.abs(t.astype(float).mean(axis=0))
        assert (curves >= curves[0]).mean() < exact_p(units) - 0.05
    assert worst < 0.05  # 500 draws of 16 curves


def test_users_who_all_differ_by_the_same_leave_the_test_a_number():
    """Their t has no spread; two such universes, one each way, once gave a p of 0."""
    units = np.array([[1.0] * 5, [-1.0] * 5, [0.3, 0.2, -0.1, 0.4, 0.5]])
    t = measuring.studentised(units, np.full(3, 5), measuring.signs_of(5, 99, 1))
    assert np.isfinite(t).all()
    assert t[0, 0] == -t[1, 0] > 100
    for name, value, _, p in joint_test(t, np.full(3, 5)):
        assert np.isfinite(value), name
        assert p >= 0.01


@pytest.mark.slow
def test_the_null_curve_holds_its_size():
    """10,000 draws of users' values over 200 universes, the standard error of a share is .0022."""
    exchangeable = rejected(symmetric, 10_000, n_users=100, n_flips=199, seed=11)
    assert 0.045 <= exchangeable[0] <= 0.055
    assert (exchangeable[1:] <= 0.055).all()
    merely_equal = rejected(equal_means, 10_000, n_users=400, n_flips=199, seed=12)
    print(f"exchangeable {exchangeable}, merely equal means {merely_equal}")
    assert merely_equal[0] <= 0.065


# -- together --------------------------------------------------------------------------------------

OPTIONS = {
    "C1": ("AI-AN-AR", "condensed"),
    "C2": ("metric: P@5", "metric: AUC", "metric: antiP@5"),
    "rel": ("rel>=4", "rel>=5"),
    "B1": ("", "users=tested"),
    "C3": ("", "weights=ratings", "statistic=median"),
    "D": ("pairs: t", "pairs: wilcoxon"),
}
SYSTEMS = System("Popularity", "Popularity"), System("AverageRating", "AverageRating")


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    rated = np.argwhere(rng.random((80, 40)) < np.linspace(0.1, 0.7, 40))
    stars = np.clip(rng.integers(1, 5, len(rated)) + (rated[:, 1] % 3 == 0), 1, 5)
    return pd.DataFrame({"user_id": rated[:, 0], "item_id": rated[:, 1], "rating": stars})


@pytest.fixture(scope="module")
def found(table):
    return universes(table, *SYSTEMS, OPTIONS, n_flips=19, seeds=(1, 2))


def test_universes_are_the_distinct_canonical_forms(found, table):
    scale = [1, 5]
    assert found.cross.shape == (2, 3, 2, 2, 3, 2, 2)
    texts = set()
    for place in np.ndindex(found.cross.shape):
        row = found.table.iloc[found.cross[place]]
        options = Options.parse(row["options"])
        assert str(options.canonical()) == row["options"]
        assert options.seed == found.seeds[place[-1]]
        texts.add(row["options"])
    assert len(texts) == len(found.table) == len(set(found.cross.ravel()))
    assert found.cross.size > len(found.table)  # AUC is the same in full and condensed lists
    assert scale == [found.table["sign"].map(abs).max(), 5]


def test_shares_count_universes_and_weigh_decisions(found):
    shares = found.shares()
    sign, sure = found.table["sign"], found.table["p"] < 0.05
    assert shares.loc["universes", "wins"] == pytest.approx((sign > 0).mean())
    assert shares.loc["universes", "surely loses"] == pytest.approx(((sign < 0) & sure).mean())
    assert shares.loc["universes", "surely wins"] == pytest.approx(((sign > 0) & sure).mean())
    assert shares.loc["universes", "surely wins"] < shares.loc["universes", "wins"]
    np.testing.assert_allclose(shares[["wins", "ties", "loses"]].sum(axis=1), 1)
    # Nothing is missing here: decisions weigh alike where combinations do.
    combined = found.table["sign"].to_numpy()[found.cross]
    assert shares.loc["decisions", "wins"] == pytest.approx((combined > 0).mean())
    weights = np.zeros((2, 3, 2, 2, 3, 2, 1))
    weights[0, 0] = 1
    only = found.shares(weights).loc["weights", "wins"]
    assert only == pytest.approx((combined[0, 0] > 0).mean())
    assert only != pytest.approx(shares.loc["decisions", "wins"])
    with pytest.raises(ConfigError, match="some above it"):
        found.shares(np.zeros(1))


def test_sums_in_another_order_are_a_tie(table, monkeypatch):
    """Who has as many hits at other users has the same value, but for rounding."""
    right = measuring._Pair.difference
    options = {"C2": ("metric: P@5", "metric: RR")}
    for gap, sign in ((5.5e-17, 0), (1e-9, 1)):
        monkeypatch.setattr(
            measuring._Pair, "difference", lambda *args, gap=gap: np.full_like(right(*args), gap)
        )
        found = universes(table, *SYSTEMS, options, n_flips=3)
        assert found.table["sign"].tolist() == [sign, sign]
        assert found.shares().loc["universes", "ties"] == 1 - sign


def test_an_option_that_is_named_twice_weighs_once(table):
    once = {"C1": ("AI-AN-AR", "condensed"), "rel": ("rel>=4", "rel>=5"),
            "C2": ("metric: P@5", "metric: antiP@5", "metric: AUC")}  # fmt: skip
    twice = once | {"C1": ("", "condensed", "AI-AN-AR"), "rel": ("rel>=4", "rel>=4.0", "rel>=5")}
    one, other = (universes(table, *SYSTEMS, options, n_flips=3) for options in (once, twice))
    assert len(one.table) == len(other.table)
    pd.testing.assert_frame_equal(one.shares(), other.shares())
    pd.testing.assert_frame_equal(one.importance(), other.importance())
    # The twin: combinations alike, of which what is named twice has more.
    alike = other.shares(np.ones(1)).loc["weights", "wins"]
    assert alike != pytest.approx(one.shares(np.ones(1)).loc["weights", "wins"])


def test_the_curve_rises_and_knows_the_options_of_each_universe(found):
    curve = found.curve()
    ahead = curve["effect"].abs() * curve["sign"]
    assert (np.diff(ahead) >= 0).all()
    for row in curve[curve["C2: metric: AUC"]]["options"]:
        assert "metric: AUC" in row
    both = curve["C1: AI-AN-AR"] & curve["C1: condensed"]
    assert both.any()
    assert curve[both]["options"].str.contains("AUC").all()


def test_importance_is_of_signs_and_tells_what_seeds_differ_by(found):
    importance = found.importance()
    assert importance.index.tolist() == [*OPTIONS, "seed"]
    per_seed = [enumerated_shapley(found.signs[:, :, :, :, :, 0, seed].astype(float))
                for seed in (0, 1)]  # fmt: skip
    effects = importance["effect"].to_numpy()
    np.testing.assert_allclose(effects[:5], np.mean(per_seed, axis=0), atol=1e-12)
    assert effects[5] == 0  # which paired test turns no sign
    np.testing.assert_allclose(importance["low"][:5], np.min(per_seed, axis=0), atol=1e-12)
    np.testing.assert_allclose(importance["high"][:5], np.max(per_seed, axis=0), atol=1e-12)


def test_flips_change_what_they_say(found):
    flips = found.flips()
    start = found.table.iloc[found.cross[(0,) * 7]]
    assert len(flips)
    for row in flips.itertuples():
        other = found.table.iloc[row.universe]
        assert other["sign"] == -start["sign"] != 0
        assert row.changes == len(row.changed.split("; "))
    expected = brute_flips(found.signs[..., 0], (0,) * 6)
    assert {found.cross[(*place, 0)] for place in expected} == set(flips["universe"])
    other = found.flips({"C1": "condensed", "C2": "metric: AUC"})
    assert not other.equals(flips)
    with pytest.raises(ConfigError, match="C1: no option 'TI'"):
        found.flips({"C1": "TI"})
    with pytest.raises(ConfigError, match="no decision 'C9'"):
        found.flips({"C9": "TI"})


def test_sure_flips_are_sure_on_both_sides(found):
    sure = found.table["p"] < 0.05
    options = list(itertools.product(*OPTIONS.values()))
    for chosen in options[:: max(1, len(options) // 20)]:
        start = dict(zip(OPTIONS, chosen, strict=True))
        try:
            flips = found.flips(start, surely=True)
        except ConfigError:
            continue
        assert sure[flips["universe"]].all()
    clear = (found.table["low"] * found.table["high"] > 0).to_numpy() & sure.to_numpy()
    signs = found.signs.copy()
    signs[~clear[found.cross] | (found.cross < 0)] = 0
    signs[(0,) * signs.ndim] = found.signs[(0,) * signs.ndim]
    expected = brute_flips(signs[..., 0], (0,) * 6)
    turned = found.flips(surely="turned")
    assert {found.cross[(*place, 0)] for place in expected} == set(turned["universe"])


def test_options_of_a_decision_divide_the_share_that_is_won(found):
    """The same weights as in `shares`: of options that differ, the mean is the share of all."""
    won, plain = found.shares().loc["decisions", "wins"], []
    for axis, (decision, texts) in enumerate(found.options.items()):
        distinct = found._distinct[axis]
        shares = [found.won(decision, text) for text in texts]
        known = [shares[at] for at in distinct if shares[at] is not None]
        assert np.mean(known) == pytest.approx(won, abs=1e-6)
        of_option = [np.take(found.signs, at, axis) for at in distinct]
        plain.append(np.mean([(signs > 0).sum() / (signs != 0).sum() for signs in of_option]))
    assert np.abs(np.array(plain) - won).max() > 0.001  # the twin: designs alike, without ties


def test_the_joint_test_leaves_out_medians_and_counts_paired_tests_once(found):
    test = found.joint_test()
    rows = ~found.table["options"].str.contains("median") & found.table["options"].str.endswith("t")
    t = found.table[rows]["effect"] * np.sqrt(found.table[rows]["n_users"])
    sign = np.where(found.table[rows]["options"].str.contains("antiP"), -1, 1)
    unweighted = ~found.table[rows]["options"].str.contains("weights")
    at = found._measured[np.flatnonzero(rows)[unweighted]]
    np.testing.assert_allclose((t * sign)[unweighted], found._t[at, 0], rtol=1e-4, atol=1e-4)
    assert np.isfinite(test["value"]).all()
    assert ((test["p"] * 20).round(9) % 1 == 0).all()
    assert math.isclose(test.loc["mean t", "value"], np.nanmean(found._t[:, 0]), rel_tol=1e-6)


def test_who_wins_surely_in_the_joint_test_hangs_on_the_users_of_each_universe(table):
    """Of three users a t of 2.5 is not sure, of a hundred it is: their rows are in no order."""
    found = universes(table, *SYSTEMS, {"C2": ("metric: P@5", "metric: RR")}, n_flips=2)
    for users, measured, t, expected in (
        ([3, 100], [0, 1], [2.5, 2.5], 0.5),
        ([3, 100], [1, 0], [-4, -3], -0.5),
        ([100, 3], [1, 0], [5.0, -2.5], 0.0),
    ):
        other = dataclasses.replace(
            found,
            table=found.table.assign(n_users=users),
            _measured=np.array(measured),
            _t=np.outer(t, [1.0, -1.0, 1.0]).astype(np.float32),
        )
        assert other.joint_test().loc["sure wins - sure losses", "value"] == expected


@pytest.mark.slow
def test_workers_change_no_bit(found, table):
    other = universes(table, *SYSTEMS, OPTIONS, n_flips=19, seeds=(1, 2), workers=2)
    pd.testing.assert_frame_equal(other.table, found.table, check_exact=True)
    np.testing.assert_array_equal(other._t, found._t)


def test_what_cannot_be_combined_is_listed_with_its_reason(table):
    options = {
        "A2": ("split: ratio 0.5", "split: temporal 0.2"),
        "C1": ("AI-AN-AR", "AI-AN-1R"),
        "B1": ("", "users=tested"),
        "C2": ("metric: P@5", "metric: Gini@5", "metric: ARP@5", "metric: P@500"),
    }
    found = universes(table, *SYSTEMS, options, n_flips=3)
    reasons = found.refused.set_index("reason")["combinations"]
    assert reasons.sum() == (found.cross < 0).sum() == 32 - (found.cross >= 0).sum()
    for part in ("no timestamps", "do not know users", "neither higher nor lower", "catalogue"):
        assert reasons.index.str.contains(part).any(), part
    assert len(found.table) == 3


def test_samples_that_are_too_large_refuse_their_own_universes(table):
    options = {
        "A2": ("split: ratio 0.5", "test: observed removed=30%"),
        "C1": ("AI-AN-AR", "TI-NN-1R t=100", "TI-NN-AR N=5"),
        "C2": ("metric: P@5", "metric: RR"),
    }
    found = universes(table, *SYSTEMS, options, n_flips=3)
    assert (found.cross[..., 0] >= 0).all(axis=(0, 2)).tolist() == [True, False, True]
    assert found.refused["reason"].str.contains("samples 99 items, but no user").all()
    assert found.refused["combinations"].sum() == 4
    with pytest.raises(ConfigError, match=r"can be measured\nTI-NN-1R t=100: samples 99"):
        universes(table, *SYSTEMS, {**options, "C1": ("TI-NN-1R t=100",)}, n_flips=3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "expected texts by decision"),
        ({"C2": "metric: P@5"}, "expected some texts"),
        ({"C2": ("metric: Q@5",)}, "unknown metric 'Q'"),
        ({"C2": ("metrics: P@5",)}, "did you mean 'metric'"),
        ({"A2": ("seed: 2",)}, "a seed is no option"),
        ({"B1": ("users=teste",)}, "unknown population"),
        ({"C1": ("condensed", "condensed")}, "each once"),
        ({"C1": ("AI-AM-AR",)}, "AI-AM-AR"),
        ({"C2": ("metric: P@5; metric: RR",)}, "set twice"),
        ({"C2": ("metric: Gini@5",)}, "no combination can be measured"),
        ({"D": ("pairs: u",)}, "unknown paired test"),
    ],
)
def test_what_is_no_option_is_refused(table, options, message):
    with pytest.raises(ConfigError, match=message):
        universes(table, *SYSTEMS, options)


def test_two_decisions_may_not_set_the_same(table):
    options = {"X": ("users=tested", "weights=ratings"), "Y": ("users=relevant", "")}
    found = universes(table, *SYSTEMS, options, n_flips=3)
    assert found.refused["reason"].tolist() == ["X and Y both set users"]
    assert len(found.table) == 3


def test_what_turns_out_to_be_unmeasurable_is_listed_too(table, monkeypatch):
    right = measuring.measure

    def measured(ranks, metrics, *, condensed, **named):
        if condensed:
            raise ConfigError("not of condensed lists\nuse others")
        return right(ranks, metrics, condensed=condensed, **named)

    monkeypatch.setattr(measuring, "measure", measured)
    options = {"C1": ("AI-AN-AR", "condensed"), "C2": ("metric: P@5", "metric: RR")}
    found = universes(table, *SYSTEMS, options, n_flips=3)
    assert found.refused.to_dict("list") == {
        "reason": ["not of condensed lists"],
        "combinations": [2],
    }
    assert found.cross[..., 0].tolist() == [[0, 1], [-1, -1]]
    with pytest.raises(ConfigError, match=r"no combination can be measured\nnot of condensed"):
        universes(table, *SYSTEMS, {**options, "C1": ("condensed",)}, n_flips=3)
