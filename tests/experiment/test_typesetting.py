"""Tables for a paper, read back: LaTeX by a small parser of its own, Markdown by markdown-it."""

import dataclasses
import re
from itertools import combinations

import numpy as np
import pytest
from markdown_it import MarkdownIt
from scipy import stats

import golden
from recbias import Grid, System, run
from recbias.experiment.typesetting import latex_text, markdown_text

UGLY = (
    r"50 % of $\alpha$_1 & {x}^2 # ~",
    '[best] *of* <all> | `a` "b" \\',
    "plain",
    "Random",
)
PROTOCOLS = {"A_R & co": "TI-AN-AR rel>=5", "1R": "TI-NN-1R t=20 rel>=5"}
METRICS = {"A_R & co": ("P@10", "antiP@10", "Gini@10"), "1R": ("P@10",)}


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory):
    patch = pytest.MonkeyPatch()
    folder = tmp_path_factory.mktemp("tables")
    patch.setenv("RECBIAS_CELLS", str(folder / "cells"))
    patch.delenv("RECBIAS_DATA", raising=False)
    yield folder
    patch.undo()


@pytest.fixture(scope="module")
def results(folder):
    systems = (
        System(UGLY[0], "Popularity"),
        System(UGLY[1], "ImplicitItemCosine"),
        System(UGLY[2], "AverageRating"),
        System(UGLY[3], "Random"),
    )
    table = str(golden.small_table(folder))
    return run(Grid(table, systems, PROTOCOLS, METRICS, split="k-fold 3", seed=5))


SIGNS = {
    "textbackslash": "\\", "textasciitilde": "~", "textasciicircum": "^", "textless": "<",
    "textgreater": ">", "textbar": "|", "textquotedbl": '"',
}  # fmt: skip


def plain(tex):
    """Read text as LaTeX would print it; refuse what it would stumble over."""
    depth, text, place = 0, "", 0
    while place < len(tex):
        sign = tex[place]
        place += 1
        if sign == "\\":
            name = re.match(r"[a-zA-Z]+|[&%$#_{}]", tex[place:])
            assert name, f"no command at {tex[place:]!r}"
            place += len(name[0])
            if len(name[0]) > 1 or name[0].isalpha():
                assert tex[place : place + 2] == "{}", f"{name[0]} eats what follows"
                place += 2
                text += SIGNS[name[0]]
            else:
                text += name[0]
        elif sign in "{}":
            depth += 1 if sign == "{" else -1
            assert depth >= 0, "a brace too many"
        else:
            assert sign not in '&%$#_~^<>|"', f"{sign} is not escaped"
            text += sign
    assert depth == 0, "a brace is open"
    return text


def cells_of(tex):
    """Read rows of a tabular: system, then value, whether it is bold, whether it is marked."""
    body = tex.split(r"\midrule")[1].split(r"\bottomrule")[0]
    rows = []
    for line in body.strip().split("\n"):
        assert line.endswith(r" \\")
        name, *cells = re.split(r" (?<!\\)& ", line.removesuffix(r" \\"))
        assert not name.startswith(("[", "*"))  # an argument of the end of the row before
        row = [plain(name)]
        for cell in cells:
            form = r"(\\textbf\{)?(-?[\d.]+|--)(\})?(\\rlap\{\$\^\{\\dagger\}\$\})?"
            match = re.fullmatch(form, cell)
            assert match, cell
            assert bool(match[1]) == bool(match[3])
            row.append((match[2], bool(match[1]), bool(match[4])))
        rows.append(row)
    return rows


def test_latex_is_read_back_as_what_the_results_hold(results):
    tex = results.to_latex()
    assert [plain(line) for line in re.findall(r"\\caption\{(.*)\}\n", tex.replace(
        r"$^{\dagger}$", "dagger"))]  # fmt: skip
    for name in ("table", "tabular"):
        assert tex.count(rf"\begin{{{name}}}") == tex.count(rf"\end{{{name}}}") == 1
    assert r"\begin{tabular}{lrrrr}" in tex
    heads = re.findall(r"\\multicolumn\{(\d)\}\{c\}\{(.*?)\}(?= &| \\)", tex)
    assert [(int(size), plain(label)) for size, label in heads] == [(3, "A_R & co"), (1, "1R")]
    assert r"\cmidrule(lr){2-4} \cmidrule(lr){5-5}" in tex
    rows = cells_of(tex)
    columns = [(label, metric) for label in METRICS for metric in METRICS[label]]
    assert [row[0] for row in rows] == [" ".join(name.split()) for name in UGLY]
    for place, (label, metric) in enumerate(columns):
        values = [results[name, label, metric].value for name in UGLY]
        cells = [row[1 + place] for row in rows]
        assert [text for text, _, _ in cells] == [f"{value:.4f}" for value in values]
        best = {"antiP@10": min(values), "Gini@10": None}.get(metric, max(values))
        assert [bold for _, bold, _ in cells] == [value == best for value in values]
        if best is None:
            assert not any(marked for *_, marked in cells)


def holm_by_hand(p):
    """Multiply the i-th smallest by what is left, never below the one before."""
    order, corrected, least = sorted(range(len(p)), key=p.__getitem__), {}, 0.0
    for place, which in enumerate(order):
        least = max(least, min(1.0, p[which] * (len(p) - place)))
        corrected[which] = least
    return [corrected[which] for which in range(len(p))]


def marked_by_hand(results, label, metric, pairs, reference, level):
    users = results.per_user(metric, label).pivot(index="user_id", columns="system", values="value")
    users = users.dropna()
    p = holm_by_hand([stats.ttest_rel(users[a], users[b]).pvalue for a, b in pairs])
    return {
        name
        for pair, corrected in zip(pairs, p, strict=True)
        for name in pair
        if reference in pair and name != reference and corrected < level
    }


@pytest.mark.parametrize("level", [0.05, 1e-6, 1e-30])
@pytest.mark.parametrize("baseline", [None, UGLY[2]])
def test_marks_are_those_of_corrected_tests(results, baseline, level):
    tex = results.to_latex("P@10", baseline=baseline, level=level)
    rows = cells_of(tex)
    for place, label in enumerate(PROTOCOLS):
        values = {name: results[name, label, "P@10"].value for name in UGLY}
        reference = baseline or max(values, key=values.__getitem__)
        pairs = list(combinations(UGLY, 2))
        if baseline:
            pairs = [(name, baseline) for name in UGLY if name != baseline]
        expected = marked_by_hand(results, label, "P@10", pairs, reference, level)
        given = {UGLY[row] for row, cells in enumerate(rows) if cells[1 + place][2]}
        assert given == expected
    assert f"at the level {level:g}" in tex
    assert f"over the {len(pairs)} pairs of a column" in tex


def test_a_caption_says_what_was_done(results):
    text = results.to_markdown(baseline="plain").rpartition("\n")[2]
    for part in (
        "small.csv: 120 users, {n_items:,} items, {n_ratings:,} ratings".format(**results.dataset),
        "; split k-fold 3, seed 5. ",
        r"A\_R \& co is TI-AN-AR rel\>=5; 1R is TI-NN-1R t=20 rel\>=5",
        "Bold: the best value of a column",
        "differs from plain at the level 0.05",
        "paired t, ", " to 120 users (P@10, antiP@10)", "resampled users, 120 users (Gini@10)",
        "p corrected by Holm's method over the 3 pairs of a column",
        "Values under 1R are means over runs, and tests compare users' means of runs.",
    ):  # fmt: skip
        assert part in text, part
    silent = results.to_markdown(test=None)
    assert "Test" not in silent
    assert "†" not in silent
    alone = results.to_markdown("P@10", "1R", test="wilcoxon")
    assert "Protocol" in alone
    assert "signed ranks" in alone


def test_markdown_is_read_back_as_what_the_results_hold(results):
    text = results.to_markdown(digits=3)
    html = MarkdownIt("commonmark").enable("table").render(text)
    rows = re.findall(r"<tr>(.*?)</tr>", html, re.DOTALL)
    cells = [re.findall(r"<t[hd].*?>(.*?)</t[hd]>", row, re.DOTALL) for row in rows]
    assert [len(row) for row in cells] == [5] * 5
    assert cells[0][1] == "P@10, A_R &amp; co"
    for name, row in zip(UGLY, cells[1:], strict=True):
        shown = row[0]
        for entity, sign in (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&amp;", "&")):
            shown = shown.replace(entity, sign)
        assert shown == " ".join(name.split())
        value = results[name, "A_R & co", "P@10"].value
        assert re.sub("<.*?>|†", "", row[1]) == f"{value:.3f}"
    assert html.count("<table>") == 1
    assert sum("<strong>" in cell for row in cells for cell in row) == 3


def test_values_that_are_not_defined_are_dashes(results):
    row = results._rows["plain", "1R", "P@10"]
    values = results.values.copy()
    values.loc[row, "value"] = np.nan
    tex = dataclasses.replace(results, values=values).to_latex("P@10", "1R", test=None)
    assert cells_of(tex)[2][1] == ("--", False, False)


@pytest.mark.parametrize("broken", ["a_b", "50 %", "a & b", r"\textless b", "{", "}", "x^2", "$x"])
def test_the_parser_refuses_what_latex_would(broken):
    with pytest.raises((AssertionError, KeyError)):
        plain(broken)
    assert plain(latex_text(broken)) == broken
    inline = MarkdownIt("commonmark").renderInline(markdown_text(broken))
    assert inline.replace("&amp;", "&") == broken


def test_no_system_that_is_best_is_marked(results):
    """Two may share the best value and differ by a test that does not go by means."""
    table = results._table(None, None, baseline=None, test="sign", level=0.999, digits=4)
    assert any(column.marked for column in table.columns)
    for column in table.columns:
        assert not column.marked & column.best
