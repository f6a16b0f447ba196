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
# Every claim of the papers whose chapter is written, on every dataset with results. Each sign leads to
# the claim's card in that dataset's edition, or to what was found there; the line below a claim says
# what was found on this edition's data, and unfolds. Nobody types a verdict: it follows from results,
# their 95 % intervals and a criterion that was locked before. Symbols such as $1RP$ and $T_u$ are on
# the [notation page](#sec-symbols).

# %% tags=["remove-cell"]
from IPython.display import HTML, Markdown

from recbias.book import matrix
from recbias.claims.reading import answer_totals, totals

# %% tags=["parameters"]
dataset: str = "ml-1m"

# %% tags=["hide-input"]
judged = matrix.judged_datasets(dataset)
document = matrix.document_of(judged)
HTML(matrix.legend_html() + matrix.matrix_html(judged, document) + matrix.scorecard_links(document))

# %% [markdown] tags=["general"]
# The columns *published* and *on* stand beside each other where the paper prints a value; else the
# value is that of the part which leads the finding. Intervals come from resampling users; a value
# without one is exact.
#
# ## Reproduced, and does it generalise?
#
# Two questions, and neither answers the other. A claim is **reproduced** if it holds on the data sets
# of its published result, those of them that have recorded results here; which they are follows from
# the ledger by a rule, and was written down before any of these totals was computed. It **generalises**
# as far as it holds on other data. A data set that cannot test a claim does not count; a claim about one
# named data set is not asked of others. What hangs on no data, such as simulated worlds, theorems and
# definitions, counts once, apart.

# %% tags=["remove-input"]
HTML(matrix.answers_html(document))

# %% [markdown] tags=["general"]
# How many have which verdict where they are at home, by class:

# %% tags=["remove-input"]
Markdown(matrix.totals_table(answer_totals(document)))

# %% [markdown] tags=["general"]
# ## What a verdict means
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
# form stands beside it. Where a criterion had to change, the chapter's card shows both verdicts; where
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
# Within a class, claims that the data contradict come first: "no" and "partly", then "undecided", then
# "yes"; among equals those with more refuted assertions, then those with more assertions.
#
# </details>

# %% [markdown] tags=["general"]
# ## How many
#
# Verdicts on this edition's data, by class; entries that restate no assertion of a paper count apart.

# %% tags=["remove-input"]
Markdown(matrix.totals_table(totals(document, matrix.called(dataset)[0])))

# %% [markdown] tags=["general"]
# The same by all parts alike, details included:

# %% tags=["remove-input"]
Markdown(matrix.totals_table(totals(document, matrix.called(dataset)[0], strict=True)))

# %% [markdown] tags=["general"]
# ## What the papers assert
#
# Behind each claim stands what the paper asserts there, in our words, inconvenient assertions
# included. One that is judged is a part of a verdict, of this claim or of another; one that cannot be
# checked says why: it is about practice, a cause without a test, a value that is lost, other data, or
# presentation. All claims of a chapter that is not written are "not yet".

# %% tags=["remove-input"]
HTML(matrix.chapters_html(document))
