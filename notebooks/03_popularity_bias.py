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
# # Is popularity a good recommender, or a good guess at what is tested?
#
# :::{finding} own/SKEW-SHARE-AR
# holds: **A good guess, for a large part.** With the same counts of ratings, but no taste, *Popularity* keeps
#   {value:.0%} of its precision ({low:.0%} to {high:.0%}).
# refuted: **A guess for a small part only.** With the same counts of ratings, but no taste, *Popularity* keeps
#   {value:.0%} of its precision ({low:.0%} to {high:.0%}).
# open: **A good guess, perhaps.** With the same counts of ratings, but no taste, *Popularity* keeps {value:.0%} of
#   its precision ({low:.0%} to {high:.0%}).
# :::
#
# **What to do.** Print Popularity *and* Random beside every system, and what Popularity scores on your counts
# without taste ([five rules](#sec-what-to-do)).
#
# ```{glue:figure} fig_skew
# :name: fig-skew
#
# Popularity recommends to everybody what most people rated. Without taste: each item and each user keeps their
# number of ratings, but who rated what, and with how many stars, is drawn. Black: 95 % intervals.
# ```
#
# Where nobody prefers anything there is nothing to recommend: a random split gives away what will be *tested*.
#
# :::{finding} own/MAP-OPPOSED-SEEN
# holds: **Whether it recommends well, a test does not say.** In worlds as skewed as MovieLens, where popular
#   items are those that fewer people like, the test scores it {value:.1f} times as high as a random ranking;
# refuted: **That it recommends badly, a test does notice.** In worlds as skewed as MovieLens, where popular
#   items are those that fewer people like, the test scores it only {value:.1f} times as high as a random ranking;
# open: -
# :::
# :::{finding} own/MAP-OPPOSED-TRUE
# holds: people like only {value:.0%} as many of the items that it lists as of random ones.
# refuted: people like {value:.1f} times as many of the items that it lists as of random ones.
# open: -
# :::
# What people like, only ratings of items that were drawn at random can tell.

# %% [markdown] tags=["general"]
# ## One case by hand
#
# Four items have 100 ratings, and a fifth of each item's is in the test. Show one of them to everybody who does not
# have it in training: a hit is a user who rates it in the test, and likes it. Popularity shows A.
#
# | item | ratings | in the test | hits, each liked by half | hits, liked by 20, 40, 60, 80 % |
# |---|---|---|---|---|
# | A | 60 | 12 | 6 | 2.4 |
# | B | 25 | 5 | 2.5 | 2.0 |
# | C | 10 | 2 | 1 | 1.2 |
# | D | 5 | 1 | 0.5 | 0.8 |
#
# In the first world half of all people like each item: nobody prefers anything, and yet A has twelve times the
# hits of D. To know what is rated often is not to know what is good, but what will be asked. In the second world
# the more popular item is the less liked one, and A has most hits all the same: it is rated most, and of those who
# would like D hardly anybody is asked.
#
# {cite:t}`BCC17` call this **popularity bias**. This chapter repeats Section 5 of their paper, and then
# measures what of a score is skew.
#
# **After this chapter you can** say why a random split makes popularity predict what is tested, whatever people
# like; build a world without taste from any dataset, and read from it what part of a score is skew; work out what
# a ranking by training counts scores in such a world, and why; and tell when a comparison with Popularity says
# something about recommending. *About 45 minutes; all you need is [precision](#sec-metrics).*

# %% tags=["hide-input", "remove-output"]
from IPython.display import HTML, Markdown
from myst_nb import glue

from recbias import Grid, line_up, run
from recbias.book import choosing, non_personalised, pages
from recbias.book.cards import verdict_table
from recbias.book.chapters.design_alternatives.setup import largest_sample
from recbias.book.chapters.popularity_bias import SIMULATIONS, figures, measure, setup, tables
from recbias.book.chapters.popularity_bias.concentration import (
    concentration_table,
    data_sets_beside,
)
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
begin_page("03_popularity_bias")
min_rating = top_rating(dataset) if min_rating is None else min_rating
n_seeds = n_seeds or seeds.training_seeds(dataset)
size = choosing.choose_size(dataset, size, min_rating=min_rating, split=split, seed=seed)
quoted = choosing.written(size=size, min_rating=min_rating, cutoff=cutoff, n_seeds=n_seeds)
for name, text in quoted.items():
    glue(name, text, display=False)

# %% [markdown]
# ## Predict before measuring
#
# Three questions; the first two are about worlds in which nobody prefers anything: who rates what follows from
# how active users and how popular items are, and stars are drawn. Commit yourself first, to a size as well.
#
# ::::{predict} All items have equally many ratings. A fifth of the ratings, drawn at random, is the test; Popularity ranks by the others. Does it score like a random ranking?
# - like a random ranking
# - a little better: what luck put into training, it also put into the test
# - a little worse
#
# :::{finding} BCC17-C-UNIF/2
# holds: Worse. All items have as many ratings, so one with more of them in training has fewer left
#   for the test, and those items come first ([by hand](#sec-complements)).
# refuted: Not worse here, against the argument of the paper.
# open: That is open here.
# :::
#
# :::{right}
# 3: BCC17-C-UNIF/2 holds
# 1 2: BCC17-C-UNIF/2 refuted
# :::
# ::::
#
# ::::{predict} Now a few items have most of the ratings, as in real data, and still nobody prefers anything. What does Popularity score with one relevant item among 99 sampled ones, where a random ranking scores 0.01?
# - 0.01 as well: there is nothing to recommend
# - up to four times that
# - more than four times that
#
# :::{finding} BCC17-F5C/1
# holds: At the steepest distribution it is {value:.1f} times what it is where all items are alike, and nobody
#   prefers anything in either.
# refuted: At the steepest distribution it is only {value:.1f} times what it is where all items are alike.
# open: That is open here.
# :::
# {numref}`fig-exponents` has all of the course.
#
# :::{right}
# 1: BCC17-F5C/1 below 1.2
# 2: BCC17-F5C/1 below 4
# 3: BCC17-F5C/1 above 4
# :::
# ::::
#
# ::::{predict} On the ratings of this page, which ranking, the same for everybody, has the highest precision among all tested items: one by the number of training ratings (Popularity), of those that are relevant (Positive count), by the average rating, or by the odds of a hit (relevant ratings over the users who can still be shown the item)?
# - Popularity, as the paper says
# - Positive count: it counts what is liked, not what is rated
# - Average rating: it is about quality
# - Odds of a hit
#
# :::{finding} BCC17-C-POPOPT/5
# holds: Popularity: none of the others beats it on these data.
# refuted: Not Popularity, though the paper says so: of all, {which} is farthest ahead of it.
# open: {which} and Popularity cannot be told apart here.
# :::
# :::{finding} own/SHOWN-OVER-LIKES
# holds: -
# refuted: -
# open: Between Positive count and Odds of a hit these data do not decide.
# :::
# {numref}`fig-rankings` has all of them.
#
# :::{right}
# 1: BCC17-C-POPOPT/5 holds
# 2 4: BCC17-C-POPOPT/5 refuted of Positive count and own/SHOWN-OVER-LIKES open
# 2 4: BCC17-C-POPOPT/5 refuted of Odds of a hit and own/SHOWN-OVER-LIKES open
# 2: BCC17-C-POPOPT/5 refuted of Positive count
# 3: BCC17-C-POPOPT/5 refuted of Average rating
# 4: BCC17-C-POPOPT/5 refuted of Odds of a hit
# :::
# ::::

# %% [markdown] tags=["general"]
# ## The experiment
#
# Five rankings that are the same for everybody are measured on the ratings, and the line-up of
# chapter 1. One relevant item at a time is ranked *in expectation*: its rank among all others tells what
# samples of {glue:text}`size` give on average ([how](#metric-expected)), and none has to be drawn.

# %%
protocols = {
    "AR": f"TI-AN-AR rel>={min_rating}",
    "all-1R": f"TI-AN-1R rel>={min_rating}",
}
precision, of_runs = f"P@{cutoff}", f"P@{cutoff}|t={size}"
measured = run(
    Grid(
        dataset,
        with_seeds(line_up(systems), n_seeds),
        protocols,
        {"AR": (precision,), "all-1R": (of_runs,)},
        split=split,
        seed=seed,
        replicates=[("AR", precision), ("all-1R", of_runs)],
    ),
    workers=workers,
    name="systems",
)

# %% tags=["hide-input"]
Markdown(pages.data_line(measured))

# %% [markdown] tags=["general"]
# Then Popularity alone, in worlds that have the counts of these data and no taste.

# %%
n_sampled = largest_sample(dataset, size, min_rating=min_rating, split=split, seed=seed)
pure_skew = measure.pure_skew(
    dataset,
    min_rating=min_rating,
    split=split,
    cutoff=cutoff,
    size=size,
    n_sampled=n_sampled,
    seed=seed,
    workers=workers,
)

# %% tags=["hide-input", "remove-output"]
figures.skew(pure_skew).show()

# %% [markdown] tags=["general"]
# Behind this code: items by their counts, what theory predicts of each ranking, how skewed data are, and simulated
# worlds, which are the same in all editions. The verdicts at the end read them.

# %% tags=["hide-input", "remove-output"]
chain = measure.chain(dataset, split=split, seed=seed, min_rating=min_rating)
rankings = run(
    Grid(
        dataset,
        with_seeds(non_personalised.baselines(min_rating), n_seeds),
        {**protocols, "all-1R whole": f"TI-AN-1R rel>={min_rating}"},
        non_personalised.baseline_metrics(cutoff, size),
        split=split,
        seed=seed,
    ),
    workers=workers,
    name="baselines",
)
predicted = predict(
    dataset, min_rating=min_rating, split=split, cutoff=cutoff, size=size, seed=seed
)
simulated = {}
for name, given in SIMULATIONS.items():
    simulated[name] = getattr(measure, name)(**given, workers=workers)
fitted = measure.fitted(dataset)
concentration = measure.concentration(dataset, min_rating=min_rating)
checks = measure.checks(dataset, min_rating=min_rating, seed=seed)
identities = measure.identities()  # what printed numbers force, beside any data

# %% [markdown] tags=["general"]
# ## Does training foretell the test?
#
# {cite:t}`BCC17` derive why popularity must do well. Their argument has three steps, and none of them asks
# whether anybody likes what is popular.
#
# **A ranking that is the same for everybody** can hit only as often as its items are liked in the test
# data. By Eq. 3 ({doc}`chapter 2 <02_sparsity_bias>`) its expected precision grows with the relevant ratings,
# $|PR(i)|$, of the $n$ items that it puts first:
#
# $$\mathbb E[P_s@n]=\frac{\sigma\,|\mathcal C|}{n\,t\,|\mathcal U|}
# \sum_{k\le n}\operatorname{avg}_u|PR(i_k)| .$$
#
# (A share $\sigma$ of the ratings is the test; $t$ of the $|\mathcal C|$ candidates are ranked for each of
# $|\mathcal U|$ users.)
#
# **A random split makes training foretell the test.** Both are samples of the same ratings, so that on
# average an item has as many test positives as its share in them says:
#
# $$\mathbb E|PR_{test}(i)|\propto|PR(i)|\propto\mathbb E|PR_{train}(i)|\propto|R_{train}(i)| .$$
#
# The last step takes it that an item is liked as often as it is rated, up to a factor that all items share.
#
# **So Popularity, which orders items by $|R_{train}(i)|$, is the best ranking of all that are the same
# for everybody**, says the paper, and the more so the more unevenly ratings are spread over items. The second
# step is a fact about *splits*, before it is one about people:

# %% tags=["hide-input"]
figures.chain(chain).show()

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_chain
# :name: fig-chain
#
# Items in twenty groups by their training ratings, means over the folds. On the line relevant test
# ratings are proportional to training ratings, as the paper's argument has it. Groups without a relevant
# test rating are not shown.
# ```

# %% [markdown]
# The last link, from rated to liked, is another matter.
# :::{finding} BCC17-C-POPCHAIN/6
# holds: It holds here: ratings of the most rated tenth of the items are {value:.1f} times as often relevant as
#   those of the least rated tenth (BCC17-C-POPCHAIN).
# refuted: It does not hold: ratings of the most rated tenth of the items are {value:.1f} times as often relevant
#   as those of the least rated tenth (BCC17-C-POPCHAIN).
# open: -
# :::
#
# ::::{admonition} One relevant item at a time: a bound that is none
# :class: dropdown
#
# The lemma of chapter 1 bounds 1RP by ordinary precision in the same sets, and cannot fail. The paper
# then puts in what precision it expects, and has for all rankings that are the same for everybody
#
# $$\frac{|\mathcal C|}{n\,t\,|PR|}\operatorname{avg}_u\sum_{k\le n}|PR(i_k)|\ \le\
# \mathbb E[1RP_s@n]\ \le\
# \frac{|\mathcal C|}{n\,t\,|PR|}\operatorname{avg}_u\sum_{k\le m_u}|PR(i_k)| ,$$
#
# with $m_u=n+|PR_{test}(u)|-1$ (printed with $|\mathcal I|$ on the left, [E04](#err-e04)). On the way it takes
# every item to be in a target set with the same chance, $p(i\in T_u)=|T_u|/|\mathcal C|$. But an item that
# many have in training is a target for few, and it is Popularity that puts these items first
# ([E05](#err-e05)). What it scores in worlds without taste, and what this lower bound is there, however its
# $i_k$ are read, stands among the [findings at the end](#sec-verdicts-3); BCC17-EQ-1RPOP judges it on the
# data of this page.
# ::::

# %% [markdown] tags=["general"]
# ## Is it the best ranking for everybody?
#
# If the chain held exactly, it would be. There are four candidates besides Random: to rank by the
# number of training ratings (*Popularity*), by that of training ratings that are relevant (*Positive
# count*), by the *Average rating*, and by the *Odds of a hit*: relevant training ratings over the
# number of users who lack the item in training, for only those can still be shown it.

# %% tags=["hide-input"]
figures.rankings(rankings, predicted).show()

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_rankings
# :name: fig-rankings
#
# Rankings that are the same for everybody, among all tested items. Bars: measured, with 95 % intervals
# over users. Marks: predicted from counts of items alone, by the paper's Eq. 3 and by a form that
# counts, for each item, the users who can still be shown it.
# ```
#
# The step from Popularity to Positive count is what it is worth to count likes; that from Positive count to Odds of a
# hit, to ask who can still be shown an item, which the paper calls negligible (BCC17-C-POPOPT). The two marks
# of a row are predictions that differ by the same question. Both treat all users alike. But who rates much has the
# first items already, is shown the next ones, and has more of these in the test: so bars can reach further.

# %% [markdown] tags=["general"]
# ## Worlds without taste
#
# How much of that is skew? The paper makes datasets in which it is nothing else. The $k$-th item gets
# $|R(i_k)|=c_1+\beta(c_2+k)^{-\alpha}$ ratings; who gives them is drawn, and so are the stars, from
# the shares that they have on MovieLens 1M. Users, items and ratings are as many as there: $\beta$ is
# what makes the counts add up, $c_2$ flattens the head and $c_1$ lifts the tail. The exponent
# $\alpha$ goes from 0, where all items are alike, to 2 ([how we read the law](#dev-power-law)). A
# system can find in such a world what is *rated*. It cannot find what is liked, because everything is
# liked alike.

# %% tags=["hide-input"]
figures.exponents(simulated["skew"], "P@10|t=100", name="1RP@10").show()

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_exponents
# :name: fig-exponents
#
# The paper's Figure 5, centre: one relevant item among 99 sampled, at 10, in worlds without taste.
# Whiskers: 95 % intervals over worlds (Student's t), 20 for Popularity and Random, five for systems
# that are trained. Diamonds: the two values that the paper prints.
# ```

# %% [markdown]
# There is nothing to be learned here but counts, and pLSA, which is made to tell tastes apart, learns these. kNN and
# MF are read as predictors of ratings. They ask how much a user would like an item; as nobody prefers anything,
# the paper has both at the level of Random.
# :::{finding} own/KNN-WITHOUT-TASTE
# holds: But kNN reaches {value:.1f} times what Random scores: even a predictor of ratings can live on skew.
# refuted: So they are: kNN has at most {value:.1f} times what Random scores.
# open: Of kNN that is open: it reaches {low:.1f} to {high:.1f} times what Random scores.
# :::
# (More: each line, BCC17-F5C; all relevant items in one list, BCC17-C-AR5; other metrics, BCC17-C-5METRICS; how
# uneven counts are, BCC17-F5L.)

# %% tags=["hide-input"]
Markdown(tables.fits_table(fitted))

# %% [markdown] tags=["general"]
# ## How skewed are data?
#
# Worlds with an exponent are made up. Where do real ratings stand, and where the judgements of a search
# engine? The paper sets recommendation data beside those of TREC, the conference at which search
# engines are compared. TREC's judgements are not at hand here. What the paper prints of them is enough,
# though: 129,277 documents with 149,811 positive judgements, of which 87.2 % answer a single query and
# none more than 25. Counts that fit these numbers differ little, and the flattest and the steepest of
# them can be written down.

# %% tags=["hide-input"]
figures.collections(concentration).show()

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_collections
# :name: fig-collections
#
# The paper's Figure 5, right: of all positives, the share that the most liked items have, over items
# that have one. For TREC the band between the flattest and the steepest counts that the printed numbers
# allow. The paper's other datasets, Netflix and Last\.fm, are not at hand.
# ```

# %% [markdown]
# :::{finding} BCC17-F5R/2
# holds: TREC is considerably flatter, as the paper says: the Gini coefficient of the likes of this page is
#   {value:.1f} times the largest that TREC can have.
# refuted: TREC is not much flatter: the Gini coefficient of the likes of this page is {value:.1f} times the
#   largest that TREC can have.
# open: -
# :::
# A measure that is fair to search engines need not be fair to recommenders. (Section 5.3 of the paper names what
# the comparison leaves out: documents that answer no query. They are not in the printed counts, and items that
# nobody likes are left out of ours.)

# %% tags=["hide-input"]
beside = concentration_table(data_sets_beside(concentration))
Markdown(folded("How skewed each dataset is", beside))

# %% [markdown] tags=["general"]
# (sec-complements)=
# ## Why less than a random ranking?
#
# Training and test are complements. Four items have 25 ratings each, and luck puts a few more of some of them
# into training:
#
# | item | ratings | in training | in the test |
# |---|---|---|---|
# | A | 25 | 22 | 3 |
# | B | 25 | 20 | 5 |
# | C | 25 | 20 | 5 |
# | D | 25 | 18 | 7 |
#
# Popularity shows A first, of which least is left to be found. If all items have $c$ ratings, one with
# $|R_{train}(i)|$ of them in training has $c-|R_{train}(i)|$ in the test: the order of Popularity is the reverse of
# what the test holds (BCC17-C-UNIF). In real data $|R(i)|$ differs much more than luck makes the split differ, and
# the effect drowns.

# %% [markdown] tags=["general"]
# ## Beyond the paper: what part of a score is skew?
#
# Worlds with an exponent have made-up counts. Those of any dataset do as well: `world(counts=ml-1m)`
# has the users and items of MovieLens 1M, each with their number of ratings, and nobody prefers
# anything in it. What Popularity scores there, over what it scores on the ratings, is the part of its
# score that needs no taste. (It is no lower bound of what skew contributes, nor an upper one: taste and
# skew work together in the ratings.)

# %% tags=["hide-input"]
figures.shares(pure_skew, setup.designs(size)).show()

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_shares
# :name: fig-shares
#
# What Popularity scores in worlds with the counts of a dataset and no taste, over what it scores on the
# ratings. Whiskers: 95 % intervals, over users and over worlds. At 1 the counts alone give as much as
# the ratings do, beyond 1 more.
# ```

# %% [markdown]
# The same worlds give a floor for every system: what one gets for knowing nothing but how often items
# are rated.
# :::{finding} own/SKEW-OVER-RANDOM
# holds: It is {value:.0f} times what Random scores on these ratings among all tested items: a system that stays
#   below it gets less than counts alone would.
# refuted: It is only {value:.1f} times what Random scores on these ratings among all tested items.
# open: It is {low:.1f} to {high:.1f} times what Random scores on these ratings among all tested items.
# :::
# That is no verdict on taste: a system that avoids what is popular falls below the floor, too, however well it
# knows its users.

# %% tags=["hide-input"]
Markdown(tables.floor_table(measured, pure_skew))

# %% [markdown]
# ## Is Popularity overrated?
#
# It may deserve its score, if what is popular is liked. That is known only in simulated worlds, and of datasets
# with ratings of items that were drawn at random. There two factors can be held against each other. By what people
# like, its lists hold $A$ times as many liked items as random lists. In a test, with one relevant item per run, it
# scores $B$ times what a random ranking scores. The test overrates it by $B/A$.
#
# The *relation* of popularity and liking goes from −1 (the more popular, the less liked) to 1 (the more liked):
# Spearman's correlation, over items, of the number of ratings and of the share of users who like the item.
#
# ::::{predict} The relation is 1, and items are rated as unevenly as on MovieLens. How many times too good does a test make Popularity look?
# - it does not: Popularity is as good as it looks
# - somewhat, but less than one and a half times
# - one and a half times, or more
#
# :::{finding} own/MAP-AGREEING
# holds: It does even there: {value:.1f} times ({low:.1f} to {high:.1f}).
# refuted: It does not: {value:.1f} times ({low:.1f} to {high:.1f}).
# open: That is not decided: {low:.1f} to {high:.1f} times.
# :::
#
# :::{right}
# 3: own/MAP-AGREEING above 1.5
# 2: own/MAP-AGREEING holds
# 1: own/MAP-AGREEING refuted
# :::
# ::::

# %% tags=["hide-input"]
figures.overrated(simulated["relation_map"]).show()

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_overrated
# :name: fig-overrated
#
# Worlds of the size of MovieLens 100K and about as skewed, which are the same in every edition. In the
# test: with one relevant item among 99 sampled. 1: as good as a random ranking. Whiskers: 95 % intervals over worlds.
# ```

# %% [markdown]
# A test notices little of what people like: its line rises far less than the other. And data? Of three datasets
# liking is known, from ratings of random items or from how the world was made.
# :::{finding} own/POINTS-OVERRATED
# holds: On all three Popularity is overrated, surely {low:.1f} times or more.
# refuted: On one of them Popularity is not overrated: the factor is {value:.1f}.
# open: On one of them that is open: a factor of {low:.1f} to {high:.1f}.
# :::

# %% tags=["hide-input"]
HTML(tables.points_table(simulated["points"]))

# %% [markdown] tags=["general"]
# Skew: Gini coefficient of the items' numbers of ratings. In a test ($B$) and by what people like ($A$): times a
# random ranking. Overrated: $B/A$. 95 % intervals over users.

# %% [markdown] tags=["general"]
# (sec-what-to-do)=
# ## What to do, and what to write
#
# 1. **Print Popularity and Random under the same design as every system.** Without them nobody can tell what a value
#    is made of ({numref}`fig-skew`).
# 2. **Measure Popularity on your counts without taste, too** (`world(counts=...)`), and call it the floor of counts
#    ({numref}`fig-shares`). Before you compare two datasets, compare how skewed they are (BCC17-F5R).
# 3. **Beat the best ranking that is the same for everybody,** and not only Popularity: count likes, too
#    ({numref}`fig-rankings`; BCC17-C-POPOPT).
# 4. **Do not take one relevant item per run for a remedy.** It takes sparsity away, and not popularity
#    ({numref}`fig-exponents`; BCC17-F5C).
# 5. **Before you credit a winner with taste,** look whether its lists are more popular still
#    ([`ARP@10`](#metric-arp)). Whether the popular is liked, observed ratings cannot tell: ask some users about items
#    drawn at random ({numref}`fig-overrated`).
#
# The {doc}`next chapter <04_overcoming_popularity_bias>` is about tests that are made against this bias,
# and about what unbiased ratings say of them. For a methods section, of this page's values:

# %% tags=["hide-input"]
Markdown(f"{pages.methods_sentence(measured, 'AR')} {tables.floor_sentence(pure_skew)}")

# %% [markdown] tags=["general"]
# (sec-verdicts-3)=
# ## Verdicts
#
# Every assertion that can be measured has a criterion, locked by a hash. Many were written or changed after pilot
# values had been seen; the pages of these claims say *pilot seen*. What is asserted of simulated worlds is judged on
# simulated worlds, in all editions alike. A claim is **yes** if all of its core holds, **no** if none of it does and
# some is refuted, **partly** if some holds and some is refuted, **undecided** if none is refuted and some is open.
# *Corrected*: without a mistake of the paper ([errata](#sec-errata)).

# %% tags=["hide-input"]
results = {"systems": measured, "baselines": rankings, "predicted": predicted, "chain": chain}
results |= {"pure_skew": pure_skew, "concentration": concentration, "fitted": fitted}
results["checks"] = checks
verdicts = judge_chapter("popularity bias", results)
HTML(verdict_table(verdicts))

# %% tags=["hide-input"]
stated = state("popularity bias", results, verdicts)
HTML(pages.claims_of("popularity bias") + findings_table(stated))

# %% tags=["hide-input"]
HTML(pages.options_details(results))

# %% tags=["remove-cell"]
stated

# %% [markdown] tags=["general"]
# ## What we had to decide
#
# - **The power law**: the paper prints neither its constants nor how it fitted them. We hold
#   $c_1=0$ and $c_2=317$ for all exponents ([why](#dev-power-law)).
# - **TREC** is judged by what printed numbers allow ([how](#dev-trec)).
# - **MF and kNN** are read as predictors of ratings where the paper's Figure 5 is judged, as in
#   chapter 1 ([E25](#err-e25)); summed similarities and matrices with zeros follow popularity.
# - **1R** is measured in expectation over samples, in sets of {glue:text}`size`
#   ([more](#metric-expected)).
# - **Ties** of Popularity are broken by one seeded key per user and item ([why](#dev-ties)).
# - **Intervals** over users on data, over worlds in simulations ([more](#dev-intervals)).
#   {ref}`All decisions <sec-decisions>` are on one page.
#
# ## On your data
#
# In a clone of the book:
#
# ```bash
# recbias run 03_popularity_bias --dataset my_ratings.csv -p min_rating 4
# ```
#
# The [rerun page](#rerun-own-table) says what the table must look like. A world without taste that has
# the counts of a dataset is a dataset by name: `recbias run 01_design_alternatives --dataset
# "world(counts=ml-100k)"` repeats chapter 1 where nobody prefers anything.
#
# ## Exercises
#
# Five, of three levels: by hand, in code, and one on your own data, with starter code and a check that says
# whether the answer is right.
#
# :::{drill} complement
# A random split left this much of an item in training. How many **relevant test ratings** do you expect?
# :::
#
# ````{exercise} What is left for the test
# :label: ex-complement
# :class: core
#
# An item has `n_ratings` ratings, `n_liked` of them relevant. A random split put `in_training` of its
# ratings into training. How many relevant test ratings do you expect? The check then says which of two
# items with as many ratings Popularity puts first, and which has more left to be found: guess before.
#
# ```python
# from recbias.book.chapters.popularity_bias.exercises import check_complement
#
# def expected(n_ratings, n_liked, in_training):
#     return ...  # relevant ratings of the item in the test
#
# check_complement(expected)
# ```
# ````
#
# ````{solution} ex-complement
# :class: dropdown
#
# ```python
# from recbias.book.chapters.popularity_bias.exercises import check_complement
#
# def expected(n_ratings, n_liked, in_training):
#     return n_liked * (n_ratings - in_training) / n_ratings
#
# check_complement(expected)
# ```
#
# Every rating is as likely as any other to be among those left. With equal `n_ratings` the number
# falls with `in_training`, by which Popularity ranks.
# ````
#
# ````{exercise} Who can still be shown it?
# :label: ex-hit-chance
# :class: core
#
# Show one item to every user who does not have it in training. Of `n_users` users `in_training` have
# it there, and `in_test` others have it in the test and like it. What share of the times is it a hit?
# Which of the three numbers Popularity knows the check says then: guess before.
#
# ```python
# from recbias.book.chapters.popularity_bias.exercises import check_hit_chance
#
# def hit_chance(n_users, in_training, in_test):
#     return ...
#
# check_hit_chance(hit_chance)
# ```
# ````
#
# ````{solution} ex-hit-chance
# :class: dropdown
#
# ```python
# from recbias.book.chapters.popularity_bias.exercises import check_hit_chance
#
# def hit_chance(n_users, in_training, in_test):
#     return in_test / (n_users - in_training)
#
# check_hit_chance(hit_chance)
# ```
#
# The paper divides by all users instead, and so underrates items that many have in training. Popularity
# knows `in_training` (and `n_users`, which is the same for all items), and not `in_test`. Estimated from
# training ratings, this is how the ranking *Odds of a hit* works.
# ````
#
# ````{exercise} What printed numbers force
# :label: ex-printed
# :class: warm-up
#
# A paper prints of its collection: 12 documents answer some query, with 22 answers in all; 7 of them
# answer one query only, and the most useful one answers 4. Write down the flattest and the steepest
# counts per document that fit.
#
# ```python
# from recbias.book.chapters.popularity_bias.exercises import check_printed
#
# check_printed(flattest=..., steepest=...)  # two lists of 12 numbers
# ```
# ````
#
# ````{solution} ex-printed
# :class: dropdown
#
# ```python
# from recbias.book.chapters.popularity_bias.exercises import check_printed
#
# check_printed(
#     flattest=[4, 3, 3, 3, 2, 1, 1, 1, 1, 1, 1, 1],
#     steepest=[4, 4, 3, 2, 2, 1, 1, 1, 1, 1, 1, 1],
# )
# ```
#
# Seven documents have one answer each, so five share fifteen, two at least each. One has 4; what is
# left goes to the others as evenly, or as unevenly, as it can.
# ````
#
# ````{exercise} What a world without taste keeps
# :label: ex-kept
# :class: warm-up
#
# `world(counts=ml-100k)` has the counts of a dataset and no preferences. Which of these does it keep,
# up to the luck of a draw?
#
# ```python
# from recbias.book.chapters.popularity_bias.exercises import check_kept
#
# kept = {
#     "ratings of each item": ...,  # True or False
#     "ratings of each user": ...,
#     "who rated what": ...,
#     "share of five stars among all ratings": ...,
#     "share of five stars of each item": ...,
# }
# check_kept(kept)
# ```
# ````
#
# ````{solution} ex-kept
# :class: dropdown
#
# ```python
# from recbias.book.chapters.popularity_bias.exercises import check_kept
#
# kept = {
#     "ratings of each item": True,
#     "ratings of each user": True,
#     "who rated what": False,
#     "share of five stars among all ratings": True,
#     "share of five stars of each item": False,
# }
# check_kept(kept)
# ```
#
# Pairs are drawn anew under the counts of users and items, and each star from one and the same mix. So
# Random's precision among all tested items stays about the same, too: it hangs on counts alone.
# ````
#
# ````{exercise} How steep is your table?
# :label: ex-own-counts
# :class: research
#
# Count the ratings of each item in a table of your own; one that came with a course, or was made by a simulation, does
# not count. Which share of all ratings lies on the most popular tenth of the items, rounded up to whole items?
#
# ```python
# from recbias.book.chapters.popularity_bias.exercises import check_own_counts
#
# counts = ...  # the number of ratings of each item that has any, of your own table
# check_own_counts(counts=counts, tenth=...)
# ```
# ````
#
# ````{solution} ex-own-counts
# :class: dropdown
#
# ```python
# from recbias.book.chapters.popularity_bias.exercises import check_own_counts
#
# counts = [60, 40, 12, 10, 9, 8, 7, 6, 6, 5, 5, 4, 4, 3, 3, 2, 2, 2, 1, 1, 1]
# check_own_counts(counts=counts, tenth=sum(counts[:3]) / sum(counts))
# ```
#
# The numbers here are made up; yours come from your table. With pandas:
# `table.item_id.value_counts().tolist()`.
# ````

# %% [markdown] tags=["general"]
# ## Summary
#
# A random split makes training counts foretell test counts, so that whoever knows what is rated often knows what will
# be tested: a world without taste shows what that alone is worth, and it is the floor for knowing nothing but
# counts. One relevant item per run does not take this away, and where all items are alike it turns round, since
# training and test are complements. Whether what is popular is liked as well, and Popularity is a good recommender, no
# test by observed ratings tells.
#
# ```{seealso}
# [Notation and glossary](#sec-symbols), [decisions](#sec-decisions), [errata](#sec-errata), and the
# {doc}`scorecard </notebooks/scorecard>` with every claim of the four papers.
# ```
