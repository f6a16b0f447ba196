"""Check that the sentences of a built site say what the verdicts of its editions say.

    python tests/site/check_findings.py SITE_FOLDER

Every page of every edition is read. What each block of its source (``notebooks``, ``book``) has to
say there is found anew: from stored results by `judge` and the records, and by a reading of the
blocks of its own, which shares no code with `recbias.book.findings`. Exit 1 on a sentence with
another verdict or other words than its part has, one that is missing, one that must not be there,
one that stands before or behind its place, and one that is hidden. Words, formulas and quoted
numbers are compared, these with the notebook that the site offers; of citations and references to
figures only that they look like some. Words around a sentence are not read.
"""

from __future__ import annotations

import ast
import json
import math
import re
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import yaml

from recbias.claims import Part, claims, judge, load_chapter
from recbias.claims.judging import Verdict, find_parts
from recbias.claims.parts import ChapterResults
from recbias.claims.records import Record, criteria_of
from recbias.claims.regions import rounded
from recbias.claims.topics import find_page

ROOT = Path(__file__).resolve().parents[2]
_TYPED = str.maketrans("“”‘’–—", "\"\"''--")
_VOID = (
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track",
    "wbr",
)  # fmt: skip
_HIDING = {"visually-hidden", "sr-only", "d-none", "invisible"}
_BLOCK = re.compile(r"^(\s*)(?:[-*+] +|\d+[.)] +)?(:{3,})\{finding\} (\S+)\s*$")


class Said(NamedTuple):
    """A sentence of a page: the part it names, its verdict, its words; whether one can see it."""

    part: str
    verdict: str
    text: str
    hidden: bool


class _Open(NamedTuple):
    """An element that is open: its tag, whether it hides; of a sentence its place and words."""

    tag: str
    hidden: bool
    place: int | None
    words: list[str]


class _Page(HTMLParser):
    """Collects the marked sentences of a page, with everything inside them."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[Said] = []
        self._open: list[_Open] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _VOID:
            return
        named = {name: value or "" for name, value in attrs}
        hidden = _hides(tag, named) or any(each.hidden for each in self._open)
        place = None
        if "data-part" in named or "finding" in named.get("class", "").lower().split():
            place = len(self.said)
            names = (named.get("data-part", ""), named.get("data-verdict", ""))
            self.said.append(Said(*names, "", hidden))
        self._open.append(_Open(tag, hidden, place, []))

    def handle_endtag(self, tag: str) -> None:
        while any(each.tag == tag for each in self._open):
            closed = self._open.pop()
            if closed.place is not None:
                words = _typed("".join(closed.words))
                self.said[closed.place] = self.said[closed.place]._replace(text=words)
            if closed.tag == tag:
                return

    def handle_data(self, data: str) -> None:
        for each in self._open:
            if each.place is not None:
                each.words.append(data)


def _hides(tag: str, named: Mapping[str, str]) -> bool:
    """Tell whether an element keeps what it holds from readers."""
    return (
        tag in ("template", "script", "style", "noscript")
        or "hidden" in named
        or named.get("aria-hidden", "").lower() == "true"
        or not _HIDING.isdisjoint(named.get("class", "").lower().split())
        or re.search(r"display:none|visibility:hidden", re.sub(r"\s", "", named.get("style", "")))
        is not None
    )


def read_page(html: str) -> list[Said]:
    """List the marked sentences of a page in their order."""
    reader = _Page()
    reader.feed(html)
    return reader.said


def _typed(text: str) -> str:
    """Undo what typography does to a text."""
    text = text.translate(_TYPED).replace("…", "...")
    return re.sub(r"\s+", " ", re.sub("-+", "-", text)).strip()


# -- what has to be said -------------------------------------------------------------------------
def blocks(text: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Read the blocks of a text: what each names, and its forms by verdict."""
    lines = iter(text.splitlines())
    for line in lines:
        found = _BLOCK.match(line)
        if not found:
            continue
        forms: dict[str, str] = {}
        margin = len(line) - len(line.lstrip(" -*+0123456789.)"))
        for inner in lines:
            if inner.strip() == found[2]:
                break
            key, colon, rest = inner[margin:].partition(":")
            if colon and re.fullmatch(r"\w+", key):
                forms[key] = rest.strip()
            else:
                forms[next(reversed(forms))] += " " + inner.strip()
        yield found[3], forms


def source_text(page: str) -> str | None:
    """Give the Markdown of a page by its place in the site; None for one that has no source."""
    notebook, prose = ROOT / f"{page}.py", ROOT / f"{page}.md"
    if notebook.is_file():
        lines, markdown = [], False
        for line in notebook.read_text(encoding="utf-8").splitlines():
            if line.startswith("# %%"):
                markdown = "[markdown]" in line
            elif markdown:
                lines.append(line.removeprefix("#").removeprefix(" "))
        return "\n".join(lines)
    return prose.read_text(encoding="utf-8") if prose.is_file() else None


@cache
def _results(chapter: str, dataset: str) -> ChapterResults:
    return load_chapter(chapter, dataset)


@cache
def _judged(claim_id: str, dataset: str) -> Verdict:
    (claim,) = (each for each in claims() if each.id == claim_id)
    page = find_page(claim.topic)
    return judge(claim, _results(page.chapter, dataset) if page else {}, _results)


def parts_of(name: str, dataset: str) -> tuple[str, list[Part]]:
    """Judge what a block names: its verdict (empty if the data give none), and its parts."""
    claim_id, _, rest = name.partition("/")
    if claim_id == "own":
        return _own(rest, dataset)
    verdict = _judged(claim_id, dataset)
    claim = verdict.claim
    printed = [part for part in verdict.parts if not part.record.corrects]
    if not rest:
        known = {"yes": "holds", "no": "refuted", "partly": "refuted", "undecided": "open"}
        if verdict.verdict not in known:
            return "", []
        deciding = known[verdict.verdict]
        return verdict.verdict, [part for part in printed if part.verdict == deciding]
    number, place = (int(each) if each else 0 for each in rest.partition("/")[::2])
    asked = [
        record
        for record in criteria_of(claim.topic)[claim_id].records
        if number in record.asserts and not record.corrects and record.decides
    ]
    if place:
        asked = asked[place - 1 : place]
    own = [part for part in printed if part.record in asked]
    if any(record not in [part.record for part in own] for record in asked):
        return "", []
    return _joined(own)


@cache
def _own_records(root: Path) -> dict[str, tuple[str, dict]]:
    """Read the findings of the book: by name their topic and record."""
    return {
        name: (file.stem.replace("_", " "), raw)
        for file in sorted((root / "data" / "findings").glob("*.yaml"))
        for name, raw in (yaml.safe_load(file.read_text(encoding="utf-8")) or {}).items()
    }


def _own(name: str, dataset: str) -> tuple[str, list[Part]]:
    records = _own_records(ROOT)
    if name not in records:
        raise KeyError(f"own/{name}: no file of data/findings has it")
    topic, raw = records[name]
    page = find_page(topic)
    results = _results(page.chapter, dataset) if page else {}
    if not page or not results:
        return "", []
    parts, missing = find_parts([Record.from_dict(raw)], results, page, _results)
    return _joined([] if missing else parts)


def _joined(parts: list[Part]) -> tuple[str, list[Part]]:
    found = {part.verdict for part in parts}
    # What the data lack for one part, the others do not make up for.
    if "refuted" not in found and any(part.lacks for part in parts if not part.record.only):
        return "", []
    for verdict in ("refuted", "open", "holds"):
        if verdict in found:
            return verdict, [part for part in parts if part.verdict == verdict]
    return "", []


def glued(notebook: Path) -> dict[str, object]:
    """Read the values that the cells of an executed notebook gave names to."""
    if not notebook.is_file():
        return {}
    found = {}
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        for output in cell.get("outputs", ()):
            name = output.get("metadata", {}).get("scrapbook", {}).get("name")
            shown = "".join(output.get("data", {}).get("text/plain", ()))
            if name and shown:
                try:
                    found[name] = ast.literal_eval(shown)
                except (SyntaxError, ValueError):  # of a figure, which no sentence quotes
                    found[name] = shown
    return found


def _words(text: str) -> str:
    """Write a regular expression of words, whatever typography makes of them."""
    words = re.sub("-+", "-", text.translate(_TYPED).replace("…", "..."))
    return r"\s*".join(re.escape(word) for word in re.split(r"\s+", words))


def _piece(role: str, values: Mapping[str, object]) -> str:
    """Write a regular expression of what becomes of a formula or a role."""
    if role.startswith("$"):
        return _words(rf"\({role[1:-1]}\)")
    name, _, text = role[1:-1].partition("}`")
    if name.startswith("glue"):
        key, _, spec = text.partition(":")
        return _words(format(values[key], spec)) if key in values else "(?!)"
    if name == "numref":
        return r"(?:Fig\.|Table|Section|Exercise)\s*[\d.]+"
    if name.startswith("cite"):
        return r"(?:[^.!?]|\bal\.){1,40}?"
    title = text.partition("<")[0].strip() if "<" in text else ""
    return _words(title) if title else "[^.!?]{1,80}?"


def _without_ends(form: str) -> str:
    """Write what a form says where the interval is not known: nothing of its ends."""
    said, rest = "", form
    while found := re.search(r"\{low\b[^}]*\} to \{high\b[^}]*\}", rest):
        said, rest = said + rest[: found.start()], rest[found.end() :]
        beyond = re.split(r"[;)]", rest, maxsplit=1)[0]
        bracketed = beyond != rest and not re.search(r"[($]|\{(?!cases\})", beyond)
        said += "no interval" if bracketed else "an unknown number"
        rest = rest[len(beyond) :] if bracketed else rest
    return said + rest


def pattern(form: str, parts: list[Part], values: Mapping[str, object]) -> str:
    """Write a regular expression of what a form looks like on a page."""
    numbers: dict[str, float] = {}
    part, cases = parts[0] if parts else None, None
    if part:
        cases = getattr(part.estimate, "cases", None)
        numbers = dict(zip(("value", "low", "high"), (part.value, *part.interval), strict=True))
        numbers["cases"] = cases or float("nan")

    def number(blank: re.Match[str]) -> str:
        name, spec = blank[1], blank[2]
        if name == "which":
            return part.which if part else ""
        value = numbers.get(name, float("nan"))
        if name == "cases" or (spec == "cases" and not cases):
            return str(cases or "undefined")
        if value != value:
            return "undefined"
        if spec == "cases":
            text = f"{round(value * (cases or 0))}"
        elif spec:
            text = format(value, spec).replace("%", " %")
        else:
            text = rounded(value, part.record.unit, *part.interval) if part else ""
        return re.sub(r"^-", "\N{MINUS SIGN}", text)

    if part and math.isnan(sum(part.interval)):
        form = _without_ends(form)
    pieces = re.split(r"(\$[^$]+\$|\{[\w:-]+\}`[^`]+`)", form)
    said = []
    for piece in pieces:
        if piece.startswith(("$", "{")) and piece.endswith(("$", "`")):
            said.append(_piece(piece, values))
            continue
        piece = re.sub(r"\{(value|low|high|which|cases)(?::([^{}]+))?\}", number, piece)
        piece = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", piece)  # links
        piece = re.sub(r"\\([^\w\s])", r"\1", re.sub(r"[*`]", "", piece))
        said.append(_words(piece))
    return "".join(said)


def _of_record(part: Part) -> str:
    """Write the form of a block that leaves it to its record."""
    record, (low, high) = part.record, part.interval
    none = record.if_none and rounded(part.value, record.unit, *part.interval) in ("0", "none")
    sentence = record.if_none if none else record.finds
    for letter, value in part.numbers.items():
        sentence = sentence.replace(f"{{{letter}}}", f"{value:.3g}")
    ends = "" if low == high or math.isnan(low + high) else " ({low} to {high})"
    return f"{sentence[0].upper()}{sentence[1:]}{ends}."


def expected(
    page: str, dataset: str, values: Mapping[str, object] = MappingProxyType({})
) -> list[tuple[str, str, str]]:
    """List what a page has to say on a data set: part, verdict, pattern of its words."""
    found = []
    for name, forms in blocks(source_text(page) or ""):
        verdict, parts = parts_of(name, dataset)
        if not forms and parts:
            forms = {verdict: _of_record(parts[0])}
        if forms.get(verdict, "-") != "-":
            found.append((name, verdict, pattern(forms[verdict], parts, values)))
    return found


# -- predictions and slides ----------------------------------------------------------------------
def right_options(block: str, dataset: str) -> str:
    """Find which options of a prediction are right; `block` is what its mark says."""
    lines = block.strip().splitlines()
    if len(lines) == 1 and ":" not in lines[0]:
        return lines[0].strip()
    for line in lines:
        options, _, conditions = line.partition(": ")
        if all(_holds(each.split(), dataset) for each in conditions.split(" and ")):
            return options.strip()
    return "open"


def _holds(words: list[str], dataset: str) -> bool:
    """Tell whether one condition is met: a name, verdicts, a bound, a system."""
    verdict, parts = parts_of(words[0], dataset)
    rest = [word for word in words[1:] if word != "or"]
    wanted = [word for word in rest if word in ("holds", "refuted", "open")]
    if not verdict or (wanted and verdict not in wanted):
        return False
    value = parts[0].value if parts else float("nan")
    if "above" in rest and not value > float(rest[rest.index("above") + 1]):
        return False
    if "below" in rest and not value < float(rest[rest.index("below") + 1]):
        return False
    return "of" not in rest or parts[0].which == " ".join(rest[rest.index("of") + 1 :])


def prediction_faults(html: str, page: str, dataset: str) -> list[str]:
    """List the predictions of a page that hold another option for right than its conditions do."""
    source = source_text(page) or ""
    blocks = re.findall(r"^:::\{right\}(.*?)^:::$", source, re.DOTALL | re.MULTILINE)
    wanted = [right_options(block, dataset) for block in blocks]
    shown = re.findall(r'<div class="predict"[^>]* data-right="([^"]*)"', html)
    return [] if wanted == shown else [f"right options are {shown}, and should be {wanted}"]


def deck_faults(html: str, chapter: str) -> list[str]:
    """List the sentences of a deck that its chapter does not have."""
    known = {said[:3] for said in read_page(chapter)}
    return [
        f"{said.part} is not on the chapter as {said.verdict}: {said.text}"
        for said in read_page(html)
        if said[:3] not in known
    ]


# -- the site ------------------------------------------------------------------------------------
def page_faults(
    html: str, page: str, dataset: str, values: Mapping[str, object] = MappingProxyType({})
) -> list[str]:
    """List what is wrong with the sentences of one page; `values` are those it may quote."""
    shown = read_page(html)
    faults = [f"{said.part} is hidden: {said.text}" for said in shown if said.hidden]
    last, taken = -1, set()
    for part, verdict, words in expected(page, dataset, values):
        fitting = [
            place
            for place, said in enumerate(shown)
            if place not in taken and said[:2] == (part, verdict) and re.fullmatch(words, said.text)
        ]
        if not fitting:
            said = re.sub(r"\\(.)", r"\1", words.replace(r"\s*", " "))
            faults.append(f"{part} is {verdict}, and its sentence is missing: {said}")
            continue
        place = next((each for each in fitting if each > last), fitting[0])
        if place < last:
            faults.append(f"{part} stands before what it has to follow: {shown[place].text}")
        taken.add(place)
        last = place
    return faults + [
        f"{said.part} is said to be {said.verdict}, which its part does not bear out: {said.text}"
        for place, said in enumerate(shown)
        if place not in taken
    ]


def editions(site: Path) -> dict[str, Path]:
    """Find the folder of each edition by its data set; the first stands at the root."""
    notebook = next((site / "_sources" / "notebooks").glob("*.ipynb"))
    first = json.loads(notebook.read_text(encoding="utf-8"))["metadata"]["recbias"]
    others = sorted(path for path in (site / "on").glob("*") if path.is_dir())
    return {first["parameters"]["dataset"]: site, **{path.name: path for path in others}}


def faults(site: Path) -> tuple[list[str], int]:
    """List what is wrong with the sentences of a site, and count those that were checked."""
    found, n_checked = [], 0
    for dataset, folder in editions(site).items():
        for path in sorted(folder.rglob("*.html")):
            page = path.relative_to(folder).with_suffix("").as_posix()
            if page.startswith("on/"):
                continue
            html = path.read_text(encoding="utf-8")
            values = glued(folder / "_sources" / f"{page}.ipynb")
            n_checked += len(read_page(html))
            if page.startswith("slides/"):
                chapter = folder / "notebooks" / path.name
                told = deck_faults(html, chapter.read_text(encoding="utf-8"))
            else:
                told = page_faults(html, page, dataset, values)
                told += prediction_faults(html, page, dataset)
            found += [f"{dataset}, {page}: {each}" for each in told]
    return found, n_checked


def main() -> int:
    """Print the faults of the site named on the command line."""
    found, n_checked = faults(Path(sys.argv[1]).resolve())
    print("\n".join([*found, f"{n_checked} sentences that follow verdicts: {len(found)} faults"]))
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
