"""Put the same small lists through other toolkits, whose values differ.

``python benchmarks/toolkits.py NAME ...`` computes the values of toolkits in the environment that
it runs in, and writes ``toolkits/NAME.csv`` with their version. ``toolkits/NAME.txt`` pins what
that environment has; five of ten are in the package's own for tests. Nothing of this package is
imported: the numbers are theirs alone. `recbias reconcile` explains them, which tests hold to these
files, and so does the page "Why do two toolkits disagree?".

``toolkits/lists`` has six pairs of a run and qrels of TREC, all cut at 3:

plain     12 users, 8 of 12 items each, relevant or unjudged
graded    the same lists, grades 0 to 3
short     the same judgments, lists of 1, 2 and 8 items
missing   the same, two users without a list
barren    the same, three users of whose judgments none is relevant
tied      the same, equal scores

A toolkit that knows test ratings alone is given those of grade 1 and more, LensKit all; one that
ranks all items itself is given no short lists, nor users without one.
"""

import csv
import datetime
import math
import sys
from importlib.metadata import version
from pathlib import Path

K = 3
FOLDER = Path(__file__).with_suffix("")
LISTS = ("plain", "graded", "short", "missing", "barren", "tied")
FIELDS = ("toolkit", "version", "date", "list", "call", "metric", "value")


def read(name):
    """Read a run, {user: [(item, score)]} as its file has it, and qrels, {user: {item: grade}}."""
    run, qrels = {}, {}
    for line in (FOLDER / "lists" / f"{name}.run").read_text().splitlines():
        user, _, item, _, score, _ = line.split()
        run.setdefault(user, []).append((item, float(score)))
    for line in (FOLDER / "lists" / f"{name}.qrels").read_text().splitlines():
        user, _, item, grade = line.split()
        qrels.setdefault(user, {})[item] = int(grade)
    return run, qrels


def liked(qrels):
    """Give the relevant judgments, as test ratings: users without one are not in it."""
    kept = {user: {item: g for item, g in of.items() if g > 0} for user, of in qrels.items()}
    return {user: of for user, of in kept.items() if of}


def matrices(run, qrels):
    """Give users, items and both as sparse matrices: scores, and ones for relevant pairs."""
    import numpy as np
    import scipy.sparse as sp

    users = sorted({*run, *qrels})
    items = sorted(
        {i for of in run.values() for i, _ in of} | {i for of in qrels.values() for i in of}
    )
    scores, truth = np.zeros((len(users), len(items))), np.zeros((len(users), len(items)))
    for user, of in run.items():
        for item, score in of:
            scores[users.index(user), items.index(item)] = score
    for user, of in qrels.items():
        for item in of:
            truth[users.index(user), items.index(item)] = 1
    return users, items, sp.csr_matrix(scores), sp.csr_matrix(truth)


# -- one function for each toolkit: it yields its own name of a metric, ours, and the value


def pytrec_eval(run, qrels):
    """pytrec_eval-terrier; the mean is the caller's, over the users that it returns."""
    import pytrec_eval as toolkit

    calls = {f"P.{K}": ("P", f"P_{K}"), f"recall.{K}": ("R", f"recall_{K}")}
    calls |= {f"success.{K}": ("HR", f"success_{K}"), "recip_rank": ("RR", "recip_rank")}
    calls |= {f"map_cut.{K}": ("AP", f"map_cut_{K}"), f"ndcg_cut.{K}": ("nDCG", f"ndcg_cut_{K}")}
    values = toolkit.RelevanceEvaluator(qrels, set(calls)).evaluate(
        {u: dict(of) for u, of in run.items()}
    )
    for name, field in calls.values():
        called = "RR" if name == "RR" else f"{name}@{K}"
        yield field, called, sum(of[field] for of in values.values()) / len(values)


def ir_measures(run, qrels):
    import ir_measures as toolkit

    calls = {"P": toolkit.P, "R": toolkit.R, "HR": toolkit.Success, "RR": toolkit.RR}
    calls |= {"AP": toolkit.AP, "nDCG": toolkit.nDCG}
    metrics = {name: metric @ K for name, metric in calls.items()}
    values = toolkit.calc_aggregate(
        list(metrics.values()), qrels, {u: dict(of) for u, of in run.items()}
    )
    for name, metric in metrics.items():
        yield str(metric), f"{name}@{K}", values[metric]


def ranx(run, qrels):
    from ranx import Qrels, Run, evaluate

    calls = {"precision": "P", "recall": "R", "hit_rate": "HR", "mrr": "RR", "map": "AP"}
    calls |= {"ndcg": "nDCG", "ndcg_burges": "nDCG"}
    names = [f"{call}@{K}" for call in calls]
    values = evaluate(
        Qrels(qrels), Run({u: dict(of) for u, of in run.items()}), names, make_comparable=True
    )
    for call, name in zip(names, calls.values(), strict=True):
        yield call, f"{name}@{K}", float(values[call])


def sklearn(run, qrels):
    """scikit-learn: one row per user over all items, those not in the list below all others."""
    import numpy as np
    from sklearn.metrics import average_precision_score, ndcg_score

    items = sorted(
        {i for of in run.values() for i, _ in of} | {i for of in qrels.values() for i in of}
    )
    truth = np.array([[of.get(item, 0) for item in items] for of in qrels.values()])
    scores = np.array(
        [[dict(run.get(user, [])).get(item, -1.0) for item in items] for user in qrels]
    )
    yield "ndcg_score(k=3)", f"nDCG@{K}", float(ndcg_score(truth, scores, k=K))
    yield (
        "ndcg_score(k=3, ignore_ties=True)",
        f"nDCG@{K}",
        float(ndcg_score(truth, scores, k=K, ignore_ties=True)),
    )
    values = [
        average_precision_score(of > 0, by)
        for of, by in zip(truth, scores, strict=True)
        if of.any()
    ]
    yield "average_precision_score", "AP", float(np.mean(values))


def implicit(run, qrels):
    """implicit.evaluation: its functions ask a model, here one that has the lists."""
    import numpy as np
    from implicit.evaluation import ranking_metrics_at_k

    users, items, _, truth = matrices(run, liked(qrels))
    places = {item: n for n, item in enumerate(items)}

    class Lists:
        def recommend(self, userid, user_items, N=10, **_):
            rows = [[places[item] for item, _ in run[users[user]]][:N] for user in userid]
            return np.array(rows, dtype=np.int32), np.zeros((len(rows), N), dtype=np.float32)

    values = ranking_metrics_at_k(
        Lists(), truth * 0, truth, K=K, show_progress=False, num_threads=1
    )
    for call, name in {"precision": "P", "map": "AP", "ndcg": "nDCG"}.items():
        yield call, f"{name}@{K}", float(values[call])


def lenskit(run, qrels):
    import pandas as pd
    from lenskit.data import ItemListCollection
    from lenskit.metrics import NDCG, Hit, LogRankWeight, Precision, Recall, RecipRank, RunAnalysis
    from lenskit.metrics.ranking import AveragePrecision

    recs = pd.DataFrame(
        [(u, i, s, n) for u, of in run.items() for n, (i, s) in enumerate(of, 1)],
        columns=["user_id", "item_id", "score", "rank"],
    )
    test = pd.DataFrame(
        [(u, i, float(g)) for u, of in qrels.items() for i, g in of.items()],
        columns=["user_id", "item_id", "rating"],
    )
    calls = {
        "Precision(n=3)": ("P", Precision(n=K)),
        "Recall(n=3)": ("R", Recall(n=K)),
        "Hit(n=3)": ("HR", Hit(n=K)),
        "RecipRank(n=3)": ("RR", RecipRank(n=K)),
        "AveragePrecision(n=3)": ("AP", AveragePrecision(n=K)),
        "NDCG(n=3)": ("nDCG", NDCG(n=K)),
        "NDCG(n=3, weight=LogRankWeight(offset=1))": (
            "nDCG", NDCG(n=K, weight=LogRankWeight(offset=1))
        ),
        "NDCG(n=3, gain='rating')": ("nDCG", NDCG(n=K, gain="rating")),
    }  # fmt: skip
    analysis = RunAnalysis()
    for call, (_, metric) in calls.items():
        analysis.add_metric(metric, call)
    values = analysis.measure(
        ItemListCollection.from_df(recs, ["user_id"]), ItemListCollection.from_df(test, ["user_id"])
    ).list_summary()["mean"]
    for call, (name, _) in calls.items():
        yield call, f"{name}@{K}", float(values[call])


def recpack(run, qrels):
    from recpack import metrics as toolkit

    _, _, scores, truth = matrices(run, liked(qrels))
    calls = {"PrecisionK": "P", "RecallK": "R", "CalibratedRecallK": "R", "HitK": "HR"}
    calls |= {"ReciprocalRankK": "RR", "NDCGK": "nDCG"}
    for call, name in calls.items():
        metric = getattr(toolkit, call)(K)
        metric.calculate(truth, scores)
        yield f"{call}({K})", f"{name}@{K}", float(metric.value)


def cornac(run, qrels):
    """Cornac: metrics of each user with a relevant item, averaged as its `ranking_eval` does."""
    import numpy as np
    from cornac import metrics as toolkit

    _, items, _, _ = matrices(run, qrels)
    places = {item: n for n, item in enumerate(items)}
    calls = {"Precision": "P", "Recall": "R", "HitRatio": "HR", "NDCG": "nDCG", "MAP": "AP"}
    for call, name in calls.items():
        metric = getattr(toolkit, call)(**({} if call == "MAP" else {"k": K}))
        values = []
        for user, of in liked(qrels).items():
            truth = np.array([places[item] for item in of])
            ranked = np.array([places[item] for item, _ in run[user]])
            scores = np.array([score for _, score in run[user]])
            values.append(
                metric.compute(gt_pos=truth, pd_rank=ranked, pd_scores=scores, item_indices=ranked)
            )
        yield (
            (call if call == "MAP" else f"{call}(k={K})"),
            (name if call == "MAP" else f"{name}@{K}"),
            float(np.mean(values)),
        )


def rectools(run, qrels):
    import pandas as pd
    from rectools import Columns
    from rectools import metrics as toolkit

    recs = pd.DataFrame(
        [(u, i, n) for u, of in run.items() for n, (i, _) in enumerate(of, 1)],
        columns=[Columns.User, Columns.Item, Columns.Rank],
    )
    test = pd.DataFrame(
        [(u, i) for u, of in liked(qrels).items() for i in of],
        columns=[Columns.User, Columns.Item],
    )
    calls = {
        "Precision(3)": ("P", toolkit.Precision(K)),
        "Precision(3, r_precision=True)": ("P", toolkit.Precision(K, r_precision=True)),
        "Recall(3)": ("R", toolkit.Recall(K)),
        "HitRate(3)": ("HR", toolkit.HitRate(K)),
        "MRR(3)": ("RR", toolkit.MRR(K)),
        "MAP(3)": ("AP", toolkit.MAP(K)),
        "MAP(3, divide_by_k=True)": ("AP", toolkit.MAP(K, divide_by_k=True)),
        "NDCG(3)": ("nDCG", toolkit.NDCG(K)),
        "NDCG(3, divide_by_achievable=True)": (
            "nDCG", toolkit.NDCG(K, divide_by_achievable=True)
        ),
    }  # fmt: skip
    for call, (name, metric) in calls.items():
        yield call, f"{name}@{K}", float(metric.calc(recs, test))


def recbole(run, qrels):
    """RecBole: its metrics of which of the first k are relevant, and how many items are."""
    import torch
    from recbole.evaluator import metrics as toolkit
    from recbole.evaluator.collector import DataStruct

    test = liked(qrels)
    rows = [[int(item in of) for item, _ in run[user][:K]] + [len(of)] for user, of in test.items()]
    held = DataStruct()
    held.set("rec.topk", torch.tensor(rows))
    calls = {"Precision": "P", "Recall": "R", "Hit": "HR", "MRR": "RR", "MAP": "AP", "NDCG": "nDCG"}
    for call, name in calls.items():
        metric = getattr(toolkit, call)({"topk": [K], "metric_decimal_place": 12})
        (value,) = metric.calculate_metric(held).values()
        yield call, f"{name}@{K}", float(value)


TOOLKITS = {
    "pytrec_eval": (pytrec_eval, "pytrec_eval-terrier", LISTS),
    "ir_measures": (ir_measures, "ir_measures", LISTS),
    "ranx": (ranx, "ranx", LISTS),
    "scikit-learn": (sklearn, "scikit-learn", ("plain", "graded", "barren", "tied")),
    "implicit": (implicit, "implicit", ("plain", "graded", "barren")),
    "LensKit": (lenskit, "lenskit", LISTS),
    "RecPack": (recpack, "recpack", ("plain", "graded", "short", "missing", "barren", "tied")),
    "Cornac": (cornac, "cornac", ("plain", "graded", "barren")),
    "RecTools": (rectools, "rectools", ("plain", "graded", "short", "missing", "barren")),
    "RecBole": (recbole, "recbole", ("plain", "graded", "barren")),
}
"""By name the function, the distribution that has the version, and the lists that it is given."""


def values_of(name):
    """Give rows (list, call, metric, value) of a toolkit that is installed; NaN = undefined."""
    function, _, lists = TOOLKITS[name]
    return [(each, *row) for each in lists for row in function(*read(each))]


def write(name):
    """Compute and record the values of a toolkit."""
    rows = values_of(name)
    known = version(TOOLKITS[name][1]), datetime.date.today().isoformat()
    path = FOLDER / f"{name.lower()}.csv"
    with path.open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(FIELDS)
        for each, call, metric, value in rows:
            table.writerow(
                (name, *known, each, call, metric, "" if math.isnan(value) else repr(value))
            )
    print(path, len(rows))


if __name__ == "__main__":
    if unknown := set(sys.argv[1:]) - set(TOOLKITS) or not sys.argv[1:]:
        sys.exit(f"usage: python benchmarks/toolkits.py NAME ..., of {', '.join(TOOLKITS)}")
    for toolkit in sys.argv[1:]:
        write(toolkit)
