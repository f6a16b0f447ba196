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
# (sec-systems)=
# # The systems: a name is not an algorithm
#
# "We compare with user kNN (cosine, $k=20$)." Such a line names a family, not an algorithm. Are the
# neighbours the nearest of all users, or the nearest of those who rated the item? Is the cosine over
# whole profiles or over common items? Does a low rating count as a rating, as a zero, or not at all?
# Each answer is in use somewhere under the same name, and none of them is wrong. But who compares
# with a published value has to give the same answers, and a name gives none.
#
# This page measures what a name leaves open: first on one name, then on the systems of a paper whose
# authors published their values and folds, which is the one way to find out what was run.
#
# Every system of this book is a class with all its parameters written out: [the line-ups of the four
# papers](#sec-line-ups), and [what each class computes](#sec-classes), are two pages of their own.

# %% tags=["hide-input", "remove-output"]
from IPython.display import HTML, Markdown
from myst_nb import glue

from recbias import line_up
from recbias.book import findings, pages
from recbias.book.figures import use_book_style
from recbias.book.systems import figures, readings, sensitivity, tables, ties
from recbias.book.systems.line_up import LINE_UP, choose_setup
from recbias.data import ratings
from recbias.recommenders import descriptions, line_ups

use_book_style()

# %% tags=["parameters"]
dataset: str = "ml-1m"
min_rating: float | None = None  # smallest liked rating; none = top of the scale - 1
split: str | None = None  # none = the published folds, else k-fold 5
extent: str | None = None  # short or full; none = as the data allows
seed: int = 1  # 0 to 1000000
workers: int = 2  # 1 to 64: processes; results do not depend on them

# %% tags=["remove-cell"]
setup = choose_setup(
    dataset, min_rating=min_rating, split=split, extent=extent, seed=seed, workers=workers
)
names = line_ups.one_name_systems(min_rating=setup.min_rating)
glue("n_readings", len(names), display=False)
glue("min_rating", ratings.exact(setup.min_rating), display=False)
glue("split", setup.split_words, display=False)

# %% [markdown] tags=["general"]
# ## One name, many algorithms
#
# Here are {glue:text}`n_readings` algorithms that papers and libraries call "user-based kNN with
# cosine similarity". They share the ratings, the split ({glue:text}`split`) and the evaluation:
#
# - An item is **liked** with {glue:text}`min_rating` stars or more.
# - For each user, all items with a training rating are ranked, except those that they rated there
#   themselves. In the [notation of this book](#sec-symbols) that is AI-AN-AR: all items are
#   candidates, and all relevant and all non-relevant ones stand in one list.
# - **P@10** is the share of liked test items among the first ten, **antiP@10** that of test items
#   that they rated lower. Both are divided by 10 however short the list is, and are means over users
#   with a test rating.
#
# ::::{predict} Same ratings, same split, same P@10, same name: by what factor does the best of these algorithms beat the worst?
# - by less than 1.1
# - by 1.1 to 2
# - by 2 to 10
# - by more than 10
#
# :::{finding} own/ONE-NAME-RANGE
# holds: The best scores {value} what the worst does.
# refuted: The best scores only {value} what the worst does.
# open: The best scores {value} ({low} to {high}) what the worst does.
# :::
# The bars below show all. Two of the algorithms have every word of their description in common but one:
# whether the opinions of neighbours are *added up* or *averaged*.
#
# :::{right}
# 1: own/ONE-NAME-RANGE below 1.1
# 2: own/ONE-NAME-RANGE below 2
# 3: own/ONE-NAME-RANGE below 10
# 4: own/ONE-NAME-RANGE above 10
# :::
# ::::

# %%
named = setup.measure("one_name", names)

# %% tags=["hide-input"]
cheap = (
    "To keep the build short, this edition trains on **one split** instead of five folds and moves "
    "each parameter to **one other value** only."
)
Markdown(readings.span_sentence(named, setup.precision))

# %% tags=["hide-input"]
figures.one_name(named).show()

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_one_name
# :name: fig-one-name
#
# Readings of "user kNN, cosine", from the best to the worst; whiskers: 95 % intervals over users.
# Means and RankSys take the cosine of whole profiles, LibRec that over common items.
# ```

# %% tags=["hide-input"]
Markdown(pages.data_line(named, cheap if setup.short else ""))

# %% tags=["hide-input"]
HTML(pages.options_details({"one name": named}))

# %% [markdown]
# :::{finding} own/ONE-NAME-BEYOND-MODELS
# holds: This one name spans more than many names do: its factor is {value} that between the best and
#   the worst of the systems in the line-up below, Random among them.
# refuted: Many names span more than this one: its factor is only {value} that between the best and
#   the worst of the systems in the line-up below, Random among them.
# open: It spans about as much as the systems in the line-up below, which have names of their own.
# :::
# :::{finding} own/ONE-NAME-WITHOUT-CHANCE
# holds: Without the plain mean on one side, and Random and BPoissMF on the other, it is {value} that.
# refuted: That is owed to the plain mean. Without it on one side, and Random and BPoissMF on the other, it is {value}
#   that.
# open: Without the plain mean on one side, and Random and BPoissMF on the other, neither is surely larger.
# :::
#
# ### Which choice moves how much?
#
# Some of these algorithms differ in one choice and in nothing else.

# %% tags=["hide-input"]
HTML(readings.choices_html(names, named))

# %% [markdown]
# - A sum over neighbours grows with how many of them rated an item; a mean forgets it, and lists what
#   a single neighbour gave five stars.
#   :::{finding} own/SUM-OVER-MEAN
#   holds: Here the sum scores {value} what the mean over the same neighbours does.
#   refuted: Here that does no harm: the sum scores only {value} what the mean does.
#   open: -
#   :::
# - The cosine over common items is 1 for two users with a single item in common. Shrinkage keeps
#   them from being nearest neighbours.
#   :::{finding} own/SHRINKAGE
#   holds: Here precision with it is {value} that without.
#   refuted: Here it does harm: precision with it is {value} that without.
#   open: Here it decides little: precision with it is {value} that without.
#   :::
# - What a low rating counts decides what is recommended to people who gave it.
#   :::{finding} own/DISLIKES-PER-LIKE
#   holds: With stars in place of zeros, lists hold {value} as many disliked items for each liked one;
#     precision alone does not show it.
#   refuted: Here stars in place of zeros bring no more disliked items for each liked one.
#   open: Whether stars in place of zeros bring more disliked items for each liked one cannot be told
#     from these ratings.
#   :::

# %% tags=["hide-input"]
order = named.table(setup.protocol, setup.precision)["value"].sort_values(ascending=False)
order = [*order.index, *named.left_out]
best_first = sorted(names, key=lambda system: order.index(system.name))
HTML(
    "<details><summary>All readings, with class, parameters and source</summary>"
    f"{descriptions.systems_html(best_first, line_ups.one_name_sources())}</details>"
)

# %% [markdown] tags=["general"]
# ## What was published, and whether ours agrees
#
# {cite:t}`MCCRS20` is the one of the four papers whose numbers can be checked to the last digit: its
# authors published the folds of MovieLens 1M and, for each fold, what each system scored. Their
# systems come from *LibRec*, a Java library of recommenders, with configuration files that are public
# too. Our classes are the models of the cited publications. Where LibRec computed something else, the
# line-up has a class that computes the same as LibRec, in `recommenders.as_published`.
#
# That goes as far as the lists. Where a model has nothing to say, LibRec scores 0, and it lists equal
# scores in the order in which the training file first names the items. Ratings have no order of rows
# in this book; sorted by user, then by item, they stand in for the file. What we do not imitate is
# *training* that depends on that order: steps that are taken in the order of rows, and entries that a
# defect drops.

# %%
chosen = line_up(LINE_UP, min_rating=setup.min_rating)
measured = setup.measure(LINE_UP, chosen)
steps = line_ups.ablations(min_rating=setup.min_rating)
ablated = setup.measure("ablations", [step.system for step in steps])
chances = setup.chances()

# %% tags=["hide-input"]
HTML(tables.published_html(measured, chances, setup.published, steps, ablated))

# %% [markdown] tags=["general"]
# (sec-one-change)=
# ### One change at a time
#
# Each row below changes one thing in a system of the line-up and leaves the rest alone. Where a value
# was published, that shows what stood behind it.

# %% tags=["hide-input"]
by_rule = {step.system.name for step in line_ups.tie_rules(min_rating=setup.min_rating)}
others = [step for step in steps if step.system.name not in by_rule]
HTML(tables.changes_html(others, measured, ablated, setup.published, judged=True))

# %% [markdown]
# (sec-tie-rule)=
# ## What ties decide
#
# A list of ties is, in LibRec, the list of those items that the file names first; an item with many
# ratings has many chances to be named early. Who gets such a list? A user whose ratings all count 0 has no topics in pLSA and no
# neighbours in kNN; SLIM has a weight for some pairs only. This book's own rule is another one: equal
# scores are ordered [at random](#dev-ties), and what a model cannot score is [not in the
# list](#dev-nc).
#
# :::{finding} own/TIES-HARDLY-MATTER
# holds: On these ratings the rule decides next to nothing: it moves the precision of no system by more
#   than {value}.
# refuted: On these ratings the rule moves the precision of one system by {value}.
# open: -
# :::

# %% tags=["hide-input"]
same = [step for step in steps if step.system.name in by_rule]
HTML(
    "<details><summary>Each system with either rule, on these ratings</summary>"
    f"{tables.changes_html(same, measured, ablated, setup.published, judged=True)}</details>"
)

# %% [markdown] tags=["general"]
# To see what the rule can do, here is a simulated world where a third of the users have no liked
# rating to train on, and where the more popular an item is, the fewer like it. A system is trained
# there once, and its scores are listed by either rule.

# %%
tied = setup.ties(ties.WORLD)

# %% tags=["hide-input"]
HTML(
    f"{ties.ties_sentence(tied)}<details><summary>Each system with either rule, in that world"
    f"</summary>{ties.ties_html(tied)}</details>"
)

# %% [markdown] tags=["general"]
# A popularity list for users who liked nothing is no recommendation that anyone chose. It fills the
# lists all the same, and what users disliked there is counted.
#
# ## As cited, and as run
#
# Some names of the line-up stand for something else than the publication that is cited with them.
# Below each is the cited model on the same ratings, with the same parameters where both have them.

# %%
pairs = line_ups.cited_models(min_rating=setup.min_rating)
models = setup.measure("models", [pair.system for pair in pairs])

# %% tags=["hide-input"]
HTML(
    tables.widest_sentence(pairs, measured, models)
    + tables.changes_html(pairs, measured, models, setup.published)
)

# %% [markdown] tags=["general"]
# A comparison with "WBPR" may be about the one or about the other; nobody can tell from the name.
#
# ## How much does a parameter decide?
#
# One or two main parameters of each system are changed, one at a time, everything else as in the
# line-up: half and double what was run, and further where a known reading or a published default
# lies there. All of this on one split, as there are many systems to train.

# %%
ways = sensitivity.chosen_variations(LINE_UP, short=setup.short)
every = line_ups.sensitivity_systems(LINE_UP, min_rating=setup.min_rating)
moved = [system for system in every if system.name in ways]
single = setup.measure("sensitivity", [*chosen, *moved], split="ratio 0.2")

# %% tags=["hide-input"]
values = sensitivity.values_of_variations(single, chosen, ways, metric=setup.precision)
spans = sensitivity.spans(values, chosen)
figures.sensitivity(single, values, chosen, metric=setup.precision).show()

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_sensitivity
# :name: fig-sensitivity
#
# Precision (left) and rank in the line-up (right) as one parameter at a time is changed. Dots: at the
# line-up's parameters. A rank is the place among the others, each at the line-up's parameters.
# ```

# %% tags=["hide-input"]
HTML(
    "<details><summary>How far each system moves, and by which parameter</summary>"
    f"{tables.spans_html(spans, setup.precision)}</details>"
)

# %% tags=["remove-cell"]
findings.state("systems", {"one_name": named, LINE_UP: measured, "ablations": ablated})

# %% [markdown] tags=["general"]
# ## What to write in a paper
#
# A name, a citation and $k$ are not enough to run a system again. What this page had to find out for
# each of them is what a paper should say: the library with its version, or the code; every parameter,
# defaults included; what a rating counts in training; what happens to items without a score, and to
# equal scores; and the split itself. `print(system)` shows that part of it which is a system of this book.
