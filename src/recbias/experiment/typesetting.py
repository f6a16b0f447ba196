"""Tables for a paper: values by system, label and metric, in LaTeX and in Markdown."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from recbias.experiment.pairs import PairTest

__all__ = ["Column", "Table", "latex", "latex_text", "markdown", "markdown_text"]

_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "[": "{[}",  # at the start of a row it would be an argument of what ends the row before
    "]": "{]}",
    "*": "{*}",
    "†": r"$^{\dagger}$",
}
_MARKDOWN = "\\`*_{}[]<>|#~$&"


def latex_text(text: str) -> str:
    r"""Write a text so that LaTeX prints it, on one line.

    Examples
    --------
    >>> print(latex_text("a_b & 50 %"), latex_text("rel>=4 | [x]"))
    a\_b \& 50 \% rel\textgreater{}=4 \textbar{} {[}x{]}
    """
    return "".join(_LATEX.get(sign, sign) for sign in " ".join(text.split()))


def markdown_text(text: str) -> str:
    r"""Write a text so that Markdown prints it, on one line.

    Examples
    --------
    >>> print(markdown_text("a_b | *c*"))
    a\_b \| \*c\*
    """
    return "".join(f"\\{s}" if s in _MARKDOWN else s for s in " ".join(text.split()))


@dataclass(frozen=True)
class Column:
    """Values of one metric under one label, by place of the system; what is best, and marked."""

    label: str
    metric: str
    values: tuple[float, ...]
    best: frozenset[int]
    marked: frozenset[int]
    tests: tuple[PairTest, ...]


@dataclass(frozen=True)
class Table:
    """What a table shows, whatever it is written in."""

    systems: tuple[str, ...]
    columns: tuple[Column, ...]
    protocols: Mapping[str, str]
    about: str
    baseline: str | None
    level: float
    digits: int
    run_labels: tuple[str, ...]

    @property
    def caption(self) -> str:
        """Data, split, seed, protocols, and what bold and daggers mean."""
        sentences = [self.about]
        named = [f"{label} is {text}" for label, text in self.protocols.items() if label != text]
        plain = [text for label, text in self.protocols.items() if label == text]
        if plain and len(self.protocols) == 1:
            sentences.append(f"Protocol: {plain[0]}")
        elif named:
            sentences.append("Protocols: " + "; ".join(named))
        if any(column.best for column in self.columns):
            sentences.append("Bold: the best value of a column")
        tested = [column for column in self.columns if column.tests]
        if tested:
            rival = "the best of the column" if self.baseline is None else self.baseline
            n_pairs = sorted({len(column.tests) for column in tested})
            pairs = "1 pair" if n_pairs == [1] else f"{' or '.join(map(str, n_pairs))} pairs"
            sentences += [
                f"†: differs from {rival} at the level {self.level:g}",
                "Tests: "
                + "; ".join(self._tests(tested))
                + f"; p corrected by Holm's method over the {pairs} of a column",
            ]
            if self.run_labels:
                where = f" under {', '.join(self.run_labels)}" if self.has_labels else ""
                sentences.append(
                    f"Values{where} are means over runs, and tests compare users' means of runs"
                )
        return ". ".join(sentences) + "."

    def _tests(self, tested: Sequence[Column]) -> list[str]:
        """Name each test with the number of its users, and its columns where tests differ."""
        by_name: dict[str, list[Column]] = {}
        for column in tested:
            for name in dict.fromkeys(test.test for test in column.tests):
                by_name.setdefault(name, []).append(column)
        said = []
        for name, columns in by_name.items():
            sizes = [test.n_users for column in columns for test in column.tests]
            least, most = min(sizes), max(sizes)
            users = f"{most:,} users" if least == most else f"{least:,} to {most:,} users"
            where = ", ".join(dict.fromkeys(column.metric for column in columns))
            said.append(f"{name}, {users}" + (f" ({where})" if len(by_name) > 1 else ""))
        return said

    @property
    def has_labels(self) -> bool:
        """Whether columns are of several labels, which then are named."""
        return len(self.protocols) > 1

    def rows(
        self, name: Callable[[str], str], bold: Callable[[str], str], mark: str
    ) -> list[list[str]]:
        """Write the cells, row by row, the name of the system first."""
        return [
            [
                name(system),
                *(
                    (bold(self._number(c.values[place])) if place in c.best else
                     self._number(c.values[place])) + (mark if place in c.marked else "")
                    for c in self.columns
                ),
            ]
            for place, system in enumerate(self.systems)
        ]  # fmt: skip

    def _number(self, value: float) -> str:
        return "--" if np.isnan(value) else f"{value:.{self.digits}f}"


def latex(table: Table) -> str:
    """Write a table in LaTeX; it needs the package booktabs."""
    heads, rules, place = [], [], 2
    for label, group in groupby(table.columns, key=lambda column: column.label):
        size = len(list(group))
        heads.append(rf"\multicolumn{{{size}}}{{c}}{{{latex_text(label)}}}")
        rules.append(rf"\cmidrule(lr){{{place}-{place + size - 1}}}")
        place += size
    above = [" & ".join(["", *heads]) + r" \\", " ".join(rules)] if table.has_labels else []
    metrics = ["System", *(latex_text(column.metric) for column in table.columns)]
    rows = table.rows(latex_text, r"\textbf{{{}}}".format, r"\rlap{$^{\dagger}$}")
    return "\n".join(
        [
            r"% \usepackage{booktabs}",
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{latex_text(table.caption)}}}",
            rf"\begin{{tabular}}{{l{'r' * len(table.columns)}}}",
            r"\toprule",
            *above,
            " & ".join(metrics) + r" \\",
            r"\midrule",
            *(" & ".join(row) + r" \\" for row in rows),
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
        ]
    )


def markdown(table: Table) -> str:
    """Write a table in Markdown, with its caption below."""
    heads = [
        markdown_text(f"{column.metric}, {column.label}" if table.has_labels else column.metric)
        for column in table.columns
    ]
    lines = [
        ["System", *heads],
        *table.rows(markdown_text, "**{}**".format, "†"),
    ]
    head, *rows = (f"| {' | '.join(line)} |" for line in lines)
    rule = f"|:--|{'--:|' * len(heads)}"
    return "\n".join([head, rule, *rows, "", markdown_text(table.caption)])
