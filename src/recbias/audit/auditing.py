"""One comparison of a reader, judged: what is asked, in which order, and the record of it all."""

from __future__ import annotations

import dataclasses
import json
import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from tqdm import tqdm

from recbias.audit import comparison, signals
from recbias.audit.comparison import Comparison, Difference
from recbias.audit.design import DEFAULT_METRIC, around, is_of_misses, only_ties, own_design
from recbias.audit.ledger import Ruling, judged_claims
from recbias.audit.page import check_book, page_of, percent, side_by_side
from recbias.audit.rule import EXIT_CODES, SHARE, answer, because, rule_said
from recbias.audit.sides import is_scores, is_whole, side
from recbias.audit.words import (
    change_said,
    decision_said,
    number_said,
    option_said,
    turning_said,
    users_said,
)
from recbias.data.datasets import Dataset, load_dataset
from recbias.data.datasets.describe import describe
from recbias.data.ratings import exact
from recbias.data.selection import Selection
from recbias.errors import ConfigError, DataError, DataWarning, MissingData, StoreError
from recbias.experiment.decisions import methods_paragraph
from recbias.experiment.engine import Workers, open_executor
from recbias.experiment.options import Options
from recbias.experiment.store import write_atomically
from recbias.metrics import Metric
from recbias.multiverse import Trusted, Universes, trusted, universes
from recbias.multiverse.universes import LEVEL
from recbias.protocol.splits import Split
from recbias.protocol.testset import dataset_splits
from recbias.recommenders import FromScores, System, as_system, line_up
from recbias.recommenders.base import algorithm, is_own
from recbias.trust import Shape, fit_relation

__all__ = ["Audit", "audit", "read_audit"]

FORMAT = 2
_POINTS = 240
"""Of the curve of universes that a page shows."""
_SEEDS = 3


@dataclass(frozen=True, eq=False, repr=False)
class Audit:
    """What an audit found.

    Attributes
    ----------
    record : dict
        Everything, as JSON has it: ``sentence``, ``own``, ``data``, ``designs``, ``multiverse``,
        ``samples``, ``seeds``, ``over whom``, ``items``, ``users``, ``hidden``, ``worlds``,
        ``signals``, ``ledger``, ``methods``, ``versions``, ``book``; where the rival was chosen
        ``baselines`` and ``against``.
    """

    record: Mapping[str, Any]

    @property
    def answer(self) -> str:
        """``"holds"``, ``"does not hold"`` or ``"open"``."""
        return str(self.record["sentence"]["answer"])

    @property
    def exit_code(self) -> int:
        """0, 3 or 4, so that a script can hold a paper to its claim."""
        return next(code for said, code in EXIT_CODES.items() if said == self.answer)

    @property
    def warnings(self) -> dict[str, str]:
        """Evidence of the warnings that fire, by name."""
        return {each["name"]: each["evidence"] for each in self.record["signals"] if each["fires"]}

    def __repr__(self) -> str:
        return str(self.record["sentence"]["paragraph"])

    def save(self, out: Path) -> None:
        """Write ``OUT.html`` and ``OUT.json``, each whole or not at all.

        Parameters
        ----------
        out
            Path without suffix, or one that ends in ``.html``.
        """
        text = json.dumps(self.record, indent=1, allow_nan=False) + "\n"
        page = page_of(self.record)
        write_atomically(out.with_suffix(".json"), text.encode())
        write_atomically(out.with_suffix(".html"), page.encode())


def read_audit(path: Path) -> Mapping[str, Any]:
    """Read the record of an audit.

    Raises
    ------
    MissingData
        If there is no such file.
    StoreError
        If it is not what `Audit.save` writes.
    """
    if not path.is_file():
        raise MissingData(f"no file {path}\nname the JSON that an audit left beside its page")
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        if record["format"] != FORMAT:
            raise StoreError(
                f"{path}: of format {record['format']}, expected {FORMAT}; audit again"
            )
        page_of(record)
        side_by_side([record])
    except (
        LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError,
    ) as error:  # fmt: skip
        raise StoreError(f"{path}: not the record of an audit ({error!r})") from None
    return dict(record)


def audit(
    dataset: Any,
    a: Any,
    b: Any = None,
    *,
    protocol: str | None = None,
    metric: str = DEFAULT_METRIC,
    split: str = "k-fold 5",
    seed: int = 1,
    select: str = "",
    options: Mapping[str, Sequence[str]] | None = None,
    ledger: bool = True,
    book: str = "",
    workers: Workers = 1,
    data_dir: Path | None = None,
) -> Audit:
    """Say whether "A beats B" holds on these data, whatever one decides.

    Parameters
    ----------
    dataset
        Name of a dataset, path of a table of ratings, or the table itself.
    a, b
        Systems, classes or objects with ``fit`` and ``score``, or texts as
        :func:`recbias.audit.sides.side` reads them. Scores of another program
        (:class:`~recbias.recommenders.FromScores`) cannot be trained on other ratings, so that the
        split is no decision then. Without `b` it is the best of the package's baselines
        (`line_up("modern")`) under the reader's own design: chosen on the test, so that chance
        helps it, and not A.
    protocol, metric, split, seed, select
        The reader's own design.
    options
        Texts by decision, as of :func:`recbias.multiverse.universes`; by default the defensible
        ones, the reader's own first. What no decision sets is as in the reader's own design.
    ledger
        Whether to ask the claims of papers that bear on the design. They are told by
        `recbias.claims.short`, once that is imported; without it the page says that they are
        absent.
    book
        Address or folder of a built book: pages link there, else they name its places.
    workers
        Local processes. The results do not depend on it.
    data_dir
        Folder that holds datasets.

    Returns
    -------
    Audit

    Raises
    ------
    ConfigError, DataError, MissingData, TrainingError
        As `recbias.run`; scores that do not fit are refused before anything is trained.

    Examples
    --------
    >>> few = {"C1": ("AI-AN-AR", "condensed"), "C2": ("metric: P@10", "metric: nDCG@10")}
    >>> found = audit("world(users=60,items=80)", "Popularity", "Random", split="ratio 0.5",
    ...               options=few)
    >>> found.answer in ("holds", "open", "does not hold"), sorted(found.record)[:3]
    (True, ['book', 'data', 'designs'])
    """
    check_book(book)
    loaded = load_dataset(dataset, data_dir=data_dir)
    design = own_design(loaded, protocol, metric, split, seed, select)
    least = design.protocol.min_rating
    first = _side(a, least)
    second = None if b is None else _side(b, least)
    kept = Selection.parse(str(design.select)).of(loaded, seed=design.seed)
    splits = dataset_splits(kept, str(design.split), seed=design.seed)
    for system in filter(None, (first, second)):
        if is_scores(system) and isinstance(scores := system.build(), FromScores):
            scores.check(splits)
    baselines: dict[str, Any] = {}
    if second is None:
        alone = Comparison(dataset, (first, first), design, workers, data_dir)
        second, values, against = comparison.strongest(
            alone, line_up("modern", min_rating=least)[1:]
        )
        baselines = {"baselines": values, "against": against}
    if first.name == second.name:
        raise ConfigError(
            f"both sides are called {first.name}\nname them: --a mine=PATH, or --b theirs=PATH"
        )
    with _held(workers, first, second) as held:
        asks = Comparison(dataset, (first, second), design, held, data_dir)
        record = _judged(asks, loaded, kept, splits, options, ledger)
    return Audit(_plain({**record, "book": book, **baselines}))


@contextmanager
def _held(workers: Workers, *pair: System) -> Iterator[Workers]:
    """Keep local processes for all runs of one audit, where a class is not of the package.

    Else each run would start its own, as a class may be edited before the next one; here it cannot.
    """
    outside = not all(is_own(algorithm(system.algorithm)) for system in pair)
    with open_executor(workers if outside and isinstance(workers, int) else 1) as executor:
        yield executor or workers


def _side(given: Any, min_rating: float) -> System:
    return side(given, min_rating=min_rating) if isinstance(given, str) else as_system(given)


def _judged(
    asks: Comparison,
    loaded: Dataset,
    kept: Dataset,
    splits: Sequence[Split],
    options: Mapping[str, Sequence[str]] | None,
    ledger: bool,
) -> dict[str, Any]:
    """Go through all parts, the reader's own design first."""
    pair, design = asks.pair, asks.design
    least = design.protocol.min_rating
    whole, trainable = all(map(is_whole, pair)), not any(map(is_scores, pair))
    tied = only_ties(loaded, least)
    chosen = comparison.cases(design, whole_lists=whole, all_liked=bool(tied))
    start = None if options is None else str(design)
    if options is not None:
        tied = {}
    else:
        options = around(design, loaded, trainable=trainable, whole_lists=whole)
    seeds = [design.seed + further for further in range(1, _SEEDS)] if trainable else []
    parts: dict[str, Callable[[], Any]] = {
        "your design": lambda: asks.run(asks.own),
        "other designs": lambda: comparison.compared(asks, chosen),
        "all designs": lambda: _said(_universes(asks, options, start), loaded, least),
        "samples": lambda: comparison.sampled(asks, loaded.ratings.n_items) if whole else [],
        "seeds": lambda: comparison.other_seeds(asks, seeds),
        "users and items": lambda: _over_whom(asks),
        "what accuracy hides": lambda: comparison.hidden(asks, splits),
        "worlds": lambda: _worlds(kept, least),
    }
    if ledger:
        parts["claims"] = lambda: judged_claims(asks, whole_lists=whole)
    found: dict[str, Any] = {}
    warned: dict[str, None] = {}
    of_part: dict[str, list[str]] = {}
    with tqdm(parts.items(), desc="audit", unit="part", leave=False) as bar:
        for name, part in bar:
            bar.set_postfix_str(name)
            found[name], said_here = _said_of_data(part)
            warned |= dict.fromkeys(said_here)
            of_part[name] = said_here
    results, said = found["your design"], list(warned)
    over_whom, items, of_hits = found["users and items"]
    own = asks.lead(results, asks.own.metric)
    designs = found["other designs"]
    designs[0]["optimum"] = comparison.optimum(splits, design)
    multiverse = found["all designs"]
    multiverse["only tie"] = [
        f"{decision_said(decision)}: {option_said(decision, text)}"
        for decision, texts in tied.items()
        for text in texts
        if text not in (options or {}).get(decision, ())
    ]
    won, lost = (multiverse["shares"]["decisions"][name] for name in ("wins", "loses"))
    verdict = answer(own.low, own.high, won, lost)
    lists, depth = found["what accuracy hides"]["lists"], asks.depth
    headless = next((row for row in designs if row["design"] == comparison.HEADLESS), None)
    looked = [
        signals.timed(kept, splits),
        signals.seen(lists, depth, splits, pair, least),
        signals.short(lists, depth, of_part["your design"], pair),
        signals.dropped(results, design, splits, found["what accuracy hides"]["unserved"]),
        signals.popular(own, headless),
        *_said_of_data(lambda: [signals.tied(asks, own), signals.untuned(asks, own)])[0],
        signals.asked_often(asks),
    ]
    names = [system.name for system in pair]
    lines = _lines(
        names,
        verdict,
        own,
        design.measured,
        multiverse,
        over_whom,
        unserved=found["what accuracy hides"],
        n_tested=len(np.unique(np.concatenate([split.test.user for split in splits]))),
        kept_splits="" if trainable else _kept_splits(pair, design),
        samples=found["samples"],
        beside=designs[0]["beside"],
    )
    return {
        "format": FORMAT,
        "sentence": {
            "a": names[0],
            "b": names[1],
            "answer": verdict,
            "rule": rule_said(*names),
            "exit code": EXIT_CODES[verdict],
            "paragraph": " ".join(lines),
            "lines": lines,
            "design": _design_said(design, all_alike=loaded.ratings.feedback == "implicit"),
            "averaged": _averaged_said(design),
            "systems": [_system_said(system) for system in pair],
            "supported": _supported(names, verdict, lines[1], own, multiverse),
        },
        "own": {"options": str(design), "lead": own._asdict()},
        "data": {
            **_data(loaded, kept, least),
            "warned": list(dict.fromkeys(map(_without_label, said))),
        },
        "designs": designs,
        "multiverse": multiverse,
        "samples": {
            "rows": found["samples"],
            "enough": comparison.enough(found["samples"]) if found["samples"] else None,
        },
        "seeds": found["seeds"],
        "over whom": over_whom,
        "over whom of hits": of_hits,
        "items": items,
        "users": comparison.thirds(results, pair, design.measured, kept, least),
        "hidden": found["what accuracy hides"],
        "worlds": found["worlds"],
        "signals": [
            signal._replace(evidence=_without_label(signal.evidence))._asdict() for signal in looked
        ],
        "ledger": {"left out": not ledger, "claims": _claims(found.get("claims"))},
        "methods": " ".join(
            (
                *([f"Read as: {'; '.join(loaded.understood)}."] if loaded.understood else []),
                methods_paragraph(design, results.dataset),
                *_methods_of_audit(pair, own, multiverse),
            )
        ),
        "versions": {"recbias": version("recbias"), "data": loaded.ratings.content_hash},
    }


def _universes(
    asks: Comparison, options: Mapping[str, Sequence[str]], start: str | None
) -> Universes:
    return universes(
        asks.dataset, *asks.pair, options, start=start, seeds=(asks.design.seed,),
        workers=asks.workers, data_dir=asks.data_dir,
    )  # fmt: skip


def _without_label(text: str) -> str:
    """Leave out how runs of an audit call their only design."""
    return text.replace(": under case, ", ": ")


def _kept_splits(pair: Sequence[System], design: Options) -> str:
    """Say what no design varies where scores of another program are compared."""
    scored = " and ".join(system.name for system in pair if is_scores(system))
    has = "have" if all(map(is_scores, pair)) else "has"
    return (
        f"The scores of {scored} came from elsewhere: whether what made them saw the test cannot "
        f"be ruled out. All designs use your split ({design.split}, seed {design.seed}): other "
        "splits, seeds and samples of the data were not tried, since "
        f"{scored} {has} scores there only. With a class "
        "in place of scores they are."
    )


def _design_said(design: Options, *, all_alike: bool = False) -> str:
    """Say the reader's own design in a line."""
    like = f"a rating of {exact(design.protocol.min_rating)} or more is a like"
    return (
        f"{design.measured}, {'every pair of user and item is a like' if all_alike else like}, "
        f"split {design.split} (seed {design.seed}), {design.protocol.rule}"
        f"{' condensed' if design.protocol.condensed else ''}"
    )


def _averaged_said(design: Options) -> str:
    """Say who counts in a fold where that is everybody, whom nothing is found for among them."""
    if design.protocol.averaging.population != "all":
        return ""
    return "Averaged over all users: who has nothing to find in a fold counts as 0 there"


def _system_said(system: System) -> str:
    """Say what was compared: by the class and the settings, or where its scores are from."""
    if is_scores(system):
        return f"{system.name}: scores that were computed elsewhere."
    set_to = ", ".join(f"{key}={value}" for key, value in system.parameters.items())
    return f"{system.name}: {system.algorithm} ({set_to or 'no settings but its own'})."


def _supported(
    names: Sequence[str],
    verdict: str,
    own_said: str,
    own: Difference,
    multiverse: Mapping[str, Any],
) -> str:
    """Write what may be claimed, which is less than the sentence where it does not hold."""
    a, b = names
    shares = multiverse["shares"]["decisions"]
    if verdict == "holds":
        return (
            f"{a} beats {b}. {own_said} It wins in {percent(shares['wins'])} of "
            f"{multiverse['universes']:,} defensible designs."
        )
    if verdict == "open" and own.low > 0:
        return (
            f"{own_said} This is of the one design: over {multiverse['universes']:,} defensible "
            f"ones {a} wins in {percent(shares['wins'])}, too few to say that it beats {b}."
        )
    return f'Not "{a} beats {b}". {own_said}'


def _methods_of_audit(
    pair: Sequence[System], own: Difference, multiverse: Mapping[str, Any]
) -> Iterator[str]:
    """Say what the paragraph of a single comparison does not: systems, intervals, designs."""
    for system in pair:
        yield _system_said(system)
    yield f"The 95 % interval of the lead is that of its test over users ({own.test})."
    options = "; ".join(
        f"{decision_said(decision).lower()} ({len(by_option)})"
        for decision, by_option in multiverse["by option"].items()
    )
    yield (
        f"The designs are the {multiverse['universes']:,} that can be measured of all combinations "
        f"of these options: {options}."
    )


def _over_whom(
    asks: Comparison,
) -> tuple[list[dict[str, Any]] | str, list[dict[str, Any]], list[dict[str, Any]]]:
    """Test over users and items, and name the items that make the lead.

    Or say why that cannot be for the reader's metric, and test the hits of the same depth.
    """
    try:
        return *comparison.over_whom(asks, asks.own), []
    except ConfigError as error:
        reason = str(error).partition("\n")[0]
    try:
        rows, items = comparison.over_whom(asks, asks.own._replace(metric=f"P@{asks.depth}"))
    except (ConfigError, DataError):
        rows, items = [], []
    return reason, items, rows


def _claims(found: Sequence[Ruling] | None) -> list[dict[str, Any]] | None:
    return None if found is None else [ruling._asdict() for ruling in found]


def _worlds(kept: Dataset, min_rating: float) -> dict[str, Any]:
    """Say where data lie among simulated worlds, or why they lie nowhere."""
    ratings = kept.ratings
    try:
        relation, shape = fit_relation(ratings, min_rating), Shape.of(ratings, min_rating)
    except DataError as error:
        return {"reason": str(error).partition("\n")[0]}
    return {
        "relation": dataclasses.asdict(relation),
        "skew": shape.skew,
        "nearest": (
            f"world(relation={relation.estimate:.2f},users={shape.users},items={shape.items},"
            f"density={shape.density:g},skew={shape.skew:g})"
        ),
    }


def _data(loaded: Dataset, kept: Dataset, min_rating: float) -> dict[str, Any]:
    ratings = kept.ratings
    without = ratings.n_users - len(np.unique(ratings.user[ratings.value >= min_rating]))
    return {
        "title": loaded.title,
        "said": describe(ratings, min_rating),
        "read as": list(loaded.understood),
        "users without likes": int(without),
        "cannot test": dict(loaded.info.cannot_test),
    }


def _said_of_data(part: Callable[[], Any]) -> tuple[Any, list[str]]:
    """Do a part, and keep what it warned of: a page has room for it, each once."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DataWarning)
        found = part()
    of_data = [each.message for each in caught if issubclass(each.category, DataWarning)]
    for each in caught:
        if not issubclass(each.category, DataWarning):
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
    return found, [str(message).partition("\n")[0] for message in of_data]


def _said(found: Universes, dataset: Dataset, min_rating: float) -> dict[str, Any]:
    """Say what all designs say together."""
    shares = found.shares()
    try:
        flips = found.flips()
        changed = flips["changed"].tolist()
        changes = int(flips["changes"].iloc[0]) if len(flips) else None
        sure, reason = found.flips(surely="turned"), ""
    except ConfigError as error:  # nobody wins under the own design
        changed, changes, reason = [], None, str(error).partition("\n")[0]
        sure = pd.DataFrame(columns=["changes", "changed", "universe"])
    weighed = trusted(found, dataset, min_rating)
    by_option = {
        decision: {text or "none": found.won(decision, text) for text in texts}
        for decision, texts in found.options.items()
        if len(texts) > 1
    }
    return {
        "universes": len(found.table),
        "different": len(np.unique(found.table["difference"].to_numpy(np.float64).round(12))),
        "shares": shares.to_dict("index"),
        "changes": changes,
        "flips": changed,
        "flips said": _flips_said(found, flips) if changed else [],
        "sure changes": int(sure["changes"].iloc[0]) if len(sure) else None,
        "sure said": _flips_said(found, sure),
        "ahead": int(found.signs[(0,) * found.signs.ndim]),
        "no start": reason,
        "without": _without_one(found, float(shares["wins"]["decisions"])),
        "curve": _points(found.table),
        "by option": by_option,
        "importance": {  # of what has no second option nothing can be said
            decision: effect
            for decision, effect in found.importance()["effect"].items()
            if decision in by_option
        },
        "joint p": next(iter(found.joint_test()["p"]), None),  # of one user there is none
        "refused": found.refused.to_dict("records"),
        "trust": {
            "says": weighed.says,
            "text": _trusted_said(weighed),
            "kinds": [str(kind) for kind in weighed.place.kinds],
            "beyond": weighed.place.reason,
        },
    }


def _flips_said(found: Universes, flips: pd.DataFrame) -> list[str]:
    """Say what is changed in each way, and what the lead is then."""
    rows = found.table.iloc[flips["universe"].tolist()].to_dict("records")
    return [
        f"{change_said(each, found.options)}{_turned(row)}"
        for each, row in zip(flips["changed"], rows, strict=True)
    ]


def _turned(row: Mapping[Any, Any]) -> str:
    """Say how far A is ahead where the winner is another, and whether that is sure."""
    if not np.isfinite([row["difference"], row["low"], row["high"]]).all():
        return ""
    turn = row["sign"] * np.sign(row["difference"]) or 1
    low, high = sorted((turn * row["low"], turn * row["high"]))
    lead, *ends = (number_said(n, "+") for n in (turn * row["difference"], low, high))
    sure = "" if row["p"] < LEVEL and low * high > 0 else ", which is not sure"
    return f": lead {lead} [{', '.join(ends)}]{sure}"


def _without_one(found: Universes, won: float) -> dict[str, Any] | None:
    """Give the one option, not the reader's, without which A wins most, and how both sides do.

    None where A wins in as many as the rule asks for with it, or in fewer without it.
    """
    if round(won, 9) >= SHARE:
        return None
    weights = found.balanced
    rest: dict[tuple[int, int], float] = {}
    for axis in range(weights.ndim):
        others = tuple(other for other in range(weights.ndim) if other != axis)
        share = weights.sum(axis=others)
        left = won - (weights * (found.signs > 0)).sum(axis=others)
        rest |= {(axis, at): left[at] / (1 - share[at])
                 for at in range(1, len(share)) if 0 < share[at] < 1}  # fmt: skip
    if not rest:
        return None
    axis, at = max(rest, key=rest.__getitem__)
    wins = float(rest[axis, at])
    if round(wins, 9) < SHARE:
        return None
    (decision, texts), alone = [*found.options.items()][axis], np.take(weights, at, axis=axis)
    loses = alone[np.take(found.signs, at, axis=axis) < 0].sum() / alone.sum()
    words = f"{decision_said(decision)}: {option_said(decision, texts[at])}"
    return {"option": words, "wins": wins, "loses": float(loses), "misses": is_of_misses(texts[at])}


def _trusted_said(weighed: Trusted) -> str:
    """Say what is known of the truth, without a word that needs a chapter."""
    called, text = weighed.called, str(weighed).rpartition("\n")[0]
    return (
        f"{text}\nchecked    in {called.n} comparisons in other worlds 90 % of this weight were on "
        f"one side, which was the better one in {called.right}"
        + ("\ndecides    nothing: neither has 90 %" if weighed.says == "neither" else "")
    )


def _points(table: pd.DataFrame) -> list[float]:
    """Draw some universes from the worst for A to the best.

    Where no two users differ in their difference there is no standard deviation to count in.
    """
    ahead = (table["effect"].abs() * table["sign"]).to_numpy(dtype=np.float64)
    ordered = np.sort(ahead[np.isfinite(ahead)])
    places = np.linspace(0, len(ordered) - 1, _POINTS).round().astype(int)
    return [float(each) for each in ordered[np.unique(places)]] if len(ordered) else []


def _lines(
    names: Sequence[str],
    verdict: str,
    own: Difference,
    metric: Metric,
    multiverse: Mapping[str, Any],
    over_whom: Sequence[Mapping[str, Any]] | str,
    *,
    unserved: Mapping[str, Any],
    n_tested: int,
    kept_splits: str,
    samples: Sequence[Mapping[str, Any]] = (),
    beside: Sequence[Mapping[str, Any]] = (),
) -> list[str]:
    """Write the verdict as a paper can quote it: the answer, the own design, then all others."""
    a, b = names
    shares = multiverse["shares"]["decisions"]
    why = because(a, own.low, own.high, shares["wins"], shares["loses"])
    said = f'"{a} beats {b}" {verdict if verdict != "open" else "is open"}: {why}.'
    if (without := multiverse["without"]) and verdict == "open" and own.low > 0:
        said += _without_said(a, without)
    text = [
        said,
        f"Under your design {_own_said(names, own, metric, n_tested)}",
        f"{_both_said(over_whom)}{_unserved_said(names, unserved)}".strip(),
        _beside_said(names, beside),
        f"Of {multiverse['universes']:,} defensible designs ({multiverse['different']:,} different "
        f"lead{'s' * (multiverse['different'] != 1)}), the options of each decision weighing "
        f"alike, {a} wins in {percent(shares['wins'])} and loses in {percent(shares['loses'])}.",
        *turning_said(names, multiverse),
        _samples_said(names, multiverse["ahead"], samples),
        kept_splits,
    ]
    return [line for line in text if line]


def _beside_said(names: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> str:
    """Say where A is not surely above what needs no model, or B surely is below it."""
    a, b = names
    level = [row for row in rows if row["a"]["low"] <= 0]
    below = [row for row in rows if row["b"]["high"] < 0]
    said = [
        f"{name} is {how} {' and '.join(_ahead_said(row, side) for row in found)}."
        for name, side, how, found in ((a, "a", "not surely ahead of", level),
                                       (b, "b", "surely behind", below))
        if found
    ]  # fmt: skip
    return " ".join(said)


def _ahead_said(row: Mapping[str, Any], side: str) -> str:
    lead, low, high = (number_said(row[side][key], "+") for key in ("lead", "low", "high"))
    return f"{row['system']} (lead {lead} [{low}, {high}])"


def _samples_said(names: Sequence[str], ahead: int, rows: Sequence[Mapping[str, Any]]) -> str:
    """Say which samples of candidates, which are no designs, turn the winner surely."""
    turned = [row for row in rows if row["t"] and ahead
              and (row["lead"]["high"] < 0 if ahead > 0 else row["lead"]["low"] > 0)]  # fmt: skip
    if not turned:
        return ""
    winner = names[1] if ahead > 0 else names[0]
    lead = turned[0]["lead"]
    *first, last = (f"{row['t']:,}" for row in turned)
    sizes = f"{', '.join(first)} or {last}" if first else last
    return (
        f"Beside these designs, with each liked item alone among {sizes} sampled items {winner} "
        f"is surely ahead (lead {number_said(lead['lead'], '+')} [{number_said(lead['low'], '+')}, "
        f"{number_said(lead['high'], '+')}] with {turned[0]['t']:,})."
    )


def _without_said(a: str, without: Mapping[str, Any]) -> str:
    """Say which option alone keeps a sentence from holding, and what the share is without it."""
    decision, _, option = without["option"].partition(": ")
    text = (
        f" One option of one decision alone keeps it open – {decision[:1].lower()}{decision[1:]}: "
        f"{option}. Under it {a} loses in {percent(without['loses'])} of the designs; its "
        f"share of all others is {percent(without['wins'])}."
    )
    return f"{text} It counts misses." if without["misses"] else text


def _both_said(over_whom: Sequence[Mapping[str, Any]] | str) -> str:
    """Give the interval with other items too, which is the wider one."""
    for row in () if isinstance(over_whom, str) else over_whom:
        if row["over"] == "both" and not np.isnan(row["low"]):
            return (
                f"With other users and other items the interval is {number_said(row['low'], '+')} "
                f"to {number_said(row['high'], '+')}. "
            )
    return ""


def _unserved_said(names: Sequence[str], hidden: Mapping[str, Any]) -> str:
    """Say who has no list, and what the lead is among users whom both serve."""
    without = {name: hidden["unserved"][name] for name in names if hidden["unserved"][name]}
    if not without:
        return ""
    counts = " and ".join(f"{name} has no list for {n:,}" for name, n in without.items())
    text = f"Of {users_said(hidden['tested'])} with test ratings {counts}"
    served = hidden["parts"][comparison.SERVED]
    if not isinstance(served, str) and not np.isnan(served["lead"]):
        text += (
            f"; among those whom both serve the lead in P@{hidden['depth']} is "
            f"{number_said(served['lead'], '+')}"
        )
        if not np.isnan(served["low"]):
            ends = (number_said(served[end], "+") for end in ("low", "high"))
            text += f" ({' to '.join(ends)})"
    return f"{text}. "


def _own_said(names: Sequence[str], own: Difference, metric: Metric, n_tested: int) -> str:
    """Say how far A is ahead under the reader's own design."""
    a, b = names
    less = "" if metric.declaration.better == "higher" else ", of which less is better"
    if np.isnan(own.lead):
        return f"nobody has a value of {metric} under both."
    if abs(own.lead) < signals.NOTHING:
        text = f"{a} and {b} are level in {metric}{less}"
    else:
        where = "ahead of" if own.lead > 0 else "behind"
        text = f"{a} is {number_said(abs(own.lead))} {where} {b} in {metric}{less}"
    users = users_said(own.n_users)
    if n_tested < own.n_users:
        users += f", of whom {n_tested:,} {'have' if n_tested != 1 else 'has'} test ratings"
    if np.isnan(own.low):
        return f"{text} ({users}, too few for an interval)."
    ends = sorted((abs(own.low), abs(own.high))) if own.low * own.high > 0 else None
    shown = map(number_said, ends) if ends else (number_said(n, "+") for n in (own.low, own.high))
    interval = " to ".join(shown)
    return f"{text} (95 % interval {interval}, {users})."


def _plain(value: Any) -> Any:
    """Turn numbers into those of JSON; what is undefined becomes null."""
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
