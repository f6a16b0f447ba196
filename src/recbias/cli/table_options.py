"""What commands share: options that say what a table is and where data are, and how they end."""

from __future__ import annotations

import _thread
import dataclasses
import importlib
import math
import os
import signal
import sys
import threading
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from recbias._system.places import SCHEDULER
from recbias.data.marks import THOUSANDS
from recbias.errors import (
    NO_SPACE,
    ConfigError,
    DataWarning,
    RecbiasError,
    did_you_mean,
    nearest,
    shown,
)

if TYPE_CHECKING:  # who asks for verdicts that are kept does not wait for what reads tables
    from recbias.data.datasets import Dataset, TableOptions
    from recbias.protocol.splits import SplitRule

_STOPPED = "stopped; what was finished is kept, and the same command goes on from there"
_SECONDS_TO_CLEAN_UP = 1.0
"""Who presses Ctrl-C sees it answered within two; what is left over goes when it is begun again."""
_FULL = "\nmake room there and give the command again: what was finished is kept and used"


def writes_all() -> bool:
    """Tell whether what is printed may hold any sign."""
    return (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"


class Choice(click.Choice):  # type: ignore[type-arg]
    """One of a few words; a wrong one is answered by the nearest."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read the word."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            hint = did_you_mean(str(value), self.choices)
            raise click.BadParameter(
                f"{error.message.rstrip('.')}{hint or '.'}", ctx, param
            ) from None


order_option = click.option(
    "--order",
    type=Choice(["file"]),
    help="Of the rule 'ready': keep the order of rows in the files, as in 'ready order=file'.",
)


select_option = click.option(
    "--select",
    metavar="SELECTION",
    help="Which ratings count at all: 'core=5', 'users>=5 items>=5', 'keep=50%', 'head=10%'.",
)


def ordered_rule(text: str, order: str | None) -> SplitRule:
    """Read a split rule, with what ``--order`` says."""
    from recbias.protocol.splits import SplitRule

    rule = SplitRule.parse(text)
    return dataclasses.replace(rule, order=order or rule.order)


class _Terminated(KeyboardInterrupt):
    """The request to end that needs no terminal, cleaned up after like the one that does."""


@contextmanager
def _stoppable() -> Iterator[None]:
    """Have a command that is stopped clean up first, for a second, and only once."""
    if threading.current_thread() is not threading.main_thread():  # only that may say so
        yield
        return
    left = threading.Event()
    stops: list[int] = []
    before: dict[int, Any] = {}

    def end(number: int) -> None:
        if not left.wait(_SECONDS_TO_CLEAN_UP):
            os.write(2, f"recbias: {_STOPPED}\n".encode())
            os._exit(128 + number)

    def stop(number: int, _: object) -> None:
        is_first = not stops  # told before another request can interrupt this one
        stops.append(number)
        if not is_first:  # it is about to end
            return
        _thread.start_new_thread(end, (number,))  # without a lock, unlike Thread: see where we are
        raise _Terminated if number == signal.SIGTERM else KeyboardInterrupt

    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) not in (signal.SIG_IGN, None):  # nobody else's, nor ignored
            before[number] = signal.signal(number, stop)
    try:
        yield
    finally:
        left.set()
        for signum, handler in before.items():
            signal.signal(signum, handler)


class CommandGroup(click.Group):
    """A group whose commands end with a message and an exit code where a person can mend it.

    Its help lists commands by `sections`: names of commands by title. A command is imported when it
    is asked for: one that `alone` names from its own module, all others with the module `others`.
    """

    def __init__(
        self,
        *args: Any,
        sections: Mapping[str, Sequence[str]] | None = None,
        alone: Mapping[str, str] | None = None,
        others: str = "",
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.sections = dict(sections or {})
        self.alone, self.others = dict(alone or {}), others

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments, after importing what the first names: a stop then has an answer."""
        if name := next((each for each in args if not each.startswith("-")), ""):
            self.get_command(ctx, name)
        return super().parse_args(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Find a command, and import it if need be."""
        if cmd_name in self.alone and cmd_name not in self.commands:
            self.add_command(getattr(importlib.import_module(self.alone[cmd_name]), cmd_name))
        elif cmd_name not in self.commands and self.others:
            importlib.import_module(self.others)
        return super().get_command(ctx, cmd_name)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name all commands, after importing them."""
        if self.others:
            importlib.import_module(self.others)
        return super().list_commands(ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands under the titles of their sections."""
        listed = {name for names in self.sections.values() for name in names}
        rest = [name for name in self.list_commands(ctx) if name not in listed]
        room = formatter.width - 6 - max(map(len, self.commands))
        for title, names in {**self.sections, "Other commands": rest}.items():
            commands = [(name, self.get_command(ctx, name)) for name in names]
            rows = [(name, c.get_short_help_str(room)) for name, c in commands if c is not None]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)

    def invoke(self, ctx: click.Context) -> object:
        """Run a command; exit 2 for what a person can mend, 130 and 143 for what was stopped."""
        try:
            with _stoppable():
                return super().invoke(ctx)
        except BrokenPipeError:
            raise  # click ends quietly when nobody reads on
        except KeyboardInterrupt as stopped:
            if ctx.params["debug"]:
                raise
            click.echo(f"recbias: {_STOPPED}", err=True)
            ctx.exit(128 + (signal.SIGTERM if isinstance(stopped, _Terminated) else signal.SIGINT))
        except click.UsageError as error:  # click's own words take four lines
            context = error.ctx or ctx
            click.echo(f"recbias: {error.format_message()}", err=True)
            click.echo(f"see: {context.command_path} --help", err=True)
            ctx.exit(2)
        except (RecbiasError, OSError) as error:
            if ctx.params["debug"]:
                raise
            full = getattr(error, "errno", None) in NO_SPACE
            click.echo(f"recbias: {error}{_FULL if full else ''}", err=True)
            ctx.exit(getattr(error, "exit_code", 2))


def finite(_: click.Context, option: click.Parameter, number: float | None) -> float | None:
    """Refuse what is no finite number; a callback of an option."""
    if number is not None and not math.isfinite(number):
        raise ConfigError(f"{option.opts[0]} {number}: expected a finite number")
    return number


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


def _use_scheduler(_context: click.Context, _option: click.Parameter, where: str | None) -> None:
    """Let a scheduler's workers stand in for local processes, also in kernels of notebooks."""
    if where is not None:
        from recbias.experiment.cluster import address_of  # imports what runs cells

        given = where if "://" in where else str(Path(where).expanduser().resolve())
        address_of(given)
        os.environ[SCHEDULER] = given


scheduler_option = click.option(
    "--scheduler",
    metavar="ADDRESS|FILE",
    callback=_use_scheduler,
    expose_value=False,
    help="A running Dask cluster does what several local processes would.",
)

_PARAMETER_OPTIONS = (
    click.option(
        "-p",
        "params",
        nargs=2,
        multiple=True,
        metavar="NAME VALUE",
        help="Change a parameter of the chapter; a wrong name lists them all.",
    ),
    click.option("--min-rating", help="Smallest relevant rating: -p min_rating VALUE."),
    click.option("--split", help="The rule, such as 'ratio 0.2': -p split VALUE."),
)


def parameter_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that change parameters of chapters; a decorator of a command."""
    for option in reversed(_PARAMETER_OPTIONS):
        command = option(command)
    return command


def read_parameters(
    params: Sequence[tuple[str, str]], min_rating: str | None = None, split: str | None = None
) -> dict[str, str]:
    """Join what changes parameters.

    Examples
    --------
    >>> read_parameters([("cutoff", "5")], "4")
    {'cutoff': '5', 'min_rating': '4'}
    """
    options = {"min_rating": min_rating, "split": split}
    said = [*params, *((name, value) for name, value in options.items() if value is not None)]
    if twice := [name for name, n in Counter(name for name, _ in said).items() if n > 1]:
        raise ConfigError(f"parameter {twice[0]} is given twice")
    return dict(said)


_OPTIONS = (
    click.option("--user", help="Column with the users."),
    click.option("--item", help="Column with the items."),
    click.option("--rating", help="Column with the ratings, or none."),
    click.option("--timestamp", help="Column with the times, or none."),
    click.option("--separator", help="What separates the fields: one character, '::' or 'tab'."),
    click.option("--header/--no-header", default=None, help="Whether line 1 names the columns."),
    click.option(
        "--quotes/--no-quotes",
        default=None,
        help="Whether '\"' encloses fields; else not between tabs, and between other marks.",
    ),
    click.option("--decimal", type=Choice([".", ","]), help="The decimal sign of the ratings."),
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
        type=Choice(["error", "first", "last", "mean"]),
        help="What several ratings of one pair mean; first, last: in time, if there are times.",
    ),
    click.option(
        "--thousands",
        type=Choice(list(THOUSANDS.values())),
        help="What separates the thousands of the ratings, as in 12,500.",
    ),
    click.option(
        "--missing",
        type=Choice(["error", "drop"]),
        help="What a row without id, rating or time means; drop: it is left out, and counted.",
    ),
    click.option("--encoding", help="Encoding of a text, e.g. latin-1 or utf-16; else UTF-8."),
)


def table_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options by which the owner of a table says what it is; a decorator of a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def read_options(given: Mapping[str, Any]) -> TableOptions:
    r"""Read what `table_options` gave a command.

    Examples
    --------
    >>> read_options({"separator": "tab", "scale": (1.0, 5.0, 1.0)}).given()
    {'separator': '\t', 'scale': [1.0, 5.0, 1.0]}
    """
    from recbias.data.datasets import TableOptions
    from recbias.data.ratings import RatingScale

    values = dict(given)
    if scale := values.get("scale"):
        values["scale"] = RatingScale(*scale)
    if values.get("separator") in ("tab", "\\t"):
        values["separator"] = "\t"
    elif len(mark := values.get("separator") or "") > 2 and nearest(mark, ["tab"]):
        raise ConfigError(f"separator {mark!r}: did you mean 'tab'?")
    typed = {word: mark for mark, word in THOUSANDS.items()}
    if word := values.get("thousands"):
        values["thousands"] = typed.get(word, word)
    return TableOptions(**{name: None if value == () else value for name, value in values.items()})


def load_said(name: str, given: Mapping[str, Any]) -> Dataset:
    """Load a data set or table as `table_options` says, and print what may be wrong with it."""
    from recbias.data.datasets import load_dataset

    with warnings_said():
        return load_dataset(name, **vars(read_options(given)))


def say_read(dataset: Dataset) -> Dataset:
    """Print how a table was understood, in one line where warnings go, and give it back."""
    if dataset.understood:
        click.echo(f"recbias: read {shown(dataset.source)}", err=True)
    return dataset


@contextmanager
def warnings_said() -> Iterator[None]:
    """Print what may be wrong with data that are read meanwhile, each warning once."""
    said: set[str] = set()

    def say(message: Warning | str, category: type[Warning], *rest: Any) -> None:
        if not issubclass(category, DataWarning):
            show_warning(message, category, *rest)
        elif str(message) not in said:
            said.add(str(message))
            click.echo(f"recbias: warning: {shown(str(message))}", err=True)

    with warnings.catch_warnings():
        warnings.simplefilter("always", DataWarning)
        show_warning = warnings.showwarning
        warnings.showwarning = say  # type: ignore[assignment]
        yield
