"""Which judgments count: a value that prints, and the splits that follow from it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recbias.data.datasets import Dataset, dataset_info, load_dataset
from recbias.data.ratings import Ratings
from recbias.errors import ConfigError, DataError
from recbias.experiment.cells import grid_cells
from recbias.experiment.grid import Grid
from recbias.protocol.targets import popularity_groups
from recbias.protocol.testset import TestSet, dataset_splits, kept_rows, reduced_split
from recbias.recommenders import System


@st.composite
def sides(draw):
    part = draw(st.sampled_from(["observed", "unbiased", "truth"]))
    sample = draw(st.one_of(st.none(), st.integers(1, 99))) if part == "truth" else None
    ends = sorted(draw(st.lists(st.integers(1, 12), min_size=3, max_size=3)))
    items = draw(st.sampled_from(["", "{}-{}/{}".format(*ends)]))
    known = ["", "same"] if part == "unbiased" or sample is not None else [""]
    train = draw(st.sampled_from([*known, "observed"] if part == "unbiased" else known))
    splits_observed = part == "observed" or train == "observed"
    held = draw(st.one_of(st.none(), st.integers(2, 9))) if splits_observed else None
    removed, head = draw(st.integers(0, 99)), draw(st.integers(0, 99))
    return TestSet(part, removed, head, sample, items, train, held)


@given(sides())
def test_a_test_side_prints_and_parses_back(side):
    assert TestSet.parse(str(side)) == side


def test_the_part_may_be_left_out():
    assert TestSet.parse("removed=30%") == TestSet(removed=30)
    assert TestSet.parse("") == TestSet()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("unbiast", "unknown part of the judgments 'unbiast': did you mean 'unbiased'"),
        ("observed removed=100%", "removed=100%: expected 0 to 99 percent"),
        ("observed removed=30", "cannot read test side"),
        ("observed removed=3% removed=4%", "cannot read test side"),
        ("truth sample=50%", "cannot read test side"),
        ("observed sample=5", "of truth only"),
        ("truth sample=0", "from 1"),
        ("observed tail=5%", "cannot read test side"),
        ("observed items=3", "items=3: expected groups by popularity"),
        ("observed items=", "expected groups by popularity"),
        ("observed items=0-3/10", "items=0-3/10: expected"),
        ("observed items=4-11/10", "items=4-11/10: expected"),
        ("unbiased train=all", "unknown training ratings 'all'"),
        ("unbiased train=", "unknown training ratings 'none'"),
        ("unbiased train=same train=same", "cannot read test side"),
        ("train=same", "train=same of 'observed': expected 'unbiased'"),
        ("truth train=same", "train=same of 'truth': expected 'unbiased'"),
        ("train=observed", "train=observed of 'observed', which trains on observed ratings anyway"),
        ("truth sample=5 train=observed", "train=observed of 'truth', which trains"),
        ("unbiased held=5", "held=5: a number of folds, from 2, of 'observed'"),
        ("truth held=5", "held=5: a number of folds"),
        ("observed held=1", "held=1: a number of folds, from 2"),
        ("observed held=20%", "cannot read test side"),
    ],
)
def test_a_wrong_test_side_is_refused(text, message):
    with pytest.raises(ConfigError, match=message):
        TestSet.parse(text)


def test_a_head_is_a_whole_number_of_groups():
    assert TestSet(head=20).n_head_groups(10) == 2
    with pytest.raises(ConfigError, match="no whole number of 10 groups"):
        TestSet(head=15).n_head_groups(10)


# ---- splits


def pairs(ratings):
    return set(zip(ratings.user.tolist(), ratings.item.tolist(), strict=True))


def two_parts() -> Dataset:
    """Observed and unbiased ratings of one catalogue, every third unbiased pair observed too."""
    rng = np.random.default_rng(5)
    fate = rng.choice(4, size=(30, 40), p=[0.5, 0.2, 0.2, 0.1])
    stars = rng.integers(1, 6, fate.shape).astype(float)
    user, item = np.nonzero(fate)
    frame = pd.DataFrame({"user_id": user, "item_id": item, "rating": stars[user, item]})
    every = Ratings.from_frame(frame)
    kind = fate[user, item]
    return Dataset(
        every.take(kind != 2), dataset_info("coat"), "made here", unbiased=every.take(kind != 1)
    )


@pytest.mark.parametrize("split", ["k-fold 4", "ratio 0.3", "whole"])
def test_unbiased_judgments_are_tested_and_their_pairs_leave_training(split):
    dataset = two_parts()
    folds = dataset_splits(dataset, split, seed=1, judgments=TestSet("unbiased"))
    tested = [pairs(fold.test) for fold in folds]
    if split != "ratio 0.3":
        assert set.union(*tested) == pairs(dataset.unbiased)
        assert sum(map(len, tested)) == len(dataset.unbiased)
    for fold, test in zip(folds, tested, strict=True):
        assert pairs(fold.train) == pairs(dataset.ratings) - test
        assert set(fold.test_items.tolist()) == {item for _, item in test}


def test_a_part_may_be_trained_on_alone():
    dataset = two_parts()
    same, other = (
        dataset_splits(dataset, "k-fold 4", seed=1, judgments=TestSet.parse(text))
        for text in ("unbiased train=same", "unbiased")
    )
    assert TestSet("unbiased", train="same").trains_on != TestSet("unbiased").trains_on
    for fold in same:
        assert not pairs(fold.train) & pairs(fold.test)
        assert pairs(fold.train) | pairs(fold.test) == pairs(dataset.unbiased)
    assert sum(len(fold.test) for fold in same) == len(dataset.unbiased)
    # The twin: what is trained on otherwise is what users chose to rate.
    assert not any(pairs(fold.train) <= pairs(dataset.unbiased) for fold in other)


@pytest.mark.parametrize("split", ["k-fold 4", "ratio 0.3"])
def test_unbiased_judgments_outside_the_training_of_an_observed_split_may_be_tested(split):
    dataset = two_parts()
    observed, beside, turned = (
        dataset_splits(dataset, split, seed=1, judgments=TestSet.parse(text))
        for text in ("observed", "unbiased train=observed", "unbiased")
    )
    drawn = pairs(dataset.unbiased)
    for fold, test in zip(observed, beside, strict=True):
        assert pairs(test.train) == pairs(fold.train)
        assert pairs(test.test) == drawn - pairs(fold.train)
        assert set(test.test_items.tolist()) == {item for _, item in pairs(test.test)}
        assert (test.fold, test.rule) == (fold.fold, fold.rule)
    # The twin: where the test is split instead, it keeps what training has to do without.
    for fold, other in zip(observed, turned, strict=True):
        assert pairs(other.train) != pairs(fold.train)
        assert pairs(other.test) & pairs(dataset.ratings)


def test_observed_ratings_that_are_no_judgments_of_drawn_items_stay_when_these_are_held_out():
    """As on Coat: a pair may have two ratings, and what is drawn tells nothing of the other."""
    dataset = two_parts()
    observed, beside = (
        dataset_splits(dataset, "ratio 0.3", seed=1, judgments=TestSet.parse(text))
        for text in ("observed held=3", "unbiased train=observed held=3")
    )
    drawn, chosen = pairs(dataset.unbiased), pairs(dataset.ratings)
    trained, tested = set(), []
    for fold, test in zip(observed, beside, strict=True):
        assert pairs(fold.train) | pairs(fold.test) == chosen
        assert pairs(test.train) == pairs(fold.train)
        assert not pairs(test.test) & pairs(fold.train)
        trained |= pairs(fold.train) & drawn
        tested += pairs(test.test)
    assert len(tested) == len(set(tested))
    assert drawn - trained <= set(tested) <= drawn
    assert pairs(observed[0].train) != pairs(observed[1].train)  # each is split anew


def test_what_is_tested_on_unbiased_judgments_is_the_system_that_observed_ones_test():
    """Both are artefacts of one cell: one training."""
    side = TestSet.parse("unbiased train=observed")
    assert side.trains_on == TestSet().trains_on != TestSet("unbiased").trains_on
    assert side.judgments == side
    grid = Grid(
        "coat",
        (System("Popularity", "Popularity"),),
        dict.fromkeys(("AR", "true", "turned"), "AI-AN-AR rel>=4"),
        ("P@5",),
        split="k-fold 4",
        tests={"true": str(side), "turned": "unbiased"},
    )
    cells = [cell for _, cell in grid_cells(grid, two_parts(), None)]
    asked = [sorted(TestSet.parse(each.test).part for each in cell.artefacts) for cell in cells]
    assert asked == [["observed", "unbiased"]] * 4 + [["unbiased"]] * 4
    assert len({cell.key(each) for cell in cells for each in cell.artefacts}) == 12


def test_a_sample_of_the_truth_may_be_trained_on_alone():
    dataset = load_dataset("world(users=40,items=60,seed=2)")
    asked = TestSet("truth", sample=15, train="same")
    folds = dataset_splits(dataset, "k-fold 3", seed=4, judgments=asked)
    stars = dataset.truth.true_rating(np.arange(40))
    for fold in folds:
        for side in (fold.train, fold.test):
            assert (side.value == stars[side.user, side.item]).all()
        drawn = fold.train.user_counts() + fold.test.user_counts()
        assert (drawn == 15).all()
        assert not pairs(fold.train) <= pairs(dataset.ratings)


def test_a_test_without_the_pairs_that_were_chosen_would_not_be_random():
    # The twin: what the loader of Coat used to do. Chosen pairs are liked more often.
    dataset = two_parts()
    (fold,) = dataset_splits(dataset, "whole", seed=1, judgments=TestSet("unbiased"))
    both = pairs(dataset.ratings) & pairs(dataset.unbiased)
    assert both
    assert both <= pairs(fold.test)
    assert not both & pairs(fold.train)


@pytest.mark.data
def test_coat_and_cm100k_are_tested_on_all_their_random_judgments():
    for name, n_drawn, n_both in (("coat", 4640, 366), ("cm100k", 103_584, 11_594)):
        dataset = load_dataset(name)
        (fold,) = dataset_splits(dataset, "ratio 0.2", seed=1, judgments=TestSet("unbiased"))
        assert len(dataset.unbiased) == n_drawn
        assert len(pairs(dataset.ratings) & pairs(dataset.unbiased)) == n_both
        assert pairs(fold.train) == pairs(dataset.ratings) - pairs(fold.test)


def test_truth_is_tested_outside_training_and_may_be_sampled():
    dataset = load_dataset("world(users=40,items=60,seed=2)")
    plain = dataset_splits(dataset, "k-fold 3", seed=4)
    whole = dataset_splits(dataset, "k-fold 3", seed=4, judgments=TestSet("truth"))
    some = dataset_splits(dataset, "k-fold 3", seed=4, judgments=TestSet("truth", sample=9))
    stars = dataset.truth.true_rating(np.arange(40))
    for observed, every, sample in zip(plain, whole, some, strict=True):
        assert pairs(every.train) == pairs(sample.train) == pairs(observed.train)
        assert len(every.test) == 40 * 60 - len(observed.train)
        assert (every.test.value == stars[every.test.user, every.test.item]).all()
        assert pairs(sample.test) <= pairs(every.test)
        assert sample.test.user_counts().max() <= 9
        assert (sample.test.value == stars[sample.test.user, sample.test.item]).all()


def test_parts_that_a_dataset_lacks_are_refused():
    dataset = load_dataset("synthetic")
    with pytest.raises(ConfigError, match="synthetic has no unbiased part"):
        dataset_splits(dataset, "k-fold 5", seed=1, judgments=TestSet("unbiased"))
    with pytest.raises(ConfigError, match="synthetic has no unbiased part"):
        dataset_splits(dataset, "k-fold 5", seed=1, judgments=TestSet("unbiased", train="observed"))
    with pytest.raises(ConfigError, match=r"truth of .* is not known"):
        dataset_splits(two_parts(), "k-fold 5", seed=1, judgments=TestSet("truth"))
    with pytest.raises(ConfigError, match="leaves nothing"):
        dataset_splits(dataset, "whole", seed=1)


# ---- what is removed


def test_a_share_is_removed_at_random_and_the_same_for_all():
    kept = kept_rows(TestSet(removed=30), 1_000_000, seed=1, fold=0)
    # 7 standard deviations of a binomial share: false alarm below 1e-11.
    assert abs(kept.mean() - 0.7) < 7 * np.sqrt(0.21 / 1_000_000)
    assert (kept == kept_rows(TestSet(removed=30), 1_000_000, seed=1, fold=0)).all()
    assert (kept != kept_rows(TestSet(removed=30), 1_000_000, seed=1, fold=1)).any()
    assert kept_rows(TestSet(), 5, seed=1, fold=0).all()
    with pytest.raises(DataError, match="leaves none of 1 test ratings"):
        [kept_rows(TestSet(removed=99), 1, seed=seed, fold=0) for seed in range(200)]


def test_one_rating_is_left_where_one_is_expected():
    left = [kept_rows(TestSet(removed=90), 10, seed=seed, fold=0).sum() for seed in range(200)]
    assert min(left) == 1, "left to chance, a third of these tests would be empty"
    # Which one is left is drawn too: the mean place of 70 or so is within 5 standard errors.
    lonely = [kept_rows(TestSet(removed=99), 100, seed=seed, fold=0) for seed in range(200)]
    places = [int(kept.argmax()) for kept in lonely if kept.sum() == 1]
    assert abs(np.mean(places) - 49.5) < 5 * 28.9 / np.sqrt(len(places))


def test_removing_leaves_training_and_candidates_but_for_the_head():
    fold = dataset_splits(load_dataset("world(users=40,items=60,seed=2)"), "k-fold 2", seed=1)[0]
    groups = popularity_groups(fold.train, 10)
    thinned = reduced_split(fold, TestSet(removed=60), groups, seed=1)
    assert thinned.train is fold.train
    assert pairs(thinned.test) < pairs(fold.test)
    assert (thinned.test_items == fold.test_items).all()
    some = reduced_split(fold, TestSet(items="2-5/5"), groups, seed=1)
    assert (some.test_items == fold.test_items).all()
    assert pairs(some.test) == {pair for pair in pairs(fold.test) if groups.labels[pair[1]] >= 2}
    tail = reduced_split(fold, TestSet(head=10), groups, seed=1)
    counts = fold.train.item_counts()
    head = set(np.argsort(-counts, kind="stable")[:6].tolist())
    assert set(tail.test_items.tolist()) == set(fold.test_items.tolist()) - head
    assert pairs(tail.test) == {pair for pair in pairs(fold.test) if pair[1] not in head}
