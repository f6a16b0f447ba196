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
# *Popularity* recommends to everybody what most people rated, and new recommenders are measured against
# it. To see what its score is made of, take taste away. Every item of one dataset keeps its number of
# ratings, and so does every user; but who rated what is drawn anew, and stars are dealt out from one
# and the same mix. In such a world there is nothing to recommend.
#
# ```{glue:figure} fig_skew
# :name: fig-skew
#
# Precision of Popularity on the ratings, and in worlds that have their counts and no taste, beside a
# random ranking: among all tested items, and with one relevant item among sampled ones. Black: 95 %
# intervals, over users and over worlds.
# ```
#
# What is left there is no recommending. It is a guess at which items are *in the test*, and a random
# split of the ratings makes it a good one.
#
# - **Without taste.**
#   :::{finding} own/SKEW-SHARE-AR
#   holds: {value} of Popularity's precision is still there ({low} to {high}): {glue:text}`skew_AR` of
#     {glue:text}`data_AR`.
#   refuted: Only {value} of Popularity's precision is left ({low} to {high}): {glue:text}`skew_AR` of
#     {glue:text}`data_AR`.
#   open: Of Popularity's precision {value} ({low} to {high}) is left: {glue:text}`skew_AR` of
#     {glue:text}`data_AR`.
#   :::
#   :::{finding} own/SKEW-SHARE-1R
#   holds: With one relevant item at a time, {value} ({low} to {high}).
#   refuted: With one relevant item at a time, only {value} ({low} to {high}).
#   open: With one relevant item at a time, {value} ({low} to {high}).
#   :::
# - **Without skew.**
#   :::{finding} BCC17-C-UNIF/2
#   holds: Where all items have as many ratings, Popularity scores *less* than a random ranking.
#   refuted: Where all items have as many ratings, Popularity does not even then score less than a
#     random ranking.
#   open: Whether Popularity scores less than a random ranking where all items have as many ratings, is
#     open.
#   :::
# - **Where the truth is known.**
#   :::{finding} own/MAP-OPPOSED-SEEN
#   holds: In worlds as skewed as MovieLens, where popular items are those that fewer people like, a
#     test gives Popularity {value} the score of a random ranking;
#   refuted: In worlds as skewed as MovieLens, where popular items are those that fewer people like, a
#     test notices: it gives Popularity {value} the score of a random ranking;
#   open: -
#   :::
#   :::{finding} own/MAP-OPPOSED-TRUE
#   holds: what people like of its lists is {value} what they like of random ones.
#   refuted: and people do like more of its lists than of random ones, {value} as much.
#   open: -
#   :::
#
# {cite:t}`BCC17` call this **popularity bias**. This chapter repeats Section 5 of their paper, and then
# measures what of a score is skew; [what to do about it](#sec-what-to-do) is its last word.

# %% [markdown] tags=["general"]
# **After this chapter you can**
# - say why a random split makes popularity predict what is tested, whatever people like;
# - build a world without taste from any dataset, and read from it what part of a score is skew;
# - explain why the most rated items may score less than a random ranking where all are alike;
# - tell when a comparison with Popularity says something about recommending, and when not.

# %% tags=["hide-input", "remove-output"]
from IPython.display import HTML, Markdown
from myst_nb import glue

from recbias import Grid, line_up, run
from recbias.book import choosing, non_personalised, pages
from recbias.book.cards import verdict_cards
from recbias.book.chapters.design_alternatives.setup import largest_sample
from recbias.book.chapters.popularity_bias import (
    SIMULATIONS,
    figures,
    law,
    measure,
    setup,
    tables,
)
from recbias.book.chapters.popularity_bias.concentration import (
    concentration_table,
    data_sets_beside,
)
from recbias.book.figures import use_book_style
from recbias.book.findings import state
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

# %% [markdown] tags=["general"]
# ## What the paper says
#
# {cite:t}`BCC17` derive in their Section 5 why popularity must do well. The argument has three steps,
# and none of them asks whether anybody likes what is popular.
#
# **A ranking that is the same for everybody** can hit only as often as its items are liked in the test
# data. By Eq. 3 (chapter 2) its expected precision grows with the positives of the items that it puts
# first, $|PR(i)|$ of item $i$:
#
# $$\mathbb E[P_s@n]=\frac{\sigma\,|\mathcal C|}{n\,t\,|\mathcal U|}
# \sum_{k\le n}\operatorname{avg}_u|PR(i_k)| .$$
#
# **A random split makes training foretell the test.** Both are samples of the same ratings, so that on
# average an item has as many test positives as its share in them says:
#
# $$\mathbb E|PR_{test}(i)|\propto|PR(i)|\propto\mathbb E|PR_{train}(i)|\propto|R_{train}(i)| .$$
#
# The last step takes a liked item to be a rated one and conversely, up to a factor.
#
# **So Popularity, which orders items by $|R_{train}(i)|$, is the best ranking of all that are the same
# for everybody**, says the paper, and the more so the more unevenly ratings are spread over items. The
# same for one relevant item at a time: for all rankings that are the same for everybody
#
# $$\frac{|\mathcal C|}{n\,t\,|PR|}\operatorname{avg}_u\sum_{k\le n}|PR(i_k)|\ \le\
# \mathbb E[1RP_s@n]\ \le\
# \frac{|\mathcal C|}{n\,t\,|PR|}\operatorname{avg}_u\sum_{k\le m_u}|PR(i_k)| .$$
#
# Here $m_u=n+|PR_{test}(u)|-1$, as in the lemma of chapter 1. (The paper prints $|\mathcal I|$ on the
# left, [E04](#err-e04).)
#
# ### The claims
#
# Every assertion that can be measured has a criterion, written down before the result that it judges
# and locked by a hash. What is asserted of simulated worlds is judged on simulated worlds, in all
# editions alike.

# %% tags=["hide-input"]
HTML(pages.claims_of("popularity bias"))

# %% [markdown]
# ## Predict before measuring
#
# Two questions about worlds in which nobody prefers anything: who rates what follows from how active
# users and how popular items are, and stars are drawn. Commit yourself first, to a size as well.
#
# ::::{predict} All items have equally many ratings. A fifth of the ratings, drawn at random, is the test; Popularity ranks by the others. Does it score like a random ranking?
# - like a random ranking
# - a little better: what luck put into training, it also put into the test
# - a little worse
#
# :::{finding} BCC17-C-UNIF/2
# holds: Worse. All items have as many ratings, so one with more of them in training has fewer left
#   for the test, and those items come first.
# refuted: Not worse here, against the argument of the paper.
# open: That is open here.
# :::
# :::{finding} BCC17-C-UNIF/3
# holds: It keeps {value} of Random's precision.
# refuted: It keeps only {value} of Random's precision, which is more than a little.
# open: -
# :::
# {numref}`fig-exponents` has both at its left end.
# ::::
#
# ::::{predict} Now a few items have most of the ratings, as in real data, and still nobody prefers anything. What does Popularity score with one relevant item among 99 sampled ones, where a random ranking scores 0.01?
# - 0.01 as well: there is nothing to recommend
# - about twice that
# - five times that, or more
#
# :::{finding} BCC17-F5C/1
# holds: At the steepest distribution it is {value} what it is where all items are alike, and nobody
#   prefers anything in either.
# refuted: At the steepest distribution it is only {value} what it is where all items are alike.
# open: That is open here.
# :::
# {numref}`fig-exponents` has all of the course.
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
figures.skew(pure_skew, setup.designs(size)).show()
for what in ("data", "skew"):
    glue(f"{what}_AR", tables.skew_quoted(pure_skew)[what], display=False)

# %% [markdown] tags=["general"]
# ## Does training foretell the test?
#
# The chain of the paper, link by link: items with many training ratings have many relevant test
# ratings. That is a fact about *splits*, before it is one about people.

# %%
chain = measure.chain(dataset, split=split, seed=seed, min_rating=min_rating)

# %% tags=["hide-input"]
figures.chain(chain).show()

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_chain
# :name: fig-chain
#
# Items in twenty groups by their training ratings, means over the folds. On the line relevant test
# ratings are proportional to training ratings, as the paper's argument has it. Groups without any are
# not shown.
# ```

# %% [markdown]
# :::{finding} BCC17-C-POPCHAIN/2
# holds: Over items, counts of ratings in training and in test correlate by {value:.2f},
# refuted: Over items, counts of ratings in training and in test correlate by only {value:.2f},
# open: -
# :::
# :::{finding} BCC17-C-POPCHAIN/7
# holds: training ratings and *relevant* test ratings by {value:.2f}.
# refuted: training ratings and *relevant* test ratings by only {value:.2f}.
# open: -
# :::
# :::{finding} BCC17-C-POPCHAIN/6
# holds: What is rated is liked about as often everywhere, as the last link of the chain has it: among
#   the most rated items {value} as often as among the least rated ones.
# refuted: The last link is not true: a rating of one of the most rated items is {value} as often a
#   relevant one as that of one of the least rated.
# open: -
# :::

# %% [markdown] tags=["general"]
# ## Is it the best ranking for everybody?
#
# If the chain held exactly, it would be. There are four candidates besides Random: to rank by the
# number of training ratings (*Popularity*), by that of training ratings that are relevant (*Positive
# count*), by the *Average rating*, and by the *Odds of a hit*: relevant training ratings over the
# number of users who lack the item in training, for only those can still be shown it.
#
# ::::{predict} Which of them has the highest precision among all tested items?
# - Popularity, as the paper says
# - Positive count: it counts what is liked, not what is rated
# - Average rating: it is about quality
# - Odds of a hit
#
# {numref}`fig-rankings` has the answer of these data.
# ::::

# %%
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

# %% [markdown]
# :::{finding} BCC17-C-POPOPT/5
# holds: No ranking that is the same for everybody beats Popularity on these data.
# refuted: Popularity is not the best of them: {which} scores more.
# open: Whether any of them beats Popularity on these data is open.
# :::
# :::{finding} BCC17-C-POPOPT/3
# holds: Items that a user has in training hardly matter, as the paper says.
# refuted: The paper calls negligible what users have in training already, and it is not: the most
#   popular items are in the training data of many users, who cannot be shown them any more.
# open: -
# :::
# What is counted matters, too: ratings, or those that say liking. In the figure, the step from
# Popularity to Positive count is what liking is worth; that from Positive count to Odds of a hit, what
# it is worth to ask who can still be shown an item.

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

# %%
simulated = {}
for name, given in SIMULATIONS.items():
    simulated[name] = getattr(measure, name)(**given, workers=workers)

# %%
fitted = measure.fitted(dataset)

# %% tags=["hide-input"]
Markdown(tables.fits_table(fitted))

# %% [markdown] tags=["general"]
# Fitted to the data of this page by least squares, the law has the constants of this table. That little
# tells exponents apart is why the paper's 1.4 is one of several readings.

# %% tags=["hide-input"]
figures.power_laws(simulated["laws"], law.ALPHAS).show()

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_laws
# :name: fig-laws
#
# The paper's Figure 5, left: the share of all ratings that the most popular items have.
# ```

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
# :::{finding} BCC17-F5C/2
# holds: Popularity gains with every step of the exponent, though nobody prefers anything.
# refuted: Popularity does not gain with every step of the exponent.
# open: Whether Popularity gains with every step of the exponent is open.
# :::
# :::{finding} BCC17-F5C/6
# holds: pLSA, which is trained to tell tastes apart, learns popularity instead, and stays within
#   {value} of Popularity.
# refuted: pLSA does not match Popularity at every exponent: it strays by up to {value}.
# open: Whether pLSA matches Popularity at every exponent is open.
# :::
# :::{finding} BCC17-F5C/4
# holds: Where popularity is skewed, from exponent 0.8 on, it stays within {value}.
# refuted: Not even from exponent 0.8 on does it stay close: it strays by up to {value}.
# open: -
# :::
# :::{finding} BCC17-F5C/3
# holds: kNN and MF, read as predictors of ratings, stay near Random: they ask how much a user would
#   like an item, and there is no answer to be found.
# refuted: kNN and MF, read as predictors of ratings, do not both stay near Random: {value} is how far
#   one of them goes.
# open: Whether kNN and MF, read as predictors of ratings, stay near Random is open.
# :::
# :::{finding} BCC17-F5C/8
# holds: What counts of items alone predict is within {value} of what Popularity scores.
# refuted: What counts of items alone predict is up to {value} away from what Popularity scores.
# open: -
# :::
#
# :::{finding} BCC17-C-AR5
# yes: With all relevant items in one list (AR) it is the same.
# partly: With all relevant items in one list (AR) it is the same in part; the card of BCC17-C-AR5 says
#   where it is not.
# no: With all relevant items in one list (AR) it is not the same.
# undecided: Whether it is the same with all relevant items in one list (AR) is open.
# :::
# :::{finding} BCC17-C-5METRICS
# yes: Recall, AP, reciprocal rank and nDCG show the same, whole lists or cut off.
# partly: Recall, AP, reciprocal rank and nDCG show the same in part.
# no: Recall, AP, reciprocal rank and nDCG do not show the same.
# undecided: Whether recall, AP, reciprocal rank and nDCG show the same is open.
# :::

# %% [markdown] tags=["general"]
# ## How skewed are data?
#
# Worlds with an exponent are made up. Where do real ratings stand, and where the judgements of a search
# engine? The paper sets recommendation data beside those of TREC, the conference at which search
# engines are compared. TREC's judgements are not at hand here. What the paper prints of them is enough,
# though: 129,277 documents with 149,811 positive judgements, of which 87.2 % answer a single query and
# none more than 25. Counts that fit these numbers differ little, and the flattest and the steepest of
# them can be written down.

# %%
concentration = measure.concentration(dataset, min_rating=min_rating)

# %% tags=["hide-input"]
figures.collections(concentration).show()

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_collections
# :name: fig-collections
#
# The paper's Figure 5, right: of all positives, the share that the most liked items have, over items
# that have one. For TREC the band between the flattest and the steepest counts that the printed numbers
# allow. The paper's other datasets, Netflix and Last.fm, are not at hand.
# ```

# %% tags=["hide-input"]
Markdown(concentration_table(data_sets_beside(concentration)))

# %% [markdown]
# :::{finding} BCC17-F5R/1/1
# holds: On this dataset, as the paper says of its own, positives are long-tailed: Gini coefficient {value},
# refuted: On this dataset positives are not as long-tailed as the paper says of its own: Gini coefficient
#   {value},
# open: -
# :::
# :::{finding} BCC17-F5R/1/2
# holds: with half of them on {value} of the items,
# refuted: with half of them on as many as {value} of the items,
# open: -
# :::
# :::{finding} BCC17-F5R/2
# holds: and TREC is considerably flatter: the coefficient here is {value} the largest that TREC can
#   have.
# refuted: and TREC is not much flatter: the coefficient here is {value} the largest that TREC can have.
# open: -
# :::

# %% [markdown] tags=["general"]
# Section 5.3 of the paper names what this comparison leaves out: documents that answer no query, which
# search engines receive with the others. They are not in the printed counts, and items that nobody
# likes are left out of ours.

# %% [markdown] tags=["general"]
# ## Verdicts

# %%
checks = measure.checks(dataset, min_rating=min_rating, seed=seed)
identities = measure.identities()  # what printed numbers force, beside any data

# %% tags=["hide-input"]
results = {"systems": measured, "baselines": rankings, "predicted": predicted, "chain": chain}
results |= {"pure_skew": pure_skew, "concentration": concentration, "fitted": fitted}
results["checks"] = checks
verdicts = judge_chapter("popularity bias", results)
HTML(verdict_cards(verdicts))

# %% tags=["hide-input"]
HTML(pages.options_details(results))

# %% tags=["remove-cell"]
state("popularity bias", results, verdicts)

# %% [markdown] tags=["general"]
# A part **holds** or **is refuted** if the whole 95 % interval lies on one side of its criterion, and
# **is open** if it lies on both. **Yes**: all parts hold. **No**: some are refuted and none holds.
# **Partly**: some hold and some are refuted. **Undecided**: none is refuted, some are open.

# %% [markdown] tags=["general"]
# ## Why
#
# ### Why less than a random ranking?
#
# Training and test are complements. If all items have $c$ ratings, one with $|R_{train}(i)|$ of them in
# training has $c-|R_{train}(i)|$ in the test: the order of Popularity is the reverse of what the test
# holds. In real data $|R(i)|$ differs much more than luck makes the split differ, and the effect
# drowns.

# %% [markdown]
# :::{finding} BCC17-C-UNIF/5
# holds: In worlds where all items are alike the two are indeed opposed: over items, training ratings
#   and relevant test ratings correlate by {value:.2f}.
# refuted: In worlds where all items are alike the two are not opposed: over items, training ratings and
#   relevant test ratings correlate by {value:.2f}.
# open: -
# :::

# %% [markdown] tags=["general"]
# ### Why does the closed form not bound Popularity?
#
# The lemma of chapter 1 bounds 1RP by ordinary precision in the same sets, and cannot fail. The paper
# then puts in what precision it expects, and gets bounds in closed form, for all rankings that are the
# same for everybody. On the way it takes every item to be in a target set with the same chance,
# $p(i\in T_u)=|T_u|/|\mathcal C|$. But an item that many have in training is a target for few, and
# it is Popularity that puts these items first ([E05](#err-e05)).

# %% tags=["hide-input"]
figures.closed_form(simulated["skew"], simulated["laws"], "P@10|t=100").show()

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_closed
# :name: fig-closed
#
# Popularity in worlds without taste: what it scores, the bounds of the lemma, measured in each world,
# and the lower bound of the paper's closed form, with $|\mathcal C|$ on both sides ([E04](#err-e04)).
# Its $i_k$ can be read in two ways: as the first items of the whole ranking, or as those of the lists
# in the target sets, where a sample has left out most of the popular ones.
# ```

# %% [markdown]
# :::{finding} own/CLOSED-WHOLE
# holds: Read over the whole ranking, the lower bound in closed form is above what it is to bound at
#   every exponent, {value} as large at least.
# refuted: Read over the whole ranking, the lower bound in closed form stays below what it is to bound at
#   some exponents.
# open: -
# :::
# :::{finding} own/CLOSED-ABOVE
# holds: Read over the target sets it is no bound either: at one of the exponents it is {value} what it
#   is to bound ({low} to {high}).
# refuted: Read over the target sets it stays below what it is to bound.
# open: -
# :::
# :::{finding} BCC17-EQ-1RPOP/4
# holds: On the ratings of this page the rankings for everybody do stay within the closed forms.
# refuted: On the ratings of this page the closed forms fail, too: one of the rankings for everybody
#   scores {value} of its bound.
# open: -
# :::
# :::{finding} own/LEMMA-HOLDS
# holds: The lower bound of the lemma itself holds in every world.
# refuted: The lower bound of the lemma itself fails in some world, which it cannot.
# open: -
# :::

# %% [markdown] tags=["general"]
# ## Beyond the paper: what part of a score is skew?
#
# ### The counts of real data, without taste
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
#
# The same worlds give a floor for every system: what one gets for knowing nothing but how often items
# are rated. The table sets the line-up beside it.

# %% tags=["hide-input"]
Markdown(tables.floor_table(measured, pure_skew))

# %% [markdown]
# :::{finding} own/SKEW-OVER-RANDOM
# holds: The floor is {value} what a random ranking scores among all tested items: a system that stays
#   below it gets less than counts alone would. That is no verdict on its taste: a system that avoids
#   what is popular falls below it, too, however well it knows its users.
# refuted: The floor is only {value} what a random ranking scores among all tested items.
# open: -
# :::

# %% [markdown] tags=["general"]
# ### Is Popularity overrated?
#
# It may deserve its score, if what is popular is liked. That is known in worlds alone, and of datasets
# with ratings of items that were drawn at random. By the truth a recommender's lists hold so many times
# the liked items of random lists: its *true* factor. By a test with one relevant item per run it scores
# so many times what a random ranking scores: its *observed* factor. The second over the first is how
# far the test overrates it.
#
# What is popular relates to what is liked by a number from -1, entirely opposed, to 1, entirely agreeing:
# Spearman's correlation, over items, of the number of ratings and of the share of users who like the item.
#
# ::::{predict} Popular items are the less liked ones. What does the test say of Popularity?
# - that it is worse than a random ranking, which is true
# - that it is about as good
# - that it is better than a random ranking
#
# :::{finding} own/MAP-OPPOSED-SEEN
# holds: That it is better: {value} as good, where popularity and liking are entirely opposed and as
#   skewed as on MovieLens.
# refuted: That it is no better: {value} as good, where popularity and liking are entirely opposed.
# open: -
# :::
# :::{finding} own/MAP-OPPOSED-TRUE
# holds: By the truth its lists hold {value} the liked items of random lists.
# refuted: By the truth its lists do not hold fewer liked items than random ones, but {value} as many.
# open: -
# :::
# {numref}`fig-map` has other kinds of worlds.
# ::::

# %% tags=["hide-input"]
figures.overrated(simulated["relation_map"], simulated["points"]).show()

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_map
# :name: fig-map
#
# Worlds of the size of MovieLens 100K, which are the same in every edition. Colours: how many times the
# true factor the observed one is; black line: where they are equal. Points: where CM100k, Coat and the
# synthetic world lie, of which liking is known from an unbiased sample or from the truth.
# ```

# %% [markdown]
# :::{finding} own/MAP-AGREEING
# holds: Even where popularity and liking agree entirely, and are as skewed as on MovieLens, the test
#   overrates Popularity by a factor of {value:.1f} ({low:.1f} to {high:.1f}).
# refuted: Where popularity and liking agree entirely, the test does not overrate Popularity: its factor
#   is {value:.1f} ({low:.1f} to {high:.1f}).
# open: Whether the test overrates Popularity where popularity and liking agree entirely is open: a
#   factor of {low:.1f} to {high:.1f}.
# :::
# :::{finding} own/POINTS-OVERRATED
# holds: On all three datasets on the map it is overrated, by a factor of {value:.1f} at least ({low:.1f} to
#   {high:.1f}).
# refuted: On one of the three datasets on the map it is not overrated: the factor is {value:.1f}.
# open: On one of the three datasets on the map that is open: a factor of {low:.1f} to {high:.1f}.
# :::

# %% [markdown] tags=["general"]
# (sec-what-to-do)=
# ## What to do about it
#
# | when you | then |
# |---|---|
# | report a system | report Popularity *and* Random under the same design; without them nobody can tell what the value is made of |
# | compare with Popularity | measure both on `world(counts=...)` of your data, too: that score asks nothing about taste |
# | report a winner | look whether its lists are more popular still (`ARP@10` of the [notation page](#metric-arp)) |
# | choose a design | know that one relevant item per run takes sparsity away, and not popularity |
# | compare two datasets | compare their skew first |
# | can collect ratings | ask some users about items drawn at random; nothing else tells which part of the map you are in |
#
# The {doc}`next chapter <04_overcoming_popularity_bias>` is about designs that are made against this bias,
# and about what unbiased ratings say of them.

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
# Four, from easy to hard, with starter code and a check that says whether the answer is right.
# Solutions fold out on the page; on paper they are left out.
#
# ````{exercise} What is left for the test
# :label: ex-complement
#
# An item has `n_ratings` ratings, `n_liked` of them relevant. A random split put `in_training` of its
# ratings into training. How many relevant test ratings do you expect? Of two items with as many
# ratings, which does Popularity put first, and which has more left to be found?
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
#
# Show one item to every user who does not have it in training. Of `n_users` users `in_training` have
# it there, and `in_test` others have it in the test and like it. What share of the times is it a hit?
# Which of its three numbers does Popularity know?
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

# %% [markdown] tags=["general"]
# ## Summary
#
# - A random split makes training counts foretell test counts. Whoever knows what is rated often knows
#   what will be tested.
# - A world without taste shows what that alone is worth. Random is the floor for nothing known; this is
#   the floor for nothing known but counts.
# - Training and test are complements: where all items are alike, the most rated in training are the
#   least rated in the test.
# - "Best of all rankings for everybody" rests on two assumptions that popular items break: many users
#   have them already, and a rating does not say liking equally often for every item.
# - One relevant item per run does not take popularity bias away.
# - Whether what is popular is liked, observed ratings cannot tell.
#
# ```{seealso}
# [Notation and glossary](#sec-symbols), [decisions](#sec-decisions), [errata](#sec-errata), and the
# {doc}`scorecard </notebooks/scorecard>` with every claim of the four papers.
# ```
