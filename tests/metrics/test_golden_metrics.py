"""A change of code that changes what a metric computes is noticed, until its revision says so."""

import dataclasses
import json

import numpy as np
import pytest

import golden_metrics
from recbias.metrics import base, concentration, positive


def faults(found, recorded):
    """Say what must be done about each metric that is not as recorded."""
    messages = {}
    for name in found.keys() | recorded.keys():
        if name not in recorded:
            messages[name] = "new: renew tests/golden_metrics.json"
        elif name not in found:
            messages[name] = "gone: renew tests/golden_metrics.json, list it in CHANGELOG.md"
        else:
            now, then = found[name], recorded[name]
            same = now.keys() == then.keys() and all(
                np.allclose(
                    np.array(now[key], float),
                    np.array(then[key], float),
                    rtol=1e-10,
                    atol=0,
                    equal_nan=True,
                )
                for key in now
                if key != "revision"
            )
            if found[name]["revision"] != recorded[name]["revision"]:
                messages[name] = "revised: renew tests/golden_metrics.json"
            elif not same:
                messages[name] = "changed: raise the revision of its declaration"
    return messages


@pytest.fixture
def recorded():
    return json.loads(golden_metrics.FILE.read_text())


def test_metrics_compute_what_their_revision_did(recorded):
    assert faults(golden_metrics.compute(), recorded) == {}


def test_a_change_of_a_metric_is_noticed_and_named(recorded, monkeypatch):
    original = concentration.gini
    monkeypatch.setattr(concentration, "gini", lambda counts: original(counts[:, :-1]))
    found = faults(golden_metrics.compute(), recorded)
    assert found == dict.fromkeys(
        ["Gini@1", "Gini@3"], "changed: raise the revision of its declaration"
    )


def test_a_change_of_one_in_a_compiled_family_is_noticed(recorded, monkeypatch):
    monkeypatch.setattr(
        positive, "_measure_users", positive._measure_users.py_func
    )  # not compiled, so that the definition below is the one that is called
    monkeypatch.setattr(positive, "reciprocal_rank", lambda ranks, cutoff: 0.5)
    found = faults(golden_metrics.compute(), recorded)
    assert set(found) == {"RR", "RR@3", "antiRR", "antiRR@3"}


def test_a_raised_revision_asks_for_a_renewed_file(recorded, monkeypatch):
    key = ("Coverage", ())
    revised = dataclasses.replace(base._DECLARATIONS[key], revision=2)
    monkeypatch.setitem(base._DECLARATIONS, key, revised)
    found = faults(golden_metrics.compute(), recorded)
    assert found == dict.fromkeys(
        ["Coverage@1", "Coverage@3"], "revised: renew tests/golden_metrics.json"
    )


def test_new_and_removed_metrics_are_told_apart(recorded):
    found = golden_metrics.compute()
    fewer = {name: values for name, values in found.items() if name != "rho"}
    assert faults(fewer, recorded)["rho"].startswith("gone")
    del recorded["AP"]
    assert faults(found, recorded) == {"AP": "new: renew tests/golden_metrics.json"}
