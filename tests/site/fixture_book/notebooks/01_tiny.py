# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # What is one and one?
#
# Theory says: {glue:text}`total:.1f` in {doc}`the
# book <../book/index>`, see {eq}`sum`, {numref}`fig-line` and {numref}`tbl-sum`; {cite:p}`BCC17`.
#
# $$ 1 + 1 = 2 $$ (sum)
#
# :::{finding} BCC17-F2A/1
# holds: It *holds* at {value}: {glue:text}`total:.0f`, $x^2$
#   and {numref}`fig-line`.
# open: It is open.
# refuted: -
# :::
# :::{finding} BCC17-F2A
# no: It is not.
# yes: -
# partly: -
# undecided: -
# :::
# Then more, in one paragraph.
#
# ::::{note}
# - :::{finding} BCC17-F2A/1
#   open: This item goes.
#   holds: -
#   refuted: -
#   :::
# - :::{finding} BCC17-F2A/4
#   refuted: This item stays.
#   holds: -
#   open: -
#   :::
# ::::

# %% tags=["parameters"]
dataset: str = "ml-1m"
n_sampled: int = 100  # 1 to 500: sampled items
gain: str = "linear"  # one of linear, exp: gain of a rating
cutoffs = [1, 5, 10]
share: float | None = None

# %%
from tqdm import tqdm

total = sum(tqdm([1.0, 1.0]))
print(f"{dataset}: {total} with {n_sampled} sampled items")

# %% tags=["hide-input", "remove-output"]
from functools import partial

import pandas as pd
from IPython.display import HTML
from myst_nb import glue

from recbias.book.figures import Figure, lines

glue("total", total, display=False)
rows = pd.DataFrame({"at": [0, 1], "value": [0, total]})
Figure("line", rows, "It rises", "A line.", partial(lines, up="sum"), "the-line").show()
glue("sum", HTML("<table><tr><th>1 + 1</th></tr><tr><td>2</td></tr></table>"))

# %% tags=["hide-input", "remove-output"]
from recbias.book.findings import Finding, Findings

found = {"BCC17-F2A/1": Finding("holds", 0.5), "BCC17-F2A/4": Finding("refuted")}
Findings("design alternatives", found)

# %% [markdown]
# ```{glue:figure} fig_line
# :name: fig-line
#
# A line, after {cite:t}`BCC17`.
# ```
#
# ```{glue:figure} sum
# :name: tbl-sum
#
# A sum.
# ```
#
# ::::{predict} Is $1 + 1$ more than {glue:text}`total:.1f`?
# - it is *more*
# - it is less
#   than that
# - it is the same
#
# It is **the same**, {glue:text}`total:.1f`.
#
# $$ 2 = 2 $$
#
# :::{right}
# 1: BCC17-F2A/1 refuted
# 3: BCC17-F2A/1 holds or open
# :::
# ::::
#
# :::{drill} gini
# What is the Gini coefficient of these counts?
# :::
#
# ````{exercise} Add
# :label: ex-add
#
# What is $2 + 2$?
# ````
#
# ````{solution} ex-add
# :class: dropdown
#
# ```python
# 2 + 2
# ```
# ````
