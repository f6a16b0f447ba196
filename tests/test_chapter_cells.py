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

WRITERS = ("HTML", "Markdown", "markdown_table", "table_html", "DataFrame")
LAYS_OUT = (
    r"_table\(|\.style\b|pivot|to_html|to_frame|unstack|\.rename\(|to_markdown|to_string"
    r"|\bdisplay\(|f[\"']\|"
    r"|\brows\b|\bhead\b|<(td|tr|th|p|div|table)\b"
)
"""What a statement that writes a table or HTML mentions, besides calls of writers."""


def code_cells(text: str) -> list[tuple[str, frozenset[str]]]:
    """List the source and the tags of the code cells of a py:percent text."""
    cells = jupytext.reads(text, fmt="py:percent").cells
    return [
        (cell.source, frozenset(cell.metadata.get("tags", ())))
        for cell in cells
        if cell.cell_type == "code"
    ]


def shared_lines(node: ast.AST) -> int:
    """Count the statements that share a line with one before: ``a = 1; b = 2`` has one."""
    statements = [each for each in ast.walk(node) if isinstance(each, ast.stmt)]
    return len(statements) - len({each.lineno for each in statements})


def calls_grid(source: str) -> bool:
    """Tell whether a cell makes a grid."""
    return any(
        isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == "Grid"
        for node in ast.walk(ast.parse(source))
    )


def long_cells(text: str) -> list[str]:
    """Name the cells that are too long; grids and parameters have a line for each option."""
    return [
        source.splitlines()[0]
        for source, tags in code_cells(text)
        if "parameters" not in tags
        and not calls_grid(source)
        and len(source.splitlines()) + shared_lines(ast.parse(source)) > MOST_LINES
    ]


def writers(text: str) -> set[str]:
    """Name what writes tables or HTML in a chapter, under every name it has there."""
    names = set(WRITERS)
    nodes = [node for source, _ in code_cells(text) for node in ast.walk(ast.parse(source))]
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            names |= {each.asname for each in node.names if each.asname and each.name in WRITERS}
    for node in nodes:  # a name given by assignment: show = HTML
        if isinstance(node, ast.Assign) and ast.unparse(node.value).rpartition(".")[2] in names:
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return names


def share_of_tables(text: str) -> float:
    """Tell what share of all lines of code belongs to statements that lay out tables."""
    lays_out = re.compile(rf"\b({'|'.join(sorted(writers(text)))})\(|{LAYS_OUT}")
    laid_out = total = 0
    for source, _ in code_cells(text):
        lines = source.splitlines()
        for node in ast.parse(source).body:
            own = len(lines[node.lineno - 1 : node.end_lineno]) + shared_lines(node)
            total += own
            is_import = isinstance(node, ast.Import | ast.ImportFrom)
            if not is_import and lays_out.search(ast.get_source_segment(source, node) or ""):
                laid_out += own
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


def test_only_a_cell_that_makes_a_grid_may_be_long():
    long = "# %%\n" + "a = 1\n" * 8
    assert long_cells(long + "b = Grid(systems)\n") == []
    assert long_cells(long + "b = recbias.Grid(systems)\n") == []
    assert long_cells(long + "# as in Grid(systems)\n") == ["a = 1"]
    assert long_cells(long + "b = 'Grid(systems)'\n") == ["a = 1"]
    assert long_cells(long + "b = NoGrid(systems)\n") == ["a = 1"]


def test_statements_on_one_line_count_each():
    assert long_cells("# %%\n" + "a = 1; b = 2\n" * 4) == []
    assert long_cells("# %%\n" + "a = 1; b = 2\n" * 5) == ["a = 1; b = 2"]
    assert share_of_tables("# %%\na = 1\nif a: HTML(a); HTML(a)\n") == 3 / 4


@pytest.mark.parametrize(
    "line",
    [
        "a.to_frame()",
        "a.unstack()",
        "a.pivot(index='b')",
        "a.pivot_table('b')",
        "a.rename(columns=b)",
        "a.to_markdown()",
        "a.to_string()",
        "display(a)",
        'f"| {a} |"',
        "f'| {a} |'",
        "HTML(a)",
    ],
)
def test_each_way_to_lay_out_is_noticed(line: str):
    assert share_of_tables(f"# %%\nb = 1\nb = {line}\n") == 1 / 2


@pytest.mark.parametrize(
    "alias",
    [
        "from IPython.display import HTML as show",
        "show = IPython.display.Markdown",
        "show = HTML",
    ],
)
def test_a_writer_by_another_name_is_one(alias: str):
    assert share_of_tables(f"# %%\n{alias}\n\n# %%\nshow(a)\n") == 1 / 2
    assert share_of_tables("# %%\nb = 1\nshow(a)\n") == 0
