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
# # Does a test without popularity bias come nearer to the truth?
#
# :::{finding} own/UNIFORM-OPPOSED
# holds: **Yes where popular items are those that fewer people like:** a *uniform* test, which tests all items
#   equally often, orders systems more truly there than a plain one (its agreement with the true order, $\tau$, is
#   larger by {value:.2f}, {low:.2f} to {high:.2f}).
# refuted: **Not even where popular items are those that fewer people like:** a *uniform* test, which tests all
#   items equally often, does not order systems more truly there than a plain one.
# open: Even where popular items are those that fewer people like, it is not decided whether a *uniform* test, which
#   tests all items equally often, orders systems more truly than a plain one.
# :::
# :::{finding} own/BPREF-OPPOSED
# holds: With recorded dislikes bpref does better still, {value:.2f} more than the uniform test ({low:.2f} to {high:.2f}).
# refuted: Not even bpref, which needs recorded dislikes, does better than the uniform test.
# open: Whether bpref, which needs recorded dislikes, does better than the uniform test is not decided.
# :::
# :::{finding} own/UNIFORM-AGREE
# holds: **No where they are those that more people like:** a uniform test takes away what was deserved, and a plain
#   one is nearer, by {value:.2f} ({low:.2f} to {high:.2f}).
# refuted: Where they are those that more people like, a plain one is not nearer.
# open: Where they are those that more people like, which is nearer is not decided.
# :::
# :::{finding} own/BPREF-AGREE
# holds: There bpref is last of the three, {value:.2f} behind the next ({low:.2f} to {high:.2f}).
# refuted: There bpref is not last of the three.
# open: Whether bpref is last of the three there is not decided.
# :::
# :::{finding} own/TRUTH-CM-AR-OVER-BPREF-P
# holds: On CM100k, real data of that kind, it has, of {cases} pairs of systems, {value:cases} fewer right than a plain
#   test ({low:cases} to {high:cases}).
# refuted: On CM100k, real data of that kind, it has no fewer pairs of systems right than a plain test.
# open: On CM100k, real data of that kind, it cannot be told from a plain test.
# :::
#
# **What to do.** If ratings say dislike, report bpref beside the plain test, never instead. Likes alone cannot say in which of these
# worlds you are: say what you assume about popularity and liking, and report both tests. Best are judgments of random
# items ([five rules](#sec-what-to-do-about-tests)).
#
# ```{glue:figure} fig_nearer
# :name: fig-nearer
#
# Each test orders ten systems by the ratings that it sees. $\tau$ says how far that is their true order (1: all of it,
# 0: a coin): by how many of their first ten items people like, rated or not, which is known in simulated worlds. From
# left to right: worlds from "the more popular, the less liked" to "the more liked". Whiskers: 95 % intervals over
# worlds.
# ```
#
# :::{finding} own/TRUTH-CM-AR-P
# holds: **On real data** that know the truth, CM100k, where popular items are liked more, a plain test misleads: it has
#   {value:cases} of {cases} pairs of systems in the order that is true by the first ten.
# refuted: **On real data** that know the truth, CM100k, where popular items are liked more, a plain test already has
#   {value:cases} of {cases} pairs of systems in the order that is true by the first ten.
# open: **On real data** that know the truth, CM100k, where popular items are liked more, a plain test has {value:cases}
#   of {cases} pairs of systems in the order that is true by the first ten, which may be chance.
# :::

# %% [markdown] tags=["general"]
# ## One case by hand
#
# Four items, 21 ratings; a test is to have six of them, and an item must keep half of its ratings for
# training. A random test draws any six. A uniform test asks how many items can give equally many: three can
# give two each, and D cannot.
#
# | item | ratings | of them likes | likes in a random test | in a uniform test |
# |---|---|---|---|---|
# | A | 10 | 8 | 2.3 | 1.6 |
# | B | 6 | 3 | 0.9 | 1.0 |
# | C | 4 | 1 | 0.3 | 0.5 |
# | D | 1 | 1 | 0.3 | not tested |
#
# In the random test A has most likes because it has most *ratings*. In the uniform test it still has most,
# now because most of its ratings *are* likes. Popularity (A, B, C, D) wins both. Whether it deserves to is in
# no column: that would be how many of those who did *not* rate an item would like it. And of D, liked by
# everyone who tried it, the uniform test says nothing.
#
# **After this chapter you can** build a uniform test, and say when data do not allow one; say what the score of
# Popularity in such a test is made of; and choose a test by what you believe about popularity and
# liking. *About 45 minutes; you need* {doc}`chapter 3 <03_popularity_bias>`*.*

# %% tags=["hide-input", "remove-output"]
from IPython.display import HTML, Markdown
from myst_nb import glue

from recbias import Grid, line_up, run
from recbias.book import choosing, non_personalised, pages
from recbias.book.cards import verdict_table
from recbias.book.chapters.design_alternatives.setup import READINGS
from recbias.book.chapters.overcoming_popularity_bias import (
    SIMULATIONS,
    figures,
    measure,
    nearest,
    setup,
    true_orders,
    truth_tables,
    uniform_tests,
    worlds,
)
from recbias.book.chapters.overcoming_popularity_bias.best import (
    LIKES_ONLY,
    best_protocols,
    best_table,
)
from recbias.book.chapters.overcoming_popularity_bias.kept import kept_grids, kept_systems
from recbias.book.chapters.popularity_bias import concentration
from recbias.book.explorer import explorer_html
from recbias.book.figures import use_book_style
from recbias.book.findings import findings_table, state
from recbias.claims import judge_chapter
from recbias.data.datasets import top_rating
from recbias.experiment import training_seeds as seeds
from recbias.experiment.results import begin_page
from recbias.recommenders import bcc17_grid, with_seeds

# %% tags=["parameters"]
dataset: str = "ml-1m"
min_rating: float | None = None  # smallest relevant rating; none = top of the scale
cutoff: int = 10  # 1 to 1000: length n of the lists
size: int | None = None  # 2 to 100000: size of a 1R target set; none = 100, or as a table allows
split: str = "k-fold 5"
sigma: float = 0.2  # 0.001 to 0.99: share of all ratings that a uniform test has
eps: float = 0.2  # 0.001 to 0.99: least share of an item's ratings that it leaves for training
systems: str = "bcc17"  # one of bcc17, modern: line-up of systems
seed: int = 1  # 0 to 1000000
n_draws: int = 5  # 1 to 100: independent draws of a uniform test, averaged
n_seeds: int | None = None  # 1 to 100: of random training; none = 5 on published data, else 1
workers: int = 2  # 1 to 64: processes; results do not depend on them

# %% tags=["remove-cell"]
use_book_style()
begin_page("04_overcoming_popularity_bias")
min_rating = top_rating(dataset) if min_rating is None else min_rating
n_seeds = n_seeds or seeds.training_seeds(dataset)
size = choosing.choose_size(dataset, size, min_rating=min_rating, split=split, seed=seed)
quoted = choosing.written(size=size, min_rating=min_rating, cutoff=cutoff, n_draws=n_draws)
for name, text in (quoted | choosing.observed_items()).items():
    glue(name, text, display=False)
simulated = {}
for name, given in SIMULATIONS.items():
    simulated[name] = getattr(measure, name)(**given, workers=workers)

# %% tags=["hide-input", "remove-output"]
figures.nearer(simulated["worlds"]).show()

# %% [markdown]
# ## Predict before measuring
#
# ::::{predict} In a uniform test every item has as many test ratings as any other, and say that all of them are relevant. What does Popularity score with one relevant item among 99 sampled ones, where a random ranking scores 0.01?
# - 0.01 as well, exactly: all items are alike in the test
# - more, but less than three times that
# - three times that or more, as in a random split
#
# :::{finding} own/ALLPOS-OVER
# holds: More, although the paper has 0.01: {value} what a random ranking scores.
# refuted: No more than a random ranking, as the paper has it.
# open: -
# :::
# How that comes about: {numref}`fig-kept`.
#
# :::{right}
# 1: own/ALLPOS-OVER refuted
# 2: own/ALLPOS-OVER below 3
# 3: own/ALLPOS-OVER above 3
# :::
# ::::
#
# ::::{predict} Which remedy leaves Popularity least of its advantage over a random ranking?
# - to take the most popular tenth of the items out
# - a uniform test
# - to rank items among equally popular ones (percentiles)
#
# :::{finding} BCC17-F8-1R/4
# holds: Percentiles.
# refuted: Not percentiles: a uniform test leaves it less.
# open: Percentiles and a uniform test cannot be told apart here.
# :::
# All of them: {numref}`fig-over-random`.
#
# :::{right}
# 3: BCC17-F8-1R/4 holds
# 2: BCC17-F8-1R/4 refuted
# 2 3: BCC17-F8-1R/4 open
# :::
# ::::
#
# ::::{predict} bpref counts how many items that a user dislikes stand above a liked one. What does it measure on data where every judgment is a like?
# - the same as elsewhere, with less noise
# - nothing: it is 1 for every list
# - what share of the liked items a system lists at all
#
# The last. No judged item can stand above a liked one, so that each one listed counts as 1. A random
# ranking lists all of them.
#
# :::{right} 3
# :::
# ::::

# %% [markdown] tags=["general"]
# ## The experiment
#
# {cite:t}`BCC17` cut the tie between an item's ratings and its test ratings in two ways (Sections 6 and 7).
#
# **Percentiles (P1R).** Order the items by their training ratings, cut them into $m$ groups of equal size,
# rank each relevant item among sampled ones of its own group, and average over groups. Within a group
# popularity differs little, and all groups weigh the same.
#
# **Uniform tests (U1R, UAR).** Choose a set $T$ of items and give each the same number $\eta$ of test
# ratings. The test is to have a share $\sigma$ of all ratings, and every item of $T$ keeps a share
# $\varepsilon$ of its own for training. With items by falling number of ratings $|R(i_k)|$ the largest such
# $T$ has the first $\zeta$ items:
#
# $$\zeta=\max\{k: (1-\varepsilon)\,|R(i_k)|\,\frac{k}{|R|}\ge\sigma\}$$
#
# The quota is what the last of them can spare (printed without the floor: [E09](#err-e09)):
#
# $$\eta=\lfloor(1-\varepsilon)\,|R(i_\zeta)|\rfloor$$
#
# U1R ranks one relevant item at a time among sampled ones of $T$, UAR all of $T$. An older remedy
# {cite:p}`cremonesi2010` takes the most popular tenth of the items, the *head*, out of the test.
#
# Every system is trained twice: on random folds, and on {glue:text}`n_draws` uniform splits, whose results
# are averaged. Tests with one relevant item are taken *in expectation* over samples of {glue:text}`size`
# ([how](#metric-expected)).

# %%
plans = measure.uniform_plans(dataset, test_share=sigma, kept_share=eps)
n_tested = uniform_tests.tested_items(plans, sigma)
protocols = {
    "AR": f"TI-AN-AR rel>={min_rating}",
    "AR-level": f"TI-AN-AR rel>={min_rating}",
    "AI": f"AI-AN-AR rel>={min_rating}",
    "1R": f"TI-AN-1R rel>={min_rating}",
    "head": f"TI-AN-1R rel>={min_rating}",
    "P1R": f"TI-AN-P1R m=10 rel>={min_rating}",
    "control": f"TI-AN-1R +train rel>={min_rating}",
    "P1R-micro": f"TI-AN-P1R m=10 rel>={min_rating} users=runs",
}
measured = run(
    Grid(
        dataset,
        with_seeds(line_up(systems), n_seeds),
        protocols,
        setup.metrics(cutoff, size, setup.levelled_sample(n_tested)),
        split=split,
        seed=seed,
        tests={"head": "observed head=10%"},
    ),
    workers=workers,
    name="systems",
)
uniform_protocols = {
    "UAR": f"TI-AN-AR rel>={min_rating}",
    "AI-UAR": f"AI-AN-AR rel>={min_rating}",
    "U1R": f"TI-AN-1R rel>={min_rating}",
    "U1R-AI": f"AI-AN-1R rel>={min_rating}",
    "U1R-control": f"TI-AN-1R +train rel>={min_rating}",
    "U1R-narrow": f"TI-AN-P1R m=10 rel>={min_rating} users=runs",
}
uniform = run(
    Grid(
        dataset,
        with_seeds(line_up(systems), n_seeds),
        uniform_protocols,
        setup.uniform_metrics(cutoff, size),
        split=f"uniform {sigma} eps={eps} draws={n_draws}",
        seed=seed,
    ),
    workers=workers,
    name="uniform",
)

# %% tags=["hide-input"]
Markdown(pages.data_line(measured))

# %% [markdown] tags=["general"]
# Behind this code: parameter settings and a threshold a star lower, controls for popularity, and the truth
# where data have one. The verdicts at the end read them.

# %% tags=["hide-input", "remove-output"]
others = {}
references = ("Random", "Popularity", "pLSA")
chosen = [system for system in line_up(systems) if system.name in references]
for parts in READINGS.values():
    chosen += [system for part in parts for system in bcc17_grid(part)]
metrics = setup.setting_metrics(cutoff, size)
for name, rule, texts, labels in (
    ("grid", split, protocols, ("AR", "AI", "1R", "P1R")),
    ("uniform_grid", uniform.grid.split, uniform_protocols, ("UAR", "U1R")),
):
    others[name] = run(
        Grid(
            dataset,
            with_seeds(chosen, n_seeds),
            {label: texts[label] for label in labels},
            {label: metrics[label] for label in labels},
            split=rule,
            seed=seed,
        ),
        workers=workers,
        name=name,
    )
chosen = [system for system in line_up(systems) if system.name in setup.FIGURE_8]
lower = min_rating - 1
looser = {
    "AR": f"TI-AN-AR rel>={lower}",
    "1R": f"TI-AN-1R rel>={lower}",
    "head": f"TI-AN-1R rel>={lower}",
    "P1R": f"TI-AN-P1R m=10 rel>={lower}",
    "UAR": f"TI-AN-AR rel>={lower}",
    "U1R": f"TI-AN-1R rel>={lower}",
}
metrics = setup.threshold_metrics(lower, cutoff, size)
for name, rule, labels in (
    ("threshold", split, ("AR", "1R", "head", "P1R")),
    ("uniform_threshold", uniform.grid.split, ("UAR", "U1R")),
):
    others[name] = run(
        Grid(
            dataset,
            with_seeds(chosen, n_seeds),
            {label: looser[label] for label in labels},
            {label: metrics[label] for label in labels},
            split=rule,
            seed=seed,
            tests={"head": "observed head=10%"} if "head" in labels else {},
        ),
        workers=workers,
        name=name,
    )
kept = {}
shown = {"cutoff": cutoff, "size": size, "uniform": uniform.grid.split}
asked = kept_grids(min_rating, **shown, lowest=choosing.lowest_rating(dataset))
for name, given in asked.items():
    grid = Grid(dataset, kept_systems(min_rating), seed=seed, **{"split": split, **given})
    kept[name] = run(grid, workers=workers, name=name)
one_draw = setup.one_draw(uniform.grid.split)
positive_ratio = measure.positive_ratio(dataset, min_rating=min_rating, seed=seed, uniform=one_draw)
draws = measure.uniform_draws(
    dataset,
    min_rating=min_rating,
    seed=seed,
    cutoff=cutoff,
    size=size,
    uniform=one_draw,
)
rankings = run(
    Grid(
        dataset,
        with_seeds(non_personalised.baselines(min_rating), n_seeds),
        {
            "AR": f"TI-AN-AR rel>={min_rating}",
            "all-1R": f"TI-AN-1R rel>={min_rating}",
            "all-1R whole": f"TI-AN-1R rel>={min_rating}",
        },
        non_personalised.baseline_metrics(cutoff, size),
        split=uniform.grid.split,
        seed=seed,
    ),
    workers=workers,
    name="uniform_baselines",
)
predicted = measure.uniform_predicted(
    dataset,
    min_rating=min_rating,
    split=uniform.grid.split,
    cutoff=cutoff,
    size=size,
    seed=seed,
)
of_truth = {}
given = {"cutoff": cutoff, "size": size, "uniform": uniform.grid.split, "seed": seed}
for name, asked in true_orders.true_orders_asked(dataset, **given).items():
    of_truth[name] = measure.true_orders(dataset, **asked, workers=workers, name=name)
percentiles = measure.percentiles(dataset, grid=measured.grid)
checks = measure.checks(
    dataset,
    min_rating=min_rating,
    seed=seed,
    cutoff=cutoff,
    size=size,
    grid=measured.grid,
    test_share=sigma,
    kept_share=eps,
)
identities = measure.identities()  # what holds on any data, checked once in a world

# %% [markdown] tags=["general"]
# **What data allow.** Every item of $T$ has to give as many ratings as the least popular of them can spare,
# so that $T$ and $\sigma$ cannot both be large. What is outside $T$ is neither tested nor ranked. Below: how many
# items are in $T$, their share of all items, and the test ratings of each.

# %% tags=["hide-input"]
Markdown(uniform_tests.uniform_table(concentration.data_sets_beside(plans), sigma))

# %% [markdown] tags=["general"]
# ## What remedies leave of Popularity

# %% tags=["hide-input"]
figures.over_random({"systems": measured, "uniform": uniform}, cutoff).show()

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_over_random
# :name: fig-over-random
#
# What Popularity scores over what a random ranking is expected to score under the same test; 1: no advantage.
# AR, sampled: all relevant items of a user among as many others as a uniform test has; whole catalogue: a uniform test
# whose rivals are all items. Whiskers: 95 % intervals over users, of uniform tests over draws too.
# ```

# %% [markdown]
# :::{finding} BCC17-F8-1R/1/2
# holds: Of the advantage that Popularity has with one relevant item at a time, a uniform test (U1R) leaves
#   {value:.0%} ({low:.0%} to {high:.0%}), less than half: the paper's message.
# refuted: Of the advantage that Popularity has with one relevant item at a time, a uniform test (U1R) leaves
#   {value:.0%} ({low:.0%} to {high:.0%}), half or more, against the paper's message.
# open: Of the advantage that Popularity has with one relevant item at a time, a uniform test (U1R) leaves {low:.0%}
#   to {high:.0%}; more users would decide whether that is less than half, which is the paper's message.
# :::
# The paper also has Popularity about as low as Random in a uniform test (BCC17-F8-1R): the figure shows how far it is
# from 1. Whatever is left, a test in which Popularity scores little is not yet one that is right.

# %% tags=["hide-input"]
HTML(uniform_tests.draws_table(uniform))

# %% [markdown] tags=["general"]
# ## What they do to the order of systems

# %% tags=["hide-input"]
figures.places({"systems": measured, "uniform": uniform}).show()

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_places
# :name: fig-places-by-1r
#
# The paper's Figure 8 as places: its five systems, MF and kNN read as predictors of ratings
# ([E25](#err-e25)), by precision with one relevant item at a time.
# ```

# %% [markdown]
# :::{finding} BCC17-F8-PLSA/3
# holds: pLSA is first by all seven tests, as the paper says (BCC17-F8-PLSA).
# refuted: pLSA is not first by all seven tests, though the paper says so (BCC17-F8-PLSA).
# open: Whether pLSA is first by all seven tests, as the paper says, is open (BCC17-F8-PLSA).
# :::
# Which of these orders is the true one, none of these tests can tell.

# %% [markdown] tags=["general"]
# (sec-what-is-left)=
# ## What is left, and why
#
# Every tested item has as many test ratings as any other. How can Popularity still score above a random
# ranking? The paper names one cause: ratings of popular items say liking more often.

# %% tags=["hide-input"]
figures.positive_ratios(positive_ratio).show()

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_positive_ratio
# :name: fig-positive-ratio
#
# The paper's Figure 7: the share of an item's ratings that are relevant, means over 100 segments of items by
# popularity; the title compares the first and the last tenth. Band: 95 % intervals over users.
# ```
#
# There is a second cause, which the paper does not name. Items that a user has in training are never ranked for that
# user, and these are popular ones. So a relevant test item meets rivals that are *less* popular than the
# items of $T$ are, and to be popular helps ([E05](#err-e05)). Each cause can be switched off: leave training
# items among the rivals, and the second is gone; call every rating relevant, and the first is.

# %% tags=["hide-input"]
figures.causes(kept, cutoff).show()

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_kept
# :name: fig-kept
#
# Popularity with one relevant item at a time, in sets of {glue:text}`size`. In uniform tests what it has above
# a random ranking is taken apart: what remains where training items stay among the rivals is owed to liking (blue), the
# rest to their being no rivals (orange).
# ```
#
# The second cause can be undone: keep training items among the candidates of the uniform test (`+train` in the
# protocol). The first may be deserved.

# %% [markdown] tags=["general"]
# ## Or change the metric
#
# Three metrics leave the test as it is. Each takes something for granted.
#
# **bpref** {cite:p}`buckley2004` looks at judged items alone. With $R$ relevant and $N$ judged non-relevant
# test items of a user, and $n_i$ of the latter above item $i$,
#
# $$bpref=\frac1R\sum_{i}\Bigl(1-\frac{\min(n_i,R)}{\min(N,R)}\Bigr)$$
#
# over listed relevant items (printed without the $\min$ above: [E07](#err-e07)). It takes for granted that
# what is judged is a fair sample of likes and dislikes.
#
# **infAP** {cite:p}`yilmaz2006` estimates precision at each relevant item from the judged items above it. It
# takes judgments for a random sample of a *pool*; recommender data have none, and the paper does not say what
# it takes for one ([E08](#err-e08)). Here the pool is the first 100 items of a list.
#
# **Stratified recall** {cite:p}`steck2011` gives a hit the less weight, the more positives its item has,
#
# $$sr@n=\frac{\sum_{i\in\text{first }n}w_i}{\sum_{i\in PR_{test}(u)}w_i}$$
#
# with $w_i=|PR(i)|^{-\gamma/(\gamma+1)}$, and takes for granted that the chance of a like to be rated grows as the exponent says.

# %% tags=["hide-input"]
figures.counted_otherwise(measured).show()

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_counted_otherwise
# :name: fig-counted-otherwise
#
# The paper's Figure 9 as places: its five systems among all tested items. infAP with the first 100 items of a
# list as its pool, stratified recall with $\gamma=1$.
# ```

# %% [markdown]
# A predictor of ratings learns what is disliked, and bpref asks for that. In the paper both, MF and kNN, pass
# Popularity by bpref; whether they do here is the verdict on BCC17-F9-BP.
#
# ::::{admonition} Is there a right $\gamma$?
# :class: dropdown
#
# {cite:t}`steck2011` derives the weights. If a user likes item $i$, let $p_i$ be the probability that the like
# is rated, and let a rating go to the test with probability $\sigma$. A like is in the test with probability
# $\sigma p_i$, and outside training with probability $1-(1-\sigma)p_i$. So hits weighted by
#
# $$w_i=\frac{1-(1-\sigma)\,p_i}{p_i}$$
#
# count, up to a factor and on average, all likes among the first $n$ items outside training, and the ratio of
# such sums over *all* users estimates true recall. The printed form has a power of the item's positives
# instead, which is right only where all items are liked alike, and averages over users. In worlds in which
# $p_i$ is known the right weights can be tried, and each $\gamma$ as well: what came of it is among the
# [findings at the end](#sec-verdicts-4).
# ::::

# %% [markdown] tags=["general"]
# ## Beyond the paper
#
# (sec-real-truth)=
# ### Ask data that know
#
# Two datasets have ratings of items {glue:text}`observed_coat` (Coat) or {glue:text}`observed_cm100k` (CM100k),
# and beside them judgments of items that were drawn at random. Each test orders ten systems by the former. The
# truth is what the latter say of the very same trained models, about pairs outside training.

# %% tags=["hide-input"]
known = truth_tables.true_order_tables(of_truth)
figures.agreement(known).show()

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_agreement
# :name: fig-agreement
#
# How many of the pairs of systems that the truth tells apart each test has in the true order; behind each row
# how many pairs these are. The truth looks at whole lists: how often a liked item stands above another (AUC).
# 50 is what a coin has. Whiskers: from the pairs that are surely right to all but those that are surely wrong.
# ```

# %% [markdown]
# :::{finding} own/TRUTH-COAT-BPREF-AUC
# holds: On Coat bpref, which uses dislikes, has {value:cases} more of the {cases} pairs right than the plain test
#   ({low:cases} to {high:cases}).
# refuted: On Coat bpref, which uses dislikes, has no more of the {cases} pairs right than the plain test.
# open: On Coat bpref, which uses dislikes, and the plain test cannot be told apart.
# :::
# For CM100k, where popular items are liked more, see the figure.
# infAP needs a pool, which recommender data do not have ([E08](#err-e08)). Its first 100 items are our choice, so that
# the advice below is of bpref alone. How infAP does beside it, and how few pairs uniform tests put into a sure order, is
# in the [findings at the end](#sec-verdicts-4).
#
# ::::{admonition} How the truth is asked
# :class: dropdown
#
# **All pairs outside training have to be equally likely to be judged.** On Coat they are: users rated once what
# they chose, and once what was drawn. On CM100k what a test sees are those of the random judgments that are of items
# {glue:text}`observed_cm100k`. To train on them takes judgments away from popular items more than from others.
# So a fifth of *all* judgments is held out first, each fifth in turn; every test splits what then is observed,
# and the truth is asked of the fifth, thinned where known pairs would be judged more often
# ([more](#dev-held-out)).
#
# **Two truths.** What is liked of a list's first {glue:text}`cutoff` items (true P) is what a user would see; AUC
# is [that of judged items](#metric-auc). They need not agree: a system may know well what is mediocre, and not
# what is best. Tests differ in how far down they look, too: bpref at all judged items, the plain test at the
# first {glue:text}`cutoff`. Where the two differ by AUC, that may be owed to dislikes or to depth.
#
# **Set afterwards.** No paper asserts what is found here. The bars were set when some values had been seen, so
# that these findings describe and test nothing.
# ::::

# %% tags=["hide-input"]
HTML(truth_tables.true_orders_table(known, cutoff=cutoff))

# %% [markdown] tags=["general"]
# (sec-which-test)=
# ### Which test to trust where
#
# Two datasets are two points. A simulated world can be anywhere: popularity goes from even to piled up on a few
# items (*skew*), and its relation to liking from opposed to agreeing. In every such
# kind of world nine tests order ten systems, and the truth about all pairs outside training is known.

# %% tags=["hide-input"]
figures.relations(simulated["worlds"]).show()

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_relations
# :name: fig-relations
#
# Four of the nine tests, skews averaged, by two readings of the truth; worlds from left to right as in
# {numref}`fig-nearer`. They are the same in every edition, and users rate rather what they
# [will like](#data-worlds). Whiskers: 95 % intervals over worlds.
# ```
#
# Choose a kind of world, and see which of the nine is right there; *head* is 1R without the most popular tenth.

# %% tags=["hide-input"]
HTML(
    explorer_html(
        nearest.nearest(simulated["worlds"]),
        nearest.axes(simulated["worlds"]),
        start=nearest.START,
        against=nearest.AGAINST,
        name="truth",
        source=simulated["worlds"],
        digits=2,
    )
)

# %% [markdown]
# :::{finding} own/WORLDS-BPREF-AUC
# holds: By all items bpref has the largest $\tau$ of the nine in {value:cases} of the {cases} kinds, surely in
#   {low:cases}.
# refuted: By all items bpref has the largest $\tau$ of the nine in no more than {value:cases} of the {cases} kinds.
# open: By all items bpref has the largest $\tau$ of the nine in {value:cases} of the {cases} kinds; that is sure of
#   {low:cases}.
# :::
# bpref compares what a user likes with what the same user rated and does not like: where popular items are rated
# more often whether they are liked or not, popularity is in both, and cancels. Other tests compare with items
# that nobody rated. Where users rate what is popular only if they like it, nothing cancels, and that is why real
# data have the last word ({numref}`fig-agreement`).

# %% [markdown] tags=["general"]
# (tbl-likes-only)=
# **With likes alone** bpref has nothing to count. These tests are left:

# %% tags=["hide-input"]
shown = {"names": LIKES_ONLY, "by": ("relation",)}
found = {truth: best_protocols(simulated["worlds"], truth, **shown) for truth in worlds.TRUTHS}
Markdown(best_table(found))

# %% [markdown] tags=["general"]
# Relation $-1$: the more popular, the less liked; 1: the more. $\tau$ with its 95 % interval over worlds, all
# skews together. May be as good: not behind by more than chance allows, so that the truly best is named in all
# rows with a chance of 95 %.
#
# (sec-what-to-do-about-tests)=
# ## What to do, and what to write
#
# 1. **If ratings say dislike, report bpref beside precision, and not instead** (where it leads, and where not:
#    {numref}`fig-relations` and {numref}`fig-agreement`).
# 2. **With likes alone, write what you assume** about popularity and liking, take the test that
#    [the table](#tbl-likes-only) names for it, and print a plain test beside it. Where the table has a small $\tau$,
#    claim little.
# 3. **Draw a uniform test several times**, and write $\sigma$, $\varepsilon$, the number of draws and the share of
#    items in $T$, of which alone it speaks (BCC17-C-UARFEAS).
# 4. **Print Random and Popularity under every test.** A low Popularity does not make a test right: what is left has
#    two causes (BCC17-F8-RES), and what is taken away may have been deserved ({numref}`fig-nearer`).
# 5. **If you can, buy random judgments.** Only they decide ({numref}`fig-agreement`).
#
# For a methods section, of this page's uniform test:

# %% tags=["hide-input"]
of_items = uniform_tests.items_sentence(plans, sigma, eps)
Markdown(f"{pages.methods_sentence(uniform, 'U1R')} {of_items}")

# %% [markdown] tags=["general"]
# (sec-verdicts-4)=
# ## Verdicts
#
# What became of the paper's claims on the data of this page: a claim is **yes** if all of its core holds,
# **no** if none of it does and some is refuted, **partly** if some holds and some is refuted, **undecided** if
# none is refuted and some is open.

# %% tags=["hide-input"]
results = {"systems": measured, "uniform": uniform, "uniform_plans": plans, "checks": checks}
results |= {"uniform_baselines": rankings, "uniform_predicted": predicted, **kept, **others}
results |= {"positive_ratio": positive_ratio, "uniform_draws": draws, **of_truth}
results |= {"percentiles": percentiles}
verdicts = judge_chapter("overcoming popularity bias", results)
HTML(verdict_table(verdicts))

# %% tags=["remove-cell"]
stated = state("overcoming popularity bias", results, verdicts)
stated

# %% tags=["hide-input"]
HTML(findings_table(stated))

# %% tags=["hide-input"]
HTML(pages.options_details(results))

# %% [markdown] tags=["general"]
# ## What we had to decide
#
# - **Uniform tests** take the *last* $k$ that satisfies the condition and the floor of $\eta$; several are drawn and
#   averaged, as they cannot be folds of one whole ([why](#dev-uniform)).
# - **Percentiles** are of items by training ratings; a target set that would need more items than there are takes
#   all ([more](#dev-percentiles)).
# - **1R, U1R and P1R** are measured in expectation over samples, Random exactly ([more](#metric-expected)).
# - **bpref and infAP** are those of trec_eval; infAP has two pools ([why](#dev-incomplete)).
# - **Ties** are broken by one seeded key per user and item ([why](#dev-ties)).
#   {ref}`All decisions <sec-decisions>` are on one page.
#
# ## On your data
#
# In a clone of the book:
#
# ```bash
# recbias run 04_overcoming_popularity_bias --dataset my_ratings.csv -p min_rating 4 -p sigma 0.1
# ```
#
# The [rerun page](#rerun-own-table) says what the table must look like. If no set of items can give the share
# `sigma`, the error says how much is possible.
#
# ## Exercises
#
# Six, of three levels: by hand, in code, and one on your own data, each with a check that says whether the
# answer is right.
#
# ````{exercise} Two items, by hand
# :label: ex-two-items
# :class: warm-up
#
# Two items are liked by 100 users each. A like of *a* is rated with probability 0.4, one of *b* with probability 0.1; half
# of the ratings go to the test. How many likes of either item do you expect in the test, and how many outside training?
# By what factor must a hit on *b* count more than one on *a*?
#
# ```python
# from recbias.book.chapters.overcoming_popularity_bias.exercises import check_two_items
#
# check_two_items(tested=(..., ...), left=(..., ...), factor=...)  # of a and b
# ```
# ````
#
# ````{solution} ex-two-items
# :class: dropdown
#
# ```python
# from recbias.book.chapters.overcoming_popularity_bias.exercises import check_two_items
#
# check_two_items(tested=(20, 5), left=(80, 95), factor=(95 / 5) / (80 / 20))
# ```
#
# A hit on *a* stands for four likes outside training, one on *b* for nineteen. The factor is not 0.4 / 0.1: likes
# in training are taken from what is left.
# ````
#
# :::{drill} bpref
# What is **bpref** of this list? All that the user has rated is in it.
# :::
#
# ````{exercise} A mean over percentiles
# :label: ex-p1r
# :class: core
#
# In each of $m$ popularity percentiles there are some runs, and in some of them the relevant item was
# among the first `n`. What is P1R? A percentile may have no run.
#
# ```python
# from recbias.book.chapters.overcoming_popularity_bias.exercises import check_p1r
#
# def p1r(hits, runs, n):  # two lists with a number per percentile
#     return ...
#
# check_p1r(p1r)
# ```
# ````
#
# ````{solution} ex-p1r
# :class: dropdown
#
# ```python
# from recbias.book.chapters.overcoming_popularity_bias.exercises import check_p1r
#
# def p1r(hits, runs, n):
#     scores = [hit / number / n for hit, number in zip(hits, runs) if number]
#     return sum(scores) / len(scores)
#
# check_p1r(p1r)
# ```
#
# A percentile without runs has no score; to count it as 0 would punish all systems for the data.
# ````
#
# ````{exercise} Set up a uniform test
# :label: ex-uniform
# :class: core
#
# Given the ratings of each item in descending order, $\sigma$ and $\varepsilon$: how many items are in
# $T$, and how many test ratings has each?
#
# ```python
# from recbias.book.chapters.overcoming_popularity_bias.exercises import check_uniform
#
# def n_items(counts, sigma, eps):
#     return ...
#
# def quota(counts, sigma, eps):
#     return ...
#
# check_uniform(n_items, quota)
# ```
# ````
#
# ````{solution} ex-uniform
# :class: dropdown
#
# ```python
# from recbias.book.chapters.overcoming_popularity_bias.exercises import check_uniform
#
# def n_items(counts, sigma, eps):
#     places = range(1, len(counts) + 1)
#     return max(k for k in places if (1 - eps) * counts[k - 1] * k >= sigma * sum(counts))
#
# def quota(counts, sigma, eps):
#     return int((1 - eps) * counts[n_items(counts, sigma, eps) - 1])
#
# check_uniform(n_items, quota)
# ```
#
# The share that $k$ items can give is not monotone in $k$: one that is too small may be followed by one
# that is not.
# ````
#
# ````{exercise} bpref by hand
# :label: ex-bpref
# :class: core
#
# A list is written as `+` for items that the user likes, `-` for those that the user dislikes and `?` for
# unjudged ones. Compute bpref, as trec_eval does.
#
# ```python
# from recbias.book.chapters.overcoming_popularity_bias.exercises import check_bpref
#
# def bpref(listed, n_liked, n_disliked):  # such as "-+?-+", 3, 2
#     return ...
#
# check_bpref(bpref)
# ```
# ````
#
# ````{solution} ex-bpref
# :class: dropdown
#
# ```python
# from recbias.book.chapters.overcoming_popularity_bias.exercises import check_bpref
#
# def bpref(listed, n_liked, n_disliked):
#     total = above = 0
#     for item in listed:
#         above += item == "-"
#         if item == "+" and above:
#             total += 1 - min(above, n_liked) / min(n_disliked, n_liked)
#         elif item == "+":
#             total += 1
#     return total / n_liked
#
# check_bpref(bpref)
# ```
#
# Without the inner `min` one liked item below three disliked ones would have -2.
# ````
#
# ````{exercise} The weight of a hit
# :label: ex-weight
# :class: core
#
# A like of an item is rated with probability `p`, and a rating goes to the test with probability `sigma`.
# By what weight must a hit on the item count, so that weighted hits stand for all likes outside
# training? A common factor does not matter.
#
# ```python
# from recbias.book.chapters.overcoming_popularity_bias.exercises import check_weight
#
# def weight(p, sigma):
#     return ...
#
# check_weight(weight)
# ```
# ````
#
# ````{solution} ex-weight
# :class: dropdown
#
# ```python
# from recbias.book.chapters.overcoming_popularity_bias.exercises import check_weight
#
# def weight(p, sigma):
#     return (1 - (1 - sigma) * p) / p
#
# check_weight(weight)
# ```
#
# Where `p` is small this is nearly `1 / p`, stratified recall with $\gamma\to\infty$, if positives are
# in proportion to `p`. They are so only if all items are liked alike.
# ````
#
# ````{exercise} A uniform test of your table
# :label: ex-own-uniform
# :class: research
#
# Measure P@10 of Popularity and of Random on a table of your own, with a random test and with a uniform one of the same
# size. How far does Popularity lead in each, and which share of its lead does the uniform test leave?
#
# ```python
# from recbias.book.chapters.overcoming_popularity_bias.exercises import check_own_uniform
#
# check_own_uniform(
#     plain=(..., ...),  # Popularity, Random
#     uniform=(..., ...),
#     lead_plain=..., lead_uniform=..., kept=...,
# )
# ```
# ````
#
# ````{solution} ex-own-uniform
# :class: dropdown
#
# ```python
# from recbias.book.chapters.overcoming_popularity_bias.exercises import check_own_uniform
#
# check_own_uniform(
#     plain=(0.12, 0.01),
#     uniform=(0.034, 0.012),
#     lead_plain=0.12 - 0.01, lead_uniform=0.034 - 0.012, kept=0.022 / 0.11,
# )
# ```
#
# The numbers here are made up; yours come from your table. The split rule is `uniform 0.2`; if your
# table cannot give a fifth of its ratings, the error says how much is possible.
# ````

# %% [markdown] tags=["general"]
# ## Summary
#
# A uniform test takes away most of what popularity gains from being tested more often, but how little Popularity
# scores is no measure of how right a test is. Whether it comes nearer to the truth depends on whether popular items
# are liked less than others or more, which likes alone cannot tell. So say what you assume, report a plain
# and a uniform test side by side, use dislikes with care, and ask judgments of random items where you can.
#
# ```{seealso}
# [Notation and glossary](#sec-symbols), [decisions](#sec-decisions), [errata](#sec-errata), and the
# {doc}`scorecard </notebooks/scorecard>` with every claim of the four papers.
# ```
