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
#     shows: [data/proof/*, data/evaluation/**/*, benchmarks/peers.csv, tests/**/*, book/**/*, notebooks/*, _*.yml]
# ---

# %% [markdown] tags=["general"]
# (sec-proof)=
# # Proof
#
# What this project promises of itself, what measures each promise, and what that came to. G are goals. T are traps: each
# is what another tool was seen to do, and what is done here instead. S are what a stranger's file, name or answer cannot
# do. What a change must pass is measured at every change, and nothing is published that fails it; what takes long, at the
# changes that draw it. What takes hours is a part of `make prove`: its last outcome stands here with its date and commit,
# also where it failed, was not run, or what it stands on has changed since.
# `.venv/bin/python tests/prove.py --stale` lists what has to be run again.

# %% tags=["hide-input", "remove-output"]
from IPython.display import HTML

from recbias.book.proof import proof_html, speed_html

# %% tags=["parameters"]
dataset: str = "ml-1m"  # the promises hang on no data

# %% tags=["hide-input"]
HTML(proof_html())

# %% [markdown] tags=["general"]
# (sec-speed)=
# ## Beside other toolkits
#
# `make bench` asks each toolkit for the same work on the same arrays, in turn, with one thread in a process of its
# own. Values are compared first; then the seconds of the processor, and the memory that the process of this package
# held at most. Of 20 million ratings one user in ten is asked about. A number beside a toolkit says how many times as long it took there: below 1 it is faster. EASE apart,
# what is trained is not compared: ALS, BPR and the item cosine here are those of `implicit`.
# {ref}`sec-toolkits` says in what the toolkits' metrics differ, with worked examples.

# %% tags=["hide-input"]
HTML(speed_html())
