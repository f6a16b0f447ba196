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
# *Popularity* puts first what most people rated. Count how many of the first {glue:text}`cutoff` items a user liked
# (rated {glue:text}`min_rating` or more): precision, "P@{glue:text}`cutoff`". One thing is left to choose: *which*
# items are ranked.
#
# :::{finding} own/POPULARITY-RANGE
# holds: **That decides the value:** the largest of four choices scores {value:.1f} times the smallest.
# refuted: **That decides little here:** the largest of four choices scores {value:.1f} times the smallest.
# open: **That moves the value:** the largest of four choices scores {value:.1f} times ({low:.1f} to {high:.1f}) the
#   smallest.
# :::
#
# **What to do.** Say which items were ranked beside every number, print what a random ranking scores there, and
# compare no values across designs: [which design to use, and what to report](#sec-which-design).
#
# ```{glue:figure} fig_one_ranking
# :name: fig-one-ranking
#
# One ranking, one dataset, one metric, and four choices of the items that are ranked: all that anybody has test
# data for, a sample of them, one relevant item among a few sampled ones, or only what the user rated in the test.
# Whiskers: 95 % intervals. Dashed: the largest possible value.
# ```
#
# - :::{finding} own/RTEST-TAU
#   holds: **For the order of systems, it matters:** {glue:text}`winners` (Kendall's $\tau$ of the two orders is
#     {value:.2f}; it is 1 for the same order, and −1 for the reverse).
#   refuted: **For the order of systems, it matters little here:** {glue:text}`winners` (Kendall's $\tau$ of the two
#     orders is {value:.2f}; it is 1 for the same order).
#   open: **For the order of systems, that is open here** for want of {glue:text}`wanted`: {glue:text}`winners`
#     (Kendall's $\tau$ of the two orders is {value:.2f}, 95 % interval {low:.2f} to {high:.2f}; it is 1 for the same
#     order, and −1 for the reverse).
#   :::
# - :::{finding} own/UNIT-FLIPS
#   holds: **For a test of significance, it matters:** with one relevant item per ranking, {glue:text}`flip_per_run` beats
#     {glue:text}`flip_per_user` if rankings are counted, and loses to it if users are, both with
#     $p \le$ {glue:text}`flip_p`.
#   refuted: **For a test of significance, not here:** with one relevant item per ranking, every pair of systems has
#     the same winner whether rankings are counted or users.
#   open: **For a test of significance, that is open here** for want of {glue:text}`wanted`: with one relevant item per
#     ranking, up to {high} of {glue:text}`n_pairs` pairs of systems may have another winner if rankings are counted
#     than if users are.
#   :::

# %% [markdown] tags=["general"]
# None of this is a bug, and none of it is cheating: all four choices are in use, all four numbers go by one name, and
# tables that chose differently are compared every day. {cite:t}`BCC17` put the choices in order and ask what they do
# to the number. This chapter repeats Sections 2 and 3 of their paper.
#
# ## One case by hand
#
# Four items. Popularity ranks them A, B, C, D. In the test our user rated three: liked B and D, and disliked C.
# Somebody else rated A. Only the first place counts, P@1.
#
# | what is ranked | targets of a list | Popularity | a random ranking |
# |---|---|---|---|
# | all tested items | A, B, C, D | 0 | 1/2 |
# | a sample: one item that is not liked | A, B, D, or B, C, D | 1/2 | 2/3 |
# | one liked item, and a sample of one | A, B, or B, C, or A, D, or C, D | 1/4 | 1/2 |
# | the user's own test ratings | B, C, D | 1 | 2/3 |
#
# One list, and P@1 is all that it can be. In the first row A is in the way, and nobody knows whether our user would
# like it. In the second A is in the way of one sample of two; in the third A is in two runs of four, and C in one. In
# the last A cannot be: what the user did not rate is not there. The random ranking knows nothing, and its value
# changes as well. So it tells how hard the task was made.
#
# **After this chapter you can** name the three options that define which items are ranked, and read a code such as
# `TI-NN-1R`; say what a random recommender scores under each design, before running anything; tell what another unit
# of a test, or another algorithm of the same name, would change; and write down a design so that others can compare
# with your numbers. *About 45 minutes; all you need is what a mean is.*

# %% tags=["hide-input", "remove-output"]
from IPython.display import HTML, Markdown
from myst_nb import glue

from recbias import Grid, line_up, run
from recbias.book import choosing, pages
from recbias.book import explorer as exploring
from recbias.book.cards import verdict_table
from recbias.book.chapters.design_alternatives import figures, measure, setup, tables
from recbias.book.chapters.design_alternatives.designs import every_design
from recbias.book.chapters.design_alternatives.panels import (
    flips_quoted,
    four_designs,
    mover_quoted,
    taus_quoted,
    winners_quoted,
)
from recbias.book.chapters.design_alternatives.truth import (
    SIMULATION,
    own_ratings_told,
    places_table,
)
from recbias.book.figures import use_book_style
from recbias.book.findings import findings_table, state
from recbias.book.html import folded
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
# ## The three options
#
# Search engines have been evaluated in the same way since the 1960s, after experiments at the college of Cranfield:
# documents, queries, and judgments of which document answers which query. In recommendation a user takes the place of
# a query, the items to be ranked that of the documents, and test ratings that of judgments. Two differences cause
# all the trouble that this book is about: relevance is known for a sliver of the pairs only (*sparsity*), and what is
# known piles up on few items (*popularity*).
#
# A user $u$ has a **target set** $T_u$, the items that are ranked for them. It joins their relevant test items
# $PR_{test}(u)$, those rated {glue:text}`min_rating` or more, with non-relevant items $N_u$: unrated ones, and test
# items rated lower. What a user rated in training is never ranked. Three choices fix the rest (Table 3 of the paper;
# the symbols are on the [notation page](#sec-symbols)).
#
# | option | one way | the other way |
# |---|---|---|
# | candidates $\mathcal C$ | **AI**: the whole catalogue | **TI**: items with a test rating of anybody |
# | relevant items | **AR**: all in one target set | **1R**: one per target set, a *run* each |
# | non-relevant items | **AN**: all candidates left | **NN**: a sample of fixed size |
#
# So `TI-NN-1R` ranks one relevant item at a time among sampled items that have test ratings. Some authors rank the
# user's own test ratings and nothing else, $T_u=R_{test}(u)$; the paper names that choice and discards it. Under 1R
# precision is averaged over runs, that is over relevant test items and not over users (Eq. 1 of the paper;
# $\tau_u(i,T)$ is the rank of item $i$ in $T$):
#
# $$P@n=\frac1{|\mathcal U|}\sum_u\frac{|top(T_u,n)\cap PR_{test}(u)|}{n},$$
#
# $$1RP@n=\frac{1}{|PR_{test}|}\sum_u\sum_{r}\frac{[\tau_u(i_r,T_u^r)\le n]}{n}.$$

# %% tags=["hide-input"]
Markdown(
    folded("Search and recommendation side by side (Table 1 of the paper)", pages.task_table())
)

# %% [markdown] tags=["general"]
# ## Predict before measuring
#
# Two questions that need no data. Commit yourself first.
#
# ::::{predict} One relevant item is ranked among 99 others, at random. What is the expected P@10?
# - 1/10: one of ten places
# - 1/100: one of a hundred items
# - it depends on how many relevant items the user has
#
# 1/100. The relevant item is within the first ten with chance 10/100, and then precision is 1/10. The cutoff
# cancels, and there is one relevant item whatever the user has.
#
# :::{right} 2
# :::
# ::::
#
# ::::{predict} And what is the largest P@20 that a perfect ranking reaches there?
# - 1
# - 1/10, as for P@10
# - 1/20
#
# 1/20. A run holds one relevant item, so at most one of the places is a hit, however many there are: $1RP@n\le 1/n$.
#
# :::{right} 3
# :::
# ::::
#
# A random ranking puts every target at every place with equal chance. Its expected precision is $\rho$, the share of
# relevant items in the target set, at any cutoff (Eqs. 4 and 5):
#
# $$\mathbb E[P_{RND}@n]=\rho,\qquad\mathbb E[1RP_{RND}@n]=\frac1t,$$
#
# $$\rho=\operatorname{avg}_u\frac{|T_u\cap PR_{test}(u)|}{|T_u|}\approx\sigma\delta .$$
#
# Here $\sigma$ is the share of test ratings, $\delta$ the density of positive ratings and $t$ the (harmonic) mean
# size of a target set. The approximation holds as far as large profiles and small target sets are independent, which
# they are not quite.

# %% [markdown] tags=["general"]
# ## The experiment
#
# Every system is trained on each fold, those whose training is random under {glue:text}`n_seeds` per fold
# ([why](#dev-training-seeds)). One pass over its scores then ranks the test ratings in all target sets, and every
# metric follows from those ranks. A protocol reads from left to right: the three options; the number of items in a
# target set (`t`) or in a sample (`N`); the smallest relevant rating.

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
Markdown(
    f"{pages.data_line(measured)}\n\n"
    + folded("What each protocol ranks, and sets to know of", pages.protocols_table(measured))
    + folded("The systems, and why with these parameters", pages.systems_table(systems))
)

# %% [markdown] tags=["general"]
# The systems are those of the paper's Figure 2. It names MF and kNN but neither a library nor a parameter, so both
# are here in the two readings that the field uses: as predictors of *ratings*, and as *rankers*. Three models of
# `implicit` stand for what people run today.

# %% tags=["hide-input", "remove-output"]
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
chosen = [system for system in line_up(systems) if system.name in setup.BESIDE]
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
checks = measure.checks(
    dataset, seed=seed, split=split, min_rating=min_rating, size=size, grid=measured.grid
)
identities = measure.identities()  # what holds on any data, checked once in a world
truth = measure.truth(**SIMULATION)

# %% tags=["remove-cell"]
compared = four_designs(size, n_sampled)
figures.one_ranking(measured, compared).show()
figures.gaps(lemma).show()
n_systems = len(measured.systems)
taus = taus_quoted(measured)
quoted = {f"flip_{name}": text for name, text in flips_quoted(measured).items()}
quoted |= {f"tau_{label}": text for label, text in taus.items()}
quoted |= {
    "n_pairs": f"{n_systems * (n_systems - 1) // 2}",
    "n_worlds": f"{SIMULATION['n_worlds']}",
    "winners": winners_quoted(measured),
    "wanted": "training seeds" if seeds.few_seeds(measured) else "users",
    "own_in_worlds": own_ratings_told(truth),
    "moves_most": mover_quoted(taus),
    "ceiling": f"{1 / cutoff:g}",
}
for name, text in quoted.items():
    glue(name, text, display=False)

# %% [markdown] tags=["general"]
# First the theory, on the one system that it knows all about. Random is one and the same in all rows; what changes is
# the share of relevant items among the targets, and nothing else is needed to say what it scores.

# %% tags=["hide-input"]
Markdown(tables.chance_table(measured))

# %% [markdown]
# ## What happens to the values
#
# ::::{predict} A sample takes away non-relevant items and no relevant one, so everybody gains. Who gains most, relative to their value among all tested items?
# - the strongest systems
# - the weakest systems
# - all by the same factor
#
# :::{finding} own/SAMPLED-MOST
# holds: {which}, which comes to {value} its value.
# refuted: Nobody here: {which} comes to {value} its value.
# open: Perhaps {which}, which comes to {value} its value ({low} to {high}).
# :::
# :::{finding} own/SAMPLED-WEAKEST
# holds: The weaker a system is, the more it gains as a rule ($\tau$ of gain and precision: {value:.2f}):
# refuted: The weaker do not gain more here ($\tau$ of gain and precision: {value:.2f}), though one would expect it:
# open: As a rule it is the weakest, though these data leave that open ($\tau$ of gain and precision: {value:.2f}):
# :::
# a relevant item that was ranked tenth has nothing to win where rivals are taken away; one
# that was ranked hundredth may come into the list.
#
# :::{right}
# 2: own/SAMPLED-WEAKEST holds
# 1: own/SAMPLED-WEAKEST above 0.3
# :::
# ::::
#
# ```{glue:figure} fig_values
# :name: fig-values
#
# The paper's Figure 2: its five systems, four designs, one scale. Whiskers, where they are larger than the marks: 95 %
# intervals from resampling users. On MovieLens the paper shows AI-AN, TI-AN and 1R; sampling under AR, and own test
# ratings, are ours.
# ```

# %% tags=["hide-input"]
figures.values(measured, compared).show()

# %% [markdown]
# Read along a row: it is one system with one list. Read down a colour: it is one design. Under 1R no system can pass
# {glue:text}`ceiling`, whatever it is able to do. The users' own test ratings flatter everybody, Random included, since
# only what a user chose to rate is there.
# :::{finding} BCC17-C-TIAI/1
# holds: Whether candidates are all items or those tested hardly matters here: no system changes by more than {value:.1%}.
# refuted: Whether candidates are all items or those tested matters here: {which} changes by {value:.1%}.
# open: From all items as candidates to those tested {which} changes most, by {value:.1%} ({low:.1%} to
#   {high:.1%}).
# :::
#
# ## What happens to the order
#
# Values of different designs cannot be compared; the orders of systems can.
#
# ```{glue:figure} fig_ranks
# :name: fig-ranks
#
# Ranks by precision under each design; the systems that move most stand out. The title counts pairs of systems that
# the two designs put in opposite orders, each of them beyond chance.
# ```

# %% tags=["hide-input"]
figures.orders(measured, compared).show()

# %% [markdown]
# :::{finding} own/RTEST-FIRST
# holds: The two predictors of ratings come first among the users' own test ratings. They tell well what people rate
#   high, *of what they rate*. Whether they will rate it at all is not asked there, and is most of what a recommender
#   has to know.
# refuted: Among the users' own test ratings the two predictors of ratings do not both come first, although it is just
#   what they were trained for: to tell what people rate high, *of what they rate*.
# open: Among the users' own test ratings the two predictors of ratings may come first: it is what they were trained
#   for, to tell what people rate high, *of what they rate*.
# :::
# The other designs ask, in one way or another, which items are found among those that a user never rated.
# :::{finding} BCC17-C-DISAGREE/1
# holds: They do not agree, either: between AR and 1R at least {value} of {glue:text}`n_pairs` pairs of systems change
#   order.
# refuted: Between AR and 1R no pair of systems changes order.
# open: Between AR and 1R up to {high} pairs of systems may change order; more {glue:text}`wanted` would decide it.
# :::
# A run asks whether *this* item beats a hundred random ones; a list of ten out of thousands asks whether it beats
# nearly all. The first question is about the whole ranking, the second about its very top, and a system may be good
# at one and poor at the other.

# %% tags=["hide-input"]
Markdown(
    folded(
        "All systems, among all tested items and own ratings", tables.own_ratings_table(measured)
    )
    + folded(
        "What moves the order more, another metric or another design?",
        tables.metrics_table(measured, ("nDCG", "AP", "RR", "R")),
    )
)

# %% [markdown] tags=["general"]
# ## Every design at once
#
# Three options of two ways each are eight designs, and test ratings alone are a ninth. All of them are below, on the
# same systems and the same test ratings. Samples from the whole catalogue, which nobody drew, are expected over all
# samples (`P@n|N=N` and `P@n|t=T` of the [notation page](#metric-expected)), from the counts of one pass.
#
# ::::{predict} Start with all tested items, all relevant ones in one list, and rank one relevant item at a time among a sample instead. How far does that move the order of systems?
# - not at all: it is the same precision, divided by something else
# - as far as it does to rank only the user's own test ratings, or farther
# - less far than that
#
# Kendall's tau with the order at the start is {glue:text}`tau_1R` for one relevant item among a sample, and
# {glue:text}`tau_R_test` for test ratings alone; it is {glue:text}`tau_AI` for all items of the catalogue, and
# {glue:text}`tau_NN` for a sample of the other items only. The order moves most with *{glue:text}`moves_most`*.
#
# :::{right}
# 1: own/RUNS-SAME-ORDER holds
# 3: own/RUNS-LESS-FAR holds
# 2: own/RUNS-LESS-FAR refuted
# :::
# ::::

# %% tags=["hide-input"]
shown = exploring.from_results(explored, designs.states)
HTML(
    exploring.explorer_html(
        shown, designs.axes, start=designs.start, name="designs", source=explored
    )
)

# %% [markdown] tags=["general"]
# <div class="explorer-hint">
#
# Three things to try:
#
# - Choose one relevant item per run, then other cutoffs. The ceiling $1/n$ comes down on the bars.
# - Choose a sample, then all others, and look at the line of a random ranking: theory says how far it moves, before
#   anything is run.
# - Let the scale follow the choice, and compare the lengths of bars between two designs, then their numbers.
#
# </div>
#
# (sec-users-or-runs)=
# ## How sure is that? Users or runs
#
# The paper reports that all differences in its figure are significant, and does not say over what. Under 1R there are
# two units: users, and runs, of which each user has one per relevant test item. Runs of one user depend on each other,
# so that a test over users is the safer one. The two also ask different questions. A system that wins by runs and
# loses by users serves those better who have many relevant items; its rival serves the others. Eq. 1 averages over
# runs.
#
# Intervals in this chapter say what *other users* would give, on the same catalogue. Whoever asks what other users
# **and other items of the same kind** would give has to resample both, and a system that lives on a few items then
# depends on whether they are drawn.

# %% tags=["hide-input"]
units = {"AR, per user": ("AR", precision, "user"), "1R, per user": ("1R", precision, "user")}
units["1R, per run"] = ("1R", precision, "run")
Markdown(
    f"{pages.crossed_sentence(measured, 'AR', precision)}\n\n"
    + folded(
        "Every pair of the paper's five systems, tested over users and over runs (Wilcoxon; bold: "
        "differences of both signs)",
        pages.paired_tests_table(measured, units, systems=setup.FIGURE_2),
    )
    + folded(
        "Intervals over users, and over users and items",
        pages.crossed_table(measured, "AR", precision, systems=setup.FIGURE_2),
    )
)

# %% [markdown]
# ## One name, many algorithms
#
# The published order is pLSA, Popularity, MF, kNN, Random. Whether one finds it depends on what "MF" and "kNN" mean
# ([E25](#err-e25)). A *rating predictor* answers "how many stars would this user give?"; its kNN divides by the sum of
# similarities, its MF fits the observed stars. A *ranker* sums similarities, or fits a matrix with zeros for unrated
# pairs, and so rewards items that many people rated. The paper gives no parameters. The honest test is a grid: for
# each reading, every combination of settings that one might have run.
#
# ::::{predict} kNN as a rating predictor divides a sum over neighbours by the sum of their similarities. Add 1 to that divisor ("damping"). What happens to its precision among all tested items?
# - next to nothing, or it falls
# - it rises, but does not double
# - it becomes twice as large, or more
#
# :::{finding} own/DAMPED-KNN
# holds: At the setting of the line-up it becomes {value} what it was.
# refuted: At the setting of the line-up it becomes {value} what it was, which is little.
# open: At the setting of the line-up it becomes {value} what it was ({low} to {high}).
# :::
# A mean over one or two votes can be five stars; divided by a little more, it cannot compete with a mean over many.
# Damping takes most from items that few neighbours rated, and so lets popularity back in.
#
# :::{right}
# 1: own/DAMPED-KNN below 1.1
# 2: own/DAMPED-KNN below 2
# 3: own/DAMPED-KNN holds
# :::
# ::::
#
# ```{glue:figure} fig_settings
# :name: fig-settings
#
# Every point is one setting of the parameter grid (TI-AN-AR), with the number of settings in a row; kNN as a rating
# predictor has a row for each damping of its divisor. The order of the paper needs MF left of Popularity, and kNN
# between Random and MF.
# ```

# %% tags=["hide-input"]
figures.settings(grid).show()

# %% [markdown]
# :::{finding} own/ORDER-AS-RATERS
# holds: With MF and kNN as rating predictors, {value} of the combinations of settings give the published order: it is one
#   of readings and parameters, not of names.
# refuted: Even with MF and kNN as rating predictors, hardly any combination of settings gives the published order
#   ({value}).
# open: With MF and kNN as rating predictors, {value} of the combinations of settings give the published order ({low} to
#   {high}).
# :::
# How far nine algorithms of *one* name are apart is measured on the page of [the systems](#sec-systems).

# %% tags=["hide-input"]
Markdown(
    folded("In what share of the settings the published order holds", tables.settings_table(grid))
    + folded(
        "Does it matter what stars below 4 count, where data keep them as one value?",
        tables.stars_table(measured, stars),
    )
)

# %% [markdown] tags=["general"]
# ## Why: which design orders systems as the truth does?
#
# Observed ratings cannot say: nobody knows what people think of the items that they did not rate. In a [simulated
# world](#data-worlds) it is known: every user has a true rating of every item. There a system has a **true
# precision**: the share of the ten items at the top of a user's list that this user would give five stars, whether
# anybody saw that rating or not. It is what AI-AN-AR would measure if no judgment were missing. Each design sees the
# observed test ratings alone, and $\tau$ says how near its order comes to the order by true precision.
#
# The worlds differ in two ways. *What popularity says*: items that many rate are liked by more users than others are,
# by as many, or by fewer. *Why ratings are missing*: users choose what they rate blindly, by activity and popularity
# alone; or by liking, so that they are more likely to rate what they will like; or that twice as strongly. Each kind
# has {glue:text}`n_worlds` worlds, with a quarter of the users and of the items of MovieLens 1M, its share of observed
# pairs, and its skew of popularity.

# %% [markdown]
# ::::{predict} In a world where popular items are liked by fewer users than others, which designs still rank the better system higher, more often than not?
# - all of them: the same systems are trained on the same data
# - only those that rank unrated items
# - only the users' own test ratings
#
# :::{finding} own/WORLDS-OPPOSED-OWN
# holds: The users' own test ratings: they keep the order at a $\tau$ of {value:.2f} or more.
# refuted: Not even the users' own test ratings do so everywhere: their $\tau$ falls to {value:.2f}.
# open: Perhaps the users' own test ratings ($\tau$ of {value:.2f}, {low:.2f} to {high:.2f}).
# :::
# :::{finding} own/WORLDS-OPPOSED
# holds: No design that ranks unrated items has one above {value:.2f}: each gets nearly as many pairs of systems wrong as
#   right, or more.
# refuted: Designs that rank unrated items come to {value:.2f}.
# open: Designs that rank unrated items come to about {value:.2f} ({low:.2f} to {high:.2f}).
# :::
# These pay for being *rated*: an item that nobody observed counts as a miss, whether or not the user would like it,
# which favours systems that find popular items. Among own test ratings everything is judged, and popularity has been
# paid for already, by the choice to rate.
#
# :::{right}
# 3: own/WORLDS-OPPOSED-OWN holds and own/WORLDS-OPPOSED holds
# 1: own/WORLDS-OPPOSED-OWN holds and own/WORLDS-OPPOSED refuted
# 2: own/WORLDS-OPPOSED-OWN refuted and own/WORLDS-OPPOSED refuted
# :::
# ::::
#
# ```{glue:figure} fig_truth
# :name: fig-truth
#
# Five designs in simulated worlds, which are the same in every edition. Whiskers are 95 % intervals over worlds
# (Student's t). The line-up lacks ALS, since that does not give the same lists on every processor.
# ```

# %% tags=["hide-input"]
figures.true_orders(truth).show()

# %% [markdown]
# :::{finding} own/WORLDS-AGREEING
# holds: Where popularity agrees with liking, every design is of use: those that rank unrated items have a $\tau$ of
#   {value:.2f} or more. Which of them is nearest to the truth depends on how people choose what they rate.
# refuted: Where popularity agrees with liking, designs that rank unrated items still fall to {value:.2f}.
# open: Where popularity agrees with liking, designs that rank unrated items fall to about {value:.2f} ({low:.2f} to
#   {high:.2f}).
# :::
#
# **What this does not show.** The bounds that these sentences follow were set when the values had been seen: the worlds
# are an illustration, no test. A world is a model, and MovieLens may be none of these. Which one it resembles, its
# ratings cannot tell: what popular items would be worth to those who did not rate them is exactly what is missing.
# [Chapter 5](05_true_false_positives.py) looks at data where some ratings were asked of random items. And own test
# ratings have limits of their own: a user with no more of them than a list has places gives every system the same
# value, and a system that is tuned on them alone learns to order what users choose to rate, which is not what it will
# be asked for.

# %% tags=["hide-input"]
Markdown(
    folded(
        "By how many places a design puts each system above its true rank (+) or below it (−), where users choose "
        "by liking",
        places_table(truth, ("agrees", "opposes"), ("AR", "R_test")),
    )
)

# %% [markdown] tags=["general"]
# ## Beside: how tightly is 1R tied to AR?
#
# One relevant item at a time is no rescaling of precision, but it cannot stray far from ordinary precision on the same
# sample. The paper's lemma says how far, and its Figure 3 how the bounds close in.
#
# ````{admonition} The lemma, its proof, corrected, and Figure 3
# :class: dropdown
#
# Let all runs of a user share one $N_u$ and break ties in one order. Add the user's $k=|PR_{test}(u)|$ relevant items
# to that sample, and write $h_u(m)$ for the number of hits in the top $m$ of the joint list. Then with $m_u=n+k-1$
# (Eq. 2)
#
# $$\frac{\sum_u h_u(n)}{n\,|PR_{test}|}\ \le\ 1RP@n\ \le\
# \frac{\sum_u h_u(m_u)}{n\,|PR_{test}|}.$$
#
# *Proof.* The other $k-1$ relevant items can only push a relevant item $i$ down when they join its run, and by at most
# one place each:
#
# $$\tau(i,T_u^r)\ \le\ \tau(i,T_u)\ \le\ \tau(i,T_u^r)+k-1 .$$
#
# Left: an item within the top $n$ of $T_u$ is within the top $n$ of its run, so $h_u(n)$ counts runs that hit; summing
# over users gives the lower bound. Right: a run that hits has $\tau(i,T_u^r)\le n$, hence $\tau(i,T_u)\le n+k-1=m_u$;
# summing gives the upper bound. The paper prints the right-hand inequality reversed ([E01](#err-e01)); the lemma
# itself stands.
#
# With one relevant item per user the two bounds are the same number, so that thinner tests must bring them together.
# Larger target sets narrow the interval because the values fall; whether it narrows against the value is another
# question (BCC17-F3R).
#
# ```{glue:figure} fig_gaps
# :name: fig-gaps
#
# How far the bounds of the lemma are apart, relative to $1RP$, as test ratings are removed (left) and as target sets
# grow (right). Whiskers: 95 % intervals from resampling users, where they are larger than the marks.
# ```
# ````
#
# (sec-which-design)=
# ## What to do, and what to write
#
# No design is right and none is wrong; each answers a question. Choose by the question.
#
# | you ask | rank | and say beside the value |
# |---|---|---|
# | How good are lists of $n$ from the whole catalogue? | everything (**AN-AR**), candidates **AI**; **TI** only where nearly all items are tested | what Random scores; the share of the catalogue under TI |
# | Does *this* item come before most others, wherever it stands? | one relevant item per run (**1R**) | the size $t$, the ceiling $1/n$, and whether users or runs are averaged and tested |
# | The same as the first, with too many items to score? | the same, for a random sample of the *users*: a sample of items (**NN**) [may turn systems round](#sec-enough-negatives) | how many users; of a sample of items its size |
# | Who tells best what users think of what they rated? | the user's test ratings | that this is no measure of recommendation, since what users do not rate is not there; so beside the others, not instead |
#
# No row asks what people would think of items that they did not rate: observed ratings may not tell it
# ({numref}`fig-truth`). Whatever you choose:
#
# 1. **Write the design beside every value**: candidates, relevant and other items, $t$ or $N$, cutoff, and what is
#    averaged (BCC17-C-RANGE, whose verdict leaves own test ratings out, and asks of several datasets, too).
# 2. **Print Random and Popularity** under the same design: they cost nothing, and tell how hard the task was made
#    (BCC17-EQ4, BCC17-EQ5).
# 3. **Compare within one row and one size only.** Where two designs order your systems differently, report both: the
#    difference is a finding about the systems (BCC17-C-DISAGREE).
# 4. **Test over users, and say so** (BCC17-C-SIG; [why](#sec-users-or-runs)).
# 5. **Give formula, damping and parameters** of "MF" and "kNN" ({numref}`fig-settings`; BCC17-F2B).
#
# **When you review**, ask back if you see one of these: *P@10 without a word on what was ranked*, which can be any of
# the bars of {numref}`fig-one-ranking`; *P@n above 1/n with one relevant item per ranking*, which it cannot be
# ([why](#ex-ceiling)); *numbers from another paper in the same table*; *weak systems that come surprisingly close*, on
# a sample; *p-values over runs*, or no unit at all; *users without relevant test items*: left out, or counted as 0?
#
# **When you write**, a paragraph like these says it all. Code made them from protocols of this chapter.

# %% tags=["hide-input"]
told = [pages.methods_sentence(measured, label) for label in ("AR", "1R")]
Markdown("\n\n<!-- -->\n\n".join(told))

# %% [markdown] tags=["general"]
# ## Verdicts
#
# The *ledger* of this book lists everything that these sections of the paper state. Every assertion that can be
# measured has a criterion, locked by a hash. Many were written or changed after pilot values had been seen; their cards
# say *pilot seen*. Where a criterion had to change, the card of its claim keeps both verdicts. A part **holds** or **is
# refuted** if the whole 95 % interval lies on one side of its criterion, and **is open** if it lies on both, or if its
# verdict changes with the seed of resampling or training. A claim is **yes** if all of its core holds, **no** if none
# of it does and some is refuted, **partly** if some holds and some is refuted, **undecided** if none is refuted and
# some is open.
#
# Definitions and theorems hold on any data, and are checked in a simulated world: target sets are rebuilt user by
# user from sets of items, and on the first fold Popularity and pLSA are trained and ranked a second time, by sorting
# the scores of every target set, in code that shares nothing with the experiment's counting. Each check rejects an
# input that was broken on purpose. The table has what only a measurement can tell; behind the click below it are all.

# %% tags=["hide-input"]
results = {"systems": measured, "grid": grid, "stars": stars, "lemma": lemma, "checks": checks}
verdicts = judge_chapter("design alternatives", results)
HTML(verdict_table(verdicts))

# %% tags=["hide-input"]
stated = state("design alternatives", results, verdicts)
HTML(pages.claims_of("design alternatives") + findings_table(stated))

# %% tags=["hide-input"]
HTML(pages.options_details(results | {"explorer": explored}))

# %% tags=["remove-cell"]
stated

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
# In a clone of the book:
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
# Six, of three levels: by hand, in code, and one on your own data. Each comes with starter code, to be completed
# where the dots are, and with a check that says whether the answer is right. The checks need the installed package
# and nothing else; each takes seconds.
#
# :::{drill} precision
# Among **all items** (AI), what is P@3 of this list? Liked items are relevant.
# :::
#
# ````{exercise} The ceiling
# :label: ex-ceiling
# :class: core
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
# :class: warm-up
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
# :class: warm-up
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
# By training ratings the items come as e, h, a, d, g, b, c, f; h has no test rating and is no target.
# The first two targets of users A to F are a g, g b, d g, e a, a d and e d.
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
# :class: core
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
# :class: core
#
# The lemma's lower bound at $n=1$, for a user with two relevant items r1 and r2: rank both together
# with one sample that the two runs share. If one of them comes first, $1RP@1$ is at least 1/2.
# Give every run a sample of its own, drawn apart, instead of a shared one; two samples may come out
# alike. Find a list and samples for which the bound then fails. Does it fail in expectation?
#
# <details><summary>Hint, in steps</summary>
#
# 1. A run ranks its relevant item among its own sample. When is its P@1 0?
# 2. With one sampled item for each run, where do both have to stand for $1RP@1$ to be 0?
# 3. The bound looks at the shared sample alone. Where does that item have to stand for it to be 1/2?
# 4. Write one list in which all of this is so. For the last question, ask how each run's sample is
#    distributed, and what the mean of $1RP@1$ depends on.
#
# </details>
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
# ````{exercise} Your table, two designs
# :label: ex-own-designs
# :class: research
#
# Measure Popularity's P@10 on a table of your own under TI-AN-AR and under TI-NN-1R with a $t$ that your table allows,
# and `rho`, what a random ranking is expected to score there. How many times `rho` does Popularity score under each, and
# under which of them does it look better beside a random ranking?
#
# ```python
# from recbias.book.chapters.design_alternatives.exercises import check_own_designs
#
# check_own_designs(
#     p_ar=..., rho_ar=..., p_1r=..., rho_1r=..., t=...,
#     times_ar=..., times_1r=...,
#     better=...,  # "AR" or "1R"
# )
# ```
# ````
#
# ````{solution} ex-own-designs
# :class: dropdown
#
# ```python
# from recbias.book.chapters.design_alternatives.exercises import check_own_designs
#
# check_own_designs(
#     p_ar=0.12, rho_ar=0.01, p_1r=0.05, rho_1r=0.01, t=100,
#     times_ar=0.12 / 0.01, times_1r=0.05 / 0.01,
#     better="AR",
# )
# ```
#
# The numbers here are made up; yours come from your table. Under 1R precision ends at 1/10, ten times
# `rho` with $t=100$, however good the list is: which design flatters says nothing of the recommender.
# ````

# %% [markdown] tags=["general"]
# ## Summary
#
# It does: which items are ranked decides the value, sometimes the winner, and what a random ranking scores, which is
# the one number that tells how hard the task was made. To rank one relevant item at a time is bounded by $1/n$ and
# asks another question than a list from the catalogue, and to rank what users rated anyway is no recommendation at
# all.
# {glue:text}`own_in_worlds` So a precision means nothing without its target set, its unit, and the formulas behind "MF" and "kNN": write
# them down, and compare within one design only.
#
# ```{seealso}
# [Notation and glossary](#sec-symbols), [decisions](#sec-decisions), [errata](#sec-errata), and the
# {doc}`scorecard </notebooks/scorecard>` with every claim of the four papers.
# ```
