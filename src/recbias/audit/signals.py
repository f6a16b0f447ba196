"""Warnings of an audit: each a rule with its threshold, fixed beforehand, and its evidence."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow.parquet

from recbias._system.places import cells_dir
from recbias.audit.comparison import CHANCE, Case, Comparison, Difference, asked, beside, lead
from recbias.audit.words import number_said, users_said
from recbias.data.datasets import Dataset
from recbias.data.ratings import exact
from recbias.errors import ConfigError, DataError
from recbias.experiment.options import Options
from recbias.experiment.run import Results
from recbias.protocol.leakage import leakage
from recbias.protocol.splits import Split
from recbias.recommenders import System
from recbias.recommenders.base import algorithm, is_own
from recbias.recommenders.elsewhere import FromScores

__all__ = [
    "NOTHING",
    "Signal",
    "asked_often",
    "dropped",
    "popular",
    "seen",
    "short",
    "tied",
    "timed",
    "untuned",
    "variations",
]


class Signal(NamedTuple):
    """What was looked for, whether it was found, the evidence, and where the book says more.

    ``told`` is False where these data or systems do not let it be looked for.
    """

    name: str
    fires: bool
    evidence: str
    chapter: str = ""
    told: bool = True


MOST_FUTURE = 0.05
"""Of the test ratings that may be older than what models learned of other users."""
FEWEST_SERVED = 0.95
"""Of the places of the lists that have to be filled."""
FEWEST_USERS = 0.95
"""Of the users who have test ratings that have to carry the values."""
MOST_SETTINGS = 10
"""Of one algorithm that may have been measured on the same folds before one speaks of tuning."""
MOST_SEEN = 0.75
"""Of the places that test ratings, or likes, could fill and chance leaves, that they may fill."""
OF_LEAD = 0.25
"""Share of A's lead that another setting of B, or another order of ties, may make up."""
NOTHING = 1e-12
"""Below which a lead is what sums leave in their last digits."""


def timed(dataset: Dataset, splits: Sequence[Split]) -> Signal:
    """Look for training ratings that are newer than what is tested."""
    name = "the future is in training"
    if dataset.ratings.timestamp is None:
        return Signal(name, False, "the data have no times", told=False)
    found = leakage(splits)
    return Signal(name, found.others > MOST_FUTURE, str(found), "07_offline_options")


def short(values: Mapping[str, Mapping[str, float]], depth: int, said: Sequence[str],
          systems: Sequence[System]) -> Signal:  # fmt: skip
    """Look for lists that end too early: sooner than random ones, which name all that is left."""
    name = "lists are too short"
    served = values[f"Served@{depth}"]
    least = min((system.name for system in systems), key=lambda called: served[called])
    text = f"{least} fills {served[least]:.1%} of the first {depth} places"
    possible = max(served.values())
    if possible < 1:
        text += f", of which {possible:.1%} can be filled"
    # What is said of scores from elsewhere begins so; of other warnings this is no evidence.
    starts = tuple(f"{system.name}: under " for system in systems)
    of_lists = [line for line in said if line.startswith(starts)]
    if of_lists:
        text = f"{of_lists[0]}; of whole lists {text}"
    fires = bool(of_lists) or served[least] < FEWEST_SERVED * possible
    return Signal(name, fires, text, "07_offline_options")


def dropped(results: Results, design: Options, splits: Sequence[Split],
            unserved: Mapping[str, int] | None = None) -> Signal:  # fmt: skip
    """Look for users whom the average leaves out, or a system has no list for."""
    users = np.unique(np.concatenate([split.test.user for split in splits]))
    tested = splits[0].test.user_ids[users]
    frame = results.per_user(str(design.measured), "case", systems=results.systems[:2])
    carries = frame["value"].notna().groupby(frame["user_id"], sort=False).all()
    n_carry = int(carries.reindex(tested, fill_value=False).sum())
    text = f"{n_carry:,} of {users_said(len(tested))} with test ratings carry the values"
    without = unserved or {}
    for name, n in without.items():
        text += f"; {name} gives no list to {n:,}" if n else ""
    fewest = min(n_carry, len(tested) - max(without.values(), default=0))
    fires = fewest < FEWEST_USERS * len(tested)
    return Signal("users are left out", fires, text, "07_offline_options")


def asked_often(asks: Comparison) -> Signal:
    """Look for tuning on the test: many settings of one algorithm, measured on the same folds.

    Those of the second system, and what else an audit itself measures, do not count. Known is what
    the cells of this machine keep: where folds were measured elsewhere, fewer are counted.
    """
    (system, rival), design = asks.pair, asks.design
    case = Case("", str(design.protocol), "P@10")
    called = asked(asks.dataset, asks.pair, design, case, (case.metric,))
    known = (system, rival, *variations(rival), *beside(asks.pair, design))
    own, *others = (_setting(each.algorithm, each.parameters) for each in known)
    name = "tuning on the test"
    settings = {own}
    for path in sorted(cells_dir().glob("??/*.parquet")):
        cell = _cell_of(path)
        if (
            cell is not None
            and (cell.get("split"), cell.get("seed")) == (str(design.split), design.seed)
            and cell["dataset"] == called.dataset
            and cell["system"]["algorithm"] == system.algorithm
        ):
            settings.add(_setting(system.algorithm, cell["system"]["parameters"]))
    counted = len(settings - (set(others) - {own}))
    many = counted != 1
    what = (
        f"set{'s' * many} of scores from elsewhere"
        if system.algorithm == FromScores.__name__
        else f"setting{'s' * many} of {system.algorithm}"
    )
    text = f"{counted:,} {what} {'were' if many else 'was'} measured on these folds on this machine"
    text += "; what was tried outside recbias is not known"
    return Signal(name, counted > MOST_SETTINGS, text, "07_offline_options")


def _setting(name: str, parameters: Mapping[str, Any]) -> frozenset[tuple[str, Any]]:
    """Tell settings apart: by what a system was made with, its place on a disk aside."""
    aside = getattr(algorithm(name), "not_in_identity", ())
    return frozenset((key, value) for key, value in parameters.items() if key not in aside)


def _cell_of(path: Path) -> dict[str, Any] | None:
    try:
        metadata = pyarrow.parquet.read_metadata(path).metadata
        return dict(json.loads(metadata[b"recbias.provenance"])["cell"])
    except (OSError, KeyError, TypeError, ValueError):  # of another kind, or being written
        return None


def seen(values: Mapping[str, Mapping[str, float]], depth: int, splits: Sequence[Split],
         systems: Sequence[System], min_rating: float) -> Signal:  # fmt: skip
    """Look for systems that know the test: it fills their lists, or what is liked of it does."""
    judged, disliked = values[f"judged@{depth}"], values[f"antiP@{depth}"]
    liked = {name: judged[name] - disliked[name] for name in judged}
    names = [system.name for system in systems]
    fires, told = False, []
    for words, least, filled in (
        ("test ratings", -np.inf, judged),
        ("liked ones", min_rating, liked),
    ):
        possible = _room(splits, depth, least)
        # Where few items are left, whoever ranks them shows the test.
        limit = filled[CHANCE] + MOST_SEEN * (possible - filled[CHANCE])
        fires |= possible > filled[CHANCE] and max(filled[name] for name in names) > limit
        listed = ", ".join(
            f"{name} {filled[name] / max(possible, NOTHING):.0%}"
            for name in dict.fromkeys((*names, *filled))
        )
        told.append(
            f"that {words} could fill, they fill: {listed} (this fires from "
            f"{limit / max(possible, NOTHING):.0%} on)"
        )
    text = f"of the places {told[0]}; of those {told[1]}; only gross leaks show here: a model "
    text += "that was fitted on the test ratings may pass"
    return Signal("the test is known to a system", bool(fires), text)


def _room(splits: Sequence[Split], depth: int, least: float) -> float:
    """Say how much of the lists test ratings of `least` and more could fill."""
    shares = []
    for split in splits:
        test = split.test
        counts = np.bincount(test.user[test.value >= least], minlength=test.n_users)
        shares.append(np.minimum(counts, depth).sum() / (depth * test.n_users))
    return float(np.mean(shares))


def popular(own: Difference, headless: Mapping[str, Any] | None) -> Signal:
    """Look for a lead that is popularity alone."""
    name = "the lead is in popular items alone"
    chapter = "03_popularity_bias"
    if headless is None or "lead" not in headless:
        return Signal(name, False, "without the most popular items it cannot be measured here",
                      told=False)  # fmt: skip
    rest = Difference(**headless["lead"])
    if np.isnan(rest.lead):
        return Signal(name, False, "without the most popular items there is nobody to compare",
                      told=False)  # fmt: skip
    text = f"without the most popular tenth of the items the lead is {_said(rest)}"
    if not own.low > 0:
        text = f"there is no lead above 0 to explain; {text}"
    return Signal(name, own.low > 0 and not rest.low > 0, text, chapter)


def tied(asks: Comparison, own: Difference) -> Signal:
    """Look for a lead that the order of equal scores decides."""
    name = "ties decide"
    case = asks.own._replace(metric=f"{asks.own.metric}|ties")
    try:
        expected = asks.lead(asks.run(case), case.metric)
    except (ConfigError, DataError) as error:
        return Signal(name, False, str(error).partition("\n")[0], told=False)
    text = (
        f"over all orders of equal scores the lead is {number_said(expected.lead, '+')}, and "
        f"{number_said(own.lead, '+')} in the order that was drawn"
    )
    moved = abs(expected.lead - own.lead) > OF_LEAD * abs(own.lead) + NOTHING
    places = [each.name for each in asks.pair
              if getattr(algorithm(each.algorithm), "breaks_ties_by_number", False)]  # fmt: skip
    if places:
        text += f"; {' and '.join(places)} scores by places, in which its ties do not show"
    return Signal(name, moved, text, "01_design_alternatives", told=moved or not places)


def untuned(asks: Comparison, own: Difference) -> Signal:
    """Look for settings of the second system that would make up much of the lead."""
    name = "the baseline is not tuned"
    first, rival = asks.pair
    others = variations(rival)
    if not others:
        return Signal(name, False, f"{rival.name} has no settings that could be varied here",
                      told=False)  # fmt: skip
    results = asks.run(asks.own, systems=(rival, *others))
    gains = {
        other: lead(results, (other, rival), asks.own.metric)
        for other in others
        if other.name not in results.left_out
    }
    gains = {other: gain for other, gain in gains.items() if not np.isnan(gain.lead)}
    if not gains:
        return Signal(name, False, f"no other setting of {rival.name} can be trained on these data",
                      told=False)  # fmt: skip
    best = max(gains, key=lambda other: gains[other].lead)
    gain = gains[best]
    text = (
        f"the best of {len(gains)} other settings, {best.name}, is {_said(gain)} ahead of "
        f"{rival.name}, whose distance to {first.name} is {number_said(own.lead, '+')}; this fires "
        f"where that is sure and more than {OF_LEAD:.0%} of the distance"
    )
    sure = gain.p * len(gains) < 0.05 and gain.lead > 0
    return Signal(name, bool(sure and gain.lead > OF_LEAD * abs(own.lead)), text, "systems")


def _said(lead: Difference) -> str:
    if np.isnan(lead.low):
        return f"{number_said(lead.lead, '+')} (no interval)"
    low, high = number_said(lead.low, "+"), number_said(lead.high, "+")
    return f"{number_said(lead.lead, '+')} [{low}, {high}]"


def variations(system: System) -> list[System]:
    """Give settings around those of a system of the package: each number a quarter and four times.

    Of scores from elsewhere, and of classes of a reader's own, there are none.
    """
    defined = algorithm(system.algorithm)
    if not is_own(defined) or not is_dataclass(defined):
        return []
    found = {}
    for declared in fields(defined):
        value = system.parameters.get(declared.name, declared.default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
            continue
        if declared.name in _NOT_VARIED:
            continue
        for factor in (0.25, 4):
            changed: int | float = value * factor
            if isinstance(value, int):
                changed = max(1, round(changed))
            called = f"{system.name} ({declared.name}={exact(changed)})"
            other = System(called, system.algorithm, {**system.parameters, declared.name: changed})
            try:
                other.build()
            except ConfigError:
                continue
            found[called] = other
    return list(found.values())


_NOT_VARIED = ("min_rating", "seed", "n_epochs", "n_iterations")
"""What is no setting of a model, or only costs time."""
