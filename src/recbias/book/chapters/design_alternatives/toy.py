"""The toy matrix of BCC17 Fig. 1: its target sets, found from ranks alone, and the caption's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from recbias.claims.checks import Check
from recbias.data.ratings import Ratings
from recbias.experiment.cells import rank_split
from recbias.protocol.splits import Split, from_fold_labels
from recbias.protocol.targets import TargetRule, Targets, non_relevant_targets

_CODES: tuple[Literal["TI", "AI"], ...] = ("TI", "AI")


class _Fixed:
    """Scores every item the same for all users."""

    def __init__(self, scores: npt.NDArray[np.float32]) -> None:
        self._scores = scores

    def fit(self, train: Ratings, *, rng: np.random.Generator | None = None) -> _Fixed:
        return self

    def score(self, users: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.float32]:
        return np.tile(self._scores, (len(users), 1))


def _toy() -> Split:
    """Build a matrix that fits the caption of Fig. 1: item a in nobody's test, d and e in u's."""
    cells = [
        *(("u", item, 5, 0) for item in "de"),
        *(("v", item, rating, 0) for item, rating in (("b", 5), ("c", 3))),
        *(("v", item, 5, 1) for item in "a"),
        *(("u", item, 4, 1) for item in "f"),
    ]
    frame = pd.DataFrame(cells, columns=["user_id", "item_id", "rating", "fold"])
    ratings = Ratings.from_frame(frame, name="Fig. 1")
    folds = frame.sort_values(["user_id", "item_id"])["fold"].to_numpy()
    return from_fold_labels(ratings, folds)[0]


def toy_sets(n_seeds: int = 40) -> dict[str, str]:
    """Find the target sets of user u in a matrix that fits the caption of Fig. 1.

    From ranks alone.
    """
    split = _toy()
    ids = "".join(split.test.item_ids)
    user = list(split.test.user_ids).index("u")

    def ranks(rule: str, top: str, positive: str, seed: int) -> dict[str, int]:
        scores = np.array(
            [2.0 * (name == top) + (name == positive) for name in ids], dtype=np.float32
        )
        targets = Targets(TargetRule.parse(rule), None if rule.endswith("AN-AR") else 5.0)
        _, (table,) = rank_split(_Fixed(scores), split, [targets], seed=seed)
        rows = table.user == user
        return {ids[i]: int(n) for i, n in zip(table.item[rows], table.rank[rows], strict=True)}

    def members(rule: str, positive: str, seed: int = 0) -> str:
        return "".join(
            name
            for name in ids
            if name == positive or ranks(rule, name, positive, seed).get(positive) == 2
        )

    sets = {
        "runs": "".join(sorted(ranks("TI-AN-1R", "", "d", 0))),
    }
    for code in _CODES:
        pool = non_relevant_targets(split, code, user, min_rating=5)
        sets[f"{code} pool"] = "".join(ids[item] for item in pool)
        for positive in sets["runs"]:
            sets[f"{code}-AN-1R of {positive}"] = members(f"{code}-AN-1R", positive)
            drawn = [members(f"{code}-NN-1R t=2", positive, seed) for seed in range(n_seeds)]
            sets[f"{code}-NN-1R of {positive}"] = "".join(sorted({*"".join(drawn)} - {positive}))
            sets[f"{code}-NN-1R sizes of {positive}"] = "".join(
                sorted({str(len(s)) for s in drawn})
            )
    return sets


_CAPTION = {
    "two-sets": {"runs": "de"},
    "pools": {"TI pool": "bc", "AI pool": "abc"},
    "1r-an": {
        f"{code}-AN-1R of {positive}": items + positive
        for code, items in (("TI", "bc"), ("AI", "abc"))
        for positive in "de"
    },
    "sample-ti": {f"TI-NN-1R of {positive}": "bc" for positive in "de"},
    "sample-ai": {f"AI-NN-1R of {positive}": "abc" for positive in "de"},
    "one-sampled": {
        f"{code}-NN-1R sizes of {positive}": "2" for code in _CODES for positive in "de"
    },
}
"""What the caption of Fig. 1 says of `toy_sets`, by name of the check."""

_CAPTION_WORDS = {
    "two-sets": "two 1R target sets, of d and of e",
    "pools": "non-relevant: b and c under TI, a too under AI",
    "1r-an": "1R-AN adds the whole pool to one positive",
    "sample-ti": "under TI the sampled item is b or c",
    "sample-ai": "under AI the sampled item is a, b or c",
    "one-sampled": "with |N_u| = 1 a run ranks two items",
}


def check_toy(found: Mapping[str, str]) -> list[Check]:
    """Compare the sets that `toy_sets` finds with the caption of Fig. 1."""
    return [
        Check(
            "BCC17-F1",
            name,
            f"sets that differ from: {_CAPTION_WORDS[name]}",
            len(sets),
            float(sum(found.get(set_name) != items for set_name, items in sets.items())),
        )
        for name, sets in _CAPTION.items()
    ]
