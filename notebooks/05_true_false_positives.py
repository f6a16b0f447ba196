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
# # More hits or fewer misses: does it matter which one you count?
#
# A list of ten holds items that its user likes, *hits*, and some that the user dislikes, *misses*. Here both are
# counted of sixteen systems on songs (CM100k): by ratings of songs {glue:text}`observed_cm100k`, as in a usual test,
# and of songs drawn at random, which is the truth.
#
# :::{finding} own/CM-OBSERVED-TAU
# holds: **In a test it matters:** hits and misses choose different winners, since systems with more hits have *more*
#   misses ($\tau$ = {value:.2f}).
# refuted: **In a test it does not matter:** systems with more hits have fewer misses ($\tau$ = {value:.2f}).
# open: **In a test it seems to matter:** systems with more hits tend to have *more* misses ($\tau$ = {value:.2f},
#   {low:.2f} to {high:.2f}).
# :::
# :::{finding} own/CM-TRUE-TAU
# holds: **By the truth it does not:** those with more hits have fewer misses ($\tau$ = {value:.2f}).
# refuted: By the truth it matters as well ($\tau$ = {value:.2f}).
# open: By the truth it seems not to: those with more hits tend to have fewer misses ($\tau$ = {value:.2f},
#   {low:.2f} to {high:.2f}).
# :::
#
# **What to do:** report both counts, and the share of the lists that nobody has rated; where they disagree, buy
# [random judgments](#sec-how-many), or [ask whether your ratings can tell](#sec-which-to-trust) which to trust.
#
# ```{glue:figure} fig_lead
# :name: fig-lead
#
# Each point is a system: misses among its first ten (to the right) and hits (upwards). Grey: 95 % intervals over
# users. $\tau$ is 1 where both counts have the systems in one order, so that more hits go with *more* misses, and
# −1 where they go with fewer.
# ```
#
# :::{finding} own/CM-ANTIP-TRUE
# holds: **So one of the counts misleads.** Here it is that of misses, which mostly reverses the true order ($\tau$ =
#   {value:.2f}),
# refuted: Here misses keep the true order ($\tau$ = {value:.2f}),
# open: Here it seems to be that of misses ($\tau$ = {value:.2f} with the truth, {low:.2f} to {high:.2f}),
# :::
# :::{finding} own/OPPOSED-ANTIP
# holds: but in simulated worlds where people like *less* what is popular, it is misses that keep it ($\tau$ at least
#   {value:.2f}).
# refuted: and in simulated worlds where people like *less* what is popular, misses do not keep it, either ($\tau$ down
#   to {value:.2f}).
# open: and for worlds where people like *less* what is popular that is open ($\tau$ = {value:.2f}, {low:.2f} to
#   {high:.2f}).
# :::

# %% [markdown] tags=["general"]
# ## One case by hand
#
# Four lists, each of one item that is shown to 100 users. Some of these rate it in the test, and whoever rates it
# says whether they like it. In a first world what is liked more is rated by more:
#
# | item | would like it | rate it | hits | misses |
# |---|---|---|---|---|
# | A | 80 | 50 | 40 | 10 |
# | B | 60 | 30 | 18 | 12 |
# | C | 40 | 25 | 10 | 15 |
# | D | 20 | 5 | 1 | 4 |
#
# Hits order the lists as the truth does: A, B, C, D. By misses D is the best, which is liked *least*: hardly
# anybody rates it, so hardly anybody can say so. In a second world what is liked more is rated by fewer:
#
# | item | would like it | rate it | hits | misses |
# |---|---|---|---|---|
# | A | 80 | 5 | 4 | 1 |
# | B | 60 | 25 | 15 | 10 |
# | C | 40 | 30 | 12 | 18 |
# | D | 20 | 50 | 10 | 40 |
#
# Now misses are right, and by hits A comes last. Both counts rise with how many people rate, and nothing in
# the columns *hits* and *misses* says in which of the two worlds one is.
#
# **After this chapter you can** say when hits and misses must agree, and what makes
# them differ; tell an observed value from a true one; say how many random judgments a comparison takes; and decide
# which count to trust on data of your own, or that they cannot tell. *About 25 minutes; all you need is
# [precision](#sec-metrics).*

# %% tags=["hide-input", "remove-output"]
from IPython.display import HTML, Markdown
from myst_nb import glue

from recbias import Grid, line_up, run
from recbias.book import choosing, pages
from recbias.book.cards import verdict_table
from recbias.book.chapters import true_vs_false_positive_disagreement as chapter
from recbias.book.chapters.true_vs_false_positive_disagreement import (
    columns,
    figures,
    figures_of_judgments,
    judgment_tables,
    judgments,
    measure,
    setup,
    true_values,
)
from recbias.book.figures import use_book_style
from recbias.book.findings import findings_table, state
from recbias.book.systems import ties
from recbias.book.systems.line_up import published_split, relevance_threshold
from recbias.claims import judge_chapter, load_chapter
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

# %% [markdown]
# ## Predict before measuring
#
# Three questions. Commit yourself first.
#
# ::::{predict} Of each list only those items are kept that the user rated in the test, and hits and misses are counted among the first ten of them. System A has more hits than system B. Has it fewer misses?
# - yes, always
# - mostly
# - that says nothing about misses
#
# Always, if each list is divided by the items that are left in it: what is not a hit is a miss then
# ({numref}`fig-two-counts`, left).
#
# :::{right} 1
# :::
# ::::
#
# ::::{predict} What share of the first ten items of a list, out of the whole catalogue, has the user rated in the test?
# - more than half
# - a fifth to a half
# - less than a fifth
#
# :::{finding} own/JUDGED-SHARE
# holds: {value}, averaged over all systems: of the rest nobody knows whether it is a hit or a miss.
# refuted: {value}, averaged over all systems: lists of these data are better known than most.
# open: {value}, averaged over all systems.
# :::
#
# :::{right}
# 3: own/JUDGED-SHARE below 0.2
# 2: own/JUDGED-SHARE below 0.5
# 1: own/JUDGED-SHARE above 0.5
# :::
# ::::
#
# ::::{predict} One list is shown to everybody, and it is to have as few misses in the test as can be. What does it hold?
# - items that nearly everybody likes
# - items that few people know, and nobody has disliked
# - popular items
#
# Those that nobody disliked in training, however few have rated them; popular items come last, since
# somebody always dislikes them. Such a list has hardly any hits, either ([below](#sec-best-for-all)).
#
# :::{right} 2
# :::
# ::::

# %% [markdown] tags=["general"]
# ## The experiment
#
# A rating of {glue:text}`min_rating` or more says that a user likes an item, a lower one says the opposite, and **no
# rating says nothing**. So the first $n$ items of a list are of three kinds,
#
# $$P@n+antiP@n+\text{unrated}@n=1 ,$$
#
# the shares of hits, of misses ([definitions](#metric-antip)), and of those of which nobody knows. The sixteen systems of
# {cite:t}`MCCRS20`, as their authors ran them ([how we know](#sec-systems)), are trained on each fold, and each list
# is counted three ways: *full*, from the whole catalogue; *condensed*, its rated items only; and *true*, by ratings
# of items drawn at random, where data have them.

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

# %% tags=["remove-cell"]
figures.lead(measured).show()

# %% [markdown] tags=["general"]
# Behind this code: the best rankings for everybody, a split by time, tests with fewer random judgments, what the
# order of ties does, and simulated worlds. The verdicts at the end read them.

# %% tags=["hide-input", "remove-output"]
reference = columns.published_columns(measured.grid)
changes, asked = columns.changes_grid(measured, reference) if reference else ([], None)
changed = run(asked, workers=workers, name="changes") if asked else None
temporal = None
if setup.has_times(dataset):
    temporal = run(setup.over_time(measured.grid), workers=workers, name="temporal")
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
optima = measure.optima(
    dataset, min_rating=min_rating, cutoff=cutoff, split=split, seed=seed, truth=truth
)
tied = ties.ties(dataset, min_rating=min_rating, split="ratio 0.2", seed=seed, world=ties.WORLD)
simulated = {}
for name, given in chapter.SIMULATIONS.items():
    simulated[name] = getattr(measure, name)(**given, workers=workers)
of_items = {
    "pairs": measure.pairs(dataset, min_rating=min_rating, split=split, seed=seed),
    "items": measure.items(dataset, min_rating=min_rating, split=split, seed=seed),
    "item_groups": measure.item_groups(dataset, min_rating=min_rating, split=split, seed=seed),
}
of_truth = {}
if truth == "unbiased":
    of_truth["judged_pairs"] = measure.judged_pairs(dataset, min_rating=min_rating)
if truth:
    of_truth["true_order"] = measure.true_order(dataset, min_rating=min_rating, seed=seed)
at_random = None
if truth:  # learn from random judgments, and be tested on ever fewer of the others
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
checks = measure.checks(dataset, min_rating=min_rating, cutoff=cutoff, grid=measured.grid)
identities = measure.identities()  # what holds on any data, checked once in a world

# %% [markdown]
# ## What a test says
#
# The same lists twice, on the data of this page: among their rated items only, and as they are.
#
# ```{glue:figure} fig_two_counts
# :name: fig-two-counts
#
# The paper's Figure 1, its upper and lower left panels. Left: divided by the rated items of a list, as the authors
# do; a list of which nothing is rated has neither hits nor misses, and moves points off the line. Diamonds, where the
# data are theirs: what they published.
# ```

# %% tags=["hide-input"]
figures.two_counts(measured).show()

# %% [markdown]
# Where everything in a list is rated, $antiP=1-P$: one metric in two forms. Where most is unrated, either can go up
# without the other going down. Why not keep to rated items, then? That is another task: a system is asked for ten
# items out of the catalogue, and not to sort what a user has rated.
# :::{finding} MCCRS20-C-CONDLOSS/1
# holds: And differences become half as large or less: the median effect size of a pair of systems is {value:.0%} of
#   that of full lists.
# refuted: The paper adds that differences become much smaller. We take that for half as large or less; here the median
#   effect size of a pair of systems is {value:.0%} of that of full lists.
# open: The paper adds that differences become much smaller. We take that for half as large or less; here the median
#   effect size of a pair of systems is {value:.0%} of that of full lists ({low:.0%} to {high:.0%}).
# :::
# (Condensed lists can order systems rightly all the same: [when](#sec-guide-condensed).)

# %% tags=["hide-input"]
HTML(chapter.tables.columns_folded(measured, reference, changes, changed))

# %% [markdown] tags=["general"]
# ## What the truth says
#
# Which of the two is right? That takes judgments that users did not choose to give: of CM100k, Coat and Yahoo! R3
# a part was rated for items drawn at random, and of a simulated world all is known.
#
# ```{glue:figure} fig_each
# :name: fig-each
#
# The paper's Figure 6: each count against its own truth. A count that can be trusted has its systems on a rising
# line. Where the data of this page have no random judgments, CM100k is shown.
# ```

# %% tags=["hide-input"]
known = true_values.with_truth(measured)
figures.each_count(known).show()

# %% tags=["hide-input"]
HTML(true_values.left_out_table(known))

# %% [markdown] tags=["general"]
# In a test by random judgments nearly everything is unrated, too. So it is not *that* ratings are missing which
# sets the counts against each other, but *which*. Worlds in which everything is rated by lot, and data with ever
# fewer random judgments (MCCRS20-C-MAR), are in the [tables at the end](#sec-verdicts-5).
#
# (sec-best-for-all)=
# ## Why: popularity is a factor of both
#
# What would be the best ranking if it were the same for everybody? Let $p(train|i)$ be the share of users with a
# training rating of item $i$, $o_i=p(train|i)/(1-p(train|i))$ its odds, and $p(rel|train,i)$ the share of those
# ratings that say liking. A user is shown the first item that they do not have in training. The observed $P@1$ is
# largest if items are sorted by (Eq. 2 of the paper)
#
# $$f_P(i)=o_i\;p(rel|train,i)\,,$$
#
# and the observed $antiP@1$, where less is better, is smallest if they are sorted by (Eq. 4)
#
# $$f_{antiP}(i)=-o_i\,\bigl(1-p(rel|train,i)\bigr)\,.$$
#
# By the *true* values the odds of being rated drop out: both rank by $p(rel|\neg train,i)$, and have one best
# ranking. By the *observed* ones the odds stand in both, and **multiply a positive number in one, and a negative one
# in the other**: being popular moves an item up by hits, and down by misses.
#
# **When does that decide?** When popularity differs more than liking does. The paper calls $|f(a)-f(b)|\,/\,
# \max(f(a),f(b))$ the *steepness* of $f$ between two items. Its lemma: both optima order $a$ and $b$ in opposite
# ways exactly if the odds are steeper than $p(rel|train,\cdot)$ and opposed to it, or steeper than its complement
# and opposed to that. (Ties are not covered: [E20](#err-e20).)
#
# ```{glue:figure} fig_curves
# :name: fig-curves
#
# From the paper's Figure 3, first training fold: each share sorted for itself and divided by its largest, so that
# shapes can be compared.
# ```

# %% tags=["hide-input"]
figures.item_curves(of_items["items"], of_items["item_groups"]).show()

# %% [markdown]
# ::::{predict} Of all pairs of items, what share do the two optimal rankings put in opposite orders?
# - less than three tenths: the steep cases
# - three to seven tenths
# - more than seven tenths
#
# :::{finding} own/PAIRS-DISAGREE
# holds: {value}: to agree is the exception. Popularity would have to be nearly even for that (MCCRS20-C3).
# refuted: {value}, fewer than in the paper.
# open: -
# :::
#
# :::{right}
# 1: own/PAIRS-DISAGREE below 0.3
# 2: own/PAIRS-DISAGREE below 0.7
# 3: own/PAIRS-DISAGREE above 0.7
# :::
# ::::
#
# Both rankings can be run, as they need nothing but counts. Beside the other rankings that are the same for
# everybody:

# %% tags=["hide-input"]
HTML(chapter.tables.optima_table(optima, optimal, cutoff=cutoff))

# %% [markdown]
# So to rank by misses alone is to recommend what nobody has rated. Which of the systems get near either bound is
# judged as MCCRS20-C-BOUND, MCCRS20-C-FLIP and MCCRS20-C-PERS; that an order of equal scores may decide, on the page of
# [the systems](#sec-tie-rule).
#
# ## Which of the two is right, and where?
#
# Data sets with random judgments are few, and in all that are at hand people like what is popular. Worlds can be
# anything. In those below popularity is about as uneven as in common data; from left to right, popular items go from
# liked less to liked more. Thirteen systems are trained in each.
#
# ```{glue:figure} fig_which
# :name: fig-which
#
# Kendall's $\tau$ between the order of the systems by a count as observed, and by the truth; below 0 a count
# misleads more than it tells. Means over worlds, with their 95 % intervals. [Where data sets
# lie](#fig-compatible) is another question.
# ```

# %% tags=["hide-input"]
figures.which_count(simulated["worlds"]).show()

# %% [markdown]
# :::{finding} own/UNRELATED-ANTIP
# holds: Where popularity and liking are unrelated, misses are the better count, by {value:.2f} of $\tau$ ({low:.2f} to
#   {high:.2f}): to count hits takes more than that.
# refuted: Where popularity and liking are unrelated, misses are not the better count.
# open: Where popularity and liking are unrelated, neither is seen to be the better count.
# :::
# On each pair of systems that both counts put in opposite orders, just one is right (MCCRS20-C-WHICH). Over all pairs
# both may be more right than wrong, each with a $\tau$ above 0.
# :::{finding} own/BOTH-RIGHT
# holds: In {value:cases} of {cases} kinds of worlds both surely are, and in {high:cases} they may be.
# refuted: That is so in none of {cases} kinds of worlds.
# open: Of {cases} kinds of worlds that is decided for none.
# :::

# %% [markdown] tags=["general"]
# (sec-how-many)=
# ## Beyond the papers: how many random judgments are enough?
#
# Judgments of items drawn at random say which system is better, and they are expensive: most people have no opinion
# about a random item. How many of each user give an order of the systems whose expected $\tau$ with the true one is
# at least .9?
#
# The true order is by judgments of *all* items, and nobody has it. So the judgments of every user are dealt into
# two halves without a common item, again and again, and the order by $k$ judgments of one half is compared with
# that by the other half. Both have noise, so that $\tau$ between them is *too low* for that with the truth. And if
# two orders by $k$ judgments have $\tau_{k,k}$, the expected $\tau$ of either with the truth is at most
# $\sqrt{\tau_{k,k}}$: a pair of systems that $k$ judgments order rightly with an expected sign of $m$ adds $m$ to
# one and $m^2$ to the other. Between these bounds, which need no model, runs an estimate: differences of systems and
# noise are taken to be normal, with a mixture of scales that is fitted to $\tau_{k,k}$.
#
# ```{glue:figure} fig_judgments
# :name: fig-judgments
#
# How true an order is, over the number of judgments of random items per user: estimated. Bands: 95 % intervals over
# users, somewhat too narrow, since they know nothing of what the model misses. Dotted: bounds that need no model.
# Black: .9.
# ```

# %% tags=["hide-input"]
tables_shown = judgment_tables.judgment_tables(of_truth.get("judgments"))
glue("of_union", judgment_tables.listed_needed(tables_shown), display=False)
figures_of_judgments.judged_orders(tables_shown, cutoff).show()

# %% [markdown]
# :::{finding} own/JUDGMENTS-P
# holds: By P it takes {value} judgments of every user of CM100k ({low} to {high}),
# refuted: By P {value} judgments of every user ({low} to {high}) are enough,
# open: By P it takes about {value} judgments of every user of CM100k, which is known to a factor only ({low} to {high}),
# :::
# for systems as different as these; near ties take more. Effort is lost on items that no system lists, which add
# nothing to any value. So join the lists of all systems first, and draw what is to be judged from this union, for each
# user alike: **that takes, of each user, about {glue:text}`of_union`.**

# %% tags=["hide-input"]
HTML(judgment_tables.judgments_table(tables_shown, cutoff))

# %% [markdown] tags=["general"]
# The observed ratings are there already. Why not add them?
#
# ```{glue:figure} fig_mixed
# :name: fig-mixed
#
# Random judgments alone, and together with the observed ratings that a list is tested with: $\tau$ with the order by
# the other half of the random judgments, which lowers both lines alike.
# ```

# %% tags=["hide-input"]
figures_of_judgments.mixed_orders(tables_shown, cutoff).show()

# %% [markdown] tags=["general"]
# (sec-which-to-trust)=
# ## A recipe: which count should I trust on my data?
#
# Without random judgments, what has to be known is how popularity relates to liking. **You need** a table of ratings
# that say likes *and* dislikes, and a few minutes of processor time.
#
# 1. **Ask.**
#
#    ```bash
#    recbias trust my_ratings.csv --min-rating 4
#    ```
#
# 2. **Read the line** `answer`:
#
#    | `answer` | count | write |
#    |---|---|---|
#    | `trust antiP@10` | misses first, hits beside them | "In at least 95 % of the simulated worlds that our ratings may come from, anti-precision orders systems more truly than precision." |
#    | `trust P@10` | hits first, misses beside them | the same, the other way round |
#    | `either` | any one, and say so | "... neither is ahead by .1 of Kendall's $\tau$." |
#    | `cannot tell` | both, and name no winner where they disagree | "Our ratings cannot tell which of the two orders systems truly." |
#
# 3. **Doubt what is assumed**, which is the line `assumed`: who likes an item is at most three times as likely to
#    rate it as who does not, and items differ in that by one half at most. Ask again with `--spread 2`, and with
#    `--strength 6`. An answer that changes is none.
# 4. **Write** the assumptions beside the answer; `--json` names every world that it rests on.
#
# **How it works.** Let $\theta_i$ be the share of all users who like item $i$, and $s_i$ that of those who rated it.
# If whoever likes the item is $G_i$ times as likely to rate it as who does not, Bayes' rule says
#
# $$\frac{s_i}{1-s_i}=G_i\,\frac{\theta_i}{1-\theta_i}.$$
#
# One factor for all items moves all shares and no order: the relation is then known, *however strongly* liking makes
# people rate. But if factors differ between items, any $\theta$ fits to some $G$, and ratings tell nothing. So
# somebody has to bound by how much they differ. The command fits how shares are distributed, lets all $G_i$ within
# the bound do their worst, and has the interval of relations that the ratings allow. It makes worlds like the data
# with relations all over that interval, trains ten systems in each, and counts which metric has the larger $\tau$
# with the truth.
#
# **How often is it right?** Worlds with known truth were listed before it was tuned, which was done on others. In a
# third of them liking makes people rate more strongly than is assumed, and in most of them factors differ by more.
#
# ```{glue:figure} fig_answers
# :name: fig-answers
#
# The answers in the listed worlds, by how popularity relates to liking.
# ```

# %% tags=["hide-input"]
figures_of_judgments.answers(simulated["trust"]).show()

# %% [markdown]
# :::{finding} own/TRUST-WRONG
# holds: Of its answers {value:.0%} ({low:.0%} to {high:.0%}) are wrong,
# refuted: Of its answers {value:.0%} ({low:.0%} to {high:.0%}) are wrong, more than such a command may give,
# open: Of its answers {value:.0%} ({low:.0%} to {high:.0%}) are wrong,
# :::
# and it answers mostly where misses should be counted: for hits, worlds that the same ratings may come from
# disagree.

# %% tags=["hide-input"]
Markdown(
    chapter.tables.answers_where_data_lie(
        simulated["trust"], simulated["trust_answers"], simulated["points"], simulated["bars"]
    )
)

# %% [markdown] tags=["general"]
# Where the truth is known, the answer stands behind the name:
#
# ```{glue:figure} fig_compatible
# :name: fig-compatible
#
# How popularity relates to liking (−1: the more popular, the less liked; 1: the more). Bars: what the ratings alone
# allow under the bound. Diamonds: the truth, by all or by random judgments, with its 95 % interval over users; outside
# a bar it lies where items differ in selection by more than the bound.
# ```

# %% tags=["hide-input"]
figures_of_judgments.compatible(
    simulated["trust_answers"], simulated["points"], simulated["bars"]
).show()

# %% [markdown]
# :::{finding} own/TRUST-CM100K-LEAN
# holds: On CM100k the metric that is ahead in most of the worlds is the better one by the truth, too; but most of them
#   are not enough for an answer.
# refuted: And what is merely likelier is no answer: on CM100k the metric that is ahead in most of the worlds is the
#   worse one by the truth.
# open: -
# :::
# An answer is a reason to prefer one metric, and no proof; random judgments are better.
#
# (sec-what-to-count)=
# ## What to do, and what to write
#
# 1. **Report hits and misses, and the share of the list that nobody has rated** (MCCRS20-C-UNRATED). Do not average
#    the two counts: that hides which of them is nearer to the truth.
# 2. **Say what you assume.** Count hits if popular items are clearly liked more, misses if they are not, and both if
#    you do not know ({numref}`fig-which`; MCCRS20-C-WHICH).
# 3. **No reason for either: [ask your ratings](#sec-which-to-trust).** "Cannot tell" is an answer, and belongs in
#    the paper ({numref}`fig-answers`).
# 4. **If you can, buy random judgments** within the union of the lists ([how many](#sec-how-many)), and count misses
#    by these alone ({numref}`fig-mixed`).
# 5. **Condensed lists ask another question:** how a system sorts what users have rated ({numref}`fig-two-counts`;
#    MCCRS20-C-CONDLOSS). Their winner may be the true one: [when](#sec-guide-condensed).
#
# For a methods section, of this page's full lists, of hits and of misses:

# %% tags=["hide-input"]
told = [pages.methods_sentence(measured, "full", name) for name in ("P", "antiP")]
Markdown("\n\n<!-- -->\n\n".join(told))

# %% [markdown] tags=["general"]
# (sec-verdicts-5)=
# ## Verdicts
#
# Every assertion that can be measured has a criterion, locked by a hash. Many were written or changed after pilot
# values had been seen; the pages of these claims say *pilot seen*. A claim is **yes** if all of its core holds,
# **no** if none of it does and some is refuted, **partly** if some holds and some is refuted, **undecided** if none
# is refuted and some is open. Claims about other data are *not testable here*; those about CM100k show its verdict, and
# the {doc}`scorecard </notebooks/scorecard>` judges all on their own data. {cite:t}`TOIS21` is not at hand: its claims
# are paraphrases of what its authors published beside it.

# %% tags=["hide-input"]
results = {"systems": measured, "optimal": optimal, "optima": optima, "checks": checks}
others = {"changes": changed, "temporal": temporal, "mar": at_random, "ties": tied}
results |= {name: found for name, found in others.items() if found} | of_items | of_truth
verdicts = judge_chapter("true vs false positive disagreement", results)
at_home = load_chapter(chapter.CHAPTER, "cm100k")
of_songs = judge_chapter("true vs false positive disagreement", at_home)
HTML(verdict_table(verdicts, {"cm100k": of_songs}))

# %% tags=["hide-input"]
stated = state("true vs false positive disagreement", results, verdicts)
HTML(pages.claims_of("true vs false positive disagreement") + findings_table(stated))

# %% tags=["hide-input"]
HTML(pages.options_details(results))

# %% tags=["remove-cell"]
stated

# %% [markdown] tags=["general"]
# ## What we had to decide
#
# - **Condensed precision** is divided by the rated items of the list, as the authors do, where their claims
#   are judged, and by $n$ beside it ([both](#metric-antip)).
# - **Truth**: test ratings are a fifth of all random judgments, and training is the observed ratings of
#   other pairs. In simulated worlds true values come from a tenth of the truth, since by all of it antiP is
#   $1-P$ whatever a system does.
# - **Ties** of the optimal rankings are broken by one seeded key per user and item ([why](#dev-ties)).
# - **Systems** are those of the published line-up, with their toolkit's rules where these decide
#   ([which](#sec-systems)). *Random* and *BPoissMF* are chance, and are left out where it is said.
# - **Graded losses** (nDCL) grow with the steps of the scale below the threshold ([how](#dev-loss)); on
#   merged stars they say nothing.
# - **Intervals** of $\tau$ leave open what resampled users leave open about pairs of systems
#   ([how](#dev-intervals)). {ref}`All decisions <sec-decisions>` are on one page.
#
# ## On your data
#
# In a clone of the book:
#
# ```bash
# recbias run 05_true_false_positives --dataset my_ratings.csv -p min_rating 4
# ```
#
# The [rerun page](#rerun-own-table) says what the table must look like. What the truth says is then left
# open, and only [the recipe](#sec-which-to-trust) can help.
#
# ## Exercises
#
# Five, of three levels: by hand, in code, and one on your own data, with starter code and a check that says
# whether the answer is right.
#
# :::{drill} condensed
# What is P@3 of the **condensed** list: what the user has not rated is taken out first?
# :::
#
# ````{exercise} What the rest of a list may be
# :label: ex-possible
# :class: core
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
# :class: core
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
# :class: warm-up
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
# :class: warm-up
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
#
# ````{exercise} What your lists may be
# :label: ex-own-bounds
# :class: research
#
# Measure hits and misses of two systems on a table of your own: how many of a list's `n` items the user rated and likes,
# and how many they rated and do not, on average. Between which ends does the share of liked items lie for each? Does one
# system surely have more?
#
# ```python
# from recbias.book.chapters.true_vs_false_positive_disagreement.exercises import check_own_bounds
#
# check_own_bounds(
#     n=10,
#     a=(..., ...),  # hits and misses of a list
#     b=(..., ...),
#     ends=(..., ..., ..., ...),  # lowest and highest of a, lowest and highest of b
#     surely=...,  # "a", "b" or "open"
# )
# ```
# ````
#
# ````{solution} ex-own-bounds
# :class: dropdown
#
# ```python
# from recbias.book.chapters.true_vs_false_positive_disagreement.exercises import check_own_bounds
#
# check_own_bounds(
#     n=10,
#     a=(1.2, 0.3),
#     b=(0.9, 0.4),
#     ends=(1.2 / 10, 9.7 / 10, 0.9 / 10, 9.6 / 10),
#     surely="open",
# )
# ```
#
# The numbers here are made up; yours come from your table. It takes lists that are mostly rated to
# tell: `P@10` times ten are the hits, `antiP@10` times ten the misses.
# ````

# %% [markdown] tags=["general"]
# ## Summary
#
# It matters in a test, and should not: popularity multiplies what is liked as well as what is not, so that more hits
# come with more misses, while by the truth they come with fewer. Where the two counts contradict each other, one of
# them misleads; which one follows from whether people like what is popular. Random judgments tell, sometimes a bound
# on how people choose does, and otherwise both counts belong in the paper, with the share that nobody has rated.
#
# ```{seealso}
# [Notation and glossary](#sec-symbols), [decisions](#sec-decisions), [errata](#sec-errata), and the
# {doc}`scorecard </notebooks/scorecard>` with every claim of the four papers.
# ```
