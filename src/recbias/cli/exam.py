"""The command ``recbias exam``: two exams with keys, with other numbers for each class."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(short_help="Write two exams with keys, for a class.")
@click.option(
    "--seed", type=click.IntRange(0, 2**32 - 1), required=True, help="Of the class: a secret."
)
@click.option(
    "--out",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    metavar="FOLDER",
    help="Where the files are written.",
)
def exam(seed: int, folder: Path) -> None:
    """Write two exams and their keys, as pages and as Markdown.

    The first is on chapters 1 to 4, the second on chapters 5 to 7. Their numbers are computed from
    a simulated world: another seed gives another world, and the same seed the same exam. Draw a
    seed of nine digits and keep it to yourself: whoever has it can make the key.
    """
    from recbias.book.exams import write_exams  # pulls in the data sets

    folder.mkdir(parents=True, exist_ok=True)
    for path in write_exams(seed, folder):
        click.echo(path)
