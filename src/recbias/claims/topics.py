"""The chapters that judge claims, found by their names.

The claims of a topic such as "design alternatives" are judged by the module or package
``recbias.book.chapters.design_alternatives``. It holds

* ``CHAPTER``, the name of the notebook, under which the chapter's results are stored;
* ``FUNCTIONS``, if any, what its criteria compute that expressions cannot say, by name;
* ``VIEWS``, if any, what is derived from its tables, by ``TABLE.NAME``.

The criteria themselves are data (`recbias.claims.records`).

Functions that make its results are registered when it is imported
(`recbias.experiment.makers.maker`).
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from importlib.util import find_spec
from typing import NamedTuple

from recbias.claims.evidence import View
from recbias.claims.ledger import TOPICS
from recbias.claims.values import Function
from recbias.errors import unknown_name

_PAGES = {
    "systems": "recbias.book.systems.line_up",
    "multiverse": "recbias.book.chapters.multiverse",
}
"""What the findings of a page stand on that judges no claim."""
_MAKERS = (
    "recbias.book.predictions",
    "recbias.book.audits",
    "recbias.book.systems.validation",
    "recbias.book.systems.ties",
    "recbias.book.chapters.multiverse",
)
"""What makes results of several pages, or of one that judges no claim."""


class Judged(NamedTuple):
    """How the claims of a topic are judged.

    Attributes
    ----------
    chapter
        Name of the chapter's notebook.
    functions
        What criteria compute that expressions cannot say, by name.
    views
        What is derived from the chapter's tables, by ``TABLE.NAME``.
    """

    chapter: str
    functions: Mapping[str, Function]
    views: Mapping[str, View]


def find_judged(topic: str) -> Judged | None:
    """Import what judges a topic.

    Examples
    --------
    >>> find_judged("design alternatives").chapter
    '01_design_alternatives'
    """
    if topic not in TOPICS:
        raise unknown_name("chapter topic", topic, TOPICS)
    name = f"recbias.book.chapters.{topic.replace(' ', '_')}"
    if find_spec(name) is None:
        return None
    module = importlib.import_module(name)
    return Judged(module.CHAPTER, getattr(module, "FUNCTIONS", {}), getattr(module, "VIEWS", {}))


def find_page(topic: str) -> Judged | None:
    """Import what a topic's page stands on, also of a page that judges no claim.

    Examples
    --------
    >>> find_page("systems").chapter
    'systems'
    """
    if topic not in _PAGES:
        return find_judged(topic)
    module = importlib.import_module(_PAGES[topic])
    return Judged(module.CHAPTER, module.FUNCTIONS, getattr(module, "VIEWS", {}))


def chapters() -> dict[str, str | None]:
    """List the topics with the names of their chapters; None for those not written yet.

    All their modules are imported, and so their makers known, which reading results needs; those of
    the page on systems, which has no topic, as well.
    """
    for page in _MAKERS:
        importlib.import_module(page)
    by_topic = {topic: find_judged(topic) for topic in TOPICS}
    return {topic: judged and judged.chapter for topic, judged in by_topic.items()}
