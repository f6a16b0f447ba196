"""The tables of chapter 1, as Markdown for one cell each."""

from __future__ import annotations

from collections.abc import Sequence

from recbias.book.chapters.design_alternatives.setup import (
    FIGURE_2,
    READINGS,
    grid_share,
    nearest_setting,
    star_sensitivity,
    tau_between,
)
from recbias.book.html import interval_text, markdown_table, plain
from recbias.book.pages import quantities_table
from recbias.claims.evidence import NotComputed
from recbias.claims.regions import defined
from recbias.experiment.run import Results


def chance_table(results: Results) -> str:
    """Set what theory predicts for Random beside what it scored, by design."""
    rows = []
    for label in ("AI", "AR", "NN", "1R"):
        metric = str(results.metric(label, "P"))
        score, rho = (results["Random", label, name] for name in (metric, "rho"))
        low, high = score.interval
        inside = "yes" if low <= rho.value <= high else "no"
        protocol = f"`{results.grid.parsed[label].rule}`"
        scored = f"{defined(score.value, '.5f')} ({interval_text(score, '.5f')})"
        rows.append((protocol, defined(rho.value, ".5f"), scored, inside))
    head = ("design", "predicted", "Random scores (95 % interval)", "inside")
    return markdown_table(head, rows)


def own_ratings_table(results: Results) -> str:
    """Set precision among all tested items beside that among the user's own test ratings."""
    orders = {label: results.of_systems(label, results.metric(label, "P")) for label in _COMPARED}
    values = {
        label: {name: quantity.value for name, quantity in order.items()}
        for label, order in orders.items()
    }
    ranks = {label: _ranks(precisions) for label, precisions in values.items()}
    among_all, among_own = _COMPARED
    rows = [
        (
            plain(name),
            defined(values[among_all][name], ".4f"),
            f"{ranks[among_all][name]}",
            defined(values[among_own][name], ".4f"),
            f"{rank}",
        )
        for name, rank in ranks[among_own].items()
    ]
    head = ("system", "all tested items", "rank", "own test ratings only", "rank")
    return markdown_table(head, rows)


_COMPARED = ("AR", "R_test")


def _ranks(values: dict[str, float]) -> dict[str, int]:
    """Give each name its rank, the largest value first."""
    order = sorted(values, key=lambda name: -values[name])
    return {name: rank for rank, name in enumerate(order, 1)}


def metrics_table(results: Results, metrics: Sequence[str]) -> str:
    """Set how far another metric moves the order of systems beside how far another design does."""
    precision = str(results.metric("AR", "P"))
    taus = {
        f"another metric: {metric}": tau_between(results, ("AR", precision), ("AR", metric))
        for metric in (str(results.metric("AR", name)) for name in metrics)
    }
    for words, label in (
        ("the whole catalogue (AI)", "AI"),
        ("a sample (NN)", "NN"),
        ("one relevant item (1R)", "1R"),
        ("own test ratings only", "R_test"),
    ):
        taus[f"another design: {words}"] = tau_between(
            results, ("AR", precision), (label, precision)
        )
    return quantities_table(taus, head=("what is changed", "Kendall's tau"), form=".2f")


def settings_table(grid: Results) -> str:
    """Tell for each reading in what share of the parameter settings the published order holds."""
    rows: list[tuple[str, ...]] = []
    for reading in READINGS:
        try:
            shares = [grid_share(grid, label, reading) for label in ("AR", "1R")]
        except NotComputed as missing:
            rows.append((reading, "", "", f"left out: {plain(str(missing))}"))
            continue
        cells = [
            f"{defined(share.value, '.0%')} ({interval_text(share, '.0%')})" for share in shares
        ]
        mf, knn, count = nearest_setting(grid, "AR", reading)
        rows.append((reading, *cells, f"{plain(mf)} with {plain(knn)}: {count} of 4 steps"))
    head = ("read as", "settings with the order, AR", "1R", "nearest setting (AR)")
    return markdown_table(head, rows)


def stars_table(results: Results, stars: Results) -> str:
    """Show precision by what merged stars count as, and whether the published order holds."""
    table = star_sensitivity(results, stars)
    present = [name for name in FIGURE_2 if name in table.index]
    order = table.loc[present].apply(lambda column: column.is_monotonic_decreasing)
    rows = [
        (plain(str(name)), *(defined(value, ".4f") for value in row))
        for name, *row in table.itertuples()
    ]
    left_out = f", without {len(FIGURE_2) - len(present)} left out" if len(present) < 5 else ""
    rows.append((f"*order of Figure 2{left_out}*", *order.map({True: "yes", False: "no"})))
    head = (f"{results.metric('AR', 'P')} if 1 to 3 stars count as", *table.columns)
    return markdown_table(head, rows)
