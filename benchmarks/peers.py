"""The same work done by other toolkits, in turn: ``python benchmarks/peers.py SIZE ...``.

A size is ``100k``, ``1m`` or ``20m``: MovieLens of that size from the folder that RECBIAS_DATA
names, or a random table of the same shape where it is not there, as it never is for ``20m``. One
product of 50 factors gives the scores, and this package the lists of 100 that all are asked about.
Of 20 million ratings one user in ten is asked about, and only theirs are trained on.
Each toolkit is a process of its own with one thread, in its own environment under ``_build/peers``
where it cannot share the package's (pinned in ``toolkits/NAME.txt``); it is given the same arrays,
builds what it needs, and waits. In each round every task is done once by each, and seconds are
those of the processor, so that a busy machine slows all alike. The first round, which compiles, is
not timed: it gives the values, which are set beside ours before any time is. What took over half a
minute there is timed once more only.

Tasks: lists of 10 and of 100 items without those of training; 30 metrics (P, R, nDCG, AP, RR at 1,
5, 10, 20, 50, 100) from lists, with a toolkit's containers ready, and from frames; the same from
frames by a new process; a multiverse of 180, those 30 of lists of all and of test items, liked from
3, 4 and 5, containers included; each relevant test item among 99 sampled others; ranks of all under
three designs with 600 values; EASE trained, but of 20 million. `product` is the bare product in
blocks of users, the bound of what ranks. A row for each goes to ``peers.csv``.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import json
import os
import subprocess
import sys
import tempfile
import time
import venv
from functools import cache
from importlib.metadata import version
from pathlib import Path
from statistics import median

import numpy as np

HERE = Path(__file__).resolve().parent
BUILD = HERE.parent / "_build" / "peers"
ROWS = Path(__file__).with_suffix(".csv")
FIELDS = (
    "date", "revision", "data", "ratings", "task", "toolkit", "version", "seconds", "x ours",
    "peak_gb", "differs",
)  # fmt: skip
ROUNDS, PATIENCE = 5, 30.0
CUTOFFS = (1, 5, 10, 20, 50, 100)
OURS = [f"{name}@{n}" for name in ("P", "R", "nDCG", "AP", "RR") for n in CUTOFFS]
SHAPES = {
    "100k": (943, 1_682, 100_000),
    "1m": (6_040, 3_706, 1_000_209),
    "20m": (138_493, 26_744, 20_000_263),
}
LIKED, N_OTHERS, N_FACTORS, BLOCK, PENALTY = 5.0, 99, 50, 512, 500.0
THRESHOLDS, DESIGNS = (3.0, 4.0, 5.0), ("lists", "lists_of_test_items")
ASKED = {"20m": 10}
"""One in how many users is asked about."""

SHARE = {"1m": 20, "20m": 100}
"""One in how many of its items a loop over given candidates does, where that takes long."""

LEFT_OUT = {"20m": ("EASE",)}
"""Of 26,744 items NumPy's was killed at 16.7 GB, beside what the others held of 24."""


# -- what a toolkit is asked to do: a function gives tasks by name; a task gives what it found


def recbias(work):
    import pandas as pd

    import recbias as package
    from ranking import METRICS, RULES, Product, RoundedProduct, measure_all, multiply
    from recbias.metrics import measure
    from recbias.metrics.aggregation import aggregate
    from recbias.protocol.targets import TargetRule, Targets
    from recbias.ranking import RankTable, rank, rank_once
    from recbias.recommenders import EASE

    split = cache(lambda: work_split(work))
    table = cache(lambda: RankTable.from_lists(work["lists"], split()))
    product = Product(work["users"], work["items"])
    rounded = RoundedProduct(work["users"], work["items"])
    others = Targets(TargetRule.parse("TI-NN-1R t=100"), LIKED)
    run, judged = map(pd.DataFrame, frames(work))

    def measured():
        values = measure(table(), METRICS, min_rating=LIKED)
        found = aggregate(table(), values, min_rating=LIKED, population="relevant")
        return {str(metric): float(mean) for metric, mean in zip(METRICS, found, strict=True)}

    def by_frames():
        found = package.measure(run, judged, OURS)
        return {name: float(found[name].value) for name in OURS}

    def sampled():
        _, (ranked,) = rank_once(product, split(), sampled=(others,), depth=1, seed=1)
        return {"P@10": float((ranked.rank[ranked.value >= LIKED] <= 10).mean()) / 10}

    def top(n):
        return lambda: rank_once(rounded, split(), depth=n, seed=1)[0].lists("AI", n)

    def multiverse():
        found = {}
        for design in DESIGNS:
            listed = RankTable.from_lists(work[design], split())
            for liked in THRESHOLDS:
                values = measure(listed, METRICS, min_rating=liked)
                means = aggregate(listed, values, min_rating=liked, population="relevant")
                for metric, mean in zip(METRICS, means, strict=True):
                    found[f"{metric} {design} {liked}"] = float(mean)
        return found

    def from_ranks():
        measure_all(rank(rounded, split(), RULES, seed=1))

    def ease():
        learnt = EASE(regularisation=PENALTY, encoding="binary-all").fit(split().train)
        return norm(learnt.weights)

    return {
        "product": lambda: multiply(product),
        "top 10": top(10), "top 100": top(100),
        "metrics": measured, "frames": by_frames, "sampled": sampled,
        "multiverse": multiverse, "all from ranks": from_ranks, "EASE": ease,
    }  # fmt: skip


def numpy(work):
    """Do it by hand: blocks for lists, positions for metrics, a loop for samples."""
    users, items = work["users"], work["items"]
    starts, known = work["train_starts"], work["train_item"]
    relevant = liked_by_user(work)
    discount = 1 / np.log2(np.arange(2, max(CUTOFFS) + 2))

    def top(n):
        found = np.empty((len(users), n), dtype=np.int64)
        for first in range(0, len(users), BLOCK):
            last = min(first + BLOCK, len(users))
            scores = users[first:last] @ items.T
            row = np.repeat(np.arange(last - first), np.diff(starts[first : last + 1]))
            scores[row, known[starts[first] : starts[last]]] = -np.inf
            best = np.argpartition(-scores, n, axis=1)[:, :n]
            order = np.argsort(-np.take_along_axis(scores, best, 1), axis=1, kind="stable")
            found[first:last] = np.take_along_axis(best, order, 1)
        return found

    n_items = len(items)
    good = work["test_value"] >= LIKED
    pairs = np.sort(work["test_user"][good].astype(np.int64) * n_items + work["test_item"][good])

    def measured():
        who = np.fromiter(relevant, np.int64)
        n_relevant = np.array([len(own) for own in relevant.values()])
        asked = work["lists"][who].astype(np.int64) + who[:, None] * n_items
        place = np.minimum(np.searchsorted(pairs, asked), len(pairs) - 1)
        hit = (pairs[place] == asked) & (work["lists"][who] >= 0)
        ranks = np.arange(1, hit.shape[1] + 1)
        n_hits = hit.cumsum(1)
        gain, precision = (hit * discount).cumsum(1), (hit * n_hits / ranks).cumsum(1)
        ideal = discount.cumsum()
        first = np.where(hit.any(1), hit.argmax(1) + 1, 10**9)
        found = {}
        for n in CUTOFFS:
            found[f"P@{n}"] = (n_hits[:, n - 1] / n).mean()
            found[f"R@{n}"] = (n_hits[:, n - 1] / n_relevant).mean()
            found[f"nDCG@{n}"] = (gain[:, n - 1] / ideal[np.minimum(n_relevant, n) - 1]).mean()
            found[f"AP@{n}"] = (precision[:, n - 1] / n_relevant).mean()
            found[f"RR@{n}"] = np.where(first <= n, 1 / first, 0).mean()
        return {name: float(value) for name, value in found.items()}

    share = SHARE.get(str(work["size"]), 1)

    def sampled():
        draw, hits, n = np.random.default_rng(1), 0, 0
        pool = np.unique(work["test_item"])
        for user, own in list(relevant.items())[::share]:
            closed = set(known[starts[user] : starts[user + 1]].tolist()) | set(own)
            scores = users[user] @ items.T
            for item in own:
                above, left = 0, N_OTHERS
                taken = set()
                while left:
                    other = int(pool[draw.integers(len(pool))])
                    if other not in closed and other not in taken:
                        taken.add(other)
                        above += scores[other] > scores[item]
                        left -= 1
                hits, n = hits + (above < 10), n + 1
        return {"P@10": hits / n / 10, "share": n / sum(map(len, relevant.values()))}

    def ease():
        train, _ = matrices(work)
        gram = (train.T @ train).toarray()
        inverse = np.linalg.inv(gram + PENALTY * np.eye(n_items))
        weights = inverse / -inverse.diagonal()
        np.fill_diagonal(weights, 0)
        return norm(weights)

    return {
        "top 10": lambda: top(10), "top 100": lambda: top(100),
        "metrics": measured, "sampled": sampled, "EASE": ease,
    }  # fmt: skip


def pytrec_eval(work):
    import pandas as pd
    import pytrec_eval as toolkit

    calls = {"P": "P", "recall": "R", "ndcg_cut": "nDCG", "map_cut": "AP"}
    asked = {f"{call}.{','.join(map(str, CUTOFFS))}" for call in calls}

    def means(values):
        return {
            f"{name}@{n}": sum(of[f"{call}_{n}"] for of in values.values()) / len(values)
            for call, name in calls.items()
            for n in CUTOFFS
        }

    run_frame, judged_frame = map(pd.DataFrame, frames(work))

    @cache
    def ready():
        run, judged = dictionaries(work)
        return toolkit.RelevanceEvaluator(judged, asked | {"recip_rank"}), run

    def measured():
        evaluator, run = ready()
        return means(evaluator.evaluate(run))

    def by_frames():
        ranked, qrels = as_dictionaries(run_frame, judged_frame)
        return means(toolkit.RelevanceEvaluator(qrels, asked | {"recip_rank"}).evaluate(ranked))

    def one(run, judged):
        return means(toolkit.RelevanceEvaluator(judged, asked).evaluate(run))

    return {
        "metrics": measured, "frames": by_frames, "multiverse": lambda: multiverse_by(one, work),
    }  # fmt: skip


def ir_measures(work):
    import ir_measures as toolkit

    calls = {"P": toolkit.P, "R": toolkit.R, "nDCG": toolkit.nDCG, "AP": toolkit.AP}
    asked = {f"{name}@{n}": each @ n for name, each in {**calls, "RR": toolkit.RR}.items()
             for n in CUTOFFS}  # fmt: skip

    @cache
    def ready():
        run, judged = dictionaries(work)
        return toolkit.evaluator(list(asked.values()), judged), run

    def measured():
        evaluator, run = ready()
        found = evaluator.calc_aggregate(run)
        return {name: float(found[metric]) for name, metric in asked.items()}

    return {"metrics": measured}


def ranx(work):
    import pandas as pd
    from ranx import Qrels, Run, evaluate

    calls = {"precision": "P", "recall": "R", "ndcg": "nDCG", "map": "AP", "mrr": "RR"}
    asked = [f"{call}@{n}" for call in calls for n in CUTOFFS]
    run_frame, judged_frame = map(pd.DataFrame, frames(work))

    @cache
    def ready():
        run, judged = dictionaries(work)
        return Qrels(judged), Run(run)

    def means(found):
        return {
            f"{name}@{n}": float(found[f"{call}@{n}"])
            for call, name in calls.items()
            for n in CUTOFFS
        }

    def by_frames():
        ranked, qrels = as_dictionaries(run_frame, judged_frame)
        return means(evaluate(Qrels(qrels), Run({u: ranked[u] for u in qrels}), asked))

    def one(run, judged):
        return means(evaluate(Qrels(judged), Run(run), asked))

    return {
        "metrics": lambda: means(evaluate(*ready(), asked)), "frames": by_frames,
        "multiverse": lambda: multiverse_by(one, work),
    }  # fmt: skip


def implicit(work):
    from implicit.cpu.als import AlternatingLeastSquares
    from implicit.evaluation import ranking_metrics_at_k

    train, test = matrices(work)
    model = AlternatingLeastSquares(factors=N_FACTORS, num_threads=1)
    model.user_factors, model.item_factors = work["users"], work["items"]

    def top(n):
        return model.recommend(np.arange(train.shape[0]), train, n)[0]

    def evaluated():
        found = ranking_metrics_at_k(model, train, test, K=10, show_progress=False, num_threads=1)
        return {"nDCG@10": float(found["ndcg"])}

    return {
        "top 10": lambda: top(10), "top 100": lambda: top(100), "one cutoff, ranked": evaluated,
    }  # fmt: skip


def lenskit(work):
    import pandas as pd
    from lenskit.batch import recommend
    from lenskit.data import ItemList, ItemListCollection, from_interactions_df
    from lenskit.knn import EASEScorer
    from lenskit.metrics import NDCG, LogRankWeight, Precision, Recall, RecipRank, RunAnalysis
    from lenskit.metrics.ranking import AveragePrecision
    from lenskit.pipeline import Component, topn_pipeline

    users = work["users"]

    def scored(_, query, items):
        """Score by the given factors."""
        return ItemList(items, scores=users[query.user_id] @ work["items"][items.ids()].T)

    # LensKit looks the names of annotations up, which are texts here
    scored.__annotations__ = {"items": ItemList, "return": ItemList}
    Given = type("Given", (Component,), {"__annotations__": {"config": None}, "__call__": scored})

    @cache
    def data():
        row = np.repeat(np.arange(len(users)), np.diff(work["train_starts"]))
        return from_interactions_df(pd.DataFrame({"user_id": row, "item_id": work["train_item"]}))

    def top(n):
        pipe = topn_pipeline(Given(), n=n)
        pipe.train(data())
        found = recommend(pipe, np.arange(len(users)), n, n_jobs=1)
        lists = np.full((len(users), n), -1)
        for key, one in found.items():
            lists[key.user_id, : len(one)] = one.ids()
        return lists

    calls = {"P": Precision, "R": Recall, "nDCG": NDCG, "AP": AveragePrecision, "RR": RecipRank}
    analysis = RunAnalysis()
    for name, call in calls.items():
        for n in CUTOFFS:
            more = {"weight": LogRankWeight(offset=1)} if name == "nDCG" else {}
            analysis.add_metric(call(n=n, **more), f"{name}@{n}")
    run, judged = map(pd.DataFrame, frames(work))
    run["rank"] = run.groupby("user_id").cumcount() + 1
    run = run[run["user_id"].isin(judged["user_id"].unique())]

    ready = cache(lambda: containers())

    def containers():
        return [ItemListCollection.from_df(frame, ["user_id"]) for frame in (run, judged)]

    def means(run, judged):
        found = analysis.measure(run, judged).list_summary()["mean"]
        return {f"{name}@{n}": float(found[f"{name}@{n}"]) for name in calls for n in CUTOFFS}

    def ease():
        model = EASEScorer(regularization=PENALTY)
        model.train(data())
        return norm(model.weights)

    return {
        "top 10": lambda: top(10), "top 100": lambda: top(100), "EASE": ease,
        "metrics": lambda: means(*ready()), "frames": lambda: means(*containers()),
    }  # fmt: skip


def recpack(work):
    from recpack import metrics as toolkit
    from recpack.algorithms import EASE
    from recpack.util import get_top_K_ranks
    from scipy.sparse import csr_matrix

    train, test = matrices(work)
    users, items = work["users"], work["items"]

    def top(n):
        scores = csr_matrix(users @ items.T)
        scores[train.nonzero()] = 0
        scores.eliminate_zeros()
        ranks = get_top_K_ranks(scores, n).tocsr()
        found = np.full((len(users), n), -1)
        for user in range(len(users)):
            own = slice(*ranks.indptr[user : user + 2])
            found[user, ranks.data[own].astype(int) - 1] = ranks.indices[own]
        return found

    lists = work["lists"]
    row, place = np.nonzero(lists >= 0)
    listed = csr_matrix((100.0 - place, (row, lists[row, place])), shape=test.shape)
    calls = {"PrecisionK": "P", "RecallK": "R", "NDCGK": "nDCG", "ReciprocalRankK": "RR"}

    def measured():
        found = {}
        for call, name in calls.items():
            for n in CUTOFFS:
                metric = getattr(toolkit, call)(n)
                metric.calculate(test, listed)
                found[f"{name}@{n}"] = float(metric.value)
        return found

    def ease():
        model = EASE(l2=PENALTY)
        model.fit(train)
        return norm(model.similarity_matrix_.data)

    return {
        "top 10": lambda: top(10), "top 100": lambda: top(100),
        "metrics": measured, "EASE": ease,
    }  # fmt: skip


def cornac(work):
    from cornac.data import Dataset
    from cornac.models import EASE, MF

    row = np.repeat(np.arange(len(work["users"])), np.diff(work["train_starts"]))
    triples = [(int(u), int(i), 1.0) for u, i in zip(row, work["train_item"], strict=True)]
    known = Dataset.from_uir(triples)
    place = np.array([known.iid_map.get(item, -1) for item in range(len(work["items"]))])
    model = MF(k=N_FACTORS, max_iter=0, use_bias=False, trainable=False, verbose=False)
    model.fit(known)
    model.u_factors = np.zeros((known.num_users, N_FACTORS), np.float32)
    model.i_factors = np.zeros((known.num_items, N_FACTORS), np.float32)
    for user, dense in known.uid_map.items():
        model.u_factors[dense] = work["users"][user]
    model.i_factors[place[place >= 0]] = work["items"][place >= 0]
    items = np.array([item for item, _ in sorted(known.iid_map.items(), key=lambda of: of[1])])
    starts = work["train_starts"]

    def top(n):
        found = np.full((len(work["users"]), n), -1)
        for user, dense in known.uid_map.items():
            mine = np.ones(known.num_items, dtype=bool)
            mine[place[work["train_item"][starts[user] : starts[user + 1]]]] = False
            ranked, _ = model.rank(dense, np.flatnonzero(mine), k=n)
            found[user] = items[ranked[:n]]
        return found

    relevant = liked_by_user(work)

    @cache
    def candidates():
        """Sample others; what takes long here is not timed."""
        draw, found = np.random.default_rng(1), []
        pool = np.unique(work["test_item"])
        pool = pool[place[pool] >= 0]
        for user, own in list(relevant.items())[:: SHARE.get(str(work["size"]), 1)]:
            closed = set(work["train_item"][starts[user] : starts[user + 1]].tolist()) | set(own)
            free = np.array([item for item in pool if item not in closed])
            for item in own:
                if place[item] >= 0 and user in known.uid_map:
                    others = draw.choice(free, N_OTHERS, replace=False)
                    found.append((known.uid_map[user], place[np.append(others, item)]))
        return found

    def sampled():
        hits = 0
        for user, asked in candidates():
            ranked, _ = model.rank(user, asked, k=10)
            hits += asked[-1] in ranked[:10]
        n = len(candidates())
        return {"P@10": hits / n / 10, "share": n / sum(map(len, relevant.values()))}

    def ease():
        learnt = EASE(lamb=PENALTY, posB=False, verbose=False).fit(known)
        return norm(learnt.B)

    return {
        "top 10": lambda: top(10), "top 100": lambda: top(100),
        "sampled": sampled, "EASE": ease,
    }  # fmt: skip


TOOLKITS = {
    "recbias": (recbias, "recbias"),
    "NumPy": (numpy, "numpy"),
    "pytrec_eval": (pytrec_eval, "pytrec_eval-terrier"),
    "ir_measures": (ir_measures, "ir_measures"),
    "ranx": (ranx, "ranx"),
    "implicit": (implicit, "implicit"),
    "LensKit": (lenskit, "lenskit"),
    "RecPack": (recpack, "recpack"),
    "Cornac": (cornac, "cornac"),
}
"""By name the function, and the distribution that has the version."""

APART = ("LensKit", "RecPack", "Cornac")
"""What cannot share the environment of the package."""


# -- forms of what is asked


def work_split(work):
    from recbias.data.ratings import Ratings, RatingScale
    from recbias.protocol.splits import from_fold_labels

    starts = work["train_starts"]
    user = np.append(np.repeat(np.arange(len(starts) - 1), np.diff(starts)), work["test_user"])
    item = np.append(work["train_item"], work["test_item"])
    fold = np.append(np.ones(int(starts[-1]), int), np.zeros(len(work["test_user"]), int))
    order = np.lexsort((item, user))
    value = np.append(work["train_value"], work["test_value"])
    ratings = Ratings(
        "peers", user[order].astype(np.int32), item[order].astype(np.int32), value[order], None,
        np.arange(len(work["users"])), np.arange(len(work["items"])), RatingScale(1, 5, 1),
    )  # fmt: skip
    return from_fold_labels(ratings, fold[order])[0]


def liked_by_user(work, liked=LIKED):
    good = work["test_value"] >= liked
    user, item = work["test_user"][good], work["test_item"][good]
    ends = np.flatnonzero(np.diff(user, append=-1)) + 1
    own = np.split(item, ends[:-1])
    return {int(user[end - 1]): of.tolist() for end, of in zip(ends, own, strict=True)}


def frames(work):
    """Give columns of the lists, best first, and of what users like."""
    row, place = np.nonzero(work["lists"] >= 0)
    good = work["test_value"] >= LIKED
    return (
        {"user_id": row, "item_id": work["lists"][row, place], "score": 100.0 - place},
        {"user_id": work["test_user"][good], "item_id": work["test_item"][good],
         "rating": np.ones(int(good.sum()), dtype=int)},
    )  # fmt: skip


def dictionaries(work, design="lists", liked=LIKED):
    judged = {str(u): {str(i): 1 for i in own} for u, own in liked_by_user(work, liked).items()}
    run = {
        user: {str(i): float(100 - n) for n, i in enumerate(work[design][int(user)]) if i >= 0}
        for user in judged
    }
    return run, judged


def multiverse_by(one, work):
    """Ask a toolkit for its metrics of each design and threshold."""
    return {
        f"{name} {design} {liked}": value
        for design in DESIGNS
        for liked in THRESHOLDS
        for name, value in one(*dictionaries(work, design, liked)).items()
    }


def norm(weights):
    """Say what EASE learnt in one number, which all orders of items share."""
    return {"norm of weights": float(np.linalg.norm(np.asarray(weights, dtype=float)))}


def as_dictionaries(run, judged):
    """Turn frames into dictionaries, as toolkits want them that take no frames."""
    return [
        {
            user: dict(zip(of["item_id"], of[value], strict=True))
            for user, of in frame.astype({"user_id": str, "item_id": str}).groupby("user_id")
        }
        for frame, value in ((run, "score"), (judged, "rating"))
    ]


def matrices(work):
    from scipy.sparse import csr_matrix

    shape = len(work["users"]), len(work["items"])
    known, good = work["train_item"], work["test_value"] >= LIKED
    train = csr_matrix((np.ones(len(known)), known, work["train_starts"]), shape=shape)
    pairs = work["test_user"][good], work["test_item"][good]
    return train, csr_matrix((np.ones(int(good.sum())), pairs), shape=shape)


# -- a toolkit's process, and the one that asks them all


def serve(name, path):
    """Do the tasks that standard input names, and answer each with a line."""
    out, sys.stdout = sys.stdout, sys.stderr
    with np.load(path) as file:  # noqa: TID251 - arrays for environments without Parquet
        work = dict(file)
    make, distribution = TOOLKITS[name]
    left_out = LEFT_OUT.get(str(work["size"]), ())
    tasks = {task: do for task, do in make(work).items() if task not in left_out}

    def answer(**told):
        print(json.dumps(told), file=out, flush=True)

    answer(tasks=list(tasks), version=version(distribution))
    for line in sys.stdin:
        started = time.process_time()
        found = tasks[line.strip()]()
        seconds = time.process_time() - started
        peak = peak_gb()
        if isinstance(found, np.ndarray):
            listed = work["lists"][:, : found.shape[1]]
            found = {"places": float((found == listed)[listed >= 0].mean())}
        all_seconds = time.process_time()
        answer(seconds=seconds, all_seconds=all_seconds, peak=peak, values=found or {})


def peak_gb():
    """Say how much this process has held; what getrusage says is at least what its parent held."""
    with open("/proc/self/status") as file:
        kilobytes = next(line.split()[1] for line in file if line.startswith("VmHWM"))
    return int(kilobytes) / 2**20


def python_of(name):
    """Give the interpreter of a toolkit, whose environment is made where it is not there."""
    if name not in APART:
        return sys.executable
    folder = BUILD / name.lower()
    python = folder / "bin" / "python"
    if not (folder / "ready").exists():
        venv.create(folder, with_pip=True, clear=True)
        pinned = HERE / "toolkits" / f"{name.lower()}.txt"
        subprocess.run(
            [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "-r", pinned],
            check=True,
        )
        (folder / "ready").touch()
    return str(python)


def make_work(size, path):
    """Write what all are asked about."""
    from implicit.cpu.als import AlternatingLeastSquares
    from scipy.sparse import csr_matrix
    from threadpoolctl import threadpool_limits

    from ranking import RoundedProduct, random_ratings
    from recbias import load_dataset
    from recbias.errors import DataError, MissingData
    from recbias.protocol.splits import k_fold
    from recbias.ranking import rank_once

    try:
        data = {"100k": "ml-100k", "1m": "ml-1m"}[size]
        ratings = load_dataset(data).ratings
    except (KeyError, MissingData, DataError):
        data, ratings = "random table", random_ratings(np.random.default_rng(1), *SHAPES[size])
    split = k_fold(ratings, 5, rng=np.random.default_rng(1))[0]
    train, test = split.train, split.test
    shape = train.n_users, train.n_items
    model = AlternatingLeastSquares(N_FACTORS, iterations=5, random_state=1, num_threads=1)
    ones = np.ones(len(train), np.float32)
    with threadpool_limits(1, "blas"):
        model.fit(
            csr_matrix((ones, train.item.copy(), train.indptr.copy()), shape=shape),
            show_progress=False,
        )
    users, items, every = model.user_factors, model.item_factors, ASKED.get(size, 1)
    row = np.repeat(np.arange(train.n_users), np.diff(train.indptr))
    known, asked = row % every == 0, test.user % every == 0
    counts = np.diff(train.indptr)[::every]
    work = {
        "size": size, "users": users[::every], "items": items,
        "train_starts": np.append(0, counts.cumsum()),
        "train_item": train.item[known], "train_value": train.value[known],
        "test_user": test.user[asked] // every,
        "test_item": test.item[asked], "test_value": test.value[asked],
    }  # fmt: skip
    product = RoundedProduct(work["users"], items)
    ranks, _ = rank_once(product, work_split(work), depth=100, seed=1)
    for design, candidates in zip(DESIGNS, ("AI", "TI"), strict=True):
        work[design] = ranks.lists(candidates, 100)
    np.savez(path, **work)
    return data, len(ratings)


def difference(found, ours):
    """Say how far what a toolkit found is from ours."""
    if "places" in found:
        return f"{found['places']:.5%} of the places"
    both = {name: abs(found[name] - ours[name]) for name in found if name in ours}
    apart = sorted({name.partition("@")[0] for name, gap in both.items() if gap > 1e-9})
    least = max((gap for name, gap in both.items() if gap <= 1e-9), default=0.0)
    told = f"{len(both)} values, {least:.0e}"
    return f"{told}; {', '.join(apart)} by {max(both.values()):.2g}" if apart else told


def answer_of(process, name):
    """Read what a toolkit answers."""
    if not (line := process.stdout.readline()):
        sys.exit(f"{name} ended, see its file in {BUILD}")
    return json.loads(line)


def compare(size, names):
    """Ask all for everything, in turn; give rows."""
    environment = {**os.environ, "TQDM_DISABLE": "1", "PYTHONWARNINGS": "ignore"} | {
        f"{each}_NUM_THREADS": "1" for each in ("OMP", "OPENBLAS", "MKL", "NUMBA")
    }
    pythons = {name: python_of(name) for name in names}
    with tempfile.TemporaryDirectory() as text:
        path = Path(text) / "work.npz"
        data, n_ratings = make_work(size, path)
        asked, versions, cold = {}, {}, {}

        def start(name):
            """Start a toolkit's process, and hear what it can do."""
            command = [pythons[name], str(Path(__file__).resolve()), "--serve", name, str(path)]
            log = BUILD / f"{name.lower()}-{size}.log"
            log.parent.mkdir(parents=True, exist_ok=True)
            process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log.open("w"),
                env=environment, text=True,
            )  # fmt: skip
            return process, answer_of(process, name)

        for name in names:
            process, told = start(name)
            asked |= {(task, name): process for task in told["tasks"]}
            versions[name] = told["version"]
        for _ in range(ROUNDS):
            for name in [name for task, name in asked if task == "frames"]:
                if cold.get(("frames, new process", name), [0])[0] > PATIENCE:
                    continue
                process, _ = start(name)
                print("frames", file=process.stdin, flush=True)
                told = answer_of(process, name)
                cold.setdefault(("frames, new process", name), []).append(told["all_seconds"])
                process.stdin.close()
                process.wait()
        tasks = list(dict.fromkeys(task for task, _ in asked))
        seconds, first_values, peaks = {}, {}, {}
        for number in range(ROUNDS + 1):
            for task in tasks:
                for key in [(task, name) for name in names if (task, name) in asked]:
                    if number > 1 and seconds[key][0] > PATIENCE:
                        continue
                    process = asked[key]
                    print(task, file=process.stdin, flush=True)
                    told = answer_of(process, key[1])
                    share = told["values"].pop("share", 1)
                    if number:
                        seconds.setdefault(key, []).append(told["seconds"] / share)
                    else:
                        first_values[key], peaks[key] = told["values"], told["peak"]
        for process in set(asked.values()):
            process.stdin.close()
            process.wait()
    when = datetime.date.today().isoformat(), revision()
    rows = []
    for (task, name), times in (seconds | cold).items():
        found = first_values.get((task, name), {})
        ours = first_values["metrics", "recbias"] | first_values.get((task, "recbias"), {})
        bound = (seconds | cold).get((task, "recbias"))
        took = median(times)
        ratio = f"{took / median(bound):.2f}" if bound else ""
        told = difference(found, ours) if found else ""
        peak = f"{peaks[task, name]:.2f}" if (task, name) in peaks else ""
        rows.append(
            (*when, data, n_ratings, task, name, versions[name], f"{took:.4g}", ratio, peak, told)
        )
        print("  ".join(map(str, rows[-1])), flush=True)
    return rows


def revision():
    """Name the commit that is measured; nothing where it has changes, or is no clone."""

    def git(*arguments):
        done = subprocess.run(["git", *arguments], cwd=HERE, capture_output=True, text=True)
        return None if done.returncode else done.stdout.strip()

    changed = git("status", "--porcelain", "--", "../src", ".")
    return "" if changed else git("rev-parse", "HEAD") or ""


def main():
    """Compare on each size, and renew its rows."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("size", nargs="*", choices=[*SHAPES, []])
    parser.add_argument("--toolkits", nargs="+", default=list(TOOLKITS), choices=TOOLKITS)
    parser.add_argument("--serve", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        serve(*given.serve)
        return
    for size in given.size or SHAPES:
        rows = compare(size, given.toolkits)
        kept = []
        if ROWS.exists():
            with ROWS.open(newline="") as file:
                kept = list(csv.reader(file))[1:]
        shape, toolkit = FIELDS.index("ratings"), FIELDS.index("toolkit")
        kept = [
            row
            for row in kept
            if row[shape] != str(rows[0][shape]) or row[toolkit] not in given.toolkits
        ]
        with ROWS.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([FIELDS, *kept, *rows])


if __name__ == "__main__":
    main()
