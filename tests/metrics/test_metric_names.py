"""Names of metrics as objects: what they give, how they print, what they refuse."""

import copy
import subprocess
import sys

import numpy as np
import pytest

import recbias.metrics
from recbias import Grid, System
from recbias.errors import ConfigError
from recbias.metrics import (
    AP,
    SR,
    Declaration,
    Gini,
    MetricName,
    P,
    base,
    declarations,
    metric_names,
    nDCG,
    parse_metric,
    register,
)
from recbias.protocol.relevance import GainMap

EXAMPLES = {
    "P@10": P @ 10,
    "P@3|t=100": P(t=100) @ 3,
    "P@5|judged": P(judged=True) @ 5,
    "nDCG(exp)@10": nDCG("exp") @ 10,
    "nDCG(linear)@7": nDCG(GainMap("linear")) @ np.int64(7),
    "Gini@10": Gini @ 10,
    "SR(gamma=1)@10": SR(gamma=1) @ 10,
}


@pytest.mark.parametrize("text", EXAMPLES)
def test_a_name_with_a_cutoff_is_the_metric_that_its_text_says(text):
    metric = EXAMPLES[text]
    assert metric == parse_metric(text)
    assert hash(metric) == hash(parse_metric(text))
    assert str(metric) == text
    assert parse_metric(metric) is metric


def test_every_registered_name_is_an_object():
    for declaration in declarations():
        name = getattr(recbias.metrics, declaration.name)
        assert isinstance(name, MetricName)
        assert str(name) == repr(name) == declaration.name
        if declaration.cutoff != "none" and not declaration.arguments and not declaration.given:
            assert name @ 4 == parse_metric(f"{declaration.name}@4")
    assert set(metric_names()) <= set(dir(recbias.metrics))


def test_what_needs_no_cutoff_is_the_whole_list():
    assert parse_metric(AP) == parse_metric("AP")
    assert parse_metric(nDCG("exp")) == parse_metric("nDCG(exp)")
    assert str(nDCG("binary")) == "nDCG"  # the default is left out, as everywhere
    assert str(SR(gamma=1)) == "SR(gamma=1)"


def test_names_are_values():
    assert nDCG("exp") == nDCG(gain="exp") != nDCG
    assert len({nDCG("exp"), nDCG(gain="exp"), nDCG}) == 2
    for name in (P, nDCG("exp")):
        assert copy.deepcopy(name) == name


def test_blanks_in_texts_do_not_matter():
    for text in ("P @ 10", "P@ 10", " P @10 ", "P @ 10 | t=5", "nDCG (exp) @ 10", "nDCG(exp) @ 10"):
        assert parse_metric(text) == parse_metric(text.replace(" ", ""))


def test_a_grid_takes_objects():
    systems = (System("Popularity", "Popularity"),)
    grids = [
        Grid("synthetic", systems, "AI-AN-AR rel>=4", metrics)
        for metrics in ((P @ 10, AP, nDCG("exp") @ 5), ("P@10", "AP", "nDCG(exp)@5"))
    ]
    assert grids[0] == grids[1]
    assert Grid("synthetic", systems, "AI-AN-AR rel>=4", P @ 10).by_label.popitem()[1] == ("P@10",)


def test_a_metric_of_a_reader_is_an_object(monkeypatch):
    monkeypatch.setattr(base, "_DECLARATIONS", dict(base._DECLARATIONS))
    with pytest.raises(ImportError):
        from recbias.metrics import Hits

    def measure_hits(view, metrics):
        return np.zeros((len(metrics), view.n_units))

    register(Declaration("Hits", "ranks", "hits", "h", "me", "none", measure_hits, version="1"))
    from recbias.metrics import Hits

    assert Hits @ 5 == parse_metric("Hits@5")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: P @ 0, "metric P@0: a cutoff is an integer of at least 1"),
        (lambda: P @ "x", "metric P@x: a cutoff is an integer of at least 1"),
        (lambda: P @ True, "metric P@True: a cutoff is an integer of at least 1"),
        (lambda: P @ None, "metric P: it needs a cutoff, e.g. P@10"),
        (lambda: parse_metric(P), "metric P: it needs a cutoff, e.g. P@10"),
        (lambda: recbias.metrics.bpref @ 3, "metric bpref@3: it has no cutoff; write bpref"),
        (lambda: nDCG("epx"), "unknown gain map 'epx': did you mean 'exp'?"),
        (lambda: P("exp"), "it takes no argument by place, not 1; it is written P@n"),
        (lambda: MetricName("nDGC"), "unknown metric 'nDGC': did you mean 'nDCG'?"),
        (lambda: parse_metric(10), "a metric is text such as 'P@10', or P @ 10"),
        (lambda: parse_metric("P @ x"), "metric 'P @ x': the cutoff 'x' is not an integer"),
    ],
)
def test_mistakes_are_told_as_those_of_texts(wrong, message):
    with pytest.raises(ConfigError) as raised:
        wrong()
    assert message in str(raised.value)


def test_what_is_no_metric_is_no_attribute():
    with pytest.raises(AttributeError, match="no attribute, and no metric, 'nDGC'"):
        recbias.metrics.nDGC  # noqa: B018
    assert not hasattr(recbias.metrics, "__wrapped__")


@pytest.mark.slow
def test_mypy_takes_names(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "from recbias.metrics import Metric, P, aggregation, nDCG\n"
        "metrics: list[Metric] = [P @ 10, nDCG('exp') @ 10]\n"
        "sums = aggregation.user_sums\n"
    )
    command = [sys.executable, "-m", "mypy", "--no-incremental", str(script)]
    answer = subprocess.run(command, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stdout
