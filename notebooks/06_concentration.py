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
# :name: fig-lead
# :alt: A map of the ranks of seven systems by metrics of accuracy, dispersion and concentration.
#
# The poster's Figure 1, with numbers: the rank of each system by each metric, 1 (green) to 7 (red); below
# it what the rank may be, where the data leave that open. More is green, but for Gini, of which less is.
# ```

# %% [markdown]
# - **A metric by another name?**
#   :::{finding} own/LTI-LOG-COUNT
#   holds: Over sixteen systems {value} of the differences of LTI are explained by the mean logarithm of how
#     often an item is listed, a number that knows nothing of what was popular before.
#   refuted: Over sixteen systems {value} of the differences of LTI are explained by the mean logarithm of
#     how often an item is listed; the rest is something else.
#   open: Over sixteen systems {value} of the differences of LTI ({low} to {high}) are explained by the mean
#     logarithm of how often an item is listed, a number that knows nothing of what was popular before.
#   :::
# - **An even spread, and yet nothing changed.**
#   :::{finding} ATM15-C-GINI/2
#   holds: Among seven systems it does happen that the one with the more equal spread deviates less from
#     what was popular.
#   refuted: Among seven systems it does not happen in every sense that the one with the more equal spread
#     deviates less from what was popular.
#   open: Whether a system may be more even and yet nearer to what was popular is open here.
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

# %% [markdown] tags=["general"]
# **After this chapter you can**
# - compute CI, LTI and M, and say what each of them does not notice;
# - say what the $\lambda$ of LTI does, and what it was meant to do;
# - tell which metrics of concentration are one metric under several names.

# %% tags=["hide-input", "remove-output"]
from IPython.display import HTML, Markdown
from myst_nb import glue

from recbias import Grid, makers, plotting, run
from recbias.claims import concentration_metrics as chapter
from recbias.claims import judge_chapter, pages, state, verdict_cards
from recbias.claims.systems import relevance_threshold

# %% tags=["parameters"]
dataset: str = "ml-100k"
min_rating: float | None = None  # smallest liked rating; none = top of the scale - 1
cutoff: int = 10  # 1 to 50: length n of the lists
split: str | None = None  # none = k-fold 5, of simulated data k-fold 2
seed: int = 1  # 0 to 1000000
n_seeds: int | None = None  # 1 to 100: of random training; none = 5 on published data, else 1
workers: int = 2  # 1 to 64: processes; results do not depend on them

# %% tags=["remove-cell"]
plotting.use_book_style()
min_rating = relevance_threshold(dataset) if min_rating is None else min_rating
split = split or chapter.split_of(dataset)

# %% [markdown] tags=["general"]
# ## What the paper says
#
# Let $s_i$ count the positive training ratings of item $i$, and $r_i$ the lists that hold it; $S$ and $R$
# are their sums, $\tilde s_i=(s_i+1)/(S+|I|)$ and $\tilde r_i=(r_i+1)/(R+|I|)$ their smoothed shares. The
# *concentration index* asks how far one is from the other,
#
# $$CI@n=\tfrac12\sum_i\frac{s_i}{S}\ln\frac{\tilde s_i}{\tilde r_i}+\tfrac12\sum_i\frac{r_i}{R}
# \ln\frac{\tilde r_i}{\tilde s_i}\,,$$
#
# and the *long-tail index* in which direction,
#
# $$LTI_\lambda@n=\frac1{|I|}\sum_i\Bigl(\lambda-\frac{s_i}{S}\Bigr)\ln\frac{\tilde r_i}{\tilde s_i}\,.$$
#
# The poster calls $\lambda$ a percentile of popularity below which items should be listed more often. What
# it is compared with is a *share* of all ratings ([E16](#err-e16)), so that in a catalogue of thousands no
# item is above any $\lambda$ that one would choose. Beside it stands $LTI|percentile$, which compares the
# percentile of the item, as the text promises.

# %% tags=["hide-input"]
HTML(pages.claims_of("concentration metrics"))

# %% [markdown] tags=["general"]
# ## The experiment
#
# The seven systems of the poster, Random and Popularity as the two ends, and seven others so that metrics
# can be compared over sixteen systems. The poster prints neither split, threshold, length nor $\lambda$; one
# configuration was chosen before any result: lists of ten items, ratings of 4 or more (3 where the
# scale ends at 4), five folds, and $\lambda=0.8$, the tail that a head of 20 % leaves.

# %%
asked, metrics = chapter.protocols(min_rating), {"full": chapter.metrics(cutoff)}
measured = run(
    Grid(
        dataset,
        chapter.line_up_of(dataset, min_rating, n_seeds),
        asked,
        metrics,
        split=split,
        seed=seed,
        replicates=chapter.combined(metrics),
    ),
    workers=workers,
    record="06_concentration/systems",
)

# %% tags=["hide-input"]
Markdown(pages.data_line(measured))

# %% tags=["hide-input", "remove-output"]
ranked = chapter.figures.rank_map(measured, cutoff)
figure = plotting.plot_rank_map(ranked, title=chapter.figures.map_title(ranked))
glue("fig_lead", figure, display=False)
HTML(plotting.downloads(figure, ranked, "ranks"))

# %% [markdown] tags=["general"]
# ## Which metrics are one?
#
# Two metrics may be called one if Kendall's $\tau$ between the orders that they give to sixteen systems
# cannot be below .9, whatever order the pairs have that they do not resolve.
#
# ```{glue:figure} fig_alike
# :name: fig-alike
# :alt: A triangle of Kendall's tau between eleven metrics of concentration.
#
# Kendall's $\tau$ between metrics over sixteen systems; positive where both call the same systems
# concentrated. Framed: surely above .9.
# ```

# %% tags=["hide-input", "remove-output"]
alike = chapter.tau_matrix(measured, cutoff)
figure = plotting.plot_tau_matrix(alike, title=chapter.figures.alike_title(alike))
glue("fig_alike", figure, display=False)
HTML(plotting.downloads(figure, alike, "metrics"))

# %%
lengths = run(
    Grid(
        dataset,
        chapter.line_up_of(dataset, min_rating, 1),
        asked,
        {"full": chapter.other_lengths(cutoff)},
        split=split,
        seed=seed,
        replicates=(),
    ),
    workers=workers,
    record="06_concentration/lengths",
)

# %%
record = "06_concentration/explained"
given = {"cutoffs": list(chapter.CUTOFFS), "grid": measured.grid.to_dict()}
explained = makers.run_maker(record, dataset, parameters=given, record=record)

# %% [markdown]
# :::{finding} own/GINI-IS-HOOVER
# holds: Gini and Hoover are one metric here ($\tau$ = {value:.2f}).
# refuted: Gini and Hoover are not one metric here ($\tau$ = {value:.2f}).
# open: Whether Gini and Hoover are one metric is open here ($\tau$ = {value:.2f}, {low:.2f} to {high:.2f}).
# :::
# :::{finding} own/LTI-ENTROPY
# holds: The entropy of the counts explains {value} of the differences of LTI.
# refuted: The entropy of the counts explains {value} of the differences of LTI, and no more.
# open: The entropy of the counts explains {value} of the differences of LTI ({low} to {high}).
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
# In twenty worlds of 500 users and 800 items, what is listed becomes known, and the next lists are learned
# from it; eight times. *Even*: each listed item is rated with probability .3. *Attentive*: the first
# places are seen more, and what people like is taken more often.

# %%
loop = makers.run_maker(
    "06_concentration/loop", None, parameters=chapter.LOOP, record="06_concentration/loop"
)

# %% tags=["hide-input", "remove-output"]
courses = chapter.rounds_shown(loop, "even", chapter.figures.SHOWN_ROUNDS)
figure = plotting.plot_trajectories(courses, title=chapter.figures.LOOP_TITLE)
glue("fig_loop", figure, display=False)
HTML(plotting.downloads(figure, courses, "loop"))

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_loop
# :name: fig-loop
# :alt: Four panels, the Gini coefficient, CI, LTI and true precision of seven systems over eight rounds.
#
# Means over twenty worlds with their 95 % intervals; each recommended item is rated with probability .3.
# ```

# %% [markdown]
# :::{finding} own/LOOP-GINI-GINI
# holds: Gini of the first lists foretells Gini of the last ones (correlation over the seven systems
#   {value:.2f}).
# refuted: Gini of the first lists does not foretell Gini of the last ones well (correlation over the seven
#   systems {value:.2f}).
# open: Gini of the first lists foretells Gini of the last ones with a correlation of {value:.2f} ({low:.2f} to
#   {high:.2f}).
# :::
# :::{finding} own/LOOP-LTI-GINI
# holds: A larger LTI goes with more even lists in the end ({value:.2f}).
# refuted: A larger LTI does not go with more even lists in the end ({value:.2f}).
# open: LTI does not tell ({value:.2f}, {low:.2f} to {high:.2f}).
# :::
# :::{finding} own/LOOP-P-P
# holds: Systems that are right in the beginning are right in the end ({value:.2f}).
# refuted: Systems that are right in the beginning need not be right in the end ({value:.2f}).
# open: Whether systems that are right in the beginning are right in the end is open ({value:.2f}).
# :::

# %% [markdown] tags=["general"]
# ## Verdicts

# %%
record = "06_concentration/checks"
given = {"min_rating": min_rating, "cutoff": cutoff, "grid": measured.grid.to_dict()}
checks = makers.run_maker(record, dataset, parameters=given, record=record)

# %%
results = {"systems": measured, "lengths": lengths, "explained": explained, "checks": checks}
results["loop"] = loop
verdicts = judge_chapter("concentration metrics", results)
HTML(verdict_cards(verdicts))

# %% tags=["remove-cell"]
state("concentration metrics", results, verdicts)
