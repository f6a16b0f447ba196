"""The browser that the checks of the site drive."""

from __future__ import annotations

import os
import shutil

from playwright.sync_api import Browser, Playwright


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
