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
# # What does a precision mean when most of the truth is missing?
#
# Precision counts the recommended items that a user is *known* to like. Take nine of ten test ratings out at random:
# every list stays, and precision is expected to [fall to a tenth](#sec-why-density).
# :::{finding} own/AR-TENTH
# holds: **By itself, it says how much is known:** no system keeps more than {value} of its precision.
# refuted: **By itself, it says how much is known,** though {which} keeps {value:.0%} of its precision.
# open: **By itself, it says how much is known:** even {which}, which keeps more than all others, keeps {value:.0%}
#   ({low:.0%} to {high:.0%}) of its precision.
# :::
#
# **What to do.** Print beside a precision what a random ranking scores on the same test. Compare systems on one
# dataset, and never values of two. [Rank all items](#sec-enough-negatives), and have
# [at least twice the judgments](#sec-enough-judgements) that your closest pair needs ([five rules](#sec-sparsity-rules)).
#
# ```{glue:figure} fig_lists
# :name: fig-lists
#
# What is known of the first {glue:text}`cutoff` items of each list. Blue, and written at the end, is precision in
# percent. The grey part counts as failure, whatever it may be.
# ```
#
# :::{finding} own/ORDER-TENTH
# holds: **In comparison it says something about systems:** their orders by a tenth of the test ratings and by all of
#   them have $\tau$ = {value:.2f} (1 is the same order).
# refuted: **In comparison it says little here, either:** a tenth of the test ratings has the systems in another order
#   than all of them ($\tau$ = {value:.2f}, where 1 is the same order).
# open: **In comparison it may say something about systems:** the orders by a tenth of the test ratings and by all of
#   them have $\tau$ = {value:.2f} (95 % interval {low:.2f} to {high:.2f}; 1 is the same order). That is open for want
#   of {glue:text}`wanted`.
# :::
#
# Many papers rank each relevant item among {glue:text}`n_others` sampled ones instead.
# :::{finding} own/RUNS-TENTH
# holds: Such values do not notice that ratings are missing (they move by {value:.1%} at most),
# refuted: Such values move as well when ratings are missing, by {value:.0%} for {which},
# open: Such values may not notice that ratings are missing, but too few runs are left to tell (that of {which} moves by
#   {value:.0%}),
# :::
# :::{finding} own/NEGATIVES-TURNED
# holds: but they put {value} of the {glue:text}`negatives_n_resolved` pairs of systems that all items tell apart in
#   the wrong order, and no number of repeated draws mends that.
# refuted: and here they put none of the {glue:text}`negatives_n_resolved` pairs of systems that all items tell apart
#   in the wrong order.
# open: and whether they put pairs of systems in the wrong order is open ({low} to {high} of the
#   {glue:text}`negatives_n_resolved` that all items tell apart).
# :::

# %% [markdown] tags=["general"]
# **After this chapter you can** say which part of a precision is the recommender and which is the data; tell
# which metrics can be compared between datasets, and which only within one; and choose the size of a sample,
# and of a test set, for the comparison that you want to make. *About 45 minutes; all you need is precision and
# [target sets](#sec-options).*

# %% tags=["hide-input", "remove-output"]
from IPython.display import HTML, Markdown
from myst_nb import glue

from recbias import Grid, line_up, run
from recbias.book import choosing, non_personalised, pages
from recbias.book.cards import verdict_table
from recbias.book.chapters.design_alternatives.setup import largest_sample, target_sizes
from recbias.book.chapters.sparsity_bias import figures, measure, setup, turns
from recbias.book.chapters.sparsity_bias.densities import densities_grid
from recbias.book.chapters.sparsity_bias.negatives import drawn_grid
from recbias.book.chapters.sparsity_bias.sampling import sampled
from recbias.book.chapters.sparsity_bias.saturation import SATURATION
from recbias.book.chapters.sparsity_bias.tables import closest_pair, densities_table
from recbias.book.explorer import explorer_html
from recbias.book.figures import use_book_style
from recbias.book.findings import findings_table, state
from recbias.book.html import folded
from recbias.book.predictions import predicted as predict
from recbias.claims import judge_chapter
from recbias.data.datasets import top_rating
from recbias.experiment import training_seeds as seeds
from recbias.experiment.results import begin_page
from recbias.recommenders import with_seeds

# %% tags=["parameters"]
dataset: str = "ml-1m"
min_rating: float | None = None  # smallest relevant rating; none = top of the scale
cutoff: int = 10  # 1 to 1000: length n of the lists that P@n looks at
size: int | None = None  # 2 to 100000: size of a 1R target set; none = 100, or as a table allows
split: str = "k-fold 5"
systems: str = "bcc17"  # one of bcc17, modern: line-up of systems
seed: int = 1  # 0 to 1000000
n_seeds: int | None = None  # 1 to 100: of random training; none = 5 on published data, else 1
workers: int = 2  # 1 to 64: processes; results do not depend on them

# %% tags=["remove-cell"]
use_book_style()
begin_page("02_sparsity_bias")
min_rating = top_rating(dataset) if min_rating is None else min_rating
n_seeds = n_seeds or seeds.training_seeds(dataset)
size = choosing.choose_size(dataset, size, min_rating=min_rating, split=split, seed=seed)
quoted = choosing.written(size=size, min_rating=min_rating, cutoff=cutoff, n_seeds=n_seeds)
quoted |= choosing.written(n_others=size - 1, fifth=-(-cutoff // 5))
for name, text in quoted.items():
    glue(name, text, display=False)

# %% [markdown] tags=["general"]
# ## By hand
#
# A system shows four items to a user, who would like two of them and has rated two:
#
# | item | would like it | has rated it | counts as |
# |---|---|---|---|
# | A | yes | yes | hit |
# | B | yes | no | failure |
# | C | no | yes | failure |
# | D | no | no | failure |
#
# Half of the list is good, and its precision is 1/4. Keep each test rating with probability one half: that of A
# stays every other time, and the expected precision is 1/8. The list is still half good. If the rating of B
# had been recorded too, precision would have been 1/2. All of this is about ratings, and nothing about the list.
#
# Now two systems rank a relevant item against four others, in two runs, and a run is a hit if the relevant
# item comes first. System X puts one of the four above it in both runs. System Y puts none above it in the first,
# and all four in the second. Draw some of the four, and rank the relevant item among these only. In the runs of X
# the one item is missed by a draw of 1, 2, 3, or 4 with probability 3/4, 1/2, 1/4 or 0; in the second run
# of Y something above it is always drawn:
#
# | others drawn | expected share of hits, X | Y | ahead |
# |---|---|---|---|
# | 1 | 3/4 | 1/2 | X |
# | 2 | 1/2 | 1/2 | neither |
# | 3 | 1/4 | 1/2 | Y |
# | all 4 | 0 | 1/2 | Y |
#
# A small sample asks who is rarely far off, all items ask who is at the very top. These are two questions, and no
# repetition of the draw turns the answer to one into that to the other.
#
# ## Predict before measuring
#
# ::::{predict} Half of the test ratings are taken out at random, and no list changes. For which systems does the *expected* P@10 halve exactly?
# - for those that know nothing about users, such as Random
# - for all
# - for none: good lists hold what users liked most, and lose less
#
# For all, and no theory of recommenders is needed to know it. A place of a list counts if its item is
# a relevant test rating, and each of these survives with chance one half. The sum of hits halves in
# expectation, for *every* system, personalised or not; only the division by $n$ and by the number of
# users follows, and neither changes.
#
# :::{right} 2
# :::
# ::::
#
# That is stronger than the paper's argument, and simpler. It asks for three things: ratings leave *at
# random*; the lists stay; and users who have no relevant item left still count, with 0. The first is
# the one that fails in practice. A dataset that is sparser than another did not lose ratings at random.
#
# ::::{predict} And 1RP@10, with one relevant item among 99 sampled others, whose expected value stays: what becomes of its 95 % interval?
# - it stays as well
# - it gets wider, at most by a factor of about 1.4
# - it gets twice as wide
#
# Wider, at most by about $\sqrt2$. Fewer test ratings make fewer runs, and those that are left are a random half of
# them; a mean over a random half has the same expectation, and more noise. Runs of one user depend on each other, so
# that half of them tell more than half. (A removed item may be drawn as one of the 99 others from
# then on, and a good list has put it high. Only in this way the expectation could fall, and only where
# many of the candidates are relevant.)
#
# :::{right} 2
# :::
# ::::

# %% [markdown] tags=["general"]
# ## The experiment
#
# **AR** ranks for each user all items that anybody rated in the test, and counts a user's relevant ones among the
# first {glue:text}`cutoff`; **1R** does so for one relevant item at a time, among $t-1$ sampled others, and calls
# that a *run* ([target sets](#sec-options)). Every system is trained on each fold, under {glue:text}`n_seeds`
# where training is random ([why](#dev-training-seeds)), and ranks its targets once. From one table of ranks
# follows what any part of the test ratings would have given ([how](#dev-thinning)), and what 1R is *expected* to
# be over all samples, exactly ([how](#metric-expected)): no list is ranked again and no sample is drawn.

# %%
designs = {
    "AR": f"TI-AN-AR rel>={min_rating}",
    "liked": f"TI-AN-AR rel>={min_rating} users=relevant",
    "all-1R": f"TI-AN-1R rel>={min_rating}",
}
protocols, thinned = {}, {}
for design, text in designs.items():
    protocols[design] = text
    for share in (30, 60, 90):
        protocols[f"{design} removed {share}%"] = text
        thinned[f"{design} removed {share}%"] = f"observed removed={share}%"
protocols["sizes"] = designs["all-1R"]
n_sampled = largest_sample(dataset, size, min_rating=min_rating, split=split, seed=seed)
measures = setup.metrics(cutoff, size, target_sizes(size, n_sampled))
measured = run(
    Grid(
        dataset,
        with_seeds(line_up(systems), n_seeds),
        protocols,
        measures,
        split=split,
        seed=seed,
        tests=thinned,
        replicates=setup.combined(measures),
    ),
    workers=workers,
    name="systems",
)

# %% tags=["hide-input"]
Markdown(pages.data_line(measured))

# %% tags=["remove-cell"]
figures.lists(measured, cutoff).show()
glue("wanted", "training seeds" if seeds.few_seeds(measured) else "users", display=False)
protocols = {
    "AR": f"TI-AN-AR rel>={min_rating}",
    "all-1R": f"TI-AN-1R rel>={min_rating}",
    "all-1R whole": f"TI-AN-1R rel>={min_rating}",
    "AI": f"AI-AN-AR rel>={min_rating}",
    "AR half": f"TI-AN-AR rel>={min_rating}",
    "AR short": f"TI-AN-AR rel>={min_rating}",
    "AR long": f"TI-AN-AR rel>={min_rating}",
    "AR sampled": f"TI-AN-AR rel>={min_rating}",
    "1R short": f"TI-AN-1R rel>={min_rating}",
    "1R long": f"TI-AN-1R rel>={min_rating}",
}
metrics = non_personalised.floor_metrics(cutoff, size, measured.dataset["n_items"])
baselines = run(
    Grid(
        dataset,
        with_seeds(non_personalised.baselines(min_rating, floor=True), n_seeds),
        {label: protocols[label] for label in metrics},
        metrics,
        split=split,
        seed=seed,
        tests={"AR half": "observed removed=50%"},
    ),
    workers=workers,
    name="baselines",
)

predicted = predict(
    dataset, min_rating=min_rating, split=split, cutoff=cutoff, size=size, seed=seed
)
checks = measure.checks(
    dataset, seed=seed, split=split, min_rating=min_rating, grids=[measured.grid]
)
identities = measure.identities()  # what holds on any data, checked once in a world
once = drawn_grid(measured.grid, "all-1R", cutoff=cutoff)
drawn = measure.negatives(dataset, grid=once, cutoff=cutoff, size=size)
for name, text in turns.negatives_quoted(drawn).items():
    glue(f"negatives_{name}", text, display=False)
once = densities_grid(measured.grid, cutoff=cutoff)
densities = measure.densities(dataset, grid=once, cutoff=cutoff, size=size)
worlds = measure.saturation(**SATURATION)

# %% [markdown] tags=["general"]
# ## What falls when judgments are missing
#
# ::::{predict} Recall divides by the number of relevant items that are left in the test. Half of the test ratings go. What becomes of recall@10, averaged over users with a relevant item left?
# - it halves, as precision does
# - it hardly changes
# - it doubles, since users have half as many relevant items to find
#
# :::{finding} BCC17-C-NORM/2
# holds: It hardly changes. From no test ratings to all, it would rise by {value} of its value, for
#   {which}, where that is most.
# refuted: It changes for some: from no test ratings to all, it would rise by {value} of its value for
#   {which}.
# open: It changes little, or not at all; these data leave that open.
# :::
# Hits and relevant items are thinned alike, and their ratio stays about what it was. Not quite: users
# who keep a relevant item are rather those who had many.
#
# :::{right}
# 2: BCC17-C-NORM/2 holds
# none: BCC17-C-NORM/2 refuted
# :::
# ::::

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_halved
# :name: fig-halved
#
# What half of the test ratings leave of each metric, by its slope over all shares that were kept. Lines: half, and
# all. All but precision (P) and 1R are means over users who have a relevant test item left; nDCG is that of whole
# lists, of the first {glue:text}`cutoff` places and of the first {glue:text}`fifth`.
# ```

# %% tags=["hide-input"]
figures.halved(measured).show()

# %% [markdown] tags=["general"]
# That precision halves and 1R stays is [algebra](#sec-why-density). Of the others, recall (R), AP and nDCG divide by
# what is left to find, so that they need not fall as far; and the first relevant item (RR) stands lower where
# there are fewer. What the paper says of each metric is judged [below](#sec-sparsity-verdicts).
#
# **Over whom is averaged?** Recall, AP, nDCG and RR are undefined for users without a relevant test
# item, and thinning makes more of them. Counted as 0, every metric would fall with the share of users
# who still have one, whatever it measures. The figure leaves such users out. The paper does not say
# what it did, and a comparison of datasets has to.

# %% [markdown] tags=["general"]
# ## What falls when target sets grow
#
# ::::{predict} The target sets of 1R grow from a hundred items to a thousand. What becomes of the 1RP@10 of a system that is better than random?
# - it falls to a tenth or so, as 1/t says
# - it falls, but not so far
# - it stays: the relevant item is as good as before
#
# :::{finding} BCC17-F4R/3
# holds: It falls to about a tenth, as the paper says: {which} goes as the size to the power {value:.2f}.
# refuted: It falls, but not so far. {which} goes as the size to the power {value:.2f}, and a random
#   ranking to the power −1. The paper says that others follow it, "up to linear constants".
# open: It falls, and how far is open here.
# :::
# A relevant item that stands very high is found among a hundred and among a thousand. Only one that
# was found because few rivals had been drawn is lost.
#
# :::{right}
# 1: BCC17-F4R/3 holds
# 2: BCC17-F4R/3 refuted below -0.05
# 3: BCC17-F4R/3 refuted
# :::
# ::::

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_larger
# :name: fig-larger
#
# 1R precision in expectation over all samples, with 95 % intervals over users. Lines: what is left if it falls as
# $1/t$ from the smallest target sets.
# ```

# %% tags=["hide-input"]
figures.larger(measured, cutoff).show()

# %% [markdown] tags=["general"]
# **Why not as $1/t$?** A run hits if fewer than $n$ of its $t-1$ sampled items stand above the relevant
# one. Let a share $q$ of all others do. About $tq$ of them are drawn, so that the run hits for sure as
# long as $t$ is far below $n/q$, and misses for sure far beyond. Every relevant item has a size of its
# own at which it is lost. A random ranking spreads $q$ evenly, and the mean over runs goes as $1/t$; a
# ranking that puts relevant items high has more of its mass at small $q$, which is lost later. The slope
# says how $q$ is distributed, and that differs from system to system.
#
# **The consequence**: two curves with different slopes may cross, so that the size of the sample might decide which
# system comes first. The density of judgments could not, where ratings are missing at random: one and the same
# factor multiplies every value under AR.

# %% [markdown]
# (sec-enough-negatives)=
# ## How many sampled items are enough?
#
# A sample changes two things, and only one of them is chance. Among fewer items a relevant one is found
# more easily, and systems may answer that easier question in another order: then the order *expected*
# of the sample is not that of all items. And one drawn evaluation may miss even the order expected of it.
#
# Neither needs a sample to be found out. If $a$ of the $N$ other items stand above the relevant item of
# a run, then with $t-1$ of them drawn the run hits with chance
#
# $$q(t)=P(H<n),$$
#
# where $H$, the number of drawn items that stand above it, is hypergeometric: $t-1$ draws from $N$
# items of which $a$ count.
#
# The mean of $q(t)/n$ over runs is the expected $1RP@n$: one ranking of all items tells it at every $t$.
# This page has it at 40 sizes, even in $\log t$, up to that of all items. If two systems change places
# between two of these, bisection finds where.
#
# ::::{predict} Look at pairs of systems that one evaluation with sampled items puts in the wrong order with a chance above 5 %. What is mostly to blame?
# - bad luck: on average a sample gives the right order, and a hundred draws would find it
# - the sample's expected order, which is itself the wrong one
#
# :::{finding} own/NEGATIVES-UNLUCKY
# holds: The expected order, mostly. Of {glue:text}`negatives_n_wrong` such pairs with {glue:text}`n_others` sampled
#   items, bad luck is the cause for {glue:text}`negatives_n_unlucky`.
# refuted: Bad luck, mostly: it is the cause for {glue:text}`negatives_n_unlucky` of {glue:text}`negatives_n_wrong` such
#   pairs with {glue:text}`n_others` sampled items. Repeated draws would find their order.
# open: -
# :::
# What cancels over many draws is the noise around the value expected at $t$. Where A has the larger one, and B among
# all items, only a larger $t$ takes B to the front.
#
# :::{right}
# 2: own/NEGATIVES-UNLUCKY holds
# 1: own/NEGATIVES-UNLUCKY refuted
# :::
# ::::

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_orders
# :name: fig-orders
#
# Ranks by expected 1RP, the best on top, against the number of sampled items; on the right nothing is
# left to sample. Up to three systems stand out by the span of their ranks. Dashed: the size that this
# chapter uses. Each system is trained once per fold here.
# ```

# %% tags=["hide-input"]
figures.orders(drawn, cutoff).show()

# %% [markdown] tags=["general"]
# <div class="explorer-hint">
#
# Move the number yourself; places are compared with those among all items.
#
# </div>

# %% tags=["hide-input"]
axis, shown, start = sampled(drawn, min_rating=min_rating)
HTML(
    explorer_html(
        shown,
        [axis],
        start=start,
        compared=list(shown)[-1],
        against="among all items",
        name="negatives",
        source=drawn,
    )
)

# %% [markdown] tags=["general"]
# ### One evaluation
#
# Let every run of either system draw a **sample of its own**. Runs are then independent, each hits with
# its own $q(t)$, and the distribution of the difference between two sums of hits is exact. The chance
# of the wrong sign is read from it; equal sums count half, as if a coin was tossed.
#
# If both systems are ranked in the **same samples**, the two hits of a run depend on each other: it
# matters *which* items are above, and not only how many. A bound holds whatever they have in common. Let
# $\mu$ be the most runs that the loser alone can be expected to hit: with chances $q_a$ of the winner and
# $q_b$ of the loser in each run, $\mu=\sum_r\min(q_b,1-q_a)$. Let $\lambda$ be $\mu$ and the expected lead. Then
#
# $$P(\text{wrong})\le\exp\!\big(-(\sqrt\lambda-\sqrt\mu)^2\big).$$
#
# (Close to all items, where most runs are as good as sure, Bernstein's inequality says more.)
#
# A size is called *enough* for a pair if from there on one evaluation finds the order of all items with
# a chance of at least 95 %.

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_enough
# :name: fig-enough
#
# Sampled items that are enough for each pair, with the systems in the order that all items give them.
# Above the diagonal: a sample of its own for every run. Below it: shared samples, whatever the systems
# may have in common. Empty: pairs whose order among all items may be chance.
# ```

# %% tags=["hide-input"]
figures.enough_sampled(drawn).show()

# %% [markdown]
# :::{finding} own/NEGATIVES-MOST
# holds: The pair that needs most is {glue:text}`negatives_most_a` and {glue:text}`negatives_most_b`,
#   with {glue:text}`negatives_most_own` sampled items, {value:.0%} of all that there are.
# refuted: No pair needs more than {glue:text}`negatives_most_own` sampled items, {value:.0%} of all that
#   there are.
# open: -
# :::

# %% tags=["hide-input"]
note = (
    "*Turn at* is the number of sampled items from which on a pair stands as among all items, with "
    "an interval between whose ends its difference is not resolved. *Own* and *shared samples* are "
    "the numbers that are enough, against the luck of the draw for *these* users. For others like "
    "them a pair may turn anywhere in that interval: plan with its upper end."
)
Markdown(
    folded("The pairs that need most sampled items", f"{note}\n\n{turns.negatives_table(drawn)}")
)

# %% [markdown] tags=["general"]
# **What to do.** *Do not draw.* Whoever has scored all items knows $q(t)$ at every $t$, and where nothing
# is sampled there is no $t$ to choose. *If that is too expensive, take fewer users and not fewer items*:
# fewer users widen intervals and leave the expected order alone; fewer items do the reverse. *Never
# repeat a small sample* in the hope of the order of a large one: repetition makes the order of the small
# one surer. *Write down* $t$: an order that was found at one $t$ is an order at that $t$.
#
# What all items say is no truth either: unrated items stand above relevant ones, and some of those would
# be liked. "Enough" says that sampling adds no fault of its own.

# %% [markdown] tags=["general"]
# (sec-enough-judgements)=
# ## How many judgments are enough?
#
# Let two systems be compared by a test over users: a mean difference, divided by its standard error,
# should be beyond $z_0=1.96$ to be significant. Keep each test rating with chance $q$, and a user's difference $X_u=\sum_i x_i$, in
# hits, has the mean $qX_u$ and, through the choice of what is kept, the variance $q(1-q)\sum_i x_i^2$.
# So the squared statistic is expected to be
#
# $$z^2(q)=\frac{q^2\big(\sum_u X_u\big)^2}
# {q^2\sum_u (X_u-\bar X)^2+q(1-q)\sum_i x_i^2},$$
#
# and solving for $z(q)=z_0$ gives the share of judgments at which a difference stops being significant.
# No judgment has to be taken out for that. The numerator and the first term below it go with $q^2$.
# Significance would stay, if it were not for the second term: the luck of which ratings are left.
# The test is that of all folds together, in which every rating is tested once.
#
# ::::{predict} Which needs fewer judgments to tell two systems apart: precision among all items (AR), or 1R among sampled ones?
# - AR, which counts every relevant item alike
# - 1R, whose values do not shrink
# - neither: for some pairs it is the one, for as many the other
#
# :::{finding} own/DENSITY-RUNS
# holds: 1R rather than AR: it needs fewer for {value} of the pairs.
# refuted: AR rather than 1R, which needs fewer for {value} of the pairs only.
# open: Of AR and 1R neither, surely: 1R needs fewer for {value} of the pairs ({low} to {high}).
# :::
# :::{finding} own/DENSITY-RECALL
# holds: And recall, which gives every user the same weight? It needs fewer than precision for {value} of the pairs.
# refuted: And recall, which gives every user the same weight? It needs fewer than precision for {value} of the pairs only.
# open: And recall, which gives every user the same weight? It needs fewer than precision for {value} of the pairs
#   ({low} to {high}).
# :::
# Values that stay where they are would be no help, if their standard errors grow instead. Counted are
# pairs that both metrics tell apart by all test ratings. That a metric tells a pair apart does not say
# that it is right: some pairs stand in one order under AR and in the other under 1R.
#
# :::{right}
# 1: own/DENSITY-RUNS refuted
# 2: own/DENSITY-RUNS holds
# 3: own/DENSITY-RUNS open
# :::
# ::::

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_told_apart
# :name: fig-told-apart
#
# Pairs of systems that are expected to differ significantly (5 %, each pair by itself), by the share of
# the test ratings that is kept. Bands: by the ends of the 95 % intervals of each pair's share, from
# resampling users. On the left thirty relevant ratings are left of the whole test: a pair differs in a
# handful of hits there, of which an exact test would ask more than $z_0$ does.
# ```

# %% tags=["hide-input"]
figures.told_apart(densities).show()

# %% [markdown]
# :::{finding} own/DENSITY-MEDIAN
# holds: Half of all pairs are told apart under AR by {value:.2%} of the test ratings or less.
# refuted: It takes {value:.0%} of the test ratings to tell half of all pairs apart under AR.
# open: It takes about {value:.0%} of the test ratings to tell half of all pairs apart under AR
#   ({low:.0%} to {high:.0%}).
# :::

# %% tags=["hide-input"]
note = (
    "Percent of the test ratings that tell a pair apart, with 95 % intervals over users; most under "
    "AR first, at most twelve pairs. *Not by all*: all test ratings do not. *Reversed*: this metric "
    "has the pair the other way round."
)
Markdown(folded("The pairs that need most judgments", f"{note}\n\n{densities_table(densities)}"))

# %% [markdown] tags=["general"]
# **What to do.** *Before an experiment*, read the share that your closest pair needs, from a dataset like
# yours (the table to download has all pairs), and keep more: with just that share the statistic is *expected*
# at $z_0=1.96$, and a test finds the difference about every other time; four times in five takes
# $z(q)=1.96+0.84=2.8$. While $q$ is small, $z^2$ grows as $q$ does, and that is $(2.8/1.96)^2\approx2$ times as
# many. Later the first term below the line, how users differ, mostly outweighs the second, and $z$ grows more slowly: twice
# is the least, and solving $z(q)=2.8$ says how many it takes. *After it*, a difference
# that is not significant on a sparse test is no evidence for equality: say from which density on it would
# have been seen. *Do not look at the size of a value* for this, under any metric. And remember what the
# figure supposes: judgments that are missing at random. If they are missing by popularity, more of them
# make the wrong answer more significant.

# %% [markdown] tags=["general"]
# (sec-why-density)=
# ## Why one line is enough
#
# Let $h_u$ be the hits of user $u$ in the first $n$ places, and keep each test rating with chance $q$.
# The list does not look at test ratings, so that every hit survives with chance $q$:
#
# $$\mathbb E\Big[\frac1{n|\mathcal U|}\sum_u h_u'\Big]=\frac{q}{n|\mathcal U|}\sum_u h_u .$$
#
# It takes no model of users or items, and no random ranking "whose trend explains the others". Under 1R both
# the hits and the runs are thinned, and their ratio has no $q$ left. What the derivation asks for is that ratings
# are missing *at random*, as they are where an experiment takes them out. In a dataset they are not: what
# users do not rate is mostly what they do not like, or never saw, and two datasets of different density
# differ in that as well.
#
# **What a value can mean.** Unrated items count as failures. If every one of them were judged, some would turn out
# relevant, and none of the known successes would be lost. So precision under AR is a *lower bound* of what complete
# judgments would give, and one minus the share of items that are known to be rated lower is an upper
# one: blue, and blue with grey, in {numref}`fig-lists`. Between the two, these data cannot tell. A comparison means
# more, if the grey part is as good for one system as for the other; whether it is, is the subject of the chapters
# on popularity.
#
# ## Beyond: what can be known before anything is run
#
# The paper takes another way. It computes what a **random** ranking scores, shows that this depends on nothing but
# density, and finds that other recommenders follow. Let a recommender $s$ know nothing about users, so that its item
# of rank $k$ is relevant with a chance that does not depend on whom it is shown to. Then (Eq. 3; $\mathcal C$ are the
# candidates, $\sigma$ the share of ratings that is in test, $t$ the harmonic mean of the sizes of target sets)
#
# $$\mathbb E[P_s@n]=\frac{\sigma\,|\mathcal C|}{n\,t\,|\mathcal U|}
# \sum_{k\le n}\operatorname{avg}_u|PR(i_k)| ,$$
#
# which for a random ranking becomes (Eqs. 4 and 5) the share $\rho$ of relevant items in a target set, averaged over
# users, or about $\sigma$ times the density $\delta=|PR|/(t|\mathcal U|)$ of positive ratings:
#
# $$\mathbb E[P_{RND}@n]=\rho\approx\sigma\delta ,\qquad \mathbb E[1RP_{RND}@n]=\frac1t .$$
#
# The first is proportional to the density of the test data, at any cutoff, and the second does not know it.
#
# ::::{predict} Eq. 3 sums up how many users like the items at the top. Does it predict what Popularity scores?
# - yes, to within a twentieth
# - it predicts too much
# - it predicts too little
#
# :::{finding} own/EQ3-POPULARITY
# holds: It predicts too little: Popularity scores {value} what the formula says.
# refuted: It does not predict too little: Popularity scores {value} what the formula says.
# open: Perhaps: Popularity scores {value} ({low} to {high}) what the formula says.
# :::
# The formula takes every item to be in a target set equally often. A popular item is in many training
# profiles, and those users cannot be shown it any more. Those who can are fewer than the formula
# thinks, and the list moves on to the next item for all others.
#
# :::{right}
# 3: own/EQ3-POPULARITY holds
# 2: own/EQ3-POPULARITY refuted below 0.95
# 1: own/EQ3-POPULARITY refuted
# :::
# ::::

# %% tags=["hide-input"]
Markdown(
    folded(
        "Rankings that are the same for all users, measured and predicted",
        non_personalised.predictions_table(baselines, predicted),
    )
)

# %% [markdown] tags=["general"]
# The table has a prediction that minds this, *by the odds*: the expected positive test ratings of an item are divided
# by the users who lack it in training, $\sigma|PR(i)|/(|\mathcal U|-(1-\sigma)|R(i)|)$ {cite:p}`MCCRS20`. Its *closed
# bounds* are those of Section 5.1 that follow from Eq. 3, with the factor corrected ([E04](#err-e04)); they inherit
# what it supposes, and may fail ([E05](#err-e05)). The bounds of the lemma of chapter 1 are a theorem.
#
# :::{admonition} And if everything were judged?
# :class: dropdown
# At "extremely high" density, says the paper, recall, MAP and nDCG "saturate" too, and converge to "the
# ratio of positive versus negative ratings" (BCC17-C-SATUR). No dataset can show that, but a
# [simulated world](#data-worlds) can: there every user has a true rating of every item, and any share of
# them may be judged. A list that is better than random stays above that ratio wherever everything is judged; a list
# of ten holds few of hundreds of relevant items; and the discount of nDCG is slow, so that a whole list holds
# every relevant item somewhere.
#
# ```{glue:figure} fig_saturation
# :name: fig-saturation
#
# Metrics as ever more of the truth is judged, in worlds with the shares and the skew of MovieLens 1M, the
# same in every edition. Whiskers: 95 % intervals over worlds. Lines: the ratio that the paper names.
# ```
# :::

# %% tags=["remove-cell"]
figures.saturation(worlds).show()

# %% [markdown] tags=["general"]
# (sec-sparsity-rules)=
# ## What to do, and what to write
#
# 1. **One value**: print $\rho$ beside a precision under AR, which a random ranking is expected to score, or their
#    ratio (BCC17-EQ4, [why](#sec-why-density)).
# 2. **Two datasets**: compare no precision, MRR, MAP or nDCG@n between them. 1R at one fixed $t$, or the ratio to
#    $\rho$, take density out, and no more (BCC17-C-1RCOMP).
# 3. **Sampled items**: rank all items instead. Where that is too expensive, take fewer users and not fewer items. Where
#    others did sample items, ask whether their closest pair survives that $t$ ({numref}`fig-enough`).
# 4. **A sparse test**: keep all test ratings, whatever the metric; look at the significance of each difference and not
#    at the size of values ({numref}`fig-told-apart`), and say from which density on a difference would have been seen.
# 5. **Fewer test ratings**: leave out users, or ratings at random, and never the rare items; say how many are left,
#    and whether users without a relevant one count as 0.
#
# A reviewer asks back at values of two datasets side by side; at recall or nDCG without its population; at a sample
# size without a reason; and at "lower accuracy" on a sparser test. In a paper, with the values of this page:

# %% tags=["hide-input"]
Markdown(f"{pages.methods_sentence(measured, 'AR')} {closest_pair(densities)}")

# %% [markdown] tags=["general"]
# (sec-sparsity-verdicts)=
# ## Verdicts
#
# Every assertion that can be measured has a criterion, locked by a hash. Many were written or changed after pilot
# values had been seen; the pages of these claims say *pilot seen*. A part **holds** or **is refuted** if the whole
# 95 % interval lies on one side of its criterion, and **is open** if it lies on both, or if its verdict changes
# with the seed of resampling or training.

# %% tags=["hide-input"]
results = {"systems": measured, "baselines": baselines, "predicted": predicted}
results |= {"checks": checks, "negatives": drawn, "densities": densities}
results |= {"saturation": worlds}
verdicts = judge_chapter("sparsity bias", results)
HTML(verdict_table(verdicts))

# %% tags=["hide-input"]
stated = state("sparsity bias", results, verdicts)
more = pages.claims_of("sparsity bias") + findings_table(stated)
HTML(more + pages.options_details(results))

# %% tags=["remove-cell"]
stated

# %% [markdown] tags=["general"]
# ## What we had to decide
#
# - **Thinning** keeps each test rating with one chance, relevant or not; users, candidates and training
#   stay ([how](#dev-thinning)). If candidates were chosen anew from what is left, target sets would
#   shrink with it, and precision would fall by less.
# - **Users without relevant test items** count as 0 in precision and are left out of recall, MAP, nDCG
#   and MRR ([more](#dev-users)).
# - **1R in expectation** over all samples instead of one drawn sample ([how](#metric-expected)): the
#   same number without the noise of drawing.
# - **How many are enough** is asked of one training of each system per fold, with the order that the same
#   training has among all items as what is to be found; equal numbers of hits find it half.
# - **Intervals** come from resampling users ([more](#dev-intervals)), **random training** has
#   {glue:text}`n_seeds` per fold ([more](#dev-training-seeds)).
#
# ## On your data
#
# In a clone of the book:
#
# ```bash
# recbias run 02_sparsity_bias --dataset my_ratings.csv -p min_rating 4
# ```
#
# The [rerun page](#rerun-own-table) says what the table must look like.
#
# ## Exercises
#
# Five, of three levels: by hand, in code, and one on your own data, with starter code to be completed where the
# dots are, and a check that says whether the answer is right. The checks need the installed package and nothing
# else.
#
# :::{drill} runs
# Five runs, each with **one relevant item** among sampled ones. What is 1RP@n, their mean?
# :::
#
# ````{exercise} What is left
# :label: ex-thinned
# :class: warm-up
#
# A recommender has $P@10=0.18$ under AR, on data where a random ranking is expected to score
# $\rho=0.0045$; under 1R, with $t=100$, it has $1RP@10=0.062$. Six of ten test ratings are taken out at
# random; training, candidates, users and lists stay. What do you expect of its precision, of $\rho$, of
# the ratio of the two, and of $1RP@10$?
#
# ```python
# from recbias.book.chapters.sparsity_bias.exercises import check_thinned
#
# check_thinned(precision=..., rho=..., ratio=..., runs=...)
# ```
# ````
#
# ````{solution} ex-thinned
# :class: dropdown
#
# ```python
# from recbias.book.chapters.sparsity_bias.exercises import check_thinned
#
# kept = 0.4
# check_thinned(precision=0.18 * kept, rho=0.0045 * kept, ratio=0.18 / 0.0045, runs=0.062)
# ```
#
# Hits and relevant items are test ratings, of which four of ten stay; the lists have as many places as
# before, and target sets as many items. Under 1R hits and runs fall by the same factor.
# ````
#
# ````{exercise} Apart or shared
# :label: ex-shared
# :class: warm-up
#
# In a run, A hits with chance 0.7 over all samples and B with chance 0.5. What is the chance that B hits
# and A does not: at most, and at least, if both are ranked in one sample?
#
# ```python
# from recbias.book.chapters.sparsity_bias.exercises import check_shared
#
# check_shared(most=..., least=...)
# ```
# ````
#
# ````{solution} ex-shared
# :class: dropdown
#
# ```python
# from recbias.book.chapters.sparsity_bias.exercises import check_shared
#
# check_shared(most=min(0.5, 1 - 0.7), least=max(0, 0.5 - 0.7))
# ```
#
# At most as often as B hits, and at most as often as A misses. At least as often as B hits more often
# than A does, which is never. Which of them it is depends on the items above both.
# ````
#
# ````{exercise} Two systems that turn
# :label: ex-turn
# :class: warm-up
#
# Two runs, 20 other items in the pool of each, and $n=1$. Give the numbers of items that A and B put
# above the relevant item of each run, so that A leads in expectation where one other item is sampled,
# and B where all 20 are ranked.
#
# ```python
# from recbias.book.chapters.sparsity_bias.exercises import check_turn
#
# check_turn(above_a=(..., ...), above_b=(..., ...))
# ```
# ````
#
# ````{solution} ex-turn
# :class: dropdown
#
# ```python
# from recbias.book.chapters.sparsity_bias.exercises import check_turn
#
# check_turn(above_a=(3, 3), above_b=(0, 15))
# ```
#
# With one item drawn, a run hits with chance $1-a/20$, so that the *mean* rank decides; among all items
# it is the very top. A is good on average, and B is excellent or poor.
# ````
#
# ````{exercise} One drawn evaluation
# :label: ex-drawn
# :class: core
#
# Each run of A hits with chance $a$, each of B with chance $b$, and all of them draw samples of their
# own. With what chance does one evaluation put B ahead? Count half of the ties.
#
# ```python
# from recbias.book.chapters.sparsity_bias.exercises import check_drawn
#
# def wrong(a, b, n_runs):
#     return ...  # the chance that B has more hits, and half of that of a tie
#
# check_drawn(wrong)
# ```
# ````
#
# ````{solution} ex-drawn
# :class: dropdown
#
# ```python
# from math import comb
#
# from recbias.book.chapters.sparsity_bias.exercises import check_drawn
#
# def hits(chance, n_runs):
#     return [comb(n_runs, k) * chance**k * (1 - chance) ** (n_runs - k) for k in range(n_runs + 1)]
#
# def wrong(a, b, n_runs):
#     own, other = hits(a, n_runs), hits(b, n_runs)
#     return sum(other[k] * (sum(own[:k]) + own[k] / 2) for k in range(n_runs + 1))
#
# check_drawn(wrong)
# ```
#
# In an evaluation every run has a chance of its own, and there are many: the two distributions then come
# from products of many factors, and everything else stays.
# ````
#
# ````{exercise} Your table, thinned out
# :label: ex-own-thinned
# :class: research
#
# Measure a system's P@10 and `rho` under TI-AN-AR on a table of your own, and once more after taking test ratings out at
# random: training, users and candidates stay. Which share did you keep, and what is P@10 over `rho` in either test?
#
# ```python
# from recbias.book.chapters.sparsity_bias.exercises import check_own_thinned
#
# check_own_thinned(
#     kept=...,  # of the test ratings
#     p=..., p_thinned=..., rho=..., rho_thinned=...,
#     ratio=..., ratio_thinned=...,
# )
# ```
# ````
#
# ````{solution} ex-own-thinned
# :class: dropdown
#
# ```python
# from recbias.book.chapters.sparsity_bias.exercises import check_own_thinned
#
# check_own_thinned(
#     kept=0.4,
#     p=0.18, p_thinned=0.07, rho=0.009, rho_thinned=0.0036,
#     ratio=0.18 / 0.009, ratio_thinned=0.07 / 0.0036,
# )
# ```
#
# The numbers here are made up; yours come from your table. A test protocol `observed removed=60%`
# takes ratings out as this chapter does. Few hits make a ratio jump from draw to draw: repeat with other seeds.
# ````
#
# ## Summary
#
# A precision under AR goes in proportion to the density of judgments, for every system, by one line of
# algebra: without $\rho$ beside it, it says nothing about the recommender. The order of systems does, since
# judgments that are missing at random multiply all values alike and can only leave an order unresolved. Ranking
# among sampled items hides density and brings the size of the sample instead, which may turn systems round.
#
# ```{seealso}
# [Notation and glossary](#sec-symbols), [decisions](#sec-decisions), [errata](#sec-errata), and the
# {doc}`scorecard </notebooks/scorecard>` with every claim of the four papers.
# ```
