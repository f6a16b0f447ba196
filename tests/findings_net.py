"""A net for sentences that state what data decide, and are not bound to a verdict.

It knows no meaning, only words: a sentence is caught that names something measured (a system, a
design, a metric, an order) together with a comparison, a change or a typed number. Two kinds of
text stay outside: blocks that follow a verdict, and what only asks or practises (options of a
question, exercises, solutions). What the paper says may be told anywhere, but not beside what these
data say. Glued values count as typed numbers, apart from settings.

Cells tagged ``general`` and pages that are no notebook state nothing that data decide; there a
wider mesh applies, since theory compares too: a sentence is caught that says of systems by name, of
all of them, or of a figure or table of ours, how they compare or change, without `may` or `if`.
Bare `can` and `must` excuse nothing; `no system can` does, since theorems say so.

A second net is for the form of a block that says what is refuted. Of an assertion with several
parts it stands as soon as one of them is, whatever the others are: so it may deny all of them
together, and none that may hold. `denies_each` catches what has no word that leaves room.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import jupytext

_SYSTEMS = (  # as they are written: "random" and "popularity" are words as well
    r"\b(?:Random|Pop(?:ularity)?|pLSA|MF|kNN|ALS|W?G?BPR|SLIM|SVD\+\+|WRMF|HKV|BPoissMF"
    r"|[Rr]ating predict(?:or|ion)s?|[Rr]ankers?)\b"
)
_ALL_OF_THEM = (
    r"(?:the|the same|all|most|many|both|every|each|no|two|three|\w+(?:ve|ix|en|ine)|these|those)"
    r"\s+(?:of the\s+)?(?:other\s+|ten\s+|five\s+)?"
    r"(?:systems?|recommenders?|values?|readings|settings|differences)"
    r"|(?:orders?|rankings?) of (?:the )?systems|(?:everybody|everyone|nobody) \w+s|who wins"
)
_MEASURED = (
    r"systems?|recommenders?|designs?|metrics?|precision|recall|ndcg|p@\S+|rho|tau|1r|ar|ai|ti|nn"
    r"|values?|scores?|orders?|rankings?|gaps?|bounds?|intervals?|ranges?|samples?|target sets?"
    r"|candidates|thinning|sampling|popularity|baselines?|bottom|percent|pairs|ar|1r|sizes?|share|numbers?|differences?|readings?|settings?|models?|ties"
)
_COMPARES = (
    r"more|less|fewer|most(?!ly)|least|larger|largest|smaller|smallest|higher|highest|lower|lowest"
    r"|wider|widest|narrower|closer|closest|nearer|better|best|worse|worst|stronger|weaker|above"
    r"|below|ahead|behind|left of|right of|twice|times|factor|same values?|same order"
    r"|as (?:good|bad|high|low|large|small|close) as|in front|hardly|barely|a lot"
    r"|almost|nearly|bottom|tied|indistinguishable|negligible|the other way (?:a?round)|preserved"
    r"|fourfold|(?:two|three|four|five|six|ten)fold"
    r"|(?:two|three) (?:thirds|quarters)|one half|a third"
    r"|(?:is|are|comes?|coming|ranks?|ranked) (?:first|second|last)|a little|by far|only in|beyond"
)
_CHANGES = (
    r"gain(?:s|ed)?|los(?:e|es|ing|t)|ris(?:e|es|ing)|rose|falls?|fell|falling|drop(?:s|ped|ping)?"
    r"|shrinks?|shrinking|shrank|grow(?:s|ing)?|grew|widen(?:s|ed|ing)?|narrow(?:s|ed|ing)?"
    r"|clos(?:es|ed|ing) the|moves?|moved|moving|chang(?:e|es|ed|ing)|flip(?:s|ped)?"
    r"|revers(?:e|es|ed)|swap(?:s|ped)?|beat(?:s|en|ing)?|wins?|won|overtak(?:e|es|en)"
    r"|outperform(?:s|ed)?|(?:dis)?agrees?|surviv(?:e|es|ed)|differ(?:s|ed)?|matters?|mattered"
    r"|increas(?:e|es|ed|ing)|decreas(?:e|es|ed|ing)|depend(?:s|ed)?|comes? out|reorders?"
    r"|looks? (?:good|bad)|closes?|leads?|led|tops|topped|trail(?:s|ed)?|dominat(?:e|es|ed)"
    r"|doubl(?:e|es|ed)|halv(?:e|es|ed)|climb(?:s|ed)?|suffer(?:s|ed)?|benefit(?:s|ed)?"
    r"|improv(?:e|es|ed)|coincid(?:e|es|ed)|trad(?:e|es|ed) places|flatter(?:s|ed)?"
)
_NUMBER = (
    r"(?<![\w@.])(?:GLUE|\d*\.\d+|\d[\d,]* ?(?:%|percent\b)"
    r"|\d[\d,]*(?:-fold| times| systems| readings)"
    r"|(?:factor|ratio) of \d[\d.,]*)"
)
_IN_MATH = r"^\s*[\d.,]+\s*(?:\\%)?\s*$|\d*\.\d+|(?:[^kntm\s]\s*=|\\approx|\\sim)\s*\d"
_SETTINGS = (
    r"(?:cutoff|size|min_rating|split|data|n_(?:seeds|systems|pairs|readings|worlds))(?::.*)?"
)
"""Glued by these names is what was chosen; what was measured has others."""
_USUAL = r"\b9[59] ?(?:%|percent\b)"
_PAPERS = (
    r"\bCITE\b|\bthe papers?\b|\bits (?:Table|Figure|Section|authors)|\bthe authors\b|\bprinted\b"
    r"|\bpublished (?:orders?|values?|ones?|figures?)\b"
)
_OURS = (
    r"\b(?:here|ours?|we|too|also|as well|so does|likewise|in this book|these data|this page"
    r"|(?:every|each|all) data ?sets?|(?:is|are) right|as in the paper)\b"
)
_SUPPOSED = (
    r"\b(?:may|might|could|would|no \w+ can|if|whether|suppose|should|expected"
    r"|in expectation)\b"
)
_NEUTRAL = (  # words of comparison that compare nothing
    r"\w+est possible|\bwhy (?:that|this|it) matters|\bfrom the best to the worst|\bthe best on top"
    r"|\b(?:tables?|figures?|plots?|rows?|bars) (?:above|below)|\b(?:above|below)(?=[),.;])"
    r"|\bleads? (?:to|the finding)\b|\bhalf and double\b|\b(?:nearly|almost) (?:all|every)\b"
    r"|\bthe more [^,.;]+, the \w+er|\bmost (?:pairs|users|items|people|of)"
)
_LEAVES_ROOM = (  # for what holds beside the part that is refuted
    r"\bnot (?:\w+ ){0,4}?(?:all|every|each|both|everything|everywhere|quite)\b"
    r"|\bnot\b[^.:;]*\b(?:(?:at|by|under) every|under each|(?:for|in|nearly) all|all the)\b"
    r"|\b(?:is|are|was) not (?:the \w+est|the least|the best|first|second|last)\b"
    r"|\bor\b|\b(?:one|some|first|largest|smallest) of\b|\bin one (?:case|of)\b|\bin part\b|\bmay\b"
    r"|\bfor some\b|\bone system\b|\bnot so that\b"
)
_DONE = r"\b(?:is|are) (?:changed|moved)\b"
_SHOWN = r"\bFIGREF\b|\bthe (?:table|figure|column|row|plot|bars?|last column|first row)s?\b"
_IGNORED = ("exercise", "solution", "math", "code", "code-block", "bibliography", "glossary", "raw")

_FENCE = re.compile(r"\s*(?P<fence>:{3,}|`{3,}|~{3,})(?:\{(?P<name>[\w:+-]+)\} ?(?P<title>.*))?")
_ENDS = re.compile(r"([.!?][)*\"”]*)\s+(?=[\"“(*]*(?:[A-Z{$`\[]|pLSA|kNN))")
_ROLE = re.compile(r"\{(?P<name>[\w:-]+)\}`(?P<text>[^`]+)`", re.DOTALL)


class Sentence(NamedTuple):
    """A sentence, the line where its paragraph starts (from 1), and whether its cell is general."""

    text: str
    line: int
    general: bool


def sentences(path: Path) -> list[Sentence]:
    """List what a notebook or page says outside blocks that follow verdicts, ask or practise."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return [Sentence(said, line + 1, True) for said, line in _sentences(text)]
    notebook = jupytext.reads(text, fmt="py:percent")
    starts = [n for n, line in enumerate(text.splitlines()) if line.startswith("# %%")]
    assert len(starts) == len(notebook.cells), path
    return [
        Sentence(said, start + 2 + line, "general" in cell.metadata.get("tags", []))
        for start, cell in zip(starts, notebook.cells, strict=True)
        if cell.cell_type == "markdown"
        for said, line in _sentences(cell.source)
    ]


def unbound(text: str, *, general: bool = False) -> list[str]:
    """List the sentences of a text that state a finding without being bound to a part."""
    return [said for said, _ in _sentences(text) if looks_like_finding(said, general=general)]


def looks_like_finding(sentence: str, *, general: bool = False) -> bool:
    """Tell whether a sentence states what data decide, as far as words tell."""
    text = _plain(sentence)
    if text.endswith("?") and not _has(r"^why ", text):  # which takes its answer for granted
        return False
    if _has(_PAPERS, text) and not _has(_OURS, text) and not _has(_SHOWN, text):
        return False
    weighed = re.sub(_NEUTRAL, "", text, flags=re.IGNORECASE)
    if general:  # where it is said what was done
        weighed = re.sub(_DONE, "", weighed)
    changes = _has_word(_CHANGES, weighed)
    compares = changes or _has_word(_COMPARES, weighed)
    typed = _has(_NUMBER, re.sub(_USUAL, "", text))
    named = re.search(_SYSTEMS, text) is not None or _has(rf"\b(?:{_ALL_OF_THEM})\b", text)
    if general:
        shown = _has(_SHOWN, text)
        if _has(_SUPPOSED, text) and not shown:
            return False
        return (changes and shown) or (named and (compares or typed))
    beside = _has(_PAPERS, text) and _has(_OURS, text)  # a number of ours, with one of the paper's
    measured = named or beside or _has_word(_MEASURED, text) or _has(_SHOWN, text)
    return measured and (compares or typed)


def denies_each(form: str) -> bool:
    """Tell whether the form for what is refuted leaves no room for parts that hold.

    Numbers, links and formulas are passed over: only words can leave room.
    """
    return not _has(_LEAVES_ROOM, _plain(form))


def _has(pattern: str, text: str) -> bool:
    return re.search(pattern, text, re.IGNORECASE) is not None


def _has_word(words: str, text: str) -> bool:
    return _has(rf"(?<![\w-])(?:{words})(?![\w-])", text)


def _plain(sentence: str) -> str:
    """Write out roles and formulas as one word each."""

    def word(role: re.Match[str]) -> str:
        name, text = role["name"], role["text"]
        if name.startswith("cite"):
            return "CITE"
        if name.startswith("glue"):
            return "SETTING" if re.fullmatch(_SETTINGS, text) else "GLUE"
        if name == "numref":
            return "FIGREF"
        return formula(text) if name == "math" else text.partition("<")[0]

    def formula(text: str) -> str:
        return "MATH 0.0" if re.search(_IN_MATH, text) else "MATH"

    text = _ROLE.sub(word, sentence)
    text = re.sub(r"\$([^$]*)\$", lambda math: formula(math[1]), text)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    return re.sub(r"\s+", " ", re.sub(r"[*`\[\]]", "", text)).strip()


def _sentences(text: str) -> Iterator[tuple[str, int]]:
    """Split what is to be judged into sentences, with the line where each paragraph starts."""
    for paragraph, line in _paragraphs(text):
        for said in _ENDS.sub(r"\1\n", paragraph).split("\n"):
            if said.strip():
                yield said.strip(), line


def _paragraphs(text: str) -> Iterator[tuple[str, int]]:
    lines = text.splitlines()
    found: list[str] = []
    start = number = 0
    open_fences: list[str] = []
    while number < len(lines):
        line = lines[number].strip().removeprefix("> ")
        fence = _FENCE.match(line)
        if fence and fence["name"] == "finding":
            number = _end(lines, number, fence["fence"]) + 1
            continue  # within its paragraph
        begins = line.startswith(("#", "|", ":")) or re.match(r"(?:[-*+]|\d+[.)]) ", line)
        if not line or fence or begins or line.startswith(("%", "$$", "(sec-")):
            if found:
                yield " ".join(found), start
            found, start = [], number
        if fence and line == fence["fence"] and line in open_fences:
            open_fences.remove(line)
        elif fence and (fence["name"] or fence["fence"][0] != ":"):
            name = (fence["name"] or "code").removesuffix("-start")
            if name in _IGNORED or name.startswith(("exercise", "solution")):
                number = _end(lines, number, fence["fence"])
            else:
                open_fences.append(fence["fence"])
                if name == "predict":
                    number = _after_options(lines, number)
        elif line.startswith("$$") and not (line.endswith("$$") and len(line) > 3):
            number += 1
            while number < len(lines) and not lines[number].rstrip(".").rstrip().endswith("$$"):
                number += 1
        elif re.match(r":[\w-]+:", line):
            if line.startswith(":alt:"):
                yield line.removeprefix(":alt:").strip(), number
        elif line and not fence and not line.startswith(("%", "$$")) and not line.startswith("("):
            if not found:
                start = number
            found.append(re.sub(r"^(?:#+|[-*+]|\d+[.)]) ", "", line))
        elif line.startswith("(") and not line.endswith(")="):
            found.append(line)
        number += 1
    if found:
        yield " ".join(found), start


def _end(lines: list[str], start: int, fence: str) -> int:
    """Find the line that closes a directive; code in it has other fences, or longer ones."""
    for number in range(start + 1, len(lines)):
        if lines[number].strip().removeprefix("> ") == fence:
            return number
    raise ValueError(f"line {start}: {lines[start]!r} is not closed")


def _after_options(lines: list[str], start: int) -> int:
    """Pass over the options of a question; the answer behind them is judged like any text."""
    number = start
    while number + 1 < len(lines) and lines[number + 1].strip():
        number += 1
    return number
