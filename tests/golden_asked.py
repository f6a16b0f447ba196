"""What each chapter asks for, derived from its notebook: ``data/recorded/asked.json``.

``python tests/golden_asked.py`` derives it anew. Do so together with the change of the notebook
that asks for other parameters, and with results that are recorded again. The notebooks run without
data, on what is recorded; what every ``run`` and every maker is asked for is noted before it reads
anything.

``python tests/golden_asked.py DATASET [NOTEBOOK ...]`` prints what is asked for of one data set.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RECORDED = ROOT / "data/recorded"
FILE = RECORDED / "asked.json"
SIMULATIONS = "simulations"

_GIVEN = {("coat", "05_true_false_positives"): {"split": "k-fold 5"}}
"""What a page finds in data: that Coat has no folds of its authors. Of other data sets the recorded
line-up tells."""

Asked = dict[str, dict[str, dict[str, str]]]


def chapters_of(dataset: str) -> list[str]:
    """Name the chapters that have recorded results of a data set."""
    return sorted(folder.name for folder in (RECORDED / dataset).iterdir())


def data_sets() -> list[str]:
    """Name the data sets that have recorded results; simulations are asked for beside each."""
    names = (folder.name for folder in RECORDED.iterdir() if folder.is_dir())
    return sorted(name for name in names if name != SIMULATIONS)


def derive(dataset: str, *chapters: str, source: str = "") -> Asked:
    """Run chapters of a data set in a process of their own; all that are recorded by default.

    A source stands for the notebook of the chapter that is named.
    """
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            **{name: value for name, value in os.environ.items() if name != "RECBIAS_DATA"},
            "RECBIAS_RESULTS": str(Path(folder) / "results"),
            "RECBIAS_CELLS": str(Path(folder) / "cells"),
            "MPLBACKEND": "agg",
            "TQDM_DISABLE": "1",
        }
        if source:
            notebook = Path(folder) / f"{chapters[0]}.py"
            notebook.write_text(source, encoding="utf-8")
            chapters = (str(notebook),)
        command = [sys.executable, __file__, dataset, *chapters]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{dataset}: {done.stderr}")
    found: Asked = json.loads(done.stdout)
    return found


def joined(parts: list[Asked]) -> Asked:
    """Join what was derived; a simulation is asked for alike on the pages of all data sets."""
    whole: Asked = {}
    for part in parts:
        for dataset, results in part.items():
            for name, asked in results.items():
                known = whole.setdefault(dataset, {}).setdefault(name, asked)
                if known != asked:
                    raise RuntimeError(f"{dataset}/{name}: asked for in two ways: {known}, {asked}")
    return {dataset: dict(sorted(results.items())) for dataset, results in sorted(whole.items())}


def written(asked: Asked) -> str:
    """Write a line for each result."""
    data_sets = (
        f"{json.dumps(dataset)}: {{\n"
        + ",\n".join(f" {json.dumps(name)}: {json.dumps(fields)}" for name, fields in each.items())
        + "\n}"
        for dataset, each in asked.items()
    )
    return "{" + ",\n".join(data_sets) + "}\n"


def noted(dataset: str, chapters: list[str]) -> Asked:
    """Run the code of notebooks in this process, with what they ask for noted."""
    import jupytext

    from recbias.claims import chapters as import_chapters

    import_chapters()
    asked: Asked = {}
    _note_into(asked)
    os.chdir(ROOT / "notebooks")
    for source in (Path(chapter).with_suffix(".py") for chapter in chapters):
        name = source.stem
        given = {"dataset": dataset, **_GIVEN.get((dataset, name), {})}
        stopped = list(_run_cells(jupytext.read(source, fmt="py:percent"), given))
        # A cell that stops asks for nothing, nor does one that needs its variables.
        recorded = {path.stem for path in (RECORDED / dataset / name).glob("*.json")}
        here = {result.partition("/")[2] for result in asked.get(dataset, {})
                if result.startswith(f"{name}/")}  # fmt: skip
        if recorded != here:
            stops = "\n".join(stopped)
            sys.exit(
                f"{name}: recorded, not asked for: {sorted(recorded - here)}; asked for, not "
                f"recorded: {sorted(here - recorded)}; cells that stopped:\n{stops}"
            )
    return asked


def _run_cells(notebook: Any, given: dict[str, str]) -> Iterator[str]:
    """Run all code cells but those that draw; tell which of them stopped, and by what."""
    variables: dict[str, Any] = {"__name__": "__main__"}
    for number, cell in enumerate(notebook.cells):
        tags = cell.metadata.get("tags", ())
        if cell.cell_type != "code" or "figure = " in cell.source:  # drawing takes most of the time
            continue
        try:
            exec(compile(cell.source, f"cell {number}", "exec"), variables)  # noqa: S102
        except Exception as error:  # of any kind: what matters is what is asked for in the end
            yield f"cell {number}: {error!r}"
        if "parameters" in tags:
            variables |= given


def _note_into(asked: Asked) -> None:
    """Let makers note what they are asked for, and put a function that notes in place of `run`."""
    from recbias.experiment import makers
    from recbias.experiment import run as running
    from recbias.experiment.asked import asked_of
    from recbias.experiment.results import kept_as

    def note(dataset: str | None, record: str | None, parameters: Any) -> None:
        if record is not None:
            asked.setdefault(dataset or SIMULATIONS, {})[record] = asked_of(parameters)

    def run(grid: Any, *, _run: Any = running.run, **options: Any) -> Any:
        note(grid.dataset, kept_as(options.get("name", "")), grid.to_dict())
        return _run(grid, **options)

    measured, found = running.run, makers.Maker.find

    def find(maker: Any, dataset: Any, given: Any, record: Any, **options: Any) -> Any:
        note(dataset, record, {"maker": maker.name, "given": given})
        return found(maker, dataset, given, record, **options)

    makers.Maker.find = find  # type: ignore[method-assign]
    for module in [module for name, module in sys.modules.items() if name.startswith("recbias")]:
        for name, value in list(vars(module).items()):
            if value is measured:
                setattr(module, name, run)


def main() -> None:
    """Print what is asked for of a data set, or renew the file."""
    if len(sys.argv) > 1:
        dataset, *chapters = sys.argv[1:]
        with open(os.devnull, "w") as nowhere:
            printing, sys.stdout = sys.stdout, nowhere  # notebooks may print
            found = noted(dataset, chapters or chapters_of(dataset))
            sys.stdout = printing
        print(json.dumps(found))
        return
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        FILE.write_text(written(joined(list(threads.map(derive, data_sets())))))


if __name__ == "__main__":
    main()
