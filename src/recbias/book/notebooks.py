"""Chapters: parameters that are checked before a kernel starts, and executed notebooks.

A chapter is a py:percent file under ``notebooks/`` that the table of contents names. Exactly one of
its cells carries the tag ``parameters``; it holds assignments of literals and nothing else::

    dataset: str = "ml-1m"
    n_sampled: int = 100  # 1 to 5000: sampled non-relevant items per run
    gain: str = "linear"  # one of linear, exp: gain of a rating in nDCG

The type of a parameter is its annotation, or the type of its default. A comment may limit it, as
above. A page whose header says ``recbias: {summary: true}`` has no results of its own: it is run
after all others and shows what they stored; ``shows: [PATTERN, ...]`` names files of the clone that
a page shows besides. Papermill executes the chapter; the executed notebook is kept and used again
until its code, its parameters, what it shows, the package, the data or the lock change.
Prose may change without a new run, and the sentences in it that follow verdicts (see
`recbias.book.findings`) are put in afterwards.
"""

from __future__ import annotations

import ast
import hashlib
import io
import json
import logging
import math
import os
import re
import shutil
import sys
import tempfile
from code import InteractiveInterpreter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import (
    AbstractContextManager,
    chdir,
    contextmanager,
    nullcontext,
    redirect_stdout,
)
from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import jupytext
import nbformat
import papermill
import yaml
from nbclient.exceptions import DeadKernelError
from nbformat import NotebookNode

from recbias._system.places import RECORDING, clone_root, need_clone
from recbias._system.processes import begun_prefix, remove_begun
from recbias.book.findings import check_findings, find_findings, resolve_findings
from recbias.book.jupyter import ENGINE
from recbias.book.rerun import check_data
from recbias.book.right_options import resolve_right
from recbias.data.datasets import (
    OwnTable,
    TableOptions,
    dataset_info,
    find_files,
    is_path,
    own_table,
)
from recbias.errors import ConfigError, MissingData, NoSpaceError, RecbiasError, unknown_name
from recbias.experiment.planning import NotComputedError, Plan, planning
from recbias.experiment.results import begin_page
from recbias.experiment.store import write_atomically
from recbias.experiment.verification import renew_manifest

# It warns of annotations that it cannot read; the parameters are checked here.
logging.getLogger("papermill").setLevel(logging.ERROR)

Scalar = bool | int | float | str
Value = Scalar | None | Sequence[Scalar]

# What a run depends on besides its code, parameters and data. Recorded results of all data sets:
# a page may quote another edition's. Not the modules that no chapter can import, nor what is
# compiled.
_INPUTS = (
    "src/**/*.py",
    "data/registry*",
    "data/published/**/*",
    "data/findings/**/*",
    "data/recorded/**/*",
    "requirements.lock",
)
_NO_INPUTS = {
    "chapters.py", "editions.py", "options.py", "reruns.py", "sheets", "cli.py", "__pycache__",
}  # fmt: skip
_KINDS: dict[str, type] = {"int": int, "float": float, "str": str, "bool": bool}
_NUMBER = r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?"
_LIMITS = re.compile(rf"({_NUMBER}) to ({_NUMBER})(?:: *(.*))?$")
_CHOICES = re.compile(r"one of ([^:]+)(?:: *(.*))?$")
_WORDS = re.compile(r"[^\W\d_]+|[1-9]\d*")
_STYLER_ID = re.compile(r"\bT_[0-9a-f]{5}(?=\b|_)")
_PROGRESS_BAR = re.compile(r"\d+%\||\b\d+\S* \[\d\d:\d\d")


class BuildError(RecbiasError):
    """A chapter that stopped while it ran, or a site that could not be built without warnings."""

    exit_code = 1


@dataclass(frozen=True)
class Parameter:
    """One line of a chapter's parameters cell.

    Parameters
    ----------
    name : str
        The variable that the cell assigns.
    default : bool, int, float, str, None, or a list or tuple of the first four
        Its value in the file.
    kind : str
        ``"int"``, ``"float"``, ``"str"`` or ``"bool"``; for a list, the kind of its elements.
    is_list : bool
        Whether the value is a list of that kind.
    optional : bool
        Whether None is allowed, written ``int | None`` in the annotation.
    limits : (float, float), optional
        Smallest and largest value allowed, both included.
    choices : tuple of str
        The only values allowed; empty when there is no such list.
    note : str
        The rest of the comment.
    """

    name: str
    default: Value
    kind: str
    is_list: bool = False
    optional: bool = False
    limits: tuple[float, float] | None = None
    choices: tuple[str, ...] = ()
    note: str = ""

    @property
    def expected(self) -> str:
        """What a value must be, in words."""
        text = f"a list of {self.kind}" if self.is_list else self.kind
        if self.limits:
            text += f" from {self.limits[0]:g} to {self.limits[1]:g}"
        if self.choices:
            text += f", one of {', '.join(self.choices)}"
        return text + (" or none" if self.optional else "")

    def read(self, value: object) -> Value:
        """Turn a typed text or a Python value into a value of this parameter."""
        if self.optional and (value is None or value == "none"):
            return None
        if not self.is_list:
            return self._scalar(value)
        if isinstance(value, str):
            value = [part.strip().strip("\"'") for part in value.strip("[]() ").split(",") if part]
        if not isinstance(value, Sequence):
            raise ValueError
        elements = [self._scalar(element) for element in value]
        return tuple(elements) if isinstance(self.default, tuple) else elements

    def _scalar(self, value: Any) -> Scalar:
        cast = _KINDS[self.kind]
        if isinstance(value, str) and cast is bool:
            value = {"true": True, "false": False}.get(value.lower(), value)
        elif isinstance(value, str) or (cast is float and type(value) is int):
            value = cast(value)
        has_type = type(value) is cast  # exactly: True is no int here
        if not has_type or (self.choices and value not in self.choices):
            raise ValueError
        if self.limits and not self.limits[0] <= value <= self.limits[1]:
            raise ValueError
        if cast is float and not math.isfinite(value):
            raise ValueError
        return cast(value)


@dataclass(frozen=True)
class Chapter:
    """A chapter's source file.

    Parameters
    ----------
    name : str
        File name without suffix, e.g. ``"01_design_alternatives"``.
    root : Path
        The clone that holds it.
    """

    name: str
    root: Path

    @property
    def source(self) -> Path:
        """The py:percent file."""
        return self.root / "notebooks" / f"{self.name}.py"

    @property
    def is_summary(self) -> bool:
        """Whether it shows what other pages stored, as the scorecard does; its header says so."""
        return bool(self.notebook().metadata.get("recbias", {}).get("summary", False))

    @property
    def shows(self) -> list[str]:
        """Patterns of files that the page shows, besides what all pages depend on."""
        return list(self.notebook().metadata.get("recbias", {}).get("shows", []))

    def notebook(self) -> NotebookNode:
        """Read the source as a notebook without outputs."""
        return deepcopy(_parsed(self.source.read_text(encoding="utf-8")))

    def parameters(self) -> list[Parameter]:
        """Read the parameters cell."""
        cells = [cell for cell in self.notebook().cells if _has_tag(cell, "parameters")]
        if len(cells) != 1:
            raise ConfigError(
                f"{self.source}: {len(cells)} cells are tagged 'parameters', expected exactly one"
            )
        lines = cells[0].source.splitlines()
        parameters = [self._parameter(node, lines) for node in ast.parse(cells[0].source).body]
        if "dataset" not in [parameter.name for parameter in parameters]:
            raise ConfigError(f"{self.source}: the parameters cell does not assign 'dataset'")
        return parameters

    def _parameter(self, node: ast.stmt, lines: Sequence[str]) -> Parameter:
        """Read one assignment; `lines` are those of the cell, for the comment behind it."""
        try:
            name, value = _assignment(node)
            default = ast.literal_eval(value)
        except ValueError as error:
            raise ConfigError(
                f"{self.source}: the parameters cell may only assign literals, found\n"
                f"    {ast.unparse(node)}"
            ) from error
        annotation = ast.unparse(node.annotation) if isinstance(node, ast.AnnAssign) else ""
        is_list = isinstance(default, list | tuple)
        example = default[0] if is_list and default else default
        kinds = [kind for kind in _KINDS if re.search(rf"\b{kind}\b", annotation)]
        kind = kinds[0] if kinds else type(example).__name__
        if kind not in _KINDS:
            raise ConfigError(
                f"{self.source}: parameter {name} needs an annotation with one of "
                f"{', '.join(_KINDS)}, found '{ast.unparse(node)}'"
            )
        tail = lines[(node.end_lineno or 1) - 1].encode()[node.end_col_offset :].decode()
        comment = tail.partition("#")[2].strip()
        limits, choices = _LIMITS.match(comment), _CHOICES.match(comment)
        matched = limits or choices
        return Parameter(
            name=name,
            default=default,
            kind=kind,
            is_list=is_list,
            optional="None" in annotation,
            limits=(float(limits[1]), float(limits[2])) if limits else None,
            choices=tuple(part.strip() for part in choices[1].split(",")) if choices else (),
            note=(matched[matched.lastindex or 0] if matched else comment) or "",
        )


@lru_cache(maxsize=32)
def _parsed(source: str) -> NotebookNode:
    """Read a py:percent text, which takes long and is asked for several times of each chapter."""
    return jupytext.reads(source, fmt="py:percent")


def list_chapters(root: Path | None = None) -> list[Chapter]:
    """List the chapters that the table of contents names, in its order."""
    root = root or clone_root()
    if root is None:
        raise need_clone("chapters and the book need")
    contents = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
    listed = [
        Chapter(Path(file).name, root)
        for file in pages_in(contents)
        if file.startswith("notebooks/")
    ]
    for chapter in listed:
        if not chapter.source.is_file():
            raise ConfigError(f"{root / '_toc.yml'} names {chapter.source}, which does not exist")
    return listed


def find_chapter(name: str, root: Path | None = None) -> Chapter:
    """Find a chapter by name."""
    known = {chapter.name: chapter for chapter in list_chapters(root)}
    if name not in known:
        raise unknown_name("chapter", name, known, meant=_meant(name, known))
    return known[name]


def _meant(name: str, known: Iterable[str]) -> str | None:
    """Find the first chapter that has the typed number, or each of the typed words."""
    wanted = set(_WORDS.findall(name.lower())) - {"chapter", "ch"}
    return next(
        (chapter for chapter in known if wanted and wanted <= set(_WORDS.findall(chapter))), None
    )


def check_parameters(chapter: Chapter, params: Mapping[str, object]) -> dict[str, Value]:
    """Check what a person wants to change in a chapter, before a kernel starts."""
    known = {parameter.name: parameter for parameter in chapter.parameters()}
    checked: dict[str, Value] = {}
    for name, value in params.items():
        if name not in known:
            raise unknown_name(f"parameter of chapter {chapter.name}", name, known)
        try:
            checked[name] = known[name].read(value)
        except ValueError as error:
            raise ConfigError(
                f"parameter {name} of chapter {chapter.name} must be {known[name].expected}, "
                f"got {value!r}; its default is {known[name].default!r}"
            ) from error
    return checked


def run_chapter(
    chapter: Chapter,
    dataset: str,
    params: Mapping[str, object] | None = None,
    out: Path | None = None,
    *,
    options: TableOptions | None = None,
    shared: Mapping[str, object] | None = None,
    record: bool = False,
    progress: bool = False,
    build: Path | None = None,
) -> Path:
    """Execute a chapter on a data set, unless the same run is already there."""
    asked = _asked(chapter, dataset, params, out, options, shared, record, build)
    with asked.reading():
        done = None if record else _read_run(asked.out, asked.key)
        if done is None:
            asked.check()
        if record:
            done = _record(chapter, asked.source, asked.values, asked.out, progress)
        elif done is None:
            done = _execute(chapter, asked.source, asked.values, asked.out, asked.results, progress)
    page = nbformat.writes(_page(asked.source, done, asked.values, chapter, asked.key))
    if not asked.out.is_file() or asked.out.read_text(encoding="utf-8") != page:
        write_atomically(asked.out, page.encode())
    return asked.out


def plan_chapter(
    chapter: Chapter,
    dataset: str,
    params: Mapping[str, object] | None = None,
    *,
    options: TableOptions | None = None,
    build: Path | None = None,
) -> Plan | None:
    """Tell what `run_chapter` would compute, without doing it; None if its page is there already.

    The code of the page runs in this process, statement by statement, with its results planned. A
    statement that needs a value of one that is not there stops, and so do those that stand on it.
    """
    asked = _asked(chapter, dataset, params, None, options, None, False, build)
    with asked.reading():
        if _read_run(asked.out, asked.key) is not None:
            return None
        asked.check()
        with (
            _kernel_environment(asked.results),
            chdir(chapter.source.parent),
            redirect_stdout(io.StringIO()),
            planning() as plan,
        ):
            try:
                plan.unforeseen += _plan_statements(asked.source, asked.values)
            finally:
                begin_page("")  # what this process measures next is of no page
    return plan


def _plan_statements(source: NotebookNode, values: Mapping[str, Value]) -> Iterator[str]:
    """Run what may ask for results; give the statements among it that could not be run."""
    variables: dict[str, Any] = {"__name__": "__main__"}
    page = _Interpreter(variables)
    for number, cell in enumerate(source.cells, start=1):
        if cell.cell_type != "code":
            continue
        for statement in ast.parse(cell.source).body:
            text = ast.unparse(statement)
            if _only_shows(statement):
                continue
            code = compile(ast.Module([statement], []), f"cell {number}", "exec", dont_inherit=True)
            try:
                page.runcode(code)
            except (NotComputedError, NameError, TypeError):  # no value, or what stands for one
                if _ASKS.search(text):
                    yield f"cell {number}: {text.partition(chr(10))[0]}"
        if _has_tag(cell, "parameters"):
            variables |= values


class _Interpreter(InteractiveInterpreter):
    """What runs the code of a page in this process, as a kernel does for a run."""

    def showtraceback(self) -> None:
        """Let an error pass to who asked, from where it is handled."""
        raise


_ASKS = re.compile(r"\b(run|measure\.\w+|setup\.measure)\(")
"""What asks for results, in the code of chapters."""


def _only_shows(statement: ast.stmt) -> bool:
    """Tell whether a statement draws or shows, which asks for nothing and takes long."""
    if not isinstance(statement, ast.Expr):
        return False
    shown = statement.value.func if isinstance(statement.value, ast.Call) else None
    return shown is None or ast.unparse(shown).endswith((".show", "HTML", "Markdown", "glue"))


@dataclass(frozen=True)
class _Asked:
    """A run that is asked for: a chapter with its values, and where what it makes is kept."""

    chapter: Chapter
    source: NotebookNode
    values: Mapping[str, Value]
    table: OwnTable | None
    out: Path
    results: Path
    key: str

    def reading(self) -> AbstractContextManager[object]:
        """Let this process, and those that it begins, find the table."""
        return self.table.handed_on() if self.table else nullcontext()

    def check(self) -> None:
        """Hold what is asked for against the data."""
        parameters = self.chapter.parameters()
        check_data(self.values, {parameter.name: parameter.default for parameter in parameters})


def _asked(
    chapter: Chapter,
    dataset: str,
    params: Mapping[str, object] | None,
    out: Path | None,
    options: TableOptions | None,
    shared: Mapping[str, object] | None,
    record: bool,
    build: Path | None,
) -> _Asked:
    """Check what a person asks for, and tell where it is kept."""
    has = {parameter.name for parameter in chapter.parameters()}
    of_all = dict(shared or {})
    chapter_params = {**{name: of_all[name] for name in of_all if name in has}, **(params or {})}
    changed = check_parameters(chapter, chapter_params)
    if "dataset" in changed:
        raise ConfigError("the parameter dataset is given on its own: --dataset NAME")
    table = own_table(dataset, options) if is_path(dataset) else None
    if record and (changed or table):
        raise ConfigError("results are recorded of named data sets, with the chapter's parameters")
    if options and options.given() and not table:
        said = ", ".join(options.given())
        raise ConfigError(f"{dataset} is read as published: {said} is for own tables")
    name = edition_name(dataset, options, {**of_all, **(params or {})})
    build = build or chapter.root / "_build"
    kept_in = build / ("runs" if not changed and not of_all else "reruns") / name
    results = results_of(build, name if changed or of_all else "")
    values = {"dataset": table.called if table else dataset, **changed}
    data = [table] if table else _files_of(dataset, needed=record)
    source = chapter.notebook()
    for place, cell in enumerate(source.cells):
        if cell.cell_type == "markdown":  # a slip in a sentence is told before anything runs
            check_findings(cell.source, _place_in(chapter, source, place))
    return _Asked(
        chapter,
        source,
        values,
        table,
        out or kept_in / f"{chapter.name}.ipynb",
        results,
        _run_key(chapter, source, values, data, results),
    )


def edition_name(
    dataset: str,
    options: TableOptions | None = None,
    params: Mapping[str, object] | None = None,
) -> str:
    """Give the name under which pages on a data set are kept."""
    is_own = is_path(dataset)
    name = own_table(dataset, options).name if is_own else dataset_info(dataset).name
    changed = [f"{parameter}={value}" for parameter, value in sorted((params or {}).items())]
    return _file_name("--".join([name, *changed]))


def results_of(build: Path, rerun: str = "") -> Path:
    """Name the folder of what chapters store: of the site, or of a rerun with other parameters."""
    return build / (f"reruns/{rerun}/results" if rerun else "results")


def line_numbers(chapter: Chapter, notebook: NotebookNode) -> list[int] | None:
    """Find the line (from 0) where each cell starts in the source, so that warnings can name it."""
    lines = chapter.source.read_text(encoding="utf-8").splitlines()
    starts = [number for number, line in enumerate(lines) if line.startswith("# %%")]
    return starts if len(starts) == len(notebook.cells) else None


def _place_in(chapter: Chapter, notebook: NotebookNode, number: int) -> Callable[[int], str]:
    """Name the place of the lines of a Markdown cell: file, line and cell."""
    starts = line_numbers(chapter, notebook)

    def place(line: int) -> str:
        where = f"{chapter.source}:{starts[number] + line + 2}" if starts else str(chapter.source)
        return f"{where} (cell {number + 1})"

    return place


def _file_name(text: str) -> str:
    """Replace what file names and addresses should not have."""
    return re.sub(r"[^\w.+=-]+", "_", text)


def pages_in(contents: object) -> Iterator[str]:
    """Walk a table of contents and give its files in order."""
    if isinstance(contents, Mapping):
        for place in ("root", "file"):
            if place in contents:
                yield str(contents[place])
        contents = list(contents.values())
    if isinstance(contents, list):
        for part in contents:
            yield from pages_in(part)


def _has_tag(cell: NotebookNode, tag: str) -> bool:
    return tag in cell.metadata.get("tags", [])


def _assignment(node: ast.stmt) -> tuple[str, ast.expr]:
    """Give name and value of an assignment to one name; ValueError for any other statement."""
    target: ast.expr
    value: ast.expr | None
    if isinstance(node, ast.AnnAssign):
        target, value = node.target, node.value
    elif isinstance(node, ast.Assign) and len(node.targets) == 1:
        target, value = node.targets[0], node.value
    else:
        raise ValueError
    if not isinstance(target, ast.Name) or value is None:
        raise ValueError
    return target.id, value


def _files_of(dataset: str, *, needed: bool) -> Sequence[Path]:
    """Give the files of a named data set; none where recorded results stand in for them."""
    try:
        return find_files(dataset_info(dataset))
    except MissingData:
        if needed:
            raise
        return []


def _run_key(
    chapter: Chapter,
    source: NotebookNode,
    values: Mapping[str, Value],
    data: Sequence[Path | OwnTable],
    results: Path,
) -> str:
    """Hash everything that a run depends on; prose and tags are not part of it."""
    digest = hashlib.sha256(json.dumps(values, sort_keys=True).encode())
    for cell in source.cells:
        if cell.cell_type == "code":
            digest.update(b"\0cell\0" + cell.source.encode())
    patterns = (*_INPUTS, *chapter.shows)
    inputs = [path for pattern in patterns for path in sorted(chapter.root.glob(pattern))]
    for path in (*inputs, *(sorted(results.rglob("*")) if chapter.is_summary else ())):
        if path.is_file() and not _NO_INPUTS & {path.name, path.parent.name}:
            digest.update(f"\0{os.path.relpath(path, chapter.root)}\0".encode())
            digest.update(path.read_bytes())
    for file in data:
        if isinstance(file, OwnTable):
            digest.update(f"\0{file.name}".encode())
            continue
        status = file.stat()  # large and read-only: place, size and time tell whether they changed
        digest.update(f"\0{file.resolve()} {status.st_size} {status.st_mtime_ns}".encode())
    return digest.hexdigest()


def _read_run(out: Path, key: str) -> NotebookNode | None:
    """Read an executed notebook if it is the one that belongs to `key`."""
    try:
        run = nbformat.read(out, as_version=4)
    except (OSError, ValueError):
        return None
    return run if run.metadata.get("recbias", {}).get("key") == key else None


def _record(
    chapter: Chapter,
    source: NotebookNode,
    values: Mapping[str, Value],
    out: Path,
    progress: bool,
) -> NotebookNode:
    """Run all cells and put the results in the place of recorded ones, none of which stays."""
    recorded, build = chapter.root / "data" / "recorded", chapter.root / "_build"
    build.mkdir(exist_ok=True)
    remove_begun(build, "recording")
    with tempfile.TemporaryDirectory(dir=build, prefix=begun_prefix("recording")) as fresh:
        done = _execute(chapter, source, values, out, Path(fresh), progress, recording=True)
        for folder in sorted(Path(fresh).glob("*/*/")):
            dataset, place = folder.parent.name, recorded / folder.relative_to(fresh)
            shutil.rmtree(place, ignore_errors=True)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(folder, place)
            renew_manifest(recorded, dataset, folder.name)
    return done


def _execute(
    chapter: Chapter,
    source: NotebookNode,
    values: Mapping[str, Value],
    out: Path,
    results: Path,
    progress: bool,
    *,
    recording: bool = False,
) -> NotebookNode:
    """Run all cells in a fresh kernel; a failed run leaves ``*.failed.ipynb``."""
    failed = out.with_suffix(".failed.ipynb")
    out.parent.mkdir(parents=True, exist_ok=True)
    remove_begun(out.parent, "running")
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=begun_prefix("running")) as folder:
        partial = Path(folder) / out.name
        try:
            with _kernel_environment(results, recording=recording):
                done = papermill.execute_notebook(
                    source,
                    str(partial),
                    parameters=dict(values),
                    kernel_name="python3",
                    cwd=str(chapter.source.parent),
                    progress_bar={"desc": f"{chapter.name} on {values['dataset']}", "leave": False}
                    if progress
                    else False,
                    stderr_file=sys.stderr if progress else None,
                    engine_name=ENGINE,
                )
        except papermill.PapermillExecutionError as error:
            os.replace(partial, failed)
            if error.ename == NoSpaceError.__name__:
                raise NoSpaceError(error.evalue) from error
            raise BuildError(
                f"chapter {chapter.name} on {values['dataset']} stopped at [{error.exec_count}] "
                f"with {error.ename}: {error.evalue}\nwhat was executed so far: {failed}"
            ) from error
        except DeadKernelError as error:
            os.replace(partial, failed)
            raise BuildError(
                f"chapter {chapter.name} on {values['dataset']}: the kernel died, most often for "
                f"lack of memory\nwhat was executed so far: {failed}"
            ) from error
    failed.unlink(missing_ok=True)
    return done


@contextmanager
def _kernel_environment(results: Path, *, recording: bool = False) -> Iterator[None]:
    """Set what a kernel inherits. It works in ``notebooks/``, so relative folders are resolved."""
    changes = {
        "PYTHONHASHSEED": "0",  # the order of sets may reach a page
        "VIRTUAL_ENV": sys.prefix,  # of another one that is active, IPython would warn
        "RECBIAS_RESULTS": str(results.resolve()),
        RECORDING: str(int(recording)),
        # A kernel that was killed cannot release its locks; that somebody else did is no news.
        "PYTHONWARNINGS": ",".join(
            [*filter(None, [os.environ.get("PYTHONWARNINGS")]), "ignore:resource_tracker"]
        ),
    }
    for name in ("RECBIAS_DATA", "RECBIAS_CELLS"):
        folders = [folder for folder in os.environ.get(name, "").split(os.pathsep) if folder]
        changes[name] = os.pathsep.join(
            str(Path(folder).expanduser().resolve()) for folder in folders
        )
    before = {name: os.environ.get(name) for name in changes}
    os.environ.update(changes)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _page(
    source: NotebookNode,
    run: NotebookNode,
    values: Mapping[str, Value],
    chapter: Chapter,
    key: str,
) -> NotebookNode:
    """Join prose and tags of the source with the outputs of the run.

    Free of times and random ids.
    """
    outputs = iter(
        cell.outputs
        for cell in run.cells
        if cell.cell_type == "code" and not _has_tag(cell, "injected-parameters")
    )
    cells = []
    n_code = 0
    for number, cell in enumerate(source.cells):
        cell = nbformat.from_dict({**cell, "id": f"cell-{number}"})
        if cell.cell_type == "code":
            n_code += 1
            cell.execution_count = n_code
            cell.outputs = _without_chance(next(outputs), number)
            for output in cell.outputs:
                if "execution_count" in output:
                    output["execution_count"] = n_code
            if _has_tag(cell, "parameters"):
                cell.source = _with_values(cell.source, values)
        cells.append(cell)
    stated = [findings for cell in cells for findings in find_findings(cell.get("outputs", ()))]
    for number, cell in enumerate(cells):
        if cell.cell_type == "markdown":
            place = _place_in(chapter, source, number)
            cell.source = resolve_findings(cell.source, stated, place)
            cell.source = resolve_right(cell.source, stated, place)
    language = dict(run.metadata.get("language_info", {}))
    language.pop("version", None)
    metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": language,
        "recbias": {
            "chapter": chapter.name,
            "parameters": dict(values),
            "key": key,
        },
    }
    return nbformat.from_dict({**source, "cells": cells, "metadata": metadata})


def _without_chance(outputs: Sequence[NotebookNode], number: int) -> list[NotebookNode]:
    """Take out what differs from run to run."""
    joined: list[NotebookNode] = []
    for output in outputs:
        last = joined[-1] if joined else None
        if last and output.output_type == "stream" == last.output_type and output.name == last.name:
            joined[-1] = nbformat.from_dict({**last, "text": last.text + output.text})
        else:
            joined.append(output)
    cleaned: list[NotebookNode] = []
    for output in joined:
        if output.output_type == "stream" and output.name == "stderr":
            pieces = re.split(r"[\r\n]+|\x1b\[A", output.text)
            text = "\n".join(p for p in pieces if p.strip() and not _PROGRESS_BAR.search(p))
            if not text:
                continue
            output = nbformat.from_dict({**output, "text": text + "\n"})
        for kind, text in output.get("data", {}).items():
            if kind.endswith("text/html"):
                output["data"][kind] = _STYLER_ID.sub(f"T_{number}_{len(cleaned)}", text)
        cleaned.append(output)
    return cleaned


def _with_values(cell_source: str, values: Mapping[str, Value]) -> str:
    """Write other values into the text of a parameters cell, comments untouched."""
    text = cell_source.encode()
    line_starts = [0]
    for line in text.splitlines(keepends=True):
        line_starts.append(line_starts[-1] + len(line))
    for node in reversed(ast.parse(cell_source).body):
        name, value = _assignment(node)
        if name in values:
            start = line_starts[value.lineno - 1] + value.col_offset
            end = line_starts[(value.end_lineno or 1) - 1] + (value.end_col_offset or 0)
            text = text[:start] + _literal(values[name]).encode() + text[end:]
    return text.decode()


def _literal(value: Any) -> str:
    """Write a value as Python, with the double quotes of the chapters."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, value))}]"
    if isinstance(value, tuple):
        return f"({', '.join(map(_literal, value))}{',' if len(value) == 1 else ''})"
    return repr(value)
