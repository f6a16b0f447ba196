"""Chapters: checked parameters, runs that are kept, replaced in one step or left as evidence."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from recbias.book.notebooks import (
    BuildError,
    Chapter,
    Parameter,
    check_parameters,
    edition_name,
    find_chapter,
    list_chapters,
    run_chapter,
)
from recbias.data.datasets import TableOptions
from recbias.errors import ConfigError, MissingData
from recbias.experiment.store import write_document

HEADER = """# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---
"""


def write_chapter(
    root: Path, code: str, *, prose: str = "Prose.", name: str = "01_x", summary: bool = False
) -> Chapter:
    """Make a clone with one chapter whose code is `code`."""
    (root / "notebooks").mkdir(parents=True, exist_ok=True)
    (root / "_toc.yml").write_text(
        f"format: jb-book\nroot: book/index\nchapters:\n- file: notebooks/{name}\n"
    )
    parameters = (
        '# %% tags=["parameters"]\ndataset: str = "ml-1m"\nn_sampled: int = 100  # 1 to 500\n'
    )
    more = "#   recbias:\n#     summary: true\n# ---\n" if summary else "# ---\n"
    header = HEADER.removesuffix("# ---\n") + more
    (root / f"notebooks/{name}.py").write_text(
        f"{header}\n# %% [markdown]\n# # Title\n# {prose}\n\n{parameters}\n# %%\n{code}\n"
    )
    return find_chapter(name, root)


@dataclass
class Kernels:
    """What was asked of papermill, when none is to be started."""

    parameters: list[dict[str, object]] = field(default_factory=list)
    environment: list[dict[str, str]] = field(default_factory=list)

    def execute(
        self, notebook: NotebookNode, out: str, *, parameters: dict[str, object], **_: object
    ) -> NotebookNode:
        """Stand in for papermill.execute_notebook."""
        self.parameters.append(parameters)
        self.environment.append(dict(os.environ))
        return notebook


@pytest.fixture
def kernels(monkeypatch: pytest.MonkeyPatch) -> Kernels:
    """Papermill replaced by a record of what it was asked."""
    record = Kernels()
    monkeypatch.setattr("papermill.execute_notebook", record.execute)
    return record


def test_parameters_of_the_small_book(book: Path) -> None:
    (chapter,) = list_chapters(book)
    assert chapter.parameters() == [
        Parameter("dataset", "ml-1m", "str"),
        Parameter("n_sampled", 100, "int", limits=(1, 500), note="sampled items"),
        Parameter("gain", "linear", "str", choices=("linear", "exp"), note="gain of a rating"),
        Parameter("cutoffs", [1, 5, 10], "int", is_list=True),
        Parameter("share", None, "float", optional=True),
    ]


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ({"n_sampled": "7"}, {"n_sampled": 7}),
        ({"n_sampled": 500}, {"n_sampled": 500}),
        ({"gain": "exp"}, {"gain": "exp"}),
        ({"cutoffs": "[3, 4]"}, {"cutoffs": [3, 4]}),
        ({"cutoffs": "3,4"}, {"cutoffs": [3, 4]}),
        ({"cutoffs": (3, 4)}, {"cutoffs": [3, 4]}),
        ({"share": "0.5"}, {"share": 0.5}),
        ({"share": 1}, {"share": 1.0}),
        ({"share": "none"}, {"share": None}),
    ],
)
def test_values_are_read_by_type(
    book: Path, given: dict[str, object], read: dict[str, object]
) -> None:
    checked = check_parameters(find_chapter("01_tiny", book), given)
    assert checked == read
    assert [type(value) for value in checked.values()] == [type(value) for value in read.values()]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"n_sample": 7}, "did you mean 'n_sampled'"),
        ({"n_sampled": "ten"}, "must be int from 1 to 500, got 'ten'; its default is 100"),
        ({"n_sampled": "7.0"}, "must be int"),
        ({"n_sampled": 7.0}, "must be int"),
        ({"n_sampled": True}, "must be int"),
        ({"n_sampled": 0}, "from 1 to 500, got 0"),
        ({"n_sampled": "501"}, "from 1 to 500"),
        ({"gain": "square"}, "must be str, one of linear, exp, got 'square'"),
        ({"cutoffs": "1,x"}, "must be a list of int"),
        ({"cutoffs": 5}, "must be a list of int"),
        ({"share": "half"}, "must be float or none"),
    ],
)
def test_wrong_parameters_are_refused_before_a_kernel_starts(
    book: Path, kernels: Kernels, given: dict[str, object], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        run_chapter(find_chapter("01_tiny", book), "synthetic", given)
    assert not kernels.parameters
    assert not (book / "_build").exists()


@pytest.mark.parametrize(
    ("dataset", "error", "message"),
    [
        ("ml1m", ConfigError, "did you mean 'ml-1m'"),
        ("no/such.csv", MissingData, "no file .*such.csv"),
    ],
)
def test_unknown_data_are_refused_before_a_kernel_starts(
    book: Path, kernels: Kernels, dataset: str, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        run_chapter(find_chapter("01_tiny", book), dataset)
    assert not kernels.parameters
    assert not (book / "_build").exists()


def test_the_data_set_is_no_other_parameter(book: Path) -> None:
    with pytest.raises(ConfigError, match="--dataset"):
        run_chapter(find_chapter("01_tiny", book), "synthetic", {"dataset": "ml-1m"})


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("dataset = 'a'\nx = 1 + n", "may only assign literals, found\n    x = 1 \\+ n"),
        ("dataset = 'a'\nprint(1)", "may only assign literals"),
        ("x = 1", "does not assign 'dataset'"),
        ("dataset = 'a'\nx = None", "needs an annotation"),
    ],
)
def test_a_parameters_cell_holds_literals(tmp_path: Path, cell: str, message: str) -> None:
    chapter = write_chapter(tmp_path, "pass")
    text = chapter.source.read_text()
    start, end = text.index("dataset:"), text.index("# %%\npass")
    chapter.source.write_text(text[:start] + cell + "\n\n" + text[end:])
    with pytest.raises(ConfigError, match=message):
        chapter.parameters()


def test_there_is_exactly_one_parameters_cell(tmp_path: Path) -> None:
    chapter = write_chapter(tmp_path, '# %% tags=["parameters"]\ndataset = "x"')
    with pytest.raises(ConfigError, match="2 cells are tagged 'parameters'"):
        chapter.parameters()


def test_unknown_chapter_and_missing_source(book: Path) -> None:
    with pytest.raises(ConfigError, match="did you mean '01_tiny'"):
        find_chapter("01_tinny", book)
    (book / "notebooks/01_tiny.py").unlink()
    with pytest.raises(ConfigError, match="does not exist"):
        list_chapters(book)


def test_a_run_shows_the_values_it_used_and_no_progress_bars(tmp_path: Path) -> None:
    chapter = write_chapter(
        tmp_path,
        "import sys\nfrom tqdm import tqdm\nfor _ in tqdm(range(3), desc='long'): pass\n"
        "for _ in tqdm(iter('ab')): pass\nprint(dataset, n_sampled)\n"
        "print('heard', file=sys.stderr)\n"
        "from IPython.display import HTML\nimport os\nname = os.urandom(3).hex()[:5]\n"
        "HTML(f'<style>#T_{name}_row0 {{}}</style><table id=\"T_{name}\">')",
    )
    run = run_chapter(chapter, "synthetic", {"n_sampled": "7"})
    assert run == tmp_path / "_build/reruns/synthetic--n_sampled=7/01_x.ipynb"
    _, parameters, code = nbformat.read(run, as_version=4).cells
    assert parameters.source == 'dataset: str = "synthetic"\nn_sampled: int = 7  # 1 to 500'
    table = code.outputs.pop()
    assert table.data["text/html"] == '<style>#T_2_2_row0 {}</style><table id="T_2_2">'
    assert {output.name: output.text for output in code.outputs} == {
        "stdout": "synthetic 7\n",
        "stderr": "heard\n",
    }


def test_a_run_is_kept_until_what_it_depends_on_changes(tmp_path: Path, kernels: Kernels) -> None:
    run = run_chapter(write_chapter(tmp_path, "1"), "synthetic")
    first = run.read_bytes()
    run_chapter(write_chapter(tmp_path, "1", prose="Other words."), "synthetic")
    assert len(kernels.parameters) == 1, "a change of prose alone"
    assert "Other words." in run.read_text()
    run_chapter(write_chapter(tmp_path, "1"), "synthetic")
    assert len(kernels.parameters) == 1
    assert run.read_bytes() == first, "the same source gives the same bytes"

    for number, name in enumerate(
        [
            "src/recbias/x.py",
            "data/recorded/ml-1m/x.json",
            "data/registry.yaml",
            "data/findings/x.yaml",
            "requirements.lock",
        ]
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("# changed")
        run_chapter(write_chapter(tmp_path, "1"), "synthetic")
        assert len(kernels.parameters) == 2 + number, name
    (tmp_path / "src/cli.py").write_text("# no chapter depends on it")
    run_chapter(write_chapter(tmp_path, "1"), "synthetic")
    assert len(kernels.parameters) == 6
    run_chapter(write_chapter(tmp_path, "1 + 1"), "synthetic")
    assert len(kernels.parameters) == 7, "the code of a cell"
    run.write_text("{ damaged")
    run_chapter(write_chapter(tmp_path, "1 + 1"), "synthetic")
    assert len(kernels.parameters) == 8, "a damaged file"


STATES = """from recbias.book.findings import Finding, Findings
verdict = "holds" if n_sampled == 100 else "refuted"
Findings("design alternatives", {"BCC17-F2A/1": Finding(verdict, n_sampled / 8)})"""
BLOCK = """So
# :::{finding} BCC17-F2A/1
# holds: It holds.
# refuted: It is {value}.
# open: -
# :::"""


@pytest.mark.slow
def test_sentences_follow_the_run_and_change_without_a_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def prose(run: Path) -> str:
        return nbformat.read(run, as_version=4).cells[0].source

    chapter = write_chapter(tmp_path, STATES, prose=BLOCK)
    assert prose(run_chapter(chapter, "synthetic")).endswith(
        'data-verdict="holds">It holds.</span>'
    )
    rerun = run_chapter(chapter, "synthetic", {"n_sampled": 10})
    assert prose(rerun).endswith('data-verdict="refuted">It is 1.25.</span>')
    assert nbformat.read(rerun, as_version=4).cells[-1].outputs[0].data == {"text/plain": ""}

    def fail(*_: object, **__: object) -> None:
        raise AssertionError("a change of prose is no new run")

    monkeypatch.setattr("papermill.execute_notebook", fail)
    changed = write_chapter(tmp_path, STATES, prose=BLOCK.replace("It holds", "It *does*"))
    assert prose(run_chapter(changed, "synthetic")).endswith(">It *does*.</span>")
    assert prose(run_chapter(chapter, "synthetic", {"n_sampled": 10})).endswith("1.25.</span>")


def test_a_slip_in_a_sentence_is_told_before_a_kernel_starts(
    tmp_path: Path, kernels: Kernels
) -> None:
    chapter = write_chapter(tmp_path, STATES, prose=BLOCK.replace("F2A", "F2Z"))
    lines = chapter.source.read_text().splitlines()
    line = next(n for n, text in enumerate(lines, 1) if "{finding}" in text)
    with pytest.raises(ConfigError, match=rf"01_x.py:{line} \(cell 1\): .*unknown claim"):
        run_chapter(chapter, "synthetic")
    assert not kernels.parameters


def test_a_chapter_that_states_nothing_has_no_sentences_to_choose(
    tmp_path: Path, kernels: Kernels
) -> None:
    chapter = write_chapter(tmp_path, "1", prose=BLOCK)
    with pytest.raises(ConfigError, match=r"01_x.py:\d+ \(cell 1\): .*no verdict to follow\nend a"):
        run_chapter(chapter, "synthetic")


def test_a_failed_rerun_keeps_the_old_page_and_the_evidence(tmp_path: Path) -> None:
    good = run_chapter(write_chapter(tmp_path, "print('fine')"), "synthetic")
    page = good.read_bytes()
    broken = write_chapter(tmp_path, "print('so far')\n1 / 0")
    with pytest.raises(BuildError, match="ZeroDivisionError: division by zero") as caught:
        run_chapter(broken, "synthetic")
    assert caught.value.exit_code == 1
    assert good.read_bytes() == page
    failed = good.with_suffix(".failed.ipynb")
    assert str(failed) in str(caught.value)
    assert "so far" in failed.read_text()
    assert sorted(path.name for path in good.parent.iterdir()) == [failed.name, good.name]
    run_chapter(write_chapter(tmp_path, "print('fine')\n1"), "synthetic")
    assert not failed.exists()


def test_a_dead_kernel_is_reported(tmp_path: Path) -> None:
    chapter = write_chapter(tmp_path, "import os\nos._exit(1)")
    with pytest.raises(BuildError, match="the kernel died"):
        run_chapter(chapter, "synthetic")


def test_what_the_kernel_gets_is_absolute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kernels: Kernels
) -> None:
    chapter = write_chapter(tmp_path / "clone", "1")
    table = tmp_path / "my table.csv"
    table.write_text("user_id,item_id\n1,2\n1,4\n3,4\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RECBIAS_DATA", os.pathsep.join(["here", "/there"]))
    run = run_chapter(chapter, "my table.csv")
    assert edition_name("my table.csv") == run.parent.name
    assert re.fullmatch("my_table-[0-9a-f]{8}", run.parent.name)
    assert kernels.parameters == [{"dataset": "my table.csv"}]
    handed = json.loads(kernels.environment[0]["RECBIAS_TABLE"])
    assert handed == {"called": "my table.csv", "path": str(table), "options": {}}
    assert "RECBIAS_TABLE" not in os.environ
    assert kernels.environment[0]["RECBIAS_DATA"] == f"{tmp_path / 'here'}{os.pathsep}/there"
    assert os.environ["RECBIAS_DATA"] == f"here{os.pathsep}/there"
    run_chapter(chapter, "my table.csv")
    assert len(kernels.parameters) == 1
    table.write_text("user_id,item_id\n1,3\n1,5\n4,5\n")
    run_chapter(chapter, "my table.csv")
    assert len(kernels.parameters) == 2, "the table changed"


def options_change_the_page(chapter: Chapter, table: Path, kernels: Kernels) -> bool:
    """Tell whether each change of the options kept beside a table, and only it, is a new run."""
    options = table.with_name(f"{table.name}.recbias.yaml")
    before = len(kernels.parameters)
    n_runs = []
    for text in (None, "user: a\n", "user: a\n", "user: b b\n", None):
        if text is None:
            options.unlink(missing_ok=True)
        elif not options.is_file() or options.read_text() != text:
            options.write_text(text)
        run_chapter(chapter, str(table))
        n_runs.append(len(kernels.parameters) - before)
    return n_runs == [1, 2, 2, 3, 3]  # the first page is still there


def test_a_corrected_reading_of_a_table_is_another_run(
    tmp_path: Path, kernels: Kernels, monkeypatch: pytest.MonkeyPatch
) -> None:
    chapter = write_chapter(tmp_path / "clone", "1")
    table = tmp_path / "t.csv"
    table.write_text("a,b b,item_id,user\n1,2,3,4\n1,2,4,4\n5,6,7,8\n")
    assert options_change_the_page(chapter, table, kernels)
    # Where the name knows the file alone, the old page stays: the test notices that.
    monkeypatch.setattr("recbias.data.datasets.own.kept_options", lambda path: TableOptions())
    assert not options_change_the_page(chapter, table, kernels)


def test_where_a_chapter_stores_its_results(tmp_path: Path, kernels: Kernels) -> None:
    chapter = write_chapter(tmp_path, "1")
    run_chapter(chapter, "synthetic")
    run_chapter(chapter, "synthetic", {"n_sampled": 3})
    assert [environment["RECBIAS_RESULTS"] for environment in kernels.environment] == [
        str(tmp_path / "_build/results"),
        str(tmp_path / "_build/reruns/synthetic--n_sampled=3/results"),
    ]


def test_recording_replaces_a_chapter_s_results_as_a_whole_or_not_at_all(
    tmp_path: Path, kernels: Kernels, monkeypatch: pytest.MonkeyPatch
) -> None:
    chapter = write_chapter(tmp_path, "1")
    recorded = tmp_path / "data" / "recorded"

    def record(names: Sequence[str], key: str, fails: bool = False) -> None:
        def execute(notebook: NotebookNode, out: str, **_: object) -> NotebookNode:
            assert os.environ["RECBIAS_RECORDING"] == "1"  # else what is stale stops the page
            for name in names:
                write_document(
                    Path(os.environ["RECBIAS_RESULTS"]) / "synthetic" / "01_x" / f"{name}.json",
                    kind="table", key=key, dataset={}, parameters={}, provenance={}, times={},
                    body={},
                )  # fmt: skip
            if fails:
                raise KeyError(key)
            return notebook

        monkeypatch.setattr("papermill.execute_notebook", execute)
        run_chapter(chapter, "synthetic", record=True)

    def listed() -> dict[str, dict[str, str]]:
        manifest = json.loads((recorded / "manifest.json").read_text())
        return {
            dataset: {name: entry["key"] for name, entry in entries.items()}
            for dataset, entries in manifest.items()
        }

    record(["grid", "checks"], "first")
    assert listed() == {"synthetic": {"01_x/checks": "first", "01_x/grid": "first"}}
    with pytest.raises(KeyError, match="second"):
        record(["grid"], "second", fails=True)
    assert listed() == {"synthetic": {"01_x/checks": "first", "01_x/grid": "first"}}
    record(["grid"], "third")
    assert listed() == {"synthetic": {"01_x/grid": "third"}}
    assert [path.name for path in (recorded / "synthetic" / "01_x").iterdir()] == ["grid.json"]
    assert not list((tmp_path / "_build").glob(".recording-*"))


@pytest.mark.parametrize(
    ("dataset", "params", "error"),
    [("synthetic", {"n_sampled": 3}, ConfigError), ("ml-1m", {}, MissingData)],
)
def test_what_cannot_be_recorded(
    book: Path,
    kernels: Kernels,
    monkeypatch: pytest.MonkeyPatch,
    dataset: str,
    params: dict[str, object],
    error: type[Exception],
) -> None:
    monkeypatch.setattr("recbias._system.places.data_dirs", lambda extra=None: [book])
    with pytest.raises(error):
        run_chapter(find_chapter("01_tiny", book), dataset, params, record=True)
    assert not kernels.parameters


def test_a_page_runs_again_when_what_it_shows_changes(tmp_path: Path, kernels: Kernels) -> None:
    plain = write_chapter(tmp_path, "1", name="plain")
    shows = write_chapter(tmp_path, "1", name="proof")
    header, rest = shows.source.read_text().split("# ---\n\n", 1)
    pattern = "#   recbias:\n#     shows: [data/proof/*]\n"
    shows.source.write_text(f"{header}{pattern}# ---\n\n{rest}")
    assert (plain.shows, shows.shows) == ([], ["data/proof/*"])
    outcome = tmp_path / "data/proof/stops.json"
    outcome.parent.mkdir(parents=True)
    for content, n_runs in (("{}", 2), ("{}", 2), ("[]", 3)):
        outcome.write_text(content)
        run_chapter(plain, "synthetic")
        run_chapter(shows, "synthetic")
        assert len(kernels.parameters) == n_runs


def test_a_summary_runs_again_when_stored_results_change(tmp_path: Path, kernels: Kernels) -> None:
    chapter = write_chapter(tmp_path, "1")
    page = write_chapter(tmp_path, "1", name="page")  # without a number, but with own results
    summary = write_chapter(tmp_path, "1", name="scorecard", summary=True)
    assert [each.is_summary for each in (chapter, page, summary)] == [False, False, True]
    result = tmp_path / "_build/results/synthetic/table.json"
    result.parent.mkdir(parents=True)
    for content, n_runs in (("{}", 3), ("{}", 3), ("[]", 4)):
        result.write_text(content)
        run_chapter(chapter, "synthetic")
        run_chapter(page, "synthetic")
        run_chapter(summary, "synthetic")
        assert len(kernels.parameters) == n_runs
