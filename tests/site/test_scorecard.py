"""What `check_scorecard` notices: a small scorecard as it is built, and broken twins of it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from docutils import nodes
from playwright.sync_api import Page, sync_playwright

import bookkit
import claimpages
from check_scorecard import check, check_verdicts
from chromium import find_chromium, launch
from recbias.book import scorecard
from recbias.book.claim_page import claim_html
from recbias.book.html import claim_link
from recbias.claims import claims
from recbias.claims.answers import answer
from recbias.claims.judging import Verdict
from recbias.claims.parts import Part
from recbias.claims.reading import SCHEMA, csv_text
from recbias.claims.records import Record
from recbias.claims.writing import build

pytestmark = pytest.mark.slow

STATIC = Path(__file__).parents[2] / "book" / "_static"
BY_ID = {claim.id: claim for claim in claims()}
FOUND = {
    "ml-1m": {
        "BCC17-F2A": "partly",
        "BCC17-F2C": "yes",
        "BCC17-C-SIG": "yes",
        "BCC17-EQ1": "no",
        "MCCRS20-F1-BL": "undecided",
    },
    "cm100k": {
        "BCC17-F2A": "no",
        "BCC17-F2C": "no",
        "BCC17-C-SIG": "undecided",
        "BCC17-EQ1": "no",
        "MCCRS20-F1-BL": "yes",
    },
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


def make_document() -> dict[str, Any]:
    verdicts = {
        name: [
            Verdict(BY_ID[claim], verdict, PARTS if claim == "BCC17-F2A" else ())
            for claim, verdict in found.items()
        ]
        for name, found in FOUND.items()
    }
    document = build(verdicts)
    for place, told in enumerate(document["claims"]):
        told["answers"] = answer({name: each[place] for name, each in verdicts.items()}).to_dict()
    return document


DOCUMENT = make_document()
needs_browser = pytest.mark.skipif(not find_chromium(), reason="no Chromium")


def judge(datasets: list[str]) -> dict[str, Any]:
    return DOCUMENT


def linked(name: str, body: str) -> str:
    """Lead claims to their pages, as the site does."""
    app = SimpleNamespace(env=SimpleNamespace(found_docs={claimpages.SCORECARD}))
    context = {"body": body}
    claimpages.link_claims(app, name, "", context, None)
    return context["body"]


@pytest.fixture
def small_site(tmp_path: Path) -> Callable[..., Path]:
    """Make a site of a scorecard, its claims and an index, with one text of one file changed."""
    body = (
        scorecard.totals_html(DOCUMENT)
        + scorecard.rows_html(DOCUMENT)
        + scorecard.all_totals_html(DOCUMENT)
    )

    def make(file: str = "", old: str = "", new: str = "") -> Path:
        head = '<!doctype html><html data-theme="light"><link rel="stylesheet" '
        head += 'href="../cards.css"><link rel="stylesheet" href="../scorecard.css">'
        head += '<script defer src="../scorecard.js"></script>'
        tail = '<body><article class="bd-article">{}</article></body></html>'
        texts = {
            "notebooks/scorecard.html": head
            + tail.format(linked("notebooks/scorecard", body).replace('href="0', 'href="#0')),
            "notebooks/index.html": head
            + tail.format(linked("notebooks/index", scorecard.headlines_html(DOCUMENT))),
            **{
                claim["address"]: head
                + tail.format(
                    f'<section id="{claim["id"].lower()}"><h1>{claim["id"]}</h1>{made}</section>'
                )
                for claim in DOCUMENT["claims"]
                for made in [claim_html(claim, DOCUMENT)]
            },
            **{name: (STATIC / name).read_text() for name in ("scorecard.js", "scorecard.css")},
            "cards.css": (STATIC / "cards.css").read_text(),
            "notebooks/claims.json": json.dumps(DOCUMENT),
            "notebooks/scorecard.csv": csv_text(DOCUMENT),
            "notebooks/recount.py": (STATIC.parent / "recount.py").read_text(),
        }
        if file:
            assert old in texts[file]
            texts[file] = texts[file].replace(old, new, 1)
        for name, text in texts.items():
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(text)
        return tmp_path

    return make


@needs_browser
def test_a_sound_scorecard_has_no_faults(small_site: Callable[..., Path]) -> None:
    assert check(small_site(), judge) == []


@needs_browser
@pytest.mark.parametrize(
    ("file", "old", "new", "fault"),
    [
        ("scorecard.js", "!value || row.dataset[name] === value", "true", "filter {'paper'"),
        ("scorecard.js", "texts.get(row).includes(word)", "true", "filter {'text'"),
        ("scorecard.js", " ${row.dataset.authors}", "", "filter {'text': 'Mena-Maldonado'}"),
        ("scorecard.js", "`${left.length} of", "`${left.length + 1} of", "says"),
        ("scorecard.js", "(want.class || COUNTED)", "COUNTED", "totals"),
        ("scorecard.js", "part.style.flexGrow = n", "part.style.flexGrow = 1 + n", "is drawn as"),
        ("scorecard.js", "authors.get(paper)", "paper", "the menu of papers"),
        ("scorecard.js", "elements[name].value = value", "elements[name].value = ''",
         ": totals of"),
        ("scorecard.js", "elements.class.value = COUNTED", "elements.class.value = ''",
         "rows are left"),
        ("scorecard.js", '(name === "verdict" ? form : totals).scrollIntoView()',
         "scrollBy(0, 9999)", "out of sight"),
        ("scorecard.js", '"beforeprint"', '"never"', "on paper"),
        ("notebooks/scorecard.html", '<a class="to-claim" ', '<a class="to-claim" tabindex="-1" ',
         "tabulator"),
        ("notebooks/scorecard.html", '"bd-article">', '"bd-article"><p style="height:3600px">',
         "screens tall"),
        ("notebooks/scorecard.html", '"bd-article">', '"bd-article"><p style="width:500px">x',
         "px wide in a window"),
        ("notebooks/scorecard.html", 'class="claim-row"', 'hidden class="claim-row"',
         "without scripts"),
        ("notebooks/index.html", "BCC17-F2C.html", "BCC17-F2A.html", "does popularity still win"),
        ("notebooks/index.html", "claims/MCCRS20-F1-BL", "notebooks/index", "is the headline of"),
    ],
)  # fmt: skip
def test_a_broken_scorecard_is_noticed(
    small_site: Callable[..., Path], file: str, old: str, new: str, fault: str
) -> None:
    found = check(small_site(file, old, new), judge)
    assert any(fault in each for each in found), found


@pytest.fixture
def page() -> Iterator[Page]:
    with sync_playwright() as playwright:
        browser = launch(playwright)
        yield browser.new_page()
        browser.close()


def no_row(text: str) -> str:
    return re.sub(r'<tr class="claim-row" id="bcc17-f2c".*?</tr>', "", text)


def other(old: str, new: str) -> Callable[[str], str]:
    """Change the row of BCC17-F2A."""

    def change(text: str) -> str:
        before, row, after = re.split(
            r'(<tr class="claim-row" id="bcc17-f2a".*?</tr>)', text, maxsplit=1
        )
        return before + re.sub(old, new, row) + after

    return change


@needs_browser
@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (other('data-verdict="partly"', 'data-verdict="yes"'), "is filed under {'verdict': 'yes'}"),
        (other(r"</span> partly", "</span> yes"), "shows '± yes', not ± partly"),
        (other(r">±<", ">✓<"), "signs"),
        (other(r"cm100k no", "cm100k yes"), "by data set"),
        (other(r"about its own data", "holds on 4 of 4"), "holds on 4 of 4"),
        (other(r"93\.5", "99.9"), "neither measured nor published"),
        (other(r"claims/BCC17-F2A", "claims/BCC17-F2B"), "is no page of it"),
        (other(r"claims/BCC17-F2A", "claims/BCC17-F2C"), "is no page of it"),
        (no_row, "BCC17-F2C: has no row"),
        (lambda text: text.replace("grow: 1", "grow: 2", 1), "bar of"),
        (lambda text: re.sub(r'data-n="all">3<', 'data-n="all">4<', text), "of 4 claims"),
        (lambda text: re.sub(r'data-n="all">4<', 'data-n="all">5<', text), "totals {"),
        (lambda text: text.replace('"n">1<', '"n">2<', 1), "chapter-"),
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
    # The script would count anew: what is looked at is what stands without it.
    path.write_text(change(text).replace("<script", "<script type='text/none'"))
    page.goto(path.as_uri())
    page.evaluate(
        "document.querySelector('article').insertAdjacentHTML('beforeend',"
        "'<form class=filters><output></output></form>')"
    )
    found = list(check_verdicts(page, path, judge))
    assert any(fault in each for each in found), found


@needs_browser
@pytest.mark.parametrize(
    ("file", "old", "new", "fault"),
    [
        ("notebooks/claims.json", '"verdict": "partly"', '"verdict": "yes"', "claims.json is not"),
        ("notebooks/scorecard.csv", ",0.935,", ",0.5,", "scorecard.csv is not"),
        ("claims/BCC17-F2A.html", "</span> partly", "</span> yes", "does not say"),
        ("notebooks/recount.py", "+= 1", "+= 2", "totals"),
    ],
)
def test_a_file_that_is_not_what_is_judged_is_noticed(
    small_site: Callable[..., Path], page: Page, file: str, old: str, new: str, fault: str
) -> None:
    path = small_site(file, old, new) / "notebooks" / "scorecard.html"
    page.goto(path.as_uri())
    page.wait_for_function("document.querySelector('.filters')")
    found = list(check_verdicts(page, path, judge))
    assert any(fault in each for each in found), found


def test_what_a_page_offers_is_shipped_beside_it_and_linked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("claims.json", "scorecard.csv"):
        monkeypatch.setitem(bookkit._FILES, name, lambda edition: f"of {edition}")
    app = SimpleNamespace(config=SimpleNamespace(bookkit_edition="ml-1m"), outdir=str(tmp_path))
    context = {"body": scorecard.files_html()}
    bookkit.ship_files(app, "notebooks/scorecard", "", context, None)
    shipped = {path.name: path.read_text() for path in (tmp_path / "notebooks").iterdir()}
    assert set(shipped) == set(scorecard.SITE_FILES)
    assert shipped["claims.json"] == "of ml-1m"
    assert json.loads(shipped["claims.schema.json"])["properties"]["schema"]["const"] == SCHEMA
    for name in shipped:
        assert f'<a href="{name}" download>{name}</a>' in context["body"]
    assert "data-file" not in context["body"]


@pytest.mark.parametrize(
    ("name", "link"),
    [("notebooks/index", "../claims/BCC17-F2A.html"), ("top", "claims/BCC17-F2A.html")],
)
def test_a_claim_leads_to_its_page_where_there_is_one(name: str, link: str) -> None:
    body = '<a class="to-claim" data-claim="BCC17-F2A">F2A</a>'
    assert linked(name, body) == f'<a class="to-claim" href="{link}">F2A</a>'
    context = {"body": body}
    app = SimpleNamespace(env=SimpleNamespace(found_docs=set()))
    claimpages.link_claims(app, name, "", context, None)
    assert context["body"] == body


def test_claims_in_running_text_lead_to_their_pages_and_nothing_else_does() -> None:
    page = nodes.document(None, None)
    code = nodes.literal("", "BCC17-F2A")
    page += nodes.paragraph("", "", nodes.Text("Say so (BCC17-F2A, BCC17-F99), "), code)
    page += nodes.paragraph("", "Nothing of BCC17 here.")
    claimpages.mark_claims(SimpleNamespace(), page)
    said = f"Say so ({claim_link('BCC17-F2A', 'BCC17-F2A')}, BCC17-F99), BCC17-F2A"
    assert [each.astext() for each in page] == [said, "Nothing of BCC17 here."]
    assert [str(text) for text in page.findall(nodes.Text)].count("BCC17-F2A") == 2


def test_a_claim_in_a_link_is_no_second_link() -> None:
    """A twin out of the link is marked, and the one in it is left as it is."""
    start, end = claim_link("BCC17-F2A", "|").split("|")
    tags = [nodes.raw("", tag, format="html") for tag in (start, end)]
    page = nodes.document(None, None)
    page += nodes.paragraph(
        "", "", tags[0], nodes.Text("BCC17-F2A"), tags[1], nodes.Text(" BCC17-F2A")
    )
    claimpages.mark_claims(SimpleNamespace(), page)
    link = claim_link("BCC17-F2A", "BCC17-F2A")
    assert page.astext() == f"{link} {link}"


def test_an_edition_is_called_without_brackets_unless_two_would_share_the_name() -> None:
    titles = {"a": "MovieLens 1M (stars 1-3 merged)", "b": "Synthetic world"}
    assert bookkit._short(titles, "a") == "MovieLens 1M"
    titles["c"] = "MovieLens 1M"
    assert bookkit._short(titles, "a") == titles["a"]
