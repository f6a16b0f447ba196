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
# # Which of ten decisions made it win?
#
# "A beats B" is the last line of a long sentence. Before it somebody chose which ratings count, how to
# split them, whom to ask, what to rank, how to count a hit, how to average, and which test to run.
# {cite:t}`CCM20` name such decisions, here counted as ten, take two common systems, and change one decision
# at a time. Here is what becomes of "nearest neighbours beat matrix factorisation".
#
# ```{glue:figure} fig_lead
# :name: fig-options-lead
#
# One decision per row is taken otherwise than in the first, on the same ratings. To the right: what speaks for
# nearest neighbours (kNN); to the left: what speaks for matrix factorisation (MF), in the unit of each
# metric, with 95 % intervals over users. *Refusing kNN* is another kNN, of ten neighbours who share 20 items
# with the user, and has no list for users without any. The paper's parameters of MF can be read in two
# ways, as printed and as in the library that it used, RankSys ([E12](#err-e12)): a panel for each.
# ```

# %% [markdown]
# - **How much is trained on.**
#   :::{finding} own/RATIO-20-RS
#   holds: Who trains on a fifth of the ratings finds kNN ahead of MF as in RankSys, by {value:.3f} of
#     nDCG@10;
#   refuted: Who trains on a fifth of the ratings finds kNN behind MF as in RankSys ({value:+.3f} of nDCG@10);
#   open: Who trains on a fifth of the ratings finds a difference of {value:+.3f} of nDCG@10 between kNN and
#     MF as in RankSys, which leaves open who is ahead;
#   :::
#   :::{finding} own/RATIO-80-RS
#   holds: who trains on four fifths finds that MF ahead, by {value:.3f}.
#   refuted: who trains on four fifths finds that MF no better ({value:+.3f}).
#   open: who trains on four fifths finds one of {value:+.3f} between that MF and kNN.
#   :::
# - **Whom the mean is over.**
#   :::{finding} own/OVERLAP-REDUCED
#   holds: A kNN that refuses users beats MF as printed by {value:.3f} of P@10, if those whom it refuses are
#     left out of its mean.
#   refuted: A kNN that refuses users does not beat MF as printed even if those whom it refuses are left out
#     of its mean ({value:+.3f} of P@10).
#   open: Whether a kNN that refuses users beats MF as printed, if those whom it refuses are left out of its
#     mean, is open here (P@10, kNN minus MF: {value:+.3f}).
#   :::
#   :::{finding} own/OVERLAP-FULL
#   holds: If they count, it loses by {value:.3f}.
#   refuted: If they count, it does not lose, either (MF minus kNN: {value:+.3f}).
#   open: If they count, MF differs from it by {value:+.3f}.
#   :::
# - **And of fourteen systems?**
#   :::{finding} own/MOST-TURNED
#   holds: One decision alone turns the sign of {value} of their 91 pairs.
#   refuted: No decision alone turns the sign of more than {value} of their 91 pairs.
#   open: -
#   :::
#   :::{finding} own/NOISE-TURNED
#   holds: Noise alone, that of another random split of the same kind, turns {value}.
#   refuted: But noise alone, that of another random split of the same kind, turns {value} as well.
#   open: -
#   :::
# - **Which option is right?**
#   :::{finding} own/WORLDS-CONDENSED
#   holds: In simulated worlds of three kinds, whose truth is known, condensed lists agree better with it
#     than full ones, on average by {value} of the pairs of systems (right minus wrong).
#   refuted: In simulated worlds of three kinds, whose truth is known, condensed lists agree less with it than
#     full ones, on average by {value} of the pairs of systems (right minus wrong).
#   open: In simulated worlds of three kinds, whose truth is known, neither condensed nor full lists agree
#     better with it on average for certain ({value} of the pairs of systems, {low} to {high}).
#   :::

# %% [markdown] tags=["general"]
# **After this chapter you can**
# - name the ten decisions, and write those of any evaluation as one line from which it can be repeated;
# - say for each of them what it acts on, and when it changes nothing at all;
# - convert a full average into a reduced one, and see who was left out;
# - tell a reversal from the noise of another split;
# - read a methods section and list what it does not say.

# %% tags=["hide-input", "remove-output"]
from IPython.display import HTML, Markdown
from myst_nb import glue

from recbias import Grid, run
from recbias.book import choosing, pages
from recbias.book.cards import verdict_cards
from recbias.book.chapters import offline_option_taxonomy as chapter
from recbias.book.chapters.offline_option_taxonomy import (
    decisions,
    figures,
    figures_of_decisions,
    measure,
    setup,
    truths,
)
from recbias.book.figures import use_book_style
from recbias.book.findings import state
from recbias.book.systems.line_up import relevance_threshold
from recbias.claims import judge_chapter
from recbias.experiment.options import options_of
from recbias.experiment.results import begin_page

# %% tags=["parameters"]
dataset: str = "ml-1m"
min_rating: float | None = None  # smallest liked rating; none = top of the scale - 1
seed: int = 1  # 0 to 1000000
n_seeds: int | None = None  # 1 to 100: of random training; none = 5 on published data, else 1
workers: int = 2  # 1 to 64: processes; results do not depend on them

# %% tags=["remove-cell"]
use_book_style()
begin_page("07_offline_options")
min_rating = relevance_threshold(dataset) if min_rating is None else min_rating
for name, text in choosing.written(min_rating=min_rating, cutoff=10).items():
    glue(name, text, display=False)

# %% [markdown] tags=["general"]
# ## What the paper says
#
# An offline evaluation goes from a table of ratings to a sentence about two systems in steps, and at each
# of them something is chosen:
#
# | | decision | among others |
# |---|---|---|
# | A1 | which ratings count | all; users or items with enough of them; a sample |
# | A2 | how they are split | at random in some ratio; a few per user; as many per item; by time |
# | B1 | users without training ratings | left out; served by something else |
# | B2 | items that a system cannot score | left out; put last, in some order |
# | C1 | what is ranked | the whole catalogue (*full* lists); what the user rated in the test (*condensed* lists) |
# | C2 | what a list is worth | metric, threshold of liking, gain of a rating, depth |
# | C2C | the same of condensed lists | also agreement with the order of the stars |
# | C3 | how users are averaged | plain mean; weighted; median; geometric mean |
# | C4 | users without a list | count as 0 (*full* average); are left out (*reduced* average) |
# | D | is the difference one | which test, over which units |
#
# (The paper counts eight of them and labels nine, [E18](#err-e18); here C2 of condensed lists counts apart.)
#
# No option is wrong, says the paper, and each can be defended. What cannot be defended is to choose one
# and not to say which. Its proof is an example: user-based nearest neighbours (cosine, 100 of them)
# against matrix factorisation (implicit feedback, 50 factors, 20 iterations) on MovieLens 1M and on
# Netflix, from one starting configuration:
#
# > random halves; users with training ratings; items without a score left out; full lists; ratings of
# > {glue:text}`min_rating` or more are liked, P@10 and nDCG@10; a plain mean in which users without a list
# > count as 0; a paired $t$ test over users, on a single split.
#
# Its tables are lost in our copy. What the text says of them, who is ahead and what is significant, can be
# judged all the same. Netflix cannot be had any more.
#
# **Two readings of one system.** The paper prints $\lambda=1$ and $\alpha=0.1$ for MF. The library
# that it used has them the other way round in its example, and then the two systems come as close as
# the paper says ([E12](#err-e12)). Neither is chosen here: everything is measured with both, *MF*
# as printed, and *MF (as in RankSys)*. The verdicts call the latter *swapped*.
#
# ### The claims
#
# Every assertion that can be measured has a criterion, written down before the result that it judges
# and locked by a hash.

# %% tags=["hide-input"]
HTML(pages.claims_of("offline option taxonomy"))

# %% [markdown]
# ## Predict before measuring
#
# Three questions. Commit yourself first.
#
# ::::{predict} Half of the ratings are for testing. Of the ten items that kNN lists first, how many has the user rated in the test?
# - nearly all: they are the ones that the user cares about
# - about half
# - fewer than half
#
# :::{finding} own/UNRATED-HALF
# holds: {value}. All others count as misses, whoever would like them.
# refuted: {value}, half or more. All others count as misses, whoever would like them.
# open: {value} ({low} to {high}). All others count as misses, whoever would like them.
# :::
# ::::
#
# ::::{predict} kNN with one neighbour can score few items. Those that it cannot score are put last, the one with the best mean rating first. Which number of neighbours is best then?
# - 100, as always
# - 10, something in between
# - 1
#
# :::{finding} own/FILL-AVERAGE
# holds: 1: it is ahead of 100 by {value:.3f} of nDCG@10. Most of that list was made by the mean rating.
# refuted: 1 is not ahead of 100 here ({value:+.3f} of nDCG@10).
# open: Whether 1 or 100 is better is open here ({value:+.3f} of nDCG@10).
# :::
# ::::
#
# ::::{predict} Fourteen systems make 91 pairs. Everything stays as it is, but the ratings are split with another seed. In how many pairs is another system ahead?
# - none
# - a few
# - about a quarter
#
# :::{finding} own/NOISE-TURNED
# holds: In {value} of 91.
# refuted: In {value} of 91, which is more than a few.
# open: -
# :::
# :::{finding} own/NOISE-SURVIVES
# holds: The largest difference that was turned is {value:.4f} of nDCG@10 (0 if none was): the pairs that change
#   were close.
# refuted: The largest difference that was turned is {value:.4f} of nDCG@10.
# open: -
# :::
# ::::

# %% [markdown] tags=["general"]
# ## The start
#
# The paper's Table 2, with both readings of MF:

# %%
base = f"AI-AN-AR rel>={min_rating}"
protocols = {
    "full": f"{base} users=trained",
    "condensed": f"{base} condensed users=trained",
    "everybody": base,
    "relevant": f"{base} users=relevant",
    "looser": f"AI-AN-AR rel>={min_rating - 1} users=trained",
    "by ratings": f"{base} users=trained weights=ratings",
    "by positives": f"{base} users=trained weights=relevant",
    "geometric": f"{base} users=trained statistic=geometric",
    "median": f"{base} users=trained statistic=median",
}
metrics = setup.metrics_of(dataset, min_rating)
start = run(
    Grid(
        dataset,
        setup.systems_of(setup.SYSTEMS, min_rating, dataset, n_seeds),
        protocols,
        metrics,
        split="ratio 0.5",
        seed=seed,
        compare=setup.compared(metrics),
        replicates=setup.combined(metrics),
    ),
    workers=workers,
    name="systems",
)

# %% tags=["hide-input"]
Markdown(pages.data_line(start, setup.table_notes(dataset, min_rating)))

# %% tags=["hide-input"]
Markdown(chapter.tables.start_table(start))

# %% [markdown]
# :::{finding} own/START-NDCG
# holds: With the parameters as printed kNN is ahead, by {value:.3f} of nDCG@10.
# refuted: With the parameters as printed kNN is behind ({value:+.3f} of nDCG@10).
# open: With the parameters as printed the difference is {value:+.3f} of nDCG@10, and who is ahead is left
#   open.
# :::
# :::{finding} own/START-NDCG-RS
# holds: With those of RankSys kNN is ahead by {value:.3f}.
# refuted: With those of RankSys MF is ahead (kNN minus MF: {value:+.3f}).
# open: With those of RankSys it is {value:+.3f} ({low:+.3f} to {high:+.3f}), and nobody is ahead for certain.
# :::
# :::{finding} own/READINGS
# holds: Two numbers exchanged in one sentence of a paper are worth {value:.3f} of nDCG@10.
# refuted: The exchange does not help MF here ({value:+.3f} of nDCG@10).
# open: What the exchange is worth to MF is left open ({value:+.3f} of nDCG@10).
# :::

# %% [markdown] tags=["general"]
# *Open* has two meanings on this page. Either the interval holds 0; or MF, whose training is random, was
# trained too seldom to tell its luck from its worth. Pages that are computed while the book is built
# train it once, so that no order with MF is decided there. Table 3, the geometric mean and D read one
# training on every page: their intervals and $p$ are about users, and not about that luck.

# %% [markdown] tags=["general"]
# (sec-split-ratio)=
# ## A2: how much is trained on
#
# The more ratings a system learns from, the fewer are left to find. Both move with one number. The
# paper's Figures 2 and 4:

# %%
results = {"systems": start}
metrics = {"full": ("P@10", "nDCG@10", "judged@10"), "condensed": ("P@10", "nDCG@10")}
for ratio in setup.RATIOS:
    name = setup.ratio_name(ratio)
    results[name] = run(
        Grid(
            dataset,
            setup.systems_of(setup.SYSTEMS, min_rating, dataset, n_seeds),
            {label: protocols[label] for label in metrics},
            metrics,
            split=f"ratio {(100 - ratio) / 100:g}",
            seed=seed,
            replicates=setup.combined(metrics),
        ),
        workers=workers,
        name=name,
    )

# %% [markdown] tags=["general"]
# One split is one draw. Where ratings are published, each ratio is run with ten seeds.

# %%
seeds = list(setup.seeds_of(dataset))
results["seeds"] = measure.seeds(
    dataset, seeds=seeds, ratios=list(setup.RATIOS), grid=start.grid, workers=workers
)

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_ratio
# :name: fig-ratio
#
# The paper's Figures 2 (left) and 4 (right): nDCG@10 over the share of the ratings that is trained on.
# Bands: 95 % intervals over users; thin lines: other seeds of the split.
# ```

# %% tags=["hide-input"]
figures.ratios(results, results["seeds"]).show()

# %% [markdown]
# :::{finding} own/RATIO-20
# holds: At 20 % kNN is ahead of MF as printed,
# refuted: At 20 % kNN is not ahead of MF as printed,
# open: Open is at 20 % whether kNN is ahead of MF as printed,
# :::
# :::{finding} own/RATIO-80
# holds: and at 80 % MF is ({value:.3f} of nDCG@10).
# refuted: and at 80 % MF is behind ({value:+.3f} of nDCG@10).
# open: and at 80 % whether MF is (MF minus kNN: {value:+.3f} of nDCG@10).
# :::
# :::{finding} own/CONDENSED-80-RS
# holds: Condensed lists have MF as in RankSys ahead at 80 % (by {value:.3f}).
# refuted: Condensed lists do not have MF as in RankSys ahead at 80 % ({value:+.3f}).
# open: Condensed lists leave open who is ahead at 80 % (MF as in RankSys minus kNN: {value:+.3f}).
# :::

# %% [markdown] tags=["general"]
# Why does a curve that should rise fall? A full list is judged by test ratings alone. With few of them, a
# good list is full of items that nobody has rated, and each of those counts as a miss. The paper's
# Figure 3 counts them:

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_unrated
# :name: fig-unrated
#
# The paper's Figure 3: how much of the first ten has no test rating of the user. Bands: 95 % intervals.
# ```

# %% tags=["hide-input"]
figures.unrated(results).show()

# %% [markdown] tags=["general"]
# The paper warns that gains of zero for what is unrated put the validity of full lists in danger. Chapters
# {doc}`2 <02_sparsity_bias>` and {doc}`5 <05_true_false_positives>` are about what they do.
#
# (sec-condensed)=
# ## C1: what is ranked
#
# The way out would be to rank only what the user has rated: *condensed* lists have no unrated item. But
# then the first ten are other items, from much further down (the paper's Figure 5).

# %%
results["depths"] = measure.depths(dataset, grid=start.grid)

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_places
# :name: fig-places
#
# The paper's Figure 5: where in the full list the items of a condensed list stand, averaged over users who
# have so many. Bands: 95 % intervals.
# ```

# %% tags=["hide-input"]
figures.places(results["depths"]).show()

# %% [markdown]
# :::{finding} own/PLACE-TEN
# holds: The tenth item of kNN's condensed list stands at place {value:.0f} of the list that users would
#   see.
# refuted: The tenth item of kNN's condensed list stands at place {value:.0f} of the list that users would
#   see, nearer than in the paper.
# open: The tenth item of kNN's condensed list stands at about place {value:.0f} of the list that users
#   would see.
# :::
# :::{finding} own/CONDENSED-TIMES
# holds: And all is rosier: nDCG@10 of kNN is {value} that of full lists.
# refuted: Its nDCG@10 is {value} that of full lists.
# open: Its nDCG@10 is {value} that of full lists ({low} to {high}).
# :::

# %% [markdown] tags=["general"]
# Neither is the truth. Full lists measure what users get, with a ruler that has gaps; condensed lists
# measure with a sound ruler what nobody gets. The paper leaves open which to prefer. Where the truth is
# known it can be asked: [below](#sec-options-truth).
#
# (sec-depth)=
# ## C2: metric, depth and gain
#
# How far down does a user look? The paper's Figure 6 follows nDCG over its depth. What decides is the
# difference, so here it is:

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_depth
# :name: fig-depth
#
# The paper's Figure 6 as differences: above the line nearest neighbours are ahead. Bands: 95 % intervals.
# ```

# %% tags=["hide-input"]
figures.depth(start).show()

# %% [markdown]
# :::{finding} own/DEPTH-ONE-RS
# holds: By the first item alone kNN is ahead of MF as in RankSys ({value:+.3f}),
# refuted: By the first item alone kNN is behind MF as in RankSys ({value:+.3f}),
# open: By the first item alone kNN minus MF as in RankSys is {value:+.3f}, which is left open,
# :::
# :::{finding} own/DEPTH-HUNDRED-RS
# holds: and by the first hundred MF is (by {value:.3f}).
# refuted: and by the first hundred MF is not ({value:+.3f} for MF).
# open: and by the first hundred MF minus kNN is {value:+.3f}.
# :::

# %% [markdown] tags=["general"]
# What is a rating worth? The paper starts from $g_1$, which knows liked and not liked, and tries
# $g_2(r)=(2^{r-1}-1)/(2^{r_{max}-1}-1)$, in which five stars are worth about twice as much as four. The third
# row is a relative of $g_2$ that it cites; nDCG divides it out. (Where the lowest stars of the data are
# merged, as the line on the data says, $g_2$ and the orders of C2C tell fewer grades apart than in the paper,
# and one threshold below the usual one changes nothing. Values are shown, and claims about them not judged.)

# %% tags=["hide-input"]
Markdown(chapter.tables.gains_table())

# %% [markdown] tags=["general"]
# [Rank-biased precision](#metric-rbp) is the third metric of its Table 3. Its user goes from each item to
# the next with persistence $\phi$, and expects to see $1/(1-\phi)$ of them. The paper does not print its
# $\phi$; here are three.

# %%
results["cells"] = measure.cells(dataset, seeds=seeds, grid=start.grid, workers=workers)

# %% tags=["hide-input"]
cells = chapter.tables.cells_frame(results["cells"], ("full", "condensed"))
Markdown(chapter.tables.cells_table(cells))

# %% [markdown] tags=["general"]
# *The paper's Table 3.* On the right: kNN minus each reading of MF, in bold where that is significant (paired
# $t$ over users, first split). Each system is trained once for it; the table of the start is a mean over
# trainings.

# %% [markdown]
# :::{finding} own/GAIN-SHIFT-RS
# holds: The graded gain moves the difference of nDCG@10 by {value:.4f} towards kNN, against MF as in
#   RankSys:
# refuted: The graded gain does not move the difference of nDCG@10 towards kNN ({value:+.4f}, against MF as
#   in RankSys):
# open: Whether the graded gain moves the difference of nDCG@10 towards kNN is left open ({value:+.4f},
#   against MF as in RankSys):
# :::
# :::{finding} own/GAIN-RS
# holds: under it kNN is ahead.
# refuted: under it kNN is behind.
# open: under it nobody is ahead for certain.
# :::

# %% [markdown] tags=["general"]
# (sec-orders)=
# ## C2C: agreement with the order of the stars
#
# A condensed list can also be compared with the best order of the same items: the more stars, the earlier.
# [Kendall's $\tau$](#metric-tau) counts pairs in the wrong order, wherever they are;
# [rank-biased overlap](#metric-rbo) looks at the top first, with $\phi$ as in RBP.

# %% tags=["hide-input"]
Markdown(chapter.tables.orders_table(start))

# %% [markdown] tags=["general"]
# *Means over users; the last rows are differences with their 95 % intervals.*
#
# (sec-averages)=
# ## C3: how users are averaged
#
# The paper's Table 4. In a plain mean each user counts the same. A shop may want those to count
# more who buy more: then each weighs as many as they have ratings, or liked ones. A geometric mean asks for
# relative gains: from .01 to .02 counts as much as from .4 to .8 (with $\epsilon=10^{-5}$ added to each
# value, since one zero would make all of it zero; the paper does not print its $\epsilon$).

# %% tags=["hide-input"]
Markdown(chapter.tables.averages_table(start, results["cells"]))

# %% [markdown] tags=["general"]
# *Beside kNN: kNN minus each reading of MF, in bold where the 95 % interval is without 0.* Where training
# is random and repeated, what a user adds is a mean over trainings. The geometric mean alone is that of one
# training and the first split, as in Table 3 above: a mean over trainings has fewer zeros than each of them,
# and a geometric mean would take that for merit. (The median is taken over users' means of trainings.)

# %% [markdown]
# :::{finding} own/WEIGHT-SHIFT-RS
# holds: Weights by ratings move nDCG@10 by {value:.3f} towards kNN, against MF as in RankSys.
# refuted: Weights by ratings do not move nDCG@10 towards kNN, against MF as in RankSys ({value:+.3f}).
# open: Whether weights by ratings move nDCG@10 towards kNN is open, against MF as in RankSys
#   ({value:+.3f}, {low:+.3f} to {high:+.3f}).
# :::
# :::{finding} own/WEIGHT-RS
# holds: Weighted, kNN is ahead of it.
# refuted: Weighted, kNN is behind it.
# open: Weighted, nobody is ahead for certain.
# :::
# :::{finding} own/GEOMETRIC-RS
# holds: By the geometric mean kNN is ahead of it by {value:.3f}.
# refuted: By the geometric mean kNN is behind it ({value:+.3f}).
# open: By the geometric mean nobody is ahead for certain ({value:+.3f}, {low:+.3f} to {high:+.3f}).
# :::

# %% [markdown] tags=["general"]
# Why? Weights are about who is heavy, so let users be put in four quarters, by their number of training
# ratings.

# %%
results["profiles"] = measure.profiles(dataset, grid=start.grid)

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_profiles
# :name: fig-profiles
#
# Precision, and the share of the first ten that has a test rating, for the quarter of the users with fewest
# training ratings (1) to that with most (4). Bands: 95 % intervals.
# ```

# %% tags=["hide-input"]
figures.profiles(results["profiles"]).show()

# %% [markdown]
# :::{finding} own/PROFILE-GAP
# holds: The heaviest quarter has {value:.3f} more P@10 than the lightest, by kNN.
# refuted: The heaviest quarter does not have more P@10 than the lightest, by kNN.
# open: Whether the heaviest quarter has more P@10 than the lightest, by kNN, is open.
# :::
# :::{finding} own/PROFILE-JUDGED
# holds: More of what its users are listed has a rating that can count, by {value} of the ten places: the
#   paper's first cause.
# refuted: It is not that more of what its users are listed has a rating that can count, the paper's first
#   cause.
# open: Whether more of what its users are listed has a rating that can count, the paper's first cause, is
#   open.
# :::
# :::{finding} own/PROFILE-SHIFT-RS
# holds: From the lightest to the heaviest, kNN gains {value:.3f} more than MF as in RankSys. Who lets
#   the heavy users count more asks the question that kNN answers better.
# refuted: From the lightest to the heaviest, kNN gains less than MF as in RankSys ({value:+.3f}).
# open: Whether kNN or MF as in RankSys gains more from the lightest to the heaviest is open ({value:+.3f}).
# :::

# %% [markdown] tags=["general"]
# (sec-unscored)=
# ## B2: items without a score
#
# An item that none of a user's neighbours has rated has no score (the paper: *non-computable*, NC). With
# 100 neighbours few are, says the paper, which holds of test ratings rather than of all pairs
# ([E14](#err-e14)). So that it matters, it keeps a random half of the ratings, splits these in halves, counts
# all users, condenses the lists, and takes 1, 3, 10, 30 or 100 neighbours (Figure 7).

# %%
protocols = {
    "none": f"AI-AN-AR rel>={min_rating} condensed",
    "random": f"AI-AN-AR rel>={min_rating} condensed unscored=random",
    "popularity": f"AI-AN-AR rel>={min_rating} condensed unscored=popularity",
    "average": f"AI-AN-AR rel>={min_rating} condensed unscored=average-rating",
}
metrics = dict.fromkeys(protocols, ("P@10", "nDCG@10", "Served@1", "Served@10"))
names = tuple(setup.fill_name(n_neighbours) for n_neighbours in setup.SIZES)
results["fills"] = run(
    Grid(
        dataset,
        setup.systems_of(names, min_rating, dataset),
        protocols,
        metrics,
        split="ratio 0.5",
        seed=seed,
        select="keep=50%",
        replicates=setup.combined(metrics),
    ),
    workers=workers,
    name="fills",
)

# %%
asked = {"seeds": seeds, "grid": results["fills"].grid, "workers": workers}
results["fill_seeds"] = measure.fill_seeds(dataset, **asked)
results["fill_steps"] = measure.fill_steps(dataset, **asked)

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_fills
# :name: fig-fills
#
# The paper's Figure 7: items without a score are left out, or stand below all others in some order. Right:
# what share of ten places is filled. Bands: 95 % intervals over users; thin lines: other seeds.
# ```

# %% tags=["hide-input"]
figures.fills(results["fills"], results["fill_seeds"]).show()

# %% [markdown]
# :::{finding} own/FILL-NONE
# holds: Left out, 100 neighbours are ahead of one by {value:.3f} of nDCG@10: short lists lose what they do not
#   fill.
# refuted: Left out, 100 neighbours are not ahead of one ({value:+.3f} of nDCG@10).
# open: Left out, it is open whether 100 neighbours are ahead of one ({value:+.3f} of nDCG@10).
# :::
# :::{finding} own/FILL-AVERAGE
# holds: Put last by mean rating, one neighbour is ahead of 100 ({value:+.3f}): the fewer items kNN scores, the
#   more of the list is made by something else, which is better at sorting what a user has rated.
# refuted: Put last by mean rating, one neighbour is not ahead of 100 ({value:+.3f}).
# open: Put last by mean rating, one neighbour and 100 cannot be told apart ({value:+.3f}).
# :::

# %% [markdown] tags=["general"]
# Whoever compares numbers of neighbours, and does not say what became of items without a score,
# may have compared two other things.
#
# (sec-refused)=
# ## C4: users without a list
#
# A system may refuse users. The *full* average counts them as 0, the *reduced* one leaves them out. For a
# plain mean one follows from the other,
#
# $$m_{full}=coverage\cdot m_{reduced}\,,$$
#
# where coverage is the share of users with a list (the paper prints it the other way round,
# [E19](#err-e19)). Figure 8 of the paper makes kNN refuse: with ten neighbours, two users are neighbours only
# if they have rated at least so many items in common.

# %%
protocols = {
    "full": f"AI-AN-AR rel>={min_rating} users=trained",
    "reduced": f"AI-AN-AR rel>={min_rating} users=trained coverage=reduced",
}
metrics = dict.fromkeys(protocols, ("P@10", "nDCG@10", "Served@1", "Served@10"))
names = tuple(f"{setup.KNN} k=10 overlap={overlap}" for overlap in setup.OVERLAPS)
results["overlaps"] = run(
    Grid(
        dataset,
        setup.systems_of((*names, *setup.READINGS), min_rating, dataset, n_seeds),
        protocols,
        metrics,
        split="ratio 0.5",
        seed=seed,
        replicates=setup.combined(metrics),
    ),
    workers=workers,
    name="overlaps",
)

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_overlap
# :name: fig-overlap
#
# The paper's Figure 8. MF serves everybody, so that both of its averages are one level line. Bands: 95 %
# intervals over users.
# ```

# %% tags=["hide-input"]
figures.overlap(results["overlaps"]).show()

# %% [markdown]
# :::{finding} own/OVERLAP-SERVED
# holds: With an overlap of 20 it serves {value} of the users.
# refuted: With an overlap of 20 it still serves {value} of the users.
# open: With an overlap of 20 it serves about {value} of the users.
# :::
# Did kNN become better, or its users? The next table asks MF as printed, which serves everybody, about both
# groups.

# %%
results["refused"] = measure.refused(dataset, grid=results["overlaps"].grid)

# %% tags=["hide-input"]
Markdown(chapter.tables.refused_table(results["refused"]))

# %% [markdown]
# :::{finding} own/REFUSED-TESTS
# holds: Those who are served have {value:.0f} more test ratings than those who are refused,
# refuted: Those who are served do not have more test ratings than those who are refused,
# open: Whether those who are served have more test ratings than those who are refused is open,
# :::
# :::{finding} own/REFUSED-MF
# holds: and MF, too, has {value:.3f} more P@10 for them: whoever is refused is hard for anybody.
# refuted: and MF does not have more P@10 for them.
# open: and whether MF has more P@10 for them is open.
# :::
# :::{finding} own/REFUSED-GAIN
# holds: On the very users it serves, the stricter kNN gains something, {value:.3f} of P@10 over an overlap of 1;
#   the rest of the rise is whom it refuses.
# refuted: On the very users it serves, the stricter kNN gains nothing ({value:+.3f} of P@10 over an overlap of
#   1): if its reduced average rises, that is whom it refuses.
# open: Whether the stricter kNN gains anything on the very users it serves is open ({value:+.3f} of P@10
#   over an overlap of 1).
# :::

# %% [markdown] tags=["general"]
# (sec-significance)=
# ## D: is the difference one?
#
# A test over users asks whether another sample of *users* would give the same winner. It does not ask
# whether another split would. Here are all cells of Tables 3 and 4, with as many splits as there are.

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_significance
# :name: fig-significance
#
# Who is significantly ahead ($p<.05$, paired $t$ over users; of geometric means in logarithms), in each cell
# of the paper's Tables 3 and 4 and each split.
# ```

# %% tags=["hide-input"]
figures.significance(results["cells"]).show()

# %% [markdown]
# :::{finding} own/CELLS-KNN-RS
# holds: At the first split kNN is significantly ahead of MF as in RankSys in {value} of 16 cells (RBP with $\phi=.8$),
# refuted: At the first split kNN is significantly ahead of MF as in RankSys in none of 16 cells (RBP with
#   $\phi=.8$),
# open: -
# :::
# :::{finding} own/CELLS-MF-RS
# holds: and significantly behind in {value}: opposite results, each with a small $p$, of the same two systems
#   on the same ratings.
# refuted: and significantly behind in none.
# open: -
# :::
# :::{finding} own/CELLS-KNN
# holds: Against MF as printed it is ahead in {value},
# refuted: Against MF as printed it is ahead in none,
# open: -
# :::
# :::{finding} own/CELLS-MF
# holds: and behind in {value}.
# refuted: and behind in none.
# open: -
# :::

# %% [markdown] tags=["general"]
# A small $p$ alone does not make a result sound. With thousands of users small differences have a small one, too. It
# tells that other users would give the same winner under *these decisions*, and not that other decisions would.
# {numref}`fig-options-lead`, at the head of the page, has all decisions beside each other.

# %% tags=["hide-input"]
figures.configurations(results).show()

# %% [markdown] tags=["general"]
# (sec-options-beyond)=
# ## Beyond: which decision reverses most?
#
# Two systems may be a special pair. So take fourteen (those of chapter 5, without the two that are
# chance), start where the paper starts, and take each decision otherwise, alone. Of the 91 pairs of systems
# some then have another one ahead. What is *reversed* was significant before and is significant after, with
# opposite signs (Holm's correction over the pairs). Beside it stands what noise does: one other seed of
# the same split. Metrics of the order of a user's own ratings (C2C) start from condensed lists instead.
# (For other ratings and other splits, A1 and A2, all fourteen are trained again. That is done on the
# smaller published data, and neither on MovieLens 1M nor on pages that are computed while the book is
# built.)

# %%
asked = decisions.decisions_asked(dataset, min_rating, seed=seed)
results["decisions"] = measure.decisions(dataset, **asked, workers=workers)

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_reversals
# :name: fig-reversals
#
# What each decision does alone (C2C: compared with condensed lists by nDCG@10). Grey: pairs of which another
# system is ahead; orange: both times significantly so. Dashed: the pairs that another seed of the split turns.
# ```

# %% tags=["hide-input"]
figures_of_decisions.reversals(results["decisions"]).show()

# %% [markdown] tags=["general"]
# Below, *resolved* are pairs that are significant under the alternative, and *significance changed* are those
# that either the default or the alternative resolves, and not both. What is tested is what is reported: a
# weighted mean with its weights, a geometric one in logarithms, a median by resampling users. *No effect
# here*: not one value changes, as the data give the decision nothing to act on. How large must a
# difference be to survive? On the right stands, for each alternative, the largest one by the default that
# had its sign turned (a dash if none had), and after it the largest in standard deviations of what users
# differ by, an effect size, which may be that of another pair.

# %% tags=["hide-input"]
Markdown(chapter.tables.reversals_table(results["decisions"]))

# %% [markdown]
# :::{finding} own/MOST-TURNED
# holds: The strongest decision turns {value} pairs.
# refuted: The strongest decision turns {value} pairs, no more.
# open: -
# :::
# :::{finding} own/MOST-REVERSED
# holds: The one that reverses most reverses {value}, significant both times.
# refuted: None reverses a pair that was significant both times.
# open: -
# :::
# :::{finding} own/CONDENSED-REVERSED
# holds: Condensed lists reverse {value} pairs.
# refuted: Condensed lists reverse no pair.
# open: Condensed lists reverse {value} pairs that are sure, and up to {high} that may be.
# :::
# :::{finding} own/NOISE-SURVIVES
# holds: Another split turns differences of up to {value:.4f} of nDCG@10 (0 if it turns none), and no larger one;
# refuted: Another split turns differences of up to {value:.4f} of nDCG@10;
# open: -
# :::
# :::{finding} own/MOST-SURVIVES
# holds: some decision turns one of {value:.4f}.
# refuted: no decision turns one of more than {value:.4f}.
# open: -
# :::

# %% [markdown] tags=["general"]
# (sec-options-truth)=
# ## What the options say where the truth is known
#
# A reversal tells that one of two options is wrong about a pair, and not which. In simulated worlds of 500
# users and 800 items the true ratings of all pairs of user and item are known. So each option can be asked:
# of the pairs of systems that the truth tells apart, what share does it tell apart in the same direction
# (*right*), and what share in the other one (*wrong*)? Not right is not wrong: an option may tell nothing. Its
# *agreement* is the first share minus the second. There are three kinds of worlds: popular items are liked
# more, are liked like others, or are liked less; four worlds of each.
#
# Truth here is the plain mean over users of nDCG@10 by all true ratings outside of training. Another metric (C2)
# or average (C3) is thus asked whether it agrees with that metric and that mean, and not whether it is
# the right one.

# %%
results["worlds"] = measure.worlds(**truths.WORLDS, workers=workers)

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_worlds
# :name: fig-worlds
#
# How much better each alternative agrees with the truth than the default does (random halves, full lists,
# nDCG@10, plain mean; C2C: condensed lists), in percent of the pairs that the truth tells apart. Marks: means
# over four worlds, less those in which an option leaves nothing to measure, with 95 % intervals. Left to right:
# popular items are liked more, popularity and liking are unrelated, popular items are liked less.
# ```

# %% tags=["hide-input"]
figures_of_decisions.worlds(results["worlds"]).show()

# %% [markdown]
# The agreement of an option minus that of the default, over all worlds:
#
# - condensed lists:
#   :::{finding} own/WORLDS-CONDENSED
#   holds: agrees better, by {value} of the pairs ({low} to {high});
#   refuted: agrees less, {value} of the pairs ({low} to {high});
#   open: open, {value} of the pairs ({low} to {high});
#   :::
# - a split that gives each item as many test ratings:
#   :::{finding} own/WORLDS-UNIFORM
#   holds: agrees better, by {value} ({low} to {high});
#   refuted: agrees less, {value} ({low} to {high});
#   open: open, {value} ({low} to {high});
#   :::
# - four fifths for training, the usual choice:
#   :::{finding} own/WORLDS-FOUR-FIFTHS
#   holds: agrees better, by {value} ({low} to {high});
#   refuted: agrees less, {value} ({low} to {high});
#   open: open, {value} ({low} to {high});
#   :::
# - P@10:
#   :::{finding} own/WORLDS-PRECISION
#   holds: agrees better, by {value} ({low} to {high}).
#   refuted: agrees less, {value} ({low} to {high}).
#   open: open, {value} ({low} to {high}).
#   :::

# %% [markdown] tags=["general"]
# Are options common because they are right? In three decisions one option was taken by more of the four papers
# than any other; in the rest several were taken equally often, or few papers say which. Here is how often it
# is right and wrong over all worlds, and which of its rivals surely agree less with the truth, or better
# (all of them told apart together, with a chance of 95 %):

# %% tags=["hide-input"]
Markdown(chapter.tables.commonest_table(results["worlds"]))

# %% [markdown]
# :::{finding} own/WORLDS-COMMONEST
# holds: Of {cases} rivals {value} surely agree better with the truth than what was taken most often. Full and
#   condensed lists are not among them: both were taken equally often.
# refuted: Of {cases} rivals none agrees better with the truth than what was taken most often. Full and
#   condensed lists are not among them: both were taken equally often.
# open: Of {cases} rivals none surely agrees better with the truth than what was taken most often, though up to
#   {high} may. Full and condensed lists are not among them: both were taken equally often.
# :::

# %% [markdown] tags=["general"]
# These are worlds of one make, and a mean over three kinds hides what the panels show apart. They can show
# that an option misleads somewhere, and not that it is right everywhere. CM100k and Coat have ratings of
# real people on items drawn at random: by those, each option can be asked the same.

# %%
asked = truths.truths_asked(dataset, min_rating, seed=seed)
if asked:
    results["truths"] = measure.truths(dataset, **asked)

# %% tags=["hide-input"]
Markdown(chapter.tables.truths_table(results.get("truths")))

# %% [markdown]
# :::{finding} own/CM-DEFAULT
# holds: On CM100k the default is right about {value:cases} of {cases} pairs of systems that unbiased
#   judgments tell apart
# refuted: -
# open: -
# :::
# :::{finding} own/CM-DEFAULT-WRONG
# holds: and wrong about {value:cases};
# refuted: -
# open: -
# :::
# :::{finding} own/CM-CONDENSED
# holds: condensed lists are right about {value:cases}
# refuted: -
# open: -
# :::
# :::{finding} own/CM-CONDENSED-WRONG
# holds: and wrong about {value:cases}.
# refuted: -
# open: -
# :::
# :::{finding} own/COAT-DEFAULT
# holds: On Coat the default is right about {value:cases} of {cases}
# refuted: -
# open: -
# :::
# :::{finding} own/COAT-DEFAULT-WRONG
# holds: and wrong about {value:cases};
# refuted: -
# open: -
# :::
# :::{finding} own/COAT-CONDENSED
# holds: condensed lists are right about {value:cases}
# refuted: -
# open: -
# :::
# :::{finding} own/COAT-CONDENSED-WRONG
# holds: and wrong about {value:cases}. (The unbiased judgments are themselves a condensed list, of items drawn
#   at random.)
# refuted: -
# open: -
# :::

# %% [markdown] tags=["general"]
# (sec-options-line)=
# ## One line, one paragraph
#
# All decisions of an evaluation fit into one line, which prints and parses back, and from which the run can
# be repeated. (A split names the share of the *test*; what `AI-AN-AR` and the other words mean stands in the
# [notation](#sec-symbols).) This is the line of the start, for nDCG@10:

# %% tags=["hide-input"]
options = options_of(start.grid)["full", "nDCG@10"]
Markdown(f"```text\n{options}\n```")

# %% [markdown] tags=["general"]
# And this is the paragraph that a paper would need, made from that line:

# %% tags=["hide-input"]
Markdown(chapter.tables.methods_quote(options, results["systems"].dataset))

# %% [markdown] tags=["general"]
# Options that cannot change anything collapse: condensed lists, for one, do not know whether candidates
# come from all items or from those in the test, and precision has no gains. So two papers that differ in
# such an option have run the same experiment. Here is the taxonomy as far as a line
# can say it (risk measures, standardised scores, subsamples of users, and another system for whom one cannot
# serve are measured apart, and have no line): what each decision asks, where it acts, and its options as
# they stand in a line, with the papers of this book that chose them.

# %% tags=["hide-input"]
Markdown(chapter.tables.options_table())

# %% [markdown] tags=["general"]
# ## Verdicts

# %%
results["checks"] = measure.checks(
    dataset,
    min_rating=min_rating,
    ratios=[10, 50],
    grid=start.grid,
    fills=results["fills"].grid,
    overlaps=results["overlaps"].grid,
)
identities = measure.identities()  # what holds on any data, checked once in a world

# %% tags=["hide-input"]
verdicts = judge_chapter("offline option taxonomy", results)
HTML(verdict_cards(verdicts))

# %% tags=["hide-input"]
HTML(pages.options_details(results))

# %% tags=["remove-cell"]
state("offline option taxonomy", results, verdicts)

# %% [markdown] tags=["general"]
# ## What to report
#
# | when you | then |
# |---|---|
# | write a methods section | name all ten decisions: [one line](#sec-options-line) is enough |
# | leave users or items out | say how many remain, and what they have that others have not |
# | split at random | run more than one seed, and say how far the difference moves |
# | use full lists | report the share of the list that is rated beside every value |
# | use condensed lists | say how deep they reach; do not compare their values with others |
# | choose a depth, a gain or a weight | give the reason before the result, and one other choice beside it |
# | compare systems of which one cannot score everything | say what became of those items, and how many they are |
# | average over those served only | report the coverage, and what a system that serves all has for both groups |
# | have a small $p$ | say which units it is over; it is no answer to another decision |
# | find that one decision turns the winner | report both; that *is* the result |
#
# ## What we had to decide
#
# - **MF in both readings** ([E12](#err-e12)): the printed form of a claim is judged with the printed parameters,
#   its corrected form with those of RankSys (*swapped*).
# - **Persistence** of RBP and RBO is not printed: 0.5, 0.8 and 0.9. The **geometric mean** has
#   $\epsilon=10^{-5}$.
# - **Binary ratings** of the kNN that refuses: whatever was rated counts 1, as the paper names no threshold.
# - **Claims about one split** are judged over ten: they hold in nine or ten, are refuted in none or one, and
#   are open in between. An edition that is computed while the book is built has one split, and leaves them
#   open.
# - **"Reverses the winner"** and "shifts the difference" are two assertions, and have two criteria.
# - **Opposite and significant** is judged by the eight cells of full lists in Table 4, as its criterion was locked;
#   {numref}`fig-significance` has the other cells, too.
# - **Merged stars** leave the half of Table 3 that is about $g_2$ untested: a verdict on it is then that on $g_1$.
# - **Users without training ratings** are left out but where it is said; MF serves everybody else.
# - **Netflix** is not here. Claims about it say so, and their MovieLens halves are judged.
#   {ref}`What else the book decided <sec-decisions>` is on one page.
#
# ## On your data
#
# ```bash
# recbias run 07_offline_options --dataset my_ratings.csv -p min_rating 4
# ```
#
# The [rerun page](#rerun-own-table) says what the table must look like.
#
# ## Exercises
#
# Four, from easy to hard, with starter code and a check that says whether the answer is right.
# Solutions fold out on the page; on paper they are left out.
#
# ````{exercise} Who is in the mean
# :label: ex-averages
#
# A system serves 600 of 1,000 users, with a mean precision of 0.30 among these. What is its full average?
# A rival serves all with 0.24: how many users would the first have to serve as well as these, to meet it in
# the full average?
#
# ```python
# from recbias.book.chapters.offline_option_taxonomy.exercises import check_averages
#
# check_averages(full=..., needed=...)
# ```
# ````
#
# ````{solution} ex-averages
# :class: dropdown
#
# ```python
# from recbias.book.chapters.offline_option_taxonomy.exercises import check_averages
#
# check_averages(full=0.6 * 0.30, needed=1000 * 0.24 / 0.30)
# ```
#
# Coverage times the reduced average. By the one average the first system wins, by the other it loses.
# ````
#
# ````{exercise} A mean of logarithms
# :label: ex-geometric
#
# Write the geometric mean of the paper: add $\epsilon$ to each value, take the mean of the logarithms, go
# back, and take $\epsilon$ off.
#
# ```python
# from recbias.book.chapters.offline_option_taxonomy.exercises import check_geometric
#
# def geometric(values, epsilon):
#     return ...
#
# check_geometric(geometric)
# ```
# ````
#
# ````{solution} ex-geometric
# :class: dropdown
#
# ```python
# from math import exp, log
#
# from recbias.book.chapters.offline_option_taxonomy.exercises import check_geometric
#
# def geometric(values, epsilon):
#     logs = [log(value + epsilon) for value in values]
#     return exp(sum(logs) / len(logs)) - epsilon
#
# check_geometric(geometric)
# ```
#
# Where many values are 0 it says little but how many there are, and $\epsilon$ decides how loudly.
# ````
#
# ````{exercise} Two users, two winners
# :label: ex-weights
#
# Find the precision of two systems for two users, and their numbers of ratings, so that *b* wins by the
# plain mean and *a* by the mean weighted by ratings.
#
# ```python
# from recbias.book.chapters.offline_option_taxonomy.exercises import check_weights
#
# check_weights(a=(..., ...), b=(..., ...), ratings=(..., ...))
# ```
# ````
#
# ````{solution} ex-weights
# :class: dropdown
#
# ```python
# from recbias.book.chapters.offline_option_taxonomy.exercises import check_weights
#
# check_weights(a=(0.5, 0.1), b=(0.4, 0.3), ratings=(90, 10))
# ```
#
# The system that is better for heavy users wins as soon as they count more.
# ````
#
# ````{exercise} Options of an experiment
# :label: ex-options
#
# "Users with at least 20 ratings; a random fifth of the ratings for testing, seed 7; the whole catalogue is
# ranked for users with training ratings, liked are 4 stars and more; nDCG@5 with exponential gain, weighted
# by the users' numbers of test ratings; Wilcoxon's test." Write the options.
#
# ```python
# from recbias.book.chapters.offline_option_taxonomy.exercises import check_options
#
# check_options("split: ...; lists: AI-AN-AR rel>=4; metric: nDCG@10")
# ```
# ````
#
# ````{solution} ex-options
# :class: dropdown
#
# ```python
# from recbias.book.chapters.offline_option_taxonomy.exercises import check_options
#
# check_options(
#     "data: users>=20; split: ratio 0.2; seed: 7; "
#     "lists: AI-AN-AR rel>=4 users=trained weights=ratings; "
#     "metric: nDCG@5; gain: exp; pairs: wilcoxon"
# )
# ```
#
# What the line does not name has its usual value: items without a score left out, a mean, users without a
# list counted as 0.
# ````

# %% [markdown] tags=["general"]
# ## Summary
#
# - Between ratings and "A beats B" lie ten decisions. Each is defensible, and many can turn the sentence.
# - They act in different places: some on what is learned, some on what is ranked, some on what is counted,
#   some on who counts. A decision that has nothing to act on changes nothing, and that can be known before.
# - A small $p$ belongs to one choice of all of them. It protects against another sample of users, and
#   against nothing else.
# - Reduced averages and rules for missing scores reward a system for what it does not do.
# - That an option is common does not make it right. Where the truth is known, it can be asked.
# - All decisions of an evaluation fit into one line. A result without that line cannot be repeated; a
#   result that one other line turns is a result about that line.
#
# ```{seealso}
# [Notation and glossary](#sec-symbols), [decisions](#sec-decisions), [errata](#sec-errata), and the
# {doc}`scorecard </notebooks/scorecard>` with every claim of the four papers.
# ```
