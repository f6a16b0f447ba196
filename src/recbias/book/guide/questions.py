"""Six questions that lead to a protocol in one line, to what it misses, and to a paragraph.

An answer is found for every combination of options (`advise`). `questions_html` writes each line
once, with what it measures and misses, as a table that needs no script; the sentences of all
paragraphs once, in the order in which they stand; and which of them belong to which combination.
``book/_static/guide.js`` shows those of the chosen one, and keeps the six options in the address.
"""

from __future__ import annotations

import json
import re
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import product
from typing import Any

from recbias.book.explorer import Axis
from recbias.book.html import table_html
from recbias.errors import ConfigError
from recbias.experiment.decisions import in_full, methods_paragraph
from recbias.experiment.options import Options
from recbias.protocol.splits import KEPT_SHARE

QUESTIONS: Mapping[str, Axis] = {
    "dislikes": Axis(
        "Do the ratings also say what users disliked?",
        {"yes": "yes: stars, or thumbs up and down", "no": "no: likes, plays or purchases only"},
    ),
    "times": Axis(
        "Is it recorded when each rating was given?",
        {"yes": "yes", "no": "no"},
    ),
    "random": Axis(
        "Did users judge items that were drawn at random?",
        {"no": "no", "yes": "yes, some of them"},
    ),
    "size": Axis(
        "Can each system rank all items for all users, five times?",
        {"all": "yes", "part": "no, that takes too long"},
    ),
    "compared": Axis(
        "What is compared?",
        {
            "lists": "systems, by the lists that they show",
            "popularity": "a system with Popularity: does it know more?",
            "stars": "systems, by the order of what a user rated",
            "values": "values with those of other data or papers",
        },
    ),
    "relation": Axis(
        "Are popular items liked more?",
        {
            "unknown": "I do not know",
            "agree": "yes, by more of all users",
            "unrelated": "neither more nor less",
            "opposed": "no, they are liked less",
        },
    ),
}
"""By name what is asked. The first options are those of most public data."""

_LETTERS = string.digits + string.ascii_letters
"""The page names what is shown by a letter: there are 256 combinations."""

Codes = Mapping[str, str]
"""By question the option that was chosen."""


@dataclass(frozen=True)
class Design:
    """What is ranked and counted, whatever the split.

    Attributes
    ----------
    asks
        When it is the answer, in words.
    lists, metric
        Parts of the line, without the threshold.
    measures, misses
        What its values are about, and what they do not tell.
    beside
        What to report with it: parts of another line, behind words.
    split, test
        What it needs, whatever times and size allow.
    """

    asks: str
    lists: str
    metric: str
    measures: str
    misses: str
    beside: tuple[tuple[str, str], ...] = ()
    split: str = ""
    test: str = ""


_FULL = "AI-AN-AR"
_UNIFORM = "uniform 0.2 draws=5"
_MISSES_UNRATED = (
    "The unrated counts as not liked: who lists what few people rate seems worse than they are."
)
_BPREF = ("how often what is liked stands above what is disliked", "metric: bpref")
_CONDENSED = ("the same of condensed lists, which is another task", f"lists: {_FULL} condensed")
_CONDENSED_HITS = (
    "how many of the first ten of those that the user rated they liked",
    f"lists: {_FULL} condensed; metric: P@10",
)
_MISSED = (
    "how many of the ten are known to be disliked (with coverage=reduced in the lists, or else who "
    "lists nothing is the best)",
    "metric: antiP@10",
)

DESIGNS: Mapping[str, Design] = {
    "drawn": Design(
        "users judged items drawn at random, and lists are compared",
        _FULL,
        "P@10",
        "How many of ten listed items users like, whatever users choose to rate.",
        "Few judgments fall into a list, so that intervals are wide; values are small, and only "
        "their ratios mean something.",
        (_MISSED,),
        split="whole",
        test="unbiased",
    ),
    "hits": Design(
        "dislikes are recorded; popular items are liked more, or nobody knows",
        _FULL,
        "P@10",
        "How many of ten listed items users rated, and liked.",
        _MISSES_UNRATED,
        (_MISSED, _BPREF, _CONDENSED),
    ),
    "above": Design(
        "dislikes are recorded, and popular items are liked less",
        _FULL,
        "bpref",
        "How often what is liked stands above what is disliked, of what the user rated.",
        "What nobody rated. Where popular items are liked more it is the worst of the tests: do "
        "not take it there.",
        (_CONDENSED_HITS, _MISSED, ("how many of the ten are known to be liked", "metric: P@10")),
    ),
    "misses": Design(
        "dislikes are recorded, and popularity says nothing about liking",
        _FULL,
        "antiP@10",
        "How many of ten listed items users rated, and disliked: lower is better.",
        "The unrated counts as not disliked: who lists what nobody rates seems perfect. Report "
        "coverage: who refuses whoever is hard to serve is not measured there.",
        (("how many of the ten are known to be liked", "metric: P@10"), _BPREF, _CONDENSED),
    ),
    "likes": Design(
        "only likes are recorded; popular items are liked more, or nobody knows",
        _FULL,
        "P@10",
        "How many of ten listed items users are known to like.",
        f"{_MISSES_UNRATED} Without dislikes nothing in the data can tell.",
        (
            (
                "the same without popularity",
                f"split: {_UNIFORM}; lists: TI-AN-1R; metric: P@10|t=100",
            ),
            ("within classes of popularity", "lists: TI-AN-P1R m=10; metric: P@10|t=100"),
        ),
    ),
    "classes": Design(
        "only likes are recorded, and popularity says nothing about liking",
        "TI-AN-P1R m=10",
        "P@10|t=100",
        "How often a liked item is among the first ten of 100 that are about as popular.",
        "How liked whole classes of popularity are; and little of the truth is left to see.",
        (("the same without any popularity", f"split: {_UNIFORM}; lists: TI-AN-1R"),),
    ),
    "uniform": Design(
        "only likes are recorded, and popular items are liked less",
        "TI-AN-1R",
        "P@10|t=100",
        "How often a liked item is among the first ten of 100, each item being tested equally "
        "often.",
        "Items with few ratings, which no such test can have; and most of the truth: claim little.",
        (("what a usual split and test say", "lists: AI-AN-AR; metric: P@10"),),
        split=_UNIFORM,
    ),
    "beyond": Design(
        "a system is compared with Popularity",
        "TI-AN-1R",
        "P@10|t=100",
        "What a system knows beyond popularity: each item is tested equally often.",
        "Whether users would be served better. What popularity tells of liking is taken away, too.",
        (("within classes of popularity, on a usual split", "lists: TI-AN-P1R m=10"),),
        split=_UNIFORM,
    ),
    "rated": Design(
        "dislikes are recorded, and systems are compared by the order of what a user rated",
        f"{_FULL} condensed",
        "AUC",
        "How often an item that the user liked stands above one that they did not, of those rated.",
        "What users did not rate: this is no measure of lists from a catalogue.",
        (("the order of all stars", "metric: tau"),),
    ),
    "sized": Design(
        "values are compared with those of other data or papers",
        "TI-AN-1R",
        "P@10|t=100",
        "Do not compare them (rule 4): run all systems again, on the same data. Of its own line a "
        "value says how often a liked item is among the first ten of 100; a random ranking scores "
        "1/100 on all data.",
        "Popularity and skew differ between data, and values with them.",
        (("what a usual test says", "lists: AI-AN-AR; metric: P@10"),),
    ),
}  # fmt: skip
"""By name what may be the answer, in the order in which it is looked for."""

NO_DESIGN = (
    "There is no such design: with likes only, all systems that score every item have the same "
    "value on what a user rated. Compare the lists that they show."
)
"""What is said where there is no design."""

PLACES = {"title": "[name]"} | dict.fromkeys(("n_ratings", "n_users", "n_items"), "[number]")
"""What a paragraph has in place of a reader's data."""

NOTES: Mapping[str, str] = {
    "seeds": "Print Random and Popularity in the same table, and train each system with several "
    "seeds.",
    "leak": "Without times, models learn from ratings that are newer than those they are tested "
    "on. Say so.",
    "hits": "Say which share of the lists nobody has rated: rule 12.",
    "above": "Of what speaks of dislikes take bpref first, condensed lists next, misses third: see "
    "rule 10.",
    "misses": "Say which share of the lists nobody has rated (rule 12), and how many users have a "
    "list (rule 15).",
    "tested": "Few users have a rating in the last part of all: values are over these "
    "(`users=tested`). Random folds test nearly everybody.",
    "users": "Rank all items for a random sample of the users, the same for all systems, and say "
    "how many they are. A sample of the items can change the order of systems.",
    "no-times": "Such a test takes no notice of times: repeat the usual test on a split by time.",
    "items": "A uniform test draws from some of the items: say how many, and what they keep for "
    "training.",
    "trust": "`recbias trust` says whether P or antiP is to be trusted on data like yours. If it "
    "cannot tell, that belongs in the paper.",
    "little": "Claim little: see rule 11.",
    "union": "Have judged what is drawn from the union of all systems' lists, and count in these "
    "judgments alone. Say how many there are for each user.",
}
"""By name what goes with an answer."""

SAID: Mapping[str, str] = {
    "seeds": "Random and Popularity stand in the same table; what is random in training was "
    "repeated [number] times, with seeds that follow from this one.",
    "leak": "The split takes no notice of times: models learn from ratings that are newer than "
    "those they are tested on.",
    "hits": "We also report antiP@10 over users with a list, bpref, P@10 of condensed lists, and "
    "which share of the first ten items is unrated.",
    "above": "We also report P@10 of condensed lists, antiP@10 over users with a list, P@10, and "
    "which share of the first ten items is unrated.",
    "misses": "We also report P@10, bpref, antiP@10 of condensed lists, which share of the first "
    "ten items is unrated, and coverage: the share of the users who have a list.",
    "items": f"An item keeps a share of {KEPT_SHARE:g} of its ratings for training at least (eps); "
    "the test has ratings of [number] of all items, and says nothing of the others.",
    "little": "We assume that popular items are liked [more, less, as much as others], which likes "
    "alone cannot show, and report [the second test] beside it.",
    "users": "All this is of a random sample of [number] users, the same for all systems.",
}
"""By name of a note what the paragraph says of it, which no line of options does."""


@dataclass(frozen=True)
class Advice:
    """The answer to one combination of options.

    Attributes
    ----------
    design
        A name of `DESIGNS`; empty if there is none.
    options
        The line; None if there is none.
    notes
        Names of `NOTES`.
    """

    design: str
    options: Options | None
    notes: tuple[str, ...]


def advise(codes: Codes) -> Advice:
    """Find the answer to a combination of options.

    Parameters
    ----------
    codes
        One option for each of `QUESTIONS`.

    Raises
    ------
    ConfigError
        If a question has no answer, or one that it does not offer.

    Examples
    --------
    >>> codes = dict(dislikes="yes", times="yes", random="no", size="all")
    >>> advice = advise(codes | dict(compared="lists", relation="unrelated"))
    >>> print(advice.options)
    split: temporal 0.2; seed: 1; lists: AI-AN-AR rel>=4 users=tested coverage=reduced; metric: \
antiP@10; pairs: t
    """
    for name, axis in QUESTIONS.items():
        if codes.get(name) not in axis.options:
            listed = ", ".join(axis.options)
            raise ConfigError(f"{name}: {codes.get(name)!r} is no answer; choose one of {listed}")
    name = _design(codes)
    if not name:
        return Advice("", None, ())
    design = DESIGNS[name]
    split = design.split or _split(codes)
    notes = {
        "seeds": True,
        "leak": codes["times"] == "no" and not design.test,
        "hits": name == "hits",
        "above": name == "above",
        "misses": name == "misses",
        "tested": bool(_population(design.lists, split)),
        "no-times": codes["times"] == "yes" and split == _UNIFORM,
        "items": split == _UNIFORM,
        "users": codes["size"] == "part",
        "trust": name == "hits" and codes["relation"] == "unknown",
        "little": name in ("likes", "classes", "uniform"),
        "union": bool(design.test),
    }
    return Advice(
        name,
        _line(design.lists, design.metric, split, design.test, codes["dislikes"]),
        tuple(note for note, applies in notes.items() if applies),
    )


def _design(codes: Codes) -> str:
    """Name the design that answers; empty if there is none."""
    if codes["compared"] == "values":
        return "sized"
    if codes["compared"] == "popularity":
        return "beyond"
    if codes["compared"] == "stars":
        return "rated" if codes["dislikes"] == "yes" else ""
    if codes["random"] == "yes":
        return "drawn"
    if codes["dislikes"] == "yes":
        return {"opposed": "above", "unrelated": "misses"}.get(codes["relation"], "hits")
    return {"opposed": "uniform", "unrelated": "classes"}.get(codes["relation"], "likes")


def _split(codes: Codes) -> str:
    if codes["times"] == "yes":
        return "temporal 0.2"
    return "k-fold 5" if codes["size"] == "all" else "ratio 0.2"


def _population(protocol: str, split: str) -> str:
    """Choose who is averaged over: few users have a rating in the last part of all."""
    return "users=tested" if split == "temporal 0.2" and "-AR" in protocol else ""


def _line(lists: str, metric: str, split: str, test: str, dislikes: str) -> Options:
    """Write a line; its threshold is a usual one, which a reader replaces."""
    protocol, *words = lists.split(" ")
    threshold = "rel>=4" if dislikes == "yes" or test else "rel>=1"
    judged = f"test: {test}; " if test else ""
    sizes = [word for word in words if "=" in word]
    forms = [word for word in words if "=" not in word]
    # Without a list there are no misses, which is the best value: nobody may win by refusing users.
    coverage = "coverage=reduced" if metric.startswith("antiP") else ""
    population = _population(protocol, split)
    parts = (protocol, *sizes, threshold, *forms, population, coverage)
    text = " ".join(part for part in parts if part)
    return Options.parse(f"split: {split}; {judged}lists: {text}; metric: {metric}")


def sentences_of(options: Options, dataset: Mapping[str, Any]) -> list[str]:
    """Take the paragraph apart, so that a space between the sentences gives it back.

    The last one, which repeats the line, is left out.
    """
    paragraph = methods_paragraph(options, dataset)
    return re.split(r"(?<=\.) (?=[A-Z])", paragraph)[:-1]


def combinations() -> list[Codes]:
    """List all combinations of options, the last question varying first."""
    return [
        dict(zip(QUESTIONS, codes, strict=True))
        for codes in product(*(axis.options for axis in QUESTIONS.values()))
    ]


def questions_html(dataset: Mapping[str, Any]) -> str:
    """Write the questions, all answers as tables, and which of them belong to a combination.

    Parameters
    ----------
    dataset
        Facts that the paragraphs quote, as `methods_paragraph` has them.
    """
    advices = [advise(codes) for codes in combinations()]
    lines = list(dict.fromkeys(str(each.options) for each in advices if each.options))
    told = {line: sentences_of(Options.parse(line), dataset) for line in lines}
    sentences = _in_order(list(told.values()))
    numbers = {line: [sentences.index(each) for each in told[line]] for line in lines}
    states = [_state(each, lines) for each in advices]
    distinct = list(dict.fromkeys(states))
    document = {
        "states": distinct,
        "letters": _LETTERS[: len(distinct)],
        "chosen": "".join(_LETTERS[distinct.index(state)] for state in states),
    }
    text = json.dumps(document, separators=(",", ":"))
    return (
        '<div class="guide-questions" id="guide-questions">'
        f'<form hidden autocomplete="off" aria-label="Six questions">{_controls()}</form>'
        f'<div class="guide-answer" hidden></div>{_tables(lines, advices, numbers, sentences)}'
        f'<script type="application/json">{text}</script></div>'
    )


def _state(advice: Advice, lines: Sequence[str]) -> tuple[int, ...]:
    """Give the places of a design, its line and its notes; empty if there is none."""
    if advice.options is None:
        return ()
    designs, notes = list(DESIGNS), list(NOTES)
    return (
        designs.index(advice.design),
        lines.index(str(advice.options)),
        *(notes.index(note) for note in advice.notes),
    )


def _in_order(paragraphs: Sequence[Sequence[str]]) -> list[str]:
    """Join lists of sentences to one in which each has its order."""
    joined: list[str] = []
    for paragraph in paragraphs:
        place = 0
        for sentence in paragraph:
            if sentence in joined:
                place = joined.index(sentence) + 1
            else:
                joined.insert(place, sentence)
                place += 1
    return joined


def _controls() -> str:
    """Write a group of radio buttons for each question."""
    groups = []
    for name, axis in QUESTIONS.items():
        buttons = "".join(
            f'<label><input type="radio" name="guide-{name}" value="{code}"'
            f"{' checked' if not place else ''}/> {escape(words)}</label>"
            for place, (code, words) in enumerate(axis.options.items())
        )
        groups.append(f"<fieldset><legend>{escape(axis.title)}</legend>{buttons}</fieldset>")
    return "".join(groups)


def _tables(
    lines: Sequence[str],
    advices: Sequence[Advice],
    numbers: Mapping[str, Sequence[int]],
    sentences: Sequence[str],
) -> str:
    """Write all answers: designs with their lines, notes, and sentences of paragraphs."""
    rows = []
    for name, design in DESIGNS.items():
        own = [line for line in lines if any(_is(each, name, line) for each in advices)]
        written = "".join(
            f'<p><code data-line="{lines.index(line)}">{escape(line)}</code> '
            f"({_ranges(numbers[line])})</p>"
            for line in own
        )
        beside = "".join(
            f"<li>{escape(words)}: <code>{escape(parts)}</code></li>"
            for words, parts in design.beside
        )
        told = (
            f"<dt>It measures</dt><dd>{_code(design.measures)}</dd>"
            f"<dt>It misses</dt><dd>{escape(design.misses)}</dd>"
            "<dt>Report beside it, with this in the line</dt>"
            f"<dd><ul>{beside}</ul></dd>"
        )
        asks = escape(f"{design.asks[0].upper()}{design.asks[1:]}.")
        rows.append((asks, written, f"<dl>{told}</dl>"))
    head = ("if", "line", "says")
    notes = "".join(f"<li>{_code(note)}{_said(name)}</li>" for name, note in NOTES.items())
    told = "".join(f"<li>{_code(sentence)}</li>" for sentence in sentences)
    return (
        '<details class="guide-all" open><summary>All answers, without choosing</summary>'
        f'<div class="guide-lines">{table_html(head, rows, style="labelled")}</div>'
        f'<p class="guide-none">{escape(NO_DESIGN)}</p>'
        "<p>A split by time needs times; five folds need time for five trainings. And, where it "
        f'applies:</p><ul class="guide-notes">{notes}</ul>'
        "<p>A methods section has the sentences whose numbers stand behind its line, and then "
        f'<em class="guide-in-full">{escape(in_full())}</em> and the line.</p>'
        f'<ol class="guide-sentences">{told}</ol></details>'
    )


def _is(advice: Advice, design: str, line: str) -> bool:
    return advice.design == design and str(advice.options) == line


def _said(note: str) -> str:
    """Write what a note adds to the paragraph, before the line."""
    if note not in SAID:
        return ""
    return f' Write: <q class="guide-said">{escape(SAID[note], quote=False)}</q>'


def _code(text: str) -> str:
    """Write what stands between backquotes as code, and a rule as a link to it."""
    text = re.sub("`([^`]*)`", r"<code>\1</code>", escape(text, quote=False))
    return re.sub(r"\brule (\d+)", r'<a href="#rule-\1">rule \1</a>', text)


def _ranges(places: Sequence[int]) -> str:
    """Write numbers from 1, neighbours as ranges."""
    numbers = sorted(place + 1 for place in places)
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
