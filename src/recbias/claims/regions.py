"""The region that a claim allows, and values as a reader sees them."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Region:
    """Where a value has to lie.

    Attributes
    ----------
    least, most
        Ends that belong to it.
    above, below
        Ends that do not.

    Examples
    --------
    >>> Region(least=0.9).words("percent"), Region(above=0.0).words("number")
    ('at least 90 %', 'more than 0')
    >>> Region(least=0.075, most=0.085).words("number")
    '0.075 to 0.085'
    """

    least: float = -math.inf
    most: float = math.inf
    above: float = -math.inf
    below: float = math.inf

    def verdict(self, low: float, high: float, *, rounding: float = 1e-12) -> str:
        """Tell whether an interval lies in the region, outside, or on both sides of an end."""
        if math.isnan(low) or math.isnan(high):
            return "open"
        least, most = self.least - rounding, self.most + rounding
        if least <= low and high <= most and self.above < low and high < self.below:
            return "holds"
        if high < least or low > most or high < self.above or low > self.below:
            return "refuted"
        if low == high and (high == self.above or low == self.below):
            return "refuted"  # exact; replicates may pile up on an end, which tells nothing
        return "open"

    def words(self, unit: str) -> str:
        """Write the region as a reader does."""
        low = max(self.least, self.above)
        high = min(self.most, self.below)
        if math.isfinite(low) and math.isfinite(high):
            return f"{written(low, unit)} to {written(high, unit)}"
        if math.isfinite(self.least):
            return f"at least {written(low, unit)}"
        if math.isfinite(self.above):
            return f"more than {written(low, unit)}"
        if math.isfinite(self.most):
            none = unit == "violation" or (unit == "count" and high == 0)
            return "none" if none else f"at most {written(high, unit)}"
        if math.isfinite(self.below):
            return f"less than {written(high, unit)}"
        return "any value"


def defined(value: float, form: str) -> str:
    """Write a number as a format says, or in a word what is none.

    Examples
    --------
    >>> [defined(value, ".1f") for value in (0.25, math.nan, math.inf)]
    ['0.2', 'undefined', 'infinite']
    """
    if math.isfinite(value):
        return format(value, form)
    return "undefined" if math.isnan(value) else "infinite"


def written(value: float, unit: str) -> str:
    """Write a value in its unit.

    Examples
    --------
    >>> [written(0.9345, unit) for unit in ("number", "percent", "factor", "p")]
    ['0.9345', '93.5 %', '0.93 times', '0.9']
    >>> [written(value, "percent") for value in (0.9999, 1.0)]  # nearly all is not all
    ['99.99 %', '100 %']
    >>> [written(value, "number") for value in (1234.5, 1000209.0)]
    ['1234', '1,000,209']
    """
    if not math.isfinite(value):
        return defined(value, "")
    if unit == "percent":
        text = f"{100 * value:.3g}"
        return f"{100 * value:.4g} %" if text == "100" and value < 1 else f"{text} %"
    if unit == "factor":
        return f"{value:.3g} times" if value >= 10 else f"{value:.2f} times"
    if unit == "p":
        return f"{value:.1g}"
    if unit == "count":
        return f"{value:,.0f}"
    if unit == "violation":
        return "none" if value <= 1e-12 else f"{value:.2g}"
    return f"{value:,.0f}" if 9999.5 <= abs(value) < 1e15 else f"{value:.4g}"


def rounded(value: float, unit: str, low: float | None, high: float | None) -> str:
    """Write a value in its unit, with two digits of what its interval leaves open at most.

    Examples
    --------
    >>> [rounded(value, "number", 0.0382, 0.11) for value in (0.07407, 0.0382, 0.11)]
    ['0.074', '0.038', '0.110']
    >>> rounded(0.07407, "number", None, None), rounded(0.81, "percent", 0.72, 0.92)
    ('0.07407', '81 %')
    >>> rounded(0.0156, "percent", 0.002, 0.03), rounded(1.98, "factor", 0.9, 3.1)
    ('1.6 %', '2.0 times')
    """
    text = written(value, unit)
    half = (high - low) / 2 if low is not None and high is not None else 0.0
    if not (0 < abs(value) < math.inf and 0 < half < math.inf):
        return text
    if unit == "number" and abs(value) < 9999.5:
        most = 3 - math.floor(math.log10(abs(value)))  # four digits, as without an interval
        return f"{value:.{max(0, min(most, _decimals(half)))}f}"
    number, _, name = text.partition(" ")
    times = {"percent": 100, "factor": 1}.get(unit)
    if times and len(number.partition(".")[2]) > (n := max(0, _decimals(times * half))):
        return f"{times * value:.{n}f} {name}"
    return text


def _decimals(half: float) -> int:
    """Count the decimals of the second significant digit of half an interval."""
    return 1 - math.floor(math.log10(half))
