"""The page "The systems": published values, chance, ranges of parameters, and what readers see."""

from __future__ import annotations

import dataclasses
import itertools
import math
import re
from functools import cache
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from recbias import Grid, Results, line_up, load_dataset, run
from recbias._system.streams import stream
from recbias.book.notebooks import list_chapters
from recbias.book.systems import figures, sensitivity, tables, ties, validation
from recbias.book.systems import line_up as systems
from recbias.claims import load_chapter
from recbias.claims.reference import find_reference, references
from recbias.data.datasets import Dataset, dataset_info
from recbias.data.ratings import Ratings, RatingScale
from recbias.errors import ConfigError, MissingData
from recbias.experiment.makers import Table, find_maker
from recbias.experiment.results import load_result
from recbias.protocol.splits import Split
from recbias.protocol.testset import dataset_splits
from recbias.recommenders import System
from recbias.recommenders.line_ups import (
    ablations,
    cited_models,
    line_up_names,
    sensitivity_systems,
    sensitivity_variations,
    tie_rules,
)

PROTOCOL = "AI-AN-AR rel>=4 users=tested"
MEASURES = validation.MEASURES
PUBLISHED = references()["mccrs20"]
STEPS = ablations()


def results_of(values, chosen, *, protocol=PROTOCOL, dataset="ml-1m", split="ready"):
    """Make results with given values; replicates lie closely around them."""
    grid = Grid(dataset, tuple(chosen), (protocol,), MEASURES, split=split)
    rows = [
        {"system": name, "label": protocol, "protocol": protocol, "metric": metric, "value": value,
         "low": value - 1e-4, "high": value + 1e-4, "se": 5e-5, "fold_sd": 0.0, "n_users": 9}
        for name in (system.name for system in chosen)
        for metric, value in values[name].items()
    ]  # fmt: skip
    frame = pd.DataFrame(rows)
    return Results(
        key="key", dataset={"name": dataset, "title": dataset}, grid=grid, values=frame,
        replicates={}, tests=pd.DataFrame(), target_sets=pd.DataFrame(),
    )  # fmt: skip


def chances_of(published, n=200, changed=None):
    """Make statistics of chance around the published values, some of them changed."""
    found = {}
    for metric in MEASURES:
        found["expectation", metric, 0] = published.values["Random"][metric]
        found["s.d.", metric, 0] = 1e-4
        middle = published.values["BPoissMF"][metric]
        for number, value in enumerate(np.linspace(0.5 * middle, 1.5 * middle, n), start=1):
            found["fixed ranking", metric, number] = float(value)
    found |= changed or {}
    index = ("statistic", "metric", "ranking")
    frame = pd.DataFrame([(*names, value) for names, value in found.items()],
                         columns=[*index, "value"])  # fmt: skip
    return Table(key="key", dataset={}, maker_name="systems/chance", given={}, index=index,
                 frame=frame)  # fmt: skip


@pytest.fixture
def chosen():
    return line_up("mccrs20")


@pytest.fixture
def as_published(chosen):
    return {system.name: dict(PUBLISHED.values[system.name]) for system in chosen}


def compare(values, chosen, chances=None):
    values = {name: {m: row[m] for m in MEASURES} for name, row in values.items()}
    return validation.compare(
        results_of(values, chosen), chances or chances_of(PUBLISHED), PUBLISHED
    )


def explained(comparisons, reached=()):
    """Say what explains them, where the changes of these names reach the published values."""
    values = {
        step.system.name: {
            metric: PUBLISHED.values[step.base][metric] * (metric in reached.get(name, ()))
            if (name := step.system.name) in reached
            else 0.0
            for metric in MEASURES
        }
        for step in STEPS
    }
    changed = results_of(values, [step.system for step in STEPS])
    return validation.explained(comparisons, STEPS, changed, PUBLISHED)


# -- published values --------------------------------------------------------------------------


def test_every_system_of_the_line_up_has_published_values(chosen):
    assert set(PUBLISHED.values) == {system.name for system in chosen}
    assert len(chosen) == 16
    for row in PUBLISHED.values.values():
        assert all(0 <= value <= 1 for value in row.values())
        assert len(row) == 8


def test_condensed_lists_of_the_source_add_up():
    """Every item of a condensed list is liked or not, so that the two shares add up to 1."""
    for system, row in PUBLISHED.values.items():
        total = row["condensed P@10"] + row["condensed antiP@10"]
        assert total == pytest.approx(1, abs=2e-5), system


def test_values_are_compared_with_the_same_data_split_and_protocol_only():
    same = ("mccrs20", "ml-1m", "ready", PROTOCOL)
    assert find_reference(*same) == PUBLISHED
    for place, other in enumerate(("bcc17", "ml-100k", "k-fold 5", "TI-AN-AR rel>=4")):
        assert find_reference(*[*same[:place], other, *same[place + 1 :]]) is None


def test_published_values_themselves_are_inside(as_published, chosen):
    found = compare(as_published, chosen)
    assert len(found) == 32
    assert validation.outside(found) == []
    assert validation.verdict(found, {}) == "yes"
    sentence = tables.comparison_sentence(found, {})
    assert "14 of 14 systems score what was published</strong>, in both measures." in sentence
    assert "2 more are chance and stand apart: Random, BPoissMF." in sentence
    assert "lie where chance puts them" in sentence


@pytest.mark.parametrize(
    ("system", "metric", "factor", "inside"),
    [
        ("pLSA", "P@10", 1.039, True),
        ("pLSA", "P@10", 1.041, False),
        ("WRMF", "antiP@10", 0.95, False),
        ("Average rating", "antiP@10", 1.3, True),  # 0.0009 of 0.0031
        ("Average rating", "antiP@10", 1.33, False),
        ("SLIM", "P@10", 0.9, False),
        ("RankSGD", "antiP@10", 1.1, False),
    ],
)
def test_a_measured_value_decides(as_published, chosen, system, metric, factor, inside):
    as_published[system][metric] *= factor
    found = compare(as_published, chosen)
    assert validation.outside(found) == [system] * (not inside)
    assert validation.verdict(found, {}) == ("yes" if inside else "no")
    sentence = tables.comparison_sentence(found, {})
    assert f"{13 + inside} of 14 systems score what was published" in sentence
    told = f"{system} does not ({factor - 1:+.1%} in {metric}); nothing explains it."
    assert (told in sentence.replace("\N{NO-BREAK SPACE}", "")) == (not inside)
    (own,) = [each for each in found if (each.system, each.metric) == (system, metric)]
    assert own.difference == pytest.approx((factor - 1) * PUBLISHED.values[system][metric])


# -- what explains a system that is outside ------------------------------------------------------


def test_what_was_measured_with_one_change_explains_and_nothing_else(as_published, chosen):
    for system in ("SLIM", "RankSGD"):
        as_published[system]["P@10"] *= 1.2
    found = compare(as_published, chosen)
    one = explained(found, {"SLIM, 1": MEASURES})
    assert list(one) == ["SLIM"]
    assert validation.verdict(found, one) == "no"
    both = explained(found, {"SLIM, 1": MEASURES, "RankSGD, 4": MEASURES})
    assert both == {
        "SLIM": "42 % of each profile left out at random, as much as a defect of LibRec's drops",
        "RankSGD": "items of a user by their number",
    }
    assert validation.verdict(found, both) == "partly"
    sentence = tables.comparison_sentence(found, both)
    assert "one change brings it there: 42 % of each profile" in sentence
    assert "nothing explains" not in sentence
    assert re.search(
        r"RankSGD does not \([^)]*\); nothing explains it\.",
        tables.comparison_sentence(found, one),
    )


def test_a_change_has_to_reach_both_measures(as_published, chosen):
    as_published["SLIM"]["P@10"] *= 1.2
    found = compare(as_published, chosen)
    assert explained(found, {"SLIM, 1": ["P@10"]}) == {}
    assert explained(found, {"SLIM, 1": ["antiP@10"]}) == {}
    assert explained(found, {"pLSA (other ties)": MEASURES}) == {}


def test_no_name_is_exempt(as_published, chosen):
    """A system without a change that was measured, and one whose changes all miss."""
    for system in ("GBPR", "ListRankMF"):
        values = {name: dict(row) for name, row in as_published.items()}
        values[system]["P@10"] *= 1.2
        found = compare(values, chosen)
        assert validation.verdict(found, explained(found)) == "no"


def test_what_is_inside_needs_no_explanation(as_published, chosen):
    assert explained(compare(as_published, chosen), {"SLIM, 1": MEASURES}) == {}


# -- chance, which stands apart ------------------------------------------------------------------


@pytest.mark.parametrize("system", [validation.RANDOM, validation.FIXED])
@pytest.mark.parametrize("metric", MEASURES)
def test_our_value_of_a_system_that_is_chance_is_judged(as_published, chosen, system, metric):
    as_published[system][metric] = 0.99
    found = compare(as_published, chosen)
    assert validation.outside(found) == [system]
    assert validation.verdict(found, {}) == "no"
    sentence = tables.comparison_sentence(found, {})
    assert "14 of 14 systems score what was published" in sentence
    assert f"Not where chance puts it: {system}." in sentence


def test_both_systems_that_are_chance_may_fail(as_published, chosen):
    for system in (validation.RANDOM, validation.FIXED):
        as_published[system] = dict.fromkeys(MEASURES, 0.99)
    found = compare(as_published, chosen)
    assert validation.verdict(found, explained(found)) == "no"
    sentence = tables.comparison_sentence(found, {})
    assert "Not where chance puts them: Random, BPoissMF." in sentence


@pytest.mark.parametrize(
    ("statistic", "value", "inside"),
    [
        # The published value is one draw: 2.576 s.d. of 1e-4; ours, equal to it, a mean of ten.
        (("expectation", "P@10", 0), 0.0056238 + 0.8e-4, True),
        (("expectation", "P@10", 0), 0.0056238 + 0.83e-4, False),
        (("expectation", "P@10", 0), 0.0056238 - 0.83e-4, False),
        (("s.d.", "antiP@10", 0), 0.0, True),  # it is exactly the published value
    ],
)
def test_our_mean_over_seeds_scatters_less_than_one_draw(
    as_published, chosen, statistic, value, inside
):
    chances = chances_of(PUBLISHED, changed={statistic: value})
    found = compare(as_published, chosen, chances)
    assert validation.outside(found) == ["Random"] * (not inside)
    (own,) = [e for e in found if (e.system, e.metric) == ("Random", "P@10")]
    published, ours = own.parts
    assert published.most - published.least == pytest.approx(2 * 2.5758e-4, rel=1e-4)
    assert ours.most - ours.least == pytest.approx(2 * 2.5758e-4 / 10**0.5, rel=1e-4)


@pytest.mark.parametrize(("shift", "inside"), [(2.5e-4, True), (2.6e-4, False)])
def test_the_published_value_of_random_is_judged_apart_from_ours(
    as_published, chosen, shift, inside
):
    expectation = PUBLISHED.values["Random"]["P@10"] + shift
    as_published["Random"]["P@10"] = expectation
    chances = chances_of(PUBLISHED, changed={("expectation", "P@10", 0): expectation})
    found = compare(as_published, chosen, chances)
    (own,) = [e for e in found if (e.system, e.metric) == ("Random", "P@10")]
    assert [part.inside for part in own.parts] == [inside, True]
    assert own.inside is inside


def shifted_rankings(shift):
    chances = chances_of(PUBLISHED)
    return {
        ("fixed ranking", metric, number): value + shift * PUBLISHED.values["BPoissMF"][metric]
        for metric in MEASURES
        for number, value in enumerate(validation.fixed_rankings(chances, metric), start=1)
    }


@pytest.mark.parametrize(("shift", "inside"), [(0.0, True), (2.5, False)])
def test_the_untrained_system_is_judged_by_where_fixed_rankings_lie(
    as_published, chosen, shift, inside
):
    moved = shifted_rankings(shift)
    found = compare(as_published, chosen, chances_of(PUBLISHED, changed=moved))
    assert validation.outside(found) == ([] if inside else ["BPoissMF"])
    (parts,) = {e.parts for e in found if e.system == "BPoissMF" and e.metric == "P@10"}
    values = np.sort([value for names, value in moved.items() if names[1] == "P@10"])
    for part in parts:
        # 200 values: the central 99 % leave out one at each end
        assert values[0] < part.least < values[1]
        assert values[-2] < part.most < values[-1]


# -- what a reader sees --------------------------------------------------------------------------


def test_the_width_of_the_tolerance_is_shown_where_its_floor_decides(as_published, chosen):
    found = compare(as_published, chosen)
    html = tables.comparison_html(found).replace("\N{NO-BREAK SPACE}", " ")
    floors = [
        each
        for each in found
        if not each.is_chance and PUBLISHED.values[each.system][each.metric] < 0.025
    ]
    assert html.count("(of ± ") == len(floors)
    assert "<td>0.0 % (of ± 32 %)</td>" in html  # 0.001 of 0.003145
    sentence = tables.floor_sentence(found).replace("\N{NO-BREAK SPACE}", " ")
    assert f"For {len(floors)} of 28 values 4 % is less than 0.001" in sentence
    assert "at most ± 32 % for antiP@10 of Average rating" in sentence
    assert tables.floor_sentence([e for e in found if e.system == "WRMF"]) == ""


def test_the_table_shows_each_number_and_escapes_text(as_published, chosen):
    measured = results_of(
        {name: {m: row[m] for m in MEASURES} for name, row in as_published.items()}, chosen
    )
    changed = results_of(
        {step.system.name: dict.fromkeys(MEASURES, 0.0) for step in STEPS},
        [step.system for step in STEPS],
    )
    asked = (measured, chances_of(PUBLISHED), PUBLISHED, STEPS, changed)
    html = tables.published_html(*asked)
    main, _, of_chance = html.partition("chance puts it at")
    assert main.count("<tr>") == 1 + 14 + 1  # the last is the head of the second table
    assert of_chance.count("<tr>") == 2 * 2 * 2
    assert PUBLISHED.files in html
    for system, row in as_published.items():
        assert f"<strong>{system}</strong>" in html
        assert all(f"<td>{row[metric]:.5f}</td>" in html for metric in MEASURES)
        assert (f"<strong>{system}</strong>" in of_chance) == (system in ("Random", "BPoissMF"))


# -- chance ------------------------------------------------------------------------------------


def tiny(seed=0, n_users=7, n_items=14):
    """Make a split with users of few candidates and an item without training ratings."""
    rng = np.random.default_rng(seed)
    cells = rng.random((n_users, n_items))
    train, test = cells < 0.4, cells > 0.75
    train[:, -1] = False
    train[0, : n_items - 4] = True
    test[0, : n_items - 4] = False
    stars = rng.integers(1, 6, (n_users, n_items)).astype(float)

    def part(mask):
        user, item = np.nonzero(mask)
        return Ratings(
            name="tiny", user=user.astype(np.int32), item=item.astype(np.int32),
            value=stars[mask], timestamp=None, user_ids=np.arange(n_users),
            item_ids=np.arange(n_items), scale=RatingScale(1, 5, 1),
        )  # fmt: skip

    tested = np.flatnonzero(test.any(axis=0)).astype(np.int32)
    return Split(part(train), part(test), tested, 0, "ready")


@pytest.mark.parametrize("positive", [True, False])
def test_mean_and_variance_of_random_hits_are_those_of_all_lists(positive):
    """Enumerate every list of one user, and add up users as independent draws."""
    split = tiny()
    known = np.flatnonzero(split.train.item_counts() > 0)
    means, variances = [], []
    for user in range(split.train.n_users):
        seen = split.train.item[split.train.user == user]
        targets = np.setdiff1d(known, seen)
        rows = split.test.user == user
        wanted = split.test.item[rows & ((split.test.value >= 4) == positive)]
        hits = [
            len(set(shown) & set(wanted.tolist())) / 10
            for shown in itertools.combinations(targets.tolist(), min(10, len(targets)))
        ]
        means.append(np.mean(hits))
        variances.append(np.var(hits))
    mean, variance = validation._random_hits(split, 4.0, positive)
    assert mean == pytest.approx(np.mean(means), rel=1e-12)
    assert variance == pytest.approx(np.sum(variances) / len(means) ** 2, rel=1e-12)


@cache
def world():
    ratings = load_dataset("synthetic").ratings
    return Dataset(ratings.take(np.arange(len(ratings)) % 20 == 0), dataset_info("synthetic"), "")


PARAMETERS = {"split": "k-fold 2", "seed": 3, "min_rating": 4.0, "n_rankings": 2}


def test_fixed_rankings_score_what_a_grid_measures(monkeypatch, tmp_path):
    """The same ranking through the whole experiment; ties apart, which continuous scores lack."""
    dataset = world()
    index, frame = validation.chance.function(dataset, **PARAMETERS)
    assert len(frame) == 4 + 2 * 2
    found = frame.set_index(list(index))["value"]
    system = System("fixed", "UntrainedPoissonFactorisation", {"seed": 2})
    for metric, positive in zip(MEASURES, (True, False), strict=True):
        by_hand = []
        for fold in dataset_splits(dataset, "k-fold 2", seed=3):
            scores = system.build().fit(fold.train).score(np.arange(fold.train.n_users))
            scores[fold.train.user, fold.train.item] = np.nan
            top = np.argsort(np.where(np.isnan(scores), np.inf, -scores), axis=1)[:, :10]
            shown = np.zeros(scores.shape, bool)
            np.put_along_axis(shown, top, True, axis=1)
            shown &= ~np.isnan(scores)
            hits = shown[fold.test.user, fold.test.item] & ((fold.test.value >= 4) == positive)
            by_hand.append(hits.sum() / 10 / len(np.unique(fold.test.user)))
        assert found["fixed ranking", metric, 2] == pytest.approx(np.mean(by_hand), rel=1e-12)
    assert found["fixed ranking", "P@10", 1] != found["fixed ranking", "P@10", 2]


def test_chance_is_recorded_and_verified(monkeypatch, tmp_path):
    monkeypatch.setenv("RECBIAS_RESULTS", str(tmp_path))
    monkeypatch.setattr("recbias.experiment.makers.load_dataset", lambda *_, **__: world())
    made = find_maker("systems/chance")("synthetic", **PARAMETERS, name="systems/chance")
    stored = load_result(tmp_path / "synthetic" / "systems" / "chance")
    np.testing.assert_array_equal(
        validation.fixed_rankings(stored, "P@10"), validation.fixed_rankings(made, "P@10")
    )
    assert len(validation.fixed_rankings(stored, "P@10")) == 2
    assert stored.verify(stored.recompute()).differing == ()

    def changed(rows, shift):
        frame = stored.frame.copy()
        frame.loc[rows(frame), "value"] += shift
        return stored.verify(dataclasses.replace(stored, frame=frame)).differing

    assert changed(lambda frame: frame["ranking"] == 1, 1e-5) == (
        "fixed ranking P@10 1: value",
        "fixed ranking antiP@10 1: value",
    )
    assert changed(lambda frame: frame["statistic"] == "s.d.", 1e-13) == ()
    fewer = dataclasses.replace(stored, frame=stored.frame.iloc[:-1])
    assert stored.verify(fewer).differing


# -- which protocol ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dataset", "threshold"),
    [("ml-1m", 4), ("cm100k", 3), ("filmtrust", 3), ("synthetic", 4), ("lastfm-1k", 3)],
)
def test_what_is_liked(dataset, threshold):
    assert systems.relevance_threshold(dataset) == threshold


def test_implicit_feedback_likes_everything(tmp_path):
    table = tmp_path / "plays.csv"
    table.write_text("user_id,item_id\n1,1\n1,2\n2,1\n")
    assert systems.relevance_threshold(str(table)) == 1


def test_the_split_is_the_authors_where_the_data_or_the_record_has_it(monkeypatch):
    assert systems.published_split("synthetic") == "k-fold 5"

    def nothing(*_, **__):
        raise MissingData("not here")

    monkeypatch.setattr(systems, "load_dataset", nothing)
    with pytest.raises(MissingData):
        systems.published_split("synthetic")
    if "systems/mccrs20.json" in recorded():
        assert systems.published_split("ml-1m") == "ready"


def recorded():
    folder = list_chapters()[0].root / "data" / "recorded" / "ml-1m"
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*.json")}


def test_only_made_data_have_the_short_page():
    assert systems.is_made_here("synthetic")
    assert not systems.is_made_here("ml-1m")
    assert not systems.is_made_here("my/table.csv")


def test_a_measurement_has_both_measures_of_all_systems(monkeypatch, tmp_path):
    monkeypatch.setenv("RECBIAS_CELLS", str(tmp_path / "cells"))
    monkeypatch.setenv("RECBIAS_RESULTS", str(tmp_path / "results"))
    asked = (System("Popularity", "Popularity"),)
    found = systems.choose_setup("synthetic").measure("x", asked)
    same = run(Grid("synthetic", asked, (PROTOCOL,), MEASURES, split="ratio 0.2", seed=1))
    pd.testing.assert_frame_equal(found.values, same.values)
    assert not found.replicates
    assert set(load_chapter("systems", "synthetic")) == {"x"}


def test_what_is_left_open_is_chosen_by_the_data():
    full = systems.choose_setup("synthetic", extent="full", min_rating=5)
    assert (full.split, full.short, full.min_rating) == ("k-fold 5", False, 5)
    assert systems.choose_setup("synthetic", split="k-fold 2").split == "k-fold 2"
    words = {systems.choose_setup("synthetic", split=s).split_words
             for s in ("ratio 0.2", "k-fold 5", "ready")}  # fmt: skip
    assert words == {
        "one, with 20 % of the ratings in test", "5 folds", "the folds that the authors published",
    }  # fmt: skip
    own = systems.choose_setup("synthetic", extent="full", split="ready")
    assert own.published is None
    published = dataclasses.replace(own, dataset="ml-1m")
    assert published.published == PUBLISHED
    assert dataclasses.replace(published, min_rating=5.0).published is None


# -- variations --------------------------------------------------------------------------------


def test_cited_models_and_ablations_have_other_classes_or_parameters(chosen):
    own = {system.name: system for system in chosen}
    for change in (*cited_models(), *ablations()):
        assert change.system.name not in own
        base = own[change.base]
        assert (base.algorithm, base.parameters) != (
            change.system.algorithm,
            change.system.parameters,
        )
    assert {"SLIM", "RankSGD", "ListRankMF"} < {change.base for change in ablations()}
    assert len({change.system.name for change in (*cited_models(), *ablations())}) == len(
        (*cited_models(), *ablations())
    )


def test_a_cited_model_takes_over_parameters_within_its_range(chosen):
    own = {system.name: system for system in chosen}
    by_base = {change.base: change.system for change in cited_models(min_rating=3)}
    assert by_base["WBPR"].parameters["n_factors"] == own["WBPR"].parameters["n_factors"]
    assert by_base["GBPR"].parameters["group_size"] == own["GBPR"].parameters["group_size"]
    assert by_base["GBPR"].parameters["group_weight"] <= 1 < own["GBPR"].parameters["group_weight"]
    assert by_base["SLIM"].parameters["encoding"] == "graded-zero>=3"


def test_the_short_page_moves_each_parameter_once():
    ways = sensitivity_variations()
    short = sensitivity.chosen_variations("mccrs20", short=True)
    assert list(sensitivity.chosen_variations("mccrs20")) == list(ways)
    places = [(way.base, way.parameter) for way in short.values()]
    assert len(set(places)) == len(places)
    assert set(places) == {(way.base, way.parameter) for way in ways.values()}


@pytest.fixture
def moved(chosen):
    """One system moved far up by one parameter and down by another."""
    ways = dict(sensitivity_variations())
    everything = [*chosen, *sensitivity_systems()]
    values = {system.name: {"P@10": 0.1 + 0.01 * place, "antiP@10": 0.0}
              for place, system in enumerate(chosen)}  # fmt: skip
    for name, way in ways.items():
        values[name] = dict(values[way.base])
    values["pLSA n_topics=50"]["P@10"] = 0.9
    values["pLSA n_iterations=50"]["P@10"] = 0.01
    found = results_of(values, everything)
    return sensitivity.values_of_variations(found, chosen, ways, metric="P@10")


def test_ranks_count_the_others_at_their_own_settings(moved, chosen):
    ranks = moved.set_index(["system", "parameter", "setting"])["rank"]
    assert [ranks[system.name, "", ""] for system in chosen] == list(range(16, 0, -1))
    assert ranks["pLSA", "n_topics", "50"] == 1
    assert ranks["pLSA", "n_topics", "5"] == ranks["pLSA", "", ""]
    assert ranks["pLSA", "n_iterations", "50"] == 16
    assert len(moved) == 16 + len(sensitivity_variations())


def test_spans_are_the_ends_and_name_what_moves_most(moved, chosen):
    found = sensitivity.spans(moved, chosen)
    assert found.index[0] == chosen[-1].name  # the best at its own settings
    row = found.loc["pLSA"]
    assert (row["least"], row["most"]) == (0.01, 0.9)
    assert (row["best"], row["rank"], row["worst"]) == (1, 10, 16)
    assert row["strongest"] == "n_topics"
    assert row["moved"] == "n_topics 10 → 5, 20, 50; n_iterations 100 → 50, 200"
    still = found.loc["Random"]
    assert still["least"] == still["own"] == still["most"]
    assert still["strongest"] == still["moved"] == ""
    html = tables.spans_html(found, "P@10")
    assert html.count("<tr>") == 17
    assert "n_topics 10 → 5, 20, 50" in html


def test_the_figure_of_ranges_has_a_row_per_system(moved, chosen):
    found = sensitivity.spans(moved, chosen)
    single = SimpleNamespace(dataset={"name": "x"})
    figure = figures.sensitivity(single, moved, chosen, metric="P@10")
    assert "pLSA\nbetween rank 1 and rank 16 of 16" in figure.title
    left, right = figure.picture().axes
    assert [tick.get_text() for tick in left.get_yticklabels()] == list(found.index)
    for axis, (low, own, high) in zip(
        (left, right), (("least", "own", "most"), ("best", "rank", "worst")), strict=True
    ):
        ends = np.array([bars.get_segments()[0][:, 0] for bars in axis.collections])
        np.testing.assert_allclose(ends, found[[low, high]].to_numpy(float))
        drawn = [line.get_xdata()[0] for line in axis.lines if line.get_marker() == "o"]
        np.testing.assert_allclose(drawn, found[own].to_numpy(float))
    assert left.yaxis_inverted()


# -- the page ----------------------------------------------------------------------------------


def page():
    (found,) = [chapter for chapter in list_chapters() if chapter.name == "systems"]
    return found


def test_the_page_is_in_the_book_and_keeps_its_own_results():
    summaries = {chapter.name: chapter.is_summary for chapter in list_chapters()}
    assert summaries["systems"] is False
    assert summaries["line_ups"] is summaries["classes"] is True
    assert summaries["scorecard"] is True
    parameters = {parameter.name: parameter for parameter in page().parameters()}
    assert next(iter(parameters)) == "dataset"
    assert parameters["min_rating"].optional
    assert parameters["min_rating"].kind == "float"
    assert parameters["split"].optional


def test_the_page_titles_every_line_up():
    assert set(systems.TITLES) == set(line_up_names())


def test_every_result_of_the_page_is_kept_under_its_name():
    cells = page().notebook().cells
    code = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
    names = set(re.findall(r'setup\.measure\("(\w+)"', code)) | {systems.LINE_UP}
    names |= set(re.findall(r"setup\.(chances|ties)\(", code)) - {"chances"} | {"chance"}
    assert names == {
        "mccrs20", "chance", "ties", "ablations", "models", "one_name", "sensitivity",
    }  # fmt: skip
    if "systems/mccrs20.json" in recorded():
        assert {f"systems/{name}.json" for name in names} <= recorded()


def test_the_recorded_verdict_follows_from_the_recorded_values():
    found = load_chapter("systems", "ml-1m")
    measured, chances = found["mccrs20"], found["chance"]
    published = find_reference("mccrs20", "ml-1m", measured.grid.split, PROTOCOL)
    comparisons = validation.compare(measured, chances, published)
    reasons = validation.explained(comparisons, ablations(), found["ablations"], published)
    assert validation.verdict(comparisons, reasons) in ("yes", "partly")
    inside = [c for c in comparisons if c.inside and not c.is_chance]
    for each in inside:
        row = (measured.values["system"] == each.system) & (
            measured.values["metric"] == each.metric
        )
        values = measured.values.assign(
            value=np.where(
                row,
                each.published + 1.01 * validation.tolerance(each.published),
                measured.values["value"],
            )
        )
        other = dataclasses.replace(measured, values=values)
        assert each.system in validation.outside(validation.compare(other, chances, published))
    assert all(math.isfinite(each.difference) for each in comparisons)


def test_what_is_outside_is_explained_by_an_ablation():
    """With one thing changed as LibRec has it, the recorded value is the published one."""
    found = load_chapter("systems", "ml-1m")
    measured, ablated = found["mccrs20"], found["ablations"]
    published = find_reference("mccrs20", "ml-1m", measured.grid.split, PROTOCOL)
    comparisons = validation.compare(measured, found["chance"], published)
    missed = validation.outside(comparisons)
    assert missed == ["SLIM", "RankSGD"]
    reasons = validation.explained(comparisons, ablations(), ablated, published)
    assert set(reasons) == set(missed)
    html = tables.changes_html(ablations(), measured, ablated, published, judged=True)
    assert html.count("verdict yes") > html.count("verdict no") > 0
    assert "verdict" not in tables.changes_html(ablations(), measured, ablated, published)
    # Without what was measured, nothing explains them.
    far = dataclasses.replace(ablated, values=ablated.values.assign(value=0.0))
    assert validation.explained(comparisons, ablations(), far, published) == {}


# -- ties ----------------------------------------------------------------------------------------


SMALL_WORLD = "world(relation=-0.6,users=300,items=150,density=0.04,liked=5)"
TIES = {"split": "k-fold 2", "seed": 3, "min_rating": 4.0, "world": SMALL_WORLD}


@pytest.fixture(scope="module")
def tied():
    index, frame, drawn = ties.ties.function(world(), **TIES)
    return Table(
        key="key", dataset={}, maker_name="systems/ties", given=TIES, index=index, frame=frame,
        replicates=drawn,
    )  # fmt: skip


def lists_by_hand(fold, reading):
    """Fit pLSA and list each tested user's items; ties as in the file, missing scores as 0 or not.

    Yields the user, the list, and how many of its items are above all that tie with the last.
    """
    system = {step.base: step.system for step in tie_rules(min_rating=5)}["pLSA"]
    model = system.build().fit(fold.train, rng=stream(TIES["seed"], "ties", "pLSA"))
    scores = model.score(np.arange(fold.train.n_users)).astype(float)
    first = {item: row for row, item in reversed(list(enumerate(fold.train.item.tolist())))}
    for user in np.unique(fold.test.user):
        own = set(fold.train.item[fold.train.user == user].tolist())
        worth = {item: scores[user, item] for item in first if item not in own}
        if reading == "LibRec" and own:  # who is not in the training file has no list
            worth = {item: 0.0 if math.isnan(score) else score for item, score in worth.items()}
        ranked = sorted(
            (item for item, score in worth.items() if not math.isnan(score)),
            key=lambda item: (-worth[item], first[item]),
        )
        least = worth[ranked[:10][-1]] if ranked else 0.0
        yield user, ranked[:10], sum(worth[item] > least for item in ranked)


@pytest.mark.parametrize("reading", ties.READINGS)
def test_the_table_of_ties_counts_what_lists_by_hand_hold(tied, reading):
    (fold,) = dataset_splits(load_dataset(SMALL_WORLD), "ratio 0.2", seed=3)
    train, test = fold.train, fold.test
    likers = set(train.user[train.value >= 5].tolist())
    exact, sure, n = ({"all": 0, "without likes": 0} for _ in range(3))
    for user, items, n_sure in lists_by_hand(fold, reading):
        disliked = set(test.item[(test.user == user) & (test.value < 5)].tolist())
        for users in exact if user not in likers else ["all"]:
            exact[users] += len(disliked & set(items))
            sure[users] += len(disliked & set(items[:n_sure]))
            n[users] += 1
    for users in n:
        row = tied.select(
            data="world", system="pLSA", reading=reading, users=users, metric="antiP@10"
        ).iloc[0]
        assert row["n_users"] == n[users]
        if reading == "LibRec":
            assert row["value"] == pytest.approx(exact[users] / (10 * n[users]), rel=1e-12)
            assert row["value"] > 0
        else:  # ties at the end of a list are at random
            assert sure[users] / (10 * n[users]) <= row["value"] + 1e-12
            assert row["value"] <= (exact[users] + 5) / (10 * n[users])
            assert (row["value"] > 0) == (users == "all")


def test_facts_about_data_are_those_of_scipy_and_a_count(tied):
    shares, relations = [], []
    for fold in dataset_splits(world(), "k-fold 2", seed=3):
        items, first = np.unique(fold.train.item, return_index=True)
        relations.append(scipy.stats.spearmanr(first, fold.train.item_counts()[items])[0])
        likers = set(fold.train.user[fold.train.value >= 4].tolist())
        tested = set(fold.test.user.tolist())
        shares.append(len(tested - likers) / len(tested))
    facts = tied.select(data="page").set_index("metric")["value"]
    assert facts["file order and popularity"] == pytest.approx(np.mean(relations), rel=1e-12)
    assert facts["share of users"] == pytest.approx(np.mean(shares), rel=1e-12)


@pytest.mark.slow
def test_the_world_of_the_page_has_a_third_without_likes_and_dislikes_what_is_popular():
    """And there the tie rule decides: LibRec's lists hold more disliked items, by intervals."""
    made = ties.ties("synthetic", **{**TIES, "world": ties.WORLD})
    share = made.select(data="world", metric="share of users")["value"].iloc[0]
    assert share == pytest.approx(1 / 3, abs=0.05)
    relation = made.select(data="world", metric="file order and popularity")["value"].iloc[0]
    assert relation < -0.6
    sentence = ties.ties_sentence(made)
    for system in ("User kNN", "SLIM", "pLSA"):
        assert re.search(rf"{system} from 0\.\d+ to 0\.\d+ \(by 0\.\d+ to 0\.\d+\)", sentence)
    assert "Popularity from" not in sentence
    html = ties.ties_html(made)
    assert html.count("<tr>") == 13
    assert html.count("LibRec") == 6


def changed_ties(tied, system, reading, value, replicates=None):
    """Give one anti-precision another value, and replicates close to it."""
    frame, drawn = tied.frame.copy(), tied.replicates.copy()
    row = tied.select(
        data="world", system=system, reading=reading, users="all", metric="antiP@10"
    ).index[0]
    frame.loc[row, "value"] = value
    drawn[row] = value if replicates is None else replicates
    return dataclasses.replace(tied, frame=frame, replicates=drawn)


def test_the_sentence_follows_the_numbers(tied):
    same = tied
    for system in dict.fromkeys(tied.frame["system"]):
        for reading in ties.READINGS if system else ():
            same = changed_ties(same, system, reading, 0.01)
    assert "There the tie rule moves antiP@10 of no system." in ties.ties_sentence(same)
    moved = changed_ties(same, "pLSA", "LibRec", 0.02)
    text = ties.ties_sentence(moved)
    assert "moves antiP@10 of pLSA from 0.0100 to 0.0200 (by 0.0100 to 0.0100)." in text
    assert "SLIM and pLSA (undecided; with LibRec&#x27;s rule SLIM)" in text
    noise = np.linspace(0.005, 0.035, tied.replicates.shape[1])
    open_ = changed_ties(same, "pLSA", "LibRec", 0.02, noise)
    assert "moves antiP@10 of no system" in ties.ties_sentence(open_)


def test_ties_are_recorded_verified_and_asked_of_a_world_with_preferences(monkeypatch, tmp_path):
    monkeypatch.setenv("RECBIAS_RESULTS", str(tmp_path))
    monkeypatch.setattr("recbias.experiment.makers.load_dataset", lambda *_, **__: world())
    find_maker("systems/ties")("synthetic", **TIES, name="systems/ties")
    stored = load_result(tmp_path / "synthetic" / "systems" / "ties")
    assert ties.ties_sentence(stored)
    assert stored.verify(stored.recompute()).differing == ()
    frame = stored.frame.copy()
    frame.loc[5, "value"] += 1e-4
    assert stored.verify(dataclasses.replace(stored, frame=frame)).differing
    with pytest.raises(ConfigError, match="has no preferences"):
        ties.ties.function(world(), **{**TIES, "world": "world(alpha=1)"})
