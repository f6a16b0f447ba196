"""What there is to choose from: ``recbias metrics``, ``systems``, ``splits``, ``protocols``.

Every line comes from where a thing is registered, so that one that is added shows by itself.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Mapping

import click

from recbias.errors import unknown_name

_WIDTH = 100
_WIDEST = 22
"""Columns of the names at most, before what they mean; a longer name pushes its own line."""
_AS_IT_IS = re.compile(r"^(?:\s|[=*-])", re.MULTILINE)
"""What a paragraph has that is a table, a list or a formula of its own: its lines stay."""


@click.command(short_help="What can be measured; one metric in full.")
@click.argument("name", required=False)
def metrics(name: str | None) -> None:
    """List the metrics by kind and family; or show NAME in full, such as nDCG or 'P@10|t=100'.

    NAME may be a kind too: ranks, items or system. What stands in brackets may be left out:
    nDCG[(gain)][@n] is written nDCG, nDCG@10 or nDCG(exp)@10.
    """
    from recbias.metrics import KINDS, declarations, parse_metric  # compiles

    if name is not None and name not in KINDS:
        matching = [one for one in declarations() if name in (one.name, one.form)]
        _show(one.described() for one in matching or [parse_metric(name).declaration])
        return
    kinds = {kind: meaning for kind, meaning in KINDS.items() if name in (None, kind)}
    _list("Kinds: what a metric is made of.", kinds.items())
    for kind in kinds:
        of_kind = [one for one in declarations() if one.kind == kind]
        for family in dict.fromkeys(one.family for one in of_kind):
            rows = [(one.form, one.meaning) for one in of_kind if one.family == family]
            _list(f"{kind}: {_plain(family)}", rows)
    click.echo("One in full: recbias metrics NAME")


@click.command(short_help="What can be trained; one system, or line-up, in full.")
@click.argument("name", required=False)
def systems(name: str | None) -> None:
    """List the systems by family, and the line-ups; or show NAME in full, such as UserKNN or bcc17.

    Where several line-ups call a system so, `recbias audit` takes the first that is shown.

    A system is a class, which --with and System(...) name, with its parameters. A line-up is a
    named choice of systems that belong together: line_up('bcc17').
    """
    from recbias.recommenders import System, algorithms, line_up, line_up_names, line_up_sources
    from recbias.recommenders.descriptions import describe, families, to_text
    from recbias.recommenders.line_ups import line_up_meanings, systems_called

    def show(system: System, line: str, **first: str) -> None:
        parameters = ", ".join(f"{key}={value!r}" for key, value in system.parameters.items())
        rows = {
            **first,
            "system": system.name,
            "class": f"{system.algorithm}({parameters})",
            "seeds": str(system.n_seeds) if system.n_seeds > 1 else "",
            "why": to_text(line_up_sources(line)[system.name]),
        }
        _show([{label: text for label, text in rows.items() if text}])

    if name in line_up_names():
        for system in line_up(name):
            show(system, name)
        return
    if name is not None and name not in algorithms() and (found := systems_called(name)):
        for line, system in found.items():
            show(system, line, **{"line-up": line})
        return
    if name is not None:
        if name not in algorithms():
            raise unknown_name("system", name, (*algorithms(), *line_up_names()))
        _show([describe(name).described()])
        return
    for family, descriptions in families().items():
        _list(_plain(family), [(one.name, _plain(one.summary)) for one in descriptions])
    _list("Line-ups: named choices of systems.", line_up_meanings().items())
    click.echo("One in full: recbias systems NAME")


@click.command(short_help="How ratings are parted into training and test.")
@click.argument("rule", required=False)
def splits(rule: str | None) -> None:
    """List an example of each split rule; or say what RULE does, such as 'k-fold 5' or uniform.

    A rule says which ratings are tested and which are trained on. In the form of a rule, SHARE is
    above 0 and below 1, N a number, and what stands in brackets may be left out.
    """
    from recbias.protocol.splits import SplitRule, split_rules

    rules = split_rules()
    if rule is not None:
        by_kind = {one.kind: one for one in rules}
        parsed = by_kind[rule] if rule in by_kind else SplitRule.parse(rule)
        drawn = ", drawn anew with each seed" if parsed.is_drawn else ""
        _show([{"rule": str(parsed), "form": parsed.form, "meaning": f"{parsed.meaning}{drawn}."}])
        return
    _list("Split rules, by example", [(str(one), f"{one.meaning}.") for one in rules])
    click.echo("How one is written: recbias splits NAME")


@click.command(short_help="What is ranked, what is relevant, how values are averaged.")
@click.argument("protocol", required=False)
def protocols(protocol: str | None) -> None:
    """List the parts of protocols; or say what PROTOCOL means, such as 'TI-AN-AR rel>=4'.

    A protocol says which items are ranked for a user, from which rating on an item is relevant, and
    how values are averaged: CANDIDATES-OTHERS-RELEVANT rel>=RATING, with options behind.
    """
    from recbias.experiment.decisions import DECISIONS, decisions_table, protocol_in_words
    from recbias.protocol.protocol import Protocol
    from recbias.protocol.targets import CODES

    if protocol is not None:
        parsed = Protocol.parse(protocol)
        _show([{"protocol": str(parsed), "meaning": protocol_in_words(parsed)}])
        return
    for place, (option, codes) in zip(("first", "second", "third"), CODES.items(), strict=True):
        _list(f"{option.capitalize()}, the {place} code", codes.items())
    table = decisions_table()
    of_protocol = table["acts"].isin(["targets", "lists", "average"])
    alone = table[of_protocol & table["option"].str.match(r"lists: [^;]*$")]
    for decision, meaning in DECISIONS.items():
        chosen = alone[alone["decision"] == decision]
        texts = chosen["option"].str.removeprefix("lists: ")
        _list(meaning, zip(texts, chosen["means"], strict=True), widest=_WIDTH // 2)
    click.echo("One in words: recbias protocols 'TI-NN-1R t=100 rel>=4'")


def _list(title: str, rows: Iterable[tuple[str, str]], widest: int = _WIDEST) -> None:
    """Print a group: its title, a line for each name, and an empty line; nothing if it is empty."""
    rows = list(rows)
    if not rows:
        return
    click.echo(textwrap.shorten(title, _WIDTH, placeholder=" ..."))
    width = min(widest, max(len(name) for name, _ in rows))
    for name, text in rows:
        head = f"  {name:{width}}  "
        click.echo(head + textwrap.shorten(text, _WIDTH - len(head), placeholder=" ..."))
    click.echo()


def _plain(text: str) -> str:
    from recbias.recommenders.descriptions import to_text  # pulls in every recommender

    return to_text(text)


def _show(entries: Iterable[Mapping[str, str]]) -> None:
    """Print entries in full, labels on the left, an empty line between two."""
    for number, rows in enumerate(entries):
        if number:
            click.echo()
        width = max(map(len, rows))
        for label, text in rows.items():
            click.echo("\n".join(_laid_out(f"{label:{width}}  ", text)))


def _laid_out(head: str, text: str) -> list[str]:
    """Wrap the paragraphs of a text behind a label; lines that are laid out already stay."""
    indent = " " * len(head)
    lines: list[str] = []
    for paragraph in text.split("\n\n"):
        if _AS_IT_IS.search(paragraph):
            lines += [f"    {line}".rstrip() for line in paragraph.splitlines()]
        else:
            lines += textwrap.wrap(
                " ".join(paragraph.split()),
                _WIDTH,
                initial_indent=indent,
                subsequent_indent=indent,
                break_long_words=False,
                break_on_hyphens=False,
            )
    if not lines[0].startswith(indent):
        return [head.rstrip(), *lines]
    return [head + lines[0].removeprefix(indent), *lines[1:]]
