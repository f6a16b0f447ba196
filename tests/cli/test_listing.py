"""The lists of what there is: complete, short, and with what a reader adds."""

from __future__ import annotations

import re

import numpy as np
import pytest
from click.testing import CliRunner

from recbias.cli.commands import main
from recbias.data.ratings import Ratings
from recbias.experiment.decisions import CHOICES
from recbias.metrics import Declaration, declarations, parse_metric
from recbias.metrics import base as metrics_base
from recbias.protocol import splits
from recbias.protocol.averaging import POPULATIONS, STATISTICS
from recbias.protocol.protocol import POLICIES, Protocol
from recbias.protocol.splits import SplitRule, split_rules
from recbias.protocol.targets import CODES, TargetRule
from recbias.recommenders import algorithms, line_up, line_up_names, register
from recbias.recommenders import base as recommenders_base
from recbias.recommenders.descriptions import describe

LISTS = ("metrics", "systems", "splits", "protocols")


def said(*words: str) -> str:
    ended = CliRunner().invoke(main, words)
    assert ended.exit_code == 0, ended.output
    return ended.stdout


def parse(form: str) -> Declaration:
    (declaration,) = (one for one in declarations() if one.form == form)
    return declaration


def names(*words: str) -> list[str]:
    """List what stands first in each line of a group; names of two words end at two blanks."""
    lines = [line for line in said(*words).splitlines() if line.startswith("  ")]
    return [line.strip().partition("  ")[0] for line in lines]


@pytest.mark.parametrize("command", LISTS)
def test_a_list_is_as_wide_as_a_terminal_and_has_a_line_each(command: str) -> None:
    lines = said(command).splitlines()
    assert max(map(len, lines)) <= 100
    listed = names(command)
    if command != "protocols":  # where the usual protocol is the first answer to every question
        assert len(set(listed)) == len(listed)
    assert all(line.startswith("  ") or line[:1].isupper() or ": " in line or not line
               for line in lines)  # fmt: skip


def test_metrics_are_listed_by_kind_and_each_is_shown_in_full() -> None:
    listed = names("metrics")
    assert sorted(listed) == sorted([*metrics_base.KINDS, *(one.form for one in declarations())])
    kinds = [parse(form).kind for form in listed if form not in metrics_base.KINDS]
    assert kinds == sorted(kinds, key=[*metrics_base.KINDS].index)
    for one in declarations():
        text = said("metrics", one.form)
        plain = " ".join(text.split())
        for part in (one.form, one.meaning, one.formula, one.source, one.edge_cases):
            assert " ".join(part.split()) in plain
        assert parse_metric(one.example).declaration is one
        assert f"example {one.example}" in plain
        assert max(map(len, text.splitlines())) <= 100
    assert names("metrics", "system")[1:] == [o.form for o in declarations() if o.kind == "system"]
    assert said("metrics", "P").count("form  ") == 5  # alone, judged, ties, and two of samples
    assert said("metrics", "P@5|t=20") == said("metrics", "P@n|t=T")


def test_systems_are_listed_by_family_and_each_is_shown_in_full() -> None:
    assert sorted(names("systems")) == sorted([*algorithms(), *line_up_names()])
    for name in algorithms():
        text, description = said("systems", name), describe(name)
        for argument in description.arguments:
            assert f"{argument.name}= " in text
            assert f"default {argument.default!r}" in text
        assert "coverage" in text
        assert "`" not in text
        assert max(map(len, text.splitlines())) <= 100
    assert "an integer >= 1" in said("systems", "UserKNN")
    called = said("systems", "Item kNN")  # a name of line-ups, the one that an audit takes first
    assert called.index("CoRatedItemKNNInFileOrder(") < called.index("CoRatedItemKNN(")
    for name in line_up_names():
        text = said("systems", name)
        assert [line.partition(" ")[2].strip() for line in text.splitlines()
                if line.startswith("system ")] == [one.name for one in line_up(name)]  # fmt: skip


def test_splits_are_listed_and_each_says_what_it_does() -> None:
    assert names("splits") == [rule.example for rule in splits._EXPECTED.values()]
    for rule in split_rules():
        assert SplitRule.parse(str(rule)) == rule
        assert said("splits", rule.kind) == said("splits", str(rule))
        assert rule.form in said("splits", rule.kind)
        assert rule.meaning in " ".join(said("splits", rule.kind).split())
    kept = " ".join(said("splits", "uniform 0.3 eps=0.1").split())
    assert "a share of 0.3 of all, where 0.1 of an item's ratings stay in training" in kept
    assert "drawn anew with each seed" in kept
    assert "seed" not in said("splits", "temporal 0.2")


def test_protocols_are_listed_with_every_code_and_option() -> None:
    text = said("protocols")
    for codes in CODES.values():
        assert {*codes} <= {*names("protocols")}
    for words in (
        *(f"users={population}" for population in POPULATIONS if population != "all"),
        *(f"statistic={statistic}" for statistic in STATISTICS if statistic != "mean"),
        *(f"unscored={policy}" for policy in POLICIES if policy != "none"),
        *("condensed", "+train", "weights=ratings", "coverage=reduced"),
    ):
        assert words in text
    for name in names("protocols"):
        if "rel>=" in name:
            assert str(Protocol.parse(name)).startswith(name.partition(" users=runs")[0][:8])
    told = " ".join(said("protocols", "TI-NN-1R t=100 rel>=4").split())
    assert "is ranked with 99 non-relevant ones drawn from" in told
    assert "Ratings of 4 or more are relevant." in told


def test_the_codes_that_are_explained_are_those_that_can_be_written() -> None:
    for candidates in CODES["candidates"]:
        for others in CODES["others"]:
            for relevant in CODES["relevant"]:
                size = {"AR": " N=9", "P1R": " m=9"}.get(relevant, " t=9")
                if (others, relevant) in {("NN", "P1R"), ("AN", "1R-shared")}:
                    continue
                size = size if others == "NN" or relevant == "P1R" else ""
                text = f"{candidates}-{others}-{relevant}{size}"
                assert str(TargetRule.parse(text)) == text


# ----------------------------------------------------------------------------- what a reader adds


def measure_longest(counts, lists, metrics):
    """Count the lists that hold the item that most of them hold."""
    return np.tile(counts.max(axis=1), (len(metrics), 1))


class Newest:
    """Prefers what came last.

    Parameters
    ----------
    damping : float
        How slowly.
    """

    coverage = "all"

    def __init__(self, damping: float = 2.0) -> None:
        self.damping = damping

    def fit(self, train: Ratings, *, rng: np.random.Generator | None = None) -> Newest:
        self.n_items = train.n_items
        return self

    def score(self, users):
        return np.tile(np.arange(self.n_items, dtype=np.float32), (len(users), 1))


@pytest.fixture
def added(monkeypatch: pytest.MonkeyPatch) -> None:
    for room, registry in (
        (metrics_base, "_DECLARATIONS"),
        (recommenders_base, "_ALGORITHMS"),
        (recommenders_base, "_SOURCES"),
    ):
        monkeypatch.setattr(room, registry, dict(getattr(room, registry)))
    new = splits._Expected(lambda size: size is None, "odd", "odd", "Odd rows are the test")
    monkeypatch.setitem(splits._EXPECTED, "odd", new)
    metrics_base.register(
        Declaration("Most", "system", "lists of the most listed item", "x", "mine", "0",
                    measure_longest, called=("crowding",))
    )  # fmt: skip
    register(Newest)


@pytest.mark.usefixtures("added")
def test_what_a_reader_registers_shows_by_itself() -> None:
    head = (__doc__ or "").splitlines()[0]
    text = said("metrics")
    assert f"system: {head}\n  Most@n  lists of the most listed item\n" in text
    assert "also called  crowding" in said("metrics", "Most")
    text = said("systems")
    assert f"{head}\n  Newest  Prefers what came last.\n" in text
    assert "damping=  default 2.0. How slowly." in said("systems", "Newest")
    assert re.search(r"^  odd +Odd rows are the test\.$", said("splits"), re.MULTILINE)
    mistyped = CliRunner().invoke(main, ["metrics", "crowdin@5"]).stderr
    assert "unknown metric 'crowdin': did you mean 'Most'?" in mistyped


def test_the_table_of_decisions_is_where_options_of_protocols_come_from(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fewer = tuple(choice for choice in CHOICES if "median" not in choice.text)
    monkeypatch.setattr("recbias.experiment.decisions.CHOICES", fewer)
    assert "statistic=median" not in said("protocols")


# ------------------------------------------------------------------------------------------- help


def test_the_help_groups_all_commands_and_says_where_to_begin() -> None:
    text = said("--help")
    commands = text[text.index("Begin here") : text.index("First:")]
    lines = [line.split() for line in commands.splitlines() if line.startswith("  ")]
    assert sorted(words[0] for words in lines if words) == sorted(main.commands)
    assert "Other commands" not in text
    assert "..." not in commands
    assert text.index("Begin here") < text.index("What there is") < text.index("The book")


def test_a_command_of_no_section_is_in_the_help_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(main, "sections", {"Only": ("data",)})
    text = said("--help")
    assert "Other commands:\n  audit" in text
    assert text.count("  data ") == 1
