"""Every check of chapter 6 accepts sound counts and rejects broken measures, its twins."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from chapter_grids import concentration_protocols
from recbias import Grid, line_up
from recbias.book.chapters.concentration_metrics import checks, count_checks, counts, setup
from recbias.book.chapters.concentration_metrics.counts import Counts
from recbias.book.chapters.concentration_metrics.orders import pair_signs, rank_limits
from recbias.claims.evidence import NotComputed
from recbias.data.datasets import load_dataset
from recbias.experiment.results import Quantity
from recbias.metrics import concentration, prior
from recbias.protocol.testset import dataset_splits

ci, js, lti, m = count_checks.ci, count_checks.js, count_checks.lti, count_checks.m
NONE = 1e-12


@pytest.fixture(scope="module")
def small() -> list[Counts]:
    return list(counts.random_counts(60, np.random.default_rng(7)))


@pytest.fixture(scope="module")
def wide() -> list[Counts]:
    """Counts like those of data: 150 items with a long tail, lists that lean to the head."""
    rng = np.random.default_rng(3)
    before = np.floor(4000 / np.arange(4, 154) ** 1.2)
    found = []
    for power in (0.4, 1.0, 1.6):
        shown = rng.multinomial(3000, counts.shares(before**power)).astype(float)
        found.append(Counts(before, shown, 3000))
    return found


def worst(found: list[Any]) -> dict[str, float]:
    return {f"{each.claim} {each.name}": each.worst for each in found}


# -- worked values -----------------------------------------------------------------------------

FOUR = Counts(np.array([6.0, 3, 1, 0]), np.array([4.0, 3, 2, 1]), 10)


def test_plain_forms_have_the_worked_values() -> None:
    assert counts.plain_ci(FOUR) == pytest.approx(0.08857784, abs=5e-9)
    assert counts.plain_divergence(FOUR) == pytest.approx(0.05322007, abs=5e-9)
    for lam, value in ((0.2, 0.07844121), (0.5, 0.13560171), (0.8, 0.19276222)):
        assert counts.plain_lti(FOUR, lam) == pytest.approx(value, abs=5e-9)
    five = Counts(np.array([9.0, 5, 4, 2, 1]), np.array([3.0, 10, 1, 1, 0]), 15)
    assert counts.plain_reinforcement(five) == pytest.approx(0.4)
    assert counts.plain_gini(np.array([4.0, 3, 2, 1, 0])) == pytest.approx(0.4)


# -- M -----------------------------------------------------------------------------------------


def test_m_is_its_formula_and_twice_what_is_said_of_it(small: list[Counts]) -> None:
    found = worst(count_checks.check_reinforcement(small))
    assert found["ATM15-M formula"] <= NONE
    assert found["ATM15-M categories"] <= NONE
    assert found["ATM15-M twice-moved"] <= NONE
    assert found["ATM15-M moved"] > 0.01
    assert found["ATM15-M head"] == 0


@pytest.mark.parametrize(
    "broken",
    [
        lambda c, cuts=(0.2,): m(c, cuts) / 2,
        lambda c, cuts=(0.2,): m(c, tuple(cut / 2 for cut in cuts)),
        lambda c, cuts=(0.2,): m(c._replace(prior=c.prior[::-1].copy()), cuts),
    ],
    ids=["half", "another head", "another prior"],
)
def test_a_broken_m_is_found(small: list[Counts], broken: Callable[..., float]) -> None:
    found = worst(count_checks.check_reinforcement(small, broken))
    assert found["ATM15-M formula"] > 1e-3
    assert found["ATM15-M twice-moved"] > 1e-3


def test_the_limits_of_m_show_and_a_metric_without_them_is_told(small: list[Counts]) -> None:
    found = worst(count_checks.check_limits_of_m(small))
    assert found == {"ATM15-M-LIM border": 0.0, "ATM15-M-LIM alike": 0.0}
    other = worst(count_checks.check_limits_of_m(small, lambda c, cuts=(0.2,): ci(c)))
    assert other["ATM15-M-LIM border"] == 1
    assert other["ATM15-M-LIM alike"] > 1e-3


# -- CI ----------------------------------------------------------------------------------------


def test_ci_is_its_formula_and_no_jensen_shannon_divergence(small: list[Counts]) -> None:
    found = worst(count_checks.check_index(small))
    assert found.pop("ATM15-CI divergence") > 0.1
    assert found.pop("ATM15-CI jeffreys") <= 1e-9
    assert found.pop("ATM15-CI within-class") == 0
    assert max(found.values()) <= NONE


def asymmetric(counts_: Counts) -> float:
    """Only the first half of CI."""
    s, r = counts_.prior, counts_.shown
    ratio = (s + 1) / (s.sum() + len(s)) * (r.sum() + len(s)) / (r + 1)
    return float((s / s.sum() * np.log(ratio)).sum())


def test_a_broken_ci_is_found(small: list[Counts]) -> None:
    found = worst(count_checks.check_index(small, asymmetric))
    assert found["ATM15-CI formula"] > 1e-3
    assert found["ATM15-CI places"] > 1e-3
    assert found["ATM15-CI mirrored"] > 1e-3
    assert found["ATM15-CI jeffreys"] > 1e-3
    assert worst(count_checks.check_index(small, m))["ATM15-CI within-class"] > 0
    assert worst(count_checks.check_index(small, js))["ATM15-CI divergence"] <= NONE


def test_the_form_of_the_footnote_is_bounded_and_not_smoothed(small: list[Counts]) -> None:
    assert max(worst(count_checks.check_divergence(small)).values()) <= NONE
    broken = worst(count_checks.check_divergence(small, ci))
    assert min(broken.values()) > 1e-3


def test_ci_of_proportional_lists_is_0_and_the_converse_fails(
    small: list[Counts], wide: list[Counts]
) -> None:
    found = worst(count_checks.check_proportional(small, wide[0].prior))
    assert found["ATM15-CI-ZERO proportional"] <= NONE
    assert found["ATM15-CI-ZERO converse"] > 100
    assert found["ATM15-CI-ZERO unsmoothed"] == 0
    assert {name: value for name, value in found.items() if "POS" in name} == {
        "ATM15-CI-POS deviates": 0,
        "ATM15-CI-POS to-even": 0,
        "ATM15-CI-POS to-one": 0,
    }


def test_ci_is_negative_for_the_worked_counterexample() -> None:
    few = Counts(np.array([1.0, 3]), np.array([27.0, 73]), 100)
    assert ci(few) == pytest.approx(-0.00278713, abs=5e-9)


def test_a_divergence_that_is_none_is_found(small: list[Counts], wide: list[Counts]) -> None:
    found = worst(count_checks.check_proportional(small, wide[0].prior, lambda c: -ci(c) + 0.01))
    assert found["ATM15-CI-ZERO proportional"] > 1e-3
    assert found["ATM15-CI-ZERO unsmoothed"] > 0
    assert found["ATM15-CI-POS deviates"] > 0
    assert found["ATM15-CI-POS to-even"] == found["ATM15-CI-POS to-one"] == 20


# -- LTI ---------------------------------------------------------------------------------------


def test_lti_is_its_formula_and_never_punishes_the_head(
    small: list[Counts], wide: list[Counts]
) -> None:
    rng = np.random.default_rng(1)
    found = worst(count_checks.check_long_tail(small, wide) + count_checks.check_raised(wide, rng))
    assert found["ATM15-LTI formula"] <= NONE
    assert found["ATM15-LTI places"] <= NONE
    assert found["ATM15-LTI ends"] == 0
    assert found["ATM15-LTI raised"] > 0.5
    assert found["ATM15-LTI lowered"] == 0
    assert found["ATM15-LTI lowered-percentile"] > 0.95
    assert found["ATM15-LTI-SCALE smoothing"] <= NONE
    assert found["ATM15-LTI-SCALE pinned"] <= 1e-8


def against(counts_: Counts, lam: float, *, percentile: bool = False) -> float:
    return -lti(counts_, lam, percentile=percentile)


def test_a_broken_lti_is_found(small: list[Counts], wide: list[Counts]) -> None:
    rng = np.random.default_rng(1)
    raised = count_checks.check_raised(wide, rng, against)
    found = worst(count_checks.check_long_tail(small, wide, against) + raised)
    assert found["ATM15-LTI formula"] > 1e-3
    assert found["ATM15-LTI places"] > 1e-3
    assert found["ATM15-LTI raised"] < 0.5
    assert found["ATM15-LTI lowered"] == 1
    assert found["ATM15-LTI lowered-percentile"] < 0.05
    assert found["ATM15-LTI-SCALE pinned"] > 0.1


def test_values_outside_are_taken_by_a_lenient_metric(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(count_checks, "parse_metric", lambda text: text)
    assert count_checks._is_taken("1.5")


def test_weights_follow_from_values_alone(small: list[Counts]) -> None:
    for each in small[:10]:
        expected = 0.3 - each.prior / each.prior.sum()
        if len(expected) > 2:
            np.testing.assert_allclose(count_checks._weights(each, 0.3, lti), expected, atol=1e-9)


def test_lambda_is_a_threshold_on_shares_and_not_a_percentile(small: list[Counts]) -> None:
    chosen = [each for each in small[:20] if len(each.prior) > 2]
    found = worst(count_checks.check_lambda(chosen))
    assert found["ATM15-LTI-LAM share"] == 0
    assert found["ATM15-LTI-LAM percentile"] > 0
    assert found["ATM15-LTI-LAM percentile-mended"] == 0
    broken = worst(count_checks.check_lambda(chosen, against))
    assert broken["ATM15-LTI-LAM share"] > 0
    assert broken["ATM15-LTI-LAM percentile-mended"] > 0


# -- dispersion, and both together --------------------------------------------------------------


def test_dispersion_is_what_it_is_called(
    small: list[Counts], monkeypatch: pytest.MonkeyPatch
) -> None:
    scores = checks._scores(np.random.default_rng(2))
    assert max(worst(count_checks.check_dispersion(small, scores)).values()) <= NONE
    gini, hoover, lorenz = concentration.gini, concentration.hoover, concentration.lorenz
    for name, broken, found in (
        ("gini", lambda rows: 1 - gini(rows), ("gini", "area")),
        ("hoover", lambda rows: 2 * hoover(rows), ("hoover", "furthest")),
        ("lorenz", lambda rows: lorenz(rows) ** 2, ("area", "furthest")),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(concentration, name, broken)
            values = worst(count_checks.check_dispersion(small, scores))
        assert all(values[f"ATM15-D-DISP {each}"] > 1e-3 for each in found), name
    with monkeypatch.context() as patch:
        patch.setattr(count_checks, "item_counts", lambda view, cutoff: np.ones((1, view.n_items)))
        values = worst(count_checks.check_dispersion(small, scores))
    assert values["ATM15-D-DISP coverage"] > 0.01
    assert values["ATM15-D-DISP diversity"] >= 1


def test_dispersion_does_not_notice_what_the_prior_tells(
    wide: list[Counts], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert max(worst(count_checks.check_prior(wide)).values()) <= NONE
    blind = worst(count_checks.check_prior(wide, lambda c: counts.plain_gini(c.shown)))
    assert blind["ATM15-C-PRIOR blind"] == len(wide)
    weight = np.arange(150.0)
    monkeypatch.setattr(concentration, "hoover", lambda rows: (rows * weight).sum(axis=1))
    monkeypatch.setattr(concentration, "lorenz", lambda rows: rows)
    monkeypatch.setattr(count_checks, "_diversity", lambda rows: rows[:, 0])
    broken = worst(count_checks.check_prior(wide))
    assert broken["ATM15-C-PRIOR dispersion"] > 1
    assert broken["ATM15-C-PRIOR curve"] > 0.1
    assert broken["ATM15-C-PRIOR coverage"] > 0.1


def test_lti_tells_the_direction_that_ci_leaves_open(wide: list[Counts]) -> None:
    (sound,) = count_checks.check_together(wide[0].prior)
    assert (sound.n_checked, sound.worst) == (4, 0)
    (broken,) = count_checks.check_together(wide[0].prior, tail=lambda c: -lti(c))
    assert broken.worst == 4


# -- on data -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fold() -> Any:
    return dataset_splits(load_dataset("world(users=40,items=60)"), "k-fold 5", seed=1)[0]


def test_a_prior_of_all_ratings_is_found(fold: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    lists = [np.random.default_rng(1).permuted(np.tile(np.arange(60, dtype=np.int32), (40, 1)),
                                               axis=1)[:, :10]]  # fmt: skip
    found = worst(checks.check_counts(lists, fold.train, min_rating=4, cutoff=5))
    assert found["ATM15-CI prior"] == found["ATM15-CI counts"] == 0
    assert found["ATM15-CI measured"] <= NONE
    view = checks.list_view
    monkeypatch.setattr(
        checks, "list_view", lambda items, train, min_rating: view(items, train, min_rating=1)
    )
    broken = worst(checks.check_counts(lists, fold.train, min_rating=4, cutoff=5))
    assert broken["ATM15-CI prior"] > 0
    assert broken["ATM15-CI measured"] > 1e-3
    monkeypatch.setattr(checks, "item_counts", lambda view, cutoff: np.ones((1, view.n_items)))
    assert worst(checks.check_counts(lists, fold.train, min_rating=4, cutoff=5))["ATM15-CI counts"]


def test_what_the_poster_used_is_there() -> None:
    systems = line_up("atm15", min_rating=4)
    grid = Grid("synthetic", systems, concentration_protocols(4), {"full": setup.metrics(10)})
    assert set(worst(checks.check_paper(grid)).values()) == {0}
    less = dataclasses.replace(grid, systems=systems[:5], metrics={"full": ("P@10", "Gini@10")})
    found = worst(checks.check_paper(less))
    assert found["ATM15-SETUP systems"] == 4
    assert found["ATM15-F1 ranks"] == 4 * 7


# -- pairs and ranks ---------------------------------------------------------------------------


def test_pairs_without_interval_are_resolved_by_folds_and_others_by_replicates() -> None:
    noise = np.random.default_rng(1).standard_normal((3, 500))
    drawn = [
        Quantity(value, value + 0.1 * row, "normal")
        for value, row in zip((3.0, 1.0, 1.1), noise, strict=True)
    ]
    assert pair_signs(drawn, [np.nan] * 3, 1).tolist() == [1, 1, 0]
    folds = [Quantity(value, None, "none") for value in (3.0, 1.0, 1.1)]
    assert pair_signs(folds, [0.1, 0.1, 0.1], 5).tolist() == [1, 1, 0]
    # With 21 times fewer chances of an error the bound is wider: here 4.93 standard errors of 4 df.
    assert pair_signs(folds[1:], [0.01, 0.01], 5).tolist() == [-1]
    assert pair_signs(folds[1:], [0.05, 0.05], 5).tolist() == [-1]
    assert pair_signs(folds[1:], [0.06, 0.06], 5).tolist() == [0]
    with pytest.raises(NotComputed, match="several folds"):
        pair_signs(folds, [np.nan] * 3, 1)


def test_ranks_hold_what_is_not_resolved() -> None:
    best, worst_ = rank_limits(np.array([1, 1, 0], np.int8), 3)
    assert (best.tolist(), worst_.tolist()) == ([1, 2, 2], [1, 3, 3])


def test_the_prior_of_no_rating_is_no_number() -> None:
    assert np.isnan(prior.concentration_index(np.zeros(3), np.ones((1, 3)))).all()
