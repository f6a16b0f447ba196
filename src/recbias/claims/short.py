"""Claims in a short form, for audits: few systems, one split, one record each.

A claim is judged by its whole criterion, on a chapter's results; that takes minutes. An audit asks
less: does what the claim says show on these data, among the reader's two systems and three that
need no training? ``data/published/short_forms.yaml`` says how, and was written before any audit had
run it. No verdict on a claim of the ledger follows from it.

The rule by which a claim is asked: it is about an option that the reader's design takes (`ABOUT`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from recbias._system.places import packaged
from recbias.audit.comparison import Case, Comparison
from recbias.audit.ledger import Ruling, register_claims
from recbias.claims.judging import find_parts
from recbias.claims.ledger import TOPICS, Claim, claims, parse_yaml
from recbias.claims.reading import address
from recbias.claims.records import Record
from recbias.claims.topics import Judged
from recbias.errors import ConfigError, DataError, TrainingError, unknown_name
from recbias.experiment.options import Options
from recbias.experiment.results import StoredResult
from recbias.experiment.training_seeds import ORDER_SEEDS
from recbias.recommenders import System, with_seeds

_FULL = "full lists"

ABOUT: Mapping[str, Callable[[Options], bool]] = {
    "any": lambda _: True,
    _FULL: lambda design: not (design.protocol.condensed or design.protocol.rule.per_run),
    "condensed lists": lambda design: design.protocol.condensed,
    "runs": lambda design: design.protocol.rule.per_run,
    "split at random": lambda design: str(design.split).startswith(("ratio", "k-fold")),
    "users alike": lambda design: not design.protocol.averaging.weights,
}
"""What a claim may be about, and which designs take it."""

DESIGNS: Mapping[str, tuple[str, str, tuple[str, ...]]] = {
    "full": ("AI-AN-AR", "observed", ("P@{n}", "antiP@{n}", "nDCG@{n}", "judged@{n}",
                                      "LTI(0.8)@{n}", "rho")),
    "tested": ("TI-AN-AR", "observed", ("P@{n}",)),
    "half": ("AI-AN-AR", "observed removed=50%", ("P@{n}",)),
    "headless": ("AI-AN-AR", "observed head=10%", ("P@{n}",)),
    "runs": ("AI-AN-1R", "observed", ("P@{n}",)),
    "within": ("AI-AN-P1R m=10", "observed", ("P@{n}",)),
    "condensed": ("AI-AN-AR rel condensed", "observed", ("P@{n}", "nDCG@{n}")),
    "weighed": ("AI-AN-AR rel weights=ratings", "observed", ("P@{n}",)),
}  # fmt: skip
"""What short forms read: by table its protocol, test side and metrics, n deep."""

_BELOW_THE_END = ("condensed", "runs", "within")
_BESIDE = (
    ("Random", "Random"),
    ("Popularity", "Popularity"),
    ("Positive counts", "RelevantPopularity"),
)


@dataclass(frozen=True)
class ShortForm:
    """One claim in its short form.

    Attributes
    ----------
    claim
        Of the ledger.
    says
        What it says, in plain words.
    about
        Names of `ABOUT`.
    record
        How it is asked.
    """

    claim: Claim
    says: str
    about: tuple[str, ...]
    record: Record

    def bears_on(self, design: Options) -> bool:
        """Tell whether the claim is about an option that a design takes."""
        return any(ABOUT[name](design) for name in self.about)


@cache
def short_forms() -> tuple[ShortForm, ...]:
    """Read all short forms.

    Raises
    ------
    ConfigError
        If one names no claim of the ledger, nothing of `ABOUT`, or a table that is not of
        `DESIGNS`.

    Examples
    --------
    >>> "BCC17-C-RTEST" in [form.claim.id for form in short_forms()]
    True
    """
    text = packaged("published/short_forms.yaml").read_text(encoding="utf-8")
    return read_short_forms(parse_yaml(text))


def read_short_forms(entries: Mapping[str, Mapping[str, Any]]) -> tuple[ShortForm, ...]:
    """Make short forms of what a file has; errors as of `short_forms`."""
    by_id = {claim.id: claim for claim in claims()}
    found = []
    for name, entry in entries.items():
        if name not in by_id:
            raise unknown_name("claim", name, by_id)
        own = dict(entry)
        says, about = str(own.pop("claim")), tuple(own.pop("about"))
        for each in about:
            if each not in ABOUT:
                raise unknown_name("part of a design", each, ABOUT)
        record = Record.from_dict(own)
        for edition, table in record.reads:
            if edition or table not in DESIGNS:
                raise unknown_name("design of short forms", table, DESIGNS)
        found.append(ShortForm(by_id[name], says, about, record))
    return tuple(found)


def rulings(asks: Comparison, whole_lists: bool) -> list[Ruling]:
    """Judge the claims that bear on the design of a comparison, each in its short form."""
    forms = [form for form in short_forms() if form.bears_on(asks.design)]
    wanted = {table for form in forms for _, table in form.record.reads}
    results: dict[str, StoredResult] = {}
    reasons: dict[str, str] = {}
    systems = _systems(asks)
    for table in (table for table in DESIGNS if table in wanted):
        protocol, test, metrics = DESIGNS[table]
        if table in _BELOW_THE_END and not whole_lists:
            reasons[table] = "the lists were cut off, and it looks below their end"
            continue
        texts = [metric.format(n=asks.depth) for metric in metrics]
        rule, _, rest = protocol.partition(" rel")
        case = Case(table, f"{rule} {asks.rel}{rest}", texts[0], test)
        try:
            results[table] = asks.run(case, texts, systems=systems)
        except (ConfigError, DataError, TrainingError) as error:
            reasons[table] = str(error).partition("\n")[0]
    return [_ruling(form, results, reasons) for form in forms]


def _systems(asks: Comparison) -> list[System]:
    """Name the reader's two beside those that records call by name, which are what they say."""
    known = dict(_BESIDE)
    least = {"min_rating": asks.design.protocol.min_rating}
    own = [
        each.replace(f"{each.name} (yours)") if each.name in known else each
        for each in asks.pair
        if known.get(each.name) != each.algorithm
    ]
    beside = [
        System(name, algorithm, least if algorithm == "RelevantPopularity" else {})
        for name, algorithm in _BESIDE
    ]
    return [*own, *with_seeds(beside, ORDER_SEEDS)]


def _ruling(
    form: ShortForm, results: Mapping[str, StoredResult], reasons: Mapping[str, str]
) -> Ruling:
    verdict, found, reason = "not testable", "", ""
    absent = [reasons[table] for _, table in form.record.reads if table in reasons]
    if absent:
        reason = absent[0]
    else:
        parts, missing = find_parts([form.record], results, Judged("", {}, {}), _none)
        if missing:
            reason = f"not measured: {missing[0]}"
        else:
            part = parts[0]
            verdict, found, reason = part.verdict, part.finding, part.lacks or part.unsure
    topic = form.claim.topic
    return Ruling(
        form.claim.id, form.says, verdict, found, form.record.claimed, reason,
        address(form.claim.id), f"chapter {TOPICS.index(topic) + 1}, {topic}",
    )  # fmt: skip


def _none(chapter: str, dataset: str) -> Mapping[str, StoredResult]:
    """Give no results of other data sets: a short form reads the reader's own alone."""
    return {}


register_claims("the four papers", rulings)
