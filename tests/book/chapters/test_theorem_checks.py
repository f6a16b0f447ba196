"""Every check of chapter 1 accepts a sound input and rejects broken ones, its twins."""

import dataclasses
import itertools
import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chisquare

from recbias import Grid, line_up, run
from recbias.book.chapters.design_alternatives import (
    definitions,
    frame,
    proof,
    setup,
    theorems,
    toy,
)
from recbias.book.chapters.design_alternatives.definitions import PackageSets
from recbias.book.chapters.design_alternatives.proof import Instance
from recbias.book.chapters.design_alternatives.ranking_by_sorting import LABELS
from recbias.book.pages import task_table
from recbias.claims import claims
from recbias.data.datasets import load_dataset
from recbias.data.ratings import Ratings
from recbias.errors import ConfigError
from recbias.metrics import measure, parse_metric
from recbias.protocol.splits import from_fold_labels
from recbias.protocol.testset import dataset_splits
from recbias.theory import split_statistics

SIZE, CUTOFF, N_SAMPLED, MIN_RATING = 100, 10, 1000, 5.0
OPTIONS = {"min_rating": MIN_RATING, "cutoff": CUTOFF}
ROWS = next(claim.values for claim in claims() if claim.id == "BCC17-T1")


@pytest.fixture(scope="module")
def grid(tmp_path_factory):
    """The chapter's grid of the two systems that are ranked twice, run into a folder of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RECBIAS_CELLS", str(tmp_path_factory.mktemp("cells")))
        systems = [each for each in line_up("bcc17") if each.name in theorems.RANKED_SYSTEMS]
        protocols = setup.protocols(MIN_RATING, size=SIZE, n_sampled=N_SAMPLED)
        found = Grid("synthetic", systems, protocols, ("P@10",))
        run(found, workers=1)
        yield found


@pytest.fixture(scope="module")
def sound(grid):
    return inputs_of(grid)


def inputs_of(grid):
    """What the checks are given, of some of the users who have relevant test items."""
    dataset = load_dataset("synthetic")
    splits = dataset_splits(dataset, grid.split, seed=grid.seed)
    first = splits[0]
    relevant = np.unique(first.test.user[first.test.value >= MIN_RATING])
    users = np.sort(np.random.default_rng(3).choice(relevant, 250, replace=False)).astype(np.int64)
    ranked = theorems.rank_twice(
        grid, first, users=users, min_rating=MIN_RATING, size=SIZE, n_sampled=N_SAMPLED,
        cutoff=CUTOFF,
    )  # fmt: skip
    ratings = dataset.ratings
    return SimpleNamespace(
        grid=grid,
        ratings=ratings,
        splits=splits,
        first=first,
        users=users,
        ranked=ranked,
        statistics=split_statistics(first, "TI", min_rating=MIN_RATING),
        sets=PackageSets.of(first, MIN_RATING),
        published=f"{ratings.n_users} users, {ratings.n_items} items, {len(ratings)} ratings",
        toy=toy.toy_sets(),
        instances=proof.random_instances(1, 300) + proof.instances_of(ranked[1].found),
    )


# -- the checks, each with what it is given ----------------------------------------------------


def _table(inputs, page=None, rows=None):
    return frame.check_task_table(page or task_table(), rows or ROWS)


def _notation(inputs, **change):
    found = dataclasses.replace(inputs.statistics, **change)
    return definitions.check_notation(found, inputs.first, MIN_RATING)


def _equal(inputs, t=None):
    found, size = definitions.equal_sizes()
    return definitions.check_equal_sizes(dataclasses.replace(found, t=t or found.t), size)


def _places(inputs, **tables):
    return definitions.check_places(_with(inputs, **tables))


def _candidates(inputs, **functions):
    sets = inputs.sets._replace(**functions)
    return definitions.check_candidates(sets, inputs.first, inputs.users, MIN_RATING)


def _sizes(inputs, users=None, **tables):
    found = _with(inputs, **tables)[0].stored
    users = inputs.users if users is None else users
    return definitions.check_set_sizes(
        found, inputs.first, users, min_rating=MIN_RATING, n_sampled=N_SAMPLED
    )


def _mixed(inputs, users=None, first=None):
    users = inputs.users if users is None else users
    return definitions.check_mixed(first or inputs.first, users, MIN_RATING)


def _runs(inputs, **tables):
    found = _with(inputs, **tables)[0].stored
    return definitions.check_runs(
        found, inputs.first, inputs.users, min_rating=MIN_RATING, size=SIZE
    )


def _sampling(inputs, **tables):
    return definitions.check_sampling(_with(inputs, **tables), size=SIZE, seed=1)


def _toy(inputs, **sets):
    return toy.check_toy({**inputs.toy, **{k.replace("_", " "): v for k, v in sets.items()}})


def _relevance(inputs, min_rating=MIN_RATING, **tables):
    ranked = _with(inputs, **tables)
    return definitions.check_relevance(ranked, min_rating=min_rating, cutoff=CUTOFF)


def _ar(inputs, **tables):
    n_users = inputs.ratings.n_users
    return theorems.check_ar_precision(_with(inputs, **tables), n_users=n_users, **OPTIONS)


def _1r(inputs, **tables):
    return theorems.check_1r_precision(_with(inputs, **tables), **OPTIONS)


def _ceiling(inputs, change=lambda table: table):
    runs = theorems.oracle_runs(inputs.first, MIN_RATING, SIZE, 1)
    return theorems.check_ceiling(change(runs), MIN_RATING, CUTOFF)


def _setup(inputs, splits=None, grid=None, min_rating=MIN_RATING, published=None):
    return frame.check_setup(
        splits or inputs.splits,
        grid or inputs.grid,
        min_rating=min_rating,
        published=published or inputs.published,
    )


def _run_sizes(inputs, more=0):
    runs = inputs.ranked[0].stored["1R"]
    return frame.check_run_sizes(dataclasses.replace(runs, n_targets=runs.n_targets + more))


def _coverage(inputs, tested=10):
    """All users rate ten items, of which some never come into the test fold."""
    pairs = pd.DataFrame([(u, i, 5) for u in range(4) for i in range(10)])
    ratings = Ratings.from_frame(pairs.set_axis(["user_id", "item_id", "rating"], axis=1))
    fold = np.where(ratings.item < tested, ratings.user % 2, 1)
    return frame.check_coverage(from_fold_labels(ratings, fold)[:1])


def _cost(inputs, n_items=200):
    """All users rate three items of a catalogue, one of them in the test fold and liked."""
    rng = np.random.default_rng(1)
    chosen = [rng.permutation(n_items)[:3].tolist() for _ in range(60)]
    rows = [(user, chosen[user][fold], 5 - fold, fold) for user in range(60) for fold in range(3)]
    frame_ = pd.DataFrame(rows, columns=["user_id", "item_id", "rating", "fold"])
    ratings = Ratings.from_frame(frame_[["user_id", "item_id", "rating"]])
    fold = frame_.sort_values(["user_id", "item_id"])["fold"].to_numpy()
    (first, *_) = from_fold_labels(ratings, fold)
    return frame.check_cost(first, min_rating=5, size=11)


def _lemma(inputs, **tables):
    return theorems.check_lemma(_with(inputs, **tables), **OPTIONS)


def _proof(inputs, change=lambda run, joint: (run, joint)):
    return proof.check_proof([Instance(*change(*each)) for each in inputs.instances], CUTOFF)


def _metrics_of_runs(inputs, ap=lambda x: x, rr=lambda x: x):
    each = inputs.ranked[1]
    found = measure(each.stored["1R"], [parse_metric("AP"), parse_metric("RR")], min_rating=5)
    return theorems.check_one_relevant(
        ap(found[0]), rr(found[1]), definitions.places(each, "1R")[0]
    )


def _run_grades(inputs, threshold=4.0, graded=None, change=lambda table: table):
    each = inputs.ranked[1].stored
    runs = each["1R"]
    # Places stay, grades vary: every second run is of an item rated 4.
    if threshold < 5:
        runs = dataclasses.replace(runs, value=np.where(np.arange(len(runs.value)) % 2, 4.0, 5.0))
    metrics = [parse_metric(f"nDCG{gain}@10") for gain in ("", "(linear)", "(exp)")]
    binary, *others = measure(runs, metrics, min_rating=threshold, rating_max=5)
    return theorems.check_run_grades(
        binary, others if graded is None else [graded(binary, runs)], change(runs), cutoff=CUTOFF
    )


def _ar_grades(inputs, threshold=4.0, **tables):
    return theorems.check_ar_grades(_with(inputs, **tables), threshold=threshold, cutoff=CUTOFF)


# -- ways to break an input --------------------------------------------------------------------


def _with(inputs, **tables):
    """Break stored tables: by label (`x1R` for 1R) a function of all tables of a system."""
    changes = {label.removeprefix("x"): change for label, change in tables.items()}
    return [
        each._replace(
            stored={**each.stored, **{k: change(each.stored, k) for k, change in changes.items()}}
        )
        for each in inputs.ranked
    ]


def later(tables, label):
    """Ranks that are off by one: every item one place too low."""
    table = tables[label]
    return dataclasses.replace(table, rank=np.where(table.rank > 0, table.rank + 1, 0))


def earlier(tables, label):
    """Ranks that are off by one: every item one place too high, but none above the first."""
    table = tables[label]
    return dataclasses.replace(table, rank=np.where(table.rank > 1, table.rank - 1, table.rank))


def random_ranks(tables, label):
    """Ranks that have nothing to do with scores."""
    table, rng = tables[label], np.random.default_rng(0)
    if table.per == "run":
        return dataclasses.replace(table, rank=rng.integers(1, SIZE + 1, len(table.rank)))
    # One list must not have two items at one place: all test items come first, in any order.
    order = np.lexsort((rng.random(len(table.rank)), table.user))
    rank = np.empty_like(table.rank)
    rank[order] = 1 + np.arange(len(rank)) - np.searchsorted(table.user, table.user)
    return dataclasses.replace(table, rank=rank, condensed_rank=rank)


def unshared(tables, label):
    """Runs that each have a sample of their own, given as if they shared one."""
    return tables["1R"]


def _one_more_user(tables, label):
    """Count a user in the mean whom there is not."""
    table = tables[label]
    sizes = {name: np.append(getattr(table, name), 1) for name in ("n_targets", "n_scored")}
    return dataclasses.replace(table, n_users=table.n_users + 1, **sizes)


def _sizes_off(number):
    def change(tables, label):
        return dataclasses.replace(tables[label], n_targets=tables[label].n_targets + number)

    return change


def _rows(select):
    def change(tables, label):
        table = tables[label]
        rows = select(np.arange(len(table.rank)))
        names = ["user", "item", "value", "rank", "condensed_rank"]
        names += ["n_targets", "n_scored"] if table.per == "run" else []
        return dataclasses.replace(table, **{name: getattr(table, name)[rows] for name in names})

    return change


def _popular_sample(inputs):
    """Runs whose samples were drawn from the better half of each pool."""
    rng = np.random.default_rng(0)
    ranked = []
    for each in inputs.ranked:
        own, table = each.found, each.stored["1R"]
        pool, above = own.pool[own.positive], own.above[own.positive]
        half = pool // 2
        best = np.minimum(above, half)
        rank = 1 + rng.hypergeometric(best, half - best, SIZE - 1)
        stored = {**each.stored, "1R": dataclasses.replace(table, rank=rank)}
        ranked.append(each._replace(stored=stored))
    return definitions.check_sampling(ranked, size=SIZE, seed=1)


def _even_sample(inputs):
    """Runs whose samples hold just the expected number of items above the relevant one."""
    ranked = []
    for each in inputs.ranked:
        own, table = each.found, each.stored["1R"]
        share = own.above[own.positive] / own.pool[own.positive]
        rank = 1 + np.round(share * (SIZE - 1)).astype(int)
        stored = {**each.stored, "1R": dataclasses.replace(table, rank=rank)}
        ranked.append(each._replace(stored=stored))
    return definitions.check_sampling(ranked, size=SIZE, seed=1)


def _folds(inputs, labels):
    return _setup(inputs, splits=from_fold_labels(inputs.ratings, labels))


def _biased(inputs):
    shares = [0.21, 0.2, 0.2, 0.2, 0.19]
    return _folds(inputs, np.random.default_rng(0).choice(5, len(inputs.ratings), p=shares))


def _equal_folds(inputs):
    labels = np.arange(len(inputs.ratings)) % 5
    return _folds(inputs, np.random.default_rng(0).permutation(labels))


def _stratified(inputs):
    """Every user's ratings are dealt out evenly."""
    own = np.arange(len(inputs.ratings)) - inputs.ratings.indptr[inputs.ratings.user]
    return _folds(inputs, own % 5)


def _by_user(inputs):
    """All ratings of a user go to one fold."""
    return _folds(inputs, inputs.ratings.user % 5)


def _without(items):
    """Take items out of a function's result: what `items` says for code and user."""

    def change(function):
        return lambda *names: np.setdiff1d(function(*names), items(*names))

    return change


def _rated(inputs, user, low):
    test = inputs.first.test
    rows = slice(test.indptr[user], test.indptr[user + 1])
    return test.item[rows][(test.value[rows] < MIN_RATING) == low]


def _trained(inputs, user):
    train = inputs.first.train
    return train.item[train.indptr[user] : train.indptr[user + 1]]


def _liked_candidates(inputs):
    """Read TI as the items that somebody liked in test."""
    test = inputs.first.test
    liked = np.unique(test.item[test.value >= MIN_RATING])
    return lambda code: liked if code == "TI" else inputs.sets.candidates(code)


def _with_train(inputs, function):
    """Leave the user's own training items in."""
    return lambda code, user: np.union1d(function(code, user), _trained(inputs, user))


def _all_users(inputs):
    return np.arange(inputs.first.test.n_users)


def _bounds(direction):
    return {
        "random ranks": lambda x: _lemma(x, shared=random_ranks),
        "ranks off by one": lambda x: _lemma(x, shared=direction),
        "unshared samples": lambda x: _lemma(x, shared=unshared),
    }


def _ranks(check, label):
    found = {
        "random ranks": lambda x: check(x, **{label: random_ranks}),
        "one too low": lambda x: check(x, **{label: later}),
    }
    if label != "AR":
        found["one too high"] = lambda x: check(x, **{label: earlier})
    return found


def _caption(**sets):
    return {"other sets": lambda x: _toy(x, **sets)}


def _most(value):
    return lambda worst: worst <= value


exact, rounding = _most(0), _most(1e-12)


def likely(p):
    """A p-value that chance gives in all but one of ten thousand sound inputs."""
    return p >= 1e-4


CHECKS = {
    # claim, name: the check on sound input, what it may give, broken inputs
    ("BCC17-T1", "rows"): (
        _table,
        exact,
        {
            "a page without a row": lambda x: _table(x, "\n".join(task_table().split("\n")[:-1])),
            "a page without a cell": lambda x: _table(
                x, task_table().replace("test ratings |", "|")
            ),
            "no page": lambda x: _table(x, "\n"),
            "a ledger without a row": lambda x: _table(x, rows=dict(list(ROWS.items())[1:])),
        },
    ),
    ("BCC17-T2", "sigma"): (_notation, rounding, {"train": lambda x: _notation(x, sigma=0.8)}),
    ("BCC17-T2", "rho"): (
        _notation,
        rounding,
        {
            "ratio of means": lambda x: _notation(
                x, rho=x.statistics.n_relevant_test / x.statistics.t / x.statistics.n_users
            )
        },
    ),
    ("BCC17-T2", "t"): (
        _notation,
        rounding,
        {
            "arithmetic mean": lambda x: _notation(
                x, t=float(np.mean([len(x.sets.targets("TI", u)) for u in _all_users(x)]))
            )
        },
    ),
    ("BCC17-T2", "delta"): (
        _notation,
        rounding,
        {
            "of test ratings": lambda x: _notation(
                x, delta=x.statistics.n_relevant_test / x.statistics.t / x.statistics.n_users
            )
        },
    ),
    ("BCC17-T2", "equal-sizes"): (_equal, rounding, {"the catalogue": lambda x: _equal(x, t=10.0)}),
    ("BCC17-T2", "place"): (
        _places,
        exact,
        {
            f"{label}, {name}": lambda x, label=label, change=change: _places(
                x, **{f"x{label}": change}
            )
            for label in LABELS
            for name, change in (("random", random_ranks), ("off by one", later))
        },
    ),
    ("BCC17-T3", "ai"): (
        _candidates,
        exact,
        {"one missing": lambda x: _candidates(x, candidates=_without(lambda _: [7])(x.sets[0]))},
    ),
    ("BCC17-T3", "ti"): (
        _candidates,
        exact,
        {"liked items only": lambda x: _candidates(x, candidates=_liked_candidates(x))},
    ),
    ("BCC17-T3", "ar"): (
        _candidates,
        exact,
        {
            "no positives": lambda x: _candidates(
                x, targets=_without(lambda _, u: _rated(x, u, low=False))(x.sets.targets)
            )
        },
    ),
    ("BCC17-T3", "an"): (
        _candidates,
        exact,
        {
            "disjoint, but not all": lambda x: _candidates(
                x, others=lambda code, user: x.sets.others(code, user)[1:]
            )
        },
    ),
    ("BCC17-T3", "rest"): (
        _candidates,
        exact,
        {"train stays": lambda x: _candidates(x, targets=_with_train(x, x.sets.targets))},
    ),
    ("BCC17-T3", "inside"): (
        _candidates,
        exact,
        {
            "train stays": lambda x: _candidates(x, others=_with_train(x, x.sets.others)),
            "AI for TI": lambda x: _candidates(x, others=lambda _, u: x.sets.others("AI", u)),
            "positives stay": lambda x: _candidates(x, others=x.sets.targets),
        },
    ),
    ("BCC17-T3", "set-size"): (
        _sizes,
        exact,
        {
            "one more": lambda x: _sizes(x, AR=_sizes_off(1)),
            "TI for AI": lambda x: _sizes(x, AI=lambda tables, _: tables["AR"]),
        },
    ),
    ("BCC17-T3", "sample-size"): (
        _sizes,
        exact,
        {"one less": lambda x: _sizes(x, NN=_sizes_off(-1))},
    ),
    ("BCC17-T3", "one-per-run"): (
        _runs,
        exact,
        {
            "one is missing": lambda x: _runs(x, x1R=_rows(lambda rows: rows[1:])),
            "one comes twice": lambda x: _runs(x, shared=_rows(lambda rows: np.append(rows, 0))),
            "another instead": lambda x: _runs(
                x, x1R=lambda t, _: dataclasses.replace(t["1R"], item=t["1R"].item[::-1])
            ),
        },
    ),
    ("BCC17-T3", "run-size"): (_runs, exact, {"one less": lambda x: _runs(x, x1R=_sizes_off(-1))}),
    ("BCC17-T3", "sampled-uniformly"): (
        _sampling,
        likely,
        {
            "from the better half": _popular_sample,
            "too even": _even_sample,
            "off by one": lambda x: _sampling(x, x1R=later),
            "random ranks": lambda x: _sampling(x, x1R=random_ranks),
        },
    ),
    ("BCC17-F1", "two-sets"): (_toy, exact, _caption(runs="d")),
    ("BCC17-F1", "pools"): (_toy, exact, _caption(TI_pool="abc")),
    ("BCC17-F1", "1r-an"): (_toy, exact, _caption(**{"TI-AN-1R of d": "bcde"})),
    ("BCC17-F1", "sample-ti"): (_toy, exact, _caption(**{"TI-NN-1R of d": "abc"})),
    ("BCC17-F1", "sample-ai"): (_toy, exact, _caption(**{"AI-NN-1R of e": "bc"})),
    ("BCC17-F1", "one-sampled"): (_toy, exact, _caption(**{"TI-NN-1R sizes of d": "23"})),
    ("BCC17-D-RELV", "rated-low"): (
        _candidates,
        exact,
        {
            "low ratings are out": lambda x: _candidates(
                x, others=_without(lambda _, u: _rated(x, u, low=True))(x.sets.others)
            )
        },
    ),
    ("BCC17-D-RELV", "unrated"): (
        _candidates,
        exact,
        {"rated items only": lambda x: _candidates(x, others=lambda _, u: _rated(x, u, low=True))},
    ),
    ("BCC17-D-RELV", "hits"): (
        _relevance,
        rounding,
        {
            "a low rating counts": lambda x: _relevance(x, min_rating=4),
            "off by one": lambda x: _relevance(x, AR=later),
        },
    ),
    ("BCC17-D-RELV", "mixed"): (
        _mixed,
        exact,
        {"users without positives": lambda x: _mixed(x, users=_all_users(x))},
    ),
    ("BCC17-D-RELV", "mixed-runs"): (
        _runs,
        exact,
        {"alone": lambda x: _runs(x, x1R=_sizes_off(1 - SIZE))},
    ),
    ("BCC17-EQ-ARP", "ranks"): (_ar, exact, _ranks(_ar, "AR")),
    ("BCC17-EQ-ARP", "mean"): (
        _ar,
        rounding,
        {**_ranks(_ar, "AR"), "another population": lambda x: _ar(x, AR=_one_more_user)},
    ),
    ("BCC17-EQ1", "ranks"): (_1r, exact, _ranks(_1r, "x1R")),
    ("BCC17-EQ1", "mean"): (_1r, rounding, _ranks(_1r, "x1R")),
    ("BCC17-EQ1", "runs-per-user"): (
        _runs,
        exact,
        {"one is missing": lambda x: _runs(x, x1R=_rows(lambda rows: rows[1:]))},
    ),
    ("BCC17-C-MAX1R", "oracle"): (
        _ceiling,
        rounding,
        {"one run fails": lambda x: _ceiling(x, _one_late)},
    ),
    ("BCC17-SETUP", "folds"): (_setup, exact, {"four": lambda x: _setup(x, splits=x.splits[:4])}),
    ("BCC17-SETUP", "fold-sizes"): (
        _setup,
        likely,
        {
            "biased coins": _biased,
            "equally large": _equal_folds,
            "ten": lambda x: _folds(x, np.random.default_rng(0).integers(10, size=len(x.ratings))),
        },
    ),
    ("BCC17-SETUP", "fold-coins"): (
        _setup,
        likely,
        {"stratified by user": _stratified, "user by user": _by_user},
    ),
    ("BCC17-SETUP", "threshold"): (_setup, exact, {"four": lambda x: _setup(x, min_rating=4.0)}),
    ("BCC17-SETUP", "target-size"): (
        _run_sizes,
        exact,
        {"one less": lambda x: _run_sizes(x, more=-1)},
    ),
    ("BCC17-SETUP", "designs"): (
        _setup,
        exact,
        {
            "1R on AI": lambda x: _setup(
                x,
                grid=dataclasses.replace(
                    x.grid, protocols={**x.grid.protocols, "1R": "AI-NN-1R t=100 rel>=5"}
                ),
            ),
            "no AI": lambda x: _setup(
                x,
                grid=Grid(
                    "synthetic",
                    x.grid.systems,
                    {k: v for k, v in x.grid.protocols.items() if k != "AI"},
                    ("P@10",),
                ),
            ),
        },
    ),
    ("BCC17-SETUP", "systems"): (
        lambda x: _setup(x, grid=dataclasses.replace(x.grid, systems=line_up("bcc17"))),
        exact,
        {"two of five": _setup},
    ),
    **{
        ("BCC17-SETUP", name): (
            _setup,
            exact,
            {
                "MovieLens 1M": lambda x: _setup(
                    x, published="6040 users, 3706 items, 1000209 ratings"
                )
            },
        )
        for name in ("users", "items", "ratings")
    },
    ("BCC17-C-TIAI", "share-tested"): (
        _coverage,
        lambda share: share >= 0.9,
        {"eight of ten": lambda x: _coverage(x, tested=8)},
    ),
    ("BCC17-C-SIG", "ranked-items"): (
        _cost,
        lambda share: share <= 0.5,
        {"a catalogue smaller than the sets": lambda x: _cost(x, n_items=9)},
    ),
    ("BCC17-C-THETA", "upper"): (_lemma, exact, _bounds(earlier)),
    ("BCC17-L1", "ranks"): (
        _lemma,
        exact,
        {**_ranks(_lemma, "shared"), "unshared samples": lambda x: _lemma(x, shared=unshared)},
    ),
    ("BCC17-L1", "lower"): (_lemma, exact, _bounds(later)),
    ("BCC17-L1", "upper"): (_lemma, exact, _bounds(earlier)),
    ("BCC17-L1", "joint-ranks"): (_lemma, exact, _bounds(later)),
    ("BCC17-L1", "lower-value"): (_lemma, rounding, _bounds(later)),
    ("BCC17-L1", "upper-value"): (_lemma, rounding, _bounds(earlier)),
    ("BCC17-L1-PROOF", "step-1"): (
        _proof,
        exact,
        {"exchanged": lambda x: _proof(x, lambda run, joint: (joint, run))},
    ),
    ("BCC17-L1-PROOF", "step-2"): (
        _proof,
        exact,
        {"exchanged": lambda x: _proof(x, lambda run, joint: (joint, run))},
    ),
    # As printed the inequality is refuted on sound input, and an input made for it confirms it.
    ("BCC17-L1-PROOF", "printed"): (
        _proof,
        lambda worst: worst > 0,
        {"as if it held": lambda x: _proof(x, lambda run, joint: (joint + len(run) - 1, joint))},
    ),
    **{
        ("BCC17-L1-PROOF", name): (
            _proof,
            exact,
            {"pushed down too far": lambda x: _proof(x, lambda run, joint: (run, run + len(run)))},
        )
        for name in ("corrected", "step-5", "step-6")
    },
    ("BCC17-C-1RRED", "ap-is-rr"): (
        _metrics_of_runs,
        exact,
        {"AP of two": lambda x: _metrics_of_runs(x, ap=lambda ap: ap / 2)},
    ),
    ("BCC17-C-1RRED", "ap"): (
        _metrics_of_runs,
        rounding,
        {"of other runs": lambda x: _metrics_of_runs(x, ap=lambda ap: ap[::-1])},
    ),
    ("BCC17-C-1RRED", "rr"): (
        _metrics_of_runs,
        rounding,
        {"of other runs": lambda x: _metrics_of_runs(x, rr=lambda rr: rr[::-1])},
    ),
    ("BCC17-C-1RRED", "grades"): (
        _run_grades,
        lambda grades: grades >= 2,
        {"the top star alone": lambda x: _run_grades(x, threshold=5.0)},
    ),
    ("BCC17-C-1RRED", "ndcg-of-runs"): (
        _run_grades,
        rounding,
        {"not normalised": lambda x: _run_grades(x, graded=lambda b, runs: b * runs.value / 5)},
    ),
    ("BCC17-C-1RRED", "ndcg"): (
        _run_grades,
        rounding,
        {"off by one": lambda x: _run_grades(x, change=lambda t: later({"1R": t}, "1R"))},
    ),
    ("BCC17-C-1RRED", "grades-under-ar"): (
        _ar_grades,
        lambda largest: largest > 1e-12,
        {"the top star alone": lambda x: _ar_grades(x, threshold=5.0)},
    ),
    ("BCC17-C-1RRED", "ndcg-under-ar"): (_ar_grades, rounding, _ranks(_ar_grades, "AR")),
}


def _one_late(table):
    rank = table.rank.copy()
    rank[0] = CUTOFF + 1
    return dataclasses.replace(table, rank=rank)


def _worst(checks, claim, name):
    (found,) = [check for check in checks if (check.claim, check.name) == (claim, name)]
    assert found.n_checked > 0
    return found.worst


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


@pytest.fixture(scope="module")
def made(grid):
    """All checks of the chapter on the synthetic data, by claim and name."""
    given = {"seed": grid.seed, "min_rating": MIN_RATING, "size": SIZE}
    of_data, _ = theorems.checks.function(
        load_dataset("synthetic"), split=grid.split, grid=grid, **given
    )
    of_any, _ = theorems.identities.function()
    rows = [*of_data, *of_any]
    assert len({(row.claim, row.name) for row in rows}) == len(rows)
    return {(row.claim, row.name): row for row in rows}


@pytest.mark.slow
def test_every_check_of_the_chapter_has_a_twin(made):
    assert set(made) == set(CHECKS)


@pytest.mark.slow
def test_the_synthetic_data_refute_what_they_have_to(made):
    """They are no MovieLens 1M, some users like nothing, and the grid has two systems only."""
    refuted = {key for key, (_, allowed, _) in CHECKS.items() if not allowed(made[key].worst)}
    assert refuted == {
        ("BCC17-D-RELV", "mixed"),
        ("BCC17-C-TIAI", "share-tested"),
        *(("BCC17-SETUP", name) for name in ("users", "items", "ratings", "systems")),
    }


def test_a_grid_without_systems_or_labels_is_refused(grid, sound):
    others = tuple(each for each in line_up("bcc17") if each.name not in theorems.RANKED_SYSTEMS)
    other = dataclasses.replace(grid, systems=others)
    options = {"users": sound.users, "size": SIZE, "n_sampled": N_SAMPLED, **OPTIONS}
    with pytest.raises(ConfigError, match="the grid lacks Popularity, pLSA; give that"):
        theorems.rank_twice(other, sound.first, **options)


def test_a_system_that_was_left_out_is_not_ranked_again(grid, sound):
    other = grid.with_systems(["Popularity"])
    options = {"users": sound.users, "size": SIZE, "n_sampled": N_SAMPLED, **OPTIONS}
    (ranked,) = theorems.rank_twice(other, sound.first, **options)
    assert ranked.system == "Popularity"


def test_users_for_whom_nothing_is_listed_have_no_hits(sound):
    ranked = []
    for system, own, stored in sound.ranked:
        silent = own.users[::3]

        def unlisted(user, rank, silent=silent):
            return np.where(np.isin(user, silent), 0, rank)

        tables = {
            label: dataclasses.replace(table, rank=unlisted(table.user, table.rank))
            for label, table in stored.items()
        }
        ranks = {label: unlisted(own.user, rank) for label, rank in own.ranks.items()}
        joint = unlisted(own.user, own.joint)
        own = dataclasses.replace(own, ranks=ranks, joint=joint)
        ranked.append(definitions.RankedTwice(system, own, tables))
    checks = [
        *theorems.check_1r_precision(ranked, **OPTIONS),
        *theorems.check_lemma(ranked, **OPTIONS),
        *theorems._check_metrics_of_runs(ranked, MIN_RATING),
    ]
    assert {check.name for check in checks if check.worst > 1e-12} == set()


def test_metrics_of_stored_runs_are_compared_with_sorted_runs(sound):
    checks = theorems._check_metrics_of_runs(_with(sound, x1R=later), MIN_RATING)
    assert {check.name for check in checks if check.worst > 1e-3} == {"ap", "rr"}


def test_a_threshold_is_lowered_to_the_second_grade_where_needed(sound):
    assert theorems._several_grades(sound.first, 5.0) == 4.0
    assert theorems._several_grades(sound.first, 2.0) == 2.0


def test_a_ledger_without_the_sizes_of_the_data_is_refused(sound):
    with pytest.raises(ConfigError, match="no number of items in '6040 users' of the ledger"):
        _setup(sound, published="6040 users")


def test_ranks_of_other_ratings_are_not_compared(sound):
    with pytest.raises(ConfigError, match="stored ranks are of other ratings"):
        _ar(sound, AR=_rows(lambda rows: rows[::-1]))


# -- p-values ----------------------------------------------------------------------------------


def _false_alarms(p_values):
    """Compare how often p is small with how often it may be, in standard errors."""
    shares = np.array([0.02, 0.1, 0.3, 0.7])
    found = (np.array(p_values)[:, None] <= shares).mean(axis=0)
    return np.abs(found - shares) / np.sqrt(shares * (1 - shares) / len(p_values))


@pytest.mark.parametrize("n_folds", [1, 3, 5])
@pytest.mark.parametrize("n_columns", [1, 400])
def test_fair_coins_are_called_unfair_as_often_as_stated(n_folds, n_columns):
    rng = np.random.default_rng(4)
    p_values = []
    for _ in range(200):
        totals = rng.integers(2, 200, n_columns) if n_columns > 1 else np.array([10_000])
        shares = [0.2] * n_folds + [1 - 0.2 * n_folds]
        counts = rng.multinomial(totals, np.maximum(shares, 0)).T[:n_folds]
        p_values.append(frame._coins(counts, totals))
    assert _false_alarms(p_values).max() < 4


@pytest.mark.parametrize("n_folds", [1, 3, 5])
def test_p_of_many_coins_has_the_moments_of_all_outcomes(n_folds):
    """Of up to three ratings each: every outcome can be listed. Columns of none do not count."""
    shares = [0.2] * n_folds + [1 - 0.2 * n_folds] * (n_folds < 5)
    totals = np.array([1, 2, 3, 3, 0])
    mean = variance = 0.0
    for n in totals[totals > 0].tolist():
        outcomes = [
            np.bincount(each, minlength=len(shares))
            for each in itertools.product(range(len(shares)), repeat=n)
        ]
        likely = np.array([np.prod(np.array(shares) ** each) for each in outcomes])
        far = np.array(
            [((o - np.array(shares) * n) ** 2 / np.array(shares) / n).sum() for o in outcomes]
        )
        mean += likely @ far
        variance += likely @ far**2 - (likely @ far) ** 2
    counts = np.zeros((len(shares), 5), dtype=np.int64)
    counts[0] = totals
    found = frame._coins(counts[:n_folds], totals)
    statistic = (
        (counts[:, :4] - np.outer(shares, totals[:4])) ** 2 / np.outer(shares, totals[:4])
    ).sum()
    tail = math.erfc(abs(statistic - mean) / math.sqrt(2 * variance))
    assert found == pytest.approx(tail, rel=1e-9)


def test_folds_that_do_not_add_up_have_no_chance():
    totals = np.array([5, 5])
    assert frame._coins(np.ones((5, 2), dtype=np.int64), totals) > 0
    missing = np.array([[1, 1], [1, 1], [1, 1], [1, 1], [1, 0]])
    assert frame._coins(missing, totals) == 0
    assert frame._coins(np.ones((6, 2), dtype=np.int64), np.array([6, 6])) == 0


def test_the_cost_of_runs_is_that_of_a_count_by_hand(sound):
    """Sizes at which pools are large enough for the smaller sets and too small for the larger."""
    test, train = sound.first.test, sound.first.train
    rated = {(u, i) for part in (test, train) for u, i in zip(part.user, part.item, strict=True)}
    tested, relevant = np.unique(test.item).tolist(), test.value >= MIN_RATING
    size = len(tested) // 10
    fewer = more = 0
    for user in np.unique(test.user[relevant]).tolist():
        disliked = set(test.item[(test.user == user) & ~relevant].tolist())
        pool = len(disliked) + sum((user, item) not in rated for item in tested)
        n_runs = int((relevant & (test.user == user)).sum())
        fewer += n_runs * (1 + min(size - 1, pool))
        more += n_runs * (1 + min(10 * size, pool))
    (check,) = frame.check_cost(sound.first, min_rating=MIN_RATING, size=size)
    assert check.worst == pytest.approx(fewer / more, rel=1e-12)


def _proved(run, joint, cutoff):
    checks = proof.check_proof([Instance(np.array(run), np.array(joint))], cutoff)
    return {check.name: check.worst for check in checks}


def test_the_proof_is_tried_on_the_ranks_of_a_set_worked_by_hand():
    """Relevant items at 1, 2 and 4 of the joint set, so at 1, 1 and 2 of their runs; n is 2."""
    found = _proved([1, 1, 2], [1, 2, 4], 2)
    assert (found["step-1"], found["step-2"], found["printed"]) == (0, -1, 4)
    assert found["corrected"] == found["step-5"] == found["step-6"] == 0


def test_the_proof_is_tried_on_every_user_with_a_listed_relevant_item(sound):
    own = sound.ranked[1].found
    joint = own.joint.copy()
    joint[::7] = 0
    own = dataclasses.replace(own, joint=joint)
    expected = []
    for user in own.users.tolist():
        rows = np.flatnonzero((own.user == user) & (joint > 0)).tolist()
        rows = [row for row in rows if own.value[row] >= MIN_RATING]
        if rows:
            expected.append((own.ranks["shared"][rows].tolist(), joint[rows].tolist()))
    found = proof.instances_of(own)
    assert [(run.tolist(), in_all.tolist()) for run, in_all in found] == expected
    assert proof.instances_of(dataclasses.replace(own, joint=0 * joint)) == []


@pytest.mark.parametrize("shape", [(5, 5), (1, 30)])
def test_p_of_classes_is_that_of_scipy(shape):
    counts = np.random.default_rng(1).integers(20, 60, shape).ravel()
    found = definitions._chi_square(counts, int(counts.sum()))
    assert found == pytest.approx(chisquare(counts).pvalue, rel=1e-9)


def test_a_set_of_relevant_items_only_is_counted():
    """Of a, who has x and y in training, only z is a target, which a likes; b has both kinds."""
    rows = [
        ("a", "x", 5),
        ("a", "y", 5),
        ("a", "z", 5),
        ("b", "x", 5),
        ("b", "y", 5),
        ("b", "z", 1),
    ]
    pairs = pd.DataFrame(rows, columns=["user_id", "item_id", "rating"])
    split = from_fold_labels(Ratings.from_frame(pairs), np.array([1, 1, 0, 1, 0, 0]))[0]
    (check,) = definitions.check_mixed(split, np.arange(2), MIN_RATING)
    assert (check.n_checked, check.worst) == (4, 2)


def test_unrated_items_that_are_missing_are_not_called_rated_low(sound):
    """Each kind of item that N_u lacks is counted apart."""
    checks = _candidates(sound, others=lambda _, user: _rated(sound, user, low=True))
    missing = {each.name: each.worst for each in checks if each.claim == "BCC17-D-RELV"}
    assert missing["rated-low"] == 0
    assert missing["unrated"] > 0


def test_the_largest_of_none_is_zero():
    assert definitions.largest([]) == 0


def test_sizes_are_those_of_sets_counted_by_hand(sound):
    test, train = sound.first.test, sound.first.train
    users = sound.users[:20]
    sizes = definitions._Sizes.of(sound.first, users, MIN_RATING)
    tested = set(test.item.tolist())
    for place, user in enumerate(users.tolist()):
        trained = set(train.item[train.user == user].tolist())
        liked = set(test.item[(test.user == user) & (test.value >= MIN_RATING)].tolist())
        assert sizes.relevant[place] == len(liked)
        assert sizes.pool[place] == len(tested - trained - liked)
        assert sizes.targets["TI"][place] == len(tested - trained)
        assert sizes.targets["AI"][place] == len(set(range(test.n_items)) - trained)


def test_a_run_of_another_item_is_one_too_few_and_one_too_many(sound):
    def of_another_item(tables, label):
        table, test = tables[label], sound.first.test
        own = test.item[(test.user == table.user[0]) & (test.value >= MIN_RATING)]
        item = table.item.copy()
        item[0] = np.setdiff1d(np.arange(test.n_items), own)[0]
        return dataclasses.replace(table, item=item)

    assert _worst(_runs(sound, x1R=of_another_item), "BCC17-T3", "one-per-run") == 2


@pytest.mark.parametrize("threshold", [-1.0, 0.0])
def test_grades_count_from_one_where_ratings_may_be_below_zero(sound, threshold):
    moved = []
    for each in sound.ranked:
        table = dataclasses.replace(each.stored["AR"], value=each.stored["AR"].value - 5)
        ranks = dataclasses.replace(each.found, value=each.found.value - 5)
        moved.append(each._replace(found=ranks, stored={**each.stored, "AR": table}))
    checks = theorems.check_ar_grades(moved, threshold=threshold, cutoff=CUTOFF)
    assert _worst(checks, "BCC17-C-1RRED", "ndcg-under-ar") < 1e-12
    assert [theorems._by_grade(number) for number in (0, 1)] == ["steps", "linear"]


def test_a_run_that_is_not_listed_has_no_gain(sound):
    runs = sound.ranked[1].stored["1R"]
    runs = dataclasses.replace(runs, rank=np.where(np.arange(len(runs.rank)) % 3, runs.rank, 0))
    (values,) = measure(runs, [parse_metric("nDCG@10")], min_rating=5)
    checks = theorems.check_run_grades(values, [values], runs, cutoff=CUTOFF)
    assert _worst(checks, "BCC17-C-1RRED", "ndcg") < 1e-12


def test_one_biased_system_is_enough(sound):
    plain, biased = sound.ranked
    table = biased.stored["1R"]
    last = dataclasses.replace(table, rank=table.n_targets)
    ranked = [plain, biased._replace(stored={**biased.stored, "1R": last})]
    (check,) = definitions.check_sampling(ranked, size=SIZE, seed=1)
    assert check.worst < 1e-9


def test_uniform_samples_are_called_biased_as_often_as_stated():
    rng = np.random.default_rng(4)
    p_values = []
    for seed in range(200):
        pool = rng.integers(150, 400, 300)
        above = (pool * rng.random(300) ** 3).astype(int)
        own = SimpleNamespace(pool=pool, above=above, positive=np.ones(300, dtype=bool))
        table = SimpleNamespace(rank=1 + rng.hypergeometric(above, pool - above, SIZE - 1))
        ranked = [definitions.RankedTwice("x", own, {"1R": table})]
        (check,) = definitions.check_sampling(ranked, size=SIZE, seed=seed)
        p_values.append(check.worst)
    assert _false_alarms(p_values).max() < 4
