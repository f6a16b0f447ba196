"""A change of what an algorithm computes is noticed, until its revision says so."""

import json
from dataclasses import dataclass

import pytest

import golden_algorithms
from golden_algorithms import complaint, names, row
from recbias.recommenders import Popularity, base, parameter

RECORDED = json.loads(golden_algorithms.FILE.read_text(encoding="utf-8"))

WHAT_TO_DO = (
    "if that is meant, raise the class's revision and renew the file: "
    "python tests/golden_algorithms.py"
)


@pytest.mark.parametrize("name", names())
def test_algorithms_compute_what_their_revision_did(name):
    problem = complaint(name, row(name), RECORDED.get(name))
    assert problem is None, f"{problem}; {WHAT_TO_DO}"


def test_every_recorded_class_exists():
    assert set(RECORDED) == set(names())


CHEAP = ("AverageRating", "Popularity", "RelevantPopularity", "UserKNN")


def complaints():
    found = (complaint(name, row(name), RECORDED[name]) for name in CHEAP)
    return [problem for problem in found if problem is not None]


def test_a_change_of_scores_is_noticed_in_its_class_only(monkeypatch):
    original = Popularity._score
    monkeypatch.setattr(Popularity, "_score", lambda self, users: -original(self, users))
    (problem,) = complaints()
    assert problem.startswith("Popularity: other scores (mean")


def test_scores_that_are_permuted_are_noticed(monkeypatch):
    original = Popularity._score
    monkeypatch.setattr(Popularity, "_score", lambda self, users: original(self, users)[:, ::-1])
    (problem,) = complaints()
    assert problem.startswith("Popularity: other scores")


def test_a_raised_revision_asks_for_a_renewed_file(monkeypatch):
    monkeypatch.setattr(Popularity, "revision", 2)
    assert complaints() == ["Popularity: revision 2, recorded is 1"]


def stand_in(monkeypatch, name, **fields):
    """Put a class with other or more parameters in the place of one of the package."""
    original = base.algorithm(name)
    annotations = {field: type(value.default) for field, value in fields.items()}
    body = {**fields, "__annotations__": annotations, "__module__": original.__module__}
    changed = dataclass(eq=False)(type(name, (original,), body))
    monkeypatch.setattr(base, "_ALGORITHMS", {**base._ALGORITHMS, name: changed})


def test_a_new_optional_parameter_is_no_change(monkeypatch):
    stand_in(monkeypatch, "UserKNN", damping=parameter(0.0, minimum=0))
    assert complaints() == []


def test_another_default_is_noticed_even_where_scores_stay(monkeypatch):
    stand_in(monkeypatch, "UserKNN", n_neighbours=parameter(101, minimum=1))
    assert complaints() == ["UserKNN: another default of n_neighbours, revision is not raised"]
