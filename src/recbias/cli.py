"""The command line: ``recbias data``, ``run``, ``book``, ``claims`` and ``verify``."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import click

from recbias.datasets import DatasetInfo, dataset_info, find_files, registry
from recbias.datasets.download import downloads, fetch
from recbias.errors import ConfigError, MissingData, RecbiasError
from recbias.places import clone_root, data_dirs


class _Group(click.Group):
    """A group whose commands end with a message and an exit code where a person can mend it."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except (RecbiasError, OSError) as error:
            if ctx.params["debug"]:
                raise
            click.echo(f"recbias: {error}", err=True)
            ctx.exit(getattr(error, "exit_code", 2))


def _use_data_dir(ctx: click.Context, option: click.Parameter, folder: Path | None) -> None:
    """Search `folder` first, also in the kernels that this process starts."""
    if folder:
        before = os.environ.get("RECBIAS_DATA")
        os.environ["RECBIAS_DATA"] = f"{folder}{os.pathsep}{before}" if before else str(folder)


_data_dir = click.option(
    "--data-dir",
    type=click.Path(path_type=Path),
    callback=_use_data_dir,
    expose_value=False,
    help="Folder with data sets, searched before RECBIAS_DATA; only read.",
)


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--debug", is_flag=True, help="Show where an error was raised.")
@click.version_option(package_name="recbias")
def main(debug: bool) -> None:
    """Biases in offline recommender evaluation: the book and its experiments."""


@main.group()
def data() -> None:
    """Say which data sets are known, and which are on this machine."""


@data.command("list")
@_data_dir
def data_list() -> None:
    """List the known data sets."""
    for info in registry().values():
        size = f"{info.n_users:,} users, {info.n_items:,} items, {info.n_ratings:,} ratings"
        click.echo(f"{info.name:16} {_presence(info):10} {info.title}; {size}")


@data.command("info")
@click.argument("name")
@_data_dir
def data_info(name: str) -> None:
    """Print address, checksum, licence and citation of a data set, and where it was searched."""
    info = dataset_info(name)
    scale = f"{info.scale.minimum:g} to {info.scale.maximum:g}"
    rows = {
        "name": info.name,
        "title": info.title,
        "size": f"{info.n_users:,} users, {info.n_items:,} items, {info.n_ratings:,} ratings",
        "scale": f"{scale} in steps of {info.scale.step:g}" if info.scale.step else scale,
        "address": info.address,
        "checksum": info.checksum and f"{info.checksum} ({info.checksum_source})",
        "content": info.content_hash,
        "licence": info.licence,
        "cite": info.citation,
        "state": _presence(info),
        "searched": ", ".join(map(str, data_dirs())) if info.files else None,
    }
    for label, text in rows.items():
        if text:
            click.echo(f"{label:10} {text}")
    for reason, meaning in info.cannot_test.items():
        click.echo(f"{'cannot':10} {reason}: {meaning}")


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
    info = dataset_info(name)
    if not info.files:
        click.echo(f"{name} is made on this machine; there is nothing to fetch")
        return
    if here := _files_here(info, data_dir):
        click.echo(f"{name} is here already: {', '.join(map(str, here))}")
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


def _presence(info: DatasetInfo) -> str:
    if not info.files:
        return "made here"
    return "here" if _files_here(info) else "not here"


@main.command()
@click.argument("chapter")
@click.option("--dataset", required=True, help="Name of a data set, or a CSV or Parquet file.")
@click.option(
    "-p", "params", nargs=2, multiple=True, metavar="NAME VALUE", help="Change a parameter."
)
@click.option(
    "--record", is_flag=True, help="Renew data/recorded from this run; needs the data set."
)
@click.option("--out", type=click.Path(path_type=Path), help="Where the notebook goes.")
@_data_dir
def run(
    chapter: str,
    dataset: str,
    params: tuple[tuple[str, str], ...],
    record: bool,
    out: Path | None,
) -> None:
    """Execute CHAPTER on a data set and print where the notebook is."""
    from recbias.chapters import find_chapter, run_chapter  # starting Jupyter's parts takes a while

    where = run_chapter(
        find_chapter(chapter), dataset, dict(params), out, record=record, progress=True
    )
    click.echo(where)


@main.command()
@click.argument("datasets", nargs=-1)
@_data_dir
def book(datasets: tuple[str, ...]) -> None:
    """Build the site with one edition for each of DATASETS, and print where it is.

    Without names the editions of _config.yml are built. The first stands at the root of the site.
    """
    from recbias.editions import build_site

    index = build_site(datasets)
    click.echo(f"the book is in {index}\nopen {index.as_uri()}")


@main.command()
@click.option("--dataset", default="synthetic", show_default=True, help="Name of a data set.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON with every part of a verdict.")
def claims(dataset: str, as_json: bool) -> None:
    """Print what became of every claim of the papers on a data set."""
    from recbias.claims import load_provenance, scorecard

    verdicts = scorecard(dataset)
    if as_json:
        provenance = load_provenance(dataset)
        rows = [
            {**verdict.to_dict(), "provenance": provenance.get(verdict.claim.topic)}
            for verdict in verdicts
        ]
        click.echo(json.dumps(rows, indent=1, ensure_ascii=False))
        return
    for verdict in verdicts:
        reason = f" ({verdict.reason})" if verdict.reason else ""
        claim = verdict.claim
        click.echo(f"{claim.id:18} {claim.kind:11} {verdict.verdict}{reason}  [{claim.topic}]")
        for part in verdict.parts:
            low, high = part.interval
            span = "" if low == high else f" [{low:.4g}, {high:.4g}]"
            click.echo(f"    {part.verdict:10} {part.name}: {part.value:.4g}{span}, {part.region}")


@main.command()
@click.option("--dataset", "names", multiple=True, help="Verify this one; else all recorded ones.")
@click.option("--systems", type=click.IntRange(1), help="Recompute so many systems of each table.")
@click.option("--workers", type=click.IntRange(1), default=1, show_default=True)
@_data_dir
def verify(names: tuple[str, ...], systems: int | None, workers: int) -> None:
    """Recompute recorded results where the data is here; exit with 1 if they differ."""
    from recbias.claims import verify_checks
    from recbias.experiment import recorded_datasets
    from recbias.experiment import verify as verify_results

    agrees = True
    for name in names or recorded_datasets():
        if not names and _presence(dataset_info(name)) == "not here":
            click.echo(f"{name}: not verified, the data set is not here")
            continue
        for row in verify_results(name, systems=systems, workers=workers).to_dict("records"):
            agrees &= bool(row["agrees"])
            click.echo(
                f"{name}: {row['recorded']}: {row['values']} values of {row['systems']} systems, "
                f"largest difference {row['difference']:.2g} ({row['of bound']:.2g} of the bound): "
                f"{'agrees' if row['agrees'] else 'DIFFERS'}"
            )
        if systems is None:
            for record, differing in verify_checks(name).items():
                agrees &= not differing
                click.echo(
                    f"{name}: {record}: {'DIFFERS: ' + differing if differing else 'agrees'}"
                )
    if not agrees:
        raise SystemExit(1)
