"""The browser check of explorers finds nothing on a good page, and what was broken on a bad one."""

from __future__ import annotations

import dataclasses
import itertools
import json
import re
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from playwright.sync_api import Browser

import check_explorer
from recbias import Grid, System, run
from recbias.book.chapters.design_alternatives.designs import every_design
from recbias.book.chapters.multiverse import explorers
from recbias.book.chapters.overcoming_popularity_bias import nearest
from recbias.book.chapters.sparsity_bias.sampling import sampled
from recbias.book.explorer import explorer_html, from_results
from recbias.claims import load_chapter
from recbias.experiment.makers import Table
from recbias.experiment.run import Results

pytestmark = pytest.mark.slow

STATIC = Path(__file__).parents[2] / "book" / "_static"


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    designs = every_design(4, size=20, n_sampled=30, cutoff=10, n_items=4)
    systems = (
        System("Random", "Random"),
        System("Popularity", "Popularity"),
        System("kNN", "UserKNN", {"n_neighbours": 5}),
        System("ALS", "ImplicitALS", {"n_factors": 4, "n_iterations": 2}),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RECBIAS_CELLS", str(tmp_path_factory.mktemp("cells")))
        return run(
            Grid(
                "world(users=60,items=80,density=0.1,seed=4)",
                systems,
                designs.protocols,
                designs.metrics,
                split="k-fold 2",
                replicates=(),
            )
        )


SIZES = (5, 11, 30, 100, 400)


@pytest.fixture(scope="module")
def drawn() -> Table:
    """Plant leads over Random that cross: A is ahead of B in small samples, and behind in all."""
    rows = []
    for at, size in enumerate(SIZES):
        leads = {"A": 0.05 - 0.011 * at, "B": 0.02 + 0.001 * at, "C": -0.003, "Random": 0.0}
        for a, b in (("B", "A"), ("B", "C"), ("B", "Random"), ("A", "C"), ("A", "Random")):
            rows.append((a, b, size, leads[a] - leads[b]))
        rows.append(("Random", "C", size, 0.003))
    frame = pd.DataFrame(rows, columns=["a", "b", "size", "value"])
    frame = frame.assign(low=frame["value"] - 0.001, high=frame["value"] + 0.001)
    wrong = (frame["value"] < 0).astype(float)
    return Table(
        index=("a", "b", "size"),
        frame=frame.assign(wrong=wrong, wrong_least=wrong, wrong_most=wrong),
        maker_name="02_sparsity_bias/negatives",
        given={"cutoff": 10, "size": 30},
        key="0",
        dataset={"name": "x"},
    )


def as_it_is(text: str) -> str:
    return text


def one_number_changed(html: str) -> str:
    start = html.index('"values":[') + len('"values":[')
    end = html.index(",", start)
    return f"{html[:start]}{float(html[start:end]) + 0.001}{html[end:]}"


def states_changed(edit: Callable[[dict], object]) -> Callable[[str], str]:
    """Give what changes the data of a page."""

    def change(html: str) -> str:
        found = re.search(r'(?<="application/json">).*?(?=</script>)', html)
        assert found
        document = json.loads(found[0])
        edit(document)
        text = json.dumps(document)
        assert document != json.loads(found[0]), "nothing was changed"
        return html[: found.start()] + text + html[found.end() :]

    return change


def exchange(document: dict, one: str, other: str) -> None:
    states = document["states"]
    states[one], states[other] = states[other], states[one]


def all_but_the_start_unmeasured(document: dict) -> None:
    reason = {"why": "Nobody measured this."}
    document["states"] = dict.fromkeys(document["states"], reason) | {
        document["compared"]: document["states"][document["compared"]]
    }


def one_number_of_the_tables_changed(html: str) -> str:
    return re.sub(r"<td>0\.\d{3}(\d)</td>", lambda m: f"<td>0.9{m[1]}00</td>", html, count=1)


def written(
    folder: Path,
    html: str,
    script: Callable[[str], str] = as_it_is,
    style: Callable[[str], str] = as_it_is,
) -> Path:
    """Write a page with an explorer."""
    for name in ("choices.js", "choices.css"):
        (folder / name).write_text((STATIC / name).read_text())
    (folder / "explorer.js").write_text(script((STATIC / "explorer.js").read_text()))
    (folder / "explorer.css").write_text(style((STATIC / "explorer.css").read_text()))
    path = folder / "page.html"
    path.write_text(
        '<meta charset="utf-8"><link rel="stylesheet" href="choices.css">'
        '<link rel="stylesheet" href="explorer.css">'
        '<meta name="viewport" content="width=device-width">'
        '<script src="choices.js" defer></script><script src="explorer.js" defer></script>'
        f'<article class="bd-article">{html}</article>'
    )
    return path


@pytest.mark.parametrize(
    ("page", "script", "style", "fault"),
    [
        (as_it_is, as_it_is, as_it_is, None),
        (one_number_changed, as_it_is, as_it_is, "Random: 0.0"),
        (
            lambda html: html.replace('"tau":1.0', '"tau":0.9'),
            as_it_is,
            as_it_is,
            "tau 0.90 for 1.0000",
        ),
        (as_it_is, lambda js: js.replace("b] - values[a]", "a] - values[b]"), as_it_is, "order"),
        (as_it_is, lambda js: js.replace("(100 * number)", "(number + 9)"), as_it_is, "a bar of"),
        (as_it_is, lambda js: js.replace("state.why)", '"")'), as_it_is, "no reason is given"),
        (lambda html: html.replace(" hidden>", ">"), as_it_is, as_it_is, "buttons that do nothing"),
        (lambda html: html.replace(" open>", ">"), as_it_is, as_it_is, "there is no table"),
        (lambda html: html.replace('class="explorer"', ""), as_it_is, as_it_is, "no explorer"),
        (
            as_it_is,
            as_it_is,
            lambda css: css.replace("left: var(--ceiling)", "left: 0"),
            "ceiling: a line at",
        ),
        (
            as_it_is,
            as_it_is,
            lambda css: f"{css} li:nth-child(2) .explorer-expected {{ margin-left: 9px }}",
            "expected: a line at",
        ),
        (
            as_it_is,
            lambda js: js.replace(
                "number !== null && number <= most",
                "name === 'ceiling' && number !== null && number <= most",
            ),
            as_it_is,
            "expected: wrongly said to be beyond",
        ),
        (
            as_it_is,
            as_it_is,
            lambda css: f"{css} .explorer-expected {{ display: none !important }}",
            "no line is drawn",
        ),
        (
            states_changed(lambda page: exchange(page, "AI|AR|AN|1", "AI|AR|AN|10")),
            as_it_is,
            as_it_is,
            "AI AR AN 1: ",
        ),
        (
            states_changed(lambda page: page["states"].update({"AI|1R|AN|1": {"why": "No."}})),
            as_it_is,
            as_it_is,
            "AI 1R AN 1: no bars are drawn",
        ),
        (
            states_changed(all_but_the_start_unmeasured),
            as_it_is,
            as_it_is,
            "R_test 1R AN 1: no reason is given",
        ),
        (
            states_changed(lambda page: page["states"]["TI|AR|NN|1"].update(words="all of them")),
            as_it_is,
            as_it_is,
            "TI AR NN 1: the words are 'All of them.'",
        ),
        (
            states_changed(lambda page: page.update(against="under AI-AN-AR, P@1")),
            as_it_is,
            as_it_is,
            "the start is wrongly named",
        ),
        (
            states_changed(lambda page: page["states"]["AI|AR|AN|1"].update(code="TI-NN-1R")),
            as_it_is,
            as_it_is,
            "AI AR AN 1: the protocol",
        ),
        (
            lambda html: html.replace("AI: all items", "AI: no items"),
            as_it_is,
            as_it_is,
            "the buttons are",
        ),
        (one_number_of_the_tables_changed, as_it_is, as_it_is, "plain table of P@10: '0.9"),
        (
            as_it_is,
            lambda js: js.replace("this.choose(codes);", ""),
            as_it_is,
            "brings nothing back",
        ),
    ],
)
def test_the_check_finds_what_is_broken(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    browser: Browser,
    results: Results,
    page: Callable[[str], str],
    script: Callable[[str], str],
    style: Callable[[str], str],
    fault: str | None,
) -> None:
    designs = every_design(4, size=20, n_sampled=30, cutoff=10, n_items=4)
    shown = from_results(results, designs.states)
    html = explorer_html(shown, designs.axes, start=designs.start, name="d", source=results)
    path = written(tmp_path, page(html), script, style)
    monkeypatch.setattr(check_explorer, "results_of", lambda document, chapter: results)
    faults, _ = check_explorer.check_page(browser, path, "")
    if fault is None:
        assert faults == []
    else:
        assert any(fault in found for found in faults), faults[:5]


@pytest.mark.parametrize(
    ("page", "script", "fault"),
    [
        (as_it_is, as_it_is, None),
        (one_number_changed, as_it_is, "10 sampled: "),
        (lambda html: html.replace("1 is surely", "2 are surely"), as_it_is, "pairs ['6', '2'"),
        (as_it_is, lambda js: js.replace("Math.abs(value ?? 0)", "value ?? 0"), "C: a bar of"),
        (as_it_is, lambda js: js.replace("= words;", "= '';"), "is said to be at"),
        (as_it_is, lambda js: js.replace("this.choose(codes);", ""), "brings nothing back"),
        (
            as_it_is,
            lambda js: js.replace('addEventListener("input"', 'addEventListener("no"'),
            "the keyboard moves nothing",
        ),
        (
            lambda html: html.replace("<td>\u22120.0030</td>", "").replace(
                "<td>-0.0030</td>", "<td>0.0030</td>"
            ),
            as_it_is,
            "plain table: 0.0030 for C",
        ),
    ],
)
def test_the_check_of_sampled_items_finds_what_is_broken(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    browser: Browser,
    drawn: Table,
    page: Callable[[str], str],
    script: Callable[[str], str],
    fault: str | None,
) -> None:
    axis, shown, start = sampled(drawn, min_rating=4)
    assert start == ("29",)
    html = explorer_html(
        shown, [axis], start=start, compared=("399",), name="negatives", source=drawn
    )
    monkeypatch.setattr(check_explorer, "results_of", lambda document, chapter: drawn)
    faults, tried = check_explorer.check_page(browser, written(tmp_path, page(html), script), "")
    if fault is None:
        assert (faults, tried) == ([], 4)
    else:
        assert any(fault in found for found in faults), faults[:5]


@pytest.mark.parametrize(
    ("page", "script", "fault"),
    [
        (as_it_is, as_it_is, None),
        (
            states_changed(lambda page: page["states"]["ten|0.5|-1"]["values"].__setitem__(0, 0.9)),
            as_it_is,
            "ten 0.5 -1: AR: 0.9",
        ),
        (
            lambda html: html.replace("bpref is surely nearest to the truth", "AR is nearest"),
            as_it_is,
            "nothing is said of who is nearest",
        ),
        (
            lambda html: html.replace(
                "cannot be told apart from UAR.", "cannot be told apart from AR."
            ),
            as_it_is,
            "but nearest may be",
        ),
        (lambda html: html.replace(" A coin may do as well.", ""), as_it_is, "but nearest may be"),
        (lambda html: html.replace("are liked less (", "are liked more ("), as_it_is, "the words"),
        (
            states_changed(lambda page: exchange(page, "ten|0.5|1", "all|0.5|1")),
            as_it_is,
            "all 0.5 1: ",
        ),
        (as_it_is, lambda js: js.replace("b] - values[a]", "a] - values[b]"), "order"),
        (as_it_is, lambda js: js.replace("this.choose(codes);", ""), "brings nothing back"),
        (
            as_it_is,
            lambda js: js.replace('addEventListener("input"', 'addEventListener("no"'),
            "the keyboard moves nothing",
        ),
        (
            lambda html: re.sub(r"<td>0\.(\d)", "<td>0.9\\1", html, count=1),
            as_it_is,
            "plain table of Table of all numbers, by the first ten, 0.5 first",
        ),
        (lambda html: html.replace(" open>", ">"), as_it_is, "there is no table"),
    ],
)
def test_the_check_of_kinds_of_worlds_finds_what_is_broken(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    browser: Browser,
    page: Callable[[str], str],
    script: Callable[[str], str],
    fault: str | None,
) -> None:
    table = load_chapter("04_overcoming_popularity_bias", "simulations")["worlds"]
    assert isinstance(table, Table)
    some = table.frame["relation"].isin((-1, 0, 1)) & table.frame["skew"].isin((0.5, 0.65))
    table = dataclasses.replace(table, frame=table.frame[some])
    monkeypatch.setattr(check_explorer, "results_of", lambda document, chapter: table)
    html = explorer_html(
        nearest.nearest(table), nearest.axes(table), start=nearest.START,
        against=nearest.AGAINST, name="truth", source=table, digits=2,
    )  # fmt: skip
    faults, tried = check_explorer.check_page(browser, written(tmp_path, page(html), script), "")
    if fault is None:
        assert (faults, tried) == ([], 12)
    else:
        assert any(fault in found for found in faults), faults[:5]


OPTIONS = {
    "A2": ["split: ratio 0.5", "split: ratio 0.2"],
    "C1": ["AI-AN-AR", "condensed"],
    "C2": ["metric: nDCG@10", "metric: P@10"],
}


def universes() -> Table:
    """Plant universes that both systems win, one of them missing, and two that are one."""
    rows = [
        {
            "first": "User kNN", "against": against, "A2": split, "C1": lists, "C2": metric,
            "universe": 4 * split + 2 * lists + (0 if lists else metric),
            "sign": -1 if lists and split == (against == "MF") else 1,
            "effect": 0.1 + 0.2 * split + 0.05 * (0 if lists else metric),
            "p": 0.2 if split else 0.01,
        }
        for against in ("MF", "MF (as in RankSys)")
        for split, lists, metric in itertools.product(range(2), repeat=3)
        if (against, split, lists) != ("MF", 0, 0)
    ]  # fmt: skip
    index = ("first", "against", *OPTIONS)
    return Table(
        index=index, frame=pd.DataFrame(rows), maker_name="08_multiverse/crossed", given={},
        key="0", dataset={"name": "x"},
    )  # fmt: skip


def one_count_changed(document: dict) -> None:
    state = document["states"]["0|any|any|any"]
    state["note"] = re.sub(r"in (\d) of", lambda m: f"in {int(m[1]) + 1} of", state["note"])


@pytest.mark.parametrize(
    ("page", "script", "fault"),
    [
        (as_it_is, as_it_is, None),
        (one_number_changed, as_it_is, " for "),
        (states_changed(one_count_changed), as_it_is, " against MF for "),
        (states_changed(lambda d: exchange(d, "0|any|1|any", "0|1|1|any")), as_it_is, "0 any 1"),
        (as_it_is, lambda js: js.replace("if (!this.ordered)", "if (false)"), " for "),
        (as_it_is, lambda js: js.replace("!this.ordered || ", ""), "are ranked"),
        (lambda html: re.sub(r"<td>0\.\d{3}</td>", "<td>0.999</td>", html, count=1), as_it_is,
         "plain table"),
    ],
)  # fmt: skip
def test_the_check_of_universes_finds_what_is_broken(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    browser: Browser,
    page: Callable[[str], str],
    script: Callable[[str], str],
    fault: str | None,
) -> None:
    table = universes()
    monkeypatch.setattr(check_explorer, "results_of", lambda document, chapter: table)
    axes, states = explorers.brushed(table, OPTIONS)
    html = explorer_html(
        states, axes, start=("0", "any", "any", "any"), name="universes", source=table, digits=3,
        ordered=False,
    )  # fmt: skip
    html = page(html)
    faults, tried = check_explorer.check_page(browser, written(tmp_path, html, script), "")
    if fault is None:
        assert (faults, tried) == ([], 54)
    else:
        assert any(fault in found for found in faults), faults[:5]
