"""Sphinx extension: a small exercise whose numbers the page draws, and whose answer it checks.

    :::{drill} gini
    What is the Gini coefficient of these five counts?
    :::

The argument names one of the drills of ``drills.js``, the content is what is asked. Without scripts
there are no numbers: the page says so. Nothing is fetched, sent or stored.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

__all__ = ["DrillDirective", "drill_names", "setup"]

_SCRIPT = Path(__file__).resolve().parents[1] / "_static" / "drills.js"


@cache
def drill_names() -> tuple[str, ...]:
    """Read from the script which drills there are."""
    return tuple(re.findall(r"^    (\w+)\(draw\) \{$", _SCRIPT.read_text("utf-8"), re.MULTILINE))


class drill(nodes.General, nodes.Element):  # noqa: N801 - docutils names nodes in lower case
    """What is asked; its attribute ``name`` is that of the drill."""


class DrillDirective(SphinxDirective):
    """Read the name of a drill (argument), and what is asked (content)."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Build the node."""
        name = self.arguments[0]
        if name not in drill_names():
            raise self.error(f"drill: {name!r} is none of {', '.join(drill_names())}")
        if not self.content:
            raise self.error("drill: say what is asked")
        block = drill("", name=name)
        self.state.nested_parse(self.content, self.content_offset, block)
        return [block]


def _visit(translator: Any, node: nodes.Element) -> None:
    translator.body.append(
        f'<div class="drill" data-drill="{node["name"]}">\n'
        '<p class="drill-head">By hand: numbers of your own, checked in the page</p>\n'
    )


def _depart(translator: Any, node: nodes.Element) -> None:
    translator.body.append(
        '<div class="drill-work" hidden></div>\n'
        "<noscript><p>The numbers are drawn by a script, which this browser does not run.</p>"
        "</noscript>\n</div>\n"
    )


def _pass(translator: Any, node: nodes.Element) -> None:
    """Write the content alone."""


def setup(app: Sphinx) -> dict[str, bool]:
    """Register everything with Sphinx."""
    app.add_node(drill, html=(_visit, _depart), latex=(_pass, _pass), text=(_pass, _pass))
    app.add_directive("drill", DrillDirective)
    app.add_css_file("drills.css")
    app.add_js_file("drills.js", loading_method="defer")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
