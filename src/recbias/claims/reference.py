"""Values that authors measured with their own programs, which ours should meet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import yaml

from recbias._system.places import packaged
from recbias.recommenders.line_ups import MCCRS20_ROWS

_ROWS: Mapping[str, Mapping[str, str]] = {"mccrs20": MCCRS20_ROWS}


@dataclass(frozen=True)
class Reference:
    """A table of published values, in ``data/published/reference_values.yaml``.

    Attributes
    ----------
    name
        Line-up whose systems it is about.
    what
        What was averaged.
    source, commit, files
        Where it was read.
    datasets
        Names of the datasets that hold the same ratings.
    split
        Split of those datasets that the values were measured on.
    protocol
        How, as :class:`recbias.protocol.protocol.Protocol` writes it.
    values
        Published value by system of the line-up and metric.
    rows
        The same by the authors' names, with what is in no line-up of systems.
    """

    name: str
    what: str
    source: str
    commit: str
    files: str
    datasets: tuple[str, ...]
    split: str
    protocol: str
    values: Mapping[str, Mapping[str, float]] = field(hash=False)
    rows: Mapping[str, Mapping[str, float]] = field(hash=False)


def references() -> dict[str, Reference]:
    """Read all tables, by name of the line-up.

    Examples
    --------
    >>> references()["mccrs20"].values["Popularity"]["P@10"]
    0.14645
    """
    with packaged("published/reference_values.yaml").open(encoding="utf-8") as file:
        document = yaml.safe_load(file)
    rows = {
        name: {
            row: dict(zip(entry["columns"], values, strict=True))
            for row, values in entry["values"].items()
        }
        for name, entry in document.items()
    }
    return {
        name: Reference(
            name=name,
            datasets=tuple(entry["datasets"]),
            values={system: rows[name][row] for system, row in _ROWS[name].items()},
            rows=rows[name],
            **{key: entry[key] for key in ("what", "source", "commit", "files")},
            **{key: entry[key] for key in ("split", "protocol")},
        )
        for name, entry in document.items()
    }


def find_reference(name: str, dataset: str, split: str, protocol: str) -> Reference | None:
    """Find the published values that a measurement can be compared with.

    Examples
    --------
    >>> find_reference("mccrs20", "ml-1m", "ready", "AI-AN-AR rel>=4 users=tested").what
    'means of the five folds of MovieLens 1M, lists of 10, relevance from 4 stars'
    >>> find_reference("mccrs20", "ml-1m", "ready", "AI-AN-AR rel>=5 users=tested") is None
    True
    """
    reference = references().get(name)
    if reference is None or dataset not in reference.datasets:
        return None
    setting = (split.removesuffix(" order=file"), protocol)
    return reference if setting == (reference.split, reference.protocol) else None
