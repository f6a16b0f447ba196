"""What the pages of the book show in the same way: their data, systems, protocols, quantities.

Each function returns Markdown or HTML for one cell of a chapter.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

import numpy as np
import pandas as pd

from recbias.book.choosing import threshold_note
from recbias.book.html import interval_text, markdown_table, plain, table_html, typeset
from recbias.claims.ledger import NO_ASSERTION, claims
from recbias.claims.regions import defined
from recbias.data.ratings import exact
from recbias.experiment.grid import Grid
from recbias.experiment.makers import Made, Table
from recbias.experiment.options import compact, options_of
from recbias.experiment.results import Quantity, StoredResult
from recbias.experiment.run import Results
from recbias.metrics import Metric
from recbias.protocol.protocol import Protocol
from recbias.protocol.splits import SplitRule
from recbias.recommenders import line_up_sources


def data_line(results: Results, note: str = "") -> str:
    """Say which data a page is about, and whether its values were computed live."""
    data, versions = results.dataset, results.provenance
    origin = "What this page measures on these data was computed live, on the data themselves."
    if results.origin == "recorded":
        origin = (
            "The ratings may not be shipped with the book. This page draws **recorded results**: "
            "aggregates computed earlier by the same code, with their key checked. "
            "With the data at hand, the same page computes them anew. "
            f"Computed by recbias {versions['recbias']} with numpy {versions['numpy']}, "
            f"key `{results.key[:12]}`."
        )
    if "merged" in data["title"]:
        origin += (
            " Why some stars are one value is told on the page of the [data](#data-merged-stars)."
        )
    if taken := threshold_note(results):
        origin = f"{taken} {origin}"
    if results.left_out:
        origin += f" {left_out_text(results)}"
    return (
        f"**Data: {plain(data['title'])}**, {data['n_ratings']:,} ratings by {data['n_users']:,} "
        f"users on {data['n_items']:,} items. {origin}{f' {note}' if note else ''}"
    )


def left_out_text(*results: Results) -> str:
    """Name the systems that cannot be trained on the data, each with its reason."""
    reasons = {name: why for result in results for name, why in result.left_out.items()}
    listed = "; ".join(f"*{plain(name)}* ({plain(why)})" for name, why in reasons.items())
    return f"**Left out**, as it cannot be trained on these data: {listed}." if listed else ""


def protocols_table(results: Results) -> str:
    """List the protocols of a grid, with the target sets that a reader should know of."""
    grid = results.grid
    metrics = {metric for every in grid.parsed_metrics.values() for metric in every}
    cutoffs = {metric.cutoff for metric in metrics} - {None}
    shortest = f"{cutoffs.pop()}" if len(cutoffs) == 1 else "the cutoff"
    head = ["label", "what is ranked, and the protocol", *(["test"] if grid.tests else [])]
    head += ["target sets", "no relevant item", "short sample"]
    head += [f"below {shortest} items", "smallest"]
    counts = ("sets", "no_relevant", "short_sample", "below_cutoff", "smallest")
    sets = results.target_sets.set_index("label").to_dict("index")
    rows = []
    for label, protocol in grid.parsed.items():
        side = [f"`{grid.test(label)}`"] if grid.tests else []
        cells = [plain(label), f"{ranked_words(protocol)}, `{protocol}`", *side]
        rows.append([*cells, *(f"{sets[label][name]:,}" for name in counts)])
    return markdown_table(head, rows)


def ranked_words(protocol: Protocol) -> str:
    """Say which items a protocol ranks, besides training items, which it leaves out.

    Examples
    --------
    >>> ranked_words(Protocol.parse("TI-NN-1R t=100 rel>=5"))
    'one relevant item, 99 sampled anew for each'
    >>> ranked_words(Protocol.parse("TI-AN-AR rel>=5 condensed"))
    "the user's own test ratings"
    """
    rule = protocol.rule
    if protocol.condensed:
        return "the user's own test ratings"
    whole = {"AI": "the whole catalogue", "TI": "all items with a test rating"}[rule.candidates]
    by = " by popularity" if rule.drawn == "popularity" else ""
    if rule.relevant == "AR" and rule.others == "AN":
        return whole
    if rule.relevant == "AR":
        return f"all relevant items, {rule.n_sampled:,} sampled{by}"
    if rule.others == "AN":
        return f"one relevant item, all others of {whole}"
    drawn = "once for all runs of a user" if rule.relevant == "1R-shared" else "anew for each"
    return f"one relevant item, {rule.n_sampled:,} sampled{by} {drawn}"


def systems_table(line_up: str) -> str:
    """List the systems of a line-up with what they are, and why with these parameters."""
    head = ("system", "what it is, and why with these parameters")
    rows = [(plain(name), source) for name, source in line_up_sources(line_up).items()]
    return markdown_table(head, rows)


def quantities_table(
    quantities: Mapping[str, Quantity], *, head: tuple[str, str], form: str = ".4f"
) -> str:
    """List quantities with their 95 % intervals.

    Examples
    --------
    >>> quantities = {"AR and 1R": Quantity(0.25, None, limits=(0.2, 0.3))}
    >>> print(quantities_table(quantities, head=("orders", "tau"), form=".2f").splitlines()[-1])
    | AR and 1R | 0.25 | 0.20 to 0.30 |
    """
    rows = [
        (plain(name), defined(quantity.value, form), interval_text(quantity, form))
        for name, quantity in quantities.items()
    ]
    return markdown_table((*head, "95 % interval"), rows)


def crossed_table(
    results: Results, label: str, metric: Metric | str, *, systems: Sequence[str]
) -> str:
    """List values with their interval over users, and over users and items."""
    matches = (results.crossed["label"] == label) & (results.crossed["metric"] == str(metric))
    both = results.crossed[matches].set_index("system")
    errors = results.table(label, metric)["se"]
    rows = []
    wide: Any
    for system in results.among(systems):
        quantity, wide = results[system, label, str(metric)], both.loc[system]
        spread = f"{defined(wide['low'], '.4f')} to {defined(wide['high'], '.4f')}"
        value = defined(quantity.value, ".4f")
        times = defined(wide["se"] / (errors[system] or np.nan), ".1f")
        rows.append((plain(system), value, interval_text(quantity), spread, times))
    head = ("system", str(metric), "95 % interval, users", "users and items", "times as wide")
    return markdown_table(head, rows)


def crossed_sentence(results: Results, label: str, metric: Metric | str) -> str:
    """Say by how much items, resampled beside users, widen the intervals of all systems."""
    matches = (results.crossed["label"] == label) & (results.crossed["metric"] == str(metric))
    both = results.crossed[matches].set_index("system")["se"]
    times = (both / results.table(label, metric)["se"].replace(0, np.nan)).dropna().sort_values()
    if times.empty:
        return "No value differs between resamples of the users, so that no interval can widen."
    return (
        f"Resampling items as well takes the interval of {plain(str(times.index[0]))} to "
        f"{defined(times.iloc[0], '.1f')} times its width, and that of "
        f"{plain(str(times.index[-1]))} to {defined(times.iloc[-1], '.1f')} times."
    )


def paired_tests_table(
    results: Results,
    columns: Mapping[str, tuple[str, Metric | str, str]],
    *,
    systems: Sequence[str],
) -> str:
    """Lay out the paired tests of some systems: differences with their intervals, and p-values."""
    tests = results.tests
    tests = tests[tests["a"].isin(systems) & tests["b"].isin(systems)]
    tables = []
    for label, metric, unit in columns.values():
        matches = (tests["label"] == label) & (tests["metric"] == str(metric))
        tables.append(tests[matches & (tests["unit"] == unit)].set_index(["a", "b"]))
    rows = []
    for pair in tables[0].index:
        pair_rows = [table.loc[pair] for table in tables]
        name = f"{plain(pair[0])} - {plain(pair[1])}"
        turned = {bool(row["difference"] > 0) for row in pair_rows if row["difference"]} == _BOTH
        cells = [_difference(row) for row in pair_rows]
        rows.append((f"**{name}**" if turned else name, *cells))
    return markdown_table(("difference of", *columns), rows)


_BOTH = {True, False}
_SPACE = "\N{NO-BREAK SPACE}"


def _difference(row: pd.Series) -> str:
    """Write a difference with its interval and p, neither of them over two lines."""
    p, half = row["wilcoxon_p"], (row["high"] - row["low"]) / 2
    p_text = f"p = {p:.0e}" if p < 0.001 else f"p = {p:.2g}"
    if p < 1e-99:
        p_text = "p < 1e-99"
    difference = f"{defined(row['difference'], '+.4f')} ± {defined(half, '.4f')}".replace(
        "-", "\N{MINUS SIGN}"
    )
    p_text = p_text.replace("e-", f"e{_NO_BREAK}")
    return f"{difference}, {p_text}".replace(" ", _SPACE).replace(f",{_SPACE}", ", ")


_NO_BREAK = "\N{NON-BREAKING HYPHEN}"


def methods_sentence(results: Results, label: str, name: str = "P") -> str:
    """Write what a paper has to say of a value, from the protocol that it was measured by."""
    protocol, metric = results.grid.parsed[label], results.metric(label, name)
    rule = protocol.rule
    every = {"AI": "all items of the catalogue", "TI": "all items that occur in the test data"}
    others = candidates = every[rule.candidates]
    if rule.others == "NN":
        drawn = {"AR": "for each user", "1R": "anew for each run"}
        when = drawn.get(rule.relevant, "once for all runs of a user")
        others = f"{rule.n_sampled:,} items drawn {when} from {candidates}"
        others += ", by their number of training ratings" if rule.drawn == "popularity" else ""
    elif "t" in (given := dict(metric.given)):
        others = f"{given['t'] - 1:,} non-relevant items drawn from {candidates}, in expectation "
        others += "over all draws"
    ranked = f"For each user we rank their relevant test items together with {others}"
    if rule.per_run:
        ranked = f"For each relevant test item of a user we rank this item together with {others}"
    if protocol.condensed:
        ranked = "For each user we rank the items that they rated in the test data, and no other"
    if protocol.unscored != "none":
        ranked += f"; what a system cannot score comes last, {_LAST[protocol.unscored]}"
    over = _OVER[protocol.averaging.population]
    liked = exact(protocol.min_rating)
    counted = (
        f"Relevant are ratings of {liked} or more; whatever else is ranked counts as non-relevant, "
        "unrated or not."
    )
    if metric.name == "antiP" and not metric.given:
        counted = (
            f"{metric} is the share of the first {metric.cutoff} items that the user rated below "
            f"{liked} in the test data: unrated items are neither hits nor misses, and lower is "
            "better. "
        )
        counted += (
            "Users without a list are left out."
            if protocol.average.coverage
            else "Who has no list counts as 0, the best value, so that coverage stands beside it."
        )
    text = (
        f"{ranked}; items that the user rated in training are left out. {counted} {metric} is "
        f"averaged {over}, and over the {_folds(results.grid.split)} of the split "
        f"`{results.grid.split}` (protocol `{protocol}`)."
    )
    if rule.per_run:
        text += " Intervals resample users, each with all their runs."
    if rule.per_run and metric.cutoff and name == "P":
        text += f" No value can exceed {1 / metric.cutoff:g}."
    if "Random" in results.systems:
        by_chance = results["Random", label, str(metric)].value
        text += f" A random ranking scores {defined(by_chance, '.4f')}"
        if "Popularity" in results.systems:
            popular = results["Popularity", label, str(metric)].value
            text += f", Popularity {defined(popular, '.4f')}"
        text += "."
    return f"> {text}"


def _folds(split: str) -> str:
    """Name what a split has several of: draws of a uniform test are no parts of one whole."""
    rule = SplitRule.parse(split)
    if not rule.folds_are_draws:
        return "folds"
    return "draws, which know nothing of each other," if rule.draws else "one draw"


_LAST = {
    "random": "in random order",
    "popularity": "by its number of training ratings",
    "average-rating": "by its mean training rating",
}
"""In which order items stand that have no score, by the policy of a protocol."""

_OVER = {
    "all": "over all users, those without a relevant test item counting as 0",
    "tested": "over users with test ratings",
    "relevant": "over users with a relevant test item",
    "runs": "over relevant test items (runs), so that users weigh as many as they have",
    "groups": "over groups of items",
}
"""What a mean is over, by the population of a protocol."""


def options_details(results: Mapping[str, StoredResult]) -> str:
    """Print behind a click from which options the values of a page can be repeated."""
    printed: dict[str, dict[str, dict[str, None]]] = {}
    folds = []
    for name, result in results.items():
        labels = _options_by_label(result)
        if not labels:
            continue
        n_options = sum(map(len, labels.values()))
        alike = [other for other, theirs in printed.items() if theirs == labels]
        if alike:
            folds.append(f"<p>{escape(name)} ({n_options}): those of {escape(alike[0])}</p>")
            continue
        printed[name] = labels
        rows = [
            f"<li>{escape(label)}: {_compact(list(options))}</li>"
            for label, options in labels.items()
        ]
        folds.append(f"<p>{escape(name)} ({n_options}):</p><ul>{''.join(rows)}</ul>")
    if not folds:
        return ""
    return (
        '<details class="options"><summary>Options from which the runs behind these results of the '
        f"page can be repeated</summary>{''.join(folds)}</details>"
    )


def _options_by_label(result: StoredResult) -> dict[str, dict[str, None]]:
    """List the options of a result, each once: of its grids, and those that its rows name."""
    grids: Iterable[Grid] = ()
    if isinstance(result, Results):
        grids = (result.grid,)
    elif isinstance(result, Made):
        grids = result.grids
    labels: dict[str, dict[str, None]] = {}
    for grid in grids:
        for (label, _), options in options_of(grid).items():
            labels.setdefault(label, {})[str(options)] = None
    if labels and isinstance(result, Table) and "options" in result.frame:
        # Grids know no paired tests: rows that differ in these have options of their own.
        labels.setdefault("options", {}).update(dict.fromkeys(result.frame["options"]))
    return labels


def _compact(texts: Sequence[str]) -> str:
    first, instead = compact(texts)
    words = f"<code>{escape(first)}</code>"
    for place, parts in enumerate(instead):
        listed = ", ".join(f"<code>{escape(part)}</code>" for part in parts)
        words += f"; {'each of these' if place else 'the same'} with {listed}"
    return words


def task_table() -> str:
    """Lay out how BCC17 transposes ad-hoc retrieval to recommendation, its Table 1.

    References
    ----------
    BCC17 Sec. 2, Table 1.

    Examples
    --------
    >>> print(task_table().splitlines()[6])
    | ground truth | relevance judgments | test ratings |
    """
    (table,) = (claim for claim in claims() if claim.id == "BCC17-T1")
    rows = [(name, *cells.split(" | ")) for name, cells in table.values.items()]
    return markdown_table(("", "ad-hoc retrieval", "recommendation"), rows)


def claims_of(topic: str) -> str:
    """List the claims of a chapter behind a click."""
    listed = [claim for claim in claims() if claim.topic == topic]
    rows = [
        (escape(each.id), escape(each.where), each.counts_as, typeset(each.text)) for each in listed
    ]
    n_claims = sum(bool(claim.asserts) for claim in listed)
    apart = f", and {len(listed) - n_claims} with {NO_ASSERTION}" if n_claims < len(listed) else ""
    return (
        f"<details><summary>The {n_claims} claims of this chapter{apart}</summary>"
        + table_html(("claim", "where", "class", "what it says"), rows, style="")
        + "</details>"
    )
