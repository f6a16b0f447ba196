"""Observed orders beside true ones: published taus, which metric is right, ratings at random."""

from __future__ import annotations
