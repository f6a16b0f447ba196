"""The density at which a difference is lost: what is expected, against taking judgments out."""

import numpy as np
import pytest

from recbias.claims.sparsity_bias.densities import (
    CRITICAL,
    FEWEST,
    Judged,
    _critical_share,
    statistic,
)

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
