"""Trust is measured against judgments that no universe sees, and what it says can fail."""

from __future__ import annotations

import dataclasses
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest

from recbias import System, load_dataset
from recbias._system.streams import stream
from recbias.data.simulation import parse_world
from recbias.errors import ConfigError
from recbias.multiverse import agreement, default_options, kinds, universes, weights
from recbias.multiverse.agreement import Tried, effects, right, tried_signs, true_signs
from recbias.multiverse.kinds import (
    FEWEST,
    KINDS,
    ROBUST,
    TRUE,
    UNKNOWN,
    Kind,
    Place,
    compared,
    place_of,
)
from recbias.multiverse.weights import called_robust, may_say, summed, trusted, weigh
from recbias.protocol.testset import dataset_splits
from unequal_users import ratings_of_unequal_users

SMALL = "world(relation=0.5,skew=0.4,users=120,items=150,density=0.08,seed=3)"
SYSTEMS = (
    System("Popularity", "Popularity"),
    System("AverageRating", "AverageRating"),
    System("kNN", "UserKNN", {"n_neighbours": 10}),
)


@pytest.fixture(scope="module", autouse=True)
def cells(tmp_path_factory):
    patch = pytest.MonkeyPatch()
    patch.setenv("RECBIAS_CELLS", str(tmp_path_factory.mktemp("cells")))
    yield
    patch.undo()


# -- kinds -----------------------------------------------------------------------------------------


def test_worlds_kept_apart_are_others_and_lie_in_the_range_of_their_kind():
    seeds = [seed for kind in KINDS for apart in (False, True)
             for seed in kind.worlds(apart=apart).values()]  # fmt: skip
    assert len(set(seeds)) == len(seeds) == len(KINDS) * 18
    for kind, apart in product(KINDS, (False, True)):
        options = [parse_world(world) for world in kind.worlds(apart=apart)]
        sign = {"against": -1, "none": 0, "with": 1}[kind.relation]
        assert all(abs(each.relation - 0.6 * sign) < 0.3 for each in options)
        assert all((each.skew > 0.475) == (kind.skew == "strong") for each in options)
        assert {each.choice for each in options} == {0, 0.5, 1}


@pytest.mark.parametrize("kind", [KINDS[0], KINDS[-1]])
def test_a_world_is_found_among_those_of_its_kind(kind):
    world = list(kind.worlds(apart=True))[2]
    assert kind in place_of(load_dataset(world).ratings, 4).kinds


@pytest.mark.parametrize(
    ("interval", "skew", "expected"),
    [
        ((-0.2, 0.2), 0.4, ["none mild"]),
        ((-0.2, 0.2), 0.5, ["none strong"]),
        ((0.2, 0.5), 0.4, ["none mild", "with mild"]),
        ((-0.8, 0.8), 0.7, ["against strong", "none strong", "with strong"]),
        ((-0.99, -0.92), 0.4, "more than in any world"),
        ((-0.2, 0.2), 0.76, "the skew of popularity is 0.76"),
        ((-0.2, 0.2), 0.19, "the skew of popularity is 0.19"),
    ],
)
def test_data_may_be_of_the_kinds_that_their_relation_reaches(
    monkeypatch, interval, skew, expected
):
    ratings = load_dataset(SMALL).ratings
    of_skew = dataclasses.replace(kinds.Shape.of(ratings, 4), skew=skew)
    monkeypatch.setattr(kinds.Shape, "of", lambda *_: of_skew)
    relation = dataclasses.replace(kinds.fit_relation(ratings, 4), interval=interval)
    monkeypatch.setattr(kinds, "fit_relation", lambda *_: relation)
    place = place_of(ratings, 4)
    if isinstance(expected, str):
        assert place.kinds == ()
        assert expected in place.reason
    else:
        assert [f"{kind.relation} {kind.skew}" for kind in place.kinds] == expected
        assert not place.reason


def test_all_options_that_worlds_have_are_drawn_alike():
    known = default_options(load_dataset(SMALL))
    times = {}
    for seed in range(600):
        for decision, texts in kinds.drawn(known, seed).items():
            assert len(set(texts)) == len(texts) == 2
            for text in texts:
                times[decision, text] = times.get((decision, text), 0) + 1
    for decision, texts in known.items():
        left = [text for text in texts if text not in UNKNOWN.get(decision, ())]
        counts = [times.get((decision, text), 0) for text in left]
        if decision == "D":
            assert not any(counts)
        else:
            assert sum(counts) == 1200
            assert np.ptp(counts) < 100


def test_data_that_say_too_little_lie_nowhere():
    ratings = load_dataset(ratings_of_unequal_users(20)).ratings
    place = place_of(ratings, 4)
    assert place.kinds == ()
    assert "too few" in place.reason


# -- truth and agreement ---------------------------------------------------------------------------


def test_truth_is_what_lists_hold_by_all_true_ratings():
    """By hand: the share of ten listed items that are truly liked, over two splits."""
    dataset = load_dataset(SMALL)
    liked = dataset.truth.true_rating(np.arange(dataset.ratings.n_users)) >= 4
    means = {}
    for system in SYSTEMS:
        of_seeds = []
        for seed in (5, 6):
            (split,) = dataset_splits(dataset, "ratio 0.2", seed=seed)
            rng = stream(seed, "train", system.stream_label(), 0, 0)
            model = system.build().fit(split.train, rng=rng)
            scores = np.array(model.score(np.arange(split.train.n_users)), dtype=np.float64)
            scores[split.train.user, split.train.item] = -np.inf
            scores += 1e-9 * np.random.default_rng(1).random(scores.shape)
            scores = np.where(np.isnan(scores), -np.inf, scores)
            top = np.argsort(-scores, axis=1)[:, :10]
            hits = np.take_along_axis(liked, top, axis=1) & np.isfinite(
                np.take_along_axis(scores, top, axis=1)
            )
            of_seeds.append(hits.mean())
        means[system.name] = np.mean(of_seeds)
    truths = true_signs(SMALL, SYSTEMS, "truth", "AI-AN-AR rel>=4", (5, 6))
    assert [truth.p for truth in truths] == [
        np.sign(means[a.name] - means[b.name]) for a, b in combinations(SYSTEMS, 2)
    ]
    assert any(truth.sure for truth in truths)


def test_a_truth_that_not_all_splits_tell_is_none(monkeypatch):
    """The twin of all others: what is missing is in no row, and must not be read from the last."""
    right_way = agreement.universes

    def without_the_second(*args, **how):
        found = right_way(*args, **how)
        found.cross[:, 1] = -1
        refused = pd.DataFrame({"reason": ["too few"], "combinations": [2]})
        return dataclasses.replace(found, refused=refused)

    monkeypatch.setattr(agreement, "universes", without_the_second)
    with pytest.raises(ConfigError, match="truth: too few"):
        true_signs(SMALL, SYSTEMS[:2], "truth", "AI-AN-AR rel>=4", (5, 6))


@pytest.mark.parametrize(
    ("differences", "p", "expected"),  # of P, then of nDCG, in either split
    [
        ([0.3, -0.1, -0.2, -0.4], [0.01] * 4, (1, -1, False)),
        ([0.3, 0.1, -0.2, -0.4], [0.01] * 4, (1, -1, True)),
        ([-0.3, -0.1, 0.2, 0.4], [0.01, 0.06, 0.01, 0.01], (-1, 1, False)),
        ([0.3, 0.1, 0.2, 0.4], [0.06, 0.01, 0.01, 0.01], (1, 1, False)),
        ([0.3, 0.1, 0.2, 0.4], [0.01, 0.01, 0.9, 0.9], (1, 1, True)),
        ([1e-15, 1e-15, -1e-15, 1e-6], [0.99] * 4, (0, 1, False)),
    ],
)
def test_truth_is_the_mean_of_both_splits_and_sure_if_both_say_so(
    monkeypatch, differences, p, expected
):
    """The second to last: nDCG plays no part in what is sure; the last: rounding is a tie."""
    right_way = agreement.universes

    def given(*args, **how):
        found = right_way(*args, **how)
        rows = found.cross.ravel()
        table = found.table.copy()
        table.loc[rows, "difference"] = differences
        table.loc[rows, "p"] = p
        table.loc[rows, "sign"] = np.where(np.abs(differences) < 1e-12, 0, np.sign(differences))
        return dataclasses.replace(found, table=table)

    monkeypatch.setattr(agreement, "universes", given)
    (truth,) = true_signs(SMALL, SYSTEMS[:2], "truth", "AI-AN-AR rel>=4", (5, 6))
    assert truth[2:] == expected


OPTIONS = {
    "C1": ("AI-AN-AR", "condensed"),
    "C2": ("metric: antiP@10", "metric: P@10"),
    "C3": ("", "statistic=geometric"),
}


def test_differences_from_one_system_give_those_of_all_pairs(monkeypatch):
    def direct(systems):
        for a, b in combinations(systems, 2):
            found = universes(SMALL, a, b, OPTIONS, seeds=(2,), n_flips=1)
            yield found.signs[..., 0]

    expected = np.stack(list(direct(SYSTEMS)))
    tried = tried_signs(SMALL, SYSTEMS, OPTIONS, 2)
    assert (tried.signs == expected).all()
    assert len(np.unique(tried.signs)) > 1
    # The twin: a metric of which less is better is read as if more were.
    right_way = agreement._ahead
    monkeypatch.setattr(agreement, "_ahead", lambda found: right_way(
        type(found)(found.a, found.b, found.options, found.seeds,
                    found.table.assign(sign=np.sign(found.table["difference"])), found.cross,
                    found.refused, found._t, found._measured)))  # fmt: skip
    assert (tried_signs(SMALL, SYSTEMS, OPTIONS, 2).signs != expected).any()


def test_a_combination_that_is_refused_for_one_pair_counts_for_none():
    tried = Tried({"x": ("p", "q")}, [("a", "b")], np.array([[1.0, np.nan]]))
    assert np.isnan(right(tried, [1])[1])
    table = effects(tried, right(tried, [1]), {"x": ("p", "q")}, 4)
    assert np.isnan(table["effect"].iloc[1:]).all()
    assert summed([(KINDS[0], table)])["compared"].sum() == 1  # all options together


def mean_effects(truth, known, scale=None):
    """Average effects over all draws of two options of each decision, by option and pair."""
    sums = {}
    for chosen in product(*(list(combinations(range(len(of)), 2)) for of in known.values())):
        options = {
            name: tuple(texts[place] for place in places)
            for (name, texts), places in zip(known.items(), chosen, strict=True)
        }
        shares = truth[np.ix_(*chosen)]
        tried = Tried(options, [], np.empty(0))
        for first, second, _, effect in effects(tried, shares, scale or known, 4).itertuples(
            index=False
        ):
            sums.setdefault((first, second), []).append(effect)
    return {key: float(np.mean(of)) for key, of in sums.items()}


def test_effects_of_two_drawn_options_are_those_of_all_options():
    """Means of a full table, as analysis of variance has them; the twin forgets how many."""
    known = {"x": ("a", "b", "c"), "y": ("d", "e", "f", "g"), "z": ("h", "i")}
    truth = np.random.default_rng(4).random((3, 4, 2))
    found = mean_effects(truth, known)
    whole = truth.mean()
    for place, text in enumerate(known["x"]):
        assert found[("x", text), None] == pytest.approx(truth[place].mean() - whole)
    for (p, x), (q, y) in product(enumerate(known["x"]), enumerate(known["y"])):
        both = truth[p, q].mean() - truth[p].mean() - truth[:, q].mean() + whole
        assert found[("x", x), ("y", y)] == pytest.approx(both)
    two = {name: texts[:2] for name, texts in known.items()}
    broken = mean_effects(truth, known, scale=two)
    assert broken[("x", "a"), None] != pytest.approx(truth[0].mean() - whole)


# -- weights ---------------------------------------------------------------------------------------


def planted(right_by_option, worlds=12, kinds=KINDS, noise=0.0):
    """Worlds in which each option of C1 is right so often."""
    rows = []
    for kind in kinds:
        for number in range(worlds):
            share = np.array(right_by_option) + noise * np.array([1, -1]) * (-1) ** number
            tried = Tried({"C1": ("AI-AN-AR", "condensed")}, [], np.empty(0))
            rows.append((kind, effects(tried, share, tried.options, 4)))
    return summed(rows)


C1 = {"C1": ("AI-AN-AR", "condensed", "TI-AN-AR"), "mine": ("x", "y")}


def test_who_is_right_more_often_weighs_more_and_what_worlds_do_not_have_is_between():
    found = weigh(C1, 4, KINDS[:1], planted((0.6, 0.9)))
    np.testing.assert_allclose(found, np.repeat([[0.2], [0.8], [0.5]], 2, axis=1), atol=1e-12)


def test_effects_that_may_be_chance_do_not_count():
    noisy = weigh(C1, 4, (), planted((0.7, 0.71), worlds=4, noise=0.2))
    assert np.ptp(noisy) == 0
    assert np.ptp(weigh(C1, 4, (), planted((0.7, 0.71), worlds=4))) > 0.01


def test_an_effect_is_shrunk_by_its_standard_error_over_worlds():
    """By hand: six worlds, half of which give .32 and half .08 between two options."""
    noise, options = 0.06, {"C1": C1["C1"][:2]}
    (ahead, behind) = weigh(options, 4, (), planted((0.6, 0.8), worlds=6, kinds=KINDS[:1],
                                                    noise=noise))  # fmt: skip
    effects_ = np.array([0.04, 0.16, 0.04, 0.16, 0.04, 0.16])
    error = effects_.std(ddof=1) / np.sqrt(6)
    shrunk = 0.1 * (1 - (error / 0.1) ** 2)
    assert (ahead, behind) == pytest.approx((0.4 - 2 * shrunk, 0.4 + 2 * shrunk))
    # The twin: as if there were one world.
    alone = effects_.std(ddof=1)
    assert 0.1 * max(0, 1 - (alone / 0.1) ** 2) < shrunk - 0.02


def test_kinds_of_the_data_decide_where_they_differ():
    sums = pd.concat([planted((0.9, 0.6), kinds=KINDS[:1]), planted((0.6, 0.9), kinds=KINDS[1:])])
    first, second = (weigh(C1, 4, [kind], sums) for kind in KINDS[:2])
    assert first[0, 0] > first[1, 0]
    assert second[0, 0] < second[1, 0]
    # The twin: worlds of other kinds do not know it.
    elsewhere = weigh(C1, 4, (), sums[[key[:2] != KINDS[0] for key in sums.index]])
    assert elsewhere[0, 0] < elsewhere[1, 0]


def planted_pairs():
    """Worlds in which B1 matters to who ranks all items alone, and turns what that is worth."""
    known = {"B1": ("", "users=tested"), "C1": ("AI-AN-AR", "condensed")}
    tried = Tried(known, [], np.empty(0))
    return summed(
        [(kind, effects(tried, np.array([[0.9, 0.6], [0.6, 0.8]]), known, 4))
         for kind in KINDS for _ in range(12)]
    )  # fmt: skip


@pytest.mark.parametrize("sums", [None, planted_pairs()], ids=["learned", "planted"])
def test_the_order_in_which_decisions_are_named_plays_no_part(sums):
    known = default_options(load_dataset(SMALL))
    options = {decision: known[decision] for decision in ("A2", "B1", "C1", "C2", "C3")}
    ahead = weigh(options, 4, KINDS[:1], sums)
    behind = weigh(dict(reversed(list(options.items()))), 4, KINDS[:1], sums)
    np.testing.assert_allclose(behind.T, ahead, atol=1e-12)
    # The twin: pairs of options count for nothing, and the order could not be told.
    found = learned_or(sums)
    alone = found[[not key[4] for key in found.index]]
    assert np.abs(weigh(options, 4, KINDS[:1], alone) - ahead).max() > 0.05


def learned_or(sums):
    return weights.learned() if sums is None else sums


def test_nobody_has_a_say_who_is_no_better_than_a_coin():
    assert weigh(C1, 4, (), planted((0.4, 0.5))) is None


def apart_of(n_right, n_wrong, kind=KINDS[4], others=3):
    """Comparisons that are called robust, rightly or not, and some that are not."""
    wins = [ROBUST] * (n_right + n_wrong) + [ROBUST - 0.001] * others
    truth = [1] * n_right + [-1] * (n_wrong + others)
    return pd.DataFrame({"relation": kind.relation, "skew": kind.skew, "P": truth,
                         "wins, trust": wins, "loses, trust": 1 - np.array(wins)})  # fmt: skip


@pytest.mark.parametrize(
    ("n_right", "n_wrong", "may"), [(34, 6, True), (33, 7, False), (FEWEST - 1, 0, False)]
)
def test_the_word_is_used_where_it_was_deserved(n_right, n_wrong, may):
    apart = apart_of(n_right, n_wrong)
    called = called_robust(apart, KINDS)
    assert called == (n_right + n_wrong, n_right)
    assert (called.share >= TRUE) == (n_right / (n_right + n_wrong) >= 0.85)
    assert may_say(Place((KINDS[4],)), apart) == may
    assert not may_say(Place((KINDS[0],)), apart)
    assert not may_say(Place((), "nowhere"), apart)


def test_where_nobody_is_better_a_winner_that_is_called_robust_is_wrong():
    """Else 15 of 18 on Coat would be 15 of 16, and the word could be used."""
    apart = pd.concat([apart_of(34, 6), apart_of(0, 2, others=0).assign(P=0)])
    assert called_robust(apart, KINDS) == (42, 34)
    assert not may_say(Place((KINDS[4],)), apart)
    undecided = apart_of(34, 6, others=5).assign(P=lambda of: of["P"].where(of.index < 40, 0))
    assert called_robust(undecided, KINDS) == (40, 34)


def test_one_kind_where_it_was_not_deserved_is_enough_to_leave_the_word_out():
    apart = pd.concat([apart_of(60, 0), apart_of(2, 8, KINDS[0])])
    assert called_robust(apart, (KINDS[0], KINDS[4])).share > TRUE  # together it was
    assert may_say(Place((KINDS[4],)), apart)
    assert not may_say(Place((KINDS[0], KINDS[4])), apart)


@pytest.mark.parametrize("wins", [0.89, 0.9])
def test_what_is_said_follows_weights_and_place(monkeypatch, wins):
    dataset = load_dataset(SMALL)
    found = universes(SMALL, *SYSTEMS[:2], {"C2": OPTIONS["C2"]}, n_flips=1)
    by_weights = np.array([wins, 1 - wins])
    signs = found.signs.ravel()
    assert sorted(signs) == [-1, 1]
    monkeypatch.setattr(weights, "weigh", lambda *_: by_weights[np.argsort(-signs)])
    monkeypatch.setattr(weights, "place_of", lambda *_: Place((KINDS[4],)))
    monkeypatch.setattr(weights, "kept_apart", lambda: apart_of(40, 0))
    said = trusted(found, dataset)
    assert said.shares.loc["weights", "wins"] == pytest.approx(wins)
    assert said.says == ("a" if wins == 0.9 else "neither")
    monkeypatch.setattr(weights, "place_of", lambda *_: Place((), "nowhere"))
    alike = trusted(found, dataset)
    assert (alike.weights == 1).all()
    assert alike.says == "unknown"


def test_weights_of_what_cannot_be_combined_leave_universes_alike(monkeypatch):
    """Only combinations that there are can have a say."""
    options = {"C1": ("AI-AN-AR", "AI-AN-1R"), "B1": ("users=tested",)}
    found = universes(SMALL, *SYSTEMS[:2], options, n_flips=1)
    assert (found.cross[..., 0] < 0).tolist() == [[False], [True]]
    monkeypatch.setattr(weights, "place_of", lambda *_: Place((KINDS[4],)))
    monkeypatch.setattr(weights, "weigh", lambda *_: np.array([[0.0], [0.5]]))
    assert (trusted(found, load_dataset(SMALL)).weights == 1).all()
    monkeypatch.setattr(weights, "weigh", lambda *_: np.array([[0.2], [0.5]]))
    assert trusted(found, load_dataset(SMALL)).weights.tolist() == [[0.2], [0.5]]


def test_files_cover_all_options_that_worlds_have_and_all_worlds_kept_apart():
    sums = weights.learned()
    usual = {
        (decision, text)
        for decision, texts in default_options(load_dataset(SMALL)).items()
        for text in texts
        if decision != "D" and text not in UNKNOWN.get(decision, ())
    }
    tried = {agreement.named(*option, 4) for option in usual}
    assert tried == {key[2:4] for key in sums.index if key[2] and not key[4]}
    assert {key[:2] for key in sums.index} == set(KINDS)
    assert (sums["worlds"].groupby(level=[0, 1]).max() == 12).all()
    apart = weights.kept_apart()
    seeds = {seed for kind in KINDS for seed in kind.worlds(apart=True).values()}
    assert set(apart["world"]) == seeds
    assert len(apart) == 10 * len(seeds)
    of = apart.filter(regex="^(wins|loses), ")
    assert ((of >= 0) & (of <= 1)).all(axis=None)


@pytest.mark.slow
def test_files_say_what_worlds_gave():
    """One world of each file again."""
    kind = Kind("with", "mild")
    (world, seed), *_ = kind.worlds(apart=True).items()
    truths = true_signs(world, compared(4), "truth", "AI-AN-AR rel>=4",
                        (seed + 1_000_000, seed + 2_000_000))  # fmt: skip
    kept = weights.kept_apart().query("world == @seed")
    assert kept["P"].tolist() == [truth.p for truth in truths]
    assert kept["sure"].tolist() == [truth.sure for truth in truths]
