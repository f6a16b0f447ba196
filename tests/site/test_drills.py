"""Small exercises of the pages: the answers that the browser computes, held against the package."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page

from recbias.book.chapters.popularity_bias.exercises import check_complement
from recbias.metrics import measure, parse_metric
from recbias.metrics.concentration import gini
from recbias.metrics.incomplete import binary_preference
from recbias.ranking.tables import RankTable

pytestmark = pytest.mark.slow

BOOK = Path(__file__).parents[2] / "book"
NOTEBOOKS = BOOK.parent / "notebooks"
SEEDS = range(50)


@pytest.fixture(scope="module")
def page(browser) -> Iterator[Page]:
    """A page with the script alone."""
    opened = browser.new_page()
    opened.set_content("<main class='bd-article'></main>")
    opened.add_script_tag(content=(BOOK / "_static" / "drills.js").read_text(encoding="utf-8"))
    yield opened
    opened.close()


def table(stars: list[float], *, per: str = "user") -> RankTable:
    """Rank items in the order given; those without stars are not judged."""
    places = [n for n, each in enumerate(stars) if each]
    n = len(places)
    return RankTable(
        per=per, n_users=1, user=np.zeros(n, np.int32), item=np.array(places, np.int32),
        value=np.array([stars[place] for place in places], float),
        rank=np.array(places, np.int32) + 1, condensed_rank=np.arange(1, n + 1, dtype=np.int32),
        n_targets=np.full(1 if per == "user" else n, len(stars), np.int32),
        n_scored=np.full(1 if per == "user" else n, len(stars), np.int32),
    )  # fmt: skip


def value(metric: str, stars: list[float], **options: Any) -> float:
    found = measure(table(stars), [parse_metric(metric)], **{"min_rating": 4, **options})
    return float(found[0, 0])


def stars_of(given: dict[str, Any]) -> list[float]:
    return [{"liked": 5.0, "disliked": 2.0, "not rated": 0.0}[kind] for kind in given["list"]]


def runs(given: dict[str, Any]) -> float:
    longest = max(given["ranks"])
    found = [
        value(f"P@{given['cutoff']}", [5.0 * (place == rank) for place in range(1, longest + 1)])
        for rank in given["ranks"]
    ]
    return sum(found) / len(found)


def complement(given: dict[str, Any]) -> float:
    def expected(n_ratings: float, n_liked: float, in_training: float) -> float:
        return n_liked * (n_ratings - in_training) / n_ratings

    assert check_complement(expected), "the exercise of the chapter has another answer"
    return expected(given["rated"], given["liked"], given["trained"])


def preference(given: dict[str, Any]) -> float:
    judged = np.array([each >= 4 for each in stars_of(given) if each])
    return binary_preference(judged, int(judged.sum()), int((~judged).sum()))


def turning(given: dict[str, Any]) -> float:
    """Count by trying each decision at the start, in the order of the printed signs."""
    worlds = {}
    for number, gap in enumerate(given["gaps"]):
        worlds[number // 4 % 2, number // 2 % 2, number % 2] = gap > 0
    start = worlds[0, 0, 0]
    return float(sum(worlds[one] != start for one in ((1, 0, 0), (0, 1, 0), (0, 0, 1))))


ORACLES: dict[str, Callable[[dict[str, Any]], float]] = {
    "precision": lambda given: value("P@3", stars_of(given)),
    "runs": runs,
    "complement": complement,
    "bpref": preference,
    "condensed": lambda given: value("P@3", stars_of(given), condensed=True),
    "gini": lambda given: float(gini(np.array([given["counts"]], float))[0]),
    "ndcg": lambda given: value(
        "nDCG(linear)@3", list(map(float, given["grades"])), min_rating=1, rating_max=5.0
    ),
    "turning": turning,
}


def test_there_is_an_oracle_for_each_drill_and_each_is_on_a_page(page: Page) -> None:
    assert page.evaluate("drillNames") == list(ORACLES)
    asked = [
        name
        for path in sorted(NOTEBOOKS.glob("*.py"))
        for name in re.findall(r"^# :::\{drill\} (\w+)$", path.read_text("utf-8"), re.MULTILINE)
    ]
    assert asked == list(ORACLES), "one drill a chapter"


@pytest.mark.parametrize("name", ORACLES)
def test_answers_are_those_of_the_package(page: Page, name: str) -> None:
    drawn = page.evaluate(
        "([name, n]) => Array.from({length: n}, (_, seed) => drillOf(name, seed))",
        [name, len(SEEDS)],
    )
    assert len({json.dumps(each["given"]) for each in drawn}) > 25, (
        "seeds have numbers of their own"
    )
    for seed, drill in zip(SEEDS, drawn, strict=True):
        assert drill["answer"] == pytest.approx(ORACLES[name](drill["given"]), abs=1e-9), seed
        for wrong, hint in drill["slips"]:
            assert abs(wrong - drill["answer"]) > 0.0005, (seed, hint)
    assert max(len(each["slips"]) for each in drawn) >= 3


def test_a_wrong_answer_of_the_script_is_noticed(page: Page) -> None:
    source = (BOOK / "_static" / "drills.js").read_text(encoding="utf-8")
    broken = source.replace("answer: hits / 3,", "answer: hits / 4,")
    assert broken != source
    page.evaluate(broken)
    drawn = page.evaluate("drillOf('precision', 3)")
    page.evaluate(source)
    assert drawn["answer"] != pytest.approx(ORACLES["precision"](drawn["given"]))


@pytest.mark.parametrize("name", ORACLES)
def test_right_and_each_slip_are_told_apart(page: Page, name: str) -> None:
    for seed in range(20):
        said = page.evaluate(
            """([name, seed]) => {
              const drill = drillOf(name, seed);
              const {answer} = drill;
              return [drillSays(drill, String(answer)), drillSays(drill, answer.toFixed(3)),
                drill.slips.map(([value]) => drillSays(drill, value.toFixed(3)))];
            }""",
            [name, seed],
        )
        assert said[0][0] is said[1][0] is True, (seed, said)
        assert all(not right and text.startswith("Not yet.") for right, text in said[2]), seed
        assert not any("count once more" in text for _, text in said[2]), seed


@pytest.mark.parametrize(
    ("text", "number"),
    [("0.25", 0.25), ("0,25", 0.25), (" 25 % ", 0.25), ("1/4", 0.25), (".5", 0.5), ("−2", -2)],
)
def test_numbers_are_read_as_people_write_them(page: Page, text: str, number: float) -> None:
    assert page.evaluate("text => drillNumber(text)", text) == number


@pytest.mark.parametrize("text", ["", "a", "1/0x", "alert(1)", "1 2", "--1"])
def test_what_is_no_number_is_said(page: Page, text: str) -> None:
    right, said = page.evaluate("text => drillSays(drillOf('gini', 1), text)", text)
    assert not right
    assert said.startswith("Write one number")


def test_on_a_page_it_is_used_by_keyboard(site: Path, browser) -> None:
    opened = browser.new_page()
    opened.goto((site / "notebooks/01_tiny.html").as_uri())
    drill = opened.locator(".drill")
    assert drill.locator("dl > div").count() == 6
    drill.locator("input").focus()
    opened.keyboard.type("99")
    opened.keyboard.press("Enter")
    assert drill.locator("[role=status]").inner_text().startswith("Not yet.")
    before = drill.locator("dl").inner_text()
    opened.keyboard.press("Tab")
    opened.keyboard.press("Tab")
    opened.keyboard.press("Enter")
    assert drill.locator("[role=status]").inner_text() == ""
    assert drill.locator("input").evaluate("e => e === document.activeElement")
    assert drill.locator("dl").inner_text() != before
    opened.close()


def test_without_scripts_the_page_says_that_there_are_no_numbers(site: Path, browser) -> None:
    context = browser.new_context(java_script_enabled=False)
    opened = context.new_page()
    opened.goto((site / "notebooks/01_tiny.html").as_uri())
    assert "does not run" in opened.locator(".drill").inner_text()
    assert not opened.locator(".drill-work").is_visible()
    context.close()
