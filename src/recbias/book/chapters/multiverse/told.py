"""What crossed options say: shares, curves, and what turns the winner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, pairwise

import numpy as np
import numpy.typing as npt
import pandas as pd

from recbias._system.places import packaged
from recbias.book.chapters.offline_option_taxonomy.setup import KNN, READINGS
from recbias.experiment.makers import Table
from recbias.multiverse.kinds import KINDS, ROBUST, Kind
from recbias.multiverse.summary import nearest_flips, shapley
from recbias.multiverse.weights import called_robust, kept_apart, learned, weigh

LEVEL = 0.05

BY_COUNT, BY_TRUST = "by count", "by trust"
"""How universes weigh."""

Options = Mapping[str, Sequence[str]]


def first_of(crossed: Table) -> str:
    """Name the system that others are compared with."""
    name = str(crossed.frame["first"].iloc[0])
    return "kNN" if name == KNN else name


def systems_of(crossed: Table) -> list[str]:
    """Name the systems that it is compared with."""
    return list(crossed.frame["against"].drop_duplicates())


def decisions_of(crossed: Table) -> list[str]:
    """Name the decisions whose options are crossed."""
    return [name for name in crossed.index if name not in ("first", "against")]


def laid_out(
    crossed: Table, against: str, column: str, options: Options
) -> npt.NDArray[np.float64]:
    """Lay a column out by option; NaN where nothing was measured."""
    own = crossed.frame[crossed.frame["against"] == against]
    values = np.full([len(texts) for texts in options.values()], np.nan)
    values[tuple(own[name].to_numpy(int) for name in options)] = own[column].to_numpy(float)
    return values


def distinct(crossed: Table, against: str) -> pd.DataFrame:
    """Give a row for each universe."""
    own = crossed.frame[crossed.frame["against"] == against]
    return own.drop_duplicates("universe")


def kinds_of(place: Table) -> list[Kind]:
    """List the kinds of worlds that the data may be of."""
    known = place.frame[place.frame["relation"] != ""]
    return [Kind(*both) for both in known[["relation", "skew"]].itertuples(index=False)]


def shares(crossed: Table, place: Table, options: Options, usual: float) -> pd.DataFrame:
    """Tell in which share of the universes kNN wins: by count, and weighed by trust."""
    kinds = kinds_of(place)
    weights = weigh(options, usual, kinds) if kinds else None
    rows = []
    for against in systems_of(crossed):
        table = distinct(crossed, against)
        rows.append((against, BY_COUNT, *_shares(table, np.ones(len(table)))))
        if weights is not None:
            own = crossed.frame[crossed.frame["against"] == against]
            by = weights[tuple(own[name].to_numpy(int) for name in options)]
            rows.append((against, BY_TRUST, *_shares(own, by)))
    columns = ["against", "by", "wins", "surely wins", "loses", "surely loses"]
    return pd.DataFrame(rows, columns=columns)


def _shares(table: pd.DataFrame, by: npt.NDArray[np.float64]) -> list[float]:
    sign, sure = table["sign"].to_numpy(), table["p"].to_numpy() < LEVEL
    of = (sign > 0, (sign > 0) & sure, sign < 0, (sign < 0) & sure)
    return [float(np.average(each, weights=by)) for each in of]


def share_of(crossed: Table, against: str, options: Options, decision: str) -> pd.DataFrame:
    """Tell in which share of the universes with each option of a decision kNN wins."""
    own = crossed.frame[crossed.frame["against"] == against]
    rows = [
        (text, *_shares(of, np.ones(len(of))))
        for place, text in enumerate(options[decision])
        for of in [own[own[decision] == place].drop_duplicates("universe")]
        if len(of)
    ]
    return pd.DataFrame(rows, columns=["option", "wins", "surely wins", "loses", "surely loses"])


N_PARTS = 5
"""Parts of a curve by which options are told."""


def along_curve(crossed: Table, against: str, options: Options, decision: str) -> pd.DataFrame:
    """Tell which share of each fifth of the curve, worst first, has an option of a decision."""
    own = crossed.frame[crossed.frame["against"] == against]
    ordered = ahead(crossed, against)["universe"].to_numpy()
    part = pd.Series(np.arange(len(ordered)) * N_PARTS // len(ordered), index=ordered)
    n_each = part.value_counts()
    rows = []
    for place, text in enumerate(options[decision]):
        having = own.loc[own[decision] == place, "universe"].drop_duplicates()
        found = part.loc[having].value_counts()
        if len(having):
            rows += [(text, at, found.get(at, 0) / n) for at, n in n_each.sort_index().items()]
    return pd.DataFrame(rows, columns=["option", "part", "share"])


def ahead(crossed: Table, against: str) -> pd.DataFrame:
    """Give universes, worst for the first system first, with how far it is ahead.

    Returns
    -------
    DataFrame
        ``universe``, and ``ahead`` in standard deviations of users' differences, with its 95 %
        interval (``low``, ``high``).
    """
    table = distinct(crossed, against)
    value = (table["effect"].abs() * table["sign"]).fillna(0.0)
    scale = (value / table["difference"]).where(table["difference"] != 0, 0.0)
    ends = table[["low", "high"]].mul(scale, axis=0)
    frame = pd.DataFrame(
        {
            "universe": table["universe"], "ahead": value,
            "low": ends.min(axis=1), "high": ends.max(axis=1),
        }
    )  # fmt: skip
    return frame.sort_values("ahead", kind="stable", ignore_index=True)


def importance(crossed: Table, options: Options) -> pd.DataFrame:
    """Share out among decisions what turns the sign, by system that kNN is compared with."""
    columns = {}
    for against in systems_of(crossed):
        signs = laid_out(crossed, against, "sign", options)
        columns[against] = shapley(np.nan_to_num(signs))
    return pd.DataFrame(columns, index=pd.Index(list(options), name="decision"))


def turned(crossed: Table, against: str, options: Options, *, surely: bool) -> pd.DataFrame:
    """Tell which decisions turn the winner of the start: alone, or two together.

    Returns
    -------
    DataFrame
        ``first``, ``second`` (the same: alone) and ``ways``, how many changes of exactly these
        decisions turn the winner.
    """
    signs = laid_out(crossed, against, "sign", options)
    if surely:
        signs = np.where(laid_out(crossed, against, "p", options) < LEVEL, signs, 0)
    at_start = signs[(0,) * signs.ndim]
    names = list(options)
    rows = []
    for first, second in [(name, name) for name in names] + list(combinations(names, 2)):
        chosen = {names.index(first), names.index(second)}
        index = tuple(slice(1, None) if axis in chosen else 0 for axis in range(signs.ndim))
        against_start = np.nan_to_num(signs[index]) == -at_start
        rows.append((first, second, int(against_start.sum()) if at_start else 0))
    return pd.DataFrame(rows, columns=["first", "second", "ways"])


def nearest(crossed: Table, against: str, options: Options) -> tuple[int, list[dict[str, str]]]:
    """Find the fewest changes from the start that turn the winner, in all ways.

    Returns
    -------
    n_changes : int
        0 where nothing turns it, or nobody wins at the start.
    ways : list of dict
        The new option by decision; a universe that several combinations are is there once.
    """
    signs = np.nan_to_num(laid_out(crossed, against, "sign", options)).astype(int)
    start = (0,) * signs.ndim
    if not signs[start]:
        return 0, []
    universes = laid_out(crossed, against, "universe", options)
    ways: dict[int, dict[str, str]] = {}
    for place in nearest_flips(signs, start):
        changed = {
            name: texts[at]
            for (name, texts), at in zip(options.items(), place.tolist(), strict=True)
            if at
        }
        ways.setdefault(int(universes[tuple(place)]), changed)
    return len(next(iter(ways.values()), {})), list(ways.values())


def of_universes(crossed: Table) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Give shares, and how many decisions and pairs of them turn the winner, by reading of MF.

    There is no row where two other systems are compared.
    """
    decisions = decisions_of(crossed)
    options = {name: [""] * (int(crossed.frame[name].max()) + 1) for name in decisions}
    rows = []
    for reading, against in zip(("printed", "swapped"), READINGS, strict=True):
        table = distinct(crossed, against)
        if table.empty or table["first"].iloc[0] != KNN:
            continue
        ways = turned(crossed, against, options, surely=False)
        alone = ways["first"] == ways["second"]
        counts = [int((ways["ways"] > 0)[which].sum()) for which in (alone, ~alone)]
        shares = _shares(table, np.ones(len(table)))
        fewest, _ = nearest(crossed, against, options)
        rows.append((reading, *shares, *counts, fewest, float(table["joint"].iloc[0])))
    columns = ["reading", "wins", "surely_wins", "loses", "surely_loses", "alone", "together"]
    return ("reading",), pd.DataFrame(rows, columns=[*columns, "fewest", "joint"])


CALLED: Mapping[str, str] = {
    "robust": "one winner in nine of ten universes",
    "sure": "told apart by users at the start (p < .05)",
    "both": "both",
    "only sure": "told apart by users, but not one winner in nine of ten",
}
"""What pairs of systems are called, in words."""


def called_pairs(pairs: Table) -> pd.DataFrame:
    """Tell of which pairs it is said who is better, and how often that is true.

    Returns
    -------
    DataFrame
        By what they are ``called`` the number of ``pairs``, and of those whose truth users tell
        (p < .05), how many are ``right`` and ``wrong``: the winner of most universes of what is
        robust, and that of the start of others.
    """
    frame = pairs.frame
    robust, sure = frame[["wins", "loses"]].max(axis=1) >= ROBUST, frame["p"] < LEVEL
    most, at_start = np.sign(frame["wins"] - frame["loses"]), np.sign(frame["effect"])
    known = (frame["true p"] < LEVEL) & (frame["true"] != 0)
    rows = []
    for called, which, winner in (
        ("robust", robust, most),
        ("sure", sure, at_start),
        ("both", robust & sure, most),
        ("only sure", sure & ~robust, at_start),
    ):
        asked = which & known
        right = int((winner == frame["true"])[asked].sum())
        rows.append((called, int(which.sum()), right, int(asked.sum()) - right))
    return pd.DataFrame(rows, columns=["called", "pairs", "right", "wrong"])


def right_and_wrong(pairs: Table, called: str) -> tuple[int, int]:
    """Count the pairs that are called so and right, and those that are wrong."""
    frame = called_pairs(pairs)
    own = frame[frame["called"] == called]
    return int(own["right"].sum()), int(own["wrong"].sum())


def of_pairs(pairs: Table) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Give which share of all pairs has one winner nearly everywhere, and what of that is true.

    Rows about the truth are there where it is known.
    """
    frame = pairs.frame
    one = frame[["wins", "loses"]].max(axis=1) >= ROBUST
    rows = [
        (name, float(one[which].mean()))
        for name, which in (("all", one == one), ("sure", frame["p"] < LEVEL))
        if which.any()
    ]
    for name in ("robust", "only sure"):
        right, wrong = right_and_wrong(pairs, name)
        if right + wrong:
            rows.append((f"{name} true", float(right / (right + wrong))))
    return ("which",), pd.DataFrame(rows, columns=["which", "robust"])


# -- pairs and worlds ------------------------------------------------------------------------------

_EFFECTS = (0.0, 0.05, 0.1, 0.2, 0.4, np.inf)


def robust_by_effect(pairs: Table) -> pd.DataFrame:
    """Give the percentage of pairs with one winner in nine of ten universes, by effect size.

    Effects are named with the number of their pairs.
    """
    frame = pairs.frame
    size = frame["effect"].abs().fillna(0.0)
    rows = []
    for low, high in pairwise(_EFFECTS):
        which = (size >= low) & (size < high)
        name = f"{low:g} to {high:g}" if np.isfinite(high) else f"{low:g} or more"
        for line, shares in ((BY_COUNT, ""), (BY_TRUST, "trusted ")):
            one = frame[[f"{shares}wins", f"{shares}loses"]].max(axis=1) >= ROBUST
            if n := int(which.sum()):
                rows.append((f"{name} ({n})", line, n, 100 * float(one[which].mean())))
    return pd.DataFrame(rows, columns=["effect", "line", "n", "value"])


_WEIGHTS = {"trust": BY_TRUST, "other kinds": "by trust of other kinds", "alike": BY_COUNT}
_RELATIONS = {"against": "liked less", "none": "liked as much", "with": "liked more"}
"""How popular items are liked, compared with others."""


def called() -> pd.DataFrame:
    """Give the percentage that is true of what is called robust, by relation and weights."""
    apart = kept_apart()
    rows = []
    for relation, row in _RELATIONS.items():
        for weights, line in _WEIGHTS.items():
            found = called_robust(apart, [k for k in KINDS if k.relation == relation], weights)
            rows.append((row, line, found.n, 100 * found.share))
    return pd.DataFrame(rows, columns=["row", "line", "n", "value"])


def called_on_data() -> pd.DataFrame:
    """Count what is called robust of CM100k and Coat, and what of it is true, by weights."""
    found = pd.read_csv(packaged("evaluation/multiverse_data.csv"))
    rows = []
    for name, of_data in found.groupby("data", sort=False):
        for weights, words in (("trust", _WEIGHTS["trust"]), ("alike", _WEIGHTS["alike"])):
            wins, loses = (of_data[f"{word}, {weights}"] >= ROBUST for word in ("wins", "loses"))
            known = (wins | loses) & (of_data["P"] != 0)
            right = np.where(wins, 1, -1) == of_data["P"]
            rows.append((str(name), words, len(of_data), int(known.sum()), int(right[known].sum())))
    return pd.DataFrame(rows, columns=["data", "weights", "compared", "called", "right"])


def of_single_options(relation: str) -> pd.DataFrame:
    """Give how often each option is right in worlds of a relation, with 95 % intervals."""
    table = learned().xs(relation, level="relation")
    table = table.groupby(level=["first decision", "first", "second decision"]).sum()
    single = table.xs("", level="second decision")
    single = single[single.index.get_level_values("first decision") != ""]
    n, mean = single["worlds"], single["share"] / single["worlds"]
    spread = (single["share squared"] / n - mean**2).clip(lower=0)
    reach = 1.96 * np.sqrt(spread / (n - 1))
    return pd.DataFrame(
        {"share": mean, "low": mean - reach, "high": mean + reach, "worlds": n}
    ).reset_index(names=["decision", "option"])
