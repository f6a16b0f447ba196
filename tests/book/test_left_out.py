"""Systems that cannot be trained on the data are left out with the reason; the rest is measured."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from recbias import Grid, line_up, run
from recbias.book import pages
from recbias.book.chapters.design_alternatives import tables
from recbias.book.chapters.multiverse import measure, setup
from recbias.book.chapters.multiverse import tables as multiverse_tables
from recbias.book.systems import sensitivity
from recbias.book.systems.tables import changes_html, widest_sentence
from recbias.book.systems.validation import MEASURES
from recbias.claims.evidence import Evidence, NotComputed
from recbias.claims.records import Term
from recbias.data.datasets import load_dataset
from recbias.data.ratings import Ratings
from recbias.errors import ConfigError, TrainingError, Unfit
from recbias.experiment.cells import grid_cells
from recbias.experiment.results import load_result
from recbias.experiment.run import Results
from recbias.experiment.untrainable import known_reason, remember, systems_left_out
from recbias.protocol.testset import TestSet
from recbias.recommenders import Algorithm, System
from recbias.recommenders.line_ups import Change
from recbias.recommenders.line_ups import sensitivity as variations
from recbias.recommenders.neighbourhood import CoRatedItemKNN


@pytest.fixture
def table(tmp_path: Path) -> str:
    rng = np.random.default_rng(3)
    users, items = np.nonzero(rng.random((40, 30)) < 0.4)
    frame = pd.DataFrame({"user_id": users, "item_id": items})
    frame["rating"] = rng.integers(-10, 11, len(frame))
    frame.loc[len(frame)] = [0, 0, -10]
    frame = frame.drop_duplicates(["user_id", "item_id"], keep="last")
    frame.to_csv(tmp_path / "down.csv", index=False)
    return str(tmp_path / "down.csv")


def _grid(dataset: str, *names: str) -> Grid:
    systems = [system for system in line_up("bcc17") if system.name in names]
    return Grid(
        dataset,
        tuple(systems),
        {"AR": "TI-AN-AR rel>=5"},
        ("P@10",),
        split="ratio 0.3",
        compare=(("AR", "P@10"),),
    )


def test_what_cannot_be_trained_is_left_out_and_the_rest_is_as_without_it(
    table: str, tmp_path: Path
) -> None:
    asked = _grid(table, "Popularity", "pLSA", "Random")
    results, without = run(asked), run(_grid(table, "Popularity", "Random"))
    assert list(results.left_out) == ["pLSA"]
    assert "-10 in 'down', but the model needs ratings >= 0" in results.left_out["pLSA"]
    assert results.systems == without.systems
    assert results.among(["Popularity", "pLSA", "Random"]) == ["Popularity", "Random"]
    assert results.key == without.key
    pd.testing.assert_frame_equal(results.values, without.values)
    pd.testing.assert_frame_equal(results.tests, without.tests)
    assert without.left_out == {}
    assert "left_out" not in without.body()

    results.save(tmp_path / "kept")
    kept = load_result(tmp_path / "kept")
    assert isinstance(kept, Results)
    assert kept.left_out == results.left_out
    assert results.verify(kept).differing == ()
    # Asked for again, with other processes: the same, from what was kept.
    assert run(asked, workers=2).left_out == results.left_out
    with pytest.raises(ConfigError, match="not measured: pLSA is left out: PLSA: user"):
        results["pLSA", "AR", "P@10"]
    term = Term("P@10", "AR", system="pLSA", table="systems")
    with pytest.raises(NotComputed):
        Evidence({"systems": results}).quantity(term)


def _trained(monkeypatch: pytest.MonkeyPatch, algorithm: type[Algorithm]) -> list[int]:
    """Note the size of what a class is trained on, each time."""
    times: list[int] = []
    fit = algorithm._fit

    def noted(self: Algorithm, train: Ratings, rng: np.random.Generator) -> None:
        times.append(len(train))
        fit(self, train, rng)

    monkeypatch.setattr(algorithm, "_fit", noted)
    return times


def test_what_takes_too_much_memory_is_left_out_and_not_tried_again(
    table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bound of 1 GiB is lowered to below 30 items; as it is, nothing is left out."""
    system = System("within profiles", "CoRatedItemKNN", {"choose_among": "profile"})
    others = tuple(each for each in line_up("bcc17") if each.name in ("Popularity", "Random"))
    asked = [
        Grid(table, (*others, system), {"AR": f"{rule} rel>=5"}, ("P@10",), split="ratio 0.3")
        for rule in ("TI-AN-AR", "TI-NN-1R t=5", "TI-AN-AR")
    ]
    monkeypatch.setenv("RECBIAS_CELLS", str(tmp_path / "cells"))
    times = _trained(monkeypatch, CoRatedItemKNN)
    with monkeypatch.context() as lowered:
        lowered.setenv("RECBIAS_LARGEST_TABLE", "4e-6")
        results = [run(grid) for grid in asked]
    assert len(times) == 1
    for each in results:
        needed = "30 items need a table of 5e-06 GiB for all pairs of them, more than 4e-06"
        reason = f"CoRatedItemKNN: {needed}"
        assert each.left_out == {"within profiles": reason}
        assert sorted(each.systems) == ["Popularity", "Random"]
        assert f"*within profiles* ({reason})" in pages.data_line(each)
    # Other ratings, here another split, are tried.
    other = replace(asked[0], seed=2)
    assert run(other).left_out == {}
    assert len(times) == 2


def test_a_failure_is_remembered_of_what_was_trained_and_nothing_else(table: str) -> None:
    (_, cell), *_ = grid_cells(_grid(table, "pLSA"), load_dataset(table), None)
    assert remember(cell, None) is None
    assert remember(cell, "a score is infinite") == "a score is infinite"
    assert known_reason(cell) is None  # another artefact may do without that score
    remember(cell, Unfit("a rating is below 0"))
    same = replace(cell, artefacts=(replace(cell.artefacts[0], groups=3),))
    assert known_reason(same) == "a rating is below 0"
    source = cell.source[0]
    for test, same_training in (("observed removed=30%", True), ("unbiased", False)):
        judgments = str(TestSet.parse(test).judgments)
        judged = replace(
            cell,
            artefacts=(replace(cell.artefacts[0], test=test),),
            source=(source._replace(judgments=judgments),),
        )
        assert (known_reason(judged) is not None) == same_training
    for changed in (
        replace(cell, fold=1),
        replace(cell, repeat=1),
        replace(cell, identity="{}"),  # of other code
        replace(cell, source=(source._replace(data_hash="other"),)),
        replace(cell, source=(source._replace(split="k-fold 2"),)),
        replace(cell, source=(source._replace(seed=2),)),
    ):
        assert known_reason(changed) is None


def test_of_many_reasons_the_first_is_told_of_each_system_in_the_order_of_the_grid(
    table: str,
) -> None:
    grid = _grid(table, "Popularity", "pLSA", "Random")
    first, second, third = (system.name for system in grid.systems)
    told = [(third, None), (third, "a"), (third, "b"), (second, None), (first, "c"), (first, "d")]
    names, reasons = zip(*told, strict=True)
    found = systems_left_out(grid, load_dataset(table), names, reasons)
    assert list(found.items()) == [(first, "c"), (third, "a")]


def test_a_grid_of_which_nothing_can_be_trained_is_an_error(table: str) -> None:
    with pytest.raises(TrainingError, match=r"down.csv: none of 1 systems .*\npLSA: PLSA: user"):
        run(_grid(table, "pLSA"))


@pytest.fixture
def counts(tmp_path: Path) -> str:
    """Give a table of numbers so large that training by gradients runs away."""
    rng = np.random.default_rng(3)
    users, items = np.nonzero(rng.random((40, 30)) < 0.4)
    frame = pd.DataFrame({"user_id": users, "item_id": items})
    frame["rating"] = rng.integers(0, 10**6, len(frame))
    frame.to_csv(tmp_path / "large.csv", index=False)
    return str(tmp_path / "large.csv")


def test_training_that_runs_away_names_its_remedy_to_nobody_but_its_reason_to_all(
    counts: str,
) -> None:
    asked = _grid(counts, "Popularity", "MF (rating prediction)")
    results = run(asked)
    assert results.left_out == {
        "MF (rating prediction)": "BiasedMF: training on 'large' has run away"
    }
    said = pages.data_line(results)
    assert "*MF (rating prediction)* (BiasedMF: training on 'large' has run away)" in said


def test_pairs_are_of_the_others_and_their_table_says_so(counts: str) -> None:
    asked = setup.pairs_asked(counts, 500_000.0, 1)
    grid = _grid(counts, "Random", "Popularity", "MF (rating prediction)")
    grid = replace(grid, systems=grid.systems[::-1])  # all others are compared with the first
    few = {"C1": ("AI-AN-AR", "condensed"), "C2": ("metric: P@10", "metric: nDCG@10")}
    found = measure.pairs(counts, **asked | {"grid": grid, "options": few})
    assert found.frame[["a", "b"]].to_numpy().tolist() == [["Popularity", "Random"]]
    assert (found.frame[["wins", "loses"]].sum(axis=1) > 0).all()
    said = "**Left out**, as it cannot be trained on these data: *MF (rating prediction)*."
    assert said in multiverse_tables.truth_table(found)
    others = replace(grid, systems=grid.systems[1:])
    alone = measure.pairs(counts, **asked | {"grid": others, "options": few})
    assert alone.frame.equals(found.frame)
    assert "Left out" not in multiverse_tables.truth_table(alone)


def test_tables_show_the_others(table: str) -> None:
    results = run(_grid(table, "Popularity", "pLSA", "Random"))
    written = tables.settings_table(results)
    assert "left out: pLSA" in written
    systems = line_up("bcc17")
    ways = {"pLSA n_topics=4": variations.Variation("pLSA", "n_topics", 4)}
    values = sensitivity.values_of_variations(results, systems, ways, metric="P@10")
    assert list(values["system"]) == results.among(system.name for system in systems)
    assert set(sensitivity.spans(values, systems).index) == set(results.systems)


def test_a_row_of_what_is_left_out_says_why(table: str) -> None:
    grid = Grid(
        table, tuple(each for each in line_up("bcc17") if each.name in ("Popularity", "pLSA")),
        ("AI-AN-AR rel>=5 users=tested",), MEASURES, split="ratio 0.3", replicates=(),
    )  # fmt: skip
    results = run(grid)
    changed = System("other topics", "PLSA", {"n_topics": 3}, 1)
    change = Change("pLSA", "fewer topics", changed)
    both = run(Grid(table, (grid.systems[0], changed), *_asked(grid)))
    written = changes_html([change], results, both, None)
    assert written.count("left out: PLSA: user") == 2
    assert widest_sentence([change], results, both) == ""


def _asked(grid: Grid) -> tuple[tuple[str, ...], tuple[str, ...], str]:
    return tuple(grid.parsed), MEASURES, grid.split
