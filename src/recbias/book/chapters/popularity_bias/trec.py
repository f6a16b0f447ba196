"""How flat relevance is in TREC, as far as the numbers that BCC17 prints of it force.

The judgments are not at hand. The paper prints how many documents are relevant to some query, how
many positive judgments they have together, what share of them has one, and what the most relevant
one has. Counts per document that fit these numbers differ little, and the flattest and the steepest
of them can be written down.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from recbias.data.datasets.describe import gini
from recbias.errors import ConfigError

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Marginals:
    """What is known of counts, each at least 1, without the counts.

    Attributes
    ----------
    n_items
        How many counts there are.
    total
        Their sum.
    n_once
        How many are 1, the fewest and the most that fit: a printed percentage is a range.
    most
        The largest.
    """

    n_items: int
    total: int
    n_once: tuple[int, int]
    most: int

    @classmethod
    def parse(cls, printed: str) -> Marginals:
        """Read what the ledger quotes.

        Examples
        --------
        >>> Marginals.parse("10 docs, 18 positives, 50% of docs relevant once, max 4")
        Marginals(n_items=10, total=18, n_once=(5, 5), most=4)
        """
        matches = {
            name: re.search(pattern, printed)
            for name, pattern in {
                "docs": r"(\d+) docs",
                "positives": r"(\d+) positives",
                "share": r"(\d+)(?:\.(\d+))?% of docs relevant once",
                "max": r"max (\d+)",
            }.items()
        }
        if missing := [name for name, match in matches.items() if match is None]:
            raise ConfigError(f"no number of {', '.join(missing)} in {printed!r}")
        n_items, total, most = (int(matches[name][1]) for name in ("docs", "positives", "max"))  # type: ignore[index]
        whole, decimals = matches["share"].groups("")  # type: ignore[union-attr]
        unit = 100 * 10 ** len(decimals)
        # Half a unit of the last printed digit on either side, in whole numbers.
        printed_share = 2 * int(whole + decimals) * n_items
        low, high = (printed_share - n_items, printed_share + n_items)
        once = (max(0, -(-low // (2 * unit))), min(n_items, high // (2 * unit)))
        return cls(n_items, total, once, most)

    def flattest(self, n_once: int) -> Counts:
        """Write down the counts of the smallest Gini coefficient, in descending order.

        Examples
        --------
        >>> Marginals(6, 14, (3, 3), 4).flattest(3)
        array([4, 4, 3, 1, 1, 1])
        """
        n_more, excess = self._more(n_once)
        # One has the most; the others share the rest as evenly as whole numbers can.
        least, n_above = divmod(excess - (self.most - 2), max(n_more - 1, 1))
        rest = np.full(n_more - 1, 2 + least)
        rest[:n_above] += 1
        return np.concatenate(([self.most], rest, np.ones(n_once, dtype=np.int64)))

    def steepest(self, n_once: int) -> Counts:
        """Write down the counts of the largest Gini coefficient; arguments as of `flattest`.

        Examples
        --------
        >>> Marginals(6, 13, (3, 3), 4).steepest(3)
        array([4, 4, 2, 1, 1, 1])
        """
        n_more, excess = self._more(n_once)
        # As many as possible have the most; the rest have as little as possible, 2, but for one.
        counts = np.full(n_more, 2)
        n_most, left = divmod(excess, self.most - 2)
        counts[:n_most] = self.most
        if left:
            counts[n_most] += left
        return np.concatenate((counts, np.ones(n_once, dtype=np.int64)))

    def _more(self, n_once: int) -> tuple[int, int]:
        """Count the items with 2 or more, and what these have beyond 2 each."""
        n_more = self.n_items - n_once
        excess = self.total - n_once - 2 * n_more
        if n_more < 1 or self.most < 3 or not self.most - 2 <= excess <= n_more * (self.most - 2):
            raise ConfigError(f"no counts fit {self} with {n_once} of 1")
        return n_more, excess


def forced_gini(known: Marginals) -> tuple[float, float]:
    """Compute between which Gini coefficients all counts lie that fit some marginals.

    Examples
    --------
    >>> low, high = forced_gini(Marginals(6, 14, (3, 3), 5))  # 5 3 3 1 1 1, or 5 4 2 1 1 1
    >>> round(low, 3), round(high, 3)
    (0.333, 0.357)
    """
    tried = range(known.n_once[0], known.n_once[1] + 1)
    return (
        min(gini(known.flattest(n_once)) for n_once in tried),
        max(gini(known.steepest(n_once)) for n_once in tried),
    )
