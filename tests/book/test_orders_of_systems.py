"""What criteria of chapter 5 compute of whole line-ups, and the columns beside published values."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import kendalltau

from recbias.book.chapters.true_vs_false_positive_disagreement.columns import (
    COLUMNS,
    columns_explained,
    columns_html,
    compare_columns,
)
from recbias.book.chapters.true_vs_false_positive_disagreement.orders import (
    explained_by_line,
    kendall_p,
    smallest_tau,
    tau_p,
)
from recbias.book.systems import validation
from recbias.claims.functions import FUNCTIONS
from recbias.claims.reference import references
from recbias.claims.values import OPERATORS, Family, lifted
from recbias.experiment.results import Quantity

REFERENCE = references()["mccrs20"]


@pytest.mark.parametrize("n", [2, 3, 5, 9, 16])
def test_p_of_tau_is_that_of_scipy(n):
    rng = np.random.default_rng(n)
    for _ in range(10):
        found = kendalltau(np.arange(n), rng.permutation(n), method="exact")
        assert kendall_p(found.statistic, n) == pytest.approx(found.pvalue, abs=1e-12)
        assert kendall_p(-found.statistic, n) == pytest.approx(found.pvalue, abs=1e-12)


def test_the_p_of_the_paper_belongs_to_its_tau():
    """Its notebook prints tau .617 with p .0005 for 16 systems; 15 or 17 would give others."""
    assert round(kendall_p(0.617, 16), 4) == 0.0005
    assert {round(kendall_p(0.617, n), 4) for n in (15, 17)}.isdisjoint({0.0005})


def test_where_a_metric_tells_no_systems_apart_p_is_undefined():
    assert np.isnan(kendall_p(np.nan, 16))


def family(values, noise=1e-6):
    """Of systems named by letters; on each resample all are off by noise of their own."""
    rng = np.random.default_rng(1)
    return Family(
        {
            name: Quantity(value, value + noise * rng.normal(size=200))
            for name, value in zip("ABCDEFGHIJ", values, strict=False)
        },
        of_systems=True,
    )


ORDER = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]


def test_p_has_the_interval_of_its_tau():
    surely = tau_p(family(ORDER), family(ORDER))
    assert (surely.value, *surely.interval) == pytest.approx((2 / 720,) * 3)
    tied = [1.0, 2.0, 3.0, 4.0, 5.0, 5.0 + 1e-7]
    found = tau_p(family(ORDER), family(tied))
    assert found.interval == pytest.approx((2 / 720, kendall_p(14 / 15, 6)))
    nothing = tau_p(family(ORDER), family([1e-9 * value for value in ORDER]))
    assert nothing.interval == pytest.approx((2 / 720, 1))  # a tau of 0 is possible


def test_the_smallest_tau_leaves_out_any_two():
    turned = family([1.0, 2.0, 3.0, 4.0, 6.0, 5.0])
    found = smallest_tau(family(ORDER), turned)
    assert found.value == pytest.approx(4 / 6)  # among the last two and any two others
    assert found.interval == pytest.approx((4 / 6, 4 / 6))


def test_the_share_that_a_line_explains():
    x, y = np.array(ORDER), np.array([2.0, 1.0, 4.0, 3.0, 6.0, 5.0])
    found = explained_by_line(family(x), family(y))
    assert found.value == pytest.approx(np.corrcoef(x, y)[0, 1] ** 2)
    assert found.interval == pytest.approx((found.value,) * 2, abs=1e-4)
    assert np.isnan(explained_by_line(family(x), family([1.0] * 6, noise=0)).value)


def test_systems_above_another_are_told_apart_all_together():
    """Ten that are 2.2 standard errors ahead: each alone is resolved, of all together none."""
    above, differences = FUNCTIONS["above"], FUNCTIONS["differences"]
    noise = 0.1
    ahead = family([2.2 * noise] * 10, noise)
    alone = FUNCTIONS["count"](lifted(OPERATORS[">"], ahead, 0.0))
    assert alone.interval[0] > 5
    found = above(ahead, Quantity(0.0, np.zeros(200)))
    assert (found.value, found.interval) == (10, (0, 10))
    assert above(Quantity(0.0, np.zeros(200)), ahead).interval == (0, 10)
    far = above(family([1.0, -1.0, 0.0]), Quantity(0.5, np.full(200, 0.5)))
    assert (far.value, far.interval) == (1, (1, 1))
    steps = differences(family([1.0, 2.0, 4.0])).members
    assert {pair: round(step.value) for pair, step in steps.items()} == {
        ("A", "B"): 1,
        ("A", "C"): 3,
        ("B", "C"): 2,
    }


def test_a_bound_cuts_an_interval():
    found = FUNCTIONS["within"](Quantity(0.9, None, limits=(0.7, 1.02)), -1, 1)
    assert (found.value, found.interval) == (0.9, (0.7, 1))


class Measured(dict):
    """Values by system, label and metric, in the place of what a grid gives."""

    systems = tuple(REFERENCE.values)


def measured(**off):
    """What was published, but for ``system_column=difference`` pairs."""
    found = Measured()
    for system, values in REFERENCE.values.items():
        for column, place in COLUMNS.items():
            found[system, *place] = Quantity(values[column], None, limits=(0.0, 1.0))
    for (system, column), difference in off.get("changes", {}).items():
        value = REFERENCE.values[system][column] + difference
        found[system, *COLUMNS[column]] = Quantity(value, None, limits=(0.0, 1.0))
    return found


def off(found):
    return [
        (each.system, each.metric) for each in compare_columns(found, REFERENCE) if not each.inside
    ]


def test_fourteen_systems_are_compared_in_eight_columns():
    found = compare_columns(measured(), REFERENCE)
    assert len(found) == 14 * 8
    assert not {each.system for each in found} & {validation.RANDOM, validation.FIXED}
    assert validation.outside(found) == []


@pytest.mark.parametrize(
    ("column", "inside", "outside"),
    [
        ("P@10", 0.0104, 0.0105),  # 4 % of .26039
        ("fallout@10", 0.00271, 0.00272),  # 4 % of .067881
        ("condensed P@10", 0.0029, 0.0031),
        ("condensed fallout@10", -0.0029, -0.0031),
    ],
)
def test_a_value_may_be_off_by_so_much(column, inside, outside):
    assert off(measured(changes={("WRMF", column): inside})) == []
    assert off(measured(changes={("WRMF", column): outside})) == [("WRMF", column)]


def test_a_change_explains_a_system_in_all_columns_or_not_at_all():
    broken = measured(changes={("SLIM", "P@10"): 0.02, ("SLIM", "condensed P@10"): 0.007})
    comparisons = compare_columns(broken, REFERENCE)
    change = SimpleNamespace(base="SLIM", what="half <dropped>", system=SimpleNamespace(name="S"))

    def changed(**more):
        return {
            ("S", *place): Quantity(
                REFERENCE.values["SLIM"][c] + more.get(c, 0), None, limits=(0, 1)
            )
            for c, place in COLUMNS.items()
        }

    sound, partial = changed(), changed(**{"fallout@10": 0.01})
    assert columns_explained(comparisons, [change], sound, REFERENCE) == {"SLIM": change.what}
    assert columns_explained(comparisons, [change], partial, REFERENCE) == {}
    assert columns_explained(comparisons, [change], None, REFERENCE) == {}
    text = columns_html(broken, REFERENCE, [change], partial)
    assert "13 of 14 systems" in text
    assert "7 of 8 columns agree then, fallout@10 not" in text
    assert "half &lt;dropped&gt;" in text
    assert "one change brings it there" in columns_html(broken, REFERENCE, [change], sound)
