"""The command ``recbias audit``: whether "A beats B" holds on a reader's own data."""

from __future__ import annotations

import importlib
from contextlib import nullcontext
from importlib.util import find_spec
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
    scheduler_option,
    select_option,
    table_options,
    warnings_said,
)
from recbias.data.datasets import is_path, own_table
from recbias.errors import ConfigError, DataError
from recbias.experiment.store import write_atomically

_SPLIT = "k-fold 5"
"""Where neither the reader nor folds say another one."""


@click.command(short_help="Say whether A beats B on your data, whatever one decides.")
@click.argument("names", metavar="NAME|FILE", nargs=-1, required=True)
@click.option("--compare", is_flag=True, help="Put audits side by side: each FILE is one's JSON.")
@click.option(
    "--a",
    "firsts",
    metavar="SIDE",
    multiple=True,
    help="[NAME=]PATH of scores, [NAME=]MODULE:CLASS, or the name of a system.",
)
@click.option(
    "--b", "seconds", metavar="SIDE", multiple=True, help="What it is said to beat, likewise."
)
@click.option("--baselines", is_flag=True, help="Against the best of the package's baselines.")
@click.option("--metric", default="P@10", show_default=True, help="`recbias metrics` lists them.")
@click.option(
    "--protocol",
    help="As in 'AI-AN-AR rel>=4'; `recbias protocols` explains it. "
    "Else AI-AN-AR, liked from a step below the top of the scale.",
)
@click.option(
    "--split", help="The rule, see `recbias splits`; else that of the folds, or 'k-fold 5'."
)
@order_option
@select_option
@click.option("--seed", type=click.IntRange(0), help="Else that of the folds, or 1.")
@click.option("--no-ledger", is_flag=True, help="Leave out the claims of the papers.")
@click.option(
    "--book", metavar="ADDRESS", default="", help="Of a built book, for links; a folder or http."
)
@click.option("--workers", type=click.IntRange(1), default=1, show_default=True)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Where the page goes, with OUT.json beside it; else audit.html, and comparison.html of "
    "--compare.",
)
@table_options
@data_dir_option
@scheduler_option
def audit(
    names: tuple[str, ...],
    compare: bool,
    firsts: tuple[str, ...],
    seconds: tuple[str, ...],
    baselines: bool,
    metric: str,
    protocol: str | None,
    split: str | None,
    order: str | None,
    select: str | None,
    seed: int | None,
    no_ledger: bool,
    book: str,
    workers: int,
    out: Path | None,
    **options: Any,
) -> None:
    """Judge "A beats B": under your design, under all defensible ones, and what speaks against it.

    Ends with 0 where the sentence holds, 3 where it does not, 4 where it is open.
    """
    from recbias.audit import audit as judge
    from recbias.audit import read_audit, side_by_side
    from recbias.audit.sides import folds_of

    first, second = _only("--a", firsts), _only("--b", seconds)
    out = out or Path("comparison.html" if compare else "audit.html")
    if out.suffix != ".html" or out.is_dir() or not out.parent.is_dir():
        raise ConfigError(
            f"--out {out}: expected a file that ends in .html, in a folder that is there"
        )
    if compare:
        page = side_by_side([read_audit(Path(name)) for name in names])
        write_atomically(out, page.encode())
        click.echo(out)
        return
    if len(names) > 1:
        raise ConfigError(f"one table at a time, got {', '.join(names)}; --compare takes several")
    if first is None:
        raise ConfigError("say what is to win: --a SIDE")
    (name,) = names
    if not no_ledger and find_spec("recbias.claims"):  # the library alone has none
        importlib.import_module("recbias.claims.short")
    if (second is None) == (not baselines):
        raise ConfigError("say what A is to beat: either --b SIDE, or --baselines")
    record = folds_of(first, second)
    say_read(load_said(name, options))
    table = own_table(name, read_options(options)) if is_path(name) else None
    with table.handed_on() if table else nullcontext(name) as called, warnings_said():
        try:
            found = judge(
                called,
                first,
                second,
                protocol=protocol,
                metric=metric,
                split=str(ordered_rule(split or record.get("rule", _SPLIT), order)),
                seed=record.get("seed", 1) if seed is None else seed,
                select=record.get("select", "") if select is None else select,
                ledger=not no_ledger,
                book=book,
                workers=workers,
            )
        except DataError as error:
            if split or record or "but the split has" not in str(error):
                raise
            raise DataError(
                f"{error}\nno --split was given, and the folder does not say its own, so that it "
                f"was {_SPLIT}"
            ) from None
    found.save(out)
    click.echo(found)
    for name, evidence in found.warnings.items():
        click.echo(f"warning: {name}: {evidence}")
    click.echo(f"{out}\n{out.with_suffix('.json')}")
    raise SystemExit(found.exit_code)


def _only(option: str, given: tuple[str, ...]) -> str | None:
    """Take the one side that an option may name: click would keep the last of several."""
    if len(given) > 1:
        raise ConfigError(
            f"{option} is given {len(given)} times: {', '.join(given)}\nan audit has one sentence: "
            "give the command once for each, with an --out of its own, and put them side by side "
            "with --compare; --baselines audits against the best of many"
        )
    return given[0] if given else None
