"""The comparison under the reader's design and others, user by user, and what it hides."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from recbias.audit.sides import is_scores
from recbias.data.datasets import Dataset, load_dataset
from recbias.data.ratings import exact
from recbias.errors import ConfigError, DataError, DataWarning, TrainingError
from recbias.experiment.engine import Workers
from recbias.experiment.grid import Grid
from recbias.experiment.measurement import measure
from recbias.experiment.options import Options
from recbias.experiment.pairs import TESTS
from recbias.experiment.reduction import FoldPart, crossed_drawn, resampled_both
from recbias.experiment.run import Results, run
from recbias.experiment.users import reduced_systems
from recbias.metrics import Metric, parse_metric
from recbias.protocol.splits import Split, SplitRule
from recbias.recommenders import System
from recbias.recommenders.non_personalised import OracleRanking
from recbias.stats.comparison import holm, paired_t, resampled_tests
from recbias.stats.resampling import interval

__all__ = [
    "CHANCE",
    "DEPTHS",
    "HEADLESS",
    "SAMPLES",
    "SERVED",
    "Case",
    "Comparison",
    "Difference",
    "asked",
    "beside",
    "cases",
    "compared",
    "enough",
    "hidden",
    "lead",
    "optimum",
    "other_seeds",
    "over_whom",
    "sampled",
    "strongest",
    "thirds",
]

DEPTHS = (20, 50, 100, 200, 500, 1000)
"""Sizes of samples of candidates that are held against all items."""

HEADLESS = "without the most popular tenth of the items"
"""How the design is called that leaves out the head."""

CHANCE = "Random"
"""How the system is called that chance is."""

BESIDE = (
    (CHANCE, "Random"),
    ("Popularity", "Popularity"),
    ("Positive counts", "RelevantPopularity"),
)
"""What every comparison is seen beside: names and algorithms."""

FUTURE = "temporal 0.2"
"""The split that trains on the past and tests on the future."""

_SAME = 1e-9
"""Below which two values are one, but for what sums leave in their last digits."""

FloatArray = npt.NDArray[np.float64]


class Case(NamedTuple):
    """One design: what a reader calls it, protocol, metric, test side, and split if another."""

    words: str
    protocol: str
    metric: str
    test: str = "observed"
    split: str = ""


class Difference(NamedTuple):
    """How far A is ahead of B, in the direction in which more is better."""

    lead: float
    low: float
    high: float
    p: float
    n_users: int
    test: str


@dataclass(frozen=True)
class Comparison:
    """Two systems on a reader's data, the reader's own design, and where it is computed."""

    dataset: Any
    pair: tuple[System, System]
    design: Options
    workers: Workers = 1
    data_dir: Path | None = None

    @property
    def own(self) -> Case:
        """The reader's own design."""
        design = self.design
        return Case("your own design", str(design.protocol), str(design.measured), str(design.test))

    @property
    def depth(self) -> int:
        """How many items of a list are looked at."""
        return self.design.metric.cutoff or 10

    @property
    def rel(self) -> str:
        """From which rating an item is liked, as protocols have it."""
        return f"rel>={exact(self.design.protocol.min_rating)}"

    def run(
        self, case: Case, metrics: Sequence[str] = (), *,
        systems: Sequence[System] = (), design: Options | None = None,
    ) -> Results:  # fmt: skip
        """Measure the pair, or other systems, under one design, whose label is ``"case"``."""
        design = design or self.design
        if case.split:
            design = dataclasses.replace(design, split=SplitRule.parse(case.split))
        grid = asked(self.dataset, systems or self.pair, design, case, metrics or (case.metric,))
        return run(grid, workers=self.workers, data_dir=self.data_dir)

    def lead(self, results: Results, metric: str) -> Difference:
        """Say how far the first system of the pair is ahead, positive where it is better."""
        return lead(results, self.pair, metric)


def cases(design: Options, *, whole_lists: bool, all_liked: bool = False) -> list[Case]:
    """Name the reader's design and others, each of which a paper of the book argues for.

    Most of these count hits (P): where the reader's metric is another one, so does the second.

    Parameters
    ----------
    design
        The reader's own.
    whole_lists
        Whether both systems have a score for every item; lists that were cut off answer neither
        what looks at test items alone, nor samples.
    all_liked
        Whether every rating is a like, so that there are no misses and nobody can win among what
        the user rated.
    """
    rel = f"rel>={exact(design.protocol.min_rating)}"
    depth = design.metric.cutoff or 10
    full = f"AI-AN-AR {rel}"
    misses = [Case("rated below a like and shown, fewer are better", full, f"antiP@{depth}")]
    condensed = [Case("only what the user rated is ranked", f"{full} condensed", f"P@{depth}")]
    if all_liked:
        misses, condensed = [], []
    found = [
        Case("your own design", str(design.protocol), str(design.measured), str(design.test)),
        Case(
            f"your own design, by P@{depth}", str(design.protocol), f"P@{depth}", str(design.test)
        ),
        Case("likes found near the top count more", full, f"nDCG@{depth}"),
        *misses,
        Case("users with nothing to find left out", f"{full} users=relevant", f"P@{depth}"),
        Case(HEADLESS, full, f"P@{depth}", "observed head=10%"),
        Case(
            "trained on the past, tested on the future", full, f"P@{depth}",
            split="" if str(design.split) == FUTURE else FUTURE,
        ),
    ]  # fmt: skip
    if whole_lists:
        found += [
            *condensed,
            Case("items of the same popularity only (P1R)", f"AI-AN-P1R m=10 {rel}", f"P@{depth}"),
        ]
    own = found[0]
    others = [case for case in found[1:] if case[1:] != own[1:]]
    return [own, *others]


def compared(asks: Comparison, chosen: Sequence[Case]) -> list[dict[str, Any]]:
    """Measure both systems, and those that they are seen beside, under each design.

    Returns
    -------
    list of dict
        Of each design its words, protocol, metric, ``split`` if it is another than the reader's,
        and whether more is better; ``values`` by system: value, low, high; ``lead`` of the first
        system, as `Difference`. Of the reader's own ``beside``: the leads of both (``a``, ``b``)
        over what needs no model. Or the ``reason`` why it cannot be measured on these data.
    """
    scored = " and ".join(system.name for system in asks.pair if is_scores(system))
    systems = [*asks.pair, *beside(asks.pair, asks.design)]
    rows = []
    for case in chosen:
        row: dict[str, Any] = {
            "design": case.words,
            "protocol": case.protocol,
            "test": case.test,
            "metric": case.metric,
            "split": case.split,
            "more is better": parse_metric(case.metric).declaration.better == "higher",
        }
        if case.split and scored:
            rows.append({**row, "reason": f"the scores of {scored} are of your own split alone"})
            continue
        try:
            with _called(case.words if case is not chosen[0] else ""):
                results = asks.run(case, systems=systems)
            _refuse_left_out(results, asks.pair)
        except (ConfigError, DataError, TrainingError) as error:
            if case is chosen[0]:
                raise
            rows.append({**row, "reason": str(error).partition("\n")[0]})
            continue
        ahead = asks.lead(results, case.metric)
        row["values"] = _values(results, asks.pair, case.metric, ahead)
        row["lead"] = ahead._asdict()
        if case is chosen[0]:
            row["beside"] = [
                {
                    "system": system.name,
                    **{side: lead(results, (of, system), case.metric)._asdict()
                       for side, of in zip("ab", asks.pair, strict=True)},
                }
                for system in systems[2:]
                if system.name != CHANCE and system.name not in results.left_out
            ]  # fmt: skip
        rows.append(row)
    return rows


@contextmanager
def _called(words: str) -> Iterator[None]:
    """Put the words of a design before what is said of it; without words leave it as it is."""
    with warnings.catch_warnings(record=True) as caught:
        yield
    for each in caught:
        named = words and issubclass(each.category, DataWarning)
        message = each.category(f"{words}: {each.message}") if named else each.message
        warnings.warn_explicit(message, each.category, each.filename, each.lineno)


def _values(
    results: Results, pair: Sequence[System], metric: str, ahead: Difference
) -> dict[str, list[float]]:
    """Give value, low and high of each system, of the average that the lead is of.

    Where runs count, or users in some folds alone, a value takes them together, and the lead is a
    mean over users all the same. A page that had both would contradict itself, so that values are
    means over users there too, and their intervals those of t.
    """
    values = {
        str(name): [float(row["value"]), float(row["low"]), float(row["high"])]
        for name, row in results.table("case", metric).to_dict("index").items()
    }
    gap = abs(values[pair[0].name][0] - values[pair[1].name][0])
    weighed = results.grid.parsed["case"].averaging.weights
    if weighed or ahead.test != TESTS["t"] or abs(gap - abs(ahead.lead)) <= _SAME:
        return values
    frame = results.per_user(metric, "case")
    for name, of_users in frame.groupby("system", observed=True)["value"]:
        users = of_users.dropna().to_numpy()
        if len(users) > 1:
            of_t = paired_t(users, np.zeros(len(users)))
            values[str(name)] = [float(n) for n in (of_t.difference, of_t.low, of_t.high)]
    return values


def lead(results: Results, pair: tuple[System, System], metric: str) -> Difference:
    """Say how far the first system is ahead, positive where it is better."""
    found = results.difference(pair[0].name, pair[1].name, metric, "case")
    sign = 1 if parse_metric(metric).declaration.better == "higher" else -1
    low, high = sorted((sign * found.low, sign * found.high))
    return Difference(sign * found.difference, low, high, found.p, found.n_users, found.test)


def beside(pair: Sequence[System], design: Options) -> list[System]:
    """Name what a pair is seen beside."""
    taken = {system.name for system in pair}
    least = {"RelevantPopularity": {"min_rating": design.protocol.min_rating}}
    return [
        System(name, algorithm, least.get(algorithm, {}))
        for name, algorithm in BESIDE
        if name not in taken
    ]


def asked(
    dataset: str, systems: Sequence[System], design: Options, case: Case, metrics: Sequence[str]
) -> Grid:
    """Ask for systems under one design, whose label is ``"case"``."""
    return Grid(
        dataset,
        tuple(systems),
        {"case": case.protocol},
        tuple(metrics),
        split=str(design.split),
        seed=design.seed,
        tests={"case": case.test},
        select=str(design.select),
    )


def _refuse_left_out(results: Results, pair: Sequence[System]) -> None:
    for system in pair:
        if reason := results.left_out.get(system.name):
            raise TrainingError(f"{system.name} cannot be trained on these data: {reason}")


def strongest(
    asks: Comparison, baselines: Sequence[System]
) -> tuple[System, dict[str, float], list[dict[str, Any]]]:
    """Choose the best baseline under the reader's design; say how far A is ahead of each.

    Returns
    -------
    best : System
    values : dict of str to float
        Of all baselines; NaN where one cannot be trained on these data.
    rows : list of dict
        Of each that can its name (``baseline``) and ``value``, how far A is ahead, as `Difference`,
        and ``p_holm``, corrected for their number; the best comes first.
    """
    first = asks.pair[0]
    rivals = tuple(system for system in baselines if system.name != first.name)
    results = asks.run(asks.own, systems=(first, *rivals))
    _refuse_left_out(results, (first,))
    values = {
        system.name: results[system.name, "case", asks.own.metric].value
        if system.name not in results.left_out
        else np.nan
        for system in rivals
    }
    known = [name for name, value in values.items() if not np.isnan(value)]
    if not known:
        reasons = [f"{name}: {reason}" for name, reason in results.left_out.items()]
        raise TrainingError(
            "none of the baselines has a value on these data, so that nobody can be beaten\n"
            + "\n".join(reasons[:3] or ["name one: --b SIDE"])
        )
    more = asks.design.metric.declaration.better == "higher"
    best = (max if more else min)(known, key=lambda name: values[name])
    rows: list[dict[str, Any]] = [
        {
            "baseline": name,
            "value": values[name],
            **lead(results, (first, rival), asks.own.metric)._asdict(),
        }
        for rival in rivals
        if (name := rival.name) in known
    ]
    p = np.array([row["p"] for row in rows], dtype=np.float64)
    corrected = np.full(len(rows), np.nan)
    corrected[~np.isnan(p)] = holm(p[~np.isnan(p)])
    rows = [{**row, "p_holm": each} for row, each in zip(rows, corrected.tolist(), strict=True)]
    rows.sort(key=lambda row: row["value"], reverse=more)
    return next(system for system in rivals if system.name == best), values, rows


def optimum(splits: Sequence[Split], design: Options) -> float | None:
    """Measure the best ranking that is the same for everybody, from the test ratings themselves.

    Parameters
    ----------
    splits
        The folds.
    design
        Of full lists, and plain means over users; others have no such ranking.
    """
    metric, protocol = design.metric, design.protocol
    mean = not protocol.averaging.weights and protocol.averaging.statistic == "mean"
    full = str(protocol.rule) in ("AI-AN-AR", "TI-AN-AR") and not protocol.condensed
    if metric.name not in ("P", "antiP") or not full or not mean:
        return None
    values = []
    for split in splits:
        best = OracleRanking(
            split.test, "P" if metric.name == "P" else "antiP",
            min_rating=design.protocol.min_rating,
        )  # fmt: skip
        best.fit(split.train)
        measured = measure(best, split, str(metric), protocol=design.protocol, seed=design.seed)
        values.append(measured[str(metric)].value)
    return float(np.mean(values))


_LISTS = ("judged", "antiP", "Served", "ARP", "Coverage", "Gini")


def over_whom(asks: Comparison, case: Case) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Test the lead under a design over other users, over other items, and over both.

    Names the items that make it, too.

    Users and items are drawn again, apart, as :func:`recbias.stats.resampling.crossed_sums` has it.

    Returns
    -------
    rows : list of dict
        ``over`` whom, ``lead``, its 95 % interval ``low`` to ``high`` and two-sided ``p``.
    items : list of dict
        The three ``item`` that give A most and the three that give B most, with what each ``gives``
        to the lead, which is the sum over all items.

    Raises
    ------
    ConfigError
        If the metric is no sum over test ratings.
    """
    metric = case.metric
    grid = dataclasses.replace(
        asked(asks.dataset, asks.pair, asks.design, case, (metric,)), crossed=(("case", metric),)
    )
    dataset = load_dataset(asks.dataset, data_dir=asks.data_dir)
    n_users, n_items = dataset.ratings.n_users, dataset.ratings.n_items
    value = asks.lead(asks.run(case), metric).lead
    sign = 1 if parse_metric(metric).declaration.better == "higher" else -1
    first, second = (
        [fold["case"] for fold in folds]
        for _, folds in reduced_systems(grid, dataset, data_dir=asks.data_dir)
    )
    users, items = resampled_both(n_users, n_items, grid.seed)
    sizes = {"users": n_users, "items": n_items, "both": min(n_users, n_items)}
    rows = []
    for over, size in sizes.items():
        weights = (
            np.ones_like(users) if over == "items" else users,
            np.ones_like(items) if over == "users" else items,
        )
        a, b = (crossed_drawn(grid, "case", parts, *weights)[metric] for parts in (first, second))
        ahead = sign * (a - b)
        low, high = interval(ahead) if size > 1 else (np.nan, np.nan)
        p = resampled_tests(value, ahead, size)[1] if size > 1 else np.nan
        rows.append(
            {"over": over, "lead": value, "low": float(low), "high": float(high), "p": float(p)}
        )
    gives = sign * (_of_items(first, n_items) - _of_items(second, n_items))
    order = np.argsort(-gives, kind="stable")
    named = [
        {"item": str(dataset.ratings.item_ids[item]), "gives": float(gives[item])}
        for item in dict.fromkeys((*order[:_ITEMS].tolist(), *order[-_ITEMS:].tolist()))
        if abs(gives[item]) > _SAME
    ]
    return rows, named


_ITEMS = 3
"""How many items are named that give most to either side."""


def _of_items(folds: Sequence[FoldPart], n_items: int) -> FloatArray:
    """Part the value of a metric, a sum over test ratings, by their items."""
    total, n_counted = np.zeros(n_items), 0.0
    for pairs in (fold.pairs for fold in folds if fold.pairs is not None):
        total += np.bincount(pairs.item, pairs.values[0], minlength=n_items)
        n_counted += len(pairs.sizes[0])
    return total / max(n_counted, 1)


SAMPLES = "samples of candidates"
"""How warnings call what is measured among samples."""

SERVED = "users to whom both give a list"
"""How the part is called of users whom both serve."""


def hidden(asks: Comparison, splits: Sequence[Split]) -> dict[str, Any]:
    """Measure what accuracy hides: misses, what is unrated, coverage, concentration, the cold.

    Returns
    -------
    dict
        ``lists``: by metric the value of each system, those of chance and of popularity among
        them; ``users`` and ``items``: how far A is ahead among cold and other ones, or the reason
        why that cannot be told; ``tested``: users with test ratings, ``unserved``: to how many of
        them each of the pair gives no list.
    """
    depth = asks.depth
    full = Case("full lists", f"AI-AN-AR {asks.rel}", f"P@{depth}")
    systems = [*asks.pair, *beside(asks.pair, asks.design)]
    metrics = [f"{name}@{depth}" for name in _LISTS]
    results = asks.run(full, metrics, systems=systems)
    values = results.values
    lists = {
        metric: {
            row["system"]: row["value"]
            for row in values[values["metric"] == metric].to_dict("records")
        }
        for metric in metrics
    }
    parts = {
        "users with fewer than 5 training ratings": full._replace(
            protocol=f"{full.protocol} users=trained<5"
        ),
        "users with 5 or more": full._replace(protocol=f"{full.protocol} users=trained>=5"),
        "items with fewer than 5 training ratings": full._replace(test="observed items=trained<5"),
        "items with 5 or more": full._replace(test="observed items=trained>=5"),
    }
    ids = splits[0].test.user_ids
    tested = ids[np.unique(np.concatenate([split.test.user for split in splits]))]
    names = [system.name for system in asks.pair]
    served = results.per_user(f"Served@{depth}", "case", systems=names)
    has_list = served[served["value"] > 0]
    unserved = {
        name: int((~np.isin(tested, has_list["user_id"][has_list["system"] == name])).sum())
        for name in names
    }
    if any(unserved.values()):
        parts[SERVED] = full._replace(protocol=f"{full.protocol} coverage=reduced")
    told: dict[str, Any] = {}
    for words, case in parts.items():
        try:
            with _called(words):
                results = asks.run(case)
            told[words] = asks.lead(results, case.metric)._asdict()
        except (ConfigError, DataError) as error:
            told[words] = str(error).partition("\n")[0]
    return {
        "depth": depth,
        "lists": lists,
        "parts": told,
        "tested": len(tested),
        "unserved": unserved,
    }


def sampled(asks: Comparison, n_items: int) -> list[dict[str, Any]]:
    """Hold samples of candidates against all items: the expectation over all samples of a size.

    Returns
    -------
    list of dict
        ``t`` items in a sample (0: all), ``values`` of both, ``lead``. Of runs with one relevant
        item each (1R), as who samples evaluates; values and leads are means over users.
    """
    depth = asks.depth
    sizes = [t for t in DEPTHS if depth < t < n_items / 2]
    texts = [f"P@{depth}", *(f"P@{depth}|t={t}" for t in sizes)]
    case = Case("samples", f"AI-AN-1R {asks.rel}", texts[0])
    with _called(SAMPLES):
        results = asks.run(case, texts)
    return [
        {
            "t": t,
            "values": {
                name: numbers[0]
                for name, numbers in _values(results, asks.pair, text, ahead).items()
            },
            "lead": ahead._asdict(),
        }
        for t, text in zip((0, *sizes), texts, strict=True)
        for ahead in [asks.lead(results, text)]
    ]


def enough(rows: Sequence[Mapping[str, Any]]) -> int | None:
    """Give the smallest sample from which on the winner is that of all items; none if none is."""
    winner = np.sign(rows[0]["lead"]["lead"])
    found = None
    for row in sorted(rows[1:], key=lambda row: -row["t"]):
        if np.sign(row["lead"]["lead"]) != winner:
            break
        found = row["t"]
    return found


def thirds(results: Results, pair: tuple[System, System], metric: Metric, dataset: Dataset,
           min_rating: float) -> dict[str, Any]:  # fmt: skip
    """Tell who gains and who loses, by activity and by the popularity of what they like.

    Returns
    -------
    dict
        ``users``, with a value under both; shares who ``gain`` and ``lose``; by ``activity`` and
        ``popularity`` the mean difference of each third, its 95 % interval and the range of what
        orders it.
    """
    frame = results.per_user(str(metric), "case", systems=[system.name for system in pair])
    wide = frame.pivot(index="user_id", columns="system", values="value")
    sign = 1 if metric.declaration.better == "higher" else -1
    ratings = dataset.ratings
    wide = wide.reindex(ratings.user_ids)
    ahead = sign * (wide[pair[0].name] - wide[pair[1].name]).to_numpy(dtype=np.float64)
    known = ~np.isnan(ahead)
    liked = ratings.value >= min_rating
    n_liked = np.bincount(ratings.user[liked], minlength=ratings.n_users)
    popularity = np.bincount(
        ratings.user[liked], ratings.item_counts()[ratings.item[liked]], ratings.n_users
    )
    average = np.divide(
        popularity, n_liked, out=np.full(ratings.n_users, np.nan), where=n_liked > 0
    )
    return {
        "users": int(known.sum()),
        "gain": float((ahead[known] > 0).mean()) if known.any() else None,
        "lose": float((ahead[known] < 0).mean()) if known.any() else None,
        "activity": _by_third(ahead, ratings.user_counts().astype(np.float64)),
        "popularity": _by_third(ahead, average),
    }


_NAMES = ("least", "middle", "most")


def _by_third(ahead: FloatArray, order: FloatArray) -> list[dict[str, Any]]:
    known = np.flatnonzero(~np.isnan(ahead) & ~np.isnan(order))
    rows = []
    ranked = known[np.argsort(order[known], kind="stable")]
    for name, users in zip(_NAMES, np.array_split(ranked, 3), strict=True):
        if len(users) < 2:
            continue
        values = ahead[users]
        error = float(1.96 * values.std(ddof=1) / np.sqrt(len(values)))
        mean = float(values.mean())
        ends = float(order[users[0]]), float(order[users[-1]])
        rows.append(
            {"third": name, "users": len(users), "from": ends[0], "to": ends[1], "lead": mean,
             "low": mean - error, "high": mean + error}
        )  # fmt: skip
    return rows


def other_seeds(asks: Comparison, seeds: Sequence[int]) -> list[dict[str, Any]]:
    """Repeat the reader's design with other seeds: of split, training, ties and samples."""
    rows = []
    for seed in seeds:
        results = asks.run(asks.own, design=dataclasses.replace(asks.design, seed=seed))
        rows.append({"seed": seed, "lead": asks.lead(results, asks.own.metric)._asdict()})
    return rows
