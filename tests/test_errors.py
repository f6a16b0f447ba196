from __future__ import annotations

import pytest

from recbias import errors


@pytest.mark.parametrize(
    "kind",
    [
        errors.MissingData,
        errors.DataError,
        errors.ConfigError,
        errors.ScoreError,
        errors.ContractError,
        errors.StoreError,
    ],
)
def test_every_error_is_caught_by_the_base_class(kind: type[errors.RecbiasError]) -> None:
    with pytest.raises(errors.RecbiasError, match="told"):
        raise kind("told")


def test_a_message_obeys_nothing_and_does_not_fill_the_screen() -> None:
    message = "no column '\x1b]0;title\x07\u202e'\n" + "long " * 10**5 + "\nÄ\N{NO-BREAK SPACE}1"
    first, second, third = str(errors.DataError(message)).splitlines()
    assert first == r"no column '\x1b]0;title\x07\u202e'"
    assert len(second) < 2100
    assert "(500,000 signs)" in second
    assert third == "Ä\N{NO-BREAK SPACE}1"


def test_missing_data_is_a_data_error() -> None:
    assert issubclass(errors.MissingData, errors.DataError)


def test_nearest_name_ignores_case() -> None:
    message = str(errors.unknown_name("metric", "NDCG@10", ["P@10", "nDCG@10"]))
    assert message == "unknown metric 'NDCG@10': did you mean 'nDCG@10'? known: P@10, nDCG@10"


def test_a_far_name_gets_no_guess() -> None:
    assert "did you mean" not in str(errors.unknown_name("dataset", "netflix", ["ml-1m"]))


def test_names_may_come_from_an_iterator() -> None:
    message = str(errors.unknown_name("system", "pop", iter(["Pop", "Random"])))
    assert "'Pop'" in message
    assert message.endswith("known: Pop, Random")
