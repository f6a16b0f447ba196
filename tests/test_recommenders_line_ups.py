import pytest

from recbias.errors import ConfigError
from recbias.recommenders import (
    UserKNN,
    bcc17_grid,
    line_up,
    line_up_sources,
    merged_star_variants,
)

PARTS = {"knn-rating": 72, "mf-rating": 6, "knn-ranking": 12, "mf-ranking": 12}


def test_the_line_up_of_the_chapter():
    systems = line_up("bcc17")
    assert [system.name for system in systems] == [
        "Random",
        "Popularity",
        "pLSA",
        "MF (rating prediction)",
        "MF (ranking)",
        "kNN (rating prediction)",
        "kNN (ranking)",
        "ALS (implicit)",
        "BPR (implicit)",
        "Item cosine (implicit)",
    ]
    assert {system.name: system.n_seeds for system in systems if system.n_seeds > 1} == {
        "Random": 10
    }
    sources = line_up_sources("bcc17")
    assert list(sources) == [system.name for system in systems]
    assert all(len(text) > 10 for text in sources.values())


def test_unknown_names_are_refused_with_the_nearest():
    with pytest.raises(ConfigError, match="unknown line-up 'bcc18': did you mean 'bcc17'"):
        line_up("bcc18")
    with pytest.raises(ConfigError, match="unknown line-up 'bcc18'"):
        line_up_sources("bcc18")
    with pytest.raises(ConfigError, match="did you mean 'knn-rating'"):
        bcc17_grid("knn-ratings")


@pytest.mark.parametrize(("part", "size"), PARTS.items())
def test_grids_are_of_distinct_systems(part, size):
    systems = bcc17_grid(part)
    assert len(systems) == size
    assert len({system.name for system in systems}) == size
    assert len({frozenset(system.parameters.items()) for system in systems}) == size


def test_names_of_the_grid_say_the_parameters():
    by_name = {system.name: system for system in bcc17_grid("knn-rating")}
    system = by_name["kNN norm k=30 overlap=5 min=3 reg=1"]
    expected = UserKNN(30, normalised=True, min_overlap=5, min_neighbours=3, regularisation=1)
    assert repr(system.build()) == repr(expected)


def test_the_grid_contains_the_line_up_where_it_should():
    by_name = {system.name: dict(system.parameters) for system in line_up("bcc17")}
    for name, part in (
        ("kNN (rating prediction)", "knn-rating"),
        ("MF (rating prediction)", "mf-rating"),
        ("kNN (ranking)", "knn-ranking"),
        ("MF (ranking)", "mf-ranking"),
    ):
        assert by_name[name] in [dict(system.parameters) for system in bcc17_grid(part)]


def test_variants_of_merged_stars_cover_the_systems_that_read_stars():
    variants = merged_star_variants(line_up("bcc17"), values=(1, 2.5))
    assert len(variants) == 2 * 5
    assert variants[0].name == "pLSA [1-3 as 1]"
    assert variants[0].parameters["encoding"] == "stars<4=1"
    assert variants[-1].name == "kNN (ranking) [1-3 as 2.5]"
    assert variants[-1].parameters["encoding"] == "stars<4=2.5"
    kept = {name for name in variants[-1].parameters if name != "encoding"}
    original = line_up("bcc17")[6]
    assert all(variants[-1].parameters[name] == original.parameters[name] for name in kept)
    with pytest.raises(ConfigError, match="encoding is"):
        merged_star_variants(line_up("bcc17"), values=(4,))
