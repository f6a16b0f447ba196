"""The check of the site's sentences fails on what it is there for."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path

import pytest

import check_findings
from check_findings import editions, expected, faults, page_faults
from recbias.book.findings import Findings, resolve_findings, stored_findings
from recbias.claims.parts import Part
from recbias.claims.records import Record

pytestmark = pytest.mark.slow

SOURCE = """Read the axes first.
:::{finding} BCC17-C-RANGE/1
holds: The largest value is {value} the smallest ("{low:.2f}" to {high:.2f}) -- see
  {numref}`fig-values`, $x_{low}$ of {glue:text}`size:.1f` and {glue:text}`name`.
refuted: It is only {value:.3f}.
open: -
:::
- :::{finding} BCC17-F2A
  yes: Wholly *so*, as [told](x.md).
  partly: -
  no: -
  undecided: -
  :::
:::{finding} BCC17-F2B/1
holds: Nobody has Last.fm.
refuted: -
open: -
:::
:::{finding} BCC17-C-SIG/1
refuted: Not all are, p = {value}.
holds: -
open: -
:::
"""
PAGE = "notebooks/01_x"
MATH = r'<span class="math">\(x_{low}\)</span>'
GLUED = {"size": 0.5, "name": "pLSA"}


@cache
def stated() -> list[Findings]:
    return stored_findings("ml-1m")


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> str:
    """The page as it is built for ml-1m, apart from what Sphinx makes of roles."""
    monkeypatch.setattr(check_findings, "source_text", lambda name: SOURCE)
    text = resolve_findings(SOURCE, stated(), str)
    text = text.replace("{numref}`fig-values`", '<a><span class="std">Fig. 1.2</span></a>')
    text = re.sub(r'"([\d.]+)"', r"“\1”", text).replace("--", "–").replace("*so*", "<em>so</em>")
    text = f'<img src="x"><main><p>{text}</p></main>'
    return (
        text.replace("[told](x.md)", "<a>told</a>")
        .replace("$x_{low}$", MATH)
        .replace("{glue:text}`size:.1f`", '<span class="pasted-text">0.5</span>')
        .replace("{glue:text}`name`", "<span>pLSA</span>")
    )


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ("It is open ({low} to {high}).", "It is open (no interval)."),
        ("It is open ({low:.1f} to {high:.1f} of {cases}; so).", "It is open (no interval; so)."),
        ("Not sure: {low} to {high} times.", "Not sure: an unknown number times."),
    ],
)
def test_an_interval_that_is_not_known_is_expected_without_ends(form: str, said: str) -> None:
    record = Record.from_dict({"finds": "{value}", "value": "check(it)", "most": 0})
    words = check_findings.pattern(form, [Part(record, float("nan"))], {})
    assert re.fullmatch(words, said)
    ends = re.sub("no interval|an unknown number", "undefined to undefined", said)
    assert not re.fullmatch(words, ends)


def test_a_right_page_has_no_fault(page):
    assert page.count('class="finding"') == len(expected(PAGE, "ml-1m", GLUED)) == 2
    assert page_faults(page, PAGE, "ml-1m", GLUED) == []


def test_each_wrong_page_is_caught(page):
    first, second = re.findall(r'<span class="finding".*?\.</span>', page, flags=re.DOTALL)
    assert "BCC17-C-RANGE/1" in first
    assert "BCC17-F2A" in second
    twins = {
        "another verdict": page.replace('"holds"', '"refuted"', 1),
        "another claim": page.replace("BCC17-F2A", "BCC17-F2C"),
        "a swapped sentence": page.replace("The largest value", "The smallest value"),
        "another number": re.sub(r"is \d\.\d+ times", "is 9.99 times", page),
        "another end": re.sub(r"“\d", "“7", page),
        "another glued number": page.replace(">0.5<", ">0.9<"),
        "another glued name": page.replace(">pLSA<", ">kNN<"),
        "another formula": page.replace("x_{low}", "x_{high}"),
        "another reference": page.replace("Fig. 1.2", "It is not so. Fig. 1.2"),
        "hidden": page.replace("<p>", "<div hidden>").replace("</p>", "</div>"),
        "hidden from some": page.replace("<main>", '<main aria-hidden="true">'),
        "hidden by its style": page.replace("<main>", '<main style="color: red; display : none">'),
        "hidden by a class": page.replace("<main>", '<main class="a visually-hidden">'),
        "in a template": page.replace("main>", "template>"),
        "in a comment": page.replace(first, f"<!--{first}-->"),
        "at the end of the page": page.replace(first, "") + first,
        "forged as a paragraph": page + '<p class="finding" data-part="BCC17-F2A" '
        'data-verdict="yes">Wholly <b>never</b>.</p>',
        "forged with a class more": page + second.replace('"finding"', '"x finding"'),
        "forged without names": page + '<em class="Finding x">So it is.</em>',
        "forged without the class": page + second.replace('class="finding" ', ""),
        "forged within another": page.replace(second, second.replace("Wholly", f"Wholly {second}")),
        "a sentence that is missing": page.replace(second, ""),
        "a sentence twice": page + second,
        "a sentence of the other verdict": page
        + '<span class="finding" data-part="BCC17-C-SIG/1" data-verdict="refuted">Not all.</span>',
        "one that the data cannot test": page
        + '<span class="finding" data-part="BCC17-F2B/1" data-verdict="holds">Nobody has '
        "Last.fm.</span>",
    }
    missed = [name for name, twin in twins.items() if not page_faults(twin, PAGE, "ml-1m", GLUED)]
    assert not missed
    assert all(twin != page for twin in twins.values())


def test_the_page_of_another_edition_is_wrong(page):
    told = page_faults(page, PAGE, "ml-100k", GLUED)
    assert any("BCC17-C-RANGE/1 is refuted, and its sentence is missing" in fault for fault in told)
    assert any("BCC17-C-RANGE/1 is said to be holds" in fault for fault in told)
    assert any("BCC17-C-SIG/1 is refuted, and its sentence is missing" in fault for fault in told)


def test_a_finding_of_this_book_is_judged_too(page, monkeypatch, tmp_path):
    (tmp_path / "data" / "findings").mkdir(parents=True)
    (tmp_path / "data" / "findings" / "design_alternatives.yaml").write_text(
        'T:\n  finds: "{value}"\n  value: tau(P[R_test], P[AR])\n  systems: all\n  below: 0.5\n'
    )
    monkeypatch.setattr(check_findings, "ROOT", tmp_path)
    block = ":::{finding} own/T\nholds: It is {value:.1f}.\n:::"
    monkeypatch.setattr(check_findings, "source_text", lambda name: block)
    ((part, verdict, words),) = expected(PAGE, "ml-1m", GLUED)
    assert (part, verdict) == ("own/T", "holds")
    said = words.replace("\\s*", " ").replace("\\", "")
    html = f'<span class="finding" data-part="own/T" data-verdict="holds">{said}</span>'
    assert page_faults(html, PAGE, "ml-1m", GLUED) == []
    assert page_faults(html.replace("0.", "0.9"), PAGE, "ml-1m", GLUED)


def test_every_edition_of_a_site_is_read(page, tmp_path):
    for folder in (tmp_path, tmp_path / "on" / "ml-100k"):
        (folder / "notebooks").mkdir(parents=True)
        (folder / f"{PAGE}.html").write_text(page, encoding="utf-8")
        notebook = folder / "_sources" / f"{PAGE}.ipynb"
        notebook.parent.mkdir(parents=True)
        metadata = {"recbias": {"parameters": {"dataset": "ml-1m"}}}
        outputs = [
            {"metadata": {"scrapbook": {"name": name}}, "data": {"text/plain": [repr(value)]}}
            for name, value in GLUED.items()
        ]
        notebook.write_text(json.dumps({"metadata": metadata, "cells": [{"outputs": outputs}]}))
    assert list(editions(tmp_path)) == ["ml-1m", "ml-100k"]
    found, n_checked = faults(tmp_path)
    assert n_checked == 4
    assert found
    assert all(fault.startswith(f"ml-100k, {PAGE}: ") for fault in found)


def test_the_source_of_a_page_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "01_x.py").write_text(
        "# %% [markdown]\n# a\n#\n#   b\n\n# %%\n# no\nx = 1\n"
        "# %% [markdown] tags=['general']\n# c\n"
    )
    monkeypatch.setattr(check_findings, "ROOT", tmp_path)
    assert check_findings.source_text("notebooks/01_x") == "a\n\n  b\n\nc"
    assert check_findings.source_text("search") is None


def test_what_the_data_lack_for_one_part_leaves_an_assertion_unsaid() -> None:
    record = {"finds": "{value}", "value": "check(n)", "least": 1}
    holds, refuted = (Part(Record.from_dict(record), value) for value in (2.0, 0.0))
    lacking = Part(Record.from_dict(record), None, lacks="no unbiased part")
    assert check_findings._joined([holds, lacking]) == ("", [])
    assert check_findings._joined([holds, lacking, refuted]) == ("refuted", [refuted])
    assert check_findings._joined([holds]) == ("holds", [holds])


def test_a_citation_may_name_others_and_a_year_and_ends_with_its_sentence() -> None:
    form = check_findings.pattern("So say {cite:t}`MCCRS20` there.", [], {})
    assert re.fullmatch(form, "So say Mena-Maldonado et al. [2020] there.")
    assert not re.fullmatch(form, "So say some. Others are there.")
