"""What the project promises of itself, what measures it, and what that came to, as a table."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from recbias._system.places import clone_root
from recbias.errors import MissingData

__all__ = ["Goal", "goals", "outcomes", "proof_html"]


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


def outcomes(folder: Path | None = None) -> dict[str, Mapping[str, Any]]:
    """Read what the steps of ``make prove`` came to, by ``PART/STEP``.

    Parameters
    ----------
    folder
        By default that of the clone.

    Returns
    -------
    dict
        Of each step that was run ``date``, ``revision``, ``passed``, ``seconds``, and ``said``, the
        last line of what it printed.

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


def _measured(measures: Sequence[str], known: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    slow = [each for each in measures if each.startswith("slow ")]
    always = [each for each in measures if not each.startswith(("prove ", "slow "))]
    for when, those in (("at every change", always), ("at one change of six", slow)):
        names = [
            escape(each.removeprefix("ci "))
            if each.startswith("ci ")
            else f"<code>{escape(each.removeprefix('slow '))}</code>"
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
            found = known[step]
            outcome = "passed" if found["passed"] else "<strong>failed</strong>"
            yield (
                f"{escape(step)}, {found['date']} at {found['revision'][:8] or 'no commit'}: "
                f"{outcome} in {found['seconds'] / 60:.0f} min; {escape(found['said'])}"
            )


def proof_html() -> str:
    """Lay out the promises as a table: goal, what measures it, and what it came to last.

    Raises
    ------
    MissingData
        Outside a clone.
    """
    known = outcomes()
    rows = "".join(
        f"<tr><th>{goal.name}</th><td>{escape(goal.goal)}</td><td><ul>"
        + "".join(f"<li>{said}</li>" for said in _measured(goal.by, known))
        + "</ul></td></tr>"
        for goal in goals()
    )
    return (
        "<table class='proof'><thead><tr><th></th><th>promise</th><th>measured by, and what it "
        f"came to</th></tr></thead><tbody>{rows}</tbody></table>"
    )
