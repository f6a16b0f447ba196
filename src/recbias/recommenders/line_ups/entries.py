"""What a line-up is made of: systems, each with the reason for its parameters."""

from __future__ import annotations

from recbias.recommenders.base import Algorithm, Encoding, Parameter, System

Entry = tuple[System, str]
"""A system, and where its parameters come from."""


def make_system(
    name: str, algorithm: type[Algorithm], n_seeds: int = 1, **parameters: Parameter
) -> System:
    """Name a class with parameters.

    Parameters
    ----------
    name : str
        Label in tables and figures.
    algorithm : class
        A registered class.
    n_seeds : int
        How many times to train with another seed.
    **parameters : str, int, float or bool
        Arguments of the class; the others keep their defaults.
    """
    return System(name, algorithm.__name__, parameters, n_seeds)


def encoding_from(kind: str, min_rating: float) -> str:
    """Write an encoding with the smallest rating of a liked item.

    Parameters
    ----------
    kind : str
        ``"graded-zero"``, ``"graded-pos"``, ``"binary-zero"`` or ``"binary-pos"``.
    min_rating : float
        The threshold.

    Examples
    --------
    >>> encoding_from("graded-zero", 3.5)
    'graded-zero>=3.5'
    """
    return str(Encoding(kind, min_rating))
