"""Ratings on any finite scale: thresholds, and what follows from the data where none is given."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from chapter_grids import overlap_grid, start_grid
from recbias.book.chapters.concentration_metrics.setup import (
    lengths_note,
    lengths_of,
    other_lengths,
)
from recbias.book.chapters.design_alternatives.setup import largest_sample, target_sizes
from recbias.book.chapters.offline_option_taxonomy import decisions, setup
from recbias.book.choosing import choose_size, full_pool, left_out_metrics, measurable, written
from recbias.book.notebooks import Parameter
from recbias.book.systems.line_up import relevance_threshold
from recbias.cli.commands import main
from recbias.data.datasets import load_dataset, top_rating
from recbias.data.datasets.liked import cut_at_share, enough_or_cut
from recbias.data.ratings import RatingScale, exact
from recbias.errors import ConfigError
from recbias.experiment.grid import Grid
from recbias.protocol.protocol import Protocol
from recbias.protocol.relevance import GainMap
from recbias.protocol.splits import Split
from recbias.protocol.targets import non_relevant_targets
from recbias.protocol.testset import dataset_splits
from recbias.recommenders.base import Encoding

finite = st.floats(allow_nan=False, allow_infinity=False)


@given(finite)
def test_a_threshold_is_read_back_as_it_was_printed(value: float) -> None:
    assert float(exact(value)) == value
    for text in (exact(value), repr(value)):
        protocol = Protocol.parse(f"TI-NN-1R t=100 rel>={text} condensed")
        assert protocol.min_rating == value
        assert Protocol.parse(str(protocol)) == protocol
        encoding = Encoding.parse(f"graded-zero>={text}")
        assert encoding.threshold == value
        assert Encoding.parse(str(encoding)) == encoding


@pytest.mark.parametrize(
    ("value", "text"),
    [(1e6, "1000000"), (999999.5, "999999.5"), (-10, "-10"), (0.99999, "0.99999"), (-0.0, "0")],
)
def test_a_number_is_written_as_people_write_it(value: float, text: str) -> None:
    assert exact(value) == text
    assert str(RatingScale(value, value, 0)) == f"{text} to {text}"


@pytest.mark.parametrize("text", ["nan", "inf", "-inf", "1e", "--1", ".", "1e999"])
def test_what_is_no_finite_number_is_no_threshold(text: str) -> None:
    with pytest.raises(ConfigError):
        Protocol.parse(f"TI-AN-AR rel>={text}")
    if text in ("nan", "inf", "-inf"):
        with pytest.raises(ValueError):  # noqa: PT011 - what the caller turns into a message
            Parameter("min_rating", None, "float", optional=True).read(text)


@given(st.lists(finite, min_size=1, max_size=30), st.floats(0.01, 1))
def test_a_threshold_from_the_data_lets_in_the_share_and_no_more_than_it_has_to(
    values: list[float], share: float
) -> None:
    ratings = np.array(values)
    found = cut_at_share(ratings, share)
    wanted = next(each for each in sorted(values, reverse=True) if _share(values, each) >= share)
    assert {each for each in values if each >= found} == {each for each in values if each >= wanted}


def _share(values: list[float], least: float) -> float:
    # counted, not averaged: a share of .3 of ten is three of them
    return sum(each >= least for each in values) / len(values) + 1e-12


def test_the_usual_threshold_stays_where_two_in_a_hundred_reach_it() -> None:
    stars = np.array([1.0] * 98 + [5.0] * 2)
    assert enough_or_cut(stars, 5.0, 0.2) == 5
    assert enough_or_cut(np.append(stars, 1.0), 5.0, 0.2) == 1


@pytest.mark.parametrize(
    ("smallest", "largest", "step", "strict", "mild"),
    # 1000 ratings, evenly spread: a fifth reach the first threshold, half the second, unless enough
    # reach the top minus 1.
    [
        (-10, 10, 0, 6, 9),
        (0, 1, 0, 0.8, 0.5),
        (1, 3000, 1, 2400, 1500),
        (0, 1e6, 0, 800_000, 500_000),
        (-5, -1, 0, -1.8, -2),
    ],
)
def test_where_the_top_is_next_to_nothing_the_data_say_what_is_liked(
    tmp_path: Path, smallest: float, largest: float, step: float, strict: float, mild: float
) -> None:
    table = tmp_path / "own.csv"
    values = np.linspace(smallest, largest, 1000)
    values = np.round(values / step) * step if step else values
    frame = pd.DataFrame({"user_id": np.arange(1000) // 20, "item_id": np.arange(1000) % 41})
    frame.assign(rating=values).to_csv(table, index=False)
    width = (largest - smallest) / 999
    assert top_rating(str(table)) == pytest.approx(strict, abs=width)
    assert relevance_threshold(str(table)) == pytest.approx(mild, abs=width)
    assert (values >= top_rating(str(table))).sum() == 200
    loaded = load_dataset(str(table))
    assert relevance_threshold(loaded) == relevance_threshold(str(table))
    assert top_rating(loaded) == top_rating(str(table))
    said = CliRunner().invoke(main, ["data", "info", str(table)]).output
    (line,) = [each for each in said.splitlines() if each.startswith("threshold")]
    chosen = f"{exact(top_rating(loaded))} in chapters 1 to 4, {exact(relevance_threshold(loaded))}"
    assert f"threshold  {chosen} in chapter 5" in line
    assert f"from the data, since only 0.1 % have {exact(largest)}, the top" in line
    assert f"20.0 % of the ratings are {exact(top_rating(loaded))} or more" in said


def test_where_the_top_is_enough_the_data_are_not_said_to_decide(tmp_path: Path) -> None:
    table = tmp_path / "stars.csv"
    rows = "".join(f"{n % 9},{n},{1 + n % 5}\n" for n in range(50))
    table.write_text(f"user,item,rating\n{rows}", encoding="utf-8")
    said = CliRunner().invoke(main, ["data", "info", str(table)]).output
    assert "threshold  5 in chapters 1 to 4, 4 in chapter 5 and for the systems; -p min" in said
    assert "from the data" not in said
    said = CliRunner().invoke(main, ["data", "info", str(table), "--min-rating", "3"]).output
    assert "threshold" not in said
    assert "60.0 % of the ratings are 3 or more" in said


def _dense_table(folder: Path, n_items: int) -> str:
    rng = np.random.default_rng(1)
    users, items = np.nonzero(rng.random((60, n_items)) < 0.5)
    frame = pd.DataFrame({"user_id": users, "item_id": items})
    frame["rating"] = rng.integers(1, 6, len(frame))
    frame.to_csv(folder / "dense.csv", index=False)
    return str(folder / "dense.csv")


def _pools(split: Split, min_rating: float) -> list[int]:
    test = split.test
    users = np.unique(test.user[test.value >= min_rating])
    return [len(non_relevant_targets(split, "TI", u, min_rating=min_rating)) for u in users]


def test_samples_are_as_large_as_the_pools_of_a_dense_table_allow(tmp_path: Path) -> None:
    table = _dense_table(tmp_path, 130)
    asked = {"min_rating": 5.0, "split": "k-fold 5", "seed": 1}
    first = dataset_splits(load_dataset(table), "k-fold 5", seed=1)[0]
    pools = _pools(first, 5)
    full = full_pool(first, min_rating=5)
    assert max(pools) < 99  # 99 were asked for, and the page stopped
    assert full in pools
    assert np.mean(np.array(pools) >= full) >= 0.9
    size = choose_size(table, None, **asked)
    assert size == full // 2
    assert largest_sample(table, size, **asked) == full
    assert len(set(target_sizes(size, full))) == 4
    # What a reader says is asked for; a data set with a name has the papers'.
    assert choose_size(table, 70, **asked) == 70
    assert choose_size("ml-1m", None, **asked) == 100


def test_target_sizes_that_coincide_are_asked_for_once() -> None:
    assert target_sizes(2, 4) == (2, 3, 4)


def test_a_cutoff_is_written_as_in_the_name_of_a_metric() -> None:
    assert written(cutoff=1000, n_seeds=1) == {"cutoff": "1000", "n_seeds": "1 seed"}


@pytest.mark.parametrize(
    ("name", "values", "top"),
    [("linear", [-3.0, -1.0], None), ("exp", [0.0, 5000.0], 5000.0), ("ranksys", [0, 3e3], None)],
)
def test_a_gain_below_0_or_beyond_numbers_is_refused(
    name: str, values: list[float], top: float | None
) -> None:
    with pytest.raises(ConfigError, match=re.escape(f"gain map '{name}' with ratings from")):
        GainMap(name).gains(np.array(values), min_rating=min(values), rating_max=top)
    assert GainMap("steps").gains(np.array(values), min_rating=min(values))[0] == 1


def _own(tmp_path: Path, values: list[float], n_items: int = 40) -> str:
    """Write a table in which 30 users rate 12 items each, the values in turns."""
    rows = [
        (user, (5 * user + 3 * nth) % n_items, values[(user + nth) % len(values)])
        for user in range(30)
        for nth in range(12)
    ]
    frame = pd.DataFrame(rows, columns=["user_id", "item_id", "rating"])
    table = tmp_path / f"{n_items}-{values[0]}.csv"
    frame.drop_duplicates(["user_id", "item_id"]).to_csv(table, index=False)
    return str(table)


@pytest.mark.parametrize(
    ("values", "has_gains"),
    [
        ([1, 2, 3, 4, 5], True),
        ([-10.0, 0.5, 10.0], True),
        ([0.0, 0.5, 1.0], False),
        ([-1, 1], False),
        ([1, 7000], False),
        ([4], False),
    ],
)
def test_metrics_that_a_table_cannot_have_are_left_out_and_named(
    tmp_path: Path, values: list[float], has_gains: bool
) -> None:
    table, asked = _own(tmp_path, values), ("P@10", "nDCG@40", "nDCG@50", "nDCG(exp)@10", "tau")
    expected = ("P@10", "nDCG@40", *(("nDCG(exp)@10",) if has_gains else ()), "tau")
    assert measurable(table, asked, min_rating=1) == expected
    told = left_out_metrics(table, asked, min_rating=1)
    assert {metric for metric in asked if metric in told} == set(asked) - set(expected)
    assert "40 items" in told
    assert measurable("ml-1m", asked, min_rating=4) == asked
    assert left_out_metrics("ml-1m", asked, min_rating=4) == ""
    start = start_grid(table, 1, seed=1)
    depths = [int(m.partition("@")[2]) for m in start.by_label["full"] if m.startswith("nDCG@")]
    assert max(depths) == 20
    assert ("nDCG(exp)@10" in start.by_label["full"]) == has_gains
    tried = {grid.by_label["options"] for grid in _tried(table, 1)}
    assert ("nDCG@50",) not in tried
    assert (("nDCG(exp)@10",) in tried) == has_gains


def _tried(table: str, min_rating: float) -> list[Grid]:
    return decisions._grids(**decisions.decisions_asked(table, min_rating, seed=1))


def test_ratings_below_0_are_read_as_likes_by_systems_that_know_none(tmp_path: Path) -> None:
    below, above = (_own(tmp_path, values) for values in ([-1.0, 1.0], [0.0, 1.0]))
    found = start_grid(below, 1, seed=1).systems
    assert {system.parameters["encoding"] for system in found} == {"binary-zero>=1"}
    assert "below 0" in setup.table_notes(below, 1)
    found = start_grid(above, 1, seed=1).systems
    assert {system.parameters["encoding"] for system in found} == {"stars"}
    assert "below 0" not in setup.table_notes(above, 1)
    of_all = overlap_grid(below, 1, seed=1).systems[0]
    assert of_all.parameters["encoding"] == "binary-all"


@pytest.mark.parametrize("min_rating", [1234567.0, 0.1 + 0.2, 0.12345678])
def test_protocols_of_the_last_chapters_keep_every_digit(tmp_path: Path, min_rating: float) -> None:
    table = _own(tmp_path, [min_rating, min_rating + 1])
    asked = start_grid(table, min_rating, seed=1).parsed
    assert asked["full"].min_rating == min_rating
    assert asked["looser"].min_rating == min_rating - 1
    first = _tried(table, min_rating)[0]
    assert first.parsed["options"].min_rating == min_rating


def test_lists_are_compared_at_lengths_that_a_catalogue_has(tmp_path: Path) -> None:
    table = _own(tmp_path, [1, 2], 12)
    assert lengths_of(table) == (5, 10)
    assert "20 and 50" in lengths_note(table)
    lengths = {name.partition("@")[2] for name in other_lengths(table, 10)}
    assert {length.partition("|")[0] for length in lengths} == {"5"}
    few = _own(tmp_path, [1, 2], 4)
    assert lengths_of(few) == (4,)
    assert other_lengths(few, 4) == ()
    assert lengths_note("ml-100k") == ""
