"""Observed orders beside true ones: published taus, which metric is right, ratings at random."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace

import pytest

from planted import base_world, world_of
from recbias.book.chapters.true_vs_false_positive_disagreement.at_random import (
    AT_RANDOM,
    at_random,
)
from recbias.book.chapters.true_vs_false_positive_disagreement.true_values import (
    FAR,
    PairOfItems,
    check_which,
    left_out,
    left_out_sentence,
    left_out_table,
    taus_beside,
)
from recbias.stats.agreement import kendall_tau

TOPIC = "true vs false positive disagreement"
# The second best by P of 16, with nearly the most antiP, has the least P instead.
FALLEN = "P[full] of GBPR = 0.0001"


@pytest.fixture(scope="module")
def as_published():
    """Results with the values that the authors published."""
    return base_world(TOPIC).results()["systems"]


def test_published_values_give_the_published_taus(as_published):
    beside = taus_beside(as_published)
    assert beside["tau"].tolist() == [
        "observed P and antiP",
        "observed R and fallout",
        "condensed R and fallout",
    ]
    # Printed with three digits, and once with one.
    assert beside["off"].abs().max() < 0.05
    assert left_out_sentence(as_published) == "3 of 3 published taus are met within 0.15."
    assert "<b>" not in left_out_table(as_published)


def test_the_system_that_is_responsible_is_named():
    results = world_of(FALLEN, "MCCRS20-F1-BL").results()["systems"]
    off = taus_beside(results).set_index("tau")["off"]
    assert abs(off["observed P and antiP"]) > FAR
    assert abs(off["observed R and fallout"]) < FAR  # which do not read P
    found = left_out(results, "observed P and antiP").set_index("without")
    names = [name for name in results.systems if name != "GBPR"]
    rest = [
        [results[name, "full", metric].value for name in names] for metric in ("P@10", "antiP@10")
    ]
    assert found["left"]["GBPR"] == pytest.approx(kendall_tau(*rest))
    assert found.index[0] == "GBPR"
    assert "met without GBPR" in left_out_sentence(results)
    assert f"<b>{found['left']['GBPR']:.2f} without GBPR</b>" in left_out_table(results)


def test_nobody_is_responsible_where_many_are():
    worst = "; ".join(
        f"P[full] of {name} = {place * 1e-4}"
        for place, name in enumerate(["GBPR", "WRMF", "pLSA", "eALS", "SLIM"], 1)
    )
    sentence = left_out_sentence(world_of(worst, "MCCRS20-F1-BL").results()["systems"])
    assert "no system alone is responsible" in sentence


def test_nothing_is_said_of_data_without_published_values(as_published):
    results = world_of("data set = coat", "MCCRS20-F1-BL").results()["systems"]
    assert taus_beside(results).empty
    assert left_out_sentence(results) == "No tau is published of these data."
    assert not taus_beside(as_published).empty


# ---- which of two is right


def worst(pairs=None) -> dict[str, float]:
    return {check.name: check.worst for check in check_which(pairs)}


def test_one_of_two_contradicting_metrics_is_right_and_it_may_be_either():
    found = worst()
    assert found["right-is-the-true-order"] == 0
    assert found["one-is-right"] == 0
    assert found["either-is-possible"] >= 1


def test_worked_worlds():
    # Popular and liked: P is right. Popular and not liked: antiP is.
    fifth = Fraction(1, 5)
    agrees = PairOfItems((3 * fifth, fifth), (4 * fifth, 3 * fifth))
    opposes = PairOfItems((4 * fifth, 2 * fifth), (2 * fifth, 3 * fifth))
    assert agrees.observed["P"] == (12 * fifth**2, 3 * fifth**2)
    assert agrees.observed["antiP"] == (3 * fifth**2, 2 * fifth**2)
    assert worst([agrees])["either-is-possible"] == 0
    assert worst([agrees, opposes])["either-is-possible"] == 1


def test_the_checks_see_what_is_broken():
    # Observed values that do not contradict each other, as condensed ones: neither can be chosen.
    whole = PairOfItems((Fraction(1), Fraction(1)), (Fraction(2, 5), Fraction(3, 5)))
    assert worst([whole])["either-is-possible"] == 0
    # Metrics of which the true values disagree as well as the observed ones: both are right.
    up, down = (Fraction(1), Fraction(0)), (Fraction(0), Fraction(1))
    both = SimpleNamespace(observed={"P": up, "antiP": up}, true={"P": up, "antiP": up})
    assert worst([both])["one-is-right"] == 0  # true values do not agree: nothing is inferred
    torn = SimpleNamespace(observed={"P": up, "antiP": up}, true=Torn({"P": up, "antiP": down}))
    assert worst([torn])["right-is-the-true-order"] == 1
    assert worst([torn])["one-is-right"] == 0  # each turns, and antiP is right instead of P
    for turned, both in (("P", "none"), ("antiP", "both")):
        real = Torn({"P": up, "antiP": down}, turned)
        found = worst([SimpleNamespace(observed={"P": up, "antiP": up}, true=real)])
        assert found["one-is-right"] == 1, both


class Torn(dict):
    """Gives another order when it is read again, so that a metric is right and has no tau of 1."""

    def __init__(self, values, *turned: str) -> None:
        super().__init__(values)
        self.turned = turned or tuple(values)
        self.read: set[str] = set()

    def __getitem__(self, name):
        first, second = super().__getitem__(name)
        again = name in self.read and name in self.turned
        self.read.add(name)
        return (second, first) if again else (first, second)


# ---- ratings at random


def test_where_ratings_are_missing_at_random_the_metrics_agree_less_but_do_not_disagree():
    given = {**AT_RANDOM, "shares": (0.05, 0.5), "n_worlds": 2, "size": (120, 150)}
    given["systems"] = ("Random", "Popularity", "Average rating", "User kNN", "pLSA")
    index, frame = at_random.function(**given)
    assert index == ("share", "number")
    taus = frame.groupby("share")["value"].mean()
    assert taus[0.5] < -0.5
    assert taus[0.5] < taus[0.05]
