"""Numbers that the papers print or that others measured on MovieLens 1M, with their tolerances."""

import pytest

from recbias import Grid, line_up, load_dataset, run
from recbias.book.chapters.overcoming_popularity_bias.kept import kept_grids, kept_systems
from recbias.book.systems.validation import is_near
from recbias.metrics import measure, parse_metric
from recbias.protocol.splits import uniform_plan
from recbias.protocol.targets import TargetRule, Targets
from recbias.protocol.testset import dataset_splits
from recbias.ranking import rank
from recbias.theory import expected_hit, lemma_bound, split_statistics

pytestmark = pytest.mark.data

SYSTEMS = {system.name: system for system in line_up("bcc17")}


@pytest.fixture(scope="module")
def movielens_1m():
    return load_dataset("ml-1m")  # if it is set, missing files are a failure


def test_popularity_is_as_precise_as_the_text_says_and_random_as_theory_says(
    movielens_1m, tmp_path, monkeypatch
):
    """As chapter 1 measures them, relevance = 5 stars; one test, for the run is what takes long.

    BCC17 Sec. 3.2 prints 0.08. Eqs. 4 and 5: the share of relevant items in a target set, 1/t with
    one of them.
    """
    monkeypatch.setenv("RECBIAS_CELLS", str(tmp_path))
    protocols = {
        "TI-AN": "TI-AN-AR rel>=5",
        "AI-AN": "AI-AN-AR rel>=5",
        "1R": "TI-NN-1R t=100 rel>=5",
    }
    systems = (SYSTEMS["Random"], SYSTEMS["Popularity"])
    results = run(Grid("ml-1m", systems, protocols, ("P@10", "rho"), split="k-fold 5", seed=1))
    for label in ("TI-AN", "AI-AN"):
        assert results["Popularity", label, "P@10"].value == pytest.approx(0.082, abs=0.002), label
    for label in protocols:
        rho = results["Random", label, "rho"].value
        low, high = results["Random", label, "P@10"].interval
        assert low <= rho <= high, label
        assert (high - low) / 2 <= 0.05 * rho, label
    assert results["Random", "1R", "rho"].value == pytest.approx(0.0100, abs=1e-9)


def test_popularity_on_the_ready_folds(movielens_1m, tmp_path, monkeypatch):
    """The value that the folds of MCCRS20 gave elsewhere: relevance >= 4, mean over all users."""
    monkeypatch.setenv("RECBIAS_CELLS", str(tmp_path))
    grid = Grid(
        "ml-1m",
        (SYSTEMS["Popularity"],),
        {"TI-AN": "TI-AN-AR rel>=4 users=all"},
        ("P@10", "antiP@10"),
        split="ready",
    )
    results = run(grid)
    assert results["Popularity", "TI-AN", "P@10"].value == pytest.approx(0.1463, abs=0.001)
    assert results["Popularity", "TI-AN", "antiP@10"].value == pytest.approx(0.0364, abs=0.001)


def test_table_2_on_the_first_ready_fold(movielens_1m):
    first = dataset_splits(movielens_1m, "ready", seed=1)[0]
    assert len(first.test) == 199_684
    found = split_statistics(first, "TI", min_rating=5)
    assert (found.n_users, found.n_candidates, found.n_relevant_test) == (6040, 3482, 45_000)
    assert round(found.t) == 3341
    assert found.rho == pytest.approx(0.00233, abs=5e-6)
    assert found.sigma * found.delta == pytest.approx(0.00224, abs=5e-6)


def test_the_lemma_on_the_first_ready_fold(movielens_1m):
    """Popularity between its bounds, as another program measured them; t = 100, relevance 5."""
    first = dataset_splits(movielens_1m, "ready", seed=1)[0]
    popular = SYSTEMS["Popularity"].build().fit(first.train)
    rules = ("TI-NN-1R-shared t=100", "TI-AN-1R")
    asked = [Targets(TargetRule.parse(text), 5) for text in rules]
    shared, whole = rank(popular, first, asked, seed=1)
    lower, upper = (lemma_bound(shared, bound, 10).mean() for bound in ("lower", "upper"))
    precision = measure(shared, [parse_metric("P@10")], min_rating=5).mean()
    expected = expected_hit(whole, "P", 10, 100).mean()
    assert lower < precision < upper
    assert (lower, precision, upper) == pytest.approx((0.0441, 0.0640, 0.0721), abs=0.001)
    assert expected == pytest.approx(0.0640, abs=0.001)


@pytest.mark.parametrize(("share", "n_items", "n_each"), [(0.2, 1703, 117), (0.1, 2514, 40)])
def test_uniform_tests_have_the_size_of_the_text(movielens_1m, share, n_items, n_each):
    """BCC17 Sec. 6.2 prints 1703, and 118 for 117.6: a test rating more than an item may give."""
    plan = uniform_plan(movielens_1m.ratings.item_counts(), share)
    assert (len(plan.items), plan.n_each) == (n_items, n_each)
    assert float(plan.largest_share) == pytest.approx(0.261, abs=5e-4)


# Expected P@10 of Popularity under the remedies, as another program measured it, relevance 5.
KEPT = {
    "kept": {
        "1R": (0.0638, 0.001),
        "head": (0.043, 0.002),
        "P1R": (0.0143, 0.003),
        "positive 1R": (0.0525, 0.001),
    },
    "kept_uniform": {
        "U1R": (0.0231, 0.001),
        "U1R-control": (0.0172, 0.001),
        "positive U1R": (0.0153, 0.001),
        "positive U1R-control": (0.0099, 0.001),
    },
}


@pytest.mark.parametrize("name", KEPT)
def test_the_remedies_leave_popularity_what_was_measured_elsewhere(
    movielens_1m, tmp_path, monkeypatch, name
):
    """Expected over all samples of 100, so that only the splits are drawn."""
    monkeypatch.setenv("RECBIAS_CELLS", str(tmp_path))
    asked, labels = {"split": "k-fold 5", **kept_grids(5, cutoff=10, size=100)[name]}, KEPT[name]
    for part in ("protocols", "metrics", "tests"):
        asked[part] = {label: each for label, each in asked[part].items() if label in labels}
    asked["replicates"] = ()
    (popularity,) = (each for each in kept_systems(5) if each.name == "Popularity")
    found = run(Grid("ml-1m", (popularity,), seed=1, **asked))
    for label, (expected, within) in labels.items():
        value = found["Popularity", label, "P@10|t=100"].value
        assert value == pytest.approx(expected, abs=within), label


# P@10 and antiP@10 on the first of the folds of MCCRS20, from its authors' repository.
FIRST_FOLD = {
    "Popularity": (0.1452, 0.0361),
    "Average rating": (0.0300, 0.0032),
    "User kNN": (0.1510, 0.0342),
    "Item kNN": (0.1353, 0.0175),
}


@pytest.mark.parametrize("name", FIRST_FOLD)
def test_systems_without_chance_score_what_was_published(movielens_1m, name):
    """On all five folds the page "The systems" compares the whole line-up."""
    first = dataset_splits(movielens_1m, "ready", seed=1)[0]
    system = next(system for system in line_up("mccrs20") if system.name == name)
    model = system.build().fit(first.train)
    (table,) = rank(model, first, [Targets(TargetRule.parse("AI-AN-AR"), 4)], seed=1)
    tested = first.test.user_counts() > 0
    metrics = [parse_metric("P@10"), parse_metric("antiP@10")]
    measured = measure(table, metrics, min_rating=4)[:, tested].mean(axis=1)
    for ours, published in zip(measured, FIRST_FOLD[name], strict=True):
        assert is_near(ours, published)
