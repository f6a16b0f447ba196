"""What is known of each data set: where it comes from, what it holds, what it cannot tell."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import yaml

from recbias._system import places
from recbias.data.ratings import RatingScale
from recbias.data.simulation import CountOptions, PowerLawOptions, is_world, parse_world
from recbias.errors import ConfigError, MissingData, unknown_name


@dataclass(frozen=True)
class DatasetInfo:
    """The registry's entry for a data set.

    Parameters
    ----------
    name : str
        What a person types, e.g. ``"ml-1m"``.
    title : str
        How it is named wherever its results are shown.
    licence, citation, use : str
        What the publisher asks for, in a sentence; the paper to cite; what may be done with it.
    n_users, n_items, n_ratings : int
        Its size; the number of ratings is None where nobody here could count.
    scale : RatingScale
        The declared scale.
    cannot_test : mapping of str to str
        Reason why claims may be not testable here (``"no timestamps"``, ``"merged stars"``,
        ``"no negatives"``, ``"no unbiased part"``), and what it means for this data set.
    merged_below : float, optional
        Ratings below this are one value; all others of the scale occur.
    relevant_from : float, optional
        The smallest relevant value in the papers, where the top of the scale cannot be one.
    observed : str, optional
        Where a part was rated for items drawn at random: what items the observed ratings are of,
        as in "ratings of items that users chose". All pages that compare the two quote it.
    files : tuple of tuple of str
        Alternatives, preferred one first; each is the files that it needs, below a data folder. A
        name with ``*`` stands for all files that fit, at least one.
    address : str, optional
        Where the publisher has it.
    checksum : str, optional
        Of the file at `address`, with its kind: ``"sha256:..."``.
    checksum_source : str, optional
        Who says so.
    size : int, optional
        Bytes of the file at `address`.
    members : mapping of str to str
        If the file at `address` is an archive: which file below a data folder comes from which of
        its members. Empty if the file itself is wanted, or nothing can be fetched.
    unpacked_size : int, optional
        Bytes that these members may have together, at most.
    parts : mapping of str to mapping
        Where the publisher has several files instead of the one at `address`: for each file below a
        data folder its ``address``, ``checksum`` and, where known, ``size``.
    by_hand : str, optional
        How to get the files where nothing may or can fetch them: one sentence.
    content_hash : str, optional
        `Ratings.content_hash` of the data set.
    merged_content_hash : str, optional
        The same after the stars were merged as in ``ml-1m``, where only that is known.
    """

    name: str
    title: str
    licence: str
    citation: str
    use: str
    n_users: int
    n_items: int
    scale: RatingScale
    cannot_test: Mapping[str, str]
    n_ratings: int | None = None
    merged_below: float | None = None
    relevant_from: float | None = None
    observed: str = ""
    files: tuple[tuple[str, ...], ...] = field(default=())
    address: str | None = None
    checksum: str | None = None
    checksum_source: str | None = None
    size: int | None = None
    members: Mapping[str, str] = field(default_factory=dict)
    unpacked_size: int | None = None
    parts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    by_hand: str | None = None
    content_hash: str | None = None
    merged_content_hash: str | None = None


OUTSIDE: dict[str, DatasetInfo] = {}
"""Entries of data sets from outside the package, see `recbias.data.datasets.register_dataset`."""


def registry() -> dict[str, DatasetInfo]:
    """Read the registry.

    Returns
    -------
    dict of str to DatasetInfo
        By name, in the order in which data sets are listed.
    """
    text = places.packaged("registry.yaml").read_text(encoding="utf-8")
    return {**{info.name: info for info in _entries(text)}, **OUTSIDE}


# Every stored result that is read asks for its data set, and YAML takes a tenth of a second.
@lru_cache(maxsize=2)
def _entries(text: str) -> tuple[DatasetInfo, ...]:
    entries = []
    for name, entry in yaml.safe_load(text).items():
        scale = RatingScale(*entry.pop("scale"))
        files = tuple(map(tuple, entry.pop("files", [])))
        entries.append(DatasetInfo(name=name, scale=scale, files=files, **entry))
    return tuple(entries)


def dataset_info(name: str) -> DatasetInfo:
    """Look a data set up.

    Parameters
    ----------
    name : str
        E.g. ``"ml-100k"``, or that of a world, e.g. ``"world(skew=0.7)"``.

    Returns
    -------
    DatasetInfo
        Its entry. That of a world is made from its name: `name` is in its one fixed form, and
        number of ratings and content hash are None, as the world is not made for it.

    Raises
    ------
    ConfigError
        If the registry has no such name; the message has the nearest one. If a world's name does
        not say which world.

    Examples
    --------
    >>> info = dataset_info("world(seed=3, alpha=1.4)")
    >>> info.name, info.title, info.n_users
    ('world(alpha=1.4,seed=3)', 'World without preferences: alpha=1.4,seed=3', 943)
    """
    entries = registry()
    if is_world(name):
        return _world_info(name, entries)
    if name not in entries:
        unknown = unknown_name("dataset", name, entries)
        if Path(name).is_dir():
            raise ConfigError(f"{unknown}\n{name} is a folder here: give the path of a table in it")
        if Path(name).is_file():
            raise ConfigError(f"{unknown}\n{name} is a file here: give it as ./{name}")
        raise unknown
    return entries[name]


def _world_info(name: str, entries: Mapping[str, DatasetInfo]) -> DatasetInfo:
    options = parse_world(name)
    made = dataclasses.replace(
        entries["synthetic"], name=str(options), n_ratings=None, content_hash=None
    )
    said = str(options).removeprefix("world(").removesuffix(")")
    if not isinstance(options, CountOptions):
        kind = "World without preferences" if isinstance(options, PowerLawOptions) else "World"
        title = f"{kind}: {said or 'defaults'}"
        return dataclasses.replace(made, title=title, n_users=options.users, n_items=options.items)
    if options.counts not in entries:
        raise unknown_name("dataset", options.counts, entries)
    source = entries[options.counts]
    inherited = {
        reason: source.cannot_test[reason]
        for reason in ("merged stars", "no negatives")
        if reason in source.cannot_test
    }
    return dataclasses.replace(
        made,
        title=f"World without preferences: {said}",
        licence=f"{made.licence} Its counts are those of {source.name}: {source.licence}",
        use=source.use,
        citation=f"{made.citation} {source.citation}",
        n_users=source.n_users,
        n_items=source.n_items,
        n_ratings=source.n_ratings,
        scale=source.scale,
        merged_below=source.merged_below,
        relevant_from=source.relevant_from,
        cannot_test={**made.cannot_test, **inherited},
    )


def find_files(info: DatasetInfo, data_dir: Path | None = None) -> tuple[Path, ...]:
    """Find the files of a data set on this machine.

    Parameters
    ----------
    info : DatasetInfo
        The data set.
    data_dir : Path, optional
        A folder to search before ``RECBIAS_DATA`` and the clone's ``data/downloads``.

    Returns
    -------
    tuple of Path
        The first alternative of `info.files` that a folder has completely; empty if the data set
        needs no files.

    Raises
    ------
    MissingData
        If no folder has them; the message says where they are to be had and where to put them.
    """
    if not info.files:
        return ()
    folders = places.data_dirs(data_dir)
    for folder in folders:
        for alternative in info.files:
            matches = [_matches(folder, name) for name in alternative]
            if all(matches):
                return tuple(path for paths in matches for path in paths)
    wanted = " or ".join(
        names[0] if len(names) == 1 else f"{names[0]} ... {names[-1]}" for names in info.files
    )
    searched = ", ".join(map(str, folders)) or "no folder (none is set)"
    if info.by_hand:
        how = f"it cannot be fetched: {info.by_hand}\n"
    else:
        how = (
            f"get it by: recbias data fetch {info.name}  (shows licence and size first)\n"
            f"or place it as FOLDER/{info.files[-1][0]}; "
        )
    raise MissingData(
        f"{info.name} is not here: no {wanted} in {searched}\n"
        f"{how}name FOLDER, in which {Path(info.files[-1][0]).parts[0]}/ is, by RECBIAS_DATA or "
        "--data-dir"
    )


State = Literal["present", "made here", "partial", "fetchable", "by hand"]


def state(info: DatasetInfo, data_dir: Path | None = None) -> State:
    """Tell whether a data set is on this machine, and if not, how it may come here.

    Parameters
    ----------
    info : DatasetInfo
        The data set.
    data_dir : Path, optional
        A folder to search first.

    Returns
    -------
    str
        ``"present"``; ``"made here"`` if it needs no files; ``"partial"`` if a folder has some of
        its files, or its folder without them; else ``"fetchable"`` from its publisher, or to be
        placed ``"by hand"``.
    """
    if not info.files:
        return "made here"
    try:
        find_files(info, data_dir)
        return "present"
    except MissingData:
        pass
    for folder in places.data_dirs(data_dir):
        for name in {name for alternative in info.files for name in alternative}:
            subfolder = folder / Path(name).parts[0]
            if subfolder.is_dir() and any(subfolder.iterdir()):
                return "partial"
    return "by hand" if info.by_hand else "fetchable"


def _matches(folder: Path, name: str) -> list[Path]:
    paths = sorted(folder.glob(name)) if "*" in name else [folder / name]
    return [path for path in paths if path.is_file()]
