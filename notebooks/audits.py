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
# ---

# %% [markdown] tags=["general"]
# (sec-audits)=
# # Our own audits
#
# `recbias audit` says whether *A beats B* holds on given data, whatever one decides
# ({ref}`rerun-audit`). Here it judges one sentence on every data set of the book, as a reader
# would: *the newest model of the [modern line-up](#sec-line-ups) beats counting*.
#
# **How the sentence was chosen**, before any result of it was known: of the line-up *What people run today* the
# system of the latest publication (EASE, 2019) is said to beat the baseline that takes every rating as it is
# (Popularity). Neither is known to depend on the processor. Four
# sentences for each data set were planned, from the oldest kind of model to the newest. A first audit, of EASE against
# BPR on Coat, showed how long one takes; so one sentence was kept.
#
# **How it was judged**: with the defaults of the command. P@10 of full lists, five folds, seed 1; liked is what
# the book takes as liked on these data. The claims of the papers are left out (`--no-ledger`), as they have the
# {doc}`scorecard </notebooks/scorecard>` to themselves.

# %% tags=["hide-input", "remove-output"]
from IPython.display import HTML

from recbias.book import audits
from recbias.experiment.results import begin_page

# %% tags=["parameters"]
dataset: str = "ml-1m"
seed: int = 1  # 0 to 1000000
workers: int = 1  # 1 to 64: processes; results do not depend on them

# %% tags=["remove-cell"]
begin_page("audits")

# %%
for sentence in audits.sentences(dataset, seed=seed):
    audits.audited(dataset, grid=sentence, workers=workers, name=audits.kept_name(sentence))

# %% [markdown] tags=["general"]
# ## What they say

# %% tags=["hide-input"]
HTML(audits.audits_html(audits.everywhere()))

# %% [markdown] tags=["general"]
# *Designs* are all combinations of the options of all decisions that can be measured on these data; *won* and *lost*
# are the shares in which the first system is ahead and behind, the options of each decision weighing alike. The
# rest are ties. *Changes that turn it* is the smallest number of decisions that have to be taken otherwise for the
# other system to win. {doc}`Chapter 8 </notebooks/08_multiverse>` says what such shares are worth.
#
# To repeat one:

# %% tags=["hide-input"]
HTML(audits.commands_html())

# %% [markdown] tags=["general"]
# The first gives the whole page of that audit, with its warnings and their evidence. The second renews the row that is
# kept here, which holds averages alone; `recbias verify --dataset NAME` computes it anew and compares.
