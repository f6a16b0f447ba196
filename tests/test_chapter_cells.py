"""The cells of a chapter are short, and few of their lines lay out tables: the package does."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import jupytext
import pytest

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
MOST_LINES = 8
MOST_OF_TABLES = 1 / 3

LAYS_OUT = re.compile(
    r"\b(HTML|Markdown|markdown_table|table_html|DataFrame)\(|_table\(|\.style\b|pivot_table"
    r"|to_html|\brows\b|\bhead\b|<(td|tr|th|p|div|table)\b"
)
"""What a statement that writes a table or HTML mentions."""


def code_cells(text: str) -> list[tuple[str, frozenset[str]]]:
    """List the source and the tags of the code cells of a py:percent text."""
    cells = jupytext.reads(text, fmt="py:percent").cells
    return [
        (cell.source, frozenset(cell.metadata.get("tags", ())))
        for cell in cells
        if cell.cell_type == "code"
    ]


def long_cells(text: str) -> list[str]:
    """Name the cells that are too long; grids and parameters have a line for each option."""
    return [
        source.splitlines()[0]
        for source, tags in code_cells(text)
        if len(source.splitlines()) > MOST_LINES
        and "Grid(" not in source
        and "parameters" not in tags
    ]


def share_of_tables(text: str) -> float:
    """Tell what share of all lines of code belongs to statements that lay out tables."""
    laid_out = total = 0
    for source, _ in code_cells(text):
        lines = source.splitlines()
        for node in ast.parse(source).body:
            own = lines[node.lineno - 1 : node.end_lineno]
            total += len(own)
            if not isinstance(node, ast.Import | ast.ImportFrom) and LAYS_OUT.search(
                "\n".join(own)
            ):
                laid_out += len(own)
    return laid_out / total


@pytest.mark.parametrize("path", sorted(NOTEBOOKS.glob("[0-9]*.py")), ids=lambda path: path.stem)
def test_cells_of_a_chapter_are_short_and_lay_out_little(path: Path):
    text = path.read_text(encoding="utf-8")
    assert long_cells(text) == []
    assert share_of_tables(text) <= MOST_OF_TABLES


TWIN = """\
# %%
rows = []
for name in names:
    cells = (name, f"{values[name]:.4f}")
    rows.append(cells)
head = ("system", "value")
table = markdown_table(head, rows)
if note:
    table += note
Markdown(table)

# %%
a = 1
b = 2
"""


def test_a_chapter_that_lays_out_its_tables_is_noticed():
    assert long_cells(TWIN) == ["rows = []"]
    assert share_of_tables(TWIN) == pytest.approx(7 / 11)
    assert long_cells("# %%\n" + "a = 1\n" * 8) == []
    assert long_cells("# %%\n" + "a = 1\n" * 9) == ["a = 1"]
    assert long_cells('# %% tags=["parameters"]\n' + "a = 1\n" * 9) == []
    assert share_of_tables("# %%\na = run(grid)\nb = run(\n    other\n)\n") == 0
