"""What stops leaves nothing behind: no process, no file that counts as complete or stays half."""

from __future__ import annotations

import errno
import os
import re
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable
from multiprocessing import active_children
from pathlib import Path

import pytest
from click.testing import CliRunner

import recbias_command
from recbias._system import processes
from recbias._system.processes import begun_prefix, ending_source, remove_begun
from recbias.cli import commands as cli
from recbias.errors import NoSpaceError
from recbias.experiment.engine import open_executor, run_all
from recbias.experiment.store import write_atomically
from stopping import marked, start, wait_for, workers

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
linux = pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc")

SCRIPT = """
import re, sys, threading, time
from pathlib import Path
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

maker, moment, *paths = sys.argv[1:]

def work(path):
    Path(path).touch()
    re.match("(a+)+b", "a" * 60)  # for years, and no other thread gets a turn

def touch(path):
    time.sleep(0.5)  # so that each does one
    Path(path).touch()

if moment == "importing" and __name__ == "__mp_main__":
    for path in paths[:-1]:
        Path(path).touch()
    work(paths[-1])

def run():
    from recbias.experiment.engine import open_executor, run_all
    if moment == "waiting":
        with open_executor(2, kept=True) as executor:
            run_all(touch, paths, executor, label="work")
        time.sleep(1000)
    elif maker == "recbias":
        with open_executor(2) as executor:
            run_all(work, paths, executor, label="work")
    else:
        with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
            list(executor.map(work, paths))

if __name__ == "__main__":
    thread = threading.Thread(target=run)  # as cells run in a kernel
    thread.start()
    thread.join()
"""


def _work(path: str) -> None:
    Path(path).touch()
    Path(path).with_suffix(f".{os.getpid()}").touch()
    time.sleep(600)  # longer than any other worker takes to start
    Path(f"{path}.done").touch()


@linux
@pytest.mark.parametrize(
    ("maker", "moment"),
    [
        ("recbias", "working"),
        ("recbias", "importing"),
        ("recbias", "waiting"),
        ("plain", "importing"),
    ],
)
def test_workers_do_not_outlive_a_killed_process(maker: str, moment: str, tmp_path: Path) -> None:
    """The plain executor, whose workers stay for good, shows that the test would notice."""
    script, begun = tmp_path / "script.py", [tmp_path / "1", tmp_path / "2"]
    script.write_text(SCRIPT)
    process = start([sys.executable, script, maker, moment, *begun], tmp_path)
    try:
        assert wait_for(lambda: all(path.exists() for path in begun), 120), "nothing was begun"
        assert workers(tmp_path)
        process.kill()
        process.wait()
        assert wait_for(lambda: not workers(tmp_path), 5) == (maker == "recbias")
    finally:
        for left in marked(tmp_path):
            os.kill(left, signal.SIGKILL)
        process.communicate()


def test_an_interrupt_ends_workers_in_the_middle_of_what_they_do(tmp_path: Path) -> None:
    def interrupted() -> None:
        with open_executor(2) as executor:
            assert executor is not None
            for number in (1, 2, 3):
                executor.submit(_work, str(tmp_path / f"{number}"))
            assert wait_for(lambda: len(list(tmp_path.glob("*.*"))) == 2, 120)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert_dropped(tmp_path, ["1", "2"])


def assert_dropped(folder: Path, begun: list[str]) -> None:
    """Say that tasks were begun, not done, and that nobody works on them any longer."""
    assert sorted(path.stem for path in folder.glob("*.*")) == begun
    ended = [int(path.suffix[1:]) for path in folder.glob("*.*")]
    assert not {worker.pid for worker in active_children()} & set(ended)


def test_a_failure_does_not_wait_for_what_others_do(tmp_path: Path) -> None:
    def failing() -> None:
        with open_executor(2) as executor:
            assert executor is not None
            executor.submit(_work, str(tmp_path / "1"))
            assert wait_for(lambda: list(tmp_path.glob("1.*")), 120)
            run_all(_work, [str(tmp_path / "none" / "2")], executor, label="work")

    with pytest.raises(FileNotFoundError):
        failing()
    assert_dropped(tmp_path, ["1"])


# ------------------------------------------------------------------------------ what is left


@pytest.fixture(scope="module")
def gone() -> int:
    """Give the number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def of_process(prefix: str, number: int) -> str:
    """Give a prefix of what this process begins to another; other digits may be the same."""
    own = f"-{os.getpid()}-"
    assert prefix.count(own) == 1
    return prefix.replace(own, f"-{number}-")


@pytest.mark.skipif(os.name == "nt", reason="nothing is removed there")
def test_what_a_killed_process_had_begun_goes_and_nothing_else(tmp_path: Path, gone: int) -> None:
    own = begun_prefix("cell.parquet")
    of_gone = of_process(own, gone)
    machine = own.split(".")[3].split("-")[0]
    kept = [
        f"{own}x",  # of this process
        f"{of_process(own, os.getppid())}x",  # of another that lives
        f"{of_gone.replace(machine, '0' * 8)}x",  # of another machine
        f"{of_gone.replace('cell', 'cell2')}x",  # of another file
        "cell.parquet",
        ".cell.parquet.x",
    ]
    for name in (*kept, f"{of_gone}x"):
        (tmp_path / name).touch()
    (tmp_path / f"{of_gone}folder").mkdir()
    (tmp_path / f"{of_gone}folder" / "file").touch()
    remove_begun(tmp_path, "cell.parquet")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(kept)
    remove_begun(tmp_path / "none", "cell.parquet")


@pytest.mark.skipif(os.name == "nt", reason="nothing is removed there")
def test_the_next_writer_removes_what_a_killed_one_left(tmp_path: Path, gone: int) -> None:
    path = tmp_path / "cell.parquet"
    left = tmp_path / f"{of_process(begun_prefix(path.name), gone)}x"
    left.write_bytes(b"half")
    write_atomically(path, b"whole")
    assert [each.name for each in tmp_path.iterdir()] == ["cell.parquet"]


@linux
def test_a_dead_process_whose_number_is_still_taken_is_dead(tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])  # until somebody waits for it
    left = tmp_path / f"{of_process(begun_prefix('cell'), process.pid)}x"
    left.touch()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    remove_begun(tmp_path, "cell")
    assert not left.exists()
    process.wait()


def test_a_full_disk_in_a_worker_reaches_who_waits(tmp_path: Path) -> None:
    with open_executor(2) as executor:
        assert executor is not None
        failure = executor.submit(_write_more_than_fits, str(tmp_path / "file")).exception()
    assert isinstance(failure, NoSpaceError)
    assert len(str(failure).splitlines()) == 3
    assert "RECBIAS_CELLS" in str(failure)
    assert list(tmp_path.iterdir()) == []


def _write_more_than_fits(path: str) -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
    write_atomically(Path(path), bytes(2000))


@pytest.mark.parametrize("lasting", [True, False])
def test_a_process_whose_parent_was_gone_before_it_could_look_ends(
    gone: int, lasting: bool
) -> None:
    """No signal tells of an end that came before it was asked for."""
    code = f"{ending_source(gone, lasting=lasting)}; import time; time.sleep(5); print('here')"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert (ended.returncode, ended.stdout) == (1, b"")


# ------------------------------------------------------------------------------ the command line


IMPORTED = """
import time
from pathlib import Path

Path(__file__).with_name("begun").touch()
time.sleep(60)
"""


@pytest.mark.skipif(os.name == "nt", reason="whether it is ignored is not inherited there")
def test_what_is_started_can_be_interrupted_also_from_where_nothing_can(tmp_path: Path) -> None:
    """Tests in the background of a shell have it ignored, and so would all that they start."""
    program = [sys.executable, "-c", "import signal; print(signal.getsignal(signal.SIGINT) == 1)"]
    ours = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        said, _ = start(program, tmp_path).communicate()
        plain = subprocess.run(program, capture_output=True, text=True, check=True).stdout
        assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, ours)
    assert (said, plain) == ("False\n", "True\n")


@pytest.mark.skipif(os.name == "nt", reason="no group of processes is interrupted there")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_command_that_is_stopped_while_it_is_imported_says_so_in_a_line(
    number: signal.Signals, code: int, tmp_path: Path
) -> None:
    """As the command that is installed begins; who imports the package first shows where it was."""
    package = tmp_path / "recbias"
    package.mkdir()
    (package / "__init__.py").write_text(IMPORTED)
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert settings["project"]["scripts"] == {"recbias": "recbias_command:main"}
    path = os.pathsep.join([str(tmp_path), str(Path(recbias_command.__file__).parent)])
    begins = {
        "import recbias_command; recbias_command.main()": True,
        "from recbias.cli.commands import main; main()": False,
    }
    for program, answers in begins.items():
        process = start([sys.executable, "-c", program], tmp_path, env={"PYTHONPATH": path})
        assert wait_for((package / "begun").exists, 60), program
        os.killpg(process.pid, number)
        _, said = process.communicate()
        (package / "begun").unlink()
        assert (process.returncode == code) == answers
        assert (said == "recbias: stopped; nothing was begun\n") == answers


STOPPED_WITH_WORKERS = """
from multiprocessing import get_context

kept = get_context("spawn").Semaphore()

def main(prog_name):
    raise SystemExit(130)
"""


@pytest.mark.skipif(os.name == "nt", reason="nothing counts semaphores there")
def test_a_command_that_is_stopped_leaves_no_warning_of_semaphores(tmp_path: Path) -> None:
    package = tmp_path / "recbias"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "cli").mkdir()
    (package / "cli/__init__.py").touch()
    (package / "cli/entry.py").write_text(STOPPED_WITH_WORKERS)
    path = os.pathsep.join([str(tmp_path), str(Path(recbias_command.__file__).parent)])
    environment = {"PYTHONPATH": path, "PYTHONWARNINGS": ""}
    ends_at_once = "import os; from recbias.cli.entry import main; os._exit(130)"
    for program, warns in {
        "import recbias_command; recbias_command.main()": False,
        ends_at_once: True,
    }.items():
        process = start([sys.executable, "-c", program], tmp_path, env=environment)
        _, said = process.communicate()
        assert process.returncode == 130
        assert ("leaked semaphore" in said) == warns
        assert warns or said == ""


SCRIPT_OF_A_READER = """
import atexit, runpy, sys, time
from pathlib import Path

begun, registered, tidied, *modules = map(Path, sys.argv[1:])
for module in modules:
    runpy.run_path(module)

class Compiled:
    def __del__(self, touch=tidied.touch):
        touch()

kept = Compiled()
atexit.register(registered.touch)
begun.touch()
time.sleep(60)
"""


@pytest.mark.skipif(os.name == "nt", reason="no group of processes is interrupted there")
@pytest.mark.parametrize("modules", [[processes.__file__], []])
def test_an_interrupted_script_does_not_wait_for_python_to_tidy_up(
    modules: list[str], tmp_path: Path
) -> None:
    """Without the module Python tidies up; all else is the same, also what was registered."""
    begun, registered, tidied = (tmp_path / name for name in ("begun", "registered", "tidied"))
    command = [sys.executable, "-c", SCRIPT_OF_A_READER, begun, registered, tidied, *modules]
    process = start(command, tmp_path, env={"PYTHON_COLORS": "0"})
    assert wait_for(begun.exists, 60)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate()
    assert process.returncode == -signal.SIGINT
    assert said.endswith("KeyboardInterrupt\n")
    assert registered.exists()
    assert tidied.exists() == (not modules)


UNWILLING = """
import sys, time
import click
from recbias.cli.table_options import CommandGroup

@click.group(cls=CommandGroup)
@click.option("--debug", is_flag=True)
def main(debug): ...

@main.command()
def tidy():
    try:
        print("begun", flush=True)
        time.sleep(60)
    finally:
        time.sleep(60)

main(["tidy"])
"""


@pytest.mark.skipif(os.name == "nt", reason="no group of processes is interrupted there")
def test_a_command_that_takes_long_to_clean_up_ends_all_the_same(tmp_path: Path) -> None:
    process = start([sys.executable, "-c", UNWILLING], tmp_path)
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    os.killpg(process.pid, signal.SIGINT)
    os.killpg(process.pid, signal.SIGINT)  # whoever is impatient changes nothing
    _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert re.fullmatch("recbias: stopped; what was finished is kept, .*\n", said)


def _ask_to_end() -> None:
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(60)


def _interrupt() -> None:
    raise KeyboardInterrupt


def _fill_disk() -> None:
    raise OSError(errno.ENOSPC, "No space left on device", "file")


@pytest.mark.skipif(os.name == "nt", reason="no process is asked to end there")
@pytest.mark.parametrize(
    ("stop", "code", "said"),
    [
        (_interrupt, 130, r"recbias: stopped; what was finished is kept, .*\n"),
        (_ask_to_end, 143, r"recbias: stopped; what was finished is kept, .*\n"),
        (_fill_disk, 2, r"recbias: .*No space left on device: 'file'\nmake room there .*\n"),
    ],
)
def test_a_command_that_is_stopped_says_so_in_a_line(
    stop: Callable[[], None], code: int, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli, "registry", stop)
    before = signal.getsignal(signal.SIGTERM)
    done = CliRunner().invoke(cli.main, ["data", "list"])
    assert done.exit_code == code
    assert re.fullmatch(said, done.stderr)
    assert done.stdout == ""
    assert signal.getsignal(signal.SIGTERM) is before


STOPPED_AT_A_LINE = """
import os, signal, sys, time
from recbias.cli.table_options import _stoppable

passed = []

def each_line(frame, event, _):
    passed.extend([event] * (event == "line"))
    if len(passed) == int(sys.argv[1]) and event == "line":
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)
    return each_line

sys.settrace(lambda frame, *_: each_line if frame.f_code.co_name == "stop" else None)
with _stoppable():
    try:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(60)
    finally:
        time.sleep(60)
"""


@pytest.mark.parametrize("line", range(1, 6))
def test_who_stops_a_command_twice_at_once_stops_it(line: int, tmp_path: Path) -> None:
    """Wherever the second request meets the answer to the first."""
    process = start([sys.executable, "-c", STOPPED_AT_A_LINE, line], tmp_path)
    process.communicate(timeout=20)
    assert process.returncode == 128 + signal.SIGINT
