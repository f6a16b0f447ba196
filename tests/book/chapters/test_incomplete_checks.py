"""Every check of metrics for incomplete judgments accepts sound input, and rejects its twins."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest

import golden
from rank_tables import user_table
from recbias import Grid
from recbias.book.chapters.overcoming_popularity_bias import incomplete as module
from recbias.book.chapters.overcoming_popularity_bias import ranked as ranks
from recbias.data.datasets import load_dataset
from recbias.metrics import measure, parse_metric
from recbias.metrics.incomplete import stratified_weights
from recbias.protocol.testset import dataset_splits
from recbias.ranking import RankTable
from recbias.recommenders import System

CUTOFF, SIZE, MIN_RATING, N_USERS, N_ITEMS = 3, 6, 4, 60, 20
OPTIONS = {"cutoff": CUTOFF, "size": SIZE}


def runs_of(lists):
    """1R runs of users with lists of items: every relevant item among all that are not."""
    rows = []
    for user, (items, judged) in enumerate(lists):
        liked = {item for item, rating in judged.items() if rating >= MIN_RATING}
        others = [item for item in items if item not in liked]
        for item in sorted(liked):
            above = items[: items.index(item)] if item in items else []
            rank = 1 + sum(other in others for other in above) if item in items else 0
            rows.append((user, item, judged[item], rank, min(rank, 1), N_ITEMS - len(liked) + 1))
    user, item, value, rank, condensed, sizes = np.array(rows, float).T
    whole = [each.astype(np.int32) for each in (user, item, rank, condensed, sizes)]
    user, item, rank, condensed, sizes = whole
    return RankTable("run", len(lists), user, item, value, rank, condensed, sizes, sizes)


def system(name, algorithm, seed, judged, *, covered=N_ITEMS, lead=()):
    """A system that ranks its first items in a random order, with some items in the lead."""
    rng = np.random.default_rng(seed)
    lists = []
    for own in judged:
        order = [item for item in rng.permutation(N_ITEMS).tolist() if item < covered]
        liked = [i for i in order if own.get(i, 0) >= MIN_RATING and rng.random() < 0.5]
        first = [i for i in order if i in lead or i in liked] if algorithm != "Random" else []
        lists.append((first + [i for i in order if i not in first], own))
    table = user_table(*lists)
    table = dataclasses.replace(table, n_targets=np.full(N_USERS, N_ITEMS, np.int32))
    return ranks.Ranked(System(name, algorithm), table, runs_of(lists), MIN_RATING)


@pytest.fixture(scope="module")
def sound():
    rng = np.random.default_rng(5)
    judged = []
    for _ in range(N_USERS):
        rated = np.flatnonzero(rng.random(N_ITEMS) < np.linspace(0.9, 0.1, N_ITEMS))
        judged.append({int(i): float(rng.integers(1, 6)) for i in rated})
    likes = np.array([sum(own.get(i, 0) >= MIN_RATING for own in judged) for i in range(N_ITEMS)])
    systems = [
        system("Random", "Random", 1, judged),
        system("Popularity", "Popularity", 2, judged, lead=(0, 1)),
        system("kNN", "UserKNN", 3, judged, covered=17),
        system("pLSA", "PLSA", 4, judged, covered=19),
    ]
    found = [ranks.measured_values(each, likes, **OPTIONS) for each in systems]
    return SimpleNamespace(
        ranked=systems,
        found=found,
        likes=likes,
        weights={gamma: stratified_weights(likes, gamma) for gamma in module.GAMMAS},
        non_relevant=np.array([sum(r < MIN_RATING for r in own.values()) for own in judged]),
        losses=[module.gap_losses(each, **OPTIONS) for each in systems[1:]],
    )


def alone(joint, runs=None):
    return ranks.Ranked(System("a", "PLSA"), joint, runs, MIN_RATING)


def named(checks):
    assert len({(check.claim, check.name) for check in checks}) == len(checks)
    return {check.name: check.worst for check in checks}


def preference(x, **changes):
    given = {n: changes.get(n, getattr(x, n)) for n in ("ranked", "found", "non_relevant")}
    return named(module.check_preference(**given))


def inferred(x, **changes):
    given = {n: changes.get(n, getattr(x, n)) for n in ("ranked", "found")}
    return named(module.check_inferred(**given))


def stratified(x, **changes):
    given = {n: changes.get(n, getattr(x, n)) for n in ("ranked", "found", "likes", "weights")}
    return named(module.check_stratified(**given, cutoff=CUTOFF))


def judged_runs(x, **changes):
    given = {n: changes.get(n, getattr(x, n)) for n in ("ranked", "found")}
    bpref = [values["runs bpref"] for values in given["found"]]
    of_data = module.check_judged_runs(given["ranked"], bpref)
    return named([*module.check_scored_runs(given["ranked"], bpref), *of_data])


def coverage(x, claim="BCC17-C-COV", **changes):
    given = {n: changes.get(n, getattr(x, n)) for n in ("ranked", "found", "losses")}
    checks = module.check_coverage(given["ranked"], given["found"])
    checks += module.check_gaps(given["ranked"], given["losses"])
    return named([check for check in checks if check.claim == claim])


def off(x, name, change=lambda values: values + 0.01):
    """What was measured, but for one metric of the second system."""
    first, second, *rest = x.found
    return [first, {**second, name: change(second[name])}, *rest]


# -- bpref -----------------------------------------------------------------------------------------


def test_bpref_is_the_capped_form(sound):
    found = preference(sound)
    assert found["capped"] < 1e-12
    assert found["negatives"] == 0
    assert found["smallest"] < 0
    assert found["printed"] > 0.5
    assert preference(sound, found=off(sound, "bpref"))["capped"] == pytest.approx(0.01)
    nobody = off(sound, "bpref", lambda values: np.full_like(values, np.nan))
    assert preference(sound, found=nobody)["capped"] == np.inf
    assert preference(sound, non_relevant=sound.non_relevant + 1)["negatives"] == N_USERS


def test_the_printed_bpref_differs_only_beyond_the_cap():
    """R = 1 and N = 3: three above give -2. With one above, and R = 3, both forms are the same."""
    lists = ([1, 2, 3, 4], {1: 1, 2: 1, 3: 1, 4: 5}), ([1, 5, 6, 7], {1: 1, 5: 5, 6: 5, 7: 5})
    for only, smallest, apart in ((lists[0], -2, 2), (lists[1], 0, 0)):
        table = user_table(only)
        (bpref,) = measure(table, [parse_metric("bpref")], min_rating=MIN_RATING)
        found = named(module.check_preference([alone(table)], [{"bpref": bpref}], np.array([3])))
        assert found["smallest"] == pytest.approx(smallest)
        assert found["printed"] == pytest.approx(apart)


# -- infAP -----------------------------------------------------------------------------------------


def test_infap_is_the_cited_form(sound):
    found = inferred(sound)
    assert found["counted"] < 1e-12
    assert found["all-judged"] <= 1e-5
    assert found["first-rank"] > 0
    assert min(found["printed"], found["itself"], found["pool"] + 1) > 0.01
    assert inferred(sound, found=off(sound, "infAP(pool=all)"))["counted"] == pytest.approx(0.01)
    assert inferred(sound, found=off(sound, "condensed AP"))["all-judged"] > 0.009
    assert inferred(sound, found=off(sound, "infAP(pool=100)"))["pool"] == pytest.approx(0.01)


def test_the_printed_infap_has_its_worked_value():
    """N R P R N R with P pooled: .569446 as cited, .722222 as printed."""
    table = user_table(([1, 2, 3, 4, 5, 6], {1: 1, 2: 5, 4: 5, 5: 1, 6: 5}))
    values = {text: np.array([0.569446]) for text in ("infAP(pool=all)", "infAP(pool=100)")}
    values |= {f"condensed {text}": np.array([0.5]) for text in ranks.CONDENSED}
    found = named(module.check_inferred([alone(table)], [values]))
    assert found["counted"] < 1e-6
    assert found["printed"] == pytest.approx(0.722222 - 0.569446, abs=2e-6)


def test_the_printed_infap_counts_the_item_itself():
    """R N R: 5/6 as cited. At rank 3 the printed form has (1 + 2 * 2/3)/3, and none at rank 1."""
    table = user_table(([9, 1, 2, 3], {1: 5, 2: 1, 3: 5}))
    values = {name: np.array([0.0]) for name in ("infAP(pool=100)", "condensed AP")}
    # 9 is unjudged: k = 2 with nothing known above, k = 4 with one of each kind
    cited = ((1 + 0.5) / 2 + (1 + 3 * 0.5) / 4) / 2
    values |= {"infAP(pool=all)": np.array([cited]), "condensed infAP(pool=all)": np.array([0.0])}
    found = named(module.check_inferred([alone(table)], [values]))
    printed = ((1 + 1) / 2 + (1 + 3 * 2 / 3) / 4) / 2
    assert found["counted"] == pytest.approx(0, abs=1e-12)
    assert found["printed"] == pytest.approx(printed - cited, abs=1e-12)
    assert found["itself"] == pytest.approx(printed - cited, abs=1e-5)
    assert found["first-rank"] == 0


# -- stratified recall -----------------------------------------------------------------------------


def test_stratified_recall_is_a_ratio_of_weights(sound):
    found = stratified(sound)
    assert max(found["ratio"], found["recall"], found["linear"]) < 1e-12
    head, table = np.argsort(-sound.likes, kind="stable")[:2], sound.ranked[0].joint  # of 20 items
    liked = table.item[table.value >= MIN_RATING]
    held = [
        weights[liked[np.isin(liked, head)]].sum() / weights[liked].sum()
        for weights in sound.weights.values()
    ]
    assert found["aggressive"] == pytest.approx(min(-np.diff(held)))
    assert found["aggressive"] > 0
    for name, text in (
        ("ratio", "SR(gamma=1)@n"),
        ("recall", "SR(gamma=0)@n"),
        ("recall", "R@n"),
        ("linear", "SR(gamma=inf)@n"),
        ("linear", ranks.LIMIT),
    ):
        assert stratified(sound, found=off(sound, text))[name] == pytest.approx(0.01)
    assert stratified(sound, likes=sound.likes + 1)["ratio"] > 1e-4
    same = dict(sound.weights) | {2: sound.weights[1]}
    assert stratified(sound, weights=same)["aggressive"] == 0
    turned = dict(zip(sound.weights, reversed(sound.weights.values()), strict=True))
    assert stratified(sound, weights=turned)["aggressive"] < 0


# -- runs and coverage -----------------------------------------------------------------------------


def test_a_run_has_a_bpref_of_1_where_its_item_has_a_score(sound):
    found = judged_runs(sound)
    assert found["scored-runs"] == 0
    assert found["all-runs"] == pytest.approx(
        np.mean(np.concatenate([each.runs.rank for each in sound.ranked]) == 0)
    )
    assert found["all-runs"] > 0
    assert judged_runs(sound, ranked=sound.ranked[:2], found=sound.found[:2])["all-runs"] == 0
    assert judged_runs(sound, found=off(sound, "runs bpref"))["scored-runs"] == pytest.approx(0.01)


def test_judged_runs_would_tell_systems_apart():
    """Above their liked items the one has none that is disliked, the other two in one of two."""
    judged = {1: 5, 2: 1, 3: 5, 4: 1}
    each = [
        alone(user_table((items, judged)), runs_of([(items, judged)]))
        for items in ([1, 3, 9, 2, 4], [1, 2, 4, 3, 9])
    ]
    found = named(module.check_judged_runs(each, [np.ones(2) for _ in each]))
    assert (found["kept"], found["all-runs"]) == (0.5, 0)


def test_bpref_without_dislikes_is_coverage(sound):
    for claim in ("BCC17-C-COV", "BCC17-F9-BPLFM"):
        found = coverage(sound, claim)
        assert found["coverage"] < 1e-12
        changed = off(sound, "positive bpref")
        assert coverage(sound, claim, found=changed)["coverage"] == pytest.approx(0.01)
    assert found["explained"] == 0
    assert found["baselines"] == 1
    assert coverage(sound, claim, found=changed)["explained"] == pytest.approx(0.01)
    some = system("Popularity", "Popularity", 2, judged_of(sound), covered=15)
    ranked = [sound.ranked[0], some, *sound.ranked[2:]]
    assert coverage(sound, claim, ranked=ranked)["baselines"] < 1


def judged_of(sound):
    table = sound.ranked[0].joint
    own = [{} for _ in range(N_USERS)]
    for user, item, value in zip(table.user, table.item, table.value, strict=True):
        own[user][int(item)] = float(value)
    return own


def test_a_missing_score_adds_nothing(sound):
    assert coverage(sound)["missed"] == 0
    some = [dict(each) for each in sound.found]
    some[2]["missed bpref"] = some[2]["missed bpref"] + 0.5
    assert coverage(sound, found=some)["missed"] == 0.5
    some = [dict(each) for each in sound.found]
    some[2]["runs P@n|t=T"] = some[2]["runs P@n|t=T"] + 0.1
    assert coverage(sound, found=some)["missed"] == pytest.approx(0.1)
    assert coverage(sound, found=off(sound, "runs P@n|t=T"))["missed"] == 0


def test_gaps_are_counted_among_collaborative_filters(sound):
    found = coverage(sound)  # kNN scores 17 of 20 items, pLSA 19
    assert (found["with-gaps"], found["median-missing"]) == (1, pytest.approx(0.1))
    tables = [
        dataclasses.replace(each.joint, n_scored=each.joint.n_targets - gaps)
        for each, gaps in zip(sound.ranked, (5, 5, 4, 0), strict=True)
    ]
    ranked = [
        dataclasses.replace(e, joint=table) for e, table in zip(sound.ranked, tables, strict=True)
    ]
    found = coverage(sound, ranked=ranked)
    assert (found["with-gaps"], found["median-missing"]) == (0.5, pytest.approx(0.1))
    losses = [(0.1, 0.2), (0.1, 0.05), (0.1, 0.4)]
    found = coverage(sound, losses=losses)
    assert found["gaps"] == pytest.approx(-0.05)
    assert found["median-gaps"] == pytest.approx(0.1)


def test_losses_are_those_of_scores_taken_away(sound):
    """Expected losses against 400 draws of gaps, within 4 standard errors (a chance of 1e-4)."""
    rng, each = np.random.default_rng(8), sound.ranked[1]
    joint, runs = each.joint, each.runs
    drawn = []
    liked = (joint.value >= MIN_RATING) & (joint.rank > 0)
    user, place = joint.user[liked], joint.rank[liked] - 1
    pool, above = runs.n_targets - 1, runs.rank - 1
    for _ in range(400):
        stays = rng.random((N_USERS, N_ITEMS)) < 0.8  # by place in the list
        kept = np.cumsum(stays, axis=1)
        sampled = rng.hypergeometric(above, pool - above, np.minimum(SIZE - 1, pool))
        hit = (rng.random(len(pool)) < 0.8) & (rng.binomial(sampled, 0.8) < CUTOFF)
        drawn.append((np.sum(stays[user, place] & (kept[user, place] <= CUTOFF)), hit.sum()))
    whole = (
        np.sum(place < CUTOFF),
        sound.found[1]["runs P@n|t=T"].sum() * CUTOFF,
    )
    kept = np.array(drawn) / whole
    error = kept.std(axis=0) / np.sqrt(len(kept))
    expected = 1 - np.array(module.gap_losses(each, **OPTIONS))
    assert (np.abs(kept.mean(axis=0) - expected) < 4 * error).all()
    assert (np.abs(kept.mean(axis=0) - expected - 0.02) > 4 * error).all()


def test_an_item_without_a_score_has_nothing_to_lose(sound):
    each = sound.ranked[2]
    scored = each.runs.rank > 0
    names = ("user", "item", "value", "rank", "condensed_rank", "n_targets", "n_scored")
    columns = {name: getattr(each.runs, name)[scored] for name in names}
    fewer = dataclasses.replace(each, runs=dataclasses.replace(each.runs, **columns))
    assert not scored.all()
    assert module.gap_losses(fewer, **OPTIONS) == pytest.approx(module.gap_losses(each, **OPTIONS))


# -- on data ---------------------------------------------------------------------------------------


def test_checks_of_a_data_set_are_those_of_its_ranks(tmp_path, monkeypatch):
    monkeypatch.setenv("RECBIAS_CELLS", str(tmp_path / "cells"))
    protocols = {"AR": "TI-AN-AR rel>=5", "1R": "TI-AN-1R rel>=5", "AI": "AI-AN-AR rel>=5"}
    systems = (
        System("Popularity", "Popularity"),
        System("kNN", "UserKNN", {"n_neighbours": 5}, n_seeds=2),
    )
    table = str(golden.small_table(tmp_path))
    grid = Grid(table, systems, protocols, ("rho",), split="k-fold 3")
    dataset = load_dataset(table)
    options = {"min_rating": 5, "cutoff": 10, "size": 100}
    checks = module.incomplete_identities(dataset, grid, **options)
    checks += module.incomplete_checks(dataset, grid, **options)
    found = {(check.claim[6:], check.name): check for check in checks}
    assert len(found) == len(checks)
    for name in (
        "EQ-BPREF capped", "EQ-BPREF negatives", "EQ-INFAP counted", "EQ-STRAT ratio",
        "EQ-STRAT recall", "EQ-STRAT linear", "C-COV coverage", "C-COV missed",
    ):  # fmt: skip
        assert found[tuple(name.split())].worst <= 1e-12
        assert found[tuple(name.split())].n_checked > 1
    first = dataset_splits(dataset, grid.split, seed=grid.seed)[0].test
    assert found["C-BP1R", "kept"].n_checked == 2 * np.sum(first.value >= 5)
    assert ranks.ranked_grid(grid).systems[1].n_seeds == 1
    assert list(ranks.ranked_grid(grid).parsed) == ["AR", "1R"]
