from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from recbias._system.streams import stream
from recbias.errors import ConfigError


def draws(seed: int, *labels: str | int) -> list[int]:
    return stream(seed, *labels).integers(2**62, size=4).tolist()


def test_different_names_and_seeds_give_different_streams() -> None:
    names: list[tuple[int, tuple[Any, ...]]] = [
        (1, ()),
        (2, ()),
        (1, ("a",)),
        (1, ("b",)),
        (1, ("a", "b")),
        (1, ("b", "a")),
        (1, ("ab",)),
        (1, (3,)),
        (1, ("3",)),
        (1, ("a", "")),
    ]
    assert len({tuple(draws(seed, *labels)) for seed, labels in names}) == len(names)


def test_numpy_integers_name_the_same_stream() -> None:
    assert draws(int(np.int64(5)), "fold", 2) == draws(5, "fold", int(np.int32(2)))
    assert stream(np.int64(5), np.int32(2)).random() == stream(5, 2).random()  # type: ignore[arg-type]


@pytest.mark.slow
def test_the_streams_are_the_same_in_every_process() -> None:
    code = (
        "import json; from recbias._system.streams import stream;"
        "print(json.dumps(stream(7, 'split', 0).integers(2**62, size=4).tolist()))"
    )
    other = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONHASHSEED": "1"},
    )
    assert json.loads(other.stdout) == draws(7, "split", 0)


def test_global_state_is_left_alone() -> None:
    before = np.random.get_state()[1].tolist()  # type: ignore[index]  # noqa: NPY002
    stream(1, "x").random(10)
    assert np.random.get_state()[1].tolist() == before  # type: ignore[index]  # noqa: NPY002


@pytest.mark.parametrize("seed", [-1, 1.5, "1", None, True])
def test_a_seed_is_a_non_negative_integer(seed: Any) -> None:
    with pytest.raises(ConfigError, match="seed is"):
        stream(seed, "x")


def test_a_fractional_label_is_refused() -> None:
    with pytest.raises(TypeError):
        stream(1, 2.5)  # type: ignore[arg-type]
