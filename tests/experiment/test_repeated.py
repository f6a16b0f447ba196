"""Every table of the book prints options from which its run can be repeated: here it is."""

from __future__ import annotations

import dataclasses
import itertools
import re
from html import unescape

import numpy as np
import pandas as pd
import pytest

from chapter_grids import (
    concentration_protocols,
    fill_grid,
    overlap_grid,
    popularity_protocols,
    ratio_grid,
    start_grid,
)
from recbias import Grid, run
from recbias.book import pages
from recbias.book.chapters import concentration_metrics
from recbias.book.chapters import overcoming_popularity_bias as remedies
from recbias.book.chapters import true_vs_false_positive_disagreement as disagreement
from recbias.book.chapters.design_alternatives import setup
from recbias.book.chapters.offline_option_taxonomy import decisions, truths
from recbias.book.chapters.offline_option_taxonomy.setup import (
    CHAPTER,
    KNN,
    split_of,
)
from recbias.book.chapters.overcoming_popularity_bias.setup import (
    uniform_metrics,
    uniform_protocols,
)
from recbias.errors import ConfigError
from recbias.experiment import makers
from recbias.experiment.makers import Table, find_maker
from recbias.experiment.options import Options, compact, not_repeated, options_of
from recbias.experiment.outcomes import evaluate
from recbias.recommenders import System

SYSTEMS = (System("kNN", "UserKNN", {"n_neighbours": 5}), System("Popularity", "Popularity"))


def asked_by_chapters():
    """Give protocols, metrics and what else each chapter asks of its main grids."""
    designs = setup.protocols(4, size=20, n_sampled=30)
    remedied, sides = remedies.setup.protocols(4)
    positives, truth = disagreement.setup.protocols(4)
    columns = disagreement.setup.metrics(5, positives)
    options = {
        "start": start_grid("synthetic", 4, seed=1),
        "ratio": ratio_grid("synthetic", 4, 80, seed=1),
        "fill": fill_grid("synthetic", 4, seed=1),
        "overlap": overlap_grid("synthetic", 4, seed=1),
    }
    known = {  # of nDCG@100 the small table has too few items
        name: {label: tuple(text for text in texts if text != "nDCG@100")
               for label, texts in grid.metrics.items()}
        for name, grid in options.items()
    }  # fmt: skip
    return {
        **{f"7 {name}": (grid.protocols, known[name], {"split": grid.split, "select": grid.select})
           for name, grid in options.items()},
        "1": ({label: designs[label] for label in ("AR", "NN", "1R", "shared")},
              {"AR": ("P@5", "nDCG(exp)@5", "rho"), "NN": ("P@5",), "1R": ("P@5", "RR"),
               "shared": ("P@5",)}, {"split": "k-fold 2", "compare": (("AR", "P@5"),)}),
        "2": ({"thin": "TI-AN-AR rel>=4"}, {"thin": ("P@5", "P@5|N=20")},
              {"split": "ratio 0.4", "tests": {"thin": "observed removed=30%"}}),
        "3": (popularity_protocols(4), {"AR": ("P@5",), "all-1R": ("P@5|t=20",)},
              {"split": "k-fold 2", "seed": 3}),
        "4": (remedied, remedies.setup.metrics(5, 20, 30),
              {"split": "k-fold 2", "tests": sides}),
        "4 uniform": (uniform_protocols(4), uniform_metrics(5, 20),
                      {"split": "uniform 0.2"}),
        "5": (positives, {label: texts[:2] for label, texts in columns.items()},
              {"split": "ratio 0.2", "tests": truth}),
        "6": (concentration_protocols(4),
              {"full": concentration_metrics.setup.metrics(5)[:6]},
              {"split": "k-fold 2", "select": "users>=3"}),
        "kept": ({"a": "AI-AN-AR rel>=4 condensed unscored=popularity users=relevant"},
                 ("nDCG(linear)@5", "RBP(0.8,exp)"), {"split": "temporal 0.3"}),
    }  # fmt: skip


GRIDS = asked_by_chapters()


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Ratings of 50 users on 60 items, some of them popular, with times."""
    patch = pytest.MonkeyPatch()
    patch.setenv("RECBIAS_CELLS", str(tmp_path_factory.mktemp("cells")))
    rng = np.random.default_rng(8)
    rated = np.argwhere(rng.random((50, 60)) < np.linspace(0.7, 0.1, 60))
    yield pd.DataFrame(
        {"user_id": rated[:, 0], "item_id": rated[:, 1], "rating": rng.integers(1, 6, len(rated)),
         "timestamp": 1_000_000_000 + rng.permutation(len(rated))}
    )  # fmt: skip
    patch.undo()


@pytest.fixture(scope="module")
def measured(table):
    """Run the grid of a chapter, once."""
    known = {}

    def of(name):
        if name not in known:
            protocols, metrics, others = GRIDS[name]
            known[name] = run(Grid(table, SYSTEMS, protocols, metrics, **others))
        return known[name]

    return of


def read_page(html):
    """Read the options that a page prints, as a reader would: by result and label."""
    found = {}
    for name, count, body in re.findall(r"<p>(.*?) \((\d+)\):(.*?)(?=<p>|</details>)", html):
        if alike := re.match(" those of (.*)</p>", body):
            found[name] = found[alike[1]]
        else:
            lines = re.findall("<li>(.*?): (<code>.*?)</li>", body)
            found[name] = {unescape(label): read_line(line) for label, line in lines}
        assert sum(map(len, found[name].values())) == int(count)
    return found


def read_line(line):
    """Write out what stands in a line: its first text, and by turns what replaces parts of it."""
    first, *instead = (
        [unescape(code) for code in re.findall("<code>(.*?)</code>", part)]
        for part in re.split("; (?:the same|each of these) with ", line)
    )
    texts = first
    for parts in instead:
        texts = [changed(text, part) for text in texts for part in ("", *parts)]
    return texts


def changed(text, part):
    """Put parts in the place of those of a text; a metric comes with its gain map, or has none."""
    given, new = (
        dict(each.split(": ", 1) for each in some.split("; ") if each) for some in (text, part)
    )
    if "metric" in new:
        given.pop("gain", None)
    return str(
        Options.parse("; ".join(f"{name}: {each}" for name, each in {**given, **new}.items()))
    )


MANY = ("4", "7 start")
"""Grids of 60 texts each; others have what they ask for, a dozen at a time."""


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] if name in MANY else []) for name in GRIDS],
)
def test_what_a_page_prints_gives_the_same_values(name, measured, table):
    results = measured(name)
    printed = read_page(pages.options_details({"main": results}))["main"]
    assert list(printed) == list(results.grid.parsed)
    for label, texts in printed.items():
        for text, metric in zip(texts, results.grid.by_label[label], strict=True):
            again = evaluate(Options.parse(text), table, SYSTEMS).values
            values = {system: results[system, label, metric].value for system in results.systems}
            assert np.array(list(again.values())).tobytes() == (
                np.array(list(values.values())).tobytes()
            ), text
            assert list(again) == list(values)
    assert not_repeated(results.grid) == 0


@pytest.mark.parametrize(
    ("old", "new"), [("seed: 1", "seed: 2"), ("rel>=4", "rel>=3"), ("k-fold 2", "ratio 0.5")]
)
def test_another_text_gives_other_values(old, new, measured, table):
    results = measured("1")
    texts = {names: str(options) for names, options in options_of(results.grid).items()}
    text = texts["AR", "P@5"]
    again = evaluate(Options.parse(text.replace(old, new)), table, SYSTEMS).values
    assert again["kNN"] != results["kNN", "AR", "P@5"].value
    changed = {**texts, ("AR", "P@5"): text.replace(old, new)}
    assert not_repeated(results.grid, texts) == 0
    assert not_repeated(results.grid, changed) == 1


def test_what_is_missing_or_cannot_be_read_is_counted(measured):
    results = measured("1")
    texts = {names: str(options) for names, options in options_of(results.grid).items()}
    torn = dict.fromkeys(texts, "split: ratio")
    assert not_repeated(results.grid, torn) == not_repeated(results.grid, {}) == len(texts) == 7
    other = dataclasses.replace(results, grid=dataclasses.replace(results.grid, select="keep=50%"))
    assert not_repeated(other.grid, texts) == 7


def test_a_page_without_a_grid_prints_no_options(measured):
    assert pages.options_details({}) == ""
    html = pages.options_details({"<main>": measured("3")})
    assert html.startswith('<details class="options"><summary>')
    assert "&lt;main&gt; (2):" in html
    assert "rel&gt;=4" in html


def test_percentiles_of_other_groups_are_refused(table):
    given = {"protocols": {"p": "TI-AN-P1R m=5 rel>=4"}, "metrics": ("P@5",)}
    assert len(options_of(Grid(table, SYSTEMS, **given))) == 1
    with pytest.raises(ConfigError, match="give the grid groups='popularity 10'"):
        options_of(Grid(table, SYSTEMS, **given, groups="popularity 100"))


# -- tables that are made of grids -----------------------------------------------------------------

SEEDS, RATIOS = [1, 2], [20, 50, 80]


@pytest.fixture(scope="module")
def made(table, tmp_path_factory):
    """Make tables of chapter 7, of few seeds and ratios, on the small table."""
    path = tmp_path_factory.mktemp("own") / "small.csv"
    table.to_csv(path, index=False)
    start = start_grid(str(path), 4, seed=1, n_seeds=1)
    fills = fill_grid(str(path), 4, seed=1)
    asked = decisions.decisions_asked(str(path), 4, seed=1)
    few = dataclasses.replace(asked["grid"], systems=SYSTEMS)
    asked |= {"splits": False, "grid": few}
    given = {
        "cells": {"seeds": SEEDS, "grid": start.to_dict()},
        "seeds": {"seeds": SEEDS, "ratios": RATIOS, "grid": start.to_dict()},
        "fill_seeds": {"seeds": SEEDS, "grid": fills.to_dict()},
        "fill_steps": {"seeds": SEEDS, "grid": fills.to_dict()},
        "decisions": asked,
    }
    return {
        name: find_maker(f"{CHAPTER}/{name}")(str(path), **each) for name, each in given.items()
    }


def texts_of_rows(found):
    """Write the options of every row from what its index says, by label, seed, ratio and metric."""
    (grid, *_) = found.grids
    texts = {}
    for row in found.frame.to_dict("records"):
        label = row.get("label", row.get("fill"))
        names = label, row["seed"], row.get("ratio", 50), row["metric"]
        split, data = split_of(names[2]), f"data: {grid.select}; " if grid.select else ""
        texts[names] = str(Options.parse(
            f"{data}split: {split}; seed: {row['seed']}; lists: {grid.protocols[label]}; "
            f"metric: {row['metric']}"
        ))  # fmt: skip
    return texts


def by_label(texts):
    found = {}
    for (label, *_), text in texts.items():
        found.setdefault(label, set()).add(text)
    return found


def read_made(html):
    return {
        name: {label: set(texts) for label, texts in labels.items()}
        for name, labels in read_page(html).items()
    }


MADE = ("cells", "seeds", "fill_seeds")


@pytest.mark.parametrize("name", MADE)
def test_a_page_prints_the_options_of_every_row_and_no_other(name, made):
    wanted = by_label(texts_of_rows(made[name]))
    html = pages.options_details({name: made[name]})
    assert read_made(html) == {name: wanted}
    assert html.count("split: ratio 0.5") <= len(wanted), "not printed by what differs"


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("cells", "<code>seed: 2</code>", "<code>seed: 3</code>"),
        ("cells", "; the same with <code>seed: 2</code>; each of these with ", "; the same with "),
        ("cells", "metric: nDCG@10; gain: exp", "metric: nDCG@10; gain: err"),
        ("seeds", "<code>split: ratio 0.2</code>", "<code>split: ratio 0.1</code>"),
        ("seeds", "<li>condensed: ", "<li>full: "),
        ("fill_seeds", "data: keep=50%; ", ""),
        ("fill_seeds", " unscored=popularity", ""),
    ],
)  # fmt: skip
def test_another_page_is_noticed(name, old, new, made):
    html = pages.options_details({name: made[name]})
    assert old in html
    try:
        found = read_made(html.replace(old, new))
    except AssertionError:  # fewer than the page says
        return
    assert found != {name: by_label(texts_of_rows(made[name]))}


@pytest.mark.parametrize(
    ("name", "other"),
    [("cells", {"seeds": [1]}), ("seeds", {"ratios": [20, 50]}), ("seeds", {"seeds": [1, 3]})],
)
def test_grids_that_are_not_those_of_the_rows_are_noticed(name, other, made):
    wrong = dataclasses.replace(made[name], given={**made[name].given, **other})
    assert read_made(pages.options_details({name: wrong})) != {
        name: by_label(texts_of_rows(made[name]))
    }


@pytest.mark.parametrize(
    ("name", "label"), [("cells", "geometric"), ("seeds", "condensed"), ("fill_seeds", "random")]
)
def test_what_a_page_prints_gives_the_rows_of_a_table(name, label, made):
    """The last text of a line, for which all of its parts are replaced."""
    found = made[name]
    (grid, *_) = found.grids
    text = read_page(pages.options_details({name: found}))[name][label][-1]
    (names,) = (each for each, of_row in texts_of_rows(found).items() if of_row == text)
    again = evaluate(Options.parse(text), grid.dataset, grid.systems).values
    _, seed, ratio, metric = names
    asked = {"seed": seed, "metric": metric, "fill" if name == "fill_seeds" else "label": label}
    rows = found.select(**asked, **({"ratio": ratio} if name == "seeds" else {}))
    column = "mf" if name == "cells" else "value"
    values = dict(zip(rows["system"], rows[column], strict=True))
    if name == "cells":
        (values[KNN],) = set(rows["knn"])
    assert values == again
    other = text.replace(f"seed: {seed}", f"seed: {seed + 1}")
    assert values != evaluate(Options.parse(other), grid.dataset, grid.systems).values


def test_options_that_were_printed_already_are_named(made):
    html = pages.options_details({"fill_seeds": made["fill_seeds"], "<steps>": made["fill_steps"]})
    assert "<p>&lt;steps&gt; (32): those of fill_seeds</p>" in html
    printed = read_made(html)
    assert printed["&lt;steps&gt;"] == printed["fill_seeds"]
    apart = pages.options_details({"cells": made["cells"], "fill_steps": made["fill_steps"]})
    assert "those of" not in apart


def test_a_page_prints_what_the_rows_of_decisions_name_and_the_default(made):
    found = made["decisions"]
    printed = read_made(pages.options_details({"decisions": found}))["decisions"]["options"]
    named = set(found.frame["options"])
    default = str(decisions.alternatives(4, 1)[0].base)
    assert printed == named | {default}
    assert default not in named
    assert {text.rpartition(": ")[2] for text in named} == {"t", "wilcoxon", "sign", "bootstrap"}
    less = dataclasses.replace(found, frame=found.frame[found.frame["decision"] != "D"])
    assert read_made(pages.options_details({"x": less}))["x"]["options"] != printed
    html = pages.options_details({"decisions": found})
    assert html.count("<code>pairs: sign</code>") == html.count(default.partition(";")[0]) == 1


def planted(name, given, frame=None):
    """Make a table of chapter 7 of which only the question is read, and the options of its rows."""
    frame = pd.DataFrame({"option": []}) if frame is None else frame
    return Table(
        index=("option",), frame=frame, maker_name=f"{CHAPTER}/{name}", given=given, key="",
        dataset={},
    )  # fmt: skip


FULL = "split: ratio 0.5; seed: 1; lists: AI-AN-AR rel>=4 users=trained; metric: {}; pairs: t"
CONDENSED = FULL.replace(" users", " condensed users")


@pytest.mark.parametrize(
    ("name", "asked", "wanted"),
    [
        ("profiles", start_grid, {"full": [FULL.format("P@10"), FULL.format("judged@10")],
                                          "condensed": [CONDENSED.format("nDCG@10")]}),
        ("refused", overlap_grid, {"full": [FULL.format("P@10"),
                                                    FULL.format("Served@1")]}),
    ],
)  # fmt: skip
def test_tables_of_users_print_what_they_measure(name, asked, wanted):
    given = {"grid": asked("synthetic", 4, seed=1).to_dict()}
    assert read_page(pages.options_details({name: planted(name, given)}))[name] == wanted
    given = {"grid": asked("synthetic", 4, seed=2).to_dict()}
    assert read_page(pages.options_details({name: planted(name, given)}))[name] != wanted


def test_depths_are_of_the_lists_of_the_start(measured):
    grid = start_grid("synthetic", 4, seed=1)
    start = dataclasses.replace(measured("7 start"), grid=grid)
    depths = planted("depths", {"grid": grid.to_dict()})
    html = pages.options_details({"systems": start, "depths": depths})
    assert "<p>depths (62): those of systems</p>" in html
    html = pages.options_details({"systems": measured("7 start"), "depths": depths})
    assert "those of" not in html, "without nDCG@100 it is another question"


def test_all_tables_of_chapter_7_name_their_grids_but_that_of_worlds():
    tables = {
        name.partition("/")[2]: known.grids is not None
        for name, known in makers._MAKERS.items()
        if name.startswith(CHAPTER) and known.kind is Table
    }
    assert {name for name, has_grids in tables.items() if not has_grids} == {"worlds"}
    assert len(tables) == 10


def test_a_page_prints_the_truth_of_every_split_with_the_options_that_it_judges():
    given = truths.truths_asked("coat", 4, seed=1)
    rows = truths._named(4, 1, timed=given["timed"], test=truths.held_of("coat"))
    frame = pd.DataFrame({"option": [name for _, name, _ in rows],
                          "options": [str(options) for *_, options in rows]})  # fmt: skip
    found = planted("truths", given, frame)
    printed = read_made(pages.options_details({"truths": found}))["truths"]["options"]
    named = set(frame["options"])
    assert named < printed
    true = [Options.parse(text) for text in printed - named]
    assert {str(each.test) for each in true} == {"unbiased train=observed"}
    splits = {(str(each.split), each.seed) for each in map(Options.parse, named)}
    assert {(str(each.split), each.seed) for each in true} == splits
    assert len(true) == len(splits) > 1


# -- texts by what differs -------------------------------------------------------------------------


def write_line(texts, write=compact):
    first, instead = write(texts)
    words = f"<code>{first}</code>"
    return words + "".join(
        f"; the same with {', '.join(f'<code>{each}</code>' for each in parts)}"
        for parts in instead
    )


def some_options(n, rng):
    """Draw options, with and without the parts that may be left out."""
    choices = (("", "data: keep=50%; ", "data: users>=5; "), ("ratio 0.5", "leave-out 1"), (1, 2),
               ("", "test: observed removed=30%; "), ("P@10", "nDCG(exp)@10", "nDCG@10"),
               ("t", "sign"))  # fmt: skip
    everything = list(itertools.product(*choices))
    for place in rng.choice(len(everything), n, replace=False):
        data, split, seed, test, metric, pairs = everything[place]
        yield str(Options.parse(
            f"{data}split: {split}; seed: {seed}; {test}lists: AI-AN-AR rel>=4; metric: {metric}; "
            f"pairs: {pairs}"
        ))  # fmt: skip


def as_product(texts):
    """Write texts as combinations of their parts, whether they are or not."""
    parts = [dict(re.split(": ", each, maxsplit=1) for each in re.split("; (?!gain)", text))
             for text in texts]  # fmt: skip
    return texts[0], [
        [f"{name}: {value}" for value in sorted({each[name] for each in parts if name in each})]
        for name in parts[0]
    ]


@pytest.mark.parametrize("n", [1, 2, 3, 10, 144])
def test_texts_by_what_differs_are_read_back(n):
    for seed in range(10):
        texts = list(some_options(n, np.random.default_rng(seed)))
        again = read_line(write_line(texts))
        assert sorted(again) == sorted(texts)
        if 2 < n < 144 and seed < 2:
            assert set(read_line(write_line(texts, as_product))) != set(texts)
    assert (len(compact(texts)[1]) == 6) == (n == 144)
