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
# To recommend to everybody what most people rated is the oldest recommender there is, and tables of
# results are full of systems that hardly beat it. Is it that good?

# %% [markdown] tags=["general"]
# **After this chapter you can**
# - say why a random split makes popularity predict what is tested, whatever people like;
# - build a world without taste from any dataset, and read from it what part of a score is skew;
# - predict what Popularity scores, and why it falls below a random ranking where all items are alike;
# - tell when a comparison with Popularity says something about recommending, and when not.

# %% tags=["hide-input", "remove-output"]
from IPython.display import HTML, Markdown
from myst_nb import glue

from recbias import Grid, line_up, makers, plotting, run
from recbias.claims import judge_chapter, pages, seeds, state, verdict_cards
from recbias.claims import popularity_bias as chapter
from recbias.datasets import top_rating
from recbias.recommenders import with_seeds

# %% tags=["parameters"]
dataset: str = "ml-1m"
min_rating: float | None = None  # 0 to 1000: smallest relevant rating; none = top of the scale
cutoff: int = 10  # 1 to 1000: length n of the lists that P@n looks at
size: int = 100  # 2 to 100000: size of a 1R target set
split: str = "k-fold 5"
systems: str = "bcc17"  # one of bcc17, modern: line-up of systems
seed: int = 1  # 0 to 1000000
n_seeds: int | None = None  # 1 to 100: of random training; none = 5 on published data, else 1
workers: int = 2  # 1 to 64: processes; results do not depend on them

# %% tags=["remove-cell"]
plotting.use_book_style()
min_rating = top_rating(dataset) if min_rating is None else min_rating
n_seeds = n_seeds or seeds.training_seeds(dataset)
quoted = {"size": f"{size:,}", "min_rating": f"{min_rating:g}", "cutoff": f"{cutoff}"}
quoted["n_seeds"] = "1 seed" if n_seeds == 1 else f"{n_seeds} seeds"
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
# (The paper prints $|\mathcal I|$ on the left, [E04](#err-e04).)
#
# ### The claims
#
# Every assertion that can be measured has a criterion, written down before the result that it judges
# and locked by a hash. What is asserted of simulated worlds is judged on simulated worlds, in all
# editions alike.

# %% tags=["hide-input"]
HTML(pages.claims_of("popularity bias"))

# %% [markdown] tags=["general"]
# ## The experiment

# %%
asked = chapter.protocols(min_rating)
precision, of_runs = (
    f"P@{cutoff}",
    [f"{name}@{cutoff}|t={size}" for name in ("P", "lower", "upper")],
)
measured = run(
    Grid(
        dataset,
        with_seeds(line_up(systems), n_seeds),
        asked,
        {"AR": (precision,), "all-1R": of_runs},
        split=split,
        seed=seed,
        replicates=chapter.combined(cutoff, size),
    ),
    workers=workers,
    record="03_popularity_bias/systems",
)

# %% tags=["hide-input"]
Markdown(pages.data_line(measured))

# %% [markdown] tags=["general"]
# ## How skewed are data?

# %%
record = "03_popularity_bias/concentration"
concentration = makers.run_maker(
    record, dataset, parameters={"min_rating": min_rating}, record=record
)

# %% tags=["hide-input"]
beside = chapter.data_sets_beside(concentration)
Markdown(chapter.concentration_table(beside))

# %% tags=["hide-input"]
curves = chapter.cumulative_curves(beside)
figure = plotting.plot_cumulative(curves, title=chapter.concentration_title(concentration))
glue("fig_collections", figure, display=False)
HTML(plotting.downloads(figure, curves, "figure-5-right"))

# %% [markdown] tags=["general"]
# ```{glue:figure} fig_collections
# :name: fig-collections
# :alt: Cumulative share of the positives against the share of items, most liked first, a line for each dataset and a narrow band for TREC.
#
# The paper's Figure 5, right: of all positives, the share that the most liked items have. For TREC the
# band between the flattest and the steepest counts that the printed numbers allow. Netflix and Last.fm
# are not at hand.
# ```

# %% [markdown] tags=["general"]
# ## Verdicts

# %%
record, made = "03_popularity_bias/checks", {"min_rating": min_rating, "seed": seed}
checks = makers.run_maker(record, dataset, parameters=made, record=record)

# %% tags=["hide-input"]
results = {"systems": measured, "concentration": concentration, "checks": checks}
verdicts = judge_chapter("popularity bias", results)
HTML(verdict_cards(verdicts))

# %% tags=["remove-cell"]
state("popularity bias", results, verdicts)

# %% [markdown] tags=["general"]
# A part **holds** or **is refuted** if the whole 95 % interval lies on one side of its criterion, and
# **is open** if it lies on both. **Yes**: all parts hold. **No**: some are refuted and none holds.
# **Partly**: some hold and some are refuted. **Undecided**: none is refuted, some are open.
