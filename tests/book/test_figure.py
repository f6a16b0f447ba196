"""A figure as one object: what it says, shows and hands out follows from its rows."""

from __future__ import annotations

import base64
import dataclasses
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import IPython.display
import matplotlib.pyplot as plt
import myst_nb
import nbformat
import pandas as pd
import pytest

from recbias.book.figures import Figure, lines, use_book_style
from recbias.book.html import svg_description
from recbias.book.standalone.pages import sheet_html

STYLES = Path(__file__).parents[2] / "book" / "_static"
ROWS = pd.DataFrame({"at": [1, 2], "value": [0.25, 0.5]})
FIGURE = Figure(
    "rise", ROWS, lambda rows: f"$\\tau$ rises\nto {rows['value'].max():g}", "A line.",
    partial(lines, up="tau"), "rising",
)  # fmt: skip


@pytest.fixture(autouse=True)
def _style() -> Iterator[None]:
    use_book_style()
    yield
    plt.close("all")


def test_title_alt_table_and_picture_follow_the_rows() -> None:
    other = dataclasses.replace(FIGURE, rows=ROWS.assign(value=[0.25, 0.75]))
    assert (FIGURE.title, other.title) == ("$\\tau$ rises\nto 0.5", "$\\tau$ rises\nto 0.75")
    assert (FIGURE.alt, other.alt) == ("A line. tau rises to 0.5.", "A line. tau rises to 0.75.")
    assert (FIGURE.table, other.table) == (
        "at,value\n1,0.25\n2,0.5\n",
        "at,value\n1,0.25\n2,0.75\n",
    )
    ends = [each.picture().axes[0].lines[0].get_ydata()[-1] for each in (FIGURE, other)]
    assert ends == [0.5, 0.75]
    assert other.picture().get_suptitle() == other.title


def test_a_message_may_be_a_sentence_of_a_record() -> None:
    figure = dataclasses.replace(FIGURE, message="It holds")
    assert (figure.title, figure.alt) == ("It holds", "A line. It holds.")
    assert dataclasses.replace(FIGURE, message="").alt == "A line."


def shown(monkeypatch: pytest.MonkeyPatch, figure: Figure) -> tuple[dict[str, object], list[str]]:
    glued: dict[str, object] = {}
    pages: list[str] = []
    monkeypatch.setattr(myst_nb, "glue", lambda name, value, display: glued.update({name: value}))
    monkeypatch.setattr(IPython.display, "display", lambda html: pages.append(html.data))
    figure.show()
    return glued, pages


def test_a_cell_glues_the_picture_and_hands_out_its_files(monkeypatch: pytest.MonkeyPatch) -> None:
    glued, (page,) = shown(monkeypatch, FIGURE)
    assert set(glued) == {"fig_rise"}
    files = dict(re.findall(r'download="([^"]+)" href="data:[^,]*,([^"]*)"', page))
    assert base64.b64decode(files["rising.csv"]).decode() == FIGURE.table
    picture = ET.fromstring(base64.b64decode(files["rising.svg"]))
    assert "rises" in "".join(picture.itertext())
    _, pages = shown(monkeypatch, dataclasses.replace(FIGURE, file=""))
    assert pages == []


def test_the_same_rows_give_the_same_bytes_which_say_what_they_show() -> None:
    assert FIGURE.svg == FIGURE.svg
    assert svg_description(FIGURE.svg) == FIGURE.alt


def test_a_page_without_other_words_announces_what_the_picture_says() -> None:
    data = {
        f"application/papermill.record/{kind}": text
        for kind, text in FIGURE._repr_mimebundle_().items()
    }
    metadata = {"scrapbook": {"name": "fig_rise"}}
    code = nbformat.v4.new_code_cell("pass")
    code.outputs = [nbformat.v4.new_output("display_data", data, metadata=metadata)]
    for option, expected in (("", FIGURE.alt), (":alt: Other words.\n", "Other words.")):
        prose = f"```{{glue:figure}} fig_rise\n{option}\nIt.\n```"
        run = nbformat.v4.new_notebook(cells=[code, nbformat.v4.new_markdown_cell(prose)])
        assert f'alt="{expected}"' in sheet_html(run, STYLES)
