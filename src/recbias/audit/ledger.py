"""What claims of papers say on a reader's data, told by a room above this one where there is one.

`register_claims` is to audits what :func:`recbias.experiment.verification.register_foundation` is
to verification: this room knows no claims, and an audit without any says so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from recbias.audit.comparison import Comparison

__all__ = ["Ruling", "judged_claims", "register_claims"]


class Ruling(NamedTuple):
    """What became of a claim on a reader's data.

    ``verdict`` is ``"holds"``, ``"refuted"``, ``"open"`` or ``"not testable"``, and ``reason`` says
    why the last; ``page`` is where a built book says more.
    """

    claim: str
    says: str
    verdict: str
    found: str
    claimed: str
    reason: str
    page: str
    where: str


_JUDGES: dict[str, Callable[[Comparison, bool], Sequence[Ruling]]] = {}


def register_claims(name: str, judge: Callable[[Comparison, bool], Sequence[Ruling]]) -> None:
    """Have an audit ask what claims say of its comparison.

    Parameters
    ----------
    name
        Whose claims they are.
    judge
        Gives the rulings on those that bear on the design of a comparison, told whether both
        systems score every item.
    """
    _JUDGES[name] = judge


def judged_claims(asks: Comparison, *, whole_lists: bool) -> list[Ruling] | None:
    """Ask all that are registered; None where nobody is."""
    if not _JUDGES:
        return None
    return [ruling for judge in _JUDGES.values() for ruling in judge(asks, whole_lists)]
