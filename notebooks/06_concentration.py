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
# # Does a recommender make the popular more popular?
#
# A shop's best sellers are recommended to everybody, sell more, and are recommended more. Whether a system
# does that is not told by how *even* its recommendations are, say {cite:t}`ATM15`, but by how they differ
# from what was popular before. Two metrics are to tell: one how far they are away, the other in which
# direction. Here are both, beside the usual ones.
#
# ```{glue:figure} fig_lead
# :name: fig-poster-ranks
#
# The poster's Figure 1, with numbers: the rank of each system by each metric, from 1 (green) to the last
# (red); below it what the rank may be, where the data leave that open. More is green, but for Gini, of
# which less is.
# ```

# %% [markdown]
# - **A metric by another name?**
#   :::{finding} own/LTI-LOG-COUNT
#   holds: Over all systems of this page {value} of the differences of LTI are explained by the mean
#     logarithm of how often an item is listed, a number that knows nothing of what was popular before.
#   refuted: Over all systems of this page {value} of the differences of LTI are explained by the mean
#     logarithm of how often an item is listed; the rest is something else.
#   open: Over all systems of this page {value} of the differences of LTI ({low} to {high}) are explained
#     by the mean logarithm of how often an item is listed, a number that knows nothing of what was popular
#     before.
#   :::
# - **An even spread, and yet nothing changed.**
#   :::{finding} ATM15-C-GINI/2/1
#   holds: There are pairs of the poster's systems, {value} of them, in which the one with the more equal
#     spread deviates less from what was popular.
#   refuted: There is no pair of the poster's systems in which the one with the more equal spread deviates
#     less from what was popular.
#   open: In {value} pairs of the poster's systems the one with the more equal spread seems to deviate less
#     from what was popular; that is open ({low} to {high} pairs).
#   :::
# - **What the first lists foretell.**
#   :::{finding} own/LOOP-CI-GINI
#   holds: In worlds where recommendations become ratings, systems with a larger CI end with more unequal
#     lists (correlation {value:.2f}).
#   refuted: In worlds where recommendations become ratings, systems with a larger CI do not end with more
#     unequal lists (correlation {value:.2f}).
#   open: In worlds where recommendations become ratings, CI of the first lists does not tell how unequal
#     the last ones are (correlation {value:.2f}, {low:.2f} to {high:.2f}).
#   :::
#   :::{finding} own/LOOP-LTI-GINI
#   holds: LTI tells more: a larger one goes with more even lists in the end ({value:.2f}).
#   refuted: Nor do those with a larger LTI end with more even ones ({value:.2f}).
#   open: Whether LTI does is open ({value:.2f}, {low:.2f} to {high:.2f}).
#   :::

# %% [markdown] tags=["general"]
# **After this chapter you can**
# - compute CI, LTI and M by hand, and say what each of them does not notice;
# - say what the $\lambda$ of LTI does, and what it was meant to do;
# - tell which metrics of concentration are one metric under several names;
# - put a value of any of them beside what chance gives, without which it means nothing.

# %% tags=["hide-input", "remove-output"]
from IPython.display import HTML, Markdown
from myst_nb import glue

from recbias import Grid, run
from recbias.book import choosing, pages
from recbias.book.cards import verdict_cards
from recbias.book.chapters.concentration_metrics import figures, measure, setup, tables
from recbias.book.chapters.concentration_metrics.loop import CHOICES, LOOP
from recbias.book.figures import use_book_style
from recbias.book.findings import state
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
# ## What the paper says
#
# Let $s_i$ count the positive training ratings of item $i$, and $r_i$ the lists of $n$ items that hold it;
# $S$ and $R$ are their sums, $s'_i=(s_i+1)/(S+|I|)$ and $r'_i=(r_i+1)/(R+|I|)$ their smoothed
# shares. The *concentration index* asks how far one is from the other,
#
# $$CI@n=\frac{1}{2}\sum_i\frac{s_i}{S}\ln\frac{s'_i}{r'_i}+\frac{1}{2}\sum_i\frac{r_i}{R}
# \ln\frac{r'_i}{s'_i}\,,$$
#
# and the *long-tail index* in which direction,
#
# $$LTI_\lambda@n=\frac{1}{|I|}\sum_i\Bigl(\lambda-\frac{s_i}{S}\Bigr)\ln\frac{r'_i}{s'_i}\,.$$
#
# CI is 0 where items are listed in proportion to what was popular, and grows with the distance. LTI should
# grow where the long tail is listed more often than it was popular, and fall where the head is. The poster
# calls $\lambda$ a percentile of popularity, below which items should be listed more often. What it is
# compared with is a *share* of all ratings ([E16](#err-e16)), so that in a catalogue of thousands no item
# is above any $\lambda$ that one would choose. Beside it stands here $LTI|percentile$, which compares the
# percentile of the item, as the text promises.
#
# An older metric, *popularity reinforcement* $M$, asks which share of the items changes between a head
# (the most popular fifth) and a tail. The poster objects that the classes are arbitrary, and that what
# happens within a class is not seen. All of them, and Gini, Hoover, entropy and diversity, are
# [defined with examples](#metric-gini) on the page of notation.
#
# ### The claims
#
# Every assertion that can be measured has a criterion, written down before the result that it judges
# and locked by a hash. The ranks of the poster's figure are colours that cannot be read in our copy, so
# that its sentences are judged and not its cells.

# %% tags=["hide-input"]
HTML(pages.claims_of("concentration metrics"))

# %% [markdown] tags=["general"]
# ## By hand
#
# Four items, of which the first has most of the ratings, and lists that are more even:

# %% tags=["hide-input"]
Markdown(tables.example_table([6, 3, 1, 0], [4, 3, 2, 1]))

# %% [markdown] tags=["general"]
# A row is an item, and the last three columns what it adds. CI adds something positive wherever share and
# logarithm point the same way, which here is everywhere. LTI adds the logarithm, times a weight. As
# printed, the weight of the first item is 0.8 − 0.6: it is positive, so that listing the most popular item
# *less* often lowers LTI. With percentiles its weight is 0.8 − 0.875, and listing it less often raises LTI.
#
# And what would another order of the same counts do? Give the four counts of lists to the items in reverse:
# Gini, Hoover, entropy, diversity and coverage stay, to the last digit. CI and LTI do not.

# %% tags=["hide-input"]
Markdown(tables.example_table([6, 3, 1, 0], [1, 2, 3, 4]))

# %% [markdown]
# ## Predict before measuring
#
# Three questions. Commit yourself first.
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
# ::::
#
# ::::{predict} A system lists items at random. What is its Gini coefficient?
# - 0, since all items have the same chance
# - above 0
# - that depends on what was popular before
#
# :::{finding} own/CHANCE-GINI
# holds: Above 0: {value:.2f} on these data, by chance alone. (And a little by what was popular: nobody is
#   shown an item that they have rated.)
# refuted: Not above 0 here: {value:.2f}.
# open: That is open here: {value:.2f}.
# :::
# ::::
#
# ::::{predict} LTI is to tell what Gini does not, by looking at what was popular before. How much of the differences of LTI between systems can be explained without looking at it?
# - about a tenth
# - about half
# - nearly all
#
# :::{finding} own/LTI-LOG-COUNT
# holds: Nearly all: {value}, by the mean logarithm of how often an item is listed.
# refuted: Not all: {value}, by the mean logarithm of how often an item is listed.
# open: {value} ({low} to {high}), by the mean logarithm of how often an item is listed.
# :::
# [Why](#sec-why-lti) is a line of algebra.
# ::::

# %% [markdown] tags=["general"]
# ## The experiment
#
# The systems of the poster, Random and Popularity as the two ends, and others, so that metrics can be
# compared over many. The poster prints neither split, threshold, length nor $\lambda$; one
# configuration was chosen before any result: lists of {glue:text}`cutoff` items, ratings of
# {glue:text}`min_rating` or more, the split {glue:text}`split`, and $\lambda=0.8$, the tail that a head of
# 20 % leaves. Values are measured in each fold and then averaged: pooled lists would have another $R$, and
# with it another LTI ([E17](#err-e17)).

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

# %% [markdown]
# {numref}`fig-poster-ranks` has the ranks, and here is its table.
# :::{finding} ATM15-C-GINI/1
# holds: The two metrics order the poster's systems neither as Gini does nor the other way round.
# refuted: Not both metrics, in each of their forms, order the poster's systems in another way than Gini does.
# open: Whether both metrics order the poster's systems in another way than Gini is open here.
# :::
# :::{finding} ATM15-C-GINI/2/2
# holds: One system is at both ends: among the two most even, and among the two that deviate least.
# refuted: No system is at both ends, among the two most even and among the two that deviate least.
# open: Whether a system is at both ends, among the two most even and among the two that deviate least, is
#   open here.
# :::
# :::{finding} ATM15-C-AGG/1
# holds: There are pairs of systems of which the one with fewer distinct items has the larger LTI.
# refuted: By one of the forms of LTI no pair of systems is such that the one with fewer distinct items has
#   the larger LTI.
# open: Whether there are pairs of systems of which the one with fewer distinct items has the larger LTI is
#   open here.
# :::

# %% tags=["hide-input"]
figures.ranked(measured, cutoff).show()

# %% [markdown] tags=["general"]
# ## What a value means
#
# Ranks say who is first, and not whether it matters. A value means something beside what chance gives:
#
# - *lists at random*: what somebody is listed who knows nothing at all;
# - *lists in proportion to the prior*: items are drawn for each user one after another, in proportion to
#   what was popular, but none twice and none that the user has rated;
# - *places in proportion to the prior*: every place of every list is filled by lot, whoever's it is. What
#   this gives, sampling alone gives.

# %%
references = measure.references(
    dataset,
    min_rating=min_rating,
    metrics=list(setup.of_chance(cutoff)),
    grid=measured.grid,
)

# %% tags=["hide-input"]
values = tables.values_frame(measured, references, cutoff)
Markdown(tables.values_table(values))

# %% [markdown]
# :::{finding} own/PROPORTION-CI
# holds: Lists that are drawn in proportion to what was popular have a CI of {value:.3f}: users who have
#   rated the popular items cannot be listed them, and nobody is listed one twice.
# refuted: -
# open: -
# :::
# :::{finding} own/POPULARITY-CI
# holds: CI of Popularity is {value} that of as many places filled by lot: one list for everybody is far from
#   being in proportion.
# refuted: CI of Popularity is {value} that of as many places filled by lot.
# open: CI of Popularity is {value} that of as many places filled by lot ({low} to {high}).
# :::

# %%
lorenz = measure.lorenz(dataset, min_rating=min_rating, cutoff=cutoff, grid=measured.grid)

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_lorenz
# :name: fig-lorenz
#
# Lorenz curves: what share of all recommendations the items have together that are in fewest lists.
# Gini is twice the area above a curve and below the diagonal, Hoover its largest gap. Dashed: the relevant
# training ratings. The same curve can belong to the same items, or to quite others.
# ```

# %% tags=["hide-input"]
figures.lorenz(lorenz).show()

# %% [markdown] tags=["general"]
# ## Nine lambdas
#
# The poster leaves $\lambda$ to the reader, between 0 and 1. How much does it matter?

# %%
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

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_lambdas
# :name: fig-lambdas
#
# Ranks by LTI for nine values of $\lambda$: in the first map as the poster prints it, in the second with the
# percentile that its text describes.
# ```

# %% tags=["hide-input"]
figures.by_lambda(lambdas, cutoff).show()

# %% [markdown]
# :::{finding} own/LTI-LAMBDAS
# holds: As printed, it hardly matters: from $\lambda=.1$ to $.9$ all systems keep their order
#   ($\tau$ = {value:.2f}). One column says what nine say.
# refuted: As printed, it matters here: from $\lambda=.1$ to $.9$ the order of the systems changes
#   ($\tau$ = {value:.2f}).
# open: As printed, from $\lambda=.1$ to $.9$ the systems have orders with $\tau$ = {value:.2f}
#   ({low:.2f} to {high:.2f}).
# :::
# :::{finding} own/LTI-PERCENTILE-LAMBDAS
# holds: With percentiles it does not matter either ($\tau$ = {value:.2f}).
# refuted: With percentiles $\lambda$ is a choice: $\tau$ between the two ends is {value:.2f}.
# open: With percentiles $\tau$ between the two ends is {value:.2f} ({low:.2f} to {high:.2f}).
# :::

# %% [markdown] tags=["general"]
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
# $$LTI_\lambda\approx\frac{\lambda}{|I|}\sum_i\ln(r_i+1)
# -\frac{\lambda}{|I|}\sum_i\ln(s_i+1)+\lambda\ln\frac{S+|I|}{R+|I|}\,.$$
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
# a value with those of lists in proportion, in the last rows of the table.
#
# For CI no such thing happens: its weights are shares in both sums, and the shares of few popular items
# decide. That is its strength, and why a handful of users can move it, so that it has no interval.
#
# ## Which metrics are one?
#
# Two metrics may be called one if Kendall's $\tau$ between the orders that they give to all systems
# cannot be below .9, whatever order the pairs have that they do not resolve.
#
# ```{glue:figure} fig_alike
# :name: fig-alike
#
# Kendall's $\tau$ between metrics over all systems of this page. Least first by Gini, Hoover and the two of
# popularity (ARP, PL), most first by all others, as in the poster's figure. Framed: surely above .9.
# ```

# %% tags=["hide-input"]
figures.alike(measured, cutoff).show()

# %% [markdown] tags=["general"]
# The same at other lengths $n$ of the lists, for all pairs whose $\tau$ is above .9 at any of them:

# %%
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

# %% tags=["hide-input"]
table = tables.lengths_table(measured, lengths, cutoff)
Markdown(f"{table}\n\n{setup.lengths_note(dataset)}")

# %% [markdown]
# :::{finding} own/GINI-IS-HOOVER
# holds: Gini and Hoover are one metric here ($\tau$ = {value:.2f}).
# refuted: Gini and Hoover are not one metric here ($\tau$ = {value:.2f}).
# open: Whether Gini and Hoover are one metric is open here ($\tau$ = {value:.2f}, {low:.2f} to {high:.2f}).
# :::
# :::{finding} own/METRICS-ALIKE
# :::
#
# And what does LTI say over systems that plain statistics of the counts do not? Here is the share of its
# differences that each of three explains by a straight line ($R^2$).

# %%
explained = measure.explained(dataset, cutoffs=list(setup.lengths_of(dataset)), grid=measured.grid)

# %% tags=["hide-input"]
Markdown(tables.explained_table(explained))

# %% [markdown]
# :::{finding} own/LTI-ENTROPY
# holds: The entropy of the counts explains {value} of the differences of LTI in lists of ten.
# refuted: The entropy of the counts explains {value} of the differences of LTI in lists of ten, and no more.
# open: The entropy of the counts explains {value} of the differences of LTI in lists of ten ({low} to {high}).
# :::
# :::{finding} own/LTI-COVERAGE
# holds: The share of items that are in any list explains {value}.
# refuted: The share of items that are in any list explains {value} only.
# open: The share of items that are in any list explains {value} ({low} to {high}).
# :::
# :::{finding} own/LTI-PERCENTILE-LOG-COUNT
# holds: With percentiles in place of shares the mean logarithm of the counts still explains {value}.
# refuted: With percentiles in place of shares the mean logarithm of the counts explains {value} only: the
#   metric that the poster's text describes is another than the one that it prints.
# open: With percentiles in place of shares the mean logarithm of the counts explains {value} ({low} to
#   {high}).
# :::

# %% [markdown] tags=["general"]
# ## Where does a loop end?
#
# The poster's question is about what recommendations *do*, and one set of lists cannot show that. So let
# them become ratings. In twenty worlds of 500 users and 800 items, whose truth is known, a system learns
# and lists ten items for everybody; some of these are rated, by the truth; it learns again; eight times.
# Which of the listed items are rated, is a model of its own, and there are two:
#
# - *even*: each listed item is rated with probability .3;
# - *attentive*: the first places are seen more (as $1/\log_2(1+k)$ at place $k$), and what people like is
#   taken more often, in proportion to the rating that they would give.

# %%
loop = measure.loop(**LOOP, workers=workers)

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_loop_even
# :name: fig-loop-even
#
# *Even* choice: each listed item is rated with probability .3. Means over twenty worlds with their 95 %
# intervals. CI and LTI compare with what had been rated *before that round*, so that a system is measured
# against its own past; *truly liked* is the share of the places with an item that its user likes.
# ```
#
# ```{glue:figure} fig_loop_attentive
# :name: fig-loop-attentive
#
# *Attentive* choice: the first places and what is liked are rated more often.
# ```

# %% tags=["hide-input"]
for choice in CHOICES:
    figures.courses(loop, choice).show()

# %% [markdown] tags=["general"]
# Does a metric of the first lists foretell where the loop ends? Here is Spearman's correlation over the
# systems between each metric of the first lists and three of the last ones: how uneven they are, how far
# from the ratings of the *beginning*, and how much of them is truly liked. It is computed in each world;
# the table has means over the worlds and half of their 95 % intervals.

# %% tags=["hide-input"]
Markdown(tables.foretold_table(loop))

# %% [markdown]
# :::{finding} own/LOOP-GINI-GINI
# holds: Gini of the first lists foretells Gini of the last ones (correlation over the systems {value:.2f}).
# refuted: Gini of the first lists does not foretell Gini of the last ones well (correlation over the systems
#   {value:.2f}).
# open: Gini of the first lists foretells Gini of the last ones with a correlation of {value:.2f} ({low:.2f} to
#   {high:.2f}).
# :::
# :::{finding} own/LOOP-ATTENTIVE
# holds: Where people take what they like, it does as well ({value:.2f}).
# refuted: Where people take what they like, it does not do that well ({value:.2f}).
# open: Where people take what they like, it is {value:.2f} ({low:.2f} to {high:.2f}).
# :::
# :::{finding} own/LOOP-ATTENTIVE-CI
# holds: CI, there, foretells a little of it ({value:.2f}).
# refuted: CI does not, there: {value:.2f}.
# open: CI, there, says nothing of it that is sure: {value:.2f} ({low:.2f} to {high:.2f}).
# :::
# :::{finding} own/LOOP-CI-CI
# holds: What CI does foretell is how far a system will be from the beginning ({value:.2f}).
# refuted: Nor does CI foretell how far a system will be from the beginning ({value:.2f}).
# open: Whether CI foretells how far a system will be from the beginning is open ({value:.2f}).
# :::
# :::{finding} own/LOOP-P-P
# holds: Systems that are right in the beginning are right in the end ({value:.2f}),
# refuted: Systems that are right in the beginning need not be right in the end ({value:.2f}),
# open: Whether systems that are right in the beginning are right in the end is open ({value:.2f}),
# :::
# :::{finding} own/LOOP-ATTENTIVE-P
# holds: and so it is where people take what they like ({value:.2f}).
# refuted: and where people take what they like that is so as well, or not at all ({value:.2f}).
# open: and where people take what they like that is open ({value:.2f}).
# :::
# :::{finding} own/LOOP-AR
# holds: The lists of AR, the same for everybody but for what each has rated, become more uneven by
#   {value:.2f} of Gini over the loop.
# refuted: Even the lists of AR, which follow what was rated and nothing else, become no more uneven over the
#   loop (Gini changes by {value:.3f}): what a user has rated is not listed again, and the lists move down.
# open: Whether the lists of AR become more uneven over the loop is open ({value:.3f}).
# :::
# :::{finding} own/LOOP-BPR
# holds: Those of BPR do become more uneven (by {value:.3f}).
# refuted: Nor do those of BPR ({value:.3f}).
# open: Of those of BPR that is open ({value:.3f}).
# :::

# %% [markdown] tags=["general"]
# These are small worlds of one kind, where taste stays what it is, nothing is new, and the lists are the
# only way to find anything. They say which metric *can* foretell, and not how strong a loop is in a shop.

# %% [markdown] tags=["general"]
# ## Verdicts

# %%
checks = measure.checks(dataset, min_rating=min_rating, cutoff=cutoff, grid=measured.grid)
identities = measure.identities()  # what holds on any data, checked once in a world

# %%
results = {"systems": measured, **({} if lengths is None else {"lengths": lengths})}
results |= {"lambdas": lambdas, "checks": checks}
results |= {"explained": explained, "references": references, "lorenz": lorenz, "loop": loop}
verdicts = judge_chapter("concentration metrics", results)
HTML(verdict_cards(verdicts))

# %% tags=["hide-input"]
HTML(pages.options_details(results))

# %% tags=["remove-cell"]
state("concentration metrics", results, verdicts)

# %% [markdown] tags=["general"]
# ## What to report
#
# | when you | then |
# |---|---|
# | ask whether recommendations are even | report Gini, or its relatives, one of them: they are nearly one metric |
# | ask whether they follow what was popular | report CI, and say what $s$ counts |
# | ask in which direction they differ | report how popular the listed items are, as popularity lift (PL) does, whose 0 is what users rate; LTI as printed is a metric of evenness, and LTI with percentiles needs its $\lambda$ and the value of lists in proportion beside it |
# | report any of these | put the value of random lists and of lists in proportion to popularity beside it |
# | compare two data sets or two lengths | do not: all of them depend on the numbers of items and of places |
# | leave users or items out | say so: items in no list, and short lists, change all of them |
# | want to know where a loop ends | simulate it, and say how lists become ratings |
#
# ## What we had to decide
#
# - **The prior** of an item is its number of relevant training ratings ([how](#dev-concentration)).
# - **One configuration**, chosen before any result, since the poster prints none; the other lengths and
#   lambdas stand beside it.
# - **Folds are averaged**, and not pooled: with other totals CI and LTI are others ([E17](#err-e17)).
# - **Intervals** are those of the expected value at this number of users, only where simulated coverage is
#   at least 93 %; aggregate diversity, coverage, $M$ and CI have none, and there folds say which differences
#   are resolved.
# - **LRMF** is the model of its publication. LibRec 1.3, which the poster used, ranked items
#   arbitrarily under that name, so that cards say what is found without it, and with a random ranking in
#   its place.
# - **Items that nobody is listed** belong to every metric. {ref}`All decisions <sec-decisions>` are on one
#   page.
#
# ## On your data
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
# Four, from easy to hard, with starter code and a check that says whether the answer is right.
# Solutions fold out on the page; on paper they are left out.
#
# ````{exercise} Who is long tail?
# :label: ex-head
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

# %% [markdown] tags=["general"]
# ## Summary
#
# - Metrics of dispersion look at counts and not at whose they are. Most of them are nearly one metric.
# - CI compares with what was popular before, item by item, and says how far lists are from it, but not in
#   which direction. Without what chance gives beside it, its value says little.
# - LTI was meant to say the direction. As printed, it is a metric of evenness, times $\lambda$; the
#   percentiles that the text of the poster describes make it another metric, for which $\lambda$ matters, and
#   whose sign is not the direction either.
# - No metric of one set of lists is the answer to the question of the title. Whether the popular becomes
#   more popular follows from what happens next: who sees the lists, and what they do.
#
# ```{seealso}
# [Notation and glossary](#sec-symbols), [decisions](#sec-decisions), [errata](#sec-errata), and the
# {doc}`scorecard </notebooks/scorecard>` with every claim of the four papers.
# ```
