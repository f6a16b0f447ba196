import dataclasses
import math

import numpy as np
import pytest

from recbias.claims import (
    CHAPTERS,
    NOT_TESTABLE,
    VERDICTS,
    Part,
    claims,
    errata,
    judge,
    judge_chapter,
    scorecard,
    totals,
    verdict_cards,
)
from recbias.claims.checks import Check, Checks, recompute_checks, run_checks
from recbias.claims.design_alternatives import FIGURE_2
from recbias.claims.judging import CRITERIA, load_chapter
from recbias.claims.parts import NotTestable, combine
from recbias.errors import ConfigError
from recbias.experiment import Quantity, Results, recorded_datasets

TOPIC = "design alternatives"
CHAPTER = "01_design_alternatives"
BY_ID = {claim.id: claim for claim in claims()}


def uncertain(low, high):
    return Quantity((low + high) / 2, np.linspace(low, high, 501))


# -- the rule -----------------------------------------------------------------------------------


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


# -- the ledger ---------------------------------------------------------------------------------


def test_the_ledger_is_whole():
    assert len(claims()) == 205
    assert len(BY_ID) == 205
    assert [erratum.id for erratum in errata()] == [f"E{number:02}" for number in range(1, 26)]
    assert {claim.topic for claim in claims()} == set(CHAPTERS)
    assert {claim.kind for claim in claims()} == {"definition", "theorem", "empirical"}


def test_the_chapter_has_a_criterion_for_each_of_its_claims():
    own = {claim.id for claim in claims() if claim.topic == TOPIC}
    assert own == set(CRITERIA)
    assert len(own) == 24


# -- verdicts on the recorded results --------------------------------------------------------------


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
    """Copy results with some values replaced; their replicates move along."""
    values, replicates = results.values.copy(), results.replicates.copy()
    for names, target in changes.items():
        row = results._rows[names]
        replicates[row] += target - values.loc[row, "value"]
        values.loc[row, "value"] = target
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
    return dataclasses.replace(results, values=values, replicates=results.replicates[order])


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
    order = ("pLSA", "Popularity", "MF rating factors=10 reg=0.05")
    knn = next(name for name in grid.systems if name.startswith("kNN norm"))
    values = dict(zip((*order, knn, "Random"), (0.9, 0.8, 0.7, 0.6, 0.0), strict=True))
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
    values, replicates = systems.values.copy(), systems.replicates.copy()
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


def _widen(tables, prefix):
    """Make the gap of the lemma grow from label to label."""
    lemma = tables["lemma"]
    labels = [label for label in lemma.grid.parsed if label.startswith(prefix)]
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
    "BCC17-F3L": lambda tables: _widen(tables, "removed"),
    "BCC17-F3R": lambda tables: _widen(tables, "t="),
}


def test_every_empirical_claim_is_perturbed():
    empirical = {c.id for c in claims() if c.topic == TOPIC and c.kind == "empirical"}
    assert empirical - {"BCC17-F2B"} == set(PERTURBATIONS)


@pytest.mark.parametrize("claim", PERTURBATIONS)
def test_a_perturbed_table_changes_the_verdict(recorded, claim):
    before = judge(BY_ID[claim], recorded)
    after = judge(BY_ID[claim], {**recorded, **PERTURBATIONS[claim](recorded)})
    outcome = [part.verdict for part in before.parts], before.verdict
    changed = [part.verdict for part in after.parts], after.verdict
    assert changed != outcome
    if before.verdict in ("yes", "no"):
        assert after.verdict != before.verdict


@pytest.mark.parametrize("claim", sorted(set(CRITERIA) - set(PERTURBATIONS) - {"BCC17-F2B"}))
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


def test_recorded_checks_are_recomputed_and_what_differs_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("RECBIAS_RESULTS", str(tmp_path))

    def compute(dataset, *, worst):
        return [Check("BCC17-T2", "deviation", 3, worst, 1e-12)], {}

    run_checks(compute, "synthetic", parameters={"worst": 0.0}, record="chapter/checks")
    path = tmp_path / "synthetic" / "chapter" / "checks"
    assert recompute_checks(compute, path) == ""

    def changed(dataset, *, worst):
        return [Check("BCC17-T2", "deviation", 3, worst + 1e-3, 1e-12)], {}

    assert recompute_checks(changed, path) == "deviation"
    assert recompute_checks(lambda *args, **kwargs: ([], {}), path) == "0 checks, recorded 1"


# -- what readers see ------------------------------------------------------------------------------


def test_the_scorecard_lists_all_claims_and_totals_classes_apart():
    verdicts = scorecard("ml-1m")
    table = totals(verdicts)
    assert table["all"].to_dict() == {"empirical": 124, "theorem": 45, "definition": 36}
    assert table["not yet"].sum() == 205 - 24


def test_a_scorecard_of_an_unknown_dataset_is_refused():
    with pytest.raises(ConfigError, match="did you mean 'ml-1m'"):
        scorecard("ml1m")


def test_cards_show_every_part_and_escape_text(recorded):
    verdicts = judge_chapter(TOPIC, recorded)
    cards = verdict_cards(verdicts)
    assert cards.count('class="claim"') == 24
    assert "<script" not in cards
    for verdict in verdicts:
        assert f'id="{verdict.claim.id.lower()}"' in cards
