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

# %% [markdown]
# # Who wins, whatever one decides?
#
# Chapter 7 turned one decision at a time. Nobody publishes one decision: an evaluation is one option of *each*, and
# there are hundreds. Take kNN and MF again, and all combinations of the options of seven decisions, on the same
# ratings:
#
# ```{glue:figure} fig_curves
# :name: fig-multiverse-curves
#
# Each evaluation is a universe. From left to right those that are worst for kNN to those that are best: by how many
# standard deviations of users' differences kNN is ahead. Left of where a line crosses 0 MF wins.
# ```
#
# :::{finding} own/MULTIVERSE-KNN
# holds: **Against MF as printed kNN wins in {value} of the universes**;
# refuted: **Against MF as printed kNN wins in {value} of the universes only**;
# open: -
# :::
# :::{finding} own/MULTIVERSE-KNN-SWAPPED
# holds: against MF as in RankSys, in {value}.
# refuted: against MF as in RankSys, in no more than {value}.
# open: -
# :::
#
# **What to do.** Report the share of defensible evaluations in which the winner wins, and the fewest changes that
# turn it ([rules](#sec-multiverse-rules)).

# %% [markdown] tags=["general"]
# ## One case by hand
#
# Four items, two users, two decisions. Ann has rated A (5 stars) and B (4) in the test, Bob B (5), C (2) and D (4);
# four stars are liked. X lists A B C D for Ann and A D C B for Bob; Y lists A C B D and B A D C. P@2 or P@1, of all
# four items or only of those that the user has rated:
#
# | | all items | rated items | |
# |---|---|---|---|
# | P@2 | X, 0.75 to 0.50 | Y, 1.00 to 0.75 | |
# | P@1 | Y, 1.00 to 0.50 | X and Y, 1.00 to 1.00 | |
#
# That is a multiverse of four universes. X wins in one of them, Y in two, and one is a tie. From P@2 of all items
# *one* change is enough to turn the winner, and there are two such changes. Making both gives a tie: what one
# decision does depends on the other, so that turning one at a time, as in chapter 7, does not see all corners.
#
# **After this chapter you can** read a curve of universes and what it cannot say; find the fewest changes that turn a
# winner; and say what a share of universes is worth where the truth is known. *About 20 minutes; chapter 7 has the
# decisions.*

# %% tags=["hide-input", "remove-output"]
from IPython.display import HTML, Markdown
from myst_nb import glue

from recbias.book import choosing
from recbias.book.chapters.multiverse import explorers, figures, measure, setup, tables
from recbias.book.explorer import explorer_html
from recbias.book.figures import use_book_style
from recbias.book.findings import findings_table, state
from recbias.book.html import folded
from recbias.book.systems.line_up import relevance_threshold
from recbias.experiment.results import begin_page

# %% tags=["parameters"]
dataset: str = "ml-100k"
min_rating: float | None = None  # smallest liked rating; none = top of the scale - 1
seed: int = 1  # 0 to 1000000
a: str | None = None  # name of a system of the papers; none = User kNN
b: str | None = None  # another one; none = both readings of MF
n_seeds: int | None = None  # 1 to 100: of random training; none = 5 on published data, else 1
workers: int = 2  # 1 to 64: processes; results do not depend on them

# %% tags=["remove-cell"]
use_book_style()
begin_page("08_multiverse")
min_rating = relevance_threshold(dataset) if min_rating is None else min_rating
for name, text in choosing.written(min_rating=min_rating, cutoff=10).items():
    glue(name, text, display=False)

# %% [markdown]
# ## Predict before measuring
#
# ::::{predict} Seven decisions make 21 pairs. From where the paper starts, how many pairs can turn kNN against MF (as in RankSys)?
# - none
# - a third at most
# - more than a third
#
# :::{finding} own/MULTIVERSE-TOGETHER
# holds: {value} of 21.
# refuted: None.
# open: -
# :::
# ::::
#
# ::::{predict} Sixteen systems make 120 pairs. Users tell many of them apart at the start (p < .05). How many of *those* have one winner in nine of ten universes?
# - nearly all, that is what p is for
# - about two thirds
# - fewer than half
#
# :::{finding} own/MULTIVERSE-SURE-PAIRS
# holds: {value} of them.
# refuted: Only {value} of them: a small p is about other users, not about other decisions.
# open: {value} of them.
# :::
# ::::

# %% [markdown]
# ## The experiment
#
# Two to four options of each decision, the first of them the paper's. Crossed, they are a multiverse; combinations
# that are the same evaluation count once.

# %%
options = setup.options_of(dataset, min_rating)
grids = setup.compared(dataset, min_rating, seed, n_seeds, a=a, b=b)
crossed = measure.crossed(dataset, options=options, grids=grids, workers=workers)
place = measure.place(dataset, min_rating=min_rating)

# %% tags=["hide-input"]
Markdown(tables.crossing_table(options))

# %% tags=["remove-cell"]
pairs = measure.pairs(
    dataset, **setup.pairs_asked(dataset, min_rating, seed), workers=workers
)

# %% tags=["hide-input"]
figures.curves(crossed).show()

# %% [markdown]
# ## Who wins, and surely
#
# *By count* each universe counts once. *By trust* it weighs as much more than a coin as its options were right in
# worlds like these data, where the truth is known ([below](#sec-multiverse-trust)).

# %% tags=["hide-input"]
Markdown(tables.shares_table(crossed, place, options, min_rating))

# %% [markdown]
# :::{finding} own/MULTIVERSE-BOTH-SURE
# holds: Whoever wants MF (as in RankSys) to win finds {value} of the universes in which it does so *surely*, by the
#   universe's own test.
# refuted: Universes in which MF (as in RankSys) wins surely are {value}.
# open: -
# :::
#
# Which options are they? Choose:

# %% tags=["hide-input"]
axes, shown = explorers.brushed(crossed, options)
HTML(
    explorer_html(
        shown,
        axes,
        start=("0", "any", "any", "any"),
        name="universes",
        source=crossed,
        digits=2,
    )
)

# %% [markdown]
# ```{glue:figure} fig_by_option
# :name: fig-multiverse-options
#
# In which percentage of its universes each option makes kNN win.
# ```

# %% tags=["hide-input"]
figures.by_option(crossed, options).show()

# %% [markdown]
# ## What turns it
#
# How much of the sign does each decision decide? Shapley effects share its variance out among the decisions;
# what two decide only together is divided between them.

# %% tags=["hide-input"]
Markdown(tables.importance_table(crossed, options))

# %% [markdown]
# From where the paper starts, one change may be enough, or two:
#
# ```{glue:figure} fig_turning
# :name: fig-multiverse-turning
#
# In how many ways the winner of the start is turned by changing one decision (diagonal), or exactly two.
# ```
#
# :::{finding} own/MULTIVERSE-ALONE
# holds: {value} of seven decisions turn kNN against MF (as in RankSys) alone.
# refuted: No decision turns kNN against MF (as in RankSys) alone.
# open: -
# :::

# %% tags=["hide-input"]
figures.turning(crossed, options).show()

# %% [markdown]
# ## All pairs of sixteen systems
#
# ```{glue:figure} fig_by_effect
# :name: fig-multiverse-pairs
#
# Pairs of systems by the effect at the start (difference over its standard deviation over users): which percentage
# has one winner in nine of ten universes.
# ```
#
# :::{finding} own/MULTIVERSE-PAIRS
# holds: {value} of all pairs have one winner nearly whatever one decides.
# refuted: Only {value} of all pairs have one winner nearly whatever one decides.
# open: -
# :::

# %% tags=["hide-input"]
figures.by_effect(pairs).show()

# %% [markdown] tags=["general"]
# (sec-multiverse-trust)=
# ## Do the many agree because they are right?
#
# All universes share their ratings, and so what is wrong with them. In worlds whose truth is known five systems were
# compared in pairs, under two options of each decision drawn at random; *true* is the sign of the difference of
# P@10 by the judgments of all pairs of users and items. There are six kinds of worlds: popular items are liked less,
# as much, or more, and popularity is mildly or strongly skewed. Worlds to learn from and worlds kept apart have
# other seeds; all this was written down before the first result.
#
# ```{glue:figure} fig_calibration
# :name: fig-multiverse-calibration
#
# Of comparisons with nine tenths of the weight on one side, in worlds kept apart: the percentage that is true. Line:
# 85 %, below which the word *robust* is not used in this book.
# ```

# %% tags=["hide-input"]
figures.calibration().show()

# %% tags=["hide-input"]
Markdown(
    "".join(
        folded(f"How often each option is right where {words}", tables.trusted_table(relation))
        for relation, words in tables.RELATIONS.items()
    )
)

# %% [markdown] tags=["general"]
# (sec-multiverse-rules)=
# ## What to do, and what to write
#
# 1. **Cross what you could as well have decided otherwise**, and write the list down before the first result.
# 2. **Report three numbers** beside your result: in which share of the universes the winner wins, in which share it
#    loses surely, and the fewest changes that turn it ({numref}`fig-multiverse-turning`).
# 3. **A small p is no answer**: it is about other users, and not about other decisions ({numref}`fig-multiverse-pairs`).
# 4. **Nor is agreement the truth**: all universes share the ratings. Say what you assume of who rates what
#    ({numref}`fig-multiverse-calibration`).
#
# ## On your data
#
# ```bash
# recbias run 08_multiverse --dataset my_ratings.csv
# ```
#
# Other systems and other options, from Python: {doc}`all combinations of options </book/rerun>`.

# %% tags=["hide-input"]
results = {"crossed": crossed, "pairs": pairs, "place": place}
stated = state("multiverse", results)
HTML(findings_table(stated))

# %% tags=["remove-cell"]
stated

# %% [markdown] tags=["general"]
# ## Summary
#
# A comparison is a curve of universes, and a published one is a point on it. How many changes turn the winner is seen
# in seconds once systems are trained. That most universes agree says that one need not fear the reader who decides
# otherwise; it says that the winner is better only as far as ratings say what people like.
