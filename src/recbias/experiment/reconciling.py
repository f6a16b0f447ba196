"""A run and judgments in every form that toolkits have, and the numbers to be explained.

What conventions there are, and which of them give a number, is `recbias.metrics.conventions`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from recbias.errors import ConfigError, DataError, MissingData
from recbias.experiment.measurement import judgments_of, run_of
from recbias.metrics.conventions import (
    Reconciled,
    RunAndJudgments,
    closeness,
    reconcile_values,
)

__all__ = ["METRICS", "read_theirs", "reconcile"]

METRICS = ("P@10", "R@10", "HR@10", "RR@10", "AP@10", "nDCG@10")
"""What is shown where no number is asked about."""

Theirs = Mapping[str, str | Mapping[str, str]]


def reconcile(
    run: Any,
    judgments: Any,
    theirs: Mapping[str, Any] | str | Path | None = None,
    metrics: Sequence[str] = (),
) -> list[Reconciled]:
    """Say which conventions of toolkits give which value, and which explain a number at hand.

    Parameters
    ----------
    run, judgments
        As `recbias.measure` takes them: tables, dictionaries or files, such as a run and qrels of
        TREC.
    theirs
        What another toolkit said: a CSV file with the columns ``metric`` and ``value`` (means) or
        ``metric``, ``user`` and ``value``, or a dictionary of means. Text keeps its digits, which
        say how exact a number is; give as many as there are.
    metrics
        To be listed beside those of `theirs`; without both `METRICS`.

    Returns
    -------
    list of Reconciled
        One for each metric, in this order. Its `sentence` says what gives the number, its `single`
        lists the value under each convention changed alone.

    Raises
    ------
    ConfigError
        If a metric is not known, or a value is no number.
    DataError
        If a file cannot be understood, a metric is there twice, or no user is in both.
    MissingData
        If there is no such file.

    Notes
    -----
    Some thousand ways are tried for nDCG: one that gives a number with few digits may do so by
    chance. With more digits, several metrics or the values of users that does not happen.
    Scores are compared as they are written; trec_eval rounds them to 32 bits, which ties the close.

    Examples
    --------
    >>> run = {"ann": {"a": 3, "b": 2, "c": 1}, "bob": {"a": 2, "c": 1}}
    >>> judgments = {"ann": {"b": 1, "d": 1}, "bob": {"b": 0}}
    >>> for one in reconcile(run, judgments, {"RR": "0.5", "R@2": "0.5", "P@2": "0.5"}):
    ...     print(one.sentence())
    their RR = 0.5 is: users without a relevant item left out
      the rest as here: unjudged items keep their places
    their R@2 = 0.5 is: users without a relevant item left out
      the rest as here: mean over users
    their P@2 = 0.5 is: users without a relevant item left out
    """
    both = _read(run, judgments)
    given = {} if theirs is None else _given(theirs)
    wanted = list(dict.fromkeys([*given, *(metrics or (() if given else METRICS))]))
    return reconcile_values(both, wanted, given)


def _given(theirs: Mapping[str, Any] | str | Path) -> Theirs:
    if isinstance(theirs, str | Path):
        return read_theirs(Path(theirs))
    checked: dict[str, str | Mapping[str, str]] = {}
    for metric, value in theirs.items():
        if isinstance(value, Mapping):
            checked[metric] = {str(user): _number(of_user) for user, of_user in value.items()}
        else:
            checked[metric] = _number(value)
    return checked


def _number(value: Any) -> str:
    text = str(value if isinstance(value, str | int) else float(value)).strip()
    closeness(text)  # refuses what is no number
    return text


def read_theirs(file: Path) -> Theirs:
    """Read means, or values of users, by metric, as the text that stands in a CSV file.

    Raises
    ------
    DataError
        If a column is missing, a metric or a pair is there twice, a number is none, or no row.
    MissingData
        If there is no such file.
    """
    if not file.is_file():
        raise MissingData(f"no file {file}\ngive a CSV file with the columns metric and value")
    try:
        table = pd.read_csv(file, dtype=str, keep_default_na=False, skipinitialspace=True)
    except (ValueError, UnicodeDecodeError) as error:
        raise DataError(f"{file}: no CSV file: {str(error).splitlines()[0]}\n{_ADVICE}") from None
    table.columns = table.columns.str.strip().str.lower()
    if lacking := {"metric", "value"} - set(table.columns):
        found = ", ".join(table.columns)
        raise DataError(f"{file}: no column {min(lacking)}; found: {found}\n{_ADVICE}")
    if table.empty:
        raise DataError(f"{file}: no row\n{_ADVICE}")
    keys = [name for name in ("metric", "user") if name in table.columns]
    again = table.duplicated(keys)
    if again.any():
        row = int(np.argmax(again))
        told = ", ".join(table[keys].iloc[row])
        raise DataError(f"{file}, line {row + 2}: {told} is there twice\n{_ADVICE}")
    read: dict[str, Any] = {}
    users = table["user"].str.strip() if "user" in keys else [""] * len(table)
    rows = zip(table["metric"], users, table["value"], strict=True)
    for line, (metric, user, value) in enumerate(rows, 2):
        try:
            number = _number(value)
        except ConfigError as error:
            raise DataError(f"{file}, line {line}: {error}\n{_ADVICE}") from None
        if "user" in keys:
            read.setdefault(metric, {})[user] = number
        else:
            read[metric] = number
    return read


_ADVICE = (
    "write the columns metric,value with means, or metric,user,value; a metric such as nDCG@10"
)


def _read(run: Any, judgments: Any) -> RunAndJudgments:
    """Join a run and judgments by the labels of users and items."""
    judged, scores = judgments_of(judgments), run_of(run)
    rows, keys = scores.rows, scores.keys
    users, items = scores.known_places(judged)
    if (users < 0).all():
        raise DataError(
            f"no user of the run has judgments: the run has {rows['user'].iloc[0]}, the judgments "
            f"{judged.user_ids[0]}\nwrite the ids of users alike in both"
        )
    labels = []
    for column, places, known in (
        ("user", users, judged.user_ids),
        ("item", items, judged.item_ids),
    ):
        codes, strange = pd.factorize(rows[column][places < 0])
        places[places < 0] = len(known) + codes
        labels.append(np.concatenate([known.astype(str), np.asarray(strange, dtype=str)]))
    scores.refuse_twice(users, items, len(labels[1]))
    # Ranks beside scores say in which order equal ones are meant.
    order = np.argsort(-keys[-1], kind="stable") if len(keys) > 1 else np.arange(len(rows))
    return RunAndJudgments(
        users[order], items[order], keys[0][order],
        judged.user.astype(np.int64), judged.item.astype(np.int64), judged.value, *labels,
    )  # fmt: skip
