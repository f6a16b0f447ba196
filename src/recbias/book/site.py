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
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import nullcontext
from itertools import product
from pathlib import Path
from typing import Any

import yaml
from tqdm import tqdm

from recbias._system.processes import ending_source
from recbias.book.notebooks import (
    BuildError,
    Chapter,
    check_parameters,
    edition_name,
    list_chapters,
    pages_in,
    results_of,
    run_chapter,
)
from recbias.book.rerun import check_data
from recbias.data.datasets import TableOptions, dataset_info, is_path, own_table
from recbias.errors import ConfigError, unknown_name
from recbias.experiment.engine import open_executor
from recbias.experiment.results import recorded_datasets

_BUILD = "{ending}; from jupyter_book.cli.main import main; main()"
_STRICT = ("-q", "-n", "-W", "--keep-going")
_SHOWN = 10
_SHARED = "_static"
_LINK = re.compile(rf'((?:href|src)="(?:\.\./)*)({_SHARED}/)')
_ARTICLE = re.compile(r"<article\b[^>]*>(.*?)</article>", re.DOTALL)
_NO_WORDS = re.compile(r"<(h[1-6]|script|style)\b.*?</\1>|<[^>]*>", re.DOTALL)
_FINDING = re.compile(r"\b(?:WARNING|ERROR|CRITICAL|Exception occurred|Extension error|error): ?")


def default_editions(root: Path) -> list[str]:
    """Read from ``_config.yml`` which data sets have an edition when none are named."""
    config = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
    return list(config["sphinx"]["config"]["bookkit_editions"])


def build_site(
    datasets: Sequence[str] = (),
    out: Path | None = None,
    *,
    params: Mapping[str, object] | None = None,
    options: TableOptions | None = None,
    root: Path | None = None,
) -> Path:
    """Run every chapter on every data set and build the site."""
    chapters = list_chapters(root)
    root = chapters[0].root
    datasets = list(datasets) or default_editions(root)
    run_options: dict[str, Any] = {"options": options, "shared": dict(params or {})}
    editions = {edition_name(dataset, options, params): dataset for dataset in datasets}
    if len(editions) < len(datasets):
        raise ConfigError(f"each edition can be named once, got: {' '.join(datasets)}")
    _check(chapters, datasets, params or {}, options)
    summaries = [chapter for chapter in chapters if chapter.is_summary]
    _run_all([each for each in chapters if each not in summaries], datasets, run_options)
    # Last, as they show what the chapters stored, on any data set. What the first edition judges is
    # kept for all; at the same time each would judge all claims.
    _run_all(summaries, datasets[:1], run_options)
    _run_all(summaries, datasets[1:], run_options)
    build_editions(root, editions, run_options)
    for name in editions:
        pages = root / "_build" / "editions" / name / "_build" / "html"
        if lacking := empty_pages(pages, root):
            raise BuildError(
                f"the edition {name} lacks pages, or text on them: {', '.join(lacking)}"
            )
    fresh = root / "_build" / "site.new"
    shutil.rmtree(fresh, ignore_errors=True)
    for name in editions:
        _add_edition(root / "_build" / "editions" / name / "_build" / "html", fresh, name)
    out = out or root / "_build" / "site"
    shutil.rmtree(out, ignore_errors=True)
    out.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(fresh, out)
    return out / "index.html"


def empty_pages(edition: Path, root: Path) -> list[str]:
    """Name the pages of the table of contents that an edition lacks, or that say nothing."""
    contents = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
    return [page for page in pages_in(contents) if not _has_text(edition / f"{page}.html")]


def _has_text(page: Path) -> bool:
    """Tell whether a page has words in its article, headings left out."""
    if not page.is_file():
        return False
    article = _ARTICLE.search(page.read_text(encoding="utf-8"))
    return article is not None and bool(_NO_WORDS.sub("", article[1]).strip())


def edition_titles(editions: Mapping[str, str]) -> dict[str, str]:
    """Give each edition the title of its data set."""
    paths = {
        name: Path(dataset).absolute() for name, dataset in editions.items() if is_path(dataset)
    }
    titles = {name: dataset_info(editions[name]).title for name in editions.keys() - paths}
    for name, path in paths.items():
        others = [other for other in paths.values() if other != path]
        n = 1
        while any(other.parts[-n:] == path.parts[-n:] for other in others):
            n += 1
        titles[name] = "/".join(path.parts[-n:])
    return {name: titles[name] for name in editions}


def _check(
    chapters: Sequence[Chapter],
    datasets: Sequence[str],
    params: Mapping[str, object],
    options: TableOptions | None,
) -> None:
    """Refuse what some chapter would refuse, before the first one runs."""
    known = {param.name for chapter in chapters for param in chapter.parameters()} - {"dataset"}
    for name in params:
        if name not in known:
            raise unknown_name("parameter of the chapters", name, known)
    recorded = recorded_datasets() if params else []
    for dataset in datasets:
        if dataset in recorded:
            raise ConfigError(
                f"{dataset} has recorded results, which a site with other parameters cannot show\n"
                f"run one chapter: recbias run CHAPTER --dataset {dataset} -p ..."
            )
        table = own_table(dataset, options) if is_path(dataset) else None
        with table.handed_on() if table else nullcontext(dataset) as called:
            defaults: dict[str, Any] = {}
            values: dict[str, Any] = {"dataset": called}
            for chapter in chapters:
                has = {param.name: param.default for param in chapter.parameters()}
                defaults |= has
                chapter_params = {name: value for name, value in params.items() if name in has}
                values |= check_parameters(chapter, chapter_params)
            check_data(values, defaults)  # once: the table is read for it


def _run_all(
    chapters: Sequence[Chapter], datasets: Sequence[str], run_options: Mapping[str, Any]
) -> None:
    """Run chapters on every data set.

    One after the other on each, as they share trained systems.
    """
    n_lanes = min(len(datasets), os.cpu_count() or 1)
    with tqdm(total=len(chapters) * len(datasets), desc="chapters", unit="run") as bar:
        if n_lanes < 2:
            for dataset, chapter in product(datasets, chapters):
                bar.set_postfix_str(f"{chapter.name} on {dataset}")
                run_chapter(chapter, dataset, progress=True, **run_options)
                bar.update()
            return
        recorded = recorded_datasets()
        order = sorted(datasets, key=lambda dataset: dataset in recorded)
        waiting = {dataset: list(chapters) for dataset in order}
        running: dict[Future[Path], str] = {}
        # processes: what a kernel inherits is set in the environment of the one that starts it
        with open_executor(n_lanes) as runners:
            assert runners is not None  # there are at least two lanes
            while any(waiting.values()) or running:
                while any(waiting.values()) and len(running) < n_lanes:
                    dataset, chapter = _take_next(waiting, running.values())
                    bar.set_postfix_str(f"{chapter.name} on {dataset}")
                    running[runners.submit(run_chapter, chapter, dataset, **run_options)] = dataset
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for run in done:
                    del running[run]
                    run.result()
                    bar.update()


def _take_next(
    waiting: Mapping[str, list[Chapter]], running: Collection[str]
) -> tuple[str, Chapter]:
    """Take the first chapter of a data set that is idle, else the last of that with most left."""
    for dataset, left in waiting.items():
        if left and dataset not in running:
            return dataset, left.pop(0)
    dataset = max(waiting, key=lambda dataset: len(waiting[dataset]))
    return dataset, waiting[dataset].pop()


def build_editions(
    root: Path,
    editions: Mapping[str, str],
    run_options: Mapping[str, Any],
    *,
    chosen: Collection[str] | None = None,
    out: Path | None = None,
) -> None:
    """Build editions at the same time from what was run, each into a fresh folder of its name.

    The folders stand below `out`; where some are chosen, they are what they are beside all.
    """
    titles = json.dumps(edition_titles(editions))
    out = out or root / "_build" / "editions"
    builds = {}
    for name in editions if chosen is None else chosen:
        dataset, folder = editions[name], out / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        command = [sys.executable, "-c", _BUILD.format(ending=ending_source(os.getpid()))]
        command += ["build", str(root), "--path-output", str(folder), *_STRICT]
        table = own_table(dataset, run_options["options"]) if is_path(dataset) else None
        environment = os.environ | {
            "RECBIAS_EDITION": table.called if table else dataset,
            "RECBIAS_EDITIONS": titles,
            **(table.environment() if table else {}),
        }
        if run_options["shared"]:
            environment["RECBIAS_PARAMETERS"] = json.dumps(run_options["shared"])
            environment["RECBIAS_RESULTS"] = str(results_of(root / "_build", name))
        with (folder / "build.log").open("w", encoding="utf-8") as log:
            builds[name] = subprocess.Popen(
                command, cwd=root, env=environment, stdout=log, stderr=subprocess.STDOUT
            )
    try:
        for build in tqdm(builds.values(), desc="editions", unit="edition"):
            build.wait()
    except BaseException:
        for build in builds.values():
            build.kill()
        raise
    failed = [name for name, build in builds.items() if build.returncode]
    if failed:
        raise BuildError("\n".join(_findings(root, name, out) for name in failed))


def _findings(root: Path, name: str, out: Path) -> str:
    """Say in a few lines what is wrong with an edition."""
    log = out / name / "build.log"
    text = re.sub(r"\x1b\[[\d;]*m", "", log.read_text(encoding="utf-8"))
    lines = [line for line in text.splitlines() if _FINDING.search(line)]
    reported = lines[:_SHOWN] or text.splitlines()[-3:]
    shortened = [line.replace(f"{root}{os.sep}", "") for line in reported]
    more = [f"and {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else []
    return "\n".join([f"the edition {name} has faults, written to {log}:", *shortened, *more])


def _add_edition(pages: Path, site: Path, name: str) -> None:
    """Copy an edition into the site; all but the first link to the shared files of the first."""
    if not site.exists():
        shutil.copytree(pages, site)
        return
    target = site / "on" / name
    shutil.copytree(pages, target)
    for path in (target / _SHARED).rglob("*"):
        if path.is_file() and not _is_same(path, site / path.relative_to(target)):
            raise BuildError(
                f"the edition {name} needs another {path.relative_to(target)} than the first\n"
                f"build it on its own: recbias book {name}"
            )
    shutil.rmtree(target / _SHARED)
    for page in target.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        page.write_text(_LINK.sub(r"\1../../\2", text), encoding="utf-8")


def _is_same(path: Path, other: Path) -> bool:
    return other.is_file() and filecmp.cmp(path, other, shallow=False)
