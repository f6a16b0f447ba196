"""The command ``recbias measure``: scores and lists that another program computed, measured."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click

from recbias.cli.table_options import (
    data_dir_option,
    load_said,
    order_option,
    ordered_rule,
    read_options,
    say_read,
    select_option,
    table_options,
    warnings_said,
)
from recbias.data.datasets import is_path, own_table
from recbias.data.ratings import exact
from recbias.data.selection import Selection
from recbias.errors import ConfigError
from recbias.experiment.store import write_atomically
from recbias.protocol.splits import warn_of_other_share


@click.command(short_help="Measure scores or lists of another program.")
@click.argument("name", metavar="NAME|FILE")
@click.option(
    "--scores",
    multiple=True,
    required=True,
    metavar="[SYSTEM=]PATH",
    help="Scores or runs of a system: a folder with a file for each fold, or a path with {fold}.",
)
@click.option("--score", default="", metavar="COLUMN", help="The one that is the score.")
@click.option("--rank", default="", metavar="COLUMN", help="The one that is the rank.")
@click.option(
    "--with",
    "others",
    multiple=True,
    metavar="ALGORITHM",
    help="Measured beside them; `recbias systems` lists them.",
)
@click.option(
    "--protocol",
    "protocols",
    multiple=True,
    help="As in 'AI-AN-AR rel>=4'; repeatable; `recbias protocols` explains it.",
)
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    help="As in 'P@10'; repeatable; `recbias metrics` lists them.",
)
@click.option("--features", default="", metavar="FILE", help="Features of items, for ILD@10 etc.")
@click.option(
    "--split", help="The rule, see `recbias splits`; else that of the folds, or 'k-fold 5'."
)
@order_option
@select_option
@click.option("--seed", type=click.IntRange(0), help="Else that of the folds, or 1.")
@click.option("--workers", type=click.IntRange(1), default=1, show_default=True)
@click.option("--out", type=click.Path(path_type=Path), help="Write the values as CSV too.")
@table_options
@data_dir_option
def measure(
    name: str,
    scores: tuple[str, ...],
    score: str,
    rank: str,
    others: tuple[str, ...],
    protocols: tuple[str, ...],
    metrics: tuple[str, ...],
    features: str,
    split: str | None,
    order: str | None,
    select: str | None,
    seed: int | None,
    workers: int,
    out: Path | None,
    **options: Any,
) -> None:
    """Measure scores or lists that another program computed on the folds of `data split`.

    A file of scores has the columns user_id, item_id, score; one of lists has rank instead, or is a
    run as TREC has it. Without --protocol all items that are not in training are ranked; without
    --metric these are P@10 and nDCG@10.
    """
    from recbias.book.systems.line_up import relevance_threshold  # pulls in every recommender
    from recbias.experiment.grid import Grid
    from recbias.experiment.run import run as run_grid
    from recbias.protocol.testset import dataset_splits
    from recbias.recommenders import System, as_system
    from recbias.recommenders.elsewhere import FromScores, split_record

    if out is not None and (out.is_dir() or not out.parent.is_dir()):
        raise ConfigError(f"--out {out}: expected a file in a folder that is there")
    recommenders, systems, said = [], [], []
    for text in scores:
        called, equals, path = text.partition("=")
        recommender = FromScores(path if equals else text, column=score, rank=rank)
        recommenders.append(recommender)
        system = as_system(recommender)
        systems.append(system.replace(called) if equals else system)
        said.append(f"{systems[-1].name} is read from {recommender.described()}")
    record = split_record(str(systems[0].parameters["path"]))
    dataset = say_read(load_said(name, options))
    table = own_table(name, read_options(options)) if is_path(name) else None
    with table.handed_on() if table else nullcontext(name) as called:
        grid = Grid(
            called,
            (*systems, *(System(other, other) for other in others)),
            protocols or (f"AI-AN-AR rel>={exact(relevance_threshold(dataset))}",),
            metrics or ("P@10", "nDCG@10"),
            split=str(ordered_rule(split or record.get("rule", "k-fold 5"), order)),
            seed=record.get("seed", 1) if seed is None else seed,
            select=record.get("select", "") if select is None else select,
            features=features,
        )
        dataset = Selection.parse(grid.select).of(dataset, seed=grid.seed)
        with warnings_said():
            splits = dataset_splits(dataset, grid.split, seed=grid.seed)
            warn_of_other_share(splits)
            for recommender in recommenders:
                recommender.check(splits)
            results = run_grid(grid, workers=workers)
    if out is not None:
        write_atomically(out, results.values.to_csv(index=False).encode())
    click.echo(results)
    for line in said:
        click.echo(line)
