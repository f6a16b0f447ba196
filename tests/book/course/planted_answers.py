"""Answer sheets as students hand them in: right, wrong in the usual ways, and hostile."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from recbias.book.course.tasks import Task

CHAPTER = "01_design_alternatives"
MODULE = "recbias.book.chapters.design_alternatives.exercises"

GOOD = f"""from {MODULE} import check_ceiling

def ceiling(cutoff, n_relevant):
    return min(cutoff, n_relevant) / cutoff

check_ceiling(ceiling)
"""
"""A right answer to the first task, which hostile ones are put before."""

WRONG = GOOD.replace("min(cutoff, n_relevant)", "n_relevant")

HOSTILE = {
    "endless": "while True: pass",
    "sleeps": "import time; time.sleep(1000)",
    "endless in a call": "def ceiling(n, r):\n    while True: pass\ncheck_ceiling(ceiling)",
    "crashes": "1 / 0",
    "dies": "import ctypes; ctypes.string_at(0)",
    "ends early": "import os; os._exit(0)",
    "exits": "import sys; sys.exit(0)",
    "writes outside": "open('/outside', 'w').write('x')",
    "writes among packages": "import numpy; open(numpy.__file__ + 'x', 'w')",
    "fills its folder": "for n in range(100): open(f'f{n}', 'wb').write(bytes(1 << 20))",
    "takes memory": "x = bytearray(1 << 33)",
    "forks": "import os\nwhile True: os.fork()",
    "starts threads": "import threading\nwhile True: threading.Thread(target=print).start()",
    "starts a program": "import subprocess; subprocess.run(['/bin/sh', '-c', 'true'], check=True)",
    "kills": "import os\nfor n in range(2, 99999): os.kill(n, 9)",
    "calls home": "import socket; socket.create_connection(('192.0.2.1', 80), timeout=5)",
    "imports the check": f"import {MODULE.rpartition('.')[0]}.setup",
    "imports the package": "from recbias.book.notebooks import find_chapter",
    "syntax": "check_ceiling(ceiling=0,25)",
    "asks": "input('cutoff? ')",
    "never hands in": "check_ceiling = lambda f: None",
}
"""Code, by what it does; none of it is right, and all of it ends."""


def notebook(cells: Sequence[str]) -> str:
    """Write code cells as a notebook."""
    made = [{"cell_type": "code", "source": cell, "metadata": {}, "outputs": [],
             "execution_count": None} for cell in cells]  # fmt: skip
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def sheet(codes: Mapping[str, str]) -> str:
    """Write an answer sheet from code by label."""
    return notebook([f"# task: {label}\n{code}" for label, code in codes.items()])


def twenty(folder: Path, tasks: Sequence[Task]) -> dict[str, tuple[int, int]]:
    """Plant twenty students; give each one's marks, and how many answers run out of time."""
    right = {task.label: task.solution for task in tasks}
    right["ex-own-designs"] = right["ex-own-designs"].replace("0.12", "0.13")  # measured, it says
    left = {task.label: task.starter for task in tasks}
    first = "ex-ceiling"
    others = [label for label in right if label != first]
    n = len(right)
    import_line = f"from {MODULE} import check_ceiling\n"
    planted: dict[str, tuple[str, tuple[int, int]]] = {
        "right": (sheet(right), (n, 0)),
        "half-right": (sheet({**left, **dict(list(right.items())[: n // 2])}), (n // 2, 0)),
        "empty": (sheet(left), (0, 0)),
        "no-cells": (notebook([]), (0, 0)),
        "no-json": ("not a notebook", (0, 0)),
        "one-wrong": (sheet({**right, first: WRONG}), (n - 1, 0)),
        "prints-the-solution": (
            sheet({**left, first: f"print('''{GOOD}''')\n{left[first]}"}),
            (0, 0),
        ),
        "huge-output": (sheet({**right, first: f"print('x' * 10**7)\n{GOOD}"}), (n, 0)),
    }
    endless = ("endless", "sleeps", "endless in a call")
    others_in = ("crashes", "dies", "ends early", "exits", "writes outside", "forks", "kills")
    for name in (*endless, *others_in, "calls home", "imports the package"):
        code, late = HOSTILE[name], name in endless
        text = sheet(
            {**{label: right[label] for label in others}, first: import_line + code + "\n"}
        )
        planted[name.replace(" ", "-")] = (text, (n - 1, int(late)))
    assert len(planted) == 20
    for student, (text, _) in planted.items():
        place = folder / student / "answers"
        place.mkdir(parents=True)
        (place / f"{CHAPTER}.ipynb").write_text(text, encoding="utf-8")
    return {student: expected for student, (_, expected) in planted.items()}
