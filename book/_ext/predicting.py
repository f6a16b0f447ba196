"""Sphinx extension: a question that readers answer before they look at the result.

    ::::{predict} What happens to Popularity's P@10 when the other items are a sample of 100?
    - it rises
    - it stays
    - it falls

    It rises, since a sample takes away items that are not relevant.
    ::::

The list holds what one can commit to, all that follows is the answer. On the page the question is
the legend of a group of radio buttons, and the answer stands behind a disclosure, which needs no
script; ``predict.js`` says what was chosen. Nothing is sent or stored.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

__all__ = ["PredictDirective", "setup"]


class predict(nodes.General, nodes.Element):  # noqa: N801 - docutils names nodes in lower case
    """A question, its options and its answer."""


class predict_choice(nodes.General, nodes.Element):  # noqa: N801
    """The question with the options; its attribute ``group`` is unique on the page."""


class predict_question(nodes.General, nodes.TextElement):  # noqa: N801
    """The question, inline."""


class predict_option(nodes.General, nodes.TextElement):  # noqa: N801
    """One option, inline."""


class predict_answer(nodes.General, nodes.Element):  # noqa: N801
    """What is behind the disclosure."""


class PredictDirective(SphinxDirective):
    """Read a question (argument), its options (a list of two or more) and its answer (the rest).

    Raises
    ------
    DirectiveError
        If there is no list first, or one of less than two options; if an option is more than one
        paragraph; if there is no answer. The message names the page and the line.
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
        question, messages = self.parse_inline(self.arguments[0], lineno=self.lineno)
        choice = predict_choice("", group=f"predict-{self.env.new_serialno('predict')}")
        choice += predict_question("", "", *question)
        choice += [predict_option("", "", *item[0].children) for item in first]
        block = predict("", choice, predict_answer("", *rest))
        self.set_source_info(block)
        return [block, *messages]


def _is_line(item: nodes.Node) -> bool:
    return len(item.children) == 1 and isinstance(item.children[0], nodes.paragraph)


# -- HTML ------------------------------------------------------------------------------------------
def _visit_predict(translator: Any, node: nodes.Element) -> None:
    translator.body.append('<div class="predict">\n')


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
    ):
        app.add_node(node, html=html, latex=(_pass, _pass), text=(_pass, _pass))
    app.add_directive("predict", PredictDirective)
    app.add_css_file("predict.css")
    app.add_js_file("predict.js", loading_method="defer")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
