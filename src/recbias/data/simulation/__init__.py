"""Worlds in which every user's true rating of every item is known, and why some were observed.

A world has a name, e.g. ``world(relation=-0.5,skew=0.7,seed=3)``, that says all that decides it.
"""

from __future__ import annotations

from recbias.data.simulation.chance import ChanceWorld, count_world, power_law_world
from recbias.data.simulation.names import (
    STAR_SHARES,
    STARS,
    CountOptions,
    PowerLawOptions,
    PreferenceOptions,
    is_world,
    parse_world,
)
from recbias.data.simulation.popularity import power_law, whole_power_law
from recbias.data.simulation.preferences import (
    Popularity,
    PreferenceWorld,
    make_world,
    preference_world,
)
from recbias.data.simulation.truth import Truth, World

__all__ = [
    "REVISION",
    "STARS",
    "STAR_SHARES",
    "ChanceWorld",
    "CountOptions",
    "Popularity",
    "PowerLawOptions",
    "PreferenceOptions",
    "PreferenceWorld",
    "Truth",
    "World",
    "count_world",
    "is_world",
    "make_world",
    "parse_world",
    "power_law",
    "power_law_world",
    "preference_world",
    "whole_power_law",
]

REVISION = 1
"""Raised when code changes what a world holds; keys of results on worlds contain it."""
