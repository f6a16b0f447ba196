import dataclasses
import importlib
import math
import sys

import numpy as np
import pytest

import recbias.claims
import recbias.makers
import recbias.results
from recbias import Grid
from recbias.chapters import list_chapters
from recbias.claims import (
    NOT_TESTABLE,
    TOPICS,
    VERDICTS,
    Part,
    chapters,
    claims,
    errata,
    judge,
    judge_chapter,
    load_chapter,
    scorecard,
    totals,
    verdict_cards,
)
from recbias.claims import design_alternatives as chapter
from recbias.claims.checks import Check, Checks
from recbias.claims.needs import missing_need
from recbias.claims.parts import NotTestable, combine
from recbias.claims.quantities import absolute, largest, order_tau, smallest
from recbias.claims.topics import find_judged
from recbias.errors import ConfigError, StoreError
from recbias.experiment import Results
from recbias.makers import maker, run_maker
from recbias.plotting import plot_bounds, plot_settings
from recbias.results import Quantity, load_result, recorded_datasets

FIGURE_2, CRITERIA = chapter.FIGURE_2, chapter.CRITERIA
TOPIC = "design alternatives"
CHAPTER = chapter.CHAPTER
BY_ID = {claim.id: claim for claim in claims()}


def uncertain(low, high):
    return Quantity((low + high) / 2, np.linspace(low, high, 501))


# -- the rule ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("part", "verdict"),
    [
        (Part("inside", uncertain(0.1, 0.2), least=0.0), "yes"),
        (Part("outside", uncertain(-0.2, -0.1), least=0.0), "no"),
        (Part("on both sides", uncertain(-0.1, 0.1), least=0.0), "undecided"),
        (Part("within a band", uncertain(-0.1, 0.1), least=-0.5, most=0.5), "yes"),
        (Part("wider than the band", uncertain(-1, 1), least=-0.5, most=0.5), "undecided"),
        (Part("exact, at the end", 0.0, most=0.0), "yes"),
        (Part("exact, strictly", 0.0, most=0.0, strict=True), "no"),
        (Part("no number", Quantity(math.nan, np.full(9, math.nan)), least=0.0), "undecided"),
    ],
    ids=lambda value: value.name if isinstance(value, Part) else "",
)
def test_a_part_is_decided_by_its_whole_interval(part, verdict):
    assert part.verdict == verdict


def test_parts_join_to_their_common_verdict_or_to_partly():
    yes, no = Part("", 1.0, least=0.0), Part("", -1.0, least=0.0)
    assert combine([yes, yes]) == "yes"
    assert combine([no, no]) == "no"
    assert combine([yes, no]) == "partly"
    assert combine([yes, Part("", uncertain(-1, 1), least=0.0)]) == "partly"


def test_a_reason_comes_from_the_closed_list():
    assert str(NotTestable("no timestamps")) == "no timestamps"
    with pytest.raises(ConfigError, match="unknown reason"):
        NotTestable("too much work")


def test_claims_without_experiment_are_not_yet():
    assert judge(BY_ID["BCC17-F2A"], {}).verdict == "not yet"
    assert judge_chapter("sparsity bias", {})[0].verdict == "not yet"
    with pytest.raises(ConfigError, match="unknown chapter topic"):
        judge_chapter("sparsity", {})


# -- the ledger --------------------------------------------------------------------------------


def test_the_ledger_is_whole():
    assert len(claims()) == 205
    assert len(BY_ID) == 205
    assert [erratum.id for erratum in errata()] == [f"E{number:02}" for number in range(1, 26)]
    assert {claim.topic for claim in claims()} == set(TOPICS)
    assert {claim.kind for claim in claims()} == {"definition", "theorem", "empirical"}


WRITTEN = [topic for topic, name in chapters().items() if name]


@pytest.mark.parametrize("topic", WRITTEN)
def test_a_chapter_has_a_criterion_for_each_claim_that_some_data_can_test(topic):
    own = {claim.id: claim for claim in claims() if claim.topic == topic}
    judged = find_judged(topic)
    open_ones = set(own) - set(judged.criteria)
    assert set(judged.criteria) <= set(own)
    assert all(
        missing_need(own[claim], "synthetic", ()) == "dataset not here" for claim in open_ones
    )
    assert set(judged.superseded) <= set(judged.criteria)
    assert judged.chapter in {found.name for found in list_chapters()}


def test_chapter_1_is_written():
    assert chapters()[TOPIC] == CHAPTER
    assert len(CRITERIA) == 23


# -- verdicts on the recorded results ----------------------------------------------------------


@pytest.fixture(scope="module", params=recorded_datasets())
def recorded(request):
    return dict(load_chapter(CHAPTER, request.param))


def test_there_are_recorded_results():
    assert "ml-1m" in recorded_datasets()


def test_every_verdict_is_one_of_six_and_reasons_are_given(recorded):
    for verdict in judge_chapter(TOPIC, recorded):
        assert verdict.verdict in VERDICTS
        assert verdict.verdict != "not yet"
        if verdict.verdict == "not testable here":
            assert verdict.reason in NOT_TESTABLE
        else:
            assert verdict.parts


def test_theorems_and_definitions_of_the_package_hold(recorded):
    exact = [v for v in judge_chapter(TOPIC, recorded) if v.claim.kind != "empirical"]
    failing = {verdict.claim.id for verdict in exact if verdict.verdict != "yes"}
    # The paper fixes relevance at 5 stars: a setting that data on another scale cannot share.
    other_scale = "rel>=5" not in recorded["systems"].grid.protocols["AR"]
    assert failing == ({"BCC17-SETUP"} if other_scale else set())


def test_a_replaced_criterion_keeps_its_verdict_on_the_page(recorded):
    verdict = judge(BY_ID["BCC17-L1"], recorded)
    assert [old.until for _, old in verdict.earlier] == ["2026-11-21"]
    assert verdict.verdict == "yes"
    assert verdict.earlier[0][1].words in verdict_cards([verdict])
    assert verdict.to_dict()["earlier"][0]["verdict"] == verdict.earlier[0][0]


def moved(results, changes):
    """Copy results with some values replaced; interval and replicates move along."""
    values, replicates = results.values.copy(), dict(results.replicates)
    for names, target in changes.items():
        row = results._rows[names]
        shift = target - values.loc[row, "value"]
        values.loc[row, ["value", "low", "high"]] += shift
        if row in replicates:
            replicates[row] = replicates[row] + shift
    return dataclasses.replace(results, values=values, replicates=replicates)


def swapped(results, a, b):
    """Copy results with the values of two systems exchanged."""
    order = [
        results._rows[({a: b, b: a}.get(system, system), label, metric)]
        for system, label, metric in results._rows
    ]
    values = results.values.copy()
    numbers = values.select_dtypes("number").columns
    values[numbers] = results.values[numbers].to_numpy()[order]
    replicates = {row: results.replicates[order[row]] for row in results.replicates}
    return dataclasses.replace(results, values=values, replicates=replicates)


def _value(results, *names):
    return results[names].value


def _r_test(tables):
    systems = tables["systems"]
    return {
        "systems": moved(
            systems, {("Random", "R_test", "P@10"): _value(systems, "Random", "AR", "P@10")}
        )
    }


def _figure_2_ar(tables):
    grid = tables["grid"]
    if judge(BY_ID["BCC17-F2A"], tables).parts[0].verdict == "yes":
        return {"grid": swapped(grid, "pLSA", "Random")}
    mf, knn = (names[0] for names in chapter.reading_settings("rating prediction"))
    order = ("pLSA", "Popularity", mf, knn, "Random")
    values = dict(zip(order, (0.9, 0.8, 0.7, 0.6, 0.0), strict=True))
    return {"grid": moved(grid, {(name, "AR", "P@10"): v for name, v in values.items()})}


def _figure_2_1r(tables):
    systems = tables["systems"]
    if judge(BY_ID["BCC17-F2C"], tables).verdict == "yes":
        return {"systems": swapped(systems, "pLSA", "Random")}
    values = dict(zip(FIGURE_2, (0.09, 0.08, 0.05, 0.05), strict=False))
    return {"systems": moved(systems, {(name, "1R", "P@10"): v for name, v in values.items()})}


def _range(tables):
    systems = tables["systems"]
    holds = judge(BY_ID["BCC17-C-RANGE"], tables).verdict != "no"
    base = _value(systems, "Popularity", "AR", "P@10")
    changes = {("Popularity", label, "P@10"): base for label in ("AI", "NN", "1R")}
    if not holds:
        changes = {("Popularity", "NN", "P@10"): 10 * base}
    return {"systems": moved(systems, changes)}


def _ti_ai(tables):
    systems, checks = tables["systems"], tables["checks"]
    if judge(BY_ID["BCC17-C-TIAI"], tables).verdict == "no":
        same = {
            (name, "AI", "P@10"): _value(systems, name, "AR", "P@10") for name in systems.systems
        }
        return {"systems": moved(systems, same)}
    far = _value(systems, "Popularity", "AR", "P@10") + 0.05
    rows = tuple(
        dataclasses.replace(check, worst=0.5) if check.claim == "BCC17-C-TIAI" else check
        for check in checks.rows
    )
    return {
        "systems": moved(systems, {("Popularity", "AI", "P@10"): far}),
        "checks": dataclasses.replace(checks, rows=rows),
    }


def _disagree(tables):
    systems = tables["systems"]
    if judge(BY_ID["BCC17-C-DISAGREE"], tables).verdict == "no":
        return {"systems": moved(systems, {("Random", "1R", "P@10"): 0.09})}
    # The replicates of 1R become those of AR: one order, on every resample.
    values, replicates = systems.values.copy(), dict(systems.replicates)
    for name in systems.systems:
        source, target = (systems._rows[name, label, "P@10"] for label in ("AR", "1R"))
        replicates[target] = systems.replicates[source]
        values.loc[target, "value"] = systems.values.loc[source, "value"]
    return {"systems": dataclasses.replace(systems, values=values, replicates=replicates)}


def _significant(tables):
    systems = tables["systems"]
    level = 0.5 if judge(BY_ID["BCC17-C-SIG"], tables).verdict != "no" else 1e-9
    return {"systems": dataclasses.replace(systems, tests=systems.tests.assign(wilcoxon_p=level))}


def _other_metrics(tables):
    systems = tables["systems"]
    reversed_ = {
        (name, "AR", metric): 1 - _value(systems, name, "AR", metric)
        for name in systems.systems
        for metric in ("nDCG@10", "AP", "RR", "R@10")
    }
    return {"systems": moved(systems, reversed_)}


def _widen(tables, labels_of):
    """Make the gap of the lemma grow from label to label."""
    lemma = tables["lemma"]
    labels = labels_of(lemma.grid).values()
    changes = {
        (name, label, "upper@10"): _value(lemma, name, label, "lower@10") + 0.1 * (place + 1)
        for name in lemma.systems
        for place, label in enumerate(labels)
    }
    return {"lemma": moved(lemma, changes)}


PERTURBATIONS = {
    "BCC17-C-RTEST": _r_test,
    "BCC17-F2A": _figure_2_ar,
    "BCC17-F2C": _figure_2_1r,
    "BCC17-C-RANGE": _range,
    "BCC17-C-TIAI": _ti_ai,
    "BCC17-C-DISAGREE": _disagree,
    "BCC17-C-SIG": _significant,
    "BCC17-C-OTHER": _other_metrics,
    "BCC17-F3L": lambda tables: _widen(tables, chapter.thinned_labels),
    "BCC17-F3R": lambda tables: _widen(tables, chapter.size_labels),
}


def test_every_empirical_claim_is_perturbed():
    empirical = {c.id for c in claims() if c.topic == TOPIC and c.kind == "empirical"}
    assert empirical & set(CRITERIA) == set(PERTURBATIONS)


@pytest.mark.parametrize("claim", PERTURBATIONS)
def test_a_perturbed_table_changes_the_verdict(recorded, claim):
    before = judge(BY_ID[claim], recorded)
    after = judge(BY_ID[claim], {**recorded, **PERTURBATIONS[claim](recorded)})
    outcome = [part.verdict for part in before.parts], before.verdict
    changed = [part.verdict for part in after.parts], after.verdict
    assert changed != outcome
    if before.verdict in ("yes", "no"):
        assert after.verdict != before.verdict


@pytest.mark.parametrize("claim", sorted(set(CRITERIA) - set(PERTURBATIONS)))
def test_a_violated_check_changes_the_verdict(recorded, claim):
    checks, systems = recorded["checks"], recorded["systems"]
    assert isinstance(checks, Checks)
    assert isinstance(systems, Results)
    # What is violated already (the setup, on other scales) is mended instead.
    rows = tuple(
        dataclasses.replace(check, worst=check.tolerance + (check.worst <= check.tolerance))
        for check in checks.rows
    )
    broken = {**recorded, "checks": dataclasses.replace(checks, rows=rows)}
    if claim == "BCC17-C-THETA":
        zero = {
            ("Popularity", "shared", "P@10"): 0.5
            * _value(systems, "Popularity", "shared", "lower@10")
        }
        broken = {**recorded, "systems": moved(systems, zero)}
    assert judge(BY_ID[claim], broken).verdict != judge(BY_ID[claim], recorded).verdict


def test_data_without_negatives_cannot_test_a_ranking_of_test_ratings(recorded):
    systems = recorded["systems"]
    implicit = dataclasses.replace(systems, dataset={**systems.dataset, "feedback": "implicit"})
    verdict = judge(BY_ID["BCC17-C-RTEST"], {**recorded, "systems": implicit})
    assert (verdict.verdict, verdict.reason) == ("not testable here", "no negatives")


def test_a_claim_about_other_data_is_not_testable_here(recorded):
    verdict = judge(BY_ID["BCC17-F2B"], recorded)
    assert (verdict.verdict, verdict.reason) == ("not testable here", "dataset not here")
    assert verdict.origin == "recorded"
    named = dataclasses.replace(
        recorded["systems"], dataset={**recorded["systems"].dataset, "name": "lastfm-1k"}
    )
    assert judge(BY_ID["BCC17-F2B"], {"systems": named}).verdict == "not yet"


def test_what_is_combined_was_measured_and_nothing_else_is_kept(recorded):
    systems, stars, lemma = (recorded[name] for name in ("systems", "stars", "lemma"))
    assert set(systems.grid.replicates) == set(chapter.combined(10, 100))
    assert not stars.replicates
    assert {metric for _, metric in lemma.grid.replicates} == {"lower@10", "upper@10"}
    with pytest.raises(ConfigError, match="were not kept"):
        systems["Random", "AR", "rho"] - systems["Random", "AI", "rho"]


def test_results_of_another_kind_are_refused_by_name(recorded):
    mixed = {**recorded, "systems": recorded["checks"]}
    with pytest.raises(ConfigError, match="'systems': checks is stored under this name"):
        judge(BY_ID["BCC17-C-RANGE"], mixed)
    with pytest.raises(ConfigError, match="'checks': grid is stored under this name"):
        judge(BY_ID["BCC17-T1"], {**recorded, "checks": recorded["systems"]})


# -- labels and quantities ---------------------------------------------------------------------


def test_labels_of_figure_3_are_told_by_what_they_measure():
    asked, tests = chapter.lemma_protocols(4, removed=(0, 90), sizes=(500, 300))
    grid = Grid("synthetic", recbias.line_up("bcc17")[:1], asked, ("P@10",), tests=tests)
    assert chapter.thinned_labels(grid) == {0: "removed 0%", 90: "removed 90%"}
    assert chapter.size_labels(grid) == {500: "t=500", 300: "t=300"}
    assert [grid.test(label).removed for label in grid.parsed] == [0, 90, 0, 0]
    assert {str(protocol.rule) for protocol in grid.parsed.values()} == {
        "TI-NN-1R-shared t=500",
        "TI-NN-1R-shared t=300",
    }


def test_settings_of_a_reading_are_in_the_grid_of_the_page(recorded):
    names = set(recorded["grid"].systems)
    for reading in chapter.READINGS:
        mf, knn = chapter.reading_settings(reading)
        assert {*mf, *knn} <= names
        assert chapter.grid_holds(recorded["grid"], "AR", reading).shape[:2] == (len(mf), len(knn))


def test_figures_show_what_was_measured(recorded):
    lemma, grid = recorded["lemma"], recorded["grid"]
    labels = chapter.size_labels(lemma.grid)
    panels = {"size": (list(labels.values()), list(labels))}
    figure = plot_bounds(lemma, panels, systems=lemma.systems)
    assert len(figure.axes) == len(lemma.systems)
    for axis, system in zip(figure.axes, lemma.systems, strict=True):
        (line,), (band,) = axis.lines, axis.collections
        assert list(line.get_xdata()) == list(labels)
        assert list(line.get_ydata()) == [_value(lemma, system, x, "P@10") for x in labels.values()]
        heights = {float(y) for _, y in band.get_paths()[0].vertices}
        for bound in ("lower@10", "upper@10"):
            assert {_value(lemma, system, x, bound) for x in labels.values()} <= heights
        assert axis.get_ylabel() == "1RP@10"
    mf, knn = chapter.reading_settings("ranking")
    figure = plot_settings(
        grid, {"MF": mf, "kNN": knn}, label="AR", metric="P@10", references=("Popularity",)
    )
    points_mf, points_knn, popular = figure.axes[0].lines
    for points, names in ((points_mf, mf), (points_knn, knn)):
        assert list(points.get_xdata()) == [_value(grid, name, "AR", "P@10") for name in names]
    assert popular.get_xdata()[0] == _value(grid, "Popularity", "AR", "P@10")


def test_quantities_of_several_are_taken_on_every_resample():
    a, b = Quantity(0.3, np.array([0.2, 0.4])), Quantity(-0.5, np.array([0.3, -0.6]))
    assert largest([a, b]).replicates.tolist() == [0.3, 0.4]
    assert smallest([a, b]).replicates.tolist() == [0.2, -0.6]
    assert absolute(b).replicates.tolist() == [0.3, 0.6]
    assert (largest([a, b]).value, smallest([a, b]).value, absolute(b).value) == (0.3, -0.5, 0.5)


@pytest.mark.parametrize("method", ["normal", "none"])
def test_quantities_that_resampling_shifts_are_not_ordered(method):
    shifted = Quantity(0.5, np.array([0.6, 0.7]), method)
    for combine_them in (largest, smallest):
        with pytest.raises(ConfigError, match="resampling shifts"):
            combine_them([shifted, shifted])
    with pytest.raises(ConfigError, match="resampling shifts"):
        absolute(shifted)
    with pytest.raises(ConfigError, match="were not kept"):
        absolute(Quantity(0.5, None, limits=(0.4, 0.6)))


def test_tau_of_one_order_is_1_and_of_the_reverse_is_minus_1(recorded):
    systems = recorded["systems"]
    same = order_tau(systems, ("AR", "P@10"), ("AR", systems.metric("AR", "P")))
    assert same.value == 1
    assert same.interval == (1, 1)
    reverse = moved(
        systems,
        {(n, "AR", "AP"): 1 - _value(systems, n, "AR", "P@10") for n in systems.systems},
    )
    assert order_tau(reverse, ("AR", "P@10"), ("AR", "AP")).value == -1


# -- checks as stored results ------------------------------------------------------------------


@pytest.fixture
def known_makers(monkeypatch):
    """Makers that a test registers are forgotten after it."""
    monkeypatch.setattr(recbias.makers, "_MAKERS", dict(recbias.makers._MAKERS))


def test_checks_are_recomputed_and_what_differs_is_named(tmp_path, monkeypatch, known_makers):
    monkeypatch.setenv("RECBIAS_RESULTS", str(tmp_path))
    rows = [Check("BCC17-T2", "deviation", 3, 0.0, 1e-12), Check("BCC17-T2", "count", 2, 0.5, 1.0)]
    found = {"checks": rows, "statistics": {"rho": 0.5}}

    @maker("made up/checks", Checks)
    def compute(dataset, *, worst):
        return found["checks"], found["statistics"]

    run_maker("made up/checks", "synthetic", parameters={"worst": 5.0}, record="made up/checks")
    stored = load_result(tmp_path / "synthetic" / "made up" / "checks")
    assert stored.rows == tuple(rows)
    assert stored.given == {"worst": 5}
    same = stored.compare(stored.recompute())
    assert (same.n_values, same.differing) == (7, ())
    assert stored.compare(stored.recompute(systems=2)) == same, "it has no part"

    def differing(**change):
        with monkeypatch.context() as patched:
            for name, value in change.items():
                patched.setitem(found, name, value)
            return stored.compare(stored.recompute()).differing

    def first(**change):
        return [dataclasses.replace(rows[0], **change), rows[1]]

    more = [*rows, Check("BCC17-T1", "more", 1, 0.0)]
    whole = "n_checked, worst, tolerance"
    assert differing(checks=first(worst=1e-10)) == ()
    assert differing(checks=first(worst=1e-3)) == ("BCC17-T2 deviation: worst",)
    assert differing(checks=first(n_checked=4)) == ("BCC17-T2 deviation: n_checked",)
    assert differing(checks=first(tolerance=1e-11)) == ("BCC17-T2 deviation: tolerance",)
    assert differing(checks=rows[1:]) == (f"BCC17-T2 deviation: {whole}",)
    assert differing(checks=more) == (f"BCC17-T1 more: {whole}",)
    assert differing(checks=[])
    assert differing(statistics={"rho": 0.5 + 1e-7}) == ()
    assert differing(statistics={"rho": 0.5 + 1e-5}) == ("statistics rho: value",)
    assert differing(statistics={"rho": math.nan}) == ("statistics rho: value",)
    assert differing(statistics={}) == ("statistics rho: value",)


def test_checks_of_unknown_claims_are_refused(known_makers):
    @maker("made up/strangers", Checks)
    def compute(dataset):
        return [Check("BCC17-NONE", "deviation", 3, 0.0)], {}

    with pytest.raises(ConfigError, match=r"the ledger lacks: \['BCC17-NONE'\]"):
        run_maker("made up/strangers", "synthetic", parameters={})


# -- a chapter from outside --------------------------------------------------------------------

MADE_UP = """
from recbias.claims.checks import Check, Checks
from recbias.claims.parts import checked
from recbias.makers import maker

CHAPTER = "02_made_up"


@maker("02_made_up/checks", Checks)
def compute(dataset, *, limit):
    return [Check("BCC17-T2", "users", 1, dataset.ratings.n_users - limit)], {}


CRITERIA = {"MADE-UP": checked("BCC17-T2")}
SUPERSEDED = {}
"""


@pytest.fixture
def made_up(tmp_path, monkeypatch, known_makers):
    """A claim on a topic that no chapter of the package has, and a module that judges it."""
    (tmp_path / "a_made_up_topic.py").write_text(MADE_UP)
    claim = dataclasses.replace(claims()[0], id="MADE-UP", topic="a made up topic")
    monkeypatch.setattr(recbias.claims, "__path__", [*recbias.claims.__path__, str(tmp_path)])
    monkeypatch.setattr("recbias.claims.topics.TOPICS", (*TOPICS, claim.topic))
    monkeypatch.setattr("recbias.claims.judging.claims", lambda: (*claims(), claim))
    monkeypatch.setenv("RECBIAS_RESULTS", str(tmp_path / "results"))
    importlib.invalidate_caches()
    yield claim
    sys.modules.pop("recbias.claims.a_made_up_topic", None)
    monkeypatch.delattr(recbias.claims, "a_made_up_topic", raising=False)


def test_a_chapter_is_added_without_a_line_in_the_package(made_up):
    assert chapters()[made_up.topic] == "02_made_up"
    name = "02_made_up/checks"
    for limit, verdict in ((943, "yes"), (942, "no")):
        run_maker(name, "synthetic", parameters={"limit": limit}, record=name)
        (found,) = judge_chapter(made_up.topic, load_chapter("02_made_up", "synthetic"))
        assert (found.claim, found.verdict, found.origin) == (made_up, verdict, "live")
    assert [v.verdict for v in scorecard("synthetic") if v.claim is made_up] == ["no"]


def test_a_kind_of_results_is_added_from_outside(tmp_path, monkeypatch, known_makers):
    monkeypatch.setattr(recbias.results, "_KINDS", dict(recbias.results._KINDS))
    monkeypatch.setenv("RECBIAS_RESULTS", str(tmp_path))

    @recbias.results.register_kind
    @dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
    class Note(recbias.makers.Made):
        kind = "note"
        text: str

        @classmethod
        def of(cls, content, **context):
            return cls(text=content, **context)

        def body(self):
            return {"text": self.text}

        @classmethod
        def restore(cls, parameters, body, arrays, **context):
            made = {"maker_name": parameters["maker"], "given": parameters["given"]}
            return cls(text=body["text"], **made, **context)

        def compare(self, fresh):
            differing = () if fresh.text == self.text else ("text",)
            return recbias.results.Agreement(1, 0.0, 0.0, differing)

    @maker("made up/note", Note)
    def write(dataset, *, word):
        return f"{word} {dataset.name}"

    name = "made up/note"
    run_maker(name, "synthetic", parameters={"word": "of"}, record=name)
    stored = load_chapter("made up", "synthetic")["note"]
    assert isinstance(stored, Note)
    assert stored.text == "of synthetic"
    assert stored.compare(stored.recompute()).differing == ()
    assert stored.compare(dataclasses.replace(stored, text="?")).differing == ("text",)
    recbias.results._KINDS.pop("note")
    with pytest.raises(StoreError, match="results of kind 'note', known are"):
        load_chapter("made up", "synthetic")


def test_without_its_module_a_chapter_is_not_written(made_up, tmp_path):
    (tmp_path / "a_made_up_topic.py").unlink()
    importlib.invalidate_caches()
    assert chapters()[made_up.topic] is None
    assert judge(made_up, {"checks": None}).verdict == "not yet"


# -- what readers see --------------------------------------------------------------------------


def test_the_scorecard_lists_all_claims_and_totals_classes_apart():
    verdicts = scorecard("ml-1m")
    table = totals(verdicts)
    assert table["all"].to_dict() == {"empirical": 124, "theorem": 45, "definition": 36}
    measured = {topic for topic in WRITTEN if load_chapter(chapters()[topic], "ml-1m")}
    assert TOPIC in measured
    open_ones = {v.claim.id for v in verdicts if v.verdict == "not yet"}
    assert open_ones == {claim.id for claim in claims() if claim.topic not in measured}


def test_a_scorecard_of_an_unknown_dataset_is_refused():
    with pytest.raises(ConfigError, match="did you mean 'ml-1m'"):
        scorecard("ml1m")


def test_cards_show_every_part_and_escape_text(recorded):
    verdicts = judge_chapter(TOPIC, recorded)
    cards = verdict_cards(verdicts)
    assert cards.count('class="claim"') == len(verdicts)
    assert "<script" not in cards
    for verdict in verdicts:
        assert f'id="{verdict.claim.id.lower()}"' in cards
