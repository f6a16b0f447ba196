"""Eqs. 1-4 of MCCRS20 and its first conclusion, tried on all orders of a few items.

Each user is recommended the first item of an order that they do not have in training. Who has an
item there, and who likes it, is independent from item to item: the paper does not say so, but its
expectations of P@1 need it. Worlds are counts of users, so that every expectation is a whole number
of equally likely cases. The scores that order items are those of the recommenders, fitted on
ratings with these counts; every check takes them as an argument.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations, permutations
from typing import Literal

import numpy as np
import numpy.typing as npt

from recbias.claims.checks import Check, joined_checks
from recbias.data.ratings import Ratings, RatingScale
from recbias.recommenders import Algorithm, OptimalAntiPrecision, OptimalPrecision, OracleRanking

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

LIKED, DISLIKED = 5.0, 1.0
MIN_RATING = 4.0

_N_USERS = 60
_RATIOS = ((1, 1), (2, 1), (3, 1), (4, 1))
"""Training and test parts of a random split."""


@dataclass(frozen=True)
class SmallWorld:
    """How many of some users stand in which relation to each of a few items.

    Attributes
    ----------
    n_users
        All users.
    ratio
        Training and test ratings are in this ratio, of liked and of other items alike: what a
        random split of ratings gives on average.
    liked, disliked : tuple of int
        By item, the users who rated it, over the sum of `ratio`.
    unrated_liked : tuple of int
        Users who did not rate it and would like it; the others would not.
    everybody
        Number of items, at the end, that all users have in training.
    """

    n_users: int
    ratio: tuple[int, int]
    liked: tuple[int, ...]
    disliked: tuple[int, ...]
    unrated_liked: tuple[int, ...]
    everybody: int = 0

    def counts(self, side: str) -> tuple[IntArray, IntArray]:
        """Count by item the users who like it, and who do not."""
        liked, disliked = np.array(self.liked), np.array(self.disliked)
        if side == "truth":
            open_users = self.n_users - self.ratio[0] * (liked + disliked)
            likes = self.ratio[1] * liked + np.array(self.unrated_liked)
            both = likes, open_users - likes
        else:
            part = self.ratio[0 if side == "train" else 1]
            both = part * liked, part * disliked
        if not self.everybody:
            return both
        ends = {"train": (self.n_users, 0)}.get(side, (0, 0))
        return (
            np.append(both[0], [ends[0]] * self.everybody),
            np.append(both[1], [ends[1]] * self.everybody),
        )

    @property
    def trained(self) -> IntArray:
        """Count the users who have each item in training."""
        liked, disliked = self.counts("train")
        return liked + disliked

    def hits(self, orders: IntArray, side: str, *, liked: bool) -> IntArray:
        """Expect P@1 or antiP@1 of orders of the items, in cases of n_users ** n_items."""
        wanted, trained = self.counts(side)[0 if liked else 1], self.trained
        n_items = orders.shape[1]
        reached = np.ones(len(orders), dtype=np.int64)
        hits = np.zeros(len(orders), dtype=np.int64)
        for place in range(n_items):
            item = orders[:, place]
            hits += reached * wanted[item] * self.n_users ** (n_items - 1 - place)
            reached *= trained[item]
        return hits


def make_small_worlds(n_worlds: int, rng: np.random.Generator) -> list[SmallWorld]:
    """Draw worlds of three to five items."""
    worlds = []
    for number in range(n_worlds):
        ratio = _RATIOS[rng.integers(len(_RATIOS))]
        everybody = int(number % 4 == 1)
        n_items = int(rng.integers(3, 6)) - everybody
        rated = rng.integers(1, _N_USERS // sum(ratio) + 1, n_items)
        if number % 4 == 0:
            rated[-1] = 0
        liked = rng.integers(0, rated + 1)
        unrated_liked = rng.integers(0, _N_USERS - sum(ratio) * rated + 1)
        first, second, third = (
            tuple(counts.tolist()) for counts in (liked, rated - liked, unrated_liked)
        )
        worlds.append(SmallWorld(_N_USERS, ratio, first, second, third, everybody))
    return worlds


def ratings_of(world: SmallWorld, side: str, *, flipped: bool = False) -> Ratings:
    """Write the ratings of a side down, no pair in training and on another side."""
    liked, disliked = world.counts(side)
    first = np.zeros_like(liked) if side == "train" else world.trained
    stars = np.full((world.n_users, len(liked)), np.nan)
    for item, (start, n_liked, n_disliked) in enumerate(zip(first, liked, disliked, strict=True)):
        stars[start : start + n_liked, item] = DISLIKED if flipped else LIKED
        rest = start + n_liked
        stars[rest : rest + n_disliked, item] = LIKED if flipped else DISLIKED
    return dense_ratings(stars, "small world")


def dense_ratings(stars: FloatArray, name: str) -> Ratings:
    """Write a table of all pairs down as ratings from 1 to 5."""
    user, item = np.nonzero(~np.isnan(stars))
    return Ratings(
        name=name,
        user=user.astype(np.int32),
        item=item.astype(np.int32),
        value=stars[user, item],
        timestamp=None,
        user_ids=np.arange(stars.shape[0]),
        item_ids=np.arange(stars.shape[1]),
        scale=RatingScale(1, 5, 1),
    )


Scores = Callable[[SmallWorld], FloatArray]


def _scored(model: Algorithm, world: SmallWorld) -> FloatArray:
    """Give the scores of a ranking for everybody; 0 for an item without a training rating."""
    scores = model.fit(ratings_of(world, "train")).score(np.array([0]))[0]
    return np.nan_to_num(scores.astype(np.float64))


def _oracle(
    world: SmallWorld, metric: Literal["P", "antiP"], *, flipped: bool = False
) -> FloatArray:
    """Rank by what all users without a training rating think of an item."""
    truth = ratings_of(world, "truth", flipped=flipped)
    scores = _scored(OracleRanking(truth, metric, restricted=True), world)
    unknown = world.trained == 0
    if unknown.any():  # the class leaves out what was never rated; its truth is known here
        liked, disliked = world.counts("truth")[:: -1 if flipped else 1]
        chosen = liked if metric == "P" else -disliked
        scores[unknown] = (chosen / np.maximum(liked + disliked, 1)).astype(np.float32)[unknown]
    return scores


SCORES: Mapping[str, Scores] = {
    "MCCRS20-EQ1": lambda world: _oracle(world, "P"),
    "MCCRS20-EQ2": lambda world: _scored(OptimalPrecision(MIN_RATING), world),
    "MCCRS20-EQ3": lambda world: _oracle(world, "antiP"),
    "MCCRS20-EQ4": lambda world: _scored(OptimalAntiPrecision(MIN_RATING), world),
}
"""What the items of a world are ordered by, descending, for each equation."""

_ASKED: Mapping[str, tuple[str, bool]] = {
    "MCCRS20-EQ1": ("truth", True),
    "MCCRS20-EQ2": ("test", True),
    "MCCRS20-EQ3": ("truth", False),
    "MCCRS20-EQ4": ("test", False),
}
"""The side that each equation is about, and whether it is about liked items."""


@cache
def _orders(n_items: int) -> IntArray:
    return np.array(list(permutations(range(n_items))), dtype=np.int64)


def _allowed(
    orders: IntArray, scores: FloatArray, *, backwards: bool = False
) -> npt.NDArray[np.bool_]:
    """Tell in which orders no item stands before one with a higher score; or a lower one."""
    in_order = scores[orders] if not backwards else scores[orders[:, ::-1]]
    return np.asarray((np.diff(in_order, axis=1) <= 0).all(axis=1))


def check_best_orders(
    worlds: Iterable[SmallWorld], scores: Mapping[str, Scores] = SCORES
) -> list[Check]:
    """Compare all orders of the items with those that the equations allow, whatever the ties.

    References
    ----------
    MCCRS20 Eqs. 1-4.
    """
    checks = []
    for world in worlds:
        orders = _orders(len(world.trained))
        for claim, score in scores.items():
            side, liked = _ASKED[claim]
            sign = 1 if liked else -1
            every = sign * world.hits(orders, side, liked=liked)
            allowed = every[_allowed(orders, score(world))]
            short = int(every.max() - allowed.min()) / world.n_users ** orders.shape[1]
            what = "expected metric at 1 of the best order - of the worst allowed one"
            checks.append(Check(claim, "best-order", what, len(orders), short))
    return joined_checks(checks)


def _opposed(first: Sequence[Fraction], second: Sequence[Fraction]) -> tuple[int, int]:
    """Count pairs of items, and those that two functions order differently or only one ties."""
    pairs = list(combinations(range(len(first)), 2))
    signs = ((_sign(first[a] - first[b]), _sign(second[a] - second[b])) for a, b in pairs)
    return len(pairs), sum(one != other for one, other in signs)


def _sign(number: Fraction) -> int:
    return (number > 0) - (number < 0)


def _share(part: int, whole: int) -> Fraction:
    return Fraction(part, whole) if whole else Fraction(0)


def check_forms(worlds: Sequence[SmallWorld], scores: Mapping[str, Scores] = SCORES) -> list[Check]:
    """Compare the forms in which Eqs. 2 and 3 are written, in exact fractions.

    References
    ----------
    MCCRS20 Eq. 2 with the steps of its derivation, Eq. 3.
    """
    opposed = {"same-order": [0, 0], "rated-form": [0, 0], "rated-odds": [0, 0]}
    apart = {"negated": 0.0, "minus-one": 0.0}
    turned = 0
    for world in worlds:
        n_users, (parts, rest) = world.n_users, world.ratio
        forms: dict[str, list[Fraction]] = {"printed": [], "odds": [], "rated": [], "plain": []}
        for liked, disliked in zip(world.liked, world.disliked, strict=True):
            n_train, n_test = parts * (liked + disliked), rest * (liked + disliked)
            p_train, p_rated = Fraction(n_train, n_users), Fraction(n_train + n_test, n_users)
            relevance = _share(liked, liked + disliked)
            in_test = Fraction(n_test, n_users - n_train)  # p(test|not train, i)
            forms["printed"].append(_share(rest * liked, n_test) * in_test)
            forms["odds"].append(p_train / (1 - p_train) * relevance)
            among = Fraction(parts, parts + rest)
            forms["rated"].append(p_rated * relevance / (1 - among * p_rated))
            # Infinite where everybody rated the item: any number above all others.
            odds = p_rated / (1 - p_rated) if p_rated < 1 else Fraction(n_users**2)
            forms["plain"].append(odds * relevance)
        for name, other in (
            ("same-order", "odds"), ("rated-form", "rated"), ("rated-odds", "plain"),
        ):  # fmt: skip
            counts = _opposed(forms["printed"], forms[other])
            opposed[name] = [a + b for a, b in zip(opposed[name], counts, strict=True)]
        some = np.arange(len(world.liked))  # of the others nobody is left to ask
        one, three = (scores[f"MCCRS20-EQ{number}"](world)[some] for number in (1, 3))
        negated = -_oracle(world, "P", flipped=True)[some]
        apart["negated"] = max(apart["negated"], float(np.abs(negated - three).max()))
        apart["minus-one"] = max(apart["minus-one"], float(np.abs(three - (one - 1)).max()))
        orders = _orders(len(world.trained))
        anti = world.hits(orders, "truth", liked=False)
        precise = world.hits(orders, "truth", liked=True)
        turned += int(precise[anti.argmin()] < precise[anti.argmax()])
    n_pairs = opposed["same-order"][0]
    two, three_ = "MCCRS20-EQ2", "MCCRS20-EQ3"
    return [
        Check(two, "same-order", "pairs of items ordered otherwise", *opposed["same-order"]),
        Check(two, "rated-form", "pairs of items ordered otherwise", *opposed["rated-form"]),
        Check(two, "rated-odds", "share of the pairs", n_pairs, opposed["rated-odds"][1] / n_pairs),
        Check(three_, "negated", "largest difference", len(worlds), apart["negated"]),
        Check(three_, "minus-one", "largest difference", len(worlds), apart["minus-one"]),
        Check(three_, "lower-is-better", "worlds", len(worlds), turned),
    ]


def check_common_order(
    worlds: Iterable[SmallWorld], scores: Mapping[str, Scores] = SCORES
) -> list[Check]:
    """Compare all orders by true P@1 with the same orders by true antiP@1.

    References
    ----------
    MCCRS20 Conclusion 1.
    """
    claim, checks = "MCCRS20-C1", []
    for world in worlds:
        orders = _orders(len(world.trained))
        scale = world.n_users ** orders.shape[1]
        # By both metrics more is better.
        every = [
            sign * world.hits(orders, "truth", liked=liked)
            for sign, liked in ((1, True), (-1, False))
        ]
        of_one, of_three = (scores[f"MCCRS20-EQ{number}"](world) for number in (1, 3))
        # Of what all users have in training nobody is left to ask: any score will do.
        n_pairs, apart = _opposed(
            *(
                [Fraction(value) for value in score[: len(world.liked)]]
                for score in (of_one, of_three)
            )
        )
        short, shorter = 0, 0
        for values, score in ((every[1], of_one), (every[0], of_three)):
            for backwards in (False, True):
                rows = _allowed(orders, score, backwards=backwards)
                if backwards:
                    shorter = max(shorter, int(values[rows].max() - values.min()))
                else:
                    short = max(short, int(values.max() - values[rows].min()))
        signs = [np.sign(values[:, None] - values[None, :]) for values in every]
        disagree = signs[0] * signs[1] < 0
        ends = [function(every[0]) for function in (np.argmax, np.argmin)]
        inner = np.triu(disagree, 1)
        rows_ = [
            ("common-order", "shortfall of the best order of the other metric", short / scale),
            ("equivalent", "pairs of items ordered otherwise", apart),
            ("common-worst", "what the optimum backwards has more than the worst", shorter / scale),
            ("against-best-or-worst", "orders", int(disagree[ends].sum())),
            ("in-between", "pairs of orders", int(inner.sum())),
        ]
        sizes = (len(orders), n_pairs, len(orders), 2 * len(orders), inner.size)
        checks += [
            Check(claim, name, what, n, worst)
            for (name, what, worst), n in zip(rows_, sizes, strict=True)
        ]
    return joined_checks(checks)


def check_dependent_items(n_worlds: int, rng: np.random.Generator) -> list[Check]:
    """Count the worlds in which Eq. 1 is beaten, where items go together."""
    orders, beaten = _orders(4), 0
    for _ in range(n_worlds):
        kind = np.arange(12) % 2
        trained, liked = (rng.random((12, 4)) < rng.random((2, 4))[kind] for _ in range(2))
        open_users = (~trained).sum(axis=0)
        scores = np.where(
            open_users > 0, (liked & ~trained).sum(axis=0) / np.maximum(open_users, 1), 0.0
        )
        beaten += int(
            _first_hits(orders, trained, liked).max()
            > _first_hits(orders[_allowed(orders, scores)], trained, liked).max()
        )
    what = "share of worlds of dependent items in which another order is better"
    return [Check("MCCRS20-EQ1", "dependent-items", what, n_worlds, beaten / n_worlds)]


def _first_hits(
    orders: IntArray, trained: npt.NDArray[np.bool_], liked: npt.NDArray[np.bool_]
) -> IntArray:
    """Count for each order the users who like the first item that they do not have."""
    users = np.arange(len(trained))
    hits = []
    for order in orders:
        untrained = ~trained[:, order]
        first = order[untrained.argmax(axis=1)]
        hits.append(int((untrained.any(axis=1) & liked[users, first]).sum()))
    return np.array(hits)


def small_world_checks(seed_rng: np.random.Generator, n_worlds: int = 100) -> list[Check]:
    """Make all checks of this module."""
    worlds = make_small_worlds(n_worlds, seed_rng)
    return [
        *check_best_orders(worlds),
        *check_forms(worlds),
        *check_common_order(worlds),
        *check_dependent_items(n_worlds, seed_rng),
    ]
