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
# # Does a recommender make the popular more popular?
#
# Let what is recommended become ratings, and learn from them again, eight times. Where the popular become more
# popular, *ratings* become more uneven: their Gini coefficient rises.
#
# :::{finding} own/LOOP-UNEVEN
# holds: **Some do, some do not, in simulated worlds:** with {value} of {cases} recommenders ratings end more uneven,
# refuted: In simulated worlds ratings end more uneven with none of the recommenders,
# open: Whether ratings end more uneven in simulated worlds is open ({low} to {high} of {cases} recommenders),
# :::
# :::{finding} own/LOOP-EVENED
# holds: with {value} more even.
# refuted: and with none more even.
# open: and so is whether they end more even ({low} to {high} of {cases}).
# :::
#
# :::{finding} own/LOOP-FORETELL
# holds: **The first lists tell which:** the more uneven they are, the more uneven do ratings end (rank correlation
#   {value:.2f}), unless they hold other items than the popular ones.
# refuted: How uneven the first lists are does not tell which (rank correlation {value:.2f}).
# open: How uneven the first lists are may tell which (rank correlation {value:.2f}, {low:.2f} to {high:.2f}).
# :::
#
# **What to do:** before a system goes live, compare the Gini coefficient of its lists with that of the ratings it
# learned from, and see how popular the listed items are ([five rules](#sec-concentration-rules)).
#
# ```{glue:figure} fig_loop
# :name: fig-loop
#
# Gini coefficient of all ratings (0: every item has as many; near 1: one has all), means over twenty simulated
# worlds. Dashed: it ends above its start. The seven are those of {cite:t}`ATM15` (AR: association rules).
# ```
#
# :::{finding} own/LOOP-FORETELL-CI
# holds: CI of the first lists, the index that {cite:t}`ATM15` made for this question, tells which, too ({value:.2f}).
# refuted: CI of the first lists, the index that {cite:t}`ATM15` made for this question, does not tell which
#   ({value:.2f}).
# open: Whether CI of the first lists, the index that {cite:t}`ATM15` made for this question, tells which is open
#   ({value:.2f}, {low:.2f} to {high:.2f}).
# :::
#
# More even lists cannot make the ratings more uneven, in that round and if all places are rated alike; more uneven
# ones do, if they hold the popular items ([why](#sec-gini-loop)).

# %% [markdown] tags=["general"]
# **After this chapter you can** tell from lists and ratings whether a loop will favour what is popular; compute
# CI and LTI by hand, and say what neither of them notices; find out whether a metric of concentration tells more
# than another one; and say what a value has to be compared with. *About 25 minutes; all you need is the
# [Gini coefficient](#metric-gini).*

# %% tags=["hide-input", "remove-output"]
from IPython.display import HTML, Markdown
from myst_nb import glue

from recbias import Grid, run
from recbias.book import choosing, pages
from recbias.book.cards import verdict_table
from recbias.book.chapters.concentration_metrics import courses, figures, measure, setup, tables
from recbias.book.chapters.concentration_metrics.loop import LOOP
from recbias.book.explorer import explorer_html
from recbias.book.figures import use_book_style
from recbias.book.findings import findings_table, state
from recbias.book.systems.line_up import relevance_threshold
from recbias.claims import judge_chapter
from recbias.experiment.results import begin_page

# %% tags=["parameters"]
dataset: str = "ml-100k"
min_rating: float | None = None  # smallest liked rating; none = top of the scale - 1
cutoff: int = 10  # 1 to 50: length n of the lists
split: str | None = None  # none = k-fold 5, of simulated data k-fold 2
seed: int = 1  # 0 to 1000000
n_seeds: int | None = None  # 1 to 100: of random training; none = 5 on published data, else 1
workers: int = 2  # 1 to 64: processes; results do not depend on them

# %% tags=["remove-cell"]
use_book_style()
begin_page("06_concentration")
min_rating = relevance_threshold(dataset) if min_rating is None else min_rating
split = split or setup.split_of(dataset)
for name, text in choosing.written(min_rating=min_rating, cutoff=cutoff).items():
    glue(name, text, display=False)
glue("split", split, display=False)

# %% [markdown] tags=["general"]
# ## By hand
#
# Four items have 6, 3, 1 and 0 ratings. A recommender fills ten places, and every place becomes a rating. Here
# are four that do, with the Gini coefficient of their lists, and that of the ratings afterwards:

# %% tags=["hide-input"]
Markdown(tables.after_table([6, 3, 1, 0], [8, 2, 0, 0], [4, 3, 2, 1], [1, 2, 3, 4], [0, 0, 2, 8]))

# %% [markdown] tags=["general"]
# Only the first makes the popular more popular. The second lists the popular most, and yet evens ratings
# out, as its lists are more even than they are. The last two have the counts of those two, for other
# items: *how uneven* lists are is one thing, *whose* they are another. Two indices of the poster
# are to tell the other.
#
# Let $s_i$ count the positive training ratings of item $i$, and $r_i$ the lists of $n$ items that hold it;
# $S$ and $R$ are their sums, $s'_i=(s_i+1)/(S+|I|)$ and $r'_i=(r_i+1)/(R+|I|)$ their smoothed
# shares. The *concentration index* asks how far one is from the other, the *long-tail index* in which
# direction:
#
# $$CI@n=\frac{1}{2}\sum_i\frac{s_i}{S}\ln\frac{s'_i}{r'_i}+\frac{1}{2}\sum_i\frac{r_i}{R}
# \ln\frac{r'_i}{s'_i}\,,$$
#
# $$LTI_\lambda@n=\frac{1}{|I|}\sum_i\Bigl(\lambda-\frac{s_i}{S}\Bigr)\ln\frac{r'_i}{s'_i}\,.$$
#
# CI is 0 where items are listed in proportion to what was popular, and grows with the distance. LTI should
# grow where the long tail is listed more often than it was popular, and fall where the head is. Of the
# second recommender:

# %% tags=["hide-input"]
Markdown(tables.example_table([6, 3, 1, 0], [4, 3, 2, 1]))

# %% [markdown] tags=["general"]
# A row is an item, and the last three columns what it adds. CI adds something positive wherever share and
# logarithm point the same way, which here is everywhere. LTI adds the logarithm, times a weight. As
# printed, the weight of the first item is 0.8 − 0.6: it is positive, so that listing the most popular item
# *less* often lowers LTI. The poster calls $\lambda$ a percentile of popularity and compares it with a *share*
# of all ratings ([E16](#err-e16)); in a catalogue of thousands no item is above any $\lambda$ that one would
# choose. $LTI|percentile$ compares the percentile of the item, as the text promises: here the weight is
# 0.8 − 0.875, and listing the item less often raises it.
#
# And the third recommender, with the same counts in reverse? Gini, Hoover, entropy, diversity and coverage
# stay, to the last digit. CI and LTI do not:

# %% tags=["hide-input"]
Markdown(tables.example_table([6, 3, 1, 0], [1, 2, 3, 4]))

# %% [markdown]
# ## Predict before measuring
#
# Three questions. Commit yourself first.
#
# ::::{predict} AR lists what goes with a user's items, which is much the same for everybody: with it ratings become most uneven. What becomes of its *lists*, over eight rounds?
# - they become more uneven as well
# - they stay as they are
# - they become more even
#
# :::{finding} own/LOOP-AR
# holds: More uneven: their Gini coefficient rises by {value:.3f}.
# refuted: Not more uneven: what a user has rated is not listed to them again, so that lists move down, while
#   the ratings pile up. Look at the ratings, and not at later lists.
# open: That is open ({low:.3f} to {high:.3f}).
# :::
#
# :::{right}
# 1: own/LOOP-AR holds
# 3: own/LOOP-AR refuted below -0.005
# 2: own/LOOP-AR refuted
# :::
# ::::
#
# ::::{predict} Places in lists are filled one by one, by lot, in proportion to what was popular. What is CI of such lists?
# - 0, since nothing has changed
# - above 0
# - below 0
#
# :::{finding} own/CHANCE-CI
# holds: Above 0: {value:.3f}. Counts are few, and differ from their expectation by chance. A value of CI
#   has to be compared with this one, and not with 0.
# refuted: Not above 0 here: {value:.3f}.
# open: That is open here: {value:.3f} ({low:.3f} to {high:.3f}).
# :::
#
# :::{right}
# 2: own/CHANCE-CI holds
# 3: own/CHANCE-CI refuted below -0.001
# 1: own/CHANCE-CI refuted
# :::
# ::::
#
# ::::{predict} LTI is to tell what Gini does not, by looking at what was popular before. How much of the differences of LTI between systems can be explained without looking at it?
# - less than a third
# - a third to nine tenths
# - more than nine tenths
#
# :::{finding} own/LTI-LOG-COUNT
# holds: Nearly all: {value}, by the mean logarithm of how often an item is listed.
# refuted: Not all: {value}, by the mean logarithm of how often an item is listed.
# open: {value} ({low} to {high}), by the mean logarithm of how often an item is listed.
# :::
# [Why](#sec-why-lti) is a line of algebra.
#
# :::{right}
# 1: own/LTI-LOG-COUNT below 0.33
# 2: own/LTI-LOG-COUNT below 0.9
# 3: own/LTI-LOG-COUNT above 0.9
# :::
# ::::

# %% [markdown] tags=["general"]
# ## The experiment
#
# **In worlds**, recommendations become ratings. In twenty worlds of 500 users and 800 items, whose truth is
# known, a system learns and lists ten items for everybody; some are rated, by the truth; it learns
# again; eight times. Which of the listed items are rated is a model of its own, and there are two:
#
# - *even*: each listed item is rated with probability .3;
# - *attentive*: the first places are seen more (as $1/\log_2(1+k)$ at place $k$), and what people like is
#   taken more often, in proportion to the rating that they would give.

# %%
loop = measure.loop(**LOOP, workers=workers)

# %% tags=["hide-input"]
figures.rounds(loop).show()

# %% [markdown] tags=["general"]
# **On data**, lists are compared with what was popular. The systems of the poster, Random and Popularity as the
# two ends, and others, so that metrics can be compared over many. The poster prints neither split,
# threshold, length nor $\lambda$; one configuration was chosen before any result: lists of
# {glue:text}`cutoff` items, ratings of {glue:text}`min_rating` or more, the split {glue:text}`split`, and
# $\lambda=0.8$, the tail that a head of 20 % leaves. Values are measured in each fold and then averaged:
# pooled lists would have another $R$, and with it another LTI ([E17](#err-e17)).

# %%
protocols = {"full": f"AI-AN-AR rel>={min_rating} users=tested"}
metrics = {"full": setup.metrics(cutoff)}
measured = run(
    Grid(
        dataset,
        setup.line_up_of(dataset, min_rating, n_seeds),
        protocols,
        metrics,
        split=split,
        seed=seed,
        replicates=setup.combined(metrics),
    ),
    workers=workers,
    name="systems",
)

# %% tags=["hide-input"]
Markdown(pages.data_line(measured))

# %% tags=["remove-cell"]
tails = {"full": setup.of_lambdas(cutoff)}
lambdas = run(
    Grid(
        dataset,
        setup.line_up_of(dataset, min_rating, n_seeds),
        protocols,
        tails,
        split=split,
        seed=seed,
        replicates=setup.combined({"full": setup.ends_of_lambdas(cutoff)}),
    ),
    workers=workers,
    name="lambdas",
)
others = setup.other_lengths(dataset, cutoff)
lengths = None
if others:
    lengths = run(
        Grid(
            dataset,
            setup.line_up_of(dataset, min_rating, 1),
            protocols,
            {"full": others},
            split=split,
            seed=seed,
            replicates=(),
        ),
        workers=workers,
        name="lengths",
    )
references = measure.references(
    dataset,
    min_rating=min_rating,
    metrics=list(setup.of_chance(cutoff)),
    grid=measured.grid,
)
lorenz = measure.lorenz(dataset, min_rating=min_rating, cutoff=cutoff, grid=measured.grid)
explained = measure.explained(dataset, cutoffs=list(setup.lengths_of(dataset)), grid=measured.grid)
measure.identities()  # what holds on any data, checked once in a world
checks = measure.checks(dataset, min_rating=min_rating, cutoff=cutoff, grid=measured.grid)

# %% [markdown] tags=["general"]
# ## Where the ratings go
#
# The loop of the first figure (its 95 % intervals are hardly wider than the lines), with what else it does: Gini
# of the lists and of the ratings, and the share of the places with an item that its user truly likes, before
# the first round → after the last.

# %% tags=["hide-input"]
Markdown(tables.loop_table(loop))

# %% [markdown] tags=["general"]
# <div class="explorer-hint">
#
# Move through the rounds, and watch who moves away from the dashed line, where all ratings began. Kendall's
# $\tau$ says how much of the order the first lists have told.
#
# </div>

# %% tags=["hide-input"]
HTML(
    explorer_html(
        courses.courses(loop),
        courses.axes(loop),
        start=courses.START,
        compared=courses.FIRST_LISTS,
        name="rounds",
        source=loop,
        digits=3,
        lines={"expected": "before the first round"},
    )
)

# %% [markdown]
# :::{finding} own/LOOP-UNEVEN-ATTENTIVE
# holds: With *attentive* choice it is much the same: ratings become more uneven with {value} of {cases} recommenders.
# refuted: With *attentive* choice ratings become more uneven with none.
# open: With *attentive* choice it is open with how many ratings become more uneven ({low} to {high} of {cases}).
# :::
# :::{finding} own/LOOP-ITEM-KNN
# holds: Uneven lists are not enough: those of Item kNN are as uneven as those of BPR, and the Gini coefficient
#   of the ratings grows by {value:.3f} only. They hold other items than the popular ones.
# refuted: With Item kNN the Gini coefficient of the ratings grows by {value:.3f}.
# open: How much the Gini coefficient of the ratings grows with Item kNN is open ({low:.3f} to {high:.3f}).
# :::
#
# These are small worlds of one kind, where taste stays what it is, nothing is new, and the lists are the
# only way to find anything. They say which metric *can* foretell, and not how strong a loop is in a shop.
#
# ## What the first lists tell
#
# Does a metric of the first lists order the recommenders as the loop does? Over the seven, in each world:
#
# ```{glue:figure} fig_foretold
# :name: fig-foretold
#
# Spearman's correlation over the recommenders between a metric of the first lists and the Gini coefficient of
# the ratings after the last round: means over the worlds, with their 95 % intervals. Colours say what a metric
# looks at. [ARP](#metric-arp): how often listed items had been rated; [M](#metric-m): how many items enter or leave
# the most popular fifth. *Attentive* choice orders the recommenders in the same way.
# ```

# %% tags=["hide-input"]
figures.foretelling(loop).show()

# %% [markdown] tags=["general"]
# Evenness tells, under each of its names, and so does how popular the listed items are. CI measures a
# distance, and a distance has no direction: one list of best sellers for everybody is far from what was
# popular, and so is a list of what nobody has rated. LTI as printed tells, because it is evenness
# ([below](#sec-why-lti)).
#
# (sec-on-data)=
# ## Whose lists could do it, on these data?
#
# The Gini coefficient of the lists of each of the poster's systems, and that of the positive ratings from which
# they were learned:
#
# ```{glue:figure} fig_evenness
# :name: fig-evenness
#
# Gini coefficient of the lists, with 95 % intervals where their coverage was shown, and of the positive
# training ratings (line). What lies left of the line can only even ratings out, if all places are
# rated alike.
# ```

# %% tags=["hide-input"]
uneven = figures.evenness(measured, lorenz, cutoff)
glue("lists_popular", tables.popular_of(uneven.rows, measured, cutoff), display=False)
uneven.show()

# %% [markdown]
# More uneven lists make the popular more popular if they hold the popular items: a popularity lift
# ([PL](#metric-pl)) above 0 says so. {glue:text}`lists_popular`
#
# One would think that even lists are far from what was popular. The poster's point is that they need not be.
# :::{finding} ATM15-C-GINI/2/1
# :::
#
# ```{glue:figure} fig_ranks
# :name: fig-two-orders
#
# The poster's systems in two orders: the most even lists first, and those first that deviate least from what
# was popular. Lines that cross are pairs of which the more even one deviates more.
# ```

# %% tags=["hide-input"]
figures.two_orders(measured, cutoff).show()

# %% [markdown]
# Ranks say who is first, and not whether it matters. A value means something beside what chance gives: *lists at
# random*; *lists in proportion* to what was popular, drawn for each user, none twice and none that the user has
# rated; and *places in proportion*, every place of every list filled by lot, whoever's it is.
# :::{finding} own/POPULARITY-CI
# holds: CI of Popularity is {value} that of as many places filled by lot: one list for everybody is far from
#   being in proportion.
# refuted: CI of Popularity is {value} that of as many places filled by lot.
# open: CI of Popularity is {value} that of as many places filled by lot ({low} to {high}).
# :::

# %% tags=["hide-input"]
HTML(tables.values_table(tables.values_frame(measured, references, cutoff)))

# %% [markdown] tags=["general"]
# ## Which metrics are one?
#
# Two metrics are called one here if Kendall's $\tau$ between their orders of all systems of this page is surely above
# .9: it stays there even if they disagree on every pair that they do not resolve.
#
# ```{glue:figure} fig_alike
# :name: fig-alike
#
# Kendall's $\tau$ between metrics over all systems of this page. Least first by Gini and popularity lift (PL),
# most first by all others, as in the poster's figure. Diversity: how many items are listed. Framed: surely above .9.
# ```

# %% tags=["hide-input"]
figures.alike(measured, cutoff).show()

# %% [markdown]
# The poster leaves $\lambda$ to the reader, between 0 and 1. As printed, it is hardly more than a factor.
# :::{finding} own/LTI-PERCENTILE-LAMBDAS
# holds: With percentiles $\lambda$ orders the systems all the same ($\tau$ between $\lambda=.1$ and $.9$ is {value:.2f}).
# refuted: With percentiles $\lambda$ decides the order of systems ($\tau$ between the orders by $\lambda=.1$ and $.9$ is {value:.2f}).
# open: With percentiles $\lambda$ may decide the order of systems ($\tau$ between the orders by $\lambda=.1$ and
#   $.9$ is {value:.2f}, {low:.2f} to {high:.2f}).
# :::

# %% tags=["hide-input"]
details = tables.alike_details(measured, lengths, explained, cutoff)
Markdown(f"{details}\n\n{setup.lengths_note(dataset)}")

# %% [markdown] tags=["general"]
# (sec-gini-loop)=
# ## Why: two Gini coefficients and a bound
#
# The Gini coefficient of counts $x_i$ is $G(x)=\sum_{i,j}|x_i-x_j|\,/\,(2|I|\sum_i x_i)$. Ratings $s$ become $s+r$
# when $r$ are added, and $|(s_i+r_i)-(s_j+r_j)|\le|s_i-s_j|+|r_i-r_j|$ for each pair of items, so that
#
# $$G(s+r)\ \le\ \frac{S}{S+R}\,G(s)+\frac{R}{S+R}\,G(r)\,.$$
#
# - **Lists more even than the ratings**, $G(r)<G(s)$, make the ratings more even, whatever they list.
# - **More uneven lists** make them more uneven *if* they order items as popularity does: then
#   both sides are equal. The more their order is another, the more is missing, and they may even ratings out.
#
# In a loop $r$ is what is rated of the lists, in expectation as uneven as they are where choice is *even*. So in
# one round two numbers of its lists matter: their Gini coefficient, and how popular their items are. The
# bound is about that round; later rounds have other lists.
#
# (sec-why-lti)=
# ## Why: what LTI is made of
#
# Write $q_i=\ln(r'_i/s'_i)$. Then
#
# $$LTI_\lambda=\lambda\,\frac{1}{|I|}\sum_i q_i-\frac{1}{|I|}\sum_i\frac{s_i}{S}\,q_i .$$
#
# The first sum is a mean over all items. The second is a mean as well, weighted by popularity, and then
# *divided by the number of items once more*: in a catalogue of thousands it is thousands of times smaller
# than a mean. What is left is
#
# $$\begin{aligned}LTI_\lambda\approx{}&\frac{\lambda}{|I|}\sum_i\ln(r_i+1)
# -\frac{\lambda}{|I|}\sum_i\ln(s_i+1)\\&+\lambda\ln\frac{S+|I|}{R+|I|}\,.\end{aligned}$$
#
# The other terms are the same for whoever fills as many places; the first is the mean logarithm of the
# counts, whose maximum is at even counts. So $\lambda$ scales LTI and orders nothing, and LTI as printed
# is one more metric of dispersion.
#
# With percentiles the weights $\lambda-F_i$ are as large at the head as in the tail, and of the other sign, so
# that the second sum does not vanish. But a mean over items counts items, and not recommendations. Let one
# item take all that a hundred others of the head had: one logarithm rises, a hundred fall, and as their
# weights are below 0, their fall *raises* LTI. The weights add up to 0 for $\lambda=.5$ only; for a larger
# one the metric has again a part that is nothing but dispersion. So its sign says nothing by itself: compare
# a value with those of lists in proportion, in the last rows of the [table of all values](#sec-on-data).
#
# For CI no such thing happens: its weights are shares in both sums, and the shares of few popular items
# decide. That is its strength, and why a handful of users can move it, so that it has no interval.
#
# (sec-concentration-rules)=
# ## What to do, and what to write
#
# 1. **Will the popular become more popular?** Report the Gini coefficient of the lists beside that of the training
#    ratings, and how popular the listed items are, as popularity lift (PL) does ([why](#sec-gini-loop)).
# 2. **Are recommendations even?** One metric is enough, such as Gini: its relatives order systems alike
#    ({numref}`fig-alike` and the table below it), LTI as printed among them (ATM15-LTI).
# 3. **How far are they from what was popular?** CI; say what $s$ counts, and put the values of random lists and of
#    lists in proportion beside it. It has no direction ({numref}`fig-foretold`; ATM15-CI-ZERO).
# 4. **Where does it end?** Simulate, say how lists become ratings, and watch the ratings, not the lists.
# 5. **Never compare** values of two data sets, two lengths, or with other users or items left out: all of these
#    metrics depend on the numbers of items and of places. (Lists beside the ratings that they add to are no such pair.)
#
# In a paper, with the values of one system of this page:

# %% tags=["hide-input"]
Markdown(tables.to_write(tables.values_frame(measured, references, cutoff), lorenz, cutoff))

# %% [markdown] tags=["general"]
# ## Verdicts
#
# Every assertion that can be measured has a criterion, locked by a hash. Many were written or changed
# after pilot values had been seen; the pages of these claims say *pilot seen*. The ranks of the
# poster's figure are colours that cannot be read in our copy, so that its sentences are judged and not
# its cells.
# Where the poster has an [erratum](#sec-errata), *as printed* is the verdict on its words, and *corrected* that on
# what the erratum puts in their place.

# %% tags=["hide-input"]
results = {"systems": measured, **({} if lengths is None else {"lengths": lengths})}
results |= {"lambdas": lambdas, "checks": checks}
results |= {"explained": explained, "references": references, "lorenz": lorenz, "loop": loop}
verdicts = judge_chapter("concentration metrics", results)
HTML(verdict_table(verdicts))

# %% tags=["hide-input"]
stated = state("concentration metrics", results, verdicts)
HTML(pages.claims_of("concentration metrics") + findings_table(stated))

# %% tags=["hide-input"]
HTML(pages.options_details(results))

# %% tags=["remove-cell"]
stated

# %% [markdown] tags=["general"]
# ## What we had to decide
#
# - **The prior** of an item is its number of relevant training ratings ([how](#dev-concentration)).
# - **One configuration**, chosen before any result, since the poster prints none; the other lengths and
#   lambdas stand beside it.
# - **"LTI and Gini rank differently"** holds as soon as both surely order one pair of the poster's seven systems in
#   reverse, so that it can be open where $\tau$ is 1.
# - **Folds are averaged**, and not pooled: with other totals CI and LTI are others ([E17](#err-e17)).
# - **Intervals** are those of the expected value at this number of users, only where simulated coverage is
#   at least 93 %; aggregate diversity, coverage, $M$ and CI have none, and there folds say which differences
#   are resolved.
# - **LRMF** is the model of its publication. LibRec 1.3, which the poster used, ranked items
#   arbitrarily under that name, so that cards say what is found without it, and with a random ranking in
#   its place.
# - **The loop** serves all users in each round ([how](#dev-feedback)).
# - **Items that nobody is listed** belong to every metric. {ref}`All decisions <sec-decisions>` are on one
#   page.
#
# ## On your data
#
# In a clone of the book:
#
# ```bash
# recbias run 06_concentration --dataset my_ratings.csv -p min_rating 4
# ```
#
# The [rerun page](#rerun-own-table) says what the table must look like. The loop does not know your data:
# its worlds are the same on every page.
#
# ## Exercises
#
# Five, of three levels: by hand, in code, and one on your own data, with starter code and a check that says
# whether the answer is right.
#
# :::{drill} gini
# What is the **Gini coefficient** of these five counts?
# :::
#
# ````{exercise} Who is long tail?
# :label: ex-head
# :class: warm-up
#
# A catalogue of 1,000 items, no two of which are equally popular; the most popular one has a share of 0.009
# of all ratings. With $\lambda=0.8$, how many items are *head*, so that LTI falls if they are listed more
# often: as the poster prints it, and with percentiles?
#
# ```python
# from recbias.book.chapters.concentration_metrics.exercises import check_head
#
# check_head(printed=..., percentile=...)
# ```
# ````
#
# ````{solution} ex-head
# :class: dropdown
#
# ```python
# from recbias.book.chapters.concentration_metrics.exercises import check_head
#
# check_head(printed=0, percentile=200)
# ```
#
# No share of a usual catalogue comes near any $\lambda$. The percentile of an item does not depend on how
# large the catalogue is.
# ````
#
# ````{exercise} What Gini does not notice
# :label: ex-blind
# :class: warm-up
#
# Four items have 6, 3, 1 and 0 positive ratings. Find counts of lists with the same Gini coefficient as
# (4, 3, 2, 1), and a CI above 0.3.
#
# ```python
# from recbias.book.chapters.concentration_metrics.exercises import check_blind
#
# check_blind(shown=...)
# ```
# ````
#
# ````{solution} ex-blind
# :class: dropdown
#
# ```python
# from recbias.book.chapters.concentration_metrics.exercises import check_blind
#
# check_blind(shown=(1, 2, 3, 4))
# ```
#
# Whoever knows the counts and not whose they are, sees no difference.
# ````
#
# ````{exercise} More even, and yet nearer
# :label: ex-opposed-spread
# :class: warm-up
#
# The same four items. Find two systems with ten places each of which *a* is more even than *b* by Gini, and
# yet deviates less from what was popular by CI.
#
# ```python
# from recbias.book.chapters.concentration_metrics.exercises import check_opposed
#
# check_opposed(a=..., b=...)
# ```
# ````
#
# ````{solution} ex-opposed-spread
# :class: dropdown
#
# ```python
# from recbias.book.chapters.concentration_metrics.exercises import check_opposed
#
# check_opposed(a=(4, 3, 2, 1), b=(0, 1, 3, 6))
# ```
#
# *b* is uneven in its own way: what it lists is what nobody had rated.
# ````
#
# ````{exercise} The index
# :label: ex-index
# :class: core
#
# Write CI as the poster does, with one added to each count within the logarithms.
#
# ```python
# from recbias.book.chapters.concentration_metrics.exercises import check_index
#
# def index(prior, shown):
#     return ...
#
# check_index(index)
# ```
# ````
#
# ````{solution} ex-index
# :class: dropdown
#
# ```python
# from math import log
#
# from recbias.book.chapters.concentration_metrics.exercises import check_index
#
# def index(prior, shown):
#     total = 0
#     for s, r in zip(prior, shown):
#         before = (s + 1) / (sum(prior) + len(prior))
#         after = (r + 1) / (sum(shown) + len(shown))
#         total += s / sum(prior) * log(before / after) / 2
#         total += r / sum(shown) * log(after / before) / 2
#     return total
#
# check_index(index)
# ```
#
# The denominators of the smoothed shares cancel, since both sums of weights are 1: the formula on the page
# of [notation](#metric-ci) does without them.
# ````
#
# ````{exercise} Your ratings, and your lists
# :label: ex-own-spread
# :class: research
#
# Count how often each item of a table of your own is rated in training, and how often it stands in the top ten lists of a
# system. What is the Gini coefficient of each, and which is more even?
#
# ```python
# from recbias.book.chapters.concentration_metrics.exercises import check_own_spread
#
# check_own_spread(
#     rated=...,  # a list with a count for each item, in one order
#     listed=...,  # of the same items; 0 for one that no list has
#     gini_rated=..., gini_listed=...,
#     more_even=...,  # "ratings" or "lists"
# )
# ```
# ````
#
# ````{solution} ex-own-spread
# :class: dropdown
#
# ```python
# from recbias.book.chapters.concentration_metrics.exercises import check_own_spread
#
# def gini(counts):
#     n = len(counts)
#     return sum(abs(one - other) for one in counts for other in counts) / (2 * n * sum(counts))
#
# rated, listed = [60, 40, 12, 10, 9, 8, 1], [80, 90, 20, 10, 0, 0, 0]
# check_own_spread(
#     rated=rated,
#     listed=listed,
#     gini_rated=gini(rated), gini_listed=gini(listed),
#     more_even="ratings",
# )
# ```
#
# The numbers here are made up; yours come from your table. Items that are in no list are items: to leave
# them out makes every system even.
# ````

# %% [markdown] tags=["general"]
# ## Summary
#
# Whether ratings become more uneven depends on the recommender, and shows in the ratings, not in later
# lists. Lists more even than the ratings even them out in that round, if all places are rated alike; more uneven
# ones make the popular more popular as far as they hold the popular items. So Gini of lists and of ratings and
# the popularity of what is listed answer the question, while CI has no direction, and LTI as printed is one more
# metric of evenness.
#
# ```{seealso}
# [Notation and glossary](#sec-symbols), [decisions](#sec-decisions), [errata](#sec-errata), and the
# {doc}`scorecard </notebooks/scorecard>` with every claim of the four papers.
# ```
