"""The command ``recbias reconcile``: which conventions of toolkits give which number."""

from __future__ import annotations

from pathlib import Path

import click
import pandas as pd

from recbias.errors import ConfigError


@click.command(short_help="Say why two toolkits disagree about a run.")
@click.option("--run", required=True, metavar="FILE", help="A run of TREC, or a table.")
@click.option(
    "--qrels", required=True, metavar="FILE", help="Judgments: qrels of TREC, or a table."
)
@click.option(
    "--theirs",
    type=click.Path(path_type=Path),
    help="CSV of what the other toolkit says: metric,value (means) or metric,user,value.",
)
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    help="As in 'nDCG@10'; repeatable; beside those of theirs.",
)
@click.option("--out", type=click.Path(path_type=Path), help="Write the table as CSV too.")
def reconcile(
    run: str, qrels: str, theirs: Path | None, metrics: tuple[str, ...], out: Path | None
) -> None:
    """Say which conventions give which value of a run, and which explain the number at hand.

    The table has the value of each metric under every convention changed alone. Of --theirs it is
    said which conventions give the number, also several together; give all digits that there are.
    Ends with 0, or with 3 where a number is none of ours.
    """
    from recbias.experiment.reconciling import reconcile as judge  # pulls in every recommender
    from recbias.experiment.store import write_atomically

    if out is not None and (out.is_dir() or not out.parent.is_dir()):
        raise ConfigError(f"--out {out}: expected a file in a folder that is there")
    found = judge(run, qrels, theirs, metrics)
    table = pd.concat([one.single() for one in found], ignore_index=True)
    if out is not None:
        write_atomically(out, table.to_csv(index=False).encode())
    width = table["meaning"].str.len().max()
    for row in table.to_dict("records"):
        name = "" if row["question"] else row["metric"]
        changed = f" {row['difference']:+.4f}" if row["question"] else ""
        click.echo(f"{name:9} {row['meaning']:{width}} {row['value']:.4f}{changed}")
    asked = [one for one in found if one.theirs]
    for one in asked:
        click.echo(f"\n{one.sentence()}")
    if any(not one.explained for one in asked):
        raise SystemExit(3)
