"""The page "The systems": published values, chance, ranges of parameters, and what readers see."""

from __future__ import annotations

import dataclasses
import itertools
import math
import re
from functools import cache

import numpy as np
import pandas as pd
import pytest

from recbias import Grid, Results, line_up, load_dataset, run
from recbias.chapters import list_chapters
from recbias.claims import load_chapter, sensitivity, showing, systems, validation
from recbias.claims.reference import find_reference, references
from recbias.datasets import Dataset, dataset_info
from recbias.errors import MissingData
from recbias.makers import Table, run_maker
from recbias.plotting import plot_ranges
from recbias.ratings import Ratings, RatingScale
from recbias.recommenders import System
from recbias.recommenders.line_ups import (
    ablations,
    cited_models,
    line_up_names,
    sensitivity_systems,
    sensitivity_variations,
)
from recbias.results import load_result
from recbias.splits import Split
from recbias.testset import dataset_splits

PROTOCOL = "AI-AN-AR rel>=4 users=tested"
MEASURES = validation.MEASURES
PUBLISHED = references()["mccrs20"]


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
    assert validation.verdict(found) == "yes"
    assert "16 of 16 systems" in showing.comparison_sentence(found)


@pytest.mark.parametrize(
    ("system", "metric", "factor", "verdict"),
    [
        ("pLSA", "P@10", 1.039, "yes"),
        ("pLSA", "P@10", 1.041, "no"),
        ("WRMF", "antiP@10", 0.95, "no"),
        ("Average rating", "antiP@10", 1.3, "yes"),  # 0.0009 of 0.0031
        ("Average rating", "antiP@10", 1.33, "no"),
        ("SLIM", "P@10", 0.9, "partly"),
        ("RankSGD", "antiP@10", 1.1, "partly"),
        ("Random", "P@10", 2.0, "yes"),  # the expectation counts
        ("BPoissMF", "P@10", 2.0, "yes"),  # the published value counts
    ],
)
def test_a_measured_value_decides(as_published, chosen, system, metric, factor, verdict):
    as_published[system][metric] *= factor
    found = compare(as_published, chosen)
    assert validation.verdict(found) == verdict
    assert validation.outside(found) == ([] if verdict == "yes" else [system])
    sentence = showing.comparison_sentence(found)
    assert f">{verdict}<" in sentence
    assert ("Nothing explains" in sentence) == (verdict == "no")
    (own,) = [each for each in found if (each.system, each.metric) == (system, metric)]
    assert own.difference == pytest.approx((factor - 1) * PUBLISHED.values[system][metric])


def test_three_named_systems_may_be_outside_and_no_other(as_published, chosen):
    for system in validation.MAY_BE_OUTSIDE:
        as_published[system]["P@10"] *= 1.2
    assert validation.verdict(compare(as_published, chosen)) == "partly"
    as_published["GBPR"]["P@10"] *= 1.2
    assert validation.verdict(compare(as_published, chosen)) == "no"


@pytest.mark.parametrize(
    ("statistic", "value", "system"),
    [
        (("expectation", "P@10", 0), 0.0056238 + 2.5e-4, None),
        (("expectation", "P@10", 0), 0.0056238 + 2.6e-4, "Random"),
        (("s.d.", "antiP@10", 0), 0.0, None),  # it is exactly the published value
    ],
)
def test_random_is_judged_by_its_expectation(as_published, chosen, statistic, value, system):
    chances = chances_of(PUBLISHED, changed={statistic: value})
    assert validation.outside(compare(as_published, chosen, chances)) == [system] * bool(system)


@pytest.mark.parametrize(("shift", "inside"), [(0.0, True), (2.5, False)])
def test_the_untrained_system_is_judged_by_where_fixed_rankings_lie(
    as_published, chosen, shift, inside
):
    chances = chances_of(PUBLISHED)
    values = {metric: validation.fixed_rankings(chances, metric) for metric in MEASURES}
    moved = {
        ("fixed ranking", metric, number): value + shift * PUBLISHED.values["BPoissMF"][metric]
        for metric in MEASURES
        for number, value in enumerate(values[metric], start=1)
    }
    found = compare(as_published, chosen, chances_of(PUBLISHED, changed=moved))
    assert validation.outside(found) == ([] if inside else ["BPoissMF"])
    (part,) = {e.part for e in found if e.system == "BPoissMF" and e.metric == "P@10"}
    values = np.sort(values["P@10"]) + shift * part.value
    # 200 values: the central 99 % leave out one at each end
    assert values[0] < part.least < values[1]
    assert values[-2] < part.most < values[-1]


def test_the_table_shows_each_number_and_escapes_text(as_published, chosen):
    measured = results_of(
        {name: {m: row[m] for m in MEASURES} for name, row in as_published.items()}, chosen
    )
    html = showing.published_html(measured, chances_of(PUBLISHED), PUBLISHED)
    assert html.count("<tr>") == 33
    assert PUBLISHED.files in html
    assert "No values were published" in showing.published_html(
        measured, chances_of(PUBLISHED), None
    )
    for system, row in as_published.items():
        assert system in html
        assert all(f"<td>{row[metric]:.5f}</td>" in html for metric in MEASURES)
    assert html.count("fixed rankings; published 0.00") == 2
    assert html.count("sampling range; expectation 0.0056") == 1


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
    index, frame = validation.chance(dataset, **PARAMETERS)
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
    monkeypatch.setattr("recbias.makers.load_dataset", lambda *_, **__: world())
    made = run_maker("systems/chance", "synthetic", parameters=PARAMETERS, record="systems/chance")
    stored = load_result(tmp_path / "synthetic" / "systems" / "chance")
    np.testing.assert_array_equal(
        validation.fixed_rankings(stored, "P@10"), validation.fixed_rankings(made, "P@10")
    )
    assert len(validation.fixed_rankings(stored, "P@10")) == 2
    assert stored.compare(stored.recompute()).differing == ()

    def changed(rows, shift):
        frame = stored.frame.copy()
        frame.loc[rows(frame), "value"] += shift
        return stored.compare(dataclasses.replace(stored, frame=frame)).differing

    assert changed(lambda frame: frame["ranking"] == 1, 1e-5) == (
        "fixed ranking P@10 1: value",
        "fixed ranking antiP@10 1: value",
    )
    assert changed(lambda frame: frame["statistic"] == "s.d.", 1e-13) == ()
    fewer = dataclasses.replace(stored, frame=stored.frame.iloc[:-1])
    assert stored.compare(fewer).differing


# -- which protocol ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dataset", "threshold"),
    [("ml-1m", 4), ("cm100k", 3), ("filmtrust", 3), ("synthetic", 4), ("lastfm-1k", 3)],
)
def test_what_is_liked(dataset, threshold):
    assert systems.liked_from(dataset) == threshold


def test_implicit_feedback_likes_everything(tmp_path):
    table = tmp_path / "plays.csv"
    table.write_text("user_id,item_id\n1,1\n1,2\n2,1\n")
    assert systems.liked_from(str(table)) == 1


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
    found = systems.measure(
        "x",
        asked,
        dataset="synthetic",
        protocol=PROTOCOL,
        split="ratio 0.2",
        seed=1,
        workers=1,
    )
    same = run(Grid("synthetic", asked, (PROTOCOL,), MEASURES, split="ratio 0.2", seed=1))
    pd.testing.assert_frame_equal(found.values, same.values)
    assert not found.replicates
    assert set(load_chapter("systems", "synthetic")) == {"x"}


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
    assert {change.base for change in ablations()} == set(validation.MAY_BE_OUTSIDE)
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
    html = showing.spans_html(found, "P@10")
    assert html.count("<tr>") == 17
    assert "n_topics 10 → 5, 20, 50" in html


def test_the_figure_of_ranges_has_a_row_per_system(moved, chosen):
    found = sensitivity.spans(moved, chosen)
    left, right = plot_ranges(found, metric="P@10").axes
    assert [tick.get_text() for tick in left.get_yticklabels()] == list(found.index)
    for axis, (low, own, high) in zip(
        (left, right), (("least", "own", "most"), ("best", "rank", "worst")), strict=True
    ):
        (bars,) = axis.collections
        ends = np.array([path[:, 0] for path in bars.get_segments()])
        np.testing.assert_allclose(ends, found[[low, high]].to_numpy(float))
        np.testing.assert_allclose(axis.lines[0].get_xdata(), found[own].to_numpy(float))
    assert left.yaxis_inverted()


# -- the page ----------------------------------------------------------------------------------


def page():
    (found,) = [chapter for chapter in list_chapters() if chapter.name == "systems"]
    return found


def test_the_page_is_in_the_book_and_keeps_its_own_results():
    summaries = {chapter.name: chapter.is_summary for chapter in list_chapters()}
    assert summaries["systems"] is False
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
    names = set(re.findall(r'page\.measure\("(\w+)"', code)) | {systems.LINE_UP}
    names |= set(re.findall(r'record="systems/(\w+)"', code))
    assert names == {"mccrs20", "chance", "ablations", "models", "one_name", "sensitivity"}
    if "systems/mccrs20.json" in recorded():
        assert {f"systems/{name}.json" for name in names} <= recorded()


def test_the_recorded_verdict_follows_from_the_recorded_values():
    found = load_chapter("systems", "ml-1m")
    measured, chances = found["mccrs20"], found["chance"]
    published = find_reference("mccrs20", "ml-1m", measured.grid.split, PROTOCOL)
    comparisons = validation.compare(measured, chances, published)
    assert validation.verdict(comparisons) in ("yes", "partly")
    inside = [c for c in comparisons if c.inside and c.rule == "tolerance"]
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
    missed = validation.outside(validation.compare(measured, found["chance"], published))
    assert missed == ["SLIM", "RankSGD"]
    near = {
        change.base
        for change in ablations()
        if all(
            validation.is_near(
                ablated[change.system.name, PROTOCOL, metric].value,
                published.values[change.base][metric],
            )
            for metric in MEASURES
        )
    }
    assert set(missed) <= near
    html = showing.changes_html(ablations(), measured, ablated, published, judged=True)
    assert html.count("verdict yes") == 3  # SLIM and RankSGD in one way each, ListRankMF as it is
    assert "verdict" not in showing.changes_html(ablations(), measured, ablated, published)
