"""What chapters ask for: the parameters that each recorded result has to have, by its name.

A result of other parameters is honest, and computing it anew finds no difference; under the name
that a criterion reads it says something else. So names and parameters are held against a list that
no recording renews: ``data/recorded/asked.json``, derived from the notebooks by running them with
what they ask for noted (``python tests/golden_asked.py``). A test derives it again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from recbias.errors import StoreError
from recbias.experiment.makers import same_number
from recbias.experiment.results import results_dir
from recbias.experiment.store import canonical_json, digest

__all__ = ["asked_of", "check_asked", "read_asked"]

ASKED = "asked.json"

_WRITTEN_OUT = 40
"""Characters of a parameter that is listed as it is; of a longer one, a digest."""

Asked = Mapping[str, str]
"""By name of a parameter what it is, or its digest."""


def asked_of(parameters: Mapping[str, Any]) -> dict[str, str]:
    """Write what was asked for, a line for each parameter.

    Parameters
    ----------
    parameters
        Those of a stored result: a grid as a record, or a maker and what it was given.

    Returns
    -------
    dict of str to str
        As JSON, or its digest where that is long. The number of workers decides nothing and is left
        out.

    Examples
    --------
    >>> asked_of({"maker": "audit/checks", "given": {"limit": 3.0, "workers": 2}})
    {'limit': '3', 'maker': '"audit/checks"'}
    >>> asked_of({"dataset": "ml-1m", "metrics": {"AR": ["P@10", "nDCG@10", "R@10", "AP", "rho"]}})
    {'dataset': '"ml-1m"', 'metrics': 'sha256 1f6052c2a107'}
    """
    flat = {**parameters, **parameters.get("given", {})}
    texts = {
        name: canonical_json(_plain(value))
        for name, value in sorted(flat.items())
        if name not in ("given", "workers")
    }
    return {
        name: text if len(text) <= _WRITTEN_OUT else f"sha256 {digest(text.encode())[:12]}"
        for name, text in texts.items()
    }


def _plain(value: Any) -> Any:
    """Make 5.0 and 5 one number, and a tuple a list, at any depth."""
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return same_number(value)


def read_asked() -> dict[str, dict[str, Asked]]:
    """Read what chapters ask for, by data set and name of the result.

    Raises
    ------
    StoreError
        If the list is missing or damaged.
    """
    path = results_dir("", recorded=True) / ASKED
    try:
        listed: dict[str, dict[str, Asked]] = json.loads(path.read_text(encoding="utf-8"))
        for results in listed.values():
            for name, asked in results.items():
                if any(not isinstance(text, str) for text in asked.values()):
                    raise ValueError(f"{name}: no text")
    except (OSError, ValueError, AttributeError) as error:
        raise StoreError(
            f"{path}: not a list of what chapters ask for ({error!r})\n"
            "restore it; python tests/golden_asked.py derives it from the notebooks"
        ) from error
    return listed


def check_asked(dataset: str, recorded: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Hold the parameters of what is recorded of a data set against what chapters ask for.

    Parameters
    ----------
    dataset
        Its name, or that of the simulations.
    recorded
        Parameters of each recorded result, by its name.

    Returns
    -------
    dict of str to str
        By name of the result what is wrong: it is missing, nobody asks for it, or it was asked for
        with other parameters.

    Raises
    ------
    StoreError
        If the list is missing where something is recorded, or damaged.
    """
    listed = read_asked().get(dataset, {}) if recorded or _is_anything_listed() else {}
    problems = {}
    for name in sorted({*listed, *recorded}):
        if name not in recorded:
            problems[name] = "missing, yet its chapter asks for it"
        elif name not in listed:
            problems[name] = "recorded, yet no chapter asks for it"
        elif other := _other_parameters(recorded[name], listed[name]):
            problems[name] = f"recorded with other parameters than its chapter asks for: {other}"
    return problems


def _is_anything_listed() -> bool:
    return (results_dir("", recorded=True) / ASKED).is_file()


def _other_parameters(parameters: Mapping[str, Any], asked: Asked) -> str:
    """Name the parameters that differ, and both values where they are short."""
    recorded = asked_of(parameters)
    differing = []
    for name in sorted({*asked, *recorded}):
        one, other = recorded.get(name), asked.get(name)
        if one == other:
            continue
        if any(text is not None and text.startswith("sha256 ") for text in (one, other)):
            differing.append(f"other {name}")
        else:
            differing.append(f"{name} is {one or 'left out'}, not {other or 'left out'}")
    return "; ".join(differing)
