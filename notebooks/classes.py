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
# (sec-classes)=
# # Classes of recommenders
#
# Every class that is registered, as its documentation has it: model and objective, parameters with
# their defaults, what an iteration costs, and which pairs it has no score for (the evaluation leaves
# those out of the list, see [the decision](#dev-nc)). [The line-ups](#sec-line-ups) say which paper
# ran which class with which parameters.
#
# In the formulas $u$ and $v$ are users, $i$ and $j$ items; $r_{ui}$ is a rating, $R(u)$ what a user rated
# in training; $p_u$ and $q_i$ are the factors of a user and of an item.
#
# `recbias.recommenders.algorithms()` lists the classes; `register` adds one of your own.

# %% tags=["hide-input", "remove-output"]
from IPython.display import HTML

from recbias.recommenders.descriptions import catalogue_html

# %% tags=["parameters"]
dataset: str = "ml-1m"  # the classes are the same on all

# %% tags=["hide-input"]
HTML(catalogue_html())
