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
# # Does a test without popularity bias come nearer to the truth?
#
# A test made of what people chose to rate is made of popular items, and whatever recommends popular
# items may do well in it, liked or not. So tests have been devised that leave popularity nothing to
# win, and metrics that take it back. They are judged by how little a popularity ranking scores. But
# nobody wants to know that. What a test is for is to say which system is better, and there is another
# question to ask: does it put systems into the order that they have by what people *really* like?
# Here are the remedies, and plain tests, on two datasets that know.
#
# ```{glue:figure} fig_agreement
# :name: fig-agreement
#
# How well each test orders systems. The truth is what users like of items that were drawn at random,
# outside training: among a system's first ten (P@10), and anywhere (AUC). Shown is how many of the
# pairs of systems that the truth tells apart have the same order by the test, which has seen ratings
# of items {glue:text}`observed_coat` (Coat) or {glue:text}`observed_cm100k` (CM100k). 50 is what a coin has. Whiskers: from the pairs that
# are surely right to all but those that are surely wrong; surely ahead of AR is what has more of the
# former than AR has of the latter. Behind each row: how many pairs it is about, by the first ten and
# anywhere; uniform tests train on other ratings, and are asked about other models.
# ```

# %% [markdown]
# - **The remedies are made to leave popularity little.**
#   :::{finding} BCC17-F8-1R/1
#   holds: On the data of this page they do.
#   refuted: On the data of this page not all of them do.
#   open: Whether all of them do, is open on the data of this page.
#   :::
#   :::{finding} BCC17-F8-1R/1/1
#   holds: Of Popularity's advantage over a random ranking percentiles (P1R) leave {value} ({low} to {high}).
#   refuted: Of Popularity's advantage over a random ranking percentiles (P1R) leave as much as {value} ({low}
#     to {high}).
#   open: How much percentiles (P1R) leave of Popularity's advantage over a random ranking is not sure: {low} to
#     {high}.
#   :::
#   :::{finding} BCC17-F8-1R/1/2
#   holds: A uniform test (U1R) leaves {value} of that advantage ({low} to {high}).
#   refuted: A uniform test (U1R) leaves as much as {value} of that advantage ({low} to {high}).
#   open: What a uniform test (U1R) leaves of Popularity's advantage is not sure ({low} to {high}).
#   :::
# - **That is not the same as being right.**
#   :::{finding} own/TRUTH-CM-AR-P
#   holds: On CM100k plain precision (AR) misleads about the first ten: of {cases} pairs of systems it has
#     {value:cases} right ({low:cases} to {high:cases}).
#   refuted: On CM100k plain precision (AR), which takes nothing away from popularity, has {value:cases} of
#     {cases} pairs of systems right by the first ten ({low:cases} to {high:cases}).
#   open: On CM100k plain precision (AR) has {value:cases} of {cases} pairs of systems right by the first ten
#     ({low:cases} to {high:cases}).
#   :::
#   :::{finding} own/TRUTH-CM-REMEDIES-P
#   holds: The best remedy has more, by {value} of the pairs ({low} to {high}).
#   refuted: No remedy has as many: the best differs by {value} of the pairs ({low} to {high}).
#   open: Of no remedy it is seen that it has more: the best differs by {value} of the pairs ({low} to {high}).
#   :::
#   :::{finding} own/TRUTH-CM-UNIFORM-SURE
#   holds: Uniform tests are too noisy there to tell: they put no more than {value:cases} of the {cases} pairs
#     into an order that is sure.
#   refuted: -
#   open: -
#   :::
#   :::{finding} own/TRUTH-CM-AR-AUC
#   holds: By all items AR has {value:cases} of {cases} right ({low:cases} to {high:cases}).
#   refuted: By all items AR misleads: it has {value:cases} of {cases} right ({low:cases} to {high:cases}).
#   open: By all items AR has {value:cases} of {cases} right, which may be chance ({low:cases} to
#     {high:cases}).
#   :::
# - **Counting otherwise may help, or mislead.**
#   :::{finding} own/TRUTH-COAT-BPREF-AUC
#   holds: On Coat, by all items, a metric that uses dislikes, bpref, has {value:cases} more of the {cases} pairs
#     right than AR ({low:cases} to {high:cases}).
#   refuted: On Coat, by all items, a metric that uses dislikes, bpref, has no more of the pairs right than AR
#     ({low:cases} to {high:cases} of {cases}).
#   open: On Coat, by all items, whether a metric that uses dislikes, bpref, has more of the pairs right than AR
#     is open ({low:cases} to {high:cases} of {cases}).
#   :::
#   :::{finding} own/TRUTH-CM-BPREF-AUC
#   holds: So it has on CM100k by all items, by {value:cases} of {cases} ({low:cases} to {high:cases}),
#   refuted: On CM100k it has fewer right than AR, by all items (a difference of {value:cases} of {cases} pairs,
#     {low:cases} to {high:cases}),
#   open: Whether it has more on CM100k, by all items, is open ({low:cases} to {high:cases} of {cases}),
#   :::
#   :::{finding} own/TRUTH-CM-BPREF-P
#   holds: and by the first ten more there ({value:cases} of {cases}, {low:cases} to {high:cases}).
#   refuted: and by the first ten fewer, too ({value:cases} of {cases}, {low:cases} to {high:cases}).
#   open: and by the first ten that is open as well there ({low:cases} to {high:cases} of {cases}).
#   :::
# - **Which test to trust depends on whether people like what is popular.** In simulated worlds that is known.
#   :::{finding} own/WORLDS-OPPOSED-LEAD
#   holds: Where popularity and liking are entirely opposed, a uniform test (U1R) is nearer to the truth about
#     the first ten than plain precision, however skewed popularity is.
#   refuted: Where popularity and liking are entirely opposed, a uniform test (U1R) is not nearer to the truth
#     about the first ten than plain precision at every skew of popularity.
#   open: Where popularity and liking are entirely opposed, whether a uniform test (U1R) is nearer to the truth
#     about the first ten than plain precision at every skew of popularity, is open.
#   :::
#   :::{finding} own/WORLDS-AGREE-LEAD
#   holds: Where they agree entirely, and popularity is skewed by 0.5 or more, plain precision is nearer by the
#     first ten, by {low:.3f} to {high:.3f} of $\tau$ where it leads least.
#   refuted: Where they agree entirely, and popularity is skewed by 0.5 or more, plain precision is not always
#     nearer by the first ten.
#   open: Where they agree entirely, and popularity is skewed by 0.5 or more, which of the two is nearer by the
#     first ten is open.
#   :::
#   :::{finding} own/WORLDS-AGREE-AUC
#   holds: So it is by all items.
#   refuted: By all items it is not always nearer.
#   open: By all items that is open.
#   :::
#   :::{finding} own/WORLDS-BPREF-AUC
#   holds: By all items bpref is the nearest of all tests in {value:cases} of the {cases} kinds of worlds on the
#     map of {numref}`fig-winners`, surely in {low:cases}.
#   refuted: -
#   open: -
#   :::
#
# {cite:t}`BCC17` devised two of these tests, percentiles and uniform tests, and compare them with
# metrics for incomplete judgments. This chapter repeats Sections 6 and 7 of their paper and
# [takes apart](#sec-what-is-left) what their tests do not take away. Then it asks the truth, first
# [on data](#sec-real-truth) and then [over worlds](#sec-which-test).

# %% [markdown] tags=["general"]
# **After this chapter you can**
# - build a test in which all items are tested equally often, and say when data do not allow one;
# - tell two reasons apart for which popularity may win even there;
# - compute bpref, infAP and stratified recall as their inventors define them, and know what each takes
#   for granted;
# - choose a test for data of your own by what you believe about popularity and liking.

# %% tags=["hide-input", "remove-output"]
from IPython.display import HTML, Markdown
from myst_nb import glue

from recbias import Grid, line_up, run
from recbias.book import choosing, non_personalised, pages
from recbias.book.cards import verdict_cards
from recbias.book.chapters.design_alternatives.setup import READINGS
from recbias.book.chapters.overcoming_popularity_bias import (
    SIMULATIONS,
    best_gamma,
    figures,
    measure,
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
from recbias.book.figures import use_book_style
from recbias.book.findings import state
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

# %% [markdown] tags=["general"]
# ## What the paper says
#
# In a random split an item has the more test positives, the more ratings it has (chapter 3). The paper
# cuts that tie in two ways.
#
# **Percentiles (P1R).** Order the items by their training ratings, cut them into $m$ groups of equal
# size, run 1R within each, and average:
#
# $$P1R@n=\frac1m\sum_{k=1}^{m}1RP@n\,[\mathcal I_k] .$$
#
# Within a group items differ little in popularity, and all groups weigh the same. A target set then has
# at most $|\mathcal I|/m$ items.
#
# **Uniform tests (UAR, U1R).** Choose a set $T$ of items, and give each of them the same number $\eta$
# of test ratings. Every item of $T$ must keep a share $\varepsilon$ of its ratings for training, and
# the test is to have a share $\sigma$ of all ratings. With items by falling $|R(i_k)|$ the largest such
# $T$ is a prefix:
#
# $$\begin{gathered}
# \zeta=\max\Bigl\{k:\ (1-\varepsilon)\,|R(i_k)|\,\frac{k}{|R|}\ge\sigma\Bigr\},\\
# T=\{i_1,\dots,i_\zeta\},\qquad \eta=\bigl\lfloor(1-\varepsilon)\,|R(i_\zeta)|\bigr\rfloor .
# \end{gathered}$$
#
# (The paper prints $\eta$ without the floor, and a value that breaks its own condition by a fraction of
# a rating: [E09](#err-e09).) How many relevant test ratings an item has depends then only on how often a
# rating of it is a relevant one. With $T$ as candidates, a ranking that is the same for everybody has
#
# $$\mathbb E[P_s@n]=\frac{\sigma\,|R|}{n\,t\,|\mathcal U|}
# \sum_{k\le n}\operatorname{avg}_u\frac{|PR(i_k)|}{|R(i_k)|} .$$
#
# If that ratio were the same for all items, says the paper, every such ranking would score like Random.
# The candidates have to be $T$: items outside have no test rating, and popularity may tell them apart.
#
# **Without the head.** An older remedy {cite:p}`cremonesi2010` takes the most popular tenth of the items
# out of the test and out of the candidates.

# %% tags=["hide-input", "remove-output"]
figures.two_tests(sigma, eps).show()

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_two_tests
# :name: fig-two-tests
#
# The paper's Figure 6, which is lost, drawn from its caption: test ratings of items whose popularity
# follows the power law of chapter 3, with as many items and ratings as MovieLens 1M has.
# ```
#
# **Metrics for incomplete judgments** leave the test as it is and count otherwise. *bpref* and *infAP*
# come from text retrieval, where unjudged documents are the rule {cite:p}`buckley2004,yilmaz2006`.
# *Stratified recall* {cite:p}`steck2011` gives a hit the less weight, the more positives its item has:
#
# $$sr@n=\frac{\sum_{i\in\text{first }n}w_i}{\sum_{i\in PR_{test}(u)}w_i},\qquad
# w_i=|PR(i)|^{-\gamma/(\gamma+1)} .$$
#
# With $\gamma=0$ this is recall; with $\gamma\to\infty$ an item counts by $1/|PR(i)|$.
#
# ### The claims
#
# Every assertion that can be measured has a criterion, written down before the result that it judges
# and locked by a hash. The values of the paper's Figures 7 to 9 are lost; what is judged are the orders
# that its text states.

# %% tags=["hide-input"]
HTML(pages.claims_of("overcoming popularity bias"))

# %% [markdown]
# ## Predict before measuring
#
# Three questions. Commit yourself first.
#
# ::::{predict} In a uniform test every item has as many test ratings as any other, and say that all of them are relevant. What does Popularity score with one relevant item among 99 sampled ones, where a random ranking scores 0.01?
# - 0.01 as well, exactly: all items are alike in the test
# - a little more
# - as much as in a random split
#
# :::{finding} BCC17-C-ALLPOS/1
# holds: 0.01, as the paper says.
# refuted: Not 0.01, against what the paper says, for a reason that is not about liking.
# open: That is open here.
# :::
# :::{finding} own/ALLPOS-OVER
# holds: It is more: {value:.3f} times what a random ranking scores ({low:.3f} to {high:.3f}).
# refuted: It is no more than what a random ranking scores.
# open: -
# :::
# {numref}`fig-kept` says why.
# ::::
#
# ::::{predict} Which remedy leaves Popularity least of its advantage over a random ranking?
# - to take the most popular tenth of the items out
# - a uniform test
# - percentiles
#
# :::{finding} BCC17-F8-1R/4
# holds: Percentiles, by the excess over Random with one relevant item at a time.
# refuted: Not percentiles: a uniform test leaves it less of its excess over Random.
# open: Whether percentiles leave it less than a uniform test, is open here.
# :::
# :::{finding} BCC17-F8-HEAD/3
# holds: To take the head out is least effective.
# refuted: To take the head out is not the least effective of the three here.
# open: Whether to take the head out is the least effective, is open.
# :::
# {numref}`fig-over-random` has all of them.
# ::::
#
# ::::{predict} And which remedy orders systems most nearly as they are ordered by what people like?
# - the one that leaves Popularity least
# - the one that leaves it most
# - that depends on whether people like what is popular
#
# :::{finding} own/WORLDS-OPPOSED-P1R
# holds: In simulated worlds where liking is entirely opposed to popularity, uniform tests (U1R) are nearer than
#   percentiles, by the first ten.
# refuted: In simulated worlds where liking is entirely opposed to popularity, uniform tests (U1R) are not
#   nearer than percentiles at every skew, by the first ten.
# open: Whether uniform tests (U1R) are nearer than percentiles where liking is entirely opposed to popularity,
#   is open.
# :::
# :::{finding} own/WORLDS-UNRELATED-P1R
# holds: Where the two have nothing to do with each other, percentiles are the nearest of all tests that need
#   no dislikes, over all skews together.
# refuted: Where the two have nothing to do with each other, percentiles are not the nearest of the tests that
#   need no dislikes.
# open: Which remedy is the nearest where the two have nothing to do with each other, is open.
# :::
# :::{finding} own/WORLDS-AGREE-LEAD
# holds: Where they agree entirely and popularity is skewed by 0.5 or more, plain precision is nearer than a
#   uniform test (U1R) by the first ten.
# refuted: Where they agree entirely, plain precision is not nearer than a uniform test (U1R) by the first ten
#   everywhere.
# open: Whether plain precision is nearer than a uniform test (U1R) by the first ten where they agree entirely,
#   is open.
# :::
# :::{finding} own/WORLDS-AGREE-AUC
# holds: So it is by all items.
# refuted: By all items it is not always nearer.
# open: By all items it is open which is nearer.
# :::
# Observed ratings do not say which of these worlds they are from. {numref}`fig-winners` is a map.
# ::::

# %% [markdown] tags=["general"]
# ## What data allow
#
# A uniform test is a question of supply. Every item of $T$ has to give as many ratings as the least
# popular of them can spare, and so $T$ and $\sigma$ cannot both be large.

# %%
plans = measure.uniform_plans(dataset, test_share=sigma, kept_share=eps)
n_tested = uniform_tests.tested_items(plans, sigma)

# %% tags=["hide-input"]
Markdown(uniform_tests.uniform_table(concentration.data_sets_beside(plans), sigma))

# %% [markdown] tags=["general"]
# The last column is the share of all ratings that the test gets. It is not exactly $\sigma$: the last $k$
# that satisfies the condition may give more, and the floor of $\eta$ gives less. A $T$ of fewer items than a
# target set of {glue:text}`size` leaves no room for one.

# %% [markdown]
# :::{finding} BCC17-C-UARFEAS/1/1
# holds: On the data of this page $T$ has {value} of the items: U1R and UAR rank those, and say nothing of the
#   others.
# refuted: On the data of this page $T$ holds all items.
# open: -
# :::
# :::{finding} BCC17-C-UARFEAS/6
# holds: The usual set-up is feasible here, as the authors found it on their data.
# refuted: The usual set-up is not feasible here without effort, unlike on the authors' data.
# open: -
# :::

# %% [markdown] tags=["general"]
# ## The experiment
#
# Every system is trained on two kinds of splits: on random folds for plain tests, percentiles and the test
# without the head, and on {glue:text}`n_draws` uniform splits for U1R and UAR, each of which is a test
# drawn anew. Results are means over them, and intervals hold what they differ by. Tests with one relevant
# item at a time are taken *in expectation* over samples of {glue:text}`size` ([how](#metric-expected)),
# and so is the value of a random ranking. AR is compared with UAR on a sample on which a random ranking
# has about the same precision under both, as in the paper.

# %%
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

# %%
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
# ### What remedies leave of Popularity

# %% tags=["hide-input"]
figures.over_random({"systems": measured, "uniform": uniform}, cutoff).show()

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_over_random
# :name: fig-over-random
#
# What Popularity scores over what a random ranking is expected to score under the same test. 1: no
# advantage. The scale is logarithmic. Whiskers: 95 % intervals over users, of uniform tests over draws too.
# ```

# %% tags=["hide-input"]
Markdown(uniform_tests.draws_table(uniform))

# %% [markdown] tags=["general"]
# How much a uniform test hangs on its draw: the mean over {glue:text}`n_draws` draws, its 95 % interval over users
# and draws, and the standard deviation between single draws.

# %% [markdown]
# :::{finding} BCC17-F8-1R/3/1
# holds: U1R brings Popularity to about where Random stands: what parts them is {value} of Random's score ({low}
#   to {high}).
# refuted: U1R does not bring Popularity to about where Random stands: what parts them is {value} of Random's
#   score ({low} to {high}).
# open: Whether U1R brings Popularity to about where Random stands, is open: what parts them is {value} of
#   Random's score ({low} to {high}).
# :::
# :::{finding} BCC17-F8-1R/3/2
# holds: It leaves a small part of the excess over Random that Popularity has by 1R, {value} ({low} to {high}).
# refuted: Of the excess over Random that Popularity has by 1R it leaves no small part, {value} ({low} to
#   {high}).
# open: Of the excess over Random that Popularity has by 1R it leaves {value} ({low} to {high}).
# :::
# :::{finding} BCC17-F8-1R/5
# holds: In U1R and in P1R it keeps some advantage, as the paper says.
# refuted: It does not keep an advantage both in U1R and in P1R, unlike what the paper says.
# open: Whether it keeps an advantage both in U1R and in P1R, as the paper says, is open.
# :::
# :::{finding} BCC17-F8-1R/2
# holds: Uniform tests take more of it away with one relevant item at a time (U1R) than with all of them (UAR).
# refuted: Uniform tests do not take more of it away with one relevant item at a time (U1R) than with all of
#   them (UAR): the share that is left is larger by {value:.2f} ({low:.2f} to {high:.2f}), against what seemed so
#   to the authors.
# open: Whether uniform tests take more of it away with one relevant item at a time (U1R) than with all of them
#   (UAR), is open.
# :::
# :::{finding} BCC17-F8-AI/1
# holds: Candidates beyond $T$ (AI-UAR) give Popularity some of its advantage back: in units of Random's score
#   it has {value} what it has under UAR.
# refuted: Candidates beyond $T$ (AI-UAR) do not give Popularity some of its advantage back: in units of
#   Random's score it has {value} what it has under UAR.
# open: Whether candidates beyond $T$ (AI-UAR) give Popularity some of its advantage back, is open.
# :::
# :::{finding} BCC17-F8-AI/2
# holds: What they add is slight, as the paper says ({low:.2f} to {high:.2f} times).
# refuted: What they add is not slight ({low:.2f} to {high:.2f} times), unlike what the paper says.
# open: -
# :::
# :::{finding} BCC17-C-U1RTI/3
# holds: The paper's reason to rank $T$ alone is right: Popularity places all items outside $T$ below those
#   of $T$.
# refuted: The paper's reason to rank $T$ alone, that Popularity places all items outside $T$ below those of
#   $T$, is not true where it counts training ratings: {value} of the items of $T$ are at or below one
#   outside ([E26](#err-e26)).
# open: -
# :::

# %% [markdown] tags=["general"]
# ### And what they do to the order of systems

# %% tags=["hide-input"]
figures.remedies({"systems": measured, "uniform": uniform}).show()

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_remedies
# :name: fig-remedies
#
# The paper's Figure 8, precision. Above, one relevant item at a time: the plain test, without the most
# popular tenth of the items, the uniform test, percentiles. Below, all relevant items: a plain test on a
# sample that levels Random with UAR, the uniform test, and the uniform test with the whole catalogue as
# candidates. Pale: rankings that know nothing of users.
# ```

# %% [markdown]
# :::{finding} BCC17-F8-PLSA/1
# holds: All three remedies tell pLSA and Popularity well apart.
# refuted: Not all three remedies tell pLSA and Popularity well apart.
# open: Whether all three remedies tell pLSA and Popularity well apart, is open.
# :::
# :::{finding} BCC17-F8-PLSA/1/1
# holds: Under P1R pLSA has {value} the score of Popularity ({low:.2f} to {high:.2f}).
# refuted: Under P1R pLSA has only {value} the score of Popularity ({low:.2f} to {high:.2f}).
# open: What pLSA has under P1R is not sure: {low:.2f} to {high:.2f} times the score of Popularity.
# :::
# :::{finding} BCC17-F8-PLSA/1/2
# holds: Under U1R it is {value} ({low:.2f} to {high:.2f}).
# refuted: Under U1R it is only {value} ({low:.2f} to {high:.2f}).
# open: Under U1R it is not sure: {low:.2f} to {high:.2f} times.
# :::
# :::{finding} BCC17-F8-PLSA/1/3
# holds: Under UAR it is {value} ({low:.2f} to {high:.2f}).
# refuted: Under UAR it is only {value} ({low:.2f} to {high:.2f}).
# open: Under UAR it is not sure: {low:.2f} to {high:.2f} times.
# :::
# :::{finding} BCC17-F8-PLSA/3
# holds: Of the paper's five systems pLSA is first under every one of these tests.
# refuted: Of the paper's five systems pLSA is not first under every one of these tests.
# open: Whether pLSA is first of the paper's five systems under every one of these tests, is open.
# :::
# :::{finding} BCC17-F8-UAR/2
# holds: Under UAR Popularity is still above kNN as a predictor of ratings.
# refuted: Under UAR Popularity is not above kNN as a predictor of ratings any more.
# open: Whether Popularity is still above kNN as a predictor of ratings under UAR, is open.
# :::
# :::{finding} BCC17-F8-NDCG/1
# holds: nDCG puts the five in the same or nearly the same order under each test.
# refuted: nDCG does not put the five in nearly the same order under each test.
# open: Whether nDCG puts the five in nearly the same order under each test, is open.
# :::

# %% [markdown] tags=["general"]
# ### Other settings, another threshold
#
# The paper prints no parameters. So orders of systems are looked for in the parameter grid of chapter 1
# as well, under both readings of MF and kNN; the shares stand on the cards, and decide nothing. And
# everything is asked again with a relevance threshold that is a star lower.

# %%
references = ("Random", "Popularity", "pLSA")
chosen = [system for system in line_up(systems) if system.name in references]
for parts in READINGS.values():
    chosen += [system for part in parts for system in bcc17_grid(part)]
metrics = setup.setting_metrics(cutoff, size)
others = {}
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

# %%
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

# %% [markdown]
# :::{finding} BCC17-C-THR/1
# holds: With that threshold both what becomes of Popularity and the orders of systems are the same, as
#   the paper says.
# refuted: With that threshold not everything stays the same, against what the paper says.
# open: Whether everything stays the same with that threshold is open.
# :::

# %% [markdown] tags=["general"]
# (sec-what-is-left)=
# ## What is left, and why
#
# Every tested item has as many test ratings as any other. How can Popularity still win? The paper
# names one cause: a rating of a popular item says liking more often. Its Figure 7 shows that.

# %%
kept = {}
shown = {"cutoff": cutoff, "size": size, "uniform": uniform.grid.split}
asked = kept_grids(min_rating, **shown, lowest=choosing.lowest_rating(dataset))
for name, given in asked.items():
    grid = Grid(dataset, kept_systems(min_rating), seed=seed, **{"split": split, **given})
    kept[name] = run(grid, workers=workers, name=name)
one_draw = setup.one_draw(uniform.grid.split)
positive_ratio = measure.positive_ratio(dataset, min_rating=min_rating, seed=seed, uniform=one_draw)

# %%
draws = measure.uniform_draws(
    dataset,
    min_rating=min_rating,
    seed=seed,
    cutoff=cutoff,
    size=size,
    uniform=one_draw,
)

# %%
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

# %% tags=["hide-input"]
figures.positive_ratios(positive_ratio).show()

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_positive_ratio
# :name: fig-positive-ratio
#
# The paper's Figure 7: the share of an item's ratings that are relevant, means over 100 segments of items
# by popularity. Band: 95 % intervals over users.
# ```

# %% [markdown]
# :::{finding} BCC17-F7/2/1
# holds: Ratings of popular items do say liking more often: the rank correlation is {value:.2f} ({low:.2f} to
#   {high:.2f}).
# refuted: Ratings of popular items do not say liking more often here, with a rank correlation of {value:.2f}
#   ({low:.2f} to {high:.2f}).
# open: Whether ratings of popular items say liking more often, is open: the rank correlation is {low:.2f} to
#   {high:.2f}.
# :::
# :::{finding} BCC17-F7/2/2
# holds: In the most popular tenth of the items a rating does so {value} as often as in the least popular one
#   ({low:.2f} to {high:.2f}).
# refuted: In the most popular tenth of the items a rating does so only {value} as often as in the least
#   popular one ({low:.2f} to {high:.2f}).
# open: How much more often a rating does so in the most popular tenth of the items than in the least popular
#   one, is not sure ({low:.2f} to {high:.2f} times).
# :::
# :::{finding} BCC17-F7/4
# holds: The advantage that is left in U1R is moderate, as expected: {value} of that in 1R.
# refuted: The advantage that is left in U1R is not moderate: {value} of that in 1R.
# open: How much of the advantage in 1R is left in U1R, is open ({low} to {high}).
# :::

# %% [markdown] tags=["general"]
# It is not the only cause. Items that a user has in training are never ranked for that user, and these
# are popular ones. A relevant test item thus meets rivals that are *less* popular than the items of $T$
# are, and to be popular helps ([E05](#err-e05)). Both causes can be switched off: leave training items
# among the rivals, and the second is gone; call every rating relevant, and the first is.

# %% tags=["hide-input"]
figures.causes(kept, cutoff).show()

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_kept
# :name: fig-kept
#
# Popularity with one relevant item at a time, in sets of {glue:text}`size`. In uniform tests what it has
# above a random ranking is taken apart: what remains where training items stay among the rivals is owed
# to liking, the rest to their absence.
# ```

# %% [markdown]
# :::{finding} BCC17-F8-RES/1
# holds: Liking is the cause of nearly all of it, as the paper says.
# refuted: The paper names liking as the cause of what is left, and not nearly all of it is.
# open: Whether liking is the cause of nearly all of it, as the paper says, is open.
# :::
# :::{finding} own/LIKED-SHARE
# holds: It accounts for {value} of what U1R leaves ({low} to {high}), the missing training items
#   for the rest.
# refuted: It accounts for {value} of what U1R leaves ({low} to {high}), the missing training items
#   for the larger part.
# open: Which of the two accounts for the larger part of what U1R leaves, is open.
# :::
# :::{finding} own/P1R-OWED-TO-SKEW
# holds: What P1R leaves, by contrast, is there with every rating relevant, too: {value} of it
#   ({low} to {high}).
# refuted: Of what P1R leaves, {value} is there with every rating relevant, too ({low} to {high}), the
#   smaller part.
# open: -
# :::
# :::{finding} BCC17-F8-RES/2
# holds: More is left in U1R than in P1R, as the paper says.
# refuted: No more is left in U1R than in P1R, against what the paper says.
# open: Whether more is left in U1R than in P1R, as the paper says, is open.
# :::
# :::{finding} BCC17-F8-RES/3
# holds: What is left grows with the range of popularity among rivals, which is the reason that the paper
#   gives.
# refuted: The reason that the paper gives, a wider range of popularity among rivals, is not right in all that
#   was tried.
# open: -
# :::
# :::{finding} BCC17-C-ALLPOS/1
# holds: With every rating relevant nothing is left, as the paper has it.
# refuted: With every rating relevant, something is left, where the paper has nothing: training items
#   are missing among the rivals.
# open: -
# :::

# %% [markdown] tags=["general"]
# ### Where the ratio is known
#
# In a simulated world the ratio is what we make it. Where nobody has a taste, and who rates what and
# with how many stars is drawn, it is the same for all items. Where people have one, it can be made to
# rise with popularity, or to fall.

# %%
simulated = {}
for name, given in SIMULATIONS.items():
    simulated[name] = getattr(measure, name)(**given, workers=workers)

# %% [markdown]
# :::{finding} BCC17-EQ-UARC/5
# holds: With a constant ratio Popularity falls to Random, as the paper says.
# refuted: With a constant ratio Popularity does not fall all the way to Random, as the paper says
#   it does. It does where training items stay among the rivals ([E05](#err-e05)).
# open: Whether Popularity falls to Random with a constant ratio, is open.
# :::
# :::{finding} BCC17-EQ-UARC/3
# holds: It gains only where popular items have the higher ratio, as the paper says.
# refuted: A higher ratio of popular items is not all that it gains by ([E05](#err-e05)).
# open: -
# :::
# :::{finding} BCC17-EQ-UARC/4/2
# holds: What it gains is never more than the ratio rises by, as the paper says.
# refuted: What it gains may be more than the ratio rises by: up to {value} as much.
# open: -
# :::
# :::{finding} own/U1R-OPPOSED
# holds: Even where liking is entirely opposed to popularity, U1R gives Popularity {value} what Random scores.
# refuted: Where liking is entirely opposed to popularity, U1R gives Popularity {value} what Random scores.
# open: -
# :::
# :::{finding} own/U1R-OPPOSED-CONTROL
# holds: With training items among the rivals Popularity has {value} what Random scores there.
# refuted: With training items among the rivals Popularity has no less than Random there, {value} its score.
# open: -
# :::

# %% [markdown] tags=["general"]
# ## Count otherwise instead
#
# Three metrics leave the test as it is. Each takes something for granted.
#
# **bpref** {cite:p}`buckley2004` looks at judged items alone: how many judged non-relevant ones stand
# above a relevant one? With $R$ relevant and $N$ judged non-relevant test items of a user, and $n_i$ of
# the latter above item $i$,
#
# $$bpref=\frac1R\sum_{i}\Bigl(1-\frac{\min(n_i,R)}{\min(N,R)}\Bigr).$$
#
# The sum is over listed relevant items. bpref takes for granted that what is judged is a fair sample of
# what is relevant and what is not. (The paper prints the formula without the $\min$ in the numerator, by
# which it can be negative: [E07](#err-e07).)
#
# **infAP** {cite:p}`yilmaz2006` estimates precision at each relevant item from the judged items above
# it. With *rel* and *non* judged items above rank $k$, of *pooled* items,
#
# $$\mathbb E[P@k]=\frac1k+\frac{k-1}{k}\cdot\frac{pooled}{k-1}\cdot
# \frac{rel+\epsilon}{rel+non+2\epsilon} ,$$
#
# where a tiny $\epsilon$ avoids a division by zero. infAP takes for granted that judgments are a
# random sample of a pool of items. Recommender data have no pool, and the paper does not say what it
# takes for one ([E08](#err-e08)). The smallest pool that makes sense is the list itself, the first
# 100 items of it; the largest is everything. Values by any pool in between lie in between, so that
# both ends are shown.
#
# **Stratified recall** takes for granted that the chance of a like to be rated grows with its item's
# popularity as the exponent says, and $\gamma$ has to come from somewhere.
#
# ::::{predict} bpref on data where every judgment is positive: what does it measure?
# - the same as elsewhere, with less noise
# - nothing: it is 1 for every list
# - what share of the relevant items a system lists at all
#
# The last. No judged item can stand above a relevant one, so that each listed one counts as 1. A
# random ranking lists all of them.
# ::::

# %% tags=["hide-input"]
figures.judged(measured).show()

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_judged
# :name: fig-judged
#
# The paper's Figure 9: the five systems of its figure, MF and kNN as predictors of ratings, among the whole
# catalogue (AI), all tested items (TI) and with one relevant item at a time (1R). bpref of one
# relevant item at a time would be 1 for every system. Dark lines: what infAP becomes by other pools,
# from the first 100 items of a list to everything. Under AI and TI a user without a relevant test item
# counts as 0 ({ref}`dev-users`). Thin lines: 95 % intervals over users.
# ```

# %% tags=["hide-input"]
figures.gammas(measured, cutoff).show()

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_gammas
# :name: fig-gammas
#
# Stratified recall among all tested items over $\gamma$, as a share of that of the best system at each.
# Grey: the other systems of the line-up.
# ```

# %% [markdown]
# :::{finding} BCC17-F9-BP/2
# holds: bpref counters popularity: by it both predictors of ratings are ahead of Popularity.
# refuted: By bpref not both predictors of ratings are ahead of Popularity.
# open: Whether both predictors of ratings are ahead of Popularity by bpref, is open.
# :::
# :::{finding} BCC17-F9-BP/4
# holds: By bpref both are ahead of pLSA, too, as in the paper.
# refuted: Not both are ahead of pLSA by bpref, unlike in the paper.
# open: Whether both are ahead of pLSA by bpref, is open.
# :::
# :::{finding} BCC17-F9-BP/6
# holds: bpref rates a random ranking highly, at {value} of the best of the other four.
# refuted: bpref does not rate a random ranking highly, with {value} of the best of the other four.
# open: Whether bpref rates a random ranking highly, is open: at {value} of the best of the other four ({low} to
#   {high}).
# :::
# :::{finding} BCC17-F9-IA/1
# holds: infAP counters popularity, too, by every pool.
# refuted: infAP does not counter popularity by every pool: Popularity stays ahead of one of the
#   predictors.
# open: Whether infAP counters popularity by every pool is open.
# :::
# :::{finding} own/INFAP-POOL
# holds: What the pool is matters: between the smallest and the largest the orders of all systems
#   have a $\tau$ of {value:.2f}.
# refuted: What the pool is changes the order of no two systems.
# open: Whether what the pool is changes the order of systems, is open: $\tau$ = {value:.2f}
#   ({low:.2f} to {high:.2f}).
# :::
# :::{finding} BCC17-F9-SR/2
# holds: By stratified recall with $\gamma=1$ Popularity is second of the five, as in the paper.
# refuted: By stratified recall with $\gamma=1$ Popularity is not second of the five, as it is in
#   the paper.
# open: Whether Popularity is second of the five by stratified recall with $\gamma=1$, is open.
# :::
# :::{finding} BCC17-C-GAMMA/1
# holds: As $\gamma$ grows, Popularity's lead over Random shrinks, and it overtakes none of the other four.
# refuted: As $\gamma$ grows, Popularity's lead over Random does not shrink, or it overtakes one of the other
#   four.
# open: Whether Popularity's lead over Random shrinks as $\gamma$ grows, and it overtakes none of the other
#   four, is open.
# :::
# :::{finding} BCC17-C-GAMMA/2/1
# holds: Among all tested items {value:.0f} of six $\gamma$ balance Popularity, that is put it above Random and
#   below one of the predictors of ratings.
# refuted: Among all tested items none of six $\gamma$ balances Popularity, that is puts it above Random and below
#   one of the predictors of ratings.
# open: Whether one of six $\gamma$ balances Popularity among all tested items, that is puts it above Random and
#   below one of the predictors of ratings, is open.
# :::
# :::{finding} BCC17-C-GAMMA/3/1
# holds: Which does so depends on the design: {value:.0f} of the six do under one of AR, AI and 1R, and not under
#   another.
# refuted: Which does so does not depend on the design: the same ones do under AR, AI and 1R.
# open: Whether it depends on the design (AR, AI or 1R) which $\gamma$ balances it, is open.
# :::
# :::{finding} BCC17-C-GAMMA/3/2
# holds: It depends on the data, too: {value:.0f} do so on one of MovieLens 1M, 100K and latest-small and not on
#   another.
# refuted: It does not depend on the data: the same ones do so on MovieLens 1M, 100K and latest-small.
# open: Whether it depends on the data as well, cannot be told by MovieLens 1M, 100K and latest-small: among all
#   tested items it is not sure of any $\gamma$ that it balances Popularity on one of them and not on another.
# :::

# %% [markdown] tags=["general"]
# ## Asking the truth
#
# CM100k has ratings of items {glue:text}`observed_cm100k`, and Coat of items {glue:text}`observed_coat`. Beside
# them both have judgments of items that were drawn at random. What they say of each test [follows](#sec-real-truth); where the data of this page
# have such judgments, they are asked here.

# %%
of_truth = {}
given = {"cutoff": cutoff, "size": size, "uniform": uniform.grid.split, "seed": seed}
for name, asked in true_orders.true_orders_asked(dataset, **given).items():
    of_truth[name] = measure.true_orders(dataset, **asked, workers=workers, name=name)

# %% tags=["hide-input", "remove-output"]
known = truth_tables.true_order_tables(of_truth)
figures.true_orders(known, cutoff).show()

# %% [markdown] tags=["general"]
# ## Verdicts

# %%
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

# %% tags=["hide-input"]
results = {"systems": measured, "uniform": uniform, "uniform_plans": plans, "checks": checks}
results |= {"uniform_baselines": rankings, "uniform_predicted": predicted, **kept, **others}
results |= {"positive_ratio": positive_ratio, "uniform_draws": draws, **of_truth}
results |= {"percentiles": percentiles}
verdicts = judge_chapter("overcoming popularity bias", results)
HTML(verdict_cards(verdicts))

# %% tags=["hide-input"]
HTML(pages.options_details(results))

# %% tags=["remove-cell"]
state("overcoming popularity bias", results, verdicts)

# %% [markdown] tags=["general"]
# A part **holds** or **is refuted** if the whole 95 % interval lies on one side of its criterion, and
# **is open** if it lies on both. **Yes**: all parts hold. **No**: some are refuted and none holds.
# **Partly**: some hold and some are refuted. **Undecided**: none is refuted, some are open.

# %% [markdown] tags=["general"]
# ## Beyond the paper
#
# (sec-real-truth)=
# ### Which test orders systems as the truth does?
#
# The paper judges a remedy by how little it leaves of Popularity. Whether Popularity *deserves* little,
# no split of observed ratings can say; judgments of random items can. So every test is asked: it
# orders the systems by its own split; the truth is that of the very same trained models, on the random
# judgments of pairs that they were not trained on.
#
# **Which judgments?** All pairs outside training have to be equally likely to be judged. On Coat they
# are: users rated once what they chose, and once what was drawn. On CM100k observed are those of the
# random judgments that are of items {glue:text}`observed_cm100k`. To train on them takes judgments away from popular
# items more than from others, and what is left makes popular items look as if few liked them. So a
# fifth of *all* judgments is held out first, each fifth in turn. Every test splits what then is
# observed, and the truth is asked of the fifth. Known pairs outside training would still be judged a little
# more often than unknown ones, as other known pairs went into training; so their judgments are thinned at
# random, by just that share ([more](#dev-held-out)). The price: systems learn from a fifth less.
#
# **Two truths.** What is liked of a list's first {glue:text}`cutoff` items (true P) is what a user would
# see. How often a liked item stands above another one (true AUC) looks at the whole list. They need not
# agree: a system may know well what is mediocre, and not what is best. No test is asked to serve both. Here
# AUC is [that of judged items](#metric-auc): a user whose judgments are all likes, or all dislikes, counts
# one half.
#
# **What is not told apart.** Tests differ in how far down a list they look, and not only in what they count:
# AR, UAR and stratified recall at the first {glue:text}`cutoff` items, the tests with one relevant item at the
# first {glue:text}`cutoff` of {glue:text}`size`, infAP at the first 100, bpref at all. So where bpref differs from
# AR by all items, that may be owed to dislikes or to the cutoff.
#
# **Set afterwards.** No paper asserts what this section and the [next one](#sec-which-test) find. What each
# finding had to exceed was written down when values of a first design, of some worlds, or all had been seen; so
# it describes these data and worlds, and tests nothing.

# %% tags=["hide-input"]
Markdown(truth_tables.true_orders_table(known, cutoff=cutoff))

# %% [markdown] tags=["general"]
# Kendall's $\tau$ between the order by each test and the true one, its 95 % interval over users (of uniform
# tests over draws too), and of the pairs of systems that the truth tells apart, how many are right: plain
# tests, remedies, other ways to count. Columns at the right: where each order places Popularity. Rows at the
# bottom: the two truths, one asked about the other.

# %% [markdown]
# :::{finding} own/TRUTH-CM-BOTH
# holds: On CM100k the two truths are two questions: of the {cases} pairs that the first ten tell apart, all items
#   have {value:cases} in the same order ({low:cases} to {high:cases}).
# refuted: On CM100k the two truths differ little about these ten systems: of the {cases} pairs that the first ten
#   tell apart, all items have {value:cases} in the same order ({low:cases} to {high:cases}).
# open: On CM100k, of the {cases} pairs that the first ten tell apart, all items have {value:cases} in the same
#   order ({low:cases} to {high:cases}).
# :::
# :::{finding} own/TRUTH-CM-BOTH-MORE
# holds: About the sixteen systems of {cite:t}`MCCRS20` they differ more, with {value:cases} of {cases} in the same
#   order ({low:cases} to {high:cases}).
# refuted: So they do about the sixteen systems of {cite:t}`MCCRS20`, with {value:cases} of {cases} in the same order
#   ({low:cases} to {high:cases}).
# open: About the sixteen systems of {cite:t}`MCCRS20` it is {value:cases} of {cases} ({low:cases} to {high:cases}).
# :::
# :::{finding} own/TRUTH-CM-TOP-P
# holds: With the top of the scale alone as relevant, AR has {value:cases} of {cases} pairs right there by the
#   first ten ({low:cases} to {high:cases}).
# refuted: With the top of the scale alone as relevant, AR misleads there by the first ten: it has {value:cases} of
#   {cases} pairs right ({low:cases} to {high:cases}).
# open: With the top of the scale alone as relevant, whether AR has more than half of the pairs right there by the
#   first ten is open ({low:cases} to {high:cases} of {cases}).
# :::
# :::{finding} own/TRUTH-CM-SR-AUC
# holds: By all items stratified recall has fewer right there than AR (a difference of {value:cases} of {cases}
#   pairs, {low:cases} to {high:cases}): it takes away what was deserved.
# refuted: By all items stratified recall has no fewer right there than AR ({low:cases} to {high:cases} of {cases}
#   pairs).
# open: Whether stratified recall has fewer right there than AR by all items, is open ({low:cases} to {high:cases}
#   of {cases} pairs).
# :::
# :::{finding} own/TRUTH-CM-BPREF-AUC
# holds: By all items bpref has more right than AR there, by {value:cases} of {cases} pairs ({low:cases} to
#   {high:cases}).
# refuted: bpref has fewer right than AR there by all items (a difference of {value:cases} of {cases} pairs,
#   {low:cases} to {high:cases}).
# open: Whether bpref has more right than AR there by all items, is open ({low:cases} to {high:cases} of {cases}
#   pairs).
# :::
# :::{finding} own/TRUTH-CM-BPREF-MORE-AUC
# holds: With those sixteen systems it has more right there by all items ({low:cases} to {high:cases} of {cases}
#   pairs).
# refuted: With those sixteen systems it has fewer right there by all items, too ({low:cases} to {high:cases} of
#   {cases} pairs).
# open: With those sixteen systems that is open ({low:cases} to {high:cases} of {cases} pairs).
# :::
# :::{finding} own/TRUTH-CM-BPREF-MORE-P
# holds: With them it has more right than AR there by the first ten ({value:cases} of {cases} pairs, {low:cases} to
#   {high:cases}).
# refuted: With them it has fewer right than AR there by the first ten ({value:cases} of {cases} pairs, {low:cases}
#   to {high:cases}).
# open: With them it is open by the first ten, too ({low:cases} to {high:cases} of {cases} pairs).
# :::
#
# :::{finding} own/TRUTH-COAT-AR-AUC
# holds: On Coat, by all items, AR has {value:cases} of {cases} pairs right ({low:cases} to {high:cases}).
# refuted: On Coat, by all items, AR misleads: it has {value:cases} of {cases} pairs right ({low:cases} to
#   {high:cases}).
# open: On Coat, by all items, AR has {value:cases} of {cases} pairs right, which may be chance ({low:cases} to
#   {high:cases}).
# :::
# :::{finding} own/TRUTH-COAT-REMEDIES-AUC
# holds: The best of the remedies has more, by {value} of the pairs ({low} to {high}).
# refuted: None of the remedies has more.
# open: Whether one of the remedies has more, is open: the best differs by {value} of the pairs ({low} to {high}).
# :::
# :::{finding} own/TRUTH-COAT-BPREF-AUC
# holds: There bpref has {value:cases} more of the {cases} pairs right than AR ({low:cases} to {high:cases}).
# refuted: There bpref has no more right than AR ({low:cases} to {high:cases} of {cases} pairs).
# open: Whether bpref has more right there than AR, is open ({low:cases} to {high:cases} of {cases} pairs).
# :::
# :::{finding} own/TRUTH-COAT-INFAP-AUC
# holds: So has infAP, by {value:cases} ({low:cases} to {high:cases}).
# refuted: There infAP has no more right than AR ({low:cases} to {high:cases} of {cases}).
# open: Whether infAP has more right there than AR, is open ({low:cases} to {high:cases} of {cases}).
# :::
# :::{finding} own/TRUTH-COAT-BPREF-MORE
# holds: With the sixteen systems of {cite:t}`MCCRS20` bpref has more there, too ({low:cases} to {high:cases} of
#   {cases} pairs).
# refuted: With the sixteen systems of {cite:t}`MCCRS20` bpref has no more there ({low:cases} to {high:cases} of
#   {cases} pairs).
# open: With the sixteen systems of {cite:t}`MCCRS20` in place of these, whether bpref has more is open ({low:cases}
#   to {high:cases} of {cases} pairs),
# :::
# :::{finding} own/TRUTH-COAT-MORE
# holds: and with them infAP has more ({low:cases} to {high:cases} of {cases}).
# refuted: and with them infAP has no more ({low:cases} to {high:cases} of {cases}).
# open: as it is for infAP ({low:cases} to {high:cases} of {cases}).
# :::
# :::{finding} own/TRUTH-COAT-BPREF-TOP
# holds: With the top of the scale alone as relevant bpref has more right than AR there ({low:cases} to {high:cases}
#   of {cases} pairs).
# refuted: With the top of the scale alone as relevant bpref has no more right than AR there ({low:cases} to
#   {high:cases} of {cases} pairs).
# open: With the top of the scale alone as relevant, whether bpref has more is open there ({low:cases} to
#   {high:cases} of {cases} pairs).
# :::
# :::{finding} BCC17-F8-HEAD/4
# holds: The paper calls P1R and U1R closer to reality than a test without the head: they use all information,
#   and where the data of this page have a truth, they are nearer to it.
# refuted: The paper calls P1R and U1R closer to reality than a test without the head. On the data of this
#   page they do not all use more information, or are not nearer to the truth.
# open: Whether P1R and U1R are closer to reality than a test without the head, as the paper has it, is
#   open on the data of this page.
# :::

# %% [markdown] tags=["general"]
# (sec-which-test)=
# ### Which test to trust where
#
# Two datasets are two points on a map. A simulated world can be anywhere on it: popularity goes from even
# to piled up on a few items, and its relation to liking from entirely opposed to entirely agreeing. In
# each world every test orders ten systems by observed ratings, and the truth about all pairs outside
# training is known. AUC is of all items here, and of users who like some and do not like others. A relation
# and a skew together are a *kind* of worlds, of which several are drawn.
#
# Users rate rather what they will like. How far they do so is a world's [choice](#data-worlds): on the map it
# is the default, 1. At one skew it was also taken away, so that users rate *blindly*, by their activity and by
# the popularity of items alone, and doubled. What is said of worlds is said of those on the map, unless
# another choice is named.
#
# The best of nine tests is flattered by chance. So the map says beside each winner how many other tests
# may be as good: all that are not behind it by more than worlds of one kind differ. All fields of both
# maps are one family: the chance that any of them leaves out the truly best is 5 %.

# %% tags=["hide-input"]
figures.winners(simulated["worlds"]).show()

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_winners
# :name: fig-winners
#
# Which test orders systems most nearly as the truth does, in worlds that are the same in every edition.
# Relation: -1, the more popular the less liked; 1, the more liked. Skew: Gini coefficient of the items'
# ratings. Bold: surely the best of its field; +3: three others may be as good.
# ```

# %% tags=["hide-input"]
figures.over_relation(simulated["worlds"]).show()

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_relations
# :name: fig-relations
#
# How well tests order systems, averaged over skews. SR is stratified recall with $\gamma=1$; grey: the
# other tests. Whiskers: 95 % intervals over worlds.
# ```

# %% [markdown]
# :::{finding} own/WORLDS-BPREF-AUC
# holds: By all items bpref has the largest mean of all tests in {value:cases} of the {cases} kinds of worlds on
#   the map, and is surely the best in {low:cases}.
# refuted: By all items bpref has the largest mean of all tests in no more than {value:cases} of the {cases} kinds
#   of worlds on the map.
# open: By all items bpref has the largest mean of all tests in {value:cases} of the {cases} kinds of worlds on the
#   map; it surely is the best in {low:cases}, and may be in {high:cases}.
# :::
# :::{finding} own/WORLDS-BPREF-P
# holds: By the first ten it has that in {value:cases}, and is surely the best in {low:cases}.
# refuted: By the first ten it has that in no more than {value:cases}.
# open: By the first ten it has that in {value:cases}; it surely is the best in {low:cases}, and may be in
#   {high:cases}.
# :::
# :::{finding} own/WORLDS-BPREF-LEAST
# holds: Its mean $\tau$ with either truth is {value:.2f} or more in every kind of worlds, whatever the choice.
# refuted: -
# open: -
# :::
# :::{finding} own/WORLDS-BLIND-BPREF
# holds: Where users rate blindly, it is {value:.2f} or more.
# refuted: -
# open: -
# :::
#
# :::{finding} own/WORLDS-OPPOSED-AR
# holds: **Where popularity opposes liking entirely** and the skew is 0.5 or more, plain AR orders systems the
#   wrong way round: its $\tau$ is {value:.2f} at most.
# refuted: **Where popularity opposes liking entirely** and the skew is 0.5 or more, plain AR does not order
#   systems the wrong way round everywhere: its $\tau$ reaches {value:.2f}.
# open: **Where popularity opposes liking entirely** and the skew is 0.5 or more, $\tau$ of plain AR is
#   {value:.2f} at most ({low:.2f} to {high:.2f}).
# :::
# :::{finding} own/WORLDS-OPPOSED-LEAD
# holds: By the first ten U1R is ahead of AR at every skew, by {value:.2f} of $\tau$ where it leads least.
# refuted: By the first ten U1R is not ahead of AR at every skew.
# open: Whether U1R is ahead of AR by the first ten, at every skew, is open ({low:.2f} to {high:.2f}).
# :::
# :::{finding} own/WORLDS-OPPOSED-LIKES
# holds: That is no praise: no test that counts likes alone has a mean $\tau$ above {value:.2f} there.
# refuted: Tests that count likes alone reach a mean $\tau$ of {value:.2f} there.
# open: The best mean $\tau$ of tests that count likes alone is {value:.2f} there ({low:.2f} to {high:.2f}).
# :::
#
# :::{finding} own/WORLDS-UNRELATED
# holds: **Where popularity says nothing about liking** no test that counts likes alone is good: the best
#   $\tau$ with true P@10 is {value:.2f}.
# refuted: **Where popularity says nothing about liking** tests that count likes alone reach a $\tau$ of
#   {value:.2f}.
# open: **Where popularity says nothing about liking** the best $\tau$ of tests that count likes alone is
#   {value:.2f} ({low:.2f} to {high:.2f}).
# :::
# :::{finding} own/WORLDS-UNRELATED-BLIND
# holds: P1R is misled by what users choose: where they rate blindly, it has a $\tau$ of {value:.2f}.
# refuted: Where users rate blindly, P1R has a $\tau$ of {value:.2f}, and no more.
# open: Where users rate blindly, P1R has a $\tau$ of {value:.2f} ({low:.2f} to {high:.2f}).
# :::
#
# :::{finding} own/WORLDS-AGREE-LEAD
# holds: **Where popularity agrees with liking entirely** and the skew is 0.5 or more, a uniform test makes
#   things worse: by the first ten AR is ahead of U1R, by {value:.2f} of $\tau$ where it leads least ({low:.3f} to
#   {high:.3f}).
# refuted: **Where popularity agrees with liking entirely** and the skew is 0.5 or more, AR is not ahead of U1R
#   everywhere.
# open: **Where popularity agrees with liking entirely** and the skew is 0.5 or more, whether AR is ahead of
#   U1R is open ({low:.2f} to {high:.2f}).
# :::
# :::{finding} own/WORLDS-AGREE-BPREF
# holds: AR is ahead of bpref as well there, by {value:.2f} where it leads least.
# refuted: AR is not ahead of bpref there.
# open: Whether AR is ahead of bpref there, is open ({low:.2f} to {high:.2f}).
# :::
# :::{finding} own/WORLDS-AGREE-AUC
# holds: By all items AR is ahead of U1R there as well, by {value:.2f} where it leads least.
# refuted: By all items AR is not ahead of U1R everywhere there.
# open: By all items it is open there whether AR is ahead of U1R ({low:.2f} to {high:.2f}).
# :::
#
# :::{finding} own/WORLDS-AR-BEST
# holds: By the first ten plain AR cannot be the best of the nine in any kind of worlds where the relation is 0
#   or less.
# refuted: By the first ten plain AR is the best of the nine in some worlds where the relation is 0 or less.
# open: Where the relation is 0 or less, by the first ten plain AR has the largest mean of the nine in {value:cases}
#   of {cases} kinds of worlds, and may be the best in {high:cases}.
# :::

# %% [markdown] tags=["general"]
# (tbl-likes-only)=
# bpref compares what a user likes with what the same user rated and does not like. If popular items are
# rated more often whether they are liked or not, popularity is in both and cancels; the other tests
# compare with items that nobody rated. So bpref needs ratings that say dislike, and users who give them
# about popular items as they do about others. Where there are likes alone, these are left:

# %% tags=["hide-input"]
shown = {"names": LIKES_ONLY, "by": ("relation",)}
asked = worlds.TRUTHS
found = {truth: best_protocols(simulated["worlds"], truth, **shown) for truth in asked}
Markdown(best_table(found))

# %% [markdown] tags=["general"]
# The best of the tests that need no dislikes, over all skews together; $\tau$ with its 95 % interval over
# worlds. May be as good: not behind by more than chance allows, so that the truly best is named for all
# relations, by both truths, with a chance of 95 %.

# %% [markdown]
# :::{finding} own/WORLDS-AR-LIKES
# holds: Among tests that need no dislikes plain AR has the largest mean by the first ten in {value:cases} of the
#   {cases} kinds of worlds; it is surely the best in {low:cases}, and may be in {high:cases}.
# refuted: Among tests that need no dislikes plain AR has the largest mean by the first ten in as many as
#   {value:cases} of the {cases} kinds of worlds.
# open: Among tests that need no dislikes plain AR has the largest mean by the first ten in {value:cases} of the
#   {cases} kinds of worlds; that it is the best is sure in {low:cases}, and possible in {high:cases}.
# :::

# %% [markdown] tags=["general"]
# ### Is there a right $\gamma$?
#
# {cite:t}`steck2011` derives the weights of stratified recall. If a user likes item $i$, let $p_i$ be the
# probability that the like is rated, and let a rating go to the test with probability $\sigma$. A like is
# in the test with probability $\sigma p_i$, and it is outside training with probability
# $1-(1-\sigma)p_i$. So hits weighted by
#
# $$w_i=\frac{1-(1-\sigma)\,p_i}{p_i}$$
#
# count, up to a factor and on average, all likes among the first $n$ items outside training, and the
# ratio of such sums over *all* users estimates true recall. The printed form sets $w_i$ to a power of
# the item's positives instead, and averages over users.

# %% tags=["hide-input"]
figures.weights(simulated["steck"]).show()

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_steck
# :name: fig-steck
#
# Stratified recall as printed, over true recall, less 1, in worlds in which an item's likes are all rated
# with the same chance. Means over ten systems; whiskers: 95 % intervals over worlds.
# ```

# %% [markdown]
# :::{finding} own/STECK-LAW
# holds: With the right weights the estimate is within three standard errors of true recall as often as it
#   should be: in {value} of the cases, each of them a system in a world.
# refuted: With the right weights the estimate is within three standard errors of true recall in {value} of
#   the cases only, each of them a system in a world.
# open: -
# :::
# :::{finding} own/PRINTED-AGREES
# holds: As printed, with $\gamma=1$, it is {value} too high where popularity and liking agree entirely.
# refuted: As printed, with $\gamma=1$, it is not too high where popularity and liking agree entirely:
#   {value}.
# open: -
# :::
# :::{finding} own/PRINTED-OPPOSED
# holds: Where they are entirely opposed, not even an infinite $\gamma$ is enough: it is {value} too high.
# refuted: Where they are entirely opposed, an infinite $\gamma$ makes it {value} off.
# open: -
# :::
# :::{finding} own/PRINTED-OVERSTATED
# holds: What matters for an order: it is not off by the same for all systems. With $\gamma=1$ it is {value} too
#   high for Popularity.
# refuted: What matters for an order: with $\gamma=1$ it is {value} off for Popularity.
# open: -
# :::
# :::{finding} own/PRINTED-UNDERSTATED
# holds: For the average rating it is too low ({value}).
# refuted: For the average rating it is not too low ({value}).
# open: -
# :::

# %% [markdown] tags=["general"]
# An order may be right all the same. So which $\gamma$ orders systems best?

# %% tags=["hide-input"]
figures.best_gamma(simulated["worlds"]).show()
Markdown(best_gamma.best_gammas_table(simulated["worlds"], simulated["steck"]))

# %% [markdown] tags=["general"]
# Best $\gamma$: that of the largest $\tau$, and in brackets the range of those that may be as good.
# Exponent: of the power of an item's positives that $p_i$ follows most closely. Its $\gamma$ is the one whose
# weights undo that power; above 1 there is none.
#
# ```{glue:figure} fig_best_gamma
# :name: fig-best-gamma
#
# How well stratified recall orders systems in the worlds of {numref}`fig-winners`, over $\gamma$. Whiskers:
# 95 % intervals over worlds.
# ```

# %% [markdown]
# :::{finding} own/GAMMA-OPPOSED
# holds: Where popularity and liking are entirely opposed, the strongest correction is better than none, by
#   {value:.2f} of $\tau$.
# refuted: Where popularity and liking are entirely opposed, the strongest correction is no better than none.
# open: Whether the strongest correction is better than none where popularity and liking are entirely opposed,
#   is open.
# :::
# :::{finding} own/GAMMA-NONE
# holds: It is not enough: even with it $\tau$ is {value:.2f} there.
# refuted: With it $\tau$ is {value:.2f} there.
# open: With it $\tau$ is {value:.2f} there ({low:.2f} to {high:.2f}).
# :::
# :::{finding} own/GAMMA-AGREES
# holds: Where they agree entirely, to correct nothing ($\gamma=0$) is better than the strongest correction, by
#   {value:.2f}.
# refuted: Where they agree entirely, to correct nothing ($\gamma=0$) is no better than the strongest
#   correction.
# open: Where they agree entirely, whether to correct nothing ($\gamma=0$) is better than the strongest
#   correction, is open.
# :::
# Observed likes do not say which of these it is.

# %% [markdown] tags=["general"]
# (sec-what-to-do-about-tests)=
# ## What to do about it
#
# | when you | then |
# |---|---|
# | want to know whether a system does more than repeat popularity | look at U1R or P1R: what a system has there above Popularity is not popularity |
# | want to know which system users would like better | do not take a remedy for granted: how near it is to the truth depends on how popularity and liking are related ([map](#sec-which-test)) |
# | set up a uniform test | report $T$, $\eta$ and $\sigma$; sample from $T$ |
# | see that popularity wins even in a uniform test | leave training items among the rivals once: what stays is liking, what goes is not |
# | report infAP | say what the pool is, and give both ends |
# | report stratified recall | give it over a range of $\gamma$, from 0 to infinity |
# | can collect judgments | let users judge items drawn at random: it is the only test here that needs no belief |

# %% [markdown]
# And which test, if none has random judgments? It is as good as what you believe; here is what the worlds of
# the [map](#sec-which-test) say, and of bpref what two datasets say of that.
#
# - **Ratings say dislike, too.** Report bpref beside AR:
#   :::{finding} own/WORLDS-BPREF-AUC
#   holds: in worlds, by all items, bpref is surely the best test in {low:cases} of {cases} kinds.
#   refuted: in worlds, by all items, bpref has the largest mean in no more than {value:cases} of {cases} kinds.
#   open: in worlds, by all items, bpref has the largest mean in {value:cases} of {cases} kinds (surely the best in
#     {low:cases}, possibly in {high:cases}).
#   :::
#   :::{finding} own/WORLDS-BPREF-P
#   holds: By the first ten it is so in {low:cases}.
#   refuted: By the first ten it has that in no more than {value:cases}.
#   open: By the first ten it has that in {value:cases} (surely the best in {low:cases}, possibly in {high:cases}).
#   :::
#   :::{finding} own/TRUTH-COAT-BPREF-AUC
#   holds: Coat bears the worlds out by all items: bpref has {value:cases} more of {cases} pairs of systems right
#     than AR ({low:cases} to {high:cases}).
#   refuted: Coat contradicts the worlds by all items: bpref has no more pairs of systems right than AR
#     ({low:cases} to {high:cases} of {cases}).
#   open: Whether Coat bears the worlds out by all items, is open ({low:cases} to {high:cases} of {cases} pairs of
#     systems).
#   :::
#   :::{finding} own/TRUTH-CM-BPREF-AUC
#   holds: CM100k bears them out by all items ({value:cases} of {cases}, {low:cases} to {high:cases});
#   refuted: CM100k contradicts them by all items, with fewer right than AR ({value:cases} of {cases}, {low:cases}
#     to {high:cases});
#   open: Whether CM100k bears them out by all items, is open ({low:cases} to {high:cases} of {cases});
#   :::
#   :::{finding} own/TRUTH-CM-BPREF-P
#   holds: by the first ten CM100k bears them out ({value:cases} of {cases}, {low:cases} to {high:cases}).
#   refuted: by the first ten CM100k contradicts them ({value:cases} of {cases}, {low:cases} to {high:cases}).
#   open: by the first ten that is open as well ({low:cases} to {high:cases} of {cases}).
#   :::
# - **Likes alone, and liking is entirely opposed to popularity.**
#   :::{finding} own/WORLDS-OPPOSED-LEAD
#   holds: Report U1R, which is nearer to the truth about the first ten than AR at every skew.
#   refuted: Report U1R beside AR: which of them is nearer to the truth, depends on the skew.
#   open: Report U1R beside AR: which of them is nearer to the truth, is open.
#   :::
#   :::{finding} own/WORLDS-OPPOSED-LIKES
#   holds: Claim little: no such test has a $\tau$ above {value:.2f} with the truth there. Better get dislikes.
#   refuted: Tests of likes reach a $\tau$ of {value:.2f} with the truth there.
#   open: Claim little: the best $\tau$ with the truth there is {value:.2f} ({low:.2f} to {high:.2f}). Better get
#     dislikes.
#   :::
# - **Likes alone, and popularity says nothing about liking.**
#   :::{finding} own/WORLDS-UNRELATED-P1R
#   holds: Report P1R, by the first ten the best of the tests that need no dislikes, all skews together.
#   refuted: Report P1R beside U1R: it is not the best of the tests that need no dislikes.
#   open: Report P1R beside U1R: which is the best of the tests that need no dislikes, is open.
#   :::
#   :::{finding} own/WORLDS-UNRELATED
#   holds: Claim little here, too: no such test has a $\tau$ above {value:.2f} with the truth.
#   refuted: Tests of likes reach a $\tau$ of {value:.2f} with the truth there.
#   open: Claim little here, too: the best $\tau$ with the truth is {value:.2f} ({low:.2f} to {high:.2f}).
#   :::
# - **Likes alone, and liking goes with popularity in part.**
#   :::{finding} own/WORLDS-PARTLY-P1R
#   holds: Report P1R, by the first ten the best of the tests that need no dislikes, all skews together.
#   refuted: Report AR with P1R beside it, though P1R is not the best of the tests that need no dislikes there.
#   open: Report AR with P1R beside it: that P1R is the best of the tests that need no dislikes there, is not
#     sure.
#   :::
# - **Likes alone, and liking goes with popularity entirely.**
#   :::{finding} own/WORLDS-AGREE-LEAD
#   holds: Keep AR or 1R: where popularity is skewed by 0.5 or more, a uniform test (U1R) takes away what was
#     deserved, by the first ten (AR leads by {low:.3f} to {high:.3f} of $\tau$ where it leads least).
#   refuted: Keep AR or 1R, with a uniform test beside it: neither is nearer to the truth about the first ten in
#     all such worlds.
#   open: Keep AR or 1R, with a uniform test beside it: which is nearer to the truth about the first ten, is open.
#   :::
#   :::{finding} own/WORLDS-AGREE-AUC
#   holds: By all items AR is nearer as well.
#   refuted: By all items AR is not always nearer.
#   open: By all items it is open which of AR and U1R is nearer.
#   :::
#
# Relations in between are in the [table of tests that need no dislikes](#tbl-likes-only).

# %% [markdown] tags=["general"]
# ## What we had to decide
#
# - **Uniform tests** take the *last* $k$ that satisfies the condition and the floor of $\eta$; they cannot be
#   folds of one whole, so that several are drawn and averaged ([why](#dev-uniform)).
# - **Percentiles** are of items by training ratings. A target set that would need more items than there
#   are takes all of them ([more](#dev-percentiles)).
# - **1R, U1R and P1R** are measured in expectation over samples, and Random exactly
#   ([more](#metric-expected)).
# - **All-positive data** are these data with every rating called relevant.
# - **MF and kNN** are read as predictors of ratings where the paper's figures are judged, as in
#   chapter 1 ([E25](#err-e25)).
# - **bpref and infAP** are those of trec_eval; infAP has two pools ([why](#dev-incomplete)).
# - **Ties** are broken by one seeded key per user and item ([why](#dev-ties)).
#   {ref}`All decisions <sec-decisions>` are on one page.
#
# ## On your data
#
# ```bash
# recbias run 04_overcoming_popularity_bias --dataset my_ratings.csv -p min_rating 4 -p sigma 0.1
# ```
#
# The [rerun page](#rerun-own-table) says what the table must look like. If no set of items can give the
# share `sigma`, the error says how much is possible. Without random judgments the
# [section on truth](#sec-real-truth) shows CM100k and Coat.
#
# ## Exercises
#
# Four, from easy to hard, with starter code and a check that says whether the answer is right.
# Solutions fold out on the page; on paper they are left out.
#
# ````{exercise} A mean over percentiles
# :label: ex-p1r
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

# %% [markdown] tags=["general"]
# ## Summary
#
# - Popularity's advantage in a test can be cut: by testing items among equally popular ones, or all items
#   equally often. Data have to allow it.
# - What is left has two causes: that ratings of popular items say liking more often, and that what users
#   have in training is missing among the rivals.
# - Metrics for incomplete judgments take something for granted about what is judged: a fair sample,
#   a pool, a known law. Recommender data rarely grant it.
# - A test that popularity cannot win is not a test that is right. How near to the truth it is depends on how
#   popularity and liking are related, and no split of likes can tell that.
# - Ratings that say dislike may help, as far as popularity is in them as it is in likes, or mislead; two
#   datasets that know the truth need not agree on that.
#
# ```{seealso}
# [Notation and glossary](#sec-symbols), [decisions](#sec-decisions), [errata](#sec-errata), and the
# {doc}`scorecard </notebooks/scorecard>` with every claim of the four papers.
# ```
