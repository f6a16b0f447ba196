"""The language of criteria: how it is read, what it refuses, and what it computes."""

from __future__ import annotations

import json
import re
import time
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import golden_functions
import planted
from expressions_at import parts_of, value_of
from mutants import criteria
from recbias.claims.evaluation import check_calls, compares_systems
from recbias.claims.evidence import NotComputed, misnamed
from recbias.claims.explaining import in_words
from recbias.claims.expressions import (
    AXES,
    DEEPEST,
    LONGEST,
    MOST_SIGNS,
    Call,
    Expression,
    Number,
    Operation,
    Term,
    Text,
    parse,
    terms_of,
)
from recbias.claims.functions import FUNCTIONS, SPECIAL, WORDS
from recbias.claims.records import Record
from recbias.cli.commands import main
from recbias.errors import ConfigError
from recbias.experiment.makers import Table

# -- reading and printing ----------------------------------------------------------------------

NAMES = st.sampled_from(["MF", "user kNN", "k=10, 3", "P", "in", "of", "along", "x y"])
TERMS = st.builds(
    Term,
    metric=st.sampled_from(["P", "nDCG@n", "P@10|t=100", "SR(gamma=1)@n", "AR, P@10", "Eq. 3"]),
    label=st.sampled_from(["AR", "all-1R", ">=0.5, *, 1", "quantity=mixed, at=5"]),
    system=st.none() | NAMES,
    table=st.sampled_from(["systems", "grid", "worlds.best"]),
    edition=st.none() | st.sampled_from(["ml-1m", "simulations", "lastfm-1k"]),
    axis=st.none() | st.sampled_from(AXES),
)
NUMBERS = st.builds(Number, st.sampled_from([0.0, 1.0, -2.0, 0.05, 1e-9, 12345.0]))
NODES: st.SearchStrategy[Expression] = st.recursive(
    TERMS | NUMBERS,
    lambda nodes: (
        st.builds(Operation, st.sampled_from(["+", "-", "*", "/", "<", ">=", "and", "or"]), nodes,
                  nodes)
        | st.builds(Call, st.sampled_from(["tau", "largest", "mean"]),
                    st.lists(nodes, min_size=1, max_size=3).map(tuple))
        | st.builds(Call, st.just("check"), st.tuples(st.builds(Text, NAMES)))
    ),
    max_leaves=8,
)  # fmt: skip


@given(NODES)
def test_an_expression_prints_as_it_parses(node: Expression) -> None:
    assert parse(str(node)) == node


def test_operators_bind_as_in_arithmetic() -> None:
    for text, same in (
        ("1 - 2 - 3", "(1 - 2) - 3"),
        ("1 - 2 * 3", "1 - (2 * 3)"),
        ("P[a] > 1 and P[b] < 2 or P[c] > 3", "((P[a] > 1) and (P[b] < 2)) or (P[c] > 3)"),
        ("P[a] - P[b] where P[c] > 0", "(P[a] - P[b]) where (P[c] > 0)"),
    ):
        assert parse(text) == parse(same)
    assert parse("1 - (2 - 3)") != parse("1 - 2 - 3")


HOSTILE = [
    "__import__('os').system('ls')",
    "().__class__.__bases__",
    "P[AR].real",
    "P.__class__",
    "lambda: 1",
    "[x for x in y]",
    "exec('1')",
    "eval('1') if 1 else 2",
    "9**9**9",
    "1 << 99",
    "{'a': 1}",
    "f'{x}'",
    "P[AR] := 3",
    "import os",
    "P[AR]; P[1R]",
    "!!python/object:os.system",
    "P[AR] of $(ls)",
    "P[AR] in ../../etc",
    "",
    " ",
    "\x00",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_what_is_no_expression_is_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "(" * (DEEPEST + 1) + "1" + ")" * (DEEPEST + 1),
        "-" * 10_000 + "1",
        "- " * 900 + "1",
        " + ".join(["1"] * LONGEST),
        "size(" * 50 + "1" + ")" * 50,
        "1" * 5000,
    ],
    ids=lambda text: text[:12],
)
def test_what_is_long_or_deep_is_refused_at_once(text: str) -> None:
    start = time.perf_counter()
    with pytest.raises(ConfigError, match="an expression has at most"):
        parse(text)
    assert time.perf_counter() - start < 1


def test_the_longest_expressions_are_read() -> None:
    deep = "(" * DEEPEST + "1" + ")" * DEEPEST
    assert parse(deep) == Number(1)
    wide = " + ".join(["1"] * (MOST_SIGNS + 1))
    assert value_of(wide, {}) == MOST_SIGNS + 1


def test_unknown_functions_name_the_nearest() -> None:
    with pytest.raises(ConfigError, match="unknown function of expressions 'larges': did you mean"):
        value_of("larges(1, 2)", {})
    for python in ("eval", "exec", "open", "__import__", "getattr"):
        with pytest.raises(ConfigError, match="unknown function of expressions"):
            value_of(f"{python}(1)", {})


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("P[AR] of ALS in systms", "unknown table 'systms': did you mean 'systems'"),
        ("P[ARR] of pLSA", "unknown label 'ARR': did you mean 'AR'"),
        ("nDCGG[AR] of pLSA", "unknown metric 'nDCGG': did you mean 'nDCG'"),
        ("P[AR] of plsa", "unknown system 'plsa': did you mean 'pLSA'"),
        ("val[a] in made", "unknown column 'val': did you mean 'value'"),
        ("value[alfa] in made", "unknown row 'alfa': did you mean 'alpha'"),
        ("P[AR] of pLSA", ""),
        ("value[alpha] in made", ""),
    ],
)
def test_a_wrong_name_is_told_with_the_nearest(text: str, told: str) -> None:
    results = {
        **planted.base_world("design alternatives").results(),
        "made": made(["name"], [("alpha", 1.0), ("beta", 2.0)]),
    }
    (term,) = terms_of(parse(text))
    assert misnamed(term, [{}, results]).startswith(told) if told else not misnamed(term, [results])


# -- what is computed --------------------------------------------------------------------------


def made(index: list[str], rows: list[tuple[Any, ...]], columns: tuple[str, ...] = ()) -> Table:
    frame = pd.DataFrame(rows, columns=[*index, *(columns or ("value",))])
    about: Any = {"key": "", "dataset": {"name": "x"}, "provenance": {}, "maker_name": "",
                  "given": {}}  # fmt: skip
    return Table.of((tuple(index), frame), **about)


RNG = np.random.default_rng(3)
KINDS = (0.0, 0.5, 1.0)
DRAWN = {(kind, number): RNG.normal(kind, 1, size=2) for kind in KINDS for number in range(6)}
WORLDS = {
    "worlds": made(
        ["skew", "number"],
        [(kind, number, *values) for (kind, number), values in DRAWN.items()],
        ("one", "other"),
    )
}


def t_interval(values: list[float]) -> tuple[float, float, float]:
    """Compute mean and interval in plain steps."""
    low, high = scipy.stats.t.interval(
        0.95, len(values) - 1, np.mean(values), scipy.stats.sem(values)
    )
    return float(np.mean(values)), float(low), float(high)


def test_a_mean_over_draws_has_students_interval() -> None:
    for kind in (0, 0.5, 1):
        found: Any = value_of(f"mean(one[{kind}] in worlds)", WORLDS)
        values = [DRAWN[kind, number][0] for number in range(6)]
        assert (found.value, *found.interval) == pytest.approx(t_interval(values), abs=1e-12)


def test_draws_are_combined_one_by_one() -> None:
    found: Any = value_of("mean(one[0.5] in worlds - other[1] in worlds)", WORLDS)
    values = [DRAWN[0.5, number][0] - DRAWN[1.0, number][1] for number in range(6)]
    assert (found.value, *found.interval) == pytest.approx(t_interval(values), abs=1e-12)


def test_rows_left_open_go_together_by_name() -> None:
    found: Any = value_of("largest(mean(one[*] in worlds - other[*] in worlds))", WORLDS)
    means = [
        np.mean([DRAWN[kind, number][0] - DRAWN[kind, number][1] for number in range(6)])
        for kind in (0.0, 0.5, 1.0)
    ]
    assert found.value == pytest.approx(max(means), abs=1e-12)
    assert value_of("largest(one[>=0.5] in worlds)", WORLDS) == pytest.approx(
        max(values[0] for (kind, _), values in DRAWN.items() if kind >= 0.5)
    )


def test_steps_go_from_row_to_row() -> None:
    found: Any = value_of("smallest(mean(rises(one[*] in worlds)))", WORLDS)
    steps = [
        np.mean([DRAWN[b, number][0] - DRAWN[a, number][0] for number in range(6)])
        for a, b in ((0.0, 0.5), (0.5, 1.0))
    ]
    assert found.value == pytest.approx(min(steps), abs=1e-12)
    ends: Any = value_of("mean(last(one[*] in worlds) - first(one[*] in worlds))", WORLDS)
    assert ends.value == pytest.approx(sum(steps), abs=1e-12)


BOUNDED = {
    "cases": made(
        ["name"],
        [
            ("a", 1.0, 0.5, 1.5),
            ("b", 0.2, -0.1, 0.5),
            ("c", -1.0, -2.0, -0.1),
            ("d", 3.0, 2.0, 4.0),
        ],
        ("value", "low", "high"),
    )
}


def test_conditions_are_counted_as_they_are_seen_surely_and_possibly() -> None:
    count: Any = value_of("count(value[*] in cases > 0)", BOUNDED)
    assert (count.value, *count.interval, count.cases) == (3, 2, 3, 4)
    share: Any = value_of("share(surely(value[*] in cases > 0))", BOUNDED)
    assert (share.value, *share.interval) == (0.5, 0.5, 0.75)
    below: Any = value_of("count(value[*] in cases < 0 or value[*] in cases > 2)", BOUNDED)
    assert (below.value, *below.interval) == (2, 1, 3)
    chosen: Any = value_of("count(value[*] in cases > 2 where value[*] in cases > 0)", BOUNDED)
    assert (chosen.value, chosen.cases) == (1, 3)


def test_what_is_sure_of_several_is_told_of_all_together() -> None:
    """Four cases: each interval by the normal quantile of 1 - .025 / 4 instead of .975."""
    wider = scipy.stats.norm.ppf(1 - 0.025 / 4) / scipy.stats.norm.ppf(0.975)
    halves = {"a": 0.5, "b": 0.75, "c": 0.8, "d": 0.9}
    rows = [(name, 1.0, 1.0 - half, 1.0 + half) for name, half in halves.items()]
    cases = made(["name"], rows, ("value", "low", "high"))
    alone: Any = value_of("count(surely(value[*] in cases > 0))", {"cases": cases})
    both: Any = value_of("count(surely(together(value[*] in cases) > 0))", {"cases": cases})
    assert alone.value == 4
    assert both.value == sum(half * wider < 1 for half in halves.values()) == 2
    draws: Any = value_of("count(surely(together(mean(one[*] in worlds)) > 0))", WORLDS)
    means = [
        [DRAWN[kind, number][0] for number in range(6)] for kind in sorted({k for k, _ in DRAWN})
    ]
    t = scipy.stats.t.ppf(1 - 0.025 / len(means), 5)
    half = [t * np.std(m, ddof=1) / 6**0.5 for m in means]
    assert draws.value == sum(np.mean(m) > h for m, h in zip(means, half, strict=True))
    with pytest.raises(ConfigError, match="several systems or rows"):
        value_of("together(value[a] in cases - 1)", BOUNDED)


def test_what_has_no_draws_differs_by_all_that_is_possible() -> None:
    found: Any = value_of("value[d] in cases - value[a] in cases", BOUNDED)
    assert (found.value, *found.interval) == (2, 0.5, 3.5)
    quotient: Any = value_of("value[d] in cases / value[a] in cases", BOUNDED)
    assert (quotient.value, *quotient.interval) == pytest.approx((3, 2 / 1.5, 4 / 0.5))


def test_what_is_undefined_is_possible_and_never_sure() -> None:
    known = made(["name"], [("a", 1.0), ("b", np.nan), ("c", 3.0)])
    for text in ("count(value[*] in known > 0)", "count(value[*] in known <= 3)"):
        found: Any = value_of(text, {"known": known})
        assert (found.value, *found.interval) == (2, 2, 3)


def test_a_choice_of_nothing_is_not_computed() -> None:
    with pytest.raises(NotComputed, match="a case for"):
        value_of("count(value[*] in cases > 0 where value[*] in cases > 9)", BOUNDED)


def test_systems_of_a_table_are_named_as_those_of_a_grid() -> None:
    rows = [("x", "A", 1.0), ("x", "B", 3.0), ("x", "Bb", 2.0)]
    results = {"scores": made(["what", "system"], rows)}
    cases = ((["A", "B", "Bb"], [], 3), (["all"], ["B"], 2), (["B*"], [], 3), (["A"], [], 1))
    for systems, but, largest in cases:
        text = "largest(value[x] in scores)"
        (part,) = parts_of(text, results, systems=systems, but=but)
        assert part.value == largest
    with pytest.raises(NotComputed):
        parts_of("value[x] in scores", results, systems=["C"])


def test_a_column_is_said_once() -> None:
    with pytest.raises(ConfigError, match="says of one column twice what it is"):
        value_of("count(one[skew>=0.5, skew<=0.5] in worlds > 0)", WORLDS)


def test_rows_on_other_data_pair_with_nobodys() -> None:
    drawn = np.linspace(0, 1, 101)
    frame = pd.DataFrame({"name": ["a"], "value": [0.5]})
    about: Any = {"key": "", "dataset": {"name": "x"}, "provenance": {}, "maker_name": "",
                  "given": {}}  # fmt: skip
    results = {"t": Table.of((("name",), frame, drawn[None, :]), **about)}
    paired: Any = value_of("value[a] in t - value[a] in t", results)
    apart: Any = value_of("value[a] in t - value[a] in t on other", results)
    assert paired.interval == (0, 0)
    assert apart.interval[0] < -0.01 < 0.01 < apart.interval[1]


def test_as_many_differences_as_memory_holds() -> None:
    rows = [(str(number), float(number)) for number in range(201)]
    with pytest.raises(ConfigError, match="at most 200 are paired"):
        value_of("count(differences(value[*] in many) > 0)", {"many": made(["name"], rows)})


def test_systems_are_paired_by_name() -> None:
    results = planted.base_world("design alternatives").results()
    names = ["pLSA", "Popularity", "Random"]
    table: Any = results["systems"]
    for name, part in zip(names, parts_of("P[AI] / P[AR]", results, systems=names), strict=True):
        one, other = (table[name, label, "P@10"] for label in ("AI", "AR"))
        assert part.which == name
        assert part.value == one.value / other.value
        assert part.interval == (one / other).interval
    (least,) = parts_of("smallest(P[AI] / P[AR])", results, systems=names)
    values = [part.value for part in parts_of("P[AI] / P[AR]", results, systems=names)]
    assert least.value == min(values)
    assert least.which == names[int(np.argmin(values))]
    tau: Any = value_of("tau(P[AI], P[AR])", results, systems=names)
    signs = [
        np.sign(table[a, label, "P@10"].value - table[b, label, "P@10"].value)
        for label in ("AI", "AR")
        for a, b in combinations(names, 2)
    ]
    assert tau.value == pytest.approx(np.mean(np.array(signs[:3]) * signs[3:]))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("one[*] in worlds", "gives several rows"),
        ("one[0] in worlds", "gives several draws"),
        ("P[AR]", "goes over systems: name one, or `systems` in the record"),
        ("count(1, 2)", "what is counted is a condition"),
        ("tau(one[*] in worlds, 1)", "an order is one of systems"),
        ("slope(1)", "is of what is followed along an axis"),
        ("value[a, b, c] in pairs", "3 values for a, b"),
        ("lead(1)", "1 is not a quantity of a table"),
        ("p(P[AR], P[1R])", "is not a name"),
        ("flips(P[AR], user)", r"flips\(...\) has 1 arguments"),
        ("1 where 2", "`where` chooses among systems or rows"),
    ],
)
def test_what_gives_no_number_is_told(text: str, message: str) -> None:
    pairs = {"pairs": made(["a", "b"], [("x", "y", 1.0)])}
    results = {**planted.base_world("design alternatives").results(), **WORLDS, **pairs}
    with pytest.raises(ConfigError, match=message):
        value_of(text, results)


# -- words ---------------------------------------------------------------------------------------


def test_every_function_says_what_it_means() -> None:
    assert set(WORDS) == {*FUNCTIONS, *SPECIAL}
    assert all("{}" in words for words in WORDS.values())


def test_the_readme_lists_every_function() -> None:
    text = (Path(__file__).parents[2] / "data/published/README.md").read_text(encoding="utf-8")
    table = text.partition("| functions | of |")[2].partition("\n\n")[0]
    named = set(re.findall(r"`(\w+)(?:\([^`]*\))?`", table))
    assert named == set(WORDS)


def test_every_criterion_explains_itself() -> None:
    for criterion in criteria().values():
        for record in criterion.records:
            words = in_words(record.expression)
            assert words
            assert not {"{}", '"', "  "} & {words[i : i + 2] for i in range(len(words))}, words


# -- functions of chapters ---------------------------------------------------------------------


@pytest.mark.slow
def test_functions_and_views_compute_what_they_did() -> None:
    """A criterion is locked, and so is what the functions compute that it calls."""
    kept = json.loads(golden_functions.FILE.read_text())
    found = golden_functions.compute()
    assert found.keys() == kept.keys()
    for name, values in kept.items():
        if isinstance(values, str):
            assert found[name] == values, name
        else:
            np.testing.assert_allclose(found[name], values, rtol=1e-9, atol=1e-12, err_msg=name)


def test_what_a_record_calls_is_checked_before_any_result() -> None:
    def record(value: str) -> Record:
        return Record.from_dict({"finds": "{value}", "value": value, "least": 0})

    check_calls(record("tau(P[AR], P[NN]) - own(P[AR], 1)"), {"own": lambda a, b: a})
    for value, message in (
        ("spread(P[AR])", "unknown function of expressions 'spread'"),
        ("tau(P[AR])", r"tau\(P\[AR\]\): tau\(...\) has 2 arguments"),
        ("1 - largest(tau(P[AR], 1, 2))", r"tau\(...\) has 2 arguments"),
        ("own(1)", r"own\(...\) has 2 arguments"),
        ("lead(1)", "1 is not a quantity of a table"),
    ):
        with pytest.raises(ConfigError, match=message):
            check_calls(record(value), {"own": lambda a, b: a})


@pytest.mark.parametrize(
    ("text", "compares"),
    [
        ("P[AR] of ALS - P[AR] of Random", True),
        ("P[AR] of ALS / P[AR] of Random", True),
        ("deviation(P[AR] of ALS, P[AR] of Random)", True),
        ("1 - P[AR] of ALS / P[AR] of Random", True),
        ("P[AR] of ALS / P[1R] of ALS", False),
        ("deviation(P[AR], P[1R])", False),
        ("P[AR] of ALS * P[AR] of Random", False),
    ],
)
def test_what_is_joined_by_a_difference_or_a_ratio_is_compared(text: str, compares: bool) -> None:
    """So it needs several training seeds; a product or a sum of systems puts none in front."""
    assert compares_systems(parse(text), {}) is compares


def test_a_range_over_systems_shows_its_ends() -> None:
    results = planted.base_world("design alternatives").results()
    names = ["pLSA", "Popularity", "Random"]
    (part,) = parts_of(
        "range(P[AI] / P[AR])", results, systems=names, finds="{value}: {least} to {most}"
    )
    ratios = [each.value for each in parts_of("P[AI] / P[AR]", results, systems=names)]
    assert part.numbers == {"least": min(ratios), "most": max(ratios)}
    assert "..." not in part.finding


def test_a_criterion_with_a_wrong_name_is_not_locked(monkeypatch: pytest.MonkeyPatch) -> None:
    locked: list[str] = []
    monkeypatch.setattr("recbias.claims.lock.unlocked", lambda: ["BCC17-F2A"])
    monkeypatch.setattr("recbias.claims.lock.write_locks", lambda: locked.append("it") or "file")
    told = ["BCC17-F2A: P[AR] of plsa: unknown system 'plsa': did you mean 'pLSA'?"]
    monkeypatch.setattr("recbias.claims.explaining.misnamed_terms", lambda names: told)
    refused = CliRunner().invoke(main, ["claims", "--lock"])
    assert refused.exit_code != 0
    assert not locked
    assert "did you mean 'pLSA'" in refused.output
    assert CliRunner().invoke(main, ["claims", "--lock", "--unseen"]).exit_code == 0
    told.clear()
    assert "locked: BCC17-F2A" in CliRunner().invoke(main, ["claims", "--lock"]).output
    assert len(locked) == 2
