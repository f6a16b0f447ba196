"""Promises name what measures them, and their page shows what that came to."""

import json
import re
import subprocess
from pathlib import Path

import pytest

import prove
from recbias.book import proof

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
    return bool(found or not test) and is_slow == (kind == "slow")


@pytest.mark.parametrize("goal", proof.goals(), ids=lambda goal: goal.name)
def test_what_measures_a_promise_exists(goal: proof.Goal) -> None:
    assert goal.by
    assert [each for each in goal.by if not is_there(each)] == []


@pytest.mark.parametrize(
    "name", ["ci no such step", "prove nothing", "prove stops/nothing", "tests/none.py",
             "tests/test_hygiene.py::test_nothing", "tests/experiment/test_digest.py",
             "slow tests/test_hygiene.py",
             "tests/site/test_site.py::test_the_switch_keeps_the_page",
             "slow tests/book/test_proof.py::is_there",
             "tests/system/test_store.py::test_any_flipped_bit_is_noticed"],
)  # fmt: skip
def test_a_name_of_nothing_is_noticed(name: str) -> None:
    assert not is_there(name)


def test_the_page_shows_what_failed_and_what_was_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = {
        "date": "2026-11-27",
        "revision": "0123456789",
        "passed": False,
        "seconds": 120,
        "said": "<b>",
    }
    (tmp_path / "stops.json").write_text(json.dumps({"rounds": found}))
    (tmp_path / "goals.yaml").write_text(
        "G1: {goal: 'one `<make>`', by: [prove stops/rounds]}\n"
        "G2: {goal: two, by: [prove sizes, slow tests/a.py]}\n"
    )
    monkeypatch.setattr(proof, "_folder", lambda: tmp_path)
    page = proof.proof_html()
    assert "<td>one <code>&lt;make&gt;</code></td>" in page
    assert (
        "stops/rounds, 2026-11-27 at 01234567: <strong>failed</strong> in 2 min; &lt;b&gt;" in page
    )
    assert "sizes: <strong>not run</strong>" in page
    assert "at one change of six: <code>tests/<wbr>a.py</code>" in page


def test_what_is_stale_says_what_to_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(prove, "RESULTS", tmp_path)
    monkeypatch.setattr("sys.argv", ["prove.py", "--stale", "sizes", "stops"])
    assert prove.main() == 1
    *stale, last = capsys.readouterr().out.splitlines()
    assert stale == ["sizes/tests_and_intervals: never run", "stops/rounds: never run"]
    assert 'make prove PART="sizes stops"' in last
    monkeypatch.setattr(prove, "why_stale", lambda *_: "")
    assert prove.main() == 0
    assert capsys.readouterr().out == "nothing is stale\n"


def test_what_changed_since_is_stale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def git(*arguments: str) -> str:
        person = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
        command = ["git", *person, *arguments]
        done = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    monkeypatch.setattr(prove, "ROOT", tmp_path)
    monkeypatch.setattr(prove, "RESULTS", tmp_path)
    git("init", "-q")
    for name in ("code", "other"):
        (tmp_path / name).write_text("one")
        git("add", name)
        git("commit", "-qm", name)
    at = git("rev-parse", "HEAD")
    result = {"date": "2026-11-27", "revision": at, "passed": True}

    def why(**changed: object) -> str:
        prove._changed.cache_clear()
        (tmp_path / "sizes.json").write_text(json.dumps({"step": {**result, **changed}}))
        return prove.why_stale("sizes", "step", ("code",))

    assert prove.why_stale("sizes", "step", ("code",)) == "never run"
    assert why() == ""
    assert why(passed=False) == "failed on 2026-11-27"
    assert why(revision="0" * 40)
    assert why(revision="") == "run on changes that are not committed"
    (tmp_path / "other").write_text("two")
    assert why() == ""
    (tmp_path / "code").write_text("two")
    assert why() == "code changed since"
    git("commit", "-qam", "changed")
    assert why() == "code changed since"
    assert why(revision=git("rev-parse", "HEAD")) == ""


def test_a_step_of_recorded_results_stands_on_its_own() -> None:
    recorded = prove.parts()["recorded"]
    assert "data/recorded/coat" in recorded.paths_of("coat")
    assert "src/recbias/ranking" in recorded.paths_of("coat")
    assert not any("data/recorded/ml-1m" in path for path in recorded.paths_of("coat"))
    every = [
        path
        for part in prove.parts().values()
        for step in part.steps
        for path in part.paths_of(step)
    ]
    assert not any("{" in path for path in every)


def test_speed_says_what_was_met_and_what_was_missed(tmp_path: Path) -> None:
    path = tmp_path / "peers.csv"
    rows = [
        "product,recbias,0.5,1.00,", "metrics,recbias,0.02,1.00,0", "metrics,ranx,0.24,12.00,0",
        "metrics,pytrec_eval,0.14,7.00,2 values; <b> by 2",
        "top 10,recbias,1,1,100.00000% of the places", "top 10,NumPy,1,1,99.50000% of the places",
        "all from ranks,recbias,6.5,1.00,",
    ]  # fmt: skip
    lines = [
        f"2026-11-27,100,{task},{toolkit},1,{seconds},{ratio},0.3,{differs}"
        for task, toolkit, seconds, ratio, differs in (row.split(",") for row in rows)
    ]
    head = "date,ratings,task,toolkit,version,seconds,x ours,peak_gb,differs"
    path.write_text("\n".join([head, *lines]))
    page = proof.speed_html(path)
    assert "ranx 12 times: met<br>pytrec_eval 8 times: <strong>missed</strong>" in page
    assert "at most 12 products: 13.0, <strong>missed</strong>" in page
    assert "20 ms, 0.3 GB</td><td>pytrec_eval 7, ranx 12</td>" in page
    assert "pytrec_eval, 30 metrics from lists, containers ready: &lt;b&gt; by 2; " in page
    assert "NumPy, lists of 10 items for all users: 0.5 % of the places" in page
    assert "recbias, lists" not in page
