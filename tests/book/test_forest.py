"""Plots of intervals: what is drawn is what is measured, and the cells say it too."""

from __future__ import annotations

import math
import re

import pytest

from recbias.book.forest import Estimate, forest_html, published_number

FREE = (-math.inf, math.inf)
ROWS = [
    Estimate("near", "holds", 0.5, (0.4, 0.6)),
    Estimate("far", "refuted", 1.0, (0.8, 1.2)),
    Estimate("lost", "not testable", math.nan, (math.nan, math.nan), "no timestamps"),
]


def drawn(page: str) -> dict[str, list[float]]:
    """Read where each row has its point and the ends of its interval, in percent."""
    found = {}
    for row in re.findall(r"<tr.*?</tr>", page):
        name = re.sub(r"<[^>]+>", "", row.partition("</th>")[0])[1:].strip()
        points = re.findall(r'cx="([\d.]+)%"', row)
        lines = re.findall(r'class="interval" x1="([\d.]+)%" x2="([\d.]+)%"', row)
        if "</th>" in row:
            found[name] = [float(each) for pair in lines for each in pair] + list(
                map(float, points)
            )
    return found


def test_marks_stand_in_proportion_to_what_they_mark() -> None:
    page = forest_html(ROWS, "number", FREE)
    places = drawn(page)
    low, high, middle = places["near"]
    left, right, point = places["far"]
    for place, value in ((low, 0.4), (high, 0.6), (middle, 0.5), (left, 0.8), (point, 1.0)):
        share = (place - low) / (right - low)
        assert share == pytest.approx((value - 0.4) / (1.2 - 0.4), abs=2e-4)
    assert places["lost"] == []
    assert "no timestamps" in page
    assert 'class="region"' not in page


def test_a_value_that_is_another_is_drawn_elsewhere() -> None:
    """The twin: of two plots that differ in one end, that end differs and nothing else."""
    other = [Estimate("near", "holds", 0.5, (0.45, 0.6)), *ROWS[1:]]
    region = (0.0, 1.5)  # keeps the scale
    one, two = (drawn(forest_html(rows, "number", region)) for rows in (ROWS, other))
    differing = [
        (name, place)
        for name in one
        for place, (a, b) in enumerate(zip(one[name], two[name], strict=True))
        if a != b
    ]
    assert differing == [("near", 0)]


@pytest.mark.parametrize(
    ("region", "left", "right"), [((0.6, math.inf), 35, 100), ((-math.inf, 0.6), 0, 35)]
)
def test_a_region_without_an_end_is_shaded_to_the_edge(
    region: tuple[float, float], left: float, right: float
) -> None:
    page = forest_html(ROWS, "number", region)
    found = re.search(r'class="region" x="([\d.]+)%" y="0" width="([\d.]+)%"', page)
    assert found
    start, width = map(float, found.groups())
    assert start == pytest.approx(left, abs=8)
    assert start + width == pytest.approx(right, abs=8)


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("0.617", "number", 0.617),
        ("about 1.4", "factor", 1.4),
        ("-0.467", "number", -0.467),
        ("83.16 %", "percent", 0.8316),
        ("0.8316", "percent", 0.8316),
        ("2e-05", "p", 2e-5),
        ("<< 0.001", "p", math.nan),
        ("WRMF 0.260", "number", math.nan),
        ("optP 0.1496 vs Pop 0.1464", "number", math.nan),
    ],
)
def test_a_published_value_is_read_where_it_is_one_number(
    text: str, unit: str, value: float
) -> None:
    assert published_number(text, unit) == pytest.approx(value, nan_ok=True)


def test_a_published_value_is_told_and_marked_if_it_is_a_number() -> None:
    page = forest_html(ROWS, "number", FREE, published="0.617")
    assert page.count('class="printed"') == len(ROWS) + 1
    assert ">0.617<" in page
    told = forest_html(ROWS, "number", FREE, published="WRMF 0.260")
    assert "WRMF 0.260" in told
    assert 'class="printed"' not in told


def test_rows_that_say_the_same_are_one() -> None:
    rows = [Estimate(name, "holds", 0.0, (0.0, 0.0)) for name in ("a", "b")]
    rows += [Estimate("c", "refuted", 0.5, (0.5, 0.5))]
    page = forest_html(rows, "violation", (-math.inf, 0.0))
    assert page.count("<tr") == 2
    assert "a, b" in page
    assert "<svg" not in page


def test_values_of_many_sizes_stand_on_a_logarithmic_scale() -> None:
    rows = [Estimate(str(n), "holds", 10.0**n, (10.0**n, 10.0**n)) for n in (-3, -1, 1)]
    first, second, third = (
        places[0] for places in drawn(forest_html(rows, "number", FREE)).values()
    )
    assert second - first == pytest.approx(third - second, abs=0.02)


def test_counts_have_whole_marks_on_their_axis() -> None:
    rows = [Estimate("a", "refuted", 0.0, (0.0, 0.0)), Estimate("b", "holds", 1.0, (1.0, 1.0))]
    ticks = re.findall(r"<text[^>]*>([^<]+)<", forest_html(rows, "count", (1.0, math.inf)))
    assert ticks == ["0", "1"]


def test_names_are_escaped_and_signs_are_told() -> None:
    page = forest_html([Estimate("<b>", "open", 1.0, (0.0, 2.0), "a <reason>")], "number", FREE)
    assert "<b>" not in page
    assert "&lt;b&gt;" in page
    assert "a &lt;reason&gt;" in page
    assert 'role="img" aria-label="open"' in page
