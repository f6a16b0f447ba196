"""What every metric of the package gives on a small fixed table: the guard of its revision.

``python tests/golden_metrics.py`` renews ``golden_metrics.json``. Do so only together with a raised
``revision`` in the declaration of each metric whose values changed, and an entry in
data/published/CHANGES.md. A new metric needs its examples and a renewed file, no more.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from rank_tables import run_table, user_table
from recbias.data.features import ItemFeatures
from recbias.metrics import (
    ListView,
    declarations,
    measure,
    measure_items,
    measure_resampled,
    parse_metric,
)
from recbias.ranking import RankTable, Ties

FEATURES = [0, 1, 2, 1, 2, 0, 1, 2, 0]
"""Of items 0 to 6; 2 and 5 have none."""
FILE = Path(__file__).with_name("golden_metrics.json")


def examples() -> list[str]:
    """Write each declaration of the package: with and without cutoff, with each argument."""
    texts = []
    for declaration in declarations():
        if declaration.outside:
            continue
        given = ",".join(
            argument.name + ("" if argument.flag else "=5") for argument in declaration.given
        )
        needed = {one.name: one.examples[0] for one in declaration.arguments if one.default is None}
        chosen = [{}] * (not needed) + [
            needed | {argument.name: text}
            for argument in declaration.arguments
            for text in argument.examples
        ]
        arguments = [
            (one or "") and f"({','.join(f'{k}={v}' for k, v in one.items())})" for one in chosen
        ]
        cutoffs = {"required": ["@1", "@3"], "optional": ["", "@3"], "none": [""]}
        texts += [
            str(parse_metric(declaration.name + argument + cutoff + (given and f"|{given}")))
            for argument in arguments
            for cutoff in cutoffs[declaration.cutoff]
        ]
    return list(dict.fromkeys(texts))


def compute() -> dict[str, Any]:
    """Measure every example on users with every edge case, on runs, or on lists."""
    table = user_table(
        ([3, 1, 4, 5, 9, 2, 6], {1: 5, 9: 4, 2: 1, 7: 3, 3: 2}),
        ([8, 5, 3], {8: 4.5, 5: 5, 2: 5, 0: 0.5}),
        ([1, 2], {2: 3, 4: 2}),
        ([7], {}),
        ([], {4: 5}),
    )
    runs = run_table(4, (0, 1, 5), (0, 2, 4), (0, 6, 5), (2, 3, 4.5), (3, 0, 5), size=8)
    table, runs = (replace(one, ties=shared_places(one)) for one in (table, runs))
    lists = ListView(
        np.array([[3, 1, 4, 0], [3, 4, -1, -1], [-1] * 4, [3, 2, 1, 0]], np.int32),
        7,
        np.array([9, 4, 7, 40, 1, 0, 2]),
        np.array([5, 4, 0, 31, 1, 0, 0]),
        np.array([12.5, np.nan, 7.0, 31.0]),
        ItemFeatures(("a", "b", "c"), np.array([0, 2, 3, 3, 5, 8, 8, 9]), np.array(FEATURES)),
        csr_matrix([[0.5, 0.25, 0.25], [0, 0, 1], [1, 0, 0], [0, 0, 0]]),
    )
    weights = np.array([[1, 1, 1, 1], [2, 0, 1, 1], [0, 0, 4, 0]])
    options: dict[str, Any] = {
        "min_rating": 4,
        "rating_max": 5,
        "relevant_counts": np.array([3, 40, 7, 2, 15, 9, 1, 1, 4, 25]),
    }
    found = {}
    for text in examples():
        metric = parse_metric(text)
        if metric.kind == "items":
            values = {"lists": measure_items(lists, [metric])}
        elif metric.kind == "system":
            values = {"lists": measure_resampled(lists, [metric], weights)}
        else:
            tables = {"user": table, "run": runs}
            values = {
                f"{per} {form}": measure(tables[per], [metric], condensed=form != "full", **options)
                for per in metric.declaration.per
                for form in ("full", "condensed")
            }
        found[text] = {
            "revision": metric.declaration.revision,
            **{name: [digits(value) for value in array[0]] for name, array in values.items()},
        }
    return found


def shared_places(table: RankTable) -> Ties:
    """Let each two places of a list be shared: 1 and 2, 3 and 4, and so on."""
    spans = [
        span
        for rank in (table.rank, table.condensed_rank)
        for span in (np.where(rank > 0, rank - (rank + 1) % 2, 0), np.where(rank > 0, 2, 0))
    ]
    return Ties(*(span.astype(np.int32) for span in spans))


def digits(value: float) -> float | None:
    """Keep twelve significant digits, more than a logarithm differs in between processors."""
    return None if np.isnan(value) else float(np.format_float_scientific(value, precision=11))


def main() -> None:
    """Renew the file."""
    rows = [f"{json.dumps(name)}: {json.dumps(values)}" for name, values in compute().items()]
    FILE.write_text("{\n" + ",\n".join(rows) + "\n}\n")


if __name__ == "__main__":
    main()
