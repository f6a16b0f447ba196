"""All figures of the book, drawn from recorded results as the pages draw them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from recbias.book.chapters import (
    concentration_metrics,
    design_alternatives,
    multiverse,
    offline_option_taxonomy,
    overcoming_popularity_bias,
    popularity_bias,
    sparsity_bias,
    true_vs_false_positive_disagreement,
)
from recbias.book.chapters.concentration_metrics import figures as of_concentration
from recbias.book.chapters.design_alternatives import figures as of_designs
from recbias.book.chapters.design_alternatives.panels import Design, four_designs
from recbias.book.chapters.multiverse import figures as of_universes
from recbias.book.chapters.multiverse.setup import options_of
from recbias.book.chapters.offline_option_taxonomy import figures as of_options
from recbias.book.chapters.offline_option_taxonomy import figures_of_decisions as of_decisions
from recbias.book.chapters.overcoming_popularity_bias import figures as of_remedies
from recbias.book.chapters.overcoming_popularity_bias.truth_tables import true_order_tables
from recbias.book.chapters.popularity_bias import figures as of_popularity
from recbias.book.chapters.popularity_bias import setup as popularity_setup
from recbias.book.chapters.sparsity_bias import figures as of_sparsity
from recbias.book.chapters.true_vs_false_positive_disagreement import figures as of_misses
from recbias.book.chapters.true_vs_false_positive_disagreement import (
    figures_of_judgments as of_judgments,
)
from recbias.book.chapters.true_vs_false_positive_disagreement.judgment_tables import (
    judgment_tables,
)
from recbias.book.figures import Figure
from recbias.book.systems import figures as of_systems
from recbias.book.systems import sensitivity
from recbias.book.systems.line_up import LINE_UP
from recbias.claims.judging import load_chapter
from recbias.recommenders import line_up

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"


@cache
def recorded(chapter: str, dataset: str = "cm100k") -> Mapping[str, Any]:
    """Load what is recorded of a chapter, on a data set and in worlds."""
    return load_chapter(chapter, dataset) | load_chapter(chapter, "simulations")


def placed(page: str) -> set[str]:
    """Name the figures that a page has a place for."""
    (file,) = NOTEBOOKS.glob(f"{page}*.py")
    return set(re.findall(r"\{glue:figure\} fig_(\w+)", file.read_text(encoding="utf-8")))


def _designs(results: Mapping[str, Any]) -> tuple[Design, ...]:
    parsed = results["systems"].grid.parsed
    return four_designs(parsed["1R"].rule.n_sampled + 1, parsed["NN"].rule.n_sampled)


def _of_designs() -> list[Figure]:
    results = recorded(design_alternatives.CHAPTER)
    measured, designs = results["systems"], _designs(results)
    return [
        of_designs.one_ranking(measured, designs),
        of_designs.values(measured, designs),
        of_designs.orders(measured, designs),
        of_designs.settings(results["grid"]),
        of_designs.gaps(results["lemma"]),
        of_designs.true_orders(results["truth"]),
    ]


def _of_index() -> list[Figure]:
    results = recorded(design_alternatives.CHAPTER)
    return [
        of_designs.one_ranking(results["systems"], _designs(results), name="one_list"),
        of_systems.one_name(recorded("systems")["one_name"]),
    ]


def _of_sparsity() -> list[Figure]:
    results = recorded(sparsity_bias.CHAPTER)
    systems, drawn = results["systems"], results["negatives"]
    return [
        of_sparsity.lists(systems, 10),
        of_sparsity.halved(systems),
        of_sparsity.larger(systems, 10),
        of_sparsity.saturation(results["saturation"]),
        of_sparsity.orders(drawn, 10),
        of_sparsity.enough_sampled(drawn),
        of_sparsity.told_apart(results["densities"]),
    ]


def _of_popularity() -> list[Figure]:
    results = recorded(popularity_bias.CHAPTER)
    pure_skew = results["pure_skew"]
    designs = popularity_setup.designs(pure_skew.given["size"])
    return [
        of_popularity.skew(pure_skew),
        of_popularity.chain(results["chain"]),
        of_popularity.rankings(results["baselines"], results["predicted"]),
        of_popularity.exponents(results["skew"], "P@10|t=100", name="1RP@10"),
        of_popularity.collections(results["concentration"]),
        of_popularity.shares(pure_skew, designs),
        of_popularity.overrated(results["relation_map"]),
    ]


def _of_concentration() -> list[Figure]:
    results = recorded(concentration_metrics.CHAPTER, "filmtrust")
    return [
        of_concentration.rounds(results["loop"]),
        of_concentration.foretelling(results["loop"]),
        of_concentration.evenness(results["systems"], results["lorenz"], 10),
        of_concentration.two_orders(results["systems"], 10),
        of_concentration.alike(results["systems"], 10),
    ]


def _of_remedies() -> list[Figure]:
    results = recorded(overcoming_popularity_bias.CHAPTER)
    both = {name: results[name] for name in ("systems", "uniform")}
    kept = {name: results[name] for name in ("kept", "kept_uniform")}
    return [
        of_remedies.nearer(results["worlds"]),
        of_remedies.over_random(both, 10),
        of_remedies.places(both),
        of_remedies.positive_ratios(results["positive_ratio"]),
        of_remedies.causes(kept, 10),
        of_remedies.counted_otherwise(results["systems"]),
        of_remedies.agreement(true_order_tables({})),
        of_remedies.relations(results["worlds"]),
    ]


def _of_misses() -> list[Figure]:
    results = recorded(true_vs_false_positive_disagreement.CHAPTER)
    items, judged = (results["items"], results["item_groups"]), judgment_tables(None)
    return [
        of_misses.lead(results["systems"]),
        of_misses.two_counts(results["systems"]),
        of_misses.item_curves(*items),
        of_misses.each_count(results["systems"]),
        of_misses.which_count(results["worlds"]),
        of_judgments.judged_orders(judged, 10),
        of_judgments.mixed_orders(judged, 10),
        of_judgments.answers(results["trust"]),
        of_judgments.compatible(results["trust_answers"], results["points"], results["bars"]),
    ]


def _of_options() -> list[Figure]:
    results = recorded(offline_option_taxonomy.CHAPTER)
    return [
        of_options.configurations(results),
        of_options.ratios(results, results["seeds"]),
        of_options.fills(results["fills"], results["fill_seeds"]),
        of_options.overlap(results["overlaps"]),
        of_options.significance(results["cells"]),
        of_decisions.reversals(results["decisions"]),
        of_decisions.worlds(results["worlds"]),
    ]


def _of_multiverse() -> list[Figure]:
    results = recorded(multiverse.CHAPTER, "filmtrust")
    crossed, options = results["crossed"], options_of("filmtrust", 3)
    return [
        of_universes.curves(crossed),
        of_universes.along(crossed, options),
        of_universes.by_option(crossed, options),
        of_universes.turning(crossed, options),
        of_universes.by_effect(results["pairs"]),
        of_universes.calibration(),
    ]


def _of_systems() -> list[Figure]:
    results = recorded("systems")
    ways = sensitivity.chosen_variations(LINE_UP)
    chosen = line_up(LINE_UP, min_rating=4)
    values = sensitivity.values_of_variations(results["sensitivity"], chosen, ways, metric="P@10")
    return [
        of_systems.one_name(results["one_name"]),
        of_systems.sensitivity(results["sensitivity"], values, chosen, metric="P@10"),
    ]


_PAGES: Mapping[str, Callable[[], list[Figure]]] = {
    "01": _of_designs,
    "02": _of_sparsity,
    "03": _of_popularity,
    "04": _of_remedies,
    "05": _of_misses,
    "06": _of_concentration,
    "07": _of_options,
    "08": _of_multiverse,
    "index": _of_index,
    "systems": _of_systems,
}
"""What makes the figures of a page, by how its name begins."""

PAGES = tuple(_PAGES)

PACKAGES = {
    "01": "design_alternatives",
    "02": "sparsity_bias",
    "03": "popularity_bias",
    "04": "overcoming_popularity_bias",
    "05": "true_vs_false_positive_disagreement",
    "06": "concentration_metrics",
    "07": "offline_option_taxonomy",
    "08": "multiverse",
}
"""Where the figures of the page of a chapter are defined."""


@cache
def figures(page: str) -> Mapping[str, Figure]:
    """Make the figures of a page, by name."""
    return {figure.name: figure for figure in _PAGES[page]()}
