"""Slides of a chapter: made of its page, linked from it, shown from disk, laid out for paper."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from check_findings import deck_faults, prediction_faults, read_page
from offline_check import check_page, order_faults
from slides import MOST_SLIDES, Slide, _covered, _figure_first, _shortened, _with_codes

pytestmark = pytest.mark.slow

PIECE = re.compile(r"<(?:p|li)\b.*?</(?:p|li)>", re.DOTALL)
EDITIONS = (".", "on/synthetic")


def words(html: str) -> str:
    """Give the text of HTML, spaces made one."""
    text = re.sub(r"<aside class=\"notes\">.*?</aside>", " ", html, flags=re.DOTALL)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", text)).strip()


@pytest.mark.parametrize("edition", EDITIONS)
def test_each_chapter_links_its_deck_and_the_deck_its_chapter(site: Path, edition: str) -> None:
    page = (site / edition / "notebooks/01_tiny.html").read_text(encoding="utf-8")
    deck = (site / edition / "slides/01_tiny.html").read_text(encoding="utf-8")
    assert 'href="../slides/01_tiny.html"' in page
    assert 'href="../notebooks/01_tiny.html"' in deck
    up = "../" if edition == "." else "../../../"
    assert f'src="{up}_static/reveal/reveal.js"' in deck


@pytest.mark.parametrize("edition", EDITIONS)
def test_a_deck_has_no_words_of_its_own(site: Path, edition: str) -> None:
    page = words((site / edition / "notebooks/01_tiny.html").read_text(encoding="utf-8"))
    deck = (site / edition / "slides/01_tiny.html").read_text(encoding="utf-8")
    bodies = re.findall(r'<div class="body">(.*?)</div>', deck, re.DOTALL)
    pieces = [each for body in bodies for each in PIECE.findall(body)]
    texts = [words(each) for each in pieces]
    assert len(texts) >= 5
    own = "No option is decided by these data."
    assert [text for text in texts if text not in page and text != own] == []


@pytest.mark.parametrize("edition", EDITIONS)
def test_the_marked_option_is_that_of_the_page(site: Path, edition: str) -> None:
    page = (site / edition / "notebooks/01_tiny.html").read_text(encoding="utf-8")
    deck = (site / edition / "slides/01_tiny.html").read_text(encoding="utf-8")
    (right,) = re.findall(r'data-right="([^"]+)"', page)
    (options,) = re.findall(r'<section class="predict">.*?<ol>(.*?)</ol>', deck, re.DOTALL)
    marked = [
        str(number)
        for number, option in enumerate(re.findall(r"<li[^>]*>", options), start=1)
        if "highlight-right" in option
    ]
    assert marked == [each for each in right.split() if each.isdecimal()]


def test_what_a_deck_or_a_page_says_wrongly_is_noticed(site: Path) -> None:
    page = (site / "notebooks/01_tiny.html").read_text(encoding="utf-8")
    sentence = read_page(page)[0]
    copied = (
        f'<span class="finding" data-part="{sentence.part}" data-verdict="{sentence.verdict}">'
        f"{sentence.text}</span>"
    )
    assert deck_faults(copied, page) == []
    assert len(deck_faults(copied.replace(sentence.text, "Another."), page)) == 1
    assert len(deck_faults(copied.replace(f'"{sentence.verdict}"', '"open"'), page)) == 1
    real = '<div class="predict" id="a" data-right="2" data-key="k">'
    assert prediction_faults(real, "notebooks/none", "ml-1m") != []


def test_a_deck_opens_from_disk_and_what_is_wrong_with_it_is_told(
    site: Path, browser, tmp_path: Path
) -> None:
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    deck = site / "slides/01_tiny.html"
    faults, n_requests = check_page(context, deck, (1400, ("light", "dark")))
    assert [each for each in faults if "slides, not 15 to 20" not in each] == []
    assert n_requests > 2
    text = deck.read_text(encoding="utf-8").replace("../_static", (site / "_static").as_uri())
    body = '<div class="body">'
    planted = {
        "text of 12.0 px": (body, f'{body}<p style="font-size:12px">a</p>'),
        "words": ('<div class="body">', '<div class="body"><p>' + "word " * 70 + "</p>"),
        "higher than the window": ('<div class="body">', '<div class="body" style="height:900px">'),
        "wider than the window": (
            '<div class="body">',
            '<div class="body" style="width:1900px;height:9px">',
        ),
        "no notes": ('<aside class="notes">', '<aside class="other" hidden>'),
        "color-contrast": (body, f'{body}<p style="color:#ccc">pale</p>'),
        "answers before it asks": (body, f"{body}<p>It is so.</p>"),
        "AN stands before": ("<h1>", "<h1>AN or NN? "),
        "1RP stands before": ("<h1>", "<h1>1RP@10? "),
        "no rule: Why?": (
            "</section>",
            f'</section><section class="rules">{body}<ol><li>Why?</li></ol></div></section>',
        ),
        "request to http": ("</body>", '<img src="http://localhost:1/a.png" alt=""></body>'),
    }
    (tmp_path / "slides").mkdir()
    for fault, (old, new) in planted.items():
        broken = tmp_path / "slides" / "broken.html"
        broken.write_text(text.replace(old, new, 1), encoding="utf-8")
        faults, _ = check_page(context, broken, (1400, ("light",)), fully=False)
        assert any(fault in each for each in faults), (fault, faults)
    context.close()


def test_codes_are_defined_before_the_first_slide_that_uses_one() -> None:
    codes = Slide("codes", "Codes", "<table></table>")
    named = [Slide("title", "Q", ""), Slide("context", "P", "<p>So.</p>"),
             Slide("predict", "Is TI-AN-AR higher?", "<ol></ol>")]  # fmt: skip
    kinds = [slide.kind for slide in _with_codes(named, codes)]
    assert kinds == ["title", "codes", "context", "predict"]
    assert _with_codes(named, None) == named
    figure = Slide("figure", "Worlds", "<svg><text>1RP@10</text></svg>")
    assert _with_codes([named[0], figure], codes) == [named[0], codes, figure]
    # AR alone is an algorithm, too; what a picture tells to those who do not see it is not shown.
    other = [Slide("title", "AR or kNN?", "<svg><title>TI</title></svg>")]
    assert _with_codes(other, codes) == other
    many = [*named, *(Slide("sentence", "S", "<p>So.</p>") for _ in range(30))]
    assert len(_with_codes(many, codes)) == MOST_SLIDES
    # Notes of a sentence that is left out go to the slide before it, if it has not said them.
    many = [Slide("figure", "T", "f", ["x"]) for _ in range(MOST_SLIDES)]
    short = _with_codes([*many, Slide("sentence", "T", "s", ["x", "y"])], None)
    assert short[-1].notes == ["x", "y"]


def test_of_a_case_by_hand_the_numbers_of_the_last_columns_turn_up_later() -> None:
    def covered(*cells: str) -> list[int]:
        row = "".join(f"<td>{cell}</td>" for cell in cells)
        shown = _covered(f"<table><tr><th><p>1</p></th></tr><tr>{row}</tr></table>")
        assert re.sub(r' class="fragment" data-fragment-index="1"', "", shown).count(row) == 1
        return [n for n, cell in enumerate(shown.split("<td>")[1:]) if "fragment" in cell]

    assert covered("<p>A</p>", "<p>60</p>", "<p>12</p>", "<p>1/2</p>") == [2, 3]
    column = '<span class="column">all</span>'
    assert covered("<p>P@2</p>", f"{column}<p>X, 0.75</p>", f"{column}<p>Y, 1</p>") == [1, 2]
    assert covered("<p>A</p>", "<p>yes</p>", "<p>no</p>", "<p>hit</p>") == []  # what is given
    assert covered("<p>A</p>", "<p>1</p>") == []


def test_a_long_rule_keeps_what_it_asks_for() -> None:
    bold, long = "<strong>Never compare</strong>", "all of these depend on " * 9
    assert _shortened(f"{bold} values of two data sets: {long}", bold) == (
        f"{bold} values of two data sets"
    )
    assert _shortened(f"{bold} {long}", bold) == bold


def test_a_sentence_has_a_figure_before_it_and_that_of_the_lead_if_there_is_no_other() -> None:
    title, told = Slide("title", "Q?", ""), Slide("sentence", "S", "<p>So.</p>")
    other, lead = Slide("figure", "S", "<svg></svg>"), Slide("figure", "Q?", "<svg></svg>")
    answer = Slide("answer", "Q?", "<p>Yes.</p>")
    moved = _figure_first([title, told, other, lead, answer], "Q?")
    assert moved == [title, lead, told, other, answer]
    kept = [title, other, told, lead, answer]
    assert _figure_first(kept, "Q?") == kept
    asked = Slide("predict", "P", "<ol></ol>")
    shown = [[each.kind, each.body, ""] for each in (title, asked, lead, told)]
    assert order_faults(shown) == []
    assert order_faults([*shown[:2], shown[3], shown[2]]) == [
        "a sentence stands before all figures"
    ]
    used = ["figure", "", "percentiles (P1R)"]
    codes = ["codes", "", "1R one per ranking"]
    assert order_faults([*shown, codes, used]) == ["no slide says what P1R is"]
    assert order_faults([*shown, [*codes[:2], "1R one per ranking P1R each"], used]) == []


def test_notes_are_shown_where_they_are_asked_for(site: Path, browser) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    address = (site / "slides/01_tiny.html").as_uri()
    page.goto(address)
    page.wait_for_function("Reveal.isReady()")
    assert not page.locator(".speaker-notes").is_visible()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("Reveal.getIndices().h") == 1
    page.goto(f"{address}?notes")
    page.wait_for_function("Reveal.isReady()")
    assert " min, until 0:01." in page.inner_text(".speaker-notes")
    page.goto(f"{address}?print-pdf&notes")
    page.wait_for_selector(".pdf-page", state="attached")
    assert page.locator(".speaker-notes-pdf").count() == page.locator(".pdf-page section").count()
    page.close()


def test_the_notes_have_a_window_of_their_own_that_follows(site: Path, browser) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    page = context.new_page()
    page.goto((site / "slides/01_tiny.html").as_uri())
    page.wait_for_function("Reveal.isReady()")
    with context.expect_page() as opened:
        page.keyboard.press("s")
    notes = opened.value
    assert " min, until 0:01." in notes.inner_text(".said")
    assert notes.inner_text(".place").startswith("1 / ")
    page.keyboard.press("ArrowRight")
    notes.wait_for_function("document.querySelector('.place').textContent.startsWith('2 / ')")
    assert page.locator("section.present h2").inner_text() == notes.inner_text("h1")
    context.close()


def test_without_scripts_a_deck_reads_as_a_page(site: Path, browser) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((site / "slides/01_tiny.html").as_uri())
    sections = page.locator(".slides > section")
    tops = [sections.nth(n).bounding_box()["y"] for n in range(sections.count())]
    assert tops == sorted(set(tops))
    assert all(sections.nth(n).is_visible() for n in range(sections.count()))
    context.close()
