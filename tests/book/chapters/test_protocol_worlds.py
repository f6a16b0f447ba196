"""Protocols in worlds: agreement with the truth, against loops and grids that share no code."""

from __future__ import annotations

import dataclasses
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
import pytest

from expressions_at import value_of
from recbias.book.chapters import overcoming_popularity_bias as chapter
from recbias.book.chapters.overcoming_popularity_bias import (
    best,
    figures,
    nearest,
    setup,
    worlds,
)
from recbias.claims import load_chapter
from recbias.claims.evidence import NotComputed
from recbias.data.datasets import load_dataset
from recbias.errors import ConfigError
from recbias.experiment.grid import Grid
from recbias.experiment.makers import Table, find_maker
from recbias.experiment.results import SIMULATIONS
from recbias.experiment.run import run
from recbias.experiment.worlds import Seen
from recbias.recommenders import System
from recbias.stats.agreement import kendall_tau
from recbias.trust import compared_systems

NAMES = tuple(worlds.PROTOCOLS)
SMALL = "world(relation=0.5,users=40,items=50,density=0.1,skew=0.4)"


def untied(min_rating: float) -> list[System]:
    """Name systems that draw nothing and have no ties: they are the same wherever trained."""
    encoding = f"binary-pos>={min_rating:g}"
    return [
        System(f"EASE {each}", "EASE", {"regularisation": each, "encoding": encoding})
        for each in (5, 50, 500, 5000)
    ]


# ---------------------------------------------------------------------------------- true values


def auc_by_pairs(model: Any, train: set[tuple[int, int]], liked: np.ndarray) -> float:
    scores, values = model.score(np.arange(len(liked))), []
    for user, likes in enumerate(liked):
        free = [item for item in range(len(likes)) if (user, item) not in train]
        score = {item: -np.inf if np.isnan(s := scores[user, item]) else s for item in free}
        pairs = [(a, b) for a in free for b in free if likes[a] and not likes[b]]
        if pairs:
            won = [(score[a] > score[b]) + 0.5 * (score[a] == score[b]) for a, b in pairs]
            values.append(np.mean(won))
    return float(np.mean(values))


@pytest.mark.parametrize("name", ["Popularity", "User kNN (rating prediction)"])
def test_true_auc_counts_pairs_outside_training(name: str) -> None:
    """Popularity has ties; the neighbourhood has items without score."""
    seen = Seen(load_dataset(SMALL), 1)
    fold = seen.fold("ratio 0.2")
    (system,) = [each for each in compared_systems(4) if each.name == name]
    ranked, liked = seen.ranked(system, fold), seen.liked(4)
    train = set(zip(fold.train.user.tolist(), fold.train.item.tolist(), strict=True))
    found = worlds.true_auc(ranked, liked)
    assert found == pytest.approx(auc_by_pairs(ranked.model, train, liked), abs=1e-12)
    # Twin: with training items left in it would be another number.
    assert abs(found - auc_by_pairs(ranked.model, set(), liked)) > 1e-3


def test_users_who_like_all_or_nothing_have_no_auc() -> None:
    seen = Seen(load_dataset(SMALL), 1)
    fold = seen.fold("ratio 0.2")
    liked = np.zeros((40, 50), dtype=bool)
    liked[1] = True
    liked[2, :25] = True
    ranked = seen.ranked(System("Popularity", "Popularity", {}), fold)
    train = set(zip(fold.train.user.tolist(), fold.train.item.tolist(), strict=True))
    alone = auc_by_pairs(ranked.model, train, liked[:3])
    assert worlds.true_auc(ranked, liked) == pytest.approx(alone, abs=1e-12)


# ------------------------------------------------------------------------------------ the maker


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.setattr(worlds, "compared_systems", untied)
    given = {"relations": (0.5,), "skews": (0.4,), "choices": (), "at_skew": 0.4, "n_worlds": 2}
    return {**worlds.WORLDS, **given, "size": (200, 150), "workers": 1}


def test_taus_are_those_of_a_grid(small: dict[str, Any]) -> None:
    """Each protocol and the truth, trained and measured by the machinery of experiments."""
    name = "world(relation=0.5,skew=0.4,users=200,items=150)"
    table = find_maker(f"{setup.CHAPTER}/worlds")(**small)
    observed, tests = setup.protocols(4)
    distinct: set[float] = set()
    sides = {"ratio 0.2": observed, "uniform 0.2": setup.uniform_protocols(4)}
    for split, asked in sides.items():
        own = {n: each for n, each in worlds.PROTOCOLS.items() if each[0] in asked}
        labels = dict.fromkeys(label for label, _ in own.values())
        grid = Grid(
            dataset=name, systems=untied(4), split=split, seed=1,
            protocols={label: asked[label] for label in labels} | {"true": "AI-AN-AR rel>=4"},
            metrics={label: tuple(m for at, m in own.values() if at == label) for label in labels}
            | {"true": ("P@10", "AUC")},
            tests={label: test for label, test in tests.items() if label in labels}
            | {"true": "truth"},
            groups="popularity 10",
        )  # fmt: skip
        found = run(grid)
        for truth in worlds.TRUTHS:
            true = [each.value for each in found.of_systems("true", truth).values()]
            for shown, (label, metric) in own.items():
                seen = [each.value for each in found.of_systems(label, metric).values()]
                expected = float(kendall_tau(seen, true))
                own_tau = table.select(number=1)[f"{shown}, {truth}"].iloc[0]
                np.testing.assert_equal(float(own_tau), expected, err_msg=f"{split}, {shown}")
                distinct.add(expected)
    assert len(distinct) > 3


# ----------------------------------------------------------------------------------- the best


def test_the_best_is_left_out_as_rarely_as_is_said() -> None:
    """The level is 5 %; it is missed by chance alone once in 10,000 such tests at most."""
    rng, n = np.random.default_rng(1), 1000
    true = np.array([0.52, 0.5, 0.5, 0.5, 0.3])
    missed = naive = kept = 0
    for _ in range(n):
        own = true + rng.normal(0, 0.1, (6, 1)) + rng.normal(0, 0.1, (6, 5))
        may = best.possibly_best(own)
        missed += not may[0]
        kept += may[4]
        naive += int(own.mean(axis=0).argmax()) != 0
    bound = 0.05 + 3.72 * np.sqrt(0.05 * 0.95 / n)
    assert missed / n < bound
    assert naive / n > bound  # twin: the largest mean alone is mostly not the best
    assert kept / n < 0.5  # it does leave out what is far behind


def map_of_chance(seed: int, lead: float = 0.0) -> Table:
    """28 kinds of worlds in which nobody is truly the best, or AR by `lead`."""
    rng = np.random.default_rng(seed)
    rows = [
        {"relation": relation, "skew": skew, "choice": 1.0, "number": number}
        | {f"{name}, {truth}": rng.normal(lead * (name == "AR"), 0.05)
           for name in NAMES for truth in worlds.TRUTHS}
        for relation in (-1, -0.6, -0.3, 0, 0.3, 0.6, 1)
        for skew in (0.2, 0.35, 0.5, 0.65)
        for number in range(1, 7)
    ]  # fmt: skip
    return Table(
        key="k", dataset={"name": "simulations"}, provenance={}, maker_name="m", given={},
        index=("relation", "skew", "choice", "number"), frame=pd.DataFrame(rows),
    )  # fmt: skip


def leaves_out(seed: int, name: str = "AR") -> bool:
    """Whether a whole map, by both truths, leaves out somewhere one who is as good as any."""
    table = map_of_chance(seed)
    return any(
        name != row["best"] and name not in row["others"]
        for truth in worlds.TRUTHS
        for row in best.best_protocols(table, truth).to_dict("records")
    )


@pytest.mark.slow
def test_the_best_is_left_out_anywhere_on_the_map_as_rarely_as_is_said() -> None:
    """Corrected within a field alone, most maps of 56 fields leave out one who is as good."""
    n = 20
    bound = n * 0.05 + 3 * np.sqrt(n * 0.05 * 0.95)
    assert sum(map(leaves_out, range(n))) < bound
    with mock.patch.object(best, "possibly_best", lambda values, n_decisions: ALONE(values)):
        assert sum(map(leaves_out, range(n))) > bound  # the twin


ALONE = best.possibly_best  # as one decision


def test_a_lead_that_is_no_chance_stays_sure_on_the_whole_map() -> None:
    found = best.best_protocols(map_of_chance(1, lead=1.0), "AUC")
    assert set(found["best"]) == {"AR"}
    assert found["others"].map(len).eq(0).all()


def test_on_the_recorded_map_bpref_surely_is_the_best_less_often_than_field_by_field() -> None:
    table = load_chapter("04_overcoming_popularity_bias", SIMULATIONS)["worlds"]
    assert isinstance(table, Table)

    def counts() -> list[int]:
        maps = [best.best_protocols(table, truth) for truth in ("AUC", "P@10")]
        return [int((m["others"].map(len).eq(0) & m["best"].eq("bpref")).sum()) for m in maps]

    assert counts() == [24, 14]
    with mock.patch.object(best, "possibly_best", lambda values, n_decisions: ALONE(values)):
        assert counts() == [25, 16]


def test_the_best_needs_two_worlds_and_numbers() -> None:
    for values in ([[0.1, 0.2]], [[0.1, 0.2], [np.nan, 0.3]]):
        with pytest.raises(ConfigError, match="expected numbers for two worlds or more"):
            best.possibly_best(values)


def planted(**changed: float) -> Table:
    """Worlds in which all protocols have a tau of 0, but for those that are named."""
    rows = []
    for relation in (-1.0, 1.0):
        for skew in (0.2, 0.5):
            for number, noise in enumerate(2 * (-0.01, 0.0, 0.01), start=1):
                row = {"relation": relation, "skew": skew, "choice": 1.0, "number": number}
                for place, name in enumerate(NAMES):
                    for truth in worlds.TRUTHS:
                        row[f"{name}, {truth}"] = noise * (-1) ** place
                for name, value in changed.items():
                    row[f"{name}, AUC"] += value * relation
                rows.append(row)
    return Table(
        key="k", dataset={"name": "simulations"}, provenance={}, maker_name="m", given={},
        index=("relation", "skew", "choice", "number"), frame=pd.DataFrame(rows),
    )  # fmt: skip


def test_the_best_of_each_region_and_what_may_be_as_good() -> None:
    table = planted(bpref=0.5, AR=-0.3)
    found = best.best_protocols(table, "AUC").set_index(["relation", "skew"])
    assert list(found["best"]) == ["AR", "AR", "bpref", "bpref"]
    assert found.loc[(1.0, 0.2), "tau"] == pytest.approx(0.5)
    assert found.loc[(1.0, 0.2), "others"] == ()
    even = best.best_protocols(table, "P@10")
    assert even["others"].map(len).eq(len(NAMES) - 1).all()
    by_relation = best.best_protocols(table, "AUC", by=("relation",))
    assert list(by_relation["best"]) == ["AR", "bpref"]
    assert list(by_relation["second"]) == ["1R", "1R"]
    with pytest.raises(ConfigError, match="no worlds with"):
        best.best_protocols(table, "AUC", choice=2)


def computed(table: Table, *rows: str) -> Any:
    text = ", ".join(f"best[{row}] in worlds.best > 0" for row in rows)
    return value_of(f"share({text})", {"worlds": table}, views=chapter.VIEWS)


def test_findings_read_the_map() -> None:
    table = planted(bpref=0.5, AR=-0.3)
    found = computed(table, "all, AUC, bpref, *, *")
    assert (found.value, found.interval, found.cases) == (0.5, (0.5, 0.5), 4)
    found = computed(table, "all, AUC, AR, <0, 0.5")
    assert (found.value, found.interval) == (1, (1, 1))
    found = computed(table, "all, P@10, AR, *, *")
    assert found.interval == (0, 1)
    likes = planted(bpref=0.5, U1R=0.3)  # of those that need no dislikes U1R is best at 1
    found = computed(likes, "likes, AUC, U1R, *, *")
    assert (found.value, found.interval) == (0.5, (0.5, 0.5))
    assert computed(likes, "all, AUC, U1R, *, *").interval == (0, 0)
    regions = "likes, AUC, U1R, 1, together", "likes, AUC, U1R, -1, together"
    found = computed(likes, *regions)
    assert (found.value, found.interval) == (0.5, (0.5, 0.5))
    assert computed(likes, regions[0]).interval == (1, 1)
    with pytest.raises(NotComputed):
        computed(table, "all, AUC, AR, 0.3, *")


def test_without_the_columns_of_a_truth_nothing_is_the_best_by_it() -> None:
    table = planted(bpref=0.5)
    few = dataclasses.replace(table, frame=table.frame.drop(columns="1R, AUC"))
    assert computed(few, "all, P@10, AR, *, *").interval == (0, 1)
    with pytest.raises(NotComputed, match=r"best\[all, AUC"):
        computed(few, "all, AUC, AR, *, *")


def test_kinds_are_averaged_world_by_world() -> None:
    """U1R leads at one skew by more than it is behind at the other, in every world alike."""
    table = planted(U1R=0.3)
    frame, column = table.frame, "U1R, AUC"
    at = (frame["relation"] == 1) & (frame["skew"] == frame["skew"].min())
    behind = table.frame.assign(**{column: frame[column].where(~at, -0.1)})
    table = dataclasses.replace(table, frame=behind)
    each, together = "likes, AUC, U1R, 1, *", "likes, AUC, U1R, 1, together"
    assert computed(table, each).interval == (0.5, 0.5)
    assert computed(table, together).interval == (1, 1)
    wide = behind.assign(**{column: behind[column].where(~at, -0.5)})
    table = dataclasses.replace(table, frame=wide)
    assert computed(table, together).interval == (0, 0)


def test_a_table_says_who_is_best() -> None:
    table = planted(bpref=0.5, AR=-0.3)
    at = {"AUC": best.best_protocols(table, "AUC", by=("relation",))}
    lines = best.best_table(at).splitlines()
    assert lines[0] == "| relation | best by true AUC, its tau | may be as good |"
    assert lines[2:] == [
        "| \u22121 | **AR** 0.30 (0.29 to 0.31) | none |",
        "| 1 | **bpref** 0.50 (0.49 to 0.51) | none |",
    ]


def test_courses_over_relations_show_what_they_were_given() -> None:
    figure = figures.relations(planted(bpref=0.5))
    rows = figure.rows[(figure.rows["panel"] == "by all items") & (figure.rows["name"] == "bpref")]
    assert np.allclose(rows["value"], [-0.5, 0.5])


# ---------------------------------------------------------------------------------- the explorer


def test_the_explorer_says_who_is_nearest_in_each_kind() -> None:
    table = planted(bpref=0.5, AR=-0.3)
    shown = nearest.nearest(table)
    assert set(shown) == {
        (code, skew, relation)
        for code in ("ten", "all")
        for skew in ("0.2", "0.5")
        for relation in ("-1", "1")
    }
    agreeing = shown["all", "0.5", "1"]
    value, low, high = agreeing.values["bpref"]
    assert list(agreeing.values) == list(NAMES)
    assert value == pytest.approx(0.5)
    assert low == pytest.approx(0.5 - 2.5706 * 0.01 * np.sqrt(0.8 / 6), abs=1e-6)
    assert high == pytest.approx(1 - low)
    assert agreeing.words == (
        "popular items are liked more (relation 1), at skew 0.5; truth by all items"
    )
    assert agreeing.note == (
        "bpref is surely nearest to the truth. With likes alone: 1R is nearest, and cannot be told "
        "apart from head, P1R, UAR, U1R and SR. A coin may do as well."
    )
    assert shown["all", "0.5", "-1"].note == (
        "AR is surely nearest to the truth. With likes alone: AR is surely nearest to the truth."
    )
    assert shown["ten", "0.2", "-1"].words.startswith(
        "popular items are liked less (relation \u22121)"
    )


def test_the_sentence_of_the_explorer_follows_the_worlds() -> None:
    """The twin of a world in which the lead is chance says that nobody can be told apart."""
    table = planted(bpref=0.5)
    assert nearest.nearest(table)["all", "0.5", "1"].note.startswith("bpref is surely nearest")
    noise = np.random.default_rng(1).normal(0, 2, len(table.frame))
    table = dataclasses.replace(
        table, frame=table.frame.assign(**{"bpref, AUC": table.frame["bpref, AUC"] + noise})
    )
    note = nearest.nearest(table)["all", "0.5", "1"].note
    assert "surely" not in note
    assert "cannot be told apart from any other" in note


def test_other_strengths_of_choice_are_left_out_of_the_explorer() -> None:
    table = planted(bpref=0.5)
    before = nearest.nearest(table)["all", "0.5", "1"]
    chosen = table.frame.assign(choice=2.0, **{"bpref, AUC": -1.0})
    both = dataclasses.replace(table, frame=pd.concat([table.frame, chosen], ignore_index=True))
    assert nearest.nearest(both)["all", "0.5", "1"] == before
