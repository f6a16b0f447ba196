"""The reader's own design, and the defensible ones around it."""

from __future__ import annotations

import dataclasses

from recbias.data.datasets import Dataset
from recbias.data.datasets.liked import step_below_top, told_apart
from recbias.data.ratings import exact
from recbias.data.selection import Selection
from recbias.errors import ConfigError
from recbias.experiment.options import Options
from recbias.metrics import parse_metric
from recbias.multiverse import default_options
from recbias.protocol.protocol import Protocol
from recbias.protocol.splits import SplitRule

__all__ = ["DEFAULT_METRIC", "around", "is_of_misses", "only_ties", "own_design"]

DEFAULT_METRIC = "P@10"

_TRAINED = ("A1", "A2")
"""Decisions that need a system trained again, which scores of another program are not."""

_LOOK_DEEP = ("AUC", "RBP", "tau", "RBO", "bpref", "AP", "RR", "nDCG")
"""Metrics that look at whole lists where they have no cutoff."""


def own_design(
    dataset: Dataset,
    protocol: str | None = None,
    metric: str = DEFAULT_METRIC,
    split: str = "k-fold 5",
    seed: int = 1,
    select: str = "",
) -> Options:
    """Put the reader's own design together.

    Parameters
    ----------
    dataset
        Loaded; says from which rating an item is liked, where the protocol is not given.
    protocol, metric, split, seed, select
        Texts as `Options` and `recbias.run` have them.

    Raises
    ------
    ConfigError
        If a text cannot be read, nobody can be better by the metric, or the protocol tells runs
        rather than users apart.
    """
    if protocol is None:
        least = step_below_top(dataset.ratings.scale, dataset.ratings.value)
        protocol = f"AI-AN-AR rel>={exact(least)}"
    parsed = parse_metric(metric)
    if parsed.kind == "system":
        raise ConfigError(
            f"{parsed}: it is of the system as a whole, so that users cannot be compared\n"
            "audit a metric that each user has, such as P@10"
        )
    if parsed.declaration.better is None:
        raise ConfigError(
            f"{parsed}: neither higher nor lower is better, so that nobody wins by it\n"
            "audit a metric such as P@10"
        )
    read = Protocol.parse(protocol)
    if read.averaging.population in ("runs", "groups"):
        raise ConfigError(
            f"{protocol}: its values are means over {read.averaging.population}, so that users "
            "cannot be compared\naudit a protocol that averages over users, such as AI-AN-AR"
        )
    return Options(
        protocol=read,
        metric=parsed,
        select=Selection.parse(select),
        split=SplitRule.parse(split),
        seed=seed,
    )


def around(
    design: Options, dataset: Dataset, *, trainable: bool, whole_lists: bool
) -> dict[str, tuple[str, ...]]:
    """Give the options of each decision: the reader's own first, then the defensible ones.

    Parameters
    ----------
    design
        The reader's own.
    dataset
        Loaded data set.
    trainable
        Whether both systems can be trained on other ratings. Scores of another program cannot, so
        that what was trained on is no option.
    whole_lists
        Whether both have a score for every item. Lists that were cut off cannot answer what looks
        below their end.

    Returns
    -------
    dict of str to tuple of str
        As :func:`recbias.multiverse.universes` takes them, with the decisions of
        :func:`recbias.multiverse.default_options`.
    """
    protocol, average = design.protocol, design.protocol.averaging
    habit = dataclasses.replace(protocol, average=dataclasses.replace(protocol.average,
        population="", trained="")).averaging.population  # fmt: skip
    population = str(dataclasses.replace(average, weights="", statistic="mean", coverage=""))
    weighed = [
        f"statistic={average.statistic}" if average.statistic != "mean" else "",
        f"weights={average.weights}" if average.weights else "",
    ]
    is_habit = average.population == habit and not average.trained
    own = {
        "A1": f"data: {design.select}" if str(design.select) else "",
        "A2": f"split: {design.split}",
        "B1": "" if is_habit else population,
        "B2": "" if protocol.unscored == "none" else f"unscored={protocol.unscored}",
        "C1": f"{protocol.rule}{' condensed' if protocol.condensed else ''}",
        "C2": f"metric: {design.metric}",
        "C2 threshold": f"rel>={exact(protocol.min_rating)}",
        "C2 gain": f"gain: {design.gain}" if design.gain else "gain: binary",
        "C3": " ".join(filter(None, weighed)),
        "C4": "coverage=reduced" if average.coverage else "",
        "D": f"pairs: {design.pairs}",
    }
    options = {}
    nobody_wins = only_ties(dataset, protocol.min_rating)
    for decision, others in default_options(dataset).items():
        others = tuple(text for text in others if text not in nobody_wins.get(decision, ()))
        if decision in _TRAINED and not trainable:
            others = ()
        if decision in ("C1", "C2") and not whole_lists:
            others = tuple(text for text in others if decision == "C2" and not _looks_deep(text))
        options[decision] = tuple(dict.fromkeys((own[decision], *others)))
    # On whole stars 3.5 and 4 like the same items: two options that are one would weigh twice.
    called = {float(text.removeprefix("rel>=")): text for text in options["C2 threshold"]}
    kept = told_apart([*called], dataset.ratings.value)
    return {**options, "C2 threshold": tuple(called[number] for number in kept)}


def only_ties(dataset: Dataset, min_rating: float) -> dict[str, tuple[str, ...]]:
    """Name the defensible options under which nobody can win on these data, whatever is measured.

    Where every rating is a like, as of purchases, there are no misses, and lists of what the user
    rated alone are all hits: such designs only tie, and would count against whoever is better.

    Parameters
    ----------
    dataset
        Loaded data set.
    min_rating
        The reader's own threshold.

    Returns
    -------
    dict of str to tuple of str
        Texts by decision; none where a rating lies below one of the thresholds that are crossed.
    """
    options = default_options(dataset)
    crossed = [float(text.removeprefix("rel>=")) for text in options["C2 threshold"]]
    if dataset.ratings.value.min() < max(min_rating, *crossed):
        return {}
    misses = tuple(
        text
        for text in options["C2"]
        if parse_metric(text.removeprefix("metric: ")).name in _MISSES
    )
    return {"C1": ("condensed",), "C2": misses}


_MISSES = ("antiP", "AUC")
"""Metrics of what is rated and not liked."""


def is_of_misses(text: str) -> bool:
    """Tell whether an option is a metric that counts misses alone.

    Examples
    --------
    >>> is_of_misses("metric: antiP@10"), is_of_misses("metric: AUC"), is_of_misses("condensed")
    (True, False, False)
    """
    name, _, metric = text.partition(": ")
    return name == "metric" and parse_metric(metric).name == "antiP"


def _looks_deep(text: str) -> bool:
    metric = parse_metric(text.removeprefix("metric: "))
    return metric.name in _LOOK_DEEP and metric.cutoff is None
