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
#   recbias:
#     summary: true
# ---

# %% [markdown] tags=["general"]
# (sec-guide)=
# # What should I do, and what do I write?
#
# **In short:** rank all items. Print Random, Popularity and a count of likes beside your systems. Count hits *and*
# misses, and say how much of the lists nobody rated. Test over users. Compare no value across data. Write every
# decision down, in one line.
#
# Your line, and the paragraph for your methods section, follow from six questions. Below are
# [seventeen rules](#sec-guide-rules) with what speaks for them,
# [where chapters seem to disagree](#sec-guide-condensed), and a checklist for [authors](#sec-guide-authors) and one
# for [reviewers](#sec-guide-reviewers), a sheet of paper each.

# %% tags=["remove-cell"]
from functools import cache

from IPython.display import HTML, Markdown, display

from myst_nb import glue

from recbias.book.choosing import observed_items
from recbias.book.findings import find
from recbias.book.guide import questions, rules
from recbias.claims import load_chapter

# %% tags=["parameters", "remove-cell"]
dataset: str = "ml-1m"

# %% tags=["remove-cell"]
load = cache(load_chapter)
display(*find(rules.stated(), dataset, load))
verdicts = rules.count_verdicts(rules.stated(), load)
at_home = rules.reproduced(dataset)
for name, text in observed_items().items():
    glue(name, text, display=False)
for name, rule in rules.RULES.items():
    basis = rules.basis_html(rule, verdicts, at_home)
    glue(f"basis_{name}", Markdown(basis), display=False)

# %% [markdown] tags=["general"]
# ## Six questions
#
# The line is what [`recbias`](#rerun-own-table) reads and prints; its words are in the
# [notation](#sec-options). The threshold (`rel>=4`) stands for yours; what is in brackets you fill in.

# %% tags=["remove-input"]
HTML(questions.questions_html(questions.PLACES))

# %% [markdown] tags=["general"]
# (sec-guide-rules)=
# ## Seventeen rules
#
# The small print says on how many data sets the sentences of a rule hold; *open*: the data do not decide. Behind each
# claim of a paper stands whether it was reproduced on the paper's own data, which is another question.
#
# ### What a value means

# %% [markdown]
# (rule-1)=
# **1. Say what is ranked, relevant and not relevant, how deep, and over whom is averaged.**
# :::{finding} own/POPULARITY-RANGE
# holds: One and the same list scores {value:.1f} times as much under one of four usual designs as under
#   another ({low:.1f} to {high:.1f}).
# refuted: On these data one list has nearly the same value under four usual designs: the largest is
#   {value:.1f} times the smallest.
# open: The largest value of one list under four usual designs is {value:.1f} times the smallest
#   ({low:.1f} to {high:.1f}).
# :::
# *But:* how far designs lie apart depends on the data, and is known only after measuring.
#
# {glue:md}`basis_state`

# %% [markdown]
# (rule-2)=
# **2. Print Random and Popularity under the same design.**
# :::{finding} BCC17-C-RANGE/5
# holds: A random ranking knows nothing under any design, and yet scores {value:.1f} times as much under one as
#   under another, where unrated items are ranked: a value means something only beside that of Random.
# refuted: Where unrated items are ranked, a random ranking scores only {value:.1f} times as much under one design as
#   under another.
# open: Where unrated items are ranked, a random ranking scores about {value:.1f} times as much under one design as
#   under another.
# :::
# :::{finding} own/RANDOM-RANGE
# holds: With the user's own test ratings among the designs it is {value:.0f} times.
# refuted: With the user's own test ratings among the designs it is {value:.1f} times.
# open: With the user's own test ratings among the designs it is about {value:.1f} times.
# :::
# *But:* a system below Popularity may still serve its users better; see rules [9](#rule-9) to [11](#rule-11).
#
# {glue:md}`basis_chance`

# %% [markdown]
# (rule-3)=
# **3. Rank all candidates. If that takes too long, sample users, not items.**
# :::{finding} own/NEGATIVES-MOST
# holds: For every pair of systems to come out as when all items are ranked, a sample has to hold {value:.0%} of
#   them.
# refuted: A sample of {value:.0%} of all items is enough for every pair of systems to come out as when all are ranked.
# open: For every pair of systems to come out as when all items are ranked, a sample has to hold about
#   {value:.0%} of them.
# :::
# :::{finding} own/NEGATIVES-TURNED
# holds: In {value} of the pairs of systems the wrong one wins with a small sample, on average over all samples:
#   drawing again does not help.
# refuted: With a small sample, too, the same one of each pair of systems wins on average on these data.
# open: In {low} to {high} of the pairs of systems the wrong one wins with a small sample, on average over all
#   samples.
# :::
# *But:* pairs that are far apart survive a sample; and what is expected over all samples costs one
# [ranking of everything](#metric-expected).
#
# {glue:md}`basis_all_items`

# %% [markdown]
# (rule-4)=
# **4. Never compare values across papers or data.**
# :::{finding} own/AR-TENTH
# holds: With a tenth of the test ratings, the same systems keep {value:.0%} of their precision at most.
# refuted: With a tenth of the test ratings a system keeps as much as {value:.0%} of its precision.
# open: With a tenth of the test ratings, the same systems keep about {value:.0%} of their precision at most.
# :::
# :::{finding} BCC17-C-1RCOMP/4
# holds: With one size of target sets (1R), Popularity's values on five data sets differ by a factor of
#   {value:.1f} only.
# refuted: Even with one size of target sets (1R), Popularity's values on five data sets differ by a factor
#   of {value:.1f}.
# open: Even with one size of target sets (1R), Popularity's values on five data sets differ by a factor of
#   about {value:.1f}.
# :::
# *But:* what a random ranking scores can be compared under 1R; that takes density out, and no more.
#
# {glue:md}`basis_never_across`

# %% [markdown]
# ### How sure it is
#
# (rule-5)=
# **5. A sparse test will do for the order, if ratings are missing at random. Take at least twice what
# your closest pair needs.**
# :::{finding} own/ORDER-TENTH
# holds: With a tenth of the test ratings, taken at random, systems keep their order ($\tau$ = {value:.2f}).
# refuted: With a tenth of the test ratings the order of systems changes ($\tau$ = {value:.2f}).
# open: With a tenth of the test ratings the order of systems has a $\tau$ of {value:.2f} with that by all.
# :::
# *But:* ratings that are missing by popularity make a wrong answer more significant.
#
# {glue:md}`basis_sparse`

# %% [markdown]
# (rule-6)=
# **6. Test over users, not over runs.**
# :::{finding} own/UNIT-FLIPS
# holds: A run ranks one relevant item: a user with many of them counts many times. Pairs of systems of which one
#   wins if runs are counted, and the other if users are, both significantly: {value}.
# refuted: Whether runs are counted or users, the same system of each pair wins here.
# open: In {low} to {high} of the pairs of systems one wins if runs are counted, and the other if users are.
# :::
# *But:* users differ, too; no test over users speaks about other data.
#
# {glue:md}`basis_users`

# %% [markdown]
# ### Popularity
#
# (rule-7)=
# **7. Simulate what your counts give without taste.**
# :::{finding} own/SKEW-SHARE-AR
# holds: In a world with the counts of these data, in which nobody prefers anything, Popularity still has
#   {value:.0%} of its precision ({low:.0%} to {high:.0%}).
# refuted: In a world with the counts of these data and without taste Popularity has only {value:.0%} of its
#   precision.
# open: In a world with the counts of these data and without taste Popularity has {value:.0%} of its precision
#   ({low:.0%} to {high:.0%}).
# :::
# :::{finding} own/SKEW-SHARE-1R
# holds: With one relevant item at a time it has {value:.0%}: that design cures nothing.
# refuted: With one relevant item at a time it has only {value:.0%}.
# open: With one relevant item at a time it has {value:.0%} ({low:.0%} to {high:.0%}).
# :::
# *But:* that is no bound on what skew contributes, as taste and skew work together.
#
# {glue:md}`basis_simulate`

# %% [markdown]
# (rule-8)=
# **8. Take the number of likes as the baseline, not that of ratings alone.**
# :::{finding} own/LIKES-OVER-RATINGS
# holds: Popularity, which counts ratings, is not the best ranking that is the same for everybody: one that counts
#   likes has a higher precision.
# refuted: On these data a ranking that counts likes has no higher precision than Popularity, which counts ratings.
# open: On these data a ranking that counts likes cannot be told from Popularity, which counts ratings.
# :::
# *But:* where only likes are recorded, both are one.
#
# {glue:md}`basis_likes`

# %% [markdown]
# (rule-9)=
# **9. Take U1R and P1R for what exceeds popularity, not for the truth.**
# :::{finding} BCC17-F8-1R/1/2
# holds: A uniform test (U1R) leaves {value:.0%} of Popularity's lead over a random ranking
#   ({low:.0%} to {high:.0%}).
# refuted: A uniform test (U1R) leaves as much as {value:.0%} of Popularity's lead over a random ranking.
# open: A uniform test (U1R) leaves {low:.0%} to {high:.0%} of Popularity's lead over a random ranking.
# :::
# :::{finding} own/TRUTH-CM-REMEDIES-P
# holds: On CM100k the best remedy orders more pairs of systems as random judgments do than AR.
# refuted: On CM100k no remedy orders as many pairs of systems as random judgments do as AR does.
# open: On CM100k no remedy is clearly nearer to random judgments than AR.
# :::
# :::{finding} own/TRUTH-COAT-REMEDIES-AUC
# holds: On Coat the best one is nearer.
# refuted: On Coat none is, either.
# open: On Coat none is clearly nearer, either.
# :::
# *But:* where popular items are liked less, see [rule 11](#rule-11).
#
# {glue:md}`basis_beyond`

# %% [markdown]
# ### What nobody rated
#
# (rule-10)=
# **10. If dislikes are recorded, report bpref and condensed lists beside AR.**
# :::{finding} own/WORLDS-BPREF-AUC
# holds: By all items bpref is surely the best of nine tests in {low:cases} of {cases} kinds of simulated
#   worlds.
# refuted: By all items bpref has the largest mean of nine tests in {value:cases} of {cases} kinds of
#   simulated worlds only.
# open: By all items bpref has the largest mean of nine tests in {value:cases} of {cases} kinds of simulated
#   worlds.
# :::
# :::{finding} own/TRUTH-COAT-BPREF-AUC
# holds: Coat agrees: of {cases} pairs of systems it has {value:cases} more right than AR.
# refuted: Coat contradicts: it has fewer pairs of systems right than AR.
# open: On Coat neither has surely more pairs of systems right.
# :::
# :::{finding} own/TRUTH-CM-BPREF-AUC
# holds: CM100k agrees: it has more pairs of systems right than AR.
# refuted: CM100k contradicts: it has fewer pairs of systems right than AR.
# open: On CM100k neither has surely more pairs of systems right.
# :::
# *But:* in the worlds users rate what they will like. Where observed ratings are of what users *knew*, as
# on CM100k, that is another matter: [condensed lists](#sec-guide-condensed).
# :::{finding} own/WORLDS-AGREE-BPREF
# holds: And by the first ten bpref is behind AR where popular items are liked most.
# refuted: By the first ten bpref is not always behind AR where popular items are liked most.
# open: Whether by the first ten bpref is behind AR where popular items are liked most is open.
# :::
#
# {glue:md}`basis_dislikes`

# %% [markdown]
# (rule-11)=
# **11. With likes only, choose by how popularity goes with liking, and claim little.**
# :::{finding} own/WORLDS-OPPOSED-LEAD
# holds: Where popular items are liked less, U1R is nearer to the truth about the first ten than AR.
# refuted: Where popular items are liked less, U1R is not always nearer to the truth than AR.
# open: Where popular items are liked less, neither U1R nor AR is surely nearer to the truth.
# :::
# :::{finding} own/WORLDS-AGREE-LEAD
# holds: Where they are liked more, AR is.
# refuted: Where they are liked more, AR is not always nearer.
# open: Where they are liked more, neither is surely nearer.
# :::
# :::{finding} own/WORLDS-UNRELATED
# holds: Where popularity says nothing about liking, no test of likes has a $\tau$ above {value:.2f} with the
#   truth.
# refuted: Where popularity says nothing about liking, tests of likes have a $\tau$ of up to {value:.2f} with
#   the truth.
# open: Where popularity says nothing about liking, the largest $\tau$ of a test of likes with the truth is
#   {value:.2f} ({low:.2f} to {high:.2f}).
# :::
# *But:* likes alone do not tell which of these your data are. The [table of chapter 4](#tbl-likes-only) has what lies
# between.
#
# {glue:md}`basis_likes_only`

# %% [markdown]
# (rule-12)=
# **12. Report misses, and which share of the lists is unrated.**
# :::{finding} own/JUDGED-SHARE
# holds: Of the first ten items of a list only {value:.0%} have a test rating: of the others nobody knows whether
#   they are hits or misses.
# refuted: Of the first ten items of a list as many as {value:.0%} have a test rating.
# open: Of the first ten items of a list {value:.0%} have a test rating.
# :::
# :::{finding} own/UNRELATED-ANTIP
# holds: Where popularity says nothing about liking, misses order systems more truly than hits, by {value:.2f}
#   of $\tau$ ({low:.2f} to {high:.2f}): put them first there.
# refuted: Where popularity says nothing about liking, misses do not order systems more truly than hits.
# open: Where popularity says nothing about liking, neither hits nor misses surely order systems more truly.
# :::
# *But:* if hits and misses disagree, one is nearer to the truth. Do not average them.
#
# {glue:md}`basis_unrated`

# %% [markdown]
# (rule-13)=
# **13. Can you buy judgments? Draw them at random from the union of all lists.**
# :::{finding} own/JUDGMENTS-P
# holds: Drawn from all items instead, they are many: on CM100k it takes {value} for each user ({low} to {high}) until
#   the systems stand nearly in their true order ($\tau$ = .9).
# refuted: Drawn from all items, they need not be many: on CM100k {value} for each user are enough until the systems
#   stand nearly in their true order.
# open: Drawn from all items instead, on CM100k it takes {low} to {high} for each user until the systems stand nearly
#   in their true order.
# :::
# :::{finding} own/JUDGMENTS-LISTED
# holds: Only {value:.0%} of these are of an item that some system lists; the others tell nothing about any list.
# refuted: As many as {value:.0%} of these are of an item that some system lists.
# open: About {value:.0%} of these are of an item that some system lists.
# :::
# *But:* a system that joins later needs judgments of its own lists.
#
# {glue:md}`basis_random`

# %% [markdown]
# ### Decisions
#
# (rule-14)=
# **14. Write all ten decisions in one line, take each otherwise once, and use several seeds.**
# :::{finding} own/MOST-TURNED
# holds: One decision alone puts another system ahead in {value} of 91 pairs.
# refuted: No decision alone puts another system ahead in more than {value} of 91 pairs.
# open: One decision alone puts another system ahead in {value} of 91 pairs.
# :::
# :::{finding} own/NOISE-TURNED
# holds: Another seed of the split does so in {value}.
# refuted: Another seed of the split does so in {value} already.
# open: Another seed of the split does so in {low} to {high}.
# :::
# *But:* a small $p$ answers for the decisions that were made, and for no other.
#
# {glue:md}`basis_one_line`

# %% [markdown]
# (rule-15)=
# **15. Report coverage. A mean that leaves out who was not served rewards refusing.**
# :::{finding} CCM20-C-FORGIVE/2
# holds: Whom a kNN refuses, others serve badly, too: over users, being served and the P@10 of MF correlate by
#   {value:.2f}.
# refuted: Whom a kNN refuses, others do not serve worse (a correlation of {value:.2f}).
# open: Whether others serve badly, too, whom a kNN refuses is open.
# :::
# *But:* an empty list harms nobody; say both, what a system has where it answers and how often it does.
#
# {glue:md}`basis_coverage`

# %% [markdown]
# (rule-16)=
# **16. Publish code and parameters.**
# :::{finding} own/READINGS
# holds: One paper prints two parameters of its factorisation in the wrong order ([E12](#err-e12)). Who follows
#   the text gets another algorithm, and another nDCG@10: by {value:.3f}.
# refuted: One paper prints two parameters of its factorisation in the wrong order ([E12](#err-e12)). On these
#   data that moves nDCG@10 hardly at all.
# open: One paper prints two parameters of its factorisation in the wrong order ([E12](#err-e12)). On these data
#   that moves nDCG@10 by up to {high:.3f}.
# :::
# *But:* a name is no algorithm: see what is called *user kNN, cosine* on the page on
# {doc}`systems <systems>`.
#
# {glue:md}`basis_publish`

# %% [markdown]
# ### Beyond accuracy
#
# (rule-17)=
# **17. Report the Gini coefficient of the lists beside that of the training ratings, with popularity lift and
# what chance gives. Of evenness one metric is enough.**
# :::{finding} own/LTI-LOG-COUNT
# holds: The long-tail index as it was printed is a metric of evenness: {value:.0%} of it is how often items are
#   listed, whatever was popular before.
# refuted: Of the long-tail index as it was printed only {value} is how often items are listed.
# open: Of the long-tail index as it was printed {value} is how often items are listed ({low} to {high}).
# :::
# *But:* all of them depend on the numbers of items and of places; compare no two data sets.
#
# {glue:md}`basis_even`

# %% [markdown] tags=["general"]
# (sec-guide-condensed)=
# ## Where chapters seem to disagree: condensed lists
#
# A condensed list keeps of a ranking what the user rated in the test. **If you have dislikes, report both**, full and
# condensed lists. Never compare a value of one with a value of the other, and say how you think that popularity goes
# with liking in your data. Four chapters speak of it, of four questions.
#
# | chapter | asks | what decides |
# |---|---|---|
# | {doc}`1 <01_design_alternatives>` | is it a recommendation? | no: what users did not rate is not there |
# | {doc}`4 <04_overcoming_popularity_bias>` | does bpref, which counts in such lists, order systems as the truth does? | how users choose what they rate |
# | {doc}`5 <05_true_false_positives>` | what becomes of differences? | how much is rated; with likes only nothing is left |
# | {doc}`7 <07_offline_options>` | does the winner stay, and who is right? | how popularity goes with liking, metric and test |
# | {doc}`8 <08_multiverse>` | and with all other decisions? | which options are crossed: report in how many universes the winner wins |

# %% [markdown]
# :::{finding} own/RTEST-TAU
# holds: It is another task: orders by full and by condensed lists have a $\tau$ of {value:.2f}.
# refuted: Orders by full and by condensed lists have a $\tau$ of {value:.2f} on these data.
# open: Orders by full and by condensed lists have a $\tau$ of {value:.2f} ({low:.2f} to {high:.2f}).
# :::
# :::{finding} own/CONDENSED-REVERSED
# holds: Of 91 pairs of systems {value} are reversed, significantly both times.
# refuted: Of 91 pairs of systems none is surely reversed.
# open: Of 91 pairs of systems {low} to {high} are surely reversed.
# :::
# :::{finding} MCCRS20-C-CONDLOSS/1
# holds: The median effect size is {value:.0%} of that in full lists.
# refuted: The median effect size is still {value:.0%} of that in full lists.
# open: The median effect size is {low:.0%} to {high:.0%} of that in full lists.
# :::
#
# - **Where popular items are liked less,** take bpref first, condensed lists next, and misses in full lists third. Each
#   was asked, in worlds of this sort of a chapter's own, how far it has systems in the order of what people like of the
#   first ten.
#   :::{finding} own/BPREF-OPPOSED-TAU
#   holds: bpref has a $\tau$ of {value:.2f} on average (chapter 4),
#   refuted: bpref has a $\tau$ of only {value:.2f} on average (chapter 4),
#   open: -
#   :::
#   :::{finding} own/WORLDS-OPPOSED-OWN
#   holds: condensed lists {value:.2f} or more (chapter 1),
#   refuted: condensed lists {value:.2f} in some (chapter 1),
#   open: -
#   :::
#   :::{finding} own/OPPOSED-ANTIP
#   holds: and misses {value:.2f} or more (chapter 5).
#   refuted: and misses {value:.2f} in some (chapter 5).
#   open: and misses may have none (chapter 5).
#   :::
# - **Where popular items are liked more,** believe full lists.
#   :::{finding} own/WORLDS-AGREEING-STRONG
#   holds: In such worlds their $\tau$ with the truth is {value:.2f} larger if users rate strongly what they will
#     like,
#   refuted: In such worlds their $\tau$ with the truth is not larger even if users rate what they will like,
#   open: In such worlds neither is surely nearer to the truth if users rate strongly what they will like,
#   :::
#   :::{finding} own/WORLDS-AGREEING-BLIND
#   holds: and {value:.2f} larger if they rate blindly.
#   refuted: and not larger if they rate blindly.
#   open: and neither surely is if they rate blindly.
#   :::
#
#   That is of P@10, of a test of a fifth of the ratings, and of the order of all systems.
#   :::{finding} own/WORLDS-CONDENSED
#   holds: Chapter 7 has condensed lists ahead on average over its kinds of worlds, of which one is of this sort:
#     by nDCG@10, tested on half of the ratings, and counting pairs whose difference is significant.
#   refuted: Chapter 7 has full lists ahead on average over its kinds of worlds: by nDCG@10, tested on half of the
#     ratings, and counting pairs whose difference is significant.
#   open: In chapter 7, by nDCG@10 and tested on half of the ratings, neither is surely ahead on average over its
#     kinds of worlds.
#   :::
#   Neither says what another metric, a denser test or another make of world would give: where this matters, report
#   both.
# - **Of real data two know a truth, and on one of them two chapters disagree.** On CM100k (ratings of items
#   {glue:text}`observed_cm100k`) popular items are liked more.
#   :::{finding} own/TRUTH-CM-AR-P
#   holds: Chapter 4 has full lists *wrong* there: ten systems by P@10, of which {value:cases} of {cases} pairs stand as
#     in truth.
#   refuted: Chapter 4 has full lists right there: ten systems by P@10, of which {value:cases} of {cases} pairs stand as
#     in truth.
#   open: Chapter 4 leaves full lists open there: ten systems by P@10, of which {value:cases} of {cases} pairs stand as
#     in truth.
#   :::
#   Its truth is how many of the first ten *of all items* people like.
#   :::{finding} own/CM-DEFAULT-WRONG
#   holds: Chapter 7 has full lists surely wrong about {value:cases} of {cases} pairs, of fourteen systems by nDCG@10,
#   refuted: -
#   open: -
#   :::
#   :::{finding} own/CM-CONDENSED-WRONG
#   holds: and condensed ones about {value:cases}.
#   refuted: -
#   open: -
#   :::
#   Its truth is nDCG@10 *of judged items alone*: a condensed list itself, which may favour its like. So take the
#   chapter whose truth is your question: lists from a catalogue, or the order of what is judged.
#   :::{finding} own/COAT-DEFAULT-WRONG
#   holds: By the truth of chapter 7 full lists are wrong about {value:cases} of {cases} pairs on Coat, too (ratings of items
#     {glue:text}`observed_coat`),
#   refuted: -
#   open: -
#   :::
#   :::{finding} own/COAT-CONDENSED-WRONG
#   holds: and condensed ones about {value:cases}.
#   refuted: -
#   open: -
#   :::
# - **bpref** reads a condensed list by its whole order: [rule 10](#rule-10) asks it about the order of all items, the lines
#   above are about the first ten. An answer to one is none to the other.
# - **With likes only,** neither will do: condensed lists then say nothing, and full ones take the
#   unrated for disliked. Claim little ([rule 11](#rule-11)).

# %% [markdown] tags=["general"]
# (sec-guide-authors)=
# ## Checklist for authors
#
# The numbers are those of the rules.

# %% tags=["remove-input"]
HTML(rules.checklist_html("author"))

# %% [markdown] tags=["general"]
# (sec-guide-reviewers)=
# ## Checklist for reviewers
#
# The numbers are those of the rules.

# %% tags=["remove-input"]
HTML(rules.checklist_html("reviewer"))
