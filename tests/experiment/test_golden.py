"""A change of code that changes what an experiment gives is noticed, and by which component."""

import json

import pytest

import golden
import golden_components
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


def test_experiments_compute_what_they_did(tmp_path):
    changed = _changed(golden.compute(tmp_path), json.loads(golden.FILE.read_text()))
    assert not changed, (
        f"{len(changed)} values changed, e.g. {changed[:3]}: if that is meant, raise the revision "
        "of what changed, renew tests/golden.json and data/recorded, and list what changed in "
        "data/published/CHANGES.md"
    )


def test_a_change_of_a_system_is_noticed(tmp_path, monkeypatch):
    original = Popularity.score
    monkeypatch.setattr(Popularity, "score", lambda self, users: -original(self, users))
    few = ("Random", "Popularity", "kNN (ranking)", "pLSA")
    recorded = {
        name: value
        for name, value in json.loads(golden.FILE.read_text()).items()
        if name.partition(" | ")[0] in few
    }
    changed = _changed(golden.compute(tmp_path, few), recorded)
    assert changed
    assert all(name.startswith("Popularity | ") for name in changed)


# ---- each component has golden digests and a revision of its own


def complaints():
    recorded = json.loads(golden_components.FILE.read_text())
    return {
        name: problem
        for name, found in golden_components.rows().items()
        if (problem := golden_components.complaint(found, recorded.get(name))) is not None
    }


def test_components_compute_what_their_revisions_did():
    assert complaints() == {}


@pytest.mark.parametrize("component", golden_components.BREAKS)
def test_a_changed_component_is_noticed_and_no_other(component, monkeypatch):
    golden_components.BREAKS[component](monkeypatch)
    # What is drawn or counted later changes with what it is drawn from, never what comes before.
    assert component in complaints()
    assert set(complaints()) <= set(golden_components.FOLLOWS[component])


@pytest.mark.parametrize("component", golden_components.BREAKS)
def test_a_raised_revision_asks_for_new_digests(component, monkeypatch):
    recorded = getattr(*golden_components.REVISIONS[component])
    monkeypatch.setattr(*golden_components.REVISIONS[component], 99)
    assert complaints() == {component: f"revision 99, recorded is {recorded}: renew the digests"}
