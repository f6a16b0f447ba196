"""Checks of definitions and theorems on data: how far reality is from an identity or bound."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from recbias.claims.ledger import claims
from recbias.datasets import Dataset, dataset_info, load_dataset
from recbias.errors import ConfigError, MissingData, StoreError
from recbias.experiment import REVISION, check_key, results_dir, split_times
from recbias.places import clone_root
from recbias.store import digest, platform_record, read_document, write_document

__all__ = ["Check", "Checks", "load_checks", "recompute_checks", "run_checks"]

Compute = Callable[..., tuple[list["Check"], dict[str, float]]]
"""Computes checks and statistics of a loaded dataset under named parameters."""


@dataclass(frozen=True)
class Check:
    """One identity or bound, tried on many instances.

    Attributes
    ----------
    claim
        Id in the ledger.
    what
        The statement.
    n_checked
        Number of instances.
    worst
        Largest violation found: 0 or below means none.
    tolerance
        Largest violation that counts as rounding.
    """

    claim: str
    what: str
    n_checked: int
    worst: float
    tolerance: float = 0.0


@dataclass(frozen=True, eq=False)
class Checks:
    """All checks of a chapter on one dataset.

    Attributes
    ----------
    rows
        The checks; none if a page wants statistics only.
    statistics
        Numbers that follow from the data under the chapter's options, without a system's training.
    key, parameters, dataset, origin, provenance
        As of :class:`recbias.experiment.Results`.
    """

    rows: tuple[Check, ...]
    statistics: Mapping[str, float]
    key: str
    parameters: Mapping[str, Any]
    dataset: Mapping[str, Any]
    origin: str
    provenance: Mapping[str, Any]

    def of(self, claim: str) -> list[Check]:
        """Return the checks of one claim.

        Raises
        ------
        ConfigError
            If there are none.
        """
        found = [check for check in self.rows if check.claim == claim]
        if not found:
            raise ConfigError(f"no check of {claim} was run")
        return found

    def frame(self) -> pd.DataFrame:
        """Lay the checks out as a table."""
        return pd.DataFrame([vars(check) for check in self.rows])

    def save(self, path: Path) -> None:
        """Write the checks as ``path.json``, with a digest."""
        provenance, times = split_times(self.provenance)
        write_document(
            path.with_suffix(".json"),
            kind="checks",
            key=self.key,
            dataset=self.dataset,
            parameters=self.parameters,
            provenance=provenance,
            times=times,
            body={
                "checks": [vars(check) for check in self.rows],
                "statistics": dict(self.statistics),
            },
        )


def load_checks(path: Path, *, origin: str = "recorded") -> Checks:
    """Read checks that :meth:`Checks.save` wrote.

    Raises
    ------
    StoreError
        If the file is absent, damaged or edited, or belongs to another revision of the code.
    """
    record = read_document(path.with_suffix(".json"))
    expected = _key(record["parameters"], record["dataset"]["content_hash"])
    check_key(path, record, expected)
    return Checks(
        rows=tuple(Check(**check) for check in record["body"]["checks"]),
        statistics=record["body"]["statistics"],
        key=record["key"],
        parameters=record["parameters"],
        dataset=record["dataset"],
        origin=origin,
        provenance={**record["provenance"], **record["times"]},
    )


def run_checks(
    compute: Compute,
    dataset: str,
    *,
    parameters: Mapping[str, Any],
    data_dir: Path | None = None,
    record: str,
) -> Checks:
    """Run checks where the data is, or return the recorded ones of the same parameters.

    Parameters
    ----------
    compute
        Called as ``compute(dataset, **parameters)`` with the loaded dataset; returns checks and
        statistics.
    dataset
        Name of a dataset or path of a table.
    parameters
        JSON-able arguments of ``compute``.
    data_dir
        Folder that holds datasets, besides ``RECBIAS_DATA``.
    record
        Name under which a chapter keeps the checks.

    Raises
    ------
    MissingData, StoreError
        As :func:`recbias.experiment.run`.
    """
    try:
        loaded: Dataset = load_dataset(dataset, data_dir=data_dir)
    except MissingData as missing:
        folder = results_dir(dataset, recorded=True)
        if not folder.is_dir():
            raise
        checks = load_checks(folder / record)
        if checks.key != _key(parameters, str(dataset_info(dataset).content_hash)):
            raise StoreError(
                f"{folder / record}: recorded with other parameters than asked for\n{missing}"
            ) from missing
        return checks
    rows, statistics = compute(loaded, **parameters)
    known = {claim.id for claim in claims()}
    if strangers := {row.claim for row in rows} - known:
        raise ConfigError(f"checks of claims that the ledger lacks: {sorted(strangers)}")
    ratings = loaded.ratings
    checks = Checks(
        rows=tuple(rows),
        statistics=statistics,
        key=_key(parameters, ratings.content_hash),
        parameters=parameters,
        dataset={
            "name": loaded.name,
            "title": loaded.title,
            "content_hash": ratings.content_hash,
            "n_users": ratings.n_users,
            "n_items": ratings.n_items,
            "n_ratings": len(ratings),
        },
        origin="live",
        provenance=platform_record(),
    )
    if clone_root() is not None:
        checks.save(results_dir(loaded.name, recorded=False) / record)
    return checks


def _key(parameters: Mapping[str, Any], content_hash: str) -> str:
    # 5 and 5.0 are one threshold, whether typed or read from a scale.
    same = {
        name: int(value) if isinstance(value, float) and value.is_integer() else value
        for name, value in parameters.items()
    }
    return digest({"checks": same, "dataset": content_hash, "revision": REVISION})


def recompute_checks(compute: Compute, path: Path) -> str:
    """Compute recorded checks anew and compare.

    Parameters
    ----------
    compute
        The function that computed them.
    path
        Recorded checks, without suffix. Their grids must have been run on this machine.

    Returns
    -------
    str
        What differs, empty if nothing does. Violations below the tolerance are rounding and may
        differ, statistics by one part in a million.
    """
    recorded = load_checks(path)
    rows, statistics = compute(load_dataset(recorded.dataset["name"]), **recorded.parameters)
    pairs = zip(rows, recorded.rows, strict=False)
    differing = [
        fresh.what
        for fresh, old in pairs
        if (fresh.claim, fresh.what, fresh.n_checked) != (old.claim, old.what, old.n_checked)
        or abs(fresh.worst - old.worst) > max(1e-9, fresh.tolerance)
    ]
    if len(rows) != len(recorded.rows):
        differing.append(f"{len(rows)} checks, recorded {len(recorded.rows)}")
    differing += [
        name
        for name in sorted({*statistics, *recorded.statistics})
        if not math.isclose(
            statistics.get(name, math.nan),
            recorded.statistics.get(name, math.nan),
            rel_tol=1e-6,
            abs_tol=1e-12,
        )
    ]
    return "; ".join(differing)
