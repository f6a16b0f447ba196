"""Declarations: the grammar that follows from them, the notation page, metrics from outside."""

import copy
import hashlib
import importlib
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rank_tables import run_table, user_table
from recbias.errors import ConfigError, ContractError
from recbias.metrics import (
    Argument,
    Declaration,
    ListView,
    Metric,
    declarations,
    influence,
    item_counts,
    measure,
    measure_items,
    measure_resampled,
    measure_system,
    metric_names,
    parse_metric,
    register,
)
from recbias.metrics import base as registry
from recbias.metrics.aggregation import aggregate
from recbias.metrics.base import positive_integer
from recbias.protocol.relevance import GainMap

ROOT = Path(__file__).parents[2]


@pytest.fixture
def own_registry(monkeypatch):
    """Let a test register what no other test shall see."""
    monkeypatch.setattr(registry, "_DECLARATIONS", dict(registry._DECLARATIONS))


def nothing(view, metrics):
    return np.zeros((len(metrics), view.n_units))


def declared(name="Own", **changes):
    words = {"meaning": "a test", "formula": "0", "source": "here", "edge_cases": "none"}
    return Declaration(**{"name": name, "kind": "ranks", "measure": nothing} | words | changes)


# ---- grammar


@pytest.mark.parametrize(
    "text",
    [
        "P@10", "R@5", "nDCG@10", "nDCG(exp)@10", "nDCG(linear)", "AP", "AP@100", "RR", "antiP@1",
        "rho", "lower@10", "upper@3", "P@10|t=100", "lower@10|t=20", "upper@10|t=20", "ARP@10",
        "Gini@10", "Coverage@10", "P@10|N=1000", "rho|N=1000", "rho|t=100",
        "RR|t=100", "RR@10|t=100", "nDCG@10|t=100", "nDCG|t=100", "P@10|judged", "antiP@1|judged",
        "antiR@10", "antiRR", "antiRR@10", "antiAP", "antinDCG@10", "nDCG(steps)@10", "fallout@10",
        "nDCL@10", "nDCL", "judged@10", "AUC", "bpref", "infAP(pool=100)", "infAP(pool=all)",
        "infAP(pool=0)", "infAP(pool=100)|t=100", "SR(gamma=1)@10", "SR(gamma=inf)@10",
        "SR(gamma=0.5)@10|t=100", "PL@10", "Diversity@10", "Hoover@10", "Entropy@10", "CI@10",
        "HR@10", "AP@10|capped", "P@10|ties", "nDCG(exp)@10|ties", "RR|ties",
        "Novelty@10", "ILD@10", "ILD(jaccard)@10",
        "Miscalibration@10", "Miscalibration(alpha=0.1)@10",
        "CI@10|JS", "LTI(0.2)@10", "LTI(0.5)@10|percentile", "M@10", "M(head=0.1)@10",
    ],
)  # fmt: skip
def test_a_metric_prints_as_it_is_written(text):
    metric = parse_metric(text)
    assert str(metric) == text
    assert repr(metric) == f"Metric({text!r})"
    assert len({metric, parse_metric(text), copy.deepcopy(metric)}) == 1


def weighted(argument):
    return declared(
        "Own",
        cutoff="optional",
        arguments=(
            Argument("p", float, "a share", ("0.8", "1e-7"), default="0.9"),
            Argument("gain", GainMap.parse, "a gain map", ("exp",)),
            Argument("k", positive_integer, "a count", ("3", "7"), default="5", keyword=True),
        ),
        given=(Argument("size", positive_integer, "a size", ("2",)),) if argument else (),
    )


OWN = (weighted(False), weighted(True))


@given(st.data())
def test_every_metric_of_every_declaration_parses_back(data):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "_DECLARATIONS", dict(registry._DECLARATIONS))
        for own in OWN:
            register(own)
        declaration = data.draw(st.sampled_from(declarations()), label="declaration")
        cutoff = {
            "required": st.integers(1, 10**6),
            "optional": st.none() | st.integers(1, 10**6),
            "none": st.none(),
        }[declaration.cutoff]
        named = {
            argument.name: data.draw(st.sampled_from(argument.examples))
            for argument in (*declaration.arguments, *declaration.given)
            if argument in declaration.given
            or argument.default is None
            or data.draw(st.booleans(), label=argument.name)
        }
        metric = Metric(declaration.name, data.draw(cutoff), **named)
        assert metric.declaration is declaration
        assert parse_metric(str(metric)) == metric
        assert str(parse_metric(str(metric))) == str(metric)
        values = {name: getattr(metric, name) for name in named}
        assert Metric(declaration.name, metric.cutoff, **values) == metric


def test_arguments_print_by_place_until_one_is_left_out(own_registry):
    register(OWN[0])
    for text, printed in {
        "Own(0.8,exp,k=3)@7": "Own(0.8,exp,k=3)@7",
        "Own(0.8,exp,k=5)": "Own(0.8,exp)",
        "Own(gain=exp)": "Own(gain=exp)",
        "Own(.90,exp)": "Own(gain=exp)",
        " Own(gain=exp, k=7, p=0.80) ": "Own(0.8,exp,k=7)",
        "Own(1e-7,exp)": "Own(0.0000001,exp)",
    }.items():
        assert str(parse_metric(text)) == printed
    assert str(Metric("Own", None, 0.8, GainMap("exp"), k=3)) == "Own(0.8,exp,k=3)"


def test_the_default_gain_is_not_printed():
    assert str(parse_metric("nDCG(binary)@5")) == "nDCG@5"
    assert parse_metric("nDCG@5").gain == GainMap("binary")


def test_arguments_are_attributes():
    metric = parse_metric("P@10|t=100")
    assert (metric.cutoff, metric.t, metric.kind) == (10, 100, "ranks")
    with pytest.raises(AttributeError, match="without argument 'gain': P"):
        _ = metric.gain
    assert not hasattr(Metric.__new__(Metric), "gain")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("NDCG@10", r"unknown metric 'NDCG': did you mean 'nDCG'\?"),
        ("recall@10", "'recall'.* known: P, R, nDCG, AP, RR, HR, antiP, .* judged, .*rho, lower"),
        ("gini@10", r"unknown metric 'gini': did you mean 'Gini'\?"),
        ("", "unknown metric ''"),
        ("P@10@5", "cutoff '10@5' is not an integer"),
        ("P@ten", "cutoff 'ten' is not an integer of at least 1"),
        ("P@2.5", "cutoff '2.5' is not an integer"),
        ("P@", "cutoff '' is not an integer"),
        ("P@0", "P@0: a cutoff is an integer of at least 1"),
        ("AP@-3", "AP@-3: a cutoff is an integer of at least 1"),
        ("P", "P: it needs a cutoff, e.g. P@10"),
        ("antiP", "antiP: it needs a cutoff"),
        ("lower", "lower: it needs a cutoff"),
        ("rho@10", "rho@10: it has no cutoff; write rho"),
        ("nDCG(expo)@10", "unknown gain map 'expo': did you mean 'exp'"),
        ("nDCG(exp,exp)", "at most 1 argument by place, not 2; it is written nDCG"),
        ("nDCG(exp,gain=exp)", "gain is given twice"),
        ("nDCG(gain=exp,gain=exp)", "gain is given twice"),
        ("nDCG(gain=exp,exp)", "'exp' stands behind a named argument; name it"),
        ("nDCG(loss=exp)", r"loss is no argument of it; it is written nDCG\[\(gain\)\]\[@n\]"),
        ("P(exp)@10", "P@10: it takes no argument by place, not 1; it is written P@n"),
        ("P(t=100)@10", "t is no argument of it"),
        ("nDCG|gain=exp", r"nDCG\|gain: unknown condition; it is written nDCG\[\(gain\)\]"),
        ("P@10|t=0", "t=0, expected the size of the target set, an integer of at least 1"),
        ("P@10|t=ten", "t=ten, expected the size of the target set"),
        ("P@10|t", r"'t' behind the bar, expected KEY=VALUE or judged"),
        ("Gini@10|t", r"'t' behind the bar, expected KEY=VALUE$"),
        ("P@10|judged=1", r"'judged=1' behind the bar, expected that name alone"),
        ("P@10|judged=judged", "expected that name alone"),
        ("P@10|judged,judged", "judged is given twice"),
        ("R@10|judged", r"'judged' behind the bar, expected KEY=VALUE or ties$"),
        ("antinDCG(exp)@10", "no argument by place, not 1; it is written antinDCG"),
        ("P@10|judged,t=5", r"P\|judged,t: unknown condition"),
        ("AP|capped", r"AP: it needs a cutoff, e.g. AP@10"),
        ("AP@10|judged", r"'judged' behind the bar, expected KEY=VALUE or capped"),
        ("HR", r"HR: it needs a cutoff, e.g. HR@10"),
        ("P@10|", "'' behind the bar"),
        ("P@10|t=2,t=3", "t is given twice"),
        ("P@10|n=5", r"P\|n: unknown condition; it is written P@n or P@n\|judged or P@n\|t=T"),
        ("P@0|t=100", "P@0: a cutoff"),
        ("infAP", r"infAP: pool is missing \(the places .* it is written infAP\(pool\)"),
        ("infAP(pool=-1)", "pool=-1, expected the places of the list that are pooled"),
        ("SR@10", "SR@10: gamma is missing"),
        ("SR(gamma=-1)@10", "gamma=-1, expected how far popularity is undone"),
        ("SR(gamma=nan)@10", "gamma=nan, expected how far popularity is undone"),
        ("LTI@10", r"LTI@10: lam is missing \(lambda, above 0 and below 1\); it is written LTI"),
        ("CI@10|js", r"'js' behind the bar, expected KEY=VALUE or JS"),
        ("SR(1)@10", "no argument by place, not 1; it is written SR"),
        ("nDCG(exp@10", "unknown metric"),
    ],
)  # fmt: skip
def test_what_is_no_metric_is_refused(text, message):
    with pytest.raises(ConfigError, match=message):
        parse_metric(text)


@pytest.mark.parametrize("cutoff", [0, -1, 2.0, True, "3"])
def test_a_metric_made_by_hand_is_checked_too(cutoff):
    with pytest.raises(ConfigError, match="integer of at least 1"):
        Metric("P", cutoff)


def test_a_condition_without_a_value_is_its_name():
    by_hand = Metric("P", 10, judged=True)
    assert by_hand == Metric("P", 10, judged="judged") == parse_metric("P@10|judged")
    assert by_hand.declaration.form == "P@n|judged"
    assert by_hand != parse_metric("P@10")
    with pytest.raises(ConfigError, match="judged=False, expected the name alone"):
        Metric("P", 10, judged=False)


@pytest.mark.parametrize("size", [0, 2.5, True, None, "many"])
def test_arguments_made_by_hand_are_checked_too(size):
    with pytest.raises(ConfigError, match="expected the size of the target set"):
        Metric("P", 10, t=size)


def test_a_required_argument_is_missed(own_registry):
    register(OWN[0])
    with pytest.raises(
        ConfigError, match=r"Own: gain is missing \(a gain map\); it is written Own"
    ):
        Metric("Own")
    with pytest.raises(ConfigError, match="loss is no argument"):
        Metric("Own", gain="exp", loss=3)
    with pytest.raises(ConfigError, match=r"k='3.5', expected a count|k=3.5, expected a count"):
        Metric("Own", gain="exp", k=3.5)


# ---- the page


def notation_row(declaration):
    better = {"higher": "higher", "lower": "lower", None: "–"}[declaration.better]
    return (
        f"| `{declaration.form.replace('|', chr(92) + '|')}` | {declaration.kind} "
        f"| {declaration.meaning} | {declaration.edge_cases} | {better} "
        f"| {declaration.interval} |"
    )


def missing_rows(page):
    lines = page.splitlines()
    return [
        declaration.form
        for declaration in declarations()
        if not declaration.outside and notation_row(declaration) not in lines
    ]


def test_every_metric_has_its_row_in_the_notation_page():
    page = (ROOT / "book" / "notation.md").read_text()
    assert missing_rows(page) == []
    without = "\n".join(line for line in page.splitlines() if not line.startswith("| `Gini@n`"))
    assert missing_rows(without) == ["Gini@n"]
    reworded = page.replace("of at least one list | 0 if all", "of one list or more | 0 if all")
    assert missing_rows(reworded) == ["Coverage@n", "Diversity@n"]


# ---- a metric of each kind from outside the package

OUTSIDE = '''
import numpy as np
from recbias.metrics import Argument, Declaration, register
from recbias.metrics.base import positive_integer

WORDS = {"formula": "x", "source": "a reader", "edge_cases": "none"}


def first_hit(view, metrics):
    """One over the rank plus an offset, summed over the relevant items."""
    rows = []
    for metric in metrics:
        worth = np.where(view.positive & (view.rank > 0), SIGN / (view.rank + metric.offset), 0.0)
        rows.append(np.bincount(view.table.user, worth, minlength=view.n_units))
    return np.array(rows)


def first_item(view, metrics):
    return np.array([view.top(m.cutoff)[:, m.cutoff - 1] % 2.0 for m in metrics])


def most_shown(counts, view, metrics):
    return np.tile(counts.max(axis=1), (len(metrics), 1))


offset = Argument("offset", positive_integer, "added to the rank", ("1", "60"), default="60")
register(Declaration("RRF", "ranks", "reciprocal rank fusion", measure=first_hit, cutoff="none",
                     arguments=(offset,), per=("user",), **WORDS))
register(Declaration("Odd", "items", "whether item n is odd", measure=first_item, **WORDS))
register(Declaration("Most", "system", "lists of the top item", measure=most_shown, better=None,
                     interval="none", **WORDS))
'''


def outside_module(folder, monkeypatch, text, name="own_metrics"):
    path = folder / f"{name}.py"
    path.write_text(text)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    sys.modules.pop(name, None)
    importlib.invalidate_caches()
    return path, importlib.import_module(name)


def test_a_metric_of_each_kind_from_outside(own_registry, tmp_path, monkeypatch):
    path, _ = outside_module(tmp_path, monkeypatch, OUTSIDE.replace("SIGN", "1.0"))
    assert metric_names()[-3:] == ("RRF", "Odd", "Most")
    assert metric_names("system")[:2] == ("Gini", "Coverage")
    assert metric_names("system")[-2:] == ("M", "Most")
    fused, one = parse_metric("RRF"), parse_metric("RRF(1)")
    assert (fused.offset, one.kind, str(one)) == (60, "ranks", "RRF(1)")

    table = user_table(([1, 2], {1: 5, 2: 5}), ([3, 4], {4: 5}), ([5], {5: 1}))
    values = measure(table, [one, parse_metric("P@1"), fused], min_rating=4)
    expected = [[1 / 2 + 1 / 3, 1 / 3, 0], [1, 0, 0], [1 / 61 + 1 / 62, 1 / 62, 0]]
    np.testing.assert_allclose(values, expected, rtol=1e-15)
    mean = aggregate(table, values, min_rating=4, population="relevant")
    np.testing.assert_allclose(mean, np.mean(expected, axis=1) * 3 / 2, rtol=1e-15)
    with pytest.raises(ConfigError, match=r"RRF\(1\): a 1R table .* measure RRF on AR"):
        measure(run_table(1, (0, 1, 5)), [one], min_rating=4)

    lists = ListView(np.array([[1, 2], [2, 3]], np.int32), 4, np.arange(4))
    odd = [parse_metric("Odd@2"), parse_metric("ARP@2"), parse_metric("Odd@1")]
    np.testing.assert_array_equal(measure_items(lists, odd), [[0, 1], [1.5, 2.5], [1, 0]])
    most = [parse_metric("Most@2"), parse_metric("Coverage@2")]
    assert measure_system(item_counts(lists, 2), lists, most).tolist() == [[2], [0.75]]
    weights = np.array([[1, 1], [0, 2]])
    assert measure_resampled(lists, most, weights).tolist() == [[2, 2], [0.75, 0.5]]
    assert influence(lists, most).tolist() == [[0, 0], [0, 0]]

    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert fused.declaration.source_digest == digest
    assert fused.identity() == {"metric": "RRF", "revision": 1, "source": digest}


def test_edited_source_of_an_outside_metric_changes_its_identity(
    own_registry, tmp_path, monkeypatch
):
    outside_module(tmp_path, monkeypatch, OUTSIDE.replace("SIGN", "1.0"))
    before = parse_metric("RRF").identity()
    outside_module(tmp_path, monkeypatch, OUTSIDE.replace("SIGN", "1.0"))
    assert parse_metric("RRF").identity() == before
    _, module = outside_module(tmp_path, monkeypatch, OUTSIDE.replace("SIGN", "-1.0"))
    after = parse_metric("RRF").identity()
    assert after["source"] != before["source"]
    table = user_table(([1], {1: 5}))
    assert measure(table, [parse_metric("RRF(1)")], min_rating=4).tolist() == [[-0.5]]
    importlib.reload(module)
    assert parse_metric("RRF").identity() == after


def test_a_metric_of_the_package_has_a_revision_instead():
    assert parse_metric("Gini@10").identity() == {"metric": "Gini@10", "revision": 1}
    assert all(one.source_digest is None for one in declarations() if not one.outside)


def test_two_modules_cannot_share_a_name(own_registry, tmp_path, monkeypatch):
    text = OUTSIDE.replace("SIGN", "1.0")
    outside_module(tmp_path, monkeypatch, text)
    with pytest.raises(ConfigError, match=r"RRF.* of module other: own_metrics has registered"):
        outside_module(tmp_path, monkeypatch, text, name="other")
    with pytest.raises(ConfigError, match=r"metric P@n of module .*: recbias.metrics.positive has"):
        register(declared("P"))


def test_a_condition_of_one_s_own_stands_beside_the_package_s(own_registry):
    register(declared("P", given=(Argument("k", positive_integer, "a count", ("3",)),)))
    assert Metric("P", 5, k=3).declaration.outside
    assert not Metric("P", 5, t=3).declaration.outside
    with pytest.raises(
        ConfigError, match=r"P@n\|judged or P@n\|t=T or P@n\|N=N or P@n\|ties or P@n\|k=K"
    ):
        Metric("P", 5, k=3, t=3)


def test_without_source_a_version_is_asked_for(own_registry):
    scope = {"__name__": "typed", "np": np}
    exec("def measure(view, metrics): return np.zeros((1, 1))", scope)  # noqa: S102 - typed by hand
    register(declared(measure=scope["measure"], cutoff="none"))
    with pytest.raises(ContractError, match=r"its source cannot be read.*declare a version"):
        parse_metric("Own").identity()
    register(declared(measure=scope["measure"], cutoff="none", version="scipy 1.13"))
    expected = {"metric": "Own", "revision": 1, "version": "scipy 1.13"}
    assert parse_metric("Own").identity() == expected


def test_what_cannot_be_registered(own_registry):
    for name in ("", "2P", "P@5", "a|b", "a(b"):
        with pytest.raises(ConfigError, match="a name is a letter, then letters"):
            register(declared(name))
    for argument, message in (
        (Argument("cutoff", int, "x", ("1",)), "an argument cannot be called cutoff"),
        (Argument("kind", int, "x", ("1",)), "an argument cannot be called kind"),
        (Argument("k", int, "a count", ("1", "two")), "k=two, expected a count"),
        (Argument("k", int, "a count", ("1",), default=""), "k=, expected a count"),
        (Argument("k", tuple, "words", ("ab",)), "k=ab prints as .* which does not read back"),
        (Argument("k", lambda text: text + "!", "a word", ("a",)), "k=a prints as a!, which"),
    ):
        with pytest.raises(ConfigError, match=message):
            register(declared(arguments=(argument,)))
    with pytest.raises(ContractError, match="measure is a type; give a plain function"):
        register(declared(measure=dict))


@pytest.mark.parametrize(
    "broken",
    [
        lambda view, metrics: np.zeros((len(metrics), view.n_units + 1)),
        lambda view, metrics: np.zeros((len(metrics), view.n_units), np.float32),
        lambda view, metrics: [[0.0]],
        lambda view, metrics: None,
    ],
)
def test_a_function_that_breaks_its_promise_is_named(own_registry, broken):
    register(declared(measure=broken))
    table = user_table(([1], {1: 5}))
    for names in (["Own@1"], ["P@1", "Own@1"]):
        with pytest.raises(ContractError, match=r"Own@1: <lambda> returned .*, expected float64"):
            measure(table, [parse_metric(name) for name in names], min_rating=4)


def test_kinds_are_not_mixed():
    table, lists = user_table(([1], {1: 5})), ListView(np.zeros((1, 1), np.int32), 1, np.zeros(1))
    ranks, items, system = (parse_metric(text) for text in ("P@1", "ARP@1", "Gini@1"))
    for metric in (items, system):
        with pytest.raises(ConfigError, match=rf"{metric} is of kind {metric.kind}, not ranks"):
            measure(table, [ranks, metric], min_rating=4)
    with pytest.raises(
        ConfigError, match="P@1 is of kind ranks, not items: it is measured by meas"
    ):
        measure_items(lists, [ranks])
    with pytest.raises(ConfigError, match="ARP@1 is of kind items, not system"):
        measure_system(item_counts(lists, 1), lists, [items])
    with pytest.raises(ConfigError, match="ARP@1 is of kind items, not system"):
        measure_resampled(lists, [items], np.ones((1, 1), int))


def test_forms_are_names_that_a_reader_may_write():
    for declaration in declarations():
        assert re.match(r"[A-Za-z]+", declaration.form)
        assert "\n" not in declaration.meaning + declaration.edge_cases + declaration.formula
