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
# # More hits or fewer misses: does it matter which one you count?
#
# A list of ten holds items that a user likes, *hits*, and items that the user dislikes, *misses*. A good
# recommender gives many of the one and few of the other. So it should not matter which one a test
# counts. Here are sixteen systems, counted both ways: by ratings of songs {glue:text}`observed_cm100k`,
# and by ratings of songs that were drawn at random.
#
# ```{glue:figure} fig_lead
# :name: fig-lead
#
# Each point is a system, with its misses (to the right) and hits (upwards) among its first ten: as a test
# on observed ratings counts them, and by ratings that users did not choose to give. Grey: 95 % intervals
# over users. Kendall's $\tau$ would be 1 if both counts had systems in the same order, so that more hits
# went with *more* misses, and -1 if they went with fewer.
# ```

# %% [markdown]
# - **By the truth it does not matter.**
#   :::{finding} own/CM-TRUE-TAU
#   holds: Judged by songs drawn at random, systems with more hits have fewer misses:
#     $\tau$ = {value:.2f} on CM100k.
#   refuted: -
#   open: Judged by songs drawn at random, systems with more hits tend to have fewer misses:
#     $\tau$ = {value:.2f} on CM100k ({low:.2f} to {high:.2f}).
#   :::
# - **In a test it does.**
#   :::{finding} own/CM-OBSERVED-TAU
#   holds: Judged by songs {glue:text}`observed_cm100k`, those with more hits have *more* misses:
#     $\tau$ = {value:.2f}. Who counts hits, and who counts misses, chooses another winner.
#   refuted: -
#   open: Judged by songs {glue:text}`observed_cm100k`, those with more hits tend to have *more* misses:
#     $\tau$ = {value:.2f} ({low:.2f} to {high:.2f}). Who counts hits, and who counts misses, chooses
#     another winner.
#   :::
#   :::{finding} MCCRS20-F1-BL/1
#   holds: On the ratings of this page it is {value:.2f} ({low:.2f} to {high:.2f}).
#   refuted: On the ratings of this page it is another one, {value:.2f} ({low:.2f} to {high:.2f}).
#   open: On the ratings of this page it is {value:.2f} ({low:.2f} to {high:.2f}).
#   :::
# - **One of them misleads.**
#   :::{finding} own/CM-P-TRUE
#   holds: On CM100k hits keep the order of the systems: that of the test and that of the truth have
#     $\tau$ = {value:.2f}.
#   refuted: On CM100k hits do not keep the order of the systems: $\tau$ = {value:.2f} with the truth.
#   open: Whether hits keep the order of the systems on CM100k, is open: $\tau$ = {value:.2f} with the truth
#     ({low:.2f} to {high:.2f}).
#   :::
#   :::{finding} own/CM-ANTIP-TRUE
#   holds: Misses turn it round: {value:.2f}.
#   refuted: Misses keep it as well: {value:.2f}.
#   open: Misses seem to turn it round, {value:.2f}, though users alone leave that open ({low:.2f} to
#     {high:.2f}).
#   :::
# - **It is not always the same one.**
#   :::{finding} own/OPPOSED-ANTIP
#   holds: In worlds where people like what is popular *less*, misses order systems as the truth does
#     ($\tau$ at least {value:.2f}),
#   refuted: In worlds where people like what is popular *less*, misses do not order systems as the truth
#     does, either ($\tau$ down to {value:.2f}),
#   open: -
#   :::
#   :::{finding} own/OPPOSED-P
#   holds: and hits mislead (at most {value:.2f}).
#   refuted: and hits need not mislead (up to {value:.2f}).
#   open: and hits say nothing of it, or mislead ($\tau$ at most {value:.2f}, {low:.2f} to {high:.2f}).
#   :::
#
# {cite:t}`MCCRS20` found this and explained it; {cite:t}`TOIS21` extend it. This chapter repeats both
# papers, and then asks what a reader with ratings of their own needs to know: [how many random
# judgments](#sec-how-many) a comparison takes, and [which metric to trust](#sec-which-to-trust) where
# there are none.

# %% [markdown] tags=["general"]
# **After this chapter you can**
# - say why hits and misses must agree where everything is judged, and need not where little is;
# - derive the best ranking for everybody by either count, and see from two items why they are opposed;
# - tell an observed value from a true one, and say what would have to be known to tell them apart;
# - decide which of the two counts to report for data of your own, or that the data cannot tell.

# %% tags=["hide-input", "remove-output"]
from IPython.display import HTML, Markdown
from myst_nb import glue

from recbias import Grid, line_up, run
from recbias.book import choosing, pages
from recbias.book.cards import verdict_cards
from recbias.book.chapters import true_vs_false_positive_disagreement as chapter
from recbias.book.chapters.true_vs_false_positive_disagreement import (
    columns,
    figures,
    figures_of_judgments,
    judgment_tables,
    judgments,
    measure,
    pair_tables,
    setup,
    true_values,
    trusted,
)
from recbias.book.chapters.true_vs_false_positive_disagreement.optima import optima_sentence
from recbias.book.figures import use_book_style
from recbias.book.findings import state
from recbias.book.systems import ties
from recbias.book.systems.line_up import published_split, relevance_threshold
from recbias.claims import judge_chapter
from recbias.experiment import training_seeds as seeds
from recbias.experiment.results import begin_page
from recbias.recommenders import with_seeds

# %% tags=["parameters"]
dataset: str = "ml-1m"
min_rating: float | None = None  # smallest liked rating; none = top of the scale - 1
cutoff: int = 10  # 1 to 1000: length n of the lists
split: str | None = None  # none = the published folds, else k-fold 5
systems: str = "mccrs20"  # one of mccrs20, modern: line-up of systems
seed: int = 1  # 0 to 1000000
n_seeds: int | None = None  # 1 to 100: of random training; none = 5 on published data, else 1
workers: int = 2  # 1 to 64: processes; results do not depend on them

# %% tags=["remove-cell"]
use_book_style()
begin_page("05_true_false_positives")
min_rating = relevance_threshold(dataset) if min_rating is None else min_rating
split = split or published_split(dataset)
n_seeds = n_seeds or seeds.training_seeds(dataset)
truth = setup.truth_of(dataset)
quoted = choosing.written(min_rating=min_rating, cutoff=cutoff) | choosing.observed_items()
for name, text in quoted.items():
    glue(name, text, display=False)

# %% [markdown] tags=["general"]
# ## What the paper says
#
# Call an item that user $u$ likes *relevant*, one that they dislike *non-relevant*. A rating of
# {glue:text}`min_rating` or more says liking, a lower one says the opposite, and **no rating says
# nothing**. Then the first $n$ items of a list are of three kinds,
#
# $$\underbrace{P@n}_{\text{hits}/n}+\underbrace{antiP@n}_{\text{misses}/n}+
# \underbrace{\text{unrated}@n}_{\text{nobody knows}}=1 .$$
#
# Divide the same counts by all that could be found, and they are called recall and fallout
# ([definitions](#sec-metrics)). Where everything in a list is rated, $antiP=1-P$ and nothing is to be
# said. Where nine of ten items are unrated, either can go up without the other going down.
#
# **What would be best for everybody?** The paper asks it of rankings that are the same for all users,
# since there it has an answer. By $p(train|i)$ it means the share of users with a training rating of item
# $i$, by $p(rel|train,i)$ the share of those ratings that say liking. A user is shown the first item that
# they do not have in training. The true value of $P@1$ is largest if items are sorted by (Eq. 1), the
# observed one by (Eq. 2):
#
# $$f_P^{true}(i)=p(rel|\neg train,i)\,,\qquad
# f_P^{obs}(i)=\frac{p(train|i)}{1-p(train|i)}\;p(rel|train,i)\,.$$
#
# For $antiP@1$, where less is better, a minus sign comes in (Eqs. 3 and 4):
#
# $$f_{antiP}^{true}(i)=p(rel|\neg train,i)-1\,,\qquad
# f_{antiP}^{obs}(i)=-\frac{p(train|i)}{1-p(train|i)}\,\bigl(1-p(rel|train,i)\bigr)\,.$$
#
# *True* values: both are in the same order, so that the two metrics have one and the same best ranking,
# whatever is popular. *Observed* values: the odds of being rated stand in both, and **multiply a positive
# number in one, and a negative one in the other**. Being popular moves an item up by hits, and down by
# misses.
#
# **When does that decide?** When popularity differs more than liking does. For two items $a$ and $b$
# and a function $f\ge 0$, the paper calls *steepness* (Eq. 5)
#
# $$\frac{|f(a)-f(b)|}{\max(f(a),f(b))}\,.$$
#
# Its lemma: the two observed optima order $a$ and $b$ in opposite ways exactly if the odds of being rated
# are steeper than $p(rel|train,\cdot)$ and opposed to it, or steeper than its complement and opposed to
# that. (Ties are not covered: [E20](#err-e20).) In words: if one item is much more popular than
# another, it takes a large difference in liking for both metrics to put the same one first.
#
# ### The claims
#
# Every assertion that can be measured has a criterion, written down before the result that it judges
# and locked by a hash. {cite:t}`TOIS21` is not at hand, so that its claims are paraphrases of what
# its authors published beside it.

# %% tags=["hide-input"]
HTML(pages.claims_of("true vs false positive disagreement"))

# %% [markdown]
# ## Predict before measuring
#
# Three questions. Commit yourself first.
#
# ::::{predict} Of each system's list only those items are kept that the user rated in the test, and hits and misses are counted among the first ten of them. System A has more hits than system B. Has it fewer misses?
# - yes, always
# - mostly
# - that says nothing about misses
#
# Always, if each list is divided by the items that are left in it: what is not a hit is a miss then.
# :::{finding} MCCRS20-F1-TL/2
# holds: Here $\tau$ is {value:.2f}.
# refuted: Here $\tau$ is {value:.2f}, since lists of different lengths were averaged.
# open: -
# :::
# ::::
#
# ::::{predict} Now the whole catalogue is ranked. System A has more hits among its first ten than system B. Has it fewer misses, too?
# - mostly, as a better recommender should
# - as often as not
# - mostly it has more of them
#
# :::{finding} MCCRS20-F1-BL/1
# holds: Mostly it has more of them: $\tau$ = {value:.2f} ({low:.2f} to {high:.2f}).
# refuted: Not mostly more of them: $\tau$ = {value:.2f} ({low:.2f} to {high:.2f}).
# open: That is open here: $\tau$ = {value:.2f} ({low:.2f} to {high:.2f}).
# :::
# {numref}`fig-two-counts` has all systems.
# ::::
#
# ::::{predict} What share of these lists' items has the user rated in the test?
# - more than half
# - about a third
# - less than a fifth
#
# :::{finding} own/JUDGED-SHARE
# holds: {value}, averaged over all systems: of the rest nobody knows whether it is a hit or a miss.
# refuted: {value}, averaged over all systems: lists of these data are better known than most.
# open: {value}, averaged over all systems.
# :::
# ::::

# %% [markdown] tags=["general"]
# ## The experiment
#
# The sixteen systems of the paper, as their authors ran them ([how we know](#sec-systems)), are trained
# on each fold, and each list is counted three ways: *full*, from the whole catalogue; *condensed*, its
# rated items only; and where ratings of random items exist, *true*, by those.

# %%
protocols = {
    "full": f"AI-AN-AR rel>={min_rating} users=tested",
    "condensed": f"AI-AN-AR rel>={min_rating} condensed users=tested",
}
tests = {}
if truth:  # ratings of items that were drawn at random, or the truth of a world
    protocols["true"] = f"AI-AN-AR rel>={min_rating} users=tested"
    tests["true"] = truth
metrics = setup.metrics(cutoff, protocols)
measured = run(
    Grid(
        dataset,
        with_seeds(line_up(systems, min_rating=min_rating), n_seeds),
        protocols,
        metrics,
        split=split,
        seed=seed,
        tests=tests,
        replicates=setup.combined(metrics),
        compare=setup.compared(cutoff),
    ),
    workers=workers,
    name="systems",
)

# %% tags=["hide-input"]
Markdown(pages.data_line(measured))

# %% tags=["hide-input", "remove-output"]
figures.lead(measured).show()

# %% [markdown] tags=["general"]
# ### Hits against misses, condensed and full
#
# In the paper's first figure each system stands four times.

# %% tags=["hide-input"]
figures.two_counts(measured).show()

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_two_counts
# :name: fig-two-counts
#
# The paper's Figure 1. Above: rated items only, hits and misses divided by the rated items of a list, as
# the authors do; below: all items. Systems are numbered by recall. Grey: 95 % intervals over users.
# Diamonds: the values that the authors published, where the data are theirs.
# ```

# %% [markdown]
# :::{finding} MCCRS20-C-UNRATED/1
# holds: Of the items of the average list {value} are rated, and of all others nobody knows.
# refuted: Of the items of the average list {value} are rated; the paper has another share.
# open: Of the items of the average list {value} are rated ({low} to {high}), and of all others nobody knows.
# :::
# :::{finding} MCCRS20-F1-BL/3
# holds: From rated items to all items $\tau$ turns its sign, by {value:.2f}: what was one metric in two
#   forms became two metrics that contradict each other.
# refuted: From rated items to all items $\tau$ does not turn its sign.
# open: Whether $\tau$ turns its sign from rated items to all items is open.
# :::
# :::{finding} MCCRS20-F1-BR/1
# holds: Recall and fallout do the same ($\tau$ = {value:.2f}).
# refuted: Recall and fallout do not do the same ($\tau$ = {value:.2f}).
# open: Of recall and fallout that is open ($\tau$ = {value:.2f}, {low:.2f} to {high:.2f}).
# :::
#
# Why not condense, then? Because the task is another one: a system is asked for ten items out of the
# catalogue, and not to sort what the user has rated.
# :::{finding} MCCRS20-C-CONDLOSS/1
# holds: And because differences shrink: the median effect size of a pair of systems is {value} that of
#   full lists.
# refuted: Differences do not shrink much, though: the median effect size of a pair of systems is
#   {value} that of full lists.
# open: The median effect size of a pair of systems is {value} that of full lists ({low} to {high}).
# :::
# :::{finding} MCCRS20-C-CONDLOSS/2
# holds: Of the pairs that full lists tell apart, condensed ones tell {value} as many.
# refuted: Condensed lists tell {value} as many pairs apart as full ones do.
# open: -
# :::

# %%
reference = columns.published_columns(measured.grid)
changes, asked = columns.changes_grid(measured, reference) if reference else ([], None)
changed = run(asked, workers=workers, name="changes") if asked else None

# %% tags=["hide-input"]
HTML(chapter.tables.columns_folded(measured, reference, changes, changed))

# %% [markdown]
# :::{finding} own/COLUMNS-MET
# holds: Of the 14 systems that are no chance, {value} meet what was published in all eight columns.
# refuted: Of the 14 systems that are no chance, only {value} meet what was published in all eight columns.
# open: -
# :::
# :::{finding} own/COLUMNS-EXPLAINED
# holds: Of each other one it is known what was run instead.
# refuted: For {value} of the others it is not known what was run instead.
# open: -
# :::

# %% [markdown] tags=["general"]
# A split by time is another test: it asks about the future instead of about more of the same.
# {cite:t}`TOIS21` find that hits and misses contradict each other less there.

# %%
temporal = None
if setup.has_times(dataset):
    temporal = run(setup.over_time(measured.grid), workers=workers, name="temporal")

# %% [markdown]
# :::{finding} own/TIME-WEAKER
# holds: So do they here: $\tau$ of nDCG and its counterpart nDCL is {value:.2f} less than in a random split.
# refuted: Not so here: $\tau$ of nDCG and its counterpart nDCL is not less than in a random split.
# open: Here that is open: $\tau$ of nDCG and its counterpart nDCL is {value:.2f} less than in a random
#   split ({low:.2f} to {high:.2f}).
# :::

# %% [markdown] tags=["general"]
# ## The best ranking for everybody, by either count
#
# Equations 2 and 4 can be run: both need nothing but counts of training ratings. They stand here beside
# the other rankings that are the same for everybody.
#
# ::::{predict} Which items come first in the ranking that is best for observed anti-precision?
# - those that nearly everybody likes
# - those that few people know, and nobody has disliked
# - a mixture
#
# Those that nobody disliked in training. All of them are tied at 0, whatever their number of ratings;
# next come those with a single dislike. Popular items come last: somebody always dislikes them.
# ::::

# %%
optimal = run(
    Grid(
        dataset,
        with_seeds(line_up("optimal", min_rating=min_rating), n_seeds),
        protocols,
        metrics,
        split=split,
        seed=seed,
        tests=tests,
        replicates=setup.combined(metrics),
    ),
    workers=workers,
    name="optimal",
)

# %%
optima = measure.optima(
    dataset, min_rating=min_rating, cutoff=cutoff, split=split, seed=seed, truth=truth
)

# %% tags=["hide-input"]
Markdown(chapter.tables.optima_table(optima, optimal, cutoff=cutoff))

# %% [markdown]
# :::{finding} MCCRS20-C-BOUND/1
# holds: Each of the two is the best of them by its own count.
# refuted: Not each of the two is the best of them by its own count, since they are estimated from training
#   ratings and made for the first place, not for ten.
# open: Whether each of the two is the best of them by its own count, is open.
# :::
# :::{finding} MCCRS20-C-BOUND/3
# holds: Popularity comes close to the best by hits: {value} of its precision.
# refuted: Popularity stays away from the best by hits: it has {value} of its precision.
# open: -
# :::
# :::{finding} MCCRS20-C-FLIP/2
# holds: The best by misses is the worst by hits: what nobody dislikes is, mostly, what nobody rated.
# refuted: -
# open: -
# :::
# :::{finding} MCCRS20-C-FLIP/1
# holds: The best by hits is the worst by misses, too, or nearly.
# refuted: The best by hits is not the worst by misses: {value} of the 16 systems recommend more that is disliked.
# open: -
# :::
# :::{finding} MCCRS20-C-PERS/1
# holds: A system that knows its users may do better than any ranking for everybody: WRMF has {value} more
#   precision than the optimum.
# refuted: WRMF, the best of the paper's systems that know their users, does not do better than the
#   optimum.
# open: -
# :::
# :::{finding} MCCRS20-C2/5
# holds: Popularity is among the worst systems by misses, and what counting misses rewards is to list
#   what few people rate.
# refuted: Popularity is not among the worst systems by misses here.
# open: -
# :::

# %% tags=["hide-input"]
Markdown(optima_sentence(optima))

# %% [markdown] tags=["general"]
# That is a finding about toolkits, too. Of items that score the same, one toolkit lists those first that
# its file names first, which tend to be popular, and another draws lots. A value of nearly nothing then
# says what the file was sorted by. A world in which a third of the users liked nothing, and popularity
# opposes liking, shows what that may do to systems; its table is on the page of
# [the systems](#sec-tie-rule).

# %%
tied = ties.ties(dataset, min_rating=min_rating, split="ratio 0.2", seed=seed, world=ties.WORLD)

# %% [markdown]
# :::{finding} own/TIES-DECIDE
# holds: In that world the toolkit's order of ties gives SLIM {value} the misses that drawing lots does.
# refuted: In that world the toolkit's order of ties gives SLIM no more misses than drawing lots does:
#   {value} as many.
# open: -
# :::
# :::{finding} own/TIES-FALLBACK
# holds: And where its 0 stands for "no score", {value} of what pLSA lists to those who liked nothing is
#   known to be disliked, though the model has nothing to say to them.
# refuted: -
# open: -
# :::

# %% [markdown] tags=["general"]
# ## Two items are enough
#
# Why are the two optima opposed? The paper's Figure 2 shows it on two items. There are ten users; five of
# them have rated in training what the table says, and the other five rate the same way in the test.

# %%
simulated = {}
for name, given in chapter.SIMULATIONS.items():
    simulated[name] = getattr(measure, name)(**given, workers=workers)

# %% tags=["hide-input"]
Markdown(pair_tables.examples_table(simulated["examples"]))

# %% [markdown] tags=["general"]
# Values of *a* / *b*, or of the lists *a, b* / *b, a*; the last row says whether both metrics prefer the same
# list.
#
# 1. Item *a* is better known, and liked a little more. The odds are steeper than either share. By hits
#    *a* comes first. It has more misses as well, because more people rate it, so that by misses *b* does.
# 2. Nobody likes *b*. Misses prefer it all the same, because hardly anybody rates it.
# 3. *a* is little better known than *b*, and liked far more: the one case of agreement.
#
# ### All pairs of items
#
# Which example are real items like? The optimal rankings can be compared on *every* pair.
#
# ::::{predict} Of all pairs of items, what share do the two optimal rankings put in opposite orders?
# - about a tenth: the steep cases
# - about half
# - more than seven tenths
#
# :::{finding} own/PAIRS-DISAGREE
# holds: {value}. Example 3 is the exception.
# refuted: {value}, fewer than in the paper.
# open: -
# :::
# ::::

# %%
of_items = {
    "pairs": measure.pairs(dataset, min_rating=min_rating, split=split, seed=seed),
    "items": measure.items(dataset, min_rating=min_rating, split=split, seed=seed),
    "item_groups": measure.item_groups(dataset, min_rating=min_rating, split=split, seed=seed),
}

# %% tags=["hide-input"]
Markdown(pair_tables.pairs_table(of_items["pairs"]))

# %% [markdown] tags=["general"]
# The paper's Table 1: shares of all pairs of items. Most of the printed table is lost; two shares stand in the
# text, and which items they are about has two readings. By clause *a* or *b* of the lemma the optima disagree;
# where it says *agree* they agree.

# %% tags=["hide-input"]
figures.item_curves(of_items["items"], of_items["item_groups"]).show()

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_curves
# :name: fig-curves
#
# The paper's Figure 3, first training fold. Left: each share sorted for itself and divided by its
# largest, so that shapes can be compared. Right: a point on the grey line would have the same place in both
# optimal rankings. Band: the middle 80 % of a group of items.
# ```

# %% tags=["hide-input"]
figures.item_functions(of_items["items"], of_items["item_groups"]).show()

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_functions
# :name: fig-functions
#
# The paper's Figure 4: the functions of Eqs. 2 and 4 over popularity (left) and over liking (right), with
# Pearson's correlation over items. Medians of groups of items; band: their middle 80 %.
# ```

# %% [markdown]
# :::{finding} MCCRS20-F3/4
# holds: Popularity falls off far more abruptly than liking: its Gini coefficient is {value} as large.
# refuted: Popularity does not fall off far more abruptly than liking: its Gini coefficient is {value} as
#   large.
# open: -
# :::
# :::{finding} MCCRS20-F4/4
# holds: In both functions it outweighs liking,
# refuted: It does not outweigh liking in both functions,
# open: Whether it outweighs liking in both functions is open,
# :::
# :::{finding} MCCRS20-F4/1
# holds: with a correlation of {value:.2f} in that of misses: the more people know an item, the further
#   down it goes.
# refuted: with a correlation of {value:.2f} in that of misses.
# open: with a correlation of {value:.2f} in that of misses.
# :::

# %% [markdown] tags=["general"]
# ### How flat would popularity have to be?
#
# The paper's third conclusion: only if popularity were unusually flat could the two optima agree. Worlds
# tell, in which popularity is spread more and more unevenly, and is related to liking or not.

# %% tags=["hide-input"]
figures.flat(simulated).show()

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_flat
# :name: fig-flat
#
# Share of all pairs of items on which the two optimal rankings disagree, in worlds of the size of
# MovieLens 100K. Whiskers: 95 % intervals over worlds (Student's t).
# ```

# %% [markdown]
# :::{finding} own/OPTIMA-FLAT
# holds: It would have to be flat indeed: where all items are as popular they disagree on {value} of the
#   pairs.
# refuted: Even where all items are as popular they disagree on {value} of the pairs.
# open: -
# :::

# %% [markdown] tags=["general"]
# ## Observed and true
#
# So hits and misses have to contradict each other wherever popularity is steep. Which of them is right?
# That takes judgments that users did not choose to give: of CM100k, Coat and Yahoo! R3 a part was rated
# for items that were drawn at random, and of a simulated world all is known.

# %%
of_truth = {}
if truth == "unbiased":
    of_truth["judged_pairs"] = measure.judged_pairs(dataset, min_rating=min_rating)
if truth:
    of_truth["true_order"] = measure.true_order(dataset, min_rating=min_rating, seed=seed)

# %% tags=["hide-input"]
known = true_values.with_truth(measured)
figures.each_count(known).show()

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_each
# :name: fig-each
#
# The paper's Figure 6: each count against its own truth. A metric that can be trusted has its systems on
# a rising line. Numbers from the most hits (true) down. Where the data of this page have no such judgments,
# CM100k is shown.
# ```

# %% tags=["hide-input"]
Markdown(f"{true_values.left_out_sentence(known)}\n\n{true_values.left_out_table(known)}")

# %% [markdown]
# :::{finding} MCCRS20-F6-P/1
# holds: On the data of this page observed precision orders systems nearly as the truth does
#   ($\tau$ = {value:.2f}),
# refuted: On the data of this page observed precision does not order systems as the truth does
#   ($\tau$ = {value:.2f}),
# open: On the data of this page, whether observed precision orders systems as the truth does is open
#   ($\tau$ = {value:.2f}, {low:.2f} to {high:.2f}),
# :::
# :::{finding} MCCRS20-F6-antiP/1
# holds: and observed anti-precision orders them the wrong way round ($\tau$ = {value:.2f}).
# refuted: and observed anti-precision does not order them the wrong way round ($\tau$ = {value:.2f}).
# open: and of observed anti-precision it is open ($\tau$ = {value:.2f}, {low:.2f} to {high:.2f}).
# :::
# :::{finding} MCCRS20-C-WHICH/2
# holds: One of the two is right, and only one.
# refuted: It is not so that one of the two is right, and only one.
# open: Whether only one of the two is right is open.
# :::

# %% [markdown] tags=["general"]
# ### Is it that judgments are missing, or which?
#
# In the right panel of {numref}`fig-lead` nearly everything is missing, too. But it is missing at random. To see how little of it suffices, let systems learn from random
# judgments as well, four fifths of them, and be tested on the others, of which more and more are taken
# out.

# %%
at_random = None
if truth:
    side = true_values.drawn_side(truth)
    less = {"all": side, "half": f"{side} removed=50%", "tenth": f"{side} removed=90%"}
    metrics = dict.fromkeys(less, (f"P@{cutoff}", f"antiP@{cutoff}"))
    at_random = run(
        Grid(
            dataset,
            measured.grid.systems,
            dict.fromkeys(less, f"AI-AN-AR rel>={min_rating} users=tested"),
            metrics,
            split="ratio 0.2",
            seed=seed,
            tests=less,
            replicates=setup.combined(metrics),
        ),
        workers=workers,
        name="mar",
    )
    asked = judgments.judgments_asked(measured.grid, cutoff=cutoff)
    of_truth["judgments"] = measure.judgments(dataset, **asked)

# %% [markdown]
# :::{finding} MCCRS20-C-MAR/1
# holds: On the data of this page $\tau$ is {value:.2f} more by observed ratings than where a tenth of the random
#   judgments is left: it is what gets rated that sets the counts against each other.
# refuted: On the data of this page $\tau$ is not more by observed ratings than where a tenth of the random
#   judgments is left.
# open: On the data of this page it is open whether $\tau$ is more by observed ratings than
#   where a tenth of the random judgments is left ({low:.2f} to {high:.2f}).
# :::
# :::{finding} own/RANDOM-WORLDS
# holds: In worlds where everything is rated at random it never turns positive, however little is: at most
#   {value:.2f}.
# refuted: In worlds where everything is rated at random it may turn positive where little is: up to
#   {value:.2f}.
# open: -
# :::

# %% [markdown] tags=["general"]
# ## Verdicts

# %%
checks = measure.checks(dataset, min_rating=min_rating, cutoff=cutoff, grid=measured.grid)
identities = measure.identities()  # what holds on any data, checked once in a world

# %%
results = {"systems": measured, "optimal": optimal, "optima": optima, "checks": checks}
others = {"changes": changed, "temporal": temporal, "mar": at_random, "ties": tied}
results |= {name: found for name, found in others.items() if found} | of_items | of_truth
verdicts = judge_chapter("true vs false positive disagreement", results)
HTML(verdict_cards(verdicts))

# %% tags=["hide-input"]
HTML(pages.options_details(results))

# %% tags=["remove-cell"]
state("true vs false positive disagreement", results, verdicts)

# %% [markdown] tags=["general"]
# A part **holds** or **is refuted** if the whole 95 % interval lies on one side of its criterion, and
# **is open** if it lies on both. **Yes**: all parts hold. **No**: some are refuted and none holds.
# **Partly**: some hold and some are refuted. **Undecided**: none is refuted, some are open.

# %% [markdown] tags=["general"]
# ## Why
#
# ### Worlds in which the truth is known
#
# Data sets with random judgments are few, and in all that are at hand people like what is popular. A
# simulated world can be anything. In the maps below popularity goes from even (left) to piled up on a few
# items (right), and from opposed to liking (below) to agreeing with it (above). Thirteen systems of the
# line-up are trained in each world, and their orders are compared.
#
# ::::{predict} Popularity is piled up, and the popular items are those that people like least. Which count orders systems as the truth does?
# - hits, as on the data above
# - misses
# - neither
#
# :::{finding} own/OPPOSED-ANTIP
# holds: Misses: $\tau$ with the truth is {value:.2f} at least. Who knows few of the popular items to be
#   liked had better count how often a list walks into them.
# refuted: Not misses: $\tau$ with the truth goes down to {value:.2f}.
# open: -
# :::
# ::::

# %% tags=["hide-input"]
figures.tau_maps(simulated["worlds"], simulated["points"], simulated["bars"]).show()

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_maps
# :name: fig-maps
#
# Blue is for two orders that are alike, red for opposed ones, and the black line between them. Above: P
# against antiP, so that blue says *more hits, more misses*. Below: observed against true, so that blue says
# that a count can be trusted. Means over worlds, which are the same in every edition. Circles: data
# sets of which the relation is known; bars: what it may be by the ratings alone, under the bound that
# [follows](#sec-which-to-trust).
# ```

# %% [markdown]
# :::{finding} MCCRS20-C4/1
# holds: With popularity as skewed as in common data, and liked, hits and misses contradict each other
#   everywhere: $\tau$ is {value:.2f} at least.
# refuted: With popularity as skewed as in common data, and liked, hits and misses do not contradict each
#   other everywhere: $\tau$ goes down to {value:.2f}.
# open: -
# :::
# :::{finding} MCCRS20-C4/2/1
# holds: Where items are equally popular they agree ($\tau$ = {value:.2f}, {low:.2f} to {high:.2f}).
# refuted: Where items are equally popular they do not agree ($\tau$ = {value:.2f}, {low:.2f} to {high:.2f}).
# open: Where items are equally popular they may agree ($\tau$ = {value:.2f}, {low:.2f} to {high:.2f}).
# :::
# :::{finding} MCCRS20-C4/2/2
# holds: From a skew of .5 on they do not, whatever the relation ($\tau$ is {value:.2f} at least).
# refuted: From a skew of .5 on they may agree, too, in some relation ($\tau$ goes down to {value:.2f}).
# open: -
# :::
# :::{finding} MCCRS20-C5/1
# holds: By the truth they agree in all kinds of worlds ($\tau$ at most {value:.2f}).
# refuted: By the truth they do not agree in all kinds of worlds ($\tau$ up to {value:.2f}).
# open: -
# :::
# :::{finding} own/BOTH-RIGHT
# holds: Nor is it always one of the two that is wrong: in {value} of the kinds of worlds both order systems
#   more as the truth does than the other way round.
# refuted: And in no kind of world are both right.
# open: -
# :::

# %% [markdown] tags=["general"]
# ## Beyond the papers
#
# (sec-how-many)=
# ### How many random judgments are enough?
#
# Judgments of items drawn at random say which system is better, and they are expensive: most people have
# no opinion about a random item, or have to form one first. How many does one need of each user, for an
# order of the systems whose expected $\tau$ with the true one is at least .9?
#
# The true order is that by the judgments of *all* items, and nobody has it. What there is, is a sample, and
# an order by a sample has noise, the one that is called true as well. So the judgments of every user are
# dealt into two halves without a common item, again and again. The order by $k$ judgments of one half is
# compared with that by the other half. Both have noise, so $\tau$ between them is *too low* for that with
# the truth. And if two orders by $k$ judgments each have $\tau_{k,k}$, then the expected $\tau$ of either
# with the truth is at most $\sqrt{\tau_{k,k}}$: a pair of systems that $k$ judgments order rightly with an
# expected sign of $m$ adds $m$ to one and $m^2$ to the other, and no average of $m$ is above the root of
# that of $m^2$. Between these bounds, which need no model, runs an estimate: differences of systems and
# noise are taken to be normal, with a mixture of scales that is fitted to $\tau_{k,k}$.

# %% tags=["hide-input"]
tables_shown = judgment_tables.judgment_tables(of_truth.get("judgments"))
figures_of_judgments.judged_orders(tables_shown, cutoff).show()

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_judgments
# :name: fig-judgments
#
# How true an order is, over the number of judgments of random items per user: estimated. Bands: 95 %
# intervals over users, which are somewhat too narrow, since they know nothing of what the model misses. Dotted:
# bounds that need no model, as far as half of the judgments go, with noise of their own. Black: .9.
# ```

# %% tags=["hide-input"]
Markdown(judgment_tables.judgments_table(tables_shown, cutoff))

# %% [markdown]
# :::{finding} own/JUDGMENTS-P
# holds: On CM100k it takes {value} random judgments of every user ({low} to {high}) to order the systems
#   by P with an expected $\tau$ of .9 to the true order;
# refuted: On CM100k {value} random judgments of every user ({low} to {high}) are enough to order the
#   systems by P with an expected $\tau$ of .9 to the true order;
# open: On CM100k it takes about {value} random judgments of every user to order the systems by P with an
#   expected $\tau$ of .9 to the true order, and that is known to a factor only ({low} to {high});
# :::
# :::{finding} own/JUDGMENTS-ANTIP
# holds: by antiP, {value} ({low} to {high}).
# refuted: by antiP, as few as {value} ({low} to {high}).
# open: by antiP, about {value} ({low} to {high}).
# :::
# :::{finding} own/JUDGMENTS-AT-LEAST
# holds: A bound that needs no model, and has noise of its own, crosses .9 near {value}.
# refuted: -
# open: -
# :::
# :::{finding} own/JUDGMENTS-LISTED
# holds: Most of that effort is lost. Only {value} of the judgments are of an item that any of the systems
#   lists; all others add nothing to any value.
# refuted: That effort is not lost: {value} of the judgments are of an item that some system lists.
# open: -
# :::

# %% [markdown] tags=["general"]
# The estimate is about systems as different as these, and about these users. Pairs that half of the
# judgments cannot tell apart are extrapolated, and a line-up with many near ties may take more.
#
# **Mixed with observed ratings?** They are there already, so why not add them.

# %% tags=["hide-input"]
figures_of_judgments.mixed_orders(tables_shown, cutoff).show()

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_mixed
# :name: fig-mixed
#
# Random judgments alone, and together with the observed ratings that a list is tested with: $\tau$ with the
# order by the other half of the random judgments, which lowers both lines alike.
# ```

# %% [markdown]
# :::{finding} own/JUDGMENTS-FEW-P
# holds: On CM100k observed ratings are better than nothing by P: with two random judgments per user they
#   add to $\tau$.
# refuted: On CM100k observed ratings do not even help where there are but two random judgments per user.
# open: -
# :::
# :::{finding} own/JUDGMENTS-FEW-ANTIP
# holds: By antiP they are worse than nothing: two random judgments per user are better alone, by
#   {value:.2f}.
# refuted: By antiP they help as well.
# open: -
# :::

# %% [markdown] tags=["general"]
# **What to do.** Before paying for random judgments, join the lists of all systems under comparison, and
# draw what is to be judged from this union, for each user alike. Items outside add nothing to any value, so
# expectations stay what they are, up to a common factor. Count hits and misses in these judgments alone.
# Observed ratings may help where hits are counted and random judgments are very few; where misses are
# counted, leave them out.

# %% [markdown] tags=["general"]
# (sec-which-to-trust)=
# ### Which metric should I trust on my data?
#
# Where no random judgments are at hand, the map says what has to be known: how popularity relates to
# liking. What can observed ratings tell of it? Let $\theta_i$ be the share of all users who like item $i$,
# and $s_i$ that of those who rated it. If whoever likes the item is $G_i$ times as likely to rate it as who
# does not, Bayes' rule says
#
# $$\frac{s_i}{1-s_i}=G_i\,\frac{\theta_i}{1-\theta_i}.$$
#
# One factor for all items moves all shares and no order: the relation is then known, *however strongly*
# liking makes people rate. But if factors differ between items, any $\theta$ fits to some $G$, and ratings
# tell nothing. So somebody has to say by how much they may differ, and every answer hangs on that. The
# command
#
# ```bash
# recbias trust my_ratings.csv
# ```
#
# takes it that the factors of two items differ by one half at most (`--spread 1.5`). It does not correlate
# the shares, which for items with few ratings are chance, but fits how they are distributed; then it lets
# all $G_i$ within the bound do their worst, and has the interval of relations that are compatible with the
# ratings. It makes worlds like the data in size, density, skew and share of likes with relations all over
# that interval, in which liking makes people up to three times as likely to rate (`--strength 3`). In each
# it trains ten systems and counts which metric has the larger $\tau$ with the truth, if one is ahead by .1 at
# least. It names a metric if that was so in 95 % of these worlds, says "either" if in as many none was ahead,
# and else that it cannot tell.
#
# Is it right? Worlds with known truth were listed before the command was tuned, which was done on others. In
# a third of them liking makes people rate more strongly than was assumed, and in most of them factors differ
# between items by more.

# %% [markdown]
# :::{finding} own/TRUST-ANSWERS
# holds: The command answers in {value:.0f} of the listed worlds,
# refuted: The command answers in no more than {value:.0f} of the listed worlds,
# open: -
# :::
# :::{finding} own/TRUST-WRONG
# holds: and {value} of these answers ({low} to {high}) are wrong.
# refuted: and {value} of these answers are wrong, more than such a command may give.
# open: and {value} of these answers ({low} to {high}) are wrong.
# :::
# :::{finding} own/TRUST-BEYOND
# holds: Where liking makes people rate more strongly than it assumes, {value} are.
# refuted: Where liking makes people rate more strongly than it assumes, {value} are, which is too often.
# open: Where liking makes people rate more strongly than it assumes, {value} are ({low} to {high}).
# :::
#
# :::{finding} own/TRUST-FOR-ANTIP
# holds: It finds antiP where it should: in {value} of the worlds in which popularity and liking are opposed
#   with a relation of -.5 or below.
# refuted: It often misses where antiP should be trusted: in worlds with a relation of -.5 or below it names
#   antiP in {value} only.
# open: In worlds with a relation of -.5 or below it names antiP in {value}.
# :::
# :::{finding} own/TRUST-FOR-P
# holds: For P it takes more: of the worlds with a relation of .5 or above it names P in {value} only, since in
#   the others worlds that the same ratings may come from disagree.
# refuted: It names P in {value} of the worlds with a relation of .5 or above.
# open: It names P in {value} of the worlds with a relation of .5 or above.
# :::
# :::{finding} own/TRUST-STRONG
# holds: Of both together it answers in {value}.
# refuted: Of both together it answers in {value}, which is less than half.
# open: Of both together it answers in {value} ({low} to {high}).
# :::

# %% tags=["hide-input"]
figures_of_judgments.trusted_shares(simulated["trust"]).show()

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_calibration
# :name: fig-calibration
#
# Statements "P is better", "antiP is better" and "neither is, by .1" about each of the listed worlds: in what
# share of the matched worlds it is so, and how often it was so. Numbers: statements; whiskers: 95 % intervals.
# ```

# %% tags=["hide-input"]
figures_of_judgments.answers(simulated["trust"]).show()

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_answers
# :name: fig-answers
#
# The answers in the listed worlds, by how popularity relates to liking.
# ```
#
# Where the truth about data is known, wholly or by random judgments, it stands beside the answer, which does
# not see it. If the true relation lies outside the interval, liking makes people rate some items more than
# others by more than the bound allows.

# %% tags=["hide-input"]
Markdown(trusted.trust_table(simulated["trust_answers"], simulated["points"]).to_markdown())

# %% [markdown]
# :::{finding} own/TRUST-CM100K
# holds: The ratings of CM100k do not tell: the metric that is better more often is so in {value} of the worlds
#   that they may come from.
# refuted: The ratings of CM100k tell, in {value} of the worlds that they may come from.
# open: -
# :::
# :::{finding} own/TRUST-CM100K-LEAN
# holds: By the truth it is the better one.
# refuted: By the truth it is the other one: what is merely likelier is no answer.
# open: -
# :::
# :::{finding} own/TRUST-COAT
# holds: For Coat that share is {value}, too little to tell, too.
# refuted: For Coat that share is {value}, enough for an answer.
# open: -
# :::

# %% [markdown] tags=["general"]
# An answer is about P@10 and antiP@10 of ten systems that stand for others (a random ranking, popularity by
# all ratings and by likes, mean ratings, neighbours and factors that rank or predict ratings, pLSA and
# EASE), and about worlds made as [this book's](#data-worlds) are. It is a reason to prefer one metric, not a proof;
# with random judgments of their own, readers need neither.

# %% [markdown] tags=["general"]
# ## What to do about it
#
# | when you | then |
# |---|---|
# | count hits only | report misses beside them, and the share of the list that nobody has rated |
# | find that both counts disagree | do not average them: one of them is nearer to the truth, and averaging hides which |
# | believe that popular items are liked more | say so, and count hits |
# | believe the opposite | say so, and count misses |
# | have no reason for either | ask the command above; "cannot tell" is an answer, and belongs in the paper |
# | can collect judgments | draw items at random, for a part of the users at least |
# | condense lists | know that this measures another task, and that differences shrink |
#
# ## What we had to decide
#
# - **Condensed precision** is divided by the rated items of the list, as the authors do, where their claims
#   are judged, and by $n$ beside it ([both](#metric-antip)).
# - **Truth**: test ratings are a fifth of all random judgments, and training is the observed ratings of
#   other pairs. In simulated worlds true values come from a tenth of the truth, since by all of it antiP is
#   $1-P$ whatever a system does.
# - **Ties** of the optimal rankings are broken by one seeded key per user and item
#   ([why](#dev-ties)); what other orders would give stands in the table.
# - **Systems** are those of the published line-up, with their toolkit's rules where these decide
#   ([which](#sec-systems)). *Random* and *BPoissMF* are chance, and are left out where it is said.
# - **Graded losses** (nDCL) grow with the steps of the scale below the threshold ([how](#dev-loss)); on
#   merged stars they say nothing.
# - **Intervals** of $\tau$ leave open what resampled users leave open about pairs of systems
#   ([how](#dev-intervals)). {ref}`All decisions <sec-decisions>` are on one page.
#
# ## On your data
#
# ```bash
# recbias run 05_true_false_positives --dataset my_ratings.csv -p min_rating 4
# ```
#
# The [rerun page](#rerun-own-table) says what the table must look like. What the truth says is then left
# open, and only the last section can help.
#
# ## Exercises
#
# Four, from easy to hard, with starter code and a check that says whether the answer is right.
# Solutions fold out on the page; on paper they are left out.
#
# ````{exercise} What the rest of a list may be
# :label: ex-possible
#
# Of a list of `n` items a user has rated some: `hits` say liking, `misses` do not. What are the smallest
# and the largest share of liked items that the list can have?
#
# ```python
# from recbias.book.chapters.true_vs_false_positive_disagreement.exercises import check_possible
#
# def lowest(hits, misses, n):
#     return ...
#
# def highest(hits, misses, n):
#     return ...
#
# check_possible(lowest, highest)
# ```
# ````
#
# ````{solution} ex-possible
# :class: dropdown
#
# ```python
# from recbias.book.chapters.true_vs_false_positive_disagreement.exercises import check_possible
#
# def lowest(hits, misses, n):
#     return hits / n
#
# def highest(hits, misses, n):
#     return (n - misses) / n
#
# check_possible(lowest, highest)
# ```
#
# Precision is the lower end and $1-antiP$ the upper one. They are as far apart as the list is unrated.
# ````
#
# ````{exercise} Equation 4 by hand
# :label: ex-miss-chance
#
# Of `n_users` users, `rated` have an item in training, and `liked` of these like it. It is shown to
# everybody who lacks it in training; in the test as many users rate it as in training, and as many of
# them like it. What share of the times is it a miss?
#
# ```python
# from recbias.book.chapters.true_vs_false_positive_disagreement.exercises import check_miss_chance
#
# def miss_chance(n_users, rated, liked):
#     return ...
#
# check_miss_chance(miss_chance)
# ```
# ````
#
# ````{solution} ex-miss-chance
# :class: dropdown
#
# ```python
# from recbias.book.chapters.true_vs_false_positive_disagreement.exercises import check_miss_chance
#
# def miss_chance(n_users, rated, liked):
#     return (rated - liked) / (n_users - rated)
#
# check_miss_chance(miss_chance)
# ```
#
# That is $-f_{antiP}^{obs}$: dislikes over those who can still be shown the item. An item that nobody
# has rated is never a miss, and never a hit.
# ````
#
# ````{exercise} Two items on which both agree
# :label: ex-agreeing
#
# Find two items, rated by some of 20 users in training, of which *a* has at least four times the ratings of
# *b*, and on which the optimal rankings by hits and by misses agree. Write each as ratings and liked ones.
#
# ```python
# from recbias.book.chapters.true_vs_false_positive_disagreement.exercises import check_agreeing
#
# check_agreeing(a=..., b=...)  # (8, 6) and (2, 1), for one, are put in opposite orders
# ```
# ````
#
# ````{solution} ex-agreeing
# :class: dropdown
#
# ```python
# from recbias.book.chapters.true_vs_false_positive_disagreement.exercises import check_agreeing
#
# check_agreeing(a=(8, 8), b=(2, 1))
# ```
#
# It takes an item that nearly everybody likes, or one that nearly nobody does, *a* = (8, 0) and *b* =
# (2, 2): the last words of the lemma, "unless its rating is extremely higher or lower".
# ````
#
# ````{exercise} Which count is right?
# :label: ex-roles
#
# Four lists show one item each, to everybody. Observed hits are the share of users who rate and like the
# item, misses that of users who rate and dislike it; the truth is the share who like it. Which count puts
# the four in the order of the truth, in each of these cases?
#
# ```python
# from recbias.book.chapters.true_vs_false_positive_disagreement.exercises import check_roles
#
# answers = {
#     "popular items are liked more": ...,  # "hits", "misses" or "both"
#     "popular items are liked less": ...,
#     "all items are rated equally often": ...,
# }
# check_roles(answers)
# ```
# ````
#
# ````{solution} ex-roles
# :class: dropdown
#
# ```python
# from recbias.book.chapters.true_vs_false_positive_disagreement.exercises import check_roles
#
# answers = {
#     "popular items are liked more": "hits",
#     "popular items are liked less": "misses",
#     "all items are rated equally often": "both",
# }
# check_roles(answers)
# ```
#
# With $p$ for popularity and $q$ for liking, hits are $pq$ and misses $p(1-q)$. If $p$ rises with $q$, so
# does $pq$; if it falls, $p(1-q)$ falls with $q$ twice.
# ````

# %% [markdown] tags=["general"]
# ## Summary
#
# - Where everything in a list is judged, hits and misses are one metric. Where little is, they can
#   contradict each other, and on observed ratings they do so as a rule.
# - The cause is popularity. It multiplies what is liked as well as what is not; the best ranking by hits
#   and the best by misses are nearly each other's reverse, unless liking differs more than popularity.
# - By the truth both counts agree. So one of the two misleads, and which one follows from whether people
#   like what is popular.
# - Random judgments tell. Without them a bound on how people choose may tell; sometimes nothing does.
#
# So it does matter, and it should not: a test in which the two counts disagree is one whose
# unrated items decide.
#
# ```{seealso}
# [Notation and glossary](#sec-symbols), [decisions](#sec-decisions), [errata](#sec-errata), and the
# {doc}`scorecard </notebooks/scorecard>` with every claim of the four papers.
# ```
