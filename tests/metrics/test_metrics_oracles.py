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
from hypothesis import given
from hypothesis import strategies as st

from rank_tables import user_table
from recbias.metrics import Metric, measure, parse_metric
from recbias.protocol.relevance import GainMap
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
    "err": lambda rating, threshold: max(0.0, (2 ** (rating - 1) - 1) / 2 ** (RATING_MAX - 1)),
    "steps": lambda rating, threshold: rating - threshold + 1 if rating >= threshold else 0.0,
}
CUT = (1, 2, 3, 5, 20)
METRICS = [
    *(
        Metric(name, cutoff)
        for name in ("P", "R", "HR", "antiP", "antiR", "fallout", "judged")
        for cutoff in CUT
    ),
    *(
        Metric(name, cutoff)
        for name in ("AP", "RR", "antiAP", "antiRR", "antinDCG", "nDCL")
        for cutoff in (*CUT, None)
    ),
    *(Metric(name, cutoff, judged=True) for name in ("P", "antiP") for cutoff in CUT),
    *(Metric("AP", cutoff, capped=True) for cutoff in CUT),
    *(Metric("nDCG", cutoff, GainMap(gain)) for gain in NAIVE_GAINS for cutoff in (*CUT, None)),
]


def naive_gain(metric, min_rating):
    if metric.name != "nDCG":
        return None
    return lambda rating: NAIVE_GAINS[metric.gain.name](rating, min_rating)


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
                    "|".join((metric.name, *(name for name, _ in metric.given))),
                    cutoff=metric.cutoff,
                    min_rating=min_rating,
                    gain=naive_gain(metric, min_rating),
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


def stars(rating):
    """The grade of a relevant item: its stars."""
    return rating if rating >= MIN_RATING else 0


def steps_below(rating):
    """The grade of what is disliked: its distance from the threshold."""
    return max(MIN_RATING - rating, 0)


def for_library(lists, grade=stars):
    """Judgements with their grade, and runs of ranks as scores."""
    judgements = {
        f"u{user:04}": {f"i{item:04}": grade(rating) for item, rating in judged.items()}
        for user, (_, judged) in enumerate(lists)
    }
    run = {
        f"u{user:04}": {
            f"i{item:04}": float(len(items) - rank) for rank, item in enumerate(items, start=1)
        }
        for user, (items, _) in enumerate(lists)
    }
    return judgements, run


def assert_same(lists, names, theirs, grade=stars):
    """Compare per user; what is undefined here, without an item of a grade, is 0 there."""
    ours = measure(
        user_table(*lists), [parse_metric(name) for name in names], min_rating=MIN_RATING
    )
    undefined = np.isnan(ours)
    without = [not any(grade(rating) for rating in judged.values()) for _, judged in lists]
    assert 0 < np.sum(without) < len(lists)
    for name, missing in zip(names, undefined, strict=True):
        always = name.startswith(("P", "antiP", "fallout", "judged"))
        assert missing.tolist() == ([False] * len(lists) if always else without)
    np.testing.assert_allclose(np.where(undefined, 0, ours), theirs, rtol=0, atol=1e-12)


def test_pytrec_eval_agrees(lists):
    import pytrec_eval

    theirs_of = {
        **{f"P@{n}": f"P_{n}" for n in CUTOFFS},
        **{f"R@{n}": f"recall_{n}" for n in CUTOFFS},
        **{f"nDCG(linear)@{n}": f"ndcg_cut_{n}" for n in CUTOFFS},
        **{f"AP@{n}": f"map_cut_{n}" for n in CUTOFFS},
        **{f"HR@{n}": f"success_{n}" for n in CUTOFFS},
        "AP": "map",
        "RR": "recip_rank",
        "nDCG(linear)": "ndcg",
    }
    measures = {"P", "recall", "ndcg_cut", "map_cut", "success"}
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


def test_pytrec_eval_agrees_on_what_is_disliked(lists):
    """Its judgements are flipped: the grade of an item is its distance below the threshold."""
    import pytrec_eval

    theirs_of = {
        **{f"antiP@{n}": f"P_{n}" for n in CUTOFFS},
        **{f"antiR@{n}": f"recall_{n}" for n in CUTOFFS},
        **{f"fallout@{n}": f"recall_{n}" for n in CUTOFFS},
        **{f"nDCL@{n}": f"ndcg_cut_{n}" for n in CUTOFFS},
        **{f"antiAP@{n}": f"map_cut_{n}" for n in CUTOFFS},
        "antiAP": "map",
        "antiRR": "recip_rank",
        "nDCL": "ndcg",
    }
    measures = {"P", "recall", "ndcg_cut", "map_cut"}
    requested = {f"{m}.{','.join(map(str, CUTOFFS))}" for m in measures}
    judgements, run = for_library(lists, steps_below)
    evaluator = pytrec_eval.RelevanceEvaluator(
        judgements, requested | {"map", "recip_rank", "ndcg"}
    )
    per_user = evaluator.evaluate(run)
    theirs = [[per_user[user][name] for user in sorted(run)] for name in theirs_of.values()]
    assert_same(lists, list(theirs_of), theirs, steps_below)

    binary = {u: {i: min(grade, 1) for i, grade in of.items()} for u, of in judgements.items()}
    per_user = pytrec_eval.RelevanceEvaluator(binary, {"ndcg_cut.5"}).evaluate(run)
    theirs = [[per_user[user]["ndcg_cut_5"] for user in sorted(run)]]
    assert_same(lists, ["antinDCG@5"], theirs, steps_below)

    every = {u: dict.fromkeys(of, 1) for u, of in judgements.items()}
    per_user = pytrec_eval.RelevanceEvaluator(every, {"P.10"}).evaluate(run)
    ours = measure(user_table(*lists), [parse_metric("judged@10")], min_rating=MIN_RATING)
    theirs = [[per_user[user]["P_10"] for user in sorted(run)]]
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)


class _Listed:
    """A model of another library that lists what it is told to."""

    def __init__(self, lists):
        self.lists = lists

    def recommend(self, users, _train, N, **_):
        return np.array([self.lists[user][:N] for user in users], np.int32), None


def test_implicit_agrees_on_which_average_precision_is_capped():
    """Its mean over users with a test item; lists are full, and items all that it knows of."""
    from implicit.evaluation import ranking_metrics_at_k
    from scipy.sparse import csr_matrix

    rng = np.random.default_rng(3)
    liked = rng.random((60, 30)) < rng.random((60, 1)) * 0.9
    lists = rng.permuted(np.tile(np.arange(30), (60, 1)), axis=1)
    tested = liked.any(axis=1)
    table = user_table(
        *(
            (lists[user].tolist(), dict.fromkeys(np.flatnonzero(liked[user]).tolist(), 5))
            for user in np.flatnonzero(tested)
        )
    )
    nothing = csr_matrix(liked.shape, dtype=np.float32)
    for cutoff in (1, 5, 10):
        theirs = ranking_metrics_at_k(
            _Listed(lists), nothing, csr_matrix(liked.astype(np.float32)), cutoff,
            show_progress=False, num_threads=1,
        )["map"]  # fmt: skip
        texts = f"AP@{cutoff}|capped", f"AP@{cutoff}"
        ours = measure(table, [parse_metric(text) for text in texts], min_rating=4).mean(axis=1)
        assert ours[0] == pytest.approx(theirs, abs=1e-12)
        # The twin: divided by all relevant items it is another number.
        assert ours[1] < theirs - 0.01


RANX = """
import json, sys
import ranx
judgements, run, names = json.load(sys.stdin)
scores = ranx.evaluate(ranx.Qrels(judgements), ranx.Run(run), names, return_mean=False)
json.dump([scores[name].tolist() for name in names], sys.stdout)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("grade", "ours"),
    [
        (stars, ("P", "R", "AP", "RR", "nDCG(linear)", "HR")),
        (steps_below, ("antiP", "antiR", "antiAP", "antiRR", "nDCL")),
    ],
)
def test_ranx_agrees(lists, grade, ours):
    """In a process of its own without compilation, which takes ranx a minute for these metrics."""
    named = dict(zip(ours, ("precision", "recall", "map", "mrr", "ndcg", "hit_rate"), strict=False))
    theirs_of = {f"{name}@{n}": f"{theirs}@{n}" for n in CUTOFFS for name, theirs in named.items()}
    theirs_of |= {name: named[name] for name in ours[2:5]}  # the others need a cutoff
    answer = subprocess.run(
        [sys.executable, "-c", RANX],
        input=json.dumps([*for_library(lists, grade), list(theirs_of.values())]),
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert_same(lists, list(theirs_of), json.loads(answer.stdout), grade)
