"""The taxonomy of offline decisions as a table: option, meaning, where it acts, who used it.

CCM20 names the decisions; every option has the text that asks for it, as parts of
:class:`~recbias.experiment.options.Options`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import pandas as pd

from recbias.data.ratings import exact
from recbias.data.selection import Selection
from recbias.errors import unknown_name
from recbias.experiment.options import Options
from recbias.metrics import Metric
from recbias.protocol.protocol import Protocol
from recbias.protocol.splits import SplitRule
from recbias.protocol.testset import TestSet

__all__ = [
    "CHOICES",
    "DECISIONS",
    "PAPERS",
    "START",
    "Choice",
    "decisions_table",
    "in_full",
    "methods_paragraph",
    "protocol_in_words",
]

PAPERS = ("BCC17", "MCCRS20", "CCM20", "ATM15")
"""The four papers, as the columns of the table name them."""

START = "split: ratio 0.5; lists: AI-AN-AR rel>=4; metric: nDCG@10"
"""Options from which the table departs: what an option does not name stays like this."""

DECISIONS = {
    "A1": "Which ratings count at all",
    "A2": "How training and test are split, and what is tested on",
    "B1": "Which users are averaged over",
    "B2": "What becomes of items that a system cannot score",
    "C1": "Which items are ranked",
    "C2": "Metric, with threshold, gain and depth",
    "C2C": "Metrics of the order of the user's own test ratings",
    "C3": "How users are averaged",
    "C4": "What users without a list count",
    "D": "How two systems are tested",
}
"""Decisions of CCM20 Sec. 3, by name."""


@dataclass(frozen=True)
class Choice:
    """One option of one decision.

    Parameters
    ----------
    decision
        One of `DECISIONS`.
    text
        Parts of options, which take the place of those of `START`; empty for what `START` has.
    means
        What it means, as a clause.
    acts
        Where it acts: selection, split, test, targets, lists, metric, average or pairs.
    used
        Papers that say that they used it.

    Raises
    ------
    ConfigError
        For an unknown decision or paper, or a text that is no part of options.

    Examples
    --------
    >>> choice = Choice("D", "pairs: sign", "a sign test over users", "pairs")
    >>> print(choice.options)
    split: ratio 0.5; seed: 1; lists: AI-AN-AR rel>=4; metric: nDCG@10; pairs: sign
    """

    decision: str
    text: str
    means: str
    acts: str
    used: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.decision not in DECISIONS:
            raise unknown_name("decision", self.decision, DECISIONS)
        for paper in self.used:
            if paper not in PAPERS:
                raise unknown_name("paper", paper, PAPERS)
        Options.parse(self._whole)

    @property
    def options(self) -> Options:
        """Options of the start, but for this one."""
        return Options.parse(self._whole)

    @property
    def _whole(self) -> str:
        parts = dict(part.split(": ", 1) for part in START.split("; "))
        of_text = [part.partition(": ") for part in self.text.split("; ") if part]
        parts |= {name: value for name, _, value in of_text}
        return "; ".join(f"{name}: {value}" for name, value in parts.items())


_LISTS = "lists: AI-AN-AR rel>=4"
_CONDENSED = f"{_LISTS} condensed"

CHOICES = (
    Choice("A1", "", "all ratings", "selection", ("CCM20",)),
    Choice("A1", "data: keep=50%", "half of the ratings, at random", "selection", ("CCM20",)),
    Choice("A1", "data: head=10%", "without the tenth of the items that is most rated",
           "selection"),
    Choice("A1", "data: users>=5", "users with five ratings or more", "selection"),
    Choice("A1", "data: items>=5", "items with five ratings or more", "selection"),
    Choice("A2", "", "each rating is tested with probability 0.5", "split", ("CCM20",)),
    Choice("A2", "split: k-fold 5", "five random folds, each tested once", "split",
           ("BCC17", "MCCRS20")),
    Choice("A2", "split: leave-out 1", "one random rating of each user is tested", "split"),
    Choice("A2", "split: temporal 0.2", "the last fifth of all ratings is tested", "split",
           ("BCC17",)),
    Choice("A2", "split: temporal-user 0.2", "the last fifth of each user is tested", "split"),
    Choice("A2", "split: uniform 0.2", "equally many ratings of each tested item", "split",
           ("BCC17",)),
    Choice("A2", "split: ready", "the folds that came with the data", "split"),
    Choice("A2", "split: whole", "all ratings train, others are tested on", "split"),
    Choice("A2", "seed: 2", "the same rule, drawn anew", "split"),
    Choice("A2", "test: observed removed=30%", "fewer test ratings, the same training", "test",
           ("BCC17",)),
    Choice("A2", "test: observed head=10%", "the most popular items are not tested on", "test",
           ("BCC17",)),
    Choice("A2", "test: unbiased", "ratings of items that were drawn at random", "test",
           ("MCCRS20",)),
    Choice("A2", "test: truth", "all preferences, where a world knows them", "test"),
    Choice("B1", "", "all users; who has nothing to find counts as 0", "average", ("BCC17",)),
    Choice("B1", f"{_LISTS} users=tested", "users with a test rating", "average", ("MCCRS20",)),
    Choice("B1", f"{_LISTS} users=relevant", "users with a relevant test rating", "average"),
    Choice("B1", f"{_LISTS} users=trained", "users with a training rating", "average",
           ("CCM20",)),
    Choice("B1", "lists: AI-AN-1R rel>=4 users=runs", "runs, one for each relevant test rating",
           "average", ("BCC17",)),
    Choice("B1", "lists: AI-AN-P1R m=10 rel>=4 users=groups",
           "runs within percentiles of popularity, all percentiles alike", "average", ("BCC17",)),
    Choice("B2", "", "they are not ranked", "lists", ("CCM20",)),
    Choice("B2", f"{_LISTS} unscored=last", "they are put last, in the order of ties", "lists"),
    Choice("B2", f"{_LISTS} unscored=random", "they are put last at random", "lists", ("CCM20",)),
    Choice("B2", f"{_LISTS} unscored=popularity", "they are put last by popularity", "lists",
           ("CCM20",)),
    Choice("B2", f"{_LISTS} unscored=average-rating", "they are put last by average rating",
           "lists", ("CCM20",)),
    Choice("C1", "", "the whole catalogue (full lists)", "targets", ("MCCRS20", "CCM20")),
    Choice("C1", _CONDENSED, "the user's own test ratings (condensed lists)", "targets",
           ("MCCRS20", "CCM20")),
    Choice("C1", "lists: TI-AN-AR rel>=4", "items with any test rating", "targets", ("BCC17",)),
    Choice("C1", "lists: AI-AN-AR +train rel>=4", "training items too", "targets"),
    Choice("C1", "lists: TI-NN-AR N=2500 rel>=4", "all relevant items and 2,500 sampled ones",
           "targets", ("BCC17",)),
    Choice("C1", "lists: TI-NN-1R t=100 rel>=4", "one relevant item and 99 sampled ones",
           "targets", ("BCC17",)),
    Choice("C1", "lists: TI-NN-1R-shared t=100 rel>=4",
           "one relevant item and 99 that all runs of a user share", "targets"),
    Choice("C2", "", "nDCG of ten items, binary from 4 stars", "metric", ("CCM20",)),
    Choice("C2", "metric: P@10", "precision of ten items", "metric",
           ("BCC17", "MCCRS20", "CCM20")),
    Choice("C2", "metric: antiP@10", "disliked among ten items", "metric", ("MCCRS20",)),
    Choice("C2", "metric: RBP(0.8)", "a user who goes on with probability 0.8", "metric",
           ("CCM20",)),
    Choice("C2", "metric: CI@10", "how far lists are from what was popular", "metric",
           ("ATM15",)),
    Choice("C2", "metric: nDCG@5", "another depth", "metric"),
    Choice("C2", "lists: AI-AN-AR rel>=5", "another threshold", "metric", ("BCC17",)),
    Choice("C2", "gain: linear", "gains grow with the stars", "metric", ("BCC17",)),
    Choice("C2", "gain: exp", "gains double with each star (g2)", "metric", ("CCM20",)),
    Choice("C2", "gain: err", "gains of expected reciprocal rank", "metric"),
    Choice("C2", "gain: ranksys", "gains as the RankSys framework counts them", "metric"),
    Choice("C2", "gain: steps", "gains count stars from the threshold", "metric"),
    Choice("C2", "metric: RBP(0.8); gain: binary", "all relevant items alike (g1)", "metric",
           ("CCM20",)),
    Choice("C2C", f"{_CONDENSED}; metric: tau", "Kendall's tau with the order of the stars",
           "metric", ("CCM20",)),
    Choice("C2C", f"{_CONDENSED}; metric: RBO(0.8)", "rank-biased overlap with that order",
           "metric", ("CCM20",)),
    Choice("C2C", f"{_CONDENSED}; metric: AUC", "how often the liked stands above the other",
           "metric"),
    Choice("C2C", f"{_CONDENSED}; metric: nDCG@10", "the metrics of full lists", "metric",
           ("CCM20",)),
    Choice("C3", "", "the plain mean", "average", ("BCC17", "CCM20")),
    Choice("C3", f"{_LISTS} statistic=median", "the median", "average"),
    Choice("C3", f"{_LISTS} statistic=geometric", "the geometric mean, a small number added",
           "average", ("CCM20",)),
    Choice("C3", f"{_LISTS} weights=ratings", "users weigh as many as their test ratings",
           "average", ("CCM20",)),
    Choice("C3", f"{_LISTS} weights=relevant", "users weigh as many as their relevant ones",
           "average", ("CCM20",)),
    Choice("C4", "", "0 (full average)", "average", ("CCM20",)),
    Choice("C4", f"{_LISTS} coverage=reduced", "nothing: they are left out (reduced average)",
           "average", ("CCM20",)),
    Choice("D", "", "a paired t test over users", "pairs", ("CCM20",)),
    Choice("D", "pairs: wilcoxon", "a Wilcoxon signed-rank test", "pairs", ("BCC17",)),
    Choice("D", "pairs: sign", "a sign test", "pairs"),
    Choice("D", "pairs: bootstrap", "users resampled", "pairs"),
)  # fmt: skip
"""All options, by decision; the first of a decision is that of `START`."""


def decisions_table() -> pd.DataFrame:
    """Lay the taxonomy out: a row for each option.

    Returns
    -------
    DataFrame
        Text columns ``decision``, ``option`` (the parts that ask for it), ``means``, ``acts``, and
        one for each of `PAPERS`: ``yes`` where the paper says that it used the option, ``not
        stated`` where our reading of the paper names no option of the decision at all.

    References
    ----------
    CCM20 Sec. 3; setups of BCC17 Sec. 3.3, MCCRS20 Sec. 5, CCM20 Sec. 4, ATM15 Sec. 4.

    Examples
    --------
    >>> table = decisions_table().set_index("decision")
    >>> print(table.loc["D", ["option", "CCM20", "ATM15"]].to_string(index=False))
             option CCM20      ATM15
           pairs: t   yes not stated
    pairs: wilcoxon       not stated
        pairs: sign       not stated
    pairs: bootstrap       not stated
    """
    rows = []
    for choice in CHOICES:
        uses = [other.used for other in CHOICES if other.decision == choice.decision]
        said = {paper for used in uses for paper in used}
        rows.append(
            {
                "decision": choice.decision,
                "option": choice.text or _PART_OF_START[choice.decision],
                "means": choice.means,
                "acts": choice.acts,
                **{
                    paper: "yes" if paper in choice.used else "" if paper in said else "not stated"
                    for paper in PAPERS
                },
            }
        )
    return pd.DataFrame(rows)


_PART_OF_START = {
    "A1": "no data: part",
    "A2": "split: ratio 0.5",
    **dict.fromkeys(("B1", "B2", "C1", "C3", "C4"), _LISTS),
    "C2": "metric: nDCG@10",
    "D": "pairs: t",
}


def methods_paragraph(options: Options, dataset: Mapping[str, Any]) -> str:
    """Write the paragraph of a paper that says how its values were measured.

    Parameters
    ----------
    options
        As they were used.
    dataset
        Facts as :attr:`recbias.experiment.run.Results.dataset` has them: ``title``, ``n_ratings``,
        ``n_users``, ``n_items``; or texts that stand for them.

    Returns
    -------
    str
        Markdown, a sentence for each decision. The last sentence holds the options between
        backquotes, from which the run can be repeated.

    Examples
    --------
    >>> facts = {"title": "A world", "n_ratings": 50_000, "n_users": 900, "n_items": 1_500}
    >>> text = methods_paragraph(Options.parse(START), facts)
    >>> print(text[:92])
    The data (A world) are 50,000 ratings by 900 users on 1,500 items. None of these is left out
    >>> Options.parse(text.split("`")[-2]) == Options.parse(START)
    True
    """
    protocol, metric = options.protocol, options.measured
    lists, values = _lists_words(protocol, metric), _values_words(protocol, metric)
    n_ratings, n_users, n_items = (
        number if isinstance(number, str) else f"{number:,}"
        for number in (dataset[f"n_{what}"] for what in ("ratings", "users", "items"))
    )
    sentences = [
        f"The data ({dataset['title']}) are {n_ratings} ratings by {n_users} users on {n_items} "
        "items.",
        _selection_sentence(options.select),
        f"{_split_words(options.split, options.seed)}.",
        _judged_sentence(options.test),
        *lists,
        f"We report `{metric}`{_gain_words(metric)}{_depth_words(metric.cutoff)}"
        f"{_misses_words(protocol, metric)}.",
        *values,
        *_folds_words(options.split),
        f"Systems are compared by {_pairs_words(options)}, with Holm's correction where there are "
        "several pairs.",
        "All that is drawn, in splits, training, ties, samples and resamples, follows from seed "
        f"{options.seed}.",
        f"{in_full()} `{options}`.",
    ]
    return " ".join(sentences)


def in_full() -> str:
    """Say before a line of options by which notation it is read."""
    return f"In full (notation of recbias {version('recbias')}):"


def protocol_in_words(protocol: Protocol) -> str:
    """Say in sentences what is ranked under a protocol, and how values are averaged.

    Parameters
    ----------
    protocol
        Any.

    Returns
    -------
    str
        As in :func:`methods_paragraph`.

    Examples
    --------
    >>> print(protocol_in_words(Protocol.parse("TI-AN-AR rel>=4 condensed"))[:76])
    For each user all items with a test rating are ranked; training items are le
    """
    return " ".join((*_lists_words(protocol), *_values_words(protocol)))


def _lists_words(protocol: Protocol, metric: Metric | None = None) -> tuple[str, ...]:
    return (
        _targets_sentence(protocol, metric),
        f"Items that a system cannot score {_UNSCORED[protocol.unscored]}.",
        f"Ratings of {exact(protocol.min_rating)} or more are relevant.",
    )


def _values_words(protocol: Protocol, metric: Metric | None = None) -> tuple[str, ...]:
    reduced = "are left out" if protocol.average.coverage else "count as 0"
    if _of_misses(metric) and not protocol.average.coverage:
        reduced += ", the best value there is"
    return f"{_average_words(protocol)}.", f"Users without a list {reduced}."


def _selection_sentence(select: Selection) -> str:
    steps = [
        f"leave out the {select.head} % of the items that have most ratings" if select.head else "",
        f"keep {select.keep} % of the ratings at random" if select.keep < 100 else "",
        f"keep users with {select.users} ratings or more" if select.users else "",
        f"keep items with {select.items} ratings or more" if select.items else "",
        f"do so in {select.rounds} pass{'es' * (select.rounds > 1)} over users and then items"
        if select.rounds
        else "",
    ]
    actions = ", ".join(step for step in steps if step)
    return f"Before anything is split we {actions}." if actions else "None of these is left out."


def _judged_sentence(test: TestSet) -> str:
    if test == TestSet():
        return "All test ratings serve as judgments."
    if test.part == "unbiased":
        return f"Judged are ratings of randomly drawn items only (`{test}`)."
    return f"What is judged are not all observed test ratings but `{test}`."


def _split_words(rule: SplitRule, seed: int) -> str:
    return f"{rule.meaning}, drawn with seed {seed}" if rule.is_drawn else rule.meaning


def _folds_words(rule: SplitRule) -> tuple[str, ...]:
    if rule.kind not in ("k-fold", "rolling"):
        return ()
    return ("Folds are taken together for values; in tests a user counts by the mean over folds.",)


def _targets_sentence(protocol: Protocol, metric: Metric | None) -> str:
    rule = protocol.rule
    pool = {"AI": "all items of the catalogue", "TI": "all items with a test rating"}
    others = candidates = pool[rule.candidates]
    expected = _expected_sample(metric)
    if rule.others == "NN":
        others = f"{rule.n_sampled:,} non-relevant ones drawn from {candidates}"
        others += " by their number of training ratings" if rule.drawn == "popularity" else ""
    elif expected is not None:
        others = f"{expected:,} non-relevant ones drawn from {candidates}"
    ranked = {
        "AR": f"For each user {others} are ranked"
        if others == candidates
        else f"For each user all relevant items are ranked together with {others}",
        "1R": f"Each relevant item of a user is ranked with {others}",
        "1R-shared": f"Each relevant item of a user is ranked with {others}, the same for all of "
        "them",
        "P1R": f"Each relevant item of a user is ranked with {others} of its own percentile of "
        f"popularity, of {rule.n_groups}",
    }[rule.relevant]
    if expected is not None:
        ranked += ", or with all of them where there are fewer; the value is the expectation over "
        ranked += "all draws"
    elif rule.relevant == "1R" and rule.others == "NN":
        ranked += ", anew each time"
    train = "stay in" if rule.with_train else "are left out"
    condensed = "only what the user rated in the test is kept of that (condensed lists)"
    unrated = "neither hits nor misses" if _of_misses(metric) else "not relevant"
    if metric is not None and metric.name == "bpref":  # which looks at judged items alone
        unrated = "neither liked nor disliked"
    whole = f"unrated items count as {unrated} (full lists)"
    return f"{ranked}; training items {train}; {condensed if protocol.condensed else whole}."


def _expected_sample(metric: Metric | None) -> int | None:
    """Count the others in samples over which a metric is expected; None if it is of no samples."""
    given = dict(metric.given) if metric is not None else {}
    if "t" in given:
        return int(given["t"]) - 1
    return int(given["N"]) if "N" in given else None


def _of_misses(metric: Metric | None) -> bool:
    """Tell whether what is counted is disliked, so that nothing is the best value."""
    return metric is not None and metric.name == "antiP"


def _misses_words(protocol: Protocol, metric: Metric) -> str:
    """Say what antiP is, which is not the rest of P."""
    if not _of_misses(metric) or metric.given:
        return ""
    return (
        f", the share of the first {metric.cutoff} items that the user rated below "
        f"{exact(protocol.min_rating)} in the test; lower is better"
    )


def _depth_words(cutoff: int | None) -> str:
    return ", over whole lists" if cutoff is None else ""


def _gain_words(metric: Metric) -> str:
    gain = getattr(metric, "gain", None)
    return "" if gain is None else f" with {_GAINS[str(gain)]}"


def _average_words(protocol: Protocol) -> str:
    average = protocol.averaging
    statistic = "mean" if average.statistic == "mean" else average.statistic
    if average.epsilon is not None:
        statistic = f"geometric mean (with {average.epsilon:g} added to each value)"
    weights = {
        "": "",
        "ratings": ", each weighing as many as their test ratings",
        "relevant": ", each weighing as many as their relevant test ratings",
    }[average.weights]
    trained = ""
    if average.trained:
        least = average.trained.lstrip("<>=")
        number = f"fewer than {least} training ratings"
        if average.trained.startswith(">="):
            number = f"{least} training ratings or more"
        trained = f", users with {number} only"
    many = ", so that users weigh as many as they have" if average.population == "runs" else ""
    return f"Values are the {statistic} over {_OVER[average.population]}{trained}{weights}{many}"


def _pairs_words(options: Options) -> str:
    average = options.protocol.averaging
    tests, users = _PAIRS[options.pairs]
    by_run = average.population in ("runs", "groups")
    users += " (by the mean over their relevant test items)" if by_run else ""
    if options.pairs in ("wilcoxon", "sign"):
        alike = average.statistic == "mean" and not average.weights and not by_run
        return f"{tests} over {users}" + ("" if alike else ", all of whom count alike there")
    of = {"mean": "", "median": " of the difference of medians", "geometric": " of logarithms"}
    weights = ", who weigh as much as in the values" if average.weights else ""
    if by_run and average.statistic == "mean":
        weights = ", who weigh as many as these are"
    return f"{tests}{of[average.statistic]} over {users}{weights}"


_GAINS = {
    "binary": "a gain of 1 for each relevant item",
    "linear": "the stars of each relevant item as its gain",
    "exp": "gains that about double with each star",
    "err": "gains as of expected reciprocal rank, which about double with each star",
    "ranksys": "gains as of RankSys, which about double with each star from the threshold",
    "steps": "gains that count stars from the threshold",
}
_UNSCORED = {
    "none": "are not ranked",
    "last": "are put last, in the order of ties",
    "random": "are put last, in random order",
    "popularity": "are put last, by their number of training ratings",
    "average-rating": "are put last, by their mean training rating",
}
_OVER = {
    "all": "all users, also those without a relevant test item",
    "tested": "users with a test rating, relevant or not",
    "relevant": "users with a relevant test item, others being left out",
    "trained": "users with a training rating, also those without a relevant test item",
    "runs": "relevant test items",
    "groups": "percentiles of popularity",
}
_PAIRS = {
    "t": ("paired t tests", "users"),
    "wilcoxon": ("Wilcoxon signed-rank tests", "users"),
    "sign": ("sign tests", "users"),
    "bootstrap": ("bootstrap tests", "resampled users"),
}
