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
# Precision asks how many of the recommended items the user is known to like. For most of them nothing
# is known: a user has rated a few items out of thousands, and what they think of the rest nobody
# recorded. Now let even more be unknown. Take test ratings out at random, and leave all else as it is:
# training, users, items, and every single list.
#
# ```{glue:figure} fig_lists
# :name: fig-lists
# :alt: Stacked bars for each system, twice: the shares of its recommended items that are known to be relevant, that were rated lower, and that nobody rated.
#
# What is known of the first {glue:text}`cutoff` items of each list: with all test ratings, and with a
# tenth of them. Blue is precision. The grey part counts as failure, whatever it may be.
# ```
#
# No list has become any worse. What has become less is what anybody knows.
#
# - **The value.**
#   :::{finding} own/AR-TENTH
#   holds: With a tenth of the test ratings no system keeps more than {value} of its precision.
#   refuted: With a tenth of the test ratings {which} keeps {value} of its precision, and that is most.
#   open: With a tenth of the test ratings {which} keeps most of its precision, {value} ({low} to {high}).
#   :::
#   :::{finding} own/RUNS-TENTH
#   holds: Ranked as one relevant item among {glue:text}`n_others` sampled ones, the same lists keep
#     their value: it moves by {value} at most, for {which}.
#   refuted: Ranked as one relevant item among {glue:text}`n_others` sampled ones, {which} moves by
#     {value}.
#   open: Ranked as one relevant item among {glue:text}`n_others` sampled ones, {which} moves most, by
#     {value} ({low} to {high}).
#   :::
# - **The order.**
#   :::{finding} own/ORDER-TENTH
#   holds: The order of the systems hardly notices: Kendall's $\tau$ between all test ratings and a
#     tenth of them is {value:.2f}.
#   refuted: The order of the systems does change: Kendall's $\tau$ between all test ratings and a tenth
#     of them is {value:.2f}.
#   open: Kendall's $\tau$ between the orders by all test ratings and by a tenth of them is {value:.2f},
#     and may be anything from {low:.2f} to {high:.2f}.
#   :::
# - **What is lost is certainty.**
#   :::{finding} own/PAIRS-FULL
#   holds: Of {glue:text}`n_pairs` pairs of systems, {value} are told apart by all test ratings,
#   refuted: Not one of {glue:text}`n_pairs` pairs of systems is told apart by all test ratings,
#   open: Of {glue:text}`n_pairs` pairs of systems, {low} to {high} are told apart by all test ratings,
#   :::
#   :::{finding} own/PAIRS-TENTH
#   holds: and {value} by a tenth of them.
#   refuted: and none by a tenth of them.
#   open: and {low} to {high} by a tenth of them.
#   :::
#
# {cite:t}`BCC17` call the first of these **sparsity bias**. This chapter repeats Section 4 of their
# paper, and then asks two questions that a practitioner has to answer and nobody tells them how: how
# many sampled items are enough, and how many judgements.

# %% [markdown] tags=["general"]
# **After this chapter you can**
# - say which part of a precision value is the recommender and which is the data;
# - predict what a non-personalised recommender scores, before running anything;
# - tell which metrics can be compared between datasets, and which only within one;
# - choose the size of a sample, and of a test set, for the comparison that you want to make.

# %% tags=["hide-input", "remove-output"]
from IPython.display import HTML, Markdown
from myst_nb import glue

from recbias import Grid, line_up, plotting, run
from recbias.claims import judge_chapter, pages, seeds, state, verdict_cards
from recbias.claims import sparsity_bias as chapter
from recbias.datasets import top_rating
from recbias.recommenders import with_seeds

# %% tags=["parameters"]
dataset: str = "ml-1m"
min_rating: float | None = None  # 0 to 1000: smallest relevant rating; none = top of the scale
cutoff: int = 10  # 1 to 1000: length n of the lists that P@n looks at
size: int = 100  # 2 to 100000: size of a 1R target set
split: str = "k-fold 5"
systems: str = "bcc17"  # one of bcc17: line-up of systems
seed: int = 1  # 0 to 1000000
n_seeds: int | None = None  # 1 to 100: of random training; none = 5 on published data, else 1
workers: int = 2  # 1 to 64: processes; results do not depend on them

# %% tags=["remove-cell"]
plotting.use_book_style()
min_rating = top_rating(dataset) if min_rating is None else min_rating
n_seeds = n_seeds or seeds.training_seeds(dataset)
quoted = {"size": f"{size:,}", "min_rating": f"{min_rating:g}", "cutoff": f"{cutoff}"}
quoted |= {"n_others": f"{size - 1:,}"}
quoted["n_seeds"] = "1 seed" if n_seeds == 1 else f"{n_seeds} seeds"
for name, text in quoted.items():
    glue(name, text, display=False)

# %% [markdown] tags=["general"]
# ## What the paper says
#
# Search engines are tested with collections whose judgements are nearly complete for the documents that
# matter: assessors look at everything that any system ranked high. A user of a recommender has rated a
# few items out of thousands, and no assessor helps. Precision counts every unknown item as a failure.
# Most of what it counts is therefore not the recommender but the *density* of what was recorded.
#
# Chapter 1 has the symbols ([target sets](#sec-options), [all symbols](#sec-symbols)). Three more are
# needed here. The share of relevant items in a target set, averaged over users, is $\rho$; the share of
# ratings that is in test, $\sigma$; the density of positive ratings, $\delta=|PR|/(t|\mathcal U|)$,
# with the harmonic mean $t$ of the sizes of target sets.
#
# The paper's argument has three steps. It computes what a **random** ranking scores; shows that this
# depends on nothing but density; and finds, on data, that other recommenders follow.
#
# **AR.** Let a recommender $s$ know nothing about users, so that its item of rank $k$ is relevant with
# a chance that does not depend on whom it is shown to. Then (Eq. 3; $\mathcal C$ are the candidates)
#
# $$\mathbb E[P_s@n]=\frac{\sigma\,|\mathcal C|}{n\,t\,|\mathcal U|}
# \sum_{k\le n}\operatorname{avg}_u|PR(i_k)| ,$$
#
# which for a random ranking becomes (Eq. 4)
#
# $$\mathbb E[P_{RND}@n]=\rho\approx\sigma\delta .$$
#
# **1R.** With one relevant item among $t$ targets, a random ranking scores (Eq. 5)
#
# $$\mathbb E[1RP_{RND}@n]=\frac1t .$$
#
# So the first is proportional to the density of the test data, at any cutoff, and the second does not
# know it.
#
# ### The claims
#
# As in chapter 1, every assertion that can be measured has a criterion, written down before the result
# that it judges and locked by a hash.

# %% tags=["hide-input"]
HTML(pages.claims_of("sparsity bias"))

# %% [markdown] tags=["general"]
# ## Predict before measuring
#
# ::::{predict} Half of the test ratings are taken out at random. No list changes. What becomes of the expected P@10 of a system that knows its users well?
# - it halves
# - it falls by less than half, since good lists hold what users liked most
# - it stays, since the lists are the same
#
# It halves, and no theory of recommenders is needed to know it. A place of a list counts if its item is
# a relevant test rating, and each of these survives with chance one half. The sum of hits halves in
# expectation, for *every* system, personalised or not; only the division by $n$ and by the number of
# users follows, and neither changes.
# ::::
#
# That is stronger than the paper's argument, and simpler. It asks for three things: ratings leave *at
# random*; the lists stay; and users who have no relevant item left still count, with 0. The first is
# the one that fails in practice. A dataset that is sparser than another did not lose ratings at random.
#
# ::::{predict} And the expected 1RP@10, with one relevant item among 99 sampled others?
# - it halves too
# - it stays
# - it rises, since there are fewer relevant items to compete with
#
# It stays. Fewer test ratings make fewer runs, and those that are left are a random half of them; a mean
# over a random half has the same expectation. (A removed item may be drawn as one of the 99 others from
# then on, and a good list has put it high. Only in this way the expectation could fall, and only where
# many of the candidates are relevant.)
# ::::

# %% [markdown] tags=["general"]
# ## The experiment
#
# Every system is trained on each fold, those whose training is random under {glue:text}`n_seeds` per
# fold ([why](#dev-training-seeds)), and ranks its targets once. Nothing is trained or ranked again for
# a thinner test: from one table of ranks follows what any part of the test ratings would have given
# ([how](#dev-thinning)). Under 1R no sample is drawn either. Values are *expected* over all samples,
# exactly, from the counts of one ranking of all items ([how](#metric-expected)).

# %%
asked, thinned = chapter.protocols(min_rating)
n_sampled = chapter.largest_sample(dataset, size, split=split, seed=seed)
measures = chapter.metrics(cutoff, size, chapter.target_sizes(size, n_sampled))
measured = run(
    Grid(
        dataset,
        with_seeds(line_up(systems), n_seeds),
        asked,
        measures,
        split=split,
        seed=seed,
        tests=thinned,
        replicates=chapter.combined(measures),
    ),
    workers=workers,
    record="02_sparsity_bias/systems",
)

# %% tags=["hide-input"]
Markdown(pages.data_line(measured))

# %% tags=["remove-cell"]
shares = chapter.list_shares(measured)
title = chapter.list_shares_title(shares, cutoff)
figure = plotting.plot_list_shares(shares, title=title)
glue("fig_lists", figure, display=False)
glue("n_pairs", f"{len(measured.systems) * (len(measured.systems) - 1) // 2}", display=False)

# %% tags=["hide-input"]
panels = chapter.figure_4(measured, cutoff, size)
title = chapter.figure_4_title(panels)
shown = {"across": chapter.FIGURE_4, "up": f"P@{cutoff}", "marked": chapter.MARKED}
figure = plotting.plot_courses(panels, title=title, **shown)
glue("fig_courses", figure, display=False)
HTML(plotting.downloads(figure, chapter.joined(panels), f"figure-4-{measured.dataset['name']}"))

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_courses
# :name: fig-courses
# :alt: Precision of each system under AR and under 1R against the share of test ratings that is kept, and under 1R against the size of the target sets, each beside what theory predicts.
#
# The paper's Figure 4, with theory beside it. Marks are means over the folds, with 95 % intervals from
# resampling users. Lines are what theory predicts from the mark with all test ratings (left, centre)
# or with the smallest target sets (right): in proportion, constant, and as $1/t$.
# ```

# %% tags=["hide-input"]
slopes = chapter.metric_slopes(measured)
title = chapter.metric_slopes_title(slopes)
figure = plotting.plot_metric_slopes(slopes, title=title)
glue("fig_slopes", figure, display=False)
HTML(plotting.downloads(figure, slopes.set_index("metric"), f"slopes-{measured.dataset['name']}"))

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_slopes
# :name: fig-slopes
# :alt: Slope of each metric against the share of the test ratings that is kept, a mark per system.
#
# How metrics go with the share of the test ratings that is kept: slopes, both in logarithms, with
# 95 % intervals. "Users with one": the mean is over users who have a relevant test item left.
# ```

# %% tags=["hide-input"]
results = {"systems": measured}
verdicts = judge_chapter("sparsity bias", results)
HTML(verdict_cards(verdicts))

# %% tags=["remove-cell"]
state("sparsity bias", results, verdicts)
