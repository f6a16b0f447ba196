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
# from results, their intervals and a criterion that was fixed before the first result; nobody types
# it. Where a criterion had to change later, both verdicts are shown. Claims whose chapter is not
# written yet are **not yet**.
#
# *Definitions* are options or records that exist, *theorems* are identities and bounds that are
# checked on data, *empirical* claims are those that only a measurement can decide. Only the last
# count as reproduced.

# %% tags=["hide-input", "remove-output"]
from IPython.display import HTML, Markdown

from recbias.claims import pages, scorecard, scorecard_html, totals

# %% tags=["parameters"]
dataset: str = "ml-1m"

# %% tags=["hide-input"]
verdicts = scorecard(dataset)
table = totals(verdicts)
rows = [(kind, *map(str, row)) for kind, *row in table.itertuples()]
Markdown(pages.markdown_table(("class", *table.columns), rows))

# %% [markdown]
# ## All claims
#
# A link leads to the chapter's card of that claim, with each measured part. "No value" means that the
# paper prints no number for it, or that it could not be read.

# %% tags=["hide-input"]
HTML(scorecard_html(verdicts, pages=""))
