"""Check a built site without a browser: links and anchors exist, nothing is loaded from elsewhere.

    python tests/site/check_links.py SITE_FOLDER

Exit 1 on: a link to a page, file or anchor that is not there, a link that leaves the site's folder,
or a script, style sheet, image or font from another host. Links that a reader may follow to other
sites are not visited.
"""

from __future__ import annotations

import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[tuple[str, str]] = []
        self.redirect = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = {key: value for key, value in attrs if value is not None}
        self.anchors |= {named[key] for key in ("id", "name") if key in named}
        self.links += [(tag, named[key]) for key in ("href", "src") if key in named]
        if tag == "meta" and named.get("http-equiv", "").lower() == "refresh":
            self.redirect = named["content"].partition("url=")[2]
            self.links.append((tag, self.redirect))


@cache
def _read(path: Path) -> _Page:
    page = _Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def is_redirect(path: Path) -> bool:
    """Tell whether a page only sends its reader to another one."""
    return bool(_read(path).redirect)


def faults(site: Path) -> list[str]:
    """List what is wrong with the pages of a site, one line each."""
    site = site.resolve()
    found = []
    for path in sorted(site.rglob("*.html")):
        for tag, link in _read(path).links:
            fault = _fault(site, path, tag, link)
            if fault:
                found.append(f"{path.relative_to(site)}: {fault}: {link}")
    return found


def _fault(site: Path, path: Path, tag: str, link: str) -> str | None:
    url = urlsplit(link)
    if url.scheme in {"data", "mailto", "javascript"}:
        return None
    if url.scheme or url.netloc:
        return None if tag == "a" else "loaded from another host"
    target = (path.parent / unquote(url.path)).resolve() if url.path else path
    if not target.is_relative_to(site):
        return "leaves the site"
    if not target.is_file():
        return "no such file"
    anchor = unquote(url.fragment)
    if anchor and target.suffix == ".html" and anchor not in _read(target).anchors:
        return "no such anchor"
    return None


def main() -> int:
    """Print the faults of the site named on the command line."""
    found = faults(Path(sys.argv[1]))
    print("\n".join([*found, f"{len(found)} faults"]))
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
