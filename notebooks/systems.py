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
# (sec-systems)=
# # The systems
#
# "We compare with user kNN (cosine, $k=20$)." Such a line names a family, not an algorithm. Are the
# neighbours the nearest of all users, or the nearest of those who rated the item? Is the cosine over
# whole profiles or over common items? Does a low rating count as a rating, as a zero, or not at all?
# Each answer is in use somewhere under the same name, and on this page they differ by more than most
# published improvements.
#
# So every system of this book is a class with all its parameters written out. This page is made from
# those classes: what the line-ups contain and why, how their values compare with published ones,
# what hangs on a name and on a parameter, and what each class computes.

# %% tags=["hide-input", "remove-output"]
from IPython.display import HTML, Markdown
from myst_nb import glue

from recbias import line_up
from recbias.claims import pages, sensitivity, showing, systems as page, ties, validation
from recbias.claims.reference import find_reference
from recbias.plotting import downloads, plot_ranges, plot_values, use_book_style
from recbias.recommenders.descriptions import catalogue_html, systems_html
from recbias.recommenders.line_ups import (
    ablations,
    cited_models,
    one_name_sources,
    one_name_systems,
    sensitivity_systems,
)
from recbias.makers import run_maker

use_book_style()

# %% tags=["parameters"]
dataset: str = "ml-1m"
min_rating: float | None = None  # 0 to 1000: liked from; none = top - 1
split: str | None = None  # none = the published folds, else k-fold 5
extent: str | None = None  # short or full; none = as the data allows
seed: int = 1  # 0 to 1000000
workers: int = 2  # 1 to 64: processes; results do not depend on them

# %% tags=["remove-cell"]
short = page.is_made_here(dataset) if extent is None else extent == "short"
if min_rating is None:
    min_rating = page.liked_from(dataset)
if split is None:
    split = "ratio 0.2" if short else page.published_split(dataset)
protocol = f"AI-AN-AR rel>={min_rating:g} users=tested"
precision = validation.MEASURES[0]

where = {
    "dataset": dataset,
    "protocol": protocol,
    "split": split,
    "seed": seed,
    "workers": workers,
}
glue("min_rating", f"{min_rating:g}", display=False)
glue("split", {"ready": "the authors' five folds"}.get(split, split), display=False)

# %% [markdown]
# ## Line-ups
#
# A line-up is what one paper compared. Where the paper gives no parameter, the last column says where
# ours comes from; a class name leads to its entry [below](#sec-classes).

# %% tags=["hide-input"]
HTML("".join(showing.line_up_details(name, min_rating=min_rating) for name in page.TITLES))

# %% [markdown]
# ## Do they score what was published?
#
# {cite:t}`MCCRS20` published, beside the paper, what each system scored on each fold, and the folds.
# That makes their line-up the one that can be checked to the last digit. Its figures come from
# LibRec, and LibRec does not always compute what the cited publication describes; where it does not,
# the line-up has a class of `recommenders.as_published` that computes the same.
#
# That goes as far as the lists. Where a model has nothing to say, LibRec scores 0, and it lists equal
# scores in the order in which the training file first names the items. Ratings have no order of rows
# in this book; sorted by user, then by item, they stand in for the file. What we do not imitate is
# *training* that hangs on that order: steps that are taken in the order of rows, and entries that a
# defect drops.
#
# The candidates are all items with a training rating, an item is liked from {glue:text}`min_rating`
# stars, means run over users with a test rating, and precision is divided by 10 however short the list.
# The split: {glue:text}`split`.

# %%
chosen = line_up(page.LINE_UP, min_rating=min_rating)
measured = page.measure(page.LINE_UP, chosen, **where)
steps = ablations(min_rating=min_rating)
ablated = page.measure("ablations", [step.system for step in steps], **where)
data = measured.dataset["name"]
published = find_reference(page.LINE_UP, data, split, protocol)
chances = run_maker(
    "systems/chance",
    dataset,
    parameters={
        "split": split,
        "seed": seed,
        "min_rating": min_rating,
        "n_rankings": validation.N_RANKINGS if published else 0,
    },
    record="systems/chance",
)

# %% tags=["hide-input"]
cheap = (
    "To keep the build short, this edition trains on **one split** instead of five folds and moves "
    "each parameter to **one other value** only."
)
Markdown(pages.data_line(measured, cheap if short else ""))

# %% tags=["hide-input"]
HTML(showing.published_html(measured, chances, published, steps, ablated))

# %% [markdown]
# A system is inside if both means differ from the published ones by at most 4 %, or by at most 0.001
# where that is more. One that is outside counts as explained if one of the changes
# [below](#sec-hangs) brings *both* of its values inside, as measured; otherwise nothing explains it,
# and the verdict is no.
#
# Two systems are chance. A tolerance around their published values would say nothing, so that they
# are not among those that are compared, and have rules of their own:
#
# - **Random**: the published value is one draw, ours a mean over seeds. Both are held against the
#   exact expectation of a random ranking, $\operatorname{avg}_u k_u/T_u$ for a user with $k_u$ liked
#   test items among $T_u$ candidates: each has to lie where 99 % of such draws, or of such means,
#   lie around it. The variance of the hits in ten places is hypergeometric.
# - **BPoissMF**: in the release that was run, the parameters are never updated. What is left are
#   random initial values, and a ranking that is arbitrary but nearly the same for everybody. The
#   published value and ours, of another such ranking, have to lie in the 99 % range of 200 of them.
#
# (sec-hangs)=
# ### What a value hangs on
#
# Each row of the table below changes one thing in a system of the line-up, and the last column says
# whether that leads to the published values.

# %% tags=["hide-input"]
HTML(showing.changes_html(steps, measured, ablated, published, judged=True))

# %% [markdown]
# (sec-tie-rule)=
# ### What ties decide
#
# A list of ties is, in LibRec, the list of those items that the file names first, and popular items
# appear early. Who gets such a list? A user whose ratings all count 0 has no topics in pLSA and no
# neighbours in kNN; SLIM has no weight for most pairs. This book's own rule is another one: equal
# scores are ordered [at random](#dev-ties), and what a model cannot score is [not in the
# list](#dev-nc).
#
# The rows "ties in random order" above show what this changes on the data of this page. Here is a
# simulated world where a third of the users have no liked rating to train on, and where the more
# popular an item is, the fewer like it. Both readings of a system share one training; only the lists
# differ.

# %%
tied = run_maker(
    "systems/ties",
    dataset,
    parameters={"split": split, "seed": seed, "min_rating": min_rating, "world": ties.WORLD},
    record="systems/ties",
)

# %% tags=["hide-input"]
HTML(ties.ties_sentence(tied) + ties.ties_html(tied))

# %% [markdown]
# A popularity list for users who liked nothing is no recommendation that anyone chose. It fills the
# lists all the same, and false positives are counted in them.

# %% [markdown]
# ## As published, and as cited
#
# Five names of the line-up stand for something else than the publication that is cited with them.
# Here is the cited model on the same data, with the same parameters where both have them.

# %%
pairs = cited_models(min_rating=min_rating)
cited = [pair.system for pair in pairs]
models = page.measure("models", cited, **where)

# %% tags=["hide-input"]
HTML(showing.changes_html(pairs, measured, models, published))

# %% [markdown]
# A comparison with "WBPR" may be about the one or about the other; nobody can tell from the name.
#
# ## One name, many algorithms
#
# All of the following are "user-based kNN with cosine similarity". They share the data, the split
# and the evaluation.

# %%
readings = one_name_systems(min_rating=min_rating)
named = page.measure("one_name", readings, **where)

# %% tags=["hide-input"]
figure = plot_values(named, {"user kNN, cosine": (protocol, precision)}, systems=named.systems)
glue("fig_one_name", figure, display=False)
table = named.table(protocol, precision).join(
    named.table(protocol, validation.MEASURES[1])["value"].rename(validation.MEASURES[1])
)
HTML(downloads(figure, table, f"one-name-{named.dataset['name']}"))

# %% [markdown]
# ```{glue:figure} fig_one_name
# :name: fig-one-name
# :alt: Bars of precision with 95 percent intervals for eight readings of user kNN with cosine similarity.
#
# One name, many algorithms. The means and RankSys take the cosine of whole profiles, LibRec that
# over common items.
# ```

# %% tags=["hide-input"]
HTML(systems_html(readings, one_name_sources()))

# %% [markdown]
# Three differences to look for, each with everything else alike. A **sum** over neighbours grows with
# how many of them rated an item, a mean forgets it. **Shrinkage** keeps two users with one common item
# from being nearest neighbours. And what counts as a rating moves anti-precision, the share of
# disliked items in the list, more than precision: values of both are in the download.
#
# ## How much hangs on a parameter?
#
# One or two main parameters of each system are moved, one at a time, everything else as in the
# line-up: half and double what was run, and further where a known reading or a published default
# lies there. All of this on one split, as there are many systems to train.

# %%
ways = sensitivity.chosen_variations(page.LINE_UP, short=short)
moved = [
    system
    for system in sensitivity_systems(page.LINE_UP, min_rating=min_rating)
    if system.name in ways
]
where["split"] = "ratio 0.2"
single = page.measure("sensitivity", [*chosen, *moved], **where)

# %% tags=["hide-input"]
values = sensitivity.values_of_variations(single, chosen, ways, metric=precision)
spans = sensitivity.spans(values, chosen)
figure = plot_ranges(spans, metric=precision)
glue("fig_sensitivity", figure, display=False)
HTML(downloads(figure, values.set_index("system"), f"sensitivity-{single.dataset['name']}"))

# %% [markdown]
# ```{glue:figure} fig_sensitivity
# :name: fig-sensitivity
# :alt: For each system of the line-up the range of its precision and of its rank as one parameter at a time is moved.
#
# Precision (left) and rank in the line-up (right) as one parameter at a time is moved. Dots: at the
# line-up's parameters. A rank counts the systems that score more at theirs.
# ```

# %% tags=["hide-input"]
HTML(showing.spans_html(spans, precision))

# %% [markdown]
# (sec-classes)=
# ## All classes
#
# Every class that is registered, as its documentation has it: model and objective, parameters with
# their defaults, what an iteration costs, and which pairs it has no score for (the evaluation leaves
# those out of the list, see [the decision](#dev-nc)). `recbias.recommenders.algorithms()` lists them;
# `register` adds one of your own.

# %% tags=["hide-input"]
HTML(catalogue_html())
