"""Checks of the exercises of chapter 8, "The multiverse"."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from recbias.book.exercises import (
    Checked,
    called,
    instead_of,
    is_number,
    not_yet,
    on_own_data,
    right,
    unfit,
)
from recbias.multiverse.summary import nearest_flips, shapley


# -- four universes --------------------------------------------------------------------------------
def check_four(*, wins: float, fewest: int, ways: int) -> Checked:
    """Check what is said of four universes with the signs + + in one row and - + in the other.

    Examples
    --------
    >>> check_four(wins=0.25, fewest=1, ways=1)
    Not yet: wins: that is the share in which A loses.
    """
    for name, answer in (("wins", wins), ("fewest", fewest), ("ways", ways)):
        if not is_number(answer):
            return not_yet(f"{name}: give a number{instead_of(answer)}.")
    if abs(wins - 0.25) < 1e-9:
        return not_yet("wins: that is the share in which A loses.")
    if abs(wins - 0.75) > 1e-9:
        return not_yet("wins: count the universes with a plus, and divide by all of them.")
    if fewest == 2:
        return not_yet("fewest: at the start both decisions have their first option. Change one.")
    if fewest != 1:
        return not_yet("fewest: how many options are changed on the way to a minus?")
    if ways != 1:
        return not_yet("ways: how many universes with a minus are one change away?")
    return right(
        "A wins in three quarters of the universes, and yet one change is enough: a share and the "
        "fewest changes are two things to report."
    )


# -- the fewest changes ----------------------------------------------------------------------------
_CROSSES: tuple[tuple[list[object], tuple[int, ...]], ...] = (
    ([1, 1, -1], (0,)),
    ([[1, 1], [1, -1]], (0, 0)),
    ([[1, 0], [0, -1]], (1, 1)),
    ([[[1, 1], [1, 1]], [[1, -1], [1, -1]]], (0, 0, 0)),
    ([[1, 1], [1, 0]], (0, 0)),
    ([[1, 1, 1], [1, 1, 1], [1, 1, -1]], (0, 0)),
)


def check_fewest(fewest: Callable[[np.ndarray, tuple[int, ...]], int]) -> Checked:
    """Check a function ``fewest(signs, start)`` on six small crosses.

    Examples
    --------
    >>> check_fewest(lambda signs, start: 1)
    Not yet: fewest([[1, 1], [1, -1]], (0, 0)) gives 1, expected 2.
    """
    for cross, start in _CROSSES:
        signs = np.array(cross)
        answer = called(fewest, signs.copy(), start)
        if isinstance(answer, Checked):
            return answer
        nearest = nearest_flips(signs, start)
        wanted = int((nearest[0] != np.array(start)).sum()) if len(nearest) else 0
        if answer == wanted:
            continue
        hints = {
            int(np.abs(nearest - start).sum(axis=1).min()) if len(nearest) else -1:
                " Another option is one change, however far down the list it stands.",
        }  # fmt: skip
        if not len(nearest):
            hint = " Nothing turns the winner there, as a tie is nobody's: give 0."
        else:
            hint = hints.get(int(answer), "")
        return not_yet(f"fewest({cross}, {start}) gives {answer:g}, expected {wanted}.{hint}")
    return right("it agrees in all crosses. On a page it is asked of hundreds of universes.")


# -- what two decisions decide ---------------------------------------------------------------------
def check_shared(*, signs: Sequence[Sequence[int]]) -> Checked:
    """Check signs of two decisions that decide only together, half of the sign each.

    Examples
    --------
    >>> check_shared(signs=[[1, 1], [-1, -1]])
    Not yet: the first decides 100 % and the second 0 %. Turning either alone has to turn the sign
    in some row or column, and in no row or column on average.
    """
    rows = [] if isinstance(signs, str) or not isinstance(signs, Sequence) else list(signs)
    if len(rows) != 2 or any(
        isinstance(row, str) or not isinstance(row, Sequence) or len(row) != 2 for row in rows
    ):
        return not_yet("signs: two rows of two signs.")
    if any(sign not in (1, -1) for row in rows for sign in row):
        return not_yet("signs: each is 1 or -1.")
    table = np.array(rows, dtype=float)
    if abs(table[0, 0] - table).max() == 0:
        return not_yet("all signs are alike, so that there is nothing to decide.")
    first, second = shapley(table)
    alone = max(np.ptp(table.mean(axis=0)), np.ptp(table.mean(axis=1)))
    if alone > 0:
        return not_yet(
            f"the first decides {first:.0%} and the second {second:.0%}. Turning either alone has "
            "to turn the sign in some row or column, and in no row or column on average.".replace(
                "%", " %"
            )
        )
    return right(
        "each alone changes no mean, and both together decide everything: whoever turns one "
        "decision at a time and averages finds that neither matters."
    )


# -- one's own universes ---------------------------------------------------------------------------
@on_own_data
def check_own_universes(*, signs: Sequence[object], wins: float, fewest: int) -> Checked:
    """Check in which share of one's own universes A wins, and the fewest changes that turn it.

    Examples
    --------
    >>> check_own_universes(signs=[[1, 1, 1], [1, -1, 0]], wins=0.8, fewest=2)
    Not yet: wins: a universe with a tie is one, too: 4 of 6.
    """
    if isinstance(signs, str) or not isinstance(signs, Sequence) or "Ellipsis" in repr(signs):
        return not_yet("signs: give a list of lists of signs in place of the dots.")
    try:
        cross = np.array(signs)
    except ValueError:
        return not_yet("signs: every decision has the same options wherever it is taken.")
    if cross.ndim < 2 or min(cross.shape) < 2 or not np.isin(cross, (1, -1, 0)).all():
        return not_yet("signs: two decisions at least, two options each: 1, -1, or 0 for a tie.")
    if told := unfit({"wins": wins}, 1) or unfit({"fewest": fewest}):
        return not_yet(told)
    n_wins, n_decided = int((cross == 1).sum()), int((cross != 0).sum())
    if not abs(wins - n_wins / cross.size) <= 0.0051:
        if n_decided and abs(wins - n_wins / n_decided) <= 0.0051:
            return not_yet(f"wins: a universe with a tie is one, too: {n_wins} of {cross.size}.")
        return not_yet(f"wins: count the universes with 1, of {cross.size} in all.")
    start = (0,) * cross.ndim
    if not cross[start]:
        return not_yet("signs: the first universe is a tie; begin with options where one wins.")
    nearest = nearest_flips(cross, start)
    wanted = int((nearest[0] != 0).sum()) if len(nearest) else 0
    if fewest != wanted:
        hint = "nothing turns the winner, so it is 0" if not wanted else "begin at the first"
        return not_yet(
            f"fewest: {hint}: in how many decisions does the nearest universe with another winner "
            "differ from the first one?"
        )
    return right(
        f"A wins {n_wins} of {cross.size}, and "
        + ("nothing turns the winner." if not wanted else f"{wanted} changed turn the winner.")
    )
