"""Commands: ``recbias data``, ``run``, ``book``, ``trust``, ``verify``; importing it has all."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Hashable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click
import yaml

from recbias._system.places import cache_dir, clone_root
from recbias.cli.audit import audit
from recbias.cli.claims import claims
from recbias.cli.course import course, grade
from recbias.cli.entry import main
from recbias.cli.exam import exam
from recbias.cli.listing import metrics, protocols, splits, systems
from recbias.cli.measure import measure
from recbias.cli.reconcile import reconcile
from recbias.cli.table_options import (
    data_dir_option,
    finite,
    load_said,
    order_option,
    ordered_rule,
    parameter_options,
    read_options,
    read_parameters,
    say_read,
    scheduler_option,
    select_option,
    table_options,
    warnings_said,
)
from recbias.data.datasets import (
    Dataset,
    DatasetInfo,
    dataset_info,
    find_files,
    is_path,
    kept_options,
    load_dataset,
    options_file,
    registry,
    state,
    top_rating,
)
from recbias.data.datasets.describe import describe, describe_entry, size_said, warn_of_memory
from recbias.data.datasets.frames import frame_of
from recbias.data.datasets.liked import LEAST
from recbias.data.ratings import Ratings, exact
from recbias.data.selection import Selection
from recbias.errors import ConfigError, DataError, MissingData, needs_the_extra, shown
from recbias.experiment.planning import Size, measured_pages, page_cost
from recbias.experiment.store import write_atomically
from recbias.experiment.training_seeds import training_seeds
from recbias.protocol.leakage import leakage
from recbias.protocol.splits import Split, SplitRule, warn_of_other_share

_SHOWN = 5
"""Differences of a result that `verify` names."""


for command in (
    audit, measure, reconcile, metrics, systems, splits, protocols, claims, course, exam, grade,
):  # fmt: skip
    main.add_command(command)


@main.group()
def data() -> None:
    """Read data sets and tables: what they are like, their splits."""


@data.command("list")
@data_dir_option
def data_list() -> None:
    """List the known data sets, and whether each is on this machine.

    present: all its files are here. partial: some are. fetchable: `recbias data fetch` gets it.
    by hand: you have to place its files; `recbias data info` says how. made here: needs no files.
    """
    for info in registry().values():
        click.echo(f"{info.name:16} {state(info):10} {info.title}; {size_said(info)}")


@data.command("info")
@click.argument("name", metavar="NAME|FILE")
@table_options
@click.option(
    "--min-rating",
    type=float,
    callback=finite,
    help="Smallest relevant rating; else that of the chapters.",
)
@click.option("--keep", is_flag=True, help="Keep these options beside FILE, for every command.")
@click.option("--claims", "with_ids", is_flag=True, help="Name the claims that it cannot test.")
@click.option(
    "--split",
    "split_texts",
    multiple=True,
    metavar="RULE",
    help="Say how much of the future models see under this one too; repeatable.",
)
@select_option
@data_dir_option
def data_info(
    name: str,
    min_rating: float | None,
    keep: bool,
    with_ids: bool,
    split_texts: tuple[str, ...],
    select: str | None,
    **options: Any,
) -> None:
    """Print how a data set or table is understood, what it is like, and what it can test.

    Of a known data set also address, checksum, licence and citation, and where it was searched. And
    by kind of split which share of the test is older than what models are trained on.
    """
    rules = [str(SplitRule.parse(text)) for text in split_texts]
    selection = Selection.parse(select or "")
    info = registry().get(name)
    if info is not None:
        _echo(describe_entry(info))
        if state(info) not in ("present", "made here"):
            _echo(_missing(info))
            _echo(_testable(info, with_ids=with_ids))
            return
    dataset = load_said(name, options)
    content = dataset.ratings.content_hash
    if str(selection):
        dataset = selection.of(dataset, seed=1)
    leaks = _leaks(dataset, rules)
    if keep:
        if info is not None:
            raise ConfigError(f"--keep: {name} is read as published; give the path of a table")
        path = Path(name)
        merged_options = {**kept_options(path).given(), **read_options(options).given()}
        write_atomically(
            options_file(path), yaml.safe_dump(merged_options, allow_unicode=True).encode("utf-8")
        )
        click.echo(f"{'kept':10} {options_file(path)}")
    if info is None:
        _echo({"name": dataset.title, "content": content})
    _echo([("read as", statement) for statement in dataset.understood])
    if str(selection):
        _echo({"selected": f"{selection}; all below is about these ratings"})
    threshold = top_rating(dataset) if min_rating is None else min_rating
    _echo(describe(dataset.ratings, threshold))
    if min_rating is None and dataset.ratings.feedback == "explicit":
        _echo({"threshold": _thresholds_said(dataset)})
    _echo(leaks)
    _echo(_page_costs(name, dataset.ratings))
    if dataset.unbiased is not None:
        parts = dataset.unbiased
        users, items = len(set(parts.user.tolist())), len(set(parts.item.tolist()))
        _echo({"unbiased": f"{len(parts):,} ratings of {users:,} users for {items:,} items"})
    _echo(_testable(dataset.info, with_ids=with_ids))


_SHOWN_RULES = (
    *("ratio 0.2", "leave-out 1", "uniform 0.2", "temporal-user 0.2", "leave-last 1"),
    *("temporal 0.2", "rolling 3 0.1"),
)
"""One rule of each kind; folds are as ratios, and a moment is as a share of the newest."""

_TAKING_ONE = ("leave-out 1", "leave-last 1")
"""Those that who has one rating cannot be a part of."""


def _leaks(dataset: Dataset, rules: list[str]) -> list[tuple[str, str]]:
    """Tell by split how much of the future models see."""
    from recbias.protocol.testset import dataset_splits  # pulls in every recommender

    if dataset.ratings.timestamp is None:
        text = "without times it cannot be told how much of the future models see under a split"
        return [("leak", text)]
    rows = [
        ("leak", "by split, how much models learn from what came after what they are tested on:")
    ]
    ready = ["ready"] if dataset.ready_folds is not None else []
    for rule in dict.fromkeys((*_SHOWN_RULES, *ready, *rules)):
        kind, judged = f"{rule}, k-fold 5" if rule == "ratio 0.2" else rule, dataset
        try:
            if rule in _TAKING_ONE and (dataset.ratings.user_counts() == 1).any():
                kind, judged = f"{rule} of users>=2", Selection(users=2).of(dataset, seed=1)
            text = str(leakage(dataset_splits(judged, rule, seed=1)))
        except (ConfigError, DataError) as error:
            if rule in rules:
                raise
            text = f"not possible here, {str(error).splitlines()[0].partition(': ')[2]}"
        rows.append(("leak", f"{kind}: {text}"))
    return rows


def _thresholds_said(dataset: Dataset) -> str:
    """Tell from which rating on the chapters take an item as relevant, and why."""
    from recbias.book.systems.line_up import relevance_threshold  # pulls in every recommender

    strict, mild = top_rating(dataset), relevance_threshold(dataset)
    said = f"{exact(strict)} in chapters 1 to 4, {exact(mild)} in chapter 5 and for the systems"
    usual = dataset.ratings.scale.maximum
    share = float((dataset.ratings.value >= usual).mean())
    if share < LEAST and strict != usual and dataset.info.relevant_from is None:
        said += f"; from the data, since only {100 * share:.2g} % have {exact(usual)}, the top"
    return f"{said}; -p min_rating NUMBER sets another"


def _echo(rows: dict[str, str] | list[tuple[str, str]]) -> None:
    for label, text in rows.items() if isinstance(rows, dict) else rows:
        click.echo(f"{label:10} {shown(text)}")


def _missing(info: DatasetInfo) -> list[tuple[str, str]]:
    try:
        find_files(info)
    except MissingData as error:
        return [("missing", line) for line in str(error).splitlines()]
    return []


def _page_costs(name: str, ratings: Ratings, only: str = "") -> list[tuple[str, str]]:
    """Tell by page what it takes from nothing, as measured on tables of other shapes."""
    if training_seeds(name) > 1:  # the pages of published data train more often than was measured
        return []
    rows = []
    for page in [only] if only else measured_pages():
        known = page_cost(page, Size.of(ratings))
        if known is None:
            continue
        text = f"{page} about {_two_digits(known.cost.seconds)} s of processor time"
        if known.cost.peak_mb == known.cost.peak_mb:
            text += f" and {_two_digits(known.cost.peak_mb / 1e3)} GB"
        if known.off_by == known.off_by:
            text += f"; tables left out of the fit were up to {known.off_by:.1f} times off in time"
        tables = "1 table" if known.n_tables == 1 else f"{known.n_tables} tables"
        rows.append(("takes", f"{text} (from {tables}, {known.measured})"))
    return rows


def _two_digits(value: float) -> str:
    """Write an estimate, of which no more is known."""
    return f"{float(f'{value:.2g}'):,g}"


_LACKING = {
    "no timestamps": "for lack of times",
    "merged stars": "for lack of ratings as they were given",
    "no negatives": "for lack of dislikes",
    "no unbiased part": "for lack of an unbiased part",
    "dataset not here": "about other data",
    "pool too small": "for lack of a larger pool",
}
"""Why data cannot test claims, by the reason of `recbias.claims.NOT_TESTABLE`."""


def _testable(info: DatasetInfo, *, with_ids: bool) -> list[tuple[str, str]]:
    """Tell by chapter how many claims the data can test, and for what reason not the others."""
    from recbias.claims import chapters, claims  # pulls in every metric and recommender
    from recbias.claims.needs import missing_need

    def named(ids: list[str]) -> str:
        return f": {', '.join(ids)}" if with_ids else ""

    rows = [("cannot", f"{reason}: {meaning}") for reason, meaning in info.cannot_test.items()]
    for number, topic in enumerate(chapters(), start=1):
        entries = [claim for claim in claims() if claim.topic == topic]
        topic_claims = [claim for claim in entries if claim.asserts]
        simulated = [claim.id for claim in topic_claims if claim.simulation]
        against: dict[str, list[str]] = {}
        for claim in topic_claims:
            reason = missing_need(claim, info.name, info.cannot_test)
            if reason is not None and not claim.simulation:
                against.setdefault(reason, []).append(claim.id)
        n_asked = len(topic_claims) - len(simulated)
        n_open = n_asked - sum(map(len, against.values()))
        text = f"chapter {number}, {topic}: {n_open} of {n_asked} claims"
        for reason, ids in against.items():
            text += f"; not {len(ids)}, {_LACKING[reason]} ('{reason}'){named(ids)}"
        if simulated:
            text += f"; {len(simulated)} more in simulated worlds, without data{named(simulated)}"
        if apart := [claim.id for claim in entries if not claim.asserts]:
            text += f"; apart, {len(apart)} with no assertion of a paper{named(apart)}"
        rows.append(("can test", text))
    return rows


@data.command("split")
@click.argument("name", metavar="NAME|FILE")
@click.option(
    "--split",
    "text",
    default="k-fold 5",
    show_default=True,
    help="The rule, one of `recbias splits`.",
)
@order_option
@select_option
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True)
@click.option("--out", type=click.Path(path_type=Path), required=True, help="A new folder.")
@table_options
@data_dir_option
def data_split(
    name: str,
    text: str,
    order: str | None,
    select: str | None,
    seed: int,
    out: Path,
    **options: Any,
) -> None:
    """Write the splits of a data set or table as CSV files, the ones that experiments use.

    The rules, such as 'ratio 0.2' or 'ready order=file', are listed by `recbias splits`.
    The files hold ratings, so the terms of the data hold for them too.
    """
    from recbias.protocol.testset import dataset_splits  # pulls in every recommender

    rule, selection = ordered_rule(text, order), Selection.parse(select or "")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ConfigError(f"{out} is there already\nname a new folder, or remove it first")
    dataset = selection.of(say_read(load_said(name, options)), seed=seed)
    splits = dataset_splits(dataset, str(rule), seed=seed)
    with warnings_said():
        warn_of_other_share(splits)
    selected = {"select": str(selection)} if str(selection) else {}
    _write_splits(out, dataset, splits, {"rule": str(rule), "seed": seed, **selected})
    for split in splits:
        fold = out / f"fold-{split.fold + 1}"
        click.echo(f"{fold}  {len(split.train):,} train, {len(split.test):,} test")
    click.echo(f"{'licence':10} {dataset.info.licence}")


def _write_splits(
    out: Path, dataset: Dataset, splits: list[Split], record: dict[str, object]
) -> None:
    """Write all files, and only then give their folder its name."""
    from recbias.recommenders.elsewhere import RECORD  # pulls in every recommender

    out.parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=out.parent, prefix=f".{out.name}."))
    try:
        for split in splits:
            fold = folder / f"fold-{split.fold + 1}"
            fold.mkdir()
            for part, ratings in (("train", split.train), ("test", split.test)):
                frame_of(ratings).to_csv(fold / f"{part}.csv", index=False)
        record |= {
            "dataset": dataset.name,
            "content_hash": dataset.ratings.content_hash,
            "train": [split.train.content_hash for split in splits],
            "recbias": version("recbias"),
            "licence": dataset.info.licence,
        }
        (folder / RECORD).write_text(json.dumps(record, indent=1), encoding="utf-8")
        folder.chmod(0o755)
        folder.rename(out)
    except BaseException:
        shutil.rmtree(folder)
        raise


@data.command("fetch")
@click.argument("name")
@click.option("--yes", is_flag=True, help="Agree to the licence without being asked.")
@click.option(
    "--data-dir",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder to write to; the clone's data/downloads if not given.",
)
def data_fetch(name: str, yes: bool, data_dir: Path | None) -> None:
    """Download a data set, after showing its licence, size, address and checksum."""
    from recbias.data.datasets.download import (  # no other command needs the network
        downloads,
        fetch,
    )

    info = dataset_info(name)
    if not info.files:
        click.echo(f"{name} is made on this machine; there is nothing to fetch")
        return
    if files := _files_here(info, data_dir):
        click.echo(f"{name} is here already: {', '.join(map(str, files))}")
        return
    wanted = downloads(info)
    root = clone_root()
    folder = data_dir or (root / "data" / "downloads" if root else None)
    if folder is None:
        raise ConfigError(f"no clone to keep {name} in: name a folder by --data-dir")
    click.echo(f"{info.title}\n{'licence':10} {info.licence}\n{'you may':10} {info.use}")
    click.echo(f"{'cite':10} {info.citation}")
    for download in wanted:
        size = "not stated" if download.size is None else f"{download.size:,} bytes"
        source = "" if download.checksum.startswith("sha256:") else " (no sha256 is known)"
        click.echo(f"{'address':10} {download.address}\n{'size':10} {size}")
        click.echo(f"{'checksum':10} {download.checksum}{source}")
    click.echo(f"{'into':10} {folder.resolve()}")
    if not yes:
        if not _at_terminal():
            raise ConfigError(f"nothing was downloaded: add --yes to agree to what {name} asks for")
        click.confirm("Agree and download?", abort=True)
    for path in fetch(info, folder):
        click.echo(path)


def _at_terminal() -> bool:
    return sys.stdin.isatty()


def _files_here(info: DatasetInfo, data_dir: Path | None = None) -> tuple[Path, ...]:
    try:
        return find_files(info, data_dir)
    except MissingData:
        return ()


@main.command(short_help="Execute a chapter on your data, as one page.")
@click.argument("chapter")
@click.option("--dataset", required=True, help="Name of a data set, or a CSV or Parquet file.")
@parameter_options
@click.option(
    "--record", is_flag=True, help="Renew data/recorded from this run; needs the data set."
)
@click.option(
    "--dry-run",
    is_flag=True,
    help="Say which cells would be computed or read, and what that takes; write nothing.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Where the page goes: a file that ends in .html; the notebook goes beside it.",
)
@table_options
@data_dir_option
@scheduler_option
def run(
    chapter: str,
    dataset: str,
    params: tuple[tuple[str, str], ...],
    min_rating: str | None,
    split: str | None,
    record: bool,
    dry_run: bool,
    out: Path | None,
    **options: Any,
) -> None:
    """Execute CHAPTER on a data set or table, and write it as one page that needs nothing else.

    CHAPTER is a file of `notebooks`, such as 01_design_alternatives; a wrong name lists them all.
    Printed are the page, which any browser opens, the notebook beside it, and what it took. Without
    --out they go into this folder; what may be of use again is kept in the user's cache. The bar
    counts cells of the chapter; one that trains systems can take most of the time.
    """
    with needs_the_extra("book"):  # starting Jupyter's parts takes a while
        from recbias.book.notebooks import edition_name, find_chapter, plan_chapter, run_chapter
        from recbias.book.rerun import check_out
        from recbias.book.standalone import write_sheet

    started = time.perf_counter()
    chosen_chapter = find_chapter(chapter)
    parameters, reading_options = read_parameters(params, min_rating, split), read_options(options)
    out = out or Path(
        f"{chosen_chapter.name}--{edition_name(dataset, reading_options, parameters)}.html"
    )
    check_out(out)
    if dry_run:
        if record:
            raise ConfigError("--dry-run: what --record does is to compute everything anew")
        with warnings_said():
            if is_path(dataset):
                say_read(load_dataset(dataset, **vars(reading_options)))
            plan = plan_chapter(
                chosen_chapter, dataset, parameters, options=reading_options, build=cache_dir()
            )
        if plan is None:
            click.echo("the page is there already; nothing would be computed")
            return
        click.echo(plan)
        if any(step.status == "compute" for step in plan.steps):
            loaded = load_dataset(dataset, **vars(reading_options))
            _echo(_page_costs(dataset, loaded.ratings, chosen_chapter.name))
        return
    with warnings_said():
        if is_path(dataset):
            warn_of_memory(
                say_read(load_dataset(dataset, **vars(reading_options))).ratings,
                chosen_chapter.name,
            )
        executed = run_chapter(
            chosen_chapter,
            dataset,
            parameters,
            options=reading_options,
            record=record,
            progress=True,
            build=None if record else cache_dir(),
        )
    page, notebook = write_sheet(executed, out, chosen_chapter.root / "book" / "_static")
    used = os.times()
    processor = used.user + used.system + used.children_user + used.children_system
    click.echo(f"page       {page}\nnotebook   {notebook}")
    click.echo(
        f"took       {time.perf_counter() - started:.0f} s, {processor:.0f} s of processor time"
    )


@main.command(short_help="Build the site: one edition for each data set or table.")
@click.argument("datasets", metavar="[NAME|FILE]...", nargs=-1)
@parameter_options
@table_options
@data_dir_option
def book(
    datasets: tuple[str, ...],
    params: tuple[tuple[str, str], ...],
    min_rating: str | None,
    split: str | None,
    **options: Any,
) -> None:
    """Build the site with one edition for each data set or table, and print where it is.

    Without names the editions of _config.yml are built. The first stands at the root of the site.
    A parameter changes every chapter that has it.
    """
    with needs_the_extra("book"):
        from recbias.book.site import build_site

    parameters, reading_options = read_parameters(params, min_rating, split), read_options(options)
    with warnings_said():
        for table in filter(is_path, datasets):
            say_read(load_dataset(table, **vars(reading_options)))
        index = build_site(datasets, params=parameters, options=reading_options)
    click.echo(f"the book is in {index}\nopen {index.as_uri()}")


@main.command(short_help="Say which metric to trust on your data.")
@click.argument("name", metavar="DATASET|TABLE")
@table_options
@click.option(
    "--min-rating",
    type=float,
    callback=finite,
    help="Smallest liked rating; else one step below the scale's top.",
)
@click.option(
    "--spread", type=float, help="By which factor items differ in selection, at most; 1.5 if none."
)
@click.option(
    "--strength", type=float, help="How many times likelier likes are rated, at most; 3 if none."
)
@click.option(
    "--worlds", "n_worlds", type=click.IntRange(20, 10_000), default=100, show_default=True
)
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True)
@click.option("--workers", type=click.IntRange(1), default=1, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON with the names of all worlds.")
@data_dir_option
@scheduler_option
def trust(
    name: str,
    min_rating: float | None,
    spread: float | None,
    strength: float | None,
    n_worlds: int,
    seed: int,
    workers: int,
    as_json: bool,
    **options: Any,
) -> None:
    """Say which metric to trust on a data set or table: P@10, antiP@10, either, or none.

    Worlds that these ratings may come from are made, and in each, whose truth is known, systems are
    ordered by both metrics and by the truth. A world costs seconds; it is kept with the cells.
    """
    from recbias.book.systems.line_up import relevance_threshold  # pulls in every recommender
    from recbias.trust import SPREAD, STRENGTH, which_metric

    dataset = say_read(load_said(name, options))
    answer = which_metric(
        dataset.ratings,
        relevance_threshold(dataset) if min_rating is None else min_rating,
        spread=SPREAD if spread is None else spread,
        strength=STRENGTH if strength is None else strength,
        n_worlds=n_worlds,
        seed=seed,
        workers=workers,
    )
    click.echo(json.dumps(answer.to_dict(), indent=1) if as_json else answer)


@main.command(short_help="Compute recorded results anew, and compare.")
@click.option("--dataset", "names", multiple=True, help="Verify this one; else all recorded ones.")
@click.option(
    "--chapter",
    help="Compare only the results of this one, such as 06_concentration, audits or systems; give "
    "--dataset with it.",
)
@click.option(
    "--systems",
    type=click.IntRange(1),
    help="Compare so many systems of each grid, no table about all of them together, and "
    "simulations only if --dataset names them.",
)
@click.option(
    "--sample",
    "commit",
    metavar="COMMIT",
    help="Compare what the hash of a commit draws: results of all data sets that are here, which "
    "take three minutes together, and two systems of each grid.",
)
@click.option("--workers", type=click.IntRange(1), default=1, show_default=True)
@click.option(
    "--cells",
    type=click.Path(path_type=Path, file_okay=False),
    help="A new folder that keeps the cells, one folder in it for each data set; or that of a "
    "verification by the same code that was stopped or was of another chapter, which goes on.",
)
@data_dir_option
@scheduler_option
def verify(
    names: tuple[str, ...],
    chapter: str | None,
    systems: int | None,
    commit: str | None,
    workers: int,
    cells: Path | None,
) -> None:
    """Compute recorded results anew where the data is here; exit with 1 if they differ.

    Everything that a verdict reads is compared: values, intervals, replicates, tests, target sets,
    checks, tables, the record of the data set; the manifest tells what must be there, the
    notebooks with which parameters, and the lock which criteria. Nothing that was computed before
    is used, but by a verification that goes on (--cells). Tables and checks about systems that
    depend on the processor are compared too, but held against their record only where the processor
    is of the same kind. Without the data these three and the digests are checked only, which notice
    accidents: they are no proof against forgery.
    """
    from recbias.claims import chapters
    from recbias.experiment.results import SIMULATIONS
    from recbias.experiment.rotation import beyond_samples, draw_sample
    from recbias.experiment.verification import (
        check_foundations,
        check_recorded,
        listed_datasets,
    )
    from recbias.experiment.verification import verify as verify_results

    if commit is not None and systems is not None:
        raise ConfigError("--sample draws systems too: give it without --systems")
    if chapter is not None and (commit is not None or not names):
        raise ConfigError("--chapter is of one data set: give --dataset with it, and no --sample")
    chapters()  # makes known what their results are made by
    broken = check_foundations()
    for foundation, problem in broken.items():
        click.echo(f"{foundation}: DIFFERS {problem}")
    agrees = not broken
    ends, n_values = Counter[str](), 0
    here, lacks = [], {}
    for name in names or listed_datasets():
        if name == SIMULATIONS:  # all of their systems share a world: no sample of them is shorter
            is_here, lack = systems is None, "simulations are made anew without --systems"
        else:
            is_here = state(dataset_info(name)) in ("present", "made here")
            lack = "the data set is not here"
        if names or is_here:
            here.append(name)
        else:
            lacks[name] = lack
    chosen: dict[str, dict[str, tuple[str, ...] | None]] = {name: {} for name in here}
    if commit is not None:
        for drawn in draw_sample(commit, here):
            chosen[drawn.dataset][drawn.result] = drawn.systems
            click.echo(f"drawn: {drawn}")
        if beyond := beyond_samples(here):
            click.echo(
                f"{len(beyond)} results take too long for a sample; make prove computes them anew"
            )
    for name in names or listed_datasets():
        if lack := lacks.get(name, ""):
            problems = check_recorded(name)
            agrees &= not problems
            click.echo(f"{name}: not verified, {lack}")
            for result, problem in problems.items():
                click.echo(f"{name}: {result}: DIFFERS {problem}")
            continue
        folder = cells / name if cells else None
        comparisons = verify_results(
            name,
            chapter=chapter,
            systems=systems,
            chosen=None if commit is None else chosen[name],
            workers=workers,
            cells=folder,
        )
        for row in comparisons.to_dict("records"):
            if row["recorded"] in broken:  # said already, and of no data set
                continue
            agrees &= bool(row["agrees"])
            ends["differ" if not row["agrees"] else "agree" if row["values"] else "not held"] += 1
            n_values += row["values"]
            click.echo(f"{name}: {_verified(row)}")
    if ends:
        told = ", ".join(f"{ends[end]} {end}" for end in ("agree", "differ", "not held"))
        click.echo(f"{ends.total()} comparisons of {n_values:,} values: {told}")
    if not agrees:
        raise SystemExit(1)


def _verified(row: Mapping[Hashable, Any]) -> str:
    """Tell in a line how a result compares, with the first of what differs."""
    title = f"{row['recorded']}{row['about'] and ': '}{row['about']}"
    differing = row["differing"]
    more = f"; and {len(differing) - _SHOWN} more" if len(differing) > _SHOWN else ""
    outcome = f"DIFFERS {'; '.join(differing[:_SHOWN])}{more}" if differing else "agrees"
    if not row["values"]:
        return f"{title}: {outcome}" if differing else title
    return (
        f"{title}: {row['values']} values, largest difference {row['difference']:.2g} "
        f"({row['of bound']:.2g} of the bound): {outcome}"
    )
