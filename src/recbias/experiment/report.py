"""What results say to a person who asks afterwards: differences, orders, users, tables, a picture.

:class:`Report` is the part of :class:`~recbias.experiment.run.Results` that answers questions which
nobody had to foresee. What the results do not hold is read from the cells, where the data is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from recbias.data.datasets import Dataset, load_dataset
from recbias.errors import ConfigError, MissingData, StoreError, unknown_name
from recbias.experiment.grid import Grid
from recbias.experiment.pairs import (
    TESTS,
    Difference,
    PairTest,
    Tau,
    agree,
    foreseen_tests,
    over_resamples,
    over_users,
    quantities_of,
    values_of_users,
)
from recbias.experiment.picture import Panel, draw
from recbias.experiment.results import Quantity
from recbias.experiment.typesetting import Column, Table, latex, markdown
from recbias.experiment.users import part_of, reduced_systems, users_frame
from recbias.metrics import Metric, parse_metric
from recbias.stats.comparison import holm

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Report"]

FloatArray = npt.NDArray[np.float64]
Names = str | Metric | Sequence[str | Metric] | None
"""One name, several, or None for all."""


class Report(ABC):
    """Questions to results; all that is asked for is an attribute of those."""

    grid: Grid
    key: str
    dataset: Mapping[str, Any]
    values: pd.DataFrame
    replicates: Mapping[int, FloatArray]
    tests: pd.DataFrame
    left_out: Mapping[str, str]
    data_dir: Path | None

    @abstractmethod
    def __getitem__(self, names: tuple[str, str, str]) -> Quantity: ...

    @property
    @abstractmethod
    def systems(self) -> list[str]:
        """Names of the systems, in the order of the grid."""

    @abstractmethod
    def table(self, label: str, metric: Metric | str) -> pd.DataFrame:
        """Select one metric under one protocol: a row per system with value and interval."""

    def difference(
        self,
        a: str,
        b: str,
        metric: str | Metric | None = None,
        label: str | None = None,
        *,
        test: str = "t",
    ) -> Difference:
        """Compare two systems on the same users, whether or not the grid foresaw it.

        Parameters
        ----------
        a, b
            Names of the systems; a positive difference means that `a` has more.
        metric, label
            What is compared, and under which protocol; where only one was measured, it need not be
            named.
        test
            ``"t"``, ``"wilcoxon"`` or ``"sign"``, over users.

        Returns
        -------
        Difference
            With its 95 % interval, p and number of users. Where the grid's ``compare`` can ask for
            it, bit for bit what ``tests`` would hold per user. See there for weights, medians and
            metrics of the system as a whole.

        Raises
        ------
        ConfigError
            For an unknown system, label, metric or test; if there is more than one and none was
            named; for a test over users of what has no value per user.
        MissingData
            If the grid did not compare them and its data is not at hand, unless `test` is ``"t"``
            and replicates were kept, from which the answer then comes ("resampled users").
        StoreError
            If data or code changed since the results were computed.
        TrainingError
            As :func:`recbias.run`, if cells are not there any more.

        Notes
        -----
        Values of users are read from the cells of the two systems on each call. p is of this pair
        alone: who looks at several corrects it, as `to_latex` does.

        References
        ----------
        CCM20 Sec. 3.10; :func:`recbias.stats.comparison.paired_t` and its siblings.

        Examples
        --------
        >>> from recbias import Grid, System, run
        >>> systems = [System(name, name) for name in ("Popularity", "Random")]
        >>> grid = Grid("synthetic", systems, "TI-AN-AR rel>=4", "P@10", split="ratio 0.2")
        >>> run(grid).difference("Popularity", "Random")
        P@10: Popularity - Random = +0.1..., p < .0001 (paired t, 943 users)
        """
        label, metric = self._one(label, metric)
        for name in (a, b):
            self._check_system(name)
        if a == b:
            raise ConfigError(f"difference: {a!r} is compared with itself; name two systems")
        ((answer,),) = self._compared(label, [metric], [(a, b)], test).values()
        of_values = self[a, label, metric].value - self[b, label, metric].value
        several = len(self.grid.parsed) > 1
        return Difference(a, b, label, metric, *_numbers(answer), of_values, names_label=several)

    def tau(
        self,
        label: str | None = None,
        other: str | Report | None = None,
        metric: str | Metric | None = None,
        *,
        other_label: str | None = None,
        other_metric: str | Metric | None = None,
    ) -> Tau:
        """Tell how far two protocols, metrics or results put the systems in the same order.

        Parameters
        ----------
        label
            A protocol; need not be named where there is one.
        other
            Another label of these results, or other results; the same label if not given.
        metric
            What gives the order; need not be named where there is one.
        other_label
            Of other results: the label there, by default the same.
        other_metric
            What gives the other order; `metric` by default.

        Returns
        -------
        Tau
            Of the systems that are in both. A metric of which less is better puts the least first.
            No interval where resampling shifts a metric (of the system as a whole).

        Raises
        ------
        ConfigError
            For unknown names, two orders that are one and the same, or fewer than two systems in
            common.
        MissingData
            If replicates were not kept and the data is not at hand.
        StoreError
            If data or code changed since the results were computed.

        Notes
        -----
        The interval is about users, who are resampled together under both orders; with other data,
        or another seed, apart. p is about systems:
        :func:`recbias.stats.agreement.tau_p_value`.

        References
        ----------
        As of :func:`recbias.stats.agreement.tau_interval`.

        Examples
        --------
        >>> from recbias import Grid, System, run
        >>> systems = [System(name, name) for name in ("Popularity", "Random", "AverageRating")]
        >>> protocols = {"AR": "TI-AN-AR rel>=4", "1R": "TI-NN-1R t=20 rel>=4"}
        >>> results = run(Grid("synthetic", systems, protocols, "P@10", split="ratio 0.2"))
        >>> results.tau("AR", "1R")
        P@10 under AR against P@10 under 1R: tau = +1.0000 [...], p = .3333 (3 systems)
        """
        there = other if isinstance(other, Report) else self
        label, metric = self._one(label, metric)
        if isinstance(other, str):
            other_label = other
        if other_label is None:
            other_label = label if label in there.grid.parsed else None
        wanted = metric if other_metric is None else other_metric
        other_label, other_metric = there._one(other_label, wanted)
        if there is self and (label, metric) == (other_label, other_metric):
            raise ConfigError(
                f"tau: {metric} under {label} is compared with itself; name another label, metric "
                "or results"
            )
        sides = [(self, label, metric), (there, other_label, other_metric)]
        names = [f"{of_metric} under {of_label}" for _, of_label, of_metric in sides]
        if there is not self:
            names[1] = f"{names[1]} of {there._about()}"
        first, second = (results._order(*of_side) for results, *of_side in sides)
        return agree(first, second, *names)

    def per_user(
        self,
        metric: Names = None,
        label: str | Sequence[str] | None = None,
        *,
        systems: Sequence[str] | None = None,
    ) -> pd.DataFrame:
        """Return the value of every user under every system, read from the cells.

        Parameters
        ----------
        metric, label, systems
            One or several; all by default. Metrics of the system as a whole, which no user has, are
            left out unless they are named.

        Returns
        -------
        DataFrame
            A row per system, label, metric and user of the data, in this order: ``system``,
            ``label`` and ``metric`` (categories), ``user_id`` as in the data, and ``value``: the
            mean over the folds in which the user counts, or over their runs (1R). NaN for who does
            not count at all: is not of the population, has no list where only lists count
            (``coverage=reduced``, metrics of listed items). Whose value is undefined counts as 0,
            as in the average.

        Raises
        ------
        ConfigError
            For unknown names; for a metric that no user has a value of.
        MissingData
            If the data is not at hand.
        StoreError
            If data or code changed since the results were computed.

        Notes
        -----
        Where all users weigh alike, as in ``users=all`` under AR, the mean of a system's rows is
        its value. One system is held at a time, beside the table that is returned: about 20 bytes a
        row. Name metrics and systems where millions of users are many rows.

        Examples
        --------
        >>> from recbias import Grid, System, run
        >>> systems = [System(name, name) for name in ("Popularity", "Random")]
        >>> grid = Grid("synthetic", systems, "TI-AN-AR rel>=4", "P@10", split="ratio 0.2")
        >>> users = run(grid).per_user()
        >>> list(users), len(users)
        (['system', 'label', 'metric', 'user_id', 'value'], 1886)
        >>> users.pivot(index="user_id", columns="system", values="value").shape
        (943, 2)
        """
        wanted: dict[str, list[str]] = {}
        for of_label in self._labels(label):
            known = self._metrics(of_label, metric)
            whole = [name for name in known if self._metric(of_label, name).kind == "system"]
            if metric is not None and whole:
                raise ConfigError(
                    f"{whole[0]} under {of_label}: it is of the system as a whole, no user has a "
                    "value; name others, such as P@10"
                )
            if users := [name for name in known if name not in whole]:
                wanted[of_label] = users
        if not wanted:
            raise ConfigError("per_user: all metrics are of the system as a whole, no user has one")
        chosen = self.systems if systems is None else _listed_names("systems", systems)
        for name in chosen:
            self._check_system(name)
        return users_frame(self.grid, chosen, wanted, self._data(), data_dir=self.data_dir)

    def to_latex(
        self,
        metric: Names = None,
        label: str | Sequence[str] | None = None,
        *,
        baseline: str | None = None,
        test: str | None = "t",
        level: float = 0.05,
        digits: int = 4,
    ) -> str:
        r"""Write a table for a paper: a row per system, a column per label and metric.

        The best value of a column is bold. A dagger marks systems that differ from it, or from a
        baseline, and the caption says by which test.

        Parameters
        ----------
        metric, label
            One or several; all by default.
        baseline
            Name of the system that all others are compared with. By default they are compared with
            the best of their column.
        test
            As of `difference`; None for a table without tests.
        level
            Where a corrected p counts as a difference, in (0, 1).
        digits
            After the decimal point.

        Returns
        -------
        str
            An environment ``table`` for the package ``booktabs``; all names are escaped.

        Raises
        ------
        ConfigError
            For unknown names, or a number that makes no sense.
        MissingData
            As `difference` does; ``test=None`` needs no data.
        StoreError
            If data or code changed since the results were computed.

        Notes
        -----
        p values are corrected by Holm's method over the pairs of a column: those with the baseline;
        or all pairs, since the best is known only from the values. Of a metric without a better
        direction nothing is bold, and only a baseline gives marks.

        References
        ----------
        S. Holm, "A simple sequentially rejective multiple test procedure", Scand. J. Statist. 6
        (1979).

        Examples
        --------
        >>> from recbias import Grid, System, run
        >>> systems = [System(name, name) for name in ("Popularity", "Random")]
        >>> grid = Grid("synthetic", systems, "TI-AN-AR rel>=4", "P@10", split="ratio 0.2")
        >>> print(run(grid).to_latex())
        % \usepackage{booktabs}
        \begin{table}
        ...
        System & P@10 \\
        \midrule
        Popularity & \textbf{0...} \\
        Random & 0...\rlap{$^{\dagger}$} \\
        ...
        """
        return latex(self._table(metric, label, baseline, test, level, digits))

    def to_markdown(
        self,
        metric: Names = None,
        label: str | Sequence[str] | None = None,
        *,
        baseline: str | None = None,
        test: str | None = "t",
        level: float = 0.05,
        digits: int = 4,
    ) -> str:
        """Write the same table as `to_latex` in Markdown, the caption below.

        Parameters
        ----------
        metric, label, baseline, test, level, digits
            As of `to_latex`.

        Returns
        -------
        str
            A table with pipes, as GitHub and Jupyter show it, an empty line and the caption.

        Raises
        ------
        ConfigError, MissingData, StoreError
            As `to_latex` does.

        Examples
        --------
        >>> from recbias import Grid, System, run
        >>> systems = [System(name, name) for name in ("Popularity", "Random")]
        >>> grid = Grid("synthetic", systems, "TI-AN-AR rel>=4", "P@10", split="ratio 0.2")
        >>> print(run(grid).to_markdown(digits=2))
        | System | P@10 |
        |:--|--:|
        | Popularity | **0...** |
        | Random | 0...† |
        <BLANKLINE>
        Synthetic world: 943 users, ...
        """
        return markdown(self._table(metric, label, baseline, test, level, digits))

    def plot(
        self,
        metric: Names = None,
        label: str | Sequence[str] | None = None,
        *,
        systems: Sequence[str] | None = None,
    ) -> Figure:
        """Draw systems with their 95 % intervals: a panel per label and metric.

        Parameters
        ----------
        metric, label, systems
            One or several; all by default.

        Returns
        -------
        matplotlib.figure.Figure
            Systems from the best down to the worst of the first panel. It is shown where a notebook
            shows its last value; ``figure.savefig("systems.png")`` keeps it.

        Raises
        ------
        ConfigError
            For unknown names; if matplotlib is not installed.

        Examples
        --------
        >>> from recbias import Grid, System, run
        >>> systems = [System(name, name) for name in ("Popularity", "Random")]
        >>> grid = Grid("synthetic", systems, "TI-AN-AR rel>=4", "P@10", split="ratio 0.2")
        >>> figure = run(grid).plot()
        >>> [text.get_text() for text in figure.axes[0].get_yticklabels()]
        ['Popularity', 'Random']
        """
        chosen = self.systems if systems is None else _listed_names("systems", systems)
        for name in chosen:
            self._check_system(name)
        panels = [
            Panel(
                of_label,
                text,
                self._metric(of_label, text).declaration.better,
                self.table(of_label, text).loc[chosen, ["value", "low", "high"]].to_numpy(),
            )
            for of_label in self._labels(label)
            for text in self._metrics(of_label, metric)
        ]
        return draw(chosen, panels, self._about())

    # -- names ---------------------------------------------------------------------------------

    def _check_system(self, name: str) -> None:
        if name in self.left_out:
            raise ConfigError(f"not measured: {name} is left out: {self.left_out[name]}")
        if name not in self.systems:
            raise unknown_name("system", str(name), self.systems)

    def _labels(self, label: str | Sequence[str] | None) -> list[str]:
        """List the labels that are asked for; unknown ones are refused."""
        if label is None:
            return list(self.grid.parsed)
        labels = _listed_names("label", label)
        for name in labels:
            if name not in self.grid.parsed:
                raise unknown_name("label", name, self.grid.parsed)
        return labels

    def _metrics(self, label: str, metric: Names) -> list[str]:
        """List the metrics that are asked for under a label; unknown ones are refused."""
        measured = self.grid.by_label[label]
        if metric is None:
            return list(measured)
        asked = _listed_names("metric", metric)
        return [self._measured_metric(label, text, measured) for text in asked]

    def _measured_metric(self, label: str, text: str, measured: Sequence[str]) -> str:
        """Return a metric as it is written here, from any way of writing it."""
        if text in measured:
            return text
        try:
            written = str(parse_metric(text))
        except ConfigError:
            written = text
        if written not in measured:
            raise unknown_name(f"metric under {label!r}", text, measured)
        return written

    def _metric(self, label: str, text: str) -> Metric:
        return next(metric for metric in self.grid.parsed_metrics[label] if str(metric) == text)

    def _one(self, label: str | None, metric: str | Metric | None) -> tuple[str, str]:
        """Return one label and one metric, which need no name where there is one."""
        labels = self._labels(label)
        if len(labels) > 1:
            raise ConfigError(f"label: name one of {len(labels)}: {', '.join(labels)}")
        metrics = self._metrics(labels[0], metric)
        if len(metrics) > 1:
            raise ConfigError(
                f"metric under {labels[0]}: name one of {len(metrics)}: {', '.join(metrics)}"
            )
        return labels[0], metrics[0]

    def _about(self) -> str:
        return f"{self.dataset['title']}, {self.grid.split}, seed {self.grid.seed}"

    # -- what the results do not hold --------------------------------------------------------------

    def _data(self) -> Dataset:
        """Load the data; refuse another content, or code, than the results are of."""
        dataset = load_dataset(self.grid.dataset, data_dir=self.data_dir)
        if self.grid.key(dataset) != self.key:
            raise StoreError(
                f"{self.dataset['title']}: the data, or the code, changed since these results were "
                "computed; run the grid again"
            )
        return dataset

    def _quantities(self, label: str, metric: str, systems: Sequence[str]) -> dict[str, Quantity]:
        """Give values with replicates: those that were kept, or computed from the cells."""
        quantities = {name: self[name, label, metric] for name in systems}
        if all(quantity.replicates is not None for quantity in quantities.values()):
            return quantities
        try:
            dataset = self._data()
        except MissingData as missing:
            raise self._lacks(label, metric, missing) from missing
        part = part_of(self.grid, systems, {label: [metric]})
        return {
            name: quantities_of(part, label, folds)[metric]
            for name, folds in reduced_systems(part, dataset, data_dir=self.data_dir)
        }

    def _lacks(self, label: str, metric: str, missing: MissingData) -> MissingData:
        asked = f"compare=(({label!r}, {metric!r}),)"
        reason = str(missing).partition("\n")[0]
        return MissingData(
            f"{metric} under {label}: these results were not asked for it, and the data is absent: "
            f"{reason}\nput the data there, or run the grid where it is with {asked}, or with "
            "replicates of it"
        )

    def _order(self, label: str, metric: str) -> dict[str, Quantity]:
        """Give values of all systems, so that more is better."""
        quantities = self._quantities(label, metric, self.systems)
        if self._metric(label, metric).declaration.better != "lower":
            return quantities
        zero = Quantity(0.0, np.zeros(1))
        return {name: zero - quantity for name, quantity in quantities.items()}

    def _compared(
        self, label: str, metrics: Sequence[str], pairs: Sequence[tuple[str, str]], test: str
    ) -> dict[str, list[PairTest]]:
        """Test pairs of systems in several metrics, reading no more than is not there."""
        if test not in TESTS:
            raise unknown_name("test", str(test), TESTS)
        averaging = self.grid.parsed[label].averaging
        systems = [name for name in self.systems if any(name in pair for pair in pairs)]
        by_metric: dict[str, list[PairTest]] = {}
        by_users, by_resampling = [], []
        for metric in metrics:
            known = foreseen_tests(self.tests, label, metric, test)
            of_system = self._metric(label, metric).kind == "system"
            if all(pair in known for pair in pairs):
                by_metric[metric] = [known[pair] for pair in pairs]
            elif of_system or averaging.statistic == "median" or averaging.population == "groups":
                by_resampling.append(metric)
            else:
                by_users.append(metric)
        if by_resampling and test != "t":
            raise ConfigError(
                f"{by_resampling[0]} under {label}: no mean over users, so that a "
                f"{TESTS[test]} of them does not test it; use test='t'"
            )
        if by_users:
            try:
                dataset = self._data()
            except MissingData as missing:
                kept = all(
                    self[name, label, metric].replicates is not None
                    for name in systems
                    for metric in by_users
                )
                if test != "t" or not kept:
                    raise self._lacks(label, by_users[0], missing) from missing
                by_resampling += by_users
            else:
                part = part_of(self.grid, systems, {label: by_users})
                users, quantities = {}, {}
                for name, folds in reduced_systems(part, dataset, data_dir=self.data_dir):
                    users[name] = values_of_users(part, label, folds)
                    if averaging.epsilon is not None:
                        quantities[name] = quantities_of(part, label, folds)
                for metric in by_users:
                    by_metric[metric] = answers = []
                    for a, b in pairs:
                        sides = users[a][metric], users[b][metric]
                        answer = over_users(*sides, test, of_logarithms=bool(quantities))
                        if quantities:  # the test is of logarithms, the difference of values
                            gap = quantities[a][metric] - quantities[b][metric]
                            low, high = gap.interval
                            answer = answer._replace(difference=gap.value, low=low, high=high)
                        answers.append(answer)
        for metric in by_resampling:
            of_systems = self._quantities(label, metric, systems)
            n_users = self._n_users(label, metric)
            by_metric[metric] = [
                over_resamples(of_systems[a], of_systems[b], min(n_users[a], n_users[b]))
                for a, b in pairs
            ]
        return by_metric

    def _n_users(self, label: str, metric: str) -> dict[str, int]:
        rows = self.values[(self.values["label"] == label) & (self.values["metric"] == metric)]
        return dict(zip(rows["system"], rows["n_users"].astype(int).tolist(), strict=True))

    def _table(
        self,
        metric: Names,
        label: str | Sequence[str] | None,
        baseline: str | None,
        test: str | None,
        level: float,
        digits: int,
    ) -> Table:
        """Collect what a table for a paper shows, column by column."""
        if baseline is not None:
            self._check_system(baseline)
        if not isinstance(level, float) or not 0 < level < 1:
            raise ConfigError(f"level={level!r}: expected a number between 0 and 1, such as 0.05")
        if isinstance(digits, bool) or not isinstance(digits, int) or not 0 <= digits <= 12:
            raise ConfigError(f"digits={digits!r}: expected a whole number from 0 to 12")
        names, columns = self.systems, []
        for of_label in self._labels(label):
            metrics = self._metrics(of_label, metric)
            pairs = list(combinations(names, 2))
            if baseline is not None:
                pairs = [(name, baseline) for name in names if name != baseline]
            answers: dict[str, list[PairTest]] = {}
            if test is not None and pairs:
                ranked = [
                    text
                    for text in metrics
                    if baseline is not None or self._metric(of_label, text).declaration.better
                ]
                answers = self._compared(of_label, ranked, pairs, test)
            for text in metrics:
                values = [self[name, of_label, text].value for name in names]
                better = self._metric(of_label, text).declaration.better
                best = _best(values, better)
                tested = answers.get(text, [])
                reference = {baseline} if baseline is not None else {names[i] for i in best[:1]}
                # Of several that are best one is the reference, from which no other differs.
                unmarked = frozenset(best if baseline is None else [])
                columns.append(
                    Column(
                        of_label,
                        text,
                        tuple(values),
                        frozenset(best),
                        _marked(names, pairs, tested, reference, level) - unmarked,
                        tuple(tested),
                    )
                )
        protocols = {of_label: str(self.grid.parsed[of_label]) for of_label in self._labels(label)}
        size = self.dataset
        about = (
            f"{size['title']}: {size['n_users']:,} users, {size['n_items']:,} items, "
            f"{size['n_ratings']:,} ratings; split {self.grid.split}, seed {self.grid.seed}"
        )
        if self.grid.select:
            about += f"; selected: {self.grid.select}"
        for of_label, text in self.grid.tests.items():
            if of_label in protocols:
                about += f"; tested under {of_label}: {text}"
        of_runs = tuple(
            of_label
            for of_label in protocols
            if self.grid.parsed[of_label].rule.per_run
            and self.grid.parsed[of_label].averaging.resolved("run").population == "runs"
        )
        return Table(
            tuple(names), tuple(columns), protocols, about, baseline, level, digits, of_runs
        )


def _numbers(answer: PairTest) -> tuple[float, float, float, float, int, str]:
    """Put what a test gives in the order of `Difference`."""
    return (*answer[2:], answer.n_users, answer.test)


def _best(values: Sequence[float], better: str | None) -> list[int]:
    """List the places of the best values: several where they are equal, none where none is."""
    known = [value for value in values if not np.isnan(value)]
    if better is None or not known:
        return []
    best = max(known) if better == "higher" else min(known)
    return [place for place, value in enumerate(values) if value == best]


def _listed_names(what: str, names: Any) -> list[str]:
    """List what is named, one name alone or several; refuse none, and what is no name."""
    if isinstance(names, str | Metric):
        return [str(names)]
    if not isinstance(names, Iterable) or not (listed := [*map(str, names)]):
        raise ConfigError(f"{what}: got {names!r}, expected a name or several")
    return listed


def _marked(
    names: Sequence[str],
    pairs: Sequence[tuple[str, str]],
    tested: Sequence[PairTest],
    reference: set[str],
    level: float,
) -> frozenset[int]:
    """List the places of the systems that differ from the reference, corrected over all pairs."""
    p = np.array([answer.p for answer in tested])
    known = ~np.isnan(p)
    p[known] = holm(p[known])
    return frozenset(
        names.index(name)
        for pair, corrected in zip(pairs, p.tolist(), strict=False)
        if reference & set(pair) and corrected < level
        for name in set(pair) - reference
    )
