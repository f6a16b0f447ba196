"""Which metric to trust: what ratings say about the relation, and what follows from worlds."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import json
import math
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
import scipy.stats
from click.testing import CliRunner

from expressions_at import value_of
from recbias import trust
from recbias._system.places import packaged
from recbias.book.chapters import true_vs_false_positive_disagreement as chapter
from recbias.book.chapters.true_vs_false_positive_disagreement import figures_of_judgments, trusted
from recbias.book.systems.line_up import relevance_threshold
from recbias.claims.evidence import NotComputed
from recbias.cli.commands import main
from recbias.data.datasets import load_dataset
from recbias.data.ratings import Ratings
from recbias.data.simulation import PreferenceOptions, preference_world
from recbias.errors import ConfigError, DataError
from recbias.experiment import worlds as world_grids
from recbias.experiment.makers import Table
from recbias.experiment.results import Quantity
from recbias.protocol.testset import dataset_splits
from recbias.stats.agreement import kendall_tau
from recbias.trust import (
    Answer,
    Outcome,
    Relation,
    Shape,
    answer_from,
    fit_relation,
    world_outcomes,
)
from recbias.trust import answer as answer_module
from recbias.trust import relation as relation_module
from recbias.trust.known_truth import SPLIT

FALSE_ALARM = 1e-6
SMALL = "world(relation=-0.6,skew=0.5,users=200,items=150,density=0.08,seed=9)"


# -- the relation ------------------------------------------------------------------------------


def correlation(first: np.ndarray, second: np.ndarray) -> float:
    return float(np.corrcoef(first, second)[0, 1])


@pytest.mark.parametrize("seed", range(12))
def test_extreme_correlations_are_those_of_all_ways_to_shift(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores, logits = rng.normal(size=9), rng.normal(size=9)
    low, high = relation_module.extreme_correlations(scores, logits, 0.7)
    every = [
        correlation(scores, logits - 0.7 * np.array(shifts))
        for shifts in itertools.product((0, 1), repeat=9)
    ]
    assert correlation(scores, low) == pytest.approx(min(every), abs=0.035)
    assert correlation(scores, high) == pytest.approx(max(every), abs=0.035)
    for shifted in (low, high):  # a shift is nothing or all that is allowed
        assert np.isin((logits - shifted).round(12), (0, 0.7)).all()


def test_no_shift_in_between_is_more_extreme() -> None:
    rng = np.random.default_rng(5)
    scores, logits = rng.normal(size=300), rng.normal(size=300)
    low, high = relation_module.extreme_correlations(scores, logits, 0.5)
    for _ in range(500):
        found = correlation(scores, logits - 0.5 * rng.random(300))
        assert correlation(scores, low) < found < correlation(scores, high)


def selected(factor_of_popular: float, factor: float, seed: int = 1) -> tuple[Ratings, float]:
    """Draw ratings of items whose relation is known, where likes are likelier to be rated.

    Those who like one of the popular half of the items are `factor_of_popular` times as likely to
    rate it as others, those who like another item `factor` times. Returns the true relation too.
    """
    rng = np.random.default_rng(seed)
    n_users, n_items = 2000, 300
    z = rng.permutation(scipy.stats.norm.ppf((np.arange(n_items) + 0.5) / n_items))
    share = 1 / (1 + np.exp(-(0.6 * z + 0.8 * rng.normal(size=n_items))))
    g = np.where(z > 0, factor_of_popular, factor)
    liked = rng.random((n_users, n_items)) < share
    popularity = 0.03 * np.exp(z)  # of all ratings: divided so that selection moves no count
    base = popularity / (share * g + 1 - share)
    user, item = np.nonzero(rng.random(liked.shape) < np.where(liked, base * g, base))
    frame = pd.DataFrame({"user_id": user, "item_id": item, "rating": 1.0 + liked[user, item]})
    relation = scipy.stats.spearmanr(z, share).statistic
    return Ratings.from_frame(frame, name="selected"), float(relation)


def test_equal_selection_moves_no_relation_however_strong() -> None:
    for factor in (1.0, 4.0):
        ratings, relation = selected(factor, factor)
        found = fit_relation(ratings, 2)
        assert found.sampling[0] < relation < found.sampling[1]


def test_unequal_selection_moves_it_within_the_stated_bound() -> None:
    ratings, relation = selected(3.0, 1.0)
    found = fit_relation(ratings, 2, spread=3.0)
    assert relation < found.sampling[0]  # what would be said if selection were the same for all
    assert found.interval[0] < relation < found.interval[1]
    # A twin: a bound that selection does not keep to does not cover it.
    assert relation < fit_relation(ratings, 2, spread=1.1).interval[0]


def test_a_wider_bound_gives_a_wider_interval() -> None:
    ratings, _ = selected(1.0, 1.0)
    one, some, more = (fit_relation(ratings, 2, spread=spread).interval for spread in (1, 1.5, 3))
    assert more[0] < some[0] < one[0] < one[1] < some[1] < more[1]


def test_the_mode_does_not_hang_on_the_order_of_items() -> None:
    """Sums in another order round otherwise, as other processors do: a mode must not show it."""
    ratings = load_dataset(SMALL).ratings
    counts = ratings.item_counts()
    likes = np.bincount(ratings.item[ratings.value >= 4], minlength=ratings.n_items)
    scores = relation_module._normal_scores(counts)

    def mode(seed: int) -> np.ndarray:
        order = np.random.default_rng(seed).permutation(len(counts))
        return relation_module._fit(scores[order], counts[order], likes[order])[0]

    def spread() -> float:
        return float(np.ptp([mode(seed) for seed in range(4)], axis=0).max())

    assert spread() < 1e-10
    # A twin: where the search alone ends, which was the answer before.
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(relation_module, "_POLISHING_STEPS", 0)
        assert spread() > 1e-9


@pytest.mark.slow
def test_noise_of_few_ratings_is_seen_through() -> None:
    """In worlds without selection the sampling interval covers the relation as it promises."""
    covered, n_worlds = 0, 12
    for seed in range(n_worlds):
        relation = -0.9 + 1.8 * seed / (n_worlds - 1)
        options = PreferenceOptions(
            relation=relation,
            users=250,
            items=300,
            density=0.04,
            choice=0,
            skew=0.5,
            seed=50 + seed,
        )
        low, high = fit_relation(preference_world(options).ratings, 4).sampling
        # 0.01 is what a world may miss its relation by
        covered += low - 0.01 <= relation <= high + 0.01
    least = int(scipy.stats.binom.ppf(FALSE_ALARM, n_worlds, 0.93))
    assert covered >= least
    # A twin: the correlation of raw shares misses most of them.
    missed = 0
    for seed in range(4):
        relation = (-0.9, -0.7, 0.7, 0.9)[seed]
        options = PreferenceOptions(
            relation=relation,
            users=250,
            items=300,
            density=0.02,
            choice=0,
            skew=0.5,
            seed=80 + seed,
        )
        ratings = preference_world(options).ratings
        counts = ratings.item_counts()
        likes = np.bincount(ratings.item[ratings.value >= 4], minlength=ratings.n_items)
        rated = counts > 0
        raw = scipy.stats.spearmanr(counts[rated], likes[rated] / counts[rated]).statistic
        missed += abs(raw) < abs(relation) - 0.1
    assert missed >= 3


def test_noise_of_the_counts_weakens_no_relation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Six ratings per item tell little of how popular it is; likes relate to what it is."""
    rng = np.random.default_rng(4)
    off, uncorrected = [], []
    for _ in range(6):
        z, noise = rng.normal(size=(2, 500))
        share = 1 / (1 + np.exp(-(z + 0.8 * noise)))
        counts = rng.poisson(6 * np.exp(0.4 * z))
        item = np.repeat(np.arange(500), counts)
        stars = 1.0 + (rng.random(len(item)) < share[item])
        user = rng.permutation(len(item))
        frame = pd.DataFrame({"user_id": user, "item_id": item, "rating": stars})
        ratings = Ratings.from_frame(frame, name="few")
        relation = scipy.stats.spearmanr(z, share).statistic
        off.append(fit_relation(ratings, 2, spread=1).estimate - relation)
        with monkeypatch.context() as twin:
            twin.setattr(relation_module, "_reliability", lambda _: 1.0)
            uncorrected.append(fit_relation(ratings, 2, spread=1).estimate - relation)
    error = np.std(off, ddof=1) / np.sqrt(len(off))
    assert abs(np.mean(off)) < 0.03 + 4 * error
    assert np.mean(uncorrected) < -0.03 - 4 * error


def ratings_of(rated: npt.NDArray[np.bool_]) -> Ratings:
    """Rate the chosen pairs of a user and an item, 1 and 2 in turns."""
    users, items = np.nonzero(rated)
    value = 1.0 + (users + items) % 2
    return Ratings.from_frame(pd.DataFrame({"user_id": users, "item_id": items, "rating": value}))


def test_ratings_that_tell_nothing_are_refused() -> None:
    ratings, _ = selected(1.0, 1.0)
    with pytest.raises(DataError, match="all of the ratings are 1 or more"):
        fit_relation(ratings, 1)
    with pytest.raises(DataError, match="none of the ratings are 3 or more"):
        fit_relation(ratings, 3)
    with pytest.raises(DataError, match="too few to relate popularity to liking"):
        fit_relation(ratings.take(ratings.item < 20), 2)
    with warnings.catch_warnings(action="error"):
        full = ratings_of(np.ones((30, 40), dtype=bool))
        with pytest.raises(DataError, match="no item is more popular than another"):
            fit_relation(full, 2)
    for spread in (0.9, math.inf, math.nan):
        with pytest.raises(ConfigError, match="expected a number from 1"):
            fit_relation(ratings, 2, spread=spread)


# -- what happens in a world -------------------------------------------------------------------


def test_an_outcome_is_what_plain_loops_find() -> None:
    dataset = load_dataset(SMALL)
    (found,) = world_outcomes([SMALL], 4)
    assert found is not None
    fold = dataset_splits(dataset, SPLIT, seed=1)[0]
    systems = trust.compared_systems(4)
    place = [system.name for system in systems].index("Average rating")
    scores = systems[place].build().fit(fold.train).score(np.arange(fold.train.n_users))
    stars = dataset.truth.true_rating(np.arange(fold.train.n_users))
    given = {
        (u, i): v for u, i, v in zip(fold.test.user, fold.test.item, fold.test.value, strict=True)
    }
    known = set(zip(fold.train.user.tolist(), fold.train.item.tolist(), strict=True))
    tested = set(fold.test.user.tolist())
    likes = dislikes = truly = 0
    for user in range(fold.train.n_users):
        open_items = [
            i for i in range(fold.train.n_items)
            if (user, i) not in known and not np.isnan(scores[user, i])
        ]  # fmt: skip
        top = sorted(open_items, key=lambda i: -scores[user, i])[:10]
        truly += sum(stars[user, i] >= 4 for i in top)
        if user in tested:
            likes += sum(given.get((user, i), 0) >= 4 for i in top)
            dislikes += sum(0 < given.get((user, i), 0) < 4 for i in top)
    # Ties are drawn there and in the order of the items here: a few places of a list.
    assert found.precision[place] == pytest.approx(likes / (10 * len(tested)), abs=0.003)
    assert found.anti_precision[place] == pytest.approx(dislikes / (10 * len(tested)), abs=0.003)
    assert found.true[place] == pytest.approx(truly / (10 * fold.train.n_users), abs=0.01)


def planted(tau_wanted: str, relation: float = 0.0) -> Outcome:
    """Make an outcome in which one metric, or neither, orders ten systems as the truth does."""
    true = np.arange(10) / 10
    turned = true[::-1]
    precision = true if tau_wanted in ("P", "either") else turned
    anti = -true if tau_wanted in ("antiP", "either") else true
    name = str(PreferenceOptions(relation=relation))
    return Outcome(name, tuple(precision), tuple(anti), tuple(true))


def test_less_of_antip_is_better_and_a_margin_decides() -> None:
    assert planted("antiP").tau_anti_precision == 1
    assert planted("antiP").tau_precision == -1
    assert [planted(name).better for name in ("P", "antiP", "either")] == ["P", "antiP", "either"]
    # P has two of ten systems the wrong way round; antiP has three pairs wrong: .1 is 2.25 pairs.
    true = np.arange(10.0)
    one, three, four = (true.copy() for _ in range(3))
    one[[0, 1]] = one[[1, 0]]
    three[[0, 1, 2, 3, 4, 5]] = three[[1, 0, 3, 2, 5, 4]]
    four[[0, 1, 2, 3, 4, 5, 6, 7]] = four[[1, 0, 3, 2, 5, 4, 7, 6]]
    assert kendall_tau(one, true) - kendall_tau(three, true) < 0.1
    assert Outcome("w", tuple(one), tuple(-three), tuple(true)).better == "either"
    assert Outcome("w", tuple(one), tuple(-four), tuple(true)).better == "P"
    assert Outcome("w", tuple(four), tuple(-one), tuple(true)).better == "antiP"


def test_there_are_outcomes_in_worlds_only() -> None:
    with pytest.raises(ConfigError, match="ml-100k"):
        world_outcomes(["ml-100k"], 4)
    assert world_outcomes(["world(relation=0.5,skew=0,users=200,items=150)"], 4) == [None]


@pytest.mark.slow
def test_outcomes_are_kept_and_do_not_depend_on_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    impossible = "world(relation=0.5,skew=0,users=200,items=150)"
    names = [SMALL, SMALL.replace("seed=9", "seed=10"), impossible]
    monkeypatch.setenv("RECBIAS_CELLS", str(tmp_path / "one"))
    found = world_outcomes(names, 4)
    assert found[2] is None
    monkeypatch.setenv("RECBIAS_CELLS", str(tmp_path / "two"))
    assert world_outcomes(names, 4, workers=2) == found

    def trained_again(*_: object, **__: object) -> None:
        raise AssertionError("was kept")

    monkeypatch.setattr(world_grids, "_measure_cell", trained_again)
    assert world_outcomes(names, 4) == found
    with pytest.raises(AssertionError, match="was kept"):  # another question
        world_outcomes(names[:1], 3)


# -- the answer --------------------------------------------------------------------------------

RELATION = Relation(0.1, (0.0, 0.2), (-0.2, 0.4), 1.5, 100)


@pytest.mark.parametrize(
    ("right", "wrong", "answer"),
    [("P", 1, "P"), ("P", 2, "cannot tell"), ("antiP", 1, "antiP"), ("either", 1, "either")],
)
def test_a_metric_is_named_from_95_percent_on(right: str, wrong: int, answer: str) -> None:
    other = "antiP" if right == "P" else "P"
    worlds = [planted(right)] * (20 - wrong) + [planted(other)] * wrong
    found = answer_from("mine", RELATION, worlds)
    assert found.metric == answer
    assert found.shares[right] == (20 - wrong) / 20
    said = str(found)
    assert f"{right} in {(20 - wrong) / 20:.0%}" in said or right == "either"
    assert "-0.20 to +0.40" in said
    assert "factor of at most 1.5" in said
    assert found.to_dict()["answer"] == answer


def test_too_few_worlds_give_no_answer() -> None:
    with pytest.raises(DataError, match="only 19 worlds are like these ratings"):
        answer_from("mine", RELATION, [planted("P")] * 19 + [None])
    ratings, _ = selected(1.0, 1.0)
    with pytest.raises(ConfigError, match="worlds 19: expected 20 to 10000"):
        trust.which_metric(ratings, 2, n_worlds=19)
    with pytest.raises(ConfigError, match="worlds 1000000000: expected"):
        trust.which_metric(ratings, 2, n_worlds=10**9)


def test_shared_worlds_are_those_that_are_compatible_or_the_nearest() -> None:
    inside = [planted("P", 0.4)] * 12 + [planted("P", -0.2)] * 12
    outside = [planted("antiP", 0.41), planted("antiP", -0.3), None]
    assert trusted._compatible(outside + inside, RELATION) == inside
    few = trusted._compatible(outside + inside[:19] + [planted("either", 0.9)], RELATION)
    assert few == [*inside[:19], outside[0]]


def test_matched_worlds_have_the_shape_of_the_data() -> None:
    options = PreferenceOptions(
        relation=0.2, users=300, items=350, density=0.05, skew=0.5, liked=3, seed=3
    )
    shape = Shape.of(preference_world(options).ratings, 3)
    assert (shape.users, shape.items, shape.liked) == (300, 350, 3)
    assert shape.density == pytest.approx(0.05, abs=0.002)
    assert shape.skew == pytest.approx(0.5, abs=0.035)
    names = shape.worlds((-0.1, 0.5), 4, strength=1, seed=2)
    worlds = [load_dataset(name) for name in names]
    assert [name.split(",")[0] for name in names] == [
        "world(relation=-0.025", "world(relation=0.125", "world(relation=0.275",
        "world(relation=0.425",
    ]  # fmt: skip
    assert all("choice=0" in name for name in names)
    assert worlds[0].ratings.density == pytest.approx(shape.density, rel=0.1)
    assert shape.worlds((-0.1, 0.5), 4, seed=3)[0] not in names


def test_noise_of_few_ratings_is_no_skew() -> None:
    options = PreferenceOptions(relation=0.2, users=300, items=350, density=0.02, skew=0.2)
    ratings = [preference_world(dataclasses.replace(options, seed=n)).ratings for n in (3, 4, 5)]
    skews = [Shape.of(each, 4).skew for each in ratings]
    observed = []
    for each in ratings:
        counts = each.item_counts().tolist()
        apart = sum(abs(one - other) for one in counts for other in counts)
        observed.append(apart / (2 * len(counts) * sum(counts)))
    assert np.mean(skews) == pytest.approx(0.2, abs=0.04)
    assert np.mean(observed) > 0.25  # a twin: what is read off the counts


@pytest.mark.slow
def test_selection_in_matched_worlds_is_as_strong_as_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Drawn evenly up to the strength that is assumed, by the function that readers call."""
    named: list[str] = []

    def outcomes(names: list[str], *_: object, **__: object) -> list[Outcome]:
        named[:] = names
        return [planted("P")] * len(names)

    monkeypatch.setattr(answer_module, "world_outcomes", outcomes)
    ratings = load_dataset(SMALL).ratings
    for strength in (1.0, 1.9, 4.3):
        trust.which_metric(ratings, 4, n_worlds=200, strength=strength)
        most = {1.0: 0.0, 1.9: 0.6, 4.3: 1.5}[strength]
        choices = [float(name.split("choice=")[1].split(",")[0].rstrip(")")) for name in named]
        assert all(0 <= choice <= most for choice in choices)
        # The mean of 200 even draws has a standard error of most / 49.
        assert np.mean(choices) == pytest.approx(most / 2, abs=5 * most / 49)
        assert len(set(choices)) == 1 if strength == 1 else len(set(choices)) > 30


def test_large_and_very_skewed_data_get_worlds_that_can_be_made() -> None:
    frame = pd.DataFrame(
        {
            "user_id": np.arange(4000),
            "item_id": np.arange(4000) // 40,
            "rating": np.arange(4000) % 5 + 1,
        }
    )
    head = pd.DataFrame({"user_id": np.arange(3999), "item_id": 100, "rating": 5})
    shape = Shape.of(Ratings.from_frame(pd.concat([frame, head]), name="large"), 4)
    assert shape.users * shape.items <= 943 * 1682
    assert preference_world(shape._options(0.0, 0.0, 1)).ratings.n_users == shape.users
    with pytest.raises(ConfigError):  # a twin: what was observed cannot be
        preference_world(dataclasses.replace(shape, skew=0.98)._options(0.0, 0.0, 1))


def test_strengths_are_those_of_worlds() -> None:
    """Measured by the chances of all pairs: the factor of the median item, over three worlds."""
    for strength in (1.9, 2.8, 4.3):
        found = []
        for relation, seed in ((-0.7, 1), (0.0, 2), (0.7, 3)):
            options = PreferenceOptions(
                relation=relation, users=300, items=400, density=0.05, skew=0.5,
                choice=trust.choice_of(strength), seed=seed,
            )  # fmt: skip
            world = preference_world(options)
            users = np.arange(300)
            liked, chances = world.true_rating(users) >= 4, world.propensity(users)
            usual = (liked.mean(axis=0) > 0.05) & (liked.mean(axis=0) < 0.95)
            liked, chances = liked[:, usual], chances[:, usual]
            of_likes = (chances * liked).sum(axis=0) / liked.sum(axis=0)
            of_others = (chances * ~liked).sum(axis=0) / (~liked).sum(axis=0)
            found.append(np.median(of_likes / of_others))
        assert np.mean(found) == pytest.approx(strength, rel=0.1)
    with pytest.raises(ConfigError, match=r"strength 9: expected 1 to 5.9"):
        trust.choice_of(9)


def test_the_threshold_of_loaded_data_is_that_of_its_name() -> None:
    for name in ("synthetic", SMALL):
        assert relevance_threshold(load_dataset(name)) == relevance_threshold(name)


# -- the command -------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_table_of_their_own_is_answered_from_another_folder(tmp_path: Path) -> None:
    ratings = load_dataset(SMALL).ratings
    table = pd.DataFrame(
        {"who": ratings.user + 1, "what": ratings.item + 1, "stars": ratings.value}
    )
    table.to_csv(tmp_path / "mine.csv", index=False)
    command = [
        sys.executable,
        "-c",
        "from recbias.cli.commands import main; main()",
        "trust",
        "mine.csv",
    ]
    command += ["--user", "who", "--item", "what", "--rating", "stars", "--worlds", "20"]
    cells = {"RECBIAS_CELLS": str(tmp_path / "cells"), "TQDM_DISABLE": "1"}

    def ran(*more: str) -> str:
        done = subprocess.run(
            [*command, *more], cwd=tmp_path, env={**os.environ, **cells}, capture_output=True,
            text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    said = ran("--workers", "2")
    assert said.startswith("answer     trust antiP@10")
    assert [line.split()[0] for line in said.splitlines()] == [
        "answer", "assumed", "relation", "worlds", "better", "tau",
    ]  # fmt: skip
    told = json.loads(ran("--json"))
    assert told["answer"] == "antiP"
    assert len(told["worlds"]) == 20
    assert told["relation"]["interval"][0] < -0.6 < told["relation"]["interval"][1]


def test_a_table_without_dislikes_ends_with_a_message(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    pairs = rng.choice(200 * 100, size=1500, replace=False)
    pd.DataFrame({"user_id": pairs // 100, "item_id": pairs % 100}).to_csv(
        tmp_path / "clicks.csv", index=False
    )
    done = CliRunner().invoke(main, ["trust", str(tmp_path / "clicks.csv")])
    assert done.exit_code == 2
    assert "nothing says what is liked and what is not" in done.stderr
    assert "Traceback" not in done.output


# -- the evaluation ----------------------------------------------------------------------------


def test_the_worlds_of_the_evaluation_are_those_committed_before() -> None:
    content = packaged("evaluation/trust_worlds.txt").read_bytes()
    assert hashlib.sha256(content).hexdigest() == (
        "65c1c5694f48bfb53dd5fd27c55f271c8208241fe2d2925ea605b6dce835fcff"
    )
    assert len(set(trusted.evaluation_worlds())) == 480


@pytest.mark.slow
def test_the_evaluation_asks_as_a_reader_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One world and its own shape: the same shares as by the function that readers call."""
    monkeypatch.setenv("RECBIAS_CELLS", str(tmp_path))
    monkeypatch.setattr(trusted, "evaluation_worlds", lambda: [SMALL])
    ratings = load_dataset(SMALL).ratings
    shape = Shape.of(ratings, 4)
    other = dataclasses.replace(shape, skew=0.2)
    low, high = fit_relation(ratings, 4).interval
    reach = max(abs(low), abs(high))
    index, frame = trusted.trust.function(
        shapes=[dataclasses.astuple(other), dataclasses.astuple(shape)], n_worlds=80, reach=reach
    )
    names = shape.worlds((-reach, reach), 80, seed=2)
    matched = [each for each in world_outcomes(names, 4) if low <= each.relation <= high]
    assert len(matched) >= 20
    row = frame.iloc[0]
    assert index == ("world",)
    assert row["matched"] == len(matched)
    assert row["antiP"] == np.mean([each.better == "antiP" for each in matched])
    (own,) = world_outcomes([SMALL], 4)
    assert (row["tau_P"], row["right"]) == (own.tau_precision, own.better)


def test_a_world_is_asked_in_the_nearest_shape() -> None:
    shapes = list(itertools.product((0.04, 0.08), (0.4, 0.6)))
    kinds = [Shape(300, 400, density, skew, 4) for density, skew in shapes]
    chosen = set()
    for density, skew in itertools.product((0.02, 0.04, 0.06, 0.075), (0.3, 0.45, 0.52, 0.7)):
        gaps = [
            math.fabs(math.log(one) - math.log(density)) + math.fabs(other - skew)
            for one, other in shapes
        ]
        own = Shape(200, 150, density, skew, 4)
        found = [trusted._distance(kinds, own, place) for place in range(4)]
        assert found == pytest.approx(gaps)
        chosen.add(found.index(min(found)))
    assert chosen == {0, 1, 2, 3}


def test_less_of_antip_is_better_on_data_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """By taus in plain loops, of planted values that resampling hardly moves."""
    rng = np.random.default_rng(1)
    planted_values = {
        ("true", "P@10"): [1, 2, 3, 4, 5],
        ("full", "P@10"): [2, 1, 4, 3, 5],
        ("full", "antiP@10"): [5, 4, 3, 1, 2],
    }

    class Planted:
        def of_systems(self, label: str, metric: str) -> dict[str, Quantity]:
            return {
                str(n): Quantity(float(v), v + 0.01 * rng.normal(size=100))
                for n, v in enumerate(planted_values[label, metric])
            }

    def tau(first: list[int], second: list[int]) -> float:
        pairs = list(itertools.combinations(range(5), 2))
        signs = [(first[a] - first[b]) * (second[a] - second[b]) for a, b in pairs]
        return sum(1 if sign > 0 else -1 for sign in signs) / len(pairs)

    monkeypatch.setattr(trusted, "run", lambda *_, **__: Planted())
    found = trusted._true_taus(SMALL, 4, split="k-fold 5", seed=1, workers=1)
    true, precision, anti = planted_values.values()
    for name, expected in (("P", tau(precision, true)), ("antiP", -tau(anti, true))):
        assert found[f"tau_{name}"] == pytest.approx(expected)
        assert (found[f"{name}_low"], found[f"{name}_high"]) == pytest.approx((expected, expected))
    assert found["tau_antiP"] == pytest.approx(0.8)


def evaluated() -> pd.DataFrame:
    """100 worlds: 40 with a strong relation, of which 30 are answered, 3 wrongly."""
    rows = []
    for number in range(100):
        strong, answered, wrong = number < 40, number < 30 or number >= 90, number < 3
        rows.append(
            {
                "world": str(number),
                "relation": -0.5 if strong else 0.49,
                "choice": 2.0 if number < 10 else 1.0,
                "P": 0.0,
                "antiP": 1.0 if answered else 0.6,
                "either": 0.0 if answered else 0.4,
                "answer": "antiP" if answered else "cannot tell",
                "right": "P" if wrong else "antiP",
            }
        )
    return pd.DataFrame(rows)


def read(text: str, frame: pd.DataFrame) -> Quantity:
    """Evaluate an expression over a table of worlds, or of data sets."""
    index = str(frame.columns[0])
    context = {
        "key": "", "dataset": {"name": "simulations", "hashes": {}}, "provenance": {},
        "maker_name": "planted", "given": {},
    }  # fmt: skip
    name = "trust" if index == "world" else "trust_answers"
    found = value_of(text, {name: Table.of(((index,), frame), **context)}, views=chapter.VIEWS)
    assert isinstance(found, Quantity)
    return found


@pytest.mark.parametrize(
    ("term", "value"),
    [
        ("answers[all]", 41), ("answers[strong]", 31), ("wrong[all]", 3 / 41),
        ("wrong[strong]", 3 / 31), ("wrong[beyond]", 3 / 10), ("wrong[agreeing]", 0.0),
        ("answered[all]", 41 / 101), ("answered[strong]", 31 / 41), ("answered[opposed]", 0.75),
        ("named_antiP[opposed]", 0.75), ("named_P[all]", 0.0),
    ],
)  # fmt: skip
def test_findings_read_the_evaluation(term: str, value: float) -> None:
    frame = evaluated()
    # One world more agrees clearly, and is answered rightly.
    more = {**frame.iloc[95].to_dict(), "world": "more", "relation": 0.5}
    frame = pd.concat([frame, pd.DataFrame([more])], ignore_index=True)
    found = read(f"{term} in trust.evaluation", frame)
    assert found.value == pytest.approx(value)
    low, high = found.interval
    assert low <= found.value <= high
    assert (low < high) == ("answers" not in term)


def test_of_no_answers_none_is_wrong() -> None:
    found = read("wrong[all] in trust.evaluation", evaluated().assign(answer="cannot tell"))
    assert (found.value, found.interval) == (0, (0, 0))


@pytest.mark.parametrize(
    "term",
    ["right[all]", "wrong[weak]", "answered[agreeing]"],  # no world agrees clearly
)
def test_findings_ask_for_what_there_is(term: str) -> None:
    with pytest.raises(NotComputed):
        read(f"{term} in trust.evaluation", evaluated())


def test_findings_read_answers_about_data() -> None:
    frame = pd.DataFrame(
        {
            "dataset": ["a", "b", "c"], "P": [0.9, 0.1, 0.2], "antiP": [0.1, 0.9, 0.7],
            "tau_P": [0.7, 0.1, 0.5], "tau_antiP": [-0.2, 0.4, 0.0], "high": [0.9, 0.1, 0.5],
            "P_low": 0.0, "P_high": 0.8,
        }
    )  # fmt: skip
    assert read("high[b] in trust_answers", frame).value == 0.1
    for name, share, lead in (("a", 0.9, 0.9), ("b", 0.9, 0.3), ("c", 0.7, -0.5)):
        found = read(f"lead[{name}] in trust_answers.likelier", frame)
        assert found.value == pytest.approx(lead)
        found = read(f"share[{name}] in trust_answers.likelier", frame)
        assert (found.value, found.interval) == (share, (share, share))  # not that of a tau
    for term in ("lead[d]", "width[a]"):
        with pytest.raises(NotComputed):
            read(f"{term} in trust_answers.likelier", frame)


def test_titles_say_how_often_a_metric_is_named() -> None:
    frame = evaluated()
    frame.loc[90:94, ["relation", "answer"]] = [0.7, "P"]

    class Planted:
        pass

    Planted.frame = frame
    title = figures_of_judgments.answers(Planted).title
    assert "liked less: it names antiP in 75 %" in title
    assert title.endswith("liked more: it names P in 100 % of the worlds")


def test_an_answer_prints_what_it_stands_on() -> None:
    answer = Answer("mine", RELATION, 3.0, (planted("P"),) * 20)
    assert "at most 3 times as likely" in str(answer)
    assert "P +1.00, antiP -1.00" in str(answer)
