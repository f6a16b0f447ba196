"""Chapter 1, "Design alternatives": BCC17 Sections 2-3 and 6.3.

What the experiment is (`setup`), which designs it compares (`panels`), all designs at once
(`designs`), its tables (`tables`), and how definitions and theorems are checked. `theorems`
makes all checks; its own code has the equations and the lemma. The lemma's proof is in `proof`,
notation and target sets in `definitions`, Fig. 1 in `toy`, the paper's task and setup in `frame`.
`ranking_by_sorting` is the second way to rank that the checks rest on. `truth` asks which design
orders systems as the truth does, in simulated worlds.
"""

from recbias.book.chapters import import_makers
from recbias.book.chapters.design_alternatives.setup import CHAPTER
from recbias.book.chapters.design_alternatives.truth import VIEWS

__all__ = ["CHAPTER", "VIEWS", "measure"]

measure = import_makers(__name__, __path__)
"""What the chapter measures beside its grids, by name."""
