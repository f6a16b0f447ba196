"""The browser check of the rounds finds nothing on a good page, and faults on others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser

import check_rounds
from recbias.book.chapters.concentration_metrics import courses
from recbias.book.explorer import explorer_html
from recbias.claims import load_chapter

pytestmark = pytest.mark.slow

STATIC = Path(__file__).parents[2] / "book" / "_static"


def same(text: str) -> str:
    return text


def replaced(old: str, new: str, count: int = -1) -> Callable[[str], str]:
    """Give what changes a text, and complains if nothing changed."""

    def change(text: str) -> str:
        assert old in text
        return text.replace(old, new, count)

    return change


@pytest.mark.parametrize(
    ("page", "script", "style", "fault"),
    [
        (same, same, same, None),
        (replaced("more even with RankSGD and WBPR", "more even with RankSGD", 1), same, same,
         "more even with"),
        (replaced('"values":[0.8', '"values":[0.7'), same, same, "AR: 0.7"),
        (replaced("<td>0.8", "<td>0.7"), same, same, "other numbers"),
        (replaced('id="rounds"', 'id="other"'), same, same, "no rounds"),
        (same, replaced('tied ? "" : ', ""), same, "an order of equal values"),
        (same, replaced("choices.keep(", "void ("), same, "opens round"),
        (same, replaced('"aria-valuetext", words', '"aria-valuetext", code + 1'), same, "leads to"),
        (same, replaced('setAttribute("role", "status")', 'setAttribute("lang", "en")'), same,
         "not announced"),
        (same, same, lambda css: f"{css} input {{ outline: none !important }}", "has the focus"),
        (same, same, lambda css: f"{css} .explorer {{ width: 200vw }}", "wider than"),
    ],
)  # fmt: skip
def test_the_check_finds_what_is_broken(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    browser: Browser,
    page: Callable[[str], str],
    script: Callable[[str], str],
    style: Callable[[str], str],
    fault: str | None,
) -> None:
    monkeypatch.setattr(check_rounds, "WIDTHS", (390,))
    monkeypatch.setattr(check_rounds, "SCHEMES", ("dark",))
    loop = load_chapter("06_concentration", "simulations")["loop"]
    html = explorer_html(
        courses.courses(loop),
        courses.axes(loop),
        start=courses.START,
        compared=courses.FIRST_LISTS,
        name="rounds",
        source=loop,
        digits=3,
        lines={"expected": "before the first round"},
    )
    for name in ("choices.js", "choices.css"):
        (tmp_path / name).write_text((STATIC / name).read_text())
    (tmp_path / "explorer.js").write_text(script((STATIC / "explorer.js").read_text()))
    (tmp_path / "explorer.css").write_text(style((STATIC / "explorer.css").read_text()))
    path = tmp_path / "page.html"
    path.write_text(
        '<meta charset="utf-8"><style>:root { --pst-color-primary: #00f }</style>'
        '<meta name="viewport" content="width=device-width">'
        '<link rel="stylesheet" href="choices.css"><link rel="stylesheet" href="explorer.css">'
        '<script src="choices.js" defer></script><script src="explorer.js" defer></script>'
        f'<article class="bd-article">{page(html)}</article>'
    )
    faults, _ = check_rounds.check_page(browser, path)
    if fault is None:
        assert faults == []
    else:
        assert any(fault in found for found in faults), faults[:5]
