"""The taxonomy of offline options: every decision of an evaluation in one value.

CCM20 lists the decisions between a table of ratings and "A beats B"; each of them can reverse that
sentence. :class:`Options` holds one option for each decision, as a text from which the evaluation
can be repeated. Texts that cannot but give the same result have one canonical form.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from recbias.data.ratings import RatingScale
from recbias.data.selection import Selection
from recbias.errors import ConfigError, unknown_name
from recbias.experiment.grid import Grid
from recbias.metrics import Metric, parse_metric
from recbias.protocol.protocol import Protocol
from recbias.protocol.relevance import GainMap
from recbias.protocol.splits import SplitRule
from recbias.protocol.testset import TestSet

__all__ = ["PAIRED_TESTS", "Options", "compact", "not_repeated", "options_of"]

PAIRED_TESTS = ("t", "wilcoxon", "sign", "bootstrap")

_PARTS = ("data", "split", "seed", "test", "lists", "metric", "gain", "pairs")
_NEEDED = ("split", "lists", "metric")

_WITHOUT = {"data": "keep=100%", "test": "observed"}
"""How parts that are left out can be written."""

_OF_RELEVANCE = (
    *("P", "R", "HR", "RR", "AP", "nDCG", "RBP", "AUC", "bpref"),
    *("antiP", "antiR", "antinDCG", "antiAP", "antiRR", "fallout"),
)
"""Metrics of what is judged that ask of a rating only whether it is relevant, but for gains."""

_OF_JUDGED = ("tau", "RBO", "RBPresidual", "judged", "Served")
"""Metrics of what is judged that know no threshold."""

_OF_LISTS = ("ARP", "PL", "Novelty", "ILD", "Gini", "Coverage", "Diversity", "Hoover", "Entropy")
"""Metrics of all items in the lists: they know no threshold."""

_OF_LIKED_BEFORE = ("CI", "LTI", "M", "Miscalibration")
"""Metrics of lists that know the threshold from which training ratings count."""

_OF_CONDENSED = ("AUC", "tau", "RBO")
"""Metrics that do not see unjudged items: full and condensed lists have the same value."""

_WITHOUT_THRESHOLD = (*_OF_JUDGED, *_OF_LISTS)
_WITH_STARS = (*_OF_RELEVANCE, *_WITHOUT_THRESHOLD, *_OF_LIKED_BEFORE)
"""Metrics to which thresholds between adjacent stars are one. To nDCL they are not: it measures how
far below the threshold a rating is."""

_BY_CONDENSED_RANK = (*_OF_RELEVANCE, *_OF_JUDGED, "nDCL")
"""Metrics that see nothing of a condensed list but the places of its items and their ratings."""

_GIVEN = {"judged", "capped", "ties", "t", "N", "JS", "percentile"}
"""Conditions of these metrics, which know relevance and no threshold either."""

_GAINS_WITHOUT_THRESHOLD = ("exp", "err")
_GAINS_BY_DISTANCE = ("ranksys", "steps")


@dataclass(frozen=True)
class Options:
    """One option for each decision of an offline evaluation.

    Parameters
    ----------
    protocol
        Target sets, relevance, what has no score (B2), full or condensed lists (C1), population
        (B1), aggregation (C3), coverage policy (C4).
    metric
        Metric with its depth (C2, C2C). A gain map among its arguments goes to `gain`.
    gain
        Gain map of graded metrics (C2); empty for the metric's own. Metrics without gains ignore
        it, so that options can be crossed.
    select
        Which ratings count at all (A1).
    split
        Family and ratio of the split (A2).
    seed
        Names every random stream.
    test
        Which judgments are tested on.
    pairs
        Paired test (D): one of `PAIRED_TESTS`.

    Raises
    ------
    ConfigError
        For an unknown gain map or test, or a seed that is no integer from 0.

    See Also
    --------
    recbias.experiment.outcomes.evaluate : what options give on ratings.

    References
    ----------
    CCM20 Sec. 3.

    Examples
    --------
    >>> options = Options.parse("split: ratio 0.5; lists: AI-AN-AR rel>=4; metric: nDCG(exp)@10")
    >>> print(options)
    split: ratio 0.5; seed: 1; lists: AI-AN-AR rel>=4; metric: nDCG@10; gain: exp; pairs: t
    >>> Options.parse(str(options)) == options
    True
    >>> print(replace(options, metric=parse_metric("P@10")).canonical())
    split: ratio 0.5; seed: 1; lists: AI-AN-AR rel>=4; metric: P@10; pairs: t
    """

    protocol: Protocol
    metric: Metric
    gain: str = ""
    select: Selection = field(default_factory=Selection)
    split: SplitRule = field(default_factory=lambda: SplitRule("ratio", 0.5))
    seed: int = 1
    test: TestSet = field(default_factory=TestSet)
    pairs: str = "t"

    def __post_init__(self) -> None:
        if self.pairs not in PAIRED_TESTS:
            raise unknown_name("paired test", str(self.pairs), PAIRED_TESTS)
        if isinstance(self.seed, bool) or not isinstance(self.seed, int) or self.seed < 0:
            raise ConfigError(f"seed is {self.seed!r}: expected an integer of 0 or more")
        if self.gain:
            GainMap.parse(self.gain)
        default = _default_gain(self.metric)
        metric_gain = default and str(self.metric.gain)
        if default and metric_gain != default:
            if self.gain not in ("", metric_gain):
                raise ConfigError(
                    f"metric: {self.metric}; gain: {self.gain}: two gain maps; give one of them"
                )
            object.__setattr__(self, "gain", metric_gain)
            object.__setattr__(self, "metric", _with_gain(self.metric, default))

    @classmethod
    def parse(cls, text: str) -> Options:
        """Read options as they print; parts may stand in any order.

        Raises
        ------
        ConfigError
            If a part is unknown, missing, given twice or cannot be read; says what was probably
            meant.

        Examples
        --------
        >>> Options.parse("splits: ratio 0.5; lists: AI-AN-AR rel>=4; metric: P@10")
        Traceback (most recent call last):
        recbias.errors.ConfigError: unknown part of options 'splits': did you mean 'split'? ...
        """
        if not isinstance(text, str):
            raise ConfigError(f"options are text, got {type(text).__name__} {text!r}")
        parts: dict[str, str] = {}
        for part in filter(None, (piece.strip() for piece in text.split(";"))):
            name, colon, value = (piece.strip() for piece in part.partition(":"))
            if name not in _PARTS:
                raise unknown_name("part of options", name, _PARTS)
            if not colon or not value or name in parts:
                problem = "is given twice" if name in parts else "has no value"
                raise ConfigError(f"options {text!r}: {name} {problem}")
            parts[name] = value
        if missing := [name for name in _NEEDED if name not in parts]:
            raise ConfigError(
                f"options {text!r}: {missing[0]} is missing; expected [data: SELECTION;] split: "
                "RULE; [seed: NUMBER;] [test: TEST SIDE;] lists: PROTOCOL; metric: METRIC; "
                "[gain: MAP;] [pairs: TEST], such as 'split: ratio 0.5; lists: AI-AN-AR rel>=4; "
                "metric: nDCG@10; pairs: t'"
            )
        seed = parts.get("seed", "1")
        if not re.fullmatch(r"\d+", seed):
            raise ConfigError(f"options {text!r}: seed is {seed!r}, expected an integer from 0")
        return cls(
            protocol=Protocol.parse(parts["lists"]),
            metric=parse_metric(parts["metric"]),
            gain=parts.get("gain", ""),
            select=Selection.parse(parts.get("data", "")),
            split=SplitRule.parse(parts["split"]),
            seed=int(seed),
            test=TestSet.parse(parts.get("test", "")),
            pairs=parts.get("pairs", "t"),
        )

    def __str__(self) -> str:
        test = "" if self.test == TestSet() else str(self.test)
        values = (self.select, self.split, self.seed, test, self.protocol, self.metric)
        texts = (*map(str, values), self.gain, self.pairs)
        return "; ".join(
            f"{name}: {text}" for name, text in zip(_PARTS, texts, strict=True) if text
        )

    @property
    def measured(self) -> Metric:
        """The metric with its gain map."""
        if not self.gain or not _default_gain(self.metric):
            return self.metric
        return _with_gain(self.metric, self.gain)

    def canonical(self, scale: RatingScale | None = None) -> Options:
        """Return the form that all options share which cannot but give the same result.

        Parameters
        ----------
        scale
            Which ratings there are. Without it thresholds are left as they are.

        Returns
        -------
        Options
            Values and p values are the same, bit for bit, on all data of that scale.

        Notes
        -----
        What collapses: gain maps of metrics, and of runs, that have none; ``err`` and ``exp`` under
        nDCG, which divides by the ideal; ``unscored=last`` and ``random``; AI, TI and ``+train`` in
        condensed lists, percentiles included, under metrics of places and ratings; full and
        condensed lists under AUC, tau and RBO; thresholds between adjacent stars, whatever the
        target sets, but for gains and losses that count from the threshold; all thresholds where
        nothing depends on relevance (tau, RBO, RBPresidual, judged, Served, dispersion, popularity
        of what is listed); populations that differ by users who weigh nothing, or have no condensed
        list where these are left out. Metrics of a reader's own are left alone.

        Examples
        --------
        >>> options = Options.parse("split: ratio 0.5; lists: AI-AN-AR rel>=3.2 condensed; "
        ...                         "metric: nDCG@10; gain: err")
        >>> print(options.canonical(RatingScale(1, 5, 1)).protocol)
        TI-AN-AR rel>=1 condensed
        """
        protocol, gain = self.protocol, self._effective_gain()
        rule, average, name = protocol.rule, protocol.average, self.metric.name
        if protocol.unscored == "last":
            protocol = replace(protocol, unscored="random")
        # What is expected over samples knows how many items there are to sample.
        conditions = set(dict(self.metric.given))
        plain = rule.others == "AN" and conditions <= {"judged"}
        if plain and name in _OF_CONDENSED and not average.coverage:
            protocol = replace(protocol, condensed=True)
        if plain and name in _BY_CONDENSED_RANK and protocol.condensed:
            # Training items of a head that is left out are refused rather than ranked.
            trained = rule.with_train and bool(self.test.head)
            fewest = replace(rule, candidates="TI", with_train=trained)
            protocol = replace(protocol, rule=fewest)
        alike = {
            "ratings": ("tested",),
            "relevant": ("tested", "relevant"),
            "": ("tested",) if protocol.condensed and average.coverage else (),
        }[average.weights]
        if protocol.averaging.population in alike:
            protocol = replace(protocol, average=replace(average, population="all"))
        if scale is not None and name in _WITH_STARS and conditions <= _GIVEN:
            protocol = replace(protocol, min_rating=self._threshold(protocol, gain, scale))
        default = _default_gain(self.metric)
        return replace(self, protocol=protocol, gain="" if gain == default else gain)

    def _effective_gain(self) -> str:
        default = _default_gain(self.metric)
        if not default or self.protocol.rule.per_run:
            return default
        gain = self.gain or default
        return "exp" if (self.metric.name, gain) == ("nDCG", "err") else gain

    def _threshold(self, protocol: Protocol, gain: str, scale: RatingScale) -> float:
        """Give the star that a threshold comes down to; itself where gains count from it."""
        threshold = protocol.min_rating
        ends = scale.minimum, scale.step
        if not scale.step or any((1024 * end) % 1 for end in ends) or threshold > scale.maximum:
            return threshold  # no steps, or none that floats can add up
        average = protocol.averaging
        is_asked = (
            protocol.rule.needs_relevance
            or average.population == "relevant"
            or average.weights == "relevant"
            or (self.metric.name not in _WITHOUT_THRESHOLD and gain not in _GAINS_WITHOUT_THRESHOLD)
        )
        if not is_asked:
            return scale.minimum
        if gain in _GAINS_BY_DISTANCE:
            return threshold
        steps = max(0, math.ceil((threshold - scale.minimum) / scale.step))
        return scale.minimum + steps * scale.step

    def grid(self, dataset: Any, systems: Any) -> Grid:
        """Ask for these options in a grid, under the label ``"options"``.

        Parameters
        ----------
        dataset, systems
            As of :class:`~recbias.experiment.grid.Grid`.

        Raises
        ------
        ConfigError
            If the options cannot be measured together; says which.
        """
        return Grid(
            dataset,
            systems,
            {"options": str(self.protocol)},
            (str(self.measured),),
            split=str(self.split),
            seed=self.seed,
            tests={"options": str(self.test)},
            groups=self._groups,
            replicates=(),
            select=str(self.select),
        )

    @property
    def _groups(self) -> str:
        """Item groups that target sets and test side can be told from."""
        n_groups = math.lcm(
            self.protocol.rule.n_groups or 1,
            self.test.item_groups[2],
            100 if self.test.head else 1,
        )
        return f"popularity {10 if 10 % n_groups == 0 else n_groups}"


def options_of(grid: Grid) -> dict[tuple[str, str], Options]:
    """Write what a grid asks for as options, from which each of its values can be repeated.

    Parameters
    ----------
    grid
        Any grid. Replicates and comparisons are no options: values do not depend on them.

    Returns
    -------
    dict
        By label and metric, in the grid's order: :func:`~recbias.experiment.outcomes.evaluate` of
        these options, with the grid's dataset and systems, gives the same values, bit for bit.

    Raises
    ------
    ConfigError
        If percentiles are merged from other item groups than options would ask for: sums over
        groups would differ in their last bits.

    Examples
    --------
    >>> from recbias.recommenders import line_up
    >>> grid = Grid("synthetic", line_up("bcc17")[:2], {"AR": "TI-AN-AR rel>=5"}, ("nDCG(exp)@10",))
    >>> for names, options in options_of(grid).items():
    ...     print(names, options)
    ('AR', 'nDCG(exp)@10') split: k-fold 5; ... metric: nDCG@10; gain: exp; pairs: t
    """
    by_names = {
        (label, str(metric)): Options(
            protocol,
            metric,
            select=Selection.parse(grid.select),
            split=SplitRule.parse(grid.split),
            seed=grid.seed,
            test=grid.test(label),
        )
        for label, protocol in grid.parsed.items()
        for metric in grid.parsed_metrics[label]
    }
    for (label, _), options in by_names.items():
        groups = options._groups
        if options.protocol.rule.n_groups is not None and grid.groups != groups:
            raise ConfigError(
                f"{label!r}: options ask for groups='{groups}', this grid has '{grid.groups}'; "
                f"give the grid groups='{groups}'"
            )
    return by_names


def compact(texts: Sequence[str]) -> tuple[str, list[list[str]]]:
    """Write many options as those of one text, and what stands in the others instead.

    Parameters
    ----------
    texts
        Options as they print, at least one.

    Returns
    -------
    first : str
        One of the texts.
    instead : list of list of str
        Parts that replace those of the first text; a metric replaces the gain map as well. The
        options are all combinations of one replacement, or none, from each of the lists.

    Examples
    --------
    >>> start = "split: ratio 0.5; seed: {}; lists: AI-AN-AR rel>=4; metric: {}; pairs: t"
    >>> compact([start.format(seed, text) for seed in (1, 2) for text in ("P@10", "R@10", "RR")])[1]
    [['seed: 2'], ['metric: R@10', 'metric: RR']]
    >>> compact([start.format(*pair) for pair in ((1, "P@10"), (2, "P@10"), (1, "RR"))])[1]
    [['seed: 2', 'metric: RR']]
    """
    parts = {text: _by_part(text) for text in texts}
    first = texts[0]
    choices = {
        name: list(dict.fromkeys(of_text[name] for of_text in parts.values()))
        for name in parts[first]
    }
    if math.prod(map(len, choices.values())) == len(parts):
        return first, [
            [f"{name}: {value}" for value in values[1:]]
            for name, values in choices.items()
            if len(values) > 1
        ]

    def differing(text: str, other: str) -> list[str]:
        theirs = parts[other].items()
        return [f"{name}: {value}" for name, value in theirs if value != parts[text][name]]

    # From the text that most others resemble there is least to say.
    first = min(parts, key=lambda text: sum(len(differing(text, other)) for other in parts))
    return first, [["; ".join(differing(first, other)) for other in parts if other != first]]


def _by_part(text: str) -> dict[str, str]:
    """Split a text into its parts, all of them, the gain map as part of its metric."""
    parts = dict(part.split(": ", 1) for part in re.split("; (?!gain: )", text))
    return {name: parts.get(name, _WITHOUT.get(name, "")) for name in _PARTS if name != "gain"}


def not_repeated(asked: Grid, printed: Mapping[tuple[str, str], str] | None = None) -> int:
    """Count the values of a grid whose printed options do not lead back to what was asked.

    Parameters
    ----------
    asked
        What was measured.
    printed
        Texts by label and metric; by default those of :func:`options_of`.

    Returns
    -------
    int
        Pairs of label and metric without a text, with one that cannot be read, or with one that
        asks for another selection, split, seed, test side, protocol or metric than the run did.

    References
    ----------
    CCM20 Sec. 5 (what has to be reported).
    """
    if printed is None:
        printed = {names: str(options) for names, options in options_of(asked).items()}
    wanted = {
        (label, metric): (asked.select, asked.split, asked.seed, asked.tests.get(label, ""),
                          str(asked.parsed[label]), metric)
        for label, metrics in asked.by_label.items()
        for metric in metrics
    }  # fmt: skip
    questions = {names: _question(text, asked) for names, text in printed.items()}
    return sum(questions.get(names) != question for names, question in wanted.items())


def _question(text: str, asked: Grid) -> tuple[Any, ...] | None:
    """Give what a text asks of the data and systems of a grid; None if it cannot be read."""
    try:
        grid = Options.parse(text).grid(asked.dataset, asked.systems)
    except ConfigError:
        return None
    (protocol,), (metrics,) = grid.parsed.values(), grid.by_label.values()
    test = grid.tests.get("options", "")
    return grid.select, grid.split, grid.seed, test, str(protocol), *metrics


def _default_gain(metric: Metric) -> str:
    """Return the gain map that a metric has by default; empty if it has none."""
    gains = [argument for argument in metric.declaration.arguments if argument.name == "gain"]
    return str(gains[0].default) if gains else ""


def _with_gain(metric: Metric, gain: str) -> Metric:
    arguments = {**dict(metric.arguments), **dict(metric.given), "gain": gain}
    return Metric(metric.name, metric.cutoff, **arguments)
