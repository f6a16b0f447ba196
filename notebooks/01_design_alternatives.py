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
# To measure a recommender offline one lets it rank some items for each user and looks where the
# user's test ratings end up. Which items? All of them, those with test data, a sample of a hundred,
# one liked item at a time: every choice is in use, they all go by the name "P@10", and tables that
# made different choices are compared every day. {cite:t}`BCC17` put the choices in order and ask
# what they do to the number. This chapter repeats Sections 2 and 3 of their paper.
#
# **After this chapter you can**
# - name the three binary options that define a target set, and read a code such as `TI-NN-1R`;
# - say what a random recommender scores under each design, before running anything;
# - explain why precision with one relevant item per run cannot exceed $1/n$, and bound it by
#   ordinary precision;
# - tell which published orders of systems depend on the design, and which on how a system was
#   implemented.

# %% tags=["hide-input", "remove-output"]
from IPython.display import HTML, Markdown
from myst_nb import glue

from recbias import Grid, line_up, run
from recbias.claims import judge_chapter, verdict_cards
from recbias.claims import design_alternatives as chapter
from recbias.claims import pages
from recbias.claims.evidence import axis_labels
from recbias.claims.seeds import training_seeds
from recbias.datasets import top_rating
from recbias.exploring import explorer_html
from recbias.plotting import (
    downloads,
    plot_bounds,
    plot_settings,
    plot_target_sets,
    plot_values,
    use_book_style,
)
from recbias.recommenders import bcc17_grid, merged_star_variants, with_seeds
from recbias.makers import run_maker

use_book_style()

# %% tags=["parameters"]
dataset: str = "ml-1m"
min_rating: float | None = None  # 0 to 1000: smallest relevant rating; none = top of the scale
cutoff: int = 10  # 1 to 1000: length n of the lists that P@n looks at
size: int = 100  # 2 to 100000: size of a 1R target set
n_sampled: int | None = None  # 1 to 100000: largest sample; none = as the data allows
split: str = "k-fold 5"
systems: str = "bcc17"  # one of bcc17: line-up of systems
seed: int = 1  # 0 to 1000000
n_seeds: int | None = None  # 1 to 100: of random training; none = 5 on published data, else 1
workers: int = 2  # 1 to 64: processes; results do not depend on them

# %% tags=["remove-cell"]
if min_rating is None:
    min_rating = top_rating(dataset)
if n_sampled is None:
    n_sampled = chapter.largest_sample(dataset, size, split=split, seed=seed)
if n_seeds is None:
    n_seeds = training_seeds(dataset)
glue("size", size, display=False)
glue("n_seeds", "1 seed" if n_seeds == 1 else f"{n_seeds} seeds", display=False)
glue("min_rating", f"{min_rating:g}", display=False)

# %% [markdown]
# ## What the paper says
#
# The paper first transposes the Cranfield view of retrieval evaluation to recommendation: a user
# takes the place of a query, the items to be ranked that of the documents, and test ratings that of
# relevance judgements (its Table 1).

# %% tags=["hide-input"]
Markdown(pages.task_table())

# %% [markdown]
# Two differences cause all the trouble that this book is about: relevance is known for a sliver of
# the pairs only (*sparsity*), and what is known piles up on few items (*popularity*).
#
# ### The three options
#
# A user $u$ has a **target set** $T_u$, the items that are ranked for them. It joins their relevant
# test items $PR_{test}(u)$, those rated {glue:text}`min_rating` or more, with non-relevant items
# $N_u$: unrated ones, and test items rated lower. Three choices fix it (Table 3 of the paper; the symbols are on
# the [notation page](#sec-symbols)).
#
# | option | one way | the other way |
# |---|---|---|
# | candidates $\mathcal C$ | **AI**: the whole catalogue | **TI**: items with a test rating of anybody |
# | relevant items | **AR**: all in one target set | **1R**: one per target set, a *run* each |
# | non-relevant items | **AN**: all candidates left | **NN**: a sample of fixed size |
#
# Training items of the user are never in. Under 1R precision is averaged over runs, that is over
# test positives, not over users (Eq. 1 of the paper):
#
# $$P@n=\frac1{|\mathcal U|}\sum_u\frac{|top(T_u,n)\cap PR_{test}(u)|}{n},\qquad
# 1RP@n=\frac{1}{|PR_{test}|}\sum_u\sum_{r}\frac{[\tau_u(i_r,T_u^r)\le n]}{n}.$$

# %% tags=["hide-input"]
figure = plot_target_sets()
glue("fig_target_sets", figure, display=False)

# %% [markdown]
# ```{glue:figure} fig_target_sets
# :name: fig-target-sets
# :alt: A test matrix of three users and six items, and beside it the target set of user u under four designs.
#
# Figure 1 of the paper: the target sets of user $u$. The printed matrix could not be read, this one
# fits its caption: `d` and `e` are relevant, and nobody has `a` in test, so that it is a target under
# AI only. With one sampled item per set, `b` or `c` may be drawn under TI.
# ```
#
# ### The claims
#
# The ledger of this book lists everything that these sections state, and what the paper asserts
# behind each entry. Every assertion that can be measured has a criterion, which is locked; where one
# had to change, the card keeps both verdicts, and where values had been seen before it was written,
# the card says *pilot seen*.

# %% tags=["hide-input"]
HTML(pages.claims_of("design alternatives"))

# %% [markdown]
# ## Predict before measuring
#
# Three statements of the paper need no data. Work them out before reading on; each is checked below.
#
# **A random ranking** puts every target at every place with equal chance. Its expected precision is
# the share of relevant items in the target set, at any cutoff (Eqs. 4 and 5):
#
# $$\mathbb E[P_{RND}@n]=\rho=\operatorname{avg}_u\frac{|T_u\cap PR_{test}(u)|}{|T_u|}
# \approx\sigma\delta,\qquad\mathbb E[1RP_{RND}@n]=\frac1t .$$
#
# Here $\sigma$ is the share of test ratings, $\delta$ the density of positive ratings and $t$ the
# (harmonic) mean size of a target set. The approximation holds as far as large profiles and small
# target sets are independent, which they are not quite.
#
# **A ceiling.** A run holds one relevant item, so at most one of its $n$ places is a hit:
# $1RP@n\le 1/n$.
#
# **The lemma.** Let all runs of a user share one $N_u$ and break ties in one order. Add the user's
# $k=|PR_{test}(u)|$ relevant items to that sample, and write $h_u(m)$ for the number of hits in the
# top $m$ of the joint list. Then with $m_u=n+k-1$ (Eq. 2)
#
# $$\frac{\sum_u h_u(n)}{n\,|PR_{test}|}\ \le\ 1RP@n\ \le\
# \frac{\sum_u h_u(m_u)}{n\,|PR_{test}|}.$$
#
# ```{admonition} Proof, corrected
# :class: dropdown
#
# The other $k-1$ relevant items can only push a relevant item $i$ down when they join its run, and
# by at most one place each:
#
# $$\tau(i,T_u^r)\ \le\ \tau(i,T_u)\ \le\ \tau(i,T_u^r)+k-1 .$$
#
# Left: an item within the top $n$ of $T_u$ is within the top $n$ of its run, so $h_u(n)$ counts runs
# that hit; summing over users gives the lower bound. Right: a run that hits has
# $\tau(i,T_u^r)\le n$, hence $\tau(i,T_u)\le n+k-1=m_u$; summing gives the upper bound. The paper
# prints the right-hand inequality reversed ([E01](#err-e01)); the lemma itself stands.
# ```
#
# ## The experiment
#
# Every system is trained on each fold, those whose training is random under {glue:text}`n_seeds` per
# fold ([why](#dev-training-seeds)). One pass over its scores then ranks the test ratings in all
# target sets, and every metric follows from those ranks.

# %%
asked = chapter.protocols(min_rating, size=size, n_sampled=n_sampled)
precision = f"P@{cutoff}"
measured = run(
    Grid(
        dataset,
        with_seeds(line_up(systems), n_seeds),
        asked,
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
        replicates=chapter.combined(cutoff, size),
        crossed=[(label, precision) for label in ("AR", "NN", "1R")],
    ),
    workers=workers,
    record="01_design_alternatives/systems",
)

# %% tags=["hide-input"]
Markdown(f"{pages.data_line(measured)}\n\n{pages.protocols_table(measured)}")

# %% [markdown]
# The last columns count, over all folds, the target sets that a reader should know of: those without
# a relevant item score 0 and stay in the mean; those whose pool was smaller than the sample asked for
# rank the whole pool; those with fewer items than the cutoff are still divided by it.

# %% [markdown]
# The systems are those of the paper's Figure 2. It names MF and kNN but neither a library nor a
# parameter, so both are here in the two readings that the field uses: as predictors of *ratings*,
# and as *rankers* (why that matters is a section of its own below). Three models of `implicit` stand
# for what people run today.

# %% tags=["hide-input"]
Markdown(pages.systems_table(systems))

# %% [markdown]
# ### Does theory predict Random?

# %% tags=["hide-input"]
rows = []
for label in ("AR", "AI", "NN", "1R"):
    found, rho = (measured["Random", label, name] for name in (precision, "rho"))
    low, high = found.interval
    numbers = f"{rho.value:.5f}", f"{found.value:.5f}", pages.interval_text(found, ".5f")
    rows.append((label, *numbers, f"{(high - low) / 2 / rho.value:.1%}"))
head = ("design", "predicted", f"Random, {precision}", "95 % interval", "half-width / prediction")
Markdown(pages.markdown_table(head, rows))

# %% [markdown]
# Random is one and the same system in all rows. What changes is the share of relevant items among
# the targets: from all items to tested items a little, to a sample a lot, and to one in
# {glue:text}`size` under 1R.

# %% [markdown]
# ## Figure 2: one metric, three designs

# %% tags=["hide-input"]
names = [name for name in measured.systems if name != "Random"] + ["Random"]
panels = {"AR, TI-AN": ("AR", precision), f"AR, TI-NN ({n_sampled})": ("NN", precision)}
panels[f"1R, TI-NN (t={size})"] = ("1R", precision)
published = {("AR, TI-AN", "Popularity"): (0.08, 0.005)} if dataset == "ml-1m" else {}
figure = plot_values(measured, panels, systems=names, published=published)
glue("fig_values", figure, display=False)
table = measured.values[measured.values["metric"] == precision]
HTML(downloads(figure, table.set_index("system"), f"figure-2-{measured.dataset['name']}"))

# %% [markdown]
# ```{glue:figure} fig_values
# :name: fig-values
# :alt: Bars of precision for ten systems under three target-set designs, with 95 percent intervals.
#
# The paper's Figure 2, three designs side by side. Bars: mean over five folds; whiskers: 95 %
# intervals from resampling users. The printed bars could not be read; the diamond, where there is
# one, is the value that the text states.
# ```
#
# Read the axes first: one metric, one dataset, and for the same system a value that depends on the
# design more than on most changes of a model. A sample takes away non-relevant items and no relevant
# one, so everybody gains; Random gains by the ratio of the two $\rho$ in the table above.

# %% tags=["remove-cell"]
pop = {label: measured["Popularity", label, precision].value for label in ("AR", "AI", "NN", "1R")}
for label, value in pop.items():
    glue(f"pop_{label}", f"{value:.3f}", display=False)

# %% [markdown]
# Popularity scores {glue:text}`pop_AR` among tested items, {glue:text}`pop_NN` when the others are
# sampled and {glue:text}`pop_1R` with one relevant item per run. None of these numbers is wrong; none
# of them can be compared with another.
#
# ## Every design at once
#
# Three options of two ways each are eight designs, and test ratings alone are a ninth. All of them
# are below, on the same systems and the same test ratings. What the figure above shows is the same
# number here; samples from the whole catalogue, which nobody drew, are expected over all samples
# (`P@n|N=N` and `P@n|t=T` of the [notation page](#metric-expected)), from the counts of one pass.
#
# ::::{predict} Start with all tested items, all relevant ones in one list. Which single change leaves the order of systems most nearly as it is?
# - all items of the catalogue are candidates, not only those with test ratings
# - the other items are a sample
# - one relevant item is ranked at a time, among a sample
# - only the user's own test ratings are ranked
#
# Kendall's tau with the order at the start is {glue:text}`tau_AI` for all items of the catalogue,
# {glue:text}`tau_NN` for a sample, {glue:text}`tau_1R` for one relevant item among a sample, and
# {glue:text}`tau_R_test` for test ratings alone. It is 1 for the same order and -1 for the reverse.
# The first three ask, in one way or another, which items are found among those that a user never
# rated. The last asks which of the items that they did rate they liked.
# ::::

# %% tags=["remove-cell"]
for label in ("AI", "NN", "1R", "R_test"):
    tau = chapter.tau_between(measured, ("AR", precision), (label, precision))
    glue(f"tau_{label}", f"{tau.value:.2f}", display=False)

# %%
designs = chapter.every_design(
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
    record="01_design_alternatives/explorer",
)

# %% tags=["hide-input"]
HTML(explorer_html(explored, designs.axes, designs.states, start=designs.start, name="designs"))

# %% [markdown]
# Three things to try:
#
# - Choose one relevant item per run, then other cutoffs. The ceiling $1/n$ comes down on the bars.
# - Choose a sample, then all others, and look at the line of a random ranking: theory says how far
#   it moves, before anything is run.
# - Let the scale follow the choice, and the bars of two designs look alike. Their numbers do not.

# %% [markdown]
# ### What an interval is about
#
# The whiskers say what *other users* would give, on the same catalogue: users are resampled, items
# stay. Whoever asks what other users **and other items of the same kind** would give has to resample
# both; the ranks stay, test ratings count as often as their user times their item is drawn. That
# interval is wider, and most so for a system that lives on a few items.

# %% tags=["hide-input"]
Markdown(pages.crossed_table(measured, "AR", precision, systems=chapter.FIGURE_2))

# %% [markdown]
# Verdicts use intervals over users: the paper compares systems on one catalogue
# ([more](#dev-intervals)).
#
# ### Which statements survive?
#
# The test ratings alone ($T_u=R_{test}(u)$) make a tempting target set, since everything in it is
# judged. {numref}`tbl-rtest` shows why the paper discards it: what is left out are the items that
# nobody should recommend, and a random ranking of the rest looks good.

# %% tags=["hide-input", "remove-output"]
columns = {"AR": "AR, TI-AN", "R_test": "test ratings only"}
table = measured.values.query("label in @columns and metric == @precision").pivot_table(
    index="system", columns="label", values="value", sort=False
)
table = table.assign(ratio=table["R_test"] / table["AR"])[["AR", "R_test", "ratio"]]
table = table.rename(columns=columns).rename_axis(index=None, columns=None)
shown = table.style.set_uuid("rtest").format("{:.4f}").format("{:.1f}", subset=["ratio"])
glue("tbl_rtest", shown, display=False)

# %% [markdown]
# ```{glue:figure} tbl_rtest
# :name: tbl-rtest
#
# Precision among all tested items, and among the user's own test ratings.
# ```
#
# The candidates matter less. Where nearly every item has a test rating, **AI** and **TI** give the
# same values; the verdict of BCC17-C-TIAI below says how nearly.
#
# ### Are the differences more than noise?
#
# The paper reports that all differences in its figure are significant. It tests runs, of which there
# are many; but the runs of one user depend on each other, so the test per user is the safer one.
# {numref}`tbl-tests` has both, for the five systems of the figure with MF and kNN as rating
# predictors.

# %% tags=["hide-input", "remove-output"]
table = pages.paired_tests_table(
    measured,
    {
        "AR, per user": ("AR", precision, "user"),
        "1R, per user": ("1R", precision, "user"),
        "1R, per run": ("1R", precision, "run"),
    },
    systems=chapter.FIGURE_2,
)
glue("tbl_tests", table.style.set_uuid("tests"), display=False)

# %% [markdown]
# ```{glue:figure} tbl_tests
# :name: tbl-tests
#
# Differences in precision with the half-width of their 95 % interval (paired t), and p-values of the
# Wilcoxon signed-rank test.
# ```
#
# Where a difference has another sign per run than per user, the users with many relevant items and
# those with few prefer different systems: the micro average of Eq. 1 sides with the former.
#
# ### Do other metrics agree?

# %% tags=["hide-input"]
taus = {
    f"{precision} and {metric}, both AR": chapter.tau_between(
        measured, ("AR", precision), ("AR", metric)
    )
    for metric in (f"nDCG@{cutoff}", "AP", "RR", f"R@{cutoff}")
}
taus[f"{precision} under AR and under 1R"] = chapter.tau_between(
    measured, ("AR", precision), ("1R", precision)
)
head = ("orders compared", "Kendall's tau")
Markdown(pages.quantities_table(taus, head=head, form=".2f"))

# %% [markdown]
# Tau is 1 for the same order of all systems and -1 for the reverse. Another metric hardly changes who
# wins; another design may.
#
# ## One name, many algorithms
#
# The published order is pLSA, Popularity, MF, kNN, Random. Whether one finds it depends on what "MF"
# and "kNN" mean ([E25](#err-e25)). A *rating predictor* answers "how many stars would this user
# give?"; its kNN divides by the sum of similarities, its MF fits the observed stars. A *ranker* sums
# similarities, or fits a matrix with zeros for unrated pairs, and so rewards items that many people
# rated. The paper gives no parameters. The honest test is a grid: for each reading, every combination
# of settings that one might have run.

# %%
references = ("Random", "Popularity", "pLSA")
chosen = [system for system in line_up(systems) if system.name in references]
for parts in chapter.READINGS.values():
    chosen += [system for part in parts for system in bcc17_grid(part)]
grid = run(
    Grid(
        dataset,
        with_seeds(chosen, n_seeds),
        {label: asked[label] for label in ("AR", "1R")},
        (precision,),
        split=split,
        seed=seed,
    ),
    workers=workers,
    record="01_design_alternatives/grid",
)

# %% tags=["hide-input"]
families = {
    f"{family}, {reading}": names
    for reading in chapter.READINGS
    for family, names in zip(("MF", "kNN"), chapter.reading_settings(reading), strict=True)
}
figure = plot_settings(
    grid, families, label="AR", metric=precision, references=("pLSA", "Popularity", "Random")
)
glue("fig_settings", figure, display=False)
table = grid.values.set_index("system")
HTML(downloads(figure, table, f"grid-{grid.dataset['name']}"))

# %% [markdown]
# ```{glue:figure} fig_settings
# :name: fig-settings
# :alt: Precision of every parameter setting of MF and kNN in two readings, with pLSA, Popularity and Random as lines.
#
# Every point is one setting of the parameter grid (AR, TI-AN). The order of the paper needs MF left
# of Popularity, and kNN between Random and MF.
# ```

# %% tags=["hide-input"]
rows = []
for reading in chapter.READINGS:
    shares = [chapter.grid_share(grid, label, reading) for label in ("AR", "1R")]
    cells = [f"{share.value:.0%} ({pages.interval_text(share, '.0%')})" for share in shares]
    mf, knn, count = chapter.nearest_setting(grid, "AR", reading)
    rows.append((reading, *cells, f"{mf} with {knn}: {count} of 4 steps"))
head = ("reading", "settings with the order, AR", "1R", "nearest setting (AR)")
Markdown(pages.markdown_table(head, rows))

# %% [markdown]
# The shares count combinations of an MF with a kNN setting for which all four steps of the order
# hold, with 95 % intervals from resampling users. The nearest setting is the one with most steps in
# the published direction, and among those the one whose smallest step is largest.
#
# ### Does it hang on merged stars?
#
# Where a dataset keeps the stars 1 to 3 as one value, the models that read stars were given their
# mean. If the order depended on that choice, it would show here.

# %%
by_name = {system.name: system for system in line_up(systems)}
variants = merged_star_variants(by_name.values())
stars = run(
    Grid(
        dataset,
        with_seeds([by_name["Random"], by_name["Popularity"], *variants], n_seeds),
        {"AR": asked["AR"]},
        (precision,),
        split=split,
        seed=seed,
        replicates=(),
    ),
    workers=workers,
    record="01_design_alternatives/stars",
)


# %% tags=["hide-input"]
table = chapter.star_sensitivity(measured, stars)
order = table.loc[list(chapter.FIGURE_2)].apply(lambda column: column.is_monotonic_decreasing)
rows = [(name, *(f"{value:.4f}" for value in row)) for name, *row in table.itertuples()]
rows.append(("*order of Figure 2*", *order.map({True: "yes", False: "no"})))
head = (f"{precision} if 1 to 3 stars count", *table.columns)
Markdown(pages.markdown_table(head, rows))

# %% [markdown]
# The last row says whether pLSA, Popularity, MF, kNN and Random, with MF and kNN as rating predictors
# at the settings of the line-up, come in the published order.
#
# ## Figure 3: how tightly is 1R tied to AR?
#
# The lemma says that $1RP$ cannot stray far from ordinary precision on the same sample. How far is
# "far"? The paper varies two things: it removes test ratings, which leaves fewer relevant items per
# user (left), and it enlarges the target sets (right). Each system is looked at by itself here, so
# that one training seed per fold is enough.

# %%
shared, thinned = chapter.lemma_protocols(min_rating, sizes=chapter.target_sizes(size, n_sampled))
bounds = (f"lower@{cutoff}", f"upper@{cutoff}")
lemma = run(
    Grid(
        dataset,
        [by_name[name] for name in by_name if name in chapter.LEMMA_SYSTEMS],
        shared,
        (precision, *bounds),
        split=split,
        seed=seed,
        tests=thinned,
        replicates=[(label, metric) for label in shared for metric in (precision, *bounds)],
    ),
    workers=workers,
    record="01_design_alternatives/lemma",
)

# %% tags=["hide-input"]
panels = {
    title: (list(labels.values()), list(labels))
    for title, labels in {
        "test ratings removed (%)": axis_labels(lemma.grid, "removed"),
        "size of the target set": axis_labels(lemma.grid, "size"),
    }.items()
}
figure = plot_bounds(lemma, panels, systems=lemma.systems)
glue("fig_bounds", figure, display=False)
HTML(downloads(figure, lemma.values.set_index("system"), f"figure-3-{lemma.dataset['name']}"))

# %% [markdown]
# ```{glue:figure} fig_bounds
# :name: fig-bounds
# :alt: Precision with one relevant item per run between its lower and upper bound, against removed test ratings and against the size of the target set.
#
# The paper's Figure 3: $1RP$ (line) between the bounds of the lemma (band), as test ratings are
# removed (left) and as target sets grow (right). The paper shows pLSA and kNN.
# ```

# %% tags=["hide-input"]
rows = []
for system in lemma.systems:
    for labels, _ in panels.values():
        gaps = [chapter.lemma_gap(lemma, system, label).value for label in labels]
        values = [lemma[system, label, precision].value for label in labels]
        absolute = ", ".join(f"{gap:.4f}" for gap in gaps)
        relative = ", ".join(f"{a / b:.2f}" for a, b in zip(gaps, values, strict=True))
        rows.append((system, ", ".join(labels), absolute, relative))
head = ("system", "varied", "upper - lower", f"the same over 1R{precision}")
Markdown(pages.markdown_table(head, rows))

# %% [markdown]
# Thinning the test data closes the gap, and for a plain reason: with one relevant item per user the
# two bounds are the same number. Larger target sets shrink the gap only in absolute terms, because
# all values shrink with $1/t$; look at the last column.
#
# ## Verdicts
#
# Definitions and theorems are checked on the data itself: target sets are rebuilt user by user from
# sets of items, and on the first fold Popularity and pLSA are trained and ranked a second time, by
# sorting the scores of every target set, in code that shares nothing with the experiment's counting.
# What it finds is compared with the ranks that the experiment stored. Each check rejects an input
# that was broken on purpose.

# %%
checks = run_maker(
    "01_design_alternatives/checks",
    dataset,
    parameters={
        "seed": seed,
        "split": split,
        "min_rating": min_rating,
        "size": size,
        "cutoff": cutoff,
        "n_sampled": n_sampled,
        "grids": [measured.grid.to_dict()],
    },
    record="01_design_alternatives/checks",
)

# %% tags=["hide-input"]
results = {"systems": measured, "grid": grid, "stars": stars, "lemma": lemma, "checks": checks}
verdicts = judge_chapter("design alternatives", results)
HTML(verdict_cards(verdicts))

# %% [markdown]
# A part **holds** or **is refuted** if the whole 95 % interval lies on one side of its criterion, and
# **is open** if it lies on both, or if its verdict hangs on the seed of resampling or training. **Yes**:
# all parts hold. **No**: some are refuted and none holds. **Partly**: some hold and some are refuted.
# **Undecided**: none is refuted, some are open. An exact check has no interval.
#
# ## Why
#
# **Why is Eq. 4 only an approximation?** In this split $\rho$ is {glue:text}`rho` among tested items
# and $\sigma\delta$, which assumes that profiles and target sets are independent, is
# {glue:text}`sigma_delta`: {glue:text}`rho_word`. Users with many ratings have *smaller* target sets,
# because their training items are taken out, and *more* relevant items in them, which raises the mean
# of the ratios above the ratio of the means.

# %% tags=["remove-cell"]
found = checks.statistics
product = found["sigma[TI]"] * found["delta[TI]"]
glue("rho", f"{found['rho[TI]']:.5f}", display=False)
glue("sigma_delta", f"{product:.5f}", display=False)
glue("rho_word", f"{abs(1 - product / found['rho[TI]']):.0%} apart", display=False)
glue("t", f"{found['t[TI]']:.0f}", display=False)

# %% [markdown]
# **Why does the order of systems change between AR and 1R?** A run asks whether *this* item beats a
# hundred random ones; a list of ten out of {glue:text}`t` asks whether it beats nearly all. The first
# question is about the whole ranking, the second about its very top. A system may be good at one and
# poor at the other: the normalised kNN recommends items that a few neighbours loved, at the top, and
# orders the rest sensibly.
#
# **Why do two readings of one name differ so much?** Dividing by the sum of similarities removes
# the number of neighbours who rated the item, that is, its popularity. What remains is a mean over
# few votes, and the top of a ranking by such means is taken by items with hardly any. Requiring
# more neighbours, or damping the division, lets popularity back in by degrees; in
# {numref}`fig-settings` the normalised kNN moves to the right as it does.
#
# ## What we had to decide
#
# - **Ties** are broken by one seeded random key per user and item, the same in all target sets and
#   for all systems ([why](#dev-ties)); the lemma is false otherwise.
# - **Samples**: figures use an own sample per run; the lemma needs one per user
#   ([how](#dev-sampling)).
# - **Users without relevant test items** count as 0 under AR, as the paper's formula has it
#   ([more](#dev-users)), and rated-low test items stay targets ([more](#dev-low-ratings)).
# - **Scores that cannot be computed** leave an item out of the list; it is not ranked last by a 0
#   that might beat negative scores ([more](#dev-nc)).
# - **Intervals** come from resampling users; runs of one user stay together
#   ([more](#dev-intervals)).
# - **Training seeds**: {glue:text}`n_seeds` per fold here; with fewer than five, the order of a system
#   with random training stays open ([more](#dev-training-seeds)). {ref}`All decisions
#   <sec-decisions>` are on one page.
#
# ## On your data
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
# Six, from easy to hard. Each comes with starter code, to be completed where the dots are, and with a
# check that says whether the answer is right. The checks need the installed package and nothing
# else; each takes seconds.
#
# ````{exercise} The ceiling
# :label: ex-ceiling
#
# A paper reports $P@10=0.14$ "with 100 sampled negatives per relevant item". What is the largest
# precision that one target set allows, and what do you conclude?
#
# ```python
# from recbias.exercises.design_alternatives import check_ceiling
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
# from recbias.exercises.design_alternatives import check_ceiling
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
#
# Pencil and paper. A user has 3 relevant test items, 2 test items rated low and 40 training items;
# the catalogue has 1 000 items, 800 of them with test ratings, all of this user's items among them.
# What is their expected $P@10$ of a random ranking under TI-AN-AR, AI-AN-AR, and TI-NN-1R with
# $t=100$?
#
# ```python
# from recbias.exercises.design_alternatives import check_random
#
# check_random(ti_an_ar=..., ai_an_ar=..., ti_nn_1r=...)
# ```
# ````
#
# ````{solution} ex-random
# :class: dropdown
#
# ```python
# from recbias.exercises.design_alternatives import check_random
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
#
# Pencil and paper again. Ratings in brackets are in test, the others in training; 4 stars or more are
# relevant. Popularity ranks items by their number of training ratings, ties by the alphabet. What is
# its $P@2$ under TI-AN-AR, under TI-AN-1R (averaged over runs), and if the user's own test ratings
# are ranked alone? Which user has no run?
#
# |       | a   | b   | c   | d   | e   | f   | g   | h |
# |-------|-----|-----|-----|-----|-----|-----|-----|---|
# | **A** |     | [2] | 2   |     | 5   | [3] | [2] | 2 |
# | **B** | 5   |     | 3   |     |     | [5] | [4] | 5 |
# | **C** | 4   | [2] | [4] |     | 2   |     | [3] | 5 |
# | **D** | [5] |     | 5   |     | [5] | 3   | 5   |   |
# | **E** | 5   |     |     |     | 3   | [3] | [4] | 3 |
# | **F** |     |     |     | [2] | 5   | [4] | 5   | 5 |
#
# ```python
# from recbias.exercises.design_alternatives import check_toy
#
# check_toy(ti_an_ar=..., ti_an_1r=..., test_only=...)
# ```
# ````
#
# ````{solution} ex-toy
# :class: dropdown
#
# By training ratings the items come as h, e, a, c, g, f, b, d; h has no test rating and is no target.
# The first two targets of users A to F are a g, e g, c g, e a, c g and a c.
#
# ```python
# from recbias.exercises.design_alternatives import check_toy
#
# per_user = [0, 1, 1, 2, 1, 0]  # hits in the first two targets
# per_run = [1, 1, 1, 1, 1, 1, 0]  # B: f, g; C: c; D: a, e; E: g; F: f
# tested = [0, 2, 1, 2, 1, 1]  # hits in the first two of the own test items
# check_toy(
#     ti_an_ar=sum(per_user) / 2 / 6,
#     ti_an_1r=sum(per_run) / 2 / 7,
#     test_only=sum(tested) / 2 / 6,
# )
# ```
#
# User A has no relevant test item: a 0 under AR, and no run under 1R.
# ````
#
# ````{exercise} One pass is enough
# :label: ex-one-pass
#
# A run ranks its item among $t-1$ sampled others. You know its rank among itself and *all* others
# of the pool. What is the chance, over all samples, that it is within the cutoff?
#
# ```python
# from recbias.exercises.design_alternatives import check_one_pass
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
# from recbias.exercises.design_alternatives import check_one_pass
#
# def expected_hit(rank, pool, size, cutoff):
#     above, drawn = rank - 1, size - 1
#     ways = [comb(above, k) * comb(pool - above, drawn - k) for k in range(cutoff)]
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
#
# Give every run a sample of its own instead of a shared one. Find a user with two relevant items, r1
# and r2, for whom the lower bound then fails at $n=1$. Does it fail in expectation?
#
# ```python
# from recbias.exercises.design_alternatives import check_lemma_broken
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
# from recbias.exercises.design_alternatives import check_lemma_broken
#
# order = ["high", "r1", "r2", "low"]
# shared = {"low"}
# own = {"r1": {"high"}, "r2": {"high"}}
# check_lemma_broken(order, shared, own)
# ```
#
# The bound is computed on a sample below both relevant items, so $h_u(1)=1$; but the runs draw an
# item above them, and both miss. In expectation over samples it cannot fail, since the sample of each
# run has the same distribution as the shared one: compare `P@10|t=100` and the bounds in the verdict
# of BCC17-L1.
# ````
#
# ````{exercise} Another threshold
# :label: ex-threshold
#
# Say that items are relevant from 4 stars instead of 5. For which of these claims may the verdict
# on a part change, and for which can it not? Their classes do not tell: read on the cards what each
# part measures.
#
# ```python
# from recbias.exercises.design_alternatives import check_threshold
#
# can_change = {
#     "BCC17-EQ1": ...,  # a theorem: True or False
#     "BCC17-C-MAX1R": ...,  # a theorem
#     "BCC17-C-THETA": ...,  # a theorem
#     "BCC17-SETUP": ...,  # a definition
#     "BCC17-C-RANGE": ...,  # empirical
# }
# check_threshold(can_change)
# ```
# ````
#
# ````{solution} ex-threshold
# :class: dropdown
#
# ```python
# from recbias.exercises.design_alternatives import check_threshold
#
# can_change = {
#     "BCC17-EQ1": False,
#     "BCC17-C-MAX1R": False,
#     "BCC17-C-THETA": True,
#     "BCC17-SETUP": True,
#     "BCC17-C-RANGE": True,
# }
# check_threshold(can_change)
# ```
#
# Identities and bounds hold at any threshold. BCC17-C-THETA is one at heart, but some of its parts
# are measured orders and differences. BCC17-SETUP records what the paper used, and one of its parts
# asks whether the smallest relevant rating is 5. To see what does change:
# `recbias run 01_design_alternatives --dataset synthetic -p min_rating 4`.
# ````
#
# ## Summary
#
# - A precision value means nothing without its target set: candidates, relevant, non-relevant.
# - Random measures the design: $\rho$ under AR, $1/t$ under 1R.
# - 1R is bounded by $1/n$, and by ordinary precision on the same sample, but it is no rescaling of it.
# - "MF" and "kNN" name families. Whether the paper's order appears depends on the reading and on
#   parameters that it does not give; a comparison has to state both.
#
# ```{seealso}
# [Notation and glossary](#sec-symbols), [decisions](#sec-decisions), [errata](#sec-errata), and the
# {doc}`scorecard </notebooks/scorecard>` with every claim of the four papers.
# ```
