"""Every algorithm keeps the contract, and each way of breaking it is noticed."""

import inspect

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from recbias.data.simulation import make_world
from recbias.errors import ContractError, DataError
from recbias.recommenders import (
    BiasedMF,
    Popularity,
    Random,
    System,
    algorithms,
    bcc17_grid,
    line_up,
)
from recbias.recommenders import algorithm as algorithm_named
from recbias.recommenders.base import Algorithm
from recbias.testing import check_recommender
from recommender_tables import table

SYSTEMS = line_up("bcc17")


@pytest.mark.parametrize("name", algorithms())
def test_every_algorithm_keeps_the_contract(name):
    check_recommender(algorithm_named(name))


@pytest.fixture(scope="module")
def wide_enough_for_threads():
    """A table whose products BLAS shares out among threads."""
    return make_world(seed=5, n_users=400, n_items=600, n_ratings=12_000).ratings


@pytest.mark.parametrize("name", algorithms())
def test_threads_change_no_bit(name, wide_enough_for_threads):
    train, users = wide_enough_for_threads, np.arange(400)
    fields = inspect.signature(algorithm_named(name)).parameters
    short = {part: 2 for part in ("n_epochs", "n_iterations") if part in fields}
    scores = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads):
            model = algorithm_named(name)(**short).fit(train, rng=np.random.default_rng(1))
            scores.append(model.score(users))
    np.testing.assert_array_equal(*scores)


def scores_under_seeds(make, train):
    """Fit under two seeds and return the bits of the scores."""
    users = np.arange(train.n_users)
    fitted = (make().fit(train, rng=np.random.default_rng(seed)) for seed in (1, 2))
    return [model.score(users).tobytes() for model in fitted]


def assert_marked_rightly(make, train):
    """Compare what a class says of its randomness with what two seeds give."""
    first, second = scores_under_seeds(make, train)
    same = first == second  # not below: pytest would write out how thousands of scores differ
    assert same == getattr(make(), "deterministic", False)


@pytest.fixture(scope="module")
def with_ties():
    """A small table of whole stars, in which similarities tie."""
    return make_world(seed=9, n_users=120, n_items=80, n_ratings=900).ratings


@pytest.mark.parametrize("name", algorithms())
def test_a_class_says_whether_its_training_is_random(name, with_ties):
    assert_marked_rightly(algorithm_named(name), with_ties)


def test_wrong_marks_are_noticed(with_ties):
    class SaysDeterministic(BiasedMF):
        deterministic = True

    class SaysRandom(Popularity):
        deterministic = False

    class SaysNothing(BiasedMF):
        pass

    for wrong in (SaysDeterministic, SaysRandom):
        with pytest.raises(AssertionError):
            assert_marked_rightly(wrong, with_ties)
    assert_marked_rightly(SaysNothing, with_ties)


def test_a_mark_may_hang_on_a_parameter(with_ties):
    whole, part = (
        System("SLIM", "SLIMPenaltyByPopularity", {"profile_share": share}) for share in (1, 0.5)
    )
    assert (whole.random_training, part.random_training) == (False, True)
    for system in (whole, part):
        assert_marked_rightly(system.build, with_ties)


@pytest.mark.parametrize("part", ["knn-rating", "mf-rating", "knn-ranking", "mf-ranking"])
def test_corners_of_the_grids_keep_the_contract(part):
    systems = bcc17_grid(part)
    check_recommender(systems[0])
    # The far corner of the kNN grid asks for 20 common items, which the check's table has not.
    check_recommender(systems[len(systems) // 4])


class Broken(Popularity):
    """A recommender that breaks one promise."""

    def _fit(self, train, rng):
        super()._fit(train, rng)
        self.train = train
        self.rng = rng

    def score(self, users):
        return self.change(super().score(users), users)

    def change(self, scores, users):
        return scores


class FitReturnsNothing(Broken):
    def fit(self, train, *, rng=None):
        super().fit(train, rng=rng)


class ChangesTrain(Broken):
    def _fit(self, train, rng):
        super()._fit(train, rng)
        value = train.value.copy()
        value[0] = 5
        object.__setattr__(train, "value", value)


class GlobalRandomState(Broken):
    def change(self, scores, users):
        np.random.random()  # noqa: NPY002
        return scores


class FloatScores(Broken):
    def change(self, scores, users):
        return scores.astype(np.float64)


class ListOfScores(Broken):
    def change(self, scores, users):
        return scores.tolist()


class TooFewItems(Broken):
    def change(self, scores, users):
        return scores[:, 1:]


class Infinite(Broken):
    def change(self, scores, users):
        scores[:, 0] = np.inf
        return scores


class ScoresUnknownItems(Broken):
    def change(self, scores, users):
        return np.nan_to_num(scores)


class LeavesOutKnownItems(Broken):
    def change(self, scores, users):
        scores[:, 0] = np.nan
        return scores


class NothingAtAll(Broken):
    coverage = "evidence"

    def change(self, scores, users):
        return scores * np.float32(np.nan)


class UnknownCoverage(Broken):
    coverage = "some"


class SharesItsBlock(Broken):
    def score(self, users):
        if not hasattr(self, "block"):
            self.block = super().score(np.arange(self.train.n_users))
        return self.block[users[0] : users[-1] + 1] if len(users) else self.block[:0]


class NoEmptyBlock(Broken):
    def change(self, scores, users):
        return scores if len(users) else np.empty((0, 1), dtype=np.float32)


class DependsOnTheBlock(Broken):
    def change(self, scores, users):
        return scores + np.float32(len(users))


class IgnoresTheOrderOfUsers(Broken):
    def change(self, scores, users):
        return scores + np.sort(users)[:, None].astype(np.float32)


class IgnoresItsSeed(Broken):
    def _fit(self, train, rng):
        super()._fit(train, np.random.default_rng())
        self.noise = self.rng.random(train.n_items).astype(np.float32)

    def change(self, scores, users):
        return scores + self.noise


class SaysItIsDeterministic(Broken):
    deterministic = True

    def _fit(self, train, rng):
        super()._fit(train, rng)
        self.noise = rng.random(train.n_items).astype(np.float32)

    def change(self, scores, users):
        return scores + self.noise


class DrawsWhenScoring(Broken):
    def change(self, scores, users):
        return scores + np.float32(self.rng.random())


class RemembersTheLastFit(Broken):
    n_fits = 0

    def _fit(self, train, rng):
        super()._fit(train, rng)
        self.n_fits += 1

    def change(self, scores, users):
        return scores * np.float32(self.n_fits)


class PrefersLowNumbers(Broken):
    def change(self, scores, users):
        return scores + users[:, None].astype(np.float32)


class PrefersItemsWithLowNumbers(Broken):
    def change(self, scores, users):
        return scores + np.arange(scores.shape[1], dtype=np.float32)


class Climbs(Broken):
    """Says that its objective falls, and it rises."""

    objective_trend = "falls"

    def _fit(self, train, rng):
        super()._fit(train, rng)
        for number in self._iterations(3, train):
            self.number = number

    def _objective(self, train):
        return float(self.number)


class NeverReports(Broken):
    objective_trend = "rises"


class InfiniteOnOneRating(Broken):
    def change(self, scores, users):
        return scores if len(self.train) > 1 else scores + np.float32(np.inf)


class SilentOnPlainRatings(Broken):
    def change(self, scores, users):
        return scores if np.ptp(self.train.value) else np.full_like(scores, np.nan)


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (FitReturnsNothing, "fit is not self"),
        (ChangesTrain, "fit changed the training ratings"),
        (GlobalRandomState, "global random state"),
        (FloatScores, "scores are float64, expected float32"),
        (ListOfScores, "scores are a list, not an array"),
        (TooFewItems, "scores have shape"),
        (Infinite, "a score is infinite"),
        (ScoresUnknownItems, "a pair without training data has a score"),
        (LeavesOutKnownItems, "a pair that it includes has no score"),
        (NothingAtAll, "no pair has a score"),
        (UnknownCoverage, "coverage 'some' is none of"),
        (SharesItsBlock, "writing into a block changed later scores"),
        (NoEmptyBlock, "no users gave no empty block"),
        (DependsOnTheBlock, "scores depend on the block"),
        (IgnoresTheOrderOfUsers, "rows do not follow the order of users"),
        (IgnoresItsSeed, "equal seeds gave different scores"),
        (SaysItIsDeterministic, "deterministic, but two seeds gave different scores"),
        (DrawsWhenScoring, "writing into a block changed later scores"),
        (RemembersTheLastFit, "state was left over"),
        (PrefersLowNumbers, "scores depend on how users are numbered"),
        (PrefersItemsWithLowNumbers, "scores depend on how items are numbered"),
        (Climbs, "the objective, which falls, went the other way"),
        (NeverReports, "no iteration reported it"),
        (InfiniteOnOneRating, "with a single rating, a score is infinite"),
        (SilentOnPlainRatings, "with a single rating: coverage 'known items', but a pair that it"),
    ],
)
def test_a_broken_promise_is_named(broken, message):
    with pytest.raises(ContractError, match=f"(?s)^{broken.__name__}: .*{message}"):
        check_recommender(broken)


class Own:
    """A class that owes nothing to the package, and keeps every promise but one."""

    def fit(self, train, *, rng=None):
        self.known = (train.user_counts() > 0)[:, None] & (train.item_counts() > 0)
        return self

    def score(self, users):
        return np.where(self.known[users], np.float32(1), np.float32(np.nan))


class NeedsArgument(Own):
    def __init__(self, n):
        self.n = n


class ForgetsItsArgument(Own):
    def __init__(self, n=1):
        self.m = n


class NoFit:
    score = Own.score


class NoScore:
    fit = Own.fit


class FitWithoutRng(Own):
    def fit(self, train):
        return super().fit(train)


class FitFails(Own):
    def fit(self, train, *, rng=None):
        raise KeyError("ratings")


class ScoreOfOneUser(Own):
    def score(self, user):
        return super().score(int(user))


class ScoresNothing(Own):
    def score(self, users):
        pass


class OneDimension(Own):
    def score(self, users):
        return super().score(users).sum(axis=1)


class Objects(Own):
    def score(self, users):
        return super().score(users).astype(object)


class FailsWithoutUsers(Own):
    def score(self, users):
        return np.stack([super(FailsWithoutUsers, self).score([user])[0] for user in users])


class ReadOnly(Own):
    def score(self, users):
        scores = super().score(users)
        scores.flags.writeable = False
        return scores


class FailsAtTheEdge(Own):
    def fit(self, train, *, rng=None):
        _ = 1 // (len(train) - 1)
        return super().fit(train, rng=rng)


class FailsTheSecondTime(Own):
    def fit(self, train, *, rng=None):
        if hasattr(self, "known"):
            raise RuntimeError("fitted already")
        return super().fit(train, rng=rng)


class NoTrend(Own):
    objective_trend = "falls"


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (NeedsArgument, "making it without arguments raised TypeError: .*'n'"),
        (ForgetsItsArgument, "its argument 'n' is kept in no attribute"),
        (NoFit, "it has no method fit"),
        (NoScore, "it has no method score"),
        (FitWithoutRng, r"fit\(train, rng=...\) raised TypeError: .*'rng'"),
        (FitFails, r"fit\(train, rng=...\) raised KeyError: 'ratings'"),
        (ScoreOfOneUser, r"score\(users\) raised TypeError"),
        (ScoresNothing, "scores are None, not an array"),
        (OneDimension, r"scores have shape \(40,\), expected \(40, 30\)"),
        (Objects, "scores are object, expected float32"),
        (FailsWithoutUsers, "score of no users raised ValueError: need at least one array"),
        (ReadOnly, "writing into the block that score returned raised ValueError"),
        (FailsAtTheEdge, "with a single rating, fit or score raised ZeroDivisionError"),
        (FailsTheSecondTime, r"fit\(train, rng=...\) raised RuntimeError: fitted already"),
        (NoTrend, r"fit\(train, rng=..., on_iteration=...\) raised TypeError"),
    ],
)
def test_a_raw_error_is_told_as_the_promise_that_it_breaks_and_as_no_other(broken, message):
    check_recommender(Own)
    with pytest.raises(ContractError, match=f"^{broken.__name__}: {message}"):
        check_recommender(broken)


@pytest.mark.parametrize(
    ("given", "shown"),
    [(Own(), "got .*Own .*object"), ("Popularity", "got 'Popularity',"), (None, "got None,")],
)
def test_what_makes_no_recommender_is_told_so(given, shown):
    with pytest.raises(ContractError, match=f"check_recommender: {shown}.* expected what makes"):
        check_recommender(given)


def test_all_broken_promises_are_listed():
    class Hopeless(Own):
        deterministic = True

        def __init__(self, n=1):
            pass

        def fit(self, train, *, rng=None):
            self.noise = np.random.random()  # noqa: NPY002
            super().fit(train, rng=rng)

        def score(self, users):
            return super().score(users).astype(float) + self.noise

    with pytest.raises(ContractError) as caught:
        check_recommender(Hopeless)
    assert str(caught.value).splitlines() == [
        "Hopeless: breaks 7 promises",
        "- its argument 'n' is kept in no attribute",
        "- fit is not self: it returned None",
        "- scores are float64, expected float32",
        "- it drew from NumPy's global random state instead of rng",
        "- equal seeds gave different scores",
        "- fitting again gave different scores: state was left over",
        "- it says that it is deterministic, but two seeds gave different scores",
    ]


def test_a_class_may_admit_that_ties_go_by_number():
    class Admits(PrefersItemsWithLowNumbers):
        breaks_ties_by_number = True

    check_recommender(Admits)


def test_an_error_that_says_what_to_do_is_a_defined_result_at_the_edge():
    class NeedsTwo(Popularity):
        def _fit(self, train, rng):
            if len(train) < 2:
                raise DataError("two ratings are needed")
            super()._fit(train, rng)

    check_recommender(NeedsTwo)


def test_randomness_without_a_seed_differs():
    train = table([[1.0, 2.0, 3.0], [np.nan, 1.0, 2.0]])
    first, second = (Random().fit(train).score(np.array([0])) for _ in range(2))
    assert not np.array_equal(first, second)


@pytest.fixture(scope="module")
def planted():
    """Three groups of 60 users, each at home in 20 of 60 items, and 6 items that all rate."""
    rng = np.random.default_rng(11)
    n_users, n_items = 180, 66
    home = np.zeros((n_users, n_items), dtype=bool)
    for group in range(3):
        home[60 * group : 60 * (group + 1), 20 * group : 20 * (group + 1)] = True
    chance = np.where(home, 0.55, 0.05)
    chance[:, 60:] = 0.4
    seen = rng.random(home.shape) < chance
    stars = np.where(home, 4.5, 2.0) + rng.uniform(-0.5, 0.5, home.shape)
    held_out = seen & (rng.random(home.shape) < 0.3)
    train = table(np.where(seen & ~held_out, stars, np.nan), name="planted")
    return train, held_out & home


def precision_at_5(system, train, relevant):
    scores = system.build().fit(train, rng=np.random.default_rng(3)).score(np.arange(train.n_users))
    scores[train.user, train.item] = -np.inf
    top = np.argsort(-np.nan_to_num(scores, nan=-np.inf), axis=1)[:, :5]
    return np.take_along_axis(relevant, top, axis=1).mean()


@pytest.mark.parametrize("system", SYSTEMS[2:], ids=lambda system: system.name)
def test_personalised_systems_find_the_planted_taste(system, planted):
    smaller = {"n_topics": 3, "n_factors": 3, "n_neighbours": 20, "n_epochs": 200}
    fitting = {name: value for name, value in smaller.items() if name in system.parameters}
    popularity = precision_at_5(SYSTEMS[1], *planted)
    assert precision_at_5(system.replace("small", **fitting), *planted) > 1.5 * popularity


def test_the_base_class_cannot_be_built():
    with pytest.raises(TypeError):
        Algorithm()


class _Counts:
    """Keeps the contract; its subclasses break it in ways that once ended in raw errors."""

    coverage = "known items"

    def fit(self, train, *, rng=None):
        self.scores = np.where(train.item_counts() > 0, train.item_counts(), np.nan)
        return self

    def score(self, users):
        return np.tile(np.float32(self.scores), (len(users), 1))


class _ChangesUsers(_Counts):
    def score(self, users):
        users[:] = 0
        return super().score(users)


class _Exits(_Counts):
    def fit(self, train, *, rng=None):
        raise SystemExit(3)


def test_a_class_that_changes_the_users_asked_or_leaves_python_breaks_the_contract():
    check_recommender(_Counts)
    with pytest.raises(ContractError, match=r"^_ChangesUsers: score changed the numbers of users"):
        check_recommender(_ChangesUsers)
    with pytest.raises(ContractError, match=r"^_Exits: fit.* raised SystemExit: 3"):
        check_recommender(_Exits)
