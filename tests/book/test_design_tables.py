"""What chapter 1 says in words and tables follows its results."""

from __future__ import annotations

import dataclasses

import pytest

from recbias.book.chapters.design_alternatives import figures, panels, setup, tables
from recbias.book.findings import own_findings
from recbias.claims import load_chapter
from recbias.experiment.run import Results

COMPARED = panels.four_designs(100, 1000)


@pytest.fixture(scope="module")
def measured() -> Results:
    found = load_chapter(setup.CHAPTER, "ml-1m")["systems"]
    assert isinstance(found, Results)
    return found


def cells(table: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.split("\n")[2:]]


def changed(results: Results, label: str, like: str) -> Results:
    """Give a label the values and replicates of another."""
    values, kept = results.values.copy(), dict(results.replicates)
    source = {
        system: row
        for row, (system, of, metric) in enumerate(
            values[["system", "label", "metric"]].itertuples(index=False, name=None)
        )
        if of == like and metric == "P@10"
    }
    for row, (system, of, metric) in enumerate(
        values[["system", "label", "metric"]].itertuples(index=False, name=None)
    ):
        if of == label and metric == "P@10":
            values.loc[row, ["value", "low", "high", "se"]] = values.loc[
                source[system], ["value", "low", "high", "se"]
            ]
            kept[row] = kept[source[system]]
    return dataclasses.replace(results, values=values, replicates=kept)


def test_titles_follow_the_results(measured: Results):
    least = min(
        measured[system, "R_test", "P@10"].value / measured[system, "AR", "P@10"].value
        for system in measured.systems
    )
    title = " ".join(figures.values(measured, COMPARED).title.split())
    assert title.startswith(f"Among own test ratings all systems look good: {least:.2f} times")
    moved = panels.moved_pairs(measured, "AR", "R_test")
    assert moved > panels.moved_pairs(measured, "AR", "1R")
    title = figures.orders(measured, COMPARED).title
    assert title.startswith(f"{moved} of 45 pairs of systems")
    assert title.endswith("all tested items and own test ratings")


def test_a_title_changes_with_the_orders(measured: Results):
    alike = changed(measured, "R_test", "AR")
    assert panels.moved_pairs(alike, "AR", "R_test") == 0
    assert "and 1 relevant + 99 sampled" in figures.orders(alike, COMPARED).title
    alike = changed(alike, "1R", "AR")
    title = "None of 45 pairs of systems surely changes order"
    assert figures.orders(alike, COMPARED).title == title


def test_ranks_follow_values(measured: Results):
    rows = figures.orders(measured, COMPARED).rows
    for _, own in rows.groupby("design"):
        expected = own["value"].rank(ascending=False)
        assert own["rank"].tolist() == expected.tolist()


def test_a_title_and_its_sentence_read_one_record(measured: Results):
    dear = changed(measured, "AR", "R_test")
    title = " ".join(figures.values(dear, COMPARED).title.split())
    assert title.startswith("Among own test ratings not all systems look good:")


def test_values_are_those_of_the_papers_systems(measured: Results):
    rows = figures.values(measured, COMPARED).rows.set_index(["row", "line"])
    assert len(rows) == len(setup.FIGURE_2) * len(COMPARED)
    for design in COMPARED:
        metric = str(measured.metric(design.label, "P"))
        for system in setup.FIGURE_2:
            score = measured[system, design.label, metric]
            found = rows.loc[(system, design.name), ["value", "low", "high"]]
            assert found.tolist() == [score.value, *score.interval]


def test_the_clearest_flip_is_named_and_none_where_there_is_none(measured: Results):
    told = panels.flips_quoted(measured)
    assert (told["per_run"], told["per_user"]) == ("Popularity", "kNN (rating prediction)")
    tests = measured.tests[(measured.tests["label"] == "1R") & measured.tests["metric"].eq("P@10")]
    pair = tests[tests["a"].eq("Popularity") & tests["b"].eq("kNN (rating prediction)")]
    largest = pair["wilcoxon_p"].max()
    lowered = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
    exponent = int(told["p"].removeprefix("10").translate(lowered))
    assert 10.0 ** (exponent - 1) < largest <= 10.0**exponent
    one_unit = measured.tests.assign(difference=measured.tests["difference"].abs())
    assert set(panels.flips_quoted(dataclasses.replace(measured, tests=one_unit)).values()) == {"-"}


def test_ranks_of_the_table_are_those_of_the_values(measured: Results):
    rows = cells(tables.own_ratings_table(measured))
    assert [row[4] for row in rows] == [str(rank) for rank in range(1, 11)]
    assert sorted(rows, key=lambda row: -float(row[1])) == sorted(rows, key=lambda row: int(row[2]))
    values = [float(row[3]) for row in rows]
    assert values == sorted(values, reverse=True)
    twin = cells(tables.own_ratings_table(changed(measured, "R_test", "AR")))
    assert [row[2] for row in twin] == [row[4] for row in twin]


def test_chance_is_inside_unless_it_is_not(measured: Results):
    assert {row[-1] for row in cells(tables.chance_table(measured))} == {"yes"}
    off = changed(measured, "NN", "AR")
    assert [row[-1] for row in cells(tables.chance_table(off))] == ["yes", "yes", "no", "yes"]


def test_another_metric_and_another_design_stand_in_one_table(measured: Results):
    rows = {row[0]: row[1] for row in cells(tables.metrics_table(measured, ("AP", "R")))}
    assert list(rows)[:2] == ["another metric: AP", "another metric: R@10"]
    assert rows["another design: own test ratings only"] == "0.24"
    alike = changed(measured, "R_test", "AR")
    (row,) = [row for row in cells(tables.metrics_table(alike, ())) if "own test" in row[0]]
    assert row[1] == "1.00"


def test_settings_are_named_by_family_and_damping():
    families = setup.setting_families()
    assert {name: len(names) for name, names in families.items()} == {
        "MF rating": 6,
        "kNN rating, damping 0": 24,
        "kNN rating, damping 1": 24,
        "kNN rating, damping 10": 24,
        "MF ranking": 12,
        "kNN ranking": 12,
    }
    assert all("reg=10" in name for name in families["kNN rating, damping 10"])


def test_findings_of_the_chapter_can_be_read():
    assert {"POPULARITY-RANGE", "RTEST-FIRST", "UNIT-FLIPS"} <= set(
        own_findings("design alternatives")
    )


@pytest.mark.parametrize(
    ("taus", "expected"),
    [
        (("1.00", "0.80", "0.87", "-0.20"), "only the user's own test ratings"),
        (("undefined", "0.80", "undefined", "0.90"), "a sample"),
        (("undefined",) * 4, "nothing, as no tau is defined"),
    ],
)
def test_what_moves_most_is_a_change_whose_tau_is_defined(
    taus: tuple[str, ...], expected: str
) -> None:
    """On a dense table of half stars one relevant item at a time has the same P for all systems."""
    labels = ("AI", "NN", "1R", "R_test")
    assert panels.mover_quoted(dict(zip(labels, taus, strict=True))) == expected
