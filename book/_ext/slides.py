"""Slides of each chapter, made of its page: the same figures, predictions and bound sentences.

Nothing is written twice. A deck has what a section of the chapter shows by itself: its title, a
table by hand, predictions with the option that the data of the edition bear out, figures, the
sentences that follow verdicts, what to do, the exercises, the summary. The page answers its
question in its lead; the deck asks first, and has the lead where figures have been seen, or before
a sentence that no figure precedes. A case by hand is told, and its results turn up when the room
has worked them out. Option codes are defined before the first slide that uses one, by the table of
the page on notation. What stands beside it on the page are the notes of who speaks, with minutes. A
figure, a table or a prediction has a slide of its own; words are `MOST_WORDS` at most, and fewer
sentences are shown where a deck would have more than `MOST_SLIDES`. Sections that tell how the page
was made, what a section hides behind a click, and what follows a figure with the class ``no-slide``
have none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.builders.html import StandaloneHTMLBuilder

from teaching import told_of

__all__ = ["MOST_SLIDES", "MOST_WORDS", "Slide", "setup", "slides_of"]

MOST_SLIDES = 20
MOST_WORDS = 45
MOST_LISTED = 60
"""Words of a list, whose lines are short."""
MOST_RULE = 32
"""Words of a rule; of a longer one its first clauses are shown."""
MINUTES = {
    "title": 1, "aims": 1, "codes": 2, "table": 4, "figure": 3, "context": 1, "predict": 3,
    "sentence": 1, "answer": 1, "rules": 2, "exercises": 1, "summary": 1,
}  # fmt: skip
"""That a slide of each kind takes."""

_NO_SLIDES = re.compile(
    r"The experiment|Verdicts|What we had to decide|On your data|Beside|Predict before"
)
_CHAPTER = re.compile(r"notebooks/\d\d_")
_CODE = re.compile(r"\b(?:AI|TI|AN|NN|UAR|[PU]?1RP?)\b")
"""An option of who is ranked; AR alone may be an algorithm."""
_REMEDY = re.compile(r"\b(?:P1R|U1R|UAR)\b")
_CODES = ("book/notation", "sec-options")
"""Where the table of options stands, and after it that of remedies: page and section."""
_LINK = re.compile(r"</?a\b[^>]*>")
_IDS = re.compile(r' (?:id|name)="(?!predict-|picture-)[^"]*"')
_MARK = re.compile(r'<span class="finding"[^>]*>')
_SPACE = re.compile(r"\s+")
_IN_BRACKETS = re.compile(
    r"\s*\((?:[^()]*(?:Fig|Table|numref|[A-Z]{3,}\d\d-)[^()]*|why|how many|table)\)"
)
_SENTENCE = re.compile(r"(?<=[.!?:])\s+(?=(?:<\w+[^>]*>)*[A-Z*])")
_CLAUSE = re.compile(r"(?<=[;:])\s+")
_CELL = re.compile(r"(?<=<td>)(?:<span class=\"column\">.*?</span>)?<p.*?(?=</td>)", re.DOTALL)


PICTURE = (1220, 640)
LEAST_PIXELS = 18
"""Of the smallest text of a figure that a slide shows; those with smaller text have none."""

_BOX = re.compile(r'viewBox="0 0 ([\d.]+) ([\d.]+)"')
_SIZE = re.compile(r"(?:font:[^;\"]*?|font-size: ?)([\d.]+)px")


def least_text(svg: str) -> float:
    """Give the size of the smallest text of a picture that fills a slide, in pixels of 1280.

    Examples
    --------
    >>> least_text('<svg viewBox="0 0 610 100"><text style="font: 9px serif">a</text></svg>')
    18.0
    """
    box, sizes = _BOX.search(svg), [float(size) for size in _SIZE.findall(svg)]
    if not box or not sizes:
        return 0.0
    return min(sizes) * min(PICTURE[0] / float(box[1]), PICTURE[1] / float(box[2]))


@dataclass
class Slide:
    """One slide: its kind (see `MINUTES`), title and body as HTML, and what is said beside it."""

    kind: str
    title: str
    body: str
    notes: list[str] = field(default_factory=list)

    @property
    def words(self) -> int:
        """How many words its body has."""
        return _words(self.body)


def _words(html: str) -> int:
    return len(re.sub(r"<[^>]+>", " ", html).split())


class _Reader:
    """Writes pieces of a resolved page as the page does."""

    def __init__(self, app: Sphinx) -> None:
        self._app = app

    def html(self, *found: nodes.Node) -> str:
        """Write nodes as HTML, without links and without anchors."""
        written = []
        for node in found:
            visitor = self._app.builder.create_translator(node.document, self._app.builder)
            node.walkabout(visitor)
            written.append(_MARK.sub("<span>", "".join(visitor.body)))
        html = _IDS.sub("", _LINK.sub("", "".join(written)))
        return html.strip() if "<svg" in html else _SPACE.sub(" ", html).strip()

    def inline(self, node: nodes.Element) -> str:
        """Write what is inside an element."""
        return self.html(*node.children)

    def picture(self, figure: nodes.figure) -> str:
        """Write the picture of a figure."""
        return "".join(
            node.astext() for node in figure.findall(nodes.raw) if "<svg" in node.astext()
        )


def _is_folded(node: nodes.Node) -> bool:
    """Tell whether something stands behind a click, or is part of an exercise."""
    while node.parent is not None:
        classes = node.get("classes", ()) if isinstance(node, nodes.Element) else ()
        if {"dropdown", "no-slide"} & set(classes) or "exercise" in type(node).__name__:
            return True
        node = node.parent
    return False


def _within(node: nodes.Node, name: str) -> bool:
    while (node := node.parent) is not None:
        if type(node).__name__ == name:
            return True
    return False


def _sentences(paragraph: nodes.paragraph) -> Iterator[tuple[str, list[nodes.Node]]]:
    """Give the mark of each bound sentence of a paragraph, and what stands in it."""
    mark, inside = "", list[nodes.Node]()
    for node in paragraph.children:
        text = node.astext() if isinstance(node, nodes.raw) else ""
        if 'class="finding"' in text:
            mark, inside = text, []
        elif text == "</span>" and mark:
            yield mark, inside
            mark = ""
        elif mark:
            inside.append(node)


def _first(html: str, most: int = MOST_WORDS) -> str:
    """Take whole sentences from the start, as many as have at most so many words, and one."""
    taken = ""
    for sentence in _SENTENCE.split(html):
        joined = f"{taken} {sentence}".strip()
        if taken and _words(joined) > most:
            break
        taken = joined
    return _closed(taken)


def _closed(html: str) -> str:
    """Close what a piece of HTML opens.

    Examples
    --------
    >>> _closed("<strong>Why? <em>So.</em>")
    '<strong>Why? <em>So.</em></strong>'
    """
    opened: list[str] = []
    for end, name in re.findall(r"<(/?)([a-z]\w*)\b[^>]*>", html):
        if not end:
            opened.append(name)
        elif name in opened:
            del opened[len(opened) - 1 - opened[::-1].index(name) :]
    return html + "".join(f"</{name}>" for name in reversed(opened))


def slides_of(app: Sphinx, doctree: nodes.document, exercises: Sequence[str] = ()) -> list[Slide]:
    """Make the slides of a chapter from its resolved page, and the names of its exercises."""
    reader = _Reader(app)
    (chapter,) = (node for node in doctree.children if isinstance(node, nodes.section))
    title = reader.inline(chapter[0])
    lead = [node for node in chapter.children if not isinstance(node, nodes.section)]
    sections = [node for node in chapter.children if isinstance(node, nodes.section)]
    answered = _answered(reader, title, lead)
    slides = [Slide("title", title, "", ["Ask, and wait for hands, before anything is shown."])]
    predictions = [
        node
        for section in sections
        for node in section.findall()
        if type(node).__name__ == "predict" and _NO_SLIDES.match(section[0].astext())
    ]
    for paragraph in doctree.findall(nodes.paragraph):
        if paragraph.astext().startswith("After this chapter"):
            slides += _aims(reader, paragraph)
    for section in sections:
        head = section[0].astext()
        if head.startswith("Exercises"):
            slides += _exercises(exercises)
        elif head.startswith("Summary"):
            slides += _summary(reader, section)
        elif head.startswith("What to do"):
            slides += answered + _rules(reader, section)
            answered = []
        elif head.startswith("Predict before"):
            for question in predictions:
                slides += _prediction(reader, question)
        elif not _NO_SLIDES.match(head):
            slides += _section(reader, section)
    return _coded(app, reader, _figure_first(slides + answered, title))


def _figure_first(slides: list[Slide], title: str) -> list[Slide]:
    """Put the figures of the lead before the first sentence, if no figure stands before it."""
    kinds = [slide.kind for slide in slides]
    if "sentence" not in kinds or "figure" in kinds[: kinds.index("sentence")]:
        return slides
    place = kinds.index("sentence")
    lead = [slide for slide in slides if slide.kind == "figure" and slide.title == title]
    rest = [slide for slide in slides[place:] if slide not in lead]
    return [*slides[:place], *lead, *rest]


def _coded(app: Sphinx, reader: _Reader, slides: list[Slide]) -> list[Slide]:
    """Define option codes, those of remedies where a slide has one."""
    with_remedies = any(_REMEDY.search(_shown(slide)) for slide in slides)
    return _with_codes(slides, _codes(app, reader, 1 + with_remedies))


def _with_codes(slides: list[Slide], codes: Slide | None) -> list[Slide]:
    """Put the table of option codes before the first slide that uses one."""
    kept = _trimmed(slides, MOST_SLIDES - (codes is not None))
    using = (n for n, slide in enumerate(kept) if _CODE.search(_shown(slide)))
    if codes is None or (place := next(using, None)) is None:
        return _trimmed(slides, MOST_SLIDES)
    place -= kept[place - 1].kind == "context"
    return [*kept[:place], codes, *kept[place:]]


def _shown(slide: Slide) -> str:
    return re.sub(r"<(?:title|desc)\b.*?</(?:title|desc)>|<[^>]+>", " ", slide.title + slide.body)


def _codes(app: Sphinx, reader: _Reader, n_tables: int) -> Slide | None:
    """Read the tables of option codes, if the book has them."""
    page, label = _CODES
    if page not in app.env.found_docs:
        return None
    found = app.env.get_doctree(page)
    assert isinstance(app.builder, StandaloneHTMLBuilder)
    found.settings = app.builder.docsettings  # as the builder gives the page that it writes
    for section in found.findall(nodes.section):
        if label in section["ids"]:
            tables = list(section.findall(nodes.table))[:n_tables]
            (told, *_) = section.findall(nodes.paragraph)
            notes = [escape(told.astext())]  # the page's references are not resolved here
            return Slide(
                "codes", reader.inline(section[0]), "".join(map(reader.html, tables)), notes
            )
    return None


def _answered(reader: _Reader, title: str, lead: Sequence[nodes.Node]) -> list[Slide]:
    """Give what the lead shows and says: its figures, and the answer to the question."""
    paragraphs = [node for node in lead if isinstance(node, nodes.paragraph)]
    bound = [each for node in paragraphs for each in _sentences(node)]
    answer = _first(reader.html(*bound[0][1])) if bound else ""
    answer = re.sub(r"[;:,](?=(?:</\w+>)*$)", ".", answer)
    notes = [reader.inline(node) for node in paragraphs]
    slides = _figures(reader, title, list(lead), reader.html(*bound[0][1]) if bound else "")
    shown = [slide for slide in slides if slide.kind != "sentence"]
    more = [slide for slide in slides if slide.kind == "sentence"]  # may speak of the answer
    answers = [Slide("answer", title, f"<p>{answer}</p>", notes)] if answer else []
    return [*shown, *answers, *more]


def _figures(
    reader: _Reader, title: str, children: Sequence[nodes.Node], skip: str = ""
) -> list[Slide]:
    """Give each figure a slide, with what follows it on the page as notes; and bound sentences."""
    slides: list[Slide] = []
    for node in children:
        if isinstance(node, nodes.section):
            slides += _figures(reader, reader.inline(node[0]), node.children[1:])
            continue
        if type(node).__name__ == "predict":
            slides += _prediction(reader, node)
            continue
        for figure in [n for n in node.findall(nodes.figure) if not _is_folded(n)]:
            if (picture := reader.picture(figure)) and least_text(picture) >= LEAST_PIXELS:
                told = [reader.inline(each) for each in figure.findall(nodes.caption)]
                told += [reader.inline(each) for each in figure.findall(nodes.legend)]
                slides.append(Slide("figure", title, picture, told))
        for paragraph in [n for n in node.findall(nodes.paragraph) if not _is_folded(n)]:
            if _within(paragraph, "figure") or _within(paragraph, "predict"):
                continue
            if slides and _words("".join(slides[-1].notes)) < 150:
                slides[-1].notes.append(reader.inline(paragraph))
            for mark, bound in _sentences(paragraph):
                said = reader.html(*bound)
                plain = "".join(each.astext() for each in bound).strip()
                is_whole = plain[:1].isupper() and plain.endswith(".")
                if said not in skip and is_whole and 8 <= _words(said) <= MOST_WORDS:
                    slides.append(Slide("sentence", title, f"<p>{mark}{said}</span></p>"))
    return slides


def _section(reader: _Reader, section: nodes.section) -> list[Slide]:
    """Give a section its case by hand and its figures."""
    title = reader.inline(section[0])
    slides = []
    if "hand" in section[0].astext().lower():
        paragraphs = [n for n in section.findall(nodes.paragraph) if not _is_folded(n)]
        told = [n for n in paragraphs if not _within(n, "entry")]
        notes = [reader.inline(n) for n in told][:4]
        tables = [n for n in section.findall(nodes.table) if not _is_folded(n)]
        if tables:
            nodes_in_order = list(section.findall())
            before = [n for n in told if nodes_in_order.index(n) < nodes_in_order.index(tables[0])]
            case = _first(" ".join(map(reader.inline, before)), MOST_LISTED)
            body = f"<p>{case}</p>{_covered(reader.html(tables[0]))}"
            ask = "Have what is empty worked out in pairs, then go on to show it."
            told_beside = [ask, *notes] if 'class="fragment"' in body else notes
            slides.append(Slide("table", title, body, told_beside))
    return slides + _figures(reader, title, section.children[1:])


def _covered(table: str) -> str:
    """Let what is worked out turn up later: of the last two columns of more those with numbers.

    Examples
    --------
    >>> _covered("<tr><td><p>A</p></td><td><p>yes</p></td><td><p>1</p></td></tr>")[21:]
    '<td><p>yes</p></td><td><p class="fragment" data-fragment-index="1">1</p></td></tr>'
    """
    rows = table.split("</tr>")
    cells = [[re.sub(r"<[^>]+>", "", cell) for cell in _CELL.findall(row)] for row in rows]
    asked = [n for n in (-2, -1) for row in cells if len(row) > 2 and re.search(r"\d", row[n])]
    for number, row in enumerate(rows):
        found = list(_CELL.finditer(row))
        for place in sorted({n for n in asked if -n <= len(found)}, reverse=True):
            start, end = found[place].span()
            later = row[start:end].replace("<p", '<p class="fragment" data-fragment-index="1"', 1)
            row = row[:start] + later + row[end:]
        rows[number] = row
    return "</tr>".join(rows)


def _aims(reader: _Reader, paragraph: nodes.paragraph) -> list[Slide]:
    """Part what one can do after the chapter into a list."""
    text = re.sub(r"<em>About.*|\. (?:<em>)?You need.*", "", reader.inline(paragraph))
    text = re.sub(r"<strong>.*?</strong>", "", text).strip().rstrip(".")
    aims = [re.sub(r"^and ", "", each.strip()) for each in text.split(";")]
    return _listed("aims", "After this chapter you can", aims, [""] * len(aims))


def _prediction(reader: _Reader, block: nodes.Element) -> list[Slide]:
    """Give a question its options, of which those turn up that are right; the answer as notes."""
    choice, answer = block[0], block[1]
    question, options = reader.inline(choice[0]), [reader.inline(each) for each in choice[1:]]
    rights = [int(number) for number in block["right"].split() if number.isdecimal()]
    rows = []
    for number, option in enumerate(options, start=1):
        is_right = ' class="fragment highlight-right" data-fragment-index="1"'
        mark = is_right if number in rights else ""
        rows.append(f"<li{mark}>{option}</li>")
    end = "" if rights else '<p class="fragment">No option is decided by these data.</p>'
    body = f"<ol>{''.join(rows)}</ol>{end}"
    notes = ["Ask for hands, then go on to mark what is right."]
    notes += [reader.inline(n) for n in answer.findall(nodes.paragraph) if not _within(n, "figure")]
    if _words(question) + _words(body) <= MOST_WORDS:
        return [Slide("predict", "Predict, then look", f"<p>{question}</p>{body}", notes)]
    *before, asked = re.split(r"(?<=[.:])\s+(?=[A-Z])", question)
    slides = []
    if _words(question) <= MOST_WORDS and _words(" ".join(before)) > MOST_WORDS // 5:
        slides.append(Slide("context", "Predict, then look", f"<p>{question}</p>"))
    else:
        notes.insert(0, " ".join(before))
    return [*slides, Slide("predict", asked, body, notes)]


def _rules(reader: _Reader, section: nodes.section) -> list[Slide]:
    """Show the first sentence of each rule; the rest is said."""
    rules, notes = [], []
    for item in section.findall(nodes.list_item):
        strong = next(iter(item.findall(nodes.strong)), None)
        if strong is not None and isinstance(item.parent, nodes.enumerated_list) and len(item):
            whole = reader.inline(item[0])
            rule = _closed(_IN_BRACKETS.sub("", _first(whole, 1)).rstrip(" ,:."))
            rules.append(_shortened(rule, reader.inline(strong)))
            notes.append(whole)
    return _listed("rules", reader.inline(section[0]), rules, notes, "ol")


def _shortened(rule: str, bold: str) -> str:
    """Take of a long rule as many clauses as are not too long; what is bold if that is more.

    Examples
    --------
    >>> _shortened("<strong>A sparse test</strong>: keep all; then " + "on " * 30, "A sparse test")
    '<strong>A sparse test</strong>: keep all'
    """
    taken, *more = _CLAUSE.split(rule)
    for clause in more:
        if _words(f"{taken} {clause}") > MOST_RULE:
            break
        taken = f"{taken} {clause}"
    fits = _words(bold) <= _words(taken) <= MOST_RULE
    return _closed(taken.rstrip(" ,:;.")) if fits else bold


def _listed(
    kind: str, title: str, rows: Sequence[str], notes: Sequence[str], tag: str = "ul"
) -> list[Slide]:
    """Part a list into slides of not too many words."""
    slides: list[Slide] = []
    start = 0
    for end in range(1, len(rows) + 1):
        if end == len(rows) or _words(" ".join(rows[start : end + 1])) > MOST_LISTED:
            items = "".join(f"<li>{row}</li>" for row in rows[start:end])
            number = f' start="{start + 1}"' if tag == "ol" else ""
            body = f"<{tag}{number}>{items}</{tag}>"
            slides.append(Slide(kind, title, body, list(notes[start:end])))
            start = end
    return slides


def _exercises(names: Sequence[str]) -> list[Slide]:
    """Name the exercises."""
    return _listed("exercises", "Exercises", list(map(escape, names)), [""] * len(names), "ol")


def _summary(reader: _Reader, section: nodes.section) -> list[Slide]:
    paragraphs = [n for n in section.children if isinstance(n, nodes.paragraph)]
    whole = " ".join(reader.inline(n) for n in paragraphs)
    return [Slide("summary", "Summary", f"<p>{_first(whole)}</p>", [whole])]


def _trimmed(slides: list[Slide], most: int) -> list[Slide]:
    """Leave out, if there are too many, sentences from the end, then predictions and figures."""
    kept = list(slides)
    for kind, least in (("sentence", 0), ("predict", 3), ("figure", 5)):
        places = [n for n, slide in enumerate(kept) if slide.kind == kind]
        gone: set[int] = set()
        # every second first, so that what is left is spread over the chapter
        order = [*places[1::2][::-1], *places[0::2][::-1]]
        while len(kept) - len(gone) > most and len(places) - len(gone & {*places}) > least:
            place = order.pop(0)
            if kind == "predict":
                gone |= {place - 1} if kept[place - 1].kind == "context" else set()
            elif kept[place].notes and place and kind == "sentence":
                above = kept[place - 1].notes
                above += [note for note in kept[place].notes if note not in above]
            gone.add(place)
        kept = [slide for n, slide in enumerate(kept) if n not in gone]
    return kept


# -- the deck ------------------------------------------------------------------------------------
_CONFIG = {
    "width": 1280, "height": 720, "margin": 0, "center": False, "hash": True,
    "transition": "none", "backgroundTransition": "none", "slideNumber": "c/t",
    "pdfSeparateFragments": False, "pdfMaxPagesPerSlide": 1,
}  # fmt: skip


def deck_html(slides: Sequence[Slide], title: str, page: str, edition: str, math: str) -> str:
    """Write slides as a page of the site that needs its static files alone.

    Parameters
    ----------
    slides
        In their order.
    title
        Of the chapter, as text.
    page
        Address of the chapter from here.
    edition
        Whose data are shown.
    math
        Tags that load what typesets formulas; empty where there are none.
    """
    sections, passed = [], 0
    for number, slide in enumerate(slides):
        passed += MINUTES[slide.kind]
        notes = "".join(f"<p>{note}</p>" for note in slide.notes if note)
        clock = f"{MINUTES[slide.kind]} min, until {passed // 60}:{passed % 60:02d}."
        if number == 0:
            whole = sum(MINUTES[each.kind] for each in slides)
            foot = f'<p class="of"><a href="{escape(page)}">The chapter</a> · {escape(edition)}</p>'
            head, clock = f"<h1>{slide.title}</h1>", f"{clock} All slides: {whole} min."
        else:
            foot, head = "", f"<h2>{slide.title}</h2>"
        sections.append(
            f'<section class="{slide.kind}">{head}<div class="body">{slide.body}</div>{foot}'
            f'<aside class="notes"><p><strong>{clock}</strong></p>{notes}</aside></section>'
        )
    body = "\n".join(sections)
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Slides: {escape(title)}</title>\n"
        f'<link rel="stylesheet" href="../_static/reveal/reveal.css">\n'
        f'<link rel="stylesheet" href="../_static/slides.css">\n{math}'
        f"<noscript><style>.reveal, .reveal .slides, .reveal .slides > section {{ display: block; "
        f"position: static; transform: none; height: auto; overflow: visible }} "
        f".reveal .slides section .fragment {{ opacity: 1; visibility: inherit }}</style>"
        f"</noscript>\n"
        f'</head>\n<body>\n<main class="reveal"><div class="slides">\n{body}\n</div></main>\n'
        f'<script src="../_static/reveal/reveal.js"></script>\n'
        f"<script>window.deck = {json.dumps(_CONFIG)};</script>\n"
        f'<script src="../_static/slides.js"></script>\n</body>\n</html>\n'
    )


def _math(app: Sphinx, body: str) -> str:
    """Give the tags that typeset formulas, as the pages have them."""
    if 'class="math' not in body:
        return ""
    config = json.dumps({**(app.config.mathjax3_config or {})})
    return (
        f"<script>window.MathJax = {config}</script>\n"
        f'<script defer src="../_static/{app.config.mathjax_path}"></script>\n'
    )


def write_deck(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document
) -> None:
    """Write the slides of a chapter beside its edition, and link them from it."""
    if not doctree or not _CHAPTER.match(pagename):
        return
    slides = slides_of(app, doctree, told_of(app.env).get(pagename, {}).get("exercises", ()))
    name = pagename.rpartition("/")[2]
    titles = app.config.bookkit_titles
    edition = titles.get(app.config.bookkit_edition, app.config.bookkit_edition)
    title = nodes.Element.astext(app.env.titles[pagename])
    body = "".join(slide.body + slide.title + "".join(slide.notes) for slide in slides)
    page = deck_html(slides, title, f"../{pagename}.html", edition, _math(app, body))
    target = Path(app.outdir, "slides", f"{name}.html")
    target.parent.mkdir(exist_ok=True)
    target.write_text(page, encoding="utf-8")
    context["slides"] = f"../slides/{name}.html"


def setup(app: Sphinx) -> dict[str, bool]:
    """Register everything with Sphinx."""
    app.connect("html-page-context", write_deck, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
