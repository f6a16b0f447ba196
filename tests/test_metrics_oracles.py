"""Metrics against naive code in fractions, ranx and pytrec_eval, user by user.

Libraries agree to 1e-12 only under stated conditions: they are given ranks, as the score
length - rank, because they break ties in their own ways and one keeps scores in 32 bits; every
judged user has a line, because a user without one is dropped or refused; item ids are padded with
zeros, because ties of text order would follow 10 < 9.
"""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rank_tables import user_table
from recbias.metrics import Metric, measure, parse_metric
from recbias.relevance import GainMap
from recbias.testing import judged_scores, naive_list, naive_measure

RATING_MAX = 5.0
NAIVE_GAINS = {
    "binary": lambda rating, threshold: float(rating >= threshold),
    "linear": lambda rating, threshold: rating if rating >= threshold else 0.0,
    "exp": lambda rating, threshold: max(
        0.0, (2 ** (rating - 1) - 1) / (2 ** (RATING_MAX - 1) - 1)
    ),
    "ranksys": lambda rating, threshold: (
        2 ** (rating - threshold + 1) - 1 if rating >= threshold else 0.0
    ),
}
CUT = (1, 2, 3, 5, 20)
METRICS = [
    *(Metric(name, cutoff) for name in ("P", "R", "antiP") for cutoff in CUT),
    *(Metric(name, cutoff) for name in ("AP", "RR") for cutoff in (*CUT, None)),
    *(Metric("nDCG", cutoff, GainMap(gain)) for gain in NAIVE_GAINS for cutoff in (*CUT, None)),
]


@settings(max_examples=500)
@given(
    st.lists(judged_scores(), min_size=1, max_size=4),
    st.sampled_from([1, 2.5, 3, 4, 4.5, 5]),
    st.booleans(),
)
def test_naive_code_agrees(users, min_rating, condensed):
    lists = [(naive_list(scores, ties), judged) for scores, ties, judged in users]
    found = measure(
        user_table(*lists),
        METRICS,
        min_rating=min_rating,
        condensed=condensed,
        rating_max=RATING_MAX,
    )
    for user, (items, judged) in enumerate(lists):
        shown = [item for item in items if item in judged] if condensed else items
        expected = [
            float(
                naive_measure(
                    shown,
                    judged,
                    metric.name,
                    cutoff=metric.cutoff,
                    min_rating=min_rating,
                    gain=lambda rating, metric=metric: NAIVE_GAINS[metric.gain.name](
                        rating, min_rating
                    ),
                )
            )
            for metric in METRICS
        ]
        np.testing.assert_allclose(found[:, user], expected, rtol=0, atol=1e-12)


# ---- libraries ----

MIN_RATING = 4
CUTOFFS = (1, 5, 10, 20, 50, 100)
N_ITEMS = 120


@pytest.fixture(scope="module")
def lists():
    """400 users with lists of 1 to 120 items and 1 to 40 test ratings, some of them not listed."""
    rng = np.random.default_rng(7)
    users = []
    for _ in range(400):
        items = rng.permutation(N_ITEMS)[: rng.integers(1, N_ITEMS + 1)].tolist()
        rated = rng.choice(N_ITEMS, rng.integers(1, 41), replace=False).tolist()
        users.append(
            (items, dict(zip(rated, rng.integers(1, 6, len(rated)).tolist(), strict=True)))
        )
    return users


def for_library(lists):
    """Judgements, with the stars of relevant items as their grade, and runs of ranks as scores."""
    judgements = {
        f"u{user:04}": {
            f"i{item:04}": rating if rating >= MIN_RATING else 0 for item, rating in judged.items()
        }
        for user, (_, judged) in enumerate(lists)
    }
    run = {
        f"u{user:04}": {
            f"i{item:04}": float(len(items) - rank) for rank, item in enumerate(items, start=1)
        }
        for user, (items, _) in enumerate(lists)
    }
    return judgements, run


def assert_same(lists, names, theirs):
    """Compare per user; what is undefined here is 0 there."""
    ours = measure(
        user_table(*lists), [parse_metric(name) for name in names], min_rating=MIN_RATING
    )
    undefined = np.isnan(ours)
    without_relevant = [all(r < MIN_RATING for r in judged.values()) for _, judged in lists]
    assert 0 < np.sum(without_relevant) < len(lists)
    for name, missing in zip(names, undefined, strict=True):
        assert missing.tolist() == ([False] * len(lists) if name[0] == "P" else without_relevant)
    np.testing.assert_allclose(np.where(undefined, 0, ours), theirs, rtol=0, atol=1e-12)


def test_pytrec_eval_agrees(lists):
    import pytrec_eval

    theirs_of = {
        **{f"P@{n}": f"P_{n}" for n in CUTOFFS},
        **{f"R@{n}": f"recall_{n}" for n in CUTOFFS},
        **{f"nDCG(linear)@{n}": f"ndcg_cut_{n}" for n in CUTOFFS},
        **{f"AP@{n}": f"map_cut_{n}" for n in CUTOFFS},
        "AP": "map",
        "RR": "recip_rank",
        "nDCG(linear)": "ndcg",
    }
    measures = {"P", "recall", "ndcg_cut", "map_cut"}
    requested = {f"{m}.{','.join(map(str, CUTOFFS))}" for m in measures}
    judgements, run = for_library(lists)
    evaluator = pytrec_eval.RelevanceEvaluator(
        judgements, requested | {"map", "recip_rank", "ndcg"}
    )
    per_user = evaluator.evaluate(run)
    theirs = [[per_user[user][name] for user in sorted(run)] for name in theirs_of.values()]
    assert_same(lists, list(theirs_of), theirs)


def test_pytrec_eval_agrees_with_binary_gains(lists):
    import pytrec_eval

    judgements, run = for_library(lists)
    binary = {u: {i: min(grade, 1) for i, grade in of.items()} for u, of in judgements.items()}
    evaluator = pytrec_eval.RelevanceEvaluator(binary, {"ndcg_cut.5,10", "ndcg"})
    per_user = evaluator.evaluate(run)
    theirs = [
        [per_user[u][name] for u in sorted(run)] for name in ("ndcg_cut_5", "ndcg_cut_10", "ndcg")
    ]
    assert_same(lists, ["nDCG@5", "nDCG@10", "nDCG"], theirs)


RANX = """
import json, sys
import ranx
judgements, run, names = json.load(sys.stdin)
scores = ranx.evaluate(ranx.Qrels(judgements), ranx.Run(run), names, return_mean=False)
json.dump([scores[name].tolist() for name in names], sys.stdout)
"""


def test_ranx_agrees(lists):
    """In a process of its own without compilation, which takes ranx a minute for these metrics."""
    theirs_of = {
        f"{ours}@{n}": f"{theirs}@{n}"
        for n in CUTOFFS
        for ours, theirs in [
            ("P", "precision"), ("R", "recall"), ("AP", "map"), ("RR", "mrr"),
            ("nDCG(linear)", "ndcg"),
        ]
    } | {"AP": "map", "RR": "mrr", "nDCG(linear)": "ndcg"}  # fmt: skip
    answer = subprocess.run(
        [sys.executable, "-c", RANX],
        input=json.dumps([*for_library(lists), list(theirs_of.values())]),
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert_same(lists, list(theirs_of), json.loads(answer.stdout))
