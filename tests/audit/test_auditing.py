"""Audits end to end: the internal path's numbers, scores of others, names that look like markup."""

import contextlib
import functools
import json
import math
import operator
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from audit_of_world import FEW, PAIR, WORLD, audited_world
from recbias import Grid, System, load_dataset, run
from recbias.audit import Audit, audit, auditing, comparison, read_audit, side_by_side
from recbias.audit.comparison import Comparison
from recbias.audit.design import around, own_design
from recbias.audit.page import page_of
from recbias.audit.rule import EXIT_CODES
from recbias.cli.entry import main
from recbias.errors import ConfigError, StoreError
from recbias.experiment.options import Options
from recbias.experiment.outcomes import evaluate
from recbias.multiverse import default_options, universes
from recbias.protocol.testset import dataset_splits
from recbias.recommenders import FromScores, as_system
from recbias.stats.comparison import holm


@pytest.fixture(scope="module")
def audited():
    return audited_world()


# ---- numbers are those of the internal path


def test_the_lead_is_that_of_results(audited):
    grid = Grid(WORLD, PAIR, "AI-AN-AR rel>=4", "P@10", split="ratio 0.5")
    found = run(grid).difference("Popularity", "Random")
    lead = audited.record["own"]["lead"]
    assert [lead["lead"], lead["low"], lead["high"], lead["p"]] == pytest.approx(
        [found.difference, found.low, found.high, found.p], rel=1e-12
    )


def test_the_lead_of_a_metric_of_misses_is_turned():
    design = own_design(load_dataset(WORLD), metric="antiP@10", split="ratio 0.5")
    asks = Comparison(WORLD, PAIR, design)
    results = asks.run(asks.own)
    more, less = (results[name, "case", "antiP@10"].value for name in ("Random", "Popularity"))
    lead = asks.lead(results, "antiP@10")
    assert lead.lead == pytest.approx(more - less, abs=1e-12)
    assert lead.low < lead.lead < lead.high


def test_designs_are_those_of_the_multiverse(audited):
    found = universes(WORLD, *PAIR, FEW, seeds=(1,))
    told = audited.record["multiverse"]
    assert told["universes"] == len(found.table)
    assert told["shares"]["decisions"]["wins"] == pytest.approx(
        found.shares().loc["decisions", "wins"], abs=1e-12
    )
    assert told["flips"] == found.flips()["changed"].tolist()


@pytest.mark.parametrize(("least", "step", "others"), [
    (3.5, 1, ("rel>=5", "rel>=3")),  # 4 likes what 3.5 does, and is no option beside it
    (3.5, 0.5, ("rel>=4", "rel>=5", "rel>=3")),
    (4, 1, ("rel>=5", "rel>=3")),
])  # fmt: skip
def test_a_threshold_that_likes_the_same_is_no_second_option(least, step, others):
    stars = np.arange(1, 5 + step, step)
    table = pd.DataFrame([(u, i, stars[(u + i) % len(stars)]) for u in range(20) for i in range(9)],
                         columns=["user_id", "item_id", "rating"])  # fmt: skip
    loaded = load_dataset(table)
    options = around(own_design(loaded, f"AI-AN-AR rel>={least}"), loaded, trainable=True,
                     whole_lists=True)  # fmt: skip
    assert options["C2 threshold"] == (f"rel>={least}", *others)


def test_merged_stars_have_no_threshold_twice():
    """3 likes what 4 does where no rating of 3 is left; with one it does not."""
    found = {}
    for middle in (1, 3):
        rows = [(u, i, (5, 4, middle, 1)[(u + i) % 4]) for u in range(20) for i in range(8)]
        table = pd.DataFrame(rows, columns=["user_id", "item_id", "rating"])
        found[middle] = default_options(load_dataset(table))["C2 threshold"]
    assert found == {1: ("rel>=4", "rel>=5"), 3: ("rel>=4", "rel>=5", "rel>=3")}


def test_each_design_is_one_evaluation(audited):
    for row in audited.record["designs"]:
        if "values" not in row or row["test"] != "observed" or "1R" in row["protocol"]:
            continue
        text = f"split: ratio 0.5; lists: {row['protocol']}; metric: {row['metric']}"
        values = evaluate(Options.parse(text), WORLD, PAIR).values
        for name, value in values.items():
            assert row["values"][name][0] == pytest.approx(value, abs=1e-12)


def test_thirds_of_users_hold_all_of_them(audited):
    users = audited.record["users"]
    assert sum(row["users"] for row in users["activity"]) == users["users"]
    mean = np.average(
        [row["lead"] for row in users["activity"]],
        weights=[row["users"] for row in users["activity"]],
    )
    assert mean == pytest.approx(audited.record["own"]["lead"]["lead"], abs=1e-9)


# ---- the future, and baselines


def timed():
    rng = np.random.default_rng(4)
    rows = [(u, i, int(rng.integers(1, 6)), int(rng.integers(10**6)))
            for u in range(30) for i in rng.choice(20, 10, replace=False)]  # fmt: skip
    return pd.DataFrame(rows, columns=["user_id", "item_id", "rating", "timestamp"])


def rows_of_the_future(table, pair=PAIR, split="ratio 0.5"):
    asks = Comparison(table, pair, own_design(load_dataset(table), split=split))
    own, *others = comparison.cases(asks.design, whole_lists=True)
    return comparison.compared(asks, [own, *(case for case in others if case.split)])[1:]


def test_the_future_is_one_of_the_designs():
    table = timed()
    (row,) = rows_of_the_future(table)
    grid = Grid(table, PAIR, "AI-AN-AR rel>=4", "P@10", split="temporal 0.2")
    assert row["lead"]["lead"] == run(grid).difference("Popularity", "Random").difference
    assert row["split"] == "temporal 0.2"
    assert rows_of_the_future(table, split="temporal 0.2") == []  # it is the reader's own


def test_where_there_is_no_future_the_row_says_why():
    (row,) = rows_of_the_future(timed().drop(columns="timestamp"))
    assert "values" not in row
    assert "timestamps" in row["reason"]
    (split,) = dataset_splits(load_dataset(timed()), "ratio 0.5", seed=1)
    every = pd.MultiIndex.from_product([split.test.user_ids, split.test.item_ids])
    scores = pd.DataFrame([*every], columns=["user_id", "item_id"]).assign(score=1.0)
    mine = as_system(FromScores(scores)).replace("mine")
    (row,) = rows_of_the_future(timed(), (mine, PAIR[1]))
    assert row["reason"] == "the scores of mine are of your own split alone"


def test_baselines_are_named_and_tested_against_each(audited):
    asks = Comparison(WORLD, PAIR, own_design(load_dataset(WORLD), split="ratio 0.5"))
    rivals = [System("Random", "Random"), System("Average rating", "AverageRating")]
    best, values, rows = comparison.strongest(asks, rivals)
    assert [row["baseline"] for row in rows] == sorted(values, key=values.get, reverse=True)
    assert best.name == rows[0]["baseline"]
    assert [row["p_holm"] for row in rows] == pytest.approx([*holm([row["p"] for row in rows])])
    record = {**audited.record, "baselines": {**values, "none": None}, "against": rows}
    text = page_of(record)
    assert "Popularity beats Random, the best of 3 baselines" in text
    assert "p, corrected for 2 (Holm)" in text
    assert "the best of" not in page_of(audited.record)


# ---- the reader's own design comes first


def test_the_own_design_is_where_changes_are_counted_from():
    dataset = load_dataset(WORLD)
    design = own_design(
        dataset,
        "TI-AN-AR rel>=5 condensed users=tested coverage=reduced",
        "nDCG(exp)@5",
        "ratio 0.3",
    )
    options = around(design, dataset, trainable=True, whole_lists=True)
    first = {decision: texts[0] for decision, texts in options.items()}
    found = universes(WORLD, *PAIR, {d: (t,) for d, t in first.items()})
    canonical = design.canonical(dataset.ratings.scale)
    assert found.table["options"].tolist() == [str(canonical)]


def test_scores_of_others_leave_what_is_trained_on_alone():
    dataset = load_dataset(WORLD)
    options = around(own_design(dataset), dataset, trainable=False, whole_lists=False)
    assert options["A1"] == ("",)
    assert options["A2"] == ("split: k-fold 5",)
    assert options["C1"] == ("AI-AN-AR",)
    assert not {"metric: AUC", "metric: RBP(0.8)"} & set(options["C2"])


# ---- the page


class _Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.addresses = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.addresses += [value for name, value in attrs if name in ("src", "href")]


def test_the_page_asks_for_nothing(audited):
    page = _Page(page_of(audited.record))
    assert "script" not in page.tags
    assert all(address.startswith("#") for address in page.addresses)
    assert "http" not in page_of(audited.record).replace("http-equiv", "")


def test_names_are_text_whatever_they_look_like(audited):
    evil = "<script>alert(1)</script>"
    record = json.loads(json.dumps(audited.record).replace('"Popularity"', f'"{evil}"'))
    text = page_of({**record, "items": [{"item": evil, "gives": 0.1}]})
    assert "script" not in _Page(text).tags
    assert text.count("&lt;script&gt;") > 5


def test_what_is_undefined_is_null_in_json(audited, tmp_path):
    audited.save(tmp_path / "found.html")
    text = (tmp_path / "found.json").read_text()
    assert "NaN" not in text
    again = json.loads(text)
    assert page_of(again) == (tmp_path / "found.html").read_text()


@pytest.mark.slow
def test_the_same_audit_again_is_the_same_file(audited, tmp_path):
    again = audit(WORLD, *PAIR, split="ratio 0.5", options=FEW, workers=2)
    assert json.dumps(again.record) == json.dumps(audited.record)


# ---- the command, with a table that nobody has seen and scores from plain pandas


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    """A folder with visits.csv of a scale of its own, its folds, and scores of them."""
    folder = tmp_path_factory.mktemp("shop")
    rng = np.random.default_rng(3)
    likes = rng.gamma(1.0, size=40)
    rows = [
        (f"guest {u}", f"<b>dish {i}</b>", int(np.clip(rng.normal(6 + 3 * (i % 3 - 1), 2), 0, 10)))
        for u in range(60)
        for i in rng.choice(40, 18, replace=False, p=likes / likes.sum())
    ]
    table = pd.DataFrame(rows, columns=["guest", "dish", "marks"])
    table.to_csv(folder / "visits.csv", index=False)
    return folder


def _recbias(*arguments):
    return CliRunner().invoke(main, list(map(str, arguments)))


COLUMNS = ("--user", "guest", "--item", "dish", "--rating", "marks")


@pytest.fixture(scope="module")
def scored(shop):
    table, folds = shop / "visits.csv", shop / "folds"
    split = _recbias("data", "split", table, *COLUMNS, "--split", "k-fold 3", "--out", folds)
    assert split.exit_code == 0, split.output
    for fold in sorted(folds.glob("fold-*")):
        train = pd.read_csv(fold / "train.csv")
        rated = train.columns[2]
        means = train.groupby("item_id")[rated].mean() * np.log1p(train.groupby("item_id").size())
        pairs = [(user, item, s) for user in train["user_id"].unique() for item, s in means.items()]
        scores = pd.DataFrame(pairs, columns=["user_id", "item_id", "score"])
        scores.to_csv(fold / "scores.csv", index=False)
    return table, folds


def first_two_metrics(*given, **named):
    options = around(*given, **named)
    return {decision: texts[: 1 + (decision == "C2")] for decision, texts in options.items()}


@pytest.mark.slow
def test_scores_of_plain_pandas_from_another_folder(scored, tmp_path, monkeypatch):
    table, folds = scored
    monkeypatch.setattr(auditing, "around", first_two_metrics)  # all options are tried below
    out = tmp_path / "page.html"
    found = _recbias(
        "audit", table, *COLUMNS, "--a", f"mine={folds}", "--b", "Random", "--out", out
    )
    assert found.exit_code in (0, 3, 4), found.output
    record = json.loads(out.with_suffix(".json").read_text())
    assert (
        found.exit_code == {"holds": 0, "does not hold": 3, "open": 4}[record["sentence"]["answer"]]
    )
    assert "split: k-fold 3" in record["own"]["options"]
    assert record["sentence"]["a"] == "mine"
    assert record["sentence"]["exit code"] == found.exit_code
    warned = [line for line in found.output.splitlines() if line.startswith("warning: ")]
    assert warned == [f"warning: {each['name']}: {each['evidence']}"
                      for each in record["signals"] if each["fires"]]  # fmt: skip
    assert record["seeds"] == []
    assert out.read_text().count("<h2") >= 7


@pytest.mark.slow
def test_a_sentence_that_is_turned_round_does_not_hold(scored, tmp_path):
    table, folds = scored
    out = tmp_path / "page.html"
    found = _recbias(
        "audit", table, *COLUMNS, "--a", "Random", "--b", f"mine={folds}", "--out", out
    )
    assert found.exit_code in (0, 3, 4), found.output
    record = json.loads(out.with_suffix(".json").read_text())
    assert found.exit_code == 3
    assert record["sentence"]["answer"] == "does not hold"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--a", "Popularity"], "either --b SIDE, or --baselines"),
        (
            ["--a", "Popularity", "--b", "Nonsense", "--b", "Random"],
            "--b is given 2 times: Nonsense, Random",
        ),
        (["--a", "Popularity", "--a", "Random", "--b", "Random"], "--a is given 2 times"),
        (["--a", "Popularity", "--b", "Popularity"], "both sides are called Popularity"),
        (["--a", "Popularity", "--b", "Nobody"], "Nobody: neither a file or folder"),
        (["--a", "no/such/folder", "--b", "Random"], "no file or folder no/such/folder"),
        (["--a", "absent_module:Mine", "--b", "Random"], "no module absent_module"),
        (["--a", "Popularity", "--b", "Random", "--metric", "ARP@10"], "nobody wins by it"),
        (["--a", "Popularity", "--b", "Random", "--out", "page.pdf"], "ends in .html"),
    ],
)
def test_what_cannot_run_is_said_in_a_line_and_nothing_is_written(
    arguments, said, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    found = _recbias("audit", "synthetic", *arguments)
    assert found.exit_code == 2
    assert said in found.output
    assert len(found.output.strip().splitlines()) <= 4
    assert not list(tmp_path.iterdir())


def test_a_metric_of_nobody_is_refused_before_anything_is_trained():
    with pytest.raises(ConfigError, match="users cannot be compared"):
        own_design(load_dataset(WORLD), metric="Coverage@10")


def test_folds_of_other_data_are_refused(scored, tmp_path):
    _, folds = scored
    other = load_dataset(WORLD)
    assert len(dataset_splits(other, "k-fold 3", seed=1)) == 3
    found = _recbias("audit", WORLD, "--a", f"mine={folds}", "--b", "Random", "--out",
                     tmp_path / "page.html")  # fmt: skip
    assert found.exit_code == 2
    assert re.search(r"fold|training", found.output)
    assert not list(tmp_path.iterdir())


def test_numbers_of_json_are_finite_or_null(audited):
    def numbers(value):
        if isinstance(value, dict):
            for each in value.values():
                yield from numbers(each)
        elif isinstance(value, list):
            for each in value:
                yield from numbers(each)
        elif isinstance(value, float):
            yield value

    assert all(map(math.isfinite, numbers(audited.record)))


# ---- several side by side


def test_audits_side_by_side(audited, tmp_path):
    audited.save(tmp_path / "one.html")
    said = next(each for each in EXIT_CODES if each != audited.answer)
    turned = Audit({**audited.record, "sentence": {**audited.record["sentence"], "answer": said}})
    turned.save(tmp_path / "other.html")
    out = tmp_path / "both.html"
    found = _recbias(
        "audit", "--compare", tmp_path / "one.json", tmp_path / "other.json", "--out", out
    )
    assert found.exit_code == 0, found.output
    text = out.read_text()
    assert text.count("<tr>") == 3
    assert audited.answer in text
    assert turned.answer in text


@pytest.mark.parametrize("place", ["users activity 0 third", "seeds 0 seed", "sentence design"])
def test_a_record_of_another_hand_runs_nothing_and_is_read_or_named(audited, tmp_path, place):
    """As names stand where numbers do, numbers are too large, and parts are missing."""
    *to, last = [int(step) if step.isdigit() else step for step in place.split()]
    file = tmp_path / "theirs.json"
    for value in ("<script>", 10**400, None, []):
        record = json.loads(json.dumps(audited.record))
        record["seeds"] = [{"seed": 1, "lead": record["own"]["lead"]}]
        functools.reduce(operator.getitem, to, record)[last] = value
        file.write_text(json.dumps(record))
        with contextlib.suppress(StoreError):
            assert "<script>" not in page_of(read_audit(file)) + side_by_side([read_audit(file)])
    file.write_text(json.dumps({**audited.record, "designs": []}))
    with pytest.raises(StoreError, match="not the record of an audit"):
        read_audit(file)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 99}', '{"format": 1}', "[" * 10**5])
def test_what_is_no_audit_is_named(text, tmp_path):
    file = tmp_path / "strange.json"
    file.write_text(text)
    found = _recbias("audit", "--compare", file, "--out", tmp_path / "both.html")
    assert found.exit_code == 2
    assert "strange.json" in found.output
    assert not (tmp_path / "both.html").exists()
