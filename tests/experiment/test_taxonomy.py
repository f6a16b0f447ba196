"""Options: texts, canonical forms, and two tables of what differs and what cannot.

``DIFFER`` gives every decision a set of options in one small world in which every two of them give
another value or p value. ``COLLAPSES`` gives pairs that are the same evaluation. A canonical form
that merges too much fails the first, one that merges too little the second.
"""

import dataclasses
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recbias.data.datasets import Content, dataset_info, register_dataset
from recbias.data.ratings import RatingScale
from recbias.data.selection import Selection
from recbias.data.simulation import make_world
from recbias.errors import ConfigError
from recbias.experiment.options import PAIRED_TESTS, Options
from recbias.experiment.outcomes import evaluate
from recbias.metrics import parse_metric
from recbias.protocol.splits import SplitRule
from recbias.protocol.testset import TestSet
from recbias.recommenders import System
from test_protocol import protocols

SCALE = RatingScale(0.5, 5.0, 0.5)
SYSTEMS = (
    System("Popularity", "Popularity"),
    System("AverageRating", "AverageRating"),
    System("kNN", "UserKNN", {"n_neighbours": 1}),
)

DIFFER = {
    "A1 data": ("{}split: ratio 0.5; lists: AI-AN-AR rel>=4; metric: nDCG@5",
                ("", "data: keep=50%; ", "data: users>=8; ", "data: items>=15; ",
                 "data: head=10%; ", "data: users>=5 items>=5; ")),
    "A2 split": ("data: users>=3; split: {}; lists: AI-AN-AR rel>=4 condensed; metric: nDCG@5",
                 ("ratio 0.5", "ratio 0.3", "k-fold 2", "k-fold 5", "leave-out 1", "temporal 0.5",
                  "temporal-user 0.5", "uniform 0.2", "leave-last 2", "rolling 2 0.3")),
    "A2 seed": ("split: ratio 0.5; seed: {}; lists: AI-AN-AR rel>=4; metric: nDCG@5",
                ("0", "1", "2")),
    "test side": ("split: ratio 0.5; test: {}; lists: TI-AN-AR rel>=4; metric: nDCG@5",
                  ("observed", "observed removed=30%", "observed head=10%",
                   "observed items=6-10/10")),
    "target sets": ("split: ratio 0.5; lists: {} rel>=4; metric: nDCG@3",
                    ("AI-AN-AR", "TI-AN-AR", "TI-AN-1R", "TI-NN-1R t=5", "TI-NN-AR N=9",
                     "AI-AN-AR +train", "TI-AN-P1R m=5")),
    "B1 users": ("split: ratio 0.5; lists: AI-AN-AR rel>=4 users={}; metric: nDCG@5",
                 ("all", "tested", "relevant", "trained")),
    "B1 users who weigh by ratings": ("split: ratio 0.5; lists: AI-AN-AR rel>=4 users={} "
                                      "weights=ratings; metric: nDCG@5",
                                      ("all", "relevant", "trained")),
    "B1 users with lists": ("split: ratio 0.5; lists: AI-AN-AR rel>=4 condensed users={} "
                            "coverage=reduced; metric: nDCG@5", ("all", "relevant", "trained")),
    "B1 users who weigh by likes": ("split: ratio 0.5; lists: AI-AN-AR rel>=2 users={} "
                                    "weights=relevant; metric: nDCG@5", ("all", "trained")),
    "B1 users with full lists": ("split: ratio 0.5; lists: AI-AN-AR rel>=4 users={} "
                                 "coverage=reduced; metric: nDCG@5",
                                 ("all", "tested", "relevant", "trained")),
    "B1 users of runs": ("split: ratio 0.5; lists: AI-AN-1R rel>=4 users={}; metric: nDCG@5",
                         ("runs", "all", "relevant", "trained")),
    "B1 users of percentiles": ("split: ratio 0.5; lists: AI-AN-P1R m=5 rel>=4 users={}; "
                                "metric: nDCG@5", ("groups", "runs", "all", "relevant", "trained")),
    "B2 unscored": ("split: ratio 0.5; lists: AI-AN-AR rel>=4 condensed unscored={}; "
                    "metric: nDCG@5; gain: exp",
                    ("none", "random", "popularity", "average-rating")),
    "C1 lists": ("split: ratio 0.5; lists: AI-AN-AR rel>=4{}; metric: P@5", ("", " condensed")),
    "C2 threshold": ("split: ratio 0.5; lists: AI-AN-AR rel>={}; metric: P@5",
                     ("2", "3", "3.5", "4", "4.5")),
    "C1 pools of samples": ("split: ratio 0.5; lists: {}-AN-1R rel>=4 condensed; "
                            "metric: P@5|t=20", ("AI", "TI")),
    "C1 runs": ("split: ratio 0.5; lists: {} rel>=4; metric: nDCG@3",
                ("AI-AN-1R", "TI-AN-1R", "TI-NN-1R t=5", "TI-NN-1R-shared t=5", "AI-AN-P1R m=5",
                 "TI-AN-P1R m=5", "TI-AN-P1R m=10")),
    "C1 condensed samples": ("split: ratio 0.5; lists: {}-NN-AR N=9 rel>=4 condensed; "
                             "metric: nDCG@5", ("AI", "TI")),
    "C1 who has a list": ("split: ratio 0.5; lists: AI-AN-AR rel>=4{} coverage=reduced; "
                          "metric: tau", ("", " condensed")),
    "C1 lists of items": ("split: ratio 0.5; lists: {}-AN-AR rel>=4; metric: Gini@5",
                          ("AI", "TI")),
    "C2 threshold by which users count": ("split: ratio 0.5; lists: AI-AN-AR rel>={} "
                                          "users=relevant; metric: tau", ("2", "3", "4", "5")),
    "C2 threshold by which users weigh": ("split: ratio 0.5; lists: AI-AN-AR rel>={} "
                                          "weights=relevant; metric: tau", ("2", "3", "4", "5")),
    "C2 threshold by which items are drawn": ("split: ratio 0.5; lists: TI-NN-AR N=5 rel>={}; "
                                              "metric: tau", ("2", "3", "4", "5")),
    "C2 threshold of what was liked before": ("split: ratio 0.5; lists: AI-AN-AR rel>={}; "
                                              "metric: CI@5", ("2", "3", "4")),
    "C2 threshold of what is disliked": ("split: ratio 0.5; lists: AI-AN-AR rel>={}; "
                                         "metric: antiP@5", ("2", "3", "4")),
    "C2 threshold of steps": ("split: ratio 0.5; lists: AI-AN-AR rel>={}; metric: RBP(0.8)@5; "
                              "gain: steps", ("3.5", "3.7", "4")),
    "C2 threshold of ranksys": ("split: ratio 0.5; lists: AI-AN-AR rel>={}; metric: RBP(0.8)@5; "
                                "gain: ranksys", ("3.5", "3.7", "4")),
    "C2 threshold of losses": ("split: ratio 0.5; lists: AI-AN-AR rel>={}; metric: nDCL@5",
                               ("3.5", "3.7", "4")),
    "C2 metric": ("split: ratio 0.5; lists: AI-AN-AR rel>=3; metric: {}",
                  ("P@5", "antiP@5", "nDCL@5", "antiRR", "CI@5", "CI@5|JS", "Gini@5", "Served@5",
                   "judged@5", "RBPresidual(0.8)", "LTI(0.2)@5", "ARP@5")),
    "C2 gain": ("split: ratio 0.5; lists: AI-AN-AR rel>=3; metric: RBP(0.8); gain: {}",
                ("binary", "linear", "exp", "err", "ranksys", "steps")),
    "C2 depth": ("split: ratio 0.5; lists: AI-AN-AR rel>=3; metric: nDCG@{}", ("1", "3", "5", "9")),
    "C2C metric": ("split: ratio 0.5; lists: TI-AN-AR rel>=3 condensed; metric: {}",
                   ("P@3", "R@3", "AP", "RR", "nDCG@3", "RBP(0.5)", "RBP(0.8)", "tau", "RBO(0.5)",
                    "RBO(0.8)", "RBO(0.8,truncated)", "AUC")),
    "C3 aggregation": ("split: ratio 0.5; lists: AI-AN-AR rel>=3 condensed {}; metric: nDCG@5",
                       ("statistic=mean", "statistic=median", "statistic=geometric",
                        "statistic=geometric(0.01)", "weights=ratings", "weights=relevant",
                        "weights=ratings statistic=median")),
    "C4 coverage": ("split: ratio 0.5; lists: AI-AN-AR rel>=3 condensed coverage={}; "
                    "metric: nDCG@5", ("full", "reduced")),
    "D pairs": ("split: ratio 0.5; lists: AI-AN-AR rel>=3 condensed; metric: nDCG@5; pairs: {}",
                PAIRED_TESTS),
    "A2 judgments": ("{}; lists: AI-AN-AR rel>=4; metric: nDCG@5",
                     ("split: ratio 0.5", "split: k-fold 2", "split: ready",
                      "split: whole; test: unbiased",
                      "split: ratio 0.5; test: unbiased",
                      "split: ratio 0.5; test: unbiased train=observed",
                      "split: ratio 0.5; test: unbiased train=same",
                      "split: ratio 0.5; test: truth", "split: ratio 0.5; test: truth sample=9",
                      "split: ratio 0.5; test: observed held=3",
                      "split: ratio 0.5; test: unbiased train=observed held=3")),
}  # fmt: skip
"""Of each decision: a text with a gap, and what fills it."""

JUDGED = ("A2 judgments",)
"""Decisions that need ready folds, judgments of random items and the truth: another world."""

BASE = "split: ratio 0.5; lists: {}; metric: {}"
COLLAPSES = {
    "condensed lists do not know AI from TI": (
        BASE.format("AI-AN-AR rel>=4 condensed", "nDCG@3"),
        BASE.format("TI-AN-AR rel>=4 condensed", "nDCG@3")),
    "nor do condensed runs": (
        BASE.format("AI-AN-1R rel>=4 condensed", "RR"),
        BASE.format("TI-AN-1R rel>=4 condensed", "RR")),
    "nor where something is put below": (
        BASE.format("AI-AN-AR rel>=4 condensed unscored=popularity", "AP"),
        BASE.format("TI-AN-AR rel>=4 condensed unscored=popularity", "AP")),
    "P has no gain map": (
        BASE.format("AI-AN-AR rel>=4", "P@3; gain: exp"),
        BASE.format("AI-AN-AR rel>=4", "P@3")),
    "a gain map is one of the metric or of its own": (
        BASE.format("AI-AN-AR rel>=4", "nDCG(exp)@3"),
        BASE.format("AI-AN-AR rel>=4", "nDCG@3; gain: exp")),
    "the metric's own gain map": (
        BASE.format("AI-AN-AR rel>=4", "nDCG@3; gain: binary"),
        BASE.format("AI-AN-AR rel>=4", "nDCG@3")),
    "the ERR gain equals g2 under nDCG": (
        BASE.format("AI-AN-AR rel>=4", "nDCG@3; gain: err"),
        BASE.format("AI-AN-AR rel>=4", "nDCG@3; gain: exp")),
    "runs hold one relevant item, whatever it gains": (
        BASE.format("AI-AN-1R rel>=4", "nDCG@3; gain: exp"),
        BASE.format("AI-AN-1R rel>=4", "nDCG@3")),
    "thresholds between adjacent stars are one": (
        BASE.format("AI-AN-AR rel>=3.7", "P@3"),
        BASE.format("AI-AN-AR rel>=4", "P@3")),
    "all stars are above what is below the scale": (
        BASE.format("AI-AN-AR rel>=-3", "P@3"),
        BASE.format("AI-AN-AR rel>=0.5", "P@3")),
    "an order by stars has no threshold": (
        BASE.format("AI-AN-AR rel>=4", "tau"),
        BASE.format("AI-AN-AR rel>=2", "tau")),
    "exponential gains have none": (
        BASE.format("AI-AN-AR rel>=4 condensed", "RBP(0.8,exp)"),
        BASE.format("AI-AN-AR rel>=2 condensed", "RBP(0.8,exp)")),
    "tau does not see what is unjudged": (
        BASE.format("AI-AN-AR rel>=4", "tau"),
        BASE.format("TI-AN-AR rel>=4 condensed", "tau")),
    "RBO neither": (
        BASE.format("AI-AN-AR rel>=4", "RBO(0.8)@3"),
        BASE.format("TI-AN-AR rel>=4 condensed", "RBO(0.8)@3")),
    "AUC neither": (
        BASE.format("AI-AN-AR rel>=4", "AUC"),
        BASE.format("TI-AN-AR rel>=4 condensed", "AUC")),
    "what is last is in the order of ties": (
        BASE.format("AI-AN-AR rel>=4 condensed unscored=last", "nDCG@3"),
        BASE.format("AI-AN-AR rel>=4 condensed unscored=random", "nDCG@3")),
    "who has no rating weighs nothing": (
        BASE.format("AI-AN-AR rel>=4 users=tested weights=ratings", "nDCG@3"),
        BASE.format("AI-AN-AR rel>=4 weights=ratings", "nDCG@3")),
    "who likes nothing weighs nothing": (
        BASE.format("AI-AN-AR rel>=4 users=relevant weights=relevant", "nDCG@3"),
        BASE.format("AI-AN-AR rel>=4 weights=relevant", "nDCG@3")),
    "who has no test has no condensed list": (
        BASE.format("AI-AN-AR rel>=4 condensed users=tested coverage=reduced", "nDCG@3"),
        BASE.format("AI-AN-AR rel>=4 condensed coverage=reduced", "nDCG@3")),
    "condensed lists hold no training items": (
        BASE.format("AI-AN-AR +train rel>=4 condensed", "P@3"),
        BASE.format("AI-AN-AR rel>=4 condensed", "P@3")),
    "nor do those of runs": (
        BASE.format("AI-AN-1R +train rel>=4 condensed", "RR"),
        BASE.format("TI-AN-1R rel>=4 condensed", "RR")),
    "tau does not see training items": (
        BASE.format("TI-AN-AR +train rel>=4", "tau"),
        BASE.format("TI-AN-AR rel>=4", "tau")),
    "condensed lists do not know AI where a head is left out": (
        BASE.format("AI-AN-AR rel>=4 condensed", "P@3; test: observed head=10%"),
        BASE.format("TI-AN-AR rel>=4 condensed", "P@3; test: observed head=10%")),
    "nor within percentiles": (
        BASE.format("AI-AN-P1R m=5 rel>=4 condensed", "RR"),
        BASE.format("TI-AN-P1R m=5 rel>=4 condensed", "RR")),
    "nor where the disliked count": (
        BASE.format("AI-AN-AR rel>=4 condensed", "antiP@3"),
        BASE.format("TI-AN-AR rel>=4 condensed", "antiP@3")),
    "nor where losses do": (
        BASE.format("AI-AN-AR rel>=3.7 condensed", "nDCL@3"),
        BASE.format("TI-AN-AR rel>=3.7 condensed", "nDCL@3")),
    "nor what a reader has not seen": (
        BASE.format("AI-AN-AR rel>=4 condensed", "RBPresidual(0.8)"),
        BASE.format("TI-AN-AR rel>=4 condensed", "RBPresidual(0.8)")),
    "nor the share that is liked": (
        BASE.format("AI-AN-AR rel>=4 condensed", "P@3|judged"),
        BASE.format("TI-AN-AR rel>=4 condensed", "P@3|judged")),
    "nor how long they are": (
        BASE.format("AI-AN-AR rel>=4 condensed", "Served@3"),
        BASE.format("TI-AN-AR rel>=2 condensed", "Served@3")),
    "thresholds between adjacent stars are one to the disliked": (
        BASE.format("AI-AN-AR rel>=3.7", "antiP@3"),
        BASE.format("AI-AN-AR rel>=4", "antiP@3")),
    "within percentiles": (
        BASE.format("AI-AN-P1R m=5 rel>=3.7", "P@3"),
        BASE.format("AI-AN-P1R m=5 rel>=4", "P@3")),
    "in samples": (
        BASE.format("TI-NN-1R t=5 rel>=3.7", "P@3"),
        BASE.format("TI-NN-1R t=5 rel>=4", "P@3")),
    "in what is expected of samples": (
        BASE.format("TI-AN-1R rel>=3.7", "P@3|t=20"),
        BASE.format("TI-AN-1R rel>=4", "P@3|t=20")),
    "and to what was liked before": (
        BASE.format("AI-AN-AR rel>=3.7", "CI@5"),
        BASE.format("AI-AN-AR rel>=4", "CI@5")),
    "dispersion has no threshold": (
        BASE.format("AI-AN-AR rel>=2", "Gini@5"),
        BASE.format("AI-AN-AR rel>=4", "Gini@5")),
    "nor has the popularity of what is listed": (
        BASE.format("AI-AN-AR rel>=2", "ARP@5"),
        BASE.format("AI-AN-AR rel>=4", "ARP@5")),
    "nor the length of lists": (
        BASE.format("AI-AN-AR rel>=2", "Served@9"),
        BASE.format("AI-AN-AR rel>=4", "Served@9")),
    "nor what a reader has not seen of full lists": (
        BASE.format("AI-AN-AR rel>=2", "RBPresidual(0.8)"),
        BASE.format("AI-AN-AR rel>=4", "RBPresidual(0.8)")),
    "everybody has one rating at least": (
        "data: users>=1; " + BASE.format("AI-AN-AR rel>=4", "P@3"),
        BASE.format("AI-AN-AR rel>=4", "P@3")),
}  # fmt: skip


def read_judged(_):
    """Make a world of which everything is known, with folds of its own."""
    world = make_world(seed=3, n_users=60, n_items=80, n_ratings=480)
    folds = np.random.default_rng(1).integers(3, size=len(world.ratings)).astype(np.int8)
    drawn = world.sample(8, rng=np.random.default_rng(2))
    return Content(world.ratings, folds, drawn, truth=world)


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    """Evaluate options in a world with half stars, unequal profiles, and users who like nothing."""
    patch = pytest.MonkeyPatch()
    patch.setenv("RECBIAS_CELLS", str(tmp_path_factory.mktemp("cells")))
    rng = np.random.default_rng(4)
    activity = np.repeat([0.06, 0.15, 0.4, 0.8], [10, 10, 15, 10])
    rated = np.argwhere(rng.random((45, 24)) < activity[:, None])
    rated = np.concatenate([rated, [[45, 3], [46, 5]]])  # who has one rating trains or tests
    stars = rng.integers(1, 11, len(rated)) / 2
    rare = np.column_stack([np.arange(36, 44), np.arange(24, 32)])  # liked by one user each
    rated, stars = np.concatenate([rated, rare]), np.concatenate([stars, np.full(len(rare), 5.0)])
    stars[rated[:, 0] % 9 == 0] = np.minimum(stars[rated[:, 0] % 9 == 0], 2.5)
    times = 1_000_000_000 + 1000 * rng.permutation(len(rated))
    table = pd.DataFrame(
        {"user_id": rated[:, 0], "item_id": rated[:, 1], "rating": stars, "timestamp": times}
    )
    info = dataclasses.replace(
        dataset_info("synthetic"), name="all judgments", content_hash=None, cannot_test={}
    )
    register_dataset(info, read_judged)
    known = {}

    def of(options, world=""):
        if (options, world) not in known:
            found = evaluate(options, world or table, SYSTEMS)
            known[options, world] = tuple(found.values.values()), tuple(found.pairs["p"])
        return np.concatenate(known[options, world]).tobytes()

    yield of
    patch.undo()


def check_differ(decision, canonical, outcome):
    text, values = DIFFER[decision]
    options = [Options.parse(text.format(value)) for value in values]
    world = "all judgments" if decision in JUDGED else ""
    for a, b in combinations(options, 2):
        assert outcome(a, world) != outcome(b, world), (a, b)
        assert canonical(a) != canonical(b), (a, b)


def check_collapse(name, canonical, outcome):
    a, b = map(Options.parse, COLLAPSES[name])
    assert canonical(a) == canonical(b)
    assert outcome(a) == outcome(b)


def canonical(options):
    return options.canonical(SCALE)


@pytest.mark.filterwarnings("ignore:split .* asked to test")  # shares of few ratings
@pytest.mark.parametrize("decision", DIFFER)
def test_every_two_options_of_a_decision_differ(decision, outcome):
    check_differ(decision, canonical, outcome)


@pytest.mark.parametrize("name", COLLAPSES)
def test_what_has_one_canonical_form_is_one_result(name, outcome):
    check_collapse(name, canonical, outcome)


def test_degenerate_canonical_forms_are_noticed(outcome):
    constant = Options.parse(BASE.format("TI-AN-AR rel>=4", "P@3"))
    for decision in DIFFER:
        with pytest.raises(AssertionError):
            check_differ(decision, lambda _: constant, outcome)
    noticed = 0
    for name, (a, b) in COLLAPSES.items():
        if Options.parse(a) != Options.parse(b):  # else parsing alone makes them one
            with pytest.raises(AssertionError):
                check_collapse(name, lambda options: options, outcome)
            noticed += 1
    assert noticed >= len(COLLAPSES) - 2


OF_USERS = ("antiP@3", "nDCL", "judged@3", "P@3|judged", "Served@3", "RBPresidual(0.5)")
METRICS = ("P@3", "R@3", "AP", "nDCG@3", "nDCG", "RBP(0.8)", "tau", "RBO(0.5)", "AUC")


@st.composite
def all_options(draw):
    return Options(
        draw(protocols()),
        parse_metric(draw(st.sampled_from((*METRICS, "nDCG(exp)@3", "Gini@5", "P@5|t=20")))),
        draw(st.sampled_from(("", "exp"))),
        Selection(users=draw(st.integers(0, 9)), keep=draw(st.integers(1, 100))),
        SplitRule("ratio", draw(st.sampled_from((0.2, 0.5)))),
        draw(st.integers(0, 10**9)),
        TestSet(removed=draw(st.integers(0, 99))),
        draw(st.sampled_from(PAIRED_TESTS)),
    )


@given(all_options())
def test_options_print_and_parse_back(options):
    assert Options.parse(str(options)) == options
    parts = str(options).split("; ")
    assert Options.parse(" ; ".join(reversed(parts))) == options


@given(all_options(), st.sampled_from((None, SCALE, RatingScale(1, 5, 1), RatingScale(0, 1, 0))))
def test_a_canonical_form_is_its_own(options, scale):
    once = options.canonical(scale)
    assert once.canonical(scale) == once
    assert Options.parse(str(once)) == once


@st.composite
def small_options(draw):
    """Options that can be measured, most of them with something that has no effect."""
    relevant = draw(st.sampled_from(("AR", "AR", "AR +train", "1R", "1R +train", "P1R m=5")))
    per_run = "AR" not in relevant
    rule = f"{draw(st.sampled_from(('AI', 'TI')))}-AN-{relevant}"
    of_runs = ("P@3", "AP", "nDCG@3", "RBP(0.8)", "P@3|t=20")
    metric = draw(st.sampled_from(of_runs if per_run else (*METRICS, *OF_USERS)))
    words = [draw(st.sampled_from(("", "condensed"))),
             draw(st.sampled_from(("", "unscored=last", "unscored=popularity")))]  # fmt: skip
    if not per_run:
        words += [
            draw(
                st.sampled_from(
                    (
                        "",
                        "users=tested",
                        "users=relevant",
                        "users=trained",
                        "users=trained<3",
                        "users=tested,trained>=2",
                        "users=relevant,trained>=4",
                    )
                )
            ),
            draw(st.sampled_from(("", "weights=ratings", "weights=relevant"))),
            draw(st.sampled_from(("", "statistic=median", "statistic=geometric"))),
            draw(st.sampled_from(("", "coverage=reduced"))),
        ]
    least = draw(st.sampled_from(("1.7", "3", "3.7", "4")))
    lists = " ".join(filter(None, (rule, f"rel>={least}", *words)))
    gain = draw(st.sampled_from(("", "; gain: exp", "; gain: err", "; gain: ranksys")))
    head = "" if "+train" in rule else draw(st.sampled_from(("", "; test: observed head=10%")))
    return Options.parse(BASE.format(lists, metric + gain + head))


@pytest.mark.slow
@settings(max_examples=settings.default.max_examples // 4, deadline=None)
@given(options=small_options())
def test_options_and_their_canonical_form_give_the_same_bits(outcome, options):
    if "tau" in str(options) and "geometric" in str(options):
        options = replace(options, metric=parse_metric("AUC"))  # no logarithm of what is below 0
    assert outcome(options) == outcome(canonical(options))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("split: ratio 0.5; list: AI-AN-AR rel>=4; metric: P@3", "did you mean 'lists'"),
        ("split: ratio 0.5; lists: AI-AN-AR rel>=4; metrics: P@3", "did you mean 'metric'"),
        ("split: ratio 0.5; lists: AI-AN-AR rel>=4", "metric is missing; expected"),
        ("split: ratio 0.5; split: ratio 0.5", "split is given twice"),
        ("split: ", "split has no value"),
        (BASE.format("AI-AN-AR rel=4", "P@3"), "did you mean 'AI-AN-AR rel>=4'"),
        (BASE.format("AI-AN-AR rel>=4", "nDCg@3"), "did you mean 'nDCG'"),
        (BASE.format("AI-AN-AR rel>=4", "nDCG@3; gain: ex"), "did you mean 'exp'"),
        (BASE.format("AI-AN-AR rel>=4", "P@3; pairs: wilcox"), "did you mean 'wilcoxon'"),
        (BASE.format("AI-AN-AR rel>=4", "P@3; seed: one"), "seed is 'one', expected an integer"),
        (BASE.format("AI-AN-AR rel>=4", "nDCG(exp)@3; gain: linear"), "two gain maps"),
    ],
)
def test_what_is_no_options_text_is_refused(text, message):
    with pytest.raises(ConfigError, match=message):
        Options.parse(text)
