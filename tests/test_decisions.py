"""The taxonomy as a table: its texts parse, each changes its decision, and no word is forgotten."""

from __future__ import annotations

import dataclasses

import pytest

from recbias.averaging import COVERAGES, POPULATIONS, STATISTICS, WEIGHTS
from recbias.decisions import CHOICES, DECISIONS, PAPERS, START, Choice, decisions_table
from recbias.errors import ConfigError
from recbias.ranking import POLICIES
from recbias.relevance import _NAMES as GAINS
from recbias.selection import Selection
from recbias.splits import _EXPECTED as SPLITS
from recbias.taxonomy import PAIRED_TESTS, Options

FIELD_OF = {
    "A1": lambda o: o.select,
    "A2": lambda o: (o.split, o.seed, o.test),
    "B1": lambda o: o.protocol.averaging.population,
    "B2": lambda o: o.protocol.unscored,
    "C1": lambda o: (o.protocol.rule, o.protocol.condensed),
    "C2": lambda o: (o.metric, o.gain, o.protocol.min_rating),
    "C2C": lambda o: (o.metric, o.protocol.condensed),
    "C3": lambda o: (o.protocol.average.statistic, o.protocol.average.weights),
    "C4": lambda o: o.protocol.average.coverage,
    "D": lambda o: o.pairs,
}  # fmt: skip
WORDS = (
    *(f"data: {each.name}" for each in dataclasses.fields(Selection)),
    *(f"split: {kind}" for kind in SPLITS),
    *(f"unscored={policy}" for policy in (*POLICIES, "last")),
    *(f"users={population}" for population in POPULATIONS),
    *(f"weights={weights}" for weights in WEIGHTS if weights),
    *(f"statistic={statistic}" for statistic in STATISTICS),
    *(f"coverage={coverage}" for coverage in COVERAGES),
    *("condensed", "+train", "AI-AN-AR", "TI-AN-AR", "-NN-", "-1R ", "-1R-shared", "-P1R"),
    *(f"gain: {gain}" for gain in GAINS),
    *(f"pairs: {test}" for test in PAIRED_TESTS),
)
HABITS = {"unscored=none", "users=all", "statistic=mean", "coverage=full"}
"""Words that do not print, as they are the habit: the first option of their decision."""


def uncovered(choices):
    texts = " | ".join(f"{each.text} | {each.options}" for each in choices)
    return {word for word in WORDS if word not in texts} - HABITS


def faults(choices):
    """Name the options that leave their decision as it is, or are another's twin."""
    found = []
    start = Options.parse(START)
    for decision, field in FIELD_OF.items():
        own = [each for each in choices if each.decision == decision]
        values = [field(each.options) for each in own]
        found += [each for each, value in zip(own, values, strict=True)
                  if each.text and value == field(start)]  # fmt: skip
        if len(set(values)) < len(values) or not own:
            found.append(decision)
    return found


def test_every_decision_has_options_and_each_changes_it():
    assert list(DECISIONS) == list(FIELD_OF) == list(dict.fromkeys(c.decision for c in CHOICES))
    assert faults(CHOICES) == []
    for decision in set(DECISIONS) - {"C2C"}:
        assert [c.text for c in CHOICES if c.decision == decision].index("") == 0


def test_no_word_is_forgotten():
    assert uncovered(CHOICES) == set()


def test_a_missing_row_and_one_of_no_effect_are_noticed():
    assert uncovered([c for c in CHOICES if "wilcoxon" not in c.text]) == {"pairs: wilcoxon"}
    assert uncovered([c for c in CHOICES if "keep" not in c.text]) == {"data: keep"}
    idle = Choice("D", "lists: AI-AN-AR rel>=3", "another threshold", "pairs")
    assert idle in faults((*CHOICES, idle))
    assert "C4" in faults([c for c in CHOICES if c.decision != "C4"])


def test_the_table_says_who_used_what():
    table = decisions_table()
    assert len(table) == len(CHOICES)
    assert not table.duplicated(["decision", "option"]).any()
    for decision, own in table.groupby("decision"):
        for paper in PAPERS:
            is_stated = own[paper] != "not stated"
            assert is_stated.all() or not is_stated.any(), (decision, paper)
            assert is_stated.any() == (own[paper] == "yes").any()
    used = table[table["decision"] == "A2"].set_index("option")
    assert used.loc["split: k-fold 5", "BCC17"] == used.loc["test: unbiased", "MCCRS20"] == "yes"
    assert set(used["ATM15"]) == {"not stated"}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("E1", "", "", ""), "unknown decision 'E1'"),
        (("D", "pairs: tt", "", ""), "unknown paired test 'tt'"),
        (("D", "", "", "", ("BCC18",)), "did you mean 'BCC17'"),
    ],
)
def test_what_is_no_option_is_refused(given, message):
    with pytest.raises(ConfigError, match=message):
        Choice(*given)
