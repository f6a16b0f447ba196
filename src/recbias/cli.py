"""The command line: ``recbias data``, ``run`` and ``book``. Each command is a few calls."""

from __future__ import annotations

import os
from pathlib import Path

import click

from recbias.datasets import DatasetInfo, dataset_info, find_files, registry
from recbias.errors import MissingData, RecbiasError
from recbias.places import data_dirs


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


def _presence(info: DatasetInfo) -> str:
    if not info.files:
        return "made here"
    try:
        find_files(info)
    except MissingData:
        return "not here"
    return "here"


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
