"""How chapter 7 checks what CCM20 says of averages and tests: from users to "A beats B"."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import exp, log, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy  # its parts are loaded when they are first used: `stats` takes long

from recbias.book.chapters.design_alternatives.definitions import largest
from recbias.book.chapters.offline_option_taxonomy.plain import Session, measured, table_of
from recbias.claims.checks import Check
from recbias.metrics.aggregation import aggregate
from recbias.protocol.averaging import EPSILON
from recbias.stats.comparison import paired_t, sign_test, subsampled_tests, wilcoxon
from recbias.stats.risk import geo_risk, standardised, t_risk, u_risk

FloatArray = npt.NDArray[np.float64]
Average = Callable[..., float]
"""As :func:`average_users`."""


def average_users(sessions: Sequence[Session], metric: str = "P@5", **averaging: Any) -> float:
    """Average a metric over users, as the package does."""
    values = measured(sessions, metric)
    return float(aggregate(table_of(sessions), values, min_rating=4, **averaging)[0])


def _values(sessions: Sequence[Session], metric: str = "P@5") -> list[float]:
    return [float(value) for value in np.nan_to_num(measured(sessions, metric)[0])]


def _counts(sessions: Sequence[Session]) -> list[int]:
    return [len(session.ratings) for session in sessions]


# -- averages --------------------------------------------------------------------------------------


def check_reduced(sessions: Sequence[Session], *, average: Average = average_users) -> list[Check]:
    """Compare full and reduced averages (CCM20 Sec. 3.9; E19)."""
    covered = sum(1 for session in sessions if session.listed) / len(sessions)
    full, reduced = average(sessions), average(sessions, coverage="reduced")
    weighted = average(sessions, weights="ratings")
    of_served = average(sessions, weights="ratings", coverage="reduced")
    claim, n = "CCM20-EQ-RED", len(sessions)
    return [
        Check(claim, "printed", "reduced average minus coverage times the full one", n,
              abs(reduced - covered * full)),
        Check(claim, "mended", "full average minus coverage times the reduced one", n,
              abs(full - covered * reduced)),
        Check(claim, "factor", "full over reduced average minus user coverage", n,
              abs(full / reduced - average(sessions, "Served@1"))),
        Check(claim, "weighted", "the same of averages that weigh users", n,
              abs(weighted - covered * of_served)),
    ]  # fmt: skip


def check_unserved(sessions: Sequence[Session], *, average: Average = average_users) -> list[Check]:
    """Compare both averages with loops over users, and see what filling up does (Sec. 3.9)."""
    values = _values(sessions)
    served = [value for value, session in zip(values, sessions, strict=True) if session.listed]
    full, reduced = sum(values) / len(values), sum(served) / len(served)
    filled = [Session(session.listed or tuple(range(10)), session.ratings) for session in sessions]
    without = round((1 - average(filled, "Served@1")) * len(filled))
    claim, n = "CCM20-D-C4", len(sessions)
    return [
        Check(claim, "reduced", "reduced average minus that of the users with a list", n,
              abs(average(sessions, coverage="reduced") - reduced)),
        Check(claim, "full", "full average minus that with zeros", n,
              abs(average(sessions) - full)),
        Check(claim, "filled", "users without a list after all lists were filled up", n, without),
    ]  # fmt: skip


def check_weights(sessions: Sequence[Session], *, average: Average = average_users) -> list[Check]:
    """Compare weighted means with loops over users (CCM20 Sec. 3.8)."""
    values, counts = _values(sessions), _counts(sessions)
    liked = [sum(stars >= 4 for stars in session.ratings.values()) for session in sessions]
    off = []
    for weights, name in ((counts, "ratings"), (liked, "relevant")):
        total = sum(w * v for w, v in zip(weights, values, strict=True)) / sum(weights)
        off.append(abs(average(sessions, weights=name) - total))
    # Take the likes from two lists, one after the other: that of more ratings moves the mean more.
    weighted = average(sessions, weights="ratings")
    moved = []
    for place, session in enumerate(sessions):
        if values[place]:
            emptied = [*sessions[:place], Session((), session.ratings), *sessions[place + 1 :]]
            change = abs(average(emptied, weights="ratings") - weighted) / values[place]
            moved.append((counts[place], change))
    moved.sort()
    less = sum(b[1] < a[1] - 1e-12 for a, b in pairwise(moved))
    claim, n = "CCM20-D-C3", len(sessions)
    return [
        Check(claim, "weights", "weighted mean minus its formula", 2 * n, max(off)),
        Check(claim, "influence", "users with more ratings who move the weighted mean less",
              len(moved), less),
    ]  # fmt: skip


def check_geometric(
    sessions: Sequence[Session], *, average: Average = average_users
) -> list[Check]:
    """Compare the geometric mean with its formula (CCM20 Sec. 4.5)."""
    values = _values(sessions)
    off = []
    for epsilon in (EPSILON, 0.01, 0.1):
        total = sum(log(value + epsilon) for value in values)
        wanted = exp(total / len(values)) - epsilon
        off.append(abs(average(sessions, statistic=f"geometric({epsilon!r})") - wanted))
    # P@10 of 0, .1 and .4.
    three = [_precise(hits) for hits in (0, 1, 4)]
    for epsilon, pinned in ((1e-5, 0.00735837), (0.01, 0.06668766)):
        mean = average(three, "P@10", statistic=f"geometric({epsilon!r})")
        off.append(max(0.0, abs(mean - pinned) - 5e-9))
    tiny = average(three, "P@10", statistic="geometric(1e-300)")
    zero = int(tiny > 1e-90)
    low, raised, high, higher = (
        [_precise(hits) for hits in counts] for counts in ((1, 5), (2, 5), (1, 5), (1, 6))
    )
    plain = [average(sample, "P@10") for sample in (low, raised, high, higher)]
    claim, n = "CCM20-EQ-GM", len(sessions)
    return [
        Check(claim, "formula", "geometric mean minus its formula", n, max(off)),
        Check(claim, "zero", "samples with a 0 whose plain geometric mean is not 0", 1, zero),
        Check(claim, "alike", "what a step adds to the plain mean at a small value, minus at a "
              "large one", 1, abs((plain[1] - plain[0]) - (plain[3] - plain[2]))),
    ]  # fmt: skip


def _precise(hits: int) -> Session:
    """Make a user with so many likes among ten places."""
    return Session(tuple(range(10)), dict.fromkeys(range(hits), 5) or {99: 1})


# -- risk ------------------------------------------------------------------------------------------

_X, _B = (0.5, 0.2, 0.9, 0.4), (0.4, 0.4, 0.6, 0.4)
_FOUR = np.array([[0.5, 0.4, 0.3], [0.2, 0.4, 0.3], [0.9, 0.6, 0.6], [0.4, 0.4, 0.1]]).T


def check_risk(
    *,
    u: Callable[..., FloatArray] = u_risk,
    t: Callable[..., FloatArray] = t_risk,
    geo: Callable[..., FloatArray] = geo_risk,
) -> list[Check]:
    """Compare risk measures with worked values (CCM20 Sec. 3.8 names none of them)."""
    u_wanted = {0: 0.05, 1: 0.0, 5: -0.2}
    t_wanted = {0: 0.480384, 1: 0.0, 5: -0.589768}
    geo_wanted = {0: (0.497446, 0.478679, 0.401299), 1: (0.484386, 0.469203, 0.389808)}
    off_u = max(abs(float(u(_X, _B, alpha=alpha)) - value) for alpha, value in u_wanted.items())
    off_t = max(abs(float(t(_X, _B, alpha=alpha)) - value) for alpha, value in t_wanted.items())
    off_geo = max(largest(geo(_FOUR, alpha=alpha) - np.array(value))
                  for alpha, value in geo_wanted.items())  # fmt: skip
    # Gains and losses of one size cancel without aversion, and with it the losses decide.
    even = float(u((0.6, 0.2), (0.4, 0.4), alpha=0)), float(u((0.6, 0.2), (0.4, 0.4), alpha=1))
    claim = "CCM20-D-RISK"
    return [
        Check(claim, "u-risk", "URisk minus worked values", 3, off_u),
        Check(claim, "t-risk", "TRisk minus worked values", 3, off_t),
        Check(claim, "geo-risk", "GeoRisk minus worked values", 6, off_geo),
        Check(claim, "losses", "losses that weigh no more than equal gains", 1,
              int(not (abs(even[0]) < 1e-12 and even[1] < -0.05))),
    ]  # fmt: skip


def check_standardised(*, standardise: Callable[..., FloatArray] = standardised) -> list[Check]:
    """Compare score standardisation with its worked value (CCM20 Sec. 3.8)."""
    pool = np.array([[0.1, 0.4], [0.2, 0.4], [0.3, 0.4], [0.4, 0.4]])
    scores = standardise(pool)
    claim = "CCM20-D-STD"
    return [
        Check(claim, "pinned", "standardised score minus its worked value", 1,
              abs(float(scores[3, 0]) - 0.877361)),
        Check(claim, "tied", "systems without .5 for a user whom all serve alike", 4,
              int((scores[:, 1] != 0.5).sum())),
    ]  # fmt: skip


# -- tests -----------------------------------------------------------------------------------------


def check_tests(
    rng: np.random.Generator,
    *,
    t: Callable[[FloatArray, FloatArray], float] | None = None,
    ranks: Callable[[FloatArray, FloatArray], FloatArray] = wilcoxon,
    sign: Callable[[FloatArray, FloatArray], FloatArray] = sign_test,
) -> list[Check]:
    """Compare p values with scipy's (CCM20 Sec. 3.10)."""
    off: dict[str, list[float]] = {"t": [], "wilcoxon": [], "sign": []}
    for size in (20, 60, 200):
        a, b = rng.random(size), rng.random(size) + 0.05
        found_t = t(a, b) if t else float(paired_t(a, b).p_value)
        off["t"].append(abs(found_t - float(scipy.stats.ttest_rel(a, b).pvalue)))
        exact = scipy.stats.wilcoxon(
            a, b, correction=False, method="exact" if size <= 50 else "approx"
        )
        off["wilcoxon"].append(abs(float(ranks(a, b)) - float(exact.pvalue)))
        wins = int((a > b).sum())
        off["sign"].append(abs(float(sign(a, b)) - float(scipy.stats.binomtest(wins, size).pvalue)))
    claim = "CCM20-D-D"
    return [
        Check(claim, name, f"p of the {name} test minus scipy's", 3, max(deviations))
        for name, deviations in off.items()
    ]


def check_subsamples(
    *, share: Callable[..., float] = subsampled_tests, seed: int = 1
) -> list[Check]:
    """See that subsampling reports the share of subsets that reject (CCM20 Sec. 3.10)."""
    rng = np.random.default_rng(seed)
    a, b = rng.random(400) + 0.08, rng.random(400)
    sizes, n_samples = (20, 60, 180, 390), 80
    shares = [share(a, b, size=size, n_samples=n_samples, rng=np.random.default_rng(seed))
              for size in sizes]  # fmt: skip
    again = [share(a, b, size=size, n_samples=n_samples, rng=np.random.default_rng(seed))
             for size in sizes]  # fmt: skip
    plain = []
    for size in sizes:
        drawn, rejected = np.random.default_rng(seed), 0
        for _ in range(n_samples):
            users = drawn.permutation(400)[:size]
            d = [float(a[user] - b[user]) for user in users]
            mean = sum(d) / size
            spread = sqrt(sum((difference - mean) ** 2 for difference in d) / (size - 1))
            statistic = abs(mean) / (spread / sqrt(size))
            rejected += 2 * float(scipy.stats.t.sf(statistic, size - 1)) < 0.05
        plain.append(rejected / n_samples)
    claim = "CCM20-D-SUBS"
    return [
        Check(claim, "share", "share of subsets that reject, minus that of a loop", len(sizes),
              largest(np.array(shares) - np.array(plain))),
        Check(claim, "larger", "larger subsets that reject less often, where systems differ",
              len(sizes) - 1, sum(b < a for a, b in pairwise(shares))),
        Check(claim, "draws", "subsets whose seed gives another share", len(sizes),
              sum(x != y for x, y in zip(shares, again, strict=True))),
    ]  # fmt: skip
