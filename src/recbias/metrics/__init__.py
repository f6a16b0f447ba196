"""Metrics: values that name themselves, and one pass over ranks that computes them all."""

from recbias.metrics.base import METRIC_NAMES, Metric, parse_metric
from recbias.metrics.measuring import measure

__all__ = ["METRIC_NAMES", "Metric", "measure", "parse_metric"]
