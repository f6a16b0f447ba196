"""Quantities made of orders: what their intervals count."""

from itertools import combinations

import numpy as np

from recbias.claims.quantities import opposed_pairs, order_tau, order_taus
from recbias.experiment.results import Quantity
from recbias.stats import agreement


def two_orders(n_systems=8, n_replicates=400, seed=3):
    """Systems one standard error apart under both, some pairs the other way round."""
    rng = np.random.default_rng(seed)
    values = rng.normal(scale=2, size=(2, n_systems))
    values[1] = 0.6 * values[0] + 0.8 * values[1]
    drawn = values[:, :, None] + rng.normal(size=(2, n_systems, n_replicates))
    return [
        [Quantity(float(value), row) for value, row in zip(*side, strict=True)]
        for side in zip(values, drawn, strict=True)
    ]


def arrays(quantities):
    return np.array([q.value for q in quantities]), np.array([q.replicates for q in quantities])


def test_opposed_pairs_count_what_is_resolved_and_what_is_not_excluded():
    """The list of surely opposed pairs is one statement at 95 %, and so are its two ends.

    The test of tau bounds the number of opposed pairs more closely, but says nothing of which.
    """
    a, b = two_orders()
    (x, x_drawn), (y, y_drawn) = arrays(a), arrays(b)
    listed = agreement.opposed_pairs(x, y, x_drawn, y_drawn)
    i, j = np.triu_indices(8, k=1)
    signs = agreement.resolved_signs(
        np.concatenate([x[i] - x[j], y[i] - y[j]]),
        np.concatenate([x_drawn[i] - x_drawn[j], y_drawn[i] - y_drawn[j]]),
    ).astype(int)
    product = signs[:28] * signs[28:]
    assert opposed_pairs(a, b).interval == ((product < 0).sum(), (product <= 0).sum())
    assert len(listed) == (product < 0).sum()
    by_test = 28 * (1 - order_tau(a, b).interval[0]) / 2
    assert by_test < (product <= 0).sum() - 1


def test_taus_of_choices_are_those_without_the_others():
    a, b = two_orders()
    (x, x_drawn), (y, y_drawn) = arrays(a), arrays(b)
    choices = list(combinations(range(8), 6))
    found = order_taus(a, b, choices)
    for rows, tau in zip(map(list, choices), found, strict=True):
        assert tau.value == agreement.kendall_tau(x[rows], y[rows])
        assert tau.interval == agreement.tau_interval(
            x[rows], y[rows], x_drawn[rows], y_drawn[rows]
        )
    assert len({tau.interval for tau in found}) > 1
