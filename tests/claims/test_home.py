"""Where claims are at home: the committed table, and the rule that it follows."""

from __future__ import annotations

import dataclasses
from functools import cache

import pytest
import yaml

from recbias._system.places import packaged
from recbias.claims import claims, load_chapter
from recbias.claims.home import hangs_on_no_data, home, homes, named_data
from recbias.claims.judging import find_parts
from recbias.claims.records import criteria_of
from recbias.claims.topics import find_judged
from recbias.experiment.results import SIMULATIONS, recorded_datasets

BY_ID = {claim.id: claim for claim in claims()}
COMMITTED = yaml.safe_load(packaged("published/home.yaml").read_text(encoding="utf-8"))


def test_the_committed_table_follows_the_rule() -> None:
    assert homes(recorded_datasets()) == COMMITTED
    assert list(COMMITTED) == [claim.id for claim in claims()]


def test_another_table_does_not() -> None:
    """Of a data set that is not at hand, or where one more is, the table says something else."""
    assert homes(["coat"]) != COMMITTED
    assert homes([*recorded_datasets(), "lastfm-1k"]) != COMMITTED


NAMED = {
    # As a person reads the entries.
    "BCC17-F2A": ["ml-1m"],
    "BCC17-F2B": ["lastfm-1k"],
    "BCC17-C-DISAGREE": ["lastfm-1k"],
    "BCC17-C-OTHER": ["lastfm-1k", "ml-1m"],
    "BCC17-F5R": ["lastfm-1k", "ml-1m", "netflix"],
    "MCCRS20-F5A-CM": ["cm100k"],
    "MCCRS20-F6-P": ["cm100k", "yahoo-r3"],
    "MCCRS20-T1": ["ml-1m"],
    "CCM20-T2": ["ml-1m", "netflix"],
    "CCM20-F6C": ["netflix"],
    "CCM20-B12-SETUP": ["ml-1m"],
    "ATM15-C-GINI": ["filmtrust", "ml-100k", "ml-1m", "ml-latest-small"],
    "TOIS21-C-OPT": [],
}


@pytest.mark.parametrize("name", NAMED)
def test_the_data_of_a_published_result_are_read_from_its_entry(name: str) -> None:
    versions = {"ml-1m-stars", "ml-1m-folds"}  # of one data set, which count as it
    assert sorted(set(named_data(BY_ID[name])) - versions) == NAMED[name]


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({}, ("ml-1m", "netflix")),
        ({"text": "On FilmTrust.", "settings": ""}, ("filmtrust",)),
        ({"text": "On FilmTrust."}, ("ml-1m", "netflix")),  # settings come first
        ({"only": ("coat",)}, ("coat",)),
        (
            {"settings": "", "text": "MLP and HTML", "where": "", "values": {}},
            ("ml-1m", "ml-1m-stars", "ml-1m-folds", "netflix"),  # of the paper in general
        ),
    ],
)
def test_the_first_place_that_names_data_counts(change: dict, named: tuple[str, ...]) -> None:
    assert named_data(dataclasses.replace(BY_ID["CCM20-T2"], **change)) == named


def test_no_result_of_ours_moves_a_home() -> None:
    """What data would be at hand chooses among the names, and never adds one."""
    for claim in claims():
        at_hand = ["cm100k", "coat", "ml-1m"]
        found = home(claim, at_hand)
        expected = at_hand if hangs_on_no_data(claim) else set(at_hand) & set(named_data(claim))
        assert set(found) == set(expected), claim.id


def read_of_edition(name: str) -> set[str]:
    """Name the tables of MovieLens 100K that a claim's deciding parts read, its checks aside."""
    claim = BY_ID[name]
    judged = find_judged(claim.topic)
    assert judged is not None
    criterion = criteria_of(claim.topic)[name]
    edition = SIMULATIONS if claim.simulation else "ml-100k"
    parts, _ = find_parts(
        [record for record in criterion.records if record.decides],
        load(judged.chapter, edition),
        judged,
        load,
        name,
    )
    return {
        reading.table
        for part in parts
        for reading in part.read
        if not reading.edition
        and edition != SIMULATIONS
        and not (part.record.check and reading.table == "checks")
    }


load = cache(load_chapter)


@pytest.mark.parametrize("name", [claim.id for claim in claims() if hangs_on_no_data(claim)])
def test_what_hangs_on_no_data_reads_none(name: str) -> None:
    assert not read_of_edition(name)


def test_the_reading_of_what_hangs_on_data_is_seen() -> None:
    assert read_of_edition("BCC17-C-RTEST") == {"systems"}


def test_an_empirical_claim_that_checks_decide_hangs_on_data() -> None:
    theorem = BY_ID["BCC17-EQ1"]
    assert hangs_on_no_data(theorem)
    assert not hangs_on_no_data(dataclasses.replace(theorem, kind="empirical"))
