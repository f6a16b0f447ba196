"""Conventions against plain loops: planted numbers are explained, and others are not."""

import itertools
import math
import random
import re
from dataclasses import replace

import pytest

from recbias.errors import ConfigError
from recbias.metrics.conventions import (
    QUESTIONS,
    RunAndJudgments,
    closeness,
    departures,
    in_words,
    metric_of,
    reconcile_values,
)

K = 3


def planted(seed: int = 47) -> tuple[dict, dict]:
    """A run and judgments in which every convention matters."""
    rng = random.Random(seed)
    items = [f"i{n}" for n in range(15)]
    run, judgments = {}, {}
    for n in range(40):
        user = f"u{n:02d}"
        if n % 8 != 1:  # missing users
            listed = rng.sample(items, 2 if n % 7 == 2 else 8)
            run[user] = {item: float(9 - place // (1 + n % 2)) for place, item in enumerate(listed)}
        if n % 9 != 4:  # users without judgments
            grades = [0] if n % 10 == 3 else [0, 1, 3]
            judged = rng.sample(items, 5 + n % 6)
            judgments[user] = {item: rng.choice(grades) for item in judged}
    return run, judgments


def naive(
    run,
    judgments,
    metric,
    *,
    id_down=False,
    condensed=False,
    grade=1,
    gain=lambda g: g,
    discount=lambda rank: math.log2(rank + 1),
    ideal="judged",
    divisor=None,
    cut=True,
    missing=0.0,
    none=0.0,
    strangers=False,
    pooled=False,
    count=False,
):
    """Average a metric by loops that share no code with the package; None leaves a user out."""
    over, under = [], []
    for user in sorted({*run, *judgments} if strangers else judgments):
        judged = judgments.get(user, {})
        relevant = {item for item, g in judged.items() if g >= grade}
        if user not in run and missing is None:
            continue
        if not relevant:
            if none is not None:
                over.append(none)
                under.append(1 if not pooled else {"k": K}.get(divisor, 0))
            continue
        listed = list(run.get(user, {}))  # by falling score, as they were written
        if id_down:
            listed = sorted(listed, reverse=True)
            listed.sort(key=lambda item: -run[user][item])
        if condensed:
            listed = [item for item in listed if item in judged]
        top = listed[:K] if cut else listed
        hits = [item for item in top if item in relevant]
        places = [n for n, item in enumerate(top, 1) if item in relevant]
        by = {
            "k": K,
            "length": min(K, len(listed)),
            "relevant": len(relevant),
            "capped": min(K, len(relevant)),
            "fitting": min(K, len(relevant), len(listed)),
            "retrieved": len(hits),
        }
        if metric in ("P", "R"):
            value, part = len(hits), by[divisor or {"P": "k", "R": "relevant"}[metric]]
        elif metric == "RR":
            value, part = (1 / places[0] if places else 0.0), 1
        elif metric == "HR":
            value, part = float(len(hits) if count else bool(hits)), 1
        elif metric == "AP":
            value = sum((n + 1) / place for n, place in enumerate(places))
            part = by[divisor or "relevant"]
        else:
            value = sum(gain(judged[item]) / discount(top.index(item) + 1) for item in hits)
            pool = {"top": hits, "listed": relevant & set(listed)}.get(ideal, relevant)
            best = sorted((gain(judged[item]) for item in pool), reverse=True)
            if ideal == "full":
                best = [max(gain(g) for of in judgments.values() for g in of.values())] * K
            best = best if ideal == "uncut" else best[:K]
            part = sum(g / discount(n) for n, g in enumerate(best, 1))
        if pooled:
            over.append(value)
            under.append(part)
        else:
            over.append(value / part if part else 0.0)
            under.append(1)
    return sum(over) / sum(under)


PLANTED = {
    "no discount before rank 2": (
        "nDCG",
        {"discount": lambda rank: max(1.0, math.log2(rank))},
        {("discount", "base 2")},
    ),
    "exponential gain": ("nDCG", {"gain": lambda g: 2**g - 1}, {("gain", "exponential")}),
    "ideal list of what is retrieved, none relevant left out": (
        "nDCG",
        {"ideal": "listed", "none": None},
        {("ideal", "listed"), ("none relevant", "out")},
    ),
    "AP over min(k, relevant)": ("AP", {"divisor": "capped"}, {("divisor", "capped")}),
    "AP over min(k, relevant, length)": ("AP", {"divisor": "fitting"}, {("divisor", "fitting")}),
    "AP over what is retrieved": ("AP", {"divisor": "retrieved"}, {("divisor", "retrieved")}),
    "AP over k": ("AP", {"divisor": "k"}, {("divisor", "k")}),
    "ties by item": ("RR", {"id_down": True}, {("ties", "id down")}),
    "missing users left out": ("R", {"missing": None}, {("missing", "out")}),
    "none relevant counts 1": ("HR", {"none": 1.0}, {("none relevant", "1")}),
    "users without judgments count": ("AP", {"strangers": True}, {("not judged", "in")}),
    "HR that counts hits": ("HR", {"count": True}, {("divisor", "hits")}),
    "P over the length": ("P", {"divisor": "length"}, {("divisor", "length")}),
    "P that is recall, pooled": (
        "P",
        {"divisor": "capped", "pooled": True},
        {("divisor", "capped"), ("mean", "pooled")},
    ),
    "RR without a cut": ("RR", {"cut": False}, {("cut", "list")}),
    "ideal list of top grades": ("nDCG", {"ideal": "full"}, {("ideal", "full")}),
    "ideal list that is not cut": ("nDCG", {"ideal": "uncut"}, {("ideal", "uncut")}),
    "P over the length of condensed lists": (
        "P",
        {"divisor": "length", "condensed": True},
        {("divisor", "length"), ("unjudged", "removed")},
    ),
    "condensed": ("nDCG", {"condensed": True}, {("unjudged", "removed")}),
    "relevant from 3": ("AP", {"grade": 3}, {("relevant", "3")}),
}
"""By name the metric, the flags of the loops, and the departures that are to be found."""


@pytest.fixture(scope="module")
def found() -> dict:
    """Each metric in all ways, once."""
    both = RunAndJudgments.of(*planted())
    metrics = [f"{name}@{K}" for name in ("P", "R", "HR", "RR", "AP", "nDCG")]
    return {one.metric: one for one in reconcile_values(both, metrics)}


@pytest.mark.parametrize("name", PLANTED)
def test_each_planted_convention_is_named(found, name):
    metric, flags, expected = PLANTED[name]
    value = naive(*planted(), metric, **flags)
    one = found[f"{metric}@{K}"].explain(repr(value))
    assert value != pytest.approx(one.value, abs=1e-6)  # it matters here
    ways = [set(departures(way, one.ours)) for way in one.explained]
    assert expected in ways
    assert len(ways[0]) == len(expected)
    assert "none of ours" not in one.sentence()
    _, _, rest = one.sentence().partition("the rest as here: ")
    everywhere = set.union(*ways)
    assert rest
    assert not any(in_words(name, one.ours[name]) in rest for name, _ in everywhere)


@pytest.mark.parametrize("metric", ["P", "R", "HR", "RR", "AP", "nDCG"])
def test_without_a_convention_it_is_what_the_loops_say(found, metric):
    value = naive(*planted(), metric)
    one = found[f"{metric}@{K}"].explain(repr(value))
    assert one.value == pytest.approx(value, abs=1e-12)
    assert departures(one.explained[0], one.ours) == ()


EXPECTED = {
    "P": {},
    "R": {},
    "HR": {},
    "RR": {},
    "linear": {"gain": lambda g: g},
    "exponential": {"gain": lambda g: 2**g - 1},
    "binary": {"gain": lambda g: 1},
}
"""What has a closed form over all orders of equal scores: metrics, and gains of nDCG."""


@pytest.mark.parametrize("name", EXPECTED)
def test_expected_ties_are_the_mean_over_all_orders(name):
    # Equal scores on both sides of the cut, of two users; grades below 1 as well.
    run = {
        "u": {"a": 3, "b": 2, "c": 2, "d": 2, "e": 1, "f": 1},
        "v": {"b": 5, "c": 4, "e": 2, "a": 2},
    }
    judgments = {"u": {"c": 1, "d": 3, "f": 1, "b": 0.5}, "v": {"a": 2, "g": 1, "e": 0.25}}
    metric = name if name in ("P", "R", "HR", "RR") else "nDCG"
    (one,) = reconcile_values(RunAndJudgments.of(run, judgments), [f"{metric}@{K}"])
    orders = []
    for user, groups in {"u": ["a", "bcd", "ef"], "v": ["b", "c", "ea"]}.items():
        every = itertools.product(*map(itertools.permutations, groups))
        orders.append([(user, [item for part in order for item in part]) for order in every])
    values = [
        naive(
            {user: {item: -n for n, item in enumerate(order)} for user, order in both},
            judgments,
            metric,
            **EXPECTED[name],
        )
        for both in itertools.product(*orders)
    ]
    wanted = {"ties": "expected"} | ({"gain": name} if metric == "nDCG" else {})
    (value,) = (
        value
        for choices, value in one.values.items()
        if dict(departures(choices, dict(one.ours) | {"relevant": "1"}))
        == {name: choice for name, choice in wanted.items() if one.ours[name] != choice}
        and dict(choices)["relevant"] == "1"
    )
    assert value == pytest.approx(sum(values) / len(values), abs=1e-12)
    assert value != pytest.approx(naive(run, judgments, metric, **EXPECTED[name]), abs=1e-6)


def test_equal_scores_of_zero_are_a_group_as_others_are():
    run = {"u": {"a": 0, "b": 0, "c": -1}}
    (one,) = reconcile_values(RunAndJudgments.of(run, {"u": {"b": 1}}), ["P@1"])
    expected = [
        value
        for choices, value in one.values.items()
        if departures(choices, one.ours) == (("ties", "expected"),)
    ]
    assert expected == [0.5]


def test_what_no_convention_gives_is_none_of_ours(found):
    # MAP as the mean of P@1 to P@3, which is Elliot's.
    run, judgments = planted()
    total = 0.0
    for user, judged in judgments.items():
        hits = [judged.get(item, 0) > 0 for item in list(run.get(user, {}))[:K]]
        total += sum(sum(hits[:n]) / n for n in range(1, K + 1)) / K
    one = found[f"AP@{K}"].explain(repr(total / len(judgments)))
    assert one.explained == ()
    assert "is none of ours" in one.sentence()
    # The nearest of all, whether above or below.
    for theirs in (max(one.values.values()) + 0.2, total / len(judgments)):
        (nearest,) = re.findall(r"nearest gives (\S+)", one.explain(repr(theirs)).sentence())
        distance = min(abs(value - theirs) for value in one.values.values())
        assert abs(float(nearest) - theirs) == pytest.approx(distance, abs=1e-5)


def test_what_changes_nothing_here_is_not_among_the_rest():
    # Every listed item is judged: lists without unjudged items are the same.
    both = RunAndJudgments.of({"u": {"a": 2, "b": 1}}, {"u": {"a": 0, "b": 3, "c": 1}})
    (one,) = reconcile_values(both, ["nDCG@2"])
    said = one.explain(repr(one.value)).sentence()
    assert "gain = grade" in said
    assert in_words("unjudged", "kept") not in said


def test_fewer_digits_fit_more_ways_and_all_are_listed(found):
    value = naive(*planted(), "nDCG", gain=lambda g: 2**g - 1)
    many = found[f"nDCG@{K}"].explain(f"{value:.2f}")
    assert len(many.explained) > len(found[f"nDCG@{K}"].explain(repr(value)).explained)
    assert "other way" in many.sentence()
    assert "told apart by: the values of users instead of their mean" in many.sentence()


def test_ways_that_make_up_for_one_another_stand_beside_ours():
    # v has no list, w no judgments: the mean is over two users with either, and with neither.
    run = {"u": {"d": 2, "a": 1}, "w": {"b": 1}}
    judgments = {"u": {"d": 1}, "v": {"a": 1}}
    (one,) = reconcile_values(RunAndJudgments.of(run, judgments), ["P@2"], {"P@2": "0.25"})
    both = (("missing", "out"), ("not judged", "in"))
    assert [departures(way, one.ours) for way in one.explained][:2] == [(), both]
    assert "\n  or: users with judgments but no list left out; users with a list" in one.sentence()
    # The twin: alone, either changes the value.
    single = one.single().set_index("question")["difference"]
    assert abs(single["missing"]) > 0.1
    assert abs(single["not judged"]) > 0.05


def test_with_equal_scores_the_first_row_is_not_trec_evals():
    run, judgments = {"u": {"a": 2, "b": 1, "c": 1}}, {"u": {"c": 1}}
    (tied,) = reconcile_values(RunAndJudgments.of(run, judgments), ["RR"])
    rows = tied.single().set_index("meaning")["value"]
    assert rows["as recbias, equal scores as the file orders them"] == pytest.approx(1 / 3)
    assert rows["equal scores by falling item id (trec_eval)"] == pytest.approx(1 / 2)
    assert "not stable" in tied.explain("0.77").sentence()
    run["u"]["b"] = 1.5
    (apart,) = reconcile_values(RunAndJudgments.of(run, judgments), ["RR"])
    assert apart.single()["meaning"].iloc[0] == "as recbias and trec_eval -c"
    assert "not stable" not in apart.explain("0.77").sentence()


@pytest.mark.parametrize("metric", ["P", "AP", "nDCG"])
def test_what_several_values_fit_is_not_said_to_be_one_of_them(found, metric):
    one = found[f"{metric}@{K}"]
    said = one.explain(f"{one.value:.1f}").sentence()  # ours fits too, and hides all others
    assert f"{one.value:.1f} fits to its digits, where recbias says {one.value:.6g}" in said
    assert "  other values fit as well (" in said
    assert f"more digits; if there are none, write {float(f'{one.value:.1f}'):.10f}" in said
    assert "or 1 other ways" not in said
    (farthest,) = re.findall(r"fit as well \(\d+\), such as ([\d.]+)", said)
    rounded = round(one.value, 1)
    fits = [value for value in one.values.values() if abs(value - rounded) < 0.05]
    away = max(abs(value - one.value) for value in fits)
    assert abs(float(farthest) - one.value) == pytest.approx(away, abs=1e-5)
    # The twin: all digits, which nothing else fits.
    assert f"{one.value!r} is: what recbias says" in one.explain(repr(one.value)).sentence()


def test_ways_are_told_apart_by_what_does_so():
    # Hits over relevant ones, and lists without unjudged items: of this user both are 1/2.
    both = RunAndJudgments.of({"u": {"a": 2, "b": 1}}, {"u": {"b": 1, "c": 1}})
    (one,) = reconcile_values(both, ["AP@3"], {"AP@3": "0.5"})
    assert len(one.explained) == 2
    assert "told apart by: other lists: of these each user has the same value" in one.sentence()
    # Two users whose values differ, and have one mean: a tie is broken for the one or the other.
    run = {"u": {"a": 1, "b": 1}, "v": {"b": 1, "a": 1}}
    both = RunAndJudgments.of(run, {"u": {"a": 1}, "v": {"a": 1}})
    (one,) = reconcile_values(both, ["P@1"], {"P@1": "0.5"})
    assert departures(one.explained[0], one.ours) == ()
    ties = {choices["ties"]: way for way in one.of_users if (choices := dict(way))}
    assert set(ties) == {"file", "expected"}
    told = replace(one, explained=tuple(ties.values())).sentence()
    assert told.endswith("told apart by: the values of users instead of their mean")


def test_a_percentage_is_recognised(found):
    one = found["nDCG@3"]
    asked = one.explain(f"{100 * one.value:.4f}").sentence()
    assert "none of ours" in asked
    assert f"is it a percentage? {one.value:.6f} fits" in asked
    assert "percentage" not in one.explain("77.7123456").sentence()  # the twin: no hundredth fits


def test_numbers_that_disagree_on_who_is_averaged_are_also_told_one_by_one():
    # AP counts x, who has no list, and P leaves x out: no toolkit does both. With x counted, P
    # comes out by chance if hits of all users are divided by the sum of min(k, length).
    lists = {"u": "adcf", "v": "edcb", "w": "bda"}
    liked = {"u": "b", "v": "c", "w": "ef", "x": "fea"}
    run = {user: {item: -at for at, item in enumerate(items)} for user, items in lists.items()}
    judgments = {user: dict.fromkeys(items, 1) for user, items in liked.items()}
    theirs = {"AP@3": "0.0833333333", "P@3": "0.1111111111"}
    of_ap, of_p = reconcile_values(RunAndJudgments.of(run, judgments), list(theirs), theirs)
    assert of_ap.alone == ()
    assert departures(of_p.explained[0], of_p.ours) == (("divisor", "length"), ("mean", "pooled"))
    assert [departures(way, of_p.ours) for way in of_p.alone] == [(("missing", "out"),)]
    assert "by itself it would rather be: users with judgments but no list left out" in (
        of_p.sentence()
    )


@pytest.mark.parametrize("name", QUESTIONS)
def test_on_its_example_all_choices_of_a_question_differ(name):
    metric, run, judgments = QUESTIONS[name].example
    assert len({item for of in (*run.values(), *judgments.values()) for item in of}) <= 4
    (one,) = reconcile_values(RunAndJudgments.of(run, judgments), [metric])
    single = one.single()
    values = [one.value, *single.loc[single["question"] == name, "value"]]
    # The divisors of P and HR are not those of AP, the example's metric.
    assert len(values) == {"divisor": 5, "relevant": 2}.get(name, len(QUESTIONS[name].choices))
    distinct = {round(value, 9) for value in values}
    assert len(distinct) == len(values) - (name == "divisor")  # min(k, ...) of both kinds


def test_metrics_of_one_toolkit_are_explained_together():
    run, judgments = {"u": {"a": 2, "b": 1}}, {"u": {"b": 1}, "v": {"a": 1}}
    both = RunAndJudgments.of(run, judgments)
    alone = reconcile_values(both, ["RR"], {"RR": "0.5"})
    assert len(alone[0].explained) > 1
    theirs = {"R@2": "1.0", "RR": "0.5", "P@2": "0.5"}
    joint = reconcile_values(both, list(theirs), theirs)
    assert all(("missing", "out") in departures(one.explained[0], one.ours) for one in joint)
    # Where no one answer explains all, each is explained alone.
    apart = reconcile_values(both, ["R@2", "P@2"], {"R@2": "0.5", "P@2": "0.5"})
    assert all(one.explained for one in apart)


def test_values_of_users_tell_more_than_their_mean():
    run = {"u": {"a": 2, "b": 1}, "v": {"a": 2, "b": 1}}
    both = RunAndJudgments.of(run, {"u": {"b": 1, "c": 1}, "v": {"b": 1}})
    (mean,) = reconcile_values(both, ["R@2"], {"R@2": "0.75"})
    of_users = {"R@2": {"u": "0.5", "v": "1.0"}}
    (users,) = reconcile_values(both, ["R@2"], of_users)
    assert users.explained
    assert set(users.explained) <= set(mean.explained)
    (turned,) = reconcile_values(both, ["R@2"], {"R@2": {"u": "1.0", "v": "0.5"}})
    assert turned.explained == ()
    assert "none of ours" in turned.sentence()
    (above,) = reconcile_values(both, ["R@2"], {"R@2": {"u": "0.9", "v": "1.1"}})
    assert above.explained == ()
    (lacking,) = reconcile_values(both, ["R@2"], {"R@2": {"u": "0.5"}})
    assert lacking.explained == ()
    with pytest.raises(ConfigError, match="user 'w' is in neither"):
        reconcile_values(both, ["R@2"], {"R@2": {"u": "0.5", "w": "1.0"}})


def test_a_value_is_as_exact_as_it_is_written():
    # Half a unit of the last digit, and no less than single precision holds.
    for text, expected in {"0.312": 5.002e-4, "0.3120": 5.02e-5, "1": 0.5000002}.items():
        assert closeness(text) == pytest.approx(expected, abs=1e-12)
    assert closeness("0.31214999999999998") == pytest.approx(2e-7, abs=1e-9)
    for wrong in ("", "nan", "inf", "0,31", "a"):
        with pytest.raises(ConfigError, match="finite number"):
            closeness(wrong)


def test_names_of_toolkits_are_known():
    known = ("MAP@10", "map_cut_10", "ap@10", "Recall@10", "hit_rate@10", "MRR", "recip_rank")
    assert [metric_of(text)[0] for text in known] == ["AP", "AP", "AP", "R", "HR", "RR", "RR"]
    with pytest.raises(ConfigError, match="nDCG@10"):
        metric_of("nDGC@10")
    with pytest.raises(ConfigError, match=re.escape("e.g. P@10")):
        metric_of("precision")
    with pytest.raises(ConfigError, match="no grade is above 0"):
        reconcile_values(RunAndJudgments.of({"u": {"a": 1}}, {"u": {"a": 0}}), ["P@1"])
