"""What pages share: the data line, and tables of protocols, systems, quantities, tests, claims."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest

from recbias import Grid, Results, line_up
from recbias.claims import Claim, claims, pages
from recbias.recommenders import line_up_sources
from recbias.results import Quantity

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


def test_the_data_line_says_what_is_shown_and_escapes_the_title():
    live = pages.data_line(results_of(), "And a *note*.")
    title = r"**Data: &lt;b&gt;A\_B\*&lt;/b&gt;**"
    assert live.startswith(f"{title}, 1,000,209 ratings by 6,040 users on 3,706 items. ")
    assert live.endswith("computed live, on the data itself. And a *note*.")
    recorded = pages.data_line(results_of(origin="recorded"))
    assert "**recorded results**" in recorded
    assert "recbias 0.1.0 with numpy 2.4, key `0123456789ab`." in recorded
    assert "live" not in recorded


def test_the_table_of_protocols_counts_target_sets():
    head, _, first, second = pages.protocols_table(results_of()).splitlines()
    assert head.split(" | ")[-2:] == ["fewer than 10", "smallest |"]
    assert first == "| all | `TI-AN-AR rel>=4` | 6,000 | 12 | 3 | 1 | 9 |"
    assert second.startswith("| thin | `TI-NN-1R t=100 rel>=4` |")
    assert "fewer than the cutoff" in pages.protocols_table(results_of(cutoffs=(10, 20)))


def test_the_table_of_protocols_shows_another_side_of_the_test():
    head, line, first, second = pages.protocols_table(results_of(tests=TESTS)).splitlines()
    assert head.startswith("| label | protocol | test | target sets |")
    assert len({text.count("|") for text in (head, line, first, second)}) == 1
    assert "| `observed` |" in first
    assert "| `observed removed=30%` |" in second


def test_every_system_of_a_line_up_is_listed_with_its_source():
    table = pages.systems_table("bcc17").splitlines()
    for line, (name, source) in zip(table[2:], line_up_sources("bcc17").items(), strict=True):
        assert line == f"| {pages.plain(name)} | {source} |"


def test_quantities_are_listed_with_their_intervals():
    found = {
        "a|b": Quantity(0.5, np.linspace(0, 1, 1001)),
        "no interval": Quantity(1.0, None),
    }
    table = pages.quantities_table(found, head=("what", "tau"), form=".3f").splitlines()
    assert table[0] == "| what | tau | 95 % interval |"
    assert table[2] == r"| a\|b | 0.500 | 0.025 to 0.975 |"
    assert table[3] == "| no interval | 1.000 | nan to nan |"


def test_paired_tests_are_laid_out_by_pair():
    results = results_of()
    a, b, c = results.systems
    table = pages.paired_tests_table(
        results, {"per user": ("all", "P@10", "user")}, systems=(a, b, c)
    )
    assert list(table.columns) == ["per user: difference", "per user: p"]
    assert list(table.index) == [f"{a} - {b}", f"{a} - {c}", f"{b} - {c}"]
    assert table["per user: difference"].unique().tolist() == ["0.2500 ± 0.1250"]
    assert table["per user: p"].tolist() == ["0.01", "< 1e-99", "1"]
    fewer = pages.paired_tests_table(results, {"x": ("all", "P@10", "user")}, systems=(a, c))
    assert list(fewer.index) == [f"{a} - {c}"]


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
