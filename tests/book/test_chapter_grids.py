"""The protocols that tests share are those that the notebooks type: recorded results tell."""

import pytest

from chapter_grids import (
    baseline_protocols,
    concentration_protocols,
    fill_grid,
    lemma_protocols,
    overlap_grid,
    popularity_protocols,
    ratio_grid,
    sparsity_protocols,
    start_grid,
)
from recbias.book import non_personalised
from recbias.book.chapters import design_alternatives, overcoming_popularity_bias
from recbias.book.chapters import true_vs_false_positive_disagreement as disagreement
from recbias.experiment.asked import asked_of, read_asked
from recbias.experiment.grid import Grid
from recbias.recommenders import line_up

REMEDIES = overcoming_popularity_bias.setup


def _protocols(texts, tests=None):
    first = line_up("bcc17")[:1]
    return Grid("ml-1m", first, texts, ("rho",), tests=tests or {}).to_dict()


ASKED = {
    "01_design_alternatives/lemma": lambda rating: _protocols(*lemma_protocols(rating)),
    "01_design_alternatives/systems": lambda rating: _protocols(
        design_alternatives.setup.protocols(rating)
    ),
    "02_sparsity_bias/systems": lambda rating: _protocols(*sparsity_protocols(rating)),
    "02_sparsity_bias/baselines": lambda rating: _protocols(
        baseline_protocols(rating, non_personalised.floor_metrics(10, 100)),
        {"AR half": "observed removed=50%"},
    ),
    "03_popularity_bias/systems": lambda rating: _protocols(popularity_protocols(rating)),
    "03_popularity_bias/baselines": lambda rating: _protocols(
        baseline_protocols(rating, non_personalised.baseline_metrics(10, 100))
    ),
    "04_overcoming_popularity_bias/systems": lambda rating: _protocols(*REMEDIES.protocols(rating)),
    "04_overcoming_popularity_bias/uniform": lambda rating: _protocols(
        REMEDIES.uniform_protocols(rating)
    ),
    "05_true_false_positives/systems": lambda rating: _protocols(
        *disagreement.setup.protocols(rating - 1)
    ),
    "06_concentration/systems": lambda rating: _protocols(concentration_protocols(rating - 1)),
    "07_offline_options/systems": lambda rating: start_grid("ml-1m", rating - 1, seed=1).to_dict(),
    "07_offline_options/fills": lambda rating: fill_grid("ml-1m", rating - 1, seed=1).to_dict(),
    "07_offline_options/ratio_20": lambda rating: ratio_grid(
        "ml-1m", rating - 1, 20, seed=1
    ).to_dict(),
    "07_offline_options/overlaps": lambda rating: overlap_grid(
        "ml-1m", rating - 1, seed=1
    ).to_dict(),
}


@pytest.mark.parametrize("name", ASKED)
def test_protocols_that_tests_share_are_those_of_the_notebook(name):
    listed = read_asked()["ml-1m"][name]

    def agree(rating):
        """Tell whether protocols and sides of tests agree; of whole grids, everything."""
        own = asked_of(ASKED[name](rating))
        compared = {*listed, *own} if name.startswith("07") else {"protocols", "tests"}
        return all(own.get(each) == listed.get(each) for each in compared)

    assert agree(5)
    assert not agree(4), "another threshold is noticed"
