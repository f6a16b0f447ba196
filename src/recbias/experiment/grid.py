"""A grid: which systems are measured how, on which splits of which data; what names its results.

The key of a result, and that of every artefact behind it, is a digest of what decides its content.
What equals its default is left out, so that a new option moves no key; and each component has a
revision of its own, so that a change of code makes stale just what it changed.
"""

from __future__ import annotations

import dataclasses
import importlib
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from recbias import ranking
from recbias._system.places import cells_dir
from recbias.data import selection
from recbias.data.datasets import Dataset, is_handed_on, is_path, load_dataset, outside_module
from recbias.data.datasets.frames import NAME, frame_of
from recbias.data.features import ItemFeatures, load_features
from recbias.data.ratings import Ratings
from recbias.data.selection import Selection
from recbias.data.simulation import CountOptions, is_world, parse_world
from recbias.errors import ConfigError, DataError, did_you_mean, nearest, unknown_name
from recbias.experiment.cluster import LacksModuleError
from recbias.experiment.store import digest, write_atomically
from recbias.metrics import Metric, MetricName, aggregation, parse_metric
from recbias.protocol import splits, testset
from recbias.protocol.protocol import Protocol
from recbias.protocol.splits import SplitRule
from recbias.protocol.targets import read_groups
from recbias.protocol.testset import TestSet
from recbias.ranking import LISTED
from recbias.recommenders import Carried, System, algorithms, as_system, carried, line_up_names

__all__ = [
    "Grid",
    "Outside",
    "check_metric",
    "check_unscored",
    "component_revisions",
    "judgments_hash",
    "listed",
    "non_defaults",
    "split_marks",
]

_SUMS_OF_RATINGS = ("P", "antiP")
"""Metrics of a user's list that are sums over test ratings, divided by the cutoff.

Expected over ties too. Given ``|judged`` they are divided by what is judged, and given ``|N=N``
what a rating adds depends on the others.
"""

_SHARES_OF_USERS = ("SR",)
"""Metrics whose value of a run depends on the other runs of its user."""


def non_defaults(record: Any) -> dict[str, Any]:
    """Return the fields of a dataclass that differ from their defaults, for a key.

    Parameters
    ----------
    record
        An instance of a dataclass.

    Returns
    -------
    dict
        By name of the field. A field without a default is always there.
    """
    differing = {}
    for declared_field in dataclasses.fields(record):
        value = getattr(record, declared_field.name)
        default = declared_field.default
        if declared_field.default_factory is not dataclasses.MISSING:
            default = declared_field.default_factory()
        if value != default:
            differing[declared_field.name] = value
    return differing


def component_revisions(
    *, sampled: bool, reduced: bool, filled: bool = False, selected: bool = False
) -> dict[str, int]:
    """Name the revisions of the code between a fitted system and its table of ranks.

    Parameters
    ----------
    sampled
        Whether target sets are samples.
    reduced
        Whether other judgments than all observed ones count.
    filled
        Whether items without a score are put below the others.
    selected
        Whether some of the ratings count only.

    Returns
    -------
    dict
        Components that take part only.
    """
    revisions = {"splits": splits.REVISION, "ranking": ranking.REVISION}
    if sampled:
        revisions["sampling"] = ranking.SAMPLING_REVISION
    if reduced:
        revisions["thinning"] = testset.REVISION
    if filled:
        revisions["unscored"] = ranking.UNSCORED_REVISION
    if selected:
        revisions["selection"] = selection.REVISION
    return revisions


def split_marks(dataset: Dataset, split: str) -> dict[str, str]:
    """Digest what a split rule reads beside the ratings: times, or folds, and the order of rows.

    Neither is in the content hash of the ratings. Rules that read nothing else have no marks.
    """
    rule = SplitRule.parse(split)
    kind = rule.kind
    if rule.reads_times and dataset.ratings.timestamp is not None:
        return {"timestamps": digest(dataset.ratings.timestamp.astype("<i8").tobytes())}
    if kind == "ready" and dataset.ready_folds is not None:
        marks = {"folds": digest(dataset.ready_folds.astype("<i8").tobytes())}
        if rule.order and dataset.row_order is not None:
            marks["order"] = digest(dataset.row_order.astype("<i8").tobytes())
        return marks
    return {}


def judgments_hash(dataset: Dataset, test: TestSet) -> str:
    """Digest the content that a test side is about: the observed ratings, and what it adds.

    What is held out of the unbiased ratings decides the split of the observed ones too.

    Raises
    ------
    ConfigError
        If the dataset lacks the part.
    """
    observed = dataset.ratings.content_hash
    if test.part == "observed" and test.held is None:
        return observed
    return digest([observed, dataset.part_hash("unbiased" if test.held else test.part)])


class Outside(NamedTuple):
    """What a grid needs from outside the package; it travels to worker processes.

    Attributes
    ----------
    modules
        Names of modules.
    classes
        Classes of systems, which need no module of their own.
    """

    modules: tuple[str, ...]
    classes: tuple[Carried, ...]

    def load(self) -> None:
        """Make everything known to this process."""
        for module in self.modules:
            try:
                importlib.import_module(module)
            except ModuleNotFoundError as error:
                if error.name != module:
                    raise
                raise LacksModuleError(module) from error
        for carried_class in self.classes:
            carried_class.load()


def check_unscored(protocol: Protocol, label: str) -> None:
    """Refuse a policy for what has no score in samples, which keep no place for it."""
    if protocol.rule.others == "NN" and protocol.unscored != "none":
        raise ConfigError(
            f"{label!r}: {protocol.rule} keeps no place for what has no score; use AN with "
            "unscored=, and metrics such as P@10|t=100 or P@10|N=100 for the expectation over "
            "samples"
        )


def check_metric(metric: Metric, protocol: Protocol, label: str, *, head: object = None) -> None:
    """Refuse a metric that is not defined for a design; `head` is what a test side leaves out."""
    rule = protocol.rule
    per = "run" if rule.per_run else "user"
    is_part = rule.others == "NN" or rule.with_train or rule.n_groups is not None
    if "ties" in dict(metric.given) and (is_part or protocol.unscored != "none" or head):
        raise ConfigError(
            f"{metric} under {label!r}: orders of equal scores are counted in whole target "
            "sets; ask it of AN-AR or AN-1R, without +train, unscored= and head="
        )
    if metric.kind != "ranks":
        if protocol.condensed or rule.per_run or rule.others == "NN" or rule.with_train or head:
            raise ConfigError(
                f"{metric} under {label!r}: it is a property of lists of all targets; ask "
                "it of AN-AR, not condensed, without +train and head="
            )
        if (metric.cutoff or 0) > LISTED:
            raise ConfigError(f"{metric} under {label!r}: {LISTED} items of a list are kept")
    elif per not in metric.declaration.per:
        units = "runs (1R)" if per == "run" else "one target set per user (AR)"
        raise ConfigError(f"{metric} under {label!r}: it is not defined for {units}")


@dataclass(frozen=True)
class Grid:
    """Systems x protocols x metrics on the splits of one dataset.

    Parameters
    ----------
    dataset
        Name of a dataset or world, path of a table of ratings, or the table as a DataFrame, which
        is then kept as a Parquet file among the cells, where worker processes read it.
    systems
        What is trained: systems, or classes and objects with ``fit`` and ``score``
        (:func:`recbias.recommenders.as_system`). Names are unique.
    protocols
        How it is evaluated: texts of :class:`~recbias.protocol.protocol.Protocol`, optionally under
        labels of your own; one alone need not be in a tuple.
    metrics
        What is measured, such as ``"P@10"``, ``"rho"`` or ``"Gini@10"``, the same for all protocols
        or by label; as text, or as objects of :mod:`recbias.metrics`: ``P @ 10``.
    split
        Text of a :class:`~recbias.protocol.splits.SplitRule`.
    seed
        Names every random stream: split, training, ties, samples, resampling.
    compare
        Pairs (label, metric) for which all pairs of systems are tested.
    tests
        Texts of :class:`~recbias.protocol.testset.TestSet` by label, where other judgments than all
        observed ones count.
    groups
        How items are grouped where target sets or test sides speak of popularity:
        ``"popularity M"`` for M groups of equal size.
    replicates
        Pairs (label, metric) whose replicates are kept, because they are to be combined; None
        keeps all.
    crossed
        Pairs (label, metric) that get an interval over users *and items* beside the one over users.
        Under AR ``P`` and ``antiP``, under 1R any metric from ranks: means over users or runs of
        what single test ratings add.
    select
        Text of a :class:`~recbias.data.selection.Selection`: which ratings of the dataset count at
        all.
    features
        For metrics such as ``"ILD@10"``: path of a table of items and their features, or the table
        as a DataFrame (:func:`recbias.data.features.load_features`). Results of other metrics do
        not depend on it.

    Raises
    ------
    ConfigError
        For an unknown or malformed protocol, metric, split or test side; for names that occur
        twice; for no system, protocol or metric at all, or one that is of another type; for a
        comparison, or replicates, of what is not measured; for a combination that cannot be
        measured, such as concentration of condensed lists, or a metric of features without a table
        of these.
    DataError
        If a DataFrame is no table of ratings, or one of features cannot be kept as a file.

    Examples
    --------
    >>> from recbias.recommenders import line_up
    >>> grid = Grid("synthetic", line_up("bcc17")[:2], ("TI-AN-AR rel>=5",), ("P@10", "rho"))
    >>> grid == Grid.from_dict(grid.to_dict())
    True
    >>> Grid("synthetic", line_up("bcc17")[:2], ("TI-AN-AR rel>=5",), ("Q@10",))
    Traceback (most recent call last):
    recbias.errors.ConfigError: unknown metric 'Q'...
    """

    dataset: str
    systems: tuple[System, ...]
    protocols: Mapping[str, str] | Sequence[str]
    metrics: Mapping[str, Sequence[str]] | Sequence[str]
    split: str = "k-fold 5"
    seed: int = 1
    compare: tuple[tuple[str, str], ...] = ()
    tests: Mapping[str, str] = field(default_factory=dict)
    groups: str = "popularity 10"
    replicates: tuple[tuple[str, str], ...] | None = None
    crossed: tuple[tuple[str, str], ...] = ()
    select: str = ""
    features: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "dataset", _dataset_name(self.dataset))
        object.__setattr__(self, "features", _features_path(self.features))
        object.__setattr__(self, "systems", _checked_systems(self.systems))
        protocols = listed("protocols", self.protocols, "TI-AN-AR rel>=4")
        if not isinstance(protocols, Mapping):
            protocols = {text: text for text in protocols}
        protocols = {label: str(Protocol.parse(text)) for label, text in protocols.items()}
        metrics = listed("metrics", self.metrics, "P@10")
        if not isinstance(metrics, Mapping):
            metrics = dict.fromkeys(protocols, metrics)
        if set(metrics) != set(protocols):
            raise ConfigError(
                f"metrics are given for {sorted(metrics)}, protocols for {sorted(protocols)}"
            )
        metrics = {
            label: tuple(
                str(parse_metric(text))
                for text in listed(f"metrics under {label!r}", metrics[label], "P@10")
            )
            for label in protocols
        }
        if not isinstance(self.split, str):
            raise ConfigError(f"split is {self.split!r}: expected text, such as 'k-fold 5'")
        if isinstance(self.seed, bool) or not isinstance(self.seed, int) or self.seed < 0:
            raise ConfigError(f"seed is {self.seed!r}: expected an integer of 0 or more")
        for label, texts in metrics.items():
            if len(set(texts)) < len(texts):
                raise ConfigError(f"metrics under {label!r}: each once, got {', '.join(texts)}")
        names = [system.name for system in self.systems]
        if len(set(names)) < len(names):
            raise ConfigError(f"a grid needs systems with different names, got {names}")
        if not isinstance(self.tests, Mapping):
            raise ConfigError(
                f"tests: got {self.tests!r}, expected texts by label, such as "
                f"{{{next(iter(protocols))!r}: 'unbiased'}}"
            )
        tests = {label: str(TestSet.parse(text)) for label, text in self.tests.items()}
        if strangers := tests.keys() - protocols.keys():
            hint = did_you_mean(str(min(strangers)), protocols)
            raise ConfigError(f"test sides are given for unknown labels {sorted(strangers)}{hint}")
        tests = {label: text for label, text in tests.items() if text != str(TestSet())}
        for what, pairs in (
            ("compare", self.compare),
            ("keep", self.replicates or ()),
            ("resample the items of", self.crossed),
        ):
            for label, metric in pairs:
                if metric not in metrics.get(label, ()):
                    raise ConfigError(f"cannot {what} {metric} under {label!r}: it is not measured")
        object.__setattr__(self, "protocols", protocols)
        object.__setattr__(self, "metrics", metrics)
        object.__setattr__(self, "tests", tests)
        object.__setattr__(self, "split", str(SplitRule.parse(self.split)))
        object.__setattr__(self, "select", str(Selection.parse(self.select)))
        object.__setattr__(self, "compare", _pairs(self.compare))
        object.__setattr__(self, "crossed", _pairs(self.crossed))
        object.__setattr__(self, "groups", f"popularity {read_groups(self.groups)}")
        if self.replicates is not None:
            object.__setattr__(self, "replicates", _pairs(self.replicates))
        for label in protocols:
            self._check_label(label)

    def _check_label(self, label: str) -> None:
        """Refuse what the kept counts and samples cannot answer, before anything is trained."""
        rule = self.parsed[label].rule
        test, n_groups = self.test(label), self.n_groups
        if self.select and (test.part != "observed" or test.held is not None):
            raise ConfigError(
                f"{label!r}: what is selected are observed ratings, and test side '{test}' is "
                "about others; select none, or test on 'observed'"
            )
        if rule.n_groups is not None and n_groups % rule.n_groups:
            raise ConfigError(
                f"{label!r}: {rule.n_groups} percentiles cannot be told from {n_groups} groups; "
                f"give the grid groups='popularity {rule.n_groups}'"
            )
        test.n_head_groups(n_groups)
        if n_groups % test.item_groups[2]:
            raise ConfigError(
                f"{label!r}: items={test.items} cannot be told from {n_groups} groups; give the "
                f"grid groups='popularity {test.item_groups[2]}'"
            )
        check_unscored(self.parsed[label], label)
        if test.head and (rule.with_train or (rule.others == "NN" and rule.candidates == "AI")):
            raise ConfigError(f"{label!r}: {rule} cannot leave out a head of items; use TI")
        for metric in self.parsed_metrics[label]:
            if metric.declaration.features and not self.features:
                raise ConfigError(
                    f"{metric} under {label!r}: it looks at features of items; give a table of "
                    "these: Grid(..., features='items.csv'), or --features items.csv"
                )
            check_metric(metric, self.parsed[label], label, head=test.head)
        for metric in self.crossed_metrics(label):
            self._check_crossed(label, metric)
        if any(label == compared_label for compared_label, _ in self.compare):
            compared = [
                parse_metric(metric)
                for compared_label, metric in self.compare
                if compared_label == label
            ]
            if not all(self.is_comparable(label, metric) for metric in compared):
                raise ConfigError(
                    f"{label!r}: paired tests compare plain means, over users or runs, of metrics "
                    "from ranks"
                )

    def _check_crossed(self, label: str, metric: Metric) -> None:
        """Refuse what is no mean of what single test ratings add."""
        averaging, per_run = self.parsed[label].averaging, self.parsed[label].rule.per_run
        if not averaging.is_plain or per_run != (averaging.population == "runs"):
            raise ConfigError(
                f"{label!r}: items can be resampled for plain means over users (AR) or runs (1R)"
            )
        summed = metric.name in _SUMS_OF_RATINGS and {*dict(metric.given)} <= {"ties"}
        if metric.kind != "ranks" or not (per_run or summed) or metric.name in _SHARES_OF_USERS:
            raise ConfigError(
                f"{metric} under {label!r}: resampling items needs a sum over test ratings; of "
                f"target sets per user only {' and '.join(_SUMS_OF_RATINGS)} are one, of runs (1R) "
                f"every metric from ranks but {' and '.join(_SHARES_OF_USERS)}"
            )

    def is_comparable(self, label: str, metric: Metric) -> bool:
        """Tell whether `compare` may name a metric: from ranks, a plain mean over users or runs."""
        averaging = self.parsed[label].averaging
        return averaging.is_plain and averaging.population != "groups" and metric.kind == "ranks"

    def crossed_metrics(self, label: str) -> tuple[Metric, ...]:
        """Return the metrics of a label whose interval over users and items is asked for."""
        return tuple(m for m in self.parsed_metrics[label] if (label, str(m)) in self.crossed)

    def to_dict(self) -> dict[str, Any]:
        """Write the grid as JSON-able values that :meth:`from_dict` reads."""
        record = {**non_defaults(self), "dataset": self.dataset}
        record["systems"] = [system.to_dict() for system in self.systems]
        record["metrics"] = {label: list(texts) for label, texts in self.by_label.items()}
        for name in ("compare", "replicates", "crossed"):
            if record.get(name) is not None:
                record[name] = [list(pair) for pair in record[name]]
        return record

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Grid:
        """Read what :meth:`to_dict` wrote."""
        values = dict(record)
        values["systems"] = tuple(System.from_dict(system) for system in record["systems"])
        return cls(**values)

    @property
    def by_label(self) -> dict[str, tuple[str, ...]]:
        """Metrics of each protocol label, as texts."""
        return dict(self.metrics)  # type: ignore[arg-type]

    @cached_property
    def parsed(self) -> dict[str, Protocol]:
        """Protocols by label."""
        return {label: Protocol.parse(text) for label, text in dict(self.protocols).items()}  # type: ignore[arg-type]

    @cached_property
    def parsed_metrics(self) -> dict[str, tuple[Metric, ...]]:
        """Metrics by label."""
        return {label: tuple(map(parse_metric, texts)) for label, texts in self.by_label.items()}

    @property
    def n_groups(self) -> int:
        """Number of item groups."""
        return read_groups(self.groups)

    @cached_property
    def _parsed_tests(self) -> dict[str, TestSet]:
        return {label: TestSet.parse(self.tests.get(label, "")) for label in self.parsed}

    def test(self, label: str) -> TestSet:
        """Return the side of the test under a label."""
        return self._parsed_tests[label]

    @property
    def modules(self) -> tuple[str, ...]:
        """Modules outside the package that define its metrics and dataset.

        A worker process imports them first. What was typed into a session has none to import.
        """
        metrics = {metric for metrics in self.parsed_metrics.values() for metric in metrics}
        modules = [metric.declaration.measure.__module__ for metric in metrics]
        source = self.dataset
        if is_world(source) and isinstance(options := parse_world(source), CountOptions):
            source = options.counts
        modules.append(outside_module(source) or "")
        inside = ("", "recbias", "__main__")
        return tuple(sorted({name for name in modules if name.partition(".")[0] not in inside}))

    @property
    def outside(self) -> Outside:
        """What a worker process has to load first: modules, and classes of its systems."""
        names = dict.fromkeys(system.algorithm for system in self.systems)
        classes = tuple(
            carried_class for name in names if (carried_class := carried(name)) is not None
        )
        return Outside(self.modules, classes)

    def with_systems(self, names: Iterable[str]) -> Grid:
        """Return the grid with some of its systems only; one alone is compared with none."""
        wanted = set(names)
        chosen = tuple(system for system in self.systems if system.name in wanted)
        compare = self.compare if len(chosen) > 1 else ()
        return dataclasses.replace(self, systems=chosen, compare=compare)

    def without(self, names: Iterable[str]) -> Grid:
        """Return the grid without some of its systems; itself if these are none."""
        left_out = set(names)
        remaining = [system.name for system in self.systems if system.name not in left_out]
        return self if len(remaining) == len(self.systems) else self.with_systems(remaining)

    def sample(self, n_systems: int) -> Grid:
        """Return the grid with so many of its systems, by which results are verified in part.

        The first, the last, and between them at even distances. Where none of these is known to
        depend on the processor, the first one that is takes the place of its nearest.

        Parameters
        ----------
        n_systems
            How many; all if it has no more.
        """
        if n_systems >= len(self.systems):
            return self
        places = np.linspace(0, len(self.systems) - 1, n_systems).round().astype(int)
        moving = [p for p, system in enumerate(self.systems) if system.depends_on_processor]
        if moving and not set(moving) & set(places.tolist()):
            places[np.argmin(np.abs(places - moving[0]))] = moving[0]
        return self.with_systems(self.systems[place].name for place in places)

    def warn_of_split(self, dataset: Dataset) -> None:
        """Warn if the split tests another share of an own table than it is asked to.

        A page is silent: the command that makes it has said so.
        """
        if is_path(self.dataset) and not is_handed_on(self.dataset):
            if self.select:
                dataset = Selection.parse(self.select).of(dataset, seed=self.seed)
            folds = testset.dataset_splits(dataset, self.split, seed=self.seed)
            splits.warn_of_other_share(folds)

    def item_features(self, dataset: Dataset) -> ItemFeatures | None:
        """Read the features of the items of a dataset; None if no metric looks at them.

        Raises
        ------
        MissingData, DataError
            As :func:`recbias.data.features.load_features` does.
        """
        metrics = (metric for metrics in self.parsed_metrics.values() for metric in metrics)
        if not any(metric.declaration.features for metric in metrics):
            return None
        path = Path(self.features).expanduser()
        if not path.is_file():
            return load_features(path, dataset.ratings)  # says what is missing
        status = path.stat()
        return _features(path, status.st_size, status.st_mtime_ns, dataset.ratings)

    def key(self, dataset: Dataset) -> str:
        """Digest all that decides the results: data, parameters and revisions of the code."""
        return self.key_of(self.hashes(dataset))

    def hashes(self, dataset: Dataset) -> dict[str, str]:
        """Return the content hash of each part of the judgments that counts, with split marks.

        Beside them that of the features of the items, if a metric looks at them.
        """
        tests = [self.test(label) for label in self.parsed]
        hashes = {str(test.part): judgments_hash(dataset, test) for test in tests}
        features = self.item_features(dataset)
        marks = {} if features is None else {"features": features.content_hash}
        return {**hashes, **split_marks(dataset, self.split), **marks}

    def key_of(self, hashes: Mapping[str, str]) -> str:
        """Digest the same, given the content hash of each part of the judgments that counts."""
        record = non_defaults(self)
        for place in ("dataset", "features"):  # what is there has a hash
            record.pop(place, None)
        record["systems"] = [
            {"name": system.name, "n_seeds": system.n_seeds, **system.identity()}
            for system in self.systems
        ]
        metrics = {m for texts in self.parsed_metrics.values() for m in texts}
        record["metrics"] = self.by_label
        revisions = component_revisions(
            sampled=any(p.rule.others == "NN" for p in self.parsed.values()),
            reduced=any(self.test(label) != TestSet() for label in self.parsed),
            filled=any(p.unscored != "none" for p in self.parsed.values()),
            selected=bool(self.select),
        )
        revisions["aggregation"] = aggregation.REVISION
        return digest(
            {
                "grid": record,
                "data": dict(hashes),
                "revisions": revisions,
                "metrics": [metric.identity() for metric in sorted(metrics, key=str)],
            }
        )


def _dataset_name(dataset: Any) -> str:
    """Return by what a data set is loaded in every process; a DataFrame is written to a file."""
    if isinstance(dataset, str | Path):
        return str(dataset)
    ratings = load_dataset(dataset).ratings  # says what is no data set
    return _kept_frame(frame_of(ratings))


# A grid asks for its key and for what it measures, at one time.
@lru_cache(maxsize=1)
def _features(path: Path, size: int, mtime_ns: int, ratings: Ratings) -> ItemFeatures:
    """Read features; the numbers tell when the file may have changed."""
    return load_features(path, ratings)


def _features_path(features: Any) -> str:
    """Return where a table of features is; a DataFrame is written to a file."""
    if isinstance(features, pd.DataFrame):
        return _kept_frame(features)
    if not isinstance(features, str | Path):
        raise ConfigError(
            f"features is {type(features).__name__} {features!r}: expected the path of a table of "
            "items and their features, or a pandas DataFrame"
        )
    return str(features)


def _kept_frame(frame: pd.DataFrame) -> str:
    """Write a table among the cells, under a name that follows its content."""
    content = io.BytesIO()
    try:
        frame.to_parquet(content, index=False)
    except (pa.ArrowException, ValueError) as error:
        raise DataError(
            f"{NAME}: it cannot be kept as Parquet ({str(error).splitlines()[0]})\n"
            "give each column one type and one name, e.g. ids as text: frame.astype(str)"
        ) from None
    path = cells_dir() / "tables" / f"{NAME}-{digest(content.getvalue())[:12]}.parquet"
    if not path.is_file():
        write_atomically(path, content.getvalue())
    return str(path)


def listed(what: str, texts: Any, example: str) -> Any:
    """Return texts as a sequence or mapping that is not empty; one text is a sequence of itself."""
    if isinstance(texts, str | Protocol | Metric | MetricName):
        texts = (texts,)
    if isinstance(texts, Iterable) and not isinstance(texts, Mapping):
        objects = Protocol | Metric | MetricName
        texts = tuple(str(text) if isinstance(text, objects) else text for text in texts)
    if not texts or not isinstance(texts, Mapping | tuple):
        raise ConfigError(f"{what}: got {texts!r}, expected one or more, such as ({example!r},)")
    for text in texts.values() if isinstance(texts, Mapping) and what == "protocols" else texts:
        if not isinstance(text, str):
            raise ConfigError(f"{what}: got {text!r}, expected text such as {example!r}")
    return texts


def _checked_systems(argument: Any) -> tuple[System, ...]:
    """Return systems, classes and objects as a tuple of systems."""
    alone = isinstance(argument, str | System) or callable(getattr(argument, "score", None))
    if not alone and not isinstance(argument, Iterable):
        argument = (argument,)
    systems = (argument,) if alone else tuple(argument)
    for system in systems:
        if isinstance(system, str):
            if system in line_up_names():
                raise ConfigError(
                    f"systems: got text {system!r}, the name of a line-up\n"
                    f"write line_up({system!r})"
                )
            if system not in algorithms():
                near = nearest(system, (*algorithms(), *line_up_names()))
                raise unknown_name("algorithm", system, algorithms(), meant=near)
            raise ConfigError(
                f"systems: got text {system!r}, expected systems such as "
                f"System({system!r}, {system!r}), or a line-up: line_up('bcc17')"
            )
    if not systems:
        raise ConfigError("systems: got none, expected one or more, such as line_up('bcc17')")
    return tuple(as_system(system) for system in systems)


def _pairs(pairs: Iterable[Sequence[str]]) -> tuple[tuple[str, str], ...]:
    return tuple((str(label), str(metric)) for label, metric in pairs)
