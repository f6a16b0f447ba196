import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recbias.errors import ConfigError
from recbias.metrics.aggregation import Averaging
from recbias.protocol.protocol import POLICIES, Protocol
from recbias.protocol.targets import TargetRule, Targets
from test_targets import rules


@st.composite
def protocols(draw):
    rule = draw(rules())
    populations = ["", "all", "relevant", "trained", "runs" if rule.per_run else "tested"]
    population = draw(st.sampled_from([*populations, *(["groups"] if rule.n_groups else [])]))
    counted = population in ("runs", "groups") or (rule.per_run and not population)
    return Protocol(
        rule,
        draw(st.one_of(st.integers(-10, 100), st.floats(allow_nan=False, allow_infinity=False))),
        draw(st.booleans()),
        Averaging(
            population,
            "" if counted else draw(st.sampled_from(["", "ratings", "relevant"])),
            "mean" if counted else draw(st.sampled_from(["mean", "median", "geometric"])),
            "" if rule.per_run else draw(st.sampled_from(["", "reduced"])),
        ),
        draw(st.sampled_from((*POLICIES, "last"))),
    )


@given(protocols())
def test_a_protocol_prints_and_parses_back(protocol):
    assert Protocol.parse(str(protocol)) == protocol


@given(protocols())
def test_different_protocols_print_differently(protocol):
    for change in (
        {"min_rating": math.nextafter(protocol.min_rating, 0) or 1.0},
        {"condensed": not protocol.condensed},
        {"unscored": "random" if protocol.unscored == "none" else "none"},
        {"average": Averaging("relevant" if protocol.averaging.population == "all" else "all")},
    ):
        assert str(Protocol(**{**vars(protocol), **change})) != str(protocol)


@pytest.mark.parametrize(
    "text",
    [
        "TI-AN-AR rel>=5",
        "AI-AN-AR rel>=4 condensed",
        "TI-NN-1R t=100 rel>=3.5 users=relevant",
        "TI-NN-1R-shared t=100 rel>=5",
        "TI-NN-AR N=1700 rel>=0.5 condensed users=tested weights=ratings statistic=median",
        "AI-AN-AR +train rel>=5",
        "TI-AN-P1R m=10 rel>=5 users=runs",
        "TI-AN-AR rel>=-5",
        "TI-AN-AR rel>=5 unscored=popularity",
        "TI-AN-1R +train rel>=4 condensed unscored=average-rating users=all",
        "TI-AN-AR rel>=4 condensed unscored=last users=trained coverage=reduced",
    ],
)
def test_the_printed_forms(text):
    assert str(Protocol.parse(text)) == text


def test_the_population_is_all_users_or_all_runs_unless_it_is_named():
    for text, population in (
        ("TI-AN-AR rel>=5", "all"),
        ("TI-AN-1R rel>=5", "runs"),
        ("TI-AN-P1R m=5 rel>=5", "groups"),
        ("TI-AN-1R rel>=5 users=all", "all"),
    ):
        assert Protocol.parse(text).averaging.population == population
    assert str(Protocol.parse("TI-AN-AR rel>=5 users=all")) == "TI-AN-AR rel>=5"
    assert Protocol.parse("TI-AN-AR rel>=5") == Protocol.parse("TI-AN-AR rel>=5.0 users=all")


def test_what_has_no_score_is_absent_unless_a_policy_is_named():
    plain = Protocol.parse("TI-AN-AR rel>=5")
    assert plain.unscored == "none"
    assert Protocol.parse("TI-AN-AR rel>=5 unscored=none") == plain
    assert str(Protocol.parse("TI-AN-AR rel>=5 unscored=none")) == str(plain)
    swapped = Protocol.parse("TI-AN-AR rel>=5 users=tested unscored=random")
    assert str(swapped) == "TI-AN-AR rel>=5 unscored=random users=tested"


def test_thresholds_go_into_target_sets_only_where_they_change_them():
    one_list = TargetRule.parse("TI-AN-AR")
    assert Protocol.parse("TI-AN-AR rel>=4").targets == Targets(one_list, None)
    for text in ("TI-AN-1R", "TI-NN-AR N=9", "AI-NN-1R t=9", "AI-NN-1R-shared t=9"):
        assert Protocol.parse(f"{text} rel>=4").targets == Targets(TargetRule.parse(text), 4.0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("TI-AN-AR", "cannot read protocol 'TI-AN-AR': expected RULE rel>=RATING"),
        ("TI-AN rel>=5", "cannot read target-set rule 'TI-AN'"),
        ("TI-AN-AR rel>=", "cannot read protocol"),
        ("TI-AN-AR rel>=five", "cannot read protocol"),
        ("TI-AN-AR rel>=5 unscored=worst", "unknown policy for what has no score 'worst'"),
        ("TI-AN-AR rel>=5 unscored=random unscored=none", "unscored is given twice"),
        ("TI-AN-AR rel>=nan", "cannot read protocol"),
        ("TI-AN-AR rel>=5 short", "cannot read protocol"),
        ("TI-AN-AR rel>=5 users=relevan", "unknown population 'relevan': did you mean 'relevant'"),
        ("TI-AN-AR rel>=5 users=runs", "TI-AN-AR has no runs"),
        ("TI-AN-AR rel>=5 users=groups", "has no item groups"),
        ("TI-AN-1R rel>=5 users=all coverage=reduced", "leaves out users without a list"),
        ("TI-AN-AR rel>=5 coverage=reducd", "unknown coverage 'reducd': did you mean 'reduced'"),
        ("TI-AN-1R rel>=5 users=tested", "runs do not know users"),
        ("TI-AN-AR rel>=5 removed=30%", "unknown option of averaging 'removed'"),
    ],
)
def test_a_wrong_protocol_is_refused(text, message):
    with pytest.raises(ConfigError, match=message):
        Protocol.parse(text)


@pytest.mark.parametrize("min_rating", [math.nan, math.inf, -math.inf])
def test_a_threshold_is_a_number(min_rating):
    with pytest.raises(ConfigError, match="expected a finite number"):
        Protocol(TargetRule.parse("TI-AN-AR"), min_rating)
