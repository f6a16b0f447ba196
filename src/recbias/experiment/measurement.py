"""One system or run, measured: by metrics under a protocol, with intervals, and user by user.

A model or run that is measured on a `Split` has the numbers that a grid gives it. Where there are
judgments alone, as in information retrieval, the list that a run gives is what is ranked.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from recbias._system.streams import stream
from recbias.data.datasets import registry
from recbias.data.datasets.liked import step_below_top
from recbias.data.datasets.tables import USUAL_NAMES, columns_by_role, plain_name
from recbias.data.features import load_features
from recbias.data.ratings import Ratings, RatingScale, checked_values, exact
from recbias.errors import ConfigError, DataError, MissingData, unknown_name
from recbias.experiment.cells import one_thread, rank_seed
from recbias.experiment.grid import check_metric, check_unscored, listed
from recbias.experiment.pairs import TESTS, Difference, Pairs, over_resamples, over_users
from recbias.experiment.reduction import (
    FoldPart,
    by_kind,
    combine_folds,
    contributed,
    measure_lists,
    members,
    resampled_users,
)
from recbias.experiment.results import Quantity
from recbias.experiment.run import check_data
from recbias.metrics import Metric, MetricName, parse_metric
from recbias.metrics import measure as measure_ranks
from recbias.metrics.aggregation import contributions
from recbias.protocol.protocol import Protocol
from recbias.protocol.splits import Split
from recbias.protocol.targets import Targets, popularity_groups
from recbias.ranking import LISTED, RankTable, look_at_scored, rank_once, rank_unscored, tie_counts
from recbias.recommenders.elsewhere import ScoreTable, is_trec, read_cells, read_scores
from recbias.theory import relevant_counts

__all__ = ["Measurement", "judgments_of", "measure", "run_of"]

_OF_LISTS = ("ILD", "Diversity")
"""Metrics of listed items that need neither training ratings nor the catalogue."""
_QRELS = ("user", "iteration", "item", "rating")
_NAMES_OF_RETRIEVAL = {
    "user": ("query_id", "qid", "q_id"),
    "item": ("doc_id", "docno", "docid"),
    "rating": ("relevance", "rel", "label"),
}
"""What ir_measures, PyTerrier, ranx and TREC call columns that have no usual name."""

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Measurement:
    """Values of one system or run, with their intervals.

    Attributes
    ----------
    protocol : Protocol
        Under which it was measured.
    values : DataFrame
        A row per metric: ``metric``, ``value``, 95 % interval ``low`` to ``high`` and standard
        error ``se`` from resampled users (NaN where a metric has none), and ``n_users``, the users
        that carry the value.
    per_user : DataFrame
        ``user_id``, and a column for each metric that has a value for every user: those of the
        population, in the order of their ids. NaN where a metric is undefined, which counts as 0 in
        the mean of a metric from ranks. Under 1R the mean of a user's runs.
    about : str
        Whom it is about, in words.
    seed : int
        Of ties, samples and resampling.

    Examples
    --------
    >>> both = [measure({1: {7: 0.9, 8: 0.8}}, {1: {8: 1}, 2: {7: 1}}, "P@1"),
    ...         measure({1: {7: 0.2, 8: 0.8}}, {1: {8: 1}, 2: {7: 1}}, "P@1")]
    >>> (both[1]["P@1"] - both[0]["P@1"]).value
    0.5
    """

    protocol: Protocol
    values: pd.DataFrame
    per_user: pd.DataFrame
    about: str
    seed: int
    _quantities: Mapping[str, Quantity] = field(default_factory=dict)

    def __getitem__(self, metric: str | Metric | MetricName) -> Quantity:
        """Return the value of a metric with its replicates.

        Replicate j of all that has the same users and seed comes from the same draw: a difference
        of two systems has a paired interval.

        Raises
        ------
        ConfigError
            If it was not measured.
        """
        text = str(parse_metric(metric))
        if text not in self._quantities:
            raise ConfigError(f"not measured: {text}; there is {', '.join(self._quantities)}")
        return self._quantities[text]

    def difference(
        self,
        other: Measurement,
        metric: str | Metric | MetricName | None = None,
        *,
        test: str = "t",
    ) -> Difference:
        """Compare two systems or runs on the same users, with interval and p.

        Parameters
        ----------
        other
            What was measured of the other one, by the same protocol, test ratings and seed.
        metric
            Need not be named where there is one.
        test
            ``"t"``, ``"wilcoxon"`` or ``"sign"``, over users.

        Returns
        -------
        Difference
            Positive if this one, the first, has more. What is no plain mean over users (a median, a
            metric of the system as a whole) is tested by resampled users.

        Raises
        ------
        ConfigError
            If they are of other users, another protocol or seed; for an unknown metric or test.

        Examples
        --------
        >>> judgments = {1: {8: 1}, 2: {7: 1}, 3: {7: 1}}
        >>> first = measure({1: {8: 2, 7: 1}, 2: {7: 1}, 3: {7: 1}}, judgments, "RR")
        >>> first.difference(measure({1: {8: 1, 7: 2}, 2: {7: 1}, 3: {7: 1}}, judgments, "RR"))
        RR: first - second = +0.1667 [-0.5504, 0.8838], p = .4226 (paired t, 3 users)
        """
        if metric is None and len(self._quantities) > 1:
            raise ConfigError(f"difference: of which metric? {', '.join(self._quantities)}")
        text = next(iter(self._quantities)) if metric is None else str(parse_metric(metric))
        both = self[text], other[text]
        if test not in TESTS:
            raise unknown_name("test", test, TESTS)
        unlike = {
            "protocol": str(self.protocol) != str(other.protocol),
            "seed": self.seed != other.seed,
            "users": not self.per_user["user_id"].equals(other.per_user["user_id"]),
        }
        if any(unlike.values()):
            named = ", ".join(name for name, differs in unlike.items() if differs)
            raise ConfigError(f"difference: unlike {named}\nmeasure both alike")
        if self.protocol.averaging.is_plain and text in self.per_user:
            values = pd.concat([self.per_user[text], other.per_user[text]], axis=1)
            is_mean_of_all = parse_metric(text).kind == "ranks"
            values = values.fillna(0.0) if is_mean_of_all else values.dropna()
            these, those = (Pairs(side, None) for side in values.to_numpy(dtype=np.float64).T)
            answer = over_users(these, those, test)
        else:
            answer = over_resamples(*both, len(self.per_user))
        gap = both[0].value - both[1].value
        label = str(self.protocol)
        numbers = answer.difference, answer.low, answer.high, answer.p
        return Difference(
            "first", "second", label, text, *numbers, answer.n_users, answer.test, gap,
            names_label=False,
        )  # fmt: skip

    def __repr__(self) -> str:
        width = max(map(len, self._quantities))
        lines = [f"{self.protocol}; {self.about}"]
        for name, quantity in self._quantities.items():
            low, high = quantity.limits or (np.nan, np.nan)
            ends = "" if np.isnan(low) else f"  {low:.4f} to {high:.4f}"
            lines.append(f"{name:{width}}  {quantity.value:.4f}{ends}")
        return "\n".join(lines)


class _Ranked(NamedTuple):
    """Where the test ratings of a split stand, and what else metrics ask for."""

    split: Split
    table: RankTable
    lists: npt.NDArray[np.int32] | None
    relevant_counts: npt.NDArray[np.int64] | None
    about: str


def measure(
    system: Any,
    test: Split | pd.DataFrame | Mapping[Any, Mapping[Any, float]] | str | Path,
    metrics: Sequence[str | Metric | MetricName] | str | Metric | MetricName = ("P@10", "nDCG@10"),
    *,
    protocol: str | Protocol | None = None,
    train: Any = None,
    features: Any = None,
    seed: int = 1,
) -> Measurement:
    r"""Measure a fitted model, or a run, on a split or by judgments.

    Parameters
    ----------
    system
        A model that is fitted on ``test.train``: anything with ``score``, see
        `recbias.recommenders.Recommender`. Or a run, of scores or ranks: a DataFrame with the
        columns ``user_id``, ``item_id`` and ``score`` or ``rank`` (``query_id`` and ``doc_id``,
        ``qid`` and ``docno`` too), a dictionary ``{user: {item: score}}``, or a file: CSV, TSV,
        Parquet, or else in TREC's format. What is not in a run has no score.
    test
        A `Split`. Or judgments: a DataFrame with the columns ``user_id``, ``item_id`` and
        ``rating`` (or ``query_id``, ``doc_id``, ``relevance``), a dictionary
        ``{user: {item: rating}}``, or a file: a table as above, or else qrels of TREC.
    metrics
        Texts such as ``"P@10"``, or objects of `recbias.metrics` such as ``P @ 10``.
    protocol
        Text of a `Protocol`. If not given, all items that are not in training are ranked, and
        relevant is what is rated 4 of 5 stars (on other scales, one step below the top) or better:
        what ``recbias measure`` takes. Of judgments: ``"AI-AN-AR rel>=1"``.
    train
        Training ratings, in a form that judgments may have: `test` are then the test ratings of
        your own split.
    features
        For metrics such as ``"ILD@10"``: a table of items and their features, as a path or
        DataFrame, see :func:`recbias.data.features.load_features`.
    seed
        Names the order of ties, samples and resampled users.

    Returns
    -------
    Measurement
        On a split to the last bit what `recbias.run` gives for the same system, split and seed.

    Raises
    ------
    ConfigError
        If the protocol or a metric cannot be read, or they do not go together; if judgments lack
        what they ask for: training ratings, or the catalogue; if nothing is relevant.
    DataError
        If columns cannot be told, a pair is there twice, a number is none, a run is empty, has an
        item of the user's training ratings in a list, or users or items that the split does not
        have; if no user of a run has judgments.
    MissingData
        If there is no such file.
    ContractError, ScoreError
        If scores are not what a model is to return.

    Notes
    -----
    By judgments, as trec_eval (with ``-c``) and ir_measures count: items without judgment are not
    relevant; users are those with judgments, and one of them who is not in the run counts with 0;
    users of the run without judgments are left out, which `Measurement.about` says. Equal scores
    are in a seeded random order, the same for all runs; trec_eval puts the later document number
    first. Ranks of a run in TREC's format order what its scores leave equal; trec_eval does not
    read them.

    Examples
    --------
    >>> from recbias.metrics import RR, P, nDCG
    >>> run = pd.DataFrame({"user_id": [1, 1, 2, 2], "item_id": list("abab"),
    ...                     "score": [0.9, 0.1, 0.3, 0.4]})
    >>> judgments = pd.DataFrame({"user_id": [1, 2, 3], "item_id": list("aab"),
    ...                           "rating": [2, 1, 1]})
    >>> measure(run, judgments, [P @ 1, RR, nDCG("linear") @ 2])
    AI-AN-AR rel>=1; 3 users with judgments, of whom 1 is not in the run and counts with 0
    P@1             0.3333  0.0000 to 1.0000
    RR              0.5000  0.0000 to 1.0000
    nDCG(linear)@2  0.5436  0.0000 to 1.0000

    A model on a split:

    >>> from recbias import System, load_dataset
    >>> from recbias.protocol.testset import dataset_splits
    >>> (split,) = dataset_splits(load_dataset("world(users=60,items=80)"), "ratio 0.2", seed=1)
    >>> popular = System("Popularity", "Popularity").build().fit(split.train)
    >>> measure(popular, split, "P@5").per_user.columns.tolist()
    ['user_id', 'P@5']
    """
    texts = listed("metrics", metrics, "P@10")
    if isinstance(texts, Mapping):
        raise ConfigError(f"metrics: got {metrics!r}, expected one or more, such as ('P@10',)")
    parsed = [parse_metric(text) for text in texts]
    if len(set(parsed)) < len(parsed):
        raise ConfigError(f"metrics: each once, got {', '.join(map(str, parsed))}")
    stream(seed)  # refuses what is no seed before anything is read
    design = None
    if protocol is not None:
        design = protocol if isinstance(protocol, Protocol) else Protocol.parse(protocol)
    if train is not None:
        test = _own_split(train, test)
    if isinstance(test, Split):
        design, ranked = _by_split(system, test, parsed, design, seed)
    else:
        design, ranked = _by_judgments(system, test, parsed, design, seed)
    split, table, minimum = ranked.split, ranked.table, design.min_rating
    asks = next((metric for metric in parsed if metric.declaration.features), None)
    if asks and features is None:
        raise ConfigError(
            f"{asks}: it looks at features of items\ngive a table of these: "
            "measure(..., features='items.csv')"
        )
    of_features = load_features(features, split.train) if asks else None
    of_ranks, of_items, of_system = by_kind(parsed)
    n_units = len(table.user) if table.per == "run" else table.n_users
    values = np.empty((0, n_units))
    if of_ranks:
        values = measure_ranks(
            table, of_ranks, min_rating=minimum, condensed=design.condensed,
            rating_max=split.test.scale.maximum, relevant_counts=ranked.relevant_counts,
        )  # fmt: skip
    member = members(table, design) if of_system else np.zeros(table.n_users, dtype=bool)
    item_values, of_all, moved = measure_lists(
        ranked.lists, split.train, of_items, of_system, member,
        min_rating=minimum, features=of_features,
    )  # fmt: skip
    columns, medians = contributed(table, values, item_values if of_items else None, design)
    part = FoldPart(columns, medians, of_all, moved, member, None, {}, None, {})
    weights = resampled_users(table.n_users, seed)
    numbers, drawn = combine_folds(design, parsed, [part], weights)
    by_user = dict(zip(of_ranks, _user_values(table, values), strict=True))
    by_user |= dict(zip(of_items, item_values, strict=True))
    carries = _carries(table, design)
    per_user = pd.DataFrame({"user_id": split.test.user_ids[carries]}).assign(
        **{str(metric): by_user[metric][carries] for metric in parsed if metric in by_user}
    )
    ends = numbers[["value", "low", "high"]].to_numpy(dtype=np.float64).tolist()
    quantities = {
        str(metric): Quantity(value, replicates, metric.declaration.interval, (low, high))
        for metric, replicates, (value, low, high) in zip(parsed, drawn, ends, strict=True)
    }
    numbers.insert(0, "metric", list(quantities))
    numbers = numbers.drop(columns="fold_sd")
    return Measurement(design, numbers, per_user, ranked.about, seed, quantities)


def _needs_split(what: object, lack: str) -> ConfigError:
    return ConfigError(
        f"{what}: it {lack}, which a run and judgments do not tell\n"
        "measure on a Split, whose training ratings and items are known"
    )


def _user_values(table: RankTable, values: FloatArray) -> FloatArray:
    """Give a value per user: of runs their mean, NaN without any."""
    if table.per == "user":
        return values
    runs = np.bincount(table.user, minlength=table.n_users)
    sums = [np.bincount(table.user, row, minlength=table.n_users) for row in values]
    shape = len(values), table.n_users
    return np.divide(np.reshape(sums, shape), runs, out=np.full(shape, np.nan), where=runs > 0)


def _carries(table: RankTable, design: Protocol) -> npt.NDArray[np.bool_]:
    """Tell who is averaged over."""
    nothing = np.zeros((1, len(table.user) if table.per == "run" else table.n_users))
    columns = contributions(
        table, nothing, dataclasses.replace(design.averaging, statistic="mean"),
        min_rating=design.min_rating, condensed=design.condensed, group=table.group,
        n_groups=design.rule.n_groups or 1,
    )  # fmt: skip
    return np.asarray(columns[1::2].any(axis=0))


# -- a split -------------------------------------------------------------------------------------


def _by_split(
    system: Any, split: Split, metrics: Sequence[Metric], design: Protocol | None, seed: int
) -> tuple[Protocol, _Ranked]:
    """Rank the test ratings of a split as a grid does."""
    if design is None:
        info = registry().get(split.test.name)
        least = info.relevant_from if info is not None else None
        if least is None:
            given = np.concatenate([split.train.value, split.test.value])
            least = step_below_top(split.test.scale, given)
        design = Protocol.parse(f"AI-AN-AR rel>={exact(least)}")
    check_unscored(design, str(design))
    for metric in metrics:
        check_metric(metric, design, str(design))
    check_data(design, metrics, split.test, f"the test of {split.test.name}")
    model = system
    if isinstance(system, type) or not callable(getattr(system, "score", None)):
        model = run_of(system).fitted(split.train)
    rule, seed_of_ties = design.rule, rank_seed(seed, split.fold)
    groups = popularity_groups(split.train, rule.n_groups) if rule.n_groups is not None else None
    sampled = [Targets(rule, design.min_rating)] if rule.others == "NN" else []
    with one_thread():
        positions, tables = rank_once(
            model, split, groups=groups, sampled=sampled, seed=seed_of_ties
        )
        if design.unscored != "none":
            # What is last has one score: it is in the order of ties, which is the random one.
            policy = "random" if design.unscored == "last" else design.unscored
            scored = look_at_scored(model, split.train)
            below = rank_unscored(scored, split, policy, groups=groups, seed=seed_of_ties)
            positions = positions.with_below(below)
        if any("ties" in dict(metric.given) for metric in metrics):
            positions = dataclasses.replace(positions, ties=tie_counts(model, split))
    if sampled:
        (table,) = tables
    else:
        table = positions.table(rule, min_rating=design.targets.min_rating)
    if design.averaging.asks_for_training:
        table = dataclasses.replace(table, trained=split.train.user_counts())
    lists = None
    if any(metric.kind != "ranks" for metric in metrics):
        lists = positions.lists(rule.candidates, LISTED)
    counts = relevant_counts(split, min_rating=design.min_rating)
    about = f"{split.rule}, fold {split.fold + 1}, {len(split.test):,} test ratings"
    return design, _Ranked(split, table, lists, counts, about)


# -- judgments -----------------------------------------------------------------------------------


def _by_judgments(
    system: Any, test: Any, metrics: Sequence[Metric], design: Protocol | None, seed: int
) -> tuple[Protocol, _Ranked]:
    """Rank judgments by the lists of a run."""
    design = design or Protocol.parse("AI-AN-AR rel>=1")
    rule = design.rule
    plain = rule.relevant == "AR" and rule.others == "AN" and not rule.with_train
    if not plain or design.unscored != "none" or design.averaging.asks_for_training:
        raise _needs_split(design, "forms its lists from training ratings or from all items")
    for metric in metrics:
        check_metric(metric, dataclasses.replace(design, condensed=False), str(design))
        samples = {name for name, _ in metric.given} & {"t", "N", "ties"}
        needs_more = metric.kind != "ranks" and metric.name not in _OF_LISTS
        if needs_more or metric.name in ("SR", "rho") or samples:
            raise _needs_split(metric, "asks for training ratings or for all items")
    judged = judgments_of(test)
    if not isinstance(system, type) and callable(getattr(system, "score", None)):
        raise _needs_split(type(system).__name__, "scores items by the numbers of its training")
    check_data(design, (), judged, judged.name)
    scores = run_of(system)
    users, items = scores.known_places(judged)
    rows = scores.rows
    if (users < 0).all():
        raise DataError(
            f"no user of the run has judgments: the run has {rows['user'].iloc[0]}, the judgments "
            f"{judged.user_ids[0]}\nwrite the ids of users alike in both"
        )
    codes, strange = pd.factorize(rows["item"][items < 0])
    items[items < 0] = judged.n_items + codes
    labels = np.concatenate([judged.item_ids.astype(str), np.asarray(strange, dtype=str)])
    known = dataclasses.replace(judged, item_ids=labels)
    scores.refuse_twice(users, items, known.n_items)
    lists = _listed_items(scores, users, items, known.n_users, seed)
    nothing = known.take(np.zeros(len(known), dtype=bool))
    split = Split(nothing, known, np.unique(known.item), 0, "judgments")
    table = RankTable.from_lists(lists, split, candidates=rule.candidates)
    split = dataclasses.replace(split, test=judged)
    n_absent = int((lists[:, :1] < 0).sum()) if lists.size else known.n_users
    n_left_out = rows["user"][users < 0].nunique()
    about = f"{known.n_users:,} user{'s' * (known.n_users != 1)} with judgments"
    if n_absent:
        verbs = "is not in the run and counts" if n_absent == 1 else "are not in the run and count"
        about += f", of whom {n_absent:,} {verbs} with 0"
    if n_left_out:
        about += f"; {n_left_out:,} of the run without judgments left out"
    longest = lists.shape[1]
    if too_deep := [str(each) for each in metrics if each.cutoff and each.cutoff > longest]:
        about += f"; no list has more than {longest:,} items, fewer than {', '.join(too_deep)} asks"
    of_lists = any(metric.kind != "ranks" for metric in metrics)
    return design, _Ranked(split, table, lists.astype(np.int32) if of_lists else None, None, about)


def _listed_items(
    scores: ScoreTable,
    users: npt.NDArray[np.int64],
    items: npt.NDArray[np.int64],
    n_users: int,
    seed: int,
) -> npt.NDArray[np.int64]:
    """Lay out the items of each user, best first, -1 behind the end; ties by a seeded number.

    The number follows from user and item alone, so that two runs break the tie of a pair alike.
    """
    codes, labels = pd.factorize(scores.rows["item"])
    secret = stream(seed, "rank", "ties").integers(2**64, size=n_users, dtype=np.uint64)
    tie = pd.util.hash_array(np.asarray(labels, dtype=object))[codes] ^ secret[users]
    for factor in (0xBF58476D1CE4E5B9, 0x94D049BB133111EB):  # the finaliser of splitmix64
        tie = (tie ^ (tie >> np.uint64(30))) * np.uint64(factor)
    kept = np.flatnonzero(users >= 0)
    kept = kept[np.lexsort((tie[kept], -scores.order[kept], users[kept]))]
    owner = users[kept]
    place = np.arange(len(owner)) - np.searchsorted(owner, owner)
    lists = np.full((n_users, int(place.max()) + 1), -1, dtype=np.int64)
    lists[owner, place] = items[kept]
    return lists


def run_of(system: Any) -> ScoreTable:
    """Read a run, whatever form it has."""
    if isinstance(system, str | Path):
        file = _existing(system)
        return read_scores(file, is_run=is_trec(file))
    frame = _table_of(system, "score")
    if frame is None:
        raise ConfigError(
            f"system: got {_called(system)}, expected a fitted model with score, or a run: a "
            "DataFrame, a dictionary {user: {item: score}} or a path\n"
            "a class or System is built and fitted first: system.build().fit(split.train)"
        )
    return read_scores(Path("run"), cells=_renamed(frame))


def _own_split(train: Any, test: Any) -> Split:
    """Join training and test ratings that a reader split."""
    if isinstance(test, Split):
        raise ConfigError("train: a Split has its own training ratings; give test ratings, or none")
    # A time that says which part a rating is of comes along when ratings are sorted.
    parts = [
        _rated(part, name).assign(part=n)
        for n, (name, part) in enumerate((("train", train), ("test", test)))
    ]
    try:
        both = Ratings.from_frame(
            pd.concat(parts, ignore_index=True),
            user="user",
            item="item",
            timestamp="part",
            name="your split",
        )
    except DataError as error:
        problem = str(error).splitlines()[0]
        raise DataError(f"{problem}\na rating is one of training or one of the test") from None
    tested = np.asarray(both.timestamp) == 1
    both = dataclasses.replace(both, timestamp=None)
    test_part = both.take(tested)
    return Split(both.take(~tested), test_part, np.unique(test_part.item), 0, "ready")


def judgments_of(test: Any) -> Ratings:
    """Read judgments, whatever form they have."""
    name = str(test) if isinstance(test, str | Path) else "judgments"
    rated = _rated(test, name)
    given = rated["rating"]
    # With room for others: all alike would be taken for data that say only what was seen.
    scale = RatingScale(min(0.0, given.min()), max(1.0, given.max()), 0)
    try:
        return Ratings.from_frame(rated, user="user", item="item", scale=scale, name=name)
    except DataError as error:
        raise DataError(f"{str(error).splitlines()[0]}\n{_ADVICE}") from None


def _rated(test: Any, name: str) -> pd.DataFrame:
    """Read user, item and rating, whatever form they have."""
    if isinstance(test, str | Path):
        file = _existing(test)
        frame = read_cells(file, _QRELS if is_trec(file) else ())
    elif (table := _table_of(test, "rating")) is not None:
        frame = table
    else:
        raise ConfigError(
            f"test: got {_called(test)}, expected a Split, or judgments: a DataFrame, a "
            "dictionary {user: {item: rating}} or the path of qrels"
        )
    frame = _renamed(frame)
    names = list(map(str, frame.columns))
    try:
        roles = columns_by_role(Path(name), names, {"timestamp": "none"}, "")
        if "rating" not in roles:
            raise DataError(f"{name}: no column of ratings; columns found: {', '.join(names)}")
        if plain_name(roles["rating"]) == "score" and "rank" in map(plain_name, names):
            raise DataError(f"{name}: columns score and rank are those of a run, which comes first")
        columns = frame.set_axis(names, axis="columns").reset_index(drop=True)
        columns = columns.rename(columns={column: role for role, column in roles.items()})
        if columns.empty:
            raise DataError(f"{name}: no judgment")
        rating = checked_values(columns["rating"], None, lambda row: f"{name}, row {row}")
    except DataError as error:
        raise DataError(f"{str(error).splitlines()[0]}\n{_ADVICE}") from None
    return columns[["user", "item"]].assign(rating=rating)


_ADVICE = "name the columns user_id, item_id and rating; each pair has one finite number"


def _called(given: Any) -> str:
    return f"class {given.__name__}" if isinstance(given, type) else type(given).__name__


def _existing(path: str | Path) -> Path:
    if not Path(path).is_file():
        raise MissingData(f"no file {path}\ngive the path of a run or of judgments, or the table")
    return Path(path)


def _table_of(given: Any, column: str) -> pd.DataFrame | None:
    """Give a DataFrame, or what other tools hold as one; None of anything else.

    That is a dictionary of dictionaries, what turns into one (ranx), or named tuples (ir_measures).
    """
    if isinstance(given, pd.DataFrame):
        return given
    if isinstance(given, list) and given and all(hasattr(row, "_fields") for row in given):
        return pd.DataFrame(given)
    if not isinstance(given, Mapping | type) and callable(getattr(given, "to_dict", None)):
        given = given.to_dict()
    if not isinstance(given, Mapping) or not all(isinstance(of, Mapping) for of in given.values()):
        return None
    rows = [(user, *pair) for user, of_user in given.items() for pair in of_user.items()]
    return pd.DataFrame(rows, columns=["user_id", "item_id", column])


def _renamed(frame: pd.DataFrame) -> pd.DataFrame:
    """Give columns the usual names that have those of information retrieval."""
    names = list(map(str, frame.columns))
    plain = {plain_name(name) for name in names}
    renamed = {}
    for role, known in _NAMES_OF_RETRIEVAL.items():
        there = next((name for name in known if name in names), None)
        if there is not None and not plain.intersection(USUAL_NAMES[role]):
            renamed[there] = role
    if {"user", "item"} <= set(renamed.values()):  # texts of queries and the like say nothing
        names = [name for name in names if name in renamed or name in ("score", "rank")]
        frame = frame.set_axis(list(map(str, frame.columns)), axis="columns")[names]
    return frame.set_axis([renamed.get(name, name) for name in names], axis="columns")
