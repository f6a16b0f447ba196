"""The three pages on systems as readers get them: what is said where, and what they list."""

from __future__ import annotations

import html
import re

import nbformat
import numpy as np
import pandas as pd
import pytest

from recbias import Grid, Results
from recbias.book import findings
from recbias.book.figures import use_book_style
from recbias.book.notebooks import find_chapter, run_chapter
from recbias.book.systems import figures, readings, tables
from recbias.book.systems import line_up as systems
from recbias.claims import load_chapter
from recbias.recommenders import algorithm, algorithms, line_up
from recbias.recommenders.line_ups import ablations, cited_models, line_up_names, one_name_systems

PAGES = ("systems", "line_ups", "classes")
PROTOCOL = "AI-AN-AR rel>=4 users=tested"
SPEAKS_OF_PUBLISHED = re.compile(
    r"score what was published|±|allowed all the same|>agrees<|>published<|brings it there"
    r"|nothing explains it|where chance puts|as they were published"
)
"""What can only be said, or headed, where there are published values."""


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Run the pages on the recorded results of two data sets; give all that a reader sees."""
    folder = tmp_path_factory.mktemp("pages")

    def build(name, dataset):
        out = run_chapter(find_chapter(name), dataset, out=folder / dataset / f"{name}.ipynb")
        notebook = nbformat.read(out, as_version=4)
        texts = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
        for cell in notebook.cells:
            for output in cell.get("outputs", ()):
                data = output.get("data", {})
                texts += [data[kind] for kind in ("text/html", "text/markdown") if kind in data]
        return "\n".join(texts)

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RECBIAS_DATA", str(folder / "none"))
        return {
            (name, dataset): build(name, dataset)
            for name, dataset in [
                *((name, "ml-1m") for name in PAGES),
                ("systems", "ml-100k"),
                ("line_ups", "cm100k"),
            ]
        }


# -- what is said where --------------------------------------------------------------------------


@pytest.mark.slow
def test_published_values_are_spoken_of_only_where_there_are_some(built):
    """On MovieLens 1M the same expressions are there: the test would see them."""
    assert not SPEAKS_OF_PUBLISHED.search(built["systems", "ml-100k"])
    assert "nothing was published" in built["systems", "ml-100k"]
    seen = {found[0] for found in SPEAKS_OF_PUBLISHED.finditer(built["systems", "ml-1m"])}
    assert {"score what was published", "±", ">agrees<", "where chance puts"} <= seen
    assert "nothing was published" not in built["systems", "ml-1m"]


def test_without_published_values_no_rule_is_printed_on_simulated_data_either():
    setup = systems.choose_setup("synthetic")
    found = results({system.name: 0.1 for system in line_up("mccrs20")}, "mccrs20")
    steps = ablations()
    changed = results({step.system.name: 0.1 for step in steps}, "ablations")
    text = tables.published_html(found, None, setup.published, steps, changed)
    text += tables.changes_html(steps, found, changed, setup.published, judged=True)
    assert not SPEAKS_OF_PUBLISHED.search(text)


@pytest.mark.slow
@pytest.mark.parametrize("dataset", ["ml-1m", "ml-100k"])
def test_counts_and_factors_are_those_of_the_results(built, dataset):
    named = load_chapter("systems", dataset)["one_name"]
    values = named.table(PROTOCOL, "P@10")["value"]
    page = built["systems", dataset]
    assert f"the worst of the {len(values)} algorithms" in page
    assert f"**{values.max() / values.min():.0f} times** as much" in page
    assert f"a P@10 of {values.min():.4f}" in page
    source = find_chapter("systems").source.read_text(encoding="utf-8")
    assert not re.search(r"\b(eight|nine|five) (readings|algorithms|names)\b|0\.\d{3}", source)


# -- what they list ------------------------------------------------------------------------------


def unlisted(line_ups, classes):
    """Name line-ups, systems and classes that are on neither page, and links to nothing."""
    places = set(re.findall(r'id="([\w-]+)"', line_ups + classes))
    own = [name for name in algorithms() if algorithm(name).__module__.startswith("recbias.")]
    missing = [name for name in own if f"class-{name.lower()}" not in places]
    for name in line_up_names():
        _, found, part = line_ups.partition(f'id="line-up-{name}"')
        missing += [] if found else [name]
        part = part.partition("</details>")[0]
        missing += [
            f"{name}: {system.name}"
            for system in line_up(name)
            if f"<strong>{html.escape(system.name)}</strong>" not in part
        ]
    links = re.findall(r'href="(?:classes|line_ups)\.html#([\w-]+)"', line_ups + classes)
    return missing + sorted(set(links) - places)


@pytest.mark.slow
def test_the_pages_list_every_line_up_system_and_class(built):
    line_ups, classes = built["line_ups", "ml-1m"], built["classes", "ml-1m"]
    assert unlisted(line_ups, classes) == []
    assert unlisted(line_ups, classes.replace('id="class-slim"', "")) == ["SLIM", "class-slim"]
    assert unlisted(line_ups.replace('id="line-up-modern"', ""), classes)[0] == "modern"
    assert "bcc17: pLSA" in unlisted(line_ups.replace("<strong>pLSA</strong>", ""), classes)
    linked = re.findall(r'href="classes\.html#([\w-]+)"', built["systems", "ml-1m"])
    assert linked
    assert all(f'id="{place}"' in classes for place in linked)


@pytest.mark.slow
def test_line_ups_are_shown_as_they_read_the_ratings_of_the_edition(built):
    assert "graded-zero&gt;=4" in built["line_ups", "ml-1m"]
    assert "graded-zero&gt;=3" in built["line_ups", "cm100k"]
    assert "graded-zero&gt;=4" not in built["line_ups", "cm100k"]


# -- one name ------------------------------------------------------------------------------------


def results(values, name, anti=None):
    """Make results with given precision, in the grid of one of the page's tables."""
    every = {
        "one_name": one_name_systems(),
        "mccrs20": line_up("mccrs20"),
        "ablations": [step.system for step in ablations()],
        "models": [change.system for change in cited_models()],
    }[name]
    chosen = [system for system in every if system.name in values]
    grid = Grid("synthetic", tuple(chosen), (PROTOCOL,), ("P@10", "antiP@10"), split="ratio 0.2")
    frame = pd.DataFrame(
        {"system": system.name, "label": PROTOCOL, "protocol": PROTOCOL, "metric": metric,
         "value": value, "low": 0.99 * value, "high": 1.01 * value, "se": 0.0, "fold_sd": 0.0,
         "n_users": 9}
        for system in chosen
        for metric, value in (
            ("P@10", values[system.name]),
            ("antiP@10", (anti or values)[system.name]),
        )
    )  # fmt: skip
    return Results(
        key="key", dataset={"name": "synthetic", "title": "Made"}, grid=grid, values=frame,
        replicates={}, tests=pd.DataFrame(), target_sets=pd.DataFrame(),
    )  # fmt: skip


@pytest.fixture
def flat():
    return {system.name: 0.1 for system in one_name_systems()}


def test_choices_differ_in_one_parameter_of_one_class():
    by_parameter = {choice.parameter: choice for choice in readings.choices(one_name_systems())}
    assert by_parameter["normalised"].values == (True, False)
    assert by_parameter["shrinkage"].values == (0.0, 10.0)
    assert set(by_parameter) == set(readings.QUESTIONS)
    first, second = by_parameter["shrinkage"].first, by_parameter["shrinkage"].second
    twice = second.replace("other", n_neighbours=7)
    assert readings.choices([first, twice]) == []
    assert len(readings.choices([second, twice])) == 1


def test_choices_are_ordered_by_what_they_move(flat):
    flat["LibRec 2, k=20"] = 0.35  # shrinkage 3.5; choose_among 3.5 the other way
    flat["LibRec 3, k=200"] = 0.9
    rows = readings.choices_html(one_name_systems(), results(flat, "one_name")).split("<tr>")[2:]
    assert "<code>n_neighbours</code>" in rows[0]
    assert "0.1000 → 0.3500" in (rows[1] + rows[2]).replace("\N{NO-BREAK SPACE}", " ")
    assert re.search(r">9</td>", rows[0])
    assert re.search(r">3\.5</td>", rows[1])


def test_a_choice_of_which_one_system_could_not_be_trained_has_no_row(flat):
    systems = one_name_systems()
    gone = systems[0].name
    kept = [
        each
        for each in readings.choices(systems)
        if gone not in (each.first.name, each.second.name)
    ]
    rows = readings.choices_html(systems, results(flat, "one_name")).split("<tr>")[2:]
    assert 0 < len(kept) < len(rows) == len(readings.choices(systems))
    del flat[gone]
    rows = readings.choices_html(systems, results(flat, "one_name")).split("<tr>")[2:]
    assert len(rows) == len(kept)


def test_the_headline_follows_the_values(flat):
    flat["LibRec 2, k=20"] = 0.0004
    flat["RankSys, k=100, stars"] = 0.2
    found = results(flat, "one_name")
    assert figures.one_name(found).title == (
        'Nine algorithms called "user kNN, cosine":\nP@10 from 0.0004 to 0.2, a factor of 500'
    )
    sentence = readings.span_sentence(found, "P@10")
    assert "*LibRec 2, k=20*, has a P@10 of 0.0004" in sentence
    assert "**500 times** as much" in sentence
    flat["LibRec 2, k=20"] = 0.0
    found = results(flat, "one_name")
    assert "and one never hits" in figures.one_name(found).title
    assert "times" not in readings.span_sentence(found, "P@10")


def stated(**tables):
    return findings.state("systems", tables).found


def own_verdicts(one_name, anti=None, line_up_values=None, ties=0.1, changes=None):
    models = {system.name: 0.1 for system in line_up("mccrs20")} | (line_up_values or {})
    changed = {step.system.name: ties for step in ablations()} | (changes or {})
    found = stated(
        one_name=results(one_name, "one_name", anti),
        mccrs20=results(models, "mccrs20"),
        ablations=results(changed, "ablations"),
    )
    return {name.removeprefix("own/"): each.verdict for name, each in found.items()}


def test_of_a_system_that_could_not_be_trained_nothing_is_said(flat):
    for gone, silent in (
        ("RankSys, k=100, stars", {"SUM-OVER-MEAN", "DISLIKES-PER-LIKE"}),
        ("LibRec 2, k=20, no shrinkage", {"SHRINKAGE"}),
    ):
        left = {name: value for name, value in flat.items() if name != gone}
        found = own_verdicts(left)
        assert {name for name, verdict in found.items() if not verdict} == silent
    chance = {"Random": 0.1}
    found = stated(
        one_name=results(flat, "one_name"),
        mccrs20=results(chance, "mccrs20"),
        ablations=results({next(iter(ablations())).system.name: 0.1}, "ablations"),
    )
    assert not found["own/ONE-NAME-WITHOUT-CHANCE"].verdict


def test_other_ties_are_compared_where_either_could_be_trained(flat):
    one = next(step.system.name for step in ablations() if "(other ties)" in step.system.name)
    own = {system.name: 0.1 for system in line_up("mccrs20")}
    both = dict.fromkeys((one, one.removesuffix(" (other ties)")), 0.1)
    for changed, models, verdict in (
        ({one: 0.2}, own, "refuted"),
        ({one: 0.2}, {name: 0.1 for name in own if name not in both}, ""),
    ):
        found = stated(
            one_name=results(flat, "one_name"),
            mccrs20=results(models, "mccrs20"),
            ablations=results(changed, "ablations"),
        )
        assert found["own/TIES-HARDLY-MATTER"].verdict == verdict


def test_own_findings_follow_the_values(flat):
    assert own_verdicts(flat) == {
        "ONE-NAME-BEYOND-MODELS": "open",
        "ONE-NAME-WITHOUT-CHANCE": "open",
        "ONE-NAME-RANGE": "refuted",
        "SUM-OVER-MEAN": "open",
        "SHRINKAGE": "open",
        "DISLIKES-PER-LIKE": "open",
        "TIES-HARDLY-MATTER": "holds",
    }
    mean, stars = "Mean over neighbours, k=100", "RankSys, k=100, stars"
    assert own_verdicts(flat | {mean: 0.01})["SUM-OVER-MEAN"] == "holds"
    assert own_verdicts(flat | {mean: 0.2})["SUM-OVER-MEAN"] == "refuted"
    assert own_verdicts(flat | {"LibRec 2, k=20": 0.2})["SHRINKAGE"] == "holds"
    assert own_verdicts(flat | {"LibRec 2, k=20": 0.05})["SHRINKAGE"] == "refuted"
    more = flat | {stars: 0.2}
    assert own_verdicts(flat, anti=more)["DISLIKES-PER-LIKE"] == "holds"
    assert own_verdicts(more, anti=flat)["DISLIKES-PER-LIKE"] == "refuted"
    assert own_verdicts(flat, ties=0.102)["TIES-HARDLY-MATTER"] == "refuted"
    assert own_verdicts(flat, ties=0.1009)["TIES-HARDLY-MATTER"] == "holds"
    for name, verdict in {"SLIM (other ties)": "refuted", "pLSA (other ties)": "holds"}.items():
        found = own_verdicts(flat, changes={name: 0.2})  # pLSA is trained with other numbers
        assert found["TIES-HARDLY-MATTER"] == verdict


def test_the_gap_of_a_name_is_held_against_that_of_trained_models(flat):
    far = flat | {"LibRec 2, k=20": 0.049}
    assert own_verdicts(far)["ONE-NAME-RANGE"] == "holds"
    name = "ONE-NAME-BEYOND-MODELS"
    wide = flat | {"LibRec 2, k=20": 0.01}
    assert own_verdicts(wide)[name] == "holds"
    assert own_verdicts(wide, line_up_values={"WRMF": 0.15})[name] == "holds"
    assert own_verdicts(wide, line_up_values={"WRMF": 2.0})[name] == "refuted"
    # what is chance counts on both sides, or is left out on both
    without = "ONE-NAME-WITHOUT-CHANCE"
    chance = own_verdicts(wide, line_up_values={"Random": 1e-6, "BPoissMF": 1e-6})
    assert (chance[name], chance[without]) == ("refuted", "holds")
    alone = own_verdicts(flat | {"Mean over neighbours, k=100": 0.01})
    assert (alone[name], alone[without]) == ("holds", "open")
    # no factor over nothing: the sentence is left out
    assert own_verdicts(flat | {"LibRec 2, k=20": 0.0})[name] == ""


def test_the_two_systems_of_a_name_that_are_furthest_apart_are_named():
    own = {system.name: 0.1 for system in line_up("mccrs20")}
    cited = {change.system.name: 0.1 for change in cited_models()} | {"WBPR (model)": 0.04}
    asked = cited_models(), results(own, "mccrs20")
    sentence = tables.widest_sentence(*asked, results(cited, "models"))
    assert "called WBPR: P@10 is 0.1000 as it was run and 0.0400 as it is cited" in sentence
    assert "a factor of 2.5." in sentence
    assert tables.widest_sentence(*asked, results(cited | {"SLIM (model)": 0.0}, "models")) == ""


# -- figures -------------------------------------------------------------------------------------


def test_a_figure_names_every_system_with_its_value(flat):
    use_book_style()
    flat |= {name: 0.02 * place for place, name in enumerate(flat, start=1)}
    figure = figures.one_name(results(flat, "one_name"))
    assert figure.rows["system"].tolist() == list(reversed(flat))  # the best on top
    axis = figure.picture().axes[0]
    written = [text.get_text() for text in axis.texts]
    assert written == [f"{value:.4f}" for value in sorted(flat.values(), reverse=True)]
    lengths = [bar.get_width() for bar in axis.patches]
    np.testing.assert_allclose(lengths, sorted(flat.values(), reverse=True))
