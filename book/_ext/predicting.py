"""Sphinx extension: a question that readers answer before they look at the result.

    ::::{predict} What happens to Popularity's P@10 when the other items are a sample of 100?
    - it rises
    - it stays
    - it falls

    It rises, since a sample takes away items that are not relevant.

    :::{right} 1
    :::
    ::::

The list holds what one can commit to, all that follows is the answer. On the page the question is
the legend of a group of radio buttons, and the answer stands behind a disclosure, which needs no
script; ``predict.js`` says what was chosen, and whether it was right. Which options are, the block
``right`` names by number, as :mod:`recbias.book.right_options` has found it on the data of the
page; ``none`` of them may be, or that may be ``open``. What a reader predicted is kept in their
browser, under a key that changes with the page, the question and its options, and counted where
the page ends. Nothing is sent.
"""

from __future__ import annotations

import hashlib
from html import escape
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

__all__ = ["PredictDirective", "RightDirective", "setup"]


class predict(nodes.General, nodes.Element):  # noqa: N801 - docutils names nodes in lower case
    """A question, its options and its answer; ``right`` names the options that are."""


class predict_choice(nodes.General, nodes.Element):  # noqa: N801
    """The question with the options; its attribute ``group`` is unique on the page."""


class predict_question(nodes.General, nodes.TextElement):  # noqa: N801
    """The question, inline."""


class predict_option(nodes.General, nodes.TextElement):  # noqa: N801
    """One option, inline."""


class predict_answer(nodes.General, nodes.Element):  # noqa: N801
    """What is behind the disclosure."""


class predict_right(nodes.General, nodes.Element):  # noqa: N801
    """Which options are right, until the question has it."""


class predict_count(nodes.General, nodes.Element):  # noqa: N801
    """Where a script counts what was predicted."""


class RightDirective(SphinxDirective):
    """Read which options of the question around are right: numbers, ``none`` or ``open``."""

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Build the node."""
        if self.content:
            raise self.error("right: the conditions were not held against the data of the page")
        return [predict_right("", right=self.arguments[0])]


class PredictDirective(SphinxDirective):
    """Read a question (argument), its options (a list of two or more) and its answer (the rest).

    Raises
    ------
    DirectiveError
        If there is no list first, or one of less than two options; if an option is more than one
        paragraph; if there is no answer; if an option is to be right that is not there. The
        message names the page and the line.
    """

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Build the nodes."""
        content = nodes.Element()
        self.state.nested_parse(self.content, self.content_offset, content)
        first, *rest = content.children or [nodes.comment()]
        if not isinstance(first, nodes.bullet_list) or len(first) < 2:
            raise self.error("predict: give a list of two or more options right below the question")
        if any(not _is_line(item) for item in first):
            raise self.error("predict: an option is one paragraph of text")
        if not rest:
            raise self.error("predict: there is no answer after the list of options")
        marks = [mark for node in rest for mark in node.findall(predict_right)]
        for mark in marks:
            mark.parent.remove(mark)
        right = marks[0]["right"] if marks else ""
        if any(
            number.isdecimal() and not 1 <= int(number) <= len(first) for number in right.split()
        ):
            raise self.error(f"predict: right is {right}, of {len(first)} options")
        question, messages = self.parse_inline(self.arguments[0], lineno=self.lineno)
        choice = predict_choice("", group=f"predict-{self.env.new_serialno('predict')}")
        choice += predict_question("", "", *question)
        choice += [predict_option("", "", *item[0].children) for item in first]
        answer = predict_answer("", *(node for node in rest if node not in marks))
        said = "\n".join([self.arguments[0], *(item.astext() for item in first)])
        digest = hashlib.sha256(said.encode()).hexdigest()[:8]
        edition = getattr(self.config, "bookkit_edition", "")
        key = f"{edition}/{self.env.docname}/{digest}"
        block = predict("", choice, answer, right=right, key=key, ids=[choice["group"]])
        self.set_source_info(block)
        return [block, *messages]


def _is_line(item: nodes.Node) -> bool:
    return len(item.children) == 1 and isinstance(item.children[0], nodes.paragraph)


# -- HTML ------------------------------------------------------------------------------------------
def _visit_predict(translator: Any, node: nodes.Element) -> None:
    marks = (
        f' data-right="{node["right"]}" data-key="{escape(node["key"])}"' if node["right"] else ""
    )
    translator.body.append(f'<div class="predict" id="{node["ids"][0]}"{marks}>\n')


def _depart_predict(translator: Any, node: nodes.Element) -> None:
    translator.body.append("</div>\n")


def _visit_choice(translator: Any, node: nodes.Element) -> None:
    translator.body.append("<fieldset>\n")


def _depart_choice(translator: Any, node: nodes.Element) -> None:
    # A live region has to be there before it is filled.
    translator.body.append(
        '<p class="predict-said visually-hidden" role="status"></p>\n</fieldset>\n'
    )


def _visit_question(translator: Any, node: nodes.Element) -> None:
    translator.body.append('<legend><span class="predict-head">Predict, then look</span> ')


def _depart_question(translator: Any, node: nodes.Element) -> None:
    translator.body.append("</legend>\n")


def _visit_option(translator: Any, node: nodes.Element) -> None:
    group = node.parent["group"]
    # Browsers keep what was chosen over a reload, unless they are asked not to.
    translator.body.append(f'<label><input type="radio" name="{group}" autocomplete="off"/> <span>')


def _depart_option(translator: Any, node: nodes.Element) -> None:
    translator.body.append("</span></label>\n")


def _visit_answer(translator: Any, node: nodes.Element) -> None:
    translator.body.append("<details>\n<summary>Look at the answer</summary>\n<div>\n")


def _depart_answer(translator: Any, node: nodes.Element) -> None:
    translator.body.append("</div>\n</details>\n")


def _visit_count(translator: Any, node: nodes.Element) -> None:
    translator.body.append('<aside class="predict-count" aria-label="Your predictions" hidden>')


def _depart_count(translator: Any, node: nodes.Element) -> None:
    translator.body.append("</aside>\n")


def add_count(app: Sphinx, doctree: nodes.document) -> None:
    """Give a page that asks, and knows what is right, a place for the count (doctree-read)."""
    if any(block["right"] for block in doctree.findall(predict)):
        sections = [node for node in doctree.children if isinstance(node, nodes.section)]
        (sections[-1] if sections else doctree).append(predict_count())


# -- other formats ---------------------------------------------------------------------------------
def _pass(translator: Any, node: nodes.Element) -> None:
    """Write the content alone."""


def setup(app: Sphinx) -> dict[str, bool]:
    """Register everything with Sphinx."""
    for node, html in (
        (predict, (_visit_predict, _depart_predict)),
        (predict_choice, (_visit_choice, _depart_choice)),
        (predict_question, (_visit_question, _depart_question)),
        (predict_option, (_visit_option, _depart_option)),
        (predict_answer, (_visit_answer, _depart_answer)),
        (predict_count, (_visit_count, _depart_count)),
    ):
        app.add_node(node, html=html, latex=(_pass, _pass), text=(_pass, _pass))
    app.add_directive("predict", PredictDirective)
    app.add_directive("right", RightDirective)
    app.connect("doctree-read", add_count)
    app.add_css_file("predict.css")
    app.add_js_file("predict.js", loading_method="defer")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
