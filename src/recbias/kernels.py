"""Kernels that run notebooks: they end with this process, and at once when it is stopped."""

from __future__ import annotations

import os
import threading
from typing import Any

from nbformat import NotebookNode
from papermill.clientwrap import PapermillNotebookClient
from papermill.engines import Engine, papermill_engines

__all__ = ["ENGINE", "kernel_arguments"]

ENGINE = "recbias"
"""The name by which papermill knows what runs notebooks here."""


class _Client(PapermillNotebookClient):
    """What speaks with a kernel; if it is stopped, it does not wait for the kernel's consent."""

    def papermill_execute_cells(self) -> None:
        """Run all cells."""
        try:
            super().papermill_execute_cells()
        except BaseException:
            self.shutdown_kernel = "immediate"
            raise


class _Engine(Engine):
    """Papermill's own engine, with another client."""

    @classmethod
    def execute_managed_notebook(
        cls, nb_man: Any, kernel_name: str, *, start_timeout: int = 60, **options: Any
    ) -> NotebookNode:
        for name in ("input_path", "execution_timeout"):
            options.pop(name, None)
        return _Client(
            nb_man, kernel_name=kernel_name, startup_timeout=start_timeout, **options
        ).execute()


papermill_engines.register(ENGINE, _Engine)


def kernel_arguments() -> list[str]:
    """Give the command line of a kernel that ends with this process.

    Returns
    -------
    list of str
        For papermill's ``extra_arguments``. Kernels look for their parent themselves, but only
        between two pieces of compiled code, and have their workers then end by themselves.
    """
    lasting = threading.current_thread() is threading.main_thread()
    ends = f"from recbias.processes import end_with as _end; _end({os.getpid()}, lasting={lasting})"
    return ["--IPKernelApp.log_level=ERROR", f"--IPKernelApp.exec_lines=[{ends!r}]"]
