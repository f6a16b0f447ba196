import dataclasses
import math
from contextlib import suppress
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import recbias
from chapter_grids import lemma_protocols, sparsity_protocols
from expressions_at import parts_of
from recbias import Grid
from recbias.book.chapters import sparsity_bias
from recbias.book.chapters.design_alternatives import setup
from recbias.claims import evaluation
from recbias.claims.evidence import Evidence, NotComputed, NotTestable, axis_labels, axis_terms
from recbias.claims.expressions import Term, parse
from recbias.claims.judging import load_chapter
from recbias.claims.ledger import NEEDS
from recbias.claims.parts import Part, combine
from recbias.claims.quantities import (
    FAR,
    as_quantity,
    deviation,
    distinct_pairs,
    extreme,
    flipped_pairs,
    largest_p,
    lead,
    median,
    misses,
    opposed_pairs,
    order_tau,
    over_worlds,
    reversed_pairs,
    share_of_orders,
    slope,
    straightness,
)
from recbias.claims.records import Record, Region, read_criteria
from recbias.claims.values import Course, Family
from recbias.errors import ConfigError, StoreError
from recbias.experiment.results import Quantity
from recbias.experiment.run import Results

GOOD = {"finds": "it is {value}", "value": "P[AR] of Random", "least": 0.1}


def uncertain(low, high):
    return Quantity((low + high) / 2, np.linspace(low, high, 501))


# -- regions -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("region", "interval", "verdict"),
    [
        (Region(least=0.0), (0.1, 0.2), "holds"),
        (Region(least=0.0), (-0.2, -0.1), "refuted"),
        (Region(least=0.0), (-0.1, 0.1), "open"),
        (Region(least=-0.5, most=0.5), (-0.1, 0.1), "holds"),
        (Region(least=-0.5, most=0.5), (-1.0, 1.0), "open"),
        (Region(least=-0.5, most=0.5), (0.6, 1.0), "refuted"),
        (Region(most=0.0), (0.0, 0.0), "holds"),
        (Region(most=0.0), (1e-13, 1e-13), "holds"),
        (Region(most=0.0), (1e-11, 1e-11), "refuted"),
        (Region(below=0.0), (0.0, 0.0), "refuted"),
        (Region(below=0.0), (-1e-300, -1e-300), "holds"),
        (Region(above=0.0), (0.0, 0.0), "refuted"),
        (Region(above=0.0), (0.0, 1.0), "open"),
        (Region(above=0.0), (5e-324, 1.0), "holds"),
        (Region(least=0.0), (math.nan, 1.0), "open"),
        (Region(least=0.0), (math.nan, -1.0), "open"),
        (Region(most=0.0), (1.0, math.nan), "open"),
    ],
)
def test_an_interval_is_inside_a_region_outside_or_both(region, interval, verdict):
    assert region.verdict(*interval) == verdict


# -- records -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"valeu": "P[AR]"}, "unknown field of a record 'valeu': did you mean 'value'"),
        ({"unit": "percents"}, "unknown unit 'percents'"),
        ({"needs": "stars above 3"}, "unknown need"),
        ({"value": "P[AR] along time"}, "unknown axis 'time'"),
        ({"value": "P under AR"}, "is no expression at 'under AR'"),
        ({"finds": "it is so"}, "a sentence shows its {value}"),
        ({"value": ""}, "is no expression at 'its end'"),
        ({"finds": "{a} and {b}"}, "unknown number 'b'"),
        ({"corrects": "E01", "corrected": "E01"}, "of the printed form or the corrected"),
        ({"exact": "false"}, "exact: 'false' is neither true nor false"),
        ({"decides": "no"}, "decides: 'no' is neither true nor false"),
        ({"least": None}, "float"),
    ],
)
def test_a_record_that_says_nothing_clear_is_refused(change, message):
    with pytest.raises((ConfigError, TypeError), match=message):
        Record.from_dict({**GOOD, **change})


def test_a_record_that_decides_has_a_region():
    unbounded = {name: value for name, value in GOOD.items() if name != "least"}
    with pytest.raises(ConfigError, match="needs a region"):
        Record.from_dict(unbounded)
    assert Record.from_dict({**unbounded, "decides": False}).sentence(0.5) == "it is 0.5"


def test_a_file_of_criteria_names_itself_and_the_claim():
    with pytest.raises(ConfigError, match=r"x\.yaml: A-1: unknown unit 'metre'"):
        read_criteria(
            "A-1: {parts: [{finds: '{value}', value: check(n), unit: metre, least: 1}]}", "x.yaml"
        )
    with pytest.raises(ConfigError, match=r"x.yaml: A-1: unknown entries \['part'\]"):
        read_criteria("A-1: {parts: [], part: []}", "x.yaml")


WRITTEN = """
A-1:
  parts:
  - finds: of <said> it is {value}
    value: nDCG@10[full] of "<mf>" - nDCG@10[full] of "User kNN"
    systems: [User kNN, <mf>]
    for:
    - {mf: MF, said: MF (as printed), above: 0, corrected: E12}
    - {mf: MF (as in RankSys), said: MF (swapped), least: 0.1, corrects: E12}
  - {finds: '{value}', value: 'P@10[full] of MF', least: 0}
"""


def test_a_record_is_written_once_for_each_entry_of_its_for():
    criterion = read_criteria(WRITTEN, "x.yaml")["A-1"]
    printed, mended, last = criterion.records
    assert printed.value == 'nDCG@10[full] of "MF" - nDCG@10[full] of "User kNN"'
    assert str(printed.expression) == 'nDCG@10[full] of MF - nDCG@10[full] of "User kNN"'
    assert mended.terms[0].system == "MF (as in RankSys)"
    assert mended.systems == ("User kNN", "MF (as in RankSys)")
    assert [each.finds for each in (printed, mended)] == [
        "of MF (as printed) it is {value}", "of MF (swapped) it is {value}",
    ]  # fmt: skip
    assert (printed.corrected, printed.corrects, printed.region) == ("E12", "", Region(above=0.0))
    assert (mended.corrected, mended.corrects, mended.region) == ("", "E12", Region(least=0.1))
    assert last.value == "P@10[full] of MF"
    assert tuple(map(Record.from_dict, criterion.raw)) == criterion.records


def test_an_earlier_criterion_is_quoted_as_the_file_had_it():
    old = WRITTEN.split("parts:")[1].replace("\n", "\n    ")
    quoted = f"  replaced:\n  - until: 1\n    why: so\n    verdicts: {{}}\n    was:{old}"
    criteria = read_criteria(WRITTEN + quoted, "x.yaml")["A-1"]
    assert tuple(criteria.replaced[0].was) == criteria.raw
    assert criteria.replaced[0].words.startswith("of MF (as printed) it is $x$")


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ("[]", "`for` lists entries"),
        ("{mf: MF}", "`for` lists entries"),
        ("[MF]", "`for` lists entries"),
        ("[{}]", r"<mf> in 'P\[AR\] of \"<mf>\"': an entry of `for` does not give it"),
        ("[{mf: MF}, {knn: kNN}]", "<mf> in .* does not give it"),
        ("[{mf: MF, knn: kNN}]", "`for` gives 'knn': no field of a record, nor <knn> in a text"),
        ("[{mf: MF, asert: [1]}]", "`for` gives 'asert': no field of a record"),
        ("[{mf: MF, least: 1}]", "least: in a record and under its `for`"),
    ],
)
def test_entries_of_a_for_that_say_nothing_clear_are_refused(entries, message):
    part = f"{{finds: '{{value}}', value: 'P[AR] of \"<mf>\"', least: 0, for: {entries}}}"
    with pytest.raises(ConfigError, match=rf"x\.yaml: A-1: {message}"):
        read_criteria(f"A-1: {{parts: [{part}]}}", "x.yaml")


def test_a_record_tells_which_tables_it_reads():
    many = "range(P[AR] of Random, P[AR] of Random in grid on ml-100k)"
    assert Record.from_dict({**GOOD, "value": many}).reads == (("", "systems"), ("ml-100k", "grid"))
    check = {"finds": "{value}", "value": "check(n)", "most": 0}
    assert Record.from_dict(check).reads == (("", "checks"),)


# -- parts -------------------------------------------------------------------------------------


def part(low, high, *, halves=(), **change):
    record = Record.from_dict({**GOOD, "least": 0, **change})
    return Part(record, uncertain(low, high), halves=tuple(uncertain(*each) for each in halves))


YES, NO, OPEN = part(0.1, 0.2), part(-0.2, -0.1), part(-0.1, 0.1)


@pytest.mark.parametrize(
    ("parts", "verdict"),
    [
        ([YES, YES], "yes"),
        ([NO, NO], "no"),
        ([NO, OPEN], "no"),
        ([YES, NO], "partly"),
        ([YES, NO, OPEN], "partly"),
        ([YES, OPEN], "undecided"),
        ([OPEN], "undecided"),
        ([YES, Part(NO.record, None, lacks="no timestamps")], "yes"),
        ([Part(NO.record, None, lacks="no timestamps")], ""),
        ([YES, part(-0.2, -0.1, decides=False)], "yes"),
        ([YES, part(-0.2, -0.1, corrects="E01")], "yes"),
        ([YES, part(-0.2, -0.1, corrected="E01")], "partly"),
    ],
)
def test_parts_join_by_three_values(parts, verdict):
    assert combine(parts) == verdict


def test_the_corrected_form_has_a_verdict_of_its_own():
    printed, mended = part(-0.2, -0.1, corrected="E01"), part(0.1, 0.2, corrects="E01")
    assert combine([printed, mended]) == "no"
    assert combine([printed, mended], corrected=True) == "yes"


def test_a_part_whose_halves_differ_hangs_on_the_resampling_seed():
    assert part(0.01, 0.2, halves=[(0.02, 0.2), (0.01, 0.2)]).verdict == "holds"
    assert part(0.01, 0.2, halves=[(0.02, 0.2), (-0.01, 0.2)]).verdict == "open"


def test_halves_that_agree_do_not_overrule_the_whole():
    assert part(-0.01, 0.2, halves=[(0.02, 0.2), (0.01, 0.2)]).verdict == "open"
    assert part(0.01, 0.2, halves=[(-0.2, -0.1), (-0.2, -0.1)]).verdict == "open"


def test_what_is_unsure_is_open_and_what_lacks_data_is_not_testable():
    assert Part(YES.record, YES.estimate, unsure="trained with one seed only").verdict == "open"
    assert Part(YES.record, None, lacks="merged stars").verdict == "not testable"


# -- quantities --------------------------------------------------------------------------------


def around(value, spread=0.0, seed=0, n=1000):
    return Quantity(value, value + spread * np.random.default_rng(seed).normal(size=n))


def test_the_extreme_is_below_a_number_only_if_all_are():
    parts = {"a": uncertain(0.1, 0.2), "b": uncertain(0.0, 0.4), "c": uncertain(-1, 0)}
    name, found = extreme(parts, largest=True)
    assert (name, found.value) == ("b", 0.2)
    assert found.interval[1] == parts["b"].interval[1]
    name, found = extreme(parts, largest=False)
    assert (name, found.value) == ("c", -0.5)
    assert found.interval[0] == parts["c"].interval[0]
    undefined = {**parts, "d": Quantity(0.5, np.full(9, np.nan))}
    assert np.isnan(extreme(undefined, largest=True)[1].interval).all()
    alone = {"a": uncertain(0.1, 0.2)}
    assert extreme(alone, largest=True)[1].interval == pytest.approx(alone["a"].interval)


@pytest.fixture(scope="module")
def sampled_hits():
    """Precision of a random ranking of 100 items in 1,000 samples of 300 users, with replicates.

    Users have one to forty runs each, so that they weigh differently, as under 1R.
    """
    rng, n_users = np.random.default_rng(11), 300
    weights = rng.multinomial(n_users, np.full(n_users, 1 / n_users), size=400).astype(float)
    samples = []
    for _ in range(1000):
        runs = rng.integers(1, 41, n_users)
        hits = rng.binomial(runs, 0.1) / 10
        samples.append(Quantity(hits.sum() / runs.sum(), (weights @ hits) / (weights @ runs)))
    return samples


def test_an_identity_is_refuted_by_chance_in_three_samples_of_a_thousand(sampled_hits):
    """20 or more of 1,000 would come from .27 % with a chance below 1e-10; 8 are there at 2.6."""
    truth, refuted = as_quantity(0.01), Region(most=FAR)
    missed = [misses(hits, truth, 0.1) for hits in sampled_hits]
    assert sum(refuted.verdict(*each.interval) == "refuted" for each in missed) < 20
    assert sum(each.value > FAR / 2 for each in missed) > 80  # of half the width 134 are expected


def test_ninety_seven_negatives_for_ninety_nine_are_noticed():
    """By samples of the size of MovieLens 1M and 100K, whose standard errors these are."""
    for error in (1.8e-5, 6e-5):
        assert misses(around(1 / 98, error), as_quantity(0.01), 0.05).value > FAR
        assert misses(around(0.01, error), as_quantity(0.01), 0.05).value == 0


def test_a_sample_that_shows_nothing_leaves_an_identity_open():
    def verdict(value, error):
        found = misses(around(value, error), as_quantity(0.01), 0.05)
        return Region(most=FAR).verdict(*found.interval)

    assert verdict(0.01, 0.0001) == "holds"
    assert verdict(0.01, 0.001) == "open"
    assert verdict(0.02, 0.001) == "refuted"
    assert misses(as_quantity(0.1), as_quantity(0.1 + 1e-16), 0.05).interval == (0, 0)
    assert misses(as_quantity(0.1), as_quantity(0.2), 0.05).value == np.inf
    with pytest.raises(ConfigError, match="above 0"):
        misses(around(0.01), as_quantity(0.01), 0)


def test_one_of_many_is_above_a_number_by_chance_as_seldom_as_one_alone():
    """Ten values whose truth is 0: "the largest is above 0" is wrong in 2.5 % at most.

    400 runs; 25 or more would come from 2.5 % with a chance below 1e-4. Without the correction 22 %
    come above.
    """
    rng = np.random.default_rng(5)
    corrected = plain = 0
    for values in rng.normal(size=(400, 10)):
        parts = {
            str(n): Quantity(v, None, limits=(v - 1.96, v + 1.96)) for n, v in enumerate(values)
        }
        corrected += extreme(parts, largest=True)[1].interval[0] > 0
        plain += max(values) - 1.96 > 0
    assert corrected < 25
    assert plain > 60


def test_the_same_of_means_over_a_few_worlds():
    """Three worlds of ten kinds; 400 runs, 25 or more again with a chance below 1e-4.

    Widened as if the means were normal, 12 % come above.
    """
    rng = np.random.default_rng(6)
    corrected = normal = 0
    for worlds in rng.normal(size=(400, 10, 3)):
        means = {str(n): over_worlds(values) for n, values in enumerate(worlds)}
        as_normal = {name: dataclasses.replace(mean, df=None) for name, mean in means.items()}
        corrected += extreme(means, largest=True)[1].interval[0] > 0
        normal += extreme(as_normal, largest=True)[1].interval[0] > 0
    assert corrected < 25
    assert normal > 30


def test_a_deviation_is_folded_where_it_has_zero_inside():
    found = deviation(around(1.02, 0.05, seed=1), around(1.0))
    low, high = found.interval
    assert low == 0 < found.value < high
    low, high = deviation(around(0.5, 0.01, seed=1), around(1.0)).interval
    assert 0.45 < low < 0.5 < high < 0.55


def test_a_median_and_a_slope_are_those_of_the_values():
    assert median([around(0.1), around(0.5), around(0.9)]).value == 0.5
    course = {100: around(0.5), 1000: around(0.05)}
    assert slope(course).value == pytest.approx(-1)


def test_tau_of_one_order_is_1_and_of_the_reverse_is_minus_1():
    a = [around(value, 1e-6, seed) for seed, value in enumerate((0.1, 0.2, 0.3, 0.4))]
    assert (order_tau(a, a).value, order_tau(a, a).interval) == (1, (1, 1))
    b = a[::-1]
    assert (order_tau(a, b).value, order_tau(a, b).interval) == (-1, (-1, -1))
    assert opposed_pairs(a, b).interval == (6, 6)
    assert opposed_pairs(a, a).interval == (0, 0)


def test_opposed_pairs_of_noise_are_possible_and_not_found():
    a = [around(0.1, 0.05, seed) for seed in range(5)]
    b = [around(0.1, 0.05, seed) for seed in range(5, 10)]
    assert opposed_pairs(a, b).interval == (0, 10)
    assert distinct_pairs(a).interval == (0, 10)
    assert distinct_pairs([around(0.1)] * 3).interval == (0, 0)


def test_a_share_counts_combinations_and_leaves_open_what_is_not_resolved():
    quantities = {"top": around(0.9), "a": around(0.5), "b": around(0.95), "low": around(0.1)}
    chain = [["top"], ["a", "b"], ["low"]]
    found = share_of_orders(quantities, chain)
    assert (found.value, found.interval) == (0.5, (0.5, 0.5))
    close = {**quantities, "b": around(0.9, 0.01, seed=3)}
    assert share_of_orders(close, chain).interval == (0.5, 1)


@pytest.mark.parametrize("method", ["normal", "none"])
def test_quantities_that_resampling_shifts_are_not_ordered(method):
    shifted = Quantity(0.5, np.array([0.6, 0.7]), method)
    with pytest.raises(ConfigError, match="resampling shifts"):
        order_tau([shifted, shifted], [shifted, shifted])
    with pytest.raises(ConfigError, match="were not kept"):
        distinct_pairs([Quantity(0.5, None, limits=(0.4, 0.6))] * 2)


def test_a_p_of_pairs_that_were_not_tested_is_refused():
    rows = [("AR", "P@10", "user", "a", "b", 0.02), ("AR", "P@10", "run", "a", "b", 0.5)]
    columns = ["label", "metric", "unit", "a", "b", "wilcoxon_p"]
    tests = pd.DataFrame(rows, columns=columns)
    assert largest_p(tests, "AR", "P@10", "user", systems=["a", "b"]) == 0.02
    with pytest.raises(ConfigError, match="1 of 3 pairs were tested"):
        largest_p(tests, "AR", "P@10", "user", systems=["a", "b", "c"])


# -- axes --------------------------------------------------------------------------------------


def test_labels_along_an_axis_are_told_by_what_they_measure():
    asked, tests = lemma_protocols(4, removed=(0, 90), sizes=(500, 300))
    grid = Grid("synthetic", recbias.line_up("bcc17")[:1], asked, ("P@10",), tests=tests)
    assert axis_labels(grid, "removed") == {0: "removed 0%", 90: "removed 90%"}
    assert axis_labels(grid, "size") == {300: "t=300", 500: "removed 0%"}
    assert grid.protocols["removed 0%"] == grid.protocols["t=500"]


def test_a_label_of_its_own_is_followed_over_the_labels_of_its_protocol():
    asked, tests = sparsity_protocols(4, removed=(0, 30, 90))
    metrics = sparsity_bias.setup.metrics(10, 100, (100, 400), removed=(0, 30, 90))
    grid = Grid("synthetic", recbias.line_up("bcc17")[:1], asked, metrics, tests=tests)

    def follow(term, axis):
        return {at: str(step) for at, step in axis_terms(grid, axis, parse(term)).items()}

    assert follow("P[AR]", "kept") == {
        10: "P[AR removed 90%]",
        70: "P[AR removed 30%]",
        100: "P[AR]",
    }
    assert follow("R[liked]", "removed")[90] == "R[liked removed 90%]"
    assert follow("RR[sizes]", "size") == {100: "RR|t=100[sizes]", 400: "RR|t=400[sizes]"}
    # The first label of a protocol stands where none is asked for: "all-1R" and not "sizes".
    assert follow("P[all-1R]", "kept")[100] == "P[all-1R]"
    assert follow("P[sizes]", "kept")[100] == "P[sizes]"
    with pytest.raises(NotComputed, match="1R in systems"):
        follow("P[1R]", "kept")


@pytest.mark.parametrize(
    ("term", "metric"),
    [
        ("nDCG[liked]", "nDCG"),
        ("nDCG@n[liked]", "nDCG@10"),
        ("nDCG@short[liked]", "nDCG@2"),
        ("R[liked]", "R@10"),
        ("nDCG@n[all-1R]", "nDCG@10|t=100"),
    ],
)
def test_a_cutoff_is_named_by_its_place(term, metric):
    asked, tests = sparsity_protocols(4, removed=(0,))
    metrics = sparsity_bias.setup.metrics(10, 100, (100, 400), removed=(0,))
    assert metric_in(asked, metrics, term, tests=tests) == metric


def metric_in(asked, metrics, term, **options):
    """The metric that a term stands for where nothing was measured yet."""
    grid = Grid("synthetic", recbias.line_up("bcc17")[:1], asked, metrics, **options)
    empty = pd.DataFrame()
    found = Results(
        key="0", dataset={}, grid=grid, values=pd.DataFrame(columns=["system", "label", "metric"]),
        replicates={}, tests=empty, target_sets=empty,
    )  # fmt: skip
    return Evidence({"systems": found}).metric(parse(term))


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize(
    ("term", "metric"),
    [
        ("P@n[lists]", "P@10"),
        ("P@short[lists]", "P@5"),
        ("P@n|judged[lists]", "P@10|judged"),
        ("P@short|judged[lists]", "P@3|judged"),
        ("P@5|judged[lists]", "P@5|judged"),
        ("antiP@n[lists]", "antiP@10|judged"),
    ],
)
def test_a_cutoff_is_that_of_the_metric_with_its_condition(term, metric, order):
    measured = ("P@10", "P@5", "P@3|judged", "P@10|judged", "antiP@10|judged")[::order]
    assert metric_in({"lists": "AI-AN-AR rel>=4"}, {"lists": measured}, term) == metric


@pytest.mark.parametrize("order", [1, -1])
def test_arguments_choose_a_metric_before_its_cutoff(order):
    measured = ("SR(gamma=1)@10", "SR(gamma=inf)@10", "SR(gamma=1)@5", "infAP(pool=all)")[::order]
    for term, metric in {
        "SR(gamma=1)@n": "SR(gamma=1)@10",
        "SR(gamma=1)@short": "SR(gamma=1)@5",
        "SR(gamma=inf)@n": "SR(gamma=inf)@10",
        "infAP(pool=all)": "infAP(pool=all)",
        "infAP": "infAP(pool=all)",
        "SR(gamma=inf)": "SR(gamma=inf)@10",
    }.items():
        asked = {"lists": "AI-AN-AR rel>=4"}, {"lists": measured}
        assert metric_in(*asked, f"{term}[lists]") == metric
    with pytest.raises(ConfigError, match=r"no metric SR\(gamma=0\) of lists was measured"):
        metric_in({"lists": "AI-AN-AR rel>=4"}, {"lists": measured}, "SR(gamma=0)@n[lists]")
    with pytest.raises(ConfigError, match=r"2 metrics SR\(gamma=1\) were measured"):
        metric_in({"lists": "AI-AN-AR rel>=4"}, {"lists": measured}, "SR(gamma=1)[lists]")


def test_a_condition_that_was_not_measured_is_told():
    with pytest.raises(ConfigError, match="no metric R of lists was measured under 'lists'"):
        metric_in({"lists": "AI-AN-AR rel>=4"}, {"lists": ("P@10", "P@5|judged")}, "R@n[lists]")


def test_noise_alone_takes_no_course_off_its_line():
    """Of 60 true lines under heavy noise 5 % may be resolved: more than 9 have a chance of .1 %."""
    rng, wrong, naive = np.random.default_rng(4), 0, 0
    for _ in range(60):
        course = {}
        for x in (10, 40, 70, 100):
            value = x / 100 + 0.2 * rng.standard_normal()
            course[x] = Quantity(value, value + 0.2 * rng.standard_normal(500))
        wrong += straightness(course).interval[1] < 0.98
        ends = []
        for column in zip(*(quantity.drawn for quantity in course.values()), strict=True):
            ends.append(np.corrcoef(list(course), column)[0, 1] ** 2)
        naive += np.quantile(ends, 0.975) < 0.98
    assert wrong <= 9
    assert naive > 9  # percentiles alone would refute more lines than that


def test_a_bend_is_told_from_a_line():
    rng = np.random.default_rng(4)
    course = {}
    for x in (10, 40, 70, 100):
        course[x] = Quantity((x / 100) ** 3, (x / 100) ** 3 + 0.01 * rng.standard_normal(500))
    assert straightness(course).interval[1] < 0.98


def test_pairs_are_turned_where_both_resolve_them():
    """Three systems 3 > 2 > 1 by the first quantity; the second turns one pair for sure."""
    noise = np.random.default_rng(0).standard_normal(1000)
    noise -= noise.mean()

    def of(*values, noisy=0.001):
        return [Quantity(v, v + noisy * np.roll(noise, 7 * n)) for n, v in enumerate(values)]

    assert reversed_pairs(of(3, 2, 1), of(30, 20, 10)).interval == (0, 0)
    assert reversed_pairs(of(3, 2, 1), of(2, 3, 1)).interval == (1, 1)
    assert reversed_pairs(of(3, 2, 1), of(2.1, 2, 1, noisy=0.3)).interval == (0, 1)
    assert reversed_pairs(of(2.1, 2, 1, noisy=0.3), of(2, 3, 1)).interval == (0, 0)


# -- other editions ------------------------------------------------------------------------------


def grid_results(name, values):
    """Results of one system, without anything run."""
    grid = Grid(name, recbias.line_up("bcc17")[:1], {"AR": "TI-AN-AR rel>=4"}, ("P@10",))
    table = pd.DataFrame(
        {"system": ["Random"], "label": ["AR"], "metric": ["P@10"], "value": [values.mean()],
         "low": [0.0], "high": [1.0], "se": [0.1], "fold_sd": [0.0], "n_users": [9]}
    )  # fmt: skip
    return Results(
        key="0",
        dataset={"name": name},
        grid=grid,
        values=table,
        replicates={0: values},
        tests=pd.DataFrame(),
        target_sets=pd.DataFrame(),
    )


def test_another_edition_is_read_and_its_replicates_pair_with_nobodys():
    here, there = (grid_results("synthetic", np.arange(n, n + 1000.0)) for n in (0, 5000))
    evidence = Evidence({"systems": here}, {"ml-1m": {"systems": there}}.__getitem__)
    own = evidence.quantity(parse("P[AR] of Random"))
    other = evidence.quantity(parse("P[AR] of Random on ml-1m"))
    np.testing.assert_array_equal(own.replicates, here.replicates[0])
    assert set(other.replicates) == set(there.replicates[0])
    assert not (other.replicates == there.replicates[0]).any()
    assert [reading.edition for reading in evidence.read] == ["", "ml-1m"]


def test_an_edition_without_results_is_named_and_replaced_by_none():
    here = grid_results("synthetic", np.arange(1000.0))
    evidence = Evidence({"systems": here}, lambda edition: {})
    with pytest.raises(NotComputed, match="systems on ml-1m"):
        evidence.quantity(parse("P[AR] of Random on ml-1m"))

    def damaged(edition):
        raise StoreError("x.json: changed after it was computed\nrestore it")

    with pytest.raises(NotComputed, match=r"those of ml-1m \(x\.json: changed after it was"):
        Evidence({"systems": here}, damaged).table("systems", "ml-1m")


def test_the_median_has_the_medians_of_the_ends():
    skewed = [(0.1, 0.0, 0.2), (0.2, 0.19, 0.9), (0.9, 0.2, 0.95)]
    found = median(Quantity(v, None, limits=(low, high)) for v, low, high in skewed)
    assert (found.value, found.interval) == (0.2, (0.19, 0.9))


# -- leads and flips ---------------------------------------------------------------------------


def test_a_lead_is_of_the_worst_over_the_best():
    values = {name: uncertain(v - 0.1, v + 0.1) for name, v in (("a", 3), ("b", 1), ("c", 2))}
    pair, found = lead(values, ["a"])
    assert pair == "a over c"
    assert found.value == pytest.approx(1)
    pair, behind = lead(values, ["a", "b"])
    assert (pair, behind.value) == ("b over c", pytest.approx(-1))
    for group in ([], ["a", "b", "c"]):
        with pytest.raises(ConfigError, match="a lead is of some systems over others"):
            lead(values, group)


def paired_tests(user, run, *, p_user=1e-9, p_run=1e-9):
    """Make paired tests of a and b beside those of a and c, which agree."""
    rows = []
    for unit, difference, p in (("user", user, p_user), ("run", run, p_run)):
        for other, found, value in (("b", difference, p), ("c", 0.1, 1e-9)):
            rows.append(("a", other, found, value, value))
        rows.append(("b", "c", 0.1, 1e-9, 1e-9))
        rows[-3:] = [(*row, "1R", "P@10", unit) for row in rows[-3:]]
    columns = ["a", "b", "difference", "wilcoxon_p", "wilcoxon_p_holm", "label", "metric", "unit"]
    return pd.DataFrame(rows, columns=columns)


@pytest.mark.parametrize(
    ("user", "run", "p", "expected"),
    [
        (-0.1, 0.2, {}, (["a"], 1)),
        (0.1, -0.2, {}, (["b"], 1)),
        (0.1, 0.2, {}, ([], 0)),
        (-0.1, 0.2, {"p_user": 0.05}, ([], 1)),
        (-0.1, 0.2, {"p_run": 0.05}, ([], 1)),
        (0.0, 0.2, {}, ([], 1)),
        (-0.1, 0.2, {"p_user": math.nan}, ([], 1)),
    ],
)
def test_a_pair_is_flipped_if_both_units_are_sure_of_another_winner(user, run, p, expected):
    tests = paired_tests(user, run, **p)
    flips, possible = flipped_pairs(tests, "1R", "P@10", systems=["a", "b", "c"])
    assert ([flip.per_run for flip in flips], possible) == expected


def test_flips_need_every_pair_by_both_units():
    tests = paired_tests(0.1, 0.1)
    with pytest.raises(ConfigError, match="3 and 2 of 3 pairs were tested"):
        flipped_pairs(tests[:-1], "1R", "P@10", systems=["a", "b", "c"])


def test_findings_of_leads_and_flips_are_read_from_recorded_results():
    results = load_chapter(setup.CHAPTER, "ml-1m")
    ahead = {"text": "lead(P[R_test])", "results": results, "above": 0, "least": -1}
    (part,) = parts_of(**ahead, systems=["* (rating prediction)"])
    assert (part.verdict, part.which) == ("holds", "kNN (rating prediction) over MF (ranking)")
    (part,) = parts_of(**ahead, systems=["Random"])
    assert part.verdict == "refuted"
    flips = {"text": "flips(P[1R])", "results": results, "systems": "all", "least": 1}
    (part,) = parts_of(**flips)
    assert (part.verdict, part.interval) == ("holds", (1, 1))
    (part,) = parts_of(**flips, but=["Popularity"])
    assert (part.verdict, part.interval) == ("refuted", (0, 0))


@pytest.mark.parametrize(
    ("course", "ends"),
    [
        ([0.3, 0.2, math.nan], {"first": 0.3, "last": 0.2}),
        ([math.nan, 0.2], {"first": 0.2, "last": 0.2}),
        ([math.nan, math.nan], {}),
    ],
)
def test_a_course_goes_from_its_first_to_its_last_defined_value(course, ends, monkeypatch) -> None:
    values = Course({at: Quantity(value, np.zeros(0)) for at, value in enumerate(course)})
    monkeypatch.setattr(evaluation.Scope, "evaluate", lambda *_: values)
    text = "change(P[AR] along removed)"
    record = Record.from_dict({"finds": "{first} to {last}", "value": text, "least": 0})
    scope = evaluation.Scope(Evidence({}), record, "", {})
    assert evaluation._numbers(scope, "") == ends


@pytest.mark.parametrize("n_steps", [1, 2, 3])
def test_a_course_has_two_places_at_least(n_steps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    term, asked = parse("P[AR] of ALS along removed"), []

    class Fake:
        """A table of so many steps, of which each is its own quantity."""

        def table(self, name: str, edition: str) -> SimpleNamespace:
            asked.append((name, edition))
            return SimpleNamespace(grid=None)

        def quantity(self, step: int, system: str) -> tuple[int, str]:
            return step, system

    steps = {10 * n: n for n in range(n_steps)}
    monkeypatch.setattr(evaluation, "axis_terms", lambda *_: steps)
    scope = evaluation.Scope(Fake(), Record.from_dict(GOOD), "", {})
    if n_steps < 2:
        with pytest.raises(NotTestable, match=NEEDS["pool"]):
            scope._of_system(term, "ALS")
    else:
        found = scope._of_system(term, "ALS")
        assert found == {at: (step, "ALS") for at, step in steps.items()}
    elsewhere = dataclasses.replace(term, edition="ml-1m")
    with suppress(NotTestable):
        scope._of_system(elsewhere, "ALS")
    assert [edition for _, edition in asked] == ["", "ml-1m"]


def test_parts_have_the_halves_of_their_own_place(monkeypatch: pytest.MonkeyPatch) -> None:
    class Fake:
        """Results whose halves are 1 and 2, the whole 0."""

        read = ("a table",)

        def __init__(self, tag: int, has_drawn: bool) -> None:
            self.tag, self.has_drawn = tag, has_drawn

        def afresh(self) -> "Fake":
            return self

        def half(self, number: int) -> "Fake":
            return Fake(1 + number, self.has_drawn)

    def estimates(scope: evaluation.Scope) -> list[tuple[str, float]]:
        return [(name, scope.evidence.tag + place) for name, place in (("A", 0.25), ("B", 0.5))]

    monkeypatch.setattr(evaluation, "_estimates", estimates)
    monkeypatch.setattr(evaluation, "_numbers", lambda _, which: {which: 1.0})
    record = Record.from_dict(GOOD)
    first, second = evaluation.evaluate(record, Fake(0, True), "", {})
    assert (first.which, first.estimate, first.halves) == ("A", 0.25, (1.25, 2.25))
    assert (second.which, second.estimate, second.halves) == ("B", 0.5, (1.5, 2.5))
    assert (first.numbers, second.numbers) == ({"A": 1.0}, {"B": 1.0})
    first, second = evaluation.evaluate(record, Fake(0, False), "", {})
    assert (first.halves, second.halves) == ((0.25, 0.25), (0.5, 0.5))


@pytest.mark.parametrize(
    ("text", "finds", "systems", "which", "expected"),
    [
        ('range(P[AR] of "*")', "{least} to {most}", [], "", {"least": 0.1, "most": 0.4}),
        ('range(P[AR] of "*")', "{value}", [], "", {}),
        ("P[AR] - P[1R]", "{a} and {b}", [], "", {"a": 0.3, "b": 0.2}),
        ("P[AR] - P[1R]", "{b}", [], "", {"b": 0.2}),
        ("P[AR] - P[1R]", "{a}", ["ALS", "Random"], "ALS", {"a": 0.3}),
        ("P[AR] - P[1R]", "{a} and {b}", ["ALS", "Random"], "", {}),
        ("P[AR] - P[1R] of ALS", "{a} and {b}", ["ALS", "Random"], "", {"b": 0.2}),
        (
            "P[AR] - P[1R]", "{least} to {most}", [], "",
            {"least": 0.2, "most": 0.3, "a": 0.3, "b": 0.2},
        ),
    ],
)  # fmt: skip
def test_a_sentence_shows_numbers_of_its_own_terms(
    text: str,
    finds: str,
    systems: list[str],
    which: str,
    expected: dict[str, float],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def found(_: evaluation.Scope, node: Term) -> float | Quantity | Family:
        if node.system == "*":
            return Family({"x": 0.2, "y": 0.4, "z": 0.1}, of_systems=True)
        return Quantity(0.3, np.linspace(0, 1, 9)) if node.label == "AR" else 0.2

    monkeypatch.setattr(evaluation.Scope, "evaluate", found)
    raw = {"finds": finds, "value": text, "least": 0}
    record = Record.from_dict({**raw, "systems": systems} if systems else raw)
    assert evaluation._numbers(evaluation.Scope(Evidence({}), record, "", {}), which) == expected
