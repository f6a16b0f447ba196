"""Pages on odd tables: what a complete one has, and a run in this process, where kernels cost most.

Cells that are run here share one process; all else is what `recbias run` does.
"""

from __future__ import annotations

import contextlib
import re
import sys
import traceback
from collections.abc import Iterator, Sequence
from typing import Any
from unittest import mock

import nbformat
import pytest
from IPython.core.displayhook import DisplayHook
from IPython.core.interactiveshell import InteractiveShell
from IPython.display import publish_display_data
from IPython.utils.capture import RichOutput, capture_output

from leaks import leaks, silent_cells

PAGES = (
    "01_design_alternatives",
    "02_sparsity_bias",
    "03_popularity_bias",
    "04_overcoming_popularity_bias",
    "05_true_false_positives",
    "06_concentration",
    "07_offline_options",
    "08_multiverse",
    "systems",
)

REFUSALS = {
    "one user or item": r"has one (user|item): expected two at least",
    "no user with two ratings": "no user has two ratings",
    "fewer items than the lists are long": r"parameter cutoff is \d+, but .* has \d+ items",
    "fewer than ten test ratings in a fold": "ratings are in the test of a fold, expected 10",
    "nothing relevant in the test": "no test rating reaches",
    "nothing to rank but relevant items": "nobody has an item to rank but relevant ones",
    "larger samples than there are": "no user has more than .* items to sample from",
    "a threshold that no rating reaches": "but no rating of .* is above",
    "a split that the table cannot have": "split",
}
"""What may be refused before a run: the reasons of `book/rerun.md`, with patterns of messages."""

_UNRESOLVED = re.compile(r"\{(?:glue|numref|ref)[^}]*\}[^ ]*|papermill")


def faults(notebook: Any, page: str) -> list[str]:
    """List what a complete page would not have."""
    found = []
    code = [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip()]
    if not code:
        found.append("no cell of code")
    if not_run := sum(cell.execution_count is None for cell in code):
        found.append(f"{not_run} cells were not executed")
    for cell in code:
        for output in cell.outputs:
            where = f"[{cell.execution_count}]"
            if output.output_type == "error":
                found.append(f"{where} an error: {output.ename}: {output.evalue}")
            if output.get("name") == "stderr":
                found.append(f"{where} a warning: {output.text.strip()[:400]}")
    found += [f"leaks: {each}" for each in leaks(page)]
    found += [f"shows nothing: {each}" for each in silent_cells(notebook)]
    return found + [f"unresolved: {each[0]}" for each in _UNRESOLVED.finditer(page)]


def check_faults() -> None:
    """See that each fault is told, and a page without one passes."""
    good = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("n = 1", execution_count=1)])
    error = nbformat.v4.new_output("error", ename="E", evalue="", traceback=[])
    said = nbformat.v4.new_output("stream", name="stderr", text="odd")
    bad = [
        [],
        [nbformat.v4.new_code_cell("n = 1")],
        *(
            [nbformat.v4.new_code_cell("n = 1", execution_count=1, outputs=[o])]
            for o in (error, said)
        ),
    ]
    assert not faults(good, "<p>all is said</p>")
    bad.append([nbformat.v4.new_code_cell("n", execution_count=1)])
    for cells in bad:
        assert faults(nbformat.v4.new_notebook(cells=cells), "")
    for text in ("<p>of {glue:text}`lost`</p>", "<td>nan</td>", "<p>&lt;x object at 0x7f</p>"):
        assert faults(good, text), text


class _Shown(DisplayHook):
    """What a cell ends with is shown like all else, as a kernel does it."""

    def write_output_prompt(self) -> None:
        pass

    def write_format_data(self, format_dict: Any, md_dict: Any = None) -> None:
        publish_display_data(format_dict, md_dict)

    def finish_displayhook(self) -> None:
        pass


class _Shell(InteractiveShell):
    displayhook_class = _Shown


@contextlib.contextmanager
def cells_run_here(*, to_the_end: bool = False) -> Iterator[None]:
    """Run the cells of chapters in this process, without a kernel; on past errors if asked to."""
    from recbias.book import notebooks as chapters

    def execute(
        _chapter: Any, source: Any, values: Any, out: Any, results: Any, _progress: bool
    ) -> Any:
        shell.reset(new_session=True)
        run = nbformat.from_dict(source)
        out.parent.mkdir(parents=True, exist_ok=True)
        with chapters._kernel_environment(results):
            for number, cell in enumerate(c for c in run.cells if c.cell_type == "code"):
                cell.execution_count = number + 1
                error = _run_cell(shell, cell)
                if error and not to_the_end:
                    raise AssertionError(f"cell {number + 1}:\n{cell.source}") from error
                if "parameters" in cell.metadata.get("tags", []):
                    shell.user_ns.update(values)
        return run

    with (
        mock.patch.object(chapters, "_execute", execute),
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("MPLBACKEND", "module://matplotlib_inline.backend_inline")
        # A shell puts a module of its own there, and empties it: no process could be started then.
        patch.setitem(sys.modules, "__main__", sys.modules["__main__"])
        InteractiveShell.clear_instance()  # that of another test, of another class
        shell = _Shell.instance()
        yield
        _Shell.clear_instance()


def _run_cell(shell: InteractiveShell, cell: Any) -> BaseException | None:
    """Run a cell, and keep in it what it showed, a warning among it."""
    with capture_output() as said:
        done = shell.run_cell(cell.source, store_history=True)
    shown: Sequence[RichOutput] = said.outputs
    cell.outputs = [
        nbformat.v4.new_output("display_data", data=each.data, metadata=each.metadata or {})
        for each in shown
    ]
    for name, text in (("stdout", said.stdout), ("stderr", said.stderr)):
        if text and done.success:
            cell.outputs.append(nbformat.v4.new_output("stream", name=name, text=text))
    error = done.error_in_exec or done.error_before_exec
    if error is not None:
        trace = traceback.format_exception(error)
        cell.outputs.append(
            nbformat.v4.new_output(
                "error", ename=type(error).__name__, evalue=str(error), traceback=trace
            )
        )
    return error
