"""Every table of the book prints options from which its run can be repeated: here it is."""

from __future__ import annotations

import dataclasses
import re
from html import unescape

import numpy as np
import pandas as pd
import pytest

from recbias import Grid, run
from recbias.claims import concentration_metrics, design_alternatives, pages, popularity_bias
from recbias.claims import overcoming_popularity_bias as remedies
from recbias.claims import true_vs_false_positive_disagreement as disagreement
from recbias.errors import ConfigError
from recbias.outcomes import evaluate
from recbias.recommenders import System
from recbias.taxonomy import Options, not_repeated, options_of

SYSTEMS = (System("kNN", "UserKNN", {"n_neighbours": 5}), System("Popularity", "Popularity"))


def asked_by_chapters():
    """Give protocols, metrics and what else each chapter asks of its main grids."""
    designs = design_alternatives.protocols(4, size=20, n_sampled=30)
    remedied, sides = remedies.protocols(4)
    positives, truth = disagreement.protocols(4)
    columns = disagreement.metrics(5, positives)
    return {
        "1": ({label: designs[label] for label in ("AR", "NN", "1R", "shared")},
              {"AR": ("P@5", "nDCG(exp)@5", "rho"), "NN": ("P@5",), "1R": ("P@5", "RR"),
               "shared": ("P@5",)}, {"split": "k-fold 2", "compare": (("AR", "P@5"),)}),
        "2": ({"thin": "TI-AN-AR rel>=4"}, {"thin": ("P@5", "P@5|N=20")},
              {"split": "ratio 0.4", "tests": {"thin": "observed removed=30%"}}),
        "3": (popularity_bias.protocols(4), {"AR": ("P@5",), "all-1R": ("P@5|t=20",)},
              {"split": "k-fold 2", "seed": 3}),
        "4": (remedied, remedies.metrics(5, 20, 30),
              {"split": "k-fold 2", "tests": sides}),
        "4 uniform": (remedies.uniform_protocols(4), remedies.uniform_metrics(5, 20),
                      {"split": "uniform 0.2"}),
        "5": (positives, {label: texts[:2] for label, texts in columns.items()},
              {"split": "ratio 0.2", "tests": truth}),
        "6": (concentration_metrics.protocols(4), {"full": concentration_metrics.metrics(5)[:6]},
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
    """Read the options that a page prints, as a reader would: by label, in order of metrics."""
    found = {}
    for line in re.findall("<li>(.*?)</li>", html):
        label, _, rest = line.partition(": <code>")
        first, *others = (
            unescape(each) for each in re.findall("<code>(.*?)</code>", "<code>" + rest)
        )
        start, end = first.index("metric: "), first.index("; pairs: ")
        found[label] = [first, *(first[:start] + each + first[end:] for each in others)]
    return found


@pytest.mark.parametrize("name", GRIDS)
def test_what_a_page_prints_gives_the_same_values(name, measured, table):
    results = measured(name)
    printed = read_page(pages.options_details({"main": results}))
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
