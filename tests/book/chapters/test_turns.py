"""What follows from the table of negatives: tables made by hand, and their sentences."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import pytest

from expressions_at import parts_of
from recbias.book.chapters import sparsity_bias
from recbias.book.chapters.sparsity_bias import figures
from recbias.book.chapters.sparsity_bias.turns import (
    at_size,
    crossings,
    enough,
    negatives_quoted,
    negatives_table,
    ranked_pairs,
)
from recbias.book.findings import own_findings
from recbias.claims.evidence import NotComputed
from recbias.experiment.makers import Table

SIZES = (5, 20, 50, 100, 101, 300, 1001)
Row = tuple[float, float, float, float]

AHEAD: dict[int, Row] = dict.fromkeys(SIZES, (0.2, 0.01, 0.0, 0.01))
"""By size: the difference, half of its interval, and the chances of an error."""

TURNED = {
    5: (0.9, 0.01, 0.0, 0.0),
    20: (-0.2, 0.01, 1.0, 1.0),
    50: (-0.1, 0.2, 1.0, 1.0),
    100: (-0.1, 0.05, 0.9, 1.0),
    101: (0.01, 0.05, 0.3, 0.9),
    300: (0.1, 0.05, 0.05, 0.06),
    1001: (0.2, 0.02, 0.0, 0.0),
}
UNLUCKY = {**AHEAD, 20: (0.01, 0.1, 0.3, 1.0), 100: (0.01, 0.1, 0.06, 1.0)}
LOOSE = {**AHEAD, 1001: (0.01, 0.02, 0.0, 0.0)}
"""Nothing tells its order where nothing is sampled."""


def made(pairs: dict[tuple[str, str], dict[int, Row]], *, size: int = 100) -> Table:
    rows = [
        (a, b, at, value, value - half, value + half, wrong, 0.0, most)
        for (a, b), own in pairs.items()
        for at, (value, half, wrong, most) in own.items()
    ]
    columns = ["a", "b", "size", "value", "low", "high", "wrong", "wrong_least", "wrong_most"]
    return Table(
        index=("a", "b", "size"),
        frame=pd.DataFrame(rows, columns=columns),
        maker_name="02_sparsity_bias/negatives",
        given={"cutoff": 10, "size": size},
        key="0",
        dataset={"name": "x"},
    )


def three(**changes: Any) -> Table:
    pairs = {("X", "Y"): AHEAD, ("X", "Z"): UNLUCKY, ("Y", "Z"): TURNED}
    return made({**pairs, **changes.pop("pairs", {})}, **changes)


def test_turns_lie_between_what_is_resolved_before_and_after() -> None:
    """What happens up to the cutoff is no turn: there every run hits that can."""
    (row,) = crossings(three()).to_dict("records")
    assert row == {"a": "Y", "b": "Z", "size": 101, "ahead": "Y", "low": 100.0, "high": 300.0}
    never = {**TURNED, 20: (-0.2, 0.3, 1.0, 1.0), 100: (-0.1, 0.2, 1.0, 1.0)}
    (row,) = crossings(three(pairs={("Y", "Z"): never})).to_dict("records")
    assert math.isnan(row["low"])
    assert row["high"] == 300
    back = {**TURNED, 300: (-0.1, 0.05, 1.0, 1.0)}
    found = crossings(three(pairs={("Y", "Z"): back}))
    assert found["size"].tolist() == [101, 300, 1001]
    assert found["ahead"].tolist() == ["Y", "Z", "Y"]
    assert crossings(made({("X", "Y"): AHEAD})).empty


def test_enough_is_counted_from_the_last_size_that_is_not() -> None:
    found = enough(three()).set_index(["a", "b"])
    assert found["size"].tolist() == [20, 101, 300]
    assert found["shared"].tolist() == [20, 101, 1001]
    assert found["turns"].tolist()[2] == 101
    assert found["turns"].isna().tolist() == [True, True, False]
    assert found["resolved"].all()
    strict = enough(three(), 0.04).set_index(["a", "b"])
    assert strict["size"].tolist() == [20, 101, 1001]
    assert not enough(made({("X", "Y"): LOOSE}))["resolved"].any()
    nearly = {**AHEAD, 1001: (0.1, 0.09, 0.0, 0.0)}
    assert enough(made({("X", "Y"): nearly}))["resolved"].all()
    assert enough(three(pairs={("X", "Y"): nearly}))["resolved"].tolist() == [False, True, True]
    equal = dict.fromkeys(SIZES, (0.0, 0.1, 0.5, 0.5))
    assert enough(made({("X", "Y"): equal}))["size"].isna().all()


def test_orders_at_the_size_that_is_asked_about_are_sure_for_all_pairs_at_once() -> None:
    found = at_size(three())
    assert found["order"].tolist() == [1, 0, -1]
    assert found["sure"].all()
    # Three pairs: an interval of 98.3 % is 1.22 times as wide as one of 95 %.
    nearly = {**TURNED, 100: (-0.1, 0.09, 0.9, 1.0)}
    assert at_size(three(pairs={("Y", "Z"): nearly}))["order"].tolist() == [1, 0, 0]
    alone = made({("Y", "Z"): nearly})
    assert at_size(alone)["order"].tolist() == [-1]
    assert at_size(three(size=5000))["order"].tolist() == [1, 1, 1]


def test_numbers_of_the_page() -> None:
    quoted = negatives_quoted(three())
    assert quoted == {
        "n_resolved": "3",
        "n_wrong": "2",
        "n_unlucky": "1",
        "most_own": "299",
        "most_a": "Y",
        "most_b": "Z",
    }
    title = figures.enough_sampled(three()).title
    assert title.startswith("99 sampled items are enough for 1 of 3 pairs,\n299")
    title = figures.orders(three(), 10).title
    assert title.replace("\n", " ").startswith("99 sampled items put 1 of 3 pairs that")
    unresolved = made({("X", "Y"): LOOSE})
    assert negatives_quoted(unresolved)["n_resolved"] == "0"
    title = figures.enough_sampled(unresolved).title
    assert title == "All items order no pair of systems beyond chance"
    table = negatives_table(three())
    first = table.splitlines()[2]
    assert first == "| Y | Z | 0.2000 (0.1800 to 0.2200) | 100 (99 to 299) | 299 | 1,000 |"
    assert len(negatives_table(three(), 2).splitlines()) == 4
    assert len(negatives_table(unresolved).splitlines()) == 2


def asked(name: str, table: Table) -> Any:
    (part,) = parts_of(
        own_findings("sparsity bias")[name].value, {"negatives": table}, views=sparsity_bias.VIEWS
    )
    assert part.read
    return part


@pytest.mark.parametrize(
    ("pairs", "name", "value", "limits"),
    [
        ({}, "NEGATIVES-TURNED", 1, (1, 2)),
        ({("X", "Z"): AHEAD}, "NEGATIVES-TURNED", 1, (1, 1)),
        ({("Y", "Z"): AHEAD}, "NEGATIVES-TURNED", 0, (0, 1)),
        ({("X", "Z"): LOOSE}, "NEGATIVES-TURNED", 1, (1, 1)),
        ({}, "NEGATIVES-UNLUCKY", 0.5, (0.5, 0.5)),
        ({("X", "Z"): AHEAD}, "NEGATIVES-UNLUCKY", 0, (0, 0)),
        ({("Y", "Z"): AHEAD}, "NEGATIVES-UNLUCKY", 1, (1, 1)),
        ({}, "NEGATIVES-MOST", 0.299, (0.299, 0.299)),
        ({("Y", "Z"): LOOSE}, "NEGATIVES-MOST", 0.1, (0.1, 0.1)),
    ],
)
def test_what_findings_find(pairs, name: str, value: float, limits) -> None:
    found = asked(name, three(pairs=pairs))
    assert found.value == pytest.approx(value)
    assert found.interval == pytest.approx(limits)


@pytest.mark.parametrize("name", ["NEGATIVES-TURNED", "NEGATIVES-UNLUCKY", "NEGATIVES-MOST"])
def test_findings_without_a_pair_that_is_ordered(name: str) -> None:
    with pytest.raises(NotComputed):
        asked(name, made({("X", "Y"): LOOSE}))


def test_ranks_count_who_is_ahead_and_halve_ties() -> None:
    def ranks(pairs: pd.DataFrame, size: int) -> dict[str, float]:
        rows = ranked_pairs(pairs)
        return dict(rows.loc[rows["sampled"] == size - 1, ["system", "rank"]].to_numpy().tolist())

    assert ranks(three().frame, 1001) == {"X": 1, "Y": 2, "Z": 3}
    assert ranks(three().frame, 20) == {"X": 1, "Y": 3, "Z": 2}
    tied = three(pairs={("X", "Y"): {**AHEAD, 20: (0.0, 0.1, 0.5, 1.0)}})
    assert ranks(tied.frame, 20) == {"X": 1.5, "Y": 2.5, "Z": 2}
    extra = pd.concat([tied.frame, tied.frame.iloc[:1].assign(size=77)])
    assert ranks(extra, 77) == {}
