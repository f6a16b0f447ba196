"""Every figure of the book follows its rows, can be read, and is told to who cannot see it."""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest

from readable import faults
from recbias.book import chapters
from recbias.book.figures import Figure, use_book_style
from shown import NOTEBOOKS, PACKAGES, PAGES, figures, placed

CHAPTERS = Path(chapters.__file__).parent
OWN = [(page, name) for page in PAGES for name in sorted(placed(page))]
SENTENCES = {
    ("01", "gaps"),
    ("01", "values"),
    ("02", "larger"),
    ("02", "lists"),
    ("02", "orders"),
    ("03", "exponents"),
    ("03", "overrated"),
    ("03", "rankings"),
    ("03", "skew"),
    ("04", "agreement"),
    ("04", "nearer"),
    ("04", "relations"),
    ("05", "curves"),
    ("05", "lead"),
    ("05", "two_counts"),
    ("05", "which"),
    ("06", "alike"),
    ("06", "loop"),
    ("06", "ranks"),
    ("07", "significance"),
    ("07", "worlds"),
    ("08", "curves"),
}
"""Figures whose message is the sentence of a record: it follows the results."""


@pytest.fixture(autouse=True)
def _style() -> Iterator[None]:
    use_book_style()
    yield
    plt.close("all")


def others(figure: Figure) -> Iterator[Figure]:
    """Give a figure other rows: what is in a column in another order, or mirrored."""
    order = np.random.default_rng(1).permutation(len(figure.rows))
    for name, kind in figure.rows.dtypes.items():
        values = figure.rows[name]
        changed = [values.to_numpy()[order]]
        if kind.kind in "fi" and np.isfinite(values.max()):
            changed.append((values.max() - 0.9 * values).to_numpy())
        for other in changed:
            yield dataclasses.replace(figure, rows=figure.rows.assign(**{str(name): other}))


def follows(figure: Figure) -> bool:
    """Tell whether title, alternative text and table are others where some column is."""
    said = (figure.title, figure.alt, figure.table)
    for other in others(figure):
        # a place may be named twice, or where nothing was measured
        with contextlib.suppress(KeyError, IndexError, TypeError, ValueError):
            if all(np.array(said) != (other.title, other.alt, other.table)):
                return True
    return False


@pytest.mark.parametrize("page", PAGES)
def test_a_page_places_what_its_chapter_defines(page: str) -> None:
    assert set(figures(page)) == placed(page)


@pytest.mark.parametrize(("page", "name"), OWN)
def test_a_figure_can_be_read_and_is_told(page: str, name: str) -> None:
    figure = figures(page)[name]
    picture = figure.picture()
    assert faults(picture) == []
    assert picture.get_suptitle() == figure.title != ""
    assert figure.shows.endswith(".")
    assert " ".join(figure.title.split()[:3]).replace("$", "").replace("\\", "") in figure.alt
    assert len(figure.table.splitlines()) == len(figure.rows) + 1 > 1


@pytest.mark.parametrize(("page", "name"), sorted({*OWN} - SENTENCES))
def test_title_alt_and_table_follow_the_rows(page: str, name: str) -> None:
    assert follows(figures(page)[name])


def defined(page: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    """List the public functions of the package of a chapter, by module."""
    for file in sorted((CHAPTERS / PACKAGES[page]).glob("*.py")):
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                yield file.stem, node


def twins(names: Iterable[str]) -> list[str]:
    """Choose the names of what draws a figure or entitles it, and is no figure."""
    return [name for name in names if re.match(r"plot_", name) or name.endswith("_title")]


@pytest.mark.parametrize("page", PACKAGES)
def test_a_figure_has_no_twins_that_draw_or_entitle_it(page: str) -> None:
    assert twins(node.name for _, node in defined(page)) in ([], ["short_title"])
    for module, node in defined(page):
        if module.startswith("figures"):
            assert ast.unparse(node.returns or node) in ("Figure", "list[Figure]"), node.name


def test_twins_are_noticed() -> None:
    assert twins(["chain", "plot_chain", "chain_title"]) == ["plot_chain", "chain_title"]


@pytest.mark.parametrize("page", PAGES)
def test_pages_neither_draw_nor_describe(page: str) -> None:
    (file,) = NOTEBOOKS.glob(f"{page}*.py")
    text = file.read_text(encoding="utf-8")
    assert re.findall(r"^# :alt:|plot_\w+|_title\(|downloads\(", text, re.MULTILINE) == []


def test_no_two_figures_share_a_name_or_a_file() -> None:
    for page in PAGES:
        files = [figure.file for figure in figures(page).values() if figure.file]
        assert len(set(files)) == len(files)


def test_a_figure_that_does_not_follow_its_rows_is_noticed() -> None:
    figure = figures("03")["chain"]
    assert follows(figure)
    assert not follows(dataclasses.replace(figure, message="Always the same"))
