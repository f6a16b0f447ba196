"""A change of code that changes what a cell computes is noticed, until REVISION says so."""

import json

import pytest

import golden
from recbias.experiment import REVISION
from recbias.recommenders import Popularity


def _changed(found, recorded):
    names = found.keys() | recorded.keys()
    return sorted(
        name
        for name in names
        if name not in found
        or name not in recorded
        or golden.digits(found[name]) != pytest.approx(recorded[name], rel=1e-8)
    )


@pytest.fixture(autouse=True)
def own_cells(tmp_path, monkeypatch):
    monkeypatch.setenv("RECBIAS_CELLS", str(tmp_path / "cells"))


def test_experiments_compute_what_their_revision_did(tmp_path):
    recorded = json.loads(golden.FILE.read_text())
    assert recorded["revision"] == REVISION, "renew tests/golden.json: python tests/golden.py"
    changed = _changed(golden.compute(tmp_path), recorded["values"])
    assert not changed, (
        f"{len(changed)} values changed, e.g. {changed[:3]}: if that is meant, raise "
        "recbias.experiment.REVISION, renew tests/golden.json and data/recorded, and list what "
        "changed in CHANGELOG.md"
    )


def test_a_change_of_a_system_is_noticed(tmp_path, monkeypatch):
    original = Popularity.score
    monkeypatch.setattr(Popularity, "score", lambda self, users: -original(self, users))
    changed = _changed(golden.compute(tmp_path), json.loads(golden.FILE.read_text())["values"])
    assert changed
    assert all(name.startswith("Popularity | ") for name in changed)
