"""Tables of chapter 3, and numbers that its text quotes."""

from __future__ import annotations

import numpy as np

from recbias.book.chapters.popularity_bias.concentration import short_title
from recbias.book.chapters.popularity_bias.pure_skew import DATA, WORLD
from recbias.book.html import folded, markdown_table, plain, table_html
from recbias.claims.regions import defined
from recbias.data.datasets import dataset_info
from recbias.experiment.makers import Table
from recbias.experiment.run import Results


def fits_table(table: Table) -> str:
    """List the constants of the power law that fit the counts of a data set, by way of fitting."""
    rows = [
        (row["fit"], f"{row['alpha']:.2f}", f"{row['c1']:.0f}", f"{row['c2']:.0f}",
         defined(row["explained"], ".1%"))
        for row in table.frame.to_dict("records")
    ]  # fmt: skip
    head = ("fit", r"$\alpha$", "$c_1$", "$c_2$", "variance of the counts explained")
    return folded("The power law fitted to the counts of these data", markdown_table(head, rows))


# -- the part of a score that is skew ----------------------------------------------------------


def skew_quoted(table: Table) -> dict[str, str]:
    """Write what Popularity scores among all tested items, on the ratings and without taste."""
    return {
        name: defined(table[{"design": "AR", "quantity": quantity}].value, ".3f")
        for name, quantity in (("data", DATA), ("skew", WORLD))
    }


def floor_sentence(table: Table) -> str:
    """Say for a methods section what the counts alone give Popularity, under AR."""
    floor = table[{"design": "AR", "quantity": WORLD}].value
    return (
        "In worlds with the counts of these data and without taste Popularity scores "
        f"{defined(floor, '.4f')}, the floor of counts."
    )


def floor_table(results: Results, table: Table) -> str:
    """Set every system beside what the counts alone give Popularity, under AR and 1R."""
    labels = {"AR": "AR", "all-1R": "1R"}
    floors = {
        label: table[{"design": name, "quantity": WORLD}].value for label, name in labels.items()
    }
    values = {label: results.of_systems(label, results.metric(label, "P")) for label in labels}
    order = sorted(results.systems, key=lambda name: -values["AR"][name].value)
    rows = []
    for name in order:
        cells = []
        for label, floor in floors.items():
            value = values[label][name].value
            factor = value / floor if floor else np.nan
            cells += [defined(value, ".4f"), defined(factor, ".2f")]
        rows.append((plain(name), *cells))
    head = (
        "system",
        *(f"{name}{what}" for name in labels.values() for what in ("", ", over skew")),
    )
    return folded("All systems beside the floor", markdown_table(head, rows))


def points_table(table: Table) -> str:
    """Say of data sets that know liking what Popularity seems and is worth."""
    rows = []
    for name, known in table.frame.groupby("dataset", sort=False):
        at = known.set_index("quantity").to_dict("index")
        rows.append(
            (
                short_title(dataset_info(str(name)).title),
                *(f"{at[of]['value']:.2f}" for of in ("skew", "relation")),
                *(
                    f"{row['value']:.1f} ({row['low']:.1f} to {row['high']:.1f})"
                    for of in ("observed", "true", "overrated")
                    for row in [at[of]]
                ),
            )
        )
    head = ("data", "skew", "relation", "in a test", "by what people like", "overrated")
    return table_html(head, rows, style="labelled")
