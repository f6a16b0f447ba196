"""Tables of chapter 8, as its page shows them."""

from __future__ import annotations

from collections.abc import Mapping

from recbias.book.chapters.multiverse.setup import DECISIONS, option_words
from recbias.book.chapters.multiverse.told import (
    Options,
    importance,
    kinds_of,
    of_single_options,
    shares,
    systems_of,
)
from recbias.book.html import markdown_table
from recbias.experiment.makers import Table


def _percent(share: float) -> str:
    return f"{share:.0%}".replace("%", " %")


def crossing_table(options: Options) -> str:
    """List what is crossed; the first option of each decision is where the paper starts."""
    rows = [
        (f"{name}", DECISIONS[name], "; ".join(option_words(name, text) for text in texts))
        for name, texts in options.items()
    ]
    return markdown_table(["", "decision", "options, the first of the paper"], rows)


def shares_table(crossed: Table, place: Table, options: Options, usual: float) -> str:
    """Say who wins how often, and where the data lie among the worlds."""
    frame = shares(crossed, place, options, usual)
    columns = ("wins", "surely wins", "loses", "surely loses")
    rows = [
        (f"{row['against']}, {row['by']}", *(_percent(row[name]) for name in columns))
        for row in frame.to_dict("records")
    ]  # fmt: skip
    table = markdown_table(["kNN against", *columns], rows)
    kinds = kinds_of(place)
    if kinds:
        said = " or ".join(f"*{kind}*" for kind in kinds)
        return f"{table}\n\nAmong the worlds these data are like those with {said}."
    reason = place.frame["reason"].iloc[0]
    return f"{table}\n\nThere are no worlds like these data ({reason}), so that nothing is weighed."


def importance_table(crossed: Table, options: Options) -> str:
    """Say how much of the sign each decision decides."""
    frame = importance(crossed, options)
    frame = frame.loc[frame.mean(axis=1).sort_values(ascending=False).index]
    rows = [
        (str(name), DECISIONS[str(name)], *map(_percent, shares))
        for name, shares in zip(frame.index, frame.to_numpy(float).tolist(), strict=True)
    ]
    heads = [f"against {against}" for against in systems_of(crossed)]
    return markdown_table(["", "decision", *heads], rows)


RELATIONS: Mapping[str, str] = {
    "against": "popular items are liked less",
    "none": "popular items are liked as much",
    "with": "popular items are liked more",
}
"""Kinds of worlds by their relation, in words."""


def trusted_table(relation: str) -> str:
    """Say how often each option is right in worlds to learn from, of a relation."""
    single = of_single_options(relation)
    rows = [
        (
            f"{row['decision']}: {row['option'] or 'none'}",
            f"{row['share']:.2f}",
            f"{row['low']:.2f} to {row['high']:.2f}",
            f"{row['worlds']:.0f}",
        )
        for row in single.to_dict("records")
    ]
    return markdown_table(["option", "right", "95 % interval", "worlds"], rows)
