"""What is planted: by topic the grids of its chapter, with no more settings than criteria need.

A topic has ``planted_verdicts/TOPIC.yaml`` and an entry in `PLANTED`; its grids are made by the
functions of the chapter that make its own, so that labels and metrics are those that records read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from chapter_grids import (
    baseline_protocols,
    concentration_protocols,
    fill_grid,
    lemma_protocols,
    overlap_grid,
    ratio_grid,
    sparsity_protocols,
    start_grid,
)
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
    lemma, tests = lemma_protocols(MIN_RATING)
    kept = {"replicates": setup.combined(CUTOFF, SIZE)}
    return {
        "systems": PlantedGrid(systems, protocols, metrics, kept),
        "grid": PlantedGrid(_settings(), two, dict.fromkeys(two, (precision,)), {}),
        "lemma": PlantedGrid(
            drawn, lemma, dict.fromkeys(lemma, (precision, *bounds)), {"tests": tests}
        ),
    }


def _sparsity_bias() -> dict[str, PlantedGrid]:
    protocols, tests = sparsity_protocols(MIN_RATING)
    metrics = sparsity_bias.setup.metrics(CUTOFF, SIZE, (100, 400, 700, 1000))
    kept = {"tests": tests, "replicates": combined(metrics)}
    measured = non_personalised.floor_metrics(CUTOFF, SIZE)
    return {
        "systems": PlantedGrid(line_up("bcc17"), protocols, metrics, kept),
        "baselines": _baselines(measured, floor=True),
    }


def _popularity_bias() -> dict[str, PlantedGrid]:
    return {"baselines": _baselines(non_personalised.baseline_metrics(CUTOFF, SIZE))}


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
        "uniform_baselines": _baselines(non_personalised.baseline_metrics(CUTOFF, SIZE)),
    }
    for table, uniform in (("", False), ("uniform_", True)):
        texts = chapter.setup.uniform_protocols if uniform else _folds
        of_settings = chapter.setup.setting_metrics(**size)
        labels = ("UAR", "U1R") if uniform else ("AR", "AI", "1R", "P1R")
        planted[f"{table}grid"] = PlantedGrid(
            _settings(), _of(texts(MIN_RATING), labels), _of(of_settings, labels), {}
        )
        of_other = chapter.setup.threshold_metrics(OTHER_RATING, **size)
        labels = ("UAR", "U1R") if uniform else ("AR", "1R", "head", "P1R")
        planted[f"{table}threshold"] = PlantedGrid(
            five, _of(texts(OTHER_RATING), labels), _of(of_other, labels),
            {"tests": {} if uniform else tests},
        )  # fmt: skip
    for table, asked in chapter.kept.kept_grids(MIN_RATING, **size).items():
        options = {"tests": asked["tests"], "replicates": asked["replicates"]}
        planted[table] = PlantedGrid(alike, asked["protocols"], asked["metrics"], options)
    return planted


def _folds(min_rating: float) -> dict[str, str]:
    return overcoming_popularity_bias.setup.protocols(min_rating)[0]


def _of(named: Mapping[str, Any], labels: Sequence[str]) -> dict[str, Any]:
    return {label: named[label] for label in labels}


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
    side = chapter.true_values.drawn_side("unbiased")
    tests = {"all": side, "half": f"{side} removed=50%", "tenth": f"{side} removed=90%"}
    protocols = dict.fromkeys(tests, f"AI-AN-AR rel>={RELEVANT} users=tested")
    metrics = dict.fromkeys(protocols, (f"P@{CUTOFF}", f"antiP@{CUTOFF}"))
    return PlantedGrid(line_up("mccrs20"), protocols, metrics, {"tests": tests})


def _concentration_metrics() -> dict[str, PlantedGrid]:
    chapter = concentration_metrics
    metrics = {"full": chapter.setup.metrics(CUTOFF)}
    systems = chapter.setup.line_up_of("ml-1m", RELEVANT)
    kept = {"replicates": chapter.setup.combined(metrics)}
    return {"systems": PlantedGrid(systems, concentration_protocols(RELEVANT), metrics, kept)}


def _offline_option_taxonomy() -> dict[str, PlantedGrid]:
    chapter = offline_option_taxonomy
    asked = {
        "systems": start_grid("ml-1m", RELEVANT, seed=1),
        "fills": fill_grid("ml-1m", RELEVANT, seed=1),
        "overlaps": overlap_grid("ml-1m", RELEVANT, seed=1),
        **{
            chapter.setup.ratio_name(ratio): ratio_grid("ml-1m", RELEVANT, ratio, seed=1)
            for ratio in chapter.setup.RATIOS
        },
    }
    return {
        table: PlantedGrid(
            grid.systems, grid.protocols, grid.metrics, {"replicates": grid.replicates}
        )
        for table, grid in asked.items()
    }


def _baselines(metrics: Mapping[str, Sequence[str]], *, floor: bool = False) -> PlantedGrid:
    systems = non_personalised.baselines(MIN_RATING, floor=floor)
    tests = {"AR half": "observed removed=50%"} if floor else {}
    return PlantedGrid(systems, baseline_protocols(MIN_RATING, metrics), metrics, {"tests": tests})


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
