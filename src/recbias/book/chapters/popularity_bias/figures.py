"""The figures of chapter 3: how ratings pile up on items, and what that alone is worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import cast

import numpy as np
import pandas as pd
from matplotlib.ticker import FuncFormatter

from recbias.book.chapters.popularity_bias.concentration import (
    STEPS,
    data_sets_beside,
    share_of_most_popular,
    short_title,
    trec_marginals,
)
from recbias.book.chapters.popularity_bias.law import world_name
from recbias.book.chapters.popularity_bias.pure_skew import DATA, RANDOM, SHARE, WORLD
from recbias.book.chapters.popularity_bias.relation_map import mapped
from recbias.book.chapters.popularity_bias.setup import FIGURE_5
from recbias.book.figures import Figure, bars, dots, field, lines
from recbias.book.findings import said
from recbias.book.non_personalised import measured_beside_predicted
from recbias.claims.ledger import claims
from recbias.claims.quantities import over_worlds
from recbias.claims.regions import defined
from recbias.data.datasets import dataset_info
from recbias.data.simulation import PowerLawOptions, parse_world, power_law
from recbias.experiment.makers import Table
from recbias.experiment.run import Results

_BARS = {
    DATA: "Popularity, real ratings",
    WORLD: "Popularity, same counts but no taste",
    RANDOM: "random ranking",
}
_CUMULATIVE = partial(
    lines, x="share of items", across="share of the items, most popular first",
    up="their share of all counts", points=False, diagonal=True, height=4.4,
    limits={"xlim": (0, 1), "ylim": (0, 1.02)},
)  # fmt: skip


def skew(pure_skew: Table, designs: Mapping[str, str]) -> Figure:
    """Show what Popularity scores on ratings and without taste, beside a random ranking."""
    rows = [
        (name, words, score.value, *score.interval)
        for label, name in designs.items()
        for quantity, words in _BARS.items()
        for score in [pure_skew[{"design": label, "quantity": quantity}]]
    ]
    return Figure(
        "skew",
        pd.DataFrame(rows, columns=["panel", "what", "value", "low", "high"]),
        said("own/SKEW-SHARE-AR", {"pure_skew": pure_skew}, width=48),
        "Bars of the precision of Popularity on real ratings and in worlds with the same counts "
        "and no taste, and of a random ranking, under two designs.",
        partial(bars, row="what", coloured_by="row", numbers=".3f", share_x=False),
    )


def chain(counts: Table) -> Figure:
    """Show relevant test ratings against training ratings, means over groups of items."""

    def message(rows: pd.DataFrame) -> str:
        head = rows["share"].iloc[: len(counts.frame) // 10].sum()
        return (
            "The tenth of the items with most training ratings\n"
            f"has {head:.0%} of what is relevant in the test"
        )

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
            log_up=True, height=4.2, across="training ratings of an item",
            up="relevant test ratings",
        ),
        "popularity-chain",
    )  # fmt: skip


def rankings(results: Results, predicted: Table) -> Figure:
    """Show what rankings that are the same for everybody score, beside what theory predicts."""
    metric = str(results.metric("AR", "P"))

    def message(rows: pd.DataFrame) -> str:
        values = {row["ranking"]: row["value"] for row in rows.to_dict("records")}
        best, second = sorted(values, key=lambda name: -values[name])[:2]
        if best == "Popularity":
            return f"Popularity has the highest {metric} of them,\n{second} the next"
        if not values[best] > 0:
            return f"No ranking has a {metric}\nabove 0"
        share = values["Popularity"] / values[best]
        return f"{best} has the highest {metric},\nPopularity {share:.0%} of it"

    rows = measured_beside_predicted(results, predicted)
    forms = [name for name in rows.columns if name not in ("value", "low", "high")]
    return Figure(
        "rankings",
        rows.rename_axis("ranking").reset_index(),
        message,
        "Bars of the precision of five rankings that are the same for everybody, with two "
        "predictions for each.",
        partial(
            bars, row="ranking", across=metric, marks={form: f"predicted, {form}" for form in forms}
        ),
        f"rankings-{results.dataset['name']}",
    )


def power_laws(laws: Table, alphas: Sequence[float]) -> Figure:
    """Show how the counts that a power law gives to items cumulate, by its exponent."""

    def message(rows: pd.DataFrame) -> str:
        ginis = rows.set_index("exponent")["gini"].sort_index()
        return (
            f"From exponent {ginis.index[0]:g} to {ginis.index[-1]:g} the counts of items go\n"
            f"from a Gini coefficient of {ginis.iloc[0]:.2f} to {ginis.iloc[-1]:.2f}"
        )

    ginis = laws.frame.groupby("alpha")["gini"].mean()
    shares = np.linspace(0, 1, STEPS + 1)
    curves = []
    for alpha in alphas:
        world = cast(PowerLawOptions, parse_world(world_name(alpha, 1)))
        counts = power_law(world.items, 1.0, alpha=alpha, offset=world.offset or 0.0)
        curve = {"share of items": shares, "value": share_of_most_popular(counts, shares)}
        named = {"exponent": alpha, "gini": ginis[alpha], "line": f"exponent {alpha:g}"}
        curves.append(pd.DataFrame({**named, **curve}))
    return Figure(
        "laws",
        pd.concat(curves, ignore_index=True),
        message,
        "Cumulative share of the ratings against the share of items, most popular first, a line "
        "for each exponent of the power law.",
        _CUMULATIVE,
        "figure-5-left",
    )


def exponents(simulated: Table, metric: str, *, name: str) -> Figure:
    """Show a metric of systems where nobody prefers anything, over the skew of popularity."""

    def message(rows: pd.DataFrame) -> str:
        at = rows.set_index(["system", "alpha"])["value"]
        first, last = (float(end) for end in (rows["alpha"].min(), rows["alpha"].max()))
        ends = [at["Popularity", alpha] for alpha in (first, last)]
        return (
            f"Without taste, {name} of Popularity goes from {ends[0]:.4f} to {ends[1]:.3f}\n"
            f"with the skew; that of Random is {at['Random', first]:.4f} at first"
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
            limits={"ylim": (0, None)}, height=4.0,
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
        return (
            f"{own}: {defined(half, '.0%')} of the liked items have\n"
            "half of all positives; TREC is nearly flat"
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
    curves.append(
        pd.DataFrame({"line": "TREC (from what is printed)", "share of items": shares, **ends})
    )
    return Figure(
        "collections",
        pd.concat(curves, ignore_index=True),
        message,
        "Cumulative share of the positives against the share of items, most liked first, a line "
        "for each dataset and a narrow band for TREC.",
        _CUMULATIVE,
        "figure-5-right",
    )


def closed_form(simulated: Table, laws: Table, metric: str) -> Figure:
    """Show Popularity under 1R, the lemma's bounds, and the closed form read in two ways."""
    measured = "measured, within the bounds of the lemma"
    whole, sets = (
        f"lower bound in closed form, {items}" for items in ("the whole ranking", "the target sets")
    )

    def message(rows: pd.DataFrame) -> str:
        by_line = rows.set_index(["line", "alpha"])["value"]
        ratio = by_line[whole] / by_line[measured]
        return (
            "The closed lower bound over the whole ranking is\n"
            f"{ratio.min():.2f} to {ratio.max():.2f} times what it bounds"
        )

    of_runs = metric.removeprefix("P")
    columns = {metric: "value", f"lower{of_runs}": "low", f"upper{of_runs}": "high"}
    means = simulated.select(system="Popularity").groupby("alpha")[list(columns)].mean()
    closed = laws.frame.groupby("alpha")[["closed_whole", "closed_lower"]].mean()
    rows = [means.rename(columns=columns).assign(line=measured)]
    for line, column in ((whole, "closed_whole"), (sets, "closed_lower")):
        rows.append(closed[[column]].rename(columns={column: "value"}).assign(line=line))
    return Figure(
        "closed",
        pd.concat(rows).reset_index(),
        message,
        "Three lines against the exponent of popularity, one of them in a band.",
        partial(
            lines, x="alpha", across="exponent of popularity", up="1RP@10 of Popularity",
            ticks=sorted(means.index), limits={"ylim": (0, None)}, keys_abreast=1, height=3.6,
        ),
        "closed-form",
    )  # fmt: skip


def shares(pure_skew: Table, designs: Mapping[str, str]) -> Figure:
    """Show by data set and design what share of Popularity's score is there without taste."""

    def message(rows: pd.DataFrame) -> str:
        low, high = rows["value"].min(), rows["value"].max()
        return (
            f"Without taste Popularity keeps {defined(low, '.0%')} to {defined(high, '.0%')}\n"
            "of its score, by data and design"
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
            across="score without taste / score on the ratings",
        ),
        "pure-skew",
    )  # fmt: skip


def overrated(relation_map: Table, points: Table) -> Figure:
    """Show how far 1R overrates Popularity over two properties of worlds, with data sets on it."""

    def message(rows: pd.DataFrame) -> str:
        most, share = rows["overrated"].max(), (rows["overrated"] > 1).mean()
        return (
            f"1R overrates Popularity up to {most:.0f} times,\n"
            f"and in {share:.0%} of the fields of this map"
        )

    cells = mapped(relation_map)
    wide = points.frame.pivot_table(
        index="dataset", columns="quantity", values="value", sort=False
    ).reset_index()
    names = [short_title(dataset_info(name).title) for name in wide["dataset"]]
    return Figure(
        "map",
        cells.assign(value=np.log2(cells["overrated"])),
        message,
        "Map of how far one relevant item per run overrates Popularity, over skew and the relation "
        "of popularity and liking, with three datasets on it.",
        partial(
            field, x="skew", y="relation", places=wide.assign(name=names), colours="RdBu_r",
            labels=("skew: Gini of the items' ratings", "relation of popularity and liking"),
            key="how far 1R overrates Popularity",
            written=FuncFormatter(lambda value, _: f"{2.0**value:g}"), key_ticks=(-4, -2, 0, 2, 4),
        ),
        "overrated",
    )  # fmt: skip
