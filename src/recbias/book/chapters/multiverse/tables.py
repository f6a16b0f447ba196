"""Tables of chapter 8, as its page shows them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from recbias.book.chapters.multiverse.setup import CHAPTER, DECISIONS, alike, option_words
from recbias.book.chapters.multiverse.told import (
    CALLED,
    Options,
    called_on_data,
    called_pairs,
    distinct,
    first_of,
    importance,
    kinds_of,
    nearest,
    of_pairs,
    of_single_options,
    of_universes,
    right_and_wrong,
    shares,
    systems_of,
)
from recbias.book.chapters.offline_option_taxonomy.setup import READINGS
from recbias.book.html import markdown_table
from recbias.claims.judging import load_chapter
from recbias.data.datasets import dataset_info, is_path
from recbias.data.ratings import exact
from recbias.experiment.makers import Table


def _percent(share: float) -> str:
    return f"{share:.0%}".replace("%", " %")


def crossing_table(options: Options, dataset: str, min_rating: float) -> str:
    """List what is crossed; the first option of each decision is where the paper starts.

    Thresholds that are left out are said.
    """
    rows = [
        (f"{name}", DECISIONS[name], "; ".join(option_words(name, text) for text in texts))
        for name, texts in options.items()
    ]
    table = markdown_table(["", "decision", "options, the first of the paper"], rows)
    same = alike(dataset, min_rating)
    said = "".join(
        f" In these data *liked from {exact(out)}* is *liked from {exact(kept)}*, as no rating "
        "lies between, and is left out."
        for out, kept in same.items()
    )
    return f"{table}\n\n{said.strip()}" if said else table


def compared_note(crossed: Table) -> str:
    """Say how many universes there are, and what is compared where that is not kNN and MF."""
    first, against = first_of(crossed), systems_of(crossed)
    counts = [f"{len(distinct(crossed, name)):,} against {name}" for name in against]
    said = f"\n\nUniverses of {first}: {' and '.join(counts)}."
    if first != "kNN" or list(against) != list(READINGS):
        names = " and ".join(against)
        said += (
            f" **This page compares {first} with {names}.** Where its text speaks of kNN and MF, "
            "figures and tables are about these, and sentences about kNN and MF are left out."
        )
    return said


def shares_table(crossed: Table, place: Table, options: Options, usual: float) -> str:
    """Say who wins how often, and where the data lie among the worlds."""
    frame = shares(crossed, place, options, usual)
    columns = ("wins", "surely wins", "loses", "surely loses")
    rows = [
        (f"{row['against']}, {row['by']}", *(_percent(row[name]) for name in columns))
        for row in frame.to_dict("records")
    ]  # fmt: skip
    table = markdown_table([f"{first_of(crossed)} against", *columns], rows)
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


MOST_WAYS = 8
"""Ways to turn a winner that are listed; of others it is said how many there are."""


def turning_list(crossed: Table, options: Options) -> str:
    """List the fewest changes that turn the winner of the start, in all ways."""
    first, rows = first_of(crossed), []
    for against in systems_of(crossed):
        start = distinct(crossed, against)
        start = start[(start[list(options)] == 0).all(axis=1)]
        sign = int(start["sign"].iloc[0]) if len(start) else 0
        n_changes, ways = nearest(crossed, against, options)
        texts = [
            " and ".join(f"{name[:2]} {option_words(name, text)}" for name, text in changed.items())
            for changed in ways
        ]
        if len(texts) > MOST_WAYS:
            texts = [*texts[:MOST_WAYS], f"{len(texts) - MOST_WAYS} more"]
        winner = {1: first, -1: against, 0: "nobody"}[sign]
        number = "one change turns" if n_changes == 1 else f"{n_changes} changes turn"
        turns = f"{number} it, and no fewer:" if ways else "nothing turns it."
        rows.append(f"- Against {against} {winner} is ahead at the start; {turns}")
        rows += [f"  - {text}" for text in texts]
    return "\n".join(rows)


def truth_table(pairs: Table) -> str:
    """Say of which pairs it is told who is better, and how often that is true where it is known."""
    frame = called_pairs(pairs)
    known = bool(pairs.frame["true"].notna().any())
    heads = ["pairs with", f"of {len(pairs.frame)}", *(["right", "wrong"] if known else [])]
    rows = [
        (CALLED[row["called"]], *(str(row[name]) for name in ("pairs", "right", "wrong")))
        for row in frame.to_dict("records")
    ]
    return markdown_table(heads, [row[: len(heads)] for row in rows]) + _left_out(pairs)


def _left_out(pairs: Table) -> str:
    """Name the systems that were asked for and are in no pair."""
    asked = [system["name"] for system in pairs.given["grid"]["systems"]]
    missing = [name for name in asked if name not in {*pairs.frame["a"], *pairs.frame["b"]}]
    listed = ", ".join(f"*{name}*" for name in missing)
    return f"\n\n**Left out**, as it cannot be trained on these data: {listed}." if listed else ""


DATA = ("ml-1m", "ml-100k", "ml-latest-small", "filmtrust", "coat", "cm100k")
"""The data sets that are set side by side, in this order, those that are recorded."""


def data_table(results: Mapping[str, Any], dataset: str) -> str:
    """Set data sets side by side: recorded ones, and that of the page."""
    rows = []
    for name in dict.fromkeys((dataset, *DATA)):
        found: Mapping[str, Any] = results if name == dataset else load_chapter(CHAPTER, name)
        if "crossed" not in found or "pairs" not in found:
            continue
        said = of_universes(found["crossed"])[1].set_index("reading")
        if said.empty:
            continue
        cells = []
        for reading in said.index:
            row = said.loc[reading]
            cells += [_percent(row["wins"]), f"{row['fewest']:.0f}" if row["fewest"] else "none"]
        of_sixteen = of_pairs(found["pairs"])[1].set_index("which")["robust"]
        right, wrong = right_and_wrong(found["pairs"], "robust")
        true = f"{right} of {right + wrong}" if right + wrong else "not known"
        title = "your table" if is_path(name) else dataset_info(name).title
        n = len(distinct(found["crossed"], systems_of(found["crossed"])[-1]))
        rows.append((title, f"{n:,}", *cells, _percent(of_sixteen["all"]), true))
    heads = [
        "", "universes", "kNN beats MF", "turned by", "kNN beats MF (as in RankSys)", "turned by",
        "pairs with one winner", "of these true",
    ]  # fmt: skip
    return markdown_table(heads, rows) if rows else ""


def called_table() -> str:
    """Say how often what is called robust is true on data with judgments of random items."""
    rows = [
        (dataset_info(row["data"]).title, row["weights"], str(row["compared"]),
         str(row["called"]), str(row["right"]))
        for row in called_on_data().to_dict("records")
    ]  # fmt: skip
    return markdown_table(["", "weights", "comparisons", "called robust", "of these true"], rows)


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
