"""Write the tables of ``book/toolkits.md`` from ``benchmarks/toolkits`` and ``item_knn.csv``.

``python benchmarks/toolkits_page.py`` renews everything between ``% begin NAME`` and ``% end``; a
test fails where the page differs from it.
"""

import csv
import re
from functools import cache
from pathlib import Path

from recbias import reconcile
from recbias.metrics.conventions import (
    QUESTIONS,
    RunAndJudgments,
    departures,
    in_words,
    reconcile_values,
)

ROOT = Path(__file__).parents[1]
FOLDER, PAGE = ROOT / "benchmarks" / "toolkits", ROOT / "book" / "toolkits.md"
SHOWN = {
    "plain": ("P@3", "R@3", "HR@3", "AP@3", "nDCG@3"),
    "graded": ("nDCG@3",),
    "short": ("P@3", "AP@3"),
    "missing": ("P@3",),
    "barren": ("P@3", "R@3"),
    "tied": ("nDCG@3",),
}
"""Metrics of each list that the page shows: where values differ that do not on those before it."""


def recorded():
    """Read all recorded rows, toolkit by toolkit."""
    texts = (path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.csv")))
    return [row for text in texts for row in csv.DictReader(text.splitlines())]


@cache
def ways(name, metric):
    """Compute a metric of a list in all ways."""
    files = (FOLDER / "lists" / f"{name}.{kind}" for kind in ("run", "qrels"))
    return reconcile(*files, metrics=(metric,))[0]


def convention(row):
    """Say in words what gives a recorded value: the way with the fewest departures."""
    found = ways(row["list"], row["metric"]).explain(row["value"])
    if not found.explained:
        return "none of ours"
    fewest = len(departures(found.explained[0], found.ours))
    told = [
        "; ".join(in_words(*pair) for pair in departures(way, found.ours)) or "as here"
        for way in found.explained
        if len(departures(way, found.ours)) == fewest
    ]
    return " *or* ".join(told)


def table(head, rows):
    """Write a table of Markdown."""
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def values_table(name):
    """List the values of a list, those that are equal in one row, ours first."""
    rows = []
    for metric in SHOWN[name]:
        groups = {}
        for row in recorded():
            if (row["list"], row["metric"]) == (name, metric) and row["value"]:
                told = round(float(row["value"]), 6), convention(row)
                call = re.sub(r"@3|_3$|\((k=|n=)?3\)$", "", row["call"])
                call = re.sub(r"\((k=|n=)?3, ", "(", call)
                groups.setdefault(told, []).append(f"{row['toolkit']} `{call}`")
        ours = round(ways(name, metric).value, 6)
        for (value, words), calls in sorted(
            groups.items(), key=lambda group: (group[0][0] != ours, group[0])
        ):
            rows.append((metric, f"{value:.4f}", words, ", ".join(calls)))
    return table(("metric", "value", "convention", "who"), rows)


def said(of):
    """Write lists or judgments of users in a line."""
    return "; ".join(
        f"{user}: "
        + ", ".join(item if grade is None else f"{item} {grade:g}" for item, grade in row)
        for user, row in of.items()
    )


def example(name):
    """Write the worked example of a question: lists, judgments, and the value of each choice."""
    question = QUESTIONS[name]
    metric, run, judgments = question.example
    (found,) = reconcile_values(RunAndJudgments.of(run, judgments), [metric])
    has_ties = name == "ties"
    lists = {u: [(i, s if has_ties else None) for i, s in of.items()] for u, of in run.items()}
    single = found.single()
    rows = [(in_words(name, found.ours[name]), f"{found.value:.4f}")]
    rows += [
        (row.meaning, f"{row.value:.4f}") for row in single.itertuples() if row.question == name
    ]
    grades = said({user: list(of.items()) for user, of in judgments.items()})
    heard = "Lists with scores" if has_ties else "Lists, best first"
    return f"{heard}: {said(lists)}. Grades: {grades}.\n\n" + table(("choice", metric), rows)


def versions():
    """List the toolkits with version and date."""
    known = {(row["toolkit"], row["version"], row["date"]) for row in recorded()}
    return table(("toolkit", "version", "run on"), sorted(known, key=lambda row: row[0].lower()))


def explained():
    """Count recorded values by what explains them."""
    rows = [row for row in recorded() if row["value"]]
    words = [convention(row) for row in rows]
    none, same = words.count("none of ours"), words.count("as here")
    return (
        f"Of {len(rows)} recorded values {same} are what this package says, "
        f"{len(rows) - same - none} are explained by other conventions, and {none} by none of ours."
    )


NEIGHBOURS = {"kept": "as RecBole", "profile": "as LensKit"}
WORDS = {
    "": "as here",
    "discount:base 2": "discount log2(rank)",
    "ideal:uncut": "ideal list not cut",
    "discount:base 2 ideal:uncut": "both",
    "divisor:capped": "divided by min(k, relevant items)",
}


def two_knns():
    """Read ``item_knn.csv``: values by data set, neighbours, metric and convention."""
    text = (ROOT / "benchmarks" / "item_knn.csv").read_text(encoding="utf-8")
    return {
        (row["dataset"], row["neighbours"], row["metric"], row["convention"]): float(row["value"])
        for row in csv.DictReader(text.splitlines())
    }


def knn_table():
    """List the values of both item kNNs, and what each change makes of the first of a metric."""
    values = two_knns()
    names = list(dict.fromkeys(name for name, *_ in values))
    rows = []
    for neighbours, metric, convention in dict.fromkeys(key[1:] for key in values):
        cells = []
        for name in names:
            value = values[name, neighbours, metric, convention]
            first = values[name, "kept", metric, ""]
            change = "" if value == first else f" ({100 * (value / first - 1):+.0f} %)"
            cells.append(f"{value:.4f}{change}")
        rows.append((metric, NEIGHBOURS[neighbours], WORDS[convention], *cells))
    rows.sort(key=lambda row: ("nDCG@10", "P@10", "R@10").index(row[0]))
    return table(("metric", "neighbours", "metric's convention", *names), rows)


def knn_ratios():
    """Say by how much the one is ahead of the other in the three ways that matter."""
    values = two_knns()
    names = list(dict.fromkeys(name for name, *_ in values))

    def ahead(metric, theirs, of="profile"):
        found = [
            100 * (values[name, "kept", metric, ""] / values[name, of, metric, theirs] - 1)
            for name in names
        ]
        return f"{min(found):+.0f} to {max(found):+.0f} %"

    rows = [
        ("nDCG@10", "as RecBole's", ahead("nDCG@10", "")),
        ("nDCG@10", "LensKit's, with `k=10`", ahead("nDCG@10", "discount:base 2")),
        ("nDCG@10", "LensKit's, without `k`", ahead("nDCG@10", "discount:base 2 ideal:uncut")),
        ("P@10", "the same in both", ahead("P@10", "")),
        ("R@10", "LensKit's, without `k`", ahead("R@10", "")),
        ("R@10", "LensKit's, with `k=10`", ahead("R@10", "divisor:capped")),
        ("R@10", "the same, of the same lists", ahead("R@10", "divisor:capped", "kept")),
    ]
    return table(("metric", "LensKit's lists measured by", "RecBole's are ahead by"), rows)


def parts():
    """Write everything on the page that is computed, by its name."""
    made = {"versions": versions(), "explained": explained()}
    made |= {"two knns": knn_table(), "two knns ahead": knn_ratios()}
    made |= {f"values {name}": values_table(name) for name in SHOWN}
    return made | {f"example {name}": example(name) for name in QUESTIONS}


def page(text):
    """Renew what is computed in the text of the page."""
    made = parts()
    pattern = re.compile(r"(?<=^% begin )(?P<name>[a-z ]+)\n.*?(?=^% end$)", re.M | re.S)
    if lacking := set(made) ^ {match["name"] for match in pattern.finditer(text)}:
        raise ValueError(f"the page and what is computed differ in {', '.join(sorted(lacking))}")
    return pattern.sub(lambda match: f"{match['name']}\n\n{made[match['name']]}\n\n", text)


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
