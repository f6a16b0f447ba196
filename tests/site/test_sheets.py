"""A run outside the book: one page with everything in its place, which fetches nothing."""

from __future__ import annotations

import os
import re
from html.parser import HTMLParser
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Browser

from recbias.book.standalone import sheet_html, write_sheet
from recbias.book.standalone.pages import formula_html
from test_own_tables import ROWS, recbias, write_table

STYLES = Path(__file__).parents[2] / "book" / "_static"
SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><path d="M0 0h9v9z"/></svg>'
PROSE = r"""(sec-top)=
# What is *it*?

The value is {glue:text}`p:.2f` of {glue:text}`who`, in {numref}`fig-it` and {numref}`tbl-it`: see
{ref}`the top <sec-top>` and {doc}`the notes <notes>`, or [elsewhere](other.md) and {cite:t}`ABC17`.
Among $x_u \le \frac{1}{n}$ it is `$5`.

$$\sum_u \mathbb E\big[x_u\big]$$

```{glue:figure} fig_it
:name: fig-it
:alt: A "black" <square>.

It, for {glue:text}`who`.
```

```{glue:figure} tbl_it
:name: tbl-it

All of it.
```

::::{predict} Which is larger?
- one
- two

Two, for $2>1$.
::::

```{admonition} Proof
:class: dropdown

By $y$.
```

| a | b |
|---|---|
| 1 | $z$ |
"""


def glued(name: str, data: dict[str, str]) -> nbformat.NotebookNode:
    """Make the output that myst_nb's glue leaves where it does not display."""
    hidden = {f"application/papermill.record/{kind}": content for kind, content in data.items()}
    return nbformat.v4.new_output("display_data", hidden, metadata={"scrapbook": {"name": name}})


def a_run() -> nbformat.NotebookNode:
    """Make an executed chapter with something of everything."""
    code = nbformat.v4.new_code_cell("first = '<b>'")
    code.metadata.tags = ["hide-input"]
    code.outputs = [
        glued("p", {"text/plain": "0.1234"}),
        glued("who", {"text/plain": "'<b>Mine & Co*</b>'"}),
        glued("fig_it", {"image/svg+xml": SVG, "text/plain": "<Figure>"}),
        glued("tbl_it", {"text/html": "<table><tr><td>cell</td></tr></table>"}),
        nbformat.v4.new_output(
            "execute_result",
            {
                "text/html": r'<p><a href="scorecard.html#x">card</a> <span class="math '
                r'notranslate">\(a &lt; b\)</span> <a href="#sec-top">top</a></p>'
            },
        ),
    ]
    gone = nbformat.v4.new_code_cell("secret = 1")
    gone.metadata.tags = ["remove-cell"]
    return nbformat.v4.new_notebook(cells=[code, gone, nbformat.v4.new_markdown_cell(PROSE)])


class Addresses(HTMLParser):
    """What a page refers to."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [str(value) for name, value in attrs if name in ("src", "href")]
        assert tag not in ("link", "iframe", "base")


def needs_nothing(page: str) -> bool:
    """Tell whether a page refers to nothing but itself."""
    addresses = Addresses()
    addresses.feed(page)
    inside = all(address.startswith(("data:", "#")) for address in addresses.found)
    return inside and not re.search(r"@import|url\((?!#)", page)


def test_everything_stands_where_the_text_puts_it() -> None:
    page = sheet_html(a_run(), STYLES)
    body = page.partition("<main")[2].partition("</main>")[0]
    assert "<title>What is it?</title>" in page
    assert "The value is 0.12 of &lt;b&gt;Mine &amp; Co*&lt;/b&gt;, in" in body
    assert '<a href="#fig-it">Figure 1</a>' in body
    assert '<a href="#tbl-it">Table 1</a>' in body
    assert '<a href="#sec-top">the top</a>' in body
    assert "<span>the notes</span>" in body
    assert "<span>elsewhere</span>" in body
    assert "<span>card</span> <math" in re.sub(r"\s+", " ", body)
    assert "<code>$5</code>" in body
    figure, table = re.findall(r"<figure.*?</figure>", body, flags=re.DOTALL)
    assert 'alt="A &quot;black&quot; &lt;square&gt;."' in figure
    assert '<img src="data:image/svg+xml;base64,' in figure
    assert '<span class="number">Figure 1</span> It, for &lt;b&gt;Mine' in figure
    assert "<td>cell</td>" in table
    assert body.count("<math") == 6
    assert not re.search(r"papermill|\{\w+|\$\$|\ue000|secret|:name:|:class:", body)
    assert "first = &#x27;&lt;b&gt;&#x27;" in body


def test_what_a_cell_printed_or_drew_is_shown_as_it_is_unless_it_is_to_be_hidden() -> None:
    shown, hidden = (nbformat.v4.new_code_cell("show()") for _ in range(2))
    for cell, word in ((shown, "seen"), (hidden, "unseen")):
        cell.outputs = [
            nbformat.v4.new_output("stream", text=f"<b>{word}"),
            nbformat.v4.new_output("execute_result", {"text/plain": f"<i>{word}"}),
        ]
    png = {"image/png": "AAAA\n", "text/plain": "<Figure size 9x9>"}
    shown.outputs.append(nbformat.v4.new_output("display_data", png))
    hidden.metadata.tags = ["remove-output"]
    page = sheet_html(nbformat.v4.new_notebook(cells=[shown, hidden]), STYLES)
    body = page.partition("<main")[2].partition("</main>")[0]
    assert "<pre>&lt;b&gt;seen</pre>" in body
    assert "<pre>&lt;i&gt;seen</pre>" in body
    assert '<img src="data:image/png;base64,AAAA" alt="">' in body
    assert "unseen" not in body
    assert body.count("show()") == 2


def test_a_page_needs_nothing_else_and_the_check_would_tell() -> None:
    page = sheet_html(a_run(), STYLES)
    assert needs_nothing(page)
    for more in ('<img src="a.svg">', "<style>@import 'a'</style>", '<a href="b.html">b</a>'):
        assert not needs_nothing(page.replace("</main>", f"{more}</main>"))


def test_a_formula_that_nobody_knows_is_shown_as_it_was_typed() -> None:
    assert formula_html(r"\unknown<1") == r"<code>\unknown&lt;1</code>"
    assert "<mi>x</mi>" in formula_html(r"\bigl(x\bigr)", block=True)


@pytest.mark.parametrize("width", [1400, 390])
def test_a_browser_shows_it_without_a_request(browser: Browser, tmp_path: Path, width: int) -> None:
    run = tmp_path / "run.ipynb"
    nbformat.write(a_run(), run)
    page, notebook = write_sheet(run, tmp_path / "out" / "page.html", STYLES)
    assert sorted(os.listdir(page.parent)) == ["page.html", "page.ipynb"]
    plain = nbformat.read(notebook, as_version=4)
    assert "image/svg+xml" in plain.cells[0].outputs[2].data
    tab = browser.new_page(viewport={"width": width, "height": 900})
    asked: list[str] = []
    faults: list[str] = []
    tab.on("request", lambda request: asked.append(request.url))
    tab.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
    tab.on("pageerror", lambda error: faults.append(str(error)))
    tab.goto(page.as_uri())
    tab.wait_for_load_state()
    assert [url for url in asked if not url.startswith("data:")] == [page.as_uri()]
    assert not faults
    assert tab.evaluate("document.images[0].naturalWidth") > 0
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    tab.close()


@pytest.mark.slow
def test_a_run_writes_where_the_reader_stands_and_into_their_cache_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("RECBIAS_CELLS")
    (tmp_path / "here").mkdir()
    write_table(tmp_path / "mine.csv", ROWS)
    done = recbias("run", "line_ups", "--dataset", "../mine.csv", cwd=tmp_path / "here")
    assert done.returncode == 0, done.stderr
    (page, notebook) = (line.split()[1] for line in done.stdout.splitlines()[:2])
    assert re.fullmatch(r"line_ups--mine-[0-9a-f]{8}\.html", page)
    assert sorted(os.listdir(tmp_path / "here")) == sorted([page, notebook])
    assert sorted(os.listdir(tmp_path)) == ["cache", "here", "mine.csv"]
    edition = page.removeprefix("line_ups--").removesuffix(".html")
    assert list((tmp_path / "cache" / "recbias" / "runs" / edition).glob("line_ups.ipynb"))
    clone = STYLES.parents[1]
    assert not [
        path for name in ("_build", "data") for path in (clone / name).rglob(f"*{edition}*")
    ]


@pytest.mark.slow
def test_a_run_on_a_table_from_another_folder_leaves_a_page_and_a_notebook(tmp_path: Path) -> None:
    table = write_table(tmp_path / "secret place" / "my <b>ratings.csv", ROWS + "u0,i0,5\n")
    arguments = ["run", "line_ups", "--dataset", str(table.relative_to(tmp_path)), "--duplicates"]
    done = recbias(*arguments, "last", "--out", "out/page.html", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[:2] == ["page       out/page.html", "notebook   out/page.ipynb"]
    assert re.fullmatch(r"took       \d+ s, \d+ s of processor time", lines[2])
    assert sorted(os.listdir(tmp_path / "out")) == ["page.html", "page.ipynb"]
    page = (tmp_path / "out" / "page.html").read_text(encoding="utf-8")
    notebook = (tmp_path / "out" / "page.ipynb").read_text(encoding="utf-8")
    assert needs_nothing(re.sub(r'href="https://[^"]*"', "", page))
    assert "my &lt;b&gt;ratings.csv" in page
    assert "secret place" not in page + notebook
    assert "papermill.record" not in page + notebook
