"""The figures of chapter 3: how ratings pile up on items, and what that alone is worth."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from functools import partial

import numpy as np
import pandas as pd

from recbias.book.chapters.popularity_bias.concentration import (
    STEPS,
    data_sets_beside,
    share_of_most_popular,
    short_title,
    trec_marginals,
)
from recbias.book.chapters.popularity_bias.pure_skew import DATA, RANDOM, SHARE, WORLD
from recbias.book.chapters.popularity_bias.relation_map import AT_SKEW
from recbias.book.chapters.popularity_bias.relation_map import overrated as factors_of
from recbias.book.chapters.popularity_bias.setup import FIGURE_5
from recbias.book.figures import NARROW, Figure, bars, dots, lines
from recbias.book.findings import said
from recbias.book.non_personalised import measured_beside_predicted
from recbias.claims.ledger import claims
from recbias.claims.quantities import over_worlds
from recbias.claims.regions import defined
from recbias.experiment.makers import Table
from recbias.experiment.run import Results

_TITLE = 42
"""Characters of a line of a title, in a figure as wide as a phone."""

_BARS = {
    DATA: "Popularity, real ratings",
    WORLD: "Popularity, same counts but no taste",
    RANDOM: "random ranking",
}
_CUMULATIVE = partial(
    lines, x="share of items", across="share of the items, most liked first",
    up="their share of all likes", points=False, diagonal=True, height=3.6, width=NARROW,
    limits={"xlim": (0, 1), "ylim": (0, 1.02)},
)  # fmt: skip


def skew(pure_skew: Table) -> Figure:
    """Show what Popularity scores on ratings and without taste, beside a random ranking."""
    rows = [
        (words, score.value, *score.interval)
        for quantity, words in _BARS.items()
        for score in [pure_skew[{"design": "AR", "quantity": quantity}]]
    ]
    return Figure(
        "skew",
        pd.DataFrame(rows, columns=["what", "value", "low", "high"]),
        said(
            "own/SKEW-SHARE-AR",
            {"pure_skew": pure_skew},
            width=_TITLE,
            holds="Popularity still has {value:.0%} of its precision without any taste",
            refuted="Popularity has no more than {value:.0%} of its precision without any taste",
            open="Popularity has perhaps {value:.0%} of its precision without any taste",
        )
        or "What Popularity scores with taste and without",
        "Bars of the precision of Popularity on real ratings and in worlds with the same counts "
        "and no taste, and of a random ranking.",
        partial(
            bars, row="what", coloured=True, numbers=".3f", share_x=False, width=NARROW,
            across="precision among all tested items",
        ),
    )  # fmt: skip


def chain(counts: Table) -> Figure:
    """Show relevant test ratings against training ratings, means over groups of items."""

    def message(rows: pd.DataFrame) -> str:
        head = rows["share"].iloc[: len(counts.frame) // 10].sum()
        return f"The most rated tenth of the items has\n{head:.0%} of what is relevant in the test"

    groups = counts.frame
    ratio = groups["positives"].sum() / groups["training"].sum()
    groups = groups.assign(predicted=ratio * groups["training"], line="groups of items")
    return Figure(
        "chain",
        groups[(groups["training"] > 0) & (groups["positives"] > 0)],
        message,
        "Relevant test ratings against training ratings of items on logarithmic axes, a point for "
        "each of twenty groups of items, with the line of proportion.",
        partial(
            lines, x="training", y="positives", joined=False, predicted="proportional", log=True,
            log_up=True, height=3.6, across="training ratings of an item",
            up="relevant test ratings", width=NARROW,
        ),
        "popularity-chain",
    )  # fmt: skip


def rankings(results: Results, predicted: Table) -> Figure:
    """Show what rankings that are the same for everybody score, beside what theory predicts."""
    metric = str(results.metric("AR", "P"))
    likes = said(
        "own/LIKES-OVER-RATINGS",
        {"baselines": results},
        holds="Counting likes beats Popularity",
        refuted="Counting likes does not beat Popularity",
        open="Counting likes is not told from Popularity",
    )
    shown = said(
        "own/SHOWN-OVER-LIKES",
        {"baselines": results},
        holds="asking who can still be shown an item adds to it",
        refuted="asking who can still be shown an item adds nothing",
        open="asking who can still be shown an item adds nothing that is sure",
    )
    told = textwrap.fill(f"{likes}; {shown}", _TITLE) if likes and shown else ""
    rows = measured_beside_predicted(results, predicted)
    forms = [name for name in rows.columns if name not in ("value", "low", "high")]
    return Figure(
        "rankings",
        rows.rename_axis("ranking").reset_index(),
        told or "Rankings that are the same for everybody",
        "Bars of the precision of five rankings that are the same for everybody, with two "
        "predictions for each.",
        partial(
            bars, row="ranking", across=metric, width=NARROW,
            marks={form: f"predicted, {form}" for form in forms},
        ),
        f"rankings-{results.dataset['name']}",
    )  # fmt: skip


def exponents(simulated: Table, metric: str, *, name: str) -> Figure:
    """Show a metric of systems where nobody prefers anything, over the skew of popularity."""

    def message(rows: pd.DataFrame) -> str:
        course = "From exponent {:g} to {:g}".format(*rows["alpha"].agg(["min", "max"]))
        return said(
            "BCC17-F5C/1",
            {"skew": simulated},
            width=_TITLE,
            holds=f"{course} Popularity's score grows {{value:.1f}}-fold, with no taste anywhere",
            refuted=f"{course} Popularity's score grows only {{value:.1f}}-fold, without taste",
            open=f"{course} Popularity's score may grow, with no taste anywhere",
        )

    published = _published_at_zero()
    rows = []
    for system in FIGURE_5:
        for alpha, values in simulated.select(system=system).groupby("alpha")[metric]:
            mean = over_worlds(values)
            beside = published.get((system, float(str(alpha))), np.nan)
            rows.append((system, alpha, mean.value, *mean.interval, beside))
    return Figure(
        "exponents",
        pd.DataFrame(rows, columns=["system", "alpha", "value", "low", "high", "published"]),
        message,
        "Precision of five systems with one relevant item per run against the exponent of "
        "popularity, with two published values at exponent 0.",
        partial(
            lines, x="alpha", line="system", across="exponent of popularity", up=name, apart=0.012,
            whiskers=True, ticks=sorted(simulated.frame["alpha"].unique()),
            limits={"ylim": (0, None)}, height=3.4, keys_abreast=1, width=NARROW,
        ),
        "figure-5-centre",
    )  # fmt: skip


def _published_at_zero() -> dict[tuple[str, float], float]:
    """Give the two values of Fig. 5 (centre) that the paper prints, by system and exponent."""
    (claim,) = (claim for claim in claims() if claim.id == "BCC17-C-UNIF")
    names = {"Popularity": "Pop", "Random": "Random"}
    return {(system, 0.0): float(claim.values[name]) for system, name in names.items()}


def collections(concentration: Table) -> Figure:
    """Show how positives cumulate over the items of data sets, and of TREC as far as is printed."""
    own = short_title(concentration.dataset["title"])

    def message(rows: pd.DataFrame) -> str:
        half = rows.loc[rows["line"] == own, "half"].iloc[0]
        reached = rows.loc[rows["high"] >= 0.5, "share of items"].min()
        return (
            f"{own}: {defined(half, '.0%')} of the liked items\n"
            f"have half of all likes; of TREC, {defined(reached, '.0%')} at least"
        )

    shares = np.linspace(0, 1, STEPS + 1)
    curves = []
    for title, table in data_sets_beside(concentration).items():
        positives = table.select(counts="positives").set_index("what")["value"]
        values = [positives[f"curve {step}"] for step in range(STEPS + 1)]
        named = {"line": short_title(title), "half": positives["half"]}
        curves.append(pd.DataFrame({**named, "share of items": shares, "value": values}))
    trec = trec_marginals()
    ends = {
        "low": share_of_most_popular(trec.flattest(trec.n_once[0]), shares),
        "high": share_of_most_popular(trec.steepest(trec.n_once[1]), shares),
    }
    titles = sorted({str(curve["line"].iloc[0]) for curve in curves})
    looks = dict(zip(titles, (1, 2, 3, 4, 5, 7, 9), strict=False)) | {own: 0}
    curves.append(
        pd.DataFrame({"line": "TREC (from what is printed)", "share of items": shares, **ends})
    )
    return Figure(
        "collections",
        pd.concat(curves, ignore_index=True),
        message,
        "Cumulative share of the positives against the share of items, most liked first, a line "
        "for each dataset and a narrow band for TREC.",
        partial(_CUMULATIVE, looks=looks),  # those of other data sets are the same on each page
        "figure-5-right",
    )


def shares(pure_skew: Table, designs: Mapping[str, str]) -> Figure:
    """Show by data set and design what share of Popularity's score is there without taste."""

    def message(rows: pd.DataFrame) -> str:
        low, high = rows["value"].min(), rows["value"].max()
        return (
            f"Without taste Popularity keeps {defined(low, '.0%')}\n"
            f"to {defined(high, '.0%')} of its score, by data and design"
        )

    rows = [
        (short_title(title), name, share.value, *share.interval)
        for title, table in data_sets_beside(pure_skew).items()
        for label, name in designs.items()
        for share in [table[{"design": label, "quantity": SHARE}]]
    ]
    return Figure(
        "shares",
        pd.DataFrame(rows, columns=["data", "design", "value", "low", "high"]),
        message,
        "Share of Popularity's score that worlds without taste give, a point with its interval for "
        "each dataset and design.",
        partial(
            dots, row="data", line="design", levels=(1,), from_zero=True,
            across="without taste / on the ratings", width=NARROW,
        ),
        "pure-skew",
    )  # fmt: skip


_FACTORS = {"observed": "in the test", "true": "by what people like"}


def overrated(relation_map: Table) -> Figure:
    """Show what Popularity seems and is worth, over how popularity relates to liking."""
    at_skew = relation_map.select(system="Popularity", skew=AT_SKEW)
    factors = factors_of(at_skew).assign(relation=at_skew["relation"])
    rows = [
        (words, relation, mean.value, *mean.interval)
        for quantity, words in _FACTORS.items()
        for relation, values in factors.groupby("relation")[quantity]
        for mean in [over_worlds(values)]
    ]
    return Figure(
        "overrated",
        pd.DataFrame(rows, columns=["line", "relation", "value", "low", "high"]),
        said(
            "own/MAP-AGREEING",
            {"relation_map": relation_map},
            width=_TITLE,
            holds="A test overrates Popularity even where popular is liked most: {value:.1f} times",
            refuted="A test does not overrate Popularity where popular is liked most",
            open="A test may overrate Popularity even where popular is liked most",
        ),
        "Two lines over the relation of popularity and liking: how many times a random ranking "
        "Popularity scores in a test, and how many times its lists are liked.",
        partial(
            lines, x="relation", whiskers=True, level=1, ticks=(-1, -0.5, 0, 0.5, 1),
            limits={"ylim": (0, None)}, up="times a random ranking", width=NARROW, height=3.2,
            across="popular items are liked less (\N{MINUS SIGN}), more (+)",
        ),
        "overrated",
    )  # fmt: skip
