"""An audit that is killed and begun again leaves what an undisturbed one does, and nothing else."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from stopping import start, wait_for

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL"),
]

SCRIPT = Path(__file__).parents[1] / "audited.py"


def artefacts(cells):
    return len(list(cells.rglob("[!.]*.parquet")))


def audited(folder, cells):
    subprocess.run(
        [sys.executable, SCRIPT, folder / "audit.html"],
        env={**os.environ, "RECBIAS_CELLS": str(cells)}, check=True, capture_output=True,
    )  # fmt: skip
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed")
    cells = tmp_path_factory.mktemp("cells")
    return audited(folder, cells), artefacts(cells)


@pytest.mark.parametrize("moment", [0.4])
def test_an_audit_that_was_killed_goes_on_to_the_same_bytes(moment, undisturbed, tmp_path):
    expected, n_artefacts = undisturbed
    folder, cells = tmp_path / "out", tmp_path / "cells"
    folder.mkdir()
    process = start(
        [sys.executable, SCRIPT, folder / "audit.html"],
        tmp_path / "mark", env={"RECBIAS_CELLS": str(cells)},
    )  # fmt: skip
    wait_for(lambda: artefacts(cells) > moment * n_artefacts or process.poll() is not None, 600)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL, "it ended before it was killed"
    assert not Path(folder / "audit.html").exists()
    assert artefacts(cells) > 0
    assert audited(folder, cells) == expected
    assert set(expected) == {"audit.html", "audit.json"}
