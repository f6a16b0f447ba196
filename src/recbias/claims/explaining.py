"""All that leads to a verdict, as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from recbias.claims.checks import IDENTITIES
from recbias.claims.deciding import wanted
from recbias.claims.evaluation import check_calls
from recbias.claims.evidence import misnamed
from recbias.claims.expressions import BINDING, Call, Expression, Operation, Term
from recbias.claims.functions import WORDS
from recbias.claims.judging import Verdict, judge, load_chapter
from recbias.claims.ledger import Claim, claims
from recbias.claims.parts import Part, is_core
from recbias.claims.records import criteria_of
from recbias.claims.topics import chapters, find_judged
from recbias.errors import ConfigError, unknown_name
from recbias.experiment.results import SIMULATIONS, recorded_datasets, results_dir


def explain_claim(claim_id: str, dataset: str) -> str:
    """Write all that leads to a verdict: records, parts, what was read, and from which files.

    Parameters
    ----------
    claim_id
        Id in the ledger.
    dataset
        Data set whose results are judged, recorded or live.

    Returns
    -------
    str
        Lines of text.

    Raises
    ------
    ConfigError
        If the ledger has no such claim.
    """
    by_id = {claim.id: claim for claim in claims()}
    if claim_id not in by_id:
        raise unknown_name("claim", claim_id, by_id)
    claim = by_id[claim_id]
    chapter = chapters()[claim.topic]
    verdict = judge(claim, load_chapter(chapter, dataset) if chapter else {})
    return "\n".join(_lines(verdict, _files(verdict, chapter, dataset)))


def misnamed_terms(names: Iterable[str] | None = None) -> list[str]:
    """Name the terms of criteria that no recorded results have, with the nearest name.

    What was not computed yet is among them: a criterion is written before its first result.

    Parameters
    ----------
    names
        Of claims; all by default.

    Raises
    ------
    ConfigError
        If a criterion calls a function that there is not, or with other arguments.
    """
    told = []
    asked = None if names is None else set(names)
    for topic, chapter in chapters().items():
        criteria = {
            claim: criterion
            for claim, criterion in criteria_of(topic).items()
            if asked is None or claim in asked
        }
        judged = find_judged(topic)
        if chapter is None or judged is None or not criteria:
            continue
        for claim, criterion in criteria.items():
            for record in criterion.records:
                try:
                    check_calls(record, judged.functions)
                except ConfigError as error:
                    raise ConfigError(f"{claim}: {error}") from error
        recorded = recorded_datasets(chapter, simulations=True)
        editions = {name: load_chapter(chapter, name) for name in recorded}
        for claim, criterion in criteria.items():
            for record in criterion.records:
                for term in record.terms:
                    where = (
                        [editions[term.edition]] if term.edition in editions else editions.values()
                    )
                    if mistake := misnamed(term, where, record.systems):
                        told.append(f"{claim}: {term}: {mistake}")
    return list(dict.fromkeys(told))


def _files(verdict: Verdict, chapter: str | None, dataset: str) -> list[str]:
    """Name the documents that a verdict was read from."""
    if verdict.criterion is None or not verdict.origin or chapter is None:
        return []
    noted = {(reading.edition, reading.table) for part in verdict.parts for reading in part.read}
    reads = [read for read in verdict.criterion.reads if read != ("", "checks") or read in noted]
    reads += [read for read in [(SIMULATIONS, IDENTITIES)] if read in noted]
    paths = []
    for edition, table in reads:
        recorded = bool(edition) or verdict.origin == "recorded"
        folder = results_dir(edition or dataset, recorded=recorded) / chapter
        paths.append(str(folder / f"{table}.json"))
    return paths


def _lines(verdict: Verdict, files: Sequence[str]) -> list[str]:
    claim, criterion = verdict.claim, verdict.criterion
    lines = [f"{claim.id}  {claim.where}  {claim.counts_as}", claim.text, ""]
    reason = f" ({verdict.reason})" if verdict.reason else ""
    lines.append(f"verdict     {verdict.verdict}{reason}")
    details = ", ".join(f"{n} {name}" for name, n in verdict.details.items()) or "none"
    lines.append(f"strict      {verdict.strict}, by all parts alike")
    lines.append(f"details     {details}")
    if verdict.corrected:
        strict = verdict.strict_corrected
        lines.append(f"corrected   {verdict.corrected} ({strict}, by all parts alike)")
    if verdict.would_decide:
        lines.append(verdict.would_decide)
    if claim.pilot_seen:
        lines.append("pilot seen  values were known when the criterion was written")
    lines += [f"file        {name}" for name in files]
    for part in verdict.parts:
        low, high = part.interval
        numbers = ", ".join(map(str, part.record.asserts))
        lines += ["", f"{part.verdict:11} {part.sentence}"]
        if low != high:
            lines.append(f"  interval  {low:.4g} to {high:.4g}")
        lines.append(f"  record    {_record_line(part)}")
        lines.append(f"  in words  {in_words(part.record.expression)}")
        if numbers:
            lines.append(f"  asserts   {numbers}{_core(part, claim)}")
        lines += [f"  wanted    {each}" for each in wanted(part, claim)]
        if part.lacks or part.unsure:
            lines.append(f"  because   {part.lacks or part.unsure}")
        for reading in part.read:
            where = f"{reading.edition}/{reading.table}" if reading.edition else reading.table
            lines.append(f"  read      {where}: {reading.what} = {reading.value:.6g}")
    for number, assertion in enumerate(claim.asserts, 1):
        place = (criterion.elsewhere if criterion else {}).get(number)
        if assertion.unchecked or place:
            why = f"judged under {place}" if place else assertion.unchecked
            core = ", of the core" if number in claim.core else ""
            lines += ["", f"not a part  {number}. {assertion.text}", f"  because   {why}{core}"]
    for old in criterion.replaced if criterion else ():
        lines += ["", f"until {old.until}  {old.words}", f"  replaced  {old.why}"]
        lines += [f"  {name}: {was}, now {now}" for name, (was, now) in old.verdicts.items()]
    return lines


def _core(part: Part, claim: Claim) -> str:
    if not part.record.decides or not claim.asserts:
        return ""
    if is_core(part.record, claim):
        return ", of the core"
    disputed = sorted(set(part.record.asserts) & set(claim.disputed))
    told = ", ".join(map(str, disputed))
    return f", a detail ({told} of the core for one of two readers)" if told else ", a detail"


def _record_line(part: Part) -> str:
    record = part.record
    words = [str(record.expression)]
    if record.systems:
        words.append(f"over {', '.join(record.systems)}")
    if record.but:
        words.append(f"but {', '.join(record.but)}")
    return "; ".join([*words, record.region.words(record.unit)])


def in_words(node: Expression) -> str:
    """Say in a sentence what an expression measures.

    Examples
    --------
    >>> from recbias.claims.expressions import parse
    >>> in_words(parse("smallest(P[AR] of pLSA - P[AR])"))
    'the smallest of P under AR of pLSA minus P under AR'
    >>> in_words(parse("share(mean(observed[>0, 0.65, 1] in worlds) > 0)"))
    'the share of the cases in which the mean of observed of >0, 0.65, 1 in worlds is above 0'
    """
    if isinstance(node, Term):
        joint = "under" if node.table == "systems" or node.system or node.axis else "of"
        text = f"{node.metric} {joint} {node.label}"
        text += f" of {node.system}" if node.system else ""
        text += f" in {node.table}" if node.table != "systems" else ""
        text += f" on {node.edition}" if node.edition else ""
        return text + (f", followed along {_AXES[node.axis]}" if node.axis else "")
    if isinstance(node, Operation):
        sides = []
        for side in (node.left, node.right):
            words = in_words(side)
            loose = isinstance(side, Operation) and BINDING[side.operator] < BINDING["*"]
            sides.append(f"({words})" if loose and node.operator in _OPERATORS else words)
        joint = _OPERATORS.get(node.operator) or _CONDITIONS.get(node.operator, node.operator)
        return f"{sides[0]} {joint} {sides[1]}"
    if isinstance(node, Call):
        told = [in_words(argument) for argument in node.arguments]
        words = WORDS.get(node.name, f"{node.name.replace('_', ' ')} of {{}}")
        n_gaps = words.count("{}")
        if n_gaps > 1:
            return words.format(*told, *[""] * (n_gaps - len(told)))
        return words.format(" and ".join(filter(None, [", ".join(told[:-1]), *told[-1:]])))
    return str(node).strip('"')


_OPERATORS = {"-": "minus", "+": "plus", "*": "times", "/": "over"}
_CONDITIONS = {
    ">": "is above",
    ">=": "is at least",
    "<": "is below",
    "<=": "is at most",
    "where": "of those where",
}
_AXES = {
    "removed": "the share of test ratings that are removed",
    "kept": "the share of test ratings that are kept",
    "size": "the size of target sets",
    "gamma": "gamma of stratified recall",
}
