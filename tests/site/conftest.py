"""A small book with the real configuration, extension, templates and assets."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from chromium import find_chromium, launch
from recbias.book.site import build_site

HERE = Path(__file__).parent
CLONE = HERE.parents[1]
collect_ignore = ["fixture_book"]  # its chapters are no tests


def make_book(root: Path) -> Path:
    """Copy the small book and what it shares with the real one, but for the number of editions."""
    shutil.copytree(HERE / "fixture_book", root)
    for name in ("_config.yml", "pyproject.toml", "book/references.bib"):
        shutil.copyfile(CLONE / name, root / name)
    config = (root / "_config.yml").read_text(encoding="utf-8")
    two = re.sub(r"bookkit_editions: \[.*?\]", "bookkit_editions: [ml-1m, synthetic]", config)
    (root / "_config.yml").write_text(two, encoding="utf-8")
    for name in ("_ext", "_templates", "_static", "_vendor"):
        shutil.copytree(CLONE / "book" / name, root / "book" / name)
    return root


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """A small book of one's own, not built."""
    return make_book(tmp_path / "clone")


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of a small book with two editions. Do not change it."""
    root = make_book(tmp_path_factory.mktemp("site") / "clone")
    return build_site(root=root).parent


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Start Chromium; a machine without one has nothing to look at pages with."""
    if not find_chromium():
        pytest.skip("no Chromium")
    with sync_playwright() as playwright:
        started = launch(playwright)
        yield started
        started.close()
