"""Checks of the exercises: each says whether an answer is right and, if not, where to look.

A module per chapter, named like its topic. The checks run in seconds on toy data, need no clone,
and do not tell the answer. They return a `Checked`, which prints as the sentence and is true where
the answer is right.
"""

from recbias.exercises.checking import Checked

__all__ = ["Checked"]
