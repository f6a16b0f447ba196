"""Tables as a reader sees them: badges, quantities, and what the pages of the systems compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import pandas as pd

from recbias.book.html import badge, quantity_text, table_html
from recbias.book.systems.line_up import LINE_UP, TITLES
from recbias.book.systems.validation import (
    FLOOR,
    MEASURES,
    N_RANKINGS,
    SHARE,
    Comparison,
    compare,
    explained,
    is_near,
    outside,
    tolerance,
    verdict,
)
from recbias.claims.reference import Reference, references
from recbias.data.datasets import dataset_info
from recbias.experiment.makers import Table
from recbias.experiment.results import Quantity
from recbias.experiment.run import Results
from recbias.recommenders.descriptions import class_html, line_up_html
from recbias.recommenders.line_ups import Change

_SPACE = "\N{NO-BREAK SPACE}"


_COLUMNS = tuple(f"{metric} (95 % interval)" for metric in MEASURES)


def line_up_details(name: str, *, min_rating: float) -> str:
    """Write a line-up behind a click; the one that is measured is open."""
    return (
        f"<details{' open' if name == LINE_UP else ''}><summary>"
        f"<strong>{escape(TITLES[name])}</strong> (<code>line_up({escape(repr(name))})</code>)"
        f'</summary><div id="line-up-{escape(name)}">'
        f"{line_up_html(name, min_rating=min_rating)}</div></details>"
    )


def published_html(
    measured: Results,
    chances: Table,
    published: Reference | None,
    changes: Sequence[Change],
    changed: Results,
) -> str:
    """Write what a line-up scores beside the published values, or alone where there are none."""
    if published is None:
        return (
            "<p><strong>For these ratings and this split nothing was published</strong>, so that "
            "the table has our values alone. The comparison is made on the same page for "
            f"{escape(_compared_on())}.</p>{measured_html(measured)}"
        )
    comparisons = compare(measured, chances, published)
    explanations = explained(comparisons, changes, changed, published)
    return (
        f"{comparison_sentence(comparisons, explanations)}{comparison_html(comparisons)}"
        f"{_rules_html(comparisons)}"
        f"<p>Published: {escape(published.what)}; <code>{escape(published.source)}</code> at "
        f"commit <code>{published.commit[:7]}</code>, <code>{escape(published.files)}</code>.</p>"
    )


def _compared_on() -> str:
    """Give the title of the dataset that has published values."""
    (first, *_) = references()[LINE_UP].datasets
    return dataset_info(first).title


def comparison_html(comparisons: Sequence[Comparison]) -> str:
    """Write published and measured values side by side, a row per system."""
    rows = []
    missed = outside(comparisons)
    for system in dict.fromkeys(
        comparison.system for comparison in comparisons if not comparison.is_chance
    ):
        of_system = [comparison for comparison in comparisons if comparison.system == system]
        cells = [cell for comparison in of_system for cell in _compared(comparison)]
        verdict = badge("no" if system in missed else "yes")
        rows.append([f"<strong>{escape(system)}</strong>", *cells, verdict])
    columns = [f"{metric}, {what}" for metric in MEASURES for what in ("published", "ours", "off")]
    return table_html(["system", *columns, "agrees"], rows)


def _compared(comparison: Comparison) -> list[str]:
    """Write a published value, ours, and how far that is off, relative to the published one."""
    off = _percent(comparison.difference / comparison.published, "+.1%")
    if _is_floor(comparison):
        off += f" (of ±{_SPACE}{_percent(comparison.relative_width)})"
    return [f"{comparison.published:.5f}", f"{comparison.measured.value:.5f}", off]


def _is_floor(comparison: Comparison) -> bool:
    return comparison.rule == "tolerance" and tolerance(comparison.published) == FLOOR


def _percent(share: float, form: str = ".0%") -> str:
    text = f"{share:{form}}"
    if float(text.rstrip("%")) == 0:
        text = text.lstrip("+-")
    return text.replace("%", f"{_SPACE}%")


def chance_html(comparisons: Sequence[Comparison]) -> str:
    """Write where chance puts those systems that are nothing else, and where the values lie."""
    rows = []
    last = ""
    for comparison in comparisons:
        for part in comparison.parts if comparison.is_chance else ():
            name = (
                "" if comparison.system == last else f"<strong>{escape(comparison.system)}</strong>"
            )
            last = comparison.system
            span = f"{part.least:.5f} to {part.most:.5f}".replace(" ", _SPACE)
            verdict = badge("yes" if part.inside else "no")
            rows.append([name, escape(part.name), f"{part.value:.5f}", span, verdict])
    head = ("system", "value", "is", "chance puts it at", "inside")
    return table_html(head, rows) if rows else ""


def comparison_sentence(comparisons: Sequence[Comparison], explanations: Mapping[str, str]) -> str:
    """Say how many systems agree, which do not and why, and how those fare that are chance."""
    modelled = [comparison for comparison in comparisons if not comparison.is_chance]
    missed, systems = (
        outside(modelled),
        list(dict.fromkeys(comparison.system for comparison in modelled)),
    )
    n_measures = len({comparison.metric for comparison in modelled})
    everywhere = "both measures" if n_measures == 2 else f"all {n_measures} columns"
    text = (
        f"{badge(verdict(comparisons, explanations))} <strong>{len(systems) - len(missed)} of "
        f"{len(systems)} systems score what was published</strong>, in {everywhere}."
    )
    for system in missed:
        off = {
            comparison.metric: comparison
            for comparison in modelled
            if comparison.system == system and not comparison.inside
        }
        *most, last = (
            f"{_percent(comparison.difference / comparison.published, '+.1%')} in {metric}"
            for metric, comparison in off.items()
        )
        deviations = f"{', '.join(most)} and {last}" if most else last
        reason = explanations.get(system)
        why = f"one change brings it there: {escape(reason)}" if reason else "nothing explains it"
        text += f" {escape(system)} does not ({deviations}); {why}."
    chance = list(
        dict.fromkeys(comparison.system for comparison in comparisons if comparison.is_chance)
    )
    lost = [system for system in outside(comparisons) if system in chance]
    if chance:
        text += f" {len(chance)} more are chance and stand apart: {escape(', '.join(chance))}."
        text += (
            f" Not where chance puts {'it' if len(lost) == 1 else 'them'}: "
            f"{escape(', '.join(lost))}."
            if lost
            else " Published values and ours lie where chance puts them."
        )
    return f"<p>{text}</p>"


def _rules_html(comparisons: Sequence[Comparison]) -> str:
    """Write the rules by which published values and ours are compared."""
    return (
        "<details><summary>The rules of the comparison</summary>"
        "<p>A system agrees if both means differ from the published ones by at most "
        f"{_percent(SHARE)}, or by at most {FLOOR:g} where that is more. One that does not counts "
        "as explained if one of the changes in the next section brings <em>both</em> of its values "
        "there, as measured; the verdict is then “partly”. If nothing explains it, "
        f"it is “no”.</p>{floor_sentence(comparisons)}"
        "<p>Two systems are chance. A tolerance around their published values would say nothing, "
        "so they have rules of their own.</p><ul>"
        "<li><strong>Random</strong>: the published value is one draw, ours a mean over seeds. "
        "Both are held against the exact expectation of a random ranking, the mean over users of "
        "the share of liked test items among their candidates: each has to lie where 99"
        f"{_SPACE}% of such draws, or of such means, lie around it. The variance of the hits in "
        "ten places is hypergeometric.</li>"
        "<li><strong>BPoissMF</strong>: in the release that was run, the parameters are never "
        "updated. What is left are random initial values, and a ranking that is arbitrary but "
        "nearly the same for everybody. The published value and ours, of another such ranking, "
        f"have to lie in the 99{_SPACE}% range of {N_RANKINGS} of them.</li></ul>"
        f"{chance_html(comparisons)}</details>"
    )


def floor_sentence(comparisons: Sequence[Comparison]) -> str:
    """Say how wide the tolerance becomes where its floor decides."""
    floors = [comparison for comparison in comparisons if _is_floor(comparison)]
    if not floors:
        return ""
    widest = max(floors, key=lambda comparison: comparison.relative_width)
    n_values = sum(not comparison.is_chance for comparison in comparisons)
    return (
        f"<p>For {len(floors)} of {n_values} values {_percent(SHARE)} is less than {FLOOR:g}, "
        "which is allowed all the same; the table says there what share of the value that is, at "
        f"most ±{_SPACE}{_percent(widest.relative_width)} for {escape(widest.metric)} of "
        f"{escape(widest.system)}.</p>"
    )


def measured_html(results: Results) -> str:
    """Write what a line-up scores, a row per system."""
    rows = [
        [f"<strong>{escape(name)}</strong>", *_values(results, name)]
        for name in (*results.systems, *results.left_out)
    ]
    return table_html(["system", *_COLUMNS], rows, style="labelled")


def changes_html(
    changes: Sequence[Change],
    measured: Results,
    changed: Results,
    published: Reference | None,
    *,
    judged: bool = False,
) -> str:
    """Write some systems of a line-up, and below each what it scores with something changed."""
    classes = {system.name: class_html(system) for system in measured.grid.systems}
    rows: list[list[str]] = []

    def values(results: Results, system: str, base: str) -> list[str]:
        cells = _values(results, system)
        if judged and published:
            near = system in results.systems and all(
                is_near(_quantity(results, system, metric).value, published.values[base][metric])
                for metric in MEASURES
            )
            cells.append(badge("yes" if near else "no"))
        return cells

    for base in dict.fromkeys(change.base for change in changes):
        if published:
            cells = [f"{published.values[base][metric]:.4f}" for metric in MEASURES]
            rows.append([f"<strong>{escape(base)}</strong>", "published", *cells])
            rows[-1] += [""] if judged else []
        name = "" if published else f"<strong>{escape(base)}</strong>"
        rows.append(
            [name, f"in the line-up<br/>{classes.get(base, '')}", *values(measured, base, base)]
        )
        rows += [
            [
                "",
                f"{escape(change.what)}<br/>{class_html(change.system)}",
                *values(changed, change.system.name, base),
            ]
            for change in changes
            if change.base == base
        ]
    verdicts = ["agrees"] if judged and published else []
    return table_html(["system", "variant", *_COLUMNS, *verdicts], rows, style="labelled")


def widest_sentence(changes: Sequence[Change], measured: Results, changed: Results) -> str:
    """Say which system of a line-up and its cited model are furthest apart in precision."""
    metric = MEASURES[0]
    pairs = {
        change.base: (
            _quantity(measured, change.base, metric).value,
            _quantity(changed, change.system.name, metric).value,
        )
        for change in changes
        if measured.among([change.base]) and changed.among([change.system.name])
    }
    if not pairs or not all(min(pair) > 0 for pair in pairs.values()):
        return ""
    base = max(pairs, key=lambda name: max(pairs[name]) / min(pairs[name]))
    run, cited = pairs[base]
    factor = max(run, cited) / min(run, cited)
    return (
        f"<p>Furthest apart are the two systems called {escape(base)}: {metric} is {run:.4f} as it "
        f"was run and {cited:.4f} as it is cited, a factor of {factor:.3g}.</p>"
    )


def spans_html(spans: pd.DataFrame, metric: str) -> str:
    """Write how far each system moves."""
    head = ("system", metric, "least to most", "rank", "best to worst", "changed", "moved most by")
    rows = [
        [
            f"<strong>{escape(str(system))}</strong>",
            f"{span['own']:.4f}",
            f"{span['least']:.4f} to {span['most']:.4f}",
            str(span["rank"]),
            f"{span['best']} to {span['worst']}",
            escape(span["moved"]),
            f"<code>{escape(span['strongest'])}</code>" if span["strongest"] else "",
        ]
        for system, span in spans.iterrows()
    ]
    return table_html(head, rows, style="labelled")


def _values(results: Results, system: str) -> list[str]:
    if system in results.left_out:
        return [f"left out: {escape(results.left_out[system])}", *[""] * (len(MEASURES) - 1)]
    return [quantity_text(_quantity(results, system, metric)) for metric in MEASURES]


def _quantity(results: Results, system: str, metric: str) -> Quantity:
    (label,) = results.grid.by_label
    return results[system, label, metric]
