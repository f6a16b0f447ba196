"""``recbias claims``: everything that it prints is read from one document, which is kept."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from recbias.claims import kept
from recbias.claims.reading import answer_lines, claim_lines, csv_text
from recbias.cli.table_options import (
    load_said,
    read_options,
    say_read,
    table_options,
    writes_all,
)
from recbias.errors import ConfigError

_LIVE = "synthetic"
"""The data set that is listed if none is named: its results are computed in any clone."""


@click.command(short_help="Print what became of the papers' claims.")
@click.option(
    "--dataset",
    metavar="NAME|FILE",
    help=f"[default: {_LIVE}; of --json and --csv all that have recorded results]",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON with every part of a verdict.")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV with a line for each part.")
@click.option("--explain", metavar="ID", help="Print all that leads to the verdict on one claim.")
@click.option(
    "--reproduced",
    "two_answers",
    is_flag=True,
    help="Print which claims hold on their papers' data, on how many other recorded data sets, and "
    "the totals.",
)
@click.option("--paper", metavar="NAME", help="The paper that --letter is about, as MCCRS20.")
@click.option(
    "--letter",
    "as_letter",
    is_flag=True,
    help="Print what could be sent to the authors of --paper, as Markdown: each claim, verdict, "
    "your number beside theirs, errata.",
)
@click.option("--lock", "renew", is_flag=True, help="Lock new and properly replaced criteria.")
@click.option("--unseen", is_flag=True, help="Lock also what names results still to come.")
@table_options
def claims(
    dataset: str | None,
    as_json: bool,
    as_csv: bool,
    explain: str | None,
    two_answers: bool,
    paper: str | None,
    as_letter: bool,
    renew: bool,
    unseen: bool,
    **options: Any,
) -> None:
    """Print what became of every claim of the papers on a data set or table.

    Of a table with what `recbias run` and `recbias book` computed, read in the same way. The JSON
    follows data/published/claims.schema.json. What was judged before is kept in the user's cache,
    and judged anew as soon as a file differs that it was read from.
    """
    if renew:
        _lock(unseen)
        return
    if (paper is None) == as_letter:
        raise ConfigError("--paper and --letter go together, as --paper MCCRS20 --letter")
    if paper is not None:
        if dataset is not None or explain or as_json or as_csv or two_answers:
            raise ConfigError(
                "--letter is about all recorded data sets, and goes with --paper alone"
            )
        from recbias.claims.letters import letter  # reads the ledger

        click.echo(letter(json.loads(kept.document()), paper), nl=False)
        return
    if two_answers or (dataset is None and (as_json or as_csv) and not explain):
        _print(kept.document(), as_json=as_json, as_csv=as_csv)
        return
    with _called(dataset or _LIVE, options) as called:
        if explain:
            click.echo(kept.explanation(explain, called))
            return
        text = kept.document(called)
        _print(text, as_json=as_json, as_csv=as_csv, dataset=True)


def _print(text: str, *, as_json: bool, as_csv: bool, dataset: bool = False) -> None:
    """Print a document as it is, or what is read from it."""
    if as_json and writes_all():
        click.echo(text)
        return
    document = json.loads(text)
    if as_json:
        click.echo(json.dumps(document, indent=1))
    elif as_csv:
        click.echo(csv_text(document), nl=False)
    elif dataset:
        click.echo("\n".join(claim_lines(document, document["datasets"][0]["name"])))
    else:
        click.echo("\n".join(answer_lines(document)))


@contextmanager
def _called(name: str, options: dict[str, Any]) -> Iterator[str]:
    """Call a data set by its name, and a table so that it is read as the options say."""
    if not kept.may_be_path(name):
        yield name
        return
    from recbias.data.datasets import is_path, own_table  # pulls in what reads tables

    if not is_path(name):
        yield name
        return
    table = own_table(name, read_options(options))
    say_read(load_said(name, options))
    with table.handed_on() as called:
        yield called


def _lock(unseen: bool) -> None:
    """Lock criteria whose names are right, and print which."""
    from recbias.claims.explaining import misnamed_terms  # pulls in every metric and recommender
    from recbias.claims.lock import unlocked, write_locks

    changed = unlocked()
    mistakes = misnamed_terms(changed)
    for mistake in mistakes:
        click.echo(f"in no recorded results: {mistake}", err=True)
    if mistakes and not unseen:
        raise ConfigError(
            "nothing was locked: a lock is for good, so that a name has to be right before it\n"
            "correct the names; where the results are still to come, add --unseen"
        )
    click.echo(write_locks())
    click.echo(f"locked: {', '.join(changed) or 'nothing new'}")
