"""Verification: recorded results are computed again, in full or in part, and compared.

What must exist is listed in a *manifest* beside the recorded results, so that one that was deleted
is missed. Keys and digests, which reading checks, notice accidents; what was edited and digested
again is noticed here, where the data is. Whether a result is the one that its name stands for is
asked of the list of what chapters ask for, which no recording renews. What verdicts rest on besides
results, such as criteria and their lock, is checked by the room that keeps it
(`register_foundation`). What cannot be detected:

* times, and versions and processor of the provenance, which differ from machine to machine;
* edits within the bound: a hundredth of the standard error of a fresh value, .3 for a system
  that depends on the processor (for resampled values in their root mean square, and somewhat
  more for one of them or an end of an interval), one part in a million of a table or statistic,
  1e-9 of a check;
* what was changed together with the list of what chapters ask for (`recbias.experiment.asked`): a
  test derives that list from the notebooks again;
* in a table or check about systems that depend on the processor, numbers that differ where its
  record names another one, truly or not, and rows that name such a system: how much is said, and
  not held against it;
* without the data, any forgery that is consistent: file, digest and manifest;
* when a part of the systems is compared, what was edited of the others, and tables about all;
* when results are drawn (`recbias.experiment.rotation`), what was edited of those that were not;
* cells that were edited in the folder of a verification that was stopped, and then went on;
* what code and data get wrong alike, now and when the results were recorded.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import inf, isfinite, nan
from pathlib import Path
from typing import Any

import pandas as pd

from recbias._system.places import cells_kept_in
from recbias.errors import ConfigError, MissingData, RecbiasError, StoreError
from recbias.experiment.asked import check_asked
from recbias.experiment.makers import Made
from recbias.experiment.results import (
    Agreement,
    StoredResult,
    load_result,
    recorded_datasets,
    results_dir,
    stored_results,
)
from recbias.experiment.store import (
    canonical_json,
    digest,
    platform_record,
    read_document,
    write_atomically,
)
from recbias.recommenders import System

__all__ = [
    "check_foundations",
    "check_manifest",
    "check_recorded",
    "listed_datasets",
    "missing_results",
    "register_foundation",
    "renew_manifest",
    "verify",
]

MANIFEST = "manifest.json"

LEFT_OUT = "about all systems together, not compared for a part of them"
"""What the row of a table says that a sample of the systems leaves out."""

_LISTED = ("kind", "key", "digest")

_UNFINISHED = "verification.json"
"""What a folder of cells has until all is verified: the code that computes them."""


def verify(
    dataset: str,
    *,
    chapter: str | None = None,
    systems: int | None = None,
    chosen: Mapping[str, Sequence[str] | None] | None = None,
    workers: int = 1,
    data_dir: Path | None = None,
    cells: Path | None = None,
) -> pd.DataFrame:
    """Compute a dataset's recorded results anew, from the ratings, and compare.

    Parameters
    ----------
    dataset
        A dataset that is at hand.
    chapter
        Compute only what is recorded below this name: of a notebook, or ``audits``, ``systems``.
    systems
        Compute only so many systems of each recorded grid (see
        `recbias.experiment.grid.Grid.sample`). Tables about all systems of a grid together are then
        left out, and their rows say so; results of other kinds are computed as a whole. None = all.
    chosen
        Compute only these results, by name: of a grid the systems that are named, all else as a
        whole. A table or check about systems that depend on the processor is left out where it was
        recorded on another one, and its row says so. None = all results, these too: where one of
        them differs, its row says by how much, and agrees, but for what differs by no number in
        rows that name no such system.
    workers, data_dir
        As in :func:`recbias.experiment.run.run`.
    cells
        A new or empty folder that keeps the cells; else they are removed afterwards. Cells that
        were there before are never used, but those of a verification by the same code, libraries
        and processor that was stopped, or was of one chapter: with its folder it goes on.

    Returns
    -------
    DataFrame
        A row per result, and one more for each system that is compared apart: ``recorded``, its
        name; ``about``, what is apart, and why; how many ``values`` were compared; the largest
        ``difference``, and the same in units of what its kind allows, ``of bound``; whether it
        ``agrees``, and a tuple of texts on what is ``differing``. Results that are missing, not in
        the manifest, or not what their chapter asks for, have a row as well, and so has what
        `check_foundations` finds.

    Raises
    ------
    MissingData
        If the dataset is not at hand, or nothing is recorded for it or for the chapter.
    StoreError
        If the manifest, the list of what chapters ask for, or a recorded result is damaged, edited
        or stale.
    ConfigError
        If `cells` holds something else than what may go on.
    """
    rows = [
        _row(name, Agreement(0, nan, nan, (problem,)))
        for name, problem in {**check_recorded(dataset), **check_foundations()}.items()
    ]
    paths = stored_results(results_dir(dataset, recorded=True))
    if not paths and not rows:
        raise MissingData(f"{dataset}: no recorded results to verify")
    of_chapter = {name: path for name, path in paths.items() if _is_of(name, chapter)}
    if paths and not of_chapter:
        known = ", ".join(dict.fromkeys(name.partition("/")[0] for name in paths))
        raise MissingData(
            f"{dataset}: no recorded results of a chapter {chapter!r}; there are such of {known}"
        )
    with _fresh_folder(cells, whole=chapter is None) as folder, cells_kept_in(folder):
        for name, path in of_chapter.items():
            if chosen is not None and name not in chosen:
                continue
            stored = load_result(path, dataset=dataset)
            moving, moved = _other_processor(stored)
            if chosen is not None and moving:
                about = f"not compared: {moved}"
                rows.append(_row(name, Agreement(0, nan, nan, (), about=about)))
                continue
            if systems is not None and isinstance(stored, Made) and "grid" in stored.given:
                # No sample of the systems is shorter.
                rows.append(_row(name, Agreement(0, nan, nan, (), about=LEFT_OUT)))
                continue
            asked = systems if chosen is None else chosen[name]
            fresh = stored.recompute(systems=asked, workers=workers, data_dir=data_dir)
            agreement = stored.verify(fresh)
            if moving and agreement.differing:
                agreement = _what_is_held(agreement, moving, moved)
            other = _other_dataset(stored, fresh)
            rows.append(_row(name, agreement._replace(differing=(*other, *agreement.differing))))
            rows += [_row(name, apart) for apart in agreement.apart]
    return pd.DataFrame(rows)


def _row(name: str, agreement: Agreement) -> dict[str, Any]:
    return {
        "recorded": name,
        "about": agreement.about,
        "values": agreement.n_values,
        "difference": agreement.difference,
        "of bound": agreement.of_bound,
        "agrees": not agreement.differing,
        "differing": agreement.differing,
    }


def _what_is_held(agreement: Agreement, moving: Sequence[str], moved: str) -> Agreement:
    """Say what differs as it may, and hold the rest: rows that differ by no number and name none.

    A row about the place where a system overtakes another is at another place, or not there.
    """
    far = (
        f"by {agreement.difference:.2g} at most"
        if isfinite(agreement.difference)
        else f"in {len(agreement.differing)} rows, {len(agreement.unmeasured)} of them by no number"
    )
    held = tuple(row for row in agreement.unmeasured if not any(system in row for system in moving))
    difference = inf if held else nan
    about = f"differs, {far}, as it may: {moved}"
    return Agreement(len(held), difference, difference, held, about=about)


def _other_processor(stored: StoredResult) -> tuple[list[str], str]:
    """Name the systems whose scores differ here, by processor, and tell why.

    How far that moves what is made of scores is not known, as it is of a grid's own values.
    """
    grid = stored.given.get("grid") if isinstance(stored, Made) else None
    systems = [System.from_dict(record) for record in (grid or {}).get("systems", ())]
    moving = [system.name for system in systems if system.depends_on_processor]
    here = platform_record()
    if not moving or all(stored.provenance.get(name) == here[name] for name in ("machine", "blas")):
        return [], ""
    recorded = ", ".join(map(str, stored.provenance.get("blas") or ["another processor"]))
    return (
        moving,
        f"{', '.join(moving)} depends on the processor, and it was recorded with {recorded}",
    )


def _other_dataset(stored: StoredResult, fresh: StoredResult) -> Iterator[str]:
    """Tell what the record of the dataset says that the dataset at hand does not."""
    for name in dict.fromkeys([*fresh.dataset, *stored.dataset]):
        said, at_hand = stored.dataset.get(name), fresh.dataset.get(name)
        if said != at_hand:
            yield f"dataset: {name} is recorded as {said!r}, found {at_hand!r}"


@contextmanager
def _fresh_folder(cells: Path | None, *, whole: bool) -> Iterator[Path]:
    """Give a folder of no cells but those of the same verification, if there is more to it."""
    if cells is None:
        with tempfile.TemporaryDirectory(prefix="recbias-cells-") as folder:
            yield Path(folder)
        return
    mark, by = cells / _UNFINISHED, json.dumps(_computed_by(), sort_keys=True).encode()
    is_ours = mark.is_file() and mark.read_bytes() == by
    if not is_ours and cells.exists() and (not cells.is_dir() or any(cells.iterdir())):
        raise ConfigError(
            f"{cells}: not empty, and old cells prove nothing, but those of a verification by the "
            "same code and libraries that was stopped or of one chapter; name a new folder"
        )
    cells.mkdir(parents=True, exist_ok=True)
    write_atomically(mark, by)
    yield cells.resolve()
    if whole:
        mark.unlink()


def _computed_by() -> dict[str, object]:
    """Describe all but the ratings that cells depend on: code, libraries, processor."""
    package = Path(__file__).parents[1]
    files = sorted(path.relative_to(package) for path in package.rglob("*.py"))
    code = {file.as_posix(): digest((package / file).read_bytes()) for file in files}
    return {"code": digest(canonical_json(code).encode()), **platform_record()}


# -- what needs no data ------------------------------------------------------------------------

_FOUNDATIONS: dict[str, Callable[[], object]] = {}


def register_foundation(name: str, check: Callable[[], object]) -> None:
    """Have something checked with the results, because verdicts rest on it too.

    Parameters
    ----------
    name
        What it is, as it is printed.
    check
        Raises an error of this package if something is wrong. Reading it again is its own affair.
    """
    _FOUNDATIONS[name] = check


def check_foundations() -> dict[str, str]:
    """Check what rooms above this one have registered; no data is needed.

    Returns
    -------
    dict of str to str
        By name what is wrong.
    """
    problems = {}
    for name, check in _FOUNDATIONS.items():
        try:
            check()
        except RecbiasError as error:
            problems[name] = "; ".join(str(error).splitlines())
    return problems


def check_recorded(dataset: str) -> dict[str, str]:
    """Hold what is recorded of a dataset against the manifest and what its chapters ask for.

    No data is needed.

    Returns
    -------
    dict of str to str
        By name of the result what is wrong, by the manifest first; errors as of `check_manifest`
        and `recbias.experiment.asked.check_asked`.
    """
    documents = _documents(dataset)
    parameters = {name: document["parameters"] for name, document in documents.items()}
    problems = {**check_asked(dataset, parameters), **_other_than_listed(dataset, documents)}
    return dict(sorted(problems.items()))


# -- the manifest ------------------------------------------------------------------------------


def renew_manifest(recorded: Path, dataset: str | None = None, chapter: str | None = None) -> Path:
    """List in the manifest what is recorded now.

    Parameters
    ----------
    recorded
        Folder of all recorded results.
    dataset, chapter
        Renew only what is listed of these, and keep the rest.

    Returns
    -------
    Path
        The manifest: by dataset and name of the result its kind, key and digest.

    Raises
    ------
    StoreError
        If a result is damaged, or the manifest that is to be kept in part.
    """
    path = recorded / MANIFEST
    before = {} if dataset is None or not path.is_file() else _read_manifest(path)
    names = sorted(folder.name for folder in recorded.iterdir() if folder.is_dir())
    listed: dict[str, dict[str, dict[str, str]]] = {}
    for name in sorted({*names, *before}):
        others = {}
        if dataset is not None:
            others = {
                result: entry
                for result, entry in before.get(name, {}).items()
                if name != dataset or not _is_of(result, chapter)
            }
        files = stored_results(recorded / name) if dataset in (None, name) else {}
        renewed = {
            result: _entry(file) for result, file in files.items() if _is_of(result, chapter)
        }
        if others or renewed:
            listed[name] = dict(sorted({**others, **renewed}.items()))
    write_atomically(path, (json.dumps(listed, indent=1) + "\n").encode())
    return path


def check_manifest(dataset: str) -> dict[str, str]:
    """Compare what is recorded of a dataset with the manifest; no data is needed.

    Returns
    -------
    dict of str to str
        By name of the result what is wrong: it is missing, not listed, or another one.

    Raises
    ------
    StoreError
        If the manifest is missing or damaged, or a result is.
    """
    return _other_than_listed(dataset, _documents(dataset))


def _documents(dataset: str) -> dict[str, dict[str, Any]]:
    """Read what is recorded of a dataset, by name."""
    paths = stored_results(results_dir(dataset, recorded=True))
    return {name: read_document(path.with_suffix(".json")) for name, path in paths.items()}


def _other_than_listed(dataset: str, documents: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Tell what is missing, not listed in the manifest, or another one, by name."""
    listed = _listed(dataset)
    problems = {}
    for name in sorted({*listed, *documents}):
        if name not in documents:
            problems[name] = "missing, yet listed in the manifest"
        elif name not in listed:
            problems[name] = "not listed in the manifest"
        else:
            other = [part for part in _LISTED if documents[name][part] != listed[name][part]]
            if other:
                problems[name] = f"another {' and '.join(other)} than the manifest lists"
    return problems


def listed_datasets() -> list[str]:
    """Name the datasets that the manifest lists, or that have recorded results, sorted.

    Simulations are named like a dataset.

    Raises
    ------
    StoreError
        If the manifest is missing or damaged.
    """
    folder = results_dir("", recorded=True)
    datasets = recorded_datasets(simulations=True)
    return sorted({*datasets, *_read_manifest(folder / MANIFEST)})


def missing_results(dataset: str, chapter: str) -> list[str]:
    """Name the results of a chapter that the manifest lists and that are not there.

    Parameters
    ----------
    dataset
        Name of a dataset.
    chapter
        Name of its notebook.

    Returns
    -------
    list of str
        Names within the chapter, sorted.

    Raises
    ------
    StoreError
        If the manifest is missing or damaged.
    """
    folder = results_dir(dataset, recorded=True)
    return [
        name.removeprefix(f"{chapter}/")
        for name in sorted(_listed(dataset))
        if _is_of(name, chapter) and not (folder / f"{name}.json").is_file()
    ]


def _is_of(name: str, chapter: str | None) -> bool:
    return chapter is None or name.startswith(f"{chapter}/")


def _entry(path: Path) -> dict[str, str]:
    record = read_document(path.with_suffix(".json"))
    return {field: record[field] for field in _LISTED}


def _listed(dataset: str) -> dict[str, dict[str, str]]:
    """Read what the manifest lists of a dataset; nothing where nothing is recorded at all."""
    folder = results_dir("", recorded=True)
    if not (folder / MANIFEST).is_file() and not (
        folder.is_dir() and recorded_datasets(simulations=True)
    ):
        return {}
    return _read_manifest(folder / MANIFEST).get(dataset, {})


def _read_manifest(path: Path) -> dict[str, dict[str, dict[str, str]]]:
    try:
        listed: dict[str, dict[str, dict[str, str]]] = json.loads(path.read_text(encoding="utf-8"))
        for results in listed.values():
            for name, entry in results.items():
                if any(not isinstance(entry[field], str) for field in _LISTED):
                    raise ValueError(f"{name}: no text")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise StoreError(
            f"{path}: not a list of the recorded results ({error!r})\n"
            "restore it; what it lists is renewed by recbias run CHAPTER --dataset NAME --record"
        ) from error
    return listed
