"""Every check of chapter 2 accepts a sound input and rejects broken ones, its twins."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest

from explicit_lists import make_split, random_split
from recbias import Grid, line_up
from recbias._system.streams import stream
from recbias.book.chapters.sparsity_bias import checks, relevance_ratio, thin_tests, total_precision
from recbias.data.datasets import load_dataset
from recbias.protocol.testset import dataset_splits

SIZE, CUTOFF, MIN_RATING = 50, 10, 5.0


@pytest.fixture(scope="module")
def grid(tmp_path_factory):
    """The systems that are trained apart, whose cells are in a folder of their own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RECBIAS_CELLS", str(tmp_path_factory.mktemp("cells")))
        systems = [each for each in line_up("bcc17") if each.name in checks.TRAINED_SYSTEMS]
        yield Grid("synthetic", systems, ("TI-AN-AR rel>=5",), (f"P@{CUTOFF}",))


@pytest.fixture(scope="module")
def made(grid):
    """All checks of the chapter on the synthetic data, by claim and name."""
    dataset = load_dataset("synthetic")
    of_data, _ = checks.checks.function(
        dataset, seed=grid.seed, split=grid.split, min_rating=MIN_RATING, grids=[grid]
    )
    of_any, _ = checks.identities.function()
    rows = [*of_data, *of_any]
    assert len({(row.claim, row.name) for row in rows}) == len(rows)
    return {(row.claim, row.name): row for row in rows}


@pytest.fixture(scope="module")
def sound(grid):
    dataset = load_dataset("synthetic")
    splits = dataset_splits(dataset, grid.split, seed=grid.seed)
    first, users = splits[0], np.arange(80)
    systems = [system for system in grid.systems if system.name != "Random"]
    models = {each.name: checks.train_as_experiment(each, first, seed=1) for each in systems}
    by_policy, thin_grid = checks._in_world()
    ((_, thin),) = checks.read_cells(thin_grid, dataset, fold=0)
    tested = first.test.user, first.test.item
    halves = first.train.take(np.arange(len(first.train)) % 2 == 0)
    half = dataclasses.replace(first, train=halves)
    return SimpleNamespace(
        grid=grid,
        first=first,
        users=users,
        returned=list(checks._returned(by_policy, dataset)),
        scored={
            name: ~np.isnan(model.score(np.arange(first.test.n_users))[tested])
            for name, model in models.items()
        },
        thinned=[checks._thinned(first, removed, 1).train for removed in (30, 60)],
        full={name: model.score(users) for name, model in models.items()},
        halved={
            each.name: checks.train_as_experiment(each, half, seed=1).score(users)
            for each in systems
        },
        moved={
            **relevance_ratio.designed_rho(first, min_rating=MIN_RATING),
            **relevance_ratio.moved_rho(first, min_rating=MIN_RATING, seed=1),
        },
        reached=relevance_ratio.reached_rho(first, min_rating=MIN_RATING, seed=1),
        halves=relevance_ratio.halved_rho(splits, min_rating=MIN_RATING, seed=1),
        true=checks.true_values(CUTOFF),
        left=checks._relevant_users(first, 90, 1, MIN_RATING),
        ar=thin.table(thin_grid, "AR"),
        runs=thin.table(thin_grid, "1R"),
    )


# -- the checks, each with what it is given ----------------------------------------------------


def _total(inputs, change=None, policy="popularity", system="Popularity"):
    """Total precision, after a change of what one system returns by one policy."""
    returned = [
        change(each) if change and (each.system, each.policy) == (system, policy) else each
        for each in inputs.returned
    ]
    return total_precision.check_total_precision(
        returned, inputs.first, min_rating=MIN_RATING, size=SIZE
    )


def _shortfall(inputs, change=None, scored=None):
    returned = [
        change(each) if change and each.policy == "none" else each for each in inputs.returned
    ]
    return total_precision.check_shortfall(
        returned, scored or inputs.scored, inputs.first, min_rating=MIN_RATING
    )


def _beside(inputs, **changes):
    grids = [dataclasses.replace(inputs.grid, **each) for each in changes.get("grids", [{}])]
    return relevance_ratio.check_beside(grids)


def _moves(inputs, **moved):
    return relevance_ratio.check_rho_moves({**inputs.moved, **moved})


def _reached(inputs, reached=None):
    return relevance_ratio.check_reached(reached or inputs.reached)


def _true(inputs, values=None):
    return relevance_ratio.check_true_values(values or inputs.true)


def _halves(inputs, halves=None):
    return relevance_ratio.check_halves(halves or inputs.halves)


def _training(inputs, thinned=None):
    return thin_tests.check_training(inputs.first.train, thinned or inputs.thinned)


def _models(inputs, thinned=None):
    return thin_tests.check_models(
        inputs.full, thinned or inputs.full, inputs.users, inputs.first.train, cutoff=CUTOFF
    )


def _by_training(inputs, halved=None):
    return thin_tests.check_moved_by_training(
        inputs.full, halved or inputs.halved, inputs.users, inputs.first.train, cutoff=CUTOFF
    )


def _rises(inputs, without=(0.2, 0.5, 0.9)):
    return thin_tests.check_rises(without)


def _without(inputs, values=None, told=(40, 40)):
    return thin_tests.check_without_runs(values or {"RR": np.nan, "P@10": np.nan}, told)


def _silent(inputs, n_counted=None, **changes):
    given = {name: changes.get(name, getattr(inputs, name)) for name in ("ar", "runs", "left")}
    return thin_tests.check_silent_users(
        given["ar"],
        given["runs"],
        given["left"],
        len(inputs.left) if n_counted is None else n_counted,
        min_rating=MIN_RATING,
        cutoff=CUTOFF,
    )


# -- how an input is broken --------------------------------------------------------------------


def _with(kind, **columns):
    """Change columns of a table where the rating is relevant, in the last such row."""

    def change(each):
        table = getattr(each, kind)
        row = np.flatnonzero((table.value >= MIN_RATING) & (table.rank > 0))[-1]
        new = {}
        for name, value in columns.items():
            column = getattr(table, name).copy()
            place = table.user[row] if name.startswith("n_") and table.per == "user" else row
            column[place] = value(column[place]) if callable(value) else value
            new[name] = column
        return each._replace(**{kind: dataclasses.replace(table, **new)})

    return change


def _filled(inputs):
    """Stand in for none by what another policy returns."""
    found = {each.system: each for each in inputs.returned if each.policy == "random"}
    rest = [each for each in inputs.returned if each.policy != "none"]
    return [*rest, *(each._replace(policy="none") for each in found.values())]


def _flipped(inputs):
    scored = {name: flags.copy() for name, flags in inputs.scored.items()}
    row = np.flatnonzero(inputs.first.test.value >= MIN_RATING)[0]
    scored["Popularity"][row] = not scored["Popularity"][row]
    return scored


def _one_score(scores, change):
    found = {name: each.copy() for name, each in scores.items()}
    user, item = np.argwhere(~np.isnan(found["Popularity"]))[0]
    found["Popularity"][user, item] = change(found["Popularity"][user, item])
    return found


def _best_item_lost(inputs):
    (best, *_), *_ = thin_tests.best_items(
        inputs.full["Popularity"], inputs.users, inputs.first.train, CUTOFF
    )
    found = {name: each.copy() for name, each in inputs.full.items()}
    found["Popularity"][0, best] = -1
    return found


def _less(ratings):
    return ratings.take(np.arange(len(ratings)) > 0)


def _other_value(ratings):
    value = ratings.value.copy()
    value[5] = value[5] % 5 + 1
    return dataclasses.replace(ratings, value=value)


def rounding(worst):
    return abs(worst) < 1e-12


def none(worst):
    return worst == 0


def more_than_a_tenth(worst):
    return worst > 0.1


MOVES = ("by-design", "by-ratio", "by-pool", "by-ratings", "by-users")
CHECKS = {
    ("BCC17-C-TOTALP", "ar"): (
        _total,
        rounding,
        {
            "a relevant item lost": lambda x: _total(x, _with("ar", rank=0)),
            "a place behind the last": lambda x: _total(x, _with("ar", rank=10**6)),
            "by average rating": lambda x: _total(x, _with("ar", rank=0), "average-rating"),
            "at random, another system": lambda x: _total(
                x, _with("ar", rank=0), "random", "kNN (ranking)"
            ),
            "another size for rho": lambda x: _total(x, _with("ar", n_targets=7)),
        },
    ),
    ("BCC17-C-TOTALP", "1r"): (
        _total,
        rounding,
        {
            "a run without its item": lambda x: _total(x, _with("runs", rank=0)),
            "of another system": lambda x: _total(
                x, _with("runs", rank=0), "random", "kNN (ranking)"
            ),
        },
    ),
    ("BCC17-C-TOTALP", "complete"): (
        _total,
        none,
        {
            "an unscored target": lambda x: _total(x, _with("ar", n_scored=lambda n: n - 1)),
            "one of a run": lambda x: _total(x, _with("runs", n_scored=lambda n: n - 1), "random"),
        },
    ),
    ("BCC17-C-TOTALP", "rankings"): (
        _total,
        rounding,
        {
            "one system loses an item": lambda x: _total(x, _with("ar", rank=0)),
            "one loses a run": lambda x: _total(x, _with("runs", rank=0), "random"),
        },
    ),
    ("BCC17-C-TOTALP", "short"): (
        _total,
        lambda worst: worst > 0,
        {
            "nothing is left out": lambda x: total_precision.check_total_precision(
                _filled(x), x.first, min_rating=MIN_RATING, size=SIZE
            )
        },
    ),
    ("BCC17-C-TOTALP", "shortfall"): (
        _shortfall,
        rounding,
        {
            "a score nobody saw": lambda x: _shortfall(x, scored=_flipped(x)),
            "a scored item lost": lambda x: _shortfall(x, _with("ar", rank=0)),
        },
    ),
    ("BCC17-C-ABS", "beside"): (
        _beside,
        none,
        {
            "alone": lambda x: _beside(x, grids=[{}, {"systems": x.grid.systems[1:]}]),
        },
    ),
    **{
        ("BCC17-C-ABS", name): (
            _moves,
            more_than_a_tenth,
            {
                "hardly moved": lambda x, name=name: _moves(x, **{name: (0.02, 0.021)}),
                "hardly lowered": lambda x, name=name: _moves(x, **{name: (0.02, 0.019)}),
            },
        )
        for name in MOVES
    },
    ("BCC17-C-ABS", "set-to"): (
        _reached,
        lambda worst: worst <= 0.02,
        {
            "one goal missed": lambda x: _reached(x, {**x.reached, 0.1: 0.11}),
            "one not reached": lambda x: _reached(x, {**x.reached, 0.1: 0.09}),
        },
    ),
    ("BCC17-C-ABS", "observed-of-true"): (
        _true,
        lambda worst: worst <= 0.5,
        {"one as it is": lambda x: _true(x, {**x.true, "Random": (0.03, 0.04)})},
    ),
    ("BCC17-C-NOTTRAIN", "training"): (
        _training,
        none,
        {
            "one rating less": lambda x: _training(x, [x.first.train, _less(x.first.train)]),
            "another value": lambda x: _training(x, [_other_value(x.first.train)]),
        },
    ),
    ("BCC17-C-NOTTRAIN", "moved-by-training"): (
        _by_training,
        lambda worst: worst > 0,
        {"the same models": lambda x: _by_training(x, x.full)},
    ),
    ("BCC17-C-NOTTRAIN", "scores"): (
        _models,
        none,
        {
            "the last bit": lambda x: _models(
                x, _one_score(x.full, lambda score: np.nextafter(score, np.float32(9)))
            ),
            "a score missing": lambda x: _models(x, _one_score(x.full, lambda _: np.nan)),
        },
    ),
    ("BCC17-C-NOTTRAIN", "lists"): (
        _models,
        none,
        {"the best item lost": lambda x: _models(x, _best_item_lost(x))},
    ),
    ("BCC17-C-NOTTRAIN", "halves"): (
        _halves,
        lambda worst: worst <= 0.1,
        {
            "more is left": lambda x: _halves(x, (1.15 * x.halves[1], x.halves[1])),
            "less is left": lambda x: _halves(x, (0.85 * x.halves[1], x.halves[1])),
        },
    ),
    ("BCC17-C-1RUNDEF", "rises"): (
        _rises,
        lambda worst: worst > 0,
        {
            "one step stays": lambda x: _rises(x, (0.2, 0.2, 0.9)),
            "one falls": lambda x: _rises(x, (0.2, 0.5, 0.4)),
        },
    ),
    ("BCC17-C-1RUNDEF", "defined"): (
        _without,
        none,
        {"nothing is 0": lambda x: _without(x, values={"RR": np.nan, "P@10": 0.0})},
    ),
    ("BCC17-C-1RUNDEF", "told"): (
        _without,
        none,
        {
            "too many": lambda x: _without(x, told=(41, 40)),
            "too few": lambda x: _without(x, told=(39, 40)),
        },
    ),
    ("BCC17-C-1RUNDEF", "runs-of-nobody"): (
        _silent,
        none,
        {"a run": lambda x: _silent(x, left=x.left & (np.arange(len(x.left)) != x.runs.user[0]))},
    ),
    ("BCC17-C-1RUNDEF", "zero"): (
        _silent,
        rounding,
        {
            "a hit": lambda x: _silent(x, left=np.zeros_like(x.left)),
            "no value": lambda x: _silent(x, ar=dataclasses.replace(x.ar, value=x.ar.value * 9)),
        },
    ),
    ("BCC17-C-1RUNDEF", "counted"): (
        _silent,
        none,
        {
            "tested users only": lambda x: _silent(x, n_counted=int(x.left.sum())),
            "one twice": lambda x: _silent(x, n_counted=len(x.left) + 1),
        },
    ),
}


def _worst(found, claim, name):
    (check,) = [check for check in found if (check.claim, check.name) == (claim, name)]
    assert check.n_checked > 0
    return check.worst


@pytest.mark.parametrize(("claim", "name"), CHECKS, ids=map(" ".join, CHECKS))
def test_a_check_accepts_sound_input(sound, claim, name):
    check, allowed, _ = CHECKS[claim, name]
    assert allowed(_worst(check(sound), claim, name))


@pytest.mark.parametrize(
    ("claim", "name", "twin"),
    [(*key, twin) for key, (_, _, twins) in CHECKS.items() for twin in twins],
)
def test_a_check_rejects_a_broken_twin(sound, claim, name, twin):
    _, allowed, twins = CHECKS[claim, name]
    assert not allowed(_worst(twins[twin](sound), claim, name))


@pytest.mark.slow
def test_every_check_of_the_chapter_has_a_twin(made):
    assert set(made) == {*CHECKS, ("BCC17-EQ5", "every-rank")}


@pytest.mark.slow
def test_the_synthetic_data_refute_nothing(made):
    assert [key for key, (_, allowed, _) in CHECKS.items() if not allowed(made[key].worst)] == []


def test_what_total_precision_is_short_by_is_the_part_of_rho_without_a_score(sound):
    judged, sizes = sound.first.test, total_precision.set_sizes(sound.first)
    liked = judged.value >= MIN_RATING
    worth = 1 / sizes[judged.user]
    lost = [worth[liked & ~scored].sum() / worth[liked].sum() for scored in sound.scored.values()]
    assert _worst(_total(sound), "BCC17-C-TOTALP", "short") == pytest.approx(max(lost), rel=1e-12)


def test_a_system_is_compared_with_models_trained_apart(sound):
    assert {each.system for each in sound.returned} == {each.name for each in sound.grid.systems}
    assert len(sound.returned) == 4 * len(sound.grid.systems)
    assert sound.scored["Item cosine (implicit)"].mean() < 0.9 < sound.scored["Popularity"].mean()


# -- what the checks of rho are made of, against target sets written out -------------------------


def _naive_rho(split, users, targets_of):
    shares = []
    for user in users:
        rows = split.test.user == user
        liked = set(split.test.item[rows & (split.test.value >= 4)].tolist())
        targets = targets_of(user, liked)
        shares.append(len(liked & targets) / len(targets) if targets else 0.0)
    return shares


def _pools(split, candidates):
    def targets(user, liked):
        return candidates - set(split.train.item[split.train.user == user].tolist())

    return targets


def test_rho_is_that_of_sets():
    split = random_split(np.random.default_rng(4), 30, 20)
    users, tested = range(30), set(split.test.item.tolist())
    sizes = [len(_pools(split, tested)(user, set())) for user in users]
    assert total_precision.set_sizes(split).tolist() == sizes
    inside = _naive_rho(split, users, _pools(split, tested))
    everything = _naive_rho(split, users, _pools(split, set(range(20))))
    moved = relevance_ratio.moved_rho(split, min_rating=4.0, seed=2)
    (designed,) = relevance_ratio.designed_rho(split, min_rating=4.0).values()
    assert designed[0] == moved["by-pool"][0] == pytest.approx(np.mean(inside))
    assert moved["by-ratings"][0] == pytest.approx(np.mean(everything))
    assert relevance_ratio.catalogue_rho(split.train, split.test, 4.0) == pytest.approx(
        np.mean(everything)
    )
    n_liked = [int(((split.test.user == user) & (split.test.value >= 4)).sum()) for user in users]
    runs = [1 / (size - n + 1) for size, n in zip(sizes, n_liked, strict=True) for _ in range(n)]
    assert designed[1] == pytest.approx(np.mean(runs))
    half = [n / ((s - n) // 2 + n) if n else 0 for s, n in zip(sizes, n_liked, strict=True)]
    assert moved["by-pool"][1] == pytest.approx(np.mean(half))


def test_rho_of_half_the_ratings_scatters_around_half():
    """Of 400 draws the mean is within 5 standard errors of half: a false alarm in 1e6."""
    split = random_split(np.random.default_rng(5), 40, 30)
    moved = [relevance_ratio.moved_rho(split, min_rating=4.0, seed=seed) for seed in range(400)]
    shares = np.array([after / before for before, after in (each["by-ratio"] for each in moved)])
    error = shares.std(ddof=1) / np.sqrt(len(shares))
    assert abs(shares.mean() - 0.5) < 5 * error
    assert abs(shares.mean() - 0.52) > 5 * error  # the twin: a little more than half


def test_twice_as_many_users_have_half_of_rho_each():
    split = random_split(np.random.default_rng(7), 40, 30, train=0.0, test=0.5)
    for seed in range(3):
        before, after = relevance_ratio.moved_rho(split, min_rating=4.0, seed=seed)["by-users"]
        assert after == pytest.approx(before / 2)
    # With training ratings each of the two has more targets than the one had, never fewer.
    split = random_split(np.random.default_rng(8), 40, 30, train=0.4, test=0.4)
    shares = [
        after / before
        for seed in range(50)
        for before, after in [
            relevance_ratio.moved_rho(split, min_rating=4.0, seed=seed)["by-users"]
        ]
    ]
    assert 0.3 < min(shares) < max(shares) < 0.5


def test_goals_are_reached_as_nearly_as_trying_all_numbers_does():
    split = random_split(np.random.default_rng(9), 30, 25, train=0.2, test=0.4)
    liked = split.test.user[split.test.value >= 4]
    order = stream(3, "rho", "goals").permutation(liked).tolist()
    every = [int(size) for size in total_precision.set_sizes(split)]
    pools = [size - order.count(user) for user, size in enumerate(every)]

    def rho(n_sampled, n_kept):
        kept = [order[:n_kept].count(user) for user in range(30)]
        others = [min(n_sampled, pool) for pool in pools]
        if n_sampled >= max(pools):  # whole target sets, where a rating that is taken out stays
            others = [size - n for size, n in zip(every, kept, strict=True)]
        return sum(n / (n + m) for n, m in zip(kept, others, strict=True) if n) / 30

    reached = relevance_ratio.reached_rho(split, min_rating=4.0, seed=3)
    for goal, value in reached.items():
        enough = [n for n in range(1, max(pools) + 1) if rho(n, len(order)) >= goal]
        best = min(abs(rho(max(enough), n) - goal) for n in range(1, len(order) + 1))
        assert abs(value - goal) == pytest.approx(best, abs=1e-12)


def test_goals_span_what_is_possible_and_are_reached():
    split = random_split(np.random.default_rng(6), 300, 60)
    reached = relevance_ratio.reached_rho(split, min_rating=4.0, seed=1)
    goals = list(reached)
    rho = relevance_ratio.moved_rho(split, min_rating=4.0, seed=1)["by-pool"][0]
    liking = len(np.unique(split.test.user[split.test.value >= 4])) / 300
    assert goals[0] == pytest.approx(rho / 10)
    assert goals[-1] == pytest.approx(liking / 2)
    assert max(abs(value / goal - 1) for goal, value in reached.items()) < 0.02


def test_best_items_are_those_of_a_sorted_list():
    gap = np.nan
    split = make_split([[5, gap, gap, gap], [gap, gap, gap, gap]], [[gap, 5, gap, gap]] * 2)
    scores = np.array([[9, 1, 2, gap], [gap, gap, 3, 3]], dtype=np.float32)
    found = thin_tests.best_items(scores, np.arange(2), split.train, 3)
    assert found.tolist() == [[2, 1, -1], [2, 3, -1]]


def test_hits_are_counted_up_to_the_end_of_a_list():
    gap = np.nan
    split = make_split([[gap] * 4] * 2, [[5, 5, 3, gap], [gap, gap, gap, 5]])
    assert checks._hits(np.array([[0, 2, -1], [3, -1, -1]]), split, 4.0) == 2
    assert checks._hits(np.array([[2, -1, -1], [0, -1, -1]]), split, 4.0) == 0


# -- what counts, and what does not ---------------------------------------------------------------


def test_rho_or_random_beside_precision_is_enough(sound):
    """Four designs: with both, with either, with none; the last one alone is counted."""
    others = tuple(each for each in sound.grid.systems if each.algorithm != "Random")
    bare = dict.fromkeys(sound.grid.protocols, ("P@10",))
    with_rho = dict.fromkeys(sound.grid.protocols, ("P@10", "rho"))
    n_labels = len(bare)
    for systems, metrics, alone in (
        (sound.grid.systems, with_rho, 0),
        (sound.grid.systems, bare, 0),
        (others, with_rho, 0),
        (others, bare, n_labels),
    ):
        grid = dataclasses.replace(sound.grid, systems=systems, metrics=metrics)
        (check,) = relevance_ratio.check_beside([grid])
        assert (check.worst, check.n_checked) == (alone, n_labels)


def test_training_ratings_that_come_go_or_change_are_counted(sound):
    train = sound.first.train
    some = np.arange(len(train)) >= 3
    changed = dataclasses.replace(train, value=np.where(some, train.value, train.value + 1))
    for before, after in ((train, train.take(some)), (train.take(some), train), (train, changed)):
        (check,) = thin_tests.check_training(before, [after])
        assert check.worst == 3
