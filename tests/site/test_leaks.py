"""What pages leak is found, one twin of a page for each leak; what readers may see is not."""

from __future__ import annotations

import base64
from html import escape

import pytest
from leaks import leaks

SVG = '<svg xmlns="http://www.w3.org/2000/svg"><!-- P@10: {} --></svg>'
OBJECTS = (
    "<IPython.core.display.Markdown object>",
    "<recbias.grid.Grid object at 0x7f0c2a1b9d10>",
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
