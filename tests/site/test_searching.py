"""What the search finds beyond pages: definitions, symbols by the names of their letters."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from docutils import nodes
from playwright.sync_api import Browser
from sphinx import addnodes

from searching import defined_symbols, defined_terms, prose, sentence, spoken

STATIC = Path(__file__).parents[2] / "book" / "_static"


def document(*children: nodes.Node) -> nodes.document:
    made = nodes.document(None, None)
    made.extend(children)
    return made


def section(label: str, title: str, *children: nodes.Node) -> nodes.section:
    return nodes.section("", nodes.title("", title), *children, ids=[label])


def paragraph(*children: nodes.Node) -> nodes.paragraph:
    return nodes.paragraph("", "", *children)


def formula(tex: str) -> nodes.math:
    return nodes.math("", tex)


def row(symbol: str, meaning: str) -> nodes.row:
    cells = (paragraph(formula(symbol)), paragraph(nodes.Text(meaning)))
    return nodes.row("", *(nodes.entry("", cell) for cell in cells))


def item(names: list[str], *definition: nodes.Node) -> nodes.definition_list_item:
    terms = [nodes.term("", name, ids=[f"term-{name}"]) for name in names]
    return nodes.definition_list_item("", *terms, nodes.definition("", *definition))


@pytest.mark.parametrize(
    ("tex", "words"),
    [
        (r"R_{train}", "R_train"),
        (r"\mathcal U", "U"),
        (r"\operatorname{avg}_u\,\rho_u", "avg_u ρ_u"),
        (r"\tau_u(i, S)", "τ_u(i, S)"),
    ],
)
def test_a_formula_is_read_in_plain_characters(tex, words):
    assert spoken(tex) == words


def test_a_short_formula_is_a_word_of_its_sentence_and_a_long_one_is_not():
    node = paragraph(nodes.Text("that is "), formula(r"\rho"), nodes.Text(" , "), formula("x" * 30))
    assert list(prose(node)) == ["that", "is", "ρ", ","]
    assert sentence(node) == "that is ρ,"


def test_terms_and_metrics_are_defined():
    glossary = addnodes.glossary(
        "",
        nodes.definition_list(
            "", item(["test set", "test ratings"], paragraph(nodes.Text("Kept back.")))
        ),
    )
    metric = section("metric-p", "Precision, P@n", paragraph(nodes.Text("The share.")))
    plain = section("sec-other", "Other", paragraph(nodes.Text("No metric.")))
    other = nodes.definition_list("", item(["no term"], paragraph(nodes.Text("Of no glossary."))))
    assert list(defined_terms(document(glossary, metric, plain, other))) == [
        [["test set", "test ratings"], "term-test set", "Kept back."],
        [["Precision, P@n"], "metric-p", "The share."],
    ]


def test_symbols_are_found_by_the_names_of_their_letters():
    table = nodes.tbody("", row(r"PR,\ NR", "pairs"), row(r"\sigma_u", "a share"))
    share = item(["Relevant share"], paragraph(formula(r"\rho = 1/t"), nodes.Text(" is a share.")))
    here = section("sec-symbols", "Symbols", table, nodes.definition_list("", share))
    elsewhere = section("sec-else", "Else", nodes.tbody("", row(r"\tau", "another")))
    assert list(defined_symbols(document(here, elsewhere))) == [
        [["PR", "NR"], "sec-symbols", "pairs"],
        [["σ_u", "sigma_u"], "sec-symbols", "a share"],
        [["Relevant share", "ρ", "rho"], "sec-symbols", "ρ = 1/t is a share."],
    ]


TERMS = [
    [["test set", "test ratings"], "book/glossary", "term-test-set", "Kept back."],
    [["unbiased test set"], "book/glossary", "term-unbiased", "Drawn at random."],
    [["leave-one-out"], "book/glossary", "term-loo", "One of each user."],
    [["Relevant share", "ρ", "rho"], "book/notation", "sec-symbols", "ρ is a share."],
]
SECTIONS = {"book/notation": [["sec-symbols", "Symbols", "The share ρ is what chance gives."]]}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("query", "found", "broken"),
    [
        ("test set", ["term-test-set", "term-unbiased"], ("own.includes(word)", "false")),
        ("Test sets", ["term-test-set", "term-unbiased"], ('word.replace(/s$/, "")', "word")),
        ("leave-one-out", ["term-loo"], ("addDefinitions(results, words);", "")),
        ("rho", ["sec-symbols"], ("own.includes(word)", "own.includes(word + 1)")),
        ("set of nothing", [], ("asked.every", "asked.some")),
    ],
)
def test_definitions_stand_before_what_is_found(tmp_path, browser: Browser, query, found, broken):
    def shown(script: str) -> list[str]:
        (tmp_path / "reading.js").write_text(script)
        data = {"searchText": SECTIONS, "searchTerms": TERMS, "searchLetters": {"rho": "ρ"}}
        (tmp_path / "search-text.js").write_text(
            "".join(f"window.{name}={json.dumps(value)};" for name, value in data.items())
        )
        (tmp_path / "search.html").write_text(
            '<meta charset="utf-8"><script src="reading.js"></script><div id="search-results">'
            '<ul><li><a href="book/notation.html">Notation</a></li></ul></div>'
        )
        page = browser.new_page()
        page.goto(f"{(tmp_path / 'search.html').as_uri()}?q={query.replace(' ', '+')}")
        page.wait_for_function("window.searchTerms")
        links = page.evaluate(
            "[...document.querySelectorAll('.search-definitions + #search-results')].length"
            " ? [...document.querySelectorAll('.search-definitions a')].map(e => e.hash) : []"
        )
        if query == "rho":
            context = page.locator("#search-results .context").inner_text()
            assert context == "Symbols: The share ρ is what chance gives."
        page.close()
        return [link.removeprefix("#") for link in links]

    script = (STATIC / "reading.js").read_text()
    assert shown(script) == found
    assert broken[0] in script
    assert shown(script.replace(*broken)) != found
