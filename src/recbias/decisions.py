"""The decisions of an offline evaluation, as a table; and what options say, as a paragraph.

CCM20 Sec. 3 names the decisions. Each option here is a text that :class:`~recbias.taxonomy.Options`
reads, so that nothing stands in the table which cannot be run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from recbias.errors import ConfigError
from recbias.ratings import exact
from recbias.taxonomy import Options

__all__ = ["DECISIONS", "PAPERS", "Decision", "Option", "methods_paragraph", "taxonomy_table",
           "unsaid"]  # fmt: skip

PAPERS = ("BCC17", "MCCRS20", "CCM20", "ATM15")
"""The papers whose options are told, in the order of the letters in :class:`Option`."""


@dataclass(frozen=True)
class Option:
    """One option of a decision.

    Attributes
    ----------
    part
        Part of :class:`~recbias.taxonomy.Options` that says it.
    text
        How; of ``lists`` what is added to a target rule and threshold, or replaces them.
    means
        In words.
    used
        Papers that used it, of :data:`PAPERS`.
    """

    part: str
    text: str
    means: str
    used: tuple[str, ...] = ()


@dataclass(frozen=True)
class Decision:
    """A decision, with what it is about, where it acts, and its options; the first is the default.

    Attributes
    ----------
    code
        As CCM20 labels it.
    asks
        The question.
    acts
        What it acts on.
    options : tuple of Option
    """

    code: str
    asks: str
    acts: str
    options: tuple[Option, ...]


_B, _M, _C, _A = PAPERS
_ALL = PAPERS

DECISIONS: tuple[Decision, ...] = (
    Decision("A1", "Which ratings count at all?", "training and test", (
        Option("data", "", "all", _ALL),
        Option("data", "users>=20", "users with at least 20 ratings"),
        Option("data", "items>=10", "items with at least 10 ratings"),
        Option("data", "head=5%", "without the most popular 5 % of the items"),
        Option("data", "keep=50%", "a random half of the ratings", (_C,)),
    )),
    Decision("A2", "Which ratings are tested on?", "training and test", (
        Option("split", "ratio 0.5", "a random share", (_C,)),
        Option("split", "k-fold 5", "each fifth in turn", (_B, _M)),
        Option("split", "leave-out 1", "so many ratings of each user"),
        Option("split", "uniform 0.2", "equally many ratings of each tested item", (_B,)),
        Option("split", "temporal 0.2", "the newest ratings of all"),
        Option("split", "temporal-user 0.2", "the newest ratings of each user"),
        Option("split", "ready", "folds that came with the data", (_M,)),
        Option("split", "whole", "nothing: other judgments are tested on"),
        Option("test", "unbiased", "ratings of items drawn at random", (_M,)),
        Option("test", "truth", "the truth of a simulated world"),
    )),
    Decision("B1", "Which users count?", "average", (
        Option("lists", "", "all: who has no list counts 0", (_B, _M)),
        Option("lists", "users=trained", "those with training ratings", (_C,)),
        Option("lists", "users=tested", "those with test ratings"),
        Option("lists", "users=relevant", "those who like a test item"),
        Option("lists", "TI-AN-1R rel>=4", "each relevant test rating is a run of its own", (_B,)),
        Option("lists", "TI-AN-P1R m=10 rel>=4", "each tenth of the items, by popularity, alike",
               (_B,)),
    )),
    Decision("B2", "What becomes of items without a score?", "lists", (
        Option("lists", "", "they are left out", (_B, _C)),
        Option("lists", "unscored=last", "last, in the order of ties"),
        Option("lists", "unscored=random", "last, at random", (_C,)),
        Option("lists", "unscored=popularity", "last, by training ratings", (_C,)),
        Option("lists", "unscored=average-rating", "last, by mean training rating", (_C,)),
    )),
    Decision("C1", "Are items without a test rating ranked?", "lists", (
        Option("lists", "", "full lists", _ALL),
        Option("lists", "condensed", "condensed lists: test items only", (_B, _M, _C)),
    )),
    Decision("C2", "Which metric, threshold, gain and depth?", "metric", (
        Option("metric", "P@10", "precision", _ALL),
        Option("metric", "nDCG@10", "discounted gain, 1 from the threshold on (g1)",
               (_B, _M, _C, _A)),
        Option("metric", "nDCG(exp)@10", "discounted gain, graded (g2)", (_C,)),
        Option("metric", "RBP(0.8)", "gain of a persistent reader", (_C,)),
        Option("metric", "AP", "average precision"),
        Option("metric", "R@10", "recall", (_M,)),
        Option("metric", "P@50", "another depth", (_C,)),
        Option("lists", "AI-AN-AR rel>=3", "another threshold"),
    )),
    Decision("C2C", "Of condensed lists, which metric?", "metric", (
        Option("metric", "nDCG@10", "as of full lists", (_C,)),
        Option("metric", "tau", "Kendall's tau with the ratings", (_C,)),
        Option("metric", "RBO(0.9)", "rank-biased overlap with the ideal order", (_C,)),
        Option("metric", "AUC", "share of liked above disliked pairs"),
    )),
    Decision("C3", "How are users averaged?", "average", (
        Option("lists", "", "arithmetic mean", _ALL),
        Option("lists", "weights=ratings", "weighted by test ratings", (_C,)),
        Option("lists", "weights=relevant", "weighted by liked test ratings", (_C,)),
        Option("lists", "statistic=median", "median"),
        Option("lists", "statistic=geometric", "geometric mean of values plus epsilon", (_C,)),
    )),
    Decision("C4", "And users without a list?", "average", (
        Option("lists", "", "they count 0 (full average)", _ALL),
        Option("lists", "coverage=reduced", "they are left out (reduced average)", (_C,)),
    )),
    Decision("D", "How is a difference tested?", "test", (
        Option("pairs", "t", "paired t test", (_C,)),
        Option("pairs", "wilcoxon", "Wilcoxon's signed ranks", (_B,)),
        Option("pairs", "sign", "sign test"),
        Option("pairs", "bootstrap", "resampled users"),
    )),
)  # fmt: skip
"""All decisions, in the order of CCM20. What a paper uses and does not name is not told."""

_BASE: Mapping[str, str] = {
    "split": "ratio 0.5",
    "lists": "AI-AN-AR rel>=4",
    "metric": "P@10",
    "pairs": "t",
}


def option_text(decision: Decision, option: Option) -> str:
    """Write options in which one decision is taken as said, and all others are the default.

    Examples
    --------
    >>> option_text(DECISIONS[3], DECISIONS[3].options[2])
    'split: ratio 0.5; lists: AI-AN-AR rel>=4 unscored=random; metric: P@10; pairs: t'
    """
    parts = dict(_BASE)
    if decision.code == "C2C":
        parts["lists"] += " condensed"
    text = option.text
    if option.part == "lists" and "rel>=" not in text:
        text = f"{parts['lists']} {text}".strip()
    parts[option.part] = text
    if text == "unbiased":
        parts["split"] = "whole"
    return "; ".join(f"{name}: {value}" for name, value in parts.items() if value)


def unsaid(code: str) -> int:
    """Count the options of a decision that cannot be said.

    Parameters
    ----------
    code
        As CCM20 labels the decision.

    Returns
    -------
    int
        Options whose text is not read, reads back as another, or is that of another option.

    Raises
    ------
    ConfigError
        If there is no such decision.

    Examples
    --------
    >>> [unsaid(each.code) for each in DECISIONS]
    [0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    """
    for decision in DECISIONS:
        if decision.code == code:
            return _unsaid(decision)
    raise ConfigError(f"no decision {code!r}; there are {[each.code for each in DECISIONS]}")


def _unsaid(decision: Decision) -> int:
    seen: set[Options] = set()
    failed = 0
    for option in decision.options:
        try:
            found = Options.parse(option_text(decision, option))
            again = Options.parse(str(found))
        except ConfigError:
            failed += 1
            continue
        failed += found in seen or again != found
        seen.add(found)
    return failed


def taxonomy_table() -> pd.DataFrame:
    """Lay the taxonomy out.

    Returns
    -------
    DataFrame
        A row per option: ``decision``, ``asks``, ``acts``, ``option``, ``means``, and for each
        paper whether it ``used`` it.

    Examples
    --------
    >>> table = taxonomy_table()
    >>> table.loc[1, ["decision", "option", "means"]].tolist()
    ['A1', 'users>=20', 'users with at least 20 ratings']
    """
    rows = [
        {
            "decision": decision.code,
            "asks": decision.asks,
            "acts": decision.acts,
            "option": option.text,
            "means": option.means,
            **{paper: paper in option.used for paper in PAPERS},
        }
        for decision in DECISIONS
        for option in decision.options
    ]
    return pd.DataFrame(rows)


# -- what options say, in words --------------------------------------------------------------------

_SPLITS: Mapping[str, str] = {
    "ratio": "Each rating went to the test with probability {size}, independently, and to training "
    "otherwise",
    "k-fold": "Ratings were split at random into {size} folds, each of which was the test once",
    "leave-out": "Of each user {size} ratings, drawn at random, were the test",
    "uniform": "A share of {size} of the ratings was the test, equally many of each tested item",
    "temporal": "The newest share of {size} of all ratings was the test",
    "temporal-user": "The newest share of {size} of each user's ratings was the test",
    "ready": "Training and test are the folds that came with the data",
    "whole": "Systems were trained on all observed ratings",
}
_USERS: Mapping[str, str] = {
    "all": "all users",
    "tested": "users with test ratings",
    "relevant": "users who like at least one test item",
    "trained": "users with training ratings",
    "runs": "all liked test ratings, each of which is a run of its own",
    "groups": "groups of items of equal size, by popularity",
}
_UNSCORED: Mapping[str, str] = {
    "none": "were left out of the lists",
    "last": "stand last, in the seeded order of ties",
    "random": "stand last, in a seeded random order",
    "popularity": "stand last, by their number of training ratings",
    "average-rating": "stand last, by their mean training rating",
}
_WEIGHTS: Mapping[str, str] = {
    "": "alike",
    "ratings": "by their number of test ratings",
    "relevant": "by their number of liked test ratings",
}
_GAINS: Mapping[str, str] = {
    "binary": "a gain of 1 for what is liked",
    "linear": "the rating as the gain of what is liked",
    "exp": "gains (2^(r-1) - 1) / (2^(max-1) - 1)",
    "err": "gains (2^(r-1) - 1) / 2^(max-1)",
    "ranksys": "gains 2^(r-threshold+1) - 1 of what is liked",
    "steps": "gains r - threshold + 1 of what is liked",
}
_TESTS: Mapping[str, str] = {
    "t": "paired t tests",
    "wilcoxon": "Wilcoxon's signed-rank tests",
    "sign": "sign tests",
    "bootstrap": "bootstrap tests",
}


def methods_paragraph(options: Options) -> str:
    """Write the paragraph on methods of a paper.

    Parameters
    ----------
    options
        What was evaluated.

    Returns
    -------
    str
        Sentences of plain English; the last holds the options as text, from which the evaluation
        can be repeated.

    Examples
    --------
    >>> options = Options.parse("split: ratio 0.5; lists: AI-AN-AR rel>=4; metric: P@10")
    >>> print(methods_paragraph(options).splitlines()[0])
    All ratings of the data count.
    """
    protocol, average = options.protocol, options.protocol.averaging
    selected = f"Of the data, '{options.select}' was selected." if str(options.select) else (
        "All ratings of the data count.")  # fmt: skip
    size = "" if options.split.size is None else exact(options.split.size)
    split = _SPLITS[options.split.kind].format(size=size)
    if options.split.kept is not None and "eps=" in str(options.split):
        split += f", of each item a share of at least {exact(options.split.kept)} for training"
    judged = "" if str(options.test) == "observed" else (
        f" What is tested on are the judgments '{options.test}'.")  # fmt: skip
    what = "items with a test rating of that user" if protocol.condensed else "all targets"
    gain = options.measured.gain if hasattr(options.measured, "gain") else None
    worth = f", with {_GAINS[str(gain)]}" if gain is not None and str(gain) in _GAINS else ""
    mean = {"mean": "the arithmetic mean", "median": "the median"}.get(average.statistic)
    epsilon = average.epsilon
    if mean is None:
        mean = f"the geometric mean of values plus {epsilon:g}"
    served = "were left out" if average.coverage else "count as 0"
    lines = (
        selected,
        f"{split}; the seed of all random streams is {options.seed}.{judged}",
        f"Targets are those of the design {protocol.rule}, and {what} were ranked.",
        f"Items without a score {_UNSCORED[protocol.unscored]}.",
        f"A rating of {exact(protocol.min_rating)} or more says liking.",
        f"The metric is {options.measured}{worth}; where it is undefined for a user, it counts as "
        "0.",
        f"Averages are over {_USERS[average.population]}, who weigh {_WEIGHTS[average.weights]}; "
        f"their statistic is {mean}.",
        f"Users without a list {served}.",
        f"Pairs of systems were compared by {_TESTS[options.pairs]} over users, corrected by Holm.",
        f"In the notation of recbias: '{options}'.",
    )
    return "\n".join(lines)
