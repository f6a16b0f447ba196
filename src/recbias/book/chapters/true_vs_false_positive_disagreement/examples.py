"""The three pairs of items of MCCRS20 Fig. 2: every printed number from the ratings that it shows.

Ten users, half of whom train and half of whom test, rate two items alike in both halves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pandas as pd
import yaml

from recbias.book.chapters.true_vs_false_positive_disagreement.pairs import (
    item_judgments,
    violations,
)
from recbias.book.chapters.true_vs_false_positive_disagreement.setup import CHAPTER
from recbias.claims.ledger import claims
from recbias.data.ratings import Ratings, RatingScale
from recbias.experiment.makers import Table, maker
from recbias.experiment.measurement import measure
from recbias.protocol.splits import Split
from recbias.recommenders import OptimalAntiPrecision, OptimalPrecision
from recbias.theory import lemma_disagrees, pair_table, steepness

EXAMPLES: Mapping[str, Any] = {"n_users": 30}
"""What the chapter asks of `examples`: of so many users, the lemma is tried on all pairs."""

_COUNTS = {"1": ((5, 3), (2, 1)), "2": ((5, 1), (2, 0)), "3": ((4, 3), (3, 1))}
"""Ratings of either item in a half of the users, and how many of them say liking."""

_HALF = 5
_LIKED, _DISLIKED = 5.0, 1.0
_LISTS = {"ab": (2.0, 1.0), "ba": (1.0, 2.0)}

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class _Listed:
    """Lists the items for everybody in the order of given scores."""

    scores: tuple[float, float]

    def fit(self, train: Ratings, *, rng: np.random.Generator | None = None) -> Self:
        return self

    def score(self, users: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.float32]:
        return np.tile(np.array(self.scores, dtype=np.float32), (len(users), 1))


_METRICS = ("P@1", "antiP@1")
_OPTIMAL = (OptimalPrecision, OptimalAntiPrecision)


@maker(
    CHAPTER,
    Table,
    parts=("splits", "ranking", "aggregation"),
    metrics=_METRICS,
    uses={
        "systems": [algorithm.__name__ for algorithm in _OPTIMAL],
        "revisions": [algorithm.revision for algorithm in _OPTIMAL],
        "printed": lambda: {name: _printed(name) for name in _COUNTS},
    },
)
def examples(*, n_users: int) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Work the examples out.

    Parameters
    ----------
    n_users
        The lemma is tried on all pairs of items of which up to so many users can make.

    Returns
    -------
    index : tuple of str
        ``example`` (``"1"`` to ``"3"``, or ``"lemma"``) and ``quantity``: ``odds``, ``liked`` and
        ``disliked`` (shares), ``f_P`` and ``f_antiP``, each ``of a`` and ``of b``; ``steepness of
        odds``, ``of liked``, ``of disliked``; ``P@1`` and ``antiP@1``, ``of ab`` and ``of ba``, the
        two lists; ``better list of P@1`` and of ``antiP@1`` (1 = ab, -1 = ba); ``same order``
        (whether liking orders the items as popularity does), ``liking is steeper`` (than the odds),
        ``clause`` (0 = none, 1 = a, 2 = b) and ``disagree``, each 1 for yes.
    frame : DataFrame
        The ``value`` that follows from the ratings; what the figure has, ``printed``, not a number
        where it has nothing.
    """
    rows = [
        {"example": name, "quantity": quantity, "value": float(value), "printed": printed}
        for name in _COUNTS
        for quantity, value, printed in _beside(_worked(name), _printed(name))
    ]
    contradicted = sum(_contradicted(number) for number in range(2, n_users + 1))
    last = {"example": "lemma", "quantity": "contradicted without ties"}
    rows.append({**last, "value": float(contradicted), "printed": np.nan})
    return ("example", "quantity"), pd.DataFrame(rows)


def _beside(
    worked: Mapping[str, float], printed: Mapping[str, float]
) -> Iterator[tuple[str, float, float]]:
    for quantity, value in worked.items():
        yield quantity, value, printed.get(quantity, float("nan"))


def _half(name: str, first_user: int) -> Ratings:
    """Let five users rate both items as often as the figure shows."""
    (rated_a, liked_a), (rated_b, liked_b) = _COUNTS[name]
    stars = {0: (range(rated_a), liked_a), 1: (range(_HALF - rated_b, _HALF)[::-1], liked_b)}
    rows = [
        (first_user + user, item, _LIKED if place < liked else _DISLIKED)
        for item, (users, liked) in stars.items()
        for place, user in enumerate(users)
    ]
    user, item, value = (np.array(column) for column in zip(*sorted(rows), strict=True))
    return Ratings(
        name=f"example {name}", user=user, item=item, value=value, timestamp=None,
        user_ids=np.arange(2 * _HALF), item_ids=np.array(["a", "b"]),
        scale=RatingScale(1, 5, 1),
    )  # fmt: skip


def _worked(name: str) -> dict[str, float]:
    """Compute what the figure shows."""
    train, test = _half(name, 0), _half(name, _HALF)
    split = Split(train, test, np.arange(2, dtype=np.int32), fold=0, rule="halves of the users")
    liked, disliked = item_judgments(train, _LIKED)
    rated = liked + disliked
    free = train.n_users - rated
    functions = {"odds": rated / free, "liked": liked / rated, "disliked": disliked / rated}
    steep = {function: float(steepness(*values)) for function, values in functions.items()}
    functions |= {
        name: model.fit(train).score(np.array([2 * _HALF - 1]))[0].astype(np.float64)
        for name, model in (
            ("f_P", OptimalPrecision(min_rating=_LIKED)),
            ("f_antiP", OptimalAntiPrecision(min_rating=_LIKED)),
        )
    }
    quantities = {f"{function} of {item}": values[at] for function, values in functions.items()
                  for at, item in enumerate("ab")}  # fmt: skip
    quantities |= {f"steepness of {function}": value for function, value in steep.items()}
    listed = {order: _measured(split, scores) for order, scores in _LISTS.items()}
    for metric, better in zip(_METRICS, (1, -1), strict=True):
        values = {order: measured[metric] for order, measured in listed.items()}
        quantities |= {f"{metric} of {order}": value for order, value in values.items()}
        quantities[f"better list of {metric}"] = better * float(
            np.sign(values["ab"] - values["ba"])
        )
    table = pair_table(rated, free, liked, disliked)
    direction, steeper, optima = (str(table[name].iloc[0]) for name in table.columns[:3])
    clause = {"opposed": 1, "same": 2}[direction] * lemma_disagrees(direction, steeper)
    return {
        **quantities,
        "same order": float(direction == "same"),
        "liking is steeper": float(steep["liked"] > steep["odds"]),
        "clause": float(clause),
        "disagree": float(optima == "disagree"),
    }


def _measured(split: Split, scores: tuple[float, float]) -> dict[str, float]:
    protocol = f"AI-AN-AR rel>={_LIKED:g} users=tested"
    found = measure(_Listed(scores), split, _METRICS, protocol=protocol, seed=1)
    return {text: found[text].value for text in _METRICS}


def _printed(name: str) -> dict[str, float]:
    """Read from the ledger what the figure has; the rest follows from it as the caption says."""
    (claim,) = (entry for entry in claims() if entry.id == f"MCCRS20-F2-{name}")
    values = {key: yaml.safe_load(text) for key, text in claim.values.items()}
    of_items = {"odds": "odds", "p(rel)": "liked", "f_P": "f_P", "f_antiP": "f_antiP"}
    printed: dict[str, float] = {}
    for key, what in of_items.items():
        printed |= {f"{what} of {item}": v for item, v in zip("ab", values[key], strict=True)}
    printed |= {f"disliked of {item}": 1 - printed[f"liked of {item}"] for item in "ab"}
    shares = ("odds", "liked", "disliked")
    steep = zip(shares, values["steepness odds/rel/neg"], strict=True)
    printed |= {f"steepness of {share}": value for share, value in steep}
    for metric in _METRICS:
        printed |= {f"{metric} of {o}": v for o, v in zip(_LISTS, values[metric], strict=True)}
    return {**printed, **_SAID[name]}


_SAID: Mapping[str, Mapping[str, float]] = {
    "1": {"better list of P@1": 1, "better list of antiP@1": -1, "clause": 2, "disagree": 1},
    "2": {
        "better list of P@1": 1,
        "better list of antiP@1": -1,
        "same order": 1,
        "liking is steeper": 1,
        "clause": 2,
        "disagree": 1,
    },
    "3": {"better list of P@1": 1, "better list of antiP@1": 1, "clause": 0, "disagree": 0},
}
"""What MCCRS20 says of the examples in words (Sec. 5.2; asserts.yaml)."""


def _contradicted(n_users: int) -> int:
    """Count the pairs of items of which the lemma says something else, leaving out ties."""
    counts = [(n, p) for n, p in product(range(1, n_users), range(n_users)) if p <= n]
    rated, liked = np.array(counts).T
    table = pair_table(rated, n_users - rated, liked, rated - liked)
    strict = table["direction"].isin(["same", "opposed"]) & (table["optima"] != "tied")
    return violations(table[strict], corrected=False)


# -- what criteria read ------------------------------------------------------------------------


def printed(table: Table) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Tell how far what follows from the ratings is ``off`` what is printed.

    A quantity such as ``steepness of odds`` is split into ``what`` and, if it is of anything, what
    it is ``of``.
    """
    rows = table.frame[table.frame["printed"].notna()]
    words = rows["quantity"].str.partition(" of ")
    off = pd.DataFrame({"example": rows["example"].astype(str), "what": words[0], "of": words[2]})
    off["off"] = (rows["value"] - rows["printed"]).abs()
    return ("example", "what", "of"), off
