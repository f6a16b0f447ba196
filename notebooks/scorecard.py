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

# %% [markdown]
# # Scorecard
#
# Every claim of the four papers, with what became of it on this edition's data. A verdict is computed
# from results, their intervals and a criterion that is locked; nobody types it. Where a criterion had
# to change, the chapter's card shows both verdicts; where values had been seen before it was written,
# the claim is marked *pilot seen*. A claim is judged as it is printed, misprints included; a corrected
# form stands beside it. Claims whose chapter is not written yet are **not yet**.
#
# *Definitions* are options or records that exist, *theorems* are identities and bounds that are
# checked on data, *empirical* claims are those that only a measurement can decide. Only the last
# count as reproduced.

# %% tags=["hide-input", "remove-output"]
from IPython.display import HTML, Markdown

from recbias.claims import assertion_counts, pages, scorecard, scorecard_html, totals

# %% tags=["parameters"]
dataset: str = "ml-1m"

# %% tags=["hide-input"]
verdicts = scorecard(dataset)
table = totals(verdicts)
rows = [(kind, *map(str, row)) for kind, *row in table.itertuples()]
Markdown(pages.markdown_table(("class", *table.columns), rows))

# %% [markdown]
# ## What the papers assert
#
# Behind each claim stands what the paper asserts there, in our words, inconvenient assertions
# included. One that is judged is a part of a verdict, of this claim or of another; one that cannot be
# checked says why: it is about practice, a cause without a test, a value that is lost, other data, or
# presentation.

# %% tags=["hide-input"]
counts = assertion_counts()
rows = [(topic, *map(str, row)) for topic, *row in counts.itertuples()]
Markdown(pages.markdown_table(("chapter", *counts.columns), rows))

# %% [markdown]
# ## All claims
#
# A link leads to the chapter's card of that claim, with each measured part. "No value" means that the
# paper prints no number for it, or that it could not be read.

# %% tags=["hide-input"]
HTML(scorecard_html(verdicts, pages=""))
