"""Stop runs at random moments, over and over: ``python tests/prove_stops.py [ROUNDS]``.

Four ways to stop a grid with two workers: kill -9 of the process that was started, SIGTERM to it,
SIGINT to its group as a terminal sends it, and a disk that takes no further byte (the system
refuses all writes of its processes from that moment on). Each is done so often as ROUNDS says, 20
by default, and what was stopped is resumed. Then a command that runs a chapter is stopped by the
three signals, and an audit is killed at as many moments, from its first cell to its page: its
report has to be that of an audit that nobody stopped, byte by byte. Every time no process may be
left after 5 seconds; in the end nothing half-written may be there and the digest must be that of a
run that nobody stopped. A cluster loses so many workers and schedulers. What a grid, a cluster
or an audit had finished before may neither be lost nor done again.
"""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import golden
from stopping import dask, marked, start, wait_for

ALONE = (signal.SIGKILL, signal.SIGTERM)
SECONDS = 5
"""How long a process may be left."""


class FailedError(Exception):
    """What must not happen."""


def must(holds: bool, what: str) -> None:
    if not holds:
        raise FailedError(what)


def stop(process: subprocess.Popen[str], mark: Path, way: str) -> tuple[float, str]:
    """Stop a run; tell in how many seconds all of its processes had ended, and what it said."""
    begun = time.monotonic()
    if way == "full disk":
        for each in marked(mark):
            try:
                resource.prlimit(each, resource.RLIMIT_FSIZE, (0, 0))
            except ProcessLookupError:  # it ended meanwhile
                continue
    elif (number := signal.Signals[way]) in ALONE:
        process.send_signal(number)
    else:
        with suppress(ProcessLookupError):  # all of it has ended
            os.killpg(process.pid, number)
    _, said = process.communicate(timeout=120)
    if not wait_for(lambda: not marked(mark), SECONDS):
        left = marked(mark)
        for each in left:
            os.kill(each, signal.SIGKILL)
        raise FailedError(f"{way}: {len(left)} processes left after {SECONDS} s: {left}")
    return time.monotonic() - begun, said


def hidden(folder: Path) -> list[Path]:
    """List what was begun and is not complete."""
    return [path for path in folder.rglob(".*") if path.name.startswith(".")]


def artefacts(cells: Path) -> int:
    return len(finished(cells))


def finished(cells: Path) -> dict[Path, int]:
    """Say when each artefact was written."""
    return {path: path.stat().st_mtime_ns for path in cells.rglob("[!.]*.parquet")}


def must_stay(what: str, before: dict[Path, int]) -> None:
    """Demand that what was finished is there, and was not written again."""
    for path, moment in before.items():
        must(path.is_file(), f"{what}: {path.name} was lost")
        must(path.stat().st_mtime_ns == moment, f"{what}: {path.name} done again")


def stop_grids(way: str, rounds: int, table: Path, folder: Path, expected: str) -> None:
    """Stop a grid in one way, at moments between its first and last artefact."""
    moments, cells, stopped, slowest = random.Random(way), folder / way, 0, 0.0
    command = [sys.executable, Path(__file__).with_name("digest.py"), table, 2]
    environment = {"RECBIAS_CELLS": str(cells), "TQDM_DISABLE": "1"}
    for number in range(3 * rounds):
        mark, before = folder / f"{way}-{number}", finished(cells)
        wanted = len(before) + moments.randint(0, 4)
        process = start(command, mark, env=environment)
        while artefacts(cells) < wanted and process.poll() is None:
            time.sleep(0.001)
        time.sleep(moments.random() * (0.01 if wanted else 3))
        gone, said = stop(process, mark, way)
        must_stay(way, before)
        if process.returncode == 0:  # it was faster
            cells = folder / f"{way}-{number}-cells"
            environment["RECBIAS_CELLS"] = str(cells)
            continue
        if way == "full disk":
            must("did not fit" in said or "File too large" in said, f"{way}: it said {said}")
        stopped, slowest = stopped + 1, max(slowest, gone)
        if stopped == rounds:
            break
    must(stopped == rounds, f"{way}: stopped {stopped} times only")
    before = finished(cells)
    process = start(command, folder / f"{way}-last", env=environment)
    output, said = process.communicate()
    must_stay(way, before)
    must(process.returncode == 0, f"{way}: could not be resumed: {said}")
    must(output.split()[0] == expected, f"{way}: another digest after resuming")
    must(not hidden(cells), f"{way}: half-written {hidden(cells)} after resuming")
    print(f"{way}: stopped {rounds} times, all processes gone after at most {slowest:.1f} s")


def stop_clusters(rounds: int, table: Path, folder: Path, expected: str) -> None:
    """Kill workers of a cluster, and its scheduler, at moments between first and last artefact."""
    moments, file, lost = random.Random("cluster"), folder / "scheduler.json", {"scheduler": 0}
    cluster = {"scheduler": dask("scheduler", file)}
    must(wait_for(file.is_file, 60), "cluster: no scheduler")
    cluster |= {name: dask("worker", file) for name in ("worker 1", "worker 2")}
    run = 0
    try:
        while sum(lost.values()) < rounds:
            run += 1
            cells = folder / f"cluster-{run}"
            again = True
            while again:
                process = start(
                    [sys.executable, Path(__file__).with_name("digest.py"), table, file],
                    folder / f"cluster-{run}-mark",
                    env={"RECBIAS_CELLS": str(cells), "TQDM_DISABLE": "1"},
                )
                wanted = artefacts(cells) + moments.randint(1, 9)
                while artefacts(cells) < wanted and process.poll() is None:
                    time.sleep(0.001)
                if process.poll() is None and sum(lost.values()) < rounds:
                    name = moments.choice(sorted(cluster))
                    before = finished(cells)
                    cluster[name].kill()
                    cluster[name].wait()
                    lost[name] = lost.get(name, 0) + 1
                    if name == "scheduler":  # its workers end without it: new ones for a new one
                        for each in cluster.values():
                            each.kill()
                            each.wait()
                        file.unlink()
                        cluster = {"scheduler": dask("scheduler", file)}
                        must(wait_for(file.is_file, 60), "cluster: no scheduler")
                        cluster |= {each: dask("worker", file) for each in ("worker 1", "worker 2")}
                    else:
                        cluster[name] = dask("worker", file)
                    output, said = process.communicate(timeout=180)
                    must_stay(f"cluster without {name}", before)
                    again = process.returncode != 0
                    must(
                        not again or (name == "scheduler" and "the scheduler is gone" in said),
                        f"cluster: {name} was killed, and it said {said}",
                    )
                else:
                    output, said = process.communicate(timeout=180)
                    must(process.returncode == 0, f"cluster: it said {said}")
                    again = False
            must(output.split()[0] == expected, f"cluster: another digest in run {run}")
            must(not hidden(cells), f"cluster: half-written {hidden(cells)}")
    finally:
        for each in cluster.values():
            each.kill()
            each.wait()
    killed = ", ".join(f"{name} {count} times" for name, count in sorted(lost.items()))
    print(f"cluster: killed {killed} in {run} grids; nothing finished was lost or done again")


def stop_commands(way: str, rounds: int, table: Path, folder: Path) -> None:
    """Stop a command that runs a chapter, its kernel and workers with it."""
    moments, out, slowest = random.Random(way), folder / "page" / "page.ipynb", 0.0
    command = [sys.executable, "-m", "recbias_command"]
    command += ["run", "01_design_alternatives", "--dataset", str(table), "--out", str(out)]
    for number in range(rounds):
        mark = folder / f"command-{way}-{number}"
        process = start(command, mark, env={"RECBIAS_CELLS": str(folder / "command cells")})
        wait_for(lambda mark=mark: len(marked(mark)) > 1 + moments.randint(0, 3), 120)
        time.sleep(moments.random() * 5)
        must(process.poll() is None, f"{way}: the command ended by itself")
        gone, said = stop(process, mark, way)
        code = {"SIGKILL": -9, "SIGTERM": 143, "SIGINT": 130}[way]
        must(process.returncode == code, f"{way}: exit code {process.returncode}: {said}")
        if way != "SIGKILL":
            lines = [line for line in said.splitlines() if "recbias: stopped" in line]
            must(len(lines) == 1 and "Traceback" not in said, f"{way}: it said {said}")
            must(not hidden(out.parent), f"{way}: left {hidden(out.parent)}")
        slowest = max(slowest, gone)
    print(f"recbias run, {way}: {rounds} times, all processes gone after at most {slowest:.1f} s")


def report_of(folder: Path, cells: Path) -> dict[str, bytes]:
    """Audit to the end, and read what it left."""
    folder.mkdir(exist_ok=True)
    environment = {**os.environ, "RECBIAS_CELLS": str(cells), "TQDM_DISABLE": "1"}
    script = Path(__file__).with_name("audited.py")
    subprocess.run(
        [sys.executable, script, folder / "audit.html"], env=environment, check=True,
        capture_output=True,
    )  # fmt: skip
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def stop_audits(rounds: int, folder: Path) -> None:
    """Kill an audit at moments from its start to its page; each time it goes on from there."""
    moments, script = random.Random("audits"), Path(__file__).with_name("audited.py")
    expected = report_of(folder / "audit", folder / "audit cells")
    n_cells = artefacts(folder / "audit cells")
    at: list[int] = []
    for number in range(rounds):
        cells, out = folder / f"audit-{number}-cells", folder / f"audit-{number}"
        out.mkdir()
        wanted = round(n_cells * number / max(1, rounds - 1))
        process = start(
            [sys.executable, script, out / "audit.html"], folder / f"audit-{number}-mark",
            env={"RECBIAS_CELLS": str(cells), "TQDM_DISABLE": "1"},
        )  # fmt: skip
        while artefacts(cells) < wanted and process.poll() is None:
            time.sleep(0.001)
        time.sleep(moments.random() * (0.2 if wanted < n_cells else 2))
        stop(process, folder / f"audit-{number}-mark", "SIGKILL")
        if process.returncode == 0:  # it was faster, and its report is whole
            must({path.name: path.read_bytes() for path in out.iterdir()} == expected,
                 "audit: another report of one that ended")  # fmt: skip
            continue
        left = {path.name for path in out.iterdir()}
        must({name for name in left if not name.startswith(".")} <= set(expected),
             f"audit: it left {left}")  # fmt: skip
        for name in left & set(expected):
            must((out / name).read_bytes() == expected[name], f"audit: {name} is half-written")
        before = finished(cells)
        at.append(len(before))
        shutil.rmtree(out)
        found = report_of(out, cells)
        must_stay("audit", before)
        other = [name for name in expected if found.get(name) != expected[name]]
        must(not other, f"audit: another {other} after kill {number}")
        must(not hidden(cells), f"audit: left {hidden(cells)}")
    must(len(at) >= rounds // 2, f"audit: killed {len(at)} times only")
    print(f"audit: killed {len(at)} times, with {min(at)} to {max(at)} of {n_cells} artefacts kept")


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    if not Path("/proc/self/environ").exists():
        sys.exit("not proved: processes are found in /proc, which this system does not have")
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        table = golden.small_table(folder)
        script = Path(__file__).with_name("digest.py")
        plain = {**os.environ, "RECBIAS_CELLS": str(folder / "plain"), "TQDM_DISABLE": "1"}
        found = subprocess.run(
            [sys.executable, script, table, "1"], env=plain, check=True, capture_output=True
        )
        expected = found.stdout.decode().split()[0]
        try:
            for way in ("SIGKILL", "SIGTERM", "SIGINT", "full disk"):
                stop_grids(way, rounds, table, folder, expected)
            stop_clusters(rounds, table, folder, expected)
            stop_audits(rounds, folder)
            for way in ("SIGTERM", "SIGINT", "SIGKILL"):
                stop_commands(way, max(1, rounds // 4), table, folder)
        except FailedError as failure:
            sys.exit(f"FAILED {failure}")
    print(
        f"{rounds} moments of each way to stop a grid, a cluster and an audit, and "
        f"{max(1, rounds // 4)} of a command: nothing left behind, lost or done again"
    )


if __name__ == "__main__":
    main()
