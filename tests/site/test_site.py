"""The site: editions side by side, shared files, no dead link, nothing from elsewhere."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest

from bookkit import use_address
from check_links import faults
from recbias.book.notebooks import BuildError
from recbias.book.site import _take_next, build_site, default_editions
from recbias.errors import ConfigError

pytestmark = pytest.mark.slow

CLONE = Path(__file__).parents[2]


def page(site: Path, name: str = "notebooks/01_tiny", edition: str = ".") -> str:
    return (site / edition / f"{name}.html").read_text(encoding="utf-8")


def test_no_dead_links_and_nothing_from_elsewhere(site: Path) -> None:
    assert faults(site) == []


@pytest.mark.parametrize(
    ("link", "fault"),
    [
        ('<a href="nowhere.html">', "no such file"),
        ('<meta http-equiv="Refresh" content="0; url=nowhere.html">', "no such file"),
        ('<a href="index.html#nowhere">', "no such anchor"),
        ('<a href="../index.html">', "leaves the site"),
        ('<script src="https://example.org/x.js">', "loaded from another host"),
        ('<img src="//example.org/x.png">', "loaded from another host"),
    ],
)
def test_the_link_check_finds(tmp_path: Path, link: str, fault: str) -> None:
    (tmp_path / "index.html").write_text(f'<p id="here">{link}<a href="#here">')
    (found,) = faults(tmp_path)
    assert fault in found


def test_every_edition_has_the_same_pages_on_its_own_data(site: Path) -> None:
    pages = {path.relative_to(site).as_posix() for path in site.rglob("*.html")}
    second = {name.removeprefix("on/synthetic/") for name in pages if name.startswith("on/")}
    assert second == {name for name in pages if not name.startswith("on/")}
    assert "ml-1m: 2.0 with 100 sampled items" in page(site)
    assert "synthetic: 2.0 with 100 sampled items" in page(site, edition="on/synthetic")


def test_the_switch_keeps_the_page(site: Path) -> None:
    def choices(text: str) -> list[tuple[str, str]]:
        switch = text[text.index("dataset-switcher") :]
        return re.findall(
            r'<li><a href="([^"]+)"[^>]*>([^<]+)</a>', switch[: switch.index("</ul>")]
        )

    titles = ["MovieLens 1M (stars 1-3 merged)", "Synthetic world"]
    assert choices(page(site)) == list(
        zip(["01_tiny.html", "../on/synthetic/notebooks/01_tiny.html"], titles, strict=True)
    )
    assert choices(page(site, edition="on/synthetic")) == list(
        zip(["../../../notebooks/01_tiny.html", "01_tiny.html"], titles, strict=True)
    )
    assert [url for url, _ in choices(page(site, "search", "on/synthetic"))] == [
        "../../book/index.html",
        "book/index.html",
    ]


def test_editions_share_static_files_but_not_the_search_index(site: Path) -> None:
    assert not (site / "on/synthetic/_static").exists()
    assert 'src="../../../_static/' in page(site, edition="on/synthetic")
    assert 'src="searchindex.js"' in page(site, "search", "on/synthetic")
    assert (site / "on/synthetic/searchindex.js").is_file()
    assert not list((site / "_static").glob("*.html"))


def test_formulas_need_no_network(site: Path) -> None:
    assert "_static/mathjax/tex-chtml-full.js" in page(site)
    assert (site / "_static/mathjax/output/chtml/fonts/woff-v2/MathJax_Main-Regular.woff").is_file()


def test_numbers_of_the_prose_come_from_the_run(site: Path) -> None:
    text = re.sub(r"<[^>]+>", "", page(site))
    assert "Theory says: 2.0 in" in re.sub(r"\s+", " ", text)
    assert "Table 1.1" in text
    assert "Fig. 1.1" in text


def test_sentences_that_follow_verdicts_stand_in_the_running_text(site: Path) -> None:
    text = re.sub(r"\s+", " ", page(site))
    start = text.index('<p><span class="finding"')
    paragraph = text[start : text.index("</p>", start)]
    assert paragraph.startswith(
        '<p><span class="finding" data-part="BCC17-F2A/1" data-verdict="holds">It <em>holds</em> '
        'at 0.5: <span class="pasted-text">2</span>, <span class="math notranslate'
    )
    assert 'href="#fig-line"' in paragraph
    assert paragraph.endswith("</a>.</span> Then more, in one paragraph.")
    note = text[text.index('<div class="admonition note">') :]
    assert re.findall(r"<li><p>(.*?)</p></li>", note[: note.index("</div>")]) == [
        '<span class="finding" data-part="BCC17-F2A/4" data-verdict="refuted">This item '
        "stays.</span>"
    ]
    assert "It is not." not in text
    assert "{finding}" not in text


def test_without_a_public_address_no_button_needs_one(site: Path) -> None:
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"source-(repository|edit|issues)-button|launch-buttons", text)
        assert "mybinder" not in text
        assert "executablebooks" not in text


def test_the_notebook_download_reads_well_anywhere(site: Path) -> None:
    assert "_sources/notebooks/01_tiny.ipynb" in page(site)
    notebook = nbformat.read(site / "_sources/notebooks/01_tiny.ipynb", as_version=4)
    nbformat.validate(notebook)
    prose = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    assert "Theory says: 2.0 in the\nbook, see (sum), Figure 1 and Figure 2; [BCC17]." in prose
    assert "> **Exercise: Add**\n>\n> What is $2 + 2$?" in prose
    assert not re.search(r"\{[\w:-]+\}`|```\{", prose)
    assert "It *holds* at 0.5: 2, $x^2$ and Figure 1.\nThen more, in one paragraph." in prose
    assert "> - This item stays." in prose
    assert "<span" not in prose
    assert {"metadata", "cells", "nbformat", "nbformat_minor"} == set(
        json.loads((site / "_sources/notebooks/01_tiny.ipynb").read_text())
    )


def test_a_faulty_page_is_named_and_the_site_kept(book: Path) -> None:
    site = book / "_build" / "site"
    site.mkdir(parents=True)
    (site / "index.html").write_text("the last good one")
    chapter = book / "notebooks/01_tiny.py"
    text = chapter.read_text().replace("{cite:p}`BCC17`", "{cite:p}`nobody`")
    chapter.write_text(text)
    line = text[: text.index("What is one")].count("\n") + 3  # where the paragraph starts
    for _ in range(2):  # Sphinx alone reads a page once, and finds nothing the second time
        with pytest.raises(BuildError, match="the edition synthetic has faults") as caught:
            build_site(["synthetic"], root=book)
    assert re.search(rf"notebooks/01_tiny\.py:{line}: WARNING: .*nobody", str(caught.value))
    assert (site / "index.html").read_text() == "the last good one"


def test_a_page_without_text_fails_the_build(book: Path) -> None:
    toc = book / "_toc.yml"
    toc.write_text(toc.read_text() + "      - file: book/bare\n")
    (book / "book/bare.md").write_text("# A heading alone\n")
    with pytest.raises(BuildError, match=r"the edition synthetic lacks pages, .*: book/bare$"):
        build_site(["synthetic"], root=book)
    assert not (book / "_build" / "site").exists()


def test_a_chapter_that_fails_beside_others_is_named(book: Path) -> None:
    chapter = book / "notebooks/01_tiny.py"
    sums = "total = sum(tqdm([1.0, 1.0]))"
    text = chapter.read_text()
    assert sums in text
    chapter.write_text(text.replace(sums, f"assert dataset != 'synthetic', 'no'\n{sums}"))
    with pytest.raises(BuildError, match=r"01_tiny on synthetic stopped at .* AssertionError: no"):
        build_site(root=book)
    assert not (book / "_build" / "site").exists()


def test_an_idle_processor_takes_the_last_chapter_of_the_longest_edition() -> None:
    waiting = {"live": [1, 2, 3, 4], "recorded": [5]}
    taken = [_take_next(waiting, running) for running in ([], ["live"], ["live"], [], ["live"])]
    assert taken == [("live", 1), ("recorded", 5), ("live", 4), ("live", 2), ("live", 3)]


def test_the_book_has_three_editions_of_which_one_runs_live() -> None:
    assert default_editions(CLONE) == ["ml-1m", "ml-100k", "synthetic"]


def test_an_edition_is_named_once(book: Path) -> None:
    with pytest.raises(ConfigError, match="once"):
        build_site(["synthetic", "synthetic"], root=book)


@pytest.mark.parametrize("address", [None, "https://example.org/a/b"])
def test_a_public_address_brings_the_buttons(book: Path, address: str | None) -> None:
    if address:
        with (book / "pyproject.toml").open("a") as project:
            project.write(f'[project.urls]\nRepository = "{address}/"\n')
    config = SimpleNamespace(html_theme_options={})
    use_address(SimpleNamespace(srcdir=book), config)
    options = config.html_theme_options
    assert options.get("repository_url") == address
    assert ("launch_buttons" in options) == bool(address)
