"""Build editions of the site once more, elsewhere, from the same runs, and compare all files.

    python tests/site/check_same.py [--draw TEXT]

Exit 1 on a file that differs, or that one build has alone: a time, an order, a hash or a path of
this machine got into it. All editions of `make book`, which was run before, or the one that a text
draws, such as a commit: all are made by the same code, and each takes as long as the first time.
"""

from __future__ import annotations

import argparse
import filecmp
import hashlib
import sys
import tempfile
from pathlib import Path

from recbias.book.site import build_editions, default_editions

ROOT = Path(__file__).resolve().parents[2]
PAGES = "_build/html"


def differences(folder: Path, other: Path) -> list[str]:
    """Name what two folders do not have alike, by paths below them."""
    files = {
        path.relative_to(top).as_posix()
        for top in (folder, other)
        for path in top.rglob("*")
        if path.is_file()
    }
    same, _, _ = filecmp.cmpfiles(folder, other, files, shallow=False)
    return sorted(files - set(same))


def drawn(editions: list[str], text: str) -> str:
    """Draw one of the editions: each is drawn by about as many texts."""
    return editions[hashlib.sha256(text.encode()).digest()[0] % len(editions)]


def main() -> int:
    """Compare all editions, or the one that is drawn."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--draw", metavar="TEXT", help="only the edition that TEXT draws")
    text = parser.parse_args().draw
    editions = default_editions(ROOT)
    chosen = editions if text is None else [drawn(editions, text)]
    named = {name: name for name in editions}
    faults = 0
    with tempfile.TemporaryDirectory() as folder:
        build_editions(
            ROOT, named, {"options": None, "shared": {}}, chosen=chosen, out=Path(folder)
        )
        for name in chosen:
            first, again = ROOT / "_build/editions" / name / PAGES, Path(folder, name, PAGES)
            if not (first / "index.html").is_file():
                sys.exit(f"no edition {name} below _build/editions: make book")
            found = differences(first, again)
            print("\n".join([*found[:20], f"{name}: {len(found)} files differ"]))
            faults += len(found)
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(main())
