"""Metrics: values that name themselves, and one pass over ranks or lists that computes them all."""

from recbias.metrics.base import (
    Argument,
    Declaration,
    Metric,
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
    concentration,
    incomplete,
    prior,
    reinforcement,
    persistence,
    served,
)
# isort: on

__all__ = [
    "Argument",
    "Declaration",
    "ListView",
    "Metric",
    "RankView",
    "concentration",
    "declarations",
    "expected",
    "false_positive",
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
]
