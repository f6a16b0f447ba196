"""Observed orders beside true ones: published taus, which metric is right, ratings at random."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from planted import planted_results
