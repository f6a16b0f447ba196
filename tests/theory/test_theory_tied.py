"""Range and expectation over tie orders, against lists that are written out one by one."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from recbias.data.ratings import Ratings
from recbias.errors import ConfigError
from recbias.protocol.splits import Split, k_fold
from recbias.ranking import top_items
from recbias.recommenders import OptimalAntiPrecision
from recbias.theory import TiedHits, hits_over_ties
from recommender_tables import table


def small_split(seed: int, n_users: int = 5, n_items: int = 6) -> Split:
    """Return a split in which pairs are in training, in the test, or in neither."""
    rng = np.random.default_rng(seed)
    stars = rng.integers(1, 6, (n_users, n_items)).astype(float)
    side = rng.integers(0, 3, stars.shape)
    train, test = (table(np.where(side == which, stars, np.nan)) for which in (0, 1))
    return Split(train, test, np.unique(test.item), 0, "by hand")


def by_hand(scores, split, wanted, cutoff) -> list[TiedHits]:
    """Write every order of the items out that the scores allow, and count what is listed."""
    own = [set() for _ in range(split.test.n_users)]
    for user, item in zip(split.train.user.tolist(), split.train.item.tolist(), strict=True):
        own[user].add(item)
    liked = [set() for _ in own]
    rows = zip(split.test.user.tolist(), split.test.item.tolist(), wanted.tolist(), strict=True)
    for user, item, counts in rows:
        if counts:
            liked[user].add(item)
    ranked = [item for item, score in enumerate(scores.tolist()) if score == score]
    found = []
    for trained, hits in zip(own, liked, strict=True):
        counts = []
        for order in itertools.permutations(ranked):
            if any(scores[a] < scores[b] for a, b in itertools.pairwise(order)):
                continue
            shown = [item for item in order if item not in trained][:cutoff]
            counts.append(len(hits & set(shown)))
        found.append(TiedHits(min(counts), max(counts), Fraction(sum(counts), len(counts))))
    return found


@pytest.mark.parametrize("cutoff", [1, 2, 4, 9])
@pytest.mark.parametrize("seed", range(12))
def test_range_and_expectation_are_those_of_all_orders(seed: int, cutoff: int) -> None:
    split = small_split(seed)
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 3, split.test.n_items).astype(np.float32)
    scores[rng.random(len(scores)) < 0.15] = np.nan
    wanted = split.test.value >= 4
    kinds = np.array([wanted, ~wanted])
    found = hits_over_ties(scores, split, kinds, cutoff)
    for kind, marks in enumerate(kinds):
        for user, hand in enumerate(by_hand(scores, split, marks, cutoff)):
            assert (found.least[kind, user], found.most[kind, user]) == hand[:2]
            assert found.expected[kind, user] == pytest.approx(float(hand.expected), rel=1e-12)


def test_without_ties_nothing_is_left_open() -> None:
    split = small_split(3)
    found = hits_over_ties(np.arange(6.0), split, split.test.value[None] >= 4, 2)
    assert (found.least == found.most).all()
    assert (found.least == found.expected).all()
    # The oracle tells lists apart that a wrong one would not.
    other = hits_over_ties(-np.arange(6.0), split, split.test.value[None] >= 4, 2)
    assert (other.least != found.least).any()


def test_the_evaluation_scores_what_is_expected_over_its_seeds() -> None:
    """Over 400 tie orders, within 4.5 standard errors: by chance not once in 100,000 times."""
    rng = np.random.default_rng(5)
    stars = np.where(rng.random((60, 40)) < 0.12, rng.integers(1, 6, (60, 40)), np.nan)
    ratings: Ratings = table(stars.astype(float))
    split = k_fold(ratings, 5, rng=rng)[0]
    model = OptimalAntiPrecision(2.0).fit(split.train)
    scores = model.score(np.array([0]))[0]
    judged = np.zeros((60, 40), dtype=bool)
    judged[split.test.user, split.test.item] = True
    found = hits_over_ties(scores, split, np.ones((1, len(split.test)), dtype=bool), 3)
    totals = []
    for seed in range(400):
        lists = top_items(model, split, cutoff=3, candidates="AI", seed=seed)
        hits = (judged[np.arange(60)[:, None], lists] & (lists >= 0)).sum(axis=1)
        assert ((found.least[0] <= hits) & (hits <= found.most[0])).all()
        totals.append(hits.sum())
    assert found.least.sum() <= min(totals) < max(totals) <= found.most.sum()
    error = np.std(totals, ddof=1) / np.sqrt(len(totals))
    assert abs(np.mean(totals) - found.expected.sum()) < 4.5 * error
    # A world in which the tied items are counted as all of one kind would be noticed.
    assert abs(np.mean(totals) - found.most.sum()) > 4.5 * error


@pytest.mark.parametrize(
    ("scores", "wanted", "cutoff", "message"),
    [
        (np.zeros(5), None, 1, r"shapes \(5,\)"),
        (np.zeros(6), np.ones((1, 1), dtype=bool), 1, r"and \(1, 1\), expected"),
        (np.zeros(6), None, 0, "cutoff 0"),
    ],
)
def test_what_does_not_fit_is_refused(scores, wanted, cutoff, message) -> None:
    split = small_split(1)
    marks = np.ones((1, len(split.test)), dtype=bool) if wanted is None else wanted
    with pytest.raises(ConfigError, match=message):
        hits_over_ties(scores, split, marks, cutoff)
