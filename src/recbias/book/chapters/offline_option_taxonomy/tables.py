"""Tables of chapter 7, as its page shows them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from recbias.book.chapters.offline_option_taxonomy.decisions import NOISE, alternative_name
from recbias.book.chapters.offline_option_taxonomy.setup import (
    KNN,
    READINGS,
    SYSTEMS,
    cell_metrics,
    stars_merged,
)
from recbias.book.chapters.offline_option_taxonomy.truths import (
    COMMONEST,
    compare_with_rivals,
    shares_of,
)
from recbias.book.findings import said
from recbias.book.html import folded, interval_text, markdown_table, plain
from recbias.claims.judging import load_chapter
from recbias.claims.quantities import over_worlds
from recbias.claims.regions import defined
from recbias.experiment.decisions import (
    CHOICES,
    DECISIONS,
    PAPERS,
    decisions_table,
    methods_paragraph,
)
from recbias.experiment.makers import Table
from recbias.experiment.options import Options
from recbias.experiment.results import Quantity
from recbias.experiment.run import Results

_SPACE = "\N{NO-BREAK SPACE}"
_MINUS = "\N{MINUS SIGN}"
_HYPHEN = "\N{NON-BREAKING HYPHEN}"


def p_text(p: float) -> str:
    """Write a p value in two digits, on one line.

    Examples
    --------
    >>> p_text(0.0312), p_text(float("nan"))
    ('0.031', '–')
    """
    if np.isnan(p):
        return "–"
    if p < 1e-99:
        return f"<{_SPACE}1e{_HYPHEN}99"
    return f"{p:.2g}" if p >= 0.001 else f"{p:.0e}".replace("-", _HYPHEN)


def _signed(value: float) -> str:
    """Write a difference with its sign, or a dash for none."""
    return "–" if np.isnan(value) else f"{value:+.4f}".replace("-", _MINUS)


def start_table(systems: Results) -> str:
    """Write what the two systems have under the starting configuration (Table 2)."""
    metrics = ("P@10", "nDCG@10")
    rows = [
        (
            plain(name),
            *(
                f"{quantity.value:.4f} ({interval_text(quantity)})"
                for quantity in (systems[name, "full", metric] for metric in metrics)
            ),
        )
        for name in SYSTEMS
    ]
    tests = systems.tests[systems.tests["unit"] == "user"]
    p_values = tests.set_index(["label", "metric", "a", "b"])["t_p"]
    for rival in READINGS:
        cells = []
        for metric in metrics:
            gap = systems[KNN, "full", metric] - systems[rival, "full", metric]
            interval = interval_text(gap, "+.4f").replace("-", _MINUS)
            p = p_text(float(p_values["full", metric, KNN, rival]))
            cells.append(f"{_signed(gap.value)} ({interval}), p: {p}")
        rows.append((f"*{plain(KNN)} {_MINUS} {plain(rival)}*", *cells))
    return markdown_table(("", *metrics), rows)


# -- the cells of Tables 3 and 4 -------------------------------------------------------------------

_LISTS: Mapping[str, str] = {
    "full": "full lists",
    "condensed": "condensed lists",
    "by ratings": "weighted by ratings",
    "by positives": "weighted by likes",
    "geometric": "geometric mean",
}


def cells_frame(cells: Table, labels: tuple[str, ...]) -> pd.DataFrame:
    """Lay out cells of Tables 3 and 4 at the first split."""
    frame = cells.frame
    first = frame[frame["seed"] == frame["seed"].min()]
    indexed = first.set_index(["label", "metric", "system"])
    rows = {
        (label, metric): {
            "knn": indexed.loc[(label, metric, READINGS[0]), "knn"],
            **{
                f"{rival}{suffix}": indexed.loc[(label, metric, rival), column]
                for rival in READINGS
                for suffix, column in (("", "mf"), (" gap", "value"), (" p", "p"))
            },
        }
        for label in labels
        for metric in cell_metrics()[label]
        if (label, metric, READINGS[0]) in indexed.index
    }
    table = pd.DataFrame.from_dict(rows, orient="index")
    return table.rename_axis(["label", "metric"])


def cells_table(frame: pd.DataFrame) -> str:
    """Write cells of Tables 3 and 4."""
    rows = []
    last = ""
    names = zip(*(frame.index.get_level_values(n) for n in range(2)), strict=True)
    for (label, metric), row in zip(names, frame.to_dict("records"), strict=True):
        cells = []
        for rival in READINGS:
            gap, p = _signed(row[f"{rival} gap"]), row[f"{rival} p"]
            cells.append(f"{f'**{gap}**' if p < _LEVEL else gap} ({p_text(p)})")
        name = plain(metric) if label == last else f"*{_LISTS[label]}:* {plain(metric)}"
        rows.append((name, defined(row["knn"], ".4f"), *cells))
        last = label
    head = (f"{_MINUS} {plain(rival)} (p)" for rival in READINGS)
    return markdown_table(("", "kNN", *head), rows)


_LEVEL = 0.05


_AVERAGES: Mapping[str, str] = {
    "full": "mean over users",
    "by ratings": "weighted by number of test ratings",
    "by positives": "weighted by number of likes",
    "geometric": "geometric mean",
    "median": "median",
}


def averages_table(systems: Results, cells: Table) -> str:
    """Write what each aggregation over users makes of the same values (Table 4)."""
    metrics = ("P@10", "nDCG@10")
    rows = []
    for label, words in _AVERAGES.items():
        row = [words]
        for metric in metrics:
            row.append(defined(systems[KNN, label, metric].value, ".4f"))
            for rival in READINGS:
                gap = (
                    cell_gap(cells, label, metric, rival)
                    if label == "geometric"
                    else systems[KNN, label, metric] - systems[rival, label, metric]
                )
                low, high = gap.interval
                signed = _signed(gap.value)
                row.append(f"**{signed}**" if low > 0 or high < 0 else signed)
        rows.append(row)
    head = [
        title
        for metric in metrics
        for title in (f"{metric}, kNN", *(f"{_MINUS} {plain(rival)}" for rival in READINGS))
    ]
    return markdown_table(("", *head), rows)


def refused_table(refused: Table) -> str:
    """Write who is refused as more items in common are asked for, and how MF serves them."""
    frame = refused.frame[refused.frame["system"] == READINGS[0]].sort_values("overlap")
    rows = []
    for row in frame.to_dict("records"):
        numbers = ("tests_served", "tests_refused", "mf_served", "mf_refused")
        texts = [
            "–" if np.isnan(row[name]) else f"{row[name]:.{1 if 'tests' in name else 3}f}"
            for name in numbers
        ]
        gain = _signed(row["gain"])
        counts = f"{row['n_served']:,.0f} / {row['n_refused']:,.0f}"
        pairs = (f"{texts[0]} / {texts[1]}", f"{texts[2]} / {texts[3]}")
        rows.append((f"{row['overlap']}", counts, *pairs, gain))
    head = ("overlap", "users served / refused", "their test ratings", "their P@10 by MF")
    return markdown_table((*head, "kNN's gain on the served, from overlap 1"), rows)


_DECIDED: Mapping[str, str] = {
    "A2": "how ratings are split",
    "B1": "who is asked",
    "C1": "what is ranked",
    "C2": "what a list is worth",
    "C2C": "what a condensed list is worth",
    "C3": "how users are averaged",
}
"""What is decided, in words, by the groups of rows of the first figure."""


def deciding(rows: pd.DataFrame) -> str:
    """Say which decisions of the rows of `configurations` turn the winner, and to whom.

    Examples
    --------
    >>> ends = {"low": [-1, 1, -3, -1], "high": [1, 3, -1, 1]}
    >>> print(deciding(pd.DataFrame({"group": ["start", "A2", "A2", "C1"], **ends})))
    How ratings are split (A2) can make either win.
    """
    if rows["low"].isna().all():
        return "That is open here: MF was trained once, and nobody knows its luck."
    signs = np.sign(rows["low"]).where(rows["low"] * rows["high"] > 0, 0)
    by_group = {group: set(own) - {0.0} for group, own in signs.groupby(rows["group"], sort=False)}
    before = by_group.pop("start", set())
    turned = {group: won - before for group, won in by_group.items()}
    told = []
    for winners, whom in (({1.0, -1.0}, "either"), ({1.0}, "kNN"), ({-1.0}, "MF")):
        names = [f"{_DECIDED[group]} ({group})" for group, won in turned.items() if won == winners]
        if names:
            told.append(f"{' and '.join(names)} can make {whom} win")
    ahead = next((name for sign, name in ((1.0, "kNN"), (-1.0, "MF")) if sign in before), "nobody")
    if told:
        text = "; ".join(told)
        start = "" if ahead == "nobody" else f"{ahead} is ahead at the start; "
        return f"{start}{text}." if start else f"{text[0].upper()}{text[1:]}."
    doubt = "" if ahead == "nobody" or (signs != 0).all() else ", or nobody is for certain"
    return f"None of these alone: {ahead} is ahead{doubt}, whichever is taken."


def turning_most(decisions: Table, column: str) -> str:
    """Name the alternative that is first by a column of `decisions`, as its figure does."""
    frame = decisions.frame[~decisions.frame["decision"].isin((NOISE, "D"))]
    most = max(frame.to_dict("records"), key=lambda row: row[column])
    return alternative_name(most["decision"], most["option"])


def reversals_table(decisions: Table) -> str:
    """Write what each alternative to the default does to the pairs of systems."""
    rows = [
        (
            plain(alternative_name(row["decision"], row["option"])),
            *(
                (*["–"] * 4, "not testable (merged stars)")
                if untold
                else (
                    f"{row['resolved_other']:.0f}",
                    f"{row['turned']:.0f}",
                    f"{row['reversed']:.0f}",
                    f"{row['significance']:.0f}",
                    f"{row['survives']:.4f}; {row['effect']:.2f}"
                    if row["turned"]
                    else _not_turned(row),
                )
            ),
        )
        for row, untold in zip(
            decisions.frame.to_dict("records"), untold_by_merged(decisions), strict=True
        )
    ]
    head = ("", "resolved", "sign turned", "reversed", "significance changed")
    return markdown_table((*head, "largest turned; in s.d."), rows)


def untold_by_merged(decisions: Table) -> list[bool]:
    """Mark the alternatives that tell apart the stars that the data may have merged."""
    frame = decisions.frame
    if not stars_merged(decisions.dataset):
        return [False] * len(frame)
    # A threshold among the merged stars is the same evaluation; one above them is not.
    same = frame["option"].str.startswith("liked from ") & (frame["moved"] == 0)
    return (same | frame["option"].isin(_GRADED)).tolist()


_GRADED = ("nDCG(exp)@10", "tau", "RBO(0.9)")
"""Options of `decisions` that read by how many stars two ratings differ, or which is higher."""


def _not_turned(row: Mapping[Any, Any]) -> str:
    """Say whether an alternative that turns no sign changes any value."""
    return "no effect here" if row["decision"] != "D" and not row["moved"] else "–"


def truths_details(truths: Table | None) -> str:
    """Write about how many pairs of systems each option is right; nothing without judgments."""
    if truths is None:
        return ""
    rows = [
        (
            plain(alternative_name(row["decision"], row["option"])),
            *(f"{row[name]:.0f}" for name in ("resolved", "right", "wrong", "signs")),
        )
        for row in truths.frame.to_dict("records")
    ]
    head = ("", "pairs told apart", "right", "wrong", "right sign")
    note = (
        "*Told apart: pairs of systems, trained under that option, that unbiased judgments resolve "
        "(after Holm). Right, wrong: those of them that the option resolves alike, or the other "
        "way round; right sign: alike, whether resolved or not.*"
    )
    return folded(
        "All alternatives, by people's judgments", f"{markdown_table(head, rows)}\n\n{note}"
    )


_RELATIONS = {1: "popular: liked more", 0: "unrelated", -1: "popular: liked less"}
_WHERE = {
    _RELATIONS[1]: "where popular items are liked more",
    _RELATIONS[0]: "where they are liked as others are",
    _RELATIONS[-1]: "where they are liked less",
}


def worlds_rows(table: Table) -> pd.DataFrame:
    """Say how much better each alternative agrees with the truth than what it departs from."""
    rows = []
    for relation, frame in table.frame.groupby("relation", sort=False):
        line = _RELATIONS[int(np.sign(float(str(relation))))]
        wide = 100 * shares_of(frame, "agreement")
        options = frame.drop_duplicates("option")[["decision", "option"]]
        for decision, option in options.itertuples(index=False):
            if decision in ("D", "the default"):
                continue
            base = "condensed" if decision == "C2C" else "the default"
            gap = over_worlds((wide[option] - wide[base]).dropna().to_numpy(float))
            name = alternative_name(decision, option)
            rows.append((line, decision, name, gap.value, *gap.interval))
    return pd.DataFrame(rows, columns=["line", "group", "row", "value", "low", "high"])


def gains(worlds: Table, alternative: str) -> str:
    """Say by how many points one agrees better with the truth, in each kind of worlds."""
    rows = worlds_rows(worlds)
    own = rows[rows["row"] == alternative]
    return ", ".join(
        f"{value:+.0f}".replace("-", _MINUS) + f" {_WHERE[line]}"
        for line, value in zip(own["line"], own["value"], strict=True)
    )


def worlds_table(worlds: Table) -> str:
    """Write how much better each alternative agrees with the truth, in each kind of worlds."""
    rows = worlds_rows(worlds)
    kinds = list(dict.fromkeys(rows["line"]))
    cells = [
        (plain(str(name)), *(_in_percent(row) for row in own.to_dict("records")))
        for name, own in rows.groupby("row", sort=False)
    ]
    return markdown_table(("", *kinds), cells)


def _in_percent(row: Mapping[Any, Any]) -> str:
    texts = (f"{row[name]:.0f}".replace("-0", "0", 1) for name in ("low", "value", "high"))
    low, value, high = (text.replace("-", _MINUS) for text in texts)
    return f"{value} ({low} to {high})"


def held_table(results: Mapping[str, Any]) -> str:
    """Write about how many pairs full and condensed lists are right, by people's judgments."""
    rows, load = [], cache(load_chapter)
    for data, name in _HELD.items():
        found = []
        for lists in ("DEFAULT", "CONDENSED"):
            told = [
                said(
                    f"own/{name}-{lists}{end}",
                    results,
                    load=load,
                    holds=form,
                    refuted=form,
                    open=form,
                )
                for end, form in (("", "{value:cases}"), ("-WRONG", "{value:cases} of {cases}"))
            ]
            found.append(" / ".join(text or "–" for text in told))
        rows.append((data, *found))
    return markdown_table(("right / wrong pairs", "full lists", "condensed lists"), rows)


_HELD: Mapping[str, str] = {"CM100k": "CM", "Coat": "COAT"}
"""By data set, with what the names of its findings begin."""


def commonest_table(worlds: Table) -> str:
    """Write how the options that most papers took fare against rivals where truth is known."""
    compared = compare_with_rivals(worlds)
    rows = []
    for decision, frame in compared.groupby("decision", sort=False):
        option, text = COMMONEST[str(decision)]
        (choice,) = (entry for entry in CHOICES if (entry.decision, entry.text) == (decision, text))
        sides = {
            "less": frame["low"] > 0,
            "better": frame["high"] < 0,
            "open": (frame["low"] <= 0) & (frame["high"] >= 0),
        }
        rivals = [
            f"{side}: "
            + "; ".join(_option_name(str(decision), rival) for rival in frame["rival"][those])
            for side, those in sides.items()
            if those.any()
        ]
        name = f"{decision} {_option_name(str(decision), option)}"
        right, wrong = (f"{100 * frame[side].iloc[0]:.0f}{_SPACE}%" for side in ("right", "wrong"))
        papers = f"{len(choice.used)} of {len(PAPERS)}"
        rows.append((name, papers, f"{right} / {wrong}", "<br>".join(rivals)))
    head = ("taken most often", "by", "right / wrong", "rivals that agree less or better")
    return markdown_table(head, rows)


def _option_name(decision: str, option: str) -> str:
    name = alternative_name(decision, option).removeprefix(f"{decision} ")
    return plain(_START_NAMES[decision] if name == "the default" else name)


_START_NAMES: Mapping[str, str] = {
    "A2": "random halves",
    "C2": "nDCG@10",
    "C3": "plain mean",
}
"""What the start takes, in decisions of which one option is commonest."""


# -- options as text -------------------------------------------------------------------------------


def methods_quote(options: Options, dataset: Mapping[str, Any]) -> str:
    """Quote the paragraph on methods that follows from options, but for its last sentence."""
    sentences = methods_paragraph(options, dataset)
    return f"> {sentences.rpartition('. ')[0]}."


def options_table() -> str:
    """Write the taxonomy of decisions."""
    rows: list[tuple[str, str, str]] = []
    last = ""
    for choice, option in zip(CHOICES, decisions_table()["option"], strict=True):
        if choice.decision != last:
            rows.append((f"**{choice.decision}**", f"**{DECISIONS[choice.decision]}**", ""))
        text = f"`{option}`" if choice.text or choice.decision != "A1" else "*nothing*"
        used = ", ".join(choice.used)
        rows.append((text.replace("|", r"\|"), f"{choice.means} ({choice.acts})", used or "–"))
        last = choice.decision
    return markdown_table(("in the line", "means (acts on)", "used by"), rows)


def cell_gap(cells: Table, label: str, metric: str, rival: str) -> Quantity:
    """Read kNN - MF of a cell on the first split, where each system is trained once."""
    frame = cells.frame
    rows = frame[frame["seed"] == frame["seed"].min()].set_index(["label", "metric", "system"])
    value, low, high = rows.loc[(label, metric, rival), ["value", "low", "high"]].astype(float)
    return Quantity(value, None, limits=(low, high))
