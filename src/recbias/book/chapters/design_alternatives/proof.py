"""The proof of the lemma of BCC17 Sec. 3.4, step by step, on target sets that were sorted."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from recbias._system.streams import stream
from recbias.book.chapters.design_alternatives.ranking_by_sorting import SortedRanks
from recbias.claims.checks import Check


class Instance(NamedTuple):
    """Ranks of one user's relevant items: each in its run, and in the union of all runs."""

    run: npt.NDArray[np.int64]
    joint: npt.NDArray[np.int64]


def random_instances(seed: int, n_instances: int = 3000) -> list[Instance]:
    """Draw target sets with up to 7 relevant and 29 other items, and rank them by sorting."""
    rng = stream(seed, "proof")
    instances = []
    for _ in range(n_instances):
        n_relevant, n_others = int(rng.integers(1, 8)), int(rng.integers(1, 30))
        keys = rng.permutation(n_relevant + n_others).tolist()
        positives, others = keys[:n_relevant], keys[n_relevant:]
        everything = sorted(keys, reverse=True)
        run = [sorted([key, *others], reverse=True).index(key) + 1 for key in positives]
        joint = [everything.index(key) + 1 for key in positives]
        instances.append(Instance(np.array(run), np.array(joint)))
    return instances


def instances_of(found: SortedRanks) -> list[Instance]:
    """Take the shared runs of a system and their joint sets, both sorted, user by user."""
    listed = found.positive & (found.joint > 0)
    cuts = np.flatnonzero(np.diff(found.user[listed])) + 1
    parts = (np.split(ranks[listed], cuts) for ranks in (found.ranks["shared"], found.joint))
    return [Instance(*pair) for pair in zip(*parts, strict=True) if len(pair[0])]


def check_proof(instances: Iterable[Instance], cutoff: int) -> list[Check]:
    """Try the steps of the lemma's proof, the printed inequality and the corrected one.

    References
    ----------
    BCC17 Sec. 3.4, proof; erratum E01.
    """
    n_sets = n_items = not_within = 0
    worst = dict.fromkeys(("step-1", "step-2", "printed", "corrected", "step-6"), -math.inf)
    for run, joint in instances:
        k = len(run)
        longer = cutoff + k - 1
        n_sets, n_items = n_sets + 1, n_items + k
        hits = int((run <= cutoff).sum())
        excess = {
            "step-1": int((run - joint).max()),
            "step-2": int((joint <= cutoff).sum()) - hits,
            "printed": int((joint + k - 1 - run).max()),
            "corrected": int((joint - run - k + 1).max()),
            "step-6": hits - int((joint <= longer).sum()),
        }
        worst = {name: max(value, excess[name]) for name, value in worst.items()}
        not_within += int(((run <= cutoff) & (joint > longer)).sum())
    rows = [
        ("step-1", "tau(i, T_u^r) - tau(i, T_u)", n_items, worst["step-1"]),
        ("step-2", "hits in the top n of T_u - hits of its runs", n_sets, worst["step-2"]),
        (
            "printed",
            "as printed: tau(i, T_u) + |PR_test(u)| - 1 - tau(i, T_u^k), to be at most 0",
            n_items,
            worst["printed"],
        ),
        (
            "corrected",
            "corrected: tau(i, T_u) - tau(i, T_u^r) - |PR_test(u)| + 1",
            n_items,
            worst["corrected"],
        ),
        ("step-5", "items within n in their run, yet not within m_u in T_u", n_items, not_within),
        ("step-6", "hits of runs - hits in the top m_u of T_u", n_sets, worst["step-6"]),
    ]
    return [Check("BCC17-L1-PROOF", name, what, n, float(value)) for name, what, n, value in rows]
