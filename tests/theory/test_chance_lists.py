"""Lists by chance: closed forms against enumeration, and against simulation."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest

from recbias.data.ratings import Ratings
from recbias.errors import ConfigError, ContractError
from recbias.metrics import list_view, measure_system, parse_metric
from recbias.metrics.by_chance import REFERENCES, by_chance, expected_value
from recbias.theory import draw_lists, random_list_counts, slot_counts

TEXTS = (
    "CI@4", "CI@4|JS", "LTI(0.2)@4", "LTI(0.5)@4|percentile", "Hoover@4", "Entropy@4",
    "Diversity@4", "Coverage@4",
)  # fmt: skip
METRICS = [parse_metric(text) for text in TEXTS]


def made(n_users=40, n_items=30, seed=1):
    """Make ratings in which few items have most, and nobody has all."""
    rng = np.random.default_rng(seed)
    keys = rng.gumbel(size=(n_users, n_items)) - 1.3 * np.log(np.arange(1, n_items + 1))
    sizes = rng.integers(3, 12, n_users)
    sizes[0] = n_items - 8
    pairs = [
        (user, item) for user in range(n_users) for item in np.argsort(-keys[user])[: sizes[user]]
    ] + [(n_users, item) for item in range(n_items)]
    frame = pd.DataFrame(pairs, columns=["user_id", "item_id"])
    return Ratings.from_frame(frame.assign(rating=rng.choice([2.0, 4.0, 5.0], len(frame))))


def lengths_of(train, most):
    return np.minimum(most, train.n_items - train.user_counts())


def plain_chances(train, lengths, item):
    """Add one user after another to the chances of an item's count."""
    has = set(zip(train.user.tolist(), train.item.tolist(), strict=True))
    chances = [1.0]
    for user in range(train.n_users):
        if (user, item) in has:
            continue
        own = sum(each == user for each, _ in has)
        q = lengths[user] / (train.n_items - own)
        chances = [
            (chances[k] if k < len(chances) else 0) * (1 - q) + (chances[k - 1] * q if k else 0)
            for k in range(len(chances) + 1)
        ]
    return chances


def test_chances_of_random_lists_are_those_of_adding_users():
    train = made()
    lengths = lengths_of(train, 4)
    lengths[3], lengths[5] = 0, train.n_items - train.user_counts()[5]  # nothing, and everything
    found = random_list_counts(train, lengths)
    assert found.total == lengths.sum()
    for item in range(train.n_items):
        expected = plain_chances(train, lengths, item)
        width = min(len(expected), found.chances.shape[1])
        np.testing.assert_allclose(found.chances[item, :width], expected[:width], atol=1e-12)
        assert max(expected[width:], default=0) < 1e-12
    np.testing.assert_allclose(found.chances.sum(axis=1), 1, atol=1e-12)
    # Users who have an item in training never get it, so that a popular one is in fewer lists.
    most = int(np.argmax(train.item_counts()))
    level = lengths.sum() / train.n_items
    mean = found.chances[most] @ np.arange(found.chances.shape[1])
    assert mean < level - 1


def test_two_equal_chances_make_no_zero_in_the_transform():
    rows = [(user, item) for user in range(6) for item in range(3) if item != user % 3]
    frame = pd.DataFrame([*rows, (6, 3), (7, 3)], columns=["user_id", "item_id"])
    train = Ratings.from_frame(frame.assign(rating=np.arange(len(frame)) % 5 + 1.0))
    lengths = np.array([1] * 6 + [2, 0])  # users of two candidates each, one of which is shown
    found = random_list_counts(train, lengths).chances
    for item in range(4):
        expected = plain_chances(train, lengths, item)
        np.testing.assert_allclose(found[item, : len(expected)], expected, atol=1e-12)


@pytest.mark.parametrize("total", [1, 5])
def test_slots_are_all_ways_to_fill_places(total):
    prior = np.array([3, 2, 0, 1])
    view = list_view(np.full((4, 1), -1, np.int32), small(prior), min_rating=4)
    expected = np.zeros(len(METRICS))
    for places in itertools.product(range(4), repeat=total):
        chance = math.prod(prior[place] / prior.sum() for place in places)
        counts = np.bincount(places, minlength=4)[None].astype(float)
        expected += chance * measure_system(counts, view, METRICS)[:, 0]
    found = [expected_value(metric, view, slot_counts(prior, total)) for metric in METRICS]
    np.testing.assert_allclose(found, expected, atol=1e-12)


def small(prior):
    rows = [(user, item, 5.0) for item, n in enumerate(prior) for user in range(n)]
    rows += [(9, item, 1.0) for item in range(len(prior))]
    return Ratings.from_frame(pd.DataFrame(rows, columns=["user_id", "item_id", "rating"]))


def test_closed_forms_and_simulation_agree():
    """Within five standard errors of the simulation: by chance less than once in 10,000 seeds."""
    train = made()
    lengths, n_draws = lengths_of(train, 4), 150
    view = list_view(np.full((1, 4), -1, np.int32).repeat(41, 0), train, min_rating=4)
    found = by_chance(train, METRICS, min_rating=4, n_draws=n_draws, seed=3)
    found = found.set_index(["reference", "metric"])
    forms = {
        "random": random_list_counts(train, lengths),
        "sampling alone": slot_counts(view.prior, int(lengths.sum())),
    }
    for reference, chances in forms.items():
        exact = np.array([expected_value(metric, view, chances) for metric in METRICS])
        row = found.loc[reference].loc[list(TEXTS)]
        off = (row["value"] - exact).abs() / (row["spread"] / math.sqrt(n_draws))
        assert (off < 5).all(), off
        # What another kind of chance would give is noticed.
        others = forms.keys() - {reference}
        wrong = [
            expected_value(metric, view, forms[other]) for other in others for metric in METRICS
        ]
        assert ((row["value"] - wrong).abs() > 5 * row["spread"] / math.sqrt(n_draws)).all()
    ci = found["value"].xs("CI@4", level="metric")
    # Even what follows the prior is not at 0, and random lists are further away.
    assert 0 < ci["sampling alone"] < ci["in proportion"] < ci["random"]


def test_lists_are_drawn_in_proportion_and_hold_no_training_item():
    frame = pd.DataFrame({"user_id": [0, 1], "item_id": [0, 0], "rating": [1.0, 2.0]})
    more = pd.DataFrame({"user_id": [2] * 5, "item_id": range(5), "rating": [3.0] * 5})
    train = Ratings.from_frame(pd.concat([frame, more]))
    rng = np.random.default_rng(2)
    weights = np.array([9, 3, 2, 1, 0])
    drawn = np.array([draw_lists(train, weights, 3, rng=rng)[0] for _ in range(3000)])
    assert (drawn != 0).all()
    assert (drawn != 4).all()
    assert (np.sort(drawn, axis=1) == [1, 2, 3]).all()
    for order in itertools.permutations([1, 2, 3]):
        first, second = weights[order[0]], weights[order[1]]
        chance = first / 6 * second / (6 - first)
        share = (drawn == order).all(axis=1).mean()
        assert abs(share - chance) < 5 * math.sqrt(chance * (1 - chance) / 3000)
    assert (draw_lists(train, weights, 3, rng=rng)[2] == -1).all()  # who has everything
    longer = draw_lists(train, weights, 7, rng=rng)
    assert longer.shape == (3, 7)
    assert (longer[:, 3:] == -1).all()


def test_more_draws_leave_the_first_as_they_are_and_lists_are_as_long_as_asked():
    train, metrics = made(), [parse_metric("Gini@4"), parse_metric("M@2"), parse_metric("CI@2")]
    one, again = (by_chance(train, metrics, min_rating=4, n_draws=1, seed=5) for _ in range(2))
    pd.testing.assert_frame_equal(one, again)
    two = by_chance(train, metrics, min_rating=4, n_draws=2, seed=5)
    gap = (two["value"] - one["value"]).abs()
    np.testing.assert_allclose(gap * math.sqrt(2), two["spread"], atol=1e-12)
    assert one["spread"].isna().all()
    assert list(dict.fromkeys(two["reference"])) == list(REFERENCES)
    shorter = by_chance(
        train, [parse_metric("Diversity@4")], min_rating=4, n_draws=1, seed=5,
        lengths=np.where(np.arange(train.n_users) < 2, 1, 0),
    )  # fmt: skip
    assert shorter["value"].max() <= 2


def test_what_cannot_be_said_is_refused():
    train = made()
    view = list_view(np.full((41, 1), -1, np.int32), train, min_rating=4)
    for text in ("Gini@4", "M@4"):
        with pytest.raises(ConfigError, match=f"{text}: it is no sum over items; simulate it"):
            expected_value(parse_metric(text), view, slot_counts([1, 1], 3))
    with pytest.raises(ContractError, match="prior: all 0"):
        slot_counts([0, 0], 3)
    for lengths in (np.full(41, 30), np.full(41, -1), np.ones(3, int)):
        with pytest.raises(ContractError, match=r"lengths of lists: expected \(41,\)"):
            random_list_counts(train, lengths)
    for weights in ([1.0], -np.ones(30)):
        with pytest.raises(ContractError, match=r"weights of items: .* expected \(30,\)"):
            draw_lists(train, weights, 3, rng=np.random.default_rng(1))
    assert np.isnan(expected_value(parse_metric("Hoover@4"), view, slot_counts([1] * 30, 0)))
