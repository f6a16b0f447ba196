"""Values of warm and cold users and items, and splits in time, in grids, against plain loops."""

from __future__ import annotations

from statistics import median

import numpy as np
import pandas as pd
import pytest

from recbias.data.datasets import load_dataset
from recbias.errors import ConfigError
from recbias.experiment.grid import Grid
from recbias.experiment.run import run
from recbias.protocol.averaging import Averaging
from recbias.protocol.protocol import Protocol
from recbias.protocol.testset import TestSet, dataset_splits


class ByNumber:
    """Likes items by a fixed order, so that no two scores are equal."""

    coverage = "all"
    deterministic = True

    def fit(self, train, *, rng=None):
        self.scores = ((np.arange(train.n_items) * 7) % train.n_items).astype(np.float32)
        return self

    def score(self, users):
        return np.tile(self.scores, (len(users), 1))


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng = np.random.default_rng(4)
    rows = {(int(u), int(i)) for u, i in zip(rng.zipf(1.5, 900) % 41, rng.integers(37, size=900),
                                             strict=True)}  # fmt: skip
    frame = pd.DataFrame(sorted(rows), columns=["user_id", "item_id"])
    frame["rating"] = rng.integers(1, 6, size=len(frame))
    frame["timestamp"] = rng.integers(10**9, 10**9 + 10**6, size=len(frame))
    path = tmp_path_factory.mktemp("own") / "rated.csv"
    frame.to_csv(path, index=False)
    return path


def naive(path, split, counts_user, statistic="mean", counts_item=lambda n: True, of_runs=False):
    """Average P@5 of the users that count, each fold's as they are, in plain loops."""
    total = []
    for fold in dataset_splits(load_dataset(path), split, seed=1):
        n_items = fold.train.n_items
        score = [(item * 7) % n_items for item in range(n_items)]
        seen, liked = {}, {}
        n_of_item = dict.fromkeys(range(n_items), 0)
        for user, item in zip(fold.train.user.tolist(), fold.train.item.tolist(), strict=True):
            seen.setdefault(user, set()).add(item)
            n_of_item[item] += 1
        tested = set()
        for user, item, stars in zip(fold.test.user.tolist(), fold.test.item.tolist(),
                                     fold.test.value.tolist(), strict=True):  # fmt: skip
            if counts_item(n_of_item[item]):
                tested.add(user)
                if stars >= 4:
                    liked.setdefault(user, set()).add(item)
        for user in range(fold.train.n_users):
            n_trained = len(seen.get(user, ()))
            targets = [item for item in range(n_items) if item not in seen.get(user, set())]
            listed = sorted(targets, key=lambda item: -score[item])
            hits = [item in liked.get(user, set()) for item in listed[:5]]
            if of_runs and counts_user(n_trained, user in tested, user in liked):
                for item in liked.get(user, set()):
                    others = [other for other in targets if other not in liked[user]]
                    rank = 1 + sum(score[other] > score[item] for other in others)
                    total.append((rank <= 5) / 5)
            elif not of_runs and counts_user(n_trained, user in tested, user in liked):
                total.append(sum(hits) / 5)
    return float(np.mean(total)) if statistic == "mean" else float(median(total))


def measured(path, protocol, split, tests=""):
    grid = Grid(str(path), ByNumber, {"it": protocol}, ("P@5",), split=split,
                tests={"it": tests} if tests else {})  # fmt: skip
    return float(run(grid).values["value"].iloc[0])


LISTS = "AI-AN-AR rel>=4"


@pytest.mark.parametrize("split", ["ratio 0.3", "rolling 2 0.2", "temporal-at 1000600000"])
@pytest.mark.parametrize(
    ("users", "counts"),
    [
        ("trained>=5", lambda n, tested, liked: n >= 5),
        ("trained<5", lambda n, tested, liked: n < 5),
        ("tested,trained<5", lambda n, tested, liked: tested and n < 5),
        ("relevant,trained>=5", lambda n, tested, liked: liked and n >= 5),
        ("tested,trained>=1", lambda n, tested, liked: tested and n > 0),
    ],
)
def test_warm_and_cold_users(table, split, users, counts):
    value = measured(table, f"{LISTS} users={users}", split)
    assert value == pytest.approx(naive(table, split, counts), abs=1e-12)


def test_a_user_too_many_is_noticed(table):
    value = measured(table, f"{LISTS} users=tested,trained<5", "ratio 0.3")
    almost = naive(table, "ratio 0.3", lambda n, tested, liked: tested and n <= 5)
    assert value != pytest.approx(almost, abs=1e-12)


def test_the_median_and_runs_of_cold_users(table):
    split = "ratio 0.3"
    value = measured(table, f"{LISTS} users=relevant,trained<9 statistic=median", split)
    expected = naive(table, split, lambda n, tested, liked: liked and n < 9, "median")
    assert value == pytest.approx(expected, abs=1e-12)
    value = measured(table, "AI-AN-1R rel>=4 users=runs,trained<9", split)
    expected = naive(table, split, lambda n, tested, liked: n < 9, of_runs=True)
    assert value == pytest.approx(expected, abs=1e-12)


def test_warm_and_cold_users_are_all_users(table):
    users = {"warm": "trained>=6", "cold": "trained<6", "all": "all"}
    protocols = {label: f"{LISTS} users={population}" for label, population in users.items()}
    grid = Grid(str(table), ByNumber, protocols, ("P@5",), split="k-fold 3")
    rows = run(grid).values.set_index("label")
    folds = dataset_splits(load_dataset(table), "k-fold 3", seed=1)
    n_warm = sum(int((fold.train.user_counts() >= 6).sum()) for fold in folds)
    n_all = sum(fold.train.n_users for fold in folds)
    value = rows["value"]
    mixed = (value["warm"] * n_warm + value["cold"] * (n_all - n_warm)) / n_all
    assert mixed == pytest.approx(value["all"], abs=1e-12)


@pytest.mark.parametrize(
    ("items", "counts"),
    [("trained<6", lambda n: n < 6), ("trained>=6", lambda n: n >= 6)],
)
@pytest.mark.parametrize("split", ["ratio 0.5", "rolling 2 0.2"])
def test_cold_and_warm_items(table, items, counts, split):
    value = measured(table, f"{LISTS} users=relevant", split, f"observed items={items}")
    expected = naive(table, split, lambda n, tested, liked: liked, counts_item=counts)
    assert value == pytest.approx(expected, abs=1e-12)
    other = naive(table, split, lambda n, tested, liked: liked)
    assert value != pytest.approx(other, abs=1e-12)


def test_cold_and_warm_items_share_what_is_found(table):
    """Of all users, hits on cold and on warm items add up; so do those of a sample."""
    for protocol in (LISTS, "AI-NN-AR N=20 rel>=4"):
        labels = {"all": "", "cold": "items=trained<6", "warm": "items=trained>=6"}
        grid = Grid(str(table), ByNumber, dict.fromkeys(labels, protocol), ("P@5",),
                    split="ratio 0.5", tests={k: v for k, v in labels.items() if v})  # fmt: skip
        value = run(grid).values.set_index("label")["value"]
        if "NN" in protocol:  # drawn anew, so that only their order is known
            assert 0 < value["cold"] < value["warm"]
        else:
            assert value["cold"] + value["warm"] == pytest.approx(value["all"], abs=1e-12)


def test_paired_tests_are_of_the_same_users(table):
    class Backwards(ByNumber):
        def fit(self, train, *, rng=None):
            super().fit(train)
            self.scores = -self.scores
            return self

    for text in (f"{LISTS} users=relevant,trained<9", "AI-AN-1R rel>=4 users=runs,trained<9"):
        grid = Grid(str(table), (ByNumber, Backwards), {"it": text}, ("P@5",), split="ratio 0.3",
                    compare=(("it", "P@5"),), crossed=(("it", "P@5"),))  # fmt: skip
        results = run(grid)
        values = results.values.set_index("system")["value"]
        row = results.tests.iloc[-1]
        expected = abs(values["ByNumber"] - values["Backwards"])
        assert abs(row["difference"]) == pytest.approx(expected, abs=1e-12)


# ------------------------------------------------------------------------------------ the grammar


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("users=trained>=5", "users=trained>=5"),
        ("users=trained<1", "users=trained<1"),
        ("users=all,trained<05", "users=trained<5"),
        ("users=trained>=1", "users=trained"),
        ("users=all,trained", "users=trained"),
        ("users=trained,trained>=3", "users=trained>=3"),
        ("users=tested,trained", "users=tested,trained>=1"),
        ("users=runs,trained>=2 statistic=geometric", "users=runs,trained>=2 statistic=geometric"),
    ],
)
def test_a_population_prints_and_parses_back(text, printed):
    averaging = Averaging.parse(text)
    assert str(averaging) == printed
    assert Averaging.parse(printed) == averaging
    rule = "AI-AN-1R" if "runs" in text else "AI-AN-AR"
    protocol = Protocol.parse(f"{rule} rel>=4 {text}")
    assert str(protocol) == f"{rule} rel>=4 {printed}"
    assert Protocol.parse(str(protocol)) == protocol


def test_what_was_there_prints_as_before():
    for text in ("users=trained", "users=tested", ""):
        assert str(Averaging.parse(text)) == text
    assert str(Protocol.parse("AI-AN-AR rel>=4 users=all")) == "AI-AN-AR rel>=4"
    assert Protocol.parse("AI-AN-1R rel>=4 users=trained<3").averaging.population == "all"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("users=trained>=0", "expected a number of training ratings from 1"),
        ("users=trained<0", "expected a number of training ratings from 1"),
        ("users=trained>5", "expected a number of training ratings from 1"),
        ("users=tested,trained=5", "expected a number of training ratings from 1"),
        ("users=tested,cold", "behind a population stands how many training ratings"),
        ("users=tested,", "behind a population stands how many training ratings"),
        ("users=testd,trained>=5", "did you mean 'tested'"),
        ("users=trained,trained<5", "give one of both"),
        ("users=groups,trained<5", "average over runs"),
        ("users=train>=5", "unknown population"),
    ],
)
def test_what_is_no_population_is_refused(text, message):
    with pytest.raises(ConfigError, match=message) as refused:
        Averaging.parse(text)
    assert len(str(refused.value).splitlines()) <= 3


@pytest.mark.parametrize("items", ["trained<5", "trained>=12"])
def test_a_test_of_cold_items_prints_and_parses_back(items):
    test = TestSet.parse(f"items={items}")
    assert str(test) == f"observed items={items}"
    assert TestSet.parse(str(test)) == test
    assert TestSet.parse("items=trained<005").items == "trained<5"


@pytest.mark.parametrize("items", ["trained<0", "trained", "trained=5", "trained>5", "cold"])
def test_what_are_no_cold_items_is_refused(items):
    with pytest.raises(ConfigError, match="or a number of training ratings from 1, as trained<5"):
        TestSet.parse(f"items={items}")
