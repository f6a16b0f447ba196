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
# # Scorecard
#
# What became of the claims of the papers. A claim is **reproduced** if it holds on the datasets of its
# published result, as far as these have results here. Nobody types a verdict: it follows from results, their
# 95 % intervals and a criterion.

# %% tags=["remove-cell"]
from IPython.display import HTML

from recbias.book import scorecard

# %% tags=["parameters", "remove-cell"]
dataset: str = "ml-1m"

# %% tags=["remove-cell"]
document = scorecard.load_document(dataset)

# %% tags=["remove-input"]
HTML(scorecard.totals_html(document))

# %% tags=["remove-input"]
HTML(scorecard.criteria_html(document))

# %% [markdown] tags=["general"]
# ## Every claim
#
# By chapter; within it what the data contradict comes first. The counts beside a chapter are of its
# empirical claims, as above; theorems and definitions stand below them. A claim's id leads to its own
# page: its criterion, what was found on every dataset, its history. Symbols such as $1RP$ and $T_u$ are on the
# [notation page](#sec-symbols).

# %% tags=["remove-input"]
HTML(scorecard.rows_html(document))

# %% [markdown] tags=["general"]
# *Published* and *measured* stand beside each other where the paper prints a value; else the value is
# that of the part which leads the finding. Intervals come from resampling users; a value without one is
# exact. The last column has the sign of each dataset, and on how many of the other datasets the claim
# holds.

# %% tags=["remove-input"]
HTML(scorecard.files_html())

# %% [markdown] tags=["general"]
# ## What a verdict means
#
# Two questions are asked of a claim, and neither answers the other. A claim is **reproduced** if it
# holds on the datasets of its published result; which they are follows from the ledger by a rule, and
# was written down before any of these totals was computed. It **generalises** as far as it holds on
# other data. A dataset that cannot test a claim does not count; a claim about one named dataset is not
# asked of others. What hangs on no data, such as simulated worlds, theorems and definitions, counts
# once, apart.
#
# <details>
# <summary>Parts, verdicts, and the three classes of claims</summary>
#
# Each assertion of a claim is a **part**. It *holds* if the whole 95 % interval lies on the claimed
# side of its criterion, *is refuted* if the whole interval lies on the other, and *is open* if it lies
# on both, or if its verdict depends on the seed of resampling or training. An exact check has no
# interval.
#
# Some parts are the **core** of a claim: without them its message would be false. The others are
# **details**, such as exact printed numbers and side remarks. Two readers who knew no result marked the
# core in the papers' texts; what only one of them marked is a detail, and its card says so. The core
# alone decides:
#
# | verdict | it means |
# |---|---|
# | yes | all core parts hold, and each could be tested |
# | no | at least one core part is refuted, and none holds |
# | partly | some core parts hold and some are refuted; each is listed, the refuted first |
# | undecided | no core part is refuted, and at least one is open or cannot be tested; the card says what would decide it |
# | not testable here | this dataset cannot answer, for a stated reason, such as no timestamps; another column may. Or none can: what authors should do is about practice |
# | not yet | no experiment in the book computes it so far |
#
# Beside the verdict each card counts the details, and gives the strict verdict, by all parts alike,
# which was the rule until November 2026.
#
# A claim is judged as it is printed, misprints included; where an erratum corrects it, the corrected
# form stands beside it. Where a criterion had to change, the claim's page shows both verdicts; where
# values had been seen before it was written, the claim is marked *pilot seen*.
#
# Claims are of three classes.
#
# *Empirical*
# : Only a measurement can tell. Only these count as *reproduced*.
#
# *Theorem*
# : An identity or a bound. We check it on the data itself, where one counterexample would be a defect,
#   in the paper or in our code. Remarks that a paper adds, such as "it tends to hold", are measured
#   beside it.
#
# *Definition*
# : An option or a record that must exist, such as a rule for the items to rank. We check that the book
#   has it as the paper describes it; "partly" says where the paper's words do not fit the data.
#
# </details>

# %% [markdown] tags=["general"]
# ## All totals

# %% tags=["remove-input"]
HTML(scorecard.all_totals_html(document))
