# ---
# jupyter:
#   jupytext:
#     formats: py:percent
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
#   recbias:
#     summary: true
# ---

# %% [markdown] tags=["general"]
# (sec-line-ups)=
# # The line-ups
#
# A line-up is what one paper compared: systems with all their parameters. Papers rarely print these;
# where one does not, the last column says where ours come from. A class name leads to what
# [the class](#sec-classes) computes. Whether the values of a line-up agree with published ones, and
# how much a name and a parameter decide, is the subject of [The systems](#sec-systems).
#
# Some systems read stars, others only whether a rating is high. Their encoding, such as
# `graded-zero>=4`, says from which rating an item counts as liked and what the others count: it is
# the one that fits this edition's ratings.

# %% tags=["hide-input", "remove-output"]
from IPython.display import HTML

from recbias.book.systems import line_up as page
from recbias.book.systems import tables

# %% tags=["parameters"]
dataset: str = "ml-1m"

# %% tags=["hide-input"]
min_rating = page.relevance_threshold(dataset)
HTML("".join(tables.line_up_details(name, min_rating=min_rating) for name in page.TITLES))
