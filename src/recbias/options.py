"""Options of commands by which the owner of a table says what it is: declared once for all."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from recbias.datasets import Dataset, TableOptions, load_dataset
from recbias.errors import DataWarning
from recbias.ratings import RatingScale

__all__ = ["data_dir_option", "load_said", "read_options", "table_options"]

_OPTIONS = (
    click.option("--user", help="Column with the users."),
    click.option("--item", help="Column with the items."),
    click.option("--rating", help="Column with the ratings."),
    click.option("--timestamp", help="Column with the times."),
    click.option("--separator", help="What separates the fields: one character, '::' or 'tab'."),
    click.option("--header/--no-header", default=None, help="Whether line 1 names the columns."),
    click.option(
        "--rating-scale",
        "scale",
        type=float,
        nargs=3,
        metavar="MINIMUM MAXIMUM STEP",
        help="The scale, if the table does not have all of it; STEP 0: any value in between.",
    ),
    click.option(
        "--duplicates",
        type=click.Choice(["error", "last", "mean"]),
        help="What several ratings of one pair mean.",
    ),
)


def _use_data_dir(ctx: click.Context, option: click.Parameter, folder: Path | None) -> None:
    """Search `folder` first, also in the kernels that this process starts."""
    if folder:
        before = os.environ.get("RECBIAS_DATA")
        os.environ["RECBIAS_DATA"] = f"{folder}{os.pathsep}{before}" if before else str(folder)


data_dir_option = click.option(
    "--data-dir",
    type=click.Path(path_type=Path),
    callback=_use_data_dir,
    expose_value=False,
    help="Folder with data sets, searched before RECBIAS_DATA; only read.",
)
"""Adds the option ``--data-dir`` to a command, which takes no argument for it."""


def table_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options by which the owner of a table says what it is; a decorator of a command.

    The command takes them as keyword arguments, which `read_options` makes one value of.
    """
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def read_options(given: Mapping[str, Any]) -> TableOptions:
    r"""Read what `table_options` gave a command.

    Parameters
    ----------
    given : mapping of str to object
        Values by name, None or empty where the option was not typed.

    Returns
    -------
    TableOptions

    Raises
    ------
    ConfigError
        If a value is none that a table can have.

    Examples
    --------
    >>> read_options({"separator": "tab", "scale": (1.0, 5.0, 1.0)}).given()
    {'separator': '\t', 'scale': [1.0, 5.0, 1.0]}
    """
    values = dict(given)
    if scale := values.get("scale"):
        values["scale"] = RatingScale(*scale)
    if values.get("separator") in ("tab", "\\t"):
        values["separator"] = "\t"
    return TableOptions(**{name: None if value == () else value for name, value in values.items()})


def load_said(name: str, given: Mapping[str, Any]) -> Dataset:
    """Load a data set or table as `table_options` says, and print what may be wrong with it.

    Errors as of `recbias.datasets.load_dataset`.
    """
    options = vars(read_options(given))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DataWarning)
        dataset = load_dataset(name, **options)
    for warning in caught:
        click.echo(f"recbias: warning: {warning.message}", err=True)
    return dataset
