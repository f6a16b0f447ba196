"""The loop, round by round: what its explorer offers, and what is shown for each choice."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import cast

import pandas as pd

from recbias.book.chapters.concentration_metrics.loop import CHOICES, INDEX, LOOP
from recbias.book.explorer import Axis, Choice, Shown
from recbias.book.html import number_word
from recbias.claims.quantities import over_worlds
from recbias.experiment.makers import Table

START: Choice = ("even", "ratings", str(LOOP["n_rounds"]))
"""What is shown first: where the loop of the first figure ends."""

FIRST_LISTS: Choice = ("even", "lists", "0")
"""With what orders are compared: what can be known before anything is served."""

_COLUMNS = {"ratings": "Gini_ratings", "lists": "Gini", "liked": "P"}
_METRICS = {"ratings": "Gini of the ratings", "lists": "Gini of the lists", "liked": "truly liked"}
_WORDS = {
    "even": "each listed item is rated with the same probability",
    "attentive": "people see the first places more, and take what they like",
}


def axes(loop: Table) -> tuple[Axis, ...]:
    """List what readers choose: how people choose, what is measured, and the round."""
    rounds = sorted(loop.frame["round"].unique())
    return (
        Axis(
            "which listed items are rated",
            {"even": "even: all alike", "attentive": "attentive: first places, and what is liked"},
        ),
        Axis(
            "what is measured",
            {
                "ratings": "how uneven all ratings are",
                "lists": "how uneven the lists are",
                "liked": "share of the lists that is truly liked",
            },
        ),
        Axis("rounds that have passed", {str(each): str(each) for each in rounds}, slider=True),
    )


def courses(loop: Table) -> dict[Choice, Shown]:
    """Give what is shown for each choice: means over the worlds, a row for each recommender."""
    measured, of, rounds = axes(loop)
    assert set(measured.options) == set(CHOICES)
    frame = loop.frame.set_index(list(INDEX))
    wide = {
        (choice, name): frame.xs(choice, level="choice")[name].unstack("number")
        for choice in measured.options
        for name in _COLUMNS.values()
    }
    return {
        (choice, name, number): _shown(wide, choice, name, int(number))
        for choice, name, number in product(measured.options, of.options, rounds.options)
    }


def _shown(wide: dict[tuple[str, str], pd.DataFrame], choice: str, name: str, number: int) -> Shown:
    """Read one round, and say what has become of the first, or of the ratings, by then."""

    def read(column: str, at: int) -> pd.DataFrame:
        """Give a column before a round: a row a recommender, a column a world."""
        return cast("pd.DataFrame", wide[choice, column].xs(at, level="round"))

    now, first = read(_COLUMNS[name], number), read(_COLUMNS[name], 0)
    means = {str(system): over_worlds(list(drawn)) for system, drawn in now.iterrows()}
    when = f"after {number_word(number)} round{'' if number == 1 else 's'}"
    when = when if number else "before the first round"
    return Shown(
        values={system: (mean.value, *mean.interval) for system, mean in means.items()},
        metric=_METRICS[name],
        title=f"round {number}",
        words=f"{when}, where {_WORDS[choice]}: {_METRICS[name]}",
        note=_note(name, number, now, first, read("Gini_ratings", number)),
        expected=float(first.to_numpy().mean()) if name == "ratings" else None,
    )


def _note(
    name: str, number: int, now: pd.DataFrame, first: pd.DataFrame, ratings: pd.DataFrame
) -> str:
    """Sort recommenders by what is surely larger, surely smaller, or neither."""
    if name == "lists":
        return _sorted_by_sign(
            now - ratings.loc[now.index],
            "Lists are more uneven than the ratings that they are learned from with {}.",
            "They are more even with {}.",
        )
    if number == 0:
        equal = "All are equal: nothing" if name == "ratings" else "Nothing"
        return f"{equal} has been recommended yet."
    more, less = {
        "ratings": (
            "Ratings have become more uneven with {}.",
            "They have become more even with {}.",
        ),
        "liked": (
            "More is liked than of the first lists with {}.",
            "Less is liked than of the first lists with {}.",
        ),
    }[name]
    return _sorted_by_sign(now - first.loc[now.index], more, less)


def _sorted_by_sign(differences: pd.DataFrame, more: str, less: str) -> str:
    names: dict[str, list[str]] = {more: [], less: [], "It is neither, surely, with {}.": []}
    for system, drawn in differences.iterrows():
        low, high = over_worlds(list(drawn)).interval
        place = 0 if low > 0 else 1 if high < 0 else 2
        names[list(names)[place]].append(str(system))
    return " ".join(form.format(_listed(each)) for form, each in names.items() if each)


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
