"""What `check_scorecard` notices: a small scorecard as it is built, and broken twins of it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from check_scorecard import check

import bookkit
from recbias.claims import claims, matrix, verdict_cards
from recbias.claims import design_alternatives as chapter
from recbias.claims.judging import Verdict

STATIC = Path(__file__).parents[2] / "book" / "_static"
BY_ID = {claim.id: claim for claim in claims()}
FOUND = {
    "ml-1m": {"BCC17-F2A": "partly", "BCC17-C-SIG": "yes", "BCC17-L1": "yes", "BCC17-T1": "no"},
    "cm100k": {"BCC17-F2A": "no", "BCC17-C-SIG": "no", "BCC17-L1": "undecided", "BCC17-T1": "yes"},
}

needs_browser = pytest.mark.skipif(
    not (os.environ.get("CHROMIUM") or shutil.which("chromium")), reason="no Chromium"
)


@pytest.fixture
def small_site(tmp_path: Path) -> Callable[..., Path]:
    """Make a site of a scorecard and a chapter, with one text of one file changed."""
    verdicts = {
        name: [Verdict(BY_ID[claim], verdict) for claim, verdict in found.items()]
        for name, found in FOUND.items()
    }

    def make(file: str = "", old: str = "", new: str = "") -> Path:
        head = '<!doctype html><html data-theme="light"><link rel="stylesheet" href="../cards.css">'
        head += '<script src="../scorecard.js"></script>'
        tail = '<body><article class="bd-article">{}</article></body></html>'
        texts = {
            "notebooks/scorecard.html": head + tail.format(matrix.matrix_html(verdicts)),
            f"notebooks/{chapter.CHAPTER}.html": head
            + tail.format(verdict_cards(verdicts["ml-1m"])),
            "scorecard.js": (STATIC / "scorecard.js").read_text(),
            "cards.css": (STATIC / "cards.css").read_text(),
        }
        if file:
            assert old in texts[file]
            texts[file] = texts[file].replace(old, new, 1)
        (tmp_path / "notebooks").mkdir()
        for name, text in texts.items():
            (tmp_path / name).write_text(text)
        return tmp_path

    return make


@needs_browser
def test_a_sound_scorecard_has_no_faults(small_site: Callable[..., Path]) -> None:
    assert check(small_site()) == []


@needs_browser
@pytest.mark.parametrize(
    ("file", "old", "new", "fault"),
    [
        ("scorecard.js", "!looked.includes", "looked.includes", "filter {'verdict'"),
        ("scorecard.js", "row.dataset[name] !== want[name]", "false", "filter {'class'"),
        ("scorecard.js", "`${count} of", "`${count + 1} of", "says"),
        ("notebooks/scorecard.html", '<td class="partly"><a', '<td class="yes"><a', "are not"),
        ("notebooks/scorecard.html", 'href="#bcc17-f2a-cm', 'tabindex="-1" href="#bcc17-f2a-cm',
         "tabulator"),
        ("notebooks/scorecard.html", '"bd-article">', '"bd-article"><p style="height:3600px">',
         "screens tall"),
        ("notebooks/scorecard.html", '"bd-article">', '"bd-article"><p style="width:500px">x',
         "px wide in a window"),
        ("notebooks/scorecard.html", 'id="bcc17-f2a-cm100k"', 'id="x"', "no such anchor"),
        ("notebooks/scorecard.html", 'class="claim-row"', 'hidden class="claim-row"',
         "without scripts"),
    ],
)  # fmt: skip
def test_a_broken_scorecard_is_noticed(
    small_site: Callable[..., Path], file: str, old: str, new: str, fault: str
) -> None:
    found = check(small_site(file, old, new))
    assert any(fault in each for each in found), found


@pytest.mark.parametrize(
    ("edition", "wanted"),
    [
        ("ml-1m", ["01_design_alternatives.html#bcc17-f2a", "#bcc17-f2a-cm100k"]),
        ("cm100k", ["../../../notebooks/01_design_alternatives.html#bcc17-f2a", None]),
    ],
)
def test_a_cell_leads_to_the_card_of_its_edition(edition: str, wanted: list[str | None]) -> None:
    """Of the two, only the editions that are built have cards; the other's findings are here."""
    verdicts = {name: [Verdict(BY_ID["BCC17-F2A"], "no")] for name in FOUND}
    titles = {"ml-1m": "MovieLens 1M"} | ({"cm100k": "CM100k"} if edition == "cm100k" else {})
    config = SimpleNamespace(bookkit_edition=edition, bookkit_titles=titles)
    context = {"body": matrix.matrix_html(verdicts)}
    bookkit.link_cards(SimpleNamespace(config=config), "notebooks/scorecard", "", context, None)
    own = "01_design_alternatives.html#bcc17-f2a"
    for link in wanted:
        assert f'<a href="{link or own}" aria-label' in context["body"]
    assert "data-card" not in context["body"]


def test_an_edition_is_called_without_brackets_unless_two_would_share_the_name() -> None:
    titles = {"a": "MovieLens 1M (stars 1-3 merged)", "b": "Synthetic world"}
    assert bookkit._short(titles, "a") == "MovieLens 1M"
    titles["c"] = "MovieLens 1M"
    assert bookkit._short(titles, "a") == titles["a"]
