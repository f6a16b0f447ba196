"""The browser that the checks of the site drive, and the command that a check is."""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from playwright.sync_api import Browser, Playwright, sync_playwright


def find_chromium() -> str | None:
    """Find a Chromium: the one named by CHROMIUM, or that of a Debian package, on PATH.

    `chromium-headless-shell` has no windows to draw and takes half as long as `chromium`.
    """
    known = map(shutil.which, ("chromium-headless-shell", "chromium"))
    return os.environ.get("CHROMIUM") or next(filter(None, known), None)


def launch(playwright: Playwright) -> Browser:
    """Start Chromium."""
    return playwright.chromium.launch(
        executable_path=find_chromium(), args=["--no-sandbox", "--disable-gpu"]
    )


def draw_pages(site: Path, pages: Iterable[Path], text: str | None) -> list[Path]:
    """Keep pages of the first edition, and of others the third that a text draws; all without it.

    Editions are made by the same templates and scripts, on other numbers.
    """

    def is_drawn(name: Path) -> bool:
        digest = hashlib.sha256(f"{text} {name.as_posix()}".encode()).digest()
        return text is None or name.parts[0] != "on" or digest[0] % 3 == 0

    return [page for page in pages if is_drawn(page.relative_to(site))]


def check_pages(
    patterns: Iterable[str],
    check: Callable[[Browser, Path, Path], tuple[list[str], int]],
    tried: str,
) -> int:
    """Check pages of the site that the command line names; print their faults, give 1 for any.

    `check` gets the browser, the site and a page, and gives the faults and how much was `tried`.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("site", type=Path)
    parser.add_argument("--draw", metavar="TEXT", help="of other editions the pages TEXT draws")
    asked = parser.parse_args()
    site = asked.site.resolve()
    pages = sorted(page for pattern in patterns for page in site.glob(pattern))
    pages = draw_pages(site, pages, asked.draw)
    if not pages:
        sys.exit(f"no {' and no '.join(patterns)} under {site}")
    n_faults = 0
    with sync_playwright() as playwright:
        browser = launch(playwright)
        for path in pages:
            faults, number = check(browser, site, path)
            name = path.relative_to(site)
            print("\n".join(f"{name}: {fault}" for fault in faults[:20]))
            print(f"{name}: {number} {tried}, {len(faults)} faults")
            n_faults += len(faults)
        browser.close()
    return int(n_faults > 0)
