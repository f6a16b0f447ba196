"""Checks of definitions and theorems on data: how far reality is from an identity or bound."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import pandas as pd

from recbias.claims.ledger import claims
from recbias.differences import agreement, compare_frames, relative_bound
from recbias.errors import ConfigError
from recbias.makers import Made
from recbias.results import Agreement, StoredResult, register_kind

__all__ = ["Check", "Checks"]


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


@register_kind
@dataclass(frozen=True, eq=False, kw_only=True)
class Checks(Made):
    """All checks of a chapter on one dataset, made by a function of the chapter.

    Attributes
    ----------
    rows
        The checks.
    statistics
        Numbers that follow from the data under the chapter's options, without a system's training.
    """

    kind: ClassVar[str] = "checks"

    rows: tuple[Check, ...]
    statistics: Mapping[str, float]

    @classmethod
    def of(cls, content: Any, **context: Any) -> Self:
        """Build the result.

        Parameters
        ----------
        content : tuple
            Checks, and statistics by name.
        **context
            As of the class.

        Raises
        ------
        ConfigError
            If a check is of a claim that the ledger lacks.
        """
        rows, statistics = content
        known = {claim.id for claim in claims()}
        if strangers := {row.claim for row in rows} - known:
            raise ConfigError(f"checks of claims that the ledger lacks: {sorted(strangers)}")
        return cls(rows=tuple(rows), statistics=dict(statistics), **context)

    def about(self, claim: str) -> list[Check]:
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
        names = [each.name for each in fields(Check)]
        return pd.DataFrame([vars(check) for check in self.rows], columns=names)

    def body(self) -> dict[str, Any]:
        """Return checks and statistics."""
        return {
            "checks": [vars(check) for check in self.rows],
            "statistics": dict(self.statistics),
        }

    @classmethod
    def restore(
        cls,
        parameters: Mapping[str, Any],
        body: Mapping[str, Any],
        arrays: Mapping[str, npt.NDArray[Any]],
        **context: Any,
    ) -> Self:
        """Build the checks from their document."""
        return cls(
            rows=tuple(Check(**check) for check in body["checks"]),
            statistics=body["statistics"],
            maker_name=parameters["maker"],
            given=parameters["given"],
            **context,
        )

    def compare(self, fresh: StoredResult) -> Agreement:
        """Compare check by check and number by number.

        A violation may differ by 1e-9 or one part in a million, a statistic by one part in a
        million; how many instances were checked, and all else, has to be the same.
        """
        if not isinstance(fresh, Checks):
            return Agreement(0, np.nan, np.nan, ("another kind of result",))
        lines = [
            compare_frames(self.frame(), fresh.frame(), _bound),
            compare_frames(
                _numbers(self.statistics),
                _numbers(fresh.statistics),
                relative_bound(1e-6, 1e-12),
                name="statistics",
            ),
        ]
        return agreement(pd.concat(lines, ignore_index=True))


def _numbers(statistics: Mapping[str, float]) -> pd.DataFrame:
    names, values = list(statistics), list(statistics.values())
    return pd.DataFrame({"name": pd.Series(names, dtype=str), "value": np.array(values, float)})


def _bound(column: str, rows: pd.DataFrame) -> npt.ArrayLike:
    """Leave room for rounding to violations, and to nothing else."""
    return relative_bound(1e-6, 1e-9)(column, rows) if column == "worst" else 0.0
