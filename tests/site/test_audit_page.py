"""The page of an audit as a reader has it: from disk, on a phone, in the dark and on paper."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from recbias import System
from recbias.audit import audit

pytestmark = pytest.mark.slow

WIDTHS = (390, 1300)
SCHEMES = ("light", "dark")
LEAST = 4.5

CONTRASTS = """
() => {
  const part = c => c <= 10 ? c / 3294.6 : ((c / 255 + .055) / 1.055) ** 2.4;
  const numbers = text => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => .2126 * part(r) + .7152 * part(g) + .0722 * part(b);
  const behind = e => {
    for (; e; e = e.parentElement) {
      const color = numbers(getComputedStyle(e).backgroundColor);
      if (color.length < 4 || color[3] > 0) return color;
    }
    return [255, 255, 255];
  };
  const said = e => [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim());
  return [...document.querySelectorAll('body *')].filter(e => said(e) && e.checkVisibility())
    .map(e => {
      const [one, other] = [light(numbers(getComputedStyle(e).color)), light(behind(e))];
      const ratio = (Math.max(one, other) + .05) / (Math.min(one, other) + .05);
      return [ratio, e.textContent.trim().slice(0, 40)];
    });
}
"""
# A change of the medium reaches what is folded with the frame after it.
NEXT_FRAME = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
UNFOLD = "document.querySelectorAll('details').forEach(e => { e.open = true })"
FOLDED_AWAY = """
[...document.querySelectorAll('details')].flatMap(fold => [...fold.children].slice(1)
  .filter(e => !e.checkVisibility({contentVisibilityAuto: true})
               || e.getBoundingClientRect().height < 5)
  .map(e => fold.textContent.slice(0, 40)))
"""


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("audit")
    options = {
        "B1": ("", "users=relevant"),
        "C1": ("AI-AN-AR", "condensed"),
        "C2": ("metric: P@10", "metric: nDCG@10", "metric: antiP@10"),
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RECBIAS_CELLS", str(folder / "cells"))
        first = System("<script>mine</script> of a rather long name", "RelevantPopularity")
        found = audit(
            "world(users=60,items=80)", first, System("Average rating", "AverageRating"),
            split="ratio 0.5", options=options,
        )  # fmt: skip
    found.save(folder / "audit.html")
    return folder / "audit.html"


@pytest.fixture(params=[(w, s) for w in WIDTHS for s in SCHEMES], ids=lambda view: f"{view}")
def opened(
    request: pytest.FixtureRequest, browser: Browser, page_file: Path
) -> Iterator[tuple[Page, list[str]]]:
    """The page from disk, in one of the views, and what it asked for or complained of."""
    width, scheme = request.param
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True
    )
    page, heard = context.new_page(), []
    page.on("request", lambda asked: heard.append(asked.url))
    page.on("console", lambda said: heard.append(said.text))
    page.on("pageerror", lambda error: heard.append(str(error)))
    page.goto(page_file.as_uri())
    yield page, heard
    context.close()


def test_it_asks_for_nothing_fits_and_can_be_read(
    opened: tuple[Page, list[str]], page_file: Path
) -> None:
    page, heard = opened
    page.evaluate(UNFOLD)
    assert heard == [page_file.as_uri()]
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    contrasts = page.evaluate(CONTRASTS)
    assert len(contrasts) > 100
    assert [found for found in contrasts if found[0] < LEAST] == []


def test_a_grey_that_cannot_be_read_would_be_seen(
    opened: tuple[Page, list[str]],
) -> None:
    page, _ = opened
    page.add_style_tag(content=":root { --soft: #888; } body { background: #777; }")
    assert [found for found in page.evaluate(CONTRASTS) if found[0] < LEAST]


def test_paper_has_what_is_folded(browser: Browser, page_file: Path) -> None:
    context = browser.new_context(viewport={"width": 700, "height": 900}, color_scheme="dark")
    page = context.new_page()
    page.goto(page_file.as_uri())
    assert page.evaluate(FOLDED_AWAY)  # on the screen it is folded
    page.emulate_media(media="print")
    page.evaluate(NEXT_FRAME)
    assert page.evaluate(FOLDED_AWAY) == []
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert [found for found in page.evaluate(CONTRASTS) if found[0] < LEAST] == []
    context.close()


def test_the_first_screen_says_it_in_words(opened: tuple[Page, list[str]]) -> None:
    page, _ = opened
    assert page.locator("script").count() == 0
    first = page.locator("main > p").first.inner_text()
    assert "C1:" not in first
    assert "C2:" not in first
