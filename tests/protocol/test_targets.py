import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explicit_lists import make_split, naive_sets, random_split
from recbias.errors import ConfigError
from recbias.protocol.targets import (
    TargetRule,
    all_targets,
    candidate_items,
    n_all_targets,
    non_relevant_targets,
)

NONE = np.nan


@st.composite
def rules(draw):
    relevant = draw(st.sampled_from(["AR", "1R", "1R-shared"]))
    others = "NN" if relevant == "1R-shared" else draw(st.sampled_from(["AN", "NN"]))
    size = draw(st.integers(1, 5000)) if others == "NN" else None
    drawn = draw(st.sampled_from(["uniform", "popularity"])) if others == "NN" else "uniform"
    candidates = draw(st.sampled_from(["AI", "TI"]))
    return TargetRule(candidates, others, relevant, size, drawn=drawn)


@given(rules())
def test_a_rule_prints_and_parses_back(rule):
    assert TargetRule.parse(str(rule)) == rule
    assert TargetRule.parse(f"  {rule} ") == rule


@pytest.mark.parametrize(
    ("text", "per_run", "needs_relevance"),
    [
        ("AI-AN-AR", False, False),
        ("TI-NN-AR N=7", False, True),
        ("TI-AN-1R", True, True),
        ("AI-NN-1R t=7", True, True),
        ("TI-NN-1R-shared t=7", True, True),
    ],
)
def test_what_a_rule_says_of_itself(text, per_run, needs_relevance):
    rule = TargetRule.parse(text)
    assert (rule.per_run, rule.needs_relevance) == (per_run, needs_relevance)


def test_t_is_the_size_of_the_set_and_n_of_the_sample():
    assert TargetRule.parse("TI-NN-1R t=100").n_sampled == 99
    assert TargetRule.parse("TI-NN-AR N=100").n_sampled == 100


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("TI-AN", "cannot read target-set rule 'TI-AN'"),
        ("ti-an-ar", "cannot read"),
        ("TI-AN-AR N=5", "give no sample size"),
        ("TI-AN-1R t=5", "give no sample size"),
        ("TI-NN-AR", "sample size of at least 1, got None"),
        ("TI-NN-1R t=1", "sample size of at least 1, got 0"),
        ("TI-NN-AR N=0", "sample size of at least 1, got 0"),
        ("TI-NN-AR t=5", "AR the sample size, N="),
        ("TI-NN-1R N=5", "1R states the size of a target set, t="),
        ("TI-AN-1R-shared", "write AN-1R"),
        ("TI-NN-1R t=-5", "cannot read"),
        ("TI-AN-AR drawn=popularity", "drawn=popularity is for NN"),
        ("TI-NN-AR N=5 drawn=popularty", "did you mean 'popularity'"),
        ("TI-NN-AR drawn=popularity N=5", "cannot read"),
    ],
)
def test_a_wrong_rule_is_refused(text, message):
    with pytest.raises(ConfigError, match=message):
        TargetRule.parse(text)


@pytest.mark.parametrize("options", [("XI", "AN", "AR"), ("AI", "XN", "AR"), ("AI", "AN", "XR")])
def test_an_unknown_option_is_named(options):
    with pytest.raises(ConfigError, match=r"unknown target-set option '(XI|XN|XR)': one of"):
        TargetRule(*options)


def test_figure_1_of_the_paper():
    # Items a to e. The user trained on nothing here; d and e are relevant in test, b and c have
    # test ratings of another user, a has none.
    split = make_split(
        train=np.full((2, 5), NONE),
        test=[[NONE, NONE, NONE, 5, 5], [NONE, 2, 4, NONE, NONE]],
    )
    names = np.array(list("abcde"))

    def pool(code):
        return "".join(names[non_relevant_targets(split, code, 0, min_rating=5)])

    assert (pool("TI"), pool("AI")) == ("bc", "abc")
    assert "".join(names[all_targets(split, "TI", 0)]) == "bcde"


def test_own_test_items_below_the_threshold_belong_to_the_pool():
    split = make_split(train=[[5, NONE, NONE, NONE]], test=[[NONE, 3, 4, NONE]])
    assert non_relevant_targets(split, "TI", 0, min_rating=4).tolist() == [1]
    assert non_relevant_targets(split, "AI", 0, min_rating=4).tolist() == [1, 3]
    assert non_relevant_targets(split, "AI", 0, min_rating=3).tolist() == [3]


@pytest.mark.parametrize("candidates", ["AI", "TI"])
def test_sets_are_those_of_the_definition(candidates):
    rng = np.random.default_rng(5)
    split = random_split(rng, n_users=12, n_items=40, train=0.4, test=0.05)
    sizes = n_all_targets(split, candidates)
    assert len(candidate_items(split, candidates)) < 40 or candidates == "AI"
    for user in range(12):
        _, test, pool = naive_sets(split, candidates, user, min_rating=4)
        liked = {item for item, value in test.items() if value >= 4}
        found = non_relevant_targets(split, candidates, user, min_rating=4)
        assert found.tolist() == sorted(pool)
        assert all_targets(split, candidates, user).tolist() == sorted(pool | liked)
        assert sizes[user] == len(pool | liked)
