"""What a stored cell knows of a system: nothing of defaults, everything of the code."""

import importlib.util
import json
import sys
from dataclasses import dataclass

import pytest

from recbias.errors import ConfigError, ContractError
from recbias.recommenders import Popularity, System, base, line_up, parameter, register
from recbias.recommenders.base import declared_version, source_digest

OUTSIDE = """
from recbias.recommenders import register

@register
class FromOutside:
    {line}

    def __init__(self, k=3):
        self.k = k

    def fit(self, train, *, rng=None):
        return self

    def score(self, users):
        return None
"""


@pytest.fixture(autouse=True)
def forget_new_classes(monkeypatch):
    monkeypatch.setattr(base, "_ALGORITHMS", dict(base._ALGORITHMS))
    monkeypatch.setattr(base, "_SOURCES", dict(base._SOURCES))


@pytest.fixture
def load(tmp_path, monkeypatch):
    """Write a module with the class from outside, and import it anew."""
    # Compiled code is known by the second and the size of its file, which two states share here.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def loaded(line="pass"):
        path = tmp_path / "from_outside.py"
        path.write_text(OUTSIDE.format(line=line))
        spec = importlib.util.spec_from_file_location("from_outside", path)
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, "from_outside", module)
        spec.loader.exec_module(module)
        return System("mine", "FromOutside")

    return loaded


def test_defaults_written_out_and_left_out_are_one_identity():
    short = System("kNN", "UserKNN", {"n_neighbours": 7})
    long = System("other name", "UserKNN", {**short.parameters, "regularisation": 0})
    assert short.identity() == long.identity()
    assert short.identity() == {
        "algorithm": "UserKNN",
        "revision": 1,
        "parameters": {"n_neighbours": 7},
    }
    moved = System("kNN", "UserKNN", {"n_neighbours": 7, "min_overlap": 2})
    assert moved.identity() != short.identity()


def test_identities_of_a_line_up_differ_and_are_json():
    texts = {json.dumps(system.identity(), sort_keys=True) for system in line_up("mccrs20")}
    assert len(texts) == len(line_up("mccrs20"))


def grown(monkeypatch, **fields):
    """A stand-in for Popularity, as the package would have it after an edit."""
    annotations = {name: type(value.default) for name, value in fields.items()}
    body = {**fields, "__annotations__": annotations, "__module__": Popularity.__module__}
    changed = dataclass(eq=False)(type("Popularity", (Popularity,), body))
    monkeypatch.setitem(base._ALGORITHMS, "Popularity", changed)
    return changed


def test_a_new_optional_parameter_moves_no_identity(monkeypatch):
    before = System("Popularity", "Popularity").identity()
    grown(monkeypatch, damping=parameter(0.0, minimum=0))
    after = System("Popularity", "Popularity")
    assert after.parameters["damping"] == 0
    assert after.identity() == before
    assert System("Popularity", "Popularity", {"damping": 1}).identity() != before


def test_a_raised_revision_moves_the_identity(monkeypatch):
    before = System("Popularity", "Popularity").identity()
    other = System("Random", "Random").identity()
    monkeypatch.setattr(Popularity, "revision", 2)
    assert System("Popularity", "Popularity").identity() == {**before, "revision": 2}
    assert System("Random", "Random").identity() == other


def test_an_edited_class_from_outside_is_another_system(load):
    first, again = load().identity(), load().identity()
    assert first == again
    assert first["source"] == source_digest("FromOutside")
    assert load("factor = 2").identity()["source"] != first["source"]
    assert load().identity() == first


def test_a_file_edited_after_the_import_still_has_the_digest_of_what_runs(load, tmp_path):
    system = load()
    first = system.identity()
    (tmp_path / "from_outside.py").write_text("# nothing any more\n")
    assert system.identity() == first


def test_a_declared_version_belongs_to_the_identity(load):
    first, second = load("version = '1'").identity(), load("version = '2'").identity()
    assert (first["version"], second["version"]) == ("1", "2")
    assert "version" not in load().identity()
    system = load("version = 3")
    with pytest.raises(ContractError, match="FromOutside: version is 3, expected text"):
        system.identity()


def test_a_parameter_of_another_type_is_another_value_outside(load):
    load()
    whole, real = (System("mine", "FromOutside", {"k": k}).identity() for k in (3, 3.0))
    assert whole["parameters"] == {}
    assert real["parameters"] == {"k": 3.0}


def typed_in(**body):
    """A class without a file, as one that was typed into an interactive session."""
    code = {"coded": eval("lambda self: 1")}  # noqa: S307 - its text is kept nowhere
    return register(type("TypedIn", (Popularity,), {"__module__": "__console__", **code, **body}))


def test_a_class_without_code_is_known_by_its_values():
    sources = []
    for steps in (1, 1, 2):
        typed_in(coded=steps)
        sources.append(System("typed", "TypedIn").identity()["source"])
    assert sources[0] == sources[1] != sources[2]


def test_a_class_without_source_must_declare_its_version():
    typed_in()
    system = System("typed", "TypedIn")
    with pytest.raises(ContractError, match="TypedIn: its source was not found") as caught:
        system.identity()
    assert "version = '1'" in str(caught.value)
    typed_in(version="1")
    assert system.identity()["version"] == "1"
    assert source_digest("TypedIn") is None


def test_the_packages_own_classes_have_neither_source_nor_version(monkeypatch):
    monkeypatch.setattr(Popularity, "version", "7", raising=False)
    assert source_digest("Popularity") is None
    assert declared_version("Popularity") is None
    assert "version" not in System("Popularity", "Popularity").identity()
    for function in (source_digest, declared_version):
        with pytest.raises(ConfigError, match="unknown algorithm 'Popularty'"):
            function("Popularty")


def test_all_own_classes_have_a_revision():
    own = [name for name, kind in base._ALGORITHMS.items() if kind.__module__.startswith("recbias")]
    assert len(own) > 30
    for name in own:
        assert System(name, name).identity()["revision"] >= 1
