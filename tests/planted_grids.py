"""What is planted: by topic the grids of its chapter, with no more settings than criteria need.

A topic has ``planted_verdicts/TOPIC.yaml`` and an entry in `PLANTED`; its grids are made by the
functions of the chapter that make its own, so that labels and metrics are those that records read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from recbias import line_up
from recbias.book import non_personalised
from recbias.book.chapters import (
    concentration_metrics,
    offline_option_taxonomy,
    overcoming_popularity_bias,
    sparsity_bias,
    true_vs_false_positive_disagreement,
)
from recbias.book.chapters.design_alternatives import setup
from recbias.book.chapters.sparsity_bias.setup import combined
from recbias.recommenders import System, bcc17_grid

CUTOFF, SIZE, MIN_RATING = 10, 100, 5.0

LEVEL, OTHER_RATING = 1700, 4.0
"""The levelled sample of chapter 4, and its other relevance threshold."""

RELEVANT = 4.0
"""The rating from which chapter 5 counts an item as liked."""


class PlantedGrid(NamedTuple):
    """The arguments of a grid, but for the data set and for how often systems are trained."""

    systems: Sequence[System]
    protocols: Mapping[str, str]
    metrics: Mapping[str, Sequence[str]]
    options: Mapping[str, Any]


def _design_alternatives() -> dict[str, PlantedGrid]:
    protocols = setup.protocols(MIN_RATING, size=SIZE)
    precision, bounds = f"P@{CUTOFF}", (f"lower@{CUTOFF}", f"upper@{CUTOFF}")
    systems = list(line_up("bcc17"))
    metrics = {
        "AR": (precision, f"R@{CUTOFF}", f"nDCG@{CUTOFF}", "AP", "RR", "rho"),
        "AI": (precision, "rho"),
        "R_test": (precision,),
        "NN": (precision, "rho"),
        "1R": (precision, f"nDCG@{CUTOFF}", "RR", "rho"),
        "shared": (precision, *bounds),
        "all-1R": tuple(f"{name}|t={SIZE}" for name in (precision, *bounds)),
    }
    two = {label: protocols[label] for label in ("AR", "1R")}
    drawn = [each for each in systems if each.name in setup.LEMMA_SYSTEMS]
    lemma, tests = setup.lemma_protocols(MIN_RATING)
    kept = {"replicates": setup.combined(CUTOFF, SIZE)}
    return {
        "systems": PlantedGrid(systems, protocols, metrics, kept),
        "grid": PlantedGrid(_settings(), two, dict.fromkeys(two, (precision,)), {}),
        "lemma": PlantedGrid(
            drawn, lemma, dict.fromkeys(lemma, (precision, *bounds)), {"tests": tests}
        ),
    }


def _sparsity_bias() -> dict[str, PlantedGrid]:
    protocols, tests = sparsity_bias.setup.protocols(MIN_RATING)
    metrics = sparsity_bias.setup.metrics(CUTOFF, SIZE, (100, 400, 700, 1000))
    kept = {"tests": tests, "replicates": combined(metrics)}
    asked = non_personalised.baseline_grid(MIN_RATING, cutoff=CUTOFF, size=SIZE, floor=True)
    return {
        "systems": PlantedGrid(line_up("bcc17"), protocols, metrics, kept),
        "baselines": _baselines(non_personalised.baselines(MIN_RATING, floor=True), asked),
    }


def _popularity_bias() -> dict[str, PlantedGrid]:
    asked = non_personalised.baseline_grid(MIN_RATING, cutoff=CUTOFF, size=SIZE)
    return {"baselines": _baselines(non_personalised.baselines(MIN_RATING), asked)}


def _overcoming_popularity_bias() -> dict[str, PlantedGrid]:
    chapter = overcoming_popularity_bias
    protocols, tests = chapter.setup.protocols(MIN_RATING)
    systems, alike = line_up("bcc17"), non_personalised.baselines(MIN_RATING)
    measured = chapter.setup.metrics(CUTOFF, SIZE, LEVEL)
    size = {"cutoff": CUTOFF, "size": SIZE}
    five = [each for each in systems if each.name in chapter.setup.FIGURE_8]
    planted = {
        "systems": PlantedGrid(systems, protocols, measured, {"tests": tests}),
        "uniform": PlantedGrid(
            systems,
            chapter.setup.uniform_protocols(MIN_RATING),
            chapter.setup.uniform_metrics(**size),
            {},
        ),
        "uniform_baselines": _baselines(alike, non_personalised.baseline_grid(MIN_RATING, **size)),
    }
    for table, uniform in (("", False), ("uniform_", True)):
        of_settings = chapter.setup.setting_grid(MIN_RATING, **size, uniform=uniform)
        planted[f"{table}grid"] = PlantedGrid(_settings(), *of_settings.values(), {})
        of_other = chapter.setup.threshold_grid(OTHER_RATING, **size, uniform=uniform)
        planted[f"{table}threshold"] = PlantedGrid(
            five, of_other["protocols"], of_other["metrics"], {"tests": of_other["tests"]}
        )
    for table, asked in chapter.kept.kept_grids(MIN_RATING, **size).items():
        options = {"tests": asked["tests"], "replicates": asked["replicates"]}
        planted[table] = PlantedGrid(alike, asked["protocols"], asked["metrics"], options)
    return planted


def _settings() -> list[System]:
    """Three systems of the line-up, and two settings of MF and of kNN in either reading."""
    settings = [each for each in line_up("bcc17") if each.name in ("pLSA", "Popularity", "Random")]
    for part in ("mf-rating", "knn-rating", "mf-ranking", "knn-ranking"):
        settings += bcc17_grid(part)[:2]
    return settings


def _true_vs_false_positive_disagreement() -> dict[str, PlantedGrid]:
    chapter = true_vs_false_positive_disagreement
    protocols, tests = chapter.setup.protocols(RELEVANT, truth="unbiased")
    metrics = chapter.setup.metrics(CUTOFF, protocols)
    kept = {"tests": tests, "replicates": chapter.setup.combined(metrics)}
    full = {"full": metrics["full"]}
    later = {"split": "temporal 0.2", "replicates": chapter.setup.combined(full)}
    one = {"full": protocols["full"]}
    return {
        "systems": PlantedGrid(line_up("mccrs20"), protocols, metrics, kept),
        "optimal": PlantedGrid(line_up("optimal"), protocols, metrics, kept),
        "temporal": PlantedGrid(line_up("mccrs20"), one, full, later),
        "mar": _at_random(),
    }


def _at_random() -> PlantedGrid:
    chapter = true_vs_false_positive_disagreement
    protocols, tests = chapter.true_values.at_random(RELEVANT, truth="unbiased")
    metrics = dict.fromkeys(protocols, (f"P@{CUTOFF}", f"antiP@{CUTOFF}"))
    return PlantedGrid(line_up("mccrs20"), protocols, metrics, {"tests": tests})


def _concentration_metrics() -> dict[str, PlantedGrid]:
    chapter = concentration_metrics
    metrics = {"full": chapter.setup.metrics(CUTOFF)}
    systems = chapter.setup.line_up_of("ml-1m", RELEVANT)
    kept = {"replicates": chapter.setup.combined(metrics)}
    return {"systems": PlantedGrid(systems, chapter.setup.protocols(RELEVANT), metrics, kept)}


def _offline_option_taxonomy() -> dict[str, PlantedGrid]:
    chapter = offline_option_taxonomy
    asked = {
        "systems": chapter.setup.start_grid("ml-1m", RELEVANT, seed=1),
        "fills": chapter.setup.fill_grid("ml-1m", RELEVANT, seed=1),
        "overlaps": chapter.setup.overlap_grid("ml-1m", RELEVANT, seed=1),
        **{
            chapter.setup.ratio_name(ratio): chapter.setup.ratio_grid(
                "ml-1m", RELEVANT, ratio, seed=1
            )
            for ratio in chapter.setup.RATIOS
        },
    }
    return {
        table: PlantedGrid(
            grid.systems, grid.protocols, grid.metrics, {"replicates": grid.replicates}
        )
        for table, grid in asked.items()
    }


def _baselines(systems: Sequence[System], asked: Mapping[str, Any]) -> PlantedGrid:
    return PlantedGrid(systems, asked["protocols"], asked["metrics"], {"tests": asked["tests"]})


PLANTED: Mapping[str, Callable[[], dict[str, PlantedGrid]]] = {
    "design alternatives": _design_alternatives,
    "sparsity bias": _sparsity_bias,
    "popularity bias": _popularity_bias,
    "overcoming popularity bias": _overcoming_popularity_bias,
    "true vs false positive disagreement": _true_vs_false_positive_disagreement,
    "concentration metrics": _concentration_metrics,
    "offline option taxonomy": _offline_option_taxonomy,
}
"""By topic the grids of its chapter, by the name under which each is stored."""
