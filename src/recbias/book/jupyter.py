"""Kernels that run notebooks: they end with this process, and at once when it is stopped."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from typing import Any

from jupyter_client.manager import AsyncKernelManager
from jupyter_core.utils import run_sync
from nbformat import NotebookNode
from papermill.clientwrap import PapermillNotebookClient
from papermill.engines import Engine, papermill_engines

from recbias._system.processes import ending_source

ENGINE = "recbias"
"""The name by which papermill knows what runs notebooks here."""

_END_WORKERS = """
import sys
if "recbias.experiment.engine" in sys.modules:
    sys.modules["recbias.experiment.engine"].end_waiting()
"""
_QUIET = "--IPKernelApp.log_level=ERROR"


class _Manager(AsyncKernelManager):
    """What starts a kernel that ends with this process, from the kernel's first moment on.

    Kernels look for their parent themselves, but only once they have imported what they are, and
    between two pieces of compiled code.
    """

    def format_kernel_cmd(self, extra_arguments: list[str] | None = None) -> list[str]:
        """Give the command line, with what ends the kernel before what it is."""
        command = super().format_kernel_cmd(extra_arguments)
        if "-m" not in command[:-1]:
            return command
        at = command.index("-m")
        lasting = threading.current_thread() is threading.main_thread()
        code = (
            f"{ending_source(os.getpid(), lasting=lasting)}; import runpy; "
            f"runpy.run_module({command[at + 1]!r}, run_name='__main__', alter_sys=True)"
        )
        return [*command[:at], "-c", code, *command[at + 2 :]]


class _Client(PapermillNotebookClient):
    """What speaks with a kernel; if it is stopped, nobody asks the kernel or waits for it."""

    km: AsyncKernelManager | None
    _is_stopped = False

    def execute(self, **kwargs: Any) -> NotebookNode:
        """Run all cells in a kernel of its own."""
        try:
            return super().execute(**kwargs)
        except Exception:
            raise
        except BaseException:  # where the kernel was just being started, nothing else ends it
            self._kill()
            raise

    def papermill_execute_cells(self) -> None:
        """Run all cells."""
        try:
            super().papermill_execute_cells()
            run_sync(self._end_workers)()
        except BaseException as error:
            self._is_stopped = not isinstance(error, Exception)
            raise

    async def _end_workers(self) -> None:
        """Let the kernel see its workers end, as only then their processor time is known."""
        if self.kc is not None:
            await self.kc.execute_interactive(_END_WORKERS, silent=True, timeout=10)

    def _cleanup_kernel(self) -> None:
        if self._is_stopped:
            self._kill()
        else:
            super()._cleanup_kernel()

    def _kill(self) -> None:
        """End the kernel and its workers; what they were about to say is heard by nobody."""
        manager, self.km, self.kc = self.km, None, None
        process = getattr(manager and manager.provisioner, "process", None)
        if manager is None or process is None:
            return
        with contextlib.suppress(OSError):  # it ended by itself
            if os.name == "nt":
                process.kill()
            else:  # it is the first of a session of its own
                os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        manager.cleanup_connection_file()


def _later(**_: object) -> None:
    """Write nothing now."""


class _Engine(Engine):
    """Papermill's own engine, with another client."""

    @classmethod
    def execute_managed_notebook(
        cls, nb_man: Any, kernel_name: str, *, start_timeout: int = 60, **options: Any
    ) -> NotebookNode:
        for name in ("input_path", "execution_timeout"):
            options.pop(name, None)
        # Papermill would write the whole notebook before and after each cell: seconds for nothing,
        # as nobody reads it before the last one ended, when it is written anyway.
        nb_man.save = _later
        try:
            return _Client(
                nb_man,
                kernel_name=kernel_name,
                kernel_manager_class=_Manager,
                startup_timeout=start_timeout,
                extra_arguments=[_QUIET],
                shutdown_kernel="immediate",  # all that it computed is stored
                **options,
            ).execute()
        finally:
            del nb_man.save


papermill_engines.register(ENGINE, _Engine)
