"""Every check of the metrics and variables of chapter 5 accepts a sound input, and rejects broken
ones, its twins."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest

from explicit_lists import random_split
from recbias.book.chapters.true_vs_false_positive_disagreement import listed, variables
from recbias.book.chapters.true_vs_false_positive_disagreement import metric_checks as module
from recbias.data.datasets import load_dataset
from recbias.metrics import measure, parse_metric
from recbias.ranking import RankTable
from recbias.recommenders import System

CUTOFF, MIN_RATING, N_ITEMS, N_UNSCORED = 5, 3.0, 30, 3


def system(split, name, seed):
    """A system that ranks all but the last items in a random order, another for each user."""
    rng, test = np.random.default_rng(seed), split.test
    ranks, lists = np.zeros(len(test), np.int32), np.full((test.n_users, CUTOFF), -1, np.int32)
    for user in range(test.n_users):
        own = slice(test.indptr[user], test.indptr[user + 1])
        trained = split.train.item[split.train.indptr[user] : split.train.indptr[user + 1]]
        targets = np.setdiff1d(np.arange(N_ITEMS - N_UNSCORED), trained)
        order = rng.permutation(targets)
        lists[user] = order[:CUTOFF]
        place = {item: number + 1 for number, item in enumerate(order.tolist())}
        ranks[own] = [place.get(item, 0) for item in test.item[own].tolist()]
    whole, liked = table(test, ranks), test.value >= MIN_RATING
    return listed.Listed(name, whole, lists, table(test.take(liked), ranks[liked]))


def table(test, ranks):
    """Ranks of test ratings as a table, with the condensed ranks that follow."""
    condensed = np.zeros_like(ranks)
    for row in np.flatnonzero(ranks):
        same = (test.user == test.user[row]) & (ranks > 0)
        condensed[row] = np.sum(ranks[same] <= ranks[row])
    sizes = np.full(test.n_users, N_ITEMS, np.int32)
    return RankTable(
        per="user",
        n_users=test.n_users,
        user=test.user.astype(np.int32),
        item=test.item.astype(np.int32),
        value=test.value,
        rank=ranks,
        condensed_rank=condensed,
        n_targets=sizes,
        n_scored=sizes,
    )


@pytest.fixture(scope="module")
def sound():
    split = random_split(np.random.default_rng(3), 40, N_ITEMS)
    systems = [system(split, name, seed) for seed, name in enumerate("abc")]
    first = systems[0]
    found = listed.measure_lists(first.table, min_rating=MIN_RATING, cutoff=CUTOFF)
    world = load_dataset("synthetic")
    return SimpleNamespace(
        split=split,
        systems=systems,
        table=first.table,
        found=found,
        counted=listed.count_lists(first.lists, split.test, MIN_RATING),
        better={"antiP": "lower", "fallout": "lower"},
        worst=module.worst_order(split.test, cutoff=CUTOFF, min_rating=MIN_RATING),
        liked=module.positive_only(systems, cutoff=CUTOFF, min_rating=MIN_RATING),
        log=module.sessions(60, np.random.default_rng(5)),
        toy=module.spreadsheet(),
        world=world,
        share=world.truth.share_liking(4),
        pairs=variables.pairs_of(world.ratings)[:300],
        popularity=split.train.item_counts().astype(float),
        scores=[
            variables.scores_beside_other_tests(System("Popularity", "Popularity"), split, seed=1)
        ],
    )


# -- the checks, and how their inputs are broken ---------------------------------------------------


def _anti(x, **changes):
    given = {name: changes.get(name, getattr(x, name)) for name in ("found", "counted", "better")}
    return module.check_anti(**given)


def _complement(x, found=None):
    return module.check_complement(found or x.found, x.counted)


def _judged(x, found=None, counted=None):
    return module.check_judged(found or x.found, counted or x.counted)


def _losses(x, **changes):
    given = {name: changes.get(name, getattr(x, name)) for name in ("found", "counted", "worst")}
    return module.check_losses(**given)


def _positive(x, systems=None, liked=None):
    systems = systems or x.systems
    if liked is None:
        liked = module.positive_only(systems, cutoff=CUTOFF, min_rating=MIN_RATING)
    return [
        *module.check_positive_only(systems, liked, cutoff=CUTOFF, min_rating=MIN_RATING),
        *module.check_covered(systems, liked, min_rating=MIN_RATING),
    ]


def _with(found, where, **values):
    """Put other values of metrics where they were measured."""
    return found._replace(**{where: {**getattr(found, where), **values}})


def _more(x, name):
    """One more of a kind, of a user whose list has both kinds."""
    counts = getattr(x.counted, name).copy()
    counts[np.argmax(x.counted.liked * x.counted.disliked)] += 1
    return dataclasses.replace(x.counted, **{name: counts})


def _without_item(x):
    """A system that has no score for the liked item that its list has first."""
    each = x.systems[0]
    row = np.flatnonzero((each.table.rank > 0) & (each.table.value >= MIN_RATING))[0]
    ranks = each.table.rank.copy()
    ranks[row] = 0
    rows = each.table.value >= MIN_RATING
    other = each._replace(
        table=table(x.split.test, ranks), liked=table(x.split.test.take(rows), ranks[rows])
    )
    return [other, *x.systems[1:]]


def _one_off(values):
    values = values.copy()
    values[tuple(np.argwhere(values > 0)[0])] /= 2
    return values


def _liking(x, ratings=None, share=None):
    return variables.check_liking(
        x.world.truth,
        x.world.ratings if ratings is None else ratings,
        x.share if share is None else share,
        min_rating=4,
    )


def _stars(ratings, row, value):
    values = ratings.value.copy()
    values[row] = value
    return dataclasses.replace(ratings, value=values)


def _folds(x):
    return [(x.pairs[:200], x.pairs[200:]), (x.pairs[100:], x.pairs[:100])]


def _rated(x, pairs=None, values=None):
    pairs = x.pairs if pairs is None else pairs
    return variables.check_rated(pairs, np.ones(len(pairs)) if values is None else values)


def _partition(x, folds=None):
    return variables.check_partition(x.pairs, folds or _folds(x))


def _shares(x, popularity=None, ratings=None):
    popularity = x.popularity if popularity is None else popularity
    return variables.check_shares(popularity, ratings or x.split.train, min_rating=MIN_RATING)


def _given(x, change=None):
    return variables.check_given([(one, change(two) if change else two) for one, two in x.scores])


def _judgments(x, test=None):
    return variables.check_judgments(x.table, test or x.split.test)


def _spreadsheet(name, *wrong):
    return (
        lambda x, **changes: module.check_spreadsheet(x.toy | changes),
        lambda worst: worst <= 5e-6,
        {
            str(value): lambda x, value=value: module.check_spreadsheet(x.toy | {name: value})
            for value in wrong
        },
    )


def _divided(x, metric, by):
    return _with(x.found, "full", **{metric: x.found.full[metric] * by})


def exact(worst):
    return worst <= 1e-12


def none(worst):
    return worst == 0


CHECKS = {
    # claim, name: the check on sound input, what it may give, broken inputs
    ("MCCRS20-D-ANTIP", "fraction"): (
        _anti,
        exact,
        {
            "divided by n": lambda x: _anti(
                x, found=_with(x.found, "full", **{"antiP|judged": x.found.full["antiP"]})
            ),
            "a liked item counts": lambda x: _anti(x, counted=_more(x, "liked")),
        },
    ),
    ("MCCRS20-D-ANTIP", "flipped"): (
        _anti,
        exact,
        {
            "what is not liked": lambda x: _anti(
                x, found=_with(x.found, "full", antiP=1 - x.found.full["P"])
            ),
            "recall": lambda x: _anti(x, found=_with(x.found, "turned", P=x.found.turned["R"])),
        },
    ),
    ("MCCRS20-D-ANTIP", "unjudged"): (
        _anti,
        exact,
        {
            "P of judged items": lambda x: _anti(
                x, found=_with(x.found, "full", P=x.found.condensed["P|judged"])
            ),
            "antiP of judged items": lambda x: _anti(
                x, found=_with(x.found, "full", antiP=x.found.condensed["antiP|judged"])
            ),
            "unjudged items left out": lambda x: _anti(
                x,
                found=_divided(x, "P", 2),
            ),
        },
    ),
    ("MCCRS20-D-ANTIP", "orientation"): (
        _anti,
        none,
        {
            "higher counts as better": lambda x: _anti(x, better=x.better | {"antiP": "higher"}),
            "it stays": lambda x: _anti(x, found=x.found._replace(without_one=x.found.full)),
        },
    ),
    ("MCCRS20-D-FALL", "fraction"): (
        _anti,
        exact,
        {
            "all items that are not liked": lambda x: _anti(x, found=_divided(x, "fallout", 0.5)),
            "antiP": lambda x: _anti(
                x, found=_with(x.found, "full", fallout=x.found.full["antiP"])
            ),
            "another test": lambda x: _anti(x, counted=_more(x, "all_disliked")),
        },
    ),
    ("MCCRS20-D-FALL", "without-dislikes"): (
        _judged,
        lambda worst: worst < 0.05,
        {
            "nobody disliked a thing": lambda x: _judged(
                x,
                counted=dataclasses.replace(
                    x.counted, all_disliked=np.zeros_like(x.counted.all_disliked)
                ),
            )
        },
    ),
    ("MCCRS20-D-FALL", "flipped"): (
        _anti,
        exact,
        {
            "precision": lambda x: _anti(x, found=_with(x.found, "turned", R=x.found.turned["P"])),
        },
    ),
    ("MCCRS20-D-FALL", "orientation"): (
        _anti,
        none,
        {
            "higher counts as better": lambda x: _anti(x, better=x.better | {"fallout": None}),
            "it stays": lambda x: _anti(x, found=x.found._replace(without_one=x.found.full)),
        },
    ),
    ("MCCRS20-C-COMPL", "complement"): (
        _complement,
        exact,
        {
            "divided by n": lambda x: _complement(
                x,
                _with(
                    x.found,
                    "condensed",
                    **{f"{name}|judged": x.found.condensed[name] for name in ("P", "antiP")},
                ),
            ),
            "full lists": lambda x: _complement(
                x, _with(x.found, "condensed", **{"P|judged": x.found.full["P"]})
            ),
        },
    ),
    ("MCCRS20-C-COMPL", "divided-by-n"): (
        _judged,
        lambda worst: 0.1 < worst <= 1,
        {
            "by the judged items": lambda x: _judged(
                x,
                _with(
                    x.found,
                    "condensed",
                    **{name: x.found.condensed[f"{name}|judged"] for name in ("P", "antiP")},
                ),
            )
        },
    ),
    ("MCCRS20-C-COMPL", "empty"): (
        _judged,
        none,
        {
            "nobody has a list": lambda x: _judged(
                x,
                _with(
                    x.found,
                    "condensed",
                    **{"P|judged": np.full_like(x.found.condensed["P"], np.nan)},
                ),
            )
        },
    ),
    ("MCCRS20-C-COMPL", "slope"): (
        _complement,
        lambda worst: worst <= 1e-9,
        {
            "half": lambda x: _complement(
                x,
                _with(x.found, "condensed", **{"P|judged": x.found.condensed["P|judged"] / 2}),
            ),
            "no line": lambda x: _complement(
                x,
                _with(x.found, "condensed", **{"antiP|judged": np.ones(len(x.found.full["P"]))}),
            ),
        },
    ),
    ("MCCRS20-C-COMPL", "premise"): (
        _complement,
        none,
        {
            "always 1": lambda x: _complement(
                x, _with(x.found, "full", antiP=1 - x.found.full["P"])
            ),
            "never 1": lambda x: module.check_complement(
                x.found,
                dataclasses.replace(x.counted, liked=CUTOFF - x.counted.disliked),
            ),
        },
    ),
    ("MCCRS20-C-COMPL", "not-judged"): (
        _judged,
        lambda worst: 0.9 < worst <= 1,
        {
            "all judged": lambda x: module.check_judged(
                x.found,
                dataclasses.replace(x.counted, liked=CUTOFF - x.counted.disliked),
            )
        },
    ),
    ("MCCRS20-C-SKIP", "skip-rate"): (
        lambda x: module.check_skips(x.log),
        exact,
        {
            "plays counted twice": lambda x: module.check_skips(
                [_Twice(each.skipped) for each in x.log]
            )
        },
    ),
    ("MCCRS20-C-CONDPOS", "positive-only"): (
        _positive,
        exact,
        {
            "an item without score": lambda x: _positive(x, _without_item(x)),
            "one value": lambda x: _positive(x, liked=_one_off(x.liked)),
            "dislikes known": lambda x: _positive(
                x, [each._replace(liked=each.table) for each in x.systems]
            ),
        },
    ),
    ("MCCRS20-C-CONDPOS", "with-dislikes"): (
        _positive,
        lambda worst: worst > 0.1,
        {
            "all alike": lambda x: _positive(x, [x.systems[0]] * 3),
        },
    ),
    ("MCCRS20-C-CONDPOS", "without-score"): (
        _positive,
        lambda worst: 0 < worst < 0.3,
        {
            "none has one": lambda x: _positive(
                x,
                [
                    each._replace(table=table(x.split.test, np.zeros_like(each.table.rank)))
                    for each in x.systems
                ],
            )
        },
    ),
    ("MCCRS20-C-CONDPOS", "with-coverage"): (
        _positive,
        exact,
        {
            "dislikes known": lambda x: _positive(
                x, [each._replace(liked=each.table) for each in x.systems]
            ),
            "another system": lambda x: _positive(x, liked=np.array([x.liked[0], x.liked[0] / 2])),
        },
    ),
    ("TOIS21-D-NDCL", "toy-ndcl"): _spreadsheet("nDCL", 0.32340, 0.332174),
    ("TOIS21-D-NDCL", "toy-ndcg"): _spreadsheet("nDCG", 0.29455, 0.325832),
    ("TOIS21-D-NDCL", "toy-rr"): _spreadsheet("MRR", 0.48751),
    ("TOIS21-D-NDCL", "toy-antirr"): _spreadsheet("antiMRR", 0.4875),
    ("TOIS21-D-NDCL", "worst-order"): (
        _losses,
        exact,
        {
            "over the best order of gains": lambda x: _losses(x, worst=x.worst * 1.1),
            "binary losses": lambda x: _losses(
                x,
                counted=dataclasses.replace(x.counted, loss=np.minimum(x.counted.loss, 1)),
            ),
            "places from 0": lambda x: _losses(
                x, counted=dataclasses.replace(x.counted, loss=np.roll(x.counted.loss, 1, axis=1))
            ),
        },
    ),
    ("TOIS21-D-NDCL", "first-disliked"): (
        _losses,
        exact,
        {
            "the first that is not liked": lambda x: _losses(
                x, found=_with(x.found, "full", antiRR=np.ones_like(x.found.full["antiRR"]))
            ),
            "one place on": lambda x: _losses(
                x, counted=dataclasses.replace(x.counted, loss=np.roll(x.counted.loss, 1, axis=1))
            ),
        },
    ),
    ("MCCRS20-D-VARS", "rel"): (
        _liking,
        none,
        {
            "another rating": lambda x: _liking(
                x,
                _stars(x.world.ratings, 7, 1 if x.world.ratings.value[7] >= 4 else 5),
            )
        },
    ),
    ("MCCRS20-D-VARS", "liking"): (
        _liking,
        exact,
        {
            "of raters": lambda x: _liking(
                x, share=x.share * 943 / np.maximum(x.world.ratings.item_counts(), 1)
            ),
            "one item": lambda x: _liking(x, share=_one_off(x.share)),
        },
    ),
    ("MCCRS20-D-VARS", "rated"): (
        _rated,
        none,
        {
            "a pair twice": lambda x: _rated(x, np.append(x.pairs, x.pairs[3])),
            "no number": lambda x: _rated(x, values=np.append(np.ones(len(x.pairs) - 1), np.nan)),
        },
    ),
    ("MCCRS20-D-VARS", "partition"): (
        _partition,
        none,
        {
            "in both": lambda x: _partition(x, [(x.pairs, x.pairs[200:])]),
            "in neither": lambda x: _partition(x, [*_folds(x), (x.pairs[:200], x.pairs[201:])]),
            "a pair that nobody rated": lambda x: _partition(
                x, [(x.pairs[:200], np.append(x.pairs[200:], 10**9))]
            ),
        },
    ),
    ("MCCRS20-D-VARS", "popularity"): (
        _shares,
        lambda worst: worst <= 1e-6,
        {
            "positive ratings": lambda x: _shares(x, _one_off(x.popularity)),
            "with the test": lambda x: _shares(x, x.popularity + x.split.test.item_counts()),
            "no score": lambda x: _shares(x, np.full_like(x.popularity, np.nan)),
        },
    ),
    ("MCCRS20-D-VARS", "average"): (
        _shares,
        exact,
        {
            "of a rater who did not": lambda x: _shares(x, ratings=_NoCounts(x.split.train)),
        },
    ),
    ("MCCRS20-D-VARS", "given"): (
        _given,
        none,
        {
            "the last bit": lambda x: _given(x, lambda two: _one_off(two)),
            "a score missing": lambda x: _given(
                x, lambda two: np.where(np.arange(two.shape[1]) == 2, np.nan, two)
            ),
        },
    ),
    ("MCCRS20-D-VARS", "judgments"): (
        _judgments,
        none,
        {
            "another rating": lambda x: _judgments(x, _stars(x.split.test, 4, 9)),
            "one less": lambda x: _judgments(
                x, x.split.test.take(np.arange(len(x.split.test)) > 0)
            ),
            "training": lambda x: _judgments(x, x.split.train),
        },
    ),
}


class _Twice(module.Session):
    """Plays that are counted twice where they are counted, and listed once."""

    @property
    def skipped(self):
        return _Doubled(super().skipped)


class _Doubled(tuple):
    __slots__ = ()

    def __len__(self):
        return 2 * super().__len__()


class _NoCounts:
    """Ratings that say of each item that one more user has rated it."""

    def __init__(self, ratings):
        self._ratings = ratings

    def __getattr__(self, name):
        return getattr(self._ratings, name)

    def item_counts(self):
        return self._ratings.item_counts() + 1


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


def test_systems_are_judged_together(sound):
    """What is counted is added up over the systems, and the worst of them is told."""
    found, one = (
        [
            check
            for make in (module.check_systems, module.check_lists)
            for check in make(systems, sound.split.test, min_rating=MIN_RATING, cutoff=CUTOFF)
        ]
        for systems in (sound.systems, sound.systems[:1])
    )
    names = [(check.claim, check.name) for check in found]
    assert len(set(names)) == len(names)
    checked = {key: check.n_checked for key, check in zip(names, found, strict=True)}
    for check in one:
        if check.claim != "MCCRS20-C-CONDPOS":
            assert checked[check.claim, check.name] > check.n_checked
    twice = [dataclasses.replace(check, worst=2.0) for check in one]
    summed = {
        (check.claim, check.name): check.worst for check in module._over_systems(twice + twice)
    }
    assert summed["MCCRS20-C-COMPL", "premise"] == 4
    assert summed["MCCRS20-C-COMPL", "complement"] == summed["MCCRS20-C-COMPL", "not-judged"] == 2


def test_lists_are_counted_by_hand():
    test = random_split(np.random.default_rng(1), 2, 9, train=0, test=1).test
    test = dataclasses.replace(test, value=np.tile([5.0, 1, 3, 4, 2, 5, 1, 4, 3], 2))
    counted = listed.count_lists(np.array([[8, 1, 4], [3, -1, -1]], np.int32), test, 3)
    assert counted.liked.tolist() == [1, 1]
    assert counted.disliked.tolist() == [2, 0]
    assert counted.unjudged.tolist() == [0, 0]
    assert counted.loss.tolist() == [[0, 2, 1], [0, 0, 0]]
    assert counted.all_liked.tolist() == [6, 6]
    assert counted.all_disliked.tolist() == [3, 3]


def test_the_worst_order_is_that_of_nobody_s_list():
    """A list in the worst order has nDCL 1, whatever its system."""
    ratings = [1.0, 1, 2, 3.5, 4, 5, None]
    worst = measure(listed.rank_table([ratings]), [parse_metric("nDCL@4")], min_rating=4)
    best = measure(listed.rank_table([ratings[::-1]]), [parse_metric("nDCL@3")], min_rating=4)
    assert (worst.item(), best.item()) == (1.0, 0.0)
