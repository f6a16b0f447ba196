"""Designs that look below the end of scores and lists are warned of, and no others."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pytest
from click.testing import CliRunner

from recbias.cli.commands import main
from recbias.data.datasets import load_dataset
from recbias.protocol.testset import dataset_splits

FULL, RUNS = "AI-AN-AR rel>=4", "TI-NN-1R t=12 rel>=4"
CONDENSED = f"{FULL} condensed"


class World(NamedTuple):
    """A table, what is rated in training and test, and each user's items outside training."""

    table: Path
    train: dict[str, set[str]]
    test: dict[str, dict[str, int]]
    order: dict[str, list[str]]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    folder, draw = tmp_path_factory.mktemp("below"), random.Random(5)
    users, items = [f"u{n}" for n in range(30)], [f"i{n}" for n in range(40)]
    rows = [(u, i, draw.randint(1, 5)) for u in users for i in draw.sample(items, 20)]
    names = ["user_id", "item_id", "rating"]
    pd.DataFrame(rows, columns=names).to_csv(folder / "data.csv", index=False)
    asked = ["data", "split", str(folder / "data.csv"), "--split", "ratio 0.4", "--seed", "1"]
    ended = CliRunner().invoke(main, [*asked, "--out", str(folder / "splits")])
    assert ended.exit_code == 0, ended.output
    parts = [pd.read_csv(folder / f"splits/fold-1/{part}.csv") for part in ("train", "test")]
    train: dict[str, set[str]] = {user: set() for user in users}
    test: dict[str, dict[str, int]] = {user: {} for user in users}
    for user, item, _ in parts[0][names].itertuples(index=False):
        train[user].add(item)
    for user, item, rating in parts[1][names].itertuples(index=False):
        test[user][item] = rating
    order = {user: draw.sample(items, 40) for user in users}
    free = {user: [i for i in order[user] if i not in train[user]] for user in users}
    return World(folder / "data.csv", train, test, free)


def measured(world: World, lists: dict[str, list[str]], protocol: str, metric: str, form: str):
    """Measure lists by the command; return the value, and the numbers that it warns of."""
    rows = [
        (user, item, place if form == "rank" else -place / 7)
        for user, own in lists.items()
        for place, item in enumerate(own, start=1)
    ]
    file, out = world.table.with_name("lists.csv"), world.table.with_name("values.csv")
    pd.DataFrame(rows, columns=["user_id", "item_id", form]).to_csv(file, index=False)
    asked = ["measure", str(world.table), "--scores", f"mine={file}", "--split", "ratio 0.4"]
    asked += ["--seed", "1", "--protocol", protocol, "--metric", metric, "--out", str(out)]
    ended = CliRunner().invoke(main, asked)
    assert ended.exit_code == 0, ended.output
    named = rf"warning: mine: under {re.escape(protocol)}, .*{metric} ([\d,]+) \(of ([\d,]+) users"
    found = re.findall(named, ended.output)
    assert ("warning" in ended.output) == bool(found)
    return pd.read_csv(out)["value"][0], [tuple(map(int, each)) for each in found]


def precision(world: World, cutoff: int, condensed: bool) -> float:
    """Compute P of the whole order by hand."""
    total = 0.0
    for user, order in world.order.items():
        shown = [i for i in order if not condensed or i in world.test[user]]
        total += sum(world.test[user].get(i, 0) >= 4 for i in shown[:cutoff]) / cutoff
    return total / len(world.order)


def top(world: World, size: int) -> dict[str, list[str]]:
    return {user: order[:size] for user, order in world.order.items()}


def judged(world: World, *, kept: bool) -> dict[str, list[str]]:
    """Return the order of those items that are in test, or that are not."""
    return {u: [i for i in o if (i in world.test[u]) == kept] for u, o in world.order.items()}


@pytest.mark.parametrize("form", ["rank", "score"])
def test_what_is_whole_as_far_as_it_is_looked_at_is_not_warned_of(form: str, world: World) -> None:
    whole = top(world, 40)
    for lists, protocol, metric in (
        (whole, FULL, "P@10"),
        (whole, FULL, "AP"),
        (whole, FULL, "RR"),
        (whole, FULL, "AUC"),
        (whole, FULL, "Gini@20"),
        (whole, CONDENSED, "P@5"),
        (whole, RUNS, "P@5"),
        (top(world, 10), FULL, "P@10"),
        (top(world, 10), FULL, "Gini@10"),
        (top(world, 10), f"{FULL} unscored=popularity", "AP"),
        (judged(world, kept=True), CONDENSED, "AP"),
        (judged(world, kept=True), CONDENSED, "P@5"),
    ):
        value, warned = measured(world, lists, protocol, metric, form)
        assert not warned, (protocol, metric)
        if metric.startswith("P@") and protocol != RUNS:
            cutoff = int(metric[2:])
            assert value == pytest.approx(precision(world, cutoff, protocol == CONDENSED))


@pytest.mark.parametrize("form", ["rank", "score"])
def test_what_ends_above_where_a_design_looks_is_warned_of(form: str, world: World) -> None:
    short = top(world, 10)
    for lists, protocol, metric in (
        (short, FULL, "AP"),
        (short, FULL, "AUC"),
        (short, FULL, "P@20"),
        (short, FULL, "Gini@20"),
        (short, CONDENSED, "P@5"),
        (short, RUNS, "P@5"),
        (top(world, 20), FULL, "AP"),
        (judged(world, kept=False), CONDENSED, "P@5"),
    ):
        _, warned = measured(world, lists, protocol, metric, form)
        assert len(warned) == 1, (protocol, metric)
        if (protocol, metric) == (FULL, "AP"):  # of users with a relevant item below the end
            below = {u: world.test[u].keys() - set(own) for u, own in lists.items()}
            liked = [u for u in below if any(world.test[u][i] >= 4 for i in below[u])]
            assert warned == [(sum(len(below[u]) for u in liked), len(liked))]


def test_a_few_pairs_without_a_score_are_usual(world: World) -> None:
    few = {user: order[:5] + order[6:] for user, order in world.order.items()}
    for protocol, metric in ((FULL, "P@10"), (RUNS, "P@5")):
        assert not measured(world, few, protocol, metric, "score")[1]
    assert measured(world, few, FULL, "AP", "score")[1]


SAME = "TI-NN-AR N=8 rel>=4"


@pytest.mark.parametrize("form", ["rank", "score"])
@pytest.mark.parametrize("metric", ["antiP@3", "antiAP", "fallout@3", "nDCL@3"])
def test_disliked_items_below_the_end_are_warned_of_in_samples(
    metric: str, form: str, world: World
) -> None:
    whole, none = measured(world, world.order, SAME, metric, form)
    cut, warned = measured(world, top(world, 5), SAME, metric, form)
    assert not none
    assert cut != whole
    assert warned


@pytest.mark.parametrize(
    ("protocol", "metric"), [(FULL, "AP"), (FULL, "P@3"), (CONDENSED, "P@3"), (RUNS, "P@3")]
)
def test_a_file_of_the_same_few_items_for_all_is_taken_for_cut(
    protocol: str, metric: str, world: World
) -> None:
    """As the first of a popularity model are: what is not there may be below the end."""
    shown = {user: [i for i in order if int(i[1:]) < 5] for user, order in world.order.items()}
    assert measured(world, shown, protocol, metric, "score")[1]
    most = {user: [i for i in order if int(i[1:]) < 25] for user, order in world.order.items()}
    assert not measured(world, most, FULL, "P@3", "score")[1]  # a model that knows 25 items


def test_a_short_list_of_scores_is_cut_off_however_many_items_occur(world: World) -> None:
    """What is in nobody's list is missed too: each user lacks items that others have."""
    shown = {u: [i for i in o if int(i[1:]) < 25][:3] for u, o in world.order.items()}
    assert 2 * len({item for items in shown.values() for item in items}) >= 40
    below = {u: world.test[u].keys() - set(own) for u, own in shown.items()}
    liked = [u for u in below if any(world.test[u][i] >= 4 for i in below[u])]
    assert any(int(item[1:]) >= 25 for u in liked for item in below[u])
    expected = (sum(len(below[u]) for u in liked), len(liked))
    assert measured(world, shown, FULL, "AP", "score")[1] == [expected]


def test_training_items_that_are_ranked_and_have_no_score_are_warned_of(world: World) -> None:
    items = [f"i{n}" for n in range(40)]
    control = "AI-AN-AR +train rel>=4"
    assert measured(world, world.order, control, "P@3", "score")[1]
    assert not measured(world, dict.fromkeys(world.order, items), control, "P@3", "score")[1]


@pytest.mark.parametrize("form", ["rank", "score"])
def test_places_that_stay_empty_are_warned_of(form: str, world: World) -> None:
    whole, none = measured(world, world.order, FULL, "Served@8", form)
    cut, warned = measured(world, top(world, 5), FULL, "Served@8", form)
    assert not none
    assert cut < whole
    assert warned


def test_an_item_without_training_ratings_is_missed_where_others_have_it(world: World) -> None:
    data = pd.read_csv(world.table)
    data.loc[len(data)] = ["u0", "new", 5]
    cold = world._replace(table=world.table.with_name("cold.csv"))
    data.to_csv(cold.table, index=False)
    split = dataset_splits(load_dataset(cold.table), "ratio 0.4", seed=1)[0]
    own = {user: set() for user in world.order}
    for user, item in zip(split.train.user, split.train.item, strict=True):
        own[str(split.train.user_ids[user])].add(str(split.train.item_ids[item]))
    if "new" in own["u0"]:
        pytest.fail("the item is in training: choose another seed")
    items = [f"i{n}" for n in range(40)] + ["new"]
    lists = {user: [i for i in items if i not in own[user]] for user in world.order}
    assert not measured(cold, lists, FULL, "AP", "rank")[1]
    assert measured(cold, {**lists, "u0": lists["u0"][:-1]}, FULL, "AP", "rank")[1]
    nobody = {user: each[:-1] for user, each in lists.items()}
    assert not measured(cold, nobody, FULL, "AP", "rank")[1]


def test_scores_of_test_items_alone_are_warned_of_where_others_are_ranked(world: World) -> None:
    tested = {user: [i for i in world.order[user] if i in own] for user, own in world.test.items()}
    file = world.table.with_name("tested.csv")
    rows = [(user, i, -place) for user, own in tested.items() for place, i in enumerate(own)]
    pd.DataFrame(rows, columns=["user_id", "item_id", "score"]).to_csv(file, index=False)
    asked = ["measure", str(world.table), "--scores", str(file), "--split", "ratio 0.4"]
    for protocol, warned in ((FULL, True), (RUNS, True), (CONDENSED, False)):
        ended = CliRunner().invoke(main, [*asked, "--protocol", protocol, "--metric", "P@3"])
        assert ("no score but those of the test" in ended.output) == warned, protocol


def test_judged_places_that_stay_empty_are_warned_of(world: World) -> None:
    whole, none = measured(world, world.order, CONDENSED, "Served@4", "rank")
    cut, warned = measured(world, top(world, 3), CONDENSED, "Served@4", "rank")
    assert not none
    assert cut < whole
    assert warned
