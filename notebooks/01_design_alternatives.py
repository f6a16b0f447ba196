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
# # Does it matter which items are ranked?
#
# *Popularity* is the simplest recommender: the more people rated an item, the higher it comes, for
# everybody. Let it rank items for each user of one dataset, and count how many of the first
# {glue:text}`cutoff` turn out to be items that the user liked: precision, "P@{glue:text}`cutoff`".
# One thing is left to choose: *which* items it has to rank.
#
# ```{glue:figure} fig_one_ranking
# :name: fig-one-ranking
#
# One ranking, one dataset, one metric, and four choices of the items that are ranked: all that
# anybody has test data for, a sample of them, one relevant item among a few sampled ones, or only
# what the user rated in the test data. Black: 95 % intervals. Dashed: the largest possible value.
# ```
#
# All four choices are in use, all four numbers go by the name P@{glue:text}`cutoff`, and tables that
# chose differently are compared every day. None of this is a bug, and none of it is cheating.
#
# - **The value.**
#   :::{finding} own/POPULARITY-RANGE
#   holds: The largest of the four is {value} the smallest: {glue:text}`pop_AR`,
#     {glue:text}`pop_NN`, {glue:text}`pop_1R` and {glue:text}`pop_R_test`.
#   refuted: The four values are {glue:text}`pop_AR`, {glue:text}`pop_NN`, {glue:text}`pop_1R` and
#     {glue:text}`pop_R_test`, the largest {value} the smallest.
#   open: The four values are {glue:text}`pop_AR`, {glue:text}`pop_NN`, {glue:text}`pop_1R` and
#     {glue:text}`pop_R_test`, the largest {value} the smallest.
#   :::
# - **The winner.**
#   :::{finding} own/RTEST-FIRST
#   holds: Ranked by their users' own test ratings only, the two systems that predict ratings come
#     first of {glue:text}`n_systems`.
#   refuted: Ranked by their users' own test ratings only, the two systems that predict ratings do not
#     both come first of {glue:text}`n_systems`.
#   open: Ranked by their users' own test ratings only, whether the two systems that predict ratings
#     come first of {glue:text}`n_systems` is open.
#   :::
#   :::{finding} own/RTEST-LAST
#   holds: Among all tested items every other system beats both, Random aside.
#   refuted: Among all tested items they beat some of the others.
#   open: Among all tested items, whether they beat any of the others is open.
#   :::
#   :::{finding} own/RTEST-TAU
#   holds: The orders by these two designs have Kendall's $\tau$ = {value:.2f}, where 1 is the same order and 0 none.
#   refuted: The orders of {glue:text}`n_systems` systems among all tested items and among their
#     users' own test ratings have Kendall's $\tau$ = {value:.2f}, where 1 is the same order.
#   open: The orders of {glue:text}`n_systems` systems among all tested items and among their users'
#     own test ratings have Kendall's $\tau$ = {value:.2f} ({low:.2f} to {high:.2f}; 1 is the same
#     order).
#   :::
# - **What a test of significance says.**
#   :::{finding} own/UNIT-FLIPS
#   holds: With one relevant item per ranking, {glue:text}`flip_per_run` beats
#     {glue:text}`flip_per_user` if rankings are counted, and loses to it if users are, both with
#     $p \le$ {glue:text}`flip_p`.
#   refuted: With one relevant item per ranking, no pair of systems has one winner if rankings are
#     counted and the other if users are.
#   open: With one relevant item per ranking, {low} to {high} of {glue:text}`n_pairs` pairs of systems
#     have one winner if rankings are counted and the other if users are: these data leave that open.
#   :::
#
# {cite:t}`BCC17` put the choices in order and ask what they do to the number. This chapter repeats
# Sections 2 and 3 of their paper; [which design to use, and what to report](#sec-which-design), is
# its last word.

# %% [markdown] tags=["general"]
# **After this chapter you can**
# - name the three options that define which items are ranked, and read a code such as `TI-NN-1R`;
# - say what a random recommender scores under each design, before running anything;
# - explain why precision with one relevant item per ranking cannot exceed $1/n$, and bound it by
#   ordinary precision;
# - write down a design so that others can compare with your numbers.

# %% tags=["hide-input", "remove-output"]
from IPython.display import HTML, Markdown
from myst_nb import glue

from recbias import Grid, line_up, run
from recbias.book import choosing, pages
from recbias.book import explorer as exploring
from recbias.book.cards import verdict_cards
from recbias.book.chapters.design_alternatives import figures, measure, setup, tables
from recbias.book.chapters.design_alternatives.designs import every_design
from recbias.book.chapters.design_alternatives.panels import (
    flips_quoted,
    four_designs,
    precision_quoted,
    taus_quoted,
)
from recbias.book.chapters.design_alternatives.truth import SIMULATION, places_table
from recbias.book.figures import use_book_style
from recbias.book.findings import state
from recbias.claims import judge_chapter
from recbias.data.datasets import top_rating
from recbias.experiment import training_seeds as seeds
from recbias.experiment.results import begin_page
from recbias.recommenders import bcc17_grid, merged_star_variants, with_seeds

# %% tags=["parameters"]
dataset: str = "ml-1m"
min_rating: float | None = None  # smallest relevant rating; none = top of the scale
cutoff: int = 10  # 1 to 1000: length n of the lists that P@n looks at
size: int | None = None  # 2 to 100000: size of a 1R target set; none = 100, or as a table allows
n_sampled: int | None = None  # 1 to 100000: largest sample; none = as the data allows
split: str = "k-fold 5"
systems: str = "bcc17"  # one of bcc17: line-up of systems
seed: int = 1  # 0 to 1000000
n_seeds: int | None = None  # 1 to 100: of random training; none = 5 on published data, else 1
workers: int = 2  # 1 to 64: processes; results do not depend on them

# %% tags=["remove-cell"]
use_book_style()
begin_page("01_design_alternatives")
min_rating = top_rating(dataset) if min_rating is None else min_rating
n_seeds = n_seeds or seeds.training_seeds(dataset)
size = choosing.choose_size(dataset, size, min_rating=min_rating, split=split, seed=seed)
asked = {"min_rating": min_rating, "split": split, "seed": seed}
n_sampled = n_sampled or setup.largest_sample(dataset, size, **asked)

# %% tags=["remove-cell"]
quoted = {"size": size, "min_rating": min_rating, "cutoff": cutoff, "n_seeds": n_seeds}
for name, text in choosing.written(**quoted).items():
    glue(name, text, display=False)

# %% [markdown] tags=["general"]
# ## What the paper says
#
# Search engines have been evaluated in the same way since the 1960s, after experiments at the college
# of Cranfield: a fixed set of documents, a set of queries, and judgements of which documents answer
# which query. The paper first asks what these are in recommendation (its Table 1). A user takes the
# place of a query, the items to be ranked that of the documents, and test ratings that of judgements.

# %% tags=["hide-input"]
Markdown(pages.task_table())

# %% [markdown] tags=["general"]
# Two differences cause all the trouble that this book is about: relevance is known for a sliver of
# the pairs only (*sparsity*), and what is known piles up on few items (*popularity*).
#
# ### The three options
#
# A user $u$ has a **target set** $T_u$, the items that are ranked for them. It joins their relevant
# test items $PR_{test}(u)$, those rated {glue:text}`min_rating` or more, with non-relevant items
# $N_u$: unrated ones, and test items rated lower. Three choices fix it (Table 3 of the paper; the
# symbols are on the [notation page](#sec-symbols)).
#
# | option | one way | the other way |
# |---|---|---|
# | candidates $\mathcal C$ | **AI**: the whole catalogue | **TI**: items with a test rating of anybody |
# | relevant items | **AR**: all in one target set | **1R**: one per target set, a *run* each |
# | non-relevant items | **AN**: all candidates left | **NN**: a sample of fixed size |
#
# So `TI-NN-1R` ranks one relevant item at a time among sampled items that have test ratings. What a
# user rated in training is never ranked. Some authors rank the user's own test ratings and nothing
# else, $T_u=R_{test}(u)$; the paper names that choice and discards it.
#
# Under 1R precision is averaged over runs, that is over relevant test items and not over users (Eq. 1
# of the paper; $\tau_u(i,T)$ is the rank of item $i$ in $T$):
#
# $$P@n=\frac1{|\mathcal U|}\sum_u\frac{|top(T_u,n)\cap PR_{test}(u)|}{n},$$
#
# $$1RP@n=\frac{1}{|PR_{test}|}\sum_u\sum_{r}\frac{[\tau_u(i_r,T_u^r)\le n]}{n}.$$

# %% tags=["hide-input"]
figures.target_sets().show()

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_target_sets
# :name: fig-target-sets
#
# Target sets of user $u$, after Figure 1 of the paper. Its cells could not be read; this matrix fits
# its caption: `d` and `e` are relevant, and nobody has `a` in test, so that it is a target under AI
# only. With one sampled item per set, `b` or `c` may be drawn under TI. The row TI-NN-AR is ours: the
# paper leaves it out.
# ```
#
# ### The claims
#
# The *ledger* of this book lists everything that these sections state, and what the paper asserts
# behind each entry. Every assertion that can be measured has a criterion, written down before the
# result that it judges and locked by a hash. Where a criterion had to change, the card of its claim
# keeps both verdicts; where values had been seen before it was written, the card says *pilot seen*.

# %% tags=["hide-input"]
HTML(pages.claims_of("design alternatives"))

# %% [markdown] tags=["general"]
# ## Predict before measuring
#
# Three statements of the paper need no data. Commit yourself first; each is checked below.
#
# ::::{predict} One relevant item is ranked among 99 others, at random. What is the expected P@10?
# - 1/10: one of ten places
# - 1/100: one of a hundred items
# - it depends on how many relevant items the user has
#
# 1/100. The relevant item is within the first ten with chance 10/100, and then precision is 1/10.
# The cutoff cancels, and there is one relevant item whatever the user has.
# ::::
#
# **A random ranking** puts every target at every place with equal chance. Its expected precision is
# the share of relevant items in the target set, at any cutoff (Eqs. 4 and 5):
#
# $$\mathbb E[P_{RND}@n]=\rho=\operatorname{avg}_u\frac{|T_u\cap PR_{test}(u)|}{|T_u|}
# \approx\sigma\delta,\qquad\mathbb E[1RP_{RND}@n]=\frac1t .$$
#
# Here $\sigma$ is the share of test ratings, $\delta$ the density of positive ratings and $t$ the
# (harmonic) mean size of a target set. The approximation holds as far as large profiles and small
# target sets are independent, which they are not quite.
#
# ::::{predict} And what is the largest P@10 that a perfect ranking reaches there?
# - 1
# - 1/10
# - it depends on the data
#
# 1/10. A run holds one relevant item, so at most one of its ten places is a hit.
# ::::
#
# **A ceiling.** One hit in $n$ places at most: $1RP@n\le 1/n$.
#
# **The lemma.** Let all runs of a user share one $N_u$ and break ties in one order. Add the user's
# $k=|PR_{test}(u)|$ relevant items to that sample, and write $h_u(m)$ for the number of hits in the
# top $m$ of the joint list. Then with $m_u=n+k-1$ (Eq. 2)
#
# $$\frac{\sum_u h_u(n)}{n\,|PR_{test}|}\ \le\ 1RP@n\ \le\
# \frac{\sum_u h_u(m_u)}{n\,|PR_{test}|}.$$
#
# ```{admonition} Proof, corrected
# :class: dropdown
#
# The other $k-1$ relevant items can only push a relevant item $i$ down when they join its run, and
# by at most one place each:
#
# $$\tau(i,T_u^r)\ \le\ \tau(i,T_u)\ \le\ \tau(i,T_u^r)+k-1 .$$
#
# Left: an item within the top $n$ of $T_u$ is within the top $n$ of its run, so $h_u(n)$ counts runs
# that hit; summing over users gives the lower bound. Right: a run that hits has
# $\tau(i,T_u^r)\le n$, hence $\tau(i,T_u)\le n+k-1=m_u$; summing gives the upper bound. The paper
# prints the right-hand inequality reversed ([E01](#err-e01)); the lemma itself stands.
# ```

# %% [markdown] tags=["general"]
# ## The experiment
#
# Every system is trained on each fold, those whose training is random under {glue:text}`n_seeds` per
# fold ([why](#dev-training-seeds)). One pass over its scores then ranks the test ratings in all
# target sets, and every metric follows from those ranks.

# %%
protocols = {
    "AR": f"TI-AN-AR rel>={min_rating}",
    "AI": f"AI-AN-AR rel>={min_rating}",
    "R_test": f"TI-AN-AR rel>={min_rating} condensed",
    "NN": f"TI-NN-AR N={n_sampled} rel>={min_rating}",
    "1R": f"TI-NN-1R t={size} rel>={min_rating}",
    "shared": f"TI-NN-1R-shared t={size} rel>={min_rating}",
    "all-1R": f"TI-AN-1R rel>={min_rating}",
}
precision = f"P@{cutoff}"
measured = run(
    Grid(
        dataset,
        with_seeds(line_up(systems), n_seeds),
        protocols,
        {
            "AR": (precision, f"R@{cutoff}", f"nDCG@{cutoff}", "AP", "RR", "rho"),
            "AI": (precision, "rho"),
            "R_test": (precision,),
            "NN": (precision, "rho"),
            "1R": (precision, f"nDCG@{cutoff}", "RR", "rho"),
            "shared": (precision, f"lower@{cutoff}", f"upper@{cutoff}"),
            "all-1R": [f"{name}@{cutoff}|t={size}" for name in ("P", "lower", "upper")],
        },
        split=split,
        seed=seed,
        compare=(("AR", precision), ("1R", precision)),
        replicates=setup.combined(cutoff, size),
        crossed=[(label, precision) for label in ("AR", "NN", "1R")],
    ),
    workers=workers,
    name="systems",
)

# %% tags=["hide-input"]
Markdown(pages.data_line(measured))

# %% [markdown] tags=["general"]
# These are the protocols, with the labels under which results are stored. A protocol reads from left
# to right: the three options; the number of items in a target set (`t`) or in a sample (`N`); the
# smallest relevant rating. The last columns count, over all folds, the target sets that a reader should
# know of: those without a relevant item score 0 and stay in the mean; those whose pool was smaller than
# the sample asked for rank the whole pool; those with fewer items than the cutoff are still divided by
# it.

# %% tags=["hide-input"]
Markdown(pages.protocols_table(measured))

# %% [markdown] tags=["general"]
# The systems are those of the paper's Figure 2. It names MF and kNN but neither a library nor a
# parameter, so both are here in the two readings that the field uses: as predictors of *ratings*,
# and as *rankers* (why that matters is a section of its own below). Three models of `implicit` stand
# for what people run today.

# %% tags=["hide-input"]
Markdown(pages.systems_table(systems))

# %% [markdown] tags=["general"]
# ### Does theory predict Random?
#
# Random is one and the same system in all rows of this table. What changes is the share of relevant
# items among the targets, and nothing else is needed to say what it scores.

# %% tags=["hide-input"]
Markdown(tables.chance_table(measured))

# %% [markdown]
# Random measures the design, not a recommender.
# :::{finding} own/RANDOM-SAMPLED
# holds: From all tested items to a sample of them it rises to {value} its value, and nobody recommends
#   anything better.
# refuted: Here the sample is nearly as large as the pool that it is drawn from, and takes Random to
#   {value} its value.
# open: A sample takes it to {value} its value.
# :::

# %% [markdown]
# ## One metric, four designs
#
# ::::{predict} A sample takes away non-relevant items and no relevant one, so everybody gains. Who gains most, relative to their value among all tested items?
# - the strongest systems
# - the weakest systems
# - all by the same factor
#
# :::{finding} own/SAMPLED-MOST
# holds: {which}, which comes to {value} its value.
# refuted: Nobody here; {which} comes to {value} its value.
# open: {which}, which comes to {value} its value.
# :::
# :::{finding} own/SAMPLED-LEAST
# holds: {which} gains least, with {value} its value.
# open: {which} gains least, with {value} its value.
# refuted: -
# :::
# A relevant item that was ranked tenth has nothing to win where rivals are taken away; one that was
# ranked hundredth may come into the list.
# ::::

# %% tags=["hide-input", "remove-output"]
compared = four_designs(size, n_sampled)
figures.one_ranking(measured, compared).show()

# %% tags=["hide-input"]
figures.values(measured, compared).show()

# %% tags=["remove-cell"]
quoted = {f"pop_{label}": text for label, text in precision_quoted(measured).items()}
quoted |= {f"flip_{name}": text for name, text in flips_quoted(measured).items()}
n_systems = len(measured.systems)
quoted |= {"n_systems": f"{n_systems}", "n_pairs": f"{n_systems * (n_systems - 1) // 2}"}
quoted["ceiling"] = f"{1 / cutoff:g}"
for name, text in quoted.items():
    glue(name, text, display=False)

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_values
# :name: fig-values
#
# The paper's Figure 2, on one scale. Bars: mean over the folds; whiskers: 95 % intervals from
# resampling users; circles: with the whole catalogue as candidates (AI-AN-AR); hatched: beyond the
# ceiling of 1R. On MovieLens the paper shows AI-AN, TI-AN and 1R. The second panel is ours: the paper
# samples under AR on its other dataset only. So is the fourth, a design that it discards. Its bars
# could not be read; the diamond, where there is one, is the value that its text states.
# ```
#
# Read the scale first. Under 1R no system can pass {glue:text}`ceiling`, whatever it is able to do.

# %% [markdown]
# :::{finding} BCC17-C-RTEST/2
# holds: Among their users' own test ratings all systems look good, Random included, since the items
#   that nobody should recommend are not there. Least gains {which}, with {value} its value.
# refuted: Among their users' own test ratings not all systems gain: {which} comes to {value} its value.
# open: Among their users' own test ratings {which} gains least, with {value} its value.
# :::
# :::{finding} BCC17-C-TIAI/1
# holds: The candidates hardly matter here: from AI to TI no system changes by more than {value}.
# refuted: The candidates matter here: from AI to TI {which} changes by {value}.
# open: From AI to TI {which} changes most, by {value} ({low} to {high}).
# :::
# Values of different panels cannot be compared. Orders can.

# %% tags=["hide-input"]
figures.orders(measured, compared).show()

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_ranks
# :name: fig-ranks
#
# Ranks by precision, from design to design; up to three systems stand out by the span of their ranks.
# Counted in the title are pairs in one order under the first design and in the reverse under the other
# that it names, both resolved among all pairs at once.
# ```

# %% [markdown]
# :::{finding} BCC17-C-DISAGREE/1
# holds: Between AR and 1R, {value} pairs of systems surely change order.
# refuted: Between AR and 1R no pair of systems changes order.
# open: Between AR and 1R, {low} to {high} pairs of systems change order; with so few users or training
#   seeds that stays open.
# :::
# :::{finding} own/RTEST-PAIRS
# holds: Between all tested items and the users' own test ratings, {value} of
#   {glue:text}`n_pairs` do.
# refuted: Between all tested items and the users' own test ratings, none does.
# open: Between all tested items and the users' own test ratings, {low} to {high} of
#   {glue:text}`n_pairs` do, and that is open, too.
# :::
# :::{finding} own/RTEST-FIRST
# holds: The two predictors of ratings tell well what their users will rate high, *of what they rate*.
#   Whether they will rate it at all is not asked there, and is most of what a recommender has to know.
# refuted: -
# open: -
# :::
# The table has precision among all tested items, and among the user's own test ratings: a tempting
# target set, since everything in it is judged.

# %% tags=["hide-input"]
Markdown(tables.own_ratings_table(measured))

# %% [markdown] tags=["general"]
# ## Every design at once
#
# Three options of two ways each are eight designs, and test ratings alone are a ninth. All of them
# are below, on the same systems and the same test ratings. What the figure above shows is the same
# number here; samples from the whole catalogue, which nobody drew, are expected over all samples
# (`P@n|N=N` and `P@n|t=T` of the [notation page](#metric-expected)), from the counts of one pass.
#
# ::::{predict} Start with all tested items, all relevant ones in one list. Which single change leaves the order of systems most nearly as it is?
# - all items of the catalogue are candidates, not only those with test ratings
# - the other items are a sample
# - one relevant item is ranked at a time, among a sample
# - only the user's own test ratings are ranked
#
# Kendall's tau with the order at the start is {glue:text}`tau_AI` for all items of the catalogue,
# {glue:text}`tau_NN` for a sample, {glue:text}`tau_1R` for one relevant item among a sample, and
# {glue:text}`tau_R_test` for test ratings alone. It is 1 for the same order and -1 for the reverse.
# The first three ask, in one way or another, which items are found among those that a user never
# rated. The last asks which of the items that they did rate they liked.
# ::::

# %% tags=["remove-cell"]
for label, text in taus_quoted(measured).items():
    glue(f"tau_{label}", text, display=False)

# %%
designs = every_design(
    min_rating,
    size=size,
    n_sampled=n_sampled,
    cutoff=cutoff,
    n_items=measured.dataset["n_items"],
)
explored = run(
    Grid(
        dataset,
        with_seeds(line_up(systems), n_seeds),
        designs.protocols,
        designs.metrics,
        split=split,
        seed=seed,
        replicates=(),
    ),
    workers=workers,
    name="explorer",
)

# %% tags=["hide-input"]
shown = exploring.from_results(explored, designs.states)
HTML(
    exploring.explorer_html(
        shown, designs.axes, start=designs.start, name="designs", source=explored
    )
)

# %% [markdown] tags=["general"]
# Three things to try:
#
# - Choose one relevant item per run, then other cutoffs. The ceiling $1/n$ comes down on the bars.
# - Choose a sample, then all others, and look at the line of a random ranking: theory says how far
#   it moves, before anything is run.
# - Let the scale follow the choice, and compare the lengths of bars between two designs, then their numbers.

# %% [markdown] tags=["general"]
# ## How sure is that?
#
# ### Other users, other items
#
# The whiskers say what *other users* would give, on the same catalogue: users are resampled, items
# stay. Whoever asks what other users **and other items of the same kind** would give has to resample
# both; the ranks stay, and test ratings count as often as their user times their item is drawn. A
# system that lives on a few items then depends on whether they are drawn.

# %% tags=["hide-input"]
Markdown(pages.crossed_sentence(measured, "AR", precision))

# %% tags=["hide-input"]
Markdown(pages.crossed_table(measured, "AR", precision, systems=setup.FIGURE_2))

# %% [markdown] tags=["general"]
# Verdicts use intervals over users: the paper compares systems on one catalogue
# ([more](#dev-intervals)).
#
# ### Users or runs
#
# The paper reports that all differences in its figure are significant, and names no unit of the test.
# Under 1R there are two: users, and the runs of which each user has as many as relevant test items.
# Runs are many, but those of one user depend on each other, so that a test over users is the safer one.

# %% tags=["hide-input"]
units = {"AR, per user": ("AR", precision, "user"), "1R, per user": ("1R", precision, "user")}
units["1R, per run"] = ("1R", precision, "run")
Markdown(pages.paired_tests_table(measured, units, systems=setup.FIGURE_2))

# %% [markdown]
# The table has the five systems of the figure, with MF and kNN as rating predictors: differences in
# precision with the half-width of their 95 % interval, and *p* of the Wilcoxon signed-rank test. Bold
# are the pairs with differences of both signs.
# :::{finding} own/UNIT-FLIPS
# holds: Pairs of systems, of all {glue:text}`n_pairs`, with one winner per run and the other per user,
#   both significant after correction for the number of pairs: {value}. {glue:text}`flip_per_run` serves
#   users with many relevant items better, who have many runs, and {glue:text}`flip_per_user` the many
#   users with few: Eq. 1 averages over runs and sides with the former.
# open: Pairs of systems, of all {glue:text}`n_pairs`, with one winner per run and the other per user:
#   {low} to {high}; with so few users or training seeds that stays open.
# refuted: No pair of systems has one winner per run and the other per user.
# :::
# :::{finding} BCC17-C-SIG/3
# holds: Every pair of the five differs under 1R, by either test ($p < .001$).
# refuted: Not every pair of the five differs under 1R by both tests: the largest *p* is {value}.
# open: Whether every pair of the five differs under 1R is open.
# :::

# %% [markdown]
# ### Another metric or another design
#
# ::::{predict} What changes the order of the systems more: to measure nDCG, AP, reciprocal rank or recall instead of precision, or to change the design?
# - another metric
# - another design
# - both about the same
#
# :::{finding} BCC17-C-OTHER
# yes: Another metric leaves the order of the paper's five systems as it is.
# partly: Not every other metric leaves the order of the paper's five systems as it is.
# no: Other metrics order the paper's five systems otherwise.
# undecided: Whether another metric leaves the order of the paper's five systems is open here.
# :::
# :::{finding} own/RTEST-TAU
# holds: Another design may turn round much more: the table ends with $\tau$ = {value:.2f}.
# refuted: The design at the end of the table comes to $\tau$ = {value:.2f}.
# open: The design at the end of the table comes to $\tau$ = {value:.2f} ({low:.2f} to {high:.2f}).
# :::
# ::::

# %% tags=["hide-input"]
Markdown(tables.metrics_table(measured, ("nDCG", "AP", "RR", "R")))

# %% [markdown] tags=["general"]
# The table has all systems, not only the paper's five. Kendall's tau is 1 for equal orders and -1 for
# reverse ones. Metrics look at one ranking; designs make other rankings.

# %% [markdown] tags=["general"]
# ## One name, many algorithms
#
# The published order is pLSA, Popularity, MF, kNN, Random. Whether one finds it depends on what "MF"
# and "kNN" mean ([E25](#err-e25)). A *rating predictor* answers "how many stars would this user
# give?"; its kNN divides by the sum of similarities, its MF fits the observed stars. A *ranker* sums
# similarities, or fits a matrix with zeros for unrated pairs, and so rewards items that many people
# rated. The paper gives no parameters. The honest test is a grid: for each reading, every combination
# of settings that one might have run.

# %% [markdown]
# ::::{predict} kNN as a rating predictor divides a sum over neighbours by the sum of their similarities. Add 1 to that divisor ("damping"). What happens to its precision among all tested items?
# - next to nothing
# - it rises a little
# - it becomes several times as large
#
# :::{finding} own/DAMPED-KNN
# holds: At the setting of the line-up it becomes {value} what it was.
# refuted: At the setting of the line-up it becomes {value} what it was, which is little.
# open: At the setting of the line-up it becomes {value} ({low} to {high}) what it was.
# :::
# A mean over one or two votes can be five stars; divided by a little more, it cannot compete with a
# mean over many. Damping takes most from items that few neighbours rated.
# ::::

# %%
references = ("Random", "Popularity", "pLSA")
chosen = [system for system in line_up(systems) if system.name in references]
for parts in setup.READINGS.values():
    chosen += [system for part in parts for system in bcc17_grid(part)]
grid = run(
    Grid(
        dataset,
        with_seeds(chosen, n_seeds),
        {label: protocols[label] for label in ("AR", "1R")},
        (precision,),
        split=split,
        seed=seed,
    ),
    workers=workers,
    name="grid",
)

# %% tags=["hide-input"]
figures.settings(grid).show()

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_settings
# :name: fig-settings
#
# Every point is one setting of the parameter grid (TI-AN-AR), with the number of settings in a row;
# kNN as a rating predictor has a row for each damping of its divisor. The order of the paper needs MF
# left of Popularity, and kNN between Random and MF.
# ```

# %% tags=["hide-input"]
Markdown(tables.settings_table(grid))

# %% [markdown] tags=["general"]
# The shares count combinations of an MF with a kNN setting for which all four steps of the order
# hold, with 95 % intervals from resampling users. The nearest setting is the one with most steps in
# the published direction, and among those the one whose smallest step is largest.

# %% [markdown]
# :::{finding} own/ORDER-AS-RATERS
# holds: Read as rating predictors, {value} of the combinations give the published order.
# refuted: Even read as rating predictors, {value} of the combinations give the published order.
# open: Read as rating predictors, {value} of the combinations give the published order here, which is
#   not sure.
# :::
# :::{finding} own/ORDER-AS-RANKERS
# holds: Read as rankers, {value} do: the order is one of readings and parameters, not of MF and kNN.
# refuted: Read as rankers, {value} do.
# open: Read as rankers, {value} do here, which is not sure.
# :::

# %% [markdown] tags=["general"]
# ### Do merged stars matter?
#
# Where a dataset keeps the stars 1 to 3 as one value, the models that read stars were given their
# mean. If the order depended on that choice, it would show here.

# %%
by_name = {system.name: system for system in line_up(systems)}
variants = merged_star_variants(by_name.values())
stars = run(
    Grid(
        dataset,
        with_seeds([by_name["Random"], by_name["Popularity"], *variants], n_seeds),
        {"AR": protocols["AR"]},
        (precision,),
        split=split,
        seed=seed,
        replicates=(),
    ),
    workers=workers,
    name="stars",
)


# %% tags=["hide-input"]
Markdown(tables.stars_table(measured, stars))

# %% [markdown] tags=["general"]
# The last row says whether pLSA, Popularity, MF, kNN and Random, with MF and kNN as rating predictors
# at the settings of the line-up, come in the published order.
#
# ## Figure 3: how tightly is 1R tied to AR?
#
# The lemma says that $1RP$ cannot stray far from ordinary precision on the same sample. How far is
# "far"? The paper varies two things: it removes test ratings, which leaves fewer relevant items per
# user, and it enlarges the target sets. Each system is looked at by itself here, so that one training
# seed per fold is enough.

# %% [markdown]
# ::::{predict} Target sets grow tenfold. Does 1RP come closer to its bounds, relative to its own value?
# - closer
# - neither closer nor farther
# - farther away
#
# :::{finding} BCC17-F3R/4
# holds: Closer, as the paper says.
# refuted: Not for all systems: the interval narrows in absolute terms because the values fall, and
#   against the value it widens.
# open: That is open here.
# :::
# ::::

# %%
thinned = {f"removed {share}%": f"observed removed={share}%" for share in (30, 60, 90)}
larger = {
    f"t={t}": f"TI-NN-1R-shared t={t} rel>={min_rating}"
    for t in setup.target_sizes(size, n_sampled)
}
smallest = next(iter(larger.values()))
shared = {**dict.fromkeys(("removed 0%", *thinned), smallest), **larger}
bounds = (f"lower@{cutoff}", f"upper@{cutoff}")
lemma = run(
    Grid(
        dataset,
        [by_name[name] for name in by_name if name in setup.LEMMA_SYSTEMS],
        shared,
        (precision, *bounds),
        split=split,
        seed=seed,
        tests=thinned,
        replicates=[(label, metric) for label in shared for metric in (precision, *bounds)],
    ),
    workers=workers,
    name="lemma",
)

# %% tags=["hide-input"]
figures.bounds(lemma).show()
figures.gaps(lemma).show()

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_bounds
# :name: fig-bounds
#
# The paper's Figure 3: $1RP$ (line) between the bounds of the lemma (band), as test ratings are
# removed (left) and as target sets grow (right). The paper shows pLSA and kNN.
# ```
#
# ```{glue:figure} fig_gaps
# :name: fig-gaps
#
# The width of those bands (top), and the same relative to the line within (bottom), which the paper
# does not show. Whiskers: 95 % intervals from resampling users, where they are larger than the marks.
# ```

# %% [markdown]
# With one relevant item per user the two bounds are the same number.
# :::{finding} BCC17-F3L/5
# holds: So thinning the test data closes the gap, by itself and relative to $1RP$.
# refuted: Thinning does not close the gap relative to $1RP$ at every step, though it must in the end.
# open: Whether thinning closes the gap at every step is open here.
# :::
# :::{finding} BCC17-F3R/1
# holds: Larger target sets narrow it at every step, too, but look at the bottom of
#   {numref}`fig-gaps`.
# open: Whether larger target sets narrow it at every step is open here.
# refuted: Larger target sets do not narrow it at every step.
# :::
# :::{finding} BCC17-F3R/4
# holds: It narrows relative to $1RP$ as well.
# refuted: Relative to $1RP$ it does not for all systems: what shrinks is the value.
# open: Relative to $1RP$ nothing is sure.
# :::
# :::{finding} own/RUNS-SLOPE
# holds: And the value shrinks by less than the chance of a hit, $1/t$: in logarithms with a slope of
#   {value:.2f} for {which}, where it falls fastest, and of -1 for Random.
# refuted: And the value shrinks about as the chance of a hit, $1/t$, does, for {which} in any case.
# open: -
# :::

# %% [markdown] tags=["general"]
# ## Verdicts
#
# Definitions and theorems hold on any data, and are checked in a simulated world: target sets are rebuilt user by
# user from sets of items, and on the first fold Popularity and pLSA are trained and ranked a second time, by
# sorting the scores of every target set, in code that shares nothing with the experiment's counting.
# What it finds is compared with the ranks that the experiment stored. Each check rejects an input
# that was broken on purpose.

# %%
checks = measure.checks(
    dataset, seed=seed, split=split, min_rating=min_rating, size=size, grid=measured.grid
)
identities = measure.identities()  # what holds on any data, checked once in a world

# %% tags=["hide-input"]
results = {"systems": measured, "grid": grid, "stars": stars, "lemma": lemma, "checks": checks}
verdicts = judge_chapter("design alternatives", results)
HTML(verdict_cards(verdicts))

# %% tags=["hide-input"]
HTML(pages.options_details(results | {"explorer": explored}))

# %% tags=["remove-cell"]
state("design alternatives", results, verdicts)

# %% [markdown] tags=["general"]
# A part **holds** or **is refuted** if the whole 95 % interval lies on one side of its criterion, and
# **is open** if it lies on both, or if its verdict changes with the seed of resampling or training.
# **Yes**: all parts hold. **No**: some are refuted and none holds. **Partly**: some hold and some are
# refuted. **Undecided**: none is refuted, some are open. An exact check has no interval.

# %% [markdown] tags=["general"]
# ## Why
#
# ### Which design orders systems as the truth does?
#
# Observed ratings cannot say: nobody knows what people think of the items that they did not rate. In
# a [simulated world](#data-worlds) it is known: every user has a true rating of every item, and what
# was observed of them follows a stated rule. There a system has a **true precision**: the share of
# the ten items at the top of a user's list that this user would give five stars, whether anybody saw
# that rating or not. The list holds the best of all items that are not in the user's training data,
# since that is what a recommender shows; so true precision is what AI-AN-AR would measure if no
# judgement were missing. Each design sees the observed test ratings alone. How good it is, Kendall's
# $\tau$ says, between its order and the order by true precision: 1 if no pair of systems is the wrong
# way round, 0 if half of them are, -1 if all are.
#
# The worlds differ in two ways. *What popularity says*: items that many rate are liked by more users
# than others are (it agrees), by as many, or by fewer (it opposes). *Why ratings are missing*: users
# choose what they rate blindly, by their activity and the items' popularity alone; or by liking, that
# is, they are more likely to rate what they will like, as in the edition *synthetic*; or that twice
# as strongly. Each kind has {glue:text}`n_worlds` independent worlds. All have a quarter of the users
# and of the items of MovieLens 1M, its share of observed pairs, its skew of popularity, and five
# stars as liking.
#
# ::::{predict} In a world where popular items are liked by fewer users than others, which designs still rank the better system higher, more often than not?
# - all of them: the same systems are trained on the same data
# - those that rank unrated items
# - the users' own test ratings
#
# Those that rank unrated items pay for being *rated*: an item that nobody observed counts as a miss,
# whether or not the user would like it. That favours systems that find popular items, also where
# popular items are the less liked ones. Among the users' own test
# ratings everything is judged, and popularity has been paid for already: by the choice to rate.
# {numref}`fig-truth` has the numbers.
# ::::

# %%
truth = measure.truth(**SIMULATION)

# %% tags=["hide-input"]
figures.true_orders(truth).show()
glue("n_worlds", f"{SIMULATION['n_worlds']}", display=False)

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_truth
# :name: fig-truth
#
# Five designs in simulated worlds, which are the same in every edition. The line-up lacks ALS, since
# that does not give the same lists on every processor. Whiskers are 95 % intervals over worlds
# (Student's t): they say what other worlds of the same kind would give.
# ```

# %% [markdown]
# :::{finding} own/WORLDS-OPPOSED
# holds: **Where popularity opposes liking**, no design that ranks unrated items has a $\tau$ above
#   {value:.2f} with the truth (95 % interval to {high:.2f}): each gets nearly as many pairs of systems
#   wrong as right, or more.
# refuted: **Where popularity opposes liking**, designs that rank unrated items reach a $\tau$ of
#   {value:.2f} with the truth.
# open: -
# :::
# :::{finding} own/WORLDS-OPPOSED-BLIND
# holds: Where users choose blindly the order is turned round ($\tau$ = {value:.2f} for all tested
#   items): whoever picks the winner picks a loser.
# refuted: -
# open: -
# :::
# :::{finding} own/WORLDS-OPPOSED-OWN
# holds: The users' own test ratings, which the paper discards, keep the order at {value:.2f} or more.
# refuted: The users' own test ratings fall to {value:.2f} too.
# open: -
# :::
#
# :::{finding} own/WORLDS-INDEPENDENT
# holds: **Where popularity says nothing about liking**, the designs that rank unrated items reach
#   {value:.2f} at most,
# refuted: **Where popularity says nothing about liking**, the designs that rank unrated items reach
#   {value:.2f} in some worlds,
# open: **Where popularity says nothing about liking**, the designs that rank unrated items reach
#   about {value:.2f} at most,
# :::
# :::{finding} own/WORLDS-INDEPENDENT-OWN
# holds: own test ratings {value:.2f} at least.
# refuted: own test ratings {value:.2f} in some.
# open: own test ratings about {value:.2f} at least.
# :::
#
# :::{finding} own/WORLDS-AGREEING
# holds: **Where popularity agrees with liking**, every design is of use: those that rank unrated
#   items have a $\tau$ of {value:.2f} or more.
# refuted: **Where popularity agrees with liking**, designs that rank unrated items still fall to
#   {value:.2f}.
# open: -
# :::
# :::{finding} own/WORLDS-AGREEING-STRONG
# holds: If users choose strongly, all tested items keep the order better than the users' own test
#   ratings do, by {value:.2f} ({low:.2f} to {high:.2f}).
# refuted: If users choose strongly, their own test ratings keep the order better.
# open: If users choose strongly, whether all tested items or own test ratings keep it better is open.
# :::
# :::{finding} own/WORLDS-AGREEING-BLIND
# holds: If users choose blindly, all tested items are ahead by {value:.2f} ({low:.2f} to {high:.2f}).
# refuted: If users choose blindly, own test ratings are ahead.
# open: If users choose blindly, which of the two is ahead is open.
# :::
# :::{finding} own/WORLDS-AGREEING-LIKING
# holds: If they choose by liking, all tested items are ahead by {value:.2f} ({low:.2f} to {high:.2f}).
# refuted: If they choose by liking, own test ratings are ahead.
# open: If they choose by liking, which of the two is ahead is open ({low:.2f} to {high:.2f}).
# :::
#
# :::{finding} own/WORLDS-OWN-RATINGS
# holds: The own test ratings mislead in no kind of world: their smallest $\tau$ is {value:.2f}
#   ({low:.2f} to {high:.2f}).
# refuted: The own test ratings too mislead in some kind of world.
# open: Whether the own test ratings mislead in some kind of world is open.
# :::
# :::{finding} own/WORLDS-RATERS
# holds: Among all tested items the two rating predictors stand at least {value:.1f} places below
#   their true rank in every kind of world.
# refuted: Among all tested items the rating predictors do not stand below their true rank in every
#   kind of world.
# open: Whether the rating predictors stand below their true rank among all tested items in every kind
#   of world is open.
# :::

# %% tags=["hide-input"]
Markdown(places_table(truth, ("agrees", "opposes"), ("AR", "R_test")))

# %% [markdown] tags=["general"]
# Places by which a design puts a system above its true rank (+) or below it (−), means over worlds
# in which users are more likely to rate what they will like.
#
# **What this does not show.** The bounds that these sentences follow were set when the values had
# been seen: the worlds are an illustration, no test. A world is a model, and MovieLens may be none of
# these. Which one it resembles, its ratings cannot tell: what popular items would be worth to those
# who did not rate them is exactly what is missing. Chapters to come look at data where some ratings
# were asked of random items. Two more limits are of the own test ratings themselves. If a user has no
# more of them than the list has places, every system that scores them all gets the same value: they
# need users with many, and sparser worlds than these give them fewer. And a system that is tuned on
# them alone learns to order what users choose to rate, which is not what it will be asked for. Nor
# are values compared here: no design measures true precision itself.
#
# ### Three smaller questions

# %% tags=["remove-cell"]
found = checks.statistics
product = found["sigma[TI]"] * found["delta[TI]"]
glue("rho", f"{found['rho[TI]']:.5f}", display=False)
glue("sigma_delta", f"{product:.5f}", display=False)
glue("t", f"{found['t[TI]']:.0f}", display=False)

# %% [markdown]
# **Eq. 4 is an approximation.** It takes $\rho$ among tested items for $\sigma\delta$, as if profiles
# and target sets were independent.
# :::{finding} own/RHO-BY-PRODUCT
# holds: In this split $\rho$, {glue:text}`rho`, is {value} the product, {glue:text}`sigma_delta`.
#   Users with many ratings have smaller target sets, because their training items are taken out,
#   and more relevant items in them, which raises the mean of the ratios above the ratio of the
#   means.
# refuted: In this split $\rho$, {glue:text}`rho`, is only {value} the product,
#   {glue:text}`sigma_delta`, although users with many ratings have smaller target sets: here they do
#   not have enough relevant items more.
# open: In this split $\rho$ is {glue:text}`rho`, and the product {glue:text}`sigma_delta`.
# :::
#
# **AR and 1R ask different questions.** A run asks whether *this* item beats a hundred random ones; a
# list of ten out of {glue:text}`t` asks whether it beats nearly all. The first question is about the
# whole ranking, the second about its very top, and a system may be good at one and poor at the other.
# :::{finding} own/RUNS-LIFT-KNN
# holds: The kNN that predicts ratings rises from AR to 1R to {value} its height, relative to
#   Popularity: at the very top stand items that few neighbours rated and all of them loved; further
#   down its order makes sense.
# refuted: The kNN that predicts ratings does not gain on Popularity from AR to 1R on these data, nor
#   does it have to: its value relative to Popularity becomes {value} what it was.
# open: Whether the kNN that predicts ratings gains on Popularity from AR to 1R, these data leave
#   open ({low:.2f} to {high:.2f} times).
# :::
#
# **Two readings of one name are two algorithms.** Dividing by the sum of similarities removes the
# number of neighbours who rated the item, that is, its popularity. What remains is a mean over few
# votes, and whatever has hardly any can come first.
# :::{finding} own/MORE-NEIGHBOURS
# holds: To ask for three neighbours instead of one takes P@10 among all tested items to {value} what
#   it was ($k=100$, no damping).
# refuted: To ask for three neighbours instead of one does not help here: {value}.
# open: To ask for three neighbours instead of one changes little that could be told from noise.
# :::
# :::{finding} own/DAMPED-LIKE-SUM
# holds: To add 10 to the divisor lets popularity back in altogether: the value is then that of the
#   plain sum, the *ranker*, within {high:.1%}.
# refuted: To add 10 to the divisor leaves the value {value:.1%} away from that of the plain sum, the
#   *ranker*.
# open: -
# :::

# %% [markdown]
# ## So, does it matter?
#
# :::{finding} own/POPULARITY-RANGE
# holds: **Yes.** By the choice of target sets alone, the precision of one and the same recommender
#   moves by a factor of {value:.1f} ({low:.1f} to {high:.1f}).
# refuted: **For the value, little here**: by the choice of target sets the precision of Popularity
#   moves by a factor of {value:.1f} ({low:.1f} to {high:.1f}).
# open: **For the value, perhaps**: by the choice of target sets the precision of Popularity moves by a
#   factor of {value:.1f} ({low:.1f} to {high:.1f}).
# :::
# :::{finding} BCC17-C-RANGE/1
# holds: Without the users' own test ratings, which the paper discards, it is still a factor of
#   {value:.1f}.
# refuted: Without the users' own test ratings, which the paper discards, it is a factor of
#   {value:.1f} only: the other designs happen to lie close together on these data.
# open: Without the users' own test ratings, which the paper discards, it is a factor of
#   {value:.1f}.
# :::
# :::{finding} BCC17-C-RANGE/5
# holds: Random, which is equally bad everywhere, moves by a factor of {value:.1f} among those
#   designs.
# refuted: -
# open: -
# :::
#
# :::{finding} own/RUNS-TAU
# holds: **For the order, it depends on the question that a design asks.** From AR to 1R Kendall's
#   $\tau$ of all {glue:text}`n_systems` systems is {value:.2f} ({low:.2f} to {high:.2f}): some
#   change places.
# refuted: **The order** is nearly the same under AR and 1R ($\tau$ = {value:.2f}).
# open: **For the order**, $\tau$ of all {glue:text}`n_systems` systems from AR to 1R is {value:.2f},
#   and with what these data leave open anything from {low:.2f} to {high:.2f}.
# :::
# :::{finding} own/RTEST-TAU
# holds: From AR to the users' own test ratings it is {value:.2f} ({low:.2f} to {high:.2f}): that is
#   another task.
# refuted: From AR to the users' own test ratings it is {value:.2f}.
# open: From AR to the users' own test ratings it is {value:.2f} ({low:.2f} to {high:.2f}).
# :::

# %% [markdown] tags=["general"]
# (sec-which-design)=
# ## Which design, when, and what to report
#
# No design is right and none is wrong; each answers a question. Choose by the question.
#
# | you ask | rank | and say beside the value |
# |---|---|---|
# | How good are lists of $n$ from the whole catalogue? | everything (**AN-AR**), candidates **AI**; **TI** only where nearly all items are tested | what Random scores; the share of the catalogue under TI |
# | Does *this* item come before most others, wherever it stands? | one relevant item per run (**1R**) | the size $t$, the ceiling $1/n$, and whether users or runs are averaged and tested |
# | The same as the first, with too many items to score? | a sample (**NN-AR**), as large as you can | its size; on some systems, that the order is that of AN |
# | Who tells best what users think of what they rated? | the user's test ratings | that this is no measure of recommendation: what users do not rate is not there |
#
# No row asks what people would think of items that they did not rate: observed ratings may not tell it.
# {numref}`fig-truth` is about worlds where that is known.
#
# Values of two rows cannot be compared, nor those of one row with another $t$ or $N$. Where two designs
# order your systems differently, report both: the difference is a finding about the systems.
#
# **When you review**, ask back if you see one of these.
#
# - *P@10 without a word on what was ranked.* It can be any of the four bars of
#   {numref}`fig-one-ranking`.
# - *P@n above 1/n with one relevant item per ranking.* It cannot be
#   ([why](#ex-ceiling)).
# - *No random ranking in the table.* It costs nothing, and tells which design was used.
# - *Numbers from another paper in the same table*, with another sample size or other candidates.
# - *Sampled rankings of weak systems that come surprisingly close.* A sample takes away most of what
#   stands above a relevant item that is ranked low.
# - *p-values over runs*, or no unit at all.
# - *"kNN" or "MF" without formula, damping and parameters.*
# - *Users without relevant test items*: were they left out or counted as 0?
#
# **When you write**, a paragraph like these says it all. Code made them from the protocols of this
# chapter, with its data.

# %% tags=["hide-input"]
told = [pages.methods_sentence(measured, label) for label in ("AR", "1R")]
Markdown("\n\n<!-- -->\n\n".join(told))

# %% [markdown] tags=["general"]
# ## What we had to decide
#
# - **Ties** are broken by one seeded random key per user and item, the same in all target sets and
#   for all systems ([why](#dev-ties)); the lemma is false otherwise.
# - **Samples**: figures draw a new sample for each run; the lemma needs one per user
#   ([how](#dev-sampling)).
# - **Users without relevant test items** count as 0 under AR, as the paper's formula has it
#   ([more](#dev-users)), and rated-low test items stay targets ([more](#dev-low-ratings)).
# - **Scores that cannot be computed** leave an item out of the list; it does not get a 0, which might
#   beat negative scores ([more](#dev-nc)).
# - **Intervals** come from resampling users; runs of one user stay together
#   ([more](#dev-intervals)).
# - **Training seeds**: {glue:text}`n_seeds` per fold here; with fewer than five, the order of a system
#   with random training stays open ([more](#dev-training-seeds)). {ref}`All decisions
#   <sec-decisions>` are on one page.
#
# ## On your data
#
# ```bash
# recbias run 01_design_alternatives --dataset my_ratings.csv -p min_rating 4
# ```
#
# The [rerun page](#rerun-own-table) says what the table must look like. `recbias run
# 01_design_alternatives --dataset synthetic -p size 500` shows larger target sets without any data.
#
# ## Exercises
#
# Six, from easy to hard. Each comes with starter code, to be completed where the dots are, and with a
# check that says whether the answer is right. The checks need the installed package and nothing
# else; each takes seconds. Solutions fold out on the page; on paper they are left out.
#
# ````{exercise} The ceiling
# :label: ex-ceiling
#
# A paper reports $P@10=0.14$ "with 100 sampled negatives per relevant item". What is the largest
# precision that one target set allows, and what do you conclude?
#
# ```python
# from recbias.book.chapters.design_alternatives.exercises import check_ceiling
#
# def ceiling(cutoff, n_relevant):
#     return ...  # the largest P@cutoff of a set with so many relevant items
#
# check_ceiling(ceiling)
# ```
# ````
#
# ````{solution} ex-ceiling
# :class: dropdown
#
# ```python
# from recbias.book.chapters.design_alternatives.exercises import check_ceiling
#
# def ceiling(cutoff, n_relevant):
#     return min(cutoff, n_relevant) / cutoff
#
# check_ceiling(ceiling)
# ```
#
# With one relevant item per run $P@10\le 0.1$, so the sets cannot have held one relevant item each.
# Either all relevant items of a user were ranked together (AR-NN), or precision was divided by
# something else than 10: for example by the number of hits possible.
# ````
#
# ````{exercise} What must Random score?
# :label: ex-random
#
# Pencil and paper. A user has 3 relevant test items, 2 test items rated low and 40 training items;
# the catalogue has 1 000 items, 800 of them with test ratings, all of this user's items among them.
# What is their expected $P@10$ of a random ranking under TI-AN-AR, AI-AN-AR, and TI-NN-1R with
# $t=100$?
#
# ```python
# from recbias.book.chapters.design_alternatives.exercises import check_random
#
# check_random(ti_an_ar=..., ai_an_ar=..., ti_nn_1r=...)
# ```
# ````
#
# ````{solution} ex-random
# :class: dropdown
#
# ```python
# from recbias.book.chapters.design_alternatives.exercises import check_random
#
# check_random(ti_an_ar=3 / (800 - 40), ai_an_ar=3 / (1000 - 40), ti_nn_1r=1 / 100)
# ```
#
# The items rated low stay in the target set as non-relevant ones, so they change nothing. The number
# of relevant items cancels under 1R: each run has one, among $t$.
# ````
#
# ````{exercise} Six users, eight items
# :label: ex-toy
#
# Pencil and paper again. Ratings in brackets are in test, the others in training; 4 stars or more are
# relevant. Popularity ranks items by their number of training ratings, ties by the alphabet. What is
# its $P@2$ under TI-AN-AR, under TI-AN-1R (averaged over runs), and if the user's own test ratings
# are ranked alone? Which user has no run?
#
# |       | a   | b   | c   | d   | e   | f   | g   | h |
# |-------|-----|-----|-----|-----|-----|-----|-----|---|
# | **A** |     | 4   |     | 5   | 5   | [3] | [2] | 2 |
# | **B** | 5   |     | [5] | 3   | 3   | [5] | [4] |   |
# | **C** | 4   | [2] | [4] |     | 2   |     | [3] | 5 |
# | **D** | [5] |     | 5   |     | [5] | 3   | 5   |   |
# | **E** |     |     |     |     | 3   | [3] | [4] | 3 |
# | **F** | 5   |     |     | [2] | [2] | [4] | 5   | 5 |
#
# ```python
# from recbias.book.chapters.design_alternatives.exercises import check_toy
#
# check_toy(ti_an_ar=..., ti_an_1r=..., test_only=...)
# ```
# ````
#
# ````{solution} ex-toy
# :class: dropdown
#
# By training ratings the items come as a, e, h, d, g, b, c, f; h has no test rating and is no target.
# The first two targets of users A to F are g c, g b, d g, a e, a d and e d.
#
# ```python
# from recbias.book.chapters.design_alternatives.exercises import check_toy
#
# per_user = [0, 1, 0, 2, 0, 0]  # hits in the first two targets
# per_run = [1, 1, 1, 0, 1, 1, 0, 0]  # B: c, f, g; C: c; D: a, e; E: g; F: f
# tested = [0, 2, 0, 2, 1, 0]  # hits in the first two of the own test items
# check_toy(
#     ti_an_ar=sum(per_user) / 2 / 6,
#     ti_an_1r=sum(per_run) / 2 / 8,
#     test_only=sum(tested) / 2 / 6,
# )
# ```
#
# User A has no relevant test item: a 0 under AR, and no run under 1R.
# ````
#
# ````{exercise} One pass is enough
# :label: ex-one-pass
#
# A run ranks its item among $t-1$ sampled others. You know its rank among itself and *all* others
# of the pool. What is the chance, over all samples, that it is within the cutoff?
#
# ```python
# from recbias.book.chapters.design_alternatives.exercises import check_one_pass
#
# def expected_hit(rank, pool, size, cutoff):
#     return ...  # of `pool` others, rank - 1 stand above; size - 1 are drawn
#
# check_one_pass(expected_hit)
# ```
# ````
#
# ````{solution} ex-one-pass
# :class: dropdown
#
# The item is within the cutoff if at most `cutoff - 1` of the drawn stand above it, which is a sum of
# hypergeometric chances:
#
# ```python
# from math import comb
#
# from recbias.book.chapters.design_alternatives.exercises import check_one_pass
#
# def expected_hit(rank, pool, size, cutoff):
#     above, drawn = rank - 1, size - 1
#     ways = [comb(above, k) * comb(pool - above, drawn - k) for k in range(min(cutoff, size))]
#     return sum(ways) / comb(pool, drawn)
#
# check_one_pass(expected_hit)
# ```
#
# Divided by the cutoff and averaged over runs, this is the metric `P@n|t=T`.
# ````
#
# ````{exercise} Break the lemma
# :label: ex-lemma
#
# Give every run a sample of its own, drawn apart, instead of a shared one; two samples may come out
# alike. Find a user with two relevant items, r1 and r2, for whom the lower bound then fails at $n=1$.
# Does it fail in expectation?
#
# ```python
# from recbias.book.chapters.design_alternatives.exercises import check_lemma_broken
#
# order = ...  # all items, best first: a list with "r1", "r2", and others by any name
# shared = {...}  # one sampled item, from which the bound is computed
# own = {"r1": {...}, "r2": {...}}  # one sampled item for each run
# check_lemma_broken(order, shared, own)
# ```
# ````
#
# ````{solution} ex-lemma
# :class: dropdown
#
# ```python
# from recbias.book.chapters.design_alternatives.exercises import check_lemma_broken
#
# order = ["top", "high", "r1", "r2", "low"]
# shared = {"low"}
# own = {"r1": {"top"}, "r2": {"high"}}
# check_lemma_broken(order, shared, own)
# ```
#
# The bound is computed on a sample below both relevant items, so $h_u(1)=1$; but each run draws an
# item above them, and both miss. In expectation over samples it cannot fail, since the sample of each
# run has the same distribution as the shared one: compare `P@10|t=100` and the bounds in the verdict
# of BCC17-L1.
# ````
#
# ````{exercise} Another threshold
# :label: ex-threshold
#
# Say that items are relevant from 4 stars instead of 5. For which of these claims may the verdict
# on a part change, and for which can it not? Their classes do not tell: read on the cards what each
# part measures.
#
# ```python
# from recbias.book.chapters.design_alternatives.exercises import check_threshold
#
# can_change = {
#     "BCC17-EQ1": ...,  # a theorem: True or False
#     "BCC17-C-MAX1R": ...,  # a theorem
#     "BCC17-C-THETA": ...,  # a theorem
#     "BCC17-SETUP": ...,  # a definition
#     "BCC17-C-RANGE": ...,  # empirical
# }
# check_threshold(can_change)
# ```
# ````
#
# ````{solution} ex-threshold
# :class: dropdown
#
# ```python
# from recbias.book.chapters.design_alternatives.exercises import check_threshold
#
# can_change = {
#     "BCC17-EQ1": False,
#     "BCC17-C-MAX1R": False,
#     "BCC17-C-THETA": True,
#     "BCC17-SETUP": True,
#     "BCC17-C-RANGE": True,
# }
# check_threshold(can_change)
# ```
#
# Identities and bounds hold at any threshold. BCC17-C-THETA is one at heart, but some of its parts
# are measured orders and differences. BCC17-SETUP records what the paper used, and one of its parts
# asks whether the smallest relevant rating is 5. To see what does change:
# `recbias run 01_design_alternatives --dataset synthetic -p min_rating 4`.
# ````

# %% [markdown] tags=["general"]
# ## Summary
#
# - A precision value means nothing without its target set: candidates, relevant, non-relevant.
# - Random measures the design: $\rho$ under AR, $1/t$ under 1R. Report it.
# - 1R is bounded by $1/n$, and by ordinary precision on the same sample, but it is no rescaling of it.
# - Ranking what users rated anyway is another task than recommending.
# - "MF" and "kNN" name families. The paper gives neither formulas nor parameters; a comparison has to
#   state both.
#
# ```{seealso}
# [Notation and glossary](#sec-symbols), [decisions](#sec-decisions), [errata](#sec-errata), and the
# {doc}`scorecard </notebooks/scorecard>` with every claim of the four papers.
# ```
