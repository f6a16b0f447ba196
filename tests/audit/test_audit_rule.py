"""The rule of an audit against its words, over all kinds of inputs."""

import itertools
import math

import pytest

from recbias.audit.rule import EXIT_CODES, SHARE, answer, rule_said


def by_its_words(low, high, won, lost):
    """The rule of the issue, sentence by sentence."""
    holds = low > 0 and won >= 0.9
    does_not = high < 0 or lost >= 0.9
    if does_not:
        return "does not hold"
    return "holds" if holds else "open"


ENDS = [(-2.0, -1.0), (-1.0, 0.0), (-1.0, 1.0), (0.0, 1.0), (0.5, 1.0), (math.nan, math.nan)]
SHARES = [(0.0, 1.0), (0.05, 0.9), (0.5, 0.5), (0.89, 0.11), (0.9, 0.1), (0.9, 0.0), (1.0, 0.0)]


@pytest.mark.parametrize(("ends", "shares"), list(itertools.product(ENDS, SHARES)))
def test_rule_is_what_it_says(ends, shares):
    assert answer(*ends, *shares) == by_its_words(*ends, *shares)


def test_a_rule_that_looks_at_the_interval_alone_would_be_seen():
    """The broken twin: without the designs another answer comes out."""
    assert answer(0.5, 1.0, 0.5, 0.5) == "open" != ("holds" if 0.5 > 0 else "open")


def test_exit_codes_leave_two_to_what_cannot_run():
    assert EXIT_CODES == {"holds": 0, "does not hold": 3, "open": 4}


def test_the_words_name_the_share():
    assert SHARE == 0.9
    assert rule_said("X", "Y").count("90%") == 2
