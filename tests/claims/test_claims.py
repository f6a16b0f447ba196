import dataclasses
import importlib
import json
import math
import subprocess
import sys
from itertools import cycle

import pytest
import yaml
from click.testing import CliRunner

import recbias.book.chapters
import recbias.claims
import recbias.experiment.makers
import recbias.experiment.results
from golden_functions import called, records_of
from recbias.book.cards import verdict_cards
from recbias.book.chapters.design_alternatives import figures, setup
from recbias.book.html import typeset
from recbias.book.notebooks import list_chapters
from recbias.claims import (
    NOT_TESTABLE,
    TOPICS,
    VERDICTS,
    chapters,
    claims,
    explain_claim,
    judge,
    judge_chapter,
    load_chapter,
    scorecard,
)
from recbias.claims.assertions import assertion_standing
from recbias.claims.checks import IDENTITIES, Check, Checks
from recbias.claims.evidence import Evidence, NotComputed, axis_labels
from recbias.claims.expressions import Call, walk
from recbias.claims.judging import scorecards
from recbias.claims.lock import criterion_digest, lock_file, locked_criteria
from recbias.claims.reading import assertion_totals, totals
from recbias.claims.records import criteria_of
from recbias.claims.topics import find_judged
from recbias.claims.writing import build
from recbias.cli.commands import main
from recbias.errors import ConfigError, StoreError
from recbias.experiment.makers import find_maker, maker
from recbias.experiment.results import SIMULATIONS, load_result, recorded_datasets
from recbias.experiment.verification import renew_manifest

TOPIC = "design alternatives"
CHAPTER = setup.CHAPTER
BY_ID = {claim.id: claim for claim in claims()}


def test_claims_without_experiment_are_not_yet():
    assert judge(BY_ID["BCC17-F2A"], {}).verdict == "not yet"
    assert judge_chapter("sparsity bias", {})[0].verdict == "not yet"
    with pytest.raises(ConfigError, match="unknown chapter topic"):
        judge_chapter("sparsity", {})


# -- chapters ----------------------------------------------------------------------------------

WRITTEN = [topic for topic, name in chapters().items() if name]


@pytest.mark.parametrize("topic", WRITTEN)
def test_a_chapter_has_a_criterion_for_each_claim(topic):
    own = {claim.id: claim for claim in claims() if claim.topic == topic}
    judged = find_judged(topic)
    assert set(criteria_of(topic)) == set(own)
    assert judged.chapter in {found.name for found in list_chapters()}
    named = set().union(*(called(record, judged) for _, _, record in records_of(topic)))
    assert named == {*judged.functions, *judged.views}


@pytest.mark.parametrize("topic", WRITTEN)
def test_every_assertion_is_a_part_or_says_why_not(topic):
    own = {claim.id: claim for claim in claims() if claim.topic == topic}
    for claim_id, criterion in criteria_of(topic).items():
        asserts = own[claim_id].asserts
        named = {number for record in criterion.records for number in record.asserts}
        assert named | set(criterion.elsewhere) <= set(range(1, len(asserts) + 1)), claim_id
        assert not named & set(criterion.elsewhere), claim_id
        assert set(criterion.elsewhere.values()) <= set(BY_ID), claim_id
        silent = [
            number
            for number, assertion in enumerate(asserts, 1)
            if number not in named and number not in criterion.elsewhere and not assertion.unchecked
        ]
        assert not silent, f"{claim_id}: assertions {silent} are no part and say nothing"


@pytest.mark.slow
def test_assertions_are_counted_by_chapter():
    counts = assertion_totals(build({"ml-1m": scorecard("ml-1m")}))
    assert set(counts) == set(TOPICS)
    assert sum(row["all"] for row in counts.values()) == sum(len(c.asserts) for c in claims())
    assert counts[TOPIC]["judged"] > counts[TOPIC]["open"]
    assert all(row["open"] == 0 for row in counts.values())
    standings = {assertion_standing(BY_ID["BCC17-F3L"], number) for number in (1, 4, 6)}
    assert standings == {"judged"}, "two of them under another claim"


def test_chapter_1_is_written():
    assert chapters()[TOPIC] == CHAPTER


def test_the_page_shows_the_table_that_is_checked():
    """The check of Table 1 looks at what this call gives."""
    (page,) = (found for found in list_chapters() if found.name == CHAPTER)
    assert "pages.task_table()" in page.source.read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_fresh_process_knows_what_made_every_recorded_result():
    """What a notebook imports is not imported where results are only read."""
    program = (
        "from recbias.claims import chapters\n"
        "from recbias.experiment.results import load_result, recorded_datasets\n"
        "from recbias.experiment.results import results_dir, stored_results\n"
        "chapters()\n"
        "for name in recorded_datasets(simulations=True):\n"
        "    for path in stored_results(results_dir(name, recorded=True)).values():\n"
        "        load_result(path, dataset=name)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_what_judges_loads_nothing_that_takes_long():
    """Every page and most commands do, in a process of their own; twin: what loads it then."""
    slow = "'scipy.stats', 'scipy.optimize', 'matplotlib'"
    loaded = f"print(*(name for name in ({slow}) if name in sys.modules))\n"
    program = (
        "import sys\n"
        "from recbias.claims import chapters\n"
        "chapters()\n"
        f"{loaded}"
        "import scipy.stats\n"
        f"{loaded}"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    judging, after = done.stdout.splitlines()
    assert not judging, judging
    assert "scipy.stats" in after


# -- verdicts on the recorded results ----------------------------------------------------------


@pytest.fixture(scope="module", params=recorded_datasets(CHAPTER))
def recorded(request):
    return dict(load_chapter(CHAPTER, request.param))


@pytest.fixture(scope="module")
def verdicts(recorded):
    return {verdict.claim.id: verdict for verdict in judge_chapter(TOPIC, recorded)}


def test_there_are_recorded_results():
    assert "ml-1m" in recorded_datasets(CHAPTER)


def test_every_verdict_is_one_of_six_and_reasons_are_given(verdicts):
    for verdict in verdicts.values():
        assert verdict.verdict in VERDICTS
        assert verdict.verdict != "not yet", verdict.reason
        if verdict.verdict == "not testable here":
            assert verdict.reason in NOT_TESTABLE
        else:
            assert verdict.parts
            assert all(part.read for part in verdict.parts if not part.lacks)


def test_theorems_and_definitions_hold_but_for_what_the_paper_misprints(verdicts, recorded):
    exact = [v for v in verdicts.values() if v.claim.kind != "empirical"]
    failing = {
        (verdict.claim.id, number)
        for verdict in exact
        for part in verdict.parts
        if part.record.decides and part.verdict == "refuted" and part.estimate is not None
        for number in part.record.asserts
    }
    of_setup = {(claim, number) for claim, number in failing if claim == "BCC17-SETUP"}
    assert bool(of_setup) == (recorded["systems"].dataset["name"] != "ml-1m")
    # Remarks beside the mathematics, which only a measurement can tell: they may fail on some data.
    remarks = {("BCC17-L1", 5), ("BCC17-L1", 6)}
    remarks |= {("BCC17-C-THETA", number) for number in (3, 4, 6)}
    misprinted = {("BCC17-L1-PROOF", 3), ("BCC17-D-RELV", 4)}
    assert failing - of_setup - remarks == misprinted
    assert verdicts["BCC17-L1-PROOF"].verdict == "no"
    assert verdicts["BCC17-L1-PROOF"].corrected == "yes"


RECORDED_LATER = {"coat"}
"""Data sets that had no verdict to quote when criteria of this chapter were replaced."""


def test_what_was_replaced_quotes_the_verdicts_that_are_there_now(verdicts, recorded):
    name = recorded["systems"].dataset["name"]
    for claim_id, criterion in locked_criteria(TOPIC).items():
        for last in criterion.replaced[-1:]:
            if name in last.verdicts or name not in RECORDED_LATER:
                assert last.verdicts[name][1] == verdicts[claim_id].strict, claim_id


def test_data_without_negatives_cannot_test_a_ranking_of_test_ratings(recorded):
    implicit = {
        name: dataclasses.replace(each, dataset={**each.dataset, "feedback": "implicit"})
        for name, each in recorded.items()
    }
    verdict = judge(BY_ID["BCC17-C-RTEST"], implicit)
    assert (verdict.verdict, verdict.reason) == ("not testable here", "no negatives")


def test_a_claim_about_other_data_is_not_testable_here(recorded):
    verdict = judge(BY_ID["BCC17-F2B"], recorded)
    assert (verdict.verdict, verdict.reason) == ("not testable here", "dataset not here")
    assert verdict.origin == "recorded"


@pytest.mark.parametrize(
    ("dataset", "name"),
    [*zip(recorded_datasets(CHAPTER), cycle(("systems", "grid", "lemma", "checks")), strict=False)],
)
def test_missing_results_are_named(dataset, name):
    left = {other: each for other, each in load_chapter(CHAPTER, dataset).items() if other != name}
    found = {verdict.claim.id: verdict for verdict in judge_chapter(TOPIC, left)}
    missing = [v for v in found.values() if v.verdict == "not yet"]
    assert missing
    for verdict in missing:
        assert verdict.reason.startswith("its results are missing: ")
        assert name in verdict.reason


def test_an_order_of_systems_with_one_training_seed_is_open(recorded):
    systems = recorded["systems"]
    single = tuple(dataclasses.replace(each, n_seeds=1) for each in systems.grid.systems)
    grid = dataclasses.replace(systems.grid, systems=single)
    hurried = {**recorded, "systems": dataclasses.replace(systems, grid=grid)}
    for part in judge(BY_ID["BCC17-F2A"], hurried).parts[:5]:
        assert part.verdict == "open"
        assert "trained with one seed only" in part.unsure
    # A system that is compared with itself only needs no other seed.
    assert not any(part.unsure for part in judge(BY_ID["BCC17-C-RTEST"], hurried).parts)


def test_what_is_combined_was_measured_and_nothing_else_is_kept(recorded):
    systems, stars, lemma = (recorded[name] for name in ("systems", "stars", "lemma"))
    assert set(systems.grid.replicates) == set(setup.combined(10, 100))
    assert not stars.replicates
    assert {metric for _, metric in lemma.grid.replicates} == {"P@10", "lower@10", "upper@10"}
    with pytest.raises(ConfigError, match="were not kept"):
        systems["Random", "all-1R", "lower@10|t=100"] - systems["Random", "AR", "rho"]


def test_results_of_another_kind_are_refused_by_name(recorded):
    mixed = {**recorded, "systems": recorded["checks"]}
    with pytest.raises(ConfigError, match="'systems': checks is stored under this name"):
        judge(BY_ID["BCC17-C-RTEST"], mixed)
    with pytest.raises(ConfigError, match="'checks': grid is stored under this name"):
        judge(BY_ID["BCC17-T1"], {**recorded, "checks": recorded["systems"]})


def test_a_criterion_may_read_several_editions(recorded):
    parts = judge(BY_ID["BCC17-C-RANGE"], recorded).parts
    (across,) = (part for part in parts if 3 in part.record.asserts)
    assert {reading.edition for reading in across.read} == {
        "ml-1m", "ml-100k", "ml-latest-small",
    }  # fmt: skip
    for reading in across.read:
        other = load_chapter(CHAPTER, reading.edition)["systems"]
        assert reading.value == other["Popularity", "AR", "P@10"].value


def test_settings_of_a_reading_are_in_the_grid_of_the_page(recorded):
    names = set(recorded["grid"].systems)
    for reading in setup.READINGS:
        mf, knn = setup.reading_settings(reading)
        assert {*mf, *knn} <= names
        share = setup.grid_share(recorded["grid"], "AR", reading)
        assert (share.value * len(mf) * len(knn)) == pytest.approx(
            round(share.value * len(mf) * len(knn))
        )


def _value(results, *names):
    return results[names].value


def test_figures_show_what_was_measured(recorded):
    lemma, grid = recorded["lemma"], recorded["grid"]
    rows = figures.gaps(lemma).rows
    labels = axis_labels(lemma.grid, "size")
    sizes = rows[rows["panel"] == "size of the target set"].set_index(["line", "at"])
    assert len(sizes) == len(lemma.systems) * len(labels)
    for (system, size), row in sizes.iterrows():
        names = (("lower bound", "lower@10"), ("1RP", "P@10"), ("upper bound", "upper@10"))
        ends = [_value(lemma, system, labels[size], metric) for _, metric in names]
        assert [row[name] for name, _ in names] == ends
        assert row["value"] == (ends[2] - ends[0]) / ends[1]
    rows = figures.settings(grid).rows.set_index("system")
    for names in setup.reading_settings("ranking"):
        for name in names:
            assert rows.loc[name, "value"] == _value(grid, name, "AR", "P@10")


# -- checks as stored results ------------------------------------------------------------------


@pytest.fixture
def known_makers():
    """Makers that a test registers are forgotten after it, not those of chapters it imports."""
    yield
    ours = ("made up/", "02_made_up/")
    for name in [name for name in recbias.experiment.makers._MAKERS if name.startswith(ours)]:
        del recbias.experiment.makers._MAKERS[name]
    recbias.experiment.results._KINDS.pop("note", None)


def test_while_results_are_recorded_stale_ones_are_absent(tmp_path, monkeypatch, known_makers):
    recorded, name = tmp_path / "recorded", "made up/aged"
    monkeypatch.setenv("RECBIAS_RESULTS", str(tmp_path / "live"))
    monkeypatch.setattr("recbias.experiment.results.recorded_results", lambda root: recorded)

    @maker("made up", Checks, name="aged")
    def age(dataset):
        return [Check("BCC17-T2", "t", "deviation", 3, 0.0)], {}

    @maker("made up", Checks, name="ageless")
    def stay(dataset):
        return [Check("BCC17-T2", "t", "deviation", 3, 0.0)], {}

    for made in (age, stay):
        made("synthetic").save(recorded / "synthetic" / made.name)
    renew_manifest(recorded)
    assert load_chapter("made up", "synthetic").keys() == {"aged", "ageless"}

    newer = dataclasses.replace(age, revision=2)
    monkeypatch.setitem(recbias.experiment.makers._MAKERS, name, newer)
    with pytest.raises(StoreError, match="by another revision of the code"):
        load_chapter("made up", "synthetic")
    monkeypatch.setenv("RECBIAS_RECORDING", "0")
    with pytest.raises(StoreError, match="by another revision of the code"):
        load_chapter("made up", "synthetic")
    monkeypatch.setenv("RECBIAS_RECORDING", "1")
    assert load_chapter("made up", "synthetic").keys() == {"ageless"}
    newer("synthetic", name=name)
    assert load_chapter("made up", "synthetic")["aged"].origin == "live"

    (recorded / "synthetic" / "made up" / "ageless.json").unlink()  # lost: renewed as well
    assert load_chapter("made up", "synthetic").keys() == {"aged"}
    monkeypatch.setenv("RECBIAS_RECORDING", "0")
    with pytest.raises(StoreError, match="its results are missing: ageless"):
        load_chapter("made up", "synthetic")


def test_checks_are_recomputed_and_what_differs_is_named(tmp_path, monkeypatch, known_makers):
    monkeypatch.setenv("RECBIAS_RESULTS", str(tmp_path))
    rows = [Check("BCC17-T2", "t", "deviation", 3, 0.0), Check("BCC17-T2", "rho", "count", 2, 0.5)]
    found = {"checks": rows, "statistics": {"rho": 0.5}}

    @maker("made up", Checks, name="checks")
    def compute(dataset, *, worst):
        return found["checks"], found["statistics"]

    find_maker("made up/checks")("synthetic", worst=5.0, name="made up/checks")
    stored = load_result(tmp_path / "synthetic" / "made up" / "checks")
    assert stored.rows == tuple(rows)
    assert stored.given == {"worst": 5}
    same = stored.verify(stored.recompute())
    assert (same.n_values, same.differing) == (7, ())
    assert stored.verify(stored.recompute(systems=2)) == same, "it has no part"

    def differing(**change):
        with monkeypatch.context() as patched:
            for name, value in change.items():
                patched.setitem(found, name, value)
            return stored.verify(stored.recompute()).differing

    def first(**change):
        return [dataclasses.replace(rows[0], **change), rows[1]]

    more = [*rows, Check("BCC17-T1", "rows", "more", 1, 0.0)]
    whole = "what, n_checked, worst"
    assert differing(checks=first(worst=1e-10)) == ()
    assert differing(checks=first(worst=1e-3)) == ("BCC17-T2 t: worst",)
    assert differing(checks=first(n_checked=4)) == ("BCC17-T2 t: n_checked",)
    assert differing(checks=first(what="other")) == ("BCC17-T2 t: what",)
    assert differing(checks=rows[1:]) == (f"BCC17-T2 t: {whole}",)
    assert differing(checks=more) == (f"BCC17-T1 rows: {whole}",)
    assert differing(checks=[])
    assert differing(statistics={"rho": 0.5 + 1e-7}) == ()
    assert differing(statistics={"rho": 0.5 + 1e-5}) == ("statistics rho: value",)
    assert differing(statistics={"rho": math.nan}) == ("statistics rho: value",)
    assert differing(statistics={}) == ("statistics rho: value",)


def test_checks_of_unknown_claims_are_refused(known_makers):
    @maker("made up", Checks, name="strangers")
    def compute(dataset):
        return [Check("BCC17-NONE", "t", "deviation", 3, 0.0)], {}

    with pytest.raises(ConfigError, match=r"the ledger lacks: \['BCC17-NONE'\]"):
        find_maker("made up/strangers")("synthetic")


def test_checks_are_found_by_name_and_names_are_unique(known_makers):
    rows = [Check("BCC17-T2", "t", "size", 3, 0.0), Check("BCC17-T1", "t", "rows", 8, 1.0)]

    @maker("made up", Checks, name="names")
    def compute(dataset, *, twice):
        return rows * (1 + twice), {}

    found = find_maker("made up/names")("synthetic", twice=0)
    assert found["BCC17-T1", "t"] == rows[1]
    assert found.about("BCC17-T2") == rows[:1]
    with pytest.raises(ConfigError, match="unknown check of BCC17-T2 'rho'"):
        found["BCC17-T2", "rho"]
    with pytest.raises(ConfigError, match="no check of BCC17-T3"):
        found["BCC17-T3", "t"]
    with pytest.raises(ConfigError, match="two checks of one name: BCC17-T1 t, BCC17-T2 t"):
        find_maker("made up/names")("synthetic", twice=1)
    with pytest.raises(ConfigError, match="'Lower bound' of BCC17-L1: expected lower-case words"):
        Check("BCC17-L1", "Lower bound", "lower bound", 1, 0.0)


# -- a chapter from outside --------------------------------------------------------------------

MADE_UP = """
from recbias.claims.checks import Check, Checks
from recbias.claims.functions import in_scope
from recbias.experiment.makers import maker

CHAPTER = "02_made_up"


@maker("02_made_up", Checks, name="checks")
def compute(dataset, *, limit):
    return [Check("BCC17-T2", "users", "users", 1, dataset.ratings.n_users - limit)], {}


@maker("02_made_up", Checks, name="simulated")
def simulate(*, worst):
    return [Check("BCC17-T2", "users", "users", 1, worst)], {}


@in_scope
def few(scope):
    return scope.evidence.check("BCC17-T2", "users").worst


FUNCTIONS = {"few": few}
"""

MADE_UP_CRITERIA = {
    "MADE-UP": {
        "parts": [
            {"finds": "{value} users", "value": "few()", "most": 0, "asserts": 1},
        ]
    }
}  # fmt: skip


@pytest.fixture
def made_up(tmp_path, monkeypatch, known_makers):
    """A claim on a topic that no chapter of the package has, and a module that judges it."""
    (tmp_path / "a_made_up_topic.py").write_text(MADE_UP)
    folder = tmp_path / "published" / "criteria"
    folder.mkdir(parents=True)
    (folder / "a_made_up_topic.yaml").write_text(yaml.dump(MADE_UP_CRITERIA))
    locks = {"MADE-UP": [criterion_digest(MADE_UP_CRITERIA["MADE-UP"]["parts"])]}
    known = json.loads(lock_file().read_text())
    (folder / "lock.json").write_text(json.dumps({**known, **locks}))
    packaged = recbias.claims.records.packaged

    def found(name):
        here = tmp_path / name
        return here if here.is_file() else packaged(name)

    for module in ("records", "lock"):
        monkeypatch.setattr(f"recbias.claims.{module}.packaged", found)
    for cached in (criteria_of, locked_criteria, recbias.claims.lock._locks):
        cached.cache_clear()
    claim = dataclasses.replace(
        claims()[0], id="MADE-UP", topic="a made up topic", asserts=(), core=(), disputed=()
    )
    monkeypatch.setattr(
        recbias.book.chapters, "__path__", [*recbias.book.chapters.__path__, str(tmp_path)]
    )
    monkeypatch.setattr("recbias.claims.topics.TOPICS", (*TOPICS, claim.topic))
    monkeypatch.setattr("recbias.claims.judging.claims", lambda: (*claims(), claim))
    monkeypatch.setenv("RECBIAS_RESULTS", str(tmp_path / "results"))
    importlib.invalidate_caches()
    yield claim
    for cached in (criteria_of, locked_criteria, recbias.claims.lock._locks):
        cached.cache_clear()
    sys.modules.pop("recbias.book.chapters.a_made_up_topic", None)
    monkeypatch.delattr(recbias.book.chapters, "a_made_up_topic", raising=False)


def test_a_chapter_is_added_without_a_line_in_the_package(made_up):
    assert chapters()[made_up.topic] == "02_made_up"
    name = "02_made_up/checks"
    for limit, verdict in ((943, "yes"), (942, "no")):
        find_maker(name)("synthetic", limit=limit, name=name)
        (found,) = judge_chapter(made_up.topic, load_chapter("02_made_up", "synthetic"))
        assert (found.claim, found.verdict, found.origin) == (made_up, verdict, "live")
    assert [v.verdict for v in scorecard("synthetic") if v.claim is made_up] == ["no"]


def test_a_simulated_claim_reads_what_belongs_to_no_edition(made_up, tmp_path, monkeypatch):
    assert chapters()[made_up.topic] == "02_made_up"
    simulated = dataclasses.replace(made_up, simulation=True)
    monkeypatch.setattr("recbias.claims.judging.claims", lambda: (*claims(), simulated))
    (nowhere,) = judge_chapter(made_up.topic, {})
    assert nowhere.verdict == "not yet"
    name = "02_made_up/simulated"
    made = find_maker(name)(worst=0.0, name="02_made_up/checks")
    assert made.verify(made.recompute()).differing == ()
    for results in ({}, {"checks": "of any edition"}):
        (found,) = judge_chapter(made_up.topic, results)
        assert (found.verdict, found.origin) == ("yes", "live")
    find_maker(name)(worst=1.0, name="02_made_up/checks")
    (found,) = judge_chapter(made_up.topic, {})
    assert found.verdict == "no"


def test_a_changed_criterion_stops_judging(made_up, tmp_path):
    file = tmp_path / "published" / "criteria" / "a_made_up_topic.yaml"
    file.write_text(file.read_text().replace("most: 0", "most: 1"))
    criteria_of.cache_clear()
    with pytest.raises(ConfigError, match="MADE-UP: its criterion was changed after it was locked"):
        judge_chapter(made_up.topic, {})


def test_a_kind_of_results_is_added_from_outside(tmp_path, monkeypatch, known_makers):
    monkeypatch.setenv("RECBIAS_RESULTS", str(tmp_path))

    @recbias.experiment.results.register_kind
    @dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
    class Note(recbias.experiment.makers.Made):
        kind = "note"
        text: str

        @classmethod
        def of(cls, content, **context):
            return cls(text=content, **context)

        def body(self):
            return {"text": self.text}

        @classmethod
        def restore(cls, parameters, body, arrays, **context):
            made = {"maker_name": parameters["maker"], "given": parameters["given"]}
            return cls(text=body["text"], **made, **context)

        def verify(self, fresh):
            differing = () if fresh.text == self.text else ("text",)
            return recbias.experiment.results.Agreement(1, 0.0, 0.0, differing)

    @maker("made up", Note, name="note")
    def write(dataset, *, word):
        return f"{word} {dataset.name}"

    name = "made up/note"
    find_maker(name)("synthetic", word="of", name=name)
    stored = load_chapter("made up", "synthetic")["note"]
    assert isinstance(stored, Note)
    assert stored.text == "of synthetic"
    assert stored.verify(stored.recompute()).differing == ()
    assert stored.verify(dataclasses.replace(stored, text="?")).differing == ("text",)
    recbias.experiment.results._KINDS.pop("note")
    with pytest.raises(StoreError, match="results of kind 'note', known are"):
        load_chapter("made up", "synthetic")


def test_without_its_module_a_chapter_is_not_written(made_up, tmp_path):
    (tmp_path / "a_made_up_topic.py").unlink()
    importlib.invalidate_caches()
    assert chapters()[made_up.topic] is None
    assert judge(made_up, {"checks": None}).verdict == "not yet"


# -- what readers see --------------------------------------------------------------------------


@pytest.mark.slow
def test_the_scorecard_lists_all_claims_and_totals_classes_apart():
    verdicts = scorecard("ml-1m")
    document = build({"ml-1m": verdicts})
    table = totals(document, "ml-1m")
    assert sum(row["all"] for row in table.values()) == len(claims())
    without = [claim for claim in claims() if not claim.asserts]
    assert {claim.id for claim in without} >= {"ATM15-C-POP", "TOIS21-F9"}
    assert table["no assertion of a paper"]["all"] == len(without)
    strict = totals(document, "ml-1m", strict=True)
    assert [row["all"] for row in strict.values()] == [row["all"] for row in table.values()]
    assert strict["empirical"]["yes"] < table["empirical"]["yes"]
    measured = {topic for topic in WRITTEN if load_chapter(chapters()[topic], "ml-1m")}
    assert TOPIC in measured
    # By all parts alike: a claim without a core part of its own waits for one.
    open_ones = {v.claim.id for v in verdicts if v.strict == "not yet"}
    assert open_ones == {claim.id for claim in claims() if claim.topic not in measured}


def test_a_scorecard_of_an_unknown_dataset_is_refused():
    with pytest.raises(ConfigError, match="did you mean 'ml-1m'"):
        scorecard("ml1m")


def test_a_table_of_ones_own_has_a_scorecard_without_results_and_with_those_of_a_chapter():
    def load(chapter, dataset):
        return load_chapter(setup.CHAPTER, "ml-100k") if chapter == setup.CHAPTER else {}

    (empty,) = scorecards(["/tables/mine.csv"], lambda *_: {}).values()
    assert {each.verdict for each in empty if not each.claim.simulation} == {"not yet"}
    (one,) = scorecards(["mine"], load).values()
    found = {each.claim.topic for each in one if each.verdict in ("yes", "partly", "no")}
    assert found >= {"design alternatives"}


def test_cards_show_every_part_and_escape_text(verdicts):
    cards = verdict_cards(list(verdicts.values()))
    assert cards.count('class="claim"') == len(verdicts)
    assert "<script" not in cards
    for verdict in verdicts.values():
        assert f'id="{verdict.claim.id.lower()}"' in cards
        for part in verdict.parts:
            if part.estimate is not None:
                assert typeset(part.finding) in cards


def test_what_is_refuted_comes_first(verdicts):
    for verdict in verdicts.values():
        if verdict.verdict == "partly":
            card = verdict_cards([verdict])
            assert card.index("verdict refuted") < card.index("verdict holds")


def test_an_explanation_has_record_parts_readings_and_files():
    text = explain_claim("BCC17-F2A", "ml-1m")
    for expected in (
        "verdict     ",
        "pilot seen",
        "data/recorded/ml-1m/01_design_alternatives/systems.json",
        "smallest(P[AR] of pLSA - P[AR]); over Popularity, MF",
        "in words  the smallest of P under AR of pLSA minus P under AR",
        "systems: P@10 of pLSA under AR = ",
        "more than 0",
        "because   about practice",
        "until 2026-11-21",
    ):
        assert expected in text, expected
    told = CliRunner().invoke(main, ["claims", "--explain", "BCC17-F2A", "--dataset", "ml-1m"])
    assert told.output.strip() == text.strip()
    with pytest.raises(ConfigError, match="unknown claim 'BCC17-F2'"):
        explain_claim("BCC17-F2", "ml-1m")


# -- what holds on any data ----------------------------------------------------------------------

WITH_IDENTITIES = [
    topic for topic in WRITTEN if load_chapter(chapters()[topic], SIMULATIONS, only=IDENTITIES)
]


@pytest.mark.parametrize("topic", WITH_IDENTITIES)
def test_what_holds_on_any_data_is_checked_once_and_on_something(topic):
    """Each identity had cases to fail on; an edition repeats none; a criterion reads each."""
    chapter = chapters()[topic]
    (of_worlds,) = load_chapter(chapter, SIMULATIONS, only=IDENTITIES).values()
    identities = {(check.claim, check.name): check for check in of_worlds.rows}
    assert all(check.n_checked > 0 for check in identities.values())
    repeated = {
        (check.claim, check.name)
        for dataset in recorded_datasets()
        for result in load_chapter(chapter, dataset, only="checks").values()
        for check in result.rows
    }
    assert not repeated & set(identities)
    read = {
        (claim, str(node.arguments[0]).strip('"'))
        for claim, criterion in criteria_of(topic).items()
        for record in criterion.records
        for node in walk(record.expression)
        if isinstance(node, Call) and node.name == "check"
    }
    assert set(identities) <= read


def test_a_check_is_that_of_the_data_before_that_of_worlds():
    def checks(*names, worst):
        rows = tuple(Check("CCM20-D-A2", name, "items", 1, worst) for name in names)
        return Checks(key="", dataset={}, maker_name="", given={}, rows=rows, statistics={})

    on_worlds = {IDENTITIES: checks("users", "items", worst=1.0)}
    evidence = Evidence(
        {"checks": checks("users", worst=2.0)}, {SIMULATIONS: on_worlds}.__getitem__
    )
    assert evidence.check("CCM20-D-A2", "users").worst == 2
    assert evidence.check("CCM20-D-A2", "items").worst == 1
    assert [(r.edition, r.table) for r in evidence.read] == [
        ("", "checks"),
        (SIMULATIONS, IDENTITIES),
    ]
    with pytest.raises(NotComputed, match="the check together of CCM20-D-A2"):
        evidence.check("CCM20-D-A2", "together")
    without = Evidence({}, {SIMULATIONS: on_worlds}.__getitem__)
    assert without.check("CCM20-D-A2", "users").worst == 1
