"""Steck's weights in worlds, and what findings read of them and of orders by gamma."""

import math

import numpy as np
import pandas as pd
import pytest

from expressions_at import value_of
from recbias._system.streams import stream
from recbias.book.chapters.overcoming_popularity_bias import steck
from recbias.claims.evidence import NotComputed
from recbias.data.datasets import Dataset, load_dataset
from recbias.data.simulation import PreferenceOptions, PreferenceWorld
from recbias.experiment.makers import Table
from recbias.metrics.incomplete import observation_weights
from recbias.protocol.splits import SplitRule
from recbias.ranking import rank_once
from recbias.trust import compared_systems

SIZE = (60, 80)
GAMMAS = (0.0, 0.5, 1.0, 2.0, 10.0, math.inf)


def table_of(frame: pd.DataFrame, *index: str) -> Table:
    return Table(key="", dataset={}, maker_name="", given={}, index=index, frame=frame)


def name_of(size: tuple[int, int] = SIZE) -> str:
    return str(PreferenceOptions(relation=0.3, skew=0.5, seed=1, users=size[0], items=size[1]))


def looked_at(seen: Dataset):
    """Who likes what, and how likely who likes an item was to rate it."""
    assert isinstance(seen.truth, PreferenceWorld)
    liked = seen.truth.true_rating(np.arange(seen.ratings.n_users)) >= 4
    return liked, steck.chances_of(seen.truth, liked)


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    """Popularity and the average rating alone, so that nothing has to be trained."""
    kept = [s for s in compared_systems(4) if s.name in ("Popularity", "Average rating")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(steck, "compared_systems", lambda min_rating: kept)
        given = {"relations": (0.3,), "n_worlds": 1, "size": SIZE, "workers": 1}
        return steck.steck.function(**{**steck.STECK, **given})[1].set_index("system")


def oracle(system: str) -> dict[str, float]:
    """Recall, its estimates and their standard error, by loops over users and items."""
    seen = steck.observed_by_item(name_of(), 4, seed=1)
    liked, chances = looked_at(seen)
    rule = SplitRule("ratio", 0.2)
    (fold,) = rule.splits(seen.ratings, rng=stream(1, "split", str(rule)))
    (asked,) = (each for each in compared_systems(4) if each.name == system)
    model = asked.build().fit(fold.train, rng=stream(1, "train", asked.stream_label(), 0))
    lists = rank_once(model, fold, depth=10, seed=1)[0].lists("AI", 10).tolist()
    train = set(zip(fold.train.user.tolist(), fold.train.item.tolist(), strict=True))
    test = [
        (user, item)
        for user, item, stars in zip(fold.test.user, fold.test.item, fold.test.value, strict=True)
        if stars >= 4
    ]
    likes = [sum(liked[u, i] for u in range(SIZE[0])) for i in range(SIZE[1])]
    positives = [0] * SIZE[1]
    for part in (fold.train, fold.test):
        for item, stars in zip(part.item, part.value, strict=True):
            positives[item] += stars >= 4
    weight = [(1 - 0.8 * p) / p if like else 0.0 for p, like in zip(chances, likes, strict=True)]
    wanted = {
        user: [i for i in range(SIZE[1]) if liked[user, i] and (user, i) not in train]
        for user in range(SIZE[0])
    }
    hits = {user: [i for i in items if i in lists[user]] for user, items in wanted.items()}
    recall = sum(map(len, hits.values())) / sum(map(len, wanted.values()))
    found = {
        "recall": recall,
        "mean recall": np.mean([len(hits[u]) / len(wanted[u]) for u in wanted if wanted[u]]),
        "weighted": sum(weight[i] for u, i in test if i in lists[u])
        / sum(weight[i] for _, i in test),
    }
    variance = 0.0
    for user, items in wanted.items():
        for item in items:
            chance = 0.2 * chances[item] / (1 - 0.8 * chances[item])
            away = weight[item] * ((item in hits[user]) - recall)
            variance += chance * (1 - chance) * away**2
    found["se"] = variance**0.5 / (0.2 * sum(map(len, wanted.values())))
    for gamma in GAMMAS:
        exponent = 1.0 if math.isinf(gamma) else gamma / (1 + gamma)
        ratios = []
        for user in range(SIZE[0]):
            own = [(item, positives[item] ** -exponent) for u, item in test if u == user]
            if own:
                hit = sum(w for item, w in own if item in lists[user])
                ratios.append(hit / sum(w for _, w in own))
        found[f"gamma {gamma:g}"] = np.mean(ratios)
    return found


@pytest.mark.parametrize("system", ["Popularity", "Average rating"])
def test_a_world_is_measured_as_loops_do(rows: pd.DataFrame, system: str) -> None:
    expected = oracle(system)
    assert {name: rows[name][system] for name in expected} == pytest.approx(expected, rel=1e-12)


def test_all_who_like_an_item_are_as_likely_to_rate_it() -> None:
    """Users as active as others rate as much of what they like: their surplus, in s.e., below 4
    (false alarms: 6 in 100,000). In the world itself the active ones rate more."""
    own = load_dataset(name_of((300, 80)))
    users = np.arange(300)
    activity = own.truth.propensity(users).astype(float).sum(axis=1)
    active = activity > np.median(activity)
    seen = steck.observed_by_item(name_of((300, 80)), 4, seed=5)
    liked, chances = looked_at(seen)

    def surplus(ratings) -> float:
        rated = np.zeros(liked.shape, dtype=bool)
        rated[ratings.user, ratings.item] = True
        expected = np.where(liked, np.nan_to_num(chances), 0)[active]
        spread = np.sqrt((expected * (1 - expected)).sum())
        return float(((rated & liked)[active].sum() - expected.sum()) / spread)

    assert abs(surplus(seen.ratings)) < 4
    assert surplus(own.ratings) > 4


def test_the_right_weights_give_recall_and_others_do_not() -> None:
    """Over 400 draws of what is rated, the mean error is within 4 s.e. of 0; weights 1/p, which
    forget that training items are not listed, are further off."""
    rng = np.random.default_rng(8)
    liked = rng.random((40, 30)) < 0.5
    chances, share = np.linspace(0.05, 0.95, 30), 0.2
    listed = np.argsort(-chances)
    errors: dict[str, list[float]] = {"right": [], "1/p": []}
    weights = {"right": observation_weights(chances, share), "1/p": 1 / chances}
    for _ in range(400):
        rated = liked & (rng.random(liked.shape) < chances)
        train = rated & (rng.random(liked.shape) >= share)
        hit = np.zeros_like(liked)
        for user in range(len(liked)):
            hit[user, [item for item in listed if not train[user, item]][:5]] = True
        test, wanted = rated & ~train, liked & ~train
        recall = (wanted & hit).sum() / wanted.sum()
        for name, weight in weights.items():
            estimate = ((test & hit) * weight).sum() / (test * weight).sum()
            errors[name].append(estimate - recall)
    z = {name: np.mean(e) / (np.std(e, ddof=1) / 20) for name, e in errors.items()}
    assert abs(z["right"]) < 4
    assert abs(z["1/p"]) > 4


# -- what follows ----------------------------------------------------------------------------------


def steck_table() -> Table:
    """Errors of 1, 2, ... at each gamma in the first world, more by .5 and .1 in the others."""
    rows = []
    for place, (relation, system) in enumerate([(-1.0, "A"), (-1.0, "B"), (1.0, "A"), (1.0, "B")]):
        for number, more in ((1, 0.0), (2, 0.5), (3, 0.1)):
            off = {f"gamma {g:g}": 0.1 * (2 + n + place + more) for n, g in enumerate(GAMMAS)}
            rows.append(
                {"relation": relation, "number": number, "system": system, "recall": 0.2,
                 "weighted": 0.2 + 0.03 * (place - 1), "se": 0.01, "mean recall": 0.1, **off}
            )  # fmt: skip
    return table_of(pd.DataFrame(rows), "relation", "number", "system")


def gamma_table(tau_of) -> Table:
    rows = [
        {"relation": relation, "skew": skew, "choice": choice, "number": number}
        | {f"gamma {g:g}, P@10": tau_of(relation, g, number) + skew * (choice == 1) for g in GAMMAS}
        | {f"gamma {g:g}, AUC": -tau_of(relation, g, number) + skew for g in GAMMAS}
        for relation in (-1.0, 0.0, 1.0)
        for skew in (0.1, 0.3)
        for choice in (0.0, 1.0)
        for number in (1, 2, 3)
    ]
    return table_of(pd.DataFrame(rows), "relation", "skew", "choice", "number")


def fraction(gamma: float) -> float:
    return 1.0 if math.isinf(gamma) else gamma / (1 + gamma)


def opposed(relation: float, gamma: float, number: int) -> float:
    """The larger gamma is, the better where the relation is below 0, and the worse above."""
    return 0.1 * number - relation * fraction(gamma)


def judged(text: str):
    return value_of(text, {"steck": steck_table(), "worlds": gamma_table(opposed)})


WITHIN = "share(size(weighted[{0}] in steck - recall[{0}] in steck) <= 3 * se[{0}] in steck)"
OFF = 'mean(by_draw("{0}"[{1}] in steck / "mean recall"[{1}] in steck - 1))'
TAU = 'by_draw("{}"[{}, *, 1] in worlds)'


def test_findings_read_both_tables() -> None:
    share = judged(WITHIN.format("relation=*, system=*"))  # 3 s.e. is within, 6 not
    assert (share.value, share.interval, share.cases) == (0.75, (0.75, 0.75), 12)
    assert judged(WITHIN.format("relation=1, system=*")).value == 0.5
    half = 4.302652729911275 * np.std([0, 0.5, 0.1], ddof=1) / np.sqrt(3)
    off = judged(OFF.format("gamma 1", "relation=-1, system=*"))
    assert [off.value, off.interval[1]] == pytest.approx([3.7, 3.7 + half])
    assert judged(OFF.format("gamma 0", "relation=1, system=*")).value == pytest.approx(3.7)
    assert judged(OFF.format("gamma 0", "relation=*, system=A")).value == pytest.approx(2.2)
    one, other = (TAU.format(f"gamma {gamma}, P@10", -1) for gamma in ("inf", 1))
    gain = judged(f"mean({one} - {other})")
    assert [gain.value, *gain.interval] == pytest.approx([0.5, 0.5, 0.5])  # alike in every world
    assert judged(f"mean({one})").value == pytest.approx(1.4)


@pytest.mark.parametrize(
    "text",
    [
        WITHIN.format("relation=0.5, system=*"),
        WITHIN.format("relation=*, system=*").replace("weighted", "guessed"),
        OFF.format("gamma 3", "relation=*, system=A"),
        OFF.format("gamma 1", "relation=*, system=C"),
        f"mean({TAU.format('gamma 1, P@10', 0.5)})",
        f"mean({TAU.format('gamma 3, P@10', 1)})",
    ],
)
def test_what_worlds_do_not_hold_is_not_computed(text: str) -> None:
    with pytest.raises(NotComputed):
        judged(text)
