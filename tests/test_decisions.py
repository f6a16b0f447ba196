"""The table of decisions can say what it says, and options are printed so that they repeat."""

from __future__ import annotations

import dataclasses
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recbias import Grid, decisions, run
from recbias.averaging import COVERAGES, POPULATIONS, STATISTICS, WEIGHTS
from recbias.claims import (
    concentration_metrics,
    offline_option_taxonomy,
    pages,
    true_vs_false_positive_disagreement,
)
from recbias.decisions import DECISIONS, methods_paragraph, option_text, taxonomy_table, unsaid
from recbias.errors import ConfigError
from recbias.ranking import POLICIES
from recbias.recommenders import line_up
from recbias.splits import SplitRule
from recbias.taxonomy import PAIRED_TESTS, Options, evaluate, options_of, print_options
from recbias.taxonomy import read_options as read

DATA = "synthetic"
SYSTEMS = tuple(
    each for each in line_up("ccm20", min_rating=4) if each.name in ("Popularity", "User kNN")
)

ALL = [(decision, option) for decision in DECISIONS for option in decision.options]


def test_every_decision_of_the_paper_is_there() -> None:
    assert [each.code for each in DECISIONS] == [
        "A1", "A2", "B1", "B2", "C1", "C2", "C2C", "C3", "C4", "D",
    ]  # fmt: skip
    assert len(taxonomy_table()) == len(ALL)
    for _, option in ALL:
        assert set(option.used) <= set(decisions.PAPERS)


@pytest.mark.parametrize("decision", DECISIONS, ids=lambda decision: decision.code)
def test_options_of_a_decision_are_read_and_differ(decision: decisions.Decision) -> None:
    assert unsaid(decision.code) == 0
    found = [Options.parse(option_text(decision, option)) for option in decision.options]
    for a, b in combinations(found, 2):
        assert a != b
    broken = dataclasses.replace(
        decision, options=(*decision.options, decisions.Option("lists", "users=rich", "the rich"))
    )
    assert decisions._unsaid(broken) == 1
    twice = dataclasses.replace(decision, options=decision.options * 2)
    assert decisions._unsaid(twice) == len(decision.options)


def test_an_unknown_decision_is_refused() -> None:
    with pytest.raises(ConfigError, match="no decision 'E'"):
        unsaid("E")


def test_every_word_of_the_grammar_is_an_option_of_a_decision() -> None:
    texts = " ".join(option_text(*each) for each in ALL)
    for policy in (*POLICIES, "last"):
        assert policy == "none" or f"unscored={policy}" in texts
    for population in POPULATIONS:  # all, runs and groups follow from the target rule
        assert population in ("all", "runs", "groups") or f"users={population}" in texts
    for weights in WEIGHTS:
        assert not weights or f"weights={weights}" in texts
    for statistic in STATISTICS:
        assert statistic == "mean" or f"statistic={statistic}" in texts
    for coverage in COVERAGES:
        assert coverage == "full" or f"coverage={coverage}" in texts
    for test in PAIRED_TESTS:
        assert f"pairs: {test}" in texts
    kinds = {Options.parse(option_text(*each)).split.kind for each in ALL}
    known = {"ratio", "k-fold", "leave-out", "uniform", "temporal", "temporal-user", "ready",
             "whole"}  # fmt: skip
    assert kinds == known
    for kind in known:  # no other is read
        SplitRule.parse({"ratio": "ratio 0.5", "k-fold": "k-fold 5", "leave-out": "leave-out 1",
                         "ready": "ready", "whole": "whole"}.get(kind, f"{kind} 0.2"))  # fmt: skip
    for step in ("users>=", "items>=", "head=", "keep="):
        assert f"data: {step}" in texts


# -- the paragraph ---------------------------------------------------------------------------------


@given(st.lists(st.sampled_from(ALL), min_size=2, max_size=2))
def test_paragraphs_hold_their_options_and_differ_as_these_do(
    chosen: list[tuple[decisions.Decision, decisions.Option]],
) -> None:
    found = [Options.parse(option_text(*each)) for each in chosen]
    words = [methods_paragraph(each).splitlines() for each in found]
    for options, lines in zip(found, words, strict=True):
        assert len(lines) == 10
        assert Options.parse(lines[-1].split("'")[1]) == options
    if found[0].canonical() != found[1].canonical():
        assert words[0][:-1] != words[1][:-1]


# -- what pages print ------------------------------------------------------------------------------


def _grids() -> dict[str, Grid]:
    """A grid of each kind that the chapters ask for, with few systems."""
    five = true_vs_false_positive_disagreement.protocols(4, truth="truth")
    start = offline_option_taxonomy.start_grid(DATA, 4, seed=1)
    seven = {"full": ("nDCG(exp)@10", "RBP(0.8)"), "by ratings": ("P@10",), "geometric": ("P@10",)}
    designs = {
        "R_test": "TI-AN-AR rel>=5 condensed",
        "AR": "TI-AN-AR rel>=5",
        "1R": "TI-NN-1R t=100 rel>=5",
    }
    percentiles = "TI-AN-P1R m=10 rel>=5"
    thinned = {"tests": {"AR": "observed removed=50%"}, "split": "ratio 0.3"}
    six = concentration_metrics.protocols(4)
    return {
        "1": Grid(DATA, SYSTEMS, designs, ("P@10",), seed=3, split="k-fold 2"),
        "2": Grid(DATA, SYSTEMS, {"AR": "TI-AN-AR rel>=4"}, ("R@10",), **thinned),
        "3": Grid(DATA, SYSTEMS, percentiles, ("P@10",), split="ratio 0.2"),
        "4": Grid(DATA, SYSTEMS, "TI-AN-AR rel>=4", ("P@10", "bpref"), split="uniform 0.2"),
        "5": Grid(DATA, SYSTEMS, {"full": five[0]["full"]}, ("P@10", "antiP@10"), split="k-fold 2"),
        "6": Grid(DATA, SYSTEMS, six, ("P@10", "Gini@10"), split="k-fold 2"),
        "7": Grid(
            DATA,
            start.systems[:1],
            {label: str(start.parsed[label]) for label in seven},
            seven,
            split="ratio 0.5",
            select="keep=50%",
        ),
    }


@pytest.mark.parametrize("name", list("1234567"))
def test_printed_options_give_the_same_values(name: str) -> None:
    grid = _grids()[name]
    assert pages.repeats(grid) == 0
    results = run(grid)
    for label, lines in print_options(grid).items():
        for options in (each for line in lines for each in read(line)):
            again = evaluate(options, grid.dataset, grid.systems)
            for system, value in again.values.items():
                assert value == results[system, label, str(options.measured)].value
    first = next(iter(options_of(grid).values()))
    other = dataclasses.replace(first, seed=first.seed + 1)
    given_here = evaluate(first, grid.dataset, grid.systems).values
    assert evaluate(other, grid.dataset, grid.systems).values != given_here
