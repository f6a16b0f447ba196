"""Sheets: an executed chapter outside the book, as one page that needs nothing else.

A sheet is an HTML file with its figures, tables, formulas and numbers in place. It fetches nothing
and refers to no file; a plain notebook of the same run lies beside it.
"""

from __future__ import annotations

from pathlib import Path

import nbformat

from recbias.book.standalone.pages import sheet_html
from recbias.book.standalone.plain_markdown import plain_notebook
from recbias.experiment.store import write_atomically

__all__ = ["sheet_html", "write_sheet"]


def write_sheet(executed: Path, page: Path, styles: Path) -> tuple[Path, Path]:
    """Write an executed chapter as a page, and as a plain notebook beside it."""
    run = nbformat.read(executed, as_version=4)
    html, notebook = page.with_suffix(".html"), page.with_suffix(".ipynb")
    write_atomically(html, sheet_html(run, styles).encode())
    write_atomically(notebook, nbformat.writes(plain_notebook(run)).encode())
    return html, notebook
