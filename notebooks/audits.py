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
# ({ref}`rerun-audit`). Here it judges one sentence on six data sets, as a reader would: *the newest
# model of the [modern line-up](#sec-line-ups) beats counting*.

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

# %% tags=["hide-input"]
HTML(audits.audits_html(audits.everywhere()))
