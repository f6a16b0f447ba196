"""What `check_scorecard` notices: a small scorecard as it is built, and broken twins of it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from playwright.sync_api import Page, sync_playwright

import bookkit
from check_scorecard import check, check_verdicts
from chromium import find_chromium, launch
from recbias.book import matrix
from recbias.book.cards import verdict_cards
from recbias.book.chapters.design_alternatives import setup
from recbias.book.html import table_html
from recbias.claims import claims
from recbias.claims.answers import answer
from recbias.claims.judging import Verdict
from recbias.claims.parts import Part
from recbias.claims.reading import SCHEMA, Totals, answer_totals, totals
from recbias.claims.records import Record
from recbias.claims.writing import build

pytestmark = pytest.mark.slow

STATIC = Path(__file__).parents[2] / "book" / "_static"
BY_ID = {claim.id: claim for claim in claims()}
FOUND = {
    "ml-1m": {"BCC17-F2A": "partly", "BCC17-C-SIG": "yes", "BCC17-L1": "yes", "BCC17-T1": "no"},
    "cm100k": {"BCC17-F2A": "no", "BCC17-C-SIG": "no", "BCC17-L1": "undecided", "BCC17-T1": "yes"},
}
PARTS = (
    Part(
        Record.from_dict(
            {
                "finds": "TI covers {value}",
                "value": "check(covered)",
                "unit": "percent",
                "least": 0.9,
                "published": next(iter(BY_ID["BCC17-F2A"].values)),
            }
        ),
        0.935,
    ),
)
VERDICTS = {
    name: [
        Verdict(BY_ID[claim], verdict, PARTS if claim == "BCC17-F2A" else ())
        for claim, verdict in found.items()
    ]
    for name, found in FOUND.items()
}

DOCUMENT = build(VERDICTS)
for place, told in enumerate(DOCUMENT["claims"]):
    told["answers"] = answer({name: each[place] for name, each in VERDICTS.items()}).to_dict()


def _rows(table: Totals) -> list[list[str]]:
    return [[row, *map(str, cells.values())] for row, cells in table.items()]


needs_browser = pytest.mark.skipif(not find_chromium(), reason="no Chromium")


@pytest.fixture
def small_site(tmp_path: Path) -> Callable[..., Path]:
    """Make a site of a scorecard and a chapter, with one text of one file changed."""
    config = SimpleNamespace(bookkit_edition="ml-1m", bookkit_titles={"ml-1m": "MovieLens 1M"})
    shown = [answer_totals(DOCUMENT), *(totals(DOCUMENT, "ml-1m", strict=s) for s in (False, True))]
    tables = "".join(
        table_html(("class", *next(iter(table.values()))), _rows(table)) for table in shown
    )
    context = {
        "body": matrix.matrix_html(VERDICTS, DOCUMENT) + matrix.scorecard_links(DOCUMENT) + tables
    }
    bookkit.link_cards(SimpleNamespace(config=config), "notebooks/scorecard", "", context, None)

    def make(file: str = "", old: str = "", new: str = "") -> Path:
        head = '<!doctype html><html data-theme="light"><link rel="stylesheet" href="../cards.css">'
        head += '<script src="../scorecard.js"></script>'
        tail = '<body><article class="bd-article">{}</article></body></html>'
        texts = {
            "notebooks/scorecard.html": head + tail.format(context["body"]),
            f"notebooks/{setup.CHAPTER}.html": head + tail.format(verdict_cards(VERDICTS["ml-1m"])),
            "scorecard.js": (STATIC / "scorecard.js").read_text(),
            "cards.css": (STATIC / "cards.css").read_text(),
            "notebooks/claims.json": json.dumps(DOCUMENT),
            "notebooks/recount.py": (STATIC.parent / "recount.py").read_text(),
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
    assert check(small_site(), lambda edition: VERDICTS) == []


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
    found = check(small_site(file, old, new), lambda edition: VERDICTS)
    assert any(fault in each for each in found), found


@pytest.fixture
def page() -> Iterator[Page]:
    with sync_playwright() as playwright:
        browser = launch(playwright)
        yield browser.new_page()
        browser.close()


def exchange_two_links(text: str) -> str:
    one, other = re.findall(r'<td class="[a-z-]+"><a href="([^"]+)"', text)[:2]
    return (
        text.replace(f'"{one}"', '"x"')
        .replace(f'"{other}"', f'"{one}"')
        .replace('"x"', f'"{other}"')
    )


def no_row(text: str) -> str:
    return re.sub(r'<tbody class="claim-row" id="bcc17-l1".*?</tbody>', "", text)


def other_csv(text: str) -> str:
    broken = {name: list(each) for name, each in VERDICTS.items()}
    broken["cm100k"][0] = Verdict(BY_ID["BCC17-F2A"], "no", (Part(PARTS[0].record, 0.5),))
    before, _, after = text.partition('<p class="downloads">')
    return before + matrix.scorecard_links(build(broken)) + after.partition("prints it.</p>")[2]


@needs_browser
@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (
            lambda text: text.replace("ml-1m:partly", "ml-1m:no").replace(
                '<td class="partly"', '<td class="no"'
            ),
            "bcc17-f2a: row of ml-1m:no",
        ),
        (lambda text: text.replace('<td class="no"', '<td class="yes"', 1), "cell ['yes', '✗'"),
        (lambda text: re.sub(r'label="(.*?): \w+"', r'label="\1: yes"', text), "F2A on ml-1m: yes"),
        (lambda text: re.sub(r">[✗?±]</a>", ">✓</a>", text), "cell ['partly', '✓'"),
        (exchange_two_links, "bcc17-"),
        (lambda text: text.replace("93.5", "99.9"), "shows ["),
        (no_row, "bcc17-l1: has no row"),
        (lambda text: text.replace('"data-set"><span>cm100k', '"data-set"><span>x'), "columns"),
        (other_csv, "scorecard.csv: BCC17-F2A on cm100k, value: '0.5' where 0.935"),
        (lambda text: re.sub(r"(text/csv;base64,)[^\"]+", r"\1", text), "scorecard.csv: 0 lines"),
        (lambda text: re.sub(r"(<td>empirical</td>.*?<td>)1<", r"\g<1>2<", text), "totals, "),
    ],
)
def test_what_is_not_judged_is_noticed(
    small_site: Callable[..., Path], page: Page, change: Callable[[str], str], fault: str
) -> None:
    site = small_site()
    path = site / "notebooks" / "scorecard.html"
    text = path.read_text()
    assert change(text) != text
    path.write_text(change(text))
    page.goto(path.as_uri())
    found = list(check_verdicts(page, path, site, VERDICTS))
    assert any(fault in each for each in found), found


def test_a_document_that_is_not_what_is_judged_is_noticed(
    small_site: Callable[..., Path], page: Page
) -> None:
    site = small_site("notebooks/claims.json", '"verdict": "partly"', '"verdict": "yes"')
    path = site / "notebooks" / "scorecard.html"
    page.goto(path.as_uri())
    found = list(check_verdicts(page, path, site, VERDICTS))
    assert found[0] == "claims.json is not what is judged"
    assert [each.partition(":")[0] for each in found[1:]] == ["totals, verdict, empirical"]


def test_what_a_page_offers_is_shipped_beside_it_and_linked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(bookkit._FILES, "claims.json", lambda edition: f"of {edition}")
    app = SimpleNamespace(config=SimpleNamespace(bookkit_edition="ml-1m"), outdir=str(tmp_path))
    context = {"body": matrix.scorecard_links(DOCUMENT)}
    bookkit.ship_files(app, "notebooks/scorecard", "", context, None)
    shipped = {path.name: path.read_text() for path in (tmp_path / "notebooks").iterdir()}
    assert set(shipped) == set(matrix.SITE_FILES)
    assert shipped["claims.json"] == "of ml-1m"
    assert json.loads(shipped["claims.schema.json"])["properties"]["schema"]["const"] == SCHEMA
    for name in shipped:
        assert f'<a href="{name}" download>{name}</a>' in context["body"]
    assert "data-file" not in context["body"]


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
    context = {"body": matrix.matrix_html(verdicts, build(verdicts))}
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
