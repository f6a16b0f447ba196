"""Where every command begins: the group, which imports a command when it is asked for."""

from __future__ import annotations

import io
import sys

import click

from recbias.cli.table_options import CommandGroup

_SECTIONS = {
    "Begin here, with a table of your own": ("data", "measure", "audit", "trust"),
    "What there is to choose from": ("metrics", "systems", "splits", "protocols"),
    "The book": ("run", "book", "claims", "verify"),
    "Teach with it": ("course", "grade"),
}
"""How the help groups the commands; what is in no section comes last."""


@click.group(
    cls=CommandGroup,
    sections=_SECTIONS,
    alone={"claims": "recbias.cli.claims"},
    others="recbias.cli.commands",
    epilog="First: recbias data info my.csv says how a table is understood and what it can test.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.option("--debug", is_flag=True, help="Show where an error was raised.")
@click.version_option(package_name="recbias")
def main(debug: bool) -> None:
    """Biases in offline recommender evaluation: the book and its experiments."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="replace")  # a sign that a file cannot hold stops nothing
