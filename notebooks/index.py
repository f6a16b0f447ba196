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
# A system *together with* how the data were collected and how the experiment was set up. So no score should stand
# without its set-up: {doc}`what to do, and what to write <guide>`.
#
# Take the simplest recommender there is: the same list for everybody, the most rated items first. Now ask how good it
# is, on one dataset and with one metric.
#
# ```{glue:figure} fig_one_list
# :name: fig-one-list
#
# The same list and the same data, {glue:text}`data`; liked is a rating of {glue:text}`liked` or more. What differs is
# which items are ranked for a user: all that anybody has test data for, a sample of them, one relevant item among
# sampled ones, or only what the user rated in the test data. Whiskers: 95 % intervals. Dashed: the largest possible
# value.
# ```

# %% [markdown]
# :::{finding} own/POPULARITY-RANGE
# holds: Nobody changed the list, the data or the metric, and still the largest of the four numbers is
#   {value:.1f} times the smallest.
# refuted: Nobody changed the list, the data or the metric; on these data the largest of the four
#   numbers is {value:.1f} times the smallest.
# open: Nobody changed the list, the data or the metric; on these data the largest of the four numbers
#   is {value:.1f} times the smallest.
# :::
# All four ways are in use. Without the set-up nobody knows what a number says about the system.

# %% [markdown] tags=["general"]
# | you are | begin with |
# |---|---|
# | a **reader** who asks what goes wrong, and why | {doc}`chapter 1 <01_design_alternatives>`; each chapter answers its title on its first screen |
# | an **author** or a reviewer of a paper | {doc}`the guide <guide>`: six questions, a protocol in one line, a paragraph for the methods section |
# | one who **doubts** a number, or reruns it on other data | {doc}`the scorecard <scorecard>`, where each claim has its command, and {doc}`your own data <../book/rerun>` |
# | a **teacher** | {doc}`chapter 3 <03_popularity_bias>`, as one session: predictions, a simulation, exercises that check answers |

# %% tags=["remove-cell"]
from IPython.display import HTML, display
from myst_nb import glue

from recbias.book import scorecard
from recbias.book.chapters.design_alternatives import figures, panels, setup
from recbias.book.figures import use_book_style
from recbias.book.findings import find
from recbias.book.systems import figures as of_systems
from recbias.claims import load_chapter
from recbias.data.ratings import exact

# %% tags=["parameters", "remove-cell"]
dataset: str = "ml-1m"

# %% tags=["remove-cell"]
use_book_style()
measured = load_chapter(setup.CHAPTER, dataset)["systems"]
sampled = {label: protocol.rule.n_sampled for label, protocol in measured.grid.parsed.items()}
designs = panels.four_designs(sampled["1R"] + 1, sampled["NN"])
figures.one_ranking(measured, designs, name="one_list").show()
glue("data", measured.dataset["title"].partition(" (")[0], display=False)
glue("liked", exact(measured.grid.parsed["AR"].min_rating), display=False)
names = ("POPULARITY-RANGE", "ONE-NAME-BEYOND-MODELS", "ONE-NAME-WITHOUT-CHANCE")
display(*find([f"own/{name}" for name in names], dataset))

# %% [markdown] tags=["general"]
# ## What became of four papers
#
# This book reproduces four papers claim by claim; a verdict is computed, and a "no" stays a "no". The claims
# that need data to be decided, by their verdict on the papers' data:

# %% tags=["remove-input"]
document = scorecard.load_document(dataset)
HTML(scorecard.bars_html(document, "scorecard.html") + scorecard.legend_html())

# %% [markdown] tags=["general"]
# And one claim of each, which leads to its own page: how it is judged, and what was found elsewhere.

# %% tags=["remove-input"]
HTML(scorecard.headlines_html(document))

# %% [markdown] tags=["general"]
# ## One name, many algorithms
#
# Papers compare with "user kNN, cosine". That is no algorithm: here are those that papers and libraries
# call so, on the same ratings, the same split and by the same metric.
#
# ```{glue:figure} fig_one_name
# :name: fig-namesakes
#
# Readings of one name, from the best to the worst; whiskers: 95 % intervals over users. The design is
# {glue:text}`design`, none of those of {numref}`fig-one-list`. What each of them is, and which one word moves how much,
# is on the page {doc}`The systems <systems>`.
# ```

# %% tags=["remove-input"]
named = load_chapter("systems", dataset)["one_name"]
(design,) = named.grid.parsed.values()
glue("design", str(design), display=False)
of_systems.one_name(named).show()

# %% [markdown]
# :::{finding} own/ONE-NAME-BEYOND-MODELS
# holds: Their factor is {value:.1f} times that between the best and the worst of all systems of a whole paper, Random
#   among them.
# refuted: Their factor is only {value:.1f} times that between the best and the worst of all systems of a whole paper,
#   Random among them.
# open: Their factor is about that between the best and the worst of all systems of a whole paper, Random among them.
# :::
# :::{finding} own/ONE-NAME-WITHOUT-CHANCE
# holds: Without the plain mean on one side, and Random and BPoissMF on the other, it is {value:.1f} times that.
# refuted: That is owed to the plain mean over neighbours. Without it on one side, and Random and BPoissMF on the other,
#   it is {value:.1f} times that: one name spans about what a whole paper does.
# open: Without the plain mean on one side, and Random and BPoissMF on the other, neither is surely larger.
# :::

# %% [markdown] tags=["general"]
# ## The chapters
#
# Offline evaluation hides some known answers, lets a system rank, and counts what it finds, as text
# retrieval does {cite:p}`voorhees2005`. But of the items that are listed hardly any was ever judged, and what
# is judged is what people chose to rate {cite:p}`marlin2009,canamares2018`. Most of this book follows from
# these two.
#
# | chapter | it asks | paper |
# |---|---|---|
# | {doc}`1 Design alternatives <01_design_alternatives>` | Does it matter which items are ranked? | {cite:t}`BCC17` |
# | {doc}`2 Sparsity bias <02_sparsity_bias>` | What does a precision mean when most of the truth is missing? | {cite:t}`BCC17` |
# | {doc}`3 Popularity bias <03_popularity_bias>` | Is popularity a good recommender, or a good guess at what is tested? | {cite:t}`BCC17` |
# | {doc}`4 Overcoming it <04_overcoming_popularity_bias>` | Does a test without popularity bias come nearer to the truth? | {cite:t}`BCC17` |
# | {doc}`5 True and false positives <05_true_false_positives>` | More hits or fewer misses: does it matter which one you count? | {cite:t}`MCCRS20`, continued in {cite:t}`TOIS21` |
# | {doc}`6 Concentration <06_concentration>` | Does a recommender make the popular more popular? | {cite:t}`ATM15` |
# | {doc}`7 Offline options <07_offline_options>` | Which of ten decisions made it win? | {cite:t}`CCM20` |
# | {doc}`8 The multiverse <08_multiverse>` | Who wins, whatever one decides? | none: all decisions of {cite:t}`CCM20` at once |
#
# You need basic probability, and enough Python to follow a few lines of pandas; {doc}`../book/notation`
# defines every term. {doc}`../book/datasets` says what the data are, and {doc}`../book/deviations` what we had
# to decide, with the errors that we found in the papers.
#
# ## How it is made
#
# Each chapter is a notebook, executed from top to bottom for each dataset: one **edition** of the book
# per dataset, and the switch at the top of a page leads to the same page in another. Datasets that
# may not be passed on are represented by recorded results, small tables of aggregates and intervals, never
# ratings; the page then says so. Every number of ours comes from a result, and a sentence that states a
# finding changes where the data of an edition say otherwise. Published numbers carry their source.
# {doc}`../book/rerun` explains how to check both, and how to use the package, `recbias`, on your own data.
