"""Recorded numbers that follow from others do so by an oracle that shares no code with ours.

Each check is shown a recorded result that is wrong throughout, as an error in the code that
computes and verifies it would leave it.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats

import recorded_oracle
from recbias.stats.agreement import kendall_tau, tau_p_value

RECORDED = Path(__file__).parents[2] / "data" / "recorded"
DATA_SETS = sorted(folder.name for folder in RECORDED.iterdir() if folder.is_dir())


@pytest.mark.parametrize("dataset", DATA_SETS)
def test_what_follows_from_recorded_numbers_is_what_is_recorded(dataset: str) -> None:
    wrong = {
        str(path.relative_to(RECORDED)): found
        for path in sorted((RECORDED / dataset).glob("*/*.json"))
        if (found := recorded_oracle.wrong_numbers(*recorded_oracle.read(path)))
    }
    assert wrong == {}


# -- its twins: what the same error in computing and verifying would leave ---------------------

Document = dict[str, Any]


def _rows(document: Document, table: str) -> Document:
    columns: Document = document["body"][table]["columns"]
    return columns


def omit_holm(document: Document, _: Any) -> None:
    tests = _rows(document, "tests")
    tests["t_p_holm"], tests["wilcoxon_p_holm"] = tests["t_p"], tests["wilcoxon_p"]


def bonferroni(document: Document, _: Any) -> None:
    tests = _rows(document, "tests")
    n = len(tests["t_p"]) / len(set(zip(tests["label"], tests["metric"], tests["unit"])))  # noqa: B905
    tests["wilcoxon_p_holm"] = [min(1.0, n * p) for p in tests["wilcoxon_p"]]


def one_sided(document: Document, _: Any) -> None:
    tests = _rows(document, "tests")
    tests["t_p"] = [p / 2 for p in tests["t_p"]]
    tests["t_p_holm"] = [min(1.0, p / 2) for p in tests["t_p_holm"]]


def flip_signs(document: Document, _: Any) -> None:
    tests = _rows(document, "tests")
    for name in ("difference", "low", "high"):
        tests[name] = [-value for value in tests[name]]
    tests["low"], tests["high"] = tests["high"], tests["low"]


def flip_one_sign(document: Document, _: Any) -> None:
    tests = _rows(document, "tests")
    row = int(np.argmax(np.abs(tests["difference"])))
    tests["difference"][row] *= -1
    tests["low"][row], tests["high"][row] = -tests["high"][row], -tests["low"][row]


def narrow_tests(document: Document, _: Any) -> None:
    """Give tests intervals of 90 instead of 95 per cent."""
    tests = _rows(document, "tests")
    share = scipy.stats.norm.ppf(0.95) / scipy.stats.norm.ppf(0.975)
    for end in ("low", "high"):
        tests[end] = [
            middle + share * (value - middle)
            for value, middle in zip(tests[end], tests["difference"], strict=True)
        ]


def _each_interval(document: Document, drawn: Any, make: Callable[..., Any]) -> None:
    values = _rows(document, "values")
    for row, replicates in drawn.items():
        if values["low"][row] is not None:
            ends = make(values["value"][row], replicates)
            values["low"][row], values["high"][row] = map(float, ends)


def narrow(document: Document, drawn: Any) -> None:
    _each_interval(document, drawn, lambda _, draws: np.quantile(draws, [0.05, 0.95]))


def normal(document: Document, drawn: Any) -> None:
    _each_interval(
        document, drawn, lambda value, draws: value + np.array([-1.96, 1.96]) * draws.std(ddof=1)
    )


def percentile(document: Document, drawn: Any) -> None:
    _each_interval(document, drawn, lambda _, draws: np.quantile(draws, [0.025, 0.975]))


def mirror(document: Document, drawn: Any) -> None:
    """Reflect percentiles at the value, as the "basic" bootstrap does."""
    _each_interval(
        document, drawn, lambda value, draws: 2 * value - np.quantile(draws, [0.975, 0.025])
    )


def spread_of_folds(document: Document, _: Any) -> None:
    values = _rows(document, "values")
    values["se"] = values["fold_sd"]


def turn_taus(document: Document, _: Any) -> None:
    table = _rows(document, "frame")
    table["value"] = [-tau for tau in table["value"]]
    table["low"], table["high"] = ([-v for v in table[end]] for end in ("high", "low"))


def omit_holm_of_steps(document: Document, _: Any) -> None:
    table = _rows(document, "frame")
    table["p_holm"] = table["p"]


def exchange_systems(document: Document, _: Any) -> None:
    table = _rows(document, "frame")
    table["knn"], table["mf"] = table["mf"], table["knn"]


PAIRS = "ml-1m/05_true_false_positives/systems"
LISTS = "filmtrust/06_concentration/systems"

TWINS: dict[str, tuple[str, Callable[[Document, Any], None], str]] = {
    "Holm omitted": ("ml-100k/01_design_alternatives/systems", omit_holm, "_p_holm is"),
    "Bonferroni instead of Holm": (
        "ml-100k/01_design_alternatives/systems", bonferroni, "wilcoxon_p_holm is",
    ),
    "one-sided p": ("ml-100k/01_design_alternatives/systems", one_sided, "t_p is"),
    "all signs flipped": (PAIRS, flip_signs, "the other way than the values"),
    "one sign flipped": (PAIRS, flip_one_sign, "by others not"),
    "tests at 90 per cent": ("ml-100k/01_design_alternatives/systems", narrow_tests, "t_p is"),
    "percentiles of 90 per cent": (PAIRS, narrow, "low is"),
    "normal instead of percentile": (PAIRS, normal, "high is"),
    "percentile instead of normal": (LISTS, percentile, "Gini@10'): low is"),
    "reflected percentiles": (PAIRS, mirror, "low is"),
    "spread of folds as standard error": (PAIRS, spread_of_folds, "se is"),
    "taus turned round": ("cm100k/04_overcoming_popularity_bias/true_orders", turn_taus, "tau is"),
    "Holm omitted in a table": (
        "ml-100k/07_offline_options/fill_steps", omit_holm_of_steps, "p_holm is",
    ),
    "systems of a difference exchanged": (
        "ml-1m/07_offline_options/cells", exchange_systems, "kNN minus MF",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TWINS)
def test_an_error_that_verification_would_repeat_is_noticed(name: str) -> None:
    result, change, says = TWINS[name]
    document, drawn = recorded_oracle.read(RECORDED / f"{result}.json")
    assert recorded_oracle.wrong_numbers(document, drawn) == []
    changed = copy.deepcopy(document)
    change(changed, drawn)
    found = recorded_oracle.wrong_numbers(changed, drawn)
    assert any(says in text for text in found), found[:3]


# -- taus: what verdicts make of recorded values ------------------------------------------------


def _orders(result: str) -> list[tuple[list[float], list[float]]]:
    """Give each pair of orders of the systems of a grid, by its designs and metrics."""
    document, _ = recorded_oracle.read(RECORDED / f"{result}.json")
    values = _rows(document, "values")["value"]
    by_design: dict[tuple[str, str], list[float]] = {}
    for (_, *design), value in zip(
        recorded_oracle.names_of(document["parameters"]), values, strict=True
    ):
        by_design.setdefault((design[0], design[1]), []).append(value)
    # Where all systems have one value there is no order.
    defined = [order for order in by_design.values() if None not in order and len(set(order)) > 1]
    return list(combinations(defined, 2))


@pytest.mark.parametrize(
    "result",
    [PAIRS, "cm100k/05_true_false_positives/systems", "coat/04_overcoming_popularity_bias/systems"],
)
def test_taus_of_recorded_values_are_those_of_a_plain_count(result: str) -> None:
    orders = _orders(result)
    assert len(orders) > 10
    for one, other in orders:
        x, y = np.array(one), np.array(other)
        signs = [
            ((a > b) - (a < b), (c > d) - (c < d))
            for (a, c), (b, d) in combinations(zip(one, other, strict=True), 2)
        ]
        untied = [sum(bool(sign[side]) for sign in signs) for side in (0, 1)]
        counted = sum(a * b for a, b in signs) / np.sqrt(untied[0] * untied[1])
        assert float(kendall_tau(x, y)) == pytest.approx(counted, abs=1e-12)
        # The twin: of orders turned round it is another.
        assert float(kendall_tau(x, -y)) == pytest.approx(-counted, abs=1e-12)
        if all(n == len(signs) for n in untied):
            exact = scipy.stats.kendalltau(x, y, method="exact").pvalue
            assert tau_p_value(x, y) == pytest.approx(exact, rel=1e-9)
