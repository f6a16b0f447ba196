"""Checks of definitions and theorems on data: how far reality is from an identity or bound."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import pandas as pd

from recbias.claims.ledger import claims
from recbias.errors import ConfigError, unknown_name
from recbias.experiment.makers import Made
from recbias.experiment.reproduction import agreement, compare_frames, relative_bound
from recbias.experiment.results import Agreement, StoredResult, register_kind

IDENTITIES = "identities"
"""Name under which a chapter keeps the checks of what holds on any data: made once, on worlds and
small tables, and read in every edition. An edition repeats what hangs on its data alone."""

WORLD, SEED = "synthetic", 1
"""The registered world that they are checked in, and the seed of splits and of what is drawn."""

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


@dataclass(frozen=True)
class Check:
    """One identity, bound or count, tried on many instances; what it may be is the criterion's.

    Parameters
    ----------
    claim
        Id in the ledger.
    name
        What a criterion calls it: lower-case words joined by hyphens, one of a kind in its claim.
    what
        The quantity, as a reader sees it.
    n_checked
        Number of instances.
    worst
        The quantity where it is worst: a violation (0 or below means none), a number of violations,
        or what else `what` says, such as a p-value.

    Raises
    ------
    ConfigError
        If the name has another form.

    Examples
    --------
    >>> Check("BCC17-C-1RRED", "ap-is-rr", "|AP - RR| of a run", 1000, 0.0).name
    'ap-is-rr'
    """

    claim: str
    name: str
    what: str
    n_checked: int
    worst: float

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ConfigError(
                f"check {self.name!r} of {self.claim}: expected lower-case words joined by "
                "hyphens, such as 'lower-bound'"
            )


def joined_checks(checks: Iterable[Check]) -> list[Check]:
    """Join checks of one claim and name, such as those of several systems.

    Examples
    --------
    >>> halves = [Check("BCC17-L1", "upper", "upper bound", 2, worst) for worst in (0.0, 0.5)]
    >>> [(check.n_checked, check.worst) for check in joined_checks(halves)]
    [(4, 0.5)]
    >>> (joined,) = joined_checks([*halves, Check("BCC17-L1", "upper", "upper bound", 1, np.nan)])
    >>> joined.worst
    nan
    """
    joined: dict[tuple[str, str], Check] = {}
    for check in checks:
        known = joined.get((check.claim, check.name))
        if known is not None:
            n_checked = known.n_checked + check.n_checked
            # Of no number and another the worst is no number, which lies in no region.
            worse = check.worst > known.worst or math.isnan(check.worst)
            worst = check.worst if worse else known.worst
            check = dataclasses.replace(known, n_checked=n_checked, worst=worst)
        joined[check.claim, check.name] = check
    return list(joined.values())


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
        """Build the result."""
        rows, statistics = content
        names = [(row.claim, row.name) for row in rows]
        if twice := sorted({" ".join(name) for name in names if names.count(name) > 1}):
            raise ConfigError(f"two checks of one name: {', '.join(twice)}")
        known = {claim.id for claim in claims()}
        if strangers := {row.claim for row in rows} - known:
            raise ConfigError(f"checks of claims that the ledger lacks: {sorted(strangers)}")
        finite = {name: value for name, value in statistics.items() if math.isfinite(value)}
        return cls(rows=tuple(rows), statistics=finite, **context)

    def about(self, claim: str) -> list[Check]:
        """Return the checks of one claim."""
        checks = [check for check in self.rows if check.claim == claim]
        if not checks:
            raise ConfigError(f"no check of {claim} was run")
        return checks

    def __getitem__(self, names: tuple[str, str]) -> Check:
        """Return one check by claim and name."""
        claim, name = names
        by_name = {check.name: check for check in self.about(claim)}
        if name not in by_name:
            raise unknown_name(f"check of {claim}", name, by_name)
        return by_name[name]

    def frame(self) -> pd.DataFrame:
        """Lay the checks out as a table."""
        names = [field.name for field in dataclasses.fields(Check)]
        return pd.DataFrame([vars(check) for check in self.rows], columns=names)

    def body(self) -> dict[str, Any]:
        """Return checks and statistics; what is no number is text, which JSON can hold."""
        rows = [vars(check) for check in self.rows]
        return {
            "checks": [
                row if math.isfinite(row["worst"]) else {**row, "worst": str(float(row["worst"]))}
                for row in rows
            ],
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
            rows=tuple(
                Check(**{**check, "worst": float(check["worst"])})
                if isinstance(check["worst"], str)
                else Check(**check)
                for check in body["checks"]
            ),
            statistics=body["statistics"],
            maker_name=parameters["maker"],
            given=parameters["given"],
            **context,
        )

    def verify(self, fresh: StoredResult) -> Agreement:
        """Compare check by check and number by number."""
        if not isinstance(fresh, Checks):
            return Agreement(0, np.nan, np.nan, ("another kind of result",))
        lines = [
            compare_frames(
                self.frame(), fresh.frame(), relative_bound(1e-6, 1e-9), index=("claim", "name")
            ),
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
