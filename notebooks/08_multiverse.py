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
# An evaluation is one option of *each* of many decisions. Who wins in fewer than nine in ten of the defensible ones
# did not win whatever one decides. Take nearest neighbours (kNN) and matrix factorisation (MF), as in
# [chapter 7](07_offline_options), and all combinations of the options of seven decisions, on the same ratings.
#
# :::{finding} own/MULTIVERSE-KNN
# holds: **Against MF as printed kNN wins in {value} of these evaluations**;
# refuted: **Against MF as printed kNN wins in no more than {value} of these evaluations**;
# open: -
# :::
# :::{finding} own/MULTIVERSE-KNN-SWAPPED
# holds: against MF as in RankSys, in {value}.
# refuted: against MF as in RankSys, in no more than {value}.
# open: -
# :::
#
# **What to do.** Report in which share of the defensible evaluations the winner wins, and the fewest changes that
# turn it ([five rules](#sec-multiverse-rules)).
#
# ```{glue:figure} fig_curves
# :name: fig-multiverse-curves
#
# Each evaluation is a *universe*. From left to right those that are worst for kNN to those that are best: by how many
# standard deviations of users' differences kNN is ahead, with the 95 % interval of each (bands). Left of where a line
# crosses 0 MF wins. *MF* has the parameters that the paper prints, *MF (as in RankSys)* those of the library that it
# used ([E12](#err-e12)).
# ```

# %% [markdown] tags=["general"]
# ## One case by hand
#
# Four items, two users, two decisions. Ann has rated A (5 stars) and B (4) in the test, Bob B (5), C (2) and D (4);
# four stars are liked. X lists A B C D for Ann and A D C B for Bob; Y lists A C B D and B A D C. P@2 or P@1, of all
# four items or only of those that the user has rated:
#
# | | all items | rated items |
# |---|---|---|
# | P@2 | X, 0.75 to 0.50 | Y, 1.00 to 0.75 |
# | P@1 | Y, 1.00 to 0.50 | X and Y, 1.00 to 1.00 |
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
dataset: str = "ml-1m"
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
# Two questions. Commit yourself first.
#
# ::::{predict} Seven decisions make 21 pairs. From where the paper starts, how many pairs, both changed, can turn kNN against MF (as in RankSys)?
# - none
# - a third at most
# - more than a third
#
# :::{finding} own/MULTIVERSE-TOGETHER
# holds: {value} of 21.
# refuted: None.
# open: -
# :::
# {numref}`fig-multiverse-turning` says which.
#
# :::{right}
# 1: own/MULTIVERSE-TOGETHER below 0.5
# 2: own/MULTIVERSE-TOGETHER below 7.5
# 3: own/MULTIVERSE-TOGETHER above 7.5
# :::
# ::::
#
# ::::{predict} Sixteen systems make 120 pairs. Users tell many of them apart at the start (p < .05). How many of *those* have one winner in nine of ten universes?
# - more than nine tenths, that is what p is for
# - half to nine tenths
# - fewer than half
#
# :::{finding} own/MULTIVERSE-SURE-PAIRS
# holds: {value} of them.
# refuted: Only {value} of them: a small p is about other users, not about other decisions.
# open: {value} of them.
# :::
# {numref}`fig-multiverse-pairs` parts them by the size of the effect.
#
# :::{right}
# 1: own/MULTIVERSE-SURE-PAIRS above 0.9
# 2: own/MULTIVERSE-SURE-PAIRS above 0.5
# 3: own/MULTIVERSE-SURE-PAIRS below 0.5
# :::
# ::::

# %% [markdown]
# ## The experiment
#
# Two to four options of each decision, the first of them the paper's. Crossed, they are a multiverse; combinations
# that are the same evaluation count once, and what cannot be combined, or not on these data, counts not at all. Each
# split is trained once, and everything else is read from stored ranks. In each universe the sign of the difference
# says who wins, and the universe's own paired $t$ test over users whether *surely* (p < .05).

# %%
options = setup.options_of(dataset, min_rating)
grids = setup.compared(dataset, min_rating, seed, n_seeds, a=a, b=b)
crossed = measure.crossed(dataset, options=options, grids=grids, workers=workers)
place = measure.place(dataset, min_rating=min_rating)
pairs = measure.pairs(dataset, **setup.pairs_asked(dataset, min_rating, seed), workers=workers)

# %% tags=["hide-input"]
Markdown(tables.crossing_table(options, dataset, min_rating) + tables.compared_note(crossed))

# %% tags=["hide-input"]
figures.curves(crossed).show()

# %% [markdown]
# (sec-multiverse-curve)=
# ## Who wins, and surely
#
# *By count* each universe counts once. *By trust* it weighs as much more than a coin as its options were right in
# worlds like these data, where the truth is known ([below](#sec-multiverse-trust)).

# %% tags=["hide-input"]
Markdown(tables.shares_table(crossed, place, options, min_rating))

# %% [markdown]
# :::{finding} own/MULTIVERSE-BOTH-SURE
# holds: Whoever wants MF (as in RankSys) to win finds that it does so *surely* in {value} of the universes.
# refuted: MF (as in RankSys) wins surely in no more than {value} of the universes.
# open: -
# :::
#
# Could the whole curve be luck? Universes share their users, so that hundreds of small $p$ are not hundreds of
# answers. So 499 null curves were drawn: both systems are swapped at random users, the same in all universes, which
# keeps what universes have in common.
# :::{finding} own/MULTIVERSE-JOINT
# holds: By its mean $t$ the curve of kNN against MF (as in RankSys) lies outside of what such luck gives
#   ($p$ = {value:.3f}).
# refuted: By its mean $t$ the curve of kNN against MF (as in RankSys) is not told from such luck ($p$ = {value:.3f}).
# open: -
# :::
#
# Which universes are whose? Choose options, and read the curve of those that have them:

# %% tags=["hide-input"]
axes, shown = explorers.brushed(crossed, options)
HTML(
    explorer_html(
        shown,
        axes,
        start=("0", "any", "any", "any"),
        name="universes",
        source=crossed,
        digits=3,
        ordered=False,
    )
)

# %% [markdown]
# ```{glue:figure} fig_along
# :name: fig-multiverse-along
#
# Options below the curve of {numref}`fig-multiverse-curves`: which percentage of each fifth of the universes has them. An
# option that makes no difference has the same number everywhere.
# ```

# %% tags=["hide-input"]
figures.along(crossed, options).show()

# %% [markdown]
# ```{glue:figure} fig_by_option
# :name: fig-multiverse-options
#
# In which percentage of its universes an option makes kNN win, for the four decisions whose options differ most.
# Where options have the same percentage, the decision turns nothing on average, and may still do so together with
# another one.
# ```

# %% tags=["hide-input"]
figures.by_option(crossed, options).show()

# %% [markdown]
# (sec-multiverse-turning)=
# ## What turns it
#
# Where the paper starts, one change may be enough, or two. The fewest changes that turn a winner are what a reader
# who doubts a result looks for first:

# %% tags=["hide-input"]
Markdown(tables.turning_list(crossed, options))

# %% [markdown]
# ```{glue:figure} fig_turning
# :name: fig-multiverse-turning
#
# In how many ways the winner of the start is turned by changing one decision (diagonal), or exactly two. Each pair of
# decisions stands there once.
# ```
#
# :::{finding} own/MULTIVERSE-ALONE
# holds: Decisions that alone turn kNN against MF (as in RankSys): {value} of seven.
# refuted: No decision turns kNN against MF (as in RankSys) alone.
# open: -
# :::

# %% tags=["hide-input"]
figures.turning(crossed, options).show()

# %% [markdown]
# How much of the sign does each decision decide, over all universes? Shapley effects share its variance out
# ([why](#sec-multiverse-why)); what two decide only together is divided between them. (Where one system always wins,
# there is nothing to share.)

# %% tags=["hide-input"]
Markdown(tables.importance_table(crossed, options))

# %% [markdown]
# (sec-multiverse-pairs)=
# ## All pairs of sixteen systems
#
# Two systems may be a special pair. So take the sixteen of chapter 5, trained on one half, and all options but those
# of the split.
#
# ```{glue:figure} fig_by_effect
# :name: fig-multiverse-pairs
#
# Pairs of systems by the size of the effect at the start (difference over its standard deviation over users, nDCG@10):
# which percentage has one winner in nine of ten universes, by count and [by trust](#sec-multiverse-trust). In brackets:
# the number of pairs.
# ```
#
# :::{finding} own/MULTIVERSE-PAIRS
# holds: {value} of all pairs have one winner nearly whatever one decides.
# refuted: Only {value} of all pairs have one winner nearly whatever one decides.
# open: -
# :::

# %% tags=["hide-input"]
figures.by_effect(pairs).show()

# %% [markdown]
# Is that winner the better one? Where judgments of random items, or a whole world, tell, *right* is who has the true
# sign of the difference of P@10 for the very systems that were trained; only pairs that the truth tells apart (p < .05)
# count.

# %% tags=["hide-input"]
Markdown(tables.truth_table(pairs))

# %% [markdown]
# :::{finding} own/MULTIVERSE-ROBUST-TRUE
# holds: Of pairs with one winner in nine of ten universes, {value} have the true one.
# refuted: Of pairs with one winner in nine of ten universes, no more than {value} have the true one.
# open: -
# :::
# :::{finding} own/MULTIVERSE-ONLY-SURE-TRUE
# holds: Where only users tell a pair apart, the start is right in {value}.
# refuted: Where only users tell a pair apart, the start is right in no more than {value}.
# open: -
# :::
#
# The same on each data set that is recorded. *Turned by* is the fewest changes from the start; *of these true* is of the pairs with one
# winner in nine of ten universes that the truth tells apart.

# %% tags=["hide-input"]
results = {"crossed": crossed, "pairs": pairs, "place": place}
Markdown(tables.data_table(results, dataset))

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
# Of comparisons with nine tenths of the weight on one side, in worlds kept apart: the percentage that is true, by how
# popular items are liked there. Line: 85 %, below which the word *robust* is not used in this book. *Of other kinds*: weights learned in other kinds of
# worlds alone.
# ```

# %% tags=["hide-input"]
figures.calibration().show()

# %% [markdown] tags=["general"]
# In these worlds agreement is nearly always right, with any weights: weights let *more* be called robust, they do not
# make the word truer. On CM100k and Coat, whose judgments of random items no universe sees, the same was asked of the
# same five systems (six draws of options for each pair, which are not independent):

# %% tags=["hide-input"]
Markdown(tables.called_table())

# %% [markdown] tags=["general"]
# **What this can know, and what not.** A world has one rule by which users choose what to rate, and so do the weights.
# How popularity and liking go together in your data is only bounded by them, and if your users choose in another way,
# the weights mislead, and nothing in the ratings tells. Where data are like no world, the weights stay equal and the
# page says so.

# %% tags=["hide-input"]
Markdown(
    "".join(
        folded(f"How often each option is right where {words}", tables.trusted_table(relation))
        for relation, words in tables.RELATIONS.items()
    )
)

# %% [markdown] tags=["general"]
# (sec-multiverse-why)=
# ## Why: what a sign is made of
#
# Let $s$ be the sign in a universe, 1, 0 or −1. Its variance over all universes is a sum over sets of
# decisions, $\mathrm{Var}(s)=\sum_T V_T$, where $V_T$ is what the decisions in $T$ do together beyond all parts of $T$.
# The Shapley effect of decision $i$ shares each $V_T$ alike among those who take part,
#
# $$\phi_i=\frac{1}{\mathrm{Var}(s)}\sum_{T\ni i}\frac{V_T}{|T|}\,,\qquad\sum_i\phi_i=1\,.$$
#
# Two corners show what is at stake. If $s$ is $+$ whenever the first option of decision 1 is taken, $\phi_1=1$: turning
# one decision at a time finds it. If $s$ is the product of two decisions, both have $\phi=1/2$ and *no* mean changes
# with either of them: averages over the other decision find nothing, and a start in one corner finds that both turn
# the winner. Between start and average lies the multiverse.
#
# Why do universes agree so often? Each is a weighted mean of differences of the same users on the same lists
# ([chapter 7](#sec-options-why)). If all universes moved with one number, every one of them would have its sign, and
# nine of ten were as good as one; hence the joint test swaps users in all universes at once. Agreement says that the
# number is far from 0. It does not say that the ratings measure what people like.
#
# (sec-multiverse-rules)=
# ## What to do, and what to write
#
# 1. **Cross what you could as well have decided otherwise**, and write the list down before the first result.
# 2. **Report three numbers** beside your result: in which share of the universes the winner wins, in which share it
#    loses surely ([table](#sec-multiverse-curve)), and the fewest changes that turn it
#    ({numref}`fig-multiverse-turning`).
# 3. **A small p is no answer**: it is about other users, and not about other decisions ({numref}`fig-multiverse-pairs`).
# 4. **Test the curve, not its points**: universes share users; the joint test counts them once.
# 5. **Nor is agreement the truth**: all universes share the ratings. Say what you assume of who rates what
#    ({numref}`fig-multiverse-calibration`).
#
# ## Verdicts
#
# No claim of the four papers is about combinations of decisions, so that none is judged here; what {cite:t}`CCM20` say
# of single decisions is judged in [chapter 7](07_offline_options). What this chapter finds is its own, and was written
# down with its thresholds before the first result on data (the synthetic world had been seen).

# %% tags=["hide-input"]
stated = state("multiverse", results)
HTML(findings_table(stated))

# %% tags=["remove-cell"]
stated

# %% [markdown] tags=["general"]
# ## What we had to decide
#
# - **Seven of ten decisions** are crossed here. Which ratings count (A1), users without a list (C4) and the paired
#   test (D) are left to [your own multiverse](#rerun-universes): the first needs other ratings, the second does nothing
#   to systems that serve everybody, and the third turns no sign.
# - **Which options**: what the four papers used, two to four of each decision. Another list is another multiverse, and
#   a share of universes is a share of *this* list.
# - **A tie** is nobody's win. *Nine of ten* and *85 %* were fixed before the first result.
# - **Liked from**: a threshold that lets in the same ratings as another one is no option of its own. Where 1 to 3 stars
#   are one value, as in MovieLens 1M here, *from 3* is *from 4*.
# - **One seed** of split and training: what another seed turns is in [chapter 7](#fig-reversals).
# - **Sixteen systems** are compared on one split, so that all 120 pairs have the same options.
# - **Truth** is about the very systems that were trained, on the same split: it shares their luck of training, and no
#   judgment with any universe.
#
# ## On your data
#
# Names of systems are those of the [systems page](systems); the first is compared with the second, and without names
# kNN with both readings of MF.
#
# In a clone of the book:
#
# ```bash
# recbias run 08_multiverse --dataset my_ratings.csv -p a "Item kNN" -p b SLIM
# ```
#
# Other options, and all that [this page](#rerun-universes) does, from Python:
# `recbias.multiverse.universes(data, a, b, options)`.
#
# ## Exercises
#
# Four, of three levels: by hand, in code, and one on your own data, with starter code and a check that says
# whether the answer is right.
#
# :::{drill} turning
# Eight universes of three decisions. How many decisions **turn the winner by themselves**, from the start (– – –)?
# :::
#
# ````{exercise} Four universes
# :label: ex-four-universes
# :class: warm-up
#
# Two decisions with two options each. A wins (+) with the first option of decision 1, whatever decision 2 is; with the
# second option of decision 1, A loses (−) with the first option of decision 2 and wins with the second. From both
# first options: in which share of the universes does A win, how many changes turn the winner, and in how many ways?
#
# ```python
# from recbias.book.chapters.multiverse.exercises import check_four
#
# check_four(wins=..., fewest=..., ways=...)
# ```
# ````
#
# ````{solution} ex-four-universes
# :class: dropdown
#
# ```python
# from recbias.book.chapters.multiverse.exercises import check_four
#
# check_four(wins=3 / 4, fewest=1, ways=1)
# ```
#
# Three of four, and still one change is enough: decision 1 alone.
# ````
#
# ````{exercise} The fewest changes
# :label: ex-fewest
# :class: core
#
# `signs` has an axis for each decision, and 1, −1 or 0 (a tie) in each universe; `start` is a place in it. Write a
# function that gives the fewest decisions that have to be changed to turn the winner, 0 if nothing does.
#
# ```python
# from recbias.book.chapters.multiverse.exercises import check_fewest
#
# def fewest(signs, start):
#     return ...
#
# check_fewest(fewest)
# ```
# ````
#
# ````{solution} ex-fewest
# :class: dropdown
#
# ```python
# import numpy as np
#
# from recbias.book.chapters.multiverse.exercises import check_fewest
#
# def fewest(signs, start):
#     turned = np.argwhere(signs == -signs[start])
#     return (turned != np.array(start)).sum(axis=1).min() if len(turned) else 0
#
# check_fewest(fewest)
# ```
#
# Options have no distance: the third of a list is one change away, as is the second.
# ````
#
# ````{exercise} Only together
# :label: ex-together
# :class: warm-up
#
# Find signs of two decisions with two options each, so that each of them decides half, and neither changes the mean.
#
# ```python
# from recbias.book.chapters.multiverse.exercises import check_shared
#
# check_shared(signs=[[..., ...], [..., ...]])
# ```
# ````
#
# ````{solution} ex-together
# :class: dropdown
#
# ```python
# from recbias.book.chapters.multiverse.exercises import check_shared
#
# check_shared(signs=[[1, -1], [-1, 1]])
# ```
#
# A product of both: either turned alone turns the winner, and on average over the other neither does anything.
# ````
#
# ````{exercise} Your own universes
# :label: ex-own-universes
# :class: research
#
# Cross two or more decisions on a table of your own and write who wins in each universe: 1 for A, −1 for B, 0 for a tie, a
# level of lists for each decision. In which share of the universes does A win, and how many decisions have to be changed,
# from the first option of each, to turn the winner?
#
# ```python
# from recbias.book.chapters.multiverse.exercises import check_own_universes
#
# check_own_universes(
#     signs=[[..., ...], [..., ...]],  # a row for each option of decision 1, and so on
#     wins=..., fewest=...,
# )
# ```
# ````
#
# ````{solution} ex-own-universes
# :class: dropdown
#
# ```python
# from recbias.book.chapters.multiverse.exercises import check_own_universes
#
# check_own_universes(
#     signs=[[1, 1, 1], [1, -1, 0]],
#     wins=4 / 6, fewest=2,
# )
# ```
#
# The numbers here are made up; yours come from your table. `universes(data, a, b, options)` measures all of
# them at once, and `flips()` gives the fewest changes.
# ````

# %% [markdown] tags=["general"]
# ## Summary
#
# A comparison is a curve of universes, and a published one is a point on it. How many changes turn the winner is seen
# in seconds once systems are trained. That most universes agree says that one need not fear the reader who decides
# otherwise; it says that the winner is better only as far as ratings say what people like.
#
# ```{seealso}
# [Chapter 7](07_offline_options) on each decision alone, [notation and glossary](#sec-symbols), and
# {doc}`all combinations of options </book/rerun>` from Python.
# ```
