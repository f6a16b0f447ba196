"""The density at which a difference is lost: what is expected, against taking judgments out."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rank_tables import run_table, user_table
from recbias import Grid, line_up
from recbias._system.streams import stream
from recbias.book.chapters.sparsity_bias.densities import (
    CRITICAL,
    FEWEST,
    Judged,
    _critical_share,
    _read,
    densities,
    densities_grid,
    statistic,
)
from recbias.data.datasets import load_dataset
from recbias.ranking import RankTable
from recbias.stats.resampling import bootstrap_weights

N_USERS, N_FOLDS = 150, 2


def small_world(seed: int = 3) -> Judged:
    """Two systems, the first ahead; users have 0 to 12 relevant ratings in each fold."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0, 13, size=(N_FOLDS, N_USERS))
    user = np.concatenate([np.repeat(np.arange(N_USERS), own) for own in sizes])
    fold = np.repeat(np.arange(N_FOLDS), sizes.sum(axis=1))
    _, profile = np.unique(fold * N_USERS + user, return_inverse=True)
    liking = rng.random(N_USERS)[user]
    listed = np.array([rng.random(len(user)) < share * liking for share in (0.36, 0.3)])
    drawn = np.array([share * liking * rng.random(len(user)) for share in (0.72, 0.6)])
    return Judged(N_USERS, N_FOLDS, user, profile, listed.astype(float), drawn)


def by_hand(judged: Judged, design: str, kept: np.ndarray) -> tuple[float, float]:
    """Numerator and squared error of the test on what is left, user by user."""
    hits = judged.drawn if design == "1R" else judged.listed
    difference, residuals = hits[0] - hits[1], []
    if design == "AR":
        sums = [difference[(judged.user == u) & kept].sum() for u in range(N_USERS)]
        mean = np.mean(sums)
        residuals = [each - mean for each in sums]
    elif design == "1R":
        sums, mean = [difference[kept].sum()], difference[kept].mean()
        for u in range(N_USERS):
            residuals.append((difference[(judged.user == u) & kept] - mean).sum())
    else:
        own = {}
        for profile in np.unique(judged.profile[kept]):
            rows = (judged.profile == profile) & kept
            own[profile] = (judged.user[rows][0], difference[rows].mean())
        sums = [value for _, value in own.values()]
        mean = np.mean(sums)
        per_user = np.zeros(N_USERS)
        for user, value in own.values():
            per_user[user] += value - mean
        residuals = list(per_user)
    return float(np.sum(sums)), float(np.square(residuals).sum())


@pytest.mark.parametrize("design", ["AR", "1R", "R"])
def test_the_whole_test_is_the_plain_statistic(design: str) -> None:
    judged = small_world()
    total, squared = by_hand(judged, design, np.ones(len(judged.user), dtype=bool))
    found = statistic(judged, design, (0, 1), [1.0])[0, 0]
    assert found == pytest.approx(total / np.sqrt(squared), rel=1e-9)


@pytest.mark.parametrize("design", ["AR", "1R", "R"])
def test_what_is_expected_is_what_taking_out_gives(design: str) -> None:
    """Over 200 draws the ratio of means has 4 standard errors of about 3 % of a chance draw."""
    judged, rng, share = small_world(), np.random.default_rng(5), 0.3
    drawn = [by_hand(judged, design, rng.random(len(judged.user)) < share) for _ in range(200)]
    totals, squares = np.array(drawn).T
    taken_out = totals.mean() / np.sqrt(squares.mean())
    error = totals.std() / np.sqrt(len(totals)) / np.sqrt(squares.mean())
    found = statistic(judged, design, (0, 1), [share])[0, 0]
    assert abs(found - taken_out) < 4 * error + 0.01 * abs(found)
    # Without the variance that single ratings add, it would only seem so.
    naive = statistic(judged, design, (0, 1), [1.0])[0, 0]
    assert abs(naive - taken_out) > 4 * error + 0.01 * abs(found)


@pytest.mark.parametrize("design", ["AR", "1R", "R"])
def test_at_the_critical_share_every_second_test_set_tells(design: str) -> None:
    judged, rng = small_world(), np.random.default_rng(7)
    everybody = np.ones((1, N_USERS), dtype=np.uint8)
    (share,) = _critical_share(judged, design, (0, 1), everybody)
    assert 0.02 < share < 0.95
    at = statistic(judged, design, (0, 1), [share])[0, 0]
    assert at == pytest.approx(CRITICAL, rel=0.01)
    drawn = [by_hand(judged, design, rng.random(len(judged.user)) < share) for _ in range(200)]
    told = np.mean([total / np.sqrt(squared) > CRITICAL for total, squared in drawn])
    # 200 draws: 4 standard errors are .14; .03 more for what is not normal.
    assert abs(told - 0.5) < 0.17


def test_what_is_never_told_and_what_always_is() -> None:
    judged = small_world()
    everybody = np.ones((1, N_USERS), dtype=np.uint8)
    for design in ("AR", "1R", "R"):
        same = Judged(
            N_USERS,
            N_FOLDS,
            judged.user,
            judged.profile,
            judged.listed[[0, 0]],
            judged.drawn[[0, 0]],
        )
        assert _critical_share(same, design, (0, 1), everybody).tolist() == [1.0]
        hits = np.array([np.ones(len(judged.user)), np.zeros(len(judged.user))])
        clear = Judged(N_USERS, N_FOLDS, judged.user, judged.profile, hits, hits)
        found = _critical_share(clear, design, (0, 1), everybody)[0]
        assert found == pytest.approx(FEWEST / len(judged.user))


# -- from tables of ranks to the table of pairs ---------------------------------------------------
KNN = "kNN (rating prediction)"


def tables_of_two_folds() -> list[list[tuple[RankTable, RankTable]]]:
    """Two systems; user 0 has test ratings in both folds, user 1 in the first, user 2 in none."""

    def fold(*users: Any, places: list[tuple[int, int]]) -> tuple[RankTable, RankTable]:
        runs = [(user, rank, 5.0) for user, rank in places]
        return user_table(*users), run_table(3, *runs, size=6)

    nobody: Any = ([8, 9], {})
    first = [
        fold(([1, 2, 3], {2: 5.0, 3: 5.0, 1: 1.0}), ([1, 4], {4: 5.0}), nobody,
             places=[(0, 1), (0, 3), (1, 0)]),
        fold(([5, 6, 7], {7: 5.0}), nobody, nobody, places=[(0, 6)]),
    ]  # fmt: skip
    second = [
        fold(([3, 1, 2], {2: 5.0, 3: 5.0, 1: 1.0}), ([1], {4: 5.0}), nobody,
             places=[(0, 2), (0, 1), (1, 4)]),
        fold(([7, 6], {7: 5.0}), nobody, nobody, places=[(0, 1)]),
    ]  # fmt: skip
    return [first, second]


def test_hits_are_read_rating_by_rating_and_fold_by_fold() -> None:
    judged = Judged.of(tables_of_two_folds(), min_rating=5, cutoff=2, size=4)
    assert (judged.n_users, judged.n_folds) == (3, 2)
    assert judged.user.tolist() == [0, 0, 1, 0]
    # The ratings of user 0 in the two folds are two profiles.
    assert judged.profile.tolist() == [0, 0, 1, 2]
    # Ranks 2, 3, 2, 3 and 3, 1, none, 1: the second place of two is a hit, the third is none.
    assert judged.listed.tolist() == [[1, 0, 1, 0], [0, 1, 0, 1]]
    # Three of five others are drawn. Behind none or one of them an item hits for sure; with two
    # above it unless both are drawn, 7 of 10; with three 1 - 7/10 have at most one drawn; with five
    # never; where it is not listed never.
    chance = {0: 0.0, 1: 1.0, 2: 1.0, 3: 0.7, 4: 0.3, 6: 0.0}
    wanted = [[chance[rank] for rank in ranks] for ranks in ((1, 3, 0, 6), (2, 1, 4, 1))]
    np.testing.assert_allclose(judged.drawn, wanted, atol=1e-12)


def test_the_table_has_the_first_ahead_and_the_intervals_of_resamples(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECBIAS_CELLS", str(tmp_path))
    systems = [each for each in line_up("bcc17") if each.name in ("Random", KNN)]
    rules = {"AR": "TI-AN-AR rel>=4", "all-1R": "TI-AN-1R rel>=4"}
    world = "world(relation=0,skew=0.4,users=150,items=120,density=0.1,liked=4,seed=5)"
    grid = Grid(world, systems, rules, ("rho",), split="k-fold 2", seed=3)
    asked = densities_grid(grid, cutoff=5)
    table = densities(world, grid=asked, cutoff=5, size=20)
    judged = _read(asked, load_dataset(world), 5, 20)
    assert [each.name for each in systems] == ["Random", KNN]
    pair = (1, 0)
    drawn = bootstrap_weights(150, 200, rng=stream(3, "bootstrap"))
    assert table.frame["design"].tolist() == ["AR", "1R", "R"]
    for row in table.frame.itertuples():
        assert (row.first, row.second) == (KNN, "Random")
        (whole,) = statistic(judged, row.design, pair, [1.0])[0]
        assert row.statistic == pytest.approx(whole)
        assert whole > CRITICAL
        # Each resample by itself, to what interpolation leaves.
        shares = [_share_by_bisection(judged, row.design, pair, each) for each in drawn]
        assert (row.low, row.high) == pytest.approx(np.quantile(shares, (0.025, 0.975)), rel=0.02)
        everybody = np.ones(150, dtype=np.uint8)
        one = _share_by_bisection(judged, row.design, pair, everybody)
        assert row.value == pytest.approx(one, rel=0.01)
    assert table.frame["value"].nunique() == 3


def _share_by_bisection(
    judged: Judged, design: str, pair: tuple[int, int], weights: np.ndarray
) -> float:
    low, high = FEWEST / len(judged.user), 1.0

    def told(share: float) -> bool:
        return abs(statistic(judged, design, pair, [share], weights[None])[0, 0]) > 1.96

    if told(low):
        return low
    if not told(high):
        return high
    for _ in range(14):
        middle = np.sqrt(low * high)
        low, high = (low, middle) if told(middle) else (middle, high)
    return float(np.sqrt(low * high))


def test_a_residual_of_1r_takes_the_mean_off_each_rating() -> None:
    """Every rating the same difference: no choice of ratings changes their mean."""
    user = np.repeat(np.arange(30), np.tile([1, 4, 9], 10))
    ones = np.ones(len(user))
    same = Judged(30, 1, user, user, np.array([ones, 0 * ones]), np.array([0.6 * ones, 0.1 * ones]))
    assert np.isinf(statistic(same, "1R", (0, 1), [1.0, 0.3])).all()
    # Under AR the sizes of profiles, and which ratings are left, do make a difference.
    assert np.isfinite(statistic(same, "AR", (0, 1), [1.0, 0.3])).all()
