"""The student edition: chapters without solutions, answer sheets, data, and what installs it.

All of it is made from the chapters' sources. Before it is written it is searched for solutions.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.util import find_spec
from pathlib import Path

import nbformat
from myst_nb.ext.glue import GLUE_PREFIX
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from recbias._system.places import cache_dir
from recbias.book.course.tasks import LEVELS, Block, Task, blocks, chapter_tasks
from recbias.book.notebooks import Chapter, run_chapter
from recbias.book.standalone.plain_markdown import numbered, plain_markdown, plain_notebook
from recbias.data.datasets import DatasetInfo, dataset_info, load_dataset
from recbias.data.datasets.frames import frame_of
from recbias.errors import ConfigError, RecbiasError
from recbias.experiment.store import write_atomically

_KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
_OF_LIST = re.compile(r"[-*+] | +\S")
_OPTION = re.compile(r"^:\w+: .*$", re.MULTILINE)
_TELLS = re.compile(r'<span class="finding"|\{finding\}|\*\*\{glue:|\{glue:figure\}')
_ON_OWN_DATA = re.compile(r"^## On your data\n.*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)
"""A section on chapters that are run again, which takes a clone."""
_INNER_ANCHOR = re.compile(r'<a href="#[^"]*">(.*?)</a>', re.DOTALL)
_WITHOUT_OUTPUT = {"remove-output", "remove-cell"}
_COMMIT = (
    "> **My prediction** (double-click, and write before you read on): \n>\n"
    "> Option: …  \n> Because: …  \n> How sure, in percent: …"
)
_JUPYTER = "jupyterlab"
_FREE = re.compile(r"None needed|CC0|CC BY(?!-NC)")
"""How the licences of data begin that may be handed on."""


class LeakError(RecbiasError):
    """A student edition that holds a solution."""

    exit_code = 1


# -- without solutions -----------------------------------------------------------------------------
def without_solutions(text: str) -> str:
    r"""Take solutions, and the answers of predictions, out of a text of a chapter.

    Examples
    --------
    >>> asked = ":::{predict} More?\n- yes\n- no\n\nYes.\n:::"
    >>> print(without_solutions(asked + "\n:::{solution} ex\n3\n:::"))
    :::{predict} More?
    - yes
    - no
    :::
    """
    lines = text.splitlines()
    for block in reversed(list(blocks(text))):
        if block.name == "solution":
            lines[block.start : block.end] = []
        elif block.name == "predict":
            lines[block.start + 1 : block.end - 1] = _asked(block.body)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines))


def _asked(body: Sequence[str]) -> list[str]:
    """Keep the options of a prediction, without what the directive is told of them."""
    first = next((n for n, line in enumerate(body) if _OF_LIST.match(line)), len(body))
    rest = range(first, len(body))
    end = next((n for n in rest if body[n] and not _OF_LIST.match(body[n])), len(body))
    return "\n".join(body[first:end]).rstrip().splitlines()


def student_notebook(run: NotebookNode) -> NotebookNode:
    """Make an executed chapter the notebook of a student: plain, unsolved, code folded away.

    Below each prediction is a cell to commit oneself in. What the lead says of the results is
    folded away, since it is read before the predictions.
    """
    run = nbformat.from_dict(run)
    dropped = _dropped_figures(run)
    cells: list[NotebookNode] = []
    for cell in run.cells:
        if cell.cell_type == "markdown":
            cells += [_with_figures(part, dropped) for part in _unsolved(cell)]
        else:
            cells.append(cell)
    run.cells = cells
    first = run.cells[0]
    first.source = _lead_folded(first.source)
    notebook = plain_notebook(run)
    for number, cell in enumerate(notebook.cells):
        tags = set(cell.metadata.get("tags", []))
        cell.id = f"cell-{number}"
        cell.metadata = {"tags": sorted(tags)} if tags else {}
        if cell.cell_type == "code":
            if tags & {"hide-input", "remove-input", "remove-cell", "hide-cell"}:
                cell.metadata["jupyter"] = {"source_hidden": True}
            if tags & _WITHOUT_OUTPUT:
                cell.outputs = []
            for output in cell.outputs:
                if html := output.get("data", {}).get("text/html"):
                    output.data["text/html"] = _INNER_ANCHOR.sub(r"\1", "".join(html))
    notebook.metadata = {"kernelspec": dict(_KERNEL), "language_info": {"name": "python"}}
    return notebook


def _unsolved(cell: NotebookNode) -> Iterator[NotebookNode]:
    """Take the answers out of a cell, and part it below each prediction by a cell to write in."""
    text = _ON_OWN_DATA.sub("", without_solutions(cell.source))
    lines, start = text.splitlines(), 0
    for block in blocks(text):
        if block.name == "predict":
            yield nbformat.from_dict({**cell, "source": "\n".join(lines[start : block.end])})
            yield new_markdown_cell(_COMMIT)
            start = block.end
    rest = "\n".join(lines[start:])
    if rest.strip() or not start:
        yield nbformat.from_dict({**cell, "source": rest})


def _lead_folded(text: str) -> str:
    """Fold away a lead from the first paragraph that says what was found."""
    paragraphs = text.split("\n\n")
    told = [n for n, part in enumerate(paragraphs) if _TELLS.search(part)]
    if not told:
        return text
    asked, answered = paragraphs[: told[0]], paragraphs[told[0] :]
    fold = "<details><summary>What comes out, for after your predictions</summary>"
    return "\n\n".join([*asked, fold, *answered, "</details>"])


def _dropped_figures(run: NotebookNode) -> dict[str, dict[str, str]]:
    """Find the figures of cells whose outputs students do not get, by name."""
    return {
        output.metadata.scrapbook.name: {kind: "".join(data)}
        for cell in run.cells
        if set(cell.metadata.get("tags", [])) & _WITHOUT_OUTPUT
        for output in cell.get("outputs", [])
        if "scrapbook" in output.metadata
        for kind, data in (
            (kind.removeprefix(GLUE_PREFIX), data) for kind, data in output.data.items()
        )
        if kind.startswith("image/")
    }


def _with_figures(cell: NotebookNode, figures: Mapping[str, dict[str, str]]) -> NotebookNode:
    """Attach to a cell the figures that it places."""
    for name, image in figures.items():
        place = re.compile(rf"^(?=```\{{glue:figure\}} {name}$)", re.MULTILINE)
        if place.search(cell.source):
            cell.source = place.sub(f"![Figure](attachment:{name})\n\n", cell.source)
            cell.setdefault("attachments", {})[name] = image
    return cell


def answer_key(title: str, run: NotebookNode | None, tasks: Sequence[Task]) -> str:
    """Write what students do not get: which options are right, why, and the solutions.

    Parameters
    ----------
    title
        Of the chapter.
    run
        The executed chapter, whose results decide; None leaves the predictions out.
    tasks
        Its exercises.
    """
    parts = [f"# {title}"]
    if run is not None:
        plain = plain_notebook(run)  # its outputs have what the sentences name
        run = numbered(run)
        glued = {
            output.metadata.scrapbook.name: output.data
            for cell in plain.cells
            for output in cell.get("outputs", [])
            if "scrapbook" in output.metadata
        }
        parts += [
            _resolved(block, glued)
            for cell in run.cells
            if cell.cell_type == "markdown"
            for block in blocks(cell.source)
            if block.name == "predict"
        ]
    for task in tasks:
        solved = plain_markdown(_OPTION.sub("", task.solution_text).strip(), {})
        parts.append(f"## {task.heading} ({task.level}, `{task.label}`)\n\n{solved}")
    return "\n\n".join(parts) + "\n"


def _resolved(block: Block, glued: Mapping[str, Mapping[str, str]]) -> str:
    """Write a prediction with its answer and the options that are right, by number."""
    options = _asked(block.body)
    items = re.split(r"\n(?=[-*+] )", "\n".join(options).strip())
    listed = [f"{n}. {item[2:]}" for n, item in enumerate(items, start=1)]
    right = next((each.argument for each in blocks("\n".join(block.body)) if each.name == "right"),
                 "")  # fmt: skip
    answer = plain_markdown("\n".join(block.body[len(options) :]), glued).strip()
    asked = plain_markdown("\n".join(listed), glued)
    head = f"## Prediction: {plain_markdown(block.argument, glued)}"
    words = {"none": "none of them", "open": "open on these data"}
    which = words.get(right, right.replace(" ", " and "))
    return f"{head}\n\n{asked}\n\n**Right: {which}.** {answer}"


def answer_sheet(title: str, tasks: Sequence[Task]) -> NotebookNode:
    """Make the notebook that a student fills in and hands in: a cell for each task."""
    cells = [
        new_markdown_cell(
            f"# Answers: {title}\n\nComplete the code where the dots are and run the cell: the "
            "check says whether it is right. Hand in this file under its name.\n\n"
            "Leave the first line of each cell, by which it is found, and the last call, by which "
            "it is handed in. What a cell uses stands in that cell; cells that you add are not "
            "read. Where answers are graded there are Python, numpy, scipy and pandas: no files, "
            "no network, and of recbias only the check. So compute on your own data where you "
            "like, and hand in numbers: if they are right, the check writes the call that holds "
            "them.",
            id="how",
        )
    ]
    for task in tasks:
        level = f"*{task.level}, {LEVELS[task.level]}*"
        text = plain_markdown(f"## {task.heading}\n\n{level}\n\n{task.text}", {})
        code = f"# task: {task.label}\n{task.starter.rstrip()}"
        cells.append(new_markdown_cell(text, id=f"{task.label}-asks"))
        cells.append(new_code_cell(code, id=task.label))
    metadata = {"kernelspec": dict(_KERNEL), "language_info": {"name": "python"}}
    return new_notebook(cells=cells, metadata=metadata)


def secrets(chapter: Chapter, run: NotebookNode | None = None) -> dict[str, list[str]]:
    """List what a student edition must not hold: lines of solutions, and of what predictions say.

    Parameters
    ----------
    chapter
        Whose source is read.
    run
        The executed chapter, in which predictions are answered with the numbers of its data.

    Returns
    -------
    dict
        By the label of an exercise, or the question of a prediction, its lines without blanks.
        Short lines are left out, and lines that the chapter has elsewhere.
    """
    read = [chapter.notebook(), *([run] if run is not None else [])]
    cells = [cell.source for notebook in read for cell in notebook.cells]
    shown = _packed("\n".join(without_solutions(source) for source in cells))
    found: dict[str, list[str]] = {}
    for task in chapter_tasks(chapter):
        found[task.label] = task.solution_text.splitlines()
    for source in cells:
        for block in blocks(source):
            if block.name == "predict":
                kept = set(_asked(block.body))
                lines = [line for line in block.body if line not in kept]
                found[block.argument] = found.get(block.argument, []) + lines
    return {
        name: [
            packed
            for line in lines
            if len(packed := _packed(line)) >= 12 and packed not in shown and line[:1] != ":"
        ]
        for name, lines in found.items()
    }


def _packed(text: str) -> str:
    return re.sub(r"\s+", "", text)


def find_leaks(text: str, hidden: Mapping[str, Sequence[str]]) -> list[str]:
    """Name the solutions of which a line stands in a text, such as that of a notebook."""
    packed = _packed(text)
    return [name for name, lines in hidden.items() if any(line in packed for line in lines)]


def told_by(notebook: NotebookNode) -> str:
    """Join all that a notebook says: its cells, and the texts among their outputs."""
    return "\n".join(_parts(notebook))


def _parts(notebook: NotebookNode) -> Iterator[str]:
    for cell in notebook.cells:
        yield cell.source
        for output in cell.get("outputs", []):
            yield "".join(output.get("text", ""))
            for kind, content in output.get("data", {}).items():
                if isinstance(content, str | list) and not kind.startswith("image/png"):
                    yield "".join(content)


# -- a folder --------------------------------------------------------------------------------------
def write_course(
    out: Path,
    chapters: Sequence[Chapter],
    *,
    dataset: str = "synthetic",
    data: Sequence[str] = ("synthetic",),
    wheel: Path | None = None,
    sheets_only: bool = False,
    say: Callable[[str], object] = lambda _: None,
) -> None:
    """Write the folder that students get, and beside it the key that they do not get.

    The key, ``OUT-key.md``, has what is right of each prediction on `dataset`, and the solutions.

    Parameters
    ----------
    out
        A new folder, or an empty one.
    chapters
        What the course is on.
    dataset
        What the chapters' results are of; it is run where there is no run to use again.
    data
        Data sets that are put in as tables.
    wheel
        The package; built from the clone if there is none.
    sheets_only
        Leave out the chapters themselves, and with them all that is computed.
    say
        Told of each step.

    Raises
    ------
    ConfigError
        If `out` is not empty, its key is there, data may not be handed on, or no wheel can be
        built.
    LeakError
        If a file would hold a solution.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ConfigError(f"{out} is there already\nname a new folder, or remove it first")
    infos = [dataset_info(name) for name in data]
    for info in infos:
        if not _FREE.match(info.licence):
            raise ConfigError(
                f"{info.name} may not be handed on: {' '.join(info.licence.split())}\n"
                "students get it from its publisher: `recbias data info` says where"
            )
    key = out.with_name(f"{out.name}-key.md")
    if key.exists():
        raise ConfigError(f"{key} is there already\nname another folder, or remove it first")
    made: dict[str, NotebookNode] = {}
    hidden: dict[str, list[str]] = {}
    keys = []
    for chapter in chapters:
        title, tasks, run = _title(chapter), chapter_tasks(chapter), None
        made[f"answers/{chapter.name}.ipynb"] = answer_sheet(title, tasks)
        if not sheets_only:
            say(f"{'runs':10} {chapter.name} on {dataset}, unless it was run before")
            executed = run_chapter(chapter, dataset, progress=True, build=cache_dir())
            run = nbformat.read(executed, as_version=4)
            made[f"notebooks/{chapter.name}.ipynb"] = student_notebook(run)
        hidden |= secrets(chapter, run)
        keys.append(answer_key(title, run, tasks))
    files: dict[str, bytes] = {}
    for name, notebook in made.items():
        nbformat.validate(notebook)
        if leaks := find_leaks(told_by(notebook), hidden):
            raise LeakError(
                f"{name} would hold a solution of {', '.join(leaks)}; nothing is written"
            )
        files[name] = nbformat.writes(notebook).encode()
    for info in infos:
        files[f"data/{info.name}.csv"] = _table(info.name)
    with tempfile.TemporaryDirectory() as folder:
        if wheel is None:
            say(f"{'builds':10} the package")
            wheel = _build_wheel(chapters[0].root, Path(folder))
        files[wheel.name] = wheel.read_bytes()
    files["requirements.txt"] = requirements(wheel.name).encode()
    files["README.md"] = _readme(chapters, infos, sheets_only).encode()
    _write_folder(out, files)
    write_atomically(key, "\n".join(keys).encode())


def _title(chapter: Chapter) -> str:
    source = chapter.notebook().cells[0].source
    heading = re.search(r"^# (.+)$", source, re.MULTILINE)
    return heading[1] if heading else chapter.name


def _table(name: str) -> bytes:
    return str(frame_of(load_dataset(name).ratings).to_csv(index=False)).encode()


def _write_folder(out: Path, files: Mapping[str, bytes]) -> None:
    """Write all files, and only then give their folder its name."""
    out.parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=out.parent, prefix=f".{out.name}."))
    try:
        for name, content in files.items():
            write_atomically(folder / name, content)
        folder.chmod(0o755)
        folder.replace(out)  # an empty one may be there
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _build_wheel(root: Path, folder: Path) -> Path:
    """Build the package from the clone."""
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
    command += ["--no-build-isolation"] if find_spec("hatchling") else []
    built = subprocess.run(
        [*command, "--wheel-dir", str(folder), str(root)], capture_output=True, text=True
    )
    wheels = list(folder.glob("*.whl"))
    if built.returncode or not wheels:
        last = (built.stderr.strip().splitlines() or ["no wheel was made"])[-1]
        raise ConfigError(
            f"the package could not be built: {last}\n"
            "build it with `pip wheel --no-deps .` in the clone, and give --wheel FILE"
        )
    return wheels[0]


def requirements(wheel: str) -> str:
    """Pin what the package needs directly, as it is installed here, and the package itself."""
    lines = []
    for text in requires("recbias") or []:
        name, _, marker = text.partition(";")
        if marker and 'extra == "book"' not in marker.replace("'", '"'):
            continue
        name = re.match(r"[\w.-]+", name.strip())[0]  # type: ignore[index]
        lines.append(f"{name}=={version(name)}")
    try:
        lab = f"{_JUPYTER}=={version(_JUPYTER)}"
    except PackageNotFoundError:
        lab = f"{_JUPYTER}>=4,<5"
    return "\n".join([f"./{wheel}[book]", *sorted(lines, key=str.lower), lab]) + "\n"


def _readme(chapters: Sequence[Chapter], infos: Sequence[DatasetInfo], sheets_only: bool) -> str:
    listed = "\n".join(f"- `{chapter.name}`: {_title(chapter)}" for chapter in chapters)
    tables = "\n".join(
        f"- `data/{info.name}.csv`: {info.title}. Licence: {' '.join(info.licence.split())} "
        f"{' '.join(info.citation.split())}"
        for info in infos
    )
    first = infos[0].name if infos else "my"
    reading = (
        ""
        if sheets_only
        else (
            "`notebooks` holds the chapters with their results, to be read; nothing has to be "
            "run. Write each prediction into the cell below it before you read on: what came out "
            "stands further down, and whoever teaches has the key. If you run a chapter: cells "
            "that call `run`, `measure` or `simulated` compute, some of them for minutes (one of "
            "chapter 3 more than three with `workers = 1`); the others take seconds. Names such "
            "as BCC17-C-UNIF are claims of the papers, E04 and the like their errata; both are "
            "listed in the book.\n\n"
        )
    )
    return f"""# Biases in offline recommender evaluation: a course

Install it once, in this folder, with Python 3.11 or later; it takes some minutes and 1.2 GB:

```bash
python3 -m venv .venv && .venv/bin/pip install -r requirements.txt
```

Then, with or without a network:

```bash
.venv/bin/jupyter lab
```

On Windows the two are:

```console
py -m venv .venv
.venv\\Scripts\\pip install -r requirements.txt
.venv\\Scripts\\jupyter lab
```

{reading}`answers` holds an answer sheet for each chapter. Fill it in, run its cells, and hand it
in under its name: a check says of each task whether it is right, and why not.

{listed}

How a table is understood, yours as well: `.venv/bin/recbias data info data/{first}.csv` (on
Windows `.venv\\Scripts\\recbias`).

{tables}
"""
