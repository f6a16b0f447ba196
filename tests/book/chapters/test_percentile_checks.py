"""Checks of percentiles, head removal and gains accept what is sound, and no broken twin."""

import dataclasses
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from expressions_at import value_of
from recbias import Grid, line_up
from recbias.book.chapters import overcoming_popularity_bias as chapter
from recbias.book.chapters.overcoming_popularity_bias import percentile_checks as checks
from recbias.book.chapters.overcoming_popularity_bias import percentiles, setup
from recbias.book.chapters.overcoming_popularity_bias.percentiles import INDEX, percentile_ranges
from recbias.claims.evidence import NotTestable
from recbias.data.datasets import load_dataset
from recbias.data.ratings import Ratings
from recbias.experiment.makers import Table
from recbias.experiment.run import grid_tables, run
from recbias.metrics import measure, parse_metric
from recbias.protocol.splits import Split
from recbias.protocol.testset import dataset_splits

WORLD = "world(users=150,items=100,density=0.1)"
LIKED, CUTOFF, SIZE = 4.0, 2, 5

Worst = dict[str, float]


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Grid]:
    """Popularity under the chapter's protocols, its cells in a folder of their own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RECBIAS_CELLS", str(tmp_path_factory.mktemp("cells")))
        asked, tests = setup.protocols(LIKED)
        measured = setup.metrics(CUTOFF, SIZE, 50)
        yield Grid(WORLD, line_up("bcc17")[1:2], asked, measured, split="k-fold 3", tests=tests)


@pytest.fixture(scope="module")
def sound(grid: Grid) -> SimpleNamespace:
    """What the checks look at, as the package makes it."""
    dataset = load_dataset(WORLD)
    drawn = dataset_splits(dataset, "uniform 0.1", seed=1)[0]
    folds_grid, uniform_grid = checks.checked_grids(grid, str(drawn.rule))
    results = run(folds_grid)
    run(uniform_grid)
    tables: dict[int, dict[str, Any]] = {fold: {} for fold in range(3)}
    for label in folds_grid.parsed:
        for _, fold, _, table in grid_tables(folds_grid, label):
            tables[fold][label] = table
    folds = [
        dataclasses.replace(each, tables=tables[each.split.fold])
        for each in checks._folds(dataset, grid)
    ]
    ((*_, runs),) = grid_tables(uniform_grid, "U1R")
    return SimpleNamespace(
        folds=folds,
        value=results["Popularity", "P1R", f"P@{CUTOFF}|t={SIZE}"].value,
        heads=[checks._without_head(each.split, 1) for each in folds],
        uniform=drawn,
        runs=runs,
        n_ratings=len(dataset.ratings),
    )


def gains(metric: str, inputs: SimpleNamespace) -> np.ndarray:
    table = inputs.folds[0].tables["AR"]
    return measure(table, [parse_metric(metric)], min_rating=LIKED)[0]


def worst(inputs: SimpleNamespace, **other: Any) -> Worst:
    """Make all checks, some of what they look at replaced."""
    given = SimpleNamespace(**{**vars(inputs), **other})
    folds, first = given.folds, given.folds[0]
    values = vars(given).get("gains", None)
    values = gains(f"nDCG(linear)@{CUTOFF}", inputs) if values is None else values
    rows = [
        *checks.check_groups(folds),
        *checks.check_runs(folds, min_rating=LIKED, seed=1),
        *checks.check_macro(folds, given.value, cutoff=CUTOFF, size=SIZE),
        *checks.check_unpopular(folds, cutoff=CUTOFF),
        *checks.check_head(first, given.heads[0]),
        *checks.check_used(folds, given.uniform, given.runs, given.n_ratings, min_rating=LIKED),
        *checks.check_left_out([each.split for each in folds], given.heads, min_rating=LIKED),
        *checks.check_gains(first.tables["AR"], values, min_rating=LIKED, cutoff=CUTOFF),
    ]
    return {row.name: row.worst for row in rows}


def test_what_the_package_makes_is_accepted(sound: SimpleNamespace, grid: Grid) -> None:
    found = worst(sound)
    assert found.pop("unpopular") == pytest.approx(0.5, abs=0.05)
    assert 0 < found.pop("unused") < 1
    assert found == dict.fromkeys(found, 0)
    dataset, given = load_dataset(WORLD), {"min_rating": LIKED, "cutoff": CUTOFF}
    made, statistics = checks.percentile_checks(dataset, grid, **given)
    made += checks.percentile_identities(dataset, grid, sound.uniform, **given, size=SIZE)
    ranges = {row.name: row.worst for row in made if row.name in ("widest", "median-width")}
    assert {row.name: row.worst for row in made} == {**worst(sound), **ranges}
    assert statistics == {"percentile items": 10}


def test_a_sample_of_users_is_ranked_again(
    sound: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checks, "MOST_USERS", 7)
    inside, _ = checks.check_runs(sound.folds, min_rating=LIKED, seed=1)
    assert inside.worst == 0
    user = sound.folds[0].tables["P1R"].user
    assert 7 <= inside.n_checked <= 7 * np.bincount(user).max()


# -- broken twins ------------------------------------------------------------------------------


def changed(inputs: SimpleNamespace, label: str, **columns: Any) -> dict[str, Any]:
    """Replace columns of a table of the first fold."""
    first, *rest = inputs.folds
    table = dataclasses.replace(first.tables[label], **columns)
    tables = {**first.tables, label: table}
    return {"folds": [dataclasses.replace(first, tables=tables), *rest]}


def relabelled(inputs: SimpleNamespace, labels: np.ndarray) -> dict[str, Any]:
    first, *rest = inputs.folds
    return {"folds": [dataclasses.replace(first, labels=labels), *rest]}


def swapped(inputs: SimpleNamespace) -> dict[str, Any]:
    labels = inputs.folds[0].labels.copy()
    counts = inputs.folds[0].split.train.item_counts()
    most, least = counts.argmax(), counts.argmin()
    labels[most], labels[least] = labels[least], labels[most]
    return relabelled(inputs, labels)


def uneven(inputs: SimpleNamespace) -> dict[str, Any]:
    """Move the least popular item of the first percentile into the second."""
    labels = inputs.folds[0].labels.copy()
    counts = inputs.folds[0].split.train.item_counts()
    first = np.flatnonzero(labels == 0)
    labels[first[counts[first].argmin()]] = 1
    return relabelled(inputs, labels)


def p1r(inputs: SimpleNamespace) -> Any:
    return inputs.folds[0].tables["P1R"]


def moved(inputs: SimpleNamespace, *, last: bool) -> dict[str, Any]:
    """Push what stands last out of its target set, or what stands first."""
    table = p1r(inputs)
    rank = table.rank + (table.rank == table.n_targets) if last else table.rank - (table.rank == 1)
    assert 0 < (rank != table.rank).sum() < len(rank)
    return changed(inputs, "P1R", rank=rank)


def by_runs(inputs: SimpleNamespace) -> dict[str, Any]:
    """The mean over runs instead of percentiles."""
    metric, total, n_runs = parse_metric(f"P@{CUTOFF}|t={SIZE}"), 0.0, 0
    for fold in inputs.folds:
        found = measure(fold.tables["P1R"], [metric], min_rating=LIKED)[0]
        total, n_runs = total + found.sum(), n_runs + len(found)
    return {"value": total / n_runs}


def without_a_run(inputs: SimpleNamespace) -> dict[str, Any]:
    names = ("user", "item", "value", "rank", "condensed_rank", "n_targets", "n_scored", "group")
    return changed(inputs, "P1R", **{name: getattr(p1r(inputs), name)[1:] for name in names})


def with_head(inputs: SimpleNamespace) -> dict[str, Any]:
    first, *rest = inputs.folds
    return {
        "folds": [
            dataclasses.replace(first, tables={**first.tables, "head": first.tables["1R"]}),
            *rest,
        ]
    }


def untrained_head(inputs: SimpleNamespace) -> dict[str, Any]:
    (head, *rest), labels = inputs.heads, inputs.folds[0].labels
    trained = head.train.take(labels[head.train.item] > 0)
    return {"heads": [dataclasses.replace(head, train=trained), *rest]}


def lost_test(inputs: SimpleNamespace) -> dict[str, Any]:
    split: Split = inputs.uniform
    return {
        "uniform": dataclasses.replace(split, test=split.test.take(np.arange(len(split.test)) > 0))
    }


def lost_training(inputs: SimpleNamespace) -> dict[str, Any]:
    split: Split = inputs.uniform
    rows = np.arange(len(split.train)) > 0
    return {"uniform": dataclasses.replace(split, train=split.train.take(rows))}


TWINS: dict[str, tuple[str, Callable[[SimpleNamespace], dict[str, Any]]]] = {
    "two items in each other's percentile": ("groups", swapped),
    "percentiles of other sizes": ("groups", uneven),
    "a target set one too large": (
        "inside",
        lambda inputs: changed(inputs, "P1R", n_targets=p1r(inputs).n_targets + 1),
    ),
    "the last place given as one beyond": ("inside", lambda inputs: moved(inputs, last=True)),
    "the first place given as none": ("inside", lambda inputs: moved(inputs, last=False)),
    "ranked among all items": (
        "inside",
        lambda inputs: changed(
            inputs, "P1R", **{name: getattr(inputs.folds[0].tables["1R"], name)
                              for name in ("rank", "n_targets", "n_scored")}
        ),
    ),
    "a relevant item without a run": ("inside", without_a_run),
    "sets beyond a percentile": (
        "beyond",
        lambda inputs: changed(inputs, "P1R", n_targets=p1r(inputs).n_targets + 10),
    ),
    "the mean over runs": ("macro", by_runs),
    "a run less": ("unused-within", without_a_run),
    "the head still in": ("head-out", with_head),
    "candidates of the head": (
        "head-out",
        lambda inputs: changed(
            inputs, "head", n_targets=inputs.folds[0].tables["head"].n_targets + 1
        ),
    ),
    "the head out of training": ("head-trained", untrained_head),
    "a test rating lost": ("unused-uniform", lost_test),
    "a training rating lost": ("unused-uniform", lost_training),
    "one gain for all": ("gains", lambda inputs: {"gains": gains(f"nDCG@{CUTOFF}", inputs)}),
    "lists cut elsewhere": (
        "gains", lambda inputs: {"gains": gains(f"nDCG(linear)@{CUTOFF + 1}", inputs)},
    ),
    "defined where nothing gains": (
        "gains", lambda inputs: {"gains": np.nan_to_num(gains(f"nDCG(linear)@{CUTOFF}", inputs))},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TWINS)
def test_a_broken_twin_is_rejected(name: str, sound: SimpleNamespace) -> None:
    check, break_it = TWINS[name]
    assert worst(sound, **break_it(sound))[check] > 0


def test_nothing_left_out_with_the_head_is_told(sound: SimpleNamespace) -> None:
    """And that share is of the runs that the package ranks without it."""
    folds = [fold.split for fold in sound.folds]
    assert worst(sound, heads=folds)["unused"] == 0
    ranked, every = (
        sum(len(fold.tables[label].user) for fold in sound.folds) for label in ("head", "1R")
    )
    assert worst(sound)["unused"] == pytest.approx(1 - ranked / every)


def test_what_popularity_puts_forward_is_counted_user_by_user(sound: SimpleNamespace) -> None:
    """And it is not half where the less popular items are not tested."""
    fold = sound.folds[0]
    test = fold.split.test
    few = dataclasses.replace(fold.split, test=test.take(fold.labels[test.item] < 6))
    given = dataclasses.replace(fold, split=few)
    places = unpopular = 0
    cutoff = 9  # more than some users have left to rank in a percentile
    tested = set(few.test.item.tolist())
    for user in range(test.n_users):
        own = few.train.item[few.train.indptr[user] : few.train.indptr[user + 1]]
        for group in range(10):
            pool = {item for item in tested if fold.labels[item] == group} - set(own.tolist())
            places += min(len(pool), cutoff)
            unpopular += min(len(pool), cutoff) * (group >= 5)
    (found,) = checks.check_unpopular([given], cutoff=cutoff)
    assert found.worst == pytest.approx(unpopular / places)
    assert found.worst < 0.25
    (odd,) = checks.check_unpopular(
        [dataclasses.replace(fold, labels=np.minimum(fold.labels, 2), n_groups=3)], cutoff=1
    )
    assert odd.worst == pytest.approx(0.5, abs=0.01)


def test_ranges_are_those_between_the_ends(sound: SimpleNamespace) -> None:
    folds = [fold.split for fold in sound.folds]
    found = percentile_ranges(folds, LIKED, 2)
    ends = []
    for fold in folds:
        counts = fold.train.item_counts().tolist()
        order = sorted(range(len(counts)), key=lambda item: (-counts[item], item))
        liked = [0] * len(counts)
        for item, value in zip(fold.test.item, fold.test.value, strict=True):
            liked[item] += value >= LIKED
        ends.append([sum(liked[i] for i in order[a:b]) / 5 for a, b in
                     ((0, 5), (45, 50), (50, 55), (95, 100))])  # fmt: skip
    first, low, high, last = np.mean(ends, axis=0)
    assert found["range"] == pytest.approx(
        [(first - low) / (first - last), (high - last) / (first - last)]
    )
    assert found["items"].tolist() == [50, 50]
    small = percentile_ranges(folds, LIKED, 25)  # of four items, whose ends are one item each
    single = [
        np.bincount(fold.test.item[fold.test.value >= LIKED], minlength=100)[
            np.argsort(-fold.train.item_counts(), kind="stable")
        ]
        for fold in folds
    ]
    assert small["first"] == pytest.approx(np.mean(single, axis=0)[::4])
    assert small["last"] == pytest.approx(np.mean(single, axis=0)[3::4])
    widest, median = checks.check_ranges(np.array([0.5, 0.1, 0.2]))
    assert (widest.worst, median.worst) == (0.5, 0.2)


# -- the table ---------------------------------------------------------------------------------


def test_p1r_is_the_mean_of_its_percentiles(grid: Grid, sound: SimpleNamespace) -> None:
    index, frame, replicates = percentiles.percentiles.function(load_dataset(WORLD), grid=grid)
    assert index == INDEX
    assert len(replicates) == len(frame)
    wide = frame.pivot(index="percentile", columns="quantity", values="value")
    assert wide["P"].mean() == pytest.approx(sound.value, abs=1e-12)
    assert wide["lead"].to_numpy() == pytest.approx(wide["P"] / wide["rho"] - 1)
    user = np.concatenate([fold.tables["P1R"].user for fold in sound.folds])
    assert wide["runs"].sum() == len(user)
    drawn = run(grid)["Popularity", "P1R", f"P@{CUTOFF}|t={SIZE}"].replicates
    rows = frame["quantity"] == "P"
    # Kept to 16 binary digits; a percentile without a run drawn is left out.
    assert np.nanmean(replicates[rows], axis=0) == pytest.approx(drawn, rel=1e-4)
    assert (np.ptp(replicates[frame["quantity"] == "pool"], axis=1) == 0).all()
    # Of each run, what is tested of its percentile but what the user trained on or likes.
    pools: dict[int, list[int]] = {number: [] for number in range(10)}
    for fold in sound.folds:
        split, tested = fold.split, set(fold.split.test.item.tolist())
        for u in range(split.test.n_users):
            own = {i for i, v in of_user(split.test, u) if v >= LIKED}
            rest = tested - own - {i for i, _ in of_user(split.train, u)}
            for item in own:
                group = fold.labels[item]
                pools[group].append(sum(fold.labels[other] == group for other in rest))
    assert wide.index.tolist() == list(range(1, 11))
    assert wide["pool"].tolist() == pytest.approx([np.mean(each) for each in pools.values()])


def of_user(ratings: Ratings, user: int) -> list[tuple[int, float]]:
    own = ratings.user == user
    return list(zip(ratings.item[own].tolist(), ratings.value[own].tolist(), strict=True))


def planted(pools: list[float], runs: list[float], lead: list[float]) -> Table:
    rows = [
        (name, place + 1, value)
        for name, values in (("pool", pools), ("runs", runs), ("lead", lead), ("range", lead[::-1]))
        for place, value in enumerate(values)
    ]
    frame = pd.DataFrame(rows, columns=[*INDEX, "value"])
    noise = np.random.default_rng(1).normal(scale=1e-6, size=(len(frame), 100))
    return Table(
        key="", dataset={"name": "ml-1m"}, maker_name="", given={}, index=INDEX, frame=frame,
        replicates=frame["value"].to_numpy()[:, None] + noise,
    )  # fmt: skip


def found(text: str, *table: list[float]) -> Any:
    results = {"percentiles": planted(*table)}
    return value_of(text, results, functions=chapter.FUNCTIONS, views=chapter.VIEWS)


def test_small_percentiles_are_closed() -> None:
    ahead = "share(lead[*] in percentiles.large > 0)"
    related = "ranks_alike(lead[*] in percentiles.large, range[*] in percentiles.large)"
    table = [50, 49, 60, 60], [30, 90, 29, 30], [1.0, -1.0, -1.0, -2.0]
    share = found(ahead, *table)
    assert (share.value, share.interval) == (0.5, (0.5, 0.5))
    with pytest.raises(NotTestable, match="pool too small"):
        found(related, *table)
    with pytest.raises(NotTestable, match="pool too small"):
        found(ahead, [9], [99], [1.0])
    opposed = found(related, [60] * 4, [60] * 4, [1.0, 2.0, 4.0, 8.0])
    assert opposed.value == pytest.approx(-1)
    assert opposed.interval == pytest.approx((-1, -1))
