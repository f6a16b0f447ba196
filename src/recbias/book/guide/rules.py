"""Seventeen rules, what each stands on, and on how many data sets that holds.

Their sentences follow verdicts, so that the page states them itself. Here is which findings speak
for a rule, which claims are behind it, and what authors and reviewers can check.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

from recbias.book.findings import find, read_from
from recbias.book.html import claim_link
from recbias.book.scorecard import load_document
from recbias.claims.judging import load_chapter
from recbias.claims.kept import kept
from recbias.claims.parts import ChapterResults
from recbias.experiment.results import SIMULATIONS, recorded_datasets

Load = Callable[[str, str], ChapterResults]


@dataclass(frozen=True)
class Rule:
    """What to do, by what it is known, and how one sees that it was done.

    Attributes
    ----------
    findings
        What speaks for it: names as in blocks, each with the verdict by which it does.
    claims
        Claims of papers behind it.
    author, reviewer
        A line of either checklist.
    """

    findings: Mapping[str, str] = field(default_factory=dict)
    claims: tuple[str, ...] = ()
    author: str = ""
    reviewer: str = ""


def _holding(*names: str) -> dict[str, str]:
    return dict.fromkeys(names, "holds")


RULES: Mapping[str, Rule] = {
    "state": Rule(
        _holding("own/POPULARITY-RANGE"),
        ("BCC17-C-RANGE",),
        "The text says which items are ranked, what is relevant, what becomes of the unrated, the "
        "cutoff, and over whom is averaged.",
        "Can I say which items were ranked, and what a user without relevant items counts?",
    ),
    "chance": Rule(
        _holding("BCC17-C-RANGE/5", "own/RANDOM-RANGE"),
        ("BCC17-EQ4", "BCC17-EQ5", "BCC17-C-RNDLB"),
        "Random and Popularity stand in every table, under its own design.",
        "Are Random and Popularity in the table? Does any 1R value exceed 1/n?",
    ),
    "all_items": Rule(
        _holding("own/NEGATIVES-MOST", "own/NEGATIVES-TURNED"),
        ("BCC17-F4R",),
        "All candidates are ranked; if that took too long, users were sampled, not items.",
        "Were items sampled? How many, and would the closest pair keep its order?",
    ),
    "never_across": Rule(
        {"own/AR-TENTH": "holds", "BCC17-C-1RCOMP/4": "refuted"},
        ("BCC17-C-1RCOMP",),
        "No value of another paper or data set is compared with one of ours.",
        "Do values of other papers or data sets stand in one table?",
    ),
    "sparse": Rule(
        _holding("own/ORDER-TENTH"),
        ("BCC17-C-ORDER",),
        "The test has at least twice the ratings that the closest pair needs; if none were missing "
        "at random, we say so.",
        'Is the test too sparse for the closest pair? Is "not significant" taken for equality?',
    ),
    "users": Rule(
        _holding("own/UNIT-FLIPS"),
        ("BCC17-C-SIG",),
        "Tests and intervals are over users, and corrected for the number of pairs.",
        "Over what are p-values: users, runs, folds? Are they corrected?",
    ),
    "simulate": Rule(
        _holding("own/SKEW-SHARE-AR", "own/SKEW-SHARE-1R"),
        ("BCC17-F5C",),
        "The score of Popularity in a world with our counts and no taste stands beside ours.",
        "How much of the best score do the counts alone give?",
    ),
    "likes": Rule(
        _holding("own/LIKES-OVER-RATINGS"),
        ("BCC17-C-POPOPT",),
        "The baseline counts likes, not only ratings.",
        "Is the baseline the best ranking that is the same for everybody?",
    ),
    "beyond": Rule(
        {
            "BCC17-F8-1R/1/2": "holds",
            "own/TRUTH-CM-REMEDIES-P": "refuted",
            "own/TRUTH-COAT-REMEDIES-AUC": "refuted",
        },
        ("BCC17-F8-1R", "BCC17-F8-RES"),
        "U1R or P1R is reported as what exceeds popularity, and not as what users would like.",
        "Is a test without popularity called unbiased, or nearer to the truth?",
    ),
    "dislikes": Rule(
        _holding(
            "own/WORLDS-BPREF-AUC",
            "own/TRUTH-COAT-BPREF-AUC",
            "own/TRUTH-CM-BPREF-AUC",
            "own/WORLDS-AGREE-BPREF",
        ),
        ("BCC17-EQ-BPREF", "MCCRS20-C-CONDLOSS"),
        "Dislikes are recorded: bpref and condensed lists stand beside full ones.",
        "Were low ratings thrown away, though they tell what was not liked?",
    ),
    "likes_only": Rule(
        _holding("own/WORLDS-OPPOSED-LEAD", "own/WORLDS-AGREE-LEAD", "own/WORLDS-UNRELATED"),
        ("MCCRS20-C-CONDPOS",),
        "Likes only: we say how popularity goes with liking, choose the test by it, and claim "
        "little.",
        "Likes only: what is assumed of the items that nobody rated?",
    ),
    "unrated": Rule(
        _holding("own/JUDGED-SHARE", "own/UNRELATED-ANTIP"),
        ("MCCRS20-C-FLIP", "MCCRS20-C5"),
        "The share of unrated items in the lists stands beside each value, and misses beside hits.",
        "How much of the lists is unrated? Do hits and misses agree?",
    ),
    "random": Rule(
        _holding("own/JUDGMENTS-P", "own/JUDGMENTS-LISTED"),
        ("MCCRS20-C5",),
        "Random judgments were drawn from the union of all lists; we say how many for each user.",
        "Random judgments: of which items, how many for each user, counted alone?",
    ),
    "one_line": Rule(
        _holding("own/MOST-TURNED", "own/NOISE-TURNED"),
        ("CCM20-C-SIGFLIP",),
        "All ten decisions stand in one line; each was taken otherwise once, with several seeds.",
        "Which one decision would turn the main result? Was it tried?",
    ),
    "coverage": Rule(
        _holding("CCM20-C-FORGIVE/2"),
        ("CCM20-C-FORGIVE", "CCM20-F8"),
        "Coverage is reported: users without a list, and items without a score.",
        "Is anybody left out of a mean? How many, and who?",
    ),
    "publish": Rule(
        _holding("own/READINGS"),
        (),
        "Code, parameters and seeds are published; names of algorithms come with formulas.",
        "Could I run it again? Which of its namesakes is each algorithm?",
    ),
    "even": Rule(
        _holding("own/LTI-LOG-COUNT"),
        ("ATM15-LTI", "ATM15-LTI-LAM"),
        "Gini of the lists stands beside that of the training ratings, popularity lift, and what "
        "random lists have.",
        "Is Gini of the lists beside that of the training ratings? Are several metrics one?",
    ),
}
"""By a short name; their numbers are their places."""

DISAGREE = (
    "own/RTEST-TAU",
    "own/CONDENSED-REVERSED",
    "MCCRS20-C-CONDLOSS/1",
    "own/BPREF-OPPOSED-TAU",
    "own/WORLDS-OPPOSED-OWN",
    "own/OPPOSED-ANTIP",
    "own/WORLDS-AGREEING-STRONG",
    "own/WORLDS-AGREEING-BLIND",
    "own/WORLDS-CONDENSED",
    "own/TRUTH-CM-AR-P",
    "own/CM-DEFAULT-WRONG",
    "own/CM-CONDENSED-WRONG",
    "own/COAT-DEFAULT-WRONG",
    "own/COAT-CONDENSED-WRONG",
)
"""What the page states beside the rules: of condensed lists, where chapters seem to disagree."""


def stated() -> list[str]:
    """Name all findings that the page states, each once."""
    of_rules = [name for rule in RULES.values() for name in rule.findings]
    return list(dict.fromkeys([*of_rules, *DISAGREE]))


def count_verdicts(names: Iterable[str], load: Load = load_chapter) -> dict[str, dict[str, str]]:
    """Find by name the verdicts on all data sets with recorded results.

    Where there is none it is empty; what reads the same results on all is found on one of them.
    They are kept, as they are the same in every edition.
    """
    asked = sorted(names)

    def make() -> str:
        table: dict[str, dict[str, str]] = {name: {} for name in asked}
        for dataset in recorded_datasets():
            left = [name for name in asked if _varies(name) or not any(table[name].values())]
            for findings in find(left, dataset, load):
                for name, finding in findings.found.items():
                    table[name][dataset] = finding.verdict
        return json.dumps(table)

    found: dict[str, dict[str, str]] = json.loads(kept(("guide", *asked), make))
    return found


def _varies(name: str) -> bool:
    """Tell whether a finding reads the results of the page that states it."""
    return "" in read_from(name)


def reproduced(dataset: str) -> dict[str, str]:
    """Find by claim of a rule the verdict on it where it is at home."""
    named = {claim for rule in RULES.values() for claim in rule.claims}
    listed = load_document(dataset)["claims"]
    return {each["id"]: each["answers"]["reproduced"] for each in listed if each["id"] in named}


def basis_html(
    rule: Rule, verdicts: Mapping[str, Mapping[str, str]], at_home: Mapping[str, str]
) -> str:
    """Write where the sentences of a rule hold, and apart from it what became of its claims."""
    places = _PLACES if len(rule.findings) > 1 else ("It",)
    told = [
        f"{place} {_standing(name, speaks, verdicts[name])}."
        for place, (name, speaks) in zip(places, rule.findings.items(), strict=False)
    ]
    listed = ", ".join(f"{claim_link(claim, claim)} ({at_home[claim]})" for claim in rule.claims)
    behind = f" Claims: {listed}." if listed else ""
    return f'<span class="basis">{" ".join(told)}{behind}</span>'


_PLACES = ("Its first sentence", "Its second", "Its third", "Its fourth")


def _standing(name: str, speaks: str, verdicts: Mapping[str, str]) -> str:
    """Say where a finding bears its rule out; what reads the same results everywhere does once.

    Examples
    --------
    >>> of = {"coat": "holds", "ml-1m": "holds", "cm100k": "open", "filmtrust": ""}
    >>> _standing("own/POPULARITY-RANGE", "holds", of)
    'holds on 2 of 3 data sets; open on cm100k'
    >>> _standing("own/WORLDS-BPREF-AUC", "refuted", of)
    'fails in simulated worlds'
    """
    against = {"holds": "refuted", "refuted": "holds"}[speaks]
    words = {speaks: "holds", against: "fails", "open": "open"}
    places = read_from(name)
    if "" not in places:
        where = (
            "in simulated worlds" if places == {SIMULATIONS} else f"on {_listed(sorted(places))}"
        )
        words = words | {"open": "is open"}
        found = next((words[each] for each in verdicts.values() if each), "is not known")
        return f"{found} {where}"
    by_word = {
        each: [dataset for dataset, verdict in verdicts.items() if verdict == each]
        for each in words
    }
    n_decided = sum(map(len, by_word.values()))
    if not n_decided:
        return "is told by no recorded results"
    data_sets = "data set" if n_decided == 1 else "data sets"
    text = f"holds on {len(by_word[speaks])} of {n_decided} {data_sets}"
    others = [
        f"{words[each]} on {_listed(by_word[each])}" for each in (against, "open") if by_word[each]
    ]
    return "; ".join([text, *others])


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def checklist_html(reader: str) -> str:
    """Write the checklist of the ``author`` or of the ``reviewer``, a line for each rule."""
    lines = "".join(f"<li>{escape(getattr(rule, reader))}</li>" for rule in RULES.values())
    return f'<div class="checklist"><ol>{lines}</ol></div>'
