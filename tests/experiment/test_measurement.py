"""`measure` against grids, to the last bit, and against ir_measures, pytrec_eval and ranx.

Where conventions differ, a test shows both values and says why.
"""

import collections
import itertools
import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from recbias import Grid, Measurement, Protocol, System, load_dataset, measure, run
from recbias._system.streams import stream
from recbias.book.systems.line_up import relevance_threshold
from recbias.data.ratings import Ratings, exact
from recbias.errors import ConfigError, ContractError, DataError, MissingData
from recbias.metrics import AP, P, declarations, nDCG, parse_metric
from recbias.protocol.splits import from_fold_labels
from recbias.protocol.testset import dataset_splits
from recbias.recommenders import FromScores, Popularity
from recbias.stats.comparison import paired_t, wilcoxon
from recbias.stats.resampling import interval

WORLD = "world(users=90,items=120)"
SYSTEMS = (System("Popularity", "Popularity"), System("pLSA", "PLSA", {"n_topics": 5}))

# ---- a split: what a grid gives, to the last bit

DESIGNS = {
    "AI-AN-AR rel>=4": ("P@5", "nDCG(exp)@10", "AP", "SR(gamma=0.5)@5", "ARP@5", "Gini@5", "rho"),
    "TI-AN-AR rel>=3 users=tested": ("antiP@5", "P@5|judged", "CI@5|JS", "P@5|N=10"),
    "AI-AN-AR rel>=4 condensed": ("P@5", "AUC"),
    "AI-AN-AR +train rel>=4": ("P@5",),
    "AI-AN-AR rel>=4 unscored=popularity": ("AP", "Coverage@5"),
    "AI-AN-AR rel>=4 unscored=last users=trained": ("AP",),
    "TI-AN-AR rel>=4 users=relevant,trained>=3": ("P@5",),
    "TI-AN-AR rel>=4": ("P@5|ties", "RR|ties", "HR@5", "AP@5|capped", "Novelty@5"),
    "AI-AN-AR rel>=4 weights=relevant": ("P@5", "PL@5"),
    "AI-AN-AR rel>=4 statistic=median users=relevant": ("RR", "ARP@5"),
    "AI-AN-AR rel>=4 statistic=geometric coverage=reduced": ("P@5",),
    "TI-AN-1R rel>=4": ("P@5", "nDCG@5", "P@5|t=10"),
    "TI-AN-P1R m=5 rel>=4": ("P@5",),
    "TI-NN-1R t=20 rel>=4": ("P@5", "RR"),
    "TI-NN-1R-shared t=20 rel>=4 users=relevant": ("P@5",),
    "AI-NN-AR N=30 rel>=4": ("P@5", "R@5"),
}
DESIGNS = {str(Protocol.parse(text)): metrics for text, metrics in DESIGNS.items()}


@pytest.fixture(scope="module")
def one_fold():
    (split,) = dataset_splits(load_dataset(WORLD), "ratio 0.3", seed=5)
    return split


def fitted(system, split, seed=5):
    rng = stream(seed, "train", system.stream_label(), split.fold, 0)
    return system.build().fit(split.train, rng=rng)


@pytest.fixture(scope="module")
def gridded():
    return run(Grid(WORLD, SYSTEMS, tuple(DESIGNS), DESIGNS, split="ratio 0.3", seed=5))


@pytest.mark.parametrize("protocol", DESIGNS)
def test_a_model_on_a_split_has_the_numbers_of_a_grid(gridded, one_fold, protocol):
    for system in SYSTEMS:
        measured = measure(
            fitted(system, one_fold), one_fold, DESIGNS[protocol], protocol=protocol, seed=5
        )
        rows = gridded.values.query("system == @system.name and label == @protocol")
        expected = rows[["metric", "value", "low", "high", "se", "n_users"]].reset_index(drop=True)
        pd.testing.assert_frame_equal(measured.values, expected, check_exact=True)
        for metric in DESIGNS[protocol]:
            quantity = measured[metric]
            if parse_metric(metric).declaration.interval != "none":
                assert quantity.interval == quantity.limits


def test_features_of_items_are_those_of_a_grid(one_fold):
    items = load_dataset(WORLD).ratings.item_ids.astype(str)
    features = pd.DataFrame({"item_id": items, "genre": [f"g{n % 7}" for n in range(len(items))]})
    metrics = ("ILD@5", "Miscalibration@5")
    design = {"protocols": "AI-AN-AR rel>=4", "metrics": metrics, "split": "ratio 0.3", "seed": 5}
    results = run(Grid(WORLD, SYSTEMS[:1], features=features, **design))
    model = fitted(SYSTEMS[0], one_fold)
    measured = measure(
        model, one_fold, metrics, protocol="AI-AN-AR rel>=4", features=features, seed=5
    )
    assert measured.values["value"].tolist() == results.values["value"].tolist()
    with pytest.raises(ConfigError, match="give a table of these"):
        measure(model, one_fold, metrics)


def test_another_seed_has_other_numbers(gridded, one_fold):
    protocol = "TI-NN-1R t=20 rel>=4"
    other = measure(fitted(SYSTEMS[0], one_fold), one_fold, "P@5", protocol=protocol, seed=6)
    rows = gridded.values.query("system == 'Popularity' and label == @protocol")
    assert other.values["low"][0] != rows["low"].iloc[0]


def test_the_order_of_metrics_is_that_of_the_request(one_fold):
    metrics = ("Gini@5", "AP", "ARP@5", "P@5", "Coverage@5")
    measured = measure(fitted(SYSTEMS[0], one_fold), one_fold, metrics)
    assert tuple(measured.values["metric"]) == metrics
    assert measured.per_user.columns.tolist() == ["user_id", "AP", "ARP@5", "P@5"]
    for metric in metrics:
        alone = measure(fitted(SYSTEMS[0], one_fold), one_fold, metric)
        assert alone[metric].value == measured[metric].value


def test_the_default_design_is_that_of_the_command(one_fold):
    model = fitted(SYSTEMS[0], one_fold)
    least = relevance_threshold(load_dataset(WORLD))
    assert str(measure(model, one_fold, "P@5").protocol) == f"AI-AN-AR rel>={exact(least)}"


def test_values_of_users_make_the_mean(one_fold):
    model = fitted(SYSTEMS[1], one_fold)
    for protocol in ("AI-AN-AR rel>=4", "AI-AN-AR rel>=4 users=relevant"):
        measured = measure(model, one_fold, ("P@5", "RR"), protocol=protocol)
        users = measured.per_user
        assert len(users) == measured.values["n_users"][0]
        for metric in ("P@5", "RR"):
            assert users[metric].fillna(0).mean() == pytest.approx(
                measured[metric].value, abs=1e-12
            )
    assert not users.isna().any().any()
    runs = measure(model, one_fold, "P@5", protocol="AI-AN-1R rel>=4")
    liked = one_fold.test.value >= 4
    counts = pd.Series(one_fold.test.user_ids[one_fold.test.user[liked]]).value_counts()
    weights = counts[runs.per_user["user_id"]].to_numpy()
    assert np.average(runs.per_user["P@5"], weights=weights) == pytest.approx(runs["P@5"].value)


def test_a_run_on_a_split_is_scores_from_elsewhere(one_fold, tmp_path):
    model = fitted(SYSTEMS[1], one_fold)
    scores = model.score(np.arange(one_fold.train.n_users)).astype(np.float64)
    user, item = np.nonzero(~np.isnan(scores))
    frame = pd.DataFrame(
        {
            "user_id": one_fold.train.user_ids[user],
            "item_id": one_fold.train.item_ids[item],
            "score": scores[user, item],
        }
    )
    metrics = ("P@5", "ARP@5", "AP")
    expected = measure(model, one_fold, metrics).values
    frame.to_parquet(tmp_path / "scores.parquet")
    nested = {u: of.set_index("item_id")["score"].to_dict() for u, of in frame.groupby("user_id")}
    for form in (frame, frame.sample(frac=1, random_state=1), tmp_path / "scores.parquet", nested):
        pd.testing.assert_frame_equal(measure(form, one_fold, metrics).values, expected)
    elsewhere = FromScores(frame).fit(one_fold.train)
    pd.testing.assert_frame_equal(measure(elsewhere, one_fold, metrics).values, expected)


def test_a_difference_is_paired(one_fold):
    a, b = (measure(fitted(system, one_fold), one_fold, "P@5") for system in SYSTEMS)
    difference = a["P@5"] - b[P @ 5]
    users = a.per_user["P@5"].to_numpy(), b.per_user["P@5"].to_numpy()
    test = paired_t(*users)
    assert difference.value == pytest.approx(float(test.difference), abs=1e-12)
    low, high = difference.interval
    assert (low, high) == tuple(interval(a["P@5"].drawn - b["P@5"].drawn))
    # The t interval of the same differences, from the same users: close, where unpaired is wider.
    assert high - low == pytest.approx(float(test.high - test.low), rel=0.15)


# ---- judgments: what other tools give


def queries(n_users=60, n_items=40, grades=(0, 1, 2, 3), seed=3):
    """Runs of 1 to 40 items, of 8 of 9 users; 1 to 14 judgments; users without judgments."""
    rng = np.random.default_rng(seed)
    lists, judged = {}, {}
    for user in range(n_users):
        length = rng.integers(1, n_items + 1)
        items, scores = rng.permutation(n_items)[:length], rng.permutation(1000)[:length]
        if user % 9:
            pairs = zip(items.tolist(), scores.tolist(), strict=True)
            lists[f"u{user:03}"] = {f"d{item:03}": float(score) for item, score in pairs}
        rated = rng.choice(n_items, rng.integers(1, min(15, n_items)), replace=False)
        judged[f"u{user:03}"] = {f"d{item:03}": int(rng.choice(grades)) for item in rated}
    lists |= {f"x{user}": {"d001": 1.0} for user in range(3)}
    return lists, judged


@pytest.fixture(scope="module")
def both():
    return queries()


def ours_of(lists, judged, metrics, protocol=None):
    measured = measure(lists, judged, metrics, protocol=protocol)
    users = measured.per_user.set_index("user_id")
    assert users.index.tolist() == sorted(judged)
    return measured, users.fillna(0)


def theirs_of(measures, lists, judged):
    import ir_measures

    parsed = {ir_measures.parse_measure(text): text for text in measures}
    users = pd.DataFrame(
        [
            (result.query_id, parsed[result.measure], result.value)
            for result in ir_measures.iter_calc(list(parsed), judged, lists)
        ],
        columns=["user", "measure", "value"],
    )
    means = ir_measures.calc_aggregate(list(parsed), judged, lists)
    return {text: means[measure_] for measure_, text in parsed.items()}, users


IR_MEASURES = {
    **{f"P@{n}": f"P@{n}" for n in (1, 5, 20)},
    **{f"R@{n}": f"R@{n}" for n in (1, 5, 20)},
    **{f"nDCG(linear)@{n}": f"nDCG@{n}" for n in (1, 5, 20)},
    **{f"AP@{n}": f"AP@{n}" for n in (5, 20)},
    "HR@5": "Success@5",
    "nDCG(linear)": "nDCG",
    "AP": "AP",
    "RR": "RR",
    "RR@5": "RR@5",
    "bpref": "Bpref",
}


@pytest.mark.parametrize("grades", [(0, 1, 2, 3), (0, 1)])
def test_ir_measures_agrees(grades):
    lists, judged = queries(grades=grades)
    measured, users = ours_of(lists, judged, tuple(IR_MEASURES))
    means, theirs = theirs_of(IR_MEASURES.values(), lists, judged)
    by_measure = theirs.pivot(index="user", columns="measure", values="value")
    assert by_measure.index.tolist() == sorted(judged)  # it adds those who are not in the run
    for name, text in IR_MEASURES.items():
        np.testing.assert_allclose(users[name], by_measure[text], rtol=0, atol=1e-12)
        assert measured[name].value == pytest.approx(means[text], abs=1e-12)


def test_ir_measures_agrees_on_another_threshold(both):
    names = {"P@5": "P(rel=2)@5", "AP": "AP(rel=2)", "RR": "RR(rel=2)", "bpref": "Bpref(rel=2)"}
    measured, _ = ours_of(*both, tuple(names), protocol="AI-AN-AR rel>=2")
    means, _ = theirs_of(names.values(), *both)
    for name, text in names.items():
        assert measured[name].value == pytest.approx(means[text], abs=1e-12)


def test_pytrec_eval_agrees_user_by_user(both):
    import pytrec_eval

    lists, judged = both
    names = {"P@5": "P_5", "R@20": "recall_20", "AP": "map", "RR": "recip_rank", "bpref": "bpref"}
    names |= {"nDCG(linear)@5": "ndcg_cut_5", "nDCG(linear)": "ndcg"}
    evaluator = pytrec_eval.RelevanceEvaluator(
        judged, {"P.5", "recall.20", "map", "recip_rank", "bpref", "ndcg_cut.5", "ndcg"}
    )
    theirs = pd.DataFrame(evaluator.evaluate(lists)).T.sort_index()
    measured, users = ours_of(lists, judged, tuple(names))
    there = [user for user in judged if user in lists]
    assert theirs.index.tolist() == sorted(there)
    for name, text in names.items():
        np.testing.assert_allclose(users.loc[there, name], theirs[text], rtol=0, atol=1e-12)
        # It is silent on users who are not in the run: their mean is over others (no -c).
        assert (users[name].drop(there) == 0).all()
        expected = theirs[text].sum() / len(judged)
        assert measured[name].value == pytest.approx(expected, abs=1e-12)
        assert measured[name].value < theirs[text].mean()


RANX = """
import json, sys
import ranx
judged, lists, names = json.load(sys.stdin)
scores = ranx.evaluate(
    ranx.Qrels(judged), ranx.Run(lists), names, return_mean=False, make_comparable=True
)
json.dump([scores[name].tolist() for name in names], sys.stdout)
"""


def of_ranx(lists, judged, names):
    """In a process of its own without compilation, which takes ranx a minute."""
    answer = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", RANX],
        input=json.dumps([judged, lists, names]),
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(zip(names, json.loads(answer.stdout), strict=True))


@pytest.mark.slow
def test_ranx_agrees_and_where_it_does_not(both):
    lists, judged = both
    names = {"P@5": "precision@5", "R@5": "recall@5", "AP": "map", "AP@5": "map@5", "RR": "mrr"}
    names |= {"RR@5": "mrr@5", "nDCG(linear)@5": "ndcg@5", "nDCG(linear)": "ndcg"}
    # The gain 2^r - 1 of Burges is called ranksys here, from the threshold 1 on.
    names |= {"nDCG(ranksys)@5": "ndcg_burges@5", "nDCG(ranksys)": "ndcg_burges"}
    other = {"bpref": "bpref", "RBP(0.8)": "rbp.80"}
    theirs = of_ranx(lists, judged, [*names.values(), *other.values()])
    graded = "RBP(0.8,linear)"
    _, users = ours_of(lists, judged, (*names, *other, graded))
    for name, text in names.items():
        np.testing.assert_allclose(users[name], theirs[text], rtol=0, atol=1e-12)
    # Its RBP takes the grade as the gain, and lets it pass 1.
    np.testing.assert_allclose(users[graded], theirs["rbp.80"], rtol=0, atol=1e-12)
    assert np.abs(users["RBP(0.8)"] - theirs["rbp.80"]).max() > 0.1
    # Its bpref is undefined without a judged non-relevant item, where here and in trec_eval the
    # relevant items that were returned count.
    judged_by = [list(judged[user].values()) for user in sorted(judged)]
    n_relevant = np.array([sum(grade > 0 for grade in grades) for grades in judged_by])
    n_others = np.array([sum(grade == 0 for grade in grades) for grades in judged_by])
    alike = (n_relevant > 0) & (n_others > 0)
    values = np.array(theirs["bpref"], dtype=np.float64)
    np.testing.assert_allclose(users["bpref"][alike], values[alike], rtol=0, atol=1e-12)
    returned = np.array([
        any(judged[user].get(item, 0) > 0 for item in lists.get(user, {}))
        for user in sorted(judged)
    ])  # fmt: skip
    assert np.isnan(values[(n_others == 0) & returned]).all()
    assert (users["bpref"][(n_others == 0) & returned] > 0).all()


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.sampled_from([(0, 1), (0, 1, 2, 3), (1,), (0, 2)]))
def test_ir_measures_agrees_on_any_run(seed, grades):
    lists, judged = queries(n_users=5, n_items=9, grades=grades, seed=seed)
    names = ("P@5", "R@5", "nDCG(linear)@5", "AP", "RR", "bpref")
    measured = measure(lists, judged, names)
    means, _ = theirs_of([IR_MEASURES[name] for name in names], lists, judged)
    for name in names:
        assert measured[name].value == pytest.approx(means[IR_MEASURES[name]], abs=1e-12)


# ---- conventions that differ


def test_judged_divides_by_the_cutoff_and_ir_measures_by_the_shorter_list(both):
    lists, judged = both
    _, users = ours_of(lists, judged, ("judged@5",))
    _, theirs = theirs_of(["Judged@5"], lists, judged)
    theirs = theirs.set_index("user")["value"]
    lengths = pd.Series({user: min(5, len(lists.get(user, {}))) for user in judged})
    listed = lengths[lengths > 0].index
    np.testing.assert_allclose(
        users.loc[listed, "judged@5"] * 5 / lengths[listed], theirs[listed], rtol=0, atol=1e-12
    )
    assert (lengths[listed] < 5).any()
    assert (users.loc[listed, "judged@5"] < theirs[listed]).any()


def test_ties_are_in_a_seeded_order_and_in_trec_eval_by_document():
    judged, lists = {"a": {"d1": 1}}, {"a": {"d1": 1.0, "d2": 1.0, "d3": 1.0}}
    means, _ = theirs_of(["RR"], lists, judged)
    assert means["RR"] == 1 / 3  # the later name first
    values = {round(measure(lists, judged, "RR", seed=seed)["RR"].value, 6) for seed in range(20)}
    assert values == {1.0, 0.5, round(1 / 3, 6)}
    # The order of rows, and other users of the run, do not move it.
    again = {"b": {"d9": 1.0}, "a": {"d3": 1.0, "d2": 1.0, "d1": 1.0}}
    for seed in range(5):
        first, second = (measure(form, judged, "RR", seed=seed) for form in (lists, again))
        assert first["RR"].value == second["RR"].value


def test_scores_are_exact_and_in_trec_eval_of_32_bits():
    judged, lists = {"a": {"d2": 1}}, {"a": {"d1": 1.0 + 1e-12, "d2": 1.0}}
    assert measure(lists, judged, "RR")["RR"].value == 0.5
    means, _ = theirs_of(["RR"], lists, judged)
    assert means["RR"] == 1
    numbers = pd.DataFrame({"user_id": "a", "item_id": ["d1", "d2"], "score": [2**60 + 1, 2**60]})
    for seed in range(8):
        assert measure(numbers, judged, "RR", seed=seed)["RR"].value == 0.5


def test_a_threshold_cuts_gains_here_and_not_in_ir_measures():
    judged, lists = {"a": {"d1": 1, "d2": 2}}, {"a": {"d1": 2.0, "d2": 1.0}}
    ours = measure(lists, judged, "nDCG(linear)@2", protocol="AI-AN-AR rel>=2")
    assert ours["nDCG(linear)@2"].value == pytest.approx(1 / np.log2(3))
    means, _ = theirs_of(["nDCG@2"], lists, judged)
    assert means["nDCG@2"] == pytest.approx((1 + 2 / np.log2(3)) / (2 + 1 / np.log2(3)))


def test_a_negative_judgment_is_not_relevant_and_in_trec_eval_not_judged():
    lists = {"a": {"d1": 4.0, "d2": 3.0, "d3": 2.0}}
    judged = {"a": {"d1": -1, "d2": 1, "d4": 0}}
    means, _ = theirs_of(["Bpref", "infAP"], lists, judged)
    assert measure(lists, judged, "bpref")["bpref"].value == 0
    assert means["Bpref"] == 1
    # Without it, both take what is above to be unjudged; infAP's pool is named here.
    del judged["a"]["d1"]
    assert measure(lists, judged, "bpref")["bpref"].value == 1
    pooled = measure(lists, judged, "infAP(pool=1)")["infAP(pool=1)"].value
    assert pooled == pytest.approx(means["infAP"], abs=1e-9)


def test_exponential_gains_of_ccm20_are_not_those_of_burges():
    judged, lists = {"a": {"d1": 1, "d2": 2}}, {"a": {"d1": 2.0}}
    assert measure(lists, judged, "nDCG(exp)@2")["nDCG(exp)@2"].value == 0  # 2^(1-1) - 1
    burges = measure(lists, judged, "nDCG(ranksys)@2")["nDCG(ranksys)@2"].value
    assert burges == pytest.approx(1 / (3 + 1 / np.log2(3)))


# ---- forms of runs and judgments


def test_all_forms_of_a_run_and_of_judgments_are_one(both, tmp_path):
    lists, judged = both
    metrics = ("P@5", "AP", "nDCG(linear)@5")
    expected = measure(lists, judged, metrics)
    scores = [(user, item, s) for user, of in lists.items() for item, s in of.items()]
    grades = [(user, item, g) for user, of in judged.items() for item, g in of.items()]
    (tmp_path / "qrels.txt").write_text(
        "".join(f"{user} 0 {item} {grade}\n" for user, item, grade in grades)
    )
    for name in ("run.trec", "bm25.res", "run.txt"):
        (tmp_path / name).write_text(
            "".join(f"{user} Q0 {item} 0 {score!r} me\n" for user, item, score in scores)
        )
    ranks = pd.DataFrame(scores, columns=["user", "item", "score"])
    ranks["rank"] = ranks.groupby("user")["score"].rank(ascending=False).astype(int)
    pd.DataFrame(grades, columns=["userId", "itemId", "rating"]).to_csv(
        tmp_path / "judged.csv", index=False
    )
    terrier = pd.DataFrame(scores, columns=["qid", "docno", "score"]).assign(
        docid=7, query="text", rank=0
    )
    terrier["rank"] = terrier.groupby("qid")["score"].rank(ascending=False).astype(int) - 1
    runs = [
        pd.DataFrame(scores, columns=["user_id", "item_id", "score"]),
        pd.DataFrame(scores, columns=["query_id", "doc_id", "score"]).sample(frac=1),
        pd.DataFrame(scores, columns=["q_id", "doc_id", "score"]),
        terrier,
        ranks[["user", "item", "rank"]],
        *(tmp_path / name for name in ("run.trec", "bm25.res", "run.txt")),
        str(tmp_path / "run.trec"),
    ]
    truths = [
        pd.DataFrame(grades, columns=["user_id", "item_id", "rating"]),
        pd.DataFrame(grades, columns=["query_id", "doc_id", "relevance"]).assign(iteration="0"),
        pd.DataFrame(grades, columns=["qid", "docno", "label"]).sample(frac=1),
        pd.DataFrame(grades, columns=["q_id", "doc_id", "score"]),
        tmp_path / "qrels.txt",
        tmp_path / "judged.csv",
    ]
    pairs = [(form, judged) for form in runs] + [(lists, form) for form in truths]
    for form, truth in pairs:
        other = measure(form, truth, metrics)
        pd.testing.assert_frame_equal(other.values, expected.values, check_exact=True)
        pd.testing.assert_frame_equal(other.per_user, expected.per_user, check_exact=True)
        assert other.about == expected.about


def test_ids_are_those_of_the_judgments_whatever_their_type():
    judged = {1: {7: 1}, 2: {8: 1}}
    for lists in ({"1": {"7": 1}, "2": {"8": 1}}, {1.0: {7.0: 1}, 2.0: {8.0: 1}}):
        measured = measure(lists, judged, "P@1")
        assert measured["P@1"].value == 1
        assert measured.per_user["user_id"].tolist() == [1, 2]


def test_who_counts_is_said():
    judged = {"a": {"x": 1}, "b": {"x": 1}, "c": {"x": 0}}
    measured = measure({"a": {"x": 1.0}, "z": {"x": 1.0}}, judged, ["P@1", "RR"])
    assert measured.about == (
        "3 users with judgments, of whom 2 are not in the run and count with 0; "
        "1 of the run without judgments left out"
    )
    assert measured["P@1"].value == measured["RR"].value == 1 / 3
    assert measured.per_user["P@1"].tolist() == [1, 0, 0]
    assert measured.per_user["RR"].tolist()[:2] == [1, 0]
    assert np.isnan(measured.per_user["RR"][2])  # without a relevant item: 0 in the mean
    relevant = measure({"a": {"x": 1.0}}, judged, "RR", protocol="AI-AN-AR rel>=1 users=relevant")
    assert relevant["RR"].value == 1 / 2
    assert relevant.per_user["user_id"].tolist() == ["a", "b"]


def test_judgments_of_one_grade_keep_it():
    with pytest.raises(ConfigError, match="no rating of judgments is that high; its scale is 0 to"):
        measure({"a": {"x": 1.0}}, {"a": {"x": 0, "y": 0}}, "P@1")
    protocol = "AI-AN-AR rel>=3"
    assert measure({"a": {"x": 1.0}}, {"a": {"x": 3}}, "P@1", protocol=protocol)["P@1"].value == 1


def test_condensed_lists_and_candidates_with_judgments():
    lists = {"a": {"u": 3.0, "v": 2.0, "w": 1.0}}
    judged = {"a": {"w": 1}, "b": {"v": 1}}
    for protocol, rank in (("AI-AN-AR rel>=1", 3), ("TI-AN-AR rel>=1", 2)):
        users = measure(lists, judged, "RR", protocol=protocol).per_user
        assert users["RR"].tolist() == [1 / rank, 0]
    protocol = "AI-AN-AR rel>=1 condensed"
    assert measure(lists, judged, "RR", protocol=protocol).per_user["RR"].tolist() == [1, 0]


def test_nothing_that_is_measured_by_judgments_knows_the_catalogue(both):
    """A run that lists further items, which nobody judged, for other users changes no value."""
    lists, judged = both
    metrics = []
    for declaration in declarations():
        if declaration.kind == "ranks" and "user" in declaration.per:
            examples = [f"{a.name}={a.examples[0]}" for a in declaration.arguments]
            name = declaration.name + f"({','.join(examples)})" * bool(examples)
            given_ = ",".join(
                one.name if one.flag else f"{one.name}={one.examples[0]}"
                for one in declaration.given
            )
            cutoff = "" if declaration.cutoff == "none" else "@5"
            metrics.append(parse_metric(name + cutoff + f"|{given_}" * bool(given_)))
    needs_catalogue = ["rho", "rho|N=1000", "P@5|N=1000", "SR(gamma=1)@5"]
    needs_catalogue += [str(metric) for metric in metrics if "ties" in dict(metric.given)]
    allowed = [metric for metric in metrics if str(metric) not in needs_catalogue]
    assert len(allowed) == len(metrics) - len(needs_catalogue)
    for text in needs_catalogue:
        with pytest.raises(ConfigError, match="which a run and judgments do not tell"):
            measure(lists, judged, text)
    further = {f"e{number}": 1.0 for number in range(500)}
    more = measure(lists | {"nobody": further}, judged, allowed)
    below = measure(lists, judged, allowed)
    pd.testing.assert_frame_equal(more.values, below.values, check_exact=True)


def test_it_prints_a_line_for_each_metric(both):
    measured = measure(*both, [P @ 10, AP, nDCG("linear") @ 10])
    lines = repr(measured).splitlines()
    assert len(lines) == 4
    assert lines[1].split()[0] == "P@10"
    assert all(" to " in line for line in lines[1:])
    assert isinstance(measured, Measurement)


# ---- broken input


class Silent:
    """Scores nothing; or what it is told to."""

    def __init__(self, scores):
        self.scores = scores

    def fit(self, train, *, rng=None):
        return self

    def score(self, users):
        return self.scores[: len(users)]


@pytest.fixture(scope="module")
def tiny():
    frame = pd.DataFrame({"user_id": [1, 1, 2, 2], "item_id": [5, 6, 5, 6], "rating": [5, 4, 2, 5]})
    return from_fold_labels(Ratings.from_frame(frame), np.array([1, 0, 1, 0]))[0]


LISTS, JUDGED = {1: {7: 0.5, 9: 0.4}, 2: {9: 0.1}}, {1: {7: 1, 8: 0}, 2: {7: 2}}


@pytest.mark.parametrize(
    ("lists", "judged", "options", "error", "message"),
    [
        (LISTS, JUDGED, {"metrics": []}, ConfigError, "metrics: got (), expected one or more"),
        (LISTS, JUDGED, {"metrics": {"a": "P@1"}}, ConfigError, "expected one or more"),
        (LISTS, JUDGED, {"metrics": ["P@3", P @ 3]}, ConfigError, "each once, got P@3, P@3"),
        (LISTS, JUDGED, {"metrics": P}, ConfigError, "metric P: it needs a cutoff"),
        (LISTS, JUDGED, {"metrics": "Q@3"}, ConfigError, "unknown metric 'Q'"),
        (LISTS, JUDGED, {"metrics": "ARP@3"}, ConfigError, "asks for training ratings"),
        (LISTS, JUDGED, {"metrics": "Gini@3"}, ConfigError, "measure on a Split"),
        (LISTS, JUDGED, {"metrics": "SR(gamma=1)@3"}, ConfigError, "asks for training ratings"),
        (LISTS, JUDGED, {"metrics": "rho"}, ConfigError, "for all items, which a run"),
        (LISTS, JUDGED, {"metrics": "P@3|N=2"}, ConfigError, "for all items, which a run"),
        (LISTS, JUDGED, {"metrics": "lower@3"}, ConfigError, "not defined for one target set"),
        *(
            (LISTS, JUDGED, {"protocol": text}, ConfigError, "which a run and judgments do not")
            for text in (
                *("AI-AN-1R rel>=1", "TI-NN-AR N=5 rel>=1", "AI-AN-AR +train rel>=1"),
                *(
                    f"AI-AN-AR rel>=1 {each}"
                    for each in ("users=trained", "users=trained<5", "unscored=random")
                ),
                "TI-AN-P1R m=5 rel>=1",
            )
        ),
        (LISTS, JUDGED, {"protocol": "AI-NA-AR rel>=1"}, ConfigError, "did you mean 'AI-AN-AR"),
        (LISTS, JUDGED, {"protocol": 5}, ConfigError, "a protocol is text"),
        (LISTS, JUDGED, {"protocol": "AI-AN-AR rel>=5"}, ConfigError, "no rating of judgments"),
        (LISTS, JUDGED, {"seed": -1}, ConfigError, "seed is -1"),
        ({}, JUDGED, {}, DataError, "run: no row"),
        (LISTS, {}, {}, DataError, "judgments: no judgment"),
        ({5: {7: 1.0}}, JUDGED, {}, DataError, "no user of the run has judgments"),
        ({1: {7: np.nan}}, JUDGED, {}, DataError, "run, row 0: user 1, item 7: 'nan' is no finite"),
        (LISTS, {1: {7: np.nan}}, {}, DataError, "has the value 'nan', expected a finite"),
        ({1: {7: 1, "7": 2}}, JUDGED, {}, DataError, "user 1, item 7: the pair is there twice"),
        (LISTS, pd.DataFrame({"user": [1, 1], "item": 7, "rating": 1}), {}, DataError, "again"),
        (LISTS, pd.DataFrame({"user": [1], "item": 7, "relevnce": 1}), {}, DataError, "no column"),
        (pd.DataFrame({"user": [1], "item": 7, "scor": 1}), JUDGED, {}, DataError, "no column"),
        (pd.DataFrame({"who": [1], "item": 7, "score": 1}), JUDGED, {}, DataError, "no user"),
        ("no.run", JUDGED, {}, MissingData, "no file no.run"),
        (LISTS, "no.qrels", {}, MissingData, "no file no.qrels"),
        (Popularity, JUDGED, {}, ConfigError, "got class Popularity, expected a fitted model"),
        (Popularity(), JUDGED, {}, ConfigError, "Popularity: it scores items by the numbers"),
        (5, JUDGED, {}, ConfigError, "system: got int, expected a fitted model"),
        ({1: 5}, JUDGED, {}, ConfigError, "system: got dict, expected a fitted model"),
        (LISTS, [1], {}, ConfigError, "test: got list, expected a Split, or judgments"),
    ],
)
def test_broken_input_is_refused(lists, judged, options, error, message):
    with pytest.raises(error) as raised:
        measure(lists, judged, **options)
    assert message in str(raised.value)
    assert str(raised.value).count("\n") <= 2


def test_broken_files_are_refused(tmp_path):
    for name, text, message in (
        ("a.trec", "1 Q0 7 1 0.5\n", "5 fields, expected user Q0 item rank score tag"),
        ("b.txt", "", "no row"),
        ("c.csv", "user_id,item_id,score\n1,7,x\n", "c.csv:2: user 1, item 7: 'x' is no finite"),
    ):
        (tmp_path / name).write_text(text)
        with pytest.raises(DataError) as raised:
            measure(tmp_path / name, JUDGED)
        assert message in str(raised.value)
    (tmp_path / "qrels").write_text("1 7 1\n")
    with pytest.raises(DataError, match="3 fields, expected user iteration item rating"):
        measure(LISTS, tmp_path / "qrels")


def test_broken_input_of_a_split_is_refused(tiny):
    scores = np.zeros((2, 2), dtype=np.float32)
    run_design, listed = {"protocol": "AI-AN-1R rel>=4"}, "AI-AN-AR rel>=4 condensed"
    unscored = {"protocol": "AI-NN-AR N=1 rel>=4 unscored=random"}
    for system, options, error, message in (
        (Silent(scores.astype(np.float64)), {}, ContractError, "expected float32 (2, 2)"),
        (Silent(scores[:, :1]), {}, ContractError, "expected float32 (2, 2)"),
        (Popularity(), {}, ContractError, "score before fit"),
        (Popularity, {}, ConfigError, "got class Popularity"),
        (System("p", "Popularity"), {}, ConfigError, "got System"),
        ({3: {5: 1.0}}, {}, DataError, "user 3, item 5: the data have no such user"),
        ({1: {9: 1.0}}, {}, DataError, "user 1, item 9: the data have no such item"),
        (Silent(scores), {"metrics": "P@10"}, ConfigError, "the cutoff is above the catalogue"),
        (Silent(scores), {"protocol": "AI-AN-AR rel>=9"}, ConfigError, "is that high"),
        (Silent(scores), run_design | {"metrics": "antiP@1"}, ConfigError, "runs"),
        (Silent(scores), {"protocol": listed, "metrics": "Gini@1"}, ConfigError, "property of"),
        (Silent(scores), unscored, ConfigError, "keeps no place"),
    ):
        with pytest.raises(error) as raised:
            measure(system, tiny, **({"metrics": "P@1"} | options))
        assert message in str(raised.value)
    trained = tiny.train.item_ids[tiny.train.item[0]]
    listed = pd.DataFrame({"user": [1], "item": [trained], "rank": [1]})
    with pytest.raises(DataError, match="a list with an item of the user's training ratings"):
        measure(listed, tiny, "P@1")
    with pytest.raises(ConfigError, match="not measured: P@2; there is P@1"):
        measure(Silent(scores), tiny, "P@1")["P@2"]


# ---- two runs, and a split of one's own


@pytest.fixture(scope="module")
def own_split():
    """Training and test ratings as frames, and two runs of items that are not in training."""
    rng = np.random.default_rng(4)
    rows = [(u, i, int(rng.integers(1, 6))) for u in range(25) for i in rng.permutation(40)[:14]]
    ratings = pd.DataFrame(rows, columns=["user_id", "item_id", "rating"])
    is_test = np.arange(len(ratings)) % 14 < 5
    train, test = ratings[~is_test], ratings[is_test]
    trained = set(zip(train["user_id"], train["item_id"], strict=True))
    pairs = [(u, i) for u in range(25) for i in range(40) if (u, i) not in trained]
    runs = [
        pd.DataFrame(pairs, columns=["user_id", "item_id"]).assign(score=rng.random(len(pairs)))
        for _ in range(2)
    ]
    return train, test, runs


def test_training_ratings_beside_the_test_make_a_split(own_split):
    train, test, (run_a, _) = own_split
    everything = pd.concat([train, test])
    ratings = Ratings.from_frame(everything)
    keys = pd.MultiIndex.from_frame(test[["user_id", "item_id"]].astype(str))
    labels = pd.MultiIndex.from_arrays(
        [ratings.user_ids[ratings.user].astype(str), ratings.item_ids[ratings.item].astype(str)]
    ).isin(keys)
    split = from_fold_labels(ratings, labels.astype(np.int64))[1]
    metrics = ("P@5", "ARP@5", "Gini@5", "Novelty@5")
    expected = measure(run_a, split, metrics, protocol="AI-AN-AR rel>=4")
    measured = measure(run_a, test, metrics, protocol="AI-AN-AR rel>=4", train=train)
    values = measured.values["value"].to_numpy()
    assert values.tolist() == expected.values["value"].tolist()
    counts = train.groupby("item_id").size()
    top = run_a.sort_values("score", ascending=False).groupby("user_id").head(5)
    assert values[1] == pytest.approx(counts.reindex(top["item_id"]).fillna(0).mean(), rel=1e-12)
    with pytest.raises(ConfigError, match="it asks for training ratings"):
        measure(run_a, test, metrics)
    with pytest.raises(DataError, match="a rating is one of training or one of the test"):
        measure(run_a, test, "P@5", train=pd.concat([train, test[:1]]))
    with pytest.raises(ConfigError, match="a Split has its own training ratings"):
        measure(run_a, split, "P@5", train=train)


def test_two_runs_are_compared_as_scipy_does(own_split):
    _, test, runs = own_split
    first, second = (measure(each, test, ("P@5", "RR")) for each in runs)
    both = [each.per_user["P@5"].fillna(0).to_numpy() for each in (first, second)]
    answer = first.difference(second, "P@5")
    assert answer.p == pytest.approx(scipy.stats.ttest_rel(*both).pvalue, rel=1e-9)
    assert answer.difference == pytest.approx(np.mean(both[0] - both[1]), abs=1e-15)
    assert repr(answer).startswith("P@5: first - second = ")
    back = second.difference(first, "P@5")
    assert (back.difference, back.p) == (-answer.difference, answer.p)
    signed = first.difference(second, "P@5", test="wilcoxon")
    assert (signed.test, signed.p) == ("signed ranks", float(wilcoxon(*both)))


def test_what_is_no_mean_over_users_is_compared_by_resampled_ones(own_split):
    train, test, runs = own_split
    first, second = (measure(each, test, "Gini@5", train=train) for each in runs)
    found = first.difference(second)
    gap = first["Gini@5"] - second["Gini@5"]
    assert (found.difference, (found.low, found.high)) == (gap.value, gap.interval)
    assert found.test == "resampled users"


def test_unlike_measurements_are_not_compared(own_split):
    _, test, (run_a, run_b) = own_split
    first = measure(run_a, test, ("P@5", "RR"))
    for other, named in (
        (measure(run_b, test, ("P@5", "RR"), protocol="AI-AN-AR rel>=4"), "protocol"),
        (measure(run_b, test, ("P@5", "RR"), seed=2), "seed"),
        (measure(run_b, test[test["user_id"] > 3], ("P@5", "RR")), "users"),
    ):
        with pytest.raises(ConfigError, match=f"unlike {named}"):
            first.difference(other, "P@5")
    with pytest.raises(ConfigError, match="of which metric"):
        first.difference(measure(run_b, test, ("P@5", "RR")))
    with pytest.raises(ConfigError, match="unknown test"):
        first.difference(measure(run_b, test, ("P@5", "RR")), "P@5", test="anova")


def test_lists_alone_have_a_diversity(own_split):
    _, test, (run_a, _) = own_split
    genres = pd.DataFrame({"item_id": range(40), "genre": [f"g{n % 3}" for n in range(40)]})
    measured = measure(run_a, test, ("ILD@5", "Diversity@5"), features=genres)
    top = run_a.sort_values("score", ascending=False).groupby("user_id").head(5)
    unlike = [
        np.mean([a % 3 != b % 3 for a, b in itertools.combinations(items, 2)])
        for items in top.groupby("user_id")["item_id"].apply(list)
    ]
    assert measured["ILD@5"].value == pytest.approx(np.mean(unlike), rel=1e-12)
    assert measured["Diversity@5"].value == top["item_id"].nunique()


def test_a_cutoff_below_all_lists_is_said_and_a_run_is_no_judgment(own_split):
    _, test, (run_a, _) = own_split
    short = run_a.sort_values("score", ascending=False).groupby("user_id").head(7)
    assert "no list has more than 7 items, fewer than P@8 asks" in measure(short, test, "P@8").about
    assert "no list" not in measure(short, test, "P@7").about
    with pytest.raises(DataError, match="are those of a run, which comes first"):
        measure(test, run_a.assign(rank=1), "P@5")


class _Held:
    """A run or judgments as ranx holds them."""

    def __init__(self, pairs):
        self.pairs = pairs

    def to_dict(self):
        return self.pairs


def test_what_other_tools_hold_is_taken(both):
    lists, judged = both
    expected = measure(lists, judged, ("AP", "RR"))
    scored = collections.namedtuple("ScoredDoc", ["query_id", "doc_id", "score"])
    qrel = collections.namedtuple("Qrel", ["query_id", "doc_id", "relevance"])
    tuples = [
        [kind(user, *pair) for user, of_user in side.items() for pair in of_user.items()]
        for kind, side in ((scored, lists), (qrel, judged))
    ]
    for run_, judgments in ((_Held(lists), _Held(judged)), tuples):
        measured = measure(run_, judgments, ("AP", "RR"))
        pd.testing.assert_frame_equal(measured.values, expected.values, check_exact=True)


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        ({"01": {"a": 1.0}, "1": {"b": 2.0}}, "01 and 1 both mean user 1"),
        ({"1": {"07": 1.0, "7": 2.0}}, "07 and 7 both mean item 7"),
    ],
)
def test_two_labels_that_mean_one_are_refused(lists, message):
    with pytest.raises(DataError, match=message):
        measure(lists, {"1": {"7": 1, "a": 1}}, "RR")
    first = next(iter(lists))
    alone = {first: dict([next(iter(lists[first].items()))])}
    assert len(measure(alone, {"1": {"7": 1, "a": 1}}, "RR").per_user) == 1


def test_users_without_runs_or_lists_have_no_value(one_fold):
    model = fitted(System("kNN", "UserKNN", {"n_neighbours": 5, "min_overlap": 6}), one_fold)
    runs = measure(model, one_fold, "P@5", protocol="TI-AN-1R rel>=5 users=all").per_user
    test = one_fold.test
    liked = np.isin(np.arange(test.n_users), test.user[test.value >= 5])
    with_value = runs.set_index("user_id")["P@5"].notna()
    assert with_value[~with_value].size == np.count_nonzero(~liked)
    assert with_value.to_numpy().sum() == np.count_nonzero(liked)
    reduced = measure(model, one_fold, "P@5", protocol="AI-AN-AR rel>=4 coverage=reduced")
    served = ~np.isnan(model.score(np.arange(test.n_users))).all(axis=1)
    assert 0 < len(reduced.per_user) == reduced.values["n_users"][0] < test.n_users
    assert set(reduced.per_user["user_id"]) <= set(test.user_ids[served])


def test_concentration_is_of_those_who_count(one_fold):
    """Of cold users alone: distinct items of their lists, counted by hand."""
    model, train = fitted(SYSTEMS[1], one_fold), one_fold.train
    design = "AI-AN-AR rel>=4 users=all,trained<20"
    measured = measure(model, one_fold, "Diversity@5", protocol=design, seed=5)
    cold = np.flatnonzero(train.user_counts() < 20)
    assert 0 < len(cold) < train.n_users
    scores = model.score(cold).astype(np.float64)
    for row, user in enumerate(cold.tolist()):
        scores[row, train.item[train.user == user]] = np.nan
    listed = set()
    for row in scores:
        known = np.flatnonzero(~np.isnan(row))
        listed |= set(known[np.argsort(-row[known], kind="stable")[:5]].tolist())
    assert measured["Diversity@5"].value == len(listed)
