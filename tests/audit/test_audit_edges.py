"""What a review of audits found: odd names, small tables, nobody to compare, sums of weights."""

import math
import re
import shutil
import sys
import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from recbias import System, load_dataset
from recbias.audit import audit, auditing, comparison, side_by_side, signals
from recbias.audit.auditing import _kept_splits, _unserved_said
from recbias.audit.comparison import CHANCE, SERVED, Comparison, Difference
from recbias.audit.design import around, only_ties, own_design
from recbias.audit.page import page_of, percent
from recbias.audit.rule import answer, because
from recbias.audit.sides import folds_of, side
from recbias.audit.words import change_said, number_said, option_said
from recbias.errors import ConfigError, DataWarning, RecbiasError, TrainingError
from recbias.metrics import parse_metric
from recbias.protocol.testset import dataset_splits
from recbias.recommenders import FromScores, as_system

PAIR = (System("A", "Popularity"), System("B", CHANCE))

# ---- sides


def scores_in(folder):
    folder.mkdir(parents=True)
    (folder / "fold-1.csv").write_text("user_id,item_id,score\n1,1,0.5\n")
    return folder


def test_a_path_may_have_an_equals_sign_of_its_own(tmp_path):
    folder = scores_in(tmp_path / "runs" / "lr=0.1")
    assert side(str(folder)).parameters["path"] == str(folder)
    assert side(f"mine={folder}").parameters["path"] == str(folder)
    assert side(f"mine={folder}").name == "mine"
    assert folds_of(str(folder), f"mine={folder}") == {}  # and is found at all


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path.copy())
    (tmp_path / "shop43").mkdir()
    return tmp_path / "shop43"


def test_a_class_may_stand_in_a_package(here):
    (here / "models.py").write_text("class Mine:\n    best = 1\n")
    with pytest.raises(ConfigError, match="has no Absent"):  # the module was found
        side("shop43.models:Absent")


def test_a_module_that_cannot_be_imported_is_named(here):
    (here / "broken.py").write_text("raise RuntimeError('no GPU')\n")
    with pytest.raises(ConfigError, match=r"shop43\.broken cannot be imported.*no GPU"):
        side("shop43.broken:Mine")


# ---- the rule, and its words


@pytest.mark.parametrize(("given", "said"), [
    ("Popularty", "did you mean 'Popularity'"),
    ("mine=pathlib:Path", "pathlib:Path: "),  # it has no fit: which side that is, is said
])  # fmt: skip
def test_a_side_that_is_none_is_named(given, said):
    with pytest.raises(ConfigError, match=re.escape(said)):
        side(given)


def test_nine_in_ten_is_nine_in_ten_whatever_the_last_digit():
    just_below = math.nextafter(0.9, 0)
    assert just_below < 0.9
    assert answer(0.1, 0.2, just_below, 0.1) == "holds"
    assert answer(-0.1, 0.2, 0.1, just_below) == "does not hold"
    assert answer(0.1, 0.2, 0.8999, 0.1) == "open"


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ((0.1, 0.2, 0.95, 0.0), "the interval lies above 0 and X wins in at least 90 % of"),
        ((-0.1, 0.2, 0.5, 0.0), "the interval does not lie above 0 and X wins in fewer than 90 %"),
        ((-0.2, -0.1, 0.1, 0.9), "the interval lies below 0 and X loses in at least 90 % of"),
        ((0.1, 0.2, 0.1, 0.9), "X loses in at least 90 % of the designs"),
        ((math.nan, math.nan, 1.0, 0.0), "the interval does not lie above 0"),
    ],
)
def test_reasons_are_those_of_the_answer(numbers, said):
    assert because("X", *numbers).startswith(said)


@pytest.mark.parametrize(
    ("share", "said"),
    [(0.0, "0 %"), (1.0, "100 %"), (1e-6, "0.1 %"), (0.99999, "99.9 %"), (0.8996, "89.9 %"),
     (0.9, "90 %"), (1 / 6, "16.7 %"), (0.29, "29 %"), (None, "–")],
)  # fmt: skip
def test_shares_below_the_rule_do_not_print_as_the_rule(share, said):
    assert percent(share) == said


MULTIVERSE = {
    "shares": {"decisions": {"wins": 0.95, "loses": 0.05}},
    "universes": 1200, "different": 7, "without": None,
    "no start": "", "changes": 1, "flips": ["x"], "flips said": ["words"],
}  # fmt: skip


def paragraph(lead, low, high, n_users=80, metric="P@10", n_tested=80, **changed):
    own = Difference(lead, low, high, math.nan, n_users, "paired t")
    return auditing._paragraph(
        ("A", "B"), "open", own, parse_metric(metric), {**MULTIVERSE, **changed}, "not here",
        unserved={"unserved": {"A": 0, "B": 0}}, n_tested=n_tested, kept_splits="",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ((0.02, 0.01, 0.03), "A is 0.0200 ahead of B in P@10 (95 % interval 0.0100 to 0.0300"),
        ((-0.02, -0.03, -0.01), "A is 0.0200 behind B in P@10 (95 % interval 0.0100 to 0.0300"),
        ((0.02, -0.01, 0.05), "interval -0.0100 to +0.0500"),
        ((0.0, 0.0, 0.0), "A and B are level in P@10"),
        ((-1e-17, -0.01, 0.01), "A and B are level in P@10"),
        ((0.5, math.nan, math.nan, 1), "(1 user, too few for an interval)"),
        ((math.nan, math.nan, math.nan, 0), "nobody has a value of P@10 under both"),
        ((0.1, 0.05, 0.2, 9, "antiP@10"), "ahead of B in antiP@10, of which less is better"),
    ],
)
def test_the_paragraph_says_what_there_is(given, said):
    text = paragraph(*given)
    assert said in text
    assert "nan" not in text


def test_the_paragraph_names_changes_in_words():
    assert "One change is enough to turn the winner – words." in paragraph(0.1, 0.0, 0.2)
    assert "2 changes are enough to turn the winner – words – or any of 2 others." in paragraph(
        0.1, 0.0, 0.2, changes=2, flips=["x", "y", "z"]
    )
    assert "no change turns the winner" in paragraph(0.0, 0.0, 0.0, **{"no start": "nobody"})


def test_options_have_words_for_who_does_not_know_the_codes():
    options = {"C2": ("metric: P@10", "metric: antiP@10"), "C3": ("", "weights=ratings"),
               "C2 threshold": ("rel>=4", "rel>=5"), "A2": ("split: ratio 0.5", "split: ratio 0.2"),
               "C1": ("AI-AN-AR", "condensed")}  # fmt: skip
    assert change_said("C1: condensed; C2: metric: antiP@10", options) == (
        "which metric: rated below the threshold among ten items (antiP@10); "
        "which items are ranked: the user's own test ratings (condensed lists)"
    )
    assert change_said("C3: none", options) == "how users are averaged: the plain mean"
    assert option_said("C2 threshold", "rel>=5") == "ratings of 5 or more (rel>=5)"
    assert option_said("A2", "split: ratio 0.2").startswith("each rating is tested with prob")
    assert option_said("C2", "metric: mine@3") == "mine@3"


@pytest.mark.parametrize("protocol", ["AI-AN-1R rel>=4", "AI-AN-P1R m=10 rel>=4"])
def test_runs_are_refused_as_they_are_no_users(protocol):
    with pytest.raises(ConfigError, match="users cannot be compared"):
        own_design(load_dataset("world(users=60,items=80)"), protocol)


@pytest.mark.parametrize("odd", [math.nan, math.inf])
def test_designs_in_which_all_users_differ_alike_are_not_drawn(odd):
    """Found by an audit of 40 users under all designs: its page could not be written."""
    table = pd.DataFrame({"effect": [0.5, odd, 0.1], "sign": [1, -1, -1]})
    assert auditing._points(table) == [-0.1, 0.5]
    assert auditing._points(table[1:2]) == []


# ---- warnings of small tables


def split_of(*counts):
    user = np.repeat(np.arange(len(counts)), counts)
    test = SimpleNamespace(user=user, value=np.ones(len(user)), n_users=len(counts))
    return SimpleNamespace(test=test)


@pytest.mark.parametrize(("mine", "fires"), [(0.58, False), (0.79, True)])
def test_where_few_items_are_left_everybody_shows_the_test(mine, fires):
    """Of 0.8 that are possible chance has 0.55; without chance both would be above 0.6."""
    values = {"judged@10": {"A": mine, "B": 0.55, CHANCE: 0.55}}
    values["antiP@10"] = dict.fromkeys(values["judged@10"], 0.0)
    assert signals.seen(values, 10, [split_of(8, 8)], PAIR, 1).fires == fires
    assert 0.58 / 0.8 > 0.7  # near what fired before, whatever the system


def test_where_few_items_are_left_no_list_can_be_long():
    served = {"A": 0.5, "B": 0.5, CHANCE: 0.5}
    assert not signals.short({"Served@10": served}, 10, [], PAIR).fires
    assert signals.short({"Served@10": {**served, "A": 0.4}}, 10, [], PAIR).fires


def test_users_who_are_left_out_are_not_made_up_for_by_those_without_test_ratings():
    """Of four tested users one carries nothing, but three without test ratings count as 0."""
    ids = np.array(list("abcdefg"))
    rows = [(name, user, math.nan if user == "a" else 0.0) for name in "AB" for user in ids]
    frame = pd.DataFrame(rows, columns=["system", "user_id", "value"])
    results = SimpleNamespace(systems=["A", "B"], per_user=lambda *_, **__: frame)
    test = SimpleNamespace(user=np.array([0, 1, 1, 2, 3]), user_ids=ids)
    design = SimpleNamespace(measured="P@10")
    found = signals.dropped(results, design, [SimpleNamespace(test=test)])
    assert found.fires
    assert found.evidence.startswith("3 of 4 users")


def test_warnings_about_other_things_do_not_say_that_lists_are_short():
    full = {"Served@10": {"A": 1.0, "B": 1.0, CHANCE: 1.0}}
    other = "split 'leave-out 1' of x: asked to test 20 %, it tests 3 %"
    assert not signals.short(full, 10, [other], PAIR).fires
    said = "A: under case, metrics look below its last item"
    assert signals.short(full, 10, [other, said], PAIR).fires


def test_the_last_digits_of_sums_are_no_ties(monkeypatch):
    nothing = Difference(0.0, 0.0, 0.0, 1.0, 80, "paired t")
    monkeypatch.setattr(Comparison, "run", lambda *_, **__: None)
    monkeypatch.setattr(Comparison, "lead", lambda *_: nothing._replace(lead=-1e-17))
    design = SimpleNamespace(measured="P@10", protocol="AI-AN-AR rel>=4", test="observed")
    assert not signals.tied(Comparison("x", PAIR, design), nothing).fires


def test_a_lead_that_is_unknown_is_said_so():
    nobody = Difference(math.nan, math.nan, math.nan, math.nan, 0, "paired t")
    found = signals.popular(nobody, {"lead": nobody._asdict()})
    assert not found.fires
    assert "nan" not in found.evidence


# ---- baselines


def results_of(values, left_out):
    class Found(dict):
        def __getitem__(self, key):
            return SimpleNamespace(value=values[key[0]])

    found = Found()
    found.left_out = left_out
    told = Difference(0.1, 0.05, 0.15, 0.02, 9, "paired t")
    found.difference = lambda *_: SimpleNamespace(difference=told.lead, **told._asdict())
    return found


def chosen_of(monkeypatch, values, left_out):
    monkeypatch.setattr(Comparison, "run", lambda *_, **__: results_of(values, left_out))
    metric = parse_metric("P@10")
    design = SimpleNamespace(protocol="", measured=metric, metric=metric, test="observed")
    rivals = [System(name, "Popularity") for name in ("one", "two", "three")]
    return comparison.strongest(Comparison("x", PAIR, design), rivals)


def test_the_best_baseline_is_one_that_has_a_value(monkeypatch):
    given = {"one": math.nan, "two": 0.2}
    best, values, rows = chosen_of(monkeypatch, given, {"three": "too few"})
    assert best.name == "two"
    assert [row["baseline"] for row in rows] == ["two"]
    assert list(values) == ["one", "two", "three"]  # the page shows who could not be trained


def test_baselines_of_which_none_can_be_trained_are_said(monkeypatch):
    left_out = dict.fromkeys(("one", "two", "three"), "too few ratings")
    with pytest.raises(TrainingError, match="none of the baselines has a value"):
        chosen_of(monkeypatch, {}, left_out)
    with pytest.raises(TrainingError, match="A cannot be trained on these data: too few"):
        chosen_of(monkeypatch, {"one": 0.1}, {"A": "too few"})


# ---- end to end, where there is little


def table(n_users, n_items, n_ratings, rated):
    rng = np.random.default_rng(1)
    rows = [(f"<i>u{u}", f"<script>{i}", rated(rng)) for u in range(n_users)
            for i in rng.choice(n_items, n_ratings, replace=False)]  # fmt: skip
    return pd.DataFrame(rows, columns=["user_id", "item_id", "rating"])


LITTLE = {"C2": ("metric: P@10", "metric: antiP@10")}


@pytest.mark.slow
def test_one_system_under_two_names_in_a_tiny_table_is_open(tmp_path):
    tiny = table(12, 12, 9, lambda rng: int(rng.integers(1, 6)))
    twin = System("Popularity again", "Popularity")
    found = audit(tiny, System("Popularity", "Popularity"), twin, split="ratio 0.3", options=LITTLE)
    found.save(tmp_path / "found.html")
    fired = [signal["name"] for signal in found.record["signals"] if signal["fires"]]
    assert found.answer == "open"
    assert "are level in P@10" in repr(found)
    assert "too short" not in str(fired)
    assert "ties" not in str(fired)
    assert "Sampled candidates" not in (tmp_path / "found.html").read_text()
    text = side_by_side([found.record])
    assert '"A beats B" holds if' in text.replace("&quot;", '"')
    assert "nan" not in page_of(found.record)


@pytest.mark.slow
def test_one_user_has_no_interval(tmp_path):
    alone = table(1, 30, 20, lambda rng: int(rng.integers(1, 6)))
    pair = System("Popularity", "Popularity"), System("Random", "Random")
    found = audit(alone, *pair, split="ratio 0.3", options=LITTLE)
    found.save(tmp_path / "found.html")
    assert "1 user, too few for an interval" in repr(found)
    assert found.answer == "open"


# ---- what three readers found: the page contradicts neither itself nor its limits


@pytest.fixture(scope="module")
def in_folds():
    """Three folds, so that users with nothing to find are in some folds alone."""
    options = {"C1": ("AI-AN-AR", "condensed"), "C2": ("metric: P@10", "metric: nDCG@10")}
    return audit("world(users=50,items=60)", System("Popularity", "Popularity"),
                 System("Random", "Random"), split="k-fold 3", options=options,
                 ledger=False).record  # fmt: skip


def test_values_and_leads_of_a_row_are_of_one_average(in_folds):
    known = [row for row in in_folds["designs"] if "values" in row]
    assert {"users with nothing to find left out"} <= {row["design"] for row in known}
    for row in known:
        first, second = (row["values"][name][0] for name in ("Popularity", "Random"))
        sign = 1 if row["more is better"] else -1
        assert sign * (first - second) == pytest.approx(row["lead"]["lead"], abs=1e-9), row
        assert all(low <= value <= high for value, low, high in row["values"].values())
    rows = in_folds["samples"]["rows"]
    assert len(rows) >= 2
    for row in rows:
        gap = row["values"]["Popularity"] - row["values"]["Random"]
        assert gap == pytest.approx(row["lead"]["lead"], abs=1e-9), row


def test_the_first_screen_says_what_the_lead_and_the_designs_are(in_folds):
    said, page = in_folds["sentence"]["paragraph"], page_of(in_folds)
    both = next(row for row in in_folds["over whom"] if row["over"] == "both")
    assert number_said(both["low"], "+") in said
    assert f"({in_folds['multiverse']['different']} different leads)" in said
    assert "No change of designs" not in said
    assert "Your design: P@10, a rating of 4 or more is a like, split k-fold 3 (seed 1)" in page
    assert set(in_folds["multiverse"]["importance"]) <= set(in_folds["multiverse"]["by option"])
    assert "not seen: " in page
    assert "only gross leaks show here" in page
    assert "lead of Popularity" in page  # in the tables that are to be pasted
    assert "liked from 4 stars" not in page
    assert "binary from 4 stars" not in page


def test_words_follow_the_scale_of_the_data(in_folds):
    grades = in_folds | {
        "own": {**in_folds["own"], "options": in_folds["own"]["options"].replace("4", "6")}
    }
    assert "rated under 6" in page_of(grades)
    assert "star" not in option_said("C2", "metric: nDCG@10") + option_said("C2 gain", "gain: exp")


def test_few_users_and_parts_that_nobody_is_served_in_are_not_read_as_leads(in_folds):
    lead = {"lead": 0.0, "low": 0.0, "high": 0.0, "p": 1.0, "n_users": 50, "test": "paired t"}
    few = {**lead, "lead": -0.0333, "low": -0.1768, "high": 0.1101, "n_users": 3}
    hidden = {**in_folds["hidden"], "parts": {"all": lead, "cold": few}}
    page = page_of(in_folds | {"hidden": hidden})
    assert "none: no user is served differently" in page
    assert "[-0.1768, +0.1101]: too few users" in page


def test_scores_say_that_the_split_was_not_varied(in_folds):
    pair = (as_system(FromScores(pd.DataFrame([(1, 1, 1.0)],
            columns=["user_id", "item_id", "score"]))).replace("mine"), PAIR[0])  # fmt: skip
    design = own_design(load_dataset("world(users=50,items=60)"))
    said = _kept_splits(pair, design)
    assert "All designs use your split (k-fold 5, seed 1)" in said
    assert "mine has scores there only" in said
    assert "cannot be ruled out" in said


def test_the_one_option_that_keeps_a_sentence_open_is_named(in_folds):
    without = {"option": "Which metric: x", "wins": 0.95, "loses": 0.5, "misses": False}
    shares = {"decisions": {"wins": 0.889, "loses": 0.111}}
    said = paragraph(0.2, 0.1, 0.3, without=without, shares=shares)
    assert said.startswith(
        '"A beats B" is open: A wins in fewer than 90 % of the designs. One option of one decision '
        "alone keeps it open – which metric: x. Under it A loses in 50 % of the designs, under all "
        "others it wins in 95 %: without that option the sentence holds. Under your design A is"
    )
    misses = {**without, "misses": True}
    assert "under all others it wins in 95 %. It counts misses: for hits the sentence holds." in (
        paragraph(0.2, 0.1, 0.3, without=misses, shares=shares)
    )
    assert "ne option" not in paragraph(0.2, -0.1, 0.3, without=without, shares=shares)
    found = in_folds["multiverse"]
    assert found["shares"]["decisions"]["wins"] < 0.9
    assert found["without"] == {
        "option": "Which items are ranked: the user's own test ratings (condensed lists)",
        "wins": 1.0, "loses": 1.0, "misses": False,
    }  # fmt: skip
    assert re.search(r"condensed lists\): lead -0\.\d+ \[", found["flips said"][0])


def test_what_cannot_be_looked_for_is_not_said_to_be_unseen(in_folds):
    page = page_of(in_folds)
    assert "cannot tell: Random has no settings that could be varied here" in page
    assert "cannot tell: the data have no times" in page


def popular_stars():
    rng = np.random.default_rng(0)
    odds = 1 / np.arange(1, 41)
    rows = [(u, i, r) for u in range(40)
            for i, r in zip(rng.choice(40, 9, replace=False, p=odds / odds.sum()),
                            rng.integers(3, 6, 9), strict=True)]  # fmt: skip
    return pd.DataFrame(rows, columns=["user_id", "item_id", "rating"])


def test_options_that_only_tie_are_none_where_all_is_liked():
    stars = popular_stars()
    bought, rated = load_dataset(stars[["user_id", "item_id"]]), load_dataset(stars)
    options = {
        name: around(own_design(data), data, trainable=True, whole_lists=True)
        for name, data in (("bought", bought), ("rated", rated))
    }
    tied = {"metric: antiP@10", "metric: AUC"}
    assert only_ties(rated, 4) == {}
    assert tied <= set(options["rated"]["C2"])
    assert "condensed" in options["rated"]["C1"]
    assert not tied & set(options["bought"]["C2"])
    assert "condensed" not in options["bought"]["C1"]
    condensed = own_design(bought, "AI-AN-AR rel>=1 condensed")  # a reader's own is never left out
    own = around(condensed, bought, trainable=True, whole_lists=True)
    assert own["C1"][0] == "AI-AN-AR condensed"


@pytest.mark.slow
def test_where_all_is_liked_a_sentence_can_hold():
    stars = popular_stars()
    bought = load_dataset(stars[["user_id", "item_id"]])
    options = around(own_design(bought), bought, trainable=True, whole_lists=True)
    few = {decision: options[decision] for decision in ("C1", "C2")}
    found = audit(stars[["user_id", "item_id"]], *PAIR, split="ratio 0.5",
                  options=few, ledger=False)  # fmt: skip
    assert found.answer == "holds"


def test_users_without_a_list_are_said(in_folds):
    test = SimpleNamespace(user=np.array([0, 1, 2, 3]), user_ids=np.array(list("abcd")))
    frame = pd.DataFrame([(name, user, 0.0) for name in "AB" for user in "abcd"],
                         columns=["system", "user_id", "value"])  # fmt: skip
    results = SimpleNamespace(systems=["A", "B"], per_user=lambda *_, **__: frame)
    asked = results, SimpleNamespace(measured="P@10"), [SimpleNamespace(test=test)]
    assert not signals.dropped(*asked, {"A": 0, "B": 0}).fires
    found = signals.dropped(*asked, {"A": 2, "B": 0})
    assert found.fires
    assert "A gives no list to 2" in found.evidence
    served = {"lead": 0.25, "low": 0.125, "high": 0.375}
    hidden = {"depth": 10, "tested": 4, "unserved": {"A": 2, "B": 0}, "parts": {SERVED: served}}
    assert _unserved_said("AB", hidden) == (
        "Of 4 users with test ratings A has no list for 2; among those whom both serve the lead in "
        "P@10 is +0.2500 (+0.1250 to +0.3750). "
    )
    assert "600 users, of whom 80 have test ratings)" in paragraph(0.2, 0.1, 0.3, 600)
    assert "interval 0.000044 to 0.0010" in paragraph(-0.0005, -0.001, -0.000044)
    assert in_folds["hidden"]["unserved"] == {"Popularity": 0, "Random": 0}


def test_what_is_said_of_another_design_names_it_and_makes_no_list_short():
    """Found by a reader: lists of 100 items were called short, as the head had most of them."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for words in ("", "without the head"):
            with comparison._called(words):
                warnings.warn("A: under case, metrics look below its last item", DataWarning, 2)
                warnings.warn("something else", UserWarning, 2)
    assert [str(each.message) for each in caught] == [
        "A: under case, metrics look below its last item",
        "something else",
        "without the head: A: under case, metrics look below its last item",
        "something else",
    ]
    full = {"Served@10": {"A": 1.0, "B": 1.0, CHANCE: 1.0}}
    fires = [signals.short(full, 10, [str(each.message)], PAIR).fires for each in caught]
    assert fires == [True, False, False, False]


# ---- scores that do not fit

FOLDS = "k-fold 3"


@pytest.fixture(scope="module")
def scored(tmp_path_factory):
    """A table, and for each fold scores of all items, those of new pairs alone, and lists."""
    rows = [(f"u{u}", f"i{i}", 1 + (u + i) % 5) for u in range(30) for i in range(9) if (u * i) % 4]
    rows += [(f"u{u}", f"rare{u}", 5) for u in range(30)]
    table = pd.DataFrame(rows, columns=["user_id", "item_id", "rating"])
    folder = tmp_path_factory.mktemp("scores")
    for fold, split in enumerate(dataset_splits(load_dataset(table), FOLDS, seed=1), start=1):
        train, files = split.train, folder / f"fold-{fold}"
        files.mkdir()
        pairs = [(u, i) for u in range(train.n_users) for i in np.flatnonzero(train.item_counts())]
        known = set(zip(train.user.tolist(), train.item.tolist(), strict=True))
        scores = pd.DataFrame(
            [(train.user_ids[u], train.item_ids[i], i, (u, i) in known) for u, i in pairs],
            columns=["user_id", "item_id", "score", "known"],
        )
        new = scores[~scores.pop("known")]
        scores.to_csv(files / "all.csv", index=False)
        new.to_csv(files / "new.csv", index=False)
        new.rename(columns={"score": "rank"}).to_csv(files / "lists.csv", index=False)
    return table, folder


def edited(column, text):
    """Set a field of the second row of the last fold."""

    def edit(folder, name):
        table = pd.read_csv(folder / "fold-3" / name, dtype=str)
        table.loc[1, column] = text
        table.to_csv(folder / "fold-3" / name, index=False)

    return edit


def exchanged(folder, name):
    first, last = (folder / f"fold-{n}" / name for n in (1, 3))
    contents = first.read_bytes(), last.read_bytes()
    last.write_bytes(contents[0])
    first.write_bytes(contents[1])


def unbroken(folder, name):
    pass


@pytest.mark.parametrize(("name", "fault", "said"), [
    ("all.csv", edited("score", "nan"),
     r"fold-3/all\.csv:3: fold 3, user u0, item \w+: 'nan' is no finite number, in column 'score'"
     r"\nwrite numbers"),
    ("lists.csv", edited("rank", "-"), r"lists\.csv:3: fold 3, user u0, .*'-' is no finite"),
    ("all.csv", edited("item_id", "zz"), r"csv:3: fold 3, user u0, item zz: .* no such item\n"),
    ("new.csv", edited("user_id", "zz"), r"csv:3: fold 3, user zz, .* no such user\n"),
    ("all.csv", exchanged,
     r"fold-1/all\.csv:\d+: fold 1, user u0, item rare\d+: training has no rating of the item, "
     r".*\nis it the file of fold 3\? put each file"),
    ("new.csv", exchanged,
     r"fold-1/new\.csv:\d+: fold 1, user \w+, item \w+: the user has the item in training, and "
     r"the file has \d+ such .*\nis it the file of fold 3\?"),
    ("lists.csv", exchanged, r"fold-1/lists\.csv:\d+: fold 1, .* of the user's training ratings\n"),
    *((name, unbroken, "trained") for name in ("all.csv", "new.csv", "lists.csv")),
])  # fmt: skip
def test_scores_that_do_not_fit_are_refused_before_anything_is_trained(
    name, fault, said, scored, tmp_path, monkeypatch
):
    def train(*_, **__):
        raise TrainingError("trained")

    monkeypatch.setattr(comparison, "run", train)
    monkeypatch.setenv("RECBIAS_CELLS", str(tmp_path / "cells"))
    table, folder = scored
    folder = shutil.copytree(folder, tmp_path / "scores")
    fault(folder, name)
    mine = f"mine={folder}/fold-{{fold}}/{name}"
    for pair in ((mine,), ("EASE", mine)):  # against all baselines, and as the second side
        with pytest.raises(RecbiasError, match=said):
            audit(table, *pair, split=FOLDS, ledger=False)
    assert (tmp_path / "cells").exists() == (said == "trained")
