"""Promises name what measures them, and their page shows what that came to."""

import json
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import prove
import prove_code
from code_mutants import code_mutants
from recbias.book import proof
from recbias.experiment.verification import listed_datasets

ROOT = Path(__file__).resolve().parents[2]
STEPS = [
    line.partition('"')[2].partition('"')[0]
    for line in (ROOT / ".ci/run").read_text(encoding="utf-8").splitlines()
    if "step " in line and '"' in line
]


def is_there(measure: str) -> bool:
    kind, _, name = measure.partition(" ")
    if kind == "ci":
        return any(name in step for step in STEPS)
    if kind == "prove":
        part, _, step = name.partition("/")
        known = prove.parts()
        return part in known and (not step or step in known[part].steps)
    path, _, test = measure.removeprefix("slow ").partition("::")
    if not (ROOT / path).is_file():
        return False
    text = (ROOT / path).read_text()
    before, found, _ = text.partition(f"def {test}(") if test else (text, "", "")
    decorators = before.rsplit("\n\n\n", 1)[-1] if test else ""
    slow = re.search(r"^pytestmark = .*\n?.*pytest\.mark\.slow", text, re.MULTILINE)
    is_slow = slow is not None or "\n@pytest.mark.slow" in f"\n{decorators}"
    some = not test and "pytest.mark.slow" in text  # a file of both kinds is named as both
    return bool(found or not test) and (is_slow == (kind == "slow") or (some and kind == "slow"))


def half_named(measures: Sequence[str]) -> list[str]:
    """Name the files that are said to hold at every change, though not all of them does."""
    return [
        each
        for each in measures
        if each.startswith("tests/") and "::" not in each
        and "pytest.mark.slow" in (ROOT / each).read_text()
        and not any(other.startswith(f"slow {each}") for other in measures)
    ]  # fmt: skip


@pytest.mark.parametrize("goal", proof.goals(), ids=lambda goal: goal.name)
def test_what_measures_a_promise_exists(goal: proof.Goal) -> None:
    assert goal.by
    assert [each for each in goal.by if not is_there(each)] == []
    assert half_named(goal.by) == []


def test_each_part_is_named_by_a_goal() -> None:
    named = {each.removeprefix("prove ").partition("/")[0] for goal in proof.goals()
             for each in goal.by if each.startswith("prove ")}  # fmt: skip
    assert named == {*prove.parts()}


def test_a_file_of_which_a_part_is_slow_is_noticed() -> None:
    mixed = "tests/data/test_bad_tables.py"
    assert half_named([mixed]) == [mixed]
    assert half_named([mixed, f"slow {mixed}"]) == []


@pytest.mark.parametrize(
    "name", ["ci no such step", "prove nothing", "prove stops/nothing", "tests/none.py",
             "tests/test_hygiene.py::test_nothing", "tests/experiment/test_digest.py",
             "slow tests/test_errors.py",
             "tests/site/test_site.py::test_the_switch_keeps_the_page",
             "slow tests/book/test_proof.py::is_there",
             "tests/system/test_store.py::test_any_flipped_bit_is_noticed"],
)  # fmt: skip
def test_a_name_of_nothing_is_noticed(name: str) -> None:
    assert not is_there(name)


def test_the_page_shows_what_failed_what_was_not_run_and_what_is_stale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "data/proof"
    folder.mkdir(parents=True)
    (tmp_path / "code").write_text("one")
    found = {
        "date": "2026-11-27",
        "revision": "0123456789",
        "passed": False,
        "seconds": 120,
        "said": "<b>",
        "stands_on": {"code": proof.digest_of(tmp_path, "code")},
    }
    passed = {**found, "passed": True, "said": "fine"}
    (folder / "stops.json").write_text(json.dumps({"rounds": found}))
    (folder / "tables.json").write_text(json.dumps({"one": passed, "two": None}))
    (folder / "goals.yaml").write_text(
        "G1: {goal: 'one `<make>`', by: [prove stops/rounds]}\n"
        "G2: {goal: two, by: [prove sizes, prove tables, slow tests/a.py]}\n"
    )
    monkeypatch.setattr(proof, "_folder", lambda: folder)
    page = proof.proof_html()
    assert "<td>one <code>&lt;make&gt;</code></td>" in page
    assert (
        "stops/rounds, 2026-11-27 at 01234567: <strong>failed</strong> in 2 min; &lt;b&gt;" in page
    )
    assert "sizes: <strong>not run</strong>" in page
    assert "tables/two: <strong>not run</strong>" in page
    assert "passed in 2 min; fine</li>" in page
    assert "at one change of six: <code>tests/<wbr>a.py</code>" in page
    (tmp_path / "code").write_text("two")
    again = "passed in 2 min; fine; <strong>to be run again</strong>: code changed since</li>"
    assert again in proof.proof_html()


def test_a_digest_is_of_names_and_contents(tmp_path: Path) -> None:
    def digest() -> str:
        return proof.digest_of(tmp_path, "src")

    (tmp_path / "src/__pycache__").mkdir(parents=True)
    (tmp_path / "src/a").write_text("one")
    first = digest()
    (tmp_path / "src/__pycache__/a.pyc").write_text("compiled")
    (tmp_path / "src/.hidden").write_text("hidden")
    assert digest() == first
    (tmp_path / "src/a").rename(tmp_path / "src/b")
    assert digest() != first
    (tmp_path / "src/b").rename(tmp_path / "src/a")
    (tmp_path / "src/a").write_text("two")
    assert digest() != first
    assert proof.digest_of(tmp_path, "none") != first


def test_what_is_stale_says_what_to_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(prove, "RESULTS", tmp_path)
    monkeypatch.setattr("sys.argv", ["prove.py", "--stale", "sizes", "stops"])
    assert prove.main() == 1
    *stale, last = capsys.readouterr().out.splitlines()
    assert stale == ["sizes/tests_and_intervals: never run", "stops/rounds: never run"]
    assert 'make prove PART="sizes stops"' in last
    monkeypatch.setattr(prove, "why", lambda *_: "")
    assert prove.main() == 0
    assert capsys.readouterr().out == "nothing is stale\n"


def test_a_step_can_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    run: list[tuple[str, list[str]]] = []
    monkeypatch.setattr(
        prove, "prove", lambda name, _, steps, **__: run.append((name, [*steps])) or []
    )
    named = ["recorded/ml-1m", "stops", "recorded/coat"]
    monkeypatch.setattr("sys.argv", ["prove.py", *named])
    assert prove.main() == 0
    chapters = [step for step in prove.parts()["recorded"].steps if step.startswith("ml-1m/")]
    assert len(chapters) > 1
    assert run == [("recorded", [*chapters, "coat"]), ("stops", ["rounds"])]
    run.clear()
    monkeypatch.setattr("sys.argv", ["prove.py", f"recorded/{chapters[-1]}"])
    assert prove.main() == 0
    assert run == [("recorded", chapters[-1:])]
    monkeypatch.setattr("sys.argv", ["prove.py", "recorded/none"])
    with pytest.raises(SystemExit):
        prove.main()


def test_what_changed_since_is_stale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def git(*arguments: str) -> str:
        person = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
        command = ["git", *person, *arguments]
        done = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def part(*command: str, days: int = 0, also: tuple[str, ...] = ()) -> prove.Part:
        return prove.Part({"step": [*command], "other": ["true"]}, ("code", *also), days=days)

    def why(given: prove.Part) -> str:
        return prove.why("sizes", given, "step")

    def outcome() -> dict[str, Any]:
        return json.loads((tmp_path / "sizes.json").read_text())

    monkeypatch.setattr(prove, "ROOT", tmp_path)
    monkeypatch.setattr(prove, "RESULTS", tmp_path)
    monkeypatch.setattr(prove, "KEPT", tmp_path / "kept")
    git("init", "-q")
    for name in ("code", "other"):
        (tmp_path / name).write_text("one")
        git("add", name)
        git("commit", "-qm", name)
    fine = part("echo", "fine")
    assert why(fine) == "never run"
    assert prove.prove("sizes", fine, ["step"]) == []
    assert outcome()["step"]["said"] == "fine"
    assert outcome()["step"]["revision"] == git("rev-parse", "HEAD")
    assert why(fine) == ""
    (tmp_path / "other").write_text("two")
    assert why(fine) == ""
    assert why(part("true", also=("other",))) == "what it stands on is another list now"
    assert why(part("true", days=30)) == ""
    (tmp_path / "sizes.json").write_text(
        json.dumps({"step": {**outcome()["step"], "date": "2020-01-01"}})
    )
    assert why(part("true", days=30)).endswith("days old")
    assert why(fine) == ""
    (tmp_path / "code").write_text("two")
    assert why(fine) == "code changed since"
    assert prove.prove("sizes", fine, ["step"]) == []
    assert why(fine) == "run on changes that are not committed"
    git("commit", "-qam", "changed")
    prove.prove("sizes", part("sh", "-c", "echo three > code"), ["step"], again=True)
    assert outcome()["step"]["revision"] == ""  # it was changed while it ran
    git("checkout", "-q", "code")
    (failed,) = prove.prove("sizes", part("false"), ["step"], again=True)
    assert failed.startswith("sizes/step: failed")
    assert why(fine).startswith("failed on ")
    assert outcome()["other"] is None


def test_a_step_that_takes_too_long_is_ended_with_all_that_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prove, "RESULTS", tmp_path)
    monkeypatch.setattr(prove, "KEPT", tmp_path / "kept")
    monkeypatch.setattr(prove, "MINUTES", 0.01)
    (tmp_path / "wait.sh").write_text(f"(sleep 5; touch {tmp_path}/late) & sleep 5")
    steps = {"one": ["sh", str(tmp_path / "wait.sh")], "two": ["true"]}
    one, two = prove.prove("sizes", prove.Part(steps, ("README.md",)), steps)
    assert (one.split(",")[0], two) == ("sizes/one: no time left", "sizes/two: no time left")
    kept = json.loads((tmp_path / "sizes.json").read_text())
    assert (kept["one"]["said"], kept["two"]) == ("no time left", None)
    time.sleep(5)
    assert not (tmp_path / "late").exists()


def test_recorded_results_of_absent_data_are_not_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    manifest = ROOT / "data/recorded/manifest.json"
    chapters = {name.partition("/")[0] for name in json.loads(manifest.read_text())["ml-1m"]}
    assert {*prove.parts()["recorded"].steps} == {
        *({*listed_datasets()} - {"ml-1m"}), *(f"ml-1m/{chapter}" for chapter in chapters)
    }  # fmt: skip
    monkeypatch.setattr(prove, "state", lambda _: "missing")
    part = prove.Part({"coat": ["false"], "ml-1m/systems": ["false"]}, ("README.md",))
    monkeypatch.setattr(prove, "kept", lambda _: {})
    assert prove.prove("recorded", part, part.steps) == [
        "recorded/coat: not run, the data of coat are not here",
        "recorded/ml-1m/systems: not run, the data of ml-1m are not here",
    ]


def test_chapters_share_cells_until_none_is_left_to_be_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prove, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(prove, "KEPT", tmp_path)
    monkeypatch.setattr(prove, "revision", lambda *_: "a")
    monkeypatch.setattr(prove, "_why_not_here", lambda *_: "")
    folder = tmp_path / "cells" / prove._digest("src") / "ml-1m"
    script = (
        "import pathlib, sys; said = sys.argv[1:]; cells = pathlib.Path(said[-1], 'ml-1m'); "
        "cells.mkdir(parents=True, exist_ok=True); (cells / said[-3]).touch(); "
        "sys.exit(said[-3] == 'bad' and not (cells / 'again').exists())"
    )
    monkeypatch.setattr(prove, "_python", lambda *said: [sys.executable, "-c", script, *said])
    steps = [f"ml-1m/{chapter}" for chapter in ("one", "bad", "two")]
    part = prove.Part({step: prove._recompute(step) for step in steps}, ("README.md",))
    (failed,) = prove.prove("recorded", part, steps)
    assert failed.startswith("recorded/ml-1m/bad: failed, see ")
    assert {path.name for path in folder.iterdir()} == {"one", "bad", "two"}
    (folder / "again").touch()
    assert prove.prove("recorded", part, steps) == []
    assert not folder.exists()


def test_what_recomputes_goes_on_where_it_was_stopped_and_leaves_no_cells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prove, "KEPT", tmp_path)
    log, wait = tmp_path / "log", "time.sleep(60)"
    for end, left in (("sys.exit(1)", False), ("sys.exit(0)", False), (wait, True)):
        script = (
            "import pathlib, sys, time; cells = pathlib.Path(sys.argv[-1], 'coat'); "
            f"cells.mkdir(parents=True); {end}"
        )
        monkeypatch.setattr(prove, "_python", lambda *_, of=script: [sys.executable, "-c", of])
        reason = prove._run(prove._recompute("coat"), log, 5)
        assert reason == {"sys.exit(0)": "", wait: "no time left"}.get(end, "failed")
        assert [*tmp_path.glob("cells/*/coat")] == left * [
            tmp_path / "cells" / prove._digest("src") / "coat"
        ]


def test_a_step_stands_on_what_it_runs() -> None:
    recorded = prove.parts()["recorded"]
    assert "data/recorded/coat" in recorded.paths_of("coat")
    assert "src/recbias/ranking" in recorded.paths_of("coat")
    assert not any("data/recorded/ml-1m" in path for path in recorded.paths_of("coat"))
    for name, part in prove.parts().items():
        for step, command in part.steps.items():
            paths = part.paths_of(step)
            assert [path for path in paths if not (ROOT / path).exists()] == [], (name, step)
            run = [each for each in command if re.fullmatch(r"tests/[\w/]+(\.py)?", each)]
            assert {*run} <= {*paths}, (name, step)
            assert prove.LOCK in paths
    stops = prove.parts()["stops"].paths_of("rounds")
    assert {"tests/digest.py", "tests/audited.py", "tests/conftest.py"} <= {*stops}
    assert "tests/metrics" in prove.parts()["code"].paths_of("metrics")
    assert "tests/metrics" not in prove.parts()["code"].paths_of("verdicts")


def test_a_mutant_dies_by_tests_that_pass_without_it(tmp_path: Path) -> None:
    def double(number: int) -> int:
        return 2 * number

    for name, body in (("good", "one == 1"), ("bad", "one == 2")):
        (tmp_path / f"test_{name}.py").write_text(
            f"def test_one():\n    one = 1\n    assert {body}"
        )
    good, bad = (f"{tmp_path}/test_{name}.py::test_one" for name in ("good", "bad"))
    (mutant, *_) = code_mutants("double", double)
    assert not prove_code.dies(mutant, [good], 1)
    assert not prove_code.dies(mutant, [bad], 1)  # it fails as all is
    with pytest.raises(RuntimeError, match="its tests ended with 4"):
        prove_code.dies(mutant, [f"{tmp_path}/test_good.py::test_none"], 1)


def test_speed_says_what_was_met_and_what_was_missed(tmp_path: Path) -> None:
    path = tmp_path / "peers.csv"
    rows = [
        "product,recbias,0.5,1.00,", "metrics,recbias,0.02,1.00,0", "metrics,ranx,0.24,12.00,0",
        "metrics,pytrec_eval,0.14,7.00,2 values; <b> by 2",
        "top 10,recbias,1,1,100.00000% of the places", "top 10,NumPy,1,1,99.50000% of the places",
        "all from ranks,recbias,6.5,1.00,",
    ]  # fmt: skip
    lines = [
        f"2026-11-27,0123456789,toy,100,{task},{toolkit},1,{seconds},{ratio},0.3,{differs}"
        for task, toolkit, seconds, ratio, differs in (row.split(",") for row in rows)
    ]
    head = "date,revision,data,ratings,task,toolkit,version,seconds,x ours,peak_gb,differs"
    path.write_text("\n".join([head, *lines]))
    page = proof.speed_html(path)
    assert "ranx 12 times: met<br>pytrec_eval 8 times: <strong>missed</strong>" in page
    assert "at most 12 products: 13.0, <strong>missed</strong>" in page
    assert "20 ms, 0.3 GB</td><td>pytrec_eval 7, ranx 12</td>" in page
    assert "pytrec_eval, 30 metrics from lists, containers ready: &lt;b&gt; by 2; " in page
    assert "NumPy, lists of 10 items for all users: 0.5 % of the places" in page
    assert "recbias, lists" not in page
    assert "<h3>100 ratings: toy</h3>" in page
    assert "<p>2026-11-27 at 01234567. " in page
