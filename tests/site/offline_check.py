"""Open every page of a built site from disk in Chromium, as a reader without a network would.

    python tests/site/offline_check.py SITE_FOLDER [--shots FOLDER] [--pages a.html b.html]

Exit 1 on: a request to another host, a failed request, a console error, a page error, a formula
that was not rendered, a page wider than its window, also with everything opened that folds (1400
and 390 px, light and dark), or a search page that finds nothing. Needs `playwright` and a Chromium
on PATH (Debian package `chromium`) or named by CHROMIUM.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
from pathlib import Path

from playwright.sync_api import BrowserContext, TimeoutError, sync_playwright

VIEWS = list(product((1400, 390), ("light", "dark")))
RENDERED = "[...document.querySelectorAll('.math')].every(e => e.querySelector('mjx-container'))"
TOO_WIDE = "document.documentElement.scrollWidth > window.innerWidth + 1"
UNFOLD = "document.querySelectorAll('details').forEach(e => { e.open = true })"


def check_page(context: BrowserContext, path: Path, shot: Path | None) -> tuple[list[str], int]:
    """Open one page; give its faults and the number of files it loads."""
    page, faults, requests = context.new_page(), [], []
    page.on("request", lambda request: requests.append(request.url))
    page.on("requestfailed", lambda request: faults.append(f"failed request {request.url}"))
    page.on("pageerror", lambda error: faults.append(f"page error: {str(error)[:160]}"))
    page.on(
        "console",
        lambda said: faults.append(f"console: {said.text[:160]}") if said.type == "error" else None,
    )
    is_search = path.name == "search.html"
    page.goto(path.as_uri() + ("?q=recommender" if is_search else ""), wait_until="load")
    try:
        page.wait_for_function(RENDERED, timeout=5000)
    except TimeoutError:
        faults.append("a formula is not rendered")
    if is_search:
        try:
            page.wait_for_selector("#search-results li a", timeout=5000)
        except TimeoutError:
            faults.append("the search finds nothing")
    if page.evaluate(TOO_WIDE):
        faults.append("wider than its window")
    if shot:
        page.screenshot(path=shot, full_page=True)
    page.evaluate(UNFOLD)
    if page.evaluate(TOO_WIDE):
        faults.append("wider than its window when all is opened")
    page.close()
    faults += [f"request to {url}" for url in requests if not url.startswith(("file:", "data:"))]
    return sorted(set(faults)), len(requests)


def check_view(
    view: tuple[int, str], site: Path, pages: list[Path], shots: Path | None
) -> tuple[list[str], int]:
    """Open all pages in one width and colour scheme; give all faults and the most files loaded."""
    width, scheme = view
    browser_path = os.environ.get("CHROMIUM") or shutil.which("chromium")
    lines, most = [], 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=browser_path, args=["--no-sandbox", "--disable-gpu"]
        )
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        for path in pages:
            name = path.relative_to(site)
            stem = "_".join(name.with_suffix("").parts)
            shot = shots / f"{stem}-{width}-{scheme}.png" if shots else None
            faults, n_requests = check_page(context, path, shot)
            lines += [f"{name} {width} {scheme}: {fault}" for fault in faults]
            most = max(most, n_requests)
        browser.close()
    return lines, most


def main() -> int:
    """Check the site named on the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("site", type=Path)
    parser.add_argument("--pages", nargs="*")
    parser.add_argument("--shots", type=Path)
    args = parser.parse_args()
    if not (os.environ.get("CHROMIUM") or shutil.which("chromium")):
        sys.exit("no Chromium: install the Debian package chromium or set CHROMIUM")
    site = args.site.resolve()
    pages = [site / name for name in args.pages] if args.pages else sorted(site.rglob("*.html"))
    if not pages:
        sys.exit(f"no page under {site}")
    if args.shots:
        args.shots.mkdir(parents=True, exist_ok=True)
    check = partial(check_view, site=site, pages=pages, shots=args.shots)
    with ProcessPoolExecutor(2) as executor:
        lines, most = zip(*executor.map(check, VIEWS), strict=True)
    faults = [line for view in lines for line in view]
    print("\n".join(faults))
    views = f"{len(pages)} pages x {len(VIEWS)} views, at most {max(most)} files each"
    print(f"{views}: {len(faults)} faults")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
