"""The browser check of the guide finds nothing on a good page, and what was broken on a bad one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser

import check_guide
from recbias.book.guide.questions import questions_html
from recbias.book.guide.rules import checklist_html

pytestmark = pytest.mark.slow

STATIC = Path(__file__).parents[2] / "book" / "_static"
FACTS = {"title": "A world", "n_ratings": 50_000, "n_users": 900, "n_items": 1_500}


def same(text: str) -> str:
    return text


def replaced(old: str, new: str) -> Callable[[str], str]:
    """Give what changes a text, and complains if nothing changed."""

    def change(text: str) -> str:
        assert old in text
        return text.replace(old, new)

    return change


@pytest.mark.parametrize(
    ("page", "script", "style", "fault"),
    [
        (same, same, same, None),
        (replaced("antiP@10; pairs: t</code>", "P@5; pairs: t</code>"), same, same, "the line is"),
        (replaced("50,000 ratings", "50,001 ratings"), same, same, "another paragraph"),
        (same, replaced("`${inFull} `", '"In all: "'), same, "another paragraph"),
        (same, replaced("if (said) paragraph", "if (0) paragraph"), same, "another paragraph"),
        (same, replaced("sum * inputs.length", "sum * 2"), same, "the line is"),
        (same, replaced('Listener("change"', 'Listener("changed"'), same, "keyboard"),
        (same, replaced('setAttribute("role", "status")', 'setAttribute("lang", "en")'), same,
         "not announced"),
        (same, same, lambda css: f"{css} .guide-answer {{ display: none !important }}", "not seen"),
        (same, same, lambda css: f"{css} .guide-answer {{ width: 200vw }}", "wider than"),
        (same, same, lambda css: f"{css} input {{ outline: none !important }}", "has the focus"),
        (same, same, lambda css: f"{css} form {{ visibility: hidden }}", "cannot be reached"),
        (replaced("<form hidden", "<form"), same, same, "buttons that do nothing"),
        (replaced('class="guide-all" open', 'class="guide-all"'), same, same, "there is no table"),
        (replaced("(1-2, 8-9,", "(1-2, 9,"), same, same, "are not the paragraph"),
        (replaced("There is no such design", "Nothing"), same, same, "no reason is given"),
        (replaced('value="opposed"', 'value="other"'), same, same, "the questions are"),
        (replaced('class="guide-questions"', 'class=""'), same, same, "no questions"),
        (same, replaced("choices.keep(", "void ("), same, "the address of a choice"),
        (same, replaced("    recall();\n  };", "  };"), same, "an address that is opened anew"),
        (same, replaced('addEventListener("hashchange", recall);', ""), same, "that is followed"),
        (same, replaced("!found.every(Boolean)", "!found[0]"), same, "half an address"),
        (same, same, replaced("break-before: page", "break-before: auto"), "start a sheet"),
        (same, same, replaced("margin-bottom: 0.9rem", "margin-bottom: 4rem"), "do not fit"),
        (replaced("<li>All candidates", "<p>All candidates"), same, same, "lines, or small"),
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
    monkeypatch.setattr(check_guide, "WIDTHS", (390,))
    monkeypatch.setattr(check_guide, "SCHEMES", ("dark",))
    (tmp_path / "guide.js").write_text(script((STATIC / "guide.js").read_text()))
    for name in ("choices.js", "choices.css"):
        (tmp_path / name).write_text((STATIC / name).read_text())
    (tmp_path / "guide.css").write_text(style((STATIC / "guide.css").read_text()))
    lists = "".join(
        f'<section id="{reader}"><div class="cell">{checklist_html(reader)}</div></section>'
        for reader in ("author", "reviewer")
    )
    path = tmp_path / "page.html"
    path.write_text(
        '<meta charset="utf-8"><style>:root { --pst-color-primary: #00f }</style>'
        '<link rel="stylesheet" href="choices.css"><link rel="stylesheet" href="guide.css">'
        '<script src="choices.js" defer></script><script src="guide.js" defer></script>'
        f'<article class="bd-article">{page(questions_html(FACTS) + lists)}</article>'
    )
    faults, _ = check_guide.check_page(browser, path, FACTS)
    if fault is None:
        assert faults == []
    else:
        assert any(fault in found for found in faults), faults[:5]
