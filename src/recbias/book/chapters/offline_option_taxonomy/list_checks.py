"""How chapter 7 checks what CCM20 says of metrics of lists: gains, depths, orders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from recbias.book.chapters.design_alternatives.definitions import largest
from recbias.book.chapters.offline_option_taxonomy.plain import (
    GAINS,
    STARS,
    Session,
    measured,
    plain_ndcg,
    plain_overlap,
    plain_persistent,
    plain_precision,
    plain_residual,
    plain_tau,
)
from recbias.claims.checks import Check
from recbias.protocol.relevance import GainMap

FloatArray = npt.NDArray[np.float64]
Measure = Callable[..., FloatArray]
"""As :func:`recbias.book.chapters.offline_option_taxonomy.plain.measured`."""

_DEPTH = 5
_PHIS = (0.5, 0.8, 0.9)

_WORKED = Session((9, 1, 2, 0), {0: 5, 1: 4, 2: 2, 3: 3})
"""The list x, b, c, a of the worked values."""


def _off(values: FloatArray, wanted: Sequence[float]) -> float:
    """Give the largest deviation; a value that is defined on one side only is off by 1."""
    expected = np.array(wanted, dtype=np.float64)
    both = np.isnan(values) == np.isnan(expected)
    return largest(np.where(both, np.nan_to_num(values - expected), 1.0))


def check_gains(
    sessions: Sequence[Session],
    *,
    gain: Callable[[str], GainMap] = GainMap.parse,
    measure: Measure = measured,
) -> list[Check]:
    """Compare gain maps with the printed ones (CCM20 Sec. 3.6)."""
    stars = np.array(STARS, dtype=np.float64)
    gains = {name: gain(name).gains(stars, min_rating=4, rating_max=5) for name in GAINS}
    off = {
        name: largest(gains[name] - np.array([GAINS[name](star) for star in STARS]))
        for name in GAINS
    }
    ends = sum(
        (gains["exp"][0] != 0, gains["exp"][-1] != 1, gains["err"][-1] == 1, gains["err"][0] != 0)
    )
    without = [
        Session(tuple(item for item in session.listed if item in session.ratings), session.ratings)
        for session in sessions
    ]
    # An unrated item that stands behind all others adds its gain, and moves nothing.
    behind = [Session((*session.listed, 99), session.ratings) for session in without]
    added = measure(behind, "RBP(0.9,exp)") - measure(without, "RBP(0.9,exp)")
    alike = measure(sessions, f"nDCG(err)@{_DEPTH}") - measure(sessions, f"nDCG(exp)@{_DEPTH}")
    claim, n = "CCM20-EQ-G", len(sessions)
    return [
        Check(claim, "g1", "g1 minus its formula", len(STARS), off["binary"]),
        Check(claim, "err", "the other map minus its formula", len(STARS), off["err"]),
        Check(claim, "g2", "g2 minus its formula", len(STARS), off["exp"]),
        Check(claim, "span", "ends of maps that are not where they are said to be", 4, int(ends)),
        Check(claim, "unrated", "gain of an unrated item", n, largest(added)),
        Check(claim, "alike", "nDCG with one map minus with the other", n,
              largest(np.nan_to_num(alike))),
    ]  # fmt: skip


def check_coverage(sessions: Sequence[Session], *, measure: Measure = measured) -> list[Check]:
    """Compare Coverage@d with its formula (CCM20 Sec. 3.9)."""
    lengths = [len(session.listed) for session in sessions]
    served = measure(sessions, "Served@1", "Served@10")
    shares = np.array([min(10, length) / 10 for length in lengths])
    some = [session for session in sessions if 1 < len(session.listed) <= 10]
    cut = [Session(session.listed[:-1], session.ratings) for session in some]
    longer, shorter = measure(some, "Served@1", "Served@10"), measure(cut, "Served@1", "Served@10")
    blunt = int(((longer[1] <= shorter[1]) | (longer[0] != shorter[0])).sum())
    with_list = float(np.mean([length > 0 for length in lengths]))
    claim, n = "CCM20-EQ-COV", len(sessions)
    return [
        Check(claim, "formula", "Coverage@10 of a user minus its formula", n,
              largest(served[1] - shares)),
        Check(claim, "user-coverage", "Coverage@1 minus the share of users with a list", n,
              largest(np.array([served[0].mean() - with_list]))),
        Check(claim, "finer", "shortened lists of which Coverage@10 does not tell", len(some),
              blunt),
    ]  # fmt: skip


def check_short_lists(sessions: Sequence[Session], *, measure: Measure = measured) -> list[Check]:
    """See that places that a list lacks count as not relevant (CCM20 Sec. 3.9)."""
    short = [session for session in sessions if len(session.listed) < _DEPTH]
    names = (f"P@{_DEPTH}", f"nDCG@{_DEPTH}")
    values = measure(short, *names)
    wanted = [plain_precision(session.listed, session.ratings, _DEPTH) for session in short]
    filled = [
        Session((*session.listed, *range(100, 100 + _DEPTH - len(session.listed))), session.ratings)
        for session in short
    ]
    changed = np.nan_to_num(measure(filled, *names) - values)
    claim, n = "CCM20-C-DEPTHZERO", len(short)
    return [
        Check(claim, "padded", "P@d of a short list minus likes over d", n,
              _off(values[0], wanted)),
        Check(claim, "filled-up", "change of P@d and nDCG@d by unrated items at the end of a "
              "short list", n, largest(changed)),
    ]  # fmt: skip


def check_condensed(sessions: Sequence[Session], *, measure: Measure = measured) -> list[Check]:
    """See what condensing does, and what RBP leaves open (CCM20 Sec. 3.5)."""
    bare = [Session(session.condensed, session.ratings) for session in sessions]
    names = (f"P@{_DEPTH}", f"nDCG(exp)@{_DEPTH}", "RBP(0.8,exp)", "Served@10")
    moved = np.nan_to_num(measure(sessions, *names, condensed=True)) - np.nan_to_num(
        measure(bare, *names)
    )
    n_moved = int((np.abs(moved) > 0).any(axis=0).sum())
    taus = measure(sessions, "tau", condensed=True)[0]
    full = np.array([plain_tau([item for item in session.listed if item in session.ratings],
                               session.ratings) for session in sessions])  # fmt: skip
    orders = int((np.abs(np.nan_to_num(taus) - np.nan_to_num(full)) > 1e-9).sum())
    metrics = [f"RBPresidual({phi:g})" for phi in _PHIS]
    wanted = [[plain_residual(session.listed, session.ratings, phi) for session in sessions]
              for phi in _PHIS]  # fmt: skip
    residuals = measure(sessions, *metrics)
    off = max(_off(residual, plain) for residual, plain in zip(residuals, wanted, strict=True))
    claim, n = "CCM20-D-C1", len(sessions)
    return [
        Check(claim, "kept", "condensed lists that are measured otherwise than without their "
              "unrated items", n, n_moved),
        Check(claim, "order", "condensed lists in another order than the full one", n, orders),
        Check(claim, "residual", "residual of RBP minus its formula", n, off),
    ]  # fmt: skip


def check_top_heavy(sessions: Sequence[Session], *, measure: Measure = measured) -> list[Check]:
    """See which metrics are top-weighted, what an ideal list is, and what has none (Sec. 3.6)."""
    precision, ndcg = f"P@{_DEPTH}", f"nDCG@{_DEPTH}"
    swaps = [
        (session, Session(_swapped(session.listed, place), session.ratings))
        for session in sessions
        for place in range(min(len(session.listed), _DEPTH) - 1)
        if _likes(session, place) != _likes(session, place + 1)
    ]
    before, after = ([pair[side] for pair in swaps] for side in (0, 1))
    change = measure(after, precision, ndcg) - measure(before, precision, ndcg)
    wanted = {
        gain: [plain_ndcg(session.listed, session.ratings, _DEPTH, gain) for session in sessions]
        for gain in ("binary", "exp")
    }
    values = measure(sessions, ndcg, f"nDCG(exp)@{_DEPTH}")
    defined = ~np.isnan(values[0])
    none = np.array(
        [not any(stars >= 4 for stars in session.ratings.values()) for session in sessions]
    )
    zero, excluded = float(np.nan_to_num(values[0]).mean()), float(values[0][defined].mean())
    claim, n = "CCM20-D-C2", len(sessions)
    return [
        Check(claim, "precision", "exchanges within the first places that change P@d", len(swaps),
              int((change[0] != 0).sum())),
        Check(claim, "ndcg", "exchanges of a liked item and the next that leave nDCG@d as it is",
              len(swaps), int((np.abs(change[1]) < 1e-12).sum())),
        Check(claim, "ideal", "nDCG minus its formula with the best of all test ratings", 2 * n,
              max(_off(values[0], wanted["binary"]), _off(values[1], wanted["exp"]))),
        Check(claim, "undefined", "users without any gain whose nDCG is a number", int(none.sum()),
              int((none & defined).sum())),
        Check(claim, "remedies", "samples in which zero and exclusion give one mean", 1,
              int(zero == excluded)),
    ]  # fmt: skip


def _likes(session: Session, place: int) -> bool:
    return session.ratings.get(session.listed[place], 0) >= 4


def _swapped(items: tuple[int, ...], place: int) -> tuple[int, ...]:
    return (*items[:place], items[place + 1], items[place], *items[place + 2 :])


def check_order_metrics(*, measure: Measure = measured) -> list[Check]:
    """See what correlations with the ideal order charge for an exchange (CCM20 Sec. 3.7)."""
    ideal = Session(tuple(range(5)), dict(zip(range(5), (5, 4, 3, 2, 1), strict=True)))
    swapped = [Session(_swapped(ideal.listed, place), ideal.ratings) for place in range(4)]
    (tau, ndcg, overlap), (first, best, same) = (
        measure(sessions, "tau", "nDCG(exp)", "RBO(0.8)", condensed=True)
        for sessions in (swapped, [ideal])
    )
    costs = {"tau": first - tau, "nDCG": best - ndcg, "RBO": same - overlap}
    claim = "CCM20-D-C2C"
    return [
        Check(claim, "tau", "largest minus smallest cost of an exchange, by tau", 4,
              float(np.ptp(costs["tau"]))),
        Check(claim, "ndcg", "1 minus nDCG of the ideal order", 1, float(1 - best[0])),
        Check(claim, "top-weighted", "metrics by which the last exchange costs no less than the "
              "first", 2, int(sum(costs[name][-1] >= costs[name][0] for name in ("nDCG", "RBO")))),
    ]  # fmt: skip


def check_overlap(sessions: Sequence[Session], *, measure: Measure = measured) -> list[Check]:
    """Compare RBO, tau and RBP with their formulas, and see what phi does (CCM20 Sec. 3.7)."""
    forms = [(phi, truncated) for phi in _PHIS for truncated in (False, True)]
    names = [f"RBO({phi:g}{',truncated' if truncated else ''})" for phi, truncated in forms]
    overlaps = measure(sessions, *names, condensed=True)
    wanted = [
        [plain_overlap(session.condensed, session.ratings, phi, truncated=truncated)
         for session in sessions]
        for phi, truncated in forms
    ]  # fmt: skip
    others = measure(sessions, "tau", "RBP(0.8)", "RBP(0.8,exp)", condensed=True)
    plain = [
        [plain_tau(session.condensed, session.ratings) for session in sessions],
        *([plain_persistent(session.condensed, session.ratings, 0.8, gain) for session in sessions]
          for gain in ("binary", "exp")),
    ]  # fmt: skip
    off = max(
        _off(one, other) for one, other in zip((*overlaps, *others), (*wanted, *plain), strict=True)
    )
    # A = b, c, a, d against B = a, b, d, c.
    worked = Session((1, 2, 0, 3), {0: 5, 1: 4, 2: 1, 3: 2})
    pinned = measure([worked], "RBO(0.5)", "RBO(0.5,truncated)", "RBO(0.9)", "RBO(0.9,truncated)",
                     condensed=True)  # fmt: skip
    values = np.array([[0.333333], [0.270833], [0.828], [0.1719]])
    some = [session for session in sessions if session.condensed]
    sorted_ = [
        Session(
            tuple(sorted(session.condensed, key=lambda item: -session.ratings[item])),
            session.ratings,
        )
        for session in some
    ]
    ideal = 1 - measure(sorted_, "RBO(0.8)", condensed=True)
    tied = [Session(session.listed, dict.fromkeys(session.ratings, 3)) for session in some]
    same = 1 - measure(tied, "RBO(0.8)", condensed=True)
    long = Session(tuple(range(20)), dict(zip(range(20), _falling(20), strict=True)))
    head = Session(_swapped(long.listed, 0), long.ratings)
    small, large = (1 - measure([head], f"RBO({phi})", condensed=True)[0, 0] for phi in (0.5, 0.9))
    permuted = Session((4, 2, 0, 3, 1, *range(5, 20)), long.ratings)
    high = measure([permuted], "RBO(0.95)", condensed=True)[0, 0]
    claim, n = "CCM20-D-RBO", len(sessions)
    return [
        Check(claim, "formula", "RBO, tau and RBP minus their formulas", n, off),
        Check(claim, "pinned", "RBO minus worked values", 4, largest(pinned - values)),
        Check(claim, "ideal", "1 minus RBO of the ideal order", len(some), largest(ideal)),
        Check(claim, "ties", "1 minus RBO of a list whose ratings are all the same", len(some),
              largest(same)),
        Check(claim, "persistence", "exchanges at the head that cost no more at phi .5 than at .9",
              1, int(small <= large)),
        Check(claim, "permuted", "lists with permuted first five of twenty whose RBO at phi .95 is "
              "below .8", 1, int(high < 0.8)),
    ]  # fmt: skip


def _falling(n: int) -> list[int]:
    """Ratings that fall from item to item; what they are does not matter to an order."""
    return list(range(n, 0, -1))


def check_persistence(
    *, depth: Callable[[float], float] | None = None, measure: Measure = measured
) -> list[Check]:
    """See how deep a reader goes who goes on with probability phi (CCM20 Sec. 3.7)."""
    phis = (0.1, 0.5, 0.8, 0.9)
    expected = [(depth or _expected_depth)(phi) for phi in phis]
    off = largest(np.array(expected) - 1 / (1 - np.array(phis)))
    flat = sum(b <= a for a, b in pairwise(expected))
    liked = Session(tuple(range(20)), dict.fromkeys(range(20), 5))
    costs = []
    for phi in (0.5, 0.9):
        worse = Session(liked.listed, {**liked.ratings, 0: 1})
        name = f"RBP({phi:g})"
        costs.append(float(measure([liked], name)[0, 0] - measure([worse], name)[0, 0]))
    claim = "CCM20-C-PHI"
    return [
        Check(claim, "depth", "expected depth minus 1/(1 - phi)", len(phis), off),
        Check(claim, "example", "expected depth at .5 minus 2", 1, abs(expected[1] - 2)),
        Check(claim, "head", "misses at the head that cost no more at phi .5 than at .9", 1,
              int(costs[0] <= costs[1])),
        Check(claim, "further", "larger phi without a larger expected depth", len(phis) - 1, flat),
    ]  # fmt: skip


def _expected_depth(phi: float) -> float:
    """Sum d (1 - phi) phi^(d-1), with the weights that RBP gives to the places of a long list."""
    places = np.arange(2000)
    one = [Session((*range(1000, 1000 + place), 0), {0: 5}) for place in range(3)]
    weights = measured(one, f"RBP({phi!r})")[0]
    ratio = weights[1] / weights[0]
    return float(((places + 1) * weights[0] * ratio**places).sum())
