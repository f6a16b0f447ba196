"""What the project promises of itself, what measures it, what that came to, and how fast it is."""

from __future__ import annotations

import csv
import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from recbias._system.places import clone_root
from recbias.errors import MissingData

__all__ = ["Goal", "digest_of", "goals", "outcomes", "proof_html", "speed_html", "why_stale"]

WORK = {
    "product": "the product of 50 factors alone",
    "top 10": "lists of 10 items for all users",
    "top 100": "lists of 100 items for all users",
    "metrics": "30 metrics from lists, containers ready",
    "frames": "30 metrics from data frames",
    "frames, new process": "the same in a new process, imports included",
    "sampled": "each relevant item among 99 sampled others",
    "multiverse": "180 values of two designs, containers included",
    "all from ranks": "ranks under three designs, and 600 values",
    "EASE": "EASE trained",
}
"""What `benchmarks/peers.py` asks for, in words."""

SPEED_GOALS = (
    ("metrics", "ranx", 12.0),
    ("metrics", "pytrec_eval", 8.0),
    ("frames", "pytrec_eval", 2.0),
    ("sampled", "Cornac", 10.0),
)
"""Work, toolkit, and how many times as long it should take there, at least."""

MOST_PRODUCTS = 12.0
"""How many products of 50 factors all from ranks may take."""


class Goal(NamedTuple):
    """A promise.

    Attributes
    ----------
    name
        Such as ``G4``; ``T4`` is about what other tools do, ``S4`` about what strangers may not.
    goal
        In words.
    by
        What measures it: tests, ``slow TESTS``, ``prove PART[/STEP]``, ``ci STEP``.
    """

    name: str
    goal: str
    by: tuple[str, ...]


def _folder() -> Path:
    root = clone_root()
    if root is None:
        raise MissingData("what was proved is in a clone of the project (data/proof)")
    return root / "data/proof"


def goals() -> list[Goal]:
    """Read the promises, in their order.

    Raises
    ------
    MissingData
        Outside a clone.
    """
    read = yaml.safe_load((_folder() / "goals.yaml").read_text(encoding="utf-8"))
    return [Goal(name, each["goal"], tuple(each["by"])) for name, each in read.items()]


def outcomes(folder: Path | None = None) -> dict[str, Mapping[str, Any] | None]:
    """Read what the steps of ``make prove`` came to, by ``PART/STEP``.

    Parameters
    ----------
    folder
        By default that of the clone.

    Returns
    -------
    dict
        Of each step ``date``, ``revision``, ``passed``, ``seconds``, ``said``, the last line of
        what it printed, and ``stands_on``, a digest of each path that it stands on; None of a step
        that was not run. Of a part of which nothing was run there is nothing.

    Raises
    ------
    MissingData
        Outside a clone.
    """
    return {
        f"{path.stem}/{step}": found
        for path in sorted((folder or _folder()).glob("*.json"))
        for step, found in json.loads(path.read_text(encoding="utf-8")).items()
    }


def digest_of(root: Path, path: str) -> str:
    """Digest a file, or all files of a folder and their names; but for hidden and compiled ones.

    Parameters
    ----------
    root
        Of the clone.
    path
        Within it. One that is not there has a digest too.
    """
    top, found = root / path, hashlib.sha256()
    for file in sorted(top.rglob("*")) if top.is_dir() else [top]:
        inner = file.relative_to(root)
        if file.is_file() and not any(
            each.startswith((".", "__pycache__")) for each in inner.parts
        ):
            found.update(f"{inner.as_posix()}\n".encode())
            found.update(hashlib.sha256(file.read_bytes()).digest())
    return found.hexdigest()[:16]


def why_stale(outcome: Mapping[str, Any], digest: Callable[[str], str]) -> str:
    """Name what a step stands on and has changed since; nothing if all is as it was.

    Parameters
    ----------
    outcome
        Of `outcomes`.
    digest
        Gives the digest of a path as it is now (`digest_of`).
    """
    changed = [path for path, before in outcome["stands_on"].items() if digest(path) != before]
    more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
    return f"{changed[0]}{more} changed since" if changed else ""


def _breaking(path: str) -> str:
    """Write a path that goes on in the next line where the column ends."""
    return re.sub("(/|::|_)", r"\1<wbr>", escape(path))


def _measured(
    measures: Sequence[str],
    known: Mapping[str, Mapping[str, Any] | None],
    digest: Callable[[str], str],
) -> Iterator[str]:
    slow = [each for each in measures if each.startswith("slow ")]
    always = [each for each in measures if not each.startswith(("prove ", "slow "))]
    for when, those in (("at every change", always), ("at one change of six", slow)):
        names = [
            escape(each.removeprefix("ci "))
            if each.startswith("ci ")
            else f"<code>{_breaking(each.removeprefix('slow '))}</code>"
            for each in those
        ]
        if names:
            yield f"{when}: {', '.join(names)}"
    for measure in measures:
        kind, _, name = measure.partition(" ")
        if kind != "prove":
            continue
        steps = [step for step in known if step == name or step.startswith(f"{name}/")]
        if not steps:
            yield f"<code>make prove</code>, {escape(name)}: <strong>not run</strong>"
        for step in steps:
            if (found := known[step]) is None:
                yield f"{escape(step)}: <strong>not run</strong>"
                continue
            outcome = "passed" if found["passed"] else "<strong>failed</strong>"
            stale = why_stale(found, digest)
            yield (
                f"{escape(step)}, {found['date']} at {found['revision'][:8] or 'no commit'}: "
                f"{outcome} in {found['seconds'] / 60:.0f} min; {escape(found['said'])}"
                + (f"; <strong>to be run again</strong>: {escape(stale)}" if stale else "")
            )


def _with_code(text: str) -> str:
    """Write text with what stands between backquotes as code."""
    return re.sub("`([^`]+)`", r"<code>\1</code>", escape(text))


def proof_html() -> str:
    """Lay out the promises as a table: goal, what measures it, and what it came to last.

    Raises
    ------
    MissingData
        Outside a clone.
    """
    known, digest = outcomes(), cache(partial(digest_of, _folder().parents[1]))
    rows = "".join(
        f"<tr><th>{goal.name}</th><td>{_with_code(goal.goal)}</td><td><ul>"
        + "".join(f"<li>{said}</li>" for said in _measured(goal.by, known, digest))
        + "</ul></td></tr>"
        for goal in goals()
    )
    return (
        "<table class='proof'><thead><tr><th></th><th>promise</th><th>measured by, and what it "
        f"came to</th></tr></thead><tbody>{rows}</tbody></table>"
    )


def _time(seconds: float) -> str:
    return f"{1000 * seconds:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def _times(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.2g}"


def _differs(said: str) -> str:
    """Say what a toolkit found otherwise, in words; nothing where it found the same."""
    share, places, _ = said.partition("% of the places")
    if places:
        gap = 100 - float(share)
        return f"{gap:.2g} % of the places hold another item" if gap else ""
    return escape(said.partition("; ")[2])


def _reached(work: str, rows: Mapping[str, Mapping[str, str]], product: float) -> Iterator[str]:
    """Say of each goal of a work whether it is met, and by how much not."""
    if work == "all from ranks":
        took = float(rows["recbias"]["seconds"]) / product
        met = "met" if took <= MOST_PRODUCTS else "<strong>missed</strong>"
        yield f"at most {MOST_PRODUCTS:g} products: {took:.1f}, {met}"
    for asked, toolkit, least in SPEED_GOALS:
        if asked == work and toolkit in rows:
            met = "met" if float(rows[toolkit]["x ours"]) >= least else "<strong>missed</strong>"
            yield f"{toolkit} {least:g} times: {met}"


def speed_html(path: Path | None = None) -> str:
    """Lay out what ``make bench`` measured: a table for each number of ratings.

    Parameters
    ----------
    path
        The rows, by default those of the clone.

    Raises
    ------
    MissingData
        Outside a clone.
    """
    path = path or _folder().parents[1] / "benchmarks/peers.csv"
    with path.open(newline="", encoding="utf-8") as file:
        read = list(csv.DictReader(file))
    tables = []
    for n_ratings in sorted({int(row["ratings"]) for row in read}):
        of_size = [row for row in read if int(row["ratings"]) == n_ratings]
        by_work = {
            work: {row["toolkit"]: row for row in of_size if row["task"] == work} for work in WORK
        }
        product = float(by_work["product"]["recbias"]["seconds"])
        body = []
        for work, rows in by_work.items():
            if "recbias" not in rows:
                continue
            ours, others = rows["recbias"], [row for name, row in rows.items() if name != "recbias"]
            others.sort(key=lambda row: float(row["x ours"]))
            body.append(
                f"<tr><th>{WORK[work]}</th><td>{_time(float(ours['seconds']))}"
                + (f", {ours['peak_gb']} GB" if ours["peak_gb"] else "")
                + "</td><td>"
                + ", ".join(
                    f"{escape(row['toolkit'])} {_times(float(row['x ours']))}" for row in others
                )
                + f"</td><td>{'<br>'.join(_reached(work, rows, product))}</td></tr>"
            )
        differs = dict.fromkeys(
            f"{escape(row['toolkit'])}, {WORK[row['task']]}: {told}"
            for row in of_size
            if row["task"] in WORK and (told := _differs(row["differs"]))
        )
        dates = ", ".join(
            sorted({f"{row['date']} at {row['revision'][:8] or 'no commit'}" for row in of_size})
        )
        data = ", ".join(sorted({row["data"] for row in of_size}))
        tables.append(
            f"<h3>{n_ratings:,} ratings: {escape(data)}</h3>"
            "<table class='proof'><thead><tr><th></th><th>recbias</th>"
            "<th>times as long elsewhere</th><th>goal</th></tr></thead>"
            f"<tbody>{''.join(body)}</tbody></table><p>{dates}. Every other value is the same to "
            f"1e-9, but for: {'; '.join(differs) or 'none'}.</p>"
        )
    return "".join(tables)
