"""Metrics: values that name themselves, and one pass over ranks or lists that computes them all.

`base` declares and parses metrics, `lists` is what a metric is given, `measuring` runs them all,
`aggregation` averages over users with intervals; each other module is a family. Begin with
`base.Declaration`, which says what each kind of metric sees; `served` is the smallest of ranks,
`popularity` of items, `concentration` of the system. It imports `recbias.ranking`, `theory` and
what is below them.

Every registered name is an object here: ``from recbias.metrics import P``, and then ``P @ 10``.
"""

from recbias.metrics.base import (
    KINDS,
    Argument,
    Declaration,
    Metric,
    MetricName,
    declarations,
    metric_names,
    parse_metric,
    register,
)
from recbias.metrics.lists import ListView, RankView, item_counts, list_view
from recbias.metrics.measuring import (
    influence,
    measure,
    measure_items,
    measure_resampled,
    measure_system,
)

# Importing a module declares its metrics; this order is that of every list of names.
# isort: off
from recbias.metrics import (
    positive,
    false_positive,
    order,
    expected,
    popularity,
    features,
    concentration,
    incomplete,
    prior,
    reinforcement,
    persistence,
    served,
    ties,
)
# isort: on

__all__ = [
    "KINDS",
    "Argument",
    "Declaration",
    "ListView",
    "Metric",
    "MetricName",
    "RankView",
    "concentration",
    "declarations",
    "expected",
    "false_positive",
    "features",
    "incomplete",
    "influence",
    "item_counts",
    "list_view",
    "measure",
    "measure_items",
    "measure_resampled",
    "measure_system",
    "metric_names",
    "order",
    "parse_metric",
    "persistence",
    "popularity",
    "positive",
    "prior",
    "register",
    "reinforcement",
    "served",
    "ties",
]


def __getattr__(name: str) -> MetricName:
    """Give the metric of a name, so that one that is registered later is there too."""
    if name in metric_names():
        return MetricName(name)
    raise AttributeError(f"module {__name__!r} has no attribute, and no metric, {name!r}")


def __dir__() -> list[str]:
    """List the metrics beside all else: what is suggested and completed."""
    return sorted({*globals(), *metric_names()})
