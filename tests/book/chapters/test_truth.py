"""Which design orders systems as the truth does: an oracle in plain loops, and tables made by hand.

Nothing here uses the code that is tested, nor what it is made of, but for the world and its split.
"""

from __future__ import annotations

import itertools
import re

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from matplotlib.text import Text

from expressions_at import parts_of
from recbias.book.chapters.design_alternatives import VIEWS
from recbias.book.chapters.design_alternatives import truth as module
from recbias.book.chapters.design_alternatives.plots import plot_truth
from recbias.book.chapters.design_alternatives.setup import CHAPTER, protocols
from recbias.book.chapters.design_alternatives.truth import DESIGNS, SIMULATION
from recbias.book.figures.style import use_book_style
from recbias.claims import load_chapter
from recbias.claims.evidence import NotComputed
from recbias.data.datasets import load_dataset
from recbias.errors import ConfigError
from recbias.experiment.makers import Table, find_maker
from recbias.experiment.results import SIMULATIONS
from recbias.metrics import parse_metric
from recbias.protocol.testset import TestSet, dataset_splits

WORLD = "world(relation=0.3,skew=0.4,users=60,items=40,density=0.1,seed=4)"
CUTOFF, LIKED = 3, 4
METRIC = parse_metric(f"P@{CUTOFF}")


class Fixed:
    """A system whose scores are all different, some missing, and known to the oracle."""

    n_seeds = 1

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.scores = rng.permuted(np.tile(np.arange(40.0), (60, 1)), axis=1).astype(np.float32)
        self.scores[rng.random((60, 40)) < 0.1] = np.nan
        self.scores[5:15, 2:] = np.nan  # lists that end early

    def stream_label(self) -> str:
        return "fixed"

    def build(self) -> Fixed:
        return self

    def fit(self, train, *, rng):
        return self

    def score(self, users):
        return self.scores[users]


def naive(system: Fixed, dataset, fold) -> dict[str, float]:
    """Measure by every design, with samples that take everything, and by the truth."""
    users, items = range(60), range(40)
    train = {(int(u), int(i)) for u, i in zip(fold.train.user, fold.train.item, strict=True)}
    rows = zip(fold.test.user, fold.test.item, fold.test.value, strict=True)
    test = {(int(u), int(i)): float(stars) for u, i, stars in rows}
    tested = {i for _, i in test}
    stars = dataset.truth.true_rating(np.arange(60))

    def ranked(u: int, targets) -> list[int]:
        scored = [i for i in targets if (u, i) not in train and system.scores[u, i] >= 0]
        return sorted(scored, key=lambda i: -system.scores[u, i])

    def liked(u: int, i: int) -> bool:
        return test.get((u, i), 0) >= LIKED

    found = dict.fromkeys(("AI", "AR", "R_test", "truth"), 0.0)
    runs = []
    for u in users:
        everything = ranked(u, items)
        for label, targets in (
            ("AI", everything),
            ("AR", [i for i in everything if i in tested]),
            ("R_test", [i for i in everything if (u, i) in test]),
        ):
            found[label] += sum(liked(u, i) for i in targets[:CUTOFF]) / CUTOFF / 60
        found["truth"] += sum(stars[u, i] >= LIKED for i in everything[:CUTOFF]) / CUTOFF / 60
        mine = [i for i in items if liked(u, i)]
        for one in mine:
            run = ranked(u, [i for i in tested if i == one or i not in mine])
            runs.append(one in run[:CUTOFF])
    found["NN"] = found["AR"]
    found["1R"] = sum(runs) / len(runs) / CUTOFF
    return found


@pytest.fixture(scope="module")
def world():
    return load_dataset(WORLD)


@pytest.fixture(scope="module")
def fold(world):
    return dataset_splits(world, "ratio 0.4", seed=2)[0]


def measured(system, world, fold) -> dict[str, float]:
    tested = np.unique(fold.test.item)
    pool = 0
    for user in range(60):
        own = fold.train.item[fold.train.user == user]
        relevant = (fold.test.user == user) & (fold.test.value >= LIKED)
        pool = max(pool, len(np.setdiff1d(tested, own)) - int(relevant.sum()))
    asked = protocols(LIKED, size=pool + 1, n_sampled=pool)
    asked = {label: asked[label] for label in DESIGNS}
    return module.design_values(world, fold, system, asked, METRIC, seed=7)


@pytest.mark.parametrize("seed", range(5))
def test_designs_and_truth_are_those_of_plain_loops(world, fold, seed):
    expected = naive(Fixed(seed), world, fold)
    assert measured(Fixed(seed), world, fold) == pytest.approx(expected)
    assert len(set(expected.values())) >= 4, "designs that no oracle could tell apart"


@pytest.mark.parametrize(
    "broken",
    [
        lambda lists, liked: float(np.take_along_axis(liked, np.maximum(lists, 0), 1).mean()),
        lambda lists, liked: float(np.take_along_axis(liked, lists, 1)[lists >= 0].mean()),
        lambda lists, liked: module_true(lists[:, :-1], liked),
        lambda lists, liked: module_true(lists, ~liked),
    ],
    ids=["ends of lists are hits of item 0", "divided by what is listed", "shorter", "disliked"],
)
def test_the_oracle_notices_another_true_precision(world, fold, monkeypatch, broken):
    monkeypatch.setattr(module, "true_precision", broken)
    found, expected = measured(Fixed(1), world, fold), naive(Fixed(1), world, fold)
    assert found["truth"] != pytest.approx(expected["truth"])


module_true = module.true_precision


def test_where_everything_is_observed_ranking_everything_is_the_truth(world):
    """With all pairs judged there is nothing to guess: AI-AN-AR is true precision itself."""
    (fold,) = dataset_splits(world, "ratio 0.4", seed=2, judgments=TestSet("truth"))
    rows = []
    for seed in range(6):
        asked = {label: protocols(LIKED)[label] for label in ("AI", "AR", "R_test")}
        found = module.design_values(world, fold, Fixed(seed), asked, METRIC, seed=7)
        assert found["AI"] == pytest.approx(found["truth"])
        rows += [("all", 1, label, f"system {seed}", value) for label, value in found.items()]
    agreed = module.agreement_with_truth(table_of(rows)).set_index("design")
    assert agreed["tau"].to_dict() == {"AI": 1, "AR": 1, "R_test": 1}
    assert agreed["wrong"].to_dict() == {"AI": 0, "AR": 0, "R_test": 0}


def test_truth_and_a_cutoff_are_needed(world, fold):
    asked = {"AI": protocols(LIKED)["AI"]}
    with pytest.raises(ConfigError, match="true precision needs truth and a cutoff"):
        module.design_values(world, fold, Fixed(1), asked, parse_metric("AP"), seed=7)
    with pytest.raises(ConfigError, match="has no preferences"):
        module.truth(**{**SIMULATION, "worlds": {"flat": "world(alpha=1)"}, "n_worlds": 1})


# -- what follows from a table ------------------------------------------------------------------


def table_of(rows) -> Table:
    frame = pd.DataFrame(rows, columns=["world", "number", "design", "system", "value"])
    return Table.of(
        (("world", "number", "design", "system"), frame),
        key="",
        dataset={"name": SIMULATIONS},
        maker_name="",
        given={"worlds": dict.fromkeys(frame["world"].unique(), "world(relation=0.5)")},
    )


ORDERS = {
    # By world: the true order of four systems from the best, and the one that a design sees.
    ("likes", 1): ("abcd", "abcd"),
    ("likes", 2): ("abcd", "bacd"),
    ("hates", 1): ("abcd", "dcba"),
    ("hates", 2): ("dcba", "dbca"),
}


@pytest.fixture(scope="module")
def made() -> Table:
    rows = []
    for (kind, number), (true, seen) in ORDERS.items():
        for design, order in (("AR", seen), ("truth", true), ("R_test", true)):
            rows += [(kind, number, design, name, 9 - order.index(name)) for name in "bdac"]
    return table_of(rows)


def test_tau_and_wrong_pairs_are_those_of_plain_loops(made):
    found = module.agreement_with_truth(made).set_index(["world", "number", "design"])
    for (kind, number), (true, seen) in ORDERS.items():
        pairs = list(itertools.combinations("abcd", 2))
        wrong = sum(
            (true.index(a) < true.index(b)) != (seen.index(a) < seen.index(b)) for a, b in pairs
        )
        row = found.loc[kind, number, "AR"]
        assert row["wrong"] == pytest.approx(wrong / 6)
        assert row["tau"] == pytest.approx(1 - 2 * wrong / 6)
        assert found.loc[kind, number, "R_test"].tolist() == [1, 0]


def test_places_gained_are_counted_from_the_true_rank(made):
    gained = module.places_gained(made, ["AR", "R_test"])
    assert gained.columns.tolist() == [(d, w) for d in ("AR", "R_test") for w in ("likes", "hates")]
    assert (gained["R_test"] == 0).all().all()
    assert gained["AR", "likes"].to_dict() == {"b": 0.5, "d": 0, "a": -0.5, "c": 0}
    # First world: from 1st to 4th and back; second: b and c change their places.
    assert gained["AR", "hates"].to_dict() == {"b": 0, "d": 1.5, "a": -1.5, "c": 0}


def test_places_are_written_with_their_sign(made):
    head, _, *rows = module.places_table(made, ["likes", "hates"], ["AR"]).splitlines()
    assert [cell.strip() for cell in head.strip("|").split("|")] == [
        "system",
        "all tested items, popularity likes",
        "all tested items, popularity hates",
    ]
    assert [[cell.strip() for cell in row.strip("|").split("|")] for row in rows] == [
        ["b", "+0.5", "+0.0"],
        ["d", "+0.0", "+1.5"],
        ["a", "\N{MINUS SIGN}0.5", "\N{MINUS SIGN}1.5"],
        ["c", "+0.0", "+0.0"],
    ]


def test_the_mean_over_worlds_has_the_interval_of_student(made):
    values = np.array([0.1, 0.4, 0.2, 0.3])
    found = module.over_worlds(values)
    expected = scipy.stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert found.interval == pytest.approx((expected.low, expected.high))
    by_kind = module.truth_by_kind(made).set_index(["world", "design"])
    assert by_kind.loc[("likes", "AR"), ["relation", "tau", "wrong"]].tolist() == pytest.approx(
        [0.5, 5 / 6, 1 / 12]
    )
    with pytest.raises(ConfigError, match="1 world: an interval over worlds needs two"):
        module.over_worlds([0.5])


def finding(made: Table, text: str, **more):
    (part,) = parts_of(text, {"truth": made}, views=VIEWS, **more)
    return part


def test_findings_read_worlds_of_no_edition(made):
    tau = "mean(tau[{}, choice by liking, {}] in truth.agreement on simulations)".format
    one = finding(made, tau("likes", "AR"))
    assert one.value == pytest.approx(5 / 6)
    assert one.interval == module.over_worlds([1, 2 / 3]).interval
    assert {(r.edition, r.table) for r in one.read} == {(SIMULATIONS, "truth.agreement")}
    any_kind = "{}(mean(tau[*, *, AR] in truth.agreement))".format
    least = finding(made, any_kind("smallest"))
    assert (least.value, least.which) == (pytest.approx((-1 + 2 / 3) / 2), "")
    assert finding(made, any_kind("largest")).value == one.value
    hated = "tau[hates, choice by liking, {}] in truth.agreement".format
    lead = finding(made, f"mean({hated('R_test')} - {hated('AR')})")
    assert lead.value == pytest.approx((2 + 1 / 3) / 2)
    assert lead.interval == pytest.approx(module.over_worlds([2, 1 / 3]).interval)
    places = finding(made, "mean(lost[hates, choice by liking, AR] of d in truth.places)")
    assert places.value == -1.5
    assert places.interval == pytest.approx(module.over_worlds([-3, 0]).interval)
    wrong = finding(made, "mean(wrong[hates, choice by liking, AR] in truth.agreement)")
    assert wrong.value == pytest.approx((1 + 1 / 6) / 2)


@pytest.mark.parametrize(
    ("term", "missing"),
    [
        ("tau[likes, choice by liking, ZZ] in truth.agreement", "ZZ"),
        ("tau[nobody, choice by liking, AR] in truth.agreement", "nobody"),
        ("tau[likes, blind choice, AR] in truth.agreement", "blind choice"),
        ("lost[likes, choice by liking, AR] of nobody in truth.places", "nobody"),
        ("rho[likes, choice by liking, AR] in truth.agreement", "rho"),
        ("tau[likes, choice by liking, AR] in elsewhere", "elsewhere"),
    ],
)
def test_findings_ask_for_what_there_is(made, term, missing):
    with pytest.raises(NotComputed, match=missing):
        finding(made, f"mean({term})")


# -- what is recorded ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def recorded() -> Table:
    return load_chapter(CHAPTER, SIMULATIONS)["truth"]


def test_the_page_reads_what_is_recorded(recorded):
    found = find_maker(f"{CHAPTER}/truth")(**SIMULATION, name=f"{CHAPTER}/truth")
    assert (found.key, found.origin) == (recorded.key, "recorded")
    n_systems = recorded.frame["system"].nunique()
    assert len(found.frame) == (
        len(SIMULATION["worlds"]) * SIMULATION["n_worlds"] * (len(DESIGNS) + 1) * n_systems
    )


def test_a_world_of_the_recorded_table_is_made_again(recorded):
    """One system in one world, by the whole path; `recbias verify` makes all of them."""
    kind = "opposes"
    dataset = load_dataset(f"{SIMULATION['worlds'][kind][:-1]},seed=2)")
    fold = dataset_splits(dataset, SIMULATION["split"], seed=2)[0]
    asked = protocols(5, size=SIMULATION["size"], n_sampled=SIMULATION["n_sampled"])
    asked = {label: asked[label] for label in DESIGNS}
    (system,) = (s for s in module._systems("bcc17") if s.name == "Popularity")
    found = module.design_values(dataset, fold, system, asked, parse_metric("P@10"), seed=2)
    rows = recorded.select(world=kind, number=2, system="Popularity").set_index("design")["value"]
    assert found == pytest.approx(rows.to_dict())


def test_the_title_states_the_worst_cases(recorded):
    found = module.truth_by_kind(recorded)
    least = {name: found.loc[found["design"] == name, "tau"].min() for name in DESIGNS}
    best = max(least, key=least.get)
    title = module.truth_title(found, DESIGNS)
    assert title.lower().startswith(DESIGNS[best])
    numbers = [least.pop(best), max(least.values())]
    assert re.findall(r"-?\d\.\d\d", title.replace("\N{MINUS SIGN}", "-")) == [
        f"{number:.2f}" for number in numbers
    ]


def test_the_figure_can_be_read_on_a_phone(recorded):
    use_book_style()
    found = module.truth_by_kind(recorded)
    figure = plot_truth(found, DESIGNS, title="It matters")
    assert [axis.get_title() for axis in figure.axes] == list(found["choice"].unique())
    figure.canvas.draw()
    texts = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text()]
    assert min(text.get_fontsize() for text in texts) >= 12
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == list(DESIGNS.values())
