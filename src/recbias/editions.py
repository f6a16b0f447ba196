"""Editions: the book once per data set, as one static site that opens from disk.

Every edition is a complete book with the same page names. The first stands at the root of the site,
the others under ``on/<dataset>/``; they share the style sheets, scripts and fonts of the first.
"""

from __future__ import annotations

import filecmp
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import yaml
from tqdm import tqdm

from recbias.chapters import BuildError, list_chapters, run_chapter
from recbias.errors import ConfigError

_STRICT = ("-q", "-n", "-W", "--keep-going")
_SHOWN = 10
_SHARED = "_static"
_LINK = re.compile(rf'((?:href|src)="(?:\.\./)*)({_SHARED}/)')
_FINDING = re.compile(r"\b(?:WARNING|ERROR|CRITICAL|Exception occurred|Extension error|error): ?")


def default_editions(root: Path) -> list[str]:
    """Read from ``_config.yml`` which data sets have an edition when none are named.

    Parameters
    ----------
    root : Path
        The clone.

    Returns
    -------
    list of str
        Names of data sets; the first is the one at the root of the site.
    """
    config = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
    return list(config["sphinx"]["config"]["bookkit_editions"])


def build_site(
    datasets: Sequence[str] = (),
    out: Path | None = None,
    *,
    root: Path | None = None,
    data_dir: Path | None = None,
) -> Path:
    """Run every chapter on every data set and build the site.

    Parameters
    ----------
    datasets : sequence of str
        One edition each, in this order; those of ``_config.yml`` if empty.
    out : Path, optional
        Folder of the site, ``_build/site`` of the clone by default. It is replaced as a whole, and
        only by a site that was built without a warning.
    root : Path, optional
        The clone.
    data_dir : Path, optional
        Folder with data sets, searched before all others.

    Returns
    -------
    Path
        ``index.html`` of the site.

    Raises
    ------
    ConfigError
        If a data set is named twice, or there is no clone.
    BuildError
        If a chapter fails, or a page gives a warning; the message names the pages.
    """
    chapters = list_chapters(root)
    root = chapters[0].root
    datasets = list(datasets) or default_editions(root)
    if len(set(datasets)) < len(datasets):
        raise ConfigError(f"each edition can be named once, got: {' '.join(datasets)}")
    runs = [(dataset, chapter) for dataset in datasets for chapter in chapters]
    with tqdm(runs, desc="chapters", unit="run") as bar:
        for dataset, chapter in bar:
            bar.set_postfix_str(f"{chapter.name} on {dataset}")
            run_chapter(chapter, dataset, data_dir=data_dir, progress=True)
    pages = _build_editions(root, datasets)
    fresh = root / "_build" / "site.new"
    shutil.rmtree(fresh, ignore_errors=True)
    for number, dataset in enumerate(datasets):
        if number == 0:
            shutil.copytree(pages[dataset], fresh)
        else:
            _add_edition(pages[dataset], fresh, dataset)
    out = out or root / "_build" / "site"
    shutil.rmtree(out, ignore_errors=True)
    out.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(fresh, out)
    return out / "index.html"


def _build_editions(root: Path, datasets: Sequence[str]) -> dict[str, Path]:
    """Build all editions at the same time, each into a fresh folder.

    Fresh, because Sphinx reports the warnings of a page only when it reads it again.
    """
    builds = {}
    for dataset in datasets:
        folder = root / "_build" / "editions" / dataset
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        command = [sys.executable, "-c", "from jupyter_book.cli.main import main; main()"]
        command += ["build", str(root), "--path-output", str(folder), *_STRICT]
        environment = os.environ | {
            "RECBIAS_EDITION": dataset,
            "RECBIAS_EDITIONS": json.dumps({name: name for name in datasets}),
        }
        with (folder / "build.log").open("w") as log:
            builds[dataset] = subprocess.Popen(
                command, cwd=root, env=environment, stdout=log, stderr=subprocess.STDOUT
            )
    for build in tqdm(builds.values(), desc="editions", unit="edition"):
        build.wait()
    failed = [dataset for dataset, build in builds.items() if build.returncode]
    if failed:
        raise BuildError("\n".join(_findings(root, dataset) for dataset in failed))
    return {name: root / "_build" / "editions" / name / "_build" / "html" for name in datasets}


def _findings(root: Path, dataset: str) -> str:
    """Say in a few lines what is wrong with an edition."""
    log = root / "_build" / "editions" / dataset / "build.log"
    text = re.sub(r"\x1b\[[\d;]*m", "", log.read_text(encoding="utf-8"))
    lines = [line for line in text.splitlines() if _FINDING.search(line)]
    shown = [
        line.replace(f"{root}{os.sep}", "") for line in lines[:_SHOWN] or text.splitlines()[-3:]
    ]
    more = [f"and {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else []
    return "\n".join(
        [f"the edition on {dataset} has {len(lines)} faults, all of them in {log}:", *shown, *more]
    )


def _add_edition(pages: Path, site: Path, dataset: str) -> None:
    """Copy an edition into the site, its links to shared files turned to those of the first."""
    target = site / "on" / dataset
    shutil.copytree(pages, target)
    differing = [
        path.relative_to(target).as_posix()
        for path in sorted((target / _SHARED).rglob("*"))
        if path.is_file() and not _is_same(path, site / path.relative_to(target))
    ]
    if differing:
        raise BuildError(
            f"the edition on {dataset} needs other shared files than the first: "
            f"{', '.join(differing)}\nbuild it on its own: recbias book {dataset}"
        )
    shutil.rmtree(target / _SHARED)
    for page in target.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        page.write_text(_LINK.sub(r"\1../../\2", text), encoding="utf-8")


def _is_same(path: Path, other: Path) -> bool:
    return other.is_file() and filecmp.cmp(path, other, shallow=False)
