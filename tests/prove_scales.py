"""Run pages on tables of four scales by the real command: ``python tests/prove_scales.py [SCALE]``.

Ratings from -10 to 10, from 0 to 1, counts to 3000 and money to a million; chapter 1 and the page
of the systems. Each run has to leave a complete page: every cell executed, none with an error or a
warning, every number of the text resolved, a threshold that was taken from the data named as that.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import numpy.typing as npt
import pandas as pd

Values = Callable[[npt.NDArray[np.float64]], npt.NDArray[np.float64]]

SCALES: dict[str, Values] = {
    "minus-ten-to-ten": lambda likes: np.round(20 * likes - 10, 2),
    "zero-to-one": lambda likes: likes,
    "counts-to-3000": lambda likes: np.ceil(3000 * likes**6).clip(1),
    "money-to-a-million": lambda likes: np.round(1e6 * likes**3, 2),
}
PAGES = ("01_design_alternatives", "systems")


def write_table(path: Path, values: Values) -> None:
    """Write some 700 ratings of 40 users for 60 items, popular ones liked no more than others."""
    rng = np.random.default_rng(1)
    users, items = np.nonzero(rng.random((40, 60)) < 0.3 * np.linspace(1.8, 0.2, 60))
    likes = 0.6 * rng.random(60)[items] + 0.4 * rng.random(len(users))
    frame = pd.DataFrame({"user_id": users, "item_id": items, "rating": values(likes)})
    frame.to_csv(path, index=False)


def faults(notebook: Any, page: str) -> list[str]:
    """List what a complete page would not have."""
    found = []
    code = [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip()]
    if not code:
        found.append("no cell of code")
    if not_run := sum(cell.execution_count is None for cell in code):
        found.append(f"{not_run} cells were not executed")
    outputs = [output for cell in code for output in cell.outputs]
    if any(output.output_type == "error" for output in outputs):
        found.append("an error")
    if any(output.get("name") == "stderr" for output in outputs):
        found.append("a warning")
    text = re.sub(r"<(script|style|pre).*?</\1>|<[^>]*>", " ", page, flags=re.DOTALL)
    if left := re.findall(r"\{(?:glue|numref|ref)[^}]*\}[^ ]*|papermill", text):
        found.append(f"unresolved: {left[:3]}")
    return found


def check_faults() -> None:
    """See that each fault is told, and a page without one passes."""
    good = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1", execution_count=1)])
    error = nbformat.v4.new_output("error", ename="E", evalue="", traceback=[])
    said = nbformat.v4.new_output("stream", name="stderr", text="odd")
    bad = [nbformat.v4.new_code_cell("1", execution_count=1, outputs=[o]) for o in (error, said)]
    broken = [nbformat.v4.new_notebook(cells=[cell]) for cell in bad]
    broken += [
        nbformat.v4.new_notebook(cells=cells) for cells in ([], [nbformat.v4.new_code_cell("1")])
    ]
    if faults(good, "<p>all is said</p>") or not all(faults(each, "") for each in broken):
        raise SystemExit("the check of pages does not tell a broken one")
    if not faults(good, "<p>of {glue:text}`lost`</p>"):
        raise SystemExit("the check of pages does not tell an unresolved number")


def main(*scales: str) -> None:
    check_faults()
    command = [sys.executable, "-m", "recbias_command"]
    for scale in scales or SCALES:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write_table(folder / f"{scale}.csv", SCALES[scale])
            for page in PAGES:
                run = [*command, "run", page, "--dataset", f"{scale}.csv", "--out", f"{page}.html"]
                done = subprocess.run(run, cwd=folder, capture_output=True, text=True, check=False)
                if done.returncode:
                    raise SystemExit(f"{scale}: {page}: exit {done.returncode}\n{done.stderr}")
                shown = (folder / f"{page}.html").read_text(encoding="utf-8")
                notebook = nbformat.read(folder / f"{page}.ipynb", as_version=4)
                found = faults(notebook, shown)
                if "from the data" not in shown:
                    found.append("it does not say where its threshold comes from")
                if found:
                    raise SystemExit(f"{scale}: {page}: {'; '.join(found)}")
                print(f"{scale}: {page}: complete; {done.stdout.splitlines()[-1]}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
