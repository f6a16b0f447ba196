"""All eight columns that the authors of MCCRS20 published for each system, beside ours.

Full lists are compared by the rule of the page on the systems. Condensed values of all systems lie
close together, as their lists hold the same items; there a margin of its own is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from recbias.book.html import badge, table_html
from recbias.book.systems import validation
from recbias.book.systems.line_up import LINE_UP
from recbias.book.systems.tables import comparison_sentence
from recbias.book.systems.validation import Comparison, Placed
from recbias.claims.evaluation import Scope
from recbias.claims.evidence import NotComputed
from recbias.claims.expressions import Term
from recbias.claims.functions import in_scope
from recbias.claims.reference import Reference, find_reference
from recbias.experiment.grid import Grid
from recbias.experiment.run import Results
from recbias.recommenders import line_ups
from recbias.recommenders.line_ups import Change

COLUMNS: Mapping[str, tuple[str, str]] = {
    "P@10": ("full", "P@10"),
    "antiP@10": ("full", "antiP@10"),
    "recall@10": ("full", "R@10"),
    "fallout@10": ("full", "fallout@10"),
    "condensed P@10": ("condensed", "P@10|judged"),
    "condensed antiP@10": ("condensed", "antiP@10|judged"),
    "condensed recall@10": ("condensed", "R@10"),
    "condensed fallout@10": ("condensed", "fallout@10"),
}
"""Label and metric of each column of the published values, by its name there."""

MARGIN = 0.003
"""The difference that is allowed in condensed lists."""


def published_columns(grid: Grid) -> Reference | None:
    """Find the published values for a grid with the labels of the chapter, if there are any.

    Examples
    --------
    >>> from recbias.book.chapters.true_vs_false_positive_disagreement import setup
    >>> from recbias.recommenders import line_up
    >>> asked = setup.protocols(4)[0]
    >>> metrics = setup.metrics(10, asked)
    >>> grid = Grid("ml-100k", line_up("mccrs20"), asked, metrics, split="k-fold 5")
    >>> published_columns(grid) is None
    True
    """
    reference = find_reference(LINE_UP, grid.dataset, grid.split, str(grid.parsed["full"]))
    measured = {(label, str(m)) for label, metrics in grid.parsed_metrics.items() for m in metrics}
    return reference if measured.issuperset(COLUMNS.values()) else None


def compare_columns(
    measured: Results, reference: Reference, *, of: Mapping[str, str] | None = None
) -> list[Comparison]:
    """Compare systems with their published values in all columns."""
    of = of or {name: name for name in measured.systems}
    comparisons = []
    for system, base in of.items():
        if base in (validation.RANDOM, validation.FIXED):
            continue
        for column, (label, metric) in COLUMNS.items():
            published, quantity = reference.values[base][column], measured[system, label, metric]
            full = label == "full"
            width = validation.tolerance(published) if full else MARGIN
            placed = Placed(
                f"{system}, {column}", quantity.value, published - width, published + width
            )
            rule = "tolerance" if full else "margin"
            comparisons.append(Comparison(system, column, published, quantity, (placed,), rule))
    return comparisons


def changes_grid(measured: Results, reference: Reference) -> tuple[list[Change], Grid | None]:
    """Choose what may explain the systems that are off, with one thing changed in each."""
    grid = measured.grid
    missed = validation.outside(compare_columns(measured, reference))
    steps = line_ups.ablations(min_rating=grid.parsed["full"].min_rating)
    changes = [step for step in steps if step.base in missed]
    if not changes:
        return [], None
    metrics: dict[str, list[str]] = {}
    for label, metric in COLUMNS.values():
        metrics.setdefault(label, []).append(metric)
    protocols = {label: str(grid.parsed[label]) for label in metrics}
    systems = tuple(step.system for step in changes)
    return changes, Grid(
        grid.dataset, systems, protocols, metrics, split=grid.split, seed=grid.seed, replicates=()
    )


def columns_explained(
    comparisons: Iterable[Comparison],
    changes: Iterable[Change],
    changed: Results | None,
    reference: Reference,
) -> dict[str, str]:
    """Find what brings systems that are off to their published values, in all columns."""
    missed = validation.outside(comparisons)
    explanations: dict[str, str] = {}
    for change in changes:
        if changed is None or change.base not in missed:
            continue
        after = compare_columns(changed, reference, of={change.system.name: change.base})
        if not validation.outside(after):
            explanations.setdefault(change.base, change.what)
    return explanations


def columns_html(
    measured: Results,
    reference: Reference,
    changes: Sequence[Change] = (),
    changed: Results | None = None,
) -> str:
    """Write all columns of all systems, with how far each value is from the published one."""
    comparisons = compare_columns(measured, reference)
    explanations = columns_explained(comparisons, changes, changed, reference)
    missed, rows, paragraphs = validation.outside(comparisons), [], ""
    for system in dict.fromkeys(comparison.system for comparison in comparisons):
        of_system = [comparison for comparison in comparisons if comparison.system == system]
        rows.append(
            [f"<strong>{escape(system)}</strong>", *map(_cell, of_system), _badge(of_system)]
        )
        tried = [change for change in changes if change.base == system and system in missed]
        if changed is not None and tried:
            change, after = _nearest(tried, changed, reference)
            rows.append([escape(change.what), *map(_cell, after), _badge(after)])
            if off := [comparison.metric for comparison in after if not comparison.inside]:
                paragraphs += (
                    f"<p>{escape(system)} comes nearest with one change, {escape(change.what)}: "
                    f"{len(after) - len(off)} of {len(after)} columns agree then, "
                    f"{escape(', '.join(off))} not.</p>"
                )
    head = ["system", *map(escape, COLUMNS), "agrees"]
    sentence = comparison_sentence(comparisons, explanations)
    return sentence + paragraphs + table_html(head, rows)


def _nearest(
    changes: Iterable[Change], changed: Results, reference: Reference
) -> tuple[Change, list[Comparison]]:
    """Choose the change with which most columns of a system agree, the first of several."""
    tried = [
        (change, compare_columns(changed, reference, of={change.system.name: change.base}))
        for change in changes
    ]
    return max(tried, key=lambda pair: sum(column.inside for column in pair[1]))


def _badge(comparisons: Sequence[Comparison]) -> str:
    return badge("yes" if all(comparison.inside for comparison in comparisons) else "no")


def _cell(comparison: Comparison) -> str:
    """Write our value, and how far it is off: full lists in percent, condensed ones as it is."""
    if comparison.rule == "tolerance":
        off = f"{comparison.difference / comparison.published:+.1%}".replace("%", " %")
    else:
        off = f"{comparison.difference:+.4f}"
    if not off.strip("+-0. %"):
        off = off.lstrip("+-")
    off = off.replace("-", "\N{MINUS SIGN}").replace(" ", "\N{NO-BREAK SPACE}")
    text = f"{comparison.measured.value:.4f}<br/><small>{off}</small>"
    return text if comparison.inside else f"<strong>{text}</strong>"


# -- what findings compute -------------------------------------------------------------------------


def _compared(scope: Scope, term: Term) -> tuple[Results, Reference]:
    table = scope.evidence.table(term.table)
    reference = published_columns(table.grid)
    if reference is None:
        raise NotComputed("published values for this data set and split")
    return table, reference


@in_scope
def systems_met(scope: Scope, term: Term) -> float:
    """Count the systems that meet their published values in all columns."""
    comparisons = compare_columns(*_compared(scope, term))
    systems = {comparison.system for comparison in comparisons}
    n_met = float(len(systems) - len(validation.outside(comparisons)))
    scope.evidence.note(term.table, "systems that meet all published columns", n_met)
    return n_met


@in_scope
def systems_unexplained(scope: Scope, term: Term, change: Term) -> float:
    """Count the systems that are off, and stay so with every change that was measured."""
    measured, reference = _compared(scope, term)
    changes, grid = changes_grid(measured, reference)
    changed = scope.evidence.table(change.table) if grid else None
    comparisons = compare_columns(measured, reference)
    known = columns_explained(comparisons, changes, changed, reference)
    n_unexplained = float(len(set(validation.outside(comparisons)) - set(known)))
    scope.evidence.note(term.table, "systems off that no change explains", n_unexplained)
    return n_unexplained
