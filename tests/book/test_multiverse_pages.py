"""What the page of chapter 8 shows and says, counted by hand on planted universes and pairs."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import shown
from recbias.book import findings
from recbias.book.chapters.multiverse import explorers, figures, setup, tables, told
from recbias.book.chapters.offline_option_taxonomy.setup import KNN, READINGS
from recbias.book.explorer import Shown, explorer_html
from recbias.book.systems.line_up import relevance_threshold
from recbias.data.datasets import load_dataset
from recbias.errors import ConfigError
from recbias.experiment.makers import Table

OPTIONS = {
    "A2": ["split: ratio 0.5", "split: ratio 0.2"],
    "C1": ["AI-AN-AR", "condensed", "TI-AN-AR"],
    "C2": ["metric: nDCG@10", "metric: P@10"],
}
SHAPE = tuple(len(texts) for texts in OPTIONS.values())
Signs = Callable[[tuple[int, ...]], int]


def table(frame: pd.DataFrame, index: tuple[str, ...], maker: str) -> Table:
    return Table(
        index=index, frame=frame, maker_name=f"08_multiverse/{maker}",
        given={"grid": {"systems": []}}, key="0", dataset={"name": "x"},
    )  # fmt: skip


def crossed(*signs: Signs, first: str = KNN, against: tuple[str, ...] = READINGS) -> Table:
    """Plant signs by the places of options; who wins with an option of C1 that is not 0 is unsure.

    The last two options of C1 are one universe where the metric is the second.
    """
    rows = []
    for name, sign in zip(against, signs, strict=True):
        for number, place in enumerate(product(*map(range, SHAPE))):
            same = place[1] == 2 and place[2] == 1
            at = place if not same else (place[0], 1, 1)
            rows.append({
                "first": first, "against": name, **dict(zip(OPTIONS, place, strict=True)),
                "universe": number if not same else number - 2, "sign": sign(at),
                "effect": 0.1 * (1 + sum(at)), "difference": 0.01 * sign(at) * (1 + sum(at)),
                "low": 0.01 * sign(at) * (1 + sum(at)) - 0.02,
                "high": 0.01 * sign(at) * (1 + sum(at)) + 0.02, "p": 0.01 if at[1] == 0 else 0.2,
                "mean_t": 2.0, "null": 1.0, "joint": 0.004,
            })  # fmt: skip
    return table(pd.DataFrame(rows), ("first", "against", *OPTIONS), "crossed")


def always(place: tuple[int, ...]) -> int:
    return 1


def turned_together(place: tuple[int, ...]) -> int:
    """Let MF win where the split and the metric are both others."""
    return -1 if place[0] == 1 and place[2] == 1 else 1


def brute(sign: Signs) -> tuple[int, set[tuple[int, ...]]]:
    """Find the fewest changes from the first options that turn the sign, one by one."""
    start = sign((0, 0, 0))
    for size in range(1, 4):
        found = set()
        for place in product(*map(range, SHAPE)):
            changed = sum(map(bool, place))
            at = (place[0], 1, 1) if place[1] == 2 and place[2] == 1 else place
            if changed == size and sign(at) == -start:
                found.add(at)
        if found:
            return size, found
    return 0, set()


@pytest.mark.parametrize("seed", range(20))
def test_the_fewest_changes_are_those_of_brute_force(seed: int) -> None:
    rng = np.random.default_rng(seed)
    planted = np.where(rng.random(SHAPE) < 0.25, -1, 1)
    planted[0, 0, 0] = 1

    def sign(place: tuple[int, ...]) -> int:
        return int(planted[place])

    fewest, ways = told.nearest(crossed(sign, always), READINGS[0], OPTIONS)
    wanted, places = brute(sign)
    assert (fewest, len(ways)) == (wanted, len(places))
    assert all(len(changed) == fewest for changed in ways)


def test_shares_count_a_universe_once() -> None:
    rows = told.of_universes(crossed(turned_together, always))[1].set_index("reading")
    # 12 combinations are 10 universes; MF wins where split and metric are others: 2 of them
    assert rows.loc["printed", "wins"] == pytest.approx(0.8)
    assert rows.loc["printed", "surely_loses"] == pytest.approx(0.1)
    assert rows.loc["printed", ["alone", "together", "fewest"]].tolist() == [0, 1, 2]
    assert rows.loc["swapped", ["wins", "alone", "together", "fewest"]].tolist() == [1, 0, 0, 0]


def test_the_curve_is_in_order_and_options_stand_where_their_universes_are() -> None:
    planted = crossed(turned_together, always)
    curve = told.ahead(planted, READINGS[0])
    assert curve["ahead"].is_monotonic_increasing
    assert curve["ahead"].iloc[[0, -1]].tolist() == pytest.approx([-0.4, 0.4])
    np.testing.assert_allclose(curve["high"] - curve["ahead"], 0.2)
    np.testing.assert_allclose(curve["ahead"] - curve["low"], 0.2)
    # ten universes, two in each fifth: the two that MF wins are all of P@10 and four fifths
    found = told.along_curve(planted, READINGS[0], OPTIONS, "A2")
    wide = found.pivot_table(index="option", columns="part", values="share")
    assert wide.loc["split: ratio 0.2"].iloc[0] == 1
    np.testing.assert_allclose(wide.sum(), 1)  # all have one option of the split
    twin = told.along_curve(crossed(always, always), READINGS[0], OPTIONS, "A2")
    assert twin["share"].iloc[0] == 1, "where kNN always wins the start is worst for it"
    assert "C2 nDCG@10: 0\N{NO-BREAK SPACE}% of the fifth that is worst" in figures.along(
        planted, OPTIONS
    ).title.replace("\n", " ")


def test_a_decision_that_turns_alone_is_no_pair() -> None:
    ways = told.turned(crossed(lambda at: 1 - 2 * (at[1] == 1), always), READINGS[0], OPTIONS,
                       surely=False)  # fmt: skip
    found = {(row.first, row.second): row.ways for row in ways.itertuples()}
    assert found["C1", "C1"] == 1
    assert found["A2", "A2"] == found["A2", "C2"] == 0
    surely = told.turned(crossed(lambda at: 1 - 2 * (at[1] == 1), always), READINGS[0], OPTIONS,
                         surely=True)  # fmt: skip
    assert not surely["ways"].any(), "an unsure winner is nobody's"


def sentences(results: dict[str, Any]) -> dict[str, findings.Finding]:
    return dict(findings.state("multiverse", results).found)


def test_title_and_sentences_follow_what_is_planted() -> None:
    """The twin: with other signs both are others, and of other systems nothing is said."""
    one, other = crossed(turned_together, always), crossed(always, turned_together)
    assert figures.curves(one).title.splitlines() == [
        "kNN beats MF in 80 % of the universes,",
        "and MF (as in RankSys) in 100 %",
    ]
    assert figures.curves(other).title.splitlines() == [
        "kNN beats MF in 100 % of the universes,",
        "and MF (as in RankSys) in 80 %",
    ]
    for planted, value, together in ((one, 1.0, 0), (other, 0.8, 1)):
        found = sentences({"crossed": planted})
        assert found["own/MULTIVERSE-KNN-SWAPPED"].value == pytest.approx(value)
        assert found["own/MULTIVERSE-TOGETHER"].value == together
        assert found["own/MULTIVERSE-TOGETHER"].verdict == ("holds" if together else "refuted")
        assert found["own/MULTIVERSE-JOINT"].verdict == "holds"
    strangers = crossed(turned_together, first="SLIM", against=("pLSA",))
    assert figures.curves(strangers).title.startswith("SLIM beats pLSA in 80")
    assert not any(each.verdict for each in sentences({"crossed": strangers}).values())
    assert "compares SLIM with pLSA" in tables.compared_note(strangers)
    assert "compares" not in tables.compared_note(one)


PAIRS = pd.DataFrame(
    [  # robust and right; robust and wrong; only sure, right; only sure, wrong; truth not sure
        ("a", "b", 0.95, 0.05, 0.5, 0.01, 1.0, 0.01),
        ("a", "c", 0.02, 0.92, -0.3, 0.01, 1.0, 0.01),
        ("a", "d", 0.60, 0.40, -0.2, 0.01, -1.0, 0.01),
        ("b", "c", 0.60, 0.40, 0.2, 0.01, -1.0, 0.01),
        ("b", "d", 0.95, 0.05, 0.01, 0.30, -1.0, 0.40),
    ],
    columns=["a", "b", "wins", "loses", "effect", "p", "true", "true p"],
).assign(**{"trusted wins": 0.95, "trusted loses": 0.05})


def test_pairs_are_right_or_wrong_where_the_truth_is_told() -> None:
    pairs = table(PAIRS, ("a", "b"), "pairs")
    counted = told.called_pairs(pairs).set_index("called")
    assert counted.loc["robust"].tolist() == [3, 1, 1]
    assert counted.loc["only sure"].tolist() == [2, 1, 1]
    assert counted.loc["sure"].tolist() == [4, 2, 2]
    assert counted.loc["both"].tolist() == [2, 1, 1]
    said = told.of_pairs(pairs)[1].set_index("which")["robust"]
    assert said.to_dict() == {"all": 0.6, "sure": 0.5, "robust true": 0.5, "only sure true": 0.5}
    assert "| right |" in tables.truth_table(pairs)


def test_the_twin_with_the_truth_turned_is_wrong_where_it_was_right() -> None:
    turned = table(PAIRS.assign(true=-PAIRS["true"]), ("a", "b"), "pairs")
    once = told.called_pairs(table(PAIRS, ("a", "b"), "pairs"))
    twin = told.called_pairs(turned)
    assert twin["right"].tolist() == once["wrong"].tolist()
    unknown = table(PAIRS.assign(true=np.nan, **{"true p": np.nan}), ("a", "b"), "pairs")
    assert "right" not in tables.truth_table(unknown)
    assert "robust true" not in set(told.of_pairs(unknown)[1]["which"])


def test_effects_part_all_pairs() -> None:
    rows = told.robust_by_effect(table(PAIRS, ("a", "b"), "pairs"))
    by_count = rows[rows["line"] == "by count"]
    assert by_count["n"].sum() == len(PAIRS)
    assert by_count.set_index("effect")["value"].to_dict() == {
        "0 to 0.05 (1)": 100.0, "0.2 to 0.4 (3)": pytest.approx(100 / 3),
        "0.4 or more (1)": 100.0,
    }  # fmt: skip
    title = figures.by_effect(table(PAIRS, ("a", "b"), "pairs")).title
    assert "Of 5 pairs of systems 3 have one winner" in title.replace("\n", " ")
    assert "5 by trust" in title.replace("\n", " ")


def test_the_explorer_counts_what_is_chosen() -> None:
    planted = crossed(turned_together, always)
    axes, states = explorers.brushed(planted, OPTIONS)
    assert len(states) == np.prod([len(axis.options) for axis in axes])
    everything, others = states["0", "any", "any", "any"], states["0", "1", "any", "1"]
    assert isinstance(everything, Shown)
    assert isinstance(others, Shown)
    assert "ahead of MF in 8 of 10 universes, surely in 3" in everything.note
    assert "MF is ahead in 2, surely in 1. Both can be published" in everything.note
    assert "in 0 of 2 universes" in others.note
    assert "Only one of both" in others.note
    found = [value for value, *_ in everything.values.values()]
    assert found == sorted(found)
    html = explorer_html(
        states, axes, start=("0", "any", "any", "any"), name="u", source=planted, ordered=False
    )
    assert "Kendall" not in html
    assert '"ordered":false' in html


def test_systems_are_found_by_name_or_told() -> None:
    (grid,) = setup.compared("ml-1m", 4, 1, None, a="SLIM", b=KNN)
    assert [system.name for system in grid.systems] == ["SLIM", KNN]
    (other,) = setup.compared("ml-1m", 4, 1, None, a=READINGS[0])
    assert [system.name for system in other.systems] == list(READINGS)
    for given, message in (
        ({"a": "SLIMM"}, "did you mean 'SLIM'"),
        ({"b": KNN}, "name two systems"),
        ({"b": "kNN of mine"}, "unknown system 'kNN of mine'"),
    ):
        with pytest.raises(ConfigError, match=message):
            setup.compared("ml-1m", 4, 1, None, **given)


NAMES = ["ml-1m", "ml-100k", "ml-latest-small", "filmtrust", "coat", "cm100k"]


def let_in(values: Any, texts: list[str]) -> list[int]:
    """Count the ratings that each threshold lets in, one by one."""
    return [sum(v >= float(text.removeprefix("rel>=")) for v in values) for text in texts]


@pytest.mark.parametrize("merged", [True, False])
def test_thresholds_that_like_the_same_ratings_are_one_option(tmp_path: Path, merged: bool) -> None:
    stars = [2 if merged and star == 3 else star for star in range(1, 6)]
    own = tmp_path / "own.csv"
    own.write_text("user,item,rating\n" + "".join(
        f"u{user},i{item},{stars[(user + item) % 5]}\n" for user in range(9) for item in range(9)
    ))  # fmt: skip
    liked = setup.options_of(str(own), 4)["C2 threshold"]
    assert liked == ["rel>=4", "rel>=5", *([] if merged else ["rel>=3"])]
    said = tables.crossing_table(setup.options_of(str(own), 4), str(own), 4)
    assert ("*liked from 3* is *liked from 4*" in said) == merged


def test_all_steps_of_the_scale_would_count_merged_stars_twice() -> None:
    values = [2.48, 4.0, 5.0]
    liked = setup.options_of("ml-1m", 4)["C2 threshold"]
    assert len(set(let_in(values, liked))) == len(liked)
    twin = setup.options_of("ml-1m-stars", 4)["C2 threshold"]  # the same stars, none merged
    assert len(twin) == 3
    assert len(set(let_in(values, twin))) < len(twin)


@pytest.mark.data
@pytest.mark.parametrize("name", NAMES)
def test_each_threshold_lets_other_ratings_in(name: str) -> None:
    values, min_rating = load_dataset(name).ratings.value, relevance_threshold(name)
    liked = setup.options_of(name, min_rating)["C2 threshold"]
    steps = [f"rel>={min_rating + step:g}" for step in (0, 1, -1)]
    numbers = [int((values >= float(text.removeprefix("rel>="))).sum()) for text in steps]
    assert liked == [t for i, t in enumerate(steps) if numbers[i] and numbers[i] not in numbers[:i]]


def test_what_turns_is_listed_with_all_ways() -> None:
    listed = tables.turning_list(crossed(turned_together, always), OPTIONS).splitlines()
    assert listed == [
        "- Against MF kNN is ahead at the start; 2 changes turn it, and no fewer:",
        "  - A2 train on four fifths and C2 P@10",
        "- Against MF (as in RankSys) kNN is ahead at the start; nothing turns it.",
    ]


def test_data_stand_side_by_side_from_records() -> None:
    recorded = dict(shown.recorded("08_multiverse", "filmtrust"))
    listed = tables.data_table(recorded, "filmtrust")
    rows = told.of_universes(recorded["crossed"])[1].set_index("reading")
    row = next(line for line in listed.splitlines() if line.startswith("| FilmTrust"))
    assert f"| {rows.loc['printed', 'wins']:.0%}".replace("%", " %") in row
    own = {"crossed": crossed(turned_together, always), "pairs": table(PAIRS, ("a", "b"), "pairs")}
    mine = tables.data_table(own, "mine.csv").splitlines()[2]
    assert mine.startswith("| your table | 10 | 80 % | 2 | 100 % | none | 60 % | 1 of 2")


def test_what_is_called_robust_on_data_is_counted_in_the_file() -> None:
    frame = pd.read_csv(shown.NOTEBOOKS.parent / "data/evaluation/multiverse_data.csv")
    for row in told.called_on_data().to_dict("records"):
        by = "trust" if row["weights"] == "by trust" else "alike"
        called = right = 0
        for each in frame[frame["data"] == row["data"]].to_dict("records"):
            for word, sign in (("wins", 1), ("loses", -1)):
                if each[f"{word}, {by}"] >= 0.9 and each["P"] != 0:
                    called, right = called + 1, right + (each["P"] == sign)
        assert (row["called"], row["right"]) == (called, right)


def test_what_the_page_says_of_weights_is_so_in_the_worlds_kept_apart() -> None:
    """More is called robust by trust than by count; nine of ten are true in either way."""
    called = told.called().set_index(["row", "line"])
    assert called["value"].min() > 90
    for relation in set(called.index.get_level_values("row")):
        assert called.loc[(relation, "by trust"), "n"] > called.loc[(relation, "by count"), "n"]


def test_the_case_by_hand_is_counted_rightly() -> None:
    lists = {"X": ("ABCD", "ADCB"), "Y": ("ACBD", "BADC")}
    liked, rated = ("AB", "BD"), ("AB", "BCD")

    def value(name: str, depth: int, *, own: bool) -> float:
        hits = 0.0
        for ranked, likes, seen in zip(lists[name], liked, rated, strict=True):
            kept = [item for item in ranked if item in seen or not own]
            hits += sum(item in likes for item in kept[:depth]) / depth
        return hits / 2

    text = (shown.NOTEBOOKS / "08_multiverse.py").read_text(encoding="utf-8")
    for depth in (2, 1):
        (cells,) = re.findall(rf"^# \| P@{depth} \| (.*?) \| (.*?) \|$", text, re.MULTILINE)
        for own, cell in zip((False, True), cells, strict=True):
            x, y = (value(name, depth, own=own) for name in "XY")
            first = "X and Y" if x == y else "X" if x > y else "Y"
            assert cell == f"{first}, {max(x, y):.2f} to {min(x, y):.2f}"
    assert len(list(combinations(setup.DECISIONS, 2))) == 21
