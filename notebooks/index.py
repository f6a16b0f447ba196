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
# # What does an offline score measure?
#
# Take the simplest recommender there is: the same list for everybody, the most rated items first.
# It knows nothing about any user. Now ask how good it is, on one dataset and with one metric.
#
# ```{glue:figure} fig_one_list
# :name: fig-one-list
#
# The same list and the same data, {glue:text}`data`. What differs is which items are ranked for a
# user: all that anybody has test data for, a sample of them, one relevant item among sampled ones, or
# only what the user rated in the test data. Black: 95 % intervals. Dashed: the largest possible value.
# ```

# %% [markdown]
# :::{finding} own/POPULARITY-RANGE
# holds: Nobody changed the list, the data or the metric, and still the largest of the four numbers is
#   {value} the smallest.
# refuted: Nobody changed the list, the data or the metric; on these data the largest of the four
#   numbers is {value} the smallest.
# open: Nobody changed the list, the data or the metric; on these data the largest of the four numbers
#   is {value} the smallest.
# :::
# None of this is a bug, and none of it is cheating: all four ways are in use, and each was published
# in good faith. An offline score measures a system *together with* the way the data were collected and
# the way the experiment was set up. If you do not know the second part, you do not know what the number
# says about the first.

# %% tags=["remove-cell"]
from IPython.display import HTML
from myst_nb import glue

from recbias.book import scorecard
from recbias.book.chapters.design_alternatives import figures, panels, setup
from recbias.book.figures import use_book_style
from recbias.book.findings import state
from recbias.claims import load_chapter

# %% tags=["parameters", "remove-cell"]
dataset: str = "ml-1m"

# %% tags=["remove-cell"]
use_book_style()
results = load_chapter(setup.CHAPTER, dataset)
measured = results["systems"]
sampled = {label: protocol.rule.n_sampled for label, protocol in measured.grid.parsed.items()}
designs = panels.four_designs(sampled["1R"] + 1, sampled["NN"])
figures.one_ranking(measured, designs, name="one_list").show()
glue("data", measured.dataset["title"].partition(" (")[0], display=False)
state("design alternatives", results)

# %% [markdown] tags=["general"]
# ## What became of the papers' claims
#
# This book reproduces four papers claim by claim. Of the claims that only a measurement on data can
# decide, so many are reproduced on the papers' data. A paper leads to its claims on the
# {doc}`scorecard <scorecard>`, a sentence to the claim's own page: how it is judged, and what was found
# on each dataset.

# %% tags=["remove-input"]
document = scorecard.load_document(dataset)
glue("wins", scorecard.wins_text(document), display=False)
HTML(scorecard.bars_html(document, "scorecard.html") + scorecard.legend_html())

# %% tags=["remove-input"]
HTML(scorecard.headlines_html(document))

# %% [markdown] tags=["general"]
# ## What goes wrong
#
# Offline evaluation of recommenders borrows its method from text retrieval {cite:p}`voorhees2005`:
# hide some known answers, let the system rank, count what it finds. Two things differ, and most of this
# book follows from them.
#
# Relevance is sparse.
# : In a retrieval campaign, assessors judge the pooled results of all systems. In a ratings dataset a
#   user has judged a few items out of thousands. On MovieLens 1M, averaged over sixteen systems, 83 % of
#   the films in a top ten have no rating by that user {cite:p}`MCCRS20`. Precision counts each of these
#   as a failure, and nobody knows whether it is one. The score then depends on how much of the truth was
#   recorded. This is the **sparsity bias** ({doc}`chapter 2 <02_sparsity_bias>`).
#
# Ratings are not missing at random.
# : Users rate what they have seen, and they see what is popular. The test set repeats that pattern. A
#   system that repeats it too is rewarded, even where popularity says nothing about taste
#   {cite:p}`marlin2009,canamares2018`. This is the **popularity bias**
#   ({doc}`chapter 3 <03_popularity_bias>`); what tests against it are worth is asked in
#   {doc}`chapter 4 <04_overcoming_popularity_bias>`.
#
# To these come the choices, and each moves the score.
#
# * Which items does the system rank? Rank each relevant item against 99 others, and no system can have
#   a P@10 above 0.10, whatever it recommends: the scale itself has changed. A sample can also turn the
#   order of systems round {cite:p}`krichene2020`.
# * What is counted? Count known mistakes instead of hits, the items in the list that the user dislikes.
#   On Yahoo! R3, ratings of songs, the best of sixteen systems by precision comes out second worst by
#   that count {cite:p}`MCCRS20`. Which of the two to trust is asked in
#   {doc}`its own chapter <05_true_false_positives>`.
# * Is it about accuracy at all? Whether recommendations are even, and whether they make the popular more
#   popular, are two questions; which metric answers which is asked in
#   {doc}`the chapter on concentration <06_concentration>`.
# * How is it averaged? Take two good systems, nearest neighbours and matrix factorisation, and change the
#   share of training data, the gain of a rating or the weight of a user. The paper reports that either
#   one can win, each significantly {cite:p}`CCM20`; here, {glue:text}`wins`. What each of ten such
#   decisions does is asked in {doc}`the chapter on offline options <07_offline_options>`.
# * What happens with ties, with users who have nothing to find, with items that a model cannot score?
#   Papers often leave some of these open. Toolkits answer them silently, and differently: the same
#   algorithm under the same name can differ by orders of magnitude between toolkits {cite:p}`said2014`.
#   The page {doc}`The systems <systems>` follows one name, "user kNN, cosine", through its meanings.
#
# ## What this book does
#
# It reproduces four papers that take this problem apart: {cite:t}`BCC17` on sparsity and popularity
# bias, {cite:t}`MCCRS20` on the disagreement of true-positive and false-positive metrics (with its
# extension {cite:t}`TOIS21`), {cite:t}`CCM20` on the options of an offline experiment, and
# {cite:t}`ATM15` on the concentration of recommendations.
#
# Each figure, table, equation and statement of these papers is an entry in a list of claims, the
# *ledger*, with what the paper asserts there and a criterion for each assertion. A chapter explains the
# claim, predicts what theory says, runs the experiment, and shows the result beside the published one.
# The verdict is computed from the result; nobody types it. A "no" stays a "no".
#
# The weight is carried by a small package, `recbias`. You can use it on your own data: see
# {doc}`../book/rerun`.
#
# ## The chapters
#
# | chapter | source | state |
# |---|---|---|
# | {doc}`Design alternatives <01_design_alternatives>` | {cite:t}`BCC17`, Sections 2 and 3 | written |
# | {doc}`Sparsity bias <02_sparsity_bias>` | {cite:t}`BCC17`, Section 4 | written |
# | {doc}`Popularity bias <03_popularity_bias>` | {cite:t}`BCC17`, Section 5 | written |
# | {doc}`Overcoming popularity bias <04_overcoming_popularity_bias>` | {cite:t}`BCC17`, Sections 6 and 7 | written |
# | {doc}`True and false positives <05_true_false_positives>` | {cite:t}`MCCRS20`, {cite:t}`TOIS21` | written |
# | {doc}`Concentration reinforcement <06_concentration>` | {cite:t}`ATM15` | written |
# | {doc}`Offline options <07_offline_options>` | {cite:t}`CCM20` | written |
#
# The algorithms of all four papers are there already; those of one paper could be checked against
# published values: {doc}`The systems <systems>`. Beside the chapters stand {doc}`../book/notation`,
# {doc}`../book/datasets`, {doc}`../book/rerun` and {doc}`../book/deviations`, which lists our
# decisions and the errors we found in the papers.
#
# ## Who it is for
#
# Whoever has an experiment to set up, or a paper to judge, begins with {doc}`the guide <guide>`.
#
# A graduate student who is about to run a first offline experiment, or who must judge somebody else's.
# You need basic probability, and enough Python to follow a few lines of pandas. You need no background
# in information retrieval: {doc}`../book/notation` defines every term. A teacher can use a chapter as a
# session; each ends with exercises and solutions. A researcher can rerun it on other data, and can
# question any number down to the line that computes it.
#
# ## How it is made
#
# Each chapter is a notebook, executed from top to bottom for each dataset. The results form one
# **edition** of the book per dataset; the switch at the top of a page leads to the same page in another
# edition. Datasets that may not be passed on are represented by recorded results: small tables of
# aggregates and intervals, never ratings. The page says when it draws from a recording. The synthetic
# edition always runs live. Every number of ours in the text comes from a result, and a sentence that
# states a finding changes where the data of an edition say otherwise. Published numbers carry their
# source. {doc}`../book/rerun` explains how to check both.
