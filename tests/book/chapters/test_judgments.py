"""How many random judgments order systems as the truth does: by loops, and where all is known."""

from __future__ import annotations

import dataclasses
import itertools
import random

import numpy as np
import pytest
from scipy import stats

from recbias import Grid, line_up
from recbias.book.chapters.true_vs_false_positive_disagreement import judgments as judgments_module
from recbias.book.chapters.true_vs_false_positive_disagreement import setup
from recbias.book.chapters.true_vs_false_positive_disagreement.judgments import (
    Judged,
    agreement_by_judgments,
    judgments,
    judgments_asked,
)
from recbias.data.datasets import load_dataset
from recbias.errors import ConfigError
from recbias.protocol.testset import TestSet, dataset_splits
from recbias.ranking import RankTable


def sign(step: float) -> int:
    return int(step > 1e-9) - int(step < -1e-9)


def tau(a, b) -> float:
    """Concordant less discordant pairs, over all pairs."""
    pairs = list(itertools.combinations(range(len(a)), 2))
    return sum(sign(a[i] - a[j]) * sign(b[i] - b[j]) for i, j in pairs) / len(pairs)


@dataclasses.dataclass
class Known:
    """A world of which everything is known: who likes what, and what each system lists."""

    liked: np.ndarray  # (users, items)
    listed: np.ndarray  # (systems, users, items)

    @property
    def true(self) -> np.ndarray:
        return (self.listed & self.liked).sum(axis=(1, 2))

    def judged(self, rng, n: int) -> Judged:
        """Draw n judgments of each user, and as observed ratings two of what they like."""
        n_users, n_items = self.liked.shape
        item = np.array([rng.permutation(n_items)[:n] for _ in range(n_users)])
        user = np.repeat(np.arange(n_users), n)
        flat = item.ravel()
        rows = {pair: row for row, pair in enumerate(zip(user, flat, strict=True))}
        picked = [rng.permutation(np.flatnonzero(row))[:2] for row in self.liked]
        seen = [(u, int(i)) for u, items in enumerate(picked) for i in items]
        seen_user, seen_item = np.array(seen).T
        return Judged(
            user=user,
            liked=self.liked[user, flat],
            listed=self.listed[:, user, flat].T.astype(float),
            n_items=n_items,
            seen_user=seen_user,
            seen_liked=self.liked[seen_user, seen_item],
            seen_listed=self.listed[:, seen_user, seen_item].T.astype(float),
            seen_in=np.array([rows.get(pair, -1) for pair in seen]),
        )


def known(rng, n_users=100, n_items=60, n_systems=6) -> Known:
    """Systems that know more or less of what is liked, and list ten items each."""
    taste = rng.normal(size=(n_users, n_items)) + rng.normal(size=n_items)
    liked = taste > 0.7
    listed = np.zeros((n_systems, n_users, n_items), dtype=bool)
    for system, skill in enumerate(rng.uniform(0, 0.25, n_systems)):
        scores = skill * taste + rng.normal(size=taste.shape)
        best = np.argsort(-scores, axis=1)[:, :10]
        np.put_along_axis(listed[system], best, True, axis=1)
    return Known(liked, listed)


def by_loops(judged: Judged, k: int, n_draws: int, *, leak: bool = False) -> dict[str, float]:
    """Deal judgments user by user, and add hits up one by one."""
    n_systems, draw = judged.listed.shape[1], random.Random(5)
    of_user: dict[int, list[int]] = {}
    for row, user in enumerate(judged.user.tolist()):
        of_user.setdefault(user, []).append(row)
    found = {"same": 0.0, "alone": 0.0, "mixed": 0.0}
    for _ in range(n_draws):
        first, second, whole = ([0.0] * n_systems for _ in range(3))
        other = set()
        for rows in of_user.values():
            order = draw.sample(rows, len(rows))
            middle = len(rows) // 2
            other |= set(order[middle:])
            for total, part in (
                (first, order[:k] if k <= middle else order[:middle]),
                (second, order[middle : middle + k]),
                (whole, order[middle:]),
            ):
                for row in part:
                    for system in range(n_systems):
                        total[system] += judged.listed[row, system] * judged.liked[row]
        kept = [
            row for row, place in enumerate(judged.seen_in.tolist()) if leak or place not in other
        ]
        weight = len(judged.seen_in) / len(kept)
        mixed = [
            first[system]
            + weight * sum(judged.seen_listed[row, system] * judged.seen_liked[row] for row in kept)
            for system in range(n_systems)
        ]
        found["same"] += tau(first, second) / n_draws
        found["alone"] += tau(first, whole) / n_draws
        found["mixed"] += tau(mixed, whole) / n_draws
    return found


def rows_of(frame, metric, quantity):
    own = frame[(frame["metric"] == metric) & (frame["quantity"] == quantity)]
    return own.set_index("at")


def test_measured_taus_are_those_of_loops():
    judged = known(np.random.default_rng(1), n_users=25, n_items=20, n_systems=4).judged(
        np.random.default_rng(2), 8
    )
    frame = agreement_by_judgments(judged, seed=3, n_draws=600)
    expected = by_loops(judged, 3, 600)
    # Tau of six pairs has a s.d. of .5 at most: five standard errors of two means' difference.
    bound = 5 * 0.5 * np.sqrt(2 / 600)
    truth = rows_of(frame, "P", "truth")
    assert truth.loc[3, "most"] ** 2 == pytest.approx(expected["same"], abs=bound)
    assert rows_of(frame, "P", "alone").loc[3, "value"] == pytest.approx(
        expected["alone"], abs=bound
    )
    assert rows_of(frame, "P", "mixed").loc[3, "value"] == pytest.approx(
        expected["mixed"], abs=bound
    )
    ahead = rows_of(frame, "P", "ahead").loc[3, "value"]
    assert ahead == pytest.approx(expected["alone"] - expected["mixed"], abs=2 * bound)


def test_observed_ratings_do_not_count_twice():
    # All observed ratings are among the judgments: the twin counts them in the truth as well.
    world = known(np.random.default_rng(4), n_users=25, n_items=12, n_systems=4)
    judged = world.judged(np.random.default_rng(5), 12)
    assert (judged.seen_in >= 0).all()
    leaking = dataclasses.replace(judged, seen_in=np.full(len(judged.seen_in), -1))
    rows = [
        rows_of(agreement_by_judgments(each, seed=3, n_draws=400), "P", "mixed")
        for each in (judged, leaking)
    ]
    honest, twin = (each.loc[0, "value"] for each in rows)
    expected = by_loops(judged, 0, 400)["mixed"]
    bound = 5 * 0.5 * np.sqrt(2 / 400)
    assert honest == pytest.approx(expected, abs=bound)
    assert by_loops(judged, 0, 400, leak=True)["mixed"] == pytest.approx(twin, abs=bound)
    assert twin > honest + bound


@pytest.mark.parametrize("metric", ["P", "antiP"])
def test_hits_of_a_draw_are_those_of_loops(metric):
    """Observed ratings weigh as those of one list of three, those in the other half not at all."""
    rng = np.random.default_rng(6)
    judged = known(rng, n_users=12, n_items=10, n_systems=3).judged(rng, 6)
    liked = rng.random(len(judged.seen_user)) < 0.6
    judged = dataclasses.replace(judged, seen_liked=liked, n_folds=3)
    assert -1 in judged.seen_in.tolist()
    assert max(judged.seen_in.tolist()) >= 0
    plan = judgments_module._Plan.of(judged, 4, rng)
    half, place = plan.deal(judged.user, rng)
    found = judgments_module._hits(judged, metric, plan, half, place)
    own, seen = np.zeros(found.judged.shape), np.zeros(found.seen.shape)
    for row, user in enumerate(judged.user.tolist()):
        if judged.liked[row] == (metric == "P"):
            for system in range(3):
                own[half[row], plan.group[user], place[row], system] += judged.listed[row, system]
    for side in (0, 1):
        kept = [r for r, at in enumerate(judged.seen_in.tolist()) if at < 0 or half[at] == side]
        assert len(kept) < len(judged.seen_in)
        for row in kept:
            if judged.seen_liked[row] == (metric == "P"):
                for system in range(3):
                    seen[side, plan.group[judged.seen_user[row]], system] += (
                        judged.seen_listed[row, system] * len(judged.seen_in) / len(kept) / 3
                    )
    assert own.sum() > 0 < seen.sum()
    np.testing.assert_allclose(found.judged, own)
    np.testing.assert_allclose(found.seen, seen)


def test_left_out_groups_give_the_interval_of_a_mean():
    """Of a mean the jackknife is exact: its interval is Student's."""
    values = np.random.default_rng(7).uniform(-0.6, 0.6, size=(9, 2))
    without = [np.delete(values, group, axis=0).mean(axis=0) for group in range(9)]
    found = judgments_module._jackknife(np.array([values.mean(axis=0), *without]))
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    np.testing.assert_allclose(found, np.array([values.mean(axis=0), *expected]).T)


def test_samples_without_replacement_are_opposed():
    """Of eight items, judged one by one: what one sample has, the other has not."""
    n_items, most = 8, 4
    numbers = np.arange(1, most + 1)
    scale = judgments_module._scales(most)[22]
    rng = np.random.default_rng(8)
    noise = rng.normal(size=(200_000, n_items))
    truth = scale * rng.normal(size=len(noise))
    values = truth[:, None] + noise - noise.mean(axis=1, keepdims=True)
    pairs = [(values[:, :k].mean(axis=1), values[:, -k:].mean(axis=1)) for k in numbers]
    same = np.array([(np.sign(one) * np.sign(other)).mean() for one, other in pairs])
    real = [(np.sign(one) * np.sign(truth)).mean() for one, _ in pairs]
    weights = judgments_module._mixture(same, numbers, n_items)
    found = judgments_module._with_truth(weights, numbers, most, n_items)
    # A mean of signs has a standard error of .0022 at most; the fit takes several of them in.
    assert found == pytest.approx(real, abs=0.02)


@pytest.fixture(scope="module")
def worlds():
    """For some worlds, what is found from 24 judgments per user, and how it is with k of them."""
    found = []
    for number in range(16):
        rng = np.random.default_rng(number)
        world = known(rng)
        frame = agreement_by_judgments(world.judged(rng, 24), seed=number, n_draws=60)
        hits = world.listed & world.liked
        real = {}
        for k in (4, 12, 40):
            drawn = []
            for _ in range(60):
                kept = rng.random(world.liked.shape).argsort(axis=1).argsort(axis=1) < k
                drawn.append(tau((hits & kept).sum(axis=(1, 2)), world.true))
            real[k] = np.mean(drawn)
        found.append((frame, real))
    return found


def gap(worlds, k: int, column: str, quantity: str = "truth") -> tuple[float, float]:
    """By how much what is found exceeds what is, on average, and the standard error of that."""
    gaps = []
    for frame, real in worlds:
        truth = rows_of(frame, "P", quantity)[column]
        gaps.append(np.interp(k, truth.index, truth) - real[k])
    return float(np.mean(gaps)), float(np.std(gaps, ddof=1) / np.sqrt(len(gaps)))


@pytest.mark.parametrize("k", [4, 12, 40])
def test_the_estimate_is_what_the_truth_gives(worlds, k):
    # Three standard errors over worlds, and .03 for what the mixture of scales cannot be.
    mean, error = gap(worlds, k, "value")
    assert abs(mean) < 0.03 + 3 * error


@pytest.mark.parametrize("k", [4, 12])
def test_the_other_half_is_not_the_truth(worlds, k):
    # The twin of the estimate: tau with an order that has noise of its own is too low.
    mean, error = gap(worlds, k, "value", "alone")
    assert mean < -3 * error
    if k == 4:
        assert mean < -0.03


@pytest.mark.parametrize("k", [4, 12])
def test_bounds_need_no_model(worlds, k):
    low, low_error = gap(worlds, k, "least")
    high, high_error = gap(worlds, k, "most")
    assert low < 3 * low_error
    assert high > -3 * high_error


def test_what_is_needed_follows_from_the_curve(worlds):
    for frame, _ in worlds[:4]:
        truth = rows_of(frame, "P", "truth")
        needed = rows_of(frame, "P", "needed")
        for target, row in needed.iterrows():
            assert row["low"] <= row["value"] <= row["high"]
            below = truth[truth.index < row["value"]]
            above = truth[truth.index >= row["value"]]
            assert (below["value"] < target).all()
            assert (above["value"] >= target).all()
            fewest = rows_of(frame, "P", "at least").loc[target, "value"]
            ceiling = truth["most"].dropna()
            assert fewest == min(ceiling.index[ceiling >= target], default=13)
        assert truth["value"].iloc[-1] == pytest.approx(1)  # by all items nothing is left to chance
        assert truth["value"].is_monotonic_increasing


def test_only_listed_items_tell_systems_apart():
    judged = known(np.random.default_rng(1), n_users=30, n_items=30).judged(
        np.random.default_rng(2), 10
    )
    frame = agreement_by_judgments(judged, seed=1, n_draws=5)
    share = rows_of(frame, "antiP", "in a list").loc[0, "value"]
    assert share == pytest.approx(np.mean([any(row) for row in judged.listed.tolist()]))
    least = rows_of(frame, "antiP", "as many as observed")
    assert least.index.tolist() == [2]  # two observed ratings of each user, all in one list


@pytest.mark.parametrize(("n_users", "n"), [(30, 1), (10, 8)])
def test_too_few_judgments_or_users_are_refused(n_users, n):
    judged = known(np.random.default_rng(1), n_users=n_users, n_items=20).judged(
        np.random.default_rng(2), n
    )
    with pytest.raises(ConfigError, match="expected two at least, and 20 users"):
        agreement_by_judgments(judged, seed=1)


@pytest.fixture(scope="module")
def grid() -> Grid:
    name = "world(users=60,items=80,density=0.1,seed=2)"
    asked, tests = setup.protocols(4, truth="truth sample=20")
    systems = [each for each in line_up("mccrs20") if each.name in ("Random", "Popularity")]
    return Grid(name, tuple(systems), asked, ("P@10",), split="k-fold 3", tests=tests)


def test_lists_are_read_from_the_cells_of_a_grid(grid):
    name = grid.dataset
    given = judgments_asked(grid, cutoff=10)
    assert given.pop("n_draws") < 200
    index, frame = judgments.function(load_dataset(name), **given, n_draws=3)
    assert index == ("metric", "quantity", "at")
    assert not frame.duplicated(list(index)).any()
    assert set(frame["metric"]) == {"P", "antiP"}
    truth = rows_of(frame, "P", "truth")
    assert truth.index.max() == 80


def test_observed_ratings_know_their_judgments(grid):
    dataset = load_dataset(grid.dataset)
    read = judgments_module._read(grid, dataset, 10)
    rows = {}
    for side in ("truth sample=20", "observed"):
        folds = dataset_splits(dataset, grid.split, seed=grid.seed, judgments=TestSet.parse(side))
        rows[side] = [
            row
            for fold in folds
            for row in sorted(zip(fold.test.user, fold.test.item, fold.test.value, strict=True))
        ]
    judged, seen = rows.values()
    assert read.user.tolist() == [user for user, _, _ in judged]
    assert read.liked.tolist() == [value >= 4 for _, _, value in judged]
    assert read.seen_user.tolist() == [user for user, _, _ in seen]
    assert read.seen_liked.tolist() == [value >= 4 for _, _, value in seen]
    assert read.n_folds == 3
    pairs = [row[:2] for row in judged]
    assert 0 < sum(row[:2] in set(pairs) for row in seen) < len(seen)
    for (user, item, _), place in zip(seen, read.seen_in.tolist(), strict=True):
        if place < 0:
            assert (user, item) not in pairs
        else:
            assert pairs[place] == (user, item)


def ranked(rank: list[int]) -> RankTable:
    places = np.array(rank, dtype=np.int32)
    item = np.arange(len(rank), dtype=np.int32)
    length = np.array([len(rank)], dtype=np.int32)
    return RankTable(
        "user", 1, np.zeros_like(item), item, np.ones(len(rank)), places, places, length, length
    )


def test_a_list_ends_at_the_cutoff():
    once = {0: [ranked([9, 10, 11, 0])], 1: [ranked([10, 1])]}
    twice = {0: [ranked([10, 11, 1, 0]), ranked([11, 12, 10, 0])], 1: [ranked([0, 3])] * 2}
    found = judgments_module._listed([once, twice], 10)
    assert found.listed.T.tolist() == [[1, 1, 0, 0, 1, 1], [0.5, 0, 1, 0, 0, 1]]
    assert found.item.tolist() == [0, 1, 2, 3, 0, 1]
    assert found.n_folds == 2
