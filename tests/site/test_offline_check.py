"""Each fault that the check of the pages looks for, planted once."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Error

import offline_check
from chromium import draw_pages, find_chromium
from offline_check import (
    BOTH,
    EVERY,
    MOST_SHEETS,
    NARROW,
    PAPER,
    REMEMBER_COLOURS,
    UNPRINTED,
    VIEWS,
    WIDE,
    View,
    check_page,
    pages_of,
    views_of,
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not find_chromium(), reason="no Chromium"),
]

ROOT = Path(__file__).resolve().parents[2]
PAGE = """<!doctype html><html lang="en"><head><title>A page</title>
<meta name="viewport" content="width=device-width"></head>
<body><main><h1>A page</h1><article class="bd-article"><section id="here">{}</section></article>
</main></body></html>"""
WORDS = "<tr>" + "<td>a sentence that takes its width</td>" * 3 + "</tr>"
NUMBERS = "<tr>" + "<td>0.123456789</td>" * 9 + "</tr>"
BOX = '<div style="overflow-x:auto;white-space:nowrap" {}><table><tbody>{}</tbody></table></div>'
NAMED = 'tabindex="0" role="group" aria-label="Values"'
FIGURE = (
    '<svg role="img" aria-label="x" width="300" viewBox="0 0 460 90">'
    '<text y="20" style="font-size: {}px">text</text></svg>'
)
SMALL = '<svg {}><g transform="scale({})"><text y="20" style="font-size:{}px">a</text></g></svg>'
CUT = '<div style="width:300px;overflow-x:{}">{}</div>'
TABLE = "<table><tbody>" + NUMBERS + "</tbody></table>"
SENTENCE = (
    '<p style="white-space:nowrap">a sentence that goes on and on, much longer than its box</p>'
)
ASIDE = (
    '<span style="display:inline-block;overflow:hidden">x<mjx-assistive-mml '
    'style="position:absolute;display:block;width:90px">x</mjx-assistive-mml></span>'
)
ON_PAPER = "<style>@media print { div { overflow: visible !important; font-size: 9px } }</style>"
READING = f"<script>{(ROOT / 'book/_static/reading.js').read_text('utf-8')}</script>"
PALE = "<style>@media (max-width: 400px) { p { color: #999 } }</style><p>pale</p>"
FORMULA = (
    '<mjx-container class="measured" display="true" style="display:block;width:{}px">x'
    "</mjx-container>"
)

FOUND = '<li><a href="{}">x</a><p class="context"><a href="x.html#here">Here</a>: a word</p></li>'


def found(
    browser: Browser, folder: Path, body: str, view: tuple[int, str], name: str = "page.html"
) -> list[str]:
    path = folder / name
    path.write_text(PAGE.format(body), encoding="utf-8")
    with browser.new_context(viewport={"width": view[0], "height": 900}) as context:
        return check_page(context, path, (view[0], (view[1],)))[0]


@pytest.mark.parametrize(
    ("body", "view", "fault"),
    [
        ('<img alt="x" src="https://example.org/x.png">', (WIDE, "light"), "request to https"),
        ('<img alt="x" src="nowhere.png">', (WIDE, "light"), "failed request"),
        ("<script>undefined.x</script>", (WIDE, "light"), "page error"),
        ('<p style="width:2000px">wide</p>', (WIDE, "light"), "wider than its window"),
        (
            '<details><summary>x</summary><p style="width:2000px">wide</p></details>',
            (WIDE, "light"),
            "wider than its window when all is opened",
        ),
        (BOX.format("", NUMBERS), (NARROW, "light"), "without saying so"),
        (BOX.format(NAMED, WORDS), (NARROW, "light"), "a table of text scrolls"),
        (
            '<div style="overflow-x:auto"><p style="width:600px">wide</p></div>',
            (NARROW, "light"),
            "is no table",
        ),
        (FIGURE.format(12), (NARROW, "light"), "text of 7.8 px"),
        (
            SMALL.format('width="300" viewBox="0 0 300 150"', 1, 4),
            (NARROW, "light"),
            "text of 4.0 px",
        ),
        (SMALL.format('role="img" aria-label="x"', 1, 4), (NARROW, "light"), "text of 4.0 px"),
        (SMALL.format("", 0.3, 20), (NARROW, "light"), "text of 6.0 px"),
        (
            '<figure><p style="font-size:4px">values</p></figure>',
            (NARROW, "light"),
            'text "values" of 4.0 px',
        ),
        (CUT.format("hidden", TABLE), (NARROW, "light"), "cut off: div"),
        (CUT.format("clip", TABLE), (NARROW, "light"), "cut off: div"),
        (CUT.format("hidden", SENTENCE), (WIDE, "light"), "cut off: div"),
        (CUT.format("clip", SENTENCE), (NARROW, "dark"), "cut off: div"),
        (
            '<mjx-container class="measured" display="true" style="font-size:8px">x'
            "</mjx-container>",
            (NARROW, "light"),
            "a formula of 8.0 px",
        ),
        ("<p style='color:#999'>pale</p>", (WIDE, "light"), "axe: serious color-contrast"),
        ("<p style='color:#999'>pale</p>", (WIDE, "dark"), "axe: serious color-contrast"),
        (PALE, (NARROW, "light"), "axe: serious color-contrast"),
        (PALE, (NARROW, "dark"), "axe: serious color-contrast"),
        ("<button></button>", (NARROW, "light"), "axe: critical button-name"),
        (FORMULA.format(900), (WIDE, PAPER), "wider than the paper: mjx-container"),
        (
            f"<table><tr><td>{FORMULA.format(900)}</td></tr></table>",
            (WIDE, PAPER),
            "wider than the paper: mjx-container",
        ),
        (
            f'<div style="width:2000px"><p>x</p>{FORMULA.format(900)}</div>',
            (WIDE, PAPER),
            "wider than the paper: mjx-container",
        ),
        (CUT.format("hidden", FORMULA.format(600)), (WIDE, PAPER), "cut off: div"),
        (CUT.format("auto", TABLE), (WIDE, PAPER), "cut off: div"),
        (
            '<div class="admonition dropdown"><p class="admonition-title">Proof</p>'
            "<p hidden>It follows.</p></div>",
            (WIDE, PAPER),
            "folded on paper: Proof",
        ),
        ('<div class="cell_input">x = 1</div>', (WIDE, PAPER), "code on paper"),
    ],
)
def test_a_fault_is_found(
    browser: Browser, tmp_path: Path, body: str, view: tuple[int, str], fault: str
) -> None:
    faults = found(browser, tmp_path, body, view)
    assert any(fault in each for each in faults), faults


@pytest.mark.parametrize("script", [READING, ""])
def test_code_that_is_unfolded_can_be_reached_by_keyboard(
    browser: Browser, tmp_path: Path, script: str
) -> None:
    code = f"<pre style='width:300px;overflow-x:auto' tabindex='-1'>{'x = 1; ' * 99}</pre>"
    body = f"<details class='hide'><summary>Code</summary>{code}</details>{script}"
    faults = found(browser, tmp_path, body, (WIDE, "light"))
    assert (faults == []) == bool(script), faults


@pytest.mark.parametrize(
    "body",
    [
        ON_PAPER + BOX.format(NAMED, NUMBERS),
        FIGURE.format(20),
        FORMULA.format(200),
        SMALL.format('width="300" viewBox="0 0 300 150"', 0.5, 30),
        CUT.format("hidden", "<p>a short sentence</p>"),
        ASIDE,
        '<details class="dropdown"><summary class="admonition-title">Proof</summary></details>',
    ],
)
@pytest.mark.parametrize("view", [(WIDE, "light"), (NARROW, "light"), (WIDE, PAPER)])
def test_a_sound_page_has_none(
    browser: Browser, tmp_path: Path, body: str, view: tuple[int, str]
) -> None:
    assert found(browser, tmp_path, body, view) == []


def test_a_chapter_is_short_enough_to_hand_out(browser: Browser, tmp_path: Path) -> None:
    sheet = '<p style="break-after:page">one</p>'
    view = (WIDE, PAPER)
    assert (
        found(browser, tmp_path, sheet * (MOST_SHEETS - 1) + "<p>last</p>", view, "01_a.html") == []
    )
    (fault,) = found(browser, tmp_path, sheet * MOST_SHEETS + "<p>last</p>", view, "01_a.html")
    assert fault == f"paper: {MOST_SHEETS + 1} sheets of A4, more than {MOST_SHEETS}"


@pytest.mark.parametrize(
    ("where", "faults"),
    [("print", 0), ("(max-width: 1399px)", 0), ("screen and (width: 1400px)", 2)],
)
def test_what_was_looked_at_on_paper_is_looked_at_in_its_window_then(
    browser: Browser, tmp_path: Path, where: str, faults: int
) -> None:
    path = tmp_path / "page.html"
    pale = f"<style>@media {where} {{ p {{ color: #999 }} }}</style><p>pale</p>"
    path.write_text(PAGE.format(pale), encoding="utf-8")
    with browser.new_context(viewport={"width": WIDE, "height": 900}) as context:
        found, _ = check_page(context, path, (WIDE, (PAPER, *BOTH)))
    assert [each.partition(": axe: serious color-contrast")[0] for each in found] == sorted(
        BOTH[:faults]
    )


@pytest.mark.parametrize(
    ("results", "fault"),
    [
        ("", "the search finds nothing"),
        (FOUND.format("x.html"), "the search does not lead to BCC17-F1"),
        ('<li><a href="x.html#bcc17-f1">x</a></li>', "the search does not say where a word stands"),
        (FOUND.format("x.html#bcc17-f1"), None),
    ],
)
def test_the_search_leads_to_words_and_claims(
    browser: Browser, tmp_path: Path, results: str, fault: str | None
) -> None:
    index = (
        'Search.setIndex({"objects": {"": [[0, 0, 1, "bcc17-f1", "BCC17-F1"]]}, "objnames": {}})'
    )
    (tmp_path / "searchindex.js").write_text(index, encoding="utf-8")
    body = f'<ul id="search-results">{results}</ul>'
    faults = found(browser, tmp_path, body, (NARROW, "light"), "search.html")
    assert (fault in faults) if fault else not faults


def test_a_page_that_leads_to_another_is_not_looked_at(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(PAGE.format(""), encoding="utf-8")
    leads = '<meta http-equiv="Refresh" content="0; url=page.html" />'
    (tmp_path / "index.html").write_text(leads, encoding="utf-8")
    assert pages_of(tmp_path) == [tmp_path / "page.html"]


def test_of_the_pages_of_claims_some_are_looked_at(tmp_path: Path) -> None:
    (tmp_path / "claims").mkdir()
    for n in range(2 * EVERY):
        (tmp_path / "claims" / f"X-{n:03}.html").write_text(PAGE.format(""), encoding="utf-8")
    (tmp_path / "page.html").write_text(PAGE.format(""), encoding="utf-8")
    names = [path.name for path in pages_of(tmp_path)]
    assert names == ["X-000.html", f"X-{EVERY:03}.html", "page.html"]


def test_of_other_editions_a_text_draws_a_third_and_all_texts_draw_all(tmp_path: Path) -> None:
    first = [tmp_path / f"{n}.html" for n in range(3)]
    others = [tmp_path / f"on/world/{n}.html" for n in range(30)]
    drawn = [draw_pages(tmp_path, [*first, *others], f"commit {n}") for n in range(60)]
    assert all(pages[:3] == first for pages in drawn)
    assert set().union(*drawn) == {*first, *others}
    assert 8 < sum(map(len, drawn)) / 60 - 3 < 12
    assert draw_pages(tmp_path, others, None) == others


@pytest.mark.parametrize(
    ("article", "same"),
    [('<a href="{}x.html">x</a>', True), ('<a href="{}x.html">y</a>', False), (None, False)],
)
@pytest.mark.parametrize(("name", "views"), [("a.html", UNPRINTED), ("01_a.html", VIEWS)])
def test_what_another_edition_says_too_is_opened_once(
    tmp_path: Path, article: str | None, same: bool, name: str, views: list[View]
) -> None:
    """And of the rest its chapters alone on paper."""
    pages = [tmp_path / name, tmp_path / "on/world" / name]
    for path, up in zip(pages, ("", "../../"), strict=True):
        path.parent.mkdir(parents=True, exist_ok=True)
        told = '<a href="{}x.html">x</a>' if path == pages[0] else article
        path.write_text(
            "<main>{}</main>".format(f"<article>{told.format(up)}</article>" if told else "other")
        )
    opened = views_of(tmp_path, pages)
    wanted = [(view, pages[0]) for view in VIEWS] + [(view, pages[1]) for view in views]
    assert opened == ([*wanted[: len(VIEWS)], (UNPRINTED[0], pages[1])] if same else wanted)
    assert views_of(tmp_path, pages[1:]) == wanted[len(VIEWS) :]


DARK_ONLY = "<style>@media (prefers-color-scheme: dark) {{ p {{ color: #999 }} }}</style><p>{}</p>"


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_a_fault_of_one_scheme_is_found_after_the_other(
    browser: Browser, tmp_path: Path, width: int
) -> None:
    path = tmp_path / "page.html"
    path.write_text(PAGE.format(DARK_ONLY.format("pale")), encoding="utf-8")
    with browser.new_context(viewport={"width": width, "height": 900}) as context:
        (fault,) = check_page(context, path, (width, BOTH))[0]
        assert fault.startswith("dark: axe: serious color-contrast at 1 places")
        assert check_page(context, path, (width, BOTH), fully=False)[0] == [fault]


def test_a_page_that_stays_light_for_a_dark_reader_is_found(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(offline_check, "PATIENCE", 500)
    path = tmp_path / "page.html"
    page = PAGE.format("").replace("<html", '<html data-mode="auto" data-theme="light"')
    path.write_text(page, encoding="utf-8")
    with browser.new_context(viewport={"width": WIDE, "height": 900}) as context:
        faults, _ = check_page(context, path, (WIDE, BOTH))
    assert "the page does not follow the scheme of its reader" in faults


OF_KNOWN_COLOURS = "<p id='here'>dark on white</p>"


@pytest.mark.parametrize(
    "changed",
    [
        "<p style='color:#999'>pale</p>",
        "<div style='background:#222'><p>dark on dark</p></div>",
        "<div style='opacity:0.3'><p>faint</p></div>",
        "<style>@media (max-width: 400px) { p { color: #999 } }</style><p>pale on a phone</p>",
        "<button style='color:#aaa; background:#fff'>enabled</button>",
    ],
)
def test_contrast_is_measured_again_where_a_text_is_unlike_those_before(
    browser: Browser, tmp_path: Path, changed: str
) -> None:
    path = tmp_path / "page.html"
    disabled = "<button disabled style='color:#aaa; background:#fff'>disabled</button>"
    with browser.new_context(viewport={"width": NARROW, "height": 900}) as context:
        path.write_text(PAGE.format(OF_KNOWN_COLOURS + disabled), encoding="utf-8")
        assert check_page(context, path, (NARROW, ("light",)))[0] == []
        path.write_text(PAGE.format(OF_KNOWN_COLOURS + changed), encoding="utf-8")
        (fault,) = check_page(context, path, (NARROW, ("light",)), fully=False)[0]
        assert "color-contrast" in fault


def test_contrast_of_texts_that_passed_is_not_measured_again(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "page.html"
    path.write_text(PAGE.format(OF_KNOWN_COLOURS), encoding="utf-8")
    with browser.new_context(viewport={"width": WIDE, "height": 900}) as context:
        assert check_page(context, path, (WIDE, BOTH))[0] == []
        broken = offline_check.CONTRAST.replace("axe.run", "(() => { throw Error('measured') })")
        monkeypatch.setattr(offline_check, "CONTRAST", broken)
        assert check_page(context, path, (WIDE, BOTH), fully=False)[0] == []
        with pytest.raises(Error, match="measured"):
            check_page(context, path, (WIDE, BOTH))


@pytest.mark.parametrize(
    ("width", "fully", "found"),
    [(WIDE, True, 1), (NARROW, True, 1), (WIDE, False, 1), (NARROW, False, 0)],
)
def test_what_no_colour_mends_is_looked_for_once_in_other_editions(
    browser: Browser, tmp_path: Path, width: int, fully: bool, found: int
) -> None:
    path = tmp_path / "page.html"
    path.write_text(PAGE.format("<p><button></button>named by nothing</p>"), encoding="utf-8")
    with browser.new_context(viewport={"width": width, "height": 900}) as context:
        faults, _ = check_page(context, path, (width, BOTH), fully=fully)
    assert len(faults) == found
    assert all("axe: critical button-name" in each for each in faults)


LINK = "<p>Words that go on before <a href='#here' style='color:{}{}'>a link</a> in them.</p>"


@pytest.mark.parametrize("colour", ["#111", "#000080"])
def test_a_link_that_looks_like_the_text_around_it_is_found(
    browser: Browser, tmp_path: Path, colour: str
) -> None:
    """Also where its own colour is known, as that of a link with a line below it."""
    path = tmp_path / "page.html"
    with browser.new_context(viewport={"width": NARROW, "height": 900}) as context:
        path.write_text(PAGE.format(LINK.format(colour, "")), encoding="utf-8")
        assert check_page(context, path, (NARROW, ("light",)))[0] == []
        plain = LINK.format(colour, "; text-decoration: none")
        for fully in (True, False):
            path.write_text(PAGE.format(plain), encoding="utf-8")
            (fault,) = check_page(context, path, (NARROW, ("light",)), fully=fully)[0]
            assert fault.startswith("light: axe: serious link-in-text-block at 1 places")


COLOURS = ["rgb(1, 2, 3)", "rgba(9, 8, 7, 0.25)", "#abc", "hsl(0.5turn 20% 40%)", "transparent"]
READ = """
texts => texts.map(text => {
  const found = new axe.commons.color.Color(9, 9, 9, 0.9).parseString(text);
  return [found.r, found.g, found.b, found.alpha, found.red, found.green, found.blue];
})
"""


def test_colours_are_remembered_as_they_are_read(browser: Browser) -> None:
    page = browser.new_page()
    page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8"))
    read = page.evaluate(READ, COLOURS)
    page.evaluate(REMEMBER_COLOURS)
    assert page.evaluate(READ, COLOURS + COLOURS) == read + read
    assert len({str(each) for each in read}) == len(COLOURS)
    with pytest.raises(Error, match="Unable to parse color"):
        page.evaluate(READ, ["no colour"])
    page.close()
