import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recbias.errors import ConfigError
from recbias.protocol import Protocol
from recbias.targets import TargetRule, Targets
from test_targets import rules


@st.composite
def protocols(draw):
    rule = draw(rules())
    populations = ["", "all", "tested", "relevant", *(["runs"] if rule.per_run else [])]
    return Protocol(
        rule,
        draw(st.one_of(st.integers(-10, 100), st.floats(allow_nan=False, allow_infinity=False))),
        draw(st.booleans()),
        draw(st.sampled_from(populations)),
        draw(st.integers(0, 99)),
    )


@given(protocols())
def test_a_protocol_prints_and_parses_back(protocol):
    assert Protocol.parse(str(protocol)) == protocol


@given(protocols())
def test_different_protocols_print_differently(protocol):
    for change in (
        {"min_rating": math.nextafter(protocol.min_rating, 0) or 1.0},
        {"condensed": not protocol.condensed},
        {"population": "relevant" if protocol.population == "all" else "all"},
        {"removed": protocol.removed - 1 if protocol.removed else 1},
    ):
        assert str(Protocol(**{**vars(protocol), **change})) != str(protocol)


@pytest.mark.parametrize(
    "text",
    [
        "TI-AN-AR rel>=5",
        "AI-AN-AR rel>=4 condensed",
        "TI-NN-1R t=100 rel>=3.5 users=relevant",
        "TI-NN-1R-shared t=100 rel>=5 removed=80%",
        "TI-NN-AR N=1700 rel>=0.5 condensed users=tested removed=5%",
        "TI-AN-AR rel>=-5",
    ],
)
def test_the_printed_forms(text):
    assert str(Protocol.parse(text)) == text


def test_the_population_is_all_users_or_all_runs_unless_it_is_named():
    assert Protocol.parse("TI-AN-AR rel>=5").population == "all"
    assert Protocol.parse("TI-AN-1R rel>=5").population == "runs"
    assert Protocol.parse("TI-AN-1R rel>=5 users=all").population == "all"
    assert str(Protocol.parse("TI-AN-AR rel>=5 users=all")) == "TI-AN-AR rel>=5"
    assert Protocol.parse("TI-AN-AR rel>=5") == Protocol.parse("TI-AN-AR rel>=5.0 users=all")


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
        ("TI-AN-AR rel>=nan", "cannot read protocol"),
        ("TI-AN-AR rel>=5 short", "cannot read protocol"),
        ("TI-AN-AR rel>=5 users=relevan", "unknown population 'relevan': did you mean 'relevant'"),
        ("TI-AN-AR rel>=5 users=runs", "TI-AN-AR has no runs"),
        ("TI-AN-AR rel>=5 removed=100%", "removed=100%: expected 0 to 99"),
    ],
)
def test_a_wrong_protocol_is_refused(text, message):
    with pytest.raises(ConfigError, match=message):
        Protocol.parse(text)


@pytest.mark.parametrize("min_rating", [math.nan, math.inf, -math.inf])
def test_a_threshold_is_a_number(min_rating):
    with pytest.raises(ConfigError, match="expected a finite number"):
        Protocol(TargetRule.parse("TI-AN-AR"), min_rating)
