"""What pages share: the data line, and tables of protocols, systems, quantities, tests, claims."""

from __future__ import annotations

import ast
import dataclasses

import numpy as np
import pandas as pd
import pytest

from recbias import Grid, Results, line_up
from recbias.book import pages
from recbias.book.html import plain
from recbias.book.notebooks import list_chapters
from recbias.claims import Claim, claims
from recbias.experiment.results import Quantity
from recbias.recommenders import line_up_sources

TESTS = {"thin": "observed removed=30%"}


def results_of(*, tests=None, cutoffs=(10, 10), **changes):
    """Make results without a single value: what these tables are about is beside the values."""
    systems = line_up("bcc17")[:3]
    asked = {"all": "TI-AN-AR rel>=4", "thin": "TI-NN-1R t=100 rel>=4"}
    metrics = {label: (f"P@{cutoff}", "rho") for label, cutoff in zip(asked, cutoffs, strict=True)}
    a, b, c = (system.name for system in systems)
    rows = [
        {"a": one, "b": other, "difference": 0.25, "low": 0.125, "high": 0.375, "wilcoxon_p": p,
         "label": "all", "metric": "P@10", "unit": "user"}
        for one, other, p in ((a, b, 0.0123), (a, c, 0.0), (b, c, 1.0))
    ]  # fmt: skip
    sets = [
        {"label": label, "sets": 6000, "no_relevant": 12, "short_sample": 3, "below_cutoff": 1,
         "smallest": 9}
        for label in asked
    ]  # fmt: skip
    found = Results(
        key="0123456789abcdef",
        dataset={
            "name": "x", "title": "<b>A_B*</b>", "n_ratings": 1_000_209, "n_users": 6040,
            "n_items": 3706,
        },
        provenance={"recbias": "0.1.0", "numpy": "2.4"},
        grid=Grid("synthetic", systems, asked, metrics, tests=tests or {}),
        values=pd.DataFrame(), replicates={}, tests=pd.DataFrame(rows),
        target_sets=pd.DataFrame(sets),
    )  # fmt: skip
    return dataclasses.replace(found, **changes)


def shown_raw(source: str) -> bool:
    """Tell whether a cell ends with a result, whose fields a page would print."""
    last = ast.parse(source).body[-1:]
    called = [node.value.func for node in last if isinstance(node, ast.Expr)
              and isinstance(node.value, ast.Call)]  # fmt: skip
    return any(ast.unparse(each).split(".")[0] in ("measure", "run") for each in called)


def test_no_page_prints_the_fields_of_a_result():
    assert shown_raw("checks = 1\nmeasure.identities()  # of a world")
    assert shown_raw("run(grid)")
    assert not shown_raw("found = measure.identities()")
    assert not shown_raw("figures.chain(measure.chain(dataset)).show()")
    raw = [
        f"{chapter.name}: {cell.source.splitlines()[-1]}"
        for chapter in list_chapters()
        for cell in chapter.notebook().cells
        if cell.cell_type == "code" and shown_raw(cell.source)
    ]
    assert not raw


def test_the_data_line_says_what_is_shown_and_escapes_the_title():
    live = pages.data_line(results_of(), "And a *note*.")
    title = r"**Data: &lt;b&gt;A\_B\*&lt;/b&gt;**"
    assert live.startswith(f"{title}, 1,000,209 ratings by 6,040 users on 3,706 items. ")
    assert live.endswith("computed live, on the data themselves. And a *note*.")
    recorded = pages.data_line(results_of(origin="recorded"))
    assert "**recorded results**" in recorded
    assert "recbias 0.1.0 with numpy 2.4, key `0123456789ab`." in recorded
    assert "live" not in recorded


def test_the_table_of_protocols_counts_target_sets():
    head, _, first, second = pages.protocols_table(results_of()).splitlines()
    assert head.split(" | ")[-2:] == ["below 10 items", "smallest |"]
    words = "all items with a test rating, `TI-AN-AR rel>=4`"
    assert first == f"| all | {words} | 6,000 | 12 | 3 | 1 | 9 |"
    assert "one relevant item, 99 sampled anew for each, `TI-NN-1R t=100 rel>=4` |" in second
    assert "below the cutoff items" in pages.protocols_table(results_of(cutoffs=(10, 20)))


def test_the_table_of_protocols_shows_another_side_of_the_test():
    head, line, first, second = pages.protocols_table(results_of(tests=TESTS)).splitlines()
    assert head.startswith("| label | what is ranked, and the protocol | test | target sets |")
    assert len({text.count("|") for text in (head, line, first, second)}) == 1
    assert "| `observed` |" in first
    assert "| `observed removed=30%` |" in second


def test_every_system_of_a_line_up_is_listed_with_its_source():
    table = pages.systems_table("bcc17").splitlines()
    for line, (name, source) in zip(table[2:], line_up_sources("bcc17").items(), strict=True):
        assert line == f"| {plain(name)} | {source} |"


def test_quantities_are_listed_with_their_intervals():
    found = {
        "a|b": Quantity(0.5, np.linspace(0, 1, 1001)),
        "no interval": Quantity(1.0, None),
    }
    table = pages.quantities_table(found, head=("what", "tau"), form=".3f").splitlines()
    assert table[0] == "| what | tau | 95 % interval |"
    assert table[2] == r"| a\|b | 0.500 | 0.025 to 0.975 |"
    assert table[3] == "| no interval | 1.000 | no interval |"


def test_paired_tests_are_laid_out_by_pair():
    results = results_of()
    a, b, c = results.systems
    asked = {"per user": ("all", "P@10", "user")}
    lines = pages.paired_tests_table(results, asked, systems=(a, b, c)).splitlines()
    assert lines[0] == "| difference of | per user |"
    assert [line.split(" | ")[0] for line in lines[2:]] == [f"| {a} - {b}", f"| {a} - {c}",
                                                            f"| {b} - {c}"]  # fmt: skip
    told = [line.split(" | ")[1].replace("\N{NO-BREAK SPACE}", " ") for line in lines[2:]]
    assert told == [
        f"+0.2500 ± 0.1250, p {p} |" for p in ("= 0.012", "< 1e\N{NON-BREAKING HYPHEN}99", "= 1")
    ]
    assert "**" not in "".join(lines)
    fewer = pages.paired_tests_table(results, asked, systems=(a, c)).splitlines()
    assert len(fewer) == 3


def test_a_pair_with_both_signs_is_bold_and_a_value_stays_on_one_line():
    results = results_of()
    a, b, c = results.systems
    turned = results.tests.assign(label="thin")
    turned["difference"] *= [-1, 1, 1]
    turned["wilcoxon_p"] = [2e-36, 0.5, 0.5]
    results = results_of(tests=None)
    results = dataclasses.replace(results, tests=pd.concat([results.tests, turned]))
    asked = {label: (label, "P@10", "user") for label in ("all", "thin")}
    lines = pages.paired_tests_table(results, asked, systems=(a, b, c)).splitlines()[2:]
    assert [line.startswith("| **") for line in lines] == [True, False, False]
    cell = lines[0].split(" | ")[2].removesuffix(" |")
    assert cell.split() == ["\N{MINUS SIGN}0.2500", "±", "0.1250,", "p", "=",
                            "2e\N{NON-BREAKING HYPHEN}36"]  # fmt: skip
    assert cell.count(" ") == 1  # between value and p


def test_what_resampled_items_add_is_said_of_the_least_and_the_most():
    results = results_of()
    rows = [
        {"system": name, "label": "all", "metric": "P@10", "value": 0.1, "low": 0.0, "high": 0.2,
         "se": 0.01}
        for name in results.systems
    ]  # fmt: skip
    crossed = [
        {"system": name, "label": "all", "metric": "P@10", "low": 0.0, "high": 0.3, "se": se}
        for name, se in zip(results.systems, (0.02, 0.05, 0.011), strict=True)
    ]
    results = dataclasses.replace(results, values=pd.DataFrame(rows), crossed=pd.DataFrame(crossed))
    _, b, c = map(plain, results.systems)
    assert pages.crossed_sentence(results, "all", "P@10") == (
        f"Resampling items as well takes the interval of {c} to 1.1 times its width, and that of "
        f"{b} to 5.0 times."
    )


def value_rows(results, value):
    """Give all systems one value under each label."""
    return pd.DataFrame(
        [
            {"system": name, "label": label, "metric": "P@10", "value": value, "low": 0.0,
             "high": 1.0, "se": 0.1}
            for name in results.systems
            for label in results.grid.parsed
        ]
    )  # fmt: skip


def test_a_paragraph_on_methods_names_all_that_a_value_depends_on():
    results = results_of()
    results = dataclasses.replace(results, values=value_rows(results, 0.0123))
    assert "Random" in results.systems
    all_relevant, one_relevant = (
        pages.methods_sentence(results, label) for label in ("all", "thin")
    )
    for said in (all_relevant, one_relevant):
        assert said.startswith("> For each ")
        assert "ratings of 4 or more" in said
        assert "`k-fold 5`" in said
        assert said.endswith("A random ranking scores 0.0123, Popularity 0.0123.")
    assert "together with all items that occur in the test data" in all_relevant
    assert "those without a relevant test item counting as 0" in all_relevant
    assert "No value can exceed" not in all_relevant
    assert "99 items drawn anew for each run" in one_relevant
    assert "No value can exceed 0.1." in one_relevant
    assert "resample users, each with all their runs." in one_relevant
    assert "resample users" not in all_relevant


def test_what_is_expected_over_samples_is_told_as_such():
    results = results_of()
    asked = {"thin": "TI-AN-1R rel>=4"}
    grid = Grid("synthetic", line_up("bcc17")[:3], asked, {"thin": ("P@10|t=100",)})
    rows = value_rows(results, 0.01).query("label == 'thin'").assign(metric="P@10|t=100")
    told = pages.methods_sentence(dataclasses.replace(results, grid=grid, values=rows), "thin")
    assert (
        "this item together with 99 non-relevant items drawn from all items that occur in the test "
        "data, in expectation over all draws;"
    ) in told
    assert told.endswith(
        "No value can exceed 0.1. A random ranking scores 0.0100, Popularity 0.0100."
    )


def test_draws_of_a_uniform_test_are_no_folds():
    results = results_of()
    grid = dataclasses.replace(results.grid, split="uniform 0.2 draws=5")
    shown = dataclasses.replace(results, grid=grid, values=value_rows(results, 0.1))
    told = pages.methods_sentence(shown, "all")
    assert "the draws, which know nothing of each other, of the split `uniform 0.2 draws=5`" in told


@pytest.mark.parametrize(
    ("protocol", "said"),
    [
        ("AI-AN-AR rel>=4", "with all items of the catalogue"),
        ("TI-NN-AR N=50 rel>=4", "50 items drawn for each user from all items that occur"),
        ("TI-AN-AR rel>=4 condensed", "items that they rated in the test data, and no other"),
        ("TI-AN-AR rel>=4 users=relevant", "over users with a relevant test item"),
        ("TI-NN-1R t=20 rel>=4", "19 items drawn anew"),
        ("TI-AN-AR rel>=4 unscored=random", "cannot score comes last, in random order; items"),
        ("TI-AN-AR rel>=4 unscored=popularity", "last, by its number of training ratings"),
        ("TI-NN-1R-shared t=20 rel>=4", "19 items drawn once for all runs of a user"),
    ],
)
def test_the_paragraph_follows_the_protocol(protocol, said):
    results = results_of()
    grid = dataclasses.replace(results.grid, protocols={**results.grid.protocols, "all": protocol})
    results = dataclasses.replace(results, grid=grid, values=value_rows(results, 0.1))
    assert said in pages.methods_sentence(results, "all")


@pytest.mark.parametrize(
    ("average", "said"),
    [
        ("", "Who has no list counts as 0, the best value, so that coverage stands beside it."),
        (" coverage=reduced", "Users without a list are left out."),
    ],
)
def test_misses_are_not_the_rest_of_hits(average, said):
    results = results_of()
    asked = {"all": f"AI-AN-AR rel>=4 users=tested{average}"}
    grid = Grid("synthetic", line_up("bcc17")[:3], asked, {"all": ("P@10", "antiP@10")})
    rows = value_rows(results, 0.1).query("label == 'all'")
    rows = pd.concat([rows, rows.assign(metric="antiP@10")])
    shown = dataclasses.replace(results, grid=grid, values=rows)
    told = pages.methods_sentence(shown, "all", "antiP")
    assert (
        "antiP@10 is the share of the first 10 items that the user rated below 4 in the test data: "
        f"unrated items are neither hits nor misses, and lower is better. {said} antiP@10 is"
    ) in told
    assert "non-relevant" not in told
    assert "unrated or not. P@10 is" in pages.methods_sentence(shown, "all")


def test_claims_of_a_topic_are_escaped(monkeypatch: pytest.MonkeyPatch):
    topic = "design alternatives"
    own = [claim for claim in claims() if claim.topic == topic]
    html = pages.claims_of(topic)
    assert f"The {len(own)} claims" in html
    assert html.count("<tr>") == len(own) + 1
    hostile: Claim = dataclasses.replace(own[0], text="<script>alert(1)</script>")
    monkeypatch.setattr(pages, "claims", lambda: (hostile,))
    assert "<script" not in pages.claims_of(topic)
    assert "&lt;script&gt;" in pages.claims_of(topic)


def test_what_is_undefined_is_said_in_words():
    nothing = Quantity(float("nan"), None)
    row = pages.quantities_table({"orders": nothing}, head=("what", "tau")).splitlines()[-1]
    assert row == "| orders | undefined | no interval |"
