"""Independent named streams of random numbers from the one seed that a person types."""

from __future__ import annotations

import hashlib
import json
import operator

import numpy as np

from recbias.errors import ConfigError


def stream(seed: int, *labels: str | int) -> np.random.Generator:
    """Open the random stream that belongs to `labels` under `seed`.

    The stream is a function of the seed and its own labels only: which other streams were opened,
    and when, cannot change it. Work can therefore be reordered, resumed or spread over processes
    without changing a number.

    Parameters
    ----------
    seed : int
        A non-negative integer, the one that a person types.
    *labels : str or int
        The name of the stream, e.g. ``("split", "ml-100k", 3)``. ``3`` and ``"3"`` differ, and so
        do ``("a", "b")`` and ``("ab",)``.

    Returns
    -------
    numpy.random.Generator
        A fresh generator at the beginning of the stream.

    Raises
    ------
    ConfigError
        If `seed` is not a non-negative integer.

    References
    ----------
    Scientific Python SPEC 7, "Seeding pseudo-random number generation".

    Examples
    --------
    >>> int(stream(1, "split").integers(1000)) == int(stream(1, "split").integers(1000))
    True
    >>> bool(stream(1, "split").random() == stream(1, "scores").random())
    False
    """
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise ConfigError(f"seed is {seed!r}: expected an integer of 0 or more")
    name = json.dumps(
        [label if isinstance(label, str) else operator.index(label) for label in labels]
    )
    digest = hashlib.sha256(name.encode()).digest()
    words = np.frombuffer(digest, dtype="<u4").tolist()
    return np.random.default_rng(np.random.SeedSequence([int(seed), *words]))
