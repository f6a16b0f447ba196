"""What pages leak is found, one twin of a page for each leak; what readers may see is not."""

from __future__ import annotations

import base64
import json
from html import escape
from pathlib import Path
from typing import Any

import nbformat
import pytest

from leaks import faults, leaks, silent_cells
from recbias.book.site import empty_pages

SVG = '<svg xmlns="http://www.w3.org/2000/svg"><!-- P@10: {} --></svg>'
OBJECTS = (
    "<IPython.core.display.Markdown object>",
    "<recbias.experiment.grid.Grid object at 0x7f0c2a1b9d10>",
    "<function told at 0x7f0c2a1b9d10>",
    "<Axes: title={'center': 'P'}>",
    "<class 'dict'>",
    "<Figure size 640x480 with 1 Axes>",
    "<Kind.OPEN: 2>",
    "Figure(640x480)",
    "np.float64(0.5)",
    "array([1, 2])",
)
LEAKS = (
    *OBJECTS,
    "It is nan of them.",
    "P = NaN, as printed",
    "place nan to nan of the full list",
    "It is inf times as large",
    "The value is None.",
    "None",
    "from 0.1 to None",
    "It is of None",
    "The best personalised system, ..., has ... more P",
    "The tau is ...; claimed: more than 0",
    "…",
    "...",
    "It is 3 (undefined to undefined).",
    "It is 3 (undefined to 4).",
    "It is 3 (2 to undefined).",
    "It is right about undefined of undefined pairs",
    "The best system, , has more",
    "It is {value} of them",
)
PLACES = {
    "prose": "<main><p>{}</p></main>",
    "output": '<div class="cell_output"><pre><code>{}</code></pre></div>',
    "table": "<table><tr><td>{}</td></tr></table>",
    "alternative text": '<img src="x.png" alt="{}">',
    "marked words": "<p><b>{}</b></p>",
    "card": '<details><summary><span class="verdict">{}</span></summary></details>',
}
FINE = (
    "None of the systems is ahead.",
    "It holds. None is open.",
    "No system, nor any other, is listed...",
    "the banana of Nantes is informed, infinite",
    "1, 2, ..., n",
    "x < y and z > 2",
    "what() gives 1",
    "an undefined value",
)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("text", LEAKS)
def test_a_page_that_leaks_is_refused(text: str, place: str) -> None:
    html = PLACES[place]
    assert leaks(html.format("fine")) == []
    assert leaks(html.format(escape(text)))


@pytest.mark.parametrize("text", FINE)
def test_what_readers_may_see_is_not_refused(text: str) -> None:
    assert leaks(PLACES["prose"].format(escape(text))) == []


@pytest.mark.parametrize("text", LEAKS)
def test_source_and_formulas_are_not_read(text: str) -> None:
    for place in (
        '<div class="cell_input"><pre>{}</pre></div>',
        '<details class="code"><summary>Code</summary><pre><code>{}</code></pre></details>',
        "<p>An id <code>{}</code> is a name.</p>",
        '<p>Of <span class="math notranslate">{}</span> all.</p>',
        "<script>{}</script>",
    ):
        assert leaks(place.format(escape(text))) == []


def test_figures_and_what_explorers_hold_are_read() -> None:
    packed = base64.b64encode(SVG.format("nan").encode()).decode()
    assert leaks(f'<img src="data:image/svg+xml;base64,{packed}">')
    assert leaks(SVG.format("nan"))
    assert not leaks(SVG.format("0.3"))
    for held in ('{"a": [{"text": "tau = nan"}]}', '{"a": NaN}'):
        assert leaks(f'<script type="application/json">{held}</script>')
    assert not leaks('<script type="application/json">{"a": null, "text": "fine"}</script>')


def cell(source: str, outputs: tuple[dict[str, str], ...] = (), tags: tuple[str, ...] = ()) -> Any:
    made = nbformat.v4.new_code_cell(source, metadata={"tags": list(tags)})
    made.outputs = [nbformat.v4.new_output("display_data", data) for data in outputs]
    return made


TABLE = "Markdown(table(results))"
REPR = {"text/plain": "<IPython.core.display.Markdown object>"}
SILENT = (
    cell(TABLE),
    cell(f"known = 1\n{TABLE}  # comment"),
    cell(TABLE, ({"text/markdown": "  ", **REPR},)),
    cell("HTML(told)", ({"text/html": "<div> </div>", **REPR},), ("hide-input",)),
)
SPEAKING = (
    cell(TABLE, ({"text/markdown": "| a |", **REPR},)),
    cell("figure", ({"image/svg+xml": "<svg></svg>", **REPR},)),
    cell("1 + 1", ({"text/plain": "2"},)),
    cell(TABLE, (), ("remove-output",)),
    cell(TABLE, (), ("remove-cell",)),
    cell("start = run(grid)"),
    cell("for each in three:\n    glue(each, 1)"),
    cell(f"{TABLE};"),
    cell(""),
    nbformat.v4.new_markdown_cell("text"),
)


@pytest.mark.parametrize("number", range(len(SILENT)))
def test_a_cell_that_shows_no_result_is_found(number: int) -> None:
    (fault,) = silent_cells({"cells": [*SPEAKING, SILENT[number]]})
    assert fault in ("no result of Markdown(table(results))", "no result of HTML(told)")


def test_a_cell_that_need_not_show_a_result_is_none() -> None:
    assert silent_cells({"cells": SPEAKING}) == []


PAGE = "<html><nav>All</nav><article><h1>Title</h1>{}</article><footer>Us</footer></html>"


def site_of(folder: Path, **pages: str) -> Path:
    """Make the least that counts as a site: two pages, and a notebook that tells its data set."""
    toc = {"root": "index", "parts": [{"chapters": [{"file": "notebooks/one"}]}]}
    (folder / "_toc.yml").write_text(json.dumps(toc), encoding="utf-8")
    texts = {"index": "Words.", "notebooks/one": "<p>More.</p>", **pages}
    for page, text in texts.items():
        path = folder / f"{page}.html"
        path.parent.mkdir(exist_ok=True)
        path.write_text(PAGE.format(text), encoding="utf-8")
    run = nbformat.v4.new_notebook(metadata={"recbias": {"parameters": {"dataset": "toy"}}})
    source = folder / "_sources/notebooks/one.ipynb"
    source.parent.mkdir(parents=True)
    nbformat.write(run, source)
    return folder


def test_a_page_that_is_missing_or_empty_is_named(tmp_path: Path) -> None:
    site = site_of(tmp_path)
    assert (empty_pages(site, site), faults(site, site)) == ([], [])
    (site / "notebooks/one.html").write_text(PAGE.format(" <script>let a</script><p></p> "))
    assert empty_pages(site, site) == ["notebooks/one"]
    assert faults(site, site) == ["toy, notebooks/one: missing or empty"]
    (site / "notebooks/one.html").write_text("")
    (site / "index.html").unlink()
    assert empty_pages(site, site) == ["index", "notebooks/one"]


def test_a_site_is_searched_for_all_of_it(tmp_path: Path) -> None:
    site = site_of(tmp_path, **{"notebooks/one": "<p>It is nan.</p>"})
    (site / "figure.svg").write_text(SVG.format("None"))
    (site / "_sources/notebooks/one.ipynb").write_text(
        (site / "_sources/notebooks/one.ipynb")
        .read_text()
        .replace('"cells": []', f'"cells": [{json.dumps(SILENT[0])}]')
    )
    assert [fault.partition(": ")[0] for fault in faults(site, site)] == [
        "toy, notebooks/one.html",
        "toy, one",
        "figure.svg",
    ]
