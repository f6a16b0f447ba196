"""The taxonomy as a table: its texts parse, each changes its decision, and no word is forgotten."""

from __future__ import annotations

import dataclasses
from importlib.metadata import version

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recbias.data.selection import Selection
from recbias.errors import ConfigError
from recbias.experiment import decisions
from recbias.experiment.decisions import (
    CHOICES,
    DECISIONS,
    PAPERS,
    START,
    Choice,
    decisions_table,
    in_full,
    methods_paragraph,
)
from recbias.experiment.options import PAIRED_TESTS, Options
from recbias.protocol.averaging import COVERAGES, POPULATIONS, STATISTICS, WEIGHTS
from recbias.protocol.protocol import POLICIES
from recbias.protocol.relevance import _NAMES as GAINS
from recbias.protocol.splits import _EXPECTED as SPLITS
from test_taxonomy import all_options

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
    *(f"data: {each.name}" for each in dataclasses.fields(Selection) if each.name != "rounds"),
    *(f"split: {kind}" for kind in SPLITS),
    *(f"unscored={policy}" for policy in (*POLICIES, "last")),
    *(f"users={population}" for population in POPULATIONS),
    *(f"weights={weights}" for weights in WEIGHTS if weights),
    *(f"statistic={statistic}" for statistic in STATISTICS),
    *(f"coverage={coverage}" for coverage in COVERAGES),
    *(
        "rounds=",
        "condensed",
        "+train",
        "AI-AN-AR",
        "TI-AN-AR",
        "-NN-",
        "-1R ",
        "-1R-shared",
        "-P1R",
    ),
    *(f"gain: {gain}" for gain in GAINS),
    *(f"pairs: {test}" for test in PAIRED_TESTS),
)
BEYOND = {
    *("rounds=", "split: temporal-at", "split: leave-last", "split: rolling"),
}
"""Words that the table leaves out: no paper took them, and the recorded chapter counts its rows."""
HABITS = {"unscored=none", "users=all", "statistic=mean", "coverage=full"}
"""Words that do not print, as they are the habit: the first option of their decision."""


def uncovered(choices):
    texts = " | ".join(f"{each.text} | {each.options}" for each in choices)
    return {word for word in WORDS if word not in texts} - HABITS - BEYOND


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


IMPLIED = {"gain: binary", "users=runs", "users=groups"}
"""Words of a sentence that do not print, as they are the habit of a rule or metric."""

FACTS = {"title": "A world", "n_ratings": 50_000, "n_users": 900, "n_items": 1_500}


def told(options):
    """Give the paragraph apart from its last sentence, and the options in that."""
    words, _, last = methods_paragraph(options, FACTS).rpartition(f" {in_full()} ")
    return words, Options.parse(last.strip("`."))


@given(all_options())
def test_a_paragraph_parses_back(options):
    assert told(options)[1] == options


def crossed(one, other, taken):
    """Take some fields of options from others: such differ in few decisions."""
    changes = {name: getattr(other, name) for name in taken}
    return dataclasses.replace(one, **changes)


FIELDS = ("protocol", "select", "split", "seed", "test", "pairs")


@given(all_options(), all_options(), st.sets(st.sampled_from(FIELDS), max_size=2))
def test_other_options_are_told_otherwise(one, other, taken):
    mixed = crossed(one, other, taken)
    if one.canonical() != mixed.canonical():
        assert told(one)[0] != told(mixed)[0]


def test_every_two_choices_are_told_otherwise():
    by_text = {}
    for choice in CHOICES:
        by_text.setdefault(told(choice.options)[0], set()).add(choice.options.canonical())
    assert [forms for forms in by_text.values() if len(forms) > 1] == []
    assert len({form for forms in by_text.values() for form in forms}) > 50


@pytest.mark.parametrize("words", ["_UNSCORED", "_OVER", "_PAIRS"])
def test_a_paragraph_that_forgets_a_decision_is_noticed(words, monkeypatch):
    known = getattr(decisions, words)
    the_same = next(iter(known.values()))
    monkeypatch.setattr(decisions, words, dict.fromkeys(known, the_same))
    with pytest.raises(AssertionError):
        test_every_two_choices_are_told_otherwise()


def test_a_split_that_is_told_like_another_is_noticed(monkeypatch):
    for kind, expected in SPLITS.items():
        the_same = SPLITS["ratio"].meaning
        monkeypatch.setitem(SPLITS, kind, expected._replace(meaning=the_same, is_drawn=True))
    with pytest.raises(AssertionError):
        test_every_two_choices_are_told_otherwise()


def test_a_paragraph_in_words():
    text = methods_paragraph(
        Options.parse(
            "data: keep=50% users>=5; split: k-fold 5; seed: 7; test: observed removed=30%; "
            "lists: TI-NN-1R t=100 rel>=3.5; metric: P@10; pairs: sign"
        ),
        FACTS,
    )
    for words in (
        "keep 50 % of the ratings at random, keep users with 5 ratings or more.",
        "split into 5 random folds, each of which is the test once, drawn with seed 7.",
        "not all observed test ratings but `observed removed=30%`.",
        "is ranked with 99 non-relevant ones drawn from all items with a test rating",
        "Items that a system cannot score are not ranked. Ratings of 3.5 or more are relevant.",
        "We report `P@10`. Values are the mean over relevant",
        "compared by sign tests over users (by the mean over their relevant test items), all of "
        "whom count alike there, with Holm's correction where there are several pairs. "
        "All that is drawn, in splits, training, ties, samples and resamples, follows from "
        "seed 7. "
        f"In full (notation of recbias {version('recbias')}): `data: keep=50% users>=5;",
    ):
        assert words in text
    assert 10 <= text.count(". ") <= 14


LISTS = "AI-AN-AR rel>=4"
MEAN = "Values are the mean over"
EVERYBODY = "all users, also those without a relevant test item"
SENTENCES = (
    # A1
    ("", "None of these is left out."),
    ("data: keep=50%", "Before anything is split we keep 50 % of the ratings at random."),
    ("data: head=10%", "Before anything is split we leave out the 10 % of the items that have most "
     "ratings."),
    ("data: users>=5", "Before anything is split we keep users with 5 ratings or more."),
    ("data: users>=5 items>=6 rounds=2", "Before anything is split we keep users with 5 ratings or "
     "more, keep items with 6 ratings or more, do so in 2 passes over users and then items."),
    ("data: items>=6", "Before anything is split we keep items with 6 ratings or more."),
    # A2
    ("split: ratio 0.3", "Each rating goes to the test with probability 0.3, drawn with seed 1."),
    ("split: k-fold 5; seed: 7", "Ratings are split into 5 random folds, each of which is the test "
     "once, drawn with seed 7."),
    ("split: k-fold 5", "Folds are taken together for values; in tests a user counts by the mean "
     "over folds."),
    ("split: leave-out 2", "Of each user 2 random ratings are the test, drawn with seed 1."),
    ("split: temporal 0.2", "The last ratings are the test, a share of 0.2 of all."),
    ("split: temporal-user 0.2", "The last ratings of each user are the test, a share of 0.2."),
    ("split: temporal-at 2003-01-01", "The ratings from 2003-01-01 (UTC) on are the test, what is "
     "older is trained on."),
    ("split: temporal-at 1041413400", "The ratings from 2003-01-01T09:30:00Z (UTC) on are the "
     "test, what is older is trained on."),
    ("split: leave-last 2", "The last ratings of each user are the test, 2 or as many as share a "
     "time."),
    ("split: rolling 3 0.1", "The last ratings are cut into 3 windows of time, a share of 0.1 "
     "each, and each is the test of what is older."),
    ("split: uniform 0.2", "Of each tested item equally many ratings are the test, a share of 0.2 "
     "of all, drawn with seed 1."),
    ("split: ready", "The folds that came with the data are the split."),
    ("split: whole; test: unbiased", "All observed ratings are trained on, and judgments beside "
     "them are the test."),
    ("", "All test ratings serve as judgments."),
    ("test: unbiased", "Judged are ratings of randomly drawn items only (`unbiased`)."),
    ("test: truth", "What is judged are not all observed test ratings but `truth`."),
    # B1
    ("", f"{MEAN} {EVERYBODY}."),
    (f"lists: {LISTS} users=tested", f"{MEAN} users with a test rating, relevant or not."),
    (f"lists: {LISTS} users=relevant", f"{MEAN} users with a relevant test item, others being left "
     "out."),
    (f"lists: {LISTS} users=trained", f"{MEAN} users with a training rating, also those without a "
     "relevant test item."),
    (f"lists: {LISTS} users=relevant,trained>=5", f"{MEAN} users with a relevant test item, others "
     "being left out, users with 5 training ratings or more only."),
    ("lists: AI-AN-1R rel>=4 users=runs,trained<5", f"{MEAN} relevant test items, users with fewer "
     "than 5 training ratings only, so that users weigh as many as they have."),
    ("lists: AI-AN-1R rel>=4", f"{MEAN} relevant test items, so that users weigh as many as they "
     "have."),
    ("lists: AI-AN-1R rel>=4", "Systems are compared by paired t tests over users (by the mean "
     "over their relevant test items), who weigh as many as these are, with Holm's correction "
     "where "
     "there are several pairs."),
    ("lists: AI-AN-1R rel>=4; pairs: wilcoxon", "Systems are compared by Wilcoxon signed-rank "
     "tests over users (by the mean over their relevant test items), all of whom count alike "
     "there, with "
     "Holm's correction where there are several pairs."),
    ("lists: AI-AN-P1R m=10 rel>=4", f"{MEAN} percentiles of popularity."),
    # B2
    ("", "Items that a system cannot score are not ranked."),
    (f"lists: {LISTS} unscored=last", "Items that a system cannot score are put last, in the order "
     "of ties."),
    (f"lists: {LISTS} unscored=random", "Items that a system cannot score are put last, in random "
     "order."),
    (f"lists: {LISTS} unscored=popularity", "Items that a system cannot score are put last, by "
     "their number of training ratings."),
    (f"lists: {LISTS} unscored=average-rating", "Items that a system cannot score are put last, by "
     "their mean training rating."),
    # C1
    ("", "For each user all items of the catalogue are ranked; training items are left out; "
     "unrated items count as not relevant (full lists)."),
    (f"lists: {LISTS} condensed", "For each user all items of the catalogue are ranked; training "
     "items are left out; only what the user rated in the test is kept of that (condensed lists)."),
    ("lists: TI-AN-AR rel>=4", "For each user all items with a test rating are ranked; training "
     "items are left out; unrated items count as not relevant (full lists)."),
    ("lists: AI-AN-AR +train rel>=4", "For each user all items of the catalogue are ranked; "
     "training items stay in; unrated items count as not relevant (full lists)."),
    ("lists: AI-NN-AR N=2500 rel>=4", "For each user all relevant items are ranked together with "
     "2,500 non-relevant ones drawn from all items of the catalogue; training items are left out; "
     "unrated items count as not relevant (full lists)."),
    ("lists: TI-NN-1R t=100 rel>=4", "Each relevant item of a user is ranked with "
     "99 non-relevant ones drawn from all items with a test rating, anew each time; training items "
     "are left out; unrated items count as not relevant (full lists)."),
    ("lists: TI-NN-1R-shared t=100 rel>=4", "Each relevant item of a user is ranked "
     "with 99 non-relevant ones drawn from all items with a test rating, the same for all of them; "
     "training items are left out; unrated items count as not relevant (full lists)."),
    ("lists: TI-AN-P1R m=10 rel>=4", "Each relevant item of a user is ranked with "
     "all items with a test rating of its own percentile of popularity, of 10; training items are "
     "left out; unrated items count as not relevant (full lists)."),
    ("lists: TI-AN-1R rel>=4", "Each relevant item of a user is ranked with all items with a test "
     "rating; training items are left out; unrated items count as not relevant (full lists)."),
    ("lists: TI-AN-1R rel>=4; metric: P@10|t=100", "Each relevant item of a user is ranked with 99 "
     "non-relevant ones drawn from all items with a test rating, or with all of them where there "
     "are fewer; the value is the expectation over all draws; training items are left out; unrated "
     "items count as not relevant (full lists)."),
    ("lists: AI-AN-AR rel>=4; metric: P@10|N=1000", "For each user all relevant items are ranked "
     "together with 1,000 non-relevant ones drawn from all items of the catalogue, or with all of "
     "them where there are fewer; the value is the expectation over all draws; training items are "
     "left out; unrated items count as not relevant (full lists)."),
    # C2
    ("lists: AI-AN-AR rel>=3.5", "Ratings of 3.5 or more are relevant."),
    ("metric: P@5", "We report `P@5`."),
    ("metric: AP", "We report `AP`, over whole lists."),
    ("metric: antiP@10", "We report `antiP@10`, the share of the first 10 items that the user "
     "rated below 4 in the test; lower is better."),
    ("metric: antiP@10", "For each user all items of the catalogue are ranked; training items are "
     "left out; unrated items count as neither hits nor misses (full lists)."),
    ("metric: antiP@10", "Users without a list count as 0, the best value there is."),
    (f"lists: {LISTS} coverage=reduced; metric: antiP@10", "Users without a list are left out."),
    ("", "We report `nDCG@10` with a gain of 1 for each relevant item."),
    ("gain: linear", "We report `nDCG(linear)@10` with the stars of each relevant item as its "
     "gain."),
    ("gain: exp", "We report `nDCG(exp)@10` with gains that about double with each star."),
    ("gain: err", "We report `nDCG(err)@10` with gains as of expected reciprocal rank, which about "
     "double with each star."),
    ("gain: ranksys", "We report `nDCG(ranksys)@10` with gains as of RankSys, which about double "
     "with each star from the threshold."),
    ("gain: steps", "We report `nDCG(steps)@10` with gains that count stars from the threshold."),
    # C3
    (f"lists: {LISTS} statistic=median", f"Values are the median over {EVERYBODY}."),
    (f"lists: {LISTS} statistic=geometric", "Values are the geometric mean (with 1e-05 added to "
     f"each value) over {EVERYBODY}."),
    (f"lists: {LISTS} weights=ratings", f"{MEAN} {EVERYBODY}, each weighing as many as their test "
     "ratings."),
    (f"lists: {LISTS} weights=relevant", f"{MEAN} {EVERYBODY}, each weighing as many as their "
     "relevant test ratings."),
    # C4
    ("", "Users without a list count as 0."),
    (f"lists: {LISTS} coverage=reduced", "Users without a list are left out."),
    # D
    *((f"pairs: {test}", f"Systems are compared by {words}, with Holm's correction where there are "
       "several pairs.")
      for test, words in (("t", "paired t tests over users"),
                          ("wilcoxon", "Wilcoxon signed-rank tests over users"),
                          ("sign", "sign tests over users"),
                          ("bootstrap", "bootstrap tests over resampled users"))),
    # What is tested is what is reported, but by tests that count users alike.
    *((f"lists: AI-AN-AR rel>=4 {average}; pairs: {test}", f"Systems are compared by {words}, with "
       "Holm's correction where there are several pairs.")
      for average, test, words in (
          ("weights=ratings", "t", "paired t tests over users, who weigh as much as in the values"),
          ("weights=relevant", "sign", "sign tests over users, all of whom count alike there"),
          ("statistic=geometric", "t", "paired t tests of logarithms over users"),
          ("statistic=median", "bootstrap", "bootstrap tests of the difference of medians over "
           "resampled users"),
          ("statistic=median", "wilcoxon", "Wilcoxon signed-rank tests over users, all of whom "
           "count alike there"))),
)  # fmt: skip
"""By the parts of options that take the place of the start's, a whole sentence: what they mean."""


@pytest.mark.parametrize(("text", "sentence"), SENTENCES)
def test_each_word_of_a_decision_has_its_sentence(text, sentence):
    words = f" {told(Choice('A1', text, '', '').options)[0]} "
    assert f" {sentence} " in words
    begins = f" {sentence[:12]}"
    assert words.count(begins) == 1


def test_every_word_of_the_grammar_has_a_sentence():
    texts = " | ".join(f"{text} | {Choice('A1', text, '', '').options}" for text, _ in SENTENCES)
    assert {word for word in WORDS if word not in texts} - HABITS - IMPLIED == set()


def test_the_paragraph_says_what_a_relevant_item_adds():
    for gain, words in (("", "a gain of 1 for each"), ("exp", "gains that about double")):
        part = f"; gain: {gain}" if gain else ""
        words_of, _ = told(Options.parse(f"{START}{part}"))
        assert words in words_of, gain
    assert "gain" not in told(Options.parse(START.replace("nDCG@10", "P@10")))[0]
    assert "over whole lists" in told(Options.parse(START.replace("nDCG@10", "AP")))[0]
